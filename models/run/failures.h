/* Links and switches that fail and are repaired in a run, as "failures" of the scenario says:
 *
 *   failure or repair   at once: packets are lost (net/outage.h); a switch forgets its sums
 *   + reroute_delay     routing knows: connections, and what goes to parameter servers, take new
 *                       paths (topo/detours.h)
 *   + controller_delay  the job controller knows: jobs begin anew what they have lost
 *                       (workload/jobs/job_restart.c); flows and jobs that have no path now, nor
 *                       will have one after all repairs to come, end unfinished
 *
 * Each of these three steps is an event of its own (SIM_CONTROL); a run without "failures" has no
 * such event. Runs with "failures" have one thread, and nothing in them is skipped. */
#ifndef INASIM_RUN_FAILURES_H
#define INASIM_RUN_FAILURES_H

#include "run/simulation.h"

struct failures;

/* NULL where the scenario has no failures. `table` is failures.csv; may be NULL; not owned. */
struct failures *failures_open(struct simulation *simulation, struct out_table *table);
void failures_free(struct failures *failures);

/* After the run: cancels what is still to come and writes the rows of failures.csv. */
void failures_end(struct failures *failures);

/* How many of the links, switches and aggregations that may fail are down now; 0 for NULL. */
size_t failures_down(const struct failures *failures);

/* Calls `told` for each failure, in the order of time, with the name of what failed (as in
 * failures.csv, valid in the call), the index of that link, switch or aggregation among all that
 * the scenario's "failures.events" name (from 0, in their order), and the times of failure and
 * repair (without a repair: the end of the run). Does nothing for NULL. */
void failures_each(const struct failures *failures,
		   void (*told)(void *owner, const char *name, size_t element, sim_time failed,
				sim_time repaired),
		   void *owner);

extern const struct out_schema failures_schema;

#endif
