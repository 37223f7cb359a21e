/* Ideal times of transfers: see topology.h. */
#include "topo/topology.h"

static uint32_t frame_of(const struct framing *framing, uint64_t payload, bool first)
{
	uint64_t frame = payload + framing->header + (first ? framing->first_header : 0);

	return (uint32_t)(frame < framing->min_frame ? framing->min_frame : frame);
}

/* On several paths packet n need not wait for those before it, but behind the first link; nor need
 * any wait for what packet 1 has beyond a full frame. So this is a bound, and no optimum. */
static sim_time ideal_overtaking(const struct network *net, const uint32_t *ports, unsigned count,
				 bytes size, const struct framing *framing)
{
	const struct link_class *link = port_class(net, &net->ports[ports[0]]);
	uint64_t mss = framing->payload, before = (size - 1) / mss;
	struct framing one_path = { framing->payload, framing->header, 0, framing->min_frame,
				    false };
	sim_time full = ideal_transfer(net, ports, count, before * mss, &one_path);
	sim_time last =
		before * link_transmission(link, frame_of(&one_path, mss, false)) +
		ideal_packet(net, ports, count, frame_of(&one_path, size - before * mss, false));

	return full > last ? full : last;
}

/* Packet 1 is the largest, packets 2..n-1 are full, packet n is the rest; servers 1..m are the
 * links. In a tandem of FIFO servers with all packets ready at time 0, the last departure is the
 * longest staircase through the (server, packet) grid. As the middle packets are equal and none is
 * larger than packet 1 or smaller than packet n, the longest staircase has this form: packet 1 over
 * servers 1..a, all middle packets on server a, one of them over servers a+1..b, then packet n over
 * servers b..m. */
sim_time ideal_transfer(const struct network *net, const uint32_t *ports, unsigned count,
			bytes size, const struct framing *framing)
{
	uint64_t mss = framing->payload, packets = size ? (size + mss - 1) / mss : 1;
	uint32_t first = frame_of(framing, packets > 1 ? mss : size, true);
	uint32_t full = frame_of(framing, mss, false);
	uint32_t last = packets > 1 ? frame_of(framing, size - (packets - 1) * mss, false) : first;
	sim_time latency = 0, tail = 0, head = 0, middle = 0, best = 0;

	if (framing->overtakes && packets > 1)
		return ideal_overtaking(net, ports, count, size, framing);
	for (unsigned i = 0; i < count; i++) {
		const struct link_class *link = port_class(net, &net->ports[ports[i]]);

		latency += link->latency;
		tail += link_transmission(link, last);
	}
	if (packets == 1)
		return latency + tail;
	for (unsigned b = 0; b < count; b++) {
		const struct link_class *link = port_class(net, &net->ports[ports[b]]);
		sim_time transmission = link_transmission(link, full);

		/* `middle`: the longest way to server b without packet n, over all a */
		head += link_transmission(link, first);
		if (packets > 2)
			middle += transmission;
		if (packets == 2 || head + (packets - 2) * transmission > middle)
			middle = head + (packets - 2) * transmission;
		if (middle + tail > best)
			best = middle + tail;
		tail -= link_transmission(link, last);
	}
	return latency + best;
}

sim_time ideal_packet(const struct network *net, const uint32_t *ports, unsigned count,
		      uint32_t frame)
{
	return ideal_transfer(net, ports, count, frame, &(struct framing){ .payload = frame });
}

/* Time of a frame over a link and through the pipeline of the node at its end. */
static sim_time over_link(const struct topology_conf *conf, bool fabric, sim_time pipeline,
			  uint32_t frame)
{
	struct link_conf link = topology_link_conf(conf, fabric);
	struct link_class class = { .rate = link.rate,
				    .wire_extra = conf->wire_overhead ? PREAMBLE_AND_GAP : 0 };

	return link_transmission(&class, frame) + link.delay + pipeline;
}

/* Time of a frame from host to host over the longest route. */
static sim_time one_way(const struct topology_conf *conf, uint32_t frame)
{
	unsigned between_switches = topology_longest(conf) - 1;
	sim_time latency = topology_switch_latency(conf);

	return over_link(conf, false, latency, frame) +
	       between_switches * over_link(conf, true, latency, frame) +
	       over_link(conf, false, conf->host.latency, frame);
}

sim_time ideal_round_trip(const struct topology_conf *conf, uint32_t frame, uint32_t answer)
{
	return one_way(conf, frame) + one_way(conf, answer);
}
