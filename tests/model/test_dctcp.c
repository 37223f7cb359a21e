/* DCTCP: the algorithm on hand-made ACKs, and what it makes of a queue. */
#include "model_run.h"

#include "transport/cc/dctcp.h"

#include <math.h>

#define MSS 1460.0

/* A sender's side without a network: bytes are acknowledged as told. */
struct bench {
	struct cc cc;
	const struct cc_ops *ops;
	uint64_t una, nxt;
};

static const struct dctcp_conf published = { .g = 1.0 / 16 };

static void bench_init(struct bench *b, const char *name, double segments)
{
	*b = (struct bench){ .ops = cc_named(name), .nxt = (uint64_t)(segments * MSS) };
	b->cc = (struct cc){
		.cwnd = segments * MSS, .ssthresh = INFINITY, .mss = MSS, .conf = &published
	};
	if (b->ops->init)
		b->ops->init(&b->cc);
}

/* `bytes` more are acknowledged; afterwards `flight` bytes are outstanding. */
static void ack(struct bench *b, uint64_t acked, bool ece, uint64_t flight)
{
	struct cc_ack event = { .acked = acked, .ece = ece, .growth = acked };

	b->una += acked;
	b->nxt = b->una + flight > b->nxt ? b->una + flight : b->nxt;
	event.ack = b->una;
	event.snd_nxt = b->nxt;
	b->ops->on_ack(&b->cc, &event);
}

/* A whole window in one ACK, nothing outstanding behind it. */
static void window(struct bench *b, bool ece)
{
	b->nxt = b->una + 14600;
	ack(b, 14600, ece, 0);
}

/* RFC 8257, 3.3: alpha = (1-g) alpha + g M. From 1: k windows without marks give
 * (15/16)^k, fully marked ones keep 1, k marked ones after that give
 * 1 - (1 - a)(15/16)^k; half marked windows lead to 1/2. Tolerance: rounding. */
Test(dctcp, alpha)
{
	struct bench b;
	double a;

	bench_init(&b, "dctcp", 10);
	cr_assert_float_eq(dctcp_of(&b.cc)->alpha, 1, 0);
	for (int k = 1; k <= 100; k++) {
		window(&b, false);
		cr_assert_float_eq(dctcp_of(&b.cc)->alpha, pow(15.0 / 16, k), 1e-14);
	}
	a = dctcp_of(&b.cc)->alpha;
	for (int k = 1; k <= 300; k++) {
		window(&b, true);
		cr_assert_float_eq(dctcp_of(&b.cc)->alpha, 1 - (1 - a) * pow(15.0 / 16, k), 1e-13);
	}
	cr_expect_gt(dctcp_of(&b.cc)->alpha, 0.99999);
	cr_expect_leq(dctcp_of(&b.cc)->alpha, 1);
	for (int k = 0; k < 300; k++) {
		b.nxt = b.una + 14600;
		ack(&b, 7300, true, 0);
		ack(&b, 7300, false, 0);
	}
	/* an update sees one half or the other, whichever ACK passes the end: 1/2 in the mean */
	cr_expect_float_eq(dctcp_of(&b.cc)->alpha, 0.5, 0.04);
}

/* The window of observation ends when an ACK passes what had been sent at its
 * start, and its fraction is of bytes, not of ACKs: M = 1460 / 14600. */
Test(dctcp, observation_window)
{
	struct bench b;

	bench_init(&b, "dctcp", 10);
	ack(&b, 1460, false, 14600); /* the first ACK passes 0; window_end = 16060 */
	cr_assert_float_eq(dctcp_of(&b.cc)->alpha, 15.0 / 16, 1e-15);
	cr_assert_eq(dctcp_of(&b.cc)->window_end, 16060);
	dctcp_of(&b.cc)->cwr_end = UINT64_MAX; /* only the estimate matters here */
	ack(&b, 1460, true, 14600);
	ack(&b, 13140, false, 14600); /* una = 16060: not beyond */
	cr_assert_float_eq(dctcp_of(&b.cc)->alpha, 15.0 / 16, 1e-15);
	ack(&b, 1460, false, 14600);
	cr_assert_float_eq(dctcp_of(&b.cc)->alpha, 15.0 / 16 * 15 / 16 + 1460.0 / 16060 / 16,
			   1e-15);
}

/* Alpha is still 1 at the first mark, so slow start ends with a halving; no growth
 * and no second cut before the window that was outstanding is acknowledged. */
Test(dctcp, one_cut_per_window)
{
	struct bench b;
	double alpha;

	bench_init(&b, "dctcp", 10);
	ack(&b, 1460, true, 14600);
	cr_assert_float_eq(b.cc.cwnd, 7300, 1e-9);
	cr_assert_float_eq(b.cc.ssthresh, 7300, 1e-9);
	for (int i = 0; i < 9; i++) { /* up to cwr_end = 16060 less one segment */
		ack(&b, 1460, i % 2, 7300);
		cr_assert_float_eq(b.cc.cwnd, 7300, 1e-9, "in CWR, ACK %d", i);
	}
	cr_assert(dctcp_of(&b.cc)->cwr_end);
	alpha = dctcp_of(&b.cc)->alpha;
	ack(&b, 1460, true, 7300); /* covers the window: cut again, with the alpha of now */
	cr_assert_float_eq(dctcp_of(&b.cc)->alpha, alpha, 0); /* 16060 is not beyond window_end */
	cr_assert_float_eq(b.cc.cwnd, 7300 * (1 - alpha / 2), 1e-9);
	cr_assert(dctcp_of(&b.cc)->cwr_end);
}

static const struct dctcp_conf above = { .g = 1.0 / 16, .cwr_above = true };
static const struct dctcp_conf whole = { .g = 1.0 / 16, .whole_packets = true };
static const struct dctcp_conf prr = { .g = 1.0 / 16, .prr = true };

/* Linux: the ACK of all that was sent before a cut does not end it, the next one does. */
Test(dctcp, cwr_above)
{
	struct bench b;

	bench_init(&b, "dctcp", 10);
	b.cc.conf = &above;
	ack(&b, 1460, true, 14600);
	ack(&b, 14600, true, 7300);
	cr_assert_float_eq(b.cc.cwnd, 7300, 1e-9, "not at the end of the window");
	ack(&b, 1460, true, 7300);
	cr_assert_lt(b.cc.cwnd, 7300);
}

/* Linux: a cut takes whole packets, growth gives one after a whole window, alpha has ten bits, of
 * which the last 15 go at once. */
Test(dctcp, whole_packets)
{
	struct bench b;

	bench_init(&b, "dctcp", 11);
	b.cc.conf = &whole;
	ack(&b, 1460, true, 16060);
	cr_assert_float_eq(b.cc.cwnd, 6 * MSS, 1e-9, "11 packets less 11 / 2");
	ack(&b, 16060, false, 8760); /* ends the cut, and counts */
	b.cc.cwnd = b.cc.ssthresh = 6 * MSS;
	dctcp_of(&b.cc)->counted = 0;
	for (int i = 1; i <= 6; i++) {
		ack(&b, 1460, false, 8760);
		cr_assert_float_eq(b.cc.cwnd, (i < 6 ? 6 : 7) * MSS, 1e-9, "after %d packets", i);
	}
	dctcp_of(&b.cc)->alpha = 16.0 / 1024;
	window(&b, false);
	cr_assert_float_eq(dctcp_of(&b.cc)->alpha, 15.0 / 1024, 0);
	window(&b, false);
	cr_assert_float_eq(dctcp_of(&b.cc)->alpha, 0, 0);
}

/* RFC 6937: from 20 packets to 10, a packet leaves for every two that arrive, until 10 are in
 * flight; then one for each. */
Test(dctcp, prr)
{
	uint64_t flight = 20;
	struct bench b;

	bench_init(&b, "dctcp", 20);
	b.cc.conf = &prr;
	for (uint64_t i = 1; i <= 20; i++) {
		ack(&b, 1460, i == 1, (flight - 1) * 1460);
		flight = (uint64_t)(b.cc.cwnd / MSS + 0.5);
		cr_assert_eq(flight, i < 19 ? 20 - i + (i + 1) / 2 : 10, "%d have arrived", (int)i);
		b.nxt = b.una + flight * 1460;
	}
	cr_assert_float_eq(b.cc.cwnd, 10.1 * MSS, 1e-9, "the ACK that ends the cut lets it grow");
}

/* RFC 8257, 3.3: alpha is updated before it is used for the cut. */
Test(dctcp, alpha_first)
{
	struct bench b;

	bench_init(&b, "dctcp", 10);
	for (int i = 0; i < 32; i++)
		window(&b, false);
	b.cc.cwnd = 100 * MSS;
	window(&b, true);
	cr_expect_float_eq(b.cc.cwnd, 100 * MSS * (1 - (pow(15.0 / 16, 33) + 1.0 / 16) / 2), 1e-6);
}

/* Floor of a cut: 2 MSS; a window that is below it (after a timeout) stays. */
Test(dctcp, floor)
{
	struct bench b;

	bench_init(&b, "dctcp", 3);
	for (int i = 0; i < 10; i++)
		window(&b, true);
	cr_expect_float_eq(b.cc.cwnd, 2 * MSS, 0);
	cr_expect_float_eq(b.cc.ssthresh, 2 * MSS, 0);
	b.ops->on_timeout(&b.cc, 1, 2920, 0);
	cr_assert_float_eq(b.cc.cwnd, MSS, 0);
	window(&b, true);
	cr_expect_float_eq(b.cc.cwnd, MSS, 0, "a cut that opens the window");
	cr_expect_float_eq(b.cc.ssthresh, 2 * MSS, 0);
}

/* Growth: a byte per byte in slow start and not beyond ssthresh, then MSS a window. */
Test(dctcp, growth)
{
	struct bench b;
	struct cc_ack idle = { .ack = 1460, .acked = 1460, .snd_nxt = 20000 };

	for (int k = 0; k < 2; k++) {
		bench_init(&b, k ? "dctcp" : "reno", 10);
		ack(&b, 14600, false, 29200);
		cr_expect_float_eq(b.cc.cwnd, 29200, 0);
		b.cc.ssthresh = 30000;
		ack(&b, 2920, false, 29200); /* 800 bytes of slow start, 2120 of avoidance */
		cr_expect_float_eq(b.cc.cwnd, 30000 + MSS * 2120 / 30000, 1e-9);
		b.cc.cwnd = b.cc.ssthresh = 10 * MSS;
		ack(&b, 14600, false, 29200);
		cr_expect_float_eq(b.cc.cwnd, 11 * MSS, 1e-9);
		b.ops->on_ack(&b.cc, &idle); /* limited by the application: growth 0 */
		cr_expect_float_eq(b.cc.cwnd, 11 * MSS, 1e-9);
	}
}

/* Loss halves, whatever alpha is; marks during recovery do not cut again. */
Test(dctcp, loss)
{
	struct bench b;
	struct cc_ack marked = { .ack = 1460,
				 .acked = 1460,
				 .ece = true,
				 .in_recovery = true,
				 .growth = 1460,
				 .snd_nxt = 14600 };

	bench_init(&b, "dctcp", 10);
	for (int i = 0; i < 100; i++)
		window(&b, false);
	b.cc.cwnd = 20 * MSS;
	b.ops->on_loss(&b.cc, 0);
	cr_expect_float_eq(b.cc.cwnd, 10 * MSS, 0);
	cr_expect_float_eq(b.cc.ssthresh, 10 * MSS, 0);
	for (int i = 0; i < 5; i++) {
		marked.ack = b.una += 1460;
		b.ops->on_ack(&b.cc, &marked);
	}
	cr_expect_float_eq(b.cc.cwnd, 10 * MSS, 0);
	/* a timeout ends CWR: slow start begins with the next ACK */
	dctcp_of(&b.cc)->cwr_end = UINT64_MAX;
	b.ops->on_timeout(&b.cc, 1, 29200, 0);
	cr_expect_float_eq(b.cc.ssthresh, 10 * MSS, 0);
	ack(&b, 1460, false, 2920);
	cr_expect_float_eq(b.cc.cwnd, 2 * MSS, 0);
}

/* --- in a network --- */

/* Two long flows into one port. SIGCOMM'10, section 3.3: the queue moves between
 * Qmax - A and Qmax = K + N, A = sqrt(2 N (C RTT + K)) / 2; here C RTT = 7 packets,
 * K = 20, N = 2: 17..22. Tolerance 3 packets: ACKs come in bursts and the model
 * has one mark per window and flow. Throughput >= 95 % of the goodput 1460/1538;
 * here the queue never runs dry, so the port is always busy. */
Test(dctcp, queue_around_threshold)
{
	struct run run;
	struct port *port;
	double sum = 0, min = 1e9, max = 0, rate;
	uint64_t before, after;
	int samples = 0;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 3,"
			" 'switch': { 'ecn': { 'threshold': '20pkt' } },"
			" 'host': { 'jitter': '0.2us' } },"
			" 'stop': { 'when': 'time', 'after': '1s' },"
			" 'flows': [ { 'size': '200MB', 'pairs': [[0, 2], [1, 2]] } ] }");
	port = &run.s->topo.net.ports[run.s->topo.net.hosts + 2];
	run_until(&run, 10 * PS_PER_MS);
	before = run_conn(&run, 0)->rx.next + run_conn(&run, 1)->rx.next;
	for (sim_time t = 10 * PS_PER_MS; t < 60 * PS_PER_MS; t += 10 * PS_PER_US, samples++) {
		double queue;

		run_until(&run, t);
		queue = (double)port_queue_bytes(port, run.s->sim.now) / 1518;
		sum += queue;
		min = fmin(min, queue);
		max = fmax(max, queue);
	}
	after = run_conn(&run, 0)->rx.next + run_conn(&run, 1)->rx.next;
	rate = (double)(after - before) * 8 / 0.05 / (10e9 * 1460 / 1538);
	printf("queue %.1f..%.1f, mean %.1f packets; throughput %.4f\n", min, max, sum / samples,
	       rate);
	cr_expect(sum / samples > 14 && sum / samples < 25);
	cr_expect_geq(min, 5);
	cr_expect_leq(max, 30);
	cr_expect_geq(rate, 0.95);
	run_free(&run);
}

/* N equal senders that start together into one port: shares of the bytes
 * delivered, and of the segments sent again, relative to the mean. */
struct contest {
	const char *jitter, *transport, *queue, *after;
	double share[8], again[8];
};

static void compete(struct contest *c, unsigned n)
{
	struct run run;
	double *share = c->share, *again = c->again, sum = 0, sum_again = 0;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': %u,"
		  " 'switch': { %s }, 'host': { 'jitter': '%s' } },"
		  " 'stop': { 'when': 'time', 'after': '%s' }, 'tcp': { 'min_rto': '1ms' },"
		  " 'flows': [ { 'size': '10GB', 'pairs': 'incast', 'fan_in': %u,"
		  "   'transport': '%s' } ] }",
		  n + 1, c->queue, c->jitter, c->after, n, c->transport);
	run_to(&run, END_TIME);
	for (unsigned i = 0; i < n; i++) {
		share[i] = (double)run_conn(&run, i)->rx.next;
		again[i] = (double)run_conn(&run, i)->stats.retransmissions;
		sum += share[i];
		sum_again += again[i];
	}
	printf("%u %s senders, jitter %s: shares", n, c->transport, c->jitter);
	for (unsigned i = 0; i < n; i++)
		printf(" %.3f", share[i] *= n / sum);
	printf("; sent again %.0f", sum_again);
	for (unsigned i = 0; i < n; i++)
		printf(" %.2f", again[i] = sum_again > 0 ? again[i] * n / sum_again : 1);
	printf("\n");
	run_free(&run);
}

/* With 0.2 us of host jitter, equal senders share within 2 %. Two seconds are
 * 40,000 round trips of 50 us; after a fifth of that, shares still wander by 4 %. */
Test(dctcp, equal_shares)
{
	struct contest c = { "0.2us", "dctcp", "'ecn': { 'threshold': '40pkt' }", "2s" };

	for (unsigned n = 2; n <= 8; n *= 4) {
		compete(&c, n);
		for (unsigned i = 0; i < n; i++)
			cr_expect_float_eq(c.share[i], 1, 0.02, "sender %u of %u: %f", i, n,
					   c.share[i]);
	}
}

/* Without any jitter senders run in lock-step, and which of them finds the queue
 * above K is a matter of phase (Floyd and Jacobson 1992): shares may differ. Ties
 * are settled by a hash of the time, so nobody is starved. */
Test(dctcp, phase_effect)
{
	struct contest c = { "0s", "dctcp", "'ecn': { 'threshold': '85pkt' }", "400ms" };

	for (unsigned n = 2; n <= 8; n *= 2) {
		compete(&c, n);
		for (unsigned i = 0; i < n; i++)
			cr_expect_gt(c.share[i], 0.2, "sender %u of %u starves: %f", i, n,
				     c.share[i]);
	}
}

/* Tail drop has no favourite at ties: with a small buffer and no marks, every
 * sender loses about as much as the others. 1,500 losses each, in clusters of some
 * ten: 3 sigma is 25 %; without jitter phases last, so only a factor of 2. */
Test(dctcp, equal_losses)
{
	for (int jitter = 0; jitter < 2; jitter++) {
		struct contest c = { jitter ? "0.2us" : "0s", "reno",
				     "'buffer': '50kB', 'ecn': false", "400ms" };
		double min = jitter ? 0.75 : 0.5;

		for (unsigned n = 2; n <= 8; n *= 2) {
			compete(&c, n);
			for (unsigned i = 0; i < n; i++)
				cr_expect(c.again[i] > min && c.again[i] < 2 - min,
					  "sender %u of %u: %f", i, n, c.again[i]);
		}
	}
}
