#include "workload/program/program.h"

#include "base/hash.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const program_op_names[] = {
	[OP_ALL_REDUCE] = "all_reduce", [OP_REDUCE_SCATTER] = "reduce_scatter",
	[OP_ALL_GATHER] = "all_gather", [OP_ALL_TO_ALL] = "all_to_all",
	[OP_BROADCAST] = "broadcast",   [OP_REDUCE] = "reduce",
	[OP_GATHER] = "gather",         [OP_SCATTER] = "scatter",
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
	for (size_t g = 0; g < program->group_count; g++) {
		free(program->groups[g].name);
		free(program->groups[g].ranks);
	}
	free(program->roles);
	free(program->groups);
	free(program->role_of);
	free(program->seats);
	free(program->first_seat);
	free(program->note);
	free(program);
}

uint32_t program_add_group(struct program *program, enum program_op op, const char *name,
			   uint32_t count, const uint32_t *ranks)
{
	struct program_group *group;

	program->groups = array_reserve(program->groups, program->group_count,
					&program->group_capacity, sizeof(*program->groups));
	group = &program->groups[program->group_count];
	*group = (struct program_group){ .op = op,
					 .name = name ? xstrdup(name) : NULL,
					 .count = count };
	group->ranks = xcalloc(count, sizeof(*group->ranks));
	memcpy(group->ranks, ranks, count * sizeof(*ranks));
	return (uint32_t)program->group_count++;
}

uint32_t program_add_strided(struct program *program, enum program_op op, const char *name,
			     uint32_t count, int64_t first, int64_t stride)
{
	uint32_t *ranks = xcalloc(count, sizeof(*ranks)), group;

	for (uint32_t i = 0; i < count; i++)
		ranks[i] = (uint32_t)(first + i * stride);
	group = program_add_group(program, op, name, count, ranks);
	free(ranks);
	return group;
}

uint32_t program_group_together(const struct program_group *group, uint32_t gpus)
{
	uint32_t machines = 0, each = 0, *on;
	bool even = true;

	for (uint32_t m = 0; m < group->count; m++)
		if (group->ranks[m] / gpus >= machines)
			machines = group->ranks[m] / gpus + 1;
	on = xcalloc(machines, sizeof(*on));
	for (uint32_t m = 0; m < group->count; m++)
		on[group->ranks[m] / gpus]++;
	for (uint32_t m = 0; m < group->count; m++) {
		each = on[group->ranks[m] / gpus];
		even &= each == on[group->ranks[0] / gpus];
	}
	free(on);
	return even ? each : 0;
}

void program_sit(struct program *program, uint32_t group, uint32_t member, uint32_t seat)
{
	program->seats = array_reserve(program->seats, program->seat_count, &program->seat_capacity,
				       sizeof(*program->seats));
	program->seats[program->seat_count++] =
		(struct program_seat){ group, member, program->groups[group].ranks[member], seat };
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

/* --- ends of messages --- */

void program_add_end(struct program_ends *ends, struct program_end end)
{
	ends->ends = array_reserve(ends->ends, ends->count, &ends->capacity, sizeof(end));
	ends->ends[ends->count++] = end;
}

static int by_connection(const void *a, const void *b)
{
	const struct program_end *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return x->receives - y->receives;
}

/* Every member of a group has to take part. */
static char *check_seated(const struct program *program)
{
	uint32_t *seated = xcalloc(program->group_count + 1, sizeof(*seated));
	char *mistake = NULL;

	for (size_t s = 0; s < program->seat_count; s++)
		seated[program->seats[s].group]++;
	for (size_t g = 0; g < program->group_count && !mistake; g++)
		if (seated[g] < program->groups[g].count)
			mistake = xasprintf("%s in a list of group \"%s\": %" PRIu32
					    " of its %" PRIu32 " ranks take part",
					    program_op_names[program->groups[g].op],
					    program->groups[g].name, seated[g],
					    program->groups[g].count);
	free(seated);
	return mistake;
}

static char *single_end(const struct program_end *end)
{
	return xasprintf("rank %" PRIu32 " %s rank %" PRIu32 " (tag %" PRIu32 "), which never %s",
			 end->receives ? end->to : end->from,
			 end->receives ? "receives from" : "sends to",
			 end->receives ? end->from : end->to, end->tag,
			 end->receives ? "sends to it" : "receives from it");
}

char *program_join_ends(struct program *program, struct program_ends *ends)
{
	char *mistake = check_seated(program);

	if (ends->count)
		qsort(ends->ends, ends->count, sizeof(*ends->ends), by_connection);
	for (size_t i = 0; i < ends->count && !mistake; i += 2) {
		const struct program_end *sends = &ends->ends[i], *receives = sends + 1;
		uint32_t group;

		if (i + 1 == ends->count || sends->receives || !receives->receives ||
		    sends->from != receives->from || sends->to != receives->to ||
		    sends->tag != receives->tag)
			return single_end(sends);
		group = program_add_group(program, OP_MESSAGE, NULL, 2,
					  (const uint32_t[]){ sends->from, sends->to });
		program_sit(program, group, 0, sends->seat);
		program_sit(program, group, 1, receives->seat);
	}
	return mistake;
}

/* --- finishing --- */

/* Adds a node to the list of its seat. Returns NULL or what is wrong. */
static char *seat_node(struct program_role *role, uint32_t number)
{
	struct program_node *node = &role->nodes[number];
	struct program_stream *seat;

	if (node->act != ACT_PART)
		return NULL;
	reach(&role->seats, &role->seat_count, node->seat);
	seat = &role->seats[node->seat];
	if (seat->count && role->nodes[seat->nodes[0]].stream != node->stream)
		return xasprintf("nodes %" PRIu32 " and %" PRIu32
				 " take part in the same group from different streams, so "
				 "that their order is open",
				 role->nodes[seat->nodes[0]].place, node->place);
	node->order = seat->count;
	put(seat, number);
	return NULL;
}

/* Lists the nodes of each seat, in the order of their stream. */
static char *find_seats(struct program_role *role)
{
	for (size_t s = 0; s < role->stream_count; s++)
		for (uint32_t i = 0; i < role->streams[s].count; i++) {
			char *mistake = seat_node(role, role->streams[s].nodes[i]);

			if (mistake)
				return mistake;
		}
	return NULL;
}

static int by_rank(const void *a, const void *b)
{
	const struct program_seat *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void program_sort_seats(struct program *program)
{
	free(program->first_seat);
	program->first_seat = xcalloc((size_t)program->ranks + 1, sizeof(*program->first_seat));
	if (program->seat_count)
		qsort(program->seats, program->seat_count, sizeof(*program->seats), by_rank);
	for (size_t s = 0; s < program->seat_count; s++)
		program->first_seat[program->seats[s].rank + 1]++;
	for (uint32_t r = 0; r < program->ranks; r++)
		program->first_seat[r + 1] += program->first_seat[r];
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

static char *differ(const struct program_group *group, uint32_t r, uint32_t times, uint32_t max)
{
	if (group->op == OP_MESSAGE)
		return xasprintf("rank %" PRIu32 " sends %" PRIu32 " messages to rank %" PRIu32
				 ", which receives %" PRIu32,
				 group->ranks[0], max, group->ranks[1], times);
	return xasprintf("%s of %s%s%s: rank %" PRIu32 " takes part %" PRIu32
			 " times an iteration, rank %" PRIu32 " %" PRIu32 " times",
			 program_op_names[group->op], group->name ? "group \"" : "ranks of a group",
			 group->name ? group->name : "", group->name ? "\"" : "", r, times,
			 group->ranks[0], max);
}

/* Compares what a member does at its seat with what the first member does. */
static char *check_member(const struct program *program, struct program_group *group, uint32_t r,
			  uint32_t seat)
{
	struct program_stream nodes = nodes_at(program, r, seat);

	if (r == group->ranks[0]) {
		group->operations = nodes.count;
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

	if (of_a.nodes == of_b.nodes)
		return NULL;
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

/* The bytes of each group's operations, as its first member has them. */
static void add_bytes(struct program *program)
{
	for (size_t s = 0; s < program->seat_count; s++) {
		const struct program_seat *seat = &program->seats[s];
		struct program_stream nodes = nodes_at(program, seat->rank, seat->number);

		if (seat->member)
			continue;
		program->groups[seat->group].bytes = 0;
		for (uint32_t i = 0; i < nodes.count; i++)
			program->groups[seat->group].bytes +=
				nodes_of(program, seat->rank)[nodes.nodes[i]].amount;
	}
}

char *program_finish(struct program *program)
{
	char *mistake = NULL;
	uint32_t *first = xcalloc(program->group_count + 1, sizeof(*first)); /* seat of member 0 */

	for (size_t i = 0; !mistake && i < program->role_count; i++)
		mistake = find_seats(&program->roles[i]);
	program_sort_seats(program);
	/* member 0 of each group first: the others are compared with it */
	for (unsigned others = 0; others < 2; others++)
		for (size_t s = 0; !mistake && s < program->seat_count; s++) {
			const struct program_seat *seat = &program->seats[s];
			struct program_group *group = &program->groups[seat->group];

			if ((seat->member > 0) != others)
				continue;
			mistake = check_member(program, group, seat->rank, seat->number);
			if (!others)
				first[seat->group] = seat->number;
			else if (!mistake)
				mistake = check_bytes(program, group, group->ranks[0],
						      first[seat->group], seat->rank, seat->number);
		}
	free(first);
	add_bytes(program);
	return mistake;
}

/* --- finished programs --- */

void program_scale(struct program *program, double factor)
{
	for (size_t i = 0; factor != 1 && i < program->role_count; i++)
		for (size_t n = 0; n < program->roles[i].count; n++) {
			struct program_node *node = &program->roles[i].nodes[n];
			double scaled = (double)node->amount * factor + 0.5;

			if (node->act == ACT_PART)
				node->amount = scaled < 1 ? 1 : (bytes)scaled;
		}
	add_bytes(program);
}

static uint64_t hash_role(const struct program_role *role)
{
	uint64_t hash = role->count;

	for (size_t n = 0; n < role->count; n++) {
		const struct program_node *node = &role->nodes[n];

		hash = hash_pair(hash, (uint64_t)node->act << 32 | (uint64_t)node->flags << 16 |
					       node->stream);
		hash = hash_pair(hash, (uint64_t)node->seat << 32 | node->need_count);
		hash = hash_pair(hash, node->amount);
	}
	for (size_t n = 0; n < role->need_count; n++)
		hash = hash_pair(hash, (uint64_t)role->needs[n].node << 1 | role->needs[n].before);
	return hash;
}

uint64_t program_hash(const struct program *program)
{
	uint64_t hash = program->ranks;

	for (size_t i = 0; i < program->role_count; i++)
		hash = hash_pair(hash, hash_role(&program->roles[i]));
	for (uint32_t r = 0; r < program->ranks; r++)
		hash = hash_pair(hash, program->role_of[r]);
	for (size_t s = 0; s < program->seat_count; s++)
		hash = hash_pair(hash, (uint64_t)program->seats[s].group << 32 |
					       program->seats[s].member);
	for (size_t g = 0; g < program->group_count; g++)
		hash = hash_pair(hash, program->groups[g].op);
	return hash;
}
