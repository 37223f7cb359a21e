/* What iterations are spent on (models/why): by hand, and that it adds up for every scheme under
 * whatever happens to it. */
#include "model_run.h"

#include "why/why_parts.h"

#include <stdlib.h>

#define X    160000 /* ps on the wire of a chunk of SwitchML at 10 Gbps, as in test_jobs.c */
#define WAY  (2 * X + 2500000) /* of a chunk, and of its sum back, on an idle star */
#define MS   PS_PER_MS
#define ROWS 4096

struct look {
	struct why *why;
	struct why_row rows[ROWS];
	size_t count;
	sim_time cause[WHY_CAUSES]; /* of all rows */
	sim_time end[8][64];        /* of the last row of a worker */
	size_t iterations;          /* of jobs, that have ended */
	sim_time part[WHY_CAUSES];  /* of all parts of jobs */
};

static void keep_row(void *owner, const struct why_row *row)
{
	struct look *look = owner;
	sim_time sum = 0;

	for (unsigned c = 0; c < WHY_CAUSES; c++) {
		sum += row->cause[c];
		look->cause[c] += row->cause[c];
	}
	cr_expect_eq(sum, row->end - row->begin);
	cr_assert_lt(row->job, 8);
	cr_assert_lt(row->worker, 64);
	if (row->iteration)
		cr_expect_eq(row->begin, look->end[row->job][row->worker]);
	look->end[row->job][row->worker] = row->end;
	if (row->before) {
		cr_expect_lt(row->since, row->end);
		look->iterations++;
	}
	for (uint32_t p = 0; p < row->part_count; p++)
		for (unsigned c = 0; c < WHY_CAUSES; c++)
			look->part[c] += row->parts[p].cause[c];
	cr_assert_lt(look->count, ROWS);
	look->rows[look->count++] = *row;
}

static void look_on(struct look *look, struct run *run)
{
	memset(look, 0, sizeof(*look));
	look->why = why_open(&run->s->topo.net, keep_row, look);
	simulation_observe(run->s, why_observer(look->why));
}

static void look_away(struct look *look)
{
	why_free(look->why);
}

static void expect_causes(const struct why_row *row, const sim_time expected[WHY_CAUSES])
{
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		cr_expect_eq(row->cause[c], expected[c], "worker %u: %s is %lu ps, not %lu",
			     row->worker, why_cause_names[c], (unsigned long)row->cause[c],
			     (unsigned long)expected[c]);
}

/* Two workers, computing for 100 us, and %d bytes. */
#define TWO                                                                                        \
	"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 },"                               \
	" 'jobs': [ { 'workers': [0, 1], 'all_reduce': 'switchml', 'iterations': 1,"               \
	" 'model': { 'layers': [ { 'gradient': '%dB', 'forward': '50us', 'backward': '50us' } ] }" \
	" %s } ] }"

/* The second contribution but one of worker 1 is lost, once. */
static bool lose_chunk_2(void *owner, uint32_t port, const struct packet *packet)
{
	int *lost = owner;

	if (port != 1 || packet->kind != PACKET_AGGREGATION || packet->seq != 2 || *lost)
		return false;
	*lost = 1;
	return true;
}

/* By hand. Four chunks leave at 0, x, 2x, 3x; sums 0 and 1 are back at WAY and WAY + x: WAY + x on
 * the wire. Sum 3 comes 2x after sum 1: x for itself, and x that it stood behind chunk 2 at the
 * NIC, on the wire, too. Worker 1's chunk 2 goes again after 1 ms, at 2x + 1 ms, and its sum is
 * back WAY later, that is 1 ms - x after sum 3: x on the wire, and the rest for the timeout.
 * Worker 0 waits for worker 1's packet: by the same way, with the same causes. */
Test(why, four_chunks_and_a_loss)
{
	int lost = 0;
	const struct network_faults faults = { .lose = lose_chunk_2, .owner = &lost };
	struct run run;
	struct look look;
	sim_time expected[WHY_CAUSES] = { [WHY_COMPUTE] = 100 * PS_PER_US,
					  [WHY_WIRE] = WAY + X + 2 * X + X,
					  [WHY_TIMEOUT] = MS - 2 * X };

	run_build(&run, TWO, 4 * 128, "");
	look_on(&look, &run);
	network_inject(&run.s->topo.net, &faults);
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(lost, 1);
	cr_assert_eq(look.count, 2);
	for (size_t i = 0; i < 2; i++) {
		expect_causes(&look.rows[i], expected);
		cr_expect_eq(look.rows[i].end - look.rows[i].begin,
			     100 * PS_PER_US + 2 * X + MS + WAY);
	}
	look_away(&look);
	run_free(&run);
}

/* A spine fails in the middle of a tensor. From the last results that came before (a round trip is
 * 12 us) to the controller's new tree, 1 + 10 ms later, workers wait for that; what they do before
 * and after it is as ever. */
Test(why, a_failure_costs_the_controllers_delay)
{
	struct run run;
	struct look look;

	run_build(
		&run,
		"{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, "
		"'hosts_per_leaf': 2 }, 'failures': { 'events': [ { 'fails': 'spine0', 'at': "
		"'100us', "
		"'repair_after': '2ms' } ] }, 'jobs': [ { 'workers': 4, 'all_reduce': 'switchml', "
		"'model': { 'layers': [ { 'gradient': '10MB' } ] } } ] }");
	look_on(&look, &run);
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(look.count, 4);
	for (size_t i = 0; i < 4; i++) {
		double wait = (double)look.rows[i].cause[WHY_FAILURE] / PS_PER_US;

		cr_expect_float_eq(wait, 11000, 15, "%g us", wait);
		cr_expect_eq(look.rows[i].cause[WHY_UNEXPLAINED], 0);
	}
	look_away(&look);
	run_free(&run);
}

/* A ring whose link fails for 300 ms: nothing comes until the repair, and what that costs beyond
 * the 300 ms is the timer, which has backed off. */
Test(why, a_timer_outlasts_a_failure)
{
	const sim_time outage = 300 * MS;
	sim_time end[2];
	struct look look;

	for (unsigned i = 0; i < 2; i++) {
		struct run run;

		run_build(
			&run,
			"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 }, 'failures': { "
			"'events': [ %s ] }, 'jobs': [ { 'workers': 4, 'all_reduce': 'ring', "
			"'model': { 'layers': [ { 'gradient': '10MB', 'forward': '1ms' } ] } } ] }",
			i ? "{ 'fails': 'h1 -> switch', 'at': '2ms', 'repair_after': '300ms' }"
			  : "");
		look_on(&look, &run);
		run_to(&run, END_ALL_DONE);
		end[i] = run.s->sim.now;
		look_away(&look);
		run_free(&run);
	}
	cr_assert_gt(end[1] - end[0], outage + MS);
	for (size_t i = 0; i < 4; i++) {
		const sim_time *cause = look.rows[i].cause;

		cr_expect_float_eq((double)cause[WHY_FAILURE] / (double)outage, 1, 0.01);
		cr_expect_float_eq((double)cause[WHY_BACKOFF] / (double)(end[1] - end[0] - outage),
				   1, 0.05, "%lu of %lu ps", (unsigned long)cause[WHY_BACKOFF],
				   (unsigned long)(end[1] - end[0] - outage));
		cr_expect_eq(cause[WHY_TIMEOUT] + cause[WHY_UNEXPLAINED], 0);
	}
}

/* Runs eight workers whose spine 0 fails, or (`at` is "") does not. Returns their time. */
static sim_time run_ring(struct look *look, const char *at)
{
	sim_time all = 0;
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 4, 'spines': 2,"
		  " 'hosts_per_leaf': 2, 'link': { 'rate': '10Gbps', 'delay': '1us' } },"
		  " 'failures': { 'events': [ %s ] }, 'jobs': [ { 'workers': 8, 'placement':"
		  " 'spread', 'all_reduce': 'ring', 'model': { 'layers': [ { 'gradient': '4MB' } ]"
		  " } } ] }",
		  at);
	look_on(look, &run);
	run_to(&run, END_ALL_DONE);
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		all += look->cause[c];
	look_away(look);
	run_free(&run);
	return all;
}

/* A spine fails and takes ACKs with it: what had been sent has come, and the rest is sent only
 * after a timeout. All workers wait for it, who hear of it one after the other: the timeout is more
 * than nine tenths of what they lose. */
Test(why, a_ring_waits_for_a_timeout)
{
	struct look look;
	sim_time idle = run_ring(&look, ""), all;

	all = run_ring(&look, "{ 'fails': 'spine0', 'at': '1ms' }");
	cr_expect_gt(all - idle, 8 * 9 * MS);
	cr_expect_gt(look.cause[WHY_TIMEOUT], (all - idle) / 10 * 9, "%lu of %lu ps",
		     (unsigned long)look.cause[WHY_TIMEOUT], (unsigned long)(all - idle));
	cr_expect_leq(look.cause[WHY_TIMEOUT], all - idle);
}

/* Runs eight workers that compute for 10 us, beside `extra` members of the scenario and of the job.
 * Returns their time. */
static sim_time run_eight(struct look *look, const char *scheme, const char *extra, const char *job)
{
	sim_time all = 0;
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, "
		  "'hosts_per_leaf': 8, 'uplink': { 'rate': '100Gbps' } }, %s 'jobs': ["
		  " { 'workers': [0, 1, 2, 3, 8, 9, 10, 11], 'all_reduce': '%s' %s, 'model': { "
		  "'layers': [ { 'gradient': '1MB', 'backward': '10us' } ] } } ] }",
		  extra, scheme, job);
	look_on(look, &run);
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(look->count, 8);
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		all += look->cause[c];
	look_away(look);
	run_free(&run);
	return all;
}

/* All wait for the one who computes 1 ms longer, also by way of others who have waited for it. */
Test(why, a_straggler_costs_what_it_computes)
{
	static const char *const tried[] = { "ring", "halving_doubling" };

	for (size_t i = 0; i < 2; i++) {
		struct look look;
		sim_time waited;

		run_eight(&look, tried[i], "", ", 'stragglers': { 'workers': 1, 'slowdown': 101 }");
		waited = look.cause[WHY_STRAGGLER];
		cr_expect_leq(waited, 7 * MS, "%s: %lu ps", tried[i], (unsigned long)waited);
		cr_expect_gt(waited, 7 * MS / 100 * 98, "%s: %lu ps", tried[i],
			     (unsigned long)waited);
	}
}

/* NVLS: a GPU answers the questions of the others once it has computed. */
Test(why, a_straggler_costs_gpus_what_it_computes)
{
	struct look look;
	struct run run;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8, 'link': { "
			"'rate': '3600Gbps', 'delay': '100ns' }, 'switch': { 'pause': true } }, "
			"'jobs': [ { "
			"'workers': 8, 'all_reduce': 'nvls', 'stragglers': { 'workers': 1, "
			"'slowdown': 101 }, 'model': { 'layers': [ { 'gradient': '1MB', "
			"'backward': '10us' } ] } } ] }");
	look_on(&look, &run);
	run_to(&run, END_ALL_DONE);
	look_away(&look);
	run_free(&run);
	cr_expect_eq(look.cause[WHY_STRAGGLER], 7 * MS, "%lu ps",
		     (unsigned long)look.cause[WHY_STRAGGLER]);
	cr_expect_lt(look.cause[WHY_WINDOW], 10 * PS_PER_US, "%lu ps",
		     (unsigned long)look.cause[WHY_WINDOW]);
	cr_expect_eq(look.cause[WHY_UNEXPLAINED], 0);
}

/* A flow takes half of one worker's link for a while: none of that is time on the wire, at workers
 * further on neither. */
Test(why, a_flow_takes_no_time_on_the_wire)
{
	static const char *const pairs[] = { "0, 15", "15, 0" };

	for (size_t i = 0; i < 2; i++) {
		struct look idle, look;
		sim_time lost = run_eight(&idle, "ring", "", "");
		char flow[200];

		snprintf(flow, sizeof(flow),
			 "'flows': [ { 'name': 'f', 'size': '500KB', 'pairs': [[%s]], 'count': 1,"
			 " 'arrival': { 'at': '0s' } } ],",
			 pairs[i]);
		lost = run_eight(&look, "ring", flow, "") - lost;
		cr_expect_gt(lost, 8 * MS / 3);
		cr_expect_lt(look.cause[WHY_WIRE], idle.cause[WHY_WIRE] + lost / 10, "%s: %lu ps",
			     pairs[i], (unsigned long)look.cause[WHY_WIRE]);
	}
}

/* A worker's link fails, for so short that it goes unnoticed, and loses results. Who waits until a
 * timer of a switch sends them again (SHARP), or asks for them (PANAMA), waits for a timeout. */
Test(why, lost_results_wait_for_a_timeout)
{
	static const struct {
		const char *scheme, *keys, *fails;
	} tried[] = { { "sharp", "'sharp': {}", "900us" },
		      { "panama", "'panama': { 'recovery': true, 'aggregate_above': '0B' }",
			"1us" } };

	for (size_t i = 0; i < 2; i++) {
		struct look look;
		char extra[300];
		sim_time lost;

		snprintf(extra, sizeof(extra), "'schemes': { %s },", tried[i].keys);
		lost = run_eight(&look, tried[i].scheme, extra, "");
		snprintf(extra, sizeof(extra),
			 "'schemes': { %s }, 'failures': { 'events': [ { 'fails': 'h1',"
			 " 'at': '400us', 'repair_after': '%s' } ] },",
			 tried[i].keys, tried[i].fails);
		lost = run_eight(&look, tried[i].scheme, extra, "") - lost;
		cr_expect_gt(lost, 5 * MS);
		cr_expect_gt(look.cause[WHY_TIMEOUT], lost / 10 * 9, "%s: %lu of %lu ps",
			     tried[i].scheme, (unsigned long)look.cause[WHY_TIMEOUT],
			     (unsigned long)lost);
	}
}

/* Alone: the closed form (n + 1) x + 2.5 us, all of it on the wire. */
Test(why, an_idle_path_is_wire)
{
	sim_time expected[WHY_CAUSES] = {
		[WHY_COMPUTE] = 100 * PS_PER_US, [WHY_WIRE] = WAY + 999 * X
	};
	struct run run;
	struct look look;

	run_build(&run, TWO, 1000 * 128, "");
	look_on(&look, &run);
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(look.count, 2);
	for (size_t i = 0; i < 2; i++)
		expect_causes(&look.rows[i], expected);
	look_away(&look);
	run_free(&run);
}

/* The longest time in which a worker's own packets kept its NIC busy right before another, of those
 * that leave now. */
static sim_time longest_turn(const struct why *why, sim_time now)
{
	sim_time longest = 0;

	for (size_t i = 1; i < why->step_count; i++) {
		const struct why_step *step = &why->steps[i];

		if (step->users && !step->hop && step->sent == now && !step->others &&
		    step->behind > longest)
			longest = step->behind;
	}
	return longest;
}

/* Bursts of 12 packets, so at most 11 are right before another. Four are in the port at a time, so
 * its ring holds the last 8. */
Test(why, turns_of_a_burst)
{
	sim_time longest = 0;
	struct run run;
	struct look look;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4, 'link': {"
		  " 'rate': '10Gbps', 'delay': '10ns' }, 'switch': { 'latency': '100ns' } },"
		  " 'schemes': { 'switchml': { 'slots': 12 } }, 'jobs': [ { 'workers': [0, 1],"
		  " 'iterations': 3, 'all_reduce': 'switchml', 'model': { 'layers': ["
		  " { 'gradient': '1536B', 'forward': '50us' } ] } } ] }");
	look_on(&look, &run);
	while (sim_observe(&run.s->sim, 1, run.s->observer)) {
		sim_time turn = longest_turn(look.why, run.s->sim.now);

		longest = turn > longest ? turn : longest;
	}
	cr_expect_eq(look.cause[WHY_UNEXPLAINED], 0);
	cr_expect(longest > 6 * X && longest <= 11 * X, "%lu x", (unsigned long)(longest / X));
	look_away(&look);
	run_free(&run);
}

/* One slot: each chunk goes when the sum of the one before is back, so all but the transmission
 * of each is the window's, from the second on. */
Test(why, few_slots_are_a_window)
{
	sim_time expected[WHY_CAUSES] = { [WHY_COMPUTE] = 100 * PS_PER_US,
					  [WHY_WIRE] = WAY + 9 * X,
					  [WHY_WINDOW] = 9 * (WAY - X) };
	struct run run;
	struct look look;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 },"
			" 'schemes': { 'switchml': { 'slots': 1 } },"
			" 'jobs': [ { 'workers': [0, 1], 'all_reduce': 'switchml', 'iterations': 1,"
			" 'model': { 'layers': [ { 'gradient': '1280B', 'forward': '50us',"
			" 'backward': '50us' } ] } } ] }");
	look_on(&look, &run);
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(look.count, 2);
	for (size_t i = 0; i < 2; i++)
		expect_causes(&look.rows[i], expected);
	look_away(&look);
	run_free(&run);
}

/* The last of two workers computes twice as long: the other one waits for it, who is named. */
Test(why, a_straggler_is_named)
{
	sim_time first[WHY_CAUSES] = { [WHY_COMPUTE] = 100 * PS_PER_US,
				       [WHY_STRAGGLER] = 100 * PS_PER_US,
				       [WHY_WIRE] = WAY + 9 * X };
	sim_time second[WHY_CAUSES] = { [WHY_COMPUTE] = 200 * PS_PER_US, [WHY_WIRE] = WAY + 9 * X };
	struct run run;
	struct look look;

	run_build(&run, TWO, 1280, ", 'stragglers': { 'workers': 1, 'slowdown': 2 }");
	look_on(&look, &run);
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(look.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct why_row *row = &look.rows[i];

		expect_causes(row, row->worker ? second : first);
		if (row->worker)
			continue;
		cr_expect_eq(row->peer.id, 1);
		cr_expect_eq(row->peer.times, 1);
		cr_expect_eq(row->peer.time, 100 * PS_PER_US);
	}
	look_away(&look);
	run_free(&run);
}

/* Sums that come by streams: what a stream is for decides what the wait for it is. Without losses
 * nobody waits for a timeout; with a server everybody waits for the straggler as long as it
 * computes longer, in a ring those that a late chunk has not come to yet. */
Test(why, a_straggler_of_streams)
{
	static const char *const streams[] = { "ring", "halving_doubling", "ps" };

	for (unsigned i = 0; i < 3; i++) {
		struct run run;
		struct look look;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8 },"
			  " 'jobs': [ { 'workers': 4, 'all_reduce': '%s', 'iterations': 1,"
			  " 'stragglers': { 'workers': 1, 'slowdown': 3 }, 'model': { 'layers':"
			  " [ { 'gradient': '300KB', 'forward': '50us', 'backward': '100us' } ] } "
			  "} ] }",
			  streams[i]);
		look_on(&look, &run);
		run_to(&run, END_ALL_DONE);
		cr_assert_eq(look.count, 4);
		cr_expect_eq(look.cause[WHY_TIMEOUT], 0, "%s", streams[i]);
		cr_expect_gt(look.cause[WHY_STRAGGLER], 300 * PS_PER_US, "%s", streams[i]);
		for (size_t w = 0; w < 4 && i == 2; w++)
			cr_expect_eq(look.rows[w].cause[WHY_STRAGGLER],
				     look.rows[w].worker < 3 ? 300 * PS_PER_US : 0);
		look_away(&look);
		run_free(&run);
	}
}

/* One write a picosecond, of a packet each. A hundred are acknowledged, 200 are not: each of their
 * packets is ready since its write. */
Test(why, a_write_is_known_until_it_is_acknowledged)
{
	uint64_t acked = 0, none = 0;
	struct why_conn conn = { .stream = WHY_PUSH,
				 .dst = 1,
				 .mask = 255,
				 .timeouts = &none,
				 .losses = &none,
				 .marks = &none,
				 .acked = &acked };
	struct run run;
	struct look look;
	sim_time begin;

	run_build(&run, TWO, 1280, "");
	look_on(&look, &run);
	while (!look.why->job_capacity || !why_job_of(look.why, 0))
		cr_assert(sim_observe(&run.s->sim, 1, run.s->observer));
	why_connection(look.why, &conn);
	begin = run.s->sim.now;
	for (uint64_t i = 0; i < 300; i++, run.s->sim.now++) {
		acked = i < 200 ? 0 : 100;
		why_writes(look.why, 0, 0, i + 1);
	}
	for (uint64_t seq = 100; seq < 300; seq += 50) {
		struct packet packet = { .kind = PACKET_DATA };
		const struct why_line *line = &look.why->lines[0];

		packet.seq = seq & conn.mask;
		look.why->onlooker.queued(&look.why->onlooker, 0, &packet, 0);
		cr_expect_eq(look.why->steps[line->ring[line->first & line->mask].step].ready,
			     begin + seq);
	}
	look_away(&look);
	run_free(&run);
}

/* Hosts 0 and 1 send the job's contributions alone, host 2 the second flow's data, host 3 its
 * ACKs: each up-link has one owner. */
Test(why, a_link_has_its_owner)
{
	const struct why_snapshot none = { 0 };
	const struct why_snapshot *list;
	struct run run;
	struct look look;

	run_build(&run, TWO, 1000 * 128,
		  ", 'name': 'two' } ], 'flows': [ { 'name': 'other', 'size': '1KB', 'pairs': [[2, "
		  "3]],"
		  " 'enabled': false, 'arrival': { 'at': '0s' }, 'count': 1 },"
		  " { 'name': 'f', 'size': '100KB', 'pairs': [[2, 3]], 'arrival': { 'at': '0s' },"
		  " 'count': 1");
	look_on(&look, &run);
	run_to(&run, END_ALL_DONE);
	for (uint32_t port = 0; port < 4; port++) {
		list = why_carried(look.why, &port, 1, &none);
		cr_assert_eq(list->count, 1);
		cr_expect_eq(list->volumes[0].owner, port < 2 ? 1 : (WHY_FLOWS | 1));
		cr_expect_eq(list->volumes[0].bytes[port < 2    ? WHY_AGGREGATION
						    : port == 2 ? WHY_DATA
								: WHY_CONTROL],
			     why_bytes(&list->volumes[0]));
		if (port == 2)
			cr_expect_geq(why_bytes(&list->volumes[0]), 100000);
	}
	cr_expect_str_eq(why_job_name(look.why, 0), "two");
	look_away(&look);
	run_free(&run);
}

/* --- every scheme, whatever happens --- */

static const char *const schemes[] = { "ring",      "halving_doubling", "double_tree", "ps",
				       "ps_stream", "switchml",         "atp",         "esa",
				       "panama",    "switchml_star",    "netreduce",   "sharp" };
#define TRIED (sizeof(schemes) / sizeof(schemes[0]))

static const struct trouble {
	const char *name, *topology, *link, *sw;
	unsigned causes;     /* bits: one of these is there, at least by some scheme */
	const char *only[3]; /* the schemes whose settings it changes; none: all */
} troubles[] = {
	{ "nothing", "", "", "", 0 },
	{ "loss", "", "'loss': 0.002,", "", 1u << WHY_TIMEOUT },
	{ "pause", "", "", ", 'ecn': false, 'buffer': '30KB', 'pause': true", 1u << WHY_PAUSE },
	{ "preemption", "", "", "", 1u << WHY_NO_AGGREGATOR, { "atp", "esa" } },
	{ "classes", "'classes': 'control-first',", "", "", 1u << WHY_QUEUE_FLOWS },
	{ "roce",
	  "",
	  "'loss': 0.0002,",
	  ", 'ecn': false, 'buffer': '100KB', 'pause': true",
	  1u << WHY_PAUSE,
	  { "ring", "ps", "netreduce" } },
	{ "all at once", "'classes': 'control-first',", "'loss': 0.002,",
	  ", 'ecn': false, 'buffer': '30KB', 'pause': true", 1u << WHY_FAST },
};

static void build(struct run *run, const struct trouble *trouble, const char *scheme)
{
	const char *transport = strcmp(trouble->name, "roce") ? "dctcp" : "roce";
	const char *memory = strcmp(trouble->name, "preemption") ? "64KB" : "4KB";

	run_build(run,
		  "{ 'name': 't', 'topology': { %s 'kind': 'leaf-spine', 'leaves': 2, 'spines': 2,"
		  " 'hosts_per_leaf': 8, 'link': { %s 'rate': '10Gbps' },"
		  " 'switch': { 'latency': '500ns' %s } },"
		  " 'schemes': { 'ring': { 'transport': '%s' }, 'ps': { 'transport': '%s' }, "
		  "'atp': { 'memory': '%s' }, 'esa': { 'memory': '%s' },"
		  " 'panama': { 'recovery': true, 'aggregate_above': '0B' },"
		  " 'switchml_star': { 'recovery': true, 'aggregate_above': '0B' } },"
		  " 'jobs': [ { 'count': 2, 'workers': 4, 'placement': 'spread',"
		  " 'all_reduce': '%s', 'iterations': 2, 'overlap': 'layers',"
		  " 'send_jitter': '5us', 'compute_jitter': 0.1, 'model': { 'layers': ["
		  " { 'gradient': '50KB', 'forward': '10us', 'backward': '20us' },"
		  " { 'gradient': '30KB', 'forward': '10us', 'backward': '20us' } ] } } ],"
		  " 'flows': [ { 'name': 'f', 'size': '50KB', 'arrival': { 'poisson_load': 0.3 },"
		  " 'stop': 'jobs_done' } ], 'stop': { 'when': 'jobs_done', 'after': '5s' } }",
		  trouble->topology, trouble->link, trouble->sw, transport, transport, memory,
		  memory, scheme);
}

/* Owners of what a link carried add up to its bytes as links.csv has them; all are known. */
static void expect_owners_add_up(struct look *look, struct run *run, const char *what)
{
	const struct network *net = &run->s->topo.net;
	const struct why_snapshot none = { 0 };
	uint64_t jobs[2] = { 0 }, flows = 0;

	for (uint32_t port = 0; port < net->port_count; port++) {
		const struct why_snapshot *list = why_carried(look->why, &port, 1, &none);
		uint64_t sum = 0, packets, carried;

		for (size_t i = 0; i < list->count; i++) {
			uint32_t owner = list->volumes[i].owner;

			sum += why_bytes(&list->volumes[i]);
			if (!owner && net->lossless) /* PAUSE frames */
				continue;
			cr_expect(owner == 1 || owner == 2 || owner == WHY_FLOWS, "%s: owner %u",
				  what, owner);
			cr_expect(!i || owner > list->volumes[i - 1].owner, "%s", what);
			*(owner & WHY_FLOWS ? &flows : &jobs[(owner - 1) & 1]) +=
				why_bytes(&list->volumes[i]);
		}
		port_carried(&net->ports[port], &packets, &carried);
		cr_expect_eq(sum, carried, "%s: port %u: %lu of %lu bytes", what, port,
			     (unsigned long)sum, (unsigned long)carried);
	}
	cr_expect(jobs[0] && jobs[1] && flows, "%s", what);
}

static bool tries(const struct trouble *trouble, const char *scheme)
{
	for (size_t i = 0; i < 3 && trouble->only[i]; i++)
		if (!strcmp(trouble->only[i], scheme))
			return true;
	return !trouble->only[0];
}

static uint64_t digest_unseen(const struct trouble *trouble, const char *scheme)
{
	struct run run;
	uint64_t digest;

	build(&run, trouble, scheme);
	run_to(&run, END_JOBS_DONE);
	digest = simulation_digest(run.s);
	run_free(&run);
	return digest;
}

/* Sums are exact (keep_row), rows follow each other without gap, nothing is unexplained, and the
 * run is the same as without anybody looking on (at night for each trouble). */
Test(why, adds_up_for_every_scheme)
{
	const size_t last = sizeof(troubles) / sizeof(troubles[0]) - 1; /* all at once */

	for (size_t t = 0; t <= last; t++) {
		sim_time seen = 0;

		for (size_t i = 0; i < TRIED; i++) {
			struct run run;
			struct look look;
			sim_time all = 0;

			if (!tries(&troubles[t], schemes[i]))
				continue;
			build(&run, &troubles[t], schemes[i]);
			look_on(&look, &run);
			run_to(&run, END_JOBS_DONE);
			if (t == last || getenv("NIGHTLY"))
				cr_expect_eq(simulation_digest(run.s),
					     digest_unseen(&troubles[t], schemes[i]), "%s, %s",
					     troubles[t].name, schemes[i]);
			cr_expect_eq(look.count, 2 * 4 * 2, "%s, %s", troubles[t].name, schemes[i]);
			cr_expect_eq(look.iterations, 2 * 2);
			expect_owners_add_up(&look, &run, schemes[i]);
			for (unsigned c = 0; c < WHY_CAUSES; c++) {
				all += look.cause[c];
				if (troubles[t].causes >> c & 1)
					seen += look.cause[c];
			}
			cr_expect_leq(look.cause[WHY_UNEXPLAINED], all / 100,
				      "%s, %s: %lu of %lu ps unexplained", troubles[t].name,
				      schemes[i], (unsigned long)look.cause[WHY_UNEXPLAINED],
				      (unsigned long)all);
			look_away(&look);
			run_free(&run);
		}
		cr_expect(!troubles[t].causes || seen > 0, "%s leaves no trace", troubles[t].name);
	}
}

/* --- GPUs and pipelines --- */

static sim_time sum_of(const sim_time cause[WHY_CAUSES])
{
	sim_time all = 0;

	for (unsigned c = 0; c < WHY_CAUSES; c++)
		all += cause[c];
	return all;
}

/* Runs one job of `ranks` ranks, whose parts add up to its time, once for each rank. */
static sim_time run_ranks(struct look *look, uint32_t ranks, const char *host, const char *job)
{
	struct run run;
	sim_time time;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 16, 'switch': { 'pause': "
		  "true }, 'host': { 'nic_jitter': '0s', %s } }, 'schemes': { 'switchml': { "
		  "'slots': 64 }, 'panama': { 'aggregate_above': '0B' } }, 'jobs': [ { %s } ] }",
		  host, job);
	look_on(look, &run);
	run_to(&run, END_ALL_DONE);
	time = run.s->sim.now - look->rows[0].begin;
	cr_expect_eq(sum_of(look->part), ranks * time, "%s: %lu ps", job,
		     (unsigned long)sum_of(look->part));
	look_away(look);
	run_free(&run);
	return time;
}

/* Stages that compute F and B of a micro-batch, and messages of a byte: each stage idles for
 * (P - 1) (F + B) an iteration, and that is a bubble. What is left is the messages. */
Test(why, a_bubble_is_no_straggler)
{
	static const char *const schedules[] = { "gpipe", "1f1b" };

	for (unsigned i = 0; i < 4; i++) {
		unsigned p = 2u << i / 2, m = 8;
		sim_time stage = 24 * MS / p, bubble; /* F + B of a micro-batch */
		struct look look;
		char layers[1024] = "", job[2048];

		for (unsigned l = 0; l < 8; l++)
			snprintf(layers + strlen(layers), sizeof(layers) - strlen(layers),
				 "%s{ 'gradient': '4B', 'forward': '8ms', 'backward': '16ms' }",
				 l ? ", " : "");
		snprintf(job, sizeof(job),
			 "'all_reduce': 'ring', 'overlap': 'layers', 'workers': %u, 'iterations': "
			 "2, 'pipeline': { 'stages': %u, 'microbatches': %u, 'schedule': '%s' }, "
			 "'model': { 'layers': [ %s ] }",
			 p, p, m, schedules[i % 2], layers);
		run_ranks(&look, p, "'gpus': { 'count': 1 }", job);
		bubble = look.part[WHY_BUBBLE];
		cr_expect_eq(look.part[WHY_COMPUTE], 2 * p * m * stage);
		cr_expect_float_eq((double)bubble / (double)(2 * p * (p - 1) * stage), 1, 2e-3,
				   "%s, %u: %lu ps", schedules[i % 2], p, (unsigned long)bubble);
		cr_expect_lt(look.part[WHY_STRAGGLER], MS / 10);
	}
}

#define FOUR "'gpus': { 'count': 4, 'rate': '400Gbps', 'latency': '2us' }"

/* Inside a machine by closed form, NVLS: (n + 1) / n S / B and two latencies. A rank that computes
 * 1 ms longer is a straggler for the three others; it waits for none. */
Test(why, inside_a_machine)
{
	struct look look;
	sim_time whole = 5 * 20 * PS_PER_US + 4 * PS_PER_US;
	const char *job = "'all_reduce': 'nvls', 'iterations': 2, %s 'model': { 'roles': [ { "
			  "'ranks': [0, 1, 2, 3], 'nodes': [ { 'compute': '1ms' }, { "
			  "'all_reduce': '4MB' } ] } ] }";
	char text[512];

	snprintf(text, sizeof(text), job, "");
	run_ranks(&look, 4, FOUR, text);
	cr_expect_eq(look.cause[WHY_INSIDE], 2 * 4 * whole, "%lu ps",
		     (unsigned long)look.cause[WHY_INSIDE]);
	cr_expect_eq(look.cause[WHY_COMPUTE], 2 * 4 * MS);
	snprintf(text, sizeof(text), job, "'stragglers': { 'workers': 1, 'slowdown': 2 },");
	run_ranks(&look, 4, FOUR, text);
	cr_expect_eq(look.cause[WHY_INSIDE], 2 * 4 * whole);
	cr_expect_eq(look.cause[WHY_STRAGGLER], 2 * 3 * MS, "%lu ps",
		     (unsigned long)look.cause[WHY_STRAGGLER]);
	for (size_t i = 0; i < look.count; i++)
		cr_expect_eq(look.rows[i].cause[WHY_STRAGGLER], look.rows[i].worker < 3 ? MS : 0);
}

/* Jobs of GPUs by schemes of all kinds, inside machines and between them, whose NICs all of a
 * machine share, or have each: next to nothing is unexplained. Where all wait for the straggler,
 * it costs the others what it computes longer. */
Test(why, gpus_add_up)
{
	static const char *const hosts[] = { FOUR, FOUR ", 'nics': { 'count': 2 }",
					     FOUR ", 'nics': { 'count': 4, 'wiring': 'rails' }" };
#define LAYERS                                                                                     \
	", 'model': { 'layers': [ { 'gradient': '4MB', 'backward': '50us' }, { 'gradient': "       \
	"'2MB', 'backward': '50us' } ] }"
	static const struct {
		uint32_t ranks;
		bool all_wait;
		const char *job;
	} tried[] = {
		{ 4, false, "'ring', 'inside': 'ring'" },
		{ 4, true, "'ring', 'inside': 'scatter'" },
		{ 4, true, "'switchml', 'inside': 'master'" },
		{ 4, false, "'double_tree', 'inside': 'ring'" },
		{ 4, true, "'sharp', 'launch': '20us', 'conversion': '20GBps'" },
		{ 4, false, "'panama', 'overlap': 'layers'" },
		{ 4, true, "'ps', 'servers': { 'placement': 'workers' }" },
		{ 16, false, "'ring', 'sharding': 'full'" },
		{ 16, true, "'sharp', 'sharding': 'optimizer', 'all_gather': 'sharp'" },
		{ 16, false,
		  "'switchml', 'overlap': 'layers', 'pipeline': { 'stages': 2, 'microbatches': 4, "
		  "'activations': '100KB' }" },
	};

	for (size_t n = 0; n < 3 * sizeof(tried) / sizeof(*tried); n++) {
		uint32_t ranks = tried[n / 3].ranks;
		const char *host = hosts[n % 3], *of = tried[n / 3].job;
		struct look look;
		char job[512];

		snprintf(job, sizeof(job),
			 "'workers': 4, 'iterations': 2, 'stragglers': { 'workers': 1, 'slowdown': "
			 "11 }, 'all_reduce': %s" LAYERS,
			 of);
		run_ranks(&look, ranks, host, job);
		cr_expect_eq(look.count, 2 * ranks, "%s, %s: %zu rows", of, host, look.count);
		cr_expect_leq(look.cause[WHY_UNEXPLAINED], sum_of(look.cause) / 100,
			      "%s, %s: %lu of %lu ps unexplained", of, host,
			      (unsigned long)look.cause[WHY_UNEXPLAINED],
			      (unsigned long)sum_of(look.cause));
		if (tried[n / 3].all_wait)
			cr_expect_float_eq((double)look.part[WHY_STRAGGLER] /
						   (double)(2 * MS * (ranks - 1)),
					   1, 0.05, "%s, %s: %lu ps", of, host,
					   (unsigned long)look.part[WHY_STRAGGLER]);
	}
}

/* Servers on workers' hosts tell their own worker, in an event of its own, what they learn from
 * others. Where such messages have no way, 11 % of the time stay unexplained. */
Test(why, follows_messages_within_a_host)
{
	struct run run;
	struct look look;
	sim_time all = 0;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'fat-tree', 'k': 4,"
		  " 'link': { 'rate': '1Gbps' }, 'switch': { 'buffer': '60kB' } },"
		  " 'schemes': { 'esa': { 'halve_on': 'nothing', 'timeout_resends': 'all' } },"
		  " 'jobs': [ { 'all_reduce': 'esa', 'workers': 5, 'count': 3,"
		  " 'servers': { 'placement': 'workers' },"
		  " 'model': { 'layers': [ { 'gradient': '524288B' } ] } } ],"
		  " 'stop': { 'when': 'jobs_done', 'after': '50s' } }");
	look_on(&look, &run);
	run_to(&run, END_JOBS_DONE);
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		all += look.cause[c];
	cr_expect_leq(look.cause[WHY_UNEXPLAINED], all / 100, "%lu of %lu ps unexplained",
		      (unsigned long)look.cause[WHY_UNEXPLAINED], (unsigned long)all);
	look_away(&look);
	run_free(&run);
}

/* --- losses, stragglers and flows, in every combination --- */

static void build_lossy(struct run *run, const char *scheme, const char *loss, bool straggles,
			bool flows)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 4, 'spines': 2,"
		  " 'hosts_per_leaf': 4, 'link': { 'rate': '10Gbps', 'loss': %s } },"
		  " 'schemes': { 'panama': { 'recovery': true, 'aggregate_above': '0B' },"
		  " 'switchml_star': { 'recovery': true, 'aggregate_above': '0B' } },"
		  " 'jobs': [ { 'workers': 4, 'all_reduce': '%s', 'iterations': 2 %s, 'model': {"
		  " 'layers': [ { 'gradient': '100KB', 'forward': '50us', 'backward': '100us' } ] }"
		  " } ] %s, 'stop': { 'when': 'jobs_done', 'after': '50s' } }",
		  loss, scheme,
		  straggles
			  ? ", 'stragglers': { 'workers': 2, 'slowdown': 3 }, 'compute_jitter': 0.3"
			  : "",
		  flows ? ", 'flows': [ { 'name': 'f', 'size': '50KB', 'stop': 'jobs_done',"
			  " 'arrival': { 'poisson_load': 0.3 } } ]"
			: "");
}

/* Few losses with both others, at night also without. Without a loss nothing waits for what was
 * lost; with one, what waits for it is no lack of
 * aggregators, of which the job has ample. */
Test(why, explains_losses_stragglers_and_flows)
{
	static const char *const losses[] = { "0", "0.0005", "0.005" };

	for (size_t i = 0; i < TRIED; i++)
		for (unsigned at = 0; at < 3 * 4; at++) {
			const char *loss = losses[at % 3];
			struct run run;
			struct look look;
			sim_time all = 0;

			if (at % 3 == 1 && at / 3 < 3 && !getenv("NIGHTLY"))
				continue;
			build_lossy(&run, schemes[i], loss, at / 3 & 1, at / 6 & 1);
			look_on(&look, &run);
			run_to(&run, END_JOBS_DONE);
			for (unsigned c = 0; c < WHY_CAUSES; c++)
				all += look.cause[c];
			cr_expect_lt(look.cause[WHY_UNEXPLAINED], all / 100,
				     "%s, loss %s, %u: %lu of %lu ps unexplained", schemes[i], loss,
				     at / 3, (unsigned long)look.cause[WHY_UNEXPLAINED],
				     (unsigned long)all);
			cr_expect_lt(look.cause[WHY_NO_AGGREGATOR], all / 10,
				     "%s, loss %s, %u: %lu of %lu ps for lack of an aggregator",
				     schemes[i], loss, at / 3,
				     (unsigned long)look.cause[WHY_NO_AGGREGATOR],
				     (unsigned long)all);
			look_away(&look);
			run_free(&run);
		}
}

/* --- switch a cause off, and it goes --- */

#define LOSSY "'link': { 'loss': 0.002 },"
#define FLOWS                                                                                      \
	"'flows': [ { 'name': 'f', 'size': '50KB', 'stop': 'jobs_done', 'arrival': { "             \
	"'poisson_load': 0.4 } } ],"
#define AGAIN  ", 'count': 3, 'placement': 'spread'"
#define SHARED "'host': { 'slots': 4 },"
#define SHORT  "'buffer': '30KB', 'ecn': false"
#define LITTLE "'schemes': { 'esa': { 'memory': '1KB' } },"

static const struct switched {
	enum why_cause cause;
	const char *scheme;
	const char *on[3], *off[3]; /* members of the topology, the scenario, the job */
} switched[] = {
	{ WHY_COMPUTE,
	  "ring",
	  { "", "", ", 'compute_scale': 1" },
	  { "", "", ", 'compute_scale': 0" } },
	{ WHY_JITTER, "switchml", { "", "", ", 'send_jitter': '50us'" }, { "", "", "" } },
	{ WHY_WINDOW,
	  "switchml",
	  { "", "'schemes': { 'switchml': { 'slots': 4 } },", "" },
	  { "", "'schemes': { 'switchml': { 'slots': 1024 } },", "" } },
	{ WHY_WINDOW_MARKS,
	  "ring",
	  { "'switch': { 'ecn': { 'threshold': '5pkt' } },", FLOWS, "" },
	  { "'switch': { 'ecn': false },", FLOWS, "" } },
	{ WHY_WINDOW_LOSSES,
	  "atp",
	  { LOSSY, "'schemes': { 'atp': { 'halve_on': 'loss' } },", "" },
	  { "", "'schemes': { 'atp': { 'halve_on': 'loss' } },", "" } },
	{ WHY_NIC, "ring", { "", FLOWS, "" }, { "", "", "" } },
	{ WHY_QUEUE_JOBS, "ring", { SHARED, "", ", 'count': 4" }, { SHARED, "", "" } },
	{ WHY_QUEUE_FLOWS, "switchml", { "", FLOWS, "" }, { "", "", "" } },
	{ WHY_PAUSE,
	  "atp",
	  { "'switch': { " SHORT ", 'pause': true },", FLOWS, "" },
	  { "'switch': { " SHORT " },", FLOWS, "" } },
	{ WHY_STRAGGLER,
	  "switchml",
	  { "", "", ", 'stragglers': { 'workers': 1, 'slowdown': 3 }" },
	  { "", "", "" } },
	{ WHY_SERVER, "ps", { "'host': { 'reduction_rate': '2Gbps' },", "", "" }, { "", "", "" } },
	{ WHY_SERVER,
	  "ps_stream",
	  { "'host': { 'reduction_rate': '2Gbps' },", "", "" },
	  { "", "", "" } },
	{ WHY_SERVER,
	  "ring",
	  { "", "'schemes': { 'ring': { 'step_latency': '3us' } },", "" },
	  { "", "", "" } },
	{ WHY_NO_AGGREGATOR, "esa", { "", LITTLE, AGAIN }, { "", "", AGAIN } },
	{ WHY_TIMEOUT, "esa", { LOSSY, "", "" }, { "", "", "" } },
	{ WHY_TIMEOUT, "switchml", { LOSSY, "", "" }, { "", "", "" } },
	{ WHY_FAST, "ring", { LOSSY, "", "" }, { "", "", "" } },
};

static double share_of(const struct switched *one, const char *const members[3])
{
	struct run run;
	struct look look;
	sim_time all = 0;
	double share;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', %s 'hosts': 16 }, %s"
		  " 'jobs': [ { 'workers': 4, 'all_reduce': '%s', 'iterations': 2 %s, 'model': {"
		  " 'layers': [ { 'gradient': '400KB', 'forward': '50us', 'backward': '100us' } ] }"
		  " } ], 'stop': { 'when': 'jobs_done', 'after': '50s' } }",
		  members[0], members[1], one->scheme, members[2]);
	look_on(&look, &run);
	run_to(&run, END_JOBS_DONE);
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		all += look.cause[c];
	share = (double)look.cause[one->cause] / (double)all;
	look_away(&look);
	run_free(&run);
	return share;
}

/* wire and queue_own cannot be switched off. */
Test(why, a_cause_that_is_switched_off_goes)
{
	for (size_t i = 0; i < sizeof(switched) / sizeof(switched[0]); i++) {
		const struct switched *one = &switched[i];
		double on = share_of(one, one->on), off = share_of(one, one->off);

		cr_expect_gt(on, 0.0001, "%s of %s: %.4f", why_cause_names[one->cause], one->scheme,
			     on);
		cr_expect_lt(off, on / 20, "%s of %s: %.4f, and %.4f without",
			     why_cause_names[one->cause], one->scheme, on, off);
	}
}
