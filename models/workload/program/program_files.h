/* Programs in the files of other tools, which stay where they are. */
#ifndef INASIM_WORKLOAD_PROGRAM_PROGRAM_FILES_H
#define INASIM_WORKLOAD_PROGRAM_PROGRAM_FILES_H

#include "conf/conf.h"
#include "workload/program/program.h"

enum program_file_needs { NEEDS_ALL, NEEDS_DATA };

/* Such a file, as a scenario names it: with all zero but its path, or in an object. */
struct program_file_conf {
	const char *path;
	int dependencies;   /* enum program_file_needs */
	const char *groups; /* path of a file; NULL = none */
	int64_t ranks;      /* 0 = as the file says */
	int64_t dimension;  /* 0 = not given */
	bool given;
};
extern const struct conf_table program_file_table;

/* Whether a model of this name is such a file, by its ending: ".et", ".goal", ".bin", ".txt". */
bool program_file_is(const char *name);

/* Reads it. Returns NULL and *mistake (caller frees), with the file and the node or line, if it is
 * wrong or cannot be executed. */
struct program *program_of_file(const struct program_file_conf *conf, char **mistake);

/* Chakra execution traces (chakra.c), GOAL (goal.c), text workloads (text.c). */
struct program *program_of_chakra(const struct program_file_conf *conf, char **mistake);
struct program *program_of_goal(const struct program_file_conf *conf, char **mistake);
struct program *program_of_text(const struct program_file_conf *conf, char **mistake);

#endif
