/* What other simulators' files of flows say.
 *
 * csg-htsim and uet-htsim (sim/datacenter/connection_matrix.cpp): "Nodes N", "Connections N", then
 *
 *     SRC->DST [id N] start TIME size BYTES [prio P] [addon] [msg N]
 *
 * The parser of csg-htsim takes `start` as picoseconds, while its save() writes microseconds and
 * main_swift reads these; so the scenario says which (start_unit). prio, addon and msg are not
 * read. Refused: flows that a trigger starts, flows without end (size 0), failures.
 *
 * HPCC (simulation/scratch/third.cc): the number of flows, then for each "SRC DST GROUP PORT BYTES
 * START", in seconds. What follows is a legend. Groups and ports are not read. */
#include "workload/flows/flow_files.h"

#include "base/input.h"
#include "base/mem.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (UINT64_C(1) << 32)
#define TIME_MAX (UINT64_C(213) * 86400 * PS_PER_S)

const char *const start_units[] = { [START_NONE] = "none", [START_PS] = "ps", [START_NS] = "ns",
				    [START_US] = "us",     [START_S] = "s",   NULL };
static const uint64_t unit_ps[] = { 0, 1, PS_PER_NS, PS_PER_US, PS_PER_S };

struct reader {
	struct flow_trace *trace;
	size_t capacity;
	const char *path;
	const char *at; /* what is not read yet */
	unsigned line;
	char token[64];
	const char *word; /* within `token` */
	char **error;     /* the first mistake */
};

static bool wrong(struct reader *reader, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static bool wrong(struct reader *reader, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!*reader->error)
		*reader->error = xasprintf("%s:%u: %s", reader->path, reader->line, text);
	return false;
}

/* The next word, of this line if `same`. False, and "", if there is none. */
static bool next_word(struct reader *reader, bool same)
{
	size_t length = 0;

	reader->token[0] = '\0';
	reader->word = reader->token;
	for (; *reader->at && strchr(" \t\r\n", *reader->at); reader->at++) {
		if (*reader->at == '\n' && same)
			return false;
		reader->line += *reader->at == '\n';
	}
	for (; *reader->at && !strchr(" \t\r\n", *reader->at); reader->at++)
		if (length + 1 < sizeof(reader->token)) /* what is longer is wrong anyway */
			reader->token[length++] = *reader->at;
	reader->token[length] = '\0';
	return length > 0;
}

/* Reads the word as a whole number. */
static bool number(struct reader *reader, const char *what, uint64_t max, uint64_t *value)
{
	const char *c = reader->word;
	bool good = *c;

	*value = 0;
	for (; good && *c; c++)
		good = *c >= '0' && *c <= '9' && !__builtin_mul_overflow(*value, 10, value) &&
		       !__builtin_add_overflow(*value, (uint64_t)(*c - '0'), value);
	return (good && *value <= max) ||
	       wrong(reader, "%s is \"%.40s\"; allowed: 0 to %" PRIu64, what, reader->word, max);
}

/* Reads the word as a decimal number of units of `unit` ps. */
static bool time_of(struct reader *reader, uint64_t unit, sim_time *time)
{
	const char *c = reader->word;
	uint64_t part = unit;
	bool good = *c, behind = false;

	for (*time = 0; good && *c; c++) {
		uint64_t digit = (uint64_t)(*c - '0');

		if (*c == '.' && !behind) {
			behind = true;
			continue;
		}
		good = digit <= 9 && (!behind || part % 10 == 0 || !digit);
		part = behind ? part / 10 : part;
		if (good && behind)
			good = !__builtin_add_overflow(*time, digit * part, time);
		else if (good)
			good = !__builtin_mul_overflow(*time, 10, time) &&
			       !__builtin_mul_overflow(digit, unit, &digit) &&
			       !__builtin_add_overflow(*time, digit, time);
		good &= *time <= TIME_MAX;
	}
	return good ||
	       wrong(reader, "start is \"%.40s\"; allowed: a whole number of ps below 213 days",
		     reader->word);
}

static bool add_flow(struct reader *reader, const struct trace_flow *flow)
{
	if (flow->src == flow->dst)
		return wrong(reader, "host %" PRIu32 " sends to itself", flow->src);
	reader->trace->flows = array_reserve(reader->trace->flows, reader->trace->count,
					     &reader->capacity, sizeof(*reader->trace->flows));
	reader->trace->flows[reader->trace->count++] = *flow;
	return true;
}

/* --- connection matrices --- */

/* "3->6" */
static bool read_ends(struct reader *reader, struct trace_flow *flow)
{
	char *arrow = strstr(reader->token, "->");
	const char *to = arrow + 2;
	uint64_t src, dst;

	*arrow = '\0';
	if (!number(reader, "a source", UINT32_MAX, &src))
		return false;
	reader->word = to;
	if (!number(reader, "a destination", UINT32_MAX, &dst))
		return false;
	flow->src = (uint32_t)src;
	flow->dst = (uint32_t)dst;
	return true;
}

static bool read_connection(struct reader *reader, enum start_unit unit)
{
	struct trace_flow flow = { 0 };
	bool started = false;
	uint64_t ignored;

	if (!read_ends(reader, &flow))
		return false;
	while (next_word(reader, true)) {
		char key[sizeof(reader->token)];

		memcpy(key, reader->token, sizeof(key));

		if (!strcmp(key, "addon"))
			continue;
		if (!strcmp(key, "trigger"))
			return wrong(reader, "a trigger starts this flow, which is not supported");
		next_word(reader, true);
		if (!strcmp(key, "start")) {
			if (unit == START_NONE)
				return wrong(reader,
					     "\"start_unit\" does not say in which unit this is: "
					     "csg-htsim reads ps, its main_swift us");
			started = true;
			if (!time_of(reader, unit_ps[unit], &flow.start))
				return false;
		} else if (!strcmp(key, "size")) {
			if (!number(reader, "size", UINT64_C(1) << 50, &flow.size))
				return false;
		} else if (strcmp(key, "id") && strcmp(key, "prio") && strcmp(key, "msg") &&
			   strcmp(key, "send_done_trigger") && strcmp(key, "recv_done_trigger")) {
			return wrong(reader, "\"%.40s\" is unknown here", key);
		} else if (!number(reader, key, UINT64_MAX, &ignored)) {
			return false;
		}
	}
	if (!started)
		return wrong(reader, "a flow without \"start\"");
	if (!flow.size)
		return wrong(reader, "a flow without end (size 0) is not supported");
	return add_flow(reader, &flow);
}

static bool read_matrix(struct reader *reader, enum start_unit unit)
{
	static const char *const heads[] = { "Nodes", "Connections", "Triggers", "Failures" };
	uint64_t counts[4] = { 0 }, triggers = 0;

	while (next_word(reader, false)) {
		unsigned head = 0;

		if (*reader->word == '#') {
			while (next_word(reader, true))
				continue;
			continue;
		}
		if (strstr(reader->word, "->")) {
			if (!read_connection(reader, unit))
				return false;
			continue;
		}
		if (!strcmp(reader->word, "trigger")) {
			triggers++;
			while (next_word(reader, true))
				continue;
			continue;
		}
		while (head < 4 && strcmp(heads[head], reader->word))
			head++;
		if (head == 4)
			return wrong(reader,
				     "\"%.40s\"; allowed: Nodes, Connections, Triggers, SRC->DST, "
				     "trigger",
				     reader->word);
		next_word(reader, true);
		if (!number(reader, heads[head], UINT32_MAX, &counts[head]))
			return false;
	}
	if (counts[3])
		return wrong(reader, "failures are written in the scenario");
	return (counts[1] == reader->trace->count && counts[2] == triggers) ||
	       wrong(reader,
		     "has %zu connections and %" PRIu64 " triggers, and says %" PRIu64
		     " and %" PRIu64,
		     reader->trace->count, triggers, counts[1], counts[2]);
}

/* --- HPCC --- */

/* The host that has a node's number. */
static bool find_host(struct reader *reader, const struct graph *graph, uint64_t node,
		      uint32_t *host)
{
	char name[GRAPH_NAME_MAX + 1];

	*host = (uint32_t)node;
	if (!graph)
		return true;
	snprintf(name, sizeof(name), "h%" PRIu64, node);
	for (*host = 0; *host < graph->hosts; (*host)++)
		if (!strcmp(graph->names[*host], name))
			return true;
	return wrong(reader, "the network has no host \"%s\", for node %" PRIu64, name, node);
}

static bool read_list(struct reader *reader, const struct graph *graph)
{
	static const char *const what[] = { "a source", "a destination", "a group", "a port",
					    "a size" };
	uint64_t count, values[5];

	next_word(reader, false);
	if (!number(reader, "the number of flows", UINT32_MAX, &count))
		return false;
	next_word(reader, true); /* the generator leaves digits of an older number */
	while (reader->trace->count < count) {
		struct trace_flow flow = { 0 };

		for (unsigned i = 0; i < 5; i++) {
			next_word(reader, false);
			if (!number(reader, what[i], i == 4 ? UINT64_C(1) << 50 : UINT32_MAX,
				    &values[i]))
				return false;
		}
		flow.size = values[4];
		if (!flow.size)
			return wrong(reader, "a flow of 0 bytes");
		next_word(reader, false);
		if (!time_of(reader, PS_PER_S, &flow.start) ||
		    !find_host(reader, graph, values[0], &flow.src) ||
		    !find_host(reader, graph, values[1], &flow.dst) || !add_flow(reader, &flow))
			return false;
	}
	return true;
}

/* --- both --- */

static int by_start(const void *a, const void *b)
{
	const struct trace_flow *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* By start; flows of one instant keep their order. */
static void sort(struct flow_trace *trace)
{
	struct trace_flow *flows = trace->flows, *half;
	size_t n = trace->count;
	bool sorted = true;

	for (size_t i = 1; i < n; i++)
		sorted &= by_start(&flows[i - 1], &flows[i]) <= 0;
	if (sorted)
		return;
	half = xcalloc(n, sizeof(*half));
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t i = 0; i < n; i += 2 * width) {
			size_t middle = i + width < n ? i + width : n, a = i, b = middle, to = i;
			size_t end = i + 2 * width < n ? i + 2 * width : n;

			while (to < end)
				half[to++] = b == end || (a < middle &&
							  by_start(&flows[a], &flows[b]) <= 0)
						     ? flows[a++]
						     : flows[b++];
		}
		memcpy(flows, half, n * sizeof(*flows));
	}
	free(half);
}

static bool ends_with(const char *path, const char *ending)
{
	size_t length = strlen(path), n = strlen(ending);

	return length > n && !strcmp(path + length - n, ending);
}

bool flow_file_load(struct flow_trace *trace, const char *path, enum start_unit unit,
		    const struct graph *graph, char **error)
{
	struct reader reader = { .trace = trace, .path = path, .line = 1, .error = error };
	bool matrix = ends_with(path, ".cm"), good;
	char *text;

	*trace = (struct flow_trace){ 0 };
	*error = NULL;
	if (!matrix && unit != START_NONE) {
		*error = xasprintf("%s: \"start_unit\" is for connection matrices (.cm)", path);
		return false;
	}
	if (!matrix && !ends_with(path, ".txt"))
		return flow_trace_load(trace, path, error);
	text = input_read(path, FILE_MAX, NULL);
	if (!text) {
		*error = xasprintf("%s: %s", path, input_why(errno));
		return false;
	}
	reader.at = text;
	good = matrix ? read_matrix(&reader, unit) : read_list(&reader, graph);
	free(text);
	if (good) {
		sort(trace);
		return true;
	}
	flow_trace_release(trace);
	return false;
}
