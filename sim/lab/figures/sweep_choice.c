#include "lab/figures/sweep_choice.h"

#include "base/mem.h"
#include "conf/conf.h"
#include "data/metrics.h"
#include "lab/breakdown.h"
#include "lab/figures/figure.h"
#include "lab/figures/pool.h"
#include "lab/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_SHOWN  4                  /* groups of unlike jobs shown by default, at most */
#define USUAL_METRICS (GROUPS_SHOWN + 1) /* one for each of these groups, and one of flows */
#define FIGURES_MAX   24 /* figures of one metric in a call; more are probably a mistake */

/* ---- Names ---- */

/* Reads "AXIS=VALUE"; `option` is for messages. */
static bool find_pair(const struct sweep_table *table, const char *option, const char *text,
		      size_t *axis, size_t *level, char **error)
{
	const char *equals = strchr(text, '=');

	if (!equals) {
		*error = xasprintf("%s takes AXIS=VALUE, found \"%s\"", option, text);
		return false;
	}
	const char *name = conf_at(table->doc, "%.*s", (int)(equals - text), text);

	return sweep_table_find_axis(table, name, axis, error) &&
	       sweep_axis_find(&table->axes[*axis], equals + 1, level, error);
}

/* ---- Selection ---- */

static size_t count_wanted(const struct sweep_choice *choice, const struct sweep_table *table,
			   size_t axis)
{
	size_t count = 0;

	for (size_t i = 0; i < table->axes[axis].count; i++)
		count += choice->wanted[axis][i];
	return count;
}

/* Like count_wanted(), but without the baseline, whose ratio to itself is always 1. */
static size_t count_shown(const struct sweep_choice *choice, const struct sweep_table *table,
			  size_t axis)
{
	return count_wanted(choice, table, axis) -
	       (axis == choice->base_axis && choice->wanted[axis][choice->base_level]);
}

/* Marks the levels that --where picks as wanted; of an axis without picks, all levels. */
static bool choose_where(struct sweep_choice *choice, const struct sweep_table *table,
			 const struct plot_sweep_options *options, char **error)
{
	bool *picked = conf_own(table->doc, table->axis_count, sizeof(*picked));
	bool ok = true;

	for (size_t i = 0; i < options->where.count && ok; i++) {
		size_t axis, level;

		ok = find_pair(table, "--where", options->where.items[i], &axis, &level, error);
		if (ok)
			choice->wanted[axis][level] = picked[axis] = true;
	}
	for (size_t i = 0; i < table->axis_count; i++)
		for (size_t k = 0; k < table->axes[i].count; k++)
			choice->wanted[i][k] = choice->wanted[i][k] || !picked[i];
	return ok;
}

/* The index of this level's default metric. If the sweep lacks it (few flows have no 99th
 * percentile), that of the mean of the same quantity; SIZE_MAX if the sweep lacks this, too. */
static size_t usual_metric(const struct sweep_table *table, enum metric_level level)
{
	const struct metric *m = metric_table;
	size_t last;
	size_t metric;

	while (m->level != level || !m->usual[0])
		m++;
	last = m->usual[1] ? 1 : 0; /* a metric has one or two; take the last */
	metric = sweep_table_metric(table, m->usual[last]);
	return metric != SIZE_MAX ? metric
				  : sweep_table_metric(table, conf_at(table->doc, "%s.%s.mean",
								      m->of, m->name));
}

/* Chooses the default metrics: one of jobs or, if jobs differ, of each group of jobs, and one of
 * flows. */
static void choose_usual_metrics(struct sweep_choice *choice, const struct sweep_table *table)
{
	struct names groups = { 0 };
	bool alike = sweep_table_jobs_alike(table, &groups);
	size_t of_jobs = alike ? usual_metric(table, LEVEL_JOB) : SIZE_MAX;
	size_t of_flows = usual_metric(table, LEVEL_FLOW);

	if (of_jobs != SIZE_MAX)
		choice->metrics[choice->metric_count++] = of_jobs;
	for (size_t i = 0; i < groups.count && i < GROUPS_SHOWN; i++)
		choice->metrics[choice->metric_count++] =
			sweep_table_metric(table, groups.items[i]);
	if (of_flows != SIZE_MAX)
		choice->metrics[choice->metric_count++] = of_flows;
	free(groups.items);
}

/* Chooses the times of all causes, in their order. */
static bool choose_causes(struct sweep_choice *choice, const struct sweep_table *table,
			  char **error)
{
	for (size_t c = 0; c < BREAKDOWN_CAUSES; c++) {
		const char *name = conf_at(table->doc, "jobs.why_s.%s", breakdown_causes[c].name);
		size_t metric = sweep_table_metric(table, name);

		if (metric == SIZE_MAX) {
			*error = xasprintf("%s has no column %s: run its points with sweep run "
					   "--why (and --force if they have been run without it)",
					   table->dir, name);
			return false;
		}
		choice->metrics[choice->metric_count++] = metric;
	}
	return true;
}

/* Chooses quantities: those of --y or, of a CDF, those of the usual metrics. */
static bool choose_quantities(struct sweep_choice *choice, const struct sweep_table *table,
			      const struct plot_sweep_options *options, char **error)
{
	for (size_t i = 0; i < options->metrics.count; i++) {
		const char *name = options->metrics.items[i];
		size_t metric = pool_metric(table, name);

		if (metric == SIZE_MAX) {
			*error = xasprintf("--y of distributions takes quantities without a "
					   "statistic that this sweep has, as jobs.jct_s, "
					   "flows.fct_s, flows.by_name.NAME.fct_s; found \"%s\"",
					   name);
			return false;
		}
		choice->metrics[choice->metric_count++] = metric;
	}
	if (options->metrics.count)
		return true;
	choose_usual_metrics(choice, table);
	for (size_t i = 0; i < choice->metric_count; i++) {
		const char *name = table->metrics[choice->metrics[i]];

		choice->metrics[i] = pool_metric(
			table, conf_at(table->doc, "%.*s", (int)(strrchr(name, '.') - name), name));
	}
	return true;
}

static bool choose_metrics(struct sweep_choice *choice, const struct sweep_table *table,
			   const struct plot_sweep_options *options, char **error)
{
	choice->metrics =
		conf_own(table->doc, options->metrics.count + USUAL_METRICS + BREAKDOWN_CAUSES,
			 sizeof(*choice->metrics));
	if (choice->kind == SWEEP_STACK)
		return choose_causes(choice, table, error);
	choice->pooled = choice->kind == SWEEP_CDF;
	for (size_t i = 0; i < options->metrics.count && choice->kind == SWEEP_BOX; i++)
		choice->pooled |= pool_metric(table, options->metrics.items[i]) != SIZE_MAX;
	if (choice->pooled && !choose_quantities(choice, table, options, error))
		return false;
	for (size_t i = 0; i < options->metrics.count && !choice->pooled; i++) {
		size_t metric = sweep_table_metric(table, options->metrics.items[i]);

		if (metric == SIZE_MAX) {
			char *what = names_unknown("metric", options->metrics.items[i], NULL,
						   table->metrics, table->metric_count);

			*error = xasprintf("%s; the first line of %s/sweep.csv names them all",
					   what, table->dir);
			free(what);
			return false;
		}
		choice->metrics[choice->metric_count++] = metric;
	}
	if (choice->metric_count == 0 && !choice->pooled)
		choose_usual_metrics(choice, table);
	if (choice->metric_count)
		return true;
	size_t length;
	FILE *to = open_memstream(error, &length);

	fputs("say which metric with --y; this sweep has ", to);
	names_list(to, table->metrics, table->metric_count, 5);
	fputs(table->metric_count == 0 ? "none yet" : "", to);
	fclose(to);
	return false;
}

/* Whether the other axes of a point have values that are kept, or do not apply. */
static bool is_kept(const struct sweep_choice *choice, const struct sweep_table *table,
		    const struct sweep_point *point, size_t but)
{
	for (size_t a = 0; a < table->axis_count; a++)
		if (a != but && point->levels[a] < table->axes[a].count &&
		    !choice->wanted[a][point->levels[a]])
			return false;
	return true;
}

/* Leaves out values of an axis that no point has, unless none of the wanted values has one. */
static void drop_empty(struct sweep_choice *choice, const struct sweep_table *table, size_t axis)
{
	size_t values = table->axes[axis].count;
	bool *has = xcalloc(values + 1, sizeof(*has)), any = false;

	for (size_t p = 0; p < table->point_count; p++)
		if (is_kept(choice, table, &table->points[p], axis))
			has[table->points[p].levels[axis]] = true;
	for (size_t i = 0; i < values; i++)
		any = any || (has[i] && choice->wanted[axis][i]);
	for (size_t i = 0; i < values && any; i++)
		choice->wanted[axis][i] = choice->wanted[axis][i] && has[i];
	free(has);
}

/* ---- Axes ---- */

/* The axis with most wanted values, leaving out `except` and, if `numeric`, axes of labels.
 * SIZE_MAX if none has two. */
static size_t longest_axis(const struct sweep_choice *choice, const struct sweep_table *table,
			   bool numeric, size_t except)
{
	size_t longest = SIZE_MAX, max = 1;

	for (size_t i = 0; i < table->axis_count; i++) {
		size_t count = count_wanted(choice, table, i);

		if (i == except || count <= max || (numeric && !choice->scales[i].numeric))
			continue;
		max = count;
		longest = i;
	}
	return longest;
}

/* The first axis of names with several wanted values, else the first of numbers; SIZE_MAX if there
 * is none. */
static size_t first_axis(const struct sweep_choice *choice, const struct sweep_table *table)
{
	for (int numeric = 0; numeric < 2; numeric++)
		for (size_t i = 0; i < table->axis_count; i++)
			if (choice->scales[i].numeric == numeric &&
			    count_wanted(choice, table, i) > 1)
				return i;
	return SIZE_MAX;
}

static bool choose_x(struct sweep_choice *choice, const struct sweep_table *table, const char *name,
		     size_t except, char **error)
{
	if (name)
		return sweep_table_find_axis(table, name, &choice->x, error);
	choice->x = longest_axis(choice, table, true, except);
	if (choice->x == SIZE_MAX)
		choice->x = longest_axis(choice, table, false, except);
	if (choice->x == SIZE_MAX)
		*error = xstrdup("no axis is left that has several values; say which with --x");
	return choice->x != SIZE_MAX;
}

/* Whether `by` is the word "none", not an axis of that name. */
static bool is_none(const struct sweep_table *table, const char *by)
{
	return by && !strcmp(by, "none") && sweep_table_axis(table, by) == SIZE_MAX;
}

static bool choose_axes(struct sweep_choice *choice, const struct sweep_table *table,
			const struct plot_sweep_options *options, char **error)
{
	bool none;

	choice->by = SIZE_MAX;
	none = is_none(table, options->by);
	if (options->by && !none && !sweep_table_find_axis(table, options->by, &choice->by, error))
		return false;
	choice->x = SIZE_MAX;
	if (choice->kind == SWEEP_CDF && options->x)
		*error = xstrdup("--kind cdf has the values on its x axis; leave out --x");
	else if (choice->kind == SWEEP_CDF && choice->by == SIZE_MAX && !none)
		choice->by = first_axis(choice, table);
	else if (choice->kind != SWEEP_CDF)
		choose_x(choice, table, options->x, choice->by, error);
	if (*error)
		return false;
	if (!options->by && choice->kind == SWEEP_HEAT)
		choice->by = longest_axis(choice, table, true, choice->x);
	for (size_t i = 0;
	     i < table->axis_count && choice->by == SIZE_MAX && !none && choice->kind != SWEEP_CDF;
	     i++)
		if (i != choice->x && count_wanted(choice, table, i) > 1)
			choice->by = i;
	if (choice->x == choice->by && choice->x != SIZE_MAX)
		*error = xasprintf("--x and --by are both %s", table->axes[choice->x].name);
	else if (choice->kind == SWEEP_HEAT && choice->by == SIZE_MAX)
		*error = xstrdup("a map needs two axes with several values");
	else if (choice->kind != SWEEP_HEAT && choice->by != SIZE_MAX &&
		 count_wanted(choice, table, choice->by) > FIGURE_CURVES)
		*error = xasprintf("axis %s has %zu values, too many curves to tell apart (at most "
				   "%d); pick some with --where %s=VALUE, or take --kind heat",
				   table->axes[choice->by].name,
				   count_wanted(choice, table, choice->by), FIGURE_CURVES,
				   table->axes[choice->by].name);
	return !*error;
}

static bool choose_baseline(struct sweep_choice *choice, const struct sweep_table *table,
			    const char *text, char **error)
{
	choice->base_axis = SIZE_MAX;
	if (!text)
		return true;
	if (choice->by != SIZE_MAX &&
	    (sweep_axis_level(&table->axes[choice->by], text) != SIZE_MAX || !strchr(text, '='))) {
		choice->base_axis = choice->by;
		if (!sweep_axis_find(&table->axes[choice->by], text, &choice->base_level, error))
			return false;
	} else if (!find_pair(table, "--relative-to", text, &choice->base_axis, &choice->base_level,
			      error)) {
		return false;
	}
	if (choice->base_axis == choice->x)
		*error = xasprintf("%s is the x axis; --relative-to takes a value of another axis",
				   table->axes[choice->x].name);
	else if (choice->kind == SWEEP_BOX || choice->kind == SWEEP_CDF)
		*error = xstrdup("boxes and distributions show how values spread, not ratios; "
				 "leave out --relative-to or --kind");
	else if (count_shown(choice, table, choice->base_axis) == 0)
		*error = xasprintf("--relative-to: besides the baseline no value of axis %s is "
				   "left to draw",
				   table->axes[choice->base_axis].name);
	return !*error;
}

/* ---- Kind and scales ---- */

static bool choose_kind(struct sweep_choice *choice, const struct plot_sweep_options *options,
			char **error)
{
	const char *kind = options->kind;
	static const char *const kinds[] = { [SWEEP_LINES] = "lines",
					     [SWEEP_BARS] = "bars",
					     [SWEEP_HEAT] = "heat",
					     [SWEEP_BOX] = "box",
					     [SWEEP_CDF] = "cdf" };

	choice->kind = options->breakdown ? SWEEP_STACK : SWEEP_LINES;
	if (options->breakdown &&
	    (kind || options->log || options->relative_to || options->metrics.count)) {
		*error = xstrdup("the breakdown of a sweep takes only --x, --by and --where");
		return false;
	}
	for (size_t i = 0; kind && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(kind, kinds[i])) {
			choice->kind = (enum sweep_kind)i;
			return true;
		}
	}
	if (kind)
		*error =
			xasprintf("--kind takes lines, bars, heat, box or cdf, found \"%s\"", kind);
	return !kind;
}

static bool choose_scales(struct sweep_choice *choice, const struct sweep_table *table,
			  const struct plot_sweep_options *options, char **error)
{
	const char *log = options->log;
	struct axis_scale *x = choice->x == SIZE_MAX ? NULL : &choice->scales[choice->x];
	bool ask_x = log && strcmp(log, "none") && strchr(log, 'x');

	if (log && strcmp(log, "x") && strcmp(log, "y") && strcmp(log, "xy") &&
	    strcmp(log, "none")) {
		*error = xasprintf("--log takes x, y, xy or none, found \"%s\"", log);
		return false;
	}
	if (choice->kind == SWEEP_CDF) { /* x is the values, y their share */
		choice->log_x = ask_x;
		choice->log_x_fits = !log;
		if (log && strchr(log, 'y'))
			*error = xstrdup("--log of --kind cdf takes x or none");
		return !*error;
	}
	if (choice->kind == SWEEP_LINES && !options->kind && !x->numeric)
		choice->kind = SWEEP_BARS;
	choice->log_y = log && strchr(log, 'y');
	if (choice->log_y && choice->kind == SWEEP_BARS) {
		*error = xstrdup("bars begin at 0, which a logarithmic axis does not have; take "
				 "--kind lines");
		return false;
	}
	choice->log_y_fits = !log && choice->kind != SWEEP_BARS;
	if (choice->kind != SWEEP_LINES)
		axis_scale_as_labels(x);
	if (choice->kind == SWEEP_HEAT)
		axis_scale_as_labels(&choice->scales[choice->by]);
	choice->log_x = ask_x || (x->geometric && (!log || strcmp(log, "none")));
	for (size_t i = 0; i < x->axis->count && ask_x; i++) {
		if (!choice->wanted[choice->x][i] || (x->numeric && x->at[i] > 0))
			continue;
		*error = xasprintf("--log x: the values of axis %s are not all numbers above 0, or "
				   "not drawn as numbers",
				   table->axes[choice->x].name);
		return false;
	}
	return true;
}

/* ---- Figures ---- */

bool sweep_choice_is_fixed(const struct sweep_choice *choice, size_t axis)
{
	return axis != choice->x && axis != choice->by;
}

static bool count_figures(struct sweep_choice *choice, const struct sweep_table *table,
			  char **error)
{
	choice->figures = 1;
	for (size_t i = 0; i < table->axis_count; i++) {
		if (!sweep_choice_is_fixed(choice, i))
			continue;
		size_t count = count_wanted(choice, table, i);

		if (choice->figures * count <= FIGURES_MAX) {
			choice->figures *= count;
			continue;
		}
		const char *x = choice->x != SIZE_MAX ? table->axes[choice->x].name : "";
		const char *by = choice->by != SIZE_MAX ? table->axes[choice->by].name : "";

		*error = xasprintf("the axes besides %s%s%s ask for more than %d figures of each "
				   "metric; pick values with --where, as in --where %s=%s",
				   x, *x && *by ? " and " : "", by, FIGURES_MAX,
				   table->axes[i].name, table->axes[i].values[0]);
		return false;
	}
	return true;
}

void sweep_choice_fixed(const struct sweep_choice *choice, const struct sweep_table *table,
			size_t figure, size_t *levels)
{
	for (size_t i = table->axis_count; i-- > 0;) { /* the last axis varies fastest */
		levels[i] = 0;
		if (!sweep_choice_is_fixed(choice, i))
			continue;
		size_t count = count_wanted(choice, table, i), skip = figure % count;

		figure /= count;
		/* to the wanted level with `skip` wanted levels before it */
		while (!choice->wanted[i][levels[i]] || skip-- > 0)
			levels[i]++;
	}
}

/* The wanted levels of an axis without the baseline, in ascending order of their positions. */
static size_t *levels_of(const struct sweep_choice *choice, const struct sweep_table *table,
			 size_t axis, size_t *count)
{
	const struct axis_scale *scale = &choice->scales[axis];
	size_t *levels = conf_own(table->doc, scale->axis->count, sizeof(*levels));

	*count = 0;
	for (size_t i = 0; i < scale->axis->count; i++) {
		if (!choice->wanted[axis][i] ||
		    (axis == choice->base_axis && i == choice->base_level))
			continue;
		size_t at = (*count)++; /* insertion sort */

		for (; at > 0 && scale->at[levels[at - 1]] > scale->at[i]; at--)
			levels[at] = levels[at - 1];
		levels[at] = i;
	}
	return levels;
}

/* ---- Labels and panels ---- */

static bool choose_labels(struct sweep_choice *choice, const struct sweep_table *table,
			  const struct plot_sweep_options *options, char **error)
{
	*error = sweep_labels_unknown(table, &options->labels);
	for (size_t a = 0; a < table->axis_count; a++)
		for (size_t k = 0; k < table->axes[a].count; k++)
			choice->scales[a].called[k] =
				sweep_axis_called(&table->axes[a], k, &options->labels);
	return !*error;
}

static bool choose_panels(struct sweep_choice *choice, const struct sweep_table *table, bool panels,
			  char **error)
{
	size_t count = choice->figures * choice->metric_count, base = choice->base_axis;

	if (base != SIZE_MAX && sweep_choice_is_fixed(choice, base)) /* no panels of the baseline */
		count = count / count_wanted(choice, table, base) *
			count_shown(choice, table, base);
	choice->panels = panels;
	if (panels && (choice->kind == SWEEP_HEAT || choice->kind == SWEEP_STACK))
		*error = xstrdup("--panels is for lines, bars and boxes; maps and breakdowns need "
				 "a page each");
	else if (panels && count > FIGURE_PANELS)
		*error = xasprintf(
			"%zu panels do not fit on a page (at most %d); pick some with --where",
			count, FIGURE_PANELS);
	if (panels && choice->kind == SWEEP_CDF && choice->metric_count > 1)
		*error = xstrdup("--panels of --kind cdf share their x axis; give one --y");
	return !*error;
}

bool sweep_choice_init(struct sweep_choice *choice, const struct sweep_table *table,
		       const struct plot_sweep_options *options, char **error)
{
	*error = NULL;
	*choice = (struct sweep_choice){
		.scales = conf_own(table->doc, table->axis_count, sizeof(*choice->scales)),
		.wanted = conf_own(table->doc, table->axis_count, sizeof(*choice->wanted)),
	};
	for (size_t i = 0; i < table->axis_count; i++) {
		axis_scale_init(&choice->scales[i], &table->axes[i]);
		choice->wanted[i] =
			conf_own(table->doc, table->axes[i].count, sizeof(**choice->wanted));
	}
	if (!choose_kind(choice, options, error) || !choose_where(choice, table, options, error) ||
	    !choose_metrics(choice, table, options, error) ||
	    !choose_axes(choice, table, options, error))
		return false;
	for (size_t i = 0; i < table->axis_count; i++)
		drop_empty(choice, table, i);
	if (!choose_scales(choice, table, options, error) ||
	    !choose_baseline(choice, table, options->relative_to, error) ||
	    !count_figures(choice, table, error) || !choose_labels(choice, table, options, error) ||
	    !choose_panels(choice, table, options->panels, error))
		return false;
	choice->rows = choice->columns = 1;
	if (choice->x != SIZE_MAX)
		choice->x_level = levels_of(choice, table, choice->x, &choice->columns);
	if (choice->by != SIZE_MAX)
		choice->y_level = levels_of(choice, table, choice->by, &choice->rows);
	return true;
}

void sweep_choice_release(struct sweep_choice *choice, const struct sweep_table *table)
{
	for (size_t i = 0; i < table->axis_count; i++)
		axis_scale_release(&choice->scales[i]);
}
