/* Chakra execution traces: PREFIX.RANK.et, a file a rank (mlcommons/chakra,
 * schema/protobuf/et_def.proto), or the same as JSON. Nodes come in any order.
 *
 * They mean what they mean to ASTRA-sim (astra-sim @ 518bd51, Workload.cc, HardwareResource.cc): on
 * a GPU one node computes at a time, one collective is under way, and receives wait beside them;
 * nodes on the CPU go one by one. So a rank has four streams; program_graph.h says in which order.
 *
 *   COMP       duration_micros; 0 is 1 ns. num_ops and tensor_size (a roofline) are not read.
 *   COMM_SEND, COMM_RECV, COMM_COLL    comm_size bytes. Of a gather and an all-gather this is what
 *              each rank has before, of all other collectives what each, or the root, has in all.
 *   BROADCAST, REDUCE, GATHER, SCATTER   traces do not name the root: the first rank of the group.
 *              (ASTRA-sim has a broadcast take its recorded time, and refuses the others.)
 *   BARRIER    an all-reduce of one value, as PyTorch does it with NCCL.
 *   pg_name    a collective's ranks, from METADATA nodes; "", or "0" without a list: all.
 *   METADATA, and communication with is_cpu_op (a twin of one on the GPU): order only.
 *
 * Control dependences on nodes that do not exist are left out: traces of PyTorch have them. */
#include "workload/program/program_files.h"

#include "base/input.h"
#include "base/mem.h"
#include "base/mistake.h"
#include "base/units.h"
#include "workload/program/chakra_parts.h"
#include "workload/program/program_graph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPUTES, COMMUNICATES, RECEIVES, CPU }; /* streams */

#define GROUPS_MAX    (UINT64_C(1) << 30) /* bytes of a file of groups */
#define BARRIER       9                   /* of CollectiveCommType */
#define BARRIER_BYTES 4

/* A process group, as METADATA nodes of a rank define it, or as its nodes use it. */
struct process_group {
	char *name;
	uint32_t *ranks; /* owned */
	uint32_t count;  /* 0 = all */
	bool defined, used;
};

struct reader {
	const struct program_file_conf *conf;
	struct graph graph;
	struct et_node node;
	uint32_t ranks, rank;
	char *path;                /* of the rank's file */
	struct process_group *pgs; /* of the rank */
	size_t pg_count, pg_capacity;
	cJSON *groups; /* of conf->groups; NULL = none */
	char *mistake; /* the first; owned */
};

static void complain(struct reader *reader, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void complain(struct reader *reader, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	mistake_keep(&reader->mistake, reader->path, -1, fmt, args);
	va_end(args);
}

/* --- files --- */

const char *const et_number_names[ET_NUMBERS] = {
	[ET_CPU] = "is_cpu_op",   [ET_SIZE] = "comm_size",  [ET_KIND] = "comm_type",
	[ET_SOURCE] = "comm_src", [ET_TARGET] = "comm_dst", [ET_TAG] = "comm_tag",
};

void et_complain(struct et_file *file, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	mistake_keep(&file->mistake, NULL, -1, fmt, args);
	va_end(args);
}

void et_clear(struct et_node *node)
{
	*node = (struct et_node){ .needs = node->needs, .need_capacity = node->need_capacity };
}

void et_need(struct et_node *node, uint64_t id, bool data)
{
	node->needs = array_reserve(node->needs, node->need_count, &node->need_capacity,
				    sizeof(*node->needs));
	node->needs[node->need_count++] = (struct et_need){ id, data };
}

bool et_open(struct et_file *file, const char *path)
{
	*file = (struct et_file){ 0 };
	return strcmp(strrchr(path, '.'), ".json") ? et_wire_open(file, path)
						   : et_json_open(file, path);
}

bool et_next(struct et_file *file, struct et_node *node)
{
	return file->json ? et_json_next(file, node) : et_wire_next(file, node);
}

void et_close(struct et_file *file)
{
	if (file->file)
		fclose(file->file);
	cJSON_Delete(file->json);
	free(file->text);
	free(file->message);
}

/* --- process groups --- */

/* Names end up in messages and tables. */
static void check_name(struct reader *reader, const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == '"')
			complain(reader, "pg_name has other characters than printable ASCII");
}

static struct process_group *find_pg(struct reader *reader, const char *name, size_t length)
{
	for (size_t i = 0; i < reader->pg_count; i++)
		if (strlen(reader->pgs[i].name) == length &&
		    !memcmp(reader->pgs[i].name, name, length))
			return &reader->pgs[i];
	check_name(reader, name, length);
	reader->pgs = array_reserve(reader->pgs, reader->pg_count, &reader->pg_capacity,
				    sizeof(*reader->pgs));
	reader->pgs[reader->pg_count] = (struct process_group){ .name = xstrndup(name, length) };
	return &reader->pgs[reader->pg_count++];
}

/* The list of ranks of a process group. A later one replaces an earlier one. */
static bool define_pg(struct reader *reader, const char *name, const cJSON *ranks)
{
	const cJSON *rank;
	struct process_group *pg;

	if (!name || !cJSON_IsArray(ranks))
		return false;
	pg = find_pg(reader, name, strlen(name));
	free(pg->ranks);
	pg->ranks = xcalloc((size_t)cJSON_GetArraySize(ranks) + 1, sizeof(*pg->ranks));
	pg->count = 0;
	pg->defined = true;
	cJSON_ArrayForEach(rank, ranks) {
		if (!cJSON_IsNumber(rank) || rank->valuedouble < 0 ||
		    rank->valuedouble >= GRAPH_RANKS_MAX)
			return false;
		pg->ranks[pg->count++] = (uint32_t)rank->valuedouble;
	}
	return true;
}

/* Process groups stand in a node's inputs as ['JSON'], where JSON is
 * [{"pg_name": "1", "ranks": [0, 1]}, ...]. Other METADATA says nothing to us. */
static void read_pgs(struct reader *reader, const struct et_node *node)
{
	cJSON *list, *item;
	char *text;
	bool good;

	if (node->inputs_length < 4)
		return;
	text = xstrndup(node->inputs + 2, node->inputs_length - 4);
	list = strstr(text, "\"pg_name\"") ? cJSON_Parse(text) : cJSON_CreateArray();
	free(text);
	good = cJSON_IsArray(list);
	cJSON_ArrayForEach(item, list)
		good = good &&
		       define_pg(reader, cJSON_GetStringValue(cJSON_GetObjectItem(item, "pg_name")),
				 cJSON_GetObjectItem(item, "ranks"));
	if (!good)
		complain(reader,
			 "node %" PRIu64 ": its inputs have \"pg_name\", but no list of process "
			 "groups with \"pg_name\" and \"ranks\"",
			 node->id);
	cJSON_Delete(list);
}

/* The groups that a file defines, for a rank. */
static void define_groups(struct reader *reader)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, reader->groups)
		if (!define_pg(reader, item->string, item))
			complain(reader, "group \"%s\" of %s is no list of ranks", item->string,
				 reader->conf->groups);
}

/* What a collective of Chakra is here, by CollectiveCommType. */
static const enum program_op op_of[] = {
	OP_ALL_REDUCE, OP_REDUCE,     OP_ALL_GATHER,     OP_GATHER,         OP_SCATTER,
	OP_BROADCAST,  OP_ALL_TO_ALL, OP_REDUCE_SCATTER, OP_REDUCE_SCATTER, OP_ALL_REDUCE,
};

static void take_collective(struct reader *reader, const struct et_node *from,
			    struct graph_node *node)
{
	struct process_group *pg = find_pg(reader, from->pg ? from->pg : "", from->pg_length);
	uint64_t kind = from->number[ET_KIND];

	if (!from->has[ET_KIND] || kind > BARRIER) {
		complain(reader, "node %" PRIu64 ": %s%.0" PRIu64 "; allowed: 0 to %d", from->id,
			 from->has[ET_KIND] ? "comm_type " : "a collective without comm_type", kind,
			 BARRIER);
		return;
	}
	node->does = (uint8_t)op_of[kind];
	node->stream = COMMUNICATES;
	node->peer = (uint32_t)(pg - reader->pgs); /* until end_rank() */
	node->amount = kind == BARRIER ? BARRIER_BYTES : from->number[ET_SIZE];
	pg->used = true;
	if (from->part_of_dims)
		complain(reader,
			 "node %" PRIu64 ": its involved_dim leaves dimensions out; allowed: "
			 "process groups (pg_name)",
			 from->id);
}

static void take_message(struct reader *reader, const struct et_node *from, struct graph_node *node)
{
	bool sends = from->type == ET_SEND;
	enum et_number key = sends ? ET_TARGET : ET_SOURCE;
	uint64_t peer = from->number[key];

	node->does = sends ? OP_MESSAGE : GRAPH_RECEIVE;
	node->stream = sends ? COMMUNICATES : RECEIVES;
	node->amount = from->number[ET_SIZE];
	node->peer = (uint32_t)peer;
	node->tag = (uint32_t)from->number[ET_TAG];
	if (!from->has[key])
		complain(reader, "node %" PRIu64 ": needs %s", from->id, et_number_names[key]);
	else if (peer >= reader->ranks || peer == reader->rank)
		complain(reader, "node %" PRIu64 ": %s %" PRId64 " is %s; ranks are 0 to %" PRIu32,
			 from->id, et_number_names[key], (int64_t)peer,
			 peer == reader->rank ? "the rank itself" : "no rank", reader->ranks - 1);
	if (from->number[ET_TAG] > UINT32_MAX)
		complain(reader, "node %" PRIu64 ": comm_tag %" PRId64 "; allowed: 0 to 2^32 - 1",
			 from->id, (int64_t)from->number[ET_TAG]);
}

static void take_computing(struct reader *reader, const struct et_node *from,
			   struct graph_node *node)
{
	node->does = GRAPH_COMPUTE;
	node->stream = from->number[ET_CPU] ? CPU : COMPUTES;
	if (from->duration > GRAPH_TIME_MAX / PS_PER_US)
		complain(reader, "node %" PRIu64 ": duration_micros is above 10,000 s", from->id);
	else
		node->amount = from->duration ? from->duration * PS_PER_US : PS_PER_NS;
}

static void add_node(struct reader *reader, const struct et_node *from)
{
	struct graph_node node = {
		.id = from->id, .place = (uint32_t)from->id, .does = GRAPH_MARK, .stream = CPU
	};
	bool part = from->type >= ET_SEND && from->type <= ET_COLL && !from->number[ET_CPU];

	if (from->type == ET_METADATA)
		read_pgs(reader, from);
	if (from->type == ET_MEM_LOAD || from->type == ET_MEM_STORE || from->type >= ET_TYPES) {
		complain(reader,
			 "node %" PRIu64 ": type %" PRIu64
			 "%s; allowed: 1 (metadata), 4 (compute), "
			 "5 (send), 6 (receive), 7 (collective)",
			 from->id, from->type, from->type < ET_COMP ? " (memory)" : "");
	} else if (from->type == ET_COMP) {
		take_computing(reader, from, &node);
	} else if (part) {
		if (from->type == ET_COLL)
			take_collective(reader, from, &node);
		else
			take_message(reader, from, &node);
		if (!node.amount || node.amount > GRAPH_BYTES_MAX)
			complain(reader, "node %" PRIu64 ": needs comm_size from 1 to 2^44",
				 from->id);
	}
	graph_add(&reader->graph, node);
	for (size_t i = 0; i < from->need_count; i++)
		if (from->needs[i].data || reader->conf->dependencies == NEEDS_ALL)
			graph_need(&reader->graph, from->needs[i].id, from->needs[i].data);
}

/* --- ranks --- */

/* The number of the set of ranks of a process group. */
static uint32_t set_of(struct reader *reader, const struct process_group *pg)
{
	bool all = !pg->count, *seen = xcalloc(reader->ranks, sizeof(*seen));
	uint32_t count = all ? reader->ranks : pg->count;
	uint32_t *ranks = xcalloc(count, sizeof(*ranks)), set = 0;

	if (!pg->defined && *pg->name && strcmp(pg->name, "0"))
		complain(reader,
			 "process group \"%s\" has no list of ranks, in a METADATA node or a file "
			 "\"groups\"",
			 pg->name);
	for (uint32_t m = 0; m < count; m++) {
		ranks[m] = all ? m : pg->ranks[m];
		if (ranks[m] >= reader->ranks || seen[ranks[m]])
			complain(reader,
				 "process group \"%s\" has rank %" PRIu32
				 "%s; there are files of ranks 0 to %" PRIu32,
				 pg->name, ranks[m], ranks[m] < reader->ranks ? " twice" : "",
				 reader->ranks - 1);
		else
			seen[ranks[m]] = true;
	}
	if (!reader->mistake)
		set = graph_group(&reader->graph, all ? "all" : pg->name, count, ranks);
	free(seen);
	free(ranks);
	return set;
}

/* Gives collectives their ranks. All METADATA of the rank has been read. */
static void resolve_pgs(struct reader *reader)
{
	uint32_t *sets = xcalloc(reader->pg_count + 1, sizeof(*sets));

	for (size_t i = 0; i < reader->pg_count; i++)
		if (reader->pgs[i].used && !reader->mistake)
			sets[i] = set_of(reader, &reader->pgs[i]);
	for (size_t i = 0; i < reader->graph.count && !reader->mistake; i++) {
		struct graph_node *node = &reader->graph.nodes[i];

		if (node->does >= OP_MESSAGE)
			continue;
		node->peer = sets[node->peer];
		if (node->does == OP_ALL_GATHER || node->does == OP_GATHER)
			node->amount *= reader->graph.sets[node->peer].count;
		if (node->amount > GRAPH_BYTES_MAX)
			complain(reader, "node %" PRIu64 ": gathers more than 2^44 bytes",
				 node->id);
	}
	free(sets);
}

static void end_rank(struct reader *reader)
{
	char *mistake;

	resolve_pgs(reader);
	mistake = reader->mistake ? NULL : graph_end_rank(&reader->graph, reader->rank);
	if (mistake)
		complain(reader, "%s", mistake);
	free(mistake);
	for (size_t i = 0; i < reader->pg_count; i++) {
		free(reader->pgs[i].name);
		free(reader->pgs[i].ranks);
	}
	reader->pg_count = 0;
}

static void read_rank(struct reader *reader)
{
	struct et_file file;

	define_groups(reader);
	if (et_open(&file, reader->path))
		while (!reader->mistake && et_next(&file, &reader->node))
			add_node(reader, &reader->node);
	et_close(&file);
	if (file.mistake)
		complain(reader, "%s", file.mistake);
	free(file.mistake);
	end_rank(reader);
}

/* Name of the file of a rank: `path` itself, or PREFIX.RANK.et for PREFIX.et. Caller frees. */
static char *name_of(const struct program_file_conf *conf, uint32_t rank)
{
	const char *ending = strrchr(conf->path, '.');

	if (conf->ranks)
		return xstrdup(conf->path);
	return xasprintf("%.*s.%" PRIu32 "%s", (int)(ending - conf->path), conf->path, rank,
			 ending);
}

static uint32_t count_ranks(const struct program_file_conf *conf)
{
	uint32_t ranks = 0;
	bool there = true;

	while (there && ranks < GRAPH_RANKS_MAX && !conf->ranks) {
		char *name = name_of(conf, ranks);
		FILE *file = fopen(name, "rb");

		there = file;
		ranks += there;
		if (file)
			fclose(file);
		free(name);
	}
	return conf->ranks ? (uint32_t)conf->ranks : ranks;
}

static cJSON *read_groups(const char *path, char **mistake)
{
	char *text = input_read(path, GROUPS_MAX, NULL);
	cJSON *groups = text ? cJSON_Parse(text) : NULL;

	if (!cJSON_IsObject(groups))
		*mistake = xasprintf("%s: %s", path,
				     text ? "holds no JSON object of groups" : input_why(errno));
	free(text);
	return groups;
}

/* What is wrong with all ranks together. Takes `text`. */
static char *whole_mistake(const struct program_file_conf *conf, char *text)
{
	bool circle = strstr(text, "needs itself") && conf->dependencies == NEEDS_ALL;
	char *mistake =
		xasprintf("%s: %s%s", conf->path, text,
			  circle ? "; control dependences do not count with \"model\": { "
				   "\"file\": { \"path\": ..., \"dependencies\": \"data\" } }"
				 : "");

	free(text);
	return mistake;
}

static void read_all(struct reader *reader)
{
	graph_init(&reader->graph, reader->ranks);
	for (; reader->rank < reader->ranks && !reader->mistake; reader->rank++) {
		reader->path = name_of(reader->conf, reader->rank);
		read_rank(reader);
		free(reader->path);
	}
}

struct program *program_of_chakra(const struct program_file_conf *conf, char **mistake)
{
	struct reader reader = { .conf = conf, .ranks = count_ranks(conf) };
	struct program *program = NULL;
	char *text = NULL, *first = name_of(conf, 0);

	if (!reader.ranks)
		reader.mistake = xasprintf("%s: there is no file %s; PREFIX.et stands for "
					   "PREFIX.0.et, PREFIX.1.et and so on, a file a rank",
					   conf->path, first);
	free(first);
	if (!reader.mistake && conf->groups)
		reader.groups = read_groups(conf->groups, &reader.mistake);
	if (!reader.mistake)
		read_all(&reader);
	*mistake = reader.mistake;
	if (!reader.mistake)
		program = graph_program(&reader.graph, &text);
	if (text)
		*mistake = whole_mistake(conf, text);
	if (program && reader.graph.dropped)
		program->note = xasprintf("%s: %" PRIu64 " control dependences on nodes that do "
					  "not exist were left out",
					  conf->path, reader.graph.dropped);
	graph_release(&reader.graph);
	cJSON_Delete(reader.groups);
	free(reader.node.needs);
	free(reader.pgs);
	return program;
}
