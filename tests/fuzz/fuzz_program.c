/* Any bytes as programs of other tools: x.0.et and on, x.goal. What is accepted ends.
 * Covers: models/workload/program/chakra.c models/workload/program/goal.c
 * models/workload/program/program_graph.c
 * models/workload/program/program_order.c models/workload/program/program_files.c */
#include "files.h"

#include "base/mem.h"
#include "workload/program/program_files.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_program(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name), *mistake = NULL;
	struct program *program = program_of_file(path, &mistake);

	if (!program != (mistake != NULL))
		abort();
	if (program && program_deadlock(program))
		abort();
	program_free(program);
	free(mistake);
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folder = files_write(data, size);

	read_program(folder, "x.et");
	read_program(folder, "x.goal");
	return 0;
}
