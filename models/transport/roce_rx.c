/* The receiver of a connection: order, ACKs and NACKs, CNPs. */
#include "transport/roce_conn.h"

#include "base/ring.h"
#include "net/hop.h"

#include <stdlib.h>

HOT_INLINE void send_back(struct roce_conn *conn, uint8_t kind, uint8_t flags)
{
	const struct roce *roce = conn->roce;
	const struct roce_rx *rx = &conn->rx;
	struct packet packet = {
		.next_expected = roce_psn(rx->next) | rx->answers,
		.tag = rx->says,
		.echo = rx->echo,
		.flow = conn->number,
		.generation = conn->generation,
		.size = (uint16_t)rx->answer,
		.kind = kind,
		.flags = flags,
		.protocol = roce->protocol,
	};

	packet_set_route(&packet, &rx->route);
	network_send(&roce->topo->net, rx->port, &packet);
}

HOT_INLINE void roce_acknowledge(struct roce_conn *conn, uint8_t flags)
{
	struct roce_rx *rx = &conn->rx;

	if (rx->congested)
		flags |= PACKET_ECE;
	rx->congested = false;
	send_back(conn, PACKET_ACK, flags);
}

/* DCQCN section 3.2: at most one CNP in an interval, however many packets are marked. */
static void on_mark(struct roce_conn *conn)
{
	struct roce_rx *rx = &conn->rx;
	sim_time now = conn->roce->sim->now;

	if (rx->cnp_interval == 0)
		rx->congested = true;
	else if (now >= rx->cnp_from && rx->cnp_interval != SIM_TIME_MAX) {
		rx->cnp_from = now + rx->cnp_interval;
		send_back(conn, PACKET_CONTROL, 0);
	}
}

/* A NACK asks for the missing packet. The NACK, or the packet that it asks for, may be lost. So a
 * packet beyond the gap that comes `nack_again` later makes the receiver repeat the NACK. */
static void on_gap(struct roce_conn *conn)
{
	struct roce_rx *rx = &conn->rx;
	sim_time now = conn->roce->sim->now, again = conn->roce->nack_again;

	if (rx->nacked && (!again || now - rx->nacked_at < again))
		return;
	rx->nacked = true;
	rx->nacked_at = now;
	roce_acknowledge(conn, ROCE_NACK);
}

/* `expect` bytes have come: up to the mark, up to `wanted`, or both. */
static void roce_reached(struct roce_conn *conn)
{
	struct roce_rx *rx = &conn->rx;
	bool wanted = rx->bytes >= rx->wanted;

	if (rx->bytes >= rx->mark)
		roce_mark(conn, true);
	if (wanted)
		rx->wanted = UINT64_MAX;
	rx->expect = rx->mark < rx->wanted ? rx->mark : rx->wanted;
	if (!wanted)
		return;
	if (conn->roce->repeat) /* the connection may be idle now */
		repeat_leave(conn->roce->repeat, conn);
	if (conn->app && conn->app->delivered)
		conn->app->delivered(conn->owner, rx->bytes);
}

static void roce_hand_over(struct roce_conn *conn, uint64_t number, const struct packet *packet)
{
	struct roce_rx *rx = &conn->rx;

	if (conn->packets) {
		conn->packets->delivered(conn->owner, number, packet);
		return;
	}
	rx->bytes += packet->payload;
	if (rx->bytes >= rx->expect)
		roce_reached(conn);
}

/* Selective repeat: keeps a packet that came out of order. False if it has been kept before. */
static bool keep(struct roce_rx *rx, uint64_t number, uint16_t payload)
{
	uint16_t *place;

	rx->early = ring_reserve(rx->early, &rx->early_mask, rx->next, number, sizeof(*rx->early));
	place = &rx->early[number & rx->early_mask];
	if (*place)
		return false;
	*place = payload;
	rx->early_count++;
	return true;
}

/* Takes the packet that is due, and those kept that follow it without a gap. Returns their bytes.
 */
static uint64_t advance(struct roce_conn *conn, uint64_t payload)
{
	struct roce_rx *rx = &conn->rx;
	uint64_t sum = 0;

	while (payload) {
		if (conn->roce->topo->net.onlooker)
			why_delivered(why_of(&conn->roce->topo->net), conn->roce->protocol,
				      conn->number);
		sum += payload;
		rx->next++;
		payload = 0;
		if (rx->early_count && rx->early[rx->next & rx->early_mask]) {
			payload = rx->early[rx->next & rx->early_mask];
			rx->early[rx->next & rx->early_mask] = 0;
			rx->early_count--;
		}
	}
	return sum;
}

/* Whether a packet has been taken or kept. */
static bool has(const struct roce_rx *rx, uint64_t number)
{
	return number < rx->next ||
	       (number - rx->next < rx->early_mask && rx->early[number & rx->early_mask]);
}

/* Selective repeat: a switch has cut this packet. The NACK names it. */
static void receive_trimmed(struct roce_conn *conn, uint64_t number)
{
	struct roce_rx *rx = &conn->rx;

	rx->says |= has(rx, number) ? 0 : ROCE_TRIMMED;
	roce_acknowledge(conn, rx->early_count || rx->says & ROCE_TRIMMED ? ROCE_NACK : 0);
}

/* Selective repeat. Answers each packet that is out of order, fills a gap or has come before; a
 * NACK says that there is a gap. */
static __attribute__((noinline)) void receive_any(struct roce_conn *conn, uint64_t number,
						  const struct packet *packet)
{
	struct roce_rx *rx = &conn->rx;
	bool ordered = number == rx->next && !rx->early_count;
	uint64_t sum = 0;

	rx->answers = (uint64_t)roce_psn(number) << ROCE_PSN_BITS;
	rx->says = packet->flags & PACKET_CE ? ROCE_MARKED : 0;
	if (!packet->payload) {
		receive_trimmed(conn, number);
		return;
	}
	if (number == rx->next)
		sum = advance(conn, packet->payload);
	else if (number < rx->next || !keep(rx, number, packet->payload))
		rx->discarded++;
	if (!ordered || packet->flags & ROCE_ACK_REQUEST)
		roce_acknowledge(conn, rx->early_count ? ROCE_NACK : 0);
	rx->bytes += sum;
	if (sum && rx->bytes >= rx->expect)
		roce_reached(conn);
}

void roce_rx_receive(struct roce_conn *conn, const struct packet *packet)
{
	struct roce_rx *rx = &conn->rx;
	uint64_t number = roce_number(roce_psn_of(packet), rx->next);

	if (packet->flags & PACKET_CE)
		on_mark(conn);
	if (!conn->packets)
		rx->echo = packet->sent_at;
	if (conn->tx.select) {
		receive_any(conn, number, packet);
		return;
	}
	if (number != rx->next) {
		rx->discarded++;
		if (number > rx->next)
			on_gap(conn);
		else
			roce_acknowledge(conn, 0); /* a retransmission: the ACK seems to be lost */
		return;
	}
	if (conn->roce->topo->net.onlooker)
		why_delivered(why_of(&conn->roce->topo->net), conn->roce->protocol, conn->number);
	rx->next++;
	rx->nacked = false;
	if (packet->flags & ROCE_ACK_REQUEST)
		roce_acknowledge(conn, 0);
	roce_hand_over(conn, number, packet);
}

void roce_rx_open(struct roce_conn *conn, uint32_t dst)
{
	conn->rx = (struct roce_rx){
		.route = conn->rx.route,
		.host = dst,
		.answer = TCP_MIN_FRAME,
		.next = roce_first_number(conn->roce),
		.expect = UINT64_MAX,
		.wanted = UINT64_MAX,
		.mark = UINT64_MAX,
		.cnp_interval = SIM_TIME_MAX,
	};
}

void roce_rx_close(struct roce_conn *conn)
{
	free(conn->rx.early);
	conn->rx.early = NULL;
}
