/* All-gather by multicast, private to models/ina/multicast/ and its tests.
 *
 *   multicast.c         what is modelled; parameters, jobs, switches, the collective
 *   multicast_worker.c  chains, bitmaps, cut-off times, the ring of fetches, the handshake
 *
 * A tensor is N equal shards, one for each of the N ranks. A row is a packet of a shard. Chunks are
 * numbered from the first tensor to the last; within a tensor, all rows of rank 0 come first, then
 * those of rank 1, and so on. The kit counts a whole tensor as one chunk. */
#ifndef INASIM_INA_MULTICAST_MULTICAST_H
#define INASIM_INA_MULTICAST_MULTICAST_H

#include "core/alarm.h"
#include "ina/common/group.h"
#include "transport/messages.h"

#define MULTICAST_MAX_BACKOFF 10 /* doublings of `cutoff`: to 1,024 times at most */

struct multicast_conf {
	int64_t elements_per_packet, header, chains;
	sim_time cutoff;
};

struct multicast_node {
	struct ina_node base;
	struct ina_group group;
};

/* What a rank knows of the shard of another. */
struct multicast_shard {
	uint32_t missing; /* rows that have not come */
	sim_time seen;    /* when the last new row came; 0 = none has */
};

/* The all-gather of a tensor at a rank. */
struct multicast_gather {
	uint64_t tensor;     /* its number plus 1; 0 = not used yet */
	uint32_t rows;       /* of a shard */
	uint32_t incomplete; /* shards that are not whole */
	uint32_t oldest;     /* the first of these, by rank */
	uint32_t begun;      /* 1 + the last shard of which something has come */
	size_t words;        /* of 64 bits, that each bitmap has room for */
	/* Bitmaps of chunks, in one block of memory that begins with `got`: */
	uint64_t *got;                  /* has come */
	uint64_t *wanted;               /* the right neighbour has asked for it */
	uint64_t *answered;             /* has been sent to the right neighbour */
	struct multicast_shard *shards; /* by rank; the own one lacks nothing */
};

/* `base.results` counts the all-gathers that have ended, handshake included. They end in order. */
struct multicast_worker {
	struct ina_worker base;
	uint32_t sent;                      /* rows of the own shard, of tensor `base.results` */
	uint64_t told;                      /* tensors that it has told its left neighbour it has */
	uint64_t right_has;                 /* tensors that its right neighbour has */
	struct multicast_gather gathers[2]; /* tensor t at [t mod 2] */
	struct messages to_left, to_right;
	sim_time since;    /* when the wait in this all-gather began, or it last asked */
	sim_time progress; /* when the last new row came */
	unsigned backoff;  /* times it has asked since something of the oldest shard came */
	struct alarm alarm;
	bool completing; /* proceed() is running */
};

struct multicast {
	struct ina_job base;
	uint64_t *first; /* chunk of each tensor that some rank has handed over; then the end */
	size_t tensors, capacity;
	/* Learns of packets, from the scheme; the kit would tell it of whole tensors only. */
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
