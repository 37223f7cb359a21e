/* Two simulations in one process do not know of each other: interleaved in turns
 * of a few thousand events, each gives the digest that it gives alone. */
#include <criterion/criterion.h>

#include "scenario/scenario.h"
#include "run/simulation_state.h"

#include <inttypes.h>
#include <string.h>

static const char *const texts[] = {
	"{ \"name\": \"a\", \"seed\": 5,"
	"  \"topology\": { \"kind\": \"fat-tree\", \"k\": 4, \"link\": { \"loss\": 0.0005 },"
	"                \"host\": { \"jitter\": \"200ns\" } },"
	"  \"jobs\": [ { \"workers\": 6, \"all_reduce\": \"ring\", \"count\": 2, \"iterations\": 2,"
	"              \"model\": { \"layers\": [ { \"gradient\": \"400KB\", \"forward\": \"50us\" "
	"} ] } } ],"
	"  \"flows\": [ { \"arrival\": { \"poisson_load\": 0.3 }, \"size\": \"30KB\", \"count\": "
	"500 } ] }",

	"{ \"name\": \"b\", \"seed\": 6, \"stop\": { \"when\": \"time\", \"after\": \"6ms\" },"
	"  \"topology\": { \"kind\": \"star\", \"hosts\": 9, \"link\": { \"rate\": \"40Gbps\" },"
	"                \"switch\": { \"ecn\": { \"kmin\": \"5pkt\", \"kmax\": \"40pkt\", "
	"\"pmax\": 0.3 } } },"
	"  \"jobs\": [ { \"workers\": 8, \"all_reduce\": \"switchml\", \"iterations\": 3, "
	"\"placement\": \"random\","
	"              \"model\": { \"layers\": [ { \"gradient\": \"500KB\", \"backward\": "
	"\"40us\" } ] } } ],"
	"  \"flows\": [ { \"transport\": \"reno\", \"pairs\": \"permutation\", \"size\": \"2MB\" } "
	"] }",
};
#define COUNT 2

struct run {
	struct scenario scenario;
	struct conf_doc *doc;
	struct simulation *simulation;
};

static void open_run(struct run *run, int number)
{
	char *error = NULL;

	run->doc = scenario_parse("test", texts[number], strlen(texts[number]), &run->scenario);
	if (conf_errors(run->doc))
		conf_print_errors(run->doc, stderr, false);
	cr_assert_eq(conf_errors(run->doc), 0);
	run->simulation = simulation_build(&run->scenario, NULL, &error);
	cr_assert_not_null(run->simulation, "%s", error);
}

/* Runs what is left and closes. */
static uint64_t close_run(struct run *run)
{
	struct simulation_options options = { 0 };
	uint64_t digest;

	simulation_go(run->simulation, &options);
	cr_expect_not(simulation_unfinished(run->simulation), "%s ends with %s", run->scenario.name,
		      end_reason_names[run->simulation->end]);
	cr_expect_gt(run->simulation->sim.events, 20000);
	digest = simulation_digest(run->simulation);
	simulation_free(run->simulation);
	conf_doc_free(run->doc);
	return digest;
}

static uint64_t alone(int number)
{
	struct run run;

	open_run(&run, number);
	return close_run(&run);
}

/* Both run side by side, in turns of `budget` events; then digests are compared. */
static void interleave(const int numbers[COUNT], uint64_t budget)
{
	struct run runs[COUNT];
	bool more = true;

	for (int i = 0; i < COUNT; i++)
		open_run(&runs[i], numbers[i]);
	while (more) {
		more = false;
		for (int i = 0; i < COUNT; i++)
			more |= sim_run(&runs[i].simulation->sim, budget * (uint64_t)(i + 1));
	}
	for (int i = 0; i < COUNT; i++) {
		uint64_t expected = alone(numbers[i]), found = close_run(&runs[i]);

		cr_expect_eq(found, expected,
			     "scenario %d in turns of %" PRIu64 ": %016" PRIx64
			     ", alone %016" PRIx64,
			     numbers[i], budget, found, expected);
	}
}

Test(two_in_one, different_scenarios)
{
	interleave((int[]){ 0, 1 }, 1);
	interleave((int[]){ 0, 1 }, 4099);
}

Test(two_in_one, same_scenario_twice)
{
	interleave((int[]){ 0, 0 }, 997);
	interleave((int[]){ 1, 1 }, 997);
}

Test(two_in_one, one_after_the_other)
{
	uint64_t first = alone(0);

	alone(1);
	cr_expect_eq(alone(0), first);
	cr_expect_neq(alone(1), first);
}

/* A run that is given up half way leaves nothing behind. */
Test(two_in_one, given_up_half_way)
{
	uint64_t expected = alone(0);
	struct run run;

	open_run(&run, 1);
	sim_run(&run.simulation->sim, 5000);
	simulation_free(run.simulation);
	conf_doc_free(run.doc);
	cr_expect_eq(alone(0), expected);
}
