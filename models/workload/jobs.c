#include "workload/jobs.h"

#include "base/mem.h"
#include "ina/schemes.h"
#include "workload/cluster.h"
#include "workload/data_file.h"
#include "workload/dnn.h"
#include "workload/job_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct out_column job_columns[] = {
	{ "job_id", OUT_COUNT, "Number of the job in the order of arrival." },
	{ "name", OUT_TEXT, "Name of its group in the scenario." },
	{ "scheme", OUT_TEXT, "All-reduce scheme." },
	{ "model", OUT_TEXT, "Neural network." },
	{ "workers", OUT_COUNT, "Number of workers." },
	{ "iterations", OUT_COUNT, "Iterations asked for." },
	{ "iterations_done", OUT_COUNT, "Iterations finished." },
	{ "arrival_s", OUT_SECONDS, "Submission." },
	{ "start_s", OUT_SECONDS, "The workers begin; empty for a job that never got hosts." },
	{ "finish_s", OUT_SECONDS, "All workers hold the last sums." },
	{ "jct_s", OUT_SECONDS, "finish_s - arrival_s." },
	{ "waiting_s", OUT_SECONDS, "start_s - arrival_s: for hosts, for switch memory, and for the controller." },
	{ "compute_s", OUT_SECONDS, "Mean over the workers of the time that they computed." },
	{ "communication_s", OUT_SECONDS, "The rest: jct_s - waiting_s - compute_s (waiting for stragglers included)." },
	{ "gradient_bytes", OUT_COUNT, "Bytes that a worker all-reduces in an iteration." },
	{ "slots", OUT_COUNT, "Aggregator slots of the job; empty where the scheme has none." },
	{ "retransmissions", OUT_COUNT, "Packets that its workers sent again." },
	{ "timeouts", OUT_COUNT, "Retransmission timers that expired." },
	{ "hosts", OUT_TEXT, "Host of each rank, separated by blanks." },
	{ "finished", OUT_FLAG, "1 if the job finished." },
	{ 0 },
};
const struct out_schema jobs_schema = { "jobs.csv", "One row a job, in the order of completion; unfinished ones last.",
					job_columns };

static const struct out_column iteration_columns[] = {
	{ "job_id", OUT_COUNT, "The job." },
	{ "name", OUT_TEXT, "Name of its group." },
	{ "iteration", OUT_COUNT, "Number, from 0." },
	{ "start_s", OUT_SECONDS, "End of the iteration before (start of the job for the first)." },
	{ "finish_s", OUT_SECONDS, "All workers hold all sums of this iteration." },
	{ "duration_s", OUT_SECONDS, "finish_s - start_s." },
	{ "compute_s", OUT_SECONDS, "Mean over the workers of the time that they computed in between." },
	{ "communication_s", OUT_SECONDS, "duration_s - compute_s: communication that no computation hides." },
	{ 0 },
};
const struct out_schema iterations_schema = { "iterations.csv", "One row an iteration of a job.", iteration_columns };

/* --- state --- */

enum phase { PHASE_PAUSE, PHASE_FORWARD, PHASE_BACKWARD, PHASE_OVER };

struct job_worker {
	struct job *job;
	uint32_t number;
	enum phase phase;
	int64_t iteration;
	size_t layer;
	int64_t *held;     /* by layer: iterations whose sum is here */
	size_t layers_held; /* of the iteration under way */
	bool stepping;     /* in step(): a result that comes meanwhile needs no step of its own */
	bool timed;        /* the timer runs */
	double factor;     /* of this iteration's computing time */
	sim_time busy;     /* computing so far */
	sim_time busy_since; /* of the computation under way; SIM_TIME_MAX = none */
	struct rng rng;
	struct timer timer;
};

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_OVER };

struct job {
	struct jobs *jobs;
	const struct job_group_conf *conf;
	const struct dnn *dnn; /* shared by the group */
	uint32_t number;
	enum job_state state;
	uint32_t workers;
	int64_t iterations, iterations_done;
	uint32_t *hosts;
	sim_time arrival, start, finish, mark; /* mark: end of the last iteration */
	sim_time busy_mark;                    /* sum over the workers at that time */
	uint32_t done_workers;                 /* with the iteration under way */
	struct job_worker *worker;
	void *instance; /* of the scheme; NULL for one worker */
	struct collective_stats stats;
	uint64_t slots;
	struct timer timer; /* start, finish */
};

struct jobs {
	struct model_env env;
	void *const *schemes;
	sim_time latency;
	struct jobs_tables tables;
	struct dnn **dnns; /* by group */
	size_t group_count;
	struct job *jobs; /* in the order of arrival */
	size_t count, capacity, arrived, finished, running;
	struct cluster cluster;
	size_t queue_head; /* jobs before it have started */
	struct job_record *records;
	size_t record_capacity;
	double *durations;
	size_t duration_count, duration_capacity;
	struct collective_stats stats;
	double iterations_total, iterations_finished;
	struct timer arrivals;
	void (*changed)(void *owner);
	void *owner;
};

static const struct collective_ops *ops_of(const struct job *job)
{
	return scheme_ops((unsigned)job->conf->all_reduce);
}

/* --- accounting --- */

static sim_time busy_until_now(const struct job_worker *worker, sim_time now)
{
	return worker->busy + (worker->busy_since == SIM_TIME_MAX ? 0 : now - worker->busy_since);
}

static sim_time busy_sum(const struct job *job)
{
	sim_time now = job->jobs->env.sim->now, sum = 0;

	for (uint32_t w = 0; w < job->workers; w++)
		sum += busy_until_now(&job->worker[w], now);
	return sum;
}

static void write_iteration(struct job *job)
{
	struct jobs *jobs = job->jobs;
	sim_time now = jobs->env.sim->now, busy = busy_sum(job), compute = (busy - job->busy_mark) / job->workers;
	struct out_cell cells[] = {
		{ .count = job->number },
		{ .text = job->conf->name },
		{ .count = (uint64_t)job->iterations_done },
		{ .time = job->mark },
		{ .time = now },
		{ .time = now - job->mark },
		{ .time = compute },
		{ .time = now - job->mark - compute },
	};

	if (jobs->tables.iterations)
		out_table_row(jobs->tables.iterations, cells);
	jobs->durations = array_reserve(jobs->durations, jobs->duration_count, &jobs->duration_capacity,
					sizeof(*jobs->durations));
	jobs->durations[jobs->duration_count++] = seconds_of(now - job->mark);
	job->busy_mark = busy;
	job->mark = now;
}

static char *host_list(const struct job *job)
{
	char *text = xmalloc((size_t)job->workers * 11 + 1), *end = text;

	*end = '\0';
	for (uint32_t w = 0; job->hosts && w < job->workers; w++)
		end += snprintf(end, 12, "%s%" PRIu32, w ? " " : "", job->hosts[w]);
	return text;
}

static void write_job(struct job *job)
{
	bool over = job->state == JOB_OVER, begun = job->state != JOB_WAITING;
	sim_time compute = begun ? busy_sum(job) / job->workers : 0;
	sim_time until = over ? job->finish : job->jobs->env.sim->now;
	char *hosts = begun ? host_list(job) : NULL;
	struct out_cell cells[] = {
		{ .count = job->number },
		{ .text = job->conf->name },
		{ .text = ops_of(job)->name },
		{ .text = job->dnn->name },
		{ .count = job->workers },
		{ .count = (uint64_t)job->iterations },
		{ .count = (uint64_t)job->iterations_done },
		{ .time = job->arrival },
		{ .none = !begun, .time = job->start },
		{ .none = !over, .time = job->finish },
		{ .none = !over, .time = job->finish - job->arrival },
		{ .none = !begun, .time = job->start - job->arrival },
		{ .none = !begun, .time = compute },
		{ .none = !begun, .time = until > job->start ? until - job->start - compute : 0 },
		{ .count = job->dnn->gradient_total },
		{ .none = !job->slots, .count = job->slots },
		{ .count = job->stats.retransmissions },
		{ .count = job->stats.timeouts },
		{ .none = !begun, .text = hosts },
		{ .flag = over },
	};

	if (job->jobs->tables.jobs)
		out_table_row(job->jobs->tables.jobs, cells);
	free(hosts);
}

static void add_stats(struct collective_stats *sum, const struct collective_stats *one)
{
	sum->retransmissions += one->retransmissions;
	sum->timeouts += one->timeouts;
	sum->stale += one->stale;
	sum->fallbacks += one->fallbacks;
}

static void record_job(struct job *job)
{
	struct jobs *jobs = job->jobs;
	double compute = seconds_of(busy_sum(job) / job->workers);

	jobs->records = array_reserve(jobs->records, jobs->finished, &jobs->record_capacity, sizeof(*jobs->records));
	jobs->records[jobs->finished] = (struct job_record){
		.name = job->conf->name,
		.jct = seconds_of(job->finish - job->arrival),
		.waiting = seconds_of(job->start - job->arrival),
		.compute = compute,
		.communication = seconds_of(job->finish - job->start) - compute,
	};
}

/* --- a worker --- */

static void begin_iteration(struct job_worker *worker)
{
	const struct job_group_conf *conf = worker->job->conf;
	bool straggler = (int64_t)worker->number >= (int64_t)worker->job->workers - conf->stragglers.workers;

	worker->phase = PHASE_PAUSE;
	worker->layer = 0;
	worker->factor = conf->compute_scale * (straggler ? conf->stragglers.slowdown : 1);
	if (conf->compute_jitter > 0)
		worker->factor *= 1 + conf->compute_jitter * rng_unit(&worker->rng);
}

/* The duration of what the worker does next; false when it has to wait. */
static bool next_task(struct job_worker *worker, sim_time *duration, bool *computes)
{
	const struct job *job = worker->job;
	const struct dnn_layer *layer = &job->dnn->layers[worker->layer];

	*computes = true;
	switch (worker->phase) {
	case PHASE_PAUSE:
		*computes = false;
		*duration = job->conf->start_jitter ? rng_below(&worker->rng, job->conf->start_jitter + 1) : 0;
		return true;
	case PHASE_FORWARD:
		*duration = (sim_time)((double)layer->forward * worker->factor);
		return worker->held[worker->layer] >= worker->iteration;
	case PHASE_BACKWARD:
		*duration = (sim_time)((double)layer->backward * worker->factor);
		return true;
	case PHASE_OVER:
		return false;
	}
	return false;
}

static void tensor_held(struct job_worker *worker, size_t layer);

/* What follows when the task is done. */
static void task_done(struct job_worker *worker)
{
	struct job *job = worker->job;

	switch (worker->phase) {
	case PHASE_PAUSE:
		worker->phase = PHASE_FORWARD;
		return;
	case PHASE_FORWARD:
		if (worker->layer + 1 < job->dnn->layer_count)
			worker->layer++;
		else
			worker->phase = PHASE_BACKWARD;
		return;
	case PHASE_BACKWARD: {
		size_t layer = worker->layer;

		if (layer > 0) {
			worker->layer--;
		} else if (++worker->iteration < job->iterations) {
			begin_iteration(worker);
		} else {
			worker->phase = PHASE_OVER;
		}
		if (job->instance)
			ops_of(job)->contribute(job->instance, worker->number, job->dnn->layers[layer].gradient);
		else
			tensor_held(worker, layer); /* alone: its own gradient is the sum */
		return;
	}
	case PHASE_OVER:
		return;
	}
}

/* Goes on until the worker computes or has to wait for a sum. */
static void step(struct job_worker *worker)
{
	struct sim *sim = worker->job->jobs->env.sim;
	sim_time duration;
	bool computes;

	if (worker->stepping || worker->timed)
		return;
	worker->stepping = true;
	while (next_task(worker, &duration, &computes)) {
		if (duration) {
			worker->timed = true;
			worker->busy_since = computes ? sim->now : SIM_TIME_MAX;
			timer_set(sim, &worker->timer, sim->now + duration);
			break;
		}
		task_done(worker);
	}
	worker->stepping = false;
}

static void on_task_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct job_worker *worker = owner;

	(void)entity;
	if (worker->busy_since != SIM_TIME_MAX)
		worker->busy += sim->now - worker->busy_since;
	worker->busy_since = SIM_TIME_MAX;
	worker->timed = false;
	worker->stepping = true; /* results that come with the contribution wait for step() */
	task_done(worker);
	worker->stepping = false;
	step(worker);
}

/* The worker holds the sum of a layer; perhaps of the whole iteration now. A
 * worker is ahead of another by less than an iteration, for every sum needs all. */
static void tensor_held(struct job_worker *worker, size_t layer)
{
	struct job *job = worker->job;

	worker->held[layer]++;
	if (++worker->layers_held == job->dnn->layer_count) {
		worker->layers_held = 0;
		if (++job->done_workers == job->workers) {
			job->done_workers = 0;
			write_iteration(job);
			job->jobs->iterations_finished++;
			if (++job->iterations_done == job->iterations)
				timer_set(job->jobs->env.sim, &job->timer, job->jobs->env.sim->now);
		}
	}
	step(worker);
}

/* From the scheme. Tensors are numbered from 0 for the life of the job, last layer first. */
static void on_tensor_done(void *owner, uint32_t w, uint64_t tensor)
{
	struct job *job = owner;
	size_t layers = job->dnn->layer_count;

	tensor_held(&job->worker[w], layers - 1 - (size_t)(tensor % layers));
}

/* --- the life of a job --- */

static void start_waiting(struct jobs *jobs);

static void job_begin(struct job *job)
{
	job->state = JOB_RUNNING;
	job->start = job->mark = job->jobs->env.sim->now;
	for (uint32_t w = 0; w < job->workers; w++) {
		begin_iteration(&job->worker[w]);
		step(&job->worker[w]);
	}
}

static void job_end(struct job *job)
{
	struct jobs *jobs = job->jobs;

	job->state = JOB_OVER;
	job->finish = job->mark;
	if (job->instance) {
		ops_of(job)->stats(job->instance, &job->stats);
		ops_of(job)->finish(job->instance);
		job->instance = NULL;
	}
	add_stats(&jobs->stats, &job->stats);
	cluster_release(&jobs->cluster, job->hosts, job->workers);
	write_job(job);
	record_job(job);
	jobs->finished++;
	jobs->running--;
	timer_close(jobs->env.sim, &job->timer);
	for (uint32_t w = 0; w < job->workers; w++) {
		timer_close(jobs->env.sim, &job->worker[w].timer);
		free(job->worker[w].held);
	}
	free(job->worker);
	free(job->hosts);
	job->worker = NULL;
	job->hosts = NULL;
	start_waiting(jobs);
	if (jobs->changed)
		jobs->changed(jobs->owner);
}

/* The controller reaches the workers, or has heard from the last of them. */
static void on_job_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct job *job = owner;

	(void)sim, (void)entity;
	if (job->iterations_done == job->iterations)
		job_end(job);
	else
		job_begin(job);
}

static void make_workers(struct job *job)
{
	struct sim *sim = job->jobs->env.sim;

	job->worker = xcalloc(job->workers, sizeof(*job->worker));
	for (uint32_t w = 0; w < job->workers; w++) {
		struct job_worker *worker = &job->worker[w];
		uint64_t key = (uint64_t)job->number << 24 | w;

		worker->job = job;
		worker->number = w;
		worker->busy_since = SIM_TIME_MAX;
		worker->held = xcalloc(job->dnn->layer_count, sizeof(*worker->held));
		rng_init(&worker->rng, sim->seed, "worker", key);
		timer_open(sim, &worker->timer, SIM_TIMER, sim_key(SIM_TIMER, UINT64_C(5) << 53 | key), on_task_timer,
			   worker);
	}
	timer_open(sim, &job->timer, SIM_CONTROL, sim_key(SIM_CONTROL, UINT64_C(1) << 32 | job->number), on_job_timer,
		   job);
}

static bool take_hosts(struct job *job)
{
	struct jobs *jobs = job->jobs;
	struct rng rng;

	if (job->conf->workers.form == WORKERS_HOSTS && job->conf->workers.given) {
		const int64_t *list = job->conf->workers.hosts.items;

		for (uint32_t w = 0; w < job->workers; w++)
			job->hosts[w] = (uint32_t)list[w];
		return cluster_take_list(&jobs->cluster, job->hosts, job->workers);
	}
	rng_init(&rng, jobs->env.sim->seed, "placement", job->number);
	return cluster_place(&jobs->cluster, (enum placement)job->conf->placement, job->workers, &rng, job->hosts);
}

/* Hosts and switch memory, or neither. */
static bool admit(struct job *job)
{
	struct jobs *jobs = job->jobs;
	struct collective_job spec = {
		.number = job->number, .workers = job->workers, .done = on_tensor_done, .owner = job
	};
	const char *never;

	job->hosts = xcalloc(job->workers, sizeof(*job->hosts));
	if (!take_hosts(job)) {
		free(job->hosts);
		job->hosts = NULL;
		return false;
	}
	if (job->workers == 1)
		return true;
	spec.hosts = job->hosts;
	job->instance = ops_of(job)->start(jobs->schemes[job->conf->all_reduce], &spec, &never);
	if (job->instance)
		return true;
	SIM_BUG_ON(never != NULL); /* the scenario was checked */
	cluster_release(&jobs->cluster, job->hosts, job->workers);
	free(job->hosts);
	job->hosts = NULL;
	return false;
}

/* First come, first served: a job that does not fit holds up those behind it. */
static void start_waiting(struct jobs *jobs)
{
	while (jobs->queue_head < jobs->arrived) {
		struct job *job = &jobs->jobs[jobs->queue_head];

		if (!admit(job))
			return;
		jobs->queue_head++;
		jobs->running++;
		make_workers(job);
		if (job->instance && ops_of(job)->slots)
			job->slots = ops_of(job)->slots(job->instance);
		timer_set(jobs->env.sim, &job->timer, jobs->env.sim->now + jobs->latency);
	}
}

static void on_arrivals(struct sim *sim, uint32_t entity, void *owner)
{
	struct jobs *jobs = owner;

	(void)entity;
	while (jobs->arrived < jobs->count && jobs->jobs[jobs->arrived].arrival <= sim->now)
		jobs->arrived++;
	start_waiting(jobs);
	if (jobs->arrived < jobs->count)
		timer_set(sim, &jobs->arrivals, jobs->jobs[jobs->arrived].arrival);
}

/* --- set-up --- */

static struct dnn *dnn_in_place(const struct model_conf *model)
{
	const struct layer_conf *layers = model->layers.items;
	struct dnn *dnn = dnn_new("in place");

	for (size_t i = 0; i < model->layers.count; i++)
		dnn_add_layer(dnn, layers[i].name ? layers[i].name : "layer", layers[i].gradient,
			      layers[i].forward, layers[i].backward);
	return dnn;
}

static struct dnn *load_dnn(const struct job_group_conf *conf, char **error)
{
	struct dnn *dnn = conf->model.form == MODEL_NAMED ? dnn_load(conf->model.name, conf->gpu, error) :
							    dnn_in_place(&conf->model);

	if (!dnn)
		return NULL;
	if (conf->gradient_scale != 1)
		dnn_scale(dnn, conf->gradient_scale);
	if (conf->overlap == OVERLAP_NONE)
		dnn_fuse(dnn, UINT64_MAX); /* one layer, one tensor */
	else if (conf->fusion)
		dnn_fuse(dnn, conf->fusion);
	return dnn;
}

static void add_job(struct jobs *jobs, const struct job_group_conf *conf, const struct dnn *dnn, sim_time arrival,
		    uint32_t workers, int64_t iterations)
{
	jobs->jobs = array_reserve(jobs->jobs, jobs->count, &jobs->capacity, sizeof(*jobs->jobs));
	jobs->jobs[jobs->count++] = (struct job){
		.jobs = jobs,
		.conf = conf,
		.dnn = dnn,
		.arrival = arrival,
		.workers = workers,
		.iterations = iterations,
	};
	jobs->iterations_total += (double)iterations;
}

static bool add_trace(struct jobs *jobs, const struct job_group_conf *conf, const struct dnn *dnn,
		      const char *scenario, char **error)
{
	char *path = data_file_find(DATA_JOBS, conf->arrival.trace, scenario, error);
	struct job_trace trace;
	bool good = path && job_trace_load(&trace, path, error);
	size_t limit;

	if (!good) {
		free(path);
		return false;
	}
	limit = conf->arrival.limit && (size_t)conf->arrival.limit < trace.count ? (size_t)conf->arrival.limit :
										    trace.count;
	for (size_t i = 0; good && i < limit; i++) {
		uint64_t per = (uint64_t)conf->arrival.gpus_per_worker, workers = (trace.jobs[i].gpus + per - 1) / per;
		double duration = (double)trace.jobs[i].duration / conf->arrival.speedup;
		double once = (double)dnn->compute_total * conf->compute_scale;
		int64_t iterations = conf->iterations_form == ITERATIONS_NUMBER ? conf->iterations :
				     duration > once ? (int64_t)(duration / once + 0.5) :
						       1;

		if (workers > jobs->env.topo->net.hosts) {
			*error = xasprintf("%s: job %" PRIu64 " needs %" PRIu64 " workers, but the network has %" PRIu32
					   " hosts; see gpus_per_worker",
					   path, trace.jobs[i].id, workers, jobs->env.topo->net.hosts);
			good = false;
		} else {
			add_job(jobs, conf, dnn, (sim_time)((double)trace.jobs[i].submit / conf->arrival.speedup),
				(uint32_t)workers, iterations);
		}
	}
	job_trace_release(&trace);
	free(path);
	return good;
}

static uint32_t draw_workers(const struct job_group_conf *conf, struct rng *rng)
{
	switch ((enum workers_form)conf->workers.form) {
	case WORKERS_NUMBER:
		return (uint32_t)conf->workers.number;
	case WORKERS_RANGE:
		return (uint32_t)(conf->workers.min +
				  (int64_t)rng_below(rng, (uint64_t)(conf->workers.max - conf->workers.min + 1)));
	case WORKERS_HOSTS:
		return (uint32_t)conf->workers.hosts.count;
	}
	return 0;
}

static bool add_group(struct jobs *jobs, const struct job_group_conf *conf, size_t number, const char *scenario,
		      char **error)
{
	const struct dnn *dnn = jobs->dnns[number] = load_dnn(conf, error);
	sim_time at = conf->arrival.form == JOBS_AT ? conf->arrival.at : 0;
	struct rng gaps, sizes;

	if (!dnn)
		return false;
	if (conf->iterations_form == ITERATIONS_RULE && !dnn->compute_total) {
		*error = xasprintf("\"iterations\": \"duration\" needs a model that computes");
		return false;
	}
	if (conf->arrival.form == JOBS_TRACE)
		return add_trace(jobs, conf, dnn, scenario, error);
	rng_init(&gaps, jobs->env.sim->seed, "job arrivals", number);
	rng_init(&sizes, jobs->env.sim->seed, "job workers", number);
	for (int64_t i = 0; i < conf->count; i++) {
		if (conf->arrival.form == JOBS_POISSON)
			at += (sim_time)(rng_exponential(&gaps) * (double)conf->arrival.mean_gap) + 1;
		add_job(jobs, conf, dnn, at, draw_workers(conf, &sizes), conf->iterations);
	}
	return true;
}

/* By arrival; jobs of one instant in the order of the scenario. */
static int by_arrival(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	if (x->arrival != y->arrival)
		return x->arrival < y->arrival ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

struct jobs *jobs_new(const struct model_env *env, const struct job_group_conf *groups, size_t count,
		      void *const *schemes, sim_time latency, const char *scenario, const struct jobs_tables *tables,
		      char **error)
{
	struct jobs *jobs = xcalloc(1, sizeof(*jobs));

	jobs->env = *env;
	jobs->schemes = schemes;
	jobs->latency = latency;
	jobs->tables = *tables;
	jobs->group_count = count;
	jobs->dnns = xcalloc(count, sizeof(*jobs->dnns));
	cluster_init(&jobs->cluster, env->topo, (uint32_t)env->topo->conf->host.slots);
	timer_open(env->sim, &jobs->arrivals, SIM_CONTROL, sim_key(SIM_CONTROL, UINT64_C(1) << 40), on_arrivals, jobs);
	for (size_t i = 0; i < count; i++) {
		if (!add_group(jobs, &groups[i], i, scenario, error)) {
			jobs_free(jobs);
			return NULL;
		}
	}
	for (size_t i = 0; i < jobs->count; i++)
		jobs->jobs[i].number = (uint32_t)i;
	qsort(jobs->jobs, jobs->count, sizeof(*jobs->jobs), by_arrival);
	for (size_t i = 0; i < jobs->count; i++)
		jobs->jobs[i].number = (uint32_t)i;
	if (jobs->count)
		timer_set(env->sim, &jobs->arrivals, jobs->jobs[0].arrival);
	return jobs;
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	for (size_t i = 0; i < jobs->count; i++) {
		struct job *job = &jobs->jobs[i];

		if (job->instance)
			ops_of(job)->finish(job->instance);
		for (uint32_t w = 0; job->worker && w < job->workers; w++)
			free(job->worker[w].held);
		free(job->worker);
		free(job->hosts);
	}
	for (size_t i = 0; i < jobs->group_count; i++)
		dnn_free(jobs->dnns[i]);
	cluster_destroy(&jobs->cluster);
	free(jobs->dnns);
	free(jobs->jobs);
	free(jobs->records);
	free(jobs->durations);
	free(jobs);
}

/* --- questions --- */

size_t jobs_count(const struct jobs *jobs)
{
	return jobs->count;
}

size_t jobs_finished(const struct jobs *jobs)
{
	return jobs->finished;
}

size_t jobs_running(const struct jobs *jobs)
{
	return jobs->running;
}

const struct job_record *jobs_records(const struct jobs *jobs)
{
	return jobs->records;
}

const double *jobs_iterations(const struct jobs *jobs, size_t *count)
{
	*count = jobs->duration_count;
	return jobs->durations;
}

void jobs_stats(const struct jobs *jobs, struct collective_stats *stats)
{
	add_stats(stats, &jobs->stats);
	for (size_t i = 0; i < jobs->count; i++)
		if (jobs->jobs[i].instance)
			ops_of(&jobs->jobs[i])->stats(jobs->jobs[i].instance, stats);
}

double jobs_progress(const struct jobs *jobs)
{
	return jobs->iterations_total > 0 ? jobs->iterations_finished / jobs->iterations_total : 1;
}

void jobs_on_change(struct jobs *jobs, void (*changed)(void *owner), void *owner)
{
	jobs->changed = changed;
	jobs->owner = owner;
}

void jobs_write_unfinished(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		struct job *job = &jobs->jobs[i];

		if (job->state == JOB_OVER)
			continue;
		if (job->instance)
			ops_of(job)->stats(job->instance, &job->stats);
		write_job(job);
	}
}

void jobs_report_waiting(const struct jobs *jobs, FILE *to, size_t limit)
{
	for (size_t i = 0; i < jobs->count && limit; i++) {
		const struct job *job = &jobs->jobs[i];

		if (job->state == JOB_OVER)
			continue;
		limit--;
		if (job->state == JOB_WAITING) {
			fprintf(to, "  job %" PRIu32 " (%s): waits for %" PRIu32 " hosts or for switch memory\n",
				job->number, job->conf->name, job->workers);
			continue;
		}
		fprintf(to, "  job %" PRIu32 " (%s): %" PRId64 " of %" PRId64 " iterations\n", job->number,
			job->conf->name, job->iterations_done, job->iterations);
		if (job->instance)
			ops_of(job)->report_waiting(job->instance, to, 4);
	}
}
