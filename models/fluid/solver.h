/* The process that runs SimGrid (simgrid/main.c), from the side of the simulation: one socket,
 * one question at a time. */
#ifndef INASIM_FLUID_SOLVER_H
#define INASIM_FLUID_SOLVER_H

#include "fluid/platform.h"

struct solver;

/* Starts it. NULL and *error (caller frees) when that cannot be. */
struct solver *solver_open(char **error);

/* Ends it. Returns the CPU time that it took, in seconds. */
double solver_close(struct solver *solver);

/* The max-min rates of the routes of a platform that have these shares (0: idle, rate 0), bytes per
 * second. `fresh`: it is another platform than the last time. False when the solver is gone. */
bool solver_rates(struct solver *solver, const struct platform *platform, bool fresh,
		  const double *share, double *rate);

#endif
