/* Parameter servers as one fluid stream: all pairs of workers and servers, both ways, at one rate.
 *
 * Neglected: the limit of `credit`, and the uneven sharing of links by TCP. */
#include "collective/ps.h"

#include <math.h>

/* The longest paths of a job's connections. */
struct ps_paths {
	struct plan_path push, pull, round_trip;
};

/* Adds one direction between a worker and a server. */
static void plan_connection(const struct ps *ps, uint32_t w, uint32_t q, bool push,
			    struct plan_stream *stream, struct ps_paths *paths)
{
	const struct model_env *env = &ps->scheme->env;
	uint64_t key = ps_connection_key(ps, w, q, push);
	uint32_t from = push ? ps->job.hosts[w] : ps->job.server_hosts[q];
	uint32_t to = push ? ps->job.server_hosts[q] : ps->job.hosts[w];
	struct plan_path path;

	if (from == to)
		return;
	path = plan_add_connection(stream, env->topo, from, to, key, 1);
	plan_path_longest(push ? &paths->push : &paths->pull, &path);
	path = plan_tcp_round_trip(env->tcp, env->topo, from, to, key);
	plan_path_longest(&paths->round_trip, &path);
}

/* The time of each stage, in seconds per byte of a stream. */
struct ps_stages {
	double push, adding, pull;
};

/* The busiest stage idles while the first block is in the stages before it, and while the last
 * block is in the stages after it. A link that carries pushes and pulls never idles; if one is
 * busier than all stages, there is no idle time. `together`: seconds per byte of the busiest stage
 * or link. Of equally busy stages, the one that idles longest counts. */
static struct plan_blocks blocks_of(bytes size, const struct ps_stages *stages, double together)
{
	double busy = together * (1 - 1e-9); /* the small term allows for rounding */
	struct plan_blocks idle[] = {
		/* if pull, adding, push is the busiest */
		{ .first = stages->push + stages->adding },
		{ .first = stages->push, .last = stages->pull },
		{ .last = stages->adding + stages->pull },
	};
	bool busiest[] = { stages->pull >= busy, stages->adding >= busy, stages->push >= busy };
	struct plan_blocks longest = { .size = size };

	for (size_t i = 0; i < 3; i++) {
		if (!busiest[i] || idle[i].first + idle[i].last <= longest.first + longest.last)
			continue;
		longest.first = idle[i].first;
		longest.last = idle[i].last;
	}
	return longest;
}

/* Makes one stream of both ways. Its rate is at most `cap`, the rate of a connection, and `adding`,
 * the rate of the servers. */
static void plan_both_ways(const struct ps_scheme *scheme, struct plan_stream ways[2], double cap,
			   double adding, struct stream_plan *plan)
{
	const struct network *net = &scheme->env.topo->net;
	struct plan_stream *stream = &plan->streams[0];
	struct ps_stages stages;

	for (size_t i = 0; i < 2; i++) {
		ways[i].cap = cap;
		for (size_t l = 0; l < ways[i].count; l++)
			plan_add(stream, ways[i].links[l].link, ways[i].links[l].weight);
	}
	stream->cap = fmin(cap, adding);
	plan_close(plan);
	stages = (struct ps_stages){ .push = 1 / plan_alone(&ways[0], net),
				     .adding = 1 / adding,
				     .pull = 1 / plan_alone(&ways[1], net) };
	plan->blocks = blocks_of(scheme->block, &stages, 1 / plan_alone(stream, net));
}

void *ps_plan(void *self, const struct collective_job *job, struct stream_plan *plan,
	      const char **never)
{
	struct ps_scheme *scheme = self;
	const struct model_env *env = &scheme->env;
	const struct network *net = &env->topo->net;
	struct plan_growth growth = plan_tcp_growth(env->tcp);
	struct ps ps = { .scheme = scheme, .job = *job };
	struct ps_paths paths = { 0 };
	struct plan_packets *packets;
	struct stream_plan apart; /* push, pull */

	if (ps_refuses(job, never))
		return NULL;
	plan_init(plan, 1);
	plan->bound.framing =
		connection_framing(env->tcp, env->roce, (unsigned)scheme->conf->transport);
	plan_add_servers(&plan->bound, job);
	packets = &plan->streams[0].packets;
	*packets = plan_tcp_packets(env->tcp, net, (uint32_t)scheme->conf->ack_every);
	packets->fraction = 1.0 / job->servers;
	plan_fill_queues(&plan->streams[0], net);
	plan_init(&apart, 2);
	apart.streams[0].packets = apart.streams[1].packets = *packets;
	for (uint32_t w = 0; w < job->workers; w++) {
		for (uint32_t q = 0; q < job->servers; q++) {
			plan_connection(&ps, w, q, true, &apart.streams[0], &paths);
			plan_connection(&ps, w, q, false, &apart.streams[1], &paths);
		}
	}
	plan_close(&apart);
	plan_both_ways(scheme, apart.streams,
		       plan_tcp_cap(env->tcp, packets, &paths.round_trip,
				    (uint32_t)scheme->conf->ack_every),
		       plan_reducer_rate(packets, env->reducers, job->workers), plan);
	plan_release(&apart);
	plan->latency = plan_path_latency(&paths.push) + plan_path_latency(&paths.pull);
	plan->ramp = plan_ramp(packets, &growth, plan_alone(&plan->streams[0], net),
			       paths.round_trip.sum);
	return scheme;
}

void ps_withdraw(void *admitted)
{
	(void)admitted; /* it holds nothing */
}
