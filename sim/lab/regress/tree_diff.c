#include "lab/regress/tree_diff.h"

#include "base/mem.h"
#include "io/number.h"
#include "lab/summary.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct comparison {
	const struct regress_tolerance *tolerances;
	size_t count;
	struct tree_diff *diff;
};

static char *text_of(const cJSON *item)
{
	char number[NUMBER_TEXT];

	if (!item)
		return xstrdup("missing");
	if (cJSON_IsNumber(item)) {
		number_real(number, item->valuedouble);
		return xstrdup(number);
	}
	if (cJSON_IsString(item))
		return xasprintf("\"%s\"", item->valuestring);
	if (cJSON_IsNull(item))
		return xstrdup("null");
	if (cJSON_IsBool(item))
		return xstrdup(cJSON_IsTrue(item) ? "true" : "false");
	return xstrdup(cJSON_IsArray(item) ? "a list" : "an object");
}

static void add(const struct comparison *c, const char *path, const cJSON *reference,
		const cJSON *found, const struct regress_tolerance *tolerance)
{
	struct tree_diff *diff = c->diff;

	diff->fields =
		array_reserve(diff->fields, diff->count, &diff->capacity, sizeof(*diff->fields));
	diff->fields[diff->count++] = (struct field_diff){
		.path = xstrdup(path),
		.reference = text_of(reference),
		.found = text_of(found),
		.tolerant = tolerance,
		.relative = tolerance ? tolerance->relative : 0,
		.absolute = tolerance ? tolerance->absolute : 0,
	};
}

static const struct regress_tolerance *tolerance_of(const struct comparison *c, const char *path)
{
	for (size_t i = 0; i < c->count; i++)
		if (!fnmatch(c->tolerances[i].field, path, 0))
			return &c->tolerances[i];
	return NULL;
}

static void compare_numbers(const struct comparison *c, const char *path, const cJSON *reference,
			    const cJSON *found)
{
	const struct regress_tolerance *t = tolerance_of(c, path);
	double a = reference->valuedouble, b = found->valuedouble, gap = fabs(a - b);

	if (gap == 0)
		return;
	if (t && (gap <= t->absolute || gap <= t->relative * fmax(fabs(a), fabs(b))))
		return;
	add(c, path, reference, found, t);
}

static void compare(const struct comparison *c, const char *path, const cJSON *reference,
		    const cJSON *found);

/* Children by position, or by key. */
static void compare_children(const struct comparison *c, const char *path, bool by_position,
			     const cJSON *reference, const cJSON *found)
{
	const cJSON *child;
	int i = 0, matched = 0;

	cJSON_ArrayForEach(child, reference)
	{
		const cJSON *other =
			by_position ? cJSON_GetArrayItem(found, i)
				    : cJSON_GetObjectItemCaseSensitive(found, child->string);
		char *step = by_position
				     ? xasprintf("%s%s%d", path, *path ? "." : "", i)
				     : xasprintf("%s%s%s", path, *path ? "." : "", child->string);

		if (other)
			compare(c, step, child, other);
		else
			add(c, step, child, NULL, NULL);
		matched += other != NULL;
		i++;
		free(step);
	}
	c->diff->added += (size_t)(cJSON_GetArraySize(found) - matched);
}

static bool ends_in_by_name(const char *path)
{
	const char *last = strrchr(path, '.');

	return !strcmp(last ? last + 1 : path, "by_name");
}

static void compare(const struct comparison *c, const char *path, const cJSON *reference,
		    const cJSON *found)
{
	if (cJSON_IsObject(reference) && cJSON_IsObject(found))
		compare_children(c, path, ends_in_by_name(path), reference, found);
	else if (cJSON_IsArray(reference) && cJSON_IsArray(found))
		compare_children(c, path, true, reference, found);
	else if (cJSON_IsNumber(reference) && cJSON_IsNumber(found))
		compare_numbers(c, path, reference, found);
	else if (!cJSON_Compare(reference, found, true))
		add(c, path, reference, found, NULL);
}

void tree_compare(const cJSON *reference, const cJSON *found,
		  const struct regress_tolerance *tolerances, size_t count, struct tree_diff *diff)
{
	struct comparison c = { tolerances, count, diff };

	compare(&c, "", reference, found);
}

void tree_diff_release(struct tree_diff *diff)
{
	for (size_t i = 0; i < diff->count; i++) {
		free(diff->fields[i].path);
		free(diff->fields[i].reference);
		free(diff->fields[i].found);
	}
	free(diff->fields);
	*diff = (struct tree_diff){ 0 };
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
