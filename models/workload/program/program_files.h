/* Programs in the files of other tools, which stay where they are. */
#ifndef INASIM_WORKLOAD_PROGRAM_PROGRAM_FILES_H
#define INASIM_WORKLOAD_PROGRAM_PROGRAM_FILES_H

#include "workload/program/program.h"

/* Whether a model of this name is such a file, by its ending: ".et" or ".goal". */
bool program_file_is(const char *name);

/* Reads it. Returns NULL and *mistake (caller frees), with the file and the node or line, if it is
 * wrong or cannot be executed. */
struct program *program_of_file(const char *path, char **mistake);

/* Chakra execution traces (chakra.c) and GOAL (goal.c). */
struct program *program_of_chakra(const char *path, char **mistake);
struct program *program_of_goal(const char *path, char **mistake);

#endif
