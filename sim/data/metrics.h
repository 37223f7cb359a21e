/* The metrics of jobs, iterations and flows that runs sum up, each declared once: a row here, its
 * value where its jobs or flows end, and its column. summary.json and its dictionary, the
 * terminal, intervals of `compare` and titles of figures follow from the row.
 *
 * A row begins with the member that holds the value of one job (struct job_record) or the values
 * of all flows (struct flow_class). Names end in their unit; a name without one is a plain factor.
 */
#ifndef INASIM_DATA_METRICS_H
#define INASIM_DATA_METRICS_H

#include <stdbool.h>
#include <stddef.h>

/* ROW(member, name, some, words, head, help): `some`: not every finished job has one; `words` for
 * figures, `head` for the terminal. The column of jobs.csv has the metric's name. */
#define JOB_METRICS(ROW)                                                                           \
	ROW(jct, "jct_s", false, "job completion time", "JCT mean",                                \
	    "Finish - arrival: {mean, p50, p50_low, p50_high, p50_level, p95, p99, max}. "         \
	    "Percentiles are nearest-rank, null below 10/(1-p) values; but p50 is the median "     \
	    "from 3 on, with the two values, as many from either end, between which the median "   \
	    "of what they are drawn from lies with a probability of p50_level: the least of 0.95 " \
	    "and more, or what the smallest and the largest have (0.75 for 3, 0.94 for 5).")       \
	ROW(waiting, "waiting_s", false, "time jobs wait for hosts or memory", "waiting",          \
	    "Start - arrival, as jct_s.")                                                          \
	ROW(compute, "compute_s", false, "computation time of jobs", "compute",                    \
	    "Mean over the workers of their computing time, as jct_s.")                            \
	ROW(communication, "communication_s", false, "communication time of jobs",                 \
	    "communication", "jct_s - waiting_s - compute_s, as jct_s.")                           \
	ROW(slowdown, "slowdown", true, "job slowdown", "slowdown",                                \
	    "JCT / ideal JCT of the jobs that have one (ideal_jct_s of jobs.csv), as jct_s.")      \
	ROW(busbw, "busbw_bytes_per_s", true, "bus bandwidth of jobs", "busbw",                    \
	    "Bus bandwidth as NCCL's tests define it, of jobs with several workers, as jct_s.")

/* ROW(name, column, some, words, help) */
#define ITERATION_METRICS(ROW)                                                                     \
	ROW("iteration_s", "duration_s", false, "iteration time",                                  \
	    "Durations of all finished iterations of these jobs, as jct_s.")                       \
	ROW("cycle_s", "cycle_s", true, "cycle of communication and computing",                    \
	    "cycle_s of iterations.csv, as jct_s.")

/* ROW(member, name, words, help) */
#define FLOW_METRICS(ROW)                                                                          \
	ROW(fct, "fct_s", "flow completion time",                                                  \
	    "Last byte at the receiver - start: {mean, p50, p50_low, p50_high, p50_level, p95, "   \
	    "p99, p999, max}, as jobs.jct_s.")                                                     \
	ROW(slowdown, "slowdown", "flow slowdown", "FCT / ideal FCT, as fct_s.")

enum metric_level { LEVEL_JOB, LEVEL_ITERATION, LEVEL_FLOW };

struct metric {
	enum metric_level level; /* what a value is of; decides the table */
	const char *of;          /* the member of summary.json: "jobs", "flows" */
	const char *name;        /* within it: "jct_s" */
	const char *column;      /* of the table */
	bool some;               /* a row may have none, and is then no sample */
	const char *words;       /* without unit, for axes */
};

/* All of them; ends with one without name. */
extern const struct metric metric_table[];

/* NULL if there is none of this name ("jct_s"; `length` characters) in that member ("jobs"). */
const struct metric *metric_find(const char *of, const char *name, size_t length);

#endif
