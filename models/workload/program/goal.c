/* GOAL, the text form of LogGOPSim and ATLAHS (spcl/LogGOPSim, txt2bin.re):
 *
 *   num_ranks N
 *   rank R {
 *     [LABEL:] send Nb to RANK [tag T] [cpu C] [nic 0]
 *     [LABEL:] recv Nb from RANK [tag T] [cpu C] [nic 0]
 *     [LABEL:] calc NS [cpu C]
 *     A requires B      A begins when B is done
 *     A irequires B     A begins when B has begun
 *   }
 *
 * A cpu is a stream of computing. Sends and receives take no time of a cpu: LogGOPSim's overheads
 * (o, O) are not modelled. So a rank has a stream of sends, one of receives and one for each cpu;
 * program_graph.h says in which order. A send of 0 bytes has 1, as in ATLAHS. Of two equal labels
 * the first counts, as there. A send is done when it has been handed over, as LogGOPSim's below its
 * threshold S for a rendezvous, which no file says; nothing waits for a receive. A message has
 * begun when it might: messages before it on its stream do not count. Refused: nic, receives from
 * any rank or with any tag, the collectives (coll) of ATLAHS, whose groups are in a file of their
 * own. goal_binary.c reads the binary form. */
#include "workload/program/goal_parts.h"

#include "base/hash.h"
#include "base/input.h"
#include "base/mem.h"
#include "base/mistake.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_MAX 256

/* A label, in a table by hash. */
struct label {
	char *name; /* owned; NULL = free */
	uint32_t node;
};

struct reader {
	struct graph graph;
	const char *path;
	FILE *file;
	char token[TOKEN_MAX]; /* the next; empty at the end */
	uint32_t line;         /* of the next token */
	uint32_t at;           /* line of the reading place */
	uint32_t ranks, rank;
	bool *seen;           /* by rank */
	struct label *labels; /* of the rank; a power of two */
	size_t label_count, label_room;
	char *mistake; /* the first; owned */
};

static void complain(struct reader *reader, uint32_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void complain(struct reader *reader, uint32_t line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	mistake_keep(&reader->mistake, reader->path, line, fmt, args);
	va_end(args);
	reader->token[0] = '\0';
}

/* --- tokens: words, and single other characters --- */

static bool in_word(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

static int next_char(struct reader *reader)
{
	int c = getc(reader->file);

	reader->at += c == '\n';
	return c;
}

/* Behind a comment that has begun with "/". */
static void skip_comment(struct reader *reader)
{
	int c = next_char(reader), last = 0;

	if (c != '/' && c != '*')
		complain(reader, reader->line, "\"/\" without a comment");
	else if (c == '/')
		while (c != '\n' && c != EOF)
			c = next_char(reader);
	else
		for (c = next_char(reader); c != EOF && (last != '*' || c != '/');
		     c = next_char(reader))
			last = c;
}

static void next(struct reader *reader)
{
	size_t length = 0;
	int c = next_char(reader);

	while (!reader->mistake && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '/')) {
		reader->line = reader->at;
		if (c == '/')
			skip_comment(reader);
		c = next_char(reader);
	}
	reader->line = reader->at - (c == '\n');
	reader->token[0] = '\0';
	if (reader->mistake || c == EOF)
		return;
	if (!in_word(c) && c != ':' && c != '{' && c != '}') {
		complain(reader, reader->line, "unexpected character");
		return;
	}
	for (bool word = in_word(c); length == 0 || (word && in_word(c)); c = getc(reader->file)) {
		if (length + 1 == TOKEN_MAX) {
			complain(reader, reader->line, "a word has more than %d characters",
				 TOKEN_MAX - 1);
			return;
		}
		reader->token[length++] = (char)c;
	}
	ungetc(c, reader->file);
	reader->token[length] = '\0';
}

static bool is(const struct reader *reader, const char *word)
{
	return !strcmp(reader->token, word);
}

static void expect(struct reader *reader, const char *word)
{
	if (is(reader, word))
		next(reader);
	else
		complain(reader, reader->line, "\"%s\" is expected, not \"%s\"", word,
			 reader->token);
}

/* A whole number up to `max`, with an ending. */
static uint64_t number(struct reader *reader, const char *what, const char *ending, uint64_t max)
{
	const char *c = reader->token;
	uint64_t value = 0;
	bool good = *c >= '0' && *c <= '9';

	for (; good && *c >= '0' && *c <= '9'; c++)
		good = !__builtin_mul_overflow(value, 10, &value) &&
		       !__builtin_add_overflow(value, (uint64_t)(*c - '0'), &value);
	if (!good || strcmp(c, ending) || value > max) {
		complain(reader, reader->line, "%s is \"%s\"; allowed: 0%s to %" PRIu64 "%s", what,
			 reader->token, ending, max, ending);
		return 0;
	}
	next(reader);
	return value;
}

/* --- labels --- */

static struct label *find_label(const struct reader *reader, const char *name)
{
	size_t i = hash_string(name) & (reader->label_room - 1);

	while (reader->labels[i].name && strcmp(reader->labels[i].name, name))
		i = (i + 1) & (reader->label_room - 1);
	return &reader->labels[i];
}

static void widen_labels(struct reader *reader)
{
	struct label *old = reader->labels;
	size_t room = reader->label_room;

	reader->label_room = room ? 2 * room : 16;
	reader->labels = xcalloc(reader->label_room, sizeof(*reader->labels));
	for (size_t i = 0; i < room; i++)
		if (old[i].name)
			*find_label(reader, old[i].name) = old[i];
	free(old);
}

static void add_label(struct reader *reader, const char *name, uint32_t node)
{
	struct label *label;

	if (2 * reader->label_count >= reader->label_room)
		widen_labels(reader);
	label = find_label(reader, name);
	if (label->name)
		return;
	*label = (struct label){ xstrdup(name), node };
	reader->label_count++;
}

static uint32_t node_of(struct reader *reader, const char *name)
{
	const struct label *label = reader->label_room ? find_label(reader, name) : NULL;

	if (label && label->name)
		return label->node;
	complain(reader, reader->line, "there is no label \"%s\" before this line", name);
	return 0;
}

static void free_labels(struct reader *reader)
{
	for (size_t i = 0; i < reader->label_room; i++)
		free(reader->labels[i].name);
	free(reader->labels);
	reader->labels = NULL;
	reader->label_count = reader->label_room = 0;
}

/* --- statements --- */

/* Reads what may stand behind a node on its line. */
static void read_options(struct reader *reader, struct graph_node *node)
{
	while (*reader->token && reader->line == node->place) {
		if (is(reader, "tag") && node->does != GRAPH_COMPUTE) {
			next(reader);
			node->tag = (uint32_t)number(reader, "tag", "", UINT32_MAX);
		} else if (is(reader, "cpu")) {
			uint64_t cpu;

			next(reader);
			cpu = number(reader, "cpu", "", UINT8_MAX);
			if (node->does == GRAPH_COMPUTE)
				node->stream = (uint16_t)(GOAL_CPUS + cpu);
		} else if (is(reader, "nic")) {
			next(reader);
			number(reader, "nic", "", 0);
		} else {
			return;
		}
	}
}

static void read_message(struct reader *reader, struct graph_node *node, bool sends)
{
	next(reader);
	node->does = sends ? OP_MESSAGE : GRAPH_RECEIVE;
	node->stream = sends ? GOAL_SENDS : GOAL_RECEIVES;
	node->amount = number(reader, "size", "b", GRAPH_BYTES_MAX);
	node->amount += !node->amount;
	expect(reader, sends ? "to" : "from");
	node->peer = (uint32_t)number(reader, "rank", "", reader->ranks - 1);
	if (!reader->mistake && node->peer == reader->rank)
		complain(reader, node->place, "rank %" PRIu32 " is the rank itself", reader->rank);
}

/* The node that begins here. */
static void read_node(struct reader *reader)
{
	struct graph_node node = { .id = GOAL_ID(reader->graph.count), .place = reader->line };

	if (is(reader, "calc")) {
		next(reader);
		node.does = GRAPH_COMPUTE;
		node.stream = GOAL_CPUS;
		node.amount = number(reader, "time", "", GRAPH_TIME_MAX / PS_PER_NS) * PS_PER_NS;
	} else if (is(reader, "send") || is(reader, "recv")) {
		read_message(reader, &node, is(reader, "send"));
	} else {
		complain(reader, reader->line,
			 "\"%s\"; allowed: send, recv, calc, LABEL requires LABEL, LABEL irequires "
			 "LABEL, }",
			 reader->token);
	}
	read_options(reader, &node);
	graph_add(&reader->graph, node);
}

static void read_statement(struct reader *reader)
{
	char name[TOKEN_MAX];
	uint32_t node, other;

	if (is(reader, "send") || is(reader, "recv") || is(reader, "calc")) {
		read_node(reader);
		return;
	}
	memcpy(name, reader->token, sizeof(name));
	next(reader);
	if (is(reader, ":")) {
		add_label(reader, name, (uint32_t)reader->graph.count);
		next(reader);
		read_node(reader);
	} else {
		bool begins = is(reader, "irequires");

		node = node_of(reader, name);
		expect(reader, begins ? "irequires" : "requires");
		other = node_of(reader, reader->token);
		if (!reader->mistake && begins)
			graph_begin_with(&reader->graph, node, other);
		else if (!reader->mistake)
			graph_need_of(&reader->graph, node, GOAL_ID(other), true);
		next(reader);
	}
}

static void read_rank(struct reader *reader)
{
	uint32_t line = reader->line;
	char *mistake;

	expect(reader, "rank");
	reader->rank = (uint32_t)number(reader, "rank", "", reader->ranks - 1);
	if (!reader->mistake && reader->seen[reader->rank])
		complain(reader, line, "rank %" PRIu32 " is there twice", reader->rank);
	expect(reader, "{");
	while (*reader->token && !is(reader, "}"))
		read_statement(reader);
	expect(reader, "}");
	free_labels(reader);
	if (reader->mistake)
		return;
	reader->seen[reader->rank] = true;
	mistake = graph_end_rank(&reader->graph, reader->rank);
	if (mistake)
		complain(reader, reader->line, "%s", mistake);
	free(mistake);
}

static void read_all(struct reader *reader)
{
	uint32_t line;

	next(reader);
	line = reader->line;
	expect(reader, "num_ranks");
	reader->ranks = (uint32_t)number(reader, "num_ranks", "", GRAPH_RANKS_MAX);
	if (!reader->ranks)
		complain(reader, line, "num_ranks is 0");
	if (reader->mistake)
		return;
	graph_init(&reader->graph, reader->ranks);
	reader->graph.marks = GOAL_MARKS;
	reader->seen = xcalloc(reader->ranks, sizeof(*reader->seen));
	while (*reader->token)
		read_rank(reader);
	for (reader->rank = 0; reader->rank < reader->ranks; reader->rank++)
		if (!reader->mistake && !reader->seen[reader->rank])
			complain(reader, reader->line, "there is no rank %" PRIu32, reader->rank);
}

struct program *program_of_goal(const struct program_file_conf *conf, char **mistake)
{
	const char *path = conf->path;
	struct reader reader = { .path = path, .at = 1, .line = 1 };
	struct program *program = NULL;
	char *text = NULL;

	if (goal_is_binary(path))
		return program_of_goal_binary(conf, mistake);
	reader.file = input_open(path, UINT64_MAX);
	if (!reader.file) {
		*mistake = xasprintf("%s: %s", path, input_why(errno));
		return NULL;
	}
	read_all(&reader);
	fclose(reader.file);
	*mistake = reader.mistake;
	if (!reader.mistake)
		program = graph_program(&reader.graph, &text);
	if (text)
		*mistake = xasprintf("%s: %s (numbers of nodes are lines)", path, text);
	free(text);
	free(reader.seen);
	graph_release(&reader.graph);
	return program;
}
