/* Helpers that call compare() and look at its answer, for the tests of lab/compare. */
#ifndef INASIM_TESTS_COMPARE_SAMPLE_H
#define INASIM_TESTS_COMPARE_SAMPLE_H

#include "lab/compare/compare.h"

#include "sweep_sample.h"

#include <cjson/cJSON.h>
#include <math.h>

struct answer {
	enum compare_end end;
	char *text;  /* what was written */
	char *error; /* or NULL */
	cJSON *json; /* the text parsed, if JSON was asked for */
};

static inline struct answer ask_all(const char *const *dirs, size_t count,
				    struct compare_options options)
{
	struct answer answer = { 0 };
	size_t length;
	FILE *to = open_memstream(&answer.text, &length);
	answer.end = compare(dirs, count, &options, to, &answer.error);
	fclose(to);
	if (options.json && !answer.error) {
		answer.json = cJSON_Parse(answer.text);
		cr_assert_not_null(answer.json, "%s", answer.text);
	}
	cr_expect((!answer.error) ==
		  (answer.end == COMPARE_ALIKE || answer.end == COMPARE_DIFFERS));
	cr_expect(!answer.error || !*answer.text, "%s", answer.text);
	return answer;
}

static inline struct answer ask(const char *a, const char *b, struct compare_options options)
{
	const char *dirs[] = { a, b };
	return ask_all(dirs, !b ? 1 : 2, options);
}

static inline void answer_release(struct answer *answer)
{
	free(answer->text);
	free(answer->error);
	cJSON_Delete(answer->json);
}

static inline void refused(const char *a, const char *b, struct compare_options options,
			   enum compare_end end, const char *want)
{
	struct answer answer = ask(a, b, options);
	cr_expect_eq(answer.end, end, "%s: %s", want, answer.error);
	cr_expect(answer.error && strstr(answer.error, want), "no \"%s\" in: %s", want,
		  answer.error);
	answer_release(&answer);
}

/* The row with this metric and these labels, in order, separated by "|". */
static inline const cJSON *row_of(const struct answer *answer, const char *metric,
				  const char *labels)
{
	const cJSON *row, *label;
	cJSON_ArrayForEach(row, cJSON_GetObjectItem(answer->json, "rows")) {
		char text[200] = "";
		cJSON_ArrayForEach(label, cJSON_GetObjectItem(row, "of"))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 *text ? "|" : "", label->valuestring);
		if (!strcmp(cJSON_GetObjectItem(row, "metric")->valuestring, metric) &&
		    !strcmp(text, labels))
			return row;
	}
	cr_assert(false, "no row %s of %s in %s", metric, labels, answer->text);
	return NULL;
}

static inline double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItem(object, key);
	cr_assert_not_null(item, "%s", key);
	return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static inline void near(double got, double want, const char *what)
{
	cr_expect(isnan(want) ? isnan(got) : fabs(got - want) <= 1e-8 * fabs(want),
		  "%s: %.12g, not %.12g", what, got, want);
}

static inline void expect_estimate(const cJSON *row, const char *key, double value, double low,
				   double high, double n, double missing)
{
	const cJSON *e = cJSON_GetObjectItem(row, key);
	cr_assert_not_null(e, "%s", key);
	near(number_of(e, "value"), value, key);
	near(number_of(e, "low"), low, key);
	near(number_of(e, "high"), high, key);
	near(number_of(e, "n"), n, key);
	near(number_of(e, "missing"), missing, key);
}

static inline void expect_basis(const cJSON *row, const char *want)
{
	const cJSON *item = cJSON_GetObjectItem(row, "basis");
	cr_assert_not_null(item);
	if (!want)
		cr_expect(cJSON_IsNull(item));
	else
		cr_expect_str_eq(item->valuestring, want);
}

#endif
