#include "scenario/failures_conf.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ARROW " -> "
#define LONG  (1000000 * PS_PER_S) /* longest time in an event */

static const struct conf_row what_forms[] = {
	CONF_INT("link", struct failure_conf, what.link, CONF_REQUIRED, 0, 100000000,
		 "A link: the link_id (links.csv) of either direction; both directions fail."),
	CONF_STRING(
		"name", struct failure_conf, what.name, CONF_REQUIRED,
		"A switch (\"spine0\"); the link of a host (\"h3\"); all links between two nodes "
		"(\"leaf0 -> spine1\"); or, each on its own, \"links\" (between switches) or "
		"\"switches\"."),
	{ 0 },
};
static const struct conf_table what_table = { "failure_of", what_forms,
					      sizeof(struct failure_conf) };

static const struct conf_row event_rows[] = {
	CONF_ONEOF("fails", struct failure_conf, what, CONF_REQUIRED, &what_table, what.form,
		   "What fails, named as in links.csv."),
	CONF_BOOL("aggregation_only", struct failure_conf, aggregation_only, "false",
		  "Only the part of a switch that adds gradients fails and loses its sums; links "
		  "of the switch work, and other traffic goes on."),
	CONF_TIME("at", struct failure_conf, at, CONF_OPTIONAL, 0, LONG, "When it fails.",
		  .present = CONF_GIVEN(struct failure_conf, at_given)),
	CONF_TIME("repair_after", struct failure_conf, repair_after, CONF_OPTIONAL, 1, LONG,
		  "Time from `at` to the repair; if left out, there is none."),
	CONF_TIME("mtbf", struct failure_conf, mtbf, CONF_OPTIONAL, PS_PER_US, LONG,
		  "Instead of `at`: mean time from each repair to the next failure, exponential."),
	CONF_TIME("mttr", struct failure_conf, mttr, CONF_OPTIONAL, PS_PER_NS, LONG,
		  "With `mtbf`: mean time to repair, exponential."),
	{ 0 },
};
static const struct conf_table event_table = { "failure", event_rows, sizeof(struct failure_conf),
					       NULL };
static const struct conf_row event_item = { .type = CONF_OBJECT,
					    .table = &event_table,
					    .help = "Something fails." };

static const struct conf_row failures_rows[] = {
	CONF_LIST("events", struct failures_conf, events, "[]", &event_item, 0, 100000,
		  "What fails, and when. A link that fails loses all it carries, in both "
		  "directions. With a switch its links fail, and its sums are lost."),
	CONF_TIME("reroute_delay", struct failures_conf, reroute_delay, "1ms", 1, 1000 * PS_PER_S,
		  "Time from a failure or repair until new paths of connections (ECMP) take it "
		  "into account; a failure that is repaired by then goes unnoticed.",
		  "our choice: a routing protocol with fast detection"),
	CONF_TIME(
		"controller_delay", struct failures_conf, controller_delay, "10ms", 1,
		1000 * PS_PER_S,
		"Further time, after reroute_delay, until the job controller knows of it and acts.",
		"our choice"),
	{ 0 },
};
const struct conf_table failures_table = { "failures", failures_rows, sizeof(struct failures_conf),
					   "Links and switches that fail and are repaired." };

/* --- targets of an event --- */

struct targets {
	struct failure_target *items;
	size_t count, capacity;
};

static void add(struct targets *targets, int kind, uint32_t number)
{
	targets->items = array_reserve(targets->items, targets->count, &targets->capacity,
				       sizeof(*targets->items));
	targets->items[targets->count++] = (struct failure_target){ kind, number };
}

static void add_switch(struct targets *targets, const struct failure_conf *event,
		       const struct topology *topo, uint32_t sw)
{
	if (!event->aggregation_only)
		add(targets, FAILS_SWITCH, sw);
	else if (topology_aggregates(topo, sw))
		add(targets, FAILS_AGGREGATION, sw);
}

/* The node with this name; UINT32_MAX: none. */
static uint32_t find_node(const struct topology *topo, const char *name, size_t length)
{
	char text[32];

	for (uint32_t n = 0; n < topo->net.hosts + topo->net.switches; n++) {
		topology_node_name(topo, n, text, sizeof(text));
		if (strlen(text) == length && !memcmp(text, name, length))
			return n;
	}
	return UINT32_MAX;
}

static void add_links_between(struct targets *targets, const struct network *net, uint32_t a,
			      uint32_t b)
{
	for (uint32_t p = 0; p < net->port_count; p++)
		if (net->ports[net->cold[p].reverse].to == a && net->ports[p].to == b)
			add(targets, FAILS_LINK, p);
}

static void add_named(struct targets *targets, const struct failure_conf *event,
		      const struct topology *topo)
{
	const struct network *net = &topo->net;
	const char *name = event->what.name;
	const char *arrow = strstr(name, ARROW);
	uint32_t a = find_node(topo, name, arrow ? (size_t)(arrow - name) : strlen(name));

	if (a == UINT32_MAX)
		return;
	if (!arrow && a >= net->hosts) {
		add_switch(targets, event, topo, a - net->hosts);
	} else if (!arrow && !event->aggregation_only) {
		for (uint32_t i = 0; i < network_links(net, a); i++)
			add(targets, FAILS_LINK, network_port(net, a, (uint16_t)i));
	} else if (!event->aggregation_only) {
		arrow += strlen(ARROW);
		add_links_between(targets, net, a, find_node(topo, arrow, strlen(arrow)));
	}
}

size_t failure_targets(const struct failure_conf *event, const struct topology *topo,
		       struct failure_target **list)
{
	const struct network *net = &topo->net;
	struct targets targets = { 0 };

	if (event->what.form == FAILURE_LINK) {
		if (event->what.link < (int64_t)net->port_count && !event->aggregation_only)
			add(&targets, FAILS_LINK, (uint32_t)event->what.link);
	} else if (!strcmp(event->what.name, "links")) {
		/* ports of switches come after those of hosts; takes one port of each link */
		for (uint32_t p = net->host_ports; p < net->port_count && !event->aggregation_only;
		     p++)
			if (!net->ports[p].to_host && p < net->cold[p].reverse)
				add(&targets, FAILS_LINK, p);
	} else if (!strcmp(event->what.name, "switches")) {
		for (uint32_t s = 0; s < net->switches; s++)
			add_switch(&targets, event, topo, s);
	} else {
		add_named(&targets, event, topo);
	}
	*list = targets.items;
	return targets.count;
}

/* --- checks --- */

static void check_times(const struct failure_conf *event, sim_time end, struct conf_doc *doc,
			const char *where)
{
	if (event->at_given == (event->mtbf > 0)) /* both or none given */
		conf_error(doc, where, "needs a time: \"at\", or \"mtbf\" and \"mttr\"");
	else if ((event->mtbf > 0) != (event->mttr > 0)) /* only one given */
		conf_error(doc, where, "needs both \"mtbf\" and \"mttr\", or neither");
	else if (event->mtbf && event->repair_after)
		conf_error(doc, where,
			   "\"repair_after\" needs \"at\"; with \"mtbf\", \"mttr\" says when it is "
			   "repaired");
	else if (event->at_given && event->at >= end)
		conf_error(doc, conf_at(doc, "%s/at", where),
			   "%g s is not before the end of the run, %g s (\"stop\": \"after\")",
			   seconds_of(event->at), seconds_of(end));
}

static void check_target(const struct failure_conf *event, const struct topology *topo,
			 struct conf_doc *doc, const char *where)
{
	struct failure_target *targets;

	if (failure_targets(event, topo, &targets)) {
		free(targets);
		return;
	}
	where = conf_at(doc, "%s/fails", where);
	if (event->aggregation_only)
		conf_error(doc, where,
			   "\"aggregation_only\" needs a switch that adds gradients up, or "
			   "\"switches\"");
	else if (event->what.form == FAILURE_LINK)
		conf_error(doc, where, "there is no link %" PRId64 "; links are 0 to %" PRIu32,
			   event->what.link, topo->net.port_count - 1);
	else
		conf_error(doc, where,
			   "nothing here is called \"%s\"; allowed: a switch, a host, \"NODE -> "
			   "NODE\" "
			   "of a link, \"links\", \"switches\"",
			   event->what.name);
}

void failures_check(const struct failures_conf *conf, const struct topology_conf *topology,
		    sim_time end, struct conf_doc *doc)
{
	const struct failure_conf *events = conf->events.items;
	struct topology topo;
	struct sim sim;

	if (!conf->events.count)
		return;
	sim_init(&sim, 1);
	topology_build(&topo, topology, &sim);
	for (size_t i = 0; i < conf->events.count; i++) {
		const char *where = conf_at(doc, "/failures/events/%zu", i);

		check_times(&events[i], end, doc, where);
		check_target(&events[i], &topo, doc, where);
	}
	topology_release(&topo);
	sim_release(&sim);
}
