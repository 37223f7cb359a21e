/* Hosts, switches, links, and the protocols that run over them.
 *
 * Node numbers: hosts 0..hosts-1, then switches. Port numbers: host h sends on port h by its first
 * link; then come the ports of hosts' further links, host by host, then those of switches, which
 * are consecutive. Each link of a host has a NIC of its own. A topology builds the network;
 * protocols (transports, aggregation schemes) register and are called when
 * their packets reach a host or, for AGGREGATION packets, a switch. Nodes act on
 * each other only over links, never in zero time. */
#ifndef INASIM_NET_NETWORK_H
#define INASIM_NET_NETWORK_H

#include "net/ingress.h"
#include "net/nic.h"
#include "net/state.h"
#include "net/watch.h"

#include <stdio.h>

/* How many different struct link_params the links of a network may have. */
#define NETWORK_CLASSES_MAX 255

#define PREAMBLE_AND_GAP 20 /* 8 bytes of preamble and start delimiter, 12 of gap */

/* Properties of one direction of a link and of the queue in front of it. */
struct link_params {
	bps rate;
	sim_time delay;            /* propagation */
	double loss;               /* probability per packet */
	sim_time peer_latency;     /* constant pipeline latency of the node at the far end */
	sim_time peer_jitter;      /* largest random processing time of the host at the far end */
	sim_time idle_jitter;      /* of a host's NIC that was idle: see link_class.idle_max */
	struct host_cores cores;   /* of the host at either end; 0: they take no time */
	bytes limit;               /* of the queue; UINT64_MAX = unlimited */
	uint64_t ecn_min, ecn_max; /* bytes, or packets if ecn_in_packets; UINT64_MAX: no marks */
	bool ecn_in_packets;
	double ecn_max_probability;
	bool wire_overhead;        /* count preamble and inter-frame gap (20 bytes) */
	struct pause_params pause; /* of the switch at the far end, in a lossless network */
};

/* From now on no departure is deferred (nic.h). Call it after network_tune() and before the first
 * packet. For tests. */
void network_by_event(struct network *net);

/* From now on `onlooker` (watch.h) is told of every packet that is put into a queue, and each
 * departure is an event. Call it as network_by_event(). `onlooker` is not owned. */
void network_look_on(struct network *net, struct net_onlooker *onlooker);

/* From now on switches write telemetry (telemetry.h). Call it before the first packet that collects
 * any; no effect if it is on. */
void network_telemetry(struct network *net);

/* Makes the nodes and their ports. `host_links` has the number of links of each host, at least 1;
 * NULL: one each. `switch_ports` (number of ports) and `tiers` have one entry per switch. `nics`:
 * see nic.h. `sim` must not have any entity yet. A network whose hosts have several links
 * defers no departure. */
void network_init(struct network *net, struct sim *sim, uint32_t hosts, const uint16_t *host_links,
		  uint32_t switches, const uint16_t *switch_ports, const uint8_t *tiers,
		  enum nic_mode nics);
void network_release(struct network *net);

/* Call it before any link and, in a lossless network, after lossless_init(). Control packets
 * (packet_is_control()) then have a class of their own at every egress port, with strict priority
 * and without preemption: a control packet waits for the packet that is being sent and for the
 * control packets before it.
 * Order is kept within a class. Both classes share a port's limit. ECN looks at the total queue of
 * both classes, but marks only data. In a lossless network PAUSE concerns only the data class:
 * control packets are neither stopped nor charged.
 *
 * A port still has one ring and one event per hop: a control packet is put in ahead of the waiting
 * data, whose departures are set anew. That costs computation in proportion to the queue. */
void network_control_first(struct network *net);

/* Call it after network_control_first(), without PAUSE and shared buffers. A DATA packet for which
 * a port of a switch has no room is then cut to TRIMMED_FRAME bytes, without payload, and goes on
 * as a control packet, if its protocol lets it (protocol_ops.trims). Control packets have room for
 * twice the limit beside it. As uet-htsim's compositequeue.cpp, but there a fair coin may cut the
 * newest packet that waits in place of the one that comes, and data has the limit for itself.
 * Headers go first, so senders whose windows hold still can fill a port with headers alone. */
void network_trim(struct network *net);

/* Call it when all links are there. Switches then choose the port of each DATA packet on its way
 * up: one with a shortest queue, of four levels that end at 1, 2 and 4 times `step` bytes; among
 * equals by chance. (uet-htsim's ecmp_ar. By exact lengths, flows that keep a switch busy would
 * keep their ports, too, and meet further on.) Only for folded Clos networks in which all ports up
 * of a switch, its last ones, are alike; without PAUSE and failures. */
void network_balance(struct network *net, uint64_t step);

/* Call it before any link if routes may be longer than a packet has room for (legs.h). */
void network_long_routes(struct network *net);

/* Joins local port `pa` of node `a` with local port `pb` of node `b`. `ab` has the properties of
 * the direction from a to b, `ba` of the other. */
void network_connect(struct network *net, uint32_t a, uint16_t pa, const struct link_params *ab,
		     uint32_t b, uint16_t pb, const struct link_params *ba);

/* Fits the event queue to the links, and decides whether hops are prefetched and departures
 * deferred. Speed only. Call it after all links have been made. */
void network_tune(struct network *net);

/* Adds a protocol. Returns the number that its packets carry in `protocol`. `ops` and `self` are
 * not owned. */
uint8_t network_register(struct network *net, const struct protocol_ops *ops, void *self);

/* Bytes on the wire (with preamble and gap) that a watched port has sent, by class. They include
 * PAUSE frames and frames that were lost on the way. */
void network_watched(const struct network *net, uint32_t port,
		     struct port_sent sent[WATCH_CLASSES]);

/* When the last packet arrived, in a network without packets in flight. */
sim_time network_last_arrival(const struct network *net);

/* From now on `faults` is asked about every packet on every link (slow). It must
 * outlive the network. For tests. */
void network_inject(struct network *net, const struct network_faults *faults);

/* Counts one more failure (`down`) or one less for the link of a port, in both directions. While
 * the count is above 0, the link is down. For networks that may fail (outage.h). */
void network_fail_link(struct network *net, uint32_t port, bool down);

/* network_fail_link() for all links of a switch. When it fails, it loses its memory. */
void network_fail_switch(struct network *net, uint32_t sw, bool down);

/* Counts one more failure (`down`) or one less of a switch's aggregation. With each failure the
 * switch loses its memory. While the count is above 0, it cannot add gradients up. */
void network_fail_aggregation(struct network *net, uint32_t sw, bool down);

/* Bytes on the wire that a port has sent: port_sent() and PAUSE frames. */
struct port_sent network_sent(const struct network *net, uint32_t port);

/* Packets and PAUSE frames that have reached the far end of a port's link, including packets that
 * were lost there. */
uint64_t network_arrived(const struct network *net, uint32_t port);

/* Bytes that wait in a port or are being sent. */
uint64_t network_queue_bytes(struct network *net, uint32_t port);

/* Packets in rings and PAUSE frames on their way. Must not be called while the network is cut. */
uint64_t network_in_flight(const struct network *net);

/* Checks that packets are conserved, no link was faster than its rate, and the byte counts of
 * queues are right; in a lossless network also calls lossless_check(). Returns the number of
 * violations and describes them on `report`. */
unsigned network_check(struct network *net, FILE *report);

#endif
