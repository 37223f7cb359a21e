/* The metrics of a run. Each is declared once, by a row here; its value is set where it arises. All
 * else follows from the row: summary.json and its dictionary, the terminal, `compare`, sweeps,
 * titles and units of figures, and the report.
 *
 * Names end in their unit (metric_unit_of()). `words` describe the metric without its unit, for
 * axes and tables. `usual` is the statistic that is shown by default ("": none); for a number of a
 * whole run it is a bool, whether the number is shown. `since` is the version that introduced the
 * metric; `help` is for the dictionary. */
#ifndef INASIM_DATA_METRICS_H
#define INASIM_DATA_METRICS_H

#include "data/table.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- Of rows of a table, summed up as mean and percentiles ---- */

/* Metrics of finished jobs. Each is a member of struct job_record, and a column of jobs.csv of the
 * metric's name. ROW(member, name, some, usual, words, head, since, help). `some`: not every
 * finished job has a value; `head` is the column's head in the terminal. */
#define JOB_METRICS(ROW) JOB_TIME_METRICS(ROW) JOB_OTHER_METRICS(ROW)

/* How a job spends its time. In jobs.csv unfinished jobs have these values, too, so the columns
 * have their own help there (job_tables.c). */
#define JOB_TIME_METRICS(ROW)                                                                      \
	ROW(jct, "jct_s", false, "mean", "job completion time", "JCT mean", "0.1",                 \
	    "Finish - arrival: {mean, p50, p50_low, p50_high, p50_level, p95, p99, max}. "         \
	    "Percentiles are nearest-rank, and null for fewer than 10 / (1 - p) values; the "      \
	    "median p50 needs only 3. p50_low and p50_high are the k-th smallest and the k-th "    \
	    "largest value. With a probability of p50_level, the median of the distribution that " \
	    "the values come from lies between the two. k is the largest that makes p50_level at " \
	    "least 0.95; below 6 values it is 1 (p50_level 0.75 for 3 values, 0.94 for 5).")       \
	ROW(waiting, "waiting_s", false, "", "time jobs wait for hosts or memory", "waiting",      \
	    "0.1", "Start - arrival; statistics like those of jct_s.")                             \
	ROW(compute, "compute_s", false, "", "computation time of jobs", "compute", "0.1",         \
	    "Computing time, mean over the workers; statistics like those of jct_s.")              \
	ROW(communication, "communication_s", false, "", "communication time of jobs",             \
	    "communication", "0.1",                                                                \
	    "jct_s - waiting_s - compute_s; statistics like those of jct_s.")

/* All other metrics of jobs. Their columns share this help; metrics_of() in job_tables.c computes
 * the values. */
#define JOB_OTHER_METRICS(ROW)                                                                     \
	ROW(slowdown, "slowdown", true, "", "job slowdown", "slowdown", "0.1",                     \
	    "jct_s / ideal_jct_s, waiting included; only of jobs that have an ideal. It is never " \
	    "below 1: that is a violation, which ends the run.")                                   \
	ROW(algbw, "algbw_bytes_per_s", true, "", "algorithm bandwidth of jobs", "algbw", "0.2",   \
	    "Algorithm bandwidth as NCCL's tests define it, size / time: gradient_bytes * "        \
	    "iterations_done / exchange_s; none for one GPU, nor for pipelines.")                  \
	ROW(busbw, "busbw_bytes_per_s", true, "", "bus bandwidth of jobs", "busbw", "0.1",         \
	    "Bus bandwidth as NCCL's tests define it for all-reduce: algbw * 2 (n - 1) / n of n "  \
	    "workers or, where machines have several GPUs, of n GPUs. A ring of these needs this " \
	    "rate of each link; where switches add, it may exceed the rate of a link. None for "   \
	    "one GPU, nor for jobs that shard or are pipelines.")

/* Metrics of iterations of these jobs. ROW(name, column, some, usual, words, since, help) */
#define ITERATION_METRICS(ROW)                                                                     \
	ROW("iteration_s", "duration_s", false, "mean", "iteration time", "0.1",                   \
	    "Durations of all finished iterations of these jobs; statistics like those of jct_s.") \
	ROW("cycle_s", "cycle_s", true, "", "cycle of communication and computing", "0.1",         \
	    "cycle_s of iterations.csv; statistics like those of jct_s.")

/* Metrics of finished flows, each a member of struct flow_class. ROW(member, name, usual, also,
 * words, since, help). `also` is a second usual statistic. */
#define FLOW_METRICS(ROW)                                                                          \
	ROW(fct, "fct_s", "p50", "p99", "flow completion time", "0.1",                             \
	    "Last byte at the receiver - start: {mean, p50, p50_low, p50_high, p50_level, p95, "   \
	    "p99, p999, max}, defined as for jobs.jct_s.")                                         \
	ROW(slowdown, "slowdown", "p99", "", "flow slowdown", "0.1",                               \
	    "FCT / ideal FCT; statistics like those of fct_s.")

/* ---- Of a whole run: one number ---- */

/* One list for each object of summary.json, of ROW(name, type, usual, words, since, help). If
 * `words` are NULL, the name with blanks for "_" is used. Numbers of packets are missing in runs
 * without packets. */
#define RUN_METRICS(ROW)                                                                           \
	ROW(sim_time_s, OUT_SECONDS, false, "simulated time", "0.1",                               \
	    "Simulated time at the end of the run; if no events were left by then, the time of "   \
	    "the last one.")                                                                       \
	ROW(events, OUT_COUNT, false, NULL, "0.1",                                                 \
	    "Events of the simulator, without samples of time series, looks of timers not yet "    \
	    "due, and departures from NICs.")                                                      \
	ROW(packet_hops, OUT_COUNT, false, "packets sent over links", "0.1",                       \
	    "Packets (data, ACK, control) sent over links; one counts once for each link.")

/* Numbers that depend on the machine; never compared. */
#define MACHINE_METRICS(ROW)                                                                       \
	ROW(cpu_s, OUT_REAL, false, "CPU time", "0.1",                                             \
	    "CPU time of the run, without reading the scenario and writing the last results.")     \
	ROW(packet_hops_per_cpu_s, OUT_REAL, false, "packet-hops a CPU second", "0.1",             \
	    "Speed; null when no CPU time was measured.")                                          \
	ROW(peak_rss_bytes, OUT_COUNT, false, "memory", "0.1",                                     \
	    "Largest resident memory of the process.")

#define LOAD_METRICS(ROW)                                                                          \
	ROW(flows, OUT_REAL, false, "offered load of flows", "0.1",                                \
	    "Load that Poisson arrivals of flows offer: payload bits per second / (hosts * link "  \
	    "rate).")                                                                              \
	ROW(jobs_ring, OUT_REAL, false, "offered load of jobs, by ring", "0.1",                    \
	    "Load that Poisson arrivals of jobs offer, from the bytes that they would send by "    \
	    "ring, whatever their scheme.")                                                        \
	ROW(jobs_own, OUT_REAL, false, "offered load of jobs, by their schemes", "0.1",            \
	    "Like jobs_ring, but from the bytes that they send by their own schemes.")

#define NETWORK_METRICS(ROW)                                                                       \
	ROW(packets_created, OUT_COUNT, false, NULL, "0.1",                                        \
	    "Packets that hosts and switches (copies, results, PAUSE frames) created.")            \
	ROW(packets_delivered, OUT_COUNT, false, NULL, "0.1", "Packets received by hosts.")        \
	ROW(packets_absorbed, OUT_COUNT, false, "packets that ended in switches", "0.1",           \
	    "Packets that ended in a switch: added up, copied, thrown away by a scheme; PAUSE "    \
	    "frames.")                                                                             \
	ROW(packets_in_flight, OUT_COUNT, false, NULL, "0.1",                                      \
	    "Packets on the way when the run ended.")                                              \
	ROW(drops, OUT_COUNT, true, "packets dropped", "0.1", "Packets dropped at a full queue.")  \
	ROW(losses, OUT_COUNT, false, "packets lost on links", "0.1",                              \
	    "Packets lost on a link, by chance or by a failure.")                                  \
	ROW(ecn_marks, OUT_COUNT, false, "ECN marks", "0.1", "Times that a packet was marked.")    \
	ROW(pauses, OUT_COUNT, false, "times that PAUSE stopped a sender", "0.1",                  \
	    "Times that PAUSE stopped the sender of a link.")                                      \
	ROW(max_queue_bytes, OUT_COUNT, false, "longest queue", "0.1",                             \
	    "Longest backlog of any port.")

#define JOBS_METRICS(ROW)                                                                          \
	ROW(count, OUT_COUNT, false, "jobs", "0.1",                                                \
	    "Jobs of the measured window; without warm-up and window, all jobs of the scenario. "  \
	    "Jobs that arrive after the end of the run count as unfinished.")                      \
	ROW(finished, OUT_COUNT, true, "jobs finished", "0.1",                                     \
	    "Measured jobs that finished, or whose end is an estimate; means cover only these.")   \
	ROW(refused, OUT_COUNT, false, "jobs refused", "0.1",                                      \
	    "Measured jobs that their schemes refused, so that they never ran.")                   \
	ROW(substituted, OUT_COUNT, false, "jobs that ran as another scheme", "0.3",               \
	    "Jobs, measured or not, that ran as another scheme than theirs, for good or from a "   \
	    "failure on; ran_as says as which.")                                                   \
	ROW(arrived, OUT_COUNT, false, "jobs arrived", "0.1",                                      \
	    "All jobs that arrived, measured or not.")                                             \
	ROW(estimated, OUT_COUNT, false, "jobs whose end is an estimate", "0.2",                   \
	    "Jobs, measured or not, whose end is an estimate (stop.estimate). All other numbers, " \
	    "also iteration_s, cover only what was simulated.")

#define FLOWS_METRICS(ROW)                                                                         \
	ROW(count, OUT_COUNT, false, "flows", "0.1", "Flows that started in the measured window.") \
	ROW(finished, OUT_COUNT, true, "flows finished", "0.1",                                    \
	    "Measured flows that finished; means cover only these.")                               \
	ROW(started, OUT_COUNT, false, "flows started", "0.1", "All flows, measured or not.")      \
	ROW(timeouts, OUT_COUNT, false, "retransmission timeouts of flows", "0.1",                 \
	    "Expirations of retransmission timers of the measured flows, finished or not; null "   \
	    "without packets.")

/* Counters of struct collective_stats: COUNTER(member, help). Counters of switches are columns of
 * aggregators.csv. Their sums, and the counters that only hosts have, are numbers of the run. */
#define SWITCH_COUNTERS(COUNTER)                                                                   \
	COUNTER(packets_aggregated, "Contributions added in switches.")                            \
	COUNTER(results, "Sums over all workers of a job, completed in switches.")                 \
	COUNTER(duplicates, "Contributions that a switch had added before.")                       \
	COUNTER(repairs, "Sums that a switch or host had completed and kept, and sent again.")     \
	COUNTER(collisions, "Packets that met an aggregator of another owner.")                    \
	COUNTER(preemptions, "Aggregators taken from their owner.")                                \
	COUNTER(fallbacks, "Contributions sent on to a parameter server unadded.")                 \
	COUNTER(collisions_own, "Collisions with another chunk of the same job.")                  \
	COUNTER(collisions_complete,                                                               \
		"Collisions with an owner that was complete and waited for its ack.")              \
	COUNTER(collisions_waiting,                                                                \
		"Collisions with an owner of another job that waited for more of its workers.")    \
	COUNTER(preemptions_tried, "Collisions that might have preempted the owner.")              \
	COUNTER(partials, "Sums sent to a parameter server before they were full.")                \
	COUNTER(collected, "Aggregators freed because their owner had gone silent.")               \
	COUNTER(late, "Contributions thrown away because their sum had left.")                     \
	COUNTER(discarded,                                                                         \
		"Contributions thrown away because another one was lost: to the same sum, under "  \
		"SHARP one before, under NetReduce the first packet of the message, under "        \
		"SwitchML (format rdma) one before in the message.")                               \
	COUNTER(overflows, "Contributions thrown away because a switch's memory was full.")
#define HOST_COUNTERS(COUNTER)                                                                     \
	COUNTER(reminders, "Reminders of workers (to servers, switches, other workers), servers "  \
			   "and switches.")                                                        \
	COUNTER(server_packets, "Packets that came from switches to parameter servers.")           \
	COUNTER(server_bytes, "Bytes of the frames of server_packets.")                            \
	COUNTER(retransmissions,                                                                   \
		"Packets that workers (over TCP also servers, under SHARP also switches) sent "    \
		"again, in all schemes.")                                                          \
	COUNTER(timeouts,                                                                          \
		"Expirations of retransmission timers, of the same senders as retransmissions.")

#define AGGREGATION_METRICS(ROW)                                                                   \
	ROW(held_count, OUT_COUNT, false, "times an aggregator was held", "0.1",                   \
	    "Times that an aggregator was taken and freed.")                                       \
	ROW(held_mean_s, OUT_REAL, false, "time an aggregator was held, mean", "0.1",              \
	    "Mean time from taking an aggregator to freeing it; null if there was none.")          \
	ROW(held_p99_s, OUT_REAL, false, "time an aggregator was held, 99th percentile", "0.1",    \
	    "99th percentile of this time, at most 1/32 too high; null for fewer than 100 times.") \
	ROW(throughput_share, OUT_REAL, false, "aggregation throughput over link rate", "0.1",     \
	    "Mean of throughput_share in jobs.csv, of the jobs that finished; null if none has "   \
	    "one.")                                                                                \
	ROW(memory_reserved_max, OUT_REAL, false, "switch memory reserved, maximum", "0.1",        \
	    "Sum of the largest reservations of the switches that were used, divided by the sum "  \
	    "of "                                                                                  \
	    "their memories; 0 when none was used.")                                               \
	ROW(memory_utilization, OUT_REAL, false, "switch memory reserved, mean", "0.1",            \
	    "Memory reserved by jobs, averaged over the run, divided by the memory of the "        \
	    "switches that were used; 0 when none was used.")

/* ---- Of groups ---- */

/* Numbers of the jobs, or flows, of one name (jobs.by_name, flows.by_name), beside statistics of
 * the metrics above. Their level is LEVEL_GROUP; ROW as for a run. */
#define JOB_GROUP_METRICS(ROW)                                                                     \
	ROW(count, OUT_COUNT, false, "jobs", "0.2", "Measured jobs of this name.")                 \
	ROW(finished, OUT_COUNT, false, "jobs finished", "0.1", "Those measured that finished.")   \
	ROW(jain, OUT_REAL, true, "Jain's index of jobs", "0.2",                                   \
	    "Jain's index of gradient_bytes * iterations_done / (finish_s - start_s), over the "   \
	    "finished jobs; null below two jobs.")
#define FLOW_GROUP_METRICS(ROW)                                                                    \
	ROW(count, OUT_COUNT, false, "flows", "0.1", "Measured flows of this name.")               \
	ROW(finished, OUT_COUNT, false, "flows finished", "0.1", "Those measured that finished.")  \
	ROW(throughput_bps, OUT_REAL, false, "flow throughput", "0.1",                             \
	    "Mean of size / FCT over the finished flows.")                                         \
	ROW(jain, OUT_REAL, true, "Jain's index of flows", "0.1",                                  \
	    "Jain's index of size / FCT over the finished flows; null below two flows.")

/* ---- Of links ---- */

/* Columns of links.csv, ROW(name, type, words, since, help). In summary.json a statistic follows
 * their name: network.by_tier.0.utilization_mean. */
#define LINK_METRICS(ROW)                                                                          \
	ROW(packets, OUT_COUNT, "packets carried", "0.1",                                          \
	    "Packets carried. Empty in runs without packets, like drops and all columns behind "   \
	    "it.")                                                                                 \
	ROW(bytes, OUT_COUNT, "bytes carried", "0.1",                                              \
	    "Bytes of the frames of these packets; without packets, bytes of all streams on the "  \
	    "wire.")                                                                               \
	ROW(utilization, OUT_REAL, "link utilisation", "0.1",                                      \
	    "Part of the time of the run that the link was sending; what is still on its way "     \
	    "counts. It may exceed 1 in analytic runs, where streams do not share links.")         \
	ROW(drops, OUT_COUNT, "packets dropped", "0.1", "Packets dropped at a full queue.")        \
	ROW(losses, OUT_COUNT, "packets lost", "0.1",                                              \
	    "Packets lost on the link, by chance or by a failure.")                                \
	ROW(ecn_marks, OUT_COUNT, "ECN marks", "0.1", "Packets marked.")                           \
	ROW(pauses, OUT_COUNT, "times stopped by PAUSE", "0.1",                                    \
	    "Times that PAUSE stopped the sender.")                                                \
	ROW(paused_s, OUT_SECONDS, "time stopped by PAUSE", "0.1",                                 \
	    "How long PAUSE stopped the sender, all together.")                                    \
	ROW(max_queue_bytes, OUT_COUNT, "longest queue", "0.1",                                    \
	    "Longest backlog, in bytes on the wire: its time in whole nanoseconds times the "      \
	    "rate.")

/* ---- All of them ---- */

enum metric_level {
	LEVEL_JOB,
	LEVEL_ITERATION,
	LEVEL_FLOW,
	LEVEL_LINK,
	LEVEL_GROUP,
	LEVEL_RUN,
	LEVEL_MACHINE,
};
#define METRIC_TABLES (LEVEL_LINK + 1) /* levels whose values are rows of a table */

struct metric {
	enum metric_level level; /* what a value belongs to; decides the table */
	const char *of;          /* object of summary.json: "jobs"; "" for the whole */
	const char *name;        /* in this object: "jct_s" */
	const char *column;      /* of the table, or NULL */
	enum out_type type;
	bool some;            /* a row may have no value; it is then no sample */
	const char *usual[2]; /* paths shown by default, "jobs.jct_s.mean"; or NULL */
	const char *words, *since, *help;
	size_t at; /* of a run: offset of its double in struct run_values */
};

/* Paths of groups: METRIC_OF_JOBS "NAME" METRIC_MEAN_JCT is the mean JCT of the jobs of NAME. */
#define METRIC_OF_JOBS  "jobs.by_name."
#define METRIC_OF_FLOWS "flows.by_name."
#define METRIC_MEAN_JCT ".jct_s.mean"

/* The length of NAME in a path that consists of `of`, NAME and `end`; 0 for any other path. */
size_t metric_group_length(const char *path, const char *of, const char *end);

/* All metrics, in display order; ends with a NULL name. */
extern const struct metric metric_table[];

/* The numbers of a whole run; NaN if the run has no such number. */
struct run_values {
#define MEMBER(name, ...) double name;
	RUN_METRICS(MEMBER) MACHINE_METRICS(MEMBER) struct {
		LOAD_METRICS(MEMBER)
	} load;
	struct {
		JOBS_METRICS(MEMBER)
	} jobs;
	struct {
		FLOWS_METRICS(MEMBER)
	} flows;
	struct {
		NETWORK_METRICS(MEMBER)
	} network;
	struct {
		SWITCH_COUNTERS(MEMBER) HOST_COUNTERS(MEMBER) AGGREGATION_METRICS(MEMBER)
	} aggregation;
#undef MEMBER
};

/* The table whose rows have the values of a level. */
struct metric_source {
	const char *file;
	const char *group;     /* column with the name of the group in the scenario */
	const char *number[2]; /* columns that identify a row by number; the second may be NULL */
	/* Columns that must agree if rows of the same number in two runs are to match. */
	const char *identity[5];
	const char *finished; /* column with a flag; NULL if all rows have finished */
};
extern const struct metric_source metric_sources[METRIC_TABLES];

/* The metric of this name ("jct_s"; `length` characters) in the object `of` ("jobs"; for links
 * "links"); NULL if there is none. */
const struct metric *metric_find(const char *of, const char *name, size_t length);

/* A statistic of the rows of a table. `name` is the last part of a path, such as "p99"; `quantile`
 * is NaN if it is no quantile. */
struct metric_statistic {
	const char *name, *words;
	double quantile;
	bool sampled; /* is computed from the values of the rows, which have a spread */
};
/* The statistic of this name, or NULL. */
const struct metric_statistic *metric_statistic(const char *name);

/* Whether a number counts jobs or flows themselves ("jobs.finished"). Any other number is one over
 * survivors where work was refused or left unfinished. */
bool metric_counts_work(const char *path);

/* The unit that a name ends in: "s", "bytes", "bit/s", "B/s"; else "number". Sets *stem (unless
 * NULL) to the length of the name without its unit. */
const char *metric_unit_of(const char *name, size_t *stem);

/* The unit of a metric by its path: "s" of "jobs.jct_s.mean" and of "jobs.time_s". */
const char *metric_unit(const char *path);

#endif
