/* The reader of collected sweeps: what it hands out, and that whatever does not
 * fit together is refused with its place. */
#include "sweep_sample.h"

#include <math.h>
#include <stdint.h>
#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-sweep-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(sweep_table, .init = setup, .fini = teardown);

Test(sweep_table, reads_all)
{
	char *error = NULL, *dir = sample_sweep(folder, "s", SAMPLE_JSON, SAMPLE_CSV);
	cr_assert(sweep_table_exists(dir));
	struct sweep_table *t = sweep_table_read(dir, &error);
	cr_assert_not_null(t, "%s", error);
	cr_expect_str_eq(t->name, "sample");
	cr_expect_str_eq(t->dir, dir);
	cr_expect(t->axis_count == 2 && t->metric_count == 2 && t->point_count == 12 &&
		  t->replications == 3);
	cr_expect_eq(sweep_table_axis(t, "scheme"), 1);
	cr_expect_eq(sweep_table_axis(t, "Scheme"), SIZE_MAX);
	cr_expect_eq(sweep_table_metric(t, "late"), 1);
	cr_expect_eq(sweep_table_metric(t, "load"), SIZE_MAX);
	cr_expect_str_eq(t->axes[1].values[1], "ina, new");
	const struct sweep_point *p = &t->points[5];
	cr_expect(p->number == 5 && p->replication == 2 && p->seed == 73 && p->usable);
	cr_expect(p->levels[0] == 0 && p->levels[1] == 1);
	cr_expect(p->metrics[0] == 7 && isnan(p->metrics[1]));
	cr_expect_str_eq(p->hash, "00000000000000a5");
	cr_expect(p->status == POINT_DONE);
	cr_expect(t->points[10].usable && !t->points[11].usable);
	cr_expect(isnan(t->points[11].metrics[0]));
	sweep_table_free(t);
	sweep_table_free(NULL);
	free(dir);
}

/* No axes, no metrics, no points; the columns in any order. */
Test(sweep_table, reads_the_least_there_is)
{
	char *error = NULL,
	     *dir = sample_sweep(folder, "s",
				 "{\"name\":\"\",\"axes\":[],\"replications\":1,\"metrics\":[]}",
				 "status,seed,replication,hash,point\n");
	struct sweep_table *t = sweep_table_read(dir, &error);
	cr_assert_not_null(t, "%s", error);
	cr_expect(t->axis_count == 0 && t->metric_count == 0 && t->point_count == 0);
	sweep_table_free(t);
	free(dir);
}

static void refused(const char *json, const char *csv, const char *want)
{
	char *error = NULL, *dir = sample_sweep(folder, "bad", json, csv);
	struct sweep_table *t = sweep_table_read(dir, &error);
	cr_expect_null(t, "taken, where \"%s\" is wrong", want);
	cr_expect(t || strstr(error, want), "no \"%s\" in: %s", want, error);
	sweep_table_free(t);
	free(error);
	cr_expect(folder_remove(dir));
	free(dir);
}

#define POINT(number, hash, replication, load, scheme, status, jct)                                \
	SAMPLE_HEADER number "," hash "," replication ",71," load "," scheme "," status "," jct    \
			     ",\n"
#define HASH "0123456789abcdef"

Test(sweep_table, refuses_rows_that_are_wrong)
{
	refused(SAMPLE_JSON, POINT("1", HASH, "0", "0.2", "ring", "done", "1"),
		"sweep.csv:2: column point: \"1\" is out of order");
	refused(SAMPLE_JSON, POINT("0", "abc", "0", "0.2", "ring", "done", "1"),
		"sweep.csv:2: column hash: \"abc\" is not a hash");
	refused(SAMPLE_JSON, POINT("0", "0123456789ABCDEF", "0", "0.2", "ring", "done", "1"),
		"is not a hash");
	refused(SAMPLE_JSON, POINT("0", HASH, "3", "0.2", "ring", "done", "1"),
		"column replication: \"3\" is beyond");
	refused(SAMPLE_JSON, POINT("0", HASH, "0", "0.20", "ring", "done", "1"),
		"column load: \"0.20\" is not a value of this axis");
	refused(SAMPLE_JSON, POINT("0", HASH, "0", "0.2", "ring", "finished", "1"),
		"column status: \"finished\" is not the status of a point");
	refused(SAMPLE_JSON, POINT("0", HASH, "0", "0.2", "ring", "done", "1s"),
		"column jct: \"1s\" is not a number");
	refused(SAMPLE_JSON, POINT("0", HASH, "0", "0.2", "ring", "done", "nan"),
		"column jct: \"nan\" is not a number");
	refused(SAMPLE_JSON, SAMPLE_CSV "12,", "sweep.csv:14: ");
}

/* sweep.json says how many points there are: a table that was cut off is not a smaller sweep. */
Test(sweep_table, refuses_a_table_that_was_cut)
{
	static const char json[] = "{ \"name\": \"cut\", \"axes\": [], \"replications\": 2, "
				   "\"points\": 2, \"metrics\": [\"m\"] }";
#define CUT_ROW "point,hash,replication,seed,status,m\n0," HASH ",0,7,done,17\n"
	char *error = NULL;
	char *dir = sample_sweep(folder, "whole", json, CUT_ROW "1," HASH ",1,8,done,17\n");
	struct sweep_table *t = sweep_table_read(dir, &error);

	cr_assert_not_null(t, "%s", error);
	cr_expect_eq(t->point_count, 2);
	sweep_table_free(t);
	free(dir);
	refused(json, CUT_ROW "1," HASH ",1,8,done,1", "the last line has no end");
	refused(json, CUT_ROW, "sweep.csv:3: ends after 1 rows, sweep.json says 2");
}

Test(sweep_table, refuses_files_that_do_not_fit)
{
	refused(SAMPLE_JSON, "point,hash,replication,seed,load,status,jct,late\n",
		"no column scheme");
	refused(SAMPLE_JSON, "point,hash,replication,seed,load,scheme,status,jct\n",
		"no column late");
	refused(SAMPLE_JSON, "point,hash,replication,seed,load,scheme,status,jct,late,more\n",
		"has 10 columns, but its sweep.json lists 9; collect the sweep again");
	refused(SAMPLE_JSON, NULL, "cannot read");
}

Test(sweep_table, refuses_a_sweep_json_that_is_wrong)
{
	refused("{\"name\":\"x\",\"axes\":[],\"replications\":1}", SAMPLE_CSV,
		"sweep.json:1:1: /: the key \"metrics\" is missing");
	refused("{\"name\":\"x\",\"axes\":[],\"replications\":0,\"metrics\":[]}", SAMPLE_CSV,
		"/replications: ");
	refused("{\"name\":\"x\",\"axes\":[],\n\"replications\":1,\"metrics\":[],\"x\":1}",
		SAMPLE_CSV, "sweep.json:2:");
	refused("{\"name\":\"x\",\"axes\":[{\"name\":\"a\",\"values\":[\"1\",\"1\"]}],"
		"\"replications\":1,\"metrics\":[]}",
		SAMPLE_CSV, "/axes/0/values/1: \"1\" is listed twice");
	refused("{\"name\":\"x\",\"axes\":[{\"name\":\"a\",\"values\":[\"1\"]},"
		"{\"name\":\"a\",\"values\":[\"1\"]}],\"replications\":1,\"metrics\":[]}",
		SAMPLE_CSV, "/axes/1: \"a\" is listed twice");
	refused("{\"name\":\"x\",\"axes\":[],\"replications\":1,\"metrics\":[\"m\",\"m\"]}",
		SAMPLE_CSV, "/metrics/1: \"m\" is listed twice");
	refused("[", SAMPLE_CSV, "sweep.json:1:");
}

Test(sweep_table, says_what_a_directory_is_instead)
{
	char *error = NULL;
	cr_expect_null(sweep_table_read("/nowhere/at/all", &error));
	cr_expect_not_null(strstr(error, "there is no such directory"), "%s", error);
	free(error);
	cr_expect_not(sweep_table_exists(folder));
	cr_expect_null(sweep_table_read(folder, &error));
	cr_expect_not_null(strstr(error, "is not a sweep"), "%s", error);
	free(error);
	sample_write(folder, "plan.json", "{}");
	cr_expect_null(sweep_table_read(folder, &error));
	cr_expect_not_null(strstr(error, "not collected yet"), "%s", error);
	free(error);
}
