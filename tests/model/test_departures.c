/* NICs that defer departures (nic.h): a run is the same, to the last
 * picosecond of every event, as one in which each departure is an event. */
#include "both_ways.h"

static struct outcome run_with(bool by_event, const char *topology, const char *work)
{
	char *text = xasprintf("{ 'name': 't', 'stop': { 'when': 'all_done', 'after': '200ms' },"
			       " 'topology': { %s }, %s }",
			       topology, work);
	struct outcome outcome = outcome_of(by_event, text);

	cr_expect_gt(outcome.events, 1000, "%s: too little happens", work);
	outcome_release(&outcome);
	free(text);
	return outcome;
}

/* The share of the departures that took an event all the same. */
static double same_both_ways(const char *topology, const char *work)
{
	struct outcome a = run_with(false, topology, work), b = run_with(true, topology, work);

	cr_expect_eq(a.digest, b.digest, "%s, %s", topology, work);
	cr_expect_eq(a.events, b.events, "%s, %s", topology, work);
	return (double)a.departures / (double)b.departures;
}

#define STAR  "'kind': 'star', 'hosts': 8, 'link': { 'rate': '10Gbps', 'delay': '1us' }"
#define RACKS "'kind': 'leaf-spine', 'leaves': 3, 'spines': 2, 'hosts_per_leaf': 4"
#define LOSSY RACKS ", 'link': { 'rate': '100Gbps', 'delay': '2us', 'loss': 1e-3 }"
#define SLOW  RACKS ", 'link': { 'rate': '100Gbps', 'delay': '300us' }"

#define JOBS(scheme)                                                                               \
	"'jobs': [ { 'name': 'a', 'all_reduce': '" scheme "', 'count': 3, 'workers': 4,"           \
	" 'iterations': 3, 'arrival': { 'poisson_gap': '100us' },"                                 \
	" 'model': { 'layers': [ { 'gradient': '200kB' }, { 'gradient': '50kB' } ] },"             \
	" 'placement': 'random' } ]"
#define FLOWS                                                                                      \
	"'flows': [ { 'name': 'f', 'size': '60kB', 'count': 100,"                                  \
	" 'arrival': { 'poisson_load': 0.5 } } ]"

#define PANAMA "'schemes': { 'panama': { 'aggregate_above': '0B' } }, "

static const char *const works[] = {
	FLOWS,       JOBS("ring"), JOBS("switchml"),  JOBS("switchml_star"), JOBS("atp"),
	JOBS("esa"), JOBS("ps"),   JOBS("ps_stream"), PANAMA JOBS("panama"), JOBS("esa") ", " FLOWS
};
#define WORKS (sizeof(works) / sizeof(*works))

Test(departures, are_the_same_without_events)
{
	for (size_t i = 0; i < WORKS; i++)
		cr_expect_eq(same_both_ways(STAR, works[i]), 0, "%s", works[i]);
}

/* Cores may be done with a packet after it has arrived. */
Test(departures, are_events_where_cores_take_time)
{
	for (size_t i = 0; i < WORKS; i++)
		cr_expect_eq(
			same_both_ways(STAR ", 'host': { 'cores': { 'packet': '3us' } }", works[i]),
			1, "%s", works[i]);
}

/* Losses: timers, recovery, messages. PANAMA's recovery may start a timer that is over. */
Test(departures, are_the_same_without_events_where_packets_are_lost)
{
	for (size_t i = 0; i < WORKS; i++)
		if (!strstr(works[i], "panama") && !strstr(works[i], "star"))
			cr_expect_eq(same_both_ways(LOSSY, works[i]), 0, "%s", works[i]);
	cr_expect_gt(same_both_ways(LOSSY, "'schemes': { 'panama': { 'aggregate_above': '0B', "
					   "'recovery': true } }, " JOBS("panama")),
		     0);
}

/* What arrives at a host lets another one write at once: the chunks that a rank may be ahead. What
 * that one has sent by then did not know of it. */
Test(departures, have_happened_when_another_host_writes)
{
	same_both_ways("'kind': 'leaf-spine', 'link': { 'delay': '2.5us' }, 'leaves': 5,"
		       " 'spines': 2, 'hosts_per_leaf': 3, 'host': { 'nic_jitter': '121ns' }",
		       "'jobs': [ { 'workers': 7, 'all_reduce': 'double_tree', 'sharding': 'full',"
		       " 'model': { 'layers': [ { 'gradient': '400kB', 'backward': '20us' } ] }"
		       " } ]");
}

/* A timeout shorter than the link of a host would be over before its NIC is looked at. */
Test(departures, are_events_where_timers_are_shorter_than_links)
{
	cr_expect_eq(same_both_ways(SLOW, "'tcp': { 'min_rto': '200us' }, " FLOWS), 1);
	cr_expect_eq(
		same_both_ways(
			SLOW,
			"'schemes': { 'switchml': { 'retransmission_timeout': '250us' } }, " JOBS(
				"switchml")),
		1);
	cr_expect_gt(same_both_ways(SLOW, "'schemes': { 'esa': { 'min_timeout': '100us' } }, " JOBS(
						  "esa")),
		     0);
	cr_expect_eq(same_both_ways(SLOW, JOBS("esa")), 0);
}

/* A flow is over at its receiver, which says what its sender, another host, has sent again by
 * then: here a timeout of 36 us is shorter than the way of 41 us, and the NIC is busy with frames
 * of 12 us. */
Test(departures, have_happened_when_a_receiver_counts_what_was_sent_again)
{
	const char *text =
		"{ 'name': 't', 'stop': { 'when': 'all_done', 'after': '200ms' },"
		" 'topology': { 'kind': 'star', 'hosts': 4,"
		" 'link': { 'rate': '1Gbps', 'delay': '20us' } }, 'tcp': { 'initial_rto': '36us' },"
		" 'flows': [ { 'name': 'long', 'size': '1MB', 'pairs': 'permutation' },"
		" { 'name': 'short', 'size': '100B', 'count': 200,"
		" 'arrival': { 'poisson_load': 0.005 } } ] }";
	struct outcome deferred = outcome_of(false, text), by_event = outcome_of(true, text);

	cr_expect_not_null(strstr(by_event.flows, ",1,1,1,switch,"), "nothing was sent again");
	cr_expect_str_eq(deferred.flows, by_event.flows);
	outcome_release(&deferred);
	outcome_release(&by_event);
}

/* Samples look at all hosts. When they are more frequent than departures, none is deferred any
 * more.
 */
Test(departures, are_not_deferred_where_others_look_all_the_time)
{
	static const char *const every[] = { "100us", "1us" };
	uint64_t deferred[2];

	for (size_t i = 0; i < 2; i++) {
		char *text = xasprintf("{ 'name': 't', 'stop': { 'when': 'all_done', 'after': '1s' "
				       "}, 'output': { 'series': { 'every': '%s' } },"
				       " 'topology': { 'kind': 'star', 'hosts': 8,"
				       " 'link': { 'rate': '100Mbps', 'delay': '1us' } },"
				       " 'flows': [ { 'name': 'f', 'size': '30kB', 'count': 10,"
				       " 'pairs': 'permutation' } ] }",
				       every[i]);
		struct outcome a = outcome_of(false, text), b = outcome_of(true, text);

		cr_expect_eq(a.digest, b.digest);
		cr_expect_str_eq(a.flows, b.flows);
		cr_expect_eq(b.deferred, 0);
		deferred[i] = a.deferred;
		outcome_release(&a);
		outcome_release(&b);
		free(text);
	}
	cr_expect_lt(deferred[1], deferred[0] / 2);
}
