#include "lab/regress/field_diff.h"

#include "base/mem.h"
#include "lab/json_diff.h"
#include "lab/summary.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "/jobs/0/workers" becomes "jobs.0.workers". */
static char *path_of(const char *pointer)
{
	char *path = xstrdup(*pointer ? pointer + 1 : pointer);

	for (char *p = path; *p; p++)
		if (*p == '/')
			*p = '.';
	return path;
}

/* The first tolerance whose pattern fits the path, or NULL. */
static const struct regress_tolerance *tolerance_of(const struct regress_tolerance *tolerances,
						    size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (!fnmatch(tolerances[i].field, path, 0))
			return &tolerances[i];
	return NULL;
}

static bool is_allowed(const struct regress_tolerance *t, double a, double b)
{
	double gap = fabs(a - b);

	return gap <= t->absolute || gap <= t->relative * fmax(fabs(a), fabs(b));
}

/* Adds the difference unless a tolerance allows it. */
static void add(struct field_diffs *diffs, const struct json_difference *item,
		const struct regress_tolerance *tolerances, size_t count)
{
	char *path = path_of(item->pointer);
	const struct regress_tolerance *t = NULL;
	bool numbers = cJSON_IsNumber(item->a) && cJSON_IsNumber(item->b);

	if (numbers)
		t = tolerance_of(tolerances, count, path);
	if (t && is_allowed(t, item->a->valuedouble, item->b->valuedouble)) {
		free(path);
		return;
	}
	diffs->fields[diffs->count++] = (struct field_diff){
		.path = path,
		.reference = json_diff_text(item->a, "missing"),
		.found = json_diff_text(item->b, "missing"),
		.numbers = { .given = numbers,
			     .reference = numbers ? item->a->valuedouble : 0,
			     .found = numbers ? item->b->valuedouble : 0 },
		.tolerant = t,
		.relative = t ? t->relative : 0,
		.absolute = t ? t->absolute : 0,
	};
}

double field_diff_change(const struct field_diff *diff)
{
	double reference = diff->numbers.reference;

	return diff->numbers.given && reference != 0
		       ? (diff->numbers.found - reference) / fabs(reference)
		       : NAN;
}

void field_diffs_find(const cJSON *reference, const cJSON *found,
		      const struct regress_tolerance *tolerances, size_t count, bool additions,
		      struct field_diffs *diffs)
{
	struct json_diff all = { .by_position = "by_name" };

	json_diff_add(&all, "", reference, found);
	diffs->fields = xcalloc(all.count + 1, sizeof(*diffs->fields));
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].a || additions)
			add(diffs, &all.items[i], tolerances, count);
		else
			diffs->added++;
	json_diff_release(&all);
}

void field_diffs_release(struct field_diffs *diffs)
{
	for (size_t i = 0; i < diffs->count; i++) {
		free(diffs->fields[i].path);
		free(diffs->fields[i].reference);
		free(diffs->fields[i].found);
	}
	free(diffs->fields);
	*diffs = (struct field_diffs){ 0 };
}

void summary_strip(cJSON *summary)
{
	static const char *const names[] = { "scenario", "digest", "events" };
	cJSON *next;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(summary, names[i]);
	for (cJSON *item = summary->child; item; item = next) {
		next = item->next;
		if (summary_is_of_machine(item->string))
			cJSON_Delete(cJSON_DetachItemViaPointer(summary, item));
	}
}
