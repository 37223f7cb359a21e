/* A collective between hosts as a schedule: which pieces of a tensor each rank sends to which rank,
 * and what it must have received before (as in MSCCL, or LogGOPSim's GOAL).
 *
 * A rank has one thread or a few. A thread executes its steps in order, for one tensor after the
 * other. A step either sends the rank's present values of some pieces, without waiting for their
 * receiver, or waits for pieces and adds or stores them. A rank goes on to the next tensor when all
 * of its threads are done; there is no barrier. An edge is one connection from a rank to another
 * (TCP or RoCE), which one thread reads. As in NCCL, it stays open for the whole job; the transport
 * repairs loss and keeps the order.
 *
 * The GPUs of a machine may be ranks of one worker ("inside": "ring" in the scenario's group of
 * jobs) or workers of a group of a program. A GPU has one link to the others, which all its edges
 * share, or the GPUs of a machine share one; a link carries one message after the other.
 *
 * Rings and trees have channels, as NCCL does (graph/connect.cc): as many as a machine's ranks have
 * NICs. Each takes an equal part of every tensor, and is a schedule of its own. All messages of a
 * channel enter and leave a machine by the channel's NIC; ranks of a machine that follow each other
 * (a run) begin with the GPU next to that NIC. A GPU that is not next to it hands its message over
 * to the one that is, as NCCL's PXN does, whose link to the others this takes as well. Halving and
 * doubling and all-to-all send from each rank's own NIC instead.
 *
 * Simplified: small tensors use all channels, too. A message is passed on when it is whole. adding
 * takes no time (`step_latency` is a constant before each message). A message without elements has
 * one byte, because it costs a packet, too.
 *
 * A scheme is a struct schedule_ops: ring.c, halving_doubling.c, double_tree.c, and in steps.c the
 * collectives other than all-reduce. */
#ifndef INASIM_COLLECTIVE_SCHEDULE_H
#define INASIM_COLLECTIVE_SCHEDULE_H

#include "collective/collective.h"
#include "collective/tensors.h"

#define SCHEDULE_THREADS 4 /* most threads of a rank */
/* A job's edges have numbers below this (schedule_edge_key()), which limits its ranks. */
#define SCHEDULE_EDGES_END (UINT32_C(1) << 20)
#define SCHEDULE_NOBODY    UINT32_MAX

/* The parameters of all schemes that are schedules. */
struct schedule_conf {
	int transport;
	int order;
	sim_time step_latency;
	int64_t ack_every;
	int64_t channels; /* of rings and trees, at most; 0 = one for each NIC */
	bytes chunk;      /* of double_tree */
	int64_t credit;   /* of double_tree; 0 = no limit */
};

extern const char *const schedule_orders[]; /* for ENUM rows */

/* The rows of the parameters that all these schemes have. */
#define SCHEDULE_ROWS                                                                              \
	CONF_ENUM("transport", struct schedule_conf, transport, "dctcp", transport_names,          \
		  "Transport of the edges (inasim list transports).",                              \
		  "our reading: PANAMA section 7 names DCTCP for flows that are not aggregated; "  \
		  "it does not say what its rings use (with reno: scenarios/panama/README.md)"),   \
		CONF_ENUM("order", struct schedule_conf, order, "placement", schedule_orders,      \
			  "Order of ranks, unless workers is a list of hosts, which is the "       \
			  "order. placement: by host number, so that connections enter each rack " \
			  "once; random: a random cycle.",                                         \
			  "our choice (as NCCL sorts by topology)"),                               \
		CONF_INT("ack_every", struct schedule_conf, ack_every, "2", 1, 64,                 \
			 "Segments per ACK. A rank's ACKs share its link with its own data: an "   \
			 "ACK for every segment costs 5.5 % of the time, for every second 2.7 %.", \
			 "RFC 5681 section 4.2: an ACK at least for every second full-sized "      \
			 "segment"),                                                               \
		CONF_TIME("step_latency", struct schedule_conf, step_latency, "0s", 0, PS_PER_S,   \
			  "Time to prepare data before each step (alpha).",                        \
			  "NetReduce section 3.4 has 0.1-100 us; our choice 0")

#define SCHEDULE_CHANNELS                                                                          \
	CONF_INT("channels", struct schedule_conf, channels, CONF_OPTIONAL, 1, 64,                 \
		 "On machines with several NICs (topology.host.nics): at most so many rings or "   \
		 "trees at once, each by a NIC of its own. Default: one for each NIC of a "        \
		 "machine's ranks.")

/* A step of a thread: pieces `first` to `end` - 1 go over the edge. */
enum schedule_act { SCHEDULE_SEND, SCHEDULE_ADD, SCHEDULE_STORE };
struct schedule_step {
	enum schedule_act act;
	uint32_t edge;
	uint32_t first, end;
};

/* An edge leads from rank `from` to thread `thread` of rank `to`. */
struct schedule_ends {
	uint32_t from, to, thread;
};

struct schedule;

struct schedule_ops {
	const char *name;
	unsigned threads; /* of a rank */
	/* A message waits at the sender until the receiver has reached the step that takes it, as
	 * large messages do in MPI and Gloo. Simplified: the sender knows this at once. False:
	 * messages leave at once, as far as `credit` allows. */
	bool rendezvous;
	bool channels; /* has channels; otherwise each rank sends from its own NIC */
	/* The numbers of edges are below this; some numbers may be unused. */
	uint32_t (*edges)(const struct schedule *schedule);
	/* False: the number is unused. */
	bool (*ends)(const struct schedule *schedule, uint32_t edge, struct schedule_ends *ends);
	/* The number of equal pieces of a tensor (tensors.h). */
	uint32_t (*pieces)(const struct schedule *schedule, bytes size);
	/* The i-th step of a thread for a tensor of `pieces`. False: the thread has no more. */
	bool (*step)(const struct schedule *schedule, uint32_t rank, unsigned thread, uint64_t i,
		     uint32_t pieces, struct schedule_step *step);
	/* Optional: the bytes of a step's message, if the job has blocks (struct collective_job).
	 */
	uint64_t (*bytes)(const struct schedule *schedule, uint64_t tensor,
			  const struct schedule_step *step);
	/* Optional: the weight (exact.h) that a rank's value of a piece must have in the end; 0:
	 * not checked. Without this member it is the weight of all ranks: an all-reduce. */
	uint64_t (*weight)(const struct schedule *schedule, uint32_t rank, uint32_t piece);
	/* Optional: fills in schedule->data. Called when the ranks are in their order. */
	void (*prepare)(struct schedule *schedule);
};

struct schedule_scheme {
	struct model_env env;
	const struct schedule_conf *conf;
};

/* An edge. If its number is unused, ends.from is SCHEDULE_NOBODY. */
struct schedule_edge {
	struct schedule *schedule;
	struct schedule_ends ends;
	struct connection conn; /* unless the edge is local */
	bool local;             /* between GPUs of a machine */
	bool relayed;           /* its messages go to the GPU next to the NIC first */
	/* Of messages between GPUs, local or relayed: */
	uint64_t passing;                /* bytes of the message in flight; 0 if there is none */
	uint64_t delivered;              /* bytes */
	struct timer timer;              /* arrival of the message in flight */
	uint32_t way;                    /* its way, for --why, from why_passes() */
	uint64_t posted, sent, received; /* numbers of messages; `received`: by the reader */
	uint64_t stream_in;              /* bytes of the messages received */
	uint64_t *values; /* ring buffer: pieces of messages posted but not received */
	uint64_t value_mask, value_out, value_in; /* next to take out, and to put in */
	uint64_t *sizes; /* ring buffer: bytes of messages posted but not sent */
	uint64_t size_mask;
};

struct schedule_thread {
	struct schedule_rank *rank;
	unsigned number;
	uint64_t at; /* its next step for the rank's tensor */
	bool preparing;
	struct timer timer; /* step latency */
	/* For --why, while it prepares: why_work_begins() has returned this, and why_work_ends()
	 * gets it. */
	uint32_t way;
};

struct schedule_rank {
	struct schedule *schedule;
	uint32_t number;
	uint32_t worker;      /* of the job */
	uint32_t machine;     /* equal for GPUs of a machine */
	uint32_t gpu;         /* number among the GPUs of all workers */
	uint32_t host;        /* the GPU's own NIC */
	uint32_t run;         /* number */
	uint64_t contributed; /* tensors handed over */
	uint64_t tensor;      /* number of the present tensor */
	bool begun;           /* the present tensor is in exchange */
	uint32_t pieces;      /* of this tensor */
	uint64_t *sums;       /* of these pieces, so far */
	size_t capacity;
	struct schedule_thread threads[SCHEDULE_THREADS];
};

/* Ranks of one machine that follow each other, as many as possible. */
struct schedule_run {
	uint32_t first, count;
	uint32_t host; /* the channel's NIC */
};

/* A channel. The first one is the instance. */
struct schedule {
	struct schedule *lead, *next; /* first and next channel */
	uint32_t channel;
	struct schedule_scheme *scheme;
	const struct schedule_ops *ops;
	struct collective_job job;
	struct exact exact;
	struct schedule_rank *ranks;
	uint32_t count;        /* ranks, of all workers */
	uint32_t *rank_of_gpu; /* the GPUs of a worker have consecutive numbers */
	struct schedule_run *runs;
	uint32_t run_count;
	/* When links between GPUs are free, for all channels: by GPU or, where GPUs share one, by
	 * machine_of() or worker. Only in the first channel. */
	sim_time *link_free;
	struct schedule_edge *edges;
	uint32_t edge_count;
	struct tensor_sizes sizes;
	void *data; /* of the scheme; owned */
};

/* --- schedule.c --- */

/* The members of struct collective_ops that all these schemes have in common. */
#define SCHEDULE_OPS                                                                               \
	.traits.by_connections = true, .draws = schedule_draws, .transport = schedule_transport,   \
	.open = schedule_open, .close = free, .contribute = schedule_contribute,                   \
	.finish = schedule_finish, .withdraw = schedule_free, .stats = schedule_stats,             \
	.report_waiting = schedule_report_waiting

const struct transport *schedule_transport(const void *conf);
void *schedule_open(const struct model_env *env, const void *conf);
void schedule_contribute(void *instance, uint32_t worker, bytes size);
void schedule_finish(void *instance, bool abandoned);
void schedule_stats(const void *instance, struct collective_stats *stats);
size_t schedule_report_waiting(const void *instance, FILE *to, size_t limit);

/* An instance with its connections. */
void *schedule_start(struct schedule_scheme *scheme, const struct schedule_ops *ops,
		     const struct collective_job *job);

/* --- schedule_ranks.c --- */

/* An instance without connections, for plans: only the ranks of a job in their order. */
struct schedule *schedule_new(struct schedule_scheme *scheme, const struct schedule_ops *ops,
			      const struct collective_job *job);
void schedule_free(void *schedule);
/* Whether the order of ranks is random. */
bool schedule_draws(const void *conf);

static inline uint32_t schedule_ranks_each(const struct schedule *schedule)
{
	return schedule->count / schedule->job.workers; /* of a worker */
}

/* Begins the bound of a plan (collective/plan.h), which has no legs yet. */
struct plan_bound schedule_bound(const struct schedule *schedule);

/* Adds an edge, if it is used, to a stream. *longest becomes the longest path of a segment so far,
 * and *round_trip the longest path of a segment and its ACK. */
void schedule_plan_edge(const struct schedule *schedule, uint32_t edge, struct plan_stream *stream,
			uint32_t weight, struct plan_path *longest, struct plan_path *round_trip);

/* Whether two ranks are on one machine, and the NICs that an edge leads from and to if not. */
bool schedule_local(const struct schedule *schedule, const struct schedule_ends *ends);
uint32_t schedule_nic(const struct schedule *schedule, uint32_t rank);

/* The key of an edge's connection (transport/keys.h). */
uint64_t schedule_edge_key(const struct schedule *schedule, uint32_t edge);

#endif
