/* The state of TCP, for runs that repeat themselves (core/repeat.h). Each connection is a
 * repeat_stream of bytes.
 *
 * The owner of a connection acts when the bytes that it expects have come, and when all that it has
 * written is acknowledged. Until then only connections change their state. So the walk may leave
 * out a scheme that only exchanges messages. If the walk includes the scheme (tcp_app.repeats), the
 * positions up to which it has written and expects bytes move on, too.
 *
 * The congestion control and the use of the window have cycles of their own, such as DCTCP's alpha.
 * This state need not be equal at two marks as long as the window decides nothing: it stopped no
 * sender, and no sender saw an ECN mark or a loss. Nor need the round-trip estimate be equal while
 * the timeout is at its minimum. Instead, a skip replays the sends and ACKs of the recorded period
 * for windows and round-trip estimates alone. */
#include "transport/tcp_conn.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Smallest distance of marks, in segments: reading a connection's state at a mark takes as long as
 * simulating some of its segments. */
#define SEGMENTS_A_MARK 8

static const struct tcp_conn *conn_of(const struct tcp *tcp, const struct packet *packet)
{
	const struct tcp_conn *conn = tcp->conns[packet->flow];

	return conn->generation == packet->generation ? conn : NULL;
}

const struct repeat_stream *tcp_stream(const void *self, const struct packet *packet)
{
	const struct tcp_conn *conn = conn_of(self, packet);

	return conn ? &conn->stream : NULL;
}

void tcp_repeat_packet(void *self, struct repeat *repeat, struct packet *packet)
{
	const struct tcp_conn *conn = conn_of(self, packet);

	repeat_time(repeat, &packet->sent_at);
	if (conn)
		repeat_number(repeat, &packet->seq, &conn->stream);
	else
		repeat_same(repeat, packet->seq);
}

/* --- marks --- */

/* Bytes from mark to mark: whole segments and whole ACKs, at least SEGMENTS_A_MARK segments. */
static uint64_t distance(const struct tcp_conn *conn)
{
	uint64_t every = conn->rx.ack_every;
	uint64_t min = (SEGMENTS_A_MARK + every - 1) / every * every;

	return repeat_distance(conn->tcp->repeat, min) * (uint64_t)conn->tcp->conf->mss;
}

void tcp_mark(struct tcp_conn *conn, bool comes)
{
	struct tcp_rx *rx = &conn->rx;
	struct repeat *repeat = conn->tcp->repeat;

	if (!repeat)
		return;
	if (comes && rx->wanted - rx->next > repeat_to_come(repeat, conn) * distance(conn))
		repeat_mark(repeat, conn);
	rx->mark = rx->next + distance(conn);
}

void tcp_log(struct tcp_conn *conn, struct tcp_step step)
{
	if (conn->steps_since != conn->tcp->repeat->marked)
		conn->step_count = 0;
	conn->steps_since = conn->tcp->repeat->marked;
	conn->steps = array_reserve(conn->steps, conn->step_count, &conn->step_capacity,
				    sizeof(*conn->steps));
	conn->steps[conn->step_count++] = step;
}

/* --- connections --- */

/* The number of steps in the period that is over. */
static size_t step_count(const struct tcp_conn *conn)
{
	return conn->steps_since == conn->tcp->repeat->marked ? conn->step_count : 0;
}

static bool steps_are_plain(const struct tcp_conn *conn)
{
	for (size_t i = 0; i < step_count(conn); i++)
		if (conn->steps[i].odd)
			return false;
	return true;
}

/* Whether round trips as in the period keep the timeout at its minimum. The timeout is srtt + 4 *
 * rttvar, and neither srtt nor rttvar ever exceeds the longest round trip. */
static bool timeout_is_min(const struct tcp_conn *conn)
{
	const struct tcp_tx *tx = &conn->tx;
	sim_time longest = tx->srtt > tx->rttvar ? tx->srtt : tx->rttvar;

	for (size_t i = 0; i < step_count(conn); i++)
		if (conn->steps[i].rtt > longest)
			longest = conn->steps[i].rtt;
	return conn->tcp->conf->rto_floor == TCP_FLOOR_TIMEOUT && longest <= tx->min_rto / 5;
}

/* The state that steps change. Once it equals an earlier state, it goes round in a cycle. Zero it
 * before filling it in, because memcmp() also compares padding. */
struct replayed {
	struct cc cc;
	uint64_t usage_end, max_flight, limited;
	sim_time srtt, rttvar;
};

static struct replayed replayed_of(const struct tcp_tx *tx)
{
	struct replayed state;

	memset(&state, 0, sizeof(state));
	memcpy(&state.cc, &tx->cc, sizeof(tx->cc));
	state.usage_end = tx->usage_end;
	state.max_flight = tx->max_flight;
	state.limited = tx->limited;
	state.srtt = tx->srtt;
	state.rttvar = tx->rttvar;
	return state;
}

/* Moves the stream positions of the state on by `by` bytes. */
static void move(const struct cc_ops *ops, struct cc *cc, uint64_t *usage_end, uint64_t by)
{
	if (ops->move)
		ops->move(cc, by);
	*usage_end += by;
}

/* Replays `periods` periods. Keeps the state after 0, 1, 3, 7, ... periods and compares it with
 * each later state (Brent's algorithm). Once two are equal, skips whole cycles. */
static void replay(struct tcp_conn *conn, uint64_t periods)
{
	struct tcp_tx *tx = &conn->tx;
	uint64_t step = conn->stream.step, since = 0, until = 1;
	struct replayed kept = replayed_of(tx);

	for (uint64_t n = 1; n <= periods; n++) {
		struct replayed now;

		for (size_t i = 0; i < step_count(conn); i++)
			tcp_tx_replay(conn, &conn->steps[i], n * step);
		now = replayed_of(tx);
		move(tx->ops, &kept.cc, &kept.usage_end, step); /* same positions as `now` */
		since++;
		if (!memcmp(&now, &kept, sizeof(now))) {
			uint64_t rest = (periods - n) / since * since;

			n += rest;
			move(tx->ops, &tx->cc, &tx->usage_end, rest * step);
			tx->una += rest * step;
			tx->nxt += rest * step;
			kept = replayed_of(tx);
			since = 0;
		} else if (since == until) {
			kept = now;
			since = 0;
			until *= 2;
		}
	}
}

static bool owner_repeats(const struct tcp_conn *conn)
{
	return conn->app && conn->app->repeats;
}

/* A timer that was set within the period moves on. An older timer stays, so skips end before it
 * fires; its handler then checks the deadline. */
static void repeat_timer(struct tcp_tx *tx, struct repeat *repeat)
{
	if (!timer_pending(repeat->sim, &tx->timer)) {
		repeat_same(repeat, 0);
	} else if (repeat->marked && tx->timer_at - tx->rto > repeat->marked) {
		repeat_event(repeat, tx->timer.id);
		repeat_time(repeat, &tx->timer_at);
	} else {
		repeat_same(repeat, 1);
	}
	repeat_due(repeat, &tx->deadline);
}

static void repeat_sender(struct tcp_conn *conn, struct repeat *repeat)
{
	struct tcp_tx *tx = &conn->tx;
	uint64_t left = tx->written - tx->nxt, mss = (uint64_t)conn->tcp->conf->mss;

	if (tx->sack || tx->limited || tx->recovering || tx->resend || tx->una < tx->recover ||
	    tx->nxt < tx->max || tx->ops->paces || tx->ops->delays || !steps_are_plain(conn))
		repeat_never(repeat);
	repeat_left(repeat, &left, 2 * mss); /* the last segment may be short; one to spare */
	if (owner_repeats(conn))
		repeat_count(repeat, &tx->written);
	else
		repeat_same(repeat, tx->written);
	repeat_same(repeat, (uint64_t)tx->dupacks << 32 | tx->timeouts);
	if (!timeout_is_min(conn)) {
		repeat_same(repeat, tx->srtt);
		repeat_same(repeat, tx->rttvar);
	}
	repeat_same(repeat, tx->rto);
	repeat_timer(tx, repeat);
	repeat_same(repeat, tx->nxt - tx->una);
	if (repeat->moving) {
		uint64_t una = tx->una + repeat->periods * conn->stream.step;

		replay(conn, repeat->periods);
		SIM_BUG_ON(tx->una != una);
		tx->max = tx->nxt;
	}
	repeat_counts(repeat, (uint64_t *)&conn->stats, sizeof(conn->stats) / sizeof(uint64_t));
}

static void repeat_receiver(struct tcp_conn *conn, struct repeat *repeat)
{
	struct tcp_rx *rx = &conn->rx;
	uint64_t left = rx->wanted - rx->next;

	if (!ranges_empty(&rx->early))
		repeat_never(repeat);
	if (rx->wanted != UINT64_MAX)
		repeat_left(repeat, &left, 1);
	if (owner_repeats(conn) && rx->wanted != UINT64_MAX)
		repeat_count(repeat, &rx->wanted);
	else
		repeat_same(repeat, rx->wanted);
	repeat_same(repeat, (uint64_t)rx->unacked << 1 | rx->ce);
	repeat_number(repeat, &rx->next, &conn->stream);
	if (rx->unacked) {
		repeat_time(repeat, &rx->echo);
		repeat_time(repeat, &rx->arrived);
	}
	if (rx->ack_every > 1)
		repeat_event(repeat, rx->timer.id);
	if (repeat->moving) {
		rx->mark += repeat->periods * conn->stream.step;
		rx->expect = rx->mark < rx->wanted ? rx->mark : rx->wanted;
	}
}

static void repeat_connection(struct tcp_conn *conn, struct repeat *repeat)
{
	bool idle = conn->tx.una == conn->tx.written;

	repeat_same(repeat, (uint64_t)conn->generation << 2 | conn->open << 1 | idle);
	if (!conn->open)
		return;
	if (!idle || owner_repeats(conn))
		repeat_sender(conn, repeat);
	repeat_same(repeat, (uint32_t)conn->tx.source.credit);
	repeat_receiver(conn, repeat);
}

void tcp_repeat(struct tcp *tcp, struct repeat *repeat)
{
	repeat_same(repeat, tcp->count);
	for (size_t i = 0; i < tcp->count; i++) {
		struct tcp_conn *conn = tcp->conns[i];

		conn->stream.base = conn->tx.una;
		repeat_base(repeat, &conn->stream);
	}
	for (size_t i = 0; i < tcp->count; i++)
		repeat_connection(tcp->conns[i], repeat);
}

void tcp_skip_what_repeats(struct tcp *tcp, struct repeat *repeat)
{
	tcp->repeat = repeat;
}
