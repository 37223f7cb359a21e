#include "workload/program/program.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const program_op_names[] = {
	[OP_ALL_REDUCE] = "all_reduce", [OP_REDUCE_SCATTER] = "reduce_scatter",
	[OP_ALL_GATHER] = "all_gather", [OP_ALL_TO_ALL] = "all_to_all",
	[OP_MESSAGE] = "message",       NULL
};

/* --- building --- */

struct program *program_new(uint32_t ranks, size_t roles)
{
	struct program *program = xcalloc(1, sizeof(*program));

	program->ranks = ranks;
	program->role_of = xcalloc(ranks, sizeof(*program->role_of));
	program->role_count = roles;
	program->roles = xcalloc(roles, sizeof(*program->roles));
	return program;
}

static void free_streams(struct program_stream *streams, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(streams[i].nodes);
	free(streams);
}

void role_clear(struct program_role *role)
{
	free_streams(role->streams, role->stream_count);
	free_streams(role->seats, role->seat_count);
	free(role->nodes);
	free(role->needs);
	free(role->hints);
	*role = (struct program_role){ 0 };
}

void program_free(struct program *program)
{
	if (!program)
		return;
	for (size_t i = 0; i < program->role_count; i++)
		role_clear(&program->roles[i]);
	for (size_t g = 0; g < program->group_count; g++)
		free(program->groups[g].ranks);
	free(program->roles);
	free(program->groups);
	free(program->role_of);
	free(program->seats);
	free(program->first_seat);
	free(program);
}

static struct program_group *add_group(struct program *program, enum program_op op,
				       const char *name, uint32_t count)
{
	struct program_group *group;

	program->groups = array_reserve(program->groups, program->group_count,
					&program->group_capacity, sizeof(*program->groups));
	group = &program->groups[program->group_count++];
	*group = (struct program_group){ .op = op, .name = name, .count = count };
	group->ranks = xcalloc(count, sizeof(*group->ranks));
	return group;
}

uint32_t program_add_group(struct program *program, enum program_op op, const char *name,
			   uint32_t count, int64_t first, int64_t stride)
{
	struct program_group *group = add_group(program, op, name, count);

	for (uint32_t i = 0; i < count; i++)
		group->ranks[i] = (uint32_t)(first + i * stride);
	return (uint32_t)program->group_count - 1;
}

uint32_t program_add_ranks(struct program *program, enum program_op op, const char *name,
			   uint32_t count, const uint32_t *ranks)
{
	struct program_group *group = add_group(program, op, name, count);

	memcpy(group->ranks, ranks, count * sizeof(*ranks));
	return (uint32_t)program->group_count - 1;
}

static void put(struct program_stream *stream, uint32_t node)
{
	stream->nodes = array_reserve(stream->nodes, stream->count, &stream->capacity,
				      sizeof(*stream->nodes));
	stream->nodes[stream->count++] = node;
}

/* Widens a list of streams so that it has number `i`. */
static void reach(struct program_stream **streams, size_t *count, size_t i)
{
	if (i < *count)
		return;
	*streams = xrealloc(*streams, i + 1, sizeof(**streams));
	memset(*streams + *count, 0, (i + 1 - *count) * sizeof(**streams));
	*count = i + 1;
}

uint32_t role_add(struct program_role *role, struct program_node node)
{
	uint32_t number = (uint32_t)role->count;

	node.needs = (uint32_t)role->need_count;
	node.need_count = 0;
	role->nodes = array_reserve(role->nodes, role->count, &role->capacity, sizeof(node));
	role->nodes[role->count++] = node;
	reach(&role->streams, &role->stream_count, node.stream);
	put(&role->streams[node.stream], number);
	role->streams[node.stream].timed |= node.act != ACT_PART;
	role->sums += (node.flags & NODE_SUM) != 0;
	return number;
}

void role_need(struct program_role *role, uint32_t node, bool before)
{
	role->needs = array_reserve(role->needs, role->need_count, &role->need_capacity,
				    sizeof(*role->needs));
	role->needs[role->need_count++] =
		(struct program_need){ .node = node & 0x7fffffff, .before = before };
	role->nodes[role->count - 1].need_count++;
	role->overlaps |= before;
}

/* --- finishing --- */

/* Lists the nodes of each seat. Returns NULL or what is wrong. */
static char *find_seats(struct program_role *role)
{
	for (size_t i = 0; i < role->count; i++) {
		struct program_node *node = &role->nodes[i];
		struct program_stream *seat;

		if (node->act != ACT_PART)
			continue;
		reach(&role->seats, &role->seat_count, node->seat);
		seat = &role->seats[node->seat];
		if (seat->count && role->nodes[seat->nodes[0]].stream != node->stream)
			return xasprintf("nodes %" PRIu32 " and %" PRIu32
					 " take part in the same group from different streams, so "
					 "that their order is open",
					 role->nodes[seat->nodes[0]].place, node->place);
		node->order = seat->count;
		put(seat, (uint32_t)i);
	}
	return NULL;
}

static void seat_ranks(struct program *program)
{
	uint32_t *filled = xcalloc(program->ranks, sizeof(*filled));

	program->first_seat = xcalloc((size_t)program->ranks + 1, sizeof(*program->first_seat));
	for (size_t g = 0; g < program->group_count; g++)
		for (uint32_t m = 0; m < program->groups[g].count; m++)
			program->first_seat[program->groups[g].ranks[m] + 1]++;
	for (uint32_t r = 0; r < program->ranks; r++)
		program->first_seat[r + 1] += program->first_seat[r];
	program->seats = xcalloc(program->first_seat[program->ranks] + 1, sizeof(*program->seats));
	for (size_t g = 0; g < program->group_count; g++)
		for (uint32_t m = 0; m < program->groups[g].count; m++) {
			uint32_t r = program->groups[g].ranks[m];

			program->seats[program->first_seat[r] + filled[r]++] =
				(struct program_seat){ (uint32_t)g, m };
		}
	free(filled);
}

/* The nodes of rank r at one of its seats; an empty list if it never takes part. */
static struct program_stream nodes_at(const struct program *program, uint32_t r, uint32_t seat)
{
	const struct program_role *role = &program->roles[program->role_of[r]];

	return seat < role->seat_count ? role->seats[seat] : (struct program_stream){ 0 };
}

static const struct program_node *nodes_of(const struct program *program, uint32_t r)
{
	return program->roles[program->role_of[r]].nodes;
}

static char *differ(const struct program_group *group, uint32_t r, uint32_t times, uint32_t most)
{
	if (group->op == OP_MESSAGE)
		return xasprintf("rank %" PRIu32 " sends %" PRIu32 " messages to rank %" PRIu32
				 ", which receives %" PRIu32,
				 group->ranks[0], most, group->ranks[1], times);
	return xasprintf("%s of %s%s%s: rank %" PRIu32 " takes part %" PRIu32
			 " times an iteration, rank %" PRIu32 " %" PRIu32 " times",
			 program_op_names[group->op], group->name ? "group \"" : "ranks of a group",
			 group->name ? group->name : "", group->name ? "\"" : "", r, times,
			 group->ranks[0], most);
}

/* Compares what a member does at its seat with what the first member does. */
static char *check_member(const struct program *program, struct program_group *group, uint32_t r,
			  uint32_t seat)
{
	struct program_stream nodes = nodes_at(program, r, seat);

	if (r == group->ranks[0]) {
		group->operations = nodes.count;
		for (uint32_t i = 0; i < nodes.count; i++)
			group->bytes += nodes_of(program, r)[nodes.nodes[i]].amount;
		return NULL;
	}
	if (nodes.count != group->operations)
		return differ(group, r, nodes.count, (uint32_t)group->operations);
	return NULL;
}

/* Whether the i-th operations of two members have the same bytes. */
static char *check_bytes(const struct program *program, const struct program_group *group,
			 uint32_t a, uint32_t seat_a, uint32_t b, uint32_t seat_b)
{
	struct program_stream of_a = nodes_at(program, a, seat_a),
			      of_b = nodes_at(program, b, seat_b);

	for (uint32_t i = 0; i < of_a.count; i++) {
		const struct program_node *x = &nodes_of(program, a)[of_a.nodes[i]];
		const struct program_node *y = &nodes_of(program, b)[of_b.nodes[i]];

		if (x->amount != y->amount)
			return xasprintf(
				"number %" PRIu32 " of rank %" PRIu32 "'s %ss with rank %" PRIu32
				" has %" PRIu64 " bytes, the other side %" PRIu64,
				i, a, program_op_names[group->op], b, x->amount, y->amount);
	}
	return NULL;
}

char *program_finish(struct program *program)
{
	char *mistake = NULL;
	uint32_t *first = xcalloc(program->group_count + 1, sizeof(*first)); /* seat of member 0 */

	for (size_t i = 0; !mistake && i < program->role_count; i++)
		mistake = find_seats(&program->roles[i]);
	seat_ranks(program);
	/* member 0 of each group first: the others are compared with it */
	for (unsigned others = 0; others < 2; others++)
		for (uint32_t r = 0; !mistake && r < program->ranks; r++)
			for (uint32_t s = program->first_seat[r];
			     !mistake && s < program->first_seat[r + 1]; s++) {
				struct program_group *group =
					&program->groups[program->seats[s].group];
				uint32_t seat = s - program->first_seat[r];

				if ((program->seats[s].member > 0) != others)
					continue;
				mistake = check_member(program, group, r, seat);
				if (!others)
					first[program->seats[s].group] = seat;
				else if (!mistake)
					mistake = check_bytes(program, group, group->ranks[0],
							      first[program->seats[s].group], r,
							      seat);
			}
	free(first);
	return mistake;
}
