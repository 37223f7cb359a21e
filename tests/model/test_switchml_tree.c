/* SwitchML over trees of switches, and switch memory. One switch: test_switchml.c. */
#include "test_switchml.h"

#include "net/outage.h"

/* Leaves, spines, hosts per leaf; `topology` and `scheme` add members; one job with
 * `workers` (a number or a list of hosts). */
static void leaf_spine(struct bench *bench, const char *topology, const char *scheme,
		       const char *workers, uint64_t size)
{
	bench_open(bench,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", %s}, \"schemes\": "
		   "{\"switchml\": {%s}}, "
		   "\"jobs\": [{\"workers\": %s, \"all_reduce\": \"switchml\", "
		   "\"model\": {\"layers\": [{\"gradient\": \"%" PRIu64 "B\"}]}}]}",
		   topology, scheme, workers, size);
}

static void fat_tree(struct bench *bench, const char *topology, const char *scheme,
		     const char *workers, unsigned seed, uint64_t size)
{
	bench_open(bench,
		   "{\"name\": \"t\", \"seed\": %u, \"topology\": {\"kind\": \"fat-tree\", \"k\": "
		   "4 %s}, "
		   "\"schemes\": {\"switchml\": {%s}}, \"jobs\": [{\"workers\": %s, "
		   "\"all_reduce\": \"switchml\", "
		   "\"model\": {\"layers\": [{\"gradient\": \"%" PRIu64 "B\"}]}}]}",
		   seed, topology, scheme, workers, size);
}

/* Loss-free (I5): n G packets up and n G down on host links, and exactly one packet
 * per chunk in each direction on every link between two switches of the tree; none
 * on any other link. */
static void expect_one_per_chunk(struct bench *bench, unsigned n, uint64_t chunks,
				 unsigned inner_links)
{
	const struct network *net = bench->net;
	uint64_t host_up = 0, host_down = 0;
	unsigned inner = 0;

	for (uint32_t p = 0; p < net->port_count; p++) {
		uint64_t packets = net->ports[p].packets;

		if (p < net->hosts)
			host_up += packets;
		else if (net->ports[p].to_host)
			host_down += packets;
		else if (packets) {
			cr_expect_eq(packets, chunks);
			inner++;
		}
	}
	cr_expect_eq(host_up, n * chunks);
	cr_expect_eq(host_down, n * chunks);
	cr_expect_eq(inner, 2 * inner_links, "%u inner directions", inner);
	cr_expect_eq(bench->multicasts, chunks); /* by the root */
	cr_expect_eq(bench->unicasts, 0);
	cr_expect_eq(bench->resends, 0);
}

/* Two racks: both leaves reduce, one spine is the root. TAT = G t + t + RTT of the
 * two levels: 3 more transmissions, 4 delays and 3 pipelines in all. */
Test(switchml_tree, two_levels_without_loss)
{
	struct bench bench;

	leaf_spine(&bench, "\"leaves\": 2, \"spines\": 3, \"hosts_per_leaf\": 4", "", "8", 1280000);
	bench.watch = false;
	bench_finish(&bench, 8 * 10000);
	expect_one_per_chunk(&bench, 8, 10000, 2);
	expect_near(tat(&bench, 0), 10003 * 160e-9 + 5.5e-6, 1e-9, "TAT, s", 8);
	bench_close(&bench);
}

/* A job inside a rack stays below its leaf. */
Test(switchml_tree, one_rack_uses_its_leaf_only)
{
	struct bench bench;

	leaf_spine(&bench, "\"leaves\": 2, \"spines\": 2, \"hosts_per_leaf\": 4", "",
		   "[4, 5, 6, 7]", 128000);
	bench_finish(&bench, 4 * 1000);
	expect_one_per_chunk(&bench, 4, 1000, 0);
	cr_expect_eq(bench.scheme->memory[0].used_max_bytes, 0);
	cr_expect_gt(bench.scheme->memory[1].used_max_bytes, 0);
	bench_close(&bench);
}

/* Three levels, k = 4: 16 workers below 8 edges, 4 aggregation switches and a core;
 * then the hosts 0..5 (3 edges, 2 pods), and a job inside one pod (2 edges). */
Test(switchml_tree, three_levels_without_loss)
{
	static const struct {
		const char *workers;
		unsigned n, inner;
	} cases[] = { { "16", 16, 12 },
		      { "[0, 1, 2, 3, 4, 5]", 6, 5 },
		      { "[0, 2]", 2, 2 },
		      { "[14, 15]", 2, 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		fat_tree(&bench, "", "\"slots\": 64", cases[i].workers, 1, 128 * 200);
		bench.watch = true;
		bench_finish(&bench, cases[i].n * UINT64_C(200));
		expect_one_per_chunk(&bench, cases[i].n, 200, cases[i].inner);
		bench_close(&bench);
	}
}

/* One child below every leaf (the corner case n = 1: the first contribution is the
 * sum), with odd sizes, many uses of each version, and losses. */
Test(switchml_tree, one_child_below_a_switch)
{
	for (unsigned loss = 0; loss < 2; loss++) {
		struct bench bench;

		leaf_spine(&bench,
			   loss ? "\"leaves\": 3, \"spines\": 1, \"hosts_per_leaf\": 2, \"link\": "
				  "{\"loss\": 0.05}"
				: "\"leaves\": 3, \"spines\": 1, \"hosts_per_leaf\": 2",
			   "\"slots\": 4, \"retransmission_timeout\": \"50us\"", "[0, 2, 4]",
			   128 * 101 + 4);
		bench.watch = true;
		bench_finish(&bench, 3 * 102);
		if (!loss)
			expect_one_per_chunk(&bench, 3, 102, 3);
		bench_close(&bench);
	}
}

/* n = 1 at a root, which jobs.c never asks for (a job alone needs no network), by
 * the scheme's own interface: chunks of two tensors come back, versions alternate. */
static void count_done(void *owner, uint32_t worker, uint64_t tensor)
{
	uint64_t *done = owner;

	cr_assert_eq(worker, 0);
	cr_assert_eq(tensor, *done);
	(*done)++;
}

Test(switchml_tree, one_worker_alone)
{
	uint32_t host = 1;
	uint64_t done = 0;
	struct collective_job spec = {
		.number = 7, .workers = 1, .hosts = &host, .done = count_done, .owner = &done
	};
	const struct collective_ops *ops = scheme_ops(SCHEME_switchml);
	const char *never;
	struct bench bench;
	void *job;

	leaf_spine(&bench, "\"leaves\": 2, \"spines\": 1, \"hosts_per_leaf\": 2", "\"slots\": 3",
		   "[2, 3]", 128);
	bench.watch = true;
	job = ops->start(bench.scheme, &spec, &never);
	cr_assert(job);
	ops->contribute(job, 0, 10 * 128);
	ops->contribute(job, 0, 1);
	bench_run(&bench);
	bench.s->sim.stopped = false; /* by the end of the scenario's own job */
	sim_run(&bench.s->sim, UINT64_MAX);
	cr_expect_eq(done, 2);
	cr_expect_eq(bench.s->checks.exact_checked, 11 + 2);
	cr_expect_eq(bench.s->checks.exact_violations, 0);
	cr_expect_eq(bench.up, 11 + 2);
	ops->finish(job, false);
	bench_close(&bench);
}

/* More than 64 children of a switch: seen bits in several words. */
Test(switchml_tree, seen_bits_of_130_children)
{
	struct bench bench;

	bench_open(&bench, "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 130, "
			   "\"link\": {\"loss\": 0.01}}, "
			   "\"schemes\": {\"switchml\": {\"slots\": 8, \"retransmission_timeout\": "
			   "\"100us\"}}, "
			   "\"jobs\": [{\"workers\": 130, \"all_reduce\": \"switchml\", "
			   "\"model\": {\"layers\": [{\"gradient\": \"6400B\"}]}}]}");
	bench_finish(&bench, 130 * 50);
	bench_close(&bench);
}

/* Unequal links (corner case 9): the slowest clocks everybody. Host bandwidth below
 * a leaf over up-link bandwidth is 8: up-links of 4 * 10 / 8 = 5 Gbps, so TAT = G 2 t;
 * 2 of 10 Gbps (oversubscription 2, 2 spines): G t, one spine carries the tree. */
Test(switchml_tree, slowest_link_clocks_everybody)
{
	static const struct {
		const char *topology;
		double factor;
	} cases[] = {
		{ "\"leaves\": 2, \"spines\": 1, \"hosts_per_leaf\": 4, \"oversubscription\": 8",
		  2 },
		{ "\"leaves\": 2, \"spines\": 2, \"hosts_per_leaf\": 4, \"oversubscription\": 2",
		  1 },
		{ "\"leaves\": 2, \"spines\": 1, \"hosts_per_leaf\": 4, \"uplink\": {\"rate\": "
		  "\"40Gbps\"}",
		  1 },
		{ "\"leaves\": 2, \"spines\": 1, \"hosts_per_leaf\": 4, \"uplink\": {\"rate\": "
		  "\"1Gbps\"}",
		  10 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		leaf_spine(&bench, cases[i].topology, "\"slots\": 128", "8", 1280000);
		bench_finish(&bench, 8 * 10000);
		expect_near(tat(&bench, 0), 10000 * 160e-9 * cases[i].factor, 0.01, "TAT, s",
			    cases[i].factor);
		cr_expect_eq(bench.net->dropped, 0);
		bench_close(&bench);
	}
}

/* Slots cover the longest round trip of any worker, at the rate of the slowest: the order of the
 * workers is nothing to it. */
Test(switchml_tree, slots_for_the_worker_furthest_away)
{
	for (unsigned first = 0; first < 3; first++) {
		struct bench bench;

		bench_open(&bench,
			   "{\"name\": \"t\", \"topology\": {\"kind\": \"graph\", \"graph\": "
			   "{\"hosts\": [\"h[0-2]\"], \"switches\": [\"s\"], \"links\": "
			   "[{\"from\": \"h0\", \"to\": \"s\", \"rate\": \"40Gbps\", \"delay\": "
			   "\"1us\"}, {\"from\": \"h1\", \"to\": \"s\", \"rate\": \"10Gbps\", "
			   "\"delay\": \"1us\"}, {\"from\": \"h2\", \"to\": \"s\", \"rate\": "
			   "\"40Gbps\", \"delay\": \"20us\"}]}}, \"jobs\": [{\"workers\": [%u, "
			   "%u, %u], \"all_reduce\": \"switchml\", \"model\": {\"layers\": "
			   "[{\"gradient\": \"1MB\"}]}}]}",
			   first, (first + 1) % 3, (first + 2) % 3);
		sim_run(&bench.s->sim, 1); /* the job is admitted */
		/* 40.5 us at 10 Gbps are 282 packets of 180 bytes */
		cr_expect_eq(bench_job(&bench, 0)->slots, 512, "worker %u first: %u", first,
			     bench_job(&bench, 0)->slots);
		bench_close(&bench);
	}
}

/* --- loss in trees --- */

/* Loses packet number `index` of those between switches, or at leaves and hosts. */
struct nth {
	bool inner_up, inner_down;
	uint64_t index, met;
	uint64_t chunk; /* of the lost packet */
};

static bool lose_nth(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct nth *nth = bench->owner;
	bool result = packet->flags & PACKET_RESULT;
	bool spine = node >= bench->net->hosts &&
		     bench->net->switch_nodes[node - bench->net->hosts].tier == 2;

	if (nth->inner_up     ? !spine
	    : nth->inner_down ? node < bench->net->hosts || !result
			      : node >= bench->net->hosts)
		return false;
	if (nth->met++ != nth->index)
		return false;
	nth->chunk = packet->seq;
	return true;
}

/* Any single partial sum, any single result between switches, any single result at
 * a host is lost, in turn: the workers below repair it within one RTO. A lost
 * partial sum is sent again by the leaf (SENT_UP), so nothing is added twice; a
 * result that is lost at a host comes again from the leaf alone (DONE), so that the
 * root sees 2 G partial sums (last chunk of a slot: nobody else waits). */
Test(switchml_tree, any_single_packet_between_switches)
{
	for (int kind = 0; kind < 3; kind++) {
		for (uint64_t i = 0; i < (kind == 2 ? 4 : 2) * 11; i++) {
			struct nth nth = { .inner_up = kind == 0,
					   .inner_down = kind == 1,
					   .index = i };
			struct bench bench;

			leaf_spine(&bench, "\"leaves\": 2, \"spines\": 1, \"hosts_per_leaf\": 2",
				   "\"slots\": 4, \"retransmission_timeout\": \"100us\"", "4",
				   11 * 128);
			bench.watch = true;
			bench.lose = lose_nth;
			bench.owner = &nth;
			bench_finish(&bench, 4 * 11);
			cr_expect_gt(nth.met, i);
			cr_expect_gt(tat(&bench, 0), 100e-6);
			cr_expect_lt(tat(&bench, 0), 240e-6);
			cr_expect_eq(bench.multicasts, 11);
			cr_expect_geq(switch_stats(&bench).repairs, 1);
			if (kind == 2 && nth.chunk >= 11 - 4) {
				cr_expect_eq(bench.inner_up, 2 * 11);
				cr_expect_eq(bench.unicasts, 1);
			}
			bench_close(&bench);
		}
	}
}

/* Uniform loss on every link of a leaf-spine and of a fat tree, up to 0.3 for small
 * tensors, many seeds: always completes, every sum exact (bench_finish()), with all
 * invariants at every packet. */
Test(switchml_tree, uniform_loss)
{
	static const double rates[] = { 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.3 };

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		for (unsigned seed = 1; seed <= (getenv("NIGHTLY") ? 15 : 5); seed++) {
			uint64_t chunks = rates[i] > 0.05 ? 20 + seed : 100 + seed;
			struct bench bench;
			char topology[160];

			snprintf(topology, sizeof(topology),
				 "\"leaves\": 3, \"spines\": 2, \"hosts_per_leaf\": 3, \"link\": "
				 "{\"loss\": %g}}, "
				 "\"seed\": %u, \"tcp\": {",
				 rates[i], seed);
			leaf_spine(&bench, topology,
				   "\"slots\": 8, \"retransmission_timeout\": \"40us\"", "7",
				   chunks * 128);
			bench.watch = true;
			bench_finish(&bench, 7 * chunks);
			bench_close(&bench);
			snprintf(topology, sizeof(topology), ", \"link\": {\"loss\": %g}",
				 rates[i]);
			fat_tree(&bench, topology,
				 "\"slots\": 8, \"retransmission_timeout\": \"40us\"",
				 seed % 2 ? "16" : "[0, 1, 2, 5, 9, 12]", seed, chunks * 128);
			bench.watch = true;
			bench_finish(&bench, (seed % 2 ? 16 : 6) * chunks);
			bench_close(&bench);
		}
	}
}

/* Timers shorter than the RTT of three levels, lost packets and small queues (a frame
 * of 1,518 bytes is the least: 8 packets), so that repairs pile up and are dropped. */
Test(switchml_tree, spurious_timeouts_and_drops)
{
	for (unsigned seed = 1; seed <= 6; seed++) {
		struct bench bench;

		fat_tree(&bench,
			 ", \"link\": {\"loss\": 0.01}, \"switch\": {\"buffer\": \"1518B\"}",
			 "\"slots\": 32, \"retransmission_timeout\": \"5us\"", "16", seed,
			 128 * 300);
		bench_finish(&bench, 16 * 300);
		cr_expect_gt(worker_stats(&bench).stale, 0);
		cr_expect_gt(bench.net->dropped, 0);
		bench_close(&bench);
	}
}

/* A result that meets another chunk at a leaf is caught; the leaf is named. */
static void inject_result(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct switch_actions actions = { 0 };
	struct packet old = *packet;

	if (node != bench->net->hosts + 1 || packet->seq != 9 || bench->owner)
		return;
	bench->owner = bench;
	old.seq = 1;
	old.flags |= PACKET_RESULT;
	bench->real->at_switch(bench->real_self, 1, 0, &old, &actions);
}

Test(switchml_tree, late_result)
{
	struct bench bench;

	leaf_spine(&bench, "\"leaves\": 2, \"spines\": 1, \"hosts_per_leaf\": 2", "\"slots\": 4",
		   "4", 20 * 128);
	bench.after = inject_result;
	bench_run(&bench);
	cr_expect_eq(bench.s->end, END_VIOLATION);
	cr_expect(strstr(bench.s->checks.first,
			 "a result met another chunk: job 0, chunk 1, at leaf1, at 0.0000"),
		  "%s", bench.s->checks.first);
	bench_close(&bench);
}

/* --- memory --- */

/* Why a switch refuses is true when it refuses: here it loses its aggregation between two jobs. */
Test(switchml_memory, reasons_follow_failures)
{
	struct bench bench;
	const char *before, *after;

	leaf_spine(&bench, "\"leaves\": 2, \"spines\": 1, \"hosts_per_leaf\": 2", "", "4", 1280);
	network_may_fail(bench.net);
	before = ina_refusal(bench.scheme, 2);
	network_fail_aggregation(bench.net, 2, true);
	after = ina_refusal(bench.scheme, 2);
	cr_expect(strstr(before, "spine0 of its tree has too little memory"), "%s", before);
	cr_expect(strstr(after, "spine0 of its tree adds nothing up"), "%s", after);
	network_fail_aggregation(bench.net, 2, false);
	cr_expect_eq(ina_refusal(bench.scheme, 2), before);
	bench_close(&bench);
}

/* I9: 2 s k 4 bytes at every switch of the tree, nothing elsewhere. */
Test(switchml_memory, values_of_two_versions)
{
	struct bench bench;
	unsigned with = 0;

	fat_tree(&bench, "", "\"slots\": 24, \"elements_per_packet\": 64", "[0, 1, 2, 3, 4]", 1,
		 5000);
	bench.watch = true;
	bench_finish(&bench, 5 * 20);
	for (uint32_t s = 0; s < bench.net->switches; s++) {
		uint64_t used = bench.scheme->memory[s].used_max_bytes;

		cr_expect(used == 0 || used == 2 * 24 * 64 * 4);
		with += used != 0;
	}
	cr_expect_eq(with, 3 + 2 + 1); /* edges, aggregation switches, core */
	bench_close(&bench);
}

/* `jobs` jobs of two workers with 16 slots each, memory for `room` of them. Timers
 * are shorter than the RTT, so the end of a job finds repairs on their way (corner
 * case 8) while the next job takes over its memory. */
static void queue_of_jobs(struct bench *bench, unsigned jobs, unsigned room, const char *timeout)
{
	bench_open(
		bench,
		"{\"name\": \"t\", \"cluster\": {\"controller_latency\": \"1ns\"}, \"topology\": "
		"{\"kind\": \"star\", "
		"\"hosts\": 8}, \"schemes\": {\"switchml\": {\"slots\": 16, \"memory\": \"%uB\", "
		"\"retransmission_timeout\": \"%s\"}}, \"jobs\": [{\"count\": %u, \"workers\": 2, "
		"\"all_reduce\": \"switchml\", \"model\": {\"layers\": [{\"gradient\": "
		"\"12800B\"}]}}]}",
		room * 2 * 16 * 128, timeout, jobs);
	bench->watch = true;
}

/* Admission: TAT of one job = ceil(100 / 16) RTT0 with RTT0 = 2.82 us. With memory for
 * all nobody waits; with memory for one of four, job i waits i TAT (+ 1 ns each). */
Test(switchml_memory, jobs_wait_for_memory)
{
	for (unsigned room = 1; room <= 4; room++) {
		const struct job_record *records;
		struct bench bench;
		double single;

		queue_of_jobs(&bench, 4, room, "1ms");
		bench_finish(&bench, 4 * 2 * 100);
		records = jobs_report(bench.s->jobs)->records;
		single = records[0].communication;
		for (unsigned i = 0; i < 4; i++) {
			double waited = i / room * single;

			cr_expect_lt(fabs(records[i].waiting - waited), 10e-9,
				     "room %u: job %u waited %g s, not %g", room, i,
				     records[i].waiting, waited);
		}
		cr_expect_eq(bench.scheme->memory[0].used_max_bytes, room * 2 * 16 * 128);
		bench_close(&bench);
	}
}

/* Corner case 8: packets of a job that is over reach switch and hosts, and nobody
 * takes them for the next job's, which starts 1 ns later in the same memory. */
Test(switchml_memory, late_packets_of_a_finished_job)
{
	struct bench bench;

	queue_of_jobs(&bench, 6, 1, "1us");
	bench_finish(&bench, 6 * 2 * 100);
	cr_expect_gt(bench.orphans, 0);
	bench_close(&bench);
}

/* A finished job's memory is given back at every switch of its tree, also when the
 * run stops in the middle of the job: nothing leaks (seen by the sanitizers). The report
 * says for what workers wait, also when none of their packets is on its way: at
 * 10 Mbps the NIC takes 160 us for each, and their timers have run out by then. */
Test(switchml_memory, stopped_in_the_middle)
{
	static const struct {
		const char *after, *rate, *scheme, *waits, *since;
	} cases[] = {
		{ "20us", "10Gbps", "", " waits for chunk ", " of 7813, sent at 0.0000" },
		{ "2002us", "10Mbps", "\"retransmission_timeout\": \"1us\", \"slots\": 2",
		  " waits for its NIC to send chunk ", " of 7813\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;
		char *text = NULL;
		size_t length;
		FILE *report = open_memstream(&text, &length);

		bench_open(&bench,
			   "{\"name\": \"t\", \"stop\": {\"after\": \"%s\"}, \"topology\": "
			   "{\"kind\": \"star\", \"hosts\": 4, \"link\": {\"rate\": \"%s\"}}, "
			   "\"schemes\": {\"switchml\": {%s}}, \"jobs\": [{\"workers\": 4, "
			   "\"all_reduce\": \"switchml\", \"model\": {\"layers\": [{\"gradient\": "
			   "\"1MB\"}]}}]}",
			   cases[i].after, cases[i].rate, cases[i].scheme);
		bench_run(&bench);
		cr_expect_eq(bench.s->end, END_TIME_LIMIT);
		simulation_report(bench.s, report);
		fclose(report);
		cr_expect(strstr(text, "SwitchML job 0: worker 0 (host 0)"), "%s", text);
		cr_expect(strstr(text, cases[i].waits), "%s", text);
		cr_expect(strstr(text, cases[i].since), "%s", text);
		free(text);
		bench_close(&bench);
	}
}

/* Must fail: memory for less than one slot, or than the slots that were asked for. */
Test(switchml_memory, too_little_is_an_error)
{
	static const struct {
		const char *scheme, *where;
	} cases[] = {
		{ "\"memory\": \"255B\"", "/schemes/switchml/memory" },
		{ "\"memory\": \"32767B\", \"slots\": 128", "/schemes/switchml/slots" },
		{ "\"memory\": \"256B\", \"elements_per_packet\": 33", "/schemes/switchml/memory" },
		{ "\"memory\": \"256B\"", NULL },
		{ "\"memory\": \"32768B\", \"slots\": 128", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scenario scenario;
		struct conf_doc *doc;
		char text[512], *message = NULL;
		size_t length;
		FILE *report = open_memstream(&message, &length);

		snprintf(text, sizeof(text),
			 "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 2}, "
			 "\"schemes\": {\"switchml\": {%s}}, "
			 "\"jobs\": [{\"workers\": 2, \"all_reduce\": \"switchml\", "
			 "\"model\": {\"layers\": [{\"gradient\": \"1KB\"}]}}]}",
			 cases[i].scheme);
		doc = parse(&scenario, text);
		conf_print_errors(doc, report, false);
		fclose(report);
		cr_expect_eq(!conf_errors(doc), !cases[i].where, "%s: %s", cases[i].scheme,
			     message);
		if (cases[i].where)
			cr_expect(strstr(message, cases[i].where) &&
					  strstr(message, "bytes of aggregation memory"),
				  "%s", message);
		free(message);
		conf_doc_free(doc);
	}
}
