/* The breakdown: stacked bars of what iterations were spent on. Private to the figures. */
#ifndef INASIM_LAB_FIGURES_STACK_H
#define INASIM_LAB_FIGURES_STACK_H

#include "lab/breakdown.h"
#include "lab/figures/figure.h"

#define STACK_BARS 60 /* in a figure, at most */

struct stack_bar {
	char *label; /* owned by the caller, as is `name` */
	char *name;  /* of the job, in a figure of runs; else NULL */
	double x;    /* 0 = where the first label stands, 1 = where the second does, ... */
	double cause[BREAKDOWN_CAUSES]; /* seconds; all NaN: no bar */
	double rows;                    /* each cause is the mean of so many values */
};

/* The x of the i-th bar in a group of `together` bars. It is near `first` + i: bars of a group
 * stand closer to the group's middle. */
double stack_place(size_t first, size_t together, size_t i);

/* The height of a bar; NaN: there is none. */
double stack_sum(const struct stack_bar *bar);

/* Adds the bars, of which one at least has a height, to a figure. `x` stands below the x axis;
 * `rows` names the column of stack_bar.rows. Frees `subtitle`. */
void stack_put(struct figure *f, const struct stack_bar *bars, size_t count, const char *x,
	       const char *rows, const char *title, char *subtitle);

/* The figure of runs, each with its label ("" for a single run). False with f->why or f->error. */
bool stack_runs(struct figure *f, const struct plot_labelled *runs, char *const *labels,
		size_t count);

#endif
