/* Shared by the files that write results: results.c (tables), results_summary.c
 * (summary.json) and results_terminal.c. */
#ifndef INASIM_RUN_RESULTS_PARTS_H
#define INASIM_RUN_RESULTS_PARTS_H

#include "data/json.h"
#include "run/results.h"
#include "run/simulation_state.h"
#include "data/inference.h"

extern const struct out_schema summary_schema;

/* Counters of struct collective_stats: ROW(member, help). Of each switch they are columns of
 * aggregators.csv; their sums, and what only hosts count, are members of summary.json. */
#define SWITCH_COUNTERS(ROW)                                                                       \
	ROW(packets_aggregated, "Contributions added in switches.")                                \
	ROW(results, "Sums of whole jobs completed in switches.")                                  \
	ROW(duplicates, "Contributions that a switch had added before.")                           \
	ROW(repairs, "Sums, complete for who keeps them, sent again.")                             \
	ROW(collisions, "Packets that met an aggregator of another owner.")                        \
	ROW(preemptions, "Aggregators taken from their owner.")                                    \
	ROW(fallbacks, "Contributions sent on to a parameter server unadded.")                     \
	ROW(collisions_own, "Collisions with another chunk of the same job.")                      \
	ROW(collisions_complete,                                                                   \
	    "Collisions with an owner that was complete and waited for its ack.")                  \
	ROW(collisions_waiting,                                                                    \
	    "Collisions with an owner of another job that waited for more of its workers.")        \
	ROW(preemptions_tried, "Collisions that might have preempted the owner.")                  \
	ROW(partials, "Sums sent to a parameter server before they were full.")                    \
	ROW(collected, "Aggregators freed because their owner had gone silent.")                   \
	ROW(late, "Contributions that came when the sum had left without them.")                   \
	ROW(discarded, "Contributions to sums of which another was lost; under NetReduce, to "     \
		       "messages whose first packet was.")                                         \
	ROW(overflows, "Contributions dropped because a switch's memory was full.")
#define HOST_COUNTERS(ROW)                                                                         \
	ROW(reminders, "Reminders of workers to servers and of servers to switches.")              \
	ROW(server_packets, "Packets that came from switches to parameter servers.")               \
	ROW(server_bytes, "Bytes of their frames.")                                                \
	ROW(retransmissions,                                                                       \
	    "Packets that workers (and servers over TCP) sent again, of all schemes.")             \
	ROW(timeouts, "Retransmission timers of the same that expired.")

/* A row of JOB_METRICS and where struct job_record has it; they end with one without name. */
struct job_metric {
	const char *name, *head;
	size_t at;
};
extern const struct job_metric results_job_metrics[];

/* The values that the finished jobs have of a metric: those of a group, or of all groups of one
 * name, or (both NULL) of all; the caller frees. */
double *results_job_values(const struct simulation *s, const struct job_group_conf *group,
			   const char *name, const struct job_metric *metric, size_t *count);

/* Lists of lines that end with NULL: jobs that did not run as the scenario says, and warnings that
 * only a run can give. results_lines_free() frees them. */
char **results_otherwise(const struct simulation *s);
char **results_warnings(const struct simulation *s);
void results_lines_free(char **lines);

/* Fairness (fairness.c): write members of the open objects "flows" and "network". */
void fairness_flows(struct json *json, const struct simulation *s);
void fairness_links(struct json *json, const struct simulation *s);

/* Utilization of the links of a tier in one direction; sets *max to that of the busiest. */
struct jain fairness_tier(const struct simulation *s, unsigned tier, bool up, double *max);

/* A sorted copy. The caller frees. */
double *results_sorted(const double *values, size_t count);

/* Sums over all memories of switches. */
struct memory_sum {
	struct collective_stats stats;
	struct holding_times held; /* of aggregators */
	/* Shares of the memories that were used: the most reserved at one time, and the average
	 * over the run; 0 if none was used. */
	double reserved_max, utilization;
};
struct memory_sum results_memory(const struct simulation *s);

/* The longest backlog of a port, bytes on the wire. */
uint64_t results_max_queue(const struct simulation *s, uint32_t port);

#endif
