/* Reduce-scatter and all-gather by switches, private to models/ina/shards/ and its tests.
 *
 *   shards.c         what is modelled; parameters, jobs, the collectives
 *   shards_switch.c  passing shards on, adding pieces, asking for what is missing
 *   shards_worker.c  the window of rows, timers, tensors
 *
 * A tensor is N equal pieces, one for each of the N ranks. Row r of the stream of tensors is the
 * r-th packet of each piece: chunk r N + i is that of piece i. */
#ifndef INASIM_INA_SHARDS_SHARDS_H
#define INASIM_INA_SHARDS_SHARDS_H

#include "core/alarm.h"
#include "ina/common/group.h"

/* Flags of its packets. */
enum { SHARDS_ASK = PACKET_OWN(0) }; /* a packet without elements: the chunk is missing */

#define SHARDS_ASK_SIZE    64 /* the shortest frame */
#define SHARDS_MAX_BACKOFF 10 /* doublings of `timeout`: to 1,024 times at most */

struct shards_conf {
	bytes memory, window;
	int64_t elements_per_packet, header;
	sim_time timeout;
};

/* What a switch has of a chunk of a reduce-scatter; it keeps this for two windows of rows. */
struct shards_sum {
	uint64_t row; /* its number plus 1; 0 = not used yet */
	uint64_t value;
	uint32_t count; /* neighbours in it */
};

struct shards_node {
	struct ina_node base;
	struct ina_group group;
	uint32_t words;          /* of 64 bits, for a bit per neighbour */
	uint16_t *toward;        /* by rank: the neighbour that leads to it */
	struct shards_sum *sums; /* reduce-scatter: [row mod job->kept * N + piece] */
	uint64_t *seen;          /* `words` for each of the sums: which neighbours are in it */
};

/* A packet that somebody has asked for, or that asks; it leaves before new rows do. */
struct shards_extra {
	uint64_t chunk;
	uint16_t slot; /* the rank that asks, plus 1; 0 in an answer of a reduce-scatter */
	bool ask;
};

/* `base.results` counts the rows that are complete here, which end in order. */
struct shards_worker {
	struct ina_worker base;
	uint64_t row;      /* under way: those before have been sent */
	uint32_t sent;     /* packets of that row */
	uint64_t *next;    /* by piece: the row after the last that has come */
	uint64_t highest;  /* 1 + the last row of which something has come */
	uint32_t *missing; /* by row mod job->kept: packets that have not come */
	uint64_t *got;     /* `job->words` for each of these rows: which pieces have come */
	struct shards_extra *extra;
	size_t extra_first, extra_count, extra_capacity;
	sim_time progress; /* when something new came last, or the wait began */
	unsigned backoff;  /* times that nothing new has come since; each doubles the wait */
	uint64_t asks;     /* most rows that the last timeout could ask for */
	struct alarm alarm;
	bool completing; /* complete() is running */
};

struct shards {
	struct ina_job base;
	bool gather;     /* an all-gather; else a reduce-scatter */
	uint64_t window; /* rows under way */
	uint64_t kept;   /* rows that memory has room for: two windows */
	uint32_t words;  /* of 64 bits, for a bit per rank */
	/* Learns of packets, from the scheme; the kit would tell it of whole rows only. */
	struct why_chunks *why;
};

/* The object that open() makes: jobs of the two kinds have two registries and two protocols. */
struct shards_scheme {
	struct ina_scheme scatter;
	struct ina_scheme *gather;
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

/* Fits collective_ops.contribute. */
void shards_contribute(void *instance, uint32_t worker, bytes size);

/* Fits ina_ops.waits. */
bool shards_waits(const void *worker, char *text, size_t size);

#endif
