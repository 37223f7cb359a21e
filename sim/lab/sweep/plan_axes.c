/* Makes axes with levels from what the user wrote. */
#include "lab/sweep/plan_parts.h"

#include "base/mem.h"
#include "conf/buf.h"
#include "lab/sweep/sweep_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const *texts_of(const struct conf_list *list)
{
	return list->items;
}

/* --- names --- */

#define NAME_MAX_LENGTH 60
#define LETTERS         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool good_name(const char *name)
{
	size_t length = strlen(name);

	return length && length <= NAME_MAX_LENGTH && strchr(LETTERS, name[0]) &&
	       strspn(name, LETTERS "0123456789_-") == length;
}

/* `list` ends with NULL, or is NULL. */
static bool is_in(const char *name, const char *const *list)
{
	while (list && *list && strcmp(name, *list))
		list++;
	return list && *list;
}

/* The last step of the axis' first pointer; NULL for zip and cases, whose axis has no pointer, and
 * if the pointer is missing or has no step. */
static const char *default_name(const struct axis_conf *conf)
{
	const char *pointer = conf->strand.has_pointer ? conf->strand.pointer : NULL;
	const char *slash;

	if (conf->strand.has_pointers)
		pointer = texts_of(&conf->strand.pointers)[0];
	slash = pointer ? strrchr(pointer, '/') : NULL;
	return slash ? slash + 1 : NULL;
}

static void name_axis(struct plan *plan, struct plan_axis *axis, const struct axis_conf *conf,
		      const char *const *taken)
{
	const char *place = conf->has_name ? plan_place(plan, axis->place, "name") : axis->place;
	const char *name = conf->has_name ? conf->name : default_name(conf);

	axis->name = name ? name : "";
	if (!name) {
		/* in the other forms the pointer is wrong or missing, which is reported already */
		if (conf->has_zip || conf->has_cases)
			conf_error(plan->doc, place, "an axis of zip or cases needs a \"name\"");
	} else if (!good_name(name)) {
		conf_error(plan->doc, place,
			   "\"%s\" is not a valid axis name: it needs a letter, then letters, "
			   "digits, \"_\" and \"-\", %d characters at most%s",
			   name, NAME_MAX_LENGTH, conf->has_name ? "" : " (give it a \"name\")");
	} else if (is_in(name, sweep_columns) || is_in(name, costs_columns) ||
		   is_in(name, groups_columns) || is_in(name, taken)) {
		conf_error(plan->doc, place,
			   "\"%s\" is a column of the tables already; give the axis another "
			   "\"name\"",
			   name);
	}
	for (const struct plan_axis *other = plan->axes; other < axis; other++)
		if (name && !strcmp(other->name, name))
			conf_error(plan->doc, place, "there is an axis \"%s\" already (%s)", name,
				   other->place);
}

/* --- pointers --- */

/* Checks a pointer as far as that is possible without the scenario. */
static void check_pointer(struct plan *plan, const char *pointer, const char *place)
{
	if (pointer[0] != '/' || !pointer[1])
		conf_error(plan->doc, place,
			   "\"%s\" is no pointer into the scenario, such as /jobs/0/workers",
			   pointer);
	for (const char *p = pointer; *p == '/';) {
		size_t length = 1 + strcspn(p + 1, "/");

		if (length == 2 && p[1] == '-')
			conf_error(plan->doc, place,
				   "\"-\" in \"%s\" does not name an item of a list", pointer);
		p += length;
	}
}

/* Returns the i-th pointer of a strand, "pointer" or one of "pointers", or NULL past the last.
 * The strand stands at `at` in the plan; *place becomes where the pointer stands. */
static const char *strand_pointer(struct plan *plan, const struct strand_conf *strand,
				  const char *at, size_t i, const char **place)
{
	if (strand->has_pointer && i == 0)
		*place = conf_at(plan->doc, "%s/pointer", at);
	else if (strand->has_pointers && i < strand->pointers.count)
		*place = conf_at(plan->doc, "%s/pointers/%zu", at, i);
	else
		return NULL;
	return strand->has_pointer ? strand->pointer : texts_of(&strand->pointers)[i];
}

/* Makes the level set all pointers of a strand to `value`. The strand stands at `at` in the plan,
 * the value at `place`. */
static void set_strand(struct plan *plan, struct plan_level *level,
		       const struct strand_conf *strand, const char *at, const char *value,
		       const char *place)
{
	const char *pointer, *origin;

	for (size_t i = 0; (pointer = strand_pointer(plan, strand, at, i, &origin)); i++)
		plan_add_setting(level, (struct plan_setting){ pointer, value, place, origin });
}

static void check_strand(struct plan *plan, const struct strand_conf *strand, const char *at)
{
	const char *pointer, *place;

	if (strand->has_pointer == strand->has_pointers) { /* both, or neither */
		conf_error(plan->doc, at, "needs either \"pointer\" or \"pointers\"");
		return;
	}
	for (size_t i = 0; (pointer = strand_pointer(plan, strand, at, i, &place)); i++)
		check_pointer(plan, pointer, place);
}

/* --- forms of an axis --- */

/* From FORM_ZIP on, a form contains its pointers; before, they are members of the axis. */
enum form { FORM_VALUES, FORM_RANGE, FORM_LOG, FORM_ZIP, FORM_CASES, FORMS };

static const char *const form_keys[FORMS] = { "values", "range", "log", "zip", "cases" };

/* The one form that an axis has; FORMS after a mistake. */
static enum form form_of(struct plan *plan, const struct axis_conf *conf, const char *at)
{
	const bool given[FORMS] = { conf->strand.has_values, conf->has_range, conf->has_log,
				    conf->has_zip, conf->has_cases };
	enum form form = FORMS;
	size_t count = 0;

	for (int i = 0; i < FORMS; i++)
		if (given[i]) {
			form = (enum form)i;
			count++;
		}
	if (count != 1) {
		conf_error(plan->doc, at,
			   "needs exactly one of \"values\", \"range\", \"log\", \"zip\", "
			   "\"cases\"");
		return FORMS;
	}
	if (form >= FORM_ZIP && (conf->strand.has_pointer || conf->strand.has_pointers)) {
		conf_error(plan->doc, at, "\"%s\" has pointers of its own", form_keys[form]);
		return FORMS;
	}
	if (form < FORM_ZIP)
		check_strand(plan, &conf->strand, at);
	return form;
}

/* --- counting: before any level is made --- */

static uint64_t zip_count(struct plan *plan, const struct axis_conf *conf, const char *list)
{
	const struct strand_conf *strands = conf->zip.items;
	uint64_t count = strands[0].values.count;

	for (size_t i = 0; i < conf->zip.count; i++) {
		const char *place = conf_at(plan->doc, "%s/%zu", list, i);

		check_strand(plan, &strands[i], place);
		if (!strands[i].has_values) {
			conf_error(plan->doc, place, "the key \"values\" is missing");
			count = 0;
		} else if (strands[0].has_values &&
			   strands[i].values.count != strands[0].values.count) {
			conf_error(plan->doc, plan_place(plan, place, "values"),
				   "%zu values, but the first of the zip has %zu",
				   strands[i].values.count, strands[0].values.count);
			count = 0;
		}
	}
	return count;
}

/* Checks the pointers of sets of values by label, which stand at `place`. */
static uint64_t cases_count(struct plan *plan, const struct conf_map *cases, const char *place)
{
	const struct conf_map *maps = cases->items;

	for (size_t c = 0; c < cases->count; c++)
		for (size_t i = 0; i < maps[c].count; i++)
			check_pointer(plan, maps[c].keys[i],
				      plan_place(plan, plan_place(plan, place, cases->keys[c]),
						 maps[c].keys[i]));
	return cases->count;
}

/* Returns the number of levels of an axis: 0 after a mistake, and any number above `max` if there
 * are more than `max`. Sets *list to the values of a range or a log. */
static uint64_t count_levels(struct plan *plan, enum form form, const struct axis_conf *conf,
			     const char *at, uint64_t max, struct value_list *list)
{
	const char *place = form == FORMS ? at : plan_place(plan, at, form_keys[form]);

	switch (form) {
	case FORM_VALUES:
		return conf->strand.values.count;
	case FORM_RANGE:
		*list = range_values(plan, &conf->range, place, max);
		return list->count;
	case FORM_LOG:
		*list = log_values(plan, &conf->log, place, max);
		return list->count;
	case FORM_ZIP:
		return zip_count(plan, conf, place);
	case FORM_CASES:
		return cases_count(plan, &conf->cases, place);
	case FORMS:
		break;
	}
	return 0;
}

/* --- making --- */

/* Makes a level for each value. All strands of a zip have as many values as the first; the other
 * forms have one strand. `list` is the place of a zip's strands, NULL for other forms. `computed`
 * is the place of the range or log that the values come from, NULL if the plan lists the values. */
static void make_levels(struct plan *plan, struct plan_axis *axis,
			const struct strand_conf *strands, size_t strand_count, const char *list,
			const char *computed)
{
	for (size_t v = 0; v < strands[0].values.count; v++) {
		struct plan_level *level = plan_add_level(axis, NULL, computed);
		struct conf_buf label = { 0 };

		for (size_t i = 0; i < strand_count; i++) {
			const char *at = list ? conf_at(plan->doc, "%s/%zu", list, i) : axis->place;
			const char *value = texts_of(&strands[i].values)[v], *place = computed;

			if (!computed)
				place = conf_at(plan->doc, "%s/values/%zu", at, v);
			set_strand(plan, level, &strands[i], at, value, place);
			conf_buf_addf(&label, "%s%s", i ? "/" : "", plan_label(plan, value));
			if (!level->place)
				level->place = place;
		}
		level->label = conf_at(plan->doc, "%s", conf_buf_text(&label));
		conf_buf_release(&label);
	}
}

/* Makes the levels of a range or log (`key`), as if the plan listed its values. */
static void make_computed(struct plan *plan, struct plan_axis *axis, const struct axis_conf *conf,
			  const struct value_list *list, const char *key)
{
	struct strand_conf strand = conf->strand;
	const char **values = xcalloc(list->count, sizeof(*values));

	for (size_t i = 0; i < list->count; i++)
		values[i] = conf_at(plan->doc, list->quoted ? "\"%s\"" : "%s", list->labels[i]);
	strand.values = (struct conf_list){ .items = values, .count = list->count };
	make_levels(plan, axis, &strand, 1, NULL, plan_place(plan, axis->place, key));
	free(values);
}

/* Adds the settings of a map, which stands at `at` in the plan. Its keys are JSON pointers into the
 * scenario. */
static void set_map(struct plan *plan, struct plan_level *level, const struct conf_map *map,
		    const char *at)
{
	const char *const *values = map->items;

	for (size_t i = 0; i < map->count; i++) {
		const char *place = plan_place(plan, at, map->keys[i]);

		plan_add_setting(level,
				 (struct plan_setting){ map->keys[i], values[i], place, place });
	}
}

/* Makes a level for each set of values; they stand at `object` in the plan. */
static void make_cases(struct plan *plan, struct plan_axis *axis, const struct conf_map *cases,
		       const char *object)
{
	const struct conf_map *maps = cases->items;

	for (size_t c = 0; c < cases->count; c++) {
		const char *place = plan_place(plan, object, cases->keys[c]);

		set_map(plan, plan_add_level(axis, cases->keys[c], place), &maps[c], place);
	}
}

static void make_axis(struct plan *plan, struct plan_axis *axis, enum form form,
		      const struct axis_conf *conf, const struct value_list *list)
{
	switch (form) {
	case FORM_VALUES:
		make_levels(plan, axis, &conf->strand, 1, NULL, NULL);
		return;
	case FORM_RANGE:
	case FORM_LOG:
		make_computed(plan, axis, conf, list, form_keys[form]);
		return;
	case FORM_ZIP:
		make_levels(plan, axis, conf->zip.items, conf->zip.count,
			    plan_place(plan, axis->place, "zip"), NULL);
		return;
	case FORM_CASES:
		make_cases(plan, axis, &conf->cases, plan_place(plan, axis->place, "cases"));
		return;
	case FORMS:
		return;
	}
}

/* Adds the level of points to which the axis does not apply, behind those that count. */
static void limit_axis(struct plan *plan, struct plan_axis *axis)
{
	plan_add_level(axis, "", plan_place(plan, axis->place, "only"));
	axis->count--;
	axis->limited = true;
}

static void warn_unmet(struct plan *plan, const struct plan_axis *axis,
		       const struct value_list *list)
{
	if (list->unmet)
		conf_warn(plan->doc, plan_place(plan, axis->place, "log"),
			  "ends at %s, below \"to\", %s, which no step of \"factor\" meets",
			  axis->levels[axis->count - 1].label, list->unmet);
}

/* --- two settings of the same key --- */

/* Whether two pointers are the same, or one leads into the value of the other. */
static bool overlap(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b), shorter = x < y ? x : y;

	return !strncmp(a, b, shorter) && (x == y || (x < y ? b : a)[shorter] == '/');
}

/* Reports if two settings of one point overlap. */
static void check_pair(struct plan *plan, const struct plan_use *use, const struct plan_use *former)
{
	const char *pointer = use->setting->pointer, *other = former->setting->pointer;
	const char *setter = "\"set\"", *which = "";

	/* a point has only one level of an axis */
	if ((use->axis == former->axis && use->level != former->level) || !overlap(pointer, other))
		return;
	if (former->axis && former->axis != &plan->perturb)
		setter = conf_at(plan->doc, "axis \"%s\"", former->axis->name);
	if (strcmp(pointer, other))
		which = conf_at(plan->doc, ", which sets \"%s\"", other);
	conf_error(plan->doc, use->setting->origin, "\"%s\" is also set by %s%s", pointer, setter,
		   which);
}

/* Checks "set", all axes and "perturb" for overlaps. All levels of an axis set the same keys, so
 * its first level is enough; only the levels of cases and of "perturb" may set different keys, so
 * all of them are checked. */
static void check_overlaps(struct plan *plan, const struct plan_conf *conf)
{
	const struct axis_conf *axes = conf->axes.items;
	struct plan_use *uses;
	size_t all = plan_uses(plan, &uses), count = 0;

	for (size_t i = 0; i < all; i++)
		if (!uses[i].level || uses[i].axis == &plan->perturb ||
		    axes[uses[i].axis - plan->axes].has_cases)
			uses[count++] = uses[i];
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			check_pair(plan, &uses[i], &uses[k]);
	free(uses);
}

/* --- values that occur twice --- */

static int compare_levels(const void *a, const void *b)
{
	const struct plan_level *x = *(const struct plan_level *const *)a;
	const struct plan_level *y = *(const struct plan_level *const *)b;
	int order = strcmp(x->label, y->label);

	return order ? order : (x > y) - (x < y);
}

static void check_labels(struct plan *plan, const struct plan_axis *axis)
{
	const struct plan_level **sorted = xcalloc(axis->count, sizeof(*sorted));

	for (size_t i = 0; i < axis->count; i++)
		sorted[i] = &axis->levels[i];
	qsort(sorted, axis->count, sizeof(*sorted), compare_levels);
	for (size_t i = 0; i < axis->count; i++) {
		if (!*sorted[i]->label)
			conf_error(plan->doc, sorted[i]->place, "a value must not be empty");
		if (conf_has_control(sorted[i]->label)) /* sweep.json could not be read */
			conf_error(plan->doc, sorted[i]->place,
				   "a value must have no control character");
		if (i > 0 && !strcmp(sorted[i]->label, sorted[i - 1]->label))
			conf_error(plan->doc, sorted[i]->place, "the value %s occurs twice",
				   sorted[i]->label);
	}
	free(sorted);
}

/* --- all together --- */

static void make_set(struct plan *plan, const struct conf_map *set)
{
	set_map(plan, &plan->set, set, "/set");
	for (size_t i = 0; i < plan->set.count; i++)
		check_pointer(plan, plan->set.settings[i].pointer, plan->set.settings[i].place);
}

/* Counts all points before any level is made: a million points by mistake must cost nothing. False
 * after a mistake. */
static bool count_points(struct plan *plan, const struct plan_conf *conf, const enum form *forms,
			 struct value_list *lists)
{
	const struct axis_conf *axes = conf->axes.items;
	uint64_t max = (uint64_t)conf->max_points, total = plan->replications;
	struct conf_buf product = { 0 };

	for (size_t a = 0; a < plan->axis_count; a++) {
		uint64_t count =
			count_levels(plan, forms[a], &axes[a], plan->axes[a].place, max, &lists[a]);

		/* after a mistake (0) counting goes on, so that other axes are checked, too */
		if (__builtin_mul_overflow(total, count ? count : 1, &total))
			total = UINT64_MAX;
		conf_buf_addf(&product, "%s%" PRIu64 " %s * ", count > max ? "more than " : "",
			      count > max ? max : count, plan->axes[a].name);
	}
	conf_buf_addf(&product, "%" PRIu64 " replications", plan->replications);
	if (!conf_errors(plan->doc) && total > max)
		conf_error(plan->doc, "/axes",
			   "too many points: %s; at most %" PRIu64 " (\"max_points\")",
			   conf_buf_text(&product), max);
	conf_buf_release(&product);
	return !conf_errors(plan->doc);
}

static void make_perturb(struct plan *plan, const struct conf_map *perturb)
{
	plan->perturb = (struct plan_axis){ .name = "perturb", .place = "/perturb" };
	cases_count(plan, perturb, plan->perturb.place);
	make_cases(plan, &plan->perturb, perturb, plan->perturb.place);
	check_labels(plan, &plan->perturb);
	if (perturb->count && plan->replications % perturb->count)
		conf_error(plan->doc, "/replications",
			   "must be a multiple of the number of perturbations (%zu), so that each "
			   "counts as much as the others",
			   perturb->count);
}

/* Finds out whether an axis or "set" sets the seed. */
static void look_for_seed(struct plan *plan)
{
	struct plan_use *uses;
	size_t count = plan_uses(plan, &uses);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(uses[i].setting->pointer, "/seed"))
			continue;
		if (plan->replications > 1 && !plan->own_seeds) /* reported once */
			conf_error(plan->doc, uses[i].setting->origin,
				   "the seed would be the same for all replications; use \"seed\" "
				   "and \"replications\" of the plan instead");
		plan->own_seeds = true;
	}
	free(uses);
}

void plan_make_axes(struct plan *plan, const struct plan_conf *conf, const char *const *taken)
{
	const struct axis_conf *axes = conf->axes.items;
	enum form *forms = xcalloc(conf->axes.count, sizeof(*forms));
	struct value_list *lists = xcalloc(conf->axes.count, sizeof(*lists));

	make_set(plan, &conf->set);
	plan->axes = conf_own(plan->doc, conf->axes.count, sizeof(*plan->axes));
	for (size_t a = 0; a < conf->axes.count; a++) {
		struct plan_axis *axis = &plan->axes[a];

		axis->place = conf_at(plan->doc, "/axes/%zu", a);
		forms[a] = form_of(plan, &axes[a], axis->place);
		if (forms[a] != FORMS)
			name_axis(plan, axis, &axes[a], taken);
		else
			axis->name = "";
		plan->axis_count++;
	}
	if (count_points(plan, conf, forms, lists)) {
		for (size_t a = 0; a < plan->axis_count; a++) {
			make_axis(plan, &plan->axes[a], forms[a], &axes[a], &lists[a]);
			if (axes[a].only.count)
				limit_axis(plan, &plan->axes[a]);
			check_labels(plan, &plan->axes[a]);
		}
		make_perturb(plan, &conf->perturb);
		check_overlaps(plan, conf);
		look_for_seed(plan);
	}
	for (size_t a = 0; a < plan->axis_count && !conf_errors(plan->doc); a++)
		warn_unmet(plan, &plan->axes[a], &lists[a]);
	free(lists);
	free(forms);
}
