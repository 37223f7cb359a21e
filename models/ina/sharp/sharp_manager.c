/* The aggregation manager: allots OSTs, trees for streams, and their locks. */
#include "ina/sharp/sharp.h"

#include "transport/keys.h"

#include <stdlib.h>

/* OSTs of a job at each switch. */
static uint64_t quota(const struct sharp_conf *conf)
{
	uint64_t osts = (uint64_t)((double)conf->osts * conf->quota + 1e-9); /* 0.29 of 100 is 29 */

	return osts ? osts : 1;
}

/* The window of a stream, in packets. */
static uint64_t window(const struct sharp_conf *conf)
{
	uint64_t packets = (conf->window + ina_payload(conf) - 1) / ina_payload(conf);

	return packets > 2 ? packets : 2;
}

uint64_t sharp_size(const struct sharp_conf *conf)
{
	uint64_t packets = window(conf), osts = quota(conf);

	return packets > osts ? packets : osts;
}

/* Memory of a tree for streams at a switch: a window of sums, and one of results. */
static bytes stream_memory(const struct sharp_conf *conf)
{
	return 2 * window(conf) * ina_payload(conf);
}

bytes sharp_memory(const struct sharp_conf *conf)
{
	return (bytes)conf->osts * ina_payload(conf) +
	       (bytes)(conf->trees ? conf->trees : conf->sat_trees) * stream_memory(conf);
}

/* --- over the switches of a job's tree --- */

static struct sharp_scheme *scheme_of(const struct sharp *job)
{
	return ((struct sharp_scheme *)job->base.scheme)->main;
}

static uint32_t switch_of(const struct sharp *job, uint32_t n)
{
	return job->base.tree.tree->nodes[n].sw;
}

static struct sharp_at *at(const struct sharp *job, uint32_t n)
{
	return &scheme_of(job)->at[switch_of(job, n)];
}

/* The job's static tree at its n-th switch. */
static struct sharp_place *place(const struct sharp *job, uint32_t n)
{
	uint32_t switches = job->base.scheme->env.topo->net.switches;

	return &scheme_of(job)->places[job->base.tree_number * switches + switch_of(job, n)];
}

static void sharp_reserve(const struct sharp *job, int64_t bytes_more)
{
	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++)
		collective_reserve(&scheme_of(job)->base.memory[switch_of(job, n)],
				   job->base.scheme->env.sim->now, bytes_more);
}

static uint64_t free_osts(const struct sharp *job)
{
	uint64_t min = UINT64_MAX;

	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++) {
		uint64_t left = (uint64_t)sharp_conf(job)->osts - at(job, n)->osts;

		min = left < min ? left : min;
	}
	return min;
}

/* Dynamic: whether each switch has room for one more tree. Static: whether no job has locked any
 * part of the tree. */
static bool tree_is_free(const struct sharp *job)
{
	const struct sharp_conf *conf = sharp_conf(job);

	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++)
		if (conf->trees ? !!place(job, n)->owner
				: at(job, n)->sat_trees == (uint64_t)conf->sat_trees)
			return false;
	return true;
}

/* Takes the tree, or (`take` is false) gives it back. */
static void take_tree(struct sharp *job, bool take)
{
	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++)
		if (sharp_conf(job)->trees)
			place(job, n)->owner = take ? job : NULL;
		else
			at(job, n)->sat_trees += take ? 1 : (uint64_t)-1;
	sharp_reserve(job, (take ? 1 : -1) * (int64_t)stream_memory(sharp_conf(job)));
}

/* Whether no other job streams over any part of the job's static tree. */
static bool is_alone(const struct sharp *job)
{
	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++)
		if (place(job, n)->jobs)
			return false;
	return true;
}

static void join_tree(struct sharp *job, bool join)
{
	if (sharp_conf(job)->trees && job->streams)
		for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++)
			place(job, n)->jobs += join ? 1 : (uint32_t)-1;
}

static void take_osts(struct sharp *job, bool take)
{
	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++)
		at(job, n)->osts += take ? job->osts : -job->osts;
	sharp_reserve(job, (take ? 1 : -1) * (int64_t)(job->osts * ina_payload(sharp_conf(job))));
}

/* --- jobs --- */

/* A job cannot have a tree for its life: notes what it does instead. Returns false if it waits. */
static bool admit_without(struct sharp *job)
{
	const struct sharp_conf *conf = sharp_conf(job);
	int without_lock = conf->without_lock;

	if (without_lock == SHARP_WAIT &&
	    ((struct sharp_scheme *)job->base.scheme)->kind == SHARP_ALL_GATHER)
		without_lock = SHARP_HOSTS; /* the all-gather's job has begun, and cannot wait */
	job->actual = (struct collective_actual){
		.scheme = without_lock == SHARP_HOSTS ? "ring" : NULL,
		.key = conf->trees ? "lock" : "sat_trees",
		.what = conf->trees ? "SAT locks" : "SAT trees",
		.of = 1,
	};
	job->base.to_hosts = job->actual.scheme;
	return without_lock != SHARP_WAIT;
}

bool sharp_admit(void *self, const char **never)
{
	struct sharp *job = self;
	const struct sharp_scheme *scheme = (struct sharp_scheme *)job->base.scheme;
	const struct sharp_conf *conf = sharp_conf(job);
	uint64_t left = free_osts(job);
	uint32_t passing = ina_passing(&job->base, switch_of(job, 0));

	job->osts = quota(conf);
	if (passing != TREE_NONE && scheme->kind != SHARP_ALL_GATHER) {
		*never = ina_refusal(job->base.scheme, passing);
		return false;
	}
	if (passing != TREE_NONE) {
		job->base.to_hosts = true;
		job->actual = (struct collective_actual){ .scheme = "ring",
							  .key = "aggregation",
							  .what = "trees whose switches all add up",
							  .of = 1 };
		return true;
	}
	if (scheme->picky && (left < job->osts || !is_alone(job)))
		return false;
	if (left < job->osts) {
		job->base.to_hosts = true;
		job->actual = (struct collective_actual){ .scheme = "ring",
							  .key = "quota",
							  .what = "OSTs",
							  .has = left,
							  .of = job->osts };
		return true;
	}
	job->owns = job->streams = !conf->trees || conf->lock == SHARP_EXCLUSIVE;
	if (job->owns && !tree_is_free(job)) {
		job->owns = job->streams = false;
		if (!admit_without(job))
			return false;
	}
	if (job->base.to_hosts)
		return true;
	job->streams |= conf->trees && conf->lock == SHARP_OPERATION;
	take_osts(job, true);
	join_tree(job, true);
	if (job->owns)
		take_tree(job, true);
	return true;
}

/* Of static trees, takes the first that has the job's resources and over which no other job
 * streams, beginning with the tree of the job's number. If there is none, takes the tree of its
 * number. */
struct sharp *sharp_choose_tree(struct sharp_scheme *scheme, const struct collective_job *spec,
				const char **never)
{
	const struct sharp_conf *conf = scheme->base.conf;
	uint64_t trees = (uint64_t)conf->trees;
	struct sharp *job = NULL;

	*never = NULL;
	scheme->picky = true;
	for (uint64_t i = 0; i < trees && !job && !*never; i++)
		job = ina_admit_to(scheme, spec, (spec->number + i) % trees, never);
	scheme->picky = false;
	if (job || *never)
		return job;
	return ina_admit_to(scheme, spec, trees ? spec->number % trees : spec->number, never);
}

void sharp_withdraw(void *self)
{
	struct sharp *job = self;

	if (job->base.to_hosts)
		return;
	if (job->owns)
		take_tree(job, false);
	join_tree(job, false);
	take_osts(job, false);
}

/* --- locks by operation --- */

static void wake_all(struct sharp *job)
{
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		ina_wake(ina_worker(&job->base, w));
}

static void on_lock(struct sim *sim, uint32_t entity, void *self)
{
	struct sharp *job = self;

	(void)sim, (void)entity;
	job->lock = SHARP_HELD;
	wake_all(job);
}

static void grant(struct sharp *job)
{
	struct sim *sim = job->base.scheme->env.sim;

	take_tree(job, true);
	job->lock = SHARP_COMING;
	timer_set(sim, &job->timer, sim->now + sharp_conf(job)->lock_time);
}

static void grant_waiting(struct sharp_scheme *scheme)
{
	struct sharp **link = &scheme->queue;

	while (*link) {
		struct sharp *job = *link;

		if (tree_is_free(job)) {
			*link = job->behind;
			grant(job);
		} else {
			link = &job->behind;
		}
	}
}

/* Queues the job for a lock, for the operation on `tensor`, whose chunks end at `end`. */
static void request(struct sharp *job, uint64_t tensor, uint64_t end)
{
	struct sharp **last = &scheme_of(job)->queue;

	job->operation = tensor;
	job->operation_end = end;
	job->finished = 0;
	job->lock = SHARP_QUEUED;
	while (*last)
		last = &(*last)->behind;
	job->behind = NULL;
	*last = job;
	grant_waiting(scheme_of(job));
}

static void unlock(struct sharp *job)
{
	struct sharp **link = &scheme_of(job)->queue;

	if (job->lock == SHARP_QUEUED) {
		while (*link != job)
			link = &(*link)->behind;
		*link = job->behind;
	} else if (job->lock != SHARP_UNLOCKED) {
		take_tree(job, false);
	}
	job->lock = SHARP_UNLOCKED;
	grant_waiting(scheme_of(job));
}

enum sharp_mode sharp_mode(struct sharp *job, const struct sharp_worker *worker)
{
	uint64_t chunks = worker->tensor_end - worker->tensor_first;

	if (!job->streams || chunks * ina_payload(sharp_conf(job)) < sharp_conf(job)->threshold)
		return SHARP_LLT;
	if (job->owns)
		return SHARP_SAT;
	if (worker->result < worker->tensor_first)
		return SHARP_LOCK_FIRST; /* operations do not overlap */
	if (job->lock == SHARP_UNLOCKED)
		request(job, worker->tensor, worker->tensor_end);
	return job->lock == SHARP_HELD && job->operation == worker->tensor ? SHARP_SAT
									   : SHARP_LOCK_FIRST;
}

void sharp_worker_has(struct sharp *job, uint64_t end)
{
	if (job->lock != SHARP_HELD || end != job->operation_end ||
	    ++job->finished < job->base.spec.workers)
		return;
	unlock(job);
	wake_all(job);
}

void sharp_lock_open(struct sharp *job)
{
	struct sim *sim = job->base.scheme->env.sim;

	timer_open(sim, &job->timer, SIM_TIMER,
		   timer_key_of_job(sharp_timer(job), job->base.spec.number, SHARP_KEY_LOCK),
		   on_lock, job);
	sim_name(sim, on_lock, "SHARP lock of job %j");
}

void sharp_lock_close(struct sharp *job)
{
	unlock(job);
	timer_close(job->base.scheme->env.sim, &job->timer);
}
