#include "core/sim.h"

#include "base/mem.h"

#include <stdlib.h>

void sim_init(struct sim *sim, uint64_t seed)
{
	*sim = (struct sim){ .seed = seed };
	equeue_init(&sim->queue, seed);
}

void sim_release(struct sim *sim)
{
	equeue_release(&sim->queue);
	free(sim->entities);
	free(sim->idle_timers);
	free(sim->names);
}

void sim_add_block(struct sim *sim, enum sim_class class, uint32_t count, sim_handler *handler,
		   void *owner)
{
	SIM_BUG_ON(sim->block_count || sim->entity_count);
	sim->block = (struct sim_entity){ .handler = handler, .owner = owner, .apart = true };
	sim->block_count = count;
	for (uint32_t i = 0; i < count; i++)
		equeue_add(&sim->queue, (uint8_t) class, sim_key(class, i));
}

/* The class sets the flags. Arrivals and departures are `apart` (timer_apart()), since their
 * handlers call network_catch_up() for the host concerned (net/hop.h, net/nic.c). */
static struct sim_entity entity_of(enum sim_class class, sim_handler *handler, void *owner)
{
	return (struct sim_entity){ .handler = handler,
				    .owner = owner,
				    .apart = class <= SIM_DEPARTURE,
				    .silent = class == SIM_SAMPLE };
}

uint32_t sim_add_entity(struct sim *sim, enum sim_class class, uint64_t key, sim_handler *handler,
			void *owner)
{
	uint32_t id = equeue_add(&sim->queue, (uint8_t) class, key);

	sim->entities = array_reserve(sim->entities, sim->entity_count, &sim->entity_capacity,
				      sizeof(*sim->entities));
	sim->entities[sim->entity_count++] = entity_of(class, handler, owner);
	return id;
}

void sim_silent(struct sim *sim, uint32_t id)
{
	sim->entities[id - sim->block_count].silent = true;
}

void timer_open(struct sim *sim, struct timer *timer, enum sim_class class, uint64_t key,
		sim_handler *handler, void *owner)
{
	if (sim->idle_count) {
		timer->id = sim->idle_timers[--sim->idle_count];
		equeue_rename(&sim->queue, timer->id, (uint8_t) class, key);
	} else {
		timer->id = sim_add_entity(sim, class, key, handler, owner);
	}
	sim->entities[timer->id - sim->block_count] = entity_of(class, handler, owner);
}

void timer_close(struct sim *sim, struct timer *timer)
{
	sim_cancel(sim, timer->id);
	sim->idle_timers = array_reserve(sim->idle_timers, sim->idle_count, &sim->idle_capacity,
					 sizeof(*sim->idle_timers));
	sim->idle_timers[sim->idle_count++] = timer->id;
	timer->id = EQ_NONE;
}

void timer_set(struct sim *sim, struct timer *timer, sim_time at)
{
	sim_cancel(sim, timer->id);
	sim_schedule(sim, timer->id, at);
}

void timer_cancel(struct sim *sim, struct timer *timer)
{
	sim_cancel(sim, timer->id);
}

bool timer_pending(const struct sim *sim, const struct timer *timer)
{
	return sim_pending(sim, timer->id);
}

void timer_apart(struct sim *sim, const struct timer *timer)
{
	sim->entities[timer->id - sim->block_count].apart = true;
}

/* Catches up until now + 1, because departures come before timers of the same time. */
uint32_t sim_first(struct sim *sim, uint32_t id)
{
	while (sim->catch_up && id != EQ_NONE && id >= sim->block_count &&
	       !sim->entities[id - sim->block_count].apart) {
		uint32_t before = id;

		equeue_unpop(&sim->queue);
		sim->catch_up(sim->catch_up_owner, sim->now + 1);
		id = equeue_pop(&sim->queue, &sim->now);
		if (id == before)
			break;
	}
	return id;
}

bool sim_run_entity(struct sim *sim, uint32_t id)
{
	struct sim_entity entity;

	id = sim_first(sim, id);
	if (id == EQ_NONE)
		return false;
	sim->events++;
	sim->digest += sim_event_fact(sim, id);
	entity = sim_entity_of(sim, id);
	entity.handler(sim, id, entity.owner);
	return true;
}

bool sim_run(struct sim *sim, uint64_t budget)
{
	for (; budget && !sim->stopped; budget--) {
		uint32_t id = equeue_pop(&sim->queue, &sim->now);

		if (__builtin_expect(id == EQ_NONE, 0))
			return false;
		sim_look(sim);
		if (id < sim->block_count) {
			sim->events++;
			sim->block.handler(sim, id, sim->block.owner);
		} else if (!sim_run_entity(sim, id)) {
			return false;
		}
	}
	if (sim->stopped)
		sim_do_deferred(sim, sim->now);
	return !sim->stopped;
}

bool sim_moves(const struct sim *sim, uint32_t end)
{
	for (uint32_t id = 0; id < sim->queue.node_count; id++)
		if (sim_pending(sim, id) && id != end && sim->queue.nodes[id].class != SIM_SAMPLE)
			return true;
	return false;
}

sim_time sim_last_move(const struct sim *sim, uint32_t end)
{
	sim_time last = 0;

	for (uint32_t id = sim->block_count; id < sim->queue.node_count; id++)
		if (!sim->entities[id - sim->block_count].silent && id != end &&
		    equeue_last(&sim->queue, id) > last)
			last = equeue_last(&sim->queue, id);
	return last;
}
