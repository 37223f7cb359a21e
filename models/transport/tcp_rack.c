/* Loss detection with selective acknowledgements: RFC 6675, or RACK-TLP (RFC 8985). */
#include "transport/tcp_sack.h"

#include <math.h>

#define DUP_THRESHOLD 3
#define PERSIST       16 /* recoveries until a widened window is narrow again (RFC 8985, 6.2) */
#define FIRST_PROBE   PS_PER_S /* without a round trip (7.2) */

/* --- RACK --- */

/* Whether a segment was sent after another (RFC 8985, section 5.2). */
static bool sent_after(sim_time sent, uint64_t end, sim_time other_sent, uint64_t other_end)
{
	return sent > other_sent || (sent == other_sent && end > other_end);
}

/* RFC 8985, section 6.2, steps 2 and 3. Step 1 has the round trip of this ACK's echo before, so
 * that none is shorter than the shortest. */
void tcp_sack_delivered(struct tcp_conn *conn, const struct tcp_segment *segment,
			const struct tcp_news *news)
{
	struct tcp_sack *sack = conn->tx.sack;
	uint64_t end = segment->seq + segment->size;
	sim_time rtt = news->now - segment->sent;
	bool copied = segment->state & SEGMENT_COPIED;

	if (conn->tx.spray)
		spray_answered(conn->tx.spray, segment->path, news->marked);
	if (end >= sack->highest)
		sack->highest = end;
	else if (!copied)
		sack->reordered = true;
	if (copied && news->echo < segment->sent)
		return; /* the first copy may have arrived */
	if (!sent_after(segment->sent, end, sack->sent, sack->end))
		return;
	sack->sent = segment->sent;
	sack->end = end;
	sack->rtt = rtt;
}

/* Section 6.2, step 4. */
static sim_time reorder_window(const struct tcp_conn *conn)
{
	const struct tcp_sack *sack = conn->tx.sack;
	sim_time window = sack->min_rtt / 4 * sack->steps;

	if (!sack->reordered && (conn->tx.recovering || sack->sacked >= DUP_THRESHOLD))
		return 0;
	return window < conn->tx.srtt ? window : conn->tx.srtt;
}

/* A duplicate says that a segment was sent again in vain, so the window grows, once a round. */
static void widen(struct tcp_conn *conn, const struct tcp_news *news)
{
	struct tcp_sack *sack = conn->tx.sack;

	if (!news->twice || conn->tx.una < sack->round_end)
		return;
	sack->round_end = conn->tx.nxt;
	sack->steps++;
	sack->persist = PERSIST;
}

/* Section 6.2, step 5. Sets the timer for segments that are not late enough yet. */
static bool lose_late(struct tcp_conn *conn, sim_time window)
{
	struct tcp_tx *tx = &conn->tx;
	struct tcp_sack *sack = tx->sack;
	sim_time now = tx->net->sim->now, last = 0;
	bool lost = false;

	for (uint64_t n = sack->oldest, newer; n != TCP_NO_SEGMENT; n = newer) {
		const struct tcp_segment *segment = tcp_segment(sack, n);
		sim_time due = segment->sent + sack->rtt + window;

		newer = segment->newer;
		if (!sent_after(sack->sent, sack->end, segment->sent, segment->seq + segment->size))
			break;
		if (due > now) {
			last = due; /* the list is in the order of sending */
			continue;
		}
		tcp_sack_lose(conn, n);
		lost = true;
	}
	if (last)
		timer_set(tx->net->sim, &sack->reorder, last);
	else
		timer_cancel(tx->net->sim, &sack->reorder);
	return lost;
}

/* --- RFC 6675 --- */

/* IsLost(): three segments behind it have arrived, or more than two full ones in bytes. */
static bool lose_below(struct tcp_conn *conn)
{
	struct tcp_sack *sack = conn->tx.sack;
	uint64_t n = sack->sacked_to, size = 0, arrived = 0;
	bool lost = false;

	while (n > sack->lost_to && arrived < DUP_THRESHOLD &&
	       (double)size <= (DUP_THRESHOLD - 1) * conn->tx.cc.mss) {
		const struct tcp_segment *segment = tcp_segment(sack, --n);

		if (segment->state & SEGMENT_SACKED) {
			arrived++;
			size += segment->size;
		}
	}
	if (arrived < DUP_THRESHOLD && (double)size <= (DUP_THRESHOLD - 1) * conn->tx.cc.mss)
		return false;
	for (; sack->lost_to < n; sack->lost_to++) {
		if (tcp_segment(sack, sack->lost_to)->state & (SEGMENT_SACKED | SEGMENT_LOST))
			continue;
		tcp_sack_lose(conn, sack->lost_to);
		lost = true;
	}
	return lost;
}

static bool find_losses(struct tcp_conn *conn)
{
	const struct tcp_sack *sack = conn->tx.sack;

	if (!sack->rack)
		return lose_below(conn);
	return sack->rtt && lose_late(conn, reorder_window(conn));
}

/* --- recovery --- */

/* The window of an ACK in recovery (RFC 6937; Linux, tcp_cwnd_reduction()): what leaves is to what
 * arrives as the window after recovery to that before. */
static void reduce(struct tcp_conn *conn, const struct tcp_news *news)
{
	struct tcp_tx *tx = &conn->tx;
	struct tcp_sack *sack = tx->sack;
	double mss = tx->cc.mss, delivered = (double)news->delivered, send;
	double flight = (double)(tx->nxt - tx->una - tx->gone), room = tx->cc.cwnd - flight;

	if (!news->delivered)
		return;
	sack->reduced += delivered;
	if (room < 0) {
		send = ceil(tx->cc.cwnd * sack->reduced / sack->prior / mss) * mss - sack->out;
	} else {
		send = fmax(sack->reduced - sack->out, delivered);
		if (news->advanced && !news->lost)
			send += mss;
		send = fmin(send, room);
	}
	send = fmax(send, sack->out > 0 ? 0 : mss);
	tx->inflation = flight + send - tx->cc.cwnd;
}

static void start_recovery(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	double before = tx->cc.cwnd;

	tx->recovering = true;
	tx->recover = tx->max;
	tx->ops->on_loss(&tx->cc, tx->net->sim->now);
	tx->sack->prior = before;
	tx->sack->reduced = tx->sack->out = 0;
	tx->sack->forced = true;
	tx->sack->probe = false;
	conn->stats.recoveries++;
	tcp_tx_arm(conn); /* no probe's timeout now */
}

static void end_recovery(struct tcp_conn *conn)
{
	struct tcp_sack *sack = conn->tx.sack;

	conn->tx.recovering = false;
	conn->tx.inflation = 0;
	if (sack->steps > sack->first_steps && !--sack->persist)
		sack->steps = sack->first_steps;
}

/* A loss starts a recovery, unless the window has been cut for the segments under way. */
static bool on_losses(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;

	if (!find_losses(conn))
		return false;
	if (!tx->recovering && tx->una >= tx->recover)
		start_recovery(conn);
	return true;
}

/* --- tail loss probes --- */

bool tcp_sack_may_probe(const struct tcp_conn *conn)
{
	const struct tcp_tx *tx = &conn->tx;
	const struct tcp_sack *sack = tx->sack;

	return sack->rack && !tx->recovering && tx->una >= tx->recover && !sack->sacked &&
	       !sack->probe_end;
}

sim_time tcp_sack_timeout(struct tcp_conn *conn, sim_time rto)
{
	const struct tcp_tx *tx = &conn->tx;
	const struct tcp_conf *conf = conn->tcp->conf;
	struct tcp_sack *sack = tx->sack;
	sim_time probe = tx->srtt ? 2 * tx->srtt : FIRST_PROBE;

	sack->probing = tcp_sack_may_probe(conn);
	if (!sack->probing)
		return rto;
	probe += sack->behind - sack->first == 1 ? conf->tlp_ack_delay : conf->tlp_slack;
	return probe < rto ? probe : rto;
}

bool tcp_sack_probes(struct tcp_conn *conn)
{
	struct tcp_sack *sack = conn->tx.sack;

	if (!sack->probing)
		return false;
	sack->probing = false;
	sack->probe = conn->tx.resend = true;
	return true;
}

void tcp_sack_probed(struct tcp_conn *conn, bool copy)
{
	struct tcp_sack *sack = conn->tx.sack;

	sack->probe = false;
	sack->probe_copy = copy;
	sack->probe_end = conn->tx.nxt;
}

/* RFC 8985, section 7.4: a probe that repaired a loss cuts the window as any loss does. */
static void on_probe_answer(struct tcp_conn *conn, const struct tcp_news *news)
{
	struct tcp_tx *tx = &conn->tx;
	struct tcp_sack *sack = tx->sack;
	bool repaired = sack->probe_copy && !news->twice && tx->una > sack->probe_end;

	if (!sack->probe_end || tx->una < sack->probe_end)
		return;
	if (sack->probe_copy && !news->twice && !repaired && news->advanced)
		return; /* the first copy may still be answered, too */
	sack->probe_end = 0;
	if (repaired && !tx->recovering && tx->una >= tx->recover)
		tx->ops->on_loss(&tx->cc, tx->net->sim->now);
}

/* --- what happens --- */

void tcp_sack_look(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	uint64_t size;

	tx->resend = tx->sack->probe ||
		     (tcp_sack_waits(conn, &size) && (tx->sack->forced || tcp_tx_fits(conn, size)));
}

void tcp_sack_receive(struct tcp_conn *conn, const struct packet *packet, struct cc_ack *ack)
{
	struct tcp_tx *tx = &conn->tx;
	struct tcp_sack *sack = tx->sack;
	struct tcp_news news = { .now = ack->now,
				 .echo = packet->echo,
				 .marked = ack->ece,
				 .advanced = packet->next_expected > tx->una };

	if (ack->rtt < sack->min_rtt) /* RFC 8985, section 6.2, step 1 */
		sack->min_rtt = ack->rtt;
	tcp_sack_take(conn, packet, &news);
	ack->acked = news.delivered;
	ack->growth = news.advanced || sack->reordered ? tcp_tx_growth(tx, news.delivered) : 0;
	tx->una = packet->next_expected;
	if (news.advanced)
		tx->timeouts = 0;
	if (tx->recovering && tx->una >= tx->recover)
		end_recovery(conn);
	widen(conn, &news);
	news.lost = on_losses(conn);
	on_probe_answer(conn, &news);
	if (tx->recovering && sack->rack)
		reduce(conn, &news);
	if (news.advanced)
		tcp_tx_arm(conn);
	tcp_sack_look(conn);
}

void tcp_sack_timed_out(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	struct tcp_sack *sack = tx->sack;
	sim_time now = tx->net->sim->now;

	sack->forced = true;
	sack->probe_end = 0;
	for (uint64_t n = sack->first; n < sack->behind; n++) {
		const struct tcp_segment *segment = tcp_segment(sack, n);

		if (segment->state & SEGMENT_SACKED)
			continue;
		/* RFC 8985, section 6.3: those that were sent just now are not lost */
		if (!sack->rack || n == sack->first || segment->sent + sack->rtt <= now)
			tcp_sack_lose(conn, n);
	}
	tcp_sack_look(conn);
}

void tcp_sack_on_reorder_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct tcp_conn *conn = owner;

	(void)sim, (void)entity;
	if (!on_losses(conn))
		return;
	tcp_tx_arm(conn);
	tcp_sack_look(conn);
	tcp_tx_wake(conn);
}
