/* What the fluid fidelity and the program that runs SimGrid say to each other: raw structs over
 * a socket between two processes of one machine and one build.
 *
 *     head, platform (if it is new), a share for each route    ->
 *                                                              <-    a rate for each route
 *
 * A route with share 0 is idle, and has rate 0. For each new platform there is a fresh SimGrid. */
#ifndef INASIM_FLUID_SIMGRID_PROTOCOL_H
#define INASIM_FLUID_SIMGRID_PROTOCOL_H

#include <stdint.h>

/* Route i leads from host "a<i / side>" to "b<i % side>", and its own link is "c<i>"; the hosts are
 * few because SimGrid's table of routes is square. */
struct solver_question {
	uint32_t routes;
	uint32_t side;
	uint32_t text; /* bytes of the platform description that follows; 0 = the last one */
};

#endif
