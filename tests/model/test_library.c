/* The library (models/library): what a program sees is what the program inasim computes. */
#include <criterion/criterion.h>

#include "library/inasim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLUSTER                                                                                    \
	"\"name\": \"cluster\", \"topology\": { \"kind\": \"leaf-spine\", \"leaves\": 2, "         \
	"\"spines\": 1, "                                                                          \
	"\"hosts_per_leaf\": 4 }"
#define FLOWS                                                                                      \
	"\"flows\": [ { \"name\": \"f\", \"size\": \"50KB\", \"count\": 40, \"arrival\": { "       \
	"\"poisson_load\": 0.3 } } ]"

static const char mixed[] = "{ " CLUSTER ", \"jobs\": [ { \"workers\": 4, \"all_reduce\": "
			    "\"ring\", \"iterations\": 3, \"model\": { \"layers\": [ { "
			    "\"gradient\": \"1MB\" } ] } } ], " FLOWS " }";
static const char empty[] = "{ " CLUSTER ", \"stop\": { \"when\": \"time\", \"after\": \"1s\" } }";

static struct inasim *open_text(const char *text)
{
	char *error;
	struct inasim *s = inasim_parse(text, NULL, &error);

	cr_assert_not_null(s, "%s", error);
	return s;
}

static void run_by(struct inasim *s, double step)
{
	for (double until = step; inasim_run(s, until); until += step)
		cr_assert_float_eq(inasim_now(s), until, 1e-12);
}

/* --- runs --- */

/* Pauses, of whatever length, change neither digest nor times; nor does another run beside it. */
Test(library, pauses_change_nothing)
{
	static const double steps[] = { INFINITY, 1e-3, 7.7e-6, 1e-4 };
	struct inasim *beside = open_text(mixed);
	uint64_t digest = 0;
	double last = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct inasim *s = open_text(mixed);
		struct inasim_column finish;

		inasim_run(beside, 1e-4 * (double)(i + 1));
		cr_expect_null(inasim_end(s));
		run_by(s, steps[i]);
		cr_expect_str_eq(inasim_end(s), "all_done");
		cr_assert(inasim_column(s, "flows", "finish_s", &finish));
		cr_expect_eq(finish.rows, 40);
		if (i) {
			cr_expect_eq(inasim_digest(s), digest, "steps of %g s", steps[i]);
			cr_expect_eq(finish.numbers[39], last);
		}
		digest = inasim_digest(s);
		last = finish.numbers[39];
		inasim_column_free(&finish);
		inasim_close(s);
	}
	inasim_run(beside, INFINITY);
	cr_expect_eq(inasim_digest(beside), digest);
	inasim_close(beside);
}

Test(library, tables)
{
	struct inasim *s = open_text(mixed);
	struct inasim_column column;
	char *summary;

	cr_expect_null(inasim_summary(s));
	inasim_run(s, INFINITY);
	summary = inasim_summary(s);
	cr_expect(strstr(summary, "\"end_reason\": \"all_done\""));
	free(summary);
	cr_expect_str_eq(inasim_table(s, 0), "jobs.csv");
	cr_expect_str_eq(inasim_column_name(s, "jobs.csv", 0), "job_id");
	cr_expect_null(inasim_column_name(s, "job", 0));
	cr_expect_not(inasim_column(s, "jobs", "no_such", &column));
	cr_assert(inasim_column(s, "jobs", "scheme", &column));
	cr_expect_null(column.numbers);
	cr_expect_str_eq(column.texts[0], "ring");
	inasim_column_free(&column);
	inasim_close(s);
}

/* --- groups --- */

struct heard {
	struct inasim *s;
	struct inasim_group *group, *back;
	size_t results, wanted;
	double at;
};

static void on_result(void *owner, size_t member, uint64_t number)
{
	struct heard *heard = owner;

	(void)member, (void)number;
	heard->at = inasim_now(heard->s);
	if (++heard->results == heard->wanted)
		inasim_stop(heard->s);
}

/* The time of an all-reduce that a job does. */
static double by_job(const char *scheme)
{
	char text[400], *error;
	struct inasim_column jct;
	struct inasim *s;
	double found;

	snprintf(text, sizeof(text),
		 "{ " CLUSTER ", \"jobs\": [ { \"workers\": [0, 1, 4, 5], \"all_reduce\": "
		 "\"%s\", \"iterations\": 1, \"model\": { \"layers\": [ { \"gradient\": "
		 "\"1MB\" } ] } } ] }",
		 scheme);
	s = inasim_parse(text, NULL, &error);
	cr_assert_not_null(s, "%s", error);
	inasim_run(s, INFINITY);
	cr_assert(inasim_column(s, "jobs", "jct_s", &jct));
	found = jct.numbers[0];
	inasim_column_free(&jct);
	inasim_close(s);
	return found;
}

static double by_group(const char *scheme)
{
	static const uint32_t hosts[] = { 0, 1, 4, 5 };
	struct heard heard = { .s = open_text(empty), .wanted = 4 };
	char *error;

	heard.group = inasim_group(heard.s, "all_reduce", scheme, hosts, 4, 1000000, on_result,
				   &heard, &error);
	cr_assert_not_null(heard.group, "%s: %s", scheme, error);
	for (size_t m = 0; m < 4; m++)
		inasim_put(heard.group, m, 1000000);
	cr_expect_not(inasim_run(heard.s, INFINITY));
	cr_expect_eq(heard.results, 4, "%s", scheme);
	inasim_close(heard.s);
	return heard.at;
}

/* A group is the exchange of a job with another number, which draws the jitter of its NICs: within
 * 2 %. (On several spines it draws its paths, too.) */
Test(library, groups_are_the_exchanges_of_jobs)
{
	static const char *const schemes[] = { "switchml", "sharp", "netreduce", "ring",
					       "halving_doubling" };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		cr_expect_float_eq(by_group(schemes[i]), by_job(schemes[i]),
				   0.02 * by_job(schemes[i]), "%s: %.12f, as a job %.12f",
				   schemes[i], by_group(schemes[i]), by_job(schemes[i]));
}

static void answer(void *owner, size_t member, uint64_t number)
{
	struct heard *heard = owner;

	(void)number;
	if (member == 0)
		return; /* handed over */
	inasim_put(heard->back, 0, 1000);
	inasim_put(heard->back, 1, 1000);
}

static void on_answer(void *owner, size_t member, uint64_t number)
{
	if (member == 1)
		on_result(owner, member, number);
}

static void send(void *owner)
{
	struct heard *heard = owner;

	inasim_put(heard->group, 0, 1000);
	inasim_put(heard->group, 1, 1000);
}

/* A message of one packet there and one back: twice the time of one way, from a time of our own. */
Test(library, messages_and_calls)
{
	struct heard heard = { .s = open_text(empty), .wanted = 1 };
	char *error;
	double frame = 8 * (1000 + 58.0) / 10e9; /* headers and FCS */

	heard.group = inasim_group(heard.s, "message", "ring", (uint32_t[]){ 0, 1 }, 2, 1000,
				   answer, &heard, &error);
	heard.back = inasim_group(heard.s, "message", "ring", (uint32_t[]){ 1, 0 }, 2, 1000,
				  on_answer, &heard, &error);
	inasim_at(heard.s, 0.25, send, &heard);
	inasim_at(heard.s, 0.75, send, &heard); /* never */
	inasim_run(heard.s, INFINITY);
	cr_expect_eq(heard.results, 1);
	cr_expect(heard.at > 0.25 + 4 * frame && heard.at < 0.25 + 12 * frame + 20e-6,
		  "answered at %.9f s", heard.at);
	inasim_close(heard.s);
}

/* --- mistakes --- */

static void refused(const char *operation, const char *scheme, const uint32_t *hosts, size_t count,
		    const char *why)
{
	struct inasim *s = open_text(empty);
	char *error;

	cr_expect_null(inasim_group(s, operation, scheme, hosts, count, 1, NULL, NULL, &error));
	cr_assert_not_null(error);
	cr_expect(strstr(error, why), "\"%s\" does not say \"%s\"", error, why);
	free(error);
	inasim_close(s);
}

Test(library, mistakes_come_back)
{
	static const char *const bad_set[] = { "seed=2", NULL };
	char *error;

	cr_expect_null(inasim_parse("{ \"topology\": 3, \"x\": 1 }", NULL, &error));
	cr_expect(strstr(error, "/topology") && strstr(error, "/x"), "%s", error);
	free(error);
	cr_expect_null(inasim_load("no/such.json", NULL, &error));
	cr_expect(strstr(error, "no/such.json"), "%s", error);
	free(error);
	cr_expect_null(inasim_parse(empty, bad_set, &error));
	cr_expect(strstr(error, "seed=2"), "%s", error);
	free(error);
	refused("all_reduces", "ring", (uint32_t[]){ 0, 1 }, 2, "allowed: all_reduce");
	refused("all_reduce", "rings", (uint32_t[]){ 0, 1 }, 2, "allowed: ring");
	refused("all_reduce", "ring", (uint32_t[]){ 0 }, 1, "2 to 8 hosts");
	refused("all_reduce", "ring", (uint32_t[]){ 0, 8 }, 2, "no host 8");
	refused("all_reduce", "ring", (uint32_t[]){ 3, 3 }, 2, "twice");
	refused("all_reduce", "nvls", (uint32_t[]){ 0, 1 }, 2,
		"NVLS needs links that lose nothing");
}
