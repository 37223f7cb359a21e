#include "lab/sweep/metric_words.h"

#include "base/mem.h"
#include "base/units.h"
#include "data/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cuts the last part off a path, all of it if it has one part, and returns it (caller frees). */
static char *cut_last(char *path)
{
	char *dot = strrchr(path, '.');
	char *part = xstrdup(dot ? dot + 1 : path);

	*(dot ? dot : path) = '\0';
	return part;
}

/* Cuts statistic, if any, and quantity off a path: "flows.by_size.0.fct_s.p99" becomes
 * "flows.by_size.0". Sets *statistic to the words of the statistic (NULL: there is none) and
 * returns the quantity (caller frees). */
static char *cut_path(char *path, const char **statistic)
{
	char *last = cut_last(path);
	const struct metric_statistic *found = *path ? metric_statistic(last) : NULL;

	*statistic = found ? found->words : NULL;
	if (!found)
		return last;
	free(last);
	return cut_last(path);
}

/* The value of a metric if it is the same in all points that have it; else NaN. */
static double constant(const struct sweep_table *table, const char *name)
{
	size_t metric = sweep_table_metric(table, name);
	double value = NAN;

	for (size_t i = 0; i < table->point_count && metric != SIZE_MAX; i++) {
		const struct sweep_point *point = &table->points[i];

		if (!point->usable || isnan(point->metrics[metric]))
			continue;
		if (!isnan(value) && value != point->metrics[metric])
			return NAN;
		value = point->metrics[metric];
	}
	return value;
}

/* " of flows from 10KB to 100KB". max_bytes itself is in the class, which ends at max_bytes + 1. */
static char *size_class(const struct sweep_table *table, const char *index)
{
	char *low_name = xasprintf("flows.by_size.%s.min_bytes", index);
	char *high_name = xasprintf("flows.by_size.%s.max_bytes", index);
	double low = table ? constant(table, low_name) : NAN;
	double high = table ? constant(table, high_name) : NAN;
	char from[32], to[32];

	free(low_name);
	free(high_name);
	if (!(low >= 0) /* NaN, too */ || low > 1e18 || high > 1e18)
		return xasprintf(", size class %s", index);
	unit_format(UNIT_SIZE, (uint64_t)low, from, sizeof(from));
	if (isnan(high))
		return xasprintf(" of flows from %s on", from);
	unit_format(UNIT_SIZE, (uint64_t)high + 1, to, sizeof(to));
	return low == 0 ? xasprintf(" of flows below %s", to)
			: xasprintf(" of flows from %s to %s", from, to);
}

/* Spells out an unknown quantity without its unit: "jobs: new thing". */
static char *plain(const char *group, size_t group_length, char *quantity)
{
	size_t stem;

	metric_unit_of(quantity, &stem);
	quantity[stem] = '\0';
	for (char *p = quantity; *p; p++)
		if (*p == '_')
			*p = ' ';
	return xasprintf("%.*s%s%s", (int)group_length, group, group_length ? ": " : "", quantity);
}

/* Words for what is between group and quantity in a path: " of vgg", " of flows below 10KB",
 * ", by_tier.0". */
static char *of_what(const struct sweep_table *table, const char *rest)
{
	if (!strncmp(rest, ".by_name.", 9))
		return xasprintf(" of %s", rest + 9);
	if (!strncmp(rest, ".by_size.", 9))
		return size_class(table, rest + 9);
	return *rest == '.' ? xasprintf(", %s", rest + 1) : xstrdup("");
}

/* Returns the words of a quantity; NULL if it is unknown. The first `group` bytes of the path say
 * what it is of: "jobs", "flows". Also finds quantities that only groups by name have. */
static const char *known_words(const char *path, size_t group, const char *quantity)
{
	char of[32];
	const struct metric *metric;

	snprintf(of, sizeof(of), "%.*s", (int)group, path);
	metric = metric_find(of, quantity, strlen(quantity));
	if (!metric) {
		snprintf(of, sizeof(of), "%.*s.by_name", (int)group, path);
		metric = metric_find(of, quantity, strlen(quantity));
	}
	return metric ? metric->words : NULL;
}

/* Reads the path from its end, since a user's name (after "by_name") may contain dots. */
char *metric_words(const char *name, const struct sweep_table *table)
{
	const char *statistic;
	char *path = xstrdup(name), *quantity = cut_path(path, &statistic);
	size_t group = strcspn(path, ".");
	char *of = of_what(table, path + group);
	const char *known = known_words(path, group, quantity);
	char *what = known ? xstrdup(known) : plain(path, group, quantity);
	char *words =
		xasprintf("%s%s%s%s", what, of, statistic ? ", " : "", statistic ? statistic : "");

	free(what);
	free(of);
	free(quantity);
	free(path);
	return words;
}
