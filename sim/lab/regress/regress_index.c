#include "lab/regress/regress_index.h"

#include "base/input.h"
#include "base/mem.h"
#include "conf/buf.h"
#include "data/folder.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- the rows of regress.json --- */

struct scenario_conf {
	const char *name, *scenario;
	bool seed_given;
	int64_t seed;
	struct conf_list set, tolerances;
};

struct index_conf {
	struct conf_list folders, leave_out, tolerances, scenarios;
};

#define INDEX_NAME "regress" /* no reference has this name: its NAME.json would be the index */

static const struct conf_row tolerance_rows[] = {
	CONF_STRING("field", struct regress_tolerance, field, CONF_REQUIRED,
		    "Path in the summary, such as jobs.jct_s.mean; * matches anything."),
	CONF_REAL("relative", struct regress_tolerance, relative, "0", 0, 1e9,
		  "Allowed difference as a fraction of the larger value.", "exact"),
	CONF_REAL("absolute", struct regress_tolerance, absolute, "0", 0, 1e300,
		  "Allowed difference.", "exact"),
	{ 0 },
};
static const struct conf_table tolerance_table = { "tolerance", tolerance_rows,
						   sizeof(struct regress_tolerance), NULL };
static const struct conf_row tolerance_item = { .type = CONF_OBJECT,
						.table = &tolerance_table,
						.help = "A tolerance." };
static const struct conf_row text_item = { .type = CONF_STRING, .help = "A text." };

static const struct conf_row scenario_rows[] = {
	CONF_STRING("name", struct scenario_conf, name, CONF_REQUIRED, "Name of the reference."),
	CONF_STRING("scenario", struct scenario_conf, scenario, CONF_REQUIRED,
		    "Path of its file, relative to this folder."),
	CONF_INT("seed", struct scenario_conf, seed, CONF_OPTIONAL, 0, CONF_LARGEST_EXACT,
		 "Seed that replaces the scenario's.",
		 .present = CONF_GIVEN(struct scenario_conf, seed_given)),
	CONF_LIST("set", struct scenario_conf, set, "[]", &text_item, 0, 0,
		  "Changed values, as on the command line: /pointer=value."),
	CONF_LIST("tolerances", struct scenario_conf, tolerances, "[]", &tolerance_item, 0, 0,
		  "Tolerances of this scenario only; they come before the general ones."),
	{ 0 },
};
static const struct conf_table scenario_table = { "scenario", scenario_rows,
						  sizeof(struct scenario_conf), NULL };
static const struct conf_row scenario_item = { .type = CONF_OBJECT,
					       .table = &scenario_table,
					       .help = "A scenario." };

static const struct conf_row index_rows[] = {
	CONF_LIST("folders", struct index_conf, folders, "[]", &text_item, 0, 0,
		  "Folders whose scenarios, also in sub-folders, have references."),
	CONF_LIST("leave_out", struct index_conf, leave_out, "[]", &text_item, 0, 0,
		  "Names of scenarios in these folders to leave out; * matches anything."),
	CONF_LIST("tolerances", struct index_conf, tolerances, "[]", &tolerance_item, 0, 0,
		  "Tolerances of numbers of the summary; the first that matches applies."),
	CONF_LIST("scenarios", struct index_conf, scenarios, "[]", &scenario_item, 0, 0,
		  "Scenarios elsewhere, and variants with other values."),
	{ 0 },
};
static const struct conf_table index_table = { "references", index_rows, sizeof(struct index_conf),
					       NULL };

/* --- entries --- */

size_t regress_index_find(const struct regress_index *index, const char *name)
{
	for (size_t i = 0; i < index->count; i++)
		if (!strcmp(index->entries[i].name, name))
			return i;
	return SIZE_MAX;
}

static struct regress_entry *add_entry(struct regress_index *index, const char *name,
				       const char *path)
{
	index->entries = array_reserve(index->entries, index->count, &index->capacity,
				       sizeof(*index->entries));
	index->entries[index->count] = (struct regress_entry){ .name = name, .path = path };
	return &index->entries[index->count++];
}

/* Turns a path from the index's folder DIR into one from the working directory. */
static const char *path_from(struct regress_index *index, const char *dir, const char *path)
{
	return path[0] == '/' ? path : conf_at(index->doc, "%s/%s", dir, path);
}

static const char *text_at(const struct conf_list *texts, size_t i)
{
	return ((const char *const *)texts->items)[i];
}

static void check_scenario(const struct regress_index *index, const struct scenario_conf *conf,
			   size_t number)
{
	const char *pointer = conf_at(index->doc, "/scenarios/%zu", number);

	if (!conf->name[0] || conf->name[0] == '.' || strchr(conf->name, '/') ||
	    !strcmp(conf->name, INDEX_NAME))
		conf_error(index->doc, pointer, "name \"%s\" is not a valid file name", conf->name);
	if (regress_index_find(index, conf->name) != SIZE_MAX)
		conf_error(index->doc, pointer, "the name \"%s\" is used twice", conf->name);
	for (size_t i = 0; i < conf->set.count; i++)
		if (text_at(&conf->set, i)[0] != '/' || !strchr(text_at(&conf->set, i), '='))
			conf_error(index->doc, pointer,
				   "set \"%s\" is not of the form /pointer=value",
				   text_at(&conf->set, i));
}

static void add_overrides(struct regress_index *index, const struct scenario_conf *conf,
			  struct regress_entry *entry)
{
	struct conf_doc *doc = index->doc;
	struct conf_override *list = conf_own(doc, conf->set.count + 1, sizeof(*list));
	size_t count = conf->set.count;

	for (size_t i = 0; i < count; i++) {
		const char *set = text_at(&conf->set, i);
		size_t cut = strcspn(set, "=");

		list[i].pointer = conf_at(doc, "%.*s", (int)cut, set);
		list[i].value = set[cut] ? set + cut + 1 : "";
	}
	if (conf->seed_given)
		list[count++] =
			(struct conf_override){ "/seed", conf_at(doc, "%" PRId64, conf->seed) };
	entry->overrides = list;
	entry->override_count = count;
}

static void add_named(struct regress_index *index, const char *dir,
		      const struct conf_list *scenarios)
{
	for (size_t i = 0; i < scenarios->count; i++) {
		const struct scenario_conf *conf =
			&((const struct scenario_conf *)scenarios->items)[i];
		struct regress_entry *entry;

		check_scenario(index, conf, i);
		entry = add_entry(index, conf->name, path_from(index, dir, conf->scenario));
		entry->tolerances = conf->tolerances;
		add_overrides(index, conf, entry);
	}
}

/* --- folders --- */

/* A scenario has a topology; plans of sweeps and other JSON do not. A file that is not valid JSON
 * counts as a scenario, so that its run reports the mistake. */
static bool is_scenario(const char *path)
{
	size_t length;
	char *text = input_read(path, SIZE_MAX, &length);
	cJSON *root = text ? cJSON_ParseWithLength(text, length) : NULL;
	bool is = !root || cJSON_GetObjectItemCaseSensitive(root, "topology");

	cJSON_Delete(root);
	free(text);
	return is;
}

static bool left_out(const struct conf_list *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (!fnmatch(text_at(patterns, i), name, 0))
			return true;
	return false;
}

/* Adds a scenario that a folder contains, unless it is left out or its name is among the first
 * `named` entries, which the index lists by name. */
static void add_file(struct regress_index *index, size_t named, const struct conf_list *leave_out,
		     const char *path, const char *name)
{
	size_t known = regress_index_find(index, name);

	if (left_out(leave_out, name) || (known != SIZE_MAX && known < named) || !is_scenario(path))
		return;
	if (known != SIZE_MAX || !strcmp(name, INDEX_NAME))
		conf_error(index->doc, "/folders", "%s cannot have the name \"%s\": %s", path, name,
			   known != SIZE_MAX ? "another file has it" : "the index file has it");
	add_entry(index, name, path);
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Adds all scenarios in and below `folder`, sorted; their names begin with `prefix`. */
static void add_folder(struct regress_index *index, size_t named, const struct conf_list *leave_out,
		       const char *folder, const char *prefix)
{
	struct dirent **list;
	int count = scandir(folder, &list, visible, alphasort);

	for (int i = 0; i < count; i++) {
		const char *file = list[i]->d_name;
		const char *path = conf_at(index->doc, "%s/%s", folder, file);
		int length = (int)strlen(file) - (int)strlen(".json"); /* without the suffix */

		if (folder_is_folder(path))
			add_folder(index, named, leave_out, path,
				   conf_at(index->doc, "%s%s-", prefix, file));
		else if (length && !strcmp(file + length, ".json"))
			add_file(index, named, leave_out, path,
				 conf_at(index->doc, "%s%.*s", prefix, length, file));
		free(list[i]);
	}
	if (count >= 0)
		free(list);
	else
		conf_error(index->doc, "/folders", "%s cannot be read: %s", folder,
			   strerror(errno));
}

struct regress_index *regress_index_load(const char *dir)
{
	struct regress_index *index = xcalloc(1, sizeof(*index));
	char *path = folder_join(dir, REGRESS_INDEX);
	struct index_conf conf;
	size_t named;

	index->doc = conf_load(path, &index_table, &conf, NULL, 0);
	free(path);
	if (conf_errors(index->doc))
		return index;
	index->tolerances = conf.tolerances;
	add_named(index, dir, &conf.scenarios);
	named = index->count;
	for (size_t i = 0; i < conf.folders.count; i++) {
		const char *folder = path_from(index, dir, text_at(&conf.folders, i));

		if (!folder_is_folder(folder))
			conf_error(index->doc, "/folders", "there is no folder %s", folder);
		else
			add_folder(index, named, &conf.leave_out, folder, "");
	}
	return index;
}

void regress_index_free(struct regress_index *index)
{
	free(index->entries);
	conf_doc_free(index->doc);
	free(index);
}
