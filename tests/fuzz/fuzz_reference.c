/* Any bytes as a folder of references: regress.json, and a.json and b.json with their
 * fingerprints, compared and written again.
 * Covers: sim/lab/regress/reference.c sim/lab/regress/regress_index.c
 * sim/lab/regress/field_diff.c */
#include "base/input.h"
#include "base/mem.h"
#include "files.h"
#include "data/folder.h"
#include "lab/regress/reference.h"
#include "lab/regress/field_diff.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Folders that an index names are in the input's: nobody wants to see all of "/". */
static bool stays_here(const char *folder)
{
	char *path = folder_join(folder, REGRESS_INDEX);
	char *text = input_read(path, 1 << 20, NULL);
	cJSON *index = text ? cJSON_Parse(text) : NULL;
	const cJSON *folders = cJSON_GetObjectItemCaseSensitive(index, "folders"), *item;
	bool good = true;

	cJSON_ArrayForEach(item, folders) {
		if (cJSON_IsString(item) &&
		    (item->valuestring[0] == '/' || strstr(item->valuestring, "..")))
			good = false;
	}
	cJSON_Delete(index);
	free(text);
	free(path);
	return good;
}

static void write_again(const char *folder, const struct reference *reference)
{
	struct reference_run run = { "a",
				     reference->digest,
				     reference->events,
				     reference->summary,
				     reference->resolved,
				     reference->prints };
	struct reference_reason reason = { "2026-01-01", "fuzz", "0", "0" };
	size_t length;

	char *text = reference_text(&run, reference, &reason), *error = NULL;

	if (!reference_write(folder, "c", ".json", text, strlen(text), &error) || error)
		abort();
	free(text);
	free(reference_prints(&run, &length));
}

static void compare_trees(const struct reference *a, const struct reference *b,
			  const struct regress_index *index)
{
	struct field_diffs diff = { 0 };
	cJSON *copy = cJSON_Duplicate(a->summary, true);

	field_diffs_find(a->summary, b->summary, index->tolerances.items, index->tolerances.count,
			 false, &diff);
	field_diffs_release(&diff);
	summary_strip(copy);
	cJSON_Delete(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folder = files_write(data, size);
	struct reference a, b;
	char *errors[2] = { NULL, NULL };
	struct regress_index *index;
	enum reference_state first = reference_read(folder, "a", &a, &errors[0]);
	enum reference_state second = reference_read(folder, "b", &b, &errors[1]);

	if (stays_here(folder)) {
		index = regress_index_load(folder);
		if (!conf_errors(index->doc))
			regress_index_find(index, "a");
		if (!conf_errors(index->doc) && a.summary && b.summary)
			compare_trees(&a, &b, index);
		regress_index_free(index);
	}
	if (first == REFERENCE_READ)
		write_again(folder, &a);
	if ((first == REFERENCE_READ) != !errors[0] || (second == REFERENCE_READ) != !errors[1])
		abort();
	reference_release(&a);
	reference_release(&b);
	free(errors[0]);
	free(errors[1]);
	return 0;
}
