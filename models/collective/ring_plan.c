/* A ring as one fluid stream: all edges at one rate, that of the slowest. */
#include "collective/ring.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* Around the ring twice but for two edges: a chunk waits for one step before it takes the next. */
static sim_time latency_of_steps(const struct ring *ring, const sim_time *edges)
{
	uint32_t p = ring->job.workers;
	sim_time sum = 0, least = SIM_TIME_MAX;

	for (uint32_t r = 0; r < p; r++) {
		sim_time two = edges[r] + edges[(r + 1) % p];

		sum += edges[r];
		least = two < least ? two : least;
	}
	return 2 * sum - least + ring_steps(ring) * ring->scheme->conf->step_latency;
}

void *ring_plan(void *self, const struct collective_job *job, struct stream_plan *plan,
		const char **never)
{
	const struct model_env *env = &((struct ring_scheme *)self)->env;
	struct ring *ring = ring_new(self, job);
	sim_time *edges = xcalloc(job->workers, sizeof(*edges));
	struct plan_growth growth = plan_tcp_growth(env->tcp);
	struct plan_way longest = { 0 };
	struct plan_packets packets = plan_tcp_packets(env->tcp, &env->topo->net,
						       (uint32_t)ring->scheme->conf->ack_every);

	*never = NULL;
	plan_init(plan, 1);
	for (uint32_t r = 0; r < job->workers; r++) {
		struct rank *rank = &ring->ranks[r];
		uint32_t ports[ROUTE_MAX + 1];
		struct plan_way way;
		struct route route;

		tcp_route(env->tcp, rank->host, ring_next(rank)->host, ring_edge_key(ring, r),
			  false, &route);
		plan_add_route(&plan->streams[0], env->topo, rank->host, &route, 1);
		way = plan_path(&env->topo->net, ports,
				topology_path(env->topo, rank->host, &route, ports),
				packets.payload + TCP_OVERHEAD);
		edges[r] = plan_way_latency(&way);
		way = plan_tcp_round_trip(env->tcp, env->topo, rank->host, ring_next(rank)->host,
					  ring_edge_key(ring, r));
		plan_way_longest(&longest, &way);
	}
	packets.messages = ring_steps(ring);
	packets.fraction = 1.0 / job->workers;
	plan->streams[0].packets = packets;
	plan->latency = latency_of_steps(ring, edges);
	plan->streams[0].cap =
		plan_tcp_cap(env->tcp, &packets, &longest, (uint32_t)ring->scheme->conf->ack_every);
	plan->streams[0].share = plan_turn(&packets, &env->topo->net);
	plan->in_turn = true;
	plan_close(plan);
	plan->ramp = plan_ramp(&packets, &growth, plan_alone(&plan->streams[0], &env->topo->net),
			       longest.sum);
	free(edges);
	return ring;
}

void ring_withdraw(void *admitted)
{
	ring_free(admitted);
}
