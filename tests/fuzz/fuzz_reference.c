/* Any bytes as a folder of references: regress.json, and a.json and b.json with their
 * fingerprints, compared and written again.
 * Covers: sim/study/regress/reference.c sim/study/regress/regress_index.c
 * sim/study/regress/tree_diff.c */
#include "base/mem.h"
#include "files.h"
#include "out/folder.h"
#include "study/regress/reference.h"
#include "study/regress/tree_diff.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Folders that an index names are in the input's: nobody wants to see all of "/". */
static bool stays_here(const char *folder)
{
	char *path = folder_join(folder, REGRESS_INDEX);
	char *text = folder_read(path, 1 << 20, NULL);
	bool good = !text || (!strstr(text, "\"/") && !strstr(text, "..") && !strchr(text, '\\'));

	free(text);
	free(path);
	return good;
}

static void write_again(const struct reference *reference)
{
	static const struct checkpoints none = { .every = PS_PER_S };
	struct reference_run run = { "a",
				     reference->digest,
				     reference->events,
				     reference->summary,
				     reference->resolved,
				     &none,
				     reference->prints };
	struct reference_reason reason = { "2026-01-01", "fuzz", "0", "0" };
	size_t length;

	free(reference_text(&run, reference, &reason));
	free(reference_prints(&run, &length));
}

static void compare_trees(const struct reference *a, const struct reference *b,
			  const struct regress_index *index)
{
	struct tree_diff diff = { 0 };
	cJSON *copy = cJSON_Duplicate(a->summary, true);

	tree_compare(a->summary, b->summary, index->tolerances.items, index->tolerances.count,
		     &diff);
	tree_diff_release(&diff);
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
		write_again(&a);
	if ((first == REFERENCE_READ) != !errors[0] || (second == REFERENCE_READ) != !errors[1])
		abort();
	reference_release(&a);
	reference_release(&b);
	free(errors[0]);
	free(errors[1]);
	return 0;
}
