/* A bench for ATP and ESA: a simulation from JSON text with a tap between the
 * network and the protocol. The tap counts packets by kind and place and checks at
 * every packet (`watch`):
 *
 *   the contributors that an aggregator holds are inputs of its level, never more;
 *   an aggregator has one owner; a job owns as many as it counts;
 *   used memory = aggregators held * bytes of one.
 *
 * Packets are lost or delayed by name on links (network_inject()). */
#ifndef TEST_POOL_H
#define TEST_POOL_H

#include "ina/common/pool.h"
#include "run/simulation_state.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct bench {
	struct conf_doc *doc;
	struct scenario scenario;
	struct simulation *s;
	struct pool_scheme *scheme;
	struct network *net;
	const struct protocol_ops *real;
	struct protocol_ops tap;
	void *real_self;
	struct network_faults faults;
	/* After a switch or host has processed it. May be NULL. */
	void (*after)(struct bench *bench, uint32_t node, const struct packet *packet);
	void *owner;
	bool watch;

	uint64_t up, resends;    /* gradient packets from hosts at their first switch */
	uint64_t inner_up;       /* packets on their way up at further switches */
	uint64_t down;           /* results at workers' hosts */
	uint64_t server;         /* packets at servers */
	uint64_t server_bypass;  /* of these, with the collision bit */
	uint64_t server_results; /* results that servers sent: at their first switch */
	uint64_t reminders;      /* of servers, at switches */
	uint64_t orphans;        /* packets of jobs that are over */
};

static inline struct pool_job *bench_job(struct bench *bench, uint32_t number)
{
	return number < bench->scheme->base.jobs.count ? ina_find(&bench->scheme->base.jobs, number)
						       : NULL;
}

static inline void check_pools(struct bench *bench)
{
	uint64_t held[256] = { 0 };

	for (uint32_t s = 0; s < bench->net->switches; s++) {
		const struct aggregators *pool = &bench->scheme->pools[s];
		uint64_t used = 0;

		for (uint32_t i = 0; pool->slots && i < pool->count; i++) {
			const struct aggregator *a = &pool->slots[i];
			struct pool_job *job;
			const struct racks *racks;

			if (!a->owner)
				continue;
			used++;
			held[a->owner - 1]++;
			job = bench_job(bench, a->owner - 1);
			cr_assert(job);
			racks = &pool_server_of_chunk(job, a->chunk)->racks;
			cr_assert_neq(a->bits, 0);
			cr_assert_eq(a->bits & ~racks_all(racks, a->rack), 0);
			cr_assert_eq(a->rack == RACK_NONE ? racks->sw : racks->racks[a->rack].sw,
				     s);
			cr_assert(a->complete == (a->bits == racks_all(racks, a->rack)));
		}
		cr_assert_eq(bench->scheme->base.memory[s].used_bytes, used * pool->value_bytes);
	}
	for (uint32_t j = 0; j < bench->scheme->base.jobs.count && j < 256; j++)
		if (bench_job(bench, j))
			cr_assert_eq(held[j], bench_job(bench, j)->held);
}

static inline void tap_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			      struct switch_actions *actions)
{
	struct bench *bench = self;
	bool host = bench->net->ports[back].to_host, result = packet->flags & PACKET_RESULT;
	bool reminder = !result && !pool_bitmap(packet).bits;
	struct packet before = *packet;

	if (reminder) {
		bench->reminders++;
	} else {
		bench->up += host && !result;
		bench->resends += host && !result && packet->flags & PACKET_RETRANSMIT;
		bench->inner_up += !host && !result;
	}
	bench->server_results += host && result;
	bench->orphans += !bench_job(bench, packet->flow);
	bench->real->at_switch(bench->real_self, sw, back, packet, actions);
	if (bench->watch)
		check_pools(bench);
	if (bench->after)
		bench->after(bench, bench->net->hosts + sw, &before);
}

static inline void tap_host(void *self, uint32_t host, const struct packet *packet)
{
	struct bench *bench = self;

	if (packet->flags & PACKET_RESULT) {
		bench->down++;
	} else {
		bench->server++;
		bench->server_bypass += (packet->flags & POOL_BYPASS) != 0;
	}
	bench->orphans += !bench_job(bench, packet->flow);
	bench->real->deliver(bench->real_self, host, packet);
	if (bench->after)
		bench->after(bench, host, packet);
}

static inline void tap_reroute(void *self)
{
	struct bench *bench = self;

	bench->real->reroute(bench->real_self);
}

/* Builds what the text says, with the tap in place; `scheme` is enum scheme_index. */
static inline void bench_open(struct bench *bench, unsigned scheme, const char *fmt, ...)
{
	char text[8192], *error = NULL;
	va_list args;

	va_start(args, fmt);
	cr_assert_lt(vsnprintf(text, sizeof(text), fmt, args), (int)sizeof(text));
	va_end(args);
	*bench = (struct bench){ 0 };
	bench->doc = scenario_parse("test", text, strlen(text), &bench->scenario);
	bench->scenario.topology.host.nic_jitter_given = true; /* closed forms: 0 unless given */
	if (conf_errors(bench->doc))
		conf_print_errors(bench->doc, stderr, false);
	cr_assert_eq(conf_errors(bench->doc), 0, "%s", text);
	if (bench->scenario.stop.after > 20 * PS_PER_S)
		bench->scenario.stop.after = 20 * PS_PER_S; /* what does not end fails soon */
	bench->s = simulation_build(&bench->scenario, NULL, &error);
	cr_assert(bench->s, "%s", error);
	bench->scheme = bench->s->schemes[scheme];
	bench->net = &bench->s->topo.net;
	bench->real = bench->net->protocols[bench->scheme->base.protocol].ops;
	bench->real_self = bench->net->protocols[bench->scheme->base.protocol].self;
	bench->tap = (struct protocol_ops){
		.name = "tap", .deliver = tap_host, .at_switch = tap_switch, .reroute = tap_reroute
	};
	bench->net->protocols[bench->scheme->base.protocol].ops = &bench->tap;
	bench->net->protocols[bench->scheme->base.protocol].self = bench;
}

static inline void bench_lose(struct bench *bench,
			      bool (*lose)(void *, uint32_t, const struct packet *), void *owner)
{
	bench->faults.lose = lose;
	bench->faults.owner = owner;
	network_inject(bench->net, &bench->faults);
}

static inline void bench_run(struct bench *bench)
{
	simulation_go(bench->s, &(struct simulation_options){ 0 });
}

static inline void bench_close(struct bench *bench)
{
	simulation_free(bench->s);
	conf_doc_free(bench->doc);
}

static inline struct collective_stats job_stats(const struct bench *bench)
{
	struct collective_stats stats = { 0 };

	jobs_stats(bench->s->jobs, &stats);
	return stats;
}

/* Sums over all switches. */
static inline struct collective_stats switch_stats(const struct bench *bench)
{
	struct collective_stats sum = { 0 };

	for (uint32_t s = 0; s < bench->net->switches; s++)
		collective_stats_add(&sum, &bench->scheme->base.memory[s].stats);
	return sum;
}

static inline uint64_t held_bytes(const struct bench *bench)
{
	uint64_t sum = 0;

	for (uint32_t s = 0; s < bench->net->switches; s++)
		sum += bench->scheme->base.memory[s].used_bytes;
	return sum;
}

/* What must hold after every run: all jobs are done, `sums` results were accepted by
 * workers (each once), no check was violated, no aggregator is held. */
static inline void bench_finish(struct bench *bench, uint64_t sums)
{
	bench_run(bench);
	if (bench->s->end != END_ALL_DONE)
		simulation_report(bench->s, stderr);
	cr_assert_eq(bench->s->end, END_ALL_DONE, "%s: %s", end_reason_names[bench->s->end],
		     bench->s->checks.first);
	cr_assert_eq(bench->s->checks.exact_checked, sums);
	cr_assert_eq(bench->s->checks.exact_violations + bench->s->checks.conservation_violations,
		     0);
	for (uint32_t s = 0; s < bench->net->switches; s++)
		cr_assert_leq(bench->scheme->base.memory[s].used_max_bytes,
			      bench->scheme->base.memory[s].memory_bytes);
}

/* Duration of iteration i over all jobs, in the order in which they ended. */
static inline double tat(const struct bench *bench, size_t i)
{
	size_t count;
	const double *durations = jobs_report(bench->s->jobs)->durations;
	count = jobs_report(bench->s->jobs)->duration_count;

	cr_assert_lt(i, count);
	return durations[i];
}

static inline void expect_near(double value, double wanted, double tolerance, const char *what,
			       double at)
{
	cr_expect(fabs(value - wanted) <= tolerance * wanted, "%s at %g: %.9g instead of %.9g",
		  what, at, value, wanted);
}

#endif
