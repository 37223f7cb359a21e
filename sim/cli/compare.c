/* The verb compare: results side by side. */
#include "cli/cli.h"

#include "base/plain.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

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

static bool read_warmup(const char *text, double *seconds)
{
	uint64_t time;

	*seconds = NAN;
	if (!text)
		return true;
	if (unit_parse(UNIT_TIME, text, &time) == UNIT_OK) {
		*seconds = (double)time / 1e12; /* one rounding, as strtod() would */
		return true;
	}
	complain("--warmup takes a time with a unit (%s), such as 1.5ms; found \"%s\"",
		 unit_names(UNIT_TIME), text);
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
	if (!read_tolerance(cli->compare.tolerance, &options.tolerance) ||
	    !read_warmup(cli->compare.warmup, &options.warmup_s))
		return EXIT_USAGE;
	if (cli->compare.warmup && !options.long_run) {
		complain("--warmup goes with --long-run; a scenario has its key /stop/warmup");
		return EXIT_USAGE;
	}
	if (cli->json && options.latex) {
		complain("--json and --latex are two ways to write the same");
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
