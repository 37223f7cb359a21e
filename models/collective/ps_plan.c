/* Parameter servers as one fluid stream: all pairs of workers and servers, both ways, at one rate.
 *
 * Left out: how far a worker runs ahead (`credit`), and that connections share links unevenly. */
#include "collective/ps.h"

#include <math.h>

/* The longest ways of a job's connections. */
struct ps_ways {
	struct plan_way push, pull, round_trip;
};

/* One direction between a worker and a server. */
static void plan_connection(const struct ps *ps, uint32_t w, uint32_t q, bool push,
			    struct plan_stream *stream, struct ps_ways *ways)
{
	const struct model_env *env = &ps->scheme->env;
	uint64_t key = ps_connection_key(ps, w, q, push);
	uint32_t from = push ? ps->job.hosts[w] : ps->job.server_hosts[q];
	uint32_t to = push ? ps->job.server_hosts[q] : ps->job.hosts[w];
	uint32_t ports[ROUTE_MAX + 1];
	struct plan_way way;
	struct route route;

	if (from == to)
		return;
	tcp_route(env->tcp, from, to, key, false, &route);
	plan_add_route(stream, env->topo, from, &route, 1);
	way = plan_path(&env->topo->net, ports, topology_path(env->topo, from, &route, ports),
			stream->packets.payload + TCP_OVERHEAD);
	plan_way_longest(push ? &ways->push : &ways->pull, &way);
	way = plan_tcp_round_trip(env->tcp, env->topo, from, to, key);
	plan_way_longest(&ways->round_trip, &way);
}

/* What a block is on the wire. */
static double block_on_wire(const struct ps_scheme *scheme, const struct plan_packets *packets)
{
	struct plan_packets whole = *packets;

	whole.fraction = 1;
	return plan_wire_bytes(&whole, scheme->block);
}

/* All shards go at one rate. The last block is pulled when all of it has been pushed and added. */
void *ps_plan(void *self, const struct collective_job *job, struct stream_plan *plan,
	      const char **never)
{
	struct ps_scheme *scheme = self;
	const struct model_env *env = &scheme->env;
	const struct network *net = &env->topo->net;
	struct plan_growth growth = plan_tcp_growth(env->tcp);
	struct ps ps = { .scheme = scheme, .job = *job };
	struct ps_ways ways = { 0 };
	struct plan_stream *stream;
	double adding;

	*never = NULL;
	plan_init(plan, 1);
	stream = &plan->streams[0];
	stream->packets = plan_tcp_packets(env->tcp, net, (uint32_t)scheme->conf->ack_every);
	stream->packets.fraction = 1.0 / job->servers;
	for (uint32_t w = 0; w < job->workers; w++) {
		for (uint32_t q = 0; q < job->servers; q++) {
			plan_connection(&ps, w, q, true, stream, &ways);
			plan_connection(&ps, w, q, false, stream, &ways);
		}
	}
	adding = plan_reducer_rate(&stream->packets, env->reducers, job->workers);
	stream->cap = fmin(adding, plan_tcp_cap(env->tcp, &stream->packets, &ways.round_trip,
						(uint32_t)scheme->conf->ack_every));
	plan_close(plan);
	plan->latency = plan_way_latency(&ways.push) + plan_way_latency(&ways.pull);
	plan->lead = plan_lead(&stream->packets, &growth, plan_alone(stream, net),
			       ways.round_trip.sum, INFINITY);
	plan->tail = block_on_wire(scheme, &stream->packets);
	plan->tail_rate = 1 / (1 / plan_alone(stream, net) + 1 / adding);
	return scheme;
}

void ps_withdraw(void *admitted)
{
	(void)admitted; /* it holds nothing */
}
