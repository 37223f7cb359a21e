/* Queues by class: shares of a saturated port, starvation, work conservation, one class as without
 * any, and jobs before flows. */
#include "model_run.h"

#include "net/sched.h"

#define FRAME 1518

/* Two hosts send 10 MB each to host 0, all at once into large buffers, of priorities 0 and 1. */
static void build(struct run *run, const char *scheduler)
{
	run_build(
		run,
		"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 3,"
		"  'link': { 'rate': '10Gbps', 'delay': '1us' }, %s,"
		"  'switch': { 'ecn': false, 'buffer': '1GB' } },"
		" 'tcp': { 'initial_window': 10000 },"
		" 'flows': [ { 'size': '10MB', 'pairs': [[1, 0]], 'count': 1, 'transport': 'reno' "
		"},"
		"            { 'size': '10MB', 'pairs': [[2, 0]], 'count': 1, 'transport': 'reno',"
		"              'priority': 1 } ] }",
		scheduler);
}

static double received(struct run *run, uint32_t conn)
{
	return (double)run_conn(run, conn)->rx.next;
}

/* Deficit round robin shares a port as the weights, within a quantum of each class and a frame,
 * from when both wait until one has no more. */
Test(sched, weights_are_shares)
{
	static const unsigned weights[][2] = { { 1, 1 }, { 1, 3 }, { 7, 2 } };

	for (int i = 0; i < 3; i++) {
		double a = weights[i][0], b = weights[i][1], first[2];
		char text[96];
		struct run run;

		snprintf(text, sizeof(text), "'scheduler': 'weighted', 'weights': [%u, %u]",
			 weights[i][0], weights[i][1]);
		build(&run, text);
		run_until(&run, PS_PER_MS);
		for (uint32_t c = 0; c < 2; c++)
			first[c] = received(&run, c);
		run_until(&run, 6 * PS_PER_MS);
		/* in frames of 1460 bytes, of which as many are in quanta of 1518-byte frames */
		cr_expect_float_eq((received(&run, 0) - first[0]) / a,
				   (received(&run, 1) - first[1]) / b, 2 * FRAME,
				   "weights %g and %g: %g and %g", a, b,
				   received(&run, 0) - first[0], received(&run, 1) - first[1]);
		cr_expect_eq(network_check(&run.s->topo.net, stderr), 0);
		run_to(&run, END_ALL_DONE);
		run_free(&run);
	}
}

/* The higher class has the port to itself; the other gets what is left, and as the port never
 * rests, both are done when one queue would be. */
Test(sched, strict_starves_and_conserves)
{
	static const char *const schedulers[] = { "'scheduler': 'strict'",
						  "'scheduler': 'weighted', 'weights': [1, 3]" };
	sim_time end[2];

	for (int i = 0; i < 2; i++) {
		struct run run;

		build(&run, schedulers[i]);
		run_until(&run, 8 * PS_PER_MS); /* 10 MB take 8.42 ms */
		if (i == 0) {
			cr_expect_gt(received(&run, 1), 9.4e6);
			cr_expect_leq(received(&run, 0), 4 * 1460);
		}
		run_to(&run, END_ALL_DONE);
		end[i] = run.s->sim.now;
		run_free(&run);
	}
	/* 20 MB in frames of 1538 bytes; the way of a frame and of its ACK */
	for (int i = 0; i < 2; i++)
		cr_expect_float_eq((double)end[i], 2 * 6850.0 * 1538 * 800, 8e6);
}

/* A lossy mix of flows, all of one class: the run is the same as without classes, drops and marks,
 * too, whether the threshold is in bytes or in packets, or the buffer shared. */
Test(sched, one_class_is_one_queue)
{
	static const char *const schedulers[] = { "'fifo'", "'strict'",
						  "'weighted', 'weights': [2]" };
	static const char *const switches[] = {
		"'buffer': '30kB', 'ecn': { 'threshold': '12kB' }",
		"'buffer': '30kB', 'ecn': { 'threshold': '8pkt' }",
		"'shared_buffer': { 'size': '60kB' }, 'ecn': { 'threshold': '12kB' }"
	};

	for (int i = 0; i < 9; i++) {
		uint64_t found[4];
		static uint64_t first[4];
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 2,"
			  "  'spines': 2, 'hosts_per_leaf': 6, 'switch': { %s },"
			  "  'scheduler': %s },"
			  " 'flows': [ { 'size': '300kB', 'count': 24 } ] }",
			  switches[i / 3], schedulers[i % 3]);
		run_to(&run, END_ALL_DONE);
		found[0] = run.s->sim.now;
		found[1] = run.s->topo.net.dropped;
		found[2] = run.s->topo.net.hops;
		found[3] = 0;
		for (uint32_t p = 0; p < run.s->topo.net.port_count; p++)
			found[3] += run.s->topo.net.cold[p].marks;
		cr_assert(found[1] > 0 && found[3] > 0);
		for (int k = 0; k < 4; k++) {
			if (i % 3 == 0)
				first[k] = found[k];
			cr_expect_eq(found[k], first[k], "%s, %s: %d", switches[i / 3],
				     schedulers[i % 3], k);
		}
		run_free(&run);
	}
}

/* A low class that fills its queue keeps no packet of a high one out. */
Test(sched, a_low_class_fills_only_its_queue)
{
	static const char *const buffers[] = { "'buffer': '30kB'",
					       "'shared_buffer': { 'size': '60kB' }" };

	for (int i = 0; i < 2; i++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 5,"
			  "  'scheduler': 'strict', 'switch': { 'ecn': false, %s } },"
			  " 'flows': [ { 'size': '3MB', 'pairs': [[1, 0], [2, 0], [3, 0]],"
			  "   'count': 3, 'transport': 'reno' },"
			  "   { 'size': '1MB', 'pairs': [[4, 0]], 'count': 1, 'priority': 1,"
			  "     'arrival': { 'at': '200us' }, 'transport': 'reno' } ] }",
			  buffers[i]);
		run_until(&run, 1100 * PS_PER_US); /* 1 MB takes 0.84 ms */
		cr_expect_gt(run.s->topo.net.dropped, 0);
		cr_expect_eq(run_conn(&run, 3)->rx.next, 1000000);
		cr_expect_eq(run_conn(&run, 3)->stats.retransmissions, 0);
		run_to(&run, END_ALL_DONE);
		run_free(&run);
	}
}

static double job_time(const char *scheme, const char *scheduler, int priority, bool flows)
{
	struct run run;
	double end;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 12, 'scheduler': '%s' },"
		  " 'jobs': [ { 'name': 'j', 'workers': [0, 1, 2, 3], 'all_reduce': '%s',"
		  "   'priority': %d, 'model': { 'layers': [ { 'gradient': '2MB' } ] } } ],"
		  " 'flows': [ { 'size': '4MB', 'count': %d, 'enabled': %s,"
		  "   'pairs': [[8, 0], [9, 1], [10, 2], [11, 3]] } ],"
		  " 'stop': { 'when': 'jobs_done', 'after': '1s' } }",
		  scheduler, scheme, priority, 4, flows ? "true" : "false");
	run_to(&run, END_JOBS_DONE);
	cr_expect_eq(network_check(&run.s->topo.net, stderr), 0);
	end = (double)run.s->sim.now;
	run_free(&run);
	return end;
}

/* Jobs over connections and in switches: of a higher class, flows to their workers cost them a
 * frame here and there; of the same class, half of the ports. */
Test(sched, jobs_go_first)
{
	static const char *const schemes[] = { "ring", "switchml", "ps", "atp" };

	for (int i = 0; i < 4; i++) {
		double alone = job_time(schemes[i], "fifo", 0, false);
		double first = job_time(schemes[i], "strict", 7, true);
		double same = job_time(schemes[i], "strict", 0, true);

		printf("%s: alone %g ms, first %g, same class %g\n", schemes[i], alone / 1e9,
		       first / 1e9, same / 1e9);
		cr_expect_leq(first, 1.1 * alone, "%s", schemes[i]);
		cr_expect_geq(same, 1.3 * alone, "%s", schemes[i]);
	}
}
