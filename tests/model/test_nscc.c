/* NSCC, in uet-htsim's network: a fat tree of 100 Gbps and 1 us a link, frames of 4,150 bytes,
 * queues of a bandwidth-delay product, which trim. uet-htsim's numbers are beside
 * scenarios/baselines. */
#include "model_run.h"

#include "transport/roce_conn.h"

/* Flows of `size` between these pairs; `trim` and `spray` as the scenario has them. */
static void run_flows(struct run *run, const char *size, const char *pairs, int count,
		      const char *trim, const char *spray)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'fat-tree', 'k': 4, 'link': { 'rate': "
		  "'100Gbps', 'delay': '1us' }, 'classes': 'control-first', 'wire_overhead': false,"
		  " 'host': { 'nic_jitter': '0s' }, 'switch': { 'latency': '0s', 'trim': %s,"
		  " 'buffer': '178450B', 'ecn': { 'kmin': '37350B', 'kmax': '145250B', 'pmax': 1 } "
		  "} }, 'roce': { 'mtu': 4086, 'header': 64, 'write_header': 0, 'recovery': "
		  "'selective', 'spray': '%s', 'paths': 128, 'rto': '1ms' },"
		  " 'flows': [ { 'size': '%s', 'pairs': %s, 'count': %d, 'transport': 'nscc' } ] }",
		  trim, spray, size, pairs, count);
	run_to(run, END_ALL_DONE);
	cr_expect_eq(network_check(&run->s->topo.net, stderr), 0);
}

static double mean_of(const struct run *run)
{
	double sum = 0, count = 0;
	const struct flow_class *classes;
	size_t n;

	classes = flows_classes(run->s->flows, &n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < classes[i].recorded; k++, count++)
			sum += classes[i].fct[k];
	return sum / count;
}

static uint64_t repeated(const struct run *run)
{
	uint64_t again = 0;

	for (size_t c = 0; c < run->s->roce->count; c++) {
		again += run->s->roce->conns[c]->stats.retransmissions;
		cr_expect_eq(run->s->roce->conns[c]->stats.timeouts, 0);
	}
	return again;
}

/* Alone, nothing holds a flow back: 490 frames of together 2,031,360 bytes, and of the last one
 * (2,010 bytes) five transmissions more, or waits behind those of the full ones before it, and six
 * links: 176.2 us to the ACK, as uet-htsim. */
Test(nscc, alone)
{
	struct run run;

	run_flows(&run, "2MB", "[[0, 15]]", 1, "true", "oblivious");
	cr_expect_float_eq((double)run.s->sim.now / 1e6, 162.509 + 6 + 5 * 0.332, 0.01, "%g",
			   (double)run.s->sim.now / 1e6);
	cr_expect_eq(repeated(&run), 0);
	run_free(&run);
}

/* n flows to one host share its link: the last ends when the link has carried all, each trimmed
 * packet comes once more, and no timer runs out. uet-htsim's last of 15 ends at 2,479 us. */
Test(nscc, incast)
{
	static const struct {
		const char *pairs;
		int count;
	} cases[] = {
		{ "[[0, 15], [1, 15]]", 2 },
		{ "[[0, 15], [2, 15], [4, 15], [8, 15]]", 4 },
		{ "[[0, 15], [1, 15], [2, 15], [3, 15], [4, 15], [5, 15], [6, 15], [7, 15], "
		  "[8, 15], [9, 15], [10, 15], [11, 15], [12, 15], [13, 15], [14, 15]]",
		  15 },
	};

	for (int i = 0; i < 3; i++) {
		struct run run;
		double last, mean;

		run_flows(&run, "2MB", cases[i].pairs, cases[i].count, "true", "oblivious");
		last = (double)run.s->sim.now / 1e6;
		mean = mean_of(&run) * 1e6;
		printf("%d flows: mean %.1f us, last %.1f, %lu trimmed\n", cases[i].count, mean,
		       last, run.s->topo.net.trimmed);
		cr_expect_geq(last, cases[i].count * 162.509 + 6);
		cr_expect_leq(last, 1.03 * (cases[i].count * 162.509 + 14));
		cr_expect_geq(mean, 0.8 * last);
		cr_expect_gt(run.s->topo.net.trimmed, 0);
		cr_expect_eq(repeated(&run), run.s->topo.net.trimmed);
		run_free(&run);
	}
}

/* A permutation over all paths: on average within 15 % of a flow alone. Without trimming, too,
 * where windows aim at longer delays, and nothing is lost all the same. */
Test(nscc, permutation)
{
	static const char *const trims[] = { "true", "false" };
	static const char *const pairs = "[[0, 5], [1, 9], [2, 13], [3, 4], [4, 8], [5, 12], [6, "
					 "1], [7, 14], [8, 2], [9, 15], [10, 3], [11, 6], [12, 0],"
					 " [13, 10], [14, 7], [15, 11]]";

	for (int t = 0; t < 2; t++) {
		struct run run;
		double mean;

		run_flows(&run, "2MB", pairs, 16, trims[t], "reps");
		mean = mean_of(&run) * 1e6;
		printf("trim %s: mean %.1f us, %lu trimmed\n", trims[t], mean,
		       run.s->topo.net.trimmed);
		cr_expect_leq(mean, 1.15 * 170.2);
		cr_expect_eq(run.s->topo.net.dropped, 0);
		cr_expect_eq(repeated(&run), run.s->topo.net.trimmed);
		run_free(&run);
	}
}

/* Losses on links, too, are repaired. */
Test(nscc, losses)
{
	struct run run;
	uint64_t came = 0, again = 0;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'fat-tree', 'k': 4, 'link': { 'rate': "
		  "'100Gbps', 'loss': 0.003 }, 'classes': 'control-first',"
		  " 'switch': { 'buffer': '60kB', 'trim': true } },"
		  " 'roce': { 'recovery': 'selective', 'spray': 'reps', 'rto': '1ms' },"
		  " 'flows': [ { 'size': '300kB', 'pairs': 'permutation', 'count': 16,"
		  "   'transport': 'nscc' } ] }");
	run_to(&run, END_ALL_DONE);
	for (size_t c = 0; c < run.s->roce->count; c++) {
		came += run.s->roce->conns[c]->rx.bytes;
		again += run.s->roce->conns[c]->stats.retransmissions;
	}
	cr_expect_eq(came, 16 * 300000);
	cr_expect_gt(again, 0);
	run_free(&run);
}
