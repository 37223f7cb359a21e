/* A ring as fluid streams, one an edge. An edge that is slow for a while holds the next one up only
 * when that has nothing left to pass on, a chunk later, and all of them after a whole round. Left
 * out is that: an edge may be ahead of the one before by any number of chunks. */
#include "collective/ring.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* Around the ring twice but for two edges: a chunk waits for one step before it takes the next. */
static sim_time latency_of_steps(const struct schedule *ring, const sim_time *edges)
{
	uint32_t p = ring->count;
	sim_time sum = 0, least = SIM_TIME_MAX;

	for (uint32_t r = 0; r < p; r++) {
		sim_time two = edges[r] + edges[(r + 1) % p];

		sum += edges[r];
		least = two < least ? two : least;
	}
	return 2 * sum - least + ring_steps(ring->count) * ring->scheme->conf->step_latency;
}

/* Returns the latency of the edge. */
static sim_time plan_edge(const struct schedule *ring, uint32_t r, struct plan_stream *stream,
			  struct plan_path *round_trip)
{
	const struct model_env *env = &ring->scheme->env;
	uint32_t from = ring->ranks[r].host, to = ring->ranks[(r + 1) % ring->count].host;
	uint32_t ports[ROUTE_MAX + 1];
	uint64_t key = schedule_edge_key(ring, r);
	struct plan_path path;
	struct route route;

	transport_route(env->topo, from, to, key, false, &route);
	plan_add_route(stream, env->topo, from, &route, 1);
	path = plan_tcp_round_trip(env->tcp, env->topo, from, to, key);
	plan_path_longest(round_trip, &path);
	path = plan_path(&env->topo->net, ports, topology_path(env->topo, from, &route, ports),
			 stream->packets.payload + TCP_OVERHEAD);
	return plan_path_latency(&path);
}

void *ring_plan(void *self, const struct collective_job *job, struct stream_plan *plan,
		const char **never)
{
	const struct model_env *env = &((struct schedule_scheme *)self)->env;
	const struct network *net = &env->topo->net;
	struct schedule *ring = schedule_new(self, "ring", &ring_ops, job);
	uint32_t ack_every = (uint32_t)ring->scheme->conf->ack_every;
	sim_time *edges = xcalloc(job->workers, sizeof(*edges));
	struct plan_growth growth = plan_tcp_growth(env->tcp);
	struct plan_packets packets = plan_tcp_packets(env->tcp, net, ack_every);
	struct plan_path longest = { 0 };

	*never = NULL;
	packets.messages = ring_steps(ring->count);
	packets.fraction = 1.0 / job->workers;
	plan_init(plan, job->workers);
	for (uint32_t r = 0; r < job->workers; r++) {
		plan->streams[r].packets = packets;
		plan_fill_queues(&plan->streams[r], net);
		edges[r] = plan_edge(ring, r, &plan->streams[r], &longest);
	}
	for (uint32_t r = 0; r < job->workers; r++)
		plan->streams[r].cap = plan_tcp_cap(env->tcp, &packets, &longest, ack_every);
	plan->latency = latency_of_steps(ring, edges);
	plan->in_turn = true;
	plan_close(plan);
	plan->ramp = plan_ramp(&packets, &growth, plan_slowest(plan, net), longest.sum);
	free(edges);
	return ring;
}
