/* Failures and repairs of links and switches ("failures" of the scenario). Each has three steps:
 *
 *   failure or repair   at once: packets are lost (net/outage.h); a switch loses its partial sums
 *   + reroute_delay     routing notices: connections, and packets to parameter servers, take new
 *                       paths (topo/detours.h)
 *   + controller_delay  the job controller notices: jobs repeat the work that they have lost
 *                       (workload/jobs/job_restart.c); flows and jobs that have no path, even
 *                       after all repairs to come, end unfinished
 *
 * Each step is an event (SIM_CONTROL). Such runs skip no repeated periods. */
#ifndef INASIM_RUN_FAILURES_H
#define INASIM_RUN_FAILURES_H

#include "run/simulation.h"

struct failures;

/* NULL if the scenario has no failures. `table` is failures.csv; may be NULL; not owned. */
struct failures *failures_open(struct simulation *simulation, struct out_table *table);
void failures_free(struct failures *failures);

/* After the run: cancels pending failures and repairs, and writes the rows of failures.csv. NULL is
 * allowed. */
void failures_end(struct failures *failures);

/* The number of links, switches and aggregations that are down now, each counted once for every
 * event of the scenario that keeps it down; 0 for NULL. */
size_t failures_down(const struct failures *failures);

/* Calls `told` for each failure, in the order of time. `name` is that of failures.csv, valid during
 * the call. `element` is the index, from 0, in the list of all links, switches and aggregations
 * that may fail in this scenario; what two events name is in the list twice. Without a repair,
 * `repaired` is the end of the run. Does nothing for NULL. */
void failures_each(const struct failures *failures,
		   void (*told)(void *owner, const char *name, size_t element, sim_time failed,
				sim_time repaired),
		   void *owner);

extern const struct out_schema failures_schema;

#endif
