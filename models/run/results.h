/* Writes the results of a run, besides the rows that jobs and flows write as they go. */
#ifndef INASIM_RUN_RESULTS_H
#define INASIM_RUN_RESULTS_H

#include "run/simulation.h"

extern const struct out_schema links_schema, aggregators_schema;

/* All tables, for the data dictionary. */
extern const struct out_schema *const results_schemas[];
extern const size_t results_schema_count;

/* Writes the rows of unfinished work, links and switch memory. */
void results_write_tables(struct simulation *simulation);

/* summary.json; the caller frees. */
char *results_summary_json(const struct simulation *simulation);

/* Prints the table on the terminal. */
void results_print_summary(const struct simulation *simulation, FILE *to);

#endif
