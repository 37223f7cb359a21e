/* The worked example of CONTRIBUTING: that a scheme of one file, in a program with a list of
 * schemes of its own, runs as all others do; sums, times and switch memory are what they must be.
 */
#define SCHEMES_MORE(X) X(example)
#include "collective/schemes.c"

#include "ina/common/ina.h"
#include "model_run.h"
#include "workload/jobs/jobs_parts.h"

#include <inttypes.h>

#define CHUNK    256    /* bytes of gradients in a packet */
#define FRAME_PS 267200 /* 256 + 58 + 20 bytes at 10 Gbps */
#define WORKERS  6

/* Of a chunk up to the root and down again, over so many links each way: 1 us of delay each, and
 * 500 ns in a switch between two of them. */
static sim_time round_trip(unsigned links)
{
	return 2 * links * (FRAME_PS + PS_PER_US) + (2 * links - 1) * (PS_PER_US / 2);
}

/* Chunk c leaves when chunk c - window has its result, or right behind the one before it. */
static sim_time expected(uint64_t chunks, uint64_t window, sim_time trip)
{
	sim_time turn = trip > window * FRAME_PS ? trip : window * FRAME_PS;

	return (chunks - 1) / window * turn + (chunks - 1) % window * FRAME_PS + trip;
}

static void build(struct run *run, const char *topology, uint64_t window, uint64_t chunks)
{
	run_build(run,
		  "{ 'name': 'example', 'topology': { %s, 'link': { 'rate': '10Gbps' } }, "
		  "'schemes': { 'example': { 'window': %" PRIu64 " } }, 'jobs': [ { 'workers': %d, "
		  "'all_reduce': 'example', 'model': { 'layers': [ { 'gradient': '%" PRIu64
		  "B' } ] } } ] }",
		  topology, window, WORKERS, chunks * CHUNK);
}

static const struct collective_memory *memory_of(const struct run *run, size_t *count)
{
	const struct collective_memory *memory;

	*count = simulation_memory(run->s, SCHEME_example, &memory);
	return memory;
}

/* A window that covers the round trip, one that does not, one chunk; fewer than a window. */
static void runs(const char *topology, unsigned links)
{
	static const uint64_t windows[] = { 64, 7, 1, 200 };
	const uint64_t chunks = 150;

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		const struct collective_memory *memory;
		uint64_t results = 0;
		const struct job *job;
		struct run run;
		size_t switches;

		build(&run, topology, windows[i], chunks);
		run_to(&run, END_ALL_DONE);
		job = &run.s->jobs->jobs[0];
		cr_expect_eq(job->finish - job->start,
			     expected(chunks, windows[i], round_trip(links)),
			     "window %" PRIu64 ": %" PRIu64 " ps", windows[i],
			     (uint64_t)(job->finish - job->start));
		cr_expect_eq(run.s->checks.exact_checked, WORKERS * chunks);
		memory = memory_of(&run, &switches);
		for (size_t s = 0; s < switches; s++) {
			results += memory[s].stats.results;
			cr_expect_eq(memory[s].used_bytes, 0);
			cr_expect(!memory[s].used_max_bytes ||
				  memory[s].used_max_bytes == windows[i] * CHUNK);
		}
		cr_expect_eq(results, chunks); /* the root's */
		run_free(&run);
	}
}

Test(example, star)
{
	runs("'kind': 'star', 'hosts': 6", 1);
}

/* Three racks of two: contributions are added twice. */
Test(example, leaf_spine)
{
	runs("'kind': 'leaf-spine', 'leaves': 3, 'spines': 2, 'hosts_per_leaf': 2", 2);
}

/* A sum that lacks a contribution, here as a link loses one, is waited for, and the report says by
 * whom. */
static bool lose_one(void *owner, uint32_t port, const struct packet *packet)
{
	(void)owner;
	return port == 3 && packet->seq == 40 && packet->kind == PACKET_AGGREGATION;
}

Test(example, lost)
{
	struct network_faults faults = { .lose = lose_one };
	char *text = NULL;
	size_t length = 0;
	struct run run;
	FILE *to;

	build(&run, "'kind': 'star', 'hosts': 6", 64, 100);
	network_inject(&run.s->topo.net, &faults);
	run_to(&run, END_DEADLOCK);
	to = open_memstream(&text, &length);
	simulation_report(run.s, to);
	fclose(to);
	cr_expect(strstr(text, "Example job 0: worker 0 (host 0) has results of 99 of 100 chunks"),
		  "%s", text);
	free(text);
	run_free(&run);
}

/* A job that no switch has room for is refused; with room for one, two run one after the other. */
Test(example, memory)
{
	struct run run;
	const struct jobs_report *report;

	run_build(
		&run,
		"{ 'name': 'example', 'topology': { 'kind': 'star', 'hosts': 8, 'link': { 'rate': "
		"'10Gbps' } }, 'schemes': { 'example': { 'memory': '20KB' } }, 'jobs': [ { "
		"'count': "
		"2, 'workers': 4, 'all_reduce': 'example', 'model': { 'layers': [ { 'gradient': "
		"'1MB' } ] } } ] }");
	run_to(&run, END_ALL_DONE);
	report = jobs_report(run.s->jobs);
	cr_assert_eq(report->duration_count, 2);
	cr_expect_float_eq(report->durations[0], report->durations[1], 1e-12);
	cr_expect_geq(run.s->jobs->jobs[1].start, run.s->jobs->jobs[0].finish);
	run_free(&run);
}

/* What CONTRIBUTING promises. */
Test(example, is_120_lines)
{
	FILE *file = fopen(INASIM_SOURCE_DIR "/tests/model/example_scheme.c", "r");
	unsigned lines = 0;
	int c;

	cr_assert_not_null(file);
	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	cr_expect_leq(lines, 120);
}
