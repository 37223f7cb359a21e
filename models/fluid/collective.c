#include "fluid/collective.h"

#include "base/mem.h"
#include "base/ring.h"
#include "transport/keys.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct tensor {
	bytes size;
	uint32_t given; /* workers that have handed the tensor over */
	sim_time due;   /* when all workers hold the tensor; set when its last stream has ended */
};

struct stream {
	struct instance *instance;
	const struct plan_stream *plan;
	uint32_t route;
	uint64_t next; /* present tensor if `busy`, else the next one */
	bool busy;
};

/* States of tensors, in the order of their numbers, and the first number of each next state:
 *
 *     held by all workers | streams have ended | handed over by all | handed over by some |
 *                        held                 sent                 ready                 count */
struct instance {
	struct fluid_scheme *scheme;
	struct collective_job job;
	void *admitted; /* what plan() returned */
	struct stream_plan plan;
	struct stream *streams;
	struct tensor *tensors; /* ring, from `held` to `count` */
	uint64_t mask;
	uint64_t held, sent, ready, count;
	struct plan_ramp ramp; /* present state of the windows */
	sim_time begin;        /* no stream begins before this, while windows grow */
	sim_time due;          /* of tensor `sent` - 1 */
	uint64_t *contributed; /* tensors handed over, by worker */
	struct timer timer;    /* for `begin`, or for the next tensor that is due */
};

static struct tensor *tensor_of(const struct instance *instance, uint64_t number)
{
	return &instance->tensors[number & instance->mask];
}

/* Sets the timer to `begin` or to the time of the next tensor that is due, whichever is first. */
static void wake(struct instance *instance)
{
	struct sim *sim = instance->scheme->sim;
	sim_time next = SIM_TIME_MAX;

	if (instance->held < instance->sent)
		next = tensor_of(instance, instance->held)->due;
	if (instance->begin > sim->now && instance->begin < next)
		next = instance->begin;
	if (next < SIM_TIME_MAX)
		timer_set(sim, &instance->timer, next);
}

/* --- streams --- */

static void start_ready(struct instance *instance)
{
	if (instance->scheme->sim->now < instance->begin)
		return;
	for (size_t i = 0; i < instance->plan.count; i++) {
		struct stream *stream = &instance->streams[i];
		const struct tensor *tensor = tensor_of(instance, stream->next);

		if (stream->busy || stream->next >= instance->ready)
			continue;
		if (instance->plan.in_turn && stream->next > instance->held)
			continue; /* some worker lacks the tensor before */
		stream->busy = true;
		fluid_start(instance->scheme->fluid, stream->route,
			    plan_wire_bytes(&stream->plan->packets, tensor->size));
	}
}

/* Whether all streams have finished a tensor. */
static bool all_sent(const struct instance *instance, uint64_t number)
{
	for (size_t i = 0; i < instance->plan.count; i++)
		if (instance->streams[i].next <= number)
			return false;
	return true;
}

static void on_stream_ended(void *owner, uint32_t route)
{
	struct stream *stream = owner;
	struct instance *instance = stream->instance;
	struct sim *sim = instance->scheme->sim;

	(void)route;
	stream->busy = false;
	stream->next++;
	for (; instance->sent < instance->ready && all_sent(instance, instance->sent);
	     instance->sent++) {
		struct tensor *tensor = tensor_of(instance, instance->sent);

		tensor->due = sim->now + plan_latency(&instance->plan, tensor->size);
		if (tensor->due < instance->due) /* tensors keep their order */
			tensor->due = instance->due;
		instance->due = tensor->due;
	}
	if (instance->held < instance->sent)
		wake(instance);
	start_ready(instance);
}

static void on_due(struct sim *sim, uint32_t entity, void *owner)
{
	struct instance *instance = owner;

	(void)entity;
	while (instance->held < instance->sent &&
	       tensor_of(instance, instance->held)->due <= sim->now) {
		uint64_t number = instance->held++;

		for (uint32_t w = 0; w < instance->job.workers; w++)
			instance->job.done(instance->job.owner, w, number);
	}
	wake(instance);
	start_ready(instance);
}

/* --- tensors --- */

/* Delays the next tensor by the time that growing windows lose. */
static void ramp_up(struct instance *instance, bytes size)
{
	sim_time now = instance->scheme->sim->now, lost;

	if (instance->held == instance->ready) /* nothing is in flight */
		plan_ramp_rest(&instance->ramp);
	lost = plan_ramp_tensor(&instance->plan, &instance->ramp, size);
	if (!lost)
		return;
	instance->begin = (instance->begin > now ? instance->begin : now) + lost;
	wake(instance);
}

static void contribute(void *self, uint32_t worker, bytes size)
{
	struct instance *instance = self;
	uint64_t number = instance->contributed[worker]++;

	if (number == instance->count) {
		instance->tensors = ring_reserve(instance->tensors, &instance->mask, instance->held,
						 number, sizeof(*instance->tensors));
		*tensor_of(instance, instance->count++) = (struct tensor){ .size = size };
	}
	SIM_BUG_ON(tensor_of(instance, number)->size != size); /* the same at all workers */
	if (++tensor_of(instance, number)->given < instance->job.workers)
		return;
	SIM_BUG_ON(number != instance->ready);
	ramp_up(instance, size);
	instance->ready++;
	start_ready(instance);
}

/* --- jobs --- */

static void open_streams(struct instance *instance)
{
	struct fluid *fluid = instance->scheme->fluid;
	double *idle = plan_idle_rates(&instance->plan, instance->scheme->net);
	bool share = fluid_shares(fluid);

	instance->streams = xcalloc(instance->plan.count, sizeof(*instance->streams));
	for (size_t i = 0; i < instance->plan.count; i++) {
		struct stream *stream = &instance->streams[i];
		const struct plan_stream *plan = &instance->plan.streams[i];
		struct plan_stream path = *plan;

		stream->instance = instance;
		stream->plan = plan;
		path.cap = share ? plan->cap : idle[i];
		stream->route = fluid_route_add(
			fluid, &path,
			FLUID_KEY_OF_JOB | (uint64_t)instance->job.number << FLUID_KEY_BITS | i,
			on_stream_ended, stream);
	}
	free(idle);
}

static void *start(void *self, const struct collective_job *job, const char **never)
{
	struct fluid_scheme *scheme = self;
	struct instance *instance;
	struct stream_plan plan = { 0 };
	void *admitted = scheme->ops->plan(scheme->scheme, job, &plan, never);

	if (!admitted)
		return NULL;
	instance = xcalloc(1, sizeof(*instance));
	instance->scheme = scheme;
	instance->job = *job;
	instance->admitted = admitted;
	instance->plan = plan;
	instance->ramp = plan.ramp;
	instance->contributed = xcalloc(job->workers, sizeof(*instance->contributed));
	timer_open(scheme->sim, &instance->timer, SIM_TIMER, timer_key(TIMER_FLUID, job->number),
		   on_due, instance);
	sim_name(scheme->sim, on_due, "sums reach the workers of job %n");
	open_streams(instance);
	return instance;
}

static void finish(void *self, bool abandoned)
{
	struct instance *instance = self;

	(void)abandoned;
	for (size_t i = 0; i < instance->plan.count; i++)
		fluid_route_remove(instance->scheme->fluid, instance->streams[i].route);
	timer_close(instance->scheme->sim, &instance->timer);
	instance->scheme->ops->withdraw(instance->admitted);
	plan_release(&instance->plan);
	free(instance->streams);
	free(instance->tensors);
	free(instance->contributed);
	free(instance);
}

static void stats(const void *self, struct collective_stats *sum)
{
	(void)self, (void)sum; /* all counters are of packets */
}

static uint64_t slots(const void *self)
{
	const struct instance *instance = self;
	const struct collective_ops *ops = instance->scheme->ops;

	return ops->slots ? ops->slots(instance->admitted) : 0;
}

static struct collective_actual ran_as(const void *self)
{
	const struct instance *instance = self;
	const struct collective_ops *ops = instance->scheme->ops;

	return ops->ran_as ? ops->ran_as(instance->admitted) : (struct collective_actual){ 0 };
}

static size_t report_waiting(const void *self, FILE *to, size_t limit)
{
	const struct instance *instance = self;

	if (!limit)
		return 0;
	fprintf(to,
		"  %s of job %" PRIu32 ": all workers hold %" PRIu64 " tensors; %" PRIu64
		" have been sent; all workers have handed over %" PRIu64 ", and some %" PRIu64 "\n",
		instance->scheme->ops->name, collective_job_number(&instance->job), instance->held,
		instance->sent, instance->ready, instance->count);
	return 1;
}

const struct collective_ops fluid_collective = {
	.name = "fluid",
	.start = start,
	.contribute = contribute,
	.finish = finish,
	.stats = stats,
	.slots = slots,
	.ran_as = ran_as,
	.report_waiting = report_waiting,
};
