#include "run/failures.h"

#include "base/mem.h"
#include "net/outage.h"
#include "run/simulation_state.h"
#include "topo/detours.h"
#include "topo/links.h"
#include "why/why.h"

#include <stdlib.h>
#include <string.h>

static const struct out_column columns[] = {
	{ "what", OUT_TEXT, "The link or switch that failed, named as in links.csv." },
	{ "failed_s", OUT_SECONDS, "When it failed." },
	{ "noticed_s", OUT_SECONDS,
	  "When routing knew of it; empty if it was repaired earlier, or the run ended." },
	{ "repaired_s", OUT_SECONDS, "When it was repaired; empty if it was not." },
	{ "lost_packets", OUT_COUNT,
	  "Packets that failures lost on its links, from this failure to its next one." },
	{ 0 },
};
const struct out_schema failures_schema = { "failures.csv",
					    "One row for each failure, in the order of time.",
					    columns };

/* A link, a switch, or the aggregation of a switch, that may fail. */
struct element {
	struct failures *failures;
	struct failure_target target;
	const struct failure_conf *conf;
	struct rng rng;
	bool down;
	bool known;    /* routing believes that it is down */
	size_t outage; /* index of its last outage; SIZE_MAX: none yet */
	struct timer change, notice;
};

struct outage {
	const struct element *element;
	sim_time failed, noticed, repaired; /* noticed, repaired: 0 if this has not happened */
	/* After end_count(): packets lost on the element's links from this outage to the next.
	 * Until then: packets lost before this outage. */
	uint64_t lost;
};

struct failures {
	struct simulation *simulation;
	struct out_table *table;
	struct element *elements;
	size_t count, capacity;
	struct outage *outages;
	size_t outage_count, outage_capacity;
	size_t *last; /* last outage of each place (place_of()), from 1; 0: none yet */
	struct timer controller;
};

/* --- what fails --- */

/* The links of an element: one egress port for each. These are *count consecutive ports; returns
 * the first. */
static uint32_t links_of(const struct element *element, uint32_t *count)
{
	const struct network *net = &element->failures->simulation->topo.net;
	bool link = element->target.kind == FAILS_LINK;
	uint32_t number = element->target.number;

	*count = link ? 1 : net->switch_nodes[number].ports;
	return link ? number : net->switch_nodes[number].first_port;
}

static uint64_t lost_on(const struct element *element)
{
	const struct network *net = &element->failures->simulation->topo.net;
	uint32_t count, first = links_of(element, &count);
	uint64_t lost = 0;

	for (uint32_t port = first; port < first + count; port++)
		lost += net->outages->lost[port] + net->outages->lost[net->cold[port].reverse];
	return lost;
}

/* Whether a failure, a repair or a notice is still to come. */
static bool may_change(const struct failures *failures)
{
	const struct sim *sim = &failures->simulation->sim;

	for (size_t i = 0; i < failures->count; i++)
		if (timer_pending(sim, &failures->elements[i].change) ||
		    timer_pending(sim, &failures->elements[i].notice))
			return true;
	return false;
}

/* Number of what fails, the same for all elements that are this link, switch or aggregation. */
static uint32_t place_of(const struct element *element)
{
	const struct network *net = &element->failures->simulation->topo.net;
	uint32_t number = element->target.number;

	if (element->target.kind == FAILS_LINK)
		return number < net->cold[number].reverse ? number : net->cold[number].reverse;
	return net->port_count + number +
	       (element->target.kind == FAILS_AGGREGATION ? net->switches : 0);
}

static uint32_t places(const struct failures *failures)
{
	const struct network *net = &failures->simulation->topo.net;

	return net->port_count + 2 * net->switches;
}

/* Ends the count of packets lost since the last outage of a place, if there was one. */
static void end_count(struct failures *failures, uint32_t place)
{
	struct outage *outage;

	if (!failures->last[place])
		return;
	outage = &failures->outages[failures->last[place] - 1];
	outage->lost = lost_on(outage->element) - outage->lost;
}

static void begin_outage(struct element *element)
{
	struct failures *failures = element->failures;
	uint32_t place = place_of(element);

	end_count(failures, place);
	failures->outages = array_reserve(failures->outages, failures->outage_count,
					  &failures->outage_capacity, sizeof(*failures->outages));
	element->outage = failures->outage_count++;
	failures->last[place] = failures->outage_count;
	failures->outages[element->outage] =
		(struct outage){ .element = element,
				 .failed = failures->simulation->sim.now,
				 .lost = lost_on(element) };
}

static void (*const fail_part[])(struct network *net, uint32_t number, bool down) = {
	[FAILS_LINK] = network_fail_link,
	[FAILS_SWITCH] = network_fail_switch,
	[FAILS_AGGREGATION] = network_fail_aggregation,
};

static void on_change(struct sim *sim, uint32_t entity, void *owner)
{
	struct element *element = owner;
	struct failures *failures = element->failures;
	struct network *net = &failures->simulation->topo.net;
	const struct failure_conf *conf = element->conf;

	(void)entity;
	element->down = !element->down;
	if (element->down)
		begin_outage(element);
	else
		failures->outages[element->outage].repaired = sim->now;
	if (!element->down)
		why_reopens(net);
	fail_part[element->target.kind](net, element->target.number, element->down);
	if (element->target.kind != FAILS_LINK && element->down)
		jobs_switch_failed(failures->simulation->jobs, element->target.number);
	if (conf->mtbf) /* fails repeatedly, at random; else once, at conf->at */
		timer_set(sim, &element->change,
			  rng_after(&element->rng, sim->now,
				    (double)(element->down ? conf->mttr : conf->mtbf)));
	else if (element->down && conf->repair_after)
		timer_set(sim, &element->change, sim->now + conf->repair_after);
	timer_set(sim, &element->notice,
		  sim->now + failures->simulation->scenario->failures.reroute_delay);
}

/* Tells routing which links are down or up now, and which will stay down for ever. */
static void learn_ways(const struct element *element)
{
	const struct topology *topo = &element->failures->simulation->topo;
	bool for_ever = element->conf->at_given && !element->conf->repair_after;
	uint32_t count, first = links_of(element, &count);

	if (element->target.kind == FAILS_AGGREGATION)
		return; /* links still work */
	for (uint32_t port = first; port < first + count; port++) {
		detours_learn(topo, topo->detours, port, element->down);
		if (for_ever)
			detours_learn(topo, topo->forever, port, true);
	}
}

/* Whether there may be paths around what has failed: hosts have one link each. */
static bool may_go_around(const struct element *element)
{
	const struct network *net = &element->failures->simulation->topo.net;
	uint32_t count, first = links_of(element, &count);

	for (uint32_t port = first; port < first + count; port++)
		if (port < net->host_ports || net->ports[port].to_host)
			return false;
	return true;
}

static void on_notice(struct sim *sim, uint32_t entity, void *owner)
{
	struct element *element = owner;
	struct failures *failures = element->failures;
	struct topology *topo = &failures->simulation->topo;

	(void)entity;
	if (element->down &&
	    element->conf->repair_after == failures->simulation->scenario->failures.reroute_delay)
		return; /* its repair is an event of this moment, whichever comes first */
	if (element->down)
		failures->outages[element->outage].noticed = sim->now;
	/* equal if routing has not noticed the change before this one */
	if (element->known != element->down) {
		element->known = element->down;
		learn_ways(element);
		if (element->down && may_go_around(element))
			why_reopens(&topo->net);
		for (unsigned p = 0; p < topo->net.protocol_count; p++)
			if (topo->net.protocols[p].ops->reroute)
				topo->net.protocols[p].ops->reroute(topo->net.protocols[p].self);
	}
	/* one event of the controller covers all that routing has noticed by then */
	if (!timer_pending(sim, &failures->controller))
		timer_set(sim, &failures->controller,
			  sim->now + failures->simulation->scenario->failures.controller_delay);
}

static void on_controller(struct sim *sim, uint32_t entity, void *owner)
{
	struct failures *failures = owner;

	(void)sim, (void)entity;
	jobs_failures_known(failures->simulation->jobs, may_change(failures));
	flows_cut_off(failures->simulation->flows);
}

/* --- life --- */

static void add(struct failures *failures, const struct failure_conf *conf,
		struct failure_target target)
{
	failures->elements = array_reserve(failures->elements, failures->count, &failures->capacity,
					   sizeof(*failures->elements));
	failures->elements[failures->count++] = (struct element){
		.failures = failures, .target = target, .conf = conf, .outage = SIZE_MAX
	};
}

/* Opens the timers of an element. They point to the element, which must not move afterwards. */
static void start(struct failures *failures, size_t i)
{
	struct sim *sim = &failures->simulation->sim;
	struct element *element = &failures->elements[i];
	const struct failure_conf *conf = element->conf;

	rng_init(&element->rng, sim->seed, "failures", i);
	timer_open(sim, &element->change, SIM_CONTROL,
		   sim_key(SIM_CONTROL, CONTROL_FAILURES | 2 * i), on_change, element);
	timer_open(sim, &element->notice, SIM_CONTROL,
		   sim_key(SIM_CONTROL, CONTROL_FAILURES | (2 * i + 1)), on_notice, element);
	timer_set(sim, &element->change,
		  conf->mtbf ? rng_after(&element->rng, 0, (double)conf->mtbf) : conf->at);
}

struct failures *failures_open(struct simulation *s, struct out_table *table)
{
	const struct conf_list *events = &s->scenario->failures.events;
	struct failures *failures;

	if (!events->count)
		return NULL;
	failures = xcalloc(1, sizeof(*failures));
	failures->simulation = s;
	failures->table = table;
	failures->last = xcalloc(places(failures), sizeof(*failures->last));
	for (size_t i = 0; i < events->count; i++) {
		const struct failure_conf *conf = &((const struct failure_conf *)events->items)[i];
		struct failure_target *targets;
		size_t count = failure_targets(conf, &s->topo, &targets);

		for (size_t t = 0; t < count; t++)
			add(failures, conf, targets[t]);
		free(targets);
	}
	for (size_t i = 0; i < failures->count; i++)
		start(failures, i);
	timer_open(&s->sim, &failures->controller, SIM_CONTROL,
		   sim_key(SIM_CONTROL, CONTROL_CONTROLLER), on_controller, failures);
	sim_name(&s->sim, on_change, "failure or repair");
	sim_name(&s->sim, on_notice, "routing knows of a failure or repair");
	sim_name(&s->sim, on_controller, "job controller knows of failures and repairs");
	jobs_failures_known(s->jobs, true);
	return failures;
}

void failures_free(struct failures *failures)
{
	if (!failures)
		return;
	free(failures->elements);
	free(failures->outages);
	free(failures->last);
	free(failures);
}

static void name_of(const struct element *element, char name[LINK_NAME])
{
	const struct topology *topo = &element->failures->simulation->topo;

	if (element->target.kind == FAILS_LINK) {
		link_name(topo, element->target.number, name);
		return;
	}
	topology_node_name(topo, topo->net.hosts + element->target.number, name, LINK_NAME);
	if (element->target.kind == FAILS_AGGREGATION)
		strncat(name, " aggregation", LINK_NAME - strlen(name) - 1);
}

size_t failures_down(const struct failures *failures)
{
	size_t down = 0;

	for (size_t i = 0; failures && i < failures->count; i++)
		down += failures->elements[i].down;
	return down;
}

void failures_each(const struct failures *failures,
		   void (*told)(void *owner, const char *name, size_t element, sim_time failed,
				sim_time repaired),
		   void *owner)
{
	char name[LINK_NAME];

	for (size_t i = 0; failures && i < failures->outage_count; i++) {
		const struct outage *outage = &failures->outages[i];

		name_of(outage->element, name);
		told(owner, name, (size_t)(outage->element - failures->elements), outage->failed,
		     outage->repaired ? outage->repaired : failures->simulation->sim.now);
	}
}

static void write_row(const struct failures *failures, const struct outage *outage)
{
	char name[LINK_NAME];

	name_of(outage->element, name);
	out_table_row(failures->table,
		      (struct out_cell[]){ { .text = name },
					   { .time = outage->failed },
					   { .none = !outage->noticed, .time = outage->noticed },
					   { .none = !outage->repaired, .time = outage->repaired },
					   { .count = outage->lost } });
}

void failures_end(struct failures *failures)
{
	struct sim *sim;

	if (!failures)
		return;
	sim = &failures->simulation->sim;
	for (size_t i = 0; i < failures->count; i++) {
		timer_cancel(sim, &failures->elements[i].change);
		timer_cancel(sim, &failures->elements[i].notice);
	}
	timer_cancel(sim, &failures->controller);
	for (uint32_t place = 0; place < places(failures); place++)
		end_count(failures, place);
	for (size_t i = 0; failures->table && i < failures->outage_count; i++)
		write_row(failures, &failures->outages[i]);
}
