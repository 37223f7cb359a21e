/* Swift (SIGCOMM 2020): the rules on hand-made ACKs, and the round trip that it keeps. */
#include "model_run.h"

#include "transport/roce_conn.h"

#include <math.h>
#include <signal.h>

#define MSS 1460.0

/* The defaults of /tcp/control/swift. The hop is what one switch adds at 10 Gbps: twice 1 us of a
 * link and 500 ns of its own, 1538 bytes there and 84 back. */
#define TARGET_US 25.0
#define HOP_US    (2 * 1.5 + (1538 + 84) * 8e-4)
#define RANGE_US  50.0
#define LEAST     0.1
#define MOST      100.0

/* Section 3.5, of a window in packets over one switch. */
static double target_us(double window)
{
	double alpha = RANGE_US / (1 / sqrt(LEAST) - 1 / sqrt(MOST));

	return TARGET_US + HOP_US +
	       fmax(0, fmin(RANGE_US, alpha / sqrt(window) - alpha / sqrt(MOST)));
}

/* A sender of `window` packets over one switch, in a run that gives it its parameters. */
static struct cc *sender(struct run *run, double window)
{
	struct cc *cc;

	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2 },"
		  " 'stop': { 'when': 'time', 'after': '1us' },"
		  " 'flows': [ { 'size': '1MB', 'pairs': [[0, 1]], 'transport': 'swift' } ] }");
	run_until(run, 1);
	cc = &run_conn(run, 0)->tx.cc;
	cc->cwnd = window * MSS;
	cr_assert_eq(cc->hops, 1);
	return cc;
}

static void ack(struct cc *cc, double rtt_us, double now_us, double packets)
{
	struct cc_ack event = { .acked = (uint64_t)(packets * MSS),
				.growth = (uint64_t)(packets * MSS),
				.now = (sim_time)(now_us * 1e6),
				.rtt = (sim_time)(rtt_us * 1e6) };

	cc_named("swift")->on_ack(cc, &event);
}

/* Algorithm 1: below the target + ai / cwnd a packet, above it one cut by
 * beta * (delay - target) / delay a round trip, at most by max_mdf. */
Test(swift, increase_and_decrease)
{
	struct run run;
	struct cc *cc = sender(&run, 16);
	double aim = target_us(16), window;

	ack(cc, aim - 0.01, 1000, 1);
	cr_expect_float_eq(cc->cwnd / MSS, 16 + 1.0 / 16, 1e-9);
	cc->cwnd = 16 * MSS;
	ack(cc, aim * 1.25, 2000, 1);
	window = 16 * (1 - 0.8 * 0.25 / 1.25);
	cr_expect_float_eq(cc->cwnd / MSS, window, 1e-6);
	ack(cc, aim * 2, 2000 + aim, 1); /* within a round trip: no second cut */
	cr_expect_float_eq(cc->cwnd / MSS, window, 1e-6);
	ack(cc, aim * 100, 9000, 1);
	cr_expect_float_eq(cc->cwnd / MSS, window / 2, 1e-6);
	run_free(&run);
}

/* Algorithm 1: a window of half a packet is a packet every two round trips; below a packet it
 * grows by ai for each packet acknowledged. From a packet on there is no pacing. */
Test(swift, below_a_packet)
{
	struct run run;
	struct cc *cc = sender(&run, 1);

	ack(cc, 1000, 5000, 1);
	cr_expect_float_eq(cc->cwnd / MSS, 0.5, 1e-9);
	cr_expect_eq(cc->gap, 2000 * PS_PER_US);
	ack(cc, 20, 5001, 0.25);
	cr_expect_float_eq(cc->cwnd / MSS, 0.75, 1e-9);
	ack(cc, 20, 5002, 0.5);
	cr_expect_float_eq(cc->cwnd / MSS, 1.25, 1e-9);
	cr_expect_eq(cc->gap, 0);
	ack(cc, 30000000000, 40000000000, 1); /* 0 would be no pacing */
	cr_expect_eq(cc->gap, UINT64_C(48000000000) * PS_PER_US);
	run_free(&run);
}

/* N long flows into one port of 10 Gbps: the port is always busy, nothing is lost, the windows are
 * alike, and the round trip is the target of the window that each has, i.e. the fixed point of
 *     w = RTT * (10 Gbps * 1460 / 1538) / (N * mss),  RTT = target(w).
 * Tolerance 12 %: a window grows by a packet before each cut. With 200 flows windows are below a
 * packet, and it is pacing that keeps the queue short: with a packet each, the round trip would be
 * 246 us. There an ACK adds a whole packet (algorithm 1), so windows swing by several times and the
 * mean is up to 50 % above the target. */
static void incast(unsigned n, double tolerance, double least_jain)
{
	struct run run;
	const struct link_class *link;
	double w = 1, rtt = 0, moved = 0, sum = 0, squares = 0, rate;
	unsigned samples = 0;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': %u,"
		  " 'switch': { 'buffer': '2MB' }, 'host': { 'jitter': '0.2us' } },"
		  " 'stop': { 'when': 'time', 'after': '60ms' }, 'tcp': { 'initial_window': 1 },"
		  " 'flows': [ { 'size': '10GB', 'pairs': 'incast', 'fan_in': %u,"
		  "   'transport': 'swift' } ] }",
		  n + 1, n);
	run_until(&run, 20 * PS_PER_MS);
	for (unsigned i = 0; i < n; i++)
		moved -= (double)run_conn(&run, i)->rx.next;
	for (sim_time t = 20 * PS_PER_MS; t < 59 * PS_PER_MS; t += 50 * PS_PER_US, samples++) {
		run_until(&run, t);
		rtt += (double)run_conn(&run, samples % n)->tx.srtt / 1e6;
	}
	rtt /= samples;
	for (unsigned i = 0; i < n; i++) {
		double share = (double)run_conn(&run, i)->rx.next;

		sum += share;
		squares += share * share;
		cr_expect_eq(run_conn(&run, i)->stats.retransmissions, 0);
	}
	for (int k = 0; k < 200; k++)
		w = 0.5 * w + 0.5 * target_us(w) * 1e-6 * (10e9 * 1460 / 1538) / 8 / (n * MSS);
	link = port_class(&run.s->topo.net, &run.s->topo.net.ports[0]);
	moved += sum;
	rate = moved * 8 / ((59.0 - 20) * 1e-3) / ((double)link->rate * 1460 / 1538);
	printf("%u flows: round trip %.1f us, target %.1f us at %.2f packets; throughput %.3f\n", n,
	       rtt, target_us(w), w, rate);
	cr_expect_float_eq(rtt / target_us(w), 1, tolerance);
	cr_expect_geq(rate, 0.97);
	cr_expect_geq(sum * sum / n / squares, least_jain, "Jain's index %f",
		      sum * sum / n / squares);
	run_free(&run);
}

Test(swift, incast)
{
	incast(2, 0.12, 0.99);
	incast(16, 0.12, 0.98);
	incast(200, 0.5, 0.9);
}

static double bytes_moved(const struct run *run, unsigned n, bool roce)
{
	double moved = 0;

	for (unsigned i = 0; i < n; i++)
		moved += (double)(roce ? run->s->roce->conns[i]->rx.bytes
				       : run_conn(run, i)->rx.next);
	return moved;
}

/* What csg-htsim's Swift gives for a target of 26 us (the integer division of the window in its
 * targetDelay() corrected): 9.49 Gbps with any number of flows, and this queue, of packets of 1538
 * bytes that have preamble and gap in them. Ours is 1 to 3 % shorter: there the pacer sends though
 * the packet before is not acknowledged yet, here a window below a packet has one on its way (with
 * that rule here: 0 to 2 %).
 *
 * Around 80 flows windows go to and fro between less and more than a packet. A gap that was set
 * below a packet must not hold back a window that is above one again: with it the link is idle for
 * 11 % of the time. A window that falls below one waits for its gap from the packet before: sent at
 * once, and with gaps that count headers, the queue of 200 flows is 9 % shorter. */
static void against_htsim(unsigned n, double queue_kb, const char *transport)
{
	struct run run;
	double before, goodput, queue = 0;
	bool roce = strcmp(transport, "swift");
	const char *control = roce ? "'roce': { 'mtu': 1460, 'header': 58, 'write_header': 0, "
				   : "'tcp': { 'initial_window': 1, ";
	unsigned samples = 0;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': %u, 'switch': { 'latency':"
		  " '0s', 'buffer': '2MB', 'pause': false, 'ecn': false },"
		  " 'host': { 'jitter': '0.2us' } }, 'stop': { 'when': 'time', 'after': '100ms' },"
		  " %s 'control': { 'swift': { 'hop': '1us' } } }, 'flows': [ { 'size': '10GB',"
		  " 'pairs': 'incast', 'receiver': 0, 'fan_in': %u, 'transport': '%s' } ] }",
		  n + 1, control, n, transport);
	run_until(&run, 20 * PS_PER_MS);
	before = bytes_moved(&run, n, roce);
	for (sim_time t = 20 * PS_PER_MS; t < 99 * PS_PER_MS; t += 10 * PS_PER_US, samples++) {
		run_until(&run, t);
		queue += (double)port_queue_bytes(&run.s->topo.net.ports[n + 1], t) / 1e3;
	}
	queue *= 1538.0 / 1518 / samples;
	goodput = (bytes_moved(&run, n, roce) - before) * 8 / 79e-3 / 1e9;
	printf("%s, %u flows: %.3f Gbps, queue of %.1f KB\n", transport, n, goodput, queue);
	cr_expect_float_eq(goodput, 9.49, 0.03 * 9.49);
	cr_expect_float_eq(queue / queue_kb, 1, 0.03);
	run_free(&run);
}

Test(swift, against_htsim)
{
	static const struct {
		unsigned flows;
		double queue_kb;
	} rows[] = {
		{ 8, 38 }, { 64, 65 }, { 80, 69 }, { 100, 74 }, { 200, 90 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		against_htsim(rows[i].flows, rows[i].queue_kb, "swift");
		against_htsim(rows[i].flows, rows[i].queue_kb, "roce_swift");
	}
}

/* A flow over one switch and three over three switches share the last link, of 40 Gbps: each has a
 * quarter. With 1 us for each switch, whatever its links take, the three have 1.8 Gbps each. */
Test(swift, longer_paths_do_not_starve)
{
	struct run run;
	double moved[4], share;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 4, 'spines': 1,"
		  " 'hosts_per_leaf': 2, 'oversubscription': 0.5, 'link': { 'rate': '40Gbps' },"
		  " 'host': { 'jitter': '0.2us' } }, 'stop': { 'when': 'time', 'after': '60ms'"
		  " }, 'flows': [ { 'size': '10GB', 'pairs': [[1, 0], [2, 0], [4, 0], [6, 0]],"
		  " 'transport': 'swift' } ] }");
	run_until(&run, 10 * PS_PER_MS);
	for (unsigned i = 0; i < 4; i++)
		moved[i] = (double)run_conn(&run, i)->rx.next;
	run_until(&run, 59 * PS_PER_MS);
	for (unsigned i = 0; i < 4; i++) {
		share = ((double)run_conn(&run, i)->rx.next - moved[i]) * 8 / 49e-3 / 1e9;
		printf("flow %u over %u switches: %.2f Gbps\n", i, run_conn(&run, i)->tx.cc.hops,
		       share);
		cr_expect_float_eq(share, 40.0 * 1460 / 1538 / 4, 2);
	}
	run_free(&run);
}

/* Algorithm 1: each timeout cuts by max_mdf, the fifth in a row leaves the least window. */
/* A link fails, and the only other way has two links of 50 us. With the target of the old path,
 * round trips would always be longer, and windows a hundredth of a packet. */
static void expect_way_round(const char *transport)
{
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'graph', 'switch': { 'pause': true },"
		  " 'link': { 'rate': '10Gbps', 'delay': '1us' }, 'graph': { 'hosts': ['h', 'g'],"
		  " 'switches': [ { 'name': 'a0' }, { 'name': 'a1' }, { 'name': 'far' } ],"
		  " 'links': [ { 'from': 'h', 'to': 'a0' }, { 'from': 'g', 'to': 'a1' }, { "
		  "'from': 'a0', 'to': 'a1' }, { 'from': 'a[0-1]', 'to': 'far', 'delay': '50us' "
		  "} ] } }, 'failures': { 'events': [ { 'fails': 'a0 -> a1', 'at': '1ms' } ] },"
		  " 'flows': [ { 'size': '40MB', 'pairs': [[0, 1]], 'transport': '%s' } ] }",
		  transport);
	run_to(&run, END_ALL_DONE);
	/* 34 ms at the rate of the link, and at most two timeouts of 67 ms */
	cr_expect_lt(run.s->sim.now, 170 * PS_PER_MS, "%s", transport);
	run_free(&run);
}

Test(swift, the_way_round_a_failed_link)
{
	expect_way_round("swift");
	expect_way_round("roce_swift");
}

Test(swift, timeouts_in_a_row)
{
	const struct cc_ops *ops = cc_named("swift");
	struct run run;
	struct cc *cc = sender(&run, 64);

	for (unsigned nth = 1; nth <= 4; nth++) {
		ops->on_timeout(cc, nth, 0, nth * PS_PER_MS);
		cr_expect_float_eq(cc->cwnd / MSS, 64 / pow(2, nth), 1e-9);
	}
	ops->on_timeout(cc, 5, 0, 5 * PS_PER_MS);
	cr_expect_float_eq(cc->cwnd / MSS, 0.01, 1e-9);
	run_free(&run);
}

/* 200 senders over RoCE have 80 KB each for one link: their windows are below a packet, and each
 * has one on its way or paced. The link is busy until the last is done. */
Test(swift, incast_over_roce)
{
	struct run run;
	double min = 200 * 80e3 * 8 / 10e9, cwnd = 1;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 201,"
			" 'switch': { 'pause': true, 'ecn': false } }, 'flows': [ { 'size': "
			"'80KB', 'pairs': 'incast', 'fan_in': 200, 'transport': 'roce_swift',"
			" 'arrival': { 'at': '0s' } } ], 'stop': { 'after': '1s' } }");
	while (run.s->sim.now < 10 * PS_PER_MS) {
		run_until(&run, run.s->sim.now + PS_PER_MS);
		cwnd = fmin(cwnd,
			    run.s->roce->conns[0]->tx.cc.cwnd / run.s->roce->conns[0]->tx.cc.mss);
	}
	cr_expect_lt(cwnd, 1);
	run_to(&run, END_ALL_DONE);
	cr_expect_geq(seconds_of(run.s->sim.now), min);
	cr_expect_leq(seconds_of(run.s->sim.now), 1.2 * min, "%g of %g s",
		      seconds_of(run.s->sim.now), min);
	run_free(&run);
}

extern const struct cc_ops swift_cc, line_rate_cc;

static void fill_nothing(void *owner, uint64_t number, struct packet *packet)
{
	(void)owner, (void)number, (void)packet;
}

static void hear_nothing(void *owner, uint64_t number, const struct packet *packet)
{
	(void)owner, (void)number, (void)packet;
}

/* Packets of an owner need not carry the time at which they left, by which Swift goes: a mistake of
 * the program (transport/roce.h). Another control takes them. */
static void packets_of_an_owner(const struct cc_ops *control)
{
	static const struct roce_packets packets = { fill_nothing, hear_nothing };
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2, 'switch': { 'pause': "
		  "true, 'ecn': false } }, 'flows': [ { 'size': '1MB', 'pairs': [[0, 1]], "
		  "'transport': 'roce' } ] }");
	roce_set_packets(run.s->roce, roce_open(run.s->roce, 0, 1, control, 0, 77, NULL, NULL),
			 &packets, 0);
	run_free(&run);
}

Test(swift, not_for_packets_of_an_owner, .signal = SIGABRT)
{
	packets_of_an_owner(&swift_cc);
}

Test(swift, line_rate_for_packets_of_an_owner)
{
	packets_of_an_owner(&line_rate_cc);
}

/* One ACK for 64 segments: a smaller window waits for the timer of 500 us at its end, and that wait
 * is none of the network's. So each round adds a packet to the window, as with any other delay, the
 * samples are those of an idle path, and a timeout leaves the receiver its wait. When the wait
 * counted as delay, windows shrank to the hundredth of a packet. */
Test(swift, wait_of_the_receiver_is_no_delay)
{
	const sim_time wait = 500 * PS_PER_US;
	struct run run;
	const struct tcp_tx *tx;
	double before;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2 },"
		  " 'tcp': { 'ack_every': 64, 'initial_window': 10 },"
		  " 'flows': [ { 'size': '10MB', 'pairs': [[0, 1]], 'transport': 'swift' } ] }");
	run_until(&run, wait + 100 * PS_PER_US);
	tx = &run_conn(&run, 0)->tx;
	before = tx->cc.cwnd;
	run_until(&run, 21 * wait + 500 * PS_PER_US);
	cr_expect_float_eq((tx->cc.cwnd - before) / MSS, 20, 1);
	cr_expect_leq(tx->srtt, 30 * PS_PER_US);
	cr_expect_eq(tx->rto, 10 * PS_PER_MS + wait);
	run_free(&run);
}
