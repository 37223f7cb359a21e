/* The sender of a connection: window, retransmission, timer. */
#include "transport/keys.h"
#include "transport/tcp_sack.h"

#include <math.h>
#include <stdlib.h>

#define DUPACK_THRESHOLD 3
#define MAX_BACKOFF      6 /* doublings of the retransmission timeout */

/* --- sending --- */

static uint64_t segment_size(const struct tcp_conn *conn, uint64_t seq)
{
	uint64_t left = conn->tx.written - seq;
	uint64_t mss = (uint64_t)conn->tcp->conf->mss;

	return left < mss ? left : mss;
}

/* In whole bytes: what fits into the window fits into its integer part. (Conversions between double
 * and uint64_t go by int64_t, because x86 has an instruction for it.) */
static uint64_t congestion_window(const struct tcp_tx *tx)
{
	return (uint64_t)(int64_t)(tx->cc.cwnd + tx->inflation);
}

static uint64_t window(const struct tcp_conn *conn)
{
	uint64_t w = congestion_window(&conn->tx), cap = conn->tcp->conf->max_window;

	return cap && cap < w ? cap : w;
}

bool tcp_tx_fits(const struct tcp_conn *conn, uint64_t size)
{
	const struct tcp_tx *tx = &conn->tx;
	uint64_t flight = tx->nxt - tx->una - tx->gone;

	return flight == 0 || flight + size <= window(conn);
}

static bool tcp_window_allows(const struct tcp_conn *conn)
{
	return tcp_tx_fits(conn, segment_size(conn, conn->tx.nxt));
}

static bool tcp_has_work(const struct tcp_conn *conn)
{
	const struct tcp_tx *tx = &conn->tx;

	return tx->resend || (tx->nxt < tx->written && tcp_window_allows(conn));
}

/* --- pacing --- */

static void tcp_on_pacing_timer(struct sim *sim, uint32_t entity, void *owner)
{
	(void)sim, (void)entity;
	tcp_tx_wake(owner);
}

/* Whether the next segment has to wait; if so, sets the pacing timer. `cc.gap` counts from the
 * newest segment, even if the control set it after that segment had left. The end of a gap does not
 * change once it is set. Only a control that has given up its gap ends the wait early. */
static bool tcp_held_back(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;

	if (!tx->cc.gap)
		return false;
	if (!tx->next_at)
		tx->next_at = tx->sent_at + tx->cc.gap;
	if (tx->next_at <= tx->net->sim->now)
		return false;
	timer_set(tx->net->sim, &tx->pacing, tx->next_at);
	return true;
}

static void tcp_pace(struct tcp_tx *tx)
{
	tx->sent_at = tx->net->sim->now;
	tx->next_at = tx->cc.gap ? tx->sent_at + tx->cc.gap : 0;
}

/* Whether the congestion window stops the sender. The receive window does not count here: a
 * congestion window that is not used up must not grow. */
static bool window_limited(const struct tcp_conn *conn)
{
	const struct tcp_tx *tx = &conn->tx;

	return tx->nxt < tx->written &&
	       tx->nxt - tx->una - tx->gone + segment_size(conn, tx->nxt) > congestion_window(tx);
}

/* Notes how much of the window is used within a round trip (Linux, tcp_cwnd_validate()). */
static void note_usage(struct tcp_tx *tx, bool limited)
{
	uint64_t flight = tx->nxt - tx->una - tx->gone;

	if (tx->una >= tx->usage_end || limited || (!tx->limited && flight > tx->max_flight)) {
		tx->limited = limited;
		tx->max_flight = flight;
		tx->usage_end = tx->nxt;
	}
}

/* By how many bytes this ACK may open the window (Linux, tcp_is_cwnd_limited()): 0 if the window
 * was not used up; in slow start, if half of it or less was in flight. During go-back-N after a
 * timeout, an ACK may cover much data that had arrived before, so it counts as one segment (RFC
 * 5681, section 3.1; RFC 3465, 2.3). */
uint64_t tcp_tx_growth(const struct tcp_tx *tx, uint64_t acked)
{
	const struct cc *cc = &tx->cc;

	if (!tx->limited &&
	    (cc->cwnd >= cc->ssthresh || cc->cwnd >= 2 * (double)(int64_t)tx->max_flight))
		return 0;
	if (tx->una < tx->recover && (double)(int64_t)acked > cc->mss)
		return (uint64_t)(int64_t)cc->mss;
	return acked;
}

static void tcp_arm_timer(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	struct sim *sim = tx->net->sim;
	sim_time timeout = transport_timeout(tx->rto, tx->timeouts, MAX_BACKOFF);

	if (tx->sack)
		timeout = tcp_sack_timeout(conn, timeout);
	tx->deadline = sim->now + timeout;
	/* a timer that fires before the deadline may stay: its handler sets it again */
	if (tx->timer_at <= tx->deadline)
		return;
	tx->timer_at = tx->deadline;
	timer_set(sim, &tx->timer, tx->deadline);
}

static void tcp_stop_timer(struct tcp_conn *conn)
{
	conn->tx.timer_at = SIM_TIME_MAX;
	timer_cancel(conn->tx.net->sim, &conn->tx.timer);
}

void tcp_tx_arm(struct tcp_conn *conn)
{
	if (conn->tx.una < conn->tx.max)
		tcp_arm_timer(conn);
	else
		tcp_stop_timer(conn);
}

static const struct route *next_route(struct tcp_tx *tx)
{
	return tx->spray ? &tx->spray->routes[spray_next(tx->spray)] : &tx->route;
}

static void fill_segment(struct tcp_conn *conn, uint64_t seq, uint64_t payload,
			 struct packet *packet)
{
	uint64_t size = payload + TCP_OVERHEAD;

	*packet = (struct packet){
		.seq = seq,
		.sent_at = conn->tx.net->sim->now,
		.flow = conn->number,
		.generation = conn->generation,
		.size = (uint16_t)(size < TCP_MIN_FRAME ? TCP_MIN_FRAME : size),
		.payload = (uint16_t)payload,
		.kind = PACKET_DATA,
		.flags = conn->tx.flags,
		.protocol = conn->tcp->protocol,
	};
	packet_set_route(packet, next_route(&conn->tx));
	if (seq + payload == conn->tx.written)
		packet->flags |= TCP_PUSH;
	if (seq < conn->tx.max) {
		packet->flags |= PACKET_RETRANSMIT;
		conn->stats.retransmissions++;
	}
}

static void send_new(struct tcp_conn *conn, struct packet *packet)
{
	struct tcp_tx *tx = &conn->tx;
	bool idle = tx->nxt == tx->una;

	fill_segment(conn, tx->nxt, segment_size(conn, tx->nxt), packet);
	tx->nxt += packet->payload;
	if (tx->nxt > tx->max)
		tx->max = tx->nxt;
	if (tx->sack)
		tcp_sack_sent(conn, packet);
	if (idle || (tx->sack && tcp_sack_may_probe(conn)))
		tcp_arm_timer(conn);
}

/* A segment that is lost, or a probe, which is new data if there is any. */
static void send_lost(struct tcp_conn *conn, struct packet *packet)
{
	struct tcp_tx *tx = &conn->tx;
	bool probe = tx->sack->probe, copy = !probe || tx->nxt == tx->written;

	if (copy) {
		struct tcp_segment *segment = tcp_sack_again(conn);

		fill_segment(conn, segment->seq, segment->size, packet);
		segment->path = tx->spray ? tx->spray->value : 0;
	} else {
		send_new(conn, packet);
	}
	if (probe)
		tcp_sack_probed(conn, copy);
	if (probe || packet->seq == tx->una)
		tcp_arm_timer(conn);
	tcp_sack_look(conn);
}

/* Fills in the first missing segment. It may join several short segments, but takes no new data. */
static void send_first(struct tcp_conn *conn, struct packet *packet)
{
	struct tcp_tx *tx = &conn->tx;
	uint64_t size = segment_size(conn, tx->una), sent = tx->max - tx->una;

	tx->resend = false;
	fill_segment(conn, tx->una, size < sent ? size : sent, packet);
	tcp_arm_timer(conn);
}

static enum nic_pull tcp_pull(void *owner, struct packet *packet)
{
	struct tcp_conn *conn = owner;
	struct tcp_tx *tx = &conn->tx;
	bool more, limited;

	if (!tcp_has_work(conn) || tcp_held_back(conn))
		return NIC_NOTHING;
	if (tx->resend) {
		(tx->sack ? send_lost : send_first)(conn, packet);
		tcp_pace(tx);
		return tcp_has_work(conn) && !tcp_held_back(conn) ? NIC_MORE : NIC_LAST;
	}
	send_new(conn, packet);
	more = tcp_has_work(conn);
	limited = !more && window_limited(conn);
	note_usage(tx, limited);
	if (tcp_is_recorded(conn))
		tcp_log(conn,
			(struct tcp_step){
				.una = tx->una, .nxt = tx->nxt, .sent = true, .odd = limited });
	tcp_pace(tx);
	return more && !tcp_held_back(conn) ? NIC_MORE : NIC_LAST;
}

void tcp_tx_wake(struct tcp_conn *conn)
{
	if (!conn->tx.source.waiting && tcp_has_work(conn) && !tcp_held_back(conn))
		nic_wake(&conn->tx.net->nics[conn->tx.port], &conn->tx.source);
}

/* --- acknowledgements at the sender --- */

/* RFC 6298, in integers, so that no rounding depends on the platform. A control with cc_ops.delays
 * gets samples without the receiver's delay of ACKs, so the timeout adds the longest such delay (as
 * in RFC 9002, section 6.2.1). */
static void measure_rtt(struct tcp_conn *conn, sim_time rtt)
{
	struct tcp_tx *tx = &conn->tx;
	sim_time min;

	if (!tx->srtt) {
		tx->srtt = rtt;
		tx->rttvar = rtt / 2;
	} else {
		sim_time error = rtt > tx->srtt ? rtt - tx->srtt : tx->srtt - rtt;

		tx->rttvar = (3 * tx->rttvar + error) / 4;
		tx->srtt = (7 * tx->srtt + rtt) / 8;
	}
	tx->rto = tx->srtt + 4 * tx->rttvar;
	min = tx->min_rto + (conn->tcp->conf->rto_floor == TCP_FLOOR_VARIANCE ? tx->srtt : 0);
	if (tx->rto < min)
		tx->rto = min;
	if (tx->ops->delays && conn->rx.ack_every > 1)
		tx->rto += conn->tcp->conf->ack_delay;
}

static void enter_recovery(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;

	tx->recovering = true;
	tx->recover = tx->max;
	tx->ops->on_loss(&tx->cc, tx->net->sim->now);
	tx->inflation = DUPACK_THRESHOLD * tx->cc.mss;
	tx->resend = true;
	conn->stats.recoveries++;
}

/* RFC 6582, section 3.2, step 2: duplicates of an ACK up to `recover` start no recovery, because
 * they may answer segments that an early timeout repeated without need. */
static void on_duplicate_ack(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	bool first = !tx->recover; /* no timeout and no recovery yet */

	if (tx->recovering)
		tx->inflation += tx->cc.mss; /* one more segment has left the network */
	else if (++tx->dupacks == DUPACK_THRESHOLD && (first || tx->una > tx->recover))
		enter_recovery(conn);
}

/* RFC 6582, section 3.2: recovery goes on until all data outstanding at its start is acknowledged.
 * A partial ACK names the next hole and restarts the timer ("slow but steady", section 4). */
static void on_ack_in_recovery(struct tcp_conn *conn, uint64_t acked)
{
	struct tcp_tx *tx = &conn->tx;

	if (tx->una >= tx->recover) {
		tx->recovering = false;
		tx->inflation = 0;
		return;
	}
	tx->inflation -= (double)acked;
	if (tx->inflation < 0)
		tx->inflation = 0;
	if ((double)acked >= tx->cc.mss)
		tx->inflation += tx->cc.mss;
	tx->resend = true;
}

static void on_new_ack(struct tcp_conn *conn, uint64_t ack)
{
	struct tcp_tx *tx = &conn->tx;
	uint64_t acked = ack - tx->una;

	tx->una = ack;
	if (tx->nxt < ack)
		tx->nxt = ack; /* after go-back-N: the receiver had more than the sender knew */
	tx->dupacks = 0;
	tx->timeouts = 0;
	tx->resend = false;
	if (tx->recovering)
		on_ack_in_recovery(conn, acked);
	tcp_tx_arm(conn);
}

void tcp_tx_receive(struct tcp_conn *conn, const struct packet *packet)
{
	struct tcp_tx *tx = &conn->tx;
	struct cc_ack ack = {
		.ack = packet->next_expected,
		.acked = packet->next_expected > tx->una ? packet->next_expected - tx->una : 0,
		.ece = packet->flags & PACKET_ECE,
		.in_recovery = tx->recovering,
		.now = tx->net->sim->now,
		.rtt = tx->net->sim->now - packet->echo,
	};

	if (packet->next_expected < tx->una)
		return;
	ack.growth = tcp_tx_growth(tx, ack.acked);
	conn->stats.marks += ack.ece;
	measure_rtt(conn, ack.rtt);
	if (tx->sack)
		tcp_sack_receive(conn, packet, &ack);
	else if (ack.acked)
		on_new_ack(conn, packet->next_expected);
	else if (tx->una < tx->max)
		on_duplicate_ack(conn);
	ack.snd_nxt = tx->nxt;
	ack.in_recovery |= tx->recovering;
	tx->ops->on_ack(&tx->cc, &ack);
	if (tcp_is_recorded(conn))
		tcp_log(conn, (struct tcp_step){ .una = tx->una,
						 .nxt = tx->nxt,
						 .rtt = ack.rtt,
						 .odd = ack.ece || ack.in_recovery || !ack.acked });
	if (ack.acked && tx->una == tx->written && conn->app && conn->app->drained) {
		conn->app->drained(conn->owner);
		return; /* the connection may be gone */
	}
	tcp_tx_wake(conn);
}

void tcp_tx_replay(struct tcp_conn *conn, const struct tcp_step *step, uint64_t later)
{
	struct tcp_tx *tx = &conn->tx;
	uint64_t una = step->una + later;
	struct cc_ack ack = { .ack = una, .snd_nxt = step->nxt + later, .acked = una - tx->una };

	if (!step->sent) {
		ack.growth = tcp_tx_growth(tx, ack.acked);
		measure_rtt(conn, step->rtt);
	}
	tx->una = una;
	tx->nxt = step->nxt + later;
	if (step->sent)
		note_usage(tx, false);
	else
		tx->ops->on_ack(&tx->cc, &ack);
}

static void tcp_on_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct tcp_conn *conn = owner;
	struct tcp_tx *tx = &conn->tx;

	(void)entity;
	tx->timer_at = SIM_TIME_MAX;
	if (tx->una == tx->max)
		return;
	if (sim->now < tx->deadline) {
		tx->timer_at = tx->deadline;
		timer_set(sim, &tx->timer, tx->deadline);
		return;
	}
	if (tx->sack && tcp_sack_probes(conn)) {
		tcp_tx_wake(conn);
		return;
	}
	conn->stats.timeouts++;
	tx->ops->on_timeout(&tx->cc, ++tx->timeouts, tx->nxt - tx->una, sim->now);
	tx->recover = tx->max;
	tx->recovering = false;
	tx->inflation = 0;
	tx->dupacks = 0;
	tx->resend = false;
	if (tx->sack)
		tcp_sack_timed_out(conn);
	else
		tx->nxt = tx->una; /* go back */
	tcp_arm_timer(conn);
	tcp_tx_wake(conn);
}

/* --- opening and closing --- */

void tcp_tx_routed(struct tcp_conn *conn, uint32_t dst)
{
	const struct tcp *tcp = conn->tcp;
	struct tcp_tx *tx = &conn->tx;

	conn->rx.port = network_port(&tcp->topo->net, dst, conn->rx.route.link);
	transport_take_nic(&tcp->topo->net, tx->host, &tx->route, &tx->source, &tx->port, &tx->cc);
	if (tx->spray)
		spray_route(tx->spray, tcp->topo, tx->host, dst, conn->key, &tx->route);
	if (tx->ops->delays)
		tx->cc.switches =
			transport_round_trip(tcp->topo, tx->host, &tx->route, dst, &conn->rx.route,
					     (uint32_t)tcp->conf->mss + TCP_OVERHEAD, true);
}

void tcp_tx_open(struct tcp_conn *conn, uint32_t src, uint32_t dst, const struct cc_ops *cc,
		 uint64_t key)
{
	const struct tcp *tcp = conn->tcp;
	double mss = (double)tcp->conf->mss;
	bool sack = tcp->conf->recovery != TCP_NEWRENO;
	struct spray *spray = NULL;

	free(conn->tx.spray);
	if (tcp->conf->spray)
		spray = spray_new(tcp->conf->spray, (uint32_t)tcp->conf->paths, tcp->sim->seed,
				  key);

	conn->tx = (struct tcp_tx){
		.net = &tcp->topo->net,
		.source = { .pull = tcp_pull,
			    .owner = conn,
			    .deferrable = !cc->paces && !sack && tcp_deferrable(tcp) },
		.sack = conn->tx.sack,
		.spray = spray,
		.ops = cc,
		.host = src,
		.port = src,
		.flags = cc->ecn ? PACKET_ECT : 0,
		.rto = tcp->conf->initial_rto,
		.min_rto = tcp->conf->min_rto,
		.timer_at = SIM_TIME_MAX,
		.cc = { .cwnd = (double)tcp->conf->initial_window * mss,
			.ssthresh = INFINITY,
			.mss = mss,
			.conf = tcp->conf->control[cc_index(&cc_table, cc)] },
	};
	transport_route(tcp->topo, src, dst, key, false, &conn->tx.route);
	tcp_tx_routed(conn, dst);
	if (tcp->conf->handshake_rtt) {
		conn->tx.srtt = transport_round_trip(tcp->topo, src, &conn->tx.route, dst,
						     &conn->rx.route, TCP_MIN_FRAME, false);
		conn->tx.rttvar = conn->tx.srtt / 2;
	}
	if (cc->init)
		cc->init(&conn->tx.cc);
	timer_open(conn->tx.net->sim, &conn->tx.timer, SIM_TIMER, timer_key(TIMER_TCP, 2 * key),
		   tcp_on_timer, conn);
	sim_name(tcp->sim, tcp_on_timer, "TCP retransmission timeout of connection %h");
	if (sack)
		tcp_sack_open(conn, key);
	if (!cc->paces)
		return;
	timer_open(conn->tx.net->sim, &conn->tx.pacing, SIM_TIMER, timer_key(TIMER_PACING, key),
		   tcp_on_pacing_timer, conn);
	sim_name(tcp->sim, tcp_on_pacing_timer, "next paced segment of connection %n");
}

void tcp_tx_close(struct tcp_conn *conn)
{
	nic_forget(&conn->tx.net->nics[conn->tx.port], &conn->tx.source);
	timer_close(conn->tx.net->sim, &conn->tx.timer);
	tcp_sack_close(conn);
	if (conn->tx.ops->paces)
		timer_close(conn->tx.net->sim, &conn->tx.pacing);
}
