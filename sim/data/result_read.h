/* Reads the tables of a result directory. manifest.json says which tables there are, and how many
 * rows each has. Without it (the run was killed) tables are taken as they are. */
#ifndef INASIM_DATA_RESULT_READ_H
#define INASIM_DATA_RESULT_READ_H

#include "data/csv_read.h"

/* The format of result directories, "format" in manifest.json. It rises when a column or a member
 * changes its meaning. Results without this member have format 1. */
#define RESULT_FORMAT 1

/* Opens DIR/FILE. NULL without an error if the run wrote no such table, as flows.csv without
 * flows. NULL and *error (caller frees) if the table cannot be read or is lost.
 * A table that was cut off fails at its end (csv_expect()). */
struct csv *result_table(const char *dir, const char *file, char **error);

/* Returns the name of the job in the current row of jobs.csv, for figures: its group and, unless it
 * ran just as given, how it ran: "small (ring)". The caller frees. */
char *result_job_name(struct csv *jobs);

#endif
