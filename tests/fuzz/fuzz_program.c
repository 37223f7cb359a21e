/* Any bytes as programs of other tools: x.0.et and on, x.0.json, x.goal, x.bin, x.txt. What is
 * accepted ends.
 * Covers: models/workload/program/chakra.c models/workload/program/chakra_wire.c
 * models/workload/program/chakra_json.c models/workload/program/goal.c
 * models/workload/program/goal_binary.c models/workload/program/text.c
 * models/workload/program/program_graph.c
 * models/workload/program/program_order.c models/workload/program/program_files.c */
#include "files.h"

#include "base/mem.h"
#include "workload/program/program_files.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_program(const char *folder, const char *name, int64_t ranks)
{
	char *path = xasprintf("%s/%s", folder, name), *mistake = NULL;
	struct program_file_conf conf = {
		.path = path, .dependencies = NEEDS_DATA, .ranks = ranks, .dimension = 2
	};
	struct program *program = program_of_file(&conf, &mistake);

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

	read_program(folder, "x.et", 0);
	read_program(folder, "x.0.et", 3);
	read_program(folder, "x.json", 0);
	read_program(folder, "x.goal", 0);
	read_program(folder, "x.bin", 0);
	read_program(folder, "x.txt", 0);
	read_program(folder, "x.txt", 8);
	return 0;
}
