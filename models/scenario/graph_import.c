/* Reads topologies of other simulators (graph_import() in graph_write.h).
 *
 * HPCC (alibaba-edu/High-Precision-Congestion-Control, simulation/mix) and ASTRA-sim: a line "nodes
 * switches links", a line with the numbers of the switches, and a line "node node rate delay loss"
 * for each link. PowerTCP, ABM and Reverie (inet-tub/ns3-datacenter): the first line is "nodes
 * switches racks links", perhaps with two rates behind it, which the program uses only for loads.
 * SimAI (ns-3 part): a line "nodes gpus_per_server nvswitches switches links gpu_type", a line with
 * the numbers of the NVSwitches and then of the switches, and links as in HPCC. A rate without a
 * unit is in bit/s, as in ns-3. csg-htsim
 * (sim/datacenter/fat_tree_topology.cpp): lines of a word and a number, which describe a fat tree
 * tier by tier; rates are in Gbps, latencies in ns. */
#include "scenario/graph_write.h"

#include "base/mem.h"
#include "base/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A file that is read line by line. */
struct lines {
	FILE *from;
	char *text; /* the current line */
	size_t text_size;
	char **words; /* of the line, inside `text` */
	size_t count, capacity;
	unsigned number; /* of the line, from 1 */
	char **error;    /* the first mistake */
};

static void tell(struct lines *lines, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void tell(struct lines *lines, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!*lines->error)
		*lines->error = xasprintf("line %u: %s", lines->number, text);
}
/* Reports a mistake. The value is false, so callers can return it. */
#define wrong(...) (tell(__VA_ARGS__), false)

/* Reads the words of the next line that is not empty, up to "#". False at the end of the file. */
static bool next_line(struct lines *lines)
{
	for (lines->count = 0;
	     !lines->count && getline(&lines->text, &lines->text_size, lines->from) >= 0;) {
		char *rest = NULL;

		lines->number++;
		for (char *word = strtok_r(lines->text, " \t\r\n", &rest); word && *word != '#';
		     word = strtok_r(NULL, " \t\r\n", &rest)) {
			lines->words = array_reserve(lines->words, lines->count, &lines->capacity,
						     sizeof(*lines->words));
			lines->words[lines->count++] = word;
		}
	}
	return lines->count > 0;
}

static bool read_number(struct lines *lines, const char *word, uint64_t max, uint32_t *number)
{
	char *end;

	unsigned long long value = strtoull(word, &end, 10);

	if (!isdigit((unsigned char)*word) || *end || value > max)
		return wrong(lines, "\"%.40s\" is not a number from 0 to %" PRIu64, word, max);
	*number = (uint32_t)value;
	return true;
}

/* --- HPCC, SimAI --- */

struct ns3 {
	uint32_t nodes, nvswitches, switches, links;
	uint32_t gpus; /* of a server; 0 in HPCC */
	/* By the node's number in the file: */
	uint8_t *kinds;    /* NS3_... */
	uint32_t *numbers; /* number in the graph; unused for NVSwitches, which the graph lacks */
	uint32_t *ports;   /* number of ports */
	bps nvlink;        /* rate of NVLinks; 0: there are none */
	uint32_t *leaf;    /* far end of the first link of each host, by numbers in the graph */
};
enum { NS3_HOST, NS3_NVSWITCH, NS3_SWITCH };

static bool read_header(struct lines *lines, struct ns3 *ns3)
{
	uint32_t racks; /* not needed: the links say it */
	uint32_t *const hpcc[] = { &ns3->nodes, &ns3->switches, &ns3->links };
	uint32_t *const powertcp[] = { &ns3->nodes, &ns3->switches, &racks, &ns3->links };
	uint32_t *const simai[] = { &ns3->nodes, &ns3->gpus, &ns3->nvswitches, &ns3->switches,
				    &ns3->links };
	bool names_gpu = lines->count == 6 && isalpha((unsigned char)lines->words[5][0]);
	uint32_t *const *numbers = names_gpu ? simai : lines->count == 3 ? hpcc : powertcp;
	uint64_t needed;

	if (lines->count != 3 && lines->count != 4 && lines->count != 6)
		return wrong(lines,
			     "the first line of a topology has 3 numbers (HPCC: nodes, switches, "
			     "links), 4 (PowerTCP: nodes, switches, racks, links), 6 words (SimAI) "
			     "or begins with a word (csg-htsim's .topo: Nodes 16); a list of flows "
			     "is none");
	for (size_t i = 0; i < (names_gpu ? 5 : lines->count == 3 ? 3 : 4); i++)
		if (!read_number(lines, lines->words[i], GRAPH_LINKS_MAX, numbers[i]))
			return false;
	if (!ns3->switches)
		return wrong(
			lines,
			"the network has no switch, and the first link of a host leads to one");
	needed = (uint64_t)ns3->nvswitches + ns3->switches;
	if (ns3->nodes < needed + 2 || ns3->nodes - needed > GRAPH_HOSTS_MAX ||
	    ns3->switches > GRAPH_SWITCHES_MAX)
		return wrong(lines,
			     "allowed: 2 to %d hosts and 1 to %d switches beside %" PRIu32
			     " NVSwitches, among %" PRIu32 " nodes",
			     GRAPH_HOSTS_MAX, GRAPH_SWITCHES_MAX, ns3->nvswitches, ns3->nodes);
	return true;
}

static bool read_switches(struct lines *lines, struct ns3 *ns3)
{
	uint32_t wanted = ns3->nvswitches + ns3->switches, node;

	if (!next_line(lines) || lines->count != wanted)
		return wrong(lines,
			     "the numbers of %" PRIu32 " switches are expected, found %zu words",
			     wanted, lines->count);
	for (uint32_t i = 0; i < wanted; i++) {
		if (!read_number(lines, lines->words[i], ns3->nodes - 1, &node))
			return false;
		if (ns3->kinds[node] != NS3_HOST)
			return wrong(lines, "switch %" PRIu32 " is listed twice", node);
		ns3->kinds[node] = i < ns3->nvswitches ? NS3_NVSWITCH : NS3_SWITCH;
	}
	return true;
}

/* Numbers hosts from 0, then switches. Names contain the numbers of the file. */
static void number_nodes(struct graph_text *text, struct ns3 *ns3)
{
	uint32_t hosts = 0, switches = text->hosts;

	for (uint32_t node = 0; node < ns3->nodes; node++) {
		struct graph_node_text *named;

		if (ns3->kinds[node] == NS3_NVSWITCH)
			continue;
		ns3->numbers[node] = ns3->kinds[node] == NS3_HOST ? hosts++ : switches++;
		named = &text->nodes[ns3->numbers[node]];
		named->word[0] = ns3->kinds[node] == NS3_HOST ? 'h' : 's';
		named->numbered = true;
		named->number = node;
	}
}

/* A rate with its unit or, as ns-3 reads it, a plain number of bit/s ("25000000000.0"). */
static bool read_rate(struct lines *lines, const char *word, bps *rate)
{
	char *end;
	double plain = strtod(word, &end);

	if (isdigit((unsigned char)*word) && !*end && plain >= 1 && plain <= TOPOLOGY_RATE_MAX) {
		*rate = (bps)plain;
		return true;
	}
	return unit_parse(UNIT_RATE, word, rate) == UNIT_OK ||
	       wrong(lines, "\"%.40s\" is not a rate, such as 100Gbps", word);
}

static bool read_link(struct lines *lines, struct ns3 *ns3, struct graph_text *text)
{
	uint32_t a, b;
	struct link_conf link;
	char *end;

	if (lines->count != 5)
		return wrong(lines, "a link is \"node node rate delay loss\", found %zu words",
			     lines->count);
	if (!read_number(lines, lines->words[0], ns3->nodes - 1, &a) ||
	    !read_number(lines, lines->words[1], ns3->nodes - 1, &b))
		return false;
	if (!read_rate(lines, lines->words[2], &link.rate))
		return false;
	if (unit_parse(UNIT_TIME, lines->words[3], &link.delay) != UNIT_OK)
		return wrong(lines, "\"%.40s\" is not a delay, such as 1000ns", lines->words[3]);
	link.loss = strtod(lines->words[4], &end);
	if (*end || !(link.loss >= 0 && link.loss <= 0.9))
		return wrong(lines, "\"%.40s\" is not a loss from 0 to 0.9", lines->words[4]);
	if (a == b)
		return wrong(lines, "joins node %" PRIu32 " with itself", a);
	if (ns3->kinds[a] == NS3_NVSWITCH || ns3->kinds[b] == NS3_NVSWITCH) {
		if (ns3->kinds[a] == NS3_SWITCH || ns3->kinds[b] == NS3_SWITCH)
			return wrong(lines,
				     "joins an NVSwitch with a switch, which a graph cannot do");
		ns3->nvlink = link.rate;
		return true;
	}
	if (++ns3->ports[a] > UINT16_MAX || ++ns3->ports[b] > UINT16_MAX)
		return wrong(lines, "node %" PRIu32 " has more than %d links",
			     ns3->ports[a] > UINT16_MAX ? a : b, UINT16_MAX);
	for (int i = 0; i < 2; i++) {
		uint32_t host = i ? b : a, peer = i ? a : b;

		if (ns3->kinds[host] == NS3_HOST && ns3->ports[host] == 1) /* its first */
			ns3->leaf[ns3->numbers[host]] = ns3->numbers[peer];
	}
	graph_text_link(text, ns3->numbers[a], ns3->numbers[b], &link);
	return true;
}

struct keyed_link {
	uint64_t pair; /* its nodes; later the number of the first link between them */
	size_t like;   /* number of the first link between them that is like this one */
	size_t number;
	struct graph_link link;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed_link *x = a, *y = b;

	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	if (x->like != y->like)
		return x->like < y->like ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Puts parallel links behind the first one between their nodes, and those that are alike, which are
 * one item of a graph, behind the first of these. */
static void gather(struct graph_text *text)
{
	size_t count = text->link_count, first = 0;
	struct keyed_link *all = xcalloc(count + 1, sizeof(*all));
	uint64_t pair = 0;

	for (size_t l = 0; l < count; l++) {
		uint64_t a = text->links[l].a, b = text->links[l].b;

		all[l] = (struct keyed_link){ .pair = a < b ? a << 32 | b : b << 32 | a,
					      .number = l,
					      .link = text->links[l] };
	}
	qsort(all, count, sizeof(*all), by_key);
	for (size_t l = 0; l < count; l++) {
		size_t like;

		if (!l || all[l].pair != pair)
			first = l;
		pair = all[l].pair;
		all[l].pair = all[first].number;
		all[l].link.a = all[first].link.a; /* from and to in one order */
		all[l].link.b = all[first].link.b;
		for (like = first; !graph_links_alike(&all[like].link, &all[l].link);)
			like++;
		all[l].like = all[like].number;
	}
	qsort(all, count, sizeof(*all), by_key);
	for (size_t l = 0; l < count; l++)
		text->links[l] = all[l].link;
	free(all);
}

/* Whether the GPUs of each server are all below one switch. */
static bool on_one_switch(const struct ns3 *ns3, uint32_t hosts)
{
	for (uint32_t h = 1; h < hosts; h++)
		if (h % ns3->gpus && ns3->leaf[h] != ns3->leaf[h - 1])
			return false;
	return true;
}

/* Renumbers hosts for rails. The file lists hosts machine by machine; with rails, NIC i of machine
 * m must be host i * machines + m (collective/machine_conf.h). */
static void order_by_rail(struct graph_text *text, uint32_t gpus)
{
	uint32_t machines = text->hosts / gpus;
	struct graph_node_text *nodes = xcalloc(text->hosts, sizeof(*nodes));

	for (uint32_t h = 0; h < text->hosts; h++)
		nodes[h % gpus * machines + h / gpus] = text->nodes[h];
	memcpy(text->nodes, nodes, text->hosts * sizeof(*nodes));
	for (size_t l = 0; l < text->link_count; l++) {
		struct graph_link *link = &text->links[l];

		if (link->a < text->hosts)
			link->a = link->a % gpus * machines + link->a / gpus;
		if (link->b < text->hosts)
			link->b = link->b % gpus * machines + link->b / gpus;
	}
	free(nodes);
}

/* A graph cannot say which hosts are NICs of one machine; the scenario must. Returns a note with
 * the keys for the scenario (caller frees), and renumbers hosts to match. Returns NULL if the file
 * has no machines with several GPUs, no NVLinks, or a last machine with fewer GPUs. */
static char *tell_machines(struct graph_text *text, const struct ns3 *ns3)
{
	bool rack;
	char rate[32];

	if (ns3->gpus < 2 || !ns3->nvlink || text->hosts % ns3->gpus)
		return NULL;
	rack = on_one_switch(ns3, text->hosts);
	if (!rack)
		order_by_rail(text, ns3->gpus);
	unit_format(UNIT_RATE, ns3->nvlink, rate, sizeof(rate));
	return xasprintf(
		"%" PRIu32 " machines of %" PRIu32 " GPUs, a NIC each; in the topology of the "
		"scenario: \"host\": { \"gpus\": { \"count\": %" PRIu32 ", \"rate\": \"%s\" }, "
		"\"nics\": { \"count\": %" PRIu32 ", \"wiring\": \"%s\" } }",
		text->hosts / ns3->gpus, ns3->gpus, ns3->gpus, rate, ns3->gpus,
		rack ? "rack" : "rails");
}

static bool read_links(struct lines *lines, struct ns3 *ns3, struct graph_text *text)
{
	for (uint32_t l = 0; l < ns3->links; l++) {
		if (!next_line(lines))
			return wrong(lines, "the file ends after %" PRIu32 " of %" PRIu32 " links",
				     l, ns3->links);
		if (!read_link(lines, ns3, text))
			return false;
	}
	return true;
}

static bool import_ns3(struct lines *lines, struct graph_text *text, char **note)
{
	struct ns3 ns3 = { 0 };
	bool right = false;

	if (!read_header(lines, &ns3))
		return false;
	ns3.kinds = xcalloc(ns3.nodes, sizeof(*ns3.kinds));
	ns3.numbers = xcalloc(ns3.nodes, sizeof(*ns3.numbers));
	ns3.ports = xcalloc(ns3.nodes, sizeof(*ns3.ports));
	ns3.leaf = xcalloc(ns3.nodes, sizeof(*ns3.leaf));
	if (read_switches(lines, &ns3)) {
		graph_text_init(text, ns3.nodes - ns3.nvswitches - ns3.switches, ns3.switches);
		number_nodes(text, &ns3);
		right = read_links(lines, &ns3, text);
		if (right) {
			gather(text);
			*note = tell_machines(text, &ns3);
		}
		if (right && !*note && next_line(lines)) /* as in HPCC's own topology.txt */
			*note = xasprintf("what follows the %" PRIu32 " links of the first line is "
					  "left out: HPCC's simulator does not read it either",
					  ns3.links);
		if (!right)
			graph_text_release(text);
	}
	free(ns3.kinds);
	free(ns3.numbers);
	free(ns3.ports);
	free(ns3.leaf);
	return right;
}

/* --- csg-htsim --- */

enum { HTSIM_TOR, HTSIM_AGG, HTSIM_CORE, HTSIM_TIERS };

struct htsim {
	uint32_t nodes, tiers, pod;
	struct htsim_tier {
		bool given;
		uint32_t gbps, up, down, bundle, oversubscribed, link_ns, switch_ns, queue;
	} tier[HTSIM_TIERS];
};

static bool read_htsim(struct lines *lines, struct htsim *topo)
{
	struct htsim_tier *tier = NULL;

	do {
		/* words of a tier have no value (NULL) before the first "tier" line */
		const struct {
			const char *word;
			uint32_t *value;
		} keys[] = {
			{ "nodes", &topo->nodes },
			{ "tiers", &topo->tiers },
			{ "podsize", &topo->pod },
			{ "downlink_speed_gbps", tier ? &tier->gbps : NULL },
			{ "radix_up", tier ? &tier->up : NULL },
			{ "radix_down", tier ? &tier->down : NULL },
			{ "bundle", tier ? &tier->bundle : NULL },
			{ "oversubscribed", tier ? &tier->oversubscribed : NULL },
			{ "downlink_latency_ns", tier ? &tier->link_ns : NULL },
			{ "switch_latency_ns", tier ? &tier->switch_ns : NULL },
			{ "queue_up", tier ? &tier->queue : NULL },
			{ "queue_down", tier ? &tier->queue : NULL },
		};
		uint32_t number;
		size_t i = 0;

		if (lines->count != 2)
			return wrong(lines, "a word and a number are expected");
		if (!read_number(lines, lines->words[1], INT32_MAX, &number))
			return false;
		if (!strcasecmp(lines->words[0], "tier")) {
			if (number >= HTSIM_TIERS)
				return wrong(lines, "there are tiers 0 to 2");
			tier = &topo->tier[number];
			*tier = (struct htsim_tier){ .given = true,
						     .bundle = 1,
						     .oversubscribed = 1 };
			continue; /* to the next line */
		}
		while (i < sizeof(keys) / sizeof(keys[0]) &&
		       strcasecmp(lines->words[0], keys[i].word))
			i++;
		if (!strcasecmp(lines->words[0], "connections"))
			return wrong(lines, "this is a connection matrix (.cm): flows, which are "
					    "\"flows\" of a scenario, with their \"pairs\" or a "
					    "trace; the topology is the .topo file");
		if (i == sizeof(keys) / sizeof(keys[0]))
			return wrong(lines, "unknown word \"%.40s\"", lines->words[0]);
		if (!keys[i].value)
			return wrong(lines, "\"%.40s\" belongs to a tier", lines->words[0]);
		*keys[i].value = number;
	} while (next_line(lines));
	return true;
}

/* The size of a fat tree, as set_custom_params() of csg-htsim computes it. */
struct htsim_counts {
	uint64_t pods, tors, aggs, cores; /* switches: totals over all pods */
};

static bool count_htsim(struct lines *lines, const struct htsim *topo, struct htsim_counts *counts)
{
	const struct htsim_tier *tor = &topo->tier[HTSIM_TOR], *agg = &topo->tier[HTSIM_AGG],
				*core = &topo->tier[HTSIM_CORE];

	if (topo->tiers < 2 || topo->tiers > 3 || topo->nodes < 2 || topo->nodes > GRAPH_HOSTS_MAX)
		return wrong(lines, "allowed: 2 or 3 tiers, 2 to %d nodes", GRAPH_HOSTS_MAX);
	for (uint32_t t = 0; t < topo->tiers; t++) {
		const struct htsim_tier *tier = &topo->tier[t];

		if (!tier->given || !tier->gbps || !tier->down || !tier->link_ns || !tier->bundle ||
		    !tier->oversubscribed || (t + 1 < topo->tiers && !tier->up))
			return wrong(lines,
				     "tier %" PRIu32 " needs Downlink_speed_Gbps, Radix_Down, "
				     "Downlink_Latency_ns and, below another, Radix_Up",
				     t);
	}
	if (!topo->pod || topo->nodes % topo->pod || topo->pod % tor->down || tor->bundle != 1 ||
	    tor->up % agg->bundle || agg->down % agg->bundle)
		return wrong(lines,
			     "numbers of nodes, pods, switches and bundles do not divide evenly");
	counts->pods = topo->tiers == 2 ? 1 : topo->nodes / topo->pod;
	counts->tors = topo->nodes / tor->down;
	counts->aggs = counts->pods * (tor->up / agg->bundle);
	counts->cores =
		topo->tiers == 2 ? 0 : (uint64_t)(tor->up / agg->bundle) * (agg->up / core->bundle);
	if (agg->down / agg->bundle != counts->tors / counts->pods)
		return wrong(lines,
			     "Radix_Down of tier 1 is not that of the switches of a pod below it");
	if (topo->tiers == 3 && (agg->up % core->bundle || core->down % core->bundle ||
				 core->down / core->bundle != counts->pods))
		return wrong(lines, "Radix_Down of tier 2 is not that of the pods below it");
	if (counts->tors + counts->aggs + counts->cores > GRAPH_SWITCHES_MAX)
		return wrong(lines, "more than %d switches", GRAPH_SWITCHES_MAX);
	if (topo->nodes + counts->tors * tor->up + (topo->tiers == 3 ? counts->aggs * agg->up : 0) >
	    GRAPH_LINKS_MAX)
		return wrong(lines, "more than %d links", GRAPH_LINKS_MAX);
	for (uint32_t t = 0; t < topo->tiers; t++) {
		uint64_t up = t + 1 < topo->tiers ? topo->tier[t].up : 0;

		if (topo->tier[t].down + up > UINT16_MAX)
			return wrong(lines, "a switch of tier %" PRIu32 " has more than %d links",
				     t, UINT16_MAX);
	}
	return true;
}

/* Names `count` nodes from `first` on: `word` with 0, 1, ... `tier`: NULL for hosts. */
static void name_htsim(struct graph_text *text, uint32_t first, uint64_t count, const char *word,
		       const struct htsim_tier *tier)
{
	for (uint32_t i = 0; i < count; i++) {
		snprintf(text->nodes[first + i].word, sizeof(text->nodes[0].word), "%s", word);
		text->nodes[first + i].numbered = true;
		text->nodes[first + i].number = i;
		if (tier)
			text->nodes[first + i].latency = (sim_time)tier->switch_ns * PS_PER_NS;
	}
}

/* A down-link of a switch of tier `above`. */
static struct link_conf htsim_link(const struct htsim_tier *above)
{
	return (struct link_conf){ .rate = (bps)above->gbps * 1000000000,
				   .delay = (sim_time)above->link_ns * PS_PER_NS };
}

static void link_htsim(struct graph_text *text, const struct htsim *topo,
		       const struct htsim_counts *counts)
{
	struct link_conf host = htsim_link(&topo->tier[HTSIM_TOR]),
			 up = htsim_link(&topo->tier[HTSIM_AGG]),
			 top = htsim_link(&topo->tier[HTSIM_CORE]);
	/* number of the first node of each tier */
	uint32_t tors = text->hosts, aggs = tors + (uint32_t)counts->tors,
		 cores = aggs + (uint32_t)counts->aggs;
	uint32_t tors_of_pod = (uint32_t)(counts->tors / counts->pods),
		 aggs_of_pod = (uint32_t)(counts->aggs / counts->pods);

	for (uint32_t h = 0; h < text->hosts; h++)
		graph_text_link(text, h, tors + h / topo->tier[HTSIM_TOR].down, &host);
	for (uint32_t t = 0; t < counts->tors; t++)
		for (uint32_t a = 0; a < aggs_of_pod; a++)
			for (uint32_t n = 0; n < topo->tier[HTSIM_AGG].bundle; n++)
				graph_text_link(text, tors + t,
						aggs + t / tors_of_pod * aggs_of_pod + a, &up);
	/* aggregation switch i of each pod is linked to cores i, i + aggs_of_pod, ... */
	for (uint32_t a = 0; a < counts->aggs && counts->cores; a++)
		for (uint32_t c = a % aggs_of_pod; c < counts->cores; c += aggs_of_pod)
			for (uint32_t n = 0; n < topo->tier[HTSIM_CORE].bundle; n++)
				graph_text_link(text, aggs + a, cores + c, &top);
}

static bool import_htsim(struct lines *lines, struct graph_text *text, char **note)
{
	struct htsim topo = { 0 };
	struct htsim_counts counts;
	uint32_t tors, aggs; /* number of the first node of each tier */

	if (!read_htsim(lines, &topo) || !count_htsim(lines, &topo, &counts))
		return false;
	graph_text_init(text, topo.nodes, (uint32_t)(counts.tors + counts.aggs + counts.cores));
	tors = topo.nodes;
	aggs = tors + (uint32_t)counts.tors;
	name_htsim(text, 0, topo.nodes, "h", NULL);
	name_htsim(text, tors, counts.tors, "tor", &topo.tier[HTSIM_TOR]);
	name_htsim(text, aggs, counts.aggs, "agg", &topo.tier[HTSIM_AGG]);
	name_htsim(text, aggs + (uint32_t)counts.aggs, counts.cores, "core",
		   &topo.tier[HTSIM_CORE]);
	link_htsim(text, &topo, &counts);
	if (topo.tier[HTSIM_TOR].queue || topo.tier[HTSIM_AGG].queue || topo.tier[HTSIM_CORE].queue)
		*note = xstrdup("Queue_Up and Queue_Down are left out; see \"buffer\" of switches");
	return true;
}

bool graph_import(struct graph_text *text, FILE *from, char **note, char **error)
{
	struct lines lines = { .from = from, .error = error };
	bool right;

	*note = *error = NULL;
	if (!next_line(&lines))
		right = wrong(&lines, "the file is empty");
	else if (isalpha((unsigned char)lines.words[0][0]))
		right = import_htsim(&lines, text, note);
	else
		right = import_ns3(&lines, text, note);
	free(lines.text);
	free(lines.words);
	return right;
}
