/* The state of RoCE, for runs that repeat themselves (core/repeat.h). Each connection is a
 * repeat_stream of packet numbers.
 *
 * The owner of a stream of bytes acts when the bytes that it expects have come, and when all that
 * it has posted is acknowledged. Between these moments its state stays as it is, so the walk may
 * leave the owner out. If the walk includes the owner (tcp_app.repeats), it may post messages at
 * any time, and their packet numbers move on, too. The walk has to include an owner that makes the
 * packets; its messages always move on.
 *
 * A skip never goes past a wrap of the PSNs, so that PSNs grow as packet numbers do.
 *
 * Nothing is skipped after a connection has seen an ECN mark, while a NACK is not answered, with
 * selective repeat, where any packet collects telemetry, or where a control reacts to delays. */
#include "transport/roce_conn.h"

#define PACKETS_A_MARK 16 /* for the reason of SEGMENTS_A_MARK in tcp_repeat.c */

static const struct roce_conn *conn_of(const struct roce *roce, const struct packet *packet)
{
	const struct roce_conn *conn = roce->conns[packet->flow];

	return conn->generation == packet->generation ? conn : NULL;
}

const struct repeat_stream *roce_stream(const void *self, const struct packet *packet)
{
	const struct roce_conn *conn = conn_of(self, packet);

	return conn ? &conn->stream : NULL;
}

void roce_repeat_packet(void *self, struct repeat *repeat, struct packet *packet)
{
	const struct roce_conn *conn = conn_of(self, packet);

	if (!conn) { /* of a closed connection: nobody waits for it */
		repeat_same(repeat, packet->seq);
		repeat_same(repeat, packet->sent_at);
		return;
	}
	if (roce_number(roce_psn_of(packet), conn->tx.una) >> ROCE_PSN_BITS !=
	    conn->tx.una >> ROCE_PSN_BITS)
		repeat_never(repeat);
	repeat_number(repeat, &packet->seq, &conn->stream);
	if (conn->packets)
		repeat_same(repeat, packet->sent_at); /* the owner's value, not a time */
	else
		repeat_time(repeat, &packet->sent_at);
}

/* --- marks --- */

/* Bytes from mark to mark. */
static uint64_t distance(const struct roce_conn *conn)
{
	uint64_t every = conn->tx.ack_every;
	uint64_t min = (PACKETS_A_MARK + every - 1) / every * every;

	return repeat_distance(conn->roce->repeat, min) * (uint64_t)conn->roce->conf->mtu;
}

void roce_mark(struct roce_conn *conn, bool comes)
{
	struct roce_rx *rx = &conn->rx;
	struct repeat *repeat = conn->roce->repeat;

	if (!repeat)
		return;
	if (comes && rx->wanted - rx->bytes > repeat_to_come(repeat, conn) * distance(conn))
		repeat_mark(repeat, conn);
	rx->mark = rx->bytes + distance(conn);
	rx->expect = rx->mark < rx->wanted ? rx->mark : rx->wanted;
}

/* --- connections --- */

static bool owner_repeats(const struct roce_conn *conn)
{
	return conn->app && conn->app->repeats;
}

/* The number of a packet of a posted message. It moves on if the owner keeps posting. */
static void repeat_posted(struct roce_conn *conn, struct repeat *repeat, uint64_t *number)
{
	if (conn->packets)
		repeat_number(repeat, number, &conn->stream);
	else if (owner_repeats(conn))
		repeat_count(repeat, number);
	else
		repeat_same(repeat, *number);
}

static void repeat_messages(struct roce_conn *conn, struct repeat *repeat)
{
	struct roce_tx *tx = &conn->tx;

	/* the messages' indices decide nothing, so they are not moved on */
	repeat_same(repeat, tx->posted - tx->oldest);
	repeat_same(repeat, tx->at - tx->oldest);
	for (uint64_t i = tx->oldest; i < tx->posted; i++) {
		struct roce_message *message = &tx->messages[i & tx->mask];

		repeat_same(repeat, message->size);
		repeat_posted(conn, repeat, &message->first);
	}
}

/* A skip ends before the PSNs wrap and, on a stream of bytes, before a posted message ends. */
static void repeat_ends(struct roce_conn *conn, struct repeat *repeat)
{
	struct roce_tx *tx = &conn->tx;
	uint64_t wrap = ((tx->nxt >> ROCE_PSN_BITS) + 1) << ROCE_PSN_BITS, left = wrap - tx->nxt;

	repeat_left(repeat, &left, 2);
	if (conn->packets)
		return;
	for (uint64_t i = tx->oldest; i < tx->posted; i++) {
		uint64_t end =
			i + 1 < tx->posted ? tx->messages[(i + 1) & tx->mask].first : tx->end;
		uint64_t sent = end - tx->nxt, acknowledged = end - tx->una;

		if (end > tx->nxt)
			repeat_left(repeat, &sent, 2);
		repeat_left(repeat, &acknowledged, 2);
	}
}

/* As in tcp_repeat.c. */
static void repeat_timer(struct roce_tx *tx, sim_time rto, struct repeat *repeat)
{
	bool set = repeat->marked && tx->timer_at - rto > repeat->marked;

	if (tx->asked <= tx->una) {
		repeat_same(repeat, 0);
		return;
	}
	repeat_same(repeat, 1 + set);
	repeat_time(repeat, &tx->deadline);
	if (set) {
		repeat_event(repeat, tx->timer.id);
		repeat_time(repeat, &tx->timer_at);
	}
}

static void repeat_sender(struct roce_conn *conn, struct repeat *repeat)
{
	struct roce_tx *tx = &conn->tx;

	if (tx->select || conn->roce->topo->net.telemetry || tx->ops->delays || conn->stats.marks ||
	    tx->nxt < tx->max || tx->una >> ROCE_PSN_BITS != tx->nxt >> ROCE_PSN_BITS)
		repeat_never(repeat);
	repeat_same_bytes(repeat, &tx->cc, sizeof(tx->cc));
	if (tx->ack_every <= ROCE_PSN_MASK) /* else only the last PSN asks: no skip reaches it */
		repeat_same(repeat, tx->una % tx->ack_every);
	repeat_same(repeat, (uint64_t)tx->timeouts << 1 | tx->limited);
	repeat_ends(conn, repeat); /* before repeat_messages() moves the ends on */
	repeat_messages(conn, repeat);
	repeat_timer(tx, conn->roce->conf->rto, repeat);
	repeat_number(repeat, &tx->nxt, &conn->stream);
	repeat_number(repeat, &tx->max, &conn->stream);
	repeat_number(repeat, &tx->asked, &conn->stream);
	repeat_posted(conn, repeat, &tx->end);
	repeat_number(repeat, &tx->una, &conn->stream);
}

static void repeat_receiver(struct roce_conn *conn, struct repeat *repeat)
{
	struct roce_rx *rx = &conn->rx;
	uint64_t left = rx->wanted - rx->bytes, before = rx->bytes;

	if (rx->nacked || rx->congested)
		repeat_never(repeat);
	repeat_number(repeat, &rx->next, &conn->stream);
	repeat_count(repeat, &rx->discarded);
	repeat_due(repeat, &rx->cnp_from);
	if (conn->packets)
		return;
	if (rx->wanted != UINT64_MAX)
		repeat_left(repeat, &left, 1);
	if (owner_repeats(conn) && rx->wanted != UINT64_MAX)
		repeat_count(repeat, &rx->wanted);
	else
		repeat_same(repeat, rx->wanted);
	repeat_count(repeat, &rx->bytes);
	if (!repeat->moving)
		return;
	rx->mark += rx->mark == UINT64_MAX ? 0 : rx->bytes - before;
	rx->expect = rx->mark < rx->wanted ? rx->mark : rx->wanted;
}

static void repeat_connection(struct roce_conn *conn, struct repeat *repeat)
{
	bool idle = conn->tx.una == conn->tx.end;

	repeat_same(repeat, (uint64_t)conn->generation << 2 | conn->open << 1 | idle);
	if (!conn->open)
		return;
	repeat_receiver(conn, repeat);
	repeat_same(repeat, (uint32_t)conn->tx.source.credit);
	if (!idle || owner_repeats(conn))
		repeat_sender(conn, repeat);
	repeat_counts(repeat, (uint64_t *)&conn->stats, sizeof(conn->stats) / sizeof(uint64_t));
}

void roce_repeat(struct roce *roce, struct repeat *repeat)
{
	repeat_same(repeat, roce->count);
	for (size_t i = 0; i < roce->count; i++) {
		roce->conns[i]->stream.base = roce->conns[i]->tx.una;
		repeat_base(repeat, &roce->conns[i]->stream);
	}
	for (size_t i = 0; i < roce->count; i++)
		repeat_connection(roce->conns[i], repeat);
}

void roce_skip_what_repeats(struct roce *roce, struct repeat *repeat)
{
	roce->repeat = repeat;
}
