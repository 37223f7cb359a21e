/* PANAMA, private to models/ina/panama/ and its tests: the state of a job.
 *
 *   panama.c           controller: jobs, memory, packets as they come; opens with what is modelled
 *   panama_conf.c      parameters of "panama" and "switchml_star"
 *   panama_trees.c     which trees a job has
 *   panama_plan.c      a job as fluid streams
 *   panama_switch.c    accelerators: FIFOs and Expected_VID
 *     panama_delay.c     the time that an accelerator takes
 *     panama_partial.c   fraction < 1: who is in
 *     panama_backlog.c   fraction < 1: sums that may not leave at once
 *   panama_worker.c    sending, results
 *     panama_window.c    its window, which knows nothing else
 *     panama_recovery.c  what is lost is asked for and sent again
 *   panama_repeat.c    its state, for runs that repeat themselves
 *
 * Calls: panama.c opens and closes all, and hands packets to panama_switch.c and panama_worker.c,
 * which never call each other. Each of the two calls the files that are indented below it. Those
 * call back only
 *
 *   panama_send_on()                 when a delay is over,
 *   panama_is_over(), panama_pass()  when a sum may leave at last, and
 *   panama_contribution(), panama_worker_look(), panama_worker_wake()
 *                                    when something is to be sent again.
 *
 * Besides, panama_worker.c asks panama_partial.c for weights, and panama_plan.c asks
 * panama_switch.c for caps.
 *
 * Chunk c of the stream of tensors of a job goes to tree c mod N as VID floor(c / N), at all
 * workers. "VID" is the paper's word: the number of a packet in the sequence that passes a tree.
 * With recovery, each tree has a second sequence for what is sent again, in which a chunk has
 * another VID. Packets carry the number of their sequence (JID and TID) in `flow`, the VID,
 * wnd_cap, and how many workers are in the sum. */
#ifndef INASIM_INA_PANAMA_PANAMA_H
#define INASIM_INA_PANAMA_PANAMA_H

#include "ina/common/ina.h"
#include "ina/panama/panama_window.h"

#define PANAMA_TREES_MAX     64
#define PANAMA_SEQUENCES_MAX (2 * PANAMA_TREES_MAX)
#define PANAMA_CAP_MAX       UINT16_MAX /* wnd_cap has 16 bits */

/* Flags of its packets. */
enum {
	PANAMA_ALL = PACKET_OWN(0), /* all workers must be in, whatever the fraction */
	PANAMA_FIN = PACKET_OWN(1), /* the sender's last on this tree */
};

/* --- parameters --- */

enum panama_order { PANAMA_INDEPENDENT, PANAMA_STRICT };
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
	bytes memory;
	int64_t trees;
	int64_t only_tree; /* 0 = all */
	int64_t elements, header;
	int order; /* enum panama_order */
	struct panama_window_conf window;
	double fraction;
	int rounding; /* enum panama_rounding */
	bytes threshold;
	void *below[1]; /* parameters of ring */
	struct panama_latency latency;
	bool recovery;
	sim_time timeout;
};

/* Adds errors where rows contradict each other or the topology. Fits collective_ops.check. */
void panama_check(const void *conf, const struct topology_conf *topology, struct conf_doc *doc,
		  const char *scheme);

/* Fits collective_ops.idle. */
size_t panama_idle(const void *conf, struct collective_idle list[COLLECTIVE_IDLE_MAX]);

/* Bytes of a packet, FCS included. */
uint32_t panama_frame(const void *conf);
uint32_t panama_payload(const void *conf);

/* The latency of accelerators on this topology; a bus that is not given is as wide as the fastest
 * link needs. */
struct panama_latency panama_accelerators(const struct panama_conf *conf,
					  const struct topology_conf *topology);

/* The narrowest bus that passes this rate (equation 1): a power of two, 64 bits at least. */
int64_t panama_bus_for(const struct panama_equation *equation, bps rate);

/* Equation 1: how long a port takes for a packet; 0 if it keeps up with links of this rate. */
sim_time panama_slow_port(const struct panama_latency *latency, uint32_t frame, bps rate);

/* Equation 3: cut-through latency of an accelerator with so many ports. */
sim_time panama_latency(const struct panama_latency *latency, uint32_t frame, uint32_t ports);

/* What accelerators of switches with so many ports add to the headroom of PAUSE. */
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
	uint32_t jobs;       /* active ones: num_jobs of the paper */
	uint64_t first_sent; /* packets in memory that belong to sequences with `half` */
	/* Sums on their way through it, in order. */
	sim_time latency;
	sim_time slow;            /* panama_slow_port() */
	sim_time *free_at;        /* by port, when its bus is free; NULL unless `slow` */
	struct panama_held *held; /* ring by number: held_head .. held_end - 1 */
	uint64_t held_head, held_end, held_mask;
	struct timer timer;                           /* for the first of these */
	uint32_t jobs_with[PANAMA_SEQUENCES_MAX + 1]; /* active ones, by number of sequences here */
};

/* VID v in all FIFOs of a sequence, at [v & mask]: packets are added as they come. The accelerator
 * sums gradients in the order of children when all are there; the integers that stand for them
 * commute (exact.h), so the result is the same. */
struct panama_row {
	uint64_t value;
	uint32_t past;    /* children whose FIFO has come to this VID or beyond */
	uint32_t packets; /* how many of those children had a packet of it */
	uint32_t workers; /* in these packets */
	uint16_t cap;     /* least wnd_cap */
	uint8_t flags;    /* OR of CE, AND of FIN */
	bool placeless;   /* the newest packet has no place in memory, as it completes the row */
};

/* Sums that may leave at once because one packet came: as many as struct switch_actions has room
 * for. Without a fraction there is never more than one. */
#define PANAMA_SUMS_AT_ONCE 2

#define PANAMA_FEW 4 /* children whose state lies in the node itself */

/* A sequence at a switch of its tree. What every packet needs comes first: packets cost by the
 * lines of cache that they touch. */
struct panama_node {
	struct panama_row *rows; /* those from `expected` on; the others are zero */
	uint64_t *next;          /* by child: VID after that of its last packet; `few`, or owned */
	uint64_t expected;       /* Expected_VID */
	struct panama_accelerator *accelerator;
	uint32_t mask; /* of rows */
	uint32_t children;
	uint32_t buffered; /* packets in the rows */
	uint32_t needed;   /* workers that a sum waits for, for fraction < 1 */
	uint32_t cap;      /* cap_here ... */
	uint32_t cap_jobs; /* ... for so many jobs */
	uint32_t parent;   /* node, or TREE_NONE */
	uint32_t up_port;

	uint64_t few[PANAMA_FEW];
	uint32_t *down_ports; /* by child; of the tree */
	uint32_t number;      /* among the parent's children */
	bool fin;             /* over: its memory is given back */
	bool behind;          /* sums wait in the sequence's backlog */
} __attribute__((aligned(64)));

struct panama_sequence {
	struct panama_job *job;
	uint32_t number; /* in the scheme: `flow` of its packets */
	uint32_t tree;   /* of the job */
	bool repair;     /* for repairs: VID j carries the chunk of the tree's j-th order */
	bool half;       /* it has half of the memory: a sequence for repairs has the rest */
	uint32_t node_count;
	struct panama_node *nodes;
	const uint32_t *node_of_switch; /* of the tree */
	/* fraction < 1; else NULL */
	struct panama_partial *partial;
	struct panama_backlog *backlogs; /* by node */
	/* for runs that repeat themselves: */
	struct repeat_stream stream; /* of its VIDs */
	uint64_t changes;            /* `changes` of the scheme, as last seen ... */
	uint64_t sent_before;        /* ... when VIDs before this had been sent */
};

/* --- workers --- */

/* A worker on a tree: one line of cache. */
struct panama_flow {
	uint64_t available; /* VIDs handed over */
	uint64_t next;      /* VID to send next */
	uint64_t una;       /* oldest VID without a result */
	uint64_t done;      /* how many of una .. next - 1 have a result (recovery) */
	struct panama_window window;
} __attribute__((aligned(64)));

struct panama_worker {
	struct ina_worker base;
	struct panama_flow *flows;  /* by tree */
	uint64_t available;         /* chunks handed over */
	uint64_t chunk;             /* strict order: next to send */
	uint64_t ready;             /* bit per tree that may send */
	uint32_t turn;              /* tree whose turn it is */
	uint64_t lost;              /* VIDs whose result will never come (no recovery) */
	struct panama_asker *asker; /* recovery */
} __attribute__((aligned(64)));

struct panama_job {
	struct ina_job base;
	/* An instance of ring, if the job is too small to be aggregated; then all below is empty */
	void *ring;
	struct ina_tree *trees;
	uint32_t tree_count;
	struct panama_sequence *sequences; /* by tree; then, with recovery, those for repairs */
	uint32_t sequence_count;
	uint16_t *sequences_at;       /* by switch: sequences that pass ... */
	uint16_t *open_at;            /* ... and are not over */
	struct panama_orders *orders; /* by tree; recovery, else NULL */
	uint64_t overflows;           /* packets dropped by full accelerators */
	uint64_t marked;              /* marked results, at all workers */
	uint64_t held_back;           /* times that a window forbade to send */
};

struct panama_scheme {
	struct ina_scheme base;
	struct panama_window_conf window;
	void *ring;                              /* for small jobs */
	struct ina_registry sequences;           /* `flow` of packets */
	struct panama_accelerator *accelerators; /* by switch */
	uint64_t changes;                        /* how often a job came to or left one of them */
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

/* Builds the job's trees, and counts how many sequences of it will pass each switch. */
bool panama_trees_build(struct panama_job *job);
void panama_trees_free(struct panama_job *job);

/* --- panama_plan.c --- */

/* A job that runs as streams comes to all accelerators of its trees, or leaves them. */
void panama_plan_count(const struct panama_job *job, bool comes);

/* Fills in the streams of such a job. */
void panama_plan_trees(struct panama_job *job, struct stream_plan *plan);

/* --- panama_switch.c --- */

void panama_node_init(struct panama_node *node, const struct panama_sequence *sequence,
		      uint32_t number);
void panama_node_release(struct panama_node *node);

/* cap_here: packets that a sequence may have in a FIFO of this accelerator now. */
uint32_t panama_cap(const struct panama_sequence *sequence, struct panama_node *node);

/* The same for any job with so many sequences there; 0: not even one packet has room. */
uint32_t panama_cap_at(const struct panama_accelerator *accelerator, uint32_t sequences);

/* A contribution on its way up, or a result on its way down, has reached a switch. Egress port
 * `back` leads to the neighbour that it came from. */
void panama_at_node(struct panama_sequence *sequence, struct panama_node *node, uint32_t back,
		    const struct packet *packet, struct switch_actions *actions);

/* Is Expected_VID complete, or can it never be? */
bool panama_is_over(const struct panama_sequence *sequence, const struct panama_node *node);

/* Expected_VID is over: goes on to the next. True: *sum is to be sent; else the VID is incomplete,
 * and its packets are discarded. */
bool panama_pass(struct panama_sequence *sequence, struct panama_node *node, struct packet *sum);

/* A job that has `sequences` sequences at an accelerator opens the first, or closes the last. */
static inline void panama_count_job(struct panama_accelerator *accelerator, uint32_t sequences,
				    bool comes)
{
	uint32_t change = comes ? 1 : UINT32_MAX;

	accelerator->jobs += change;
	accelerator->scheme->changes++;
	accelerator->jobs_with[sequences] += change;
}

/* The sequence is over at this node: forgets what it holds, and counts the job out if this was its
 * last sequence here. May be called twice. */
void panama_node_over(struct panama_sequence *sequence, struct panama_node *node);

/* --- panama_delay.c --- */

void panama_delay_init(struct panama_accelerator *accelerator);
void panama_delay_release(struct panama_accelerator *accelerator);

/* The sum of node `number` leaves the accelerator after its latency, once the ports from which its
 * packets came are free. `back`: see struct panama_held. */
void panama_delay(const struct panama_node *node, const struct packet *packet, uint32_t number,
		  uint32_t back);

/* Fills in where a packet goes that leaves the accelerator at this node: up, or down to all. */
void panama_send_on(const struct panama_node *node, const struct packet *packet,
		    struct switch_send *send);

/* --- panama_worker.c --- */

/* `base` is set. `cap`: the window's first cap. */
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

/* The child's packet is in the sum of VID `vid` at this node. */
void panama_partial_in(struct panama_sequence *sequence, const struct panama_node *node,
		       uint64_t vid, uint32_t child);

/* `vid` is over at the root: notes who is in it. */
void panama_partial_settle(struct panama_sequence *sequence, uint64_t vid);

/* Sum of the weights of the workers in it (exact.h), and how many they are. */
uint64_t panama_partial_weight(const struct panama_sequence *sequence, uint64_t vid,
			       uint32_t *workers);

/* --- panama_backlog.c: fraction < 1 --- */

void panama_backlog_open(struct panama_sequence *sequence);
void panama_backlog_close(struct panama_sequence *sequence);

/* More sums are complete at this node than may leave for the one packet that came by the link
 * behind egress port `back`: a timer sends the others. */
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

/* `cap`: what the controller knows of the accelerators' memory. */
void panama_recovery_start(struct panama_job *job, uint32_t cap);
void panama_recovery_stop(struct panama_job *job);

/* The worker has sent its next VID on a tree. */
void panama_recovery_sent(struct panama_worker *worker, uint32_t tree);

/* The result of a chunk has come. False when the worker has it already. */
bool panama_recovery_result(struct panama_worker *worker, const struct panama_sequence *sequence,
			    const struct packet *packet, uint64_t chunk);

/* Does the worker hold the result of a VID of a main sequence? */
bool panama_recovery_has(const struct panama_worker *worker, uint32_t tree, uint64_t vid);

/* The chunk that a VID of the sequence for repairs of this tree carries. */
uint64_t panama_recovery_chunk(const struct panama_job *job, uint32_t tree, uint64_t vid);

/* The chunk that a VID of any sequence carries. */
static inline uint64_t panama_chunk_of(const struct panama_sequence *sequence, uint64_t vid)
{
	return sequence->repair ? panama_recovery_chunk(sequence->job, sequence->tree, vid)
				: panama_chunk(sequence->job, sequence->tree, vid);
}

/* Is there a packet that this worker may send again now? panama_recovery_pull() fills it in. */
bool panama_recovery_ready(const struct panama_worker *worker);
bool panama_recovery_pull(struct panama_worker *worker, struct packet *packet);

#endif
