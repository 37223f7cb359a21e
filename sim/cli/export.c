/* The verb export: the network of a scenario for other simulators. */
#include "cli/cli.h"

#include "base/mem.h"
#include "cli/simgrid_export.h"
#include "io/folder.h"
#include "run/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	void (*write)(const struct topology_conf *conf, uint64_t seed, FILE *to);
} platforms[] = { { "simgrid", simgrid_export } };

/* All of it in memory first, so that a file is never half written. */
static char *platform_text(size_t format, const struct scenario *scenario, size_t *length)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, length);
	bool good = to != NULL;

	if (good) {
		platforms[format].write(&scenario->topology, (uint64_t)scenario->seed, to);
		good = !ferror(to);
		good = !fclose(to) && good;
	}
	if (good)
		return text;
	free(text);
	return NULL;
}

static int put(const struct cli *cli, const char *text, size_t length)
{
	if (!cli->out)
		return fwrite(text, 1, length, stdout) == length ? EXIT_DONE : EXIT_IO;
	if (folder_replace(cli->out, text, length))
		return EXIT_DONE;
	complain("%s cannot be written: %s", cli->out, strerror(errno));
	return EXIT_IO;
}

static int export_as(const struct cli *cli, size_t format)
{
	struct scenario scenario;
	struct conf_doc *doc =
		scenario_load(cli->argv[0], &scenario, cli->overrides, cli->override_count);
	size_t length = 0;
	char *text = NULL;
	int code;

	if (conf_errors(doc)) {
		conf_print_errors(doc, stderr, false);
		code = conf_io_error(doc) ? EXIT_IO : EXIT_INVALID;
	} else if (!(text = platform_text(format, &scenario, &length))) {
		complain("the platform does not fit into memory");
		code = EXIT_IO;
	} else {
		code = put(cli, text, length);
	}
	free(text);
	conf_doc_free(doc);
	return code;
}

int verb_export(const struct cli *cli)
{
	for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++)
		if (cli->export.platform && !strcmp(cli->export.platform, platforms[i].name))
			return export_as(cli, i);
	if (cli->export.platform)
		complain("there is no platform format \"%s\"; there is simgrid",
			 cli->export.platform);
	else
		complain("export needs --platform simgrid");
	return EXIT_USAGE;
}
