/* The verb export fct: the finished flows of a result directory as HPCC's fct.txt, for its scripts.
 *
 * A line a flow, in the order in which they ended: addresses of source and destination, ports,
 * bytes, start, FCT and the FCT alone, in ns. As in HPCC's third.cc
 *
 *   - node N has the address 0x0b000001 + N / 256 * 0x10000 + N % 256 * 0x100; here N is that of
 *     host "hN" or, of other names, the host's number;
 *   - a flow ends when its sender has the last acknowledgement, so fct is acked_s - start_s; if the
 *     run ended before, it comes with the delays of the path after the last byte;
 *   - alone, it takes twice the delays of its path, a payload of 1000 bytes on each link, and all
 *     frames, with 48 bytes beside a payload, on the slowest link.
 *
 * Delays include the pipelines of switches. All flows have port 100, that of flows which the
 * scripts do not take for an incast; the source's port counts those of two hosts. */
#include "cli/cli.h"

#include "base/mem.h"
#include "core/sim.h"
#include "data/json_read.h"
#include "data/result_read.h"
#include "scenario/scenario.h"
#include "topo/topology.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAYLOAD 1000
#define HEADER  48
#define NAME    32
#define PORT    10000 /* of the first flow of two hosts, at its source */

struct named {
	char name[NAME];
	uint32_t sw;
};

struct fct {
	double start_s, end_s;
	uint64_t size, alone_ns;
	double delay_ns; /* of the path */
	uint32_t src, dst, port;
};

struct exporter {
	const char *dir;
	struct topology topo;
	struct sim sim;
	struct named *switches; /* by name */
	struct fct *flows;
	size_t count, capacity, left_out;
	char *error;
};

/* --- paths --- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void name_switches(struct exporter *exporter)
{
	const struct network *net = &exporter->topo.net;

	exporter->switches = xcalloc(net->switches, sizeof(*exporter->switches));
	for (uint32_t sw = 0; sw < net->switches; sw++) {
		exporter->switches[sw].sw = sw;
		topology_node_name(&exporter->topo, net->hosts + sw, exporter->switches[sw].name,
				   NAME);
	}
	qsort(exporter->switches, net->switches, sizeof(*exporter->switches), by_name);
}

/* The link from a switch to a node. */
static const struct link_class *link_to(const struct network *net, uint32_t sw, uint32_t node)
{
	for (uint16_t i = 0; i < net->switch_nodes[sw].ports; i++) {
		const struct port *port = &net->ports[network_port(net, net->hosts + sw, i)];

		if (port->to == node)
			return port_class(net, port);
	}
	return NULL;
}

/* Adds a link of the path; `slowest`: rate of the slowest so far. */
static void add_link(const struct link_class *link, struct fct *flow, double *payload_ns,
		     double *slowest)
{
	flow->delay_ns += (double)link->latency / PS_PER_NS;
	*payload_ns += PAYLOAD * 8e9 / (double)link->rate;
	*slowest = fmin(*slowest, (double)link->rate);
}

/* Finds HPCC's FCT alone, by the names of the switches on the way. False if the network has no such
 * path. */
static bool find_alone(const struct exporter *exporter, struct fct *flow, char *path)
{
	const struct network *net = &exporter->topo.net;
	double payload = 0, slowest = INFINITY;
	uint32_t last = flow->src;
	uint64_t frames = flow->size + (flow->size + PAYLOAD - 1) / PAYLOAD * HEADER;
	const struct link_class *link = NULL;

	for (char *rest = path, *word; (word = strtok_r(rest, " ", &rest));) {
		const struct named *found;
		struct named key = { .sw = 0 };

		snprintf(key.name, sizeof(key.name), "%.*s", (int)strcspn(word, "#"), word);
		found = bsearch(&key, exporter->switches, net->switches, sizeof(key), by_name);
		link = found ? link_to(net, found->sw, last) : NULL;
		if (!link)
			return false;
		add_link(link, flow, &payload, &slowest);
		last = net->hosts + found->sw;
	}
	link = last >= net->hosts ? link_to(net, last - net->hosts, flow->dst) : NULL;
	if (!link)
		return false;
	add_link(link, flow, &payload, &slowest);
	flow->alone_ns = (uint64_t)(2 * flow->delay_ns + payload + (double)frames * 8e9 / slowest);
	return true;
}

/* --- flows --- */

static void read_flows(struct exporter *exporter, struct csv *csv)
{
	int src = csv_need(csv, "src"), dst = csv_need(csv, "dst"), path = csv_need(csv, "path");
	int size = csv_need(csv, "size_bytes"), start = csv_need(csv, "start_s");
	int finish = csv_need(csv, "finish_s"), acked = csv_need(csv, "acked_s");

	while (csv_next(csv)) {
		struct fct flow = { 0 };
		char *way;

		if (csv_empty(csv, finish)) {
			exporter->left_out++;
			continue;
		}
		flow.src = (uint32_t)csv_u64(csv, src);
		flow.dst = (uint32_t)csv_u64(csv, dst);
		flow.size = csv_u64(csv, size);
		flow.start_s = csv_real(csv, start);
		way = xstrdup(csv_text(csv, path));
		if (!find_alone(exporter, &flow, way))
			csv_complain(csv, path, "is no path of the network");
		free(way);
		flow.end_s = csv_empty(csv, acked) ? csv_real(csv, finish) + flow.delay_ns / 1e9
						   : csv_real(csv, acked);
		exporter->flows = array_reserve(exporter->flows, exporter->count,
						&exporter->capacity, sizeof(*exporter->flows));
		exporter->flows[exporter->count++] = flow;
	}
}

static int by_hosts(const void *a, const void *b)
{
	const struct fct *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

static int by_end(const void *a, const void *b)
{
	const struct fct *x = a, *y = b;

	if (x->end_s < y->end_s || x->end_s > y->end_s)
		return x->end_s < y->end_s ? -1 : 1;
	return by_hosts(a, b);
}

/* Numbers the flows of two hosts, and brings all into the order of their ends. */
static void sort_flows(struct exporter *exporter)
{
	struct fct *flows = exporter->flows;

	if (!exporter->count)
		return;
	qsort(flows, exporter->count, sizeof(*flows), by_hosts);
	for (size_t i = 0; i < exporter->count; i++) {
		bool more =
			i && flows[i - 1].src == flows[i].src && flows[i - 1].dst == flows[i].dst;

		flows[i].port = more ? flows[i - 1].port + 1 : PORT;
	}
	qsort(flows, exporter->count, sizeof(*flows), by_end);
}

static uint32_t address_of(const struct exporter *exporter, uint32_t host)
{
	char name[NAME], *end;
	unsigned long node;

	topology_node_name(&exporter->topo, host, name, sizeof(name));
	node = strtoul(name + (*name == 'h'), &end, 10);
	if (*name != 'h' || *end || end == name + 1)
		node = host;
	return UINT32_C(0x0b000001) + (uint32_t)(node / 256 * 0x10000 + node % 256 * 0x100);
}

static void print_flows(const struct exporter *exporter)
{
	for (size_t i = 0; i < exporter->count; i++) {
		const struct fct *flow = &exporter->flows[i];

		printf("%08" PRIx32 " %08" PRIx32 " %" PRIu32 " 100 %" PRIu64 " %.0f %.0f %" PRIu64
		       "\n",
		       address_of(exporter, flow->src), address_of(exporter, flow->dst), flow->port,
		       flow->size, flow->start_s * 1e9, (flow->end_s - flow->start_s) * 1e9,
		       flow->alone_ns);
	}
	if (exporter->left_out)
		complain("%s: %zu unfinished or endless flows are left out", exporter->dir,
			 exporter->left_out);
}

/* --- the verb --- */

static enum exit_code export_flows(struct exporter *exporter, const struct scenario *scenario)
{
	struct csv *csv = result_table(exporter->dir, "flows.csv", &exporter->error);
	enum exit_code code = EXIT_IO;

	if (!csv) {
		if (!exporter->error)
			exporter->error = xasprintf("%s: has no flows.csv", exporter->dir);
		return code;
	}
	sim_init(&exporter->sim, 1);
	topology_build(&exporter->topo, &scenario->topology, &exporter->sim);
	name_switches(exporter);
	read_flows(exporter, csv);
	sort_flows(exporter);
	if (csv_close(csv, &exporter->error)) {
		print_flows(exporter);
		code = EXIT_DONE;
	}
	topology_release(&exporter->topo);
	sim_release(&exporter->sim);
	free(exporter->switches);
	free(exporter->flows);
	return code;
}

/* The scenario as the run had it, from the manifest. */
static int with_scenario(struct exporter *exporter, const cJSON *manifest)
{
	const cJSON *inner = cJSON_GetObjectItemCaseSensitive(manifest, "scenario");
	const char *file =
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(manifest, "scenario_file"));
	char *text = cJSON_PrintUnformatted(inner);
	struct scenario scenario;
	struct conf_doc *doc =
		scenario_parse(file ? file : "scenario", text, strlen(text), &scenario);
	int code = exit_code_of(doc);

	if (code == EXIT_DONE)
		code = export_flows(exporter, &scenario);
	else
		conf_print_errors(doc, stderr, false);
	conf_doc_free(doc);
	cJSON_free(text);
	return code;
}

int verb_export_fct(const struct cli *cli)
{
	struct exporter exporter = { .dir = cli->argv[0] };
	cJSON *manifest = json_read(cli->argv[0], "manifest.json", &exporter.error);
	int code = EXIT_IO;

	if (manifest && !cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(manifest, "scenario")))
		exporter.error = xasprintf("%s: its manifest has no scenario", cli->argv[0]);
	else if (manifest)
		code = with_scenario(&exporter, manifest);
	if (exporter.error)
		complain("%s", exporter.error);
	free(exporter.error);
	cJSON_Delete(manifest);
	return code;
}
