/* ESA on a bench. */
#ifndef TEST_ESA_H
#define TEST_ESA_H

#include "ina/esa/esa.h"
#include "test_pool.h"

static inline void esa_star(struct bench *bench, unsigned n, const char *topology,
			    const char *scheme, const char *job, uint64_t size)
{
	bench_open(bench, SCHEME_esa,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": %u, "
		   "\"link\": {\"rate\": \"100Gbps\"} %s}, \"schemes\": {\"esa\": {%s}}, "
		   "\"jobs\": [{\"workers\": %u, \"all_reduce\": \"esa\" %s, \"model\": "
		   "{\"layers\": [{\"gradient\": \"%" PRIu64 "B\"}]}}]}",
		   n + 1, topology, scheme, n, job, size);
}

/* Runs to the end of the jobs, and on until nothing is under way any more: then no
 * aggregator is held, whatever was lost. */
static inline void esa_finish(struct bench *bench, uint64_t sums)
{
	bench_finish(bench, sums);
	for (uint32_t s = 0; s < bench->net->switches; s++)
		cr_assert_eq(bench->scheme->base.memory[s].used_bytes,
			     bench->scheme->base.memory[s].draining_bytes);
	bench->s->sim.stopped = false;
	cr_assert_not(sim_run(&bench->s->sim, 10000000), "something goes on for ever");
	cr_assert_eq(held_bytes(bench), 0);
	cr_assert_eq(bench->s->checks.exact_violations, 0);
}

static inline struct esa_server *esa_server_of(struct bench *bench, uint32_t job)
{
	return bench_job(bench, job)->servers[0].state;
}

#endif
