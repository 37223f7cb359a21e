#include "workload/program/program_files.h"

#include "base/mem.h"
#include "workload/program/program_graph.h"

#include <string.h>

static const char *const needs_names[] = { [NEEDS_ALL] = "all", [NEEDS_DATA] = "data", NULL };

static const struct conf_row rows[] = {
	CONF_STRING("path", struct program_file_conf, path, CONF_REQUIRED,
		    "The file, beside the scenario: PREFIX.et or, as JSON, PREFIX.json for Chakra "
		    "traces, NAME.goal or NAME.bin for GOAL, NAME.txt for a text workload of "
		    "ASTRA-sim 1 or "
		    "SimAI."),
	CONF_ENUM(
		"dependencies", struct program_file_conf, dependencies, "all", needs_names,
		"Of Chakra traces. all: data and control dependences; data: only these, as "
		"Chakra's own feeder. Control dependences of PyTorch's traces may run in circles, "
		"which are refused.",
		"our reading of the schema, which has both"),
	CONF_STRING("groups", struct program_file_conf, groups, CONF_OPTIONAL,
		    "Of Chakra traces: a JSON file { \"1\": [0, 1, ...], ... } with the ranks of "
		    "process groups (ASTRA-sim's comm-group-configuration)."),
	CONF_INT("ranks", struct program_file_conf, ranks, CONF_OPTIONAL, 1, GRAPH_RANKS_MAX,
		 "Of Chakra traces: so many ranks all do what the one file `path` says, for traces "
		 "of which only one rank was kept. Default: a file a rank, PREFIX.0.et and on. Of "
		 "text workloads: how many; SimAI's say it themselves (all_gpus / pp)."),
	CONF_INT(
		"dimension", struct program_file_conf, dimension, CONF_OPTIONAL, 1, GRAPH_RANKS_MAX,
		"Of text workloads with HYBRID_DATA_MODEL or HYBRID_MODEL_DATA: ranks in the first "
		"logical dimension, which is the model's or the data's groups."),
	{ 0 },
};
const struct conf_table program_file_table = { "program_file", rows,
					       sizeof(struct program_file_conf) };

static const struct {
	const char *ending;
	struct program *(*read)(const struct program_file_conf *conf, char **mistake);
	bool named; /* a model's name with this ending is such a file */
} kinds[] = {
	{ ".et", program_of_chakra, true }, { ".goal", program_of_goal, true },
	{ ".bin", program_of_goal, true },  { ".json", program_of_chakra, false },
	{ ".txt", program_of_text, true },
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static size_t kind_of(const char *name)
{
	size_t length = strlen(name), kind = 0;

	for (; kind < KINDS; kind++) {
		size_t ending = strlen(kinds[kind].ending);

		if (length > ending && !strcmp(name + length - ending, kinds[kind].ending))
			break;
	}
	return kind;
}

bool program_file_is(const char *name)
{
	size_t kind = kind_of(name);

	return kind < KINDS && kinds[kind].named;
}

struct program *program_of_file(const struct program_file_conf *conf, char **mistake)
{
	size_t kind = kind_of(conf->path);

	if (kind < KINDS)
		return kinds[kind].read(conf, mistake);
	*mistake = xasprintf("%s: allowed are files that end in .et, .json, .goal, .bin or .txt",
			     conf->path);
	return NULL;
}
