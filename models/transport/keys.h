/* Keys of timers and connections. A hash of a timer's key breaks ties among equal times
 * (core/sim.h); a hash of a connection's key picks its ECMP path (tcp.h). Each kind of owner has a
 * tag, so that two kinds never share a key. A scheme that needs a new tag adds it here. Never
 * change a value: results and digests depend on it.
 *
 *   timer       55..52 low bits of the tag | 51..0 number; tags from 16 on set bit 51
 *   connection          51..48 tag | 47..0 number in the tag */
#ifndef INASIM_TRANSPORT_KEYS_H
#define INASIM_TRANSPORT_KEYS_H

#include "core/sim.h"

enum timer_tag {
	TIMER_TCP = 0,    /* retransmission: 2 * connection; delayed ACK: 2 * connection + 1 */
	TIMER_PACING = 1, /* connection */
	TIMER_ROCE = 2,   /* connection: retransmission */
	TIMER_FLOW = 3,
	TIMER_RING = 4,      /* numbers that connection_key() made: bit 48 is set */
	TIMER_MACHINE = 4,   /* numbers below 2^48 */
	TIMER_NETREDUCE = 5, /* accelerator of a switch */
	TIMER_PS = 6,
	TIMER_PS_STREAM = 7,
	TIMER_SWITCHML = 8,
	TIMER_FLUID = 8, /* a job of the fluid fidelity, which has no SwitchML packets */
	TIMER_PANAMA_BACKLOG = 9,
	TIMER_TASK = 10, /* computation of a worker */
	TIMER_PANAMA_ACCELERATOR = 11,
	TIMER_POOL_WORKER = 12,
	TIMER_PANAMA_ASKER = 13,
	TIMER_ESA_SERVER = 14,
	TIMER_POOL_INBOX = 15,
	/* Tags T and T + 16 share bits 55..52 of the key; bit 51 tells them apart. So numbers of
	 * such a pair must leave bit 51 clear, as timer_key_of_job() does. */
	TIMER_RACK = 16 + 1, /* connection */
	TIMER_SHARDS = 16 + 8,
	TIMER_SHARDS_GATHER = 16 + 9,
	TIMER_MULTICAST = 16 + 10,
	TIMER_SHARP = 16 + 12, /* bits 23..22: 0 host, 1 and 2 node, 3 lock */
	TIMER_SHARP_SCATTER = 16 + 13,
	TIMER_SHARP_GATHER = 16 + 14,
};

/* Tags stay below 8, because a number of TIMER_TCP is twice a connection's key. */
enum connection_tag {
	CONNECTION_FLOW = 0,
	CONNECTION_RING = 1,
	CONNECTION_PS = 2,
	CONNECTION_NETREDUCE = 3,
	CONNECTION_ESA = 4,
	CONNECTION_PANAMA = 5,
	CONNECTION_MULTICAST = 6,
};

/* The key of a timer of class SIM_TIMER, for timer_open(). */
static inline uint64_t timer_key(enum timer_tag tag, uint64_t number)
{
	return sim_key(SIM_TIMER, (uint64_t)(tag & 15) << 52 | (uint64_t)(tag >> 4) << 51 | number);
}

/* The key of a timer for the q-th part (worker, server) of a job. */
static inline uint64_t timer_key_of_job(enum timer_tag tag, uint32_t job, uint32_t q)
{
	return timer_key(tag, (uint64_t)job << 24 | q);
}

static inline uint64_t connection_key(enum connection_tag tag, uint64_t number)
{
	return (uint64_t)tag << 48 | number;
}

/* The job of a connection; UINT32_MAX for a flow. `shift`: the job's lowest bit, by tag. */
static inline uint32_t connection_job(uint64_t key)
{
	static const uint8_t shift[] = {
		[CONNECTION_RING] = 20, [CONNECTION_PS] = 24,     [CONNECTION_NETREDUCE] = 28,
		[CONNECTION_ESA] = 16,  [CONNECTION_PANAMA] = 25, [CONNECTION_MULTICAST] = 25
	};
	uint64_t tag = key >> 48 & 15, number = key & ((UINT64_C(1) << 48) - 1);

	return tag < sizeof(shift) && shift[tag] ? (uint32_t)(number >> shift[tag]) : UINT32_MAX;
}

#endif
