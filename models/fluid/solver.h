/* Talks to the process that runs SimGrid (simgrid/main.c): one socket, one question at a time. */
#ifndef INASIM_FLUID_SOLVER_H
#define INASIM_FLUID_SOLVER_H

#include "fluid/platform.h"

struct solver;

/* Starts the process. NULL and *error (caller frees) on failure. */
struct solver *solver_open(char **error);

/* Ends the process and returns its CPU time in seconds. */
double solver_close(struct solver *solver);

/* Computes the max-min fair rate of each route, in bytes per second. `share`: of each route, its
 * weight where a link is full (platform_shares()); 0 gives rate 0. `fresh`: the platform has
 * changed since the last call. False if the process is gone. */
bool solver_rates(struct solver *solver, const struct platform *platform, bool fresh,
		  const double *share, double *rate);

#endif
