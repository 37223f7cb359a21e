#include "lab/summary.h"

#include "base/mem.h"
#include "base/plain.h"
#include "data/json_read.h"
#include "data/metrics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

char **summary_warnings(const struct summary *summary)
{
	const cJSON *warnings = cJSON_GetObjectItemCaseSensitive(summary->root, "warnings");
	const cJSON *jobs = cJSON_GetObjectItemCaseSensitive(summary->root, "jobs");
	const cJSON *ran_as = cJSON_GetObjectItemCaseSensitive(jobs, "ran_as"), *item;
	size_t count = 0,
	       max = (size_t)cJSON_GetArraySize(warnings) + (size_t)cJSON_GetArraySize(ran_as);
	char **texts = xcalloc(max + 1, sizeof(*texts));

	cJSON_ArrayForEach(item, warnings)
		if (cJSON_IsString(item))
			texts[count++] = xstrdup(item->valuestring);
	cJSON_ArrayForEach(item, ran_as)
		if (cJSON_IsString(item))
			texts[count++] = xasprintf("not as configured: %s", item->valuestring);
	return texts;
}

void summary_warnings_free(char **warnings)
{
	for (size_t i = 0; warnings[i]; i++)
		free(warnings[i]);
	free(warnings);
}

void summary_print_warnings(const struct summary *summary, const char *lead, FILE *to)
{
	char **warnings = summary_warnings(summary);

	for (size_t i = 0; warnings[i]; i++)
		plain_print(to, "%s: %s\n", lead, warnings[i]);
	summary_warnings_free(warnings);
}

bool summary_is_complete(const struct summary *summary)
{
	static const char *const cut[] = { "time_limit", "deadlock",    "failed",
					   "refused",    "interrupted", "violation" };
	const char *end = json_text(summary->root, "end_reason");

	for (size_t i = 0; i < sizeof(cut) / sizeof(*cut); i++)
		if (!strcmp(end, cut[i]))
			return false;
	return true;
}

bool summary_is_of_machine(const char *name)
{
	const struct metric *metric = metric_find("", name, strlen(name));

	return metric && metric->level == LEVEL_MACHINE;
}

static void add(struct summary *summary, const char *name, double value)
{
	if (summary_is_of_machine(name))
		return;
	summary->numbers = array_reserve(summary->numbers, summary->count, &summary->capacity,
					 sizeof(*summary->numbers));
	summary->numbers[summary->count++] = (struct summary_number){ xstrdup(name), value };
}

static void collect(struct summary *summary, const char *prefix, const cJSON *container)
{
	size_t index = 0;
	const cJSON *item;

	cJSON_ArrayForEach(item, container) {
		const char *dot = !*prefix ? "" : ".";
		char *name = item->string ? xasprintf("%s%s%s", prefix, dot, item->string)
					  : xasprintf("%s%s%zu", prefix, dot, index);

		index++;
		if (cJSON_IsObject(item) || cJSON_IsArray(item))
			collect(summary, name, item);
		else if (cJSON_IsNumber(item))
			add(summary, name, item->valuedouble);
		else if (cJSON_IsNull(item))
			add(summary, name, NAN);
		free(name);
	}
}

bool summary_read(struct summary *summary, const char *dir, char **error)
{
	*summary = (struct summary){ .root = json_read(dir, "summary.json", error) };
	collect(summary, "", summary->root);
	return summary->root;
}

void summary_release(struct summary *summary)
{
	for (size_t i = 0; i < summary->count; i++)
		free(summary->numbers[i].name);
	free(summary->numbers);
	cJSON_Delete(summary->root);
}

size_t summary_find(const struct summary *summary, const char *name)
{
	for (size_t i = 0; i < summary->count; i++)
		if (!strcmp(summary->numbers[i].name, name))
			return i;
	return SIZE_MAX;
}

double summary_value(const struct summary *summary, const char *name)
{
	size_t i = summary_find(summary, name);

	return i == SIZE_MAX ? NAN : summary->numbers[i].value;
}

void summary_groups(const struct summary *summary, const char *begin, const char *end,
		    struct names *names)
{
	for (size_t i = 0; i < summary->count; i++) {
		const char *name = summary->numbers[i].name;

		if (metric_group_length(name, begin, end) && names_find(names, name) == SIZE_MAX)
			names_add(names, name);
	}
}

void summary_usual(struct names *names, bool jobs_alike)
{
	for (const struct metric *m = metric_table; m->name; m++)
		for (size_t i = 0; i < sizeof(m->usual) / sizeof(*m->usual) && m->usual[i]; i++)
			if (jobs_alike || (m->level != LEVEL_JOB && m->level != LEVEL_ITERATION))
				names_add(names, m->usual[i]);
}
