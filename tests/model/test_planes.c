/* Hosts with several links: planes, links of unlike rate, links between hosts. */
#include "model_run.h"

#include "topo/detours.h"
#include "topo/ways.h"

#include <math.h>

/* Four hosts on two planes of one switch each. */
#define PLANES                                                                                     \
	"'topology': { 'kind': 'graph', 'link': { 'rate': '10Gbps', 'delay': '1us' },"             \
	" 'graph': { 'hosts': ['h[0-3]'], 'switches': ['a', 'b'], 'links': ["                      \
	" { 'from': 'h[0-3]', 'to': 'a' }, { 'from': 'h[0-3]', 'to': 'b' } ] } }"
#define ONE_PLANE                                                                                  \
	"'topology': { 'kind': 'graph', 'link': { 'rate': '10Gbps', 'delay': '1us' },"             \
	" 'graph': { 'hosts': ['h[0-3]'], 'switches': ['a'], 'links': ["                           \
	" { 'from': 'h[0-3]', 'to': 'a' } ] } }"

static sim_time end_of(const char *fmt, const char *network, const char *rest)
{
	struct run run;
	sim_time end;

	run_build(&run, fmt, network, rest);
	run_to(&run, END_ALL_DONE);
	end = run.s->sim.now;
	run_free(&run);
	return end;
}

/* One connection has the goodput of one plane: it ends in the same picosecond. */
Test(planes, one_connection_has_one_link)
{
	static const char fmt[] = "{ 'name': 't', %s, 'flows': [ { 'name': 'f', 'size': '10MB',"
				  " 'pairs': [[0, 1]], %s } ] }";

	cr_expect_eq(end_of(fmt, PLANES, "'count': 1"), end_of(fmt, ONE_PLANE, "'count': 1"));
}

/* Bytes that host 0 has sent by its two links. */
static void count_sent(const struct run *run, double sent[2])
{
	const struct network *net = &run->s->topo.net;

	for (uint16_t i = 0; i < 2; i++) {
		struct port_sent now = network_sent(net, network_port(net, 0, i));

		sent[i] = (double)now.whole + now.part;
	}
}

/* Many connections fill both planes. The last one ends when the plane with more of them has carried
 * its bytes; the bytes that each plane carries are those of the connections that the hash gave it.
 */
Test(planes, many_connections_have_both)
{
	const unsigned flows = 64;
	const double size = 1e6, wire = size * 1538 / 1460; /* of a full frame */
	unsigned on[2] = { 0 };
	double sent[2], most;
	struct run run;

	run_build(&run, "{ 'name': 't', " PLANES ", 'flows': [ { 'name': 'f', 'size': '1MB',"
			" 'pairs': [[0, 1]], 'count': 64 } ] }");
	for (uint64_t key = 0; key < flows; key++) {
		struct route route;

		transport_route(&run.s->topo, 0, 1, key, false, &route);
		cr_assert_leq(route.link, 1);
		on[route.link]++;
	}
	cr_expect_gt(on[0], 16); /* of 64, four standard deviations */
	cr_expect_gt(on[1], 16);
	run_to(&run, END_ALL_DONE);
	count_sent(&run, sent);
	most = fmax(on[0], on[1]);
	for (int i = 0; i < 2; i++)
		cr_expect_float_eq(sent[i], on[i] * wire, 0.01 * on[i] * wire, "%g of %g", sent[i],
				   on[i] * wire);
	/* a slow start of some round trips, and the last acknowledgement */
	cr_expect_float_eq(seconds_of(run.s->sim.now), most * wire * 8 / 10e9, 0.003 * most,
			   "%g of %g", seconds_of(run.s->sim.now), most * wire * 8 / 10e9);
	cr_expect_geq(seconds_of(run.s->sim.now), most * wire * 8 / 10e9);
	run_free(&run);
}

/* A plane of host 0 fails before the first byte and routing knows at once: all that host 0 sends
 * goes by the other plane, so it takes as long as on one plane. */
Test(planes, one_failed_is_half)
{
	static const char fmt[] =
		"{ 'name': 't', %s, 'flows': [ { 'name': 'f', 'size': '1MB', 'pairs': [[0, 1]],"
		" 'count': 32, 'arrival': { 'at': '10us' } } ], %s }";
	static const char fails[] = "'failures': { 'reroute_delay': '1ps', 'events': ["
				    " { 'fails': 'h0 -> b', 'at': '1us' } ] }";
	static const char whole[] = "'seed': 1";
	double half = seconds_of(end_of(fmt, PLANES, fails));
	double one = seconds_of(end_of(fmt, ONE_PLANE, whole));

	cr_expect_float_eq(half, one, 0.01 * one, "%g, %g", half, one);
	cr_expect_lt(seconds_of(end_of(fmt, PLANES, whole)), 0.75 * one);
}

/* While connections run, a plane fails: none is lost, those of the failed plane move. Half of the
 * bytes are over by then at most, and the rest has one plane. */
Test(planes, connections_move)
{
	struct run run;
	double sent[2], before[2];

	run_build(&run,
		  "{ 'name': 't', " PLANES ", 'tcp': { 'min_rto': '1ms', 'initial_rto': '1ms' },"
		  " 'flows': [ { 'name': 'f', 'size': '1MB', 'pairs': [[0, 1]], 'count': 32 } ],"
		  " 'failures': { 'reroute_delay': '100us', 'events': ["
		  " { 'fails': 'h0 -> a', 'at': '5ms' } ] } }");
	run_until(&run, 5200 * PS_PER_US); /* what waited in the NIC's queue has left by then */
	count_sent(&run, before);
	run_to(&run, END_ALL_DONE);
	count_sent(&run, sent);
	cr_expect_eq(sent[0], before[0], "nothing leaves by a link that routing knows to be down");
	cr_expect_gt(sent[1], before[1]);
	cr_expect_geq(seconds_of(run.s->sim.now), 0.005 + (32e6 - 12.5e6) * 8 / 10e9);
	run_free(&run);
}

/* Packets that are sprayed stay in the plane of their connection, over all of its paths. */
Test(planes, spraying_keeps_the_link)
{
	struct run run;
	double sent[2];

	run_build(&run,
		  "{ 'name': 't', " PLANES ", 'tcp': { 'spray': 'oblivious', 'recovery': 'rack' },"
		  " 'flows': [ { 'name': 'f', 'size': '1MB', 'pairs': [[0, 1]], 'count': 1 } ] }");
	run_to(&run, END_ALL_DONE);
	count_sent(&run, sent);
	cr_expect_eq(fmin(sent[0], sent[1]), 0);
	cr_expect_gt(fmax(sent[0], sent[1]), 1e6);
	run_free(&run);
}

/* --- choices --- */

/* Of links with routes of equal cost each is taken equally often; dearer ones never. Two hosts that
 * share a link use it. A failed link is not chosen while there is another. */
Test(planes, choices)
{
	unsigned on[3] = { 0 };
	struct route route;
	struct run run;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'graph', 'graph': {"
			" 'hosts': ['h[0-2]'], 'switches': ['a', 'b', 'c'], 'links': ["
			" { 'from': 'h[0-2]', 'to': 'a' }, { 'from': 'h[0-2]', 'to': 'b' },"
			" { 'from': 'h[0-2]', 'to': 'c', 'cost': 2 },"
			" { 'from': 'h0', 'to': 'h2', 'cost': 2 } ] } },"
			" 'flows': [ { 'name': 'f', 'size': '1kB', 'pairs': [[0, 1]] } ],"
			" 'failures': { 'events': [ { 'fails': 'h0 -> a', 'at': '1s' } ] } }");
	cr_assert_eq(run.s->topo.net.host_ports, 11);
	for (uint64_t entropy = 0; entropy < 1000; entropy++) {
		topology_route(&run.s->topo, 0, 1, entropy, &route);
		on[route.link]++;
		cr_expect_eq(route.hops, 1);
	}
	cr_expect_eq(on[0], 500);
	cr_expect_eq(on[1], 500);
	topology_route(&run.s->topo, 2, 0, 7, &route); /* 2 by the switches, 2 by the shared link */
	for (uint64_t entropy = on[2] = 0; entropy < 300; entropy++) {
		topology_route(&run.s->topo, 2, 0, entropy, &route);
		cr_expect_eq(route.hops, route.link != 3);
		on[2] += route.link == 3;
	}
	cr_expect_eq(on[2], 100, "one of three routes of equal cost");
	detours_learn(&run.s->topo, run.s->topo.detours, 0, true);
	for (uint64_t entropy = 0; entropy < 100; entropy++) {
		topology_route(&run.s->topo, 0, 1, entropy, &route);
		cr_expect_eq(route.link, 1);
	}
	run_free(&run);
}

/* All workers of a job enter its tree in one plane, whose switch reaches them all. After a failure
 * of that link of one worker a new job takes the other plane. */
Test(planes, a_job_has_one_plane)
{
	static const uint32_t hosts[] = { 0, 1, 2, 3 };
	uint32_t ports[4], other;
	struct run run;

	run_build(&run,
		  "{ 'name': 't', " PLANES ", 'flows': [ { 'name': 'f', 'size': '1kB', 'pairs':"
		  " [[0, 1]] } ], 'failures': { 'events': [ { 'fails': 'a', 'at': '1s' } ] } }");
	for (uint64_t entropy = 0; entropy < 8; entropy++) {
		const struct network *net = &run.s->topo.net;
		uint32_t root;

		ways_of_job(&run.s->topo, hosts, 4, entropy, ports);
		root = tree_root(&run.s->topo, ports, 4, entropy);
		for (int i = 0; i < 4; i++) {
			cr_expect_eq(network_node(net, ports[i]), hosts[i]);
			cr_expect_eq(net->ports[ports[i]].to, net->hosts + root);
		}
	}
	other = ports[2];
	detours_learn(&run.s->topo, run.s->topo.detours, other, true);
	ways_of_job(&run.s->topo, hosts, 4, 7, ports);
	for (int i = 0; i < 4; i++)
		cr_expect_neq(run.s->topo.net.ports[ports[i]].to, run.s->topo.net.ports[other].to);
	run_free(&run);
}

/* Every scheme goes on in the other plane when a link of a worker fails, and its sums are right. */
Test(planes, schemes_move)
{
	for (unsigned i = 0; scheme_ops(i); i++) {
		const char *name = scheme_ops(i)->name;
		struct run run;

		if (run_is_nvls(i) ||
		    run_mistakes(
			    "",
			    "{ 'name': 't', " PLANES ", 'jobs': [ { 'all_reduce':"
			    " '%s', 'workers': 4, 'model': { 'layers': [ { 'gradient': '300kB' } ]"
			    " } } ] }",
			    name))
			continue; /* needs something of its own */
		run_build(
			&run,
			"{ 'name': 't', " PLANES ", 'jobs': [ { 'all_reduce': '%s', 'workers': 4,"
			" 'iterations': 3, 'model': { 'layers': [ { 'gradient': '300kB' } ] } } ],"
			" 'tcp': { 'min_rto': '1ms', 'initial_rto': '1ms' },"
			" 'stop': { 'when': 'jobs_done', 'after': '10s' }, 'failures': {"
			" 'reroute_delay': '50us', 'controller_delay': '10us', 'events': ["
			" { 'fails': 'h1 -> a', 'at': '200us', 'repair_after': '1ms' },"
			" { 'fails': 'h1 -> b', 'at': '5ms', 'repair_after': '1ms' } ] } }",
			name);
		run_to(&run, END_JOBS_DONE);
		run_free(&run);
	}
}
