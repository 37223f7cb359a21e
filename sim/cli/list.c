/* The verb list: what exists. */
#include "cli/cli.h"

#include "base/mem.h"
#include "conf/keys.h"
#include "data/json.h"
#include "data/metrics.h"
#include "run/results.h"
#include "scenario/scenario.h"
#include "workload/data_file.h"
#include "workload/dnn.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- words --- */

/* While list_find() goes through the lists, they print only items that have this word. */
static struct {
	const char *word; /* NULL: all items are printed */
	const char *list; /* a heading not yet printed */
	size_t found;
} search;

/* Whether a text has the word, or words that begin with it if it has at least four letters. Dashes,
 * underscores and spaces are alike. */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	bool inside = false;

	for (; *text; inside = isalnum((unsigned char)*text++)) {
		size_t i = 0;

		while (i < length &&
		       (tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]) ||
			(strchr("-_ ", word[i]) && text[i] && strchr("-_ ", text[i]))))
			i++;
		if (!inside && i == length && (length > 3 || !isalnum((unsigned char)text[i])))
			return true;
	}
	return false;
}

/* Whether to print an item, whose heading comes first. */
static bool is_wanted(const char *name, const char *help)
{
	if (!search.word)
		return true;
	if (!has_word(name, search.word) && !has_word(help, search.word))
		return false;
	if (search.list)
		puts(search.list);
	search.list = NULL;
	search.found++;
	return true;
}

/* --- the lists --- */

/* Prints an item or, with `json`, opens its object in the list. */
static void open_item(struct json *json, const char *name, const char *help)
{
	if (!is_wanted(name, help))
		return;
	if (!json) {
		printf("  %-24s %s\n", name, help);
		return;
	}
	json_open_object(json, NULL);
	json_string(json, "name", name);
	json_string(json, "help", help);
}

static void list_item(struct json *json, const char *name, const char *help)
{
	open_item(json, name, help);
	if (json)
		json_close_object(json);
}

/* A scheme states 0 where it has no tolerance. */
static void json_tolerance(struct json *json, const struct fluid_tolerance *tolerance)
{
	json_open_object(json, "fluid_tolerance");
	json_real(json, "one_switch", tolerance->one_switch > 0 ? tolerance->one_switch : NAN);
	json_real(json, "tiers", tolerance->tiers > 0 ? tolerance->tiers : NAN);
	json_real(json, "together", tolerance->together > 0 ? tolerance->together : NAN);
	json_close_object(json);
}

static int list_schemes(struct json *json)
{
	for (unsigned i = 0; scheme_ops(i); i++) {
		const struct collective_ops *ops = scheme_ops(i);

		open_item(json, ops->name, ops->help);
		if (!json)
			continue;
		json_bool(json, "all_reduce", all_reduce_ops(i));
		json_tolerance(json, &ops->traits.tolerance);
		json_close_object(json);
	}
	return EXIT_DONE;
}

static int list_topologies(struct json *json)
{
	for (size_t i = 0; topology_kind(i); i++)
		list_item(json, topology_kind(i)->name, topology_kind(i)->help);
	return EXIT_DONE;
}

static int list_transports(struct json *json)
{
	for (unsigned i = 0; transport_kind(i); i++) {
		char text[160];

		snprintf(text, sizeof(text), "%s, %s", transport_kind(i)->roce ? "RoCE" : "TCP",
			 transport_kind(i)->cc->help);
		list_item(json, transport_names[i], text);
	}
	return EXIT_DONE;
}

static int list_models(struct json *json)
{
	struct dnn_list list;
	char *error;

	if (!dnn_list_load(&list, &error)) {
		complain("%s", error);
		free(error);
		return EXIT_IO;
	}
	for (size_t i = 0; i < list.count; i++) {
		char text[160];

		snprintf(text, sizeof(text), "%s, batch %" PRId64 ": %.1f ms per iteration (%s)",
			 list.profiles[i].gpu, list.profiles[i].batch,
			 seconds_of(list.profiles[i].compute) * 1e3, list.profiles[i].quality);
		list_item(json, list.profiles[i].model, text);
	}
	dnn_list_release(&list);
	return EXIT_DONE;
}

static int list_traces(struct json *json)
{
	static const struct {
		enum data_kind kind;
		const char *help;
	} kinds[] = { { DATA_CDF, "flow sizes" }, { DATA_JOBS, "arrivals of jobs" } };

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		char **names = data_file_list(kinds[k].kind);

		for (char **name = names; *name; name++)
			list_item(json, *name, kinds[k].help);
		data_file_list_free(names);
	}
	return EXIT_DONE;
}

static int list_figures(struct json *json)
{
	const struct plot_figure *figure;

	for (size_t i = 0; (figure = plot_figure(i)); i++)
		if (figure->alone)
			list_item(json, figure->name, figure->alone);
	for (size_t i = 0; (figure = plot_figure(i)); i++)
		if (figure->together) {
			char *help = xasprintf("together: %s", figure->together);

			list_item(json, figure->name, help);
			free(help);
		}
	return EXIT_DONE;
}

/* The value of a key that has the word that is searched for, or NULL. */
static const char *wanted_choice(const struct conf_key *key)
{
	for (const char *const *choice = key->row.choices; choice && *choice; choice++)
		if (search.word && has_word(*choice, search.word))
			return *choice;
	return NULL;
}

static void list_key(struct json *json, const struct conf_key *key)
{
	const char *choice = wanted_choice(key);
	char *help = choice ? xasprintf("\"%s\": %s", choice, key->row.help) : NULL;

	list_item(json, key->path, help ? help : key->row.help);
	free(help);
}

/* Lists keys of scenarios, with N for any item of a list; a path with several forms comes once. */
static int list_keys(struct json *json)
{
	size_t count;
	struct conf_key *keys = conf_keys(&scenario_table, &count);

	for (size_t i = 0; i < count; i++)
		if (!i || strcmp(keys[i].path, keys[i - 1].path))
			list_key(json, &keys[i]);
	conf_keys_free(keys, count);
	return EXIT_DONE;
}

/* Lists metrics by the names that `compare --metric` and `plot --y` take. Metrics of jobs,
 * iterations and flows come with their usual statistics. */
static int list_metrics(struct json *json)
{
	static const char *const of[] = { "mean", "p50", "p95", "p99", "max" };

	for (const struct metric *m = metric_table; m->name; m++) {
		const char *dot = *m->of ? "." : "", *name = m->level == LEVEL_GROUP ? "NAME." : "";
		char *path = xasprintf("%s%s%s%s", m->of, dot, name, m->name);

		for (size_t i = 0; i < sizeof(of) / sizeof(of[0]) && m->level <= LEVEL_FLOW; i++) {
			char *statistic = xasprintf("%s.%s", path, of[i]);

			list_item(json, statistic, m->words);
			free(statistic);
		}
		if (m->level == LEVEL_RUN || m->level == LEVEL_GROUP)
			list_item(json, path, m->help);
		free(path);
	}
	return EXIT_DONE;
}

static const struct {
	const char *name;
	int (*list)(struct json *json);
	bool long_one; /* printed only if asked for by name */
} lists[] = {
	{ "schemes", list_schemes },       { "topologies", list_topologies },
	{ "transports", list_transports }, { "models", list_models },
	{ "traces", list_traces },         { "figures", list_figures },
	{ "formulas", list_formulas },     { "keys", list_keys, true },
	{ "metrics", list_metrics, true },
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

static bool list_exists(const char *name)
{
	const char *names[LISTS + 1] = { 0 };

	for (size_t i = 0; i < LISTS; i++) {
		names[i] = lists[i].name;
		if (!strcmp(name, lists[i].name))
			return true;
	}
	complain_unknown("there is no list of", name, names,
			 "; there are schemes, topologies, transports, models, traces, figures, "
			 "formulas, keys, metrics");
	return false;
}

/* `only`: one list, or NULL for all. */
static int print_lists(struct json *json, const char *only)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < LISTS && code == EXIT_DONE; i++) {
		if (only ? strcmp(only, lists[i].name) : lists[i].long_one)
			continue;
		if (json)
			json_open_array(json, lists[i].name);
		else
			printf("%s\n", lists[i].name);
		code = lists[i].list(json);
		if (json)
			json_close_array(json);
	}
	return code;
}

size_t list_find(const char *word)
{
	search.word = word;
	search.found = 0;
	for (size_t i = 0; i < LISTS; i++) {
		search.list = lists[i].name;
		if (lists[i].list != list_formulas)
			lists[i].list(NULL);
	}
	search.word = NULL;
	return search.found;
}

int verb_list(const struct cli *cli)
{
	const char *only = cli->argc ? cli->argv[0] : NULL;
	struct json json;
	char *text;
	int code;

	if (only && !list_exists(only))
		return EXIT_USAGE;
	if (!cli->json)
		return print_lists(NULL, only);
	json_init(&json);
	json_open_object(&json, NULL);
	code = print_lists(&json, only);
	json_close_object(&json);
	text = json_finish(&json);
	if (code == EXIT_DONE)
		fputs(text, stdout);
	free(text);
	return code;
}
