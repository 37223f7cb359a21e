/* SwitchML: Sapio et al., "Scaling Distributed Machine Learning with In-Network Aggregation",
 * arXiv:1903.06701 (2019), with loss recovery (algorithms 3 and 4, "V1") and the hierarchical
 * composition of section 6 over the switches of a tree.
 *
 * Modelled: a pool of s slots with two versions each (shadow copy), a seen bit per child and
 * version, multicast of results, unicast repair from the shadow copy; a retransmission timer per
 * slot at the workers, which clock themselves with at most one packet per slot; switch memory as a
 * finite resource, split among tenants or not, with a queue or refusal; packet formats of the paper
 * and of the public code, with messages of several packets (its RDMA variant, "V3"); fixed,
 * doubling and adaptive timeouts (rto.h).
 *
 * Where switches only forward (`aggregation`), the next adding switch above takes the packets of
 * the workers below. This composition is ours: in section 6 all switches add. Forwarding switches
 * copy results to the ports of the job's group, and send a repair to the child that asked for it.
 *
 * Simplified: packets are processed in the switch's constant latency. Scaling and conversion on
 * hosts take no time. Tensors are of integers, so the public code's exchange of exponents (one more
 * window of packets for each float tensor) is left out. With fewer switch_elements than a packet
 * has, the check of sums assumes that all are added.
 *
 * Left open by the paper, and our reading:
 * - chunk g of the whole stream of tensors uses slot g mod s, version (g/s) mod 2. Algorithm 4
 *   restarts at version 0 per tensor; appendix B and the public code demand one continuous stream.
 *   Each tensor is padded to whole chunks;
 * - with n = 1, or one child below a switch, algorithm 3 as printed would add to stale data; here
 *   the first contribution always overwrites;
 * - section 6 sketches recovery above the leaf: a switch that gets a duplicate sends its partial
 *   sum up again, or the stored result down;
 * - messages of several packets (format rdma) are described for one switch. A switch that misses a
 *   packet discards the rest, because only the first names the slot. A worker drops packets that
 *   are out of order. Between switches each packet names its slot, because a switch repeats the
 *   sums that it has, which need not be whole messages;
 * - a timeout that follows the round trip (section 6) must know which sums have waited for a
 *   worker's timeout. With timeout_rule adaptive a bit of each packet says so (SWITCHML_LATE). With
 *   much loss nearly all sums have the bit: at 8 workers and 20 % loss all but 0.8^16. Then there
 *   are hardly any samples, and the timeout stays doubled. */
#include "ina/switchml/switchml.h"

#include "formulas/formulas.h"

/* --- packets --- */

static void switchml_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			       struct switch_actions *actions)
{
	struct switchml *job = ina_job_of(self, packet);

	(void)back; /* children are known by packet.source */
	if (job)    /* else the job is over */
		switchml_at_node(job, ina_node_at(&job->base, sw), packet, actions);
}

static void switchml_deliver(void *self, uint32_t host, const struct packet *packet)
{
	const struct switchml *job = ina_job_of(self, packet);

	if (job)
		switchml_worker_result(ina_worker_on(&job->base, host), packet);
}

/* --- slots --- */

/* Time of a packet from a worker to the root and back on an idle network (the latency of links has
 * the processing in switches and hosts), and of the rest of its message, for which the slot waits,
 * too. */
static sim_time round_trip_of(const struct switchml *job, uint32_t w)
{
	const struct network *net = &job->base.scheme->env.topo->net;
	uint32_t size = job->base.scheme->frame, port = job->base.ports[w];
	const struct node *node = ina_node(&job->base, job->base.tree.tree->node_of_worker[w]);
	sim_time sum = (job->format.message - 1) *
		       link_transmission(port_class(net, &net->ports[port]), size);

	for (;;) {
		const struct link_class *up = port_class(net, &net->ports[port]);
		const struct link_class *down =
			port_class(net, &net->ports[net->cold[port].reverse]);

		sum += link_transmission(up, size) + up->latency;
		sum += link_transmission(down, size) + down->latency + down->jitter_max;
		if (node->base.place->parent == TREE_NONE)
			return sum;
		port = node->base.place->up_port;
		node = ina_node(&job->base, node->base.place->parent);
	}
}

/* The longest round trip of any worker, as a slot waits for its slowest worker. */
static sim_time round_trip(const struct switchml *job)
{
	sim_time longest = 0;

	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		sim_time time = round_trip_of(job, w);

		longest = time > longest ? time : longest;
	}
	return longest;
}

uint64_t switchml_slots_for(const struct switchml *job, sim_time round_trip_time)
{
	const struct network *net = &job->base.scheme->env.topo->net;
	bps rate = port_class(net, &net->ports[job->base.ports[0]])->rate;

	for (uint32_t w = 1; w < job->base.spec.workers; w++) {
		bps other = port_class(net, &net->ports[job->base.ports[w]])->rate;

		rate = other < rate ? other : rate;
	}
	return formula_pool_slots(rate, job->base.scheme->frame, round_trip_time,
				  SWITCHML_SLOTS_MAX);
}

/* `share`: a job's bytes at a switch. `wanted`: slots that cover the round trip, a power of two. */
static uint64_t slots_by_rule(const struct switchml_conf *conf, bytes share, uint64_t wanted)
{
	uint64_t message = switchml_format_of(conf).message;
	uint64_t max = share / switchml_slot_bytes(conf);

	max = max > message ? max : message; /* with a smaller share admit() refuses the job */
	if (conf->slots_rule == SLOTS_MEMORY)
		return (max < SWITCHML_SLOTS_MAX ? max : SWITCHML_SLOTS_MAX) / message * message;
	wanted = wanted > message ? wanted : message;
	while (wanted > max)
		wanted /= 2;
	return wanted;
}

static bytes share_at(const struct switchml_conf *conf, const struct ina_node *node)
{
	return switchml_share(conf, node->memory->memory_bytes);
}

/* Workers use the same slots at all switches of the tree, so the one with the least memory
 * decides. */
static uint32_t choose_slots(const struct switchml *job)
{
	const struct switchml_conf *conf = switchml_conf(&job->base);
	const struct tree *tree = job->base.tree.tree;
	bytes min = UINT64_MAX;

	if (conf->slots_form == SLOTS_NUMBER)
		return (uint32_t)conf->slots;
	for (uint32_t n = 0; n < tree->node_count; n++) {
		bytes share = share_at(conf, ina_node(&job->base, n));

		if (!tree->nodes[n].passes && share < min)
			min = share;
	}
	return (uint32_t)slots_by_rule(conf, min, switchml_slots_for(job, round_trip(job)));
}

/* Reports a job with fewer slots than cover the round trip, unless the user gave their number. */
static struct collective_actual fewer_slots(const struct switchml_conf *conf, uint64_t slots,
					    uint64_t wanted)
{
	if (conf->slots_form == SLOTS_NUMBER || slots >= wanted)
		return (struct collective_actual){ 0 };
	return (struct collective_actual){
		.key = "memory", .what = "slots", .has = slots, .of = wanted
	};
}

static struct collective_actual
switchml_runs_as(const void *self, const struct topology_conf *topology, bytes gradients)
{
	const struct switchml_conf *conf = self;
	struct switchml_format format = switchml_format_of(conf);
	uint32_t frame = switchml_frame(&format, 0);
	/* up to the root and down again takes as long as from host to host */
	sim_time trip = ideal_round_trip(topology, frame, frame) / 2 + topology->host.jitter;
	sim_time rest = (format.message - 1) * topology_transmission(topology, frame);
	uint64_t wanted = formula_pool_slots(topology_host_rate(topology), frame, trip + rest,
					     SWITCHML_SLOTS_MAX);

	(void)gradients;
	if (topology_own_memory(topology)) /* depends on the job's tree */
		return (struct collective_actual){ 0 };
	return fewer_slots(conf, slots_by_rule(conf, switchml_share(conf, conf->memory), wanted),
			   wanted);
}

static struct collective_actual switchml_ran_as(const void *instance)
{
	const struct switchml *job = instance;

	if (job->base.tree.tree->passes)
		return ina_ran_as(job);
	return fewer_slots(switchml_conf(&job->base), job->slots,
			   switchml_slots_for(job, round_trip(job)));
}

/* --- jobs --- */

static bytes switchml_memory_at(const void *self, const struct tree_node *place)
{
	const struct switchml *job = self;
	const struct switchml_conf *conf = switchml_conf(&job->base);

	return conf->tenants ? share_at(conf, ina_node_at(&job->base, place->sw))
			     : job->slots * switchml_slot_bytes(conf);
}

/* Why the job never runs, if a switch with memory of its own has too little for the slots; else
 * NULL. */
static const char *without_slots(const struct switchml *job)
{
	const struct switchml_conf *conf = switchml_conf(&job->base);
	const struct tree *tree = job->base.tree.tree;

	for (uint32_t n = 0; n < tree->node_count; n++) {
		const struct ina_node *node = ina_node(&job->base, n);

		if (!tree->nodes[n].passes &&
		    share_at(conf, node) < job->slots * switchml_slot_bytes(conf))
			return ina_refusal(job->base.scheme, node->memory->sw);
	}
	return NULL;
}

static bool switchml_admit(void *self, const char **never)
{
	struct switchml *job = self;

	job->format = switchml_format_of(switchml_conf(&job->base));
	job->slots = choose_slots(job);
	*never = without_slots(job);
	if (*never)
		return false;
	if (ina_reserve(&job->base, never))
		return true;
	if (!*never && switchml_conf(&job->base)->admission == ADMISSION_REFUSE)
		*never = "no switch memory";
	return false;
}

void switchml_workers_begin(struct switchml *job)
{
	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		struct worker *worker = switchml_worker(job, w);

		worker->child =
			(uint16_t)(job->servers ? w : job->base.tree.tree->number_of_worker[w]);
		switchml_worker_init(worker);
	}
}

void switchml_workers_end(struct switchml *job)
{
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		switchml_worker_release(switchml_worker(job, w));
}

static void switchml_begin(void *self)
{
	struct switchml *job = self;
	const struct tree *tree = job->base.tree.tree;
	uint32_t message = job->format.message;

	for (uint32_t i = 0; i < tree->node_count; i++) {
		struct node *node = ina_node(&job->base, i);
		const struct tree_node *place = node->base.place;

		if (place->passes)
			continue;
		switchml_node_init(node, job->slots, message);
		if (message > 1 && place->parent != TREE_NONE)
			switchml_child_sends_alone(
				ina_node(&job->base, tree_adding(tree, place->parent)),
				place->number, job->slots, message);
	}
	switchml_workers_begin(job);
}

static void switchml_end(void *self)
{
	struct switchml *job = self;

	switchml_workers_end(job);
	for (uint32_t i = 0; i < job->base.tree.tree->node_count; i++)
		switchml_node_release(ina_node(&job->base, i));
}

static void switchml_plan(void *self, struct stream_plan *plan)
{
	const struct switchml *job = self;
	const struct switchml_format *format = &job->format;
	struct plan_packets *packets;
	uint32_t largest = switchml_frame(format, 0), frames = 0;

	ina_plan_tree(&job->base, job->slots, plan);
	plan->bound.framing = ina_framing(&job->base, switchml_min_frame(format));
	for (uint32_t p = 0; p < format->message; p++)
		frames += switchml_frame(format, p);
	/* a packet of the plan stands for a message, as tensors are padded to whole messages */
	packets = &plan->streams[0].packets;
	/* ina_plan_tree() assumes that all packets are as large as the first */
	packets->overhead =
		packets->overhead * format->message - (largest * format->message - frames);
	packets->payload *= format->message;
}

uint64_t switchml_slots(const void *instance)
{
	return ((const struct switchml *)instance)->slots;
}

static const struct ina_ops ops = {
	.title = "SwitchML",
	.size = { .job = sizeof(struct switchml),
		  .worker = sizeof(struct worker),
		  .node = sizeof(struct node) },
	.protocol = { .name = "switchml",
		      .flags = { "version", "late" },
		      .deliver = switchml_deliver,
		      .at_switch = switchml_at_switch,
		      .about = ina_about_slot,
		      .stream = ina_stream,
		      .repeat = ina_repeat_packet },
	.pull = switchml_pull,
	.root = "switchml root",
	.passes_by = true,
	.memory = switchml_memory_at,
	.admit = switchml_admit,
	.plan = switchml_plan,
	.begin = switchml_begin,
	.end = switchml_end,
	.contribute = switchml_contribute,
	.waits = switchml_waits,
	.period = switchml_period,
	.repeat = switchml_repeat,
};

void *switchml_open_as(const struct ina_ops *as, const struct model_env *env, const void *conf)
{
	struct switchml_format format = switchml_format_of(conf);

	return ina_open(
		as, env, conf,
		(struct ina_format){ .frame = switchml_frame(&format, 0),
				     .message = format.message,
				     .elements = (uint32_t)format.elements,
				     .memory = ((const struct switchml_conf *)conf)->memory });
}

static void *switchml_open(const struct model_env *env, const void *conf)
{
	return switchml_open_as(&ops, env, conf);
}

const struct collective_ops switchml_collective = {
	.name = "switchml",
	.help = "SwitchML: integer sums in switch slots, loss recovery with shadow copies, "
		"hierarchical",
	.table = &switchml_table,
	INA_OPS,
	INA_PLAN_OPS,
	.intact = ina_intact,
	.open = switchml_open,
	.memory = ina_memory,
	.repeat = ina_repeat,
	.frame = switchml_conf_frame,
	.payload = switchml_conf_payload,
	.check = switchml_check,
	.traits.tolerance = { .one_switch = 0.02, .tiers = 0.02, .together = 0.05 },
	.slots = switchml_slots,
	.idle = switchml_idle,
	.runs_as = switchml_runs_as,
	.ran_as = switchml_ran_as,
};
