/* ATP on a bench. */
#ifndef TEST_ATP_H
#define TEST_ATP_H

#include "ina/atp/atp.h"
#include "test_pool.h"

/* The server's host comes behind the workers' (placement compact). `jobs` = members of
 * the job besides workers and model. */
static inline void atp_star(struct bench *bench, unsigned n, const char *topology,
			    const char *scheme, const char *job, uint64_t size)
{
	bench_open(bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": %u, "
		   "\"link\": {\"rate\": \"100Gbps\"} %s}, \"schemes\": {\"atp\": {%s}}, "
		   "\"jobs\": [{\"workers\": %u, \"all_reduce\": \"atp\" %s, \"model\": "
		   "{\"layers\": [{\"gradient\": \"%" PRIu64 "B\"}]}}]}",
		   n + 1, topology, scheme, n, job, size);
}

static inline void atp_finish(struct bench *bench, uint64_t sums)
{
	bench_finish(bench, sums);
	cr_assert_eq(held_bytes(bench), 0);
}

#endif
