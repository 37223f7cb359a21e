#include "workload/program/program_files.h"

#include <string.h>

static const struct {
	const char *ending;
	struct program *(*read)(const char *path, char **mistake);
} kinds[] = {
	{ ".et", program_of_chakra },
	{ ".goal", program_of_goal },
};

static size_t kind_of(const char *name)
{
	size_t length = strlen(name), kind = 0;

	for (; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		size_t ending = strlen(kinds[kind].ending);

		if (length > ending && !strcmp(name + length - ending, kinds[kind].ending))
			break;
	}
	return kind;
}

bool program_file_is(const char *name)
{
	return kind_of(name) < sizeof(kinds) / sizeof(*kinds);
}

struct program *program_of_file(const char *path, char **mistake)
{
	return kinds[kind_of(path)].read(path, mistake);
}
