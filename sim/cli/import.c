/* The verb import: a network of another simulator as a "topology" object. */
#include "cli/cli.h"

#include "exchange/simgrid_import.h"
#include "out/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_FILE ((size_t)1 << 30)

static int show(const struct cli *cli, const struct simgrid_import *import)
{
	for (size_t i = 0; i < import->count; i++)
		if (import->notes[i].error || !cli->quiet)
			fprintf(stderr, "%s:%lu: %s: %s\n", cli->argv[0], import->notes[i].line,
				import->notes[i].error ? "error" : "warning",
				import->notes[i].text);
	if (!import->topology)
		return EXIT_INVALID;
	fputs(import->topology, stdout);
	return EXIT_DONE;
}

int verb_import(const struct cli *cli)
{
	struct simgrid_import import;
	size_t length;
	char *xml = folder_read(cli->argv[0], LARGEST_FILE, &length);
	int code;

	if (!xml) {
		complain("%s cannot be read: %s", cli->argv[0], strerror(errno));
		return EXIT_IO;
	}
	simgrid_import(xml, length, &import);
	code = show(cli, &import);
	simgrid_import_release(&import);
	free(xml);
	return code;
}
