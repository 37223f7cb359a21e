/* All-gather by multicast, private to models/ina/multicast/ and its tests.
 *
 *   multicast.c         what is modelled; parameters, jobs, switches, the collective
 *   multicast_worker.c  chains, bitmaps, cut-off times, the ring of fetches, the handshake
 *
 * A tensor is N equal shards, one for each of the N ranks. A row is a packet of a shard. Chunks are
 * numbered through the stream of tensors, in each by rank and row. The kit counts a whole tensor as
 * one chunk. */
#ifndef INASIM_INA_MULTICAST_MULTICAST_H
#define INASIM_INA_MULTICAST_MULTICAST_H

#include "core/alarm.h"
#include "ina/common/group.h"
#include "transport/messages.h"

#define MULTICAST_MAX_BACKOFF 10 /* waits up to 1,024 times `cutoff` */

struct multicast_conf {
	int64_t elements_per_packet, header, chains;
	sim_time cutoff;
};

struct multicast_node {
	struct ina_node base;
	struct ina_group group;
};

/* Of another rank, at a rank. */
struct multicast_shard {
	uint32_t missing; /* rows */
	sim_time seen;    /* when the last new row came; 0 = none has */
};

/* The all-gather of a tensor at a rank. */
struct multicast_gather {
	uint64_t tensor;                /* plus 1; 0 = not used yet */
	uint32_t rows;                  /* of a shard */
	uint32_t incomplete;            /* shards that are not whole */
	uint32_t oldest;                /* the first of them */
	uint32_t begun;                 /* 1 + the last shard of which something has come */
	size_t words;                   /* room of each of the following, a bit per chunk */
	uint64_t *got;                  /* is here; the block that holds all three */
	uint64_t *wanted;               /* the right neighbour has asked for it */
	uint64_t *answered;             /* it has been sent there */
	struct multicast_shard *shards; /* by rank; the own one stays whole */
};

/* `base.results` counts tensors that have been gathered and shaken hands on, which end in order. */
struct multicast_worker {
	struct ina_worker base;
	uint32_t sent;                      /* rows of the own shard, of tensor `base.results` */
	uint64_t told;                      /* tensors: its left neighbour knows that it has them */
	uint64_t right_has;                 /* tensors that its right neighbour has */
	struct multicast_gather gathers[2]; /* tensor t at [t mod 2] */
	struct messages to_left, to_right;
	sim_time since;    /* when the wait began, or it asked last */
	sim_time progress; /* when the last new row came */
	unsigned backoff;  /* times it has asked since something of the oldest shard came */
	struct alarm alarm;
	bool completing;
};

struct multicast {
	struct ina_job base;
	uint64_t *first; /* first chunk of each tensor that a rank has handed over; then the end */
	size_t tensors, capacity;
	/* The scheme tells it of packets: the kit would tell it of tensors. */
	struct why_chunks *why;
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

/* Fits collective_ops.contribute. */
void multicast_contribute(void *instance, uint32_t worker, bytes size);

/* Fits ina_ops.waits. */
bool multicast_waits(const void *worker, char *text, size_t size);

#endif
