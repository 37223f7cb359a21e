/* The state of jobs in switches, for runs that repeat themselves (core/repeat.h). */
#include "ina/common/ina.h"

/* The fewest results of worker 0 between two marks. A mark costs as much as some packets of each
 * worker. */
#define MIN_RESULTS_PER_MARK 64

uint64_t ina_mark_distance(const struct ina_job *job)
{
	uint64_t period = job->scheme->ops->period(job);
	uint64_t min = (MIN_RESULTS_PER_MARK + period - 1) / period * period;

	return repeat_distance(job->scheme->env.repeat, min);
}

void ina_mark(struct ina_job *job)
{
	repeat_mark(job->scheme->env.repeat, job);
	job->mark += ina_mark_distance(job);
}

void ina_repeat_sum(struct ina_job *job, struct repeat *repeat, uint64_t *chunk, uint64_t *value)
{
	uint64_t weight = exact_weight(&job->exact, *chunk, *value);

	repeat_same(repeat, weight);
	repeat_number(repeat, chunk, &job->stream);
	if (repeat->moving)
		*value = weight * exact_chunk(&job->exact, *chunk);
}

const struct repeat_stream *ina_stream(const void *self, const struct packet *packet)
{
	const struct ina_job *job = ina_job_of(self, packet);

	return job ? &job->stream : NULL;
}

void ina_repeat_packet(void *self, struct repeat *repeat, struct packet *packet)
{
	struct ina_job *job = ina_job_of(self, packet);

	if (job) {
		ina_repeat_sum(job, repeat, &packet->chunk, &packet->value);
		return;
	}
	repeat_same(repeat, packet->chunk); /* the job is over: nobody waits for the packet */
	repeat_same(repeat, packet->value);
}

/* A skip lies within one tensor. The tensor's last chunks are always simulated: as many as are in
 * flight (at most one period; PANAMA, which has more, keeps them itself), and as many as lie
 * between two marks before a skip (less than MIN_RESULTS_PER_MARK + one period). */
static void repeat_tensors(struct ina_job *job, struct repeat *repeat, uint32_t w)
{
	struct tensors *tensors = &job->tensors;
	struct tensor_reader *reader = &tensors->readers[w];
	uint64_t t = reader->first_open;

	repeat_same(repeat, reader->chunks);
	repeat_same(repeat, reader->tensors);
	repeat_same(repeat, t);
	if (t < reader->tensors)
		repeat_left(repeat, &reader->left[t & tensors->mask],
			    MIN_RESULTS_PER_MARK + 2 * job->scheme->ops->period(job));
	while (++t < reader->tensors)
		repeat_same(repeat, reader->left[t & tensors->mask]);
}

static void repeat_job(struct ina_job *job, struct repeat *repeat)
{
	for (uint32_t w = 0; w < job->spec.workers; w++) {
		struct ina_worker *worker = ina_worker(job, w);

		repeat_tensors(job, repeat, w);
		repeat_count(repeat, &worker->results);
		repeat_same(repeat, worker->source.waiting);
		repeat_same(repeat, (uint32_t)worker->source.credit);
	}
	repeat_counts(repeat, (uint64_t *)&job->stats, sizeof(job->stats) / sizeof(uint64_t));
	if (repeat->moving && job->mark != UINT64_MAX)
		job->mark += repeat->periods * job->stream.step;
	job->scheme->ops->repeat(job, repeat);
}

static void repeat_memory(struct collective_memory *memory, struct repeat *repeat)
{
	if (!repeat->moving) /* brings the integral used_time up to now */
		collective_reserve(memory, repeat->sim->now, 0);
	repeat_time(repeat, &memory->changed);
	repeat_integral(repeat, &memory->used_time, memory->used_max_bytes);
	repeat_same(repeat, memory->used_bytes);
	repeat_same(repeat, memory->used_max_bytes);
	repeat_same(repeat, memory->draining_bytes);
	repeat_counts(repeat, (uint64_t *)&memory->stats, sizeof(memory->stats) / sizeof(uint64_t));
}

void ina_repeat(void *self, struct repeat *repeat)
{
	struct ina_scheme *scheme = self;

	for (size_t i = 0; i < scheme->jobs.count; i++) {
		struct ina_job *job = ina_find(&scheme->jobs, (uint32_t)i);
		uint64_t results;

		repeat_same(repeat, (uintptr_t)job);
		if (!job)
			continue;
		results = ina_worker(job, 0)->results;
		/* whole periods: a chunk's distance from the base tells which slot it uses */
		job->stream.base = results - results % scheme->ops->period(job);
		repeat_base(repeat, &job->stream);
	}
	for (size_t i = 0; i < scheme->jobs.count; i++)
		if (ina_find(&scheme->jobs, (uint32_t)i))
			repeat_job(ina_find(&scheme->jobs, (uint32_t)i), repeat);
	for (uint32_t s = 0; s < scheme->env.topo->net.switches; s++)
		repeat_memory(&scheme->memory[s], repeat);
}
