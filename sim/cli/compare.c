/* The verb compare: results side by side. */
#include "cli/cli.h"

#include "base/plain.h"

#include <math.h>
#include <stdlib.h>

/* NaN where --tolerance is not given. False after a complaint. */
static bool read_tolerance(const char *text, double *tolerance)
{
	char *end;

	*tolerance = NAN;
	if (!text)
		return true;
	*tolerance = strtod(text, &end);
	if (end != text && !*end && *tolerance >= 0 && isfinite(*tolerance))
		return true;
	complain("--tolerance takes a share such as 0.05; found \"%s\"", text);
	return false;
}

int verb_compare(const struct cli *cli)
{
	static const int codes[] = { [COMPARE_ALIKE] = EXIT_DONE,
				     [COMPARE_DIFFERS] = EXIT_DIFFERS,
				     [COMPARE_USAGE] = EXIT_USAGE,
				     [COMPARE_IO] = EXIT_IO };
	struct compare_options options = cli->compare.options;
	enum compare_end end;
	struct plain plain;
	char *error = NULL;

	options.json = cli->json;
	if (!read_tolerance(cli->compare.tolerance, &options.tolerance))
		return EXIT_USAGE;
	if (cli->json && options.latex) {
		complain("give --json or --latex, not both");
		return EXIT_USAGE;
	}
	if (!origin_check(cli->argv, cli->argc, cli->quiet))
		return EXIT_IO;
	plain_open(&plain);
	end = compare((const char *const *)cli->argv, (size_t)cli->argc, &options,
		      cli->json ? stdout : plain.to, &error);
	plain_close(&plain, stdout);
	if (error)
		complain("%s", error);
	free(error);
	return codes[end];
}
