/* HPCC and TIMELY over RoCE, against what their papers say of steady states.
 *
 * 100 Gbps, 1 us a link, 500 ns in the switch. A full packet is 1024 + 62 bytes and 42 of
 * telemetry, 1148 with preamble and gap: 91.84 ns. An idle round trip is 5.2 us, so the path holds
 * 65 kB. */
#include "model_run.h"

#include "transport/roce_conn.h"

#include <math.h>

#define FULL  1148.0  /* bytes on the wire of a full packet */
#define HOLDS 65000.0 /* bytes */

/* `flows` flows of `size` to host 0, alone, under these parameters; runs for `us`. */
static void run_flows(struct run *run, const char *transport, const char *rate, int flows,
		      unsigned us, const char *control)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 33, 'link': { 'rate': "
		  "'%s', 'delay': '1us' }, 'switch': { 'pause': true, 'ecn': false } },"
		  " 'roce': { 'control': { '%s': { %s } } }, 'flows': [ { 'size': '1GB', 'pairs': "
		  "'incast', 'fan_in': %d, 'transport': '%s' } ], 'stop': { 'when': 'time', "
		  "'after': '%uus' } }",
		  rate, transport, control, flows, transport, us);
	run_to(run, END_TIME);
}

/* Packets that a connection's receiver has. */
static double came(const struct run *run, size_t c)
{
	return (double)(run->s->roce->conns[c]->rx.next - (1u << ROCE_PSN_BITS));
}

/* The egress port of the switch to the host to which connection 0 sends. */
static uint32_t last_port(const struct run *run)
{
	const struct network *net = &run->s->topo.net;

	return net->cold[run->s->roce->conns[0]->rx.host].reverse;
}

/* The part of the link that n flows use from 1 to 3 ms, on the wire; the fairness of what they get;
 * what waits at 3 ms, and the most that ever did, in bytes. */
struct steady {
	double used, jain, queue, longest;
	uint64_t pauses;
};

static struct steady steady(const char *transport, int flows, const char *control)
{
	struct steady s = { 0 };
	double before[32], sum = 0, squares = 0;

	for (int end = 0; end < 2; end++) {
		struct run run;
		uint32_t port;

		run_flows(&run, transport, "100Gbps", flows, end ? 3000 : 1000, control);
		port = last_port(&run);
		s.queue = (double)network_queue_bytes(&run.s->topo.net, port);
		s.longest = run.s->topo.net.ports[port].max_backlog_ns * 12.5;
		for (int c = 0; c < flows; c++) {
			double packets = came(&run, (size_t)c) - (end ? before[c] : 0);

			before[c] = packets;
			sum += end ? packets : 0;
			squares += end ? packets * packets : 0;
		}
		for (uint32_t p = 0; p < run.s->topo.net.port_count; p++)
			s.pauses += run.s->topo.net.cold[p].pauses;
		run_free(&run);
	}
	s.used = sum * FULL * 8 / 100e9 / 2e-3;
	s.jain = sum * sum / (flows * squares);
	return s;
}

/* With max_stage 0 the window goes where U = eta at once, and adds w_ai: in equilibrium
 * U = eta / (1 - n x w_ai / W), where W is what all have in flight. Without a queue W is U x 65 kB.
 * With 5, it waits for five steps below the aim, so the mean is a little lower. */
Test(hpcc, use)
{
	static const struct {
		const char *control;
		double eta, w_ai;
	} cases[] = {
		{ "'max_stage': 0", 0.95, 80 },
		{ "'max_stage': 0, 'eta': 0.8", 0.8, 80 },
		{ "'max_stage': 0, 'w_ai': '500B'", 0.95, 500 },
		{ "'max_stage': 5", 0.95, 80 },
		{ "'max_stage': 5, 'eta': 0.5", 0.5, 80 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int flows = 1; flows <= 8; flows *= 2) {
			struct steady s = steady("hpcc", flows, cases[i].control);
			double aim = cases[i].eta + flows * cases[i].w_ai / HOLDS;

			printf("%s, %d flows: %.4f used, aim %.4f, Jain's index %.4f, queue %.0f\n",
			       cases[i].control, flows, s.used, aim, s.jain, s.queue);
			if (flows == 1)
				cr_expect_float_eq(s.used / aim, 1, 0.001);
			cr_expect_leq(s.used, 1.001 * aim);
			cr_expect_geq(s.used, 0.985 * (aim < 0.99 ? aim : 0.99));
			cr_expect_geq(s.jain, 0.97);
			cr_expect_leq(s.queue, 2 * FULL * flows);
		}
}

/* Sixteen begin at the rate of their links: 15 windows queue. A millisecond later each has its
 * part, and a packet or two wait. */
Test(hpcc, incast)
{
	struct steady s = steady("hpcc", 16, "");

	cr_expect_float_eq(s.used, 0.95, 0.01);
	cr_expect_geq(s.jain, 0.99);
	cr_expect_leq(s.queue, 4 * FULL);
	cr_expect_float_eq(s.longest / (15 * HOLDS), 1, 0.15, "%g", s.longest / (15 * HOLDS));
	cr_expect_eq(s.pauses, 0);
}

/* Packets and ACKs of others are as long as without it, beside it, too. */
Test(hpcc, telemetry_of_its_own)
{
	struct run run;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 }, 'flows': ["
			" { 'size': '1MB', 'pairs': [[0, 1]], 'transport': 'hpcc' },"
			" { 'size': '1MB', 'pairs': [[2, 3]], 'transport': 'roce' } ] }");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run.s->topo.net.ports[0].bytes, 977 * (62 + 42) + 16 + 1000000);
	cr_expect_eq(run.s->topo.net.ports[2].bytes, 977 * 62 + 16 + 1000000);
	run_free(&run);
}

/* Losses: telemetry of packets that come again, or not at all. */
Test(hpcc, losses)
{
	static const char *const recoveries[] = { "go_back_n", "selective" };

	for (int i = 0; i < 2; i++) {
		struct run run;

		run_build(
			&run,
			"{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 2, 'spines':"
			" 2, 'hosts_per_leaf': 4, 'link': { 'rate': '100Gbps', 'delay': '1us',"
			" 'loss': 0.002 }, 'switch': { 'pause': false, 'buffer': '100kB' } },"
			" 'roce': { 'recovery': '%s', 'rto': '500us' }, 'flows': [ { 'size':"
			" '500kB', 'count': 30, 'transport': 'hpcc' } ] }",
			recoveries[i]);
		run_to(&run, END_ALL_DONE);
		for (size_t c = 0; c < run.s->roce->count; c++)
			cr_expect_eq(run.s->roce->conns[c]->rx.bytes, 500000);
		run_free(&run);
	}
}

/* --- TIMELY --- */

/* A round trip that begins at `from` us and changes by `step` us with each of n windows. Returns
 * the rate at the end, from 1 Gbps. */
static double rate_after(double from, double step, int n)
{
	static const struct cc_ops *ops;
	struct run run;
	struct cc cc;

	run_flows(&run, "timely", "10Gbps", 1, 1, "");
	ops = run.s->roce->conns[0]->tx.ops;
	cc = run.s->roce->conns[0]->tx.cc;
	ops->init(&cc);
	cc.rate = 1000000000;
	for (int i = 0; i <= n; i++) {
		const struct cc_ack ack = { .ack = (uint64_t)i + 1,
					    .snd_nxt = (uint64_t)i + 1,
					    .rtt = (sim_time)((from + i * step) * 1e6) };

		ops->on_ack(&cc, &ack);
	}
	run_free(&run);
	return (double)cc.rate;
}

/* Algorithm 1: n steps of 10 Mbps below 50 us, also while it rises; by 0.8 (1 - 500 / rtt) down
 * above 500 us, also while it falls; in between, steps, of 50 Mbps from the fifth in a row on,
 * while it does not rise; down by 0.8 x gradient, here 2 us of 20, times 1 - 1/8^i after i
 * differences. */
Test(timely, algorithm)
{
	double rate = 1e9, mean = 0;

	cr_expect_float_eq(rate_after(20, 1, 10), 1e9 + 10 * 1e7, 10);
	cr_expect_float_eq(rate_after(600, 0, 3), 1e9 * pow(1 - 0.8 * (1 - 500.0 / 600), 3), 10);
	cr_expect_float_eq(rate_after(700, -50, 1), 1e9 * (1 - 0.8 * (1 - 500.0 / 650)), 10);
	cr_expect_float_eq(rate_after(200, -1, 10), 1e9 + 4 * 1e7 + 6 * 5e7, 10);
	for (int i = 0; i < 10; i++) {
		mean += 0.875 * (2 - mean);
		rate *= 1 - 0.8 * mean / 20;
	}
	cr_expect_float_eq(rate_after(100, 2, 10), rate, 20);
}

/* Four flows of 10 Gbps, as in the paper's network, from 20 to 80 ms: the link is used but for what
 * the gradient takes, in equal parts, and what waits takes less than t_high. */
Test(timely, four_flows)
{
	double packets = 0, squares = 0, before[4], used;

	for (int end = 0; end < 2; end++) {
		struct run run;

		run_flows(&run, "timely", "10Gbps", 4, end ? 80000 : 20000, "");
		for (size_t c = 0; c < 4; c++) {
			double more = came(&run, c) - (end ? before[c] : 0);

			before[c] = more;
			packets += end ? more : 0;
			squares += end ? more * more : 0;
		}
		cr_expect_leq(network_queue_bytes(&run.s->topo.net, last_port(&run)), 500 * 1250);
		run_free(&run);
	}
	used = packets * (FULL - 42) * 8 / 10e9 / 60e-3;
	printf("%.3f used, Jain's index %.4f\n", used, packets * packets / (4 * squares));
	cr_expect_geq(used, 0.85);
	cr_expect_geq(packets * packets / (4 * squares), 0.98);
}
