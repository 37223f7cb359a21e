#include "cli/answer.h"

#include "base/mem.h"
#include "cli/html.h"
#include "data/metrics.h"
#include "lab/breakdown.h"
#include "lab/figures/axis_scale.h"
#include "lab/sweep/metric_words.h"
#include "lab/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER    "p class=\"answer\""
#define NAMED     3    /* causes, groups or combinations that a paragraph names, at most */
#define SHARE_MIN 0.05 /* a cause with a smaller share of the time is not named */

/* ---- Words ---- */

const char *quantity(char *buffer, const char *metric, double value)
{
	static const struct {
		const char *unit, *prefixed;
		double factor;
	} units[] = {
		{ "s", "s", 1 },
		{ "s", "ms", 1e-3 },
		{ "s", "us", 1e-6 },
		{ "s", "ns", 1e-9 },
		{ "bytes", "GB", 1e9 },
		{ "bytes", "MB", 1e6 },
		{ "bytes", "KB", 1e3 },
		{ "bytes", "B", 1 },
		{ "bit/s", "Gbit/s", 1e9 },
		{ "bit/s", "Mbit/s", 1e6 },
		{ "bit/s", "bit/s", 1 },
		{ "B/s", "GB/s", 1e9 },
		{ "B/s", "MB/s", 1e6 },
		{ "B/s", "B/s", 1 },
	};
	const char *unit = metric_unit(metric);
	size_t fits = SIZE_MAX;

	if (isnan(value)) {
		snprintf(buffer, QUANTITY, "–");
		return buffer;
	}
	/* the largest unit that the value reaches, else the smallest */
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].unit) &&
		    (fits == SIZE_MAX || fabs(value) < units[fits].factor))
			fits = i;
	if (fits != SIZE_MAX)
		snprintf(buffer, QUANTITY, "%.4g %s", value / units[fits].factor,
			 units[fits].prefixed);
	else if (value == floor(value) && fabs(value) < 1e12)
		snprintf(buffer, QUANTITY, "%.0f", value);
	else
		snprintf(buffer, QUANTITY, "%.4g", value);
	return buffer;
}

/* " (95 % interval 4.1 ms to 5.2 ms)", or nothing. */
static void put_interval(FILE *to, const char *metric, const struct estimate *e)
{
	char low[QUANTITY], high[QUANTITY];

	if (!isnan(e->low) && !isnan(e->high))
		fprintf(to, " (95 %% interval %s to %s)", quantity(low, metric, e->low),
			quantity(high, metric, e->high));
}

/* "0.93 times as long as A (B faster by 5 to 9 %)"; of one seed each, which has no verdict, see
 * put_one_seed(). */
static void put_ratio(FILE *to, const struct comparison *c, const struct compare_row *row)
{
	char *verdict = comparison_verdict(c, row);

	fprintf(to, "%.4g times as long as %s", row->ratio.value, c->baseline_label);
	if (*verdict && c->runs.count > c->side_count)
		fprintf(to, " (%s)", verdict);
	free(verdict);
}

static void put_one_seed(FILE *to, const struct comparison *c)
{
	if (c->runs.count == c->side_count)
		fputs(" That is of one seed: what others say is unresolved.", to);
}

/* Collects what is written to `to`; end() puts it on the page, unless it is empty. */
struct paragraph {
	char *text;
	size_t length;
	FILE *to;
};

static FILE *begin(struct paragraph *p)
{
	*p = (struct paragraph){ 0 };
	return p->to = open_memstream(&p->text, &p->length);
}

static void end(struct paragraph *p, FILE *page)
{
	fclose(p->to);
	if (*p->text)
		html_element(page, ANSWER, "%s", p->text);
	free(p->text);
}

/* ---- Where the time goes ---- */

static const char *label_of(const struct comparison *c, size_t side)
{
	return comparison_side(c, side)->label;
}

#define GROUP_AT strlen(METRIC_OF_JOBS) /* where NAME begins in "jobs.by_name.NAME" */

/* The length of NAME in "jobs.by_name.NAME.jct_s.mean"; 0 for other rows. */
static size_t group_length(const struct compare_row *row)
{
	return metric_group_length(row->metric, METRIC_OF_JOBS, METRIC_MEAN_JCT);
}

/* The number at the path `rest` for the jobs of `row`: those of "jobs.by_name.NAME...", or all. */
static double of_jobs(const struct comparison *c, size_t side, const struct compare_row *row,
		      const char *rest)
{
	size_t length = group_length(row) ? GROUP_AT + group_length(row) : strlen("jobs");
	char *path = xasprintf("%.*s.%s", (int)length, row->metric, rest);
	double value = comparison_mean(c, side, path);

	free(path);
	return value;
}

/* The mean time that the jobs of `row` spend on a cause per iteration; NaN without --why. */
static double spent(const struct comparison *c, size_t side, const struct compare_row *row,
		    size_t cause)
{
	char name[64];

	snprintf(name, sizeof(name), "why_s.%s", breakdown_causes[cause].name);
	return of_jobs(c, side, row, name);
}

/* Writes the causes with the largest times, largest first, as shares of `all` ("queues: flows 54 %,
 * NIC 20 %") or, if `shares` is false, as differences ("3 ms less on queues: flows"). */
static void put_causes(FILE *to, const double *times, bool shares, double all)
{
	bool said[BREAKDOWN_CAUSES] = { false };
	char text[QUANTITY];

	for (size_t n = 0; n < NAMED; n++) {
		size_t max = 0;

		/* the largest unsaid cause: while `max` is a said one, any replaces it */
		for (size_t c = 0; c < BREAKDOWN_CAUSES; c++)
			if (said[max] || (!said[c] && fabs(times[c]) > fabs(times[max])))
				max = c;
		if (said[max] || !(fabs(times[max]) > SHARE_MIN * fabs(all)))
			break;
		said[max] = true;
		fputs(n ? ", " : "", to);
		if (shares)
			fprintf(to, "%s %.0f %%", breakdown_causes[max].words,
				100 * times[max] / all);
		else
			fprintf(to, "%s %s on %s", quantity(text, "time_s", fabs(times[max])),
				times[max] > 0 ? "more" : "less", breakdown_causes[max].words);
	}
}

/* Writes what an iteration of the jobs of `row` is spent on; if `best` and `other` are two sides,
 * what makes the difference between them. */
static void put_why(FILE *to, const struct comparison *c, const struct compare_row *row,
		    size_t best, size_t other)
{
	double times[BREAKDOWN_CAUSES], all = 0;
	char text[QUANTITY];
	bool any = false;

	for (size_t i = 0; i < BREAKDOWN_CAUSES; i++) {
		times[i] = spent(c, best, row, i) - (best == other ? 0 : spent(c, other, row, i));
		all += times[i];
		any |= times[i] != 0;
	}
	if (isnan(all) || !any)
		return;
	fprintf(to, best == other ? "An iteration" : "Why: an iteration");
	if (group_length(row))
		fprintf(to, " of %.*s", (int)group_length(row), row->metric + GROUP_AT);
	if (best == other) {
		fprintf(to, " takes a worker %s: ", quantity(text, "time_s", all));
		put_causes(to, times, true, all);
		fputs(".", to);
		return;
	}
	fprintf(to, " in %s spends ", label_of(c, best));
	put_causes(to, times, false, all);
	fprintf(to, " than in %s.", label_of(c, other));
}

/* ---- Runs ---- */

/* Returns the first row from `from` on that is a time, has a value on every side, and whose path
 * begins with `of` ("jobs."); SIZE_MAX: none. A metric's rows, one per side, are neighbours. */
static size_t next_time(const struct comparison *c, size_t from, const char *of)
{
	size_t count = c->side_count;

	for (size_t i = from; i + count <= c->count; i += count) {
		bool all = !strncmp(c->rows[i].metric, of, strlen(of)) &&
			   !strcmp(metric_unit(c->rows[i].metric), "s");

		for (size_t r = 0; r < count; r++)
			all = all && !isnan(c->rows[i + r].value.value);
		if (all)
			return i;
	}
	return SIZE_MAX;
}

/* The row that decides which run is fastest: `first` or, if each group of jobs has a row, that of
 * the group whose times differ most between the runs. */
static size_t deciding_time(const struct comparison *c, size_t first)
{
	size_t deciding = first;
	double max = 0;

	for (size_t i = first; i != SIZE_MAX && group_length(&c->rows[i]);
	     i = next_time(c, i + c->side_count, METRIC_OF_JOBS)) {
		double low = INFINITY, high = 0;

		for (size_t r = i; r < i + c->side_count; r++) {
			low = fmin(low, c->rows[r].value.value);
			high = fmax(high, c->rows[r].value.value);
		}
		if (high / low > max) {
			max = high / low;
			deciding = i;
		}
	}
	return deciding;
}

/* Whether all its work has finished: who lost some is not the fastest. */
static bool is_whole(const struct compare_row *row)
{
	return !row->partial && (!row->has_work || row->finished == row->count);
}

/* Writes which run is fastest by the metric at `first`, and how the others compare. */
static void put_ranking(FILE *to, const struct comparison *c, size_t first, size_t *best,
			size_t *worst)
{
	const struct compare_row *rows = &c->rows[first];
	size_t count = c->side_count;
	char *words = metric_words(rows->metric, NULL), value[QUANTITY];

	for (size_t r = *best = *worst = 0; r < count; r++) {
		if (is_whole(&rows[r]) >= is_whole(&rows[*best]) &&
		    (is_whole(&rows[r]) > is_whole(&rows[*best]) ||
		     rows[r].value.value < rows[*best].value.value))
			*best = r;
		*worst = rows[r].value.value > rows[*worst].value.value ? r : *worst;
	}
	if (*best == *worst) {
		fprintf(to, "All have the same %s: %s.", words,
			quantity(value, rows->metric, rows->value.value));
	} else {
		fprintf(to, "%s is the fastest by %s: %s", label_of(c, *best), words,
			quantity(value, rows->metric, rows[*best].value.value));
		if (*best > 0) {
			fputs(", ", to);
			put_ratio(to, c, &rows[*best]);
		}
		for (size_t r = 1, others = 0; r < count; r++) {
			if (r == *best)
				continue;
			fprintf(to, "%s %s takes ", others++ ? ";" : ".", label_of(c, r));
			put_ratio(to, c, &rows[r]);
		}
		fputs(".", to);
		put_one_seed(to, c);
	}
	free(words);
}

/* Writes how long the work of the row at `first` takes in run `best`, compared with run `worst`. */
static void put_other(FILE *to, const struct comparison *c, size_t first, size_t best, size_t worst)
{
	const struct compare_row *row = &c->rows[first + best];
	char *words = metric_words(row->metric, NULL);

	fprintf(to, "%s: ", words);
	if (row->value.value == c->rows[first + worst].value.value)
		fprintf(to, "as long as in %s", label_of(c, worst));
	else if (worst == 0)
		put_ratio(to, c, row);
	else
		fprintf(to, "%.4g times as long as in %s",
			row->value.value / c->rows[first + worst].value.value, label_of(c, worst));
	free(words);
}

static void put_lead(FILE *to, size_t *said, const char *label)
{
	if ((*said)++)
		fputs("; ", to);
	else
		fprintf(to, "Others in %s: ", label);
}

/* Writes how long the other groups of jobs, and the flows, take in the fastest run. */
static void put_price(FILE *to, const struct comparison *c, size_t deciding, size_t best,
		      size_t worst)
{
	size_t flows = next_time(c, 0, "flows."), said = 0;
	const char *label = label_of(c, best);

	for (size_t i = next_time(c, 0, METRIC_OF_JOBS); i != SIZE_MAX;
	     i = next_time(c, i + c->side_count, METRIC_OF_JOBS)) {
		if (i == deciding || !group_length(&c->rows[i]))
			continue;
		put_lead(to, &said, label);
		put_other(to, c, i, best, worst);
	}
	if (flows != SIZE_MAX) {
		put_lead(to, &said, label);
		put_other(to, c, flows, best, worst);
	}
	fputs(said ? "." : "", to);
}

/* Writes the mean JCT of each group of jobs in one run, also as a multiple of the group's ideal,
 * since groups differ. False if jobs have no groups. */
static bool put_groups_of_run(FILE *to, const struct comparison *c)
{
	size_t groups = 0;
	char value[QUANTITY];

	for (const struct compare_row *row = c->rows; row < c->rows + c->count; row++) {
		if (!group_length(row) || isnan(row->value.value))
			continue;
		double slowdown = of_jobs(c, 0, row, "slowdown.mean");

		if (groups++ == NAMED) {
			fputs("; more are below", to);
			break;
		}
		fprintf(to, "%s%.*s %s", groups == 1 ? "Job completion time, mean: " : "; ",
			(int)group_length(row), row->metric + GROUP_AT,
			quantity(value, row->metric, row->value.value));
		put_interval(to, row->metric, &row->value);
		if (!isnan(slowdown))
			fprintf(to, ", %.4g times its ideal", slowdown);
	}
	fputs(groups ? "." : "", to);
	return groups > 0;
}

static void put_value_of(FILE *to, const struct compare_row *row)
{
	char *words = metric_words(row->metric, NULL), value[QUANTITY];

	*words = *words >= 'a' && *words <= 'z' ? (char)(*words - 'a' + 'A') : *words;
	fprintf(to, "%s: %s", words, quantity(value, row->metric, row->value.value));
	put_interval(to, row->metric, &row->value);
	if (row->has_work)
		fprintf(to, ", %llu of %llu finished", (unsigned long long)row->finished,
			(unsigned long long)row->count);
	fputs(".", to);
	free(words);
}

static void answer_one(FILE *page, const struct comparison *c)
{
	size_t jobs = next_time(c, 0, "jobs."), flows = next_time(c, 0, "flows.");
	struct paragraph p;

	begin(&p);
	if (!put_groups_of_run(p.to, c) && jobs != SIZE_MAX)
		put_value_of(p.to, &c->rows[jobs]);
	end(&p, page);
	begin(&p);
	if (flows != SIZE_MAX)
		put_value_of(p.to, &c->rows[flows]);
	end(&p, page);
	for (size_t i = jobs, n = 0; i != SIZE_MAX && n < NAMED; n++) {
		put_why(begin(&p), c, &c->rows[i], 0, 0);
		end(&p, page);
		i = group_length(&c->rows[i]) ? next_time(c, i + 1, METRIC_OF_JOBS) : SIZE_MAX;
	}
}

void answer_runs(FILE *page, const struct comparison *c)
{
	size_t deciding = next_time(c, 0, "jobs."), best, worst;
	bool by_jobs = deciding != SIZE_MAX;
	struct paragraph p;

	if (c->side_count == 1) {
		answer_one(page, c);
		return;
	}
	if (by_jobs)
		deciding = deciding_time(c, deciding);
	else
		deciding = next_time(c, 0, "flows.");
	if (deciding == SIZE_MAX)
		return;
	put_ranking(begin(&p), c, deciding, &best, &worst);
	end(&p, page);
	begin(&p);
	if (by_jobs && best != worst)
		put_price(p.to, c, deciding, best, worst);
	end(&p, page);
	begin(&p);
	if (best != worst)
		put_why(p.to, c, &c->rows[deciding], best, worst);
	end(&p, page);
}

/* ---- Sweeps ---- */

/* "load 0.1, scheme esa"; `but`: an axis that is left out, or SIZE_MAX. */
static void put_levels(FILE *to, const struct sweep_table *table, const struct group *group,
		       size_t but)
{
	const char *before = "";

	for (size_t a = 0; a < table->axis_count; a++) {
		if (a == but || group->levels[a] == table->axes[a].count)
			continue;
		fprintf(to, "%s%s %s", before, table->axes[a].name,
			table->axes[a].values[group->levels[a]]);
		before = ", ";
	}
}

/* Writes where a metric is lowest and highest; nothing if it is the same everywhere. */
static void put_extremes(FILE *to, const struct sweep_table *table, const struct groups *groups,
			 const char *path)
{
	const struct group *best = NULL, *worst = NULL;
	struct estimate low = { .value = NAN }, high = low;
	char value[QUANTITY], *words;
	size_t count = 0;

	for (size_t g = 0; g < groups->count; g++) {
		struct estimate mean =
			group_mean(&groups->items[g], sweep_table_metric(table, path));

		count += isnan(mean.value) ? 0 : 1;
		if (mean.value < low.value || (!best && !isnan(mean.value))) {
			low = mean;
			best = &groups->items[g];
		}
		if (mean.value > high.value || (!worst && !isnan(mean.value))) {
			high = mean;
			worst = &groups->items[g];
		}
	}
	if (!best || low.value == high.value)
		return;
	words = metric_words(path, table);
	fprintf(to, "Of %zu combinations%s, ", count, count < groups->count ? " with a value" : "");
	put_levels(to, table, best, SIZE_MAX);
	fprintf(to, " has the lowest %s: %s", words, quantity(value, path, low.value));
	put_interval(to, path, &low);
	fputs("; ", to);
	put_levels(to, table, worst, SIZE_MAX);
	fprintf(to, " has the highest: %s", quantity(value, path, high.value));
	put_interval(to, path, &high);
	fprintf(to, ", %.4g times as much.", high.value / low.value);
	free(words);
}

/* The group that differs from `from` only by `level` on `axis`, or stands for that one; NULL: there
 * is none. */
static const struct group *across(const struct sweep_table *table, const struct groups *groups,
				  const struct group *from, size_t axis, size_t level)
{
	size_t *levels = xcalloc(table->axis_count + 1, sizeof(*levels));
	const struct group *to;

	memcpy(levels, from->levels, table->axis_count * sizeof(*levels));
	levels[axis] = level;
	to = groups_find(table, groups, levels);
	free(levels);
	return to && to->levels[axis] == level ? to : NULL;
}

/* The two fastest values of an axis in a combination of the others. */
struct podium {
	const struct group *best, *next; /* NULL: fewer have a value and all work done */
	double best_mean, next_mean;
};

/* `from` stands for its combination of the other axes. */
static struct podium podium_of(const struct sweep_table *table, const struct groups *groups,
			       const struct group *from, size_t axis, size_t metric)
{
	struct podium p = { .best_mean = INFINITY, .next_mean = INFINITY };

	for (size_t level = 0; level < table->axes[axis].count; level++) {
		const struct group *group = across(table, groups, from, axis, level);

		if (!group || group->censored)
			continue;
		double mean = group_mean(group, metric).value;

		if (mean < p.best_mean) {
			p = (struct podium){ group, p.best, mean, p.best_mean };
		} else if (mean < p.next_mean) {
			p.next = group;
			p.next_mean = mean;
		}
	}
	return p;
}

/* Whether a group is the first of those that differ on `axis` alone. One that stands for all values
 * of another axis is in the combinations of these values, if there are some. */
static bool is_first(const struct sweep_table *table, const struct groups *groups,
		     const struct group *group, size_t axis)
{
	bool first = group->levels[axis] < table->axes[axis].count;

	for (size_t g = 0; g < groups->count && first; g++) {
		const size_t *other = groups->items[g].levels;
		bool same = true, stands = true;

		for (size_t a = 0; a < table->axis_count; a++) {
			bool equal = a == axis || other[a] == group->levels[a];

			same = same && equal;
			stands = stands && (equal || group->levels[a] == table->axes[a].count);
		}
		first = same ? other[axis] >= group->levels[axis] : !stands;
	}
	return first;
}

/* "load 0.3: esa 1 ms, next ring 2 ms: esa faster by 90 to 110 %." Returns whether it is resolved.
 */
static bool put_podium(FILE *to, const struct sweep_table *table, const struct podium *p,
		       const struct group *cell, size_t axis, const char *path)
{
	size_t metric = sweep_table_metric(table, path);
	struct verdict verdict =
		group_ratio(p->next, metric, p->best, metric, &table->rule).verdict;
	const char *best = table->axes[axis].values[p->best->levels[axis]],
		   *next = table->axes[axis].values[p->next->levels[axis]];
	char *words = verdict_words(&verdict, next, best, true), value[QUANTITY];

	fputs(" ", to);
	if (table->axis_count > 1) {
		put_levels(to, table, cell, axis);
		fputs(": ", to);
	}
	fprintf(to, "%s %s", best, quantity(value, path, p->best_mean));
	fprintf(to, ", next %s %s: %s.", next, quantity(value, path, p->next_mean),
		*words ? words : "the same");
	free(words);
	return verdict_is_resolved(&verdict);
}

/* Writes which values of an axis are the fastest: "esa is the fastest in 5 of 6 combinations, ring
 * in 1." */
static void put_winners(FILE *to, const struct sweep_axis *axis, size_t *wins, size_t cells,
			size_t resolved)
{
	for (size_t said = 0;; said++) {
		size_t max = 0;

		for (size_t l = 1; l < axis->count; l++)
			max = wins[l] > wins[max] ? l : max;
		if (!wins[max])
			break;
		if (said)
			fprintf(to, ", %s in %zu", axis->values[max], wins[max]);
		else if (cells == 1)
			fprintf(to, " %s is the fastest", axis->values[max]);
		else
			fprintf(to, " %s is the fastest in %zu of %zu combinations",
				axis->values[max], wins[max], cells);
		wins[max] = 0;
	}
	if (cells > 1)
		fprintf(to, ", %zu of them resolved", resolved);
	fputs(".", to);
}

/* Writes which value of a named axis is the fastest in each combination of the others, against the
 * next one; at most NAMED combinations one by one. */
static void put_fastest(FILE *to, const struct sweep_table *table, const struct groups *groups,
			size_t axis, const char *path)
{
	size_t metric = sweep_table_metric(table, path), cells = 0, left_out = 0, resolved = 0;
	size_t *wins = xcalloc(table->axes[axis].count, sizeof(*wins));
	struct paragraph details, more;

	begin(&details);
	begin(&more); /* written to be counted, not to be shown */
	for (size_t g = 0; g < groups->count; g++) {
		if (!is_first(table, groups, &groups->items[g], axis))
			continue;
		struct podium p = podium_of(table, groups, &groups->items[g], axis, metric);

		if (!p.next) {
			left_out++;
			continue;
		}
		wins[p.best->levels[axis]]++;
		resolved += put_podium(cells++ < NAMED ? details.to : more.to, table, &p,
				       &groups->items[g], axis, path);
	}
	fclose(details.to);
	fclose(more.to);
	if (cells) {
		put_winners(to, &table->axes[axis], wins, cells, resolved);
		fputs(details.text, to);
	}
	if (cells > NAMED)
		fputs(" More are below.", to);
	if (cells && left_out)
		fprintf(to, " In %zu other%s fewer than two have a value and all their work done.",
			left_out, left_out > 1 ? "s" : "");
	free(details.text);
	free(more.text);
	free(wins);
}

/* Writes what is fastest along each named axis or, without named axes, the metric's extremes. */
static void put_sweep_metric(FILE *page, const struct sweep_table *table,
			     const struct groups *groups, const char *path)
{
	char *words = metric_words(path, table);
	bool named = false;
	struct paragraph p;

	for (size_t a = 0; a < table->axis_count; a++) {
		if (!axis_is_named(&table->axes[a]))
			continue;
		named = true;
		begin(&p);
		put_fastest(p.to, table, groups, a, path);
		fclose(p.to);
		if (p.length)
			html_element(page, ANSWER, "By %s:%s", words, p.text);
		free(p.text);
	}
	begin(&p);
	if (!named)
		put_extremes(p.to, table, groups, path);
	end(&p, page);
	free(words);
}

/* Tells of one metric of jobs and one of flows: the first of metric_table that the sweep has. If
 * jobs are unlike, tells of the mean JCT of each group instead. */
void answer_sweep(FILE *page, const struct sweep_table *table, const struct groups *groups)
{
	bool said[LEVEL_MACHINE + 1] = { false };
	struct names mean_jcts = { 0 };

	said[LEVEL_JOB] = !sweep_table_jobs_alike(table, &mean_jcts);
	for (size_t i = 0; i < mean_jcts.count && i < NAMED; i++)
		put_sweep_metric(page, table, groups, mean_jcts.items[i]);
	if (mean_jcts.count > NAMED)
		html_element(page, ANSWER, "More groups of jobs are below.");
	free(mean_jcts.items);
	for (const struct metric *m = metric_table; m->name; m++) {
		/* the second usual statistic if there is one: of flows p99, not p50 */
		bool second = m->usual[1] && sweep_table_metric(table, m->usual[1]) != SIZE_MAX;
		const char *path = m->usual[second];

		if ((m->level != LEVEL_JOB && m->level != LEVEL_FLOW) || said[m->level] || !path ||
		    sweep_table_metric(table, path) == SIZE_MAX)
			continue;
		said[m->level] = true;
		put_sweep_metric(page, table, groups, path);
	}
}
