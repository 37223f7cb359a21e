/* SHARP, private to models/ina/sharp/ and its tests.
 *
 *   sharp.c          what is modelled; parameters, jobs, the collective
 *   sharp_manager.c  who gets OSTs, trees and locks
 *   sharp_switch.c   aggregation nodes: sums up, results down, hop by hop
 *   sharp_worker.c   hosts: operations, windows
 *
 * A hop is reliable and in order. What goes up is numbered by chunks, and so is what comes down.
 * Each packet up tells the parent up to where the sender's buffers of results are free, each one
 * down tells the children which contributions have come, and up to where there is room (credits).
 * Where no packet goes that way, an acknowledgement of its own says so, if the other side asks. */
#ifndef INASIM_INA_SHARP_SHARP_H
#define INASIM_INA_SHARP_SHARP_H

#include "core/alarm.h"
#include "ina/common/ina.h"
#include "transport/keys.h"

/* Flags of its packets; both: something is missing, go back. */
enum {
	SHARP_ACK = PACKET_OWN(0), /* has no elements */
	SHARP_ASK = PACKET_OWN(1), /* acknowledge this at once */
	SHARP_NAK = SHARP_ACK | SHARP_ASK
};
#define SHARP_ACK_SIZE  64         /* the shortest frame */
#define SHARP_ACK_CHUNK UINT32_MAX /* of an acknowledgement; none has this number */
#define SHARP_END       1          /* `slot`: the last chunk of a tensor */

enum sharp_lock_mode { SHARP_EXCLUSIVE, SHARP_OPERATION };
enum sharp_without { SHARP_HOSTS, SHARP_LLT_ONLY, SHARP_WAIT };
enum sharp_results { SHARP_MULTICAST, SHARP_HOP };

struct sharp_conf {
	int64_t osts, elements, header, trees, sat_trees;
	double quota;
	bytes threshold, window;
	int lock, without_lock, results;
	sim_time lock_time, latency, timeout;
	void *below[1]; /* parameters of ring */
};

/* A chunk that a node keeps. */
struct sharp_entry {
	uint64_t value;
	sim_time ready; /* may leave from then on */
	uint32_t count; /* children in it */
	uint32_t back;  /* port to where the packet came from that completed it */
	uint8_t flags;  /* PACKET_RETRANSMIT of what is in it */
	bool end;       /* the last of a tensor, or asked for by the parent: ask for it, too */
};

struct sharp_child {
	uint64_t received; /* contributions: the next in order */
	uint64_t has;      /* results that it is known to have */
	uint64_t freed;    /* of these, those that it needs no more */
	uint64_t resend;   /* result that it gets next, again; UINT64_MAX = it lacks none */
	uint64_t probe;    /* the end of what had been sent when a timeout ran out; 0 = none */
	bool nacked;       /* it knows that it has to go back */
};

/* An aggregation node. Of a reduce-scatter it gets and passes on the results that ranks below it
 * own, of an all-gather the shards that they have: `below` and `gap` lead from one to the next, and
 * numbers of what goes that way are always those of such a chunk. Chunks before `freed` are gone,
 * those before `complete` complete; at the root sums are results. */
struct sharp_node {
	struct ina_node base;
	struct sharp *job;
	struct sharp_child *child;
	uint32_t *below;  /* by rank: ranks until the next one below, 0 = it is */
	uint32_t *gap;    /* by rank below: ranks until the next one behind the same child */
	uint16_t *toward; /* by rank below: its child */
	struct sharp_entry *sums, *results;      /* [chunk & job->mask]; the same at the root */
	uint64_t touched, complete, next, freed; /* sums; freed: the parent has those before */
	uint64_t limit;                          /* up to where the parent has room */
	uint64_t have, sent, down_freed;         /* results; freed by all children */
	uint64_t told;                           /* the children know of room up to here */
	uint64_t told_freed; /* the parent knows that results up to here are freed */
	uint32_t slowest;    /* a child that has freed no more than down_freed */
	uint32_t resending;  /* children that lack results */
	bool nacked;
	bool timed_out; /* the next sum asks what the parent has: a window may take longer to send
			 */
	bool end_freed; /* the last result that all children have freed was asked for */
	uint64_t probe;
	sim_time up_free, down_free, up_time, down_time; /* links, by our packets; of one */
	sim_time progress;                               /* of what has been acknowledged */
	struct timer turn;
	sim_time turn_at; /* SIM_TIME_MAX = it does not run */
	struct alarm alarm;
};

struct sharp_worker {
	struct ina_worker base;
	uint64_t result;        /* the next to come */
	uint64_t told;          /* the switch knows that those before have come */
	uint64_t next, highest; /* to send; the end of what has been sent */
	uint64_t got, limit;    /* the switch has those before; has room up to there */
	uint64_t probe;
	uint64_t tensor, tensor_first, tensor_end; /* `next` or highest is in it */
	uint8_t mode;                              /* of that: enum sharp_mode */
	uint8_t ack;                               /* flags of one that is to go; 0 = none */
	bool nacked, waited; /* waited: for a lock, and has sent nothing since */
	bool blocked;        /* for room at the switch */
	sim_time progress;
	struct alarm alarm;
};

enum sharp_kind { SHARP_ALL_REDUCE, SHARP_REDUCE_SCATTER, SHARP_ALL_GATHER };
enum sharp_mode { SHARP_LOCK_FIRST, SHARP_LLT, SHARP_SAT };
enum sharp_lock { SHARP_UNLOCKED, SHARP_QUEUED, SHARP_COMING, SHARP_HELD };

struct sharp {
	struct ina_job base;
	enum sharp_kind kind;
	/* Of parts, whose tensors are counted in rows, the kit knows none. */
	struct why_chunks *why;
	void *ring; /* an instance of ring, without resources; then nothing below */
	struct collective_actual actual;
	uint64_t osts;
	bool streams;         /* has a tree for SAT, or may lock one */
	bool owns;            /* for its life */
	uint64_t tree;        /* the number of its static one */
	uint64_t size, mask;  /* chunks that a node keeps */
	struct sharp *behind; /* in the queue for locks */
	enum sharp_lock lock;
	uint64_t operation, operation_end; /* that it is for: tensor, chunk */
	uint32_t finished;                 /* ranks that have it */
	struct timer timer;                /* the lock comes */
};

/* The object that open() makes; one more for each of the other kinds of jobs, which share the
 * manager of `main`. */
struct sharp_scheme {
	struct ina_scheme base;
	enum sharp_kind kind;
	struct sharp_scheme *main;
	struct sharp_scheme *parts[3]; /* by kind; of main only */
	void *ring;
	struct sharp_at {                 /* by switch */
		uint64_t osts, sat_trees; /* in use */
	} * at;
	struct sharp_place {         /* of static trees: [tree * switches + switch] */
		struct sharp *owner; /* who has locked it */
		uint32_t jobs;       /* that stream over it */
	} * places;
	struct sharp *queue;
	uint64_t tree; /* static, that the job which is being admitted tries */
	bool picky;    /* it would rather have another than share this one */
};

static inline const struct sharp_conf *sharp_conf(const struct sharp *job)
{
	return job->base.scheme->conf;
}

static inline uint32_t sharp_ranks(const struct sharp *job)
{
	return job->base.spec.workers;
}

/* Chunks of a row: a reduce-scatter or all-gather has rows of a packet of each rank's piece. */
static inline uint32_t sharp_row(const struct sharp *job)
{
	return job->kind == SHARP_ALL_REDUCE ? 1 : sharp_ranks(job);
}

static inline enum timer_tag sharp_timer(const struct sharp *job)
{
	static const enum timer_tag tags[] = { TIMER_SHARP, TIMER_SHARP_SCATTER,
					       TIMER_SHARP_GATHER };

	return tags[job->kind];
}

/* What packets say besides: `first` in 32 bits, and `second`. */
static inline void sharp_tell(struct packet *packet, uint64_t first, uint64_t second)
{
	uint32_t told[2] = { (uint32_t)first, (uint32_t)second };

	memcpy(packet->route, told, sizeof(told));
}

/* The larger of `known` and the first or second number that a packet tells. */
static inline uint64_t sharp_told(const struct packet *packet, unsigned which, uint64_t known)
{
	uint32_t told[2];
	int32_t more;

	memcpy(told, packet->route, sizeof(told));
	more = (int32_t)(told[which] - (uint32_t)known);
	return more > 0 ? known + (uint64_t)more : known;
}

/* --- sharp_manager.c --- */

uint64_t sharp_quota(const struct sharp_conf *conf);
uint64_t sharp_size(const struct sharp_conf *conf);
bytes sharp_memory(const struct sharp_conf *conf);
/* As ina_admit(), to the tree that the manager chooses. */
struct sharp *sharp_choose_tree(struct sharp_scheme *scheme, const struct collective_job *spec,
				const char **never);
/* Fit ina_ops. */
bool sharp_admit(void *job, const char **never);
void sharp_withdraw(void *job);
/* How a worker sends this tensor, of its job's stream. */
enum sharp_mode sharp_mode(struct sharp *job, const struct sharp_worker *worker);
/* A worker has all sums before `end`. */
void sharp_worker_has(struct sharp *job, uint64_t end);
void sharp_lock_open(struct sharp *job);
void sharp_lock_close(struct sharp *job);

/* --- sharp_switch.c --- */

void sharp_nodes_begin(struct sharp *job);
void sharp_nodes_end(struct sharp *job);
void sharp_at_node(struct sharp_node *node, uint32_t back, const struct packet *packet,
		   struct switch_actions *actions);

/* --- sharp_worker.c --- */

void sharp_worker_begin(struct sharp_worker *worker);
void sharp_worker_end(struct sharp_worker *worker);
void sharp_deliver(struct sharp_worker *worker, const struct packet *packet);
void sharp_contribute(struct sharp *job, uint32_t worker, bytes size);
enum nic_pull sharp_pull(void *worker, struct packet *packet);
bool sharp_waits(const void *worker, char *text, size_t size);

#endif
