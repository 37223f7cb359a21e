#include "workload/program/program_conf.h"

#include "base/mem.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX   1000000
#define NODES_MAX   10000000
#define STREAMS_MAX 64
#define ALL         "all" /* the group of all ranks */

/* What a node does: enum program_op for groups, then these. */
enum { DOES_RECEIVE = PROGRAM_OPS, DOES_COMPUTE, DOES_PAUSE, DOES };

struct group_conf {
	const char *name;
	struct conf_list members; /* of struct conf_list of int64_t */
};

struct node_conf {
	const char *name, *stream, *group;
	bool wait;
	bool does[DOES];
	uint64_t amount[DOES]; /* bytes or ps */
	struct conf_list to;   /* of int64_t: the other rank, by rank of the role */
	int64_t tag;
	struct conf_list after, after_previous; /* of const char * */
};

struct role_conf {
	struct conf_list ranks; /* of int64_t */
	struct conf_list nodes; /* of struct node_conf */
};

/* --- rows --- */

static const struct conf_row rank_item = {
	.type = CONF_INT, .imin = 0, .imax = RANKS_MAX - 1, .help = "A rank."
};
static const struct conf_row member_list = {
	.type = CONF_LIST, .item = &rank_item, .min = 1, .max = RANKS_MAX, .help = "Ranks."
};
static const struct conf_row group_rows[] = {
	CONF_STRING("name", struct group_conf, name, CONF_REQUIRED,
		    "Name, by which nodes and \"collectives\" call it."),
	CONF_LIST("members", struct group_conf, members, CONF_REQUIRED, &member_list, 1, RANKS_MAX,
		  "Lists of ranks. Each list is a group of its own; a rank is in one of them at "
		  "most."),
	{ 0 },
};
static const struct conf_table group_table = { "program_groups", group_rows,
					       sizeof(struct group_conf) };
const struct conf_row program_group_item = { .type = CONF_OBJECT,
					     .table = &group_table,
					     .help = "Groups of ranks that do the same." };

static const struct conf_row name_item = { .type = CONF_STRING, .help = "Name of a node." };

#define DOES_BYTES(key, what, ...)                                                                 \
	CONF_BYTES(key, struct node_conf, amount[what], CONF_OPTIONAL, 1, UINT64_C(1) << 44,       \
		   __VA_ARGS__, .present = CONF_GIVEN(struct node_conf, does[what]))

static const struct conf_row node_rows[] = {
	CONF_STRING("name", struct node_conf, name, CONF_OPTIONAL,
		    "By which other nodes of the role say that they need it."),
	CONF_TIME("compute", struct node_conf, amount[DOES_COMPUTE], CONF_OPTIONAL, 0,
		  10000 * PS_PER_S, "Computes for this time.",
		  .present = CONF_GIVEN(struct node_conf, does[DOES_COMPUTE])),
	CONF_TIME("pause", struct node_conf, amount[DOES_PAUSE], CONF_OPTIONAL, 0, 1000 * PS_PER_S,
		  "Waits for a random time, uniform from 0 to this.",
		  .present = CONF_GIVEN(struct node_conf, does[DOES_PAUSE])),
	DOES_BYTES("all_reduce", OP_ALL_REDUCE, "All-reduces so many bytes in its group."),
	DOES_BYTES("reduce_scatter", OP_REDUCE_SCATTER,
		   "Reduce-scatters so many bytes in its group: each member ends with its part."),
	DOES_BYTES("all_gather", OP_ALL_GATHER,
		   "All-gathers so many bytes, parts of all members together."),
	DOES_BYTES("all_to_all", OP_ALL_TO_ALL,
		   "Sends an equal part of so many bytes to each member, and keeps one."),
	DOES_BYTES("broadcast", OP_BROADCAST,
		   "Gets so many bytes from the first rank of its group, along a chain."),
	DOES_BYTES("reduce", OP_REDUCE,
		   "Adds so many bytes up at the first rank of its group, along a chain."),
	DOES_BYTES("gather", OP_GATHER,
		   "Parts of all members, together so many bytes, go to the group's first rank."),
	DOES_BYTES("scatter", OP_SCATTER,
		   "The group's first rank sends each member its part of so many bytes."),
	DOES_BYTES("send", OP_MESSAGE, "Sends so many bytes to another rank (\"peer\")."),
	DOES_BYTES("receive", DOES_RECEIVE, "Receives so many bytes from another rank (\"peer\")."),
	CONF_STRING("group", struct node_conf, group, ALL,
		    "Of a collective: name of its groups. all: all ranks.", "our choice"),
	CONF_LIST("peer", struct node_conf, to, CONF_OPTIONAL, &rank_item, 1, RANKS_MAX,
		  "Of a message: the other rank, for each rank of the role."),
	CONF_INT("tag", struct node_conf, tag, "0", 0, UINT32_MAX,
		 "Of a message: the n-th that is sent to a rank with a tag is the n-th that it "
		 "receives with this tag.",
		 "our choice"),
	CONF_STRING("stream", struct node_conf, stream, "main",
		    "The stream that it is on. A stream does one node after the other, in the "
		    "order of the list; streams do not wait for each other.",
		    "our choice"),
	CONF_BOOL("wait", struct node_conf, wait, "true",
		  "false: the stream goes on while the collective or message is under way; nodes "
		  "that need it say so. The result belongs to this iteration all the same.",
		  "our choice"),
	CONF_LIST("after", struct node_conf, after, CONF_OPTIONAL, &name_item, 1, 100000,
		  "Begins only when these nodes of the role are done."),
	CONF_LIST("after_previous", struct node_conf, after_previous, CONF_OPTIONAL, &name_item, 1,
		  100000, "The same, of the iteration before."),
	{ 0 },
};
static const struct conf_table node_table = { "program_node", node_rows, sizeof(struct node_conf) };
static const struct conf_row node_item = { .type = CONF_OBJECT,
					   .table = &node_table,
					   .help = "What the ranks do next on a stream." };
static const struct conf_row role_rows[] = {
	CONF_LIST("ranks", struct role_conf, ranks, CONF_REQUIRED, &rank_item, 1, RANKS_MAX,
		  "The ranks that do all this. Each rank has one role."),
	CONF_LIST("nodes", struct role_conf, nodes, CONF_REQUIRED, &node_item, 1, NODES_MAX,
		  "What they do in an iteration."),
	{ 0 },
};
static const struct conf_table role_table = { "program_role", role_rows, sizeof(struct role_conf) };
const struct conf_row program_role_item = { .type = CONF_OBJECT,
					    .table = &role_table,
					    .help = "Ranks that do the same." };

/* --- making a program --- */

/* Of a role: the seats that its nodes have asked for. */
struct asked {
	unsigned does;
	const char *group;          /* of a collective */
	const struct conf_list *to; /* of a message */
	int64_t tag;
};

struct reader {
	const struct program_conf *conf;
	struct program *program;
	uint32_t ranks;
	size_t role, node; /* under way */
	struct program_ends ends;
	/* By group of the scenario (the last is ALL), operation and list: a group of the program,
	 * plus 1. */
	uint32_t ***groups;
	uint32_t **list_of; /* by group of the scenario and rank: number of its list, plus 1 */
	uint32_t **member_of;
	char **at, *mistake;
};

static const struct role_conf *role_conf(const struct program_conf *conf, size_t i)
{
	return &((const struct role_conf *)conf->roles.items)[i];
}

static const struct group_conf *group_conf(const struct program_conf *conf, size_t i)
{
	return &((const struct group_conf *)conf->groups.items)[i];
}

static const struct conf_list *list_conf(const struct group_conf *group, size_t i)
{
	return &((const struct conf_list *)group->members.items)[i];
}

static uint32_t rank_in(const struct conf_list *list, size_t i)
{
	return (uint32_t)((const int64_t *)list->items)[i];
}

/* Notes the first mistake; takes `text`. */
static void complain(struct reader *reader, char *at, char *text)
{
	if (reader->mistake) {
		free(at);
		free(text);
		return;
	}
	*reader->at = at;
	reader->mistake = text;
}

static void complain_of_node(struct reader *reader, char *text)
{
	complain(reader, xasprintf("/roles/%zu/nodes/%zu", reader->role, reader->node), text);
}

/* The number of ranks: all below it have one role. */
static void count_ranks(struct reader *reader)
{
	const struct program_conf *conf = reader->conf;
	size_t *role_of;

	for (size_t i = 0; i < conf->roles.count; i++)
		reader->ranks += (uint32_t)role_conf(conf, i)->ranks.count;
	reader->program = program_new(reader->ranks, conf->roles.count);
	role_of = xcalloc(reader->ranks, sizeof(*role_of)); /* plus 1 */
	for (size_t i = 0; i < conf->roles.count; i++)
		for (size_t k = 0; k < role_conf(conf, i)->ranks.count; k++) {
			uint32_t r = rank_in(&role_conf(conf, i)->ranks, k);

			if (r >= reader->ranks || role_of[r]) {
				complain(reader, xasprintf("/roles/%zu/ranks/%zu", i, k),
					 r < reader->ranks
						 ? xasprintf("rank %" PRIu32 " has a role already",
							     r)
						 : xasprintf("roles name %" PRIu32
							     " ranks, so these are 0 to %" PRIu32,
							     reader->ranks, reader->ranks - 1));
				break;
			}
			role_of[r] = i + 1;
			reader->program->role_of[r] = (uint32_t)i;
		}
	free(role_of);
}

static void read_list(struct reader *reader, size_t g, size_t l)
{
	const struct conf_list *list = list_conf(group_conf(reader->conf, g), l);

	for (size_t m = 0; m < list->count; m++) {
		uint32_t r = rank_in(list, m);

		if (r >= reader->ranks || reader->list_of[g][r]) {
			complain(reader, xasprintf("/groups/%zu/members/%zu/%zu", g, l, m),
				 r < reader->ranks
					 ? xasprintf("rank %" PRIu32 " is in a list already", r)
					 : xasprintf("ranks are 0 to %" PRIu32, reader->ranks - 1));
			return;
		}
		reader->list_of[g][r] = (uint32_t)l + 1;
		reader->member_of[g][r] = (uint32_t)m;
	}
}

/* Which list of each group a rank is in, and where. */
static void read_groups(struct reader *reader)
{
	size_t count = reader->conf->groups.count;

	reader->groups = xcalloc(count + 1, sizeof(*reader->groups));
	reader->list_of = xcalloc(count + 1, sizeof(*reader->list_of));
	reader->member_of = xcalloc(count + 1, sizeof(*reader->member_of));
	for (size_t g = 0; g <= count; g++) {
		size_t lists = g < count ? group_conf(reader->conf, g)->members.count : 1;

		reader->groups[g] = xcalloc(PROGRAM_OPS, sizeof(**reader->groups));
		for (unsigned op = 0; op < PROGRAM_OPS; op++)
			reader->groups[g][op] = xcalloc(lists, sizeof(***reader->groups));
		reader->list_of[g] = xcalloc(reader->ranks, sizeof(**reader->list_of));
		reader->member_of[g] = xcalloc(reader->ranks, sizeof(**reader->member_of));
		for (size_t l = 0; g < count && l < lists && !reader->mistake; l++)
			read_list(reader, g, l);
		for (uint32_t r = 0; g == count && r < reader->ranks; r++) {
			reader->list_of[g][r] = 1;
			reader->member_of[g][r] = r;
		}
	}
}

static size_t find_group(struct reader *reader, const char *name)
{
	size_t count = reader->conf->groups.count;

	for (size_t g = 0; g < count; g++)
		if (!strcmp(group_conf(reader->conf, g)->name, name))
			return g;
	if (strcmp(name, ALL))
		complain_of_node(reader, xasprintf("there is no group \"%s\"", name));
	return count;
}

/* The group of the program that a list of the scenario's group is for an operation. */
static uint32_t group_of_list(struct reader *reader, size_t g, enum program_op op, size_t l)
{
	uint32_t *known = &reader->groups[g][op][l];
	bool all = g == reader->conf->groups.count;
	const struct conf_list *list = all ? NULL : list_conf(group_conf(reader->conf, g), l);
	uint32_t count = all ? reader->ranks : (uint32_t)list->count, *ranks;

	if (*known)
		return *known - 1;
	ranks = xcalloc(count, sizeof(*ranks));
	for (uint32_t m = 0; m < count; m++)
		ranks[m] = all ? m : rank_in(list, m);
	*known = 1 + program_add_group(reader->program, op,
				       all ? ALL : group_conf(reader->conf, g)->name, count, ranks);
	free(ranks);
	return *known - 1;
}

static void sit_in_groups(struct reader *reader, const struct role_conf *role,
			  const struct asked *asked, uint32_t seat)
{
	size_t g = find_group(reader, asked->group);

	for (size_t k = 0; k < role->ranks.count && !reader->mistake; k++) {
		uint32_t r = rank_in(&role->ranks, k);

		if (!reader->list_of[g][r])
			complain_of_node(reader,
					 xasprintf("rank %" PRIu32 " is in no list of group \"%s\"",
						   r, asked->group));
		else
			program_sit(reader->program,
				    group_of_list(reader, g, (enum program_op)asked->does,
						  reader->list_of[g][r] - 1),
				    reader->member_of[g][r], seat);
	}
}

static void add_ends(struct reader *reader, const struct role_conf *role, const struct asked *asked,
		     uint32_t seat)
{
	if (asked->to->count != role->ranks.count) {
		complain_of_node(reader, xasprintf("\"peer\" names %zu ranks; the role has %zu",
						   asked->to->count, role->ranks.count));
		return;
	}
	for (size_t k = 0; k < role->ranks.count; k++) {
		uint32_t r = rank_in(&role->ranks, k), peer = rank_in(asked->to, k);
		bool receives = asked->does == DOES_RECEIVE;

		if (peer >= reader->ranks || peer == r) {
			complain_of_node(reader,
					 xasprintf("peer %" PRIu32 " of rank %" PRIu32
						   " is %s; ranks are 0 to %" PRIu32,
						   peer, r, peer == r ? "itself" : "no rank",
						   reader->ranks - 1));
			return;
		}
		program_add_end(&reader->ends,
				(struct program_end){ receives ? peer : r, receives ? r : peer,
						      (uint32_t)asked->tag, receives, seat });
	}
}

static bool same_peers(const struct conf_list *a, const struct conf_list *b)
{
	return a->count == b->count && !memcmp(a->items, b->items, a->count * sizeof(int64_t));
}

/* The seat that a node needs. A new one if no node of the role has asked for it. */
static uint32_t seat_of(struct reader *reader, const struct role_conf *role,
			const struct node_conf *node, unsigned does, struct asked **list,
			size_t *count, size_t *capacity)
{
	bool message = does == OP_MESSAGE || does == DOES_RECEIVE;
	struct asked asked = { does, message ? NULL : node->group, message ? &node->to : NULL,
			       message ? node->tag : 0 };

	for (size_t s = 0; s < *count; s++) {
		const struct asked *old = &(*list)[s];

		if (old->does == does && old->tag == asked.tag &&
		    (message ? same_peers(old->to, asked.to) : !strcmp(old->group, asked.group)))
			return (uint32_t)s;
	}
	*list = array_reserve(*list, *count, capacity, sizeof(**list));
	(*list)[*count] = asked;
	if (message)
		add_ends(reader, role, &asked, (uint32_t)*count);
	else
		sit_in_groups(reader, role, &asked, (uint32_t)*count);
	return (uint32_t)(*count)++;
}

/* What a node does; DOES if it does not do one thing. */
static unsigned does_of(struct reader *reader, const struct node_conf *node)
{
	unsigned does = DOES, count = 0;

	for (unsigned i = 0; i < DOES; i++)
		if (node->does[i]) {
			does = i;
			count++;
		}
	if (count == 1)
		return does;
	complain_of_node(reader, xstrdup("a node does one thing: compute, pause, all_reduce, "
					 "reduce_scatter, all_gather, all_to_all, broadcast, "
					 "reduce, gather, scatter, send or receive"));
	return DOES;
}

static unsigned stream_of(struct reader *reader, const char *name, const char **streams)
{
	for (unsigned s = 0; s < STREAMS_MAX; s++) {
		if (!streams[s])
			streams[s] = name;
		if (!strcmp(streams[s], name))
			return s;
	}
	complain_of_node(reader, xasprintf("a role has at most %d streams", STREAMS_MAX));
	return 0;
}

static const struct node_conf *node_conf(const struct role_conf *role, size_t i)
{
	return &((const struct node_conf *)role->nodes.items)[i];
}

/* A named node of a role, by a sorted list of names. */
struct named {
	const char *name;
	uint32_t node;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* The names of a role's nodes, sorted. Caller frees. */
static struct named *names_of(struct reader *reader, const struct role_conf *role, size_t *count)
{
	struct named *names = xcalloc(role->nodes.count, sizeof(*names));

	*count = 0;
	for (size_t i = 0; i < role->nodes.count; i++)
		if (node_conf(role, i)->name)
			names[(*count)++] = (struct named){ node_conf(role, i)->name, (uint32_t)i };
	if (*count)
		qsort(names, *count, sizeof(*names), by_name);
	for (size_t i = 1; i < *count; i++)
		if (!strcmp(names[i - 1].name, names[i].name)) {
			reader->node = names[i].node > names[i - 1].node ? names[i].node
									 : names[i - 1].node;
			complain_of_node(reader,
					 xasprintf("there is another node \"%s\"", names[i].name));
			break;
		}
	return names;
}

static void add_needs(struct reader *reader, struct program_role *to, const struct conf_list *list,
		      const struct named *names, size_t count, bool before)
{
	for (size_t i = 0; i < list->count; i++) {
		struct named key = { ((const char *const *)list->items)[i], 0 };
		const struct named *found =
			count ? bsearch(&key, names, count, sizeof(*names), by_name) : NULL;

		if (found)
			role_need(to, found->node, before);
		else
			complain_of_node(reader,
					 xasprintf("the role has no node \"%s\"", key.name));
	}
}

static void read_role(struct reader *reader)
{
	const struct role_conf *role = role_conf(reader->conf, reader->role);
	struct program_role *to = &reader->program->roles[reader->role];
	const char *streams[STREAMS_MAX] = { 0 };
	struct asked *asked = NULL;
	size_t asked_count = 0, asked_capacity = 0, name_count;
	struct named *names = names_of(reader, role, &name_count);

	for (reader->node = 0; reader->node < role->nodes.count && !reader->mistake;
	     reader->node++) {
		const struct node_conf *node = node_conf(role, reader->node);
		unsigned does = does_of(reader, node);
		bool part = does < DOES_COMPUTE, sums = does < OP_MESSAGE;

		if (does == DOES)
			break;
		if (!part && !node->wait)
			complain_of_node(reader, xstrdup("only collectives and messages can go "
							 "without \"wait\""));
		role_add(to, (struct program_node){
				     .act = part                   ? ACT_PART
					    : does == DOES_COMPUTE ? ACT_COMPUTE
								   : ACT_PAUSE,
				     .flags = (uint8_t)((node->wait ? 0 : NODE_ISSUED) |
							(sums ? NODE_GRADIENT | NODE_SUM : 0)),
				     .stream = (uint16_t)stream_of(reader, node->stream, streams),
				     .seat = part ? seat_of(reader, role, node, does, &asked,
							    &asked_count, &asked_capacity)
						  : 0,
				     .amount = node->amount[does],
				     .place = (uint32_t)reader->node,
			     });
		add_needs(reader, to, &node->after, names, name_count, false);
		add_needs(reader, to, &node->after_previous, names, name_count, true);
	}
	free(names);
	free(asked);
}

static void release(struct reader *reader)
{
	for (size_t g = 0; reader->groups && g <= reader->conf->groups.count; g++) {
		for (unsigned op = 0; op < PROGRAM_OPS; op++)
			free(reader->groups[g][op]);
		free(reader->groups[g]);
		free(reader->list_of[g]);
		free(reader->member_of[g]);
	}
	free(reader->groups);
	free(reader->list_of);
	free(reader->member_of);
	free(reader->ends.ends);
}

struct program *program_of_conf(const struct program_conf *conf, char **at, char **mistake)
{
	struct reader reader = { .conf = conf, .at = at };

	count_ranks(&reader);
	if (!reader.mistake)
		read_groups(&reader);
	for (reader.role = 0; reader.role < conf->roles.count && !reader.mistake; reader.role++)
		read_role(&reader);
	if (!reader.mistake) {
		char *text = program_join_ends(reader.program, &reader.ends);

		if (!text)
			text = program_finish(reader.program);
		if (!text)
			text = program_deadlock(reader.program);
		if (text)
			complain(&reader, xstrdup("/roles"), text);
	}
	release(&reader);
	*mistake = reader.mistake;
	if (!reader.mistake)
		return reader.program;
	program_free(reader.program);
	return NULL;
}
