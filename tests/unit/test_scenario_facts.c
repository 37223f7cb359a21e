/* What sweeps ask about a scenario: its hash, and how long it will take. */
#include "scenario/scenario.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct facts {
	uint64_t hash;
	double cost;
};

/* The facts of a scenario with these members besides its name. */
static struct facts facts_of(const char *members, const char *version)
{
	char *text = xasprintf("{ \"name\": \"n\", %s }", members);
	struct scenario scenario;
	struct conf_doc *doc = scenario_parse("s.json", text, strlen(text), &scenario);
	struct facts facts;

	if (conf_errors(doc))
		conf_print_errors(doc, stderr, false);
	cr_assert(conf_errors(doc) == 0, "%s", text);
	facts = (struct facts){ scenario_hash(&scenario, doc, version),
				scenario_cost(&scenario).hops };
	conf_doc_free(doc);
	free(text);
	return facts;
}

#define STAR "\"topology\": { \"kind\": \"star\", \"hosts\": 8 }"

/* Flows of 10 segments, each with its ACK, over paths of mean length. With 8 hosts in racks of 4, 3
 * of the 7 other hosts are in the same rack. With 16 hosts in racks of 2 and pods of 4, 1 of 15 is
 * in the same rack and 2 more are in the same pod. */
Test(scenario_facts, cost_of_flows)
{
	static const char flows[] = "\"flows\": [ { \"size\": \"14600B\", \"count\": 5 } ]";
	char *star = xasprintf(STAR ", %s", flows);
	char *racks = xasprintf("\"topology\": { \"kind\": \"leaf-spine\", \"leaves\": 2, "
				"\"spines\": 1, \"hosts_per_leaf\": 4 }, %s",
				flows);
	char *tree = xasprintf("\"topology\": { \"kind\": \"fat-tree\", \"k\": 4 }, %s", flows);

	cr_expect_float_eq(facts_of(star, "").cost, 5 * 20 * 2, 1e-9);
	cr_expect_float_eq(facts_of(racks, "").cost, 5 * 20 * (2 * 3 + 4 * 4) / 7., 1e-9);
	cr_expect_float_eq(facts_of(tree, "").cost, 5 * 20 * (2 * 1 + 4 * 2 + 6 * 12) / 15., 1e-9);
	free(star);
	free(racks);
	free(tree);
}

/* 2 jobs, 3 iterations, 4 workers, gradients of 10 segments: a ring sends 2 (n - 1) of them, a tree
 * of switches has 4 links and takes each chunk of 128 bytes up and down. */
Test(scenario_facts, cost_of_jobs)
{
	static const char jobs[] =
		", \"jobs\": [ { \"count\": 2, \"workers\": 4, \"iterations\": 3, "
		"\"all_reduce\": \"%s\", \"model\": { \"layers\": [ { \"gradient\": "
		"\"14600B\" } ] } } ]";
	char *form = xasprintf(STAR "%s", jobs), *ring = xasprintf(form, "ring"),
	     *tree = xasprintf(form, "switchml");

	cr_expect_float_eq(facts_of(ring, "").cost, 2 * 3 * 2 * 3 * 20 * 2, 1e-9);
	cr_expect_float_eq(facts_of(tree, "").cost, 2 * 3 * 2 * 4 * ceil(14600 / 128.), 1e-9);
	free(form);
	free(ring);
	free(tree);
}

/* PANAMA runs small jobs as a ring, whose transport is a parameter of PANAMA. Here it has 4 packets
 * of RoCE and an ACK where TCP has 12 segments. */
Test(scenario_facts, cost_of_another_scheme)
{
	double cost =
		facts_of(STAR ", \"schemes\": { \"panama\": { \"below\": { \"ring\": { "
			      "\"transport\": \"dcqcn\" } } } }, "
			      "\"roce\": { \"mtu\": 4096, \"ack_every\": 4 }, "
			      "\"jobs\": [ { \"workers\": 4, \"all_reduce\": \"panama\", "
			      "\"model\": { \"layers\": [ { \"gradient\": \"16384B\" } ] } } ]",
			 "")
			.cost;

	cr_expect_float_eq(cost, 2 * 3 * (4 + 1) * 2, 1e-9, "%g", cost);
}

/* Flows go on while jobs do: as long as the longest job of a trace, whichever row it is. */
Test(scenario_facts, cost_of_a_trace_in_any_order)
{
	static const char *const rows[] = { "1,0,2,100\n2,0,2,1\n", "1,0,2,1\n2,0,2,100\n" };
	double cost[2];

	for (int i = 0; i < 2; i++) {
		char path[] = INASIM_WORK_DIR "/inasim-trace-XXXXXX", *members;
		FILE *file = fdopen(mkstemp(path), "w");

		cr_assert_not_null(file);
		fprintf(file, "job_id,submit_s,gpus,duration_s\n%s", rows[i]);
		fclose(file);
		members = xasprintf(
			STAR
			", \"stop\": { \"when\": \"jobs_done\", \"after\": \"1000s\" },"
			" \"jobs\": [ { \"model\": { \"layers\": [ { \"gradient\": \"14600B\","
			"   \"backward\": \"1s\" } ] }, \"all_reduce\": \"ring\","
			"   \"iterations\": \"duration\", \"arrival\": { \"trace\": \"%s\" } } ],"
			" \"flows\": [ { \"size\": \"1MB\", \"stop\": \"jobs_done\","
			"   \"arrival\": { \"poisson_load\": 0.1 } } ]",
			path);
		cost[i] = facts_of(members, "").cost;
		free(members);
		unlink(path);
	}
	cr_expect_float_eq(cost[0], cost[1], 1e-6 * cost[0], "%g, %g", cost[0], cost[1]);
}

Test(scenario_facts, hash_is_of_what_decides)
{
	static const char one[] =
		STAR ", \"seed\": 1, \"flows\": [ { \"size\": \"1MB\", \"count\": 3 } ]";
	static const char same[] = "\"flows\": [ { \"count\": 3, \"size\": \"1000KB\" } ], " STAR;
	static const char seed[] =
		STAR ", \"seed\": 2, \"flows\": [ { \"size\": \"1MB\", \"count\": 3 } ]";
	static const char model[] = STAR ", \"jobs\": [ { \"workers\": 2, \"model\": \"vgg16\", "
					 "\"all_reduce\": \"ring\" } ]";

	cr_expect(facts_of(one, "1").hash == facts_of(one, "1").hash);
	cr_expect(facts_of(one, "1").hash ==
		  facts_of(same, "1").hash); /* the text does not matter */
	cr_expect(facts_of(one, "1").hash != facts_of(seed, "1").hash);
	cr_expect(facts_of(one, "1").hash != facts_of(one, "2").hash);
	cr_expect(facts_of(model, "1").hash == facts_of(model, "1").hash);
}

/* The hash covers the file of a graph, as it covers those of traces. */
Test(scenario_facts, hash_is_of_the_file_of_a_graph)
{
	static const char *const rates[] = { "10Gbps", "10Gbps", "40Gbps" };
	char path[] = INASIM_WORK_DIR "/inasim-graph-XXXXXX", *members;
	uint64_t hash[3];

	close(mkstemp(path));
	members = xasprintf("\"topology\": { \"kind\": \"graph\", \"graph\": \"%s\" }, \"flows\": "
			    "[ { \"size\": \"1MB\", \"count\": 3 } ]",
			    path);
	for (int i = 0; i < 3; i++) {
		FILE *file = fopen(path, "w");

		cr_assert_not_null(file);
		fprintf(file,
			"{ \"hosts\": [\"h[0-1]\"], \"switches\": [\"s\"], \"links\": "
			"[ { \"from\": \"h[0-1]\", \"to\": \"s\", \"rate\": \"%s\" } ] }",
			rates[i]);
		fclose(file);
		hash[i] = facts_of(members, "1").hash;
	}
	cr_expect_eq(hash[0], hash[1]);
	cr_expect_neq(hash[0], hash[2]);
	free(members);
	unlink(path);
}
