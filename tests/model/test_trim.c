/* Switches that trim packets: what an incast takes, that each trimmed packet comes once more and no
 * timer runs out, what has no room even when cut, and who is not trimmed. */
#include "model_run.h"

#include "transport/roce_conn.h"

#include <math.h>

/* A full packet: 1024 + 62 bytes, and 20 of preamble and gap; what is left of a trimmed one. */
#define FULL 1106
#define CUT  84

/* `flows` hosts send `size` each to host 0 of a star at 100 Gbps with 1 us a link. */
static void incast(struct run *run, int flows, const char *size, const char *buffer,
		   const char *transport)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': %d, 'link': { 'rate': "
		  "'100Gbps', 'delay': '1us' }, 'classes': 'control-first', 'host': { 'nic_jitter':"
		  " '0s' }, 'switch': { 'buffer': '%s', 'trim': true, 'ecn': false } },"
		  " 'roce': { 'recovery': 'selective', 'write_header': 0, 'rto': '5ms' },"
		  " 'flows': [ { 'size': '%s', 'pairs': 'incast', 'fan_in': %d, 'transport': '%s'"
		  " } ] }",
		  flows + 1, buffer, size, flows, transport);
	run_to(run, END_ALL_DONE);
	cr_expect_eq(network_check(&run->s->topo.net, stderr), 0);
}

struct sums {
	uint64_t again, timeouts, bytes;
};

static struct sums sums_of(const struct run *run)
{
	struct sums sums = { 0 };

	for (size_t c = 0; c < run->s->roce->count; c++) {
		sums.again += run->s->roce->conns[c]->stats.retransmissions;
		sums.timeouts += run->s->roce->conns[c]->stats.timeouts;
		sums.bytes += run->s->roce->conns[c]->rx.bytes;
	}
	return sums;
}

/* The port to host 0 carries n MB and what is left of trimmed packets. It rests for the first
 * packet's way, and at the end, when copies of what was trimmed are awaited: some round trips of
 * 5.2 us. (Sixteen senders without a control would fill the port with headers alone, as each asks
 * for a copy at once.) */
Test(trim, incast)
{
	static const char *const buffers[] = { "20kB", "60kB", "250kB" };

	for (int flows = 2; flows <= 8; flows *= 2)
		for (int b = 0; b < 3; b++) {
			struct run run;
			struct sums sums;
			double busy, ns;

			incast(&run, flows, "1MB", buffers[b], "roce");
			sums = sums_of(&run);
			busy = flows * (1e6 / 1024 * (FULL - 1024) + 1e6) +
			       (double)run.s->topo.net.trimmed * CUT;
			ns = (double)run.s->sim.now / 1e3 - busy * 0.08;
			printf("%d flows, %s: %lu trimmed, %.1f ns beyond\n", flows, buffers[b],
			       run.s->topo.net.trimmed, ns);
			cr_expect(ns > 1000 && ns < 10 * 5200, "%g", ns);
			cr_expect_eq(sums.again, run.s->topo.net.trimmed);
			cr_expect_eq(sums.timeouts, 0);
			cr_expect_eq(sums.bytes, (uint64_t)flows * 1000000);
			cr_expect_eq(run.s->topo.net.dropped, 0);
			cr_expect(b == 2 || run.s->topo.net.trimmed > 0);
			run_free(&run);
		}
}

/* Sixty packets come at once into room for one, and for 47 headers. What has no room even when cut
 * is lost, and the timer repeats it. */
Test(trim, no_room_for_headers)
{
	struct run run;
	struct sums sums;

	incast(&run, 60, "5kB", "1518B", "roce");
	sums = sums_of(&run);
	cr_expect_gt(run.s->topo.net.dropped, 0);
	cr_expect_gt(sums.timeouts, 0);
	cr_expect_eq(sums.bytes, 60 * 5000);
	run_free(&run);
}

/* With losses on links, sprayed, under controls of all kinds: all comes, once. */
Test(trim, losses)
{
	static const char *const transports[] = { "roce", "dcqcn", "roce_swift", "timely" };

	for (int t = 0; t < 4; t++) {
		struct run run;
		struct sums sums;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'fat-tree', 'k': 4, 'link': { "
			  "'rate': '100Gbps', 'loss': 0.002 }, 'classes': 'control-first',"
			  " 'switch': { 'buffer': '30kB', 'trim': true } },"
			  " 'roce': { 'recovery': 'selective', 'spray': 'random', 'rto': '1ms' },"
			  " 'flows': [ { 'size': '300kB', 'count': 40, 'transport': '%s' } ] }",
			  transports[t]);
		run_to(&run, END_ALL_DONE);
		sums = sums_of(&run);
		cr_expect_eq(network_check(&run.s->topo.net, stderr), 0);
		cr_expect_gt(run.s->topo.net.trimmed, 0);
		cr_expect_gt(sums.again, 0);
		run_free(&run);
	}
}

/* TCP does not know cut segments, so switches drop what has no room. */
Test(trim, others_are_dropped)
{
	struct run run;

	incast(&run, 8, "1MB", "20kB", "reno");
	cr_expect_eq(run.s->topo.net.trimmed, 0);
	cr_expect_gt(run.s->topo.net.dropped, 0);
	run_free(&run);
}
