#include "lab/figures/sweep_sheet.h"

#include "base/mem.h"
#include "data/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The points of a cell or, if `base`, of the cell that is its baseline. NULL: there are none. */
static const struct group *group_at(const struct sheet *sheet, size_t column, size_t row, bool base)
{
	const struct sweep_choice *choice = sheet->choice;
	size_t axes = sheet->table->axis_count, *levels = xcalloc(axes + 1, sizeof(*levels));
	const struct group *found;

	memcpy(levels, sheet->fixed, axes * sizeof(*levels));
	if (choice->x != SIZE_MAX)
		levels[choice->x] = choice->x_level[column];
	if (choice->by != SIZE_MAX)
		levels[choice->by] = choice->y_level[row];
	if (base)
		levels[choice->base_axis] = choice->base_level;
	found = groups_find(sheet->table, sheet->groups, levels);
	free(levels);
	return found;
}

const struct group *sheet_group(const struct sheet *sheet, size_t column, size_t row)
{
	return group_at(sheet, column, row, false);
}

static bool is_partial(const struct sheet *sheet, const struct group *group)
{
	return group && group_work(sheet->table, group, sheet->metric).partial;
}

enum sheet_mark sheet_mark(const struct sheet *sheet, size_t column, size_t row)
{
	const struct group *own = group_at(sheet, column, row, false);

	return is_partial(sheet, own)    ? MARK_PARTIAL
	       : own && own->substituted ? MARK_SUBSTITUTED
					 : MARK_NONE;
}

struct estimate sheet_estimate(const struct sheet *sheet, size_t column, size_t row)
{
	const struct group *own = group_at(sheet, column, row, false), *base = own;
	bool ratio;

	if (own && sheet->choice->base_axis != SIZE_MAX)
		base = group_at(sheet, column, row, true);
	ratio = sheet->choice->base_axis != SIZE_MAX;
	if (!base || (ratio && (is_partial(sheet, own) || is_partial(sheet, base))))
		return (struct estimate){ .value = NAN, .low = NAN, .high = NAN };
	return sheet->choice->base_axis == SIZE_MAX
		       ? group_mean(own, sheet->metric)
		       : group_ratio(base, sheet->metric, own, sheet->metric, &sheet->table->rule)
				 .ratio;
}

struct verdict sheet_verdict(const struct sheet *sheet, size_t column, size_t row)
{
	const struct group *own = group_at(sheet, column, row, false), *base = NULL;

	if (own && sheet->choice->base_axis != SIZE_MAX)
		base = group_at(sheet, column, row, true);
	if (!base || base == own)
		return (struct verdict){ .kind = VERDICT_NONE };
	return group_ratio(base, sheet->metric, own, sheet->metric, &sheet->table->rule).verdict;
}

double *sheet_values(const struct sheet *sheet, size_t column, size_t row, size_t *count)
{
	const struct group *own = group_at(sheet, column, row, false);
	double *values = own ? group_values(own, sheet->metric) : NULL;

	*count = 0;
	for (size_t i = 0; own && i < own->count; i++)
		if (!isnan(values[i]))
			values[(*count)++] = values[i];
	stats_sort(values, *count);
	return values;
}
