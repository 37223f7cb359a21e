/* Machines as links: GPUs are hosts, with a NIC and links among them. */
#include "model_run.h"

#include "collective/machine_ready.h"
#include "topo/graph.h"
#include "topo/ways.h"

#include <math.h>

/* Two machines of `GPUS`, on rails of 400 Gbps. Frames are full of payload but for 58 bytes. */
#define MACHINES(GPUS)                                                                             \
	"'topology': { 'kind': 'leaf-spine', 'leaves': 8, 'spines': 2, 'hosts_per_leaf': 2,"       \
	" 'link': { 'rate': '400Gbps', 'delay': '500ns' }, 'wire_overhead': false,"                \
	" 'switch': { 'latency': '0s', 'buffer': '64MB', 'ecn': false }, 'host': { 'inside': "     \
	"'links', 'gpus': " GPUS ", 'nics': { 'count': 8, 'wiring': 'rails' } } }"
#define EIGHT(REST) MACHINES("{ 'count': 8, 'rate': '300GBps', 'latency': '1us'" REST " }")

static double ends(const char *network, const char *rest)
{
	struct run run;
	double end;

	run_build(&run, "{ 'name': 't', %s, %s }", network, rest);
	run_to(&run, END_ALL_DONE);
	end = seconds_of(run.s->sim.now);
	run_free(&run);
	return end;
}

/* GPU g of machine m is host 8 m + g; its rack is its machine. Its NIC is on rail g. */
Test(machine_links, numbers)
{
	struct run run;

	run_build(&run, "{ 'name': 't', " EIGHT("") ", 'flows': [ { 'name': 'f', 'size': '1kB',"
						    " 'pairs': [[0, 1]] } ] }");
	cr_assert_eq(run.s->topo.net.hosts, 16);
	for (uint32_t h = 0; h < 16; h++) {
		const struct network *net = &run.s->topo.net;
		char name[32];

		cr_assert_eq(network_links(net, h), 2);
		topology_node_name(&run.s->topo, net->ports[h].to, name, sizeof(name));
		cr_expect_str_eq(name, h < 8 ? "nv0" : "nv1");
		topology_node_name(&run.s->topo, net->ports[network_port(net, h, 1)].to, name,
				   sizeof(name));
		cr_expect_eq(strtoul(name + 4, NULL, 10), h % 8, "%s", name);
	}
	run_free(&run);
}

/* A ring all-reduce over the 8 GPUs of a machine takes the time of the closed form of its links,
 * 2 (n - 1) (S / n / rate + latency), with frames of 1518 bytes for 1460 of payload, an ACK of 64
 * for two of them, which goes the way of the data of the ring's other neighbour, and the time to
 * store a frame at the switch in each step. Through NICs it would take 6 times as long. */
Test(machine_links, star_all_reduce_takes_its_closed_form)
{
	const double size = 80e6, frame = (1518 + 64 / 2) / 1460.0;
	double closed = 14 * (size / 8 * frame / 300e9 + 1e-6 + 2 * 1518 / 300e9);
	double took =
		ends(EIGHT(""), "'tcp': { 'max_window': '16MB', 'initial_window': 1000 },"
				"'jobs': [ { 'workers': [0, 1, 2, 3, 4, 5, 6, 7], 'all_reduce':"
				" 'ring', 'model': { 'layers': [ { 'gradient': '80MB' } ] } } ]");

	cr_expect_float_eq(took, closed, 0.003 * closed, "%g, closed form %g", took, closed);
}

/* Two flows of a GPU to others of its machine share its link; one to another machine beside them
 * has the NIC alone. */
Test(machine_links, inside_and_outside_are_apart)
{
	static const char tcp[] = "'tcp': { 'max_window': '16MB', 'initial_window': 1000 }, ";
	char rest[512];
	double one, two, out, all;

	snprintf(rest, sizeof(rest), "%s'flows': [ { 'size': '30MB', 'pairs': [[0, 1]] } ]", tcp);
	one = ends(EIGHT(""), rest);
	snprintf(rest, sizeof(rest), "%s'flows': [ { 'size': '30MB', 'pairs': [[0, 1], [0, 2]] } ]",
		 tcp);
	two = ends(EIGHT(""), rest);
	snprintf(rest, sizeof(rest), "%s'flows': [ { 'size': '30MB', 'pairs': [[0, 8]] } ]", tcp);
	out = ends(EIGHT(""), rest);
	snprintf(rest, sizeof(rest),
		 "%s'flows': [ { 'size': '30MB', 'pairs': [[0, 8], [0, 1], [0, 2]] } ]", tcp);
	all = ends(EIGHT(""), rest);
	cr_expect_float_eq(one, 30e6 * 1518 / 1460 / 300e9, 4e-6, "%g", one);
	cr_expect_float_eq(two, 2 * 30e6 * 1518 / 1460 / 300e9, 4e-6, "%g", two);
	cr_expect_float_eq(out, 30e6 * 1518 / 1460 / 50e9, 8e-6, "%g", out);
	cr_expect_float_eq(all, out, 1e-6, "%g", all);
}

/* When the link of a GPU to the switch inside fails, what it exchanges with its machine goes by the
 * network, and the job ends. */
Test(machine_links, a_failed_link_goes_by_the_network)
{
	double took =
		ends(EIGHT(""),
		     "'tcp': { 'max_window': '16MB', 'min_rto': '1ms', 'initial_rto': '1ms' },"
		     "'jobs': [ { 'workers': [0, 1, 2, 3, 4, 5, 6, 7], 'all_reduce': 'ring',"
		     " 'model': { 'layers': [ { 'gradient': '80MB' } ] } } ], 'failures': {"
		     " 'reroute_delay': '10us', 'controller_delay': '10us', 'events': ["
		     " { 'fails': 'm0g3 -> nv0', 'at': '1us' } ] }");

	/* the ring goes at the rate of one NIC, once the retransmission timer has fired */
	cr_expect_geq(took, 14 * 10e6 / 50e9);
	cr_expect_lt(took, 14 * 10e6 * 1518 / 1460 / 50e9 + 3e-3, "%g", took);
}

/* In a mesh any two GPUs share a link; in DGX-1's cube mesh 16 pairs of 28 do, and the others take
 * their NICs. Each GPU of that has six NVLinks. */
Test(machine_links, direct_links)
{
	static const char *const wirings[] = { ", 'wiring': 'mesh'", ", 'wiring': 'cube-mesh'" };
	unsigned links[8] = { 0 }, pairs = 0;
	uint32_t a, b;

	for (int w = 0; w < 2; w++) {
		unsigned direct = 0;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', " EIGHT("%s") ", 'flows': [ { 'name': 'f', 'size':"
							" '1kB', 'pairs': [[0, 1], [0, 5]] } ] }",
			  wirings[w]);
		for (uint32_t i = 8; i < 16; i++)
			for (uint32_t j = 8; j < i; j++) {
				struct route route;

				topology_route(&run.s->topo, i, j, 3, &route);
				direct += !route.hops;
			}
		cr_expect_eq(direct, w ? 16 : 28);
		run_to(&run, END_ALL_DONE);
		run_free(&run);
	}
	for (size_t i = 0; machine_cube_mesh(i, &a, &b); i++) {
		links[a] += machine_cube_mesh(i, &a, &b);
		links[b] += machine_cube_mesh(i, &a, &b);
		pairs++;
	}
	cr_expect_eq(pairs, 16);
	for (int g = 0; g < 8; g++)
		cr_expect_eq(links[g], 6);
}

/* All schemes run over 16 GPUs on links; those of one machine add in the switch inside. Switches of
 * one tier add only there, whatever the graph calls their tier. */
Test(machine_links, schemes)
{
	for (unsigned i = 0; scheme_ops(i); i++) {
		struct run run;

		if (run_is_nvls(i) ||
		    run_mistakes("",
				 "{ 'name': 't', " EIGHT("") ", 'jobs': [ { 'all_reduce': '%s',"
							     " 'workers': 8, 'model': { 'layers': "
							     "[ { 'gradient': '300kB' } ]"
							     " } } ] }",
				 scheme_ops(i)->name))
			continue; /* needs something of its own */
		run_build(&run,
			  "{ 'name': 't', " EIGHT(
				  "") ", 'jobs': [ { 'all_reduce': '%s', 'count': 2,"
				      " 'placement': 'random', 'workers': 4, 'model': { 'layers': ["
				      " { 'gradient': '300kB' } ] } } ] }",
			  scheme_ops(i)->name);
		run_to(&run, END_ALL_DONE);
		run_free(&run);
	}
}

/* The named machines have the GPUs and the rates of their sources, in GB/s. */
Test(machine_links, ready)
{
	static const struct {
		const char *name;
		double gpus, rate;
	} machines[] = { { "dgx1-v100", 8, 120 },  { "dgx-a100", 8, 240 },
			 { "hgx-h100", 8, 370.8 }, { "hgx-b200", 8, 721.8 },
			 { "mi300x", 8, 336 },     { "gb200-nvl72", 72, 721.8 } };

	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': %g, 'host': {"
			  " 'inside': 'links', 'gpus': '%s', 'nics': { 'count': %g } } },"
			  " 'flows': [ { 'name': 'f', 'size': '1kB', 'pairs': [[0, 5]] } ] }",
			  2 * machines[i].gpus, machines[i].name, machines[i].gpus);
		cr_expect_float_eq((double)run.scenario.machine.gpus.rate / 8e9, machines[i].rate,
				   1e-6);
		cr_expect_eq(run.scenario.machine.gpus.count, machines[i].gpus);
		run_to(&run, END_ALL_DONE);
		run_free(&run);
	}
}

Test(machine_links, mistakes)
{
#define WRONG(words, gpus)                                                                         \
	cr_expect_gt(                                                                              \
		run_mistakes(                                                                      \
			words,                                                                     \
			"{ 'name': 't', " MACHINES(                                                \
				gpus) ", 'flows': [ { 'size': '1kB', 'pairs': [[0, 1]] } ] }"),    \
		0)
	WRONG("links inside need a NIC for each GPU: 16 GPUs, 8 NICs", "{ 'count': 16 }");
	WRONG("GPUs that share one link", "{ 'count': 8, 'shared': true }");
	WRONG("at least 2ns here", "{ 'count': 8, 'latency': '1ns' }");
	cr_expect_gt(
		run_mistakes("a hybrid cube mesh has 8 GPUs, found 4",
			     "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8, 'host': {"
			     " 'inside': 'links', 'gpus': { 'count': 4, 'wiring': 'cube-mesh' },"
			     " 'nics': { 'count': 4 } } }, 'flows': [ { 'size': '1kB', 'pairs':"
			     " [[0, 1]] } ] }"),
		0);
	cr_expect_gt(
		run_mistakes("machines of one GPU have no inside",
			     "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8, 'host': {"
			     " 'inside': 'links' } }, 'flows': [ { 'size': '1kB', 'pairs':"
			     " [[0, 1]] } ] }"),
		0);
}
