/* Training jobs: what they compute, when they talk, where they run.
 *
 * A job is a number of workers on hosts of their own, a neural network, and an
 * all-reduce scheme. Every iteration of every worker is
 *
 *     forward layer 0 .. L-1, backward layer L-1 .. 0,
 *
 * each backward layer hands its gradient over to the scheme, and the forward pass
 * of layer l in the next iteration needs that layer's sum. With `overlap: none`
 * the network counts as one layer: compute, then communicate. There is no other
 * barrier. An iteration has finished when all workers hold all its sums; a job,
 * with its last iteration.
 *
 * Workers may exchange more than gradients (job_exchange.c, by collective/steps.h):
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
 * With `max_steps`, a job of more iterations is simulated in so many steps. Each step stands for
 * iterations / max_steps iterations: its computing times and gradients are those of one iteration
 * times this, so that the job computes and exchanges as much in all. A step has one exchange where
 * the job has many. So jobs that share links take longer turns, and what an iteration costs besides
 * its bytes (latency, growth of windows) counts once a step.
 *
 * A scheme may need parameter servers, on hosts of their own, shared with other
 * jobs, or beside workers. Jobs that find no hosts, or no switch memory, wait in
 * one queue, first come first served; a scheme may refuse a job instead, which
 * then never runs. JCT = finish - arrival = waiting + compute + communication,
 * where compute is the mean of the workers' computing times and communication is the rest of the
 * job's running time.
 *
 * What a job is (model, workers, arrival) comes from streams of its group and does
 * not depend on its scheme: schemes are compared on the same jobs. Jobs of a group that is not
 * enabled do not run, but keep their numbers, by which hosts, jitter and paths are drawn: the
 * other groups draw the same with and without it. */
#ifndef INASIM_WORKLOAD_JOBS_JOBS_H
#define INASIM_WORKLOAD_JOBS_JOBS_H

#include "collective/schemes.h"
#include "data/metrics.h"
#include "data/table.h"
#include "workload/jobs/job_trace.h"
#include "workload/measured.h"

struct layer_conf {
	const char *name;
	bytes gradient, all_to_all;
	sim_time forward, backward;
};

struct model_conf {
	int form; /* enum model_form */
	const char *name;
	struct conf_list layers;     /* of struct layer_conf */
	struct conf_list send_order; /* of int64_t: layers; empty = last layer first */
	struct conf_list mix;        /* of struct mix_part (workload/weights.h) */
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

/* Fewest and most workers of a job; both 0 where only a trace knows. */
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
	SERVERS_OWN,     /* a host (slot) each that no worker of the job is on */
	SERVERS_SHARED,  /* out of the pool that "cluster" keeps; jobs take turns */
	SERVERS_WORKERS, /* server q on the host of worker q */
};

struct job_arrival_conf {
	int form; /* enum job_arrival_form */
	sim_time at, spread;
	sim_time mean_gap;
	double load;
	const char *trace;
	int64_t limit;
	double speedup;
	int64_t gpus_per_worker;
	/* Set by job_groups_part(): of the trace, only the jobs that name this model and scheme
	 * (NULL and -1: those that name none). */
	bool part;
	const char *part_model;
	int part_scheme;
	/* Set by job_groups_part(): the trace or the group's part of it, which the document owns;
	 * NULL where the file is not right, and why. */
	const struct job_trace *jobs;
	const char *mistake;
};
enum job_arrival_form { JOBS_AT, JOBS_POISSON, JOBS_LOAD, JOBS_TRACE };

/* Stages of a pipeline (GPipe); 1 = there is none. */
struct pipeline_conf {
	int64_t stages, microbatches;
	bytes activations;
};

/* Which parts of the state of the training each worker has alone (ZeRO). */
enum sharding { SHARDING_NONE, SHARDING_OPTIMIZER, SHARDING_FULL };

/* What becomes of a job for which failures leave no tree. */
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
	int iterations_rule;
	int64_t max_steps; /* 0 = every iteration is simulated */
	int all_reduce;    /* enum scheme_index */
	int fallback;      /* enum job_fallback */
	sim_time restart_delay;
	bool restart_delay_given;
	int reduce_scatter, all_gather; /* enum scheme_index, if given; see job_group_reduces() */
	bool reduce_scatter_given, all_gather_given;
	int placement;
	int inside; /* enum inside: GPUs of a machine */
	int sharding;
	int64_t prefetch;
	struct pipeline_conf pipeline;
	/* Set by job_groups_part(): a network has experts; workers exchange more than gradients. */
	bool experts, exchanges;
	struct job_arrival_conf arrival;
	int overlap;
	bytes fusion;          /* 0 = not given */
	sim_time fusion_cycle; /* the same */
	double gradient_scale, compute_scale;
	double compute_jitter;
	sim_time start_jitter, send_jitter;
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

#define FUSION_BUFFER (UINT64_C(64) << 20) /* with fusion_cycle, when fusion is not given */

#define JOBS_MAX 1000000 /* of a group */

/* The scheme that adds gradients up, and the one that all-gathers parameters. */
static inline unsigned job_group_reduces(const struct job_group_conf *conf)
{
	return (unsigned)(conf->reduce_scatter_given ? conf->reduce_scatter : conf->all_reduce);
}

static inline unsigned job_group_gathers(const struct job_group_conf *conf)
{
	return conf->all_gather_given ? (unsigned)conf->all_gather : SCHEME_ring;
}

/* The scheme on hosts that its jobs go on with where failures leave no tree; SCHEME_COUNT: none. */
static inline unsigned job_group_falls_back(const struct job_group_conf *conf)
{
	return conf->fallback == FALLBACK_RING ? SCHEME_ring
	       : conf->fallback == FALLBACK_PS ? SCHEME_ps
					       : SCHEME_COUNT;
}

/* Writes which schemes a group has: `reduces`, as in "switchml", or, where the group names who
 * all-gathers, both, as in "shards + ring". Returns `text`, of JOB_SCHEME_SIZE bytes. */
#define JOB_SCHEME_SIZE (2 * COLLECTIVE_ACTUAL_SIZE + 3)
char *job_group_scheme(const struct job_group_conf *conf, const char *reduces, const char *gathers,
		       char *text);

/* The scheme carries one of its exchanges. */
static inline bool job_group_uses(const struct job_group_conf *conf, unsigned scheme)
{
	return conf->all_reduce == (int)scheme || job_group_reduces(conf) == scheme ||
	       job_group_falls_back(conf) == scheme ||
	       (conf->exchanges && (scheme == SCHEME_ring || job_group_gathers(conf) == scheme));
}

/* Arrives at random times, and goes on until the run ends when `count` is not given. */
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

/* Splits groups by what their traces name: jobs with a model or scheme of their own become another
 * group behind the others, alike in all else. Where a trace has durations and its group gives no
 * iterations, the durations decide. Loads the networks and sets `experts` and `exchanges` of each
 * group. What is not right in files is for job_group_check() and job_group_trace_mistake() to tell.
 */
void job_groups_part(struct conf_list *groups, struct conf_doc *doc);

/* Checks what the rows cannot. `scheme`: the parameters of the group's scheme. `bounded`: something
 * else than the jobs ends the run, so that jobs may go on arriving. */
void job_group_check(const struct job_group_conf *conf, struct conf_doc *doc, const char *pointer,
		     const struct job_site *site, const void *scheme, bool bounded);

/* A finished job that is measured, for summaries. */
struct job_record {
	const struct job_group_conf *group;
#define MEMBER(member, ...) double member; /* NAN where it has none */
	JOB_METRICS(MEMBER)
#undef MEMBER
	double throughput_share; /* NAN for one worker */
	double rate;             /* bytes all-reduced over the time since its start, per second */
};

struct jobs_tables {
	struct out_table *jobs, *iterations; /* NULL = not wanted; not owned */
};

/* Jobs that arrive in the measured window. */
struct jobs_counts {
	size_t count, finished, refused, failed;
};

struct jobs;

/* How long jobs arrive, and which of them count. */
struct jobs_times {
	sim_time end; /* of the run at the latest */
	struct measured_window window;
	double estimate; /* stop.estimate: share that ends may be off by; 0 = none is estimated */
};

/* `schemes` by enum scheme_index; not owned. Arrivals start by themselves. */
struct jobs *jobs_new(const struct model_env *env, const struct job_group_conf *groups,
		      size_t count, const struct scheme_run *schemes,
		      const struct cluster_conf *cluster, const struct jobs_times *times,
		      const struct jobs_tables *tables);
void jobs_free(struct jobs *jobs);

/* Jobs of a group that ran otherwise than the scenario says. */
struct jobs_otherwise {
	const struct job_group_conf *group;
	char *ran_as; /* as in jobs.csv */
	size_t count;
};

/* What jobs have come to so far. */
struct jobs_report {
	size_t count, arrived, running, finished;
	size_t refused;                         /* by their schemes; they never run */
	size_t failed;                          /* ended by failures of links and switches */
	size_t estimated;                       /* their ends are estimates (job_estimate.c) */
	double iterations, iterations_finished; /* of all jobs, the refused left out */
	struct jobs_counts measured;
	/* Of measured jobs: `records`, measured.finished of them, in the order of their ends; of
	 * their iterations, durations and cycles (iterations.csv), in seconds. */
	struct job_record *records;
	double *durations, *cycles;
	size_t duration_count, cycle_count;
	struct jobs_otherwise *otherwise; /* in the order of their first jobs */
	size_t otherwise_count;
};
const struct jobs_report *jobs_report(const struct jobs *jobs);

/* How many jobs of this name are measured. */
size_t jobs_measured(const struct jobs *jobs, const char *name);

/* The reason for the first refusal, and the group of that job; NULL when no job was refused. */
const char *jobs_refusal(const struct jobs *jobs, const char **group);

/* A switch has failed, or only what adds gradients there (net/outage.h). */
void jobs_switch_failed(struct jobs *jobs, uint32_t sw);
/* The controller knows what works, as far as routing does: jobs begin anew what they have lost, or
 * fail. `may_change`: more will fail or be repaired. First called before the run. */
void jobs_failures_known(struct jobs *jobs, bool may_change);
/* The first job that failed: when and why; NULL = none. */
const char *jobs_failure(const struct jobs *jobs, const char **group);

void jobs_stats(const struct jobs *jobs, struct collective_stats *stats); /* of all jobs so far */

/* The fraction of all iterations that is done: of one under way, the part of its gradients that the
 * first worker has got back. */
double jobs_progress(const struct jobs *jobs);

/* True when no running job computes, and none has begun or ended a task or got a sum since *since:
 * for longer than a second and a hundred times what a ring would take alone. */
bool jobs_stalled(const struct jobs *jobs, sim_time *since);

/* Called when a job has finished or been refused; may stop the run. */
void jobs_on_change(struct jobs *jobs, void (*changed)(void *owner), void *owner);

/* Writes rows of unfinished jobs, without those that have not arrived and are not measured. */
void jobs_write_unfinished(struct jobs *jobs);
/* Prints which job waits for what, for `limit` jobs at most. */
void jobs_report_waiting(const struct jobs *jobs, FILE *to, size_t limit);

extern const struct out_schema jobs_schema, iterations_schema;

/* Parameter servers of a job with so many workers, and how many slots they take besides those of
 * the workers. */
uint32_t job_group_servers(const struct job_group_conf *conf, uint32_t workers);
uint32_t job_group_own_servers(const struct job_group_conf *conf, uint32_t workers);
bool job_group_servers_listed(const struct job_group_conf *conf);

/* Why the trace of a group is not right for `hosts` hosts that take workers and `pool` that are
 * kept for servers. NULL when it is; caller frees. */
char *job_group_trace_mistake(const struct job_group_conf *conf, uint32_t hosts, uint32_t pool);
uint64_t job_trace_workers(const struct job_group_conf *conf, const struct trace_job *job);

#endif
