/* SHARP: times against closed forms, quotas, trees and locks, every packet of a small job lost in
 * turn, late ranks, PAUSE, what is left in the end. */
#include "model_run.h"

#include "ina/sharp/sharp.h"
#include "workload/jobs/jobs_parts.h"

#include <math.h>
#include <stdlib.h>

#define PARTS   "'all_reduce': 'ring', 'reduce_scatter': 'sharp', 'all_gather': 'sharp'"
#define PAYLOAD 1024
#define WIRE    1100 /* 56 bytes of headers, 20 of preamble and gap */

static void build(struct run *run, const char *topology, const char *sharp, const char *jobs)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { %s }, 'schemes': { 'sharp': { %s } }, 'jobs': [ %s "
		  "], 'stop': { 'when': 'jobs_done', 'after': '5s' } }",
		  topology, sharp, jobs);
}

/* All jobs are over, and nothing is left in switches. */
static void expect_nothing_left(const struct run *run)
{
	const struct collective_memory *memory;
	const struct sharp_scheme *scheme = run->s->schemes[SCHEME_sharp];
	const struct sharp_conf *conf = scheme->base.conf;
	size_t switches = simulation_memory(run->s, SCHEME_sharp, &memory);

	cr_expect_gt(switches, 0);
	for (size_t s = 0; s < switches; s++) {
		cr_expect_eq(memory[s].used_bytes, 0);
		cr_expect_lt(memory[s].stats.duplicates, 1000 * 1000);
		cr_expect_eq(scheme->at[s].osts, 0);
		cr_expect_eq(scheme->at[s].sat_trees, 0);
		for (int64_t t = 0; t < conf->trees; t++) {
			const struct sharp_place *place = &scheme->places[(size_t)t * switches + s];

			cr_expect_null(place->owner);
			cr_expect_eq(place->jobs, 0);
		}
	}
	cr_expect_null(scheme->queue);
	cr_expect_eq(run->s->checks.exact_violations, 0);
}

/* Simulated seconds of the first iteration, of a job alone. */
static double time_of(const char *topology, const char *sharp, unsigned workers, const char *size)
{
	char job[300];
	struct run run;
	double t;

	snprintf(job, sizeof(job),
		 "{ 'workers': %u, 'all_reduce': 'sharp', 'placement': 'spread', 'model': { "
		 "'layers': [ { 'gradient': '%s' } ] } }",
		 workers, size);
	build(&run, topology, sharp, job);
	run_to(&run, END_JOBS_DONE);
	cr_expect_eq(run.s->topo.net.dropped, 0);
	expect_nothing_left(&run);
	t = jobs_report(run.s->jobs)->durations[0];
	run_free(&run);
	return t;
}

/* --- closed forms --- */

#define LINK  "'link': { 'rate': '200Gbps', 'delay': '500ns' }"
#define RATE  (200e9 / 8 * PAYLOAD / WIRE)
#define SPINE "'kind': 'leaf-spine', 'leaves': 4, 'spines': 2, 'hosts_per_leaf': 4, " LINK

static void expect_close(double t, double want, const char *what, unsigned n)
{
	cr_expect_float_eq(t / want, 1, 0.01, "%s, %u: %.3f us, closed form %.3f us", what, n,
			   t * 1e6, want * 1e6);
}

/* A packet and its sum over links and switches, with 500 ns each; nodes take their latency, on the
 * way down only hop by hop. */
static double round_trip(unsigned hops, unsigned waits)
{
	return hops * (WIRE / 25e9 + 500e-9) + (hops - 1) * 500e-9 + waits * 100e-9;
}

/* S / B and a round trip, whatever the number of ranks. */
Test(sharp, streams_on_a_star)
{
	static const unsigned workers[] = { 2, 3, 8, 64, 72 };

	for (unsigned i = 0; i < 5; i++)
		expect_close(time_of("'kind': 'star', 'hosts': 72, " LINK, "", workers[i], "10MB"),
			     10e6 / RATE + round_trip(2, 1), "star", workers[i]);
}

Test(sharp, streams_over_tiers)
{
	static const char *const sharp[] = { "", "'results': 'hop'", "'trees': 2",
					     "'trees': 1, 'lock': 'operation'" };

	for (unsigned i = 0; i < 4; i++) {
		unsigned hop = i == 1; /* that node waits on the way down, too */

		expect_close(time_of(SPINE, sharp[i], 16, "10MB"),
			     10e6 / RATE + round_trip(4, 2 + hop), "two tiers", i);
		expect_close(time_of("'kind': 'fat-tree', 'k': 4, " LINK, sharp[i], 16, "10MB"),
			     10e6 / RATE + round_trip(6, 3 + 2 * hop), "three tiers", i);
	}
}

/* One packet. */
Test(sharp, latency)
{
	expect_close(time_of("'kind': 'star', 'hosts': 8, " LINK, "", 8, "1KB"), round_trip(2, 1),
		     "star", 8);
	expect_close(time_of(SPINE, "", 16, "1KB"), round_trip(4, 2), "multicast", 16);
	expect_close(time_of(SPINE, "'results': 'hop'", 16, "1KB"), round_trip(4, 3), "hop", 16);
	expect_close(time_of("'kind': 'fat-tree', 'k': 4, " LINK, "'results': 'hop'", 16, "1KB"),
		     round_trip(6, 5), "hop", 16);
}

/* LLT: a quota of 23 packets, or 6, of every round trip. */
Test(sharp, operations_in_osts)
{
	static const char star[] = "'kind': 'star', 'hosts': 8, " LINK;

	expect_close(time_of(star, "'threshold': '1GB'", 8, "1024000B"),
		     ceil(1000 / 23.0) * round_trip(2, 1), "LLT", 23);
	expect_close(time_of(star, "'threshold': '1GB', 'osts': 100, 'quota': 0.06", 8, "1024000B"),
		     ceil(1000 / 6.0) * round_trip(2, 1), "LLT", 6);
}

/* An operation of just the threshold streams, and one of a byte less, in as many packets, too. */
Test(sharp, operations_of_the_threshold)
{
	static const char star[] = "'kind': 'star', 'hosts': 8, " LINK;
	double stream = 1000 * PAYLOAD / RATE + round_trip(2, 1);

	expect_close(time_of(star, "'threshold': '1024000B'", 8, "1024000B"), stream, "SAT", 0);
	expect_close(time_of(star, "'threshold': '1024000B'", 8, "1023999B"), stream, "SAT", 1);
	expect_close(time_of(star, "'threshold': '1024001B'", 8, "1024000B"),
		     ceil(1000 / 23.0) * round_trip(2, 1), "LLT", 1);
}

/* A window is whole packets, of which there are two at least. */
Test(sharp, packets_of_a_window)
{
	static const struct {
		bytes window, packets;
	} cases[] = { { 1, 2 }, { 2048, 2 }, { 2049, 3 }, { 262144, 256 }, { 262145, 257 } };

	for (unsigned i = 0; i < 5; i++) {
		struct sharp_conf conf = { .packets.elements = 256, .window = cases[i].window };

		cr_expect_eq(sharp_size(&conf), cases[i].packets, "case %u", i);
	}
}

/* --- quotas, trees and locks --- */

static const struct job *jobs_of(const struct run *run)
{
	return run->s->jobs->jobs;
}

#define JOBS(iterations)                                                                           \
	"{ 'count': 3, 'workers': 4, 'all_reduce': 'sharp', 'iterations': " #iterations ", "       \
	"'overlap': 'layers', 'model': { 'layers': [ { 'gradient': '1MB' }, { 'gradient': '4KB' "  \
	"} ] } }"
#define STAR "'kind': 'star', 'hosts': 16, " LINK

static void expect_ran_as(const char *sharp, const char *const expected[3])
{
	struct run run;

	build(&run, STAR, sharp, JOBS(2));
	run_to(&run, END_JOBS_DONE);
	for (unsigned i = 0; i < 3; i++)
		cr_expect_str_eq(jobs_of(&run)[i].ran_as, expected[i], "%s: job %u ran as %s",
				 sharp, i, jobs_of(&run)[i].ran_as);
	expect_nothing_left(&run);
	run_free(&run);
}

/* Who comes first has it; the others do as the scenario says. */
Test(sharp, without_resources)
{
	static const char *const all[] = { "sharp", "sharp", "sharp" };

	expect_ran_as("", all);
	expect_ran_as("'osts': 64, 'quota': 0.4",
		      (const char *const[]){ "sharp", "sharp", "ring with 14 of 25 OSTs" });
	expect_ran_as("'osts': 100, 'quota': 0.57", /* 100 * 0.57 is 56.99 */
		      (const char *const[]){ "sharp", "ring with 43 of 57 OSTs",
					     "ring with 43 of 57 OSTs" });
	expect_ran_as("'sat_trees': 1",
		      (const char *const[]){ "sharp", "ring with 0 of 1 SAT trees",
					     "ring with 0 of 1 SAT trees" });
	expect_ran_as("'trees': 2",
		      (const char *const[]){ "sharp", "sharp", "ring with 0 of 1 SAT locks" });
	expect_ran_as("'trees': 1, 'without_lock': 'llt'",
		      (const char *const[]){ "sharp", "sharp with 0 of 1 SAT locks",
					     "sharp with 0 of 1 SAT locks" });
	expect_ran_as("'trees': 1, 'without_lock': 'wait'", all);
	expect_ran_as("'trees': 1, 'lock': 'operation'", all);
}

/* Any switch of a tree may be short of OSTs: the first job has them at one of two leaves. */
Test(sharp, without_resources_at_one_switch)
{
	for (unsigned leaf = 0; leaf < 2; leaf++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { " SPINE
			  " }, 'schemes': { 'sharp': { 'osts': 100, 'quota': 0.57 } }, 'jobs': [ { "
			  "'workers': [%u, %u], 'all_reduce': 'sharp', 'model': { 'layers': [ { "
			  "'gradient': '1MB' } ] } }, { 'workers': [2, 6], 'all_reduce': 'sharp', "
			  "'model': { 'layers': [ { 'gradient': '1MB' } ] } } ] }",
			  4 * leaf, 4 * leaf + 1);
		run_to(&run, END_ALL_DONE);
		cr_expect_str_eq(jobs_of(&run)[1].ran_as, "ring with 43 of 57 OSTs", "%s",
				 jobs_of(&run)[1].ran_as);
		expect_nothing_left(&run);
		run_free(&run);
	}
}

/* A job takes the first static tree, from its number on, that nobody streams over: here the third
 * job finds that of the first again, as this is over. */
Test(sharp, takes_a_free_tree)
{
	struct run run;

	build(&run, STAR, "'trees': 2",
	      "{ 'workers': 4, 'all_reduce': 'sharp', 'model': { 'layers': [ { 'gradient': '1MB' } "
	      "] } }, { 'workers': 4, 'all_reduce': 'sharp', 'model': { 'layers': [ { 'gradient': "
	      "'9MB' } ] } }, { 'workers': 4, 'all_reduce': 'ring', 'model': { 'layers': [ { "
	      "'gradient': '4KB' } ] } }, { 'workers': 4, 'all_reduce': 'sharp', 'arrival': { "
	      "'at': '150us' }, 'model': { 'layers': [ { 'gradient': '1MB' } ] } }");
	run_to(&run, END_JOBS_DONE);
	cr_expect_lt(jobs_of(&run)[3].finish, jobs_of(&run)[1].finish);
	cr_expect_str_eq(jobs_of(&run)[3].ran_as, "sharp", "%s", jobs_of(&run)[3].ran_as);
	expect_nothing_left(&run);
	run_free(&run);
}

/* Jobs that wait for an exclusive lock begin when it is free. */
Test(sharp, waits_for_an_exclusive_lock)
{
	struct run run;

	build(&run, STAR, "'trees': 1, 'without_lock': 'wait'", JOBS(2));
	run_to(&run, END_JOBS_DONE);
	cr_expect_geq(jobs_of(&run)[1].start, jobs_of(&run)[0].finish);
	cr_expect_geq(jobs_of(&run)[2].start, jobs_of(&run)[1].finish);
	run_free(&run);
}

/* Three jobs that only exchange, on one tree: each operation holds the lock from a message up and
 * down until all ranks have its last sum. So each job takes three times as long as alone, and the
 * tree is never idle but for these times. */
Test(sharp, takes_turns_by_operation)
{
	double alone = 4e6 / RATE + round_trip(2, 1) + 2e-6, last = 0;
	struct run run;

	build(&run, STAR, "'trees': 1, 'lock': 'operation'",
	      "{ 'count': 3, 'workers': 4, 'all_reduce': 'sharp', 'iterations': 5, 'model': { "
	      "'layers': [ { 'gradient': '4MB' } ] } }");
	run_to(&run, END_JOBS_DONE);
	for (unsigned i = 0; i < 3; i++) {
		const struct job *job = &jobs_of(&run)[i];

		double time = seconds_of(job->finish - job->start);

		cr_expect_gt(time, 13 * alone * 0.99);
		last = time > last ? time : last;
	}
	expect_close(last, 15 * alone, "turns", 3);
	expect_nothing_left(&run);
	run_free(&run);
}

/* A rank that is late holds the lock, and another job waits for it, too; with two trees it does
 * not.
 */
Test(sharp, who_is_late_holds_the_lock)
{
	for (unsigned trees = 1; trees <= 2; trees++) {
		char sharp[80];
		struct run run;

		snprintf(sharp, sizeof(sharp), "'trees': %u, 'lock': 'operation'", trees);
		build(&run, STAR, sharp,
		      "{ 'workers': 4, 'all_reduce': 'sharp', 'stragglers': { 'workers': 1, "
		      "'slowdown': 11 }, 'model': { 'layers': [ { 'gradient': '1MB', 'forward': "
		      "'0s', 'backward': '100us' } ] } }, { 'workers': 4, 'all_reduce': 'sharp', "
		      "'model': { 'layers': [ { 'gradient': '1MB', 'backward': '110us' } ] } }");
		run_to(&run, END_JOBS_DONE);
		if (trees == 1)
			cr_expect_gt(jobs_of(&run)[1].finish, jobs_of(&run)[0].finish);
		else
			cr_expect_lt(jobs_of(&run)[1].finish, jobs_of(&run)[0].finish);
		run_free(&run);
	}
}

#define QUEUED(at)                                                                                 \
	"{ 'workers': 4, 'all_reduce': 'sharp', 'restart_delay': '10us', 'arrival': { 'at': '" at  \
	"' }, 'model': { 'layers': [ { 'gradient': '4MB' } ] } }"

/* A host of the last of three jobs fails while the job waits for the lock: it leaves the queue and
 * begins again on another host, and who waits before it gets the lock in its turn. */
Test(sharp, leaves_the_queue_for_a_lock)
{
	struct run run;

	run_build(&run, "{ 'name': 't', 'topology': { " STAR
			" }, 'schemes': { 'sharp': { 'trees': 1, 'lock': 'operation' } }, "
			"'failures': { 'events': [ { 'fails': 'h8', 'at': '100us' } ], "
			"'reroute_delay': '5us', 'controller_delay': '5us' }, 'jobs': [ " QUEUED(
				"0us") ", " QUEUED("10us") ", " QUEUED("20us") " ] }");
	run_until(&run, 90 * PS_PER_US);
	cr_expect_not_null(((struct sharp_scheme *)run.s->schemes[SCHEME_sharp])->queue->behind);
	run_to(&run, END_ALL_DONE);
	cr_expect_lt(jobs_of(&run)[0].finish, jobs_of(&run)[1].finish);
	cr_expect_lt(jobs_of(&run)[1].finish, jobs_of(&run)[2].finish);
	expect_nothing_left(&run);
	run_free(&run);
}

/* Jobs of one tree that meet at no switch do not wait for each other. */
Test(sharp, locks_parts_of_a_tree)
{
	struct run run;

	build(&run, SPINE, "'trees': 1",
	      "{ 'workers': [0, 1, 2, 3], 'all_reduce': 'sharp', 'model': { 'layers': [ { "
	      "'gradient': '1MB' } ] } }, { 'workers': [4, 5, 6, 7], 'all_reduce': 'sharp', "
	      "'model': { 'layers': [ { 'gradient': '1MB' } ] } }, { 'workers': [8, 9, 12, 13], "
	      "'all_reduce': 'sharp', 'model': { 'layers': [ { 'gradient': '1MB' } ] } }");
	run_to(&run, END_JOBS_DONE);
	for (unsigned i = 0; i < 3; i++)
		cr_expect_str_eq(jobs_of(&run)[i].ran_as, "sharp");
	expect_nothing_left(&run);
	run_free(&run);
}

/* --- loss --- */

#define PART_RACKS                                                                                 \
	"'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, 'hosts_per_leaf': 2, 'link': { 'rate': "  \
	"'10Gbps' }"

struct losses {
	uint64_t seen, first, count;
};

static bool lose(void *owner, uint32_t port, const struct packet *packet)
{
	struct losses *losses = owner;

	(void)port, (void)packet;
	losses->seen++;
	return losses->seen > losses->first && losses->seen <= losses->first + losses->count;
}

/* Loses `count` packets from the n-th on. Returns how many there were. */
static uint64_t run_with_losses(const char *sharp, uint64_t n, uint64_t count)
{
	struct losses losses = { .first = n, .count = count };
	struct network_faults faults = { .lose = lose, .owner = &losses };
	struct run run;

	build(&run,
	      "'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, 'hosts_per_leaf': 2, 'link': { "
	      "'rate': '10Gbps' }",
	      sharp,
	      "{ 'workers': 4, 'all_reduce': 'sharp', 'iterations': 2, 'overlap': 'layers', "
	      "'model': { "
	      "'layers': [ { 'gradient': '20KB' }, { 'gradient': '3KB' } ] } }");
	network_inject(&run.s->topo.net, &faults);
	run_to(&run, END_JOBS_DONE);
	cr_expect_eq(run.s->checks.exact_checked, 2 * 4 * (20 + 3));
	expect_nothing_left(&run);
	run_free(&run);
	return losses.seen;
}

/* At night each packet is lost in every way, else in one: ways take turns. */
static unsigned stride(unsigned ways)
{
	return getenv("NIGHTLY") ? 1 : ways;
}

Test(sharp, each_packet_lost_in_turn)
{
	static const char *const sharp[] = { "'window': '6KB'",
					     "'trees': 1, 'lock': 'operation', 'results': 'hop'" };
	static const uint64_t counts[] = { 1, 2, 7 };

	for (unsigned i = 0; i < 2; i++) {
		uint64_t packets = run_with_losses(sharp[i], 0, 0);

		cr_expect_gt(packets, 500);
		for (unsigned c = 0; c < 3; c++)
			for (uint64_t n = c % stride(3); n < packets; n += stride(3))
				run_with_losses(sharp[i], n, counts[c]);
	}
}

struct again {
	uint64_t sent, resent, ends; /* what rank 0 has sent up to, and again; ends of these */
	uint64_t last, end;          /* the chunk that it sent last again, and that of an end */
	bool lost;
};

/* Chunk 5 of rank 0. */
static bool lose_chunk(void *owner, uint32_t port, const struct packet *packet)
{
	struct again *again = owner;
	bool resent = packet->flags & PACKET_RETRANSMIT, ends = packet->tag == SHARP_END;

	if (port != 0 || packet->flags & SHARP_ACK)
		return false;
	if (!resent && !again->resent)
		again->sent = packet->chunk;
	if (resent) {
		again->resent++;
		again->last = packet->chunk;
		again->ends += ends;
		again->end = ends ? packet->chunk : again->end;
	}
	if (packet->chunk != 5 || again->lost)
		return false;
	again->lost = true;
	return true;
}

/* A rank that goes back in the midst of an operation wants one answer about all that it sends
 * again, with the last of it. */
Test(sharp, what_is_sent_again_has_one_end)
{
	struct again again = { 0 };
	struct network_faults faults = { .lose = lose_chunk, .owner = &again };
	struct run run;

	build(&run, STAR, "",
	      "{ 'workers': 4, 'all_reduce': 'sharp', 'model': { 'layers': [ { 'gradient': '1MB' } "
	      "] } }");
	network_inject(&run.s->topo.net, &faults);
	run_to(&run, END_JOBS_DONE);
	cr_expect_lt(again.sent, 900);
	cr_expect_eq(again.resent, again.sent - 5 + 1);
	cr_expect_eq(again.last, again.sent);
	cr_expect_eq(again.ends, 1, "%lu of %lu", (unsigned long)again.ends,
		     (unsigned long)again.resent);
	cr_expect_eq(again.end, again.sent);
	run_free(&run);
}

struct lost_result {
	const struct network *net;
	uint32_t host;
	bool lost;
};

static bool lose_result(void *owner, uint32_t port, const struct packet *packet)
{
	struct lost_result *result = owner;
	bool lose = !result->lost && result->net->ports[port].to == result->host &&
		    packet->flags & PACKET_RESULT && !(packet->flags & SHARP_ACK);

	result->lost |= lose;
	return lose;
}

/* The only result is lost on its way to one of two ranks. The switch sends it again a timeout after
 * it has left, whichever of the two has acknowledged it in the meantime. */
Test(sharp, timeout_of_a_result)
{
	double way = WIRE / 25e9 + 500e-9;

	for (uint32_t host = 0; host < 2; host++) {
		struct lost_result result = { .host = host };
		struct network_faults faults = { .lose = lose_result, .owner = &result };
		struct run run;
		double t;

		build(&run, STAR, "'timeout': '50us'",
		      "{ 'workers': 2, 'all_reduce': 'sharp', 'model': { 'layers': [ { 'gradient': "
		      "'1KB' } ] } }");
		result.net = &run.s->topo.net;
		network_inject(&run.s->topo.net, &faults);
		run_to(&run, END_JOBS_DONE);
		t = jobs_report(run.s->jobs)->durations[0];
		cr_expect_float_eq(t, round_trip(2, 1) + 50e-6, way / 10, "host %u: %g", host, t);
		run_free(&run);
	}
}

struct lost_results {
	uint32_t port;
	uint64_t seen;
};

/* The first 40 results for a rank. */
static bool lose_results(void *owner, uint32_t port, const struct packet *packet)
{
	struct lost_results *losses = owner;

	return port == losses->port && packet->flags & PACKET_RESULT &&
	       !(packet->flags & SHARP_ACK) && losses->seen++ < 40;
}

/* A switch sends results again as it sent them, one after the other: they hardly queue. */
Test(sharp, what_is_sent_again_does_not_queue)
{
	struct lost_results losses = { 0 };
	struct network_faults faults = { .lose = lose_results, .owner = &losses };
	const struct network *net;
	struct run run;

	build(&run, STAR, "",
	      "{ 'workers': 4, 'all_reduce': 'sharp', 'model': { 'layers': [ { 'gradient': '1MB' } "
	      "] } }");
	net = &run.s->topo.net;
	losses.port = net->cold[0].reverse;
	network_inject(&run.s->topo.net, &faults);
	run_to(&run, END_JOBS_DONE);
	cr_expect_gt(losses.seen, 977 + 39);
	cr_expect_leq(net->ports[losses.port].max_backlog_ns, 2 * WIRE / 25, "%u ns",
		      net->ports[losses.port].max_backlog_ns);
	run_free(&run);
}

/* A window takes 655 us to send, and the timeout is 100 us, where three jobs fill queues. A switch
 * asks its parent what that has; one that goes back as far each time never comes to what lacks. */
Test(sharp, window_longer_than_the_timeout)
{
	struct run run;

	build(&run,
	      "'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, 'hosts_per_leaf': 6, 'link': { "
	      "'rate': '7Gbps', 'delay': '1ns' }, 'switch': { 'buffer': '60kB' }, 'host': { "
	      "'nic_jitter': '100ns' }",
	      "'elements_per_packet': 16, 'timeout': '100us'",
	      "{ 'count': 3, 'workers': 4, 'all_reduce': 'sharp', 'placement': 'spread', "
	      "'overlap': 'layers', 'model': { 'layers': [ { 'gradient': '600KB' } ] } }");
	run_to(&run, END_JOBS_DONE);
	expect_nothing_left(&run);
	run_free(&run);
}

Test(sharp, lost_at_random)
{
	for (unsigned seed = 1; seed <= 5; seed++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'seed': %u, 'topology': { 'kind': 'fat-tree', 'k': 4, "
			  "'link': { 'loss': 0.05 } }, 'schemes': { 'sharp': { 'trees': 2, 'lock': "
			  "'operation' } }, 'jobs': [ { 'count': 3, 'workers': 5, 'all_reduce': "
			  "'sharp', 'overlap': 'layers', 'model': { 'layers': [ { 'gradient': "
			  "'300KB' }, { 'gradient': "
			  "'5KB' } ] } } ] }",
			  seed);
		run_to(&run, END_ALL_DONE);
		expect_nothing_left(&run);
		run_free(&run);
	}
}

/* --- when nothing is lost --- */

/* However long a rank is waited for, nothing is believed to be lost; who has no room asks now and
 * then. */
Test(sharp, late_ranks)
{
	struct collective_stats stats = { 0 };
	struct run run;

	build(&run, SPINE, "'timeout': '50us'",
	      "{ 'workers': 16, 'all_reduce': 'sharp', 'iterations': 3, 'start_jitter': '2ms', "
	      "'overlap': 'layers', 'model': { 'layers': [ { 'gradient': '1MB' }, { 'gradient': "
	      "'4KB' } ] } }");
	run_to(&run, END_JOBS_DONE);
	jobs_stats(run.s->jobs, &stats);
	cr_expect_eq(stats.timeouts, 0);
	cr_expect_eq(stats.retransmissions, 0);
	cr_expect_gt(stats.reminders, 100);
	run_free(&run);
}

/* Nobody asks for room who has no more to send: an operation of just the window of all nodes. */
Test(sharp, late_ranks_of_one_window)
{
	static const char *const sizes[] = { "4096B", "5120B" };

	for (unsigned i = 0; i < 8; i++) {
		struct collective_stats stats = { 0 };
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'seed': %u, 'topology': { " PART_RACKS " }, 'schemes': { "
			  "'sharp': { 'timeout': '50us', 'threshold': '0B', 'window': '4096B', "
			  "'quota': 0.001 } }, 'jobs': [ { 'workers': 4, 'all_reduce': 'sharp', "
			  "'start_jitter': '2ms', 'model': { 'layers': [ { 'gradient': '%s' } ] } "
			  "} ] }",
			  i / 2 + 1, sizes[i % 2]);
		run_to(&run, END_ALL_DONE);
		jobs_stats(run.s->jobs, &stats);
		cr_expect_eq(stats.timeouts, 0);
		cr_expect(i % 2 ? stats.reminders > 0 : stats.reminders == 0, "seed %u: %lu",
			  i / 2 + 1, (unsigned long)stats.reminders);
		run_free(&run);
	}
}

/* Nor where one comes late in the midst of others, when hosts, switches and the root wait for room:
 * a straggler costs its computing, and no timeout. */
Test(sharp, stragglers)
{
	for (unsigned seed = 1; seed <= 2; seed++) {
		struct collective_stats stats = { 0 };
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'seed': %u, 'topology': { " SPINE
			  " }, 'jobs': [ { 'workers': [0, 2, 4, 6, 8, 10, 12, 14], 'all_reduce': "
			  "'sharp', 'iterations': 3, 'overlap': 'layers', 'stragglers': { "
			  "'workers': 1, 'slowdown': 2 }, 'model': { 'layers': [ { 'gradient': "
			  "'8MB', 'backward': '300us' }, { 'gradient': '8MB', 'backward': '300us' "
			  "} ] } } ] }",
			  seed);
		run_to(&run, END_ALL_DONE);
		jobs_stats(run.s->jobs, &stats);
		cr_expect_eq(stats.timeouts, 0, "seed %u: %lu timeouts", seed,
			     (unsigned long)stats.timeouts);
		cr_expect_float_eq(seconds_of(jobs_of(&run)[0].finish - jobs_of(&run)[0].start),
				   3 * (1.2e-3 + 8e6 / RATE), 3 * 50e-6, "seed %u", seed);
		run_free(&run);
	}
}

/* Beside incast on links of one rate: PAUSE stops packets, and drops none. */
Test(sharp, lossless)
{
	for (unsigned seed = 1; seed <= 3; seed++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'seed': %u, 'topology': { " SPINE
			  ", 'switch': { 'ecn': false, 'buffer': '300KB', 'pause': true } }, "
			  "'jobs': [ { 'count': 2, 'workers': 8, 'all_reduce': 'sharp', "
			  "'iterations': 3, 'placement': 'spread', 'model': { 'layers': [ { "
			  "'gradient': '2MB' } ] } } ], 'flows': [ { 'size': '1MB', 'count': 30, "
			  "'arrival': { 'at': '0s' }, 'pairs': 'incast', 'fan_in': 10, 'receiver': "
			  "3, 'transport': 'dcqcn' } ] }",
			  seed);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(run.s->topo.net.dropped, 0);
		expect_nothing_left(&run);
		run_free(&run);
	}
}

/* --- why --- */

static sim_time causes[WHY_CAUSES], all;

static void add_row(void *owner, const struct why_row *row)
{
	(void)owner;
	for (unsigned c = 0; c < WHY_CAUSES; c++) {
		causes[c] += row->cause[c];
		all += row->cause[c];
	}
}

static void look(const char *sharp, const char *jobs)
{
	struct run run;
	struct why *why;

	memset(causes, 0, sizeof(causes));
	all = 0;
	build(&run, STAR, sharp, jobs);
	why = why_open(&run.s->topo.net, add_row, NULL);
	simulation_observe(run.s, why_observer(why));
	run_to(&run, END_JOBS_DONE);
	cr_expect_lt(causes[WHY_UNEXPLAINED], all / 100);
	why_free(why);
	run_free(&run);
}

/* Three jobs take turns: two thirds of the time each waits for the lock. One alone with few OSTs
 * waits for these. */
Test(sharp, why)
{
	look("'trees': 1, 'lock': 'operation'", JOBS(10));
	cr_expect_gt((double)causes[WHY_LOCK], 0.55 * (double)all);
	cr_expect_lt((double)causes[WHY_LOCK], 0.70 * (double)all);
	look("'threshold': '1GB', 'quota': 0.016", JOBS(2));
	cr_expect_eq(causes[WHY_LOCK], 0);
	cr_expect_gt((double)causes[WHY_QUOTA], 0.5 * (double)all);
	look("", JOBS(2));
	cr_expect_eq(causes[WHY_LOCK], 0);
	cr_expect_lt((double)causes[WHY_QUOTA], 0.01 * (double)all);
}

/* --- who waits --- */

static void expect_report(const char *job, const char *words)
{
	char *text = NULL;
	size_t length = 0;
	FILE *to = open_memstream(&text, &length);
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { " STAR " }, 'jobs': [ { 'workers': 4, %s, 'model': "
		  "{ 'layers': [ { 'gradient': '1MB' } ] } } ], 'stop': { 'after': '20us' } }",
		  job);
	run_to(&run, END_TIME_LIMIT);
	simulation_report(run.s, to);
	fclose(to);
	cr_expect_not_null(strstr(text, words), "no \"%s\" in %s", words, text);
	free(text);
	run_free(&run);
}

/* An all-reduce is counted in packets, a part in rows of one for each rank: 245 of 256 elements for
 * 62,500, and 977 for all. In 19 us four packets of a row go out 108 times. */
Test(sharp, says_what_it_counts)
{
	expect_report("'all_reduce': 'sharp'", " of 977 chunks, has sent ");
	expect_report(PARTS ", 'sharding': 'optimizer'", " of 245 rows, has sent 108");
}

/* --- mistakes --- */

Test(sharp, mistakes)
{
	cr_expect_eq(
		run_mistakes("a switch has room for",
			     "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 }, "
			     "'schemes': { 'sharp': { 'trees': 9 } }, 'jobs': [ { 'workers': 4, "
			     "'all_reduce': 'sharp', 'model': { 'layers': [ { 'gradient': '4B' } "
			     "] } } ] }"),
		1);
}

/* --- reduce-scatter and all-gather --- */

static double time_of_parts(const char *topology, unsigned workers, unsigned size,
			    const char *sharding)
{
	char job[400];
	struct run run;
	double t;

	snprintf(job, sizeof(job),
		 "{ 'workers': %u, " PARTS ", 'sharding': '%s', 'placement': 'spread', 'model': { "
		 "'layers': [ { 'gradient': '%uMB' } ] } }",
		 workers, sharding, size);
	build(&run, topology, "", job);
	run_to(&run, END_JOBS_DONE);
	t = jobs_report(run.s->jobs)->durations[0];
	run_free(&run);
	return t;
}

/* `size` in MB. S / B each: a reduce-scatter sends the own piece, too, and of an all-gather the own
 * shard comes back. "full" has one more all-gather, so each is checked. */
static void parts_take(const char *topology, unsigned workers, unsigned size)
{
	double two = time_of_parts(topology, workers, size, "optimizer");
	double three = time_of_parts(topology, workers, size, "full"), want = size * 1e6 / RATE;

	cr_expect_float_eq((three - two) / want, 1, 0.01, "all-gather of %u: %g", workers,
			   (three - two) / want);
	cr_expect_float_eq((2 * two - three) / want, 1, 0.01, "reduce-scatter of %u: %g", workers,
			   (2 * two - three) / want);
}

Test(sharp, parts_on_a_star)
{
	static const unsigned workers[] = { 2, 3, 8, 16 };

	for (unsigned i = 0; i < 4; i++)
		parts_take("'kind': 'star', 'hosts': 16, " LINK, workers[i], 20);
}

Test(sharp, parts_over_tiers)
{
	parts_take(SPINE, 16, 20);
	parts_take("'kind': 'fat-tree', 'k': 4, " LINK, 16, 80);
}

/* Layers of one size, all communication. All gathers load the way down, a reduce-scatter the way
 * up; what each does in the other direction, an Nth, comes besides. So the way down has
 * 2 S + S/N, and is idle while the last two layers, L each, wait for the way up: it takes 2 L and
 * the last shards, L/N, while L and two sums, 2 L/N, come down. */
static double time_of_both(const char *sharp, unsigned workers)
{
	char job[1000], layers[600] = "";
	struct run run;
	double t;

	for (unsigned i = 0; i < 8; i++)
		strcat(layers, i ? ", { 'gradient': '5MB' }" : "{ 'gradient': '5MB' }");
	snprintf(job, sizeof(job),
		 "{ 'workers': %u, " PARTS ", 'sharding': 'full', 'overlap': 'layers', 'model': { "
		 "'layers': [ %s ] } }",
		 workers, layers);
	build(&run, STAR, sharp, job);
	run_to(&run, END_JOBS_DONE);
	t = jobs_report(run.s->jobs)->durations[0];
	expect_nothing_left(&run);
	run_free(&run);
	return t;
}

Test(sharp, parts_at_once)
{
	static const unsigned workers[] = { 4, 8, 16 }; /* of 2, ACKs are 1.1 % */

	for (unsigned i = 0; i < 3; i++) {
		double n = workers[i], part = 5e6 / RATE;

		expect_close(time_of_both("", workers[i]),
			     8 * (2 + 1 / n) * part + (1 - 1 / n) * part, "both", workers[i]);
	}
}

/* Static trees: each of the two gets one of its own where there are two; else the second finds the
 * only one locked, or takes turns with the first. */
Test(sharp, parts_on_static_trees)
{
	double own = time_of_both("", 8), one = time_of_both("'trees': 1", 8);
	double turns = time_of_both("'trees': 1, 'lock': 'operation'", 8);

	cr_expect_float_eq(time_of_both("'trees': 2", 8), own, 1e-9);
	cr_expect_float_eq(time_of_both("'trees': 2, 'lock': 'operation'", 8) / own, 1, 0.02);
	cr_expect_gt(one, 1.1 * own);
	cr_expect_gt(turns, 1.2 * own);
}

struct part_losses {
	uint64_t seen, first, count;
};

static bool lose_part(void *owner, uint32_t port, const struct packet *packet)
{
	struct part_losses *losses = owner;

	(void)port, (void)packet;
	losses->seen++;
	return losses->seen > losses->first && losses->seen <= losses->first + losses->count;
}

/* Loses `count` packets from the n-th on. Returns how many there were. */
static uint64_t parts_with_losses(const char *sharp, uint64_t n, uint64_t count)
{
	struct part_losses losses = { .first = n, .count = count };
	struct network_faults faults = { .lose = lose_part, .owner = &losses };
	struct run run;

	build(&run, PART_RACKS, sharp,
	      "{ 'workers': 4, " PARTS ", 'sharding': 'full', 'iterations': 2, 'model': { "
	      "'layers': [ { 'gradient': '16KB' }, { 'gradient': '5000B' } ] } }");
	network_inject(&run.s->topo.net, &faults);
	run_to(&run, END_JOBS_DONE);
	/* 21,000 bytes are pieces of 1,313 elements, the last padded: 6 rows. Two iterations, an
	 * own piece, and twice four shards, at each of 4 ranks */
	cr_expect_eq(run.s->checks.exact_checked, 6 * 2 * 4 * (1 + 2 * 4));
	run_free(&run);
	return losses.seen;
}

/* As streams, in OSTs of less than a row, and with the smallest window; over two tiers. */
Test(sharp, parts_lose_each_packet_in_turn)
{
	static const char *const sharp[] = { "'threshold': '0B'", "'osts': 15, 'quota': 0.2",
					     "'threshold': '0B', 'window': '1B', 'quota': 0.01",
					     "'threshold': '0B', 'results': 'hop'" };

	for (unsigned i = 0; i < 4; i++) {
		uint64_t packets = parts_with_losses(sharp[i], 0, 0);

		cr_expect_gt(packets, 400);
		for (uint64_t n = i % stride(4); n < packets; n += stride(4))
			parts_with_losses(sharp[i], n, 1 + n % 3 * 3);
	}
}

static const struct protocol_ops *real_ops;
static struct protocol_ops tapped;
static bool tapped_one;

/* The first result for host 1: at another rank, or with another value. */
static void to_another_rank(void *self, uint32_t host, const struct packet *packet)
{
	bool move = !tapped_one && host == 1 && !(packet->flags & SHARP_ACK);

	tapped_one |= move;
	real_ops->deliver(self, move ? 2 : host, packet);
}

static void changed(void *self, uint32_t host, const struct packet *packet)
{
	struct packet copy = *packet;

	copy.value += !tapped_one && !(packet->flags & SHARP_ACK);
	tapped_one |= !(packet->flags & SHARP_ACK);
	real_ops->deliver(self, host, &copy);
}

static void tap(const char *protocol, void (*deliver)(void *, uint32_t, const struct packet *),
		const char *says)
{
	struct run run;
	struct network *net;

	build(&run, PART_RACKS, "",
	      strcmp(protocol, "sharp") ? "{ 'workers': 4, " PARTS
					  ", 'sharding': 'full', 'model': { 'layers': [ { "
					  "'gradient': '16KB' } ] } }"
					: "{ 'workers': 4, 'all_reduce': 'sharp', 'model': { "
					  "'layers': [ { 'gradient': '16KB' } ] } }");
	net = &run.s->topo.net;
	tapped_one = false;
	for (unsigned p = 0; p < net->protocol_count; p++)
		if (!strcmp(net->protocols[p].ops->name, protocol)) {
			real_ops = net->protocols[p].ops;
			tapped = *real_ops;
			tapped.deliver = deliver;
			net->protocols[p].ops = &tapped;
		}
	run_to(&run, END_VIOLATION);
	cr_expect(strstr(run.s->checks.first, says), "%s", run.s->checks.first);
	run_free(&run);
}

/* The right sum at the wrong rank is a violation, and so is a wrong one, or a wrong shard. */
Test(sharp, violations)
{
	tap("sharp_scatter", to_another_rank, "the piece of another rank");
	tap("sharp_scatter", changed, "a wrong sum");
	tap("sharp_gather", changed, "a wrong shard");
	tap("sharp", changed, "a wrong sum");
}

/* Each has OSTs and a tree of its own; who gets none runs on hosts, even if it were to wait. */
Test(sharp, parts_without_resources)
{
	static const char *const sharp[][3] = {
		{ "'osts': 64, 'quota': 0.6", "sharp + ring with 26 of 38 OSTs",
		  "ring with 26 of 38 OSTs + ring with 26 of 38 OSTs" },
		{ "'sat_trees': 1", "sharp + ring with 0 of 1 SAT trees",
		  "ring with 0 of 1 SAT trees + ring with 0 of 1 SAT trees" },
		{ "'sat_trees': 1, 'without_lock': 'wait'", "sharp + ring with 0 of 1 SAT trees",
		  "sharp + ring with 0 of 1 SAT trees" },
		{ "'trees': 1", "sharp + ring with 0 of 1 SAT locks",
		  "ring with 0 of 1 SAT locks + ring with 0 of 1 SAT locks" },
		{ "'trees': 3", "sharp + sharp", "sharp + ring with 0 of 1 SAT locks" },
		{ "'trees': 1, 'lock': 'operation'", "sharp + sharp", "sharp + sharp" },
		{ "'sat_trees': 1, 'without_lock': 'llt'", "sharp + sharp with 0 of 1 SAT trees",
		  "sharp with 0 of 1 SAT trees + sharp with 0 of 1 SAT trees" },
	};

	for (unsigned i = 0; i < 7; i++) {
		struct run run;

		build(&run, STAR, sharp[i][0],
		      "{ 'count': 2, 'workers': 4, " PARTS ", 'sharding': 'full', 'iterations': 2, "
		      "'model': { 'layers': [ { 'gradient': '1MB' }, { 'gradient': '4KB' } ] } }");
		run_to(&run, END_JOBS_DONE);
		for (unsigned j = 0; j < 2; j++)
			cr_expect_str_eq(jobs_of(&run)[j].ran_as, sharp[i][1 + j], "%s",
					 jobs_of(&run)[j].ran_as);
		expect_nothing_left(&run);
		run_free(&run);
	}
}
