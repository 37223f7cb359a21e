/* The verb report: one page of HTML with all about results, which fetches nothing. */
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
#include "lab/breakdown.h"
#include "lab/figures/metric_words.h"
#include "lab/names.h"
#include "lab/sweep/groups.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_WARNINGS 5                     /* different ones on a page */
#define FILE_MAX       20000000              /* bytes of a picture, or of its table */
#define WARNING        "p class=\"warning\"" /* what speaks against taking results as they are */
#define MARK           "<meta name=\"generator\" content=\"inasim report\">"

struct report {
	FILE *to;
	char *scratch;    /* folder for figures; removed at the end */
	unsigned figures; /* so far, on the page */
	char *error;
};

/* --- JSON --- */

static const cJSON *member(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *object, const char *name)
{
	const char *text = cJSON_GetStringValue(member(object, name));

	return text ? text : "unknown";
}

static double number_of(const cJSON *object, const char *name)
{
	const cJSON *item = member(object, name);

	return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* --- figures --- */

/* What plotting says: paths, one a line, and how it ended. */
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

/* Reads the file whose name has another ending; NULL when there is none. */
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

static void put_figures(struct report *r, struct drawing *d, int drawn)
{
	char *rest = NULL;

	fclose(d->to);
	if (drawn < 0)
		html_element(r->to, WARNING, "Figures are missing: %s", d->error);
	for (char *p = strtok_r(d->printed, "\n", &rest); p; p = strtok_r(NULL, "\n", &rest))
		put_figure(r, p);
	free(d->printed);
	free(d->error);
}

static void put_run_figures(struct report *r, const char *dir)
{
	struct drawing d;

	begin_drawing(r, &d);
	put_figures(r, &d, plot_run(dir, &d.options, d.to, &d.error));
}

static void put_together(struct report *r, const struct cli *cli)
{
	struct plot_labelled *runs = xcalloc((size_t)cli->argc, sizeof(*runs));
	struct drawing d;

	for (int i = 0; i < cli->argc; i++)
		runs[i].dir = cli->argv[i];
	begin_drawing(r, &d);
	put_figures(r, &d, plot_together(runs, (size_t)cli->argc, &d.options, d.to, &d.error));
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

/* A value and its interval, where it has one, as `metric` has its unit. */
static void put_value(FILE *to, const char *metric, const struct estimate *e)
{
	char value[QUANTITY], low[QUANTITY], high[QUANTITY];

	fprintf(to, "<td>%s", quantity(value, metric, e->value));
	if (!isnan(e->low) && !isnan(e->high))
		fprintf(to, "<small>%s to %s</small>", quantity(low, metric, e->low),
			quantity(high, metric, e->high));
}

/* A metric in words, and small below them as files and options have it. */
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

/* The cells of one run: its value, and the ratio to the first run. */
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

/* The table of compare: a row for each metric; for each run a column, and one for its ratio. */
static void put_comparison(struct report *r, const struct comparison *comparison,
			   char *const *labels, size_t count)
{
	fputs("<div class=\"scroll\"><table><caption>Below a value: its interval of 95 %, where it "
	      "comes from samples. Finished of all, where it counts work.</caption>\n<tr>"
	      "<th>metric</th>",
	      r->to);
	for (size_t i = 0; i < count; i++) {
		html_element(r->to, "th", "%s", count == 1 ? "value" : labels[i]);
		if (i)
			html_element(r->to, "th", "ratio to %s", labels[0]);
	}
	for (size_t i = 0; i < comparison->count; i++) {
		if (i % count == 0) {
			fputs("</tr>\n<tr>", r->to);
			put_metric(r->to, "td", comparison->rows[i].metric, NULL);
		}
		put_compared(r->to, &comparison->rows[i]);
	}
	fputs("</tr>\n</table></div>\n", r->to);
}

/* Where the time of these jobs went. Writes nothing for a run without --why. */
static void put_breakdown_of(struct report *r, const cJSON *jobs, const char *name)
{
	const cJSON *cause;
	double all = 0;

	cJSON_ArrayForEach(cause, member(jobs, "why_s"))
		all += cJSON_IsNumber(cause) ? cause->valuedouble : 0;
	if (all <= 0)
		return;
	html_element(r->to, "h3", "What iterations%s%s are spent on", name ? " of " : "",
		     name ? name : "");
	fputs("<div class=\"scroll\"><table><caption>Mean over workers and iterations.</caption>\n"
	      "<tr><th>cause</th><th>ms</th><th>share</th><th></th></tr>\n",
	      r->to);
	for (size_t c = 0; c < BREAKDOWN_CAUSES; c++) {
		double time = number_of(member(jobs, "why_s"), breakdown_causes[c].name);

		if (!(time > 0))
			continue;
		fputs("<tr>", r->to);
		html_element(r->to, "td", "%s", breakdown_causes[c].words);
		fprintf(r->to,
			"<td>%.4f</td><td>%.1f %%</td><td class=\"text\"><span class=\"bar\" "
			"style=\"width:%.1frem\"></span></td></tr>\n",
			time * 1e3, 100 * time / all, 8 * time / all);
	}
	fputs("</table></div>\n", r->to);
}

/* A table for each group of jobs: no mean over jobs that differ. */
static void put_breakdown(struct report *r, const cJSON *summary)
{
	const cJSON *jobs = member(summary, "jobs"), *groups = member(jobs, "by_name"), *group;

	if (cJSON_GetArraySize(groups) < 2)
		put_breakdown_of(r, jobs, NULL);
	else
		cJSON_ArrayForEach(group, groups)
			put_breakdown_of(r, group, group->string);
}

static void put_fact(struct report *r, const char *what, const char *text)
{
	fputs("<tr>", r->to);
	html_element(r->to, "td", "%s", what);
	html_element(r->to, "td class=\"text\"", "%s", text);
	fputs("</tr>\n", r->to);
}

/* The command line, as one would type it in a shell. */
static char *command_of(const cJSON *manifest)
{
	const cJSON *word;
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);

	cJSON_ArrayForEach(word, member(manifest, "command_line")) {
		const char *p = cJSON_GetStringValue(word);

		if (word->prev && word != member(manifest, "command_line")->child)
			putc(' ', to);
		if (p && *p &&
		    !p[strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789-_./=:,")]) {
			fputs(p, to);
			continue;
		}
		putc('\'', to);
		for (; p && *p; p++)
			fputs(*p == '\'' ? "'\\''" : (char[]){ *p, '\0' }, to);
		putc('\'', to);
	}
	fclose(to);
	return text;
}

static void put_facts(struct report *r, const cJSON *manifest, const cJSON *summary)
{
	char *command = command_of(manifest), *version, *seed;

	version = xasprintf("%s (%s)", text_of(manifest, "version"), text_of(manifest, "commit"));
	seed = xasprintf("%.0f", number_of(manifest, "seed"));
	fputs("<div class=\"scroll\"><table>\n", r->to);
	put_fact(r, "scenario", text_of(summary, "scenario"));
	put_fact(r, "seed", seed);
	put_fact(r, "fidelity", text_of(summary, "fidelity"));
	put_fact(r, "inasim", version);
	put_fact(r, "command", command);
	put_fact(r, "when", text_of(manifest, "start"));
	put_fact(r, "end", text_of(manifest, "end_reason"));
	put_fact(r, "digest", text_of(manifest, "digest"));
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

static void put_unfinished(struct report *r, const cJSON *summary, const char *what)
{
	const cJSON *object = member(summary, what);
	double left = number_of(object, "count") - number_of(object, "finished");

	if (left > 0)
		html_element(
			r->to, WARNING,
			"%.0f of %.0f measured %s did not finish: means are of those that did.",
			left, number_of(object, "count"), what);
}

static void put_warnings(struct report *r, const cJSON *manifest, const cJSON *summary)
{
	const cJSON *checks = member(summary, "checks");
	const char *end = text_of(manifest, "end_reason"), *commit = text_of(manifest, "commit");
	long before = ftell(r->to);

	put_lines(r, member(summary, "warnings"), "");
	put_lines(r, member(member(summary, "jobs"), "ran_as"), "Not as given: ");
	put_unfinished(r, summary, "jobs");
	put_unfinished(r, summary, "flows");
	if (!strcmp(end, "time_limit") || !strcmp(end, "deadlock") || !strcmp(end, "interrupted") ||
	    !strcmp(end, "violation"))
		html_element(r->to, WARNING, "The run ended by %s.", end);
	if (cJSON_IsString(member(checks, "first_violation")))
		html_element(r->to, WARNING, "A check was violated: %s",
			     text_of(checks, "first_violation"));
	if (strstr(commit, "dirty"))
		html_element(r->to, WARNING, "The program had changes that no commit has (%s).",
			     commit);
	if (ftell(r->to) == before)
		html_element(r->to, "p",
			     "No warning: all work that was measured finished, every check held, "
			     "and jobs ran as they were given.");
}

/* --- a run --- */

static void put_again(struct report *r, const cJSON *manifest)
{
	char *scenario = cJSON_Print(member(manifest, "scenario"));

	html_element(r->to, "h3", "How to run it again");
	fputs("<p>Save the resolved scenario, in which every value is spelled out, and run it with "
	      "inasim ",
	      r->to);
	html_text(r->to, text_of(manifest, "version"));
	fputs(" (commit ", r->to);
	html_text(r->to, text_of(manifest, "commit"));
	fputs("): the digest will be <code>", r->to);
	html_text(r->to, text_of(manifest, "digest"));
	fputs("</code>. Files that it names have to lie where it says.</p>\n"
	      "<pre>inasim run scenario.json --out again</pre>\n",
	      r->to);
	html_details(r->to, "The resolved scenario", "scenario.json", scenario ? scenario : "");
	free(scenario);
}

/* Runs that are read. */
struct runs_read {
	cJSON **manifests, **summaries;
	char **labels;
	size_t count;
};

static bool read_runs(struct report *r, const struct cli *cli, struct runs_read *runs)
{
	const char *const *dirs = (const char *const *)cli->argv;
	size_t count = (size_t)cli->argc;

	*runs = (struct runs_read){ .manifests = xcalloc(count, sizeof(*runs->manifests)),
				    .summaries = xcalloc(count, sizeof(*runs->summaries)),
				    .labels = xcalloc(count, sizeof(*runs->labels)),
				    .count = count };
	for (size_t i = 0; i < count; i++) {
		runs->labels[i] = names_directory(dirs, count, i);
		runs->manifests[i] = json_read(dirs[i], "manifest.json", &r->error);
		if (runs->manifests[i])
			runs->summaries[i] = json_read(dirs[i], "summary.json", &r->error);
		if (!runs->summaries[i])
			return false;
	}
	return true;
}

static void release_runs(struct runs_read *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		free(runs->labels[i]);
		cJSON_Delete(runs->manifests[i]);
		cJSON_Delete(runs->summaries[i]);
	}
	free(runs->labels);
	free(runs->manifests);
	free(runs->summaries);
}

/* The first question of the page and its answer, then what it rests on. False with r->error. */
static bool put_answer(struct report *r, const struct cli *cli, const struct runs_read *runs)
{
	const struct compare_options options = { .tolerance = NAN };
	struct comparison comparison;

	if (compare_runs_read((const char *const *)cli->argv, runs->count, &options, &comparison,
			      &r->error) != COMPARE_ALIKE)
		return false;
	html_element(r->to, "h2", "The answer");
	answer_runs(r->to, &comparison, (const cJSON *const *)runs->summaries, runs->labels,
		    runs->count);
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->count > 1)
			html_element(r->to, "h3", "Does %s mean what it says?", runs->labels[i]);
		else
			html_element(r->to, "h3", "Does it mean what it says?");
		put_warnings(r, runs->manifests[i], runs->summaries[i]);
	}
	if (runs->count == 1)
		put_breakdown(r, runs->summaries[0]);
	html_element(r->to, "h2", "Figures");
	if (runs->count == 1)
		put_run_figures(r, cli->argv[0]);
	else
		put_together(r, cli);
	html_element(r->to, "h2", "Results");
	put_comparison(r, &comparison, runs->labels, runs->count);
	comparison_release(&comparison);
	return true;
}

static bool put_runs(struct report *r, const struct cli *cli)
{
	struct runs_read runs;
	bool good = read_runs(r, cli, &runs) && put_answer(r, cli, &runs);

	for (size_t i = 0; good && i < runs.count; i++) {
		if (runs.count > 1) {
			html_element(r->to, "h2", "%s alone", runs.labels[i]);
			put_breakdown(r, runs.summaries[i]);
			put_run_figures(r, cli->argv[i]);
		}
		html_element(r->to, runs.count > 1 ? "h3" : "h2", "What was run");
		put_facts(r, runs.manifests[i], runs.summaries[i]);
		put_again(r, runs.manifests[i]);
	}
	release_runs(&runs);
	return good;
}

/* --- a sweep --- */

/* The metrics of its table: what is shown unasked, and has a value. The caller frees the items. */
static struct names sweep_metrics(const struct sweep_table *table)
{
	struct names names = { 0 };
	bool alike = sweep_table_jobs_alike(table, &names);

	for (const struct metric *m = metric_table; m->name; m++)
		for (size_t i = 0; i < 2 && m->usual[i]; i++)
			if ((alike || (m->level != LEVEL_JOB && m->level != LEVEL_ITERATION)) &&
			    sweep_table_metric(table, m->usual[i]) != SIZE_MAX)
				names_add(&names, m->usual[i]);
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
		size_t metric = sweep_table_metric(table, metrics->items[m]);
		double *values = group_values(group, metric);
		struct estimate at = infer_mean(values, group->count, INFERENCE_LEVEL);

		free(values);
		put_value(r->to, metrics->items[m], &at);
		fputs("</td>", r->to);
	}
	fputs("</tr>\n", r->to);
}

static void put_groups(struct report *r, const struct sweep_table *table,
		       const struct groups *groups)
{
	struct names metrics = sweep_metrics(table);

	fputs("<div class=\"scroll\"><table><caption>Means over replications, below them "
	      "t-intervals of 95 %.</caption>\n<tr>",
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
	if (count[POINT_DONE] == table->point_count)
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
	fputs("<p>The plan names its base scenario by a path seen from its own folder.</p>\n"
	      "<pre>scripts/sweep plan.json</pre>\n",
	      r->to);
	if (plan)
		html_details(r->to, "The plan", "plan.json", plan);
	free(plan);
	free(path);
}

static bool put_sweep(struct report *r, const char *dir)
{
	struct sweep_table *table = sweep_table_read(dir, &r->error);
	struct names unlike = { 0 };
	struct groups groups;

	if (!table)
		return false;
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
		 conf_at(table->doc, "%zu, of %" PRIu64 " replications", table->point_count,
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
		html_details(r->to, "CITATION.cff, with the version and commit from above",
			     "CITATION.cff", text);
	free(text);
	free(path);
}

/* "NAME: what do LOAD and SCHEME change?" */
static void ask_of_sweep(FILE *to, const cJSON *sweep)
{
	const cJSON *axis;

	fprintf(to, "%s: what do ", text_of(sweep, "name"));
	cJSON_ArrayForEach(axis, member(sweep, "axes"))
		fprintf(to, "%s%s",
			!axis->prev || axis == member(sweep, "axes")->child ? ""
			: axis->next                                        ? ", "
									    : " and ",
			text_of(axis, "name"));
	fputs(" change?", to);
}

static void ask_of_several(FILE *to, const char *const *dirs, size_t count)
{
	fputs("Which is fastest: ", to);
	for (size_t i = 0; i < count; i++) {
		char *label = names_directory(dirs, count, i);

		fprintf(to, "%s%s", !i ? "" : i + 1 == count ? " or " : ", ", label);
		free(label);
	}
	fputs("? And why?", to);
}

/* What the page is about, as a question: of the scenario, of axes, or of folders. The caller frees.
 */
static char *question(const struct cli *cli, bool sweeps)
{
	char *text, *error = NULL;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	cJSON *root = cli->argc > 1 ? NULL
				    : json_read(cli->argv[0],
						sweeps ? "sweep.json" : "summary.json", &error);

	if (root && sweeps)
		ask_of_sweep(to, root);
	else if (root)
		fprintf(to, "%s: how long does its work take, and why?", text_of(root, "scenario"));
	else
		ask_of_several(to, (const char *const *)cli->argv, (size_t)cli->argc);
	fclose(to);
	cJSON_Delete(root);
	free(error);
	return text;
}

/* Sweeps one by one: `compare --by` and a second sweep is another question. */
static bool put_sweeps(struct report *r, const struct cli *cli)
{
	bool good = true;

	for (int i = 0; i < cli->argc && good && !interrupted; i++) {
		struct cli one = *cli;

		if (cli->argc > 1)
			html_element(r->to, "h2", "%s", cli->argv[i]);
		one.argc = 1;
		one.argv = cli->argv + i;
		good = sweep_table_exists(cli->argv[i]) ? put_sweep(r, cli->argv[i])
							: put_runs(r, &one);
	}
	return good;
}

static bool put_all(struct report *r, const struct cli *cli, bool sweeps)
{
	bool good = sweeps ? put_sweeps(r, cli) : put_runs(r, cli);

	put_citation(r);
	return good && !interrupted;
}

/* Fills the template in: its only @WORDS@. NULL with r->error. */
static char *make_page(struct report *r, const struct cli *cli)
{
	char *path = home_path("scripts/report/report.html"), *page = NULL;
	char *template = input_read(path, FILE_MAX, NULL);
	char *title = template ? strstr(template, "@TITLE@") : NULL;
	char *body = title ? strstr(title, "@BODY@") : NULL;
	bool good = body, sweeps = false;
	char *asked;
	size_t length;

	if (good) {
		*title = *body = '\0';
		r->to = open_memstream(&page, &length);
		fputs(template, r->to);
		for (int i = 0; i < cli->argc; i++)
			sweeps |= sweep_table_exists(cli->argv[i]);
		asked = question(cli, sweeps);
		html_text(r->to, asked);
		fputs(title + strlen("@TITLE@"), r->to);
		html_element(r->to, "h1", "%s", asked);
		free(asked);
		good = put_all(r, cli, sweeps);
		fputs(body + strlen("@BODY@"), r->to);
		fclose(r->to);
	} else {
		r->error = xasprintf("cannot read %s", path);
	}
	if (!good) {
		free(page);
		page = NULL;
	}
	free(template);
	free(path);
	return page;
}

/* A file that is no report of ours stays. False after a complaint. */
static bool may_write(const char *path)
{
	char *text = folder_exists(path) ? input_read(path, FILE_MAX, NULL) : NULL;
	bool may = !folder_exists(path) || (text && strstr(text, MARK));

	if (!may)
		complain("%s is there and is no report of inasim; --out says where it goes", path);
	free(text);
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
		complain("interrupted: %s is not written", path);
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
	free(r.error);
	free(page);
	return code;
}

int verb_report(const struct cli *cli)
{
	char *path;
	int code = EXIT_IO;

	if (!cli->out && cli->argc > 1) {
		complain("several directories need --out FILE: the page belongs to none of them");
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
