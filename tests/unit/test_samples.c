/* From the name of a metric to its values, and to pairs of values. */
#include "lab/compare/samples.h"

#include "sweep_sample.h"

#include <math.h>
#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-samples-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(samples, .init = setup, .fini = teardown);

static void expect_source(const char *metric, const char *column, const char *name, double quantile)
{
	struct sample_source s;
	cr_assert(sample_source(metric, &s), "%s", metric);
	cr_expect_str_eq(s.metric->column, column);
	cr_assert_eq(!s.job_name, !name, "%s", metric);
	if (name)
		cr_expect(strlen(name) == s.name_length &&
				  !strncmp(s.job_name, name, s.name_length),
			  "%s", metric);
	cr_expect(isnan(quantile) ? isnan(s.quantile) : s.quantile == quantile, "%s", metric);
}

Test(samples, metrics_with_values_on_disk)
{
	expect_source("flows.fct_s.mean", "fct_s", NULL, NAN);
	expect_source("flows.slowdown.p999", "slowdown", NULL, 0.999);
	expect_source("jobs.jct_s.p50", "jct_s", NULL, 0.5);
	expect_source("jobs.iteration_s.p99", "duration_s", NULL, 0.99);
	expect_source("jobs.by_name.a.b.waiting_s.p95", "waiting_s", "a.b", 0.95);
	expect_source("jobs.by_name.a.b.iteration_s.mean", "duration_s", "a.b", NAN);
	expect_source("jobs.cycle_s.mean", "cycle_s", NULL, NAN);
	expect_source("jobs.slowdown.mean", "slowdown", NULL, NAN);
	expect_source("jobs.by_name.x.busbw_bytes_per_s.p50", "busbw_bytes_per_s", "x", 0.5);
}

/* Names of jobs may have any length. */
Test(samples, of_jobs_with_a_long_name)
{
	char name[301], metric[400];
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(metric, sizeof(metric), "jobs.by_name.%s.jct_s.mean", name);
	expect_source(metric, "jct_s", name, NAN);
}

Test(samples, metrics_without)
{
	static const char *const metrics[] = {
		"flows.fct_s.max",
		"flows.by_size.0.fct_s.mean",
		"flows.fct_s",
		"jobs.count",
		"flows.by_name.x.fct_s.mean",
		"jobs.fct_s.mean",
		"network.drops",
		"xjobs.jct_s.mean",
		"jobs.by_name.jct_s.mean",
		"jobs.other.jct_s.p50",
		".mean",
		"",
	};
	struct sample_source s;
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		cr_expect_not(sample_source(metrics[i], &s), "%s", metrics[i]);
}

#define HEADER "flow_id,src,dst,size_bytes,start_s,fct_s,measured,finished\n"

static struct samples read_flows(const char *rows)
{
	char *error = NULL;
	struct sample_source source;
	struct samples samples;
	sample_write(folder, "flows.csv", rows);
	cr_assert(sample_source("flows.fct_s.mean", &source));
	cr_assert(samples_read(folder, &source, &samples, &error), "%s", error);
	return samples;
}

/* In the order of completion on disk; flow 3 started in the warm-up. */
static const char some[] = HEADER "2,0,1,100,0.2,5,1,1\n0,0,1,100,0,7,1,1\n"
				  "3,0,1,100,0.1,9,0,1\n1,0,1,100,0.1,,1,0\n";

Test(samples, are_read_in_order)
{
	struct samples s = read_flows(some);
	cr_assert_eq(s.count, 3);
	cr_expect(s.values[0] == 7 && isnan(s.values[1]) && s.values[2] == 5 && s.each_is_work);
	samples_release(&s);
}

Test(samples, pair_the_same_flows)
{
	struct samples a = read_flows(some);
	struct samples b = read_flows(HEADER "0,0,1,100,0,3,1,1\n1,0,1,100,0.1,4,1,1\n"
					     "4,0,1,100,0.5,6,1,1\n");
	double *x, *y;
	cr_assert_eq(samples_pair(&a, &b, &x, &y), 4);
	cr_expect(x[0] == 7 && isnan(x[1]) && x[2] == 5 && isnan(x[3]));
	cr_expect(y[0] == 3 && y[1] == 4 && isnan(y[2]) && y[3] == 6);
	free(x);
	free(y);
	samples_release(&a);
	samples_release(&b);
}

static void expect_no_pairs(const char *rows)
{
	struct samples a = read_flows(some), b = read_flows(rows);
	double *x, *y;
	cr_expect_eq(samples_pair(&a, &b, &x, &y), 0, "%s", rows);
	free(x);
	free(y);
	samples_release(&a);
	samples_release(&b);
}

Test(samples, do_not_pair_others)
{
	expect_no_pairs(HEADER "0,0,1,101,0,3,1,1\n");                      /* size */
	expect_no_pairs(HEADER "0,0,1,100,0.1,3,1,1\n");                    /* start */
	expect_no_pairs(HEADER "0,0,2,100,0,3,1,1\n");                      /* receiver */
	expect_no_pairs(HEADER "2,0,1,100,0.2,5,1,1\n0,0,1,101,0,3,1,1\n"); /* one of two */
	expect_no_pairs(HEADER "7,0,1,100,0,3,1,1\n");                      /* none in common */
	expect_no_pairs(HEADER);
}

/* Job 1 is unfinished; job 2 has finished, but has no ideal. */
Test(samples, unfinished_jobs_count_for_metrics_that_some_lack)
{
	char *error = NULL;
	struct sample_source source;
	struct samples s;
	sample_write(folder, "jobs.csv",
		     "job_id,name,model,workers,arrival_s,slowdown,measured,finished\n"
		     "0,a,m,4,0,1.5,1,1\n1,a,m,4,0,,1,0\n2,a,m,4,0,,1,1\n");
	cr_assert(sample_source("jobs.slowdown.mean", &source));
	cr_assert(samples_read(folder, &source, &s, &error), "%s", error);
	cr_assert_eq(s.count, 2);
	cr_expect(s.values[0] == 1.5 && isnan(s.values[1]));
	samples_release(&s);
}

Test(samples, wrong_or_missing_tables)
{
	char *error = NULL;
	struct sample_source source;
	struct samples s;
	cr_assert(sample_source("jobs.jct_s.mean", &source));
	cr_assert(samples_read(folder, &source, &s, &error));
	cr_expect_eq(s.count, 0);
	samples_release(&s);
	sample_write(folder, "jobs.csv", "job_id,name\n");
	cr_expect_not(samples_read(folder, &source, &s, &error));
	cr_expect_not_null(strstr(error, "jobs.csv: no column"), "%s", error);
	cr_expect_eq(s.count, 0);
	samples_release(&s); /* nothing is left to be released twice */
	free(error);
}
