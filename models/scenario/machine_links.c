#include "scenario/machine_links.h"

#include "base/mem.h"
#include "collective/machine_ready.h"
#include "scenario/graph_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PLACE        "/topology/host/inside"
#define SETTINGS_MAX 100 /* so that twice as many have a byte for the index */

/* The network that machines are joined by, as a graph or not. */
struct outer {
	const struct topology_conf *conf;
	struct graph_text text; /* if it is no graph */
	uint32_t hosts, switches;
	const struct graph_link *links;
	size_t link_count;
};

struct maker {
	struct conf_doc *doc;
	const struct machine_conf *machine;
	struct outer outer;
	struct graph *graph;
	struct graph_link *links; /* of the new graph */
	size_t count, capacity;
};

static void outer_open(struct outer *outer, const struct topology_conf *conf)
{
	const struct graph *graph = conf->graph;

	*outer = (struct outer){ .conf = conf };
	if (graph) {
		outer->hosts = graph->hosts;
		outer->switches = graph->switches;
		outer->links = graph->links;
		outer->link_count = graph->link_count;
		return;
	}
	graph_export(&outer->text, conf);
	outer->hosts = outer->text.hosts;
	outer->switches = outer->text.switches;
	outer->links = outer->text.links;
	outer->link_count = outer->text.link_count;
}

static void outer_close(struct outer *outer)
{
	if (!outer->conf->graph)
		graph_text_release(&outer->text);
}

static bool is_switch(const struct maker *maker)
{
	return maker->machine->gpus.wiring == GPUS_SWITCH;
}

static uint32_t machines(const struct maker *maker)
{
	return maker->outer.hosts / (uint32_t)maker->machine->gpus.count;
}

/* The new number of a node of the outer network. */
static uint32_t node_of(const struct maker *maker, uint32_t node)
{
	uint32_t gpus = (uint32_t)maker->machine->gpus.count;

	if (node >= maker->outer.hosts || maker->machine->nics.wiring == NICS_RACK)
		return node;
	return node % machines(maker) * gpus + node / machines(maker);
}

static void add_link(struct maker *maker, struct graph_link link)
{
	maker->links =
		array_reserve(maker->links, maker->count, &maker->capacity, sizeof(*maker->links));
	maker->links[maker->count++] = link;
}

/* A link inside a machine; `parts` of all links of a GPU, of which a route takes `hops`. */
static struct graph_link inner(const struct maker *maker, uint32_t a, uint32_t b, unsigned parts,
			       unsigned of, unsigned hops)
{
	const struct gpus_conf *gpus = &maker->machine->gpus;

	return (struct graph_link){ .a = a,
				    .b = b,
				    .link = { .rate = gpus->rate / of * parts,
					      .delay = gpus->latency / hops },
				    .cost = 1,
				    .inside = true };
}

static void add_machine(struct maker *maker, uint32_t m)
{
	uint32_t gpus = (uint32_t)maker->machine->gpus.count, first = m * gpus, a, b;
	uint32_t sw = maker->outer.hosts + maker->outer.switches + m;

	if (is_switch(maker))
		for (uint32_t g = 0; g < gpus; g++)
			add_link(maker, inner(maker, first + g, sw, 1, 1, 2));
	for (uint32_t g = 0; maker->machine->gpus.wiring == GPUS_MESH && g < gpus; g++)
		for (uint32_t h = g + 1; h < gpus; h++)
			add_link(maker, inner(maker, first + g, first + h, 1, gpus - 1, 1));
	for (size_t l = 0; maker->machine->gpus.wiring == GPUS_CUBE_MESH; l++) {
		unsigned parts = machine_cube_mesh(l, &a, &b);

		if (!parts)
			break;
		add_link(maker, inner(maker, first + a, first + b, parts, 6, 1));
	}
}

static void add_outer(struct maker *maker)
{
	for (size_t l = 0; l < maker->outer.link_count; l++) {
		struct graph_link link = maker->outer.links[l];

		link.cost += link.a < maker->outer.hosts;
		link.a = node_of(maker, link.a);
		link.b = node_of(maker, link.b);
		add_link(maker, link);
	}
}

static void add_links(struct maker *maker)
{
	struct graph_link *kept;

	if (!is_switch(maker))
		add_outer(maker);
	for (uint32_t m = 0; m < machines(maker); m++)
		add_machine(maker, m);
	if (is_switch(maker))
		add_outer(maker);
	kept = conf_own(maker->doc, maker->count, sizeof(*kept));
	memcpy(kept, maker->links, maker->count * sizeof(*kept));
	maker->graph->links = kept;
	maker->graph->link_count = (uint32_t)maker->count;
	free(maker->links);
}

static void name_nodes(struct maker *maker)
{
	const struct outer *outer = &maker->outer;
	uint32_t gpus = (uint32_t)maker->machine->gpus.count;
	uint32_t nodes = maker->graph->hosts + maker->graph->switches;
	const char **names = conf_own(maker->doc, nodes, sizeof(*names));

	for (uint32_t n = 0; n < outer->hosts; n++)
		names[n] = conf_at(maker->doc, "m%" PRIu32 "g%" PRIu32, n / gpus, n % gpus);
	for (uint32_t n = outer->hosts; n < outer->hosts + outer->switches; n++) {
		const struct graph_node_text *text =
			outer->conf->graph ? NULL : &outer->text.nodes[n];

		names[n] = text ? conf_at(maker->doc, "%s%" PRIu32, text->word, text->number)
				: outer->conf->graph->names[n];
	}
	for (uint32_t n = outer->hosts + outer->switches; n < nodes; n++)
		names[n] = conf_at(maker->doc, "nv%" PRIu32, n - outer->hosts - outer->switches);
	maker->graph->names = names;
}

/* Whether a switch of the outer network adds up. */
static bool adds(const struct outer *outer, uint32_t sw)
{
	const struct graph *graph = outer->conf->graph;
	const char *which = outer->conf->switches.aggregation;

	if (!graph)
		return !outer->text.nodes[outer->hosts + sw].passes;
	return !graph->settings[graph->settings_of[sw]].passes &&
	       (!strcmp(which, "all") ||
		!strcmp(which, topology_ops_of(outer->conf)->tier_names[graph->tiers[sw]]));
}

/* Of each settings there are two: as they are, and for switches that only forward. Those inside
 * machines come last; their pipelines are in the latency of "gpus". */
static void set_switches(struct maker *maker, uint32_t kinds)
{
	const struct outer *outer = &maker->outer;
	const struct graph *graph = outer->conf->graph;
	struct switch_conf *settings = conf_own(maker->doc, 2 * kinds + 1, sizeof(*settings));
	uint8_t *of = conf_own(maker->doc, maker->graph->switches, sizeof(*of));

	for (uint32_t k = 0; k < kinds; k++) {
		settings[2 * k] = graph ? graph->settings[k] : outer->conf->switches;
		settings[2 * k].passes = false;
		settings[2 * k + 1] = settings[2 * k];
		settings[2 * k + 1].passes = true;
	}
	settings[2 * kinds] = outer->conf->switches;
	settings[2 * kinds].latency = 0;
	settings[2 * kinds].passes = !!strcmp(outer->conf->switches.aggregation, "all");
	for (uint32_t s = 0; s < maker->graph->switches; s++)
		of[s] = (uint8_t)(s >= outer->switches ? 2 * kinds
						       : 2u * (graph ? graph->settings_of[s] : 0u) +
								 !adds(outer, s));
	maker->graph->settings = settings;
	maker->graph->settings_of = of;
	maker->graph->says = true;
}

/* The number of settings of the outer network's switches. */
static uint32_t kinds_of(const struct outer *outer)
{
	const struct graph *graph = outer->conf->graph;
	uint32_t max = 0;

	for (uint32_t s = 0; graph && s < graph->switches; s++)
		max = graph->settings_of[s] > max ? graph->settings_of[s] : max;
	return max + 1;
}

static bool check(const struct maker *maker, uint32_t kinds)
{
	const struct gpus_conf *gpus = &maker->machine->gpus;
	int64_t nics = maker->machine->nics.count;
	uint32_t more = is_switch(maker) ? machines(maker) : 0;
	size_t before = conf_errors(maker->doc);

	if (gpus->count < 2)
		conf_error(maker->doc, PLACE, "machines of one GPU have no inside (\"gpus\")");
	else if (nics != gpus->count)
		conf_error(maker->doc, PLACE,
			   "links inside need a NIC for each GPU: %" PRId64 " GPUs, %" PRId64
			   " NICs (\"nics\")",
			   gpus->count, nics);
	else if (gpus->shared)
		conf_error(maker->doc, PLACE,
			   "GPUs that share one link (\"shared\") are not links; write a graph");
	else if (gpus->wiring == GPUS_CUBE_MESH && gpus->count != 8)
		conf_error(maker->doc, PLACE, "a hybrid cube mesh has 8 GPUs, found %" PRId64,
			   gpus->count);
	else if (gpus->latency < 2 * PS_PER_NS)
		conf_error(maker->doc, PLACE,
			   "links take time: \"latency\" of \"gpus\" is at least 2ns here");
	else if (maker->outer.switches + more > GRAPH_SWITCHES_MAX || kinds > SETTINGS_MAX)
		conf_error(maker->doc, PLACE, "allowed: at most %d switches, of %d kinds",
			   GRAPH_SWITCHES_MAX, SETTINGS_MAX);
	return conf_errors(maker->doc) == before;
}

static void add_mistake(void *doc, const char *pointer, const char *text)
{
	(void)pointer;
	conf_error(doc, PLACE, "%s", text);
}

static void *own(void *doc, size_t count, size_t size)
{
	return conf_own(doc, count, size);
}

void machine_links_make(struct topology_conf *conf, const struct machine_conf *machine,
			struct conf_doc *doc)
{
	const struct topology_mistakes to = { add_mistake, doc };
	struct maker maker = { .doc = doc, .machine = machine };
	size_t before = conf_errors(doc);
	uint32_t kinds;

	if (machine->inside == MACHINE_RATES)
		return;
	outer_open(&maker.outer, conf);
	kinds = kinds_of(&maker.outer);
	if (check(&maker, kinds)) {
		maker.graph = conf_own(doc, 1, sizeof(*maker.graph));
		maker.graph->hosts = maker.outer.hosts;
		maker.graph->switches =
			maker.outer.switches + (is_switch(&maker) ? machines(&maker) : 0);
		name_nodes(&maker);
		set_switches(&maker, kinds);
		add_links(&maker);
		graph_finish(maker.graph, &to, own, doc);
	}
	outer_close(&maker.outer);
	if (conf_errors(doc) == before)
		conf->graph = maker.graph;
}
