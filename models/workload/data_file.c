#include "workload/data_file.h"

#include "base/fail.h"
#include "base/home.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const folders[] = {
	[DATA_CDF] = "cdf",
	[DATA_MODELS] = "models",
	[DATA_JOBS] = "jobs",
};

char *data_path(const char *name)
{
	const char *own = getenv("INASIM_TRACES");
	char *folder = own && *own ? xstrdup(own) : home_path("traces");
	char *path = xasprintf("%s%s%s", folder, *name ? "/" : "", name);

	free(folder);
	return path;
}

static bool wanted(enum data_kind kind, size_t folder)
{
	return kind == DATA_ANY || (size_t)kind == folder;
}

/* --- lists --- */

struct list {
	char **names;
	size_t count, capacity;
};

static void list_add(struct list *list, char *name)
{
	list->names =
		array_reserve(list->names, list->count, &list->capacity, sizeof(*list->names));
	list->names[list->count++] = name;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the CSV files of one folder; with `named`, their names are "folder/file". */
static void list_folder(struct list *list, const char *folder, bool named)
{
	char *path = data_path(folder);
	DIR *dir = opendir(path);
	const struct dirent *entry;

	free(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (length > 4 && !strcmp(entry->d_name + length - 4, ".csv"))
			list_add(list, xasprintf("%s%s%.*s", named ? folder : "", named ? "/" : "",
						 (int)length - 4, entry->d_name));
	}
	closedir(dir);
}

char **data_file_list(enum data_kind kind)
{
	struct list list = { 0 };

	for (size_t i = 0; i < DATA_KINDS; i++)
		if (wanted(kind, i))
			list_folder(&list, folders[i], kind == DATA_ANY);
	if (list.count)
		qsort(list.names, list.count, sizeof(*list.names), compare_names);
	list_add(&list, NULL);
	return list.names;
}

void data_file_list_free(char **names)
{
	if (!names)
		return;
	for (size_t i = 0; names[i]; i++)
		free(names[i]);
	free(names);
}

/* Appends two texts to *text, which gets new memory. */
static void append(char **text, const char *more, const char *and_more)
{
	char *longer = xasprintf("%s%s%s", *text, more, and_more);

	free(*text);
	*text = longer;
}

char *data_suggestion(const char *name, char *const *names)
{
	const char *meant = conf_suggest(name, (const char *const *)names);
	char *text = meant ? xasprintf("; did you mean \"%s\"?", meant) : xstrdup(";");

	append(&text, !names[0] ? " there are none" : meant ? " There are: " : " there are: ", "");
	for (size_t i = 0; names[i]; i++)
		append(&text, i ? ", " : "", names[i]);
	return text;
}

/* --- search --- */

/* Looks for folder/name and folder/name.csv. If there is neither, adds `folder` to the list in
 * *looked. Frees `folder`. */
static char *look_in(char *folder, const char *name, char **looked)
{
	char *found = NULL;

	for (int suffix = 0; suffix < 2 && !found; suffix++) {
		char *path = xasprintf("%s%s%s%s", folder, *folder ? "/" : "", name,
				       suffix ? ".csv" : "");
		struct stat info;

		if (!stat(path, &info) && !S_ISDIR(info.st_mode))
			found = path;
		else
			free(path);
	}
	if (!found)
		append(looked, **looked ? ", " : "", *folder ? folder : "/");
	free(folder);
	return found;
}

/* The folder of a scenario; for a scenario from a pipe, the working folder. */
static char *folder_of(const char *scenario)
{
	const char *slash = scenario ? strrchr(scenario, '/') : NULL;

	if (!slash || !strncmp(scenario, "/dev/", 5))
		return xstrdup(".");
	return slash == scenario ? xstrdup("/") : xstrndup(scenario, (size_t)(slash - scenario));
}

char *data_file_beside(const char *name, const char *scenario)
{
	char *folder = folder_of(scenario);
	char *path = *name == '/' ? xstrdup(name) : xasprintf("%s/%s", folder, name);

	free(folder);
	return path;
}

static char *look_everywhere(enum data_kind kind, const char *name, const char *scenario,
			     char **looked)
{
	char *path;

	if (*name == '/')
		return look_in(xstrdup(""), name, looked);
	path = look_in(folder_of(scenario), name, looked);
	if (!path)
		path = look_in(data_path(""), name, looked);
	for (size_t i = 0; i < DATA_KINDS && !path; i++)
		if (wanted(kind, i))
			path = look_in(data_path(folders[i]), name, looked);
	return path;
}

char *data_file_find(enum data_kind kind, const char *name, const char *scenario, char **error)
{
	char *looked = xstrdup("");
	char *path = *name ? look_everywhere(kind, name, scenario, &looked) : NULL;

	if (!path) {
		char **names = data_file_list(kind);
		char *suggestion = data_suggestion(name, names);

		*error = xasprintf("no file \"%s\" (looked in %s)%s", name,
				   *looked ? looked : "no folder", suggestion);
		free(suggestion);
		data_file_list_free(names);
	}
	free(looked);
	return path;
}

char *data_file_mistake(const struct conf_doc *file)
{
	char *text = NULL, *line;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	SIM_BUG_ON(!to);
	conf_print_errors(file, to, false);
	fclose(to);
	line = xstrndup(text, strcspn(text, "\n"));
	free(text);
	return line;
}

/* --- cells --- */

/* Adds the digits behind the decimal point to *value. One unit is `weight` ps, a power of ten.
 * Returns what is wrong, or NULL. */
static const char *add_decimals(const char **text, uint64_t weight, uint64_t *value)
{
	uint64_t sum = 0;

	for (; **text >= '0' && **text <= '9'; ++*text) {
		weight /= 10;
		if (weight == 0 && **text != '0')
			return "is finer than a picosecond";
		sum += weight * (uint64_t)(**text - '0');
	}
	return __builtin_add_overflow(*value, sum, value) ? "is longer than 213 days" : NULL;
}

/* Reads a number such as "12.5" in units of `scale` ps. Returns what is wrong, or NULL. Does not
 * use unit_parse(), because its 63 bits end at 106 days, and traces of clusters may be longer. */
static const char *read_decimal(const char *text, uint64_t scale, uint64_t *value)
{
	const char *p = text, *mistake = NULL;
	bool fits = true;

	*value = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		fits = fits && !__builtin_mul_overflow(*value, 10, value) &&
		       !__builtin_add_overflow(*value, (uint64_t)(*p - '0'), value);
	fits = fits && !__builtin_mul_overflow(*value, scale, value);
	if (!fits)
		return "is longer than 213 days";
	if (p > text && p[0] == '.' && p[1]) {
		p++;
		mistake = add_decimals(&p, scale, value);
	}
	if (!mistake && (p == text || *p))
		mistake = "is not a decimal number without sign and exponent";
	return mistake;
}

sim_time data_time(struct csv *csv, int column, uint64_t unit_ps)
{
	uint64_t value;
	const char *mistake = read_decimal(csv_text(csv, column), unit_ps, &value);

	if (!mistake)
		return value;
	csv_complain(csv, column, mistake);
	return 0;
}
