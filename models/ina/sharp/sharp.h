/* SHARP, private to models/ina/sharp/ and its tests.
 *
 *   sharp.c          what is modelled; parameters, jobs, the collective
 *   sharp_manager.c  who gets OSTs, trees and locks
 *   sharp_switch.c   aggregation nodes: sums up, results down, hop by hop
 *   sharp_worker.c   hosts: operations, windows
 *
 * A hop is reliable and in order. What goes up is numbered by chunks, and so is what comes down.
 * Each packet up tells the parent which results the sender has, and which of them it needs no more.
 * Each packet down tells the children which contributions have come, and up to where there is room
 * (credits). Where no packet goes that way, an acknowledgement tells it, if the other side asks. */
#ifndef INASIM_INA_SHARP_SHARP_H
#define INASIM_INA_SHARP_SHARP_H

#include "core/alarm.h"
#include "ina/common/ina.h"
#include "transport/keys.h"

/* Flags of its packets. Both together: something is missing, go back. */
enum {
	SHARP_ACK = PACKET_OWN(0), /* has no elements */
	SHARP_ASK = PACKET_OWN(1), /* acknowledge this at once */
	SHARP_NAK = SHARP_ACK | SHARP_ASK
};
#define SHARP_ACK_SIZE  64         /* the shortest frame */
#define SHARP_ACK_CHUNK UINT32_MAX /* `chunk` of an acknowledgement; no chunk has this number */
#define SHARP_END       1          /* `slot` of the last chunk of a tensor */

/* Bits 23..22 of the number in a timer's key (transport/keys.h); 0 = a host's. */
#define SHARP_KEY_ALARM (1u << 22) /* of a node */
#define SHARP_KEY_TURN  (2u << 22) /* of a node */
#define SHARP_KEY_LOCK  (3u << 22)

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

/* A sum or a result that a node keeps. */
struct sharp_entry {
	uint64_t value;
	sim_time ready; /* may leave from then on */
	uint32_t count; /* children in it */
	uint32_t back;  /* egress port to the sender of the packet that completed it */
	uint8_t flags;  /* PACKET_RETRANSMIT, if a packet in it had that */
	bool end; /* the last of a tensor, or the parent asks about it: ask on the next hop, too */
};

struct sharp_child {
	uint64_t received; /* contributions before this have come from it; it sends them in order */
	uint64_t has;      /* results before this have reached it, as far as the node knows */
	uint64_t freed;    /* results before this it needs no more */
	uint64_t resend;   /* result to send it again next; UINT64_MAX = it lacks none */
	uint64_t probe;    /* since a timeout, `sent` at that time; 0 = none is open */
	bool nacked;       /* it has been told to go back */
};

/* An aggregation node. Its counters are ends of ranges of chunks: all sums before `freed` are gone,
 * all before `complete` are complete. At the root sums are results.
 *
 * In a reduce-scatter a node gets only the results that ranks below it own, and in an all-gather it
 * sends up only their shards. `below` and `gap` lead from one such chunk to the next, and the
 * counters of that direction always are at such a chunk. */
struct sharp_node {
	struct ina_node base;
	struct sharp *job;
	struct sharp_child *child;
	uint32_t *below;  /* by rank: how far the next one below is; 0 = this one is below */
	uint32_t *gap;    /* by rank below: how far the next one behind the same child is */
	uint16_t *toward; /* by rank below: its child */
	struct sharp_entry *sums, *results; /* [chunk & job->mask]; one array at the root */
	/* Sums: begun, complete, sent up, and those that the parent has. */
	uint64_t touched, complete, next, freed;
	uint64_t limit; /* up to where the parent has room */
	/* Results: those that are here, sent down, and freed by all children. */
	uint64_t have, sent, down_freed;
	uint64_t told;       /* the children know of room up to here */
	uint64_t told_freed; /* the parent knows that results up to here are freed */
	uint32_t slowest;    /* a child that has freed no more than down_freed */
	uint32_t resending;  /* children that lack results */
	bool nacked;         /* the parent has been told to go back */
	bool timed_out; /* the next sum, not only the last of a window, asks what the parent has */
	bool end_freed; /* the parent asked about the last result that all children have freed */
	uint64_t probe; /* sums before this had been sent when the node went back */
	sim_time up_free, down_free; /* when the links are free of this node's packets */
	sim_time up_time, down_time; /* of a packet on them; down: on the slowest */
	sim_time progress;           /* something was acknowledged, or the wait for that began */
	struct timer turn;           /* for the next packet to leave */
	sim_time turn_at;            /* SIM_TIME_MAX = it does not run */
	struct alarm alarm;
};

/* Its counters are chunks, too. */
struct sharp_worker {
	struct ina_worker base;
	uint64_t result;  /* the next result to come */
	uint64_t told;    /* the switch knows that results before this have come */
	uint64_t next;    /* the next chunk to send */
	uint64_t highest; /* the end of what has been sent */
	uint64_t got;     /* the switch has contributions before this ... */
	uint64_t limit;   /* ... and room for those before this */
	uint64_t probe;   /* `highest` when a timeout ran out; 0 = none is open */
	/* The newest tensor that it has come to: its number, and its chunks. */
	uint64_t tensor, tensor_first, tensor_end;
	uint8_t mode;      /* of this tensor: enum sharp_mode */
	uint8_t ack;       /* flags of an acknowledgement that is to go; 0 = none */
	bool nacked;       /* the switch has been told to go back */
	bool waited;       /* for a lock, and has sent nothing since */
	bool blocked;      /* waits for room at the switch */
	sim_time progress; /* something was acknowledged, or the wait for that began */
	struct alarm alarm;
};

enum sharp_kind { SHARP_ALL_REDUCE, SHARP_REDUCE_SCATTER, SHARP_ALL_GATHER };
enum sharp_mode { SHARP_LOCK_FIRST, SHARP_LLT, SHARP_SAT };
enum sharp_lock { SHARP_UNLOCKED, SHARP_QUEUED, SHARP_COMING, SHARP_HELD };

struct sharp {
	struct ina_job base;
	enum sharp_kind kind;
	/* Learns of packets' chunks. In an all-reduce the kit tells them; else the kit's chunks are
	 * rows, so the scheme tells them itself. */
	struct why_chunks *why;
	void *ring; /* an instance of ring, if the job got no resources; then only `actual` holds */
	struct collective_actual actual;
	uint64_t osts;        /* that it has at each switch */
	bool streams;         /* has a tree for SAT, or may lock one */
	bool owns;            /* has that tree for its life */
	uint64_t tree;        /* the number of its static one */
	uint64_t size;        /* chunks that a node keeps */
	uint64_t mask;        /* of the rings that keep them */
	struct sharp *behind; /* the next in the queue for locks */
	enum sharp_lock lock;
	uint64_t operation, operation_end; /* the tensor that the lock is for; its end, a chunk */
	uint32_t finished;                 /* ranks that have its results */
	struct timer timer;                /* for the moment when the lock comes */
};

/* open() makes one for all-reduces, `main`, and one for each other kind of jobs; their resources
 * are those of `main`. */
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
		uint32_t jobs;       /* how many stream over it */
	} * places;
	struct sharp *queue;
	uint64_t tree; /* number of the static tree that the next job to be admitted tries */
	bool picky;    /* the job would rather have another tree than share this one */
};

static inline const struct sharp_conf *sharp_conf(const struct sharp *job)
{
	return job->base.scheme->conf;
}

static inline uint32_t sharp_ranks(const struct sharp *job)
{
	return job->base.spec.workers;
}

/* Chunks of a row: in a reduce-scatter or all-gather a row has a packet of each rank's piece. */
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

/* How far a counter goes on before its news gets an acknowledgement of its own. */
static inline uint64_t sharp_news(const struct sharp *job)
{
	return (job->size + 3) / 4;
}

/* Writes the two numbers that a packet tells, in 32 bits each. Up: results before `first` are
 * freed, those before `second` have come. Down: contributions before `first` have come, and there
 * is room for those before `second`. */
static inline void sharp_tell(struct packet *packet, uint64_t first, uint64_t second)
{
	uint32_t told[2] = { (uint32_t)first, (uint32_t)second };

	memcpy(packet->route, told, sizeof(told));
}

/* What is known after a packet has told its first (`which` = 0) or second number (1): that, or
 * `known` if it is larger. */
static inline uint64_t sharp_told(const struct packet *packet, unsigned which, uint64_t known)
{
	uint32_t told[2];
	int32_t more;

	memcpy(told, packet->route, sizeof(told));
	more = (int32_t)(told[which] - (uint32_t)known);
	return more > 0 ? known + (uint64_t)more : known;
}

/* --- sharp_manager.c --- */

uint64_t sharp_size(const struct sharp_conf *conf); /* chunks that a node of a stream keeps */
bytes sharp_memory(const struct sharp_conf *conf);  /* of a switch */
/* Like ina_admit(), with the tree that the manager chooses. */
struct sharp *sharp_choose_tree(struct sharp_scheme *scheme, const struct collective_job *spec,
				const char **never);
/* Fit ina_ops. */
bool sharp_admit(void *job, const char **never);
void sharp_withdraw(void *job);
/* How a worker sends the tensor that it has come to; requests a lock if it needs one. */
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
