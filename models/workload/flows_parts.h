/* Traces of flow groups: flows_conf.c loads them, flows.c uses them. */
#ifndef INASIM_WORKLOAD_FLOWS_PARTS_H
#define INASIM_WORKLOAD_FLOWS_PARTS_H

#include "workload/flows.h"
#include "workload/job_trace.h"
#include "workload/sizes.h"

/* The trace of a group that has one. False and *error (caller frees) when the
 * file is not right, or not for a network of `hosts`. */
bool flow_group_trace(const struct flow_group_conf *conf, const char *scenario, uint32_t hosts,
		      struct flow_trace *trace, char **error);

#endif
