/* summary.json of a run, and its members for the data dictionary. */
#include "run/results_parts.h"

#include "base/mem.h"
#include "collective/machine_ready.h"
#include "data/stats.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Members of summary.json for the data dictionary. The functions below write these members;
 * tests/results.sh checks that both agree. */
#define IN(of, name, type, usual, words, since, help) { of #name, type, help, since },
#define RUN(name, ...)                                IN("", name, __VA_ARGS__)
#define LOAD(name, ...)                               IN("load.", name, __VA_ARGS__)
#define JOBS(name, ...)                               IN("jobs.", name, __VA_ARGS__)
#define FLOWS(name, ...)                              IN("flows.", name, __VA_ARGS__)
#define NETWORK(name, ...)                            IN("network.", name, __VA_ARGS__)
#define AGGREGATION(name, ...)                        IN("aggregation.", name, __VA_ARGS__)
#define COUNTER(name, help)                           AGGREGATION(name, OUT_COUNT, false, "", "0.1", help)
#define JOB_GROUP(name, ...)                          IN("jobs.by_name.*.", name, __VA_ARGS__)
#define FLOW_GROUP(name, ...)                         IN("flows.by_name.*.", name, __VA_ARGS__)
#define JOB_TIME(member, name, some, usual, words, head, since, help)                              \
	{ "jobs." name, OUT_REAL, help, since },
#define JOB_OTHER(member, name, some, usual, words, head, since, help)                             \
	{ "jobs." name, OUT_REAL, help " Statistics like those of jct_s.", since },
#define ITERATION(name, column, some, usual, words, since, help)                                   \
	{ "jobs." name, OUT_REAL, help, since },
#define FLOW(member, name, usual, also, words, since, help)                                        \
	{ "flows." name, OUT_REAL, help, since },
static const struct out_column summary_columns[] = {
	{ "scenario", OUT_TEXT, "Name of the scenario." },
	{ "seed", OUT_COUNT, "Seed of all random streams." },
	{ "fidelity", OUT_TEXT,
	  "packet: every packet was simulated; fluid: streams shared links; analytic: each stream "
	  "had its links to itself. Counts of packets are null except in packet." },
	{ "end_reason", OUT_TEXT,
	  "all_done, jobs_done, flows_done, measured_done, time: as planned; time_limit, deadlock: "
	  "work was left; failed: failures ended some of the work; refused: schemes refused some "
	  "of "
	  "the jobs; estimated: the end of the job is an estimate (stop.estimate); interrupted; "
	  "violation." },
	{ "inside_machines", OUT_TEXT,
	  "What GPUs of a machine exchange: rates (closed-form times) or links (packets, or "
	  "streams); null if machines have one GPU." },
	{ "digest", OUT_TEXT, "Digest of all events: equal digests mean equal runs." },
	{ "warnings", OUT_TEXT,
	  "List of what is probably a mistake and only a run shows: switch memory that was never "
	  "contended, a fabric that was saturated throughout, fluid beside flows. Also, which work "
	  "failures ended, when and why, and which jobs schemes refused. Warnings about the "
	  "scenario come from check." },
	{ "jobs.why_s", OUT_REAL,
	  "With run --why: mean time of an iteration by the causes of why.csv, {compute, jitter, "
	  "...}, over the workers and iterations of all jobs, measured or not. Otherwise null." },
	{ "jobs.ran_as", OUT_TEXT,
	  "List of groups whose jobs did not run as configured: group (scheme), number of these "
	  "jobs, and ran_as of jobs.csv. Counts all jobs, measured or not." },
	{ "jobs.by_name", OUT_TEXT,
	  "By name of the group: the members of \"jobs\", and those listed here as "
	  "jobs.by_name.*." },
	{ "flows.by_size", OUT_TEXT,
	  "By size class, the members of \"flows\": min_bytes, max_bytes (inclusive; null = none), "
	  "count, finished, fct_s, slowdown, throughput_bps (size / FCT)." },
	{ "flows.by_name", OUT_TEXT,
	  "By name of the group: members of \"flows\", over the measured flows." },
	{ "network.by_tier", OUT_TEXT,
	  "For each tier and direction of links.csv: links, utilization_mean, utilization_max, "
	  "utilization_jain (Jain's index over the links)." },
	{ "checks.exactly_once.checked", OUT_COUNT,
	  "Sums that workers received and that were checked." },
	{ "checks.exactly_once.violations", OUT_COUNT,
	  "Checked sums that were wrong; if not 0, the exit code is 5." },
	{ "checks.conservation.violations", OUT_COUNT,
	  "Packets, bytes or memory that do not add up, and slowdowns below 1; if not 0, the exit "
	  "code is 5." },
	{ "checks.first_violation", OUT_TEXT,
	  "Description of the first violation; null if there is none." },
	RUN_METRICS(RUN) MACHINE_METRICS(RUN) LOAD_METRICS(LOAD) JOBS_METRICS(JOBS)
		JOB_TIME_METRICS(JOB_TIME) JOB_OTHER_METRICS(JOB_OTHER) ITERATION_METRICS(ITERATION)
			JOB_GROUP_METRICS(JOB_GROUP) FLOWS_METRICS(FLOWS) FLOW_METRICS(FLOW)
				FLOW_GROUP_METRICS(FLOW_GROUP) NETWORK_METRICS(NETWORK)
					SWITCH_COUNTERS(COUNTER) HOST_COUNTERS(COUNTER)
						AGGREGATION_METRICS(AGGREGATION){ 0 },
};
const struct out_schema summary_schema = {
	"summary.json", "One object per run; a.b is the member b of the object a.", summary_columns
};

/* Writes the metrics of this level that belong to the object `of`. */
static void json_values(struct json *json, const struct run_values *values, const char *of,
			enum metric_level level)
{
	for (const struct metric *m = metric_table; m->name; m++) {
		double value = *(const double *)((const char *)values + m->at);

		if (m->level != level || strcmp(m->of, of))
			continue;
		if (m->type == OUT_COUNT && !isnan(value))
			json_u64(json, m->name, (uint64_t)value);
		else
			json_real(json, m->name, value);
	}
}

enum { P999 = 1 }; /* flows get the 99.9th percentile, too */

double *results_sorted(const double *values, size_t count)
{
	double *sorted = xcalloc(count, sizeof(*sorted));

	if (count)
		memcpy(sorted, values, count * sizeof(*sorted));
	stats_sort(sorted, count);
	return sorted;
}

static void json_distribution(struct json *json, const char *key, const double *values,
			      size_t count, bool with_p999)
{
	double *sorted = results_sorted(values, count);
	struct median median = infer_median(sorted, count, 0.95);

	json_open_object(json, key);
	json_real(json, "mean", stats_mean(values, count));
	json_real(json, "p50", median.value);
	json_real(json, "p50_low", median.low);
	json_real(json, "p50_high", median.high);
	json_real(json, "p50_level", median.level);
	json_real(json, "p95", stats_percentile(sorted, count, 0.95));
	json_real(json, "p99", stats_percentile(sorted, count, 0.99));
	if (with_p999)
		json_real(json, "p999", stats_percentile(sorted, count, 0.999));
	json_real(json, "max", stats_max(sorted, count));
	json_close_object(json);
	free(sorted);
}

#define ROW(member, name, some, usual, words, head, since, help)                                   \
	{ name, head, offsetof(struct job_record, member) },
const struct job_metric results_job_metrics[] = { JOB_METRICS(ROW){ 0 } };
#undef ROW

double *results_job_values(const struct simulation *s, const struct job_group_conf *group,
			   const char *name, const struct job_metric *metric, size_t *count)
{
	size_t finished = jobs_report(s->jobs)->measured.finished;
	const struct job_record *records = jobs_report(s->jobs)->records;
	double *values = xcalloc(finished, sizeof(*values));

	*count = 0;
	for (size_t i = 0; i < finished; i++) {
		double value = *(const double *)((const char *)&records[i] + metric->at);

		if (isnan(value))
			continue;
		if (group ? job_groups_alike(group, records[i].group)
			  : !name || !strcmp(name, records[i].group->name))
			values[(*count)++] = value;
	}
	return values;
}

/* Writes why_s of all groups with this name; of all jobs if `name` is NULL. */
static void json_why(struct json *json, const struct simulation *s, const char *name)
{
	const struct job_group_conf *groups = scenario_jobs(s->scenario);
	struct why_spent sum = { 0 };

	if (!s->spent) {
		json_null(json, "why_s");
		return;
	}
	for (size_t g = 0; g < s->scenario->jobs.count; g++) {
		if (name && strcmp(name, groups[g].name))
			continue;
		sum.workers += s->spent[g].workers;
		for (unsigned c = 0; c < WHY_CAUSES; c++)
			sum.cause_s[c] += s->spent[g].cause_s[c];
	}
	json_open_object(json, "why_s");
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		json_real(json, why_cause_names[c],
			  sum.workers > 0 ? sum.cause_s[c] / sum.workers : NAN);
	json_close_object(json);
}

/* Writes the job metrics and why_s of all groups with this name; of all jobs if `name` is NULL. */
static void json_job_fields(struct json *json, const struct simulation *s, const char *name)
{
	for (const struct job_metric *m = results_job_metrics; m->name; m++) {
		size_t count;
		double *values = results_job_values(s, NULL, name, m, &count);

		json_distribution(json, m->name, values, count, false);
		free(values);
	}
	json_why(json, s, name);
}

/* Writes all groups with this name as one object. */
static void json_job_group(struct json *json, const struct simulation *s, const char *name)
{
	const struct jobs_report *report = jobs_report(s->jobs);
	struct jain rates = { 0 };
	uint64_t finished = 0;

	for (size_t i = 0; i < report->measured.finished; i++) {
		if (strcmp(name, report->records[i].group->name))
			continue;
		jain_add(&rates, report->records[i].rate);
		finished++;
	}
	json_open_object(json, name);
	json_u64(json, "count", jobs_measured(s->jobs, name));
	json_u64(json, "finished", finished);
	json_real(json, "jain", jain_index(&rates));
	json_job_fields(json, s, name);
	json_close_object(json);
}

/* Writes the lines as an array, and frees them. */
static void json_lines(struct json *json, const char *key, char **lines)
{
	json_open_array(json, key);
	for (size_t i = 0; lines[i]; i++)
		json_string(json, NULL, lines[i]);
	json_close_array(json);
	results_lines_free(lines);
}

static void json_jobs(struct json *json, const struct simulation *s,
		      const struct run_values *values)
{
	const struct job_group_conf *groups = scenario_jobs(s->scenario);
	const struct jobs_report *report = jobs_report(s->jobs);

	json_open_object(json, "jobs");
	json_values(json, values, "jobs", LEVEL_RUN);
	json_job_fields(json, s, NULL);
	json_distribution(json, "iteration_s", report->durations, report->duration_count, false);
	json_distribution(json, "cycle_s", report->cycles, report->cycle_count, false);
	json_lines(json, "ran_as", results_otherwise(s));
	json_open_object(json, "by_name");
	for (size_t g = 0; g < s->scenario->jobs.count; g++) {
		size_t first = 0;

		while (strcmp(groups[first].name, groups[g].name))
			first++;
		if (first < g) /* written with the first group of this name */
			continue;
		json_job_group(json, s, groups[g].name);
	}
	json_close_object(json);
	json_close_object(json);
}

static void json_flow_class(struct json *json, const struct flow_class *class)
{
	json_open_object(json, NULL);
	json_u64(json, "min_bytes", class->from);
	if (class->to != UINT64_MAX)
		json_u64(json, "max_bytes", class->to - 1);
	else
		json_null(json, "max_bytes");
	json_u64(json, "count", class->count);
	json_u64(json, "finished", class->finished);
#define ROW(member, name, usual, also, words, since, help)                                         \
	json_distribution(json, name, class->member, class->finished, P999);
	FLOW_METRICS(ROW)
#undef ROW
	json_distribution(json, "throughput_bps", class->throughput, class->finished, false);
	json_close_object(json);
}

/* Writes the distribution of a metric over the flows of all classes. `at`: offset of the metric's
 * values in struct flow_class; `count`: number of finished flows of all classes. */
static void json_all_flows(struct json *json, const char *key, const struct flow_class *classes,
			   size_t class_count, size_t at, size_t count)
{
	double *values = xcalloc(count, sizeof(*values)), *end = values;

	for (size_t c = 0; c < class_count; end += classes[c++].finished)
		if (classes[c].finished)
			memcpy(end, *(double *const *)((const char *)&classes[c] + at),
			       classes[c].finished * sizeof(*values));
	json_distribution(json, key, values, count, P999);
	free(values);
}

static void json_flows(struct json *json, const struct simulation *s,
		       const struct run_values *values)
{
	size_t class_count, finished = (size_t)values->flows.finished;
	const struct flow_class *classes = flows_classes(s->flows, &class_count);

	json_open_object(json, "flows");
	json_values(json, values, "flows", LEVEL_RUN);
#define ROW(member, name, usual, also, words, since, help)                                         \
	json_all_flows(json, name, classes, class_count, offsetof(struct flow_class, member),      \
		       finished);
	FLOW_METRICS(ROW)
#undef ROW
	json_open_array(json, "by_size");
	for (size_t c = 0; c < class_count; c++)
		json_flow_class(json, &classes[c]);
	json_close_array(json);
	fairness_flows(json, s);
	json_close_object(json);
}

static void json_checks(struct json *json, const struct simulation *s)
{
	const struct checks *checks = &s->checks;

	json_open_object(json, "checks");
	json_open_object(json, "exactly_once");
	if (s->fluid)
		json_null(json, "checked");
	else
		json_u64(json, "checked", checks->exact_checked);
	json_u64(json, "violations", checks->exact_violations);
	json_close_object(json);
	json_open_object(json, "conservation");
	json_u64(json, "violations", checks->conservation_violations);
	json_close_object(json);
	json_string(json, "first_violation", checks->first[0] ? checks->first : NULL);
	json_close_object(json);
}

static void json_object(struct json *json, const struct run_values *values, const char *of)
{
	json_open_object(json, of);
	json_values(json, values, of, LEVEL_RUN);
	json_close_object(json);
}

char *results_summary_json(const struct simulation *s)
{
	struct run_values values = results_values(s);
	struct json json;

	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "scenario", s->scenario->name);
	json_i64(&json, "seed", s->scenario->seed);
	json_string(&json, "fidelity", fidelity_names[s->scenario->fidelity]);
	json_string(&json, "end_reason", end_reason_names[s->end]);
	json_values(&json, &values, "", LEVEL_RUN);
	json_values(&json, &values, "", LEVEL_MACHINE);
	json_string(&json, "inside_machines", machine_inside_of(&s->scenario->machine));
	json_hex64(&json, "digest", simulation_digest(s));
	json_lines(&json, "warnings", results_warnings(s));
	json_object(&json, &values, "load");
	json_jobs(&json, s, &values);
	json_flows(&json, s, &values);
	json_open_object(&json, "network");
	json_values(&json, &values, "network", LEVEL_RUN);
	fairness_links(&json, s);
	json_close_object(&json);
	json_object(&json, &values, "aggregation");
	json_checks(&json, s);
	json_close_object(&json);
	return json_finish(&json);
}
