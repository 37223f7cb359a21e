#include "net/ingress.h"

#include "base/fail.h"

void ingress_init(struct ingress *in, struct ingress_memory *memory,
		  const struct pause_params *params)
{
	SIM_BUG_ON(params->memory < params->headroom + params->mtu ||
		   params->headroom > HEADROOM_MAX);
	*in = (struct ingress){ .memory = memory,
				.headroom_size = (uint32_t)params->headroom,
				.xoff = params->xoff,
				.xon = params->xon,
				.hysteresis = params->hysteresis,
				.dynamic = params->alpha != 0,
				.alpha = params->alpha };
	memory->shared_size += params->memory - params->headroom - params->mtu;
}

bytes ingress_threshold(const struct ingress *in)
{
	const struct ingress_memory *memory = in->memory;
	unsigned __int128 scaled;

	if (!in->dynamic)
		return in->xoff;
	if (memory->shared_used >= memory->shared_size)
		return 0;
	scaled = (unsigned __int128)(memory->shared_size - memory->shared_used) * in->alpha;
	return (bytes)(scaled / ALPHA_ONE);
}

/* A port without bytes is always low, even if other ports leave no memory: else
 * nothing would ever wake its neighbour. */
bool ingress_low(const struct ingress *in)
{
	if (in->headroom)
		return false;
	if (!in->dynamic)
		return in->shared <= in->xon;
	return in->shared == 0 || in->shared + in->hysteresis <= ingress_threshold(in);
}

void ingress_set_stopped(struct ingress *in, bool stopped)
{
	if (in->stopped == stopped)
		return;
	in->stopped = stopped;
	if (stopped)
		in->memory->stopped++;
	else
		in->memory->stopped--;
}

/* The most frame bytes that a link can carry in a time: those of the largest frames,
 * which have the least overhead. */
static bytes carried(bps rate, sim_time time, uint32_t mtu, uint32_t overhead)
{
	unsigned __int128 bits = (unsigned __int128)rate * time;

	return (bytes)(bits * mtu / (8 * PS_PER_S) / (mtu + overhead));
}

/* Time of a frame of `wire` bytes, overhead included. */
static sim_time ingress_transmission(bps rate, uint32_t wire)
{
	return (wire * UINT64_C(8) * PS_PER_S + rate - 1) / rate;
}

bytes pause_headroom(bps rate, sim_time delay, sim_time pipeline, sim_time response, uint32_t mtu,
		     uint32_t overhead)
{
	sim_time reaction = ingress_transmission(rate, mtu + overhead) +
			    ingress_transmission(rate, PAUSE_FRAME + overhead) + 2 * delay +
			    pipeline + response;

	return carried(rate, reaction, mtu, overhead) + mtu;
}
