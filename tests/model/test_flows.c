/* Background flows: who sends how much to whom and when, and how long it takes. */
#include "model_run.h"

#include "base/input.h"
#include "base/mem.h"
#include "data/folder.h"
#include "data/table.h"
#include "workload/flows/flows_parts.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* The first packet of every flow, as it reaches its receiver. */
struct begun {
	uint32_t src, dst;
	uint64_t size;
	sim_time sent;
};

struct journal {
	struct run run;
	struct tap tap;
	struct begun *flows;
	size_t count, capacity;
};

static bool note(struct tap *tap, uint32_t host, struct packet *packet)
{
	struct journal *j = tap->owner;
	const struct tcp_conn *conn = run_conn(&j->run, packet->flow);

	(void)host;
	if (packet->kind == PACKET_ACK || packet->seq || packet->flags & PACKET_RETRANSMIT)
		return true;
	j->flows = array_reserve(j->flows, j->count, &j->capacity, sizeof(*j->flows));
	j->flows[j->count++] = (struct begun){ .src = conn->tx.host,
					       .dst = conn->rx.host,
					       .size = conn->tx.written,
					       .sent = packet->sent_at };
	return true;
}

/* Runs a scenario of which only `rest` differs: 16 hosts on a fat tree. */
static void journal_run(struct journal *j, enum end_reason end, const char *rest)
{
	*j = (struct journal){ .count = 0 };
	run_build(&j->run, "{ 'name': 't', 'topology': { 'kind': 'fat-tree', 'k': 4 }, %s }", rest);
	tap_in(&j->tap, &j->run, "tcp", note, j);
	run_to(&j->run, end);
}

static void journal_free(struct journal *j)
{
	free(j->flows);
	run_free(&j->run);
}

/* --- ideal times --- */

static const char *const networks[] = {
	"{ 'kind': 'star', 'hosts': 16 }",
	"{ 'kind': 'leaf-spine', 'leaves': 4, 'spines': 2, 'hosts_per_leaf': 4,"
	"  'uplink': { 'rate': '40Gbps', 'delay': '2us' } }",
	"{ 'kind': 'leaf-spine', 'leaves': 4, 'spines': 2, 'hosts_per_leaf': 4,"
	"  'oversubscription': 4 }",
	"{ 'kind': 'fat-tree', 'k': 4, 'link': { 'rate': '25Gbps', 'delay': '1us' } }",
};

/* Writes a trace of `count` flows, `gap_us` apart, sizes 1, 2, 53, then up to 10 segments. */
static void write_trace(char *path, int count, int gap_us)
{
	int descriptor = mkstemp(path);
	FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
	struct rng rng;

	cr_assert_not_null(file);
	rng_init(&rng, 1, "trace", 0);
	fprintf(file, "start_s,src,dst,size_bytes\n");
	for (int i = 0; i < count; i++) {
		unsigned src = (unsigned)rng_below(&rng, 16);
		unsigned dst = (src + 1 + (unsigned)rng_below(&rng, 15)) % 16;
		unsigned sizes[] = { 1, 2, 53, 6, 7, 1460, 1461, 2920, 14599, 14600 };
		unsigned size = i < 10 ? sizes[i] : 1 + (unsigned)rng_below(&rng, 14600);

		fprintf(file, "%d.%06d,%u,%u,%u\n", i * gap_us / 1000000, i * gap_us % 1000000, src,
			dst, size);
	}
	fclose(file);
}

/* A flow that is alone and fits into the first window (10 segments) takes exactly
 * its ideal time, to the picosecond, from 1 byte on, whichever link is slowest. */
Test(flows, alone_is_ideal)
{
	for (size_t n = 0; n < sizeof(networks) / sizeof(networks[0]); n++) {
		char path[] = INASIM_WORK_DIR "/inasim_flows_XXXXXX";
		const struct flow_class *classes;
		size_t class_count;
		struct run run;

		write_trace(path, 300, 1000);
		run_build(&run,
			  "{ 'name': 't', 'topology': %s,"
			  " 'flows': [ { 'arrival': { 'trace': '%s' } } ] }",
			  networks[n], path);
		unlink(path);
		run_to(&run, END_ALL_DONE);
		classes = flows_classes(run.s->flows, &class_count);
		cr_assert_eq(classes[0].finished + classes[1].finished, 300);
		for (int c = 0; c < 2; c++)
			for (size_t i = 0; i < classes[c].finished; i++)
				cr_expect_float_eq(classes[c].slowdown[i], 1, 0,
						   "network %zu: %.12f", n, classes[c].slowdown[i]);
		run_free(&run);
	}
}

/* Over every transport a lone flow of any size takes its ideal time where the path is short enough
 * for each first window. RoCE's first packet is larger (RETH), which a flow of 1 byte shows best.
 * HPCC takes longer: its packets have a header of telemetry, and it leaves a twentieth of the link.
 */
Test(flows, alone_is_ideal_over_every_transport)
{
	static const unsigned sizes[] = { 1, 64, 1024, 1025, 1460, 1461, 10000, 100000, 5000000 };

	for (unsigned t = 0; transport_kind(t); t++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			const struct flow_class *classes;
			size_t class_count;
			struct run run;

			if (transport_kind(t)->cc->telemetry)
				continue;
			run_build(&run,
				  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2,"
				  " 'link': { 'rate': '1Gbps', 'delay': '10ns' },"
				  " 'switch': { 'latency': '0s', 'pause': true },"
				  " 'host': { 'latency': '0s' } }, 'roce': { 'recovery': '%s' },"
				  " 'flows': [ { 'transport': '%s', 'size': '%uB',"
				  " 'pairs': [[0, 1]] } ] }",
				  transport_kind(t)->cc->selective ? "selective" : "go_back_n",
				  transport_names[t], sizes[i]);
			run_to(&run, END_ALL_DONE);
			classes = flows_classes(run.s->flows, &class_count);
			for (size_t c = 0; c < class_count; c++)
				if (classes[c].finished)
					cr_expect_float_eq(classes[c].slowdown[0], 1, 0,
							   "%s, %u bytes: %.12f",
							   transport_names[t], sizes[i],
							   classes[c].slowdown[0]);
			run_free(&run);
		}
}

/* Hundreds of flows at once, of all sizes: no slowdown is below 1 (which the run
 * itself would report as a violation). */
Test(flows, never_faster_than_ideal)
{
	for (size_t n = 0; n < sizeof(networks) / sizeof(networks[0]); n++) {
		const struct flow_class *classes;
		size_t class_count;
		uint64_t count = 0;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': %s, 'flows': [ { 'size': { 'cdf': "
			  "'websearch' },"
			  " 'arrival': { 'poisson_load': 0.5 }, 'count': 200 } ] }",
			  networks[n]);
		run_to(&run, END_ALL_DONE);
		classes = flows_classes(run.s->flows, &class_count);
		for (size_t c = 0; c < class_count; c++) {
			for (size_t i = 0; i < classes[c].finished; i++)
				cr_expect_geq(classes[c].slowdown[i], 1);
			count += classes[c].finished;
		}
		cr_expect_eq(count, 200);
		run_free(&run);
	}
}

/* --- generators --- */

/* Poisson flows of one size: N of them in a time T have mean and variance
 * load * rate * hosts * T / (8 size); per host the same divided by 16. 3 sigma for
 * the sum (120,000 flows: 0.9 %), 4 for the largest of 32 deviations. */
Test(flows, poisson_load)
{
	double mean = 0.3 * 10e9 * 16 * 0.1 / (8 * 5000), sent[16] = { 0 }, received[16] = { 0 };
	struct journal j;

	journal_run(&j, END_TIME,
		    "'stop': { 'when': 'time', 'after': '100ms' },"
		    "'flows': [ { 'size': '5kB', 'arrival': { 'poisson_load': 0.3 } } ]");
	cr_expect_float_eq((double)flows_started(j.run.s->flows), mean, 3 * sqrt(mean));
	for (size_t i = 0; i < j.count; i++) {
		cr_assert_neq(j.flows[i].src, j.flows[i].dst);
		sent[j.flows[i].src]++;
		received[j.flows[i].dst]++;
	}
	for (int h = 0; h < 16; h++) {
		cr_expect_float_eq(sent[h], mean / 16, 4 * sqrt(mean / 16));
		cr_expect_float_eq(received[h], mean / 16, 4 * sqrt(mean / 16));
	}
	journal_free(&j);
}

/* With drawn sizes the bytes offered in T have mean load * rate * hosts * T / 8 and
 * variance lambda T E[size^2]; E[size^2] is taken from the sizes that were drawn. */
Test(flows, poisson_bytes)
{
	double sum = 0, squares = 0, mean = 0.2 * 10e9 * 16 * 0.2 / 8;
	struct journal j;

	journal_run(&j, END_TIME,
		    "'stop': { 'when': 'time', 'after': '200ms' }, 'flows': [ { 'size': "
		    "{ 'cdf': 'websearch' }, 'arrival': { 'poisson_load': 0.2 } } ]");
	for (size_t i = 0; i < j.count; i++) {
		sum += (double)j.flows[i].size;
		squares += (double)j.flows[i].size * (double)j.flows[i].size;
	}
	printf("offered %.3f of the load asked for (sigma %.3f)\n", sum / mean,
	       sqrt(squares) / mean);
	cr_expect_float_eq(sum, mean, 3 * sqrt(squares));
	journal_free(&j);
}

static int by_start(const void *a, const void *b)
{
	const struct begun *x = a, *y = b;

	return x->sent < y->sent ? -1 : x->sent > y->sent;
}

/* Gaps of a Poisson process are exponential: their mean and standard deviation are
 * equal. 4 sigma of 4,000 gaps: 6 % of the mean, 9 % of the deviation. */
Test(flows, poisson_gaps)
{
	double sum = 0, squares = 0, deviation;
	struct journal j;
	size_t n;

	journal_run(&j, END_ALL_DONE,
		    "'flows': [ { 'size': '100B', 'arrival': { 'poisson_load': 0.0001 }, "
		    "'count': 4001 } ]");
	n = j.count - 1;
	cr_assert_eq(n, 4000);
	qsort(j.flows, j.count, sizeof(*j.flows), by_start);
	for (size_t i = 0; i < n; i++) {
		double gap = seconds_of(j.flows[i + 1].sent - j.flows[i].sent);

		sum += gap;
		squares += gap * gap;
	}
	deviation = sqrt(squares / (double)n - sum / (double)n * sum / (double)n);
	cr_expect_float_eq(sum / (double)n / 50e-6, 1, 0.063);
	cr_expect_float_eq(deviation / 50e-6, 1, 0.09);
	journal_free(&j);
}

/* A permutation: each host sends once and receives once, nobody to itself; twice
 * as many flows are the same again. */
Test(flows, permutation)
{
	int sends[16] = { 0 }, receives[16] = { 0 };
	struct journal j;

	journal_run(&j, END_ALL_DONE, "'flows': [ { 'size': '1kB', 'pairs': 'permutation' } ]");
	cr_expect_eq(j.count, 16);
	for (size_t i = 0; i < j.count; i++) {
		cr_expect_neq(j.flows[i].src, j.flows[i].dst);
		sends[j.flows[i].src]++;
		receives[j.flows[i].dst]++;
	}
	for (int h = 0; h < 16; h++)
		cr_expect(sends[h] == 1 && receives[h] == 1, "host %d", h);
	journal_free(&j);
	journal_run(&j, END_ALL_DONE,
		    "'flows': [ { 'size': '1kB', 'pairs': 'permutation', 'count': 32 } ]");
	for (size_t i = 0; i < j.count; i++)
		sends[j.flows[i].src]++;
	for (int h = 0; h < 16; h++)
		cr_expect_eq(sends[h], 3);
	journal_free(&j);
}

/* Incast: `fan_in` different senders, none of them the receiver, and in a Poisson
 * process the same ones. */
Test(flows, incast)
{
	struct journal j;

	for (int poisson = 0; poisson < 2; poisson++) {
		int sends[16] = { 0 }, senders = 0;

		journal_run(&j, END_ALL_DONE,
			    poisson ? "'flows': [ { 'size': '1kB', 'pairs': 'incast', 'fan_in': 9,"
				      " 'receiver': 5, 'arrival': { 'poisson_load': 0.1 },"
				      " 'count': 500 } ]"
				    : "'flows': [ { 'size': '1kB', 'pairs': 'incast', 'fan_in': 9,"
				      " 'receiver': 5 } ]");
		cr_expect_eq(j.count, poisson ? 500 : 9);
		for (size_t i = 0; i < j.count; i++) {
			cr_expect_eq(j.flows[i].dst, 5);
			senders += !sends[j.flows[i].src]++;
		}
		cr_expect_eq(senders, 9);
		cr_expect_eq(sends[5], 0);
		journal_free(&j);
	}
}

/* A list, in its order, twice round with `count`; a trace, as it is written. */
Test(flows, list_and_trace)
{
	char path[] = INASIM_WORK_DIR "/inasim_flows_XXXXXX", text[256];
	struct journal j;

	journal_run(
		&j, END_ALL_DONE,
		"'flows': [ { 'size': '2kB', 'pairs': [[3, 1], [0, 9], [1, 2]], 'count': 5 } ]");
	cr_expect_eq(j.count, 5);
	for (uint32_t p = 0; p < 3; p++) {
		const uint32_t from[] = { 3, 0, 1 }, to[] = { 1, 9, 2 };
		int n = 0;

		for (size_t i = 0; i < j.count; i++)
			n += j.flows[i].src == from[p] && j.flows[i].dst == to[p];
		cr_expect_eq(n, p < 2 ? 2 : 1);
	}
	journal_free(&j);
	write_trace(path, 50, 100);
	snprintf(text, sizeof(text), "'flows': [ { 'arrival': { 'trace': '%s' }, 'count': 40 } ]",
		 path);
	journal_run(&j, END_ALL_DONE, text);
	unlink(path);
	cr_expect_eq(j.count, 40);
	cr_expect_eq(j.flows[0].size, 1);
	cr_expect_eq(j.flows[5].size, 1460);
	for (size_t i = 0; i < j.count; i++)
		cr_expect_eq(j.flows[i].sent, i * 100 * PS_PER_US);
	journal_free(&j);
}

/* Flows that start before the end of the warm-up run but are not measured. */
static uint64_t measured(const struct journal *j)
{
	size_t count;
	const struct flow_class *classes = flows_classes(j->run.s->flows, &count);
	uint64_t sum = 0;

	for (size_t c = 0; c < count; c++)
		sum += classes[c].count;
	return sum;
}

/* With "size_scale" S the same flows are S times as large and come 1 / S times as often, so
 * that the load is what was asked for: as many flows in S times the time. */
Test(flows, size_scale)
{
	static const char *const scenario =
		"'stop': { 'when': 'measured_done', 'after': '1s', 'warmup': '0s', 'window': '%s' "
		"},"
		"'flows': [ { 'size': { 'cdf': 'websearch' }, 'size_scale': %s,"
		"             'arrival': { 'poisson_load': 0.2 } } ]";
	struct journal full, tenth;
	char text[512];
	size_t same = 0, n;

	snprintf(text, sizeof(text), scenario, "20ms", "1");
	journal_run(&full, END_MEASURED_DONE, text);
	snprintf(text, sizeof(text), scenario, "2ms", "0.1");
	journal_run(&tenth, END_MEASURED_DONE, text);
	for (size_t i = 0; i < full.count && i < tenth.count; i++)
		same += llabs((long long)full.flows[i].size -
			      10 * (long long)tenth.flows[i].size) <=
			5; /* rounded to a byte; first packets need not come in the same order */
	cr_expect_gt(measured(&full), 30);
	cr_expect_eq(measured(&full), measured(&tenth));
	n = full.count < tenth.count ? full.count : tenth.count;
	cr_expect_gt(same, n / 2, "%zu of %zu", same, n);
	journal_free(&full);
	journal_free(&tenth);
}

/* A flow of the size of a border belongs to the class above it. */
Test(flows, size_classes)
{
	static const struct {
		const char *borders;
		size_t classes[3], count; /* of sizes 9,999, 10,000 and 10,001 */
	} cases[] = {
		{ "[ '10KB' ]", { 0, 1, 1 }, 2 },
		{ "[ '10KB', '10001B' ]", { 0, 1, 2 }, 3 },
		{ "[]", { 0, 0, 0 }, 1 },
		{ "[ '1B', '9999B', '40MB' ]", { 2, 2, 2 }, 4 },
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const struct flow_class *classes;
		uint64_t want[5] = { 0 };
		size_t count;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 6 }, 'flows': ["
			  " { 'size': '9999B', 'pairs': [[0, 1]] },"
			  " { 'size': '10KB', 'pairs': [[2, 3]] },"
			  " { 'size': '10001B', 'pairs': [[4, 5]] } ],"
			  " 'output': { 'flow_classes': %s } }",
			  cases[c].borders);
		run_to(&run, END_ALL_DONE);
		classes = flows_classes(run.s->flows, &count);
		cr_assert_eq(count, cases[c].count, "case %zu", c);
		for (size_t f = 0; f < 3; f++)
			want[cases[c].classes[f]]++;
		for (size_t i = 0; i < count; i++) {
			cr_expect_eq(classes[i].finished, want[i], "case %zu, class %zu", c, i);
			cr_expect_eq(classes[i].from, i ? classes[i - 1].to : 0);
		}
		cr_expect_eq(classes[count - 1].to, UINT64_MAX);
		run_free(&run);
	}
}

/* The rows of flows.csv: in the order in which flows are acknowledged, those of one instant in the
 * order of their numbers; with what was sent again until then. */
Test(flows, rows_in_order)
{
	char folder[] = INASIM_WORK_DIR "/inasim-rows-XXXXXX", *error = NULL, *path, *text;
	const struct simulation_options options = { 0 };
	struct out_dir *dir;
	struct run run;
	int next = 0;

	cr_assert_not_null(mkdtemp(folder));
	cr_assert_not_null(dir = out_dir_open(folder, &error), "%s", error);
	run_build_to(&run, dir,
		     "{ 'name': 't', 'stop': { 'when': 'time', 'after': '1ms' },"
		     " 'topology': { 'kind': 'star', 'hosts': 18, 'link': { 'delay': '20us' } },"
		     " 'tcp': { 'initial_rto': '70us' },"
		     " 'flows': [ { 'name': 'long', 'size': '2kB', 'pairs': [[16, 17]] },"
		     " { 'name': 'short', 'size': '1kB', 'count': 8, 'pairs': [[0, 1], [2, 3],"
		     " [4, 5], [6, 7], [8, 9], [10, 11], [12, 13], [14, 15]] } ] }");
	simulation_go(run.s, &options);
	cr_assert(out_dir_commit(dir, &error), "%s", error);
	run_free(&run);
	path = folder_join(folder, "flows.csv");
	cr_assert_not_null(text = input_read(path, 1 << 20, NULL));
	for (char *row = strchr(text, '\n') + 1; *row; row = strchr(row, '\n') + 1, next++) {
		int id = (int)strtol(row, NULL, 10);

		cr_expect_eq(id, (next + 1) % 9, "row %d is of flow %d", next, id);
		cr_expect_null(strstr(row, ",0,1,1,switch"), "not sent again: %s", row);
	}
	cr_expect_eq(next, 9);
	free(text);
	free(path);
	cr_expect(folder_remove(folder));
}

Test(flows, warmup)
{
	uint64_t measured = 0, after = 0;
	const struct flow_class *classes;
	size_t class_count;
	struct journal j;

	journal_run(&j, END_ALL_DONE,
		    "'stop': { 'warmup': '10ms' }, 'flows': [ { 'size': '1kB', 'arrival': "
		    "{ 'poisson_load': 0.001 }, 'count': 1000 } ]");
	classes = flows_classes(j.run.s->flows, &class_count);
	for (size_t c = 0; c < class_count; c++)
		measured += classes[c].finished;
	for (size_t i = 0; i < j.count; i++)
		after += j.flows[i].sent >= 10 * PS_PER_MS;
	cr_expect_eq(measured, after);
	cr_expect(after > 300 && after < 900, "%lu", (unsigned long)after);
	cr_expect_eq(flows_finished(j.run.s->flows), 1000);
	journal_free(&j);
}

/* "stop": "jobs_done": no flow starts after the last job, and the run ends. The job
 * computes 10 x 1 ms and starts after 1 us of controller latency. */
Test(flows, stop_with_jobs)
{
	struct journal j;
	sim_time last = 0;

	journal_run(&j, END_ALL_DONE,
		    "'jobs': [ { 'model': { 'layers': [ { 'gradient': '4B', 'forward': '1ms' } ] },"
		    " 'workers': 1, 'iterations': 10, 'all_reduce': 'ring' } ],"
		    "'flows': [ { 'size': '1kB', 'arrival': { 'poisson_load': 0.01 },"
		    " 'stop': 'jobs_done' } ]");
	for (size_t i = 0; i < j.count; i++)
		last = j.flows[i].sent > last ? j.flows[i].sent : last;
	cr_expect_leq(last, 10 * PS_PER_MS + PS_PER_US);
	cr_expect_geq(last, 9 * PS_PER_MS);
	cr_expect_eq(j.count, flows_finished(j.run.s->flows));
	journal_free(&j);
}

static int by_all(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct begun));
}

#define DRAWN                                                                                      \
	"'flows': [ { 'size': { 'cdf': 'websearch' }, 'arrival': { 'poisson_load': 0.4 },"         \
	" 'count': 150 } ]"

/* Equal seeds give equal flows, other seeds other ones. Independent streams: a group
 * of jobs, or of later flows, changes nothing of them. */
Test(flows, streams)
{
	static const char *const others[] = {
		DRAWN,
		"'seed': 2, " DRAWN,
		"'jobs': [ { 'model': { 'layers': [ { 'gradient': '4MB', 'forward': '1ms' } ] },"
		" 'workers': 1, 'iterations': 3, 'all_reduce': 'ring' } ], " DRAWN,
	};
	struct journal j, other;

	journal_run(&j, END_ALL_DONE, DRAWN);
	qsort(j.flows, j.count, sizeof(*j.flows), by_all);
	for (int i = 0; i < 3; i++) {
		bool equal;

		journal_run(&other, END_ALL_DONE, others[i]);
		cr_assert_eq(other.count, 150);
		qsort(other.flows, 150, sizeof(*other.flows), by_all);
		equal = !memcmp(j.flows, other.flows, 150 * sizeof(*j.flows));
		cr_expect_eq(equal, i != 1, "variant %d", i);
		if (i == 0)
			cr_expect_eq(j.run.s->sim.digest, other.run.s->sim.digest);
		journal_free(&other);
	}
	journal_free(&j);
}

/* Jobs that use the network delay packets but choose no flow: the same pairs and
 * sizes with a ring job beside them. */
Test(flows, beside_a_ring)
{
	struct journal j, other;

	journal_run(&j, END_ALL_DONE, DRAWN);
	journal_run(&other, END_ALL_DONE,
		    "'jobs': [ { 'model': { 'layers': [ { 'gradient': '4MB' } ] },"
		    " 'workers': 16, 'iterations': 3, 'all_reduce': 'ring' } ], " DRAWN);
	cr_assert_eq(j.count, 150);
	for (size_t i = 0; i < j.count; i++)
		j.flows[i].sent = 0;
	qsort(j.flows, j.count, sizeof(*j.flows), by_all);
	for (size_t i = 0, n = 0; i < other.count; i++) {
		if (other.flows[i].size == 500000 &&
		    !bsearch(&other.flows[i], j.flows, j.count, sizeof(*j.flows), by_all))
			continue; /* an edge of the ring */
		other.flows[i].sent = 0;
		n += bsearch(&other.flows[i], j.flows, j.count, sizeof(*j.flows), by_all) != NULL;
		if (i + 1 == other.count)
			cr_expect_eq(n, 150);
	}
	journal_free(&j);
	journal_free(&other);
}

/* --- what a user may get wrong --- */

#define ONE_FLOW(rest)                                                                             \
	"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 }, 'flows': [ { " rest " } ] }"

Test(flows, mistakes)
{
	cr_expect_eq(run_mistakes("no host 4", ONE_FLOW("'size': '1MB', 'pairs': [[0, 4]]")), 1);
	cr_expect_eq(run_mistakes("to itself", ONE_FLOW("'size': '1MB', 'pairs': [[2, 2]]")), 1);
	cr_expect_eq(run_mistakes("fan_in", ONE_FLOW("'size': '1MB', 'pairs': 'incast'")), 1);
	cr_expect_eq(run_mistakes("do not fit",
				  ONE_FLOW("'size': '1MB', 'pairs': 'incast', 'fan_in': 4")),
		     1);
	cr_expect_eq(run_mistakes("count", ONE_FLOW("'size': '1MB', 'pairs': 'uniform'")), 1);
	cr_expect_eq(run_mistakes("needs an end",
				  ONE_FLOW("'size': '1MB', 'arrival': { 'poisson_load': 1 }")),
		     1);
	cr_expect_eq(run_mistakes("/flows/0/size/cdf",
				  ONE_FLOW("'count': 1, 'size': { 'cdf': 'websaerch' }")),
		     1);
	cr_expect_eq(run_mistakes("/flows/0/arrival/trace",
				  ONE_FLOW("'arrival': { 'trace': '/nowhere.csv' }")),
		     1);
	cr_expect_eq(run_mistakes("nothing ends a run",
				  ONE_FLOW("'size': 'endless', 'pairs': [[0, 3]]")),
		     1);
	cr_expect_eq(run_mistakes("ever more", ONE_FLOW("'size': 'endless', 'stop': 'never', "
							"'count': 5, 'arrival': { "
							"'poisson_load': 1 }")),
		     2);
	cr_expect_eq(run_mistakes("have no size", ONE_FLOW("'size': 'endless', 'size_scale': 2, "
							   "'pairs': [[0, 3]]")),
		     2);
	cr_expect_eq(run_mistakes("needs \"size\"", ONE_FLOW("'pairs': [[0, 3]]")), 1);
	cr_expect_eq(run_mistakes("", ONE_FLOW("'size': '1MB', 'pairs': [[0, 3]]")), 0);
}

/* A trace that names hosts which do not exist is found by the check, with the row. */
Test(flows, trace_of_another_network)
{
	char path[] = INASIM_WORK_DIR "/inasim_flows_XXXXXX";

	write_trace(path, 50, 100);
	cr_expect_eq(
		run_mistakes("hosts are 0 to 3", ONE_FLOW("'arrival': { 'trace': '%s' }"), path),
		1);
	unlink(path);
}

/* --- endless flows --- */

/* Alone at the rate of the link, as many whole packets have arrived as there was time for. */
Test(flows, endless_alone)
{
	const sim_time end = 3 * PS_PER_MS;
	const struct flow *flow;
	struct run run;
	bytes delivered;

	run_build(&run, "{ 'name': 't', 'stop': { 'when': 'time', 'after': '3ms' }, 'topology': {"
			" 'kind': 'star', 'hosts': 2, 'switch': { 'pause': true }, 'host': {"
			" 'nic_jitter': '0s' } }, 'flows': [ { 'transport': 'roce', 'size':"
			" 'endless', 'pairs': [[0, 1]] } ] }");
	run_to(&run, END_TIME);
	flow = run.s->flows->all[0];
	delivered = connection_delivered(&flow->conn);
	cr_expect_leq(connection_ideal(&flow->conn, delivered), end);
	cr_expect_gt(connection_ideal(&flow->conn, delivered + (bytes)run.s->scenario->roce.mtu),
		     end);
	cr_expect_eq(run.s->flows->groups[0].stats.delivered, delivered);
	cr_expect_eq(flows_measured_open(run.s->flows), 0);
	run_free(&run);
}

/* Nothing waits for them, neither for those that run nor for those that are to start: the run ends
 * with the last of the others. They are not lost, and in no class of sizes. */
Test(flows, endless_beside_others)
{
	const struct flow_class *classes;
	uint64_t in_classes = 0;
	size_t class_count;
	struct run run;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 6 }, 'flows': ["
			" { 'size': 'endless', 'pairs': [[0, 1], [2, 1]] },"
			" { 'size': 'endless', 'pairs': [[4, 5]], 'arrival': { 'at': '5s' } },"
			" { 'size': '1MB', 'pairs': [[3, 1], [4, 5]] } ] }");
	run_to(&run, END_ALL_DONE);
	classes = flows_classes(run.s->flows, &class_count);
	for (size_t c = 0; c < class_count; c++)
		in_classes += classes[c].count;
	cr_expect_eq(in_classes, 2);
	cr_expect_eq(flows_finished(run.s->flows), 2);
	cr_expect_eq(flows_endless(run.s->flows), 2);
	cr_expect_eq(flows_active(run.s->flows), 2);
	cr_expect_eq(flows_group(run.s->flows, 0)->endless, 2);
	cr_expect_eq(flows_group(run.s->flows, 0)->throughput.n, 2);
	cr_expect_eq(flows_lost(run.s->flows, NULL, 0), 0);
	run_free(&run);
}

/* --- memory --- */

/* A finished flow leaves three numbers behind (24 bytes, up to 60 while an array is
 * doubled), for a million: 60 MB beside what runs; the limit asked for is 500 MB.
 * 100,000 flows must stay below 10 MB. With sanitizers memory says nothing. */
static void many(int count, size_t limit)
{
	size_t before = peak_rss_bytes(), after;
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 64 }, 'flows': [ {"
		  " 'size': '100B', 'arrival': { 'poisson_load': 0.2 }, 'count': %d } ] }",
		  count);
	run_to(&run, END_ALL_DONE);
	after = peak_rss_bytes();
	printf("%d flows: %zu kB\n", count, (after - before) / 1024);
	cr_expect_eq(flows_finished(run.s->flows), (uint64_t)count);
	cr_expect_leq(tcp_open_count(run.s->tcp), 500);
#if !defined(__SANITIZE_ADDRESS__)
	cr_expect_leq(after - before, limit);
#else
	(void)limit;
#endif
	run_free(&run);
}

Test(flows, memory_of_100000)
{
	many(100000, 10 << 20);
}

Test(flows, memory_of_a_million)
{
#if defined(__SANITIZE_ADDRESS__)
	cr_skip("memory says nothing under a sanitizer");
#endif
	if (!getenv("NIGHTLY"))
		cr_skip("100,000 tell what a flow takes");
	many(1000000, (size_t)100 << 20);
}
