/* The verb report: one page of HTML with all about results, which needs no other files. */
#include "cli/cli.h"

#include "base/home.h"
#include "base/input.h"
#include "base/mem.h"
#include "base/plain.h"
#include "cli/answer.h"
#include "cli/html.h"
#include "cli/interrupt.h"
#include "data/folder.h"
#include "data/json_read.h"
#include "data/metrics.h"
#include "data/result_read.h"
#include "lab/breakdown.h"
#include "lab/hottest.h"
#include "lab/sweep/metric_words.h"
#include "lab/names.h"
#include "lab/sweep/groups.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_WARNINGS 5                     /* distinct warnings on a page */
#define FILE_MAX       20000000              /* bytes of a file on the page */
#define WARNING        "p class=\"warning\"" /* a reason not to take results as they are */
#define MARK           "<meta name=\"generator\" content=\"inasim report\">"

struct report {
	FILE *to;
	char *scratch;    /* folder for figures; removed at the end */
	unsigned figures; /* so far, on the page */
	char *question;   /* that the page answers; its title */
	char *error;
};

static const cJSON *member(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* --- figures --- */

/* A call of a plotting function, which prints the paths of its figures to `to`, one per line. */
struct drawing {
	struct plot_options options;
	char *printed, *error;
	size_t length;
	FILE *to;
};

static void begin_drawing(const struct report *r, struct drawing *d)
{
	*d = (struct drawing){
		.options = { .term = "svg", .out = r->scratch, .quiet = true, .sparing = true }
	};
	d->to = open_memstream(&d->printed, &d->length);
}

/* Reads the file whose path has `ending` in place of ".svg"; NULL if there is none. */
static char *beside(const char *path, const char *ending)
{
	char *other = xasprintf("%.*s%s", (int)(strlen(path) - strlen(".svg")), path, ending);
	char *text = input_read(other, FILE_MAX, NULL);

	free(other);
	return text;
}

static void put_figure(struct report *r, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	char *svg = beside(path, ".svg"), *data = beside(path, ".dat");
	char *label = xstrndup(name, strlen(name) - strlen(".svg"));
	char *file = xasprintf("%s.dat", label);

	if (svg && data) {
		fputs("<figure>", r->to);
		html_svg(r->to, svg, ++r->figures, label);
		fputs("<figcaption>", r->to);
		html_details(r->to, "The numbers of this figure", file, data);
		fputs("</figcaption></figure>\n", r->to);
	}
	free(file);
	free(label);
	free(data);
	free(svg);
}

/* Puts the figures of a plotting function on the page. `drawn` is what the function returned: it
 * failed if this is below 0. */
static void put_figures(struct report *r, struct drawing *d, int drawn)
{
	fclose(d->to);
	if (drawn < 0)
		html_element(r->to, WARNING, "Figures are missing: %s", d->error);
	for (char *p = d->printed, *end; *p; p = end + 1) {
		end = strchr(p + strlen(r->scratch), '\n'); /* folders may have line breaks */
		*end = '\0';
		put_figure(r, p);
	}
	free(d->printed);
	free(d->error);
}

static void put_run_figures(struct report *r, const char *dir)
{
	struct drawing d;

	begin_drawing(r, &d);
	put_figures(r, &d, plot_run(dir, &d.options, d.to, &d.error));
}

static void put_together(struct report *r, const struct runs *list)
{
	struct plot_labelled *runs = xcalloc(list->count, sizeof(*runs));
	struct drawing d;

	for (size_t i = 0; i < list->count; i++)
		runs[i].dir = list->items[i].dir;
	begin_drawing(r, &d);
	put_figures(r, &d, plot_together(runs, list->count, &d.options, d.to, &d.error));
	free(runs);
}

static void put_sweep_figures(struct report *r, const char *dir, bool breakdown)
{
	struct plot_sweep_options sweep = { .breakdown = breakdown };
	struct drawing d;

	begin_drawing(r, &d);
	put_figures(r, &d, plot_sweep(dir, &sweep, &d.options, d.to, &d.error));
}

/* --- tables --- */

/* Begins a cell with a value, in the unit of `metric`, and with its interval if it has one. */
static void put_value(FILE *to, const char *metric, const struct estimate *e)
{
	char value[QUANTITY], low[QUANTITY], high[QUANTITY];

	fprintf(to, "<td>%s", quantity(value, metric, e->value));
	if (!isnan(e->low) && !isnan(e->high))
		fprintf(to, "<small>%s to %s</small>", quantity(low, metric, e->low),
			quantity(high, metric, e->high));
}

/* Writes a metric in words and, in small letters, the name that options take. */
static void put_metric(FILE *to, const char *tag, const char *metric,
		       const struct sweep_table *table)
{
	char *words = metric_words(metric, table);

	fprintf(to, "<%s>", tag);
	html_text(to, words);
	fputs("<small>", to);
	html_text(to, metric);
	fprintf(to, "</small></%s>", tag);
	free(words);
}

/* Writes the cells of one run: its value and, except for the first run, the ratio to the first. */
static void put_compared(FILE *to, const struct compare_row *row)
{
	put_value(to, row->metric, &row->value);
	if (row->has_work)
		fprintf(to, "<small>%" PRIu64 " of %" PRIu64 "</small>", row->finished, row->count);
	fputs("</td>", to);
	if (row->basis == BASIS_NONE)
		return;
	put_value(to, "ratio", &row->ratio);
	fputs("</td>", to);
}

/* Writes the table of `compare`: a row per metric; per run, a column of values, one of ratios. */
static void put_comparison(struct report *r, const struct comparison *comparison)
{
	size_t sides = comparison->side_count;

	fputs("<div class=\"scroll\"><table><caption>Below a value: its 95 % interval if there are "
	      "three seeds or more, and how much of the work it covers.</caption>\n<tr><th>metric"
	      "</th>",
	      r->to);
	for (size_t s = 0; s < sides; s++) {
		html_element(r->to, "th", "%s",
			     sides == 1 ? "value" : comparison_side(comparison, s)->label);
		if (s)
			html_element(r->to, "th", "ratio to %s", comparison->runs.items->label);
	}
	for (size_t i = 0; i < comparison->count; i++) {
		if (i % sides == 0) {
			fputs("</tr>\n<tr>", r->to);
			put_metric(r->to, "td", comparison->rows[i].metric, NULL);
		}
		put_compared(r->to, &comparison->rows[i]);
	}
	fputs("</tr>\n</table></div>\n", r->to);
}

/* Writes what `jobs` ("jobs" or "jobs.by_name.NAME") spent their time on; nothing without --why. */
static void put_breakdown_of(struct report *r, const struct summary *summary, const char *jobs,
			     const char *name)
{
	double times[BREAKDOWN_CAUSES], all = 0;

	for (size_t c = 0; c < BREAKDOWN_CAUSES; c++) {
		char *path = xasprintf("%s.why_s.%s", jobs, breakdown_causes[c].name);

		times[c] = summary_value(summary, path);
		all += times[c];
		free(path);
	}
	if (!(all > 0))
		return;
	html_element(r->to, "h3", "What iterations%s%s are spent on", *name ? " of " : "", name);
	fputs("<div class=\"scroll\"><table><caption>Mean over workers and iterations.</caption>\n"
	      "<tr><th>cause</th><th>ms</th><th>share</th><th></th></tr>\n",
	      r->to);
	for (size_t c = 0; c < BREAKDOWN_CAUSES; c++) {
		if (!(times[c] > 0))
			continue;
		fputs("<tr>", r->to);
		html_element(r->to, "td", "%s", breakdown_causes[c].words);
		fprintf(r->to,
			"<td>%.4f</td><td>%.1f %%</td><td class=\"text\"><span class=\"bar\" "
			"style=\"width:%.1frem\"></span></td></tr>\n",
			times[c] * 1e3, 100 * times[c] / all, 8 * times[c] / all);
	}
	fputs("</table></div>\n", r->to);
}

/* Writes a table for each group of jobs: a mean over unlike groups would say little. */
static void put_breakdown(struct report *r, const struct summary *summary)
{
	static const char begin[] = METRIC_OF_JOBS, end[] = METRIC_MEAN_JCT;
	struct names metrics = { 0 }; /* "jobs.by_name.NAME.jct_s.mean" */

	summary_groups(summary, begin, end, &metrics);
	if (metrics.count < 2)
		put_breakdown_of(r, summary, "jobs", "");
	for (size_t i = 0; i < metrics.count && metrics.count > 1; i++) {
		char *jobs = xstrndup(metrics.items[i], strlen(metrics.items[i]) - strlen(end));

		put_breakdown_of(r, summary, jobs, jobs + strlen(begin));
		free(jobs);
	}
	free(metrics.items);
}

/* Writes the links of a run that were busiest and, with --why, who used them. */
static void put_hottest(struct report *r, const char *dir)
{
	struct hottest hottest = { 0 };

	if (!r->error && hottest_read(&hottest, dir, &r->error) && hottest.count) {
		html_element(r->to, "h3", "Hottest links");
		fprintf(r->to,
			"<div class=\"scroll\"><table><caption>Over the whole run. Of %zu links "
			"%zu "
			"are as hot as the first, within 1&nbsp;%%.</caption>\n<tr><th>link</th>"
			"<th>utilization</th><th>busy, ms</th><th>largest queue, KB</th><th>drops"
			"</th>%s</tr>\n",
			hottest.all, hottest.alike,
			hottest.links->user_count ? "<th>used by</th>" : "");
	}
	for (size_t i = 0; i < hottest.count && !r->error; i++) {
		const struct hottest_link *link = &hottest.links[i];
		char *users = hottest_users(link);

		fputs("<tr>", r->to);
		html_element(r->to, "td", "%s", link->name);
		fprintf(r->to, "<td>%.1f %%</td><td>%.3f</td><td>%.1f</td><td>%" PRIu64 "</td>",
			100 * link->utilization, link->busy_s * 1e3, (double)link->queue / 1e3,
			link->drops);
		if (hottest.links->user_count)
			html_element(r->to, "td class=\"text\"", "%s", users);
		fputs("</tr>\n", r->to);
		free(users);
	}
	if (hottest.count && !r->error)
		fputs("</table></div>\n", r->to);
	hottest_release(&hottest);
}

static void put_fact(struct report *r, const char *what, const char *text)
{
	fputs("<tr>", r->to);
	html_element(r->to, "td", "%s", what);
	html_element(r->to, "td class=\"text\"", "%s", text);
	fputs("</tr>\n", r->to);
}

/* The command line, quoted for a shell. The caller frees. */
static char *command_of(const cJSON *manifest)
{
	const cJSON *word;
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);

	cJSON_ArrayForEach(word, member(manifest, "command_line")) {
		if (word != member(manifest, "command_line")->child)
			putc(' ', to);
		print_quoted(to, cJSON_GetStringValue(word));
	}
	fclose(to);
	return text;
}

#define FAILURES_SHOWN 10

/* Writes the first rows of failures.csv, which most runs do not have. */
static void put_failed(struct report *r, const struct run *run)
{
	struct csv *csv = r->error ? NULL : result_table(run->dir, "failures.csv", &r->error);
	int what, failed, repaired, lost;
	size_t count = 0;
	char text[200];

	if (!csv)
		return;
	what = csv_need(csv, "what");
	failed = csv_need(csv, "failed_s");
	repaired = csv_need(csv, "repaired_s");
	lost = csv_need(csv, "lost_packets");
	while (csv_next(csv)) {
		if (count++ >= FAILURES_SHOWN)
			continue;
		snprintf(text, sizeof(text), "%s at %s s, %s%s%s, %" PRIu64 " packets lost",
			 csv_text(csv, what), csv_text(csv, failed),
			 csv_empty(csv, repaired) ? "for ever" : "until ",
			 csv_empty(csv, repaired) ? "" : csv_text(csv, repaired),
			 csv_empty(csv, repaired) ? "" : " s", csv_u64(csv, lost));
		put_fact(r, "failure", text);
	}
	if (count > FAILURES_SHOWN) {
		snprintf(text, sizeof(text), "%zu more in failures.csv", count - FAILURES_SHOWN);
		put_fact(r, "failures", text);
	}
	csv_close(csv, &r->error);
}

static void put_facts(struct report *r, const struct run *run)
{
	const cJSON *manifest = run->manifest, *summary = run->summary.root;
	char *command = command_of(manifest), *version, *seed;

	version =
		xasprintf("%s (%s)", json_text(manifest, "version"), json_text(manifest, "commit"));
	seed = xasprintf("%.0f", summary_value(&run->summary, "seed"));
	fputs("<div class=\"scroll\"><table>\n", r->to);
	put_fact(r, "scenario", json_text(summary, "scenario"));
	put_fact(r, "seed", seed);
	put_fact(r, "fidelity", json_text(summary, "fidelity"));
	put_fact(r, "inasim", version);
	put_fact(r, "command", command);
	put_fact(r, "when", json_text(manifest, "start"));
	put_fact(r, "end", json_text(manifest, "end_reason"));
	put_fact(r, "digest", json_text(manifest, "digest"));
	put_failed(r, run);
	fputs("</table></div>\n", r->to);
	free(seed);
	free(version);
	free(command);
}

/* --- does it mean what it says? --- */

static void put_lines(struct report *r, const cJSON *list, const char *before)
{
	const cJSON *line;

	cJSON_ArrayForEach(line, list)
		html_element(r->to, WARNING, "%s%s", before,
			     cJSON_IsString(line) ? line->valuestring : "");
}

static void put_unfinished(struct report *r, const char *what, double count, double finished)
{
	if (count > finished)
		html_element(r->to, WARNING,
			     "%.0f of %.0f measured %s did not finish; means leave them out.",
			     count - finished, count, what);
}

static void put_warnings(struct report *r, const struct run *run)
{
	const struct summary *numbers = &run->summary;
	const cJSON *manifest = run->manifest, *summary = numbers->root;
	const cJSON *checks = member(summary, "checks");
	const char *end = json_text(manifest, "end_reason"),
		   *commit = json_text(manifest, "commit");
	long before = ftell(r->to);

	put_lines(r, member(summary, "warnings"), "");
	put_lines(r, member(member(summary, "jobs"), "ran_as"), "Not as configured: ");
	put_unfinished(r, "jobs", summary_value(numbers, "jobs.count"),
		       summary_value(numbers, "jobs.finished"));
	put_unfinished(r, "flows", summary_value(numbers, "flows.count"),
		       summary_value(numbers, "flows.finished"));
	if (summary_value(numbers, "jobs.estimated") > 0)
		html_element(r->to, WARNING,
			     "The end of the job is an estimate, from the %.0f iterations that "
			     "were simulated.",
			     cJSON_GetNumberValue(member(manifest, "iterations_simulated")));
	if (!strcmp(end, "time_limit") || !strcmp(end, "deadlock") || !strcmp(end, "interrupted") ||
	    !strcmp(end, "violation"))
		html_element(r->to, WARNING, "The run ended by %s.", end);
	if (cJSON_IsString(member(checks, "first_violation")))
		html_element(r->to, WARNING, "A check was violated: %s",
			     json_text(checks, "first_violation"));
	if (strstr(commit, "dirty"))
		html_element(r->to, WARNING, "The program had uncommitted changes (%s).", commit);
	if (ftell(r->to) == before)
		html_element(r->to, "p",
			     "No warning: all measured work finished, every check held, and all "
			     "jobs ran as configured.");
}

/* --- a run --- */

static void put_again(struct report *r, const cJSON *manifest)
{
	char *scenario = cJSON_Print(member(manifest, "scenario"));

	html_element(r->to, "h3", "How to run it again");
	fputs("<p>Save the resolved scenario, in which every value is spelled out, and run it with "
	      "inasim ",
	      r->to);
	html_text(r->to, json_text(manifest, "version"));
	fputs(" (commit ", r->to);
	html_text(r->to, json_text(manifest, "commit"));
	fputs("): the digest will be <code>", r->to);
	html_text(r->to, json_text(manifest, "digest"));
	fputs("</code>. If it names files, they must be at the paths given there.</p>\n<pre>inasim "
	      "run scenario.json --out again</pre>\n",
	      r->to);
	html_details(r->to, "The resolved scenario", "scenario.json", scenario ? scenario : "");
	free(scenario);
}

/* Writes the answer to the page's question, then what it rests on. */
static void put_answer(struct report *r, const struct comparison *comparison)
{
	const struct runs *runs = &comparison->runs;

	html_element(r->to, "h2", "The answer");
	answer_runs(r->to, comparison);
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->count > 1)
			html_element(r->to, "h3", "Does %s mean what it says?",
				     runs->items[i].label);
		else
			html_element(r->to, "h3", "Does it mean what it says?");
		put_warnings(r, &runs->items[i]);
	}
	if (runs->count == 1) {
		put_breakdown(r, &runs->items->summary);
		put_hottest(r, runs->items->dir);
	}
	html_element(r->to, "h2", "Figures");
	if (runs->count == 1)
		put_run_figures(r, runs->items->dir);
	else
		put_together(r, runs);
	html_element(r->to, "h2", "Results");
	put_comparison(r, comparison);
}

static bool put_runs(struct report *r, const char *const *dirs, size_t count)
{
	/* without a tolerance, all that can be compared is "alike" */
	const struct compare_options options = { .margin = NAN,
						 .tolerance = NAN,
						 .by_folder = true };
	struct comparison comparison;

	if (compare_runs_read(dirs, count, &options, &comparison, &r->error) != COMPARE_ALIKE)
		return false;
	if (!r->question)
		r->question = xasprintf("%s: how long does its work take, and why?",
					json_text(comparison.runs.items->summary.root, "scenario"));
	put_answer(r, &comparison);
	for (size_t i = 0; i < count; i++) {
		const struct run *run = &comparison.runs.items[i];

		if (count > 1) {
			html_element(r->to, "h2", "%s alone", run->label);
			put_breakdown(r, &run->summary);
			put_hottest(r, run->dir);
			put_run_figures(r, run->dir);
		}
		html_element(r->to, count > 1 ? "h3" : "h2", "What was run");
		put_facts(r, run);
		put_again(r, run->manifest);
	}
	comparison_release(&comparison);
	return !r->error;
}

/* --- a sweep --- */

/* The usual metrics that the sweep has. The caller frees the items. */
static struct names sweep_metrics(const struct sweep_table *table)
{
	struct names usual = { 0 }, names = { 0 };
	bool alike = sweep_table_jobs_alike(table, &names); /* if not, adds their mean JCTs */

	summary_usual(&usual, alike);
	for (size_t i = 0; i < usual.count; i++)
		if (sweep_table_metric(table, usual.items[i]) != SIZE_MAX)
			names_add(&names, usual.items[i]);
	free(usual.items);
	return names;
}

static void put_group(struct report *r, const struct sweep_table *table, const struct group *group,
		      const struct names *metrics)
{
	fputs("<tr>", r->to);
	for (size_t a = 0; a < table->axis_count; a++)
		html_element(r->to, "td", "%s", table->axes[a].values[group->levels[a]]);
	fprintf(r->to, "<td>%zu of %zu</td>", group->count - group->censored, group->count);
	for (size_t m = 0; m < metrics->count; m++) {
		struct estimate at =
			group_mean(group, sweep_table_metric(table, metrics->items[m]));

		put_value(r->to, metrics->items[m], &at);
		fputs("</td>", r->to);
	}
	fputs("</tr>\n", r->to);
}

static void put_groups(struct report *r, const struct sweep_table *table,
		       const struct groups *groups)
{
	struct names metrics = sweep_metrics(table);

	fputs("<div class=\"scroll\"><table><caption>Means over replications, with their 95 % "
	      "t-intervals below.</caption>\n<tr>",
	      r->to);
	for (size_t a = 0; a < table->axis_count; a++)
		html_element(r->to, "th", "%s", table->axes[a].name);
	fputs("<th>points done</th>", r->to);
	for (size_t m = 0; m < metrics.count; m++)
		put_metric(r->to, "th", metrics.items[m], table);
	fputs("</tr>\n", r->to);
	for (size_t i = 0; i < groups->count; i++)
		put_group(r, table, &groups->items[i], &metrics);
	fputs("</table></div>\n", r->to);
	free(metrics.items);
}

static void put_sweep_warnings(struct report *r, const struct sweep_table *table)
{
	size_t count[POINT_STATUSES] = { 0 }, warnings;
	struct sweep_warning list[SWEEP_WARNINGS];

	for (size_t i = 0; i < table->point_count; i++)
		count[table->points[i].status]++;
	if (count[POINT_DONE] + count[POINT_SUBSTITUTED] == table->point_count)
		html_element(r->to, "p", "All points are done.");
	for (int s = 0; s < POINT_STATUSES; s++)
		if (s != POINT_DONE && count[s])
			html_element(r->to, WARNING, "%zu of %zu points: %s.", count[s],
				     table->point_count, point_status_names[s]);
	warnings = sweep_table_warnings(table, list, SWEEP_WARNINGS);
	for (size_t i = 0; i < warnings && i < SWEEP_WARNINGS; i++)
		html_element(r->to, WARNING, "%zu of %zu points: %s", list[i].points,
			     table->point_count, list[i].text);
	if (warnings > SWEEP_WARNINGS)
		html_element(r->to, WARNING, "%zu more are in the column warnings of sweep.csv.",
			     warnings - SWEEP_WARNINGS);
}

static void put_sweep_again(struct report *r, const char *dir)
{
	char *path = folder_join(dir, "plan.json"), *plan = input_read(path, FILE_MAX, NULL);

	html_element(r->to, "h3", "How to run it again");
	fputs("<p>The plan gives the path of its base scenario relative to its own "
	      "folder.</p>\n<pre>scripts/sweep plan.json</pre>\n",
	      r->to);
	if (plan)
		html_details(r->to, "The plan", "plan.json", plan);
	free(plan);
	free(path);
}

/* "NAME: what do LOAD and SCHEME change?" The caller frees. */
static char *ask_of_sweep(const struct sweep_table *table)
{
	const char **axes;
	char *text;
	size_t length;
	FILE *to;

	if (!table->axis_count)
		return xasprintf("%s: how long does its work take?", table->name);
	axes = xcalloc(table->axis_count, sizeof(*axes));
	to = open_memstream(&text, &length);
	for (size_t a = 0; a < table->axis_count; a++)
		axes[a] = table->axes[a].name;
	fprintf(to, "%s: what %s ", table->name, table->axis_count > 1 ? "do" : "does");
	names_list(to, axes, table->axis_count, table->axis_count);
	fputs(" change?", to);
	fclose(to);
	free(axes);
	return text;
}

static bool put_sweep(struct report *r, const char *dir)
{
	struct sweep_table *table = sweep_table_read(dir, &r->error);
	struct names unlike = { 0 };
	struct groups groups;

	if (!table)
		return false;
	if (!r->question)
		r->question = ask_of_sweep(table);
	groups = groups_of(table);
	html_element(r->to, "h2", "The answer");
	answer_sweep(r->to, table, &groups);
	html_element(r->to, "h3", "Does it mean what it says?");
	put_sweep_warnings(r, table);
	html_element(r->to, "h2", "Figures");
	if (sweep_table_metric(table, "jobs.why_s.compute") != SIZE_MAX &&
	    sweep_table_jobs_alike(table, &unlike))
		put_sweep_figures(r, dir, true);
	free(unlike.items);
	put_sweep_figures(r, dir, false);
	html_element(r->to, "h2", "Results");
	put_groups(r, table, &groups);
	html_element(r->to, "h2", "What was run");
	fputs("<div class=\"scroll\"><table>\n", r->to);
	put_fact(r, "sweep", table->name);
	put_fact(r, "points",
		 conf_at(table->doc,
			 "%zu, with all replications (%s%" PRIu64 " of each combination)",
			 table->point_count, groups_spared(table, &groups) ? "at most " : "",
			 table->replications));
	fputs("</table></div>\n", r->to);
	put_sweep_again(r, dir);
	groups_release(&groups);
	sweep_table_free(table);
	return true;
}

/* --- the page --- */

static void put_citation(struct report *r)
{
	char *path = home_path("CITATION.cff"), *text = input_read(path, FILE_MAX, NULL);

	html_element(r->to, "h2", "How to cite");
	if (text)
		html_details(r->to, "CITATION.cff; add version and commit of the results",
			     "CITATION.cff", text);
	free(text);
	free(path);
}

/* "Which is fastest: A, B or C? And why?" or, unless `compared`, "What are the results of A, B and
 * C?" The caller frees. */
static char *ask_of_several(const char *const *dirs, size_t count, bool compared)
{
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);

	fputs(compared ? "Which is fastest: " : "What are the results of ", to);
	for (size_t i = 0; i < count; i++) {
		char *label = names_directory(dirs, count, i);

		if (i)
			fputs(i + 1 < count ? ", " : compared ? " or " : " and ", to);
		fputs(label, to);
		free(label);
	}
	fputs(compared ? "? And why?" : "?", to);
	fclose(to);
	return text;
}

/* Puts runs side by side. If a sweep is among them, puts each alone: only `compare --by` compares
 * sweeps. */
static bool put_all(struct report *r, const char *const *dirs, size_t count)
{
	bool sweeps = false, good = true;

	for (size_t i = 0; i < count; i++)
		sweeps |= sweep_table_exists(dirs[i]);
	if (count > 1)
		r->question = ask_of_several(dirs, count, !sweeps);
	if (!sweeps)
		return put_runs(r, dirs, count);
	for (size_t i = 0; i < count && good && !interrupted; i++) {
		if (count > 1)
			html_element(r->to, "h2", "%s", dirs[i]);
		good = sweep_table_exists(dirs[i]) ? put_sweep(r, dirs[i])
						   : put_runs(r, &dirs[i], 1);
	}
	return good;
}

/* Makes the page below the question. NULL if interrupted, or with r->error. */
static char *make_body(struct report *r, const struct cli *cli)
{
	char *body;
	size_t length;
	bool good;

	r->to = open_memstream(&body, &length);
	good = put_all(r, (const char *const *)cli->argv, (size_t)cli->argc);
	put_citation(r);
	fclose(r->to);
	if (good && !interrupted)
		return body;
	free(body);
	return NULL;
}

/* Fills in @TITLE@ and @BODY@ of the template. NULL if interrupted, or with r->error. */
static char *make_page(struct report *r, const struct cli *cli)
{
	char *path = home_path("scripts/report/report.html"), *page = NULL;
	char *template = input_read(path, FILE_MAX, NULL), *text = NULL;
	char *title = template ? strstr(template, "@TITLE@") : NULL;
	char *body = title ? strstr(title, "@BODY@") : NULL;
	size_t length;

	if (!body)
		r->error = xasprintf("cannot read %s", path);
	else if ((text = make_body(r, cli))) {
		*title = *body = '\0';
		r->to = open_memstream(&page, &length);
		fputs(template, r->to);
		html_text(r->to, r->question);
		fputs(title + strlen("@TITLE@"), r->to);
		html_element(r->to, "h1", "%s", r->question);
		fputs(text, r->to);
		fputs(body + strlen("@BODY@"), r->to);
		fclose(r->to);
	}
	free(text);
	free(template);
	free(path);
	return page;
}

/* Only a report of inasim may be replaced. False after a complaint. */
static bool may_write(const char *path)
{
	char head[1024] = ""; /* every report has the mark here */
	FILE *file = input_open(path, UINT64_MAX);
	bool may = !folder_exists(path);

	if (file) {
		head[fread(head, 1, sizeof(head) - 1, file)] = '\0';
		fclose(file);
		may = strstr(head, MARK);
	}
	if (!may)
		complain("%s exists and is not a report of inasim; choose another path with --out",
			 path);
	return may;
}

static int write_report(const struct cli *cli, const char *path)
{
	struct report r = { .scratch = xasprintf("%s.figures-XXXXXX", path) };
	char *page = NULL;
	int code = EXIT_IO;

	if (!folder_make_parents(path) || !mkdtemp(r.scratch)) {
		complain("%s cannot be written: %s", path, strerror(errno));
	} else if (!(page = make_page(&r, cli)) && interrupted) {
		complain("interrupted: %s was not written", path);
		code = EXIT_INTERRUPTED;
	} else if (!page) {
		complain("%s", r.error ? r.error : "the report cannot be made");
	} else if (!folder_replace(path, page, strlen(page))) {
		complain("%s cannot be written: %s", path, strerror(errno));
	} else {
		plain_print(stdout, "%s\n", path);
		code = EXIT_DONE;
	}
	folder_remove(r.scratch);
	free(r.scratch);
	free(r.question);
	free(r.error);
	free(page);
	return code;
}

int verb_report(const struct cli *cli)
{
	char *path;
	int code = EXIT_IO;

	if (!cli->out && cli->argc > 1) {
		complain("several directories need --out FILE: the page belongs to none of them "
			 "alone");
		return EXIT_USAGE;
	}
	if (!cli->out && !folder_is_folder(cli->argv[0])) {
		complain("there is no directory %s", cli->argv[0]);
		return EXIT_IO;
	}
	path = cli->out ? xstrdup(cli->out) : folder_join(cli->argv[0], "report.html");
	catch_interrupts();
	if (origin_check(cli->argv, cli->argc, false) && may_write(path))
		code = write_report(cli, path);
	free(path);
	return code;
}
