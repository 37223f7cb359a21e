#include "collective/plan.h"

#include "base/mem.h"
#include "collective/collective.h"
#include "collective/tensors.h"

#include <math.h>
#include <stdlib.h>

void plan_init(struct stream_plan *plan, size_t count)
{
	*plan = (struct stream_plan){ .count = count };
	plan->streams = xcalloc(count, sizeof(*plan->streams));
	for (size_t i = 0; i < count; i++) {
		plan->streams[i].cap = INFINITY;
		plan->streams[i].share = plan->streams[i].turn = 1;
	}
}

void plan_release(struct stream_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		free(plan->streams[i].links);
	free(plan->streams);
}

void plan_add(struct plan_stream *stream, uint32_t link, uint32_t weight)
{
	stream->links = array_reserve(stream->links, stream->count, &stream->capacity,
				      sizeof(*stream->links));
	stream->links[stream->count++] = (struct plan_link){ link, weight };
}

void plan_add_route(struct plan_stream *stream, const struct topology *topo, uint32_t src,
		    const struct route *route, uint32_t weight)
{
	uint32_t ports[HOPS_MAX + 1];
	unsigned count = topology_path(topo, src, route, ports);

	for (unsigned i = 0; i < count; i++)
		plan_add(stream, ports[i], weight);
}

struct plan_path plan_add_connection(struct plan_stream *stream, const struct topology *topo,
				     uint32_t src, uint32_t dst, uint64_t key, uint32_t weight)
{
	uint32_t ports[HOPS_MAX + 1];
	struct route route;

	transport_route(topo, src, dst, key, false, &route);
	plan_add_route(stream, topo, src, &route, weight);
	return plan_path(&topo->net, ports, topology_path(topo, src, &route, ports),
			 stream->packets.payload + TCP_OVERHEAD);
}

void plan_add_tree(struct plan_stream *stream, const struct tree *tree, const uint32_t *ports,
		   uint32_t workers)
{
	for (uint32_t w = 0; w < workers; w++)
		plan_add(stream, ports[w], 1);
	for (uint32_t n = 0; n < tree->node_count; n++) {
		const struct tree_node *node = &tree->nodes[n];

		if (node->parent != TREE_NONE)
			plan_add(stream, node->up_port, 1);
		for (uint32_t c = 0; c < node->children; c++)
			plan_add(stream, node->down_ports[c], 1);
	}
}

static int by_link(const void *a, const void *b)
{
	const struct plan_link *x = a, *y = b;

	return x->link < y->link ? -1 : x->link > y->link;
}

void plan_merge(struct plan_link *links, size_t *count)
{
	size_t kept = 0;

	if (*count)
		qsort(links, *count, sizeof(*links), by_link);
	for (size_t i = 0; i < *count; i++) {
		if (kept && links[kept - 1].link == links[i].link)
			links[kept - 1].weight += links[i].weight;
		else
			links[kept++] = links[i];
	}
	*count = kept;
}

void plan_close(struct stream_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		plan_merge(plan->streams[i].links, &plan->streams[i].count);
}

/* --- packets --- */

static double line_rate(const struct network *net, uint32_t link)
{
	return (double)port_class(net, &net->ports[link])->rate / 8;
}

static uint32_t wire_extra(const struct network *net)
{
	return port_class(net, &net->ports[0])->wire_extra;
}

struct plan_packets plan_tcp_packets(const struct tcp *tcp, const struct network *net,
				     uint32_t ack_every)
{
	return (struct plan_packets){
		.messages = 1,
		.fraction = 1,
		.payload = (uint32_t)tcp_parameters(tcp)->mss,
		.overhead = TCP_OVERHEAD + wire_extra(net),
		.control = (double)(TCP_MIN_FRAME + wire_extra(net)) / ack_every,
	};
}

struct plan_packets plan_ina_packets(const struct network *net, uint32_t frame, uint32_t elements)
{
	return (struct plan_packets){
		.messages = 1,
		.fraction = 1,
		.payload = ELEMENT_BYTES * elements,
		.overhead = frame - ELEMENT_BYTES * elements + wire_extra(net),
		.padded = true,
	};
}

/* Packets for so many bytes of data. The small term prevents an extra packet when rounding puts the
 * quotient just above a whole number. */
static double count_of(const struct plan_packets *packets, double data)
{
	return ceil(data / packets->payload - 1e-9);
}

/* Bytes on the wire of a full packet, with its part of the ACKs. */
static double packet_wire_bytes(const struct plan_packets *packets)
{
	return packets->payload + packets->overhead + packets->control;
}

/* Bytes on the wire of a message with so many bytes of data. */
static double wire_bytes(const struct plan_packets *packets, double data)
{
	double count = count_of(packets, data);

	if (packets->padded)
		data = count * packets->payload;
	return data + count * (packets->overhead + packets->control);
}

/* Bytes of data in each message of a tensor. */
static double message_of(const struct plan_packets *packets, bytes size)
{
	return fmax(1, (double)size * packets->fraction);
}

double plan_wire_bytes(const struct plan_packets *packets, bytes size)
{
	return packets->messages * wire_bytes(packets, message_of(packets, size));
}

double plan_message_packets(const struct plan_packets *packets, bytes size)
{
	return count_of(packets, message_of(packets, size));
}

double plan_window_rate(const struct plan_packets *packets, double window, sim_time round_trip)
{
	return window * packet_wire_bytes(packets) / seconds_of(round_trip);
}

struct plan_ramp plan_ramp(const struct plan_packets *packets, const struct plan_growth *growth,
			   double rate, sim_time round_trip)
{
	return (struct plan_ramp){ .growth = *growth,
				   .packet_s = (packets->payload + packets->overhead) / rate,
				   .trip_s = seconds_of(round_trip) };
}

sim_time plan_ramp_take(struct plan_ramp *ramp, double packets)
{
	struct plan_growth *growth = &ramp->growth;
	double lost = 0;

	ramp->out += packets;
	while (growth->window * ramp->packet_s < ramp->trip_s && growth->window < ramp->out) {
		lost += ramp->trip_s - growth->window * ramp->packet_s;
		ramp->out -= growth->window;
		if (growth->window < growth->ssthresh)
			growth->window = fmin(2 * growth->window, growth->ssthresh);
		else
			growth->window += growth->step;
	}
	return (sim_time)llround(lost * (double)PS_PER_S);
}

void plan_ramp_rest(struct plan_ramp *ramp)
{
	ramp->out = 0;
}

sim_time plan_ramp_tensor(const struct stream_plan *plan, struct plan_ramp *ramp, bytes size)
{
	const struct plan_packets *packets = &plan->streams[0].packets;
	double count = plan_message_packets(packets, size);
	sim_time lost = plan_ramp_take(ramp, count);

	for (double m = 1; m < packets->messages; m++) {
		plan_ramp_rest(ramp);
		lost += plan_ramp_take(ramp, count);
	}
	return lost;
}

/* --- shares --- */

/* How much one byte on the wire counts towards the link's ECN threshold, which is in frame bytes or
 * in packets. `packet`: bytes on the wire of the byte's packet. */
static double counted(const struct link_class *class, double packet)
{
	return (class->ecn_in_packets ? 1 : packet - class->wire_extra) / packet;
}

/* The average queue, in the unit of `threshold`, of a DCTCP connection with a window of so many
 * segments that is marked above `threshold`: a sawtooth (Alizadeh et al., SIGCOMM 2010, section
 * 3.3). By the formula there, four connections that share a window of 72 segments have the same
 * average queue as one connection with all of it. */
static double dctcp_queue(const struct link_class *class, double threshold, double segments)
{
	double segment = counted(class, NIC_QUANTUM) * NIC_QUANTUM;

	return threshold + segment * (1 - sqrt(2 * fmax(segments, 1)) / 4);
}

/* Bytes on the wire in a queue that TCP fills up to the ECN threshold. Of all bytes in flight,
 * `fixed` are in packets of `packet` bytes, the rest in full-sized TCP segments; `flight` bytes are
 * outside the queue. The queue holds both kinds of packets in proportion to their rates:
 *
 *     queue * (part * a + (1 - part) * b) = threshold,    part = fixed / (flight + queue)
 *
 * where a and b are counted() of the two kinds. */
static double queue_at_marks(const struct link_class *class, double packet, double fixed,
			     double flight)
{
	double a = counted(class, packet), b = counted(class, NIC_QUANTUM), threshold, p;
	uint64_t unit = class->ecn_in_packets ? NIC_QUANTUM - class->wire_extra : 1; /* bytes */

	if (class->ecn_min >= class->limit_bytes / unit)
		return (double)class->limit_bytes; /* the queue is full before it marks */
	threshold = (double)class->ecn_min;
	threshold = dctcp_queue(class, threshold, (flight + threshold / b - fixed) / NIC_QUANTUM);
	p = b * flight + fixed * (a - b) - threshold;
	return (sqrt(p * p + 4 * b * threshold * flight) - p) / (2 * b);
}

void plan_fix_window(struct plan_stream *stream, double window, sim_time round_trip,
		     const struct network *net, uint32_t from)
{
	double packet = stream->packets.payload + stream->packets.overhead;
	uint32_t port = net->cold[from].reverse; /* towards the host, which sends by `from` */
	double flight = line_rate(net, port) * seconds_of(round_trip), all;

	all = flight +
	      queue_at_marks(port_class(net, &net->ports[port]), packet, window * packet, flight);
	stream->fixed = true;
	stream->share = window * packet / all;
	stream->min = 2 * NIC_QUANTUM / all; /* DCTCP keeps two segments */
}

/* The bytes that a NIC sends in a turn, as a fraction of a full-sized frame; 1 where turns are not
 * by packet. */
static double turn_of(const struct plan_packets *packets, const struct network *net)
{
	if (net->nics[0].mode != NIC_TURNS)
		return 1;
	return (double)(packets->payload + packets->overhead) / NIC_QUANTUM;
}

void plan_fill_queues(struct plan_stream *stream, const struct network *net)
{
	stream->turn = turn_of(&stream->packets, net);
	stream->fills = true;
}

/* A NIC: the number of its turns, and the bytes that it sends while each stream sends one byte. */
struct nic_load {
	uint32_t turns, weight;
};

static void add_turns(struct nic_load *nics, const struct network *net, uint32_t host)
{
	for (uint32_t i = 0; i < network_links(net, host); i++)
		nics[network_port(net, host, (uint16_t)i)].turns++;
}

static struct nic_load *load_nics(const struct stream_plan *plan, const struct network *net,
				  const struct collective_job *job, uint32_t servers)
{
	struct nic_load *nics = xcalloc(net->host_ports, sizeof(*nics));

	for (uint32_t w = 0; w < job->workers; w++)
		add_turns(nics, net, job->hosts[w]);
	for (uint32_t q = 0; q < servers; q++)
		add_turns(nics, net, job->server_hosts[q]);
	for (size_t i = 0; i < plan->count; i++)
		for (size_t l = 0; l < plan->streams[i].count; l++) {
			const struct plan_link *link = &plan->streams[i].links[l];

			if (link->link < net->host_ports)
				nics[link->link].weight += link->weight;
		}
	return nics;
}

void plan_set_turns(struct stream_plan *plan, const struct network *net,
		    const struct collective_job *job, uint32_t servers)
{
	struct nic_load *nics;
	double turns = INFINITY;

	if (net->nics[0].mode == NIC_FIFO)
		return;
	nics = load_nics(plan, net, job, servers);
	for (uint32_t h = 0; h < net->host_ports; h++)
		if (nics[h].weight)
			turns = fmin(turns, (double)nics[h].turns / nics[h].weight);
	for (size_t i = 0; i < plan->count; i++)
		plan->streams[i].turn = turns * turn_of(&plan->streams[i].packets, net);
	free(nics);
}

double plan_tcp_cap(const struct tcp *tcp, const struct plan_packets *packets,
		    const struct plan_path *round_trip, uint32_t ack_every)
{
	bytes max = tcp_parameters(tcp)->max_window;

	if (!max)
		return INFINITY;
	return plan_window_rate(packets, (double)max / packets->payload,
				round_trip->sum + (ack_every - 1) * round_trip->slowest);
}

struct plan_growth plan_tcp_growth(const struct tcp *tcp)
{
	return (struct plan_growth){ .window = (double)tcp_parameters(tcp)->initial_window,
				     .ssthresh = INFINITY };
}

double plan_reducer_rate(const struct plan_packets *packets, const struct reducers *reducers,
			 uint32_t copies)
{
	if (!reducers->rate)
		return INFINITY;
	return (double)reducers->rate / 8 / copies * packet_wire_bytes(packets) / packets->payload;
}

double plan_alone(const struct plan_stream *stream, const struct network *net)
{
	double rate = stream->cap;

	for (size_t i = 0; i < stream->count; i++) {
		const struct plan_link *link = &stream->links[i];

		rate = fmin(rate, line_rate(net, link->link) / link->weight);
	}
	return rate;
}

/* All links of all streams, each once. The caller frees. */
static struct plan_link *all_links(const struct stream_plan *plan, size_t *count)
{
	struct plan_link *all;
	size_t total = 0;

	for (size_t i = 0; i < plan->count; i++)
		total += plan->streams[i].count;
	all = xcalloc(total, sizeof(*all));
	*count = 0;
	for (size_t i = 0; i < plan->count; i++)
		for (size_t l = 0; l < plan->streams[i].count; l++)
			all[(*count)++] = plan->streams[i].links[l];
	plan_merge(all, count);
	return all;
}

double *plan_idle_rates(const struct stream_plan *plan, const struct network *net)
{
	double *rates = xcalloc(plan->count, sizeof(*rates));
	size_t count;
	struct plan_link *all = all_links(plan, &count);

	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_stream *stream = &plan->streams[i];
		size_t at = 0;

		rates[i] = stream->cap;
		for (size_t l = 0; l < stream->count; l++) {
			uint32_t link = stream->links[l].link;

			while (all[at].link != link) /* both lists are sorted by number */
				at++;
			rates[i] = fmin(rates[i], line_rate(net, link) / all[at].weight);
		}
	}
	free(all);
	return rates;
}

double plan_slowest(const struct stream_plan *plan, const struct network *net)
{
	double *rates = plan_idle_rates(plan, net), slowest = INFINITY;

	for (size_t i = 0; i < plan->count; i++)
		slowest = fmin(slowest, rates[i]);
	free(rates);
	return slowest;
}

/* --- the bound --- */

void plan_add_leg(struct plan_bound *bound, uint64_t times, uint32_t num, uint32_t den, bool spread)
{
	SIM_BUG_ON(bound->count == PLAN_LEGS);
	bound->legs[bound->count++] = (struct plan_leg){ times, num, den, spread };
}

void plan_add_servers(struct plan_bound *bound, const struct collective_job *job)
{
	uint32_t n = job->workers, m = job->servers, beside = 0, in, out;

	for (uint32_t q = 0; q < m; q++)
		for (uint32_t w = 0; w < n; w++)
			beside += job->server_hosts[q] == job->hosts[w];
	in = beside ? n - 1 : n;
	out = beside < n ? m : m - 1; /* at the worker that sends most */
	if (beside == n) /* all wait for the gradients and results that share their links */
		in += m - 1;
	plan_add_leg(bound, 1, in > out ? in : out, m, true);
	if (!beside)
		plan_add_leg(bound, 1, 0, 1, true); /* the last result */
}

/* The time of a link for so many bytes in as few frames as possible. */
static sim_time in_frames(const struct link_class *link, const struct framing *framing,
			  uint64_t size)
{
	uint64_t rest = size % framing->payload + framing->header;
	sim_time time = size / framing->payload *
			link_transmission(link, framing->payload + framing->header);

	if (rest > framing->header)
		time += link_transmission(
			link, (uint32_t)(rest > framing->min_frame ? rest : framing->min_frame));
	return time;
}

/* From a host to the far end of its link and back. */
static sim_time leg_time(const struct plan_leg *leg, const struct framing *framing,
			 const struct network *net, uint32_t port, bytes size)
{
	uint32_t ports[2] = { port, net->cold[port].reverse };
	const struct link_class *up = port_class(net, &net->ports[ports[0]]);
	const struct link_class *down = port_class(net, &net->ports[ports[1]]);
	uint64_t elements = (size + ELEMENT_BYTES - 1) / ELEMENT_BYTES;
	/* `spread`: of shards, the smallest of which is a whole number of elements */
	uint64_t parts = leg->spread
				 ? elements / leg->den * leg->num
				 : (uint64_t)((unsigned __int128)elements * leg->num / leg->den);
	bytes part = parts * ELEMENT_BYTES;
	sim_time one, other;

	part += !part; /* a message without elements has one byte */
	if (!leg->spread)
		return ideal_transfer(net, ports, 2, part, framing);
	one = in_frames(up, framing, part) + in_frames(down, framing, 1);
	other = in_frames(up, framing, 1) + in_frames(down, framing, part);
	return up->latency + down->latency + (one < other ? one : other);
}

/* leg_time() by all links of a host together, if each had the part that its rate allows. */
static sim_time host_time(const struct plan_leg *leg, const struct framing *framing,
			  const struct network *net, uint32_t host, bytes size)
{
	sim_time min = SIM_TIME_MAX;
	double rates = 0;

	if (network_links(net, host) == 1)
		return leg_time(leg, framing, net, host, size);
	for (uint32_t i = 0; i < network_links(net, host); i++)
		rates += line_rate(net, network_port(net, host, (uint16_t)i));
	for (uint32_t i = 0; i < network_links(net, host); i++) {
		uint32_t port = network_port(net, host, (uint16_t)i);
		bytes part = (bytes)((double)size * line_rate(net, port) / rates);
		sim_time time = leg_time(leg, framing, net, port, part);

		min = time < min ? time : min;
	}
	return min;
}

sim_time plan_bound_time(const struct plan_bound *bound, const struct network *net,
			 const struct collective_job *job, bytes size)
{
	sim_time min = SIM_TIME_MAX;

	if (bound->unit)
		size = (size + bound->unit - 1) / bound->unit * bound->unit;
	for (uint32_t i = 0; i < job->workers + job->servers; i++) {
		uint32_t host =
			i < job->workers ? job->hosts[i] : job->server_hosts[i - job->workers];
		sim_time sum = 0;

		for (unsigned l = 0; l < bound->count; l++)
			sum += bound->legs[l].times *
			       (bound->step +
				host_time(&bound->legs[l], &bound->framing, net, host, size));
		min = sum < min ? sum : min;
	}
	return min;
}

/* --- latencies --- */

sim_time plan_latency(const struct stream_plan *plan, bytes size)
{
	const struct plan_blocks *blocks = &plan->blocks;
	const struct plan_packets *packets = &plan->streams[0].packets;
	double block = (double)blocks->size, message = message_of(packets, size), first, last;

	if (!blocks->size)
		return plan->latency;
	first = fmin(block, message);
	last = message - block * (ceil(message / block - 1e-9) - 1); /* 1e-9 as in count_of() */
	return plan->latency + (sim_time)llround((wire_bytes(packets, first) * blocks->first +
						  wire_bytes(packets, last) * blocks->last) *
						 (double)PS_PER_S);
}

void plan_path_add(struct plan_path *path, const struct network *net, uint32_t port, uint32_t frame)
{
	const struct link_class *link = port_class(net, &net->ports[port]);
	sim_time transmission = link_transmission(link, frame);

	if (transmission > path->slowest)
		path->slowest = transmission;
	path->sum += transmission + link->latency + link->jitter_max;
}

void plan_path_longest(struct plan_path *longest, const struct plan_path *path)
{
	if (path->sum > longest->sum)
		*longest = *path;
}

struct plan_path plan_path_then(const struct plan_path *a, const struct plan_path *b)
{
	return (struct plan_path){ a->sum + b->sum,
				   a->slowest > b->slowest ? a->slowest : b->slowest };
}

struct plan_path plan_path(const struct network *net, const uint32_t *ports, unsigned count,
			   uint32_t frame)
{
	struct plan_path path = { 0 };

	for (unsigned i = 0; i < count; i++)
		plan_path_add(&path, net, ports[i], frame);
	return path;
}

struct plan_path plan_tree_path(const struct network *net, const struct tree *tree,
				const uint32_t *ports, uint32_t workers, uint32_t frame)
{
	struct plan_path up_longest = { 0 }, down_longest = { 0 };

	for (uint32_t w = 0; w < workers; w++) {
		uint32_t port = ports[w], n = tree->node_of_worker[w];
		struct plan_path up = { 0 }, down = { 0 };

		for (;;) {
			plan_path_add(&up, net, port, frame);
			plan_path_add(&down, net, net->cold[port].reverse, frame);
			if (tree->nodes[n].parent == TREE_NONE)
				break;
			port = tree->nodes[n].up_port;
			n = tree->nodes[n].parent;
		}
		plan_path_longest(&up_longest, &up);
		plan_path_longest(&down_longest, &down);
	}
	return plan_path_then(&up_longest, &down_longest);
}

/* A connection's path for a frame of this size; with `back`, the path of its ACKs. */
static struct plan_path path_one_way(const struct topology *topo, uint32_t src, uint32_t dst,
				     uint64_t key, bool back, uint32_t frame)
{
	uint32_t ports[HOPS_MAX + 1];
	struct route route;

	transport_route(topo, src, dst, key, back, &route);
	return plan_path(&topo->net, ports, topology_path(topo, back ? dst : src, &route, ports),
			 frame);
}

struct plan_path plan_tcp_round_trip(const struct tcp *tcp, const struct topology *topo,
				     uint32_t src, uint32_t dst, uint64_t key)
{
	uint32_t segment = (uint32_t)tcp_parameters(tcp)->mss + TCP_OVERHEAD;
	struct plan_path there = path_one_way(topo, src, dst, key, false, segment);
	struct plan_path back = path_one_way(topo, src, dst, key, true, TCP_MIN_FRAME);

	return plan_path_then(&there, &back);
}
