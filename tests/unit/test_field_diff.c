/* Summaries side by side (lab/regress/field_diff.h). */
#include "lab/regress/field_diff.h"

#include <criterion/criterion.h>

/* Compares two texts; the caller releases *diff. */
static void compare(const char *reference, const char *found,
		    const struct regress_tolerance *tolerances, size_t count,
		    struct field_diffs *diff)
{
	cJSON *a = cJSON_Parse(reference), *b = cJSON_Parse(found);

	*diff = (struct field_diffs){ 0 };
	field_diffs_find(a, b, tolerances, count, false, diff);
	cJSON_Delete(a);
	cJSON_Delete(b);
}

static void expect(const char *reference, const char *found, size_t count, size_t added,
		   const char *path)
{
	struct field_diffs diff;

	compare(reference, found, NULL, 0, &diff);
	cr_expect_eq(diff.count, count, "%s, %s: %zu", reference, found, diff.count);
	cr_expect_eq(diff.added, added, "%s, %s: %zu added", reference, found, diff.added);
	if (count && diff.count)
		cr_expect_str_eq(diff.fields[0].path, path);
	field_diffs_release(&diff);
}

Test(field_diff, exact_without_tolerance)
{
	expect("{\"a\": {\"b\": 1}}", "{\"a\": {\"b\": 1}}", 0, 0, NULL);
	expect("{\"a\": {\"b\": 1}}", "{\"a\": {\"b\": 1.0000000000000002}}", 1, 0, "a.b");
	expect("{\"a\": [1, 2]}", "{\"a\": [1, 3]}", 1, 0, "a.1");
	expect("{\"a\": \"x\"}", "{\"a\": \"y\"}", 1, 0, "a");
	expect("{\"a\": null}", "{\"a\": 0}", 1, 0, "a");
	expect("{\"a\": null}", "{\"a\": null}", 0, 0, NULL);
	expect("{\"a\": true}", "{\"a\": false}", 1, 0, "a");
}

/* A missing field is a difference; a new field is only counted. */
Test(field_diff, missing_and_added)
{
	expect("{\"a\": 1, \"b\": 2}", "{\"a\": 1}", 1, 0, "b");
	expect("{\"a\": 1}", "{\"a\": 1, \"b\": 2, \"c\": 3}", 0, 2, NULL);
	expect("{\"a\": [1, 2]}", "{\"a\": [1]}", 1, 0, "a.1");
	expect("{\"a\": [1]}", "{\"a\": [1, 2]}", 0, 1, NULL);
	expect("{\"a\": 1}", "{\"A\": 1}", 1, 1, "a");
}

/* Jobs may have other names; their order and number may not change. */
Test(field_diff, names_of_jobs_are_no_result)
{
	expect("{\"by_name\": {\"x\": 1, \"y\": 2}}", "{\"by_name\": {\"u\": 1, \"v\": 2}}", 0, 0,
	       NULL);
	expect("{\"by_name\": {\"x\": 1, \"y\": 2}}", "{\"by_name\": {\"x\": 2, \"y\": 1}}", 2, 0,
	       "by_name.0");
	expect("{\"by_name\": {\"x\": 1, \"y\": 2}}", "{\"by_name\": {\"x\": 1}}", 1, 0,
	       "by_name.1");
}

/* The first pattern that matches decides. A difference may be as large as its bound. */
Test(field_diff, tolerances)
{
	const struct regress_tolerance tolerances[] = { { "a.*", 0, 0.5 }, { "*", 0.01, 0 } };
	struct field_diffs diff;

	compare("{\"a\": {\"x\": 10, \"y\": 10}, \"b\": 100, \"c\": 100}",
		"{\"a\": {\"x\": 10.5, \"y\": 10.6}, \"b\": 101, \"c\": 101.1}", tolerances, 2,
		&diff);
	cr_assert_eq(diff.count, 2);
	cr_expect_str_eq(diff.fields[0].path, "a.y");
	cr_expect(diff.fields[0].tolerant && diff.fields[0].absolute == 0.5);
	cr_expect_str_eq(diff.fields[1].path, "c");
	cr_expect_str_eq(diff.fields[1].reference, "100");
	cr_expect_str_eq(diff.fields[1].found, "101.1");
	cr_expect(diff.fields[1].tolerant && diff.fields[1].relative == 0.01);
	field_diffs_release(&diff);
}

Test(field_diff, strip_leaves_what_the_run_decides)
{
	cJSON *summary = cJSON_Parse("{ \"scenario\": \"x\", \"seed\": 1, \"digest\": \"00\", "
				     "\"events\": 5, \"cpu_s\": 1, \"packet_hops_per_cpu_s\": 2, "
				     "\"peak_rss_bytes\": 3, \"jobs\": { \"cpu_s\": 4 } }");
	char *text;

	summary_strip(summary);
	text = cJSON_PrintUnformatted(summary);
	cr_expect_str_eq(text, "{\"seed\":1,\"jobs\":{\"cpu_s\":4}}");
	cJSON_free(text);
	cJSON_Delete(summary);
}
