/* SHARP, private to models/ina/sharp/ and its tests.
 *
 *   sharp.c          parameters, jobs, the collectives; its top says what is modelled
 *   sharp_manager.c  allots OSTs, trees and locks
 *   sharp_switch.c   aggregation nodes: sums up, results down, hop by hop
 *   sharp_worker.c   hosts: operations, windows
 *   sharp_repeat.c   the state, for runs that repeat themselves
 *
 * A hop is reliable and in order. Chunk numbers serve as sequence numbers in both directions. Each
 * packet up tells the parent which results the sender has, and which of these it no longer needs.
 * Each packet down tells the children which contributions have come, and up to where there is room
 * (credits). If there is no packet to send, an acknowledgement tells this when it is asked for, or
 * when much is new (sharp_news()). */
#ifndef INASIM_INA_SHARP_SHARP_H
#define INASIM_INA_SHARP_SHARP_H

#include "core/alarm.h"
#include "ina/common/ina.h"
#include "transport/keys.h"

/* Flags of packets. Both together: a chunk is missing, go back. */
enum {
	SHARP_ACK = PACKET_OWN(0), /* has no elements */
	SHARP_ASK = PACKET_OWN(1), /* acknowledge this at once */
	SHARP_NAK = SHARP_ACK | SHARP_ASK
};
#define SHARP_ACK_SIZE  64         /* the shortest frame */
#define SHARP_ACK_CHUNK UINT32_MAX /* `chunk` of an acknowledgement; no chunk has this number */
/* `tag` of the last chunk of a tensor, or of those sent again: each hop asks the next one to
 * acknowledge it. */
#define SHARP_END  1
#define SHARP_NONE UINT64_MAX

/* Bits 23 and 22 of the number in a timer's key (transport/keys.h). They are 0 for hosts. */
#define SHARP_KEY_ALARM (1u << 22) /* of a node */
#define SHARP_KEY_TURN  (2u << 22) /* of a node */
#define SHARP_KEY_LOCK  (3u << 22)

enum sharp_lock_mode { SHARP_EXCLUSIVE, SHARP_OPERATION };
enum sharp_without { SHARP_HOSTS, SHARP_LLT_ONLY, SHARP_WAIT };
enum sharp_results { SHARP_MULTICAST, SHARP_HOP };

struct sharp_conf {
	struct ina_packet_conf packets;
	int64_t osts, trees, sat_trees;
	double quota;
	bytes threshold, window;
	int lock, without_lock, results;
	sim_time lock_time, latency, timeout;
	void *below[1]; /* parameters of ring */
};

/* A sum or a result that a node keeps. */
struct sharp_entry {
	uint64_t value;
	sim_time ready; /* when it may leave */
	uint32_t count; /* children in the sum */
	uint32_t back;  /* egress port to the sender of the packet that completed it */
	uint8_t flags;  /* PACKET_RETRANSMIT, if a packet in it had that flag */
	bool end;       /* last of a tensor, or the parent asked about it: its packet asks, too */
};

struct sharp_child {
	uint64_t received; /* contributions before this have come, in order */
	uint64_t has;      /* the child is known to have results before this */
	uint64_t freed;    /* the child no longer needs results before this */
	uint64_t resend;   /* next result to retransmit; SHARP_NONE = none */
	uint64_t probe;    /* `sent` at a timeout not answered yet; 0 = none */
	bool nacked;       /* the child has been told to go back */
};

/* An aggregation node. Its counters are ends of ranges of chunks: sums before `freed` are gone,
 * sums before `complete` are complete. At the root sums are results.
 *
 * In a reduce-scatter a node gets only the results that ranks below it own. In an all-gather it
 * sends up only their shards. `below` and `gap` lead from one of these chunks to the next, and the
 * counters of that direction are always at one of them. */
struct sharp_node {
	struct ina_node base;
	struct sharp *job;
	struct sharp_child *child;
	uint32_t *below;  /* by rank: distance to the next rank below the node; 0 if it is below */
	uint32_t *gap;    /* by rank below: distance to the next rank below the same child */
	uint16_t *toward; /* by rank below: the child that leads to it */
	struct sharp_entry *sums, *results; /* [chunk & job->mask]; one array at the root */
	/* Ends of the sums that are begun, complete, sent up, and at the parent. */
	uint64_t touched, complete, next, freed;
	uint64_t limit; /* the parent has room for sums before this */
	/* Ends of the results that are here, sent down, and gone: all children have them. */
	uint64_t have, sent, down_freed;
	uint64_t down_limit;         /* all children have room for results before this */
	uint64_t told;               /* the children have been told of room up to here */
	uint64_t told_complete;      /* ... and that sums before this have come */
	uint64_t told_freed;         /* the parent was told that results before this are gone */
	uint64_t told_have;          /* ... and that results before this are here */
	uint32_t slowest;            /* a child whose `has` is down_freed */
	uint32_t fullest;            /* a child whose room ends at down_limit */
	uint32_t resending;          /* children with results to retransmit */
	bool nacked;                 /* the parent has been told to go back */
	bool timed_out;              /* the next sum asks which sums the parent has */
	bool end_freed;              /* `end` of the last result that is gone */
	uint64_t probe;              /* sums before this had been sent when the node went back */
	sim_time up_free, down_free; /* when the links are free of this node's packets */
	sim_time up_time, down_time; /* of a packet on the link up, and on the slowest link down */
	sim_time progress;           /* last acknowledgement or timeout, or begin of the wait */
	struct timer turn;           /* for the next packet to leave */
	sim_time turn_at;            /* SIM_TIME_MAX = not set */
	struct alarm alarm;
};

/* Counters are ends of ranges of chunks, as in struct sharp_node. */
struct sharp_worker {
	struct ina_worker base;
	uint64_t result;  /* the next result to come */
	uint64_t told;    /* the switch has been told that results before this have come */
	uint64_t next;    /* the next chunk to send */
	uint64_t highest; /* chunks before this have been sent */
	uint64_t got;     /* the switch has contributions before this */
	uint64_t limit;   /* the switch has room for contributions before this */
	uint64_t probe;   /* `highest` at a timeout not answered yet; 0 = none */
	/* The newest tensor that the worker has begun: number, first chunk, end of its chunks. */
	uint64_t tensor, tensor_first, tensor_end;
	uint8_t mode;      /* of this tensor: enum sharp_mode */
	uint8_t ack;       /* flags of an acknowledgement to send; 0 = none */
	bool nacked;       /* the switch has been told to go back */
	bool waited;       /* has waited for a lock, and sent nothing since */
	bool blocked;      /* waits for room at the switch */
	sim_time progress; /* last acknowledgement or timeout, or begin of the wait */
	struct alarm alarm;
};

enum sharp_kind { SHARP_ALL_REDUCE, SHARP_REDUCE_SCATTER, SHARP_ALL_GATHER };
enum sharp_mode { SHARP_LOCK_FIRST, SHARP_LLT, SHARP_SAT };
enum sharp_lock { SHARP_UNLOCKED, SHARP_QUEUED, SHARP_COMING, SHARP_HELD };

struct sharp {
	struct ina_job base;
	enum sharp_kind kind;
	/* With a scheme: the job got no resources and runs on hosts; what follows is unused. */
	struct collective_actual actual;
	uint64_t osts;        /* that the job has at each switch */
	bool streams;         /* has a tree for SAT, or may lock one */
	bool owns;            /* has that tree for its life */
	uint64_t size;        /* chunks that a node keeps */
	uint64_t mask;        /* of the rings of these chunks */
	struct sharp *behind; /* the next job in the queue for locks */
	enum sharp_lock lock;
	struct repeat_stream packets;      /* of chunks: base.stream is of rows */
	uint64_t operation, operation_end; /* tensor that the lock is for, and end of its chunks */
	uint32_t finished;                 /* ranks that have all its results */
	struct timer timer;                /* for when the lock comes */
};

/* open() makes a scheme for all-reduces, `main`, and one for each other kind of jobs. All take
 * their resources from `main`. */
struct sharp_scheme {
	struct ina_scheme base;
	enum sharp_kind kind;
	struct sharp_scheme *main;
	struct sharp_scheme *parts[3];    /* by kind; of main only */
	struct sharp_at {                 /* by switch */
		uint64_t osts, sat_trees; /* in use */
	} * at;
	struct sharp_place {         /* of static trees: [tree * switches + switch] */
		struct sharp *owner; /* the job that has locked it; NULL = none */
		uint32_t jobs;       /* how many jobs stream over it */
	} * places;
	struct sharp *queue;
	bool picky; /* sharp_admit() refuses a tree that other jobs stream over */
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

static inline bool sharp_is_root(const struct sharp_node *node)
{
	return node->base.place->parent == TREE_NONE;
}

static inline struct sharp_entry *sharp_sum_of(const struct sharp_node *node, uint64_t chunk)
{
	return &node->sums[chunk & node->job->mask];
}

static inline struct sharp_entry *sharp_result_of(const struct sharp_node *node, uint64_t chunk)
{
	return &node->results[chunk & node->job->mask];
}

/* The first chunk from this one on that the node sends up. */
static inline uint64_t sharp_up_from(const struct sharp_node *node, uint64_t chunk)
{
	return node->job->kind == SHARP_ALL_GATHER
		       ? chunk + node->below[chunk % sharp_ranks(node->job)]
		       : chunk;
}

/* The first chunk from this one on that comes down to the node. */
static inline uint64_t sharp_down_from(const struct sharp_node *node, uint64_t chunk)
{
	return node->job->kind == SHARP_REDUCE_SCATTER
		       ? chunk + node->below[chunk % sharp_ranks(node->job)]
		       : chunk;
}

/* How far a counter advances before an acknowledgement is sent just to tell it. */
static inline uint64_t sharp_news(const struct sharp *job)
{
	return (job->size + 3) / 4;
}

/* Writes the two numbers that a packet tells, in 32 bits each. Up: results before `first` are
 * freed, and results before `second` have come. Down: contributions before `first` have come, and
 * there is room for contributions before `second`. */
static inline void sharp_tell(struct packet *packet, uint64_t first, uint64_t second)
{
	uint32_t told[2] = { (uint32_t)first, (uint32_t)second };

	memcpy(packet->own, told, sizeof(told));
}

/* The first (`which` = 0) or second number (1) that a packet tells, but at least `known`. */
static inline uint64_t sharp_told(const struct packet *packet, unsigned which, uint64_t known)
{
	uint32_t told[2];
	int32_t more;

	memcpy(told, packet->own, sizeof(told));
	more = (int32_t)(told[which] - (uint32_t)known);
	return more > 0 ? known + (uint64_t)more : known;
}

/* --- sharp_manager.c --- */

uint64_t sharp_size(const struct sharp_conf *conf); /* chunks that a node keeps of a stream */
bytes sharp_memory(const struct sharp_conf *conf);  /* of a switch, for all jobs */
/* ina_admit(), with a tree that the manager chooses. */
struct sharp *sharp_choose_tree(struct sharp_scheme *scheme, const struct collective_job *spec,
				const char **never);
/* For ina_ops. */
bool sharp_admit(void *job, const char **never);
void sharp_withdraw(void *job);
/* How a worker sends the tensor that it has begun. Requests a lock if the job needs one. */
enum sharp_mode sharp_mode(struct sharp *job, const struct sharp_worker *worker);
/* Notes that a worker has all results before `end`. Gives a lock back after the last worker. */
void sharp_worker_has(struct sharp *job, uint64_t end);
void sharp_lock_open(struct sharp *job);
void sharp_lock_close(struct sharp *job);

/* --- sharp_switch.c --- */

void sharp_nodes_begin(struct sharp *job);
void sharp_nodes_end(struct sharp *job);
void sharp_at_node(struct sharp_node *node, uint32_t back, const struct packet *packet,
		   struct switch_actions *actions);

/* --- sharp_repeat.c: for ina_ops, struct protocol_ops and struct collective_ops --- */

uint64_t sharp_period(const void *job);
void sharp_repeat_job(void *job, struct repeat *repeat);
const struct repeat_stream *sharp_stream(const void *scheme, const struct packet *packet);
void sharp_repeat_packet(void *scheme, struct repeat *repeat, struct packet *packet);
void sharp_repeat(void *scheme, struct repeat *repeat);

/* --- sharp_worker.c --- */

void sharp_worker_begin(struct sharp_worker *worker);
void sharp_worker_end(struct sharp_worker *worker);
void sharp_deliver(struct sharp_worker *worker, const struct packet *packet);
enum nic_pull sharp_pull(void *worker, struct packet *packet);
bool sharp_waits(const void *worker, char *text, size_t size);

#endif
