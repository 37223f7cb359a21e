#include "workload/flow_fluid.h"

#include <math.h>
#include <stdlib.h>

static void on_stream_ended(void *owner, uint32_t route)
{
	struct flow_fluid *flow = owner;
	struct sim *sim = flow->env->sim;

	(void)route;
	flow->streaming = false;
	flow->ended = true;
	timer_set(sim, &flow->timer, sim->now + flow->latency);
}

static void on_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct flow_fluid *flow = owner;

	(void)sim, (void)entity;
	if (flow->ended) {
		flow->received(flow->owner);
		return;
	}
	flow->streaming = true;
	fluid_start(flow->env->fluid, flow->route, flow->wire);
}

/* Bytes per second that the window's limit lets through. */
static double window_rate(const struct tcp *tcp, const struct plan_packets *packets,
			  sim_time round_trip)
{
	bytes most = tcp_parameters(tcp)->max_window;

	if (!most)
		return INFINITY;
	return plan_window_rate(packets, (double)most / packets->payload, round_trip);
}

void flow_fluid_open(struct flow_fluid *flow, const struct model_env *env, uint32_t src,
		     uint32_t dst, uint64_t key, bytes size, void (*received)(void *owner),
		     void *owner)
{
	const struct network *net = &env->topo->net;
	struct plan_way round_trip = plan_tcp_round_trip(env->tcp, env->topo, src, dst, key);
	struct plan_growth growth = plan_tcp_growth(env->tcp);
	struct plan_packets packets = plan_tcp_packets(env->tcp, net, 1);
	struct plan_stream stream = { .cap = INFINITY };
	struct route route;
	double alone, alone_ps;

	packets.control = 0;
	tcp_route(env->tcp, src, dst, key, false, &route);
	plan_add_route(&stream, env->topo, src, &route, 1);
	alone = plan_alone(&stream, net);
	*flow = (struct flow_fluid){ .env = env,
				     .ideal = tcp_ideal_between(env->tcp, src, dst, key, size),
				     .wire = plan_wire_bytes(&packets, size),
				     .size = (double)size,
				     .received = received,
				     .owner = owner };
	/* the rest of the ideal time; with a picosecond, for the stream's end is rounded */
	alone_ps = floor(flow->wire / alone * (double)PS_PER_S);
	flow->latency = (double)flow->ideal > alone_ps ? flow->ideal - (sim_time)alone_ps + 1 : 1;
	flow->route = fluid_route_add(env->fluid, stream.links, stream.count,
				      window_rate(env->tcp, &packets, round_trip.sum), key,
				      on_stream_ended, flow);
	free(stream.links);
	timer_open(env->sim, &flow->timer, SIM_TIMER, sim_key(SIM_TIMER, UINT64_C(3) << 52 | key),
		   on_timer, flow);
	sim_name(env->sim, on_timer, "fluid flow %h");
	timer_set(env->sim, &flow->timer,
		  env->sim->now + plan_lead(&packets, &growth, alone, round_trip.sum,
					    ceil((double)size / packets.payload)));
}

void flow_fluid_close(struct flow_fluid *flow)
{
	fluid_route_remove(flow->env->fluid, flow->route);
	timer_close(flow->env->sim, &flow->timer);
}

bytes flow_fluid_delivered(const struct flow_fluid *flow, const double *progress)
{
	if (flow->ended)
		return (bytes)flow->size;
	return flow->streaming ? (bytes)(progress[flow->route] / flow->wire * flow->size) : 0;
}
