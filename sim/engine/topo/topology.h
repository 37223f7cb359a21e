/* The network of a scenario: shape, parameters, routes.
 *
 * A topology is one file with one const struct topology_ops and one line in
 * TOPOLOGIES. It defines the switches and the links between them, the route of a
 * flow (per-flow ECMP: equal-cost choices by a hash of the flow's entropy), and the
 * path from a host up to the root of an aggregation tree.
 *
 * Contract. The tier of a switch is the number of links to its nearest host; a host has one link,
 * to a switch of tier 1, and in a graph perhaps further ones (topo/ways.h chooses). Links may join
 * switches of one tier; these lead across, neither up nor down (links.h). In a tree a switch may
 * have both hosts and switches below it. A route need not go up and then down, so its length is
 * known only from topology_longest(). In a graph, racks differ in size, and links and switches in
 * their parameters, so functions for the whole network return the values of the worst links, or a
 * mean. In all other kinds, links of hosts are equal, links between switches are equal, and all
 * hosts see the same network. */
#ifndef INASIM_TOPO_TOPOLOGY_H
#define INASIM_TOPO_TOPOLOGY_H

#include "base/units.h"
#include "net/network.h"

#define TOPOLOGIES(X)                                                                              \
	X(star)                                                                                    \
	X(leaf_spine)                                                                              \
	X(fat_tree)                                                                                \
	X(graph)

/* --- what the user writes under "topology" --- */

/* The highest rate of a link: 100 Tbps. A byte takes 0.08 ps then, but only the time of a whole
 * frame is rounded to 1 ps. */
#define TOPOLOGY_RATE_MAX UINT64_C(100000000000000)

struct link_conf {
	bps rate;
	sim_time delay;
	double loss;
};

struct ecn_conf {
	int form; /* enum ecn_form, by the shape of the value */
	bool on;  /* ECN_SWITCH: threshold in proportion to the rate, topology_first_mark() */
	struct {
		struct queue_size threshold;
	} step;
	struct {
		struct queue_size kmin, kmax;
		double pmax;
	} ramp;
};

enum ecn_form { ECN_SWITCH, ECN_STEP, ECN_RAMP };

struct pause_conf {
	int form; /* enum pause_form, by the shape of the value */
	bool on;  /* PAUSE_SWITCH */
	struct {
		bytes xoff, xon, headroom; /* 0 = not given */
		double alpha;              /* 0 = not given */
		sim_time response;
		bytes mtu;
	} set;
};

enum switch_ways { WAYS_SENDER, WAYS_SHORTEST };

enum pause_form { PAUSE_SWITCH, PAUSE_SET };

/* What aggregation in switches adds to the headroom of PAUSE. Not written by users, but set before
 * topology_check_pause(). All 0 if switches only forward. */
struct pause_answers {
	sim_time held;    /* longest time that a packet stays in a switch, without `latency` */
	unsigned packets; /* most packets that one packet triggers; 0 stands for 1 */
};

/* A buffer of all ports of a switch together (net/shared.h). */
struct shared_conf {
	bytes size; /* 0 = not given */
	double alpha;
};

struct switch_conf {
	sim_time latency;
	bytes buffer; /* per port; 0 = not given, see topology_buffer_of() */
	struct shared_conf shared;
	struct ecn_conf ecn;
	struct pause_conf pause;
	struct pause_answers answers;
	bool trim;               /* network_trim() */
	int ways;                /* enum switch_ways */
	bytes ways_level;        /* see network_balance() */
	const char *aggregation; /* which switches add gradients up: "all", "none" or a tier */
	bool passes;             /* in a graph: this switch adds nothing, whatever its tier */
	bytes memory;            /* in a graph: for aggregation; 0 = the scheme's default */
};

struct detours;
struct graph;
struct graph_conf;
struct graph_routes;

struct host_conf { /* the NIC; the rest of a host is in collective/machine_conf.h */
	int nic;   /* enum nic_mode */
	sim_time latency;
	sim_time jitter;
	sim_time nic_jitter; /* see topology_nic_jitter() */
	bool nic_jitter_given;
	struct host_cores cores;
	bytes queue; /* of the NIC; 0 = unlimited */
	struct ecn_conf ecn;
};

/* A graph as the user gives it, in a file or in place. scenario/graph_conf.h reads it. */
struct graph_source {
	int form; /* enum graph_form, by the shape of the value */
	const char *file;
	const struct graph_conf *in_place;
	bool given;
};

enum graph_form { GRAPH_FILE, GRAPH_IN_PLACE };

struct topology_conf {
	int kind; /* index in TOPOLOGIES */
	struct graph_source graph_source;
	const struct graph *graph; /* once read (graph.h), or made of another kind; else NULL */
	int64_t hosts, k, leaves, spines, hosts_per_leaf; /* 0 = not given */
	double oversubscription;                          /* 0 = not given */
	struct link_conf link;
	struct link_conf uplink;
	bool uplink_given;
	struct switch_conf switches;
	struct host_conf host;
	int classes;         /* enum topology_classes */
	int scheduler;       /* enum topology_scheduler */
	uint32_t weights[8]; /* SCHEDULER_WEIGHTED, by class */
	unsigned weight_count;
	bool wire_overhead;
	bool fails; /* links may fail (net/outage.h). Users do not write this. */
};

enum topology_classes { CLASSES_SINGLE, CLASSES_CONTROL_FIRST };
enum topology_scheduler { SCHEDULER_FIFO, SCHEDULER_STRICT, SCHEDULER_WEIGHTED }; /* net/sched.h */

/* --- the built thing --- */

struct topology;

/* Receiver of mistakes in a configuration. `pointer` is a JSON pointer, such as "/topology/k". */
struct topology_mistakes {
	void (*add)(void *owner, const char *pointer, const char *text);
	void *owner;
};
void topology_mistake(const struct topology_mistakes *to, const char *pointer, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct topology_ops {
	const char *name;
	const char *help;
	/* The keys of the "topology" object that this kind takes but not all kinds take. */
	const char *const *keys;

	/* Required. Reports impossible numbers, by topology_mistake(). */
	void (*check)(const struct topology_conf *conf, const struct topology_mistakes *to);
	/* Required. count() returns how many nodes there are; shape() the number of ports and the
	 * tier of each switch. */
	void (*count)(const struct topology_conf *conf, uint32_t *hosts, uint32_t *switches);
	void (*shape)(const struct topology_conf *conf, uint16_t *switch_ports, uint8_t *tiers);
	/* Optional. Stores the number of links of each host. Default: 1. */
	void (*host_links)(const struct topology_conf *conf, uint16_t *links);
	/* Optional. Called before wire(). */
	void (*prepare)(struct topology *topo);
	/* Required. Calls topology_link() for every pair of joined ports. */
	void (*wire)(struct topology *topo);
	/* Optional. Returns the number of switches on the longest route. Default: 2 x tiers - 1, up
	 * to the highest tier and down again. */
	unsigned (*longest)(const struct topology_conf *conf);
	/* Optional. Returns the number of hosts in a pod, which reach each other through the two
	 * lowest tiers. Default: all hosts are one pod. */
	uint32_t (*pod)(const struct topology_conf *conf);
	/* Required. `src` and `dst` are egress ports of two hosts: the route leaves by one and
	 * comes in by the link of the other. Where hosts have one link, a port has its host's
	 * number. */
	void (*route)(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t entropy,
		      struct route *route);
	/* Required where hosts have several links. The sum of costs from each switch to switch
	 * `to`; UINT32_MAX = unreachable. Valid until the next call. */
	const uint32_t *(*distances)(const struct topology *topo, uint32_t to);
	/* Required. Returns the root of a tree for these hosts, given by their egress ports: the
	 * switch whose farthest host is nearest. Among equals entropy chooses; in a graph as in
	 * tree_nearest() (tree.h). In a folded Clos this is a switch of the lowest tier that has
	 * all these hosts below it. */
	uint32_t (*root)(const struct topology *topo, const uint32_t *hosts, size_t count,
			 uint64_t entropy);
	/* Required. Returns the local port of switch `sw` on the path to a root, which is another
	 * switch. Always the same port, so that the paths of all hosts form a tree. */
	uint16_t (*up)(const struct topology *topo, uint32_t sw, uint32_t root);
	/* Required. Writes the name of a switch for reports: "edge3", "core0". */
	void (*switch_name)(const struct topology *topo, uint32_t sw, char *buffer, size_t size);
	/* Required. Names of the tiers, by number; [0] is "host". */
	const char *const *tier_names;
};

struct topology {
	const struct topology_ops *ops;
	const struct topology_conf *conf; /* not owned */
	struct graph_routes *routes;      /* in a graph; owned */
	struct detours *detours;          /* around failures; NULL = no link ever fails; owned */
	struct detours *forever;          /* around failures that are never repaired; likewise */
	struct network net;
};

/* The kinds of topologies, by index; NULL after the last. */
const struct topology_ops *topology_kind(size_t index);

/* How a valid configuration is built: by its kind or, if it has become a graph, as a graph. */
const struct topology_ops *topology_ops_of(const struct topology_conf *conf);

/* Hosts of a valid configuration. */
uint32_t topology_hosts(const struct topology_conf *conf);

/* The number of racks: switches with hosts. */
uint32_t topology_racks(const struct topology_conf *conf);

/* Hosts of a rack; in a graph of the largest rack. */
uint32_t topology_rack(const struct topology_conf *conf);

/* Hosts of a pod, see topology_ops. */
uint32_t topology_pod(const struct topology_conf *conf);

/* The nodes of a network, before it is built. */
struct topology_shape {
	uint32_t hosts, switches;
	uint16_t *links; /* by host; NULL: one each */
	uint16_t *ports; /* by switch */
	uint8_t *tiers;  /* by switch; 1 = next to hosts */
};

/* Reports routes that pass more switches than a packet has room for (ROUTE_MAX). Call it when
 * check() has found no mistake. Not for graphs, where longer routes have legs (net/legs.h). */
void topology_check_routes(const struct topology_ops *ops, const struct topology_conf *conf,
			   const struct topology_mistakes *to);

/* Switches on the longest route of a valid configuration; in a large graph an upper bound
 * (graph.exact). */
unsigned topology_longest(const struct topology_conf *conf);

/* Number of links on the route between two hosts of different racks: in a graph the mean, otherwise
 * that of the longest routes, which join different pods (topology_pod()). */
double topology_mean_links(const struct topology_conf *conf);

/* The highest tier of switches of a valid configuration. */
unsigned topology_tiers(const struct topology_conf *conf);

/* Fills in *shape, which the caller releases. */
void topology_shape(const struct topology_conf *conf, struct topology_shape *shape);
void topology_shape_release(struct topology_shape *shape);

/* Builds the network; `conf` must outlive it. */
void topology_build(struct topology *topo, const struct topology_conf *conf, struct sim *sim);
void topology_release(struct topology *topo);

/* For wire(): joins two nodes, by the configured link or by `link`. */
void topology_link(struct topology *topo, uint32_t a, uint16_t pa, uint32_t b, uint16_t pb);
void topology_link_by(struct topology *topo, uint32_t a, uint16_t pa, uint32_t b, uint16_t pb,
		      const struct link_conf *link);

/* The link of hosts or, if `fabric`, between switches, with oversubscription applied. In a graph
 * the worst values of all such links: lowest rate, longest delay, highest loss. */
struct link_conf topology_link_conf(const struct topology_conf *conf, bool fabric);

/* The rate of links between switches and of hosts' links; in a graph the highest and the mean. */
bps topology_uplink_rate(const struct topology_conf *conf);
bps topology_host_rate(const struct topology_conf *conf);

/* Pipeline latency of a switch; in a graph the longest. */
sim_time topology_switch_latency(const struct topology_conf *conf);

/* Whether "aggregation" is "all" and no switch of a graph is excepted. */
bool topology_all_aggregate(const struct topology_conf *conf);

/* The name of the first switch of a graph with aggregation memory of its own; NULL if none has. */
const char *topology_own_memory(const struct topology_conf *conf);

/* Whether any link loses packets. */
bool topology_loses(const struct topology_conf *conf);

/* The queue above which ports of this rate mark packets; amount UINT64_MAX = never. */
struct queue_size topology_first_mark(const struct ecn_conf *ecn, bps rate);

/* The buffer of a switch's port on a link of hosts or, if `fabric`, between switches; in a graph
 * the smallest that any switch gives to the slowest such link. */
bytes topology_buffer(const struct topology_conf *conf, bool fabric);

/* The buffer of a port of this rate, at a switch with these settings; with a shared buffer the most
 * that a single port may take of it. */
bytes topology_buffer_of(const struct switch_conf *at, bps rate);

/* Rate of the fastest links. */
bps topology_fastest(const struct topology_conf *conf);

/* Transmission time of a frame on a host's link; in a graph on the slowest. */
sim_time topology_transmission(const struct topology_conf *conf, uint32_t frame);

/* The longest random delay with which an idle NIC begins to send (nic.h). Default: the transmission
 * time of a full frame; in a graph on the slowest link of a host. */
sim_time topology_nic_jitter(const struct topology_conf *conf);

/* The parameters of PAUSE for packets that come into a switch over links of hosts or, if `fabric`,
 * between switches, with defaults filled in; in a graph for topology_link_conf() and the settings
 * that all switches share. `on` is false if the scenario has no PAUSE. */
struct pause_params topology_pause(const struct topology_conf *conf, bool fabric);

/* topology_pause() for this link into a switch with these settings. */
struct pause_params topology_pause_of(const struct topology_conf *conf,
				      const struct link_conf *link, const struct switch_conf *at);

/* The headroom that the port at the end of this link needs for packets that come after XOFF. */
bytes topology_headroom_of(const struct topology_conf *conf, const struct link_conf *link,
			   const struct switch_conf *at, const struct pause_params *params);

/* Whether routing knows a working route from one host to another. */
bool topology_reaches(const struct topology *topo, uint32_t src, uint32_t dst);

/* topology_reaches() when only failures that are never repaired are left. */
bool topology_ever_reaches(const struct topology *topo, uint32_t src, uint32_t dst);

/* The route from one host to another. Where hosts have several links, entropy first chooses among
 * those of shortest routes (ways.h), then at each switch. */
void topology_route(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t entropy,
		    struct route *route);

/* The route that leaves by one egress port of a host and comes in by the link of another. */
void topology_route_between(const struct topology *topo, uint32_t from, uint32_t to,
			    uint64_t entropy, struct route *route);

/* The local port of a switch that leads down to a host, whose egress port `port` leads to it. */
static inline uint16_t topology_down_port(const struct topology *topo, uint32_t port)
{
	const struct network *net = &topo->net;

	return (uint16_t)(net->cold[port].reverse -
			  net->switch_nodes[net->ports[port].to - net->hosts].first_port);
}

/* Lists the egress ports of a route from host `src`, the source's NIC first. Returns their number.
 */
unsigned topology_path(const struct topology *topo, uint32_t src, const struct route *route,
		       uint32_t ports[HOPS_MAX + 1]);

/* Whether all links of a route work now (net/outage.h). */
bool topology_works(const struct topology *topo, uint32_t src, const struct route *route);

/* Whether a switch can add gradients up now. */
bool topology_aggregates(const struct topology *topo, uint32_t sw);

/* The aggregation memory that the user has set for a switch; 0: the scheme's default. */
bytes topology_memory(const struct topology *topo, uint32_t sw);

/* Writes the name of a node, such as "h12", to `buffer` of at least 24 bytes, and returns it. */
char *topology_node_name(const struct topology *topo, uint32_t node, char *buffer, size_t size);

/* --- ideal times --- */

/* How a transport cuts bytes into frames. */
struct framing {
	uint32_t payload;      /* of a full frame, in bytes */
	uint32_t header;       /* bytes of a frame without its payload */
	uint32_t first_header; /* further bytes of the first frame */
	uint32_t min_frame;    /* smaller frames are padded to this */
	bool overtakes;        /* packets take several paths, on which small ones may overtake */
};

/* The shortest possible time from the start to the arrival of the last byte, when `size` payload
 * bytes are sent back to back over an empty path. Includes transmission, store-and-forward,
 * propagation and pipelines. This is the exact optimum of a tandem of FIFO servers, so no
 * simulated transfer can be faster; slowdown = FCT / ideal >= 1. With `overtakes` it is a bound. */
sim_time ideal_transfer(const struct network *net, const uint32_t *ports, unsigned count,
			bytes size, const struct framing *framing);

/* ideal_transfer() of a single frame. */
sim_time ideal_packet(const struct network *net, const uint32_t *ports, unsigned count,
		      uint32_t frame);

/* The ideal time of a frame and its answer between two hosts on the longest route, from the
 * configuration alone. In a graph all links count as the worst ones, so this is an upper bound. */
sim_time ideal_round_trip(const struct topology_conf *conf, uint32_t frame, uint32_t answer);

#endif
