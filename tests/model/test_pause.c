/* Lossless networks, from a scenario's side: TCP, jobs, and what a scenario may say. */
#include "model_run.h"

#include "net/lossless.h"

#include <stdlib.h>

/* k=4 fat tree of 10 Gbps; %s: the rest of "switch", then flows and others. */
#define FAT_TREE                                                                                   \
	"{'name':'p','topology':{'kind':'fat-tree','k':4,'switch':{%s}},"                          \
	"'stop':{'when':'all_done','after':'2s'},%s}"

#define INCAST "'flows':[{'name':'in','size':'300KB','pairs':'incast','fan_in':15}]"
#define PERMUTATIONS                                                                               \
	"'flows':[{'name':'a','size':'500KB','pairs':'permutation'},"                              \
	"{'name':'b','size':'500KB','pairs':'permutation'},"                                       \
	"{'name':'c','size':'500KB','pairs':'uniform','count':40}]"

static uint64_t pauses_of(const struct run *run)
{
	const struct network *net = &run->s->topo.net;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < net->port_count; i++)
		sum += net->cold[i].pauses;
	return sum;
}

/* Nothing of a flow is left: no memory in use, no port stopped. */
static void expect_empty(const struct run *run)
{
	struct network *net = &run->s->topo.net;

	sim_run(&run->s->sim, 1000000); /* frames that are still under way */
	for (uint32_t i = 0; i < net->port_count; i++) {
		cr_expect_eq(lossless_ingress(net, i)->shared, 0);
		cr_expect_eq(lossless_ingress(net, i)->headroom, 0);
		cr_expect_neq(net->ports[i].busy_until, SIM_TIME_MAX);
		cr_expect_lt(net->ports[i].max_backlog_ns, 1000000000); /* runs of 2 s with less */
	}
}

static const char *const switches[] = {
	"'ecn':false,'buffer':'40KB','pause':true",
	"'ecn':false,'buffer':'40KB','pause':{'alpha':0.5}",
	"'ecn':{'threshold':'10pkt'},'buffer':'40KB','pause':{'xoff':'20KB','xon':'10KB'}",
	"'ecn':{'threshold':'20pkt'},'buffer':'60KB','pause':{'response':'1us'}",
};
static const char *const loads[] = { INCAST, PERMUTATIONS };

/* Incast and full load, with ECN and without, static and dynamic: no drop, no
 * retransmission, everything ends, the memories are empty; and where ECN does not keep the
 * queues short, the same without PAUSE drops, so that the test tests something. */
Test(pause, nothing_is_lost)
{
	for (size_t i = 0; i < 4; i++) {
		for (size_t load = 0; load < 2; load++) {
			struct run run;
			uint64_t digest;

			run_build(&run, FAT_TREE, switches[i], loads[load]);
			run_to(&run, END_ALL_DONE);
			digest = simulation_digest(run.s);
			cr_expect_eq(run.s->topo.net.dropped, 0);
			if (load == 0)
				cr_expect_gt(pauses_of(&run), 0, "switch %zu", i);
			cr_expect_not(lossless_deadlocked(&run.s->topo.net));
			expect_empty(&run);
			run_free(&run);
			run_build(&run, FAT_TREE, switches[i], loads[load]);
			run_to(&run, END_ALL_DONE);
			cr_expect_eq(simulation_digest(run.s), digest, "not the same twice");
			run_free(&run);
		}
	}
	for (size_t load = 0; load < 2; load++) {
		struct run run;

		run_build(&run, FAT_TREE, "'ecn':false,'buffer':'40KB'", loads[load]);
		run_to(&run, END_ALL_DONE);
		cr_expect_gt(run.s->topo.net.dropped, 0);
		run_free(&run);
	}
}

/* PAUSE that never comes changes nothing: the same events at the same times. */
Test(pause, without_need_no_effect)
{
	static const char *const with[] = { "'buffer':'10MB','pause':false",
					    "'buffer':'10MB','pause':true",
					    "'buffer':'10MB','pause':{'alpha':8}" };
	uint64_t digests[3];

	for (size_t i = 0; i < 3; i++) {
		struct run run;

		run_build(&run, FAT_TREE, with[i], PERMUTATIONS);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(pauses_of(&run), 0);
		digests[i] = simulation_digest(run.s);
		run_free(&run);
	}
	cr_expect_eq(digests[1], digests[0]);
	cr_expect_eq(digests[2], digests[0]);
}

/* ECN below XOFF keeps queues short: fewer pauses than without. */
Test(pause, ecn_comes_first)
{
	uint64_t pauses[2];

	for (size_t ecn = 0; ecn < 2; ecn++) {
		struct run run;

		run_build(&run, FAT_TREE,
			  ecn ? "'ecn':{'threshold':'20pkt'},'buffer':'100KB','pause':true"
			      : "'ecn':false,'buffer':'100KB','pause':true",
			  "'flows':[{'name':'in','size':'3MB','pairs':'incast','fan_in':4}]");
		run_to(&run, END_ALL_DONE);
		pauses[ecn] = pauses_of(&run);
		run_free(&run);
	}
	cr_expect_gt(pauses[0], 100);
	cr_expect_lt(pauses[1], pauses[0] / 10);
}

/* An all-reduce in switches shares a lossless network with TCP: sums are right (the run
 * checks them), nothing is lost, and no worker has to send again. */
Test(pause, aggregation_in_a_lossless_network)
{
	struct run run;

	run_build(&run, FAT_TREE, "'ecn':false,'buffer':'30KB','pause':{'xoff':'10KB','xon':'5KB'}",
		  "'schemes':{'switchml':{'slots':128}},"
		  "'jobs':[{'name':'j','workers':8,'iterations':2,'all_reduce':'switchml',"
		  "'placement':'random',"
		  "'model':{'layers':[{'gradient':'200KB','forward':'0s','backward':'0s'}]}}]"
		  "," PERMUTATIONS);
	run_to(&run, END_ALL_DONE);
	cr_expect_gt(pauses_of(&run), 0);
	cr_expect_eq(run.s->topo.net.dropped, 0);
	expect_empty(&run);
	run_free(&run);
}

/* PANAMA's accelerators keep sums for 20 us, which are charged when they leave: 25 KB of a 10-Gbps
 * link, for which the headroom has room. More of it is used than the link alone would
 * need (6,203 bytes: pause_headroom_short of tests/invalid.txt), and nothing is dropped. */
Test(pause, accelerators_hold_sums)
{
	struct network *net;
	uint32_t max = 0;
	struct run run;

	run_build(&run,
		  "{'name':'h','topology':{'kind':'star','hosts':8,'switch':{'ecn':false,"
		  "'buffer':'60KB','pause':{'xoff':'15KB','xon':'10KB'}}},"
		  "'schemes':{'panama':{'accelerator_latency':'20us','aggregate_above':'0B'}},"
		  "'jobs':[{'name':'j','workers':[0,1,2,3],'all_reduce':'panama',"
		  "'model':{'layers':[{'gradient':'3MB'}]}}],"
		  "'flows':[{'name':'in','size':'1MB',"
		  "'pairs':[[4,0],[5,0],[6,0],[7,0],[4,1],[5,2],[6,3]]}]}");
	run_to(&run, END_ALL_DONE);
	net = &run.s->topo.net;
	for (uint32_t i = net->hosts; i < net->port_count; i++)
		max = lossless_ingress(net, i)->headroom_max > max
			      ? lossless_ingress(net, i)->headroom_max
			      : max;
	cr_expect_eq(net->dropped, 0);
	cr_expect_gt(max, 6203);
	cr_expect_leq(max, pause_headroom(UINT64_C(10000000000), PS_PER_US, 20500 * PS_PER_NS, 0,
					  1518, PREAMBLE_AND_GAP));
	expect_empty(&run);
	run_free(&run);
}

/* --- deadlock --- */

/* Routes that no topology gives: two leaves and two spines in a circle, down and up
 * again (leaf ports 0..3 to hosts, 4 and 5 to the spines; spine port l to leaf l). */
static void valley(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t entropy,
		   struct route *route)
{
	(void)topo, (void)entropy;
	if (src < 4) /* leaf 0, spine 0, leaf 1, spine 1, leaf 0 */
		*route = (struct route){ { 4, 1, 5, 0, (uint16_t)(dst % 4) }, 5 };
	else
		*route = (struct route){ { 5, 0, 4, 1, (uint16_t)(dst % 4) }, 5 };
}

/* With such routes, and little memory, the links of the circle come to wait for each
 * other: the run ends as a deadlock, which is unfinished work (exit code 4), names the
 * four links, and has lost nothing. With up/down routes the same load ends well. */
Test(pause, deadlock)
{
	static const char *const flows =
		"{'name':'p','topology':{'kind':'leaf-spine','leaves':2,'spines':2,'hosts_per_leaf'"
		":4,"
		"'switch':{'ecn':false,'buffer':'20KB','pause':{'xoff':'4KB','xon':'2KB'}}},"
		"'stop':{'when':'all_done','after':'1s'},"
		"'flows':[{'name':'a','size':'1MB','pairs':[[0,1],[1,2],[2,3],[3,0]],'count':4},"
		"{'name':'b','size':'1MB','pairs':[[4,5],[5,6],[6,7],[7,4]],'count':4}]}";

	for (int circle = 0; circle < 2; circle++) {
		struct topology_ops ops;
		struct run run;
		char *text = NULL;
		size_t length = 0;
		FILE *to;

		run_build(&run, "%s", flows);
		ops = *run.s->topo.ops;
		ops.route = valley;
		if (circle)
			run.s->topo.ops = &ops;
		run_to(&run, circle ? END_DEADLOCK : END_ALL_DONE);
		cr_expect_eq(simulation_unfinished(run.s), circle);
		cr_expect_eq(run.s->topo.net.dropped, 0);
		to = open_memstream(&text, &length);
		simulation_report(run.s, to);
		fclose(to);
		if (circle) {
			cr_expect_not_null(strstr(text, "leaf0 -> spine0 is stopped"), "%s", text);
			cr_expect_not_null(strstr(text, "spine0 -> leaf1 is stopped"), "%s", text);
			cr_expect_not_null(strstr(text, "leaf1 -> spine1 is stopped"), "%s", text);
			cr_expect_not_null(strstr(text, "spine1 -> leaf0 is stopped"), "%s", text);
		}
		free(text);
		run_free(&run);
	}
}
