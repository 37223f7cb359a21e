/* DCQCN: Zhu et al., SIGCOMM 2015, and the variant of NICs in HPCC's simulator (SIGCOMM 2019).
 *
 * The parameter set decides between two versions of the sender:
 *   sigcomm15         cuts at each CNP; grows by a timer and a byte counter (section 3.3)
 *   hpcc_paper, hpcc  a CNP only sets two flags. The update of alpha checks one flag, the cut the
 *                     other, each at its own interval. Grows by the timer alone
 *                     (cnp_received_mlx() and others in rdma-hw.cc of that simulator)
 * A connection begins at the rate of its link, and no timer runs before the first CNP. Rates are
 * whole bits per second, halves rounded up, so that growth ends at the target.
 *
 * Simplified: the rate when a packet leaves decides the gap behind it, even if the rate changes
 * during the gap (the HPCC simulator then changes the gap); an alpha below 1e-9 counts as 0.
 * Switches mark ("ecn") by the queue that a packet finds (the HPCC simulator: leaves behind). */
#include "transport/cc/dcqcn.h"

#include <math.h>

#define GBPS             UINT64_C(1000000000)
#define MBPS             UINT64_C(1000000)
#define MIN_ALPHA        1e-9
#define CUT_BEHIND_ALPHA PS_PER_NS /* the cut uses alpha, so it follows the update of alpha */

/* `rate_ai` and `rate_hai` of HPCC's sets are for a link of 100 Gbps; step() scales them. */
static const struct dcqcn_conf presets[] = {
	[DCQCN_SIGCOMM15] = { .g = 1.0 / 256,
			      .cnp_interval = 50 * PS_PER_US,
			      .alpha_timer = 55 * PS_PER_US,
			      .increase_timer = 55 * PS_PER_US,
			      .byte_counter = 10000000,
			      .fast_recovery = 5,
			      .rate_ai = 40 * MBPS,
			      .rate_hai = 400 * MBPS,
			      .min_rate = 10 * MBPS,
			      .clamp_target = true },
	[DCQCN_HPCC_PAPER] = { .g = 1.0 / 256,
			       .cut_interval = 50 * PS_PER_US,
			       .alpha_timer = 50 * PS_PER_US,
			       .increase_timer = 55 * PS_PER_US,
			       .fast_recovery = 1,
			       .rate_ai = 20 * MBPS,
			       .rate_hai = 200 * MBPS,
			       .min_rate = 1000 * MBPS },
	[DCQCN_HPCC] = { .g = 1.0 / 256,
			 .cut_interval = 4 * PS_PER_US,
			 .alpha_timer = PS_PER_US,
			 .increase_timer = 300 * PS_PER_US,
			 .fast_recovery = 1,
			 .rate_ai = 20 * MBPS,
			 .rate_hai = 200 * MBPS,
			 .min_rate = 1000 * MBPS },
};

static const char *const set_names[] = { [DCQCN_SIGCOMM15] = "sigcomm15",
					 [DCQCN_HPCC_PAPER] = "hpcc_paper",
					 [DCQCN_HPCC] = "hpcc",
					 NULL };

static const struct conf_row dcqcn_rows[] = {
	CONF_ENUM("set", struct dcqcn_conf, set, "hpcc_paper", set_names,
		  "Version of the sender, and defaults of the other parameters. sigcomm15: the "
		  "paper (40 Gbps); hpcc_paper, hpcc: \"dcqcn_paper\" and \"dcqcn\" of HPCC's "
		  "simulator, where steps grow with the rate of the link.",
		  "our choice: of the three, the one with stated values for 100 Gbps and the "
		  "paper's timers"),
	CONF_REAL("g", struct dcqcn_conf, g, CONF_OPTIONAL, 0.0001, 1,
		  "Gain of the estimate alpha; 1/256 in all sets."),
	CONF_TIME("cnp_interval", struct dcqcn_conf, cnp_interval, CONF_OPTIONAL, 0, PS_PER_S,
		  "A receiver sends at most one CNP in this time, however many packets are marked; "
		  "0s: no CNPs, the next ACK tells of the mark. sigcomm15: 50us; "
		  "hpcc_paper, hpcc: 0s.",
		  .present = CONF_GIVEN(struct dcqcn_conf, cnp_given)),
	CONF_TIME(
		"cut_interval", struct dcqcn_conf, cut_interval, CONF_OPTIONAL, PS_PER_NS, PS_PER_S,
		"hpcc_paper, hpcc: interval at which a sender decides whether to cut; 50us, 4us."),
	CONF_TIME(
		"alpha_timer", struct dcqcn_conf, alpha_timer, CONF_OPTIONAL, PS_PER_NS, PS_PER_S,
		"Time without a CNP after which alpha decays (sigcomm15: 55us), or interval of its "
		"updates (hpcc_paper: 50us, hpcc: 1us)."),
	CONF_TIME("increase_timer", struct dcqcn_conf, increase_timer, CONF_OPTIONAL, PS_PER_NS,
		  PS_PER_S,
		  "Interval of increases after a cut: sigcomm15, hpcc_paper: 55us; hpcc: 300us."),
	CONF_BYTES(
		"byte_counter", struct dcqcn_conf, byte_counter, CONF_OPTIONAL, 1, 0,
		"sigcomm15: the rate also increases each time so many bytes have been sent; 10MB."),
	CONF_INT("fast_recovery", struct dcqcn_conf, fast_recovery, CONF_OPTIONAL, 1, 100,
		 "F of the paper. Increases after a cut go half-way back to the target. They raise "
		 "the target, too, from the F-th by timer or by byte counter on (sigcomm15: 5), or "
		 "after the F-th (others: 1)."),
	CONF_RATE("rate_ai", struct dcqcn_conf, rate_ai, CONF_OPTIONAL, MBPS, 1000 * GBPS,
		  "Step of additive increase (R_AI). sigcomm15: 40Mbps; others: 1/5000 of the "
		  "link's rate."),
	CONF_RATE("rate_hai", struct dcqcn_conf, rate_hai, CONF_OPTIONAL, MBPS, 1000 * GBPS,
		  "Step of hyper increase (R_HAI). sigcomm15: 400Mbps (not stated in the paper); "
		  "others: 1/500 of the link's rate."),
	CONF_RATE("min_rate", struct dcqcn_conf, min_rate, CONF_OPTIONAL, MBPS, 1000 * GBPS,
		  "Lowest rate: sigcomm15: 10Mbps (not stated in the paper); others: 1Gbps."),
	CONF_BOOL("clamp_target", struct dcqcn_conf, clamp_target, CONF_OPTIONAL,
		  "true: each cut sets the target to the rate before the cut; false: only cuts "
		  "after an increase do. sigcomm15: true; others: false.",
		  .present = CONF_GIVEN(struct dcqcn_conf, clamp_given)),
	{ 0 },
};
static const struct conf_rename dcqcn_renamed[] = {
	{ "additive", "rate_ai" }, { "hyper", "rate_hai" }, { "least", "min_rate" }, { 0 }
};
const struct conf_table dcqcn_cc_table = { "dcqcn", dcqcn_rows, sizeof(struct dcqcn_conf), "DCQCN.",
					   .renamed = dcqcn_renamed };

static const struct dcqcn_conf *conf_of(const struct cc *cc)
{
	return cc->conf;
}

static const struct dcqcn_conf *preset_of(const struct cc *cc)
{
	return &presets[conf_of(cc)->set];
}

static bool is_hpcc(const struct cc *cc)
{
	return conf_of(cc)->set != DCQCN_SIGCOMM15;
}

#define PICK(cc, field) (conf_of(cc)->field ? conf_of(cc)->field : preset_of(cc)->field)

/* By how much the target rate grows. HPCC's presets scale with the rate of the link. */
static bps step(const struct cc *cc, bps given, bps preset)
{
	if (given)
		return given;
	return is_hpcc(cc) ? preset * (cc->line / MBPS) / (100 * GBPS / MBPS) : preset;
}

/* --- rates --- */

static void cut(struct cc *cc)
{
	struct dcqcn *d = dcqcn_of(cc);
	bps min = PICK(cc, min_rate), rate = (bps)((double)cc->rate * (1 - d->alpha / 2));
	bool clamp =
		conf_of(cc)->clamp_given ? conf_of(cc)->clamp_target : preset_of(cc)->clamp_target;

	if (clamp || d->times || d->fills)
		d->target = cc->rate;
	if (min > cc->line)
		min = cc->line;
	cc->rate = rate > min ? rate : min;
	d->times = d->fills = 0;
}

static void grow_target(struct cc *cc, bps by)
{
	struct dcqcn *d = dcqcn_of(cc);

	d->target = d->target + by < cc->line ? d->target + by : cc->line;
}

/* Both versions have fast recovery, additive and hyper increase. HPCC's does not count the current
 * increase when it picks the stage, and makes only one additive increase. */
static void increase(struct cc *cc)
{
	struct dcqcn *d = dcqcn_of(cc);
	const struct dcqcn_conf *conf = conf_of(cc);
	const struct dcqcn_conf *preset = preset_of(cc);
	int64_t f = PICK(cc, fast_recovery);
	int64_t max = d->times > d->fills ? d->times : d->fills;
	int64_t min = d->times < d->fills ? d->times : d->fills;
	bool fast = is_hpcc(cc) ? d->times <= f : max < f;
	bool hyper = is_hpcc(cc) ? d->times > f + 1 : min > f;

	if (!fast)
		grow_target(cc, hyper ? step(cc, conf->rate_hai, preset->rate_hai)
				      : step(cc, conf->rate_ai, preset->rate_ai));
	cc->rate = (cc->rate + d->target + 1) / 2;
}

static void count(uint8_t *counter)
{
	if (*counter < UINT8_MAX)
		++*counter;
}

static void update_alpha(struct cc *cc, bool cnp)
{
	struct dcqcn *d = dcqcn_of(cc);
	double g = conf_of(cc)->g > 0 ? conf_of(cc)->g : preset_of(cc)->g;

	d->alpha = (1 - g) * d->alpha + (cnp ? g : 0);
	if (d->alpha < MIN_ALPHA)
		d->alpha = 0;
}

/* --- timers: they run late, when a packet or a CNP needs the rate --- */

static void run_alpha(struct cc *cc)
{
	struct dcqcn *d = dcqcn_of(cc);

	update_alpha(cc, d->alpha_cnp);
	d->alpha_cnp = false;
	d->alpha_at += PICK(cc, alpha_timer);
}

static void run_increase(struct cc *cc)
{
	struct dcqcn *d = dcqcn_of(cc);

	count(&d->times);
	increase(cc);
	d->increase_at += PICK(cc, increase_timer);
}

static void run_cut(struct cc *cc)
{
	struct dcqcn *d = dcqcn_of(cc);

	if (d->cut_cnp) {
		cut(cc);
		d->increase_at = d->cut_at + PICK(cc, increase_timer);
	}
	d->cut_cnp = false;
	d->cut_at += PICK(cc, cut_interval);
}

/* The first of the times at, at + interval, at + 2 * interval, ... that is not before `now`. */
static sim_time not_before(sim_time at, sim_time interval, sim_time now)
{
	return at < now ? at + (now - at + interval - 1) / interval * interval : at;
}

/* Whether no timer can change anything before the next CNP. Then skip() moves them all on. */
static bool rests(const struct cc *cc)
{
	const struct dcqcn *d = dcqcn_of(cc);

	return !d->alpha_cnp && !d->cut_cnp && d->alpha <= 0 && cc->rate == cc->line &&
	       d->target == cc->line;
}

static void skip(struct cc *cc, sim_time now)
{
	struct dcqcn *d = dcqcn_of(cc);

	d->alpha_at = not_before(d->alpha_at, PICK(cc, alpha_timer), now);
	if (d->increase_at != SIM_TIME_MAX)
		d->increase_at = not_before(d->increase_at, PICK(cc, increase_timer), now);
	if (is_hpcc(cc))
		d->cut_at = not_before(d->cut_at, PICK(cc, cut_interval), now);
}

/* Runs all timers due before now, in order of time; at equal times: cut, alpha, increase. */
static void dcqcn_catch_up(struct cc *cc, sim_time now)
{
	struct dcqcn *d = dcqcn_of(cc);

	for (;;) {
		sim_time cut_at = is_hpcc(cc) ? d->cut_at : SIM_TIME_MAX;
		sim_time first = cut_at < d->alpha_at ? cut_at : d->alpha_at;

		if (d->increase_at < first)
			first = d->increase_at;
		if (first >= now)
			return;
		if (rests(cc)) {
			skip(cc, now);
			return;
		}
		if (first == cut_at)
			run_cut(cc);
		else if (first == d->alpha_at)
			run_alpha(cc);
		else
			run_increase(cc);
	}
}

/* --- the interface --- */

static void dcqcn_init(struct cc *cc)
{
	*dcqcn_of(cc) = (struct dcqcn){ .alpha = 1,
					.target = cc->line,
					.alpha_at = SIM_TIME_MAX,
					.increase_at = SIM_TIME_MAX };
	cc->cwnd = INFINITY;
	cc->rate = cc->line;
}

/* SIGCOMM 2015, section 3.3: cuts, then updates alpha, then restarts all counters and timers. */
static void cut_at_once(struct cc *cc, sim_time now)
{
	struct dcqcn *d = dcqcn_of(cc);

	cut(cc);
	update_alpha(cc, true);
	d->sent = 0;
	d->alpha_at = now + PICK(cc, alpha_timer);
	d->increase_at = now + PICK(cc, increase_timer);
}

/* HPCC's sets. The first CNP starts the timers and does not count in alpha, which is still 1. */
static void set_flags(struct cc *cc, sim_time now)
{
	struct dcqcn *d = dcqcn_of(cc);

	d->cut_cnp = true;
	d->alpha_cnp = d->armed;
	if (d->armed)
		return;
	d->alpha_at = now + PICK(cc, alpha_timer);
	d->cut_at = now + PICK(cc, cut_interval) + CUT_BEHIND_ALPHA;
}

static void dcqcn_on_cnp(struct cc *cc, sim_time now)
{
	struct dcqcn *d = dcqcn_of(cc);

	if (d->armed)
		dcqcn_catch_up(cc, now);
	if (is_hpcc(cc))
		set_flags(cc, now);
	else
		cut_at_once(cc, now);
	d->armed = true;
}

static void count_bytes(struct cc *cc, uint32_t size)
{
	struct dcqcn *d = dcqcn_of(cc);
	bytes full = PICK(cc, byte_counter);

	d->sent += size;
	if (d->sent < full)
		return;
	d->sent -= full;
	count(&d->fills);
	increase(cc);
}

static void dcqcn_on_send(struct cc *cc, uint32_t size, sim_time now)
{
	if (!dcqcn_of(cc)->armed)
		return;
	dcqcn_catch_up(cc, now);
	if (!is_hpcc(cc))
		count_bytes(cc, size);
}

static sim_time dcqcn_cnp_interval(const struct cc *cc)
{
	return conf_of(cc)->cnp_given ? conf_of(cc)->cnp_interval : preset_of(cc)->cnp_interval;
}

/* Neither ACKs nor losses change the rate. */
const struct cc_ops dcqcn_cc = {
	.name = "dcqcn",
	.help = "DCQCN (SIGCOMM 2015): a rate that CNPs cut and timers raise",
	.table = &dcqcn_cc_table,
	.ecn = true,
	.paces = true,
	.init = dcqcn_init,
	.on_send = dcqcn_on_send,
	.on_cnp = dcqcn_on_cnp,
	.cnp_interval = dcqcn_cnp_interval,
};
