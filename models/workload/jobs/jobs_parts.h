/* Jobs from the inside, for the files of this folder; everybody else uses jobs.h. */
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

/* What workers exchange besides gradients among all of them (job_exchange.c). */
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
	void *instance;
	int64_t first, stride; /* worker of rank r: first + r * stride */
	uint32_t *hosts;       /* by rank; owned */
	void *scheme;
	struct collective_job spec;
	struct job_restart *restart; /* where links may fail and it stands on a tree; owned */
};
/* Connections of exchanges are numbered down from here, those of an all-reduce up from 0. */
#define EXCHANGE_EDGES_END (UINT32_C(1) << 20)

struct job_worker {
	struct job *job;
	uint32_t number;
	size_t layer_first, layer_end;   /* of its stage; all without a pipeline */
	size_t tensor_first, tensor_end; /* the same */
	int64_t microbatch;              /* of this pass */
	/* What it exchanges besides; NULL = nothing. */
	struct job_exchange *gradients, *gather, *tokens;
	struct job_exchange *from[2], *to[2]; /* stages: forward, backward */
	uint64_t need[EXCHANGES], have[EXCHANGES];
	unsigned asked;   /* for the layer: 1 = parameters and activations, 2 = tokens, too */
	uint64_t gathers; /* how many it has asked for */
	bool *reduced;  /* SHARDING_OPTIMIZER, by tensor: its sum waits for an earlier one; owned */
	size_t updated; /* the next tensor whose parameters are all-gathered */
	enum phase phase;
	int64_t iteration;
	size_t layer;
	size_t tensor;       /* the next to hand over */
	int64_t *held;       /* by layer: tensors whose sum is here, of all iterations */
	size_t tensors_held; /* of the iteration under way */
	bool stepping;       /* in step(): a sum that comes meanwhile needs no step of its own */
	bool timed;          /* the timer runs */
	double factor;       /* of this iteration's computing time */
	sim_time busy;       /* computing so far */
	sim_time exchange;   /* from the first gradient of an iteration to its last sum, so far */
	sim_time last_exchange, last_busy; /* of the iteration before */
	sim_time busy_mark;                /* busy at its end */
	sim_time exchange_since; /* of the iteration under way; SIM_TIME_MAX = not begun */
	sim_time busy_since;     /* of the computation under way; SIM_TIME_MAX = none */
	struct rng rng;
	struct timer timer;
};

/* The end of an iteration, and computing up to there, over all workers. */
struct job_mark {
	sim_time at, busy;
};

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_OVER, JOB_REFUSED, JOB_FAILED };

struct job {
	struct jobs *jobs;
	const struct job_group_conf *conf;
	const struct dnn *dnn; /* one of the group's, or `step` */
	struct dnn *step;      /* with max_steps: a step instead of an iteration; owned */
	bytes gradients;       /* of an iteration, not of a step */
	double stands_for;     /* iterations of the job for each one simulated */
	const char *trace_id;  /* its job_id there; NULL = it is of no trace */
	uint32_t number;
	enum job_state state;
	bool measured;
	const char *refusal; /* JOB_REFUSED: why; a static string of its scheme */
	char *failure;       /* JOB_FAILED: when and why; owned */
	uint32_t workers;
	int64_t iterations, iterations_done;
	uint32_t servers;                      /* parameter servers */
	uint32_t *hosts;                       /* of the workers by rank, then of the servers */
	sim_time arrival, start, finish, mark; /* mark: end of the last iteration */
	sim_time busy_mark;                    /* computing of all workers until `mark` */
	/* By iteration modulo 4: one has just ended, the next is under way, and a worker may be in
	 * the one after. */
	sim_time first_send[4], forward_end[4];
	int64_t sending;       /* how many iterations have had a gradient handed over */
	uint32_t done_workers; /* with the iteration under way */
	sim_time moved;        /* when a worker last began, ended a task or got a sum */
	struct job_worker *worker;
	struct why_job *why;            /* NULL without --why */
	struct machine_scheme machine;  /* its scheme has stages inside machines; else zero */
	struct fusion *fusion;          /* buffers of fusion_cycle; NULL = none */
	void *instance;                 /* of the scheme; NULL for one worker and with a pipeline */
	struct job_exchange *exchanges; /* owned; NULL = none */
	size_t exchange_count;
	uint32_t edges;    /* how many connections exchanges have */
	bytes activations; /* of a microbatch */
	struct collective_stats stats;
	sim_time ideal;        /* JCT, found when it is over; 0 = there is no closed form */
	struct job_mark *past; /* with stop.estimate: of its iterations so far; owned */
	size_t past_count, past_capacity;
	size_t look_at;              /* with more in `past`, it looks whether they are steady */
	bool estimated;              /* `finish` is an estimate */
	sim_time half_width;         /* of the 95 % interval of `finish`, if estimated */
	sim_time busy_estimate;      /* computing of all workers until `finish`, if estimated */
	uint64_t slots;              /* of aggregators, for reports; 0 = does not apply */
	char *ran_as;                /* when it has begun; owned */
	struct job_restart *restart; /* where links may fail: see job_restart.c; owned */
	bool fell_back;              /* see job_fall_back() */
	bool moving;                 /* waits for restart_delay */
	struct timer timer;          /* start, finish, job_move() */
};

struct jobs {
	struct model_env env;
	const struct scheme_run *schemes;
	sim_time latency, end; /* of the run: no Poisson process goes on beyond */
	double estimate;       /* stop.estimate */
	struct measured_window window;
	struct jobs_tables tables;
	struct job *jobs; /* in the order of arrival */
	size_t capacity;
	struct jobs_report report; /* its lists are owned */
	bool may_change; /* something will fail or be repaired, or the controller has yet to hear */
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

/* The scheme of its gradients, or what it has fallen back to. */
static inline const struct scheme_run *job_reduces(const struct job *job)
{
	return &job->jobs->schemes[job->fell_back ? job_group_falls_back(job->conf)
						  : job_group_reduces(job->conf)];
}

/* The job's scheme, with stages inside machines around it if it has any; for sharded jobs the
 * reduce-scatter of the scheme, if there is one. */
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
/* Something that it may have waited for is here. */
void worker_goes_on(struct job_worker *worker);
/* Whether a layer's parameters are those of the worker's iteration: all earlier sums are here. */
bool worker_updated(const struct job_worker *worker, size_t layer);

/* job_exchange.c: starts the exchanges of a job that has workers; ends them when it is over. */
void job_start_exchanges(struct job *job);
void job_end_exchanges(struct job *job);
void job_exchange_stop(struct job_exchange *exchange);
bool job_exchange_start(struct job_exchange *exchange, const char **never);
void job_exchange_stats(const struct job *job, struct collective_stats *stats);
void job_exchange_waiting(const struct job *job, FILE *to, size_t limit);
/* Hands the next tensor to the scheme; false: the worker's own gradient is the sum. */
bool job_reduce(struct job_worker *worker, bytes size);
/* The worker has the sum of a tensor of its stream, or the part that it needs. */
void job_reduced(struct job_worker *worker, uint64_t tensor);
/* Whether the worker lacks something for its next task. Asks for what a layer needs. */
bool worker_waits(struct job_worker *worker);
/* The worker has computed a layer: sends what others need of it. */
void worker_computed(struct job_worker *worker);

/* Tells the scheme what it may know about the tensor at this place of an iteration. */
void worker_hint(struct job_worker *worker, size_t place);

/* The job's gradients go over one scheme of its own: not with one worker, nor in a pipeline. */
static inline bool job_has_scheme(const struct job *job)
{
	return job->workers > 1 && job->conf->pipeline.stages <= 1;
}

/* job_restart.c: only where links may fail. */
struct job_restart *job_restart_new(struct job *job, struct job_exchange *exchange, uint32_t ranks);
void job_restart_free(struct job_restart *restart); /* takes NULL */
/* A rank hands over the next tensor. */
void job_restart_reduce(struct job_restart *restart, uint32_t rank, bytes size);
/* A rank has the sum of the scheme's `tensor`, which becomes its number in the job's stream. False:
 * the rank had that sum already. */
bool job_restart_holds(struct job_restart *restart, uint32_t rank, uint64_t *tensor);
void jobs_resume(struct jobs *jobs); /* memory of switches has become free */
/* After restart_delay: free hosts take the places of those that are cut off, and all begins anew.
 * Returns why not, or NULL. */
const char *job_move(struct job *job);
/* Whether two of its hosts will never reach each other again. */
bool job_is_cut_off(const struct job *job);

/* jobs.c: parts of a job's life. */
void job_add_stats(struct job *job); /* what its scheme has counted, without exchanges */
void job_stop_scheme(struct job *job, bool abandon);
bool job_start_scheme(struct job *job, const char **never);
void job_fail(struct job *job, const char *why);
bool job_fall_back(struct job *job); /* to what its group says; false: nothing, or once already */
void jobs_start_waiting(struct jobs *jobs);

/* The scenario says which hosts its workers have. */
static inline bool job_hosts_listed(const struct job *job)
{
	return job->conf->workers.given && job->conf->workers.form == WORKERS_HOSTS;
}

/* job_hosts.c: hosts for workers and servers, into job->hosts. False, and nothing is taken, when
 * there is no room now. */
bool job_take_hosts(struct job *job);
void job_return_hosts(struct job *job);
/* Free hosts take the places of those that are cut off for good, which stay taken; false: there are
 * too few. */
bool job_replace_hosts(struct job *job);

/* jobs.c: what a job is to its scheme, hosts included once it has them. */
struct collective_job job_spec(struct job *job);

/* job_ideal.c: JCT alone on an idle network, without jitter; 0 where there is no closed form. This
 * is no lower bound: paths are timed for full frames, so where a message is shorter than a segment
 * it is above the JCT, by the time of a full frame less that of the message at each link but the
 * first of each step. The job's scheme must have finished, so that its resources are free. */
sim_time job_ideal(struct job *job);

#define ESTIMATE_FROM 20 /* iterations, of which the first half is left out */

/* job_estimate.c: the job has ended an iteration. Ends the run when they are steady. */
void job_estimate(struct job *job);

/* job_tables.c: accounts, and rows of the result tables. */
void job_write(struct job *job);
/* A worker hands over its first gradient of an iteration. */
void job_sends(struct job *job, int64_t iteration);
/* All workers hold all sums of an iteration: writes its row, and begins accounts of the next. */
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
/* servers_conf.c: rows of a group, and checks of lists of hosts and of room, of workers too */
extern const struct conf_table servers_table;
void job_group_check_servers(const struct job_group_conf *conf, struct conf_doc *doc,
			     const char *pointer, uint32_t hosts,
			     const struct cluster_conf *cluster);
/* Whether the scheme takes jobs of this size. */
void job_group_check_scheme(const struct job_group_conf *conf, struct conf_doc *doc,
			    const char *pointer, const struct job_site *site, const void *scheme);

#endif
