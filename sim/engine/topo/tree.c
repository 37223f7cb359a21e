#include "topo/tree.h"

#include "base/mem.h"
#include "net/outage.h"
#include "topo/detours.h"

#include <stdlib.h>
#include <string.h>

static uint32_t find_node(const struct tree *tree, uint32_t sw)
{
	for (uint32_t i = 0; i < tree->node_count; i++)
		if (tree->nodes[i].sw == sw)
			return i;
	return TREE_NONE;
}

static uint32_t add_child(struct tree_node *node, uint32_t port)
{
	node->down_ports =
		xrealloc(node->down_ports, node->children + 1, sizeof(*node->down_ports));
	node->down_ports[node->children] = port;
	return node->children++;
}

static uint32_t add_node(struct tree *tree, uint32_t sw, uint32_t parent, uint32_t up_port,
			 uint32_t down_port)
{
	struct tree_node node = { .sw = sw, .parent = parent, .up_port = up_port };

	if (parent != TREE_NONE)
		node.number = add_child(&tree->nodes[parent], down_port);
	tree->nodes = xrealloc(tree->nodes, tree->node_count + 1, sizeof(*tree->nodes));
	tree->nodes[tree->node_count] = node;
	return tree->node_count++;
}

/* Returns the node right above a worker. Adds the nodes that are missing, top down. */
static uint32_t join(struct tree *tree, const struct topology *topo, uint32_t host, uint32_t root)
{
	const struct network *net = &topo->net;
	uint32_t chain[HOPS_MAX], ports[HOPS_MAX]; /* switches below the root; their up ports */
	uint32_t sw = net->ports[host].to - net->hosts, parent = 0;
	unsigned levels = 0;

	for (; sw != root; sw = net->ports[ports[levels++]].to - net->hosts) {
		SIM_BUG_ON(levels == HOPS_MAX);
		chain[levels] = sw;
		ports[levels] = network_port(net, net->hosts + sw,
					     detours_any(topo) ? detours_up(topo, sw, root)
							       : topo->ops->up(topo, sw, root));
	}
	for (unsigned i = levels; i-- > 0;) {
		uint32_t child = find_node(tree, chain[i]);

		if (child == TREE_NONE)
			child = add_node(tree, chain[i], parent, ports[i],
					 net->cold[ports[i]].reverse);
		parent = child;
	}
	return parent;
}

uint32_t tree_root(const struct topology *topo, const uint32_t *workers, size_t count,
		   uint64_t entropy)
{
	if (detours_any(topo))
		return detours_root(topo, workers, count, entropy);
	return topo->ops->root(topo, workers, count, entropy);
}

/* The distances of a switch to racks: the largest and the sum. */
struct nearness {
	uint32_t farthest;
	uint64_t sum;
};

static bool nearer(const struct nearness *a, const struct nearness *b)
{
	return a->farthest < b->farthest || (a->farthest == b->farthest && a->sum < b->sum);
}

/* Fills all[switch] with the nearness to the racks of these hosts. */
static void measure(const struct topology *topo, const uint32_t *hosts, size_t count,
		    tree_distances *distances, struct nearness *all)
{
	const struct network *net = &topo->net;
	bool *seen = xcalloc(net->switches, sizeof(*seen));

	for (size_t i = 0; i < count; i++) {
		uint32_t rack = net->ports[hosts[i]].to - net->hosts;
		const uint32_t *distance;

		if (seen[rack])
			continue;
		seen[rack] = true;
		distance = distances(topo, rack);
		for (uint32_t s = 0; s < net->switches; s++) {
			all[s].sum += distance[s];
			if (distance[s] > all[s].farthest)
				all[s].farthest = distance[s];
		}
	}
	free(seen);
}

uint32_t tree_nearest(const struct topology *topo, const uint32_t *hosts, size_t count,
		      tree_distances *distances, uint32_t max, uint64_t entropy)
{
	uint32_t switches = topo->net.switches, found = 0, root = TREE_NONE;
	struct nearness *all = xcalloc(switches, sizeof(*all)), best = { UINT32_MAX, 0 };

	measure(topo, hosts, count, distances, all);
	for (uint32_t s = 0; s < switches; s++) {
		if (nearer(&all[s], &best)) {
			best = all[s];
			found = 0;
		}
		found += !nearer(&best, &all[s]); /* as near as the best so far */
	}
	if (best.farthest <= max) {
		entropy %= found; /* takes one of the `found` best switches */
		for (root = 0; nearer(&best, &all[root]) || entropy-- > 0; root++)
			;
	}
	free(all);
	return root;
}

bool tree_works(const struct tree *tree, const struct network *net)
{
	for (uint32_t i = 0; i < tree->node_count; i++) {
		const struct tree_node *node = &tree->nodes[i];

		for (uint32_t c = 0; c < node->children; c++)
			if (network_is_down(net, node->down_ports[c]))
				return false;
	}
	return true;
}

/* Until switches pass, the inputs of a node are its children. */
static void children_are_inputs(struct tree_node *node)
{
	size_t size = node->children * sizeof(*node->down_ports);

	node->inputs = node->children;
	node->input_ports = xmalloc(size);
	memcpy(node->input_ports, node->down_ports, size);
}

struct tree *tree_build(const struct topology *topo, const uint32_t *workers, size_t count,
			uint32_t root)
{
	struct tree *tree = xcalloc(1, sizeof(*tree));

	tree->node_of_worker = xcalloc(count, sizeof(*tree->node_of_worker));
	tree->number_of_worker = xcalloc(count, sizeof(*tree->number_of_worker));
	add_node(tree, root, TREE_NONE, 0, 0);
	for (size_t w = 0; w < count; w++) {
		uint32_t node = join(tree, topo, workers[w], root);

		tree->node_of_worker[w] = node;
		tree->number_of_worker[w] =
			add_child(&tree->nodes[node], topo->net.cold[workers[w]].reverse);
	}
	for (uint32_t i = 0; i < tree->node_count; i++)
		children_are_inputs(&tree->nodes[i]);
	return tree;
}

/* Makes the child behind egress port `port` of `node` an input of the adding node. Stores the port
 * towards the input at this node and all passing nodes in between. Returns the input's number. */
static uint32_t number_input(struct tree *tree, const struct network *net, uint32_t node,
			     uint32_t port)
{
	uint32_t adds = tree_adding(tree, node), number = tree->nodes[adds].inputs++;

	for (;; node = tree->nodes[node].parent) {
		tree->nodes[node].input_ports[number] = port;
		if (node == adds)
			return number;
		port = net->cold[tree->nodes[node].up_port].reverse;
	}
}

/* Removes all inputs and makes room for the most that a node may have: all workers and nodes. */
static void forget_inputs(struct tree *tree, size_t count)
{
	for (uint32_t i = 0; i < tree->node_count; i++) {
		struct tree_node *node = &tree->nodes[i];
		size_t max = tree->node_count + count;

		node->inputs = 0;
		node->input_ports = xrealloc(node->input_ports, max, sizeof(*node->input_ports));
		for (size_t n = 0; n < max; n++)
			node->input_ports[n] = TREE_NONE;
	}
}

void tree_let_pass(struct tree *tree, const struct topology *topo, const uint32_t *workers,
		   size_t count)
{
	const struct network *net = &topo->net;

	for (uint32_t i = 1; i < tree->node_count; i++) {
		tree->nodes[i].passes = !topology_aggregates(topo, tree->nodes[i].sw);
		tree->passes |= tree->nodes[i].passes;
	}
	if (!tree->passes)
		return;
	forget_inputs(tree, count);
	for (uint32_t i = 1; i < tree->node_count; i++)
		if (!tree->nodes[i].passes)
			tree->nodes[i].number =
				number_input(tree, net, tree->nodes[i].parent,
					     net->cold[tree->nodes[i].up_port].reverse);
	for (size_t w = 0; w < count; w++)
		tree->number_of_worker[w] = number_input(tree, net, tree->node_of_worker[w],
							 net->cold[workers[w]].reverse);
	for (uint32_t i = 1; i < tree->node_count; i++)
		if (tree->nodes[i].passes)
			tree->nodes[i].inputs = tree->nodes[tree_adding(tree, i)].inputs;
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	for (uint32_t i = 0; i < tree->node_count; i++) {
		free(tree->nodes[i].down_ports);
		free(tree->nodes[i].input_ports);
	}
	free(tree->nodes);
	free(tree->node_of_worker);
	free(tree->number_of_worker);
	free(tree);
}
