/* HPCC: Li et al., SIGCOMM 2019, algorithm 1. Each switch tells, in each packet, what its port has
 * sent and what waits there (net/telemetry.h), and each ACK brings that back. The sender computes
 * from two ACKs in a row how much of what the path can hold is in flight, at the link where that is
 * most, and sets its window so that it becomes eta of it. It reacts to each ACK, but from a
 * reference window that changes once a round trip.
 *
 * As in public code (rdma-hw.cc of HPCC's simulator), and not in the paper: the window is at most
 * the first one, which fills the path at the rate of the sender's link; the rate has a minimum; the
 * first ACK is only remembered. That code computes with rates, which is the same, as T is a
 * constant.
 *
 * The header that collects telemetry has room for five switches and has its whole size from the
 * start; ACKs carry it, too. */
#include "transport/cc/cc.h"

#include "net/telemetry.h"

struct hpcc_conf {
	double eta;
	int64_t max_stage, int_header;
	bytes w_ai;
	sim_time base_rtt;
	bps min_rate;
};

static const struct conf_row hpcc_rows[] = {
	CONF_REAL("eta", struct hpcc_conf, eta, "0.95", 0.01, 1,
		  "Aim: what is in flight, of what the path can hold.", "HPCC section 5.1"),
	CONF_INT("max_stage", struct hpcc_conf, max_stage, "5", 0, 1000,
		 "So many round trips of additive increase in a row while below the aim; then the "
		 "window goes to the aim at once.",
		 "HPCC section 5.1; its simulator's run.py: 0"),
	CONF_BYTES(
		"w_ai", struct hpcc_conf, w_ai, "80B", 1, 0,
		"Additive increase of the window. n flows leave no queue while n x w_ai is below "
		"1 - eta of what the path can hold.",
		"HPCC section 5.1"),
	CONF_TIME("base_rtt", struct hpcc_conf, base_rtt, CONF_OPTIONAL, PS_PER_NS, PS_PER_S,
		  "T, the round trip without queues. Default: the longest in the network.",
		  "HPCC section 3.2"),
	CONF_INT("int_header", struct hpcc_conf, int_header, "42", 0, 256,
		 "Bytes of telemetry in each packet and ACK.",
		 "HPCC section 4.1: 42 for 5 switches"),
	CONF_RATE("min_rate", struct hpcc_conf, min_rate, "100Mbps", 1000000,
		  UINT64_C(1000000000000), "Lowest rate.",
		  "HPCC's simulator, rdma-hw.cc; run.py: 1Gbps"),
	{ 0 },
};
const struct conf_table hpcc_cc_table = { "hpcc", hpcc_rows, sizeof(struct hpcc_conf), "HPCC." };

struct hpcc {
	double u;             /* of the path's most loaded link, smoothed over a round trip */
	double reference;     /* W^c, bytes */
	uint64_t last_update; /* stream position: ACKs beyond it begin a round trip */
	int64_t stage;
};
CC_STATE(hpcc)

static const struct hpcc_conf *conf_of(const struct cc *cc)
{
	return cc->conf;
}

static double base_rtt(const struct cc *cc)
{
	return (double)(conf_of(cc)->base_rtt ? conf_of(cc)->base_rtt : cc->trip);
}

/* The window at which the sender's link is full. 8e12: bits per byte times ps per second. */
static double full_window(const struct cc *cc)
{
	return (double)cc->line * base_rtt(cc) / 8e12;
}

static void set_window(struct cc *cc, double window)
{
	double min = (double)conf_of(cc)->min_rate * base_rtt(cc) / 8e12, max = full_window(cc);

	window = window < min ? min : window;
	cc->cwnd = window < max ? window : max;
	cc->rate = (bps)(cc->cwnd * 8e12 / base_rtt(cc));
}

static void hpcc_init(struct cc *cc)
{
	struct hpcc *hpcc = hpcc_of(cc);

	set_window(cc, full_window(cc));
	*hpcc = (struct hpcc){ .u = 1, .reference = cc->cwnd };
}

/* MeasureInflight: false if no link has sent anything since the last ACK. */
static bool measure(struct cc *cc, const struct int_record *now, const struct int_record *before)
{
	struct hpcc *hpcc = hpcc_of(cc);
	double trip = base_rtt(cc), max = -1, span = 0;

	for (unsigned i = 0; i < now->hops; i++) {
		const struct int_hop *a = &now->hop[i], *b = &before->hop[i];
		double rate = (double)a->rate / 8e12; /* bytes per ps */
		uint64_t queue = a->queue < b->queue ? a->queue : b->queue;
		double passed = (double)(a->at - b->at), used, u;

		if (a->at <= b->at || a->sent < b->sent)
			continue;
		used = (double)(a->sent - b->sent) / passed / rate;
		/* more than all of it: the route has changed, and these are two ports */
		u = (double)queue / (rate * trip) + (used < 1 ? used : 1);
		if (u > max) {
			max = u;
			span = passed < trip ? passed : trip;
		}
	}
	if (max < 0)
		return false;
	hpcc->u += (max - hpcc->u) * span / trip;
	return true;
}

/* ComputeWind. */
static void hpcc_on_ack(struct cc *cc, const struct cc_ack *ack)
{
	struct hpcc *hpcc = hpcc_of(cc);
	const struct hpcc_conf *conf = conf_of(cc);
	bool update = ack->ack > hpcc->last_update, aims;

	if (!ack->telemetry || !measure(cc, ack->telemetry, ack->former))
		return;
	aims = hpcc->u >= conf->eta || hpcc->stage >= conf->max_stage;
	set_window(cc, (aims ? hpcc->reference * conf->eta / hpcc->u : hpcc->reference) +
			       (double)conf->w_ai);
	if (!update)
		return;
	hpcc->stage = aims ? 0 : hpcc->stage + 1;
	hpcc->reference = cc->cwnd;
	hpcc->last_update = ack->snd_nxt;
}

static uint32_t hpcc_telemetry(const struct cc *cc)
{
	return (uint32_t)conf_of(cc)->int_header;
}

const struct cc_ops hpcc_cc = {
	.name = "hpcc",
	.help = "HPCC (SIGCOMM 2019): a window by the telemetry of switches",
	.table = &hpcc_cc_table,
	.paces = true,
	.init = hpcc_init,
	.on_ack = hpcc_on_ack,
	.telemetry = hpcc_telemetry,
};
