/* TCP: what is sent when, on an idle star, with chosen packets lost on the way.
 *
 * Times: 10 Gbps, 1 us of propagation a link, 500 ns in the switch; a full frame
 * takes 1538 B = 1230.4 ns, an ACK 84 B = 67.2 ns. */
#include "model_run.h"

#include <math.h>
#include <stdlib.h>

#define MSS      1460
#define SENT_MAX 4096

/* What arrives at the receiver (data) or the sender (ACKs), lost ones included. */
struct seen {
	uint64_t seq;
	sim_time sent, at;
	uint32_t payload;
	bool again, ece, lost;
};

struct watch {
	struct tap tap;
	struct seen data[SENT_MAX], acks[SENT_MAX];
	size_t data_count, ack_count;
	/* True: this one is lost. `nth` = how often a segment of this seq came before. */
	bool (*lose)(const struct watch *watch, const struct packet *packet, unsigned nth);
	void (*on_ack)(struct watch *watch, const struct packet *packet); /* before it is handled */
	int value;
};

static unsigned times_seen(const struct watch *watch, uint64_t seq)
{
	unsigned n = 0;

	for (size_t i = 0; i < watch->data_count; i++)
		n += watch->data[i].seq == seq;
	return n;
}

static bool watch_pass(struct tap *tap, uint32_t host, struct packet *packet)
{
	struct watch *watch = tap->owner;
	struct seen seen = { .seq = packet->seq,
			     .sent = packet->sent_at,
			     .at = tap->run->s->sim.now,
			     .payload = packet->payload,
			     .again = packet->flags & PACKET_RETRANSMIT,
			     .ece = packet->flags & PACKET_ECE };

	(void)host;
	if (packet->kind == PACKET_ACK) {
		cr_assert_lt(watch->ack_count, SENT_MAX);
		watch->acks[watch->ack_count++] = seen;
		if (watch->on_ack)
			watch->on_ack(watch, packet);
		return true;
	}
	seen.lost = watch->lose && watch->lose(watch, packet, times_seen(watch, packet->seq));
	cr_assert_lt(watch->data_count, SENT_MAX);
	watch->data[watch->data_count++] = seen;
	return !seen.lost;
}

static struct watch *watch_new(struct run *run,
			       bool (*lose)(const struct watch *, const struct packet *, unsigned))
{
	struct watch *watch = calloc(1, sizeof(*watch));

	watch->lose = lose;
	tap_in(&watch->tap, run, "tcp", watch_pass, watch);
	return watch;
}

/* One flow of `size` from host 0 to host 1. */
static void one_flow(struct run *run, const char *size, const char *tcp, const char *transport)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2 },"
		  " 'tcp': { %s }, 'stop': { 'after': '10s' },"
		  " 'flows': [ { 'size': '%s', 'pairs': [[0, 1]], 'transport': '%s' } ] }",
		  tcp, size, transport);
}

static void expect_again(const struct watch *watch, const unsigned *segments, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < watch->data_count; i++) {
		if (!watch->data[i].again)
			continue;
		if (n < count)
			cr_expect_eq(watch->data[i].seq, (uint64_t)segments[n] * MSS,
				     "retransmission %zu is of byte %lu, not of segment %u", n,
				     (unsigned long)watch->data[i].seq, segments[n]);
		n++;
	}
	cr_expect_eq(n, count, "%zu retransmissions, not %zu", n, count);
}

/* --- the retransmission timer --- */

static bool lose_first_eight(const struct watch *watch, const struct packet *packet, unsigned nth)
{
	(void)watch, (void)packet;
	return nth < 8;
}

/* A segment that is lost again and again: RFC 6298 (5.5) doubles the timeout each
 * time, here from 10 ms, six times at most. Sendings at 0, 10, 30, 70 ms ...: exactly. */
Test(tcp, backoff_doubles)
{
	struct run run;
	struct watch *watch;
	sim_time at = 0, rto = 10 * PS_PER_MS;

	one_flow(&run, "1000B", "", "dctcp");
	watch = watch_new(&run, lose_first_eight);
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(watch->data_count, 9);
	for (size_t i = 0; i < 9; i++) {
		cr_expect_eq(watch->data[i].sent, at, "sending %zu at %lu ps", i,
			     (unsigned long)watch->data[i].sent);
		at += rto;
		rto = i < 6 ? 2 * rto : rto;
	}
	cr_expect_eq(run_conn(&run, 0)->stats.timeouts, 8);
	cr_expect_eq(run_conn(&run, 0)->stats.recoveries, 0);
	run_free(&run);
	free(watch);
}

static bool lose_tenth(const struct watch *watch, const struct packet *packet, unsigned nth)
{
	(void)watch;
	return packet->seq == 9 * MSS && nth == 0;
}

/* The last packet of a flow is lost: no duplicate ACKs tell of it. RFC 6298 (5.3):
 * the timer was restarted by the last ACK of new data, so it goes again exactly
 * one timeout after that. */
Test(tcp, last_packet_lost)
{
	struct run run;
	struct watch *watch;

	one_flow(&run, "14600B", "", "dctcp");
	watch = watch_new(&run, lose_tenth);
	run_to(&run, END_ALL_DONE);
	expect_again(watch, (const unsigned[]){ 9 }, 1);
	cr_expect_eq(watch->acks[8].seq, 9 * MSS);
	cr_expect_eq(watch->data[10].sent, watch->acks[8].at + 10 * PS_PER_MS);
	cr_expect_eq(run_conn(&run, 0)->stats.timeouts, 1);
	run_free(&run);
	free(watch);
}

/* RFC 6298 with timestamps: on a path whose round trip never changes (a window of
 * one segment), rto = srtt + 4 rttvar with rttvar (3/4)^k srtt / 2. Tolerance:
 * rounding down at each step, below 8 ps. */
Test(tcp, rto_formula)
{
	struct run run;
	struct watch *watch;
	struct tcp_conn *conn;
	double rtt;

	one_flow(&run, "14600B", "'initial_window': 1, 'max_window': '1460B', 'min_rto': '1us'",
		 "dctcp");
	watch = watch_new(&run, NULL);
	run_to(&run, END_ALL_DONE);
	conn = run_conn(&run, 0);
	cr_assert_eq(watch->ack_count, 9, "the tenth comes after the end of the run");
	rtt = 2 * 1230400 + 2 * 67200 + 4 * 1e6 + 2 * 5e5;
	cr_expect_float_eq((double)conn->tx.srtt, rtt, 8);
	cr_expect_float_eq((double)conn->tx.rto, rtt + 4 * rtt / 2 * pow(0.75, 8), 40);
	run_free(&run);
	free(watch);
}

static bool lose_window_and_repeat(const struct watch *watch, const struct packet *packet,
				   unsigned nth)
{
	(void)packet;
	return watch->data_count < 40 || nth < 2;
}

/* RFC 5681, (4): a timeout sets ssthresh to half of the flight, and holds it when
 * the same segment times out again. 40 segments out, all lost, the first twice:
 * ssthresh = 20 segments, and slow start goes up to it. */
Test(tcp, second_timeout_keeps_ssthresh)
{
	struct run run;
	struct watch *watch;

	one_flow(&run, "400kB", "'initial_window': 40", "reno");
	watch = watch_new(&run, lose_window_and_repeat);
	run_until(&run, 35 * PS_PER_MS);
	cr_expect_eq(run_conn(&run, 0)->stats.timeouts, 2);
	cr_expect_float_eq(run_conn(&run, 0)->tx.cc.ssthresh, 20 * MSS, 0);
	run_to(&run, END_ALL_DONE);
	run_free(&run);
	free(watch);
}

/* --- fast retransmit and recovery --- */

static bool lose_third(const struct watch *watch, const struct packet *packet, unsigned nth)
{
	(void)watch;
	return packet->seq == 2 * MSS && nth == 0;
}

/* Counts duplicate ACKs before they are handled; nothing may go again before the third. */
static void count_duplicates(struct watch *watch, const struct packet *packet)
{
	const struct tcp_conn *conn = run_conn(watch->tap.run, 0);

	if (packet->seq == 2 * MSS && conn->tx.una == 2 * MSS)
		watch->value++;
	if (watch->value && watch->value <= 3 && packet->seq == 2 * MSS)
		cr_expect_eq(conn->stats.recoveries, 0, "before duplicate %d", watch->value);
	if (watch->value == 4)
		cr_expect_eq(conn->stats.recoveries, 1);
}

/* RFC 5681, 3.2: exactly at the third duplicate ACK. Ten segments out: after the
 * hole seven duplicates follow. The segment goes with the next free turn of the NIC. */
Test(tcp, third_duplicate)
{
	struct run run;
	struct watch *watch;
	sim_time third;

	one_flow(&run, "14600B", "", "reno");
	watch = watch_new(&run, lose_third);
	watch->on_ack = count_duplicates;
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(watch->value, 7);
	expect_again(watch, (const unsigned[]){ 2 }, 1);
	third = watch->acks[4].at; /* ACKs of segments 0, 1, 3, 4, 5 */
	cr_expect_eq(watch->data[10].sent, third, "the NIC is idle: at once");
	cr_expect_eq(run_conn(&run, 0)->stats.timeouts, 0);
	run_free(&run);
	free(watch);
}

static bool lose_some(const struct watch *watch, const struct packet *packet, unsigned nth)
{
	uint64_t segment = packet->seq / MSS;

	(void)watch;
	return nth == 0 && (segment == 2 || segment == 5 || segment == 9);
}

/* RFC 6582: three holes in one window of 20 are one recovery. Each partial ACK
 * sends the next hole and nothing else again; the window halves once. */
Test(tcp, partial_acks)
{
	struct run run;
	struct watch *watch;
	const struct tcp_conn *conn;

	one_flow(&run, "29200B", "'initial_window': 20", "reno");
	watch = watch_new(&run, lose_some);
	run_to(&run, END_ALL_DONE);
	expect_again(watch, (const unsigned[]){ 2, 5, 9 }, 3);
	conn = run_conn(&run, 0);
	cr_expect_eq(conn->stats.recoveries, 1);
	cr_expect_eq(conn->stats.timeouts, 0);
	/* segments 0 and 1 were acknowledged before: cwnd 20 (application-limited) -> 10 */
	cr_expect_float_eq(conn->tx.cc.cwnd, 10 * MSS, 0);
	run_free(&run);
	free(watch);
}

/* After recovery cwnd = ssthresh, and the inflation is gone (RFC 6582, 3.2, step 3):
 * with more data than the window, never more than the window is out. The links are
 * long (20 us), so that the window and not the NIC is the limit. */
Test(tcp, deflation)
{
	struct run run;
	struct watch *watch;
	const struct tcp_conn *conn;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2,"
			" 'link': { 'rate': '10Gbps', 'delay': '20us' } },"
			" 'tcp': { 'initial_window': 20 }, 'flows': [ { 'size': '1MB',"
			" 'pairs': [[0, 1]], 'transport': 'reno' } ] }");
	watch = watch_new(&run, lose_some);
	run_until(&run, PS_PER_US);
	while (sim_run(&run.s->sim, 1)) {
		conn = run_conn(&run, 0);
		if (conn->stats.recoveries && !conn->tx.recovering)
			cr_assert_leq((double)(conn->tx.nxt - conn->tx.una), conn->tx.cc.cwnd);
	}
	cr_expect_eq(run_conn(&run, 0)->stats.recoveries, 1);
	cr_expect_eq(run_conn(&run, 0)->stats.retransmissions, 3);
	cr_expect_eq(run_conn(&run, 0)->rx.next, 1000000);
	run_free(&run);
	free(watch);
}

/* --- go-back-N --- */

static bool lose_tail(const struct watch *watch, const struct packet *packet, unsigned nth)
{
	(void)watch;
	return nth == 0 && packet->seq >= 7 * MSS;
}

/* The last three of ten are lost: no duplicate ACKs, one timeout, then slow start
 * from one segment: 7; then 8 and 9 together. ssthresh = max(3/2, 2) segments. */
Test(tcp, go_back_n)
{
	struct run run;
	struct watch *watch;
	const struct tcp_conn *conn;

	one_flow(&run, "14600B", "", "dctcp");
	watch = watch_new(&run, lose_tail);
	run_to(&run, END_ALL_DONE);
	expect_again(watch, (const unsigned[]){ 7, 8, 9 }, 3);
	conn = run_conn(&run, 0);
	cr_expect_eq(conn->stats.timeouts, 1);
	cr_expect_eq(watch->data_count, 13);
	cr_expect_float_eq(conn->tx.cc.ssthresh, 2 * MSS, 0);
	cr_expect_eq(watch->data[11].sent, watch->acks[7].at); /* 8, with the ACK of 7 */
	cr_expect_eq(watch->data[12].sent, watch->acks[7].at + 1230400);
	run_free(&run);
	free(watch);
}

/* Nothing is lost, but the first timeout is shorter than the round trip of 4 ms: the ten segments
 * of the first window are sent again as their ACKs come in. The ACKs of these are duplicates of the
 * one that covers all that was sent before the timeout, and start no fast retransmit (RFC
 * 6582, 3.2, step 2). */
Test(tcp, duplicates_of_a_spurious_timeout)
{
	static const char *const timeouts[] = { "700us", "1500us", "3ms" };

	for (int i = 0; i < 6; i++) {
		struct run run;
		const struct tcp_conn *conn;

		run_build(
			&run,
			"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2,"
			"  'link': { 'rate': '10Gbps', 'delay': '1ms' } },"
			" 'tcp': { 'initial_rto': '%s' },"
			" 'flows': [ { 'size': '200kB', 'pairs': [[0, 1]], 'transport': '%s' } ] }",
			timeouts[i / 2], i % 2 ? "dctcp" : "reno");
		run_to(&run, END_ALL_DONE);
		conn = run_conn(&run, 0);
		cr_expect_gt(conn->stats.timeouts, 0);
		cr_expect_gt(conn->stats.retransmissions, 3);
		cr_expect_eq(conn->stats.recoveries, 0, "after %s", timeouts[i / 2]);
		run_free(&run);
	}
}

/* A receiver that waits for four segments or 300 us is sent the only one again after 100 us: the
 * duplicate ends where the data does, and is acknowledged at once (RFC 5681, 4.2). */
Test(tcp, duplicate_is_acknowledged_at_once)
{
	struct run run;
	struct watch *watch;

	one_flow(&run, "14600B",
		 "'initial_window': 1, 'ack_every': 4, 'ack_delay': '300us', 'initial_rto': "
		 "'100us', 'min_rto': '100us'",
		 "reno");
	watch = watch_new(&run, NULL);
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(watch->data[1].seq, 0);
	cr_expect(watch->data[1].again);
	cr_expect_eq(watch->acks[0].at, watch->data[1].at + 2634400);
	run_free(&run);
	free(watch);
}

static bool lose_first_two(const struct watch *watch, const struct packet *packet, unsigned nth)
{
	(void)watch;
	return nth == 0 && packet->seq < 2 * MSS;
}

/* Four segments out, the first two lost: two duplicates are not enough. After the
 * timeout the ACK of segment 1 covers 2 and 3 as well, and only one segment of
 * growth is counted for each ACK (RFC 5681, 3.1; RFC 3465, 2.3): cwnd 1, 2, then 2
 * = ssthresh and a third of avoidance at most. */
Test(tcp, ack_jumps_after_timeout)
{
	struct run run;
	struct watch *watch;
	const struct tcp_conn *conn;

	one_flow(&run, "5840B", "'initial_window': 4", "reno");
	watch = watch_new(&run, lose_first_two);
	run_to(&run, END_ALL_DONE);
	conn = run_conn(&run, 0);
	cr_expect_eq(conn->stats.timeouts, 1);
	cr_expect_leq(conn->tx.cc.cwnd, 2.5 * MSS);
	cr_expect_leq(conn->stats.retransmissions, 3);
	cr_expect_eq(conn->rx.next, 5840);
	run_free(&run);
	free(watch);
}

static bool lose_first(const struct watch *watch, const struct packet *packet, unsigned nth)
{
	(void)packet;
	return nth == 0 && watch->data_count == 0;
}

static bool lose_early_acks(struct tap *tap, uint32_t host, struct packet *packet)
{
	if (packet->kind == PACKET_ACK && tap->run->s->sim.now < 5 * PS_PER_MS)
		return false;
	return watch_pass(tap, host, packet);
}

/* 60 segments arrive but for the first; their ACKs are lost. After the timeout the
 * first fills the hole and one ACK covers all 60: the window grows by one segment,
 * not by 59, and does not pass ssthresh (30) in slow start. */
Test(tcp, no_burst_after_timeout)
{
	struct run run;
	struct watch *watch;

	one_flow(&run, "1MB", "'initial_window': 60", "reno");
	watch = watch_new(&run, lose_first);
	watch->tap.pass = lose_early_acks;
	run_until(&run, PS_PER_US);
	while (run_conn(&run, 0)->tx.una < 60 * MSS)
		cr_assert(sim_run(&run.s->sim, 1));
	cr_expect_eq(run_conn(&run, 0)->stats.timeouts, 1);
	cr_expect_float_eq(run_conn(&run, 0)->tx.cc.ssthresh, 30 * MSS, 0);
	cr_expect_float_eq(run_conn(&run, 0)->tx.cc.cwnd, 2 * MSS, 0);
	run_to(&run, END_ALL_DONE);
	run_free(&run);
	free(watch);
}

/* --- windows that somebody else limits --- */

/* A receive window of 20 kB on an idle path: throughput = window / RTT, and the
 * congestion window, which is not used, stays below twice what is (Linux,
 * tcp_cwnd_validate()), so that a mark would still matter. 13 segments fit. RTT as
 * in rto_formula; tolerance 1 % for the beginning. */
Test(tcp, receive_window)
{
	struct run run;
	double rtt = 2 * 1230400 + 2 * 67200 + 4 * 1e6 + 2 * 5e5, seconds;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2,"
			" 'link': { 'rate': '10Gbps', 'delay': '10us' } },"
			" 'tcp': { 'max_window': '20000B' },"
			" 'flows': [ { 'size': '10MB', 'pairs': [[0, 1]] } ] }");
	rtt += 4 * 9e6;
	run_to(&run, END_ALL_DONE);
	seconds = seconds_of(run.s->sim.now);
	cr_expect_float_eq(1e7 / seconds / (13 * MSS / (rtt * 1e-12)), 1, 0.01);
	cr_expect_leq(run_conn(&run, 0)->tx.cc.cwnd, 2 * 20000 + MSS);
	run_free(&run);
}

/* Two flows share a link with marks: the ACKs that echo one are counted, and no others. */
Test(tcp, counts_marks)
{
	struct run run;
	struct watch *watch;
	size_t marked = 0;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 3 }, 'stop': "
		  "{ 'after': '10s' }, 'flows': [ { 'size': '500kB', 'pairs': [[0, 2], [1, 2]], "
		  "'transport': 'dctcp', 'arrival': { 'at': '0s' } } ] }");
	watch = watch_new(&run, NULL);
	run_to(&run, END_ALL_DONE);
	for (size_t i = 0; i < watch->ack_count; i++)
		marked += watch->acks[i].ece;
	cr_expect_gt(marked, 0);
	cr_expect_lt(marked, watch->ack_count);
	cr_expect_eq(run_conn(&run, 0)->stats.marks + run_conn(&run, 1)->stats.marks, marked);
	run_free(&run);
	free(watch);
}

/* --- an application that writes as it likes --- */

struct writer {
	struct run run;
	struct timer timer;
	uint32_t conn;
	int writes, left;
	uint64_t size, last;
	unsigned drained, delivered;
};

static void write_some(struct sim *sim, uint32_t entity, void *owner)
{
	struct writer *w = owner;

	(void)entity;
	tcp_write(w->run.s->tcp, w->conn, --w->left ? w->size : w->last);
	if (w->left)
		timer_set(sim, &w->timer, sim->now + PS_PER_US);
}

static void on_drained(void *owner)
{
	struct writer *w = owner;

	w->drained++;
}

static void on_delivered(void *owner, uint64_t total)
{
	struct writer *w = owner;

	cr_expect_geq(total, 5000);
	w->delivered++;
}

static const struct tcp_app writer_app = { .drained = on_drained, .delivered = on_delivered };

/* `count` writes of `size` bytes, 1 us apart, and one of `last`; the scenario's own
 * flow begins much later. */
static void writer_init(struct writer *w, const char *tcp, int count, uint64_t size, uint64_t last)
{
	*w = (struct writer){ .left = count + 1, .size = size, .last = last };
	run_build(&w->run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2 }, 'tcp': { %s },"
		  " 'flows': [ { 'size': '1kB', 'pairs': [[0, 1]], 'arrival': { 'at': '1s' } } ] }",
		  tcp);
	w->conn = tcp_open(w->run.s->tcp, 0, 1, cc_named("reno"), 0, 12345, &writer_app, w);
	timer_open(&w->run.s->sim, &w->timer, SIM_CONTROL, sim_key(SIM_CONTROL, 999999), write_some,
		   w);
	timer_set(&w->run.s->sim, &w->timer, 0);
}

static bool lose_very_first(const struct watch *watch, const struct packet *packet, unsigned nth)
{
	return packet->seq == 0 && nth == 0 && watch->data_count == 0;
}

/* Five short segments, the first is lost, and more is written than the window takes.
 * The retransmission may take the short ones together, but nothing that was never
 * sent: una <= max always, and every byte arrives in order. */
Test(tcp, boundary_of_short_segments)
{
	struct writer w;
	struct watch *watch;
	struct tcp_conn *conn;

	writer_init(&w, "'initial_window': 1", 5, 100, 10000);
	watch = watch_new(&w.run, lose_very_first);
	conn = run_conn(&w.run, w.conn);
	while (w.run.s->sim.now < 900 * PS_PER_MS && sim_run(&w.run.s->sim, 1))
		cr_assert_leq(conn->tx.una, conn->tx.max);
	cr_expect_eq(conn->rx.next, 10500);
	cr_expect_eq(w.drained, 1);
	cr_expect_eq(conn->stats.recoveries, 1);
	cr_expect_eq(watch->data[5].seq, 0);
	cr_expect_eq(watch->data[5].payload, 500);
	run_to(&w.run, END_ALL_DONE);
	run_free(&w.run);
	free(watch);
}

/* The receiver is told once when the bytes that it expects are in, and not of those behind them. */
Test(tcp, expected_bytes)
{
	struct writer w;

	writer_init(&w, "", 99, 100, 100);
	tcp_expect(w.run.s->tcp, w.conn, 5000);
	run_until(&w.run, 900 * PS_PER_MS);
	cr_expect_eq(run_conn(&w.run, w.conn)->rx.next, 10000);
	cr_expect_eq(w.delivered, 1);
	run_free(&w.run);
}

/* The application is the limit: 200 writes of 100 bytes, acknowledged one by one,
 * do not open a window of 10 segments. */
Test(tcp, application_limited)
{
	struct writer w;
	struct tcp_conn *conn;

	writer_init(&w, "", 200, 100, 100);
	conn = run_conn(&w.run, w.conn);
	run_until(&w.run, 900 * PS_PER_MS);
	cr_expect_eq(conn->rx.next, 20100);
	cr_expect_float_eq(conn->tx.cc.cwnd, 10 * MSS, 0);
	cr_expect_geq(w.drained, 1);
	run_free(&w.run);
}

/* A segment that comes a second time is answered, new data is not, when the sender has closed. */
Test(tcp, late_duplicate)
{
	struct writer w;
	struct tcp_conn *conn;
	struct packet late;
	uint64_t created;

	writer_init(&w, "'ack_every': 2", 0, 0, 1000);
	conn = run_conn(&w.run, w.conn);
	late = (struct packet){ .kind = PACKET_DATA,
				.flow = w.conn,
				.source = conn->generation,
				.size = 1058,
				.payload = 1000,
				.protocol = w.run.s->tcp->protocol };
	packet_set_route(&late, &conn->tx.route);
	run_until(&w.run, PS_PER_MS);
	tcp_close(w.run.s->tcp, w.conn);
	created = w.run.s->topo.net.created;
	network_send(&w.run.s->topo.net, 0, &late);
	run_until(&w.run, 2 * PS_PER_MS);
	cr_expect_eq(w.run.s->topo.net.created - created, 2, "no ACK");
	late.seq = 1000;
	network_send(&w.run.s->topo.net, 0, &late);
	run_until(&w.run, 3 * PS_PER_MS);
	cr_expect_eq(w.run.s->topo.net.created - created, 3, "an ACK");
	cr_expect_eq(conn->rx.next, 1000);
	run_free(&w.run);
}

/* Which slot is used next does not hang on the order in which connections of one time were closed.
 */
Test(tcp, slots_in_order)
{
	for (uint32_t first = 0; first < 3; first++) {
		struct writer w;
		struct tcp *tcp;

		writer_init(&w, "", 0, 0, 1000);
		tcp = w.run.s->tcp;
		for (uint64_t key = 5; key < 7; key++)
			tcp_open(tcp, 0, 1, cc_named("reno"), 0, key, &writer_app, &w);
		for (uint32_t i = 0; i < 3; i++)
			tcp_close(tcp, (first + i) % 3);
		for (uint32_t i = 0; i < 3; i++)
			cr_expect_eq(
				tcp_open(tcp, 0, 1, cc_named("reno"), 0, 7 + i, &writer_app, &w),
				2 - i);
		run_free(&w.run);
	}
}

/* A packet of a connection that is over must not touch the next owner of its slot. */
Test(tcp, late_packet)
{
	struct writer w;
	struct tcp_conn *conn;
	struct packet late;

	writer_init(&w, "", 0, 0, 1000);
	conn = run_conn(&w.run, w.conn);
	late = (struct packet){ .kind = PACKET_DATA,
				.flow = w.conn,
				.source = conn->generation,
				.size = 1518,
				.payload = 1460,
				.protocol = w.run.s->tcp->protocol };
	packet_set_route(&late, &conn->tx.route);
	run_until(&w.run, PS_PER_MS);
	cr_assert_eq(conn->rx.next, 1000);
	tcp_close(w.run.s->tcp, w.conn);
	cr_assert_eq(tcp_open(w.run.s->tcp, 0, 1, cc_named("reno"), 0, 5, &writer_app, &w), w.conn);
	cr_assert_eq(conn->rx.next, 0);
	network_send(&w.run.s->topo.net, 0, &late);
	late.kind = PACKET_ACK;
	late.seq = 77;
	packet_set_route(&late, &conn->rx.route);
	network_send(&w.run.s->topo.net, 1, &late);
	run_until(&w.run, 2 * PS_PER_MS);
	cr_expect_eq(conn->rx.next, 0);
	cr_expect_eq(conn->tx.una, 0);
	run_free(&w.run);
}
