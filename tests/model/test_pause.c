/* Lossless networks, from a scenario's side: TCP, jobs, and what a scenario may say. */
#include "model_run.h"

#include "net/lossless.h"

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
		sum += net->rare[i].pauses;
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
Test(pause, nothing_is_lost, .timeout = 120)
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
