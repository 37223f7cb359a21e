/* PANAMA: Gebara, Costa and Ghobadi, "In-Network Aggregation for Shared Machine Learning Clusters",
 * MLSys 2021. Also its SwitchML* (section 7): the same without congestion control.
 *
 * Modelled: the controller (N trees over different roots, state in accelerators, the 40-MB rule);
 * chunks round-robin over trees; accelerators with a FIFO per port and tree, Expected_VID, OR of
 * ECN marks, wnd_cap, FIN; the window of figure 5 per tree; the latency of an accelerator by
 * equation 3, the rate of its ports by equation 1; partial sums (PANAMA-0.88, -0.94); aggregation
 * and other packets in the same egress queues with the same ECN threshold.
 *
 * Simplified:
 * - other packets, and results on their way down, take no time in an accelerator (table 1: 957.5 ns
 *   for 1500 bytes). A user may add that time to topology.switch.latency, whose default leaves it
 *   out;
 * - without recovery, a worker's last packet on a tree has FIN if the worker has handed over the
 *   last tensor by then. If that tensor is too short to use a tree, the tree may get no FIN, and
 *   its accelerators count the job until it ends;
 * - the FIFOs of a switch's ports are one row per VID (panama_switch.c);
 * - loading state into accelerators takes the controller's latency and no packets; conversion on
 *   hosts takes no time;
 * - switches send PAUSE, accelerators do not. Without PAUSE, queues need room
 *   (topology.switch.buffer) or the job needs `recovery`. With PAUSE, a sum is charged to an input
 *   port when it leaves the accelerator, so the headroom includes the accelerator's latency
 *   (panama_burst()). With a fraction, at most two sums leave because one packet came, the others
 *   by a timer (panama_backlog.c);
 * - an accelerator whose memory is full drops a packet, unless the packet completes a sum, or lets
 *   incomplete ones go. With neither a fraction nor recovery, memory gets full only when another
 *   job has come and windows have not shrunk yet.
 *
 * Left open by the paper, and our reading:
 * - gradients are added in the order of children at every switch, so float results are the same in
 *   every run and at all workers. The model adds integers, which commute;
 * - wnd_cap is "packet_memory/num_jobs"; memory belongs to ports, and a job's trees at a switch
 *   share its part: memory / ports / jobs / trees / packet size. With `recovery` each tree counts
 *   twice there; where machines have several NICs, a job counts once for each;
 * - one FIFO per port and tree, not per port: jobs do not block each other;
 * - chunks may overtake each other on different trees (`order`): section 4.2.2 wants trees
 *   independent, and we read the order of section 4.1 as that of the first packets;
 * - the fraction counts workers, at every accelerator. The last packet of a tensor waits for all
 *   (fraction_last), or a slow worker would fall behind by iterations. A root may go on without a
 *   whole switch below it. Windows then do not bound that switch's FIFOs, which may overflow if
 *   memory and fraction are small. There is no recovery with a fraction;
 * - roots are drawn from all cores alike. In a fat tree, trees over cores of one group share the
 *   first link up from a rack, so four trees may use four such links or one. The paper wants
 *   several paths, and does not say how its trees are kept apart below the core;
 * - appendix A gives the rate of a port (equation 1), and one tree of adders that takes a word of
 *   every port in a cycle. So sums whose packets came by different ports do not wait for each
 *   other. Packets wait for a slow port after the FIFOs, and take no memory there;
 * - only_tree wraps around where there are fewer roots than trees;
 * - the 40-MB rule is about the gradients of an iteration; smaller jobs run a ring;
 * - recovery from loss: see panama_recovery.c. */
#include "ina/panama/panama.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

extern const struct collective_ops ring_collective; /* models/collective/ring.c */

/* --- packets --- */

static void panama_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			     struct switch_actions *actions)
{
	const struct panama_scheme *scheme = self;
	struct panama_sequence *sequence = ina_find(&scheme->sequences, packet->flow);

	if (sequence) /* else the job is over */
		panama_at_node(sequence, &sequence->nodes[sequence->node_of_switch[sw]], back,
			       packet, actions);
}

static void panama_deliver(void *self, uint32_t host, const struct packet *packet)
{
	const struct panama_scheme *scheme = self;
	struct panama_sequence *sequence = ina_find(&scheme->sequences, packet->flow);

	if (sequence)
		panama_worker_result(ina_worker_on(&sequence->job->base, host), sequence, packet);
}

/* --- looking ahead, for speed only --- */

static void panama_worker_ahead(const struct panama_sequence *sequence, uint32_t host, bool again)
{
	const struct panama_job *job = sequence->job;
	const struct panama_worker *worker = ina_worker_on(&job->base, host);
	const struct tensor_reader *reader = &job->base.tensors.readers[worker->base.number];

	if (again) {
		__builtin_prefetch(&worker->flows[sequence->tree]);
		__builtin_prefetch(reader->left);
		return;
	}
	ina_prefetch(worker, sizeof(*worker));
	__builtin_prefetch(reader);
}

static void node_ahead(const struct panama_sequence *sequence, uint32_t sw,
		       const struct packet *packet, bool again)
{
	const struct panama_node *node = &sequence->nodes[sequence->node_of_switch[sw]];
	const struct port *ports = sequence->job->base.scheme->env.topo->net.ports;

	if (!again) {
		ina_prefetch(node, sizeof(*node));
		return;
	}
	if (packet->flags & PACKET_RESULT) {
		for (uint32_t c = 0; c < node->children; c++)
			__builtin_prefetch(&ports[node->down_ports[c]]);
		return;
	}
	__builtin_prefetch(&node->rows[packet->seq & node->mask]);
	__builtin_prefetch(&node->next[packet->source]);
	__builtin_prefetch(node->accelerator);
	__builtin_prefetch(&ports[node->up_port]);
}

static void ahead(const void *self, uint32_t node, const struct packet *packet, bool again)
{
	const struct panama_scheme *scheme = self;
	const struct panama_sequence *sequence = ina_find(&scheme->sequences, packet->flow);
	uint32_t hosts = scheme->base.env.topo->net.hosts;

	if (!sequence)
		return;
	if (node < hosts)
		panama_worker_ahead(sequence, node, again);
	else
		node_ahead(sequence, node - hosts, packet, again);
}

/* --- memory --- */

static uint32_t max_sequences(const struct panama_accelerator *accelerator)
{
	uint32_t sequences = PANAMA_SEQUENCES_MAX;

	while (sequences && !accelerator->jobs_with[sequences])
		sequences--;
	return sequences;
}

/* Whether every job at this accelerator will have memory for a packet per port and sequence, after
 * a job with `sequences` sequences has come, next to the present jobs (`others`) or alone. */
static bool has_room(const struct panama_accelerator *accelerator, uint32_t sequences, bool others)
{
	uint64_t jobs = others ? accelerator->jobs + UINT64_C(1) : 1;

	if (others && max_sequences(accelerator) > sequences)
		sequences = max_sequences(accelerator);
	return accelerator->memory->memory_bytes / accelerator->ports / jobs / sequences >=
	       accelerator->scheme->base.frame;
}

/* The first switch of the job's trees that has no room for it; TREE_NONE: all have room. */
static uint32_t without_room(const struct panama_job *job, bool others)
{
	const struct panama_scheme *scheme = panama_scheme(job);

	for (uint32_t s = 0; s < scheme->base.env.topo->net.switches; s++)
		if (job->sequences_at[s] &&
		    !has_room(&scheme->accelerators[s], job->sequences_at[s], others))
			return s;
	return TREE_NONE;
}

static void open_sequence(struct panama_sequence *sequence, struct panama_job *job, uint32_t number)
{
	struct panama_scheme *scheme = panama_scheme(job);

	*sequence =
		(struct panama_sequence){ .job = job,
					  .number = ina_enter(&scheme->sequences, sequence),
					  .tree = number % job->tree_count,
					  .repair = number >= job->tree_count,
					  /* the tree has a repair sequence, too */
					  .half = number + job->tree_count < job->sequence_count };
	job->base.tensors.why =
		why_join(&scheme->base.env.topo->net, job->base.spec.number, job->base.spec.members,
			 scheme->base.protocol, sequence->number,
			 (struct why_bypass){ .switches_wait = true });
	sequence->node_count = job->trees[sequence->tree].tree->node_count;
	sequence->node_of_switch = job->trees[sequence->tree].node_of_switch;
	sequence->nodes = xaligned(64, sequence->node_count * sizeof(*sequence->nodes));
	for (uint32_t i = 0; i < sequence->node_count; i++) {
		panama_node_init(&sequence->nodes[i], sequence, i);
		if (job->open_at[sequence->nodes[i].accelerator->sw]++ == 0)
			panama_count_job(sequence->nodes[i].accelerator,
					 job->sequences_at[sequence->nodes[i].accelerator->sw],
					 true);
	}
	if (panama_conf(job)->fraction < 1) {
		sequence->partial = panama_partial_new(sequence);
		panama_backlog_open(sequence);
	}
}

static void close_sequence(struct panama_sequence *sequence)
{
	for (uint32_t i = 0; i < sequence->node_count; i++) {
		panama_node_over(sequence, &sequence->nodes[i]);
		panama_node_release(&sequence->nodes[i]);
	}
	panama_partial_free(sequence->partial);
	panama_backlog_close(sequence);
	free(sequence->nodes);
	panama_scheme(sequence->job)->sequences.entries[sequence->number] = NULL;
}

/* The least wnd_cap on the job's trees, which the controller tells the workers at the start. */
static uint32_t min_cap(const struct panama_job *job)
{
	uint32_t min = PANAMA_CAP_MAX;

	for (uint32_t s = 0; s < job->sequence_count; s++)
		for (uint32_t i = 0; i < job->sequences[s].node_count; i++) {
			uint32_t cap = panama_cap(&job->sequences[s], &job->sequences[s].nodes[i]);

			min = cap < min ? cap : min;
		}
	return min;
}

/* --- jobs --- */

static void panama_begin(void *self)
{
	struct panama_job *job = self;
	uint32_t cap;

	job->sequences = xcalloc(job->sequence_count, sizeof(*job->sequences));
	for (uint32_t s = 0; s < job->sequence_count; s++)
		open_sequence(&job->sequences[s], job, s);
	cap = min_cap(job);
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		panama_worker_init(panama_worker(job, w), cap);
	if (panama_conf(job)->recovery)
		panama_recovery_start(job, cap);
}

static void panama_end(void *self)
{
	struct panama_job *job = self;

	if (job->orders)
		panama_recovery_stop(job);
	for (uint32_t s = 0; s < job->sequence_count; s++)
		close_sequence(&job->sequences[s]);
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		panama_worker_release(panama_worker(job, w));
	free(job->sequences);
}

static const char *no_tree(const struct panama_job *job)
{
	uint32_t root =
		tree_root(job->base.scheme->env.topo, job->base.ports, job->base.spec.workers, 0);

	return root == TREE_NONE ? ina_no_tree
				 : ina_refusal(job->base.scheme, ina_passing(&job->base, root));
}

/* Builds the trees of a job that is not small, if their accelerators have memory for it. */
static bool panama_admit(void *self, const char **never)
{
	struct panama_job *job = self;
	uint32_t lacking;

	job->base.to_hosts = job->base.spec.gradients <= panama_conf(job)->threshold;
	if (job->base.to_hosts)
		return true;
	if (!panama_trees_build(job)) {
		*never = no_tree(job);
		return false;
	}
	if (without_room(job, true) == TREE_NONE)
		return true;
	lacking = without_room(job, false);
	if (lacking != TREE_NONE && topology_memory(job->base.scheme->env.topo, lacking))
		*never = ina_refusal(job->base.scheme, lacking);
	else if (lacking != TREE_NONE)
		*never = "the memory of an accelerator has no room for a packet of each tree at "
			 "each port";
	panama_trees_free(job);
	return false;
}

static void panama_withdraw_job(void *self)
{
	struct panama_job *job = self;

	if (!job->base.to_hosts)
		panama_trees_free(job);
}

/* --- as a plan --- */

static void panama_plan_job(void *job, struct stream_plan *plan)
{
	panama_plan_count(job, true);
	panama_plan_trees(job, plan);
}

static void panama_withdraw(void *admitted)
{
	if (!((const struct ina_job *)admitted)->to_hosts)
		panama_plan_count(admitted, false);
	ina_withdraw(admitted);
}

static bool panama_intact(const void *instance, bool links)
{
	const struct panama_job *job = instance;

	for (uint32_t t = 0; !job->base.on_hosts && t < job->tree_count; t++)
		if (!ina_tree_intact(&job->base, job->trees[t].tree, links) ||
		    (links && !panama_conf(job)->recovery &&
		     ina_tree_failed(&job->base, job->trees[t].tree)))
			return false;
	return true;
}

static const struct transport *panama_transport(const void *conf)
{
	return ring_collective.transport(((const struct panama_conf *)conf)->below[0]);
}

/* There are no more trees than possible roots: at most all switches of the highest tier or, in a
 * graph, all switches. */
static struct collective_actual
panama_runs_as(const void *self, const struct topology_conf *topology, bytes gradients)
{
	const struct panama_conf *conf = self;
	struct collective_actual actual = { .key = "trees",
					    .what = "trees",
					    .of = (uint64_t)conf->trees };
	struct topology_shape shape;

	if (gradients <= conf->threshold)
		return (struct collective_actual){ .scheme = ring_collective.name,
						   .key = "aggregate_above" };
	topology_shape(topology, &shape);
	for (uint32_t s = 0; s < shape.switches; s++)
		actual.has += topology->graph || shape.tiers[s] == topology_tiers(topology);
	topology_shape_release(&shape);
	return conf->only_tree || actual.has >= actual.of ? (struct collective_actual){ 0 }
							  : actual;
}

static struct collective_actual panama_ran_as(const void *instance)
{
	const struct panama_job *job = instance;
	const struct panama_conf *conf = panama_conf(job);

	if (job->base.on_hosts)
		return (struct collective_actual){ .scheme = ring_collective.name,
						   .key = "aggregate_above" };
	if (conf->only_tree || job->tree_count == conf->trees)
		return (struct collective_actual){ 0 };
	return (struct collective_actual){
		.key = "trees", .what = "trees", .has = job->tree_count, .of = (uint64_t)conf->trees
	};
}

static bytes min_memory(const struct panama_job *job)
{
	const struct panama_scheme *scheme = panama_scheme(job);
	bytes min = UINT64_MAX;

	for (uint32_t s = 0; s < scheme->base.env.topo->net.switches; s++)
		if (job->sequences_at[s] && scheme->base.memory[s].memory_bytes < min)
			min = scheme->base.memory[s].memory_bytes;
	return min;
}

static void report_overflows(const struct panama_job *job, FILE *to)
{
	const struct panama_conf *conf = panama_conf(job);
	const char *or_else = "";

	if (conf->recovery)
		or_else = ", or lower \"retransmission_timeout\"";
	else if (conf->fraction >= 1)
		or_else = ", or set \"recovery\" to true";
	fprintf(to,
		"  PANAMA job %" PRIu32 ": accelerators dropped %" PRIu64
		" of its packets because their memory of %" PRIu64
		" bytes was full: give them more (\"memory\"), let fewer jobs run at once%s\n",
		collective_job_number(&job->base.spec), job->overflows, min_memory(job), or_else);
}

static bool panama_waits(const void *self, char *text, size_t size)
{
	const struct panama_worker *worker = self;
	uint32_t t = 0, trees = panama_job(worker)->tree_count;
	int length = 0;

	while (t < trees && worker->flows[t].una == worker->flows[t].next)
		t++;
	if (t < trees)
		length = snprintf(text, size,
				  "waits for VID %" PRIu64 " of tree %" PRIu32 ", has sent %" PRIu64
				  "%s",
				  worker->flows[t].una, t + 1, worker->flows[t].next,
				  worker->lost ? " " : "");
	if (worker->lost)
		snprintf(text + length, size - (size_t)length,
			 "lacks %" PRIu64 " results, which will never come (recovery is off)",
			 worker->lost);
	return t < trees || worker->lost;
}

static size_t panama_report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct panama_job *job = instance;
	size_t lines = job->overflows && limit;

	if (lines)
		report_overflows(job, to);
	return lines + ina_report_waiting(instance, to, limit - lines);
}

/* --- the scheme --- */

static void panama_close(void *self)
{
	struct panama_scheme *scheme = self;

	for (uint32_t s = 0; s < scheme->base.env.topo->net.switches; s++)
		panama_delay_release(&scheme->accelerators[s]);
	ring_collective.close(scheme->base.on_hosts);
	free(scheme->sequences.entries);
	free(scheme->accelerators);
	ina_close(scheme);
}

static bool panama_about(const void *self, const struct packet *packet, struct packet_about *told)
{
	const struct panama_scheme *scheme = self;
	const struct panama_sequence *sequence = ina_find(&scheme->sequences, packet->flow);

	if (!sequence)
		return false;
	ina_about_job(&sequence->job->base, packet, told);
	told->chunk = panama_chunk_of(sequence, packet->seq);
	return true;
}

static const struct ina_ops ops = {
	.title = "PANAMA",
	.own_flows = true,
	.size = { .scheme = sizeof(struct panama_scheme),
		  .job = sizeof(struct panama_job),
		  .worker = sizeof(struct panama_worker) },
	.protocol = { .name = "panama",
		      .flags = { "all", "fin" },
		      .deliver = panama_deliver,
		      .at_switch = panama_at_switch,
		      .ahead = ahead,
		      .about = panama_about,
		      .stream = panama_stream,
		      .repeat = panama_repeat_packet },
	.pull = panama_pull,
	.admit = panama_admit,
	.withdraw = panama_withdraw_job,
	.on_hosts = &ring_collective,
	.plan = panama_plan_job,
	.begin = panama_begin,
	.end = panama_end,
	.contribute = panama_contribute,
	.waits = panama_waits,
	.period = panama_period,
	.repeat = panama_repeat_job,
};

static void *panama_open(const struct model_env *env, const void *self)
{
	const struct panama_conf *conf = self;
	struct panama_scheme *scheme =
		ina_open(&ops, env, conf, (struct ina_format){ .memory = conf->memory });
	const struct network *net = &env->topo->net;
	struct panama_latency latency = panama_accelerators(conf, env->topo->conf);

	scheme->window = conf->window;
	scheme->base.on_hosts = ring_collective.open(env, conf->below[0]);
	scheme->accelerators = xcalloc(net->switches, sizeof(*scheme->accelerators));
	for (uint32_t s = 0; s < net->switches; s++) {
		struct panama_accelerator *accelerator = &scheme->accelerators[s];

		accelerator->scheme = scheme;
		accelerator->memory = &scheme->base.memory[s];
		accelerator->sw = s;
		accelerator->ports = net->switch_nodes[s].ports;
		accelerator->latency =
			panama_latency(&latency, scheme->base.frame, accelerator->ports);
		accelerator->slow = panama_slow_port(&latency, scheme->base.frame,
						     topology_fastest(env->topo->conf));
		panama_delay_init(accelerator);
	}
	return scheme;
}

static void *switchml_star_open(const struct model_env *env, const void *conf)
{
	struct panama_scheme *scheme = panama_open(env, conf);

	scheme->window.fixed = true;
	return scheme;
}
#define OPS                                                                                        \
	.traits.messages = true, .close = panama_close, .start = ina_start,                        \
	.contribute = ina_contribute, .finish = ina_finish, .plan = ina_plan,                      \
	.withdraw = panama_withdraw, .intact = panama_intact, .stats = ina_stats,                  \
	.memory = ina_memory, .repeat = panama_repeat, .idle = panama_idle, .burst = panama_burst, \
	.frame = ina_frame, .payload = ina_payload, .check = panama_check,                         \
	.runs_as = panama_runs_as, .ran_as = panama_ran_as, .transport = panama_transport,         \
	.report_waiting = panama_report_waiting,                                                   \
	.traits.tolerance = { .one_switch = 0.02, .tiers = 0.02, .together = 0.05 }

extern const struct conf_table panama_table, switchml_star_table; /* panama_conf.c */

const struct collective_ops panama_collective = {
	.name = "panama",
	.help = "PANAMA: float sums in order on several trees, with an ECN window per tree",
	.table = &panama_table,
	.traits.heeds_marks = true,
	.open = panama_open,
	OPS,
};

const struct collective_ops switchml_star_collective = {
	.name = "switchml_star",
	.help = "PANAMA's augmented SwitchML: PANAMA without congestion control",
	.table = &switchml_star_table,
	.open = switchml_star_open,
	OPS,
};
