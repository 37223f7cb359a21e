/* SwitchML's packets in messages of several (format rdma): times against a closed form, and loss of
 * named packets and at random. What messages are for packets that come alone is in the other tests
 * of SwitchML. */
#include "test_switchml.h"

/* Bytes on the wire: 1024 of data, 62 of headers, 20 of preamble and gap; 16 more in the first
 * packet of a message, 4 in the last. */
#define PACKET 1106
#define FIRST  16
#define LAST   4

/* Messages leave at line rate: each packet costs its headers, each message 20 bytes more. The last
 * result leaves the switch behind the others of its message, which are as late as the first of
 * them is longer. */
Test(switchml_rdma, headers_of_messages)
{
	static const unsigned sizes[] = { 1, 2, 4, 16, 64 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned m = sizes[i], messages = 6400 / m;
		double byte = 8 / 100e9, first = PACKET + FIRST + (m == 1 ? LAST : 0), wanted;
		struct bench bench;
		char scheme[80];

		snprintf(scheme, sizeof(scheme), "\"format\": \"rdma\", \"message\": %u", m);
		star(&bench, 6, 100, "", scheme, 6400 * UINT64_C(1024));
		bench_finish(&bench, 6 * UINT64_C(6400));
		wanted = (messages * ((double)m * PACKET + FIRST + LAST) + first) * byte + 2.5e-6;
		expect_near(tat(&bench, 0), wanted, 1e-9, "TAT, s", m);
		cr_expect_eq(bench.up, 6 * UINT64_C(6400));
		bench_close(&bench);
	}
}

/* Tensors are padded to whole messages: 5 packets, 1 and 4 are 2 messages, 1 and 1. */
Test(switchml_rdma, padding)
{
	static const struct {
		unsigned bytes, packets;
	} sizes[] = { { 5000, 8 }, { 4, 4 }, { 4096, 4 } };

	for (size_t i = 0; i < 3; i++) {
		struct bench bench;

		star(&bench, 4, 10, "", "\"format\": \"rdma\"", sizes[i].bytes);
		bench_finish(&bench, 4 * sizes[i].packets);
		bench_close(&bench);
	}
}

/* What a check foresees of slots is what the job says that it wanted: a message has to have left
 * before its first result counts. */
Test(switchml_rdma, slots_are_foreseen)
{
	static const unsigned sizes[] = { 1, 4, 16, 64 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct collective_actual before, after;
		const struct collective_ops *ops = all_reduce_ops(SCHEME_switchml);
		struct bench bench;
		char scheme[80];

		snprintf(scheme, sizeof(scheme),
			 "\"format\": \"rdma\", \"message\": %u, \"memory\": \"%uB\"", sizes[i],
			 2100 * sizes[i]);
		star(&bench, 6, 100, "", scheme, 6400 * UINT64_C(1024));
		before = ops->runs_as(bench.scenario.schemes[SCHEME_switchml],
				      &bench.scenario.topology, 6400 * UINT64_C(1024));
		sim_run(&bench.s->sim, 1); /* the job is admitted */
		after = ops->ran_as(bench_job(&bench, 0));
		cr_expect_eq(before.has, after.has, "message %u", sizes[i]);
		cr_expect_eq(before.of, after.of, "message %u: %" PRIu64 ", %" PRIu64, sizes[i],
			     before.of, after.of);
		cr_expect_gt(before.of, before.has);
		bench_close(&bench);
	}
}

struct loss {
	bool result, done;
	unsigned chunk;
};

/* The contribution of worker 0, or the result on its way to it. */
static bool lose_one(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct loss *loss = bench->owner;
	bool here = loss->result ? node == 0 : node == bench->net->hosts && packet->source == 0;

	if (loss->done || !here || packet->seq != loss->chunk)
		return false;
	loss->done = true;
	return true;
}

/* Without the second packet of its second message the switch discards the other two, and all
 * workers send the message again; without the result of its third packet worker 0 drops that of the
 * fourth, and gets all four once more. */
Test(switchml_rdma, one_packet_is_lost)
{
	for (int result = 0; result < 2; result++) {
		struct loss loss = { .result = result, .chunk = result ? 6 : 5 };
		struct collective_stats workers;
		struct bench bench;

		star(&bench, 4, 10, "", "\"format\": \"rdma\", \"slots\": 16", 64 * 1024);
		bench.lose = lose_one;
		bench.owner = &loss;
		bench.watch = true;
		bench_finish(&bench, 4 * 64);
		workers = worker_stats(&bench);
		cr_expect_eq(switch_stats(&bench).discarded, result ? 0 : 2);
		cr_expect_eq(workers.retransmissions, result ? 4 : 4 * 4);
		cr_expect_eq(workers.stale, result ? 1 : workers.stale);
		cr_expect_eq(bench.unicasts, result ? 4 : bench.unicasts);
		bench_close(&bench);
	}
}

/* Whether packets marked as sent before have been. */
static bool note_sent(struct bench *bench, uint32_t node, const struct packet *packet)
{
	bool(*sent)[256] = bench->owner;

	if (node < bench->net->hosts)
		return false;
	cr_expect_eq((packet->flags & PACKET_RETRANSMIT) != 0, sent[packet->source][packet->seq],
		     "chunk %" PRIu64, packet->seq);
	sent[packet->source][packet->seq] = true;
	return false;
}

/* Messages take the NIC longer than the first timeouts: those of its packets that have not left are
 * queued again, but are not sent again. */
Test(switchml_rdma, what_has_not_left_is_not_repeated)
{
	static bool sent[2][256];
	struct bench bench;

	star(&bench, 2, 10, "",
	     "\"format\": \"rdma\", \"message\": 32, \"slots\": 64, \"timeout_rule\": "
	     "\"doubling\", \"timeout_threshold\": 10, \"retransmission_timeout\": \"10us\"",
	     256 * 1024);
	bench.lose = note_sent;
	bench.owner = sent;
	bench.watch = true;
	bench_finish(&bench, 2 * 256);
	cr_expect_gt(worker_stats(&bench).retransmissions, 0);
	bench_close(&bench);
}

/* The first packet of worker 0, so many times. */
static bool lose_first(struct bench *bench, uint32_t node, const struct packet *packet)
{
	unsigned *left = bench->owner;

	if (node != bench->net->hosts || packet->source || packet->seq || !*left)
		return false;
	--*left;
	return true;
}

/* A message has one timer. With threshold 1 its timeout doubles at the 2nd and the 5th expiry, as
 * that of a packet: 1, 1, 2, 2, 2, 4 ms. */
Test(switchml_rdma, doubling)
{
	unsigned left = 6;
	struct bench bench;

	star(&bench, 2, 10, "",
	     "\"format\": \"rdma\", \"slots\": 4, \"timeout_rule\": \"doubling\", "
	     "\"timeout_threshold\": 1",
	     4 * 1024);
	bench.lose = lose_first;
	bench.owner = &left;
	bench_finish(&bench, 2 * 4);
	cr_expect_float_eq(tat(&bench, 0), 12e-3, 20e-6, "%.6f", tat(&bench, 0));
	bench_close(&bench);
}

/* On a switch, over two levels, and where a switch has both workers and a switch below it, whole
 * messages and one slot of them at a time: every sum is right, with all invariants at every packet.
 * (An adaptive timeout has no samples where hardly a message passes.) With the check of order
 * between switches, too, runs over several switches hang. */
Test(switchml_rdma, uniform_loss)
{
	static const char *const nets[] = {
		"\"kind\": \"star\", \"hosts\": 4",
		"\"kind\": \"leaf-spine\", \"leaves\": 2, \"spines\": 1, \"hosts_per_leaf\": 2",
		"\"kind\": \"graph\", \"graph\": {\"hosts\": [\"h[0-3]\"], \"switches\": [\"a\", "
		"\"b\"], "
		"\"links\": [{\"from\": \"h[0-1]\", \"to\": \"a\"}, {\"from\": \"h[2-3]\", \"to\": "
		"\"b\"}, "
		"{\"from\": \"a\", \"to\": \"b\"}]}",
	};
	static const double rates[] = { 1e-3, 1e-2, 0.1, 0.2 };
	static const unsigned messages[] = { 2, 4, 8 };

	for (unsigned i = 0; i < 3 * 4 * 3 * 3; i++) {
		unsigned m = messages[i / 12 % 3];
		struct bench bench;

		bench_open(&bench,
			   "{\"name\": \"t\", \"seed\": %u, \"topology\": {%s, \"link\": "
			   "{\"loss\": %g}}, "
			   "\"schemes\": {\"switchml\": {\"format\": \"rdma\", \"message\": %u, "
			   "\"slots\": %u, "
			   "\"retransmission_timeout\": \"200us\", \"timeout_rule\": \"%s\"}}, "
			   "\"jobs\": "
			   "[{\"workers\": 4, \"all_reduce\": \"switchml\", \"iterations\": 2, "
			   "\"model\": "
			   "{\"layers\": [{\"gradient\": \"%uB\"}]}}]}",
			   i, nets[i % 3], rates[i / 3 % 4], m, m * (1 + i / 36),
			   i / 3 % 4 < 2 && i % 5 == 0 ? "adaptive" : "fixed", 64 * 1024);
		bench.watch = true;
		bench_finish(&bench, 2 * 4 * 64);
		bench_close(&bench);
	}
}
