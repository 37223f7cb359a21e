/* Reads the tables of a result directory, as a run left them: manifest.json says which there are
 * and how many rows each has. Without it (a run that was killed) they are taken as they are. */
#ifndef INASIM_IO_RESULT_READ_H
#define INASIM_IO_RESULT_READ_H

#include "io/csv_read.h"

/* Opens DIR/FILE. NULL when there is none, as runs leave out tables that would be empty; NULL and
 * *error (caller frees) when it cannot be read or is lost. That it was cut off is told at its end.
 */
struct csv *result_table(const char *dir, const char *file, char **error);

/* How figures call the job in the present row of jobs.csv: by its group, and by what it ran as
 * where that is not what it was given: "small (ring)". The caller frees. */
char *result_job_name(struct csv *jobs);

#endif
