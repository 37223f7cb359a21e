/* What every scheme in switches needs besides its algorithm: packets that find their job, workers
 * with a turn at their NICs, a tree of switches and their memory, the life of a job, reports.
 *
 * A scheme's structs have those of this header as first member, `base`; one const struct ina_ops
 * says what the scheme does. The kit allocates the structs, zeroed:
 *
 *     struct my_worker { struct ina_worker base; ... };
 *     struct my_node { struct ina_node base; ... };    a switch of the job's tree
 *
 * The life of a job (a scheme needs pull() and ops.protocol of this, and may leave out the rest):
 *
 *     start()       the kit builds the tree, and takes memory() or calls admit(); without room the
 *                   job waits
 *                   the kit makes workers, exact sums, tensors, and the job's number in packets
 *                   begin(): what else the scheme needs
 *     contribute()  at a worker; then pull() by its NIC, packets by ops.protocol, ina_complete()
 *     finish()      the kit takes the workers off their NICs; end() undoes begin()
 *                   withdraw() undoes admit()
 *
 * In the fluid fidelity there is admit(), then plan(), then withdraw().
 *
 * tests/model/example_scheme.c is a whole scheme, switchml/ one with recovery. */
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

/* `scheme`, `job` and `worker` are the scheme's own structs. */
struct ina_ops {
	const char *title;  /* in reports: "SwitchML" */
	const char *number; /* what the number in ina_violated() counts; NULL = "chunk" */
	/* Sizes of the scheme's structs; 0 = the scheme uses the struct of this header. */
	size_t scheme_size, job_size, worker_size, node_size;
	/* Packets at switches and hosts; `self` is the scheme. */
	struct protocol_ops protocol;
	nic_source_pull *pull; /* a worker's next packet; `owner` is the worker */

	struct why_bypass bypass; /* for --why */
	bool own_flows; /* `flow` of packets is not ina_job.number: the scheme calls why_join() */
	/* Optional: jobs have one tree, whose root is drawn from the random stream of this name. */
	const char *root;
	/* Optional, with root: jobs with the same number that span the same switches share a root.
	 * Without this member each draws its own. */
	uint64_t (*tree_number)(const struct ina_job *job);
	/* With root: only the root must add. Other switches of the tree that add nothing up let
	 * packets pass (tree_let_pass()): at_switch() sends them on by ina_pass(). If this is
	 * false, all switches of the tree must add, or the job is refused. */
	bool passes_by;
	/* admit(), not the kit, decides on a job whose tree has a switch that must add and does
	 * not. */
	bool admits_passing;
	/* Optional: bytes that a job takes at a switch of its tree, by ina_reserve(). */
	bytes (*memory)(const void *job, const struct tree_node *place);
	/* Optional: the reason for refusing a job that needs more memory than a switch has, in
	 * place of a general text. */
	const char *too_large;
	/* Optional, instead of ina_reserve(): takes what the job needs. False when too little is
	 * free now: then nothing is taken. If there will never be enough, sets *never, which was
	 * NULL, to the reason. */
	bool (*admit)(void *job, const char **never);
	/* Optional, instead of giving back memory(). */
	void (*withdraw)(void *job);
	/* Optional: the job as streams, once admitted. Required for ina_plan(). */
	void (*plan)(void *job, struct stream_plan *plan);
	/* Optional: `base` is complete, and no packet has been sent. It may set
	 * `base.source.deferrable` of the workers, for speed (net/nic.h). */
	void (*begin)(void *job);
	void (*end)(void *job);
	/* Optional: a worker has handed over chunks from `first` on. Without this member its NIC
	 * asks pull(). */
	void (*contribute)(void *worker, uint64_t first, uint64_t chunks);
	/* Optional: what a worker waits for, as text that follows "worker 3 (h3) "; false: it waits
	 * for nothing. Without this member it waits for results of the chunks handed over. */
	bool (*waits)(const void *worker, char *text, size_t size);
	/* Optional: adds to *stats what is not counted in `base.stats`. */
	void (*stats)(const void *job, struct collective_stats *stats);
	/* Optional: before the scheme is freed. */
	void (*close)(void *scheme);
	/* Optional, both or none: for runs that repeat themselves (core/repeat.h). period(): the
	 * number of chunks after which slots and the like are used in the same way again; at least
	 * as many as are in flight. repeat(): goes through the state of the job that the kit does
	 * not know. */
	uint64_t (*period)(const void *job);
	void (*repeat)(void *job, struct repeat *repeat);
};

/* --- numbers that packets carry --- */

struct ina_registry {
	void **entries; /* by number; NULL: the job is over, and late packets find nobody */
	size_t count, capacity;
};

/* Returns the number of a new entry. */
uint32_t ina_enter(struct ina_registry *registry, void *entry);

static inline void *ina_find(const struct ina_registry *registry, uint32_t number)
{
	return registry->entries[number];
}

/* --- the scheme in a run --- */

struct ina_format {
	uint32_t frame;    /* bytes of a packet, FCS included */
	uint32_t elements; /* in a packet, and so in a chunk */
	bytes memory;      /* of a switch, for aggregation */
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
	char **refusals;                  /* by switch: texts of ina_refusal(); NULL = none yet */
};

/* The scheme, with ops->scheme_size bytes. `ops` and `conf` outlive it. */
void *ina_open(const struct ina_ops *ops, const struct model_env *env, const void *conf,
	       struct ina_format format);

/* --- jobs and workers --- */

struct ina_worker {
	struct ina_job *job;
	struct nic_source source;
	uint32_t number, host;
	uint64_t results; /* number of chunks whose sum it has */
};

struct ina_tree {
	struct tree *tree;
	uint32_t *node_of_switch; /* index in tree->nodes, of the switches on the tree */
};

struct ina_job {
	struct ina_scheme *scheme;
	struct collective_job spec; /* a copy of what the scheme was given */
	uint32_t number;            /* in scheme->jobs; spec.number is the run's */
	struct exact exact;
	struct tensors tensors;
	void *workers; /* spec.workers structs of worker_size bytes, aligned to a line of cache */
	size_t worker_size;
	struct collective_stats stats; /* what the scheme counts at hosts */
	struct repeat_stream stream;   /* of its chunks */
	/* The number of a failure (net/outage.h counts them): only later ones concern the job. It
	 * is the last one before the job began or, where links of its tree were down by then, the
	 * last one before any of these failed. */
	uint64_t failures;
	uint64_t mark; /* results of worker 0 at which to look for repetition; UINT64_MAX = none */
	uint32_t *worker_of_host; /* by host; UINT32_MAX = none */
	/* With ops->root, from admit() on: */
	struct ina_tree tree;
	void *nodes; /* by node of the tree, of node_size bytes */
	size_t node_size;
};

static inline struct ina_worker *ina_worker(const struct ina_job *job, uint32_t w)
{
	return (struct ina_worker *)((char *)job->workers + w * job->worker_size);
}

/* The worker on a host that a packet of the job has reached. */
static inline void *ina_worker_on(const struct ina_job *job, uint32_t host)
{
	return ina_worker(job, job->worker_of_host[host]);
}

/* The worker has packets: its NIC calls pull(), perhaps at once. */
static inline void ina_wake(struct ina_worker *worker)
{
	nic_wake(&worker->job->scheme->env.topo->net.nics[worker->host], &worker->source);
}

/* Chunks that the worker has handed over. */
static inline uint64_t ina_available(const struct ina_worker *worker)
{
	return tensors_available(&worker->job->tensors, worker->number);
}

/* For protocol_ops.ahead: fetches a whole struct into the cache. */
static inline void ina_prefetch(const void *from, size_t size)
{
	for (size_t at = 0; at < size; at += 64)
		__builtin_prefetch((const char *)from + at);
}

/* Breaks the run off, because a rule of the scheme does not hold at a node of the network. `number`
 * is that of the chunk, or of what ops->number names. */
void ina_violated(const struct ina_job *job, uint32_t node, uint64_t number, const char *what);
void ina_violated_at_switch(const struct ina_job *job, uint32_t sw, uint64_t number,
			    const char *what);

/* Is `value` the sum of all contributions to the chunk? If not, the run breaks off. */
static inline bool ina_holds(const struct ina_worker *worker, uint64_t chunk, uint64_t value)
{
	if (exact_holds(&worker->job->exact, chunk, value))
		return true;
	ina_violated(worker->job, worker->host, chunk, "a wrong sum");
	return false;
}

/* How many results worker 0 gets from one mark to the next. */
uint64_t ina_mark_distance(const struct ina_job *job);

/* Worker 0 has as many results as job->mark says. */
void ina_mark(struct ina_job *job);

/* The worker has the sum of a chunk, for the first time; tells the job when a tensor is whole. The
 * job may then hand over the next one, so call this when the worker's own state is up to date. */
static inline void ina_complete(struct ina_worker *worker, uint64_t chunk)
{
	struct ina_job *job = worker->job;
	uint64_t tensor;

	if (__builtin_expect(++worker->results == job->mark, 0) && !worker->number)
		ina_mark(job);
	if (tensors_result(&job->tensors, worker->number, chunk, &tensor))
		job->spec.done(job->spec.owner, worker->number, tensor);
}

/* Fills in the worker's contribution to a chunk, except its route, its place below a switch
 * (`source`) and what is the scheme's own. */
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

/* For protocol_ops.about. ina_about() is for packets whose `flow` is the job's number, and
 * ina_about_slot() for those whose `slot` is the index of an aggregator, too. Other schemes find
 * the job themselves, and ina_about_job() fills in what is the same for all. */
bool ina_about(const void *scheme, const struct packet *packet, struct packet_about *about);
bool ina_about_slot(const void *scheme, const struct packet *packet, struct packet_about *about);
void ina_about_job(const struct ina_job *job, const struct packet *packet,
		   struct packet_about *about);

/* --- trees and the memory of their switches --- */

void ina_tree_init(struct ina_tree *tree, struct ina_job *job, uint32_t root);
void ina_tree_release(struct ina_tree *tree);

/* For collective_ops.intact, of one of a job's trees. */
bool ina_tree_intact(const struct ina_job *job, const struct tree *tree, bool links);

/* For schemes that never send again: whether a link of the tree has failed since the job began. */
bool ina_tree_failed(const struct ina_job *job, const struct tree *tree);

/* A switch of the tree with this root that must add up and does not (topology_aggregates());
 * TREE_NONE: none. */
uint32_t ina_passing(const struct ina_job *job, uint32_t root);

/* Why a job never runs. Either the tree of every root has a switch that must add up and does not,
 * and `sw` is one; or `sw` adds up, but has too little memory of its own (topology_memory()). */
const char *ina_refusal(struct ina_scheme *scheme, uint32_t sw);

/* The text in `what` of struct collective_actual, for jobs with switches that only forward. */
extern const char ina_adding[];

/* Why a job never runs: failures have left no tree, or no way to a server. */
extern const char ina_no_tree[], ina_no_server[];

/* Takes ops.memory() at each switch of the job's tree. False if one has too little left: then none
 * is taken. */
bool ina_reserve(const struct ina_job *job);

/* For ops.plan: one stream over the job's tree, with `window` chunks in flight at most. */
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

/* The node at a switch that a packet of the job has reached. */
static inline void *ina_node_at(const struct ina_job *job, uint32_t sw)
{
	return ina_node(job, job->tree.node_of_switch[sw]);
}

/* One more packet leaves by these ports. The array must outlive the event. */
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

/* At a switch that passes: a contribution goes up, a result down to all children. This needs no
 * scheme: any switch that forwards by addresses and multicast groups does it, if the job's group
 * has the ports to the children. */
static inline void ina_pass(struct switch_actions *actions, const struct ina_node *node,
			    const struct packet *packet)
{
	if (packet->flags & PACKET_RESULT)
		ina_send_down(actions, node, packet);
	else
		ina_send_up(actions, node, packet);
}

/* The sum of all children leaves a node: up or, from the root, as the result to all. */
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

/* Goes through a (partial) sum of a chunk. Compared are the chunk's number relative to the job's
 * stream and, as the value differs from chunk to chunk, the summed weights of the workers that are
 * in it. */
void ina_repeat_sum(struct ina_job *job, struct repeat *repeat, uint64_t *chunk, uint64_t *value);

/* Members of struct protocol_ops, if `flow` is the job's number and `seq` is the chunk. */
const struct repeat_stream *ina_stream(const void *scheme, const struct packet *packet);
void ina_repeat_packet(void *scheme, struct repeat *repeat, struct packet *packet);

/* --- members of struct collective_ops --- */

void ina_close(void *scheme);
void *ina_start(void *scheme, const struct collective_job *spec, const char **never);
void ina_contribute(void *instance, uint32_t worker, bytes size);
void ina_finish(void *instance);
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

#define INA_OPS                                                                                    \
	.close = ina_close, .start = ina_start, .contribute = ina_contribute,                      \
	.finish = ina_finish, .stats = ina_stats, .received = ina_received,                        \
	.report_waiting = ina_report_waiting

/* For a scheme with ops.plan(). */
#define INA_PLAN_OPS .plan = ina_plan, .withdraw = ina_withdraw

/* The steps of ina_start() and ina_finish(), for a scheme that does something in between.
 * ina_admit() returns NULL as start() does; ina_withdraw() undoes it. */
void *ina_admit(void *scheme, const struct collective_job *spec, const char **never);
void ina_begin(struct ina_job *job);
void ina_stop_workers(struct ina_job *job); /* off their NICs; may be called twice */
void ina_end(struct ina_job *job);          /* does ina_stop_workers(), too */

#endif
