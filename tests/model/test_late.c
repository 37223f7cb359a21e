/* Hosts that learn late of packets that only they care for (late.h): a run is the same, to the last
 * row of its tables, as one with an event for each arrival. */
#include "both_ways.h"

/* Returns the numbers of the run whose hosts may be late; its tables are freed. */
static struct outcome same_twice(const char *text)
{
	struct outcome a = outcome_of(false, text), b = outcome_of(true, text);

	cr_expect_eq(a.digest, b.digest, "%s", text);
	cr_expect_eq(a.events, b.events, "%s", text);
	cr_assert(a.flows && a.series && b.flows && b.series, "%s", text);
	cr_expect_str_eq(a.flows, b.flows, "%s", text);
	cr_expect_str_eq(a.series, b.series, "%s", text);
	cr_expect_eq(b.late + b.late_events, 0);
	cr_expect_leq(a.late_events, a.late, "it costs more than it saves: %s", text);
	outcome_release(&a);
	outcome_release(&b);
	return a;
}

/* Returns the part of all hops that took no event. */
static double same_both_ways(const char *topology, const char *rest)
{
	char *text = xasprintf("{ 'name': 't', 'stop': { 'when': 'all_done', 'after': '200ms' },"
			       " 'output': { 'series': { 'every': '100us' } },"
			       " 'topology': { %s }, %s }",
			       topology, rest);
	struct outcome outcome = same_twice(text);

	free(text);
	return (double)outcome.late / (double)outcome.hops;
}

#define LINK(rate, delay) "'link': { 'rate': '" rate "', 'delay': '" delay "' }"
#define STAR              "'kind': 'star', 'hosts': 8, "
#define RACKS             "'kind': 'leaf-spine', 'leaves': 3, 'spines': 2, 'hosts_per_leaf': 4, "
#define FLOWS                                                                                      \
	"'flows': [ { 'name': 'f', 'size': '60kB', 'count': 100,"                                  \
	" 'arrival': { 'poisson_load': 0.6 } },"                                                   \
	" { 'name': 'p', 'size': '300kB', 'transport': 'reno', 'pairs': 'permutation' } ]"

static const char *const networks[] = {
	STAR LINK("10Gbps", "1us"),
	STAR LINK("100Gbps", "20us"),
	RACKS LINK("100Gbps", "500ns") ", 'switch': { 'buffer': '40kB' }",
	RACKS LINK("1Gbps",
		   "500ns") ", 'uplink': { 'rate': '1Gbps', 'delay': '5us', 'loss': 0.01 }",
	STAR LINK("25Gbps", "1us") ", 'host': { 'nic': 'bytes' }",
	STAR LINK("25Gbps", "1us") ", 'host': { 'nic': 'fifo' }",
	STAR LINK("10Gbps", "1us") ", 'host': { 'nic_jitter': '1230400ps' }",
	RACKS LINK("100Gbps", "500ns") ", 'host': { 'nic': 'fifo', 'nic_jitter': '5us' }",
};

/* Segments of 1000 bytes and ACKs of 64 at 8 Gbps, 500 ns a hop of an ACK on its way back: each
 * arrives at the very time of a later segment. */
#define LOCK_STEP                                                                                  \
	LINK("8Gbps", "436ns")                                                                     \
	", 'switch': { 'latency': '0s' }, 'host': { 'latency': '0s' }, 'wire_overhead': false"
#define LOCK_STEP_TCP "'tcp': { 'mss': 942, 'initial_window': 100 }"

/* The run ends with the last segment, by chance before or after the last ACK but one, which its
 * host learns of late. */
Test(late, is_the_same_at_an_end_among_equals)
{
	unsigned after = 0;

	for (unsigned seed = 1; seed <= 16; seed++) {
		char *text = xasprintf(
			"{ 'name': 't', 'seed': %u, 'stop': { 'when': 'flows_done', 'after': '1ms' "
			"},"
			" 'output': { 'series': { 'every': '100us' } }, 'topology': {"
			" 'kind': 'star', 'hosts': 2, " LOCK_STEP " }, " LOCK_STEP_TCP ","
			" 'flows': [ { 'name': 'f', 'size': '47100B', 'pairs': [[0, 1]] } ] }",
			seed);

		after += same_twice(text).events == 199;
		free(text);
	}
	cr_expect(after > 0 && after < 16, "%u of 16", after);
}

/* The same times among racks that lose packets: a row of flows.csv counts what the sender has sent
 * again when the last byte arrives, by reason of an ACK of that very time or not. */
Test(late, is_the_same_in_rows_written_among_equals)
{
	for (unsigned seed = 1; seed <= 8; seed++) {
		char *rest = xasprintf("'seed': %u, " LOCK_STEP_TCP
				       ", 'flows': [ { 'name': 'f', 'size': '47100B', 'count': 96,"
				       " 'pairs': 'permutation' } ]",
				       seed);

		same_both_ways(RACKS LOCK_STEP ", 'uplink': { 'rate': '8Gbps', 'delay': '436ns',"
					       " 'loss': 0.05 }",
			       rest);
		free(rest);
	}
}

/* A flow starts at the very time of an ACK that its host learns of late, which comes first: what it
 * allows is sent before. */
Test(late, is_the_same_when_a_flow_starts_among_equals)
{
	static const char *const starts[] = { "3872ns", "4872ns", "5872ns", "7744ns", "11616ns" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		char *rest = xasprintf("'tcp': { 'mss': 942, 'initial_window': 2 }, 'flows': ["
				       " { 'name': 'a', 'size': '47100B', 'pairs': [[0, 1]] },"
				       " { 'name': 'b', 'size': '9420B', 'pairs': [[0, 2]],"
				       " 'arrival': { 'at': '%s' } } ]",
				       starts[i]);

		same_both_ways(STAR LOCK_STEP, rest);
		free(rest);
	}
}

/* The last flow of the window ends while others are under way: at the end all hosts are up to date.
 */
Test(late, is_the_same_when_the_run_ends_under_way)
{
	for (unsigned seed = 1; seed <= 8; seed++) {
		char *text = xasprintf(
			"{ 'name': 't', 'seed': %u, 'stop': { 'when': 'measured_done',"
			" 'after': '50ms', 'warmup': '100us', 'window': '200us' },"
			" 'output': { 'series': { 'every': '100us' } },"
			" 'topology': { " STAR LINK(
				"10Gbps",
				"20us") " }, 'flows': [ { 'name': 'f',"
					" 'size': '60kB', 'arrival': { 'poisson_load': 0.6 } } ] }",
			seed);

		same_twice(text);
		free(text);
	}
}

/* Full queues, losses on the way, timeouts, other ways to serve a NIC. Of two hops in a star one
 * leads to a host. */
Test(late, is_the_same)
{
	for (size_t i = 0; i < sizeof(networks) / sizeof(*networks); i++)
		cr_expect_gt(same_both_ways(networks[i], FLOWS), 0.1, "%s", networks[i]);
}

/* ACKs that wait for more segments or for a timer, timeouts just longer than a host may be late. */
Test(late, is_the_same_with_short_timers)
{
	static const char *const timers[] = {
		"'tcp': { 'ack_every': 4 }, ",
		"'tcp': { 'ack_every': 2, 'ack_delay': '8us' }, ",
		"'tcp': { 'min_rto': '7us', 'initial_rto': '30us', 'initial_window': 100 }, ",
		"'tcp': { 'min_rto': '60us', 'ack_every': 4, 'ack_delay': '50us' }, ",
	};

	for (size_t i = 0; i < sizeof(timers) / sizeof(*timers); i++) {
		char *rest = xasprintf("%s" FLOWS, timers[i]);

		cr_expect_gt(same_both_ways(STAR LINK("100Gbps", "1us"), rest), 0.1, "%s",
			     timers[i]);
		same_both_ways(networks[2], rest);
		same_both_ways(networks[3], rest);
		free(rest);
	}
}

/* A timer that could be over before its packet is delivered: 1 Gbps send the largest frame in
 * 524 us. */
Test(late, is_never_where_timers_are_shorter)
{
	const char *slow = STAR LINK("1Gbps", "500ns");

	cr_expect_eq(same_both_ways(slow, "'tcp': { 'min_rto': '500us' }, " FLOWS), 0);
	cr_expect_eq(same_both_ways(slow, "'tcp': { 'initial_rto': '500us' }, " FLOWS), 0);
	cr_expect_eq(
		same_both_ways(slow, "'tcp': { 'ack_every': 2, 'ack_delay': '500us' }, " FLOWS), 0);
	cr_expect_gt(same_both_ways(slow, "'tcp': { 'ack_delay': '500us' }, " FLOWS), 0.1);
}

/* Packets that somebody waits for come to the same hosts: each time the port goes back to events.
 */
Test(late, is_the_same_beside_jobs)
{
	static const char *const schemes[] = { "ring", "ps", "switchml", "esa", "atp" };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
		char *rest = xasprintf(
			FLOWS
			", 'jobs': [ { 'name': 'a', 'all_reduce': '%s', 'workers': 4,"
			" 'iterations': 3, 'model': { 'layers': [ { 'gradient': '200kB' } ] },"
			" 'placement': 'random' } ]",
			schemes[i]);

		cr_expect_gt(same_both_ways(networks[0], rest), 0, "%s", schemes[i]);
		cr_expect_gt(same_both_ways(networks[2], rest), 0, "%s", schemes[i]);
		free(rest);
	}
}

/* A job's workers whose timers are short make the NICs of their hosts go by event, while packets
 * are late there (network_settle_host() would not see to departures any more). */
Test(late, is_the_same_beside_jobs_that_want_events)
{
	char *rest = xasprintf(FLOWS ", 'schemes': { 'switchml': { 'timeout_rule': 'adaptive' } },"
				     " 'jobs': [ { 'name': 'a', 'all_reduce': 'switchml',"
				     " 'workers': 4, 'iterations': 3, 'placement': 'random',"
				     " 'model': { 'layers': [ { 'gradient': '200kB' } ] },"
				     " 'arrival': { 'at': '100us' } } ]");

	cr_expect_gt(same_both_ways(networks[0], rest), 0);
	cr_expect_gt(same_both_ways(networks[2], rest), 0);
	free(rest);
}

/* Where a host's port loses or jitters, with classes or PAUSE, nothing is late. */
Test(late, is_never_elsewhere)
{
	cr_expect_eq(same_both_ways(STAR "'link': { 'loss': 0.001 }", FLOWS), 0);
	cr_expect_eq(same_both_ways(STAR "'host': { 'jitter': '200ns' }", FLOWS), 0);
	cr_expect_eq(same_both_ways(STAR "'classes': 'control-first'", FLOWS), 0);
	cr_expect_eq(same_both_ways(STAR "'switch': { 'pause': true }", FLOWS), 0);
}
