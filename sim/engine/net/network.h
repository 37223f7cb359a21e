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
#include "net/late.h"
#include "net/nic.h"
#include "net/port.h"
#include "net/watch.h"

#include <stdio.h>

#define NET_PROTOCOLS    16
#define PREAMBLE_AND_GAP 20 /* 8 bytes of preamble and start delimiter, 12 of gap */

struct lossless; /* lossless.c */

/* What a switch does with an AGGREGATION packet: it is absorbed unless `forward`
 * is set (then it goes on along its route), and up to two packets are sent, each
 * to one or several egress ports. A scheme only fills this in; it never touches
 * a port or time. */
struct switch_send {
	struct packet packet;
	const uint32_t *ports; /* not owned; must outlive the call */
	uint32_t count;
};

struct switch_actions {
	bool forward;
	unsigned count;
	struct switch_send send[2];
};

struct protocol_ops {
	const char *name;
	/* A host may learn of its packets late: see late.h. */
	bool patient;
	/* Required. The packet has reached host `host`. */
	void (*deliver)(void *self, uint32_t host, const struct packet *packet);
	/* Required of those that send AGGREGATION packets. It has passed the pipeline
	 * of switch `sw`, coming from the node to which egress port `back` leads. */
	void (*at_switch)(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			  struct switch_actions *actions);
	/* Optional. The packet will be delivered soon: prefetch what that touches. */
	void (*prefetch)(void *self, const struct packet *packet);
	/* Optional. The AGGREGATION packet will be handled at `node` soon: prefetch what that
	 * touches; some events later, with `again`, what could only be found through it. */
	void (*ahead)(const void *self, uint32_t node, const struct packet *packet, bool again);
};

struct switch_node {
	uint32_t first_port, ports;
	uint8_t tier; /* 1 = next to hosts */
};

/* For tests: what happens to named packets on links. */
struct network_faults {
	/* The packet is lost at the end of the link behind `port`. May be NULL. */
	bool (*lose)(void *owner, uint32_t port, const struct packet *packet);
	/* It takes this much longer, and what is behind it waits. Asked once a packet.
	 * May be NULL. */
	sim_time (*delay)(void *owner, uint32_t port, const struct packet *packet);
	void *owner;
};

struct network {
	struct sim *sim;
	uint32_t hosts, switches, port_count;
	struct port *ports;
	struct port_cold *cold; /* by port */
	struct link_class *classes;
	unsigned class_count;
	struct switch_node *switch_nodes;
	struct nic *nics; /* by host */
	struct {
		const struct protocol_ops *ops;
		void *self;
	} protocols[NET_PROTOCOLS];
	unsigned protocol_count;
	uint32_t patient;          /* a bit for each protocol that is */
	struct lossless *lossless; /* NULL = packets that find a queue full are dropped */
	bool control_first;        /* two classes of traffic, see network_control_first() */
	bool nics_by_event;        /* see nic.h */
	sim_time nic_lag; /* for how long a NIC may be behind: the longest link of a host */
	struct {
		sim_time patience;   /* of a packet: the shortest link of a host */
		sim_time longest;    /* for how long a host may be behind */
		uint64_t deliveries; /* without an event */
		uint64_t events;     /* to see to it */
	} late;                      /* see late.h */

	const struct network_faults *faults; /* NULL = none; not owned */

	/* Conservation: created = delivered + dropped + lost + absorbed + in the rings. */
	uint64_t created, delivered, dropped, lost, absorbed;
	uint64_t hops;           /* packets that have crossed a link */
	struct net_watch *watch; /* NULL = no port is watched; owned */
};

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

/* Before the first packet is sent: nothing is put off, each departure at a NIC and each arrival at
 * a host is an event (nic.h, late.h). For those who look at every event. */
void network_by_event(struct network *net);

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

/* Joins local port `pa` of node `a` with local port `pb` of node `b` (0 for a
 * host); `ab` holds for the direction from a to b. */
void network_connect(struct network *net, uint32_t a, uint16_t pa, const struct link_params *ab,
		     uint32_t b, uint16_t pb, const struct link_params *ba);

/* Chooses the width of the event queue's slots from the links; call it last. */
void network_tune(struct network *net);

/* Returns the number that packets carry in `protocol`. `self` is not owned. */
uint8_t network_register(struct network *net, const struct protocol_ops *ops, void *self);

/* The egress port of `node`'s local port. */
static inline uint32_t network_port(const struct network *net, uint32_t node, uint16_t local)
{
	return node < net->hosts ? node : net->switch_nodes[node - net->hosts].first_port + local;
}

static inline const struct link_class *port_class(const struct network *net,
						  const struct port *port)
{
	return &net->classes[port->class];
}

/* Whether its host may learn of a packet late: see late.h. */
static inline bool network_is_patient(const struct network *net, const struct packet *packet)
{
	return net->patient >> packet->protocol & 1;
}

/* Puts a packet into an egress queue: tail drop, ECN mark (instantaneous queue
 * before the packet is added), then its place in time. A drop is counted. */
void network_enqueue(struct network *net, uint32_t port, const struct packet *packet);

/* A host sends at once, past the turn-taking of its sources: for ACKs and
 * control packets, which a host never holds back. */
void network_send(struct network *net, uint32_t host, const struct packet *packet);

/* The same when what the NIC had put off is done. */
void network_send_now(struct network *net, uint32_t host, const struct packet *packet);

/* A host is up to date: what its NIC had to do before the time `until` is done, and what has
 * reached it before that is delivered. Up to now: before the event that runs. See nic.h and
 * late.h. */
static inline void network_settle_host(struct network *net, uint32_t host, sim_time until)
{
	const struct port *port = &net->ports[host];

	if (port->flags & PORT_OWED)
		late_catch_up(net, host, until);
	else if (port->flags & PORT_NIC_DUE && port->busy_until < until)
		nic_catch_up(&net->nics[host], until);
}

/* Up to now, in an event that no host was settled for (SIM_NOWHERE) and that makes one send. */
static inline void network_settle_host_now(struct network *net, uint32_t host)
{
	network_settle_host(net, host, net->sim->now + 1);
}

/* All hosts: before anybody looks at them after the last event. */
void network_settle(struct network *net, sim_time until);

/* When the last packet arrived, where none is under way any more. */
sim_time network_last_arrival(const struct network *net);

/* A switch sends later than at_switch() returned, for pipelines whose time is not the switch's
 * constant latency. `back` as at_switch() had it: in a lossless network the packet is charged to
 * that port from now on. */
void network_switch_send(struct network *net, uint32_t back, const struct switch_send *send);

/* The same of packets that differ in all but their size: packets[i] leaves by ports[i]. They are
 * charged as copies of one are, as what they have in common is there once. */
void network_switch_send_each(struct network *net, uint32_t back, const struct packet *packets,
			      const uint32_t *ports, uint32_t count);

/* From now on `faults` is asked about every packet on every link (slow). It must
 * outlive the network. For tests. */
void network_inject(struct network *net, const struct network_faults *faults);

/* What a port has sent: port_sent(), and PAUSE frames. */
struct port_sent network_sent(const struct network *net, uint32_t port);

/* Bytes that wait in a port or are being sent. */
uint64_t network_queue_bytes(struct network *net, uint32_t port);

/* Packets that are in rings now, and PAUSE frames. */
uint64_t network_in_flight(const struct network *net);

/* Conservation of packets, no link faster than its rate, empty queues counted
 * right. Returns the number of violations and describes them on `report`. */
unsigned network_check(struct network *net, FILE *report);

#endif
