/* SHARP: in-network all-reduce, reduce-scatter and all-gather of InfiniBand switches. Graham et
 * al., "Scalable Hierarchical Aggregation Protocol (SHArP)", COM-HPC 2016, and "Scalable
 * Hierarchical Aggregation and Reduction Protocol (SHARP): Streaming-Aggregation Hardware Design
 * and Evaluation", ISC 2020; limits and defaults from NVIDIA's documents of SHARP 2.6 to 3.12.
 *
 * Modelled:
 * - the aggregation manager. Each job has a tree of its own (dynamic), or jobs share k trees
 *   (static): the manager then takes the first available tree, beginning with that of the job's
 *   number. A job takes its quota of the OSTs of each switch, and a tree for streams;
 * - LLT: an operation of less than `threshold` bytes takes an OST for each packet, from when a host
 *   sends the packet until it has the result. So there are no more packets in flight than OSTs;
 * - SAT: a larger operation streams. Switches keep a window of sums and one of results, and credits
 *   stop a child that runs ahead. A sum is kept until the parent has it, a result until all
 *   children have it, as senders of reliable connections keep what is not acknowledged. So a place
 *   is free again after two round trips over a hop, however high the tree is (time_of_place());
 * - locks of static trees, for a job's life or by operation. While a job waits for its slowest
 *   rank it holds the lock, and other jobs wait. Trees that share no switch are locked separately;
 * - hops: each is reliable and in order, by acknowledgements, NAKs and go-back-N with a timer, as
 *   reliable connections are. Credits are in these messages and protect the memory of nodes. PAUSE
 *   protects queues;
 * - results: by multicast, as fast as switches forward, or hop by hop, each node taking `latency`.
 *   Either way nodes keep results, and repair losses on the next hop;
 * - reduce-scatter and all-gather (since 3.5). A result goes down only towards its owner, and a
 *   shard up only from its owner, so each of the two loads one direction of the links. The own
 *   piece is sent, too, and the own shard comes back. Each has a tree, OSTs and locks of its own,
 *   because NCCL's plugin makes a SHARP job for each communicator (nccl-rdma-sharp-plugins,
 *   sharp_coll_init() in ncclSharpConnect()). In one communicator, as PyTorch's FSDP2 has by
 *   default (pytorch PR 186335), they would take turns;
 * - a job that gets no OSTs: it runs a ring on hosts for its life (`ran_as` says what it lacked). A
 *   job that gets no tree does so, too, or runs without streams, or waits (`without_lock`).
 *
 * Simplified: frames are those of Ethernet; the lock takes `lock_time` and no packets; operations
 * above 1 GiB, which the library splits, are not split; groups and queue pairs have no quota; a
 * switch that adds several sums at once takes no longer; a packet has up to 2,048 bytes in LLT and
 * in SAT. Nodes send one packet of a job at a time in each direction. ECN marks have no effect: a
 * lossless network has PAUSE. Reduce-scatters and all-gathers below `threshold` take OSTs, too,
 * where UCC leaves them to hosts (tl_sharp_coll.c). All switches of a tree must have SHARP. Else a
 * job is refused; an all-gather, whose job has already begun, runs on hosts. */
#include "ina/sharp/sharp.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

extern const struct collective_ops ring_collective; /* models/collective/ring.c, steps.c */
extern const struct collective_ops reduce_scatter_collective, all_gather_collective;
extern const struct conf_table ring_table;

static const char *const lock_names[] = { "exclusive", "operation", NULL };
static const char *const without_names[] = { "hosts", "llt", "wait", NULL };
static const char *const results_names[] = { "multicast", "hop", NULL };
static const struct conf_row below_rows[] = { CONF_APART("ring", 0, &ring_table), { 0 } };
static const struct conf_table below_table = { "sharp_below", below_rows, sizeof(void *), NULL };

static const struct conf_row rows[] = {
	CONF_INT("osts", struct sharp_conf, osts, "768", 1, 65536,
		 "Outstanding transactions (OSTs) of a switch. Each buffers a packet of an "
		 "operation.",
		 "derived: jobs are given 23 in logs of users (nccl-rdma-sharp-plugins issue 151, "
		 "nccl issue 1219), which is 3 % of 767 to 799; documents have no number"),
	CONF_REAL("quota", struct sharp_conf, quota, "0.03", 1e-6, 1,
		  "Share of a switch's OSTs that a job takes, rounded down, but at least one. If a "
		  "switch has too few left, the job runs a ring on hosts.",
		  "SHARP 3.0.0, per_prio_default_sat_quota: 3 % for a job with streams; "
		  "per_prio_default_quota: 20 % for one without"),
	CONF_INT("elements_per_packet", struct sharp_conf, packets.elements, "256", 1, 512,
		 "32-bit elements in a packet, and in an OST.",
		 "SHARP_COLL_JOB_QUOTA_PAYLOAD_PER_OST: 1,024 bytes at most; Quantum has 2,048"),
	CONF_INT("header", struct sharp_conf, packets.header, "56", 20, 200,
		 "Bytes of a frame besides the elements.", "our choice: as shards"),
	CONF_BYTES("threshold", struct sharp_conf, threshold, "16384B", 0, UINT64_C(1) << 40,
		   "Operations of at least so many bytes, in whole packets, stream (SAT); smaller "
		   "ones take OSTs (LLT).",
		   "SHARP_COLL_SAT_THRESHOLD; by default above 16 KiB (UCC, tl_sharp_coll.c)"),
	CONF_BYTES("window", struct sharp_conf, window, "256KB", 1, UINT64_C(1) << 32,
		   "Bytes of sums, and as many of results, that a switch keeps of a stream; at "
		   "least two packets.",
		   "our choice: 10 us at 200 Gbps"),
	CONF_INT("trees", struct sharp_conf, trees, "0", 0, 1024,
		 "Number of static trees, which jobs share: each job takes one that nobody streams "
		 "over, if there is one; 0: each job has a tree of its own (dynamic).",
		 "SHARP 3.4: dynamic trees by default"),
	CONF_INT("sat_trees", struct sharp_conf, sat_trees, "8", 1, 1024,
		 "Number of dynamic trees for which a switch has room; static trees must be as "
		 "many or fewer.",
		 "our choice; SHARP 2.6.1: Quantum has one stream, two on request; of Quantum-2 "
		 "documents have no number"),
	CONF_ENUM(
		"lock", struct sharp_conf, lock, "exclusive", lock_names,
		"How long a job locks a static tree: for its life, or for each operation that "
		"streams.",
		"SHARP 3.0.0: exclusive lock mode by default; else SHARP_COLL_SAT_LOCK_BATCH_SIZE "
		"(1 for several tenants)"),
	CONF_ENUM(
		"without_lock", struct sharp_conf, without_lock, "hosts", without_names,
		"What a job does that gets no tree or no exclusive lock at its start: run a ring "
		"on hosts, do without streams, or wait.",
		"SHARP_COLL_LOCK_ON_COMM_INIT: \"Return failure if failed to lock\"; NCCL goes on "
		"with a ring then"),
	CONF_TIME("lock_time", struct sharp_conf, lock_time, "2us", 0, PS_PER_S,
		  "Time from when a lock is free until ranks know that they have it.",
		  "our choice: a message up the tree and one down"),
	CONF_TIME("latency", struct sharp_conf, latency, "100ns", 0, PS_PER_S,
		  "Time from the packet that completes a sum until the sum leaves, besides the "
		  "switch's own latency.",
		  "our choice"),
	CONF_ENUM("results", struct sharp_conf, results, "multicast", results_names,
		  "Results go down by multicast, or hop by hop, where each node adds `latency`.",
		  "SHARP 3.2.0: reliable multicast; SHARP_COLL_ENABLE_MCAST_TARGET"),
	CONF_TIME("timeout", struct sharp_conf, timeout, "1ms", PS_PER_US, 100 * PS_PER_S,
		  "Retransmission timeout of a hop.", "our choice"),
	CONF_OBJECT("below", struct sharp_conf, below, "{}", &below_table,
		    "Parameters of the ring that jobs without resources run.", "our choice"),
	{ 0 },
};
extern const struct conf_table sharp_table; /* named by collective/schemes.c */
const struct conf_table sharp_table = {
	"sharp", rows, sizeof(struct sharp_conf),
	"SHARP: all-reduce, reduce-scatter, all-gather by InfiniBand's switches."
};

static struct collective_burst sharp_burst(const void *self, const struct topology_conf *topology,
					   uint32_t ports)
{
	(void)topology, (void)ports;
	return (struct collective_burst){ ((const struct sharp_conf *)self)->latency, 2 };
}

static void sharp_check(const void *self, const struct topology_conf *topology,
			struct conf_doc *doc, const char *scheme)
{
	const struct sharp_conf *conf = self;

	(void)topology;
	if (conf->trees > conf->sat_trees)
		conf_error(doc, conf_at(doc, "/schemes/%s/trees", scheme),
			   "a switch has room for %" PRId64
			   " trees (\"sat_trees\"), found %" PRId64,
			   conf->sat_trees, conf->trees);
}

static size_t sharp_idle(const void *self, struct collective_idle list[COLLECTIVE_IDLE_MAX])
{
	const struct sharp_conf *conf = self;
	size_t count = 0;

	if (!conf->trees) {
		list[count++] = (struct collective_idle){ "lock", "dynamic trees need no lock" };
		list[count++] =
			(struct collective_idle){ "lock_time", "dynamic trees need no lock" };
	} else if (conf->lock == SHARP_OPERATION) {
		list[count++] =
			(struct collective_idle){ "without_lock",
						  "jobs always wait for a lock by operation" };
	} else {
		list[count++] =
			(struct collective_idle){ "lock_time",
						  "an exclusive lock comes with the job's start" };
	}
	return count;
}

/* --- packets --- */

static void sharp_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			    struct switch_actions *actions)
{
	struct sharp *job = ina_job_of(self, packet);

	if (job) /* else the job is over */
		sharp_at_node(ina_node_at(&job->base, sw), back, packet, actions);
}

static void sharp_at_host(void *self, uint32_t host, const struct packet *packet)
{
	const struct sharp *job = ina_job_of(self, packet);

	if (job)
		sharp_deliver(ina_worker_on(&job->base, host), packet);
}

/* --- jobs --- */

static void sharp_begin(void *self)
{
	struct sharp *job = self;

	job->size = job->streams ? sharp_size(sharp_conf(job)) : job->osts;
	job->mask = 1;
	while (job->mask < job->size)
		job->mask *= 2;
	job->mask--;
	sharp_lock_open(job);
	sharp_nodes_begin(job);
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		sharp_worker_begin((struct sharp_worker *)ina_worker(&job->base, w));
}

static void sharp_end(void *self)
{
	struct sharp *job = self;

	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		sharp_worker_end((struct sharp_worker *)ina_worker(&job->base, w));
	sharp_nodes_end(job);
	sharp_lock_close(job);
}

static void *sharp_start(void *self, const struct collective_job *spec, const char **never)
{
	struct sharp_scheme *scheme = self;
	struct sharp *job = sharp_choose_tree(scheme, spec, never);

	if (!job)
		return NULL;
	job->kind = scheme->kind;
	ina_begin(&job->base);
	return job;
}

static void *start_reduce_scatter(void *self, const struct collective_job *spec, const char **never)
{
	return sharp_start(((struct sharp_scheme *)self)->parts[SHARP_REDUCE_SCATTER], spec, never);
}

static void *start_all_gather(void *self, const struct collective_job *spec, const char **never)
{
	return sharp_start(((struct sharp_scheme *)self)->parts[SHARP_ALL_GATHER], spec, never);
}

/* A job streams as a whole or not: by the gradients of an iteration. */
static bool plan_streams(const struct sharp *job)
{
	return job->streams && job->base.spec.gradients >= sharp_conf(job)->threshold;
}

static struct plan_path hop_and_back(const struct network *net, uint32_t port, uint32_t frame)
{
	struct plan_path hop = { 0 };

	plan_path_add(&hop, net, port, frame);
	plan_path_add(&hop, net, net->cold[port].reverse, frame);
	return hop;
}

/* How long a chunk occupies a place of a node: its sum goes up a hop and is acknowledged, then the
 * child below learns of the room and sends the next. The root's result goes down a hop instead. */
static sim_time time_of_place(const struct sharp *job)
{
	const struct network *net = &job->base.scheme->env.topo->net;
	const struct tree *tree = job->base.tree.tree;
	uint32_t frame = job->base.scheme->frame;
	struct plan_path longest = { 0 }, hop;

	for (uint32_t w = 0; w < job->base.spec.workers; w++) { /* host h sends on port h */
		hop = hop_and_back(net, job->base.ports[w], frame);
		plan_path_longest(&longest, &hop);
	}
	for (uint32_t n = 0; n < tree->node_count; n++)
		if (tree->nodes[n].parent != TREE_NONE) {
			hop = hop_and_back(net, tree->nodes[n].up_port, frame);
			plan_path_longest(&longest, &hop);
		}
	return 2 * longest.sum + sharp_conf(job)->latency;
}

/* Of a stream each node keeps `size` chunks. Without a stream, hosts have as many chunks in flight
 * as the job has OSTs. */
static void sharp_plan_job(void *self, struct stream_plan *plan)
{
	const struct sharp *job = self;
	bool streams = plan_streams(job);
	uint64_t size = streams ? sharp_size(sharp_conf(job)) : job->osts;

	ina_plan_tree(&job->base, size, plan);
	if (streams)
		plan->streams[0].cap = plan_window_rate(&plan->streams[0].packets, (double)size,
							time_of_place(job));
}

static void *sharp_plan(void *self, const struct collective_job *spec, struct stream_plan *plan,
			const char **never)
{
	struct sharp *job = sharp_choose_tree(self, spec, never);

	if (!job)
		return NULL;
	if (plan_streams(job) && !job->owns) {
		*never = "locks by operation exist in packets only (\"fidelity\")";
		ina_withdraw(job);
		return NULL;
	}
	ina_plan_job(&job->base, plan);
	return job;
}

static struct collective_actual sharp_ran_as(const void *instance)
{
	return ((const struct sharp *)instance)->actual;
}

/* --- the scheme --- */

static void sharp_close(void *self)
{
	struct sharp_scheme *scheme = self;

	ina_close(scheme->parts[SHARP_REDUCE_SCATTER]);
	ina_close(scheme->parts[SHARP_ALL_GATHER]);
	ring_collective.close(scheme->base.on_hosts);
	free(scheme->at);
	free(scheme->places);
	ina_close(scheme);
}

#define KIND(kind, protocol_name, ...)                                                             \
	static const struct ina_ops kind##_ops = {                                                 \
		.title = "SHARP",                                                                  \
		.size = { .scheme = sizeof(struct sharp_scheme),                                   \
			  .job = sizeof(struct sharp),                                             \
			  .worker = sizeof(struct sharp_worker),                                   \
			  .node = sizeof(struct sharp_node) },                                     \
		.protocol = { .name = protocol_name,                                               \
			      .flags = { "ack", "ask" },                                           \
			      .deliver = sharp_at_host,                                            \
			      .at_switch = sharp_at_switch,                                        \
			      .about = ina_about,                                                  \
			      .stream = sharp_stream,                                              \
			      .repeat = sharp_repeat_packet,                                       \
			      .repeats_own = true },                                               \
		.pull = sharp_pull,                                                                \
		.bypass = { .switches_wait = true },                                               \
		.root = "sharp root",                                                              \
		.admit = sharp_admit,                                                              \
		.withdraw = sharp_withdraw,                                                        \
		.plan = sharp_plan_job,                                                            \
		.begin = sharp_begin,                                                              \
		.end = sharp_end,                                                                  \
		.waits = sharp_waits,                                                              \
		.period = sharp_period,                                                            \
		.repeat = sharp_repeat_job,                                                        \
		__VA_ARGS__                                                                        \
	}

KIND(all_reduce, "sharp", .on_hosts = &ring_collective);
KIND(reduce_scatter, "sharp_scatter", .pieces = true, .on_hosts = &reduce_scatter_collective);
KIND(all_gather, "sharp_gather", .pieces = true, .on_hosts = &all_gather_collective);

static struct sharp_scheme *open_kind(enum sharp_kind kind, struct sharp_scheme *main,
				      const struct model_env *env, const void *self)
{
	static const struct ina_ops *const kinds[] = { &all_reduce_ops, &reduce_scatter_ops,
						       &all_gather_ops };
	const struct sharp_conf *conf = self;
	struct sharp_scheme *scheme = ina_open(kinds[kind], env, conf,
					       (struct ina_format){ .memory = sharp_memory(conf) });

	scheme->kind = kind;
	scheme->main = main ? main : scheme;
	return scheme;
}

static const struct transport *transport(const void *conf)
{
	return ring_collective.transport(((const struct sharp_conf *)conf)->below[0]);
}

static void *sharp_open(const struct model_env *env, const void *self)
{
	const struct sharp_conf *conf = self;
	uint32_t switches = env->topo->net.switches;
	struct sharp_scheme *scheme = open_kind(SHARP_ALL_REDUCE, NULL, env, self);

	scheme->base.on_hosts = ring_collective.open(env, conf->below[0]);
	for (unsigned k = SHARP_REDUCE_SCATTER; k <= SHARP_ALL_GATHER; k++) {
		scheme->parts[k] = open_kind(k, scheme, env, self);
		scheme->parts[k]->base.on_hosts = scheme->base.on_hosts;
	}
	scheme->at = xcalloc(switches, sizeof(*scheme->at));
	/* dynamic trees need no places, but the array must not be empty */
	scheme->places = xcalloc((size_t)(conf->trees ? conf->trees : 1) * switches,
				 sizeof(*scheme->places));
	return scheme;
}

#define COLLECTIVE                                                                                 \
	.name = "sharp", .contribute = ina_contribute, .finish = ina_finish, .intact = ina_intact, \
	.stats = ina_stats, .ran_as = sharp_ran_as, .received = ina_received,                      \
	.report_waiting = ina_report_waiting

static const struct collective_ops reduce_scatter = { .start = start_reduce_scatter, COLLECTIVE };
static const struct collective_ops all_gather = { .start = start_all_gather, COLLECTIVE };

const struct collective_ops sharp_collective = {
	COLLECTIVE,
	.help = "SHARP of InfiniBand: trees with quotas, short operations and locked streams",
	.table = &sharp_table,
	.idle = sharp_idle,
	.burst = sharp_burst,
	.frame = ina_frame,
	.payload = ina_payload,
	.check = sharp_check,
	.transport = transport,
	.traits.one_memory = "needs the same memory in all switches (\"osts\", trees)",
	.open = sharp_open,
	.close = sharp_close,
	.start = sharp_start,
	.plan = sharp_plan,
	.withdraw = ina_withdraw,
	.traits.tolerance = { .one_switch = 0.02, .tiers = 0.02, .together = 0.05 },
	.memory = ina_memory,
	.repeat = sharp_repeat,
	.reduce_scatter = &reduce_scatter,
	.all_gather = &all_gather,
};
