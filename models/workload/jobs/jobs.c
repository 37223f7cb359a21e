#include "workload/jobs/jobs.h"

#include "base/mem.h"
#include "net/sched.h"
#include "topo/detours.h"
#include "workload/jobs/jobs_parts.h"
#include "workload/offered.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys of timers of SIM_CONTROL: groups of flows use their numbers (flows.c), jobs 2^32 plus their
 * numbers, the arrivals of jobs 2^40, and models/run 2^41 and above. */
#define KEY_OF_JOBS     (UINT64_C(1) << 32)
#define KEY_OF_ARRIVALS (UINT64_C(1) << 40)

/* --- the life of a job --- */

static void job_begin(struct job *job)
{
	job->state = JOB_RUNNING;
	job->start = job->mark = job->moved = job->jobs->env.sim->now;
	job->behind = job->ranks;
	why_job_begin(job->why);
	for (uint32_t w = 0; w < job->ranks; w++)
		job->worker[w].spent = job->start;
	for (uint32_t w = 0; w < job->ranks; w++)
		worker_begin(&job->worker[w]);
}

/* Ends all collectives of a job; `abandoned`: although workers still lack sums. */
static void leave_scheme(struct job *job, bool abandoned)
{
	job_exchange_stats(job, &job->stats);
	job_end_exchanges(job, abandoned);
	why_job_end(job->why);
	collective_stats_add(&job->jobs->stats, &job->stats);
}

/* Frees what a job has while it runs, hosts included. */
static void leave_hosts(struct job *job)
{
	struct jobs *jobs = job->jobs;

	jobs->report.running--;
	timer_close(jobs->env.sim, &job->timer);
	for (uint32_t w = 0; w < job->ranks; w++)
		worker_release(&job->worker[w]);
	free(job->worker);
	job->worker = NULL;
	job_forget_program(job);
	job_return_hosts(job);
}

/* Each NIC of a machine has an instance of its own, and each of these has waited. */
static void note_waited(const struct job *job)
{
	struct jobs_waited *worst = &job->jobs->report.waited;
	sim_time waited = (sim_time)job->stats.waited / machine_nics(job->jobs->env.machine);
	sim_time jct = job->finish - job->arrival;

	if (waited <= jct / 2)
		return;
	worst->count++;
	if (waited <= worst->waited)
		return;
	worst->group = job->conf;
	worst->job = job->number;
	worst->waited = waited;
	worst->jct = jct;
}

static void job_end(struct job *job)
{
	struct jobs *jobs = job->jobs;

	job->state = JOB_OVER;
	job->finish = job->mark;
	job_spent_end(job);
	leave_scheme(job, false);
	job->ideal = job_ideal(job);
	job_check_ideal(job);
	job_write(job);
	note_waited(job);
	if (job->measured)
		job_record(job);
	jobs->report.finished++;
	leave_hosts(job);
	jobs_resume(jobs);
	jobs_start_waiting(jobs);
	if (jobs->changed)
		jobs->changed(jobs->owner);
}

static char *failure_text(const struct job *job, const char *why)
{
	return xasprintf("failed at %.9f s: %s", seconds_of(job->jobs->env.sim->now), why);
}

void job_fail(struct job *job, const char *why)
{
	struct jobs *jobs = job->jobs;

	job->reason = failure_text(job, why);
	leave_scheme(job, true);
	job_write(job);
	job->state = JOB_FAILED;
	jobs->report.failed++;
	jobs->report.measured.failed += job->measured;
	jobs->report.iterations -= (double)(job->iterations - job->iterations_done);
	leave_hosts(job);
	jobs_resume(jobs);
	if (jobs->changed)
		jobs->changed(jobs->owner);
}

static void on_move(struct job *job)
{
	const char *why = job_move(job);

	if (why) {
		job_fail(job, why);
		jobs_start_waiting(job->jobs);
	} else if (job->state == JOB_WAITING) { /* its hosts failed before it could begin */
		job_begin(job);
	}
}

/* The job moves, because restart_delay is over; or it ends, because its last iteration is over; or
 * it begins, because the controller's message has reached the workers. */
static void on_job_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct job *job = owner;

	(void)sim, (void)entity;
	if (job->moving) {
		on_move(job);
		return;
	}
	if (job->iterations_done == job->iterations)
		job_end(job);
	else
		job_begin(job);
}

static void make_workers(struct job *job)
{
	struct sim *sim = job->jobs->env.sim;

	job->worker = xcalloc(job->ranks, sizeof(*job->worker));
	for (uint32_t w = 0; w < job->ranks; w++)
		worker_init(&job->worker[w], job, w);
	timer_open(sim, &job->timer, SIM_CONTROL, sim_key(SIM_CONTROL, KEY_OF_JOBS | job->number),
		   on_job_timer, job);
	sim_name(sim, on_job_timer, "controller of job %w");
}

/* Counts a job, once, that runs as another scheme. */
static void count_substituted(struct job *job)
{
	job->jobs->report.substituted += !job->substituted;
	job->substituted = true;
}

bool job_fall_back(struct job *job)
{
	const struct jobs *jobs = job->jobs;
	char *before = job->ran_as;
	unsigned scheme = job_group_falls_back(job->conf);

	if (scheme == SCHEME_COUNT || job->fell_back)
		return false;
	job->fell_back = true;
	if (before) { /* else nothing has run yet */
		job->ran_as = xasprintf("%s then %s (%.9f s)", before, scheme_names[scheme],
					seconds_of(jobs->env.sim->now));
		count_substituted(job);
	}
	free(before);
	return true;
}

enum admission { ADMIT_NOW, ADMIT_LATER, ADMIT_NEVER };

struct collective_job job_spec(struct job *job)
{
	const uint32_t *hosts = job->hosts;
	/* a job that has fallen back to servers, but has none, gets one on each worker's host */
	bool beside = job->fell_back && !job->servers && job_reduces(job)->ops->servers;

	return (struct collective_job){
		.number = job->number * job->jobs->instances,
		.instances = job->jobs->instances,
		.workers = job->workers,
		.hosts = hosts,
		.listed = job_hosts_listed(job),
		.servers = beside ? job->workers : job->servers,
		.server_hosts = !hosts || beside ? hosts : hosts + job->workers,
		.gpus = job->conf->inside == INSIDE_RING ? job->gpus : 1,
		.gradients = job->gradients,
		.tensors = (uint64_t)job->iterations * job->dnn->tensor_count,
	};
}

/* Tells --why of a job that has got its hosts. */
static void admit_to_why(struct job *job)
{
	const struct network *net = &job->jobs->env.topo->net;
	uint32_t *hosts;

	if (!why_of(net))
		return;
	hosts = xcalloc(job->ranks, sizeof(*hosts));
	for (uint32_t r = 0; r < job->ranks; r++)
		hosts[r] = job_rank_nic(job, r);
	why_set_instances(net, job->jobs->instances);
	job->why = why_job_admit(net, job->number, job->conf->name,
				 scheme_names[job_group_reduces(job->conf)], job->ranks, hosts,
				 (uint64_t)job->iterations);
	free(hosts);
}

/* Takes both hosts and switch memory, or neither. *never gets the reason for ADMIT_NEVER. */
static enum admission admit(struct job *job, const char **never)
{
	struct jobs *jobs = job->jobs;

	*never = NULL;
	if (!job_take_hosts(job))
		return ADMIT_LATER;
	/* Replace hosts that are cut off. If too few are free, wait: a job that ends frees more. */
	if (!job_hosts_listed(job) && job_is_cut_off(job) && !job_replace_hosts(job) &&
	    jobs->report.running) {
		job_return_hosts(job);
		return ADMIT_LATER;
	}
	admit_to_why(job);
	if (job_is_cut_off(job))
		*never = "no way between its hosts is left";
	else if (job_start_exchanges(job, never))
		return ADMIT_NOW;
	job_return_hosts(job);
	/* if no job runs, none could give memory back */
	if (!jobs->report.running && job->grouped && !*never)
		*never = "no switch memory for all groups of its ranks at once";
	if (!jobs->report.running && machine_nics(jobs->env.machine) > 1 && !*never)
		*never = "no switch memory for all NICs of its machines";
	if (jobs->may_change && detours_any(jobs->env.topo))
		*never = NULL; /* a repair may help */
	return *never ? ADMIT_NEVER : ADMIT_LATER;
}

static void job_refuse(struct job *job, const char *why)
{
	struct jobs *jobs = job->jobs;

	if (detours_any(jobs->env.topo)) {
		job->reason = failure_text(job, why);
		job->state = JOB_FAILED;
		jobs->report.failed++;
		jobs->report.measured.failed += job->measured;
	} else {
		job->reason = xstrdup(why);
		job->state = JOB_REFUSED;
		jobs->report.refused++;
		jobs->report.measured.refused += job->measured;
	}
	jobs->report.iterations -= (double)job->iterations;
	job_write(job);
	if (jobs->changed)
		jobs->changed(jobs->owner);
}

/* Counts a job that does not run as the scenario says, by what it runs as. */
static void count_otherwise(struct job *job)
{
	struct jobs *jobs = job->jobs;
	size_t i = 0;

	while (i < jobs->report.otherwise_count &&
	       (!job_groups_alike(jobs->report.otherwise[i].group, job->conf) ||
		strcmp(jobs->report.otherwise[i].ran_as, job->ran_as)))
		i++;
	if (i == jobs->report.otherwise_count) {
		jobs->report.otherwise =
			array_reserve(jobs->report.otherwise, i, &jobs->otherwise_capacity,
				      sizeof(*jobs->report.otherwise));
		jobs->report.otherwise[jobs->report.otherwise_count++] =
			(struct jobs_otherwise){ .group = job->conf,
						 .ran_as = xstrdup(job->ran_as) };
	}
	jobs->report.otherwise[i].count++;
}

char *job_group_scheme(const struct job_group_conf *conf, const char *reduces, const char *gathers,
		       char *text)
{
	snprintf(text, JOB_SCHEME_SIZE, "%s%s%s", reduces, conf->all_gather_given ? " + " : "",
		 conf->all_gather_given ? gathers : "");
	return text;
}

/* What an exchange runs as, if not as the scenario says; else all zero. */
static struct collective_actual runs_as(const struct job_exchange *exchange)
{
	if (!exchange || !exchange->instance || !exchange->ops->ran_as)
		return (struct collective_actual){ 0 };
	return exchange->ops->ran_as(exchange->instance);
}

/* Of a program: what its groups of several ranks run as, as "all_reduce data: switchml; all_gather
 * data: ring". */
static char *program_ran_as(const struct job *job, bool *otherwise)
{
	char *all = NULL, text[COLLECTIVE_ACTUAL_SIZE];

	for (size_t g = 0; g < job->program->group_count; g++) {
		const struct job_exchange *exchange = &job->exchanges[g];
		enum program_op op = exchange->group->op;
		struct collective_actual actual = runs_as(exchange);
		const struct collective_ops *ops = exchange->ops == &machine_collective
							   ? exchange->machine.inner.ops
							   : exchange->ops;
		const char *scheme = scheme_names[SCHEME_ring];
		char *one, *longer;

		if (op > OP_ALL_GATHER || !exchange->instance)
			continue;
		if (ops != job_group_ops(SCHEME_ring, op))
			scheme = ops->name;
		*otherwise |= actual.scheme || actual.what;
		collective_actual_text(&actual, scheme, text);
		one = xasprintf("%s %s: %s", program_op_names[op], exchange->group->name, text);
		if (!all || !strstr(all, one)) {
			longer = xasprintf("%s%s%s", all ? all : "", all ? "; " : "", one);
			free(all);
			all = longer;
		}
		free(one);
	}
	return all ? all : xstrdup("none");
}

/* Sets job->ran_as. */
static void note_ran_as(struct job *job)
{
	const char *given = scheme_names[job_group_reduces(job->conf)];
	const char *given_gathers = scheme_names[job_group_gathers(job->conf)];
	struct collective_actual actual = runs_as(job_reduction(job));
	struct collective_actual other = runs_as(job_exchange_of(job, OP_ALL_GATHER));
	char reduces[COLLECTIVE_ACTUAL_SIZE], gathers[COLLECTIVE_ACTUAL_SIZE];
	char text[JOB_SCHEME_SIZE];

	if (job->conf->program) {
		bool otherwise = false;

		job->ran_as = program_ran_as(job, &otherwise);
		if (otherwise)
			count_otherwise(job);
		return;
	}
	if (job->workers == 1 || !job_reduction(job)) {
		job->ran_as = xstrdup("none"); /* one machine, or one replica: nothing to send */
		return;
	}
	if (job->fell_back)
		actual.scheme = scheme_names[job_group_falls_back(job->conf)];
	collective_actual_text(&actual, given, reduces);
	collective_actual_text(&other, given_gathers, gathers);
	job->ran_as = xstrdup(job_group_scheme(job->conf, reduces, gathers, text));
	if (actual.scheme || other.scheme)
		count_substituted(job);
	if (actual.scheme || actual.what || other.scheme || other.what)
		count_otherwise(job);
}

/* A job has been admitted: its workers begin when the controller's message reaches them. */
static void job_launch(struct job *job)
{
	struct jobs *jobs = job->jobs;
	const struct job_exchange *reduction = job_reduction(job);

	jobs->report.running++;
	make_workers(job);
	job_spent_open(job);
	note_ran_as(job);
	if (reduction && reduction->ops->slots)
		job->slots = reduction->ops->slots(reduction->instance);
	timer_set(jobs->env.sim, &job->timer, jobs->env.sim->now + jobs->latency);
}

/* First come, first served: a job that does not fit holds up the jobs behind it. */
void jobs_start_waiting(struct jobs *jobs)
{
	while (jobs->queue_head < jobs->report.arrived) {
		struct job *job = &jobs->jobs[jobs->queue_head];
		const char *never;

		switch (admit(job, &never)) {
		case ADMIT_LATER:
			return;
		case ADMIT_NEVER:
			jobs->queue_head++;
			job_refuse(job, never);
			break;
		case ADMIT_NOW:
			jobs->queue_head++;
			job_launch(job);
			break;
		}
	}
}

static void on_arrivals(struct sim *sim, uint32_t entity, void *owner)
{
	struct jobs *jobs = owner;

	(void)entity;
	while (jobs->report.arrived < jobs->report.count &&
	       jobs->jobs[jobs->report.arrived].arrival <= sim->now)
		jobs->report.arrived++;
	jobs_start_waiting(jobs);
	if (jobs->report.arrived < jobs->report.count)
		timer_set(sim, &jobs->arrivals, jobs->jobs[jobs->report.arrived].arrival);
}

/* --- set-up --- */

static void add_job(struct jobs *jobs, const struct job_group_conf *conf, const struct dnn *dnn,
		    sim_time arrival, uint32_t workers, uint32_t gpus, int64_t iterations)
{
	struct job *job;

	jobs->jobs =
		array_reserve(jobs->jobs, jobs->report.count, &jobs->capacity, sizeof(*jobs->jobs));
	job = &jobs->jobs[jobs->report.count++];
	*job = (struct job){
		.jobs = jobs,
		.conf = conf,
		.dnn = dnn,
		.gradients = dnn->gradient_total,
		.arrival = arrival,
		.workers = workers,
		.ranks = job_group_ranks(conf, workers, gpus),
		.grouped = job_group_grouped(conf, gpus),
		.gpus = gpus,
		.servers = job_group_servers(conf, workers),
		.iterations = iterations,
		.stands_for = 1,
		.look_at = ESTIMATE_FROM,
	};
	if (!conf->max_steps || iterations <= conf->max_steps)
		return;
	job->iterations = conf->max_steps;
	job->stands_for = (double)iterations / (double)conf->max_steps;
	job->dnn = job->step = dnn_repeated(dnn, job->stands_for);
}

/* How many iterations a job of a trace has. */
static int64_t trace_iterations(const struct job_group_conf *conf, const struct dnn *dnn,
				const struct trace_job *job)
{
	double duration = (double)job->duration / conf->arrival.speedup;
	double once = (double)dnn->compute_total * conf->compute_scale;

	if (conf->iterations_form == ITERATIONS_NUMBER)
		return conf->iterations;
	return duration > once ? (int64_t)(duration / once + 0.5) : 1;
}

static void add_trace(struct jobs *jobs, const struct job_group_conf *conf,
		      struct rng *model_stream)
{
	for (size_t i = 0; i < conf->arrival.jobs->count; i++) {
		const struct trace_job *job = &conf->arrival.jobs->jobs[i];
		const struct dnn *dnn = job_models_draw(conf->models, model_stream);
		uint32_t workers = (uint32_t)job_trace_workers(conf, job);
		uint32_t gpus = machine_gpus(jobs->env.machine);

		if (workers == 1 && job->gpus < gpus)
			gpus = job->gpus; /* the rest of its machine is idle */
		add_job(jobs, conf, dnn, (sim_time)((double)job->submit / conf->arrival.speedup),
			workers, gpus, trace_iterations(conf, dnn, job));
		jobs->jobs[jobs->report.count - 1].trace_id = job->id;
	}
}

static uint32_t draw_workers(const struct job_group_conf *conf, struct rng *rng)
{
	struct workers_span span = workers_span(&conf->workers);

	return (uint32_t)(span.min + (int64_t)rng_below(rng, (uint64_t)(span.max - span.min + 1)));
}

/* How many jobs a group has if the run does not end before. */
static uint64_t group_limit(const struct job_group_conf *conf)
{
	if (conf->count)
		return (uint64_t)conf->count;
	return job_group_poisson(conf) ? UINT64_MAX : 1;
}

static void add_drawn(struct jobs *jobs, const struct job_group_conf *conf, size_t number,
		      struct rng *model_stream)
{
	const struct topology *topo = jobs->env.topo;
	sim_time at = conf->arrival.form == JOBS_AT ? conf->arrival.at : 0;
	double gap_ps = job_group_gap_s(conf, topo->net.hosts, topology_host_rate(topo->conf)) *
			(double)PS_PER_S;
	struct rng gaps, sizes, spread;

	rng_init(&gaps, jobs->env.sim->seed, "job arrivals", number);
	rng_init(&sizes, jobs->env.sim->seed, "job workers", number);
	rng_init(&spread, jobs->env.sim->seed, "job spread", number);
	for (uint64_t i = 0, limit = group_limit(conf); i < limit; i++) {
		if (job_group_poisson(conf))
			at = rng_after(&gaps, at, gap_ps);
		else if (conf->arrival.spread)
			at = conf->arrival.at + rng_below(&spread, conf->arrival.spread + 1);
		if (!conf->count && job_group_poisson(conf) && at >= jobs->end)
			return;
		add_job(jobs, conf, job_models_draw(conf->models, model_stream), at,
			draw_workers(conf, &sizes), machine_gpus(jobs->env.machine),
			conf->iterations);
	}
}

static void add_group(struct jobs *jobs, const struct job_group_conf *conf, size_t number)
{
	struct rng drawn;

	rng_init(&drawn, jobs->env.sim->seed, "job models", number);
	if (conf->arrival.form == JOBS_TRACE)
		add_trace(jobs, conf, &drawn);
	else
		add_drawn(jobs, conf, number, &drawn);
}

/* By arrival; then by number, which is the order of the scenario while jobs are sorted. */
static int by_arrival(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	if (x->arrival != y->arrival)
		return x->arrival < y->arrival ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Numbers all jobs by arrival, then drops the jobs of groups that are not enabled. */
static void number_jobs(struct jobs *jobs)
{
	size_t kept = 0;

	for (size_t i = 0; i < jobs->report.count; i++)
		jobs->jobs[i].number = (uint32_t)i; /* for by_arrival() */
	if (jobs->report.count)
		qsort(jobs->jobs, jobs->report.count, sizeof(*jobs->jobs), by_arrival);
	for (size_t i = 0; i < jobs->report.count; i++) {
		jobs->jobs[i].number = (uint32_t)i;
		if (!jobs->jobs[i].conf->enabled) {
			dnn_free(jobs->jobs[i].step);
			continue;
		}
		jobs->report.iterations += (double)jobs->jobs[i].iterations;
		jobs->jobs[i].measured = measured_has(&jobs->window, jobs->jobs[i].arrival);
		jobs->report.measured.count += jobs->jobs[i].measured;
		jobs->jobs[kept++] = jobs->jobs[i];
	}
	jobs->report.count = kept;
}

static void set_classes(const struct jobs *jobs)
{
	struct network *net = &jobs->env.topo->net;
	uint32_t count = 0;
	uint8_t *classes;

	if (!net->sched)
		return;
	for (size_t i = 0; i < jobs->report.count; i++)
		if (jobs->jobs[i].number >= count)
			count = jobs->jobs[i].number + 1;
	classes = xcalloc(count + 1, 1);
	for (size_t i = 0; i < jobs->report.count; i++)
		classes[jobs->jobs[i].number] = (uint8_t)jobs->jobs[i].conf->priority;
	sched_set_jobs(net, classes, count, jobs->instances);
	free(classes);
}

/* How many instances of schemes a job has at most: one for each NIC and each group, if groups have
 * numbers of their own. */
static uint32_t max_instances(const struct model_env *env, const struct job_group_conf *groups,
			      size_t count)
{
	uint64_t max = 1;

	for (size_t i = 0; i < count; i++) {
		uint64_t instances = job_group_instances(&groups[i], machine_gpus(env->machine));

		max = instances > max ? instances : max;
	}
	return (uint32_t)max * machine_nics(env->machine);
}

struct jobs *jobs_new(const struct model_env *env, const struct job_group_conf *groups,
		      size_t count, const struct scheme_run *schemes,
		      const struct cluster_conf *cluster, const struct jobs_times *times,
		      const struct jobs_tables *tables)
{
	struct jobs *jobs = xcalloc(1, sizeof(*jobs));

	jobs->env = *env;
	jobs->schemes = schemes;
	jobs->instances = max_instances(env, groups, count);
	jobs->latency = cluster->controller_latency;
	jobs->tables = *tables;
	jobs->end = times->end;
	jobs->estimate = times->estimate;
	jobs->window = times->window;
	cluster_init(&jobs->cluster, env->topo, env->machine);
	jobs->pool = cluster_conf_pool(cluster, machine_count(env->machine, env->topo->net.hosts),
				       &jobs->pool_count);
	cluster_withdraw(&jobs->cluster, jobs->pool, jobs->pool_count);
	timer_open(env->sim, &jobs->arrivals, SIM_CONTROL, sim_key(SIM_CONTROL, KEY_OF_ARRIVALS),
		   on_arrivals, jobs);
	sim_name(env->sim, on_arrivals, "arrivals of jobs");
	for (size_t i = 0; i < count; i++)
		add_group(jobs, &groups[i], i);
	number_jobs(jobs);
	set_classes(jobs);
	if (jobs->report.count)
		timer_set(env->sim, &jobs->arrivals, jobs->jobs[0].arrival);
	return jobs;
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	for (size_t i = 0; i < jobs->report.count; i++) {
		struct job *job = &jobs->jobs[i];

		job_end_exchanges(job, false);
		for (uint32_t w = 0; job->worker && w < job->ranks; w++)
			worker_release(&job->worker[w]);
		free(job->worker);
		free(job->hosts);
		free(job->ran_as);
		free(job->reason);
		free(job->past);
		job_spent_free(job);
		job_forget_program(job); /* which may be that of `step` */
		dnn_free(job->step);
	}
	for (size_t i = 0; i < jobs->report.otherwise_count; i++)
		free(jobs->report.otherwise[i].ran_as);
	free(jobs->report.otherwise);
	cluster_destroy(&jobs->cluster);
	free(jobs->pool);
	free(jobs->jobs);
	free(jobs->report.records);
	free(jobs->report.durations);
	free(jobs->report.cycles);
	free(jobs);
}

/* --- questions --- */

const struct jobs_report *jobs_report(const struct jobs *jobs)
{
	return &jobs->report;
}

size_t jobs_measured(const struct jobs *jobs, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < jobs->report.count; i++)
		count += jobs->jobs[i].measured && !strcmp(jobs->jobs[i].conf->name, name);
	return count;
}

const char *jobs_reason(const struct jobs *jobs, enum job_state state, const char **group)
{
	for (size_t i = 0; i < jobs->report.count; i++) {
		if (jobs->jobs[i].state != state)
			continue;
		*group = jobs->jobs[i].conf->name;
		return jobs->jobs[i].reason;
	}
	return NULL;
}

void jobs_stats(const struct jobs *jobs, struct collective_stats *stats)
{
	collective_stats_add(stats, &jobs->stats);
	for (size_t i = 0; i < jobs->report.count; i++) {
		const struct job *job = &jobs->jobs[i];

		if (job->state == JOB_OVER || job->state == JOB_FAILED)
			continue; /* in jobs->stats */
		collective_stats_add(stats, &job->stats);
		job_exchange_stats(job, stats);
	}
}

/* The fraction of this iteration's bytes that the first worker has. Counts packets if the scheme
 * does, otherwise whole parts of groups. */
static double part_done(const struct job *job)
{
	const struct program_cursor *cursor = &job->worker[0].cursor;
	const struct job_exchange *reduction = job_reduction(job);
	double all = 0, held = 0;
	double got = 0; /* 0 or less if the scheme counts no bytes of this job */

	if (reduction && reduction->whole && reduction->instance && reduction->ops->received)
		got = (double)reduction->ops->received(reduction->instance) /
			      (double)job->dnn->gradient_total -
		      (double)job->iterations_done;
	for (size_t n = 0; n < cursor->role->count; n++) {
		const struct program_node *node = &cursor->role->nodes[n];

		if (!(node->flags & NODE_SUM))
			continue;
		all += (double)node->amount;
		held += cursor->done[n] > job->iterations_done ? (double)node->amount : 0;
	}
	return fmax(all > 0 ? held / all : 0, fmin(got, 1));
}

double jobs_progress(const struct jobs *jobs)
{
	double done = jobs->report.iterations_finished;

	if (jobs->report.iterations <= 0)
		return 1;
	for (size_t i = 0; i < jobs->report.arrived; i++)
		if (jobs->jobs[i].state == JOB_RUNNING && jobs->jobs[i].worker &&
		    jobs->jobs[i].iterations_done < jobs->jobs[i].iterations)
			done += part_done(&jobs->jobs[i]);
	return done / jobs->report.iterations;
}

/* Whether any worker is in a task. */
static bool computes(const struct job *job)
{
	for (uint32_t w = 0; w < job->ranks; w++)
		if (job->worker[w].timed)
			return true;
	return false;
}

/* How long a job may run without progress: 1 s, plus 100 times what a ring would take for all that
 * the job exchanges. A ring sends most (twice the bytes). 1 s is longer than a timeout that has
 * doubled a few times. */
static sim_time patience(const struct job *job)
{
	double sent = (double)job->gradients * job->stands_for + (double)dnn_tokens(job->dnn) +
		      (double)job->conf->pipeline.activations * job->conf->gradient_scale;
	double ring_s = 2 * 8 * sent / (double)topology_host_rate(job->jobs->env.topo->conf);

	return PS_PER_S + (sim_time)(100 * ring_s * (double)PS_PER_S);
}

bool jobs_stalled(const struct jobs *jobs, sim_time *since)
{
	sim_time now = jobs->env.sim->now, min = 0;

	*since = 0;
	for (size_t i = 0; i < jobs->report.arrived; i++) {
		const struct job *job = &jobs->jobs[i];

		if (job->state != JOB_RUNNING)
			continue;
		if (computes(job) || job->moving)
			return false;
		*since = job->moved > *since ? job->moved : *since;
		min = patience(job) > min ? patience(job) : min;
	}
	return min && now - *since > min;
}

void jobs_on_change(struct jobs *jobs, void (*changed)(void *owner), void *owner)
{
	jobs->changed = changed;
	jobs->owner = owner;
}

void jobs_write_unfinished(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->report.count; i++) {
		struct job *job = &jobs->jobs[i];
		struct collective_stats before = job->stats;

		if (job->state == JOB_OVER || job->state == JOB_REFUSED || job->state == JOB_FAILED)
			continue;
		if (i >= jobs->report.arrived && !job->measured)
			continue; /* the run ended before it arrived */
		job_exchange_stats(job, &job->stats);
		job_write(job);
		job->stats = before; /* jobs_stats() adds what the instances have counted */
	}
}

/* The number of results that workers lack, of what they have handed over. */
static uint64_t outstanding(const struct job *job)
{
	uint64_t sum = 0;

	for (uint32_t w = 0; job->worker && w < job->ranks; w++)
		sum += job->worker[w].handed - job->worker[w].held;
	return sum;
}

void jobs_report_waiting(const struct jobs *jobs, FILE *to, size_t limit)
{
	for (size_t i = 0; i < jobs->report.count && limit; i++) {
		const struct job *job = &jobs->jobs[i];

		if (job->state == JOB_OVER)
			continue;
		limit--;
		if (job->state == JOB_FAILED || job->state == JOB_REFUSED) {
			fprintf(to, "  job %" PRIu32 " (%s): %s%s\n", job->number, job->conf->name,
				job->state == JOB_REFUSED ? "refused: " : "", job->reason);
			continue;
		}
		if (i >= jobs->report.arrived) {
			fprintf(to, "  job %" PRIu32 " (%s): would arrive at %.9f s\n", job->number,
				job->conf->name, seconds_of(job->arrival));
			continue;
		}
		if (job->state == JOB_WAITING) {
			fprintf(to,
				"  job %" PRIu32 " (%s): waits for %" PRIu32
				" hosts or for switch memory\n",
				job->number, job->conf->name,
				job->workers + job_group_own_servers(job->conf, job->workers));
			continue;
		}
		fprintf(to,
			"  job %" PRIu32 " (%s): %" PRId64 " of %" PRId64 " iterations, %" PRIu64
			" sums of tensors outstanding at its workers, no progress since %.9f s\n",
			job->number, job->conf->name, job->iterations_done, job->iterations,
			outstanding(job), seconds_of(job->moved));
		job_exchange_waiting(job, to, 4);
	}
}
