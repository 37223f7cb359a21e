/* Expansion of sweep plans against lists that were worked out by hand. Plans that are refused are
 * in tests/invalid_plans.txt. */
#include "lab/sweep/plan.h"

#include "base/hash.h"
#include "base/mem.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A plan of the given members, besides name and base. */
static struct plan *plan_of(const char *members)
{
	char *text = xasprintf("{ \"name\": \"p\", \"base\": \"b.json\", %s }", members);
	struct plan *plan = plan_parse("dir/p.json", text, strlen(text), NULL);

	if (conf_errors(plan->doc))
		conf_print_errors(plan->doc, stderr, false);
	cr_assert(conf_errors(plan->doc) == 0, "%s", members);
	cr_expect_str_eq(plan->base, "dir/b.json"); /* relative to the plan */
	free(text);
	return plan;
}

/* The labels of all points, "a=1 b=x; a=1 b=y". */
static char *points_of(const struct plan *plan)
{
	char *all = xstrdup("");

	for (size_t i = 0; i < plan->point_count; i++) {
		const char *words = plan_point_words(plan, i);
		char *longer = xasprintf("%s%s%s", all, i > 0 ? "; " : "", words);

		free(all);
		all = longer;
	}
	return all;
}

static void expect_points(const char *members, const char *expected)
{
	struct plan *plan = plan_of(members);
	char *found = points_of(plan);

	cr_expect_str_eq(found, expected, "found %s\nexpected %s", found, expected);
	free(found);
	plan_free(plan);
}

/* Expects these values of an axis x of the given form. */
static void expect_values(const char *form, const char *expected)
{
	char *members = xasprintf("\"axes\": [ { \"pointer\": \"/x\", %s } ]", form);
	struct plan *plan = plan_of(members);
	char *found = xstrdup("");

	for (size_t l = 0; l < plan->axes[0].count; l++) {
		char *longer =
			xasprintf("%s%s%s", found, l > 0 ? " " : "", plan->axes[0].levels[l].label);

		free(found);
		found = longer;
	}
	cr_expect_str_eq(found, expected, "%s: found %s, expected %s", form, found, expected);
	free(found);
	plan_free(plan);
	free(members);
}

Test(plan, ranges_are_exact)
{
	/* 0.2 + 2 * 0.2 is 0.6000000000000001 in floating point */
	expect_values("\"range\": { \"from\": 0.2, \"to\": 0.8, \"step\": 0.2 }",
		      "0.2 0.4 0.6 0.8");
	expect_values("\"range\": { \"from\": 0.1, \"to\": 0.3, \"step\": 0.1 }", "0.1 0.2 0.3");
	expect_values("\"range\": { \"from\": -1, \"to\": 1, \"step\": 0.5 }", "-1 -0.5 0 0.5 1");
	expect_values("\"range\": { \"from\": 1, \"to\": 2, \"step\": 0.3 }", "1 1.3 1.6 1.9");
	expect_values("\"range\": { \"from\": 4, \"to\": 4, \"step\": 1 }", "4");
	expect_values("\"range\": { \"from\": 0.00001, \"to\": 0.00003, \"step\": 1e-5 }",
		      "0.00001 0.00002 0.00003");
	expect_values("\"range\": { \"from\": 1e6, \"to\": 3e6, \"step\": 1e6 }",
		      "1000000 2000000 3000000");
}

Test(plan, ranges_of_quantities)
{
	expect_values("\"range\": { \"from\": \"10us\", \"to\": \"50us\", \"step\": \"10us\" }",
		      "10us 20us 30us 40us 50us");
	expect_values("\"range\": { \"from\": \"500us\", \"to\": \"1.5ms\", \"step\": \"500us\" }",
		      "500us 1ms 1.5ms");
	expect_values("\"range\": { \"from\": \"0s\", \"to\": \"2ns\", \"step\": \"1ns\" }",
		      "0ps 1ns 2ns");
	expect_values(
		"\"range\": { \"from\": \"10Gbps\", \"to\": \"40Gbps\", \"step\": \"15Gbps\" }",
		"10Gbps 25Gbps 40Gbps");
	expect_values("\"range\": { \"from\": \"1KiB\", \"to\": \"2KiB\", \"step\": \"512B\" }",
		      "1KiB 1.5KiB 2KiB");
	expect_values("\"range\": { \"from\": \"20pkt\", \"to\": \"60pkt\", \"step\": \"20pkt\" }",
		      "20pkt 40pkt 60pkt");
	/* beyond 2^53 ps */
	expect_values("\"range\": { \"from\": \"9007199254740993ps\", "
		      "\"to\": \"9007199254741000ps\", \"step\": \"2ps\" }",
		      "9007199254.740993us 9007199254.740995us 9007199254.740997us "
		      "9007199254.740999us");
}

/* Replication r has perturbation r mod 2, whatever the scheme: values and seeds are the same for
 * both schemes, and an empty one leaves the scenario as it is. */
Test(plan, perturbations_are_paired)
{
	static const char members[] =
		"\"axes\": [ { \"pointer\": \"/x\", \"values\": [1, 2] } ], \"replications\": 4, "
		"\"perturb\": { \"still\": {}, \"apart\": { \"/y\": \"1us\", \"/z\": 2 } }";
	struct plan *plan = plan_of(members);

	expect_points(members, "x=1 replication=0 perturb=still; x=1 replication=1 perturb=apart; "
			       "x=1 replication=2 perturb=still; x=1 replication=3 perturb=apart; "
			       "x=2 replication=0 perturb=still; x=2 replication=1 perturb=apart; "
			       "x=2 replication=2 perturb=still; x=2 replication=3 perturb=apart");
	for (size_t p = 0; p < 8; p++) {
		size_t count, apart = p % 2;
		struct conf_override *overrides = plan_overrides(plan, p, &count, NULL);

		cr_assert_eq(count, apart ? 4 : 2);
		cr_expect_str_eq(overrides[0].pointer, "/x");
		cr_expect(!apart || !strcmp(overrides[1].pointer, "/y"));
		cr_expect(!apart || !strcmp(overrides[1].value, "\"1us\""));
		cr_expect_str_eq(overrides[count - 1].pointer, "/seed");
		cr_expect_eq(plan->points[p].seed, plan->points[p % 4].seed);
		free(overrides);
	}
	plan_free(plan);
}

#define SCHEMES                                                                                    \
	"{ \"name\": \"scheme\", \"pointer\": \"/s\", \"values\": [\"ring\", \"a\", \"b\"] }"
#define MEMORY                                                                                     \
	"{ \"name\": \"memory\", \"pointer\": \"/m\", \"values\": [1, 2], "                        \
	"\"only\": { \"scheme\": [\"a\", \"b\"] } }"

/* A scheme to which an axis does not apply is one point, which stands for all values of the axis:
 * it is left out only if it is with each of them. */
Test(plan, axes_for_some_values_of_others)
{
	static const char schemes_first[] =
		"scheme=ring; scheme=a memory=1; scheme=a memory=2; scheme=b memory=1; "
		"scheme=b memory=2";

	expect_points("\"axes\": [ " SCHEMES ", " MEMORY " ]", schemes_first);
	expect_points("\"axes\": [ " MEMORY ", " SCHEMES " ]",
		      "scheme=ring; memory=1 scheme=a; memory=1 scheme=b; memory=2 scheme=a; "
		      "memory=2 scheme=b");
	expect_points("\"axes\": [ " SCHEMES ", " MEMORY " ], "
		      "\"exclude\": [ { \"scheme\": \"ring\", \"memory\": 1 } ]",
		      schemes_first);
	expect_points("\"axes\": [ " SCHEMES ", " MEMORY " ], \"exclude\": [ { \"memory\": 1 } ]",
		      "scheme=ring; scheme=a memory=2; scheme=b memory=2");
	expect_points("\"axes\": [ " SCHEMES ", " MEMORY " ], \"exclude\": [ { \"memory\": 1 }, "
		      "{ \"memory\": 2, \"scheme\": [\"ring\", \"b\"] } ]",
		      "scheme=a memory=2");
	expect_points(
		"\"replications\": 2, \"axes\": [ " SCHEMES ", " MEMORY " ], "
		"\"only\": [ { \"scheme\": \"ring\" }, { \"scheme\": \"b\", \"memory\": 2 } ]",
		"scheme=ring replication=0; scheme=ring replication=1; "
		"scheme=b memory=2 replication=0; scheme=b memory=2 replication=1");
}

/* Such a point sets nothing of the axis, and is counted behind its values. */
Test(plan, axis_that_does_not_apply)
{
	struct plan *plan = plan_of("\"axes\": [ " MEMORY ", " SCHEMES " ]");
	size_t *points = plan_level_points(plan, 0), count;
	struct conf_override *overrides = plan_overrides(plan, 0, &count, NULL);

	cr_expect(points[0] == 2 && points[1] == 2 && points[2] == 1);
	cr_expect(count == 2 && !strcmp(overrides[0].pointer, "/s") &&
		  !strcmp(overrides[1].pointer, "/seed"));
	cr_expect_eq(conf_warnings(plan->doc), 0);
	free(overrides);
	free(points);
	plan_free(plan);
}

static void expect_warnings(const char *members, size_t expected)
{
	struct plan *plan = plan_of(members);

	cr_expect_eq(conf_warnings(plan->doc), expected, "%s: %zu warnings", members,
		     conf_warnings(plan->doc));
	plan_free(plan);
}

/* Values that an axis seems to have, and no point gets. */
Test(plan, lost_values)
{
	expect_warnings("\"axes\": [ " SCHEMES ", " MEMORY " ], \"exclude\": [ { \"memory\": 1 }, "
			"{ \"memory\": 2, \"scheme\": [\"ring\", \"b\"] } ]",
			3); /* memory 1, ring, b */
	expect_warnings("\"axes\": [ " SCHEMES " ], \"only\": [ { \"scheme\": \"a\" } ]", 2);
	expect_warnings("\"axes\": [ { \"pointer\": \"/m\", \"log\": { \"from\": \"64KB\", "
			"\"to\": \"4MB\", \"factor\": 8 } } ]",
			1);
	expect_warnings("\"axes\": [ { \"pointer\": \"/m\", \"log\": { \"from\": \"64KiB\", "
			"\"to\": \"4MiB\", \"factor\": 8 } } ]",
			0);
	expect_warnings("\"axes\": [ { \"pointer\": \"/m\", \"log\": { \"from\": 0.1, "
			"\"to\": 100, \"factor\": 10 } } ]",
			0);
}

Test(plan, logs)
{
	expect_values("\"log\": { \"from\": 1, \"to\": 1000, \"points\": 4 }", "1 10 100 1000");
	expect_values("\"log\": { \"from\": 4, \"to\": 64, \"points\": 5 }", "4 8 16 32 64");
	expect_values("\"log\": { \"from\": 1, \"to\": 10, \"factor\": 2 }", "1 2 4 8");
	expect_values("\"log\": { \"from\": 1, \"to\": 8, \"factor\": 2 }", "1 2 4 8");
	/* 10^-1.5 = 0.0316227..., 10^-0.5 = 0.316227... */
	expect_values("\"log\": { \"from\": 0.01, \"to\": 1, \"points\": 5 }",
		      "0.01 0.0316 0.1 0.316 1");
	/* whole limits give whole numbers: 2 * 50^(1/4) = 5.318, 14.14, 37.6 */
	expect_values("\"log\": { \"from\": 2, \"to\": 100, \"points\": 5 }", "2 5 14 38 100");
	/* 1.815 is rounded to 1.82, which is above `to` */
	expect_values("\"log\": { \"from\": 1.5, \"to\": 1.8151, \"factor\": 1.1 }",
		      "1.5 1.65 1.8151");
}

Test(plan, logs_of_quantities)
{
	expect_values("\"log\": { \"from\": \"16KiB\", \"to\": \"1MiB\", \"points\": 7 }",
		      "16KiB 32KiB 64KiB 128KiB 256KiB 512KiB 1MiB");
	/* 16 * 62.5^(i/6): 31.873, 63.496, 126.491, 251.984, 501.979 */
	expect_values("\"log\": { \"from\": \"16KB\", \"to\": \"1MB\", \"points\": 7 }",
		      "16KB 31.9KB 63.5KB 126KB 252KB 502KB 1MB");
	expect_values("\"log\": { \"from\": \"1us\", \"to\": \"1ms\", \"factor\": 10 }",
		      "1us 10us 100us 1ms");
	expect_values("\"log\": { \"from\": \"10Gbps\", \"to\": \"400Gbps\", \"factor\": 2 }",
		      "10Gbps 20Gbps 40Gbps 80Gbps 160Gbps 320Gbps");
	/* 1 ps is the finest time: 2.15 and 4.64 ps do not exist */
	expect_values("\"log\": { \"from\": \"1ps\", \"to\": \"10ps\", \"points\": 4 }",
		      "1ps 2ps 5ps 10ps");
	expect_values("\"log\": { \"from\": \"20pkt\", \"to\": \"80pkt\", \"points\": 3 }",
		      "20pkt 40pkt 80pkt");
}

Test(plan, the_first_axis_varies_slowest)
{
	expect_points(
		"\"axes\": [ { \"pointer\": \"/a\", \"values\": [1, true] }, "
		"{ \"name\": \"b\", \"pointer\": \"/x/y\", \"values\": [\"u\", 2.5, \"w\"] } ]",
		"a=1 b=u; a=1 b=2.5; a=1 b=w; a=true b=u; a=true b=2.5; a=true b=w");
	expect_points("\"axes\": [ { \"pointer\": \"/a\", \"values\": [1, 2] } ], "
		      "\"replications\": 2",
		      "a=1 replication=0; a=1 replication=1; a=2 replication=0; a=2 replication=1");
	expect_points("\"replications\": 3", "replication=0; replication=1; replication=2");
	expect_points("\"about\": \"one point\"", "");
}

Test(plan, zips_and_cases)
{
	expect_points("\"axes\": [ { \"name\": \"fabric\", \"zip\": [ "
		      "{ \"pointer\": \"/rate\", \"values\": [\"10Gbps\", \"100Gbps\"] }, "
		      "{ \"pointers\": [\"/k\", \"/l\"], \"values\": [85, 400] } ] } ]",
		      "fabric=10Gbps/85; fabric=100Gbps/400");
	expect_points("\"axes\": [ { \"name\": \"case\", \"cases\": { \"alone\": { \"/a\": 1 }, "
		      "\"_note\": \"a comment\", \"shared\": { \"/a\": 4, \"/b\": 8 } } } ]",
		      "case=alone; case=shared");
}

#define TWO_AXES                                                                                   \
	"\"axes\": [ { \"pointer\": \"/a\", \"values\": [1, 2] }, "                                \
	"{ \"pointer\": \"/b\", \"values\": [\"x\", \"y\", \"z\"] } ], "

Test(plan, constraints)
{
	expect_points(TWO_AXES "\"exclude\": [ { \"a\": 1, \"b\": [\"x\", \"z\"] } ]",
		      "a=1 b=y; a=2 b=x; a=2 b=y; a=2 b=z");
	expect_points(TWO_AXES "\"exclude\": [ { \"a\": 1 }, { \"b\": \"y\" } ]",
		      "a=2 b=x; a=2 b=z");
	expect_points(TWO_AXES "\"only\": [ { \"a\": 1, \"b\": \"z\" }, { \"b\": \"x\" } ]",
		      "a=1 b=x; a=1 b=z; a=2 b=x");
	expect_points(TWO_AXES "\"only\": [ { \"a\": 1 } ], \"exclude\": [ { \"b\": \"x\" } ]",
		      "a=1 b=y; a=1 b=z");
	/* a list that is itself a value */
	expect_points("\"axes\": [ { \"pointer\": \"/a\", \"values\": [[1, 2], 1, 2] } ], "
		      "\"exclude\": [ { \"a\": [1, 2] } ]",
		      "a=1; a=2");
	/* numbers in another spelling than that of the axis */
	expect_points("\"axes\": [ { \"pointer\": \"/a\", "
		      "\"range\": { \"from\": 0.00001, \"to\": 0.00003, \"step\": 0.00001 } } ], "
		      "\"exclude\": [ { \"a\": [0.00001, 3e-5] } ]",
		      "a=0.00002");
}

Test(plan, replications_share_random_numbers)
{
	struct plan *plan = plan_of(TWO_AXES "\"replications\": 3, \"seed\": 7");

	cr_assert(plan->point_count == 18);
	for (size_t i = 0; i < plan->point_count; i++) {
		cr_expect(plan->points[i].replication == i % 3);
		/* derived from the plan's seed and the replication alone; below 2^53 */
		cr_expect(plan->points[i].seed ==
			  (hash_pair(7, i % 3) & ((UINT64_C(1) << 53) - 1)));
	}
	cr_expect(plan->points[0].seed != plan->points[1].seed &&
		  plan->points[1].seed != plan->points[2].seed);
	plan_free(plan);
}

static uint64_t seed_with(const char *members, const char *point)
{
	struct plan *plan = plan_of(members);
	uint64_t seed = 0;

	for (size_t i = 0; i < plan->point_count; i++) {
		const char *words = plan_point_words(plan, i);

		if (!strcmp(words, point))
			seed = plan->points[i].seed;
	}
	plan_free(plan);
	return seed;
}

Test(plan, or_have_their_own)
{
	static const char grown[] = "\"axes\": [ { \"pointer\": \"/a\", \"values\": [0, 1, 2] }, "
				    "{ \"pointer\": \"/b\", \"values\": [\"v\", \"x\", \"y\"] } ], "
				    "\"replications\": 4, \"common_random_numbers\": false";
	struct plan *plan =
		plan_of(TWO_AXES "\"replications\": 3, \"common_random_numbers\": false");

	for (size_t i = 0; i < plan->point_count; i++)
		for (size_t k = 0; k < i; k++)
			cr_expect(plan->points[i].seed != plan->points[k].seed, "%zu %zu", i, k);
	/* seeds depend on values, not on their places: a plan that grows keeps its points */
	for (size_t i = 0; i < 6; i++) {
		const char *words = plan_point_words(plan, i);

		cr_expect(plan->points[i].seed == seed_with(grown, words), "%s", words);
	}
	plan_free(plan);
}

Test(plan, a_seed_axis_decides_itself)
{
	struct plan *plan = plan_of("\"axes\": [ { \"name\": \"s\", \"pointer\": \"/seed\", "
				    "\"values\": [5, 9] } ]");
	size_t count;
	struct conf_override *overrides = plan_overrides(plan, 1, &count, NULL);

	cr_expect(plan->own_seeds);
	cr_assert(count == 1);
	cr_expect_str_eq(overrides[0].pointer, "/seed");
	cr_expect_str_eq(overrides[0].value, "9");
	free(overrides);
	plan_free(plan);
}

/* All values are JSON: a string that looks like a number stays a string. */
Test(plan, what_a_point_sets)
{
	static const char *const expected[][2] = {
		{ "/t", "{\"u\":1}" }, { "/a", "\"5\"" }, { "/b", "\"5\"" },
		{ "/m", "\"2KB\"" },   { "/c", "[1,2]" },
	};
	struct plan *plan = plan_of(
		"\"set\": { \"/t\": { \"u\": 1 }, \"_why\": 0 }, \"axes\": [ "
		"{ \"name\": \"x\", \"pointers\": [\"/a\", \"/b\"], \"values\": [\"4\", \"5\"] }, "
		"{ \"pointer\": \"/m\", \"log\": { \"from\": \"1KB\", \"to\": \"2KB\", \"points\": "
		"2 } }, "
		"{ \"name\": \"y\", \"cases\": { \"l\": { \"/c\": [1, 2] } } } ]");
	const struct plan_setting **settings;
	struct conf_override *overrides;
	char seed[24];
	size_t count;

	cr_assert(plan->point_count == 4);
	overrides = plan_overrides(plan, 3, &count, &settings);
	cr_assert(count == 6);
	for (size_t i = 0; i < 5; i++) {
		cr_expect_str_eq(overrides[i].pointer, expected[i][0]);
		cr_expect_str_eq(overrides[i].value, expected[i][1]);
	}
	snprintf(seed, sizeof(seed), "%" PRIu64, plan->points[3].seed);
	cr_expect_str_eq(overrides[5].pointer, "/seed");
	cr_expect_str_eq(overrides[5].value, seed);
	cr_expect(!settings[5]);
	cr_expect_str_eq(settings[2]->place, "/axes/0/values/1");
	cr_expect_str_eq(settings[2]->origin, "/axes/0/pointers/1");
	cr_expect_str_eq(settings[4]->place, "/axes/2/cases/l/~1c");
	free(settings);
	free(overrides);
	plan_free(plan);
}
