#include "workload/flows/flow_fluid.h"
#include "transport/keys.h"
#include "workload/flows/size_cdf.h"

#include <math.h>
#include <stdlib.h>

static void on_stream_ended(void *owner, uint32_t route)
{
	struct flow_fluid *flow = owner;
	struct sim *sim = flow->env->sim;

	(void)route;
	flow->streaming = false;
	flow->ended = true;
	if (flow->size >= (double)FLOW_ENDLESS)
		return;
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

/* The packets of a stream, without ACKs, which go the opposite way. */
static struct plan_packets packets_of(const struct model_env *env)
{
	struct plan_packets packets = plan_tcp_packets(env->tcp, &env->topo->net, 1);

	packets.control = 0;
	return packets;
}

/* The stream of a flow, on the path that TCP takes, without a cap. The caller frees its links. */
static struct plan_stream stream_of(const struct model_env *env, const struct flow_fluid_spec *spec)
{
	struct plan_stream stream = { .cap = INFINITY, .share = 1, .packets = packets_of(env) };
	struct route route;

	plan_fill_queues(&stream, &env->topo->net);
	transport_route(env->topo, spec->src, spec->dst, spec->key, false, &route);
	plan_add_route(&stream, env->topo, spec->src, &route, 1);
	return stream;
}

void flow_fluid_open(struct flow_fluid *flow, const struct model_env *env,
		     const struct flow_fluid_spec *spec, void (*received)(void *owner), void *owner)
{
	struct plan_path round_trip =
		plan_tcp_round_trip(env->tcp, env->topo, spec->src, spec->dst, spec->key);
	struct plan_growth growth = plan_tcp_growth(env->tcp);
	struct plan_stream stream = stream_of(env, spec);
	/* rate in bytes per second, and time, of the stream if it is alone */
	double alone = plan_alone(&stream, &env->topo->net), alone_ps;
	struct plan_ramp ramp = plan_ramp(&stream.packets, &growth, alone, round_trip.sum);

	*flow = (struct flow_fluid){ .env = env,
				     .ideal = tcp_ideal_between(
					     env->tcp, spec->src, spec->dst, spec->key,
					     spec->size == FLOW_ENDLESS ? 1 : spec->size),
				     .wire = plan_wire_bytes(&stream.packets, spec->size),
				     .size = (double)spec->size,
				     .received = received,
				     .owner = owner };
	/* The latency is the ideal time without the time of the stream alone, plus 1 ps: the end of
	 * the stream is rounded, and a flow must not be faster than its ideal time. */
	alone_ps = floor(flow->wire / alone * (double)PS_PER_S);
	flow->latency = (double)flow->ideal > alone_ps ? flow->ideal - (sim_time)alone_ps + 1 : 1;
	stream.cap = plan_tcp_cap(env->tcp, &stream.packets, &round_trip,
				  (uint32_t)tcp_parameters(env->tcp)->ack_every);
	flow->route = fluid_route_add(env->fluid, &stream, spec->key, on_stream_ended, flow);
	free(stream.links);
	timer_open(env->sim, &flow->timer, SIM_TIMER, timer_key(TIMER_FLOW, spec->key), on_timer,
		   flow);
	sim_name(env->sim, on_timer, "fluid flow %h");
	timer_set(env->sim, &flow->timer,
		  env->sim->now +
			  plan_ramp_take(&ramp, plan_message_packets(&stream.packets, spec->size)));
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
