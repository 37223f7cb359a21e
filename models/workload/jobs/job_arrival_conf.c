/* What a user may write under "arrival" of jobs. */
#include "workload/jobs/jobs_parts.h"

static const struct conf_row at_rows[] = {
	CONF_TIME("at", struct job_arrival_conf, at, CONF_REQUIRED, 0, 0,
		  "All jobs arrive at this time."),
	CONF_TIME("spread", struct job_arrival_conf, spread, "0s", 0, 1000000 * PS_PER_S,
		  "Each job arrives later by a random time, uniform from 0 to this.", "none"),
	{ 0 },
};
static const struct conf_table at_table = { "jobs_at", at_rows, sizeof(struct job_arrival_conf) };
static const struct conf_row poisson_rows[] = {
	CONF_TIME("poisson_gap", struct job_arrival_conf, mean_gap, CONF_REQUIRED, PS_PER_NS, 0,
		  "Poisson arrivals with this mean time between jobs."),
	{ 0 },
};
static const struct conf_table poisson_table = { "jobs_poisson", poisson_rows,
						 sizeof(struct job_arrival_conf) };
static const struct conf_row load_rows[] = {
	CONF_REAL("poisson_load", struct job_arrival_conf, load, CONF_REQUIRED, 0.0001, 10,
		  "Poisson arrivals; mean payload bits per second that these jobs would send by "
		  "ring, whatever their scheme, as a fraction of hosts x link rate."),
	{ 0 },
};
static const struct conf_table load_table = { "jobs_load", load_rows,
					      sizeof(struct job_arrival_conf) };
static const struct conf_row trace_rows[] = {
	CONF_STRING(
		"trace", struct job_arrival_conf, trace, CONF_REQUIRED,
		"A name from traces/jobs, or a CSV file with columns job_id, submit_s, gpus and, "
		"optionally, duration_s, model, scheme (of each job; empty: as the group)."),
	CONF_INT("limit", struct job_arrival_conf, limit, CONF_OPTIONAL, 1, 10000000,
		 "Only so many jobs, from the first on."),
	CONF_REAL("speedup", struct job_arrival_conf, speedup, "1", 0.001, 1e9,
		  "Divides the times of the trace (submission and duration).",
		  "the trace as it is"),
	CONF_INT("gpus_per_worker", struct job_arrival_conf, gpus_per_worker, "1", 1, 1024,
		 "How many GPUs of the trace a worker stands for. On machines with several GPUs a "
		 "job "
		 "of one worker has as many as the trace says.",
		 "one GPU per host, as in the papers' simulations"),
	{ 0 },
};
static const struct conf_table trace_table = { "jobs_trace", trace_rows,
					       sizeof(struct job_arrival_conf) };
static const struct conf_row arrival_forms[] = {
	CONF_OBJECT("at", struct job_group_conf, arrival, CONF_REQUIRED, &at_table, "Together."),
	CONF_OBJECT("poisson", struct job_group_conf, arrival, CONF_REQUIRED, &poisson_table,
		    "A Poisson process."),
	CONF_OBJECT("load", struct job_group_conf, arrival, CONF_REQUIRED, &load_table,
		    "A Poisson process that offers this load."),
	CONF_OBJECT("trace", struct job_group_conf, arrival, CONF_REQUIRED, &trace_table,
		    "As recorded."),
	{ 0 },
};
const struct conf_table job_arrival_table = { "job_arrival", arrival_forms,
					      sizeof(struct job_group_conf) };
