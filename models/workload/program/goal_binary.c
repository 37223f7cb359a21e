/* GOAL, the binary form that LogGOPSim 1.1's txt2bin writes and ATLAHS reads (Goal.hpp). Little
 * endian, packed; offsets count from byte 8:
 *
 *   u64 4223; u32 ranks, u8 largest cpu, u8 largest nic, then of each rank u64 begin, u64 end
 *   a rank: u32 nodes, u32 roots, u32 root[roots], node[nodes], u32 list[]
 *   a node: u32 needs, u8 type (1 send, 2 receive, 3 compute), u32 peer, u64 size, u32 tag, u8 cpu,
 *           u8 nic, u32 n, u32 first, u32 m, u32 first_m: the nodes list[first] to list[first + n -
 * 1] wait for its end, list[first_m] and on for its beginning
 *
 * They mean what the text means (goal.c). Roots and `needs` are not read: the lists say the same.
 */
#include "workload/program/goal_parts.h"

#include "base/input.h"
#include "base/mem.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC     UINT64_C(4223)
#define CONSUMED  UINT64_C(2342) /* by a destructive reader */
#define NODE_SIZE 39
#define ANY       UINT32_MAX

struct reader {
	struct graph graph;
	const char *path;
	FILE *file;
	uint64_t size;
	uint32_t ranks, rank;
	uint8_t *block; /* of the rank */
	uint64_t length;
	uint32_t nodes;
	uint64_t first, list; /* where nodes and their lists begin in the block */
	char *mistake;
};

static uint64_t get(const uint8_t *at, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

bool goal_is_binary(const char *path)
{
	FILE *file = input_open(path, UINT64_MAX);
	uint8_t head[8];
	uint64_t magic = 0;

	if (file && fread(head, 1, sizeof(head), file) == sizeof(head))
		magic = get(head, sizeof(head));
	if (file)
		fclose(file);
	return magic == MAGIC || magic == CONSUMED;
}

/* Takes `text`. */
static void complain(struct reader *reader, char *text)
{
	if (!reader->mistake)
		reader->mistake = xasprintf("%s: %s", reader->path, text);
	free(text);
}

static void complain_of_node(struct reader *reader, uint32_t node, char *text)
{
	complain(reader,
		 xasprintf("rank %" PRIu32 ", node %" PRIu32 ": %s", reader->rank, node, text));
	free(text);
}

/* Reads bytes of the file, from byte 8 + `at` on. Caller frees. NULL if they are not there. */
static uint8_t *read_bytes(struct reader *reader, uint64_t at, uint64_t length)
{
	uint8_t *block;

	if (reader->size < 8 || at > reader->size - 8 || length > reader->size - 8 - at) {
		complain(reader, xstrdup("is cut off"));
		return NULL;
	}
	block = xcalloc((size_t)length + 1, 1);
	if (!fseeko(reader->file, (off_t)(at + 8), SEEK_SET) &&
	    fread(block, 1, (size_t)length, reader->file) == length)
		return block;
	free(block);
	complain(reader, xstrdup("cannot be read"));
	return NULL;
}

static void read_node(struct reader *reader, uint32_t number, const uint8_t *at)
{
	unsigned type = at[4], nic = at[22];
	struct graph_node node = { .id = GOAL_ID(number),
				   .place = number,
				   .peer = (uint32_t)get(at + 5, 4) };
	uint64_t size = get(at + 9, 8);

	if (type == GOAL_COMPUTE) {
		node.does = GRAPH_COMPUTE;
		node.stream = (uint16_t)(GOAL_CPUS + at[21]);
		node.amount = size * PS_PER_NS;
		if (size > GRAPH_TIME_MAX / PS_PER_NS)
			complain_of_node(reader, number, xstrdup("a time is above 10,000 s"));
		graph_add(&reader->graph, node);
		return;
	}
	node.does = type == GOAL_SEND ? OP_MESSAGE : GRAPH_RECEIVE;
	node.stream = type == GOAL_SEND ? GOAL_SENDS : GOAL_RECEIVES;
	node.tag = (uint32_t)get(at + 17, 4);
	node.amount = size + !size;
	if (type != GOAL_SEND && type != GOAL_RECEIVE)
		complain_of_node(reader, number,
				 xasprintf("type %u%s; allowed: 1 (send), 2 (receive), 3 (compute)",
					   type,
					   type >= 10 && type <= 14 ? " (a collective)" : ""));
	else if (node.peer >= reader->ranks || node.peer == reader->rank)
		complain_of_node(reader, number,
				 xasprintf("peer %" PRIu32 " is %s", node.peer,
					   node.peer == ANY ? "any rank, which is not supported"
					   : node.peer == reader->rank ? "the rank itself"
								       : "no rank"));
	else if (type == GOAL_RECEIVE && node.tag == ANY)
		complain_of_node(reader, number, xstrdup("any tag is not supported"));
	else if (size > GRAPH_BYTES_MAX)
		complain_of_node(reader, number, xstrdup("has more than 2^44 bytes"));
	else if (nic)
		complain_of_node(reader, number, xasprintf("nic %u; allowed: 0", nic));
	graph_add(&reader->graph, node);
}

/* The nodes that wait for the end of this one or, with `begin`, for its beginning. `at`: how many,
 * and the first. */
static void read_list(struct reader *reader, uint32_t number, const uint8_t *at, bool begin)
{
	uint64_t count = get(at, 4), first = get(at + 4, 4);

	if (first + count > (reader->length - reader->list) / 4) {
		complain_of_node(reader, number, xstrdup("its list is beyond the rank's end"));
		return;
	}
	for (uint64_t i = first; i < first + count; i++) {
		uint64_t other = get(reader->block + reader->list + 4 * i, 4);

		if (other >= reader->nodes) {
			complain_of_node(reader, number, xstrdup("its list names no node"));
			return;
		}
		if (begin)
			graph_begin_with(&reader->graph, (uint32_t)other, number);
		else
			graph_need_of(&reader->graph, (uint32_t)other, GOAL_ID(number), true);
	}
}

static void read_nodes(struct reader *reader)
{
	uint64_t roots = reader->length >= 8 ? get(reader->block + 4, 4) : 0;

	if (reader->length >= 8)
		reader->nodes = (uint32_t)get(reader->block, 4);
	reader->first = 8 + 4 * roots;
	reader->list = reader->first + (uint64_t)NODE_SIZE * reader->nodes;
	if (reader->length < 8 || reader->list > reader->length) {
		complain(reader, xasprintf("rank %" PRIu32 " is cut off", reader->rank));
		return;
	}
	for (uint32_t i = 0; i < reader->nodes && !reader->mistake; i++)
		read_node(reader, i, reader->block + reader->first + (uint64_t)NODE_SIZE * i);
	for (uint32_t i = 0; i < reader->nodes && !reader->mistake; i++) {
		const uint8_t *at = reader->block + reader->first + (uint64_t)NODE_SIZE * i;

		read_list(reader, i, at + 23, false);
		read_list(reader, i, at + 31, true);
	}
}

/* `place`: where the rank's begin and end stand. */
static void read_rank(struct reader *reader, const uint8_t *place)
{
	uint64_t begin = get(place, 8), end = get(place + 8, 8);
	char *mistake = NULL;

	if (end < begin) {
		complain(reader, xasprintf("rank %" PRIu32 " ends before it begins", reader->rank));
		return;
	}
	reader->length = end - begin;
	reader->block = read_bytes(reader, begin, reader->length);
	if (reader->block)
		read_nodes(reader);
	free(reader->block);
	if (!reader->mistake)
		mistake = graph_end_rank(&reader->graph, reader->rank);
	if (mistake)
		complain(reader, mistake);
}

static void read_ranks(struct reader *reader)
{
	uint8_t *head = read_bytes(reader, 0, 6), *places = NULL;

	if (head)
		reader->ranks = (uint32_t)get(head, 4);
	if (head && (!reader->ranks || reader->ranks > GRAPH_RANKS_MAX))
		complain(reader, xasprintf("has %" PRIu32 " ranks; allowed: 1 to %" PRIu32,
					   reader->ranks, GRAPH_RANKS_MAX));
	else if (head)
		places = read_bytes(reader, 6, 16 * (uint64_t)reader->ranks);
	free(head);
	if (!places)
		return;
	graph_init(&reader->graph, reader->ranks);
	reader->graph.marks = GOAL_MARKS;
	for (; reader->rank < reader->ranks && !reader->mistake; reader->rank++)
		read_rank(reader, places + 16 * (uint64_t)reader->rank);
	free(places);
}

struct program *program_of_goal_binary(const struct program_file_conf *conf, char **mistake)
{
	struct reader reader = { .path = conf->path, .file = input_open(conf->path, UINT64_MAX) };
	struct program *program = NULL;
	char *text = NULL;
	uint8_t head[8] = { 0 };

	if (!reader.file) {
		*mistake = xasprintf("%s: %s", conf->path, input_why(errno));
		return NULL;
	}
	if (fread(head, 1, sizeof(head), reader.file) == sizeof(head) && get(head, 8) == CONSUMED)
		complain(&reader, xstrdup("has been consumed by a destructive reader (2342)"));
	if (!fseeko(reader.file, 0, SEEK_END))
		reader.size = (uint64_t)ftello(reader.file);
	if (!reader.mistake)
		read_ranks(&reader);
	fclose(reader.file);
	if (!reader.mistake)
		program = graph_program(&reader.graph, &text);
	if (text)
		complain(&reader, text);
	*mistake = reader.mistake;
	graph_release(&reader.graph);
	return program;
}
