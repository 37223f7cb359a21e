#include "scenario/scenario.h"
#include "topo/links.h"
#include "scenario/topology_conf.h"

#include "core/rng.h"
#include "topo/tree.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STAR, LEAF_SPINE, FAT_TREE }; /* as in TOPOLOGIES */

/* Shapes, the odd ones included, with the sizes that their definition gives. */
static const struct shape {
	int kind;
	int64_t hosts, k, leaves, spines, per_leaf;
	uint32_t want_hosts, want_switches;
	unsigned routes, longest; /* distinct routes and switches between the farthest hosts */
} shapes[] = {
	{ STAR, .hosts = 2, .want_hosts = 2, .want_switches = 1, .routes = 1, .longest = 1 },
	{ STAR, .hosts = 17, .want_hosts = 17, .want_switches = 1, .routes = 1, .longest = 1 },
	{ LEAF_SPINE, .leaves = 3, .spines = 2, .per_leaf = 4, .want_hosts = 12, .want_switches = 5,
	  .routes = 2, .longest = 3 },
	{ LEAF_SPINE, .leaves = 5, .spines = 3, .per_leaf = 1, .want_hosts = 5, .want_switches = 8,
	  .routes = 3, .longest = 3 },
	{ LEAF_SPINE, .leaves = 4, .spines = 1, .per_leaf = 3, .want_hosts = 12, .want_switches = 5,
	  .routes = 1, .longest = 3 },
	{ FAT_TREE, .k = 2, .want_hosts = 2, .want_switches = 5, .routes = 1, .longest = 5 },
	{ FAT_TREE, .k = 4, .want_hosts = 16, .want_switches = 20, .routes = 4, .longest = 5 },
	{ FAT_TREE, .k = 6, .want_hosts = 54, .want_switches = 45, .routes = 9, .longest = 5 },
	{ FAT_TREE, .k = 8, .want_hosts = 128, .want_switches = 80, .routes = 16, .longest = 5 },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

struct site {
	struct topology_conf conf;
	struct sim sim;
	struct topology topo;
};

static void site_init(struct site *site, const struct shape *shape)
{
	site->conf = (struct topology_conf){
		.kind = shape->kind,
		.hosts = shape->hosts,
		.k = shape->k,
		.leaves = shape->leaves,
		.spines = shape->spines,
		.hosts_per_leaf = shape->per_leaf,
		.link = { .rate = UINT64_C(10000000000), .delay = PS_PER_US },
		.switches = { .latency = 500 * PS_PER_NS, .buffer = 1000000 },
	};
	sim_init(&site->sim, 1);
	topology_build(&site->topo, &site->conf, &site->sim);
}

static void site_release(struct site *site)
{
	topology_release(&site->topo);
	sim_release(&site->sim);
}

static unsigned tier_of(const struct network *net, uint32_t node)
{
	return node < net->hosts ? 0 : net->switch_nodes[node - net->hosts].tier;
}

/* Counts follow the closed form. Each port is linked to the one that leads back. Links join only
 * neighbouring tiers. Names of nodes are all different. */
static void expect_wiring(const struct site *site, const struct shape *shape)
{
	const struct network *net = &site->topo.net;

	cr_expect_eq(net->hosts, shape->want_hosts);
	cr_expect_eq(net->switches, shape->want_switches);
	cr_expect_eq(topology_hosts(&site->conf), shape->want_hosts);
	for (uint32_t node = 0; node < net->hosts + net->switches; node++) {
		uint32_t first = network_port(net, node, 0);
		uint32_t count = node < net->hosts ? 1 : net->switch_nodes[node - net->hosts].ports;

		for (uint32_t port = first; port < first + count; port++) {
			uint32_t reverse = net->cold[port].reverse, peer = net->ports[port].to;

			cr_assert_lt(reverse, net->port_count);
			cr_expect_eq(net->cold[reverse].reverse, port);
			cr_expect_eq(net->ports[reverse].to, node);
			cr_expect_eq(net->ports[port].to_host, peer < net->hosts);
			cr_expect_eq(abs((int)tier_of(net, node) - (int)tier_of(net, peer)), 1);
		}
	}
}

static void expect_names(const struct site *site)
{
	uint32_t nodes = site->topo.net.hosts + site->topo.net.switches;
	char(*names)[24] = calloc(nodes, sizeof(*names));

	for (uint32_t i = 0; i < nodes; i++) {
		topology_node_name(&site->topo, i, names[i], sizeof(names[i]));
		for (uint32_t j = 0; j < i; j++)
			cr_expect_str_neq(names[i], names[j]);
	}
	free(names);
}

Test(topology, wiring)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct site site;

		site_init(&site, &shapes[i]);
		expect_wiring(&site, &shapes[i]);
		expect_names(&site);
		site_release(&site);
	}
}

/* Links from `from` to every node, by breadth-first search over the wiring alone. */
static void distances(const struct network *net, uint32_t from, unsigned *links)
{
	uint32_t nodes = net->hosts + net->switches, head = 0, tail = 0;
	uint32_t *queue = calloc(nodes, sizeof(*queue));

	for (uint32_t i = 0; i < nodes; i++)
		links[i] = UINT32_MAX;
	links[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t node = queue[head++], first = network_port(net, node, 0);
		uint32_t count = node < net->hosts ? 1 : net->switch_nodes[node - net->hosts].ports;

		for (uint32_t port = first; port < first + count; port++) {
			uint32_t peer = net->ports[port].to;

			if (links[peer] != UINT32_MAX)
				continue;
			links[peer] = links[node] + 1;
			queue[tail++] = peer;
		}
	}
	free(queue);
}

/* Walks a route: it ends at dst, has the least number of links, goes first up and then down, and
 * topology_path() names the ports that it passes. */
static void expect_route(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t entropy,
			 unsigned shortest)
{
	const struct network *net = &topo->net;
	struct route route;
	uint32_t ports[HOPS_MAX + 1], node = src, next;
	unsigned count;
	bool down = false;

	topology_route(topo, src, dst, entropy, &route);
	count = topology_path(topo, src, &route, ports);
	cr_assert_eq(route.hops + 1u, shortest, "%u to %u in %u links", src, dst, route.hops + 1u);
	cr_assert_eq(count, shortest);
	for (unsigned i = 0; i < count; i++) {
		cr_assert_eq(ports[i], network_port(net, node, i ? route.out[i - 1] : 0));
		next = net->ports[ports[i]].to;
		cr_assert_not(down && tier_of(net, next) > tier_of(net, node), "up after down");
		down |= tier_of(net, next) < tier_of(net, node);
		node = next;
	}
	cr_assert_eq(node, dst);
}

Test(topology, every_route_is_shortest)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct site site;
		struct rng rng;
		unsigned *links;

		site_init(&site, &shapes[i]);
		rng_init(&rng, 1, "routes", i);
		links = calloc(site.topo.net.hosts + site.topo.net.switches, sizeof(*links));
		for (uint32_t src = 0; src < site.topo.net.hosts; src++) {
			distances(&site.topo.net, src, links);
			for (uint32_t dst = 0; dst < site.topo.net.hosts; dst++)
				for (int j = 0; j < 8 && src != dst; j++)
					expect_route(&site.topo, src, dst, rng_u64(&rng),
						     links[dst]);
		}
		free(links);
		site_release(&site);
	}
}

/* Between the farthest hosts there are as many routes as the shape says, (k/2)^2
 * in a fat tree, and 10,000 flows spread evenly over them: chi-square below its
 * mean plus 4.5 standard deviations. */
Test(topology, ecmp)
{
	for (size_t i = 0; i < SHAPES; i++) {
		const double n = 10000, mean = n / shapes[i].routes,
			     freedom = shapes[i].routes - 1.0;
		struct site site;
		struct route routes[64];
		uint32_t counts[64] = { 0 };
		unsigned distinct = 0;
		double sum = 0;
		struct rng rng;

		site_init(&site, &shapes[i]);
		rng_init(&rng, 1, "ecmp", i);
		for (int j = 0; j < (int)n; j++) {
			struct route route = { 0 };
			unsigned r = 0;

			topology_route(&site.topo, 0, site.topo.net.hosts - 1, rng_u64(&rng),
				       &route);
			cr_assert_eq(route.hops, shapes[i].longest);
			while (r < distinct && memcmp(&routes[r], &route, sizeof(route)))
				r++;
			cr_assert_lt(r, 64);
			if (r == distinct)
				routes[distinct++] = route;
			counts[r]++;
		}
		cr_expect_eq(distinct, shapes[i].routes, "shape %zu: %u routes", i, distinct);
		for (unsigned r = 0; r < distinct; r++)
			sum += pow(counts[r] - mean, 2) / mean;
		cr_expect_leq(sum, freedom + 4.5 * sqrt(2 * freedom), "shape %zu: %f", i, sum);
		site_release(&site);
	}
}

/* The names in the rows and in the ops are the same list. */
Test(topology, kinds)
{
	const struct conf_row *row = topology_table.rows;
	size_t count = 0;

	while (row->name && strcmp(row->name, "kind"))
		row++;
	cr_assert_not_null(row->name);
	for (; topology_kind(count); count++) {
		cr_assert_not_null(row->choices[count]);
		cr_expect_str_eq(row->choices[count], topology_kind(count)->name);
		cr_expect(topology_kind(count)->help && topology_kind(count)->tier_names);
	}
	cr_expect_null(row->choices[count]);
	cr_expect_null(topology_kind(count + 1));
}

/* --- thresholds and buffers that follow the rate --- */

/* The default is 85 frames of 1518 bytes per 10 Gbps; a given threshold stays. */
Test(topology, first_mark)
{
	struct ecn_conf on = { .form = ECN_SWITCH, .on = true }, off = { .form = ECN_SWITCH };
	struct ecn_conf step = { .form = ECN_STEP, .step.threshold = { 85, true } };
	static const bps rates[] = { 1, 10, 25, 100, 100000 }; /* Gbps */
	static const uint64_t marks[] = { 12903, 129030, 322575, 1290300, 1290300000 };

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct queue_size first = topology_first_mark(&on, rates[i] * 1000000000);

		cr_expect(first.amount == marks[i] && !first.packets);
	}
	cr_expect_eq(topology_first_mark(&off, 1).amount, UINT64_MAX);
	cr_expect(topology_first_mark(&step, 1).amount == 85);
	cr_expect(topology_first_mark(&step, 1).packets);
}

/* 1 MB per 10 Gbps, and never less. Links between switches go by their own rate. */
Test(topology, buffers)
{
	struct topology_conf conf = { .link.rate = 25000000000,
				      .uplink.rate = 1000000000,
				      .uplink_given = true };

	cr_expect_eq(topology_buffer(&conf, false), 2500000);
	cr_expect_eq(topology_buffer(&conf, true), 1000000);
	conf.switches.buffer = 2000;
	cr_expect_eq(topology_buffer(&conf, false), 2000);
}

/* --- roots and trees --- */

/* Hosts below a switch: everything reachable by going down. */
static void mark_below(const struct network *net, uint32_t sw, bool *below)
{
	const struct switch_node *node = &net->switch_nodes[sw];

	for (uint32_t i = 0; i < node->ports; i++) {
		uint32_t peer = net->ports[node->first_port + i].to;

		if (peer < net->hosts)
			below[peer] = true;
		else if (tier_of(net, peer) < node->tier)
			mark_below(net, peer - net->hosts, below);
	}
}

static bool covers(const struct network *net, uint32_t sw, const uint32_t *workers, size_t count)
{
	bool *below = calloc(net->hosts, sizeof(*below));
	bool all = true;

	mark_below(net, sw, below);
	for (size_t i = 0; i < count; i++)
		all &= below[workers[i]];
	free(below);
	return all;
}

/* A root covers the workers and no switch of a lower tier does. */
static void expect_root(const struct network *net, uint32_t root, const uint32_t *workers,
			size_t count)
{
	cr_assert_lt(root, net->switches);
	cr_assert(covers(net, root, workers, count));
	for (uint32_t sw = 0; sw < net->switches; sw++)
		if (net->switch_nodes[sw].tier < net->switch_nodes[root].tier)
			cr_assert_not(covers(net, sw, workers, count), "switch %u would do", sw);
}

/* Nodes: parents come first, up and down ports are two ends of a link, and the
 * number of a child is its place in the parent's list. */
static void expect_nodes(const struct network *net, const struct tree *tree, uint32_t root)
{
	cr_assert_eq(tree->nodes[0].sw, root);
	cr_assert_eq(tree->nodes[0].parent, TREE_NONE);
	for (uint32_t i = 0; i < tree->node_count; i++) {
		const struct tree_node *node = &tree->nodes[i], *parent;

		cr_assert_gt(node->children, 0);
		for (uint32_t j = 0; j < i; j++)
			cr_assert_neq(tree->nodes[j].sw, node->sw, "a switch stands twice");
		for (uint32_t j = 0; j < node->children; j++)
			cr_assert_eq(net->ports[net->cold[node->down_ports[j]].reverse].to,
				     net->hosts + node->sw, "a child's port leads elsewhere");
		if (i == 0)
			continue;
		cr_assert_lt(node->parent, i);
		parent = &tree->nodes[node->parent];
		cr_assert_eq(net->ports[node->up_port].to, net->hosts + parent->sw);
		cr_assert_lt(node->number, parent->children);
		cr_assert_eq(parent->down_ports[node->number], net->cold[node->up_port].reverse);
	}
}

/* Workers: each is below its node, at its number; children = workers + switches. */
static void expect_workers(const struct network *net, const struct tree *tree,
			   const uint32_t *workers, size_t count)
{
	uint32_t *children = calloc(tree->node_count, sizeof(*children));

	for (uint32_t i = 1; i < tree->node_count; i++)
		children[tree->nodes[i].parent]++;
	for (size_t w = 0; w < count; w++) {
		const struct tree_node *node = &tree->nodes[tree->node_of_worker[w]];

		children[tree->node_of_worker[w]]++;
		cr_assert_eq(net->ports[workers[w]].to, net->hosts + node->sw);
		cr_assert_lt(tree->number_of_worker[w], node->children);
		cr_assert_eq(net->ports[node->down_ports[tree->number_of_worker[w]]].to,
			     workers[w]);
		for (size_t v = 0; v < w; v++)
			cr_assert_not(tree->node_of_worker[v] == tree->node_of_worker[w] &&
				      tree->number_of_worker[v] == tree->number_of_worker[w]);
	}
	for (uint32_t i = 0; i < tree->node_count; i++)
		cr_assert_eq(tree->nodes[i].children, children[i]);
	free(children);
}

/* 300 random sets of workers per shape, some of them two on one host. */
Test(topology, trees)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct site site;
		struct rng rng;

		site_init(&site, &shapes[i]);
		rng_init(&rng, 1, "trees", i);
		for (int j = 0; j < 300; j++) {
			uint32_t workers[24], hosts = site.topo.net.hosts, root;
			uint32_t window = 1 + (uint32_t)rng_below(&rng, hosts);
			uint32_t from = (uint32_t)rng_below(&rng, hosts);
			size_t count = 1 + rng_below(&rng, 24);
			struct tree *tree;

			for (size_t w = 0; w < count; w++)
				workers[w] = (from + (uint32_t)rng_below(&rng, window)) % hosts;
			root = site.topo.ops->root(&site.topo, workers, count, rng_u64(&rng));
			expect_root(&site.topo.net, root, workers, count);
			tree = tree_build(&site.topo, workers, count, root);
			expect_nodes(&site.topo.net, tree, root);
			expect_workers(&site.topo.net, tree, workers, count);
			tree_free(tree);
		}
		site_release(&site);
	}
}

/* Walks from the node that adds an input to the host or switch that the input is from, by the
 * input's ports over switches that pass. Marks the input as found. */
static void expect_input(const struct network *net, const struct tree *tree, uint32_t adds,
			 uint32_t number, uint32_t to, bool *found)
{
	uint32_t at = adds;

	cr_assert_lt(number, tree->nodes[adds].inputs);
	cr_assert_not(found[number], "two inputs of one number");
	found[number] = true;
	for (;;) {
		uint32_t port = tree->nodes[at].input_ports[number], next = net->ports[port].to;

		cr_assert_eq(net->ports[net->cold[port].reverse].to,
			     net->hosts + tree->nodes[at].sw, "another switch's port");
		if (next == to)
			return;
		for (at = 1; at < tree->node_count && net->hosts + tree->nodes[at].sw != next;)
			at++;
		cr_assert_lt(at, tree->node_count, "a port leads out of the tree");
		cr_assert(tree->nodes[at].passes, "an input beyond a switch that adds");
		cr_assert_eq(tree->nodes[at].inputs, tree->nodes[adds].inputs);
	}
}

/* Inputs of a node that adds: workers and adding switches below, each once. */
static void expect_inputs(const struct network *net, const struct tree *tree,
			  const uint32_t *workers, size_t count)
{
	for (uint32_t n = 0; n < tree->node_count; n++) {
		const struct tree_node *node = &tree->nodes[n];
		bool *found = calloc(node->inputs, sizeof(*found));
		uint32_t inputs = 0;

		for (uint32_t i = 1; i < tree->node_count && !node->passes; i++) {
			if (tree->nodes[i].passes || tree_adding(tree, tree->nodes[i].parent) != n)
				continue;
			expect_input(net, tree, n, tree->nodes[i].number,
				     net->hosts + tree->nodes[i].sw, found);
			inputs++;
		}
		for (size_t w = 0; w < count && !node->passes; w++) {
			if (tree_adding(tree, tree->node_of_worker[w]) != n)
				continue;
			expect_input(net, tree, n, tree->number_of_worker[w], workers[w], found);
			inputs++;
		}
		cr_assert(node->passes || inputs == node->inputs);
		free(found);
	}
}

/* The same trees if only one tier and the root add up. */
Test(topology, switches_that_pass)
{
	unsigned passing = 0;

	for (size_t i = 0; i < SHAPES; i++) {
		struct site site;
		struct rng rng;

		site_init(&site, &shapes[i]);
		rng_init(&rng, 1, "passing", i);
		for (unsigned j = 0; j < 300; j++) {
			uint32_t workers[24], root;
			size_t count = 1 + rng_below(&rng, 24);
			unsigned tier = 1 + j % topology_tiers(&site.conf);
			struct tree *tree;

			site.conf.switches.aggregation = site.topo.ops->tier_names[tier];
			for (size_t w = 0; w < count; w++)
				workers[w] = (uint32_t)rng_below(&rng, site.topo.net.hosts);
			root = site.topo.ops->root(&site.topo, workers, count, rng_u64(&rng));
			tree = tree_build(&site.topo, workers, count, root);
			tree_let_pass(tree, &site.topo, workers, count);
			for (uint32_t n = 0; n < tree->node_count; n++) {
				uint32_t sw = tree->nodes[n].sw;
				bool adds = n == 0 || site.topo.net.switch_nodes[sw].tier == tier;

				cr_assert_eq(tree->nodes[n].passes, !adds);
			}
			expect_inputs(&site.topo.net, tree, workers, count);
			passing += tree->passes;
			tree_free(tree);
		}
		site_release(&site);
	}
	cr_expect_gt(passing, 1000);
}

/* Trees of many jobs use all roots: each core of a k = 4 fat tree within 4.5
 * standard deviations of a quarter of 10,000. */
Test(topology, roots_are_spread)
{
	const struct shape *shape = &shapes[6];
	uint32_t counts[4] = { 0 };
	struct site site;
	struct rng rng;

	site_init(&site, shape);
	rng_init(&rng, 1, "roots", 0);
	for (int i = 0; i < 10000; i++) {
		uint32_t root = site.topo.ops->root(&site.topo, (const uint32_t[]){ 0, 15 }, 2,
						    rng_u64(&rng));

		cr_assert(root >= 16 && root < 20);
		counts[root - 16]++;
	}
	for (int i = 0; i < 4; i++)
		cr_expect_lt(fabs(counts[i] - 2500.0), 4.5 * sqrt(10000 * 0.25 * 0.75));
	site_release(&site);
}

/* --- ideal times --- */

/* A path is a chain of links of one network; hosts and wiring do not matter to
 * ideal_transfer(), so each link joins its own pair of hosts. */
#define LINKS 6

struct chain {
	struct sim sim;
	struct network net;
	uint32_t ports[LINKS];
	unsigned count;
};

static void chain_init(struct chain *chain, const struct link_params *links, unsigned count)
{
	sim_init(&chain->sim, 1);
	network_init(&chain->net, &chain->sim, 2 * count, NULL, 0, NULL, NULL, false);
	for (unsigned i = 0; i < count; i++) {
		network_connect(&chain->net, 2 * i, 0, &links[i], 2 * i + 1, 0, &links[i]);
		chain->ports[i] = 2 * i;
	}
	chain->count = count;
}

static void chain_release(struct chain *chain)
{
	network_release(&chain->net);
	sim_release(&chain->sim);
}

/* Time on the wire by definition: bits over rate, rounded up to a picosecond. */
static sim_time on_wire(const struct link_params *link, uint32_t frame)
{
	unsigned __int128 bits = (unsigned __int128)(frame + (link->wire_overhead ? 20u : 0u)) * 8;

	return (sim_time)((bits * PS_PER_S + link->rate - 1) / link->rate);
}

struct transfer {
	bytes size;
	struct framing frames;
};

/* Brute force: packet n leaves server i when it is there and packet n - 1 is gone,
 * d[i] = max(d[i] of packet n - 1, arrival) + transmission. */
static sim_time tandem(const struct link_params *links, unsigned count, const struct transfer *t)
{
	sim_time done[LINKS] = { 0 }, arrival = 0;
	bytes left = t->size;

	do {
		const struct framing *frames = &t->frames;
		uint32_t payload = left < frames->payload ? (uint32_t)left : frames->payload;
		uint32_t frame =
			payload + frames->header + (left == t->size ? frames->first_header : 0);

		frame = frame < frames->min_frame ? frames->min_frame : frame;
		arrival = 0;
		for (unsigned i = 0; i < count; i++) {
			done[i] =
				(done[i] > arrival ? done[i] : arrival) + on_wire(&links[i], frame);
			arrival = done[i] + links[i].delay + links[i].peer_latency;
		}
		left -= payload;
	} while (left);
	return arrival;
}

static const bps rates[] = { 1000000,
			     UINT64_C(1000000000),
			     UINT64_C(10000000000),
			     UINT64_C(25000000000),
			     UINT64_C(40000000000),
			     UINT64_C(400000000000),
			     UINT64_C(7777777777),
			     UINT64_C(33333333333) };

static struct link_params random_link(struct rng *rng)
{
	struct link_params link = { .limit = UINT64_MAX,
				    .ecn_min = UINT64_MAX,
				    .ecn_max = UINT64_MAX };

	link.rate = rates[rng_below(rng, sizeof(rates) / sizeof(rates[0]))];
	link.delay = 1 + rng_below(rng, 2 * PS_PER_US);
	link.peer_latency = rng_below(rng, PS_PER_US);
	link.wire_overhead = rng_below(rng, 2);
	return link;
}

/* The closed form is the brute-force optimum to the picosecond, for random paths
 * of 1 to 6 links and sizes around the borders of packets. */
Test(topology, ideal_equals_brute_force)
{
	struct rng rng;

	rng_init(&rng, 1, "ideal", 0);
	for (int round = 0; round < 3000; round++) {
		struct link_params links[LINKS];
		unsigned count = 1 + (unsigned)rng_below(&rng, LINKS);
		struct transfer t = { .frames.payload = 1 + (uint32_t)rng_below(&rng, 1500) };
		uint32_t mss = t.frames.payload;
		struct chain chain;
		sim_time ideal, brute;

		for (unsigned i = 0; i < count; i++)
			links[i] = random_link(&rng);
		t.frames.header = (uint32_t)rng_below(&rng, 80);
		t.frames.first_header = rng_below(&rng, 2) ? (uint32_t)rng_below(&rng, 80) : 0;
		t.frames.min_frame = rng_below(&rng, 2) ? 64 : 0;
		t.size = rng_below(&rng, 2) ? rng_below(&rng, 40 * mss) : mss * rng_below(&rng, 20);
		chain_init(&chain, links, count);
		ideal = ideal_transfer(&chain.net, chain.ports, count, t.size, &t.frames);
		brute = tandem(links, count, &t);
		cr_assert_eq(ideal, brute, "round %d: %llu, brute force %llu", round,
			     (unsigned long long)ideal, (unsigned long long)brute);
		chain_release(&chain);
	}
}

static const struct framing of_tcp = { .payload = 1460, .header = 58, .min_frame = 64 };

/* By hand: 3,000 bytes in packets of 1,460 + 58 over two links of 10 Gbps and 1 us
 * with 500 ns between them, 20 bytes of preamble and gap: frames 1,518, 1,518 and
 * 138 take 1,230.4, 1,230.4 and 126.4 ns. Last byte at 1230.4 * 3 + 126.4 + 2,500. */
Test(topology, ideal_by_hand)
{
	struct link_params link = { .rate = UINT64_C(10000000000),
				    .delay = PS_PER_US,
				    .limit = UINT64_MAX,
				    .wire_overhead = true };
	struct link_params links[] = { link, link };
	struct chain chain;

	links[0].peer_latency = 500 * PS_PER_NS;
	chain_init(&chain, links, 2);
	cr_expect_eq(ideal_transfer(&chain.net, chain.ports, 2, 3000, &of_tcp), 6317600);
	cr_expect_eq(ideal_packet(&chain.net, chain.ports, 2, 1518), 2 * 1230400 + 2500000);
	chain_release(&chain);
}

/* A longer transfer never takes less time. */
Test(topology, ideal_grows_with_the_size)
{
	struct rng rng;
	struct link_params links[4];
	struct chain chain;
	sim_time before = 0;

	rng_init(&rng, 2, "ideal", 0);
	for (unsigned i = 0; i < 4; i++)
		links[i] = random_link(&rng);
	chain_init(&chain, links, 4);
	for (bytes size = 0; size < 20000; size++) {
		sim_time ideal = ideal_transfer(&chain.net, chain.ports, 4, size, &of_tcp);

		cr_assert_geq(ideal, before, "%llu bytes", (unsigned long long)size);
		before = ideal;
	}
	chain_release(&chain);
}

static sim_time idle_packet(const struct topology *topo, uint32_t from, uint32_t to, uint32_t frame)
{
	uint32_t ports[HOPS_MAX + 1];
	struct route route;

	topology_route(topo, from, to, 1, &route);
	return ideal_packet(&topo->net, ports, topology_path(topo, from, &route, ports), frame);
}

/* The round trip computed from the configuration is that of the built network, there and back. */
Test(topology, round_trip_before_it_is_built)
{
	static const char *const jsons[] = {
		"{\"kind\": \"star\", \"hosts\": 4, \"wire_overhead\": false, "
		"\"link\": {\"rate\": \"3Gbps\", \"delay\": \"7us\"}}",
		"{\"kind\": \"leaf-spine\", \"leaves\": 2, \"spines\": 2, \"hosts_per_leaf\": 4, "
		"\"oversubscription\": 3, \"switch\": {\"latency\": \"300ns\"}, "
		"\"host\": {\"latency\": \"11us\"}}",
		"{\"kind\": \"fat-tree\", \"k\": 4, \"uplink\": {\"rate\": \"40Gbps\", "
		"\"delay\": \"5us\"}}",
	};

	for (size_t i = 0; i < sizeof(jsons) / sizeof(jsons[0]); i++) {
		struct scenario scenario;
		struct site site;
		struct conf_doc *doc = conf_parse("t", jsons[i], strlen(jsons[i]), &topology_table,
						  &scenario, NULL, 0);
		sim_time idle;
		uint32_t last;

		cr_assert_eq(conf_errors(doc), 0, "%s", jsons[i]);
		site.conf = scenario.topology;
		sim_init(&site.sim, 1);
		topology_build(&site.topo, &site.conf, &site.sim);
		last = site.topo.net.hosts - 1;
		idle = idle_packet(&site.topo, 0, last, 1518) +
		       idle_packet(&site.topo, last, 0, 64);
		cr_expect_eq(ideal_round_trip(&site.conf, 1518, 64), idle, "%s", jsons[i]);
		site_release(&site);
		conf_doc_free(doc);
	}
}

static void tower_count(const struct topology_conf *conf, uint32_t *hosts, uint32_t *switches)
{
	(void)conf;
	*hosts = 2;
	*switches = 7;
}

static void tower_shape(const struct topology_conf *conf, uint16_t *switch_ports, uint8_t *tiers)
{
	for (unsigned i = 0; i < 7; i++) {
		switch_ports[i] = 2;
		tiers[i] = (uint8_t)(i < conf->k ? i + 1 : 1);
	}
}

static void keep_mistake(void *owner, const char *pointer, const char *text)
{
	cr_expect_str_eq(pointer, "/topology/kind");
	snprintf(owner, 100, "%s", text);
}

/* A kind whose routes have more switches than a packet has room for is refused; 3 tiers are not. */
Test(topology, longest_route)
{
	static const struct topology_ops tower = { .count = tower_count, .shape = tower_shape };
	struct topology_conf conf = { .k = 3 };
	char text[100] = "";
	const struct topology_mistakes to = { keep_mistake, text };

	topology_check_routes(&tower, &conf, &to);
	cr_expect_str_empty(text);
	conf.k = 4;
	topology_check_routes(&tower, &conf, &to);
	cr_expect_str_eq(text, "packets pass up to 7 switches; a route holds at most 5");
}

static unsigned short_way(const struct topology_conf *conf)
{
	(void)conf;
	return 5;
}

/* A kind whose routes need not go through its highest tier says how long they are. */
Test(topology, longest_route_by_the_kind)
{
	static const struct topology_ops tower = { .count = tower_count,
						   .shape = tower_shape,
						   .longest = short_way };
	struct topology_conf conf = { .k = 7 };
	char text[100] = "";
	const struct topology_mistakes to = { keep_mistake, text };

	topology_check_routes(&tower, &conf, &to);
	cr_expect_str_empty(text);
}

/* Links between switches of one tier lead across. */
Test(topology, links_across)
{
	static const uint16_t ports[] = { 2, 2 };
	static const uint8_t tiers[] = { 1, 1 };
	const struct link_params link = { .rate = 1000000000, .delay = PS_PER_US };
	struct sim sim;
	struct network net;
	uint32_t between;

	sim_init(&sim, 1);
	network_init(&net, &sim, 2, NULL, 2, ports, tiers, NIC_TURNS);
	network_connect(&net, 0, 0, &link, 2, 0, &link);
	network_connect(&net, 1, 0, &link, 3, 0, &link);
	network_connect(&net, 2, 1, &link, 3, 1, &link);
	between = network_port(&net, 2, 1);
	cr_expect_eq(link_place_of(&net, 0).way, LINK_UP);
	cr_expect_eq(link_place_of(&net, net.cold[0].reverse).way, LINK_DOWN);
	cr_expect(link_place_of(&net, between).way == LINK_ACROSS &&
		  link_place_of(&net, between).tier == 1);
	cr_expect_eq(link_place_of(&net, net.cold[between].reverse).way, LINK_ACROSS);
	network_release(&net);
	sim_release(&sim);
}
