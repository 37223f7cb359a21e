/* The breakdown: stacked bars of what iterations were spent on. Private to the figures. */
#ifndef INASIM_LAB_FIGURES_STACK_H
#define INASIM_LAB_FIGURES_STACK_H

#include "lab/breakdown.h"
#include "lab/figures/figure.h"

#define STACK_BARS 60 /* at most */

struct stack_bar {
	char *label; /* owned by the caller, as is `name` */
	char *name;  /* of the job, in a figure of runs; else NULL */
	double x;    /* 0 is the place of the first label, 1 that of the second, ... */
	double cause[BREAKDOWN_CAUSES]; /* seconds; all NaN: no bar */
	double rows;                    /* how many values each cause is the mean of */
};

/* The x of the i-th of `together` bars that stand in a group, the first of whose labels has the
 * place `first`. */
double stack_place(size_t first, size_t together, size_t i);

/* Draws the bars. `x` stands below the axis; `rows` names the column of stack_bar.rows. Takes
 * `subtitle`. */
void stack_put(struct figure *f, const struct stack_bar *bars, size_t count, const char *x,
	       const char *rows, const char *title, char *subtitle);

/* The figure of runs. False with f->why or f->error. */
bool stack_runs(struct figure *f, const struct plot_labelled *runs, char *const *labels,
		size_t count);

#endif
