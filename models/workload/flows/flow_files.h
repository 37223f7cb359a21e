/* Flow traces in the files of other simulators, which stay where they are. */
#ifndef INASIM_WORKLOAD_FLOWS_FLOW_FILES_H
#define INASIM_WORKLOAD_FLOWS_FLOW_FILES_H

#include "topo/graph.h"
#include "workload/jobs/job_trace.h"

enum start_unit { START_NONE, START_PS, START_NS, START_US, START_S };
extern const char *const start_units[]; /* for ENUM rows */

/* Loads a trace: a connection matrix of csg-htsim and uet-htsim ("x.cm", whose `start` is in
 * `unit`), a list of flows of HPCC ("x.txt"), or a table (job_trace.h). With a `graph` (may be
 * NULL), node N of HPCC is its host "hN", as import topology names it, and tables may name hosts.
 * Errors as flow_trace_load().
 */
bool flow_file_load(struct flow_trace *trace, const char *path, enum start_unit unit,
		    const struct graph *graph, char **error);

#endif
