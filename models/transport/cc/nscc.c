/* NSCC: the sender's congestion control of Ultra Ethernet, as uet-htsim (uec.cpp) has it. Its
 * window bounds what is on its way over all paths. A packet of one path without a mark lets the
 * window grow: by how much its delay is below a target, or by a fixed step where it is above. A
 * mark alone says that a path is busy; only with a mean delay above the target the window shrinks.
 * When packets are trimmed, or delays far too long, while little arrives, the window becomes what
 * has arrived in the last round trip (quick adapt).
 *
 * Its constants are for 100 Gbps and 12 us and grow with the bandwidth-delay product. Windows are
 * payload here, and frames there. A timeout, which there is of one packet and here of all that is
 * on its way, takes one packet from the window, as there; other losses, which uet-htsim finds with
 * SLEEK alone, count as trimmed packets for quick adapt. */
#include "transport/cc/cc.h"

struct nscc_conf {
	sim_time base_rtt, target;
	double gamma, eta, fair, proportional, fast, delay_alpha;
	int64_t gate;
};

static const struct conf_row nscc_rows[] = {
	CONF_TIME("base_rtt", struct nscc_conf, base_rtt, CONF_OPTIONAL, PS_PER_NS, PS_PER_S,
		  "Round trip without queues, until a shorter one is seen. Default: the longest in "
		  "the network.",
		  "uet-htsim"),
	CONF_TIME("target", struct nscc_conf, target, CONF_OPTIONAL, PS_PER_NS, PS_PER_S,
		  "Delay in queues that windows aim at. Default: 3/4 of base_rtt where switches "
		  "trim, otherwise base_rtt.",
		  "uet-htsim"),
	CONF_REAL("gamma", struct nscc_conf, gamma, "0.8", 0.001, 1,
		  "Factor of decreases, at most by half.", "uet-htsim"),
	CONF_REAL("eta", struct nscc_conf, eta, "0.15", 0, 100,
		  "Packets that the window gains each round trip in any case.", "uet-htsim"),
	CONF_REAL("fair_increase", struct nscc_conf, fair, "5", 0, 100,
		  "Packets by round trip while delays are above the target and nothing is marked.",
		  "uet-htsim"),
	CONF_REAL("proportional_increase", struct nscc_conf, proportional, "4", 0, 100,
		  "Packets by round trip and 12 us that the delay is below the target.",
		  "uet-htsim"),
	CONF_REAL("fast_increase", struct nscc_conf, fast, "0.25", 0, 10,
		  "Bytes by byte that arrives when a whole window has had delays below 1 us.",
		  "uet-htsim"),
	CONF_REAL("delay_alpha", struct nscc_conf, delay_alpha, "0.0125", 0.0001, 1,
		  "Weight of the newest delay in their mean.", "uet-htsim"),
	CONF_INT("qa_gate", struct nscc_conf, gate, "3", 0, 16,
		 "Quick adapt needs that less than the largest window divided by two to this power "
		 "has arrived.",
		 "uet-htsim"),
	{ 0 },
};
const struct conf_table nscc_cc_table = { "nscc", nscc_rows, sizeof(struct nscc_conf), "NSCC." };

#define REFERENCE_BDP  150000.0         /* bytes: 100 Gbps, 12 us */
#define REFERENCE_TRIP (12 * PS_PER_US) /* uet-htsim's initNsccParams() */
#define SHORT_DELAY    PS_PER_US        /* of fast increase */
#define QA_DELAY       4                /* quick adapt: targets */
#define ADJUST_PACKETS 8                /* arrive between two adjustments, or a round trip passes */
#define MAX_BDP        1.5

struct nscc {
	sim_time base, qa_end, adjusted, decreased;
	double average;  /* of delays, ps */
	double increase; /* gathered, in square bytes: divided by the window when it is added */
	uint64_t achieved, arrived, unmarked; /* bytes: quick adapt's, adjustments', fast increase's
					       */
	uint64_t ignore; /* bytes that were on their way at the last quick adapt, and may be marked
			  */
	bool fast, trimmed;
};
CC_LARGE_STATE(nscc)

static const struct nscc_conf *conf_of(const struct cc *cc)
{
	return cc->conf;
}

static sim_time network_trip(const struct cc *cc)
{
	return conf_of(cc)->base_rtt ? conf_of(cc)->base_rtt : cc->trip;
}

static double target(const struct cc *cc)
{
	if (conf_of(cc)->target)
		return (double)conf_of(cc)->target;
	return (double)network_trip(cc) * (cc->trims ? 0.75 : 1);
}

static double bdp(const struct cc *cc, sim_time trip)
{
	return (double)cc->line * (double)trip / 8e12;
}

static double max_window(const struct cc *cc)
{
	return MAX_BDP * bdp(cc, nscc_of(cc)->base);
}

/* Of all constants. */
static double scale(const struct cc *cc)
{
	return bdp(cc, network_trip(cc)) / REFERENCE_BDP;
}

static void set_window(struct cc *cc, double window)
{
	double max = max_window(cc);

	window = window < max ? window : max;
	cc->cwnd = window < cc->mss ? cc->mss : window;
}

static void nscc_init(struct cc *cc)
{
	nscc_of(cc)->base = network_trip(cc);
	set_window(cc, max_window(cc));
}

/* Whether the window has been set, or the ACK is of what was on its way before that. */
static bool quick_adapt(struct cc *cc, sim_time now, uint64_t flight, bool lost, bool marked,
			double delay)
{
	struct nscc *nscc = nscc_of(cc);
	bool adapts = false;

	if (nscc->ignore && marked) {
		adapts = true;
	} else if (now > nscc->qa_end) {
		bool poor = (double)nscc->achieved <
			    max_window(cc) / (double)(UINT64_C(1) << conf_of(cc)->gate);

		adapts = nscc->qa_end && poor &&
			 (lost || nscc->trimmed || delay > QA_DELAY * target(cc));
		if (adapts) {
			set_window(cc, (double)nscc->achieved);
			nscc->ignore = flight;
			nscc->trimmed = false;
		}
		nscc->achieved = 0;
		nscc->qa_end = now + nscc->base + (sim_time)target(cc);
	}
	if (adapts) {
		nscc->increase = 0;
		nscc->arrived = 0;
	}
	return adapts;
}

static void smooth(struct cc *cc, double sample)
{
	nscc_of(cc)->average += conf_of(cc)->delay_alpha * (sample - nscc_of(cc)->average);
}

static void ignored(struct nscc *nscc, uint64_t size)
{
	nscc->ignore -= nscc->ignore < size ? nscc->ignore : size;
}

/* A switch has cut a packet. Its delay counts as a whole round trip. */
static void on_trim(struct cc *cc, sim_time now, const struct cc_arrival *news)
{
	struct nscc *nscc = nscc_of(cc);

	ignored(nscc, news->trimmed);
	smooth(cc, (double)network_trip(cc));
	nscc->trimmed = true;
	if (!quick_adapt(cc, now, news->flight, true, true, 0))
		set_window(cc, cc->cwnd - (double)news->trimmed);
}

static void multiply(struct cc *cc, sim_time now)
{
	struct nscc *nscc = nscc_of(cc);
	double factor;

	nscc->fast = false;
	nscc->unmarked = 0;
	if (nscc->average <= target(cc) || now - nscc->decreased <= nscc->base)
		return;
	factor = 1 - conf_of(cc)->gamma * (1 - target(cc) / nscc->average);
	set_window(cc, cc->cwnd * (factor < 0.5 ? 0.5 : factor));
	nscc->decreased = now;
}

static void increase(struct cc *cc, uint64_t arrived, double delay)
{
	const struct nscc_conf *conf = conf_of(cc);
	struct nscc *nscc = nscc_of(cc);
	double bytes_in = (double)arrived;

	nscc->unmarked = delay < (double)SHORT_DELAY ? nscc->unmarked + arrived : 0;
	nscc->fast =
		delay < (double)SHORT_DELAY && (nscc->fast || (double)nscc->unmarked > cc->cwnd);
	if (nscc->fast)
		cc->cwnd += bytes_in * conf->fast * scale(cc);
	else
		nscc->increase += conf->proportional * cc->mss * scale(cc) * bytes_in *
				  (target(cc) - delay) / (double)REFERENCE_TRIP;
}

/* Adds what increases have gathered. */
static void adjust(struct cc *cc, sim_time now)
{
	struct nscc *nscc = nscc_of(cc);
	sim_time trip = network_trip(cc), since = now - nscc->adjusted;

	if ((double)nscc->arrived <= ADJUST_PACKETS * cc->mss && since <= trip)
		return;
	cc->cwnd += nscc->increase / cc->cwnd;
	if (since >= trip) {
		cc->cwnd += conf_of(cc)->eta * cc->mss * scale(cc);
		nscc->adjusted = now;
	}
	nscc->increase = 0;
	nscc->arrived = 0;
}

static void nscc_on_arrival(struct cc *cc, const struct cc_ack *ack, const struct cc_arrival *news)
{
	struct nscc *nscc = nscc_of(cc);
	double delay, aim = target(cc);

	nscc->base = ack->rtt < nscc->base ? ack->rtt : nscc->base;
	if (news->trimmed) {
		on_trim(cc, ack->now, news);
		return;
	}
	nscc->achieved += news->arrived;
	nscc->arrived += news->arrived;
	ignored(nscc, news->arrived);
	delay = (double)(ack->rtt - nscc->base);
	smooth(cc, delay > aim && !ack->ece ? (double)nscc->base / 4 : delay);
	if (quick_adapt(cc, ack->now, news->flight, false, ack->ece, delay))
		return;
	if (ack->ece && delay >= aim)
		multiply(cc, ack->now);
	else if (!ack->ece && delay >= aim)
		nscc->increase += conf_of(cc)->fair * cc->mss * scale(cc) * (double)news->arrived;
	else if (!ack->ece)
		increase(cc, news->arrived, delay);
	set_window(cc, cc->cwnd);
	adjust(cc, ack->now);
	set_window(cc, cc->cwnd);
}

static void nscc_on_loss(struct cc *cc, sim_time now)
{
	(void)now;
	nscc_of(cc)->trimmed = true;
}

static void nscc_on_timeout(struct cc *cc, unsigned nth, uint64_t flight, sim_time now)
{
	(void)nth, (void)flight, (void)now;
	set_window(cc, cc->cwnd - cc->mss);
}

const struct cc_ops nscc_cc = {
	.name = "nscc",
	.help = "NSCC (Ultra Ethernet, as uet-htsim): a window by delays and marks of all paths",
	.table = &nscc_cc_table,
	.ecn = true,
	.selective = true,
	.state = sizeof(struct nscc),
	.init = nscc_init,
	.on_arrival = nscc_on_arrival,
	.on_loss = nscc_on_loss,
	.on_timeout = nscc_on_timeout,
};
