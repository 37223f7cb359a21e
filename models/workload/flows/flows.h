/* Background flows: who sends how much to whom, and when.
 *
 * A group of the scenario ("flows": [ ... ]) is a generator. Flows are made one
 * at a time as their time comes, run over a TCP connection of their own, leave
 * one row in flows.csv and two numbers for exact percentiles, and are forgotten.
 *
 * FCT = last byte at the receiver - start. Ideal = the same transfer alone on
 * the same path (topology.h). Slowdown = FCT / ideal, never clamped: below 1 is a
 * bug and counted as a violation.
 *
 * A group that is not enabled sends nothing. It still takes the numbers of its
 * flows, by which paths are chosen, so the flows of other groups have the same
 * number, sizes, hosts, times and paths with and without it. */
#ifndef INASIM_WORKLOAD_FLOWS_FLOWS_H
#define INASIM_WORKLOAD_FLOWS_FLOWS_H

#include "collective/collective.h"
#include "stats/inference.h"
#include "io/table.h"
#include "workload/jobs/job_trace.h"
#include "workload/measured.h"

struct size_conf {
	int form; /* enum size_form */
	bytes fixed;
	const char *cdf;
	struct conf_list mix; /* of struct size_part */
	double scale;         /* of all that is drawn */
};
enum size_form { SIZE_FIXED, SIZE_CDF, SIZE_MIX };

struct size_part {
	const char *cdf;
	double weight;
};

struct arrival_conf {
	int form; /* enum arrival_form */
	sim_time at;
	double load;
	const char *trace;
};
enum arrival_form { ARRIVE_AT, ARRIVE_POISSON, ARRIVE_TRACE };

struct pairs_conf {
	int form;              /* enum pairs_form */
	int kind;              /* enum pairs_kind */
	struct conf_list list; /* of struct conf_list of int64_t */
};
enum pairs_form { PAIRS_NAMED, PAIRS_LIST };
enum pairs_kind { PAIRS_UNIFORM, PAIRS_PERMUTATION, PAIRS_INCAST };

struct flow_group_conf {
	const char *name;
	bool enabled;
	int transport;
	struct size_conf size;
	bool size_given, receiver_given;
	struct arrival_conf arrival;
	struct pairs_conf pairs;
	int64_t fan_in;   /* incast: senders */
	int64_t receiver; /* incast */
	int64_t count;    /* 0 = no limit */
	int stop;         /* enum flow_stop */
};
enum flow_stop { FLOWS_RUN_OUT, FLOWS_STOP_WITH_JOBS };

extern const struct conf_table flow_group_table;

/* What the rows cannot check. `pointer` = "/flows/0"; `bounded`: something else
 * ends the run (a time), so that a group may go on for ever. */
void flow_group_check(const struct flow_group_conf *conf, struct conf_doc *doc, const char *pointer,
		      uint32_t hosts, bool bounded);

/* A size class of reports: measured flows of from <= size < to. */
struct flow_class {
	bytes from, to; /* UINT64_MAX = no end */
	uint64_t count, finished;
	uint64_t recorded; /* of the finished; all of them at the end */
	/* of the recorded: seconds, factors, bits per second; not sorted */
	double *fct, *slowdown, *throughput;
	size_t fct_capacity, slowdown_capacity, throughput_capacity;
};

/* Measured flows of a group. */
struct flow_group_stats {
	uint64_t count, finished;
	uint64_t as_load;       /* fluid: short ones, which are in no other count */
	struct jain throughput; /* of the finished: bits per second */
};

/* A group in one interval of a time series. */
struct flow_sample {
	uint64_t active;   /* flows under way at its end */
	bytes delivered;   /* in it, of all flows */
	struct jain whole; /* bytes delivered to each flow that was under way all the time */
};

struct flows;

/* What is counted, and how. */
struct flows_report {
	struct measured_window window;
	const struct conf_list
		*borders;        /* of bytes, ascending: where size classes end; not owned */
	struct out_table *table; /* may be NULL; not owned */
};

/* Fluid: do short flows of Poisson arrivals leave something of every link? False and *error (caller
 * frees) when they do not. Of `env` the network, the transport and the limit are looked at. */
bool flows_loads_fit(const struct model_env *env, const struct flow_group_conf *groups,
		     size_t count, const char *scenario, char **error);

/* NULL and *error (caller frees) when a file is not right. Generators start by themselves. */
struct flows *flows_new(const struct model_env *env, const struct flow_group_conf *groups,
			size_t count, const char *scenario, const struct flows_report *report,
			char **error);
void flows_free(struct flows *flows);

/* The jobs are done: groups that stop with them make no more flows. */
void flows_jobs_done(struct flows *flows);

/* All generators have run out and all their flows are finished. */
bool flows_done(const struct flows *flows);

/* A time before which some flow (of the measured ones) is surely not finished; SIM_TIME_MAX as long
 * as some are to come. Over TCP only. */
sim_time flows_busy_until(const struct flows *flows, bool measured);

/* Fraction of the flows asked for that is finished (0 if their number is open). */
double flows_progress(const struct flows *flows);

/* Groups that have not made all the flows that were asked for, a line each. */
void flows_report_waiting(const struct flows *flows, FILE *to, size_t limit);

/* Flows of the measured window that are under way. */
uint64_t flows_measured_open(const struct flows *flows);

uint64_t flows_started(const struct flows *flows);
uint64_t flows_finished(const struct flows *flows);
const struct flow_class *flows_classes(const struct flows *flows, size_t *count);
const struct flow_group_stats *flows_group(const struct flows *flows, size_t group);

/* Fills samples[group] for the interval from `since`, the time of the call before (or 0),
 * to now. */
void flows_sample(struct flows *flows, sim_time since, struct flow_sample *samples);

/* The network has been cut into so many partitions (net/cut.h). From then on what happens to flows
 * in windows is counted, and seen by all the functions here, when it is gathered. */
void flows_cut(struct flows *flows, unsigned parts);
void flows_gather(struct flows *flows);

/* Whether connections of this application are flows. */
bool flows_own(const struct tcp_app *app);

/* Called by the owner when something finished; may stop the run. */
void flows_on_change(struct flows *flows, void (*changed)(void *owner), void *owner);

/* The run is over: all flows get their rows, and those that are received enter the summary. Once.
 */
void flows_end(struct flows *flows);

extern const struct out_schema flows_schema;

/* The trace of a group that has one. False and *error (caller frees) when the
 * file is not right, or not for a network of `hosts`. */
bool flow_group_trace(const struct flow_group_conf *conf, const char *scenario, uint32_t hosts,
		      struct flow_trace *trace, char **error);

#endif
