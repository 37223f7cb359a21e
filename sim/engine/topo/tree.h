/* Aggregation trees: the switches between the workers of a job and a root.
 *
 * Children of a switch are numbered 0..children-1: workers and switches alike, for a parent treats
 * a child switch exactly like a worker. In a Clos network a switch has only workers (the lowest
 * tier) or only switches.
 *
 * Where a scheme lets packets pass by switches that add nothing up (tree_let_pass()), these only
 * forward. The inputs of a node that adds are then the workers and adding switches next below it,
 * over any number of such switches, and `number` is among these. A copy for all of them leaves by
 * each child's port once, and those that pass copy it on. Elsewhere inputs are the children. */
#ifndef INASIM_TOPO_TREE_H
#define INASIM_TOPO_TREE_H

#include "topo/topology.h"

#define TREE_NONE UINT32_MAX

struct tree_node {
	uint32_t sw;      /* switch number */
	uint32_t parent;  /* index of a node, TREE_NONE at the root */
	uint32_t up_port; /* egress port towards the parent */
	uint32_t number;  /* of this switch among the inputs of the next that adds above it */
	uint32_t children;
	uint32_t *down_ports; /* egress port towards each child; owned by the tree */
	bool passes;          /* only forwards */
	uint32_t inputs; /* how many; where it passes, those of the next node above that adds */
	uint32_t *input_ports; /* egress port towards each input; TREE_NONE: not below this node */
};

struct tree {
	struct tree_node *nodes; /* nodes[0] is the root; parents come before children */
	uint32_t node_count;
	uint32_t *node_of_worker;   /* the node above each worker */
	uint32_t *number_of_worker; /* its number among the inputs of the next node that adds */
	bool passes;                /* some node does */
};

/* A root for the workers: topology_ops.root(), or another where routing knows of failures;
 * TREE_NONE where no switch that works reaches all of them. */
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

#endif
