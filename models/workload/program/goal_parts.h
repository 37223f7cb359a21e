/* What the two forms of GOAL have in common. */
#ifndef INASIM_WORKLOAD_PROGRAM_GOAL_PARTS_H
#define INASIM_WORKLOAD_PROGRAM_GOAL_PARTS_H

#include "workload/program/program_files.h"
#include "workload/program/program_graph.h"

enum { GOAL_SENDS, GOAL_RECEIVES, GOAL_CPUS }; /* streams; cpu c has GOAL_CPUS + c */
enum { GOAL_SEND = 1, GOAL_RECEIVE, GOAL_COMPUTE };

/* goal_binary.c. Whether a file begins as the binary form does; reads it. */
bool goal_is_binary(const char *path);
struct program *program_of_goal_binary(const struct program_file_conf *conf, char **mistake);

#endif
