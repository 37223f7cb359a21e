#include "out/result_read.h"

#include "base/mem.h"
#include "out/folder.h"
#include "out/json_read.h"

#include <stdlib.h>
#include <string.h>

#define MANIFEST "manifest.json"

/* The rows of a table according to a manifest; false when it names no such table. */
static bool rows_of(const cJSON *manifest, const char *file, uint64_t *rows)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(manifest, "files"))
	{
		const char *name =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
		const cJSON *count = cJSON_GetObjectItemCaseSensitive(item, "rows");
		if (name == NULL || strcmp(name, file) != 0 || !cJSON_IsNumber(count))
			continue;
		*rows = (uint64_t)count->valuedouble;
		return true;
	}
	return false;
}

struct csv *result_table(const char *dir, const char *file, char **error)
{
	cJSON *manifest = NULL;
	if (folder_has(dir, MANIFEST) && (manifest = json_read(dir, MANIFEST, error)) == NULL)
		return NULL;
	uint64_t rows = 0;
	bool told = rows_of(manifest, file, &rows);
	cJSON_Delete(manifest);
	if (!told && !folder_has(dir, file))
		return NULL;
	char *path = folder_join(dir, file);
	struct csv *csv = csv_open(path, error);
	free(path);
	if (csv != NULL && told)
		csv_expect(csv, rows, MANIFEST);
	return csv;
}
