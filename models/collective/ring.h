/* The inside of "ring": for ring*.c alone.
 *
 *   ring.c       parameters, ranks, what other schemes have too; opens with what is modelled
 *   ring_plan.c  a job as a fluid stream */
#ifndef INASIM_COLLECTIVE_RING_H
#define INASIM_COLLECTIVE_RING_H

#include "collective/collective.h"
#include "collective/tensors.h"

struct ring_conf {
	int transport;
	int order;
	sim_time step_latency;
	int64_t ack_every;
};

struct ring_scheme {
	struct model_env env;
	const struct ring_conf *conf;
};

struct rank {
	struct ring *ring;
	uint32_t number;
	uint32_t worker; /* of the job */
	uint32_t host;
	struct connection conn; /* to the next rank */
	uint64_t contributed;   /* tensors handed over */
	uint64_t sent;          /* messages written to the edge */
	uint64_t received;      /* messages from the previous rank */
	uint64_t stream_in;     /* bytes of those messages */
	uint64_t *chunks;       /* the tensor under way: sums so far */
	uint64_t *in_flight;    /* values of messages sent, by number modulo 2 * ranks: no rank is
				 * further than P messages ahead of its follower */
	struct timer timer;     /* step latency */
	bool preparing;
};

struct ring {
	struct ring_scheme *scheme;
	struct collective_job job;
	struct exact exact;
	struct rank *ranks;
	uint32_t *rank_of_worker;
	struct tensor_sizes sizes;
};

/* Of a tensor: so many messages go over each edge. */
static inline uint32_t ring_steps(const struct ring *ring)
{
	return 2 * (ring->job.workers - 1);
}

static inline struct rank *ring_next(const struct rank *rank)
{
	const struct ring *ring = rank->ring;

	return &ring->ranks[(rank->number + 1) % ring->job.workers];
}

/* --- ring.c --- */

/* The ranks of a job in their order, without connections. */
struct ring *ring_new(struct ring_scheme *scheme, const struct collective_job *job);
void ring_free(struct ring *ring);

/* Key of a connection for ECMP and ties: job and edge, apart from all flows. */
uint64_t ring_edge_key(const struct ring *ring, uint32_t rank);

/* --- ring_plan.c --- */

/* The members of struct collective_ops. */
void *ring_plan(void *scheme, const struct collective_job *job, struct stream_plan *plan,
		const char **never);
void ring_withdraw(void *admitted);

#endif
