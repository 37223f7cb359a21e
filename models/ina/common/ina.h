/* What all schemes in switches share: the job of a packet, workers as sources of NICs, trees of
 * switches and their memory, the life of a job, reports.
 *
 * A scheme's structs begin with a struct of this header, `base`. One const struct ina_ops says what
 * the scheme does. ina.c allocates the structs, zeroed:
 *
 *     struct my_worker { struct ina_worker base; ... };
 *     struct my_node { struct ina_node base; ... };    a switch of the job's tree
 *
 * The life of a job:
 *
 *     start()       ina.c builds the tree (with `root`), and reserves memory() or calls admit();
 *                   without room the job waits
 *                   ina.c makes workers, exact sums, tensors, and the job's number in packets
 *                   begin() makes the rest of the scheme's state
 *     contribute()  a worker hands chunks over; its NIC calls pull(); packets go to ops.protocol;
 *                   the scheme calls ina_complete()
 *     finish()      ina.c takes the workers off their NICs; end() undoes begin()
 *                   withdraw() undoes admit()
 *
 * In the fluid fidelity plan() takes the place of all that lies between admission and withdraw().
 *
 * tests/model/example_scheme.c is a complete scheme. switchml/ is one that recovers from loss. */
#ifndef INASIM_INA_COMMON_INA_H
#define INASIM_INA_COMMON_INA_H

#include "collective/collective.h"
#include "collective/tensors.h"
#include "core/repeat.h"
#include "topo/tree.h"

/* A chunk is what one packet of a tensor holds. Chunks are numbered from 0 for the life of a job,
 * in the same order at all workers; the last chunk of a tensor is padded. */

/* --- the ops of a scheme --- */

struct ina_job;

/* Sizes of a scheme's structs; 0 = the scheme uses the struct of this header. */
struct ina_sizes {
	size_t scheme, job, worker, node;
};

/* `scheme`, `job` and `worker` are the scheme's own structs. A scheme needs pull() and `protocol`;
 * functions may be NULL where they are optional. */
struct ina_ops {
	const char *title; /* in reports: "SwitchML" */
	struct ina_sizes size;
	/* Packets at switches and hosts; `self` is the scheme. */
	struct protocol_ops protocol;
	nic_source_pull *pull; /* a worker's next packet; `owner` is the worker */

	struct why_bypass bypass; /* for --why */
	bool own_flows; /* `flow` of packets is not ina_job.number: the scheme calls why_join() */
	/* Tensors are equal pieces, one for each worker, and ina_chunks() counts chunks of a piece.
	 * `chunk` of packets is another number than the kit's: the scheme calls why_result(). */
	bool pieces;
	/* Optional: jobs have one tree, whose root is drawn from the random stream of this name.
	 * A scheme without it has an admit(). */
	const char *root;
	/* With root: only the root must add. At other switches that add nothing up
	 * (tree_let_pass()), at_switch() sends packets on by ina_pass(). If this is false, all
	 * switches of the tree must add, or the job is refused. (A scheme with neither memory() nor
	 * admit() only copies, so no switch must add.) */
	bool passes_by;
	/* Optional: bytes that ina_reserve() takes for a job at an adding switch of its tree. */
	bytes (*memory)(const void *job, const struct tree_node *place);
	/* Optional: the reason to refuse a job that needs more memory than a switch has. Without
	 * this member it is a general text. */
	const char *too_large;
	/* Optional, instead of ina_reserve(), which it may call: takes what the job needs. Returns
	 * false, and takes nothing, when too little is free now. If there will never be enough,
	 * sets *never, which was NULL, to the reason. Sets ina_job.to_hosts where that holds. */
	bool (*admit)(void *job, const char **never);
	/* Optional: undoes admit(). Without this member memory() is given back. */
	void (*withdraw)(void *job);
	/* Optional: runs the jobs that admit() sends to hosts. Its scheme object is
	 * ina_scheme.on_hosts. */
	const struct collective_ops *on_hosts;
	/* Optional: the job as streams, once admitted. Required for ina_plan(). */
	void (*plan)(void *job, struct stream_plan *plan);
	/* Optional: called when `base` is complete, before the first packet. It may set
	 * `base.source.deferrable` of the workers, for speed (net/nic.h). */
	void (*begin)(void *job);
	void (*end)(void *job);
	/* Optional: a worker has handed over `chunks` chunks from `first` on. Without this member
	 * ina.c calls ina_wake(). */
	void (*contribute)(void *worker, uint64_t first, uint64_t chunks);
	/* Optional: writes what a worker waits for, to follow "worker 3 (h3) ". Returns false if
	 * the worker waits for nothing. Without this member ina.c writes how many results have
	 * come. */
	bool (*waits)(const void *worker, char *text, size_t size);
	/* Optional, both or none: for runs that repeat themselves (core/repeat.h). period() is the
	 * number of chunks after which slots are used in the same way again. It is at least the
	 * number of chunks in flight, or else repeat() limits skips itself (panama_repeat.c).
	 * repeat() goes through the scheme's own state of the job. */
	uint64_t (*period)(const void *job);
	void (*repeat)(void *job, struct repeat *repeat);
};

/* --- numbers that packets carry --- */

struct ina_registry {
	void **entries; /* by number; NULL once the job is over */
	size_t count, capacity;
};

/* Adds an entry and returns its number. */
uint32_t ina_enter(struct ina_registry *registry, void *entry);

static inline void *ina_find(const struct ina_registry *registry, uint32_t number)
{
	return registry->entries[number];
}

/* --- the scheme in a run --- */

/* At the front of the parameters of most schemes. */
struct ina_packet_conf {
	int64_t elements; /* of 32 bits */
	int64_t header;   /* bytes of a frame besides the elements */
};

/* Members of struct collective_ops, for parameters that begin with struct ina_packet_conf. */
uint32_t ina_frame(const void *conf);
uint32_t ina_payload(const void *conf);

struct ina_format {
	uint32_t frame;    /* bytes of a packet, FCS included; 0: as struct ina_packet_conf says */
	uint32_t elements; /* in a packet, and so in a chunk */
	bytes memory;      /* of a switch that has no topology_memory(); 0: no switch has any */
	uint32_t message;  /* tensors are padded to a multiple of this many chunks; 0 means 1 */
};

struct ina_scheme {
	struct model_env env;
	const struct ina_ops *ops;
	const void *conf; /* parameters of the scheme; not owned */
	uint32_t frame, elements, message;
	uint8_t protocol;
	struct ina_registry jobs;         /* a job's number here is `flow` of its packets */
	struct collective_memory *memory; /* by switch */
	char **refusals; /* [2 * switch + adds]: texts of ina_refusal(); NULL = none yet */
	void *on_hosts;  /* object of ops->on_hosts; not owned */
	struct ina_scheme *gather; /* a second scheme, for all-gathers, or NULL; owned */
};

/* The job of a packet whose `flow` is the job's number; NULL: it is over. */
static inline void *ina_job_of(const void *scheme, const struct packet *packet)
{
	return ina_find(&((const struct ina_scheme *)scheme)->jobs, packet->flow);
}

/* The scheme, with ops->size.scheme bytes. `ops` and `conf` outlive it. */
void *ina_open(const struct ina_ops *ops, const struct model_env *env, const void *conf,
	       struct ina_format format);

/* --- jobs and workers --- */

struct ina_worker {
	struct ina_job *job;
	struct nic_source source;
	uint32_t number;
	uint32_t port;    /* egress port by which it sends: ports[number] of its job */
	uint64_t results; /* chunks whose sum the worker has */
};

struct ina_tree {
	struct tree *tree;
	uint32_t *node_of_switch; /* by switch of the tree: index in tree->nodes */
};

struct ina_job {
	struct ina_scheme *scheme;
	struct collective_job spec; /* a copy of what the scheme was given */
	uint32_t number;            /* index in scheme->jobs; spec.number is the run's */
	struct exact exact;
	struct tensors tensors;
	void *workers; /* spec.workers structs of worker_size bytes, aligned to a line of cache */
	size_t worker_size;
	struct collective_stats stats; /* what the scheme counts at hosts */
	struct repeat_stream stream;   /* of its chunks */
	/* Number of a failure (outages.failures): only later ones concern the job. It is the last
	 * before the job was admitted or, if links of the tree were down then, the last before the
	 * first of these failed. */
	uint64_t failures;
	uint64_t mark; /* results of worker 0 at the next ina_mark(); UINT64_MAX = never */
	uint32_t *worker_of_host; /* by host; UINT32_MAX = none */
	/* From admit() on: the egress port of the host of each worker, then of each server, by
	 * which the job's packets leave it. Where hosts have one link these are the hosts' numbers.
	 */
	uint32_t *ports;
	/* With ops->root, from admit() on: */
	uint64_t tree_number; /* jobs with equal ones on the same switches share a root */
	struct ina_tree tree;
	void *nodes; /* by node of the tree, of node_size bytes */
	size_t node_size;
	struct why_chunks *why; /* for --why, unless ops->own_flows; set in `tensors`, too, unless
				 * ops->pieces */
	bool to_hosts;          /* ops->on_hosts runs the job */
	void *on_hosts;         /* its instance; NULL = none runs */
};

static inline struct ina_worker *ina_worker(const struct ina_job *job, uint32_t w)
{
	return (struct ina_worker *)((char *)job->workers + w * job->worker_size);
}

/* The job's worker on a host that has one. */
static inline void *ina_worker_on(const struct ina_job *job, uint32_t host)
{
	return ina_worker(job, job->worker_of_host[host]);
}

/* The host of a worker. */
static inline uint32_t ina_host(const struct ina_worker *worker)
{
	return worker->job->spec.hosts[worker->number];
}

/* The worker has packets: its NIC calls pull(), perhaps at once. */
static inline void ina_wake(struct ina_worker *worker)
{
	nic_wake(&worker->job->scheme->env.topo->net.nics[worker->port], &worker->source);
}

/* Chunks that the worker has handed over. */
static inline uint64_t ina_available(const struct ina_worker *worker)
{
	return tensors_available(&worker->job->tensors, worker->number);
}

/* Chunks of a tensor or, with ops.pieces, of a piece; at least 1. */
uint64_t ina_chunks(const struct ina_job *job, bytes size);

/* Rows, of a chunk for each worker, in a window of so many bytes: rounded up, at least 2. */
uint64_t ina_rows(const struct ina_job *job, bytes window);

/* For protocol_ops.ahead: fetches a whole struct into the cache. */
static inline void ina_prefetch(const void *from, size_t size)
{
	for (size_t at = 0; at < size; at += 64)
		__builtin_prefetch((const char *)from + at);
}

/* Ends the run, because a rule of the scheme is broken at a node of the network. */
void ina_violated(const struct ina_job *job, uint32_t node, uint64_t chunk, const char *what);
void ina_violated_at_switch(const struct ina_job *job, uint32_t sw, uint64_t chunk,
			    const char *what);

/* Whether `value` is the sum of all contributions to the chunk. If not, the run ends. */
static inline bool ina_holds(const struct ina_worker *worker, uint64_t chunk, uint64_t value)
{
	if (exact_holds(&worker->job->exact, chunk, value))
		return true;
	ina_violated(worker->job, ina_host(worker), chunk, "a wrong sum");
	return false;
}

/* Is `value` the contribution of worker `owner` alone? If not, the run breaks off. */
static inline bool ina_holds_shard(const struct ina_worker *worker, uint64_t owner, uint64_t chunk,
				   uint64_t value)
{
	const struct exact *exact = &worker->job->exact;

	if (exact_holds_part(exact, exact->weights[owner], chunk, value))
		return true;
	ina_violated(worker->job, ina_host(worker), chunk, "a wrong shard");
	return false;
}

/* How many results worker 0 gets from one mark to the next. */
uint64_t ina_mark_distance(const struct ina_job *job);

/* Looks for repetition, now that worker 0 has job->mark results, and sets the next mark. */
void ina_mark(struct ina_job *job);

/* Notes that the worker has the sum of a chunk, for the first time, and tells the job when a tensor
 * is complete. The job may then hand over the next tensor at once, so first bring the worker's own
 * state up to date. */
static inline void ina_complete(struct ina_worker *worker, uint64_t chunk)
{
	struct ina_job *job = worker->job;
	uint64_t tensor;

	if (__builtin_expect(++worker->results == job->mark, 0) && !worker->number)
		ina_mark(job);
	if (tensors_result(&job->tensors, worker->number, chunk, &tensor))
		job->spec.done(job->spec.owner, worker->number, tensor);
}

/* Fills in the packet of a worker's contribution to a chunk. The caller adds the route, the number
 * of the child at the switch (`source`) and the scheme's own fields. */
static inline void ina_packet(struct packet *packet, const struct ina_worker *worker,
			      uint64_t chunk)
{
	const struct ina_job *job = worker->job;

	*packet = (struct packet){
		.chunk = chunk,
		.value = exact_contribution(&job->exact, worker->number, chunk),
		.flow = job->number,
		.size = (uint16_t)job->scheme->frame,
		.kind = PACKET_AGGREGATION,
		.protocol = job->scheme->protocol,
	};
}

/* For protocol_ops.about, where `flow` is the job's number. Use ina_about_slot() where `slot` is
 * also the index of an aggregator. Schemes with another `flow` find the job themselves and call
 * ina_about_job(). */
bool ina_about(const void *scheme, const struct packet *packet, struct packet_about *about);
bool ina_about_slot(const void *scheme, const struct packet *packet, struct packet_about *about);
void ina_about_job(const struct ina_job *job, const struct packet *packet,
		   struct packet_about *about);

/* --- trees and the memory of their switches --- */

void ina_tree_init(struct ina_tree *tree, struct ina_job *job, uint32_t root);
void ina_tree_release(struct ina_tree *tree);

/* collective_ops.intact() for one of a job's trees. Only in networks with net.outages. */
bool ina_tree_intact(const struct ina_job *job, const struct tree *tree, bool links);

/* Whether a link of the tree has failed since the job was admitted, for schemes that never
 * retransmit. */
bool ina_tree_failed(const struct ina_job *job, const struct tree *tree);

/* A switch of the tree with this root that must add up but does not (topology_aggregates());
 * TREE_NONE if there is none. */
uint32_t ina_passing(const struct ina_job *job, uint32_t root);

/* Why a job never runs: switch `sw` of its tree adds nothing up, or has too little memory of its
 * own (topology_memory()). The scheme owns the text. */
const char *ina_refusal(struct ina_scheme *scheme, uint32_t sw);

/* `what` in struct collective_actual, for jobs with switches that only forward. */
extern const char ina_adding[];

/* Why a job never runs: failures have left no tree, or no way to a server. */
extern const char ina_no_tree[], ina_no_server[];

/* Takes ops.memory(), if the scheme has it, at each adding switch of the job's tree. Returns as
 * admit() does; *never is set, too, where a switch must add and does not. */
bool ina_reserve(const struct ina_job *job, const char **never);

/* A scheme's packets, if all are full and have frames of so many bytes. */
struct framing ina_framing(const struct ina_job *job, uint32_t frame);

/* The bound of a plan: a worker sends all chunks before it gets the result of the last one. */
void ina_plan_bound(const struct ina_job *job, struct stream_plan *plan);

/* For ops.plan: one stream over the job's tree, with at most `window` chunks in flight. */
void ina_plan_tree(const struct ina_job *job, uint64_t window, struct stream_plan *plan);

/* --- at switches --- */

/* A switch of a job's tree. */
struct ina_node {
	const struct tree_node *place;
	struct collective_memory *memory; /* of the switch, with the counters; not owned */
};

/* The n-th node of the tree; 0 is the root. */
static inline void *ina_node(const struct ina_job *job, uint32_t n)
{
	return (char *)job->nodes + n * job->node_size;
}

/* The node at a switch of the job's tree. */
static inline void *ina_node_at(const struct ina_job *job, uint32_t sw)
{
	return ina_node(job, job->tree.node_of_switch[sw]);
}

/* Adds a packet that leaves by these ports. The array must outlive the event. */
static inline void ina_send(struct switch_actions *actions, const struct packet *packet,
			    const uint32_t *ports, uint32_t count)
{
	struct switch_send *out = &actions->send[actions->count++];

	out->packet = *packet;
	out->ports = ports;
	out->count = count;
}

static inline void ina_send_up(struct switch_actions *actions, const struct ina_node *node,
			       const struct packet *packet)
{
	ina_send(actions, packet, &node->place->up_port, 1);
}

static inline void ina_send_down(struct switch_actions *actions, const struct ina_node *node,
				 const struct packet *packet)
{
	ina_send(actions, packet, node->place->down_ports, node->place->children);
}

/* At a switch that only forwards: a contribution goes up, a result down to all children. Any switch
 * with multicast can do this, without the scheme. */
static inline void ina_pass(struct switch_actions *actions, const struct ina_node *node,
			    const struct packet *packet)
{
	if (packet->flags & PACKET_RESULT)
		ina_send_down(actions, node, packet);
	else
		ina_send_up(actions, node, packet);
}

/* Sends the sum of all children up or, from the root, down as the result. */
static inline void ina_send_sum(struct switch_actions *actions, const struct ina_node *node,
				struct packet *sum)
{
	if (node->place->parent != TREE_NONE) {
		ina_send_up(actions, node, sum);
		return;
	}
	sum->flags |= PACKET_RESULT;
	node->memory->stats.results++;
	ina_send_down(actions, node, sum);
}

/* --- runs that repeat themselves (core/repeat.h) --- */

/* Goes through a complete or partial sum of a chunk. Values differ from chunk to chunk. What has to
 * be equal is the chunk's number relative to the job's stream, and the summed weight of the workers
 * in the sum. */
void ina_repeat_sum(struct ina_job *job, struct repeat *repeat, uint64_t *chunk, uint64_t *value);

/* Members of struct protocol_ops, for packets whose `flow` is the job's number. */
const struct repeat_stream *ina_stream(const void *scheme, const struct packet *packet);
void ina_repeat_packet(void *scheme, struct repeat *repeat, struct packet *packet);

/* --- members of struct collective_ops ---
 *
 * A scheme that has more to close or to count does so in functions of its own, which call these. */

void ina_close(void *scheme);
void *ina_start(void *scheme, const struct collective_job *spec, const char **never);
void *ina_start_gather(void *scheme, const struct collective_job *spec, const char **never);
void ina_contribute(void *instance, uint32_t worker, bytes size);
void ina_finish(void *instance, bool abandoned);
void ina_stats(const void *instance, struct collective_stats *stats);
bytes ina_received(const void *instance);
size_t ina_report_waiting(const void *instance, FILE *to, size_t limit);
bool ina_intact(const void *instance, bool links); /* with ops.root */
void *ina_plan(void *scheme, const struct collective_job *spec, struct stream_plan *plan,
	       const char **never);
void ina_withdraw(void *admitted);
size_t ina_memory(void *scheme, const struct collective_memory **list);
struct collective_actual ina_ran_as(const void *instance); /* with ops.passes_by */
void ina_repeat(void *scheme, struct repeat *repeat);      /* with ops.repeat */

#define INA_JOB_OPS                                                                                \
	.start = ina_start, .contribute = ina_contribute, .finish = ina_finish,                    \
	.received = ina_received, .report_waiting = ina_report_waiting
#define INA_OPS INA_JOB_OPS, .close = ina_close, .stats = ina_stats

/* For a scheme with ops.plan(). */
#define INA_PLAN_OPS .plan = ina_plan, .withdraw = ina_withdraw

/* The steps of ina_start(), ina_plan() and ina_finish(), for a scheme that does something in
 * between. ina_admit() returns NULL as start() does; ina_withdraw() undoes it. Each job draws a
 * root of its own, but for ina_admit_to(): jobs of one tree number on the same switches share
 * theirs. */
void *ina_admit(void *scheme, const struct collective_job *spec, const char **never);
void *ina_admit_to(void *scheme, const struct collective_job *spec, uint64_t tree_number,
		   const char **never);
void ina_begin(struct ina_job *job);
void ina_plan_job(struct ina_job *job, struct stream_plan *plan);
void ina_stop_workers(struct ina_job *job); /* off their NICs; may be called twice */
void ina_end(struct ina_job *job);          /* does ina_stop_workers(), too */

#endif
