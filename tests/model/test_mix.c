/* Mixed workloads: which jobs and flows there are depends on seed and group alone,
 * not on the scheme and not on which other groups run. */
#include "model_run.h"

#include "base/mem.h"
#include "workload/jobs/jobs_parts.h"

#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#define FABRIC "'topology': { 'kind': 'fat-tree', 'k': 4 }"
#define MODELS                                                                                     \
	"'model': { 'mix': [ { 'model': 'vgg16' }, { 'model': 'resnet50', 'weight': 2 },"          \
	" { 'model': 'alexnet' } ] }, 'workers': { 'min': 2, 'max': 6 },"                          \
	" 'gradient_scale': 1e-4, 'compute_scale': 1e-4"

/* --- jobs --- */

/* The models of 4000 jobs: chi-square against 1 : 2 : 1. */
Test(mix, models_are_drawn_by_weight)
{
	static const char *const names[] = { "vgg16", "resnet50", "alexnet" };
	static const double expected[] = { 1000, 2000, 1000 };
	double seen[3] = { 0 }, sum = 0;
	struct run run;

	run_build(&run,
		  "{ 'name': 't', " FABRIC ", 'jobs': [ { 'all_reduce': 'ring', 'count': 4000,"
		  " 'arrival': { 'poisson_gap': '1us' }, " MODELS " } ] }");
	for (size_t i = 0; i < run.s->jobs->report.count; i++)
		for (int m = 0; m < 3; m++)
			seen[m] += !strcmp(run.s->jobs->jobs[i].dnn->name, names[m]);
	for (int m = 0; m < 3; m++)
		sum += (seen[m] - expected[m]) * (seen[m] - expected[m]) / expected[m];
	cr_expect_eq(seen[0] + seen[1] + seen[2], 4000);
	cr_expect_gt(gsl_cdf_chisq_Q(sum, 2), 0.01, "%g %g %g", seen[0], seen[1], seen[2]);
	run_free(&run);
}

static void expect_same_job(const struct job *a, const struct job *b)
{
	cr_expect_eq(a->number, b->number);
	cr_expect_eq(a->arrival, b->arrival);
	cr_expect_eq(a->workers, b->workers);
	cr_expect_str_eq(a->dnn->name, b->dnn->name);
}

/* Two groups of jobs, the second by `scheme`; the first runs or not. */
static void build_jobs(struct run *run, const char *first, const char *scheme)
{
	run_build(run,
		  "{ 'name': 't', " FABRIC ", 'jobs': ["
		  " { 'name': 'a', 'enabled': %s, 'all_reduce': 'ring', 'count': 40,"
		  "   'arrival': { 'poisson_gap': '3us' }, " MODELS " },"
		  " { 'name': 'b', 'all_reduce': '%s', 'count': 40,"
		  "   'arrival': { 'poisson_gap': '5us' }, " MODELS " } ] }",
		  first, scheme);
}

Test(mix, jobs_are_the_same_for_all_schemes)
{
	struct run ring, tree;

	build_jobs(&ring, "true", "ring");
	build_jobs(&tree, "true", "switchml");
	cr_assert_eq(ring.s->jobs->report.count, 80);
	for (size_t i = 0; i < 80; i++)
		expect_same_job(&ring.s->jobs->jobs[i], &tree.s->jobs->jobs[i]);
	run_free(&ring);
	run_free(&tree);
}

Test(mix, a_group_of_jobs_that_is_off_leaves_the_others_alone)
{
	struct run both, one;
	size_t found = 0;

	build_jobs(&both, "true", "ring");
	build_jobs(&one, "false", "ring");
	cr_assert_eq(both.s->jobs->report.count, 80);
	cr_assert_eq(one.s->jobs->report.count, 40);
	for (size_t i = 0; i < 80; i++) {
		const struct job *job = &both.s->jobs->jobs[i];

		if (strcmp(job->conf->name, "b"))
			continue;
		cr_assert_lt(found, 40);
		expect_same_job(job, &one.s->jobs->jobs[found++]);
	}
	cr_expect_eq(found, 40);
	run_to(&one, END_ALL_DONE);
	cr_expect_eq(jobs_report(one.s->jobs)->finished, 40);
	run_free(&both);
	run_free(&one);
}

/* --- flows --- */

/* The first packet of every 30-kB flow, at its receiver. Rings write multiples of 12.5 kB. */
struct begun {
	uint32_t src, dst;
	sim_time sent;
	uint16_t route[ROUTE_MAX];
};

struct mice {
	struct run run;
	struct tap tap;
	struct begun *flows;
	size_t count, capacity;
};

static bool note(struct tap *tap, uint32_t host, struct packet *packet)
{
	struct mice *w = tap->owner;
	const struct tcp_conn *conn = run_conn(&w->run, packet->flow);
	struct begun *begun;

	(void)host;
	if (packet->kind == PACKET_ACK || packet->seq || packet->flags & PACKET_RETRANSMIT ||
	    conn->tx.written != 30000)
		return true;
	w->flows = array_reserve(w->flows, w->count, &w->capacity, sizeof(*w->flows));
	begun = &w->flows[w->count++];
	*begun = (struct begun){ .src = conn->tx.host,
				 .dst = conn->rx.host,
				 .sent = packet->sent_at };
	memcpy(begun->route, packet->route, sizeof(begun->route));
	return true;
}

/* Mice of 30 kB beside large flows and jobs that are enabled or not. */
static void mice_run(struct mice *w, const char *large, const char *jobs)
{
	*w = (struct mice){ .count = 0 };
	run_build(&w->run,
		  "{ 'name': 't', " FABRIC ", 'stop': { 'when': 'time', 'after': '4ms' },"
		  " 'flows': [ { 'name': 'large', 'enabled': %s, 'size': '90KB',"
		  "              'arrival': { 'poisson_load': 0.05 } },"
		  "            { 'name': 'mice', 'size': '30KB',"
		  "              'arrival': { 'poisson_load': 0.05 } } ],"
		  " 'jobs': [ { 'enabled': %s, 'all_reduce': 'ring', 'workers': 4, 'count': 8,"
		  "             'iterations': 20, 'arrival': { 'poisson_gap': '100us' },"
		  "             'model': { 'layers': [ { 'gradient': '50KB' } ] } } ] }",
		  large, jobs);
	tap_in(&w->tap, &w->run, "tcp", note, w);
	run_to(&w->run, END_TIME);
}

/* The same hosts, the same path, and at the same time but for waiting at the NIC. */
static bool same_flow(const struct begun *a, const struct begun *b)
{
	sim_time apart = a->sent > b->sent ? a->sent - b->sent : b->sent - a->sent;

	return a->src == b->src && a->dst == b->dst && apart < 200 * PS_PER_US &&
	       !memcmp(a->route, b->route, sizeof(a->route));
}

/* Each flow of `a` is one of `b`. */
static void expect_flows_in(const struct mice *a, const struct mice *b)
{
	bool *taken = xcalloc(b->count, sizeof(*taken));
	size_t missing = 0;

	for (size_t i = 0; i < a->count; i++) {
		size_t k = 0;

		if (a->flows[i].sent > 3500 * PS_PER_US)
			continue; /* it may be under way at the end of the other run */
		while (k < b->count && (taken[k] || !same_flow(&a->flows[i], &b->flows[k])))
			k++;
		if (k < b->count)
			taken[k] = true;
		else
			missing++;
	}
	cr_assert_gt(a->count, 80);
	cr_expect_eq(missing, 0, "%zu of %zu flows differ", missing, a->count);
	free(taken);
}

static void mice_free(struct mice *w)
{
	free(w->flows);
	run_free(&w->run);
}

Test(mix, flows_are_the_same_without_other_flows_and_jobs)
{
	static const char *const off[][2] = { { "false", "true" },
					      { "true", "false" },
					      { "false", "false" } };
	struct mice all, part;

	mice_run(&all, "true", "true");
	for (size_t i = 0; i < 3; i++) {
		mice_run(&part, off[i][0], off[i][1]);
		expect_flows_in(&all, &part);
		expect_flows_in(&part, &all);
		mice_free(&part);
	}
	mice_free(&all);
}

/* Off is off: the run is the run without the group but for the numbers of flows. */
Test(mix, what_is_off_sends_nothing)
{
	const struct flow_class *classes;
	size_t class_count;
	struct mice w;

	mice_run(&w, "false", "false");
	cr_expect_eq(flows_started(w.run.s->flows),
		     flows_finished(w.run.s->flows) + tcp_open_count(w.run.s->tcp));
	classes = flows_classes(w.run.s->flows, &class_count);
	for (size_t i = 0; i < class_count; i++)
		cr_expect_eq(classes[i].count != 0, i == 1);
	cr_expect_eq(jobs_report(w.run.s->jobs)->count, 0);
	mice_free(&w);
}
