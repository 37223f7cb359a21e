/* Sizes of flows drawn from several tables: the mean of the mixture is the weighted mean of the
 * tables' means, and draws have this mean. */
#include "workload/flows/sizes.h"

#include <criterion/criterion.h>
#include <math.h>

/* websearch and datamining by weights 1 and 3, as a scenario would have it. */
static struct mix_part parts[] = { { "websearch", 1 }, { "datamining", 3 } };
static const struct size_conf mixed = { .form = SIZE_MIX, .scale = 1, .mix = { parts, 2 } };

/* Owns what is loaded. */
static struct conf_doc *doc;

static void setup(void)
{
	static const struct conf_row rows[] = { { 0 } };
	static const struct conf_table table = { "nothing", rows, 1, NULL };

	doc = conf_parse("test", "{}", 2, &table, NULL, NULL, 0);
}

static void teardown(void)
{
	conf_doc_free(doc);
}

TestSuite(sizes, .init = setup, .fini = teardown);

static struct sizes load(const struct size_conf *conf)
{
	const struct sizes *sizes = sizes_load(conf, doc, "");

	cr_assert(sizes);
	return *sizes;
}

static struct sizes load_named(const char *name)
{
	const struct size_conf conf = { .form = SIZE_CDF, .scale = 1, .cdf = name };

	return load(&conf);
}

Test(sizes, mean_of_a_mixture)
{
	struct sizes mix = load(&mixed), web = load_named("websearch"),
		     mining = load_named("datamining");

	cr_expect_float_eq(sizes_mean(&mix), 0.25 * sizes_mean(&web) + 0.75 * sizes_mean(&mining),
			   1e-6);
}

/* P(size <= x) = sum of p_i F_i(x) at x = 10 kB, 1 MB, 30 MB (where websearch ends):
 * a binomial of n draws is within four standard deviations. */
Test(sizes, distribution_of_a_mixture)
{
	enum { N = 200000 };
	static const bytes at[] = { 10000, 1000000, 30000000 };
	struct sizes mix = load(&mixed),
		     alone[2] = { load_named("websearch"), load_named("datamining") };
	double below[3] = { 0 }, of[2][3] = { { 0 } };
	struct rng rng;

	rng_init(&rng, 3, "sizes", 0);
	for (int i = 0; i < N; i++) {
		bytes size = sizes_draw(&mix, &rng), one[2];

		for (int t = 0; t < 2; t++)
			one[t] = size_cdf_quantile(alone[t].cdfs[0], (i + 0.5) / N);
		for (int k = 0; k < 3; k++) {
			below[k] += size <= at[k];
			for (int t = 0; t < 2; t++)
				of[t][k] += one[t] <= at[k]; /* F_t(x), to 1 / N */
		}
	}
	for (int k = 0; k < 3; k++) {
		double p = (0.25 * of[0][k] + 0.75 * of[1][k]) / N;

		cr_expect_float_eq(below[k] / N, p, 4 * sqrt(p * (1 - p) / N) + 1.0 / N,
				   "%g of %g up to %lu", below[k] / N, p, at[k]);
	}
}

/* A mixture of one table is that table, draw by draw. */
Test(sizes, one_part_is_the_table)
{
	static struct mix_part part[] = { { "websearch", 0.5 } };
	const struct size_conf conf = { .form = SIZE_MIX, .scale = 1, .mix = { part, 1 } };
	struct sizes one = load(&conf), web = load_named("websearch");
	struct rng a, b;

	rng_init(&a, 4, "sizes", 0);
	rng_init(&b, 4, "sizes", 0);
	for (int i = 0; i < 1000; i++)
		cr_expect_eq(sizes_draw(&one, &a), sizes_draw(&web, &b));
}

/* A scale multiplies every draw, to the nearest byte and never below one, and the mean. */
Test(sizes, scale)
{
	const struct size_conf tenth = { .form = SIZE_CDF, .scale = 0.1, .cdf = "websearch" };
	const struct size_conf min = { .form = SIZE_CDF, .scale = 1e-9, .cdf = "websearch" };
	struct sizes scaled = load(&tenth), tiny = load(&min), web = load_named("websearch");
	struct rng a, b;

	rng_init(&a, 5, "sizes", 0);
	rng_init(&b, 5, "sizes", 0);
	for (int i = 0; i < 1000; i++)
		cr_expect_float_eq((double)sizes_draw(&scaled, &a),
				   (double)sizes_draw(&web, &b) / 10, 0.5001);
	cr_expect_float_eq(sizes_mean(&scaled), sizes_mean(&web) / 10, 1e-6);
	cr_expect_eq(sizes_draw(&tiny, &a), 1);
}

/* Flows that the scale makes smaller than a byte have one byte, and the mean, on which a load is
 * built, counts that. The mean is that of many draws within 4 standard errors, and within the error
 * of rounding to whole bytes where the density changes within a byte. */
Test(sizes, mean_of_what_is_drawn)
{
	enum { N = 100000 };
	static const double scales[] = { 1, 1e-2, 1e-4, 1e-5, 1e-6 };
	static const char *const tables[] = { "websearch_dctcp_bytes",
					      "hadoop_fb_opera_interrack" };

	for (size_t i = 0; i < 10; i++) {
		const struct size_conf conf = { .form = SIZE_CDF,
						.scale = scales[i / 2],
						.cdf = tables[i % 2] };
		struct sizes sizes = load(&conf);
		double sum = 0, squares = 0, error;
		struct rng rng;

		rng_init(&rng, 6, "sizes", i);
		for (int n = 0; n < N; n++) {
			double size = (double)sizes_draw(&sizes, &rng);

			sum += size;
			squares += size * size;
		}
		error = sqrt((squares / N - sum / N * (sum / N)) / N);
		cr_expect_float_eq(sizes_mean(&sizes), sum / N, 4 * error + 0.05,
				   "%s times %g: %g, drawn %g", conf.cdf, conf.scale,
				   sizes_mean(&sizes), sum / N);
	}
}

/* Flows of one size: the mean, on which a load is built, is the size of each flow. */
Test(sizes, mean_of_the_fixed_size)
{
	static const double scales[] = { 1, 0.333, 1e-4, 1000 };

	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
		const struct size_conf conf = { .form = SIZE_FIXED,
						.fixed = 1000,
						.scale = scales[i] };
		struct sizes sizes = load(&conf);

		cr_expect_eq(sizes_mean(&sizes), (double)sizes_draw(&sizes, NULL), "%g", scales[i]);
	}
}
