#include "transport/spray.h"

#include "base/hash.h"
#include "base/mem.h"

#define TRIES 64 /* at a route that leaves by the connection's link */

const char *const spray_names[] = { "none", "random", "oblivious", "reps", NULL };

struct spray *spray_new(int kind, uint32_t paths, uint64_t seed, uint64_t key)
{
	struct spray *spray = xcalloc(1, sizeof(*spray) + paths * sizeof(struct route));

	spray->kind = (uint16_t)kind;
	spray->mask = (uint16_t)(paths - 1);
	rng_init(&spray->rng, seed, "spray", key);
	return spray;
}

void spray_route(struct spray *spray, const struct topology *topo, uint32_t src, uint32_t dst,
		 uint64_t key, const struct route *own)
{
	uint64_t seed = hash_pair(hash_pair(topo->net.sim->seed, hash_string("spray")), key);

	for (uint32_t value = 0; value <= spray->mask; value++) {
		struct route *route = &spray->routes[value];
		uint64_t entropy = hash_pair(seed, value);

		topology_route(topo, src, dst, entropy, route);
		for (uint64_t i = 1; route->link != own->link && i < TRIES; i++)
			topology_route(topo, src, dst, hash_pair(entropy, i), route);
		if (route->link != own->link)
			*route = *own;
	}
}

static uint16_t draw(struct spray *spray)
{
	return (uint16_t)rng_below(&spray->rng, spray->mask + 1U);
}

static uint16_t again(struct spray *spray)
{
	uint16_t value = spray->ring[spray->first];

	spray->first = (uint8_t)((spray->first + 1) % SPRAY_RING);
	spray->kept--;
	return value;
}

static uint16_t next(struct spray *spray)
{
	if (spray->kind == SPRAY_REPS && spray->kept)
		return again(spray);
	if (spray->kind != SPRAY_OBLIVIOUS)
		return draw(spray);
	spray->turn = (spray->turn + 1) & spray->mask;
	if (!spray->turn)
		spray->order = draw(spray);
	return spray->turn ^ spray->order;
}

uint16_t spray_next(struct spray *spray)
{
	return spray->value = next(spray);
}

void spray_answered(struct spray *spray, uint16_t value, bool marked)
{
	if (spray->kind != SPRAY_REPS || marked)
		return;
	if (spray->kept == SPRAY_RING) /* the oldest is written over */
		again(spray);
	spray->ring[(spray->first + spray->kept++) % SPRAY_RING] = value;
}
