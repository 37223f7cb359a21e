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
 * - piece g of the whole stream of tensors uses slot g mod s, version (g/s) mod 2;
 *   algorithm 4 restarts at version 0 per tensor, appendix B and the public code
 *   demand one continuous stream; each tensor is padded to whole pieces;
 * - n = 1 (or one child below a switch): algorithm 3 as printed would add to stale
 *   data; the first contribution always overwrites;
 * - recovery above the leaf is sketched in section 6: a switch that gets a
 *   duplicate sends its partial sum up again, or the stored result down. */
#include "ina/switchml.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

#define ELEMENT_BYTES 4
#define TENSORS_FIRST 8 /* open tensors that there is room for at first; a power of two */

/* A packet as somebody has built it. */
struct format {
	const char *name;
	int64_t elements, header; /* header: all bytes of a frame besides the elements */
	int64_t switch_elements;  /* that the switch adds and keeps */
};

static const struct format formats[] = {
	{ "s19", 32, 52, 32 },      /* section 3.4: 180 bytes */
	{ "s19-mtu", 366, 52, 32 }, /* section 5.5: 1516 bytes, "just the first 32 elements" */
	{ "udp-32", 32, 56, 32 },   /* p4app-switchML headers.p4: 52 and an FCS */
	{ "udp-64", 64, 56, 64 },   { "udp-256", 256, 56, 256 },
};
static const char *const format_names[] = { "s19", "s19-mtu", "udp-32", "udp-64", "udp-256", NULL };

static const char *const admission_names[] = {
	[ADMISSION_QUEUE] = "queue", [ADMISSION_REFUSE] = "refuse", NULL
};
static const char *const slots_rules[] = { [SLOTS_BDP] = "bdp", [SLOTS_MEMORY] = "memory", NULL };

#define AT(field) .offset = offsetof(struct switchml_conf, field)
static const struct conf_row slots_forms[] = {
	{ .name = "number",
	  .type = CONF_INT,
	  AT(slots),
	  .imin = 1,
	  .imax = SWITCHML_SLOTS_MAX,
	  .help = "So many." },
	{ .name = "rule",
	  .type = CONF_ENUM,
	  AT(slots_rule),
	  .choices = slots_rules,
	  .help = "bdp: the smallest power of two that covers the bandwidth-delay product of the "
		  "job's tree, at most what the memory holds; memory: all that it holds." },
	{ 0 },
};
static const struct conf_table slots_table = { "switchml_slots", slots_forms,
					       sizeof(struct switchml_conf), NULL };

static const struct conf_row switchml_rows[] = {
	{ .name = "memory",
	  .type = CONF_BYTES,
	  AT(memory),
	  .min = 8,
	  .max = UINT64_C(1) << 40,
	  .def = "\"1MB\"",
	  .help = "Aggregation memory of each switch, for all jobs.",
	  .source = "ESA sections 1 and 2.2: 1 MB per job at 100 Gbps" },
	{ .name = "tenants",
	  .type = CONF_INT,
	  AT(tenants),
	  .imin = 1,
	  .imax = 1000000,
	  .def = CONF_OPTIONAL,
	  .help = "Splits the memory of a switch into so many equal parts, of which a job has one, "
		  "whole, for its life; when missing, a job takes what its slots need." },
	{ .name = "admission",
	  .type = CONF_ENUM,
	  AT(admission),
	  .choices = admission_names,
	  .def = "\"queue\"",
	  .help = "A job that finds no memory at a switch of its tree: queue: waits for it, and "
		  "those behind it with it; refuse: never runs.",
	  .source = "SwitchML section 6: an admission mechanism; ESA section 2.1" },
	{ .name = "slots",
	  .type = CONF_ONEOF,
	  .offset = 0,
	  .tag = offsetof(struct switchml_conf, slots_form),
	  .table = &slots_table,
	  .def = "\"bdp\"",
	  .help = "Slots of a job (s).",
	  .source = "SwitchML section 3.6" },
	{ .name = "format",
	  .type = CONF_ENUM,
	  AT(format),
	  .choices = format_names,
	  .def = "\"s19\"",
	  .help = "s19: 32 elements in 180 bytes; s19-mtu: 366 in 1516, of which the switch adds "
		  "32 and passes the rest as it is; udp-32, udp-64, udp-256: the public code's, "
		  "with 56 bytes of headers.",
	  .source = "SwitchML sections 3.4 and 5.5; p4app-switchML" },
	{ .name = "elements_per_packet",
	  .type = CONF_INT,
	  AT(elements_per_packet),
	  .imin = 1,
	  .imax = 2048,
	  .def = CONF_OPTIONAL,
	  .help = "32-bit elements in a packet (k), instead of the format's." },
	{ .name = "header",
	  .type = CONF_INT,
	  AT(header),
	  .imin = 20,
	  .imax = 200,
	  .def = CONF_OPTIONAL,
	  .help = "Bytes of a frame besides the elements (Ethernet, IP, UDP, SwitchML, FCS), "
		  "instead "
		  "of the format's." },
	{ .name = "switch_elements",
	  .type = CONF_INT,
	  AT(switch_elements),
	  .imin = 1,
	  .imax = 2048,
	  .def = CONF_OPTIONAL,
	  .help = "Elements of a packet that a switch adds and has memory for; when missing, the "
		  "format's, or all of elements_per_packet. Fewer than the packet has emulate a "
		  "switch that could add more." },
	{ .name = "retransmission_timeout",
	  .type = CONF_TIME,
	  AT(timeout.first),
	  .min = PS_PER_US,
	  .max = 100 * PS_PER_S,
	  .def = "\"1ms\"",
	  .help = "Timer of a slot at a worker, at first.",
	  .source = "SwitchML section 5.5" },
	{ .name = "timeout_rule",
	  .type = CONF_ENUM,
	  AT(timeout.rule),
	  .choices = rto_names,
	  .def = "\"fixed\"",
	  .help = "What becomes of the timeout: fixed; doubling: twice as long when more than "
		  "timeout_threshold packets of a worker have expired, and that many more each "
		  "time (public client); adaptive: follows the round-trip time (RFC 6298).",
	  .source = "SwitchML section 5.5" },
	{ .name = "timeout_threshold",
	  .type = CONF_INT,
	  AT(timeout.threshold),
	  .imin = 1,
	  .imax = 1000000000,
	  .def = "100",
	  .help = "See timeout_rule doubling.",
	  .source = "p4app-switchML timeouts.cfg" },
	{ .name = "timeout_min",
	  .type = CONF_TIME,
	  AT(timeout.least),
	  .min = PS_PER_NS,
	  .max = 100 * PS_PER_S,
	  .def = "\"100us\"",
	  .help = "Least timeout of timeout_rule adaptive.",
	  .source = "our choice" },
	{ 0 },
};
extern const struct conf_table switchml_table; /* named by ina/schemes.c */
const struct conf_table switchml_table = { "switchml", switchml_rows, sizeof(struct switchml_conf),
					   "SwitchML with loss recovery." };

/* The packet: the format, and what replaces parts of it. */
static struct format format_of(const struct switchml_conf *conf)
{
	struct format format = formats[conf->format];

	if (conf->elements_per_packet)
		format.elements = format.switch_elements = conf->elements_per_packet;
	if (conf->header)
		format.header = conf->header;
	if (conf->switch_elements)
		format.switch_elements = conf->switch_elements;
	return format;
}

static uint32_t frame_size(const struct format *format)
{
	return (uint32_t)(format->elements * ELEMENT_BYTES + format->header);
}

static uint64_t slot_bytes(const struct format *format)
{
	return SWITCHML_VERSIONS * (uint64_t)format->switch_elements * ELEMENT_BYTES;
}

/* Of a switch's memory that one job may have. */
static uint64_t share_of_memory(const struct switchml_conf *conf)
{
	return conf->memory / (conf->tenants ? (uint64_t)conf->tenants : 1);
}

void switchml_violated(struct switchml *job, uint32_t node, uint64_t piece, const char *what)
{
	const struct model_env *env = &job->scheme->env;
	char name[24];

	checks_violated(env->checks, &env->checks->exact_violations,
			"SwitchML: %s: job %" PRIu32 ", piece %" PRIu64 ", at %s, at %.9f s", what,
			job->job.number, piece,
			topology_node_name(env->topo, node, name, sizeof(name)),
			seconds_of(env->sim->now));
	sim_stop(env->sim);
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

static void check_memory(const struct switchml_conf *conf, const struct format *format,
			 struct conf_doc *doc)
{
	bool number = conf->slots_form == SLOTS_NUMBER;
	uint64_t slots = number ? (uint64_t)conf->slots : 1, need = slots * slot_bytes(format);

	if (need <= share_of_memory(conf))
		return;
	conf_error(doc, number ? "/schemes/switchml/slots" : "/schemes/switchml/memory",
		   "%" PRIu64 " slots of %" PRId64 " elements in two versions need %" PRIu64
		   " bytes, but %s has %" PRIu64 " bytes of aggregation memory",
		   slots, format->switch_elements, need,
		   conf->tenants ? "a tenant of a switch" : "a switch", share_of_memory(conf));
}

static void switchml_check(const void *self, const struct topology_conf *topology,
			   struct conf_doc *doc)
{
	const struct switchml_conf *conf = self;
	struct format format = format_of(conf);

	if (frame_size(&format) > topology->switches.buffer)
		conf_error(doc, "/schemes/switchml/elements_per_packet",
			   "a packet of %" PRIu32
			   " bytes does not fit into a switch queue of %" PRIu64 " bytes",
			   frame_size(&format), topology->switches.buffer);
	if (format.switch_elements > format.elements)
		conf_error(doc, "/schemes/switchml/switch_elements",
			   "a switch cannot add %" PRId64 " elements of a packet that has %" PRId64,
			   format.switch_elements, format.elements);
	check_memory(conf, &format, doc);
}

static void *switchml_open(const struct model_env *env, const void *conf)
{
	struct switchml_scheme *scheme = xcalloc(1, sizeof(*scheme));
	uint32_t switches = env->topo->net.switches;
	struct format format = format_of(conf);

	scheme->env = *env;
	scheme->conf = conf;
	scheme->elements = (uint32_t)format.elements;
	scheme->frame = frame_size(&format);
	scheme->slot_bytes = slot_bytes(&format);
	scheme->share = share_of_memory(conf);
	scheme->protocol = network_register(&env->topo->net, &switchml_protocol, scheme);
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
			port_class(net, &net->ports[net->rare[port].reverse]);

		sum += link_transmission(up, size) + up->latency;
		sum += link_transmission(down, size) + down->latency + down->jitter_max;
		if (node->place->parent == TREE_NONE)
			return sum;
		port = node->place->up_port;
		node = &job->nodes[node->place->parent];
	}
}

/* Section 3.6: the next power of two of ceil(BDP / b), b the frame without preamble
 * and gap, as the paper counts. */
static uint64_t slots_for_bdp(const struct switchml *job)
{
	const struct network *net = &job->scheme->env.topo->net;
	const struct link_class *link = port_class(net, &net->ports[job->job.hosts[0]]);
	unsigned __int128 product =
		(unsigned __int128)round_trip(job) * link->rate; /* bits * PS_PER_S */
	uint64_t slots = 1;

	while ((unsigned __int128)slots * job->scheme->frame * 8 * PS_PER_S < product &&
	       slots < SWITCHML_SLOTS_MAX)
		slots *= 2;
	return slots;
}

static uint32_t choose_slots(const struct switchml *job)
{
	const struct switchml_scheme *scheme = job->scheme;
	uint64_t most = scheme->share / scheme->slot_bytes,
		 slots; /* at least one: check_memory() */

	if (scheme->conf->slots_form == SLOTS_NUMBER)
		return (uint32_t)scheme->conf->slots;
	if (scheme->conf->slots_rule == SLOTS_MEMORY)
		return (uint32_t)(most < SWITCHML_SLOTS_MAX ? most : SWITCHML_SLOTS_MAX);
	for (slots = slots_for_bdp(job); slots > most; slots /= 2)
		;
	return (uint32_t)slots;
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

	for (uint32_t i = 0; i < job->tree->node_count; i++) {
		collective_reserve(job->nodes[i].memory, job->scheme->env.sim->now, (int64_t)need);
		switchml_node_init(&job->nodes[i], job->slots);
	}
}

static void make_workers(struct switchml *job)
{
	job->tensor_mask = TENSORS_FIRST - 1;
	job->tensor_end = xcalloc(TENSORS_FIRST, sizeof(*job->tensor_end));
	job->worker_of_host =
		xcalloc(job->scheme->env.topo->net.hosts, sizeof(*job->worker_of_host));
	job->workers = xaligned(64, job->job.workers * sizeof(*job->workers));
	for (uint32_t w = 0; w < job->job.workers; w++) {
		struct worker *worker = &job->workers[w];

		worker->job = job;
		worker->number = w;
		worker->host = job->job.hosts[w];
		worker->child = (uint16_t)job->tree->number_of_worker[w];
		switchml_worker_init(worker);
		job->worker_of_host[worker->host] = w;
	}
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

static void *switchml_start(void *self, const struct collective_job *spec, const char **never)
{
	struct switchml_scheme *scheme = self;
	struct switchml *job = plan_job(scheme, spec);

	*never = NULL;
	if (!memory_is_free(job)) {
		if (scheme->conf->admission == ADMISSION_REFUSE)
			*never = "no switch memory";
		free_plan(job);
		return NULL;
	}
	take_memory(job);
	exact_init(&job->exact, scheme->env.checks, scheme->env.sim->seed, spec->number,
		   spec->workers);
	make_workers(job);
	job->number = (uint32_t)scheme->job_count;
	scheme->jobs = array_reserve(scheme->jobs, scheme->job_count, &scheme->job_capacity,
				     sizeof(*scheme->jobs));
	scheme->jobs[scheme->job_count++] = job;
	return job;
}

static void switchml_contribute(void *instance, uint32_t worker, bytes size)
{
	struct switchml *job = instance;
	uint64_t elements = (size + ELEMENT_BYTES - 1) / ELEMENT_BYTES;
	uint64_t k = job->scheme->elements;

	switchml_worker_contribute(&job->workers[worker], elements ? (elements + k - 1) / k : 1);
}

static void switchml_finish(void *instance)
{
	struct switchml *job = instance;

	for (uint32_t i = 0; i < job->tree->node_count; i++) {
		collective_reserve(job->nodes[i].memory, job->scheme->env.sim->now,
				   -(int64_t)bytes_of_job(job));
		switchml_node_release(&job->nodes[i]);
	}
	for (uint32_t w = 0; w < job->job.workers; w++)
		switchml_worker_release(&job->workers[w]);
	job->scheme->jobs[job->number] = NULL;
	exact_release(&job->exact);
	free(job->worker_of_host);
	free(job->workers);
	free(job->tensor_end);
	free_plan(job);
}

static void switchml_stats(const void *instance, struct collective_stats *stats)
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

static uint64_t switchml_slots(const void *instance)
{
	return ((const struct switchml *)instance)->slots;
}

static void switchml_report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct switchml *job = instance;

	for (uint32_t w = 0; w < job->job.workers && limit; w++) {
		const struct worker *worker = &job->workers[w];
		const struct worker_slot *oldest;

		if (worker->sent.first == SWITCHML_NONE)
			continue;
		oldest = &worker->slots[worker->sent.first];
		fprintf(to,
			"  SwitchML job %" PRIu32 ": worker %" PRIu32 " (h%" PRIu32
			") waits for piece %" PRIu64 " of %" PRIu64 ", sent at %.9f s\n",
			job->job.number, w, worker->host, oldest->piece, worker->available,
			seconds_of(oldest->sent));
		limit--;
	}
}

const struct collective_ops switchml_collective = {
	.name = "switchml",
	.help = "SwitchML: integer sums in switch slots, loss recovery with shadow copies, "
		"hierarchical",
	.table = &switchml_table,
	.check = switchml_check,
	.open = switchml_open,
	.close = switchml_close,
	.start = switchml_start,
	.contribute = switchml_contribute,
	.finish = switchml_finish,
	.stats = switchml_stats,
	.memory = switchml_memory,
	.slots = switchml_slots,
	.report_waiting = switchml_report_waiting,
};
