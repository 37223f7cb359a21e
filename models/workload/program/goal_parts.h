/* What the two forms of GOAL have in common. */
#ifndef INASIM_WORKLOAD_PROGRAM_GOAL_PARTS_H
#define INASIM_WORKLOAD_PROGRAM_GOAL_PARTS_H

#include "workload/program/program_files.h"
#include "workload/program/program_graph.h"

/* Streams; cpu c has GOAL_CPUS + c. */
enum { GOAL_SENDS, GOAL_RECEIVES, GOAL_CPUS, GOAL_MARKS = GOAL_CPUS + UINT8_MAX + 1 };
/* The id of the n-th node of a rank: graph_begin_with() takes those between. */
#define GOAL_ID(n) (2 * (uint64_t)(n) + 1)
enum { GOAL_SEND = 1, GOAL_RECEIVE, GOAL_COMPUTE };

/* goal_binary.c. Whether a file begins as the binary form does; reads it. */
bool goal_is_binary(const char *path);
struct program *program_of_goal_binary(const struct program_file_conf *conf, char **mistake);

#endif
