/* Reduce-scatter and all-gather by switches, private to models/ina/shards/ and its tests.
 *
 *   shards.c         parameters, jobs, the collectives; its top says what is modelled
 *   shards_switch.c  forwarding shards, adding pieces, asking for missing ones
 *   shards_worker.c  the window of rows, timers, tensors
 *
 * A tensor has N equal pieces, one for each of the N ranks. Row r of the stream of tensors consists
 * of the r-th packet of each piece: chunk r N + i belongs to piece i. */
#ifndef INASIM_INA_SHARDS_SHARDS_H
#define INASIM_INA_SHARDS_SHARDS_H

#include "core/alarm.h"
#include "ina/common/group.h"

/* Flag of a packet without elements that asks for a missing chunk. */
enum { SHARDS_ASK = PACKET_OWN(0) };

#define SHARDS_ASK_SIZE    64 /* the shortest frame */
#define SHARDS_MAX_BACKOFF 10 /* doublings of `timeout`: to 1,024 times at most */

struct shards_conf {
	struct ina_packet_conf packets;
	bytes memory, window;
	sim_time timeout;
};

/* What a switch has of a chunk of a reduce-scatter. It keeps sums for two windows of rows. */
struct shards_sum {
	uint64_t row; /* 1 + row; 0 = not used yet */
	uint64_t value;
	uint32_t count; /* neighbours in the sum */
};

struct shards_node {
	struct ina_node base;
	struct ina_group group;
	uint32_t words;          /* 64-bit words for a bit per neighbour */
	uint16_t *toward;        /* by rank: the neighbour that leads to the rank */
	struct shards_sum *sums; /* reduce-scatter: [row mod job->kept * N + piece] */
	uint64_t *seen;          /* `words` for each sum: which neighbours are in it */
};

/* A question or an answer. It leaves before new rows. */
struct shards_extra {
	uint64_t chunk;
	uint16_t slot; /* 1 + the rank that asks; 0 in an answer of a reduce-scatter */
	bool ask;
};

/* `base.results` counts the rows that are complete here. They complete in order. */
struct shards_worker {
	struct ina_worker base;
	uint64_t row;      /* next row to send */
	uint32_t sent;     /* packets of that row sent so far */
	uint64_t *next;    /* by piece: 1 + the last row that has come */
	uint64_t highest;  /* 1 + the last row of which a packet has come */
	uint32_t *missing; /* by row mod job->kept: packets that have not come */
	uint64_t *got;     /* `job->words` for each of these rows: pieces that have come */
	struct shards_extra *extra;
	size_t extra_first, extra_count, extra_capacity;
	sim_time progress; /* last new packet or timeout, or begin of the wait */
	unsigned backoff;  /* timeouts since the last new packet; each doubles the wait */
	uint64_t asks;     /* the most rows to ask for, at the last timeout */
	struct alarm alarm;
	bool completing; /* shards_complete() is running */
};

struct shards {
	struct ina_job base;
	bool gather;     /* an all-gather; else a reduce-scatter */
	uint64_t window; /* rows in flight */
	uint64_t kept;   /* rows that memory has room for: two windows */
	uint32_t words;  /* of 64 bits, for a bit per rank */
};

static inline uint32_t shards_ranks(const struct shards *job)
{
	return job->base.spec.workers;
}

/* --- at switches --- */

void shards_nodes_begin(struct shards *job);
void shards_nodes_end(struct shards *job);
void shards_at_node(struct shards *job, struct shards_node *node, uint32_t back,
		    struct packet *packet, struct switch_actions *actions);

/* --- at workers --- */

void shards_worker_begin(struct shards_worker *worker);
void shards_worker_end(struct shards_worker *worker);
void shards_deliver(struct shards_worker *worker, const struct packet *packet);
enum nic_pull shards_pull(void *worker, struct packet *packet);

/* Fit ina_ops. */
void shards_contribute(void *worker, uint64_t first, uint64_t chunks);
bool shards_waits(const void *worker, char *text, size_t size);

#endif
