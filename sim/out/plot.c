#include "out/plot.h"

#include "base/mem.h"
#include "out/folder.h"
#include "out/plot_page.h"

#include <stdlib.h>
#include <string.h>

#define FIGURES 5

static const struct plot_figure figures[FIGURES] = {
	{ "slowdown", "FCT slowdown by flow size: median, 95th and 99th percentile" },
	{ "fct_cdf", "distribution of flow completion times, one line per flow group" },
	{ "job_timeline", "when jobs wait, compute and wait for communication" },
	{ "link_utilization", "utilisation of all links, ranked, by tier and direction" },
	{ "series", "active flows and jobs and link utilisation over time" },
};

static plot_draw *const draws[FIGURES] = {
	plot_slowdown, plot_fct_cdf, plot_job_timeline, plot_link_utilization, plot_series,
};

const struct plot_figure *plot_figures(size_t *count)
{
	*count = FIGURES;
	return figures;
}

/* NULL, or why the options make no sense (caller frees). */
static char *why_not(const char *dir, const struct plot_options *options)
{
	static const char *const terms[] = { "png", "svg", "pdf", "dumb" };
	bool term = false, figure = options->only == NULL;
	for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
		term = term || strcmp(terms[i], options->term) == 0;
	for (size_t i = 0; i < FIGURES && !figure; i++)
		figure = strcmp(figures[i].name, options->only) == 0;
	if (!term)
		return xasprintf("no terminal \"%s\"; there are png, svg, pdf and dumb",
				 options->term);
	if (!figure)
		return xasprintf("no figure \"%s\"; there are %s, %s, %s, %s and %s", options->only,
				 figures[0].name, figures[1].name, figures[2].name, figures[3].name,
				 figures[4].name);
	if (!folder_exists(dir))
		return xasprintf("there is no directory %s", dir);
	if (!folder_is_folder(dir))
		return xasprintf("%s is not a directory", dir);
	if (!folder_has(dir, "manifest.json") && !folder_has(dir, "flows.csv") &&
	    !folder_has(dir, "jobs.csv"))
		return xasprintf("%s is not a result directory: no manifest.json, no tables", dir);
	return NULL;
}

int plot_directory(const char *dir, const struct plot_options *options, FILE *to, char **error)
{
	*error = why_not(dir, options);
	if (*error != NULL)
		return -1;
	if (!folder_has(dir, "manifest.json"))
		fprintf(stderr, "%s: no manifest.json, the run was not finished\n", dir);
	int drawn = 0;
	char *trimmed = folder_trim(dir);
	for (size_t i = 0; i < FIGURES && *error == NULL; i++) {
		if (options->only != NULL && strcmp(options->only, figures[i].name) != 0)
			continue;
		struct plot_page page = { .dir = trimmed,
					  .name = figures[i].name,
					  .options = options };
		enum plot_outcome outcome = plot_page_render(&page, draws[i](&page), to);
		if (outcome == PLOT_NO_DATA)
			fprintf(stderr, "%s: no figure %s: %s\n", trimmed, page.name, page.why);
		drawn += outcome == PLOT_DRAWN;
		*error = page.error;
	}
	free(trimmed);
	return *error == NULL ? drawn : -1;
}
