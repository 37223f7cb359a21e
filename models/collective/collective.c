#include "collective/collective.h"

#include <inttypes.h>

byte_time collective_reserved(const struct collective_memory *memory, sim_time now)
{
	return memory->used_time + (byte_time)memory->used_bytes * (now - memory->changed);
}

double collective_utilization(byte_time used, bytes whole, sim_time now)
{
	byte_time all = (byte_time)whole * now;

	return all ? (double)used / (double)all : 0;
}

void collective_reserve(struct collective_memory *memory, sim_time now, int64_t bytes_more)
{
	memory->used_time = collective_reserved(memory, now);
	memory->changed = now;
	memory->used_bytes += (uint64_t)bytes_more;
	SIM_BUG_ON(memory->used_bytes > memory->memory_bytes); /* also: below 0, wrapped around */
	if (memory->used_bytes > memory->used_max_bytes)
		memory->used_max_bytes = memory->used_bytes;
}

void collective_stats_add(struct collective_stats *sum, const struct collective_stats *one)
{
	const uint64_t *from = (const uint64_t *)one;
	uint64_t *to = (uint64_t *)sum;

	static_assert(sizeof(*one) % sizeof(*from) == 0, "a struct of 64-bit counters");
	for (size_t i = 0; i < sizeof(*one) / sizeof(*from); i++)
		to[i] += from[i];
}

void collective_violated(const struct model_env *env, const char *scheme, uint32_t job,
			 const char *unit, uint64_t number, uint32_t node, const char *what)
{
	char name[24];

	checks_violated(env->checks, &env->checks->exact_violations,
			"%s: %s: job %" PRIu32 ", %s %" PRIu64 ", at %s, at %.9f s", scheme, what,
			job, unit, number, topology_node_name(env->topo, node, name, sizeof(name)),
			seconds_of(env->sim->now));
	sim_stop(env->sim);
}

char *collective_actual_text(const struct collective_actual *actual, const char *scheme, char *text)
{
	const char *name = actual->scheme ? actual->scheme : scheme;

	if (actual->what)
		snprintf(text, COLLECTIVE_ACTUAL_SIZE, "%s with %" PRIu64 " of %" PRIu64 " %s",
			 name, actual->has, actual->of, actual->what);
	else
		snprintf(text, COLLECTIVE_ACTUAL_SIZE, "%s", name);
	return text;
}
