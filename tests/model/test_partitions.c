/* A run is the same, to the last row of its tables, in whatever number of partitions and threads
 * (core/parts.h). */
#include "model_run.h"

#include "base/input.h"
#include "base/mem.h"
#include "core/parts.h"
#include "core/rng.h"
#include "data/folder.h"
#include "data/table.h"
#include "run/results.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const tables[] = { "flows.csv", "links.csv", "series/network.csv",
				      "series/flows.csv" };
#define TABLES (sizeof(tables) / sizeof(*tables))

struct outcome {
	uint64_t digest, events, hops;
	sim_time now;
	enum end_reason end;
	unsigned partitions;
	char *tables[TABLES]; /* NULL = there is none */
};

static struct outcome outcome_of(unsigned partitions, unsigned threads, const char *text)
{
	char folder[] = INASIM_WORK_DIR "/inasim-partitions-XXXXXX", *error = NULL;
	const struct simulation_options options = { 0 };
	struct outcome outcome;
	struct out_dir *dir;
	struct run run;

	cr_assert_not_null(mkdtemp(folder));
	cr_assert_not_null(dir = out_dir_open(folder, &error), "%s", error);
	run_build_to(&run, dir, "%s", text);
	outcome.partitions = partitions > 1 ? simulation_cut(run.s, partitions, threads) : 1;
	cr_expect_eq(parts_threads(&run.s->sim),
		     threads < outcome.partitions ? threads : outcome.partitions);
	simulation_go(run.s, &options);
	results_write_tables(run.s);
	outcome.digest = simulation_digest(run.s);
	outcome.events = simulation_events(run.s);
	outcome.hops = run.s->topo.net.hops;
	outcome.now = run.s->sim.now;
	outcome.end = run.s->end;
	cr_expect_eq(run.s->checks.conservation_violations, 0);
	cr_assert(out_dir_commit(dir, &error), "%s", error);
	run_free(&run);
	for (size_t i = 0; i < TABLES; i++) {
		char *path = folder_join(folder, tables[i]);

		outcome.tables[i] = access(path, R_OK) ? NULL : input_read(path, 64 << 20, NULL);
		free(path);
	}
	cr_expect(folder_remove(folder));
	return outcome;
}

static void release(struct outcome *outcome)
{
	for (size_t i = 0; i < TABLES; i++)
		free(outcome->tables[i]);
}

static void expect_same(const struct outcome *a, const struct outcome *b, const char *text)
{
	cr_expect_eq(a->digest, b->digest, "%u partitions: %s", b->partitions, text);
	cr_expect_eq(a->events, b->events, "%u partitions: %s", b->partitions, text);
	cr_expect_eq(a->hops, b->hops);
	cr_expect_eq(a->now, b->now, "%u partitions: %s", b->partitions, text);
	cr_expect_eq(a->end, b->end);
	for (size_t i = 0; i < TABLES; i++) {
		cr_expect_eq(!a->tables[i], !b->tables[i]);
		if (a->tables[i] && b->tables[i])
			cr_expect_eq(strcmp(a->tables[i], b->tables[i]), 0, "%u partitions, %s: %s",
				     b->partitions, tables[i], text);
	}
}

/* As it is and in some partitions and threads: in `some` of these from `first` on, at night in all.
 * Returns the most that it was cut into. */
static unsigned same_in(const char *text, size_t first, size_t some)
{
	static const struct {
		unsigned partitions, threads;
	} counts[] = { { 2, 1 }, { 3, 3 }, { 8, 1 }, { 2, 2 }, { 8, 4 }, { 3, 1 }, { 8, 8 } };
	const size_t all = sizeof(counts) / sizeof(*counts);
	struct outcome one = outcome_of(1, 1, text);
	unsigned max = 1;

	if (!some || getenv("NIGHTLY"))
		some = all;
	for (size_t i = first; i < first + some; i++) {
		struct outcome cut =
			outcome_of(counts[i % all].partitions, counts[i % all].threads, text);

		expect_same(&one, &cut, text);
		max = cut.partitions > max ? cut.partitions : max;
		release(&cut);
	}
	release(&one);
	return max;
}

/* In all of these; or, of many alike, each in two. */
static unsigned same_in_all(const char *topology, const char *work)
{
	char *text = xasprintf("{ 'name': 't', 'topology': { %s }, %s }", topology, work);
	unsigned max = same_in(text, 0, 0);

	free(text);
	return max;
}

static void same(const char *topology, const char *work)
{
	static size_t next; /* tests have processes of their own */
	char *text = xasprintf("{ 'name': 't', 'topology': { %s }, %s }", topology, work);

	same_in(text, next, 2);
	next += 2;
	free(text);
}

#define TREE  "'kind': 'fat-tree', 'k': 4, 'link': { 'rate': '10Gbps', 'delay': '1us' }"
#define RACKS "'kind': 'leaf-spine', 'leaves': 5, 'spines': 2, 'hosts_per_leaf': 3"
#define LOSSY                                                                                      \
	RACKS ", 'link': { 'rate': '10Gbps', 'delay': '1us', 'loss': 1e-3 },"                      \
	      " 'uplink': { 'rate': '25Gbps', 'delay': '5us' },"                                   \
	      " 'host': { 'jitter': '2us', 'nic_jitter': '1us' },"                                 \
	      " 'switch': { 'latency': '300ns', 'buffer': '30kB' }"
#define PERMUTATION "'flows': [ { 'name': 'p', 'pairs': 'permutation', 'size': '300kB' } ]"
#define POISSON                                                                                    \
	"'flows': [ { 'name': 'f', 'size': { 'cdf': 'websearch' }, 'count': 60,"                   \
	" 'arrival': { 'poisson_load': 0.6 } },"                                                   \
	" { 'name': 'g', 'transport': 'swift', 'size': '30kB', 'count': 60,"                       \
	" 'arrival': { 'poisson_load': 0.2 } } ]"

Test(partitions, are_pods)
{
	cr_expect_eq(same_in_all(TREE, PERMUTATION), 4);
	cr_expect_eq(same_in_all(RACKS, PERMUTATION), 5);
}

Test(partitions, change_nothing)
{
	same(TREE, POISSON);
	same(LOSSY, PERMUTATION);
	same(LOSSY, POISSON);
	same(TREE ", 'classes': 'control-first'", POISSON);
	same(TREE ", 'host': { 'nic': 'fifo' }", POISSON);
	same(LOSSY, "'tcp': { 'ack_every': 4 }, " POISSON);
	same(TREE, "'tcp': { 'min_rto': '30us', 'initial_rto': '40us' }, " POISSON);
}

/* The end comes at an event of some partition, or at a time. */
Test(partitions, end_at_the_same_event)
{
	same(TREE, "'stop': { 'when': 'time', 'after': '123456ns' }, " PERMUTATION);
	same(TREE, "'stop': { 'when': 'flows_done', 'after': '100us' }, " PERMUTATION);
	same(LOSSY, "'stop': { 'when': 'flows_done' }, " POISSON);
	same(TREE, "'stop': { 'when': 'measured_done', 'warmup': '1ms', 'window': '1ms' },"
		   " 'flows': [ { 'name': 'f', 'size': '100kB',"
		   " 'arrival': { 'poisson_load': 0.5 } } ]");
	same(TREE, "'flows': [ { 'name': 'f', 'size': '100B', 'count': 300,"
		   " 'arrival': { 'poisson_load': 0.01 } } ]");
}

/* Series look at all hosts at once. */
Test(partitions, are_all_at_a_sample)
{
	same_in_all(TREE, "'output': { 'series': { 'every': '7us', 'flows': true } }, " POISSON);
}

/* Who acts on others without a link. */
Test(partitions, are_one_where_they_could_not_wait)
{
	cr_expect_eq(same_in_all("'kind': 'star', 'hosts': 8", PERMUTATION), 1);
	cr_expect_eq(same_in_all(TREE ", 'switch': { 'pause': true }", PERMUTATION), 1);
	cr_expect_eq(same_in_all(TREE,
				 "'flows': [ { 'name': 'r', 'transport': 'dcqcn', 'size': '100kB',"
				 " 'pairs': 'permutation' } ]"),
		     1);
	cr_expect_eq(
		same_in_all(TREE,
			    "'jobs': [ { 'name': 'j', 'all_reduce': 'ring', 'workers': 4,"
			    " 'model': { 'layers': [ { 'gradient': '50kB' } ] } } ], " PERMUTATION),
		1);
}

static const char *pick(struct rng *rng, const char *const *list, size_t count)
{
	return list[rng_below(rng, count)];
}
#define PICK(rng, ...)                                                                             \
	pick(rng, (const char *const[]){ __VA_ARGS__ },                                            \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

Test(partitions, change_nothing_at_random)
{
	struct rng rng;

	rng_init(&rng, 1, "partitions", 0);
	for (int i = 0; i < 40; i++) {
		const char *shape = PICK(&rng, "'kind': 'fat-tree', 'k': 4",
					 "'kind': 'fat-tree', 'k': 6", RACKS);
		char *text = xasprintf(
			"{ 'name': 't', 'seed': %d, 'topology': { %s,"
			" 'link': { 'rate': '%s', 'delay': '%s', 'loss': %s },"
			" 'host': { 'jitter': '%s', 'nic_jitter': '%s' },"
			" 'switch': { 'buffer': '%s', 'latency': '%s' } },"
			" 'tcp': { 'ack_every': %s, 'min_rto': '%s', 'initial_rto': '1ms',"
			" 'recovery': %s }, 'stop': { 'when': '%s', 'after': '20ms' },"
			" 'flows': [ { 'name': 'a', 'transport': '%s', 'size': %s, 'count': 50,"
			" 'arrival': { 'poisson_load': %s } },"
			" { 'name': 'b', 'transport': '%s', 'size': '%s', 'pairs': %s } ] }",
			i, shape, PICK(&rng, "1Gbps", "10Gbps", "100Gbps"),
			PICK(&rng, "100ns", "1us", "3us"), PICK(&rng, "0", "0.001", "0.02"),
			PICK(&rng, "0s", "500ns", "10us"), PICK(&rng, "0s", "2us"),
			PICK(&rng, "10kB", "100kB", "1MB"), PICK(&rng, "0s", "400ns"),
			PICK(&rng, "1", "1", "3"), PICK(&rng, "20us", "200us", "5ms"),
			PICK(&rng, "'newreno'", "'sack'", "'rack'", "'rack', 'spray': 'reps'",
			     "'sack', 'spray': 'random'"),
			PICK(&rng, "flows_done", "all_done", "time"),
			PICK(&rng, "dctcp", "reno", "swift", "cubic"),
			PICK(&rng, "'1kB'", "{ 'cdf': 'websearch' }", "'80kB'"),
			PICK(&rng, "0.1", "0.8"), PICK(&rng, "dctcp", "reno", "swift", "cubic"),
			PICK(&rng, "100B", "20kB", "200kB"),
			PICK(&rng, "'permutation'", "'incast', 'fan_in': 7, 'receiver': 3",
			     "[ [ 0, 9 ], [ 9, 0 ], [ 4, 11 ] ]"));

		same_in(text, (size_t)i, 1);
		free(text);
	}
}
