/* The numbers of a summary.json by their paths. */
#include "lab/summary.h"

#include "data/json_read.h"

#include "sweep_sample.h"

#include <math.h>
#include <stdint.h>
#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-summary-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(summary, .init = setup, .fini = teardown);

Test(summary, numbers_by_path)
{
	static const char text[] =
		"{ \"cpu_s\": 1, \"peak_rss_bytes\": 2, \"digest\": \"00\","
		"  \"jobs\": { \"count\": 3, \"jct_s\": { \"p50\": null },"
		"              \"by_name\": { \"a.b\": { \"cpu_s\": 5 } } },"
		"  \"flows\": { \"by_size\": [ { \"count\": 7 }, { \"count\": 8 } ] } }";
	char *error = NULL;
	struct summary s;
	sample_write(folder, "summary.json", text);
	cr_assert(summary_read(&s, folder, &error), "%s", error);
	cr_expect_eq(s.count, 5);
	cr_expect_eq(summary_value(&s, "jobs.count"), 3);
	cr_expect_eq(summary_value(&s, "jobs.by_name.a.b.cpu_s"),
		     5); /* only the outermost cpu_s is about the machine */
	cr_expect_eq(summary_value(&s, "flows.by_size.1.count"), 8);
	cr_expect(isnan(summary_value(&s, "jobs.jct_s.p50")));
	cr_expect_neq(summary_find(&s, "jobs.jct_s.p50"), SIZE_MAX);
	cr_expect_eq(summary_find(&s, "cpu_s"), SIZE_MAX);
	cr_expect_eq(summary_find(&s, "digest"), SIZE_MAX);
	cr_expect_eq(summary_find(&s, "Jobs.count"), SIZE_MAX);
	summary_release(&s);
}

static void refused(const char *text, const char *want)
{
	char *error = NULL;
	if (text)
		sample_write(folder, "summary.json", text);
	cr_expect_null(json_read(folder, "summary.json", &error));
	cr_expect_not_null(strstr(error, want), "%s", error);
	free(error);
}

Test(summary, files_that_are_none)
{
	refused(NULL, "No such file");
	refused("", "summary.json:1: is not a JSON object");
	refused("[1]", "summary.json:1: is not a JSON object");
	refused("{\n\"a\": }", "summary.json:2: ");
	refused("{}\n{}", "summary.json:2: ");
}
