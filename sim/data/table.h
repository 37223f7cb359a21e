/* Result tables: what a run leaves behind.
 *
 * A table is declared once, as a list of columns, from which header line, cells and data dictionary
 * come. Rows are streamed to the file as they are known, so that a million flows need no memory,
 * and a killed run leaves its rows in a directory that is visibly unfinished.
 *
 * The CSV is that of data/csv_write.h: a missing value (the finish of an unfinished flow) is an
 * empty cell. */
#ifndef INASIM_DATA_TABLE_H
#define INASIM_DATA_TABLE_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum out_type {
	OUT_COUNT,   /* uint64_t */
	OUT_REAL,    /* double, as number_real() prints it; NaN is an empty cell */
	OUT_SECONDS, /* sim_time, printed as exact decimal seconds: 0.000001234567. For what never
		      * happens use `none`; SIM_TIME_MAX is a bug of the caller. */
	OUT_TEXT,    /* const char * */
	OUT_FLAG,    /* bool, printed 0 or 1 */
};

struct out_column {
	const char *name; /* snake_case, unit as suffix */
	enum out_type type;
	const char *help;  /* one sentence for the data dictionary */
	const char *since; /* version that introduced it; NULL: 0.1, the first */
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

/* Opens a result directory for writing. All is written into a sibling "PATH.partial", which
 * out_dir_commit() renames to PATH, so a killed run never looks finished. Parents are created. An
 * existing PATH is replaced only if it is a result directory (has manifest.json, or .writing of a
 * killed run) or empty; otherwise opening fails. What a killed run left in PATH.partial is removed.
 * Opening fails if another process writes there; within this process the caller must prevent it.
 * Returns NULL with *error (caller frees) on failure. */
struct out_dir *out_dir_open(const char *path, char **error);

/* A directory that is memory, for programs that use the library: it takes tables but no other
 * files. The caller releases it with out_dir_abandon(). Does not fail. */
struct out_dir *out_dir_in_memory(void);

/* The cells of a table in memory, row by row; sets *schema. `index` and the number of rows are
 * those of out_dir_file(). Valid until the next row. */
const struct out_cell *out_dir_cells(const struct out_dir *dir, size_t index,
				     const struct out_schema **schema);

/* Opens a table in the directory, creates sub-folders, and writes the header line. NULL and *error
 * (caller frees) on failure. The directory owns the table; the schema must outlive both. */
struct out_table *out_table_open(struct out_dir *dir, const struct out_schema *schema,
				 char **error);

/* Appends a row. `cells` has all cells in the order of the columns. A failed write is reported by
 * out_dir_commit(). */
void out_table_row(struct out_table *table, const struct out_cell *cells);

/* Writes a whole file (summary.json, manifest.json), replacing an earlier one of this name. False
 * and *error (caller frees) on failure. */
bool out_dir_write(struct out_dir *dir, const char *file, const char *text, char **error);

bool out_dir_write_bytes(struct out_dir *dir, const char *file, const void *data, size_t length,
			 char **error);

/* Number of files so far; name and data rows of each (0 rows for texts). */
size_t out_dir_files(const struct out_dir *dir);
const char *out_dir_file(const struct out_dir *dir, size_t index, uint64_t *rows);

/* The folder that is written to until the commit or the end: PATH.partial. */
const char *out_dir_working_path(const struct out_dir *dir);

/* Ends all tables, checks for write errors (a full disk shows here at the latest) and that nobody
 * has taken away the folder or a file in it, syncs to the disk, and renames. Frees the directory in
 * any case. False and *error (caller frees) on failure. A failure before the rename leaves PATH as
 * it was, and PATH.partial with what was written, each table up to a whole row; *error then says
 * so. After the rename, PATH has the new results, and *error says what else failed. */
bool out_dir_commit(struct out_dir *dir, char **error);

/* Closes what was written and leaves it in PATH.partial, each table up to its last whole row. The
 * next run to PATH removes it. Unless `error` is NULL, adds to *error where the remains are. */
void out_dir_keep(struct out_dir *dir, char **error);

/* Closes and removes what was written. */
void out_dir_abandon(struct out_dir *dir);

/* Prints the data dictionary of the given tables, as text or JSON. */
void out_dictionary(const struct out_schema *const *schemas, size_t count, FILE *to, bool json);

#endif
