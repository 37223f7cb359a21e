/* Runs that repeat themselves: what decides the future of a scheme is part of the state that is
 * compared from period to period. One in which it differs is another state. */
#include "model_run.h"

#include "base/mem.h"
#include "ina/common/pool.h"
#include "ina/panama/panama.h"

#include <stdlib.h>

static void build(struct run *run, const char *scheme)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 5, 'link': { 'rate': "
		  "'100Gbps' } }, 'schemes': { 'atp': { 'index': 'position' }, 'panama': { "
		  "'aggregate_above': '0B' } }, 'jobs': [ { 'workers': 4, 'all_reduce': '%s', "
		  "'model': { 'layers': [ { 'gradient': '4MB' } ] } } ] }",
		  scheme);
	run_until(run, 100 * PS_PER_US);
}

static void *job_of(const struct run *run, unsigned scheme)
{
	return ina_find(&((struct ina_scheme *)run->s->schemes[scheme])->jobs, 0);
}

static struct repeat_words read_state(const struct run *run, unsigned scheme)
{
	struct sim *sim = &run->s->sim;
	struct repeat reader = { .sim = sim,
				 .named = xcalloc(sim->queue.node_count, sizeof(*reader.named)) };

	scheme_ops(scheme)->repeat(run->s->schemes[scheme], &reader);
	cr_assert_gt(reader.same.count, 100);
	free(reader.counts.of);
	free(reader.left);
	free(reader.named);
	return reader.same;
}

/* Changes the lowest bit of a member for a while. */
static void expect_decides(const struct run *run, unsigned scheme, void *member, const char *name)
{
	struct repeat_words before = read_state(run, scheme), after;
	uint8_t *byte = member;

	*byte ^= 1;
	after = read_state(run, scheme);
	*byte ^= 1;
	cr_expect(before.count != after.count ||
			  memcmp(before.of, after.of, before.count * sizeof(*before.of)),
		  "%s", name);
	free(before.of);
	free(after.of);
}

#define DECIDES(member) expect_decides(&run, scheme, &(member), #member)

Test(repeat, sums_of_a_server)
{
	const unsigned scheme = SCHEME_atp;
	struct partial_sums *sums;
	struct partial_sum *sum;
	struct run run;

	build(&run, "atp");
	sums = &((struct pool_job *)job_of(&run, scheme))->servers[0].sums;
	sum = &sums->ring[(sums->end - 1) & sums->mask];
	DECIDES(sum->whole);
	DECIDES(sum->begun);
	DECIDES(sum->fresh);
	DECIDES(sum->complete);
	DECIDES(sum->marked);
	DECIDES(sum->collided);
	DECIDES(sum->resent);
	run_free(&run);
}

Test(repeat, rows_of_an_accelerator)
{
	const unsigned scheme = SCHEME_panama;
	struct panama_row *row;
	struct run run;

	build(&run, "panama");
	row = ((struct panama_job *)job_of(&run, scheme))->sequences[0].nodes[0].rows;
	DECIDES(row->past);
	DECIDES(row->packets);
	DECIDES(row->workers);
	DECIDES(row->cap);
	DECIDES(row->flags);
	DECIDES(row->placeless);
	run_free(&run);
}
