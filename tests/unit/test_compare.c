/* Comparisons of directories made by hand. The expected numbers are computed
 * apart: Python 3, Student's t by Simpson's rule and bisection, Fieller's interval
 * in the textbook's form, binomial ranks by summation. */
#include "compare_sample.h"

#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-compare-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(compare, .init = setup, .fini = teardown);

/* ---- Runs ---- */

/* 25 flows of 1000 + `size` bytes; flow i takes i + 1 s if slow, else half of that, plus or minus
 * 0.25 s in turn. The last flow may not have finished. Flow 25 belongs to the warm-up. */
struct hand_made {
	bool fast, unfinished;
	int size, seed, drops;
	const char *mean, *p50; /* as summary.json tells */
	const char *commit;     /* NULL: the run's name */
};

static char *make_run(const char *name, struct hand_made run)
{
	char *dir = folder_join(folder, name), *text = NULL;
	size_t length;
	mkdir(dir, 0777);
	FILE *to = open_memstream(&text, &length);
	fputs("flow_id,group,src,dst,size_bytes,start_s,fct_s,measured,finished\n", to);
	for (int i = 0; i < 25; i++) {
		double x = i + 1, fct = run.fast ? x / 2 + (i % 2 ? -0.25 : 0.25) : x;
		if (run.unfinished && i == 24)
			fprintf(to, "%d,g,0,1,%d,%d,,1,0\n", i, 1000 + run.size, i);
		else
			fprintf(to, "%d,g,0,1,%d,%d,%.17g,1,1\n", i, 1000 + run.size, i, fct);
	}
	fputs("25,g,0,1,1000,0,99,0,1\n", to);
	fclose(to);
	sample_write(dir, "flows.csv", text);
	free(text);
	to = open_memstream(&text, &length);
	fprintf(to,
		"{ \"scenario\": \"hand\", \"seed\": %d, \"end_reason\": \"all_done\", \"digest\": "
		"\"%s\","
		"  \"jobs\": { \"count\": 0, \"finished\": 0, \"jct_s\": { \"mean\": null } },"
		"  \"flows\": { \"count\": 25, \"finished\": %d, \"fct_s\": { \"mean\": %s, "
		"\"p50\": %s,"
		" \"p99\": null }, \"by_name\": { \"g\": { \"count\": 25, \"finished\": 25,"
		" \"jain\": 0.5 } } }, \"network\": { \"drops\": %d } }",
		run.seed, name, run.unfinished ? 24 : 25, run.mean, run.p50, run.drops);
	fclose(to);
	sample_write(dir, "summary.json", text);
	free(text);
	to = open_memstream(&text, &length);
	fprintf(to,
		"{ \"version\": \"0.1.0\", \"commit\": \"%s\", \"scenario\": { \"seed\": %d } }",
		run.commit ? run.commit : name, run.seed);
	fclose(to);
	sample_write(dir, "manifest.json", text);
	free(text);
	return dir;
}

static const struct hand_made slow = { .seed = 1, .mean = "13", .p50 = "13" };
static const struct hand_made fast = { .fast = true, .seed = 1, .mean = "6.51", .p50 = "6.75" };

static const char *metrics[] = { "flows.fct_s.mean", "flows.fct_s.p50" };
#define ASK_BOTH                                                                                   \
	(struct compare_options)                                                                   \
	{                                                                                          \
		.metrics = { metrics, 2 }, .tolerance = NAN, .json = true                          \
	}
#define ASK_USUAL                                                                                  \
	(struct compare_options)                                                                   \
	{                                                                                          \
		.tolerance = NAN, .json = true                                                     \
	}

/* Flows of one run are no independent values: a spread, and no interval of the value or the ratio.
 * The ratio is over the flows that both finished. */
Test(compare, one_seed_has_no_interval)
{
	char *a = make_run("a", slow), *b = make_run("b", fast);
	struct answer answer = ask(a, b, ASK_BOTH);
	const cJSON *row = row_of(&answer, "flows.fct_s.mean", "A");
	expect_estimate(row, "value", 13, NAN, NAN, 1, 0);
	near(number_of(row, "spread"), sqrt(25 * 26 / 12.), "of 1 ... 25");
	expect_basis(row, NULL);
	row = row_of(&answer, "flows.fct_s.mean", "B");
	expect_basis(row, "common");
	expect_estimate(row, "ratio", 0.5007692307692307, NAN, NAN, 25, 0);
	cr_expect(cJSON_IsFalse(cJSON_GetObjectItem(row, "excludes_1")));
	row = row_of(&answer, "flows.fct_s.p50", "B");
	expect_basis(row, "common");
	expect_estimate(row, "ratio", 6.75 / 13, NAN, NAN, 25, 0);
	answer_release(&answer);
	answer = ask(a, b, (struct compare_options){ .tolerance = NAN });
	cr_expect_not_null(strstr(answer.text, "One seed each: no intervals"), "%s", answer.text);
	answer_release(&answer);
	free(a);
	free(b);
}

/* Runs that differ in their seed alone are replications: 10 11 12 against 5.5 5.5 7, of the same
 * seeds, as in the sweep below, whose intervals these are. */
Test(compare, runs_of_several_seeds)
{
	static const char *const means[] = { "10", "11", "12", "5.5", "5.5", "7" };
	const char *dirs[6];
	for (int i = 0; i < 6; i++) {
		char name[] = { (char)('a' + i), '\0' };
		dirs[i] = make_run(name, (struct hand_made){ .seed = 1 + i % 3,
							     .mean = means[i],
							     .p50 = "1",
							     .commit = i < 3 ? "x" : "y" });
	}
	struct answer answer = ask_all(dirs, 6, ASK_BOTH);
	const cJSON *row = row_of(&answer, "flows.fct_s.mean", "A");
	expect_estimate(row, "value", 11, 11 - 4.302652729749203 / sqrt(3),
			11 + 4.302652729749203 / sqrt(3), 3, 0);
	near(number_of(row, "count"), 75, "work of three runs");
	row = row_of(&answer, "flows.fct_s.mean", "B");
	expect_basis(row, "pairs");
	expect_estimate(row, "ratio", 6. / 11, 0.42290258481477117, 0.646021866245894, 3, 0);
	row = row_of(&answer, "flows.fct_s.p50", "B"); /* nothing random reached it */
	expect_estimate(row, "ratio", 1, NAN, NAN, 3, 0);
	answer_release(&answer);
	for (int i = 0; i < 6; i++)
		free((void *)dirs[i]);
}

Test(compare, runs_with_unfinished_work)
{
	struct hand_made cut = fast;
	cut.unfinished = true;
	cut.mean = "6.25"; /* 24 flows: the 0.25 s cancel */
	cut.p50 = "5.75";  /* the 12th of 24 */
	char *a = make_run("a", slow), *b = make_run("b", cut);
	struct answer answer = ask(a, b, ASK_BOTH);
	const cJSON *row = row_of(&answer, "flows.fct_s.mean", "B");
	near(number_of(row, "finished"), 24, "finished");
	near(number_of(row, "count"), 25, "count");
	/* Over the 24 that finished in both: 6.25 / 12.5, not 6.25 / 13. */
	near(number_of(cJSON_GetObjectItem(row, "ratio"), "value"), 0.5, "ratio");
	near(number_of(cJSON_GetObjectItem(row, "ratio"), "n"), 24, "n");
	near(number_of(cJSON_GetObjectItem(row, "ratio"), "missing"), 1, "missing pairs");
	near(number_of(cJSON_GetObjectItem(row, "paired"), "value"), 6.25, "paired value");
	near(number_of(cJSON_GetObjectItem(row, "paired"), "baseline"), 12.5, "paired baseline");
	answer_release(&answer);
	struct compare_options text = { .tolerance = NAN };
	answer = ask(a, b, text);
	cr_expect_not_null(strstr(answer.text, "24/25"), "%s", answer.text);
	cr_expect_not_null(strstr(answer.text, "24 of 25 in both"), "%s", answer.text);
	cr_expect_not_null(strstr(answer.text, "of both: 5.75 / 12\n"), "%s", answer.text);
	answer_release(&answer);
	free(a);
	free(b);
}

/* Runs with other seeds or other sizes have no flows in common. */
Test(compare, runs_that_are_no_pairs)
{
	struct hand_made other = fast;
	char *a = make_run("a", slow);
	other.seed = 2;
	char *seed = make_run("seed", other);
	other.seed = 1;
	other.size = 1;
	char *size = make_run("size", other);
	for (int i = 0; i < 2; i++) {
		struct answer answer = ask(a, i ? seed : size, ASK_BOTH);
		const cJSON *row = row_of(&answer, "flows.fct_s.mean", "B");
		expect_basis(row, "quotient");
		near(number_of(cJSON_GetObjectItem(row, "ratio"), "value"), 6.51 / 13, "ratio");
		answer_release(&answer);
	}
	free(a);
	free(seed);
	free(size);
}

/* The usual metrics are those that have a value. jobs.finished has none if there are no jobs. */
Test(compare, usual_metrics_of_runs)
{
	char *a = make_run("a", slow), *b = make_run("b", fast);
	struct answer answer = ask(a, b, ASK_USUAL);
	cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(answer.json, "rows")), 8);
	row_of(&answer, "flows.fct_s.p50", "B");
	const cJSON *fair = row_of(&answer, "flows.by_name.g.jain", "A");
	near(number_of(cJSON_GetObjectItem(fair, "value"), "value"), 0.5, "as stored");
	near(number_of(fair, "finished"), 25, "of the group");
	expect_basis(row_of(&answer, "flows.finished", "B"), "quotient");
	const cJSON *drops = row_of(&answer, "network.drops", "B");
	near(number_of(cJSON_GetObjectItem(drops, "ratio"), "value"), NAN, "0 / 0");
	const cJSON *run = cJSON_GetArrayItem(cJSON_GetObjectItem(answer.json, "runs"), 1);
	const cJSON *difference = cJSON_GetArrayItem(cJSON_GetObjectItem(run, "differences"), 0);
	cr_expect_str_eq(cJSON_GetObjectItem(difference, "pointer")->valuestring, "commit");
	answer_release(&answer);
	free(a);
	free(b);
}

/* One run alone has values, but no ratios and no text about ratios. */
Test(compare, one_run)
{
	char *a = make_run("a", slow);
	struct answer answer = ask(a, NULL, ASK_USUAL);
	cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(answer.json, "rows")), 4);
	expect_basis(row_of(&answer, "flows.fct_s.p50", "A"), NULL);
	answer_release(&answer);
	answer = ask(a, NULL, (struct compare_options){ .tolerance = NAN });
	cr_expect_null(strstr(answer.text, " ratio"), "%s", answer.text);
	cr_expect_null(strstr(answer.text, "ratio:"), "%s", answer.text);
	answer_release(&answer);
	free(a);
}

/* As after somebody edited the files: fewer than no flows have finished, and no digest is left. */
Test(compare, summaries_that_no_run_writes)
{
	static const char edited[] =
		"{ \"scenario\": \"hand\", \"seed\": 1,"
		"  \"flows\": { \"count\": 25, \"finished\": -1 }, \"network\": { \"drops\": 3 } }";
	char *a = make_run("a", slow), *b = make_run("b", slow);
	sample_write(a, "summary.json", edited);
	sample_write(b, "summary.json", edited);
	const char *finished[] = { "flows.finished" };
	struct compare_options options = { .metrics = { finished, 1 }, .tolerance = NAN };
	struct answer answer = ask(a, b, options);
	cr_expect_null(strstr(answer.text, "same digest"), "%s", answer.text);
	answer_release(&answer);
	options.json = true;
	answer = ask(a, b, options);
	cr_expect_null(cJSON_GetObjectItem(row_of(&answer, "flows.finished", "B"), "count"));
	answer_release(&answer);
	free(a);
	free(b);
}

Test(compare, tolerance)
{
	struct hand_made dropping = slow;
	dropping.drops = 3;
	char *a = make_run("a", slow), *b = make_run("b", fast), *c = make_run("c", dropping);
	struct compare_options both = ASK_BOTH, usual = ASK_USUAL;
	static const struct {
		double tolerance;
		enum compare_end fast, drops;
	} cases[] = { { NAN, COMPARE_ALIKE, COMPARE_ALIKE },
		      { 0, COMPARE_DIFFERS, COMPARE_DIFFERS },
		      { 0.499, COMPARE_DIFFERS, COMPARE_DIFFERS },
		      { 0.5, COMPARE_ALIKE,
			COMPARE_DIFFERS } }; /* 3 drops are more than 0 times any */
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		both.tolerance = usual.tolerance = cases[i].tolerance;
		struct answer answer = ask(a, b, both);
		cr_expect_eq(answer.end, cases[i].fast, "case %zu", i);
		answer_release(&answer);
		answer = ask(a, c, usual);
		cr_expect_eq(answer.end, cases[i].drops, "case %zu", i);
		answer_release(&answer);
		answer = ask(a, a, usual);
		cr_expect_eq(answer.end, COMPARE_ALIKE, "case %zu", i);
		answer_release(&answer);
	}
	usual.json = false;
	usual.tolerance = 0.5;
	struct answer answer = ask(a, c, usual);
	cr_expect_not_null(
		strstr(answer.text, "outside 1 +- 0.5: network.drops, run B: 3, baseline 0\n"),
		"%s", answer.text);
	answer_release(&answer);
	free(a);
	free(b);
	free(c);
}

Test(compare, runs_refused)
{
	static const char *wrong[] = { "flows.fct_s.p5" };
	struct compare_options unknown = { .metrics = { wrong, 1 }, .tolerance = NAN };
	struct compare_options by = { .by = "load", .tolerance = NAN };
	char *a = make_run("a", slow), *b = make_run("b", fast);
	refused(a, a, unknown, COMPARE_USAGE,
		"there is no metric \"flows.fct_s.p5\" (did you mean \"flows.fct_s.p50\"?)");
	refused(a, a, by, COMPARE_USAGE, "--by and --baseline are for one sweep");
	struct compare_options strict = ASK_USUAL;
	strict.tolerance = 0.5;
	refused(a, NULL, strict, COMPARE_USAGE, "--tolerance needs a second run");
	refused(a, "/nowhere/at/all", ASK_USUAL, COMPARE_IO, "there is no such directory");
	refused(a, folder, ASK_USUAL, COMPARE_IO, "is neither the result of a run");
	sample_write(b, "summary.json", "{");
	refused(a, b, ASK_USUAL, COMPARE_IO, "b/summary.json:1: is not a JSON object");
	sample_write(b, "summary.json", "{}");
	refused(a, b, ASK_USUAL, COMPARE_IO,
		"b/summary.json has no \"seed\": it is not from a run");
	free(a);
	free(b);
}

/* ---- Sweeps ---- */

static const char *jct[] = { "jct" };

static struct compare_options by(const char *axis, const char *baseline)
{
	return (struct compare_options){ .metrics = { jct, 1 },
					 .by = axis,
					 .baseline = baseline,
					 .tolerance = NAN,
					 .json = true };
}

/* Load 0.2: 10 11 12 against 5.5 5.5 7. Load 0.8: 14 15 16 against 14 9 and a timeout. */
Test(compare, sweep_along_an_axis)
{
	char *dir = sample_sweep(folder, "s", SAMPLE_JSON, SAMPLE_CSV);
	struct answer answer = ask(dir, NULL, by("scheme", NULL));
	const cJSON *row = row_of(&answer, "jct", "0.2|ring");
	expect_basis(row, NULL);
	expect_estimate(row, "value", 11, 11 - 4.302652729749203 / sqrt(3),
			11 + 4.302652729749203 / sqrt(3), 3, 0);
	row = row_of(&answer, "jct", "0.2|ina, new");
	expect_basis(row, "pairs");
	expect_estimate(row, "difference", -5, -6.2420688558750905, -3.7579311441249095, 3, 0);
	expect_estimate(row, "ratio", 6. / 11, 0.42290258481477117, 0.646021866245894, 3, 0);
	cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(row, "excludes_1")));
	row = row_of(&answer, "jct", "0.8|ina, new");
	cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(row, "partial")));
	near(number_of(cJSON_GetObjectItem(row, "ratio"), "value"), NAN, "of survivors");
	cr_expect_null(cJSON_GetObjectItem(row, "difference"));
	cr_expect_null(cJSON_GetObjectItem(row, "paired"));
	answer_release(&answer);
	struct compare_options survivors = by("scheme", NULL);
	survivors.survivors = true;
	answer = ask(dir, NULL, survivors);
	row = row_of(&answer, "jct", "0.8|ina, new");
	expect_estimate(row, "difference", -3, NAN, NAN, 2, 1);
	expect_estimate(row, "ratio", 23. / 29, NAN, NAN, 2, 1);
	near(number_of(cJSON_GetObjectItem(row, "paired"), "value"), 11.5, "of two pairs");
	near(number_of(cJSON_GetObjectItem(row, "paired"), "baseline"), 14.5, "of two pairs");
	cr_expect(cJSON_IsFalse(cJSON_GetObjectItem(row, "excludes_1")));
	near(number_of(row, "points_done"), 1, "done");
	near(number_of(row, "points"), 3, "points");
	answer_release(&answer);
	free(dir);
}

Test(compare, sweep_with_another_baseline_and_axis)
{
	char *dir = sample_sweep(folder, "s", SAMPLE_JSON, SAMPLE_CSV);
	struct answer answer = ask(dir, NULL, by("scheme", "ina, new"));
	const cJSON *row = row_of(&answer, "jct", "0.2|ring");
	expect_estimate(row, "difference", 5, 3.7579311441249095, 6.2420688558750905, 3, 0);
	answer_release(&answer);
	answer = ask(dir, NULL, by("load", NULL));
	row = row_of(&answer, "jct", "ring|0.8");
	expect_estimate(row, "difference", 4, 4, 4, 3, 0);
	answer_release(&answer);
	free(dir);
}

/* The same values, but each scheme has its own seeds: Welch's intervals. */
Test(compare, sweep_without_common_random_numbers)
{
	char *dir =
		sample_sweep(folder, "s", SAMPLE_JSON,
			     SAMPLE_HEADER "0,00000000000000a0,0,71,0.2,ring,done,10,\n"
					   "1,00000000000000a1,1,72,0.2,ring,done,11,\n"
					   "2,00000000000000a2,2,73,0.2,ring,done,12,\n"
					   "3,00000000000000a3,0,81,0.2,\"ina, new\",done,5.5,\n"
					   "4,00000000000000a4,1,82,0.2,\"ina, new\",done,5.5,\n"
					   "5,00000000000000a5,2,83,0.2,\"ina, new\",done,7,\n"
					   "6,00000000000000a6,0,83,0.8,\"ina, new\",done,7,\n");
	struct answer answer = ask(dir, NULL, by("scheme", NULL));
	const cJSON *row = row_of(&answer, "jct", "0.2|ina, new");
	expect_basis(row, "independent");
	expect_estimate(row, "difference", -5, -7.137721864914731, -2.8622781350852686, 6, 0);
	expect_estimate(row, "ratio", 6. / 11, 0.39586090880221547, 0.7226540636432301, 6, 0);
	expect_basis(row_of(&answer, "jct", "0.8|ina, new"), NULL); /* its baseline was not run */
	answer_release(&answer);
	struct compare_options text = by("scheme", NULL);
	text.json = false;
	answer = ask(dir, NULL, text);
	cr_expect_not_null(strstr(answer.text, "the seeds differ"), "%s", answer.text);
	answer_release(&answer);
	free(dir);
}

/* Sweep b has one more replication of ring at 0.2 than a, and twice the values. */
Test(compare, two_sweeps)
{
	char *a = sample_sweep(folder, "a", SAMPLE_JSON,
			       SAMPLE_HEADER "0,00000000000000a0,0,71,0.2,ring,done,10,\n"
					     "1,00000000000000a1,1,72,0.2,ring,done,11,\n");
	char *b = sample_sweep(folder, "b", SAMPLE_JSON,
			       SAMPLE_HEADER "0,00000000000000a0,0,71,0.2,ring,done,20,\n"
					     "1,00000000000000a1,1,72,0.2,ring,done,22,\n"
					     "2,00000000000000a2,2,73,0.2,ring,done,29,\n");
	struct answer answer = ask(a, b, by(NULL, NULL));
	const cJSON *row = row_of(&answer, "jct", "0.2|ring|B");
	expect_basis(row, "pairs");
	expect_estimate(row, "ratio", 2, NAN, NAN, 2, 1);
	near(number_of(cJSON_GetObjectItem(row, "value"), "value"), 71. / 3, "mean of all three");
	answer_release(&answer);
	struct compare_options strict = by(NULL, NULL);
	strict.tolerance = 0.99;
	answer = ask(a, b, strict);
	cr_expect_eq(answer.end, COMPARE_DIFFERS);
	cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(answer.json, "outside")), 1);
	answer_release(&answer);
	struct compare_options paper = by(NULL, NULL); /* readers do not know what A and B are */
	paper.json = false;
	paper.form = GRID_LATEX;
	answer = ask(a, b, paper);
	cr_expect_not_null(strstr(answer.text, "0.2 & ring & a & "), "%s", answer.text);
	cr_expect_not_null(strstr(answer.text, "% ratio, difference: to a."), "%s", answer.text);
	answer_release(&answer);
	free(a);
	free(b);
}

Test(compare, sweeps_refused)
{
	char *a = sample_sweep(folder, "a", SAMPLE_JSON, SAMPLE_CSV);
	char *other = sample_sweep(
		folder, "other",
		"{\"name\":\"o\",\"axes\":[{\"name\":\"load\",\"values\":[\"0.2\"]},{\"name\":"
		"\"scheme\","
		"\"values\":[\"ring\",\"ina, new\"]}],\"replications\":1,\"metrics\":[\"jct\"]}",
		"point,hash,replication,seed,load,scheme,status,jct\n");
	char *run = make_run("run", slow);
	static const char *wrong[] = { "jtc" };
	struct compare_options unknown = by("scheme", NULL);
	unknown.metrics.items = wrong;
	refused(a, NULL, by(NULL, NULL), COMPARE_USAGE,
		"compare needs --by AXIS, or a second sweep");
	refused(a, NULL, by("schema", NULL), COMPARE_USAGE,
		"there is no axis \"schema\" (did you mean \"scheme\"?)");
	refused(a, NULL, by("scheme", "rign"), COMPARE_USAGE,
		"there is no value \"rign\" (did you mean \"ring\"?); axis scheme has");
	refused(a, NULL, unknown, COMPARE_USAGE,
		"there is no metric \"jtc\" (did you mean \"jct\"?)");
	refused(a, a, by("scheme", NULL), COMPARE_USAGE, "are for one sweep");
	refused(a, other, by(NULL, NULL), COMPARE_USAGE, "the axes \"load\" of");
	refused(a, run, by(NULL, NULL), COMPARE_USAGE, "is a sweep and");
	sample_write(a, "sweep.csv", "point\n");
	refused(a, NULL, by("scheme", NULL), COMPARE_IO, "no column hash");
	free(a);
	free(other);
	free(run);
}
