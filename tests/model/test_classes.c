/* Control packets in a class of their own, from a scenario's side: every scheme, TCP. */
#include "model_run.h"

#include "net/lossless.h"
#include "transport/messages.h"

/* Two racks of four hosts; %s: rest of "topology", scheme, flows. */
#define RACKS                                                                                      \
	"{'name':'c','topology':{'kind':'leaf-spine','leaves':2,'spines':2,'hosts_per_leaf':4,"    \
	"%s},'schemes':{'panama':{'recovery':true,'aggregate_above':'0B'},"                        \
	"'switchml_star':{'recovery':true,'aggregate_above':'0B'}},"                               \
	"'jobs':[{'name':'j','workers':[0,1,4,5],'iterations':2,'all_reduce':'%s',"                \
	"'model':{'layers':[{'gradient':'300KB'}]}}],"                                             \
	"'flows':[%s],'stop':{'when':'all_done','after':'5s'}}"

#define CROSSING                                                                                   \
	"{'name':'a','size':'500KB','pairs':[[0,4],[4,0],[1,5],[5,1]],'count':16},"                \
	"{'name':'b','size':'100KB','pairs':'incast','fan_in':6,'receiver':1}"

/* Losses, full queues, reordering of the classes: what a scheme sends over its
 * message connections (reports, orders, repeated results) overtakes its gradients, and the
 * sums still are exact at every worker (the run checks them). */
Test(classes, every_scheme_with_loss)
{
	static const char *const classes[] = {
		"'link':{'loss':0.002},'classes':'single'",
		"'link':{'loss':0.002},'classes':'control-first'",
		"'link':{'loss':0.002},'scheduler':'weighted','weights':[1,3]"
	};

	for (unsigned i = 0; all_reduce_ops(i); i++) {
		uint64_t digests[3];

		if (run_is_nvls(i))
			continue;
		for (int k = 0; k < 3; k++) {
			struct run run;

			run_build(&run, RACKS, classes[k], scheme_ops(i)->name, CROSSING);
			run_to(&run, END_ALL_DONE);
			cr_expect_gt(run.s->checks.exact_checked, 0);
			digests[k] = simulation_digest(run.s);
			run_free(&run);
		}
		cr_expect_neq(digests[0], digests[1], "%s: no control packet met data",
			      scheme_ops(i)->name);
	}
}

/* With PAUSE nothing is lost, in no scheme, and no memory stays in use. */
Test(classes, every_scheme_with_pause)
{
	for (unsigned i = 0; all_reduce_ops(i); i++) {
		struct network *net;
		uint64_t pauses = 0;
		struct run run;

		run_build(&run, RACKS,
			  "'classes':'control-first','host':{'nic':'fifo'},"
			  "'switch':{'ecn':false,'buffer':'40KB','pause':true}",
			  scheme_ops(i)->name, CROSSING);
		run_to(&run, run_is_nvls(i) ? END_REFUSED : END_ALL_DONE); /* two racks */
		net = &run.s->topo.net;
		sim_run(&run.s->sim, 1000000); /* frames that are still under way */
		for (uint32_t p = 0; p < net->port_count; p++) {
			pauses += net->cold[p].pauses;
			cr_expect_eq(lossless_ingress(net, p)->shared, 0);
			cr_expect_eq(lossless_ingress(net, p)->headroom, 0);
		}
		cr_expect_gt(pauses, 0);
		cr_expect_eq(net->dropped, 0);
		run_free(&run);
	}
}

/* Switches that stop each other for milliseconds, while ACKs pass the stopped ports: the look for
 * deadlocks, every millisecond, finds none, and leaves packets alone that are charged to nobody. */
Test(classes, stopped_switches_are_no_deadlock)
{
	struct run run;
	uint64_t pauses = 0;

	run_build(&run,
		  "{'name':'c','topology':{'kind':'leaf-spine','leaves':2,'spines':1,"
		  "'hosts_per_leaf':4,'oversubscription':1,'link':{'rate':'1Gbps'},"
		  "'classes':'control-first','switch':{'pause':true,'buffer':'100kB','ecn':false}},"
		  "'flows':[{'name':'x','size':'5MB','count':16,'pairs':"
		  "[[0,4],[1,4],[2,4],[3,4],[5,1],[6,2],[7,3],[4,0]]}]}");
	run_to(&run, END_ALL_DONE);
	for (uint32_t p = run.s->topo.net.hosts; p < run.s->topo.net.port_count; p++)
		pauses += run.s->topo.net.cold[p].pauses;
	cr_expect_gt(pauses, 0);
	run_free(&run);
}

/* Where there are no control packets, classes change nothing: SwitchML alone. */
Test(classes, without_need_no_effect)
{
	static const char *const classes[] = { "'classes':'single'", "'classes':'control-first'" };
	uint64_t digests[2];

	for (int first = 0; first < 2; first++) {
		struct run run;

		run_build(&run, RACKS, classes[first], "switchml", "");
		run_to(&run, END_ALL_DONE);
		digests[first] = simulation_digest(run.s);
		run_free(&run);
	}
	cr_expect_eq(digests[0], digests[1]);
}

/* The FCT of a flow of 100 KB from host 0 to host 1; %s: more of "topology", a bulk flow from host
 * 1 to host 0 that has filled its window of 1 MB. Queues without limit or marks; a NIC dumps
 * windows into its queue, where ACKs wait behind a window of 1 MB (822 us at 10 Gbps). */
static double short_fct(const char *topology, const char *bulk)
{
	const struct flow_class *classes;
	struct run run;
	size_t count;
	double fct;

	run_build(&run,
		  "{'name':'o','topology':{'kind':'star','hosts':2,%s'host':{'nic':'fifo'},"
		  "'switch':{'ecn':false,'buffer':'1GB'}},'tcp':{'max_window':'1MB'},"
		  "'flows':[{'name':'short','size':'100KB','pairs':[[0,1]],'arrival':{'at':'5ms'}}%"
		  "s],"
		  "'stop':{'when':'all_done','after':'1s'}}",
		  topology, bulk);
	run_to(&run, END_ALL_DONE);
	classes = flows_classes(run.s->flows, &count);
	cr_assert_gt(count, 2);
	cr_assert_eq(classes[2].finished, 1);
	fct = classes[2].fct[0];
	run_free(&run);
	return fct;
}

/* 69 segments from an initial window of 10 are sent in rounds of 10, 20, 39, each of which waits
 * for an ACK. With one class these two ACKs wait behind the bulk's window at its NIC; with two,
 * for one frame (1538 bytes, 1.23 us) at the NIC and at the switch. The data itself
 * shares its link with the bulk's ACKs: 84 bytes for each 1538, 5.5 %, in either case. */
Test(classes, acks_do_not_wait_behind_windows)
{
	const char *bulk = ",{'name':'bulk','size':'20MB','pairs':[[1,0]]}";
	double alone = short_fct("", "");
	double one = short_fct("'classes':'single',", bulk);
	double two = short_fct("'classes':'control-first',", bulk);

	cr_expect_geq(two, alone);
	cr_expect_leq(two, 1.055 * alone + 4 * 1.2304e-6);
	cr_expect_gt(one, alone + 2 * 700e-6);
}

static void note_arrival(void *owner, const struct message *message)
{
	struct run *run = owner;

	cr_expect_eq(message->number, 7);
	run->s->sim.stopped = true;
}

/* How long a message of 6 bytes is under way from a host that nine flows keep busy. */
static double message_time(const char *topology)
{
	struct messages messages;
	struct run run;
	sim_time sent = 5 * PS_PER_MS, now;

	run_build(&run,
		  "{'name':'o','topology':{'kind':'star','hosts':2,%s'switch':{'ecn':false}},"
		  "'flows':[{'count':9,'size':'100MB','pairs':[[0,1]],'arrival':{'at':'0s'}}]}",
		  topology);
	run_until(&run, sent);
	messages_init(&messages, run.s->tcp, &run.s->topo.net, 0, 1, 12345, note_arrival, &run);
	messages_send(&messages, (struct message){ .number = 7 }, 6);
	sim_run(&run.s->sim, 1000000);
	cr_assert(run.s->sim.stopped);
	now = run.s->sim.now;
	messages_release(&messages);
	run_free(&run);
	return (double)(now - sent) / PS_PER_S;
}

/* Messages about what seems lost do not wait for the turns of other sources at their NIC, nor in
 * the switch's queue: with two classes for one frame (1538 bytes, 1.23 us) at either, besides
 * their own 84 bytes and 2.5 us of links and switch. With one class they wait for nine flows. */
Test(classes, messages_do_not_wait_for_their_turn)
{
	double two = message_time("'classes':'control-first',");

	cr_expect_geq(two, 2.5e-6 + 2 * 67.2e-9);
	cr_expect_leq(two, 2.5e-6 + 2 * 67.2e-9 + 2 * 1.2304e-6, "%g s", two);
	cr_expect_gt(message_time("'classes':'single',"), 2.5e-6 + 9 * 1.2304e-6);
}
