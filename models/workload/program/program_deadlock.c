/* Looks for ranks that wait for each other for ever, by executing a program without time. */
#include "workload/program/cursor.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

#define ITERATIONS 2 /* the second shows what crosses iterations */

/* The operations of a group that its members have begun. */
struct meeting {
	uint32_t *begun; /* by member */
	uint32_t whole;  /* operations that all members have begun */
	uint32_t behind; /* members that have begun no more than `whole` */
};

struct dry_run {
	const struct program *program;
	struct program_cursor *ranks;
	struct meeting *meetings;
	uint32_t *queue; /* ranks that may go on; ring of program->ranks places */
	bool *queued;
	uint32_t first, count;
};

static void enqueue(struct dry_run *run, uint32_t rank)
{
	if (run->queued[rank])
		return;
	run->queued[rank] = true;
	run->queue[(run->first + run->count++) % run->program->ranks] = rank;
}

/* All members have begun the next operation of a group: it is done at all of them, but for the
 * sender of a message, who is done before. */
static void meet(struct dry_run *run, uint32_t g)
{
	const struct program *program = run->program;
	const struct program_group *group = &program->groups[g];
	struct meeting *meeting = &run->meetings[g];

	for (uint32_t m = group->op == OP_MESSAGE; m < group->count; m++) {
		uint32_t rank = group->ranks[m], seat = program->first_seat[rank];
		const struct program_stream *nodes;

		while (program->seats[seat].group != g)
			seat++;
		nodes = &run->ranks[rank].role->seats[seat - program->first_seat[rank]];
		cursor_done(&run->ranks[rank], nodes->nodes[meeting->whole % nodes->count]);
		enqueue(run, rank);
	}
	meeting->whole++;
	for (uint32_t m = 0; m < group->count; m++)
		meeting->behind += meeting->begun[m] == meeting->whole;
}

static void begin(struct dry_run *run, uint32_t rank, size_t stream)
{
	const struct program *program = run->program;
	struct program_cursor *cursor = &run->ranks[rank];
	uint32_t number = cursor_begin(cursor, stream);
	const struct program_node *node = &cursor->role->nodes[number];
	const struct program_seat *seat;
	struct meeting *meeting;

	if (node->act != ACT_PART) {
		cursor_done(cursor, number);
		return;
	}
	seat = &program->seats[program->first_seat[rank] + node->seat];
	meeting = &run->meetings[seat->group];
	if (program->groups[seat->group].op == OP_MESSAGE && !seat->member)
		cursor_done(cursor, number);
	if (meeting->begun[seat->member]++ == meeting->whole)
		meeting->behind--;
	while (!meeting->behind)
		meet(run, seat->group);
}

static void advance(struct dry_run *run, uint32_t rank)
{
	struct program_cursor *cursor = &run->ranks[rank];
	bool more = true;

	while (more) {
		more = false;
		for (size_t s = 0; s < cursor->role->stream_count; s++)
			while (cursor_ready(cursor, s)) {
				begin(run, rank, s);
				more = true;
			}
	}
}

/* --- what is wrong --- */

/* A member of the group, of those that have not begun the operation that `rank` waits for. */
static uint32_t late_member(const struct dry_run *run, uint32_t g)
{
	const struct program_group *group = &run->program->groups[g];
	const struct meeting *meeting = &run->meetings[g];

	for (uint32_t m = 0; m < group->count; m++)
		if (meeting->begun[m] == meeting->whole)
			return group->ranks[m];
	return group->ranks[0];
}

/* The node that a stuck rank waits in: one that takes part in an operation that is not whole. */
static const struct program_node *stuck_at(const struct dry_run *run, uint32_t rank,
					   uint32_t *group)
{
	const struct program *program = run->program;
	const struct program_cursor *cursor = &run->ranks[rank];

	for (uint32_t s = program->first_seat[rank]; s < program->first_seat[rank + 1]; s++) {
		const struct program_seat *seat = &program->seats[s];
		const struct meeting *meeting = &run->meetings[seat->group];
		const struct program_stream *nodes;

		if (meeting->begun[seat->member] == meeting->whole ||
		    (program->groups[seat->group].op == OP_MESSAGE && !seat->member))
			continue;
		nodes = &cursor->role->seats[s - program->first_seat[rank]];
		*group = seat->group;
		return &cursor->role->nodes[nodes->nodes[meeting->whole % nodes->count]];
	}
	return NULL;
}

/* Follows who waits for whom from a stuck rank on, until a rank comes again or waits for itself. */
static char *describe(const struct dry_run *run, uint32_t rank)
{
	const struct program *program = run->program;
	char *text = xasprintf("ranks wait for each other for ever:"), *longer;
	bool *seen = xcalloc(program->ranks, sizeof(*seen));

	while (!seen[rank]) {
		uint32_t group, other;
		const struct program_node *node = stuck_at(run, rank, &group);

		seen[rank] = true;
		if (!node) {
			longer = xasprintf("%s rank %" PRIu32
					   " waits for a node of its own that needs itself;",
					   text, rank);
			free(text);
			text = longer;
			break;
		}
		other = late_member(run, group);
		longer = xasprintf("%s rank %" PRIu32 " is in %s (node %" PRIu32
				   ") and waits for rank %" PRIu32 ";",
				   text, rank, program_op_names[program->groups[group].op],
				   node->place, other);
		free(text);
		text = longer;
		rank = other;
	}
	free(seen);
	return text;
}

static bool is_over(const struct program_cursor *cursor)
{
	return cursor->over == cursor->end || !cursor->role->count;
}

char *program_deadlock(const struct program *program)
{
	struct dry_run run = { .program = program };
	char *mistake = NULL;

	run.ranks = xcalloc(program->ranks, sizeof(*run.ranks));
	run.queue = xcalloc(program->ranks, sizeof(*run.queue));
	run.queued = xcalloc(program->ranks, sizeof(*run.queued));
	run.meetings = xcalloc(program->group_count + 1, sizeof(*run.meetings));
	for (size_t g = 0; g < program->group_count; g++) {
		run.meetings[g].begun =
			xcalloc(program->groups[g].count, sizeof(*run.meetings[g].begun));
		run.meetings[g].behind = program->groups[g].count;
	}
	for (uint32_t r = 0; r < program->ranks; r++) {
		cursor_init(&run.ranks[r], &program->roles[program->role_of[r]], ITERATIONS);
		enqueue(&run, r);
	}
	while (run.count) {
		uint32_t rank = run.queue[run.first];

		run.first = (run.first + 1) % program->ranks;
		run.count--;
		run.queued[rank] = false;
		advance(&run, rank);
	}
	for (uint32_t r = 0; !mistake && r < program->ranks; r++)
		if (!is_over(&run.ranks[r]))
			mistake = describe(&run, r);
	for (uint32_t r = 0; r < program->ranks; r++)
		cursor_release(&run.ranks[r]);
	for (size_t g = 0; g < program->group_count; g++)
		free(run.meetings[g].begun);
	free(run.meetings);
	free(run.ranks);
	free(run.queue);
	free(run.queued);
	return mistake;
}
