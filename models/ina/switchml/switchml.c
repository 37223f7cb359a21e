/* SwitchML: Sapio et al., "Scaling Distributed Machine Learning with In-Network
 * Aggregation", arXiv:1903.06701 (2019), with loss recovery (algorithms 3 and 4,
 * "V1") and the hierarchical composition of section 6 over the switches of a tree.
 *
 * Modelled: a pool of s slots with two versions each (shadow copy), a seen bit
 * per child and version, multicast of results, unicast repair from the shadow
 * copy, a retransmission timer per slot at the workers, self-clocking with at
 * most one packet per slot; switch memory as a finite resource, split among tenants
 * or not, with a queue or refusal; packet formats of the paper and of the public
 * code; fixed, doubling and adaptive timeouts (rto.h).
 * Simplified: packets are processed in the switch's constant latency; scaling and
 * conversion on hosts take no time, nor does the public code's exchange of exponents
 * (one more window of packets for each float tensor): tensors are of integers. With
 * fewer switch_elements than a packet has, the check of sums takes all as added.
 * Left open by the paper, and our reading:
 * - chunk g of the whole stream of tensors uses slot g mod s, version (g/s) mod 2;
 *   algorithm 4 restarts at version 0 per tensor, appendix B and the public code
 *   demand one continuous stream; each tensor is padded to whole chunks;
 * - n = 1 (or one child below a switch): algorithm 3 as printed would add to stale
 *   data; the first contribution always overwrites;
 * - recovery above the leaf is sketched in section 6: a switch that gets a
 *   duplicate sends its partial sum up again, or the stored result down;
 * - a timeout that follows the round trip (section 6) must know which sums have waited
 *   for somebody's timeout. With timeout_rule adaptive a bit of each packet says so
 *   (SWITCHML_LATE). Where hardly any sum comes without (8 workers, 20 % loss: 0.8^16
 *   of them), there are hardly any samples, and the timeout stays doubled. */
#include "ina/switchml/switchml.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

void switchml_violated(struct switchml *job, uint32_t node, uint64_t chunk, const char *what)
{
	collective_violated(&job->scheme->env, job->servers ? "ps_stream" : "SwitchML",
			    job->job.number, "chunk", chunk, node, what);
}

/* --- packets --- */

static void at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
		      struct switch_actions *actions)
{
	const struct switchml_scheme *scheme = self;
	struct switchml *job = scheme->jobs[packet->flow];

	(void)back; /* children are known by packet.source */
	if (job)    /* else it is over */
		switchml_at_node(job, &job->nodes[job->node_of_switch[sw]], packet, actions);
}

static void deliver(void *self, uint32_t host, const struct packet *packet)
{
	const struct switchml_scheme *scheme = self;
	struct switchml *job = scheme->jobs[packet->flow];

	if (job)
		switchml_worker_result(&job->workers[job->worker_of_host[host]], packet);
}

static const struct protocol_ops switchml_protocol = {
	.name = "switchml",
	.deliver = deliver,
	.at_switch = at_switch,
};

/* --- jobs --- */

void switchml_scheme_init(struct switchml_scheme *scheme, const struct model_env *env,
			  const struct switchml_conf *conf, const struct protocol_ops *protocol)
{
	struct switchml_format format = switchml_format_of(conf);

	scheme->env = *env;
	scheme->conf = conf;
	scheme->elements = (uint32_t)format.elements;
	scheme->frame = switchml_frame(&format);
	scheme->slot_bytes = switchml_slot_bytes(&format);
	scheme->share = switchml_share(conf);
	scheme->protocol = network_register(&env->topo->net, protocol, scheme);
}

static void *switchml_open(const struct model_env *env, const void *conf)
{
	struct switchml_scheme *scheme = xcalloc(1, sizeof(*scheme));
	uint32_t switches = env->topo->net.switches;

	switchml_scheme_init(scheme, env, conf, &switchml_protocol);
	scheme->memory = xcalloc(switches, sizeof(*scheme->memory));
	for (uint32_t s = 0; s < switches; s++)
		scheme->memory[s] =
			(struct collective_memory){ .sw = s, .memory_bytes = scheme->conf->memory };
	return scheme;
}

static void switchml_close(void *self)
{
	struct switchml_scheme *scheme = self;

	free(scheme->jobs);
	free(scheme->memory);
	free(scheme);
}

/* Worker to root and back for one packet on an idle network, the host's processing
 * included. */
static sim_time round_trip(const struct switchml *job)
{
	const struct network *net = &job->scheme->env.topo->net;
	uint32_t size = job->scheme->frame, port = job->job.hosts[0];
	const struct node *node = &job->nodes[job->tree->node_of_worker[0]];
	sim_time sum = 0;

	for (;;) {
		const struct link_class *up = port_class(net, &net->ports[port]);
		const struct link_class *down =
			port_class(net, &net->ports[net->cold[port].reverse]);

		sum += link_transmission(up, size) + up->latency;
		sum += link_transmission(down, size) + down->latency + down->jitter_max;
		if (node->place->parent == TREE_NONE)
			return sum;
		port = node->place->up_port;
		node = &job->nodes[node->place->parent];
	}
}

uint64_t switchml_slots_of(bps rate, uint32_t frame, sim_time round_trip_time)
{
	unsigned __int128 product = (unsigned __int128)round_trip_time * rate; /* bits * PS_PER_S */
	uint64_t slots = 1;

	while ((unsigned __int128)slots * frame * 8 * PS_PER_S < product &&
	       slots < SWITCHML_SLOTS_MAX)
		slots *= 2;
	return slots;
}

uint64_t switchml_slots_for(const struct switchml *job, sim_time round_trip_time)
{
	const struct network *net = &job->scheme->env.topo->net;
	const struct link_class *link = port_class(net, &net->ports[job->job.hosts[0]]);

	return switchml_slots_of(link->rate, job->scheme->frame, round_trip_time);
}

/* The largest power of two below `wanted`, a power of two, that a share of the memory holds. */
static uint64_t slots_held(uint64_t wanted, uint64_t most)
{
	while (wanted > most) /* at least one fits: check_memory() */
		wanted /= 2;
	return wanted;
}

/* `wanted` = that cover the round trip, `most` = that a share of the memory holds. */
static uint64_t slots_by_rule(const struct switchml_conf *conf, uint64_t wanted, uint64_t most)
{
	if (conf->slots_rule == SLOTS_MEMORY)
		return most < SWITCHML_SLOTS_MAX ? most : SWITCHML_SLOTS_MAX;
	return slots_held(wanted, most);
}

static uint32_t choose_slots(const struct switchml *job)
{
	const struct switchml_scheme *scheme = job->scheme;

	if (scheme->conf->slots_form == SLOTS_NUMBER)
		return (uint32_t)scheme->conf->slots;
	return (uint32_t)slots_by_rule(scheme->conf, switchml_slots_for(job, round_trip(job)),
				       scheme->share / scheme->slot_bytes);
}

/* Fewer slots than cover the way to the root and back; a number of them is as asked for. */
static struct collective_actual fewer_slots(const struct switchml_conf *conf, uint64_t slots,
					    uint64_t wanted)
{
	if (conf->slots_form == SLOTS_NUMBER || slots >= wanted)
		return (struct collective_actual){ 0 };
	return (struct collective_actual){ NULL, "memory", "slots", slots, wanted };
}

static struct collective_actual
switchml_runs_as(const void *self, const struct topology_conf *topology, bytes gradients)
{
	const struct switchml_conf *conf = self;
	struct switchml_format format = switchml_format_of(conf);
	uint32_t frame = switchml_frame(&format);
	uint64_t most = switchml_share(conf) / switchml_slot_bytes(&format);
	/* up to the root and down again is as long as one way between hosts */
	sim_time trip = ideal_round_trip(topology, frame, frame) / 2 + topology->host.jitter;
	uint64_t wanted = switchml_slots_of(topology->link.rate, frame, trip);

	(void)gradients;
	return fewer_slots(conf, slots_by_rule(conf, wanted, most), wanted);
}

static struct collective_actual switchml_ran_as(const void *instance)
{
	const struct switchml *job = instance;

	return fewer_slots(job->scheme->conf, job->slots, switchml_slots_for(job, round_trip(job)));
}

/* At each switch of its tree. */
static uint64_t bytes_of_job(const struct switchml *job)
{
	return job->scheme->conf->tenants ? job->scheme->share
					  : job->slots * job->scheme->slot_bytes;
}

static void place_nodes(struct switchml *job)
{
	job->node_of_switch =
		xcalloc(job->scheme->env.topo->net.switches, sizeof(*job->node_of_switch));
	job->nodes = xcalloc(job->tree->node_count, sizeof(*job->nodes));
	for (uint32_t i = 0; i < job->tree->node_count; i++) {
		struct node *node = &job->nodes[i];

		node->place = &job->tree->nodes[i];
		node->memory = &job->scheme->memory[node->place->sw];
		job->node_of_switch[node->place->sw] = i;
	}
}

static bool memory_is_free(const struct switchml *job)
{
	uint64_t need = bytes_of_job(job);

	for (uint32_t i = 0; i < job->tree->node_count; i++)
		if (job->nodes[i].memory->used_bytes + need > job->scheme->conf->memory)
			return false;
	return true;
}

static void take_memory(struct switchml *job)
{
	uint64_t need = bytes_of_job(job);

	for (uint32_t i = 0; i < job->tree->node_count; i++)
		collective_reserve(job->nodes[i].memory, job->scheme->env.sim->now, (int64_t)need);
}

static void return_memory(struct switchml *job)
{
	for (uint32_t i = 0; i < job->tree->node_count; i++)
		collective_reserve(job->nodes[i].memory, job->scheme->env.sim->now,
				   -(int64_t)bytes_of_job(job));
}

/* Tree and size of a job; neither memory nor workers yet. */
static struct switchml *plan_job(struct switchml_scheme *scheme, const struct collective_job *spec)
{
	struct topology *topo = scheme->env.topo;
	struct switchml *job = xcalloc(1, sizeof(*job));
	uint64_t entropy = hash_pair(hash_pair(scheme->env.sim->seed, hash_string("switchml root")),
				     spec->number);

	job->scheme = scheme;
	job->job = *spec;
	job->tree = tree_build(topo, spec->hosts, spec->workers,
			       topo->ops->root(topo, spec->hosts, spec->workers, entropy));
	place_nodes(job);
	job->slots = choose_slots(job);
	return job;
}

/* What plan_job() made. */
static void free_plan(struct switchml *job)
{
	tree_free(job->tree);
	free(job->nodes);
	free(job->node_of_switch);
	free(job);
}

static void make_workers(struct switchml *job)
{
	tensors_init(&job->tensors, job->job.workers);
	job->worker_of_host =
		xcalloc(job->scheme->env.topo->net.hosts, sizeof(*job->worker_of_host));
	job->workers = xaligned(64, job->job.workers * sizeof(*job->workers));
	for (uint32_t w = 0; w < job->job.workers; w++) {
		struct worker *worker = &job->workers[w];

		worker->job = job;
		worker->number = w;
		worker->host = job->job.hosts[w];
		worker->child = (uint16_t)(job->tree ? job->tree->number_of_worker[w] : w);
		switchml_worker_init(worker);
		job->worker_of_host[worker->host] = w;
	}
}

void switchml_job_begin(struct switchml *job)
{
	struct switchml_scheme *scheme = job->scheme;

	exact_init(&job->exact, scheme->env.checks, scheme->env.sim->seed, job->job.number,
		   job->job.workers);
	make_workers(job);
	job->number = (uint32_t)scheme->job_count;
	job->tensors.why = why_join(&scheme->env.topo->net, job->job.number, scheme->protocol,
				    job->number, WHY_NO_BYPASS);
	scheme->jobs = array_reserve(scheme->jobs, scheme->job_count, &scheme->job_capacity,
				     sizeof(*scheme->jobs));
	scheme->jobs[scheme->job_count++] = job;
}

void switchml_job_end(struct switchml *job)
{
	for (uint32_t w = 0; w < job->job.workers; w++)
		switchml_worker_release(&job->workers[w]);
	job->scheme->jobs[job->number] = NULL;
	exact_release(&job->exact);
	free(job->worker_of_host);
	free(job->workers);
	tensors_release(&job->tensors);
}

/* With its memory, but without workers; NULL when there is none. */
static struct switchml *admit(struct switchml_scheme *scheme, const struct collective_job *spec,
			      const char **never)
{
	struct switchml *job = plan_job(scheme, spec);

	*never = NULL;
	if (!memory_is_free(job)) {
		if (scheme->conf->admission == ADMISSION_REFUSE)
			*never = "no switch memory";
		free_plan(job);
		return NULL;
	}
	take_memory(job);
	return job;
}

static void *switchml_start(void *self, const struct collective_job *spec, const char **never)
{
	struct switchml *job = admit(self, spec, never);

	if (!job)
		return NULL;
	for (uint32_t i = 0; i < job->tree->node_count; i++)
		switchml_node_init(&job->nodes[i], job->slots);
	switchml_job_begin(job);
	return job;
}

/* One stream over all of the tree; the slots in flight limit it. */
static void *switchml_plan(void *self, const struct collective_job *spec, struct stream_plan *plan,
			   const char **never)
{
	struct switchml *job = admit(self, spec, never);
	const struct switchml_scheme *scheme = self;
	const struct network *net = &scheme->env.topo->net;
	struct plan_stream *stream;
	struct plan_path path;

	if (!job)
		return NULL;
	plan_init(plan, 1);
	stream = &plan->streams[0];
	plan_add_tree(stream, job->tree, spec->hosts, spec->workers);
	path = plan_tree_path(net, job->tree, spec->hosts, spec->workers, scheme->frame);
	plan->latency = plan_path_latency(&path);
	stream->packets = plan_ina_packets(net, scheme->frame, scheme->elements);
	stream->cap = plan_window_rate(&stream->packets, job->slots, path.sum);
	plan_fix_window(stream, job->slots, path.sum, net, spec->hosts[0]);
	plan_close(plan);
	plan_take_turns(plan, net, spec, 0);
	return job;
}

static void switchml_withdraw(void *admitted)
{
	return_memory(admitted);
	free_plan(admitted);
}

void switchml_contribute(void *instance, uint32_t worker, bytes size)
{
	struct switchml *job = instance;
	uint64_t elements = (size + ELEMENT_BYTES - 1) / ELEMENT_BYTES;
	uint64_t k = job->scheme->elements;

	switchml_worker_contribute(&job->workers[worker], elements ? (elements + k - 1) / k : 1);
}

static void switchml_finish(void *instance)
{
	struct switchml *job = instance;

	return_memory(job);
	for (uint32_t i = 0; i < job->tree->node_count; i++)
		switchml_node_release(&job->nodes[i]);
	switchml_job_end(job);
	free_plan(job);
}

void switchml_stats(const void *instance, struct collective_stats *stats)
{
	const struct switchml *job = instance;

	for (uint32_t w = 0; w < job->job.workers; w++) {
		stats->retransmissions += job->workers[w].retransmissions;
		stats->timeouts += job->workers[w].timeouts;
		stats->stale += job->workers[w].stale;
	}
}

static size_t switchml_memory(void *self, const struct collective_memory **list)
{
	struct switchml_scheme *scheme = self;

	*list = scheme->memory;
	return scheme->env.topo->net.switches;
}

uint64_t switchml_slots(const void *instance)
{
	return ((const struct switchml *)instance)->slots;
}

void switchml_report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct switchml *job = instance;

	for (uint32_t w = 0; w < job->job.workers && limit; w++) {
		const struct worker *worker = &job->workers[w];
		bool sent = worker->sent.first != SWITCHML_NONE;
		const struct worker_slot *oldest;

		if (!sent && worker->ready.first == SWITCHML_NONE)
			continue;
		oldest = &worker->slots[sent ? worker->sent.first : worker->ready.first];
		fprintf(to, "  %s job %" PRIu32 ": worker %" PRIu32 " (h%" PRIu32 ") waits for ",
			job->servers ? "ps_stream" : "SwitchML", job->job.number, w, worker->host);
		if (oldest->state == WORKER_SLOT_READY)
			fprintf(to, "its NIC to send ");
		fprintf(to, "chunk %" PRIu64 " of %" PRIu64, oldest->chunk,
			tensors_available(&worker->job->tensors, worker->number));
		if (oldest->state != WORKER_SLOT_READY)
			fprintf(to, ", sent at %.9f s", seconds_of(oldest->sent));
		fprintf(to, "\n");
		limit--;
	}
}

const struct collective_ops switchml_collective = {
	.name = "switchml",
	.help = "SwitchML: integer sums in switch slots, loss recovery with shadow copies, "
		"hierarchical",
	.table = &switchml_table,
	.frame = switchml_conf_frame,
	.beside = { .many = "0.5 to 1.1" },
	.check = switchml_check,
	.open = switchml_open,
	.close = switchml_close,
	.start = switchml_start,
	.contribute = switchml_contribute,
	.finish = switchml_finish,
	.plan = switchml_plan,
	.withdraw = switchml_withdraw,
	.tolerance = { .one_switch = 0.02, .tiers = 0.02, .together = 0.05 },
	.stats = switchml_stats,
	.memory = switchml_memory,
	.slots = switchml_slots,
	.idle = switchml_idle,
	.runs_as = switchml_runs_as,
	.ran_as = switchml_ran_as,
	.report_waiting = switchml_report_waiting,
};
