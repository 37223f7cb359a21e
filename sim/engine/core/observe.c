#include "core/observe.h"

bool sim_observe(struct sim *sim, uint64_t budget, const struct sim_observer *observer)
{
	struct equeue *q = &sim->queue;

	for (; budget && !sim->stopped; budget--) {
		uint32_t id = sim_first(sim, equeue_pop(q, &sim->now));
		struct sim_entity entity;
		struct sim_event event;

		if (id == EQ_NONE)
			return false;
		sim_look(sim);
		sim->events++;
		entity = sim_entity_of(sim, id);
		event = (struct sim_event){ .at = sim->now,
					    .number = sim_event_count(sim),
					    .key = q->keys[id],
					    .handler = entity.handler,
					    .entity = id,
					    .class = q->nodes[id].class };
		if (entity.silent) {
			entity.handler(sim, id, entity.owner);
			continue;
		}
		for (const struct sim_observer *o = observer; o; o = o->next)
			if (o->before)
				o->before(o->owner, &event);
		sim->digest += sim_event_fact(sim, id);
		entity.handler(sim, id, entity.owner);
		for (const struct sim_observer *o = observer; o; o = o->next)
			o->after(o->owner, &event);
	}
	if (sim->stopped)
		sim_do_deferred(sim, sim->now);
	return !sim->stopped;
}
