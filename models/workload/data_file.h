/* Where input files are: beside the scenario that names them, or in traces/.
 *
 * The traces folder is $INASIM_TRACES, else the program's own (base/home.h); below it, one folder
 * for each kind. */
#ifndef INASIM_WORKLOAD_DATA_FILE_H
#define INASIM_WORKLOAD_DATA_FILE_H

#include "base/types.h"
#include "io/csv_read.h"

enum data_kind {
	DATA_CDF,    /* traces/cdf: flow sizes */
	DATA_MODELS, /* traces/models: neural networks */
	DATA_JOBS,   /* traces/jobs: arrivals of jobs */
	DATA_KINDS,
	DATA_ANY = DATA_KINDS, /* all of them (flow traces have no folder of their own) */
};

/* A file in the traces folder, or with "" the folder itself. Caller frees. */
char *data_path(const char *name);

/* Path (caller frees) of the file that a scenario calls `name`, with or without
 * ".csv": relative to the folder of `scenario` (the path of the scenario's file;
 * NULL = the working folder), then to the traces folder, then to the folder of
 * the kind. NULL and *error (caller frees) when there is none: where it was
 * looked for, what was perhaps meant, what exists. */
char *data_file_find(enum data_kind kind, const char *name, const char *scenario, char **error);

/* Path (caller frees) of a file that stands beside the scenario, whether or not it exists. */
char *data_file_beside(const char *name, const char *scenario);

/* Names in the folder of a kind, without ".csv", sorted, NULL behind the last;
 * with DATA_ANY "cdf/websearch" and so on. Empty when there is no such folder. */
char **data_file_list(enum data_kind kind);
void data_file_list_free(char **names);

/* The name among `names` (NULL behind the last) that `name` may stand for and
 * the list of them, for messages: "; did you mean \"a\"? There are: a, b" or
 * "; there are: a, b". Caller frees. */
char *data_suggestion(const char *name, char *const *names);

/* A cell with a time as decimal number of units (PS_PER_S ...), converted exactly:
 * what is not a whole number of picoseconds is refused. */
sim_time data_time(struct csv *csv, int column, uint64_t unit_ps);

#endif
