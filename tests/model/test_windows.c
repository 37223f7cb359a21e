/* Windows of ATP's and ESA's workers: those that receive the same results are the same. */
#include "test_hashed.h"

#define RESULTS_MAX 20000

#define TENSOR 1000 /* packets */

/* Two gradient packets of worker 1 are lost in the first window of each tensor, once: holes in
 * everybody's results. */
static bool lose_some(void *owner, uint32_t port, const struct packet *packet)
{
	const struct bench *bench = owner;
	uint32_t place = packet_piece(packet) % TENSOR;

	return bench->net->ports[port].to == bench->net->hosts &&
	       packet->kind == PACKET_AGGREGATION && packet_bitmap(packet).bits == 2 &&
	       !(packet->flags & (PACKET_RESULT | PACKET_RETRANSMIT)) &&
	       (place == 10 || place == 150);
}

struct windows {
	uint64_t results[4];        /* of worker w */
	uint64_t cwnd[RESULTS_MAX]; /* behind result i, of whoever had it first */
	uint64_t reductions;
};

static void compare(struct bench *bench, uint32_t node, const struct packet *packet)
{
	const struct hashed_job *job = bench_job(bench, 0);
	struct windows *windows = bench->owner;
	const struct window *window;
	uint64_t i;

	if (!(packet->flags & PACKET_RESULT) || node >= bench->net->hosts || !job)
		return;
	window = &job->workers[job->worker_of_host[node]].window;
	i = windows->results[node]++;
	cr_assert_lt(i, RESULTS_MAX);
	if (!windows->cwnd[i])
		windows->cwnd[i] = window->cwnd;
	cr_assert_eq(window->cwnd, windows->cwnd[i],
		     "worker at h%u, result %" PRIu64 ": %" PRIu64 " and %" PRIu64 " bytes", node,
		     i, window->cwnd, windows->cwnd[i]);
	windows->reductions = window->reductions;
}

/* Four workers, the first of which begins 30 us late: its peers have sent all that their windows
 * allow and wait. Its NIC still has most of that when the first holes show, but it has been
 * allowed, and halves nothing again. */
Test(windows, are_the_same_when_one_begins_late)
{
	static const char *const schemes[] = { "atp", "esa" };
	static const unsigned indices[] = { SCHEME_atp, SCHEME_esa };
	static const char *const modes[] = { "turns", "fifo" };

	for (unsigned i = 0; i < 4; i++) {
		struct windows windows = { 0 };
		struct bench bench;

		bench_open(&bench, indices[i / 2],
			   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 5, "
			   "\"host\": {\"nic\": \"%s\"}, "
			   "\"link\": {\"rate\": \"100Gbps\", \"delay\": \"200ns\"}}, "
			   "\"schemes\": {\"%s\": {\"halve_on\": \"loss\", "
			   "\"initial_timeout\": \"1ms\", \"initial_window\": \"120kB\", "
			   "\"window_increase\": \"15kB\"}}, \"jobs\": [{\"iterations\": 5, "
			   "\"workers\": 4, "
			   "\"all_reduce\": \"%s\", \"stragglers\": {\"workers\": 1, "
			   "\"slowdown\": 31}, \"model\": {\"layers\": [{\"gradient\": "
			   "\"256kB\", \"forward\": \"1us\"}]}}]}",
			   modes[i % 2], schemes[i / 2], schemes[i / 2]);
		bench_lose(&bench, lose_some, &bench);
		bench.after = compare;
		bench.owner = &windows;
		bench_finish(&bench, 4 * 5 * TENSOR);
		cr_expect_geq(windows.reductions, 5, "%s: %" PRIu64, schemes[i / 2],
			      windows.reductions);
		bench_close(&bench);
	}
}
