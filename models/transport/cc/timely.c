/* TIMELY: Mittal et al., SIGCOMM 2015, algorithm 1. A rate that follows the gradient of the round
 * trip: it grows by steps while round trips become shorter, and falls in proportion to how fast
 * they become longer. Below t_low it grows and above t_high it falls, whatever the gradient is.
 *
 * As HPCC's simulator (rdma-hw.cc): the rate changes once a window, by the round trip of the newest
 * packet, and steps grow with the rate of the link. The paper takes a round trip of each segment of
 * 16 to 64 KB: at low rates these are so rare that rates take seconds to come back. Connections
 * begin at the rate of their link, as with other controls here; the paper's, at a part of it. */
#include "transport/cc/cc.h"

#include <math.h>

struct timely_conf {
	double alpha, beta;
	bps delta, min_rate;
	sim_time t_low, t_high, min_rtt;
	int64_t hai;
};

#define GBPS UINT64_C(1000000000)

static const struct conf_row timely_rows[] = {
	CONF_REAL("alpha", struct timely_conf, alpha, "0.875", 0.001, 1,
		  "Weight of the newest difference of round trips in their mean.",
		  "HPCC's simulator; TIMELY gives no value"),
	CONF_REAL("beta", struct timely_conf, beta, "0.8", 0.001, 1, "Factor of decreases.",
		  "TIMELY section 5"),
	CONF_RATE("delta", struct timely_conf, delta, CONF_OPTIONAL, 1000000, 1000 * GBPS,
		  "Step of additive increase. Default: 1/1000 of the link's rate.",
		  "TIMELY section 5: 10 Mbps, for 10 Gbps; HPCC's run.py scales it"),
	CONF_INT("hai", struct timely_conf, hai, "5", 1, 1000,
		 "After so many completions in a row without a positive gradient, steps are 5 "
		 "delta.",
		 "TIMELY section 4.3"),
	CONF_TIME("t_low", struct timely_conf, t_low, "50us", 0, PS_PER_S,
		  "Round trip below which the rate grows in any case.", "TIMELY section 5"),
	CONF_TIME("t_high", struct timely_conf, t_high, "500us", PS_PER_NS, PS_PER_S,
		  "Round trip above which the rate falls in any case.", "TIMELY section 5"),
	CONF_TIME("min_rtt", struct timely_conf, min_rtt, "20us", PS_PER_NS, PS_PER_S,
		  "Divides differences of round trips.", "TIMELY section 5"),
	CONF_RATE("min_rate", struct timely_conf, min_rate, CONF_OPTIONAL, 1000000, 1000 * GBPS,
		  "Lowest rate. Default: 1/100 of the link's.",
		  "HPCC's simulator: 100 Mbps, in run.py 1 Gbps for 100"),
	{ 0 },
};
const struct conf_table timely_cc_table = { "timely", timely_rows, sizeof(struct timely_conf),
					    "TIMELY." };

#define HAI_STEPS 5

struct timely {
	sim_time last;      /* round trip; 0 = none yet */
	double difference;  /* of round trips, smoothed, ps */
	uint64_t completes; /* stream position of the next update */
	int64_t ups;        /* completions in a row without a positive gradient */
};
CC_STATE(timely)

static const struct timely_conf *conf_of(const struct cc *cc)
{
	return cc->conf;
}

static void set_rate(struct cc *cc, double rate)
{
	double min = (double)(conf_of(cc)->min_rate ? conf_of(cc)->min_rate : cc->line / 100);

	rate = rate < min ? min : rate;
	cc->rate = rate < (double)cc->line ? (bps)rate : cc->line;
}

static void timely_init(struct cc *cc)
{
	*timely_of(cc) = (struct timely){ 0 };
	cc->cwnd = INFINITY;
	cc->rate = cc->line;
}

/* Rates only fall on paths whose idle round trip is longer. */
static double timely_target(const struct cc *cc)
{
	return (double)conf_of(cc)->t_high;
}

/* Algorithm 1, once the difference of round trips is known. */
static void timely_update(struct cc *cc, double rtt)
{
	const struct timely_conf *conf = conf_of(cc);
	struct timely *timely = timely_of(cc);
	double rate = (double)cc->rate,
	       delta = (double)(conf->delta ? conf->delta : cc->line / 1000);
	double gradient = timely->difference / (double)conf->min_rtt;

	timely->ups = gradient <= 0 ? timely->ups + 1 : 0;
	if (rtt < (double)conf->t_low)
		set_rate(cc, rate + delta);
	else if (rtt > (double)conf->t_high)
		set_rate(cc, rate * (1 - conf->beta * (1 - (double)conf->t_high / rtt)));
	else if (gradient <= 0)
		set_rate(cc, rate + (timely->ups >= conf->hai ? HAI_STEPS : 1) * delta);
	else
		set_rate(cc, rate * (1 - conf->beta * (gradient < 1 ? gradient : 1)));
}

static void timely_on_ack(struct cc *cc, const struct cc_ack *ack)
{
	struct timely *timely = timely_of(cc);
	double alpha = conf_of(cc)->alpha;
	double difference = (double)ack->rtt - (double)timely->last;

	if (ack->ack < timely->completes)
		return;
	timely->completes = ack->snd_nxt;
	if (timely->last) {
		timely->difference += alpha * (difference - timely->difference);
		timely_update(cc, (double)ack->rtt);
	}
	timely->last = ack->rtt;
}

const struct cc_ops timely_cc = {
	.name = "timely",
	.help = "TIMELY (SIGCOMM 2015): a rate by the gradient of the round trip",
	.table = &timely_cc_table,
	.paces = true,
	.delays = true,
	.target = timely_target,
	.init = timely_init,
	.on_ack = timely_on_ack,
};
