/* SwitchML: Sapio et al., "Scaling Distributed Machine Learning with In-Network
 * Aggregation", arXiv:1903.06701 (2019), with loss recovery (algorithms 3 and 4,
 * "V1") and the hierarchical composition of section 6 over the switches of a tree.
 *
 * Modelled: a pool of s slots with two versions each (shadow copy), a seen bit
 * per child and version, multicast of results, unicast repair from the shadow
 * copy, a retransmission timer per slot at the workers, self-clocking with at
 * most one packet per slot; switch memory as a finite resource with admission.
 * Simplified: packets are processed in the switch's constant latency; scaling and
 * conversion on hosts take no time.
 * Left open by the paper, and our reading:
 * - piece g of the whole stream of tensors uses slot g mod s, version (g/s) mod 2;
 *   algorithm 4 restarts at version 0 per tensor, appendix B and the public code
 *   demand one continuous stream; each tensor is padded to whole pieces;
 * - n = 1 (or one child below a switch): algorithm 3 as printed would add to stale
 *   data; the first contribution always overwrites;
 * - recovery above the leaf is sketched in section 6: a switch that gets a
 *   duplicate sends its partial sum up again, or the stored result down. */
#include "collective/collective.h"
#include "topo/tree.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

#define ELEMENT_BYTES 4
#define VERSIONS 2 /* the pool and its shadow copy */
#define NONE UINT32_MAX
#define NO_PIECE UINT64_MAX
#define SLOTS_MAX 65536 /* width of packet.slot */

struct switchml_conf {
	bytes memory;
	int64_t slots; /* 0 = from the bandwidth-delay product */
	int64_t elements_per_packet;
	int64_t header;
	sim_time timeout;
};

static const struct conf_row switchml_rows[] = {
	{ .name = "memory", .type = CONF_BYTES, .offset = offsetof(struct switchml_conf, memory), .min = 8,
	  .max = UINT64_C(1) << 40, .def = "\"1MB\"", .help = "Aggregation memory of each switch, for all jobs.",
	  .source = "ESA sections 1 and 2.2: 1 MB per job at 100 Gbps" },
	{ .name = "slots", .type = CONF_INT, .offset = offsetof(struct switchml_conf, slots), .imin = 1,
	  .imax = SLOTS_MAX, .def = CONF_OPTIONAL,
	  .help = "Slots of a job; when missing, the smallest power of two that covers the bandwidth-delay "
		  "product of its tree, at most what the memory holds." },
	{ .name = "elements_per_packet", .type = CONF_INT,
	  .offset = offsetof(struct switchml_conf, elements_per_packet), .imin = 1, .imax = 2048, .def = "32",
	  .help = "32-bit elements in a packet (k).", .source = "SwitchML section 3.3" },
	{ .name = "header", .type = CONF_INT, .offset = offsetof(struct switchml_conf, header), .imin = 20,
	  .imax = 200, .def = "52", .help = "Bytes of a frame besides the elements: Ethernet, IP, UDP, SwitchML, FCS.",
	  .source = "SwitchML sections 3.4 and 5.5: 180-byte packets, 28.9 % overhead" },
	{ .name = "retransmission_timeout", .type = CONF_TIME, .offset = offsetof(struct switchml_conf, timeout),
	  .min = PS_PER_US, .max = 100 * PS_PER_S, .def = "\"1ms\"", .help = "Timer of a slot at a worker, fixed.",
	  .source = "SwitchML section 5.5" },
	{ 0 },
};
extern const struct conf_table switchml_table; /* named by ina/schemes.c */
const struct conf_table switchml_table = { "switchml", switchml_rows, sizeof(struct switchml_conf),
						  "SwitchML with loss recovery." };

/* --- state --- */

enum slot_state { SLOT_PARTIAL, SLOT_SENT_UP, SLOT_DONE };

/* One version of one slot at one switch. */
struct slot {
	uint64_t piece; /* being added up, or last completed */
	uint64_t value;
	uint32_t count; /* contributions; 0 before the first */
	uint8_t state;
};

struct node {
	const struct tree_node *place;
	struct slot *slots;  /* [2 * slot + version] */
	uint64_t *seen;      /* [(2 * slot + version) * words] bits by child */
	uint32_t words;
	struct collective_memory *memory; /* of its switch; not owned */
};

struct worker_slot {
	uint64_t piece; /* awaiting its result, or NO_PIECE */
	uint64_t next;  /* the piece that will use the slot after that */
	sim_time sent;
	uint32_t previous, following; /* list of outstanding slots by time of sending */
	bool queued;                  /* waits for its turn to send `piece` again, or `next` */
};

struct switchml;

struct worker {
	struct switchml *job;
	uint32_t number, host;
	uint16_t child; /* its number at its leaf switch */
	struct nic_source source;
	struct worker_slot *slots;
	uint32_t oldest, newest; /* ends of the list of outstanding slots */
	uint32_t *queue;         /* ring of slots that may send, in order */
	uint32_t queue_head, queue_count;
	uint64_t available; /* pieces handed over */
	uint64_t tensors;   /* handed over */
	uint64_t first_open; /* oldest tensor that is not complete here */
	uint64_t *left;      /* pieces missing of tensor t, at [t & left_mask] */
	uint64_t left_mask;
	struct timer timer;
	uint64_t retransmissions, timeouts, stale, overtaken;
};

struct tensor {
	uint64_t base, pieces;
};

/* One job. */
struct switchml {
	struct switchml_scheme *scheme;
	struct collective_job job;
	struct exact exact;
	struct tree *tree;
	struct node *nodes;      /* by tree node */
	uint32_t *node_of_switch; /* of the switches on the tree */
	uint32_t *worker_of_host;
	struct worker *workers;
	uint32_t slots;
	uint32_t number; /* packet.flow */
	struct tensor *tensors;
	size_t tensor_count, tensor_capacity;
};

struct switchml_scheme {
	struct model_env env;
	const struct switchml_conf *conf;
	uint8_t protocol;
	struct switchml **jobs; /* by number; NULL when over: late packets find nobody */
	size_t job_count, job_capacity;
	struct collective_memory *memory; /* by switch */
};

static uint32_t frame_size(const struct switchml_conf *conf)
{
	return (uint32_t)(conf->elements_per_packet * ELEMENT_BYTES + conf->header);
}

static uint64_t slot_bytes(const struct switchml_conf *conf)
{
	return VERSIONS * (uint64_t)conf->elements_per_packet * ELEMENT_BYTES;
}

static uint32_t version_of(const struct switchml *job, uint64_t piece)
{
	return (uint32_t)(piece / job->slots % VERSIONS);
}

/* --- the switch: algorithm 3, with the states of the hierarchy --- */

static void send_one(struct switch_actions *actions, const struct packet *packet, const uint32_t *ports,
		     uint32_t count)
{
	struct switch_send *send = &actions->send[actions->count++];

	send->packet = *packet;
	send->ports = ports;
	send->count = count;
}

static void send_result(struct switch_actions *actions, const struct slot *slot, const struct packet *like,
			const uint32_t *ports, uint32_t count)
{
	struct packet result = *like;

	result.value = slot->value;
	result.flags = (uint8_t)((like->flags & PACKET_VERSION) | PACKET_RESULT);
	send_one(actions, &result, ports, count);
}

static void send_partial(struct switch_actions *actions, const struct node *node, const struct slot *slot,
			 const struct packet *like)
{
	struct packet partial = *like;

	partial.value = slot->value;
	partial.source = (uint16_t)node->place->number;
	send_one(actions, &partial, &node->place->up_port, 1);
}

/* A contribution that this switch has already: whoever sent it lacks a result. */
static void repeat(struct node *node, struct slot *slot, const struct packet *packet,
		   struct switch_actions *actions)
{
	struct collective_stats *stats = &node->memory->stats;

	stats->duplicates++;
	switch ((enum slot_state)slot->state) {
	case SLOT_PARTIAL:
		return; /* others are missing */
	case SLOT_SENT_UP:
		stats->repairs++;
		send_partial(actions, node, slot, packet);
		return;
	case SLOT_DONE:
		stats->repairs++;
		send_result(actions, slot, packet, &node->place->down_ports[packet->source], 1);
		return;
	}
}

static void violated(struct switchml *job, uint32_t sw, const struct packet *packet, const char *what)
{
	struct checks *checks = job->exact.checks;

	checks_violated(checks, &checks->exact_violations,
			"SwitchML job %" PRIu32 ": %s, piece %" PRIu64 " at switch %" PRIu32 " at %.9f s",
			job->job.number, what, packet->seq, sw, seconds_of(job->scheme->env.sim->now));
	sim_stop(job->scheme->env.sim);
}

static void contribution(struct switchml *job, struct node *node, const struct packet *packet,
			 struct switch_actions *actions)
{
	uint32_t version = packet->flags & PACKET_VERSION ? 1 : 0;
	uint32_t index = VERSIONS * packet->slot + version;
	struct slot *slot = &node->slots[index];
	uint32_t word = packet->source / 64;
	uint64_t bit = UINT64_C(1) << packet->source % 64;
	uint64_t *seen = &node->seen[(size_t)index * node->words + word];
	uint64_t *seen_other = &node->seen[(size_t)(index ^ 1) * node->words + word];

	if (*seen & bit) {
		repeat(node, slot, packet, actions);
		return;
	}
	*seen |= bit;
	*seen_other &= ~bit;
	node->memory->stats.packets_aggregated++;
	if (slot->count == 0 || slot->count == node->place->children) {
		*slot = (struct slot){ .piece = packet->seq, .value = packet->value, .count = 1,
				       .state = SLOT_PARTIAL };
	} else {
		/* a late duplicate would be added to another piece; FIFO paths exclude it */
		if (slot->piece != packet->seq) {
			violated(job, node->place->sw, packet, "a contribution met another piece");
			return;
		}
		slot->value += packet->value;
		slot->count++;
	}
	if (slot->count < node->place->children)
		return;
	if (node->place->parent == TREE_NONE) {
		slot->state = SLOT_DONE;
		node->memory->stats.results++;
		send_result(actions, slot, packet, node->place->down_ports, node->place->children);
	} else {
		slot->state = SLOT_SENT_UP;
		send_partial(actions, node, slot, packet);
	}
}

/* A result on its way down: it takes the partial sum's place, which the parent
 * cannot need any more, and goes to all children, also when it comes again. */
static void result_at_switch(struct node *node, const struct packet *packet, struct switch_actions *actions)
{
	uint32_t version = packet->flags & PACKET_VERSION ? 1 : 0;
	struct slot *slot = &node->slots[VERSIONS * packet->slot + version];

	if (slot->piece != packet->seq || slot->state == SLOT_PARTIAL) {
		node->memory->stats.stale++; /* of an earlier use of the slot */
		return;
	}
	slot->value = packet->value;
	slot->state = SLOT_DONE;
	send_one(actions, packet, node->place->down_ports, node->place->children);
}

static void switchml_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			       struct switch_actions *actions)
{
	struct switchml_scheme *scheme = self;
	struct switchml *job = scheme->jobs[packet->flow];

	(void)back; /* children are known by packet.source */
	if (!job)
		return; /* the job is over */
	if (packet->flags & PACKET_RESULT)
		result_at_switch(&job->nodes[job->node_of_switch[sw]], packet, actions);
	else
		contribution(job, &job->nodes[job->node_of_switch[sw]], packet, actions);
}

/* --- the worker: algorithm 4 --- */

static void list_remove(struct worker *worker, uint32_t i)
{
	struct worker_slot *slot = &worker->slots[i];

	*(slot->previous == NONE ? &worker->oldest : &worker->slots[slot->previous].following) = slot->following;
	*(slot->following == NONE ? &worker->newest : &worker->slots[slot->following].previous) = slot->previous;
}

static void list_append(struct worker *worker, uint32_t i)
{
	struct worker_slot *slot = &worker->slots[i];

	slot->previous = worker->newest;
	slot->following = NONE;
	*(worker->newest == NONE ? &worker->oldest : &worker->slots[worker->newest].following) = i;
	worker->newest = i;
}

/* The slot's next packet, new or again, waits for the NIC. */
static void queue_slot(struct worker *worker, uint32_t i)
{
	uint32_t at = worker->queue_head + worker->queue_count++;

	if (at >= worker->job->slots)
		at -= worker->job->slots;
	worker->queue[at] = i;
	worker->slots[i].queued = true;
}

static void wake(struct worker *worker)
{
	if (worker->queue_count)
		nic_wake(&worker->job->scheme->env.topo->net.nics[worker->host], &worker->source);
}

/* All timers of a worker have the same length, so the oldest sending is the next
 * to expire: one pending event per worker. */
static void arm_timer(struct worker *worker)
{
	struct sim *sim = worker->job->scheme->env.sim;

	if (worker->oldest != NONE && !timer_pending(sim, &worker->timer))
		timer_set(sim, &worker->timer,
			  worker->slots[worker->oldest].sent + worker->job->scheme->conf->timeout);
}

/* The next slot in the queue that has something to send. A slot whose result came
 * while it waited to send again may have nothing left. */
static uint32_t take_ready(struct worker *worker)
{
	while (worker->queue_count) {
		uint32_t i = worker->queue[worker->queue_head];
		struct worker_slot *slot = &worker->slots[i];

		worker->queue_head = worker->queue_head + 1 == worker->job->slots ? 0 : worker->queue_head + 1;
		worker->queue_count--;
		slot->queued = false;
		if (slot->piece != NO_PIECE || slot->next < worker->available)
			return i;
	}
	return NONE;
}

static enum nic_pull switchml_pull(void *owner, struct packet *packet)
{
	struct worker *worker = owner;
	struct switchml *job = worker->job;
	uint32_t i = take_ready(worker);
	struct worker_slot *slot;

	if (i == NONE)
		return NIC_NOTHING;
	slot = &worker->slots[i];
	if (slot->piece == NO_PIECE) {
		slot->piece = slot->next;
		slot->next += job->slots;
	} else {
		worker->retransmissions++;
	}
	*packet = (struct packet){
		.seq = slot->piece,
		.value = exact_contribution(&job->exact, worker->number, slot->piece),
		.flow = job->number,
		.source = worker->child,
		.size = (uint16_t)frame_size(job->scheme->conf),
		.slot = (uint16_t)i,
		.kind = PACKET_AGGREGATION,
		.flags = version_of(job, slot->piece) ? PACKET_VERSION : 0,
		.protocol = job->scheme->protocol,
	};
	slot->sent = job->scheme->env.sim->now;
	list_append(worker, i);
	arm_timer(worker);
	return worker->queue_count ? NIC_MORE : NIC_LAST;
}

static void on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct worker *worker = owner;
	sim_time timeout = worker->job->scheme->conf->timeout;

	(void)entity;
	while (worker->oldest != NONE && worker->slots[worker->oldest].sent + timeout <= sim->now) {
		uint32_t i = worker->oldest;

		list_remove(worker, i);
		worker->timeouts++;
		queue_slot(worker, i);
	}
	arm_timer(worker);
	wake(worker);
}

/* Counts a piece for its tensor; the tensors under way are few. */
static void piece_done(struct worker *worker, uint64_t piece)
{
	struct switchml *job = worker->job;
	uint64_t t = worker->first_open;

	while (piece >= job->tensors[t].base + job->tensors[t].pieces)
		t++;
	if (--worker->left[t & worker->left_mask])
		return;
	while (worker->first_open < worker->tensors && !worker->left[worker->first_open & worker->left_mask])
		worker->first_open++;
	job->job.done(job->job.owner, worker->number, t);
}

static void result_at_worker(struct worker *worker, const struct packet *packet)
{
	struct switchml *job = worker->job;
	struct worker_slot *slot = &worker->slots[packet->slot];

	if (slot->piece != packet->seq) {
		worker->stale++; /* multicast and repair: only the first may advance the slot */
		return;
	}
	if (!exact_holds(&job->exact, packet->seq, packet->value)) {
		violated(job, worker->host, packet, "wrong sum at a worker");
		return;
	}
	slot->piece = NO_PIECE;
	if (slot->queued)
		worker->overtaken++; /* its timer had expired, but nothing had left again yet */
	else
		list_remove(worker, packet->slot);
	if (slot->next < worker->available && !slot->queued)
		queue_slot(worker, packet->slot);
	wake(worker);
	piece_done(worker, packet->seq);
}

static void switchml_deliver(void *self, uint32_t host, const struct packet *packet)
{
	struct switchml_scheme *scheme = self;
	struct switchml *job = scheme->jobs[packet->flow];

	if (job)
		result_at_worker(&job->workers[job->worker_of_host[host]], packet);
}

static const struct protocol_ops switchml_protocol = {
	.name = "switchml",
	.deliver = switchml_deliver,
	.at_switch = switchml_at_switch,
};

/* --- jobs --- */

static void switchml_check(const void *self, const struct topology_conf *topology, struct conf_doc *doc)
{
	const struct switchml_conf *conf = self;
	uint64_t slots = conf->slots ? (uint64_t)conf->slots : 1;

	(void)topology;
	if (slots * slot_bytes(conf) > conf->memory)
		conf_error(doc, conf->slots ? "/schemes/switchml/slots" : "/schemes/switchml/memory",
			   "%" PRIu64 " slots of %" PRId64 " elements in two versions need %" PRIu64
			   " bytes, but a switch has %" PRIu64 " bytes of aggregation memory",
			   slots, conf->elements_per_packet, slots * slot_bytes(conf), conf->memory);
}

static void *switchml_open(const struct model_env *env, const void *conf)
{
	struct switchml_scheme *scheme = xcalloc(1, sizeof(*scheme));
	uint32_t switches = env->topo->net.switches;

	scheme->env = *env;
	scheme->conf = conf;
	scheme->protocol = network_register(&env->topo->net, &switchml_protocol, scheme);
	scheme->memory = xcalloc(switches, sizeof(*scheme->memory));
	for (uint32_t s = 0; s < switches; s++)
		scheme->memory[s] = (struct collective_memory){ .sw = s,
								.memory_bytes = scheme->conf->memory };
	return scheme;
}

static void switchml_close(void *self)
{
	struct switchml_scheme *scheme = self;

	free(scheme->jobs);
	free(scheme->memory);
	free(scheme);
}

/* Worker to root and back for one packet on an idle network. */
static sim_time round_trip(const struct switchml *job)
{
	const struct network *net = &job->scheme->env.topo->net;
	uint32_t size = frame_size(job->scheme->conf), port = job->workers[0].host;
	const struct node *node = &job->nodes[job->tree->node_of_worker[0]];
	sim_time sum = 0;

	for (;;) {
		const struct link_class *up = port_class(net, &net->ports[port]);
		const struct link_class *down = port_class(net, &net->ports[net->rare[port].reverse]);

		sum += link_transmission(up, size) + up->latency + link_transmission(down, size) + down->latency;
		if (node->place->parent == TREE_NONE)
			return sum;
		port = node->place->up_port;
		node = &job->nodes[node->place->parent];
	}
}

/* Section 3.6: s packets must cover the bandwidth-delay product; a power of two. */
static uint32_t choose_slots(const struct switchml *job)
{
	const struct switchml_conf *conf = job->scheme->conf;
	const struct network *net = &job->scheme->env.topo->net;
	const struct link_class *link = port_class(net, &net->ports[job->workers[0].host]);
	sim_time packet = link_transmission(link, frame_size(conf));
	uint64_t needed = (round_trip(job) + packet - 1) / packet, slots = 1;

	if (conf->slots)
		return (uint32_t)conf->slots;
	while (slots < needed && slots < SLOTS_MAX)
		slots *= 2;
	while (slots * slot_bytes(conf) > conf->memory)
		slots /= 2; /* at least one fits: switchml_check() */
	return (uint32_t)slots;
}

static void place_nodes(struct switchml *job)
{
	job->node_of_switch = xcalloc(job->scheme->env.topo->net.switches, sizeof(*job->node_of_switch));
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
	uint64_t need = job->slots * slot_bytes(job->scheme->conf);

	for (uint32_t i = 0; i < job->tree->node_count; i++)
		if (job->nodes[i].memory->used_bytes + need > job->scheme->conf->memory)
			return false;
	return true;
}

static void take_memory(struct switchml *job)
{
	uint64_t need = job->slots * slot_bytes(job->scheme->conf);

	for (uint32_t i = 0; i < job->tree->node_count; i++) {
		struct node *node = &job->nodes[i];

		node->memory->used_bytes += need;
		if (node->memory->used_bytes > node->memory->used_max_bytes)
			node->memory->used_max_bytes = node->memory->used_bytes;
		node->words = (node->place->children + 63) / 64;
		node->slots = xcalloc((size_t)VERSIONS * job->slots, sizeof(*node->slots));
		node->seen = xcalloc((size_t)VERSIONS * job->slots * node->words, sizeof(*node->seen));
	}
}

static void worker_init(struct switchml *job, uint32_t w)
{
	struct worker *worker = &job->workers[w];

	worker->child = (uint16_t)job->tree->number_of_worker[w];
	worker->source = (struct nic_source){ .pull = switchml_pull, .owner = worker };
	worker->oldest = worker->newest = NONE;
	worker->slots = xcalloc(job->slots, sizeof(*worker->slots));
	for (uint32_t i = 0; i < job->slots; i++)
		worker->slots[i] = (struct worker_slot){ .piece = NO_PIECE, .next = i };
	worker->queue = xcalloc(job->slots, sizeof(*worker->queue));
	timer_open(job->scheme->env.sim, &worker->timer, SIM_TIMER,
		   sim_key(SIM_TIMER, UINT64_C(1) << 55 | (uint64_t)job->job.number << 24 | w), on_timeout, worker);
	job->worker_of_host[worker->host] = w;
}

static void free_job(struct switchml *job)
{
	for (uint32_t i = 0; i < job->tree->node_count; i++) {
		free(job->nodes[i].slots);
		free(job->nodes[i].seen);
	}
	for (uint32_t w = 0; w < job->job.workers; w++) {
		free(job->workers[w].slots);
		free(job->workers[w].queue);
		free(job->workers[w].left);
	}
	tree_free(job->tree);
	exact_release(&job->exact);
	free(job->nodes);
	free(job->node_of_switch);
	free(job->worker_of_host);
	free(job->workers);
	free(job->tensors);
	free(job);
}

static void *switchml_start(void *self, const struct collective_job *spec, const char **never)
{
	struct switchml_scheme *scheme = self;
	struct topology *topo = scheme->env.topo;
	struct switchml *job = xcalloc(1, sizeof(*job));
	uint64_t entropy = hash_pair(hash_pair(scheme->env.sim->seed, hash_string("switchml root")), spec->number);

	*never = NULL;
	job->scheme = scheme;
	job->job = *spec;
	job->workers = xcalloc(spec->workers, sizeof(*job->workers));
	for (uint32_t w = 0; w < spec->workers; w++)
		job->workers[w] = (struct worker){ .job = job, .number = w, .host = spec->hosts[w] };
	job->tree = tree_build(topo, spec->hosts, spec->workers,
			       topo->ops->root(topo, spec->hosts, spec->workers, entropy));
	place_nodes(job);
	job->slots = choose_slots(job);
	if (!memory_is_free(job)) {
		free_job(job);
		return NULL;
	}
	take_memory(job);
	exact_init(&job->exact, scheme->env.checks, scheme->env.sim->seed, spec->number, spec->workers);
	job->worker_of_host = xcalloc(topo->net.hosts, sizeof(*job->worker_of_host));
	for (uint32_t w = 0; w < spec->workers; w++)
		worker_init(job, w);
	job->number = (uint32_t)scheme->job_count;
	scheme->jobs = array_reserve(scheme->jobs, scheme->job_count, &scheme->job_capacity, sizeof(*scheme->jobs));
	scheme->jobs[scheme->job_count++] = job;
	return job;
}

/* Room for one more open tensor of a worker: a ring, its size a power of two. */
static void reserve_left(struct worker *worker)
{
	uint64_t open = worker->tensors - worker->first_open;
	uint64_t capacity = worker->left ? worker->left_mask + 1 : 0;
	uint64_t *left;

	if (open < capacity)
		return;
	left = xcalloc(capacity ? 2 * capacity : 8, sizeof(*left));
	for (uint64_t t = worker->first_open; t < worker->tensors; t++)
		left[t & (capacity ? 2 * capacity - 1 : 7)] = worker->left[t & worker->left_mask];
	free(worker->left);
	worker->left = left;
	worker->left_mask = capacity ? 2 * capacity - 1 : 7;
}

static void switchml_contribute(void *instance, uint32_t w, bytes size)
{
	struct switchml *job = instance;
	struct worker *worker = &job->workers[w];
	uint64_t elements = (size + ELEMENT_BYTES - 1) / ELEMENT_BYTES;
	uint64_t k = (uint64_t)job->scheme->conf->elements_per_packet;
	uint64_t pieces = elements ? (elements + k - 1) / k : 1, old = worker->available;

	if (worker->tensors == job->tensor_count) {
		job->tensors = array_reserve(job->tensors, job->tensor_count, &job->tensor_capacity,
					     sizeof(*job->tensors));
		job->tensors[job->tensor_count++] = (struct tensor){ .base = old, .pieces = pieces };
	}
	SIM_BUG_ON(job->tensors[worker->tensors].pieces != pieces); /* one order at all workers */
	reserve_left(worker);
	worker->left[worker->tensors++ & worker->left_mask] = pieces;
	worker->available += pieces;
	for (uint64_t g = old; g < worker->available && g < old + job->slots; g++) {
		struct worker_slot *slot = &worker->slots[g % job->slots];

		if (slot->piece == NO_PIECE && slot->next == g && !slot->queued)
			queue_slot(worker, (uint32_t)(g % job->slots));
	}
	wake(worker);
}

static void switchml_finish(void *instance)
{
	struct switchml *job = instance;
	struct switchml_scheme *scheme = job->scheme;

	for (uint32_t i = 0; i < job->tree->node_count; i++)
		job->nodes[i].memory->used_bytes -= job->slots * slot_bytes(scheme->conf);
	for (uint32_t w = 0; w < job->job.workers; w++) {
		struct worker *worker = &job->workers[w];

		nic_forget(&scheme->env.topo->net.nics[worker->host], &worker->source);
		timer_close(scheme->env.sim, &worker->timer);
	}
	scheme->jobs[job->number] = NULL;
	free_job(job);
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

		if (worker->oldest == NONE)
			continue;
		fprintf(to,
			"  SwitchML job %" PRIu32 ": worker %" PRIu32 " (h%" PRIu32 ") waits for piece %" PRIu64
			" of %" PRIu64 ", sent at %.9f s\n",
			job->job.number, w, worker->host, worker->slots[worker->oldest].piece,
			worker->available, seconds_of(worker->slots[worker->oldest].sent));
		limit--;
	}
}

const struct collective_ops switchml_collective = {
	.name = "switchml",
	.help = "SwitchML: integer sums in switch slots, loss recovery with shadow copies, hierarchical",
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
