/* The summary that a run prints on the terminal. */
#include "run/results_parts.h"

#include "base/mem.h"
#include "base/units.h"
#include "data/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Prints a dash if the value is NaN. */
static void print_number(FILE *to, int width, double value)
{
	if (isnan(value))
		fprintf(to, " %*s", width, "-");
	else
		fprintf(to, " %*.3f", width, value);
}

/* Prints milliseconds, or seconds from 100 s on, or a dash for NaN, in `width` + 3 columns. */
static void print_time(FILE *to, int width, double seconds)
{
	if (isnan(seconds))
		print_number(to, width + 2, seconds);
	else if (seconds < 100)
		fprintf(to, " %*.3fms", width, seconds * 1e3);
	else
		fprintf(to, " %*.3fs", width + 1, seconds);
}

/* Prints in a column of `width`. The end of the metric's name decides the unit: GB/s for "_per_s",
 * else a time; a name without "_" has no unit. */
static void print_mean(FILE *to, int width, const char *metric, double value)
{
	const char *unit = strrchr(metric, '_'), *rate = strstr(metric, "_per_s");

	if (isnan(value) || !unit)
		print_number(to, width, value);
	else if (!rate || rate[strlen("_per_s")])
		print_time(to, width - 2, value);
	else
		fprintf(to, " %*.3fGB/s", width - 4, value * 1e-9);
}

static int column_width(const struct job_metric *m)
{
	return strlen(m->head) < 10 ? 10 : (int)strlen(m->head) + 1;
}

/* Explains busbw if some measured job has more than the links of a machine can carry. */
static void print_bus_bandwidth(const struct simulation *s, FILE *to)
{
	const struct jobs_report *report = jobs_report(s->jobs);
	uint32_t nics = machine_nics(&s->scenario->machine);
	double links = (double)topology_host_rate(&s->scenario->topology) / 8 * nics, max = 0;

	for (size_t i = 0; i < report->measured.finished; i++)
		max = fmax(max, report->records[i].busbw);
	if (max > links)
		fprintf(to,
			"busbw: 2 (n - 1) / n x gradient / time of n workers (GPUs where machines "
			"have several), as NCCL defines it: what a ring would send. With sums in "
			"switches a worker sends half of that, so it "
			"may "
			"exceed the %.3f GB/s of %s\n",
			links * 1e-9, nics > 1 ? "the links of a machine" : "a link");
}

/* Whether a row of jobs like these stands above: of the same group and scheme, from a trace. */
static bool is_in_row(const struct simulation *s, const struct job_group_conf *group)
{
	for_enabled_jobs(other, s->scenario) {
		if (other == group)
			break;
		if (job_groups_alike(other, group))
			return true;
	}
	return false;
}

/* What ranks spend their time on, where they exchange more than gradients. */
static void print_spent(const struct simulation *s, FILE *to)
{
	for_enabled_jobs(group, s->scenario) {
		char *text = jobs_spent(s->jobs, group);

		if (text)
			fprintf(to, "%s: %s of its ranks' time\n", group->name, text);
		free(text);
	}
}

static void print_jobs(const struct simulation *s, FILE *to)
{
	const struct job_metric *first = results_job_metrics;

	fprintf(to, "\n%-16s %-16s %8s %*s %10s", "jobs", "scheme", "finished", column_width(first),
		first->head, "JCT max");
	for (const struct job_metric *m = first + 1; m->name; m++)
		fprintf(to, " %*s", column_width(m), m->head);
	fputc('\n', to);
	for_enabled_jobs(group, s->scenario) {
		const char *reduces = scheme_names[job_group_reduces(group)];
		const char *gathers = scheme_names[job_group_gathers(group)];
		char scheme[JOB_SCHEME_SIZE];

		if (is_in_row(s, group))
			continue;
		fprintf(to, "%-16s %-16s", group->name,
			job_group_scheme(group, reduces, gathers, scheme));
		for (const struct job_metric *m = first; m->name; m++) {
			size_t count;
			double *values = results_job_values(s, group, NULL, m, &count);

			if (m == first)
				fprintf(to, " %8zu", count);
			print_mean(to, column_width(m), m->name, stats_mean(values, count));
			if (m == first) {
				stats_sort(values, count);
				print_mean(to, 10, m->name, stats_max(values, count));
			}
			free(values);
		}
		fputc('\n', to);
	}
	print_spent(s, to);
	print_bus_bandwidth(s, to);
}

/* Prints the lines, and frees them. */
static void print_lines(const char *before, char **lines, FILE *to)
{
	for (size_t i = 0; lines[i]; i++)
		fprintf(to, "%s%s\n", before, lines[i]);
	results_lines_free(lines);
}

/* Flows that end with the run, a line a group. */
static void print_endless(const struct simulation *s, FILE *to)
{
	for (size_t g = 0; g < s->scenario->flows.count; g++) {
		const struct flow_group_stats *stats = flows_group(s->flows, g);

		if (!stats->endless)
			continue;
		fprintf(to, "endless: %s, %" PRIu64 " flows, %.4g MB delivered",
			scenario_flows(s->scenario)[g].name, stats->endless,
			(double)stats->delivered / 1e6);
		if (stats->throughput.n > 0)
			fprintf(to, ", mean goodput %.4g Gbps, Jain %.3f",
				stats->throughput.sum / stats->throughput.n / 1e9,
				jain_index(&stats->throughput));
		fputc('\n', to);
	}
}

static void print_flows(const struct simulation *s, FILE *to)
{
	size_t class_count;
	const struct flow_class *classes = flows_classes(s->flows, &class_count);
	bool few = false;

	fprintf(to, "\n%-16s %8s %8s %12s %12s %10s %10s\n", "flows", "count", "finished",
		"FCT mean", "FCT p99", "slowdown", "p99");
	for (size_t c = 0; c < class_count; c++) {
		size_t n = classes[c].finished;
		char name[64];
		double *fct, *slowdown;

		if (!classes[c].count)
			continue;
		fct = results_sorted(classes[c].fct, n);
		few |= n && isnan(stats_percentile(fct, n, 0.99));
		slowdown = results_sorted(classes[c].slowdown, n);
		fprintf(to, "%-16s %8" PRIu64 " %8zu",
			unit_format_range(UNIT_SIZE, classes[c].from, classes[c].to, name,
					  sizeof(name)),
			classes[c].count, n);
		print_time(to, 10, stats_mean(fct, n));
		print_time(to, 10, stats_percentile(fct, n, 0.99));
		print_number(to, 10, stats_mean(slowdown, n));
		print_number(to, 10, stats_percentile(slowdown, n, 0.99));
		fputc('\n', to);
		free(fct);
		free(slowdown);
	}
	print_endless(s, to);
	if (few)
		fputs("p99 is left out for classes with less than 1000 finished flows: too few to "
		      "show one in a hundred\n",
		      to);
}

static void print_estimated(const struct simulation *s, FILE *to)
{
	const struct jobs_report *report = jobs_report(s->jobs);

	if (report->estimated)
		fprintf(to,
			"estimated: the end of the job, from the %.0f of %.0f iterations that were "
			"simulated; only the job's times are for all iterations\n",
			report->iterations_finished, report->iterations);
	else if (s->scenario->stop.estimate > 0)
		fprintf(to, "estimated: nothing, because there were too few iterations, or they "
			    "were not steady, or showed too few losses and timeouts to tell how "
			    "many are to come\n");
}

/* Says how much work the means printed above leave out. */
static void print_left_out(const struct simulation *s, FILE *to)
{
	const struct jobs_report *report = jobs_report(s->jobs);
	const struct jobs_counts *jobs = &report->measured;
	size_t open = jobs->count - jobs->finished - jobs->refused; /* includes failed jobs */
	size_t class_count;
	const struct flow_class *classes = flows_classes(s->flows, &class_count);
	uint64_t measured = 0;

	for (size_t c = 0; c < class_count; c++)
		measured += classes[c].count;
	if (report->arrived > jobs->count ||
	    flows_started(s->flows) - flows_endless(s->flows) > measured)
		fprintf(to, "measured: %zu of %zu jobs, %" PRIu64 " of %" PRIu64 " flows\n",
			jobs->count, report->arrived, measured,
			flows_started(s->flows) - flows_endless(s->flows));
	if (open || flows_measured_open(s->flows))
		fprintf(to, "unfinished, and left out of means: %zu jobs, %" PRIu64 " flows\n",
			open, flows_measured_open(s->flows));
}

static void print_load(const struct simulation *s, FILE *to)
{
	struct offered offered = scenario_offered(s->scenario);

	if (offered.flows > 0)
		fprintf(to, "offered load: flows %.4g of hosts x link rate\n", offered.flows);
	if (offered.jobs_ring > 0)
		fprintf(to, "offered load: jobs %.4g by ring, %.4g by their own schemes\n",
			offered.jobs_ring, offered.jobs_own);
}

/* Lists the keys of the topology that have no effect without packets. */
static void print_without_effect(const struct topology_conf *topology, FILE *to)
{
	if (topology->classes != CLASSES_SINGLE)
		fprintf(to, "without effect on streams: /topology/classes\n");
	if (topology_pause(topology, false).on)
		fprintf(to, "without effect on streams: /topology/switch/pause\n");
}

/* Without recovery, nobody retransmits what a full switch drops, and the job never ends. */
static void print_overflows(const struct simulation *s, FILE *to)
{
	double overflows = results_values(s).aggregation.overflows;

	if (overflows > 0)
		fprintf(to,
			"aggregation memory: %.0f"
			" contributions were dropped because it was full; give it more bytes, or "
			"let fewer jobs run at once\n",
			overflows);
}

void results_print_summary(const struct simulation *s, FILE *to)
{
	const struct network *net = &s->topo.net;

	fprintf(to, "%s: %s after %.6f s of simulated time\n", s->scenario->name,
		end_reason_names[s->end], seconds_of(s->sim.now));
	if (jobs_report(s->jobs)->count)
		print_jobs(s, to);
	print_estimated(s, to);
	print_lines("not as configured: ", results_otherwise(s), to);
	if (flows_started(s->flows))
		print_flows(s, to);
	print_left_out(s, to);
	print_load(s, to);
	if (s->scenario->machine.inside == MACHINE_LINKS)
		fprintf(to, "inside machines: links, so what GPUs exchange there is packets or "
			    "streams\n");
	print_lines("warning: ", results_warnings(s), to);
	if (s->fluid) {
		fprintf(to, "\n%s fidelity: %s\n", fidelity_names[s->scenario->fidelity],
			s->scenario->fidelity == FIDELITY_FLUID
				? "streams that share links, no packets"
				: "every job and flow as if it were alone");
		print_without_effect(&s->scenario->topology, to);
		fprintf(to, "digest %016" PRIx64 ", %.2f CPU s, %.0f MB\n", simulation_digest(s),
			s->cpu_s, (double)peak_rss_bytes() / 1e6);
		return;
	}
	fprintf(to, "\nnetwork: %" PRIu64 " packet-hops, ", net->hops);
	if (net->trim)
		fprintf(to, "%" PRIu64 " packets trimmed, ", net->trimmed);
	fprintf(to,
		"%" PRIu64 " drops, %" PRIu64 " losses; exactly-once: %" PRIu64
		" sums checked, %" PRIu64 " wrong\n",
		net->dropped, net->lost, s->checks.exact_checked, s->checks.exact_violations);
	print_overflows(s, to);
	fprintf(to, "digest %016" PRIx64 ", %.2f CPU s, %.1f M packet-hops per CPU s, %.0f MB\n",
		simulation_digest(s), s->cpu_s,
		s->cpu_s > 0 ? (double)net->hops / s->cpu_s / 1e6 : 0,
		(double)peak_rss_bytes() / 1e6);
}
