/* The verb init: a scenario to start from. */
#include "cli/cli.h"

#include "base/home.h"
#include "base/input.h"
#include "base/mem.h"
#include "base/plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEMPLATE "scenarios/first.json"

/* Files of scenarios/kinds. */
static const char *const kinds[] = { "h100-rail", "gb200", "dgx-a100-ib", "tofino-100g", NULL };

/* Returns an exit code. Never replaces a file: it may be somebody's work. */
static int write_new(const char *path, const char *text, size_t length)
{
	FILE *to = fopen(path, "wx");
	bool good;

	if (!to) {
		complain("cannot write %s: %s", path,
			 errno == EEXIST ? "it exists already" : strerror(errno));
		return EXIT_IO;
	}
	good = fwrite(text, 1, length, to) == length;
	good = fclose(to) == 0 && good;
	if (!good) {
		complain("cannot write %s: %s", path, strerror(errno));
		unlink(path);
		return EXIT_IO;
	}
	plain_print(stderr,
		    "%s is written; next: inasim check %s, inasim explain %s, inasim run %s --out "
		    "DIR\n",
		    path, path, path, path);
	return EXIT_DONE;
}

/* The template of a kind, or the general one if it is NULL. NULL after a complaint. Caller frees.
 */
static char *template_of(const char *kind)
{
	char *name, *path;

	if (!kind)
		return home_path(TEMPLATE);
	for (size_t i = 0; kinds[i]; i++)
		if (!strcmp(kinds[i], kind)) {
			name = xasprintf("scenarios/kinds/%s.json", kind);
			path = home_path(name);
			free(name);
			return path;
		}
	complain_unknown("there is no kind of cluster", kind, kinds,
			 "; there are h100-rail, gb200, dgx-a100-ib, tofino-100g");
	return NULL;
}

int verb_init(const struct cli *cli)
{
	const char *path = cli->argc ? cli->argv[0] : "scenario.json";
	char *from = template_of(cli->init.kind), *text;
	size_t length;
	int code = EXIT_IO;

	if (!from)
		return EXIT_USAGE;
	text = input_read(from, 100000, &length);
	if (text)
		code = write_new(path, text, length);
	else
		complain("cannot read %s: %s", from, input_why(errno));
	free(text);
	free(from);
	return code;
}
