/* What the fluid fidelity and the program that runs SimGrid say to each other: raw structs over
 * a socket between two processes of one machine and one build.
 *
 *     epoch, text                  ->     (a fresh SimGrid process, at time 0)
 *     START, START, RUN            ->
 *                                  <-     reply, ended transfers
 *     ... END                      ->
 *                                  <-     reply, remaining bytes; the process ends
 *
 * Why epochs: models/fluid/README.md. */
#ifndef INASIM_FLUID_SIMGRID_PROTOCOL_H
#define INASIM_FLUID_SIMGRID_PROTOCOL_H

#include <stdint.h>

/* SimGrid counts whole bytes (sg_host_sendto() takes a double and drops its fraction), and an epoch
 * may end within one. So it is told this many times the bytes and the rates; 2^50 bytes still fit.
 */
#define EPOCH_SCALE 8192.0

/* Route i leads from host "a<i / side>" to "b<i % side>"; the hosts are few because SimGrid's
 * table of routes is square. */
struct epoch_head {
	uint32_t routes;
	uint32_t side;
	uint32_t links; /* shared ones: "l0", "l1", ... */
	uint32_t text;  /* bytes of the platform description that follows */
};

enum order_kind {
	ORDER_START, /* `bytes` on `route` at time `at`; no answer */
	ORDER_RUN,   /* until `at` or until a transfer ends; answers with what has ended */
	ORDER_LOOK,  /* answers with what has ended, and what remains of the others at `at` */
	ORDER_END,   /* as ORDER_LOOK; then the process ends */
};

struct epoch_order {
	uint32_t kind; /* enum order_kind */
	uint32_t route;
	double at; /* seconds of the epoch */
	double bytes;
};

struct epoch_fact {
	double value; /* when it ended, s of the epoch; or bytes that remain */
	double rate;  /* of what remains, bytes per second; 0 = not known */
	uint32_t route;
	uint32_t remains; /* 0 = it has ended */
};

struct epoch_reply {
	double next_end; /* when a transfer ends if none begins; 0 = not known */
	uint32_t count;
	uint32_t padding;
	struct epoch_fact facts[];
};

#endif
