/* Random scenarios: always valid, the same from run to run, and as various as they say. */
#include "crosscheck/random_scenario.h"

#include "base/hash.h"
#include "crosscheck/promise.h"
#include "scenario.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS   4
#define NUMBERS 100

static struct conf_doc *parse(uint64_t seed, uint64_t number, struct scenario *scenario)
{
	char *text = random_scenario(seed, number);
	struct conf_doc *doc = scenario_parse("random", text, strlen(text), scenario);

	conf_print_errors(doc, stderr, false);
	cr_assert_eq(conf_errors(doc), 0, "scenario %lu of seed %lu: %s", (unsigned long)number,
		     (unsigned long)seed, text);
	free(text);
	return doc;
}

static bool is_alike(enum crosscheck_kind kind)
{
	return kind == CROSSCHECK_EVEN || kind == CROSSCHECK_APART || kind == CROSSCHECK_ALIKE;
}

Test(random_scenario, all_are_valid_and_differ)
{
	bool scheme_seen[SCHEME_COUNT] = { false };
	unsigned alone = 0, alike = 0, with_flows = 0, kinds[3] = { 0 };

	for (uint64_t seed = 0; seed < SEEDS; seed++)
		for (uint64_t number = 0; number < NUMBERS; number++) {
			struct scenario scenario;
			struct conf_doc *doc = parse(seed, number, &scenario);

			kinds[scenario.topology.kind]++;
			alone += scenario.jobs.count == 1 && scenario.flows.count == 0;
			alike += is_alike(crosscheck_kind(&scenario));
			cr_expect_neq(crosscheck_kind(&scenario), CROSSCHECK_OPEN);
			with_flows += scenario.flows.count > 0;
			cr_expect_leq(scenario.jobs.count, 6);
			for (size_t i = 0; i < scenario.jobs.count; i++)
				scheme_seen[scenario_jobs(&scenario)[i].all_reduce] = true;
			conf_doc_free(doc);
		}
	/* 400 draws with probability 1/3 and 1/5: four standard deviations are 38 and 32;
	 * 1/5 of one job and 2/5 of jobs under one scheme, of which some become one job */
	for (int kind = 0; kind < 3; kind++)
		cr_expect(kinds[kind] > 133 - 38 && kinds[kind] < 133 + 38, "%u", kinds[kind]);
	/* one job alone also where there was no room for a second */
	cr_expect(alone > 80 - 32 && alone < 160, "%u", alone);
	cr_expect(alike > 80 && alike < 160 + 40, "%u", alike);
	cr_expect(with_flows > 80 - 32 && with_flows < 80 + 32, "%u", with_flows);
	for (unsigned i = 0; i < SCHEME_COUNT; i++)
		cr_expect(scheme_seen[i], "%s is never drawn", scheme_names[i]);
}

Test(random_scenario, sizes_are_within_what_is_said)
{
	for (uint64_t number = 0; number < NUMBERS; number++) {
		struct scenario scenario;
		struct conf_doc *doc = parse(7, number, &scenario);

		for (size_t i = 0; i < scenario.jobs.count; i++) {
			const struct job_group_conf *job = &scenario_jobs(&scenario)[i];

			cr_expect(job->workers.number >= 2 && job->workers.number <= 16);
			cr_expect(job->iterations >= 1 && job->iterations <= 5);
		}
		/* What sweeps estimate, in TCP segments and an ACK for each; 1024 bytes a packet
		 * and a way of tiers links here: 15e6 * 1024 / 1460 * 4, and flows. */
		cr_expect_lt(scenario_cost(&scenario, doc), 60e6, "scenario %lu: %g",
			     (unsigned long)number, scenario_cost(&scenario, doc));
		conf_doc_free(doc);
	}
}

Test(random_scenario, seed_and_number_alone_decide)
{
	char *one = random_scenario(3, 14), *again = random_scenario(3, 14);
	char *other_number = random_scenario(3, 15), *other_seed = random_scenario(4, 14);

	cr_expect_str_eq(one, again);
	cr_expect_str_neq(strstr(one, "topology"), strstr(other_number, "topology"));
	cr_expect_str_neq(strstr(one, "topology"), strstr(other_seed, "topology"));
	free(one);
	free(again);
	free(other_number);
	free(other_seed);
}

/* The text itself: a change of the generator is a change of what was measured with it. */
Test(random_scenario, is_the_same_everywhere)
{
	uint64_t sum = 0;

	for (uint64_t number = 0; number < 50; number++) {
		char *text = random_scenario(1, number);

		sum += hash_mix(hash_string(text) + number);
		free(text);
	}
	cr_expect_eq(sum, UINT64_C(0x6c10bbba59298091), "%016lx", (unsigned long)sum);
}
