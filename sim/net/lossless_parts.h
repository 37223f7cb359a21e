/* The inside of a lossless network: for lossless.c, which moves packets, and
 * lossless_watch.c, which only looks. */
#ifndef INASIM_NET_LOSSLESS_PARTS_H
#define INASIM_NET_LOSSLESS_PARTS_H

#include "net/lossless.h"

#include <stddef.h>

/* What a packet in a ring is charged to: the port whose link it came in by, a cell,
 * or nothing (a host's own packets). */
#define CHARGE_NONE UINT32_MAX
#define CHARGE_CELL (UINT32_C(1) << 31)

/* A packet that several ports hold copies of. */
struct cell {
	uint32_t copies; /* 0 = free */
	uint32_t port;   /* charged to; of a free one: number of the next free one */
	uint32_t size;
};

/* A PAUSE frame on its way. */
struct frame {
	sim_time at; /* takes effect */
	bool stop;   /* or go on */
};

/* A port's part of it: the transmitter, and the memory for what comes in over the same link. */
struct lane {
	uint32_t *charge; /* by place of the port's ring; small, or owned */
	uint32_t small[1 << SMALL_RING_BITS];
	uint32_t reverse;
	uint32_t given; /* packets of the ring, from its head, that are charged no more */
	struct ingress in;

	bool stopped; /* the transmitter, by a frame from the far end */
	bool armed;   /* a departure is pending */

	/* frames that this port sends */
	sim_time frame_start, frame_end; /* of the last one */
	sim_time response;               /* link delay and reaction of the far end */
	struct frame *frames;            /* on the way: frame_head .. frame_count - 1 */
	size_t frame_head, frame_count, frame_capacity;
	sim_time stopped_since;
	bool stuck;
} __attribute__((aligned(64)));

static_assert(offsetof(struct lane, in) + offsetof(struct ingress, headroom_size) <= 64,
	      "what every packet touches is one line of cache");

struct lossless {
	struct lane *lanes;              /* by port */
	struct ingress_memory *memories; /* by switch */
	uint32_t first_departure;        /* entities, by port from here on */
	uint32_t first_frame;            /* likewise */
	struct cell *cells;
	size_t cell_count, cell_capacity;
	uint32_t free_cell; /* CHARGE_NONE = none */
	uint32_t mtu;
	uint32_t largest; /* frame that entered a switch */
	uint32_t stopped; /* transmitters */
	uint64_t frames;  /* on their way */
	uint64_t refused; /* packets that found the headroom full: a mistake in its size */
	uint32_t watch;   /* entity */
	bool watching, deadlocked;
};

/* A transmitter has been stopped: from now on somebody looks for deadlocks. */
void lossless_watch(struct network *net);

sim_handler lossless_on_watch;

#endif
