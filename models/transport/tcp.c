#include "transport/tcp.h"

#include "base/mem.h"
#include "transport/ranges.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define DUPACK_THRESHOLD 3
#define MAX_BACKOFF      6 /* doublings of the retransmission timeout */

static const struct conf_row tcp_rows[] = {
	{ .name = "mss",
	  .type = CONF_INT,
	  .offset = offsetof(struct tcp_conf, mss),
	  .imin = 64,
	  .imax = 9000,
	  .def = "1460",
	  .help = "Payload bytes of a full segment.",
	  .source = "1500-byte IP packets" },
	{ .name = "initial_window",
	  .type = CONF_INT,
	  .offset = offsetof(struct tcp_conf, initial_window),
	  .imin = 1,
	  .imax = 10000,
	  .def = "10",
	  .help = "First window in segments.",
	  .source = "RFC 6928" },
	{ .name = "min_rto",
	  .type = CONF_TIME,
	  .offset = offsetof(struct tcp_conf, min_rto),
	  .min = PS_PER_US,
	  .max = 100 * PS_PER_S,
	  .def = "\"10ms\"",
	  .help = "Smallest retransmission timeout.",
	  .source = "DCTCP SIGCOMM'10 experiments" },
	{ .name = "initial_rto",
	  .type = CONF_TIME,
	  .offset = offsetof(struct tcp_conf, initial_rto),
	  .min = PS_PER_US,
	  .max = 100 * PS_PER_S,
	  .def = "\"10ms\"",
	  .help = "Timeout before the first round-trip time is known.",
	  .source = "our choice: as min_rto" },
	{ .name = "ack_every",
	  .type = CONF_INT,
	  .offset = offsetof(struct tcp_conf, ack_every),
	  .imin = 1,
	  .imax = 64,
	  .def = "1",
	  .help = "Segments per ACK; above 1 with RFC 8257's state machine.",
	  .source = "our choice: an ACK per packet" },
	{ .name = "ack_delay",
	  .type = CONF_TIME,
	  .offset = offsetof(struct tcp_conf, ack_delay),
	  .min = PS_PER_US,
	  .max = PS_PER_S,
	  .def = "\"500us\"",
	  .help = "Longest wait of a delayed ACK (ack_every above 1).",
	  .source = "our choice" },
	{ .name = "max_window",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct tcp_conf, max_window),
	  .min = 1460,
	  .def = CONF_OPTIONAL,
	  .help = "Upper bound of the window (receive buffer)." },
	{ .name = "dctcp_g",
	  .type = CONF_REAL,
	  .offset = offsetof(struct tcp_conf, g),
	  .rmin = 0.0001,
	  .rmax = 1,
	  .def = "0.0625",
	  .help = "Gain of DCTCP's estimate of the marked fraction.",
	  .source = "RFC 8257 section 4.2" },
	{ 0 },
};
const struct conf_table tcp_table = { "tcp", tcp_rows, sizeof(struct tcp_conf),
				      "All TCP connections (flows and rings)." };

/* The sender's half. */
struct tcp_tx {
	struct nic_source source;
	struct cc cc;
	const struct cc_ops *ops;
	struct route route;
	uint32_t host;
	uint64_t una, nxt, max; /* first unacknowledged, next to send, highest sent */
	uint64_t written;       /* by the application */
	uint64_t recover;       /* recovery ends when this has been acknowledged */
	uint64_t usage_end;     /* `limited` and `max_flight` are of the window up to here */
	uint64_t max_flight;
	double inflation; /* of the window during recovery, bytes */
	uint32_t dupacks;
	bool recovering;
	bool resend;  /* the segment at una goes out next */
	bool limited; /* the window, not the application, stopped us */
	unsigned backoff;
	sim_time srtt, rttvar, rto;
	sim_time deadline; /* of the retransmission timer; it may fire earlier and look */
	sim_time timer_at; /* when it fires, SIM_TIME_MAX = not set */
	struct timer timer;
};

/* The receiver's half. */
struct tcp_rx {
	struct route route; /* of the ACKs */
	uint32_t host;
	uint64_t next; /* first byte not yet in order */
	uint64_t expect;
	struct ranges early; /* received beyond a hole */
	uint32_t unacked;    /* segments since the last ACK */
	bool ce;             /* RFC 8257: DCTCP.CE */
	sim_time echo;
	struct timer timer; /* delayed ACK; open only when ack_every > 1 */
};

struct tcp_conn {
	struct tcp *tcp;
	uint32_t number;
	uint16_t generation;
	bool open;
	struct tcp_stats stats; /* up to here the first line of cache, for both halves */
	struct tcp_tx tx;
	struct tcp_rx rx;
	const struct tcp_app *app;
	void *owner;
};

struct tcp {
	struct topology *topo;
	const struct tcp_conf *conf;
	struct sim *sim;
	uint8_t protocol;
	struct tcp_conn **conns; /* stable addresses: timers and NICs point into them */
	size_t count, capacity;
	uint32_t *idle;
	size_t idle_count, idle_capacity;
};

/* --- sending --- */

static uint64_t segment_size(const struct tcp_conn *conn, uint64_t seq)
{
	uint64_t left = conn->tx.written - seq;
	uint64_t mss = (uint64_t)conn->tcp->conf->mss;

	return left < mss ? left : mss;
}

/* In whole bytes: what fits into the window fits into its integer part. */
static uint64_t window(const struct tcp_conn *conn)
{
	uint64_t w = (uint64_t)(int64_t)(conn->tx.cc.cwnd + conn->tx.inflation);
	uint64_t cap = conn->tcp->conf->max_window;

	return cap && cap < w ? cap : w;
}

/* A segment may be sent when it fits into the window; one always may. */
static bool window_allows(const struct tcp_conn *conn)
{
	const struct tcp_tx *tx = &conn->tx;
	uint64_t flight = tx->nxt - tx->una;

	return flight == 0 || flight + segment_size(conn, tx->nxt) <= window(conn);
}

static bool has_work(const struct tcp_conn *conn)
{
	const struct tcp_tx *tx = &conn->tx;

	return tx->resend || (tx->nxt < tx->written && window_allows(conn));
}

/* Linux, tcp_cwnd_validate(): a window that was not used must not grow. */
static void note_usage(struct tcp_tx *tx, bool limited)
{
	uint64_t flight = tx->nxt - tx->una;

	if (tx->una >= tx->usage_end || limited || (!tx->limited && flight > tx->max_flight)) {
		tx->limited = limited;
		tx->max_flight = flight;
		tx->usage_end = tx->nxt;
	}
}

static bool may_grow(const struct tcp_tx *tx)
{
	if (tx->limited)
		return true;
	return tx->cc.cwnd < tx->cc.ssthresh && tx->cc.cwnd < 2 * (double)(int64_t)tx->max_flight;
}

static void arm_timer(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;
	struct sim *sim = conn->tcp->sim;

	tx->deadline = sim->now + (tx->rto << tx->backoff);
	/* the timer is left alone when it fires before the deadline: it will look then */
	if (tx->timer_at <= tx->deadline)
		return;
	tx->timer_at = tx->deadline;
	timer_set(sim, &tx->timer, tx->deadline);
}

static void stop_timer(struct tcp_conn *conn)
{
	conn->tx.timer_at = SIM_TIME_MAX;
	timer_cancel(conn->tcp->sim, &conn->tx.timer);
}

static void fill_segment(struct tcp_conn *conn, uint64_t seq, struct packet *packet)
{
	uint64_t payload = segment_size(conn, seq), size = payload + TCP_OVERHEAD;

	*packet = (struct packet){
		.seq = seq,
		.sent_at = conn->tcp->sim->now,
		.flow = conn->number,
		.source = conn->generation,
		.size = (uint16_t)(size < TCP_MIN_FRAME ? TCP_MIN_FRAME : size),
		.payload = (uint16_t)payload,
		.kind = PACKET_DATA,
		.flags = conn->tx.ops->ecn ? PACKET_ECT : 0,
		.protocol = conn->tcp->protocol,
	};
	packet_set_route(packet, &conn->tx.route);
	if (seq + payload == conn->tx.written)
		packet->flags |= PACKET_PUSH;
	conn->stats.segments++;
	if (seq < conn->tx.max) {
		packet->flags |= PACKET_RETRANSMIT;
		conn->stats.retransmissions++;
	}
}

static enum nic_pull tcp_pull(void *owner, struct packet *packet)
{
	struct tcp_conn *conn = owner;
	struct tcp_tx *tx = &conn->tx;
	bool idle = tx->nxt == tx->una, more;

	if (!has_work(conn))
		return NIC_NOTHING;
	if (tx->resend) {
		tx->resend = false;
		fill_segment(conn, tx->una, packet);
		arm_timer(conn);
		return has_work(conn) ? NIC_MORE : NIC_LAST;
	}
	fill_segment(conn, tx->nxt, packet);
	tx->nxt += packet->payload;
	if (tx->nxt > tx->max)
		tx->max = tx->nxt;
	if (idle)
		arm_timer(conn);
	more = has_work(conn);
	note_usage(tx, tx->nxt < tx->written && !more);
	return more ? NIC_MORE : NIC_LAST;
}

static void try_send(struct tcp_conn *conn)
{
	if (has_work(conn))
		nic_wake(&conn->tcp->topo->net.nics[conn->tx.host], &conn->tx.source);
}

/* --- acknowledgements at the sender --- */

/* RFC 6298; integer arithmetic, so no rounding depends on the platform. */
static void measure_rtt(struct tcp_conn *conn, sim_time rtt)
{
	struct tcp_tx *tx = &conn->tx;
	sim_time min = conn->tcp->conf->min_rto;

	if (!tx->srtt) {
		tx->srtt = rtt;
		tx->rttvar = rtt / 2;
	} else {
		sim_time error = rtt > tx->srtt ? rtt - tx->srtt : tx->srtt - rtt;

		tx->rttvar = (3 * tx->rttvar + error) / 4;
		tx->srtt = (7 * tx->srtt + rtt) / 8;
	}
	tx->rto = tx->srtt + 4 * tx->rttvar;
	if (tx->rto < min)
		tx->rto = min;
}

static void enter_recovery(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;

	tx->recovering = true;
	tx->recover = tx->max;
	tx->ops->on_loss(&tx->cc);
	tx->inflation = DUPACK_THRESHOLD * tx->cc.mss;
	tx->resend = true;
	conn->stats.fast_retransmits++;
}

static void on_duplicate_ack(struct tcp_conn *conn)
{
	struct tcp_tx *tx = &conn->tx;

	if (tx->recovering) {
		tx->inflation += tx->cc.mss; /* one more segment has left the network */
	} else if (++tx->dupacks == DUPACK_THRESHOLD && tx->una >= tx->recover) {
		/* una < recover: these echo what was sent again after a timeout (RFC 6582, 3.2) */
		enter_recovery(conn);
	}
}

/* Recovery goes on until everything outstanding at its start is in; an ACK that
 * covers only a part names the next hole. */
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
	tx->inflation += tx->cc.mss;
	tx->resend = true;
}

static void on_new_ack(struct tcp_conn *conn, uint64_t ack)
{
	struct tcp_tx *tx = &conn->tx;
	uint64_t acked = ack - tx->una;

	tx->una = ack;
	if (tx->nxt < ack)
		tx->nxt = ack; /* after a timeout the receiver had more than we thought */
	tx->dupacks = 0;
	tx->backoff = 0;
	tx->resend = false;
	if (tx->recovering)
		on_ack_in_recovery(conn, acked);
	if (tx->una < tx->max)
		arm_timer(conn);
	else
		stop_timer(conn);
}

static void receive_ack(struct tcp_conn *conn, const struct packet *packet)
{
	struct tcp_tx *tx = &conn->tx;
	struct cc_ack ack = {
		.ack = packet->seq,
		.acked = packet->seq > tx->una ? packet->seq - tx->una : 0,
		.ece = packet->flags & PACKET_ECE,
		.may_grow = may_grow(tx),
		.in_recovery = tx->recovering,
	};

	if (packet->seq < tx->una)
		return;
	conn->stats.acks++;
	conn->stats.marked_acks += ack.ece;
	measure_rtt(conn, conn->tcp->sim->now - packet->sent_at);
	if (ack.acked)
		on_new_ack(conn, packet->seq);
	else if (tx->una < tx->max)
		on_duplicate_ack(conn);
	ack.snd_nxt = tx->nxt;
	ack.in_recovery |= tx->recovering;
	tx->ops->on_ack(&tx->cc, &ack);
	if (ack.acked && tx->una == tx->written && conn->app && conn->app->drained) {
		conn->app->drained(conn->owner);
		return; /* the connection may be gone */
	}
	try_send(conn);
}

static void on_timer(struct sim *sim, uint32_t entity, void *owner)
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
	conn->stats.timeouts++;
	tx->ops->on_timeout(&tx->cc, tx->nxt - tx->una);
	tx->nxt = tx->una; /* go back */
	tx->recover = tx->max;
	tx->recovering = false;
	tx->inflation = 0;
	tx->dupacks = 0;
	tx->resend = false;
	if (tx->backoff < MAX_BACKOFF)
		tx->backoff++;
	arm_timer(conn);
	try_send(conn);
}

/* --- the receiver --- */

static void send_ack(struct tcp_conn *conn, bool ece)
{
	struct tcp_rx *rx = &conn->rx;
	struct packet packet = {
		.seq = rx->next,
		.sent_at = rx->echo,
		.flow = conn->number,
		.source = conn->generation,
		.size = TCP_MIN_FRAME,
		.kind = PACKET_ACK,
		.flags = ece ? PACKET_ECE : 0,
		.protocol = conn->tcp->protocol,
	};

	packet_set_route(&packet, &rx->route);
	rx->unacked = 0;
	if (conn->tcp->conf->ack_every > 1)
		timer_cancel(conn->tcp->sim, &rx->timer);
	network_send(&conn->tcp->topo->net, rx->host, &packet);
}

static void on_ack_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct tcp_conn *conn = owner;

	(void)sim, (void)entity;
	if (conn->rx.unacked)
		send_ack(conn, conn->rx.ce);
}

/* RFC 8257 section 3.2: a change of the mark sends an ACK for what came before
 * at once, so that the sender can count marked bytes in spite of delayed ACKs. */
static void acknowledge(struct tcp_conn *conn, const struct packet *packet, bool in_order,
			uint64_t before)
{
	const struct tcp_conf *conf = conn->tcp->conf;
	struct tcp_rx *rx = &conn->rx;
	bool ce = packet->flags & PACKET_CE;
	bool at_once = !in_order || ce != rx->ce || packet->flags & PACKET_PUSH;

	if (ce != rx->ce && rx->unacked) {
		uint64_t next = rx->next;

		rx->next = before;
		send_ack(conn, rx->ce);
		rx->next = next;
	}
	rx->ce = ce;
	rx->echo = packet->sent_at;
	if (at_once || ++rx->unacked >= conf->ack_every)
		send_ack(conn, ce);
	else if (!timer_pending(conn->tcp->sim, &rx->timer))
		timer_set(conn->tcp->sim, &rx->timer, conn->tcp->sim->now + conf->ack_delay);
}

static void receive_data(struct tcp_conn *conn, const struct packet *packet)
{
	struct tcp_rx *rx = &conn->rx;
	uint64_t end = packet->seq + packet->payload, before = rx->next;
	bool in_order = packet->seq <= rx->next && ranges_empty(&rx->early);

	if (packet->seq > rx->next) {
		ranges_add(&rx->early, packet->seq, end);
	} else if (end > rx->next) {
		rx->next = ranges_empty(&rx->early) ? end : ranges_advance(&rx->early, end);
	} else {
		in_order = false; /* a duplicate: the sender wants to know at once */
	}
	acknowledge(conn, packet, in_order, before);
	if (rx->next >= rx->expect && before < rx->expect) {
		rx->expect = UINT64_MAX;
		if (conn->app && conn->app->delivered)
			conn->app->delivered(conn->owner, rx->next);
	}
}

static void tcp_deliver(void *self, uint32_t host, const struct packet *packet)
{
	struct tcp *tcp = self;
	struct tcp_conn *conn = tcp->conns[packet->flow];

	if (!conn->open || conn->generation != packet->source)
		return; /* of a connection that is over */
	SIM_BUG_ON(host != (packet->kind == PACKET_ACK ? conn->tx.host : conn->rx.host));
	if (packet->kind == PACKET_ACK)
		receive_ack(conn, packet);
	else
		receive_data(conn, packet);
}

/* The lines that an ACK touches at the sender, or a segment at the receiver. */
static void tcp_prefetch(void *self, const struct packet *packet)
{
	const struct tcp *tcp = self;
	const char *conn = (const char *)tcp->conns[packet->flow];
	size_t begin = packet->kind == PACKET_ACK ? offsetof(struct tcp_conn, tx)
						  : offsetof(struct tcp_conn, rx);
	size_t end = packet->kind == PACKET_ACK ? offsetof(struct tcp_conn, rx)
						: offsetof(struct tcp_conn, owner);

	__builtin_prefetch(conn);
	for (size_t at = begin & ~(size_t)63; at < end; at += 64)
		__builtin_prefetch(conn + at);
}

static const struct protocol_ops tcp_protocol = {
	.name = "tcp",
	.deliver = tcp_deliver,
	.prefetch = tcp_prefetch,
};

/* --- connections --- */

struct tcp *tcp_new(struct topology *topo, const struct tcp_conf *conf)
{
	struct tcp *tcp = xcalloc(1, sizeof(*tcp));

	tcp->topo = topo;
	tcp->conf = conf;
	tcp->sim = topo->net.sim;
	tcp->protocol = network_register(&topo->net, &tcp_protocol, tcp);
	return tcp;
}

void tcp_free(struct tcp *tcp)
{
	if (!tcp)
		return;
	for (size_t i = 0; i < tcp->count; i++) {
		ranges_release(&tcp->conns[i]->rx.early);
		free(tcp->conns[i]);
	}
	free(tcp->conns);
	free(tcp->idle);
	free(tcp);
}

static struct tcp_conn *take_slot(struct tcp *tcp)
{
	struct tcp_conn *conn;

	if (tcp->idle_count)
		return tcp->conns[tcp->idle[--tcp->idle_count]];
	tcp->conns = array_reserve(tcp->conns, tcp->count, &tcp->capacity, sizeof(*tcp->conns));
	conn = xaligned(64, sizeof(*conn));
	conn->tcp = tcp;
	conn->number = (uint32_t)tcp->count;
	tcp->conns[tcp->count++] = conn;
	return conn;
}

/* ECMP: a hash of what would be the 5-tuple; the way back hashes on its own. */
static uint64_t entropy(const struct tcp *tcp, uint64_t key, bool back)
{
	return hash_pair(hash_pair(tcp->sim->seed, hash_string("ecmp")), 2 * key + back);
}

uint32_t tcp_open(struct tcp *tcp, uint32_t src, uint32_t dst, const struct cc_ops *cc,
		  uint64_t key, const struct tcp_app *app, void *owner)
{
	struct tcp_conn *conn = take_slot(tcp);
	double mss = (double)tcp->conf->mss;

	SIM_BUG_ON(src == dst);
	conn->open = true;
	conn->app = app;
	conn->owner = owner;
	conn->stats = (struct tcp_stats){ 0 };
	conn->tx = (struct tcp_tx){
		.source = { .pull = tcp_pull, .owner = conn },
		.ops = cc,
		.host = src,
		.rto = tcp->conf->initial_rto,
		.timer_at = SIM_TIME_MAX,
		.cc = { .cwnd = (double)tcp->conf->initial_window * mss,
			.ssthresh = INFINITY,
			.mss = mss,
			.g = tcp->conf->g },
	};
	conn->rx.host = dst;
	conn->rx.next = 0;
	conn->rx.expect = UINT64_MAX;
	conn->rx.unacked = 0;
	conn->rx.ce = false;
	ranges_clear(&conn->rx.early);
	cc->init(&conn->tx.cc);
	topology_route(tcp->topo, src, dst, entropy(tcp, key, false), &conn->tx.route);
	topology_route(tcp->topo, dst, src, entropy(tcp, key, true), &conn->rx.route);
	timer_open(tcp->sim, &conn->tx.timer, SIM_TIMER, sim_key(SIM_TIMER, 2 * key), on_timer,
		   conn);
	if (tcp->conf->ack_every > 1)
		timer_open(tcp->sim, &conn->rx.timer, SIM_TIMER, sim_key(SIM_TIMER, 2 * key + 1),
			   on_ack_timer, conn);
	return conn->number;
}

void tcp_close(struct tcp *tcp, uint32_t number)
{
	struct tcp_conn *conn = tcp->conns[number];

	SIM_BUG_ON(!conn->open);
	nic_forget(&tcp->topo->net.nics[conn->tx.host], &conn->tx.source);
	timer_close(tcp->sim, &conn->tx.timer);
	if (tcp->conf->ack_every > 1)
		timer_close(tcp->sim, &conn->rx.timer);
	conn->open = false;
	conn->generation++;
	tcp->idle =
		array_reserve(tcp->idle, tcp->idle_count, &tcp->idle_capacity, sizeof(*tcp->idle));
	tcp->idle[tcp->idle_count++] = number;
}

void tcp_write(struct tcp *tcp, uint32_t number, uint64_t size)
{
	tcp->conns[number]->tx.written += size;
	try_send(tcp->conns[number]);
}

void tcp_expect(struct tcp *tcp, uint32_t number, uint64_t offset)
{
	SIM_BUG_ON(offset <= tcp->conns[number]->rx.next);
	tcp->conns[number]->rx.expect = offset;
}

const struct tcp_stats *tcp_stats(const struct tcp *tcp, uint32_t number)
{
	return &tcp->conns[number]->stats;
}

const struct cc *tcp_cc(const struct tcp *tcp, uint32_t number)
{
	return &tcp->conns[number]->tx.cc;
}

uint64_t tcp_delivered(const struct tcp *tcp, uint32_t number)
{
	return tcp->conns[number]->rx.next;
}

static sim_time ideal_on(const struct tcp *tcp, uint32_t src, const struct route *route, bytes size)
{
	uint32_t ports[ROUTE_MAX + 1];
	unsigned count = topology_path(tcp->topo, src, route, ports);

	return ideal_transfer(&tcp->topo->net, ports, count, size, (uint32_t)tcp->conf->mss,
			      TCP_OVERHEAD, TCP_MIN_FRAME);
}

sim_time tcp_ideal(const struct tcp *tcp, uint32_t number, bytes size)
{
	const struct tcp_conn *conn = tcp->conns[number];

	return ideal_on(tcp, conn->tx.host, &conn->tx.route, size);
}

sim_time tcp_ideal_between(const struct tcp *tcp, uint32_t src, uint32_t dst, uint64_t key,
			   bytes size)
{
	struct route route;

	topology_route(tcp->topo, src, dst, entropy(tcp, key, false), &route);
	return ideal_on(tcp, src, &route, size);
}

size_t tcp_open_count(const struct tcp *tcp)
{
	return tcp->count - tcp->idle_count;
}

void tcp_report_waiting(const struct tcp *tcp, FILE *to, size_t limit)
{
	for (size_t i = 0; i < tcp->count && limit; i++) {
		const struct tcp_conn *conn = tcp->conns[i];

		if (!conn->open || conn->tx.una == conn->tx.written)
			continue;
		fprintf(to,
			"  connection h%" PRIu32 " -> h%" PRIu32 ": %" PRIu64 " of %" PRIu64
			" bytes acknowledged, %" PRIu64 " timeouts\n",
			conn->tx.host, conn->rx.host, conn->tx.una, conn->tx.written,
			conn->stats.timeouts);
		limit--;
	}
}
