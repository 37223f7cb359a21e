/* A worker under ATP and ESA: a window of gradient packets, results, a timer. */
#include "ina/common/pool.h"
#include "transport/keys.h"

#include <inttypes.h>

static sim_time pool_now_of(const struct pool_worker *worker)
{
	return worker->base.job->scheme->env.sim->now;
}

/* Whether a new chunk may be sent. Counts the times that only the window forbids it. */
static bool pool_may_send(const struct pool_worker *worker)
{
	uint64_t available = ina_available(&worker->base);

	if (window_may_send(&worker->window, available))
		return true;
	pool_job(worker)->held_back += worker->window.next < available;
	return false;
}

static bool has_more(const struct pool_worker *worker)
{
	return window_has_lost(&worker->window) || pool_may_send(worker);
}

static sim_time pool_expires(const void *self)
{
	return window_due(&((const struct pool_worker *)self)->window);
}

static void pool_arm(struct pool_worker *worker)
{
	alarm_set(worker->base.job->scheme->env.sim, &worker->alarm,
		  window_timeout(&worker->window, pool_now_of(worker)));
}

static void pool_on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct pool_worker *worker = owner;

	(void)entity;
	window_expire(&worker->window, sim->now);
	alarm_set(sim, &worker->alarm, pool_expires(worker));
	if (!window_has_lost(&worker->window))
		return;
	why_timed_out(worker->base.job->tensors.why);
	if (pool_ops(pool_job(worker))->lost)
		pool_ops(pool_job(worker))->lost(worker);
	else
		ina_wake(&worker->base);
}

static void pool_fill(struct pool_worker *worker, uint64_t chunk, bool again, struct packet *packet)
{
	struct pool_job *job = pool_job(worker);
	const struct pool_ops *ops = pool_ops(job);
	const struct pool_server *server = pool_server_of_chunk(job, chunk);
	struct bitmap self = server->racks.of_worker[worker->base.number];

	pool_packet(packet, server, chunk, self, ops->index(worker, chunk));
	packet->value = exact_contribution(&job->base.exact, worker->base.number, chunk);
	packet_set_route(packet, racks_route(&server->racks, worker->base.number));
	if (again)
		packet->flags |= PACKET_RETRANSMIT;
	if (ops->priority)
		packet->source |= (uint16_t)(ops->priority(worker, chunk) << POOL_PRIORITY_SHIFT);
}

/* Takes the next new chunk that leaves as a gradient packet. Returns false if there is none. */
static bool next_chunk(struct pool_worker *worker, uint64_t *chunk)
{
	const struct pool_job *job = pool_job(worker);
	const struct pool_ops *ops = pool_ops(job);

	while (pool_may_send(worker)) {
		*chunk = window_send(&worker->window, pool_now_of(worker));
		if (!ops->divert || !ops->divert(worker, *chunk))
			return true;
		pool_arm(worker);
	}
	return false;
}

enum nic_pull pool_pull(void *owner, struct packet *packet)
{
	struct pool_worker *worker = owner;
	uint64_t chunk;
	bool again = window_take_lost(&worker->window, &chunk, pool_now_of(worker));

	if (!again && !next_chunk(worker, &chunk))
		return NIC_NOTHING;
	worker->base.job->stats.retransmissions += again;
	why_window(worker->base.job->tensors.why, worker->base.number, worker->window.cut);
	pool_fill(worker, chunk, again, packet);
	pool_arm(worker);
	return has_more(worker) ? NIC_MORE : NIC_LAST;
}

void pool_contribute(void *self, uint64_t first, uint64_t chunks)
{
	struct pool_worker *worker = self;

	(void)first, (void)chunks;
	if (has_more(worker))
		ina_wake(&worker->base);
}

void pool_worker_accept(struct pool_worker *worker, uint64_t chunk, uint64_t value, bool marked,
			const struct packet *packet)
{
	struct pool_job *job = pool_job(worker);

	if (chunk >= worker->window.next) {
		ina_violated(&job->base, ina_host(&worker->base), chunk,
			     "a result came before the contribution");
		return;
	}
	if (!window_result(&worker->window, chunk, marked, pool_now_of(worker))) {
		worker->base.job->stats.stale++;
		return;
	}
	if (!ina_holds(&worker->base, chunk, value))
		return;
	if (pool_ops(job)->accepted)
		pool_ops(job)->accepted(worker, chunk, value, packet);
	if (window_has_lost(&worker->window) && pool_ops(job)->lost)
		pool_ops(job)->lost(worker);
	if (has_more(worker))
		ina_wake(&worker->base);
	pool_arm(worker);
	ina_complete(&worker->base, chunk);
}

void pool_worker_result(struct pool_worker *worker, const struct packet *packet)
{
	if (__builtin_expect(packet->flags & PACKET_RETRANSMIT, 0))
		window_no_samples(&worker->window);
	pool_worker_accept(worker, chunk_near(worker->window.first, pool_chunk(packet)),
			   packet->value, packet->flags & PACKET_CE, packet);
}

/* Whether the NIC may call pull() late (net/nic.h). pull() sets the worker's timer and, where it
 * diverts chunks, the timers of a message to the server. If the server is on the worker's own host,
 * the message takes no time, and pull() may not be late. */
static bool pool_is_deferrable(const struct pool_worker *worker)
{
	const struct pool_job *job = pool_job(worker);
	const struct pool_scheme *scheme = pool_scheme(job);
	const struct network *net = &scheme->base.env.topo->net;
	const struct window_conf *conf = &scheme->window;

	if (pool_ops(job)->divert && !tcp_deferrable(scheme->base.env.tcp))
		return false;
	for (uint32_t q = 0; pool_ops(job)->divert && q < job->base.spec.servers; q++)
		if (job->base.spec.server_hosts[q] == ina_host(&worker->base))
			return false;
	return nic_deferrable(net, conf->rto.first) && nic_deferrable(net, conf->rto.min) &&
	       nic_deferrable(net, conf->max_rto);
}

void pool_worker_init(struct pool_worker *worker)
{
	struct pool_job *job = pool_job(worker);
	uint64_t key =
		timer_key_of_job(TIMER_POOL_WORKER, job->base.spec.number, worker->base.number);

	window_init(&worker->window, &pool_scheme(job)->window, job->base.scheme->frame,
		    job->base.spec.servers);
	worker->base.source.deferrable = pool_is_deferrable(worker);
	alarm_open(job->base.scheme->env.sim, &worker->alarm, key, pool_on_timeout, pool_expires,
		   worker);
	sim_name(job->base.scheme->env.sim, pool_on_timeout, "timeout of job %j worker %w");
}

void pool_worker_release(struct pool_worker *worker)
{
	alarm_close(worker->base.job->scheme->env.sim, &worker->alarm);
	window_release(&worker->window);
}

bool pool_waits(const void *self, char *text, size_t size)
{
	const struct pool_worker *worker = self;
	const struct window *window = &worker->window;

	snprintf(text, size, "waits for chunk %" PRIu64 " of %" PRIu64 ", %" PRIu64 " in flight",
		 window->first, ina_available(&worker->base), window->next - window->first);
	return window->first != window->next;
}
