/* A server of "ps". It keeps copies of blocks until its host has added them, and sums until all
 * workers have them. */
#include "collective/ps.h"

#include "base/mem.h"
#include "base/ring.h"
#include "transport/keys.h"
#include "why/why.h"

#include <stdlib.h>

static struct block *block_at(const struct server *server, uint64_t number)
{
	return &server->blocks[number & server->block_mask];
}

static struct copy *copy_at(const struct server *server, uint64_t number)
{
	return &server->queue[number & server->queue_mask];
}

/* --- adding --- */

/* Adds the copy of a worker's next block. */
static void ps_server_add(struct server *server, uint32_t worker)
{
	struct ps *ps = server->ps;
	uint64_t number = server->added[worker]++;
	struct block *block;

	if (number == server->begun) {
		server->blocks = ring_reserve(server->blocks, &server->block_mask, server->oldest,
					      number, sizeof(*server->blocks));
		*block_at(server, server->begun++) = (struct block){ 0 };
	}
	block = block_at(server, number);
	block->sum += exact_contribution(&ps->exact, worker, ps_block_name(server->number, number));
	if (++block->copies == ps->job.workers)
		ps_sum_ready(server);
}

static void on_added(struct sim *sim, uint32_t entity, void *owner)
{
	struct server *server = owner;
	struct copy copy = *copy_at(server, server->queue_first++);

	(void)entity;
	why_work_ends(&server->ps->scheme->env.topo->net, server->ps->job.number, server->host,
		      copy.way);
	if (server->queue_first < server->queue_end)
		timer_set(sim, &server->timer, copy_at(server, server->queue_first)->due);
	ps_server_add(server, copy.worker);
}

void ps_server_receive(struct server *server, uint32_t worker, uint64_t size)
{
	const struct model_env *env = &server->ps->scheme->env;
	sim_time due = reducers_add(env->reducers, server->host, env->sim->now, size);

	if (!env->reducers->rate) {
		ps_server_add(server, worker);
		return;
	}
	server->queue = ring_reserve(server->queue, &server->queue_mask, server->queue_first,
				     server->queue_end, sizeof(*server->queue));
	if (server->queue_first == server->queue_end)
		timer_set(env->sim, &server->timer, due);
	*copy_at(server, server->queue_end++) = (struct copy){
		due, worker, why_work_begins(&env->topo->net, server->ps->job.number, server->host)
	};
}

/* --- sums --- */

uint64_t ps_server_sum(const struct server *server, uint64_t number)
{
	return block_at(server, number)->sum;
}

void ps_server_delivered(struct server *server, uint64_t number)
{
	if (++block_at(server, number)->delivered < server->ps->job.workers)
		return;
	SIM_BUG_ON(number != server->oldest); /* streams keep the order */
	server->oldest++;
}

/* --- begin and end --- */

void ps_server_open(struct ps *ps, uint32_t q)
{
	struct server *server = &ps->servers[q];
	uint64_t key = timer_key_of_job(TIMER_PS, ps->job.number, q);

	*server = (struct server){ .ps = ps, .number = q, .host = ps->job.server_hosts[q] };
	server->added = xcalloc(ps->job.workers, sizeof(*server->added));
	timer_open(ps->scheme->env.sim, &server->timer, SIM_TIMER, key, on_added, server);
	sim_name(ps->scheme->env.sim, on_added, "a block is added up at server %w of job %j");
}

void ps_server_release(struct server *server)
{
	timer_close(server->ps->scheme->env.sim, &server->timer);
	free(server->added);
	free(server->blocks);
	free(server->queue);
}
