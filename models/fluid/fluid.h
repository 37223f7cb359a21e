/* Fluid transfers that share links max-min fairly, on the clock of a simulation.
 *
 * A route is a set of links with whole weights (a ring that crosses a link twice takes twice its
 * rate there), a cap, and shares. It carries at most one transfer at a time. The rates of all
 * transfers, divided by their shares, are max-min fair (platform.h). SimGrid computes them in a
 * process of its own, which is started here (README.md says why and how).
 *
 * The caller numbers the links. Rates and capacities are bytes on the wire per second. Rates are
 * found once for each instant at which transfers begin or end. The next end then becomes an event
 * of the simulation, rounded to picoseconds. */
#ifndef INASIM_FLUID_FLUID_H
#define INASIM_FLUID_FLUID_H

#include "collective/exact.h"
#include "collective/plan.h"
#include "core/sim.h"

/* Keys of jobs' routes have this bit. The routes of one job have keys that differ only in the last
 * FLUID_KEY_BITS bits. Flows' keys are numbers from 0 on. */
#define FLUID_KEY_OF_JOB (UINT64_C(1) << 56)
#define FLUID_KEY_BITS   16

struct fluid;

/* Starts the solver. If `sharing` is false there is none, and every transfer runs as if it were
 * alone. Copies `capacity`, which has `links` links; the first `nics` are NICs. NULL and *error
 * (caller frees) on failure. If the solver fails later, `checks` is told. */
struct fluid *fluid_open(struct sim *sim, struct checks *checks, const double *capacity,
			 size_t links, size_t nics, bool sharing, char **error);
void fluid_free(struct fluid *fluid);

/* Ends the solver and returns its CPU time in seconds. No transfer may follow. */
double fluid_stop(struct fluid *fluid);

/* Adds a route, which exists until it is removed. Copies links, cap and shares of the stream. A
 * link may be listed several times; weights add up. The cap may be INFINITY if there are links.
 * `key` names the route in the digest, and its sender: a job, or the flows. A sender's routes have
 * turns of the same length, so only several senders at a NIC take turns.
 * ended() is called from an event and may start transfers. */
uint32_t fluid_route_add(struct fluid *fluid, const struct plan_stream *stream, uint64_t key,
			 void (*ended)(void *owner, uint32_t route), void *owner);
/* Breaks off the route's transfer if one is under way. */
void fluid_route_remove(struct fluid *fluid, uint32_t route);

/* Changes who is told when a transfer of the route ends. */
void fluid_route_give(struct fluid *fluid, uint32_t route,
		      void (*ended)(void *owner, uint32_t route), void *owner);

/* The rate of a transfer that is alone. */
double fluid_alone(const struct fluid *fluid, uint32_t route);

/* Begins a transfer now; the route must be idle, `size` > 0. */
void fluid_start(struct fluid *fluid, uint32_t route, double size);

/* The number of transfers under way. */
size_t fluid_active(const struct fluid *fluid);

/* Bytes carried so far by the transfer on each route, by number of the route; 0 on idle ones.
 * Changes nothing. The array lives until the next call. */
const double *fluid_progress(struct fluid *fluid);

/* Bytes that each link has carried so far. Changes nothing. The array lives until the next call. */
const double *fluid_all_carried(struct fluid *fluid);

/* Bytes that a link has carried for transfers that have ended; after fluid_stop(), for all. */
double fluid_carried(const struct fluid *fluid, uint32_t link);

/* Changes the capacities of the links (> 0). */
void fluid_set_capacities(struct fluid *fluid, const double *capacity);

/* Whether transfers share links. */
bool fluid_shares(const struct fluid *fluid);

#endif
