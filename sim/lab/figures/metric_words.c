#include "lab/figures/metric_words.h"

#include "base/mem.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 8

struct word {
	const char *name, *words;
};

static const struct word statistics[] = {
	{ "mean", "mean" },
	{ "p50", "median" },
	{ "p95", "95th percentile" },
	{ "p99", "99th percentile" },
	{ "max", "maximum" },
	{ "p999", "99.9th percentile" },
	{ 0 },
};

static const struct word quantities[] = {
	{ "jct_s", "job completion time" },
	{ "fct_s", "flow completion time" },
	{ "waiting_s", "time jobs wait for hosts or memory" },
	{ "compute_s", "computation time of jobs" },
	{ "communication_s", "communication time of jobs" },
	{ "iteration_s", "iteration time" },
	{ "cycle_s", "cycle of communication and computing" },
	{ "slowdown", "flow slowdown" },
	{ "throughput_bps", "flow throughput" },
	{ "sim_time_s", "simulated time" },
	{ "ecn_marks", "ECN marks" },
	{ "drops", "packets dropped" },
	{ "losses", "packets lost on links" },
	{ "max_queue_bytes", "longest queue" },
	{ 0 },
};

/* Units are suffixes of names. */
static const struct {
	const char *suffix, *unit;
} suffixes[] = { { "_bytes", "bytes" }, { "_bps", "bit/s" }, { "_s", "s" } };

static const char *lookup(const struct word *words, const char *name)
{
	for (; words->name != NULL; words++)
		if (strcmp(words->name, name) == 0)
			return words->words;
	return NULL;
}

static const char *suffix_of(const char *part, const char **unit)
{
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		size_t length = strlen(part), end = strlen(suffixes[i].suffix);
		if (length > end && strcmp(part + length - end, suffixes[i].suffix) == 0) {
			*unit = suffixes[i].unit;
			return part + length - end;
		}
	}
	*unit = "number";
	return part + strlen(part);
}

/* Cuts at the points; returns the number of parts. A name of a user (after
 * "by_name") may hold points itself: the quantity and the statistic after it are
 * counted from the end. */
static size_t cut(char *copy, char **parts)
{
	size_t count = 0;
	for (char *p = copy; p != NULL && count < PARTS;) {
		parts[count++] = p;
		bool named = count > 1 && strcmp(parts[count - 2], "by_name") == 0;
		if (named) {
			char *last = strrchr(p, '.');
			char *quantity = NULL;
			for (char *q = p; last != NULL && q < last; q++)
				if (*q == '.')
					quantity = q;
			p = quantity != NULL && lookup(statistics, last + 1) != NULL ? quantity
										     : last;
		} else {
			p = strchr(p, '.');
		}
		if (p != NULL)
			*p++ = '\0';
	}
	return count;
}

/* The value of a metric that is the same in all points; NaN if it is not. */
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

/* "of 10KB to 100KB": max_bytes is inside of the class. */
static char *size_class(const struct sweep_table *table, const char *index)
{
	char *low_name = xasprintf("flows.by_size.%s.min_bytes", index);
	char *high_name = xasprintf("flows.by_size.%s.max_bytes", index);
	double low = constant(table, low_name), high = constant(table, high_name);
	char from[32], to[32];
	free(low_name);
	free(high_name);
	if (!(low >= 0) || low > 1e18 || high > 1e18)
		return xasprintf(", size class %s", index);
	unit_format(UNIT_SIZE, (uint64_t)low, from, sizeof from);
	if (isnan(high))
		return xasprintf(" of flows from %s on", from);
	unit_format(UNIT_SIZE, (uint64_t)high + 1, to, sizeof to);
	return low == 0 ? xasprintf(" of flows below %s", to)
			: xasprintf(" of flows from %s to %s", from, to);
}

/* A part that no table knows: without its unit, '_' as blanks. */
static char *plain(const char *part)
{
	const char *unit;
	const char *end = suffix_of(part, &unit);
	char *words = xstrndup(part, (size_t)(end - part));
	for (char *p = words; *p != '\0'; p++)
		if (*p == '_')
			*p = ' ';
	return words;
}

/* "job completion time", or "jobs: new thing" of what is not known. */
static char *quantity_words(const char *group, const char *part)
{
	const char *known = lookup(quantities, part);
	if (known != NULL)
		return xstrdup(known);
	char *words = plain(part);
	char *all = group != NULL ? xasprintf("%s: %s", group, words) : xstrdup(words);
	free(words);
	return all;
}

char *metric_words(const struct sweep_table *table, size_t metric)
{
	char *copy = xstrdup(table->metrics[metric]);
	char *parts[PARTS];
	size_t count = cut(copy, parts), left = count;
	const char *statistic = lookup(statistics, parts[count - 1]);
	left -= statistic != NULL && count > 1;
	char *quantity = quantity_words(left > 1 ? parts[0] : NULL, parts[left - 1]);
	char *of = xstrdup("");
	if (left == 4 && (strcmp(parts[1], "by_name") == 0 || strcmp(parts[1], "by_size") == 0)) {
		free(of);
		of = strcmp(parts[1], "by_size") == 0 ? size_class(table, parts[2])
						      : xasprintf(" of %s", parts[2]);
	} else if (left > 2) { /* some other depth: name what lies between */
		for (size_t i = 1; i + 1 < left; i++) {
			char *longer = xasprintf("%s, %s", of, parts[i]);
			free(of);
			of = longer;
		}
	}
	char *words = statistic != NULL && count > 1
			      ? xasprintf("%s%s, %s", quantity, of, statistic)
			      : xasprintf("%s%s", quantity, of);
	free(quantity);
	free(of);
	free(copy);
	return words;
}

const char *metric_unit(const char *name)
{
	const char *unit;
	const char *dot = strrchr(name, '.');
	char *quantity = xstrdup(name);
	if (dot != NULL && lookup(statistics, dot + 1) != NULL)
		quantity[dot - name] = '\0';
	suffix_of(quantity, &unit);
	free(quantity);
	return unit;
}
