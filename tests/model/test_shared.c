/* Buffers that the ports of a switch share: how much n congested ports hold, that the sum stays
 * within the buffer, and that all of it is free again at the end. */
#include "model_run.h"

#include "net/shared.h"

#define FRAME 1518

/* `n` receivers, three senders each, at 10 Gbps: bursts of 1.5 MB a sender, without marks. */
static void build(struct run *run, unsigned n, const char *buffers)
{
	char pairs[512] = "";

	for (unsigned r = 0; r < n; r++)
		for (unsigned i = 0; i < 3; i++)
			snprintf(pairs + strlen(pairs), sizeof(pairs) - strlen(pairs), "%s[%u, %u]",
				 *pairs ? ", " : "", n + 3 * r + i, r);
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': %u,"
		  "  'link': { 'rate': '10Gbps', 'delay': '1us' },"
		  "  'switch': { 'ecn': false, %s } },"
		  " 'tcp': { 'initial_window': 1000 },"
		  " 'flows': [ { 'size': '1500kB', 'pairs': [%s], 'count': %u,"
		  "   'transport': 'reno' } ] }",
		  4 * n, buffers, pairs, 3 * n);
}

/* The bytes that wait in the switch. Some may at the end: copies that were sent in vain. */
static bytes all_queues(struct run *run)
{
	struct network *net = &run->s->topo.net;
	bytes sum = 0;

	for (uint32_t p = net->host_ports; p < net->port_count; p++)
		sum += network_queue_bytes(net, p);
	return sum;
}

/* Each of n full queues holds alpha B / (1 + n alpha) once queues have reached their thresholds,
 * within a frame of it and alpha frames by which others move the threshold. */
Test(shared, equilibrium)
{
	static const double alphas[] = { 0.25, 1, 8 };

	for (unsigned n = 1; n <= 4; n++)
		for (int a = 0; a < 3; a++) {
			double expected = alphas[a] * 400000 / (1 + n * alphas[a]);
			char buffers[128];
			struct run run;

			snprintf(buffers, sizeof(buffers),
				 "'shared_buffer': { 'size': '400kB', 'alpha': %g }", alphas[a]);
			build(&run, n, buffers);
			run_until(&run, 800 * PS_PER_US);
			for (uint32_t r = 0; r < n; r++) {
				struct network *net = &run.s->topo.net;
				double queue = (double)network_queue_bytes(
					net, net->switch_nodes[0].first_port + r);

				cr_expect_float_eq(queue, expected, (1 + alphas[a]) * FRAME,
						   "%u ports, alpha %g: %g, not %g", n, alphas[a],
						   queue, expected);
			}
			cr_expect_eq(network_check(&run.s->topo.net, stderr), 0);
			run_to(&run, END_ALL_DONE);
			cr_expect_eq(shared_used(&run.s->topo.net, 0), all_queues(&run));
			run_free(&run);
		}
}

/* Beside a large shared buffer a port keeps to its own limit. */
Test(shared, own_limit_counts)
{
	struct run run;

	build(&run, 2, "'buffer': '50kB', 'shared_buffer': { 'size': '100MB', 'alpha': 64 }");
	run_until(&run, 800 * PS_PER_US);
	cr_expect_leq(network_queue_bytes(&run.s->topo.net, run.s->topo.net.host_ports), 50000);
	cr_expect_gt(network_queue_bytes(&run.s->topo.net, run.s->topo.net.host_ports), 48000);
	run_to(&run, END_ALL_DONE);
	run_free(&run);
}

/* Whatever the alpha, at no time does the buffer hold more than its size. */
Test(shared, never_more_than_the_buffer)
{
	static const char *const alphas[] = { "0.05", "1", "64" };

	for (int a = 0; a < 3; a++) {
		char buffers[128];
		struct run run;

		snprintf(buffers, sizeof(buffers),
			 "'shared_buffer': { 'size': '90kB', 'alpha': %s }", alphas[a]);
		build(&run, 4, buffers);
		for (sim_time at = 10 * PS_PER_US; at < 2 * PS_PER_MS; at += 7 * PS_PER_US) {
			run_until(&run, at);
			cr_assert_eq(network_check(&run.s->topo.net, stderr), 0);
			cr_assert_eq(shared_used(&run.s->topo.net, 0), all_queues(&run));
		}
		cr_expect_gt(run.s->topo.net.dropped, 0);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(shared_used(&run.s->topo.net, 0), 0);
		run_free(&run);
	}
}
