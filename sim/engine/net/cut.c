#include "net/cut.h"

#include "base/mem.h"
#include "net/hop.h"
#include "net/network.h"
#include "net/wire.h"

#include <stdlib.h>

#define NO_POD UINT32_MAX

static uint8_t highest_tier(const struct network *net)
{
	uint8_t highest = 0;

	for (uint32_t s = 0; s < net->switches; s++)
		if (net->switch_nodes[s].tier > highest)
			highest = net->switch_nodes[s].tier;
	return highest;
}

static bool is_top(const struct network *net, uint32_t node, uint8_t top)
{
	return node >= net->hosts && net->switch_nodes[node - net->hosts].tier == top;
}

/* Marks `node` and all nodes that it reaches below the highest tier as one pod. */
static void mark_pod(const struct network *net, uint32_t node, uint8_t top, uint32_t pod,
		     uint32_t *pods, uint32_t *waiting)
{
	uint32_t count = 0;

	pods[node] = pod;
	waiting[count++] = node;
	while (count) {
		uint32_t from = waiting[--count], first = network_port(net, from, 0), ports;

		ports = from < net->hosts ? 1 : net->switch_nodes[from - net->hosts].ports;
		for (uint32_t p = first; p < first + ports; p++) {
			uint32_t to = net->ports[p].to;

			if (pods[to] != NO_POD || is_top(net, to, top))
				continue;
			pods[to] = pod;
			waiting[count++] = to;
		}
	}
}

/* Stores the pod of each node, NO_POD for the highest tier. Returns the number of pods. */
static uint32_t find_pods(const struct network *net, uint8_t top, uint32_t *pods)
{
	uint32_t nodes = net->hosts + net->switches, count = 0;
	uint32_t *waiting = xcalloc(nodes, sizeof(*waiting));

	for (uint32_t n = 0; n < nodes; n++)
		pods[n] = NO_POD;
	for (uint32_t n = 0; n < nodes; n++)
		if (pods[n] == NO_POD && !is_top(net, n, top))
			mark_pod(net, n, top, count++, pods, waiting);
	free(waiting);
	return count;
}

/* Gives each partition some adjacent pods, and some adjacent switches of the highest tier. */
static void give_parts(struct network *net, uint8_t top, const uint32_t *pods, uint32_t pod_count)
{
	uint32_t nodes = net->hosts + net->switches, tops = 0, t = 0;

	for (uint32_t n = net->hosts; n < nodes; n++)
		tops += is_top(net, n, top);
	net->part_of = xcalloc(nodes, sizeof(*net->part_of));
	for (uint32_t n = 0; n < nodes; n++) {
		uint64_t at = pods[n] == NO_POD ? t++ : pods[n];

		net->part_of[n] = (uint16_t)(1 + at * net->part_count /
							 (pods[n] == NO_POD ? tops : pod_count));
	}
}

static sim_time shortest_crossing(const struct network *net)
{
	sim_time shortest = SIM_TIME_MAX;

	for (uint32_t p = 0; p < net->port_count; p++) {
		uint32_t to = net->ports[p].to, from = net->ports[net->cold[p].reverse].to;
		sim_time latency = port_class(net, &net->ports[p])->latency;

		if (net->part_of[from] != net->part_of[to] && latency < shortest)
			shortest = latency;
	}
	return shortest;
}

/* A copy of the network for one partition. The copy points to the partition's sim, and handlers of
 * that sim get the copy as their owner, so that nothing is looked up. */
static struct network *view_new(struct network *net, unsigned part)
{
	struct network *view = xaligned(128, sizeof(*view));

	*view = *net;
	view->sim = parts_sim(net->sim, part);
	view->sim->block.owner = view;
	view->sim->more = (struct sim_entity){ .handler = hop_arrive_by_wire, .owner = view };
	view->sim->more_first = net->first_wire;
	view->sim->more_count = net->wire_count;
	view->sim->catch_up_owner = view;
	view->deferred_first = NIC_NONE;
	view->crossings = xcalloc(net->part_count + 1, sizeof(*view->crossings));
	view->created = view->delivered = view->dropped = view->lost = view->absorbed = 0;
	view->hops = view->deferred_looks = 0;
	view->departures_by_event = view->departures_deferred = 0;
	return view;
}

static void view_free(struct network *view, unsigned count)
{
	for (unsigned p = 1; p <= count; p++)
		free(view->crossings[p].items);
	free(view->crossings);
	free(view);
}

static void uncut(struct network *net)
{
	free(net->views);
	free(net->part_of);
	net->views = NULL;
	net->part_of = NULL;
	net->part_count = 0;
}

static void place_entities(struct network *net)
{
	for (uint32_t p = 0; p < net->port_count; p++)
		parts_place(net->sim, p, net->part_of[net->ports[p].to]);
	for (uint32_t h = 0; h < net->hosts; h++)
		parts_place(net->sim, net->nics[h].entity, net->part_of[h]);
}

static void open_views(struct network *net)
{
	net->views = xcalloc(net->part_count + 1, sizeof(struct network *));
	for (unsigned p = 1; p <= net->part_count; p++)
		net->views[p] = view_new(net, p);
	nic_cut(net);
}

unsigned network_cut(struct network *net, unsigned count, unsigned threads)
{
	static const struct parts_ops ops = { .give = wires_give, .take = wires_take };
	uint32_t *pods = xcalloc(net->hosts + net->switches, sizeof(*pods)), pod_count;
	uint8_t top = highest_tier(net);
	sim_time lookahead;

	pod_count = find_pods(net, top, pods);
	net->part_count = count < pod_count ? count : pod_count;
	give_parts(net, top, pods, pod_count);
	free(pods);
	lookahead = shortest_crossing(net);
	if (net->part_count < 2 || top < 2 || !lookahead || net->lossless || net->faults ||
	    net->never_cut) {
		uncut(net);
		return 1;
	}
	net->thread_count = threads < net->part_count ? threads : net->part_count;
	place_entities(net);
	wires_open(net);
	parts_cut(net->sim, net->part_count, net->thread_count, lookahead, &ops);
	open_views(net);
	for (unsigned p = 1; p <= net->part_count; p++)
		network_tune_part(net->views[p], lookahead);
	return net->part_count;
}

static void add_up(struct network *net, const struct network *view)
{
	net->created += view->created;
	net->delivered += view->delivered;
	net->dropped += view->dropped;
	net->lost += view->lost;
	net->absorbed += view->absorbed;
	net->hops += view->hops;
	net->departures_by_event += view->departures_by_event;
	net->departures_deferred += view->departures_deferred;
	net->deferred_looks += view->deferred_looks;
}

void network_join(struct network *net)
{
	if (!net->part_count)
		return;
	nic_join(net);
	for (unsigned p = 1; p <= net->part_count; p++) {
		add_up(net, net->views[p]);
		view_free(net->views[p], net->part_count);
	}
	parts_join(net->sim);
	wires_close(net);
	uncut(net);
}
