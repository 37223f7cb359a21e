/* Checks which version of the program wrote the results that a verb is to read. */
#include "cli/cli.h"

#include "base/mem.h"
#include "build_info.h"
#include "data/folder.h"
#include "data/json_read.h"
#include "data/result_read.h"
#include "lab/sweep/sweep_table.h"

#include <stdlib.h>
#include <string.h>

/* What wrote the results. Texts are owned; NULL if unknown. */
struct origin {
	char *version, *commit;
	double format;
};

static void origin_release(struct origin *origin)
{
	free(origin->version);
	free(origin->commit);
}

static char *copy_of(const char *text)
{
	return text && *text ? xstrdup(text) : NULL;
}

static bool is_another(const struct origin *origin)
{
	return (origin->version && strcmp(origin->version, BUILD_VERSION)) ||
	       (origin->commit && strcmp(origin->commit, BUILD_COMMIT));
}

cJSON *origin_manifest(const char *dir)
{
	char *error = NULL;
	cJSON *manifest =
		folder_has(dir, "manifest.json") ? json_read(dir, "manifest.json", &error) : NULL;

	free(error);
	return manifest;
}

static void read_manifest(const char *dir, struct origin *origin)
{
	cJSON *manifest = origin_manifest(dir);
	const cJSON *format = cJSON_GetObjectItemCaseSensitive(manifest, "format");

	origin->version = copy_of(
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(manifest, "version")));
	origin->commit =
		copy_of(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(manifest, "commit")));
	if (cJSON_IsNumber(format))
		origin->format = format->valuedouble;
	cJSON_Delete(manifest);
}

/* Reads the origin of the first point that another version ran or, if there is none, of the last
 * point. Does not complain of a broken table: the verb does. */
static void read_costs(const char *dir, struct origin *origin)
{
	char *path = folder_join(dir, "costs.csv"), *error = NULL;
	struct csv *csv = folder_has(dir, "costs.csv") ? csv_open(path, &error) : NULL;
	int version = csv ? csv_find(csv, "version") : -1,
	    commit = csv ? csv_find(csv, "commit") : -1;

	while (version >= 0 && commit >= 0 && !is_another(origin) && csv_next(csv)) {
		origin_release(origin);
		origin->version = copy_of(csv_text(csv, version));
		origin->commit = copy_of(csv_text(csv, commit));
	}
	if (csv)
		csv_close(csv, &error);
	free(error);
	free(path);
}

static const char *or_unknown(const char *text)
{
	return text ? text : "unknown";
}

bool origin_check(char *const *dirs, int count, bool quiet)
{
	struct origin first = { 0 }; /* origin of the first directory by another version */
	const char *dir = NULL;
	int others = 0;
	bool readable = true;

	for (int i = 0; i < count && readable; i++) {
		struct origin origin = { .format = RESULT_FORMAT };

		if (sweep_table_exists(dirs[i]))
			read_costs(dirs[i], &origin);
		else
			read_manifest(dirs[i], &origin);
		readable = origin.format == RESULT_FORMAT;
		if (!readable)
			complain("%s has results of format %.10g, written by inasim %s (%s); this "
				 "inasim, %s (%s), reads format %d",
				 dirs[i], origin.format, or_unknown(origin.version),
				 or_unknown(origin.commit), BUILD_VERSION, BUILD_COMMIT,
				 RESULT_FORMAT);
		if (is_another(&origin) && !others++) {
			first = origin;
			dir = dirs[i];
		} else {
			origin_release(&origin);
		}
	}
	if (others && readable && !quiet) {
		char *more = others > 1 ? xasprintf("; the same is true of %d more", others - 1)
					: xstrdup("");

		complain("%s has results by another inasim, %s (%s); this one is %s (%s)%s", dir,
			 or_unknown(first.version), or_unknown(first.commit), BUILD_VERSION,
			 BUILD_COMMIT, more);
		free(more);
	}
	origin_release(&first);
	return readable;
}

void print_quoted(FILE *to, const char *word)
{
	if (word && *word &&
	    !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			       "0123456789-_./=:,")]) {
		fputs(word, to);
		return;
	}
	putc('\'', to);
	for (; word && *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){ *word, '\0' }, to);
	putc('\'', to);
}
