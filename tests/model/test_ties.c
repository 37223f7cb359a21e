/* Ties among equal times are broken by a hash of the key of what happens (core/sim.h), so two
 * things that may happen at one time never have the same: what comes first would hang on who asked
 * first. (transport/keys.h deals keys out.) */
#include "model_run.h"

#include <inttypes.h>
#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* All that is to happen. */
static void expect_own_keys(const struct sim *sim, const char *scheme)
{
	static uint64_t keys[100000];
	size_t count = 0;

	for (uint32_t id = 0; id < sim->queue.node_count; id++)
		if (sim_pending(sim, id) && count < 100000)
			keys[count++] = sim->queue.keys[id];
	qsort(keys, count, sizeof(*keys), by_key);
	for (size_t i = 1; i < count; i++)
		cr_assert_neq(keys[i], keys[i - 1], "%s: %" PRIx64, scheme, keys[i]);
}

/* Jobs of every scheme, with recovery and servers on workers' hosts, beside flows of both
 * transports, where packets are lost. */
Test(ties, no_key_is_anothers)
{
	for (unsigned i = 0; all_reduce_ops(i); i++) {
		struct run run;
		const char *servers =
			strstr("ps ps_stream atp esa", scheme_ops(i)->name) ? "'servers': 2," : "";

		if (run_is_nvls(i))
			continue;
		run_build(
			&run,
			"{'name': 't', 'topology': {'kind': 'leaf-spine', 'leaves': 3, 'spines': "
			"2, 'hosts_per_leaf': 6, 'link': {'loss': 0.01}, 'switch': {'pause': "
			"false}}, 'schemes': {'panama': {'aggregate_above': '0B', 'recovery': "
			"true}, 'switchml_star': {'aggregate_above': '0B', 'recovery': true}}, "
			"'jobs': [{'count': 2, 'workers': 8, %s 'all_reduce': '%s', 'iterations': "
			"2, 'model': {'layers': [{'gradient': '200KB', 'forward': '20us'}]}}], "
			"'flows': [{'count': 4, 'size': '100KB', 'arrival': {'at': '0s'}}, "
			"{'count': 4, 'size': '100KB', 'transport': 'dcqcn', 'arrival': {'at': "
			"'0s'}}], 'stop': {'after': '1s'}}",
			servers, scheme_ops(i)->name);
		while (sim_run(&run.s->sim, 50) && sim_event_count(&run.s->sim) < 200000)
			expect_own_keys(&run.s->sim, scheme_ops(i)->name);
		run_free(&run);
	}
}

/* Connections of PANAMA's recovery, whose timers count from twice their number, beside flows that
 * pace. When the tag of these connections was 8, it ran over into that of pacing. */
Test(ties, recovery_beside_paced_flows)
{
	struct run run;

	run_build(
		&run,
		"{'name': 't', 'topology': {'kind': 'star', 'hosts': 40, 'link': {'loss': 0.003}, "
		"'switch': {'pause': false}}, 'schemes': {'panama': {'aggregate_above': '0B', "
		"'recovery': true, "
		"'retransmission_timeout': '100us'}}, 'jobs': [{'workers': 8, 'all_reduce': "
		"'panama', "
		"'iterations': 20, 'model': {'layers': [{'gradient': '500KB'}]}}], 'flows': "
		"[{'size': '10MB', "
		"'transport': 'dcqcn', 'pairs': 'incast', 'fan_in': 30, 'receiver': 39, 'arrival': "
		"{'at': "
		"'0s'}}], 'stop': {'after': '1s'}}");
	while (sim_run(&run.s->sim, 20) && sim_event_count(&run.s->sim) < 1000000)
		expect_own_keys(&run.s->sim, "panama");
	run_free(&run);
}
