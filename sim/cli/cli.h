/* The program: verbs and what they share. For sim/cli only. */
#ifndef INASIM_CLI_CLI_H
#define INASIM_CLI_CLI_H

#include "base/fail.h"
#include "conf/conf.h"
#include "lab/compare/compare.h"
#include "lab/figures/plot.h"
#include "run/simulation.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

enum exit_code {
	EXIT_DONE = 0,
	EXIT_DIFFERS = 1,
	EXIT_USAGE = 2,
	EXIT_INVALID = 3,
	EXIT_UNFINISHED = 4,
	EXIT_VIOLATED = 5,
	EXIT_IO = 6,
	EXIT_MEMORY = FAIL_OUT_OF_MEMORY,
	EXIT_INTERRUPTED = 130,
};

struct cli_plot {
	struct plot_options options;
	struct plot_sweep_options sweep; /* `labels` also serve result directories */
	const char *size, *font;
	bool together;
};

/* Options as typed (options.c), and the rest of the command line. The text of an option that is not
 * given is NULL. */
struct cli {
	int argc;
	char **argv; /* scenarios, directories ... */
	int full_argc;
	char *const *full_argv; /* as typed */
	const char *out;
	bool json, quiet;
	struct conf_override *overrides; /* --set and its short forms; owned, with their texts */
	size_t override_count;

	/* options of single verbs; `sweep` serves all verbs of sweeps */
	struct {
		const char *kind;
	} init;
	struct {
		struct time_span events, timeline;
		bool why, force;
		bool no_fast_forward;
	} run;
	struct {
		bool summary;
	} why;
	struct {
		bool strict;
	} check;
	struct {
		bool results, plan;
	} schema;
	struct cli_plot plot;
	struct {
		struct compare_options options;
		const char *tolerance, *margin;
		bool latex, markdown;
	} compare;
	struct {
		struct names scenarios;
		const char *reason;
		bool update;
		long jobs; /* runs at a time; 0 if not given */
	} regress;
	struct {
		bool pending, force;
		const char *time_limit, *memory_limit;
	} sweep;
};

/* Returns the exit code. */
typedef int verb_function(const struct cli *cli);

struct verb {
	const char *name, *synopsis, *help;
	const char *needs; /* the first argument, in words; NULL: none is needed */
	int max;           /* arguments that it takes, at most */
	verb_function *run;
};

verb_function verb_run, verb_check, verb_explain, verb_list, verb_schema, verb_plot, verb_compare,
	verb_regress, verb_why, verb_formula, verb_report, verb_help, verb_init, verb_manual,
	verb_export_topology, verb_export_fct, verb_import_topology, verb_sweep_plan,
	verb_sweep_run, verb_sweep_status, verb_sweep_collect;

/* options.c: reads the options of a verb from argv (argv[0] is the verb) into *cli and leaves the
 * rest in cli->argv. Returns -1 if the verb is to run, else the exit code after --help, --version
 * or a mistake, which stderr tells. */
int options_parse(struct cli *cli, const struct verb *verb, int argc, char **argv);

/* Frees what options_parse() allocated. */
void options_release(struct cli *cli);

/* Calls `tell` for each option of a verb, with its form ("--out DIR") and its help. */
void options_tell(const struct verb *verb, void (*tell)(const char *form, const char *help));

/* run.c: runs the checked scenario of `doc` like the verb run, and writes the results to `out`
 * (NULL: nowhere). Returns the exit code. */
int run_scenario(const struct cli *cli, const struct scenario *scenario, const struct conf_doc *doc,
		 const char *out);

/* formula.c: adds all formulas to the open array of `json` or, if this is NULL, prints them.
 * Returns the exit code. */
struct json;
int list_formulas(struct json *json);

/* list.c: prints what the lists (but formulas) have with this word in its name, its explanation or
 * its values, for help. Returns how many items that are. */
size_t list_find(const char *word);

/* speed.c: packet-hops that this machine simulates per second of CPU time. The first call measures
 * this by a run of a fraction of a second. */
double speed_hops_per_s(void);

/* main.c: loads a scenario with cli->overrides; the caller frees. */
struct conf_doc *load_scenario(const struct cli *cli, const char *path, struct scenario *scenario);

/* main.c: EXIT_IO if a file could not be read, EXIT_INVALID for other mistakes in a document, else
 * EXIT_DONE. */
enum exit_code exit_code_of(const struct conf_doc *doc);

/* origin.c: checks which version wrote the result directories and sweeps that a verb is to read.
 * False, after a complaint, if this version does not read their format. Unless `quiet`, also
 * complains of results of other versions. Says nothing of what cannot be read at all: the verb
 * does. */
bool origin_check(char *const *dirs, int count, bool quiet);

/* origin.c: manifest.json of a result directory; NULL if there is none or it cannot be read. The
 * caller frees it by cJSON_Delete(). */
cJSON *origin_manifest(const char *dir);

/* origin.c: a word of a command line, quoted for a shell if it needs that. */
void print_quoted(FILE *to, const char *word);

/* main.c: --help and --version. */
void print_usage(FILE *to);
void print_verb_usage(const struct verb *verb);
void print_version(void);

/* main.c: the i-th verb, NULL past the last. */
const struct verb *verb_at(size_t i);

/* main.c: what exit codes mean; ends with a NULL meaning. */
struct exit_meaning {
	enum exit_code code;
	const char *meaning;
};
extern const struct exit_meaning exit_meanings[];

/* Prints "inasim: ..." on stderr, without control characters, cut at 4,095 bytes. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Complains of a wrong word: `WHAT "WORD" (did you mean "NEAR"?)REST`, with the nearest of `names`,
 * which end with NULL. */
void complain_unknown(const char *what, const char *word, const char *const *names,
		      const char *rest);

#endif
