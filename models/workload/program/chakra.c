/* Chakra execution traces: PREFIX.RANK.et, a file a rank (mlcommons/chakra,
 * schema/protobuf/et_def.proto). A file is a row of messages in protobuf's encoding, each behind
 * its length: first GlobalMetadata, which says nothing to us, then nodes in any order.
 *
 * They mean what they mean to ASTRA-sim (astra-sim @ 518bd51, Workload.cc, HardwareResource.cc): on
 * a GPU one node computes at a time, one collective is under way, and receives wait beside them;
 * nodes on the CPU go one by one. So a rank has four streams; program_graph.h says in which order.
 *
 *   COMP       duration_micros; 0 is 1 ns. num_ops and tensor_size (a roofline) are not read.
 *   COMM_SEND, COMM_RECV, COMM_COLL    comm_size bytes. Of an all-gather this is what each rank
 *              has before, of all other collectives what each has in all.
 *   pg_name    a collective's ranks, from METADATA nodes; "", or "0" without a list: all.
 *   METADATA, and communication with is_cpu_op (a twin of one on the GPU): order only.
 *
 * Control dependences on nodes that do not exist are left out: traces of PyTorch have them. */
#include "workload/program/program_files.h"

#include "base/mem.h"
#include "base/units.h"
#include "data/json_read.h"
#include "workload/program/program_graph.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX (UINT64_C(1) << 30)

enum { COMPUTES, COMMUNICATES, RECEIVES, CPU }; /* streams */

enum node_type { INVALID, METADATA, MEM_LOAD, MEM_STORE, COMP, SEND, RECV, COLL, NODE_TYPES };

/* A process group, as METADATA nodes of a rank define it, or as its nodes use it. */
struct process_group {
	char *name;
	uint32_t *ranks; /* owned */
	uint32_t count;  /* 0 = all */
	bool defined, used;
};

struct reader {
	struct graph graph;
	uint32_t ranks, rank;
	char *path; /* of the rank's file */
	FILE *file;
	uint8_t *message;
	size_t length, capacity;
	struct process_group *pgs; /* of the rank */
	size_t pg_count, pg_capacity;
	char *mistake; /* the first; owned */
};

/* What a node says. */
struct et_node {
	uint64_t id, type, duration;
	uint64_t size, comm_type, source, target, tag;
	bool cpu, has_size, has_type, has_source, has_target, part_of_dims;
	const uint8_t *pg, *inputs; /* texts within the message */
	size_t pg_length, inputs_length;
};

static void complain(struct reader *reader, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void complain(struct reader *reader, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!reader->mistake)
		reader->mistake = xasprintf("%s: %s", reader->path, text);
}

/* --- protobuf's encoding --- */

struct wire {
	const uint8_t *at, *end;
	bool bad;
};

struct field {
	uint64_t number, value; /* value: of types 0, 1, 5 */
	unsigned type;
	struct wire inside; /* of type 2 */
};

static uint64_t read_varint(struct wire *wire)
{
	uint64_t value = 0;

	for (unsigned shift = 0; wire->at < wire->end && shift < 64; shift += 7) {
		uint8_t byte = *wire->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	wire->bad = true;
	return 0;
}

static uint64_t read_fixed(struct wire *wire, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(wire->end - wire->at) < size) {
		wire->bad = true;
		return 0;
	}
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)*wire->at++ << 8 * i;
	return value;
}

/* The next field; false at the end or if the encoding is wrong. */
static bool next_field(struct wire *wire, struct field *field)
{
	uint64_t key;

	if (wire->bad || wire->at == wire->end)
		return false;
	key = read_varint(wire);
	*field = (struct field){ .number = key >> 3, .type = key & 7 };
	if (field->type == 0 || field->type == 2)
		field->value = read_varint(wire);
	else if (field->type == 1 || field->type == 5)
		field->value = read_fixed(wire, field->type == 1 ? 8 : 4);
	else
		wire->bad = true;
	if (field->type == 2 && field->value > (uint64_t)(wire->end - wire->at))
		wire->bad = true;
	if (field->type == 2 && !wire->bad) {
		field->inside = (struct wire){ .at = wire->at, .end = wire->at + field->value };
		wire->at += field->value;
	}
	return !wire->bad;
}

/* The next message of the file; false at its end. */
static bool next_message(struct reader *reader)
{
	uint64_t length = 0;
	unsigned shift = 0;
	int byte = getc(reader->file);

	if (byte == EOF && !ferror(reader->file))
		return false;
	for (; byte != EOF && (byte & 0x80) && shift < 28; shift += 7, byte = getc(reader->file))
		length |= (uint64_t)(byte & 0x7f) << shift;
	length |= byte == EOF ? MESSAGE_MAX + 1 : (uint64_t)byte << shift;
	for (reader->length = 0; length <= MESSAGE_MAX && reader->length < length;) {
		size_t more = length - reader->length < 65536 ? length - reader->length : 65536;

		while (reader->capacity < reader->length + more) /* as it comes: lengths may lie */
			reader->message = array_reserve(reader->message, reader->capacity,
							&reader->capacity, 1);
		if (fread(reader->message + reader->length, 1, more, reader->file) != more)
			length = MESSAGE_MAX + 1;
		reader->length += more;
	}
	if (length <= MESSAGE_MAX)
		return true;
	complain(reader, "byte %ld: no Chakra trace, or cut off", ftell(reader->file));
	return false;
}

/* --- nodes --- */

static bool is_text(const struct wire *wire, const char *text)
{
	size_t length = (size_t)(wire->end - wire->at);

	return length == strlen(text) && !memcmp(wire->at, text, length);
}

/* Whether a list of bools has a false one. */
static bool has_false(struct wire list)
{
	struct field field;
	bool found = false;

	while (next_field(&list, &field)) {
		found |= field.type == 0 && !field.value;
		while (field.type == 2 && field.inside.at < field.inside.end)
			found |= !*field.inside.at++;
	}
	return found;
}

/* An attribute: a name, and a value in one of 26 forms. Whole numbers come in all of them. */
static void read_attribute(struct wire *wire, struct et_node *node)
{
	struct wire inside = *wire;
	struct field field, name = { 0 }, value = { 0 };
	uint64_t number;

	while (next_field(&inside, &field))
		if (field.number == 1)
			name = field;
		else if (field.number > 2)
			value = field;
	wire->bad |= inside.bad || name.type != 2;
	if (wire->bad)
		return;
	number = value.value;
	if (value.number == 15 || value.number == 17) /* sint32, sint64: zigzag */
		number = number >> 1 ^ -(number & 1);
	if (is_text(&name.inside, "is_cpu_op")) {
		node->cpu = number;
	} else if (is_text(&name.inside, "comm_size")) {
		node->size = number;
		node->has_size = true;
	} else if (is_text(&name.inside, "comm_type")) {
		node->comm_type = number;
		node->has_type = true;
	} else if (is_text(&name.inside, "comm_src")) {
		node->source = number;
		node->has_source = true;
	} else if (is_text(&name.inside, "comm_dst")) {
		node->target = number;
		node->has_target = true;
	} else if (is_text(&name.inside, "comm_tag")) {
		node->tag = number;
	} else if (is_text(&name.inside, "pg_name") && value.type == 2) {
		node->pg = value.inside.at;
		node->pg_length = (size_t)(value.inside.end - value.inside.at);
	} else if (is_text(&name.inside, "involved_dim") && value.type == 2) {
		node->part_of_dims = has_false(value.inside);
	}
}

static bool read_node(struct reader *reader, struct et_node *node)
{
	struct wire wire = { .at = reader->message, .end = reader->message + reader->length };
	struct field field, values;

	*node = (struct et_node){ 0 };
	while (next_field(&wire, &field))
		if (field.number == 1) {
			node->id = field.value;
		} else if (field.number == 3) {
			node->type = field.value;
		} else if (field.number == 7) {
			node->duration = field.value;
		} else if (field.number == 8 && field.type == 2) {
			if (next_field(&field.inside, &values) && values.number == 1 &&
			    values.type == 2) {
				node->inputs = values.inside.at;
				node->inputs_length =
					(size_t)(values.inside.end - values.inside.at);
			}
		} else if (field.number == 10 && field.type == 2) {
			read_attribute(&field.inside, node);
			wire.bad |= field.inside.bad;
		}
	if (wire.bad)
		complain(reader, "node %" PRIu64 ", before byte %ld: no Chakra trace", node->id,
			 ftell(reader->file));
	return !wire.bad;
}

/* Adds the needs of the node that was added last: ctrl_deps and data_deps, packed or not. */
static void add_needs(struct reader *reader)
{
	struct wire wire = { .at = reader->message, .end = reader->message + reader->length };
	struct field field;

	while (next_field(&wire, &field)) {
		if (field.number != 4 && field.number != 5)
			continue;
		if (field.type != 2)
			graph_need(&reader->graph, field.value, field.number == 5);
		while (field.type == 2 && field.inside.at < field.inside.end && !field.inside.bad)
			graph_need(&reader->graph, read_varint(&field.inside), field.number == 5);
	}
}

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

/* The list of ranks that METADATA gives a process group. A later one replaces an earlier one. */
static bool define_pg(struct reader *reader, const cJSON *item)
{
	const cJSON *name = cJSON_GetObjectItem(item, "pg_name");
	const cJSON *ranks = cJSON_GetObjectItem(item, "ranks"), *rank;
	struct process_group *pg;

	if (!cJSON_IsString(name) || !cJSON_IsArray(ranks))
		return false;
	pg = find_pg(reader, name->valuestring, strlen(name->valuestring));
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
	text = xstrndup((const char *)node->inputs + 2, node->inputs_length - 4);
	list = strstr(text, "\"pg_name\"") ? cJSON_Parse(text) : cJSON_CreateArray();
	free(text);
	good = cJSON_IsArray(list);
	cJSON_ArrayForEach(item, list)
		good = good && define_pg(reader, item);
	if (!good)
		complain(reader,
			 "node %" PRIu64 ": its inputs have \"pg_name\", but no list of process "
			 "groups with \"pg_name\" and \"ranks\"",
			 node->id);
	cJSON_Delete(list);
}

/* What a collective of Chakra is here; PROGRAM_OPS if nothing. */
static enum program_op op_of(uint64_t comm_type)
{
	switch (comm_type) {
	case 0:
		return OP_ALL_REDUCE;
	case 2:
		return OP_ALL_GATHER;
	case 6:
		return OP_ALL_TO_ALL;
	case 7:
		return OP_REDUCE_SCATTER;
	default:
		return PROGRAM_OPS;
	}
}

static void take_collective(struct reader *reader, const struct et_node *from,
			    struct graph_node *node)
{
	struct process_group *pg =
		find_pg(reader, from->pg ? (const char *)from->pg : "", from->pg_length);

	node->does = (uint8_t)op_of(from->comm_type);
	node->stream = COMMUNICATES;
	node->amount = from->size;
	node->peer = (uint32_t)(pg - reader->pgs); /* until end_rank() */
	pg->used = true;
	if (!from->has_type || node->does == PROGRAM_OPS)
		complain(reader,
			 "node %" PRIu64 ": %s%.0" PRIu64 "; allowed: 0 (all-reduce), 2 "
			 "(all-gather), 6 (all-to-all), 7 (reduce-scatter)",
			 from->id, from->has_type ? "comm_type " : "a collective without comm_type",
			 from->comm_type);
	if (from->part_of_dims)
		complain(reader,
			 "node %" PRIu64 ": its involved_dim leaves dimensions out; allowed: "
			 "process groups (pg_name)",
			 from->id);
}

static void take_message(struct reader *reader, const struct et_node *from, struct graph_node *node)
{
	bool sends = from->type == SEND;
	uint64_t peer = sends ? from->target : from->source;
	const char *key = sends ? "comm_dst" : "comm_src";

	node->does = sends ? OP_MESSAGE : GRAPH_RECEIVE;
	node->stream = sends ? COMMUNICATES : RECEIVES;
	node->amount = from->size;
	node->peer = (uint32_t)peer;
	node->tag = (uint32_t)from->tag;
	if (sends ? !from->has_target : !from->has_source)
		complain(reader, "node %" PRIu64 ": needs %s", from->id, key);
	else if (peer >= reader->ranks || peer == reader->rank)
		complain(reader, "node %" PRIu64 ": %s %" PRId64 " is %s; ranks are 0 to %" PRIu32,
			 from->id, key, (int64_t)peer,
			 peer == reader->rank ? "the rank itself" : "no rank", reader->ranks - 1);
	if (from->tag > UINT32_MAX)
		complain(reader, "node %" PRIu64 ": comm_tag %" PRId64 "; allowed: 0 to 2^32 - 1",
			 from->id, (int64_t)from->tag);
}

static void add_node(struct reader *reader, const struct et_node *from)
{
	struct graph_node node = {
		.id = from->id, .place = (uint32_t)from->id, .does = GRAPH_MARK, .stream = CPU
	};
	bool part = from->type >= SEND && from->type <= COLL && !from->cpu;

	if (from->type == METADATA)
		read_pgs(reader, from);
	if (from->type == MEM_LOAD || from->type == MEM_STORE || from->type >= NODE_TYPES) {
		complain(reader,
			 "node %" PRIu64 ": type %" PRIu64
			 "%s; allowed: 1 (metadata), 4 (compute), "
			 "5 (send), 6 (receive), 7 (collective)",
			 from->id, from->type, from->type < COMP ? " (memory)" : "");
	} else if (from->type == COMP) {
		node.does = GRAPH_COMPUTE;
		node.stream = from->cpu ? CPU : COMPUTES;
		if (from->duration > GRAPH_TIME_MAX / PS_PER_US)
			complain(reader, "node %" PRIu64 ": duration_micros is above 10,000 s",
				 from->id);
		else
			node.amount = from->duration ? from->duration * PS_PER_US : PS_PER_NS;
	} else if (part) {
		if (from->type == COLL)
			take_collective(reader, from, &node);
		else
			take_message(reader, from, &node);
		if (!from->size || from->size > GRAPH_BYTES_MAX)
			complain(reader, "node %" PRIu64 ": needs comm_size from 1 to 2^44",
				 from->id);
	}
	graph_add(&reader->graph, node);
	add_needs(reader);
}

/* --- ranks --- */

/* The number of the set of ranks of a process group. */
static uint32_t set_of(struct reader *reader, const struct process_group *pg)
{
	bool all = !pg->count, *seen = xcalloc(reader->ranks, sizeof(*seen));
	uint32_t count = all ? reader->ranks : pg->count;
	uint32_t *ranks = xcalloc(count, sizeof(*ranks)), set = 0;

	if (!pg->defined && *pg->name && strcmp(pg->name, "0"))
		complain(reader, "process group \"%s\" has no list of ranks in a METADATA node",
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
		if (node->does == OP_ALL_GATHER)
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
	struct et_node node;

	reader->file = fopen(reader->path, "rb");
	if (!reader->file) {
		complain(reader, "cannot be read");
		return;
	}
	if (!next_message(reader)) /* GlobalMetadata */
		complain(reader, "is empty");
	while (!reader->mistake && next_message(reader) && read_node(reader, &node))
		add_node(reader, &node);
	fclose(reader->file);
	end_rank(reader);
}

/* Name of the file of a rank; `path` is PREFIX.et. Caller frees. */
static char *name_of(const char *path, uint32_t rank)
{
	return xasprintf("%.*s.%" PRIu32 ".et", (int)(strlen(path) - strlen(".et")), path, rank);
}

static uint32_t count_ranks(const char *path)
{
	uint32_t ranks = 0;
	bool there = true;

	while (there && ranks < GRAPH_RANKS_MAX) {
		char *name = name_of(path, ranks);
		FILE *file = fopen(name, "rb");

		there = file;
		ranks += there;
		if (file)
			fclose(file);
		free(name);
	}
	return ranks;
}

struct program *program_of_chakra(const char *path, char **mistake)
{
	struct reader reader = { .ranks = count_ranks(path) };
	struct program *program = NULL;

	if (!reader.ranks) {
		*mistake = xasprintf("%s: there is no file %.*s.0.et; PREFIX.et stands for "
				     "PREFIX.0.et, PREFIX.1.et and so on, a file a rank",
				     path, (int)(strlen(path) - strlen(".et")), path);
		return NULL;
	}
	graph_init(&reader.graph, reader.ranks);
	for (reader.rank = 0; reader.rank < reader.ranks && !reader.mistake; reader.rank++) {
		reader.path = name_of(path, reader.rank);
		read_rank(&reader);
		free(reader.path);
	}
	*mistake = reader.mistake;
	if (!reader.mistake) {
		char *text = NULL;

		program = graph_program(&reader.graph, &text);
		if (text)
			*mistake = xasprintf("%s: %s", path, text);
		free(text);
	}
	if (program && reader.graph.dropped)
		program->note = xasprintf("%s: %" PRIu64 " control dependences on nodes that do "
					  "not exist were left out",
					  path, reader.graph.dropped);
	graph_release(&reader.graph);
	free(reader.message);
	free(reader.pgs);
	return program;
}
