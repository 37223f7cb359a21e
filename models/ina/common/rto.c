#include "ina/common/rto.h"

#include <stddef.h>

#define RTO_MAX (100 * PS_PER_S) /* doubling ends here */

const char *const rto_names[] = {
	[RTO_FIXED] = "fixed", [RTO_DOUBLING] = "doubling", [RTO_ADAPTIVE] = "adaptive", NULL
};

void rto_init(struct rto *rto, const struct rto_conf *conf)
{
	*rto = (struct rto){ .conf = conf,
			     .timeout = conf->first,
			     .threshold = (uint64_t)conf->threshold };
}

void rto_sample(struct rto *rto, sim_time rtt)
{
	sim_time off = rtt > rto->srtt ? rtt - rto->srtt : rto->srtt - rtt;

	if (rto->conf->rule != RTO_ADAPTIVE)
		return;
	if (!rto->srtt) {
		rto->srtt = rtt;
		rto->rttvar = rtt / 2;
	} else {
		rto->rttvar = (3 * rto->rttvar + off) / 4;
		rto->srtt = (7 * rto->srtt + rtt) / 8;
	}
	rto->timeout = rto->srtt + 4 * rto->rttvar;
	if (rto->timeout < rto->conf->min)
		rto->timeout = rto->conf->min;
}

void rto_answered(struct rto *rto)
{
	if (!rto->srtt && rto->timeout > rto->conf->min)
		rto->timeout = rto->conf->min;
}

static void back_off(struct rto *rto)
{
	rto->timeout = rto->timeout < RTO_MAX / 2 ? 2 * rto->timeout : RTO_MAX;
}

void rto_expired(struct rto *rto, uint64_t count, sim_time sent, sim_time now)
{
	switch ((enum rto_rule)rto->conf->rule) {
	case RTO_FIXED:
		return;
	case RTO_DOUBLING:
		for (; count; count--) {
			if (++rto->expired <= rto->threshold)
				continue;
			rto->expired = 0;
			rto->threshold += (uint64_t)rto->conf->threshold;
			back_off(rto);
		}
		return;
	case RTO_ADAPTIVE:
		if (sent < rto->doubled)
			return;
		rto->doubled = now;
		back_off(rto);
		return;
	}
}
