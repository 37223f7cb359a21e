/* Fluid transfers that share links max-min fairly, on the clock of a simulation.
 *
 * A route is a set of links, each with a whole weight (a ring that crosses a link twice takes
 * twice its rate there), a cap of its own, and shares. At any time one transfer may be under way
 * on a route. The rates of all transfers are the max-min fair ones, of rates divided by shares
 * (platform.h); SimGrid computes them, in a process of its own that is started here (README.md says
 * why and how).
 *
 * Links are numbered as the caller likes; rates and capacities are in bytes per second, and count
 * what is on the wire. Rates are found once for each instant at which transfers begin or end; the
 * next end is then an event of the simulation, rounded to picoseconds. */
#ifndef INASIM_FLUID_FLUID_H
#define INASIM_FLUID_FLUID_H

#include "collective/exact.h"
#include "collective/plan.h"
#include "core/sim.h"

#define FLUID_KEY_BITS 16

struct fluid;

/* Starts the solver; without `share` there is none, and every transfer goes as if it were alone.
 * `capacity` of `links` links is copied; the first `nics` of them are NICs. NULL and *error (caller
 * frees) when that cannot be. `checks` hears when the solver fails later. */
struct fluid *fluid_open(struct sim *sim, struct checks *checks, const double *capacity,
			 size_t links, size_t nics, bool share, char **error);
void fluid_free(struct fluid *fluid);

/* Ends the solver; returns the CPU time that it took, in seconds. No transfer may follow. */
double fluid_stop(struct fluid *fluid);

/* A new route; it exists until it is removed. Of the stream its links, cap and shares are copied. A
 * link may be listed several times; weights add up. The cap may be INFINITY if there are links.
 * `key` names it in the digest. Routes whose keys differ in the last FLUID_KEY_BITS only take turns
 * at NICs as one sender. ended() is called from an event, and may start transfers. */
uint32_t fluid_route_add(struct fluid *fluid, const struct plan_stream *stream, uint64_t key,
			 void (*ended)(void *owner, uint32_t route), void *owner);
/* A transfer that is under way is broken off. */
void fluid_route_remove(struct fluid *fluid, uint32_t route);

/* From now on this owner is told when a transfer of the route ends. */
void fluid_route_give(struct fluid *fluid, uint32_t route,
		      void (*ended)(void *owner, uint32_t route), void *owner);

/* The rate that a transfer has when it is alone. */
double fluid_alone(const struct fluid *fluid, uint32_t route);

/* Begins a transfer now; the route must be idle, `size` > 0. */
void fluid_start(struct fluid *fluid, uint32_t route, double size);

/* Transfers under way. */
size_t fluid_active(const struct fluid *fluid);

/* Bytes of the transfer under way on each route that have been carried by now, by number of the
 * route; 0 on idle ones. Looks, and changes nothing; the array lives until the next call. */
const double *fluid_progress(struct fluid *fluid);

/* Bytes that each link has carried by now. Looks, and changes nothing; the array lives until the
 * next call. */
const double *fluid_all_carried(struct fluid *fluid);

/* Bytes that a link has carried, of transfers that have ended; after fluid_stop(), of all. */
double fluid_carried(const struct fluid *fluid, uint32_t link);

/* From now on links have these capacities (> 0). */
void fluid_set_capacities(struct fluid *fluid, const double *capacity);

/* Whether transfers share links. */
bool fluid_shares(const struct fluid *fluid);

#endif
