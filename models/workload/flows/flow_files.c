/* What other simulators' files of flows say.
 *
 * csg-htsim and uet-htsim (sim/datacenter/connection_matrix.cpp): "Nodes N", "Connections N", then
 *
 *     SRC->DST [id N] (start TIME | trigger N) size BYTES [send_done_trigger N]
 *              [recv_done_trigger N] [prio P] [addon] [msg N]
 *     trigger id N (oneshot | multishot | barrier count K)
 *
 * A flow with a trigger starts when the flow that fires it has been received, or acknowledged at
 * its sender; with a barrier, when all K that fire it have. The parser of csg-htsim takes `start`
 * as picoseconds, while its save() writes microseconds and main_swift reads these; so the scenario
 * says which (start_unit). prio, addon and msg are not read. Size 0 is a flow that
 * ends with the run. Refused: triggers other than barriers that several flows fire, what waits for
 * a flow without end, failures.
 *
 * HPCC (simulation/scratch/third.cc): the number of flows, then for each "SRC DST GROUP PORT BYTES
 * START", in seconds. What follows is a legend. Groups and ports are not read. */
#include "workload/flows/flow_files.h"

#include "base/input.h"
#include "base/mem.h"
#include "base/mistake.h"
#include "base/units.h"
#include "workload/flows/size_cdf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (UINT64_C(1) << 32)
#define TIME_MAX (UINT64_C(213) * 86400 * PS_PER_S)

const char *const start_units[] = { [START_NONE] = "none", [START_PS] = "ps", [START_NS] = "ns",
				    [START_US] = "us",     [START_S] = "s",   NULL };
static const uint64_t unit_ps[] = { 0, 1, PS_PER_NS, PS_PER_US, PS_PER_S };

#define NONE UINT64_MAX

/* A flow as it is written; triggers by number, NONE = none. */
struct record {
	struct trace_flow flow;
	uint64_t waits, sent, received;
	unsigned line;
};

struct trigger {
	uint64_t number, count; /* how many flows fire it; 0 = one, without a barrier */
	unsigned line;
};

/* A flow that fires a trigger. */
struct firing {
	uint64_t trigger;
	uint32_t flow;
	bool sent;
};

struct reader {
	struct record *records;
	size_t count, capacity;
	struct trigger *triggers;
	size_t trigger_count, trigger_capacity;
	struct firing *firings;
	size_t firing_count, firing_capacity;
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
	va_list args;

	va_start(args, fmt);
	mistake_keep(reader->error, reader->path, reader->line, fmt, args);
	va_end(args);
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

static bool add_record(struct reader *reader, const struct record *record)
{
	if (record->flow.src == record->flow.dst)
		return wrong(reader, "host %" PRIu32 " sends to itself", record->flow.src);
	reader->records = array_reserve(reader->records, reader->count, &reader->capacity,
					sizeof(*reader->records));
	reader->records[reader->count] = *record;
	reader->records[reader->count++].line = reader->line;
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

/* A key of a connection and its value. */
static bool read_key(struct reader *reader, enum start_unit unit, struct record *record)
{
	char key[sizeof(reader->token)];
	uint64_t ignored;

	memcpy(key, reader->token, sizeof(key));
	if (!strcmp(key, "addon"))
		return true;
	next_word(reader, true);
	if (!strcmp(key, "start") && unit == START_NONE)
		return wrong(reader, "\"start_unit\" does not say in which unit this is: csg-htsim "
				     "reads ps, its main_swift us");
	if (!strcmp(key, "start"))
		return time_of(reader, unit_ps[unit], &record->flow.start);
	if (!strcmp(key, "size"))
		return number(reader, key, UINT64_C(1) << 50, &record->flow.size);
	if (!strcmp(key, "trigger"))
		return number(reader, key, NONE - 1, &record->waits);
	if (!strcmp(key, "send_done_trigger"))
		return number(reader, key, NONE - 1, &record->sent);
	if (!strcmp(key, "recv_done_trigger"))
		return number(reader, key, NONE - 1, &record->received);
	if (strcmp(key, "id") && strcmp(key, "prio") && strcmp(key, "msg"))
		return wrong(reader, "\"%.40s\" is unknown here", key);
	return number(reader, key, UINT64_MAX, &ignored);
}

static bool read_connection(struct reader *reader, enum start_unit unit)
{
	struct record record = { { .start = NONE }, NONE, NONE, NONE, 0 };

	if (!read_ends(reader, &record.flow))
		return false;
	while (next_word(reader, true))
		if (!read_key(reader, unit, &record))
			return false;
	if ((record.flow.start == NONE) == (record.waits == NONE))
		return wrong(reader, "a flow has either \"start\" or \"trigger\"");
	if (record.waits != NONE)
		record.flow.start = 0;
	if (!record.flow.size && (record.sent != NONE || record.received != NONE))
		return wrong(reader, "a flow without end (size 0) fires no trigger");
	if (!record.flow.size)
		record.flow.size = FLOW_ENDLESS;
	return add_record(reader, &record);
}

/* trigger id N oneshot, multishot, or barrier count K */
static bool read_trigger(struct reader *reader)
{
	struct trigger trigger = { .line = reader->line };

	if (!next_word(reader, true) || strcmp(reader->word, "id") || !next_word(reader, true))
		return wrong(reader, "\"trigger\" needs \"id\" and a number");
	if (!number(reader, "id", NONE - 1, &trigger.number))
		return false;
	next_word(reader, true);
	if (!strcmp(reader->word, "barrier")) {
		if (!next_word(reader, true) || strcmp(reader->word, "count") ||
		    !next_word(reader, true))
			return wrong(reader, "\"barrier\" needs \"count\" and a number");
		if (!number(reader, "count", UINT32_MAX, &trigger.count))
			return false;
	} else if (strcmp(reader->word, "oneshot") && strcmp(reader->word, "multishot")) {
		return wrong(reader, "\"%.40s\"; allowed: oneshot, multishot, barrier",
			     reader->word);
	}
	reader->triggers = array_reserve(reader->triggers, reader->trigger_count,
					 &reader->trigger_capacity, sizeof(*reader->triggers));
	reader->triggers[reader->trigger_count++] = trigger;
	return true;
}

static bool read_matrix(struct reader *reader, enum start_unit unit)
{
	static const char *const heads[] = { "Nodes", "Connections", "Triggers", "Failures" };
	uint64_t counts[4] = { 0 };

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
			if (!read_trigger(reader))
				return false;
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
	return (counts[1] == reader->count && counts[2] == reader->trigger_count) ||
	       wrong(reader,
		     "has %zu connections and %zu triggers, and says %" PRIu64 " and %" PRIu64,
		     reader->count, reader->trigger_count, counts[1], counts[2]);
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
	while (reader->count < count) {
		struct record record = { .waits = NONE, .sent = NONE, .received = NONE };
		struct trace_flow *flow = &record.flow;

		for (unsigned i = 0; i < 5; i++) {
			next_word(reader, false);
			if (!number(reader, what[i], i == 4 ? UINT64_C(1) << 50 : UINT32_MAX,
				    &values[i]))
				return false;
		}
		flow->size = values[4];
		if (!flow->size)
			return wrong(reader, "a flow of 0 bytes");
		next_word(reader, false);
		if (!time_of(reader, PS_PER_S, &flow->start) ||
		    !find_host(reader, graph, values[0], &flow->src) ||
		    !find_host(reader, graph, values[1], &flow->dst) ||
		    !add_record(reader, &record))
			return false;
	}
	return true;
}

/* --- both --- */

/* Flows that start by time first, by time. */
static bool is_before(const struct record *a, const struct record *b)
{
	if ((a->waits != NONE) != (b->waits != NONE))
		return a->waits == NONE;
	return a->flow.start <= b->flow.start;
}

/* Flows of one instant keep their order. */
static void sort(struct record *records, size_t n)
{
	struct record *half;
	bool sorted = true;

	for (size_t i = 1; i < n; i++)
		sorted &= is_before(&records[i - 1], &records[i]);
	if (sorted)
		return;
	half = xcalloc(n, sizeof(*half));
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t i = 0; i < n; i += 2 * width) {
			size_t middle = i + width < n ? i + width : n, a = i, b = middle, to = i;
			size_t end = i + 2 * width < n ? i + 2 * width : n;

			for (; to < end; to++)
				half[to] = b == end || (a < middle &&
							is_before(&records[a], &records[b]))
						   ? records[a++]
						   : records[b++];
		}
		memcpy(records, half, n * sizeof(*records));
	}
	free(half);
}

static int by_trigger(const void *a, const void *b)
{
	const struct firing *x = a, *y = b;

	if (x->trigger != y->trigger)
		return x->trigger < y->trigger ? -1 : 1;
	return x->flow < y->flow ? -1 : x->flow > y->flow;
}

static int by_number(const void *a, const void *b)
{
	const struct trigger *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_flow(const void *a, const void *b)
{
	const struct trace_wait *x = a, *y = b;

	if (x->flow != y->flow)
		return x->flow < y->flow ? -1 : 1;
	return x->next < y->next ? -1 : x->next > y->next;
}

static void add_firing(struct reader *reader, uint64_t trigger, size_t flow, bool sent)
{
	if (trigger == NONE)
		return;
	reader->firings = array_reserve(reader->firings, reader->firing_count,
					&reader->firing_capacity, sizeof(*reader->firings));
	reader->firings[reader->firing_count++] = (struct firing){ trigger, (uint32_t)flow, sent };
}

/* The first that fires a trigger. */
static size_t first_firing(const struct reader *reader, uint64_t trigger)
{
	size_t low = 0, high = reader->firing_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (reader->firings[middle].trigger < trigger)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What the flow of a record waits for. */
static bool add_waits(struct reader *reader, struct flow_trace *trace, size_t next,
		      size_t *capacity)
{
	const struct trigger key = { .number = reader->records[next].waits }, *trigger = NULL;
	size_t first = first_firing(reader, key.number), end = first, wanted;

	if (reader->trigger_count)
		trigger = bsearch(&key, reader->triggers, reader->trigger_count, sizeof(key),
				  by_number);
	while (end < reader->firing_count && reader->firings[end].trigger == key.number)
		end++;
	reader->line = reader->records[next].line;
	if (!trigger)
		return wrong(reader, "there is no trigger %" PRIu64, key.number);
	wanted = trigger->count ? trigger->count : 1;
	if (end - first != wanted)
		return wrong(reader, "%zu flows fire trigger %" PRIu64 "; allowed: %zu",
			     end - first, key.number, wanted);
	for (; first < end; first++) {
		trace->waits = array_reserve(trace->waits, trace->wait_count, capacity,
					     sizeof(*trace->waits));
		trace->waits[trace->wait_count++] =
			(struct trace_wait){ reader->firings[first].flow, (uint32_t)next,
					     reader->firings[first].sent };
	}
	return true;
}

/* Whether all flows start some time: lets those start that can. */
static bool all_start(struct reader *reader, const struct flow_trace *trace)
{
	uint32_t *missing = xcalloc(trace->count + 1, sizeof(*missing));
	uint32_t *queue = xcalloc(trace->count + 1, sizeof(*queue));
	size_t *first = xcalloc(trace->count + 1, sizeof(*first)), end = trace->timed;
	bool good = true;

	for (size_t i = 0; i < trace->wait_count; i++) {
		missing[trace->waits[i].next]++;
		first[trace->waits[i].flow + 1] = i + 1;
	}
	for (size_t i = 1; i <= trace->count; i++)
		first[i] = first[i] ? first[i] : first[i - 1];
	for (uint32_t i = 0; i < trace->timed; i++)
		queue[i] = i;
	for (size_t at = 0; at < end; at++)
		for (size_t i = first[queue[at]]; i < first[queue[at] + 1]; i++)
			if (!--missing[trace->waits[i].next])
				queue[end++] = trace->waits[i].next;
	for (size_t i = 0; good && i < trace->count; i++)
		if (missing[i]) {
			reader->line = reader->records[i].line;
			good = wrong(reader, "this flow never starts: flows wait for each other");
		}
	free(missing);
	free(queue);
	free(first);
	return good;
}

/* Makes the trace of the records. */
static bool make_trace(struct reader *reader, struct flow_trace *trace)
{
	size_t capacity = 0;
	bool good = true;

	sort(reader->records, reader->count);
	trace->flows = xcalloc(reader->count + 1, sizeof(*trace->flows));
	trace->count = reader->count;
	for (size_t i = 0; i < reader->count; i++) {
		trace->flows[i] = reader->records[i].flow;
		trace->timed += reader->records[i].waits == NONE;
		add_firing(reader, reader->records[i].sent, i, true);
		add_firing(reader, reader->records[i].received, i, false);
	}
	if (reader->firing_count)
		qsort(reader->firings, reader->firing_count, sizeof(*reader->firings), by_trigger);
	if (reader->trigger_count)
		qsort(reader->triggers, reader->trigger_count, sizeof(*reader->triggers),
		      by_number);
	for (size_t i = trace->timed; good && i < reader->count; i++)
		good = add_waits(reader, trace, i, &capacity);
	if (good && trace->wait_count)
		qsort(trace->waits, trace->wait_count, sizeof(*trace->waits), by_flow);
	return good && all_start(reader, trace);
}

static bool ends_with(const char *path, const char *ending)
{
	size_t length = strlen(path), n = strlen(ending);

	return length > n && !strcmp(path + length - n, ending);
}

bool flow_file_load(struct flow_trace *trace, const char *path, enum start_unit unit,
		    const struct graph *graph, char **error)
{
	struct reader reader = { .path = path, .line = 1, .error = error };
	bool matrix = ends_with(path, ".cm"), good;
	char *text;

	*trace = (struct flow_trace){ 0 };
	*error = NULL;
	if (!matrix && unit != START_NONE) {
		*error = xasprintf("%s: \"start_unit\" is for connection matrices (.cm)", path);
		return false;
	}
	if (!matrix && !ends_with(path, ".txt"))
		return flow_trace_load(trace, path, graph, error);
	text = input_read(path, FILE_MAX, NULL);
	if (!text) {
		*error = xasprintf("%s: %s", path, input_why(errno));
		return false;
	}
	reader.at = text;
	good = (matrix ? read_matrix(&reader, unit) : read_list(&reader, graph)) &&
	       make_trace(&reader, trace);
	free(text);
	free(reader.records);
	free(reader.triggers);
	free(reader.firings);
	if (!good)
		flow_trace_release(trace);
	return good;
}
