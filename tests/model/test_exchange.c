/* What jobs exchange besides all-reduces: reduce-scatter and all-gather (sharding), all-to-all
 * (experts), point to point (stages): their times against the closed forms, their order, and that
 * every worker ends with what it should have.
 *
 * Closed forms: inasim formula reduce_scatter, all_gather, all_to_all, pipeline_time. The rate that
 * they are given is what is left for data of a link that also carries ACKs: rate * 1460 / (1538 +
 * 84 / 2); where nothing comes the other way, rate * 1460 / 1538. */
#include "model_run.h"

#include "formulas/formulas.h"
#include "workload/jobs/jobs_parts.h"

#include <math.h>
#include <stdlib.h>

#define DATA_RATE (10e9 * 1460 / (1538 + 42))
#define ONE_WAY   (10e9 * 1460 / 1538)
#define STAR      "'kind': 'star', 'hosts': 16"

static void build(struct run *run, const char *topology, unsigned workers, const char *job,
		  const char *layers)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { %s },"
		  " 'jobs': [ { 'workers': %u, 'overlap': 'layers', %s,"
		  "   'model': { 'layers': [ %s ] } } ] }",
		  topology, workers, job, layers);
}

/* Of the last iteration. */
static double time_of(const char *topology, unsigned workers, const char *job, const char *layers)
{
	struct run run;
	double t;

	build(&run, topology, workers, job, layers);
	run_to(&run, END_ALL_DONE);
	t = jobs_report(run.s->jobs)->durations[jobs_report(run.s->jobs)->duration_count - 1];
	run_free(&run);
	return t;
}

static double closed_form(const char *formula, unsigned workers, double size)
{
	struct formula_inputs x = { .workers = workers, .bytes = size, .rate = DATA_RATE };

	return formula_find(formula)->value(&x);
}

static void check(const char *what, double t, double want)
{
	printf("%s: %.3f ms, closed form %.3f (%.4f)\n", what, t * 1e3, want * 1e3, t / want);
	cr_expect_float_eq(t / want, 1, 0.03, "%s", what);
}

#define RING(more) "'all_reduce': 'ring'" more
#define OPTIMIZER  ", 'sharding': 'optimizer'"
#define FULL       ", 'sharding': 'full'"
#define STAGES(stages, m, size)                                                                    \
	", 'pipeline': { 'stages': " #stages ", 'microbatches': " #m ", 'activations': '" size "'" \
	" "                                                                                        \
	"}"

/* A share of the link's throughput is of sums that every worker gets whole, as is a bus bandwidth.
 * A pipeline has no algorithm bandwidth, either: the gradients of its stages are exchanged beside
 * each other. */
Test(exchange, parts_have_no_share_of_throughput)
{
	static const char *const jobs[] = { RING(), RING(FULL), RING(STAGES(2, 1, "1kB")) };

	for (int i = 0; i < 3; i++) {
		const struct job_record *record;
		struct run run;

		build(&run, STAR, 4, jobs[i], "{ 'gradient': '1MB' }, { 'gradient': '1MB' }");
		run_to(&run, END_ALL_DONE);
		record = &jobs_report(run.s->jobs)->records[0];
		cr_expect_eq(isnan(record->throughput_share) != 0, i > 0, "%s", jobs[i]);
		cr_expect_eq(isnan(record->busbw) != 0, i > 0, "%s", jobs[i]);
		cr_expect_eq(isnan(record->algbw) != 0, i == 2, "%s", jobs[i]);
		run_free(&run);
	}
}

/* A star, and fat trees whose edges neighbours of a ring do not share. */
Test(exchange, time_of_shards)
{
	static const char *const topologies[] = { STAR, "'kind': 'fat-tree', 'k': 4" };

	for (unsigned i = 0; i < 2; i++) {
		for (unsigned n = 2; n <= 16; n += n < 5 ? 1 : 11) {
			double scatter = closed_form("reduce_scatter", n, 20e6);
			double gather = closed_form("all_gather", n, 20e6);

			check("optimizer",
			      time_of(topologies[i], n, RING(OPTIMIZER), "{ 'gradient': '20MB' }"),
			      scatter + gather);
			check("full",
			      time_of(topologies[i], n, RING(FULL), "{ 'gradient': '20MB' }"),
			      scatter + 2 * gather);
		}
	}
}

/* Dispatch and combine, forward and backward; uplinks in which paths do not meet. */
Test(exchange, time_of_all_to_all)
{
	static const char *const topologies[] = {
		STAR, "'kind': 'leaf-spine', 'leaves': 4, 'spines': 1, 'hosts_per_leaf': 4,"
		      " 'uplink': { 'rate': '400Gbps', 'delay': '1us' }"
	};

	for (unsigned i = 0; i < 2; i++)
		for (unsigned n = 2; n <= 16; n += n < 5 ? 1 : 11)
			check("all_to_all",
			      time_of(topologies[i], n, RING(),
				      "{ 'gradient': '4B', 'all_to_all': '20MB' }"),
			      4 * closed_form("all_to_all", n, 20e6));
}

/* A switch gives all workers all sums; the parameters go by ring. */
Test(exchange, all_reduce_instead_of_reduce_scatter)
{
	const char *job = "'all_reduce': 'switchml'";
	double plain = time_of(STAR, 8, job, "{ 'gradient': '20MB' }");

	check("switchml, optimizer",
	      time_of(STAR, 8, "'all_reduce': 'switchml'" OPTIMIZER, "{ 'gradient': '20MB' }"),
	      plain + closed_form("all_gather", 8, 20e6));
	check("halving_doubling, full",
	      time_of(STAR, 8, "'all_reduce': 'halving_doubling'" FULL, "{ 'gradient': '20MB' }"),
	      4 * closed_form("all_gather", 8, 20e6));
}

/* Four layers that compute 10 and 20 ms, and an exchange of one takes 3.2 ms. Ahead by one layer,
 * all but the first all-gather and the last reduce-scatter hide. Ahead by none, all-gathers do not:
 * three of those backward share the links with the reduce-scatter of the layer behind, and take
 * twice as long; the last reduce-scatter is the twelfth. */
#define LAYER "{ 'gradient': '5MB', 'forward': '10ms', 'backward': '20ms' }"
Test(exchange, parameters_come_before_they_are_needed)
{
	const char *layers = LAYER ", " LAYER ", " LAYER ", " LAYER;
	double each = closed_form("all_gather", 4, 5e6), compute = 4 * 30e-3;

	check("ahead by one", time_of(STAR, 4, RING(FULL ", 'iterations': 3"), layers),
	      compute + 2 * each);
	check("ahead by none", time_of(STAR, 4, RING(FULL ", 'prefetch': 0"), layers),
	      compute + 12 * each);
	check("optimizer", time_of(STAR, 4, RING(OPTIMIZER ", 'iterations': 3"), layers),
	      compute + 2 * each);
}

/* Tokens are under way before a layer computes and after it, and nothing else goes on. */
Test(exchange, experts)
{
	const char *layers = "{ 'gradient': '4B', 'forward': '10ms', 'backward': '20ms' },"
			     "{ 'gradient': '4B', 'forward': '10ms', 'backward': '20ms',"
			     "  'all_to_all': '10MB' }";

	check("experts", time_of(STAR, 4, RING(", 'iterations': 2"), layers),
	      60e-3 + 4 * closed_form("all_to_all", 4, 10e6));
	check("experts, micro-batches",
	      time_of(STAR, 4, RING(STAGES(1, 8, "1kB") ", 'iterations': 2"), layers),
	      60e-3 + 4 * closed_form("all_to_all", 4, 10e6));
}

/* GPipe: activations of each micro-batch pass all stages forward, then backward. Replicas of a
 * stage add up beside each other. */
Test(exchange, pipeline)
{
	struct formula_inputs x = { .stages = 4, .microbatches = 8, .compute = 30e-3 };
	const char *layers = LAYER ", " LAYER ", " LAYER ", " LAYER;
	double bubble = formula_find("pipeline_time")->value(&x);
	double pass = 8 * 20e6 / ONE_WAY;

	cr_expect_float_eq(bubble, 11 * 30e-3 / 8, 1e-12);
	check("computing", time_of(STAR, 4, RING(STAGES(4, 8, "1kB")), layers), bubble);
	check("two replicas", time_of(STAR, 8, RING(STAGES(4, 8, "1kB")), layers),
	      bubble + 2 * closed_form("reduce_scatter", 2, 5e6));
	check("optimizer", time_of(STAR, 8, RING(STAGES(4, 8, "1kB") OPTIMIZER), layers),
	      bubble + 2 * closed_form("reduce_scatter", 2, 5e6));
	check("activations", time_of(STAR, 4, RING(STAGES(4, 1, "20MB")), layers),
	      4 * 30e-3 + 6 * pass);
}

/* Losses, other transports, several iterations, orders: every value is checked at every worker. */
#define SMALL(more) "{ 'gradient': '300kB', 'backward': '20us'" more " }"
Test(exchange, exactly_once_whatever_comes)
{
	static const char *const topologies[] = {
		STAR ", 'link': { 'loss': 0.003 }",
		STAR ", 'switch': { 'pause': true } }, 'schemes': { 'ring': {"
		     " 'transport': 'dcqcn', 'order': 'random' } ",
		"'kind': 'fat-tree', 'k': 4 }, 'schemes': { 'ring': { 'step_latency': '2us' } ",
	};
	static const char *const jobs[] = { RING(OPTIMIZER),
					    RING(FULL),
					    RING(FULL ", 'prefetch': 3"),
					    "'all_reduce': 'switchml'" OPTIMIZER,
					    "'all_reduce': 'atp', 'compute_jitter': 0.3" OPTIMIZER,
					    "'all_reduce': 'double_tree'" FULL };
	static const char *const pipelines[] = { RING(STAGES(4, 3, "50kB")),
						 RING(STAGES(2, 2, "50kB") OPTIMIZER) };

	for (unsigned t = 0; t < 3; t++) {
		char job[256];

		for (unsigned j = 0; j < sizeof(jobs) / sizeof(*jobs); j++) {
			snprintf(job, sizeof(job), "%s, 'iterations': 3", jobs[j]);
			time_of(topologies[t], 6, job,
				SMALL() ", " SMALL(", 'all_to_all': '90kB'") ", " SMALL());
		}
		for (unsigned j = 0; j < sizeof(pipelines) / sizeof(*pipelines); j++) {
			snprintf(job, sizeof(job), "%s, 'iterations': 3", pipelines[j]);
			time_of(topologies[t], 8, job,
				SMALL() ", " SMALL() ", " SMALL() ", " SMALL() ", " SMALL());
		}
	}
}

/* A bit of a message that is under way: each kind of exchange finds it. */
static void corrupt(const char *job, unsigned group, const char *name)
{
	struct schedule *schedule;
	struct schedule_edge *edge;
	struct run run;

	build(&run, STAR, 4, job,
	      SMALL() ", " SMALL() ", " SMALL() ", " SMALL(", 'forward': '20us'"));
	do
		cr_assert(sim_run(&run.s->sim, 1));
	while (!run.s->jobs->jobs[0].exchanges);
	schedule = run.s->jobs->jobs[0].exchanges[group].instance;
	edge = &schedule->edges[schedule->edge_count / 2];
	while (edge->sent < 1 + (schedule->edge_count > 1))
		cr_assert(sim_run(&run.s->sim, 1));
	edge->values[(edge->value_in - 1) & edge->value_mask] ^= 1 << 9;
	run_to(&run, END_VIOLATION);
	cr_expect_not_null(strstr(run.s->checks.first, name), "%s", run.s->checks.first);
	run_free(&run);
}

Test(exchange, corrupted)
{
	corrupt(RING(FULL), 1, "all_gather of job 0: wrong sum");
	corrupt(RING(OPTIMIZER), 1, "all_gather of job 0: wrong sum");
	corrupt(RING(STAGES(2, 2, "50kB")), 2, "point_to_point of job 0: wrong sum");
}
