/* DCTCP: RFC 8257; Alizadeh et al., SIGCOMM 2010.
 *
 * Modelled: the fraction of marked bytes per window (alpha), one cut by alpha/2 per window, slow
 * start that ends at the first mark, halving on loss (also in a window that a mark has already cut,
 * as in Linux). The receiver's side (echo of marks, delayed ACKs) is in tcp_rx.c.
 *
 * Left open by the RFC, and our reading: alpha starts at 1 (section 4.2), so the first mark halves;
 * no cut goes below two segments, as in Linux; after a cut the window does not grow until all data
 * sent before the cut is acknowledged. What else Linux does (net/ipv4/tcp_dctcp.c, tcp_input.c,
 * tcp_cong.c of 6.1) has a setting for each rule; tests/peer/linux says what they move. */
#include "transport/cc/dctcp.h"

#include <math.h>

static const char *const rules_names[] = { "rfc8257", "linux", NULL };

static const struct conf_row dctcp_rows[] = {
	CONF_REAL("g", struct dctcp_conf, g, "0.0625", 0.0001, 1,
		  "Gain of the estimate of the marked fraction.", "RFC 8257 section 4.2"),
	CONF_ENUM("rules", struct dctcp_conf, rules, "rfc8257", rules_names,
		  "Of what the RFC leaves open: rfc8257, our reading; linux: the three below.",
		  "our choice: the papers' simulators have fractions, too"),
	CONF_BOOL("cwr_above", struct dctcp_conf, cwr_above, "false",
		  "The next cut waits until more is acknowledged than was sent before the last.",
		  "our choice: all of it is enough; Linux: true"),
	CONF_BOOL("whole_packets", struct dctcp_conf, whole_packets, "false",
		  "Cuts and growth by whole packets, and ten bits for the marked fraction.",
		  "our choice: fractions count; Linux: true"),
	CONF_BOOL("prr", struct dctcp_conf, prr, "false",
		  "A cut lowers the window while data arrives, not at once.",
		  "our choice: at once; RFC 6937, Linux: true"),
	{ 0 },
};
const struct conf_table dctcp_cc_table = { "dctcp", dctcp_rows, sizeof(struct dctcp_conf),
					   "DCTCP." };

static void dctcp_init(struct cc *cc)
{
	*dctcp_of(cc) = (struct dctcp){ .alpha = 1 };
}

static const struct dctcp_conf *conf_of(const struct cc *cc)
{
	return cc->conf;
}

/* Whether one of Linux's rules holds. */
static bool holds(const struct cc *cc, bool rule)
{
	return rule || conf_of(cc)->rules == DCTCP_LINUX;
}

static double packets(const struct cc *cc, double size)
{
	return floor(size / cc->mss + 0.5);
}

/* Ten bits, a gain of 1/16, and the last 15 parts of 1024 go at once (dctcp_update_alpha()). */
static double whole_alpha(const struct cc *cc, const struct dctcp *d)
{
	uint32_t alpha = (uint32_t)(d->alpha * 1024), part = alpha >> 4;

	alpha -= part ? part : alpha;
	if (d->bytes_marked)
		alpha += (uint32_t)(64 * packets(cc, (double)d->bytes_marked) /
				    fmax(packets(cc, (double)d->bytes_acked), 1));
	return fmin(alpha, 1024) / 1024;
}

static void update_alpha(struct cc *cc, const struct cc_ack *ack)
{
	struct dctcp *d = dctcp_of(cc);
	double g = conf_of(cc)->g;
	double marked = (double)d->bytes_marked / (double)d->bytes_acked;

	d->alpha = holds(cc, conf_of(cc)->whole_packets) ? whole_alpha(cc, d)
							 : (1 - g) * d->alpha + g * marked;
	d->window_end = ack->snd_nxt;
	d->bytes_acked = d->bytes_marked = 0;
}

/* What may be in flight while a cut window is on its way to ssthresh, after `acked` more bytes have
 * arrived (tcp_cwnd_reduction()): what leaves is to what arrives as ssthresh to the window before.
 */
static void reduce(struct cc *cc, const struct cc_ack *ack)
{
	struct dctcp *d = dctcp_of(cc);
	double flight = (double)(ack->snd_nxt - ack->ack), room = cc->ssthresh - flight;
	double left = (double)(ack->snd_nxt + holds(cc, conf_of(cc)->cwr_above) - d->cwr_end), send;

	d->counted += (float)ack->acked;
	if (room < 0) {
		double due = (double)d->counted * cc->ssthresh / (double)d->prior;

		send = ceil(due / cc->mss) * cc->mss - left;
	} else {
		send = fmin(fmax((double)d->counted - left, (double)ack->acked) + cc->mss, room);
	}
	cc->cwnd = flight + fmax(send, left > 0 ? 0 : cc->mss);
}

/* Cuts, but not below two segments. If a timeout has made the window smaller, it stays as it is. */
static void cut(struct cc *cc, const struct cc_ack *ack)
{
	const struct dctcp_conf *conf = conf_of(cc);
	struct dctcp *d = dctcp_of(cc);
	double window = cc->cwnd * (1 - d->alpha / 2), min = 2 * cc->mss;

	if (holds(cc, conf->whole_packets))
		window = cc->cwnd - floor(floor(cc->cwnd / cc->mss) * d->alpha / 2) * cc->mss;
	cc->ssthresh = window > min ? window : min;
	d->cwr_end = ack->snd_nxt + holds(cc, conf->cwr_above);
	d->counted = 0;
	if (holds(cc, conf->prr)) {
		d->prior = (float)cc->cwnd;
		reduce(cc, ack);
	} else if (cc->cwnd > cc->ssthresh) {
		cc->cwnd = cc->ssthresh;
	}
}

static void end_cut(struct cc *cc)
{
	struct dctcp *d = dctcp_of(cc);

	d->cwr_end = 0;
	d->counted = 0;
	if (holds(cc, conf_of(cc)->prr))
		cc->cwnd = cc->ssthresh;
}

/* cc_grow(), but a packet once a whole window has been counted (tcp_cong_avoid_ai()). */
static void grow_whole(struct cc *cc, uint64_t growth)
{
	struct dctcp *d = dctcp_of(cc);
	double left = (double)growth, room = cc->ssthresh - cc->cwnd;

	if (room > 0) {
		double step = left < room ? left : room;

		cc->cwnd += step;
		left -= step;
	}
	d->counted += (float)left;
	if ((double)d->counted >= cc->cwnd) {
		d->counted -= (float)cc->cwnd;
		cc->cwnd += cc->mss;
	}
}

static void dctcp_on_ack(struct cc *cc, const struct cc_ack *ack)
{
	struct dctcp *d = dctcp_of(cc);

	d->bytes_acked += ack->acked;
	if (ack->ece)
		d->bytes_marked += ack->acked;
	if (ack->ack > d->window_end)
		update_alpha(cc, ack); /* before cut() uses alpha */
	if (d->cwr_end) {
		if (ack->ack >= d->cwr_end)
			end_cut(cc);
		else if (holds(cc, conf_of(cc)->prr) && ack->acked && !ack->in_recovery)
			reduce(cc, ack);
	}
	if (ack->in_recovery || d->cwr_end)
		return;
	if (ack->ece)
		cut(cc, ack);
	else if (holds(cc, conf_of(cc)->whole_packets))
		grow_whole(cc, ack->growth);
	else
		cc_grow(cc, ack->growth);
}

/* Slow start begins at once, even if a cut still holds growth back. */
static void dctcp_on_timeout(struct cc *cc, unsigned nth, uint64_t flight, sim_time now)
{
	dctcp_of(cc)->cwr_end = 0;
	dctcp_of(cc)->counted = 0;
	cc_collapse(cc, nth, flight, now);
}

static void dctcp_move(struct cc *cc, uint64_t by)
{
	struct dctcp *d = dctcp_of(cc);

	d->window_end += by;
	if (d->cwr_end)
		d->cwr_end += by;
}

const struct cc_ops dctcp_cc = {
	.name = "dctcp",
	.help = "DCTCP (RFC 8257): cuts in proportion to the marked fraction of a window",
	.table = &dctcp_cc_table,
	.ecn = true,
	.init = dctcp_init,
	.on_ack = dctcp_on_ack,
	.on_loss = cc_halve,
	.on_timeout = dctcp_on_timeout,
	.move = dctcp_move,
};
