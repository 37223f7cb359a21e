/* Connections over all shortest paths: what it is worth on a permutation, that all paths are used,
 * that values which lead through a marked switch are given up, and switches that choose. */
#include "model_run.h"

#include "transport/roce_conn.h"
#include "transport/tcp_conn.h"

static double last_fct(const char *ways, const char *spray, unsigned fourths)
{
	struct run run;
	double last;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'fat-tree', 'k': 4,"
		  "  'link': { 'rate': '100Gbps', 'delay': '1us' },"
		  "  'switch': { 'ecn': { 'threshold': '150kB' }, 'ways': '%s' } },"
		  " 'tcp': { 'recovery': 'rack', 'spray': '%s', 'mss': 4000, 'initial_window': 50,"
		  "   'reo_wnd_mult': %u },"
		  " 'flows': [ { 'size': '2MB', 'pairs': 'permutation', 'count': 16,"
		  "   'transport': 'dctcp' } ] }",
		  ways, spray, fourths);
	run_to(&run, END_ALL_DONE);
	for (uint32_t c = 0; c < 16; c++)
		cr_assert_eq(run_conn(&run, c)->rx.next, 2000000);
	cr_assert_eq(network_check(&run.s->topo.net, stderr), 0);
	last = (double)run.s->sim.now;
	run_free(&run);
	return last;
}

/* Sixteen flows of 2 MB, one from each host. With one path each, three share a link; sprayed, the
 * last ends in two thirds of the time or less. With RACK's first window of
 * a fourth of a round trip, segments are sent again in vain and windows halved. */
Test(spray, permutation)
{
	static const char *const kinds[] = { "none", "random", "oblivious", "reps" };
	double fct[4], narrow = last_fct("sender", "reps", 1);

	for (int k = 0; k < 4; k++) {
		fct[k] = last_fct("sender", kinds[k], 64);
		printf("%s %.1f us\n", kinds[k], fct[k] / 1e6);
		cr_expect(!k || fct[k] <= 2 * fct[0] / 3);
	}
	printf("reps, narrow %.1f us\n", narrow / 1e6);
	cr_expect_leq(fct[3], fct[1]);
	cr_expect_leq(fct[3], narrow);
	printf("switches %.1f us\n", last_fct("shortest", "none", 64) / 1e6);
	cr_expect_leq(last_fct("shortest", "none", 64), fct[2]);
}

/* The same over RoCE with selective repeat, in queues that lose nothing: the mean of the flows.
 * Nothing is sent twice. */
static double roce_mean(const char *spray)
{
	struct run run;
	uint64_t again = 0;
	double sum = 0;
	const struct flow_class *classes;
	size_t count;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'fat-tree', 'k': 4,"
		  "  'link': { 'rate': '100Gbps', 'delay': '1us' }, 'switch': { 'pause': false,"
		  "  'ecn': { 'threshold': '150kB' } } },"
		  " 'roce': { 'recovery': 'selective', 'spray': '%s', 'mtu': 4096 },"
		  " 'flows': [ { 'size': '2MB', 'pairs': 'permutation', 'count': 16,"
		  "   'transport': 'roce' } ] }",
		  spray);
	run_to(&run, END_ALL_DONE);
	for (size_t c = 0; c < 16; c++)
		again += run.s->roce->conns[c]->stats.retransmissions;
	classes = flows_classes(run.s->flows, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < classes[i].recorded; k++)
			sum += classes[i].fct[k];
	cr_expect_eq(again, 0, "%s: %lu packets came twice", spray, again);
	run_free(&run);
	return sum / 16;
}

/* Alone, a flow takes 489 packets of 4,178 bytes, 163.4 us, and 12 us to the last host. */
Test(spray, roce_permutation)
{
	static const char *const kinds[] = { "random", "oblivious", "reps" };
	double one = roce_mean("none");

	for (int k = 0; k < 3; k++) {
		double mean = roce_mean(kinds[k]);

		printf("one path %.1f us, %s %.1f\n", one * 1e6, kinds[k], mean * 1e6);
		cr_expect_leq(mean, 1.25 * 175.4e-6);
		cr_expect_leq(mean, one * 2 / 3);
	}
}

struct shares {
	struct run run;
	struct tap tap;
	uint64_t by_first[8]; /* packets by the port of the first switch */
	bool marks;           /* those by the first path are marked */
};

static bool count_shares(struct tap *tap, uint32_t host, struct packet *packet)
{
	struct shares *s = tap->owner;

	(void)host;
	if (packet->kind != PACKET_DATA)
		return true;
	s->by_first[packet->route[0] & 7]++;
	if (s->marks && packet->route[0] == 4)
		packet->flags |= PACKET_CE;
	return true;
}

/* A flow between two racks under four spines: each gets a quarter of the packets, as far as 64
 * values are hashed evenly; REPS, which repeats values, less evenly. Where one marks all its
 * packets, REPS gives it less than a tenth. */
Test(spray, shares)
{
	static const char *const kinds[] = { "random", "oblivious", "reps" };

	for (size_t k = 0; k < 6; k++) {
		struct shares s = { .marks = k >= 3 };
		uint64_t sum = 0;

		run_build(&s.run,
			  "{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 2, "
			  "'spines': 4,"
			  "  'hosts_per_leaf': 4, 'link': { 'rate': '100Gbps', 'delay': '1us' } },"
			  " 'tcp': { 'recovery': 'rack', 'spray': '%s', 'paths': 1024 },"
			  " 'flows': [ { 'size': '10MB', 'pairs': [[0, 4]], 'transport': 'dctcp' } "
			  "] }",
			  kinds[k % 3]);
		tap_in(&s.tap, &s.run, "tcp", count_shares, &s);
		run_to(&s.run, END_ALL_DONE);
		for (int p = 4; p < 8; p++)
			sum += s.by_first[p];
		cr_assert_geq(sum, 6849);
		for (int p = 4; p < 8; p++) {
			double share = (double)s.by_first[p] / (double)sum;

			printf("%s%s: %.3f\n", kinds[k % 3], s.marks ? ", marked" : "", share);
			if (!s.marks)
				cr_expect_float_eq(share, 0.25, k == 2 ? 0.1 : 0.05);
			if (s.marks && k % 3 == 2 && p == 4)
				cr_expect_leq(share, 0.1);
		}
		run_free(&s.run);
	}
}

/* Four hosts send to another rack under three spines. The switch below them chooses, so the spines
 * carry the same to some packets, and whichever way the sender had in mind has no part in it. */
Test(spray, switches_share_evenly)
{
	uint64_t carried[3], sum = 0;
	struct run run;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 2, "
			"'spines': 3, 'hosts_per_leaf': 4, 'switch': { 'ways': 'shortest' },"
			" 'link': { 'rate': '100Gbps', 'delay': '1us' } },"
			" 'tcp': { 'recovery': 'rack' },"
			" 'flows': [ { 'size': '10MB', 'pairs': [[0, 4], [1, 5], [2, 6], [3, 7]],"
			"   'count': 4, 'transport': 'dctcp' } ] }");
	run_to(&run, END_ALL_DONE);
	for (uint16_t s = 0; s < 3; s++) {
		const struct network *net = &run.s->topo.net;

		carried[s] = network_arrived(net, network_port(net, 8, 4 + s));
		sum += carried[s];
	}
	for (uint32_t s = 0; s < 3; s++)
		cr_expect_float_eq((double)carried[s] / (double)sum, 1.0 / 3, 0.01);
	run_free(&run);
}
