#include "workload/program/program_graph.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A node of a rank, to be found by its id. */
struct found {
	uint64_t id;
	uint32_t index;
};

/* What a node takes part in. */
struct part {
	uint32_t does, peer, tag, node;
};

void graph_init(struct graph *graph, uint32_t ranks)
{
	*graph = (struct graph){ .program = program_new(ranks, ranks) };
	for (uint32_t r = 0; r < ranks; r++)
		graph->program->role_of[r] = r;
}

void graph_release(struct graph *graph)
{
	for (size_t i = 0; i < graph->set_count; i++) {
		free(graph->sets[i].name);
		free(graph->sets[i].ranks);
	}
	program_free(graph->program);
	free(graph->ends.ends);
	free(graph->nodes);
	free(graph->needs);
	free(graph->begins);
	free(graph->sets);
	*graph = (struct graph){ 0 };
}

uint32_t graph_group(struct graph *graph, const char *name, uint32_t count, const uint32_t *ranks)
{
	struct graph_set *set;

	for (size_t i = 0; i < graph->set_count; i++) {
		set = &graph->sets[i];
		if (set->count == count && !strcmp(set->name, name) &&
		    !memcmp(set->ranks, ranks, count * sizeof(*ranks)))
			return (uint32_t)i;
	}
	graph->sets = array_reserve(graph->sets, graph->set_count, &graph->set_capacity,
				    sizeof(*graph->sets));
	set = &graph->sets[graph->set_count];
	*set = (struct graph_set){ .name = xstrdup(name), .count = count };
	set->ranks = xcalloc(count, sizeof(*set->ranks));
	memcpy(set->ranks, ranks, count * sizeof(*ranks));
	return (uint32_t)graph->set_count++;
}

void graph_add(struct graph *graph, struct graph_node node)
{
	graph->nodes =
		array_reserve(graph->nodes, graph->count, &graph->capacity, sizeof(*graph->nodes));
	graph->nodes[graph->count++] = node;
}

void graph_need(struct graph *graph, uint64_t id, bool must)
{
	graph_need_of(graph, (uint32_t)graph->count - 1, id, must);
}

void graph_need_of(struct graph *graph, uint32_t node, uint64_t id, bool must)
{
	graph->needs = array_reserve(graph->needs, graph->need_count, &graph->need_capacity,
				     sizeof(*graph->needs));
	graph->needs[graph->need_count++] = (struct graph_need){ id, node, must };
}

void graph_begin_with(struct graph *graph, uint32_t node, uint32_t other)
{
	graph->begins = array_reserve(graph->begins, graph->begin_count, &graph->begin_capacity,
				      sizeof(*graph->begins));
	graph->begins[graph->begin_count++] = (struct graph_begin){ node, other };
}

/* --- a rank --- */

static int by_id(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* The nodes of the rank, sorted by id. Caller frees. */
static struct found *sort_ids(const struct graph *graph, char **mistake)
{
	struct found *ids = xcalloc(graph->count, sizeof(*ids));

	for (size_t i = 0; i < graph->count; i++)
		ids[i] = (struct found){ graph->nodes[i].id, (uint32_t)i };
	qsort(ids, graph->count, sizeof(*ids), by_id);
	for (size_t i = 1; i < graph->count && !*mistake; i++)
		if (ids[i - 1].id == ids[i].id)
			*mistake = xasprintf("there are two nodes %" PRIu64, ids[i].id);
	return ids;
}

static void add_needs(struct graph *graph, struct program_role *role, const struct found *ids,
		      const struct graph_need *need, uint32_t node, char **mistake)
{
	for (; need < graph->needs + graph->need_count && need->node == node; need++) {
		struct found key = { need->id, 0 };
		const struct found *found = bsearch(&key, ids, graph->count, sizeof(*ids), by_id);

		if (found)
			role_need(role, (uint32_t)(found - ids), false);
		else if (!need->must)
			graph->dropped++;
		else if (!*mistake)
			*mistake = xasprintf("node %" PRIu64 " needs node %" PRIu64
					     ", which does not exist",
					     graph->nodes[node].id, need->id);
	}
}

static struct program_node node_of(const struct graph_node *node)
{
	bool part = node->does <= GRAPH_RECEIVE;
	unsigned flags = node->does == GRAPH_RECEIVE ? NODE_ISSUED
			 : node->does < OP_MESSAGE   ? NODE_GRADIENT | NODE_SUM
						     : 0;

	return (struct program_node){
		.act = part                          ? ACT_PART
		       : node->does == GRAPH_COMPUTE ? ACT_COMPUTE
						     : ACT_PAUSE,
		.flags = (uint8_t)flags,
		.stream = node->stream,
		.amount = node->amount,
		.place = node->place,
	};
}

static int by_part(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->does != y->does)
		return x->does < y->does ? -1 : 1;
	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static char *take_seat(struct graph *graph, uint32_t rank, const struct part *part, uint32_t seat)
{
	struct graph_set *set;
	uint32_t member = 0;

	if (part->does == OP_MESSAGE || part->does == GRAPH_RECEIVE) {
		bool receives = part->does == GRAPH_RECEIVE;

		program_add_end(&graph->ends, (struct program_end){ receives ? part->peer : rank,
								    receives ? rank : part->peer,
								    part->tag, receives, seat });
		return NULL;
	}
	set = &graph->sets[part->peer];
	while (member < set->count && set->ranks[member] != rank)
		member++;
	if (member == set->count)
		return xasprintf("%s in group \"%s\", which the rank is not in",
				 program_op_names[part->does], set->name);
	if (!set->group_of[part->does])
		set->group_of[part->does] =
			1 + program_add_group(graph->program, (enum program_op)part->does,
					      set->name, set->count, set->ranks);
	program_sit(graph->program, set->group_of[part->does] - 1, member, seat);
	return NULL;
}

/* Finds what nodes of the rank take part in; `parts` are these nodes. */
static char *take_seats(struct graph *graph, uint32_t rank, struct part *parts, size_t count)
{
	struct program_role *role = &graph->program->roles[rank];
	uint32_t seats = 0;
	char *mistake = NULL;

	if (count)
		qsort(parts, count, sizeof(*parts), by_part);
	for (size_t i = 0; i < count && !mistake; i++) {
		const struct part *part = &parts[i], *last = part - (i > 0);

		if (!i || part->does != last->does || part->peer != last->peer ||
		    part->tag != last->tag)
			mistake = take_seat(graph, rank, part, seats++);
		role->nodes[part->node].seat = seats - 1;
	}
	return mistake;
}

static int by_node(const void *a, const void *b)
{
	const struct graph_need *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Sorts needs by node. Returns the first of each node, as nodes were added. Caller frees. */
static const struct graph_need **first_needs(const struct graph *graph)
{
	const struct graph_need **first = xcalloc(graph->count, sizeof(*first));

	if (graph->need_count)
		qsort(graph->needs, graph->need_count, sizeof(*graph->needs), by_node);
	for (size_t i = graph->need_count; i-- > 0;)
		first[graph->needs[i].node] = &graph->needs[i];
	return first;
}

static int by_other(const void *a, const void *b)
{
	const struct graph_begin *x = a, *y = b;

	if (x->other != y->other)
		return x->other < y->other ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Puts a mark before a node, which needs what the node needs. `needs` are all those of the rank,
 * `count` of them, sorted by node. */
static void add_mark(struct graph *graph, uint32_t other, size_t count)
{
	struct graph_node node = graph->nodes[other];
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (graph->needs[middle].node < other)
			low = middle + 1;
		else
			high = middle;
	}
	graph_add(graph, (struct graph_node){ .id = node.id - 1,
					      .place = node.place,
					      .stream = node.does == GRAPH_COMPUTE ? node.stream
										   : graph->marks,
					      .does = GRAPH_MARK });
	for (; low < count && graph->needs[low].node == other; low++)
		graph_need(graph, graph->needs[low].id, graph->needs[low].must);
	graph_need_of(graph, other, node.id - 1, true);
}

/* Makes needs of what begins with others. */
static void settle_begins(struct graph *graph)
{
	size_t count;

	if (!graph->begin_count)
		return;
	qsort(graph->begins, graph->begin_count, sizeof(*graph->begins), by_other);
	for (size_t i = 0; i < graph->begin_count; i++) { /* marks copy needs: so these first */
		const struct graph_begin *begin = &graph->begins[i];
		const struct graph_node *other = &graph->nodes[begin->other];
		bool follows = other->does == GRAPH_COMPUTE &&
			       graph->nodes[begin->node].does == GRAPH_COMPUTE &&
			       graph->nodes[begin->node].stream == other->stream;

		graph_need_of(graph, begin->node, follows ? other->id : other->id - 1, true);
	}
	count = graph->need_count;
	qsort(graph->needs, count, sizeof(*graph->needs), by_node);
	for (size_t i = 0; i < graph->begin_count; i++)
		if (!i || graph->begins[i].other != graph->begins[i - 1].other)
			add_mark(graph, graph->begins[i].other, count);
	graph->begin_count = 0;
}

char *graph_end_rank(struct graph *graph, uint32_t rank)
{
	struct program_role *role = &graph->program->roles[rank];
	const struct graph_need **first;
	struct found *ids;
	struct part *parts;
	size_t part_count = 0;
	char *mistake = NULL;

	if (!graph->count)
		graph_add(graph, (struct graph_node){ .does = GRAPH_MARK });
	settle_begins(graph);
	ids = sort_ids(graph, &mistake);
	first = first_needs(graph);
	parts = xcalloc(graph->count, sizeof(*parts));
	for (uint32_t i = 0; i < graph->count && !mistake; i++) {
		const struct graph_node *node = &graph->nodes[ids[i].index];

		role_add(role, node_of(node));
		if (first[ids[i].index])
			add_needs(graph, role, ids, first[ids[i].index], ids[i].index, &mistake);
		if (node->does <= GRAPH_RECEIVE)
			parts[part_count++] = (struct part){ node->does, node->peer, node->tag, i };
	}
	if (!mistake)
		mistake = take_seats(graph, rank, parts, part_count);
	free(ids);
	free(first);
	free(parts);
	graph->count = graph->need_count = 0;
	return mistake;
}

struct program *graph_program(struct graph *graph, char **mistake)
{
	struct program *program = graph->program;

	*mistake = program_join_ends(program, &graph->ends);
	free(graph->ends.ends);
	graph->ends = (struct program_ends){ 0 };
	if (!*mistake)
		*mistake = program_order(program);
	if (!*mistake)
		program_merge_messages(program);
	if (!*mistake)
		*mistake = program_finish(program);
	if (!*mistake)
		*mistake = program_deadlock(program);
	if (*mistake)
		return NULL;
	graph->program = NULL;
	return program;
}
