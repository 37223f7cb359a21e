#include "workload/flows/flow_generator.h"

#include "workload/flows/sizes.h"

/* Draws source and destination of the group's n-th flow. */
static void draw_pair(struct flow_generator *generator, uint64_t n, uint32_t *src, uint32_t *dst)
{
	const struct flow_group_conf *conf = generator->conf;
	uint32_t hosts = generator->hosts;
	bool together = conf->arrival.form == ARRIVE_AT;

	if (conf->pairs.form == PAIRS_LIST) {
		uint64_t count = conf->pairs.list.count;
		const int64_t *pair = flow_group_pair(
			conf, together ? n % count : rng_below(&generator->pairs, count));

		*src = (uint32_t)pair[0];
		*dst = (uint32_t)pair[1];
		return;
	}
	switch ((enum pairs_kind)conf->pairs.kind) {
	case PAIRS_UNIFORM:
		*src = (uint32_t)rng_below(&generator->pairs, hosts);
		*dst = (uint32_t)rng_below(&generator->pairs, hosts - 1);
		*dst += *dst >= *src; /* skip the source */
		return;
	case PAIRS_PERMUTATION: {
		/* each host sends to the next host on a random cycle, so none sends to itself */
		uint64_t i = together ? n % hosts : rng_below(&generator->pairs, hosts);

		*src = generator->order[i];
		*dst = generator->order[(i + 1) % hosts];
		return;
	}
	case PAIRS_INCAST: {
		uint64_t i = together ? n % (uint64_t)conf->fan_in
				      : rng_below(&generator->pairs, (uint64_t)conf->fan_in);

		*dst = (uint32_t)conf->receiver;
		*src = generator->order[i];
		return;
	}
	}
}

/* When flow `made` starts. The previous flow started at `now`. */
static sim_time next_time(struct flow_generator *generator, sim_time now)
{
	if (flow_generator_done(generator))
		return SIM_TIME_MAX;
	switch ((enum arrival_form)generator->conf->arrival.form) {
	case ARRIVE_AT:
		return generator->conf->arrival.at;
	case ARRIVE_POISSON:
		return rng_after(&generator->arrivals, now, generator->mean_gap_ps);
	case ARRIVE_TRACE:
		return generator->conf->recorded->flows[generator->made].start;
	}
	return SIM_TIME_MAX;
}

void flow_generator_begin(struct flow_generator *generator)
{
	generator->next = next_time(generator, 0);
}

struct flow_draw flow_generator_draw(struct flow_generator *generator)
{
	struct flow_draw draw = { 0 };

	if (generator->conf->arrival.form == ARRIVE_TRACE) {
		const struct trace_flow *flow = &generator->conf->recorded->flows[generator->made];

		draw = (struct flow_draw){ flow->src, flow->dst, flow->size };
	} else {
		draw_pair(generator, generator->made, &draw.src, &draw.dst);
		draw.size = sizes_draw(generator->conf->sizes, &generator->draws);
	}
	generator->made++;
	generator->next = next_time(generator, generator->next);
	return draw;
}
