/* The verb export: a scenario's network as a platform of SimGrid (DTD 4.1, as of SimGrid 3.32).
 *
 * Every direction of every link is a <link> of its own, named after its ends
 * ("edge3-agg1"), with its bit rate and, as latency, propagation plus the pipeline of
 * the node that it leads to. Hosts (h0, h1, ...) stand in one zone with the switch
 * that they hang on; a <zoneRoute> for each ordered pair of such switches lists the
 * links between them: one of the paths that ECMP would take, by a hash of the seed
 * and the pair. That is S * (S - 1) routes for S switches with hosts, against
 * N * (N - 1) for hosts; and unlike shortest paths that SimGrid could find by itself
 * (Floyd, Dijkstra), which all pass the same few spines, they spread over the fabric.
 *
 * What SimGrid has no word for is left out, and the file says so: queues, ECN, PAUSE,
 * losses, headers, preamble and gap, jitter, and ECMP for each flow. Hosts of inasim
 * have no speed of computation; SimGrid wants one, so it is 1Gf. */
#include "cli/cli.h"

#include "base/hash.h"
#include "base/mem.h"
#include "data/folder.h"
#include "scenario/links.h"
#include "scenario/scenario.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 24 /* fits topology_node_name() */

/* A switch with hosts, and one of its hosts. */
struct rack {
	uint32_t node, host;
};

struct writer {
	const struct topology *topo;
	uint64_t seed;
	FILE *to;
	struct rack *racks;
	size_t rack_count;
};

static const char head[] = "<?xml version='1.0'?>\n"
			   "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
			   "<!-- Written by inasim export. Each link is one direction; its latency "
			   "is propagation and the\n"
			   "     pipeline behind it. Each pair of switches with hosts has one of "
			   "its equal-cost paths. Not\n"
			   "     represented: queues, ECN, PAUSE, losses, headers, preamble and "
			   "gap, jitter, ECMP by flow,\n"
			   "     speed of hosts. Equal shares of links need network/model:CM02, "
			   "network/crosstraffic:0 and\n"
			   "     equal latencies. -->\n"
			   "<platform version=\"4.1\">\n";

/* "h0-edge0" for the direction of `port`; `buffer` of two names. */
static const char *link_id(const struct writer *w, uint32_t port, char buffer[2 * NAME_SIZE])
{
	char from[NAME_SIZE], to[NAME_SIZE];

	topology_node_name(w->topo, link_place_of(&w->topo->net, port).from, from, sizeof(from));
	topology_node_name(w->topo, w->topo->net.ports[port].to, to, sizeof(to));
	snprintf(buffer, 2 * NAME_SIZE, "%s-%s", from, to);
	return buffer;
}

static void write_link(const struct writer *w, uint32_t port)
{
	const struct network *net = &w->topo->net;
	const struct link_class *link = port_class(net, &net->ports[port]);
	char name[2 * NAME_SIZE];

	fprintf(w->to, "<link id=\"%s\" bandwidth=\"%" PRIu64 "bps\" latency=\"%" PRIu64 "ps\"/>\n",
		link_id(w, port, name), link->rate, link->latency);
}

/* Writes the hosts of a switch and their links. SimGrid wants hosts before links. */
static void write_rack(const struct writer *w, const struct rack *rack)
{
	const struct network *net = &w->topo->net;
	const struct switch_node *sw = &net->switch_nodes[rack->node - net->hosts];
	char name[NAME_SIZE], up[2 * NAME_SIZE], down[2 * NAME_SIZE];

	topology_node_name(w->topo, rack->node, name, sizeof(name));
	fprintf(w->to, "<zone id=\"zone-%s\" routing=\"Cluster\">\n", name);
	for (uint32_t p = sw->first_port; p < sw->first_port + sw->ports; p++)
		if (net->ports[p].to_host)
			fprintf(w->to, "<host id=\"h%" PRIu32 "\" speed=\"1Gf\"/>\n",
				net->ports[p].to);
	fprintf(w->to, "<router id=\"%s\"/>\n", name);
	for (uint32_t p = sw->first_port; p < sw->first_port + sw->ports; p++) {
		uint32_t host = net->ports[p].to; /* its number is that of its NIC's port */

		if (!net->ports[p].to_host)
			continue;
		write_link(w, host);
		write_link(w, p);
		fprintf(w->to, "<host_link id=\"h%" PRIu32 "\" up=\"%s\" down=\"%s\"/>\n", host,
			link_id(w, host, up), link_id(w, p, down));
	}
	fputs("</zone>\n", w->to);
}

static void write_fabric_links(const struct writer *w)
{
	const struct network *net = &w->topo->net;

	for (uint32_t p = net->hosts; p < net->port_count; p++)
		if (!net->ports[p].to_host)
			write_link(w, p);
}

/* Leaves out the links of hosts, which SimGrid adds. */
static void write_route(const struct writer *w, const struct rack *from, const struct rack *to)
{
	uint64_t pair = (uint64_t)from->node << 32 | to->node;
	char a[NAME_SIZE], b[NAME_SIZE], link[2 * NAME_SIZE];
	uint32_t ports[ROUTE_MAX + 1];
	struct route route;
	unsigned count;

	topology_node_name(w->topo, from->node, a, sizeof(a));
	topology_node_name(w->topo, to->node, b, sizeof(b));
	topology_route(w->topo, from->host, to->host, hash_pair(w->seed, pair), &route);
	count = topology_path(w->topo, from->host, &route, ports);
	fprintf(w->to,
		"<zoneRoute src=\"zone-%s\" dst=\"zone-%s\" gw_src=\"%s\" gw_dst=\"%s\" "
		"symmetrical=\"NO\">",
		a, b, a, b);
	for (unsigned i = 1; i + 1 < count; i++)
		fprintf(w->to, "<link_ctn id=\"%s\"/>", link_id(w, ports[i], link));
	fputs("</zoneRoute>\n", w->to);
}

static void find_racks(struct writer *w)
{
	const struct network *net = &w->topo->net;

	w->racks = xcalloc(net->switches, sizeof(*w->racks));
	for (uint32_t s = 0; s < net->switches; s++)
		for (uint32_t p = 0; p < net->switch_nodes[s].ports; p++) {
			const struct port *port = &net->ports[net->switch_nodes[s].first_port + p];

			if (!port->to_host)
				continue;
			w->racks[w->rack_count++] = (struct rack){ net->hosts + s, port->to };
			break;
		}
}

static void write_platform(const struct scenario *scenario, FILE *to)
{
	uint64_t seed = (uint64_t)scenario->seed;
	struct sim sim;
	struct topology topo = { 0 };
	struct writer w = { .topo = &topo, .seed = seed, .to = to };

	sim_init(&sim, seed);
	topology_build(&topo, &scenario->topology, &sim);
	find_racks(&w);
	fputs(head, to);
	fputs("<zone id=\"network\" routing=\"Full\">\n", to);
	for (size_t i = 0; i < w.rack_count; i++)
		write_rack(&w, &w.racks[i]);
	write_fabric_links(&w);
	for (size_t i = 0; i < w.rack_count; i++)
		for (size_t j = 0; j < w.rack_count; j++)
			if (i != j)
				write_route(&w, &w.racks[i], &w.racks[j]);
	fputs("</zone>\n</platform>\n", to);
	free(w.racks);
	topology_release(&topo);
	sim_release(&sim);
}

/* Never over a file that is there, the scenario among them: it may be somebody's work. What is no
 * file, such as a pipe, is written to. False after a complaint. */
static bool write_file(const char *path, const char *text, size_t length)
{
	bool there = folder_is_file(path), written;

	written = !there && folder_replace(path, text, length);
	if (!written)
		complain("%s cannot be written: %s", path,
			 there ? "it exists already" : strerror(errno));
	return written;
}

/* Writes into memory first, so that a file is never half written. */
static int export_platform(const struct cli *cli, const struct scenario *scenario)
{
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	int code = EXIT_IO;
	bool whole;

	write_platform(scenario, to);
	whole = !ferror(to);
	if (fclose(to) || !whole)
		complain("the platform does not fit into memory");
	else if (cli->out ? write_file(cli->out, text, length)
			  : fwrite(text, 1, length, stdout) == length)
		code = EXIT_DONE;
	free(text);
	return code;
}

int verb_export(const struct cli *cli)
{
	const char *platform = cli->export.platform;
	struct scenario scenario;
	struct conf_doc *doc;
	int code;

	if (!platform || strcmp(platform, "simgrid")) {
		if (platform)
			complain("there is no platform format \"%s\"; there is simgrid", platform);
		else
			complain("export needs --platform simgrid");
		return EXIT_USAGE;
	}
	doc = load_scenario(cli, cli->argv[0], &scenario);
	code = exit_code_of(doc);
	if (code == EXIT_DONE)
		code = export_platform(cli, &scenario);
	else
		conf_print_errors(doc, stderr, false);
	conf_doc_free(doc);
	return code;
}
