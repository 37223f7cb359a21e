/* All-to-alls in rounds, at once and by rails, with equal and unlike parts, against the bytes of
 * the busiest link; and Zipf's law against the loads that it gives. Every worker checks all parts.
 */
#include "model_run.h"

#include "workload/jobs/jobs.h"
#include "workload/program/tokens.h"

#include <math.h>
#include <stdlib.h>

#define RATE    10e9
#define ONE_WAY (RATE * 1460 / 1538)        /* of data, if nothing comes the other way */
#define BOTH    (RATE * 1460 / (1538 + 42)) /* beside the ACKs of the other way */
#define RANKS8  "[0, 1, 2, 3, 4, 5, 6, 7]"
#define RANKS16 "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]"
#define FLAT    "'kind': 'star', 'hosts': 8, 'host': { 'nic_jitter': '0s' }"
#define RAILS                                                                                      \
	"'kind': 'star', 'hosts': 16, 'host': { 'nic_jitter': '0s', 'gpus': { 'count': 4, "        \
	"'rate': '400Gbps', 'latency': '2us' }, 'nics': { 'count': 4, 'wiring': 'rails' } }"

/* The second of three all-to-alls of 8 MB. */
static double exchange(const char *topology, const char *ranks, const char *job)
{
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { %s }, 'jobs': [ { 'all_reduce': 'ring', "
		  "'iterations': 3, %s, 'model': { 'roles': [ { 'ranks': %s, 'nodes': [ { "
		  "'all_to_all': '8MB' } ] } ] } } ] }",
		  topology, job, ranks);
	run_to(&run, END_ALL_DONE);
	cr_expect_gt(run.s->checks.exact_checked, 0);
	return run_second_of_three(&run);
}

/* n - 1 of n parts leave a rank that is alone on its machine, in any order. */
Test(all_to_all, alone_on_machines)
{
	double want = 7 / 8. * 8e6 * 8 / BOTH;

	near(exchange(FLAT, RANKS8, "'all_to_all': 'rounds'"), want, 0.02, "rounds");
	near(exchange(FLAT, RANKS8, "'all_to_all': 'at_once'"), want, 0.02, "at once");
	near(exchange(FLAT, RANKS8, "'all_to_all': 'hierarchical'"), want, 0.02, "hierarchical");
}

/* Four machines of four GPUs, a NIC each. By rails a GPU first exchanges g - 1 parts of S / g
 * inside, then sends (N - 1) / N S. At once both overlap. Rounds wait for those that are inside. */
Test(all_to_all, rails)
{
	double inside = 3 * (8e6 / 4 * 8 / 400e9 + 2e-6), out = 3 / 4. * 8e6 * 8 / BOTH;

	near(exchange(RAILS, RANKS16, "'all_to_all': 'hierarchical'"), inside + out, 0.01,
	     "hierarchical");
	near(exchange(RAILS, RANKS16, "'all_to_all': 'at_once'"), out, 0.01, "at once");
	cr_expect_gt(exchange(RAILS, RANKS16, "'all_to_all': 'rounds'"), 1.3 * out);
}

/* Largest share over the mean, of E experts on n ranks, k for a token. */
Test(all_to_all, zipf)
{
	static const struct {
		struct token_experts experts;
		uint32_t ranks;
		double alpha, busiest;
	} known[] = { { { 8, 2 }, 8, 0.5, 1.83 },     { { 8, 2 }, 8, 1.0, 2.94 },
		      { { 256, 8 }, 64, 0.25, 2.50 }, { { 256, 8 }, 64, 0.35, 3.55 },
		      { { 256, 8 }, 64, 0.45, 4.96 }, { { 256, 8 }, 64, 0.5, 5.83 },
		      { { 0, 0 }, 16, 0, 1 } };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct tokens_conf conf = { .form = TOKENS_ZIPF, .zipf = known[i].alpha };
		uint32_t ranks = known[i].ranks;
		double most = 0, sum = 0, *shares;
		char *mistake;

		shares = token_shares(&conf, &known[i].experts, ranks, &mistake);
		cr_assert_not_null(shares);
		for (uint32_t r = 0; r < ranks; r++) {
			most = fmax(most, token_load(shares, ranks, r));
			sum += token_load(shares, ranks, r);
		}
		cr_expect_float_eq(most, known[i].busiest, 0.006, "%.3f", most);
		cr_expect_float_eq(sum, ranks, 1e-9);
		free(shares);
	}
}

/* The rank that gets most needs its time, in each way; with alpha 0 parts are equal, and take what
 * they take without. Odd exchanges send what even ones have got. */
Test(all_to_all, skewed)
{
	struct tokens_conf conf = { .form = TOKENS_ZIPF, .zipf = 0.8 };
	char *mistake;
	double *shares = token_shares(&conf, &(struct token_experts){ 0 }, 8, &mistake);
	double most = token_load(shares, 8, 0) - shares[0];

	near(exchange(FLAT, RANKS8, "'all_to_all': 'at_once', 'tokens': { 'zipf': 0.8 }"),
	     most * 8e6 * 8 / ONE_WAY, 0.02, "Zipf");
	near(exchange(FLAT, RANKS8, "'tokens': { 'zipf': 0 }"),
	     exchange(FLAT, RANKS8,
		      "'overlap': "
		      "'none'"),
	     1e-12, "alpha 0");
	free(shares);
}
