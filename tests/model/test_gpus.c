/* GPUs as ranks, on machines with several: groups inside a machine, over machines, and stages of
 * pipelines, by any scheme, against closed forms or against the same without GPUs. Every worker
 * checks all sums that cross the network, always. */
#include "model_run.h"

#include "formulas/formulas.h"
#include "workload/jobs/jobs.h"

#include <math.h>

#define GPUS(hosts, nics)                                                                          \
	"'topology': { 'kind': 'star', 'hosts': " hosts ", 'switch': { 'pause': true }, 'host': "  \
	"{ 'nic_jitter': '0s', 'gpus': { 'count': 4, 'rate': '400Gbps', 'latency': '2us' }" nics   \
	" } }"
#define ONE_NIC(machines) GPUS(machines, "")
#define RAILS             GPUS("16", ", 'nics': { 'count': 4, 'wiring': 'rails' }")
#define RANKS16           "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]"

static const struct formula_machine inside = { 4, 2 * PS_PER_US, UINT64_C(400000000000), false };

/* The duration of the second of three iterations of a job. */
static double iteration(const char *topology, const char *job)
{
	struct run run;

	run_build(&run,
		  "{ 'name': 't', %s, 'schemes': { 'switchml': { 'slots': 64 }, 'panama': { "
		  "'aggregate_above': '0B' } }, 'jobs': [ { "
		  "'iterations': 3, %s } ] }",
		  topology, job);
	run_to(&run, END_ALL_DONE);
	return run_second_of_three(&run);
}

/* NVLS inside a machine: an all-reduce takes (n + 1) / n S / B and two latencies, a half S / B and
 * one. Two groups of one machine do not disturb each other, one group does one after the other. */
Test(gpus, nvls_inside_a_machine)
{
#define NVLS(nodes) "'all_reduce': 'nvls', 'model': { 'roles': [ { 'ranks': " nodes " ] } ] }"
	double link = 4e6 * 8 / 400e9, whole = 5 / 4. * link + 4e-6;

	near(iteration(ONE_NIC("2"), NVLS("[0, 1, 2, 3], 'nodes': [ { 'all_reduce': '4MB' }")),
	     whole, 1e-9, "all-reduce");
	near(iteration(ONE_NIC("2"), NVLS("[0, 1, 2, 3], 'nodes': [ { 'reduce_scatter': '4MB' }")),
	     link + 2e-6, 1e-9, "reduce-scatter");
	near(iteration(ONE_NIC("2"), NVLS("[0, 1, 2, 3], 'nodes': [ { 'all_gather': '4MB' }")),
	     link + 2e-6, 1e-9, "all-gather");
	near(iteration(ONE_NIC("2"),
		       NVLS("[0, 1, 2, 3], 'nodes': [ { 'all_reduce': '4MB', 'wait': false }, "
			    "{ 'all_reduce': '4MB' }")),
	     2 * whole, 1e-9, "two of one group");
	near(iteration(ONE_NIC("2"),
		       "'all_reduce': 'nvls', 'model': { 'groups': [ { 'name': 'g', 'members': "
		       "[[0, 1, 2, 3], [4, 5, 6, 7]] } ], 'roles': [ { 'ranks': [0, 1, 2, 3, 4, "
		       "5, 6, 7], 'nodes': [ { 'all_reduce': '4MB', 'group': 'g' } ] } ] }"),
	     whole, 1e-9, "two groups");
}

/* An all-reduce of all GPUs adds up inside machines first: as that of a network whose workers are
 * the machines, to the picosecond, whatever the scheme and the number of NICs. */
Test(gpus, group_over_machines_as_machines)
{
	static const char *const schemes[] = { "switchml", "esa", "panama", "sharp", "ps" };
	static const char *const topologies[] = { ONE_NIC("4"), RAILS };
	static const char *const how[] = { "scatter", "master" };

	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < 4; k++) {
			char group[512], machines[512];

			snprintf(group, sizeof(group),
				 "'all_reduce': '%s', 'inside': '%s', 'model': { 'roles': [ { "
				 "'ranks': " RANKS16 ", 'nodes': [ { 'all_reduce': '4MB' } ] } ] }",
				 schemes[i], how[k / 2]);
			snprintf(machines, sizeof(machines),
				 "'all_reduce': '%s', 'inside': '%s', 'workers': 4, %s 'model': { "
				 "'layers': [ { 'gradient': '4MB' } ] }",
				 schemes[i], how[k / 2],
				 i % 3 == 1 ? "'servers': { 'placement': 'workers' }," : "");
			near(iteration(topologies[k % 2], group),
			     iteration(topologies[k % 2], machines), 1e-12, schemes[i]);
		}
}

/* Half of an exchange has one stage inside machines: (n - 1) / n S / B and n - 1 latencies beside
 * what it takes between machines without GPUs. */
Test(gpus, halves_over_machines)
{
#define HALVES(ranks)                                                                              \
	"'all_reduce': '%s', 'model': { 'roles': [ { 'ranks': " ranks                              \
	", 'nodes': [ { '%s': '4MB' } ] } ] }"
	static const char flat[] = "'topology': { 'kind': 'star', 'hosts': 4, 'switch': { "
				   "'pause': true }, 'host': { 'nic_jitter': '0s' } }";
	double stage = seconds_of(formula_machine_scatter(&inside, 4000000));
	static const char *const kinds[][2] = { { "sharp", "reduce_scatter" },
						{ "sharp", "all_gather" } };

	for (size_t i = 0; i < 1; i++) {
		char with[512], without[512];

		snprintf(with, sizeof(with), HALVES(RANKS16), kinds[i][0], kinds[i][1]);
		snprintf(without, sizeof(without), HALVES("[0, 1, 2, 3]"), kinds[i][0],
			 kinds[i][1]);
		near(iteration(ONE_NIC("4"), with), iteration(flat, without) + stage, 1e-3,
		     kinds[i][1]);
	}
}

#define LAYERS(more)                                                                               \
	"'overlap': 'layers', 'workers': 4, 'model': { 'layers': [ { 'gradient': '4MB', "          \
	"'forward': '50us', 'backward': '100us'" more " }, { 'gradient': '4MB', 'forward': "       \
	"'50us', 'backward': '100us'" more " } ] }"

/* A sharded network computes at all GPUs; with rails each exchanges its part over its own NIC,
 * which takes a quarter of what one NIC takes. */
Test(gpus, sharding_uses_all_nics)
{
	static const char *const jobs[] = {
		"'all_reduce': 'ring', 'sharding': 'optimizer'",
		"'all_reduce': 'sharp', 'sharding': 'optimizer', 'all_gather': 'sharp'",
		"'all_reduce': 'ring', 'reduce_scatter': 'shards', 'all_gather': 'multicast', "
		"'sharding': 'full'",
	};

	for (size_t i = 0; i < 3; i++) {
		char job[512];
		double one, four, compute = 300e-6;

		snprintf(job, sizeof(job), "%s, " LAYERS(""), jobs[i]);
		one = iteration(ONE_NIC("4"), job);
		four = iteration(RAILS, job);
		cr_expect_gt(one - compute, 3 * (four - compute) * 0.9, "%s: %.6f, %.6f ms",
			     jobs[i], one * 1e3, four * 1e3);
	}
}

/* A pipeline of stages whose replicas add up by a scheme in switches, or at servers: GPipe's closed
 * form where the network takes nothing. */
Test(gpus, pipelines_by_schemes)
{
	static const char *const schemes[] = { "ring",  "switchml", "esa", "panama",
					       "sharp", "ps",       "nvls" };
	static const char fast[] =
		"'topology': { 'kind': 'star', 'hosts': 4, 'link': { 'rate': '100Tbps', 'delay': "
		"'1ns' }, 'switch': { 'pause': true }, 'host': { 'nic_jitter': '0s'%s } }";

	for (size_t i = 0; i < 7; i++)
		for (size_t gpus = 1; gpus <= 4; gpus += 3) {
			char topology[512], of[64], job[512];

			if (!strcmp(schemes[i], "nvls") && gpus > 1)
				continue; /* refused: adds up inside machines */
			snprintf(of, sizeof(of), ", 'gpus': { 'count': %zu, 'rate': '100Tbps' }",
				 gpus);
			snprintf(topology, sizeof(topology), fast, of);
			snprintf(job, sizeof(job),
				 "'all_reduce': '%s', 'gradient_scale': 0.0001, 'pipeline': { "
				 "'stages': 2, 'microbatches': 4, 'activations': '1B' }, " LAYERS(
					 ""),
				 schemes[i]);
			near(iteration(topology, job), 5 / 4. * 150e-6, 0.25, schemes[i]);
		}
}

/* m micro-batches take m (F + B) + (P - 1) (F + B) / v where messages take next to nothing: they
 * pass v P - 1 times each way. */
Test(gpus, bubbles)
{
	static const struct {
		unsigned stages, microbatches, chunks;
		const char *schedule;
	} pipelines[] = { { 2, 8, 1, "gpipe" }, { 4, 8, 1, "gpipe" }, { 4, 8, 1, "1f1b" },
			  { 2, 4, 2, "1f1b" },  { 4, 8, 2, "1f1b" },  { 4, 4, 3, "1f1b" },
			  { 3, 6, 2, "1f1b" },  { 8, 16, 3, "1f1b" } };

	for (size_t i = 0; i < sizeof(pipelines) / sizeof(*pipelines); i++) {
		unsigned p = pipelines[i].stages, m = pipelines[i].microbatches,
			 v = pipelines[i].chunks;
		double stage = 24. / p * 300e-6;
		char layers[2048] = "", topology[256], job[2560];

		for (unsigned l = 0; l < 24; l++)
			snprintf(layers + strlen(layers), sizeof(layers) - strlen(layers),
				 "%s{ 'gradient': '4B', 'forward': '%uus', 'backward': '%uus' }",
				 l ? ", " : "", 100 * m, 200 * m);
		snprintf(topology, sizeof(topology),
			 "'topology': { 'kind': 'star', 'hosts': 8, 'link': { 'rate': '100Tbps', "
			 "'delay': '1ns' }, 'host': { 'nic_jitter': '0s' } }");
		snprintf(job, sizeof(job),
			 "'all_reduce': 'ring', 'overlap': 'layers', 'workers': %u, 'pipeline': { "
			 "'stages': %u, 'microbatches': %u, 'schedule': '%s', 'chunks': %u }, "
			 "'model': { 'layers': [ %s ] }",
			 p, p, m, pipelines[i].schedule, v, layers);
		near(iteration(topology, job), m * stage + (p - 1) * stage / v, 2e-3,
		     pipelines[i].schedule);
	}
}
