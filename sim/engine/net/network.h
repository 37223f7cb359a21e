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

/* Links may have so many kinds of parameters, whatever their number. */
#define NETWORK_CLASSES_MAX 255

#define PREAMBLE_AND_GAP 20 /* 8 bytes of preamble and start delimiter, 12 of gap */

/* Properties of one direction of a link and of the queue in front of it. */
struct link_params {
	bps rate;
	sim_time delay;        /* propagation */
	double loss;           /* probability per packet */
	sim_time peer_latency; /* constant pipeline of the node it leads to */
	sim_time peer_jitter;  /* random processing of the host it leads to */
	sim_time idle_jitter;  /* of a host: its NIC, when idle, begins to send up to this later */
	bytes limit;           /* of the queue; UINT64_MAX = none */
	uint64_t ecn_min, ecn_max; /* UINT64_MAX = never mark */
	bool ecn_in_packets;
	double ecn_max_probability;
	bool wire_overhead;        /* count preamble and inter-frame gap (20 bytes) */
	struct pause_params pause; /* of the switch it leads to, in a lossless network */
};

/* Before the first packet is sent: no departure is deferred (nic.h). For tests. */
void network_by_event(struct network *net);

/* From now on the onlooker (watch.h) hears of every packet that is put into a queue, and each
 * departure is an event. Before the first packet. Not owned. */
void network_look_on(struct network *net, struct net_onlooker *onlooker);

/* Makes room for the nodes. `switch_ports` has one entry a switch. `nics`:
 * see nic.h. Events of `sim` must not have started. */
void network_init(struct network *net, struct sim *sim, uint32_t hosts, uint32_t switches,
		  const uint16_t *switch_ports, const uint8_t *tiers, enum nic_mode nics);
void network_release(struct network *net);

/* From now on, before any link and behind lossless_init(): control packets (packet_is_control())
 * have a class of their own at every egress port, with strict priority and without preemption: one
 * waits for the packet that is being sent and for the control packets before it. Order is kept
 * within a class. Both classes share a port's limit, data is marked by the queue of both, control
 * packets never. In a lossless network PAUSE is of the data class alone: control packets are
 * neither stopped nor charged.
 *
 * A port still has one ring and one event a hop: a control packet is put in ahead of what
 * waits, which is re-timed. That costs time in proportion to the queue. */
void network_control_first(struct network *net);

/* From now on, before any link, routes may be longer than a packet has room for (legs.h). Such a
 * network is never cut. */
void network_long_routes(struct network *net);

/* Joins local port `pa` of node `a` with local port `pb` of node `b` (0 for a
 * host); `ab` holds for the direction from a to b. */
void network_connect(struct network *net, uint32_t a, uint16_t pa, const struct link_params *ab,
		     uint32_t b, uint16_t pb, const struct link_params *ba);

/* Chooses the width of the event queue's slots from the links; call it last. */
void network_tune(struct network *net);

/* The same of the queue of a partition, which `net` is the view of, for windows of this length
 * (cut.h). */
void network_tune_part(struct network *net, sim_time window);

/* Returns the number that packets carry in `protocol`. `self` is not owned. */
uint8_t network_register(struct network *net, const struct protocol_ops *ops, void *self);

/* What a watched port has sent, by class: bytes on the wire of frames with preamble and gap, those
 * that were lost on the way included, and of PAUSE frames. */
void network_watched(const struct network *net, uint32_t port,
		     struct port_sent sent[WATCH_CLASSES]);

/* When the last packet arrived, where none is under way any more. */
sim_time network_last_arrival(const struct network *net);

/* From now on `faults` is asked about every packet on every link (slow). It must
 * outlive the network. For tests. */
void network_inject(struct network *net, const struct network_faults *faults);

/* For a network that may fail (outage.h). The link behind a port, in both directions, has one
 * failure more or (down is false) less. */
void network_fail_link(struct network *net, uint32_t port, bool down);

/* All links of a switch; when it fails, its memory is lost. */
void network_fail_switch(struct network *net, uint32_t sw, bool down);

/* Of a switch only what adds gradients up, with its memory. */
void network_fail_aggregation(struct network *net, uint32_t sw, bool down);

/* What a port has sent: port_sent(), and PAUSE frames. */
struct port_sent network_sent(const struct network *net, uint32_t port);

/* Packets that have reached the far end of a port, those that were lost there included. */
uint64_t network_arrived(const struct network *net, uint32_t port);

/* Bytes that wait in a port or are being sent. */
uint64_t network_queue_bytes(struct network *net, uint32_t port);

/* Packets that are in rings now, and PAUSE frames. Of a network that is not cut. */
uint64_t network_in_flight(const struct network *net);

/* Conservation of packets, no link faster than its rate, empty queues counted
 * right. Returns the number of violations and describes them on `report`. */
unsigned network_check(struct network *net, FILE *report);

#endif
