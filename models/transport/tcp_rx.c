/* The receiver of a connection: order, acknowledgements, echo of marks. */
#include "transport/keys.h"
#include "transport/tcp_sack.h"

/* The time that the sender subtracts from its clock to get the round trip. A control that reacts to
 * delays needs the delay of the network alone, so this adds the time for which the receiver delayed
 * the ACK (Swift, SIGCOMM 2020, section 3.1: the receiver states its own delay). For other controls
 * the round trip includes that time, as in RFC 7323, so that the timeout covers it. */
static sim_time echo(const struct tcp_rx *rx)
{
	return rx->delays ? rx->echo + (rx->net->sim->now - rx->arrived) : rx->echo;
}

static void tcp_send_ack(struct tcp_rx *rx, bool ece)
{
	struct packet packet = {
		.next_expected = rx->next,
		.echo = echo(rx),
		.flow = rx->number,
		.generation = rx->generation,
		.size = TCP_MIN_FRAME,
		.tag = rx->reported,
		.kind = PACKET_ACK,
		.flags = ece ? PACKET_ECE : 0,
		.protocol = rx->tcp->protocol,
	};

	packet_set_route(&packet, &rx->route);
	rx->unacked = 0;
	if (rx->ack_every > 1)
		timer_cancel(rx->net->sim, &rx->timer);
	network_send(rx->net, rx->port, &packet);
}

static void on_ack_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct tcp_rx *rx = owner;

	(void)sim, (void)entity;
	if (rx->unacked)
		tcp_send_ack(rx, rx->ce);
}

/* RFC 8257 section 3.2: when the ECN mark changes, the receiver acknowledges the earlier segments
 * with the old mark, and then this segment, at once. So the sender can count marked bytes in spite
 * of delayed ACKs. */
static void tcp_acknowledge(struct tcp_rx *rx, const struct packet *packet, bool in_order,
			    uint64_t before)
{
	bool ce = packet->flags & PACKET_CE;
	bool at_once = !in_order || ce != rx->ce || packet->flags & TCP_PUSH;

	if (ce != rx->ce && rx->unacked) {
		uint64_t next = rx->next; /* behind this packet; the first ACK ends before it */

		rx->next = before;
		tcp_send_ack(rx, rx->ce);
		rx->next = next;
	}
	rx->ce = ce;
	if (!rx->unacked) { /* the ACK echoes the earliest segment (RFC 7323, 4.3) */
		rx->echo = packet->sent_at;
		rx->arrived = rx->net->sim->now;
	}
	if (at_once || ++rx->unacked >= rx->ack_every)
		tcp_send_ack(rx, ce);
	else if (!timer_pending(rx->net->sim, &rx->timer))
		timer_set(rx->net->sim, &rx->timer, rx->net->sim->now + rx->tcp->conf->ack_delay);
}

/* `expect` bytes have come: up to the mark, up to `wanted`, or both. */
static void tcp_reached(struct tcp_conn *conn)
{
	struct tcp_rx *rx = &conn->rx;
	bool wanted = rx->next >= rx->wanted;

	if (rx->next >= rx->mark)
		tcp_mark(conn, true);
	if (wanted)
		rx->wanted = UINT64_MAX;
	rx->expect = rx->mark < rx->wanted ? rx->mark : rx->wanted;
	if (!wanted)
		return;
	if (rx->tcp->repeat) /* the connection may be idle now */
		repeat_leave(rx->tcp->repeat, conn);
	if (conn->app && conn->app->delivered)
		conn->app->delivered(conn->owner, rx->next);
}

void tcp_rx_receive(struct tcp_conn *conn, const struct packet *packet)
{
	struct tcp_rx *rx = &conn->rx;
	uint64_t end = packet->seq + packet->payload, before = rx->next;
	bool in_order = packet->seq <= rx->next && ranges_empty(&rx->early);

	if (packet->seq > rx->next) {
		if (rx->told)
			tcp_sack_report(rx, packet, ranges_hold(&rx->early, packet->seq));
		ranges_add(&rx->early, packet->seq, end);
	} else if (end > rx->next) {
		rx->next = ranges_empty(&rx->early) ? end : ranges_advance(&rx->early, end);
	} else {
		in_order = false; /* a duplicate: the sender wants to know at once */
		if (rx->told)
			tcp_sack_report(rx, packet, true);
	}
	if (rx->net->onlooker && rx->next > before)
		why_delivered(why_of(rx->net), rx->tcp->protocol, rx->number);
	tcp_acknowledge(rx, packet, in_order, before);
	if (rx->next >= rx->expect && before < rx->expect)
		tcp_reached(conn);
}

void tcp_rx_open(struct tcp_conn *conn, uint32_t dst, uint32_t ack_every, uint64_t key)
{
	struct tcp_rx *rx = &conn->rx;

	rx->tcp = conn->tcp;
	rx->net = &conn->tcp->topo->net;
	rx->number = conn->number;
	rx->generation = conn->generation;
	rx->over = false;
	rx->delays = conn->tx.ops->delays;
	rx->host = dst;
	rx->ack_every = ack_every;
	rx->next = 0;
	rx->wanted = rx->mark = UINT64_MAX;
	rx->unacked = 0;
	rx->reported = 0;
	rx->told = conn->tx.sack ? &conn->tx.sack->told : NULL;
	rx->ce = false;
	ranges_clear(&rx->early); /* keeps its memory */
	tcp_mark(conn, false);
	rx->expect = rx->mark;
	sim_name(conn->tcp->sim, on_ack_timer, "TCP delayed ACK of connection %h");
	if (ack_every <= 1)
		return;
	timer_open(rx->net->sim, &rx->timer, SIM_TIMER, timer_key(TIMER_TCP, 2 * key + 1),
		   on_ack_timer, rx);
}

void tcp_rx_close(struct tcp_conn *conn)
{
	if (conn->rx.ack_every > 1)
		timer_close(conn->rx.net->sim, &conn->rx.timer);
}
