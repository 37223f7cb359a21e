/* PANAMA, private to models/ina/panama/ and its tests: the state of a job.
 *
 *   panama.c           controller: jobs, memory, dispatch of packets; its top says what is modelled
 *   panama_conf.c      parameters of "panama" and "switchml_star"
 *   panama_trees.c     which trees a job has
 *   panama_plan.c      a job as fluid streams
 *   panama_switch.c    accelerators: FIFOs and Expected_VID
 *     panama_delay.c     the time that an accelerator takes
 *     panama_partial.c   fraction < 1: which workers are in a sum
 *     panama_backlog.c   fraction < 1: sums that may not leave at once
 *   panama_worker.c    sending, results
 *     panama_window.c    a window
 *     panama_recovery.c  recovery from loss
 *   panama_repeat.c    the state of jobs, for runs that repeat themselves
 *
 * panama.c opens and closes all, and hands packets to panama_switch.c and panama_worker.c, which
 * never call each other. Each of the two calls the files indented below it. These call back only
 *
 *   panama_send_on()                 when a sum leaves later,
 *   panama_is_over(), panama_pass()  when a sum may leave, and
 *   panama_contribution(), panama_worker_look(), panama_worker_wake()
 *                                    when a chunk is to be retransmitted, or worker 0
 *                                    has answered with a result.
 *
 * Chunk c of a job's stream of tensors goes to tree c mod N as VID floor(c / N), at all workers.
 * "VID" is the paper's word for the number of a packet in the sequence that passes a tree. With
 * recovery, each tree has a second sequence for retransmissions, in which a chunk has another VID.
 * Packets carry the number of their sequence (JID and TID) in `flow`, the VID, wnd_cap, and how
 * many workers are in the sum. */
#ifndef INASIM_INA_PANAMA_PANAMA_H
#define INASIM_INA_PANAMA_PANAMA_H

#include "ina/common/ina.h"
#include "ina/panama/panama_window.h"

#define PANAMA_TREES_MAX     64
#define PANAMA_SEQUENCES_MAX (2 * PANAMA_TREES_MAX)
#define PANAMA_CAP_MAX       UINT16_MAX /* wnd_cap has 16 bits */

/* In packet.own: how many workers are in the sum, and wnd_cap. packet.seq is the VID. */
enum { PANAMA_WORKERS, PANAMA_CAP };

/* Flags of packets. */
enum {
	PANAMA_ALL = PACKET_OWN(0), /* the sum waits for all workers, whatever the fraction */
	PANAMA_FIN = PACKET_OWN(1), /* the last packet of its sender on this tree */
};

/* --- parameters --- */

enum panama_order { PANAMA_INDEPENDENT, PANAMA_STRICT };
enum panama_last { PANAMA_LAST_ALL, PANAMA_LAST_FRACTION };
enum panama_rounding { PANAMA_UP, PANAMA_NEAREST, PANAMA_DOWN };
enum panama_latency_form { PANAMA_LATENCY_TIME, PANAMA_LATENCY_EQUATION };

/* Appendix A, equations 1 and 3. */
struct panama_equation {
	int64_t bus;    /* W, bits; 0 = not given, see panama_accelerators() */
	sim_time cycle; /* 1 / f */
	sim_time adder; /* L_a */
	sim_time fixed; /* the rest of the latency in table 1 */
};

struct panama_latency {
	int form; /* enum panama_latency_form */
	sim_time time;
	struct panama_equation equation;
};

struct panama_conf {
	struct ina_packet_conf packets;
	bytes memory;
	int64_t trees;
	int64_t only_tree; /* 0 = all */
	int order;         /* enum panama_order */
	struct panama_window_conf window;
	double fraction;
	int last;     /* enum panama_last */
	int rounding; /* enum panama_rounding */
	bytes threshold;
	void *below[1]; /* parameters of ring */
	struct panama_latency latency;
	bool recovery;
	sim_time timeout;
};

/* For collective_ops.check: adds errors where rows contradict each other or the topology. */
void panama_check(const void *conf, const struct topology_conf *topology, struct conf_doc *doc,
		  const char *scheme);

/* For collective_ops.idle. */
size_t panama_idle(const void *conf, struct collective_idle list[COLLECTIVE_IDLE_MAX]);

/* The latency of accelerators on this topology; a bus that is not given is as wide as the fastest
 * link needs. */
struct panama_latency panama_accelerators(const struct panama_conf *conf,
					  const struct topology_conf *topology);

/* The narrowest bus that passes this rate (equation 1): a power of two, 64 bits at least. */
int64_t panama_bus_for(const struct panama_equation *equation, bps rate);

/* Equation 1: how long a port takes for a packet; 0 if it keeps up with links of this rate, or if
 * the user gave the latency as a time. */
sim_time panama_slow_port(const struct panama_latency *latency, uint32_t frame, bps rate);

/* Equation 3: cut-through latency of an accelerator with this number of ports; or the time that the
 * user gave. */
sim_time panama_latency(const struct panama_latency *latency, uint32_t frame, uint32_t ports);

/* What accelerators of switches with this number of ports add to the headroom of PAUSE. */
struct collective_burst panama_burst(const void *conf, const struct topology_conf *topology,
				     uint32_t ports);

/* --- accelerators --- */

struct panama_held {
	sim_time due;
	struct packet packet;
	uint32_t node; /* of the packet's sequence */
	uint32_t back; /* egress port to the sender of the packet that completed the sum */
};

/* The accelerator of a switch, for all jobs of the scheme. */
struct panama_accelerator {
	struct panama_scheme *scheme;
	struct collective_memory *memory; /* packets that wait for others; not owned */
	uint32_t sw, ports;
	uint32_t jobs;       /* active jobs: num_jobs of the paper */
	uint64_t first_sent; /* packets in memory, of sequences with `half` */
	/* Sums on their way through the accelerator, in the order of `due`. */
	sim_time latency;
	sim_time slow;            /* panama_slow_port() */
	sim_time *free_at;        /* by port: when its bus is free; NULL if `slow` is 0 */
	struct panama_held *held; /* ring by number: held_head .. held_end - 1 */
	uint64_t held_head, held_end, held_mask;
	struct timer timer;                           /* for the first sum */
	uint32_t jobs_with[PANAMA_SEQUENCES_MAX + 1]; /* active jobs, by number of sequences here */
};

/* A VID in all FIFOs of a sequence. A real accelerator adds gradients in the order of children,
 * when all are there. Here packets are added as they come, with the same result: the integers that
 * stand for gradients commute (exact.h). */
struct panama_row {
	uint64_t value;
	uint32_t past;    /* children whose FIFO has come to this VID or beyond */
	uint32_t packets; /* children that had a packet of this VID */
	uint32_t workers; /* workers in these packets */
	uint16_t cap;     /* least wnd_cap */
	uint8_t flags;    /* OR of CE and ALL, AND of FIN */
	bool placeless;   /* the newest packet takes no memory, as it completes the row */
};

/* The most sums that leave at once because one packet came: as many as struct switch_actions has
 * room for. Without a fraction there is at most one. */
#define PANAMA_SUMS_AT_ONCE 2

#define PANAMA_FEW 4 /* children whose state is in the node itself */

/* A sequence at a switch of its tree. Members that every packet needs come first, on few lines of
 * cache. */
struct panama_node {
	struct panama_row *rows; /* VID v's at [v & mask], from `expected` on; others are zero */
	uint64_t *next;          /* by child: 1 + VID of its last packet; `few`, or owned */
	uint64_t expected;       /* Expected_VID */
	struct panama_accelerator *accelerator;
	uint32_t mask; /* of rows */
	uint32_t children;
	uint32_t buffered; /* packets in the rows */
	uint32_t needed;   /* fraction < 1: workers that a sum waits for */
	uint32_t cap;      /* cap_here ... */
	uint32_t cap_jobs; /* ... for this number of jobs */
	uint32_t parent;   /* node, or TREE_NONE */
	uint32_t up_port;

	uint64_t few[PANAMA_FEW];
	uint32_t *down_ports; /* by child; of the tree */
	uint32_t number;      /* among the parent's children */
	bool fin;             /* the sequence is over here, its memory given back */
	bool behind;          /* sums wait in the sequence's backlog */
} __attribute__((aligned(64)));

struct panama_sequence {
	struct panama_job *job;
	uint32_t number; /* in the scheme; `flow` of packets */
	uint32_t tree;   /* of the job */
	bool repair;     /* for retransmissions: VID j is the chunk of the tree's order j */
	bool half;       /* has half of the memory, as the tree has a repair sequence, too */
	uint32_t node_count;
	struct panama_node *nodes;
	const uint32_t *node_of_switch; /* of the tree */
	/* fraction < 1; else NULL */
	struct panama_partial *partial;
	struct panama_backlog *backlogs; /* by node */
	/* for runs that repeat themselves: */
	struct repeat_stream stream; /* of its VIDs */
	uint64_t changes;            /* `changes` of the scheme, as last seen */
	uint64_t sent_before;        /* 1 + the newest VID sent by then */
};

/* --- workers --- */

/* A worker on a tree: one line of cache. */
struct panama_flow {
	uint64_t available; /* VIDs handed over */
	uint64_t next;      /* VID to send next */
	uint64_t una;       /* oldest VID without a result */
	uint64_t done;      /* recovery: how many of una .. next - 1 have a result */
	struct panama_window window;
} __attribute__((aligned(64)));

struct panama_worker {
	struct ina_worker base;
	struct panama_flow *flows;  /* by tree */
	uint64_t available;         /* chunks handed over */
	uint64_t chunk;             /* strict order: next chunk to send */
	uint64_t ready;             /* bit per tree that may send */
	uint32_t turn;              /* tree whose turn it is */
	uint64_t lost;              /* no recovery: VIDs whose result will never come */
	struct panama_asker *asker; /* NULL without recovery */
} __attribute__((aligned(64)));

struct panama_job {
	struct ina_job base;
	/* All below is empty if the job is too small to be aggregated, and runs on hosts. */
	struct ina_tree *trees;
	uint32_t tree_count;
	struct panama_sequence *sequences; /* by tree; with recovery, then those for repairs */
	uint32_t sequence_count;
	uint16_t *sequences_at;       /* by switch: sequences that pass ... */
	uint16_t *open_at;            /* ... and are not over */
	struct panama_orders *orders; /* by tree; NULL without recovery */
	uint64_t overflows;           /* packets dropped by full accelerators */
	uint64_t marked;              /* marked results, at all workers */
	uint64_t held_back;           /* times that a window kept a worker from sending */
};

struct panama_scheme {
	struct ina_scheme base;
	struct panama_window_conf window;
	struct ina_registry sequences;           /* `flow` of packets */
	struct panama_accelerator *accelerators; /* by switch */
	uint64_t changes; /* how often a job came to an accelerator or left it */
};

static inline struct panama_scheme *panama_scheme(const struct panama_job *job)
{
	return (struct panama_scheme *)job->base.scheme;
}

static inline const struct panama_conf *panama_conf(const struct panama_job *job)
{
	return job->base.scheme->conf;
}

static inline struct panama_job *panama_job(const struct panama_worker *worker)
{
	return (struct panama_job *)worker->base.job;
}

static inline struct panama_worker *panama_worker(const struct panama_job *job, uint32_t w)
{
	return (struct panama_worker *)job->base.workers + w;
}

static inline uint64_t panama_chunk(const struct panama_job *job, uint32_t tree, uint64_t vid)
{
	return vid * job->tree_count + tree;
}

/* --- panama_trees.c --- */

/* Builds the job's trees, and counts its sequences at each switch. Returns false if no tree is
 * possible. */
bool panama_trees_build(struct panama_job *job);
void panama_trees_free(struct panama_job *job);

/* --- panama_plan.c --- */

/* Counts a job, which runs as streams, in or out at all accelerators of its trees. */
void panama_plan_count(const struct panama_job *job, bool comes);

/* Fills in the job's streams. */
void panama_plan_trees(struct panama_job *job, struct stream_plan *plan);

/* --- panama_switch.c --- */

void panama_node_init(struct panama_node *node, const struct panama_sequence *sequence,
		      uint32_t number);
void panama_node_release(struct panama_node *node);

/* cap_here: packets that a sequence may have in a FIFO of this accelerator now. */
uint32_t panama_cap(const struct panama_sequence *sequence, struct panama_node *node);

/* panama_cap() of any job with `sequences` sequences there; 0 if there is no room for a packet. */
uint32_t panama_cap_at(const struct panama_accelerator *accelerator, uint32_t sequences);

/* A contribution on its way up, or a result on its way down, has reached a switch. Egress port
 * `back` leads to the neighbour that sent the packet. */
void panama_at_node(struct panama_sequence *sequence, struct panama_node *node, uint32_t back,
		    const struct packet *packet, struct switch_actions *actions);

/* Whether Expected_VID is over: it is complete, or can never be. */
bool panama_is_over(const struct panama_sequence *sequence, const struct panama_node *node);

/* Goes on to the next VID, as Expected_VID is over. Returns true if *sum is to be sent, false if
 * the VID is incomplete and its packets are discarded. */
bool panama_pass(struct panama_sequence *sequence, struct panama_node *node, struct packet *sum);

/* Counts a job in when it opens its first sequence at an accelerator, and out when it closes the
 * last. It has `sequences` of them there. */
static inline void panama_count_job(struct panama_accelerator *accelerator, uint32_t sequences,
				    bool comes)
{
	uint32_t change = comes ? 1 : UINT32_MAX;

	accelerator->jobs += change;
	accelerator->scheme->changes++;
	accelerator->jobs_with[sequences] += change;
}

/* Ends the sequence at this node: gives its memory back, and counts the job out if this was its
 * last sequence here. May be called twice. */
void panama_node_over(struct panama_sequence *sequence, struct panama_node *node);

/* --- panama_delay.c --- */

void panama_delay_init(struct panama_accelerator *accelerator);
void panama_delay_release(struct panama_accelerator *accelerator);

/* Delays a sum of node `number` by the accelerator's latency, from when the ports by which its
 * packets came are free. `back` is that of struct panama_held. */
void panama_delay(const struct panama_node *node, const struct packet *packet, uint32_t number,
		  uint32_t back);

/* When all ports by which a sum's packets came are free, at `now` or later. Makes them busy with
 * these packets from then on. Without slow ports `now`. */
sim_time panama_ports_free(const struct panama_node *node, sim_time now);

/* Fills in where a packet goes from this node: up, or down to all children. */
void panama_send_on(const struct panama_node *node, const struct packet *packet,
		    struct switch_send *send);

/* --- panama_worker.c --- */

/* `base` is set before. `cap` is the first wnd_cap, from the controller. */
void panama_worker_init(struct panama_worker *worker, uint32_t cap);
void panama_worker_release(struct panama_worker *worker);

/* Members of struct ina_ops. */
enum nic_pull panama_pull(void *worker, struct packet *packet);
void panama_contribute(void *worker, uint64_t first, uint64_t chunks);

void panama_worker_result(struct panama_worker *worker, struct panama_sequence *sequence,
			  const struct packet *packet);

/* Fills in the packet with which `worker` contributes `chunk` as VID `vid` of a sequence. */
void panama_contribution(struct packet *packet, const struct panama_worker *worker,
			 const struct panama_sequence *sequence, uint64_t vid, uint64_t chunk);

/* Brings the tree's bit of `ready` up to date. */
void panama_worker_look(struct panama_worker *worker, uint32_t tree);
void panama_worker_wake(struct panama_worker *worker);

/* --- panama_partial.c: fraction < 1 --- */

struct panama_partial *panama_partial_new(const struct panama_sequence *sequence);
void panama_partial_free(struct panama_partial *partial);

/* Notes that the child's packet is in the sum of VID `vid` at this node. */
void panama_partial_in(struct panama_sequence *sequence, const struct panama_node *node,
		       uint64_t vid, uint32_t child);

/* Notes which workers are in the sum of `vid`, which is over at the root. */
void panama_partial_settle(struct panama_sequence *sequence, uint64_t vid);

/* The number of workers in a settled sum, and the sum of their weights (exact.h). */
uint64_t panama_partial_weight(const struct panama_sequence *sequence, uint64_t vid,
			       uint32_t *workers);

/* --- panama_backlog.c: fraction < 1 --- */

void panama_backlog_open(struct panama_sequence *sequence);
void panama_backlog_close(struct panama_sequence *sequence);

/* Starts the timer that sends complete sums which may not leave at once. Egress port `back` leads
 * to the sender of the packet that completed them. */
void panama_backlog_begin(struct panama_sequence *sequence, struct panama_node *node,
			  uint32_t back);

/* --- panama_repeat.c --- */

/* Members of struct ina_ops, of protocol_ops and of collective_ops. */
uint64_t panama_period(const void *job);
void panama_repeat_job(void *job, struct repeat *repeat);
const struct repeat_stream *panama_stream(const void *scheme, const struct packet *packet);
void panama_repeat_packet(void *scheme, struct repeat *repeat, struct packet *packet);
void panama_repeat(void *scheme, struct repeat *repeat);

/* --- panama_recovery.c --- */

/* `cap` is the first wnd_cap, from the controller. */
void panama_recovery_start(struct panama_job *job, uint32_t cap);
void panama_recovery_stop(struct panama_job *job);

/* Notes that the worker has sent its next VID on a tree. */
void panama_recovery_sent(struct panama_worker *worker, uint32_t tree);

/* Takes the result of a chunk. Returns false if the worker has it already. */
bool panama_recovery_result(struct panama_worker *worker, const struct panama_sequence *sequence,
			    const struct packet *packet, uint64_t chunk);

/* Whether the worker has the result of a VID of the tree's first sequence. */
bool panama_recovery_has(const struct panama_worker *worker, uint32_t tree, uint64_t vid);

/* The chunk that a VID of the tree's repair sequence carries. */
uint64_t panama_recovery_chunk(const struct panama_job *job, uint32_t tree, uint64_t vid);

/* The chunk that a VID of any sequence carries. */
static inline uint64_t panama_chunk_of(const struct panama_sequence *sequence, uint64_t vid)
{
	return sequence->repair ? panama_recovery_chunk(sequence->job, sequence->tree, vid)
				: panama_chunk(sequence->job, sequence->tree, vid);
}

/* Whether this worker may retransmit a packet now. panama_recovery_pull() fills the packet in. */
bool panama_recovery_ready(const struct panama_worker *worker);
bool panama_recovery_pull(struct panama_worker *worker, struct packet *packet);

#endif
