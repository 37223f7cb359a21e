/* All-gather by multicast, private to models/ina/multicast/ and its tests.
 *
 *   multicast.c         parameters, jobs, switches; its top says what is modelled
 *   multicast_worker.c  chains, bitmaps, cut-off times, the ring of fetches, the handshake
 *
 * A tensor has N equal shards, one for each of the N ranks. A row is a packet of a shard. Chunks
 * are numbered from the first tensor to the last, and within a tensor by rank, then by row. For
 * ina.h a whole tensor is one chunk. */
#ifndef INASIM_INA_MULTICAST_MULTICAST_H
#define INASIM_INA_MULTICAST_MULTICAST_H

#include "core/alarm.h"
#include "ina/common/group.h"
#include "transport/messages.h"

#define MULTICAST_MAX_BACKOFF 10 /* doublings of `cutoff`: to 1,024 times at most */

struct multicast_conf {
	struct ina_packet_conf packets;
	int64_t chains;
	sim_time cutoff;
};

struct multicast_node {
	struct ina_node base;
	struct ina_group group;
};

/* What a rank knows of the shard of another. */
struct multicast_shard {
	uint32_t missing; /* rows that have not come */
	sim_time seen;    /* when the last new row came; 0 = none has come */
};

/* The all-gather of a tensor at a rank. */
struct multicast_gather {
	uint64_t tensor;     /* 1 + its number; 0 = not used yet */
	uint32_t rows;       /* of a shard */
	uint32_t incomplete; /* how many shards lack rows */
	uint32_t oldest;     /* the first of these, by rank */
	uint32_t begun;      /* 1 + the highest rank of whose shard a row has come */
	size_t words;        /* 64-bit words of each bitmap */
	/* Bitmaps of chunks, in one block of memory that begins with `got`: */
	uint64_t *got;                  /* chunks that have come */
	uint64_t *wanted;               /* chunks that the right neighbour has asked for */
	uint64_t *answered;             /* chunks sent to the right neighbour */
	struct multicast_shard *shards; /* by rank; the own shard lacks nothing */
};

/* `base.results` counts the all-gathers that have ended, handshake included. They end in order. */
struct multicast_worker {
	struct ina_worker base;
	uint32_t sent;                      /* rows of the own shard of tensor `base.results` */
	uint64_t told;                      /* complete tensors, as told to the left neighbour */
	uint64_t right_has;                 /* complete tensors of the right neighbour */
	struct multicast_gather gathers[2]; /* tensor t at [t mod 2] */
	struct messages to_left, to_right;
	sim_time since;    /* begin of the wait in this all-gather, or last timeout */
	sim_time progress; /* when the last new row came */
	unsigned backoff;  /* timeouts since the last new row of the oldest shard */
	struct alarm alarm;
	bool completing; /* proceed() is running */
};

struct multicast {
	struct ina_job base;
	uint64_t *first; /* first chunk of each tensor that a rank has handed over; then the end */
	size_t tensors, capacity;
};

static inline uint32_t multicast_ranks(const struct multicast *job)
{
	return job->base.spec.workers;
}

static inline const struct multicast_conf *multicast_conf(const struct multicast *job)
{
	return job->base.scheme->conf;
}

void multicast_worker_begin(struct multicast_worker *worker);
void multicast_worker_end(struct multicast_worker *worker);
void multicast_deliver(struct multicast_worker *worker, const struct packet *packet);
enum nic_pull multicast_pull(void *worker, struct packet *packet);

/* For collective_ops.contribute. */
void multicast_contribute(void *instance, uint32_t worker, bytes size);

/* For ina_ops.waits. */
bool multicast_waits(const void *worker, char *text, size_t size);

#endif
