/* Training jobs: what they compute, when they talk, where they run.
 *
 * A job is a number of workers on hosts of their own, a neural network, and an
 * all-reduce scheme. Its workers are the ranks of a program (workload/program/program.h), which is
 * made from the network: every iteration of every worker is
 *
 *     forward layer 0 .. L-1, backward layer L-1 .. 0,
 *
 * each backward layer hands its gradient over to the scheme, and the forward pass
 * of layer l in the next iteration needs that layer's sum. With `overlap: none`
 * the network counts as one layer: compute, then communicate. There is no other
 * barrier. An iteration has finished when all workers hold all its sums. A job has
 * finished when its last iteration has.
 *
 * Workers may exchange more than gradients (program_layers.c, by collective/steps.h):
 *
 *   sharding optimizer  Each worker has the optimizer's state of a part of the parameters (ZeRO
 *                       stages 1 and 2). Each tensor is reduce-scattered, then all-gathered.
 *   sharding full       Parameters are divided, too (ZeRO-3, FSDP). Each layer is all-gathered
 *                       before its forward and before its backward pass, and its gradient is
 *                       reduce-scattered afterwards.
 *   all_to_all          A layer's experts are spread over all workers. Tokens go to them before
 *                       the layer computes (dispatch) and come back after it (combine), forward
 *                       and backward. Its gradient goes out when these exchanges are over.
 *   pipeline            Stage s has the s-th part of the layers, and N / stages of N workers. All
 *                       micro-batches pass forward, then backward (GPipe; 1F1B has the same bubble
 *                       and less memory). The replicas of a stage add up their gradients after
 *                       the last micro-batch.
 *
 * With `max_steps`, a job of more iterations is simulated in that many steps. Each step stands for
 * iterations / max_steps iterations: its computing times and gradients are those of one iteration
 * times this factor, so that the whole job computes and exchanges as much as without steps. But a
 * step has one exchange where the job has many. So jobs that share links take longer turns. Costs
 * that do not depend on bytes (latency, growth of windows) count once per step.
 *
 * A scheme may need parameter servers, on hosts of their own, shared with other
 * jobs, or beside workers. Jobs that find no hosts, or no switch memory, wait in
 * one queue, first come first served; a scheme may refuse a job instead, which
 * then never runs. JCT = finish - arrival = waiting + compute + communication,
 * where compute is the mean of the workers' computing times and communication is the rest of the
 * job's running time.
 *
 * What a job is (model, workers, arrival) is drawn from random streams of its group and does
 * not depend on its scheme: schemes are compared on the same jobs. Jobs of a group that is not
 * enabled do not run, but they are numbered, too, since hosts, jitter and paths are drawn by these
 * numbers. So other groups draw the same whether the group is enabled or not. */
#ifndef INASIM_WORKLOAD_JOBS_JOBS_H
#define INASIM_WORKLOAD_JOBS_JOBS_H

#include "collective/schemes.h"
#include "data/metrics.h"
#include "data/table.h"
#include "workload/jobs/job_trace.h"
#include "workload/measured.h"
#include "workload/program/program_conf.h"
#include "workload/program/program_files.h"
#include "workload/program/program_llm.h"
#include "workload/program/tokens.h"

struct layer_conf {
	const char *name;
	bytes gradient, all_to_all;
	sim_time forward, backward;
};

struct model_conf {
	int form; /* enum model_form */
	const char *name;
	struct conf_list layers;     /* of struct layer_conf */
	struct conf_list send_order; /* of int64_t: numbers of layers; empty = last layer first */
	struct program_conf program; /* instead of layers */
	struct llm_conf llm;         /* instead of both */
	struct program_file_conf file;
	struct conf_list mix; /* of struct mix_part (workload/weights.h) */
};
enum model_form { MODEL_NAMED, MODEL_IN_PLACE, MODEL_MIX };

struct workers_conf {
	int form; /* enum workers_form */
	int64_t number;
	int64_t min, max;
	struct conf_list hosts; /* of int64_t */
	bool given;
};
enum workers_form { WORKERS_NUMBER, WORKERS_RANGE, WORKERS_HOSTS };

/* Fewest and most workers of a job; both 0 if only a trace says it. */
struct workers_span {
	int64_t min, max;
} workers_span(const struct workers_conf *workers);

/* Parameter servers of a job. */
struct servers_conf {
	int form;               /* enum servers_form */
	int64_t number;         /* 0 = as many as the scheme wants */
	struct conf_list hosts; /* of int64_t */
	int placement;          /* enum servers_placement */
	bool given;
};
enum servers_form { SERVERS_NUMBER, SERVERS_HOSTS, SERVERS_PLACED };
enum servers_placement {
	SERVERS_OWN,     /* each takes a slot on a host without workers of the job */
	SERVERS_SHARED,  /* out of the pool that "cluster" keeps; jobs take turns */
	SERVERS_WORKERS, /* server q on the host of worker q */
};

struct job_arrival_conf {
	int form; /* enum job_arrival_form */
	sim_time at, spread;
	sim_time mean_gap;
	double load; /* JOBS_LOAD: of a ring, as a fraction of hosts x link rate */
	/* JOBS_TRACE */
	const char *trace;
	int64_t limit; /* of jobs; 0 = all */
	double speedup;
	int64_t gpus_per_worker;
	/* Set by job_groups_part(). If `part`, the group has only those jobs of the trace that name
	 * this model and scheme; NULL and -1 stand for jobs that name none. */
	bool part;
	const char *part_model;
	int part_scheme;
	/* Set by job_groups_part() and owned by the document: the trace, or the group's part of it.
	 * If the file is wrong, `jobs` is NULL and `mistake` says why. */
	const struct job_trace *jobs;
	const char *mistake;
};
enum job_arrival_form { JOBS_AT, JOBS_POISSON, JOBS_LOAD, JOBS_TRACE };

/* Stages of a pipeline; one stage = there is no pipeline. */
struct pipeline_conf {
	int64_t stages, microbatches;
	int schedule;      /* enum pipeline_kind */
	int64_t chunks;    /* of each stage */
	bytes activations; /* of a micro-batch, from worker to worker */
};

/* The scheme of a group of a program. */
struct group_scheme_conf {
	const char *group;
	int scheme; /* enum scheme_index */
};

/* Which state of the training is divided among the workers (ZeRO). */
enum sharding { SHARDING_NONE, SHARDING_OPTIMIZER, SHARDING_FULL };

/* What a job does if failures leave no tree. */
enum job_fallback { FALLBACK_NONE, FALLBACK_RING, FALLBACK_PS };

struct job_group_conf {
	size_t origin; /* its number in the scenario, set by job_groups_part() */
	const char *name;
	bool enabled;
	int64_t count; /* 0 = not given */
	struct model_conf model;
	struct job_models *models; /* set by job_groups_part(), owned by the document */
	const char *gpu;
	struct workers_conf workers;
	struct servers_conf servers;
	int iterations_form; /* enum iterations_form */
	int64_t iterations;
	bool iterations_given;
	int iterations_rule; /* the only rule is "duration" */
	int64_t max_steps;   /* 0 = every iteration is simulated */
	int all_reduce;      /* enum scheme_index */
	int fallback;        /* enum job_fallback */
	sim_time restart_delay;
	bool restart_delay_given;
	int reduce_scatter, all_gather; /* enum scheme_index, if given; see job_group_reduces() */
	struct conf_list collectives;   /* of struct group_scheme_conf, for programs */
	bool reduce_scatter_given, all_gather_given;
	int placement;      /* enum placement (cluster.h) */
	int inside;         /* enum inside: what GPUs of a machine do */
	bytes inside_chunk; /* 0: stages inside machines do not overlap */
	int sharding;       /* enum sharding */
	int64_t prefetch;   /* SHARDING_FULL: layers that are all-gathered ahead */
	struct pipeline_conf pipeline;
	int all_to_all; /* enum all_to_all (collective/all_to_all.h) */
	struct tokens_conf tokens;
	/* Set by job_groups_part() */
	bool experts;                  /* a network of the group has experts */
	bool exchanges;                /* workers exchange more than gradients */
	uint32_t machine_gpus;         /* of the scenario's machines */
	const struct program *program; /* of its model; NULL: layers */
	struct job_arrival_conf arrival;
	int overlap;           /* enum overlap */
	bytes fusion;          /* 0 = not given */
	sim_time fusion_cycle; /* 0 = not given */
	int64_t priority;      /* class of its packets */
	double gradient_scale, compute_scale;
	double compute_jitter; /* fraction of the computing time */
	sim_time start_jitter, send_jitter;
	sim_time launch;     /* machine.h */
	bps conversion;      /* 0 = takes no time */
	int send_jitter_per; /* enum jitter_per */
	struct {
		int64_t workers;
		double slowdown;
	} stragglers;
};
#define ITERATIONS_MAX 1000000000 /* of a job */
enum iterations_form { ITERATIONS_NUMBER, ITERATIONS_RULE };
enum overlap { OVERLAP_NONE, OVERLAP_LAYERS };
enum jitter_per { JITTER_PER_ITERATION, JITTER_PER_TENSOR };

#define FUSION_BUFFER (UINT64_C(64) << 20) /* for fusion_cycle, if `fusion` is not given */

#define JOBS_MAX 1000000 /* of a group */

/* The scheme that adds gradients up. */
static inline unsigned job_group_reduces(const struct job_group_conf *conf)
{
	return (unsigned)(conf->reduce_scatter_given ? conf->reduce_scatter : conf->all_reduce);
}

/* The scheme that all-gathers parameters. */
static inline unsigned job_group_gathers(const struct job_group_conf *conf)
{
	return conf->all_gather_given ? (unsigned)conf->all_gather : SCHEME_ring;
}

/* The scheme on hosts that jobs change to if failures leave no tree; SCHEME_COUNT = none. */
static inline unsigned job_group_falls_back(const struct job_group_conf *conf)
{
	return conf->fallback == FALLBACK_RING ? SCHEME_ring
	       : conf->fallback == FALLBACK_PS ? SCHEME_ps
					       : SCHEME_COUNT;
}

/* Writes the names of a group's schemes into `text` (JOB_SCHEME_SIZE bytes) and returns it:
 * `reduces` alone, as "switchml", or both, as "shards + ring", if the group names the second. */
#define JOB_SCHEME_SIZE (2 * COLLECTIVE_ACTUAL_SIZE + 3)
char *job_group_scheme(const struct job_group_conf *conf, const char *reduces, const char *gathers,
		       char *text);

/* Whether jobs of the group may use this scheme for one of their exchanges. */
bool job_group_uses(const struct job_group_conf *conf, unsigned scheme);

/* The scheme of a program's group, and its operations for what the group does. A scheme that has
 * none leaves this to ring. */
unsigned job_group_scheme_of(const struct job_group_conf *conf, const struct program_group *group);
const struct collective_ops *job_group_ops(unsigned scheme, enum program_op op);

/* Where what a group does happens, on machines of `gpus` GPUs. */
enum group_place {
	PLACE_FLAT,   /* between its ranks */
	PLACE_STAGED, /* inside machines, then between them (collective/machine.h) */
	PLACE_SWITCH, /* in the switch of its machine (collective/gpu_switch.h) */
};
enum group_place job_group_place(const struct job_group_conf *conf,
				 const struct program_group *group, uint32_t gpus);

/* Whether jobs are Poisson arrivals. If `count` is not given, they go on until the run ends. */
static inline bool job_group_poisson(const struct job_group_conf *conf)
{
	return conf->arrival.form == JOBS_POISSON || conf->arrival.form == JOBS_LOAD;
}

extern const struct conf_table job_group_table;

/* Where jobs run, as the scenario says it. */
struct job_site {
	const struct topology_conf *topology;
	const struct machine_conf *machine;
	const struct cluster_conf *cluster; /* cluster.h */
};

/* Splits groups whose traces name models or schemes. Jobs with another model or scheme than the
 * group's first job become a group of their own, at the end of the list and otherwise the same. In
 * a group without iterations the durations of the trace decide, if it has any and the networks
 * compute. Loads the networks and sets `experts` and `exchanges` of each group. Adds no errors:
 * job_group_check() and job_group_trace_mistake() report what is wrong with files. */
void job_groups_part(struct conf_list *groups, const struct machine_conf *machine,
		     struct conf_doc *doc);

/* Whether both are one group of the scenario, with one scheme: parts of a trace that differ in
 * their models at most. */
bool job_groups_alike(const struct job_group_conf *a, const struct job_group_conf *b);

/* Reports errors that the rows cannot find. `schemes`: parameters by enum scheme_index.
 * `bounded`: something other than the jobs ends the run, so jobs may go on arriving. */
void job_group_check(const struct job_group_conf *conf, struct conf_doc *doc, const char *pointer,
		     const struct job_site *site, void *const *schemes, bool bounded);

/* A finished job that is measured, for summaries. */
struct job_record {
	const struct job_group_conf *group;
#define MEMBER(member, ...) double member; /* NAN if the job has none */
	JOB_METRICS(MEMBER)
#undef MEMBER
	double throughput_share; /* NAN for one worker, jobs that shard, pipelines */
	double rate;             /* bytes all-reduced per second, from its start to its end */
};

struct jobs_tables {
	struct out_table *jobs, *iterations, *parts; /* NULL = not wanted; not owned */
};

/* Jobs that arrive in the measured window. */
struct jobs_counts {
	size_t count, finished, refused, failed;
};

struct jobs;

/* How long jobs arrive, and which of them are measured. */
struct jobs_times {
	sim_time end; /* latest end of the run */
	struct measured_window window;
	double estimate; /* stop.estimate: relative error of a job's end; 0 = no estimates */
};

/* Makes the jobs, which arrive by a timer. `schemes`: by enum scheme_index, not owned. */
struct jobs *jobs_new(const struct model_env *env, const struct job_group_conf *groups,
		      size_t count, const struct scheme_run *schemes,
		      const struct cluster_conf *cluster, const struct jobs_times *times,
		      const struct jobs_tables *tables);
void jobs_free(struct jobs *jobs);

/* Jobs of a group that did not run as the scenario says. */
struct jobs_otherwise {
	const struct job_group_conf *group;
	char *ran_as; /* as in jobs.csv */
	size_t count;
};

/* Finished jobs whose workers waited for timeouts for more than half of the job's time. */
struct jobs_waited {
	size_t count;
	const struct job_group_conf *group; /* of the job that waited longest */
	uint32_t job;
	sim_time waited, jct;
};

/* The results of jobs so far. */
struct jobs_report {
	size_t count, arrived, running, finished;
	size_t refused;     /* by their schemes; they never run */
	size_t failed;      /* ended, or kept from running, by failures of links and switches */
	size_t estimated;   /* their ends are estimates (job_estimate.c) */
	size_t substituted; /* ran as another scheme, for good or from a failure on */
	/* Of all jobs: iterations to do, and done. What a refused or failed job leaves undone does
	 * not count. */
	double iterations, iterations_finished;
	struct jobs_counts measured;
	/* Of the measured jobs, in the order of their ends; measured.finished of them. */
	struct job_record *records;
	/* Of the iterations of measured jobs, in seconds, as in iterations.csv. */
	double *durations, *cycles;
	size_t duration_count, cycle_count;
	struct jobs_otherwise *otherwise; /* in the order of their first jobs */
	size_t otherwise_count;
	struct jobs_waited waited;
};
const struct jobs_report *jobs_report(const struct jobs *jobs);

/* What the ranks of the group's first finished job spent their time on, as "compute 70.0 %, bubble
 * 20.0 %, data 10.0 %". NULL = no job, or its ranks exchange only gradients. Caller frees. */
char *jobs_spent(const struct jobs *jobs, const struct job_group_conf *conf);

/* How many jobs of groups with this name are measured. */
size_t jobs_measured(const struct jobs *jobs, const char *name);

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_OVER, JOB_REFUSED, JOB_FAILED };

/* Why a job was refused (JOB_REFUSED), or when and why one failed (JOB_FAILED): of several, the one
 * that arrived first. *group gets the name of its group. NULL when there is no such job. */
const char *jobs_reason(const struct jobs *jobs, enum job_state state, const char **group);

/* Call when a switch, or only its aggregation, has failed (net/outage.h). */
void jobs_switch_failed(struct jobs *jobs, uint32_t sw);
/* Call when the controller has heard of a failure or repair, and before the run. Jobs restart what
 * they have lost, or fail. `may_change`: something more will fail or be repaired. */
void jobs_failures_known(struct jobs *jobs, bool may_change);

void jobs_stats(const struct jobs *jobs, struct collective_stats *stats); /* of all jobs so far */

/* The fraction of all iterations that is done. An iteration under way counts by the part of its
 * gradients whose sums the first worker has. */
double jobs_progress(const struct jobs *jobs);

/* Whether the running jobs are stuck: no worker computes, and *since was more than 1 s plus 100
 * times a ring's time ago. *since: when a worker last began or ended a task, or got the result of
 * an exchange. */
bool jobs_stalled(const struct jobs *jobs, sim_time *since);

/* Sets the function to call when a job has finished, failed or been refused; may stop the run. */
void jobs_on_change(struct jobs *jobs, void (*changed)(void *owner), void *owner);

/* Writes rows of unfinished jobs. A job that has not arrived gets one only if it is measured. */
void jobs_write_unfinished(struct jobs *jobs);
/* Prints what each unfinished job waits for, for `limit` jobs at most. */
void jobs_report_waiting(const struct jobs *jobs, FILE *to, size_t limit);

extern const struct out_schema jobs_schema, iterations_schema, parts_schema;

/* How many parameter servers a job with `workers` workers has. */
uint32_t job_group_servers(const struct job_group_conf *conf, uint32_t workers);
/* How many slots these servers take on hosts of their own. */
uint32_t job_group_own_servers(const struct job_group_conf *conf, uint32_t workers);
/* Whether the scenario lists the hosts of the servers. */
bool job_group_servers_listed(const struct job_group_conf *conf);

/* What is wrong with the trace of a group, for `hosts` hosts that take workers and `pool` hosts
 * that are kept for servers. NULL = nothing; caller frees. */
char *job_group_trace_mistake(const struct job_group_conf *conf, uint32_t hosts, uint32_t pool);
/* How many workers a job of a trace has. */
uint64_t job_trace_workers(const struct job_group_conf *conf, const struct trace_job *job);

#endif
