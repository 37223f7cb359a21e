/* A worker under ATP and ESA: a window of gradient packets, results, a timer. */
#include "ina/common/pool.h"
#include "transport/keys.h"

static sim_time now_of(const struct pool_worker *worker)
{
	return worker->job->scheme->env.sim->now;
}

void pool_worker_wake(struct pool_worker *worker)
{
	nic_wake(&worker->job->scheme->env.topo->net.nics[worker->host], &worker->source);
}

/* Something to send? */
static bool has_more(const struct pool_worker *worker)
{
	const struct pool_job *job = worker->job;

	return window_has_lost(&worker->window) ||
	       window_may_send(&worker->window, tensors_available(&job->tensors, worker->number));
}

/* The timer runs no later than the first timeout: one pending event a worker, set
 * anew only when timeouts have become shorter. */
static void arm(struct pool_worker *worker)
{
	sim_time at = window_timeout(&worker->window, now_of(worker));

	if (at >= worker->armed)
		return;
	worker->armed = at;
	timer_set(worker->job->scheme->env.sim, &worker->timer, at);
}

static void on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct pool_worker *worker = owner;
	sim_time again;

	(void)entity;
	worker->armed = SIM_TIME_MAX;
	again = window_expire(&worker->window, sim->now);
	if (again != SIM_TIME_MAX) {
		worker->armed = again;
		timer_set(sim, &worker->timer, again);
	}
	if (window_has_lost(&worker->window))
		worker->job->scheme->ops->lost(worker);
}

/* The gradient packet of a chunk. */
static void fill(struct pool_worker *worker, uint64_t chunk, bool again, struct packet *packet)
{
	struct pool_job *job = worker->job;
	const struct pool_ops *ops = job->scheme->ops;
	const struct pool_server *server = server_of_chunk(job, chunk);
	struct bitmap self = server->racks.of_worker[worker->number];

	*packet = pool_packet(server, chunk, self, ops->index(worker, chunk));
	packet->value = exact_contribution(&job->exact, worker->number, chunk);
	packet_set_route(packet, racks_route(&server->racks, self));
	if (again)
		packet->flags |= PACKET_RETRANSMIT;
	if (ops->priority)
		packet->source |= (uint16_t)(ops->priority(worker, chunk) << 8);
}

/* A new chunk that leaves as a gradient packet. */
static bool next_chunk(struct pool_worker *worker, uint64_t *chunk)
{
	const struct pool_job *job = worker->job;
	const struct pool_ops *ops = job->scheme->ops;

	while (window_may_send(&worker->window, tensors_available(&job->tensors, worker->number))) {
		*chunk = window_send(&worker->window, now_of(worker));
		if (!ops->divert || !ops->divert(worker, *chunk))
			return true;
		arm(worker);
	}
	return false;
}

static enum nic_pull worker_pull(void *owner, struct packet *packet)
{
	struct pool_worker *worker = owner;
	uint64_t chunk;
	bool again = window_take_lost(&worker->window, &chunk, now_of(worker));

	if (!again && !next_chunk(worker, &chunk))
		return NIC_NOTHING;
	worker->retransmissions += again;
	fill(worker, chunk, again, packet);
	arm(worker);
	return has_more(worker) ? NIC_MORE : NIC_LAST;
}

void pool_worker_contribute(struct pool_worker *worker, uint64_t chunks)
{
	tensors_add(&worker->job->tensors, worker->number, chunks);
	if (has_more(worker))
		pool_worker_wake(worker);
}

void pool_worker_accept(struct pool_worker *worker, uint64_t chunk, uint64_t value, bool marked,
			const struct packet *packet)
{
	struct pool_job *job = worker->job;
	uint64_t tensor;

	if (chunk >= worker->window.next) {
		pool_violated(job, worker->host, chunk, "a result came before the contribution");
		return;
	}
	if (!window_result(&worker->window, chunk, marked, now_of(worker))) {
		worker->stale++;
		return;
	}
	if (!exact_holds(&job->exact, chunk, value)) {
		pool_violated(job, worker->host, chunk, "a wrong sum");
		return;
	}
	if (job->scheme->ops->accepted)
		job->scheme->ops->accepted(worker, chunk, value, packet);
	if (window_has_lost(&worker->window))
		job->scheme->ops->lost(worker);
	if (has_more(worker))
		pool_worker_wake(worker);
	arm(worker);
	if (tensors_result(&job->tensors, worker->number, chunk, &tensor))
		job->job.done(job->job.owner, worker->number, tensor);
}

void pool_worker_result(struct pool_worker *worker, const struct packet *packet)
{
	if (__builtin_expect(packet->flags & PACKET_RETRANSMIT, 0))
		window_no_samples(&worker->window);
	pool_worker_accept(worker, chunk_near(worker->window.first, packet_chunk(packet)),
			   packet->value, packet->flags & PACKET_CE, packet);
}

/* What pull() may start: its own timer and, where chunks are diverted, those of a message to the
 * server, which on the worker's own host takes no time. */
static bool is_deferrable(const struct pool_worker *worker)
{
	const struct pool_job *job = worker->job;
	const struct pool_scheme *scheme = job->scheme;
	const struct network *net = &scheme->env.topo->net;
	const struct window_conf *conf = &scheme->window;

	if (scheme->ops->divert && !tcp_deferrable(scheme->env.tcp))
		return false;
	for (uint32_t q = 0; scheme->ops->divert && q < job->job.servers; q++)
		if (job->job.server_hosts[q] == worker->host)
			return false;
	return nic_deferrable(net, conf->rto.first) && nic_deferrable(net, conf->rto.least) &&
	       nic_deferrable(net, conf->max_rto);
}

void pool_worker_init(struct pool_worker *worker)
{
	struct pool_job *job = worker->job;
	uint64_t key = timer_key_of_job(TIMER_POOL_WORKER, job->job.number, worker->number);

	window_init(&worker->window, &job->scheme->window, job->frame, job->job.servers);
	worker->source = (struct nic_source){ .pull = worker_pull,
					      .owner = worker,
					      .deferrable = is_deferrable(worker) };
	worker->armed = SIM_TIME_MAX;
	timer_open(job->scheme->env.sim, &worker->timer, SIM_TIMER, key, on_timeout, worker);
	sim_name(job->scheme->env.sim, on_timeout, "timeout of job %j worker %w");
}

void pool_worker_release(struct pool_worker *worker)
{
	const struct model_env *env = &worker->job->scheme->env;

	nic_forget(&env->topo->net.nics[worker->host], &worker->source);
	timer_close(env->sim, &worker->timer);
	window_release(&worker->window);
}
