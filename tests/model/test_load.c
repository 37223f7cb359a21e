/* Load of jobs: what Poisson arrivals offer, what schemes really send, and which
 * jobs and flows are measured. */
#include "model_run.h"

#include "workload/jobs/jobs_parts.h"

#include <math.h>

/* --- offered --- */

/* Jobs of 2 to 6 workers, each training one of two networks, for a second on 16 hosts
 * at 10 Gbps. */
#define OFFER                                                                                      \
	"{ 'name': 't', 'seed': %d, 'topology': { 'kind': 'fat-tree', 'k': 4 },"                   \
	" 'stop': { 'when': 'time', 'after': '1s' },"                                              \
	" 'jobs': [ { 'all_reduce': '%s', 'workers': { 'min': 2, 'max': 6 }, 'iterations': 3,"     \
	"             'model': { 'mix': [ { 'model': 'vgg16' },"                                   \
	"                                 { 'model': 'resnet50', 'weight': 3 } ] },"               \
	"             'gradient_scale': 0.001, 'arrival': { 'poisson_load': 0.4 } } ] }"

/* The ring bytes X of the jobs that arrive in time T are a compound Poisson sum: its
 * variance is the expected sum of X^2, which the sum of X^2 estimates. The load must lie
 * in the interval of four standard deviations, and the interval must be narrow. */
Test(load, arrivals_offer_the_ring_bytes_asked_for)
{
	for (int seed = 1; seed <= 5; seed++) {
		double sum = 0, squares = 0, whole = 16 * 10e9 / 8, sd;
		struct run run;

		run_build(&run, OFFER, seed, "switchml");
		for (size_t i = 0; i < run.s->jobs->report.count; i++) {
			const struct job *job = &run.s->jobs->jobs[i];
			double ring = 2.0 * (job->workers - 1) * (double)job->dnn->gradient_total *
				      (double)job->iterations;

			sum += ring;
			squares += ring * ring;
			cr_assert_lt(job->arrival, PS_PER_S);
		}
		sd = sqrt(squares);
		cr_expect_lt(sd / sum, 0.05);
		cr_expect_float_eq(sum / whole, 0.4, 4 * sd / whole, "%g +- %g", sum / whole,
				   sd / whole);
		run_free(&run);
	}
}

/* E[n] = 4: 2 (n - 1) = 6 by ring, n = 4 where switches add, 2 n = 8 with servers. */
Test(load, both_definitions)
{
	static const struct {
		const char *scheme;
		double own;
	} cases[] = { { "ring", 0.4 },        { "switchml", 0.4 * 4 / 6 },
		      { "ps", 0.4 * 8 / 6 },  { "ps_stream", 0.4 * 8 / 6 },
		      { "atp", 0.4 * 5 / 6 }, { "esa", 0.4 * 4 / 6 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run run;
		struct offered offered;

		run_build(&run, OFFER, 1, cases[i].scheme);
		offered = scenario_offered(&run.scenario);
		cr_expect_float_eq(offered.jobs_ring, 0.4, 1e-12);
		cr_expect_float_eq(offered.jobs_own, cases[i].own, 1e-12, "%s", cases[i].scheme);
		cr_expect_eq(offered.flows, 0);
		run_free(&run);
	}
}

/* --- what is sent --- */

static bool count_payload(struct tap *tap, uint32_t host, struct packet *packet)
{
	(void)host;
	if (packet->kind == PACKET_DATA)
		*(uint64_t *)tap->owner += packet->payload;
	return true;
}

/* Of 32 elements; `payload` is the slot's number there. */
static bool count_packets(struct tap *tap, uint32_t host, struct packet *packet)
{
	(void)host, (void)packet;
	*(uint64_t *)tap->owner += 128;
	return true;
}

static struct job_bytes bytes_of(const struct run *run, uint32_t gpus)
{
	const struct job_group_conf *group = scenario_jobs(&run->scenario);

	return job_group_bytes(group, gpus, run->scenario.schemes[job_group_reduces(group)],
			       &run->scenario.topology);
}

/* One job of four workers and 64 kB, two iterations; bytes sent, without loss, are those
 * of job_group_bytes(). With GPUs as ranks, of which there are 4 in a machine, those that leave
 * machines. */
#define INSIDE(all_reduce) "'inside': 'ring', 'all_reduce': '" all_reduce "'"
Test(load, own_bytes_are_what_hosts_send)
{
	static const char *const jobs[] = {
		"'all_reduce': 'ring'",
		INSIDE("ring"),
		INSIDE("halving_doubling"),
		INSIDE("double_tree"),
		"'all_reduce': 'ps'",
		"'all_reduce': 'ps', 'servers': { 'placement': 'workers' }",
		"'all_reduce': 'ps', 'servers': 2",
		"'all_reduce': 'ps_stream'",
		"'all_reduce': 'ps_stream', 'servers': { 'placement': 'workers', 'count': 2 }",
		"'all_reduce': 'panama'", /* runs as a ring */
	};

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		uint32_t gpus = strstr(jobs[i], "inside") ? 4 : 1;
		uint64_t payload = 0;
		struct job_bytes job;
		struct run run;
		struct tap tap;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 9,"
			  "  'host': { 'gpus': { 'count': %u, 'rate': '1Tbps' } } },"
			  " 'jobs': [ { 'workers': 4, 'iterations': 2, %s,"
			  "  'model': { 'layers': [ { 'gradient': '64KB' } ] } } ] }",
			  gpus, jobs[i]);
		if (strstr(jobs[i], "ps_stream"))
			tap_in(&tap, &run, "ps_stream", count_packets, &payload);
		else
			tap_in(&tap, &run, "tcp", count_payload, &payload);
		run_to(&run, END_ALL_DONE);
		job = bytes_of(&run, gpus);
		cr_expect_float_eq((double)payload, job.own, 1e-6, "%s: %lu", jobs[i], payload);
		cr_expect_eq(job.ring, 2. * 2 * 3 * 64000);
		run_free(&run);
	}
}

/* So do jobs that shard, have experts, or are pipelines. By all-reduces of switches, their packets
 * come on top: 4 x 64 kB in an iteration. */
#define MORE(all_reduce, more) "'all_reduce': '" all_reduce "', 'overlap': 'layers', " more
#define STAGES(stages)         "'pipeline': { 'stages': " #stages ", 'activations': '32KB' }"
Test(load, own_bytes_of_all_exchanges)
{
	static const struct {
		const char *job;
		double in_switches; /* of an iteration */
	} cases[] = {
		{ MORE("ring", "'sharding': 'optimizer'"), 0 },
		{ MORE("ring", "'sharding': 'full'"), 0 },
		{ MORE("halving_doubling", "'sharding': 'full'"), 0 },
		{ MORE("switchml", "'sharding': 'full'"), 4 * 64000 },
		{ MORE("ps", "'sharding': 'full', 'reduce_scatter': 'shards'"), 3 * 64000 },
		{ MORE("ps", "'sharding': 'full', 'reduce_scatter': 'sharp'"), 4 * 64000 },
		{ MORE("ring", "'sharding': 'full', 'all_gather': 'shards'"), 2 * 64000 },
		{ MORE("panama", "'sharding': 'optimizer'"), 0 }, /* an all-reduce by ring */
		{ MORE("ring", "'pipeline': { 'microbatches': 4 }"), 0 },
		{ MORE("ring", STAGES(2)), 0 },
		{ MORE("ring", STAGES(2) ", 'sharding': 'optimizer'"), 0 },
		{ MORE("switchml", STAGES(4)), 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *tokens = strstr(cases[i].job, "stages") ? "" : ", 'all_to_all': '64KB'";
		uint64_t payload = 0;
		struct run run;
		struct tap tap;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 },"
			  " 'jobs': [ { 'workers': 4, 'iterations': 2, %s, 'model': { 'layers': ["
			  "  { 'gradient': '16KB' }, { 'gradient': '16KB' %s },"
			  "  { 'gradient': '16KB' }, { 'gradient': '16KB' } ] } } ] }",
			  cases[i].job, tokens);
		tap_in(&tap, &run, "tcp", count_payload, &payload);
		run_to(&run, END_ALL_DONE);
		cr_expect_float_eq((double)payload + 2 * cases[i].in_switches,
				   bytes_of(&run, 1).own, 1e-6, "%s: %lu", cases[i].job, payload);
		run_free(&run);
	}
}

/* Where switches add all up, each worker's gradient crosses its link once. */
Test(load, a_gradient_a_worker_where_switches_add)
{
	const struct collective_memory *memory;
	struct run run;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 },"
			" 'jobs': [ { 'workers': 4, 'iterations': 2, 'all_reduce': 'switchml',"
			"  'model': { 'layers': [ { 'gradient': '64KB' } ] } } ],"
			" 'schemes': { 'switchml': { 'elements_per_packet': 32 } } }");
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(scheme_ops(SCHEME_switchml)->memory(run.s->schemes[SCHEME_switchml], &memory),
		     1);
	cr_expect_eq(memory[0].stats.packets_aggregated * 32 * 4, 4 * 2 * 64000);
	run_free(&run);
}

/* --- the measured window --- */

/* Jobs 1 ms apart on their own hosts, 2 ms of computing each; flows of 1 MB every ms. */
#define WINDOW                                                                                     \
	"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 16 }, 'stop': { %s },"              \
	" 'flows': [ { 'size': '1MB', 'arrival': { 'poisson_load': 0.1 } } ], 'jobs': ["           \
	" { 'name': 'a', 'arrival': { 'at': '1ms' }, " ONE " },"                                   \
	" { 'name': 'b', 'arrival': { 'at': '2ms' }, " ONE " },"                                   \
	" { 'name': 'c', 'arrival': { 'at': '3ms' }, " ONE " },"                                   \
	" { 'name': 'd', 'arrival': { 'at': '4ms' }, " ONE " } ] }"
#define ONE                                                                                        \
	"'workers': 2, 'all_reduce': 'ring', 'iterations': 2, 'model': { 'layers': ["              \
	"{ 'gradient': '4KB', 'forward': '500us', 'backward': '500us' } ] }"

struct window_case {
	const char *stop;
	enum end_reason end;
	size_t count, finished; /* measured jobs */
	const char *first;
};

static const struct window_case window_cases[] = {
	{ "'when': 'time', 'after': '20ms'", END_TIME, 4, 4, "a" },
	/* the borders: from 2 ms on, and before 4 ms */
	{ "'when': 'time', 'after': '20ms', 'warmup': '2ms'", END_TIME, 3, 3, "b" },
	{ "'when': 'time', 'after': '20ms', 'warmup': '2ms', 'window': '2ms'", END_TIME, 2, 2,
	  "b" },
	/* cut: c, from 3 to 5 ms, is counted but not averaged */
	{ "'when': 'time', 'after': '4500us', 'warmup': '2ms', 'window': '2ms'", END_TIME, 2, 1,
	  "b" },
	/* c is waited for; d, which comes later, is not */
	{ "'when': 'measured_done', 'after': '20ms', 'warmup': '2ms', 'window': '2ms'",
	  END_MEASURED_DONE, 2, 2, "b" },
	{ "'when': 'measured_done', 'after': '4500us', 'warmup': '2ms', 'window': '2ms'",
	  END_TIME_LIMIT, 2, 1, "b" },
};

static void expect_window(const struct window_case *c)
{
	const struct jobs_counts *counts;
	const struct flow_class *classes;
	size_t iterations, class_count;
	uint64_t measured = 0;
	struct run run;

	run_build(&run, WINDOW, c->stop);
	run_to(&run, c->end);
	counts = &jobs_report(run.s->jobs)->measured;
	cr_expect_eq(counts->count, c->count, "%s: %zu", c->stop, counts->count);
	cr_expect_eq(counts->finished, c->finished, "%s: %zu", c->stop, counts->finished);
	cr_expect_str_eq(jobs_report(run.s->jobs)->records[0].group->name, c->first);
	iterations = jobs_report(run.s->jobs)->duration_count;
	/* a measured job that is cut leaves its finished iterations */
	cr_expect_geq(iterations, 2 * c->finished);
	cr_expect_leq(iterations, 2 * c->finished + (c->count - c->finished));
	classes = flows_classes(run.s->flows, &class_count);
	for (size_t k = 0; k < class_count; k++)
		measured += classes[k].count;
	cr_expect_gt(measured, 0);
	cr_expect_eq(measured < flows_started(run.s->flows),
		     run.scenario.stop.warmup || run.scenario.stop.window);
	if (c->end == END_MEASURED_DONE) {
		cr_expect_eq(flows_measured_open(run.s->flows), 0);
		cr_expect_lt(jobs_report(run.s->jobs)->finished, 4);
		cr_expect_lt(run.s->sim.now, 6 * PS_PER_MS);
	}
	run_free(&run);
}

Test(load, what_is_measured)
{
	for (size_t i = 0; i < sizeof(window_cases) / sizeof(window_cases[0]); i++)
		expect_window(&window_cases[i]);
}

/* ATP's server answers each sum once, ESA's gets none: packets that hosts send a chunk. */
Test(load, payload_of_schemes_whose_servers_answer)
{
	static const struct {
		const char *scheme;
		uint64_t copies;
	} cases[] = { { "switchml", 4 }, { "atp", 5 }, { "esa", 4 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t packets = 0;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 9 },"
			  " 'schemes': { '%s': { 'memory': '64MB', 'elements_per_packet': 256 } },"
			  " 'jobs': [ { 'workers': 4, 'all_reduce': '%s',"
			  "  'model': { 'layers': [ { 'gradient': '102400B' } ] } } ] }",
			  cases[i].scheme, cases[i].scheme);
		run_to(&run, END_ALL_DONE);
		for (uint32_t h = 0; h < run.s->topo.net.hosts; h++)
			packets += run.s->topo.net.ports[h].packets;
		cr_expect_eq(packets, 100 * cases[i].copies, "%s", cases[i].scheme);
		run_free(&run);
	}
}
