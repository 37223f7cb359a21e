/* The verb manual: pages for man(1), from the tables of verbs, options and keys; and the
 * completions of scripts/completion. */
#include "cli/cli.h"

#include "base/home.h"
#include "base/input.h"
#include "base/mem.h"
#include "build_info.h"
#include "conf/keys.h"
#include "lab/sweep/plan.h"
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

/* Escapes text for troff: hyphens stay hyphens, and no line looks like a request. */
static void put(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++)
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else
			putchar(*text);
}

static void line(const char *request, const char *text)
{
	fputs(request, stdout);
	put(text);
	putchar('\n');
}

static void head(const char *name, int section, const char *what)
{
	printf(".TH %s %d \"\" \"inasim %s\"\n.SH NAME\n", name, section, BUILD_VERSION);
	put(name);
	printf(" \\- %s\n", what);
}

/* --- inasim(1) --- */

static void page_option(const char *form, const char *help)
{
	line(".TP\n.B ", form);
	line("", help);
}

static void page_verb(const struct verb *verb)
{
	line(".SS ", verb->name);
	line(".B inasim ", verb->synopsis);
	line(".PP\n", verb->help);
	options_tell(verb, page_option);
}

static void page_program(void)
{
	const struct verb *verb;

	head("inasim", 1, "simulates clusters that aggregate gradients in the network");
	fputs(".SH SYNOPSIS\n.B inasim\n.I VERB\n[\\fIARGUMENTS\\fR]\n.SH DESCRIPTION\n"
	      "A scenario in JSON, see\n.BR inasim\\-scenario (5),\n"
	      "goes in; completion times of jobs and flows come out.\n.SH VERBS\n",
	      stdout);
	for (size_t i = 0; (verb = verb_at(i)); i++)
		page_verb(verb);
	puts(".SH \"EXIT STATUS\"");
	for (const struct exit_meaning *m = exit_meanings; m->meaning; m++)
		printf(".TP\n.B %d\n%s\n", m->code, m->meaning);
	puts(".SH ENVIRONMENT\n.TP\n.B INASIM_TRACES\nanother folder of traces: sizes of flows, "
	     "models, arrivals of jobs\n.TP\n.B INASIM_GNUPLOT\nanother folder of templates of "
	     "figures\n.SH \"SEE ALSO\"\n.BR inasim\\-scenario (5)");
}

/* --- inasim-scenario(5) --- */

static void page_field(void *owner, const char *label, const char *text)
{
	(void)owner;
	printf(".br\n%s: ", label);
	line("", text);
}

static void page_keys(const char *title, const struct conf_table *table)
{
	size_t count;
	struct conf_key *keys = conf_keys(table, &count);

	printf(".SH \"%s\"\n", title);
	for (size_t i = 0; i < count; i++) {
		line(".TP\n.B ", keys[i].path);
		line("", keys[i].row.help);
		conf_key_tell(&keys[i], page_field, NULL);
	}
	conf_keys_free(keys, count);
}

static void page_scenario(void)
{
	head("inasim-scenario", 5, "scenarios and sweep plans of inasim");
	puts(".SH DESCRIPTION\nA JSON object. Times, sizes and rates are strings with a unit; keys "
	     "that begin with _ are comments; unknown keys are errors. In the paths below N is an "
	     "item of a list, NAME a key of your choice.\n.PP\n.B inasim init\nwrites one to start "
	     "from,\n.B inasim help KEY\nexplains a key,\n.B inasim explain\nhas every value of a "
	     "scenario.");
	page_keys("KEYS OF A SCENARIO", &scenario_table);
	page_keys("KEYS OF A SWEEP PLAN", &plan_table);
	puts(".SH \"SEE ALSO\"\n.BR inasim (1)");
}

/* --- inasim-sweep(1) --- */

/* Prints a line of the comment at the top of scripts/sweep, without "# ". "  --out DIR   text" is
 * an option; lines indented further continue it. *listed: the line before belongs to an option. */
static void sweep_line(const char *text, bool *listed)
{
	bool option = !strncmp(text, "  --", 4);
	char form[40];
	size_t length;

	if (!*listed && (!strncmp(text, "Usage: ", 7) || !strncmp(text, "       ", 7))) {
		/* each form of the call on a line of its own */
		line(".br\ninasim\\-sweep", text + strlen("Usage: scripts/sweep"));
		return;
	}
	if (option) {
		length = (size_t)(strstr(text + 2, "  ") - text) - 2;
		snprintf(form, sizeof(form), "%.*s", (int)length, text + 2);
		line(".TP\n.B ", form);
		text += 2 + length;
	} else if (*text != ' ' && *listed) {
		puts(".PP");
	}
	*listed = option || *text == ' ';
	line("", text + strspn(text, " "));
}

/* Returns an exit code. */
static int page_sweep(void)
{
	char *installed = home_path("../../bin/inasim-sweep"), *source = home_path("scripts/sweep");
	char *text = input_read(source, 100000, NULL), *rest, *next;
	bool listed = false;

	if (!text)
		text = input_read(installed, 100000, NULL);
	free(installed);
	free(source);
	if (!text) {
		complain("cannot read inasim-sweep, which has the text of its page");
		return EXIT_IO;
	}
	head("inasim-sweep", 1, "runs the points of a sweep plan on all cores, or on a cluster");
	puts(".SH DESCRIPTION");
	for (rest = strchr(text, '\n') + 1; !strncmp(rest, "# ", 2); rest = next + 1) {
		next = strchr(rest, '\n');
		*next = '\0';
		sweep_line(rest + 2, &listed);
	}
	puts(".SH \"SEE ALSO\"\n.BR inasim (1),\n.BR inasim\\-scenario (5)");
	free(text);
	return EXIT_DONE;
}

/* The completion script for a shell, or NULL. The caller frees. */
static char *completion(const char *shell)
{
	char *file = xasprintf("scripts/completion/%s", shell), *path = home_path(file);
	char *text = strchr(shell, '/') ? NULL : input_read(path, 100000, NULL);

	free(file);
	free(path);
	return text;
}

int verb_manual(const struct cli *cli)
{
	const char *name = cli->argv[0];
	char *text = completion(name);
	int code = EXIT_DONE;

	if (!strcmp(name, "inasim.1")) {
		page_program();
	} else if (!strcmp(name, "inasim-scenario.5")) {
		page_scenario();
	} else if (text) {
		fputs(text, stdout);
	} else if (!strcmp(name, "inasim-sweep.1")) {
		code = page_sweep();
	} else {
		complain("there is no \"%s\"; there are the pages inasim.1, inasim-scenario.5 and "
			 "inasim-sweep.1, and completions for bash, zsh and fish",
			 name);
		code = EXIT_USAGE;
	}
	free(text);
	return code;
}
