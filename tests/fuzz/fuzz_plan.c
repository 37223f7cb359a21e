/* Any bytes as a sweep plan: no crash, no leak, no expansion beyond max_points, and
 * every point of an accepted plan has its values and its words.
 * Covers: sim/lab/sweep/plan_axes.c sim/lab/sweep/plan_values.c
 * sim/lab/sweep/plan_expand.c */
#include "lab/sweep/plan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct plan *plan, size_t number)
{
	const struct plan_setting **settings;
	size_t count;
	struct conf_override *overrides = plan_overrides(plan, number, &count, &settings);

	plan_point_words(plan, number);
	for (size_t i = 0; i < count; i++)
		if (overrides[i].pointer[0] != '/' || !overrides[i].value[0])
			abort();
	free(settings);
	free(overrides);
}

/* Each point has a level of the axis, or none where the axis is limited. */
static void count_levels(const struct plan *plan, size_t axis)
{
	size_t *points = plan_level_points(plan, axis), all = 0;

	for (size_t l = 0; l <= plan->axes[axis].count; l++)
		all += points[l];
	if (all != plan->point_count ||
	    (points[plan->axes[axis].count] && !plan->axes[axis].limited))
		abort();
	free(points);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const taken[] = { "events", NULL };
	struct plan *plan = plan_parse("fuzz", (const char *)data, size, taken);
	FILE *sink = fopen("/dev/null", "w");

	if (!sink)
		abort();
	conf_print_errors(plan->doc, sink, false);
	if (!conf_errors(plan->doc)) {
		if (!plan->point_count || plan->point_count > 1000000)
			abort();
		for (size_t a = 0; a < plan->axis_count; a++)
			count_levels(plan, a);
		for (size_t i = 0; i < plan->point_count && i < 100; i++)
			look_at(plan, i);
		look_at(plan, plan->point_count - 1);
	}
	plan_free(plan);
	fclose(sink);
	return 0;
}
