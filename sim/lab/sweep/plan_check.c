/* Checks that the scenarios of all points are valid and different. A mistake or warning usually
 * concerns many points: it is reported once, at the value that causes it or, if all values of an
 * axis do, at the axis's pointer. */
#include "lab/sweep/plan_parts.h"

#include "base/mem.h"
#include "conf/buf.h"

#include <stdlib.h>
#include <string.h>

/* A mistake of one point or more, or a warning. */
struct finding {
	const char *place;  /* where the plan has the value that is wrong */
	const char *origin; /* of the setting with that value; NULL if no single setting is wrong */
	const char *pointer; /* to what is wrong in the scenario; "" if no single member is */
	const char *text;
	size_t first, last; /* numbers of the first and last point that have the mistake */
	size_t count;       /* how many points have it */
	bool reported;      /* already, together with another finding */
};

struct findings {
	struct plan *plan;
	enum conf_severity severity;
	struct finding *items;
	size_t count, capacity;
};

#define FINDINGS_MAX 200 /* after so many, no further points are checked */

/* Whether two texts differ in numbers alone. */
static bool alike(const char *a, const char *b)
{
	static const char number[] = "0123456789.";

	for (;; a++, b++) {
		a += strspn(a, number);
		b += strspn(b, number);
		if (*a != *b || !*a)
			return *a == *b;
	}
}

/* Whether a message of a point, at the same places, is one that is known. */
static bool is_known(const struct findings *findings, const struct finding *known, size_t point,
		     const char *text)
{
	if (findings->severity != CONF_ERROR)
		return alike(known->text, text);
	return known->last != point || !strcmp(known->text, text);
}

/* Adds a mistake of a point. If another point has one at the same places, it is the same mistake,
 * even if its text differs, since a text may have values of its point. Two mistakes of one point
 * stay two if their texts differ, and so do warnings of which more than numbers differs. */
static void add_finding(struct findings *findings, size_t point, const char *place,
			const char *origin, const char *pointer, const char *text)
{
	struct conf_doc *doc = findings->plan->doc;

	for (size_t i = 0; i < findings->count; i++) {
		struct finding *known = &findings->items[i];

		if (!strcmp(known->place, place) && !strcmp(known->pointer, pointer) &&
		    is_known(findings, known, point, text)) {
			known->count += known->last != point;
			known->last = point;
			return;
		}
	}
	findings->items = array_reserve(findings->items, findings->count, &findings->capacity,
					sizeof(*findings->items));
	findings->items[findings->count++] =
		(struct finding){ .place = place,
				  .origin = origin,
				  .pointer = conf_at(doc, "%s", pointer),
				  .text = conf_at(doc, "%s", text),
				  .first = point,
				  .last = point,
				  .count = 1 };
}

/* Whether an axis has two values or more and all get the same message: then the pointer is wrong,
 * not the values. */
static bool pointer_is_wrong(const struct findings *findings, const struct finding *finding)
{
	size_t values = 0, same = 0, count; /* same: values that get this message */
	struct plan_use *uses;

	/* in "set" and in "cases" of an axis the JSON pointer is the key of its value: set_map()
	 * gives both one place */
	if (!finding->origin || finding->origin == finding->place)
		return false;
	count = plan_uses(findings->plan, &uses);
	for (size_t i = 0; i < count; i++)
		values += !strcmp(uses[i].setting->origin, finding->origin);
	free(uses);
	for (size_t i = 0; i < findings->count; i++)
		same += findings->items[i].origin &&
			!strcmp(findings->items[i].origin, finding->origin) &&
			!strcmp(findings->items[i].pointer, finding->pointer) &&
			!strcmp(findings->items[i].text, finding->text);
	return values > 1 && same == values;
}

/* Reports a finding. If the pointer is wrong, one report stands for all values of the axis. */
static void report_finding(struct findings *findings, struct finding *finding)
{
	struct conf_doc *doc = findings->plan->doc;
	bool whole = pointer_is_wrong(findings, finding);
	const char *words = plan_point_words(findings->plan, finding->first);

	for (size_t i = 0; whole && i < findings->count; i++) {
		struct finding *other = &findings->items[i];

		if (other->origin && !strcmp(other->origin, finding->origin) &&
		    !strcmp(other->pointer, finding->pointer) &&
		    !strcmp(other->text, finding->text))
			other->reported = true;
	}
	if (whole)
		conf_say(doc, findings->severity, finding->origin, "the scenario's %s: %s",
			 finding->pointer, finding->text);
	else
		conf_say(doc, findings->severity, finding->place,
			 "%s%s%s%s (%zu point%s, the first is %zu%s%s)",
			 *finding->pointer ? "the scenario's " : "", finding->pointer,
			 *finding->pointer ? ": " : "", finding->text, finding->count,
			 finding->count > 1 ? "s" : "", finding->first, *words ? ": " : "", words);
}

/* An axis of schemes leaves parameters of the others idle: that matters where all points do. */
static bool idle_in_some(const struct findings *findings, const struct finding *finding)
{
	static const char idle[] = "has no effect";

	return findings->severity == CONF_WARNING &&
	       !strncmp(finding->text, idle, sizeof(idle) - 1) &&
	       finding->count < findings->plan->point_count;
}

static void report_all(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (!findings->items[i].reported && !idle_in_some(findings, &findings->items[i]))
			report_finding(findings, &findings->items[i]);
	free(findings->items);
}

/* Assigns the mistakes of a scenario, or its warnings, to the values that make them. */
static void sort_messages(struct findings *findings, size_t point, const struct conf_doc *doc,
			  const struct plan_setting *const *settings)
{
	bool errors = findings->severity == CONF_ERROR;
	struct conf_mistake mistake;

	for (size_t i = 0; errors ? conf_mistake(doc, i, &mistake) : conf_warning(doc, i, &mistake);
	     i++) {
		/* `override` counts from 1, and the seed's has no setting. 0: a value of the base
		 * file, which is valid with "set" alone, so the axes make the mistake. */
		const struct plan_setting *from =
			mistake.override ? settings[mistake.override - 1] : NULL;
		const char *place = from               ? from->place
				    : mistake.override ? "/seed"
				    : errors           ? "/axes"
						       : "/base";

		add_finding(findings, point, place, from ? from->origin : NULL, mistake.pointer,
			    mistake.text);
	}
}

static void look_at(struct findings *findings, struct findings *warnings, size_t number,
		    plan_model *model, struct point_facts *facts)
{
	const struct plan_setting **settings;
	size_t count;
	struct conf_override *overrides = plan_overrides(findings->plan, number, &count, &settings);
	struct conf_doc *doc = model(findings->plan->base, overrides, count, facts);

	sort_messages(findings, number, doc, settings);
	if (warnings)
		sort_messages(warnings, number, doc, settings);
	conf_doc_free(doc);
	free(overrides);
	free(settings);
}

void plan_check_point(struct plan *plan, size_t number, plan_model *model)
{
	struct findings findings = { .plan = plan };
	struct point_facts facts;

	look_at(&findings, NULL, number, model, &facts);
	report_all(&findings);
}

/* The base scenario must be valid when only "set" has changed it. */
static bool check_base(struct plan *plan, plan_model *model)
{
	struct conf_override *overrides = xcalloc(plan->set.count, sizeof(*overrides));
	struct conf_mistake mistake;
	struct point_facts facts;
	struct conf_doc *doc;
	bool good;

	for (size_t i = 0; i < plan->set.count; i++)
		overrides[i] = (struct conf_override){ plan->set.settings[i].pointer,
						       plan->set.settings[i].value };
	doc = model(plan->base, overrides, plan->set.count, &facts);
	for (size_t i = 0; conf_mistake(doc, i, &mistake); i++) {
		if (mistake.override)
			conf_error(plan->doc, plan->set.settings[mistake.override - 1].place,
				   "the scenario's %s: %s", mistake.pointer, mistake.text);
		else
			conf_error(plan->doc, "/base", "%s%s%s: %s", plan->base,
				   *mistake.pointer ? ", " : "", mistake.pointer, mistake.text);
	}
	good = !conf_errors(doc);
	conf_doc_free(doc);
	free(overrides);
	return good;
}

/* --- points that are the same --- */

struct numbered {
	uint64_t hash;
	size_t number;
};

static int compare_numbered(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Reports that two points are the same. Blames the first axis in which they differ. */
static void add_twin(struct findings *findings, size_t former, size_t number)
{
	const struct plan *plan = findings->plan;
	const size_t *x = plan->points[former].levels, *y = plan->points[number].levels;
	const char *place = "/replications";

	for (size_t a = plan->axis_count; a-- > 0;) /* backwards, so that the first axis wins */
		if (x[a] != y[a])
			place = plan->axes[a].levels[y[a]].place;
	add_finding(
		findings, number, place, NULL, "",
		conf_at(plan->doc,
			"gives the same scenario as another value: points %zu and %zu are equal",
			number, former));
}

static void look_for_twins(struct findings *findings, const struct point_facts *facts)
{
	size_t count = findings->plan->point_count;
	struct numbered *sorted = xcalloc(count, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct numbered){ facts[i].hash, i };
	qsort(sorted, count, sizeof(*sorted), compare_numbered);
	for (size_t i = 1; i < count; i++)
		if (sorted[i].hash == sorted[i - 1].hash)
			add_twin(findings, sorted[i - 1].number, sorted[i].number);
	free(sorted);
}

void plan_check(struct plan *plan, plan_model *model, struct point_facts *facts)
{
	struct findings findings = { .plan = plan };
	struct findings warnings = { .plan = plan, .severity = CONF_WARNING };

	if (!check_base(plan, model))
		return;
	for (size_t i = 0; i < plan->point_count && findings.count < FINDINGS_MAX; i++)
		look_at(&findings, &warnings, i, model, &facts[i]);
	if (!findings.count)
		look_for_twins(&findings, facts);
	if (findings.count)
		warnings.count = 0; /* errors alone are said */
	report_all(&findings);
	report_all(&warnings);
}
