#include "ina/common/ina.h"

#include "base/mem.h"
#include "net/outage.h"
#include "topo/ways.h"

#include <inttypes.h>
#include <stdlib.h>

#define NOBODY     UINT32_MAX
#define WAITS_SIZE 160

static size_t size_or(size_t size, size_t otherwise)
{
	return size ? size : otherwise;
}

const char ina_adding[] = "switches adding up";
const char ina_no_tree[] = "no switch that works joins its workers";
const char ina_no_server[] = "no way between its workers and a parameter server is left";

/* --- the scheme --- */

uint32_t ina_frame(const void *self)
{
	return ina_payload(self) + (uint32_t)((const struct ina_packet_conf *)self)->header;
}

uint32_t ina_payload(const void *self)
{
	return (uint32_t)((const struct ina_packet_conf *)self)->elements * ELEMENT_BYTES;
}

void *ina_open(const struct ina_ops *ops, const struct model_env *env, const void *conf,
	       struct ina_format format)
{
	struct ina_scheme *scheme = xcalloc(1, size_or(ops->size.scheme, sizeof(*scheme)));
	uint32_t switches = env->topo->net.switches;

	scheme->env = *env;
	scheme->ops = ops;
	scheme->conf = conf;
	scheme->frame = format.frame ? format.frame : ina_frame(conf);
	scheme->elements = format.frame ? format.elements : ina_payload(conf) / ELEMENT_BYTES;
	scheme->message = format.message ? format.message : 1;
	scheme->protocol = network_register(&env->topo->net, &ops->protocol, scheme);
	scheme->memory = xcalloc(switches, sizeof(*scheme->memory));
	for (uint32_t s = 0; s < switches; s++) {
		bytes own = format.memory ? topology_memory(env->topo, s) : 0;

		scheme->memory[s] =
			(struct collective_memory){ .sw = s,
						    .memory_bytes = own ? own : format.memory };
	}
	return scheme;
}

void ina_close(void *self)
{
	struct ina_scheme *scheme = self;

	if (scheme->gather)
		ina_close(scheme->gather);
	for (uint32_t i = 0; scheme->refusals && i < 2 * scheme->env.topo->net.switches; i++)
		free(scheme->refusals[i]);
	free(scheme->refusals);
	free(scheme->jobs.entries);
	free(scheme->memory);
	free(scheme);
}

uint32_t ina_enter(struct ina_registry *registry, void *entry)
{
	registry->entries = array_reserve(registry->entries, registry->count, &registry->capacity,
					  sizeof(*registry->entries));
	registry->entries[registry->count] = entry;
	return (uint32_t)registry->count++;
}

/* --- the life of a job --- */

uint32_t ina_passing(const struct ina_job *job, uint32_t root)
{
	const struct topology *topo = job->scheme->env.topo;
	const struct ina_ops *ops = job->scheme->ops;
	bool adds = ops->memory || ops->admit; /* what takes no memory only copies */
	uint32_t passing = TREE_NONE;
	struct tree *tree;

	if (!adds || (topology_all_aggregate(topo->conf) && !topo->net.outages))
		return TREE_NONE;
	if (ops->passes_by)
		return topology_aggregates(topo, root) ? TREE_NONE : root;
	tree = tree_build(topo, job->ports, job->spec.workers, root);
	for (uint32_t n = 0; n < tree->node_count && passing == TREE_NONE; n++)
		if (!topology_aggregates(topo, tree->nodes[n].sw))
			passing = tree->nodes[n].sw;
	tree_free(tree);
	return passing;
}

const char *ina_refusal(struct ina_scheme *scheme, uint32_t sw)
{
	const struct topology *topo = scheme->env.topo;
	bool adds = topology_aggregates(topo, sw); /* changes with failures */
	char name[24], **text;

	if (!scheme->refusals)
		scheme->refusals = xcalloc(2 * topo->net.switches, sizeof(*scheme->refusals));
	text = &scheme->refusals[2 * sw + adds];
	if (!*text)
		*text = xasprintf(
			adds ? "switch %s of its tree has too little memory (\"aggregation\")"
			     : "switch %s of its tree adds nothing up (\"aggregation\")",
			topology_node_name(topo, topo->net.hosts + sw, name, sizeof(name)));
	return *text;
}

/* Draws a root for the job's workers. Prefers a tree in which all switches that must add do so
 * (ina_passing()). TREE_NONE: failures have left no root. */
static uint32_t draw_root(const struct ina_job *job)
{
	const struct topology *topo = job->scheme->env.topo;
	uint64_t seed = hash_pair(job->scheme->env.sim->seed, hash_string(job->scheme->ops->root));
	uint32_t root = TREE_NONE;

	for (uint64_t i = 0; i < topo->net.switches; i++) {
		root = tree_root(topo, job->ports, job->spec.workers,
				 hash_pair(seed, job->tree_number) + i);
		if (root == TREE_NONE || ina_passing(job, root) == TREE_NONE)
			break;
	}
	return root;
}

/* False where no root is left. */
static bool place_nodes(struct ina_job *job)
{
	const struct ina_scheme *scheme = job->scheme;
	uint32_t root = draw_root(job);
	const struct tree *tree;

	if (root == TREE_NONE)
		return false;
	ina_tree_init(&job->tree, job, root);
	tree = job->tree.tree;
	job->node_size = size_or(scheme->ops->size.node, sizeof(struct ina_node));
	job->nodes = xaligned(64, tree->node_count * job->node_size);
	for (uint32_t i = 0; i < tree->node_count; i++) {
		struct ina_node *node = ina_node(job, i);

		node->place = &tree->nodes[i];
		node->memory = &scheme->memory[tree->nodes[i].sw];
	}
	return true;
}

/* The links by which the job's workers and servers send, see ways.h. */
static void choose_ports(struct ina_job *job)
{
	const struct collective_job *spec = &job->spec;
	uint64_t seed = hash_pair(job->scheme->env.sim->seed, hash_string("ports"));
	size_t count = spec->workers + spec->servers;

	job->ports = xcalloc(count, sizeof(*job->ports));
	for (size_t i = 0; i < count; i++)
		job->ports[i] =
			i < spec->workers ? spec->hosts[i] : spec->server_hosts[i - spec->workers];
	ways_of_job(job->scheme->env.topo, job->ports, count, hash_pair(seed, spec->number),
		    job->ports);
}

static void free_job(struct ina_job *job)
{
	ina_tree_release(&job->tree);
	free(job->nodes);
	free(job->ports);
	free(job);
}

static bytes needs(const struct ina_job *job, const struct ina_node *node)
{
	return node->place->passes ? 0 : job->scheme->ops->memory(job, node->place);
}

/* The first switch of the tree that lacks room for the job; NULL: all have room. With `alone`, the
 * memory of other jobs counts as free. */
static const struct ina_node *without_room(const struct ina_job *job, bool alone)
{
	for (uint32_t n = 0; n < job->tree.tree->node_count; n++) {
		const struct ina_node *node = ina_node(job, n);

		if ((alone ? 0 : node->memory->used_bytes) + needs(job, node) >
		    node->memory->memory_bytes)
			return node;
	}
	return NULL;
}

/* Why the job never has room; NULL: it only has to wait. */
static const char *too_large(const struct ina_job *job)
{
	const struct ina_node *node = without_room(job, true);
	const char *words = job->scheme->ops->too_large;

	if (!node)
		return NULL;
	if (topology_memory(job->scheme->env.topo, node->memory->sw))
		return ina_refusal(job->scheme, node->memory->sw);
	return words ? words : "more than the memory of a switch";
}

/* Takes the job's memory (`sign` is 1), or gives it back (-1). */
static void reserve(const struct ina_job *job, int64_t sign)
{
	for (uint32_t n = 0; n < job->tree.tree->node_count; n++) {
		const struct ina_node *node = ina_node(job, n);

		collective_reserve(node->memory, job->scheme->env.sim->now,
				   sign * (int64_t)needs(job, node));
	}
}

bool ina_reserve(const struct ina_job *job, const char **never)
{
	uint32_t passing = ina_passing(job, job->tree.tree->nodes[0].sw);

	if (passing != TREE_NONE) {
		*never = ina_refusal(job->scheme, passing);
		return false;
	}
	if (!job->scheme->ops->memory)
		return true;
	if (without_room(job, false)) {
		*never = too_large(job);
		return false;
	}
	reserve(job, 1);
	return true;
}

static bool admits(struct ina_job *job, const char **never)
{
	const struct ina_ops *ops = job->scheme->ops;

	return ops->admit ? ops->admit(job, never) : ina_reserve(job, never);
}

void *ina_admit_to(void *self, const struct collective_job *spec, uint64_t tree_number,
		   const char **never)
{
	struct ina_scheme *scheme = self;
	struct ina_job *job = xcalloc(1, size_or(scheme->ops->size.job, sizeof(*job)));

	*never = NULL;
	job->scheme = scheme;
	job->spec = *spec;
	job->tree_number = tree_number;
	if (scheme->env.topo->net.outages)
		job->failures = scheme->env.topo->net.outages->failures;
	choose_ports(job);
	if (scheme->ops->root && !place_nodes(job))
		*never = ina_no_tree;
	else if (admits(job, never))
		return job;
	free_job(job);
	return NULL;
}

void *ina_admit(void *scheme, const struct collective_job *spec, const char **never)
{
	return ina_admit_to(scheme, spec, spec->number, never);
}

void ina_withdraw(void *admitted)
{
	struct ina_job *job = admitted;

	if (job->on_hosts)
		job->scheme->ops->on_hosts->withdraw(job->on_hosts);
	if (job->scheme->ops->withdraw)
		job->scheme->ops->withdraw(job);
	else if (job->scheme->ops->memory)
		reserve(job, -1);
	free_job(job);
}

static void make_workers(struct ina_job *job)
{
	const struct ina_ops *ops = job->scheme->ops;
	uint32_t hosts = job->scheme->env.topo->net.hosts;

	job->worker_of_host = xcalloc(hosts, sizeof(*job->worker_of_host));
	for (uint32_t h = 0; h < hosts; h++)
		job->worker_of_host[h] = NOBODY;
	job->worker_size = size_or(ops->size.worker, sizeof(struct ina_worker));
	job->workers = xaligned(64, job->spec.workers * job->worker_size);
	for (uint32_t w = 0; w < job->spec.workers; w++) {
		struct ina_worker *worker = ina_worker(job, w);

		worker->job = job;
		worker->number = w;
		worker->port = job->ports[w];
		worker->source = (struct nic_source){ .pull = ops->pull, .owner = worker };
		job->worker_of_host[job->spec.hosts[w]] = w;
	}
}

void ina_begin(struct ina_job *job)
{
	const struct model_env *env = &job->scheme->env;
	const char *never = NULL; /* hosts lack nothing */

	if (job->to_hosts) {
		job->on_hosts = job->scheme->ops->on_hosts->start(job->scheme->on_hosts, &job->spec,
								  &never);
		return;
	}
	exact_init(&job->exact, env->checks, env->sim->seed, job->spec.number, job->spec.workers);
	tensors_init(&job->tensors, job->spec.workers);
	make_workers(job);
	job->number = ina_enter(&job->scheme->jobs, job);
	if (!job->scheme->ops->own_flows)
		job->why = why_join(&env->topo->net, job->spec.number, job->spec.members,
				    job->scheme->protocol, job->number, job->scheme->ops->bypass);
	if (!job->scheme->ops->pieces)
		job->tensors.why = job->why;
	job->mark = UINT64_MAX;
	if (job->scheme->ops->begin)
		job->scheme->ops->begin(job);
	if (env->repeat && env->repeat->walk && job->scheme->ops->period)
		job->mark = ina_mark_distance(job);
}

void ina_stop_workers(struct ina_job *job)
{
	for (uint32_t w = 0; w < job->spec.workers; w++) {
		struct ina_worker *worker = ina_worker(job, w);

		nic_forget(&job->scheme->env.topo->net.nics[worker->port], &worker->source);
	}
}

void ina_end(struct ina_job *job)
{
	ina_stop_workers(job);
	if (job->scheme->env.repeat)
		repeat_leave(job->scheme->env.repeat, job);
	if (job->scheme->ops->end)
		job->scheme->ops->end(job);
	job->scheme->jobs.entries[job->number] = NULL;
	exact_release(&job->exact);
	tensors_release(&job->tensors);
	free(job->worker_of_host);
	free(job->workers);
}

void *ina_start(void *self, const struct collective_job *spec, const char **never)
{
	struct ina_job *job = ina_admit(self, spec, never);

	if (job)
		ina_begin(job);
	return job;
}

void *ina_start_gather(void *self, const struct collective_job *spec, const char **never)
{
	return ina_start(((struct ina_scheme *)self)->gather, spec, never);
}

void ina_finish(void *instance, bool abandoned)
{
	struct ina_job *job = instance;

	(void)abandoned;
	if (job->on_hosts)
		job->scheme->ops->on_hosts->finish(job->on_hosts, false);
	else
		ina_end(job);
	job->on_hosts = NULL;
	ina_withdraw(job);
}

void ina_plan_job(struct ina_job *job, struct stream_plan *plan)
{
	const struct ina_ops *ops = job->scheme->ops;
	const char *never = NULL; /* as in ina_begin() */

	if (job->to_hosts)
		job->on_hosts =
			ops->on_hosts->plan(job->scheme->on_hosts, &job->spec, plan, &never);
	else
		ops->plan(job, plan);
}

void *ina_plan(void *self, const struct collective_job *spec, struct stream_plan *plan,
	       const char **never)
{
	struct ina_job *job = ina_admit(self, spec, never);

	if (job)
		ina_plan_job(job, plan);
	return job;
}

uint64_t ina_chunks(const struct ina_job *job, bytes size)
{
	uint64_t elements = (size + ELEMENT_BYTES - 1) / ELEMENT_BYTES, k = job->scheme->elements;

	if (job->scheme->ops->pieces)
		elements = (elements + job->spec.workers - 1) / job->spec.workers;
	return elements ? (elements + k - 1) / k : 1;
}

uint64_t ina_rows(const struct ina_job *job, bytes window)
{
	bytes row = (bytes)job->spec.workers * job->scheme->elements * ELEMENT_BYTES;
	uint64_t rows = (window + row - 1) / row;

	return rows > 2 ? rows : 2;
}

void ina_contribute(void *instance, uint32_t w, bytes size)
{
	struct ina_job *job = instance;
	uint64_t chunks = ina_chunks(job, size), first;
	struct ina_worker *worker;

	if (job->on_hosts) {
		job->scheme->ops->on_hosts->contribute(job->on_hosts, w, size);
		return;
	}
	worker = ina_worker(job, w);
	first = ina_available(worker);
	chunks = (chunks + job->scheme->message - 1) / job->scheme->message * job->scheme->message;
	why_hands_over(job->why ? job->why : job->tensors.why, w);
	tensors_add(&job->tensors, w, chunks);
	if (job->scheme->ops->contribute)
		job->scheme->ops->contribute(worker, first, chunks);
	else
		ina_wake(worker);
}

/* --- reports --- */

void ina_violated(const struct ina_job *job, uint32_t node, uint64_t chunk, const char *what)
{
	collective_violated(&job->scheme->env, job->scheme->ops->title,
			    collective_job_number(&job->spec), "chunk", chunk, node, what);
}

void ina_violated_at_switch(const struct ina_job *job, uint32_t sw, uint64_t chunk,
			    const char *what)
{
	ina_violated(job, job->scheme->env.topo->net.hosts + sw, chunk, what);
}

void ina_stats(const void *instance, struct collective_stats *stats)
{
	const struct ina_job *job = instance;

	collective_stats_add(stats, &job->stats);
	if (job->on_hosts)
		job->scheme->ops->on_hosts->stats(job->on_hosts, stats);
}

static bool ina_waits(const struct ina_worker *worker, char *text, size_t size)
{
	const struct ina_ops *ops = worker->job->scheme->ops;
	uint64_t chunks = ina_available(worker);

	if (ops->waits)
		return ops->waits(worker, text, size);
	snprintf(text, size, "has results of %" PRIu64 " of %" PRIu64 " chunks", worker->results,
		 chunks);
	return worker->results < chunks;
}

bytes ina_received(const void *instance)
{
	const struct ina_job *job = instance;

	if (job->on_hosts)
		return 0;
	return ina_worker(job, 0)->results * job->scheme->elements * ELEMENT_BYTES;
}

size_t ina_report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct ina_job *job = instance;
	char text[WAITS_SIZE];
	size_t lines = 0;

	if (job->on_hosts)
		return job->scheme->ops->on_hosts->report_waiting(job->on_hosts, to, limit);
	for (uint32_t w = 0; w < job->spec.workers && lines < limit; w++) {
		const struct ina_worker *worker = ina_worker(job, w);

		if (!ina_waits(worker, text, sizeof(text)))
			continue;
		fprintf(to, "  %s job %" PRIu32 ": worker %" PRIu32 " (host %" PRIu32 ") %s\n",
			job->scheme->ops->title, collective_job_number(&job->spec), w,
			ina_host(worker), text);
		lines++;
	}
	return lines;
}

void ina_about_job(const struct ina_job *job, const struct packet *packet,
		   struct packet_about *about)
{
	*about = (struct packet_about){ .job = collective_job_number(&job->spec),
					.aggregator = UINT32_MAX,
					.chunk = packet->chunk,
					.worker_of_host = job->worker_of_host };
}

bool ina_about(const void *self, const struct packet *packet, struct packet_about *about)
{
	const struct ina_job *job = ina_job_of(self, packet);

	if (job)
		ina_about_job(job, packet, about);
	return job;
}

bool ina_about_slot(const void *self, const struct packet *packet, struct packet_about *about)
{
	if (!ina_about(self, packet, about))
		return false;
	about->aggregator = packet->slot;
	return true;
}

struct collective_actual ina_ran_as(const void *instance)
{
	const struct tree *tree = ((const struct ina_job *)instance)->tree.tree;
	struct collective_actual actual = { .what = ina_adding };

	if (!tree->passes)
		return (struct collective_actual){ 0 };
	for (uint32_t n = 0; n < tree->node_count; n++)
		actual.has += !tree->nodes[n].passes;
	actual.of = tree->node_count;
	return actual;
}

size_t ina_memory(void *self, const struct collective_memory **list)
{
	struct ina_scheme *scheme = self;

	*list = scheme->memory;
	return scheme->env.topo->net.switches;
}

/* --- trees --- */

/* Until routing reacts to a failure, a new tree may lead over a link that is down already. Such a
 * failure concerns the job, although it came before the job. */
static void find_failures(struct ina_job *job, const struct tree *tree)
{
	const struct network *net = &job->scheme->env.topo->net;

	for (uint32_t n = 0; n < tree->node_count; n++)
		for (uint32_t c = 0; c < tree->nodes[n].children; c++) {
			uint32_t port = tree->nodes[n].down_ports[c];

			if (network_is_down(net, port) &&
			    net->outages->failed[port] <= job->failures)
				job->failures = net->outages->failed[port] - 1;
		}
}

void ina_tree_init(struct ina_tree *tree, struct ina_job *job, uint32_t root)
{
	const struct topology *topo = job->scheme->env.topo;

	tree->tree = tree_build(topo, job->ports, job->spec.workers, root);
	if (job->scheme->ops->passes_by)
		tree_let_pass(tree->tree, topo, job->ports, job->spec.workers);
	tree->node_of_switch = xcalloc(topo->net.switches, sizeof(*tree->node_of_switch));
	for (uint32_t i = 0; i < tree->tree->node_count; i++)
		tree->node_of_switch[tree->tree->nodes[i].sw] = i;
	find_failures(job, tree->tree);
}

void ina_tree_release(struct ina_tree *tree)
{
	tree_free(tree->tree);
	free(tree->node_of_switch);
}

bool ina_tree_intact(const struct ina_job *job, const struct tree *tree, bool links)
{
	const struct network *net = &job->scheme->env.topo->net;

	for (uint32_t n = 0; n < tree->node_count; n++)
		if (net->outages->wiped[tree->nodes[n].sw] > job->failures ||
		    (links && !tree->nodes[n].passes &&
		     network_adds_nothing(net, tree->nodes[n].sw)))
			return false;
	return !links || tree_works(tree, net);
}

bool ina_tree_failed(const struct ina_job *job, const struct tree *tree)
{
	const struct outages *outages = job->scheme->env.topo->net.outages;

	for (uint32_t n = 0; outages && n < tree->node_count; n++)
		for (uint32_t c = 0; c < tree->nodes[n].children; c++)
			if (outages->failed[tree->nodes[n].down_ports[c]] > job->failures)
				return true;
	return false;
}

bool ina_intact(const void *instance, bool links)
{
	const struct ina_job *job = instance;

	return job->on_hosts || ina_tree_intact(job, job->tree.tree, links);
}

struct framing ina_framing(const struct ina_job *job, uint32_t frame)
{
	uint32_t payload = job->scheme->elements * ELEMENT_BYTES;

	return (struct framing){ .payload = payload,
				 .header = frame - payload,
				 .min_frame = frame };
}

void ina_plan_bound(const struct ina_job *job, struct stream_plan *plan)
{
	plan->bound.framing = ina_framing(job, job->scheme->frame);
	plan->bound.unit = (bytes)job->scheme->message * plan->bound.framing.payload;
	plan_add_leg(&plan->bound, 1, 1, 1, false);
}

void ina_plan_tree(const struct ina_job *job, uint64_t window, struct stream_plan *plan)
{
	const struct ina_scheme *scheme = job->scheme;
	const struct network *net = &scheme->env.topo->net;
	const struct collective_job *spec = &job->spec;
	const struct tree *tree = job->tree.tree;
	struct plan_path path = plan_tree_path(net, tree, job->ports, spec->workers, scheme->frame);
	struct plan_stream *stream;

	plan_init(plan, 1);
	stream = &plan->streams[0];
	ina_plan_bound(job, plan);
	plan_add_tree(stream, tree, job->ports, spec->workers);
	plan->latency = plan_path_latency(&path);
	stream->packets = plan_ina_packets(net, scheme->frame, scheme->elements);
	stream->cap = plan_window_rate(&stream->packets, (double)window, path.sum);
	plan_fix_window(stream, (double)window, path.sum, net, job->ports[0]);
	plan_close(plan);
	plan_set_turns(plan, net, spec, 0);
}
