/* The verb help: explains a key of scenarios or sweep plans, or a verb; for any other word, lists
 * what has it in its text. */
#include "cli/cli.h"

#include "base/mem.h"
#include "conf/keys.h"
#include "lab/sweep/plan.h"
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LABEL 9  /* columns for a label such as "allowed" */
#define NAME  22 /* columns for the name of a key; paths get twice as many */
#define WIDTH 92 /* columns of a line */

/* --- one key --- */

/* Prints a text behind a label of `width` columns, below it if the label has more, and breaks lines
 * between words. */
static void print_words(int width, const char *label, const char *text)
{
	int column = 0;

	if ((int)strlen(label) >= width)
		printf("  %s\n  %*s", label, width, "");
	else
		printf("  %-*s", width, label);
	for (size_t word; (word = strcspn(text, " ")) > 0;
	     text += word + strspn(text + word, " ")) {
		if (column && width + column + (int)word > WIDTH) {
			printf("\n  %*s", width, "");
			column = 0;
		}
		column += printf("%s%.*s", column ? " " : "", (int)word, text);
	}
	putchar('\n');
}

static void tell(void *owner, const char *label, const char *text)
{
	(void)owner;
	print_words(LABEL, label, text);
}

static void print_key(const struct conf_key *key)
{
	printf("%s\n", key->path);
	print_words(LABEL, "", key->row.help);
	conf_key_tell(key, tell, NULL);
}

/* Adds what is allowed, and the default, to the text of a key. */
static void add_fact(void *text, const char *label, const char *fact)
{
	char *former = *(char **)text;

	if (strcmp(label, "allowed") && strcmp(label, "default"))
		return;
	*(char **)text = strcmp(label, "default") ? xasprintf("%s [%s]", former, fact)
						  : xasprintf("%s [default %s]", former, fact);
	free(former);
}

static void print_key_briefly(const struct conf_key *key)
{
	char *text = xstrdup(key->row.help);

	conf_key_tell(key, add_fact, &text);
	print_words(2 * NAME, key->path, text);
	free(text);
}

/* --- all keys --- */

struct keys {
	struct conf_key *items;
	size_t count;
};

/* The name of a key directly below `path`, or below an item of it, which paths call N (in a list)
 * or NAME (in an object). NULL for other keys. */
static const char *below(const char *path, const char *key)
{
	size_t length = strlen(path);

	if (strncmp(key, path, length) || key[length] != '/')
		return NULL;
	key += length + 1;
	if (!strncmp(key, "N/", 2))
		key += 2;
	else if (!strncmp(key, "NAME/", 5))
		key += 5;
	return strchr(key, '/') ? NULL : key;
}

static void print_keys_below(const struct keys *keys, const char *path)
{
	bool any = false;

	for (size_t i = 0; i < keys->count; i++) {
		const char *name = below(path, keys->items[i].path);

		if (!name)
			continue;
		if (!any)
			puts("  keys");
		any = true;
		print_words(NAME, name, keys->items[i].row.help);
	}
}

/* Turns what was asked for into a key's path: "/jobs/0/workers" into "/jobs/N/workers", "workers"
 * into "/workers". The caller frees. */
static char *as_path(const char *asked)
{
	char *path = xasprintf("%s%s", *asked == '/' ? "" : "/", asked), *to = path;

	for (const char *p = path; *p;) {
		size_t digits = *p == '/' ? strspn(p + 1, "0123456789") : 0;

		*to++ = *p++;
		if (digits)
			*to++ = 'N';
		p += digits;
	}
	*to = '\0';
	if (to - path > 2 && !strcmp(to - 2, "/N"))
		to[-2] = '\0'; /* "/jobs/0": the list explains its items */
	return path;
}

/* Whether the path of a key is `asked` or, if `asked` is not a `whole` path, ends in it. */
static bool is_asked(const char *path, const char *asked, bool whole)
{
	size_t length = strlen(path), wanted = strlen(asked);

	return whole ? !strcmp(path, asked)
		     : length >= wanted && !strcmp(path + length - wanted, asked);
}

/* --- what was asked for --- */

/* How many keys fit. Several forms of a key share its path and count once. */
static size_t count_asked(const struct keys *keys, const char *path, bool whole)
{
	const char *former = "";
	size_t count = 0;

	for (size_t i = 0; i < keys->count; i++) {
		if (!is_asked(keys->items[i].path, path, whole))
			continue;
		count += strcmp(former, keys->items[i].path) != 0;
		former = keys->items[i].path;
	}
	return count;
}

/* Prints all about the asked key, in each of its forms, or a line about each if several fit. False:
 * none fits. */
static bool explain_in(const struct keys *keys, const char *asked, const char *kind)
{
	bool whole = *asked == '/', first = true;
	char *path = as_path(asked);
	size_t count = count_asked(keys, path, whole);

	if (count && *kind)
		puts(kind);
	for (size_t i = 0; i < keys->count; i++) {
		const struct conf_key *key = &keys->items[i];

		if (!is_asked(key->path, path, whole))
			continue;
		if (count > 1)
			print_key_briefly(key);
		else
			print_key(key);
		if (count == 1 && first)
			print_keys_below(keys, key->path);
		first = false;
	}
	free(path);
	return count > 0;
}

static void complain_key(const struct keys *scenario, const struct keys *plan, const char *asked)
{
	size_t count = scenario->count + plan->count;
	const char **names = xcalloc(count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++) {
		const char *path = i < scenario->count ? scenario->items[i].path
						       : plan->items[i - scenario->count].path;

		names[i] = *asked == '/' ? path : strrchr(path, '/') + 1;
	}
	complain_unknown("there is no key or verb", asked, names,
			 conf_suggest(asked, names) ? "" : "; see inasim list keys, list metrics");
	free(names);
}

/* Lists what has the asked word, or what inasim says for it, in its text. False: nothing has. */
static bool explain_word(const char *asked)
{
	static const char *const synonyms[][2] = {
		{ "tp", "tensor" },
		{ "pp", "pipeline" },
		{ "dp", "replicas" },
		{ "ep", "expert" },
		{ "cp", "context" },
		{ "moe", "expert" },
		{ "nvlink", "among GPUs" },
		{ "nvswitch", "nvls" },
		{ "clos", "leaf-spine" },
		{ "tor", "leaf-spine" },
		{ "allreduce", "all-reduce" },
		{ "background", "flows" },
		{ "infiniband", "sharp" },
	};
	const char *word = asked;

	for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++)
		if (!strcasecmp(asked, synonyms[i][0])) {
			word = synonyms[i][1];
			printf("%s: see %s\n", asked, word);
		}
	return list_find(word);
}

static int explain_key(const char *asked)
{
	struct keys scenario, plan;
	bool known;

	scenario.items = conf_keys(&scenario_table, &scenario.count);
	plan.items = conf_keys(&plan_table, &plan.count);
	known = explain_in(&scenario, asked, "");
	known |= explain_in(&plan, asked, "of a sweep plan:");
	if (!known)
		known = *asked != '/' && explain_word(asked);
	if (!known)
		complain_key(&scenario, &plan, asked);
	conf_keys_free(scenario.items, scenario.count);
	conf_keys_free(plan.items, plan.count);
	return known ? EXIT_DONE : EXIT_USAGE;
}

/* Explains "run" or "sweep run", or for "sweep" all verbs that begin with this word. False: there
 * is none. */
static bool explain_verb(const char *name)
{
	const struct verb *verb;
	size_t length = strlen(name);
	bool found = false;

	for (size_t i = 0; (verb = verb_at(i)); i++)
		if (!strncmp(verb->name, name, length) &&
		    (!verb->name[length] || verb->name[length] == ' ')) {
			print_verb_usage(verb);
			found = true;
		}
	return found;
}

int verb_help(const struct cli *cli)
{
	char *asked;
	int code = EXIT_DONE;

	if (!cli->argc) {
		print_usage(stdout);
		return EXIT_DONE;
	}
	asked = xasprintf("%s%s%s", cli->argv[0], cli->argc > 1 ? " " : "",
			  cli->argc > 1 ? cli->argv[1] : "");
	if (!explain_verb(asked))
		code = explain_key(asked);
	free(asked);
	return code;
}
