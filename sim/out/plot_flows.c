/* Figures of flows.csv: slowdown by size and the distribution of FCTs. */
#include "out/plot_data.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_SHOWN PLOT_COLOURS
#define CDF_POINTS   1000 /* of a group; more cannot be told apart */
#define CDF_TAIL     100  /* of the largest values, which are all shown */
#define PERCENTILES  3

const struct plot_size_class plot_size_classes[PLOT_CLASSES] = {
	{ 0, "< 10 KB" },       { 10000, "10–100 KB" },  { 100000, "0.1–1 MB" },
	{ 1000000, "1–10 MB" }, { 10000000, "≥ 10 MB" },
};

static const unsigned permilles[PERCENTILES] = { 500, 950, 990 };

void plot_values_add(struct plot_values *values, double value)
{
	values->at =
		array_reserve(values->at, values->count, &values->capacity, sizeof *values->at);
	values->at[values->count++] = value;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

void plot_values_sort(struct plot_values *values)
{
	if (values->count > 0)
		qsort(values->at, values->count, sizeof *values->at, ascending);
}

double plot_percentile(const struct plot_values *sorted, unsigned permille)
{
	size_t n = sorted->count;
	if (n * (1000 - permille) < 10 * 1000)
		return NAN;
	size_t rank = (n * permille + 999) / 1000;
	return sorted->at[rank - 1];
}

/* ---- Reading ---- */

static struct plot_flow_group *find_group(struct plot_flows *flows, const char *name)
{
	for (size_t i = flows->group_count; i > 0; i--)
		if (strcmp(flows->groups[i - 1].name, name) == 0)
			return &flows->groups[i - 1];
	flows->groups = array_reserve(flows->groups, flows->group_count, &flows->group_capacity,
				      sizeof *flows->groups);
	struct plot_flow_group *group = &flows->groups[flows->group_count++];
	*group = (struct plot_flow_group){ .name = xstrdup(name) };
	return group;
}

static size_t class_of(uint64_t size_bytes)
{
	size_t i = PLOT_CLASSES - 1;
	while (size_bytes < plot_size_classes[i].min_bytes)
		i--;
	return i;
}

static void read_flows(struct csv *csv, struct plot_flows *flows)
{
	int group = csv_need(csv, "group"), size = csv_need(csv, "size_bytes");
	int fct = csv_need(csv, "fct_s"), slowdown = csv_need(csv, "slowdown");
	int finished = csv_need(csv, "finished"), measured = csv_find(csv, "measured");
	while (csv_next(csv)) {
		if (measured >= 0 && !csv_flag(csv, measured))
			continue;
		if (!csv_flag(csv, finished)) {
			flows->unfinished++;
			continue;
		}
		double fct_s = csv_real(csv, fct), ratio = csv_real(csv, slowdown);
		if (fct_s <= 0)
			csv_complain(csv, fct, "is no duration");
		if (ratio <= 0)
			csv_complain(csv, slowdown, "is no slowdown");
		flows->finished++;
		flows->too_fast += ratio < 1;
		plot_values_add(&flows->slowdown[class_of(csv_u64(csv, size))], ratio);
		plot_values_add(&find_group(flows, csv_text(csv, group))->fct_s, fct_s);
	}
}

enum plot_outcome plot_flows_read(struct plot_flows *flows, struct plot_page *page)
{
	*flows = (struct plot_flows){ 0 };
	struct csv *csv = plot_table(page, "flows.csv");
	if (csv == NULL)
		return plot_without(page);
	read_flows(csv, flows);
	enum plot_outcome outcome = plot_table_end(page, csv);
	if (outcome == PLOT_DRAWN && flows->finished == 0) {
		page->why = "no flow has finished";
		outcome = PLOT_NO_DATA;
	}
	for (size_t i = 0; i < PLOT_CLASSES; i++)
		plot_values_sort(&flows->slowdown[i]);
	return outcome;
}

void plot_flows_release(struct plot_flows *flows)
{
	for (size_t i = 0; i < PLOT_CLASSES; i++)
		free(flows->slowdown[i].at);
	for (size_t i = 0; i < flows->group_count; i++) {
		free(flows->groups[i].name);
		free(flows->groups[i].fct_s.at);
	}
	free(flows->groups);
}

static void write_title(struct plot_page *page, const struct plot_flows *flows, const char *title)
{
	char finished[32], unfinished[32], fast[32], warning[64] = "";
	if (flows->too_fast > 0)
		snprintf(warning, sizeof warning, "; %s BELOW 1",
			 plot_thousands(fast, flows->too_fast));
	plot_title(page, title, "%s finished flows, %s unfinished (not shown)%s",
		   plot_thousands(finished, flows->finished),
		   plot_thousands(unfinished, flows->unfinished), warning);
}

/* ---- Slowdown by size ---- */

struct range {
	double low, high;
};

static struct range write_slowdown_data(FILE *data, const struct plot_flows *flows)
{
	struct range range = { INFINITY, -INFINITY };
	fputs("# class min_bytes finished_flows p50 p95 p99\n", data);
	for (size_t i = 0; i < PLOT_CLASSES; i++) {
		fprintf(data, "%zu %" PRIu64 " %zu", i, plot_size_classes[i].min_bytes,
			flows->slowdown[i].count);
		for (size_t p = 0; p < PERCENTILES; p++) {
			double value = plot_percentile(&flows->slowdown[i], permilles[p]);
			putc(' ', data);
			plot_real(data, value);
			range.low = fmin(range.low, value);
			range.high = fmax(range.high, value);
		}
		putc('\n', data);
	}
	return range;
}

static void write_slowdown_script(struct plot_page *page, const struct plot_flows *flows,
				  struct range range)
{
	FILE *script = page->script;
	char count[32];
	write_title(page, flows, "Flow slowdown by flow size");
	fputs("set xlabel 'Flow size' offset 0,-1\nset bmargin 5\nset ylabel 'Slowdown: FCT / "
	      "ideal FCT'\n"
	      "set xrange [-0.5:4.5]\nset xtics (",
	      script);
	for (size_t i = 0; i < PLOT_CLASSES; i++)
		fprintf(script, "%s\"%s\\nn = %s\" %zu", i > 0 ? ", " : "",
			plot_size_classes[i].label, plot_thousands(count, flows->slowdown[i].count),
			i);
	fputs(")\n", script);
	double low = fmin(range.low, 1);
	if (range.high > 5 * low) {
		plot_log_axis(page, 'y', low, range.high);
		fprintf(script, "set yrange [%g:%g]\n", low * 0.93, range.high * 1.1);
	} else {
		fprintf(script, "set yrange [%g:%g]\n", low - 0.04 * (range.high - low),
			range.high + 0.05 * (range.high - low) + 0.01);
	}
	fputs("plot 'slowdown.dat' using 1:6 with linespoints lt 3 dt 4 lw 2 pt 9 ps 1.6 "
	      "lc rgb '#d55e00' title '99th percentile', \\\n"
	      "     '' using 1:5 with linespoints lt 2 dt 2 lw 2 pt 5 ps 1.4 "
	      "lc rgb '#e69f00' title '95th percentile', \\\n"
	      "     '' using 1:4 with linespoints lt 1 dt 1 lw 2 pt 7 ps 1.4 "
	      "lc rgb '#0072b2' title 'median'\n",
	      script);
}

static bool any_percentile(const struct plot_flows *flows)
{
	for (size_t i = 0; i < PLOT_CLASSES; i++)
		if (!isnan(plot_percentile(&flows->slowdown[i], permilles[0])))
			return true;
	return false;
}

enum plot_outcome plot_slowdown(struct plot_page *page)
{
	struct plot_flows flows;
	enum plot_outcome outcome = plot_flows_read(&flows, page);
	if (outcome == PLOT_DRAWN && !any_percentile(&flows)) {
		page->why = "a median needs 20 finished flows of one size class";
		outcome = PLOT_NO_DATA;
	}
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH, PLOT_HEIGHT);
	if (outcome == PLOT_DRAWN)
		write_slowdown_script(page, &flows, write_slowdown_data(page->data, &flows));
	plot_flows_release(&flows);
	return outcome;
}

/* ---- Distribution of FCTs ---- */

static int larger_first(const void *a, const void *b)
{
	const struct plot_flow_group *x = a, *y = b;
	if (x->fct_s.count != y->fct_s.count)
		return x->fct_s.count < y->fct_s.count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Largest groups first; those that no colour is left for become one. */
static void arrange_groups(struct plot_flows *flows)
{
	qsort(flows->groups, flows->group_count, sizeof *flows->groups, larger_first);
	if (flows->group_count > GROUPS_SHOWN) {
		struct plot_flow_group *other = &flows->groups[GROUPS_SHOWN - 1];
		free(other->name);
		other->name = xasprintf("%zu other groups", flows->group_count - GROUPS_SHOWN + 1);
		for (size_t i = GROUPS_SHOWN; i < flows->group_count; i++) {
			struct plot_flow_group *group = &flows->groups[i];
			for (size_t k = 0; k < group->fct_s.count; k++)
				plot_values_add(&other->fct_s, group->fct_s.at[k]);
			free(group->fct_s.at);
			free(group->name);
		}
		flows->group_count = GROUPS_SHOWN;
	}
	for (size_t i = 0; i < flows->group_count; i++)
		plot_values_sort(&flows->groups[i].fct_s);
}

size_t plot_cdf(FILE *data, const struct plot_values *sorted)
{
	size_t n = sorted->count;
	size_t step = n / CDF_POINTS > 0 ? n / CDF_POINTS : 1;
	size_t tail = n > CDF_TAIL ? n - CDF_TAIL : 0;
	plot_real(data, sorted->at[0]);
	fputs(" 0\n", data);
	size_t points = 1;
	for (size_t i = 0; i < n; i++) {
		if (i % step != 0 && i < tail)
			continue;
		plot_real(data, sorted->at[i]);
		putc(' ', data);
		plot_real(data, (double)(i + 1) / (double)n);
		putc('\n', data);
		points++;
	}
	return points;
}

static struct range write_cdf_data(FILE *data, const struct plot_flows *flows)
{
	struct range range = { INFINITY, -INFINITY };
	for (size_t i = 0; i < flows->group_count; i++) {
		const struct plot_flow_group *group = &flows->groups[i];
		fprintf(data, "%s# group %zu, n = %zu: fct_s share\n", i > 0 ? "\n\n" : "", i + 1,
			group->fct_s.count);
		plot_cdf(data, &group->fct_s);
		range.low = fmin(range.low, group->fct_s.at[0]);
		range.high = fmax(range.high, group->fct_s.at[group->fct_s.count - 1]);
	}
	return range;
}

static void write_cdf_script(struct plot_page *page, const struct plot_flows *flows,
			     struct range range)
{
	FILE *script = page->script;
	char count[32];
	write_title(page, flows, "Flow completion times");
	plot_log_axis(page, 'x', range.low, range.high);
	fprintf(script,
		"set xlabel 'Flow completion time'\nset ylabel 'Share of finished flows'\n"
		"set format x '%%.0s %%cs'\nset format y '%%g'\nset yrange [0:1.02]\n"
		"set xrange [%g:%g]\nplot ",
		range.low / 1.15, range.high * 1.15);
	for (size_t i = 0; i < flows->group_count; i++) {
		const struct plot_flow_group *group = &flows->groups[i];
		fprintf(script,
			"%s'fct_cdf.dat' index %zu using 1:2 with steps lt %zu dt %zu lw 2.5 "
			"lc rgb '%s' title ",
			i > 0 ? ", \\\n     " : "", i, i + 1, i % 5 + 1, plot_colour(i));
		char *title = xasprintf("%s (n = %s)", group->name,
					plot_thousands(count, group->fct_s.count));
		plot_quote(script, title);
		free(title);
	}
	putc('\n', script);
}

enum plot_outcome plot_fct_cdf(struct plot_page *page)
{
	struct plot_flows flows;
	enum plot_outcome outcome = plot_flows_read(&flows, page);
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH, PLOT_HEIGHT);
	if (outcome == PLOT_DRAWN) {
		arrange_groups(&flows);
		write_cdf_script(page, &flows, write_cdf_data(page->data, &flows));
	}
	plot_flows_release(&flows);
	return outcome;
}
