#include "workload/jobs/job_trace.h"

#include "collective/schemes.h"
#include "workload/flows/size_cdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-jobs-XXXXXX";
static char path[sizeof(folder) + 16];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.csv", folder);
}

static void teardown(void)
{
	unlink(path);
	rmdir(folder);
}

TestSuite(job_trace, .init = setup, .fini = teardown);

static void write_file(const char *header, const char *rows)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fprintf(file, "%s\n%s", header, rows);
	cr_assert_eq(fclose(file), 0);
}

/* Columns are found by name, other columns are skipped, fractions of a second are exact. */
Test(job_trace, jobs)
{
	struct job_trace trace;
	char *error = NULL;

	write_file("vc,duration_s,job_id,gpus,submit_s",
		   "a,74,9,1,0\nb,0,7,16,0.1\nc,1.000000000001,8,8,0.1\n");
	cr_assert(job_trace_load(&trace, path, &error), "%s", error);
	cr_assert_eq(trace.count, 3);
	cr_expect_str_eq(trace.jobs[0].id, "9");
	cr_expect_str_eq(trace.unread, "vc");
	cr_expect_eq(trace.jobs[0].duration, 74 * PS_PER_S);
	cr_expect_eq(trace.jobs[1].submit, 100 * PS_PER_MS);
	cr_expect_eq(trace.jobs[1].gpus, 16);
	cr_expect_eq(trace.jobs[2].duration, PS_PER_S + 1);
	job_trace_release(&trace);
}

/* A trace without durations, with text as job ids. Its rows name model and scheme. */
Test(job_trace, what_rows_name)
{
	struct job_trace trace;
	char *error = NULL;

	write_file("job_id,submit_s,gpus,scheme,model", "a-1,0,1,,\nb,0,2,esa,vgg16\n");
	cr_assert(job_trace_load(&trace, path, &error), "%s", error);
	cr_assert_eq(trace.count, 2);
	cr_expect_not(trace.durations);
	cr_expect_null(trace.unread);
	cr_expect_str_eq(trace.jobs[0].id, "a-1");
	cr_expect_null(trace.jobs[0].model);
	cr_expect_eq(trace.jobs[0].scheme, -1);
	cr_expect_str_eq(trace.jobs[1].model, "vgg16");
	cr_expect_str_eq(scheme_names[trace.jobs[1].scheme], "esa");
	job_trace_release(&trace);
}

Test(job_trace, flows)
{
	struct flow_trace trace;
	char *error = NULL;

	write_file("start_s,src,dst,size_bytes", "0.5,0,3,1\n0.5,3,0,5000000000\n2,1,2,99\n");
	cr_assert(flow_trace_load(&trace, path, NULL, &error), "%s", error);
	cr_assert_eq(trace.count, 3);
	cr_expect_eq(trace.flows[0].start, 500 * PS_PER_MS);
	cr_expect_eq(trace.flows[1].src, 3);
	cr_expect_eq(trace.flows[1].dst, 0);
	cr_expect_eq(trace.flows[1].size, UINT64_C(5000000000));
	cr_expect_eq(trace.flows[2].start, 2 * PS_PER_S);
	flow_trace_release(&trace);
}

/* Hosts by name and by number, and a flow that ends with the run. */
Test(job_trace, names_of_hosts)
{
	const char *const names[] = { "gpu-a", "7", "gpu-c", "a switch" };
	const struct graph graph = { .hosts = 3, .names = names };
	struct flow_trace trace;
	char *error = NULL;

	write_file("start_s,src,dst,size_bytes", "0,gpu-c,gpu-a,5\n0,1,gpu-c,endless\n");
	cr_assert(flow_trace_load(&trace, path, &graph, &error), "%s", error);
	cr_assert_eq(trace.count, 2);
	cr_expect_eq(trace.flows[0].src, 2);
	cr_expect_eq(trace.flows[0].dst, 0);
	cr_expect_eq(trace.flows[1].src, 1);
	cr_expect_eq(trace.flows[1].size, FLOW_ENDLESS);
	flow_trace_release(&trace);
	write_file("start_s,src,dst,size_bytes", "0,gpu-c,a switch,5\n");
	cr_assert_not(flow_trace_load(&trace, path, &graph, &error));
	cr_expect_str_eq(error + strlen(path), ":2: column dst: \"a switch\" is neither the number "
					       "nor the name of a host");
	free(error);
}

/* A table without rows is a trace without arrivals. */
Test(job_trace, empty)
{
	struct job_trace jobs;
	struct flow_trace flows;
	char *error = NULL;

	write_file("job_id,submit_s,gpus,duration_s", "");
	cr_assert(job_trace_load(&jobs, path, &error));
	cr_expect_eq(jobs.count, 0);
	job_trace_release(&jobs);
	write_file("start_s,src,dst,size_bytes", "");
	cr_assert(flow_trace_load(&flows, path, NULL, &error));
	cr_expect_eq(flows.count, 0);
	flow_trace_release(&flows);
}

/* Both Philly tables of the project: as many jobs as their README says. */
Test(job_trace, tables_of_the_project)
{
	static const struct {
		const char *name;
		size_t jobs;
	} known[] = { { "philly_window_2000", 2000 }, { "philly_8plus", 1932 } };

	for (size_t i = 0; i < 2; i++) {
		struct job_trace trace;
		char *error = NULL, file[256];

		snprintf(file, sizeof(file), "%s/traces/jobs/%s.csv", INASIM_SOURCE_DIR,
			 known[i].name);
		cr_assert(job_trace_load(&trace, file, &error), "%s", error);
		cr_expect_eq(trace.count, known[i].jobs);
		job_trace_release(&trace);
	}
}

struct mistake {
	const char *rows, *want;
};

static void expect_mistake(const struct mistake *mistake, bool flows)
{
	struct flow_trace flow_trace;
	struct job_trace job_trace;
	char *error = NULL;

	write_file(flows ? "start_s,src,dst,size_bytes" : "job_id,submit_s,gpus,duration_s",
		   mistake->rows);
	cr_assert_not(flows ? flow_trace_load(&flow_trace, path, NULL, &error)
			    : job_trace_load(&job_trace, path, &error),
		      "taken: %s", mistake->rows);
	cr_expect_str_eq(error + strlen(path), mistake->want);
	free(error);
}

Test(job_trace, mistakes_in_jobs)
{
	static const struct mistake mistakes[] = {
		{ "1,0,1,5\n2,-1,1,5\n",
		  ":3: column submit_s: \"-1\" is not a decimal number without sign and exponent" },
		{ "1,5,1,5\n2,4.9,1,5\n",
		  ":3: column submit_s: \"4.9\" is earlier than in the previous row" },
		{ "1,0,0,5\n", ":2: column gpus: \"0\" is too small" },
		{ "1,0,4294967296,5\n", ":2: column gpus: \"4294967296\" is too large" },
		{ "1,0,1.5,5\n", ":2: column gpus: \"1.5\" is not a whole number of 64 bits" },
		{ "1,0,1,9999999999\n",
		  ":2: column duration_s: \"9999999999\" is longer than 213 days" },
		{ "1,0.0000000000005,1,1\n",
		  ":2: column submit_s: \"0.0000000000005\" is finer than a picosecond" },
		{ "1,0,1\n", ":2: 3 cells, the header line has 4" },
	};

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		expect_mistake(&mistakes[i], false);
}

Test(job_trace, mistakes_in_flows)
{
	static const struct mistake mistakes[] = {
		{ "1,0,1,5\n0.9,0,1,5\n",
		  ":3: column start_s: \"0.9\" is earlier than in the previous row" },
		{ "0,3,3,5\n", ":2: column dst: \"3\" is the source as well" },
		{ "0,3,4,0\n", ":2: column size_bytes: \"0\" is no size of a flow" },
		{ "0,3,4,1125899906842624\n0,3,4,1125899906842625\n",
		  ":3: column size_bytes: \"1125899906842625\" is more than 2^50 bytes" },
		{ "0,-3,4,9\n",
		  ":2: column src: \"-3\" is no number of a host; only graphs have names" },
		{ "0,3,4,endles\n",
		  ":2: column size_bytes: \"endles\" is not a whole number of 64 bits" },
		{ "0,3,4294967296,9\n", ":2: column dst: \"4294967296\" is too large" },
		{ "1e-3,3,4,9\n", ":2: column start_s: \"1e-3\" is not a decimal number without "
				  "sign and exponent" },
	};

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		expect_mistake(&mistakes[i], true);
}

Test(job_trace, missing_column_and_file)
{
	struct job_trace trace;
	char *error = NULL;

	write_file("job_id,submit_s,num_gpu,duration_s", "1,0,1,5\n");
	cr_assert_not(job_trace_load(&trace, path, &error));
	cr_expect_str_eq(error + strlen(path), ": no column gpus");
	free(error);
	unlink(path);
	cr_assert_not(job_trace_load(&trace, path, &error));
	cr_expect_not_null(strstr(error, "No such file"));
	free(error);
}
