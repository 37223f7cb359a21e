/* Jain's index of the members of each group, by hand. */
#include "lab/compare/fairness.h"

#include "sweep_sample.h"

#include <math.h>
#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-fairness-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(fairness, .init = setup, .fini = teardown);

static void expect_group(const struct fairness *f, const char *metric, double index,
			 size_t finished, size_t count)
{
	const struct fairness_group *group = fairness_find(f, metric);
	cr_assert_not_null(group, "%s", metric);
	cr_expect(isnan(index) ? isnan(group->index) : fabs(group->index - index) < 1e-14,
		  "%s: %.17g", metric, group->index);
	cr_expect_eq(group->finished, finished, "%s", metric);
	cr_expect_eq(group->count, count, "%s", metric);
}

#define FLOWS "flow_id,group,size_bytes,fct_s,measured,finished\n"
#define JOBS  "job_id,name,gradient_bytes,iterations_done,start_s,finish_s,measured,finished\n"

/* a: 100, 300 and 200 B/s: 600^2 / (3 * 140000); one not finished, one of the
 * warm-up. b: one alone. Jobs x: 10 * 4 / 2 = 20 and 30 * 2 / (5 - 3) = 30 B/s:
 * 50^2 / (2 * 1300); one never started, one of the warm-up. y: equal. */
Test(fairness, groups_by_hand)
{
	struct fairness f;
	char *error = NULL;
	sample_write(folder, "flows.csv",
		     FLOWS "0,a,100,1,1,1\n1,b,100,1,1,1\n2,a,600,2,1,1\n3,a,400,2,1,1\n"
			   "4,a,400,,1,0\n5,a,1,1,0,1\n");
	sample_write(folder, "jobs.csv",
		     JOBS "0,x,10,4,0,2,1,1\n1,y,5,1,1,2,1,1\n2,x,30,2,3,5,1,1\n3,y,10,2,1,5,1,1\n"
			  "4,x,10,0,,,1,0\n5,x,10,1,0,1,0,1\n");
	cr_assert(fairness_read(folder, &f, &error), "%s", error);
	cr_expect_eq(f.count, 4);
	expect_group(&f, "jain.flows.a", 6. / 7, 3, 4);
	expect_group(&f, "jain.flows.b", NAN, 1, 1);
	expect_group(&f, "jain.jobs.x", 25. / 26, 2, 3);
	expect_group(&f, "jain.jobs.y", 1, 2, 2);
	cr_expect_null(fairness_find(&f, "jain.flows.x"));
	fairness_release(&f);
}

Test(fairness, without_tables_there_is_nothing)
{
	struct fairness f;
	char *error = NULL;
	cr_assert(fairness_read(folder, &f, &error));
	cr_expect_eq(f.count, 0);
	fairness_release(&f);
}

Test(fairness, broken_tables)
{
	static const char *const tables[][2] = {
		{ "flow_id,size_bytes,fct_s,measured,finished\n", "no column group" },
		{ FLOWS "0,a,100,1,1,yes\n", "column finished: \"yes\"" },
		{ FLOWS "0,a,100,,1,1\n", "column fct_s: \"\" is not a number" },
	};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		struct fairness f;
		char *error = NULL;
		sample_write(folder, "flows.csv", tables[i][0]);
		cr_expect_not(fairness_read(folder, &f, &error));
		cr_expect(error != NULL && strstr(error, tables[i][1]), "%s", error);
		cr_expect_eq(f.count, 0);
		free(error);
	}
}
