/* Gives streams an order: that of a run without time (program_graph.h). */
#include "workload/program/program.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* A node that all needs of are done. */
struct ready {
	uint32_t round, rank, node;
};

/* The nodes of a seat that have begun and wait, in their order: a list by run->next. */
struct waiting {
	uint32_t first, last, begun;
};

struct meeting {
	uint32_t whole;  /* operations that all members have begun */
	uint32_t behind; /* members that have begun no more than `whole` */
	size_t members;  /* run->seat_of[members] is the seat of member 0 */
};

struct ordering {
	struct program *program;
	size_t *base;        /* by rank: number of its first node among all nodes */
	uint32_t *missing;   /* by node of all: needs that are not done, NONE = it has begun */
	uint32_t *first;     /* by node of all, plus one: its first in `needed_by` of its rank */
	uint32_t *needed_by; /* nodes of the same rank */
	size_t *first_need;  /* by rank: its first in `needed_by` */
	uint32_t *next;      /* by node of all: the next that waits at its seat */
	struct waiting *waiting; /* by seat */
	struct meeting *meetings;
	uint32_t *seat_of; /* by member of a group */
	struct ready *heap;
	size_t heap_count, heap_capacity;
};

static struct program_role *role_of(const struct ordering *run, uint32_t rank)
{
	return &run->program->roles[run->program->role_of[rank]];
}

/* --- what is ready, by round, rank and node --- */

static bool is_before(const struct ready *a, const struct ready *b)
{
	if (a->round != b->round)
		return a->round < b->round;
	return a->rank != b->rank ? a->rank < b->rank : a->node < b->node;
}

static void push(struct ordering *run, struct ready ready)
{
	size_t i = run->heap_count;

	run->heap = array_reserve(run->heap, run->heap_count++, &run->heap_capacity,
				  sizeof(*run->heap));
	for (; i && is_before(&ready, &run->heap[(i - 1) / 2]); i = (i - 1) / 2)
		run->heap[i] = run->heap[(i - 1) / 2];
	run->heap[i] = ready;
}

static struct ready pop(struct ordering *run)
{
	struct ready top = run->heap[0], last = run->heap[--run->heap_count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < run->heap_count) {
		child += child + 1 < run->heap_count &&
			 is_before(&run->heap[child + 1], &run->heap[child]);
		if (!is_before(&run->heap[child], &last))
			break;
		run->heap[i] = run->heap[child];
		i = child;
	}
	run->heap[i] = last;
	return top;
}

/* --- the run --- */

/* A node is done: those that need it may be ready. */
static void done(struct ordering *run, uint32_t rank, uint32_t node, uint32_t round)
{
	size_t at = run->base[rank] + node;
	uint32_t end = node + 1 < role_of(run, rank)->count
			       ? run->first[at + 1]
			       : (uint32_t)role_of(run, rank)->need_count;

	for (uint32_t i = run->first[at]; i < end; i++) {
		uint32_t other = run->needed_by[run->first_need[rank] + i];

		if (!--run->missing[run->base[rank] + other])
			push(run, (struct ready){ round, rank, other });
	}
}

/* All members have begun the next operation of a group. */
static void meet(struct ordering *run, uint32_t g, uint32_t round)
{
	const struct program_group *group = &run->program->groups[g];
	struct meeting *meeting = &run->meetings[g];

	meeting->whole++;
	for (uint32_t m = 0; m < group->count; m++) {
		struct waiting *waiting = &run->waiting[run->seat_of[meeting->members + m]];
		uint32_t node = waiting->first;

		waiting->first = run->next[run->base[group->ranks[m]] + node];
		meeting->behind += waiting->begun == meeting->whole;
		if (group->op != OP_MESSAGE || m) /* a sender is done before */
			done(run, group->ranks[m], node, round + 1);
	}
}

static void take_part(struct ordering *run, const struct ready *at, uint32_t number)
{
	uint32_t seat = run->program->first_seat[at->rank] + number;
	uint32_t g = run->program->seats[seat].group;
	struct waiting *waiting = &run->waiting[seat];

	if (waiting->first == NONE)
		waiting->first = at->node;
	else
		run->next[run->base[at->rank] + waiting->last] = at->node;
	waiting->last = at->node;
	run->next[run->base[at->rank] + at->node] = NONE;
	if (waiting->begun++ == run->meetings[g].whole)
		run->meetings[g].behind--;
	if (run->program->groups[g].op == OP_MESSAGE && !run->program->seats[seat].member)
		done(run, at->rank, at->node, at->round);
	while (!run->meetings[g].behind)
		meet(run, g, at->round);
}

static void put(struct program_role *role, uint32_t node)
{
	struct program_stream *stream = &role->streams[role->nodes[node].stream];

	stream->nodes[stream->count++] = node;
}

static void go(struct ordering *run)
{
	while (run->heap_count) {
		struct ready at = pop(run);
		struct program_role *role = role_of(run, at.rank);
		const struct program_node *node = &role->nodes[at.node];

		put(role, at.node);
		run->missing[run->base[at.rank] + at.node] = NONE;
		if (node->act == ACT_PART)
			take_part(run, &at, node->seat);
		else
			done(run, at.rank, at.node, at.round);
	}
}

/* --- before and after --- */

/* Which nodes need which: `needs` turned round. */
static void turn_needs(struct ordering *run, uint32_t rank)
{
	const struct program_role *role = role_of(run, rank);
	uint32_t *first = run->first + run->base[rank], sum = 0;
	uint32_t *needed_by = run->needed_by + run->first_need[rank];

	for (size_t i = 0; i < role->need_count; i++)
		first[role->needs[i].node]++;
	for (size_t n = 0; n < role->count; n++) {
		sum += first[n];
		first[n] = sum; /* the end; counted down to the beginning */
	}
	for (size_t n = role->count; n-- > 0;) {
		const struct program_node *node = &role->nodes[n];

		for (uint32_t i = 0; i < node->need_count; i++)
			needed_by[--first[role->needs[node->needs + i].node]] = (uint32_t)n;
	}
}

static void prepare_rank(struct ordering *run, uint32_t rank)
{
	struct program_role *role = role_of(run, rank);

	turn_needs(run, rank);
	for (size_t s = 0; s < role->stream_count; s++)
		role->streams[s].count = 0;
	for (uint32_t n = 0; n < role->count; n++) {
		run->missing[run->base[rank] + n] = role->nodes[n].need_count;
		if (!role->nodes[n].need_count)
			push(run, (struct ready){ 0, rank, n });
	}
}

static void prepare(struct ordering *run)
{
	const struct program *program = run->program;
	size_t nodes = 0, needs = 0, members = 0;

	run->base = xcalloc(program->ranks, sizeof(*run->base));
	run->first_need = xcalloc(program->ranks, sizeof(*run->first_need));
	for (uint32_t r = 0; r < program->ranks; r++) {
		run->base[r] = nodes;
		run->first_need[r] = needs;
		nodes += role_of(run, r)->count;
		needs += role_of(run, r)->need_count;
	}
	run->missing = xcalloc(nodes + 1, sizeof(*run->missing));
	run->first = xcalloc(nodes + 1, sizeof(*run->first));
	run->next = xcalloc(nodes + 1, sizeof(*run->next));
	run->needed_by = xcalloc(needs + 1, sizeof(*run->needed_by));
	run->waiting = xcalloc(program->seat_count + 1, sizeof(*run->waiting));
	run->seat_of = xcalloc(program->seat_count + 1, sizeof(*run->seat_of));
	run->meetings = xcalloc(program->group_count + 1, sizeof(*run->meetings));
	for (size_t g = 0; g < program->group_count; g++) {
		run->meetings[g].members = members;
		run->meetings[g].behind = program->groups[g].count;
		members += program->groups[g].count;
	}
	for (size_t s = 0; s < program->seat_count; s++) {
		const struct program_seat *seat = &program->seats[s];

		run->waiting[s].first = NONE;
		run->seat_of[run->meetings[seat->group].members + seat->member] = (uint32_t)s;
	}
	for (uint32_t r = 0; r < program->ranks; r++)
		prepare_rank(run, r);
}

/* Nodes that have not begun come last. Returns what is wrong if one of them needs itself. */
static char *put_rest(struct ordering *run, uint32_t rank)
{
	struct program_role *role = role_of(run, rank);
	const uint32_t *missing = run->missing + run->base[rank];
	uint32_t at = NONE, steps = 0;

	for (uint32_t n = (uint32_t)role->count; n-- > 0;)
		at = missing[n] != NONE ? n : at;
	if (at == NONE)
		return NULL;
	for (uint32_t n = at; n < role->count; n++)
		if (missing[n] != NONE)
			put(role, n);
	while (steps++ <= role->count) { /* to one that it needs, as far as there is one */
		const struct program_need *need = &role->needs[role->nodes[at].needs];
		uint32_t i = 0;

		while (i < role->nodes[at].need_count && missing[need[i].node] == NONE)
			i++;
		if (i == role->nodes[at].need_count)
			return NULL; /* waits for another rank: program_deadlock() says more */
		at = need[i].node;
	}
	return xasprintf("rank %" PRIu32 ": node %" PRIu32 " needs itself, by way of others", rank,
			 role->nodes[at].place);
}

char *program_order(struct program *program)
{
	struct ordering run = { .program = program };
	char *mistake = NULL;

	program_sort_seats(program);
	prepare(&run);
	go(&run);
	for (uint32_t r = 0; r < program->ranks && !mistake; r++)
		mistake = put_rest(&run, r);
	free(run.base);
	free(run.first_need);
	free(run.missing);
	free(run.first);
	free(run.next);
	free(run.needed_by);
	free(run.waiting);
	free(run.seat_of);
	free(run.meetings);
	free(run.heap);
	return mistake;
}
