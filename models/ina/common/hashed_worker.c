/* A worker under ATP and ESA: a window of gradient packets, results, a timer. */
#include "ina/common/hashed.h"
#include "transport/keys.h"

static sim_time now_of(const struct hashed_worker *worker)
{
	return worker->job->scheme->env.sim->now;
}

void hashed_worker_wake(struct hashed_worker *worker)
{
	nic_wake(&worker->job->scheme->env.topo->net.nics[worker->host], &worker->source);
}

/* Something to send? */
static bool has_more(const struct hashed_worker *worker)
{
	const struct hashed_job *job = worker->job;

	return window_has_lost(&worker->window) ||
	       window_may_send(&worker->window, tensors_available(&job->tensors, worker->number));
}

/* The timer runs no later than the first timeout: one pending event a worker, set
 * anew only when timeouts have become shorter. */
static void arm(struct hashed_worker *worker)
{
	sim_time at = window_timeout(&worker->window, now_of(worker));

	if (at >= worker->armed)
		return;
	worker->armed = at;
	timer_set(worker->job->scheme->env.sim, &worker->timer, at);
}

static void on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct hashed_worker *worker = owner;
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

/* The gradient packet of a piece. */
static void fill(struct hashed_worker *worker, uint64_t piece, bool again, struct packet *packet)
{
	struct hashed_job *job = worker->job;
	const struct hashed_ops *ops = job->scheme->ops;
	const struct hashed_server *server = server_of_piece(job, piece);
	struct bitmap self = server->racks.of_worker[worker->number];

	*packet = hashed_packet(server, piece, self, ops->index(worker, piece));
	packet->value = exact_contribution(&job->exact, worker->number, piece);
	packet_set_route(packet, racks_route(&server->racks, self));
	if (again)
		packet->flags |= PACKET_RETRANSMIT;
	if (ops->priority)
		packet->source |= (uint16_t)(ops->priority(worker, piece) << 8);
}

/* A new piece that leaves as a gradient packet. */
static bool next_piece(struct hashed_worker *worker, uint64_t *piece)
{
	const struct hashed_job *job = worker->job;
	const struct hashed_ops *ops = job->scheme->ops;

	while (window_may_send(&worker->window, tensors_available(&job->tensors, worker->number))) {
		*piece = window_send(&worker->window, now_of(worker));
		if (!ops->divert || !ops->divert(worker, *piece))
			return true;
		arm(worker);
	}
	return false;
}

static enum nic_pull worker_pull(void *owner, struct packet *packet)
{
	struct hashed_worker *worker = owner;
	uint64_t piece;
	bool again = window_take_lost(&worker->window, &piece, now_of(worker));

	if (!again && !next_piece(worker, &piece))
		return NIC_NOTHING;
	worker->retransmissions += again;
	fill(worker, piece, again, packet);
	arm(worker);
	return has_more(worker) ? NIC_MORE : NIC_LAST;
}

void hashed_worker_contribute(struct hashed_worker *worker, uint64_t pieces)
{
	tensors_add(&worker->job->tensors, worker->number, pieces);
	if (has_more(worker))
		hashed_worker_wake(worker);
}

void hashed_worker_accept(struct hashed_worker *worker, uint64_t piece, uint64_t value, bool marked,
			  const struct packet *packet)
{
	struct hashed_job *job = worker->job;
	uint64_t tensor;

	if (piece >= worker->window.next) {
		hashed_violated(job, worker->host, piece, "a result came before the contribution");
		return;
	}
	if (!window_result(&worker->window, piece, marked, now_of(worker))) {
		worker->stale++;
		return;
	}
	if (!exact_holds(&job->exact, piece, value)) {
		hashed_violated(job, worker->host, piece, "a wrong sum");
		return;
	}
	if (job->scheme->ops->accepted)
		job->scheme->ops->accepted(worker, piece, value, packet);
	if (window_has_lost(&worker->window))
		job->scheme->ops->lost(worker);
	if (has_more(worker))
		hashed_worker_wake(worker);
	arm(worker);
	if (tensors_result(&job->tensors, worker->number, piece, &tensor))
		job->job.done(job->job.owner, worker->number, tensor);
}

void hashed_worker_result(struct hashed_worker *worker, const struct packet *packet)
{
	if (__builtin_expect(packet->flags & PACKET_RETRANSMIT, 0))
		window_no_samples(&worker->window);
	hashed_worker_accept(worker, piece_near(worker->window.first, packet_piece(packet)),
			     packet->value, packet->flags & PACKET_CE, packet);
}

/* What pull() may start: its own timer and, where pieces are diverted, those of a message to the
 * server, which on the worker's own host takes no time. */
static bool is_prompt(const struct hashed_worker *worker)
{
	const struct hashed_job *job = worker->job;
	const struct hashed_scheme *scheme = job->scheme;
	const struct network *net = &scheme->env.topo->net;
	const struct window_conf *conf = &scheme->window;
	bool prompt = nic_prompt(net, conf->rto.first) || nic_prompt(net, conf->rto.least) ||
		      nic_prompt(net, conf->max_rto);

	if (!scheme->ops->divert)
		return prompt;
	prompt |= tcp_is_prompt(scheme->env.tcp);
	for (uint32_t q = 0; q < job->job.servers; q++)
		prompt |= job->job.server_hosts[q] == worker->host;
	return prompt;
}

void hashed_worker_init(struct hashed_worker *worker)
{
	struct hashed_job *job = worker->job;
	uint64_t key = timer_key_of_job(TIMER_HASHED_WORKER, job->job.number, worker->number);

	window_init(&worker->window, &job->scheme->window, job->frame, job->job.servers);
	worker->source = (struct nic_source){ .pull = worker_pull,
					      .owner = worker,
					      .prompt = is_prompt(worker) };
	worker->armed = SIM_TIME_MAX;
	timer_open(job->scheme->env.sim, &worker->timer, worker->host, SIM_TIMER, key, on_timeout,
		   worker);
	sim_name(job->scheme->env.sim, on_timeout, "timeout of job %j worker %w");
}

void hashed_worker_release(struct hashed_worker *worker)
{
	const struct model_env *env = &worker->job->scheme->env;

	nic_forget(&env->topo->net.nics[worker->host], &worker->source);
	timer_close(env->sim, &worker->timer);
	window_release(&worker->window);
}
