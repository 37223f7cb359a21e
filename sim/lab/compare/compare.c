#include "lab/compare/compare.h"

#include "base/mem.h"
#include "data/folder.h"
#include "lab/compare/compare_parts.h"
#include "lab/names.h"
#include "lab/sweep/sweep_table.h"

#include <stdlib.h>
#include <string.h>

static char *compare_label(size_t index)
{
	return index < 26 ? xasprintf("%c", (char)('A' + index)) : xasprintf("R%zu", index + 1);
}

char *compare_name(const char *const *dirs, size_t count, const struct compare_options *options,
		   size_t dir, size_t index)
{
	if (options->labels.count == count)
		return xstrdup(options->labels.items[dir]);
	/* for print, by folder: readers of a paper do not know what A and B are */
	return options->by_folder || options->form != GRID_TEXT ? names_directory(dirs, count, dir)
								: compare_label(index);
}

bool compare_metrics(struct names *metrics, const struct names *asked, compare_has *has,
		     const void *owner, const struct names *usual, const struct names *known,
		     char **error)
{
	*metrics = (struct names){ 0 };
	for (size_t i = 0; i < asked->count; i++) {
		names_add(metrics, asked->items[i]);
		if (has(owner, asked->items[i]) != METRIC_UNKNOWN)
			continue;
		*error = names_unknown("metric", asked->items[i], NULL, known->items, known->count);
		return false;
	}
	for (size_t i = 0; i < usual->count && asked->count == 0; i++)
		if (has(owner, usual->items[i]) == METRIC_PRESENT)
			names_add(metrics, usual->items[i]);
	if (metrics->count == 0)
		*error = xstrdup("none of the usual metrics has a value here; name one with "
				 "--metric");
	return metrics->count;
}

/* ---- What the directories are ---- */

enum kind { KIND_RUN, KIND_SWEEP, KIND_NEITHER };

static enum kind kind_of(const char *dir, char **error)
{
	if (!folder_is_folder(dir)) {
		*error = xasprintf("%s: there is no such directory", dir);
		return KIND_NEITHER;
	}
	if (sweep_table_exists(dir))
		return KIND_SWEEP;
	if (folder_has(dir, "manifest.json") && folder_has(dir, "summary.json"))
		return KIND_RUN;
	*error = folder_has(dir, "plan.json")
			 ? xasprintf("%s is a sweep that is not collected yet", dir)
			 : xasprintf("%s is neither the result of a run (manifest.json and "
				     "summary.json) nor a collected sweep (sweep.json)",
				     dir);
	return KIND_NEITHER;
}

char *compare_labels_unfit(size_t count, const struct compare_options *options)
{
	size_t labels = options->labels.count;

	return labels && labels != count
		       ? xasprintf("%zu directories need one --label each, found %zu", count,
				   labels)
		       : NULL;
}

/* Writes `text`, whose lines all end in '\n', with all but the table as comments of LaTeX or as
 * code of Markdown. Changes `text`. */
static void put_around(char *text, enum grid_form form, FILE *to)
{
	bool latex = form == GRID_LATEX, table = false;

	fputs(latex ? "% \\usepackage{booktabs}\n" : "```\n", to);
	for (char *next, *line = text; *line; line = next) {
		next = line + strcspn(line, "\n") + 1;
		next[-1] = '\0';
		if (!latex && table != (*line == '|'))
			fputs(table ? "\n```\n" : "```\n\n", to);
		table = latex ? table || !strncmp(line, "\\begin{tabular}", 15) : *line == '|';
		fprintf(to, "%s%s\n", table || !latex ? "" : *line ? "% " : "%", line);
		table = table && strcmp(line, "\\end{tabular}");
	}
	fputs(latex ? "" : "```\n", to);
}

enum compare_end compare(const char *const *dirs, size_t count,
			 const struct compare_options *options, FILE *to, char **error)
{
	enum kind kind = KIND_NEITHER;

	for (size_t i = 0; i < count; i++) {
		enum kind other = kind_of(dirs[i], error);

		if (other == KIND_NEITHER)
			return COMPARE_IO;
		if (i > 0 && other != kind) {
			*error = xasprintf("%s is a %s and %s is a %s: they cannot be compared",
					   dirs[0], kind == KIND_RUN ? "run" : "sweep", dirs[i],
					   other == KIND_RUN ? "run" : "sweep");
			return COMPARE_USAGE;
		}
		kind = other;
	}
	char *text;
	size_t length;
	bool print = options->form != GRID_TEXT;
	FILE *whole = print ? open_memstream(&text, &length) : to;
	enum compare_end end = (kind == KIND_RUN ? compare_runs : compare_sweeps)(
		dirs, count, options, whole, error);

	if (print) {
		fclose(whole);
		if (!*error)
			put_around(text, options->form, to);
		free(text);
	}
	return end;
}
