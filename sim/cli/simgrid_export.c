#include "cli/simgrid_export.h"

#include "base/hash.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

#define NAME_SIZE 24 /* topology_node_name() */

/* Every switch with hosts, and one of them. */
struct rack {
	uint32_t node, host;
};

struct writer {
	const struct topology *topo;
	uint64_t seed;
	FILE *to;
	uint32_t *owners; /* by port: the node that sends on it */
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
static const char *link_name(const struct writer *w, uint32_t port, char buffer[2 * NAME_SIZE])
{
	char from[NAME_SIZE], to[NAME_SIZE];

	topology_node_name(w->topo, w->owners[port], from, sizeof(from));
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
		link_name(w, port, name), link->rate, link->latency);
}

/* The hosts of a switch, and their links. SimGrid wants hosts before links. */
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
			link_name(w, host, up), link_name(w, p, down));
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

/* Without the links of hosts, which SimGrid adds. */
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
		fprintf(w->to, "<link_ctn id=\"%s\"/>", link_name(w, ports[i], link));
	fputs("</zoneRoute>\n", w->to);
}

static void find_owners(struct writer *w)
{
	const struct network *net = &w->topo->net;

	w->owners = xcalloc(net->port_count, sizeof(*w->owners));
	for (uint32_t h = 0; h < net->hosts; h++)
		w->owners[h] = h;
	for (uint32_t s = 0; s < net->switches; s++)
		for (uint32_t p = 0; p < net->switch_nodes[s].ports; p++)
			w->owners[net->switch_nodes[s].first_port + p] = net->hosts + s;
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

void simgrid_export(const struct topology_conf *conf, uint64_t seed, FILE *to)
{
	struct sim sim;
	struct topology topo = { 0 };
	struct writer w = { .topo = &topo, .seed = seed, .to = to };

	sim_init(&sim, seed);
	topology_build(&topo, conf, &sim);
	find_owners(&w);
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
	free(w.owners);
	free(w.racks);
	topology_release(&topo);
	sim_release(&sim);
}
