/* Aggregation trees: the switches between the workers of a job and a root.
 *
 * Children of a switch are numbered 0..children-1: workers and switches alike, for a parent treats
 * a child switch exactly like a worker. In a Clos network a switch has only workers (the lowest
 * tier) or only switches.
 *
 * A scheme may let some switches pass (tree_let_pass()): these add nothing up and only forward. The
 * inputs of a node that adds are then the workers and the adding switches next below it, with any
 * number of passing switches in between, and `number` is that of an input. A result for all inputs
 * leaves once by each child's port, and passing switches copy it on. Without passing switches the
 * inputs of a node are its children. */
#ifndef INASIM_TOPO_TREE_H
#define INASIM_TOPO_TREE_H

#include "topo/topology.h"

#define TREE_NONE UINT32_MAX

struct tree_node {
	uint32_t sw;      /* switch number */
	uint32_t parent;  /* index of a node, TREE_NONE at the root */
	uint32_t up_port; /* egress port towards the parent */
	uint32_t number;  /* of this switch among the inputs of the next node above that adds */
	uint32_t children;
	uint32_t *down_ports; /* egress port towards each child; owned by the tree */
	bool passes;          /* only forwards */
	/* inputs of this node or, where it passes, of the next node above that adds */
	uint32_t inputs;
	uint32_t *input_ports; /* egress port towards each input; TREE_NONE: not below this node */
};

struct tree {
	struct tree_node *nodes; /* nodes[0] is the root; parents come before children */
	uint32_t node_count;
	uint32_t *node_of_worker;   /* the node above each worker */
	uint32_t *number_of_worker; /* among the inputs of the next node above that adds */
	bool passes;                /* whether any node does */
};

/* A root for the workers: that of topology_ops.root() or, once routing knows of failures, that of
 * detours_root(). TREE_NONE where no switch reaches all workers, as far as routing knows. */
uint32_t tree_root(const struct topology *topo, const uint32_t *workers, size_t count,
		   uint64_t entropy);

/* Whether all links of the tree work. */
bool tree_works(const struct tree *tree, const struct network *net);

/* Joins the workers (host numbers, several may share a host) below `root`, a
 * switch as tree_root() chooses it. tree_free() releases it. */
struct tree *tree_build(const struct topology *topo, const uint32_t *workers, size_t count,
			uint32_t root);
void tree_free(struct tree *tree);

/* Marks as passing all switches that do not aggregate (topology_aggregates()), except the root.
 * `workers` as in tree_build(). */
void tree_let_pass(struct tree *tree, const struct topology *topo, const uint32_t *workers,
		   size_t count);

/* The node that adds up what reaches `node` from below: itself, unless it passes. */
static inline uint32_t tree_adding(const struct tree *tree, uint32_t node)
{
	while (tree->nodes[node].passes)
		node = tree->nodes[node].parent;
	return node;
}

/* --- choosing a root --- */

/* Sum of the costs of links from each switch to switch `to`; UINT32_MAX = unreachable. */
typedef const uint32_t *tree_distances(const struct topology *topo, uint32_t to);

/* The switch whose farthest host is nearest; of several, one with the smallest sum of distances to
 * the racks of these hosts; of several again, entropy chooses one. TREE_NONE where no switch has
 * all hosts within the distance `max` (below UINT32_MAX). */
uint32_t tree_nearest(const struct topology *topo, const uint32_t *hosts, size_t count,
		      tree_distances *distances, uint32_t max, uint64_t entropy);

#endif
