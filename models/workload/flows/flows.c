#include "workload/flows/flows.h"

#include "base/mem.h"
#include "why/why.h"
#include "workload/flows/flows_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* --- flows and their generators --- */

static void count_received(const struct flow *flow)
{
	struct flows *flows = flow->flows;
	sim_time fct = flow->finish - flow->start;

	flow->group->completed += flow->size - flow->sampled;
	flows->finished++;
	if (fct < flow->ideal && !flows->env.topo->detours) { /* a detour may be faster */
		checks_violated(flows->env.checks, &flows->env.checks->conservation_violations,
				"flow %" PRIu64 " took %.12f s, less than its ideal %.12f s",
				flow->id, seconds_of(fct), seconds_of(flow->ideal));
		sim_stop(flows->env.sim);
	}
	if (flow->measured) {
		flow_class_of(flows, flow->size)->finished++;
		flow->group->stats.finished++;
	}
}

/* The last byte is at the receiver. The row is written later, in the order of settling. */
static void complete(struct flow *flow)
{
	struct flows *flows = flow->flows;

	flow->received = true;
	flow->finish = flows->env.sim->now;
	count_received(flow);
	flow_after_event(flow, false);
	if (flows->env.topo->net.onlooker)
		why_flow_over(why_of(&flows->env.topo->net), flow->src, flow->dst, flow->size,
			      flow->start);
	if (flows->changed)
		flows->changed(flows->owner);
}

static void on_delivered(void *owner, uint64_t total)
{
	struct flow *flow = owner;

	(void)total;
	complete(flow);
}

/* At the sender: everything is acknowledged, so the connection may be closed. */
static void on_drained(void *owner)
{
	struct flow *flow = owner;

	flow->sent = *connection_stats(&flow->conn);
	connection_close(&flow->conn);
	flow_settle(flow);
	flow_after_event(flow, true);
}

/* Fluid: the last byte is at the receiver. */
static void on_received(void *owner)
{
	struct flow *flow = owner;

	complete(flow);
	flow_fluid_close(&flow->fluid);
	flow_settle(flow);
	flow_after_event(flow, true);
}

static const struct tcp_app flow_app = { .delivered = on_delivered, .drained = on_drained };

static struct flow *take_flow(struct flows *flows)
{
	struct flow *flow = flows->idle;

	if (flow) {
		flows->idle = flow->next_idle;
		return flow;
	}
	flow = xcalloc(1, sizeof(*flow));
	flows->all = array_reserve(flows->all, flows->all_count, &flows->all_capacity,
				   sizeof(*flows->all));
	flows->all[flows->all_count++] = flow;
	return flow;
}

static void open_fluid(struct flow *flow)
{
	flow_fluid_open(
		&flow->fluid, &flow->flows->env,
		&(struct flow_fluid_spec){
			.src = flow->src, .dst = flow->dst, .key = flow->id, .size = flow->size },
		on_received, flow);
	flow->ideal = flow->fluid.ideal;
}

static void open_connection(struct flow *flow)
{
	const struct model_env *env = &flow->flows->env;

	/* this writes to a NIC, and a timer with timer_apart() does not catch up first */
	network_catch_up(&env->topo->net, flow->src, env->sim->now + 1);
	if (env->topo->net.onlooker)
		why_flow_opens(why_of(&env->topo->net),
			       (uint32_t)(flow->group - flow->flows->groups));
	flow->conn = connection_open(
		env->tcp, env->roce,
		&(struct connection_spec){ .transport = (unsigned)flow->group->conf->transport,
					   .src = flow->src,
					   .dst = flow->dst,
					   .class = (uint8_t)flow->group->conf->priority,
					   .key = flow->id,
					   .app = &flow_app,
					   .owner = flow });
	flow->ideal = flow_is_endless(flow) ? 0 : connection_ideal(&flow->conn, flow->size);
	connection_expect(&flow->conn, flow->size);
	connection_write(&flow->conn, flow->size);
}

/* Ends a flow that can never finish. */
static void cut_off(struct flow *flow)
{
	struct flows *flows = flow->flows;

	flow->sent = *connection_stats(&flow->conn);
	flow->delivered = connection_delivered(&flow->conn);
	connection_close(&flow->conn);
	flows->endless_cut_off += flow_is_endless(flow);
	flow->settled_at = flow->finish = flows->env.sim->now;
	flow->cut_off = true;
	flows->cut_off++;
	flows->measured_cut_off += flow->measured && !flow_is_endless(flow);
	if (!flows->first_cut_off)
		flows->first_cut_off = flow;
}

/* Whether both directions of a flow have a path, now or after a repair. */
static bool reached(const struct flow *flow)
{
	const struct topology *topo = flow->flows->env.topo;

	return topology_ever_reaches(topo, flow->src, flow->dst) &&
	       topology_ever_reaches(topo, flow->dst, flow->src);
}

void flows_cut_off(struct flows *flows)
{
	for (size_t i = 0; i < flows->all_count; i++) {
		struct flow *flow = flows->all[i];

		if (!flow->received && !flow->cut_off && !reached(flow))
			cut_off(flow);
	}
	if (flows->changed)
		flows->changed(flows->owner);
}

uint64_t flows_lost(const struct flows *flows, char *text, size_t size)
{
	const struct flow *first = flows->first_cut_off;

	if (first && text)
		snprintf(text, size,
			 "flow %" PRIu64 " from host %" PRIu32 " to host %" PRIu32
			 " at %.9f s: no way is left",
			 first->id, first->src, first->dst, seconds_of(first->finish));
	return flows->cut_off;
}

uint64_t flows_measured_lost(const struct flows *flows)
{
	return flows->measured_cut_off;
}

static void start_flow(struct group *group, const struct flow_draw *draw, uint32_t row)
{
	struct flows *flows = group->flows;
	uint64_t number = flows->numbers++;
	struct flow *flow;

	if (!group->conf->enabled)
		return;
	flows->started++;
	flows->endless += draw->size == FLOW_ENDLESS;
	flow = take_flow(flows);
	*flow = (struct flow){
		.flows = flows,
		.group = group,
		.id = number,
		.row = row,
		.src = draw->src,
		.dst = draw->dst,
		.size = draw->size,
		.start = flows->env.sim->now,
		.measured = measured_has(&flows->window, flows->env.sim->now),
	};
	if (flow->measured && flow_is_endless(flow)) {
		group->stats.endless++;
	} else if (flow->measured) {
		flow_class_of(flows, draw->size)->count++;
		group->stats.count++;
	}
	if (flows->env.fluid)
		open_fluid(flow);
	else
		open_connection(flow);
	if (!reached(flow))
		cut_off(flow);
}

void flow_start_row(struct group *group, uint32_t row)
{
	const struct trace_flow *flow = &group->conf->recorded->flows[row];
	struct flow_draw draw = { flow->src, flow->dst, flow->size };

	start_flow(group, &draw, row);
}

/* Flows due at one instant start together. Only Poisson arrivals are events of their own. */
static void on_arrival(struct sim *sim, uint32_t entity, void *owner)
{
	struct group *group = owner;
	struct flow_generator *generator = &group->generator;
	bool together = group->conf->arrival.form != ARRIVE_POISSON;

	(void)entity;
	flow_write_settled(group->flows);
	if (flow_generator_done(generator))
		return;
	do {
		uint32_t row = (uint32_t)generator->made;
		struct flow_draw draw = flow_generator_draw(generator);

		start_flow(group, &draw, row);
	} while (together && generator->next <= sim->now);
	if (!flow_generator_done(generator)) {
		timer_set(sim, &group->timer, generator->next);
		return;
	}
	if (group->flows->changed) /* the last flow may have been cut off at once */
		group->flows->changed(group->flows->owner);
}

/* Of a disabled group: its flows only count, so that those of the others keep their numbers. */
static void on_no_arrival(struct sim *sim, uint32_t entity, void *owner)
{
	on_arrival(sim, entity, owner);
}

/* --- set-up --- */

/* How many flows a group makes; UINT64_MAX = no limit. */
static uint64_t flow_limit(const struct group *group)
{
	const struct flow_group_conf *conf = group->conf;

	if (conf->arrival.form == ARRIVE_TRACE)
		return conf->count && (uint64_t)conf->count < conf->recorded->timed
			       ? (uint64_t)conf->count
			       : conf->recorded->timed;
	if (conf->arrival.form == ARRIVE_POISSON && conf->arrival.load <= 0)
		return 0;
	if (conf->count)
		return (uint64_t)conf->count;
	if (conf->arrival.form == ARRIVE_POISSON)
		return UINT64_MAX;
	if (conf->pairs.form == PAIRS_LIST)
		return conf->pairs.list.count;
	return conf->pairs.kind == PAIRS_INCAST ? (uint64_t)conf->fan_in
						: group->flows->env.topo->net.hosts;
}

/* A random order of the hosts; for incast, without the receiver. */
static void shuffle_hosts(struct group *group)
{
	uint32_t hosts = group->flows->env.topo->net.hosts, n = 0;
	bool incast = group->conf->pairs.kind == PAIRS_INCAST;
	struct rng rng;

	group->order = xcalloc(hosts, sizeof(*group->order));
	for (uint32_t h = 0; h < hosts; h++)
		if (!incast || h != (uint32_t)group->conf->receiver)
			group->order[n++] = h;
	rng_init(&rng, group->flows->env.sim->seed, "flow permutation", group->number);
	rng_shuffle(&rng, group->order, n);
}

/* Flows per second of Poisson arrivals. */
static double arrivals_per_s(const struct group *group)
{
	const struct topology *topo = group->flows->env.topo;

	return group->conf->arrival.load * (double)topology_host_rate(topo->conf) *
	       topo->net.hosts / (8 * sizes_mean(group->conf->sizes));
}

static void begin_generator(struct group *group)
{
	const struct flow_group_conf *conf = group->conf;
	const struct topology *topo = group->flows->env.topo;
	uint64_t seed = group->flows->env.sim->seed;
	struct flow_generator *generator = &group->generator;

	*generator = (struct flow_generator){ .conf = conf,
					      .order = group->order,
					      .hosts = topo->net.hosts,
					      .limit = flow_limit(group) };
	rng_init(&generator->arrivals, seed, "flow arrivals", group->number);
	rng_init(&generator->draws, seed, "flow sizes", group->number);
	rng_init(&generator->pairs, seed, "flow pairs", group->number);
	if (conf->arrival.form == ARRIVE_POISSON)
		generator->mean_gap_ps = (double)PS_PER_S / arrivals_per_s(group);
	flow_generator_begin(generator);
}

static void group_init(struct group *group)
{
	struct sim *sim = group->flows->env.sim;

	timer_open(sim, &group->timer, SIM_CONTROL, sim_key(SIM_CONTROL, group->number),
		   group->conf->enabled ? on_arrival : on_no_arrival, group);
	timer_apart(sim, &group->timer); /* touches only senders, see open_connection() */
	sim_name(sim, on_arrival, "arrivals of flow group %n");
	sim_name(sim, on_no_arrival, "numbers of disabled flow group %n");
	shuffle_hosts(group);
	begin_generator(group);
	flow_after_open(group);
	if (!flow_generator_done(&group->generator))
		timer_set(sim, &group->timer, group->generator.next);
}

struct flows *flows_new(const struct model_env *env, const struct flow_group_conf *groups,
			size_t count, const struct flows_report *report)
{
	struct flows *flows = xcalloc(1, sizeof(*flows));

	flows->env = *env;
	flows->groups = xcalloc(count, sizeof(*flows->groups));
	flows->group_count = count;
	flows->window = report->window;
	flows->table = report->table;
	flow_open_classes(flows, report->borders);
	for (size_t i = 0; i < count; i++) {
		flows->groups[i] =
			(struct group){ .flows = flows, .conf = &groups[i], .number = (uint32_t)i };
		group_init(&flows->groups[i]);
	}
	return flows;
}

void flows_free(struct flows *flows)
{
	if (!flows)
		return;
	for (size_t i = 0; i < flows->group_count; i++) {
		free(flows->groups[i].order);
		flow_after_release(&flows->groups[i]);
	}
	free(flows->groups);
	for (size_t i = 0; i < flows->all_count; i++)
		free(flows->all[i]);
	for (size_t c = 0; c < flows->class_count; c++) {
		free(flows->classes[c].fct);
		free(flows->classes[c].slowdown);
		free(flows->classes[c].throughput);
	}
	free(flows->classes);
	free(flows->all);
	free(flows->settled.items);
	free(flows);
}

void flows_jobs_done(struct flows *flows)
{
	for (size_t i = 0; i < flows->group_count; i++)
		if (flows->groups[i].conf->stop == FLOWS_STOP_WITH_JOBS) {
			flows->groups[i].generator.stopped = true;
			flow_after_release(&flows->groups[i]);
		}
}

/* Whether no enabled group starts any more flows that end. */
static bool all_started(const struct flows *flows)
{
	for (size_t i = 0; i < flows->group_count; i++)
		if (flows->groups[i].after.left ||
		    (flows->groups[i].conf->enabled &&
		     flows->groups[i].conf->size.form != SIZE_ENDLESS &&
		     !flow_generator_done(&flows->groups[i].generator)))
			return false;
	return true;
}

bool flows_done(const struct flows *flows)
{
	return flows_active(flows) == flows->endless - flows->endless_cut_off && all_started(flows);
}

double flows_progress(const struct flows *flows)
{
	double limit = 0;

	for (size_t i = 0; i < flows->group_count; i++) {
		if (!flows->groups[i].conf->enabled ||
		    flows->groups[i].conf->size.form == SIZE_ENDLESS)
			continue;
		if (flows->groups[i].generator.limit == UINT64_MAX)
			return 0;
		limit += (double)flows->groups[i].generator.limit;
		if (flows->groups[i].after.missing)
			limit += (double)(flows->groups[i].conf->recorded->count -
					  flows->groups[i].conf->recorded->timed);
	}
	return limit > 0 ? (double)flows->finished / limit : 1;
}

void flows_report_waiting(const struct flows *flows, FILE *to, size_t limit)
{
	for (size_t i = 0; i < flows->group_count && limit; i++) {
		const struct group *group = &flows->groups[i];
		const struct flow_generator *generator = &group->generator;

		if (group->after.left) {
			limit--;
			fprintf(to, "  flows (%s): %" PRIu64 " wait for others\n",
				group->conf->name, group->after.left);
		}
		if (!group->conf->enabled || generator->limit == UINT64_MAX || !limit ||
		    flow_generator_done(generator))
			continue;
		limit--;
		fprintf(to,
			"  flows (%s): %" PRIu64 " of %" PRIu64
			" have started, the next would at %.9f s\n",
			group->conf->name, generator->made, generator->limit,
			seconds_of(generator->next));
	}
}

uint64_t flows_started(const struct flows *flows)
{
	return flows->started;
}

uint64_t flows_endless(const struct flows *flows)
{
	return flows->endless;
}

uint64_t flows_active(const struct flows *flows)
{
	return flows->started - flows->finished - flows->cut_off;
}

uint64_t flows_finished(const struct flows *flows)
{
	return flows->finished;
}

bool flows_own(const struct tcp_app *app)
{
	return app == &flow_app;
}

void flows_on_change(struct flows *flows, void (*changed)(void *owner), void *owner)
{
	flows->changed = changed;
	flows->owner = owner;
}
