/* The memory of a lossless switch, counted where packets come in.
 *
 * PAUSE stops a neighbour, so a switch has to know from which neighbour the bytes
 * in its queues came. Every packet, except control packets in a network with classes,
 * is charged to the port that it came in by, from the moment it enters an egress queue
 * until its last bit has left:
 *
 *     |-- shared: up to the threshold --|- one frame -|---- headroom ----|
 *     0                                xoff                            memory
 *
 * Bytes go to the shared part until it reaches the threshold, which the last frame
 * may exceed. Then the neighbour is told to stop (XOFF), and further bytes go to the
 * headroom. Bytes that leave are taken from the headroom first. When the headroom is
 * empty and the shared part is down to `xon`, the neighbour may go on (XON).
 *
 * The threshold is `xoff`. With alpha > 0 it is alpha times the free shared memory
 * of the whole switch (Choudhury and Hahne, IEEE/ACM ToN 1998), and XON comes
 * `hysteresis` below it. Every port brings its own frame and headroom, so the sum
 * of all ports never exceeds the memory of the switch.
 *
 * This is the order of the parts in the shared-buffer model of Alibaba's HPCC
 * simulator (switch-mmu.cc), without its reserve. Units: bytes; alpha in 2^-20. */
#ifndef INASIM_NET_INGRESS_H
#define INASIM_NET_INGRESS_H

#include "base/types.h"

#include <stdbool.h>

#define ALPHA_ONE (UINT64_C(1) << 20)

#define HEADROOM_MAX (UINT32_C(1) << 30)

#define PAUSE_FRAME 64 /* bytes of a PAUSE or PFC frame, IEEE 802.1Qbb */

/* How a port of a lossless switch handles packets that come in over its link. */
struct pause_params {
	bool on;
	bytes memory;      /* of this port: shared part, one frame, headroom */
	bytes headroom;    /* at most HEADROOM_MAX */
	bytes xoff, xon;   /* when alpha is 0 */
	uint64_t alpha;    /* in 1/ALPHA_ONE; 0 = static thresholds */
	bytes hysteresis;  /* when alpha is not 0 */
	uint32_t mtu;      /* bytes of the largest frame */
	sim_time delay;    /* of the link */
	sim_time response; /* of the neighbour: from the last bit of a PAUSE frame to its effect */
};

/* Memory that the ports of a switch share. */
struct ingress_memory {
	bytes shared_size, shared_used;
	uint32_t stopped; /* ports whose neighbour has been told to stop */
	bool due;         /* some of these neighbours may be able to go on */
};

struct ingress {
	struct ingress_memory *memory; /* not owned; NULL at a host, which takes everything */
	bytes shared;                  /* in use */
	bytes xoff;
	uint32_t headroom; /* in use */
	bool stopped;      /* the neighbour has been told to stop */
	bool dynamic;      /* the threshold follows alpha, not xoff */
	/* every packet touches the members up to here */
	uint32_t headroom_size;
	uint32_t headroom_max; /* largest `headroom` so far */
	bytes xon, hysteresis;
	uint64_t alpha;
};

/* A port joins the memory of its switch. */
void ingress_init(struct ingress *in, struct ingress_memory *memory,
		  const struct pause_params *params);

/* The bytes in the shared part at which the neighbour is told to stop. */
bytes ingress_threshold(const struct ingress *in);

/* Charges a packet. False if it does not fit; then nothing is charged. */
static inline bool ingress_take(struct ingress *in, bytes size)
{
	if (__builtin_expect(!in->stopped, 1)) {
		in->shared += size;
		in->memory->shared_used += size;
		return true;
	}
	if (in->headroom + size > in->headroom_size)
		return false;
	in->headroom += (uint32_t)size;
	if (in->headroom > in->headroom_max)
		in->headroom_max = in->headroom;
	return true;
}

/* Ends the charge of a packet that has left. */
static inline void ingress_give(struct ingress *in, bytes size)
{
	uint32_t headroom = size < in->headroom ? (uint32_t)size : in->headroom;

	in->headroom -= headroom;
	in->shared -= size - headroom;
	in->memory->shared_used -= size - headroom;
	in->memory->due |= in->stopped || (in->dynamic && in->memory->stopped);
}

/* Whether the neighbour should be told to stop now. */
static inline bool ingress_full(const struct ingress *in)
{
	return !in->stopped && in->shared >= (in->dynamic ? ingress_threshold(in) : in->xoff);
}

/* Whether a stopped neighbour may go on. */
bool ingress_low(const struct ingress *in);

/* Notes that the neighbour is told to stop, or to go on. */
void ingress_set_stopped(struct ingress *in, bool stopped);

/* Headroom with which no packet is lost, if a switch sends at most one packet for each that comes
 * in (else see topology_headroom_of()) and no link fails. After XOFF is decided, frames still come
 * in for the time
 *     D = frame of `mtu` that the switch is sending + PAUSE frame + 2 delays + pipeline + response
 * The headroom is the bytes that the link carries in D, without preambles and gaps,
 * which are not stored, plus one frame that has just begun at the end of D.
 *     `overhead`: bytes of preamble and gap per frame; `pipeline`: time from the
 * last bit of a packet to its place in a queue of the switch. */
bytes pause_headroom(bps rate, sim_time delay, sim_time pipeline, sim_time response, uint32_t mtu,
		     uint32_t overhead);

#endif
