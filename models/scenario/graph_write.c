#include "scenario/graph_write.h"

#include "base/mem.h"
#include "base/units.h"
#include "core/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void graph_text_init(struct graph_text *text, uint32_t hosts, uint32_t switches)
{
	*text = (struct graph_text){ .hosts = hosts, .switches = switches };
	text->nodes = xcalloc(hosts + switches, sizeof(*text->nodes));
	for (uint32_t n = 0; n < hosts + switches; n++)
		text->nodes[n].latency = SIM_TIME_MAX;
}

void graph_text_release(struct graph_text *text)
{
	free(text->nodes);
	free(text->links);
}

void graph_text_link(struct graph_text *text, uint32_t a, uint32_t b, const struct link_conf *link)
{
	text->links = array_reserve(text->links, text->link_count, &text->link_capacity,
				    sizeof(*text->links));
	text->links[text->link_count++] =
		(struct graph_link){ .a = a, .b = b, .link = *link, .cost = 1 };
}

/* --- names --- */

/* Whether a range of names that ends with node `before` can continue with `node`. */
static bool follows(const struct graph_text *text, uint32_t node, uint32_t before)
{
	const struct graph_node_text *a = &text->nodes[before], *b = &text->nodes[node];

	return !strcmp(a->word, b->word) && a->numbered && b->numbered &&
	       b->number == a->number + 1 && a->latency == b->latency && a->passes == b->passes;
}

/* Prints the nodes from `first` to `last`, whose names are consecutive, as one name or range. */
static void print_names(const struct graph_text *text, uint32_t first, uint32_t last, FILE *to)
{
	const struct graph_node_text *a = &text->nodes[first], *b = &text->nodes[last];

	if (!a->numbered)
		fprintf(to, "\"%s\"", a->word);
	else if (first == last)
		fprintf(to, "\"%s%" PRIu32 "\"", a->word, a->number);
	else
		fprintf(to, "\"%s[%" PRIu32 "-%" PRIu32 "]\"", a->word, a->number, b->number);
}

static void print_nodes(const struct graph_text *text, uint32_t first, uint32_t end, FILE *to)
{
	char latency[32];

	for (uint32_t node = first; node < end;) {
		uint32_t last = node;
		sim_time own = text->nodes[node].latency;
		bool passes = text->nodes[node].passes, set = own != SIM_TIME_MAX || passes;

		while (last + 1 < end && follows(text, last + 1, last))
			last++;
		fputs(node == first ? "" : ", ", to);
		if (set)
			fputs("{ \"name\": ", to);
		print_names(text, node, last, to);
		if (own != SIM_TIME_MAX)
			fprintf(to, ", \"latency\": \"%s\"",
				unit_format(UNIT_TIME, own, latency, sizeof(latency)));
		if (passes)
			fputs(", \"aggregation\": false", to);
		fputs(set ? " }" : "", to);
		node = last + 1;
	}
}

/* --- links --- */

bool graph_links_alike(const struct graph_link *a, const struct graph_link *b)
{
	return a->link.rate == b->link.rate && a->link.delay == b->link.delay &&
	       a->link.loss == b->link.loss;
}

/* Links that become one item: parallel links, or links between one node and several nodes with
 * consecutive names. */
struct run {
	size_t count;                  /* links */
	uint32_t a, a_last, b, b_last; /* the first and the last node at each end */
	unsigned parallel;             /* number of parallel links; 1 for several pairs of nodes */
};

static struct run run_at(const struct graph_text *text, size_t first)
{
	const struct graph_link *links = text->links, *one = &links[first];
	struct run run = { .count = 1,
			   .a = one->a,
			   .a_last = one->a,
			   .b = one->b,
			   .b_last = one->b,
			   .parallel = 1 };

	while (first + run.count < text->link_count) {
		const struct graph_link *next = one + run.count;

		if (!graph_links_alike(one, next))
			break;
		if (next->a == one->a && next->b == one->b && run.parallel == run.count)
			run.parallel++;
		else if (run.parallel == 1 && next->a == one->a && run.a_last == run.a &&
			 follows(text, next->b, run.b_last) && next->b == run.b_last + 1)
			run.b_last = next->b;
		else if (run.parallel == 1 && next->b == one->b && run.b_last == run.b &&
			 follows(text, next->a, run.a_last) && next->a == run.a_last + 1)
			run.a_last = next->a;
		else
			break;
		run.count++;
	}
	return run;
}

/* Prints the item that begins with link `first`. Returns the number of links in the item. */
static size_t print_link(const struct graph_text *text, size_t first, FILE *to)
{
	const struct link_conf *link = &text->links[first].link;
	struct run run = run_at(text, first);
	char rate[32], delay[32];

	fputs("    { \"from\": ", to);
	print_names(text, run.a, run.a_last, to);
	fputs(", \"to\": ", to);
	print_names(text, run.b, run.b_last, to);
	if (run.parallel > 1)
		fprintf(to, ", \"count\": %u", run.parallel);
	fprintf(to, ", \"rate\": \"%s\", \"delay\": \"%s\"",
		unit_format(UNIT_RATE, link->rate, rate, sizeof(rate)),
		unit_format(UNIT_TIME, link->delay, delay, sizeof(delay)));
	if (link->loss > 0)
		fprintf(to, ", \"loss\": %.17g", link->loss);
	fputs(" }", to);
	return run.count;
}

void graph_text_print(const struct graph_text *text, FILE *to)
{
	fputs("{\n  \"hosts\": [", to);
	print_nodes(text, 0, text->hosts, to);
	fputs("],\n  \"switches\": [", to);
	print_nodes(text, text->hosts, text->hosts + text->switches, to);
	fputs("],\n  \"links\": [\n", to);
	for (size_t l = 0; l < text->link_count;) {
		l += print_link(text, l, to);
		fputs(l < text->link_count ? ",\n" : "\n", to);
	}
	fputs("  ]\n}\n", to);
}

/* --- from a topology --- */

static void name_nodes(struct graph_text *text, const struct topology *topo)
{
	for (uint32_t n = 0; n < text->hosts + text->switches; n++) {
		struct graph_node_text *node = &text->nodes[n];
		char name[24];
		size_t word;

		topology_node_name(topo, n, name, sizeof(name));
		word = strcspn(name, "0123456789");
		SIM_BUG_ON(word >= sizeof(node->word));
		memcpy(node->word, name, word);
		node->numbered = name[word];
		node->number = (uint32_t)strtoul(name + word, NULL, 10);
	}
}

/* Whether `port` is the next port of its node to get a link. A host has only one port. */
static bool has_turn(const struct network *net, uint32_t node, uint32_t port, const uint16_t *next)
{
	return node < net->hosts || network_port(net, node, next[node - net->hosts]) == port;
}

/* Adds the links of switch `sw` from its next port on. Ports must keep their order at both ends, so
 * this stops at the first link whose far end is not the next port of its node. Returns whether a
 * link was added. */
static bool add_links(struct graph_text *text, const struct topology *topo, uint32_t sw,
		      uint16_t *next)
{
	const struct network *net = &topo->net;
	uint16_t first = next[sw];

	for (; next[sw] < net->switch_nodes[sw].ports; next[sw]++) {
		uint32_t port = network_port(net, net->hosts + sw, next[sw]);
		uint32_t peer = net->ports[port].to;
		struct link_conf link = topology_link_conf(topo->conf, peer >= net->hosts);

		if (!has_turn(net, peer, net->cold[port].reverse, next))
			break;
		if (peer < net->hosts)
			graph_text_link(text, peer, net->hosts + sw, &link);
		else
			graph_text_link(text, net->hosts + sw, peer, &link);
		if (peer >= net->hosts)
			next[peer - net->hosts]++;
	}
	return next[sw] != first;
}

void graph_export(struct graph_text *text, const struct topology_conf *conf)
{
	struct topology topo;
	struct sim sim;
	uint16_t *next; /* by switch: the first port without a link so far */
	bool more = true;

	sim_init(&sim, 1);
	topology_build(&topo, conf, &sim);
	graph_text_init(text, topo.net.hosts, topo.net.switches);
	name_nodes(text, &topo);
	for (uint32_t sw = 0; sw < text->switches; sw++)
		text->nodes[text->hosts + sw].passes = !topology_aggregates(&topo, sw);
	next = xcalloc(text->switches, sizeof(*next));
	while (more) { /* a switch that stops in one round goes on in a later one */
		more = false;
		for (uint32_t sw = 0; sw < text->switches; sw++)
			more |= add_links(text, &topo, sw, next);
	}
	for (uint32_t sw = 0; sw < text->switches; sw++)
		SIM_BUG_ON(next[sw] != topo.net.switch_nodes[sw].ports);
	free(next);
	topology_release(&topo);
	sim_release(&sim);
}
