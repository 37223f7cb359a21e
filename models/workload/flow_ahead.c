#include "workload/flow_ahead.h"

#include "base/mem.h"
#include "workload/flow_fluid.h"

#include <stdlib.h>

#define DRAWS_MOST (16 * FLOW_AHEAD) /* at once: perhaps all are load */

void flow_ahead_init(struct flow_ahead *ahead, const struct model_env *env,
		     const struct flow_generator *const *originals, size_t groups,
		     const uint64_t *number)
{
	*ahead = (struct flow_ahead){ .env = env,
				      .originals = originals,
				      .number = number,
				      .copies = xcalloc(groups, sizeof(*ahead->copies)),
				      .groups = groups,
				      .stale = true };
}

void flow_ahead_release(struct flow_ahead *ahead)
{
	free(ahead->copies);
}

static struct flow_ahead_route *first_of(struct flow_ahead *ahead)
{
	return &ahead->ring[ahead->first % FLOW_AHEAD];
}

static void drop_first(struct flow_ahead *ahead)
{
	fluid_route_remove(ahead->env->fluid, first_of(ahead)->route);
	ahead->first++;
}

static void copy_anew(struct flow_ahead *ahead)
{
	while (ahead->first < ahead->end)
		drop_first(ahead);
	for (size_t g = 0; g < ahead->groups; g++)
		ahead->copies[g] = *ahead->originals[g];
	ahead->next = *ahead->number;
	ahead->stale = false;
}

/* The copy whose flow comes next; NULL when there is none. */
static struct flow_generator *soonest(struct flow_ahead *ahead)
{
	struct flow_generator *found = NULL;

	for (size_t g = 0; g < ahead->groups; g++) {
		struct flow_generator *copy = &ahead->copies[g];

		if (!flow_generator_done(copy) && (!found || copy->next < found->next))
			found = copy;
	}
	return found;
}

static bool has_stream(const struct flow_ahead *ahead, const struct flow_generator *generator,
		       bytes size)
{
	return generator->conf->enabled &&
	       (generator->conf->arrival.form != ARRIVE_POISSON || size >= ahead->env->load_below);
}

void flow_ahead_fill(void *self)
{
	struct flow_ahead *ahead = self;
	struct flow_generator *generator;

	if (ahead->stale || ahead->next < *ahead->number)
		copy_anew(ahead);
	for (unsigned drawn = 0; drawn < DRAWS_MOST && ahead->end - ahead->first < FLOW_AHEAD &&
				 (generator = soonest(ahead));
	     drawn++) {
		struct flow_draw draw = flow_generator_draw(generator);
		uint64_t number = ahead->next++;

		if (!has_stream(ahead, generator, draw.size))
			continue;
		ahead->ring[ahead->end++ % FLOW_AHEAD] =
			(struct flow_ahead_route){ number, draw.src, draw.dst,
						   flow_fluid_route(ahead->env, draw.src, draw.dst,
								    number) };
	}
}

uint32_t flow_ahead_take(struct flow_ahead *ahead, uint64_t number, uint32_t src, uint32_t dst)
{
	const struct flow_ahead_route *first;

	while (ahead->first < ahead->end && first_of(ahead)->number < number) {
		drop_first(ahead);
		ahead->stale = true;
	}
	first = first_of(ahead);
	if (ahead->first < ahead->end && first->number == number && first->src == src &&
	    first->dst == dst) {
		ahead->first++;
		return first->route;
	}
	ahead->stale = true;
	return flow_fluid_route(ahead->env, src, dst, number);
}
