/* The protocol between the fluid model and the program that runs SimGrid: raw structs over a socket
 * between two processes of one machine and one build.
 *
 *     question, platform (if it is new), a share for each route    ->
 *                                                                  <-    a rate for each route
 *
 * A route with share 0 has rate 0. Each new platform gets a fresh SimGrid. */
#ifndef INASIM_FLUID_SIMGRID_PROTOCOL_H
#define INASIM_FLUID_SIMGRID_PROTOCOL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Route i leads from host "a<i / side>" to host "b<i % side>"; its own link is "c<i>". So 2 * side
 * hosts suffice for side^2 routes. Hosts should be few, because SimGrid's table of routes grows
 * with the square of their number. */
struct solver_question {
	uint32_t routes;
	uint32_t side;
	uint32_t text; /* bytes of the platform that follows; 0 if the last platform still holds */
};

/* Sends `size` bytes. False: the other process is gone. */
static inline bool solver_send(int to, const void *from, size_t size)
{
	const char *at = from;

	while (size) {
		ssize_t n = send(to, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

#endif
