/* The program: verbs and what they share. Nobody includes this but sim/cli. */
#ifndef INASIM_CLI_CLI_H
#define INASIM_CLI_CLI_H

#include "base/fail.h"
#include "conf/conf.h"

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

/* Of an option that may be repeated; texts are the command line's. */
struct texts {
	const char **items;
	size_t count;
};

/* FROM..TO */
struct span {
	bool given;
	sim_time from, to;
};

/* Options of run alone. */
struct cli_run {
	struct span events, timeline;
	bool why, force;
	long threads; /* 0 = not given */
};

/* Options of check alone. */
struct cli_check {
	bool strict;
};

/* Options of schema alone. */
struct cli_schema {
	bool results, plan;
};

/* Options of plot alone. */
struct cli_plot {
	const char *term, *figure, *x, *by, *kind, *log, *relative_to, *size, *font, *x_label;
	struct texts metrics, where, labels, y_labels;
	bool together, panels, no_title;
};

/* Options of compare alone. */
struct cli_compare {
	const char *by, *baseline, *tolerance, *warmup;
	struct texts metrics;
	bool long_run, latex;
};

/* Options of regress alone. */
struct cli_regress {
	struct texts scenarios;
	const char *reason;
	bool update;
	long jobs; /* 0 = not given */
};

/* Options of export alone. */
struct cli_export {
	const char *platform;
};

/* Options of the verbs of sweeps alone. */
struct cli_sweep {
	bool pending, force;
	const char *time_limit, *memory_limit;
};

/* Options as typed (options.c), and what is left of the command line. A text is
 * NULL when its option was not given. */
struct cli {
	int argc;
	char **argv; /* scenarios, directories ... */
	int full_argc;
	char *const *full_argv; /* as typed */
	const char *out;
	bool json, quiet;
	struct conf_override *overrides; /* --set, --seed, --fidelity */
	size_t override_count;
	struct texts cut; /* of --set, copies: the command line stays as typed; owned */
	struct cli_run run;
	struct cli_check check;
	struct cli_schema schema;
	struct cli_plot plot;
	struct cli_compare compare;
	struct cli_regress regress;
	struct cli_sweep sweep;
	struct cli_export export;
};

/* For the rows of options.c. */
enum verb_bit {
	VERB_RUN = 1 << 0,
	VERB_CHECK = 1 << 1,
	VERB_EXPLAIN = 1 << 2,
	VERB_LIST = 1 << 3,
	VERB_SCHEMA = 1 << 4,
	VERB_PLOT = 1 << 5,
	VERB_SWEEP_PLAN = 1 << 6,
	VERB_SWEEP_RUN = 1 << 7,
	VERB_SWEEP_STATUS = 1 << 8,
	VERB_SWEEP_COLLECT = 1 << 9,
	VERB_COMPARE = 1 << 10,
	VERB_REGRESS = 1 << 11,
	VERB_EXPORT = 1 << 12,
	VERB_HELP = 1 << 13,
	VERB_INIT = 1 << 14,
	VERB_MANUAL = 1 << 15,
	VERB_WHY = 1 << 16,
	VERB_FORMULA = 1 << 17,
	VERB_REPORT = 1 << 18,
};

struct verb {
	const char *name, *synopsis, *help;
	enum verb_bit bit;
	const char *needs; /* the arguments it cannot do without; NULL = none */
	int most;          /* arguments */
	int (*run)(const struct cli *cli);
};

int verb_run(const struct cli *cli);
int verb_check(const struct cli *cli);
int verb_explain(const struct cli *cli);
int verb_list(const struct cli *cli);
int verb_schema(const struct cli *cli);
int verb_plot(const struct cli *cli);
int verb_compare(const struct cli *cli);
int verb_regress(const struct cli *cli);
int verb_export(const struct cli *cli);
int verb_why(const struct cli *cli);
int verb_formula(const struct cli *cli);
int verb_report(const struct cli *cli);
int verb_help(const struct cli *cli);
int verb_init(const struct cli *cli);
int verb_manual(const struct cli *cli);
int verb_sweep_plan(const struct cli *cli);
int verb_sweep_run(const struct cli *cli);
int verb_sweep_status(const struct cli *cli);
int verb_sweep_collect(const struct cli *cli);

/* Runs a checked scenario, which `doc` holds, as the verb run does; results into
 * `out` (NULL = nowhere). Returns the exit code. */
struct scenario;
int run_scenario(const struct cli *cli, const struct scenario *scenario, const char *path,
		 const struct conf_doc *doc, const char *out);

/* formula.c: all formulas, into a list that is open, or (NULL) on the terminal. */
struct json;
void list_formulas(struct json *json);

/* speed.c: packet-hops that this machine simulates in a second of CPU time, measured by a run of a
 * fraction of a second, once a process. */
double speed_hops_per_s(void);

/* main.c: --help and --version. */
void print_usage(FILE *to);
void print_verb_usage(const struct verb *verb, FILE *to);
void print_version(void);

/* main.c: the i-th verb, NULL behind the last. */
const struct verb *verb_at(size_t i);

/* main.c: what exit codes mean; the last has no meaning. */
struct exit_meaning {
	enum exit_code code;
	const char *meaning;
};
extern const struct exit_meaning exit_meanings[];

/* completion.c: completions for a shell ("bash", "zsh", "fish"); false = it knows no such shell. */
bool print_completion(const char *shell, FILE *to);

/* Prints "inasim: ..." on stderr. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
