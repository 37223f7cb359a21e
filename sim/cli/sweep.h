/* The inside of the verbs of sweeps: for sweep*.c alone. */
#ifndef INASIM_CLI_SWEEP_H
#define INASIM_CLI_SWEEP_H

#include "cli/cli.h"
#include "lab/sweep/plan.h"
#include "lab/sweep/sweep.h"

/* Loads the scenario of a point for sim/lab/, which knows no model. */
plan_model sweep_model;

/* The plan that the command line names, with its mistakes in plan->doc. The caller frees. */
struct plan *sweep_load_plan(const struct cli *cli);

/* Loads and checks the whole plan; *facts has an entry for each point, by number. Prints mistakes
 * and returns an exit code. The caller frees *plan and *facts in any case. */
int sweep_load_all(const struct cli *cli, struct plan **plan, struct point_facts **facts);

/* Where the points of a plan go; it lives as long as the plan. */
const char *sweep_dir(const struct cli *cli, const struct plan *plan);

/* Reads the limits of the plan; those of the command line replace them. False after a complaint. */
bool sweep_read_limits(const struct cli *cli, const struct plan *plan, struct point_limits *limits);

#endif
