/* Shortest paths in a graph: see graph.h. */
#include "topo/graph.h"

#include "base/mem.h"

#include <stdlib.h>

#define KEPT_BYTES (UINT64_C(128) << 20) /* of distances, at most */
#define FAR        UINT32_MAX            /* distance of a switch that has not been reached */

struct graph_routes {
	const struct graph *graph;
	uint32_t **rows;    /* distances by destination; NULL = not known */
	uint64_t kept, max; /* number of rows kept, and the most that may be kept */
	uint32_t *queue;    /* of search() */
	bool *waiting;      /* by switch: it is in `queue` */
};

struct graph_routes *graph_routes_new(const struct graph *graph)
{
	struct graph_routes *routes = xcalloc(1, sizeof(*routes));

	routes->graph = graph;
	routes->rows = xcalloc(graph->switches, sizeof(*routes->rows));
	routes->queue = xcalloc(graph->switches, sizeof(*routes->queue));
	routes->waiting = xcalloc(graph->switches, sizeof(*routes->waiting));
	routes->max = KEPT_BYTES / (graph->switches * sizeof(**routes->rows)) + 1;
	return routes;
}

static void forget(struct graph_routes *routes)
{
	for (uint32_t s = 0; s < routes->graph->switches; s++) {
		free(routes->rows[s]);
		routes->rows[s] = NULL;
	}
	routes->kept = 0;
}

void graph_routes_free(struct graph_routes *routes)
{
	if (!routes)
		return;
	forget(routes);
	free(routes->rows);
	free(routes->queue);
	free(routes->waiting);
	free(routes);
}

/* Finds the distances to a switch by Bellman-Ford. The queue has the switches whose neighbours may
 * be nearer than known so far. If all costs are equal, this is a breadth-first search. */
static void search(struct graph_routes *routes, uint32_t to, uint32_t *distance)
{
	const struct graph *graph = routes->graph;
	uint32_t head = 0, count = 0;

	for (uint32_t s = 0; s < graph->switches; s++)
		distance[s] = FAR;
	distance[to] = 0;
	routes->queue[count++] = to;
	while (count) {
		uint32_t sw = routes->queue[head];

		head = head + 1 == graph->switches ? 0 : head + 1;
		count--;
		routes->waiting[sw] = false;
		for (uint32_t e = graph->first[sw]; e < graph->first[sw + 1]; e++) {
			const struct graph_end *end = &graph->ends[e];

			if (distance[end->sw] <= distance[sw] + end->cost)
				continue;
			distance[end->sw] = distance[sw] + end->cost;
			if (routes->waiting[end->sw])
				continue;
			routes->waiting[end->sw] = true;
			routes->queue[(head + count++) % graph->switches] = end->sw;
		}
	}
}

const uint32_t *graph_distances(struct graph_routes *routes, uint32_t to)
{
	if (routes->rows[to])
		return routes->rows[to];
	if (routes->kept == routes->max)
		forget(routes);
	routes->rows[to] = xmalloc(routes->graph->switches * sizeof(**routes->rows));
	routes->kept++;
	search(routes, to, routes->rows[to]);
	return routes->rows[to];
}

uint16_t graph_next(const struct graph *graph, const uint32_t *distances, uint32_t *sw,
		    uint64_t *entropy)
{
	const struct graph_end *end = &graph->ends[graph->first[*sw]];
	const struct graph_end *last = &graph->ends[graph->first[*sw + 1]], *chosen = end;
	uint32_t here = distances[*sw], choices = 0;
	uint64_t choice;

	/* counts the choices; if there is only one, `chosen` is final */
	for (const struct graph_end *e = end; e < last; e++)
		if (distances[e->sw] + e->cost == here) {
			chosen = e;
			choices++;
		}
	SIM_BUG_ON(!choices);
	choice = *entropy % choices;
	*entropy /= choices;
	for (; choices > 1; end++)
		if (distances[end->sw] + end->cost == here && choice-- == 0) {
			chosen = end;
			break;
		}
	*sw = chosen->sw;
	return chosen->port;
}
