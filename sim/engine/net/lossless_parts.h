/* The inside of a lossless network, for lossless*.c alone:
 *
 *   lossless.c         building and queries
 *   lossless_hop.c     the path of a packet: the hot path
 *   lossless_memory.c  charges of packets
 *   lossless_pause.c   PAUSE frames, and transmitters that they stop and start
 *   lossless_watch.c   detection of deadlocks, and checks
 *   lossless_repeat.c  the state, for runs that repeat themselves */
#ifndef INASIM_NET_LOSSLESS_PARTS_H
#define INASIM_NET_LOSSLESS_PARTS_H

#include "net/ahead.h"
#include "net/hop.h"
#include "net/lossless.h"
#include "net/nic.h"
#include "net/watch.h"

#include <stddef.h>

/* The charge of a packet in a ring: the number of the port that it came in by, a cell, or none
 * (a host's own packets; with classes, control packets). CHARGE_NONE includes the bit CHARGE_CELL,
 * so a test of this bit tells ports from the other two. */
#define CHARGE_NONE UINT32_MAX
#define CHARGE_CELL (UINT32_C(1) << 31) /* + number of the cell */

/* The charge for a packet that several ports hold copies of. */
struct cell {
	uint32_t copies; /* 0 = the cell is free */
	uint32_t port;   /* the port charged; in a free cell: number of the next free cell */
	uint32_t size;
	uint32_t counted; /* lossless_watch.c: the last count that it was part of */
};

/* A PAUSE frame on its way. */
struct frame {
	sim_time at; /* when it takes effect */
	bool stop;   /* else go on */
};

/* What PAUSE adds to a port: a transmitter that stops, and memory for incoming packets. */
struct lane {
	uint32_t *charge; /* by place of the port's ring; `small`, or owned */
	uint32_t small[1 << SMALL_RING_BITS];
	uint32_t reverse;
	uint32_t given; /* packets of the ring, from its head on, that are no longer charged */
	struct ingress in;

	bool stopped; /* a frame from the far end has stopped the transmitter */
	bool armed;   /* the event of a departure is pending */

	/* PAUSE frames that this port sends */
	sim_time frame_start, frame_end; /* transmission of the last frame */
	sim_time response;               /* link delay and reaction of the far end */
	struct frame *frames;            /* on their way: frame_head .. frame_count - 1 */
	size_t frame_head, frame_count, frame_capacity;
	sim_time stopped_since;
	bool stuck;  /* lossless_stuck() */
	bytes stays; /* charged to this port, and only stuck ports could send it away */
} __attribute__((aligned(64)));

static_assert(offsetof(struct lane, in) + offsetof(struct ingress, headroom_size) <= 64,
	      "each packet touches one cache line of a lane");

struct lossless {
	struct lane *lanes;              /* by port */
	struct ingress_memory *memories; /* by switch */
	uint32_t first_departure;        /* entity of port 0's departures; other ports follow */
	uint32_t first_frame;            /* entity of port 0's PAUSE frames, likewise */
	struct cell *cells;
	size_t cell_count, cell_capacity;
	uint32_t free_cell; /* CHARGE_NONE = none */
	uint32_t mtu;
	uint32_t largest; /* size of the largest frame charged at a switch */
	uint32_t stopped; /* transmitters that are stopped now */
	uint64_t frames;  /* on their way */
	uint64_t refused; /* packets dropped because the headroom was full */
	uint32_t watch;   /* entity of lossless_on_watch() */
	bool watching;    /* its event is pending */
	bool deadlocked;
	uint32_t counts; /* how often count_stuck() has been called */
};

/* --- lossless_hop.c --- */

/* Arrivals, in networks of one class of traffic and of two. */
sim_handler lossless_on_arrival, lossless_on_classed_arrival;

/* network.send and network.switch_send(_each). */
void lossless_send(struct network *net, uint32_t host, const struct packet *packet);
void lossless_switch_send(struct network *net, uint32_t back, const struct switch_send *send);
void lossless_switch_send_each(struct network *net, uint32_t back, const struct packet *packets,
			       const uint32_t *ports, uint32_t count);

/* --- lossless_memory.c --- */

/* Makes a cell: returns a charge to `port` that `copies` packets share. */
uint32_t lossless_new_cell(struct lossless *ll, uint32_t port, uint32_t size, uint32_t copies);

/* Called when one of the copies has left. */
void lossless_give_cell(struct lossless *ll, uint32_t number);

/* Called when a packet has left the port that held it. */
HOT_INLINE void lossless_give(struct lossless *ll, uint32_t charge, uint32_t size)
{
	if (__builtin_expect(!(charge & CHARGE_CELL), 1))
		ingress_give(&ll->lanes[charge].in, size);
	else if (charge != CHARGE_NONE)
		lossless_give_cell(ll, charge & ~CHARGE_CELL);
}

/* lossless_settle() for all ports of a switch, so that its counts are exact. */
void lossless_settle_switch(struct network *net, const struct ingress_memory *memory);

/* --- lossless_pause.c --- */

/* The counts say that port `in` is full, but may include packets that have left. Brings them up to
 * date, and if the port still is full, tells the neighbour behind it to stop. */
void lossless_stop_neighbour(struct network *net, uint32_t in);

/* Returns the index of the first packet whose transmission has not started. Stores in *until when
 * this may start: after the packet that has started and all PAUSE frames of the port. */
uint32_t lossless_started(struct network *net, uint32_t number, sim_time *until);

/* Sets the departures of the packets from index `first` on, which are sent one after the other from
 * the time `from` on. On a stopped port, departures are SIM_TIME_MAX, except those of control
 * packets in networks with classes. */
void lossless_retime(struct network *net, uint32_t number, uint32_t first, sim_time from);

/* Schedules the port's next departure as an event, if none is pending. Only a switch that has
 * stopped neighbours needs such events: when enough bytes have left, the neighbours may go on. */
void lossless_arm(struct network *net, uint32_t number);

/* Events: a packet departs; a PAUSE frame takes effect at the far end. */
sim_handler lossless_on_departure, lossless_on_frame;

/* --- lossless_watch.c --- */

/* Called when a transmitter has been stopped: starts the periodic check for deadlocks. */
void lossless_watch(struct network *net);

sim_handler lossless_on_watch;

#endif
