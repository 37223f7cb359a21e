/* DCTCP: RFC 8257; Alizadeh et al., SIGCOMM 2010.
 *
 * Modelled: the fraction of marked bytes per window (alpha), one cut by alpha/2 per window, slow
 * start that ends at the first mark, halving on loss (also in a window that a mark has already cut,
 * as in Linux). The receiver's side (echo of marks, delayed ACKs) is in tcp_rx.c.
 *
 * Left open by the RFC, and our reading: alpha starts at 1 (section 4.2), so the first mark halves;
 * no cut goes below two segments, as in Linux; after a cut the window does not grow until all data
 * sent before the cut is acknowledged. */
#include "transport/cc/dctcp.h"

struct dctcp_conf {
	double g;
};

static const struct conf_row dctcp_rows[] = {
	CONF_REAL("g", struct dctcp_conf, g, "0.0625", 0.0001, 1,
		  "Gain of the estimate of the marked fraction.", "RFC 8257 section 4.2"),
	{ 0 },
};
const struct conf_table dctcp_cc_table = { "dctcp", dctcp_rows, sizeof(struct dctcp_conf),
					   "DCTCP." };

static void dctcp_init(struct cc *cc)
{
	*dctcp_of(cc) = (struct dctcp){ .alpha = 1 };
}

static void update_alpha(struct cc *cc, const struct cc_ack *ack)
{
	struct dctcp *d = dctcp_of(cc);
	double g = ((const struct dctcp_conf *)cc->conf)->g;
	double marked = (double)d->bytes_marked / (double)d->bytes_acked;

	d->alpha = (1 - g) * d->alpha + g * marked;
	d->window_end = ack->snd_nxt;
	d->bytes_acked = d->bytes_marked = 0;
}

/* Cuts, but not below two segments. If a timeout has made the window smaller, it stays as it is. */
static void cut(struct cc *cc, uint64_t snd_nxt)
{
	struct dctcp *d = dctcp_of(cc);
	double window = cc->cwnd * (1 - d->alpha / 2), min = 2 * cc->mss;

	cc->ssthresh = window > min ? window : min;
	if (cc->cwnd > cc->ssthresh)
		cc->cwnd = cc->ssthresh;
	d->cwr = true;
	d->cwr_end = snd_nxt;
}

static void dctcp_on_ack(struct cc *cc, const struct cc_ack *ack)
{
	struct dctcp *d = dctcp_of(cc);

	d->bytes_acked += ack->acked;
	if (ack->ece)
		d->bytes_marked += ack->acked;
	if (ack->ack > d->window_end)
		update_alpha(cc, ack); /* before cut() uses alpha */
	if (d->cwr && ack->ack >= d->cwr_end)
		d->cwr = false;
	if (ack->in_recovery || d->cwr)
		return;
	if (ack->ece)
		cut(cc, ack->snd_nxt);
	else
		cc_grow(cc, ack->growth);
}

/* Slow start begins at once, even if a cut still holds growth back. */
static void dctcp_on_timeout(struct cc *cc, unsigned nth, uint64_t flight, sim_time now)
{
	dctcp_of(cc)->cwr = false;
	cc_collapse(cc, nth, flight, now);
}

static void dctcp_move(struct cc *cc, uint64_t by)
{
	struct dctcp *d = dctcp_of(cc);

	d->window_end += by;
	if (d->cwr)
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
