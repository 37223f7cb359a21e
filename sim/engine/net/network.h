/* Hosts, switches, links, and the protocols that run over them.
 *
 * Node numbers: hosts 0..hosts-1, then switches. Port numbers: host h sends on
 * port h; the ports of a switch are consecutive. A topology builds the network;
 * protocols (transports, aggregation schemes) register and are called when
 * their packets reach a host or, for AGGREGATION packets, a switch. Nothing
 * acts on another node in zero time: the only way between nodes is a link. */
#ifndef INASIM_NET_NETWORK_H
#define INASIM_NET_NETWORK_H

#include "net/ingress.h"
#include "net/nic.h"
#include "net/state.h"
#include "net/watch.h"

#include <stdio.h>

/* Number of different struct link_params that the links of a network may have. */
#define NETWORK_CLASSES_MAX 255

#define PREAMBLE_AND_GAP 20 /* 8 bytes of preamble and start delimiter, 12 of gap */

/* Properties of one direction of a link and of the queue in front of it. */
struct link_params {
	bps rate;
	sim_time delay;            /* propagation */
	double loss;               /* probability per packet */
	sim_time peer_latency;     /* constant pipeline of the node it leads to */
	sim_time peer_jitter;      /* random processing of the host it leads to */
	sim_time idle_jitter;      /* of a host's NIC that was idle: see link_class.idle_max */
	bytes limit;               /* of the queue; UINT64_MAX = none */
	uint64_t ecn_min, ecn_max; /* UINT64_MAX = never mark */
	bool ecn_in_packets;
	double ecn_max_probability;
	bool wire_overhead;        /* count preamble and inter-frame gap (20 bytes) */
	struct pause_params pause; /* of the switch it leads to, in a lossless network */
};

/* From now on no departure is deferred (nic.h). Before the first packet. For tests. */
void network_by_event(struct network *net);

/* From now on the onlooker (watch.h) hears of every packet that is put into a queue, and each
 * departure is an event. Before the first packet. Not owned. */
void network_look_on(struct network *net, struct net_onlooker *onlooker);

/* Makes room for the nodes. `switch_ports` has one entry a switch. `nics`:
 * see nic.h. Events of `sim` must not have started. */
void network_init(struct network *net, struct sim *sim, uint32_t hosts, uint32_t switches,
		  const uint16_t *switch_ports, const uint8_t *tiers, enum nic_mode nics);
void network_release(struct network *net);

/* Call it after lossless_init() and before any link. Control packets (packet_is_control()) then
 * have a class of their own at every egress port, with strict priority and without preemption: a
 * control packet waits for the packet that is being sent and for the control packets before it.
 * Order is kept within a class. Both classes share a port's limit. ECN looks at the queue of both
 * together; it marks only data, never control packets. In a lossless network PAUSE is of the data
 * class alone: control packets are neither stopped nor charged.
 *
 * A port still has one ring and one event a hop: a control packet is put in ahead of what
 * waits, which is re-timed. That costs time in proportion to the queue. */
void network_control_first(struct network *net);

/* Call it before any link, where routes may be longer than a packet has room for (legs.h). Such a
 * network is never cut. */
void network_long_routes(struct network *net);

/* Joins local port `pa` of node `a` with local port `pb` of node `b` (0 for a
 * host); `ab` holds for the direction from a to b. */
void network_connect(struct network *net, uint32_t a, uint16_t pa, const struct link_params *ab,
		     uint32_t b, uint16_t pb, const struct link_params *ba);

/* Fits the event queue to the links, and chooses whether hops are prefetched and departures
 * deferred: speed only. Call it when all links are there. */
void network_tune(struct network *net);

/* Does for one partition what network_tune() does for the event queue: `net` is the partition's
 * view, `window` the length of its windows. */
void network_tune_part(struct network *net, sim_time window);

/* Returns the number that packets carry in `protocol`. `self` is not owned. */
uint8_t network_register(struct network *net, const struct protocol_ops *ops, void *self);

/* Bytes on the wire (with preamble and gap) that a watched port has sent, by class. PAUSE frames
 * count, and frames that were lost on the way. */
void network_watched(const struct network *net, uint32_t port,
		     struct port_sent sent[WATCH_CLASSES]);

/* When the last packet arrived, in a network in which none is under way any more. */
sim_time network_last_arrival(const struct network *net);

/* From now on `faults` is asked about every packet on every link (slow). It must
 * outlive the network. For tests. */
void network_inject(struct network *net, const struct network_faults *faults);

/* In a network that may fail (outage.h): the link behind a port, in both directions, has one
 * failure more or (down is false) less. */
void network_fail_link(struct network *net, uint32_t port, bool down);

/* The same for all links of a switch, which loses its memory when it fails. */
void network_fail_switch(struct network *net, uint32_t sw, bool down);

/* A switch can no longer add gradients up, and loses its memory; or (down is false) can again. */
void network_fail_aggregation(struct network *net, uint32_t sw, bool down);

/* What a port has sent: port_sent(), and PAUSE frames. */
struct port_sent network_sent(const struct network *net, uint32_t port);

/* Packets that have reached the far end of the link behind a port, even if they were lost there. */
uint64_t network_arrived(const struct network *net, uint32_t port);

/* Bytes that wait in a port or are being sent. */
uint64_t network_queue_bytes(struct network *net, uint32_t port);

/* Packets that are in rings now, and PAUSE frames on their way. Not while the network is cut. */
uint64_t network_in_flight(const struct network *net);

/* Checks that packets are conserved, no link was faster than its rate, and the bytes of
 * queues are counted right. Returns the number of violations and describes them on `report`. */
unsigned network_check(struct network *net, FILE *report);

#endif
