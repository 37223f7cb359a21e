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
#include "workload/program/cursor.h"
#include "why/why.h"

/* What a group of ranks does together, while the job runs (job_exchange.c). */
struct job_exchange {
	struct job *job;
	const struct program_group *group;
	uint32_t part; /* of job->parts: what waits for it count as */
	uint32_t why;  /* the same for --why, by why_part() */
	bool whole; /* adds the gradients of all ranks up, by the job's scheme; the first group */
	const struct collective_ops *ops;
	void *scheme;                  /* for ops->start() */
	struct machine_scheme machine; /* the same, if `ops` has stages inside machines */
	void *instance;                /* NULL: one rank alone, or stopped by a failure */
	uint32_t *hosts;    /* by member; owned; NULL: those of the job, whose servers follow */
	uint32_t *machines; /* by member (struct collective_job); owned; NULL = as there */
	double *blocks;     /* of tokens (struct collective_job); owned; NULL = equal parts */
	uint32_t *seats;    /* by member: its number among the seats of its rank; owned */
	struct collective_job spec;
	struct fusion *fusion;       /* buffers of fusion_cycle; NULL = none */
	struct job_restart *restart; /* NULL if failures need no restart; owned */
};
/* Within a job, connections of exchanges are numbered down from here, exchange by exchange.
 * Connections of an all-reduce over all ranks are numbered up from 0. */
#define EXCHANGE_EDGES_END   (UINT32_C(1) << 20)
#define EXCHANGE_WORKERS_MAX 512 /* of all-to-all, which has a connection between any two */

/* A node that takes time, on one of a worker's streams. */
struct job_task {
	struct job_worker *worker; /* by rank */
	uint32_t node;
	struct timer timer;
};

/* What ranks spend time on (job_spent.c). */
struct job_part {
	char *name;    /* owned */
	sim_time time; /* of all ranks */
};

/* A rank of the job's program. */
struct job_worker {
	struct job *job;
	uint32_t number;
	struct program_cursor cursor;
	struct job_task *tasks; /* by stream; owned */
	uint32_t timed;         /* tasks under way */
	uint32_t computing;     /* those that compute */
	bool stepping;          /* in step(): what comes meanwhile needs no step of its own */
	bool again;             /* it came */
	double factor[2];       /* multiplies computing times, at [iteration & 1] */
	uint32_t drawn;         /* the factors of iterations before this one are drawn */
	uint64_t handed, held;  /* parts of groups that it has begun, and whose results it has */
	uint32_t sums;          /* NODE_SUMs that are here, of the iteration under way */
	sim_time busy;          /* time of computing so far */
	sim_time spent;         /* until then, time is accounted for (job_spent.c) */
	/* Time from the first gradient of an iteration to its last sum, over all iterations. */
	sim_time exchange;
	sim_time last_exchange, last_busy; /* of the previous iteration */
	sim_time busy_mark;                /* `busy` at the end of that iteration */
	/* When the exchange, and the computation, that is under way began; SIM_TIME_MAX = none */
	sim_time exchange_since;
	sim_time busy_since;
	struct rng rng;
};

/* What happens by chance, and may take longer than an iteration. */
enum rare { RARE_LOSSES, RARE_TIMEOUTS, RARES };

/* When an iteration ended, the computing time of all workers until then, and what happened. */
struct job_mark {
	sim_time at, busy;
	uint64_t rare[RARES]; /* packets dropped or lost; timeouts of the job */
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
	uint32_t gpus;  /* of each machine that work for it */
	uint32_t ranks; /* of its program: one a worker, or one a GPU (job_group_ranks()) */
	/* Each group of its program is an instance of a scheme with a number of its own, as in a
	 * program that is written down. Otherwise they share the job's number. */
	bool grouped;
	int64_t iterations, iterations_done;
	uint32_t servers; /* parameter servers */
	uint32_t *hosts;  /* of the workers by rank, then of the servers */
	sim_time arrival, start, finish;
	sim_time mark;      /* end of the last finished iteration, or start */
	sim_time busy_mark; /* computing time of all workers until `mark` */
	/* By KEPT(iteration): when its first gradient was sent, and its last forward pass ended. */
	sim_time first_send[ITERATIONS_KEPT], forward_end[ITERATIONS_KEPT];
	int64_t sending; /* how many iterations have begun to hand gradients over */
	uint32_t behind; /* workers that have not ended the iteration under way */
	sim_time moved;  /* when a worker last began or ended a task, or got a result */
	struct job_worker *worker;
	struct why_job *why; /* NULL without --why */
	/* That of its model, or one made for the job, which owns it. NULL until the job first looks
	 * for a start, and when it is over. */
	struct program *program;
	struct job_exchange *exchanges; /* by group of the program; owned; NULL = not started */
	uint32_t edges;         /* how many connections exchanges have, but for the whole one */
	struct job_part *parts; /* NULL: it exchanges only gradients; owned */
	uint32_t part_count;
	struct collective_stats stats;
	sim_time ideal;        /* job_ideal(), when the job is over */
	struct job_mark *past; /* with stop.estimate, by iteration so far; owned */
	size_t past_count, past_capacity;
	size_t look_at;         /* job_estimate() checks next when past_count is above this */
	bool estimated;         /* `finish` is an estimate */
	sim_time half_width;    /* of the 95 % interval of `finish`, if estimated */
	sim_time busy_estimate; /* computing of all workers until `finish`, if estimated */
	uint64_t slots;         /* aggregators, for reports; 0 = the scheme has none */
	char *ran_as;           /* as in jobs.csv; NULL until it is admitted; owned */
	bool fell_back;         /* see job_fall_back() */
	bool substituted;       /* runs, or has come to run, as another scheme */
	bool moving;            /* restart_delay runs before job_move() */
	struct timer timer;     /* its start, its finish or job_move() */
};

struct jobs {
	struct model_env env;
	const struct scheme_run *schemes;
	uint32_t instances; /* of schemes that a job has, at most (struct collective_job) */
	sim_time latency;   /* of the controller */
	sim_time end;       /* of the run: Poisson arrivals end here */
	double estimate;    /* stop.estimate */
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
 * whole scheme. */
static inline const struct collective_ops *job_scheme(const struct job *job)
{
	const struct collective_ops *ops = job_reduces(job)->ops;

	return job->conf->sharding != SHARDING_NONE && ops->reduce_scatter ? ops->reduce_scatter
									   : ops;
}

/* job_worker.c: what one worker does, iteration by iteration. */
void worker_init(struct job_worker *worker, struct job *job, uint32_t number);
void worker_release(struct job_worker *worker);
void worker_begin(struct job_worker *worker);
/* The worker has the result of its part in a group. */
void worker_holds(struct job_worker *worker, uint32_t node);
/* Gives the scheme hints about the gradient number `gradient` of an exchange, over all iterations,
 * before it is handed over. */
void worker_hint(struct job_worker *worker, struct job_exchange *exchange, uint32_t member,
		 uint64_t gradient);

/* job_exchange.c. Makes the job's program if it has none, and starts all exchanges. Returns false
 * and starts none if the scheme of one has no room now; then *never is as ops->start() sets it. */
bool job_start_exchanges(struct job *job, const char **never);
/* Frees a program that was made for this job. */
void job_forget_program(struct job *job);
/* Ends all exchanges; `abandoned`: although workers still lack results. */
void job_end_exchanges(struct job *job, bool abandoned);
/* Stops an exchange before its end, because something that it depends on has failed. */
void job_exchange_stop(struct job_exchange *exchange);
/* What waits for a group are called, and whether it is a message between stages of a pipeline. */
const char *job_part_name(const struct job *job, const struct program_group *group);
bool job_of_pipeline(const struct job *job, const struct program_group *group);
/* The host of a rank: its GPU's NIC, where machines have several. A rank that is a whole machine
 * has the machine's number (struct collective_job), or, for --why, its first NIC. */
uint32_t job_rank_host(const struct job *job, uint32_t rank);
uint32_t job_rank_nic(const struct job *job, uint32_t rank);
/* Starts an exchange. If this is impossible now, returns false and *never as ops->start() does. */
bool job_exchange_start(struct job_exchange *exchange, const char **never);
void job_exchange_stats(const struct job *job, struct collective_stats *stats);
/* Prints a line for each of the first `limit` exchanges that wait. */
void job_exchange_waiting(const struct job *job, FILE *to, size_t limit);
/* Hands a worker's part over to its group. Returns false if the worker is alone in it, so that its
 * part is the result. */
bool job_exchange_part(struct job_worker *worker, uint32_t seat, bytes size);
/* The exchange of a worker at one of its seats, and which member of it the worker is. */
uint32_t job_exchange_member(const struct job_worker *worker, uint32_t seat);
struct job_exchange *job_exchange_at(const struct job_worker *worker, uint32_t seat);
/* The first exchange that does `op`; NULL if there is none of several GPUs. */
struct job_exchange *job_exchange_of(const struct job *job, enum program_op op);
/* The first exchange that adds gradients up; NULL if there is none of several GPUs. */
struct job_exchange *job_reduction(const struct job *job);

/* Whether the job has one GPU: its own gradient is the sum. */
static inline bool job_is_alone(const struct job *job)
{
	return job->workers == 1 && job->gpus == 1;
}

/* job_restart.c: only where links may fail. */
struct job_restart *job_restart_new(struct job_exchange *exchange);
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

/* jobs.c: a job as the scheme sees it that adds the gradients of all workers up. Its hosts are NULL
 * until it has some. */
struct collective_job job_spec(struct job *job);

/* job_ideal.c: the least time that the job can take from its arrival on; 0 if none is known. The
 * job's scheme must have finished, so that its resources are free. */
sim_time job_ideal(struct job *job);
/* Stops the run with a violation if the job took less. */
void job_check_ideal(const struct job *job);

#define ESTIMATE_FROM 20 /* iterations; an estimate needs more, and leaves the first half out */

/* job_estimate.c: the job has ended an iteration. Ends the run once iterations are steady. */
void job_estimate(struct job *job);

/* job_spent.c: what ranks spend their time on. Call job_spent_open() when exchanges are made,
 * job_spent_end() when the job is over, and the others when a rank has the result of an exchange,
 * and begins or ends to compute. */
void job_spent_open(struct job *job);
void job_spent_free(struct job *job);
void job_spent_end(struct job *job);
void worker_spends(struct job_worker *worker, const struct job_exchange *exchange);
void worker_spends_computing(struct job_worker *worker, bool ends);

/* job_tables.c: accounts, and rows of the result tables. */
void job_write(struct job *job); /* its row of jobs.csv */
/* A worker hands over its first gradient of an iteration. */
void job_sends(struct job *job, int64_t iteration);
/* All workers hold all sums of an iteration: writes its row and begins accounts of the next. */
void job_iteration_over(struct job *job);
/* Adds a finished job to the summary. */
void job_record(struct job *job);

/* parallel_conf.c */
struct pipeline_shape job_group_pipeline(const struct job_group_conf *conf);
/* parallel_conf.c: the number of workers of the group's largest job. */
uint32_t job_group_max_workers(const struct job_group_conf *conf);
/* parallel_conf.c: how many ranks a job of so many machines has: one for each GPU, if ranks
 * exchange more than gradients; and whether its groups have instances of their own. */
uint32_t job_group_ranks(const struct job_group_conf *conf, uint32_t workers, uint32_t gpus);
bool job_group_grouped(const struct job_group_conf *conf, uint32_t gpus);
/* parallel_conf.c: how many groups with instances of their own a job has at most; at least 1. */
uint64_t job_group_instances(const struct job_group_conf *conf, uint32_t gpus);
/* parallel_conf.c: how many machines the ranks of a program need, one for each GPU. */
int64_t job_program_machines(const struct program *program, const struct machine_conf *machine);

extern const struct conf_table model_in_place_table; /* jobs_conf.c; of struct model_conf */
/* parallel_conf.c: rows of a group, and their checks */
extern const struct conf_table pipeline_table, tokens_table;
extern const char *const sharding_names[];
/* Sets `experts`, `exchanges` and `machine_gpus`. */
void job_group_find_exchanges(struct job_group_conf *conf, const struct machine_conf *machine);
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
			    const char *pointer, const struct job_site *site, void *const *schemes);

#endif
