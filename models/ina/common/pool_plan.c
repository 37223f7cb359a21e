/* ATP and ESA as fluid streams: one for each server, over the tree of its racks.
 *
 * A stream is what a job does when every chunk finds its aggregators, so that level 0 and level 1
 * add all contributions. Under ATP the sums go to the server and come back. Left out are collisions
 * of aggregators and their consequences (packets that go to servers unadded, preemption,
 * reminders), and cuts by marks: only max_window limits the window. */
#include "ina/common/pool.h"

#include <math.h>

/* Adds to the stream the links from a rack up to level 1. *up becomes the path of the rack's
 * packets to level 1, and *down that of results, if these are longer. */
static void plan_rack(const struct pool_server *server, const struct rack *rack,
		      struct plan_stream *stream, struct plan_path *up, struct plan_path *down)
{
	const struct topology *topo = server->job->base.scheme->env.topo;
	uint32_t ports[HOPS_MAX + 1], frame = server->job->base.scheme->frame;
	unsigned count =
		topology_path(topo, network_node(&topo->net, rack->down_port), &rack->up, ports);
	struct plan_path path = plan_path(&topo->net, ports, count - 1, frame);

	/* the first port is a worker's, the last leads from level 1 to the server */
	for (unsigned i = 1; i + 1 < count; i++)
		plan_add(stream, ports[i], 1);
	plan_path_longest(up, &path);
	count = topology_path(topo, network_node(&topo->net, server->racks.server), &rack->down,
			      ports);
	path = plan_path(&topo->net, ports + 1, count - 1, frame); /* without the server's NIC */
	plan_path_longest(down, &path);
}

/* The window grows by congestion avoidance from the start. Each server has an equal part of the
 * window. Chunks go to servers in turn, and the window begins at the oldest chunk. So all servers
 * go at the rate of the slowest, and the window has to fill the path of that server. */
static struct plan_ramp ramp_of(const struct pool_scheme *scheme, const struct stream_plan *plan,
				sim_time round_trip)
{
	const struct plan_packets *packets = &plan->streams[0].packets;
	double frame = packets->payload +
		       (double)((const struct pool_conf *)scheme->base.conf)->packets.header;
	double servers = (double)plan->count;
	struct plan_growth growth = {
		.window = (double)scheme->window.initial / frame / servers,
		.step = (double)scheme->window.increase / frame / servers,
	};

	return plan_ramp(packets, &growth, plan_slowest(plan, &scheme->base.env.topo->net),
			 round_trip);
}

/* How long the last packet of a chunk waits for the others where several racks share a link into
 * level 1's switch. */
static sim_time wait_of_racks(const struct pool_server *server)
{
	const struct racks *racks = &server->racks;
	const struct topology *topo = server->job->base.scheme->env.topo;
	uint32_t last[RACK_INPUTS_MAX], ports[HOPS_MAX + 1];
	sim_time longest = 0;

	for (uint32_t r = 0; r < racks->count; r++) {
		const struct rack *rack = &racks->racks[r];
		sim_time wait = 0;

		/* the last port leads to the server, the one before it into level 1 */
		last[r] = ports[topology_path(topo, network_node(&topo->net, rack->down_port),
					      &rack->up, ports) -
				2];
		for (uint32_t before = 0; before < r; before++)
			if (last[before] == last[r])
				wait += link_transmission(
					port_class(&topo->net, &topo->net.ports[last[r]]),
					server->job->base.scheme->frame);
		longest = wait > longest ? wait : longest;
	}
	return longest;
}

static void plan_server(const struct pool_server *server, struct plan_stream *stream,
			struct plan_path *total)
{
	const struct pool_job *job = server->job;
	const struct network *net = &job->base.scheme->env.topo->net;
	const struct racks *racks = &server->racks;
	struct plan_path up = { 0 }, down = { 0 };

	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		uint32_t port = job->base.ports[w];
		struct plan_path path = plan_path(net, &port, 1, job->base.scheme->frame);

		plan_add(stream, port, 1);
		plan_path_longest(&up, &path);
		path = plan_path(net, &net->cold[port].reverse, 1, job->base.scheme->frame);
		plan_path_longest(&down, &path);
	}
	for (uint32_t r = 0; r < racks->count; r++)
		plan_rack(server, &racks->racks[r], stream, &up, &down);
	for (uint32_t f = 0; f < racks->fan_out_count; f++)
		for (uint32_t i = 0; i < racks->fan_outs[f].count; i++)
			plan_add(stream, racks->fan_outs[f].ports[i], 1);
	*total = plan_path_then(&up, &down);
	if (!pool_ops(job)->through_server)
		return;
	plan_add(stream, racks->server_port, 1);
	plan_add(stream, racks->server, 1);
	plan_path_add(total, net, racks->server_port, job->base.scheme->frame);
	plan_path_add(total, net, racks->server, job->base.scheme->frame);
}

void pool_plan(void *self, struct stream_plan *plan)
{
	struct pool_job *job = self;
	const struct pool_scheme *scheme = pool_scheme(job);
	const struct collective_job *spec = &job->base.spec;
	const struct network *net = &scheme->base.env.topo->net;
	double window = (double)scheme->window.max / spec->servers;
	sim_time round_trip = 0;

	plan_init(plan, spec->servers);
	ina_plan_bound(&job->base, plan);
	for (uint32_t q = 0; q < spec->servers; q++) {
		struct plan_stream *stream = &plan->streams[q];
		struct plan_path path;
		sim_time trip;

		stream->packets =
			plan_ina_packets(net, job->base.scheme->frame, scheme->base.elements);
		stream->packets.fraction = 1.0 / spec->servers;
		stream->share = 1.0 / spec->servers; /* one window for all */
		plan_server(&job->servers[q], stream, &path);
		trip = path.sum + wait_of_racks(&job->servers[q]);
		if (window > 0)
			stream->cap = plan_window_rate(&stream->packets,
						       window / job->base.scheme->frame, trip);
		if (pool_ops(job)->through_server)
			stream->cap =
				fmin(stream->cap, plan_reducer_rate(&stream->packets,
								    scheme->base.env.reducers, 1));
		round_trip = trip > round_trip ? trip : round_trip;
		if (plan_path_latency(&path) > plan->latency)
			plan->latency = plan_path_latency(&path);
	}
	plan_close(plan);
	plan_set_turns(plan, net, spec, pool_ops(job)->through_server ? spec->servers : 0);
	plan->ramp = ramp_of(scheme, plan, round_trip);
}
