#include "lab/sweep/plan_parts.h"

#include "base/mem.h"
#include "conf/buf.h"
#include "data/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SEED_TEXT 24 /* bytes: 20 digits and the '\0' fit */

struct plan_level *plan_add_level(struct plan_axis *axis, const char *label, const char *place)
{
	axis->levels =
		array_reserve(axis->levels, axis->count, &axis->capacity, sizeof(*axis->levels));
	axis->levels[axis->count] = (struct plan_level){ .label = label, .place = place };
	return &axis->levels[axis->count++];
}

void plan_add_setting(struct plan_level *level, struct plan_setting setting)
{
	level->settings = array_reserve(level->settings, level->count, &level->capacity,
					sizeof(*level->settings));
	level->settings[level->count++] = setting;
}

/* Adds the settings of a level to the list; returns the new count. */
static size_t add_uses(struct plan_use **uses, size_t count, size_t *capacity,
		       const struct plan_level *level, const struct plan_axis *axis)
{
	for (size_t i = 0; i < level->count; i++) {
		*uses = array_reserve(*uses, count, capacity, sizeof(**uses));
		(*uses)[count++] = (struct plan_use){ &level->settings[i], axis,
						      axis ? (size_t)(level - axis->levels) : 0 };
	}
	return count;
}

size_t plan_uses(const struct plan *plan, struct plan_use **uses)
{
	size_t capacity = 0, count;

	*uses = NULL;
	count = add_uses(uses, 0, &capacity, &plan->set, NULL);
	for (size_t a = 0; a < plan->axis_count; a++)
		for (size_t l = 0; l < plan->axes[a].count; l++)
			count = add_uses(uses, count, &capacity, &plan->axes[a].levels[l],
					 &plan->axes[a]);
	for (size_t l = 0; l < plan->perturb.count; l++)
		count = add_uses(uses, count, &capacity, &plan->perturb.levels[l], &plan->perturb);
	return count;
}

const char *plan_label(struct plan *plan, const char *json)
{
	cJSON *value = json[0] == '"' ? cJSON_Parse(json) : NULL;
	const char *label = json;

	if (value)
		label = conf_at(plan->doc, "%s", value->valuestring);
	cJSON_Delete(value);
	return label;
}

const char *plan_place(struct plan *plan, const char *parent, const char *step)
{
	struct conf_buf place = { 0 };
	const char *kept;

	conf_buf_add_step(&place, step);
	kept = conf_at(plan->doc, "%s%s", parent, conf_buf_text(&place));
	conf_buf_release(&place);
	return kept;
}

/* The path of the base scenario is relative to the plan. */
static const char *base_path(struct conf_doc *doc, const char *base)
{
	const char *plan = conf_path(doc), *slash = strrchr(plan, '/');

	if (base[0] == '/' || !slash)
		return base;
	return conf_at(doc, "%.*s/%s", (int)(slash - plan), plan, base);
}

/* The name of the sweep becomes the name of a folder, and part of messages. */
static void check_name(struct plan *plan, const char *name)
{
	if (!*name || name[0] == '.' || strchr(name, '/') || strlen(name) > 100)
		conf_error(plan->doc, "/name",
			   "must be a valid folder name: not empty, without \"/\", not starting "
			   "with \".\", at most 100 bytes");
}

static void fill_precision(struct plan *plan, const struct plan_conf *conf)
{
	if (!conf->has_precision)
		return;
	plan->precision = (struct plan_precision){ .of = conf->precision.of,
						   .within = conf->precision.within,
						   .least = (size_t)conf->precision.least,
						   .by = SIZE_MAX,
						   .cpu = conf->precision.cpu };
	if (conf->precision.least > conf->replications)
		conf_error(plan->doc, "/precision/least",
			   "must be at most \"replications\" (%" PRId64 ")", conf->replications);
}

/* Finds the axis and the baseline of comparisons; the plan has its axes. */
static void find_baseline(struct plan *plan, const struct precision_conf *conf)
{
	struct plan_precision *precision = &plan->precision;

	if (conf->baseline && !conf->by)
		conf_error(plan->doc, "/precision/baseline", "needs \"by\"");
	if (!conf->by)
		return;
	precision->by = plan_find_axis(plan, conf->by, "/precision/by");
	if (precision->by != SIZE_MAX && conf->baseline)
		precision->baseline = plan_find_level(plan, &plan->axes[precision->by],
						      conf->baseline, "/precision/baseline");
}

/* Makes a plan from `conf`, which was read from `doc`; the plan then owns `doc`. */
static struct plan *plan_of(struct conf_doc *doc, const struct plan_conf *conf,
			    const char *const *taken)
{
	struct plan *plan = xcalloc(1, sizeof(*plan));

	plan->doc = doc;
	if (conf_errors(doc))
		return plan;
	check_name(plan, conf->name);
	plan->name = conf->name;
	plan->base = base_path(doc, conf->base);
	plan->replications = (uint64_t)conf->replications;
	fill_precision(plan, conf);
	plan->limits = conf->limits;
	plan_make_axes(plan, conf, taken);
	if (!conf_errors(doc) && conf->has_precision)
		find_baseline(plan, &conf->precision);
	if (!conf_errors(doc))
		plan_expand(plan, conf);
	return plan;
}

struct plan *plan_load(const char *path, const char *const *taken)
{
	struct plan_conf conf;
	struct conf_doc *doc = conf_load(path, &plan_table, &conf, NULL, 0);

	return plan_of(doc, &conf, taken);
}

struct plan *plan_parse(const char *name, const char *text, size_t length, const char *const *taken)
{
	struct plan_conf conf;
	struct conf_doc *doc = conf_parse(name, text, length, &plan_table, &conf, NULL, 0);

	return plan_of(doc, &conf, taken);
}

static void axis_release(struct plan_axis *axis)
{
	for (size_t l = 0; l < axis->count; l++)
		free(axis->levels[l].settings);
	free(axis->levels);
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t a = 0; a < plan->axis_count; a++)
		axis_release(&plan->axes[a]);
	axis_release(&plan->perturb);
	free(plan->set.settings);
	conf_doc_free(plan->doc);
	free(plan);
}

const struct plan_level *plan_perturbation(const struct plan *plan, size_t number)
{
	const struct plan_axis *perturb = &plan->perturb;

	return perturb->count ? &perturb->levels[plan->points[number].replication % perturb->count]
			      : NULL;
}

/* Calls `add` for each level that sets values of a point, in their order. */
static void each_level(const struct plan *plan, size_t number,
		       void (*add)(void *owner, const struct plan_level *level), void *owner)
{
	add(owner, &plan->set);
	for (size_t a = 0; a < plan->axis_count; a++)
		add(owner, &plan->axes[a].levels[plan->points[number].levels[a]]);
	if (plan->perturb.count)
		add(owner, plan_perturbation(plan, number));
}

static void count_settings(void *owner, const struct plan_level *level)
{
	*(size_t *)owner += level->count;
}

static void list_settings(void *owner, const struct plan_level *level)
{
	const struct plan_setting ***next = owner;

	for (size_t i = 0; i < level->count; i++)
		*(*next)++ = &level->settings[i];
}

struct conf_override *plan_overrides(const struct plan *plan, size_t number, size_t *count,
				     const struct plan_setting ***settings)
{
	size_t room = 1, n; /* the seed included */
	const struct plan_setting **from, **end;
	struct conf_override *overrides;
	char *seed;

	each_level(plan, number, count_settings, &room);
	end = from = xcalloc(room, sizeof(*from));
	/* the text of the seed follows the overrides in the same memory */
	overrides = xmalloc(room * sizeof(*overrides) + SEED_TEXT);
	seed = (char *)(overrides + room);
	each_level(plan, number, list_settings, &end);
	n = (size_t)(end - from);
	for (size_t i = 0; i < n; i++)
		overrides[i] = (struct conf_override){ from[i]->pointer, from[i]->value };
	if (!plan->own_seeds) {
		snprintf(seed, SEED_TEXT, "%" PRIu64, plan->points[number].seed);
		overrides[n++] = (struct conf_override){ "/seed", seed };
	}
	*count = n;
	if (settings)
		*settings = from;
	else
		free(from);
	return overrides;
}

const char *plan_point_words(const struct plan *plan, size_t number)
{
	const struct plan_point *point = &plan->points[number];
	const char *words = "";

	for (size_t a = 0; a < plan->axis_count; a++)
		if (point->levels[a] < plan->axes[a].count)
			words = conf_at(plan->doc, "%s%s%s=%s", words, *words ? " " : "",
					plan->axes[a].name,
					plan->axes[a].levels[point->levels[a]].label);
	if (plan->replications > 1)
		words = conf_at(plan->doc, "%s%sreplication=%" PRIu64, words, *words ? " " : "",
				point->replication);
	if (plan->perturb.count)
		words = conf_at(plan->doc, "%s perturb=%s", words,
				plan_perturbation(plan, number)->label);
	return words;
}

void plan_axes_json(const struct plan *plan, struct json *json)
{
	json_open_array(json, "axes");
	for (size_t a = 0; a < plan->axis_count; a++) {
		const struct plan_axis *axis = &plan->axes[a];

		json_open_object(json, NULL);
		json_string(json, "name", axis->name);
		json_open_array(json, "values");
		for (size_t l = 0; l < axis->count; l++)
			json_string(json, NULL, axis->levels[l].label);
		json_close_array(json);
		json_close_object(json);
	}
	json_close_array(json);
}
