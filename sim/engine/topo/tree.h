/* Aggregation trees: the switches between the workers of a job and a root.
 *
 * Children of a switch, workers and switches, are numbered 0..children-1 without distinction. In a
 * Clos network a switch has only workers (in the lowest tier) or only switches as children.
 *
 * A scheme may let some switches pass (tree_let_pass()): they only forward and add nothing up. The
 * inputs of an adding node are the workers and adding switches whose packets reach it directly or
 * through passing switches. Without passing switches the inputs of a node are its children. A
 * result for all inputs leaves once by each child's port, and passing switches copy it further. */
#ifndef INASIM_TOPO_TREE_H
#define INASIM_TOPO_TREE_H

#include "topo/topology.h"

#define TREE_NONE UINT32_MAX

struct tree_node {
	uint32_t sw;      /* switch number */
	uint32_t parent;  /* index of a node, TREE_NONE at the root */
	uint32_t up_port; /* egress port towards the parent */
	uint32_t number;  /* of an adding switch among the inputs of the next adding node above */
	uint32_t children;
	uint32_t *down_ports; /* egress port towards each child; owned by the tree */
	bool passes;          /* only forwards */
	/* number of inputs of this node or, if it passes, of the next adding node above */
	uint32_t inputs;
	uint32_t *input_ports; /* egress port towards each input; TREE_NONE: not below this node */
};

struct tree {
	struct tree_node *nodes; /* nodes[0] is the root; parents come before children */
	uint32_t node_count;
	uint32_t *node_of_worker;   /* the node above each worker */
	uint32_t *number_of_worker; /* among the inputs of the next adding node above */
	bool passes;                /* whether any node passes */
};

/* Workers are given by egress ports: where hosts have one link, the numbers of their hosts; else
 * chosen by ways_of_job() (ways.h).
 *
 * A root for the workers: by topology_ops.root() or, once routing knows of failures, by
 * detours_root(). TREE_NONE if no switch reaches all workers, as far as routing knows. */
uint32_t tree_root(const struct topology *topo, const uint32_t *workers, size_t count,
		   uint64_t entropy);

/* Whether all links of the tree work. */
bool tree_works(const struct tree *tree, const struct network *net);

/* Makes the tree of these workers (egress ports; several may share a host) below
 * `root`, a switch from tree_root(). tree_free() releases the tree. */
struct tree *tree_build(const struct topology *topo, const uint32_t *workers, size_t count,
			uint32_t root);
void tree_free(struct tree *tree);

/* Lets all switches pass that do not aggregate (topology_aggregates()), except the root. `workers`
 * as in tree_build(). */
void tree_let_pass(struct tree *tree, const struct topology *topo, const uint32_t *workers,
		   size_t count);

/* The node that adds up packets that reach `node` from below: `node` or, if it passes, the next
 * adding node above. */
static inline uint32_t tree_adding(const struct tree *tree, uint32_t node)
{
	while (tree->nodes[node].passes)
		node = tree->nodes[node].parent;
	return node;
}

/* --- choosing a root --- */

/* Sum of the costs of links from each switch to switch `to`; UINT32_MAX = unreachable. */
typedef const uint32_t *tree_distances(const struct topology *topo, uint32_t to);

/* The switch whose farthest host is nearest. Among equals, the smallest sum of distances to the
 * racks of these hosts decides, then entropy. TREE_NONE if no switch has all hosts within the
 * distance `max`, which is less than UINT32_MAX. */
uint32_t tree_nearest(const struct topology *topo, const uint32_t *hosts, size_t count,
		      tree_distances *distances, uint32_t max, uint64_t entropy);

#endif
