/* Programs from the files of other tools: graphs, whose nodes begin when all that they need is
 * done. Nodes of a rank have ids in any order, and may need nodes that come later in the file.
 *
 * A stream here does one node after the other (program.h), where such tools begin whichever node is
 * ready. So streams get an order: that of a run without time, in which all ranks go as far as they
 * can, and then messages and collectives of this round end. Of the ready nodes of a rank the one
 * with the smallest id is first. Such an order brings no deadlock that the graph does not have. It
 * is a simplification all the same: a node that is ready early may wait for one before it. */
#ifndef INASIM_WORKLOAD_PROGRAM_PROGRAM_GRAPH_H
#define INASIM_WORKLOAD_PROGRAM_PROGRAM_GRAPH_H

#include "workload/program/program.h"

#define GRAPH_BYTES_MAX (UINT64_C(1) << 44) /* of a message or collective */
#define GRAPH_TIME_MAX  (10000 * PS_PER_S)  /* of computing */
#define GRAPH_RANKS_MAX UINT32_C(1000000)

/* What a node does: enum program_op, of which OP_MESSAGE sends, then these. */
enum { GRAPH_RECEIVE = PROGRAM_OPS, GRAPH_COMPUTE, GRAPH_MARK /* nothing, in no time */ };

struct graph_node {
	uint64_t id;     /* unlike those of all nodes of the rank */
	uint64_t amount; /* bytes or ps */
	uint32_t peer;   /* of a message: the other rank; of a collective: graph_group() */
	uint32_t tag;    /* the n-th send to a rank with a tag is its n-th receive with the tag */
	uint32_t place;  /* in the source, for messages */
	uint16_t stream; /* those of sends, of receives, of a group's collectives on one each */
	uint8_t does;
};

struct graph_need {
	uint64_t id;
	uint32_t node; /* index of the one that needs it */
	bool must;     /* it has to exist */
};

/* A node that begins when another one begins; both are indices. */
struct graph_begin {
	uint32_t node, other;
};

struct graph_set {
	char *name;
	uint32_t count, *ranks;
	uint32_t group_of[PROGRAM_OPS]; /* group of the program for it, plus 1 */
};

struct graph {
	struct program *program;
	struct program_ends ends;
	/* Of the rank that is being read: */
	struct graph_node *nodes;
	struct graph_need *needs; /* by node */
	size_t count, capacity, need_count, need_capacity;
	struct graph_begin *begins;
	size_t begin_count, begin_capacity;
	uint16_t marks; /* stream of the beginnings of messages and collectives */
	struct graph_set *sets;
	size_t set_count, set_capacity;
	uint64_t dropped; /* needs of nodes that do not exist */
};

void graph_init(struct graph *graph, uint32_t ranks);
void graph_release(struct graph *graph);

/* The number of a set of ranks with a name; sets that are alike have one. Copies both. */
uint32_t graph_group(struct graph *graph, const char *name, uint32_t count, const uint32_t *ranks);

void graph_add(struct graph *graph, struct graph_node node);
/* The node that was added last needs another one. If it does not exist, this is a mistake, or, if
 * it need not, dropped. */
void graph_need(struct graph *graph, uint64_t id, bool must);
/* The same of the node that was added as number `node` of the rank, from 0. */
void graph_need_of(struct graph *graph, uint32_t node, uint64_t id, bool must);

/* Node `node` begins when node `other` has begun; both have been added. That is when all that the
 * other needs is done and, if it computes, its stream has reached it. For this id - 1 is free,
 * before each id. If both compute on one stream, the one follows the other. */
void graph_begin_with(struct graph *graph, uint32_t node, uint32_t other);

/* All nodes of a rank have been added. Returns NULL or what is wrong (caller frees). */
char *graph_end_rank(struct graph *graph, uint32_t rank);

/* Of an ordered program of such ranks: makes one group of all messages from a rank to another,
 * where both have them in the same order (program_merge.c). */
void program_merge_messages(struct program *program);

/* The program, finished, without deadlocks; the graph has it no more. NULL and *mistake (caller
 * frees) if something is wrong. */
struct program *graph_program(struct graph *graph, char **mistake);

#endif
