/* max_steps: a job of many iterations in a few steps that stand for several each. */
#include "model_run.h"

#include "workload/jobs/jobs_parts.h"

/* Two workers on a star of 10 Gbps; iterations of 100 us of computing and 1 MB. %s: more of the
 * job. */
#define JOB                                                                                        \
	"{'name':'s','topology':{'kind':'star','hosts':4},'jobs':[{'name':'j','workers':2,"        \
	"'iterations':120,'all_reduce':'%s',%s"                                                    \
	"'model':{'layers':[{'gradient':'1MB','forward':'40us','backward':'60us'}]}}]}"

static void run_job(struct run *run, const char *scheme, const char *more)
{
	run_build(run, JOB, scheme, more);
	run_to(run, END_ALL_DONE);
}

static const struct job *only_job(const struct run *run)
{
	return &run->s->jobs->jobs[0];
}

/* Payload that a host has sent. */
static uint64_t sent(const struct run *run)
{
	uint64_t packets, size;

	port_carried(&run->s->topo.net.ports[0], &packets, &size);
	return size;
}

/* In 20 steps as in 120 iterations: the same computing to the picosecond, the same bytes but for
 * the last, shorter packet of a tensor, and the same time but for the round trips that end
 * tensors. A run of SwitchML's 120 ends costs a few us each of 100 + 1400. */
Test(steps, work_is_the_same)
{
	struct run all, steps;

	run_job(&all, "switchml", "");
	run_job(&steps, "switchml", "'max_steps':20,");
	cr_expect_eq(only_job(&all)->iterations, 120);
	cr_expect_eq(only_job(&all)->stands_for, 1);
	cr_expect_eq(only_job(&steps)->iterations, 20);
	cr_expect_eq(only_job(&steps)->iterations_done, 20);
	cr_expect_eq(only_job(&steps)->stands_for, 6);
	cr_expect_eq(only_job(&steps)->dnn->gradient_total, 6000000);
	cr_expect_eq(only_job(&steps)->busy_mark, only_job(&all)->busy_mark);
	cr_expect_eq(only_job(&steps)->busy_mark, 2 * 120 * 100 * PS_PER_US);
	cr_expect_float_eq((double)sent(&steps) / (double)sent(&all), 1, 0.001);
	cr_expect_lt(only_job(&steps)->finish, only_job(&all)->finish);
	cr_expect_float_eq((double)only_job(&steps)->finish / (double)only_job(&all)->finish, 1,
			   0.02);
	run_free(&all);
	run_free(&steps);
}

/* Iterations that are no multiple of the steps: a step stands for 120 / 7 of them, gradients
 * rounded to whole values. */
Test(steps, fractions)
{
	struct run run;

	run_job(&run, "ring", "'max_steps':7,");
	cr_expect_eq(only_job(&run)->iterations, 7);
	cr_expect_eq(only_job(&run)->dnn->gradient_total, 17142856);      /* 4285714.3 values */
	cr_expect_eq(only_job(&run)->dnn->compute_total, 1714285714 + 1); /* 40 and 60: both up */
	run_free(&run);
}

/* As many steps as iterations, or more, change nothing. */
Test(steps, enough_steps_no_effect)
{
	static const char *const more[] = { "", "'max_steps':120,", "'max_steps':1000000," };
	uint64_t digests[3];

	for (size_t i = 0; i < 3; i++) {
		struct run run;

		run_job(&run, "ring", more[i]);
		digests[i] = simulation_digest(run.s);
		run_free(&run);
	}
	cr_expect_eq(digests[1], digests[0]);
	cr_expect_eq(digests[2], digests[0]);
}

/* PANAMA runs a ring where an iteration has no more than `aggregate_above`, however much a step
 * has: then no switch absorbs a packet. */
Test(steps, small_jobs_stay_small)
{
	for (int above = 0; above < 2; above++) {
		struct run run;

		run_build(&run,
			  "{'name':'s','topology':{'kind':'star','hosts':4},"
			  "'schemes':{'panama':{'aggregate_above':'1MB'}},"
			  "'jobs':[{'workers':2,'iterations':10,'max_steps':2,"
			  "'all_reduce':'panama','model':{'layers':[{'gradient':'%s'}]}}]}",
			  above ? "1.1MB" : "1MB");
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(run.s->topo.net.absorbed > 0, above);
		run_free(&run);
	}
}

/* Jobs of a group that is not enabled have their steps, too, and leave nothing behind (a leak
 * fails under the sanitizer). */
Test(steps, not_enabled)
{
	struct run run;

	run_build(&run, "{'name':'s','topology':{'kind':'star','hosts':4},'jobs':["
			"{'name':'off','enabled':false,'workers':2,'iterations':9,'max_steps':2,"
			"'all_reduce':'ring','model':{'layers':[{'gradient':'1MB'}]}},"
			"{'name':'on','workers':2,'all_reduce':'ring',"
			"'model':{'layers':[{'gradient':'1MB'}]}}]}");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(jobs_report(run.s->jobs)->count, 1);
	run_free(&run);
}

/* A step has to be shorter than any run and countable. */
Test(steps, mistakes)
{
	cr_expect_eq(run_mistakes("\"max_steps\" included); at most",
				  "{'name':'s','topology':{'kind':'star','hosts':4},'jobs':[{"
				  "'workers':2,'iterations':1000000000,'max_steps':1,"
				  "'all_reduce':'ring','model':{'layers':[{'gradient':'2MB'}]}}]}"),
		     1);
	cr_expect_eq(run_mistakes("/jobs/0/max_steps",
				  "{'name':'s','topology':{'kind':'star','hosts':4},'jobs':[{"
				  "'workers':2,'iterations':10,'max_steps':0,"
				  "'all_reduce':'ring','model':{'layers':[{'gradient':'2MB'}]}}]}"),
		     1);
}
