/* Background flows: who sends how much to whom, and when.
 *
 * A group of the scenario ("flows": [ ... ]) is a generator. It makes each flow when its time
 * comes. A flow runs over a connection of its own. When it is over, its row goes to flows.csv. If
 * it is measured, its FCT, slowdown and throughput are kept for exact percentiles. Then the flow is
 * forgotten.
 *
 * FCT = last byte at the receiver - start. Ideal = the same transfer alone on the same path
 * (topology.h). Slowdown = FCT / ideal, never clamped: below 1 is a bug and counts as a violation,
 * unless links may fail, as a detour may be faster.
 *
 * A flow of size FLOW_ENDLESS sends until the run ends. Nothing waits for it, it is in no class of
 * sizes, and its throughput is that up to the end of the run.
 *
 * A group that is not enabled sends nothing, but its flows are numbered, too, since paths depend on
 * the number. So the flows of other groups have the same numbers, sizes, hosts, times and paths
 * whether it is enabled or not. */
#ifndef INASIM_WORKLOAD_FLOWS_FLOWS_H
#define INASIM_WORKLOAD_FLOWS_FLOWS_H

#include "collective/collective.h"
#include "data/inference.h"
#include "data/table.h"
#include "workload/jobs/job_trace.h"
#include "workload/measured.h"

struct size_conf {
	int form;    /* enum size_form */
	int endless; /* index in the names of SIZE_ENDLESS; always 0 */
	bytes fixed;
	const char *cdf;
	struct conf_list mix; /* of struct mix_part (workload/weights.h) */
	double scale;         /* multiplies all sizes */
};
enum size_form { SIZE_FIXED, SIZE_CDF, SIZE_MIX, SIZE_ENDLESS };

struct arrival_conf {
	int form; /* enum arrival_form */
	sim_time at;
	double load; /* payload, as a fraction of hosts x link rate */
	const char *trace;
	int start_unit; /* enum start_unit (flow_files.h) */
};
enum arrival_form { ARRIVE_AT, ARRIVE_POISSON, ARRIVE_TRACE };

struct pairs_conf {
	int form;              /* enum pairs_form */
	int kind;              /* enum pairs_kind */
	struct conf_list list; /* one struct conf_list of int64_t per pair */
};
enum pairs_form { PAIRS_NAMED, PAIRS_LIST };
enum pairs_kind { PAIRS_UNIFORM, PAIRS_PERMUTATION, PAIRS_INCAST };

struct flow_group_conf {
	const char *name;
	bool enabled;
	int transport; /* index for transport_kind() */
	int64_t priority;
	struct size_conf size;
	/* The next two are set by flow_group_load() and owned by the document. `recorded` is NULL
	 * without a trace. */
	const struct sizes *sizes;
	const struct flow_trace *recorded;
	bool size_given, receiver_given;
	struct arrival_conf arrival;
	struct pairs_conf pairs;
	int64_t fan_in;   /* incast: number of senders */
	int64_t receiver; /* incast: host */
	int64_t count;    /* of flows; 0 = not given */
	int stop;         /* enum flow_stop */
};
enum flow_stop { FLOWS_RUN_OUT, FLOWS_STOP_WITH_JOBS };

/* Source and destination of pair `i` of a list (PAIRS_LIST). */
static inline const int64_t *flow_group_pair(const struct flow_group_conf *conf, size_t i)
{
	return ((const struct conf_list *)conf->pairs.list.items)[i].items;
}

extern const struct conf_table flow_group_table;

/* Reports errors that the rows cannot find. `pointer`: such as "/flows/0". `bounded`: something
 * other than the flows ends the run, so a group may start flows without end. */
void flow_group_check(const struct flow_group_conf *conf, struct conf_doc *doc, const char *pointer,
		      uint32_t hosts, bool bounded);

/* Loads the files of a group. Adds an error if a file is wrong, or if a trace names a host that is
 * not among the `hosts` of the network; `sizes` or `recorded` is then NULL. `graph`: the network's,
 * or NULL. */
void flow_group_load(struct flow_group_conf *conf, struct conf_doc *doc, const char *pointer,
		     uint32_t hosts, const struct graph *graph);

/* Measured flows of a size class: from <= size < to. */
struct flow_class {
	bytes from, to; /* UINT64_MAX = no end */
	uint64_t count, finished;
	uint64_t recorded; /* length of the lists below; equals `finished` at the end */
	/* in seconds, as a factor, in bits per second; not sorted */
	double *fct, *slowdown, *throughput;
	size_t fct_capacity, slowdown_capacity, throughput_capacity;
};

/* Measured flows of a group. */
struct flow_group_stats {
	uint64_t count, finished; /* without endless ones */
	uint64_t endless;
	struct jain throughput; /* of finished and of endless flows, bits per second */
	bytes delivered;        /* by endless flows, after flows_end() */
};

/* A group in one interval of a time series. */
struct flow_sample {
	uint64_t active;   /* flows under way at the end of the interval */
	bytes delivered;   /* by all flows in the interval */
	struct jain whole; /* bytes of each flow that was under way for the whole interval */
};

struct flows;

/* Which flows are measured, and where results go. */
struct flows_report {
	struct measured_window window;
	const struct conf_list
		*borders;        /* of bytes, ascending: where size classes end; not owned */
	struct out_table *table; /* may be NULL; not owned */
};

/* Opens generators for all groups; each starts its flows by itself. */
struct flows *flows_new(const struct model_env *env, const struct flow_group_conf *groups,
			size_t count, const struct flows_report *report);
void flows_free(struct flows *flows);

/* The jobs are done: groups that stop with the jobs make no more flows. */
void flows_jobs_done(struct flows *flows);

/* Whether all generators that are enabled have run out, and all their flows but endless ones have
 * finished or been cut off. */
bool flows_done(const struct flows *flows);

/* The fraction of all flows of the scenario that have finished; 0 if their number has no limit. */
double flows_progress(const struct flows *flows);

/* Prints a line for each enabled group with a limit that has not started all its flows, `limit`
 * lines at most. */
void flows_report_waiting(const struct flows *flows, FILE *to, size_t limit);

/* Measured flows that have not finished, those that were cut off included. */
uint64_t flows_measured_open(const struct flows *flows);

/* Retransmission timers of measured flows that expired. Complete only after flows_end(). */
uint64_t flows_timeouts(const struct flows *flows);

/* Packets that flows over RoCE sent again; `size`: bytes of these flows. Complete only after
 * flows_end(). */
uint64_t flows_sent_again(const struct flows *flows, bytes *size);

/* Call when a link or switch has failed. Ends the flows whose hosts will never reach each other
 * again. They never finish, and flows_done() does not wait for them. Flows that start later are
 * checked when they start. */
void flows_cut_off(struct flows *flows);

/* How many flows have been cut off. If any, `text` (may be NULL) says which was first, and when. */
uint64_t flows_lost(const struct flows *flows, char *text, size_t size);
uint64_t flows_measured_lost(const struct flows *flows);

uint64_t flows_started(const struct flows *flows); /* endless ones included */
uint64_t flows_endless(const struct flows *flows);
/* Flows under way: started, and neither finished nor cut off. */
uint64_t flows_active(const struct flows *flows);
uint64_t flows_finished(const struct flows *flows);
const struct flow_class *flows_classes(const struct flows *flows, size_t *count);
const struct flow_group_stats *flows_group(const struct flows *flows, size_t group);

/* Fills samples[group] for the interval from `since` (when this was last called, or 0) to now. */
void flows_sample(struct flows *flows, sim_time since, struct flow_sample *samples);

/* Whether connections of this application are flows. */
bool flows_own(const struct tcp_app *app);

/* Sets the function to call when flows have finished or been cut off, or a group has started its
 * last one; may stop the run. */
void flows_on_change(struct flows *flows, void (*changed)(void *owner), void *owner);

/* Call once, when the run is over. Writes the rows that are not yet written, and adds measured
 * flows that were received to the summary. */
void flows_end(struct flows *flows);

extern const struct out_schema flows_schema;

#endif
