/* Programs that a user writes down: groups of ranks, and roles with their nodes (program.h). */
#ifndef INASIM_WORKLOAD_PROGRAM_PROGRAM_CONF_H
#define INASIM_WORKLOAD_PROGRAM_PROGRAM_CONF_H

#include "conf/conf.h"
#include "workload/program/program.h"

struct program_conf {
	struct conf_list groups, roles; /* as program_group_item and program_role_item say */
};

extern const struct conf_row program_group_item, program_role_item;

/* Makes the program, finished, and looks for deadlocks. Returns NULL, *at (as in
 * "/roles/0/nodes/3") and *mistake, which the caller frees, if something is wrong. */
struct program *program_of_conf(const struct program_conf *conf, char **at, char **mistake);

#endif
