/* The verb compare: results side by side. */
#include "cli/cli.h"

#include "study/compare/compare.h"

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

int verb_compare(const struct cli *cli)
{
	struct compare_options options = { .metrics = cli->compare.metrics.items,
					   .metric_count = cli->compare.metrics.count,
					   .by = cli->compare.by,
					   .baseline = cli->compare.baseline,
					   .json = cli->json };
	char *error = NULL;

	if (!read_tolerance(cli->compare.tolerance, &options.tolerance))
		return EXIT_USAGE;
	switch (compare((const char *const *)cli->argv, (size_t)cli->argc, &options, stdout,
			&error)) {
	case COMPARE_ALIKE:
		return EXIT_DONE;
	case COMPARE_DIFFERS:
		return EXIT_DIFFERS;
	case COMPARE_USAGE:
		complain("%s", error);
		free(error);
		return EXIT_USAGE;
	case COMPARE_IO:
		break;
	}
	complain("%s", error);
	free(error);
	return EXIT_IO;
}
