/* The inside of jobs: for the files of this folder. All others use jobs.h. */
#ifndef INASIM_WORKLOAD_JOBS_JOBS_PARTS_H
#define INASIM_WORKLOAD_JOBS_JOBS_PARTS_H

#include "core/rng.h"
#include "collective/fusion.h"
#include "collective/machine.h"
#include "collective/schemes.h"
#include "collective/steps.h"
#include "workload/cluster.h"
#include "workload/jobs/job_models.h"
#include "workload/jobs/job_trace.h"
#include "workload/jobs/jobs.h"
#include "why/why.h"

enum phase { PHASE_PAUSE, PHASE_FORWARD, PHASE_BACKWARD, PHASE_SEND, PHASE_OVER };

/* What workers exchange besides an all-reduce over all of them (job_exchange.c). */
enum exchange {
	EXCHANGE_GRADIENTS, /* among the workers of a stage of a pipeline */
	EXCHANGE_GATHER,    /* parameters, with sharding */
	EXCHANGE_TOKENS,
	EXCHANGE_FORWARD, /* activations to the next stage */
	EXCHANGE_BACKWARD,
	EXCHANGES
};
struct job_exchange {
	struct job *job;
	enum exchange what;
	const struct collective_ops *ops;
	void *instance;        /* NULL while it is stopped by a failure */
	int64_t first, stride; /* rank r is worker first + r * stride */
	uint32_t *hosts;       /* by rank; owned */
	void *scheme;          /* for ops->start() */
	struct collective_job spec;
	struct job_restart *restart; /* NULL if failures need no restart; owned */
};
/* Within a job, connections of exchanges are numbered down from here, exchange by exchange.
 * Connections of an all-reduce are numbered up from 0. */
#define EXCHANGE_EDGES_END   (UINT32_C(1) << 20)
#define EXCHANGE_WORKERS_MAX 512 /* of all-to-all, which has a connection between any two */

struct job_worker {
	struct job *job;
	uint32_t number;
	size_t layer_first, layer_end;   /* layers of its stage; all without a pipeline */
	size_t tensor_first, tensor_end; /* tensors of these layers */
	int64_t microbatch;              /* number within this pass */
	/* The exchanges that it takes part in; NULL = none of this kind. */
	struct job_exchange *gradients, *gather, *tokens;
	/* Exchanges with the previous and the next stage: [0] forward, [1] backward. */
	struct job_exchange *from[2], *to[2];
	/* How many results of each exchange its next task needs, and how many are here. */
	uint64_t need[EXCHANGES], have[EXCHANGES];
	/* Asked for, of this layer: 0 nothing, 1 parameters and activations, 2 tokens, too. */
	unsigned asked;
	uint64_t gathers; /* how many all-gathers it has asked for */
	bool *reduced; /* SHARDING_OPTIMIZER, by tensor: has the sum, has not all-gathered; owned */
	size_t updated; /* the next tensor whose parameters are all-gathered */
	enum phase phase;
	int64_t iteration;
	size_t layer;
	size_t tensor;       /* the next to hand over */
	int64_t *held;       /* by layer: sums of tensors that are here, over all iterations */
	size_t tensors_held; /* sums that are here, of the iteration under way */
	bool stepping;       /* in step(): a sum that comes meanwhile needs no step of its own */
	bool timed;          /* the timer runs */
	double factor;       /* multiplies the computing times of this iteration */
	sim_time busy;       /* time of computing so far */
	/* Time from the first gradient of an iteration to its last sum, over all iterations. */
	sim_time exchange;
	sim_time last_exchange, last_busy; /* of the previous iteration */
	sim_time busy_mark;                /* `busy` at the end of that iteration */
	/* When the exchange, and the computation, that is under way began; SIM_TIME_MAX = none */
	sim_time exchange_since;
	sim_time busy_since;
	struct rng rng;
	struct timer timer;
};

/* When an iteration ended, and the computing time of all workers until then. */
struct job_mark {
	sim_time at, busy;
};

/* The times of three iterations are kept: the one that has just ended, the one under way, and the
 * next, which a worker may have begun. A power of two, so that KEPT(-1) is an index, too. */
#define ITERATIONS_KEPT 4
#define KEPT(iteration) ((iteration) & (ITERATIONS_KEPT - 1))

struct job {
	struct jobs *jobs;
	const struct job_group_conf *conf;
	const struct dnn *dnn; /* one of the group's, or `step` */
	struct dnn *step;      /* with max_steps: a step instead of an iteration; owned */
	bytes gradients;       /* of an iteration, not of a step */
	double stands_for;     /* how many iterations each simulated one stands for */
	const char *trace_id;  /* its job_id in the trace; NULL = it is of no trace */
	uint32_t number;
	enum job_state state;
	bool measured;
	char *reason; /* JOB_REFUSED: why; JOB_FAILED: when and why; owned */
	uint32_t workers;
	uint32_t gpus; /* of each machine that work for it */
	int64_t iterations, iterations_done;
	uint32_t servers; /* parameter servers */
	uint32_t *hosts;  /* of the workers by rank, then of the servers */
	sim_time arrival, start, finish;
	sim_time mark;      /* end of the last finished iteration, or start */
	sim_time busy_mark; /* computing time of all workers until `mark` */
	/* By KEPT(iteration): when its first gradient was sent, and its last forward pass ended. */
	sim_time first_send[ITERATIONS_KEPT], forward_end[ITERATIONS_KEPT];
	int64_t sending;       /* how many iterations have begun to hand gradients over */
	uint32_t done_workers; /* workers that have all sums of the iteration under way */
	sim_time moved;        /* when a worker last began or ended a task, or got a result */
	struct job_worker *worker;
	struct why_job *why;           /* NULL without --why */
	struct machine_scheme machine; /* zero if the scheme has no stages inside machines */
	struct fusion *fusion;         /* buffers of fusion_cycle; NULL = none */
	void *instance; /* of the scheme; NULL for one GPU, with a pipeline, after a failure */
	struct job_exchange *exchanges; /* owned; NULL = none */
	size_t exchange_count;
	uint32_t edges;    /* how many connections exchanges have */
	bytes activations; /* of a micro-batch */
	struct collective_stats stats;
	sim_time ideal;        /* job_ideal(), when the job is over */
	struct job_mark *past; /* with stop.estimate, by iteration so far; owned */
	size_t past_count, past_capacity;
	size_t look_at;              /* job_estimate() checks next when past_count is above this */
	bool estimated;              /* `finish` is an estimate */
	sim_time half_width;         /* of the 95 % interval of `finish`, if estimated */
	sim_time busy_estimate;      /* computing of all workers until `finish`, if estimated */
	uint64_t slots;              /* aggregators, for reports; 0 = the scheme has none */
	char *ran_as;                /* as in jobs.csv; NULL until it is admitted; owned */
	struct job_restart *restart; /* where links may fail, else NULL: job_restart.c; owned */
	bool fell_back;              /* see job_fall_back() */
	bool moving;                 /* restart_delay runs before job_move() */
	struct timer timer;          /* its start, its finish or job_move() */
};

struct jobs {
	struct model_env env;
	const struct scheme_run *schemes;
	sim_time latency; /* of the controller */
	sim_time end;     /* of the run: Poisson arrivals end here */
	double estimate;  /* stop.estimate */
	struct measured_window window;
	struct jobs_tables tables;
	struct job *jobs; /* in the order of arrival */
	size_t capacity;
	struct jobs_report report; /* its lists are owned */
	bool may_change; /* something may fail or be repaired, or the controller will hear of it */
	struct cluster cluster;
	uint32_t *pool; /* hosts for SERVERS_SHARED */
	uint32_t pool_count;
	size_t queue_head; /* jobs before it have started, or been refused */
	size_t record_capacity, duration_capacity, otherwise_capacity, cycle_capacity;
	struct collective_stats stats;
	struct timer arrivals;
	void (*changed)(void *owner);
	void *owner;
};

/* The scheme that adds a job's gradients up: the group's, or the fallback that the job uses. */
static inline const struct scheme_run *job_reduces(const struct job *job)
{
	return &job->jobs->schemes[job->fell_back ? job_group_falls_back(job->conf)
						  : job_group_reduces(job->conf)];
}

/* The operations of job_reduces(): for sharded jobs its reduce-scatter, if it has one; else the
 * whole scheme, with stages inside machines around it if the job has any. */
static inline const struct collective_ops *job_scheme(const struct job *job)
{
	const struct collective_ops *ops = job_reduces(job)->ops;

	if (job->conf->sharding != SHARDING_NONE && ops->reduce_scatter)
		return ops->reduce_scatter;
	return job->machine.sim ? &machine_collective : ops;
}

/* job_worker.c: what one worker does, iteration by iteration. */
void worker_init(struct job_worker *worker, struct job *job, uint32_t number);
void worker_release(struct job_worker *worker);
void worker_begin(struct job_worker *worker);
/* The worker holds the sum of a tensor of this layer. */
void worker_holds(struct job_worker *worker, size_t layer);
/* Something has come that the worker may have waited for. */
void worker_goes_on(struct job_worker *worker);
/* Whether a layer's parameters are up to date: the sums of all previous iterations are here. */
bool worker_updated(const struct job_worker *worker, size_t layer);

/* job_exchange.c: starts all exchanges of a job that has workers; ends them when it is over. */
void job_start_exchanges(struct job *job);
void job_end_exchanges(struct job *job);
/* Stops an exchange before its end, because something that it depends on has failed. */
void job_exchange_stop(struct job_exchange *exchange);
/* Starts an exchange. If this is impossible now, returns false and *never as ops->start() does. */
bool job_exchange_start(struct job_exchange *exchange, const char **never);
void job_exchange_stats(const struct job *job, struct collective_stats *stats);
/* Prints a line for each of the first `limit` exchanges that wait. */
void job_exchange_waiting(const struct job *job, FILE *to, size_t limit);
/* Hands the next tensor to the scheme. Returns false if the worker adds up with no other, so that
 * its own gradient is the sum. */
bool job_reduce(struct job_worker *worker, bytes size);
/* The worker has the sum of tensor `tensor` of its stream, or the part of the sum that it needs. */
void job_reduced(struct job_worker *worker, uint64_t tensor);
/* Asks for what the worker's next task needs. Returns whether some of it has not come yet. */
bool worker_waits(struct job_worker *worker);
/* The worker has computed a layer: sends the results that others need. */
void worker_computed(struct job_worker *worker);

/* Gives the scheme hints about a tensor of the job, numbered over all iterations, before it is
 * handed over. */
void worker_hint(struct job_worker *worker, uint64_t tensor);

/* Whether the job has one GPU: its own gradient is the sum. */
static inline bool job_is_alone(const struct job *job)
{
	return job->workers == 1 && job->gpus == 1;
}

/* Whether one instance of a scheme adds up all gradients. Not so for one GPU, nor in a pipeline,
 * where each stage has its own exchange. */
static inline bool job_has_scheme(const struct job *job)
{
	return !job_is_alone(job) && job->conf->pipeline.stages <= 1;
}

/* job_restart.c: only where links may fail. `exchange` NULL: for the job's gradients. */
struct job_restart *job_restart_new(struct job *job, struct job_exchange *exchange, uint32_t ranks);
void job_restart_free(struct job_restart *restart); /* takes NULL */
/* A rank hands over the next tensor. */
void job_restart_reduce(struct job_restart *restart, uint32_t rank, bytes size);
/* A rank has got the sum of *tensor, as the current instance of the scheme numbers it. Changes
 * *tensor to the number in the job's stream. Returns false if the rank had that sum already. */
bool job_restart_holds(struct job_restart *restart, uint32_t rank, uint64_t *tensor);
/* Memory of switches has become free: starts what waits for it. */
void jobs_resume(struct jobs *jobs);
/* After restart_delay: free hosts take the places of those that are cut off, and the job's scheme
 * and exchanges restart, or wait for memory or a repair. Returns NULL, or why that is
 * impossible. */
const char *job_move(struct job *job);
/* Whether two hosts of a job will never reach each other again, over NICs of the same number. */
bool job_is_cut_off(const struct job *job);

/* jobs.c: parts of a job's life. */
/* Adds what its scheme has counted, without exchanges, to job->stats. */
void job_add_stats(struct job *job);
/* Stops the scheme. `abandon`: although workers still lack sums. */
void job_stop_scheme(struct job *job, bool abandon);
/* Starts the scheme. If this is impossible now, returns false and *never as its start() does. */
bool job_start_scheme(struct job *job, const char **never);
void job_fail(struct job *job, const char *why);
/* Changes to the scheme that the job's group falls back to. Returns false if there is none, or if
 * the job has fallen back already. */
bool job_fall_back(struct job *job);
/* Starts jobs of the queue as long as the first one fits. */
void jobs_start_waiting(struct jobs *jobs);

/* Whether the scenario lists the hosts of its workers. */
static inline bool job_hosts_listed(const struct job *job)
{
	return job->conf->workers.given && job->conf->workers.form == WORKERS_HOSTS;
}

/* job_hosts.c: takes hosts for workers and servers into job->hosts. Returns false and takes nothing
 * if there is no room now. */
bool job_take_hosts(struct job *job);
void job_return_hosts(struct job *job);
/* Puts free hosts in the place of those that are cut off for good, whose slots stay taken. Returns
 * false if too few are free. */
bool job_replace_hosts(struct job *job);

/* jobs.c: a job as its scheme sees it. Its hosts are NULL until it has some. */
struct collective_job job_spec(struct job *job);

/* job_ideal.c: JCT alone on an idle network, without jitter; 0 if there is no closed form. The
 * job's scheme must have finished, so that its resources are free. This is not a lower bound,
 * because paths are timed for full frames. A job with messages shorter than a segment may be
 * faster: in each step, and at each link but the first, by the difference between the times of a
 * full frame and of the message. */
sim_time job_ideal(struct job *job);

#define ESTIMATE_FROM 20 /* iterations; an estimate needs more, and leaves the first half out */

/* job_estimate.c: the job has ended an iteration. Ends the run once iterations are steady. */
void job_estimate(struct job *job);

/* job_tables.c: accounts, and rows of the result tables. */
void job_write(struct job *job); /* its row of jobs.csv */
/* A worker hands over its first gradient of an iteration. */
void job_sends(struct job *job, int64_t iteration);
/* All workers hold all sums of an iteration: writes its row and begins accounts of the next. */
void job_iteration_over(struct job *job);
/* Adds a finished job to the summary. */
void job_record(struct job *job);

extern const struct conf_table model_in_place_table; /* jobs_conf.c; of struct model_conf */
/* parallel_conf.c: rows of a group, and their checks */
extern const struct conf_table pipeline_table;
extern const char *const sharding_names[];
/* Sets `experts` and `exchanges`. */
void job_group_find_exchanges(struct job_group_conf *conf);
void job_group_check_parallel(const struct job_group_conf *conf, struct conf_doc *doc,
			      const char *pointer, const struct machine_conf *machine);
/* job_arrival_conf.c */
extern const struct conf_table job_arrival_table;
/* servers_conf.c: rows of a group; checks of lists of hosts, and of room for servers and workers */
extern const struct conf_table servers_table;
void job_group_check_servers(const struct job_group_conf *conf, struct conf_doc *doc,
			     const char *pointer, uint32_t hosts,
			     const struct cluster_conf *cluster);
/* Checks that the scheme takes jobs of this size. */
void job_group_check_scheme(const struct job_group_conf *conf, struct conf_doc *doc,
			    const char *pointer, const struct job_site *site, const void *scheme);

#endif
