/* Swift: Kumar et al., SIGCOMM 2020, delay-based.
 *
 * Modelled: the target delay with topology and flow scaling (section 3.5); additive increase, and a
 * multiplicative decrease in proportion to the excess, at most once a round trip (section 3.2,
 * algorithm 1); pacing of windows below a packet; cuts by max_mdf at losses and timeouts, also at
 * most once a round trip. From the retx_reset_threshold-th timeout in a row on, the window is
 * its minimum. A single timeout halves the window by default, where TCP would start again from one
 * segment (RFC 5681).
 *
 * Simplified: there is only the fabric window. The endpoint window of section 3.3 would react to
 * the delay in hosts. Here no load changes that delay (`latency` and `jitter` of `topology.host`),
 * which is part of every round trip.
 *
 * Differences from algorithm 1: after a decrease the next one waits for a round trip (algorithm 1:
 * after each event that does not raise the window); the count of timeouts in a row restarts when
 * new data is acknowledged (algorithm 1: at any ACK); ACKs during a fast recovery do not raise the
 * window.
 *
 * The paper leaves the values of its parameters to the operator; the rows below say where ours are
 * from. Section 3.5 adds a constant to the target for each switch. A constant that is too small for
 * a network starves longer paths, so the default is the time that the switches of the path add to
 * an idle round trip. Then all paths have the same part of the target left for queues. */
#include "transport/cc/cc.h"

#include <math.h>

struct swift_conf {
	sim_time base_target, hop, fs_range;
	double ai, beta, max_mdf, fs_min_cwnd, fs_max_cwnd;
	int64_t retx_reset_threshold;
	bool hop_given;
};

static const struct conf_row swift_rows[] = {
	CONF_TIME("base_target", struct swift_conf, base_target, "25us", PS_PER_NS, PS_PER_S,
		  "Target round-trip time on a path without switches, for a large window.",
		  "our choice: a few idle round trips of a fabric at 10 to 100 Gbps"),
	CONF_TIME("hop", struct swift_conf, hop, CONF_OPTIONAL, 0, PS_PER_S,
		  "Added to the target for each switch on the path. Default: what these switches "
		  "and the links that lead to them add to an idle round trip.",
		  "our choice; Swift section 3.5 (csg-htsim: 20 us / 6.55)",
		  .present = CONF_GIVEN(struct swift_conf, hop_given)),
	CONF_TIME("fs_range", struct swift_conf, fs_range, "50us", 0, PS_PER_S,
		  "Largest addition to the target for small windows.",
		  "our choice; Swift section 3.5"),
	CONF_REAL("fs_min_cwnd", struct swift_conf, fs_min_cwnd, "0.1", 0.001, 1,
		  "Window in packets up to which that addition is the largest.",
		  "our choice; Swift section 3.5"),
	CONF_REAL("fs_max_cwnd", struct swift_conf, fs_max_cwnd, "100", 2, 1e6,
		  "Window in packets from which on there is no such addition.",
		  "our choice; Swift section 3.5"),
	CONF_REAL("ai", struct swift_conf, ai, "1", 0.001, 1000,
		  "Packets by which a window grows in a round trip that is below the target.",
		  "our choice; Swift section 3.2"),
	CONF_REAL("beta", struct swift_conf, beta, "0.8", 0.001, 1,
		  "The window decreases by this factor times (delay - target) / delay.",
		  "our choice; Swift section 3.2"),
	CONF_REAL("max_mdf", struct swift_conf, max_mdf, "0.5", 0.01, 0.99,
		  "Largest decrease of the window in a round trip, as a fraction.",
		  "our choice; Swift section 3.2"),
	CONF_INT("retx_reset_threshold", struct swift_conf, retx_reset_threshold, "5", 1, 100,
		 "After so many timeouts in a row the window is the smallest, 0.01 packets.",
		 "csg-htsim; Swift algorithm 1 gives no value"),
	{ 0 },
};
static const struct conf_rename swift_renamed[] = { { "target", "base_target" },
						    { "range", "fs_range" },
						    { "least", "fs_min_cwnd" },
						    { "most", "fs_max_cwnd" },
						    { "increase", "ai" },
						    { "max_decrease", "max_mdf" },
						    { "reset_after", "retx_reset_threshold" },
						    { 0 } };
const struct conf_table swift_cc_table = { "swift", swift_rows, sizeof(struct swift_conf), "Swift.",
					   .renamed = swift_renamed };

#define MIN_CWND 0.01    /* packets */
#define MAX_CWND 50000.0 /* packets */

struct swift {
	sim_time decreased; /* when the window was last decreased */
	sim_time rtt;       /* round trip that the newest ACK measured */
};
CC_STATE(swift)

static const struct swift_conf *conf_of(const struct cc *cc)
{
	return cc->conf;
}

static double swift_target(const struct cc *cc)
{
	const struct swift_conf *conf = conf_of(cc);

	return (double)conf->base_target +
	       (conf->hop_given ? cc->hops * (double)conf->hop : (double)cc->switches);
}

/* Section 3.5: alpha / sqrt(cwnd) + beta is fs_range at fs_min_cwnd and 0 at fs_max_cwnd. */
static double target_of_window(const struct cc *cc)
{
	const struct swift_conf *conf = conf_of(cc);
	double range = (double)conf->fs_range, window = cc->cwnd / cc->mss;
	double alpha = range / (1 / sqrt(conf->fs_min_cwnd) - 1 / sqrt(conf->fs_max_cwnd));
	double scaled = alpha / sqrt(window) - alpha / sqrt(conf->fs_max_cwnd);

	scaled = scaled < 0 ? 0 : scaled > range ? range : scaled;
	return swift_target(cc) + scaled;
}

/* Algorithm 1: while the window is below one packet, a packet leaves every RTT / window. */
static void set_window(struct cc *cc, double packets)
{
	const struct swift *swift = swift_of(cc);

	packets = packets < MIN_CWND ? MIN_CWND : packets;
	packets = packets > MAX_CWND ? MAX_CWND : packets;
	cc->cwnd = packets * cc->mss;
	cc->gap = packets < 1 ? (sim_time)((double)swift->rtt / packets) : 0;
}

/* Lowers the window by the fraction `by`, unless it was lowered within the last round trip. */
static void decrease(struct cc *cc, double by, sim_time now)
{
	struct swift *swift = swift_of(cc);

	if (now - swift->decreased < swift->rtt)
		return;
	swift->decreased = now;
	set_window(cc, cc->cwnd / cc->mss * (1 - by));
}

static void swift_on_ack(struct cc *cc, const struct cc_ack *ack)
{
	const struct swift_conf *conf = conf_of(cc);
	double delay = (double)ack->rtt, aim = target_of_window(cc), window = cc->cwnd / cc->mss;
	double excess = conf->beta * (delay - aim) / delay;

	swift_of(cc)->rtt = ack->rtt;
	if (delay >= aim)
		decrease(cc, excess < conf->max_mdf ? excess : conf->max_mdf, ack->now);
	else if (!ack->in_recovery)
		set_window(cc, window + conf->ai * (double)ack->growth / cc->mss /
						(window < 1 ? 1 : window));
}

static void swift_on_loss(struct cc *cc, sim_time now)
{
	decrease(cc, conf_of(cc)->max_mdf, now);
}

static void swift_on_timeout(struct cc *cc, unsigned nth, uint64_t flight, sim_time now)
{
	(void)flight;
	if (nth < conf_of(cc)->retx_reset_threshold) {
		decrease(cc, conf_of(cc)->max_mdf, now);
		return;
	}
	swift_of(cc)->decreased = now;
	set_window(cc, MIN_CWND);
}

const struct cc_ops swift_cc = {
	.name = "swift",
	.help = "Swift (SIGCOMM 2020): keeps the round trip at a target",
	.table = &swift_cc_table,
	.paces = true,
	.delays = true,
	.target = swift_target,
	.on_ack = swift_on_ack,
	.on_loss = swift_on_loss,
	.on_timeout = swift_on_timeout,
};
