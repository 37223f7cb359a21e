/* ESA, private to models/ina/esa/ and its tests.
 *
 *   esa.c           parameters, priorities; its top says what is modelled
 *   esa_switch.c    hashed aggregators with preemption
 *   esa_server.c    the parameter server: partial sums, reminders
 *   esa_recovery.c  lost chunks: queries and gradients over a reliable transport
 *   result_cache.h  results that a worker keeps for its peers
 */
#ifndef INASIM_INA_ESA_ESA_H
#define INASIM_INA_ESA_ESA_H

#include "ina/common/pool.h"
#include "ina/esa/result_cache.h"
#include "transport/messages.h"

enum esa_preemption { ESA_PRIORITY, ESA_ALWAYS, ESA_COIN, ESA_NEVER };
enum esa_remaining { ESA_OF_ITERATION, ESA_OF_JOB, ESA_ATTAINED, ESA_NO_TIME };
enum esa_ratio { ESA_MEASURED, ESA_MODEL, ESA_NO_RATIO };
enum esa_query { ESA_QUERY_IF_NOTHING, ESA_QUERY_ALWAYS };
enum esa_resend { ESA_RESEND_AT_ONCE, ESA_RESEND_TIMEOUT };
enum esa_transport_timeout { ESA_MIN_TIMEOUT, ESA_TCP_TIMEOUT };
enum esa_dupack { ESA_DUPACK_DOUBLING, ESA_DUPACK_EACH, ESA_DUPACK_EVERY };

struct esa_conf {
	struct pool_conf pool; /* first: POOL_ROWS */
	int preemption, remaining, ratio, query, resend, transport_timeout, dupack;
	bool layers, downgrading; /* terms and rules that can be left out */
	double scale;
	int64_t reminder_rounds;
};

/* Messages about a chunk, by sender. */
enum esa_message {
	ESA_REMINDER, /* worker: the chunk seems lost */
	ESA_QUERY,    /* server: do you have the result? */
	ESA_HAVE,     /* worker: yes, with the result */
	ESA_HAVE_NOT, /* worker: no */
	ESA_WANTED,   /* server: send me your gradient */
	ESA_GRADIENT, /* worker: with the gradient */
	ESA_RESULT,   /* server: with the result */
};

/* A chunk at a server, open from when the server first hears of it until its sum is complete. */
struct esa_entry {
	uint64_t index;   /* of the chunk at the server */
	sim_time created; /* when the server first heard of it */
	sim_time touched; /* time of the last contribution or reminder */
	sim_time reminded;
	uint64_t previous, following; /* in the list of open entries, longest untouched first */
	/* Contributions to later chunks since the last reminder; with ESA_DUPACK_EACH, since the
	 * contribution to this chunk that allows one more reminder. */
	uint32_t larger;
	uint32_t larger_limit; /* `larger` at the next reminder; UINT32_MAX = never */
	uint32_t rounds;       /* reminders by timeout */
	uint32_t answers;      /* still to come to the query */
	bool open;
	bool reported; /* a worker has said that it lacks the result */
	bool querying; /* workers have been asked for the result */
	bool wanting;  /* missing gradients have been asked for */
};
#define ESA_NONE UINT64_MAX /* no entry */

/* Messages between a worker and the server, one way. */
struct esa_channel {
	struct esa_server *esa;
	uint32_t worker;
	struct messages messages;
};

struct esa_server {
	struct pool_server *server;
	/* Rings as wide as the ring of sums, by the chunk's index i: */
	struct esa_entry *entries; /* [i & mask] */
	uint64_t *lacking;         /* [(i & mask) * words]: bits of workers that lack the result */
	size_t words;
	uint64_t mask;
	uint64_t first, last; /* of the list of open entries */
	struct rto rto;       /* its samples go from creation to completion */
	struct rto_conf rto_conf;
	sim_time unsampled; /* entries created before this are no samples for `rto` */
	unsigned backoff;   /* rounds of timeouts since the last contribution: rto * 2^backoff */
	sim_time doubled;   /* when `backoff` last grew */
	sim_time armed;     /* when the timer is due; SIM_TIME_MAX = it is not set */
	struct timer timer;
	struct esa_channel *to_worker, *from_worker; /* by worker; NULL once the job is over */
	uint64_t reminders;                          /* packets to switches */
	uint64_t queries, gradients;                 /* queries begun; messages with gradients */
};

/* ESA's state of a worker. */
struct esa_worker {
	struct result_cache cache;
	uint8_t *priority; /* tensor t's at [t & priority_mask] */
	uint64_t priority_mask;
	uint64_t sending; /* tensor of the next chunk, or an earlier one */
	uint64_t *direct; /* chunks not yet sent that go to the server over the transport */
	size_t direct_count, direct_capacity;
};

static inline const struct esa_conf *esa_conf(const struct pool_job *job)
{
	return (const struct esa_conf *)job->base.scheme->conf;
}

/* esa.c: the priority of equation 1, in eight bits. */
uint8_t esa_priority(const struct pool_worker *worker, const struct collective_hint *hint);

/* esa_switch.c */
void esa_at_switch(struct pool_server *server, struct aggregators *pool, bool level1,
		   struct packet *packet, struct switch_actions *actions);

/* esa_server.c */
void esa_server_init(struct pool_server *server);
void esa_server_release(struct pool_server *server);
void esa_at_server(struct pool_server *server, const struct packet *packet);
/* The server's retransmission timeout. */
sim_time esa_server_rto(const struct esa_server *esa);
/* No chunk that is open now is a round-trip sample. Call this after a timeout here, and when a
 * worker's reminder comes. A worker that waits for a chunk sends its later chunks later, so the
 * times of open chunks may include a timeout (window.h). */
void esa_no_samples(struct esa_server *esa);
/* The open entry of a chunk, made if need be; NULL if the chunk is complete. */
struct esa_entry *esa_entry_open(struct esa_server *esa, uint64_t chunk);
/* Reminds all switches that may hold a part of the chunk. */
void esa_remind(struct esa_server *esa, struct esa_entry *entry);
void esa_remind_chunk(struct esa_server *esa, uint64_t chunk);
/* Takes a contribution from a packet or a message. It may complete the chunk. */
void esa_contribution(struct esa_server *esa, struct esa_entry *entry, struct bitmap bitmap,
		      uint64_t value, bool by_message);
/* Closes a chunk whose result is known. With `to_all` sends the result to all workers; else the
 * caller has sent it to the workers that lack it. */
void esa_complete(struct esa_server *esa, struct esa_entry *entry, bool to_all);
/* The job is over: fetches its sums from switches until none are left. */
void esa_drain(struct pool_job *job);

/* esa_recovery.c */
void esa_channels_init(struct esa_server *esa);
void esa_channels_release(struct esa_server *esa);
void esa_start_query(struct esa_server *esa, struct esa_entry *entry);
/* Asks workers for missing gradients, as none of them has the result. */
void esa_want_gradients(struct esa_server *esa, struct esa_entry *entry);
/* Members of struct pool_ops. */
void esa_lost(struct pool_worker *worker);
bool esa_divert(struct pool_worker *worker, uint64_t chunk);
void esa_accepted(struct pool_worker *worker, uint64_t chunk, uint64_t value,
		  const struct packet *packet);

#endif
