/* Writes the results at the end of a run. Jobs and flows write their own rows during the run. */
#ifndef INASIM_RUN_RESULTS_H
#define INASIM_RUN_RESULTS_H

#include "run/simulation.h"

extern const struct out_schema links_schema, aggregators_schema;

/* The schemas of all tables and of summary.json, for the data dictionary. */
extern const struct out_schema *const results_schemas[];
extern const size_t results_schema_count;

/* Writes the rows of unfinished jobs, of links and of switch memory. */
void results_write_tables(struct simulation *simulation);

/* The text of summary.json; the caller frees. */
char *results_summary_json(const struct simulation *simulation);

/* Prints the summary for the terminal. */
void results_print_summary(const struct simulation *simulation, FILE *to);

#endif
