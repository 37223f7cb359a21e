/* The process that runs SimGrid (simgrid/main.c), from the side of the simulation: one socket,
 * one question at a time. Every call may find that it is gone. */
#ifndef INASIM_FLUID_SOLVER_H
#define INASIM_FLUID_SOLVER_H

#include "fluid/fluid_parts.h"
#include "fluid/simgrid/protocol.h"

struct solver;

/* Starts it. NULL and *error (caller frees) when that cannot be. */
struct solver *solver_open(char **error);

/* Ends it. Returns the CPU time that it and its epochs took, in seconds. */
double solver_close(struct solver *solver);

/* A new epoch at its time 0; there must be none. False when the solver is gone. */
bool solver_begin(struct solver *solver, const struct platform *platform);

/* A transfer begins, at a time that the epoch has not passed. */
void solver_start(struct solver *solver, uint32_t route, double at, double size);

/* ORDER_RUN, ORDER_LOOK or ORDER_END of protocol.h. The answer lives until the next call; NULL when
 * the solver is gone. */
const struct epoch_reply *solver_ask(struct solver *solver, enum order_kind kind, double at);

#endif
