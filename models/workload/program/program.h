/* Programs: what the ranks of a job compute, send and add up in an iteration, and in which order.
 *
 * A rank has nodes on streams. A stream goes through its nodes in the order of listing, one after
 * the other, and begins anew with the next iteration. A node begins when its stream has reached it
 * and all that it needs is done: nodes of its own rank, of this iteration or of the one before. So
 * an iteration is never unrolled. A node
 *
 *   computes    for a time, which stragglers and jitter make longer;
 *   pauses      for a time that is drawn;
 *   takes part  in what a group of ranks does together. The n-th time that a rank takes part in a
 *               group is its share of the group's n-th operation. Unless the node is `issued`, the
 *               stream waits until the rank has its result.
 *
 * A message is a group of two ranks: the first sends, the second receives. The sender's part is
 * done when it has handed the message to its transport, the receiver's when all of it has come.
 *
 * Ranks whose nodes are the same share them, as a role: seat k of a role's nodes is the k-th group
 * that the rank belongs to. A rank may begin an iteration while its last one is under way if some
 * node needs one of the iteration before; else when that one is over.
 *
 * program_layers() makes the program of a network, layer by layer, for jobs that name a model.
 * Other programs are written down (program_conf.c). */
#ifndef INASIM_WORKLOAD_PROGRAM_PROGRAM_H
#define INASIM_WORKLOAD_PROGRAM_PROGRAM_H

#include "base/types.h"
#include "workload/program/program_pipeline.h"
#include "workload/program/tokens.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the ranks of a group do together. */
enum program_op {
	OP_ALL_REDUCE,
	OP_REDUCE_SCATTER,
	OP_ALL_GATHER,
	OP_ALL_TO_ALL,
	OP_BROADCAST, /* this and the next three: the group's first member is the root */
	OP_REDUCE,
	OP_GATHER,
	OP_SCATTER,
	OP_MESSAGE,
	PROGRAM_OPS
};
extern const char *const program_op_names[]; /* such as "all_reduce"; NULL behind the last */

struct program_group {
	enum program_op op;
	char *name; /* the user's; NULL = it has none. Owned */
	uint32_t count;
	uint32_t *ranks; /* by member, all different; owned */
	/* Set by program_finish(), of an iteration: how many operations, and all their bytes. */
	uint64_t operations, bytes;
};

enum program_act { ACT_COMPUTE, ACT_PAUSE, ACT_PART };

enum program_flags {
	NODE_ISSUED = 1,      /* the stream goes on at once */
	NODE_GRADIENT = 2,    /* hands a gradient over */
	NODE_SUM = 4,         /* its result is a sum of gradients, or what has become of it */
	NODE_FORWARD_END = 8, /* ends the forward pass */
};

struct program_node {
	uint8_t act; /* enum program_act */
	uint8_t flags;
	uint16_t stream;
	uint32_t seat;   /* ACT_PART: index of the group among those of the rank */
	uint64_t amount; /* ps of computing, longest pause in ps, or bytes */
	uint32_t needs;  /* its needs are role->needs[needs] to [needs + need_count - 1] */
	uint32_t need_count;
	uint32_t place; /* in the source, for messages */
	uint32_t order; /* set by program_finish(): its number among those of its seat */
};

/* A node that another one needs. */
struct program_need {
	uint32_t node : 31;
	uint32_t before : 1; /* of the iteration before; the first iteration needs nothing */
};

/* What schemes may be told about a gradient (struct collective_hint). */
struct program_hint {
	uint32_t layer;      /* from 0 */
	double left;         /* bytes of gradients of the iteration from this one on */
	double compute_left; /* ps, for the rest of the backward pass and the next forward pass */
};

struct program_stream {
	uint32_t *nodes; /* in order; owned */
	uint32_t count;
	size_t capacity;
	bool timed; /* some node computes or pauses */
};

struct program_role {
	struct program_node *nodes;
	struct program_need *needs;
	struct program_stream *streams;
	struct program_hint *hints; /* by gradient, in their order; NULL = there are none */
	/* By seat: its nodes in order; set by program_finish(). All are on one stream. */
	struct program_stream *seats;
	size_t count, capacity, need_count, need_capacity, stream_count, seat_count;
	uint32_t sums; /* number of NODE_SUMs */
	bool overlaps; /* some node needs one of the iteration before */
};

/* A rank's membership of a group. */
struct program_seat {
	uint32_t group, member;
	uint32_t rank, number; /* it is seat `number` of this rank */
};

struct program {
	struct program_role *roles;
	struct program_group *groups;
	size_t role_count, group_count, group_capacity;
	uint32_t ranks;
	uint32_t *role_of; /* by rank */
	/* By rank and number from program_finish() on: rank r has seats[first_seat[r]] to
	 * [first_seat[r + 1] - 1]. */
	struct program_seat *seats;
	size_t seat_count, seat_capacity;
	uint32_t *first_seat;
	struct token_experts experts; /* of a language model; none: one a rank */
	bool pipelined;               /* messages without names are between stages of a pipeline */
	char *note;                   /* what its reader has left out; NULL = nothing; owned */
};

/* A program of `ranks` ranks, with roles that have no nodes yet. All ranks have role 0. */
struct program *program_new(uint32_t ranks, size_t roles);
void program_free(struct program *program); /* takes NULL */

/* Adds a group of listed ranks (copied, as its name is). Returns its number. */
uint32_t program_add_group(struct program *program, enum program_op op, const char *name,
			   uint32_t count, const uint32_t *ranks);
/* The same for ranks first, first + stride, ... */
uint32_t program_add_strided(struct program *program, enum program_op op, const char *name,
			     uint32_t count, int64_t first, int64_t stride);
/* How many ranks of a group are on each of its machines of `gpus` ranks; 0 if on one machine are
 * more than on another. */
uint32_t program_group_together(const struct program_group *group, uint32_t gpus);
/* A member of a group has it as its seat number `seat`: a rank's seats are 0, 1, 2, ... */
void program_sit(struct program *program, uint32_t group, uint32_t member, uint32_t seat);

/* Takes all nodes out of a role. */
void role_clear(struct program_role *role);
/* Adds a node at the end of its stream; streams come into being by their numbers. `node.needs` is
 * set here. Returns its number. */
uint32_t role_add(struct program_role *role, struct program_node node);
/* The node that was added last needs another one. */
void role_need(struct program_role *role, uint32_t node, bool before);

/* An end of a message. */
struct program_end {
	uint32_t from, to, tag;
	bool receives;
	uint32_t seat;
};

struct program_ends {
	struct program_end *ends; /* owned */
	size_t count, capacity;
};

void program_add_end(struct program_ends *ends, struct program_end end);
/* Makes a group of each two ends that belong together; sorts them. Each of them is there once. All
 * collectives have their seats by now. Returns NULL or what is wrong (caller frees): an end without
 * the other one, or a group whose members are not all there. */
char *program_join_ends(struct program *program, struct program_ends *ends);

/* Brings the nodes of streams into an order in which no rank waits for ever, if there is one
 * (program_graph.h): for programs whose needs say all, and whose ranks have roles of their own.
 * Call it when all nodes and groups have been added, before program_finish(). Returns NULL or, if
 * a node needs itself, what is wrong (caller frees). */
char *program_order(struct program *program);

/* Sorts seats by rank, for program_order() and program_finish(). */
void program_sort_seats(struct program *program);

/* Call when all nodes and groups have been added: finds seats, and counts. Returns NULL or, if the
 * members of a group do not take part equally often and with equal bytes, or a seat's nodes are on
 * several streams, what is wrong (caller frees). */
char *program_finish(struct program *program);

/* Multiplies the bytes of a finished program by `factor`; at least 1 is left of each part. */
void program_scale(struct program *program, double factor);
/* A hash of all that ranks do. */
uint64_t program_hash(const struct program *program);

/* Executes two iterations without time. Returns NULL or, if ranks wait for each other for ever, who
 * waits for what (caller frees). */
char *program_deadlock(const struct program *program);

/* How a job runs a network layer by layer. */
struct program_shape {
	uint32_t ranks;
	struct pipeline_shape pipeline;
	bool divides_optimizer, divides_all; /* struct job_group_conf.sharding */
	uint64_t prefetch;
	bytes activations; /* of a micro-batch */
	sim_time start_jitter, send_jitter;
	bool jitter_per_tensor;
};

struct dnn;
/* How many groups it has. */
uint64_t program_layers_groups(const struct program_shape *shape, bool tokens);
/* The program of a network whose tensors are planned (workload/dnn.h). It is finished. */
struct program *program_layers(const struct dnn *dnn, const struct program_shape *shape);

#endif
