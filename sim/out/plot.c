#include "out/plot.h"

#include "base/mem.h"
#include "out/folder.h"
#include "out/plot_page.h"

#include <stdlib.h>
#include <string.h>

#define FIGURES 6

static const struct plot_figure figures[FIGURES] = {
	{ "slowdown", "FCT slowdown by flow size: median, 95th and 99th percentile" },
	{ "fct_cdf", "distribution of flow completion times, one line per flow group" },
	{ "job_timeline", "when jobs wait, compute and wait for communication" },
	{ "link_utilization", "utilisation of all links, ranked, by tier and direction" },
	{ "series", "active flows and jobs and link utilisation over time" },
	{ "packets", "packets over time on the links that the scenario samples" },
};

static plot_draw *const draws[FIGURES] = {
	plot_slowdown,         plot_fct_cdf, plot_job_timeline,
	plot_link_utilization, plot_series,  plot_packets,
};

const struct plot_figure *plot_figures(size_t *count)
{
	*count = FIGURES;
	return figures;
}

char *plot_no_such(const struct plot_options *options, const struct plot_figure *list, size_t count)
{
	static const char *const terms[] = { "png", "svg", "pdf", "dumb" };
	bool term = false, figure = options->only == NULL;
	for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
		term = term || strcmp(terms[i], options->term) == 0;
	if (!term)
		return xasprintf("no terminal \"%s\"; there are png, svg, pdf and dumb",
				 options->term);
	for (size_t i = 0; i < count && !figure; i++)
		figure = strcmp(list[i].name, options->only) == 0;
	if (figure)
		return NULL;
	char *error = xasprintf("no figure \"%s\"; there are", options->only);
	for (size_t i = 0; i < count; i++) {
		char *longer = xasprintf("%s%s %s", error,
					 i == 0           ? ""
					 : i == count - 1 ? " and"
							  : ",",
					 list[i].name);
		free(error);
		error = longer;
	}
	return error;
}

char *plot_no_results(const char *dir)
{
	if (!folder_exists(dir))
		return xasprintf("there is no directory %s", dir);
	if (!folder_is_folder(dir))
		return xasprintf("%s is not a directory", dir);
	if (!folder_has(dir, "manifest.json") && !folder_has(dir, "flows.csv") &&
	    !folder_has(dir, "jobs.csv"))
		return xasprintf("%s is not a result directory: no manifest.json, no tables", dir);
	if (!folder_has(dir, "manifest.json"))
		fprintf(stderr, "%s: no manifest.json, the run was not finished\n", dir);
	return NULL;
}

bool plot_size(const char *text, struct plot_options *options)
{
	static const struct {
		const char *name;
		double in_an_inch;
	} units[] = { { "in", 1 }, { "cm", 2.54 }, { "mm", 25.4 } };
	double width, height = 0;
	int used = 0;
	if (sscanf(text, "%lfx%lf%n", &width, &height, &used) != 2 &&
	    sscanf(text, "%lf%n", &width, &used) != 1)
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcmp(text + used, units[i].name) != 0)
			continue;
		options->width_in = width / units[i].in_an_inch;
		options->height_in = height / units[i].in_an_inch;
		return options->width_in >= 1 && options->width_in <= 40 &&
		       (height == 0 || (options->height_in >= 1 && options->height_in <= 40));
	}
	return false;
}

int plot_directory(const char *dir, const struct plot_options *options, FILE *to, char **error)
{
	*error = plot_no_such(options, figures, FIGURES);
	if (*error == NULL)
		*error = plot_no_results(dir);
	if (*error != NULL)
		return -1;
	int drawn = 0;
	char *trimmed = folder_trim(dir);
	char *folder =
		options->out != NULL ? folder_trim(options->out) : folder_join(trimmed, "figures");
	for (size_t i = 0; i < FIGURES && *error == NULL; i++) {
		if (options->only != NULL && strcmp(options->only, figures[i].name) != 0)
			continue;
		struct plot_page page = { .dir = trimmed,
					  .folder = folder,
					  .name = figures[i].name,
					  .options = options };
		enum plot_outcome outcome = plot_page_render(&page, draws[i](&page), to);
		if (outcome == PLOT_NO_DATA && options->only != NULL)
			page.error =
				xasprintf("%s: no figure %s: %s", trimmed, page.name, page.why);
		else if (outcome == PLOT_NO_DATA)
			fprintf(stderr, "%s: no figure %s: %s\n", trimmed, page.name, page.why);
		drawn += outcome == PLOT_DRAWN;
		*error = page.error;
	}
	free(folder);
	free(trimmed);
	return *error == NULL ? drawn : -1;
}
