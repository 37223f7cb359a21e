/* TCP with selective acknowledgements: RFC 6675, and RACK-TLP (RFC 8985) with PRR (RFC 6937). What
 * the sender keeps of its segments agrees with a count from scratch after every packet. */
#include "model_run.h"

#include "transport/tcp_sack.h"

#include <math.h>

#define MSS 1460
/* The way of a full frame and of an ACK between two hosts of a star. */
#define RTT (2 * 1230400 + 2500000 + 2 * 67200 + 2500000)

static const char *const both[] = { "sack", "rack" };

struct watch {
	struct run run;
	struct tap tap;
	uint32_t loser;
	uint64_t lost[8]; /* segments of which the first copy is lost, of connection `loser` */
	size_t losses;
	uint64_t held; /* this one comes after `behind` others instead; 0 = none */
	unsigned behind, since, twice;
	struct packet late;
	bool have;
	uint64_t data, again; /* packets that came */
};

/* Each segment of the record counts once, the list is in the order of sending. */
static void check_record(const struct tcp_conn *conn)
{
	const struct tcp_sack *s = conn->tx.sack;
	uint64_t gone = 0, waiting = 0, sacked = 0, listed = 0, plain = 0, at = conn->tx.una;
	sim_time sent = 0;

	for (uint64_t n = s->first; n < s->behind; n++) {
		const struct tcp_segment *g = tcp_segment(s, n);
		bool here = g->state & SEGMENT_SACKED, lost = g->state & SEGMENT_LOST;
		bool copy = g->state & SEGMENT_AGAIN;

		cr_assert_eq(g->seq, at);
		at += g->size;
		gone += here ? g->size : lost ? copy ? 0 : g->size : copy ? -(uint64_t)g->size : 0;
		waiting += !here && lost && !copy;
		sacked += here;
		plain += !here && (!lost || copy);
		cr_assert(!here || n < s->sacked_to);
	}
	cr_assert_eq(at, conn->tx.nxt);
	cr_assert_eq(gone, conn->tx.gone);
	cr_assert_eq(waiting, s->waiting);
	cr_assert_eq(sacked, s->sacked);
	for (uint64_t n = s->oldest; n != TCP_NO_SEGMENT; n = tcp_segment(s, n)->newer, listed++) {
		cr_assert_geq(tcp_segment(s, n)->sent, sent);
		sent = tcp_segment(s, n)->sent;
	}
	cr_assert_eq(listed, plain);
}

static void watch_after(struct tap *tap, uint32_t host, const struct packet *packet)
{
	struct watch *w = tap->owner;
	const struct tcp_conn *conn = run_conn(&w->run, packet->flow);

	(void)host;
	if (conn->open && packet->generation == conn->generation)
		check_record(conn);
	if (!w->have || packet->kind != PACKET_DATA || ++w->since < w->behind)
		return;
	w->have = false;
	tap->inner->deliver(tap->inner_self, host, &w->late);
}

static bool watch_pass(struct tap *tap, uint32_t host, struct packet *packet)
{
	struct watch *w = tap->owner;
	bool first = !(packet->flags & PACKET_RETRANSMIT);

	(void)host;
	if (packet->kind != PACKET_DATA)
		return true;
	for (size_t i = 0; i < w->losses; i++)
		if (first && packet->flow == w->loser && packet->seq == w->lost[i] * MSS)
			return false;
	w->data++;
	w->again += !first;
	if (!w->held || !first || (packet->seq != w->held * MSS && packet->seq != w->twice * MSS))
		return true;
	w->late = *packet;
	w->have = true;
	w->since = 0;
	w->behind = packet->seq == w->held * MSS ? 2 : 4;
	return false;
}

static struct tcp_conn *go(struct watch *w, const char *size, const char *settings)
{
	run_build(&w->run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2 },"
		  " 'tcp': { 'min_rto': '5ms', 'initial_rto': '5ms', %s },"
		  " 'flows': [ { 'size': '%s', 'pairs': [[0, 1]], 'transport': 'reno' } ] }",
		  settings, size);
	tap_in(&w->tap, &w->run, "tcp", watch_pass, w);
	w->tap.after = watch_after;
	run_to(&w->run, END_ALL_DONE);
	return run_conn(&w->run, 0);
}

/* Four losses of forty segments, two of them neighbours: each is sent again once, nothing else is,
 * within one recovery and with one cut. NewReno needs a round trip for each. */
Test(tcp_sack, only_what_is_lost)
{
	for (size_t i = 0; i < 2; i++) {
		struct watch w = { .lost = { 1, 4, 5, 8 }, .losses = 4 };
		char settings[99];
		const struct tcp_conn *conn;

		snprintf(settings, sizeof(settings), "'recovery': '%s', 'initial_window': 40",
			 both[i]);
		conn = go(&w, "200kB", settings);
		cr_expect_eq(w.again, 4, "%s: %lu", both[i], (unsigned long)w.again);
		cr_expect_eq(conn->stats.recoveries, 1, "%s: %lu", both[i],
			     (unsigned long)conn->stats.recoveries);
		cr_expect_eq(conn->stats.timeouts, 0);
		run_free(&w.run);
	}
}

/* After one loss the window is half of what it was, within a round trip (RFC 6937). */
Test(tcp_sack, one_cut)
{
	struct watch w = { .lost = { 3 }, .losses = 1 };
	const struct tcp_conn *conn = go(&w, "58400B", "'recovery': 'rack', 'initial_window': 40");

	cr_expect_eq(w.again, 1);
	cr_expect_float_eq(conn->tx.cc.ssthresh, 20 * MSS, 1.0);
	cr_expect_float_eq(conn->tx.inflation, 0, 0);
	run_free(&w.run);
}

/* The last segment is lost: a probe sends it again two round trips after the last ACK (RFC 8985,
 * section 7.2), not after the timeout of 5 ms. */
Test(tcp_sack, tail_loss)
{
	struct watch w = { .lost = { 9 }, .losses = 1 };
	const struct tcp_conn *conn = go(&w, "14600B", "'recovery': 'rack'");
	sim_time end = w.run.s->sim.now, frame = 1230400;

	cr_expect_eq(conn->stats.timeouts, 0);
	cr_expect_eq(w.again, 1);
	/* the ninth ACK arrives 8 frames after the first; srtt lies between RTT and RTT + 8 frames
	 */
	cr_expect_geq(end, RTT + 8 * frame + 2 * RTT + RTT - 67200 * 2 - 2500000);
	cr_expect_leq(end, RTT + 8 * frame + 2 * (RTT + 8 * frame) + RTT);
	run_free(&w.run);
}

/* A segment is lost behind a queue, and the last one, too. The repaired one finds no queue, so its
 * round trip is shorter than all before. It tells of the last one all the same (RFC 8985, section
 * 6.2, step 1 before step 2), so nothing waits for a timeout. */
Test(tcp_sack, repaired_behind_no_queue)
{
	struct watch w = { .loser = 4, .lost = { 1, 9 }, .losses = 2 };
	const struct tcp_conn *conn;

	run_build(&w.run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 6 },"
			  " 'tcp': { 'initial_window': 40, 'recovery': 'rack' },"
			  " 'flows': [ { 'size': '58400B', 'pairs': [[0,5],[1,5],[2,5],[3,5]],"
			  "   'transport': 'reno' },"
			  "  { 'size': '14600B', 'pairs': [[4,5]], 'arrival': { 'at': '60us' }, "
			  "'transport': 'reno' } ] }");
	tap_in(&w.tap, &w.run, "tcp", watch_pass, &w);
	w.tap.after = watch_after;
	run_to(&w.run, END_ALL_DONE);
	conn = run_conn(&w.run, 4);
	cr_expect_eq(w.again, 2);
	cr_expect_eq(conn->stats.recoveries, 1);
	cr_expect_eq(conn->stats.timeouts, 0);
	run_free(&w.run);
}

/* Nothing comes back: the first timeout is the round trip of the handshake and, where Linux has it,
 * min_rto more, not min_rto in all. */
Test(tcp_sack, timeout_is_srtt_and_more)
{
	static const char *const floors[] = { "timeout", "variance" };

	for (size_t i = 0; i < 2; i++) {
		struct watch w = { .lost = { 9 }, .losses = 1 };
		char settings[99];
		const struct tcp_conn *conn;

		snprintf(settings, sizeof(settings), "'recovery': 'sack', 'rto_floor': '%s'",
			 floors[i]);
		conn = go(&w, "14600B", settings);
		cr_expect_eq(conn->stats.timeouts, 1);
		cr_expect_eq(conn->tx.rto, 5 * PS_PER_MS + (i ? conn->tx.srtt : 0));
		run_free(&w.run);
	}
}

/* A segment that comes two places late is sent again by neither: fewer than three came before it.
 * It teaches RACK that there is reordering. One that comes four places late is sent again by RFC
 * 6675 alone, as four frames are less than a quarter of the round trip. */
Test(tcp_sack, reordering)
{
	for (size_t i = 0; i < 2; i++) {
		struct watch w = { .held = 20, .twice = 60, .behind = 2 };
		char settings[99];

		snprintf(settings, sizeof(settings), "'recovery': '%s', 'initial_window': 100",
			 both[i]);
		run_build(
			&w.run,
			"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2,"
			"   'link': { 'delay': '50us' } }, 'tcp': { %s },"
			" 'flows': [ { 'size': '1MB', 'pairs': [[0, 1]], 'transport': 'reno' } ] }",
			settings);
		tap_in(&w.tap, &w.run, "tcp", watch_pass, &w);
		w.tap.after = watch_after;
		run_to(&w.run, END_ALL_DONE);
		cr_expect_eq(run_conn(&w.run, 0)->stats.retransmissions, i ? 0 : 1, "%s: %lu",
			     both[i], (unsigned long)run_conn(&w.run, 0)->stats.retransmissions);
		run_free(&w.run);
	}
}

/* Every single segment of twenty is lost in turn, and every pair: all arrives, without a timeout
 * with RACK, and what is sent again is what was lost and at most a probe. */
Test(tcp_sack, every_loss)
{
	for (uint64_t a = 0; a < 20; a++) {
		for (uint64_t b = a; b < 20; b++) {
			struct watch w = { .lost = { a, b }, .losses = 2 };
			const struct tcp_conn *conn = go(&w, "29200B", "'recovery': 'rack'");

			cr_expect_eq(conn->stats.timeouts, 0, "%lu %lu", (unsigned long)a,
				     (unsigned long)b);
			cr_expect_leq(w.again, 3);
			cr_expect_eq(conn->rx.next, 29200);
			run_free(&w.run);
		}
	}
}

/* Loss at random on both ways: everything arrives, and what is sent again is what was lost, less 4
 * sigma, and at most a third more (ACKs are lost, too). */
Test(tcp_sack, random_loss)
{
	static const double losses[] = { 1e-4, 1e-3, 1e-2, 1e-1 };

	for (int k = 0; k < 16; k++) {
		double loss = losses[k / 4], p = 1 - (1 - loss) * (1 - loss), again;
		struct watch w = { .losses = 0 };
		uint64_t retransmissions = 0;

		run_build(&w.run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8,"
			  "  'link': { 'rate': '10Gbps', 'delay': '1us', 'loss': %f } },"
			  " 'tcp': { 'min_rto': '1ms', 'initial_rto': '1ms', 'recovery': '%s' },"
			  " 'flows': [ { 'size': '200kB', 'pairs': 'permutation', 'count': 40,"
			  "   'transport': '%s' } ] }",
			  loss, both[k % 2], k / 2 % 2 ? "cubic" : "dctcp");
		tap_in(&w.tap, &w.run, "tcp", watch_pass, &w);
		w.tap.after = watch_after;
		run_to(&w.run, END_ALL_DONE);
		for (uint32_t c = 0; c < 40; c++) {
			cr_assert_eq(run_conn(&w.run, c)->rx.next, 200000);
			retransmissions += run_conn(&w.run, c)->stats.retransmissions;
		}
		again = (double)retransmissions / 5480;
		printf("loss %g, %s: %.5f sent again\n", loss, both[k % 2], again);
		cr_expect_geq(again, p - 4 * sqrt(p / 5480));
		cr_expect_leq(again, 1.33 * p / (1 - p) + 4 * sqrt(p / 5480) + 0.002);
		run_free(&w.run);
	}
}

/* --- CUBIC --- */

struct cubic_conf {
	double c, beta;
	bool fast_convergence;
	int slow_start, rules;
};

/* A loss at 1,000 packets, then round trips of 100 ms: the window follows C (t - K)^3 + W_max (RFC
 * 9438, equation 1), where Reno's is smaller. Tolerance: it moves towards where it should be one
 * round trip later. */
Test(cubic, follows_the_curve)
{
	const struct cubic_conf conf = { .c = 0.4, .beta = 0.7, .fast_convergence = true };
	const struct cc_ops *ops = cc_named("cubic");
	struct cc cc = { .cwnd = 1000 * MSS, .ssthresh = INFINITY, .mss = MSS, .conf = &conf };
	double k = pow(1000 * 0.3 / 0.4, 1.0 / 3), t = 0;

	ops->on_loss(&cc, 0);
	cr_expect_float_eq(cc.cwnd, 700 * MSS, 1e-3);
	while (t < 20) {
		double packets = floor(cc.cwnd / MSS), want;

		for (int i = 0; i < packets; i++) {
			struct cc_ack ack = { .acked = MSS,
					      .growth = MSS,
					      .rtt = PS_PER_S / 10,
					      .now = PS_PER_S +
						     (sim_time)((t + 0.1 * i / packets) * 1e12) };

			ops->on_ack(&cc, &ack);
		}
		t += 0.1;
		want = 0.4 * pow(t - k, 3) + 1000;
		cr_expect_float_eq(cc.cwnd / MSS, want, 0.02 * want, "%g s: %g, not %g", t,
				   cc.cwnd / MSS, want);
	}
	/* below the last maximum: fast convergence aims lower (section 4.7) */
	cc.cwnd = 500 * MSS;
	ops->on_loss(&cc, 0);
	cr_expect_float_eq(cc.ssthresh, 350 * MSS, 1e-3);
}

/* Slow start ends before a loss: with HyStart++ when round trips have grown by 4 ms, after five
 * rounds of slower growth (RFC 9406); with Linux's HyStart when ACKs come without a gap for half a
 * round trip. Without either, never. */
Test(cubic, slow_start_ends)
{
	for (int kind = 0; kind < 3; kind++) {
		const struct cubic_conf conf = { .c = 0.4, .beta = 0.7, .slow_start = kind };
		const struct cc_ops *ops = cc_named("cubic");
		struct cc cc = {
			.cwnd = 10 * MSS, .ssthresh = INFINITY, .mss = MSS, .conf = &conf
		};
		uint64_t una = 0;
		int rounds = 0;

		for (; rounds < 12 && isinf(cc.ssthresh); rounds++) {
			uint64_t end = una + (uint64_t)cc.cwnd;
			sim_time rtt = (20 + (sim_time)rounds * 5) * PS_PER_MS;
			sim_time now = PS_PER_S + (sim_time)rounds * 100 * PS_PER_MS;

			for (; una + MSS <= end; now += PS_PER_MS) {
				struct cc_ack ack = { .ack = una += MSS,
						      .snd_nxt = end,
						      .acked = MSS,
						      .growth = MSS,
						      .rtt = rtt,
						      .now = now };

				ops->on_ack(&cc, &ack);
			}
		}
		cr_expect_eq(isinf(cc.ssthresh), kind == 2, "%d", kind);
		cr_expect_leq(rounds, kind == 0 ? 2 : 8 + 4 * (kind == 2), "%d: %d", kind, rounds);
	}
}

/* Linux's rules: a cut leaves whole packets; before the first loss a window that is no longer in
 * slow start grows by a twentieth a round trip at least; a timeout makes the next loss a first. */
Test(cubic, rules_of_linux)
{
	const struct cubic_conf conf = { .c = 0.4, .beta = 0.7, .rules = 1 };
	const struct cc_ops *ops = cc_named("cubic");
	struct cc cc = { .cwnd = 99.9 * MSS, .ssthresh = 99 * MSS, .mss = MSS, .conf = &conf };
	struct cc_ack ack = {
		.acked = 100 * MSS, .growth = 100 * MSS, .rtt = PS_PER_MS, .now = PS_PER_S
	};

	ops->on_ack(&cc, &ack); /* the plateau begins */
	cc.cwnd = 100 * MSS;
	ops->on_ack(&cc, &ack);
	cr_expect_float_eq(cc.cwnd, 105 * MSS, 1e-3, "%g", cc.cwnd / MSS);
	cc.cwnd = 101.9 * MSS;
	ops->on_loss(&cc, PS_PER_S);
	cr_expect_float_eq(cc.cwnd, 70 * MSS, 1e-3, "%g", cc.cwnd / MSS);
	ops->on_ack(&cc, &ack);
	cr_expect_lt(cc.cwnd, 72 * MSS, "%g", cc.cwnd / MSS);
	ops->on_timeout(&cc, 1, 0, PS_PER_S);
	cr_expect_float_eq(cc.cwnd, MSS, 0);
	cc.ssthresh = cc.cwnd = 50 * MSS;
	ops->on_ack(&cc, &ack);
	ack.growth = 50 * MSS;
	ops->on_ack(&cc, &ack);
	cr_expect_float_eq(cc.cwnd, 52.5 * MSS, 1e-3, "%g", cc.cwnd / MSS);
}
