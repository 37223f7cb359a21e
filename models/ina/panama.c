/* PANAMA: Gebara, Costa and Ghobadi, "In-Network Aggregation for Shared Machine Learning
 * Clusters", MLSys 2021. Also its SwitchML* (section 7): the same without congestion control.
 *
 * Modelled: the controller (N trees over different roots, state in accelerators, the 40-MB
 * rule); chunks round-robin over trees; accelerators with a FIFO per port and tree, Expected_VID,
 * OR of ECN marks, wnd_cap, FIN; the window of figure 5 per tree; the latency of an accelerator by
 * equation 3; partial sums (PANAMA-0.88, -0.94); aggregation and other packets in the same egress
 * queues with the same ECN threshold.
 * Simplified: the FIFOs of a switch's ports are one row per VID (panama_switch.c); loading
 * state into accelerators takes the controller's latency and no packets; conversion on hosts
 * takes no time. PAUSE is the network's: without it queues need room (topology.switch.buffer) or
 * the job needs `recovery`; with it, a sum is charged to an input port when it leaves the
 * accelerator, whose latency the headroom therefore includes (panama_burst()). An accelerator whose
 * memory is full drops the packet; that takes windows from before another job came. Left open by
 * the paper, and our reading:
 * - the exactly-once sum is of integers, which commute: gradients are added in the order of
 *   children at every switch, so float results are the same in every run and at all workers;
 * - wnd_cap is "packet_memory/num_jobs"; memory belongs to ports, and a job's trees at a switch
 *   share its part: memory / ports / jobs / trees / packet size;
 * - one FIFO per port and tree, not per port: jobs do not block each other;
 * - chunks may overtake each other on different trees (`order`): section 4.1 describes the order
 *   in which packets leave at first, section 4.2.2 wants trees independent;
 * - the fraction counts workers, at every accelerator. The last packet of a tensor waits for all:
 *   else a slow worker would fall behind by iterations;
 * - the 40-MB rule is about the gradients of an iteration; smaller jobs run a ring;
 * - a lost packet: panama_recovery.c. */
#include "ina/panama.h"

#include "base/mem.h"
#include "core/rng.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define ELEMENT_BYTES 4

extern const struct collective_ops ring_collective; /* models/collective/ring.c */

void panama_violated(const struct panama_job *job, uint32_t node, uint64_t vid, const char *what)
{
	const struct model_env *env = &job->scheme->env;
	char name[24];

	checks_violated(env->checks, &env->checks->exact_violations,
			"PANAMA: %s: job %" PRIu32 ", VID %" PRIu64 ", at %s, at %.9f s", what,
			job->job.number, vid,
			topology_node_name(env->topo, node, name, sizeof(name)),
			seconds_of(env->sim->now));
	sim_stop(env->sim);
}

/* --- packets --- */

static void at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
		      struct switch_actions *actions)
{
	const struct panama_scheme *scheme = self;
	struct panama_lane *lane = scheme->lanes[packet->flow];

	if (lane) /* else it is over */
		panama_at_node(lane, &lane->nodes[lane->node_of_switch[sw]], back, packet, actions);
}

static void deliver(void *self, uint32_t host, const struct packet *packet)
{
	const struct panama_scheme *scheme = self;
	struct panama_lane *lane = scheme->lanes[packet->flow];

	if (lane)
		panama_worker_result(&lane->job->workers[lane->job->worker_of_host[host]], lane,
				     packet);
}

/* --- looking ahead, for speed only --- */

static void prefetch_lines(const void *from, size_t size)
{
	for (size_t at = 0; at < size; at += 64)
		__builtin_prefetch((const char *)from + at);
}

static void worker_ahead(const struct panama_lane *lane, uint32_t host, bool again)
{
	const struct panama_job *job = lane->job;
	uint32_t w = job->worker_of_host[host];

	if (again) {
		__builtin_prefetch(&job->workers[w].flows[lane->tree]);
		__builtin_prefetch(job->tensors.readers[w].left);
		return;
	}
	prefetch_lines(&job->workers[w], sizeof(job->workers[w]));
	__builtin_prefetch(&job->tensors.readers[w]);
}

static void node_ahead(const struct panama_lane *lane, uint32_t sw, const struct packet *packet,
		       bool again)
{
	const struct panama_node *node = &lane->nodes[lane->node_of_switch[sw]];
	const struct port *ports = lane->job->scheme->env.topo->net.ports;

	if (!again) {
		prefetch_lines(node, sizeof(*node));
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
	const struct panama_lane *lane = scheme->lanes[packet->flow];
	uint32_t hosts = scheme->env.topo->net.hosts;

	if (!lane)
		return;
	if (node < hosts)
		worker_ahead(lane, node, again);
	else
		node_ahead(lane, node - hosts, packet, again);
}

static const struct protocol_ops protocol = {
	.name = "panama",
	.deliver = deliver,
	.at_switch = at_switch,
	.ahead = ahead,
};

/* --- the scheme --- */

static struct panama_scheme *open_scheme(const struct model_env *env, const void *conf)
{
	struct panama_scheme *scheme = xcalloc(1, sizeof(*scheme));
	const struct network *net = &env->topo->net;

	scheme->env = *env;
	scheme->conf = conf;
	scheme->window = scheme->conf->window;
	scheme->frame = panama_frame(conf);
	scheme->protocol = network_register(&env->topo->net, &protocol, scheme);
	scheme->ring = ring_collective.open(env, scheme->conf->below[0]);
	scheme->memory = xcalloc(net->switches, sizeof(*scheme->memory));
	scheme->accelerators = xcalloc(net->switches, sizeof(*scheme->accelerators));
	for (uint32_t s = 0; s < net->switches; s++) {
		struct panama_accelerator *accelerator = &scheme->accelerators[s];

		scheme->memory[s] =
			(struct collective_memory){ .sw = s, .memory_bytes = scheme->conf->memory };
		accelerator->scheme = scheme;
		accelerator->memory = &scheme->memory[s];
		accelerator->sw = s;
		accelerator->ports = net->switch_nodes[s].ports;
		accelerator->latency =
			panama_latency(&scheme->conf->latency, scheme->frame, accelerator->ports);
		panama_delay_init(accelerator);
	}
	return scheme;
}

static void *panama_open(const struct model_env *env, const void *conf)
{
	return open_scheme(env, conf);
}

static void *switchml_star_open(const struct model_env *env, const void *conf)
{
	struct panama_scheme *scheme = open_scheme(env, conf);

	scheme->window.fixed = true;
	return scheme;
}

static void panama_close(void *self)
{
	struct panama_scheme *scheme = self;

	for (uint32_t s = 0; s < scheme->env.topo->net.switches; s++)
		panama_delay_release(&scheme->accelerators[s]);
	ring_collective.close(scheme->ring);
	free(scheme->lanes);
	free(scheme->memory);
	free(scheme->accelerators);
	free(scheme);
}

/* --- trees --- */

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* All roots that the topology may choose for workers on these hosts; caller frees. */
static uint32_t *all_roots(const struct topology *topo, const uint32_t *hosts, uint32_t workers,
			   uint32_t *count)
{
	uint32_t *roots = xcalloc(topo->net.switches, sizeof(*roots));

	*count = 0;
	for (uint64_t entropy = 0; entropy < topo->net.switches; entropy++) {
		uint32_t root = topo->ops->root(topo, hosts, workers, entropy), i = 0;

		while (i < *count && roots[i] != root)
			i++;
		if (i == *count)
			roots[(*count)++] = root;
	}
	return roots;
}

/* N of them at random, in the order of their numbers. */
static uint32_t *choose_roots(const struct panama_job *job, uint32_t *count)
{
	const struct panama_scheme *scheme = job->scheme;
	uint32_t only,
		*roots = all_roots(scheme->env.topo, job->job.hosts, job->job.workers, count);
	struct rng rng;

	rng_init(&rng, scheme->env.sim->seed, "panama roots", job->job.number);
	rng_shuffle(&rng, roots, *count);
	if (*count > scheme->conf->trees)
		*count = (uint32_t)scheme->conf->trees;
	qsort(roots, *count, sizeof(*roots), by_number);
	if (scheme->conf->only_tree) {
		only = (uint32_t)(scheme->conf->only_tree - 1) % *count;
		roots[0] = roots[only];
		*count = 1;
	}
	return roots;
}

static void build_trees(struct panama_job *job)
{
	struct topology *topo = job->scheme->env.topo;
	uint32_t *roots = choose_roots(job, &job->tree_count);

	job->trees = xcalloc(job->tree_count, sizeof(*job->trees));
	job->lane_count = job->scheme->conf->recovery ? 2 * job->tree_count : job->tree_count;
	job->lanes_at = xcalloc(topo->net.switches, sizeof(*job->lanes_at));
	job->open_at = xcalloc(topo->net.switches, sizeof(*job->open_at));
	for (uint32_t t = 0; t < job->tree_count; t++) {
		struct panama_tree *tree = &job->trees[t];

		tree->tree = tree_build(topo, job->job.hosts, job->job.workers, roots[t]);
		tree->node_of_switch = xcalloc(topo->net.switches, sizeof(*tree->node_of_switch));
		for (uint32_t i = 0; i < tree->tree->node_count; i++) {
			uint32_t sw = tree->tree->nodes[i].sw;

			tree->node_of_switch[sw] = i;
			job->lanes_at[sw] += (uint16_t)(job->lane_count / job->tree_count);
		}
	}
	free(roots);
}

static void free_trees(struct panama_job *job)
{
	for (uint32_t t = 0; t < job->tree_count; t++) {
		tree_free(job->trees[t].tree);
		free(job->trees[t].node_of_switch);
	}
	free(job->trees);
	free(job->lanes_at);
	free(job->open_at);
}

/* --- memory --- */

static uint32_t most_lanes(const struct panama_accelerator *accelerator)
{
	uint32_t lanes = PANAMA_LANES_MAX;

	while (lanes && !accelerator->jobs_with[lanes])
		lanes--;
	return lanes;
}

/* Would every job at this accelerator, with this one of so many lanes, have a packet per port
 * and lane? `others`: with those that are there now; else if it were alone. */
static bool has_room(const struct panama_accelerator *accelerator, uint32_t lanes, bool others)
{
	uint64_t jobs = others ? accelerator->jobs + UINT64_C(1) : 1;

	if (others && most_lanes(accelerator) > lanes)
		lanes = most_lanes(accelerator);
	return accelerator->memory->memory_bytes / accelerator->ports / jobs / lanes >=
	       accelerator->scheme->frame;
}

static bool memory_is_enough(const struct panama_job *job, bool others)
{
	const struct panama_scheme *scheme = job->scheme;

	for (uint32_t s = 0; s < scheme->env.topo->net.switches; s++)
		if (job->lanes_at[s] &&
		    !has_room(&scheme->accelerators[s], job->lanes_at[s], others))
			return false;
	return true;
}

static void open_lane(struct panama_lane *lane, struct panama_job *job, uint32_t number)
{
	struct panama_scheme *scheme = job->scheme;

	*lane = (struct panama_lane){ .job = job,
				      .number = (uint32_t)scheme->lane_count,
				      .tree = number % job->tree_count,
				      .repair = number >= job->tree_count };
	lane->node_count = job->trees[lane->tree].tree->node_count;
	lane->node_of_switch = job->trees[lane->tree].node_of_switch;
	lane->nodes = xaligned(64, lane->node_count * sizeof(*lane->nodes));
	for (uint32_t i = 0; i < lane->node_count; i++) {
		panama_node_init(&lane->nodes[i], lane, i);
		if (job->open_at[lane->nodes[i].accelerator->sw]++ == 0)
			panama_count_job(lane->nodes[i].accelerator,
					 job->lanes_at[lane->nodes[i].accelerator->sw], true);
	}
	if (scheme->conf->fraction < 1)
		lane->partial = panama_partial_new(lane);
	scheme->lanes = array_reserve(scheme->lanes, scheme->lane_count, &scheme->lane_capacity,
				      sizeof(*scheme->lanes));
	scheme->lanes[scheme->lane_count++] = lane;
}

static void close_lane(struct panama_lane *lane)
{
	for (uint32_t i = 0; i < lane->node_count; i++) {
		panama_node_over(lane, &lane->nodes[i]);
		panama_node_release(&lane->nodes[i]);
	}
	panama_partial_free(lane->partial);
	free(lane->nodes);
	lane->job->scheme->lanes[lane->number] = NULL;
}

/* What the controller tells the workers at first. */
static uint32_t least_cap(const struct panama_job *job)
{
	uint32_t least = PANAMA_CAP_MAX;

	for (uint32_t l = 0; l < job->lane_count; l++)
		for (uint32_t i = 0; i < job->lanes[l].node_count; i++) {
			uint32_t cap = panama_cap(&job->lanes[l], &job->lanes[l].nodes[i]);

			least = cap < least ? cap : least;
		}
	return least;
}

/* --- jobs --- */

static void make_workers(struct panama_job *job)
{
	uint32_t cap = least_cap(job);

	job->worker_of_host =
		xcalloc(job->scheme->env.topo->net.hosts, sizeof(*job->worker_of_host));
	job->workers = xaligned(64, job->job.workers * sizeof(*job->workers));
	for (uint32_t w = 0; w < job->job.workers; w++) {
		struct panama_worker *worker = &job->workers[w];

		worker->job = job;
		worker->number = w;
		worker->host = job->job.hosts[w];
		panama_worker_init(worker, cap);
		job->worker_of_host[worker->host] = w;
	}
}

static void launch(struct panama_job *job)
{
	const struct model_env *env = &job->scheme->env;

	job->lanes = xcalloc(job->lane_count, sizeof(*job->lanes));
	for (uint32_t l = 0; l < job->lane_count; l++)
		open_lane(&job->lanes[l], job, l);
	exact_init(&job->exact, env->checks, env->sim->seed, job->job.number, job->job.workers);
	tensors_init(&job->tensors, job->job.workers);
	make_workers(job);
	if (job->scheme->conf->recovery)
		panama_recovery_start(job);
}

static bool is_small(const struct panama_scheme *scheme, const struct collective_job *spec)
{
	return spec->gradients <= scheme->conf->threshold;
}

/* With trees, if it is not small; NULL when memory is short. */
static struct panama_job *admit(struct panama_scheme *scheme, const struct collective_job *spec,
				const char **never)
{
	struct panama_job *job = xcalloc(1, sizeof(*job));

	*never = NULL;
	job->scheme = scheme;
	job->job = *spec;
	if (is_small(scheme, spec))
		return job;
	build_trees(job);
	if (memory_is_enough(job, true))
		return job;
	if (!memory_is_enough(job, false))
		*never = "the memory of an accelerator has no room for a packet of each tree at "
			 "each port";
	free_trees(job);
	free(job);
	return NULL;
}

static void *panama_start(void *self, const struct collective_job *spec, const char **never)
{
	struct panama_scheme *scheme = self;
	struct panama_job *job = admit(scheme, spec, never);

	if (!job)
		return NULL;
	if (is_small(scheme, spec))
		job->ring = ring_collective.start(scheme->ring, spec, never);
	else
		launch(job);
	return job;
}

/* --- as a plan --- */

/* The job comes to all accelerators of its trees, or goes. */
static void count_job(const struct panama_job *job, bool comes)
{
	for (uint32_t s = 0; s < job->scheme->env.topo->net.switches; s++)
		if (job->lanes_at[s])
			panama_count_job(&job->scheme->accelerators[s], job->lanes_at[s], comes);
}

/* Of the accelerators on the longest way of a worker to the root. */
static sim_time tree_delay(const struct panama_job *job, const struct tree *tree)
{
	sim_time longest = 0;

	for (uint32_t w = 0; w < job->job.workers; w++) {
		sim_time delay = 0;

		for (uint32_t n = tree->node_of_worker[w]; n != TREE_NONE;
		     n = tree->nodes[n].parent)
			delay += job->scheme->accelerators[tree->nodes[n].sw].latency;
		longest = delay > longest ? delay : longest;
	}
	return longest;
}

/* Packets that a worker may have out on a tree. */
static uint32_t tree_window(const struct panama_job *job, const struct tree *tree)
{
	const struct panama_window_conf *conf = &job->scheme->window;
	uint32_t least = PANAMA_CAP_MAX;

	for (uint32_t n = 0; n < tree->node_count; n++) {
		uint32_t sw = tree->nodes[n].sw;
		uint32_t cap = panama_cap_at(&job->scheme->accelerators[sw], job->lanes_at[sw]);

		least = cap < least ? cap : least;
	}
	return conf->fixed && conf->packets && conf->packets < least ? (uint32_t)conf->packets
								     : least;
}

/* Equal streams over each tree. A worker takes one turn at its NIC whatever the number of its
 * trees; so that its job has the share of others, it has as many streams as one over the farthest
 * hosts has trees: a job in few racks has fewer roots, and several streams over each. */
static uint32_t streams_of_tree(const struct panama_job *job)
{
	const struct topology *topo = job->scheme->env.topo;
	uint32_t most, farthest[] = { 0, topo->net.hosts - 1 };

	if (job->scheme->conf->only_tree) /* all have one */
		return 1;
	free(all_roots(topo, farthest, 2, &most));
	if (most > job->scheme->conf->trees)
		most = (uint32_t)job->scheme->conf->trees;
	return (most + job->tree_count - 1) / job->tree_count;
}

/* Streams over the trees, as chunks take turns on them. All workers are in every sum, whatever the
 * fraction; the windows are those of jobs that are here now, when they have grown. */
static void plan_trees(struct panama_job *job, struct stream_plan *plan)
{
	const struct network *net = &job->scheme->env.topo->net;
	const struct panama_window_conf *conf = &job->scheme->window;
	uint32_t each = streams_of_tree(job);
	sim_time round_trip = 0;

	plan_init(plan, (size_t)job->tree_count * each);
	for (size_t s = 0; s < plan->count; s++) {
		const struct tree *tree = job->trees[s % job->tree_count].tree;
		struct plan_stream *stream = &plan->streams[s];
		struct plan_way way = plan_tree_way(net, tree, job->job.hosts, job->job.workers,
						    job->scheme->frame);

		way.sum += tree_delay(job, tree);
		plan_add_tree(stream, tree, job->job.hosts, job->job.workers);
		stream->packets = plan_ina_packets(net, job->scheme->frame,
						   (uint32_t)job->scheme->conf->elements);
		stream->packets.fraction = 1.0 / (double)plan->count;
		stream->cap = plan_window_rate(&stream->packets,
					       (double)tree_window(job, tree) / each, way.sum);
		round_trip = way.sum > round_trip ? way.sum : round_trip;
		if (plan_way_latency(&way) > plan->latency)
			plan->latency = plan_way_latency(&way);
	}
	plan_close(plan);
	if (conf->fixed)
		return;
	/* the trees of a worker share its NIC */
	plan->lead = plan_lead(&plan->streams[0].packets,
			       &(struct plan_growth){ conf->initial, conf->ssthresh, 1 },
			       plan_alone(&plan->streams[0], net) / job->tree_count, round_trip,
			       INFINITY);
}

static void *panama_plan(void *self, const struct collective_job *spec, struct stream_plan *plan,
			 const char **never)
{
	struct panama_scheme *scheme = self;
	struct panama_job *job = admit(scheme, spec, never);

	if (!job)
		return NULL;
	if (is_small(scheme, spec)) {
		job->ring = ring_collective.plan(scheme->ring, spec, plan, never);
		return job;
	}
	count_job(job, true);
	plan_trees(job, plan);
	return job;
}

static void panama_withdraw(void *admitted)
{
	struct panama_job *job = admitted;

	if (job->ring) {
		ring_collective.withdraw(job->ring);
	} else {
		count_job(job, false);
		free_trees(job);
	}
	free(job);
}

static void panama_contribute(void *instance, uint32_t worker, bytes size)
{
	struct panama_job *job = instance;
	uint64_t elements = (size + ELEMENT_BYTES - 1) / ELEMENT_BYTES, k;

	if (job->ring) {
		ring_collective.contribute(job->ring, worker, size);
		return;
	}
	k = (uint64_t)job->scheme->conf->elements;
	panama_worker_contribute(&job->workers[worker], elements ? (elements + k - 1) / k : 1);
}

static void end_job(struct panama_job *job)
{
	if (job->recovery)
		panama_recovery_stop(job);
	for (uint32_t l = 0; l < job->lane_count; l++)
		close_lane(&job->lanes[l]);
	for (uint32_t w = 0; w < job->job.workers; w++)
		panama_worker_release(&job->workers[w]);
	exact_release(&job->exact);
	tensors_release(&job->tensors);
	free_trees(job);
	free(job->lanes);
	free(job->workers);
	free(job->worker_of_host);
}

static void panama_finish(void *instance)
{
	struct panama_job *job = instance;

	if (job->ring)
		ring_collective.finish(job->ring);
	else
		end_job(job);
	free(job);
}

static void panama_stats(const void *instance, struct collective_stats *stats)
{
	const struct panama_job *job = instance;

	if (job->ring) {
		ring_collective.stats(job->ring, stats);
		return;
	}
	for (uint32_t w = 0; w < job->job.workers; w++)
		stats->stale += job->workers[w].stale;
	if (job->recovery)
		panama_recovery_stats(job, stats);
}

static size_t panama_memory(void *self, const struct collective_memory **list)
{
	struct panama_scheme *scheme = self;

	*list = scheme->memory;
	return scheme->env.topo->net.switches;
}

/* The first tree on which a worker waits, or the number of trees. */
static uint32_t waits_on(const struct panama_worker *worker)
{
	uint32_t t = 0;

	while (t < worker->job->tree_count && worker->flows[t].una == worker->flows[t].next)
		t++;
	return t;
}

static void panama_report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct panama_job *job = instance;

	if (job->ring) {
		ring_collective.report_waiting(job->ring, to, limit);
		return;
	}
	for (uint32_t w = 0; w < job->job.workers && limit; w++) {
		const struct panama_worker *worker = &job->workers[w];
		uint32_t t = waits_on(worker);

		if (t == job->tree_count && !worker->lost)
			continue;
		fprintf(to, "  PANAMA job %" PRIu32 ": worker %" PRIu32 " (h%" PRIu32 ")",
			job->job.number, w, worker->host);
		if (t < job->tree_count)
			fprintf(to,
				" waits for VID %" PRIu64 " of tree %" PRIu32 ", has sent %" PRIu64,
				worker->flows[t].una, t + 1, worker->flows[t].next);
		if (worker->lost)
			fprintf(to, " lacks %" PRIu64 " results for ever (recovery is off)",
				worker->lost);
		fprintf(to, "\n");
		limit--;
	}
}

#define OPS                                                                                        \
	.close = panama_close, .start = panama_start, .contribute = panama_contribute,             \
	.finish = panama_finish, .plan = panama_plan, .withdraw = panama_withdraw,                 \
	.stats = panama_stats, .memory = panama_memory, .report_waiting = panama_report_waiting

extern const struct conf_table panama_table, switchml_star_table; /* panama_conf.c */

const struct collective_ops panama_collective = {
	.name = "panama",
	.help = "PANAMA: float sums in order on several trees, with an ECN window per tree",
	.table = &panama_table,
	.burst = panama_burst,
	.check = panama_check,
	.open = panama_open,
	OPS,
};

const struct collective_ops switchml_star_collective = {
	.name = "switchml_star",
	.help = "PANAMA's augmented SwitchML: PANAMA without congestion control",
	.table = &switchml_star_table,
	.burst = panama_burst,
	.check = switchml_star_check,
	.open = switchml_star_open,
	OPS,
};
