/* The parts of a network: nodes, ports, protocols, and the counts that have to add up.
 *
 * The files of net/ include each other in one direction only. From the lowest: packet, port, state,
 * ingress, sched, shared, watch, legs, outage, record, telemetry, hop (the path of a packet), nic,
 * ahead (prefetching), lossless (PAUSE), network (building and queries), repeat. Where a lower file
 * has to call a higher one, nic or lossless, struct network has a pointer to the function. */
#ifndef INASIM_NET_STATE_H
#define INASIM_NET_STATE_H

#include "net/port.h"

#define NET_PROTOCOLS 16

struct lossless;
struct repeat;
struct repeat_stream;
struct net_watch;
struct net_onlooker; /* watch.h */
struct nic;
struct route_legs;
struct outages;    /* outage.h */
struct shared;     /* shared.h */
struct sched;      /* sched.h */
struct int_record; /* telemetry.h */
struct int_begun;

/* A packet that a switch sends out of one or several egress ports. */
struct switch_send {
	struct packet packet;
	const uint32_t *ports; /* not owned; must stay valid until the packets are sent */
	uint32_t count;
};

/* A scheme's answer to an AGGREGATION packet at a switch. The packet goes on along its route if
 * `forward` is set, else it is absorbed. In addition, up to two packets are sent. The scheme only
 * fills this in; it touches neither ports nor the clock. */
struct switch_actions {
	bool forward;
	unsigned count;
	struct switch_send send[2];
};

/* Facts about an AGGREGATION packet, for event logs. */
struct packet_about {
	uint32_t job;                   /* number of the job in the run */
	uint32_t aggregator;            /* UINT32_MAX = the packet uses none */
	uint64_t chunk;                 /* NetReduce: number of the message */
	const uint32_t *worker_of_host; /* by host; UINT32_MAX = no worker of the job */
};

struct protocol_ops {
	const char *name;
	/* How event logs print the protocol's flags, PACKET_OWN(0) first; NULL = flag not used. */
	const char *flags[PACKET_OWN_FLAGS];
	/* Required. The packet has reached host `host`. */
	void (*deliver)(void *self, uint32_t host, const struct packet *packet);
	/* Required if the protocol sends AGGREGATION packets. The packet has passed the pipeline
	 * of switch `sw`, a number among the switches, from 0. It came from the node to which
	 * egress port `back` leads. */
	void (*at_switch)(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			  struct switch_actions *actions);
	/* Optional. The packet will be delivered soon: prefetches the memory for this. */
	void (*prefetch)(void *self, const struct packet *packet);
	/* Optional. The AGGREGATION packet will be handled at `node` soon: prefetches the memory
	 * for this. Called a second time some events later, with `again`, to follow pointers that
	 * the first call has fetched. */
	void (*ahead)(const void *self, uint32_t node, const struct packet *packet, bool again);
	/* Optional. Fills in *about, for event logs. False: the packet's job is over. */
	bool (*about)(const void *self, const struct packet *packet, struct packet_about *about);
	/* Optional. Whether switch `sw` should add the AGGREGATION packet up. While the switch's
	 * aggregation has failed (outage.h), packets that it should add are lost. Not needed by
	 * schemes whose jobs do not go on at such a switch (collective_ops.intact). */
	bool (*adds_at)(const void *self, uint32_t sw, const struct packet *packet);
	/* Optional. Routing has changed: open connections and jobs take new routes. */
	void (*reroute)(void *self);
	/* Optional. The class of a packet (sched.h). Without it, that of the job that about() says.
	 */
	uint8_t (*class_of)(const void *self, const struct packet *packet);
	/* Optional. Whether a switch that trims (network_trim()) may cut this DATA packet: its
	 * receiver answers a packet without payload. Without it, none. */
	bool (*trims)(const void *self, const struct packet *packet);
	/* Optional, for runs that repeat themselves (repeat.h); set both or none. stream() returns
	 * the stream that the packet's `seq` belongs to, or NULL. repeat() goes through the first
	 * two unions of struct packet (`seq`, `value`). */
	const struct repeat_stream *(*stream)(const void *self, const struct packet *packet);
	void (*repeat)(void *self, struct repeat *repeat, struct packet *packet);
	/* Optional. Where switches write the telemetry of a packet (telemetry.h); NULL: it collects
	 * none. */
	struct int_record *(*telemetry)(void *self, const struct packet *packet);
	/* repeat() also goes through `slot`, or `own`, as these depend on the chunk. */
	bool repeats_slot, repeats_own;
};

struct switch_node {
	uint32_t first_port, ports;
	uint8_t tier; /* 1 = next to hosts */
};

/* network_balance(): what a switch chooses ports by. */
struct balance {
	uint32_t first_up, end; /* ports that lead up */
	sim_time step;          /* of levels of queues */
	struct rng ties;
};

/* For tests: losses and delays of chosen packets on links. */
struct network_faults {
	/* Whether the packet is lost at the end of the link of `port`. May be NULL. */
	bool (*lose)(void *owner, uint32_t port, const struct packet *packet);
	/* Returns how much later, in ps, the packet arrives; packets behind it arrive no earlier.
	 * Called when the packet is at the head of its queue, and again whenever PAUSE frames or
	 * control packets move its departure; then it must return the same. May be NULL. */
	sim_time (*delay)(void *owner, uint32_t port, const struct packet *packet);
	void *owner;
};

struct network {
	struct sim *sim;
	uint32_t hosts, switches, port_count;
	uint32_t host_ports;  /* egress ports of hosts: the numbers below this */
	uint32_t *more_links; /* by host: port of its second link; one more; NULL = all have one */
	struct port *ports;
	struct port_cold *cold; /* by port */
	struct link_class *classes;
	unsigned class_count;
	struct switch_node *switch_nodes;
	struct nic *nics; /* by egress port of a host */

	/* Functions that lower files call but higher ones define: nic.c and, in networks with
	 * PAUSE, lossless_hop.c. */
	void (*catch_up)(struct network *net, uint32_t host, sim_time until);
	void (*send)(struct network *net, uint32_t port, const struct packet *packet);
	void (*switch_send)(struct network *net, uint32_t back, const struct switch_send *send);
	void (*switch_send_each)(struct network *net, uint32_t back, const struct packet *packets,
				 const uint32_t *ports, uint32_t count);

	struct {
		const struct protocol_ops *ops;
		void *self;
	} protocols[NET_PROTOCOLS];
	unsigned protocol_count;
	struct lossless *lossless;   /* state of PAUSE; NULL = full queues drop packets */
	struct sched *sched;         /* NULL = no queues by class; owned */
	struct shared *shared;       /* NULL = each port has its own buffer; owned */
	struct balance *balance;     /* by switch; NULL = senders choose all ports; owned */
	struct route_legs *legs;     /* NULL = every route fits into a packet; owned */
	struct outages *outages;     /* NULL = no link ever fails; owned */
	struct int_begun *telemetry; /* by egress port; NULL = no packet collects any; owned */
	bool control_first;          /* two classes of traffic, see network_control_first() */
	bool trim;                   /* network_trim() */
	bool nics_by_event;          /* no departure is deferred, see nic.h */
	/* Longest time by which a departure is deferred: the longest latency of a host's link. */
	sim_time nic_lag;
	/* First host of the list of hosts with a deferred departure, now or before; ends with
	 * NIC_NONE. */
	uint32_t deferred_first;
	uint32_t *deferred_next;                           /* by host; owned */
	uint64_t departures_by_event, departures_deferred; /* of NICs, so far */
	uint64_t deferred_looks;                           /* at hosts of that list, so far */
	const struct network_faults *faults;               /* NULL = none; not owned */

	/* Conservation: created = delivered + dropped + lost + absorbed + network_in_flight(). */
	uint64_t created, delivered, dropped, lost, absorbed;
	uint64_t hops;                 /* packets that have crossed a link */
	uint64_t trimmed;              /* packets that switches have cut; they go on */
	struct net_watch *watch;       /* NULL = no port is watched; owned */
	struct net_onlooker *onlooker; /* NULL = none; not owned; see network_look_on() */
	struct repeat *recorder;       /* NULL = no period is recorded (repeat.h); not owned */
};

/* The number of the egress port that is local port `local` of a node. */
static inline uint32_t network_port(const struct network *net, uint32_t node, uint16_t local)
{
	if (node < net->hosts)
		return local ? net->more_links[node] + local - 1 : node;
	return net->switch_nodes[node - net->hosts].first_port + local;
}

/* The local number of an egress port of a host. */
static inline uint32_t network_local(const struct network *net, uint32_t port)
{
	return port < net->hosts
		       ? 0
		       : 1 + port - net->more_links[net->ports[net->cold[port].reverse].to];
}

/* Links of a host. */
static inline uint32_t network_links(const struct network *net, uint32_t host)
{
	return net->more_links ? 1 + net->more_links[host + 1] - net->more_links[host] : 1;
}

/* The node that sends by an egress port. */
static inline uint32_t network_node(const struct network *net, uint32_t port)
{
	return port < net->hosts ? port : net->ports[net->cold[port].reverse].to;
}

static inline const struct link_class *port_class(const struct network *net,
						  const struct port *port)
{
	return &net->classes[port->class];
}

/* Whether a NIC has deferred departures that come before the time `until`. Hosts with several links
 * defer none, so the number of the host also stands for its NIC. */
static inline bool network_is_behind(const struct network *net, uint32_t host, sim_time until)
{
	const struct port *port = &net->ports[host];

	return port->flags & PORT_DEFERRED && port->busy_until < until;
}

/* Carries out these departures (nic.h). */
static inline void network_catch_up(struct network *net, uint32_t host, sim_time until)
{
	if (network_is_behind(net, host, until))
		net->catch_up(net, host, until);
}

/* A host sends by this egress port at once, without a turn of its NIC: for ACKs and control
 * packets, which a host never holds back. nic.c also calls it, for a packet whose turn has come. */
static inline void network_send(struct network *net, uint32_t port, const struct packet *packet)
{
	net->created++;
	net->send(net, port, packet);
}

/* A switch sends some time after at_switch() has returned, for pipelines that take longer than the
 * switch's constant latency. `back` is the argument of at_switch(): in a lossless network the
 * packet is charged to this port from now on. */
static inline void network_switch_send(struct network *net, uint32_t back,
				       const struct switch_send *send)
{
	net->switch_send(net, back, send);
}

/* network_switch_send() for several packets of one size: packets[i] leaves by ports[i]. They are
 * charged as copies of one packet, since the switch stores their common part once. */
static inline void network_switch_send_each(struct network *net, uint32_t back,
					    const struct packet *packets, const uint32_t *ports,
					    uint32_t count)
{
	net->switch_send_each(net, back, packets, ports, count);
}

#endif
