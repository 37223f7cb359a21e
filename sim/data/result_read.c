#include "data/result_read.h"

#include "base/mem.h"
#include "data/folder.h"
#include "data/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST  "manifest.json"
#define MOST_ROWS 9e15 /* below 2^53: exact in a double */

/* The rows of a table according to a manifest; NaN if it has no such table. */
static double rows_of(const cJSON *manifest, const char *file)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(manifest, "files")) {
		const char *name =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
		const cJSON *count = cJSON_GetObjectItemCaseSensitive(item, "rows");

		if (name && !strcmp(name, file) && cJSON_IsNumber(count))
			return count->valuedouble;
	}
	return NAN;
}

struct csv *result_table(const char *dir, const char *file, char **error)
{
	cJSON *manifest = NULL;

	if (folder_has(dir, MANIFEST) && !(manifest = json_read(dir, MANIFEST, error)))
		return NULL;
	double rows = rows_of(manifest, file);
	bool told = !isnan(rows);

	cJSON_Delete(manifest);
	if (told && !(rows >= 0 && rows <= MOST_ROWS && rows == floor(rows))) {
		*error = xasprintf("%s/%s: %g is not a number of rows (%s)", dir, MANIFEST, rows,
				   file);
		return NULL;
	}
	if (!told && !folder_has(dir, file))
		return NULL;
	char *path = folder_join(dir, file);
	struct csv *csv = csv_open(path, error);

	free(path);
	if (csv && told)
		csv_expect(csv, (uint64_t)rows, MANIFEST);
	return csv;
}

char *result_job_name(struct csv *jobs)
{
	int scheme = csv_find(jobs, "scheme"), ran_as = csv_find(jobs, "ran_as");
	int column = csv_need(jobs, "name");
	const char *name = column < 0 ? "" : csv_text(jobs, column); /* csv_need() has complained */

	if (scheme < 0 || ran_as < 0 || csv_empty(jobs, ran_as) ||
	    !strcmp(csv_text(jobs, ran_as), "none") || /* of one worker */
	    !strcmp(csv_text(jobs, ran_as), csv_text(jobs, scheme)))
		return xstrdup(name);
	return xasprintf("%s (%s)", name, csv_text(jobs, ran_as));
}
