/* Reads CSV tables by column name: our own results and users' traces.
 *
 * Strict, because a line that is silently lost costs its owner hours: every row has as many cells
 * as the header line, quotes are balanced, numbers are numbers to their last character. Lines end
 * with LF or CRLF; the last needs no end. Empty lines and a byte order mark are skipped.
 *
 * The first error sticks: csv_next() then returns false, and csv_close() returns the message
 * ("flows.csv:17: column size_bytes: ..."). So a loop over the rows needs no check of its own:
 *
 *     while (csv_next(csv))
 *             total += csv_u64(csv, size);
 *     if (!csv_close(csv, &error)) ...
 */
#ifndef INASIM_DATA_CSV_READ_H
#define INASIM_DATA_CSV_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv;

/* Opens a file and reads its header line; NULL and *error (caller frees). */
struct csv *csv_open(const char *path, char **error);

/* Closes and frees. False and *error (caller frees) if anything went wrong since csv_open(). */
bool csv_close(struct csv *csv, char **error);

/* Index of a column, -1 if there is none of this name. */
int csv_find(const struct csv *csv, const char *name);

/* Names of the columns that neither csv_find() nor csv_need() has found ("vc, user"), or NULL. The
 * caller frees. */
char *csv_unread(const struct csv *csv);

size_t csv_columns(const struct csv *csv);

/* Like csv_find(), but a missing column is an error. -1 without an error if `name` is NULL. */
int csv_need(struct csv *csv, const char *name);

/* Goes to the next row; false at the end and after an error. */
bool csv_next(struct csv *csv);

/* Demands `rows` rows below the header line, as the file `who` says, and a line end behind the
 * last. Otherwise the table was cut off or changed, which csv_next() reports at its end. `who` must
 * live as long as the table. */
void csv_expect(struct csv *csv, uint64_t rows, const char *who);

/* Line on which the current row starts. The header line is 1. */
uint64_t csv_line(const struct csv *csv);

/* Cells of the current row. A text lives until the next csv_next(). A cell that does not hold the
 * number asked for is an error and reads as 0. */
bool csv_empty(const struct csv *csv, int column);
const char *csv_text(const struct csv *csv, int column);
uint64_t csv_u64(struct csv *csv, int column);
double csv_real(struct csv *csv, int column); /* finite decimal number */
bool csv_flag(struct csv *csv, int column);   /* 0 or 1 */

/* Reports a mistake in a cell of the current row, if it is the first error. */
void csv_complain(struct csv *csv, int column, const char *what);

#endif
