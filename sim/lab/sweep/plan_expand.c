/* Makes numbered points from axes: all combinations except those left out. */
#include "lab/sweep/plan_parts.h"

#include "base/hash.h"
#include "base/mem.h"
#include "conf/buf.h"
#include "lab/names.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* Seeds have 53 bits: the scenario allows only numbers that are exact in a double. */
#define SEED_MASK ((UINT64_C(1) << 53) - 1)

/* --- constraints --- */

static void unknown_axis(struct plan *plan, const char *name, const char *place)
{
	const char **names = conf_own(plan->doc, plan->axis_count, sizeof(*names));
	char *text;

	for (size_t a = 0; a < plan->axis_count; a++)
		names[a] = plan->axes[a].name;
	text = names_unknown("axis", name, plan->axis_count ? "there are" : NULL, names,
			     plan->axis_count);
	conf_error(plan->doc, place, "%s", text);
	free(text);
}

static void unknown_value(struct plan *plan, const struct plan_axis *axis, const char *label,
			  const char *place)
{
	const char **labels = conf_own(plan->doc, axis->count, sizeof(*labels));
	char *text;

	for (size_t l = 0; l < axis->count; l++)
		labels[l] = axis->levels[l].label;
	text = names_unknown("value", label, conf_at(plan->doc, "axis \"%s\" has", axis->name),
			     labels, axis->count);
	conf_error(plan->doc, place, "%s", text);
	free(text);
}

/* The index of the level with this label; axis->count if there is none. */
static size_t find_level(const struct plan_axis *axis, const char *label)
{
	size_t l = 0;

	while (l < axis->count && strcmp(axis->levels[l].label, label))
		l++;
	return l;
}

size_t plan_find_axis(struct plan *plan, const char *name, const char *place)
{
	for (size_t a = 0; a < plan->axis_count; a++)
		if (!strcmp(plan->axes[a].name, name))
			return a;
	unknown_axis(plan, name, place);
	return SIZE_MAX;
}

size_t plan_find_level(struct plan *plan, const struct plan_axis *axis, const char *label,
		       const char *place)
{
	size_t level = find_level(axis, label);

	if (level < axis->count)
		return level;
	unknown_value(plan, axis, label, place);
	return SIZE_MAX;
}

/* The index of the level that is this number in any spelling (a range has 0.00001 where JSON prints
 * 1e-05); axis->count if there is none. */
static size_t find_number(const struct plan_axis *axis, double number)
{
	for (size_t l = 0; l < axis->count; l++) {
		char *end;

		if (strtod(axis->levels[l].label, &end) == number && !*end)
			return l;
	}
	return axis->count;
}

/* Marks the level of a value as allowed. */
static void allow_value(struct plan *plan, const struct plan_axis *axis, const cJSON *value,
			bool *allowed, const char *place)
{
	struct conf_buf text = { 0 };
	const char *label;
	size_t l;

	conf_buf_add_json(&text, value, false);
	label = cJSON_IsString(value) ? value->valuestring : conf_buf_text(&text);
	l = find_level(axis, label);
	if (l == axis->count && cJSON_IsNumber(value))
		l = find_number(axis, value->valuedouble);
	if (l < axis->count)
		allowed[l] = true;
	else
		unknown_value(plan, axis, label, place);
	conf_buf_release(&text);
}

/* Reads which values a constraint allows on the axis `name`: one value, or any of a list. But a
 * list that is itself a value of the axis is one value. `allowed` has the levels of all axes, axis
 * by axis. */
static void read_condition(struct plan *plan, bool *allowed, const char *name, const char *json,
			   const char *place)
{
	size_t index = 0;
	const struct plan_axis *axis = plan->axes, *end = axis + plan->axis_count;
	cJSON *value;

	for (; axis < end && strcmp(axis->name, name); axis++)
		allowed += axis->count;
	if (axis == end) {
		unknown_axis(plan, name, place);
		return;
	}
	value = cJSON_Parse(json);
	memset(allowed, false, axis->count);
	if (!cJSON_IsArray(value) || find_level(axis, json) < axis->count)
		allow_value(plan, axis, value, allowed, place);
	else
		for (const cJSON *item = value->child; item; item = item->next, index++)
			allow_value(plan, axis, item, allowed,
				    conf_at(plan->doc, "%s/%zu", place, index));
	cJSON_Delete(value);
}

/* What an axis is limited by must be there in every point. */
static void check_limit(struct plan *plan, const char *name, const char *place)
{
	for (size_t a = 0; a < plan->axis_count; a++)
		if (plan->axes[a].limited && !strcmp(plan->axes[a].name, name))
			conf_error(plan->doc, plan_place(plan, place, name),
				   "axis \"%s\" has an \"only\" itself; name the axis that it is "
				   "limited by",
				   name);
}

static size_t all_levels(const struct plan *plan)
{
	size_t count = 0;

	for (size_t a = 0; a < plan->axis_count; a++)
		count += plan->axes[a].count;
	return count;
}

/* Reads which levels a constraint allows, axis by axis. */
static void read_constraint(struct plan *plan, const struct conf_map *map, const char *place,
			    bool *allowed)
{
	const char *const *values = map->items;

	memset(allowed, true, all_levels(plan));
	for (size_t i = 0; i < map->count; i++)
		read_condition(plan, allowed, map->keys[i], values[i],
			       plan_place(plan, place, map->keys[i]));
}

/* Returns which levels are allowed: constraint by constraint, axis by axis. The caller frees. */
static bool *read_constraints(struct plan *plan, const struct conf_list *list, const char *at)
{
	const struct conf_map *maps = list->items;
	size_t levels = all_levels(plan);
	bool *allowed = xcalloc(list->count * levels + 1, sizeof(*allowed));

	for (size_t c = 0; c < list->count; c++)
		read_constraint(plan, &maps[c], conf_at(plan->doc, "%s/%zu", at, c),
				&allowed[c * levels]);
	return allowed;
}

/* Returns to which levels of all axes each axis applies: axis by axis. The caller frees. */
static bool *read_limits(struct plan *plan, const struct plan_conf *conf)
{
	const struct axis_conf *axes = conf->axes.items;
	size_t levels = all_levels(plan);
	bool *applies = xcalloc(plan->axis_count * levels + 1, sizeof(*applies));

	for (size_t a = 0; a < plan->axis_count; a++) {
		const char *place = plan_place(plan, plan->axes[a].place, "only");

		for (size_t i = 0; i < axes[a].only.count; i++)
			check_limit(plan, axes[a].only.keys[i], place);
		read_constraint(plan, &axes[a].only, place, &applies[a * levels]);
	}
	return applies;
}

/* Whether a combination of levels meets one of the constraints. Walks `allowed` axis by axis. */
static bool any_holds(const struct plan *plan, const bool *allowed, size_t count,
		      const size_t *levels)
{
	for (size_t c = 0; c < count; c++) {
		bool all = true;

		for (size_t a = 0; a < plan->axis_count; a++) {
			all = all && allowed[levels[a]];
			allowed += plan->axes[a].count;
		}
		if (all)
			return true;
	}
	return false;
}

/* --- points --- */

/* The seed of a replication. With common random numbers it is the same in all combinations, else it
 * is different in each. */
static uint64_t seed_of(const struct plan *plan, const struct plan_conf *conf, const size_t *levels,
			uint64_t replication)
{
	uint64_t hash = hash_pair((uint64_t)conf->seed, replication);

	for (size_t a = 0; !conf->common_random_numbers && a < plan->axis_count; a++) {
		hash = hash_pair(hash, hash_string(plan->axes[a].name));
		hash = hash_pair(hash, hash_string(plan->axes[a].levels[levels[a]].label));
	}
	return hash & SEED_MASK;
}

static void add_points(struct plan *plan, const struct plan_conf *conf, const size_t *levels)
{
	for (uint64_t r = 0; r < plan->replications; r++)
		plan->points[plan->point_count++] = (struct plan_point){
			.levels = levels,
			.replication = r,
			.seed = plan->own_seeds ? 0 : seed_of(plan, conf, levels, r),
		};
}

static size_t combinations_of(const struct plan *plan)
{
	size_t count = 1;

	for (size_t a = 0; a < plan->axis_count; a++)
		count *= plan->axes[a].count;
	return count;
}

/* Fills in the levels of the combination with this number. The last axis varies fastest. */
static void levels_of(const struct plan *plan, size_t combination, size_t *levels)
{
	for (size_t a = plan->axis_count; a-- > 0;) {
		levels[a] = combination % plan->axes[a].count;
		combination /= plan->axes[a].count;
	}
}

/* Takes from each axis that does not apply its level. Returns the first combination that comes to
 * the same. */
static size_t take_levels(const struct plan *plan, const bool *applies, size_t *levels)
{
	size_t first = 0, all = all_levels(plan);
	uint32_t taken = 0; /* a bit for each axis, of which there are at most 16 */

	for (size_t a = 0; a < plan->axis_count; a++) {
		bool here = any_holds(plan, &applies[a * all], 1, levels);

		first = first * plan->axes[a].count + (here ? levels[a] : 0);
		taken |= here ? 0 : UINT32_C(1) << a;
	}
	for (size_t a = 0; a < plan->axis_count; a++)
		if (taken >> a & 1)
			levels[a] = plan->axes[a].count;
	return first;
}

size_t *plan_level_points(const struct plan *plan, size_t axis)
{
	size_t *count = xcalloc(plan->axes[axis].count + 1, sizeof(*count));

	for (size_t i = 0; i < plan->point_count; i++)
		count[plan->points[i].levels[axis]]++;
	return count;
}

static void warn_lost_values(struct plan *plan)
{
	for (size_t a = 0; a < plan->axis_count; a++) {
		size_t *count = plan_level_points(plan, a);

		for (size_t l = 0; l < plan->axes[a].count; l++)
			if (!count[l])
				conf_warn(plan->doc, plan->axes[a].levels[l].place,
					  "no point is left with %s %s: \"exclude\" and \"only\" "
					  "leave out all",
					  plan->axes[a].name, plan->axes[a].levels[l].label);
		free(count);
	}
}

/* A point to which an axis does not apply stands for all values of the axis: it is left out only if
 * it is with each of them. */
void plan_expand(struct plan *plan, const struct plan_conf *conf)
{
	bool *exclude = read_constraints(plan, &conf->exclude, "/exclude");
	bool *only = read_constraints(plan, &conf->only, "/only");
	bool *applies = read_limits(plan, conf);
	size_t combinations = combinations_of(plan), *level_of;
	bool *made = xcalloc(combinations, sizeof(*made));

	plan->points =
		conf_own(plan->doc, combinations * plan->replications, sizeof(*plan->points));
	/* + 1: a plan may have no axes */
	level_of = conf_own(plan->doc, combinations, (plan->axis_count + 1) * sizeof(size_t));
	for (size_t c = 0; c < combinations && !conf_errors(plan->doc); c++) {
		size_t *levels = level_of + c * plan->axis_count, first;

		levels_of(plan, c, levels);
		if (any_holds(plan, exclude, conf->exclude.count, levels) ||
		    (conf->only.count && !any_holds(plan, only, conf->only.count, levels)))
			continue;
		first = take_levels(plan, applies, levels);
		if (!made[first])
			add_points(plan, conf, levels);
		made[first] = true;
	}
	if (!conf_errors(plan->doc) && !plan->point_count)
		conf_error(plan->doc, conf->exclude.count ? "/exclude" : "/only",
			   "every point is left out: nothing remains to be run");
	if (!conf_errors(plan->doc))
		warn_lost_values(plan);
	free(made);
	free(applies);
	free(exclude);
	free(only);
}
