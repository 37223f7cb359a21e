/* NVLS: times against closed forms, who has what, late GPUs, the switch's memory, mistakes. */
#include "model_run.h"

#include "ina/nvls/nvls.h"
#include "workload/jobs/jobs_parts.h"

#define PAYLOAD 128.0
#define PACKET  160.0 /* 32 bytes of header */
#define REQUEST 32.0
#define RATE    (900e9 / 8) /* a quarter of an H100's, so that latencies count less */

static void build(struct run *run, const char *nvls, const char *jobs)
{
	run_build(
		run,
		"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 9, 'wire_overhead': false, "
		"'link': { 'rate': '900Gbps', 'delay': '100ns' }, 'switch': { 'latency': '200ns', "
		"'pause': true }, 'host': { 'nic_jitter': '0s' } }, 'schemes': { 'nvls': { %s } }, "
		"'jobs': [ %s ] }",
		nvls, jobs);
}

/* --- closed forms --- */

static double time_of(unsigned workers, const char *more)
{
	char job[400];
	struct run run;
	double t;

	snprintf(job, sizeof(job),
		 "{ 'workers': %u, %s, 'model': { 'layers': [ { 'gradient': '10MB' } ] } }",
		 workers, more);
	build(&run, "'window': '1MB'", job);
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run.s->topo.net.dropped, 0);
	t = jobs_report(run.s->jobs)->durations[0];
	run_free(&run);
	return t;
}

/* Each GPU receives a READ of each packet, the sums of its piece, and all stores: S (1 + 1/N) and
 * what requests cost. */
Test(nvls, time_of_an_all_reduce)
{
	static const unsigned workers[] = { 2, 3, 5, 8 };

	for (unsigned i = 0; i < 4; i++) {
		double n = workers[i];
		double want = 10e6 / PAYLOAD * ((1 + 1 / n) * PACKET + REQUEST) / RATE;
		double t = time_of(workers[i], "'all_reduce': 'nvls'");

		cr_expect_float_eq(t / want, 1, 0.01, "%g GPUs: %g s, want %g", n, t, want);
	}
}

/* An all-gather brings all shards down, the own one too: S, or N/(N - 1) of what a ring takes. Of a
 * reduce-scatter all elements go up: S, and the requests of the own piece. */
Test(nvls, time_of_its_halves)
{
	for (unsigned workers = 2; workers <= 8; workers += 3) {
		double n = workers, whole = 10e6 / PAYLOAD * PACKET / RATE;
		double two = time_of(workers, "'all_reduce': 'ring', 'sharding': 'optimizer', "
					      "'reduce_scatter': 'nvls', 'all_gather': 'nvls'");
		double three = time_of(workers, "'all_reduce': 'ring', 'sharding': 'full', "
						"'reduce_scatter': 'nvls', 'all_gather': 'nvls'");
		double scatter = whole + 10e6 / PAYLOAD / n * REQUEST / RATE;

		cr_expect_float_eq((three - two) / whole, 1, 0.01, "all-gather of %g: %g", n,
				   (three - two) / whole);
		cr_expect_float_eq((2 * two - three) / scatter, 1, 0.015, /* the path is 0.01 */
				   "reduce-scatter of %g: %g", n, (2 * two - three) / scatter);
	}
}

/* An all-gather needs no reduce-scatter before it, in a program or a job, and is refused where its
 * GPUs have several switches. */
Test(nvls, gathers_alone)
{
	struct run run;
	double whole = 10e6 / PAYLOAD * PACKET / RATE, t;

	build(&run, "",
	      "{ 'all_reduce': 'nvls', 'model': { 'roles': [ { 'ranks': [0, 1, 2, 3, 4], 'nodes': "
	      "[ { 'all_gather': '10MB' } ] } ] } }");
	run_to(&run, END_ALL_DONE);
	t = jobs_report(run.s->jobs)->durations[0];
	run_free(&run);
	cr_expect_float_eq(t / whole, 1, 0.01, "%g", t / whole);

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, "
		  "'hosts_per_leaf': 2, 'switch': { 'pause': true } }, 'jobs': [ { 'workers': 4, "
		  "'all_reduce': 'ring', 'sharding': 'full', 'all_gather': 'nvls', 'model': { "
		  "'layers': [ { 'gradient': '1KB' } ] } } ] }");
	run_to(&run, END_REFUSED);
	run_free(&run);
}

/* Without requests and headers it gains 2 (N - 1)/(N + 1) over a ring: 1.56 for eight. */
Test(nvls, over_a_ring)
{
	struct run run;
	double t, ring = 2.0 * 7 / 8 * 40e6 / RATE;

	build(&run, "'elements_per_packet': 350, 'header': 1, 'request': 1",
	      "{ 'workers': 8, 'all_reduce': 'nvls', 'model': { 'layers': [ { 'gradient': '40MB' "
	      "} ] } }");
	run_to(&run, END_ALL_DONE);
	t = jobs_report(run.s->jobs)->durations[0];
	run_free(&run);
	cr_expect_float_eq(ring / t, 14.0 / 9, 0.01 * 14 / 9, "%g", ring / t);
}

/* --- who has what --- */

#define SMALL(scheme)                                                                              \
	"{ 'workers': 4, " scheme ", 'iterations': 2, 'model': { 'layers': [ { 'gradient': "       \
	"'1500B' } ] } }"

/* 1500 bytes are pieces of 94 elements, 3 rows. Of each row the owners see their
 * sum, and all see all sums. */
Test(nvls, sums_are_everywhere)
{
	struct collective_stats stats = { 0 };
	const struct collective_memory *memory;
	struct run run;

	build(&run, "", SMALL("'all_reduce': 'nvls'"));
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run.s->checks.exact_checked, 2 * 3 * (4 + 4 * 4));
	cr_assert_eq(simulation_memory(run.s, SCHEME_nvls, &memory), 1);
	cr_expect_eq(memory->stats.packets_aggregated, 2 * 3 * 4 * 4);
	cr_expect_eq(memory->stats.results, 2 * 3 * 4);
	cr_expect_eq(memory->used_bytes, 0);
	jobs_stats(run.s->jobs, &stats);
	cr_expect_eq(stats.retransmissions, 0);
	run_free(&run);
}

static const struct protocol_ops *real;
static struct protocol_ops tap;
static unsigned left;
static uint8_t wanted;

/* The packet that comes when `left` others have is for the next host, its value is wrong, or it
 * comes twice. */
static void to_another(void *self, uint32_t host, const struct packet *packet)
{
	bool is = packet->flags == wanted && !left--;

	real->deliver(self, is ? (host + 1) % 4 : host, packet);
}

static void changed(void *self, uint32_t host, const struct packet *packet)
{
	struct packet copy = *packet;

	if (packet->flags == wanted && !left--)
		copy.value++;
	real->deliver(self, host, &copy);
}

static void twice(void *self, uint32_t host, const struct packet *packet)
{
	if (packet->flags == wanted && !left--)
		real->deliver(self, host, packet);
	real->deliver(self, host, packet);
}

static void tapped(const char *protocol, const char *job, uint8_t flags,
		   void (*deliver)(void *, uint32_t, const struct packet *), const char *says)
{
	struct network *net;
	struct run run;

	build(&run, "", job);
	net = &run.s->topo.net;
	left = 2;
	wanted = flags;
	for (unsigned p = 0; p < net->protocol_count; p++) {
		if (strcmp(net->protocols[p].ops->name, protocol))
			continue;
		real = net->protocols[p].ops;
		tap = *real;
		tap.deliver = deliver;
		net->protocols[p].ops = &tap;
	}
	run_to(&run, END_VIOLATION);
	cr_expect(strstr(run.s->checks.first, says), "%s", run.s->checks.first);
	run_free(&run);
}

Test(nvls, violations)
{
	uint8_t store = NVLS_STORE | PACKET_RESULT;

	tapped("nvls_reduce", SMALL("'all_reduce': 'nvls'"), PACKET_RESULT, to_another,
	       "the sum of another GPU");
	tapped("nvls_reduce", SMALL("'all_reduce': 'nvls'"), PACKET_RESULT, changed, "a wrong sum");
	tapped("nvls_reduce", SMALL("'all_reduce': 'nvls'"), store, changed, "a wrong sum");
	tapped("nvls_reduce", SMALL("'all_reduce': 'nvls'"), NVLS_READ, to_another, "a wrong sum");
	tapped("nvls_reduce", SMALL("'all_reduce': 'nvls'"), store, twice,
	       "a row beyond the window");
	tapped("nvls_gather",
	       SMALL("'all_reduce': 'ring', 'sharding': 'full', 'reduce_scatter': 'nvls', "
		     "'all_gather': 'nvls'"),
	       store, changed, "a wrong shard");
}

/* --- late GPUs, shared switches --- */

/* The switch reads ahead of GPUs that are late; they answer when they have the tensor. */
Test(nvls, late_gpus)
{
	struct run run;

	build(&run, "'window': '2KB'",
	      "{ 'workers': 8, 'all_reduce': 'nvls', 'iterations': 5, 'overlap': 'layers', "
	      "'start_jitter': '20us', 'send_jitter': '5us', 'compute_jitter': 0.5, 'model': { "
	      "'layers': [ { 'gradient': '10KB', 'backward': '2us' }, { 'gradient': '3KB', "
	      "'backward': '4us' } ] } }, { 'workers': 3, 'all_reduce': 'ring', 'sharding': "
	      "'full', 'reduce_scatter': 'nvls', 'all_gather': 'nvls', 'iterations': 5, "
	      "'start_jitter': '20us', 'compute_jitter': 0.5, 'model': { 'layers': [ { "
	      "'gradient': '10KB', 'backward': '2us' } ] } }");
	run_to(&run, END_ALL_DONE);
	run_free(&run);
}

/* A job takes its window; one that finds none waits, one that never will is refused, as is one
 * whose GPUs are not in one domain. */
Test(nvls, memory)
{
	const struct collective_memory *memory;
	struct run run;

	build(&run, "'memory': '100KB', 'window': '60KB'",
	      "{ 'count': 2, 'workers': 4, 'all_reduce': 'nvls', 'model': { 'layers': [ { "
	      "'gradient': '1MB' } ] } }");
	run_to(&run, END_ALL_DONE);
	cr_expect_geq(run.s->jobs->jobs[1].start, run.s->jobs->jobs[0].finish);
	cr_assert_eq(simulation_memory(run.s, SCHEME_nvls, &memory), 1);
	cr_expect_eq(memory->used_max_bytes, 118 * 4 * 128);
	cr_expect_eq(memory->used_bytes, 0);
	run_free(&run);

	build(&run, "'memory': '10KB', 'window': '60KB'", SMALL("'all_reduce': 'nvls'"));
	run_to(&run, END_REFUSED);
	cr_expect_eq(jobs_report(run.s->jobs)->refused, 1);
	run_free(&run);

	run_build(
		&run,
		"{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, "
		"'hosts_per_leaf': 4, 'switch': { 'pause': true } }, 'jobs': [ { 'workers': [2, 3, "
		"4], 'all_reduce': 'nvls', 'model': { 'layers': [ { 'gradient': '1KB' } ] } }, { "
		"'workers': [4, 5, 6], 'all_reduce': 'nvls', 'model': { 'layers': [ { "
		"'gradient': '1KB' } ] } } ] }");
	run_to(&run, END_REFUSED);
	cr_expect_eq(jobs_report(run.s->jobs)->refused, 1);
	run_free(&run);
}

/* The smallest window is two rows, and as much memory is enough. */
Test(nvls, smallest_memory)
{
	const struct collective_memory *memory;
	struct run run;

	build(&run, "'memory': '1024B', 'window': '1B'", SMALL("'all_reduce': 'nvls'"));
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(jobs_report(run.s->jobs)->refused, 0);
	cr_assert_eq(simulation_memory(run.s, SCHEME_nvls, &memory), 1);
	cr_expect_eq(memory->used_max_bytes, 2 * 4 * 128);
	run_free(&run);

	build(&run, "'memory': '1023B', 'window': '1B'", SMALL("'all_reduce': 'nvls'"));
	run_to(&run, END_REFUSED);
	cr_expect_eq(jobs_report(run.s->jobs)->refused, 1);
	run_free(&run);
}

/* --- mistakes --- */

#define WRONG(topology)                                                                            \
	"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4, " topology " }, 'jobs': [ { "    \
	"'workers': 4, 'all_reduce': 'nvls', 'model': { 'layers': [ { 'gradient': '4B' } ] } } ] " \
	"}"

Test(nvls, mistakes)
{
	cr_expect_eq(run_mistakes("links that lose nothing", WRONG("'switch': { 'pause': false }")),
		     1);
	cr_expect_eq(run_mistakes("NVLS has no recovery",
				  WRONG("'switch': { 'pause': true }, 'link': { 'loss': 0.1 }")),
		     1);
}
