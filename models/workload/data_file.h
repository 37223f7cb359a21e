/* Where input files are: beside the scenario that names them, or in traces/.
 *
 * The traces folder is $INASIM_TRACES, else the program's own (base/home.h). It has one folder for
 * each kind of file. */
#ifndef INASIM_WORKLOAD_DATA_FILE_H
#define INASIM_WORKLOAD_DATA_FILE_H

#include "base/types.h"
#include "conf/conf.h"
#include "data/csv_read.h"

enum data_kind {
	DATA_CDF,    /* traces/cdf: flow sizes */
	DATA_MODELS, /* traces/models: neural networks */
	DATA_JOBS,   /* traces/jobs: arrivals of jobs */
	DATA_KINDS,
	DATA_ANY = DATA_KINDS, /* all these folders; for flow traces, which have no folder */
};

/* Path of the file `name` in the traces folder; for "", of the folder itself. Caller frees. */
char *data_path(const char *name);

/* Path (caller frees) of the file that a scenario calls `name`, with or without ".csv". Looks in
 * the folder of `scenario` (the path of its file; NULL = the working folder), in the traces folder,
 * then in the folder of the kind; a name that begins with "/" is a path. Returns NULL and *error
 * (caller frees) if there is no such file; the message says where it looked, what was perhaps
 * meant, and what exists. */
char *data_file_find(enum data_kind kind, const char *name, const char *scenario, char **error);

/* Path (caller frees) of a file beside the scenario, whether or not it exists. A name that begins
 * with "/" is the path itself. */
char *data_file_beside(const char *name, const char *scenario);

/* Names of the files of a kind, sorted, without ".csv". With DATA_ANY they begin with their folder:
 * "cdf/websearch". NULL behind the last; no names if there is no such folder. */
char **data_file_list(enum data_kind kind);
void data_file_list_free(char **names);

/* The end of an error message about an unknown `name`: which of `names` (NULL behind the last) was
 * perhaps meant, and the list of `names`. One of "; did you mean \"a\"? There are: a, b", "; there
 * are: a, b" and "; there are none". Caller frees. */
char *data_suggestion(const char *name, char *const *names);

/* The first mistake of a JSON file, as one line with its place. Caller frees. */
char *data_file_mistake(const struct conf_doc *file);

/* Reads a time from a cell: a decimal number in units of `unit_ps`, a power of ten (such as
 * PS_PER_S). Complains and returns 0 if it is not a whole number of picoseconds, or is longer than
 * 213 days. */
sim_time data_time(struct csv *csv, int column, uint64_t unit_ps);

#endif
