/* The tables of run --why: why.csv, the time of iterations by causes, why-groups.csv, the same by
 * what workers waited for, why-links.csv, who filled the busiest links in each iteration, and
 * why-hottest.csv, who filled those of the run. */
#ifndef INASIM_RUN_WHY_TABLE_H
#define INASIM_RUN_WHY_TABLE_H

#include "data/table.h"
#include "run/simulation.h"

extern const struct out_schema why_schema, why_groups_schema, why_links_schema, why_hottest_schema;

struct why_table;

/* The name of the owner of a volume (struct why_volume): the group of its job or of its flows. NULL
 * for PAUSE frames, which have no owner. The name lives as long as the run. */
const char *why_owner_name(const struct simulation *simulation, uint32_t owner);
/* The cell for the job of a volume's owner; empty for flows and PAUSE frames. */
struct out_cell why_owner_job(uint32_t owner);

/* Makes a simulation of packets find the causes and write the tables; call it between
 * simulation_build() and simulation_go(). If `dir` is NULL, writes no table, but a timeline can
 * listen. NULL and *error (caller frees) if a table cannot be opened. The caller frees the result
 * after the run, before the simulation. */
struct why_table *why_table_open(struct simulation *simulation, struct out_dir *dir, char **error);
/* Writes why-hottest.csv, too. */
void why_table_free(struct why_table *table);

#endif
