/* What a user may write under "arrival" of jobs. */
#include "workload/jobs/jobs_parts.h"

static const struct conf_row at_rows[] = {
	{ .name = "at",
	  .type = CONF_TIME,
	  .offset = offsetof(struct job_arrival_conf, at),
	  .def = CONF_REQUIRED,
	  .help = "All at this time." },
	{ .name = "spread",
	  .type = CONF_TIME,
	  .offset = offsetof(struct job_arrival_conf, spread),
	  .max = 1000000 * PS_PER_S,
	  .def = "\"0s\"",
	  .help = "Each job up to this much later, uniformly.",
	  .source = "none" },
	{ 0 },
};
static const struct conf_table at_table = { "jobs_at", at_rows, sizeof(struct job_arrival_conf),
					    NULL };
static const struct conf_row poisson_rows[] = {
	{ .name = "poisson_gap",
	  .type = CONF_TIME,
	  .offset = offsetof(struct job_arrival_conf, mean_gap),
	  .min = PS_PER_NS,
	  .def = CONF_REQUIRED,
	  .help = "Poisson arrivals with this mean time between jobs." },
	{ 0 },
};
static const struct conf_table poisson_table = { "jobs_poisson", poisson_rows,
						 sizeof(struct job_arrival_conf), NULL };
static const struct conf_row load_rows[] = {
	{ .name = "poisson_load",
	  .type = CONF_REAL,
	  .offset = offsetof(struct job_arrival_conf, load),
	  .rmin = 0.0001,
	  .rmax = 10,
	  .def = CONF_REQUIRED,
	  .help = "Poisson arrivals; mean payload bits per second that these jobs would send by "
		  "ring, whatever their scheme, as a fraction of hosts x link rate." },
	{ 0 },
};
static const struct conf_table load_table = { "jobs_load", load_rows,
					      sizeof(struct job_arrival_conf), NULL };
static const struct conf_row trace_rows[] = {
	{ .name = "trace",
	  .type = CONF_STRING,
	  .offset = offsetof(struct job_arrival_conf, trace),
	  .def = CONF_REQUIRED,
	  .help = "A name from traces/jobs, or a CSV file: job_id, submit_s, gpus, "
		  "and, if they are there, duration_s, model, scheme (of a job; empty: as the "
		  "group)." },
	{ .name = "limit",
	  .type = CONF_INT,
	  .offset = offsetof(struct job_arrival_conf, limit),
	  .imin = 1,
	  .imax = 10000000,
	  .def = CONF_OPTIONAL,
	  .help = "Only the first so many jobs." },
	{ .name = "speedup",
	  .type = CONF_REAL,
	  .offset = offsetof(struct job_arrival_conf, speedup),
	  .rmin = 0.001,
	  .rmax = 1e9,
	  .def = "1",
	  .help = "Divides the times of the trace (submission and duration).",
	  .source = "the trace as it is" },
	{ .name = "gpus_per_worker",
	  .type = CONF_INT,
	  .offset = offsetof(struct job_arrival_conf, gpus_per_worker),
	  .imin = 1,
	  .imax = 1024,
	  .def = "1",
	  .help = "A worker stands for so many GPUs of the trace.",
	  .source = "one GPU per host, as in the papers' simulations" },
	{ 0 },
};
static const struct conf_table trace_table = { "jobs_trace", trace_rows,
					       sizeof(struct job_arrival_conf), NULL };
static const struct conf_row arrival_forms[] = {
	{ .name = "at",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct job_group_conf, arrival),
	  .table = &at_table,
	  .help = "Together." },
	{ .name = "poisson",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct job_group_conf, arrival),
	  .table = &poisson_table,
	  .help = "A Poisson process." },
	{ .name = "load",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct job_group_conf, arrival),
	  .table = &load_table,
	  .help = "A Poisson process that offers this load." },
	{ .name = "trace",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct job_group_conf, arrival),
	  .table = &trace_table,
	  .help = "As recorded." },
	{ 0 },
};
const struct conf_table job_arrival_table = { "job_arrival", arrival_forms,
					      sizeof(struct job_group_conf), NULL };
