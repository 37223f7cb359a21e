/* Any bytes as a topology of another simulator; what is accepted is written as a graph.
 * Covers: models/scenario/graph_import.c models/scenario/graph_write.c */
#include "scenario/graph_write.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *from = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	FILE *to = fopen("/dev/null", "w");
	struct graph_text text;
	char *note = NULL, *error = NULL;

	if (from && to && graph_import(&text, from, &note, &error)) {
		graph_text_print(&text, to);
		graph_text_release(&text);
	} else if (from && to && !error) {
		abort();
	}
	free(note);
	free(error);
	if (from)
		fclose(from);
	if (to)
		fclose(to);
	return 0;
}
