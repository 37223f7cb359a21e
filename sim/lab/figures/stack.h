/* The breakdown: stacked bars of what iterations were spent on. Private to the figures. */
#ifndef INASIM_LAB_FIGURES_STACK_H
#define INASIM_LAB_FIGURES_STACK_H

#include "lab/breakdown.h"
#include "lab/figures/figure.h"

#define STACK_BARS 60 /* in a figure, at most */

struct stack_bar {
	char *label; /* owned by the caller, as is `name` */
	char *name;  /* of the job, in a figure of runs; else NULL */
	double x;    /* stack_place(): about 0 at the first label, 1 at the second */
	double cause[BREAKDOWN_CAUSES]; /* seconds; all NaN: no bar */
	double rows;                    /* number of values that each cause is the mean of */
};

/* The x of the i-th bar in a group of `together` bars. It is about `first` + i: bars of a group
 * stand closer to the group's middle. */
double stack_place(size_t first, size_t together, size_t i);

/* The height of a bar; NaN: there is none. */
double stack_sum(const struct stack_bar *bar);

/* Makes the figure of these bars, from figure_begin() on; at least one has a height. `x` is the
 * label of the x axis; `rows` names the column of stack_bar.rows. Frees `subtitle`. */
void stack_put(struct figure *f, const struct stack_bar *bars, size_t count, const char *x,
	       const char *rows, const char *title, char *subtitle);

/* Makes the figure of runs; a single run has the label "". False with f->why or f->error. */
bool stack_runs(struct figure *f, const struct plot_labelled *runs, char *const *labels,
		size_t count);

#endif
