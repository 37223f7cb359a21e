/* RoCE: what is sent when, with chosen packets lost on the way; packets of an owner, in order and
 * once whatever is lost.
 *
 * Times: 100 Gbps, 1 us of propagation a link, 500 ns in the switch. A full packet has 1024 + 62
 * bytes and 20 on the wire: 88.48 ns; the first of a message 16 more: 89.76 ns; an ACK 84 B: 6.72
 * ns. One way over the switch is 2.5 us and twice its time on a link. */
#include "model_run.h"

#include "transport/cc/dcqcn.h"
#include "transport/roce_conn.h"

#include <stdlib.h>

#define SENT_MAX 65536

#define NETWORK                                                                                    \
	"'topology': { 'kind': 'star', 'hosts': 4, 'link': { 'rate': '100Gbps', 'delay': '1us',"   \
	" 'loss': %g }, 'switch': { 'pause': false, 'ecn': false } }, "

/* What reaches hosts. */
struct watch {
	struct tap tap;
	uint32_t psns[SENT_MAX]; /* of data, lost packets included */
	size_t data, acks, nacks, cnps;
	bool (*lose)(const struct watch *watch, const struct packet *packet, size_t nth);
	bool mark; /* all data */
};

static bool watch_pass(struct tap *tap, uint32_t host, struct packet *packet)
{
	struct watch *watch = tap->owner;
	bool lost;

	(void)host;
	if (packet->kind == PACKET_DATA) {
		cr_assert_lt(watch->data, SENT_MAX);
		lost = watch->lose && watch->lose(watch, packet, watch->data);
		watch->psns[watch->data++] = roce_psn_of(packet);
		if (watch->mark)
			packet->flags |= PACKET_CE;
		return !lost;
	}
	watch->nacks += packet->kind == PACKET_ACK && packet->flags & ROCE_NACK;
	watch->acks += packet->kind == PACKET_ACK && !(packet->flags & ROCE_NACK);
	watch->cnps += packet->kind == PACKET_CONTROL;
	lost = watch->lose && watch->lose(watch, packet, watch->acks);
	return !lost;
}

/* A flow of `size` bytes from h0 to h1 that starts at 0, under these parameters of RoCE. */
static void build(struct run *run, struct watch *watch, unsigned size, const char *transport,
		  const char *roce)
{
	run_build(run,
		  "{ 'name': 't', " NETWORK "'roce': { %s },"
		  " 'flows': [ { 'size': '%uB', 'pairs': [[0, 1]], 'transport': '%s' } ] }",
		  0.0, roce, size, transport);
	tap_in(&watch->tap, run, "roce", watch_pass, watch);
}

static double fct_ns(const struct run *run)
{
	size_t count;
	const struct flow_class *classes = flows_classes(run->s->flows, &count);

	for (size_t c = 0; c < count; c++)
		if (classes[c].finished)
			return classes[c].fct[0] * 1e9;
	return 0;
}

/* A lone flow: the packets back to back. Goodput 1024/1106 of the line. */
Test(roce, alone)
{
	static const char *const transports[] = { "dcqcn", "roce_swift", "roce" };

	for (int i = 0; i < 3; i++) {
		struct watch watch = { .lose = NULL };
		struct run run;

		build(&run, &watch, 10000000, transports[i], "");
		run_to(&run, END_ALL_DONE);
		/* 9766 packets, the last of 640 bytes */
		cr_expect_float_eq(fct_ns(&run), 2500 + 2 * 89.76 + 9764 * 88.48 + 57.76, 1e-3);
		cr_expect_eq(watch.data, 9766);
		cr_expect_eq(watch.nacks, 0);
		run_free(&run);
	}
}

/* --- go-back-N --- */

static bool lose_third(const struct watch *watch, const struct packet *packet, size_t nth)
{
	(void)watch;
	return packet->kind == PACKET_DATA && nth == 2;
}

/* Of 6 packets the third is lost: the next one, at 1500 + 89.76 + 4 x 88.48 + 1000 = 2944.96 ns, is
 * out of order; the NACK is there 2513.44 ns later, and the third to the sixth come again. */
static void lose_one(const char *roce, uint32_t first)
{
	static const uint32_t expected[] = { 0, 1, 2, 3, 4, 5, 2, 3, 4, 5 };
	struct watch watch = { .lose = lose_third };
	const struct transport_stats *stats;
	struct run run;

	build(&run, &watch, 6 * 1024, "roce", roce);
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(watch.data, 10);
	for (size_t i = 0; i < 10; i++)
		cr_expect_eq(watch.psns[i], (first + expected[i]) & ROCE_PSN_MASK);
	cr_expect_float_eq(fct_ns(&run),
			   2 * 89.76 + 2 * 88.48 + 88.48 + 2500 + 2513.44 + 5 * 88.48 + 2500, 1e-3);
	stats = roce_stats(run.s->roce, 0);
	cr_expect_eq(stats->retransmissions, 4);
	cr_expect_eq(run.s->roce->conns[0]->rx.discarded, 3);
	cr_expect_eq(stats->recoveries, 1);
	cr_expect_eq(stats->timeouts, 0);
	cr_expect_eq(watch.nacks, 1);
	run_free(&run);
}

Test(roce, one_loss)
{
	lose_one("", 0);
	lose_one("'ack_every': 4", 0);
}

/* The same where the numbers wrap, before, at and behind the lost packet. */
Test(roce, psn_wraps)
{
	lose_one("'first_psn': 16777215", 16777215);
	lose_one("'first_psn': 16777214", 16777214);
	lose_one("'first_psn': 16777212", 16777212);
}

static bool lose_last(const struct watch *watch, const struct packet *packet, size_t nth)
{
	(void)watch;
	return packet->kind == PACKET_DATA && nth == 1;
}

/* The last packet is lost, which no other can tell: 1 ms after the ACK of the first it comes again.
 */
Test(roce, timeout)
{
	struct watch watch = { .lose = lose_last };
	struct run run;

	build(&run, &watch, 2048, "roce", "'rto': '1ms'");
	run_to(&run, END_ALL_DONE);
	cr_expect_float_eq(fct_ns(&run), 2 * 89.76 + 2500 + 13.44 + 2500 + 1e6 + 2 * 88.48 + 2500,
			   1e-3);
	cr_expect_eq(roce_stats(run.s->roce, 0)->timeouts, 1);
	cr_expect_eq(watch.nacks, 0);
	run_free(&run);
}

static bool lose_last_three_times(const struct watch *watch, const struct packet *packet,
				  size_t nth)
{
	(void)watch;
	return packet->kind == PACKET_DATA && nth >= 1 && nth <= 3;
}

/* Each timeout in a row doubles the next: of the verbs' examples, 4.096 us times 2^14, it is 7 of
 * them after three; twice as long at most with "backoff" 1, and always the same with 0. */
static void back_off(const char *roce, double timeouts)
{
	struct watch watch = { .lose = lose_last_three_times };
	struct run run;

	build(&run, &watch, 2048, "roce", roce);
	run_to(&run, END_ALL_DONE);
	cr_expect_float_eq(fct_ns(&run) / (timeouts * 4096 * 16384), 1, 1e-3);
	cr_expect_eq(roce_stats(run.s->roce, 0)->timeouts, 3);
	run_free(&run);
}

Test(roce, backoff)
{
	back_off("", 1 + 2 + 4);
	back_off("'backoff': 1", 1 + 2 + 2);
	back_off("'backoff': 0", 3);
}

static bool lose_acks(const struct watch *watch, const struct packet *packet, size_t nth)
{
	(void)nth;
	return packet->kind == PACKET_ACK && watch->acks <= 3;
}

/* All ACKs are lost: 1 ms after it was sent the oldest packet that asked for one comes again with
 * those behind it. They are discarded, and the first is acknowledged at once, with all that had
 * come.
 */
Test(roce, lost_acks)
{
	struct watch watch = { .lose = lose_acks };
	const struct transport_stats *stats;
	struct run run;

	run_build(&run,
		  "{ 'name': 't', " NETWORK "'stop': { 'when': 'time', 'after': '3ms' },"
		  " 'roce': { 'rto': '1ms' }, 'flows': [ { 'size': '3kB', 'pairs': [[0, 1]], "
		  "'transport': 'roce' } ] }",
		  0.0);
	tap_in(&watch.tap, &run, "roce", watch_pass, &watch);
	run_to(&run, END_TIME);
	stats = roce_stats(run.s->roce, 0);
	cr_expect_eq(stats->timeouts, 1);
	cr_expect_eq(stats->retransmissions, 3);
	cr_expect_eq(run.s->roce->conns[0]->rx.discarded, 3);
	cr_expect_eq(watch.acks, 3 + 3);
	cr_expect_eq(roce_open_count(run.s->roce), 0, "its sender knows that all has come");
	run_free(&run);
}

static bool lose_again(const struct watch *watch, const struct packet *packet, size_t nth)
{
	size_t copies = 0;

	(void)nth;
	if (packet->kind != PACKET_DATA || roce_psn_of(packet) != 2)
		return false;
	for (size_t i = 0; i < watch->data; i++)
		copies += watch->psns[i] == 2;
	return copies < 2;
}

/* What was asked for is lost again: one NACK for the gap; a repetition after `nack_again`, when a
 * packet comes that late, else the timer. */
Test(roce, loss_of_the_repetition)
{
	struct watch watch = { .lose = lose_again };
	struct run run;

	build(&run, &watch, 6 * 1024, "roce", "");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(roce_stats(run.s->roce, 0)->timeouts, 1);
	cr_expect_eq(watch.nacks, 1);
	run_free(&run);
	watch = (struct watch){ .lose = lose_again };
	build(&run, &watch, 100 * 1024, "roce", "'nack_again': '3us'");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(roce_stats(run.s->roce, 0)->timeouts, 0);
	cr_expect_geq(watch.nacks, 2);
	run_free(&run);
}

/* A receiver must not ask again while what it asked for waits in full queues: 500 us, or longer
 * where queues are longer, and no longer than the sender's timer. The buffer is 800 us of a port.
 */
Test(roce, nack_again_of_the_network)
{
	static const struct {
		const char *topology, *roce;
		double us;
	} cases[] = {
		{ "'kind': 'star', 'hosts': 2, 'switch': { 'pause': false }", "", 800 + 9 },
		{ "'kind': 'star', 'hosts': 2, 'switch': { 'pause': false, 'buffer': '10kB' }", "",
		  500 },
		{ "'kind': 'fat-tree', 'k': 4, 'switch': { 'pause': false }", "", 5 * 800 + 25 },
		{ "'kind': 'fat-tree', 'k': 4, 'switch': { 'pause': false }", "'rto': '1ms'",
		  1000 },
		{ "'kind': 'fat-tree', 'k': 4, 'switch': { 'pause': false }", "'nack_again': '2us'",
		  2 },
		{ "'kind': 'fat-tree', 'k': 4, 'switch': { 'pause': false }", "'nack_again': '0s'",
		  0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { %s }, 'roce': { %s }, 'flows': [ { 'size':"
			  " '1MB', 'pairs': [[0, 1]], 'transport': 'roce' } ] }",
			  cases[i].topology, cases[i].roce);
		cr_expect_float_eq((double)run.s->roce->nack_again / 1e6, cases[i].us, 5, "%zu: %g",
				   i, (double)run.s->roce->nack_again / 1e6);
		run_free(&run);
	}
}

/* --- selective repeat --- */

#define SELECTIVE "'recovery': 'selective'"

/* Of 6 packets the third is lost: it comes again alone, when the NACK of the fourth is there. The
 * NACKs of those behind it ask for nothing. The same where the numbers wrap, and where few packets
 * ask for an ACK. */
static void lose_one_selective(const char *roce, uint32_t first)
{
	static const uint32_t expected[] = { 0, 1, 2, 3, 4, 5, 2 };
	struct watch watch = { .lose = lose_third };
	const struct transport_stats *stats;
	struct run run;

	build(&run, &watch, 6 * 1024, "roce", roce);
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(watch.data, 7);
	for (size_t i = 0; i < 7; i++)
		cr_expect_eq(watch.psns[i], (first + expected[i]) & ROCE_PSN_MASK);
	cr_expect_float_eq(fct_ns(&run),
			   2 * 89.76 + 2 * 88.48 + 88.48 + 2500 + 2513.44 + 2 * 88.48 + 2500, 1e-3);
	stats = roce_stats(run.s->roce, 0);
	cr_expect_eq(stats->retransmissions, 1);
	cr_expect_eq(stats->recoveries, 1);
	cr_expect_eq(stats->timeouts, 0);
	cr_expect_eq(run.s->roce->conns[0]->rx.discarded, 0);
	cr_expect_eq(watch.nacks, 3);
	run_free(&run);
}

Test(roce, selective_one_loss)
{
	lose_one_selective(SELECTIVE, 0);
	lose_one_selective(SELECTIVE ", 'ack_every': 4", 0);
	lose_one_selective(SELECTIVE ", 'first_psn': 16777215", 16777215);
	lose_one_selective(SELECTIVE ", 'first_psn': 16777213", 16777213);
}

/* In flight is at most a bandwidth-delay product, 5.19 us of the link, and a packet, 65.9 kB, which
 * is enough for its rate: a lone flow takes as long as without a cap. */
Test(roce, selective_alone)
{
	struct watch watch = { .lose = NULL };
	struct run run;

	build(&run, &watch, 10000000, "roce", SELECTIVE);
	cr_expect_eq(run.s->roce->window / 1024, 64);
	run_to(&run, END_ALL_DONE);
	cr_expect_float_eq(fct_ns(&run), 2500 + 2 * 89.76 + 9764 * 88.48 + 57.76, 1e-3);
	cr_expect_eq(watch.data, 9766);
	run_free(&run);
}

/* Each packet of 40 is lost in turn, once or twice. Once, it comes again alone, unless it is the
 * last: that needs the timer, as does a copy that is lost. */
static size_t lost_number, lost_times;

static bool lose_number(const struct watch *watch, const struct packet *packet, size_t nth)
{
	size_t copies = 0;

	(void)nth;
	if (packet->kind != PACKET_DATA || roce_psn_of(packet) != lost_number)
		return false;
	for (size_t i = 0; i < watch->data; i++)
		copies += watch->psns[i] == lost_number;
	return copies < lost_times;
}

Test(roce, selective_each_lost)
{
	for (lost_times = 1; lost_times <= 2; lost_times++)
		for (lost_number = 0; lost_number < 40; lost_number++) {
			struct watch watch = { .lose = lose_number };
			const struct transport_stats *stats;
			bool timer = lost_times == 2 || lost_number == 39;
			struct run run;

			build(&run, &watch, 40 * 1024, "roce",
			      SELECTIVE ", 'rto': '1ms', 'rto_low': '100us'");
			run_to(&run, END_ALL_DONE);
			stats = roce_stats(run.s->roce, 0);
			cr_expect_eq(stats->timeouts, lost_number == 39 ? lost_times : timer);
			if (!timer)
				cr_expect_eq(stats->retransmissions, 1);
			if (lost_number == 39) /* few are in flight: the short timer, doubled */
				cr_expect_lt(fct_ns(&run),
					     100e3 + 200e3 * (timer && lost_times == 2) + 20e3);
			run_free(&run);
		}
}

/* Losses at random on all links, ACKs included, with and without spraying, and queues that drop:
 * every flow ends, and all bytes come in order and once. */
Test(roce, selective_random_losses)
{
	static const char *const options[] = {
		"",
		", 'ack_every': 16",
		", 'spray': 'random'",
		", 'spray': 'reps', 'reorder': '0s'",
		", 'spray': 'oblivious', 'window': '400kB'",
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		for (int control = 0; control < 3; control++) {
			static const char *const controls[] = { "roce", "dcqcn", "roce_swift" };
			struct run run;

			run_build(
				&run,
				"{ 'name': 't', 'topology': { 'kind': 'fat-tree', 'k': 4, 'link': {"
				" 'rate': '100Gbps', 'delay': '1us', 'loss': 0.005 },"
				" 'switch': { 'pause': false, 'buffer': '100kB', 'ecn': {"
				" 'threshold': '50kB' } } }, 'roce': { " SELECTIVE
				", 'rto': '300us' %s }, 'flows': [ { 'size': '300kB', 'count': 40,"
				" 'transport': '%s' } ] }",
				options[i], controls[control]);
			run_to(&run, END_ALL_DONE);
			for (size_t c = 0; c < run.s->roce->count; c++) {
				const struct roce_conn *conn = run.s->roce->conns[c];

				cr_expect_eq(conn->rx.bytes, 300000);
				cr_expect_eq(conn->rx.early_count, 0);
			}
			run_free(&run);
		}
}

/* --- ACKs and windows --- */

/* An ACK for 8 packets, and for the end: 100 packets take 13. A window smaller than that is not
 * waited for: its last packet asks for an ACK. */
Test(roce, coalesced_acks)
{
	struct watch watch = { .lose = NULL };
	struct run run;

	build(&run, &watch, 100 * 1024, "roce", "'ack_every': 8");
	run_to(&run, END_ALL_DONE);
	cr_expect_float_eq(fct_ns(&run), 2500 + 2 * 89.76 + 99 * 88.48, 1e-3);
	/* those of packets 7, 15 .. 63: later ones are under way when the last packet comes */
	cr_expect_eq(watch.acks, 8);
	run_free(&run);
	watch = (struct watch){ .lose = NULL };
	build(&run, &watch, 100 * 1024, "roce", "'ack_every': 64, 'window': '5KB'");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(roce_stats(run.s->roce, 0)->timeouts, 0);
	cr_expect_lt(fct_ns(&run), 25 * 5600.0, "25 round trips");
	run_free(&run);
}

static struct run *shrunk;

/* As Swift's window does when an ACK tells of a queue. */
static bool shrink_window(const struct watch *watch, const struct packet *packet, size_t nth)
{
	(void)watch;
	if (packet->kind == PACKET_DATA && nth == 3)
		shrunk->s->roce->conns[0]->tx.cc.cwnd = 1024;
	return false;
}

/* What is under way then has not asked for an ACK: the next packet goes and asks. */
Test(roce, a_window_that_shrinks_waits_for_no_ack_that_nobody_sends)
{
	struct watch watch = { .lose = shrink_window };
	struct run run;

	build(&run, &watch, 100 * 1024, "roce", "'ack_every': 64");
	shrunk = &run;
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(roce_stats(run.s->roce, 0)->timeouts, 0);
	cr_expect_eq(watch.data, 100);
	run_free(&run);
}

/* Packets in flight without a "window": one less than half of all PSNs, so that none is taken for
 * one of the round before. A window is whole packets. */
Test(roce, window_in_packets)
{
	static const struct {
		const char *roce;
		uint64_t packets;
	} cases[] = {
		{ "", (1 << 23) - 1 },
		{ "'window': '5KB'", 4 },
		{ "'window': '1024B'", 1 },
		{ "'window': '1TB'", (1 << 23) - 1 },
	};

	for (size_t i = 0; i < 4; i++) {
		struct watch watch = { .lose = NULL };
		struct run run;

		build(&run, &watch, 100 * 1024, "roce", cases[i].roce);
		run_until(&run, 1);
		cr_expect_eq(run.s->roce->conns[0]->tx.window, cases[i].packets, "%s",
			     cases[i].roce);
		run_free(&run);
	}
}

/* --- CNPs --- */

/* An interval of ten packets is over when the tenth comes: a CNP for every ten of 1954, the first
 * included, of which three are under way when the flow is done. */
Test(roce, cnp_interval_is_over)
{
	struct watch watch = { .mark = true };
	struct run run;

	build(&run, &watch, 2000000, "dcqcn",
	      "'control': { 'dcqcn': { 'set': 'sigcomm15', 'min_rate': '100Gbps', 'cnp_interval': "
	      "'884800ps' } }");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(watch.cnps, 196 - 3, "%zu", watch.cnps);
	run_free(&run);
}

/* All packets of 1 ms are marked: a CNP every 50 us at most. The flag in ACKs of the other sets is
 * none. */
Test(roce, cnp_interval)
{
	struct watch watch = { .mark = true };
	struct run run;

	build(&run, &watch, 2000000, "dcqcn",
	      "'control': { 'dcqcn': { 'set': 'sigcomm15', 'min_rate': '10Gbps' } }");
	run_until(&run, PS_PER_MS);
	cr_expect(watch.cnps >= 19 && watch.cnps <= 20, "%zu", watch.cnps);
	cr_expect_eq(roce_stats(run.s->roce, 0)->marks, watch.cnps);
	cr_expect_lt(run.s->roce->conns[0]->tx.cc.rate, UINT64_C(11000000000));
	run_free(&run);
	watch = (struct watch){ .mark = true };
	build(&run, &watch, 2000000, "dcqcn", "");
	run_until(&run, PS_PER_MS);
	cr_expect_eq(watch.cnps, 0);
	cr_expect_eq(roce_stats(run.s->roce, 0)->marks, watch.acks);
	cr_expect_lt(run.s->roce->conns[0]->tx.cc.rate, UINT64_C(2000000000));
	run_free(&run);
}

/* Near 10 Mbps there is a packet every 0.9 ms and an ACK for 16, longer than the timeout of 1 ms:
 * it runs only while an ACK is due. */
Test(roce, slow_sender_and_coalesced_acks)
{
	struct watch watch = { .mark = true };
	struct run run;

	build(&run, &watch, 2000000, "dcqcn",
	      "'ack_every': 16, 'control': { 'dcqcn': { 'set': 'sigcomm15', 'min_rate': '10Mbps' } "
	      "}");
	run_until(&run, 100 * PS_PER_MS);
	cr_expect_lt(watch.data, 10000);
	cr_expect_gt(watch.acks, 10);
	cr_expect_eq(roce_stats(run.s->roce, 0)->timeouts, 0);
	run_free(&run);
}

/* A sender whose rate is cut to 80 Gbps and stays there sends at 80 Gbps (less headers), even if
 * its NIC, idle before each packet, then waits for longer than the gap of 109 ns. */
Test(roce, a_wait_of_the_nic_lowers_no_rate)
{
	static const char *const waits[] = { "0s", "100ns", "1us" };

	for (size_t i = 0; i < 3; i++) {
		struct watch watch = { .mark = true };
		struct run run;
		uint64_t before;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2,"
			  " 'host': { 'nic_jitter': '%s' }, 'link': { 'rate': '100Gbps' } },"
			  " 'roce': { 'control': { 'dcqcn': { 'set': 'sigcomm15',"
			  "  'min_rate': '80Gbps', 'cnp_interval': '1us' } } },"
			  " 'flows': [ { 'size': '1GB', 'pairs': [[0, 1]], 'transport': 'dcqcn' } "
			  "] }",
			  waits[i]);
		tap_in(&watch.tap, &run, "roce", watch_pass, &watch);
		run_until(&run, PS_PER_MS);
		before = roce_delivered(run.s->roce, 0);
		run_until(&run, 2 * PS_PER_MS);
		cr_expect_float_eq((double)(roce_delivered(run.s->roce, 0) - before),
				   80e9 / 8 * 1e-3 * 1024 / 1086, 1e5, "%s: %lu", waits[i],
				   roce_delivered(run.s->roce, 0) - before);
		run_free(&run);
	}
}

/* --- packets of an owner --- */

struct owner {
	struct run run;
	uint32_t conn;
	uint64_t first, next, last; /* numbers */
	uint64_t filled, switched;
	bool aggregation; /* its packets are of a protocol of its own, at which the switch looks */
	uint8_t protocol;
};

static uint64_t value_of(uint64_t number)
{
	return hash_mix(number);
}

static void owner_fill(void *self, uint64_t number, struct packet *packet)
{
	struct owner *owner = self;

	cr_assert_eq(roce_psn(number), roce_psn_of(packet));
	packet->seq |= number / 10 << ROCE_PSN_BITS; /* its message */
	packet->value = value_of(number);
	packet->slot = (uint16_t)(number % 10);
	owner->filled++;
	if (!owner->aggregation)
		return;
	packet->kind = PACKET_AGGREGATION;
	packet->protocol = owner->protocol;
	packet->size += 16; /* a header of its own */
	packet->value--;
}

static void owner_delivered(void *self, uint64_t number, const struct packet *packet)
{
	struct owner *owner = self;

	cr_assert_eq(number, owner->next++, "in order, once");
	cr_assert_eq(packet->value, value_of(number));
	cr_assert_eq(packet->slot, number % 10);
	cr_assert_eq(packet->seq >> ROCE_PSN_BITS, number / 10);
	/* a message for each that is complete: three are posted all the time */
	if ((number + 1 - owner->first) % 10 == 0 && owner->last < owner->first + 5000) {
		roce_post(owner->run.s->roce, owner->conn, 10 * 1024);
		owner->last += 10;
	}
}

static void owner_deliver(void *self, uint32_t host, const struct packet *packet)
{
	struct owner *owner = self;

	cr_assert_eq(packet->kind, PACKET_AGGREGATION);
	roce_receive(owner->run.s->roce, host, packet);
}

static void owner_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			    struct switch_actions *actions)
{
	struct owner *owner = self;

	(void)sw, (void)back;
	owner->switched++;
	packet->value++;
	actions->forward = true;
}

static const struct protocol_ops owner_protocol = { .name = "owner",
						    .deliver = owner_deliver,
						    .at_switch = owner_at_switch };

static const struct roce_packets owner_packets = { owner_fill, owner_delivered };

/* 500 messages of 10 packets, which a switch changes (`aggregation`) or not, over links that lose
 * up to a tenth, ACKs and NACKs included; the numbers wrap on the way. */
static void owner_run(double loss, unsigned seed, bool aggregation, const char *roce)
{
	struct owner owner = { .aggregation = aggregation };
	struct roce *of;

	run_build(&owner.run,
		  "{ 'name': 't', 'seed': %u, " NETWORK
		  "'roce': { 'first_psn': 16775000, 'rto': '1ms', 'backoff': 0, %s },"
		  " 'stop': { 'when': 'time', 'after': '20s' },"
		  " 'flows': [ { 'size': '1B', 'pairs': [[2, 3]], 'transport': 'roce' } ] }",
		  seed, loss, roce);
	of = owner.run.s->roce;
	owner.protocol = network_register(&owner.run.s->topo.net, &owner_protocol, &owner);
	owner.conn = roce_open(of, 0, 1, &dcqcn_cc, 0, 77, NULL, &owner);
	roce_set_packets(of, owner.conn, &owner_packets, 0);
	owner.first = owner.next = owner.last = roce_next_number(of, owner.conn);
	for (int i = 0; i < 3; i++)
		roce_post(of, owner.conn, 10 * 1024);
	owner.last += 30;
	run_to(&owner.run, END_TIME);
	cr_expect_eq(owner.next, owner.first + 5000);
	cr_expect_eq(of->conns[owner.conn]->tx.una, owner.first + 5000);
	cr_expect_eq(of->conns[owner.conn]->rx.next, owner.first + 5000);
	cr_expect_eq(owner.filled, 5000 + roce_stats(of, owner.conn)->retransmissions);
	if (loss <= 0)
		cr_expect_eq(owner.filled, 5000);
	if (aggregation)
		cr_expect(owner.switched >= 5000 && owner.switched <= owner.filled);
	run_free(&owner.run);
}

Test(roce, packets_of_an_owner)
{
	static const double losses[] = { 0, 1e-4, 1e-3, 1e-2, 0.1 };

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		for (unsigned seed = 1; seed <= 6; seed++)
			owner_run(losses[i], seed, seed % 2,
				  seed % 3 == 0   ? "'ack_every': 1"
				  : seed % 3 == 1 ? "'ack_every': 16"
						  : "'ack_every': 7, 'nack_again': '0s'");
}

/* --- incast and teardown --- */

/* 32 hosts at once, 1 MB each: with PAUSE nothing is lost, so nothing comes again, and the port is
 * never idle before the last byte with no control at all: all bytes of 32 x 977 packets. */
Test(roce, incast_without_a_drop)
{
	static const char *const transports[] = { "roce", "dcqcn", "roce_swift" };

	for (int i = 0; i < 3; i++) {
		struct run run;
		double min = 32 * (976 * 88.48 + 89.76);

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 33,"
			  " 'link': { 'rate': '100Gbps', 'delay': '1us' },"
			  " 'switch': { 'pause': true, 'ecn': { 'kmin': '400KB', 'kmax': '1600KB',"
			  " 'pmax': 0.2 } } }, 'flows': [ { 'size': '1MB', 'pairs': 'incast',"
			  " 'fan_in': 32, 'transport': '%s' } ] }",
			  transports[i]);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(run.s->topo.net.dropped, 0);
		for (uint32_t c = 0; c < 32; c++)
			cr_expect_eq(roce_stats(run.s->roce, c)->retransmissions, 0);
		if (i == 0)
			cr_expect(seconds_of(run.s->sim.now) * 1e9 < min + 5000);
		run_free(&run);
	}
}

/* A ring and parameter servers over lossy links: every sum is checked at every worker. */
Test(roce, collectives)
{
	static const char *const transports[] = { "dcqcn", "roce", "roce_swift" };
	static const char *const schemes[] = { "ring", "ps" };

	for (int i = 0; i < 6; i++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8, 'link': {"
			  " 'rate': '100Gbps', 'delay': '1us', 'loss': %g },"
			  " 'switch': { 'pause': true } }, 'roce': { 'first_psn': 16777000 },"
			  " 'schemes': { '%s': { 'transport': '%s' } },"
			  " 'jobs': [ { 'workers': 4, 'all_reduce': '%s', 'iterations': 3,"
			  " 'model': { 'layers': [ { 'gradient': '1MB' }, { 'gradient': '3kB' } ] }"
			  " } ] }",
			  i < 3 ? 0.002 : 0.0, schemes[i % 2], transports[i % 3], schemes[i % 2]);
		run_to(&run, END_ALL_DONE);
		cr_expect_gt(run.s->checks.exact_checked, 0);
		run_free(&run);
	}
}

/* Connections end and begin in the middle of everything; late packets touch nobody. */
Test(roce, teardown)
{
	struct run run;
	struct roce *roce;

	run_build(&run,
		  "{ 'name': 't', " NETWORK "'stop': { 'when': 'time', 'after': '10ms' },"
		  " 'roce': { 'rto': '1ms' }, 'flows': [ { 'size': '1MB', 'pairs': [[0, 1]],"
		  " 'transport': 'dcqcn' } ] }",
		  0.01);
	roce = run.s->roce;
	for (int i = 0; i < 50; i++) {
		uint32_t conn = roce_open(roce, 0, 1, &dcqcn_cc, 0, 100 + (uint64_t)i, NULL, NULL);

		roce_post(roce, conn, 1000000);
		run_until(&run, run.s->sim.now + (sim_time)(i + 1) * PS_PER_US);
		roce_close(roce, conn);
	}
	run_to(&run, END_TIME);
	cr_expect_eq(flows_finished(run.s->flows), 1);
	cr_expect_eq(roce_open_count(roce), 0);
	run_free(&run);
}

/* --- runs that repeat themselves --- */

static bool is_left(const struct repeat *reader, uint64_t packets)
{
	for (size_t i = 0; i < reader->left_count; i++)
		if (reader->counts.of[reader->left[i].index] == packets)
			return true;
	return false;
}

/* What is skipped ends before the end of each message, until which a sender has so many packets to
 * send and so many to see acknowledged: here of 9,766, of 10 and of 20 packets. */
Test(roce, skips_end_before_messages)
{
	static const uint64_t packets[] = { 9766, 9766 + 10, 9766 + 10 + 20 };
	struct watch watch = { .lose = NULL };
	struct repeat reader = { 0 };
	const struct roce_tx *tx;
	uint64_t first;
	struct run run;

	build(&run, &watch, 10000000, "roce", "");
	run_until(&run, 100 * PS_PER_US);
	tx = &run.s->roce->conns[0]->tx;
	first = tx->messages[tx->oldest & tx->mask].first;
	roce_post(run.s->roce, 0, 10 * 1024);
	roce_post(run.s->roce, 0, 20 * 1024);
	reader.sim = &run.s->sim;
	roce_repeat(run.s->roce, &reader);
	cr_assert_gt(tx->una, first);
	for (unsigned i = 0; i < 3; i++) {
		cr_expect(is_left(&reader, first + packets[i] - tx->nxt), "message %u: to be sent",
			  i);
		cr_expect(is_left(&reader, first + packets[i] - tx->una), "message %u: in flight",
			  i);
	}
	free(reader.same.of);
	free(reader.counts.of);
	free(reader.left);
	run_free(&run);
}
