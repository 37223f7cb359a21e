/* NetReduce with loss: each single packet of a small job, every corner case that the paper leaves
 * to its transport, and loss at random, on one switch and on trees. Each run has to end, with each
 * sum once. */
#include "test_netreduce.h"

#include "core/rng.h"

/* --- each packet in turn --- */

struct count {
	uint64_t met, which;
};

static bool lose_one(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct count *count = bench->owner;

	(void)node, (void)packet;
	return count->met++ == count->which;
}

/* Data, results, ACKs, NACKs; on any link. One of `step`, at night all. */
static void lose_each(const char *topology, unsigned workers, unsigned step)
{
	if (getenv("NIGHTLY"))
		step = 1;
	for (uint64_t which = 0, end = 1; which < end; which += step) {
		struct count count = { .which = which };
		struct bench bench;

		bench_job_of(&bench, topology, 1, 0, workers, 3, 15, "");
		bench.lose = lose_one;
		bench.owner = &count;
		bench_finish(&bench, 15 * workers);
		if (which == 0)
			end = count.met;
		bench_close(&bench);
	}
}

Test(netreduce_loss, each_packet_on_one_switch)
{
	lose_each(STAR(3), 3, 1);
}

Test(netreduce_loss, each_packet_on_two_levels)
{
	lose_each(SPINE, 4, 1);
}

Test(netreduce_loss, each_packet_on_three_levels)
{
	lose_each(FAT, 9, 4);
}

/* --- named packets --- */

struct named {
	uint32_t rank;
	uint64_t first, behind; /* packets of its connection, from 0 */
	bool result;            /* at its destination; else at its switch */
	unsigned left;          /* so many times each at most, in all */
};

static bool lose_named(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct named *named = bench->owner;
	const struct end *end;
	uint64_t number;

	if (packet->protocol != bench_protocol(bench) || !named->left ||
	    (node < bench->net->hosts) != named->result)
		return false;
	end = netreduce_end(bench->scheme, packet);
	number = roce_psn_of(packet) - (end ? end->ring->first & NETREDUCE_PSN_MASK : 0);
	if (!end || end->rank != named->rank || number < named->first || number >= named->behind)
		return false;
	named->left--;
	return true;
}

enum { H = 4, L = 20, M = 8 }; /* workers, packets of a message, messages */

static void open_named(struct bench *bench, struct named *named, const char *scheme)
{
	bench_job_of(bench, STAR(4), 1, 0, H, L, L * M, scheme);
	bench->lose = lose_named;
	bench->owner = named;
}

/* A packet is found by its PSN, and the message that it says it is of is held against that: one of
 * another message is a violation, and adds nothing. (PSNs have 24 bits, so nothing else would tell
 * packets apart that are 2^24 behind each other.) */
struct caught {
	struct packet packet;
	bool done;
};

static bool catch_tenth(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct caught *caught = bench->owner;
	const struct end *end = netreduce_end(bench->scheme, packet);

	if (packet->protocol != bench_protocol(bench) || node < bench->net->hosts || !end ||
	    end->rank != 1 || roce_psn(end->ring->first + 10) != roce_psn_of(packet))
		return false;
	caught->packet = *packet;
	caught->done = true;
	return true;
}

Test(netreduce_loss, packet_of_another_message)
{
	struct switch_actions actions = { 0 };
	struct caught caught = { .done = false };
	const struct protocol_ops *ops;
	struct bench bench;
	uint64_t before;

	bench_job_of(&bench, STAR(4), 1, 0, H, L, L * M, "");
	bench.lose = catch_tenth;
	bench.owner = &caught;
	while (!caught.done)
		cr_assert(sim_run(&bench.run.s->sim, 1));
	before = switch_stats(&bench).packets_aggregated;
	ops = bench.net->protocols[bench_protocol(&bench)].ops;
	caught.packet.seq += UINT64_C(1) << ROCE_PSN_BITS;
	ops->at_switch(bench.net->protocols[bench_protocol(&bench)].self, 0,
		       bench.net->cold[1].reverse, &caught.packet, &actions);
	cr_expect_not_null(strstr(bench.run.s->checks.first, "one of another message"));
	cr_expect_eq(switch_stats(&bench).packets_aggregated, before);
	bench_close(&bench);
}

/* The first packet of message 2 is lost: the others of it are not to be found, until it comes again
 * with them. Columns of other workers are unaffected: each of their packets is stored once. */
Test(netreduce_loss, first_packet_of_a_message)
{
	struct named named = { .rank = 1, .first = 2 * L, .behind = 2 * L + 1, .left = 1 };
	struct bench bench;

	open_named(&bench, &named, "");
	bench_finish(&bench, H * L * M);
	cr_expect_eq(switch_stats(&bench).discarded, L - 1);
	cr_expect_eq(switch_stats(&bench).packets_aggregated, H * L * M);
	cr_expect_eq(switch_stats(&bench).results, L * M);
	cr_expect_eq(worker_stats(&bench).timeouts, 0,
		     "message 3 comes through, and shows the gap");
	bench_close(&bench);
}

/* A result is lost: its receiver asks for it, and the sender goes back over packets that have been
 * served. Each is answered, on its connection alone: one packet more at the hosts for each that
 * was sent again and found the sum. */
Test(netreduce_loss, result_of_one)
{
	struct named named = {
		.rank = 2, .first = 3 * L + 5, .behind = 3 * L + 6, .result = true, .left = 1
	};
	struct bench bench;

	open_named(&bench, &named, "");
	bench_finish(&bench, H * L * M);
	cr_expect_geq(switch_stats(&bench).repairs, 1);
	cr_expect_eq(bench.up, H * L * M + switch_stats(&bench).duplicates);
	cr_expect_eq(worker_stats(&bench).retransmissions, switch_stats(&bench).duplicates);
	cr_expect_eq(bench.results, H * L * M - 1 + switch_stats(&bench).repairs);
	cr_expect_eq(worker_stats(&bench).timeouts, 0, "the NACK is enough");
	bench_close(&bench);
}

/* The result of message m - N is lost for one worker, again and again, while the others go on to m
 * as far as they can: it can still be had. With columns that the first packet of message m frees,
 * it could not. */
Test(netreduce_loss, result_of_one_many_times)
{
	struct named named = {
		.rank = 0, .first = 2 * L, .behind = 3 * L, .result = true, .left = 10 * L
	};
	struct bench bench;

	open_named(&bench, &named, "");
	bench_finish(&bench, H * L * M);
	cr_expect_eq(named.left, 0);
	bench_close(&bench);
}

/* The sender goes back from the end of a message into the one before, whose first packet does not
 * come again: it is found all the same. */
Test(netreduce_loss, back_into_the_message_before)
{
	struct named named = {
		.rank = 2, .first = 2 * L - 2, .behind = 2 * L - 1, .result = true, .left = 1
	};
	struct bench bench;

	open_named(&bench, &named, ", 'ack_every': 1");
	bench_finish(&bench, H * L * M);
	cr_expect_eq(switch_stats(&bench).discarded, 0);
	cr_expect_geq(switch_stats(&bench).repairs, 1);
	bench_close(&bench);
}

/* --- ACKs --- */

struct acks {
	uint32_t from; /* host */
	sim_time until;
	uint64_t lost;
};

/* The host that receives data on this connection, and sends its ACKs. */
static uint32_t receiver(const struct bench *bench, uint32_t connection)
{
	return bench->scheme->roce->conns[connection]->rx.host;
}

static bool lose_acks(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct acks *acks = bench->owner;

	if (packet->kind != PACKET_ACK || node < bench->net->hosts ||
	    bench->net->sim->now >= acks->until || receiver(bench, packet->flow) != acks->from)
		return false;
	acks->lost++;
	return true;
}

/* ACKs of one connection are lost until its timer goes back to its first packets, whose columns
 * serve later messages by then: they are dropped, pollute nothing, and a later ACK ends it. */
Test(netreduce_loss, acks_of_one_connection)
{
	struct acks acks = { .from = 1, .until = 150 * PS_PER_US };
	struct bench bench;

	bench_job_of(&bench, STAR(4), 1, 0, H, L, L * 60, ", 'ack_every': 4");
	bench.lose = lose_acks;
	bench.owner = &acks;
	bench_finish(&bench, H * L * 60);
	cr_expect_gt(acks.lost, 0);
	cr_expect_geq(worker_stats(&bench).timeouts, 1);
	cr_expect_gt(switch_stats(&bench).duplicates, switch_stats(&bench).repairs,
		     "some were stale");
	cr_expect_eq(switch_stats(&bench).packets_aggregated, H * L * 60);
	bench_close(&bench);
}

/* --- at random --- */

static void lose_at_random(const char *topology, unsigned workers, double loss, unsigned seeds)
{
	for (unsigned seed = 1; seed <= seeds; seed++) {
		struct bench bench;

		bench_job_of(&bench, topology, seed, loss, workers, 5, 60, "");
		bench_finish(&bench, 60 * workers);
		bench_close(&bench);
	}
}

Test(netreduce_loss, at_random_on_one_switch)
{
	lose_at_random(STAR(4), 4, 0.02, 30);
	lose_at_random(STAR(4), 4, 0.3, 15);
}

Test(netreduce_loss, at_random_on_two_levels)
{
	lose_at_random(SPINE_3, 6, 0.02, 30);
	lose_at_random(SPINE_3, 6, 0.2, 15);
}

Test(netreduce_loss, at_random_on_three_levels)
{
	lose_at_random(FAT, 12, 0.02, 10);
	lose_at_random(FAT, 12, 0.1, 5);
}

/* At a root above other switches packets that come again are answered to all. With "once" one
 * answer in a round trip serves all that ask: fewer results, and all the same each sum once. */
Test(netreduce_loss, repeats)
{
	for (unsigned seed = 1; seed <= 5; seed++) {
		uint64_t results[2];

		for (int once = 0; once < 2; once++) {
			struct bench bench;

			bench_job_of(&bench, SPINE_3, seed, 0.001, 6, 40, 40 * 50,
				     once ? ", 'repeats': 'once'" : "");
			bench_finish(&bench, 40 * 50 * 6);
			results[once] = bench.results;
			bench_close(&bench);
		}
		cr_expect_lt(results[1], results[0]);
	}
	for (unsigned seed = 1; seed <= 10; seed++) {
		struct bench bench;

		bench_job_of(&bench, FAT, seed, 0.05, 12, 5, 60, ", 'repeats': 'once'");
		bench_finish(&bench, 60 * 12);
		bench_close(&bench);
	}
}

/* 1e-6 to 1e-2, with the paper's messages. */
Test(netreduce_loss, small_and_large)
{
	for (double loss = 1e-6; loss < 0.02; loss *= 10) {
		struct bench bench;

		bench_job_of(&bench, STAR(6), 1, loss, 6, 170, 170 * 50, "");
		bench_finish(&bench, 170 * 50 * 6);
		bench_close(&bench);
	}
}

/* With a window of one message, two entries in the lookup table and two messages of columns. */
Test(netreduce_loss, window_of_one)
{
	for (unsigned seed = 1; seed <= 10; seed++) {
		struct bench bench;

		bench_job_of(&bench, SPINE, seed, 0.05, 4, 5, 60, ", 'window': 1");
		bench_finish(&bench, 60 * 4);
		bench_close(&bench);
	}
}

/* The PSN wraps in the middle of it all. */
Test(netreduce_loss, psn_wraps)
{
	for (unsigned seed = 1; seed <= 10; seed++) {
		struct bench bench;

		bench_open(&bench,
			   "{'name': 't', 'seed': %u, 'topology': {" SPINE
			   ", 'link': {'rate': '100Gbps', 'loss': 0.02}}, 'schemes': {'netreduce': "
			   "{'message': 7, 'roce': {" FAST ", 'first_psn': 16777190}}}, 'jobs': "
			   "[{'workers': 4, 'all_reduce': 'netreduce', 'model': {'layers': "
			   "[{'gradient': '71680B'}]}}]}",
			   seed);
		bench_finish(&bench, 70 * 4);
		bench_close(&bench);
	}
}
