/* Fluid transfers that share links max-min fairly, on the clock of a simulation.
 *
 * A route is a set of links with integer weights, a cap, and shares. On a link of weight 2 it takes
 * twice its rate. It carries at most one transfer at a time. The rates of all transfers, divided by
 * their shares, are max-min fair (platform.h). The program computes them (filling.h) or, as a
 * check of it, SimGrid, in a process of its own (solver.h).
 *
 * The caller numbers the links. Rates and capacities are bytes on the wire per second. Rates are
 * computed once for each instant at which transfers begin or end, or capacities change. The next
 * end then becomes an event of the simulation, rounded to picoseconds. */
#ifndef INASIM_FLUID_FLUID_H
#define INASIM_FLUID_FLUID_H

#include "collective/exact.h"
#include "collective/plan.h"
#include "core/sim.h"

/* Keys of jobs' routes have this bit set. The keys of a job's routes differ only in the lowest
 * FLUID_KEY_BITS bits. Flows' keys are numbers from 0 on. */
#define FLUID_KEY_OF_JOB (UINT64_C(1) << 56)
#define FLUID_KEY_BITS   16

struct fluid;

enum fluid_solver { FLUID_FILLING, FLUID_SIMGRID };
extern const char *const fluid_solver_names[];

/* Without `sharing` every transfer runs as if it were alone, and `solver` does not matter. Copies
 * `capacity`, an array of `links` capacities; the first `nics` are of NICs. NULL and *error (caller
 * frees) if SimGrid does not start. If it fails later, the run stops with a violation in `checks`.
 */
struct fluid *fluid_open(struct sim *sim, struct checks *checks, const double *capacity,
			 size_t links, size_t nics, bool sharing, enum fluid_solver solver,
			 char **error);
void fluid_free(struct fluid *fluid);

/* Ends SimGrid and returns its CPU time in seconds. No transfer may start afterwards. */
double fluid_stop(struct fluid *fluid);

/* Adds a route. Copies links, cap and shares of the stream. A link may be listed several times;
 * weights add up. The cap may be INFINITY if there are links. `key` identifies the route in the
 * digest, and its sender (a job, or all flows together); only different senders take turns at a
 * NIC. ended() is called from an event when a transfer ends, and may start transfers. */
uint32_t fluid_route_add(struct fluid *fluid, const struct plan_stream *stream, uint64_t key,
			 void (*ended)(void *owner, uint32_t route), void *owner);
/* Removes a route. Aborts its transfer. */
void fluid_route_remove(struct fluid *fluid, uint32_t route);

/* The rate of the route's transfer if it is alone. */
double fluid_alone(const struct fluid *fluid, uint32_t route);

/* Starts a transfer of `size` > 0 bytes now. The route must be idle. */
void fluid_start(struct fluid *fluid, uint32_t route, double size);

/* The number of transfers that run now. */
size_t fluid_active(const struct fluid *fluid);

/* Bytes carried so far by the transfer on each route, by number of the route; 0 on idle routes.
 * Does not change the run. The array is valid until the next call. */
const double *fluid_progress(struct fluid *fluid);

/* Bytes that each link has carried so far. Does not change the run. The array is valid until the
 * next call. */
const double *fluid_all_carried(struct fluid *fluid);

/* Bytes that a link has carried for transfers that have ended or were aborted; after fluid_stop(),
 * for all. */
double fluid_carried(const struct fluid *fluid, uint32_t link);

/* Whether transfers share links. */
bool fluid_shares(const struct fluid *fluid);

#endif
