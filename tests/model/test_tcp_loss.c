/* TCP under random loss, and the receiver's acknowledgements: everything arrives,
 * in order, exactly once, and marks are echoed byte for byte. */
#include "model_run.h"

#include <math.h>
#include <stdlib.h>

#define FLOWS_MAX  64
#define FLOW_BYTES 200000
#define FIRST_SENT 5480 /* segments: 40 flows of 137 */

/* Independent of the receiver: which bytes of a flow have come at least once. */
struct oracle {
	struct run run;
	struct tap tap;
	unsigned char *here[FLOWS_MAX];
	uint64_t next[FLOWS_MAX]; /* first byte that has not come */
	uint64_t packets;
};

static bool oracle_pass(struct tap *tap, uint32_t host, struct packet *packet)
{
	struct oracle *o = tap->owner;
	uint32_t c = packet->flow;

	(void)host;
	if (packet->kind != PACKET_DATA)
		return true;
	cr_assert_lt(c, FLOWS_MAX);
	cr_assert_leq(packet->seq + packet->payload, FLOW_BYTES);
	if (!o->here[c])
		o->here[c] = calloc(1, FLOW_BYTES + 1);
	memset(o->here[c] + packet->seq, 1, packet->payload);
	while (o->here[c][o->next[c]])
		o->next[c]++;
	o->packets++;
	return true;
}

/* After each packet the receiver holds in order exactly what has come in order. */
static void oracle_after(struct tap *tap, uint32_t host, const struct packet *packet)
{
	struct oracle *o = tap->owner;

	(void)host;
	if (packet->kind == PACKET_DATA)
		cr_assert_eq(run_conn(&o->run, packet->flow)->rx.next, o->next[packet->flow]);
}

static void under_loss(const char *loss, const char *transport, int ack_every, double *again)
{
	struct oracle o = { .packets = 0 };
	uint64_t retransmissions = 0;

	run_build(&o.run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8,"
		  "  'link': { 'rate': '10Gbps', 'delay': '1us', 'loss': %s } },"
		  " 'tcp': { 'min_rto': '1ms', 'initial_rto': '1ms', 'ack_every': %d },"
		  " 'flows': [ { 'size': '%dB', 'pairs': 'permutation', 'count': 40,"
		  "   'transport': '%s' } ] }",
		  loss, ack_every, FLOW_BYTES, transport);
	tap_in(&o.tap, &o.run, "tcp", oracle_pass, &o);
	o.tap.after = oracle_after;
	run_to(&o.run, END_ALL_DONE);
	cr_assert_eq(flows_finished(o.run.s->flows), 40);
	for (uint32_t c = 0; c < 40; c++) {
		const struct tcp_conn *conn = run_conn(&o.run, c);

		cr_assert_eq(conn->rx.next, FLOW_BYTES);
		retransmissions += conn->stats.retransmissions;
		free(o.here[c]);
	}
	*again = (double)retransmissions / FIRST_SENT;
	printf("loss %s, %s, ack every %d: %.5f sent again\n", loss, transport, ack_every, *again);
	run_free(&o.run);
}

/* Loss on every link and direction from 1e-6 to 1e-1: every flow completes. What is
 * sent again is at least the loss of the two links on the way, less 4 sigma
 * (5,480 segments), and at 1e-3 not more than ten times that (no SACK, go-back-N). */
Test(tcp_loss, all_flows_complete)
{
	static const char *const losses[] = { "0", "0.000001", "0.0001", "0.001", "0.01", "0.1" };
	double again;

	for (int i = 0; i < 6; i++) {
		double p = atof(losses[i]), both = 1 - (1 - p) * (1 - p);

		for (int k = 0; k < 4; k++) {
			under_loss(losses[i], k % 2 ? "dctcp" : "reno", k < 2 ? 1 : 2, &again);
			cr_expect_geq(again, both - 4 * sqrt(both / FIRST_SENT));
			if (i <= 3)
				cr_expect_leq(again, 10 * both + 0.002);
		}
	}
}

/* --- RFC 8257, section 3.2 --- */

#define SEGMENTS 3000

struct ack {
	uint64_t seq;
	bool ece;
};

struct echo {
	struct run run;
	struct tap tap;
	struct rng rng;
	double change;   /* probability that the mark changes from packet to packet */
	bool ce;         /* mark of the last packet */
	uint64_t marked; /* bytes that came with a mark */
	struct ack want[2 * SEGMENTS], got[2 * SEGMENTS];
	size_t want_count, got_count;
	uint64_t echoed, last; /* bytes acknowledged with ECE; last ACK */
	unsigned every;
	/* the state machine of the RFC's figure 1 */
	bool state;
	unsigned pending;
};

static void want_ack(struct echo *e, uint64_t seq, bool ece)
{
	e->want[e->want_count++] = (struct ack){ seq, ece };
	e->pending = 0;
}

/* Marks by chance, and works out what the receiver has to answer. */
static void mark(struct echo *e, struct packet *packet)
{
	bool changed;

	if (rng_unit(&e->rng) < e->change)
		e->ce = !e->ce;
	packet->flags = (uint8_t)(e->ce ? packet->flags | PACKET_CE : packet->flags & ~PACKET_CE);
	if (e->ce)
		e->marked += packet->payload;
	changed = e->ce != e->state;
	if (changed && e->pending)
		want_ack(e, packet->seq, e->state);
	e->state = e->ce;
	if (changed || ++e->pending >= e->every || packet->flags & TCP_PUSH)
		want_ack(e, packet->seq + packet->payload, e->state);
}

static bool echo_pass(struct tap *tap, uint32_t host, struct packet *packet)
{
	struct echo *e = tap->owner;
	bool ece = packet->flags & PACKET_ECE;

	(void)host;
	if (packet->kind == PACKET_DATA) {
		mark(e, packet);
		return true;
	}
	e->got[e->got_count++] = (struct ack){ packet->seq, ece };
	if (ece)
		e->echoed += packet->seq - e->last;
	e->last = packet->seq;
	return true;
}

/* Every ACK (number and ECE) is as the state machine says, with an ACK for 1, 2 and
 * 4 packets, marks in long runs and at random; so the bytes that the sender counts
 * as marked are exactly those that were. */
Test(tcp_loss, echo_of_marks)
{
	static const double changes[] = { 0, 0.02, 0.5, 1 };

	for (unsigned every = 1; every <= 4; every *= 2) {
		for (int i = 0; i < 4; i++) {
			struct echo *e = calloc(1, sizeof(*e));

			e->every = every;
			e->change = changes[i];
			rng_init(&e->rng, 1, "marks", every);
			run_build(&e->run,
				  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2 },"
				  " 'tcp': { 'ack_every': %u, 'ack_delay': '1s', 'min_rto': '100s',"
				  "   'initial_rto': '100s', 'initial_window': 3000 },"
				  " 'stop': { 'when': 'time', 'after': '50ms' },"
				  " 'flows': [ { 'size': '%dB', 'pairs': [[0, 1]],"
				  "   'transport': 'reno' } ] }", /* does not mind the marks */
				  every, SEGMENTS * 1460);
			tap_in(&e->tap, &e->run, "tcp", echo_pass, e);
			run_to(&e->run, END_TIME);
			cr_assert_not(run_conn(&e->run, 0)->open);
			cr_assert_eq(e->got_count, e->want_count);
			cr_assert_geq(e->got_count, SEGMENTS / every);
			for (size_t a = 0; a < e->got_count; a++) {
				cr_assert_eq(e->got[a].seq, e->want[a].seq, "ACK %zu", a);
				cr_assert_eq(e->got[a].ece, e->want[a].ece, "ACK %zu", a);
			}
			cr_expect_eq(e->echoed, e->marked);
			run_free(&e->run);
			free(e);
		}
	}
}

/* A window of one segment and an ACK for two: the receiver waits ack_delay with the
 * first (RFC 5681, 4.2), and the round-trip time contains the wait, because the echo
 * is of the earliest segment (RFC 7323, 4.3). One way: 2 x 1230.4 + 2500 ns; back,
 * 2 x 67.2 + 2500 ns. */
Test(tcp_loss, delayed_ack_timer)
{
	struct run run;
	const struct tcp_conn *conn;
	sim_time there = 2 * 1230400 + 2500000, back = 2 * 67200 + 2500000;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2 },"
			" 'tcp': { 'ack_every': 2, 'ack_delay': '300us', 'initial_window': 1 },"
			" 'flows': [ { 'size': '2920B', 'pairs': [[0, 1]] } ] }");
	run_to(&run, END_ALL_DONE);
	conn = run_conn(&run, 0);
	cr_expect_eq(run.s->sim.now, 2 * there + back + 300 * PS_PER_US);
	cr_expect_eq(conn->tx.srtt, there + back + 300 * PS_PER_US);
	run_free(&run);
	/* two at once, one ACK: its echo is of the first, which was sent 1230.4 ns earlier */
	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2 },"
			" 'tcp': { 'ack_every': 2, 'initial_window': 2 },"
			" 'flows': [ { 'size': '4380B', 'pairs': [[0, 1]] } ] }");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run_conn(&run, 0)->tx.srtt, there + back + 1230400);
	run_free(&run);
}

static bool lose_fifth(struct tap *tap, uint32_t host, struct packet *packet)
{
	(void)host;
	if (packet->kind == PACKET_ACK)
		++*(int *)tap->owner;
	return packet->kind == PACKET_ACK || packet->seq != 5 * 1460 ||
	       packet->flags & PACKET_RETRANSMIT;
}

/* Out of order: an ACK at once, for each (RFC 5681, 4.2), and for what fills a hole.
 * Sixteen segments, the sixth lost: 2 ACKs for 0..3; 4 waits and is answered with 6;
 * 6..15 make ten, the filled hole one. */
Test(tcp_loss, duplicates_at_once)
{
	struct run run;
	struct tap tap;
	int acks = 0;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2 },"
			" 'tcp': { 'ack_every': 2, 'initial_window': 16 },"
			" 'stop': { 'when': 'time', 'after': '5ms' },"
			" 'flows': [ { 'size': '23360B', 'pairs': [[0, 1]] } ] }");
	tap_in(&tap, &run, "tcp", lose_fifth, &acks);
	run_to(&run, END_TIME);
	cr_expect_eq(run_conn(&run, 0)->stats.timeouts, 0);
	cr_expect_eq(acks, 2 + 10 + 1, "%d", acks);
	run_free(&run);
}
