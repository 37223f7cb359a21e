/* Result tables: what a run leaves behind.
 *
 * A table is declared once, as a list of columns; header line, cells and data dictionary all come
 * from that list. Rows are streamed to the file as they are known, so that a million flows need no
 * memory and a killed run leaves what it had in a directory that visibly is not finished.
 *
 * CSV as data/csv_write.h has it: a value that does not exist (the finish of an unfinished flow) is
 * an empty cell. */
#ifndef INASIM_DATA_TABLE_H
#define INASIM_DATA_TABLE_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum out_type {
	OUT_COUNT,   /* uint64_t */
	OUT_REAL,    /* double, as number_real() prints it; NaN is an empty cell */
	OUT_SECONDS, /* sim_time, printed as exact decimal seconds: 0.000001234567. What never
		      * happens is a cell with `none`; SIM_TIME_MAX is a bug of the caller. */
	OUT_TEXT,    /* const char * */
	OUT_FLAG,    /* bool, printed 0 or 1 */
};

struct out_column {
	const char *name; /* snake_case, unit as suffix */
	enum out_type type;
	const char *help;  /* for the data dictionary: one sentence */
	const char *since; /* version that brought it; NULL: 0.1, the first */
};

struct out_schema {
	const char *file; /* "flows.csv", "series/tiers.csv" */
	const char *help;
	const struct out_column *columns; /* ends with a column without name */
};

/* One cell; the member must match the column's type. */
struct out_cell {
	bool none;
	union {
		uint64_t count;
		double real;
		sim_time time;
		const char *text;
		bool flag;
	};
};

struct out_dir;
struct out_table;

/* Opens a result directory for writing. Everything is written into a sibling "PATH.partial", which
 * out_dir_commit() renames to PATH: so a killed run never looks finished. Parents are created. The
 * commit replaces an existing PATH only if it is a result directory (holds manifest.json) or is
 * empty; otherwise opening fails. What a killed run left in PATH.partial is removed. If another
 * process still writes there, opening fails; within one process the caller has to make sure that
 * nobody does. On failure NULL is returned and *error (caller frees) says why. */
struct out_dir *out_dir_open(const char *path, char **error);

/* Opens a table in the directory, creates sub-folders, and writes the header line; NULL and *error
 * on failure. The table belongs to the directory, which closes it; the schema must outlive both. */
struct out_table *out_table_open(struct out_dir *dir, const struct out_schema *schema,
				 char **error);

/* Appends one row; `cells` in the order of the columns, none missing. out_dir_commit() tells if a
 * row could not be written. */
void out_table_row(struct out_table *table, const struct out_cell *cells);

/* Writes a whole text file (summary.json, manifest.json), over an earlier one of
 * that name; false and *error on failure. */
bool out_dir_write(struct out_dir *dir, const char *file, const char *text, char **error);

bool out_dir_write_bytes(struct out_dir *dir, const char *file, const void *data, size_t length,
			 char **error);

/* Number of files so far, and name and data rows of each (rows 0 for texts). */
size_t out_dir_files(const struct out_dir *dir);
const char *out_dir_file(const struct out_dir *dir, size_t index, uint64_t *rows);

/* The folder that is written to at the moment (PATH.partial). */
const char *out_dir_working_path(const struct out_dir *dir);

/* Ends all tables and checks for write errors (a full disk is found here at the latest) and that
 * nobody has taken away the folder or a file of it meanwhile. Then syncs to the disk and renames.
 * Frees the directory in any case. False and *error on failure: PATH is then as before, and
 * PATH.partial holds what could be written. Tables in it end with a whole row. */
bool out_dir_commit(struct out_dir *dir, char **error);

/* Closes what was written and leaves it in PATH.partial, tables up to their last whole row: the
 * next run to PATH removes it. */
void out_dir_keep(struct out_dir *dir);

/* Closes and removes what was written. */
void out_dir_abandon(struct out_dir *dir);

/* The data dictionary of the given tables: text for people, or JSON. */
void out_dictionary(const struct out_schema *const *schemas, size_t count, FILE *to, bool json);

#endif
