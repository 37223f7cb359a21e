/* DCTCP: RFC 8257; Alizadeh et al., SIGCOMM 2010.
 *
 * Modelled: the fraction of marked bytes per window (alpha), one cut by alpha/2
 * per window, slow start that ends at the first mark, ordinary halving on loss
 * (also in a window that a mark has cut already, as Linux has it).
 * The receiver's side (echo of marks, delayed ACKs) is in tcp_rx.c.
 * Read from the RFC where it leaves room: alpha starts at 1 (section 4.2, so the
 * first mark halves); the floor of a cut is two segments, as Linux has it; no
 * growth between a cut and the end of its window. */
#include "transport/cc.h"

static void dctcp_init(struct cc *cc)
{
	cc->dctcp.alpha = 1;
	cc->dctcp.window_end = 0;
	cc->dctcp.bytes_acked = cc->dctcp.bytes_marked = 0;
	cc->dctcp.cwr = false;
}

static void update_alpha(struct cc *cc, const struct cc_ack *ack)
{
	double marked = (double)cc->dctcp.bytes_marked / (double)cc->dctcp.bytes_acked;

	cc->dctcp.alpha = (1 - cc->g) * cc->dctcp.alpha + cc->g * marked;
	cc->dctcp.window_end = ack->snd_nxt;
	cc->dctcp.bytes_acked = cc->dctcp.bytes_marked = 0;
}

/* Not below two segments, and never up: after a timeout the window may be less. */
static void cut(struct cc *cc, uint64_t snd_nxt)
{
	double window = cc->cwnd * (1 - cc->dctcp.alpha / 2), least = 2 * cc->mss;

	cc->ssthresh = window > least ? window : least;
	if (cc->cwnd > cc->ssthresh)
		cc->cwnd = cc->ssthresh;
	cc->dctcp.cwr = true;
	cc->dctcp.cwr_end = snd_nxt;
}

static void dctcp_on_ack(struct cc *cc, const struct cc_ack *ack)
{
	cc->dctcp.bytes_acked += ack->acked;
	if (ack->ece)
		cc->dctcp.bytes_marked += ack->acked;
	if (ack->ack > cc->dctcp.window_end)
		update_alpha(cc, ack); /* before it is used below */
	if (cc->dctcp.cwr && ack->ack >= cc->dctcp.cwr_end)
		cc->dctcp.cwr = false;
	if (ack->in_recovery || cc->dctcp.cwr)
		return;
	if (ack->ece)
		cut(cc, ack->snd_nxt);
	else
		cc_grow(cc, ack->growth);
}

/* Go-back-N is a window of its own: slow start begins at once. */
static void dctcp_on_timeout(struct cc *cc, uint64_t flight)
{
	cc->dctcp.cwr = false;
	cc_collapse(cc, flight);
}

const struct cc_ops dctcp_cc = {
	.name = "dctcp",
	.help = "DCTCP (RFC 8257): cuts in proportion to the marked fraction of a window",
	.ecn = true,
	.init = dctcp_init,
	.on_ack = dctcp_on_ack,
	.on_loss = cc_halve,
	.on_timeout = dctcp_on_timeout,
};
