/* Background flows: who sends how much to whom, and when.
 *
 * A group of the scenario ("flows": [ ... ]) is a generator. It makes each flow when its time
 * comes. A flow runs over a connection of its own, leaves a row in flows.csv and what exact
 * percentiles need, and is forgotten.
 *
 * FCT = last byte at the receiver - start. Ideal = the same transfer alone on the same path
 * (topology.h). Slowdown = FCT / ideal, never clamped: below 1 is a bug and counts as a violation.
 *
 * A group that is not enabled sends nothing, but its flows keep their numbers, by which paths are
 * chosen. So the flows of other groups have the same numbers, sizes, hosts, times and paths with
 * and without it. */
#ifndef INASIM_WORKLOAD_FLOWS_FLOWS_H
#define INASIM_WORKLOAD_FLOWS_FLOWS_H

#include "collective/collective.h"
#include "data/inference.h"
#include "data/table.h"
#include "workload/jobs/job_trace.h"
#include "workload/measured.h"

struct size_conf {
	int form; /* enum size_form */
	bytes fixed;
	const char *cdf;
	struct conf_list mix; /* of struct mix_part (workload/weights.h) */
	double scale;         /* multiplies all sizes */
};
enum size_form { SIZE_FIXED, SIZE_CDF, SIZE_MIX };

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
	/* Set by flow_group_load(), owned by the document; `recorded` is NULL without a trace. */
	const struct sizes *sizes;
	const struct flow_trace *recorded;
	bool size_given, receiver_given;
	struct arrival_conf arrival;
	struct pairs_conf pairs;
	int64_t fan_in;   /* incast: senders */
	int64_t receiver; /* incast */
	int64_t count;    /* 0 = no limit */
	int stop;         /* enum flow_stop */
};
enum flow_stop { FLOWS_RUN_OUT, FLOWS_STOP_WITH_JOBS };

/* Source and destination of pair `i` of a list (PAIRS_LIST). */
static inline const int64_t *flow_group_pair(const struct flow_group_conf *conf, size_t i)
{
	return ((const struct conf_list *)conf->pairs.list.items)[i].items;
}

extern const struct conf_table flow_group_table;

/* Checks what the rows cannot. `pointer` = "/flows/0"; `bounded`: a time ends the run, so a group
 * may go on for ever. */
void flow_group_check(const struct flow_group_conf *conf, struct conf_doc *doc, const char *pointer,
		      uint32_t hosts, bool bounded);

/* Loads the files of a group. What is not right there, or in a trace for a network of `hosts`
 * hosts, is an error of the document; then `sizes` or `recorded` are NULL. */
void flow_group_load(struct flow_group_conf *conf, struct conf_doc *doc, const char *pointer,
		     uint32_t hosts);

/* Measured flows of a size class: from <= size < to. */
struct flow_class {
	bytes from, to; /* UINT64_MAX = no end */
	uint64_t count, finished;
	uint64_t recorded; /* finished flows that the lists below have; at the end, all */
	/* seconds, factors, bits per second; not sorted */
	double *fct, *slowdown, *throughput;
	size_t fct_capacity, slowdown_capacity, throughput_capacity;
};

/* Measured flows of a group. */
struct flow_group_stats {
	uint64_t count, finished;
	uint64_t as_load;       /* fluid: short flows that run as load, which nothing else counts */
	struct jain throughput; /* of finished flows, bits per second */
};

/* A group in one interval of a time series. */
struct flow_sample {
	uint64_t active;   /* flows under way at its end */
	bytes delivered;   /* by all flows in the interval */
	struct jain whole; /* bytes of each flow that was under way all the time */
};

struct flows;

/* Which flows count, and where results go. */
struct flows_report {
	struct measured_window window;
	const struct conf_list
		*borders;        /* of bytes, ascending: where size classes end; not owned */
	struct out_table *table; /* may be NULL; not owned */
};

/* Fluid: false and *error (caller frees) when short flows with Poisson arrivals leave too little of
 * a link to others. Reads sim, topo, tcp and load_below of `env`; its `fluid` is NULL. */
bool flows_loads_fit(const struct model_env *env, const struct flow_group_conf *groups,
		     size_t count, char **error);

/* NULL and *error (caller frees) when flows_loads_fit() is false. Generators start by themselves.
 */
struct flows *flows_new(const struct model_env *env, const struct flow_group_conf *groups,
			size_t count, const struct flows_report *report, char **error);
void flows_free(struct flows *flows);

/* The jobs are done: groups that stop with them make no more flows. */
void flows_jobs_done(struct flows *flows);

/* All generators have run out and all their flows are finished. */
bool flows_done(const struct flows *flows);

/* Until this time at least one flow that has started is not finished; with `measured`, one of the
 * measured flows. Without `measured`, SIM_TIME_MAX while flows are to start. Over TCP only. */
sim_time flows_busy_until(const struct flows *flows, bool measured);

/* Finished flows over all that the scenario asks for; 0 if their number is open. */
double flows_progress(const struct flows *flows);

/* Prints a line for each group that has not started all its flows, `limit` lines at most. */
void flows_report_waiting(const struct flows *flows, FILE *to, size_t limit);

/* Flows of the measured window that are under way. */
uint64_t flows_measured_open(const struct flows *flows);

/* Retransmission timers of measured flows that expired; whole after flows_end(). */
uint64_t flows_timeouts(const struct flows *flows);

/* Something has failed: flows whose hosts will never reach each other again end, now and when they
 * start. They never finish, and flows_done() does not wait for them. */
void flows_cut_off(struct flows *flows);

/* How many have ended so. With some, `text` (may be NULL) says which was first, and when. */
uint64_t flows_lost(const struct flows *flows, char *text, size_t size);
uint64_t flows_measured_lost(const struct flows *flows);

uint64_t flows_started(const struct flows *flows);
uint64_t flows_finished(const struct flows *flows);
const struct flow_class *flows_classes(const struct flows *flows, size_t *count);
const struct flow_group_stats *flows_group(const struct flows *flows, size_t group);

/* Fills samples[group] for the interval from `since`, the time of the call before (or 0),
 * to now. */
void flows_sample(struct flows *flows, sim_time since, struct flow_sample *samples);

/* Bytes that start with an arrival, on average over the groups whose flows arrive one after the
 * other (Poisson, traces); INFINITY when there is none. Each arrival stops all partitions. */
double flows_bytes_per_arrival(const struct flows *flows);

/* The network has been cut into `parts` partitions (net/cut.h). From then on flows_gather() counts
 * what happened to flows in a window; before it the functions here do not see that. */
void flows_cut(struct flows *flows, unsigned parts);
void flows_gather(struct flows *flows);

/* Whether connections of this application are flows. */
bool flows_own(const struct tcp_app *app);

/* Called by the owner when something finished; may stop the run. */
void flows_on_change(struct flows *flows, void (*changed)(void *owner), void *owner);

/* The run is over: all other flows get their rows, and those received enter the summary. Once. */
void flows_end(struct flows *flows);

extern const struct out_schema flows_schema;

#endif
