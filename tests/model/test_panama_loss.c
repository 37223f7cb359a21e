/* PANAMA when packets are lost or late: recovery, what happens without it, and sums that do
 * not wait for all (PANAMA-0.88). */
#include "test_panama.h"

#include "core/rng.h"

/* --- recovery --- */

/* A packet is lost for every entry of `doomed` that fits it, once each. */
struct doom {
	bool result, repair;
	uint32_t tree;
	uint64_t vid;
	uint32_t from;   /* node that sends it: a host, hosts + switch */
	uint32_t behind; /* 1 + the node that does not get it; 0 = any */
	bool done;
};

struct dooms {
	struct bench *bench;
	struct doom *list;
	unsigned count, lost;
};

static uint32_t sender(const struct bench *bench, uint32_t port)
{
	return bench->net->ports[bench->net->cold[port].reverse].to;
}

static bool lose_doomed(void *owner, uint32_t port, const struct packet *packet)
{
	struct dooms *dooms = owner;
	const struct panama_sequence *sequence;

	if (packet->kind != PACKET_AGGREGATION)
		return false;
	sequence = bench_sequence(dooms->bench, packet->flow);
	for (unsigned i = 0; sequence && i < dooms->count; i++) {
		struct doom *d = &dooms->list[i];

		if (d->done || d->result != !!(packet->flags & PACKET_RESULT) ||
		    d->repair != sequence->repair || d->tree != sequence->tree ||
		    d->vid != packet->seq || d->from != sender(dooms->bench, port) ||
		    (d->behind && d->behind != dooms->bench->net->ports[port].to + 1))
			continue;
		d->done = true;
		dooms->lost++;
		return true;
	}
	return false;
}

#define TWO_RACKS                                                                                  \
	"'topology': {'kind': 'leaf-spine', 'leaves': 2, 'spines': 2, 'hosts_per_leaf': 2, "       \
	"'link': {'rate': '10Gbps'}}, 'schemes': {'panama': {'aggregate_above': '0B', "            \
	"'recovery': true, 'retransmission_timeout': '1ms'}}, 'jobs': [{'all_reduce': 'panama', "  \
	"'workers': 4, 'iterations': %u, 'model': {'layers': [{'gradient': '%uB'}]}}]}"

/* 2 racks of 2 (hosts 0..3, leaves 4, 5), spines 6, 7, two trees; 20 chunks, so VIDs 0..9. Returns
 * how many packets were sent again. */
static uint64_t lose_some(const char *what, struct doom *list, unsigned count, bool timeout)
{
	struct bench bench;
	struct dooms dooms = { &bench, list, count, 0 };
	struct network_faults faults = { .lose = lose_doomed, .owner = &dooms };
	struct collective_stats stats = { 0 };

	bench_open(&bench, false, "{'name': 't', " TWO_RACKS, 2, 20 * 1448);
	network_inject(bench.net, &faults);
	bench_finish(&bench);
	jobs_stats(bench.run.s->jobs, &stats);
	cr_expect_eq(dooms.lost, count, "%s: %u lost", what, dooms.lost);
	cr_expect_eq(stats.timeouts > 0, timeout, "%s: %" PRIu64 " timeouts", what, stats.timeouts);
	bench_close(&bench);
	return stats.retransmissions;
}

/* A contribution that is lost with others behind it is known to be lost when the next result
 * comes, and sent again without a timer; at the end of the tensor, by the timer of worker 0. */
Test(panama_recovery, contributions)
{
	for (uint32_t from = 0; from < 6; from++) { /* four hosts, two leaves */
		struct doom first = { .vid = 0, .from = from };
		struct doom middle = { .vid = 4, .tree = 1, .from = from };
		struct doom last = { .vid = 9, .from = from };
		struct doom run[] = { { .vid = 3, .from = from },
				      { .vid = 4, .from = from },
				      { .vid = 5, .from = from } };

		cr_expect_eq(lose_some("first", &first, 1, false), 4, "once by each worker");
		cr_expect_eq(lose_some("middle", &middle, 1, false), 4);
		lose_some("last", &last, 1, true);
		cr_expect_eq(lose_some("three in a row", run, 3, false), 4 * 3);
	}
}

/* A result that only some lack is asked for; worker 0 orders it again. */
Test(panama_recovery, results)
{
	for (uint32_t tree = 0; tree < 2; tree++) {
		struct doom worker_0 = {
			.result = true, .vid = 4, .tree = tree, .from = 4, .behind = 1
		};
		struct doom worker_1 = {
			.result = true, .vid = 4, .tree = tree, .from = 4, .behind = 2
		};
		struct doom rack = {
			.result = true, .vid = 4, .tree = tree, .from = 6 + tree, .behind = 6
		};
		struct doom last = { .result = true, .vid = 9, .tree = tree, .from = 6 + tree };

		lose_some("worker 0", &worker_0, 1, false);
		lose_some("worker 1", &worker_1, 1, true);
		lose_some("the second rack", &rack, 1, true);
		lose_some("a rack, the last", &last, 1, true);
	}
}

/* The last two chunks are lost, and the first of them three times: timeouts of 1, 2 and 4 ms repair
 * it, and the next is as short as the first again. */
Test(panama_recovery, timeouts_are_short_again)
{
	struct doom list[] = { { .vid = 8, .from = 2 },
			       { .vid = 9, .from = 2 },
			       { .repair = true, .vid = 0, .from = 1 },
			       { .repair = true, .vid = 1, .from = 1 } };
	struct bench bench;
	struct dooms dooms = { &bench, list, 4, 0 };
	struct network_faults faults = { .lose = lose_doomed, .owner = &dooms };

	bench_open(&bench, false, "{'name': 't', " TWO_RACKS, 1, 20 * 1448);
	network_inject(bench.net, &faults);
	bench_finish(&bench);
	cr_expect_eq(dooms.lost, 4);
	cr_expect_float_eq(duration(&bench, 0), 1e-3 + 2e-3 + 4e-3 + 1e-3, 0.2e-3, "%g",
			   duration(&bench, 0));
	bench_close(&bench);
}

/* What was sent again is lost again: a contribution, a result, both, and the same packet many
 * times. */
Test(panama_recovery, repairs)
{
	struct doom again[] = { { .vid = 3, .from = 2 }, { .repair = true, .vid = 0, .from = 1 } };
	struct doom result[] = { { .vid = 9, .from = 2 },
				 { .repair = true, .result = true, .vid = 0, .from = 6 },
				 { .repair = true, .result = true, .vid = 1, .from = 4 } };
	struct doom often[12] = { { .vid = 2, .from = 3 } };

	for (unsigned i = 1; i < 12; i++)
		often[i] = (struct doom){ .repair = true, .vid = i - 1, .from = i % 4 };
	/* once at once, once by the timer; the second one's result shows that the first is lost,
	 * but nothing is missing any more */
	cr_expect_eq(lose_some("repair", again, 2, true), 4 * 2);
	lose_some("result of a repair", result, 3, true);
	lose_some("eleven times", often, 12, true);
}

/* A whole window, and the whole first round. */
Test(panama_recovery, everything_for_a_while)
{
	struct doom all[8];

	for (unsigned i = 0; i < 8; i++)
		all[i] = (struct doom){ .tree = i % 2, .vid = i / 2 % 2, .from = i / 4 };
	lose_some("the first round", all, 8, true);
}

/* A star of 8: memory for one packet of each FIFO and sequence, or two. Orders wait for TCP's
 * timeouts while the windows of others are out, timers send more than there is place for, and yet
 * every job ends: half of the memory is for repairs, at most wnd_cap of them are out but for what
 * timers order, and what finds no place still says how far its sender is. */
Test(panama_recovery, memory_for_a_packet)
{
	static const unsigned kilobytes[] = { 24, 48 };

	for (unsigned i = 0; i < 8; i++) {
		struct collective_stats stats = { 0 };
		struct bench bench;

		bench_open(
			&bench, false,
			"{'name': 't', 'seed': %u, 'stop': {'after': '100s'}, 'topology': "
			"{'kind': 'star', 'hosts': 8, 'link': {'rate': '10Gbps', 'delay': '1us', "
			"'loss': %s}}, 'schemes': {'panama': {'aggregate_above': '0B', "
			"'recovery': true, 'memory': '%uKB', 'retransmission_timeout': '1ms'}}, "
			"'jobs': [{'workers': 8, 'all_reduce': 'panama', 'model': {'layers': "
			"[{'gradient': '10MB'}]}}]}",
			1 + i / 4, i / 2 % 2 ? "0.01" : "0.001", kilobytes[i % 2]);
		bench_finish(&bench);
		jobs_stats(bench.run.s->jobs, &stats);
		cr_expect_gt(stats.timeouts, 0);
		cr_expect(i % 2 || switch_stats(&bench).overflows > 0);
		bench_close(&bench);
	}
}

/* Every tenth contribution of worker 1, never the last. */
static bool lose_every_tenth(void *owner, uint32_t port, const struct packet *packet)
{
	const struct bench *bench = owner;
	const struct panama_sequence *sequence = bench_sequence(bench, packet->flow);

	return packet->kind == PACKET_AGGREGATION && !(packet->flags & PACKET_RESULT) && sequence &&
	       !sequence->repair && packet->seq % 10 == 5 && sender(bench, port) == 1;
}

/* What bounds repairs is how many are out, not how many there have been: of a job with 600 chunks,
 * 60 are sent again by all four workers where wnd_cap is 16, and no timer runs out. */
Test(panama_recovery, more_repairs_than_the_cap)
{
	struct collective_stats stats = { 0 };
	struct bench bench;
	struct network_faults faults = { .lose = lose_every_tenth, .owner = &bench };

	bench_open(&bench, false,
		   "{'name': 't', 'topology': {'kind': 'star', 'hosts': 4, 'link': {'rate': "
		   "'10Gbps', 'delay': '1us'}}, 'schemes': {'panama': {'aggregate_above': '0B', "
		   "'trees': 1, 'recovery': true, 'memory': '%uB'}}, 'jobs': [{'workers': 4, "
		   "'all_reduce': 'panama', 'model': {'layers': [{'gradient': '%uB'}]}}]}",
		   2 * 4 * 16 * (1448 + 52), 600 * 1448);
	network_inject(bench.net, &faults);
	bench_finish(&bench);
	jobs_stats(bench.run.s->jobs, &stats);
	cr_expect_eq(stats.retransmissions, 4 * 60);
	cr_expect_eq(stats.timeouts, 0);
	cr_expect_eq(bench.cap[0][0], 16);
	bench_close(&bench);
}

/* Random losses on every link, up to 1 %: everything arrives, right at all workers, on one switch,
 * in racks and in a fat tree, in several iterations and with layers that overlap. */
Test(panama_recovery, random_losses)
{
	static const struct {
		const char *topology;
		unsigned workers;
	} cases[] = {
		{ "'kind': 'star', 'hosts': 4", 4 },
		{ "'kind': 'leaf-spine', 'leaves': 3, 'spines': 4, 'hosts_per_leaf': 3", 9 },
		{ "'kind': 'fat-tree', 'k': 4", 16 },
	};
	static const double losses[] = { 1e-4, 1e-3, 1e-2 };

	for (size_t i = 0; i < 3; i++) {
		for (size_t l = 0; l < 3; l++) {
			struct collective_stats stats = { 0 };
			struct bench bench;

			bench_open(&bench, false,
				   "{'name': 't', 'seed': %zu, 'topology': {%s, 'link': {'rate': "
				   "'10Gbps', 'loss': %g}}, 'schemes': {'panama': "
				   "{'aggregate_above': '0B', 'recovery': true, "
				   "'retransmission_timeout': '500us'}}, 'jobs': [{'all_reduce': "
				   "'panama', 'workers': %u, 'iterations': 2, 'overlap': 'layers', "
				   "'compute_jitter': 0.5, 'model': {'layers': [{'gradient': "
				   "'500kB', 'backward': '10us'}, {'gradient': '700kB', "
				   "'backward': '10us'}]}}]}",
				   7 * i + l, cases[i].topology, losses[l], cases[i].workers);
			bench_finish(&bench);
			jobs_stats(bench.run.s->jobs, &stats);
			cr_expect(l == 0 || stats.retransmissions > 0);
			cr_expect_gt(bench.run.s->topo.net.lost, 0);
			bench_close(&bench);
		}
	}
}

/* In strict order, too, where repairs may be faster than what waits for its turn. */
Test(panama_recovery, strict_order)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct bench bench;

		bench_open(&bench, false,
			   "{'name': 't', 'seed': %u, 'topology': {'kind': 'leaf-spine', 'leaves': "
			   "2, 'spines': 4, 'hosts_per_leaf': 2, 'link': {'rate': '10Gbps', "
			   "'loss': 0.03}}, 'schemes': {'panama': {'aggregate_above': '0B', "
			   "'order': 'strict', 'recovery': true, 'retransmission_timeout': "
			   "'100us'}}, 'jobs': [{'all_reduce': 'panama', 'workers': 4, 'model': "
			   "{'layers': [{'gradient': '1MB'}]}}]}",
			   seed);
		bench_finish(&bench);
		bench_close(&bench);
	}
}

/* Without losses recovery sends nothing again, and asks nobody. */
Test(panama_recovery, costs_nothing_without_losses)
{
	struct collective_stats stats = { 0 };
	struct bench bench;

	bench_open(&bench, false, "{'name': 't', " TWO_RACKS, 3, 1000 * 1448);
	bench_finish(&bench);
	jobs_stats(bench.run.s->jobs, &stats);
	cr_expect_eq(stats.retransmissions + stats.timeouts + stats.repairs + stats.stale, 0);
	cr_expect_eq(bench.from_hosts, 3 * 4 * 1000);
	cr_expect_eq(bench.run.s->checks.exact_checked, 3 * 4 * 1000);
	bench_close(&bench);
}

/* A worker that starts late is no loss: others time out, order and ask, and all ends well. */
Test(panama_recovery, a_late_worker)
{
	for (unsigned stragglers = 1; stragglers < 4; stragglers++) {
		struct bench bench;

		bench_open(
			&bench, false,
			"{'name': 't', 'topology': {'kind': 'star', 'hosts': 4, 'link': {'rate': "
			"'10Gbps', 'loss': 0.003}}, 'schemes': {'panama': {'aggregate_above': "
			"'0B', 'recovery': true, 'retransmission_timeout': '100us'}}, 'jobs': "
			"[{'all_reduce': 'panama', 'workers': 4, 'iterations': 3, 'stragglers': "
			"{'workers': %u, 'slowdown': 51}, 'model': {'layers': [{'gradient': "
			"'1MB', 'backward': '100us'}]}}]}",
			stragglers);
		bench_finish(&bench);
		bench_close(&bench);
	}
}

/* --- without recovery --- */

/* Expected_VID passes over what is lost, the sum of the others goes on, and the job never ends; the
 * report says so. */
Test(panama_loss, without_recovery_a_job_never_ends)
{
	struct doom doom = { .vid = 3, .from = 1 };
	struct bench bench;
	struct dooms dooms = { &bench, &doom, 1, 0 };
	struct network_faults faults = { .lose = lose_doomed, .owner = &dooms };
	char *text = NULL;
	size_t length = 0;
	FILE *to = open_memstream(&text, &length);

	leaf_spine(&bench, 2, 2, 2, "", "", "4", 20 * 1448, "");
	bench.at_host = NULL;
	network_inject(bench.net, &faults);
	bench.net->protocols[bench.scheme->base.protocol].ops =
		bench.real; /* no tap: VIDs are missing */
	bench.net->protocols[bench.scheme->base.protocol].self = bench.real_self;
	run_to(&bench.run, END_DEADLOCK);
	cr_expect_eq(dooms.lost, 1);
	cr_expect_eq(switch_stats(&bench).results, 19);
	cr_expect_eq(switch_stats(&bench).discarded, 1 + 1); /* at its leaf, and the other leaf's */
	simulation_report(bench.run.s, to);
	fclose(to);
	cr_expect_not_null(strstr(text, "lacks 1 results, which will never come"), "%s", text);
	free(text);
	bench_close(&bench);
}

/* What else helps where accelerators drop for want of memory hangs on the settings: what is lost
 * for ever without recovery is sent again with it, and sums of a fraction need no recovery. */
Test(panama_loss, advice_about_full_memory)
{
	static const struct {
		const char *scheme, *advice;
	} cases[] = {
		{ "", "jobs run at once, or set \"recovery\" to true\n" },
		{ ", 'fraction': 0.5", "jobs run at once\n" },
		{ ", 'recovery': true", "jobs run at once, or lower \"retransmission_timeout\"\n" },
	};

	for (size_t i = 0; i < 3; i++) {
		char *text = NULL;
		size_t length = 0;
		FILE *to = open_memstream(&text, &length);
		struct panama_job *job;
		struct bench bench;

		leaf_spine(&bench, 2, 2, 2, "", cases[i].scheme, "4", 1000 * 1448, "");
		run_until(&bench.run, 20 * PS_PER_US);
		job = ina_find(&bench.scheme->base.jobs, 0);
		job->overflows = 3; /* by hand */
		simulation_waiting(bench.run.s, to);
		fclose(to);
		cr_expect_not_null(strstr(text, "dropped 3 of its packets"), "%s", text);
		cr_expect_not_null(strstr(text, cases[i].advice), "%s", text);
		free(text);
		bench_close(&bench);
	}
}

/* --- fractions --- */

struct partials {
	uint32_t min, max;
};

static void note_workers(struct bench *bench, struct panama_worker *worker,
			 struct panama_sequence *sequence, const struct packet *packet)
{
	struct partials *partials = bench->owner;

	(void)worker, (void)sequence;
	if (packet->own[PANAMA_WORKERS] < partials->min)
		partials->min = packet->own[PANAMA_WORKERS];
	if (packet->own[PANAMA_WORKERS] > partials->max)
		partials->max = packet->own[PANAMA_WORKERS];
}

/* 25 workers on one switch, one of them behind a link that a flow fills: with 0.88, 22 are enough
 * and the job is not slowed down; the last packet of a tensor has all 25, or 22 if the fraction is
 * enough for it, too. With 1 the job gets half of the link at best. Every sum is checked against
 * those who are in it. */
Test(panama_fraction, does_not_wait_for_the_slowest)
{
	static const char *const fractions[] = { "1", "0.88", "0.88, 'fraction_last': 'fraction'" };
	double time[3];

	for (unsigned f = 0; f < 3; f++) {
		struct partials partials = { UINT32_MAX, 0 };
		struct bench bench;

		bench_open(&bench, false,
			   "{'name': 't', 'stop': {'when': 'jobs_done', 'after': '10s'}, "
			   "'topology': {'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, "
			   "'hosts_per_leaf': 25, 'uplink': {'rate': '10Gbps'}, 'link': {'rate': "
			   "'10Gbps'}, 'switch': {'buffer': '100MB'}}, 'schemes': {'panama': "
			   "{'aggregate_above': '0B', 'fraction': %s}}, 'jobs': [{'all_reduce': "
			   "'panama', 'workers': [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,"
			   "19,20,21,22,23,24], 'model': {'layers': [{'gradient': '5MB'}]}}], "
			   "'flows': [{'pairs': [[24, 30]], 'size': '500MB', 'arrival': {'at': "
			   "'0s'}}]}",
			   fractions[f]);
		bench.at_host = note_workers;
		bench.owner = &partials;
		run_to(&bench.run, END_JOBS_DONE);
		cr_expect_eq(switch_stats(&bench).late > 0, f > 0);
		time[f] = duration(&bench, 0);
		cr_expect_eq(partials.min, f ? 22 : 25);
		cr_expect_eq(partials.max, f < 2 ? 25 : 22);
		bench_close(&bench);
	}
	cr_expect_gt(time[0], 1.5 * 5e6 / 1448 * 1.216e-6);
	expect_near(time[1], 5e6 / 1448 * 1.216e-6, 0.05, "with 0.88, s");
	cr_expect_lt(time[2], time[1]);
}

/* Over two tiers the fraction holds at every accelerator: 3 leaves of 4 with 0.7: 3 of 4 at a leaf,
 * ceil(8.4) = 9 of 12 at the root. Workers start at random times, computation differs, tensors are
 * of any size; every iteration ends, with the latency of the accelerator or without, and no worker
 * is an iteration ahead (the jobs' accounts hold).
 */
Test(panama_fraction, over_tiers_and_iterations)
{
	static const char *const fractions[] = { "0.7", "0.5", "0.1", "0.94" };
	static const uint32_t min[] = { 9, 6, 1, 12 };

	for (size_t f = 0; f < 8; f++) {
		struct partials partials = { UINT32_MAX, 0 };
		struct bench bench;

		bench_open(&bench, false,
			   "{'name': 't', 'topology': {'kind': 'leaf-spine', 'leaves': 3, "
			   "'spines': 3, 'hosts_per_leaf': 4}, 'schemes': {'panama': "
			   "{'aggregate_above': '0B', 'fraction': %s, 'accelerator_latency': %s}}, "
			   "'jobs': [{'all_reduce': "
			   "'panama', 'workers': 12, 'iterations': 30, 'start_jitter': '20us', "
			   "'send_jitter': '20us', 'compute_jitter': 0.5, 'overlap': 'layers', "
			   "'model': {'layers': [{'gradient': '1000B', 'backward': '5us'}, "
			   "{'gradient': '30kB', 'backward': '10us'}, {'gradient': '90kB', "
			   "'forward': '5us'}]}}]}",
			   fractions[f / 2], f % 2 ? "'0s'" : "{}");
		bench.at_host = note_workers;
		bench.owner = &partials;
		bench_finish(&bench);
		cr_expect_geq(partials.min, min[f / 2], "%s: %u", fractions[f / 2], partials.min);
		cr_expect_eq(partials.max, 12);
		cr_expect_eq(bench.run.s->checks.exact_checked, bench.down);
		bench_close(&bench);
	}
}

/* Four workers on one switch, one of them behind a link that a flow fills: 0.88 of 4 is 3.52, 4
 * rounded up or to the nearest, 3 rounded down; 0.85 * 4 = 3.4 is 3 to the nearest. Of 0.1 is one.
 */
Test(panama_fraction, rounds_as_it_is_told)
{
	static const struct {
		const char *fraction, *rounding;
		uint32_t min;
	} cases[] = { { "0.88", "up", 4 },   { "0.88", "nearest", 4 }, { "0.88", "down", 3 },
		      { "0.85", "up", 4 },   { "0.85", "nearest", 3 }, { "0.75", "up", 3 },
		      { "0.75", "down", 3 }, { "0.1", "nearest", 1 },  { "0.1", "down", 1 } };

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct partials partials = { UINT32_MAX, 0 };
		struct bench bench;

		bench_open(&bench, false,
			   "{'name': 't', 'stop': {'when': 'jobs_done', 'after': '10s'}, "
			   "'topology': {'kind': 'star', 'hosts': 5}, 'schemes': {'panama': "
			   "{'aggregate_above': '0B', 'fraction': %s, 'fraction_rounding': '%s'}}, "
			   "'jobs': [{'all_reduce': 'panama', 'workers': [0,1,2,3], 'model': "
			   "{'layers': [{'gradient': '1MB'}]}}], 'flows': [{'pairs': [[3, 4]], "
			   "'size': '500MB', 'arrival': {'at': '0s'}}]}",
			   cases[c].fraction, cases[c].rounding);
		bench.at_host = note_workers;
		bench.owner = &partials;
		run_to(&bench.run, END_JOBS_DONE);
		cr_expect_eq(partials.min, cases[c].min, "%s %s: %" PRIu32, cases[c].fraction,
			     cases[c].rounding, partials.min);
		bench_close(&bench);
	}
}

/* Not rounded up, the fraction may be fewer workers at all leaves together than at the root: of 0.8
 * of 2, 2 and 1 workers leaves wait for 1 each, and the root would wait for 4 of 5; of 0.6 of 4
 * each, to the nearest, for 2 each, and for 7 of 12. A root that all leaves have sent to goes on.
 */
Test(panama_fraction, leaves_send_fewer_than_the_root_wants)
{
	static const struct {
		const char *workers, *fraction, *rounding;
		uint32_t min;
	} cases[] = { { "[0,1,4,5,8]", "0.8", "down", 3 },
		      { "12", "0.6", "nearest", 6 },
		      { "12", "0.6", "down", 6 } };

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct partials partials = { UINT32_MAX, 0 };
		struct bench bench;

		bench_open(&bench, false,
			   "{'name': 't', 'topology': {'kind': 'leaf-spine', 'leaves': 3, "
			   "'spines': 1, 'hosts_per_leaf': 4}, 'schemes': {'panama': "
			   "{'aggregate_above': '0B', 'fraction': %s, 'fraction_rounding': '%s'}}, "
			   "'jobs': [{'all_reduce': 'panama', 'workers': %s, 'send_jitter': "
			   "'20us', 'model': {'layers': [{'gradient': '100kB'}]}}]}",
			   cases[c].fraction, cases[c].rounding, cases[c].workers);
		bench.at_host = note_workers;
		bench.owner = &partials;
		bench_finish(&bench);
		cr_expect_eq(partials.min, cases[c].min, "%s %s: %" PRIu32, cases[c].fraction,
			     cases[c].rounding, partials.min);
		bench_close(&bench);
	}
}

/* Who is in a sum are bits of words, of the second one, too: with 72 workers on one switch each sum
 * is checked against those whose bits are set. */
Test(panama_fraction, more_workers_than_bits_of_a_word)
{
	struct run run;

	run_build(&run, "{'name': 't', 'topology': {'kind': 'star', 'hosts': 72}, 'schemes': "
			"{'panama': {'aggregate_above': '0B', 'fraction': 0.9}}, 'jobs': "
			"[{'all_reduce': 'panama', 'workers': 72, 'start_jitter': '100us', "
			"'send_jitter': '20us', 'model': {'layers': [{'gradient': '300kB'}]}}]}");
	run_to(&run, END_ALL_DONE);
	cr_expect_gt(run.s->checks.exact_checked, 0);
	run_free(&run);
}

/* Do complete sums wait at a switch? They are in its memory. */
static void note_backlog(struct bench *bench, uint32_t sw, const struct packet *packet)
{
	const struct panama_sequence *sequence = bench_sequence(bench, packet->flow);
	bool *seen = bench->owner;

	if (sequence)
		*seen |= sequence->nodes[sequence->node_of_switch[sw]].behind;
}

/* The same without latency, and so short that no packet ever comes behind the one for which many
 * sums waited. */
Test(panama_fraction, needs_no_packet_to_go_on)
{
	for (unsigned seed = 1; seed <= 8; seed++) {
		struct bench bench;

		bench_open(&bench, false,
			   "{'name': 't', 'seed': %u, 'topology': {'kind': 'leaf-spine', 'leaves': "
			   "2, 'spines': 1, 'hosts_per_leaf': 2}, 'schemes': {'panama': "
			   "{'aggregate_above': '0B', 'fraction': 0.01, 'accelerator_latency': "
			   "'0s'}}, 'jobs': [{'all_reduce': 'panama', 'workers': 4, 'iterations': "
			   "3, 'start_jitter': '50us', 'model': {'layers': [{'gradient': '1B', "
			   "'backward': '5us'}, {'gradient': '30kB', 'backward': '5us'}]}}]}",
			   seed);
		bench_finish(&bench);
		bench_close(&bench);
	}
}

/* The packet of a straggler that ends a tensor completes a window of the next one, too. All these
 * sums are charged to the straggler's port, whose headroom is for two a packet: the others wait
 * for a timer, and while the port is stopped. Nothing is dropped, at any latency. */
Test(panama_fraction, keeps_within_the_headroom_of_pause)
{
	for (unsigned i = 0; i < 4; i++) {
		const char *name = i % 2 ? "switchml_star" : "panama";
		struct bench bench;

		bench_open(
			&bench, i % 2,
			"{'name': 't', 'topology': {'kind': 'star', 'hosts': 8, 'link': {'rate': "
			"'10Gbps'}, 'switch': {'buffer': '60KB', 'pause': true, 'ecn': false}}, "
			"'schemes': {'%s': {'aggregate_above': '0B', 'fraction': 0.5, "
			"'accelerator_latency': '%s'}}, 'jobs': [{'workers': 8, 'all_reduce': "
			"'%s', 'iterations': 3, 'overlap': 'layers', 'stragglers': {'workers': "
			"1, 'slowdown': 51}, 'model': {'layers': [{'gradient': '1MB', "
			"'backward': '50us'}, {'gradient': '1MB', 'backward': '50us'}, "
			"{'gradient': '1MB', 'backward': '50us'}]}}]}",
			name, i / 2 ? "0s" : "3us", name);
		bench.at_switch = note_backlog;
		bench.owner = &(bool){ false };
		bench_finish(&bench);
		cr_expect(*(bool *)bench.owner, "case %u: nothing waited", i);
		cr_expect_eq(bench.net->dropped, 0);
		bench_close(&bench);
	}
}

/* Ports slower than links take as long for a packet that completes a waiting sum as for any other:
 * sums leave in order, up and from the root, one for each packet that a port lets pass. */
Test(panama_fraction, stays_in_order_behind_slow_ports)
{
	for (unsigned spines = 0; spines < 2; spines++) {
		struct bench bench;

		bench_open(&bench, false,
			   "{'name': 't', 'topology': {%s, 'link': {'rate': '100Gbps'}}, "
			   "'schemes': {'panama': {'aggregate_above': '0B', 'fraction': 0.5, "
			   "'accelerator_latency': {'bus': 64}}}, 'jobs': [{'workers': 8, "
			   "'all_reduce': 'panama', 'iterations': 3, 'overlap': 'layers', "
			   "'stragglers': {'workers': 1, 'slowdown': 51}, 'model': {'layers': "
			   "[{'gradient': '1MB', 'backward': '50us'}, {'gradient': '1MB', "
			   "'backward': '50us'}, {'gradient': '1MB', 'backward': '50us'}]}}]}",
			   spines ? "'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, "
				    "'hosts_per_leaf': 4"
				  : "'kind': 'star', 'hosts': 8");
		bench.at_switch = note_backlog;
		bench.owner = &(bool){ false };
		bench_finish(&bench);
		cr_expect(*(bool *)bench.owner, "nothing waited");
		bench_close(&bench);
	}
}

/* A contribution that is added twice, or is not added, is found also in partial sums. */
static void spoil(struct bench *bench, struct panama_worker *worker,
		  struct panama_sequence *sequence, const struct packet *packet)
{
	(void)worker, (void)packet;
	for (uint32_t i = 0; i < sequence->node_count; i++)
		sequence->nodes[i].rows[packet->seq & sequence->nodes[i].mask].value++;
	bench->at_host = NULL;
}

Test(panama_fraction, a_wrong_sum_is_found)
{
	static const char *const fractions[] = { "1", "0.5" };

	for (unsigned f = 0; f < 2; f++) {
		struct bench bench;

		bench_open(&bench, false,
			   "{'name': 't', 'topology': {'kind': 'star', 'hosts': 4}, 'schemes': "
			   "{'panama': {'aggregate_above': '0B', 'fraction': %s}}, 'jobs': "
			   "[{'all_reduce': 'panama', 'workers': 4, 'model': {'layers': "
			   "[{'gradient': '1MB'}]}}]}",
			   fractions[f]);
		bench.at_host = spoil;
		run_to(&bench.run, END_VIOLATION);
		bench_close(&bench);
	}
}
