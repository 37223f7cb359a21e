/* NetReduce: Liu et al., "In-Network Aggregation with Transport Transparency for Distributed
 * Training", ASPLOS 2023: sums in the middle of unmodified RoCE connections.
 *
 * The workers of a job form a ring of RoCE connections. A worker sends its gradients to the next
 * one, message by message. An accelerator beside the switch keeps the packets. When it has those of
 * all workers, each packet goes on to its destination, with the sum as payload. So every worker
 * receives as much as it sends, with the PSNs that the connection expects. The connection
 * retransmits, controls its rate and acknowledges as usual.
 *
 * Modelled: the window of N messages; the connection lookup table, with 2N entries (lookup.h);
 * aggregators for 2N messages, which keep packets and add them up when all are there, so that
 * repeated packets change nothing and are answered (columns.h); all switches of the job's tree,
 * with one sum up and one down on each link between switches (netreduce_switch.c); several rings on
 * the same hosts (section 3.4), without the transfers between GPUs of a machine; memory reserved
 * for each job for its life (section 6); RoCE with go-back-N, PSNs of 24 bits and DCQCN
 * (transport/roce.h); headers of RoCEv2, and the INA header in the first packet of a message.
 *
 * Simplified: accelerators take a constant time, and links between them and their switches have
 * unlimited rate. Leaf switches pass on the header of a first packet so that other switches know
 * its connection (section 3.3); here they know it without a packet. Values are added as integers
 * that stand for them (exact.h). In a lossless network the packets that an accelerator sends at
 * once are charged to the switch's memory once, because the sum is there once.
 *
 * Left open by the paper, and our reading:
 * - "a gradient packet" frees the aggregator one window ahead (section 3.1). If any packet did so,
 *   jobs would hang after losses. Here the root waits for the packets of all workers (columns.h),
 *   and other switches wait for the result on its way down (netreduce_switch.c);
 * - a repeated packet whose sum is complete is answered: "repeated execution [...] always outputs
 *   the same aggregation value" (section 3.2). The answer could go to all connections. Here it goes
 *   only to the packet's own, which is enough. A repeated sum from below does not tell whose packet
 *   was repeated, so the result goes to all: at each repetition, "without the need to recognize and
 *   handle retransmitted packets specifically", or once a round trip ("repeats");
 * - a sender that goes back across the end of a message needs more than one entry in the lookup
 *   table (lookup.h); an aggregator has to know its message (columns.h);
 * - merging of ECN marks. On one switch each connection keeps the header and the mark of its own
 *   packet, so only a worker with a full uplink lowers its rate (the others wait for it). Between
 *   switches a packet stands for all connections, and is marked if any of their packets was;
 * - the size of the INA header, the number of ACKs per message and the retransmission timeout: see
 *   the parameters;
 * - a packet belongs to a message when 0 <= PSN - PSN0 < MsgLen; section 3.2 prints "> MsgLen" for
 *   the opposite;
 * - a fat tree has switches between leaf and root, which the paper does not have. They do what
 *   leaves do, but towards switches. At a switch with both workers and switches below, connections
 *   get their own packets, and switches a sum;
 * - where switches only forward (`aggregation`), the next adding switch above takes the packets of
 *   the workers below as if they were its own. Results of a connection go to its destination, sums
 *   to the ports of the job's group;
 * - the window in section 3.2, N >= RTT x rate / message, is short by the time of one message.
 *   Message m + N may go when all of m has come back, so N - 1 messages have to cover the round
 *   trip. */
#include "ina/netreduce/netreduce.h"

#include "base/mem.h"

#include <stdlib.h>

/* --- jobs --- */

static bytes netreduce_memory(const void *self, const struct tree_node *place)
{
	const struct ina_job *job = self;

	return netreduce_bytes(netreduce_conf(job->scheme), place->inputs);
}

/* Lists the connections that end at workers among a switch's inputs, by rank of their sources. */
static void make_outlets(const struct ring *ring, uint32_t number)
{
	struct ring_node *node = &ring->nodes[number];

	node->outlets = xcalloc(node->place->inputs, sizeof(*node->outlets));
	for (uint32_t w = 0; w < ring->job->base.spec.workers; w++) {
		const struct end *from = &ring->ends[w], *to = netreduce_to(from);

		if (to->node != number)
			continue;
		node->ports[node->outlet_count] = node->place->input_ports[to->row];
		node->outlets[node->outlet_count++] =
			(struct outlet){ from->connection, from->generation,
					 from->node == number ? from->row : TREE_NONE };
	}
}

/* Whether any switch adds in the part of the tree from this node down. */
static bool leads_to_sums(const struct tree *tree, uint32_t node)
{
	if (!tree->nodes[node].passes)
		return true;
	for (uint32_t i = node + 1; i < tree->node_count; i++)
		if (tree->nodes[i].parent == node && leads_to_sums(tree, i))
			return true;
	return false;
}

/* Lists the ports to children that are an adding switch or lead to one. */
static void find_sums(const struct ring *ring, uint32_t number)
{
	const struct ina_job *job = &ring->job->base;
	const struct tree *tree = job->tree.tree;
	struct ring_node *node = &ring->nodes[number];

	for (uint32_t i = number + 1; i < tree->node_count; i++)
		if (tree->nodes[i].parent == number && leads_to_sums(tree, i))
			node->ports[node->outlet_count + node->sum_count++] =
				job->scheme->env.topo->net.cold[tree->nodes[i].up_port].reverse;
}

static void open_node(const struct ring *ring, uint32_t number)
{
	struct netreduce *job = ring->job;
	const struct netreduce_conf *conf = netreduce_conf(job->base.scheme);
	struct ring_node *node = &ring->nodes[number];

	node->place = &job->base.tree.tree->nodes[number];
	node->ports =
		xcalloc((size_t)node->place->inputs + node->place->children, sizeof(*node->ports));
	if (!node->place->passes) {
		node->accelerator = &netreduce_scheme(job)->accelerators[node->place->sw];
		columns_init(&node->columns, node->place->inputs, (uint32_t)conf->window,
			     (uint32_t)conf->length);
		make_outlets(ring, number);
	}
	find_sums(ring, number);
}

static void open_ring(struct netreduce *job, uint32_t number)
{
	const struct netreduce_conf *conf = netreduce_conf(job->base.scheme);
	uint32_t workers = job->base.spec.workers, nodes = job->base.tree.tree->node_count;
	struct ring *ring = &job->rings[number];

	*ring = (struct ring){ .job = job, .number = number };
	ring->entries = xcalloc((size_t)workers * 2 * (size_t)conf->window, sizeof(*ring->entries));
	ring->ends = xcalloc(workers, sizeof(*ring->ends));
	for (uint32_t w = 0; w < workers; w++)
		netreduce_end_open(ring, w);
	ring->nodes = xcalloc(nodes, sizeof(*ring->nodes));
	for (uint32_t i = 0; i < nodes; i++)
		open_node(ring, i);
}

static void close_ring(struct ring *ring)
{
	for (uint32_t w = 0; w < ring->job->base.spec.workers; w++)
		netreduce_end_close(&ring->ends[w]);
	for (uint32_t i = 0; i < ring->job->base.tree.tree->node_count; i++) {
		columns_release(&ring->nodes[i].columns);
		free(ring->nodes[i].outlets);
		free(ring->nodes[i].ports);
	}
	free(ring->nodes);
	free(ring->ends);
	free(ring->entries);
}

static uint32_t rings_of(const struct netreduce *job)
{
	return (uint32_t)netreduce_conf(job->base.scheme)->rings;
}

static void netreduce_begin(void *self)
{
	struct netreduce *job = self;
	struct netreduce_scheme *scheme = netreduce_scheme(job);

	/* tells array_reserve() that the array is full, so that it widens the array */
	while (scheme->results_capacity < job->base.spec.workers + job->base.tree.tree->node_count)
		scheme->results =
			array_reserve(scheme->results, scheme->results_capacity,
				      &scheme->results_capacity, sizeof(*scheme->results));
	job->rings = xcalloc(rings_of(job), sizeof(*job->rings));
	for (uint32_t i = 0; i < rings_of(job); i++)
		open_ring(job, i);
}

static void netreduce_end_job(void *self)
{
	struct netreduce *job = self;

	for (uint32_t i = 0; i < rings_of(job); i++)
		close_ring(&job->rings[i]);
	free(job->rings);
}

static void netreduce_stats(const void *self, struct collective_stats *stats)
{
	const struct netreduce *job = self;

	ina_stats(self, stats);
	for (uint32_t i = 0; i < rings_of(job); i++)
		for (uint32_t w = 0; w < job->base.spec.workers; w++) {
			const struct transport_stats *roce = roce_stats(
				netreduce_scheme(job)->roce, job->rings[i].ends[w].connection);

			stats->retransmissions += roce->retransmissions;
			stats->timeouts += roce->timeouts;
		}
}

/* --- as a plan --- */

/* The time that accelerators add to the longest path up and down again. */
static sim_time delays(const struct netreduce *job)
{
	const struct tree *tree = job->base.tree.tree;
	sim_time latency = netreduce_conf(job->base.scheme)->latency, longest = 0;

	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		sim_time sum = latency; /* of the root, once */

		for (uint32_t n = tree->node_of_worker[w]; n; n = tree->nodes[n].parent)
			sum += 2 * latency;
		longest = sum > longest ? sum : longest;
	}
	return longest;
}

/* One packet of the plan stands for a message of each ring, with headers, as messages are sent
 * whole. */
static struct plan_packets messages_of(const struct netreduce *job)
{
	const struct netreduce_conf *conf = netreduce_conf(job->base.scheme);
	const struct network *net = &job->base.scheme->env.topo->net;
	struct plan_packets packets = plan_ina_packets(net, netreduce_packet(conf),
						       (uint32_t)conf->roce.mtu / ELEMENT_BYTES);
	uint32_t count = (uint32_t)(conf->rings * conf->length);

	packets.payload *= count;
	packets.overhead = packets.overhead * count +
			   (uint32_t)(conf->rings * (conf->roce.write_header + conf->header));
	return packets;
}

/* Bytes of the ACKs for a message of each ring. They go against the data, but as the connections
 * form a ring, each link has as many in both directions. */
static double control_of(const struct netreduce *job)
{
	const struct netreduce_conf *conf = netreduce_conf(job->base.scheme);
	const struct network *net = &job->base.scheme->env.topo->net;
	int64_t every = conf->ack_every ? conf->ack_every : conf->length;
	int64_t acks = (conf->length + every - 1) / every;

	return (double)(conf->rings * acks) *
	       (TCP_MIN_FRAME + port_class(net, &net->ports[job->base.ports[0]])->wire_extra);
}

static void netreduce_plan(void *self, struct stream_plan *plan)
{
	struct netreduce *job = self;
	const struct netreduce_conf *conf = netreduce_conf(job->base.scheme);
	const struct network *net = &job->base.scheme->env.topo->net;
	const struct collective_job *spec = &job->base.spec;
	struct plan_path path = plan_tree_path(net, job->base.tree.tree, job->base.ports,
					       spec->workers, netreduce_packet(conf));
	struct plan_stream *stream;
	sim_time trip;

	path.sum += delays(job);
	/* until all of a message is back; messages of other rings do not delay this one */
	trip = path.sum + (sim_time)(conf->length - 1) * path.slowest;
	plan_init(plan, 1);
	stream = &plan->streams[0];
	plan_add_tree(stream, job->base.tree.tree, job->base.ports, spec->workers);
	ina_plan_bound(&job->base, plan);
	plan->latency = plan_path_latency(&path);
	stream->packets = messages_of(job);
	stream->packets.control = control_of(job);
	stream->cap = plan_window_rate(&stream->packets, (double)conf->window, trip);
	plan_close(plan);
	plan_set_turns(plan, net, spec, 0);
}

/* --- the scheme --- */

static void netreduce_deliver(void *self, uint32_t host, const struct packet *packet)
{
	const struct netreduce_scheme *scheme = self;

	roce_receive(scheme->roce, host, packet);
}

static void prefetch(void *self, const struct packet *packet)
{
	const struct netreduce_scheme *scheme = self;

	roce_prefetch(scheme->roce, packet);
}

static void netreduce_close(void *self)
{
	struct netreduce_scheme *scheme = self;

	for (uint32_t s = 0; s < scheme->base.env.topo->net.switches; s++)
		accelerator_release(&scheme->accelerators[s]);
	roce_free(scheme->roce);
	free(scheme->accelerators);
	free(scheme->ends);
	free(scheme->results);
	ina_close(scheme);
}

static bool netreduce_about(const void *self, const struct packet *packet,
			    struct packet_about *told)
{
	const struct end *end = netreduce_end(self, packet);

	if (!end)
		return false;
	ina_about_job(&end->ring->job->base, packet, told);
	told->chunk = packet->seq >> ROCE_PSN_BITS;
	return true;
}

static const struct ina_ops ops = {
	.title = "NetReduce",
	.size = { .scheme = sizeof(struct netreduce_scheme), .job = sizeof(struct netreduce) },
	.root = "netreduce root",
	.passes_by = true,
	.own_flows = true,
	.protocol = { .name = "netreduce",
		      .flags = { "first", "ACK request" },
		      .deliver = netreduce_deliver,
		      .at_switch = netreduce_at_switch,
		      .prefetch = prefetch,
		      .about = netreduce_about,
		      .stream = netreduce_stream,
		      .repeat = netreduce_repeat_packet },
	.memory = netreduce_memory,
	.too_large = netreduce_too_large,
	.plan = netreduce_plan,
	.begin = netreduce_begin,
	.end = netreduce_end_job,
	.contribute = netreduce_contribute,
	.waits = netreduce_waits,
	.period = netreduce_period,
	.repeat = netreduce_repeat_job,
};

/* The time up to the root and down to the workers again in an idle network, with an accelerator at
 * each switch. A packet from host to host through the top takes as long. A repeated packet that
 * comes later than this was sent after the last answer should have come. */
static sim_time round_trip(const struct netreduce_conf *conf, const struct topology_conf *topology)
{
	uint32_t frame = netreduce_packet(conf);

	return ideal_round_trip(topology, frame, frame) / 2 +
	       topology_longest(topology) * conf->latency;
}

static void *netreduce_open(const struct model_env *env, const void *self)
{
	const struct netreduce_conf *conf = self;
	uint32_t switches = env->topo->net.switches;
	struct netreduce_scheme *scheme =
		ina_open(&ops, env, conf,
			 (struct ina_format){ .frame = netreduce_packet(conf),
					      .elements = (uint32_t)conf->roce.mtu / ELEMENT_BYTES,
					      .memory = conf->memory,
					      .message = (uint32_t)(conf->rings * conf->length) });

	scheme->roce = roce_new(env->topo, &conf->roce, netreduce_window(conf));
	scheme->round_trip = round_trip(conf, env->topo->conf);
	roce_register(scheme->roce);
	scheme->accelerators = xcalloc(switches, sizeof(*scheme->accelerators));
	for (uint32_t s = 0; s < switches; s++)
		accelerator_init(&scheme->accelerators[s], scheme, s);
	return scheme;
}

static struct collective_burst netreduce_burst(const void *self,
					       const struct topology_conf *topology, uint32_t ports)
{
	const struct netreduce_conf *conf = self;

	(void)topology, (void)ports;
	return (struct collective_burst){ .held = conf->latency, .packets = 1 };
}

static size_t netreduce_idle(const void *self, struct collective_idle list[COLLECTIVE_IDLE_MAX])
{
	const struct netreduce_conf *conf = self;
	size_t count = 0;

	list[count++] =
		(struct collective_idle){ "roce/ack_every", "its own \"ack_every\" replaces it" };
	list[count++] =
		(struct collective_idle){ "roce/control/swift", "\"transport\" has no Swift" };
	if (conf->transport != NETREDUCE_DCQCN)
		list[count++] = (struct collective_idle){ "roce/control/dcqcn",
							  "\"transport\" is not dcqcn" };
	return count;
}

extern const struct conf_table netreduce_table; /* netreduce_conf.c */

const struct collective_ops netreduce_collective = {
	.name = "netreduce",
	.help = "NetReduce: sums in accelerators within a ring of RoCE connections",
	.table = &netreduce_table,
	.transport = netreduce_transport,
	.check = netreduce_check,
	.warn = netreduce_warn,
	.refuses = netreduce_refuses,
	.open = netreduce_open,
	.close = netreduce_close,
	.stats = netreduce_stats,
	INA_JOB_OPS,
	INA_PLAN_OPS,
	.ran_as = ina_ran_as,
	.intact = ina_intact,
	.memory = ina_memory,
	.repeat = netreduce_repeat,
	.frame = netreduce_frame,
	.payload = netreduce_payload,
	.burst = netreduce_burst,
	.idle = netreduce_idle,
	.traits.tolerance = { .one_switch = 0.02, .tiers = 0.02, .together = 0.05 },
};
