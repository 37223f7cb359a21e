/* CUBIC: RFC 9438, with HyStart++ (RFC 9406), or the HyStart that Linux has (Ha and Rhee 2011).
 *
 * Modelled: the cubic function of the time since the last cut, for as long as it exceeds what Reno
 * would have (sections 4.2 to 4.5), fast convergence (4.7), cuts to beta (4.6, 4.8).
 *
 * Our reading: growth that the application limits begins a new epoch (section 4.2 leaves the time
 * open for which t stands still); t has the smallest round trip added, as in Linux (RFC: smoothed);
 * the bytes in flight at a loss are the window. HyStart is for the slow start before the first loss
 * (RFC 9406, section 4.3), both kinds. What Linux (net/ipv4/tcp_cubic.c of 6.1) does otherwise is
 * `rules`; tests/peer/linux holds both against it. */
#include "transport/cc/cc.h"

#include <math.h>

enum slow_start { HYSTART, HYSTART_PP, STANDARD };
static const char *const slow_start_names[] = { "hystart", "hystart++", "standard", NULL };
enum rules { RULES_RFC, RULES_LINUX };
static const char *const rules_names[] = { "rfc9438", "linux", NULL };

struct cubic_conf {
	double c, beta;
	bool fast_convergence;
	int slow_start;
	int rules;
};

static const struct conf_row cubic_rows[] = {
	CONF_REAL("c", struct cubic_conf, c, "0.4", 0.001, 100,
		  "How fast the window grows: packets per cubed second.", "RFC 9438 section 5"),
	CONF_REAL("beta", struct cubic_conf, beta, "0.7", 0.1, 0.99,
		  "What a loss leaves of the window.", "RFC 9438 section 4.6"),
	CONF_BOOL("fast_convergence", struct cubic_conf, fast_convergence, "true",
		  "A loss below the window of the last one aims lower.", "RFC 9438 section 4.7"),
	CONF_ENUM("slow_start", struct cubic_conf, slow_start, "hystart++", slow_start_names,
		  "When slow start ends before a loss: hystart, as Linux (by delays, or by a train "
		  "of ACKs); hystart++ (RFC 9406); standard: never.",
		  "RFC 9438 section 4.10"),
	CONF_ENUM("rules", struct cubic_conf, rules, "rfc9438", rules_names,
		  "linux: before the first loss the window grows by a twentieth a round trip at "
		  "least; a timeout forgets all losses; cuts leave whole packets; Reno's window "
		  "grows by alpha even above that of the last loss.",
		  "RFC 9438 sections 4.3, 4.6, 4.8"),
	{ 0 },
};
const struct conf_table cubic_cc_table = { "cubic", cubic_rows, sizeof(struct cubic_conf),
					   "CUBIC." };

#define SAMPLES    8                /* round trips of a round that count (RFC 9406, 4.3) */
#define CSS_ROUNDS 5                /* of conservative slow start (4.3) */
#define MIN_THRESH (4 * PS_PER_MS)  /* MIN_RTT_THRESH */
#define MAX_THRESH (16 * PS_PER_MS) /* MAX_RTT_THRESH */
#define LIMIT      8                /* packets that an ACK may add: L, without pacing */
#define LOW_WINDOW 16               /* packets from which on Linux's HyStart looks */
#define TRAIN_GAP  (2 * PS_PER_MS)  /* between ACKs of a train (hystart_ack_delta_us) */
#define BURST      (4 * 65536.0)    /* bytes that may wait to be sent as one, so ACKs, too */
#define MAX_BURST  PS_PER_MS        /* and their time (hystart_ack_delay()) */

struct cubic {
	float max;      /* W_max; 0 = no loss yet */
	float min_rtt;  /* 0 = none yet */
	float baseline; /* HyStart++: smallest round trip when growth became careful */
	uint8_t samples, css, css_rounds;
	bool lost; /* since the start or, with Linux's rules, a timeout */
	union {
		struct {
			sim_time epoch; /* 0 = none */
			double k;       /* s */
			double reno;    /* W_est */
			float prior;    /* window from which on Reno's growth is one a round trip */
		};
		struct {
			uint64_t round_end;
			sim_time round_start, last_ack; /* Linux */
			float last_min, now_min;        /* smallest round trips of rounds */
		};
	};
};
CC_STATE(cubic)

static const struct cubic_conf *conf_of(const struct cc *cc)
{
	return cc->conf;
}

/* By Newton's method, so that all machines agree; cbrt() differs among them. */
static double cube_root(double x)
{
	double y = 1;

	if (x <= 0)
		return 0;
	while (y * y * y < x)
		y *= 2;
	for (int i = 0; i < 60; i++) {
		double next = (2 * y + x / (y * y)) / 3;

		if (next >= y && i)
			break;
		y = next;
	}
	return y;
}

/* --- slow start --- */

static bool delays_grow(float now, float before)
{
	double thresh = fmin(fmax((double)before / 8, MIN_THRESH), MAX_THRESH);

	return before > 0 && (double)now >= (double)before + thresh;
}

static void begin_round(struct cubic *c, const struct cc_ack *ack)
{
	c->round_end = ack->snd_nxt;
	c->round_start = c->last_ack = ack->now;
	c->last_min = c->now_min;
	c->now_min = 0;
	c->samples = 0;
	if (c->css && ++c->css_rounds > CSS_ROUNDS)
		c->css_rounds = CSS_ROUNDS + 1;
}

static void sample(struct cubic *c, const struct cc_ack *ack)
{
	if (ack->ack > c->round_end || !c->round_end)
		begin_round(c, ack);
	if (!c->now_min || (float)ack->rtt < c->now_min)
		c->now_min = (float)ack->rtt;
	if (c->samples <= SAMPLES)
		c->samples++;
}

/* RFC 9406, section 4.2. Returns what is to be added. */
static double hystart_pp(struct cc *cc, const struct cc_ack *ack)
{
	struct cubic *c = cubic_of(cc);
	double growth = fmin((double)ack->growth, LIMIT * cc->mss);

	sample(c, ack);
	if (c->samples >= SAMPLES && c->css && c->now_min < c->baseline)
		c->css = c->css_rounds = 0; /* the delay was not a queue */
	else if (c->samples >= SAMPLES && !c->css && delays_grow(c->now_min, c->last_min)) {
		c->css = 1;
		c->css_rounds = 1;
		c->baseline = c->now_min;
	}
	if (c->css && c->css_rounds > CSS_ROUNDS)
		cc->ssthresh = cc->cwnd;
	return c->css ? growth / 4 : growth;
}

/* How long ACKs of a train may take for what hosts send as one: at twice the rate of the window. */
static double burst_time(const struct cc *cc, const struct cc_ack *ack)
{
	return fmin(BURST * (double)ack->rtt / (2 * cc->cwnd), MAX_BURST);
}

/* Linux, hystart_update(): ACKs without a gap for half of the smallest round trip, or delays. */
static void hystart(struct cc *cc, const struct cc_ack *ack)
{
	struct cubic *c = cubic_of(cc);

	if (cc->cwnd < LOW_WINDOW * cc->mss)
		return;
	sample(c, ack);
	if (ack->now - c->last_ack <= TRAIN_GAP) {
		c->last_ack = ack->now;
		if ((double)(ack->now - c->round_start) >
		    ((double)c->min_rtt + burst_time(cc, ack)) / 2)
			cc->ssthresh = cc->cwnd;
	}
	if (c->samples > SAMPLES && delays_grow(c->now_min, c->min_rtt))
		cc->ssthresh = cc->cwnd;
}

static void first_slow_start(struct cc *cc, const struct cc_ack *ack)
{
	struct cubic *c = cubic_of(cc);
	double growth = (double)ack->growth;

	if (conf_of(cc)->slow_start == HYSTART)
		hystart(cc, ack);
	else
		growth = hystart_pp(cc, ack);
	if (cc->cwnd < cc->ssthresh) {
		cc->cwnd += growth;
		return;
	}
	c->max = c->prior = (float)cc->cwnd; /* the epoch begins at its plateau */
	c->epoch = 0;
}

/* --- congestion avoidance --- */

static void begin_epoch(struct cc *cc, sim_time now)
{
	struct cubic *c = cubic_of(cc);
	double below = ((double)c->max - cc->cwnd) / cc->mss;

	if (below < 0)
		c->max = (float)cc->cwnd;
	c->k = cube_root(below / conf_of(cc)->c);
	c->epoch = now;
	c->reno = cc->cwnd;
}

static void avoid(struct cc *cc, const struct cc_ack *ack)
{
	const struct cubic_conf *conf = conf_of(cc);
	struct cubic *c = cubic_of(cc);
	double alpha = 3 * (1 - conf->beta) / (1 + conf->beta), acked = (double)ack->growth, t,
	       target;
	bool as_linux = conf->rules == RULES_LINUX;

	if (!ack->growth) {
		c->epoch = 0;
		return;
	}
	if (!c->epoch)
		begin_epoch(cc, ack->now);
	t = ((double)(ack->now - c->epoch) + (double)c->min_rtt) / PS_PER_S - c->k;
	target = (double)c->max + conf->c * t * t * t * cc->mss;
	target = fmin(fmax(target, cc->cwnd), 1.5 * cc->cwnd);
	if (as_linux && !c->lost)
		target = fmax(target, 1.05 * cc->cwnd);
	if (c->reno >= (double)c->prior && !as_linux)
		alpha = 1;
	c->reno += alpha * cc->mss * acked / cc->cwnd;
	cc->cwnd += (target - cc->cwnd) * acked / cc->cwnd;
	if (cc->cwnd < c->reno)
		cc->cwnd = c->reno;
}

static void cubic_on_ack(struct cc *cc, const struct cc_ack *ack)
{
	struct cubic *c = cubic_of(cc);
	uint64_t left = ack->growth;

	if (!c->min_rtt || (float)ack->rtt < c->min_rtt)
		c->min_rtt = (float)ack->rtt;
	if (ack->in_recovery || !ack->acked)
		return;
	if (!c->max && conf_of(cc)->slow_start != STANDARD)
		first_slow_start(cc, ack);
	else if (cc->cwnd < cc->ssthresh)
		cc_grow(cc, left);
	else
		avoid(cc, ack);
}

/* Section 4.6 and 4.7. `ssthresh` becomes `beta` of the window, two packets at least. */
static void cut(struct cc *cc)
{
	const struct cubic_conf *conf = conf_of(cc);
	struct cubic *c = cubic_of(cc);
	bool below;

	if (conf->rules == RULES_LINUX)
		cc->cwnd = floor(cc->cwnd / cc->mss) * cc->mss;
	below = conf->fast_convergence && cc->cwnd < (double)c->max;
	c->max = (float)(below ? cc->cwnd * (1 + conf->beta) / 2 : cc->cwnd);
	c->prior = (float)cc->cwnd;
	c->epoch = 0;
	c->lost = true;
	cc->ssthresh = fmax(conf->beta * cc->cwnd, 2 * cc->mss);
	if (conf->rules == RULES_LINUX)
		cc->ssthresh = floor(cc->ssthresh / cc->mss) * cc->mss;
}

static void cubic_on_loss(struct cc *cc, sim_time now)
{
	(void)now;
	cut(cc);
	cc->cwnd = cc->ssthresh;
}

/* Section 4.8; the window at which slow start ends is the plateau of the next epoch. */
static void cubic_on_timeout(struct cc *cc, unsigned nth, uint64_t flight, sim_time now)
{
	(void)flight, (void)now;
	if (nth > 1)
		return;
	cut(cc);
	cc->cwnd = cc->mss;
	if (conf_of(cc)->rules == RULES_LINUX)
		*cubic_of(cc) = (struct cubic){ 0 }; /* HyStart, too, begins anew */
	else
		cubic_of(cc)->max = (float)cc->mss;
}

static void cubic_move(struct cc *cc, uint64_t by)
{
	struct cubic *c = cubic_of(cc);

	if (!c->max)
		c->round_end += by;
}

const struct cc_ops cubic_cc = {
	.name = "cubic",
	.help = "CUBIC (RFC 9438) with HyStart++: grows with the time since the last loss",
	.table = &cubic_cc_table,
	.on_ack = cubic_on_ack,
	.on_loss = cubic_on_loss,
	.on_timeout = cubic_on_timeout,
	.move = cubic_move,
};
