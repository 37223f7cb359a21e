/* One group for all messages from one rank to another (program_graph.h). A group is a connection,
 * over which messages come in the order in which they are sent. Where both sides have the messages
 * of all tags in the same order, tags say nothing more; elsewhere each tag keeps a group. */
#include "workload/program/program_graph.h"

#include "base/mem.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* All messages from a rank to another: consecutive groups, as program_join_ends() makes them. */
struct pair {
	uint32_t first, count; /* of groups */
	size_t begin, sent, received;
	bool differ;
};

struct merging {
	struct program *program;
	struct pair *pairs;
	size_t pair_count;
	uint32_t *pair_of; /* by group; NONE = no message */
	uint32_t *sent;    /* groups of messages in the order of sending, by pair */
	uint32_t *becomes; /* by group: its new number */
	uint32_t *numbers; /* by seat: its new number at its rank */
};

static bool same_pair(const struct program_group *a, const struct program_group *b)
{
	return a->op == OP_MESSAGE && b->op == OP_MESSAGE && a->ranks[0] == b->ranks[0] &&
	       a->ranks[1] == b->ranks[1];
}

static void find_pairs(struct merging *merging)
{
	const struct program *program = merging->program;

	for (uint32_t g = 0; g < program->group_count; g++) {
		const struct program_group *group = &program->groups[g];

		merging->pair_of[g] = NONE;
		if (group->op != OP_MESSAGE)
			continue;
		if (!g || !same_pair(group, group - 1))
			merging->pairs[merging->pair_count++] = (struct pair){ .first = g };
		merging->pairs[merging->pair_count - 1].count++;
		merging->pair_of[g] = (uint32_t)merging->pair_count - 1;
	}
}

/* Visits the messages that ranks send or receive, in their order. */
static void visit(struct merging *merging, bool receive,
		  void (*see)(struct merging *merging, struct pair *pair, uint32_t group))
{
	const struct program *program = merging->program;

	for (uint32_t r = 0; r < program->ranks; r++) {
		const struct program_role *role = &program->roles[program->role_of[r]];

		for (size_t s = 0; s < role->stream_count; s++)
			for (uint32_t i = 0; i < role->streams[s].count; i++) {
				const struct program_node *node =
					&role->nodes[role->streams[s].nodes[i]];
				const struct program_seat *seat;

				if (node->act != ACT_PART)
					continue;
				seat = &program->seats[program->first_seat[r] + node->seat];
				if (program->groups[seat->group].op == OP_MESSAGE &&
				    (seat->member == 1) == receive)
					see(merging, &merging->pairs[merging->pair_of[seat->group]],
					    seat->group);
			}
	}
}

static void count_sent(struct merging *merging, struct pair *pair, uint32_t group)
{
	(void)merging, (void)group;
	pair->sent++;
}

static void note_sent(struct merging *merging, struct pair *pair, uint32_t group)
{
	merging->sent[pair->begin + pair->sent++] = group;
}

static void compare_received(struct merging *merging, struct pair *pair, uint32_t group)
{
	if (pair->received == pair->sent || merging->sent[pair->begin + pair->received] != group)
		pair->differ = true;
	else
		pair->received++;
}

/* Finds the pairs whose messages come in the order in which they are sent. */
static void compare(struct merging *merging)
{
	size_t sum = 0;

	visit(merging, false, count_sent);
	for (size_t p = 0; p < merging->pair_count; p++) {
		merging->pairs[p].begin = sum;
		sum += merging->pairs[p].sent;
		merging->pairs[p].sent = 0;
	}
	merging->sent = xcalloc(sum + 1, sizeof(*merging->sent));
	visit(merging, false, note_sent);
	visit(merging, true, compare_received);
	for (size_t p = 0; p < merging->pair_count; p++)
		merging->pairs[p].differ |= merging->pairs[p].received != merging->pairs[p].sent;
}

/* Leaves the first group of each such pair. */
static void merge_groups(struct merging *merging)
{
	struct program *program = merging->program;
	uint32_t count = 0;

	for (uint32_t g = 0; g < program->group_count; g++) {
		uint32_t p = merging->pair_of[g];

		if (p == NONE || merging->pairs[p].differ || merging->pairs[p].first == g) {
			program->groups[count] = program->groups[g];
			merging->becomes[g] = count++;
			continue;
		}
		free(program->groups[g].ranks);
		merging->becomes[g] = merging->becomes[g - 1];
	}
	program->group_count = count;
}

/* A rank's seats at the groups of a pair are consecutive, too. */
static void merge_seats(struct merging *merging)
{
	struct program *program = merging->program;
	size_t count = 0;

	for (size_t s = 0; s < program->seat_count; s++) {
		struct program_seat seat = program->seats[s];
		const struct program_seat *last = count ? &program->seats[count - 1] : NULL;

		seat.group = merging->becomes[seat.group];
		if (!last || last->rank != seat.rank)
			seat.number = 0;
		else
			seat.number = last->number + (last->group != seat.group);
		merging->numbers[s] = seat.number;
		if (!last || last->rank != seat.rank || last->group != seat.group)
			program->seats[count++] = seat;
	}
	program->seat_count = count;
}

static void move_nodes(struct merging *merging)
{
	const struct program *program = merging->program;

	for (uint32_t r = 0; r < program->ranks; r++) {
		struct program_role *role = &program->roles[program->role_of[r]];

		for (size_t n = 0; n < role->count; n++)
			if (role->nodes[n].act == ACT_PART)
				role->nodes[n].seat = merging->numbers[program->first_seat[r] +
								       role->nodes[n].seat];
	}
}

void program_merge_messages(struct program *program)
{
	struct merging merging = { .program = program };

	merging.pairs = xcalloc(program->group_count + 1, sizeof(*merging.pairs));
	merging.pair_of = xcalloc(program->group_count + 1, sizeof(*merging.pair_of));
	merging.becomes = xcalloc(program->group_count + 1, sizeof(*merging.becomes));
	merging.numbers = xcalloc(program->seat_count + 1, sizeof(*merging.numbers));
	find_pairs(&merging);
	compare(&merging);
	merge_groups(&merging);
	merge_seats(&merging);
	move_nodes(&merging);
	program_sort_seats(program);
	free(merging.pairs);
	free(merging.pair_of);
	free(merging.sent);
	free(merging.becomes);
	free(merging.numbers);
}
