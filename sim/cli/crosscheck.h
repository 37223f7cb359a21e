/* Parts of the verb crosscheck: crosscheck.c runs and compares, crosscheck_report.c shows
 * and judges. */
#ifndef INASIM_CLI_CROSSCHECK_H
#define INASIM_CLI_CROSSCHECK_H

#include "cli/cli.h"

#include "crosscheck/outcome.h"
#include "crosscheck/promise.h"
#include "out/json.h"

/* A scenario, both ways. */
struct crosscheck {
	const char *path; /* not owned */
	enum crosscheck_kind kind;
	struct outcome_item *items;
	size_t item_count;
	double closed_s, closed_difference; /* fluid / closed form - 1; NAN = there is none */
};

/* Runs a scenario in both fidelities and compares; returns an exit code. The caller frees
 * check->items in any case. */
int crosscheck_scenario(const struct cli *cli, const char *path, struct crosscheck *check);

/* What there is of a kind of scenarios. */
struct crosscheck_sum {
	double *magnitudes; /* of the differences of jobs and groups of flows; owned */
	size_t count, capacity, scenarios, broken;
	double signed_sum, worst;
	char *worst_name; /* of scenario and item; owned */
};

struct crosscheck_report {
	bool as_json, quiet;
	double tolerance; /* for all jobs and groups of flows; NAN = what is promised */
	struct json json;
	struct crosscheck_sum kinds[CROSSCHECK_KINDS];
};

void crosscheck_report_open(struct crosscheck_report *report, const struct cli *cli,
			    double tolerance);
/* Judges and shows one. */
void crosscheck_report_add(struct crosscheck_report *report, const struct crosscheck *check);
/* Shows all by kind. True when every promise was kept. */
bool crosscheck_report_close(struct crosscheck_report *report);

#endif
