/* The verb compare: results side by side. */
#include "cli/cli.h"

#include "base/plain.h"

#include <math.h>
#include <stdlib.h>

/* Leaves *share as it is where the option is not given. False after a complaint. */
static bool read_share(const char *option, const char *text, double *share)
{
	char *end;

	if (!text)
		return true;
	*share = strtod(text, &end);
	if (end != text && !*end && *share >= 0 && isfinite(*share))
		return true;
	complain("%s takes a share such as 0.05; found \"%s\"", option, text);
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
	options.tolerance = options.margin = NAN;
	if (!read_share("--tolerance", cli->compare.tolerance, &options.tolerance) ||
	    !read_share("--margin", cli->compare.margin, &options.margin))
		return EXIT_USAGE;
	if (cli->json + cli->compare.latex + cli->compare.markdown > 1 ||
	    (cli->json && options.pivot)) {
		complain("give one of --json, --latex and --markdown; --json has no use for "
			 "--pivot");
		return EXIT_USAGE;
	}
	options.form = cli->compare.latex      ? GRID_LATEX
		       : cli->compare.markdown ? GRID_MARKDOWN
					       : GRID_TEXT;
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
