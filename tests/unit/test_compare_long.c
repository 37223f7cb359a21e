/* Long runs made by hand: series whose true mean is known. What the answers must
 * be is computed apart in Python 3: MSER-5 by trying all cuts, Student's t by
 * Simpson's rule and bisection, Fieller's interval in the textbook's form. */
#include "compare_sample.h"

#include <inttypes.h>
#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-long-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(compare_long, .init = setup, .fini = teardown);

/* x_i = mean + start 0.97^i + e_i with e_i = phi e_(i-1) + u_i, u uniform in [-1, 1)
 * from Knuth's congruential generator: sums and products only, so that any program
 * makes the same series. Value i belongs to second i. */
struct series {
	size_t count;
	double mean, start, phi;
	uint64_t seed;
	size_t unfinished; /* the last values are not known */
};

static double *make_values(struct series s)
{
	double *x = calloc(s.count, sizeof *x), e = 0;
	for (size_t i = 0; i < s.count; i++) {
		s.seed = s.seed * 6364136223846793005u + 1442695040888963407u;
		e = s.phi * e + ((double)(s.seed >> 11) / 0x1p53 * 2 - 1);
		x[i] = s.mean + s.start + e;
		s.start *= 0.97;
	}
	return x;
}

static void write_end(const char *dir, const char *jobs, const char *flows)
{
	char text[1000];
	snprintf(text, sizeof text,
		 "{ \"scenario\": \"hand\", \"seed\": 1, \"end_reason\": \"all_done\", \"digest\": "
		 "\"%s\", \"jobs\": { %s }, \"flows\": { %s } }",
		 dir, jobs, flows);
	sample_write(dir, "summary.json", text);
	sample_write(dir, "manifest.json", "{ \"scenario\": {} }");
}

/* The series as FCTs of flows; numbers of flows and order of rows go against the
 * order of time. */
static char *make_flows(const char *name, struct series s)
{
	char *dir = folder_join(folder, name), *text = NULL, flows[200];
	double *x = make_values(s), sum = 0;
	size_t length, finished = s.count - s.unfinished;
	mkdir(dir, 0777);
	FILE *to = open_memstream(&text, &length);
	fputs("flow_id,group,src,dst,size_bytes,start_s,fct_s,measured,finished\n", to);
	for (size_t i = s.count; i-- > 0;) {
		fprintf(to, "%zu,g,0,1,1000,%zu,", s.count - i, i);
		if (i < finished)
			fprintf(to, "%.17g,1,1\n", x[i]);
		else
			fputs(",1,0\n", to);
		sum += i < finished ? x[i] : 0;
	}
	fclose(to);
	sample_write(dir, "flows.csv", text);
	free(text);
	free(x);
	snprintf(flows, sizeof flows,
		 "\"count\": %zu, \"finished\": %zu, \"fct_s\": { \"mean\": %.17g }", s.count,
		 finished, sum / (double)finished);
	write_end(dir, "", flows);
	return dir;
}

static const char *fct[] = { "flows.fct_s.mean" };
static const struct compare_options ask_fct = {
	.metrics = { fct, 1 }, .tolerance = NAN, .json = true, .long_run = true, .warmup_s = NAN
};

static const struct series settling = {
	.count = 3000, .mean = 10, .start = 20, .phi = 0.6, .seed = 1
};
static const struct series steady = { .count = 3000, .mean = 12, .phi = 0.6, .seed = 2 };

static void expect_text(const char *a, const char *b, const char *want)
{
	struct compare_options options = ask_fct;
	options.json = false;
	struct answer answer = ask(a, b, options);
	cr_expect_not_null(strstr(answer.text, want), "no \"%s\" in %s", want, answer.text);
	answer_release(&answer);
}

static void expect_word(const cJSON *object, const char *key, const char *want)
{
	const cJSON *item = cJSON_GetObjectItem(object, key);
	cr_assert(cJSON_IsString(item), "%s", key);
	cr_expect_str_eq(item->valuestring, want);
}

/* The mean of all is 10.24: the transient 20 0.97^i, whose sum is 667, is in it. The
 * interval must hold the true 10 and not that; the ratio 12 / 10. */
Test(compare_long, transient_is_cut)
{
	char *a = make_flows("a", settling), *b = make_flows("b", steady);
	struct answer answer = ask(a, b, ask_fct);
	const cJSON *row = row_of(&answer, "flows.fct_s.mean", "A");
	expect_estimate(row, "value", 10.024318187310842, 9.9788940247961158, 10.069742349825567,
			2860, 0);
	cr_expect(number_of(cJSON_GetObjectItem(row, "value"), "low") < 10 &&
		  10 < number_of(cJSON_GetObjectItem(row, "value"), "high"));
	cr_expect(number_of(cJSON_GetObjectItem(row, "value"), "high") < 10.2433);
	const cJSON *base = cJSON_GetObjectItem(row, "long_run");
	expect_word(base, "warmup", "mser-5");
	near(number_of(base, "dropped"), 140, "dropped");
	near(number_of(base, "from_s"), 140, "first second that is kept");
	near(number_of(base, "batches"), 20, "batches");
	near(number_of(base, "batch_size"), 143, "size");
	near(number_of(base, "lag1"), -0.096375557510393423, "lag 1");
	near(number_of(base, "p_value"), 0.66104761532384526, "p");
	cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(base, "independent")));
	row = row_of(&answer, "flows.fct_s.mean", "B");
	expect_estimate(row, "value", 12.013442499769459, 11.968890938569652, 12.057994060969266,
			2960, 0);
	expect_basis(row, "independent");
	expect_estimate(row, "ratio", 1.1984298857329292, 1.1916568788007535, 1.2052490534499309,
			40, 0);
	answer_release(&answer);
	expect_text(a, b, "A    3000 flows  140, to 140 s  2860  20 of 143  -0.10  independent\n");
	free(a);
	free(b);
}

Test(compare_long, warmup_by_hand)
{
	char *a = make_flows("a", settling);
	struct compare_options options = ask_fct;
	options.warmup_s = 500;
	struct answer answer = ask(a, NULL, options);
	const cJSON *row = row_of(&answer, "flows.fct_s.mean", "A");
	expect_estimate(row, "value", 10.022505369956763, 9.9760576282282969, 10.068953111685229,
			2500, 0);
	expect_word(cJSON_GetObjectItem(row, "long_run"), "warmup", "given");
	answer_release(&answer);
	options.warmup_s = 2960; /* 40 values are left: no batches, but their mean */
	answer = ask(a, NULL, options);
	row = row_of(&answer, "flows.fct_s.mean", "A");
	near(number_of(cJSON_GetObjectItem(row, "value"), "n"), 40, "n");
	near(number_of(cJSON_GetObjectItem(row, "value"), "low"), NAN, "interval");
	answer_release(&answer);
	options.warmup_s = 3000;
	answer = ask(a, NULL, options);
	row = row_of(&answer, "flows.fct_s.mean", "A");
	near(number_of(cJSON_GetObjectItem(row, "value"), "value"), NAN, "nothing is left");
	answer_release(&answer);
	free(a);
}

/* 49 values; 120 values most of which are transient: there is a mean, no interval,
 * and a ratio without one. */
Test(compare_long, too_short)
{
	struct series few = settling, moving = settling;
	few.count = 49;
	few.start = 0;
	moving.count = 120;
	char *a = make_flows("a", few), *b = make_flows("b", moving);
	struct answer answer = ask(a, b, ask_fct);
	const cJSON *row = row_of(&answer, "flows.fct_s.mean", "A");
	expect_estimate(row, "value", 10.039209921729391, NAN, NAN, 49, 0);
	expect_word(cJSON_GetObjectItem(row, "long_run"), "warmup", "too_few");
	row = row_of(&answer, "flows.fct_s.mean", "B");
	expect_estimate(row, "value", 15.379574927345447, NAN, NAN, 120, 0);
	expect_word(cJSON_GetObjectItem(row, "long_run"), "warmup", "not_settled");
	expect_basis(row, "quotient");
	near(number_of(cJSON_GetObjectItem(row, "ratio"), "value"),
	     15.379574927345447 / 10.039209921729391, "ratio");
	answer_release(&answer);
	expect_text(a, b, "too few to tell");
	expect_text(a, b, "too short: not over");
	expect_text(a, b, "no interval: the run is too short");
	free(a);
	free(b);
}

/* e_i = 0.99 e_(i-1) + u_i forgets in a hundred values, and 20 batches have 20. */
Test(compare_long, batches_that_are_too_short)
{
	struct series slow = { .count = 400, .mean = 100, .phi = 0.99, .seed = 1 };
	char *a = make_flows("a", slow);
	struct answer answer = ask(a, NULL, ask_fct);
	const cJSON *base =
		cJSON_GetObjectItem(row_of(&answer, "flows.fct_s.mean", "A"), "long_run");
	near(number_of(base, "lag1"), 0.4487388139811273, "lag 1");
	near(number_of(base, "p_value"), 0.014281931645314827, "p");
	cr_expect(cJSON_IsFalse(cJSON_GetObjectItem(base, "independent")));
	answer_release(&answer);
	expect_text(a, NULL, "correlated: too short");
	expect_text(a, NULL, "the interval is too short; run longer");
	free(a);
}

/* Values that are all the same have an interval of no width, and no correlation. */
Test(compare_long, constant)
{
	char *dir = folder_join(folder, "a"), *text = NULL;
	size_t length;
	mkdir(dir, 0777);
	FILE *to = open_memstream(&text, &length);
	fputs("flow_id,group,src,dst,size_bytes,start_s,fct_s,measured,finished\n", to);
	for (int i = 0; i < 100; i++)
		fprintf(to, "%d,g,0,1,1000,%d,0.1,1,1\n", i, i);
	fclose(to);
	sample_write(dir, "flows.csv", text);
	write_end(dir, "", "\"count\": 100, \"finished\": 100, \"fct_s\": { \"mean\": 0.1 }");
	struct answer answer = ask(dir, NULL, ask_fct);
	expect_estimate(row_of(&answer, "flows.fct_s.mean", "A"), "value", 0.1, 0.1, 0.1, 100, 0);
	answer_release(&answer);
	expect_text(dir, NULL, "all equal");
	free(text);
	free(dir);
}

/* The last 30 flows, one more than two batches, have not finished. */
Test(compare_long, unfinished_work_is_counted)
{
	struct series cut = steady;
	cut.unfinished = 30;
	char *a = make_flows("a", cut);
	struct answer answer = ask(a, NULL, ask_fct);
	const cJSON *row = row_of(&answer, "flows.fct_s.mean", "A");
	near(number_of(row, "finished"), 2970, "finished");
	near(number_of(row, "count"), 3000, "count");
	near(number_of(cJSON_GetObjectItem(row, "long_run"), "kept_unfinished"), 30, "unfinished");
	near(number_of(cJSON_GetObjectItem(row, "value"), "missing"), 30, "missing");
	answer_release(&answer);
	expect_text(a, NULL, ", 30 not");
	expect_text(a, NULL, "what did not finish is in no mean");
	free(a);
}

/* Two groups of jobs: fast has two of them, whose iterations of 1 s and 3 s
 * alternate in time, slow one of 10 s that did not finish. */
static char *make_jobs(void)
{
	char *dir = folder_join(folder, "jobs"), *text = NULL;
	size_t length;
	mkdir(dir, 0777);
	FILE *to = open_memstream(&text, &length);
	fputs("job_id,name,iteration,finish_s,duration_s,measured,cycle_s\n", to);
	for (int job = 0; job < 3; job++)
		for (int i = 0; i < 60; i++) {
			fprintf(to, "%d,%s,%d,%d,%d,1,", job, job < 2 ? "fast" : "slow", i,
				3 * i + job,
				job == 0   ? 1
				: job == 1 ? 3
					   : 10);
			fputs(i == 0 ? "\n" : "2\n", to);
		}
	fclose(to);
	sample_write(dir, "iterations.csv", text);
	free(text);
	sample_write(dir, "jobs.csv",
		     "job_id,name,model,workers,arrival_s,start_s,finish_s,jct_s,gradient_bytes,"
		     "iterations_done,measured,finished\n0,fast,m,2,0,0,60,60,9,60,1,1\n"
		     "1,fast,m,2,0,0,180,180,9,60,1,1\n2,slow,m,2,0,0,,,9,60,1,0\n");
	write_end(
		dir,
		"\"count\": 3, \"finished\": 2, \"iteration_s\": { \"mean\": 4.6666666666666667 }, "
		"\"cycle_s\": { \"mean\": 2 }, \"jct_s\": { \"mean\": 120 }, \"by_name\": { "
		"\"fast\": "
		"{ \"finished\": 2 }, \"slow\": { \"finished\": 0 } }",
		"\"count\": 0, \"finished\": 0, \"fct_s\": { \"mean\": null }");
	return dir;
}

Test(compare_long, iterations_by_group)
{
	char *dir = make_jobs();
	struct compare_options usual = {
		.tolerance = NAN, .json = true, .long_run = true, .warmup_s = NAN
	};
	struct answer answer = ask(dir, NULL, usual);
	cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(answer.json, "rows")), 2);
	const cJSON *row = row_of(&answer, "jobs.by_name.fast.iteration_s.mean", "A");
	expect_estimate(row, "value", 2, 2, 2, 120, 0); /* in order of time, batches are alike */
	near(number_of(row, "finished"), 2, "jobs that finished");
	near(number_of(row, "count"), 2, "jobs");
	near(number_of(cJSON_GetObjectItem(row, "long_run"), "members"), 2, "jobs of the series");
	row = row_of(&answer, "jobs.by_name.slow.iteration_s.mean", "A");
	expect_estimate(row, "value", 10, 10, 10, 60, 0);
	near(number_of(row, "finished"), 0, "jobs that finished");
	near(number_of(row, "count"), 1, "jobs");
	answer_release(&answer);
	free(dir);
}

/* Who wants all jobs in one series gets it, and is told. The first iteration of a
 * job has no cycle, which is nothing unfinished. */
Test(compare_long, pooled_groups_are_told)
{
	static const char *pooled[] = { "jobs.iteration_s.mean", "jobs.cycle_s.mean" };
	struct compare_options options = { .metrics = { pooled, 2 },
					   .tolerance = NAN,
					   .json = true,
					   .long_run = true,
					   .warmup_s = NAN };
	char *dir = make_jobs();
	struct answer answer = ask(dir, NULL, options);
	const cJSON *row = row_of(&answer, "jobs.iteration_s.mean", "A");
	near(number_of(cJSON_GetObjectItem(row, "long_run"), "groups"), 2, "groups");
	row = row_of(&answer, "jobs.cycle_s.mean", "A");
	expect_estimate(row, "value", 2, 2, 2, 170, 0); /* 10 batches of 17 of 177 */
	answer_release(&answer);
	options.json = false;
	answer = ask(dir, NULL, options);
	cr_expect_not_null(strstr(answer.text, "3 jobs, 2 groups"), "%s", answer.text);
	cr_expect_not_null(strstr(answer.text, "groups: different jobs in one series"), "%s",
			   answer.text);
	answer_release(&answer);
	free(dir);
}

Test(compare_long, refused)
{
	static const char *wrong[] = { "flows.fct_s.p99", "network.drops",
				       "jobs.by_name.fats.iteration_s.mean" };
	static const char *const said[] = { "\"flows.fct_s.p99\" is none",
					    "\"network.drops\" is none",
					    "did you mean \"jobs.by_name.fast.iteration_s.mean\"" };
	struct compare_options options = ask_fct;
	char *dir = make_jobs();
	for (size_t i = 0; i < 3; i++) {
		options.metrics.items = &wrong[i];
		refused(dir, NULL, options, COMPARE_USAGE, said[i]);
	}
	char *sweep = sample_sweep(folder, "s", SAMPLE_JSON, SAMPLE_CSV);
	refused(sweep, NULL, ask_fct, COMPARE_USAGE, "--long-run is for runs");
	free(sweep);
	free(dir);
}
