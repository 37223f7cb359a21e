#include "data/metrics.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The path of a usual statistic; NULL if `usual` is "". */
#define PATH(of, name, usual) sizeof(usual) > 1 ? of "." name "." usual : NULL
#define JOB(member, name, some, usual, words, head, since, help)                                   \
	{ LEVEL_JOB, "jobs", name, name, OUT_REAL, some, { PATH("jobs", name, usual) },            \
	  words,     since,  help, 0 },
#define ITERATION(name, column, some, usual, words, since, help)                                   \
	{ LEVEL_ITERATION, "jobs", name, column, OUT_REAL, some, { PATH("jobs", name, usual) },    \
	  words,           since,  help, 0 },
#define FLOW(member, name, usual, also, words, since, help)                                        \
	{ LEVEL_FLOW,                                                                              \
	  "flows",                                                                                 \
	  name,                                                                                    \
	  name,                                                                                    \
	  OUT_REAL,                                                                                \
	  false,                                                                                   \
	  { PATH("flows", name, usual), PATH("flows", name, also) },                               \
	  words,                                                                                   \
	  since,                                                                                   \
	  help,                                                                                    \
	  0 },
#define LINK(name, type, words, since, help)                                                       \
	{ LEVEL_LINK, "links", #name, #name, type, false, { NULL }, words, since, help, 0 },

#define ONE(level, of, at, name, type, usual, words, since, help)                                  \
	{ level,                                                                                   \
	  of,                                                                                      \
	  #name,                                                                                   \
	  NULL,                                                                                    \
	  type,                                                                                    \
	  false,                                                                                   \
	  { (usual) ? of "." #name : NULL },                                                       \
	  words,                                                                                   \
	  since,                                                                                   \
	  help,                                                                                    \
	  offsetof(struct run_values, at) },
#define RUN(name, ...)         ONE(LEVEL_RUN, "", name, name, __VA_ARGS__)
#define MACHINE(name, ...)     ONE(LEVEL_MACHINE, "", name, name, __VA_ARGS__)
#define LOAD(name, ...)        ONE(LEVEL_RUN, "load", load.name, name, __VA_ARGS__)
#define NETWORK(name, ...)     ONE(LEVEL_RUN, "network", network.name, name, __VA_ARGS__)
#define JOBS(name, ...)        ONE(LEVEL_RUN, "jobs", jobs.name, name, __VA_ARGS__)
#define FLOWS(name, ...)       ONE(LEVEL_RUN, "flows", flows.name, name, __VA_ARGS__)
#define AGGREGATION(name, ...) ONE(LEVEL_RUN, "aggregation", aggregation.name, name, __VA_ARGS__)
#define COUNTER(name, help)    AGGREGATION(name, OUT_COUNT, false, NULL, "0.1", help)

/* `usual` is not used: `compare` names the usual numbers of groups itself */
#define GROUP(of, name, type, usual, words, since, help)                                           \
	{ LEVEL_GROUP, of, #name, NULL, type, true, { NULL }, words, since, help, 0 },
#define JOB_GROUP(name, ...)  GROUP("jobs.by_name", name, __VA_ARGS__)
#define FLOW_GROUP(name, ...) GROUP("flows.by_name", name, __VA_ARGS__)

const struct metric metric_table[] = {
	JOB_METRICS(JOB) ITERATION_METRICS(ITERATION) FLOW_METRICS(FLOW) RUN_METRICS(RUN)
		MACHINE_METRICS(MACHINE) LOAD_METRICS(LOAD) NETWORK_METRICS(NETWORK)
			JOBS_METRICS(JOBS) FLOWS_METRICS(FLOWS) SWITCH_COUNTERS(COUNTER)
				HOST_COUNTERS(COUNTER) AGGREGATION_METRICS(AGGREGATION)
					JOB_GROUP_METRICS(JOB_GROUP) FLOW_GROUP_METRICS(FLOW_GROUP)
						LINK_METRICS(LINK){ 0 }
};

const struct metric_source metric_sources[METRIC_TABLES] = {
	[LEVEL_FLOW] = { .file = "flows.csv",
			 .group = "group",
			 .number = { "flow_id" },
			 .identity = { "size_bytes", "start_s", "src", "dst" },
			 .finished = "finished" },
	[LEVEL_JOB] = { .file = "jobs.csv",
			.group = "name",
			.number = { "job_id" },
			.identity = { "name", "model", "workers", "arrival_s" },
			.finished = "finished" },
	[LEVEL_ITERATION] = { .file = "iterations.csv",
			      .group = "name",
			      .number = { "job_id", "iteration" },
			      .identity = { "name" } },
	[LEVEL_LINK] = { .file = "links.csv", .group = "tier", .number = { "link_id" } },
};

const struct metric *metric_find(const char *of, const char *name, size_t length)
{
	for (const struct metric *m = metric_table; m->name; m++)
		if (!strcmp(m->of, of) && strlen(m->name) == length &&
		    !strncmp(m->name, name, length))
			return m;
	return NULL;
}

const struct metric_statistic *metric_statistic(const char *name)
{
	static const struct metric_statistic statistics[] = {
		{ "mean", "mean", NAN, true },
		{ "p50", "median", 0.5, true },
		{ "p50_low", "median, low end of its interval", NAN, false },
		{ "p50_high", "median, high end of its interval", NAN, false },
		{ "p95", "95th percentile", 0.95, true },
		{ "p99", "99th percentile", 0.99, true },
		{ "p999", "99.9th percentile", 0.999, true },
		{ "max", "maximum", NAN, false },
	};

	for (size_t i = 0; i < sizeof(statistics) / sizeof(*statistics); i++)
		if (!strcmp(statistics[i].name, name))
			return &statistics[i];
	return NULL;
}

bool metric_counts_work(const char *path)
{
	static const char *const names[] = { "count",   "finished", "refused",  "substituted",
					     "arrived", "started",  "estimated" };
	const char *end = strrchr(path, '.');

	for (size_t i = 0; end && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(end + 1, names[i]))
			return true;
	return false;
}

const char *metric_unit_of(const char *name, size_t *stem)
{
	static const struct {
		const char *suffix, *unit;
	} units[] = { { "_bytes_per_s", "B/s" }, /* before "_s", which fits it, too */
		      { "_per_cpu_s", "number" },
		      { "_bytes", "bytes" },
		      { "_bps", "bit/s" },
		      { "_s", "s" } };
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t end = strlen(units[i].suffix);

		if (length <= end || strcmp(name + length - end, units[i].suffix))
			continue;
		if (stem)
			*stem = length - end;
		return units[i].unit;
	}
	if (stem)
		*stem = length;
	return "number";
}

const char *metric_unit(const char *path)
{
	const char *dot = strrchr(path, '.');
	bool statistic = dot && metric_statistic(dot + 1);
	char *quantity = xstrndup(path, statistic ? (size_t)(dot - path) : strlen(path));
	const char *unit = metric_unit_of(quantity, NULL);

	free(quantity);
	return unit;
}

size_t metric_group_length(const char *path, const char *of, const char *end)
{
	size_t length = strlen(path), around = strlen(of) + strlen(end);

	return length > around && !strncmp(path, of, strlen(of)) &&
			       !strcmp(path + length - strlen(end), end)
		       ? length - around
		       : 0;
}
