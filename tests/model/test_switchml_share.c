/* SwitchML shared by many jobs: packet formats, the split of switch memory, admission, timeouts. */
#include "test_switchml.h"

#define X    160e-9           /* s on the wire of a 180-byte frame at 10 Gbps */
#define RTT0 (2 * X + 2.5e-6) /* of the star: 1 us a link, 500 ns the switch */
#define MS   1e-3

/* --- packet formats --- */

/* TAT(|U|) = 8 |U| / (B g) with the goodput g = payload / (frame + 20) of each format
 * (analytic-models, section 2), within 1 % for the first and last round trip; the values of a slot
 * take 2 k 4 bytes, with k what the switch adds. Against s19, MTU-sized packets save 32.9 %
 * (section 5.5 measured 31.6 %). */
Test(switchml_formats, goodput)
{
	static const struct {
		const char *name;
		double payload, frame;
		uint64_t slot_bytes;
	} cases[] = {
		{ "s19", 128, 180, 256 },        { "s19-mtu", 1464, 1516, 256 },
		{ "udp-32", 128, 184, 256 },     { "udp-64", 256, 312, 512 },
		{ "udp-256", 1024, 1080, 2048 },
	};
	double s19 = 0;

	for (unsigned gbps = 10; gbps <= 100; gbps *= 10) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			double goodput = cases[i].payload / (cases[i].frame + 20);
			double wanted = 8 * 10e6 / (gbps * 1e9 * goodput), t;
			struct bench bench;
			char scheme[96];

			snprintf(scheme, sizeof(scheme),
				 "\"format\": \"%s\", \"slots\": 512, \"memory\": \"2MB\"",
				 cases[i].name);
			star(&bench, 4, gbps, "", scheme, 10000000);
			bench_run(&bench);
			cr_assert_eq(bench.s->end, END_ALL_DONE);
			t = tat(&bench, 0);
			printf("%s at %u Gbps: %.3f ms, %.4f of the closed form\n", cases[i].name,
			       gbps, t * 1e3, t / wanted);
			expect_near(t, wanted, 0.01, "TAT, case", (double)i);
			cr_expect_eq(bench.scheme->memory[0].used_max_bytes,
				     512 * cases[i].slot_bytes);
			/* what loads and estimates ask for */
			cr_expect_eq(switchml_conf_payload(bench.scheme->conf), cases[i].payload);
			cr_expect_eq(switchml_conf_frame(bench.scheme->conf), cases[i].frame);
			if (gbps == 10 && i == 0)
				s19 = t;
			if (gbps == 10 && i == 1)
				cr_expect_float_eq(1 - t / s19, 0.329, 0.002);
			bench_close(&bench);
		}
	}
}

/* Keys that replace parts of a format: 70 elements and 44 bytes of headers make frames of 324
 * bytes; the switch adds all 70 of them, or as many as it is told. */
Test(switchml_formats, replaced)
{
	static const struct {
		const char *scheme;
		uint32_t frame;
		uint64_t slot_bytes;
	} cases[] = {
		{ "\"format\": \"udp-256\", \"elements_per_packet\": 70, \"header\": 44", 324,
		  560 },
		{ "\"elements_per_packet\": 70, \"switch_elements\": 16", 332, 128 },
		{ "\"format\": \"s19-mtu\", \"switch_elements\": 366", 1516, 2928 },
		{ "\"format\": \"s19-mtu\", \"header\": 60", 1524, 256 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		star(&bench, 2, 10, "", cases[i].scheme, 1000);
		cr_expect_eq(bench.scheme->frame, cases[i].frame);
		cr_expect_eq(switchml_slot_bytes(bench.scheme->conf), cases[i].slot_bytes);
		bench_close(&bench);
	}
}

/* R-S19-2: TAT(s) = ceil(G / s) max(RTT0, s t), RTT0 = 2 t + 12.5 us with 10 us on the host. Below
 * the knee RTT0 / t it falls as 1/s, above it is flat: both levels and the points around the knee
 * within 3 %, for the smallest and the largest packets. */
Test(switchml_formats, pool_size_sweep)
{
	static const struct {
		const char *name;
		double wire, elements;
	} cases[] = { { "s19", 200, 32 }, { "udp-256", 1100, 256 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const double t = cases[i].wire * 0.8e-9, rtt0 = 2 * t + 12.5e-6, chunks = 20000;
		double knee = rtt0 / t;

		for (double part = 0.125; part <= 8; part *= sqrt(2)) {
			unsigned s = (unsigned)ceil(knee * part);
			double rtt = s * t > rtt0 ? s * t : rtt0;
			struct bench bench;
			char scheme[96];

			snprintf(scheme, sizeof(scheme),
				 "\"format\": \"%s\", \"slots\": %u, \"memory\": \"64MB\"",
				 cases[i].name, s);
			star(&bench, 4, 10, ", \"host\": {\"latency\": \"10us\"}", scheme,
			     (uint64_t)(chunks * cases[i].elements) * 4);
			bench_finish(&bench, 4 * (uint64_t)chunks);
			expect_near(tat(&bench, 0), ceil(chunks / s) * rtt, 0.03, cases[i].name, s);
			bench_close(&bench);
		}
	}
}

/* --- memory --- */

/* `count` jobs of two workers, each 100 chunks, that arrive together. */
static void share(struct bench *bench, unsigned count, const char *scheme)
{
	bench_open(bench,
		   "{\"name\": \"t\", \"cluster\": {\"controller_latency\": \"1ns\"}, "
		   "\"topology\": {\"kind\": \"star\", \"hosts\": 16, \"host\": {\"latency\": "
		   "\"10us\"}}, \"schemes\": {\"switchml\": {%s}}, \"jobs\": [{\"count\": %u, "
		   "\"workers\": 2, \"all_reduce\": \"switchml\", \"model\": {\"layers\": "
		   "[{\"gradient\": \"12800B\"}]}}]}",
		   scheme, count);
}

/* A split among J tenants: s = floor(memory / J / (2 k 4)) slots with the rule "memory", whatever
 * the number of jobs that are there; a tenant's part is reserved whole. Below the knee, G chunks
 * take TAT = ceil(G / s) RTT0 + ((G - 1) mod s) t exactly: the last leaves so much behind its
 * first. */
Test(switchml_tenants, slots_from_the_share)
{
	for (unsigned tenants = 1; tenants <= 8; tenants++) {
		unsigned s = 10000 / tenants / 256, jobs = tenants < 3 ? tenants : 3;
		struct bench bench;
		char scheme[96];

		snprintf(scheme, sizeof(scheme),
			 "\"memory\": \"10000B\", \"tenants\": %u, \"slots\": \"memory\"", tenants);
		share(&bench, jobs, scheme);
		bench.watch = true;
		sim_run(&bench.s->sim, 1); /* the jobs are admitted */
		for (unsigned j = 0; j < jobs; j++)
			cr_expect_eq(bench_job(&bench, j)->slots, s);
		cr_expect_eq(bench.scheme->memory[0].used_bytes, jobs * (10000 / tenants));
		bench_finish(&bench, jobs * 2 * 100);
		for (unsigned j = 0; j < jobs; j++)
			cr_expect_float_eq(jobs_report(bench.s->jobs)->records[j].communication,
					   ceil(100.0 / s) * (RTT0 + 10e-6) + 99 % s * X, 1e-9,
					   "%u tenants", tenants);
		bench_close(&bench);
	}
}

/* Without "memory" as rule: the bandwidth-delay product (12.82 us: 128 slots), at most the share;
 * or a number, whose rest of the share stays unused and taken. */
Test(switchml_tenants, other_rules)
{
	static const struct {
		const char *scheme;
		uint32_t slots;
		uint64_t used;
	} cases[] = {
		{ "\"memory\": \"1MB\"", 128, 128 * 256 },
		{ "\"memory\": \"1MB\", \"tenants\": 4", 128, 250000 },
		{ "\"memory\": \"1MB\", \"tenants\": 40", 64, 25000 },
		{ "\"memory\": \"1MB\", \"tenants\": 40, \"slots\": \"memory\"", 97, 25000 },
		{ "\"memory\": \"1MB\", \"tenants\": 40, \"slots\": 5", 5, 25000 },
		{ "\"memory\": \"32MB\", \"slots\": \"memory\"", 65536, 65536 * 256 },
		{ "\"memory\": \"1MB\", \"slots\": \"memory\"", 3906, 3906 * 256 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		share(&bench, 1, cases[i].scheme);
		sim_run(&bench.s->sim, 1);
		cr_expect_eq(bench_job(&bench, 0)->slots, cases[i].slots, "case %zu: %u", i,
			     bench_job(&bench, 0)->slots);
		cr_expect_eq(bench.scheme->memory[0].used_bytes, cases[i].used);
		bench_finish(&bench, 2 * 100);
		bench_close(&bench);
	}
}

/* Five jobs, two tenants: two at a time, however few slots each needs. */
Test(switchml_tenants, more_jobs_than_tenants)
{
	struct bench bench;
	double single;

	share(&bench, 5, "\"memory\": \"1MB\", \"tenants\": 2, \"slots\": 16");
	bench_finish(&bench, 5 * 2 * 100);
	single = jobs_report(bench.s->jobs)->records[0].communication;
	for (unsigned i = 0; i < 5; i++)
		cr_expect_lt(fabs(jobs_report(bench.s->jobs)->records[i].waiting - i / 2 * single),
			     10e-9);
	bench_close(&bench);
}

/* Room for two of four jobs, refusal instead of a queue: two run, two never; the run ends, in
 * order, and says so. One that comes when the first two are over finds their memory. */
Test(switchml_admission, refusal)
{
	struct bench bench;

	bench_open(
		&bench,
		"{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 16}, \"schemes\": "
		"{\"switchml\": {\"memory\": \"8192B\", \"slots\": 16, \"admission\": "
		"\"refuse\"}}, \"jobs\": [{\"count\": 4, \"workers\": 2, \"all_reduce\": "
		"\"switchml\", \"model\": {\"layers\": [{\"gradient\": \"12800B\"}]}}, "
		"{\"workers\": 2, \"all_reduce\": \"switchml\", \"arrival\": {\"at\": \"1ms\"}, "
		"\"model\": {\"layers\": [{\"gradient\": \"12800B\"}]}}]}");
	bench_finish_as(&bench, 3 * 2 * 100, END_REFUSED);
	cr_expect_eq(jobs_report(bench.s->jobs)->count, 5);
	cr_expect_eq(jobs_report(bench.s->jobs)->finished, 3);
	cr_expect_eq(jobs_report(bench.s->jobs)->refused, 2);
	cr_expect_eq(jobs_progress(bench.s->jobs), 1);
	for (unsigned i = 0; i < 3; i++)
		cr_expect_lt(jobs_report(bench.s->jobs)->records[i].waiting,
			     2e-6); /* the controller */
	bench_close(&bench);
}

/* The report says of a refused job why it was refused, and what the other one waits for. */
Test(switchml_admission, while_another_runs)
{
	struct bench bench;
	char *text = NULL;
	size_t length = 0;
	FILE *to = open_memstream(&text, &length);

	bench_open(
		&bench,
		"{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 4}, \"schemes\": "
		"{\"switchml\": {\"memory\": \"4096B\", \"slots\": 16, \"admission\": "
		"\"refuse\"}}, \"jobs\": [{\"workers\": 2, \"all_reduce\": \"switchml\", "
		"\"model\": {\"layers\": [{\"gradient\": \"128MB\"}]}}, {\"workers\": 2, "
		"\"all_reduce\": \"switchml\", \"arrival\": {\"at\": \"1ms\"}, \"model\": "
		"{\"layers\": [{\"gradient\": \"12800B\"}]}}], \"stop\": {\"after\": \"2ms\"}}");
	bench_run(&bench);
	cr_expect_eq(bench.s->end, END_TIME_LIMIT);
	cr_expect_eq(jobs_report(bench.s->jobs)->refused, 1);
	simulation_report(bench.s, to);
	fclose(to);
	cr_expect(strstr(text, "job 0"));
	cr_expect(strstr(text, "job 1 (job): refused: no switch memory"), "%s", text);
	free(text);
	bench_close(&bench);
}

/* --- timeouts --- */

struct losses {
	uint64_t chunk;
	unsigned left;
};

/* Contributions of worker 0 to a chunk, so many times. */
static bool lose_contribution(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct losses *losses = bench->owner;

	if (node < bench->net->hosts || packet->source || packet->seq != losses->chunk ||
	    !losses->left)
		return false;
	losses->left--;
	return true;
}

/* One slot, so one packet at a time: each loss costs the timeout of that moment. */
static double stop_and_wait(const char *scheme, unsigned chunks, uint64_t chunk, unsigned times)
{
	struct losses losses = { .chunk = chunk, .left = times };
	struct bench bench;
	double t;

	star(&bench, 2, 10, "", scheme, (uint64_t)chunks * 128);
	bench.lose = lose_contribution;
	bench.owner = &losses;
	bench_finish(&bench, 2 * chunks);
	cr_expect_eq(losses.left, 0);
	t = tat(&bench, 0);
	bench_close(&bench);
	return t;
}

/* The other worker's timer runs as well, without effect. With threshold 1 the timeout doubles at
 * the 2nd, the 5th and the 9th expiry: 1, 1, 2, 2, 2, 4 ms. */
Test(switchml_timeout, rules)
{
	const double rtts = 100 * RTT0, tiny = 1e-9;

	cr_expect_float_eq(stop_and_wait("\"slots\": 1", 100, 50, 1), rtts + 1 * MS, tiny);
	cr_expect_float_eq(stop_and_wait("\"slots\": 1", 100, 50, 6), rtts + 6 * MS, tiny);
	cr_expect_float_eq(stop_and_wait("\"slots\": 1, \"timeout_rule\": \"doubling\", "
					 "\"timeout_threshold\": 1",
					 100, 50, 6),
			   rtts + 12 * MS, tiny);
	/* 50 equal round trips: the estimate is RTT0, so the least counts, then twice it, ... */
	cr_expect_float_eq(stop_and_wait("\"slots\": 1, \"timeout_rule\": \"adaptive\", "
					 "\"timeout_min\": \"5us\"",
					 100, 50, 1),
			   rtts + 5e-6, tiny);
	cr_expect_float_eq(stop_and_wait("\"slots\": 1, \"timeout_rule\": \"adaptive\", "
					 "\"timeout_min\": \"5us\"",
					 100, 50, 4),
			   rtts + 15 * 5e-6, tiny);
	/* before the first sample: the first timeout */
	cr_expect_float_eq(stop_and_wait("\"slots\": 1, \"timeout_rule\": \"adaptive\", "
					 "\"timeout_min\": \"5us\"",
					 100, 0, 1),
			   rtts + 1 * MS, tiny);
}

/* The timer of the last packets, when nothing is sent any more: set earlier when the estimate falls
 * from the first timeout to the least. Four slots, the last contribution is lost. */
Test(switchml_timeout, last_packet)
{
	double t = stop_and_wait("\"slots\": 4, \"timeout_rule\": \"adaptive\", \"timeout_min\": "
				 "\"50us\"",
				 4, 3, 1);

	/* chunk 3 leaves 3 X after the start, is due 50 us later, and then takes a round trip; with
	 * estimates of 2.8 us and variances of half of that at first: RTO 2.82 + 5.64 < 50 us */
	cr_expect_float_eq(t, 3 * X + 50e-6 + RTT0, 1e-9, "%.9f", t);
}

/* Liveness and exactness under 1 % loss with every rule, spurious timeouts included; where timers
 * follow the round trip, losses cost less. */
Test(switchml_timeout, uniform_loss)
{
	static const char *const rules[] = {
		"\"slots\": 64",
		"\"slots\": 64, \"timeout_rule\": \"doubling\", \"timeout_threshold\": 20",
		"\"slots\": 64, \"timeout_rule\": \"adaptive\", \"timeout_min\": \"20us\"",
		"\"slots\": 64, \"timeout_rule\": \"adaptive\", \"timeout_min\": \"1us\"",
	};
	double t[4];

	for (size_t i = 0; i < 4; i++) {
		struct bench bench;

		bench_open(
			&bench,
			"{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 4, "
			"\"link\": {\"rate\": \"10Gbps\", \"loss\": 0.01}}, \"schemes\": "
			"{\"switchml\": {%s}}, \"jobs\": [{\"workers\": 4, \"all_reduce\": "
			"\"switchml\", \"model\": {\"layers\": [{\"gradient\": \"256000B\"}]}}]}",
			rules[i]);
		bench.watch = true;
		bench_finish(&bench, 4 * 2000);
		t[i] = tat(&bench, 0);
		printf("%s: %.3f ms\n", rules[i], t[i] * 1e3);
		bench_close(&bench);
	}
	cr_expect_gt(t[1], t[0]); /* waits longer and longer */
	cr_expect_lt(t[2], t[0] / 5);
}

/* A result is a sum, so it holds the timeouts of all workers; as samples of each other they would
 * grow to many seconds from some 5 % of loss on. Here no sample holds one: the estimate is a round
 * trip, RTT0 and at most s packets each at the NIC of the slowest worker and at a port of the
 * switch; over two racks twice the links. 20 MB of 8 workers took 1997 s before. */
static void estimates_are_round_trips(struct bench *bench, uint32_t node,
				      const struct packet *packet)
{
	const struct switchml *job = bench_job(bench, 0);

	(void)node, (void)packet;
	for (uint32_t w = 0; job && w < job->base.spec.workers; w++)
		cr_assert_lt(switchml_worker(job, w)->rto.srtt, 50 * PS_PER_US);
}

Test(switchml_timeout, samples_hold_no_timeouts)
{
	static const char *const topologies[] = {
		"\"kind\": \"star\", \"hosts\": 8",
		"\"kind\": \"leaf-spine\", \"leaves\": 2, \"spines\": 1, \"hosts_per_leaf\": 4",
	};

	for (size_t i = 0; i < 2; i++) {
		struct bench bench;

		bench_open(&bench,
			   "{\"name\": \"t\", \"topology\": {%s, \"link\": {\"loss\": 0.05}}, "
			   "\"schemes\": {\"switchml\": {\"slots\": 64, \"timeout_rule\": "
			   "\"adaptive\"}}, \"jobs\": [{\"workers\": 8, \"all_reduce\": "
			   "\"switchml\", \"model\": {\"layers\": [{\"gradient\": \"1MB\"}]}}]}",
			   topologies[i]);
		bench.after = estimates_are_round_trips;
		bench_finish(&bench, 8 * 7813);
		printf("%s: %.3f ms\n", topologies[i], tat(&bench, 0) * 1e3);
		bench_close(&bench);
	}
}
