/* Aggregation trees: the switches between the workers of a job and a root.
 *
 * Children of a switch are numbered 0..children-1: workers and switches alike, for a parent treats
 * a child switch exactly like a worker. In a Clos network a switch has only workers (the lowest
 * tier) or only switches; tree_mixed() tells whether some switch has both. */
#ifndef INASIM_TOPO_TREE_H
#define INASIM_TOPO_TREE_H

#include "topo/topology.h"

#define TREE_NONE UINT32_MAX

struct tree_node {
	uint32_t sw;      /* switch number */
	uint32_t parent;  /* index of a node, TREE_NONE at the root */
	uint32_t up_port; /* egress port towards the parent */
	uint32_t number;  /* of this switch among its parent's children */
	uint32_t children;
	uint32_t *down_ports; /* egress port towards each child; owned by the tree */
};

struct tree {
	struct tree_node *nodes; /* nodes[0] is the root; parents come before children */
	uint32_t node_count;
	uint32_t *node_of_worker;   /* the node above each worker */
	uint32_t *number_of_worker; /* its number among that node's children */
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

/* Whether a node has both workers and switches as children. */
bool tree_mixed(const struct tree *tree);

#endif
