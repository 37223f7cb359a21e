/* Ideal times of transfers: see topology.h. */
#include "topo/topology.h"

static uint32_t frame_of(uint64_t payload, uint32_t overhead, uint32_t min_frame)
{
	uint64_t frame = payload + overhead;

	return (uint32_t)(frame < min_frame ? min_frame : frame);
}

/* Packets 1..n-1 are full, packet n is the rest; servers 1..m are the links. In a tandem
 * of FIFO servers with all packets ready at time 0, the last departure is the longest
 * staircase through the (server, packet) grid. As full packets are equal, the longest
 * staircase has this form: one full packet over servers 1..b, the other n-2 full packets
 * on the slowest of these servers, then the last packet over servers b..m. */
sim_time ideal_transfer(const struct network *net, const uint32_t *ports, unsigned count,
			bytes size, uint32_t mss, uint32_t overhead, uint32_t min_frame)
{
	uint64_t packets = size ? (size + mss - 1) / mss : 1;
	uint32_t last = frame_of(size ? size - (packets - 1) * mss : 0, overhead, min_frame);
	uint32_t full = frame_of(mss, overhead, min_frame);
	sim_time latency = 0, tail = 0, head = 0, slowest = 0, best = 0;

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

		head += transmission;
		if (transmission > slowest)
			slowest = transmission;
		if (head + (packets - 2) * slowest + tail > best)
			best = head + (packets - 2) * slowest + tail;
		tail -= link_transmission(link, last);
	}
	return latency + best;
}

sim_time ideal_packet(const struct network *net, const uint32_t *ports, unsigned count,
		      uint32_t frame)
{
	return ideal_transfer(net, ports, count, frame, frame, 0, 0);
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
