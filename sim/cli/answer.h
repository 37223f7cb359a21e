/* Writes what a report says first: sentences computed from results. */
#ifndef INASIM_CLI_ANSWER_H
#define INASIM_CLI_ANSWER_H

#include "lab/compare/compare.h"
#include "lab/sweep/groups.h"

#define QUANTITY 48

/* Formats a value with the unit that its metric's name ends in: "312 ms", "1.2 GB/s", "1070"; "–"
 * for NaN. Returns `buffer`, of QUANTITY bytes. */
const char *quantity(char *buffer, const char *metric, double value);

/* Writes paragraphs about one run, or several: which run is fastest, by how much, how other jobs
 * and flows fare in it, and where the time goes. */
void answer_runs(FILE *to, const struct comparison *comparison);

/* Writes paragraphs about a sweep: for jobs and for flows, how the values of each named axis
 * compare with its first or, without named axes, which combination is best and which is worst. */
void answer_sweep(FILE *to, const struct sweep_table *table, const struct groups *groups);

#endif
