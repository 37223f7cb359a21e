/* Windows of ATP's and ESA's workers: those that receive the same results are the same. */
#include "model_run.h"
#include "test_pool.h"

/* --- a worker that begins late --- */

#define RESULTS_MAX 20000

#define TENSOR 1000 /* packets */

/* Two gradient packets of worker 1 are lost in the first window of each tensor, once: holes in
 * everybody's results. */
static bool lose_some(void *owner, uint32_t port, const struct packet *packet)
{
	const struct bench *bench = owner;
	uint32_t place = pool_chunk(packet) % TENSOR;

	return bench->net->ports[port].to == bench->net->hosts &&
	       packet->kind == PACKET_AGGREGATION && pool_bitmap(packet).bits == 2 &&
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
	const struct pool_job *job = bench_job(bench, 0);
	struct windows *windows = bench->owner;
	const struct window *window;
	uint64_t i;

	if (!(packet->flags & PACKET_RESULT) || node >= bench->net->hosts || !job)
		return;
	window = &((struct pool_worker *)ina_worker_on(&job->base, node))->window;
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

/* --- how packets wait for the NIC --- */

/* Mean JCT in seconds: a quarter of ESA's section 7.2, model A, 4 jobs of 4 workers. */
static double jct(const char *scheme, const char *host, const char *rule, int seed)
{
	const struct job_record *records;
	struct run run;
	double sum = 0;
	size_t count;

	run_build(
		&run,
		"{'name': 't', 'seed': %d, 'topology': {'kind': 'star', 'hosts': 20, 'host': "
		"{%s},"
		" 'wire_overhead': false, 'link': {'rate': '100Gbps', 'delay': '2.5us'}, 'switch': "
		"{'latency': '0s', 'ecn': {'threshold': '80kB'}}}, 'schemes': {'%s': {'memory': "
		"'2500kB', 'header': 50%s}}, 'jobs': [{'count': 4, 'workers': 4, "
		"'all_reduce': '%s', 'iterations': 2, 'overlap': 'layers', 'model': {'send_order': "
		"[1, 0, 0, 1], 'layers': [{'gradient': '2MB', 'forward': '80us'}, {'gradient': "
		"'2MB', 'forward': '80us'}]}, 'arrival': {'at': '0s', 'spread': '250us'}, "
		"'send_jitter': '75us'}]}",
		seed, host, scheme, rule, scheme);
	run_to(&run, END_ALL_DONE);
	records = jobs_report(run.s->jobs)->records;
	count = jobs_report(run.s->jobs)->measured.finished;
	cr_assert_eq(count, 4);
	for (size_t i = 0; i < count; i++)
		sum += records[i].jct;
	run_free(&run);
	return sum / (double)count;
}

/* By turns or all at once, it is the same line: windows come out alike, and so do jobs. With
 * windows that counted what the NIC had taken jobs took 39 to 82 % longer by turns. */
Test(windows, do_not_depend_on_how_packets_wait)
{
	static const char *const schemes[] = { "atp", "esa" };
	static const char loss[] = ", 'halve_on': 'loss'";

	for (int i = 0; i < 2; i++) {
		for (int seed = 1; seed <= 2; seed++) {
			double turns = jct(schemes[i], "'nic': 'turns'", loss, seed);
			double fifo = jct(schemes[i], "'nic': 'fifo'", loss, seed);

			cr_expect_float_eq(turns / fifo, 1, 0.05, "%s, seed %d: %g and %g s",
					   schemes[i], seed, turns, fifo);
		}
	}
}

/* --- a spread between workers --- */

/* Contributions of a sum that lie up to 1 us apart hold aggregators longer, so chunks collide, come
 * by way of servers, and are overtaken; nothing is lost. That may cost what the way by servers
 * costs, but not the window: with one that halves for each of them, ESA takes 2.4 to 5 times as
 * long at 1 us. */
Test(windows, do_not_collapse_under_a_spread)
{
	static const char *const schemes[] = { "atp", "esa" };
	static const char *const spreads[] = { "'nic_jitter': '100ns'", "'nic_jitter': '1us'" };

	for (int i = 0; i < 2; i++) {
		double prompt = jct(schemes[i], "'nic_jitter': '0s'", "", 1);

		for (int j = 0; j < 2; j++) {
			double spread = jct(schemes[i], spreads[j], "", 1);

			cr_expect_lt(spread / prompt, 1.6, "%s, %s: %g instead of %g s", schemes[i],
				     spreads[j], spread, prompt);
		}
	}
}
