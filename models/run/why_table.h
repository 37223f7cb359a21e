/* What iterations were spent on: why.csv, with run --why. */
#ifndef INASIM_RUN_WHY_TABLE_H
#define INASIM_RUN_WHY_TABLE_H

#include "run/simulation.h"

extern const struct out_schema why_schema;

struct why_table;

/* Has why.csv written (without `dir` none: for timelines alone) when the simulation, built and not
 * started, goes: of packets. NULL and *error (caller frees) when the table cannot be opened. The
 * caller frees it after the run, while the simulation still exists. */
struct why_table *why_table_open(struct simulation *simulation, struct out_dir *dir, char **error);
void why_table_free(struct why_table *table);

#endif
