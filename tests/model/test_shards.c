/* Reduce-scatter and all-gather by switches: times against closed forms, pieces at their places,
 * every packet of a small job lost in turn, late ranks, switch memory, mistakes. */
#include "model_run.h"

#include "ina/shards/shards.h"
#include "workload/jobs/jobs_parts.h"

#include <inttypes.h>

#define BOTH    "'all_reduce': 'ring', 'reduce_scatter': 'shards', 'all_gather': 'shards'"
#define PAYLOAD 1024
#define WIRE    1100 /* 56 bytes of headers, 20 of preamble and gap */

static void build(struct run *run, const char *topology, const char *shards, const char *jobs)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { %s }, 'schemes': { 'shards': { %s } }, 'jobs': [ "
		  "%s ] }",
		  topology, shards, jobs);
}

/* --- closed forms --- */

static double time_of(const char *topology, unsigned workers, const char *more)
{
	char job[400];
	struct run run;
	double t;

	snprintf(job, sizeof(job),
		 "{ 'workers': %u, %s, %s, 'placement': 'spread', 'model': { 'layers': [ { "
		 "'gradient': '30MB' } ] } }",
		 workers, BOTH, more);
	build(&run, topology, "'memory': '16MB'", job);
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run.s->topo.net.dropped, 0);
	t = jobs_report(run.s->jobs)->durations[0];
	run_free(&run);
	return t;
}

/* (N - 1) / N S / B for each, on one switch and over tiers, whose links no byte crosses twice. With
 * "full" there is one more all-gather, so each is checked. */
static void halves(const char *topology, unsigned workers)
{
	double rate = 200e9 / 8 * PAYLOAD / WIRE, want = (workers - 1.0) / workers * 30e6 / rate;
	double two = time_of(topology, workers, "'sharding': 'optimizer'");
	double three = time_of(topology, workers, "'sharding': 'full'");

	cr_expect_float_eq((three - two) / want, 1, 0.01, "all-gather of %u: %g", workers,
			   (three - two) / want);
	cr_expect_float_eq((2 * two - three) / want, 1, 0.01, "reduce-scatter of %u: %g", workers,
			   (2 * two - three) / want);
}

#define LINK "'link': { 'rate': '200Gbps', 'delay': '500ns' }"

Test(shards, time_on_a_star)
{
	static const unsigned workers[] = { 2, 3, 8, 16 };

	for (unsigned i = 0; i < 4; i++)
		halves("'kind': 'star', 'hosts': 16, " LINK, workers[i]);
}

Test(shards, time_over_tiers)
{
	halves("'kind': 'leaf-spine', 'leaves': 3, 'spines': 2, 'hosts_per_leaf': 4, " LINK, 8);
	halves("'kind': 'fat-tree', 'k': 4, " LINK, 16);
}

/* A job that only exchanges: a backward pass gathers S (in: 7/8 S) beside a reduce-scatter (out:
 * 7/8 S, and the own shard S/8), so it takes S/B, and the forward pass 7/8 S/B: 1.875 where a ring
 * needs 2.625. */
Test(shards, time_of_fsdp)
{
	double want = 1.875 * 673.84e6 / (200e9 / 8 * 8960 / 9036);
	struct run run;
	double t;

	build(&run, "'kind': 'star', 'hosts': 8, " LINK, "'elements_per_packet': 2240",
	      "{ 'workers': 8, " BOTH ", 'model': 'llama2_7b', 'gpu': 'a100', 'overlap': 'layers', "
	      "'sharding': 'full', 'gradient_scale': 0.025, 'compute_scale': 0 }");
	run_to(&run, END_ALL_DONE);
	t = jobs_report(run.s->jobs)->durations[0];
	cr_expect_float_eq(t / want, 1, 0.02, "%.3f ms, closed form %.3f", t * 1e3, want * 1e3);
	run_free(&run);
}

/* --- loss --- */

#define RACKS                                                                                      \
	"'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, 'hosts_per_leaf': 2, 'link': { 'rate': "  \
	"'10Gbps' }"
/* Four rows, two under way. */
#define SMALL                                                                                      \
	"{ 'workers': 4, " BOTH ", 'sharding': 'full', 'iterations': 2, 'model': { 'layers': [ { " \
	"'gradient': '16KB' } ] } }"

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
static uint64_t run_with_losses(uint64_t n, uint64_t count)
{
	struct losses losses = { .first = n, .count = count };
	struct network_faults faults = { .lose = lose, .owner = &losses };
	struct run run;

	build(&run, RACKS, "'window': '1B'", SMALL);
	network_inject(&run.s->topo.net, &faults);
	run_to(&run, END_ALL_DONE);
	/* 4 rows, two iterations: an own piece, and twice three shards, at each of 4 ranks */
	cr_expect_eq(run.s->checks.exact_checked, 4 * 2 * 4 * (1 + 2 * 3));
	run_free(&run);
	return losses.seen;
}

Test(shards, each_packet_lost_in_turn)
{
	static const uint64_t counts[] = { 1, 2, 7 };
	uint64_t packets = run_with_losses(0, 0);

	cr_expect_gt(packets, 400);
	for (unsigned c = 0; c < 3; c++)
		for (uint64_t n = 0; n < packets; n++)
			run_with_losses(n, counts[c]);
}

Test(shards, lost_at_random)
{
	for (unsigned seed = 1; seed <= 5; seed++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'seed': %u, 'topology': { 'kind': 'fat-tree', 'k': 4, "
			  "'link': { 'loss': 0.05 } }, 'jobs': [ { 'workers': 16, " BOTH
			  ", 'sharding': 'optimizer', 'model': { 'layers': [ { 'gradient': '1MB' } "
			  "] } } ] }",
			  seed);
		run_to(&run, END_ALL_DONE);
		run_free(&run);
	}
}

/* Of the last row rank 1 lacks two shards. Chunk 14 gets through at the fourth question, chunk 15
 * at the one after it. */
struct stubborn {
	const struct network *net;
	unsigned lost[2];
};

static bool lose_last(void *owner, uint32_t port, const struct packet *packet)
{
	struct stubborn *stubborn = owner;
	const struct port *to = &stubborn->net->ports[port];
	unsigned which = packet->chunk == 15;

	if (packet->kind != PACKET_AGGREGATION || !to->to_host || to->to != 1 ||
	    packet->chunk < 14 ||
	    strcmp(stubborn->net->protocols[packet->protocol].ops->name, "shards_gather") ||
	    stubborn->lost[which] == 4 + which)
		return false;
	stubborn->lost[which]++;
	return true;
}

/* Timeouts of 1, 2, 4 and 8 ms until something comes, and 1 ms again. */
Test(shards, timeouts_are_short_again)
{
	struct stubborn stubborn = { 0 };
	struct network_faults faults = { .lose = lose_last, .owner = &stubborn };
	struct run run;
	double t;

	build(&run, RACKS, "'window': '1B'",
	      "{ 'workers': 4, " BOTH ", 'sharding': 'optimizer', 'model': { 'layers': [ { "
	      "'gradient': '16KB' } ] } }");
	stubborn.net = &run.s->topo.net;
	network_inject(&run.s->topo.net, &faults);
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(stubborn.lost[0] + stubborn.lost[1], 4 + 5);
	t = jobs_report(run.s->jobs)->durations[0];
	cr_expect_float_eq(t, 1e-3 + 2e-3 + 4e-3 + 8e-3 + 1e-3, 0.2e-3, "%g", t);
	run_free(&run);
}

/* --- headroom --- */

/* A switch asks two others because a rank has asked it, and PAUSE leaves room for both. */
Test(shards, headroom_for_two)
{
	static const char *const schemes[] = { "'all_reduce': 'ring', 'sharding': 'full'",
					       BOTH ", 'sharding': 'full'" };
	bytes headroom[2];

	for (unsigned i = 0; i < 2; i++) {
		struct run run;
		char job[300];

		snprintf(job, sizeof(job),
			 "{ 'workers': 4, %s, 'model': { 'layers': [ { 'gradient': '16KB' } ] } }",
			 schemes[i]);
		build(&run, "'kind': 'star', 'hosts': 4, 'switch': { 'pause': true }", "", job);
		headroom[i] = topology_pause(&run.scenario.topology, false).headroom;
		run_free(&run);
	}
	cr_expect_eq(headroom[1], 2 * headroom[0]);
}

/* --- places --- */

static const struct protocol_ops *real;
static struct protocol_ops tap;
static bool moved, scattered;

/* Returns the ops of the protocol, to be changed; `real` is what they were. */
static struct protocol_ops *tap_protocol(struct network *net, const char *name)
{
	for (unsigned p = 0; p < net->protocol_count; p++) {
		if (strcmp(net->protocols[p].ops->name, name))
			continue;
		real = net->protocols[p].ops;
		tap = *real;
		net->protocols[p].ops = &tap;
	}
	return &tap;
}

static void to_another(void *self, uint32_t host, const struct packet *packet)
{
	bool move = !moved && host == 1 && packet->chunk % 4 == (scattered ? 1 : 2);

	moved |= move;
	real->deliver(self, move ? 2 : host, packet);
}

/* The right value at the wrong rank is a violation: a sum of somebody else's, and a rank's own
 * shard. */
Test(shards, at_the_wrong_rank)
{
	static const char *const names[] = { "shards_scatter", "shards_gather" };

	for (unsigned k = 0; k < 2; k++) {
		struct run run;

		build(&run, RACKS, "'window': '1B'", SMALL);
		moved = false;
		scattered = k == 0;
		tap_protocol(&run.s->topo.net, names[k])->deliver = to_another;
		run_to(&run, END_VIOLATION);
		cr_expect(strstr(run.s->checks.first,
				 scattered ? "the piece of another rank" : "own shard came back"),
			  "%s", run.s->checks.first);
		run_free(&run);
	}
}

/* --- contributions twice --- */

static struct packet kept;
static uint32_t kept_back;
static bool has_kept, again_late;

/* Whatever a switch gets it gets twice, and once more when the row has long been over. */
static void twice(void *self, uint32_t sw, uint32_t back, struct packet *packet,
		  struct switch_actions *actions)
{
	struct switch_actions none = { 0 };
	struct packet copy = *packet;

	if (!has_kept) {
		kept = *packet;
		kept_back = back;
		has_kept = true;
	}
	real->at_switch(self, sw, back, packet, actions);
	if (copy.flags & SHARDS_ASK)
		return;
	real->at_switch(self, sw, back, &copy, &none);
	cr_expect_eq(none.count, 0);
	/* the window is 2 rows, memory has 4 */
	if (again_late || kept.chunk + 4 * 4 != copy.chunk || back != kept_back)
		return;
	again_late = true;
	copy = kept;
	real->at_switch(self, sw, back, &copy, &none);
	cr_expect_eq(none.count, 0);
}

/* A contribution that a switch has, or whose sum has made room for a later one, is not added. */
Test(shards, contributions_twice)
{
	struct collective_stats stats = { 0 };
	const struct collective_memory *memory;
	struct run run;

	build(&run, RACKS, "'window': '1B'", SMALL);
	tap_protocol(&run.s->topo.net, "shards_scatter")->at_switch = twice;
	run_to(&run, END_ALL_DONE);
	for (size_t i = 0; i < simulation_memory(run.s, SCHEME_shards, &memory); i++)
		collective_stats_add(&stats, &memory[i].stats);
	cr_expect_eq(stats.duplicates, stats.packets_aggregated);
	cr_expect_eq(stats.late, 1);
	cr_expect(again_late);
	run_free(&run);
}

/* --- late ranks --- */

/* Who has not sent does not answer: however long a rank is waited for, nothing is sent twice but
 * what leaves while somebody asks for it. */
Test(shards, late_ranks)
{
	struct collective_stats stats = { 0 };
	struct run run;

	build(&run, RACKS, "'timeout': '50us'",
	      "{ 'workers': 4, " BOTH ", 'sharding': 'full', 'iterations': 3, 'start_jitter': "
	      "'2ms', 'model': { 'layers': [ { 'gradient': '16KB' } ] } }");
	run_to(&run, END_ALL_DONE);
	jobs_stats(run.s->jobs, &stats);
	cr_expect_gt(stats.timeouts, 10);
	cr_expect_gt(stats.reminders, stats.timeouts);
	cr_expect_lt(stats.retransmissions, stats.reminders / 10);
	run_free(&run);
}

/* More neighbours of a switch than a word has bits: each piece is the sum of all, at its rank. */
Test(shards, more_ranks_than_bits_of_a_word)
{
	struct run run;

	build(&run, "'kind': 'star', 'hosts': 70", "",
	      "{ 'workers': 70, " BOTH ", 'sharding': 'optimizer', 'model': { 'layers': [ { "
	      "'gradient': '71680B' } ] } }");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run.s->checks.exact_checked, 70 + 70 * 69);
	run_free(&run);
}

/* Queues that take longer than the timeout do not fill up with what is sent again: on racks with a
 * quarter of the rate upwards and small buffers, a window of 64 kB waits for 2 ms. */
Test(shards, timeout_below_the_queues)
{
	struct run run;

	build(&run,
	      "'kind': 'leaf-spine', 'leaves': 4, 'hosts_per_leaf': 6, 'spines': 4, "
	      "'oversubscription': 4, 'link': { 'rate': '1Gbps', 'delay': '2us' }, 'switch': { "
	      "'buffer': '60kB' }",
	      "'window': '64kB', 'elements_per_packet': 16, 'timeout': '20us'",
	      "{ 'workers': 7, " BOTH ", 'sharding': 'full', 'placement': 'spread', 'model': { "
	      "'layers': [ { 'gradient': '120193B' } ] } }");
	run_until(&run, PS_PER_S);
	cr_expect_gt(run.s->topo.net.dropped, 0);
	cr_expect_eq(jobs_report(run.s->jobs)->measured.finished, 1);
	run_free(&run);
}

/* Questions do not take the room of answers for ever: all ranks time out together, and what all ask
 * for at once is ten times what the buffer holds. */
Test(shards, questions_leave_room_for_answers)
{
	struct run run;

	build(&run,
	      "'kind': 'star', 'hosts': 8, 'link': { 'rate': '10Gbps', 'delay': '1us' }, "
	      "'switch': { 'buffer': '4kB' }, 'host': { 'nic_jitter': '0s' }",
	      "'window': '64kB', 'elements_per_packet': 16, 'timeout': '100us'",
	      "{ 'workers': 8, " BOTH ", 'sharding': 'full', 'model': { "
	      "'layers': [ { 'gradient': '211552B' } ] } }");
	run_until(&run, PS_PER_S);
	cr_expect_gt(run.s->topo.net.dropped, 0);
	cr_expect_eq(jobs_report(run.s->jobs)->measured.finished, 1);
	run_free(&run);
}

/* --- why --- */

static sim_time causes[WHY_CAUSES];

static void add_row(void *owner, const struct why_row *row)
{
	(void)owner;
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		causes[c] += row->cause[c];
}

static unsigned lost_count;

/* Of piece 1 all that leaves of rows 1 to 4 of the all-gathers: a timeout repairs them. Of the
 * reduce-scatter row 1 once: its rank asks as soon as row 2 comes. */
static bool lose_of_both(void *owner, uint32_t port, const struct packet *packet)
{
	const struct network *net = owner;
	const char *name = net->protocols[packet->protocol].ops->name;
	uint64_t row = packet->chunk / 4, piece = packet->chunk % 4;
	bool lost;

	if (packet->kind != PACKET_AGGREGATION || packet->flags & (PACKET_RETRANSMIT | SHARDS_ASK))
		return false;
	lost = !strcmp(name, "shards_gather") ? port == 1 && row && row < 5
					      : port == 0 && row == 1 && piece == 1;
	lost_count += lost;
	return lost;
}

/* What an all-gather has lost, and its timeouts, are no cause of what a reduce-scatter of the same
 * job waits for, even if their chunks have the same numbers. */
Test(shards, why_of_both)
{
	struct run run;
	struct network_faults faults = { .lose = lose_of_both };
	struct why *why;

	memset(causes, 0, sizeof(causes));
	build(&run, RACKS, "'window': '1B'", SMALL);
	faults.owner = &run.s->topo.net;
	why = why_open(&run.s->topo.net, add_row, NULL);
	simulation_observe(run.s, why_observer(why));
	network_inject(&run.s->topo.net, &faults);
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(lost_count, 4 + 1);
	cr_expect_gt(causes[WHY_TIMEOUT], 0);
	cr_expect_gt(causes[WHY_FAST], 0);
	why_free(why);
	run_free(&run);
}

/* --- memory --- */

/* A job takes two windows of sums at each switch of its tree; one that finds none waits, one that
 * never will is refused. */
Test(shards, memory)
{
	const struct collective_memory *memory;
	const struct jobs_report *report;
	struct run run;

	build(&run, "'kind': 'star', 'hosts': 8", "'memory': '100KB', 'window': '40KB'",
	      "{ 'count': 2, 'workers': 4, " BOTH ", 'sharding': 'full', 'model': { 'layers': [ { "
	      "'gradient': '1MB' } ] } }");
	run_to(&run, END_ALL_DONE);
	cr_expect_geq(run.s->jobs->jobs[1].start, run.s->jobs->jobs[0].finish);
	cr_assert_eq(simulation_memory(run.s, SCHEME_shards, &memory), 1);
	cr_expect_eq(memory->used_max_bytes, 2 * 10 * 4 * PAYLOAD);
	cr_expect_eq(memory->used_bytes, 0);
	run_free(&run);

	build(&run, "'kind': 'star', 'hosts': 8", "'memory': '70KB', 'window': '40KB'",
	      "{ 'workers': 4, " BOTH ", 'sharding': 'full', 'model': { 'layers': [ { 'gradient': "
	      "'1MB' } ] } }");
	run_to(&run, END_REFUSED);
	report = jobs_report(run.s->jobs);
	cr_expect_eq(report->refused, 1);
	run_free(&run);
}

/* --- mistakes --- */

#define WRONG(rest)                                                                                \
	"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 }, 'jobs': [ { 'workers': 4, "    \
	"'model': { 'layers': [ { 'gradient': '4B' } ] }, " rest " } ] }"

Test(shards, mistakes)
{
	cr_expect_eq(run_mistakes("needs \"sharding\"",
				  WRONG("'all_reduce': 'ring', 'all_gather': 'shards'")),
		     1);
	cr_expect_eq(run_mistakes("switchml has no such operation; allowed: \"ring\" or ",
				  WRONG("'all_reduce': 'ring', 'sharding': 'full', "
					"'reduce_scatter': 'switchml'")),
		     1);
	cr_expect_gt(run_mistakes("/jobs/0/all_reduce", WRONG("'all_reduce': 'shards'")), 0);
	cr_expect_eq(run_mistakes("", WRONG("'sharding': 'full', " BOTH)), 0);
}
