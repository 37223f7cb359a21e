/* Private to the verbs of sweeps, sweep*.c. */
#ifndef INASIM_CLI_SWEEP_H
#define INASIM_CLI_SWEEP_H

#include "cli/cli.h"
#include "lab/sweep/plan.h"
#include "lab/sweep/sweep.h"

/* Loads the scenario of a point for sim/lab/, which knows no model. */
plan_model sweep_model;

/* Loads the plan that the command line names; its mistakes are in plan->doc. The caller frees. */
struct plan *sweep_load_plan(const struct cli *cli);

/* Loads and checks the whole plan. *facts has an entry for each point, by number. Prints mistakes
 * and returns an exit code. The caller frees *plan and *facts in any case. */
int sweep_load_all(const struct cli *cli, struct plan **plan, struct point_facts **facts);

/* The sweep directory; the text lives as long as the plan. */
const char *sweep_dir(const struct cli *cli, const struct plan *plan);

/* "point 3 (load=0.1)", or "point 3" if the plan varies nothing; lives as long as the plan. */
const char *sweep_point_name(const struct plan *plan, size_t number);

/* Fills in the limits of the command line and, where it gives none, the plan's. False after a
 * complaint. */
bool sweep_read_limits(const struct cli *cli, const struct plan *plan, struct point_limits *limits);

#endif
