/* Measures how fast this machine simulates, to estimate running times. */
#include "cli/cli.h"

#include "base/fail.h"
#include "run/simulation_state.h"

#include <string.h>

/* A mixture: packets that switches add, and flows. A packet-hop of flows costs half as much
 * as the mean hop of this mixture in a small network, and up to twice as much in large ones or with
 * PAUSE (scripts/bench). */
static const char sample[] =
	"{ \"name\": \"speed\", \"topology\": { \"kind\": \"leaf-spine\", \"leaves\": 4, "
	"\"spines\": 4, \"hosts_per_leaf\": 8 }, \"schemes\": { \"switchml\": { \"slots\": 256 } "
	"}, "
	"\"jobs\": [ { \"workers\": 16, \"all_reduce\": \"switchml\", \"model\": "
	"{ \"layers\": [ { \"gradient\": \"250KB\" } ] } } ], "
	"\"flows\": [ { \"size\": \"125KB\", \"pairs\": \"permutation\" } ] }";

double speed_hops_per_s(void)
{
	static double speed; /* 0: not measured yet */
	struct simulation_options options = { 0 };
	struct scenario scenario;
	struct simulation *run;
	struct conf_doc *doc;
	char *error = NULL;

	if (speed > 0)
		return speed;
	doc = scenario_parse("speed", sample, strlen(sample), &scenario);
	SIM_BUG_ON(conf_errors(doc) > 0);
	run = simulation_run(&scenario, &options, &error);
	SIM_BUG_ON(!run);
	/* at least 0.1 ms, in case the clock of CPU time is coarse */
	speed = (double)run->topo.net.hops / (run->cpu_s > 1e-4 ? run->cpu_s : 1e-4);
	simulation_free(run);
	conf_doc_free(doc);
	return speed;
}
