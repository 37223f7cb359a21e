/* ESA without loss: times against closed forms, what servers see, the rules of the
 * aggregator packet by packet, the traces of the paper's figures 3 and 4. Loss:
 * test_esa_loss.c. */
#include "model_run.h"
#include "test_esa.h"

#define T        (330 * 8 / 100e9) /* a frame of 310 bytes with preamble and gap */
#define DELAY    1e-6
#define PIPELINE 500e-9
#define US       PS_PER_US

/* --- a job alone --- */

/* Results come from the switch: TAT = (G + 1) t + 2 delay + pipeline, within 1 % of
 * 8 |U| / (B g), g = 256/330 (analytic-models section 2: 0.7758). Invariants: the server
 * receives nothing, each worker sends and receives one packet per chunk, an aggregator
 * is held for the spread of the workers' arrivals, which is none. */
Test(esa_alone, goodput_and_counts)
{
	static const unsigned numbers[] = { 2, 3, 8, 31 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		unsigned n = numbers[i];
		uint64_t chunks = 39063; /* 10 MB */
		struct collective_stats stats;
		struct bench bench;

		esa_star(&bench, n, "", "\"initial_window\": \"100KB\"", "", 10000000);
		esa_finish(&bench, n * chunks);
		expect_near(tat(&bench, 0), 39064 * T + 2 * DELAY + PIPELINE, 1e-9, "exact TAT, s",
			    n);
		expect_near(tat(&bench, 0), 8 * 10e6 / (100e9 * 256 / 330), 0.01, "TAT, s", n);
		cr_expect_eq(bench.up, n * chunks);
		cr_expect_eq(bench.down, n * chunks);
		cr_expect_eq(bench.server, 0);
		stats = switch_stats(&bench);
		cr_expect_eq(stats.packets_aggregated, n * chunks);
		cr_expect_eq(stats.results, chunks);
		cr_expect_eq(stats.collisions + stats.partials + stats.duplicates, 0);
		stats = job_stats(&bench);
		cr_expect_eq(stats.reminders + stats.retransmissions + stats.stale, 0);
		cr_expect_eq(bench.scheme->base.memory[0].held->count, chunks);
		cr_expect_eq(bench.scheme->base.memory[0].held->sum == 0, true);
		cr_expect_eq(bench.scheme->base.memory[0].used_max_bytes, 256);
		bench_close(&bench);
	}
}

/* 306 bytes as ESA counts: g = 256/306. */
Test(esa_alone, goodput_of_306_bytes)
{
	struct bench bench;

	esa_star(&bench, 8, ", \"wire_overhead\": false",
		 "\"header\": 50, \"initial_window\": \"100KB\"", "", 10000000);
	esa_finish(&bench, 8 * 39063);
	expect_near(tat(&bench, 0), 8 * 10e6 / (100e9 * 256 / 306), 0.01, "TAT, s", 8);
	bench_close(&bench);
}

/* A straggler of s: an aggregator is held for s. */
Test(esa_alone, held_for_the_spread_of_arrivals)
{
	struct bench bench;

	bench_open(&bench, SCHEME_esa,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 4}, "
		   "\"jobs\": [{\"workers\": 3, \"all_reduce\": \"esa\", \"stragglers\": "
		   "{\"workers\": 1, \"slowdown\": 31}, \"model\": {\"layers\": [{\"gradient\": "
		   "\"25600B\", \"forward\": \"1us\"}]}}]}");
	esa_finish(&bench, 300);
	expect_near(holding_times_mean(bench.scheme->base.memory[0].held), 30e-6, 1e-9, "held, s",
		    30);
	bench_close(&bench);
}

/* N chunks in a row have N aggregators, wherever the row begins, in an order that the job has for
 * itself: two jobs meet at about one place in N. */
Test(esa_alone, distinct_aggregators)
{
	static const uint32_t counts[] = { 1, 4, 3906, 19531, 65536 };
	static bool used[AGGREGATORS_MAX];

	for (size_t i = 0; i < 5; i++) {
		uint32_t n = counts[i], same = 0;
		const struct pool_job *job, *other;
		struct bench bench;

		bench_open(
			&bench, SCHEME_esa,
			"{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 6}, "
			"\"schemes\": {\"esa\": {\"memory\": \"%uB\"}}, \"jobs\": [{\"count\": 2, "
			"\"workers\": 2, \"all_reduce\": \"esa\", \"model\": {\"layers\": "
			"[{\"gradient\": \"1KB\"}]}}]}",
			n * 256);
		sim_run(&bench.s->sim, 1);
		job = bench_job(&bench, 0);
		other = bench_job(&bench, 1);
		cr_assert(job && other);
		for (uint64_t first = 0; first < 3; first++) {
			memset(used, 0, sizeof(used));
			for (uint64_t chunk = first * 1000; chunk < first * 1000 + n; chunk++) {
				cr_assert_not(used[pool_index(job, chunk, 0)]);
				used[pool_index(job, chunk, 0)] = true;
			}
		}
		for (uint64_t chunk = 0; chunk < n; chunk++)
			same += pool_index(job, chunk, 0) == pool_index(other, chunk, 0);
		cr_expect(n < 10 || same < 8, "%u of %u", same, n);
		bench_close(&bench);
	}
}

/* So a lone job, whatever spread its workers' packets have, never meets itself as long as its
 * window is no longer than the memory has places, and runs at the goodput of a job without spread.
 * With a hash it meets itself (tests/model/test_atp.c has the closed form). */
Test(esa_alone, does_not_meet_itself)
{
	static const char *const spreads[] = { "0s", "100ns", "1us" };
	const char *const window = "\"initial_window\": \"62KB\", \"max_window\": \"62KB\"";
	const uint64_t chunks = 20000;

	for (int s = 0; s < 3; s++)
		for (int hash = 0; hash < 2; hash++) {
			struct collective_stats stats;
			struct bench bench;
			char scheme[200], topology[100];
			double seconds;

			snprintf(scheme, sizeof(scheme),
				 "\"index\": \"%s\", \"memory\": \"%s\", %s",
				 hash ? "hash" : "distinct", hash ? "5MB" : "51200B", window);
			snprintf(topology, sizeof(topology), ", \"host\": {\"nic_jitter\": \"%s\"}",
				 spreads[s]);
			esa_star(&bench, 8, topology, scheme, "", chunks * 256);
			esa_finish(&bench, 8 * chunks);
			stats = switch_stats(&bench);
			seconds = tat(&bench, 0);
			if (hash) {
				cr_expect(s == 0 || stats.collisions_own > 0);
			} else {
				cr_expect_eq(stats.collisions, 0);
				cr_expect_eq(job_stats(&bench).reminders, 0);
				expect_near(seconds, (double)chunks * T, 0.02, "at line rate", s);
			}
			bench_close(&bench);
		}
}

/* Two levels: no packet to servers, one per rack and chunk to level 1. */
Test(esa_alone, racks)
{
	static const struct {
		const char *workers;
		unsigned n;
		const char *servers;
		unsigned inner;
	} cases[] = {
		{ "[0, 1, 2, 4, 5, 8]", 6, "[12]", 3 * 2 },
		{ "[0, 1, 2, 4, 5, 8]", 6, "[6]", 2 * 2 },
		{ "[0, 1, 2]", 3, "[3]", 0 },
		{ "[0, 1, 2]", 3, "[15]", 2 },
		{ "[0, 4, 8]", 3, "{\"placement\": \"workers\"}", 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		bench_open(&bench, SCHEME_esa,
			   "{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": "
			   "4, \"spines\": 3, \"hosts_per_leaf\": 4}, "
			   "\"jobs\": [{\"workers\": %s, "
			   "\"servers\": %s, \"all_reduce\": \"esa\", \"model\": {\"layers\": "
			   "[{\"gradient\": \"25600B\"}]}}]}",
			   cases[i].workers, cases[i].servers);
		bench.watch = false;
		esa_finish(&bench, cases[i].n * UINT64_C(100));
		cr_expect_eq(bench.up, cases[i].n * UINT64_C(100));
		cr_expect_eq(bench.inner_up, cases[i].inner * UINT64_C(100));
		cr_expect_eq(bench.server, 0);
		bench_close(&bench);
	}
}

/* --- the rules of an aggregator, packet by packet --- */

/* Two jobs of three workers on a star; packets are handed to the switch by the test. */
static void rivals(struct bench *bench, const char *scheme)
{
	bench_open(bench, SCHEME_esa,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 8}, "
		   "\"schemes\": {\"esa\": {\"memory\": \"256B\", %s}}, "
		   "\"jobs\": [{\"count\": 2, \"workers\": 3, \"all_reduce\": \"esa\", \"model\": "
		   "{\"layers\": [{\"gradient\": \"256B\", \"forward\": \"1s\"}]}}]}",
		   scheme);
	sim_run(&bench->s->sim, 1); /* the jobs are admitted */
	cr_assert(bench_job(bench, 0) && bench_job(bench, 1));
}

struct outcome {
	struct switch_actions actions;
	struct packet packet; /* as it goes on, if it is forwarded */
};

static struct outcome offer(struct bench *bench, uint32_t number, uint32_t worker, uint64_t chunk,
			    uint8_t priority)
{
	struct pool_job *job = bench_job(bench, number);
	const struct pool_server *server = &job->servers[0];
	struct outcome outcome = { 0 };

	pool_packet(&outcome.packet, server, chunk, server->racks.of_worker[worker], 0);
	outcome.packet.value = exact_contribution(&job->base.exact, worker, chunk);
	outcome.packet.source |= (uint16_t)(priority << 8);
	packet_set_route(&outcome.packet, racks_route(&server->racks, worker));
	bench->real->at_switch(bench->real_self, 0, 0, &outcome.packet, &outcome.actions);
	check_pools(bench);
	return outcome;
}

static const struct aggregator *only(const struct bench *bench)
{
	return &bench->scheme->pools[0].slots[0];
}

static uint64_t parts(struct bench *bench, uint32_t job, uint64_t chunk, uint32_t bits)
{
	uint64_t sum = 0;

	for (uint32_t w = 0; w < 3; w++)
		if (bits >> w & 1)
			sum += exact_contribution(&bench_job(bench, job)->base.exact, w, chunk);
	return sum;
}

/* 3a: a higher priority takes the aggregator; what it held leaves as a partial sum of
 * the old owner to the old owner's server, with all its bits. */
Test(esa_rules, preemption_swaps)
{
	struct outcome o;
	struct bench bench;

	rivals(&bench, "\"preemption\": \"priority\"");
	offer(&bench, 0, 0, 0, 10);
	o = offer(&bench, 0, 2, 0, 10);
	cr_expect(!o.actions.forward && !o.actions.count);
	o = offer(&bench, 1, 1, 0, 11);
	cr_expect_eq(only(&bench)->owner, 2);
	cr_expect_eq(only(&bench)->priority, 11);
	cr_expect_eq(only(&bench)->value, parts(&bench, 1, 0, 2));
	cr_expect(!o.actions.forward);
	cr_assert_eq(o.actions.count, 1);
	cr_expect_eq(o.actions.send[0].packet.flow, 0);
	cr_expect_eq(pool_bitmap(&o.actions.send[0].packet).bits, 5);
	cr_expect_eq(o.actions.send[0].packet.value, parts(&bench, 0, 0, 5));
	cr_expect(o.actions.send[0].packet.flags & POOL_BYPASS);
	cr_expect_eq(o.actions.send[0].ports[0],
		     bench_job(&bench, 0)->servers[0].racks.server_port);
	cr_expect_eq(switch_stats(&bench).preemptions, 1);
	bench_close(&bench);
}

/* 3b: an equal or lower priority never displaces an owner: the packet goes to its
 * server, and the owner's priority is halved. A rival of r needs floor(log2(q / r)) + 1
 * failed tries before it wins, for all q and r. */
Test(esa_rules, downgrading)
{
	struct bench bench;

	rivals(&bench, "\"preemption\": \"priority\"");
	for (unsigned q = 1; q <= 255; q++) {
		for (unsigned r = 1; r <= q; r += q > 20 ? 17 : 1) {
			unsigned tries = 0, wanted = 1;
			uint64_t chunk = 1000 * q + r;
			struct outcome o;

			while (q >> wanted >= r)
				wanted++;
			o = offer(&bench, 0, 0, chunk, (uint8_t)q);
			if (only(&bench)->owner != 1)
				cr_assert_fail();
			for (;; tries++) {
				o = offer(&bench, 1, 0, chunk, (uint8_t)r);
				if (only(&bench)->owner == 2)
					break;
				cr_assert(o.actions.forward && !o.actions.count);
				cr_assert(o.packet.flags & POOL_BYPASS);
				cr_assert_eq(only(&bench)->priority, q >> (tries + 1));
			}
			cr_assert_eq(tries, wanted, "q %u r %u: %u tries", q, r, tries);
			/* job 0's next packet clears the place for the next pair */
			offer(&bench, 1, 1, chunk, 1);
			offer(&bench, 1, 2, chunk, 1);
			cr_assert_eq(only(&bench)->owner, 0);
		}
	}
	bench_close(&bench);
}

/* Without it, equals and lower ones fail for ever; a higher one wins at once. */
Test(esa_rules, no_downgrading)
{
	struct bench bench;

	rivals(&bench, "\"preemption\": \"priority\", \"downgrading\": false");
	offer(&bench, 0, 0, 0, 8);
	for (unsigned tries = 0; tries < 100; tries++)
		offer(&bench, 1, 0, 0, (uint8_t)(1 + tries % 8));
	cr_expect_eq(only(&bench)->owner, 1);
	cr_expect_eq(only(&bench)->priority, 8);
	offer(&bench, 1, 0, 0, 9);
	cr_expect_eq(only(&bench)->owner, 2);
	bench_close(&bench);
}

/* Renewal: a packet of the owner undoes downgrading. */
Test(esa_rules, renewal)
{
	struct bench bench;

	rivals(&bench, "\"preemption\": \"priority\"");
	offer(&bench, 0, 0, 7, 64);
	offer(&bench, 1, 0, 7, 20);
	offer(&bench, 1, 1, 7, 20);
	cr_expect_eq(only(&bench)->priority, 16);
	offer(&bench, 0, 1, 7, 64);
	cr_expect_eq(only(&bench)->priority, 64);
	offer(&bench, 1, 2, 7, 20);
	cr_expect_eq(only(&bench)->priority, 32);
	cr_expect_eq(only(&bench)->owner, 1);
	bench_close(&bench);
}

/* Ping-pong of equals: the first try fails, the second succeeds; a decayed owner falls
 * to priority 1. The job's own chunks are rivals like any other. */
Test(esa_rules, equals_and_own_chunks)
{
	struct bench bench;

	rivals(&bench, "\"preemption\": \"priority\"");
	offer(&bench, 0, 0, 1, 8);
	offer(&bench, 0, 0, 2, 8);
	cr_expect_eq(only(&bench)->chunk, 1);
	offer(&bench, 0, 1, 2, 8);
	cr_expect_eq(only(&bench)->chunk, 2);
	cr_expect_eq(switch_stats(&bench).collisions_own, 2);
	offer(&bench, 0, 0, 3, 2);
	offer(&bench, 0, 0, 4, 2);
	offer(&bench, 0, 0, 5, 1);
	cr_expect_eq(only(&bench)->priority, 1);
	offer(&bench, 0, 0, 6, 1);
	cr_expect_eq(only(&bench)->priority, 0);
	offer(&bench, 0, 0, 8, 1);
	cr_expect_eq(only(&bench)->chunk, 8);
	bench_close(&bench);
}

/* All three contributors: the result leaves for all workers at once, with the sum, and
 * the aggregator is free in the same step. A duplicate is dropped. */
Test(esa_rules, completion_frees)
{
	struct outcome o;
	struct bench bench;

	rivals(&bench, "\"preemption\": \"priority\"");
	offer(&bench, 0, 0, 3, 9);
	o = offer(&bench, 0, 0, 3, 9);
	cr_expect(!o.actions.forward && !o.actions.count);
	cr_expect_eq(switch_stats(&bench).duplicates, 1);
	offer(&bench, 0, 1, 3, 9);
	o = offer(&bench, 0, 2, 3, 9);
	cr_expect_eq(only(&bench)->owner, 0);
	cr_assert_eq(o.actions.count, 1);
	cr_expect_eq(o.actions.send[0].count, 3);
	cr_expect(o.actions.send[0].packet.flags & PACKET_RESULT);
	cr_expect_eq(o.actions.send[0].packet.value, parts(&bench, 0, 3, 7));
	bench_close(&bench);
}

/* A reminder fetches what is there and frees it; it takes nothing from another owner,
 * never allocates and never downgrades. */
Test(esa_rules, reminders)
{
	struct outcome o = { 0 };
	struct bench bench;

	rivals(&bench, "\"preemption\": \"priority\"");
	offer(&bench, 0, 1, 3, 9);
	for (uint32_t job = 2; job-- > 0;) {
		o.actions = (struct switch_actions){ 0 };
		pool_packet(&o.packet, &bench_job(&bench, job)->servers[0], 3,
			    (struct bitmap){ 0, RACK_NONE }, 0);
		bench.real->at_switch(bench.real_self, 0, 0, &o.packet, &o.actions);
		cr_expect(!o.actions.forward);
		cr_expect_eq(o.actions.count, job == 0);
		cr_expect_eq(only(&bench)->owner, job == 0 ? 0 : 1);
		if (job)
			cr_expect_eq(only(&bench)->priority, 9);
	}
	cr_expect_eq(pool_bitmap(&o.actions.send[0].packet).bits, 2);
	cr_expect_eq(switch_stats(&bench).partials, 1);
	bench_close(&bench);
}

/* Straw-men (section 7.3): always; and half of the time, 1000 tosses within 4 sigma. */
Test(esa_rules, straw_men)
{
	static const char *const kinds[] = { "always", "coin", "never" };

	for (int k = 0; k < 3; k++) {
		struct collective_stats stats;
		char scheme[64];
		struct bench bench;

		snprintf(scheme, sizeof(scheme), "\"preemption\": \"%s\"", kinds[k]);
		rivals(&bench, scheme);
		offer(&bench, 0, 0, 0, 200);
		for (unsigned i = 1; i <= 1000; i++)
			offer(&bench, i % 2, 0, i, 1);
		stats = switch_stats(&bench);
		cr_expect_eq(stats.preemptions_tried, k < 2 ? 1000 : 0);
		if (k == 1)
			cr_expect(stats.preemptions > 437 && stats.preemptions < 563, "%" PRIu64,
				  stats.preemptions);
		else
			cr_expect_eq(stats.preemptions, k == 0 ? 1000 : 0);
		cr_expect_eq(stats.preemptions + stats.fallbacks, 1000);
		bench_close(&bench);
	}
}

/* "dupACK" at the server: the third contribution to later chunks, or what duplicate_threshold
 * says, reminds of an open one, then six more do, then twelve (`server_reminders`: then none, or
 * every third); those to earlier chunks and to itself do not count. */
static void contribute(struct bench *bench, uint32_t worker, uint64_t chunk)
{
	struct pool_job *job = bench_job(bench, 0);
	const struct pool_server *server = &job->servers[0];
	struct packet packet;

	pool_packet(&packet, server, chunk, server->racks.of_worker[worker], 0);
	packet.flags |= POOL_BYPASS;
	packet.value = exact_contribution(&job->base.exact, worker, chunk);
	bench->real->deliver(bench->real_self, server->racks.server, &packet);
}

static uint64_t reminders_wanted(const char *rule, uint64_t given, uint64_t third)
{
	if (!strcmp(rule, "each"))
		return given >= third;
	if (!strcmp(rule, "every"))
		return given / third;
	return (uint64_t)(given >= third) + (given >= 3 * third) + (given >= 7 * third) +
	       (given >= 15 * third);
}

static void larger_contributions(const char *rule, uint64_t third)
{
	char scheme[100];
	uint64_t given = 0;
	struct bench bench;

	snprintf(scheme, sizeof(scheme),
		 "\"server_reminders\": \"%s\", \"duplicate_threshold\": %" PRIu64, rule, third);
	rivals(&bench, scheme);
	contribute(&bench, 0, 100);
	for (uint64_t chunk = 0; chunk < 30; chunk++)
		for (uint32_t w = 0; w < 3; w++)
			contribute(&bench, w, chunk); /* in order: each is complete at once */
	contribute(&bench, 1, 100);
	cr_expect_eq(esa_server_of(&bench, 0)->reminders, 0);
	for (uint64_t chunk = 101; chunk < 131; chunk++) {
		for (uint32_t w = 0; w < 3; w++) {
			contribute(&bench, w, chunk);
			given++;
			cr_expect_eq(esa_server_of(&bench, 0)->reminders,
				     reminders_wanted(rule, given, third),
				     "%s: %" PRIu64 " after %" PRIu64, rule,
				     esa_server_of(&bench, 0)->reminders, given);
		}
	}
	contribute(&bench, 2, 100);
	cr_expect_eq(esa_server_of(&bench, 0)->first, ESA_NONE); /* all are complete */
	bench_close(&bench);
}

Test(esa_rules, third_larger_contribution)
{
	static const char *const rules[] = { "doubling", "each", "every" };

	for (int i = 0; i < 3; i++) {
		larger_contributions(rules[i], 3);
		larger_contributions(rules[i], 5);
	}
}

/* `each`: a contribution to the chunk itself makes three more count. */
Test(esa_rules, third_larger_contribution_again)
{
	const struct esa_server *esa;
	struct bench bench;

	rivals(&bench, "\"server_reminders\": \"each\"");
	esa = esa_server_of(&bench, 0);
	contribute(&bench, 0, 100);
	for (uint32_t i = 0; i < 9; i++)
		contribute(&bench, i % 3, 101 + i / 3);
	cr_expect_eq(esa->reminders, 1);
	contribute(&bench, 1, 100);
	contribute(&bench, 0, 104);
	contribute(&bench, 1, 104);
	cr_expect_eq(esa->reminders, 1);
	contribute(&bench, 2, 104);
	cr_expect_eq(esa->reminders, 2);
	bench_close(&bench);
}

/* Switches that reminders reach, by number: "0!" = switch 0 as level 1, "2" = 2 as a rack or on the
 * way to one. */
static void write_reminded(struct bench *bench, uint32_t node, const struct packet *packet)
{
	char *text = bench->owner;
	struct bitmap bitmap = pool_bitmap(packet);

	if (node >= bench->net->hosts && !(packet->flags & PACKET_RESULT) && !bitmap.bits)
		snprintf(text + strlen(text), 100 - strlen(text), "%u%s ", node - bench->net->hosts,
			 bitmap.rack == RACK_NONE ? "!" : "");
}

/* Two racks, 1 and 2, and a spine, 3; the server is below switch 0. What is missing may be at
 * level 1, which is switch 0, or in the racks; where switch 0 adds nothing up, in the racks alone.
 */
static void reminded(bool level1, const char *trace, uint64_t count)
{
	char text[100] = "";
	struct bench bench;

	bench_open(
		&bench, SCHEME_esa,
		"{\"name\": \"t\", \"topology\": {\"kind\": \"graph\", \"graph\": {\"hosts\": "
		"[\"server\", \"b[0-1]\", \"c[0-1]\"], \"switches\": [{\"name\": \"la\", "
		"\"aggregation\": %s}, \"lb\", \"lc\", \"s\"], \"links\": [{\"from\": \"server\", "
		"\"to\": \"la\"}, {\"from\": \"b[0-1]\", \"to\": \"lb\"}, {\"from\": \"c[0-1]\", "
		"\"to\": \"lc\"}, {\"from\": \"la\", \"to\": \"s\"}, {\"from\": \"lb\", \"to\": "
		"\"s\"}, {\"from\": \"lc\", \"to\": \"s\"}]}}, "
		"\"jobs\": [{\"workers\": [1, 2, 3, 4], \"servers\": [0], \"all_reduce\": \"esa\", "
		"\"model\": {\"layers\": [{\"gradient\": \"256B\", \"forward\": \"1s\"}]}}]}",
		level1 ? "true" : "false");
	sim_run(&bench.s->sim, 1); /* the job is admitted */
	bench.after = write_reminded;
	bench.owner = text;
	for (uint64_t chunk = 100; chunk < 104; chunk++)
		contribute(&bench, 0, chunk);
	cr_expect_eq(esa_server_of(&bench, 0)->reminders, count);
	sim_run(&bench.s->sim, 1000);
	cr_expect(!strncmp(text, trace, strlen(trace)), "%s",
		  text); /* then its timer reminds again */
	cr_expect(level1 || !strchr(text, '!'), "%s", text);
	bench_close(&bench);
}

Test(esa_rules, reminders_where_level_1_passes)
{
	reminded(true, "0! 0 0 3 3 1 2 ", 3);
	reminded(false, "0 0 3 3 1 2 ", 2);
}

static bool lose_packets(void *owner, uint32_t port, const struct packet *packet)
{
	(void)owner, (void)port;
	return packet->kind == PACKET_AGGREGATION;
}

/* A worker's message to the server of job 0. */
static void remind(struct bench *bench, uint32_t worker, uint64_t chunk)
{
	const struct messages *messages = &esa_server_of(bench, 0)->from_worker[worker].messages;

	messages->arrived(messages->owner,
			  &(struct message){ .type = ESA_REMINDER, .number = chunk });
}

static void wait(struct bench *bench, sim_time time)
{
	run_until(&(struct run){ .s = bench->s }, bench->s->sim.now + time);
}

static void complete(struct bench *bench, uint64_t chunk)
{
	for (uint32_t w = 1; w < 3; w++)
		contribute(bench, w, chunk);
}

/* Each worker that reminds makes the server remind the switches at once (section 5.3), also again,
 * and while the server asks workers. */
Test(esa_rules, each_worker_reminds_switches)
{
	const struct esa_server *esa;
	struct bench bench;

	rivals(&bench, "\"query\": \"always\"");
	bench_lose(&bench, lose_packets, NULL);
	esa = esa_server_of(&bench, 0);
	contribute(&bench, 0, 7);
	for (uint32_t i = 1; i <= 6; i++) {
		remind(&bench, i % 3, 7);
		cr_expect_eq(esa->reminders, i);
	}
	cr_expect_eq(esa->queries, 1);
	bench_close(&bench);
}

/* "RTT" at the server is from the setup of an entry to its completion (section 6), without what is
 * open when a timeout runs out, its own or that of a worker that sends a reminder: after a sample
 * of 200 us a chunk that is open for 500 us when the timer of another runs out is none, nor one
 * that is open for 200 us when a worker reminds of another; what is set up afterwards is. */
Test(esa_rules, round_trips_at_the_server)
{
	const struct esa_server *esa;
	struct bench bench;

	rivals(&bench, "\"min_timeout\": \"1ms\"");
	bench_lose(&bench, lose_packets, NULL); /* workers have not sent what gets results here */
	esa = esa_server_of(&bench, 0);
	contribute(&bench, 0, 0);
	wait(&bench, 200 * US);
	complete(&bench, 0);
	cr_expect_eq(esa->rto.srtt, 200 * US);

	contribute(&bench, 0, 1);
	wait(&bench, 900 * US);
	contribute(&bench, 0, 2);
	cr_expect_eq(esa->reminders, 0);
	wait(&bench, 500 * US);
	cr_expect_eq(esa->reminders, 1); /* of chunk 1 */
	complete(&bench, 2);
	complete(&bench, 1);
	cr_expect_eq(esa->rto.srtt, 200 * US);
	contribute(&bench, 0, 3);
	wait(&bench, 360 * US);
	complete(&bench, 3);
	cr_expect_eq(esa->rto.srtt, 220 * US); /* 7/8 of 200 and 1/8 of 360 */

	contribute(&bench, 0, 4);
	wait(&bench, 100 * US);
	remind(&bench, 1, 9);
	wait(&bench, 100 * US);
	complete(&bench, 4);
	cr_expect_eq(esa->rto.srtt, 220 * US);
	contribute(&bench, 0, 5);
	wait(&bench, 300 * US);
	complete(&bench, 5);
	cr_expect_eq(esa->rto.srtt, 230 * US);
	cr_expect_eq(bench.s->checks.exact_violations, 0);
	bench_close(&bench);
}

/* --- priorities --- */

/* Equation 1 for ESA's models (section 7.2.1), L = 2, T = the iteration's remaining
 * communication and computation: model A (4-MB partitions, 0.32 ms a layer) and B (2 MB,
 * 0.64 ms) at 100 Gbps, all gradients still to send: T = 1.28 + 0.64 ms for A, 0.64 +
 * 1.28 for B; Comm/Comp 2 and 0.5; so 16 P = 16 / 1.92 * 2 / l * 2 = 33.4 / l. */
Test(esa_priority, equation_1)
{
	static const struct {
		bytes size;
		sim_time compute;
		uint32_t layer;
		unsigned wanted;
	} cases[] = {
		{ 16000000, 640 * PS_PER_US, 1, 34 }, /* 33.33 */
		{ 16000000, 640 * PS_PER_US, 2, 17 }, /* 16.67 */
		{ 8000000, 1280 * PS_PER_US, 1, 9 },  /* 8.33 */
		{ 8000000, 1280 * PS_PER_US, 2, 5 },  /* 4.17 */
		{ 16000000, 0, 2, 255 },              /* nothing is computed */
		{ 100, 1280000 * PS_PER_US, 2, 1 },   /* never 0 */
	};
	struct bench bench;

	esa_star(&bench, 2, "", "", "", 256);
	sim_run(&bench.s->sim, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct collective_hint hint = { .layer = cases[i].layer,
						.layers = 2,
						.left = cases[i].size,
						.compute_left = cases[i].compute,
						.iteration_bytes = cases[i].size,
						.compute = cases[i].compute };

		cr_expect_eq(esa_priority(pool_worker(bench_job(&bench, 0), 0), &hint),
			     cases[i].wanted, "case %zu: %u", i,
			     esa_priority(pool_worker(bench_job(&bench, 0), 0), &hint));
	}
	bench_close(&bench);
}

/* T of the job, attained service, and a measured ratio. */
Test(esa_priority, options)
{
	static const struct {
		const char *scheme;
		unsigned wanted;
	} cases[] = {
		/* T = 1.92 * 5 = 9.6 ms: 16 / 9.6 * 2 * 2 = 6.67 */
		{ "\"remaining\": \"job\"", 7 },
		/* T = 4 ms: 16 / 4 * 2 * 2 = 16 */
		{ "\"remaining\": \"attained\"", 16 },
		/* 16 / 1.92 * 2 * (3 / 1.5) = 33.3; (1 / 4) = 4.17 */
		{ "\"ratio\": \"measured\"", 5 },
		{ "\"priority_scale\": 1", 3 },    /* 2.08 */
		{ "\"layers\": false", 17 },       /* 16 / 1.92 * 2: as of the last layer */
		{ "\"ratio\": \"none\"", 17 },     /* 16 / 1.92 * 2 */
		{ "\"remaining\": \"none\"", 64 }, /* 16 * 2 * 2 */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct collective_hint hint = { .layer = 1,
						.layers = 2,
						.left = 16000000,
						.compute_left = 640 * PS_PER_US,
						.iteration_bytes = 16000000,
						.compute = 640 * PS_PER_US,
						.iterations_left = 4,
						.attained = 4000 * PS_PER_US,
						.last_exchange = 1000 * PS_PER_US,
						.last_compute = 4000 * PS_PER_US };
		struct bench bench;

		esa_star(&bench, 2, "", cases[i].scheme, "", 256);
		sim_run(&bench.s->sim, 1);
		cr_expect_eq(esa_priority(pool_worker(bench_job(&bench, 0), 0), &hint),
			     cases[i].wanted, "case %zu: %u", i,
			     esa_priority(pool_worker(bench_job(&bench, 0), 0), &hint));
		bench_close(&bench);
	}
}

/* What the jobs tell: two layers, the back one first. Priorities in packets are those
 * of equation 1 with what remains when each layer is handed over. */
static void note_priorities(struct bench *bench, uint32_t node, const struct packet *packet)
{
	uint8_t *seen = bench->owner;

	if (node >= bench->net->hosts && !(packet->flags & PACKET_RESULT) &&
	    pool_chunk(packet) < 20)
		seen[pool_chunk(packet)] = pool_priority(packet);
}

Test(esa_priority, of_the_layers_of_a_job)
{
	uint8_t seen[20] = { 0 };
	struct bench bench;

	/* 10 packets a layer; forward 1 us, backward 2 us a layer: comp 6 us, comm
	 * 2 * 2560 B = 0.4096 us; back layer: T = 0.4096 + 2 + 2 = 4.4096 us; front layer:
	 * T = 0.2048 + 2 = 2.2048 us, twice L / l */
	bench_open(&bench, SCHEME_esa,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 3, \"link\": "
		   "{\"rate\": \"100Gbps\"}}, \"schemes\": {\"esa\": {\"priority_scale\": 1}}, "
		   "\"jobs\": [{\"workers\": 2, \"all_reduce\": \"esa\", \"overlap\": \"layers\", "
		   "\"model\": {\"layers\": [{\"gradient\": \"2560B\", \"forward\": \"1us\", "
		   "\"backward\": \"2us\"}, {\"gradient\": \"2560B\", \"forward\": \"1us\", "
		   "\"backward\": \"2us\"}]}}]}");
	bench.after = note_priorities;
	bench.owner = seen;
	esa_finish(&bench, 2 * 20);
	cr_expect_eq(seen[0], ceil(1 / 4.4096e-3 * 1 * 0.4096 / 6), "%u", seen[0]);
	cr_expect_eq(seen[9], seen[0]);
	cr_expect_eq(seen[10], ceil(1 / 2.2048e-3 * 2 * 0.4096 / 6), "%u", seen[10]);
	cr_expect_eq(seen[19], seen[10]);
	bench_close(&bench);
}

/* Notes the priority of the newest contribution, wherever it is. */
static void note_priority(struct bench *bench, uint32_t node, const struct packet *packet)
{
	uint8_t *seen = bench->owner;

	(void)node;
	if (!(packet->flags & PACKET_RESULT))
		*seen = pool_priority(packet);
}

static uint8_t priority_until(struct bench *bench, sim_time until)
{
	static uint8_t seen;

	seen = 0;
	bench->after = note_priority;
	bench->owner = &seen;
	while (bench->s->sim.now < until)
		sim_run(&bench->s->sim, 1);
	return seen;
}

/* All workers have handed over the last tensor of an iteration when the switch stops adding. They
 * hand it over again, now for the server, with the priority that it had: what remains of the job is
 * the same. */
Test(esa_priority, of_a_tensor_that_begins_anew)
{
	for (int iterations = 1; iterations <= 3; iterations++) {
		uint8_t first, again;
		struct bench bench;

		bench_open(
			&bench, SCHEME_esa,
			"{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 3, "
			"\"link\": {\"rate\": \"100Gbps\"}}, \"schemes\": {\"esa\": "
			"{\"remaining\": \"job\", \"priority_scale\": 3}}, \"failures\": "
			"{\"reroute_delay\": \"1us\", \"controller_delay\": \"1us\", \"events\": "
			"[{\"fails\": \"switches\", \"aggregation_only\": true, \"at\": "
			"\"5us\"}]}, "
			"\"jobs\": [{\"workers\": 2, \"all_reduce\": \"esa\", \"iterations\": "
			"%d, \"model\": {\"layers\": [{\"gradient\": \"5120B\", \"forward\": "
			"\"1us\", \"backward\": \"2us\"}]}}]}",
			iterations);
		first = priority_until(&bench, 7 * PS_PER_US);
		again = priority_until(&bench, 10 * PS_PER_US);
		cr_expect_gt(first, 1);
		cr_expect_eq(again, first, "%d iterations: %u, then %u", iterations, first, again);
		bench_close(&bench);
	}
}

/* Eight layers handed over while a flow has the worker's NIC, again in the second iteration, when
 * the last tensor sent is long complete and its place in the ring of tensors is taken: each chunk
 * has the priority of its own layer, as in the first iteration. */
#define LAYER        "{\"gradient\": \"256B\", \"forward\": \"1us\", \"backward\": \"5ns\"}"
#define TWO_LAYERS   LAYER "," LAYER
#define EIGHT_LAYERS TWO_LAYERS "," TWO_LAYERS "," TWO_LAYERS "," TWO_LAYERS

Test(esa_priority, of_layers_that_wait_for_the_nic)
{
	uint8_t seen[20] = { 0 };
	struct bench bench;

	bench_open(&bench, SCHEME_esa,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 4, \"link\": "
		   "{\"rate\": \"100Gbps\"}}, \"schemes\": {\"esa\": {\"priority_scale\": 5}}, "
		   "\"flows\": [{\"size\": \"1MB\", \"pairs\": [[0, 3], [1, 3]]}], "
		   "\"jobs\": [{\"workers\": 2, \"iterations\": 2, \"all_reduce\": \"esa\", "
		   "\"overlap\": \"layers\", "
		   "\"model\": {\"layers\": [" EIGHT_LAYERS "]}}]}");
	bench.after = note_priorities;
	bench.owner = seen;
	esa_finish(&bench, 2 * 16);
	for (int i = 0; i < 8; i++) {
		cr_expect_eq(seen[8 + i], seen[i], "%d: %u, not %u", i, seen[8 + i], seen[i]);
		cr_expect(i == 0 || seen[i] > seen[i - 1], "%u, %u", seen[i - 1], seen[i]);
	}
	bench_close(&bench);
}

/* --- the paper's traces --- */

/* Who received what, in order: "P0:3" = the server of job 0 got bits 3, "R1" = a result
 * of job 1 at a worker, "M0" = a reminder of job 0 at the switch. */
static void write_trace(struct bench *bench, uint32_t node, const struct packet *packet)
{
	char *text = bench->owner;
	size_t length = strlen(text);
	uint32_t bits = pool_bitmap(packet).bits;

	if (node >= bench->net->hosts && !(packet->flags & PACKET_RESULT) && !bits)
		snprintf(text + length, 500 - length, "M%u ", packet->flow);
	else if (node < bench->net->hosts && packet->flags & PACKET_RESULT)
		snprintf(text + length, 500 - length, "R%u ", packet->flow);
	else if (node < bench->net->hosts)
		snprintf(text + length, 500 - length, "P%u:%x ", packet->flow, bits);
}

/* Figure 3 (R-E-3): g1, g2 of job 1 are in the aggregator; g5 of job 2 (priority higher)
 * preempts, g1 + g2 go to PS1; g6 completes job 2, whose workers get the result from the
 * switch; g3, g4 of the stragglers take the aggregator again; fan-in 4 is not reached, so
 * a reminder by PS1's timer fetches g3 + g4; PS1 multicasts the sum of four. */
Test(esa_trace, figure_3)
{
	char text[500] = "";
	struct bench bench;

	bench_open(&bench, SCHEME_esa,
		   "{\"name\": \"t\", \"cluster\": {\"controller_latency\": \"1ns\"}, "
		   "\"topology\": {\"kind\": \"star\", \"hosts\": 8, \"link\": {\"rate\": "
		   "\"100Gbps\"}}, \"schemes\": {\"esa\": {\"memory\": \"256B\", "
		   "\"priority_scale\": 0.1}}, \"jobs\": [{\"workers\": 4, \"all_reduce\": "
		   "\"esa\", \"stragglers\": {\"workers\": 2, \"slowdown\": 50}, \"model\": "
		   "{\"layers\": [{\"gradient\": \"256B\", \"forward\": \"1us\"}]}}, "
		   "{\"workers\": 2, \"all_reduce\": \"esa\", \"arrival\": {\"at\": \"10us\"}, "
		   "\"stragglers\": {\"workers\": 1, \"slowdown\": 20}, \"model\": {\"layers\": "
		   "[{\"gradient\": \"256B\", \"forward\": \"200ns\"}]}}]}");
	bench.watch = true;
	bench.after = write_trace;
	bench.owner = text;
	esa_finish(&bench, 4 + 2);
	cr_expect_str_eq(text, "P0:3 R1 R1 M0 P0:c R0 R0 R0 R0 ", "%s", text);
	cr_expect_eq(switch_stats(&bench).preemptions, 1);
	cr_expect_eq(switch_stats(&bench).fallbacks, 0);
	cr_expect_eq(job_stats(&bench).reminders, 1);
	/* PS1's entry is from 12.7 us on; a timer of 1 ms, a round trip, the results */
	expect_near(tat(&bench, 1), 1e-3 + 12.7e-6 + 8e-6, 0.005, "TAT, s", 1);
	bench_close(&bench);
}

/* Figure 4 (R-E-4): g1 of job 1 fails to preempt (job 2 holds the aggregator), so PS1
 * has an entry; g2 and g3 come when the aggregator is free, take it and wait for g1; PS1's
 * timer runs out, its reminder fetches g2 + g3, and it multicasts. */
static void figure_4(struct bench *bench, char *text, const char *size)
{
	bench_open(bench, SCHEME_esa,
		   "{\"name\": \"t\", \"cluster\": {\"controller_latency\": \"1ns\"}, "
		   "\"topology\": {\"kind\": \"star\", \"hosts\": 8, \"link\": {\"rate\": "
		   "\"100Gbps\"}}, \"schemes\": {\"esa\": {\"memory\": \"256B\"}}, \"jobs\": "
		   "[{\"workers\": 3, \"all_reduce\": \"esa\", \"arrival\": {\"at\": \"5us\"}, "
		   "\"stragglers\": {\"workers\": 2, \"slowdown\": 50}, \"model\": {\"layers\": "
		   "[{\"gradient\": \"%s\", \"forward\": \"1us\"}]}}, {\"workers\": 2, "
		   "\"all_reduce\": \"esa\", \"stragglers\": {\"workers\": 1, \"slowdown\": 20}, "
		   "\"model\": {\"layers\": [{\"gradient\": \"256B\", \"forward\": \"1us\"}]}}]}",
		   size);
	bench->watch = true;
	bench->after = write_trace;
	bench->owner = text;
}

Test(esa_trace, figure_4)
{
	char text[500] = "";
	struct bench bench;

	figure_4(&bench, text, "256B");
	esa_finish(&bench, 3 + 2);
	cr_expect_str_eq(text, "P1:1 R0 R0 M1 P1:6 R1 R1 R1 ", "%s", text);
	cr_expect_eq(switch_stats(&bench).preemptions, 0);
	cr_expect_eq(switch_stats(&bench).fallbacks, 1);
	cr_expect_eq(job_stats(&bench).reminders, 1);
	bench_close(&bench);
}
