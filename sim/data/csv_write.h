/* Writes CSV cell by cell: the result tables (data/table.h), and tables whose columns are known
 * only when they are written (sweep.csv, groups.csv).
 *
 * data/csv_read.h reads this: commas between cells, \n behind rows, quotes only around texts that
 * need them. A missing value is an empty cell, an empty text is "". A text that begins with =, +, -
 * or @, which a spreadsheet would run as a formula, gets an apostrophe before it, unless it is a
 * number; so does one that begins so behind apostrophes. The header line is a row of texts. The
 * first write error sticks, and the commit reports it, so a loop over rows needs no check of its
 * own:
 *
 *     struct csv_writer *csv = csv_writer_open("groups.csv");
 *     csv_writer_text(csv, "metric");
 *     csv_writer_text(csv, "mean");
 *     csv_writer_end_row(csv);
 *     csv_writer_text(csv, "jobs.count");
 *     csv_writer_real(csv, 2.5);
 *     csv_writer_end_row(csv);
 *     if (!csv_writer_commit(csv, &error)) ...
 */
#ifndef INASIM_DATA_CSV_WRITE_H
#define INASIM_DATA_CSV_WRITE_H

#include "base/types.h"

#include <stdbool.h>
#include <stdint.h>

struct csv_writer;

/* Opens a table that is kept in memory until the commit, which replaces PATH by it
 * (folder_replace()). The folder must exist by then. */
struct csv_writer *csv_writer_open(const char *path);

/* Opens a table that is streamed into the open file `fd`, in a folder that gets its final name only
 * when all is complete. The caller closes `fd` after the commit; `path` is for messages. */
struct csv_writer *csv_writer_open_in_place(int fd, const char *path);

/* Each writes one cell, from left to right. */
void csv_writer_none(struct csv_writer *csv);                   /* empty cell */
void csv_writer_text(struct csv_writer *csv, const char *text); /* not NULL */
void csv_writer_count(struct csv_writer *csv, uint64_t count);
void csv_writer_real(struct csv_writer *csv, double value);     /* by number_real(); empty if NaN */
void csv_writer_seconds(struct csv_writer *csv, sim_time time); /* exact; not SIM_TIME_MAX */
void csv_writer_flag(struct csv_writer *csv, bool flag);        /* 0 or 1 */

/* Ends the row. Rows of unequal length, or empty ones, are a bug of the caller and stop the
 * program: they could not be read back. */
void csv_writer_end_row(struct csv_writer *csv);

/* Writes what is left. Frees in any case. False and *error (caller frees) on failure: PATH is then
 * as before; a file written in place holds the whole rows that could be written. */
bool csv_writer_commit(struct csv_writer *csv, char **error);

/* Frees; what is not yet written is lost. */
void csv_writer_abandon(struct csv_writer *csv);

#endif
