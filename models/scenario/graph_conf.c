#include "scenario/graph_conf.h"

#include "base/mem.h"
#include "scenario/graph_names.h"
#include "scenario/topology_conf.h"
#include "workload/data_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX   (UINT64_C(1) << 40) /* bytes of a port or a switch; more than any real one */
#define SETTINGS_MAX 200 /* graph->settings_of has a byte for the index of a switch's settings */

/* --- rows --- */

static const struct conf_row name_row = {
	.type = CONF_STRING, .help = "A name, or names in a range: \"h[0-15]\", \"n[01-16,20]\"."
};

static const struct conf_row ecn_forms[] = { ECN_FORMS(struct graph_switch_set, ecn), { 0 } };
static const struct conf_table ecn_table = { "graph_switch_ecn", ecn_forms, 0, NULL };

static const struct conf_row aggregation_forms[] = {
	CONF_BOOL("switch", struct graph_switch_set, aggregation.on, CONF_REQUIRED,
		  "true: as in /topology/switch."),
	CONF_BYTES("memory", struct graph_switch_set, aggregation.memory, CONF_REQUIRED, 8,
		   MEMORY_MAX, "So much aggregation memory. ATP, ESA and SHARP refuse this."),
	{ 0 },
};
static const struct conf_table aggregation_table = { "graph_aggregation", aggregation_forms, 0,
						     NULL };

static const struct conf_row switch_set_rows[] = {
	CONF_STRING("name", struct graph_switch_set, name, CONF_REQUIRED,
		    "Name of the switch, or names in a range."),
	CONF_TIME("latency", struct graph_switch_set, latency, CONF_OPTIONAL, 0, PS_PER_S,
		  "Latency of the pipeline. Default: that of /topology/switch.",
		  .present = CONF_GIVEN(struct graph_switch_set, latency_given)),
	CONF_BYTES("buffer", struct graph_switch_set, buffer, CONF_OPTIONAL, 1518, MEMORY_MAX,
		   "Queue of each egress port. Default: as in /topology/switch."),
	CONF_ONEOF("ecn", struct graph_switch_set, ecn, CONF_OPTIONAL, &ecn_table, ecn.form,
		   "ECN marking. Default: as in /topology/switch.",
		   .present = CONF_GIVEN(struct graph_switch_set, ecn_given)),
	CONF_ONEOF("aggregation", struct graph_switch_set, aggregation, "true", &aggregation_table,
		   aggregation.form,
		   "false: the switch adds nothing up, whatever /topology/switch says. A size: its "
		   "aggregation memory, in place of the scheme's \"memory\"."),
	{ 0 },
};
static const struct conf_table switch_set_table = { "graph_switch", switch_set_rows,
						    sizeof(struct graph_switch_set),
						    "Switches with settings of their own." };
static const struct conf_row switch_forms[] = {
	CONF_STRING("name", struct graph_switch_conf, name, CONF_REQUIRED,
		    "A switch like all others."),
	CONF_OBJECT("set", struct graph_switch_conf, set, CONF_REQUIRED, &switch_set_table,
		    "A switch with settings of its own."),
	{ 0 },
};
static const struct conf_table switch_table = { "graph_switch_forms", switch_forms,
						sizeof(struct graph_switch_conf), NULL };
static const struct conf_row switch_row = { .type = CONF_ONEOF,
					    .table = &switch_table,
					    .tag = offsetof(struct graph_switch_conf, form),
					    .help = "A name, or a name with settings." };

static const char *const pairs_names[] = {
	[GRAPH_PAIRS_ALL] = "all", [GRAPH_PAIRS_EACH] = "each", NULL
};

static const struct conf_row link_rows[] = {
	CONF_STRING("from", struct graph_link_conf, from, CONF_REQUIRED,
		    "Hosts or switches, a name or names in a range."),
	CONF_STRING("to", struct graph_link_conf, to, CONF_REQUIRED, "The other end."),
	CONF_ENUM("pairs", struct graph_link_conf, pairs, "all", pairs_names,
		  "all: joins each of \"from\" with all of \"to\"; each: joins the first with the "
		  "first, the second with the second, and so on.",
		  "our choice"),
	CONF_INT("count", struct graph_link_conf, count, "1", 1, UINT16_MAX,
		 "Number of parallel links; ECMP, or a host, chooses among them as among others."),
	CONF_RATE("rate", struct graph_link_conf, rate, CONF_OPTIONAL, 1000000,
		  UINT64_C(100000000000000),
		  "Bit rate of each direction. Default: that of /topology/link or, between "
		  "switches, /topology/uplink if given."),
	CONF_TIME("delay", struct graph_link_conf, delay, CONF_OPTIONAL, PS_PER_NS, PS_PER_S,
		  "Propagation delay, one way. Default: as for the rate."),
	CONF_REAL("loss", struct graph_link_conf, loss, CONF_OPTIONAL, 0, 0.9,
		  "Probability that a packet is lost. Default: as for the rate.",
		  .present = CONF_GIVEN(struct graph_link_conf, loss_given)),
	CONF_INT("cost", struct graph_link_conf, cost, "1", 1, 1000,
		 "Length that the link adds to a path; routes are the shortest paths.",
		 "hops, as ECMP in data centres"),
	{ 0 },
};
static const struct conf_table link_table = { "graph_link", link_rows,
					      sizeof(struct graph_link_conf),
					      "Links between hosts, switches, or both." };
static const struct conf_row link_row = { .type = CONF_OBJECT, .table = &link_table };

static const struct conf_row graph_rows[] = {
	CONF_LIST("hosts", struct graph_conf, hosts, CONF_REQUIRED, &name_row, 1, GRAPH_HOSTS_MAX,
		  "Hosts. They are numbered in this order, from 0. A host may have several links; "
		  "its "
		  "connections take those of shortest routes, by a hash."),
	CONF_LIST("switches", struct graph_conf, switches, CONF_REQUIRED, &switch_row, 1,
		  GRAPH_SWITCHES_MAX, "Switches."),
	CONF_LIST("links", struct graph_conf, links, CONF_REQUIRED, &link_row, 1, GRAPH_LINKS_MAX,
		  "Links. Ports of a switch, and choices of ECMP, are in this order."),
	{ 0 },
};
const struct conf_table graph_table = { "graph", graph_rows, sizeof(struct graph_conf),
					"A network: hosts, switches, links." };

/* --- reading --- */

struct reader {
	const struct topology_conf *topology;
	struct conf_doc *owner; /* the scenario's; owns the graph */
	struct conf_doc *doc;   /* contains the graph's text: `owner`, or the graph file's */
	const char *base;       /* JSON pointer of the graph in `doc` */
	size_t others;          /* errors that `doc` had before the graph was read */
	struct graph *graph;
	struct names nodes; /* in the order of their numbers */
	uint32_t *by_name;  /* numbers of nodes, sorted by name */
};

/* Adds an error to reader->doc; makes a JSON pointer into reader->doc. */
#define wrong(reader, place, ...) conf_error((reader)->doc, place, __VA_ARGS__)
#define at(reader, ...)           conf_at((reader)->doc, __VA_ARGS__)

static bool is_right(const struct reader *reader)
{
	return conf_errors(reader->doc) == reader->others;
}

/* The settings of a switch: those of /topology/switch, overridden by its own. */
static struct switch_conf settings_of(const struct reader *reader,
				      const struct graph_switch_conf *conf)
{
	struct switch_conf settings = reader->topology->switches;

	if (conf->form == GRAPH_SWITCH_NAME)
		return settings;
	if (conf->set.latency_given)
		settings.latency = conf->set.latency;
	if (conf->set.buffer)
		settings.buffer = conf->set.buffer;
	if (conf->set.ecn_given)
		settings.ecn = conf->set.ecn;
	settings.passes =
		conf->set.aggregation.form == AGGREGATION_ON_OFF && !conf->set.aggregation.on;
	if (conf->set.aggregation.form == AGGREGATION_MEMORY)
		settings.memory = conf->set.aggregation.memory;
	return settings;
}

static bool expand(struct reader *reader, struct names *names, const char *text, const char *place)
{
	const char *mistake = names_expand(names, text);

	if (mistake)
		wrong(reader, place, "\"%s\": %s", text, mistake);
	return !mistake;
}

static bool read_hosts(struct reader *reader, const struct graph_conf *conf)
{
	const char *const *hosts = conf->hosts.items;

	for (size_t i = 0; i < conf->hosts.count; i++)
		if (!expand(reader, &reader->nodes, hosts[i],
			    at(reader, "%s/hosts/%zu", reader->base, i)))
			return false;
	reader->graph->hosts = (uint32_t)reader->nodes.count;
	if (reader->nodes.count < 2 || reader->nodes.count > GRAPH_HOSTS_MAX)
		wrong(reader, at(reader, "%s/hosts", reader->base), "%zu hosts; allowed: 2 to %d",
		      reader->nodes.count, GRAPH_HOSTS_MAX);
	return is_right(reader);
}

/* A switch that has only a name gets settings[0]. Each item with settings adds an element. */
static bool read_switches(struct reader *reader, const struct graph_conf *conf)
{
	const struct graph_switch_conf *items = conf->switches.items;
	struct switch_conf *settings = conf_own(reader->owner, SETTINGS_MAX, sizeof(*settings));
	/* by switch: its index in `settings` */
	uint8_t *of = conf_own(reader->owner, GRAPH_SWITCHES_MAX, sizeof(*of));
	uint32_t hosts = reader->graph->hosts, kinds = 1;

	settings[0] = reader->topology->switches;
	for (size_t i = 0; i < conf->switches.count; i++) {
		bool set = items[i].form == GRAPH_SWITCH_SET;
		const char *place = at(reader, "%s/switches/%zu", reader->base, i);
		size_t first = reader->nodes.count;

		if (!expand(reader, &reader->nodes, set ? items[i].set.name : items[i].name, place))
			return false;
		if (reader->nodes.count - hosts > GRAPH_SWITCHES_MAX ||
		    (set && kinds == SETTINGS_MAX)) {
			wrong(reader, place,
			      "allowed: at most %d switches, and at most %d entries with settings",
			      GRAPH_SWITCHES_MAX, SETTINGS_MAX - 1);
			return false;
		}
		if (!set)
			continue;
		settings[kinds] = settings_of(reader, &items[i]);
		memset(of + (first - hosts), (int)kinds++, reader->nodes.count - first);
	}
	reader->graph->switches = (uint32_t)reader->nodes.count - hosts;
	reader->graph->settings = settings;
	reader->graph->settings_of = of;
	return true;
}

/* For by_name(), because qsort() passes no context. */
static _Thread_local char *const *sorted_names;

static int by_name(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return strcmp(sorted_names[*x], sorted_names[*y]);
}

static bool sort_names(struct reader *reader)
{
	char **names = reader->nodes.items;
	size_t count = reader->nodes.count;

	reader->by_name = xcalloc(count, sizeof(*reader->by_name));
	for (uint32_t i = 0; i < count; i++)
		reader->by_name[i] = i;
	sorted_names = names;
	qsort(reader->by_name, count, sizeof(*reader->by_name), by_name);
	for (size_t i = 1; i < count; i++)
		if (!strcmp(names[reader->by_name[i - 1]], names[reader->by_name[i]])) {
			wrong(reader, *reader->base ? reader->base : "/hosts",
			      "two nodes have the name \"%s\"", names[reader->by_name[i]]);
			return false;
		}
	return true;
}

/* The number of the node with this name. If there is none, adds an error and returns UINT32_MAX. */
static uint32_t find_node(struct reader *reader, const char *name, const char *place)
{
	size_t low = 0, high = reader->nodes.count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(name, reader->nodes.items[reader->by_name[middle]]);

		if (!order)
			return reader->by_name[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	wrong(reader, place, "there is no host or switch \"%s\"", name);
	return UINT32_MAX;
}

/* Two nodes, and the item of "links" that joins them. */
struct joined {
	uint64_t nodes; /* lower node number << 32 | higher node number */
	const struct graph_link_conf *item;
};

/* The links that have been read so far. */
struct links {
	struct graph_link *items;
	size_t count, capacity;
	struct joined *joined; /* parallel links of an item have one element */
	size_t joined_count, joined_capacity;
};

/* The rate, delay and loss of a link. `fabric`: the link joins two switches. */
static struct link_conf link_of(const struct reader *reader, const struct graph_link_conf *conf,
				bool fabric)
{
	const struct topology_conf *topology = reader->topology;
	struct link_conf link =
		fabric && topology->uplink_given ? topology->uplink : topology->link;

	if (conf->rate)
		link.rate = conf->rate;
	if (conf->delay)
		link.delay = conf->delay;
	if (conf->loss_given)
		link.loss = conf->loss;
	return link;
}

static bool add_link(struct reader *reader, struct links *links, const struct graph_link_conf *conf,
		     uint32_t a, uint32_t b, const char *place)
{
	uint32_t hosts = reader->graph->hosts, low = a < b ? a : b, high = a < b ? b : a;
	bool fabric = low >= hosts;
	struct graph_link link = { .a = fabric ? a : low,
				   .b = fabric ? b : high,
				   .cost = (uint32_t)conf->cost };
	char *const *names = reader->nodes.items;

	if (a == b)
		wrong(reader, place, "joins \"%s\" with itself", names[a]);
	else if (links->count + (size_t)conf->count > GRAPH_LINKS_MAX)
		wrong(reader, place, "allowed: at most %d links", GRAPH_LINKS_MAX);
	if (!is_right(reader))
		return false;
	link.link = link_of(reader, conf, fabric);
	for (int64_t i = 0; i < conf->count; i++) {
		links->items = array_reserve(links->items, links->count, &links->capacity,
					     sizeof(*links->items));
		links->items[links->count++] = link;
	}
	links->joined = array_reserve(links->joined, links->joined_count, &links->joined_capacity,
				      sizeof(*links->joined));
	links->joined[links->joined_count++] = (struct joined){ (uint64_t)low << 32 | high, conf };
	return true;
}

static bool join(struct reader *reader, struct links *links, const struct graph_link_conf *conf,
		 const struct names *from, const struct names *to, const char *place)
{
	bool each = conf->pairs == GRAPH_PAIRS_EACH;
	const char *from_at = at(reader, "%s/from", place), *to_at = at(reader, "%s/to", place);

	if (each && from->count != to->count) {
		wrong(reader, place,
		      "\"pairs\": \"each\" needs as many nodes in \"from\" as in \"to\", found %zu "
		      "and %zu",
		      from->count, to->count);
		return false;
	}
	for (size_t i = 0; i < from->count; i++) {
		uint32_t a = find_node(reader, from->items[i], from_at);

		/* "each": node i of `to` alone */
		for (size_t j = each ? i : 0; j < (each ? i + 1 : to->count); j++) {
			uint32_t b = find_node(reader, to->items[j], to_at);

			if (a == UINT32_MAX || b == UINT32_MAX ||
			    !add_link(reader, links, conf, a, b, place))
				return false;
		}
	}
	return true;
}

static int by_nodes(const void *a, const void *b)
{
	const struct joined *x = a, *y = b;

	if (x->nodes != y->nodes)
		return x->nodes < y->nodes ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

/* Whether links of these items between two nodes would be alike, so that one item says it. */
static bool say_the_same(const struct graph_link_conf *a, const struct graph_link_conf *b)
{
	return a->rate == b->rate && a->delay == b->delay && a->loss == b->loss &&
	       a->loss_given == b->loss_given && a->cost == b->cost;
}

/* Adds an error if more than one item of "links" joins the same two nodes by links that are alike.
 * It looks at neighbours of the sorted list, so of more than two items some may not be compared. */
static void check_twice(struct reader *reader, const struct links *links,
			const struct graph_link_conf *items)
{
	struct joined *joined = links->joined;

	if (links->joined_count)
		qsort(joined, links->joined_count, sizeof(*joined), by_nodes);
	for (size_t i = 1; i < links->joined_count; i++)
		if (joined[i].nodes == joined[i - 1].nodes &&
		    say_the_same(joined[i].item, joined[i - 1].item)) {
			wrong(reader,
			      at(reader, "%s/links/%zu", reader->base,
				 (size_t)(joined[i].item - items)),
			      "\"%s\" and \"%s\" are joined twice; parallel links that are alike "
			      "are one item with a \"count\"",
			      reader->nodes.items[joined[i].nodes >> 32],
			      reader->nodes.items[(uint32_t)joined[i].nodes]);
			return;
		}
}

static bool read_links(struct reader *reader, const struct graph_conf *conf)
{
	const struct graph_link_conf *items = conf->links.items;
	struct links links = { 0 };
	struct graph_link *kept;
	bool right = true;

	for (size_t i = 0; i < conf->links.count && right; i++) {
		const char *place = at(reader, "%s/links/%zu", reader->base, i);
		struct names from = { 0 }, to = { 0 };

		right = expand(reader, &from, items[i].from, at(reader, "%s/from", place)) &&
			expand(reader, &to, items[i].to, at(reader, "%s/to", place)) &&
			join(reader, &links, &items[i], &from, &to, place);
		names_release(&from);
		names_release(&to);
	}
	if (right)
		check_twice(reader, &links, items);
	kept = conf_own(reader->owner, links.count, sizeof(*kept));
	if (links.count)
		memcpy(kept, links.items, links.count * sizeof(*kept));
	reader->graph->links = kept;
	reader->graph->link_count = (uint32_t)links.count;
	free(links.items);
	free(links.joined);
	return right && is_right(reader);
}

/* Copies the names of nodes into the graph. */
static void keep_names(struct reader *reader)
{
	const char **names = conf_own(reader->owner, reader->nodes.count, sizeof(*names));

	for (size_t i = 0; i < reader->nodes.count; i++)
		names[i] = conf_at(reader->owner, "%s", reader->nodes.items[i]);
	reader->graph->names = names;
}

static void add_mistake(void *owner, const char *pointer, const char *text)
{
	struct reader *reader = owner;

	(void)pointer; /* graph_finish() knows no place in the file: report the whole graph */
	wrong(reader, reader->base, "%s", text);
}

static void *own(void *owner, size_t count, size_t size)
{
	return conf_own(owner, count, size);
}

static bool read_graph(struct reader *reader, const struct graph_conf *conf)
{
	const struct topology_mistakes to = { add_mistake, reader };
	bool right = read_hosts(reader, conf) && read_switches(reader, conf) &&
		     sort_names(reader) && read_links(reader, conf);

	if (right) {
		keep_names(reader);
		graph_finish(reader->graph, &to, own, reader->owner);
		right = is_right(reader);
	}
	names_release(&reader->nodes);
	free(reader->by_name);
	return right;
}

/* --- files --- */

/* Reports the first error of a graph file as an error of the scenario. */
static void pass_on(struct conf_doc *doc, const struct conf_doc *file)
{
	char *text = data_file_mistake(file);

	conf_error(doc, "/topology/graph", "%s", text);
	free(text);
}

static bool read_file(struct reader *reader, const char *name)
{
	char *error = NULL,
	     *path = data_file_find(DATA_ANY, name, conf_path(reader->owner), &error);
	struct graph_conf conf;
	bool right = false;

	if (path) {
		reader->doc = conf_load(path, &graph_table, &conf, NULL, 0);
		reader->base = "";
		reader->others = 0;
		right = is_right(reader) && read_graph(reader, &conf);
		if (!right)
			pass_on(reader->owner, reader->doc);
		conf_doc_free(reader->doc);
	} else {
		conf_error(reader->owner, "/topology/graph", "%.*s", (int)strcspn(error, ";"),
			   error); /* cut off after ";": a list of data files, none a network */
	}
	free(path);
	free(error);
	return right;
}

void graph_read(struct topology_conf *topology, struct conf_doc *doc)
{
	const struct graph_source *source = &topology->graph_source;
	struct reader reader = { .topology = topology,
				 .owner = doc,
				 .doc = doc,
				 .base = "/topology/graph",
				 .others = conf_errors(doc),
				 .graph = conf_own(doc, 1, sizeof(*reader.graph)) };
	bool right;

	if (strcmp(topology_kind((size_t)topology->kind)->name, "graph") || !source->given)
		return;
	right = source->form == GRAPH_FILE ? read_file(&reader, source->file)
					   : read_graph(&reader, source->in_place);
	topology->graph = right ? reader.graph : NULL;
}
