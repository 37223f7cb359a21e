/* A bench for PANAMA: a simulation from JSON text, with a tap between the network and
 * the protocol, and between NICs and workers, that checks at every packet:
 *
 *   at every send: outstanding <= floor(cwnd) <= the newest wnd_cap of that tree;
 *   every FIFO of an accelerator <= wnd_cap there, its memory never above its size; with recovery:
 *   FIFOs of second sequences <= wnd_cap and a packet per timeout, first sequences <= half of the
 * memory; results of a tree reach every worker in the order of VIDs (without recovery: each once);
 *   all workers get the same value for a VID;
 *   chunk c travels on tree c mod N;
 *   a contribution of a VID passes every edge of a tree once, a result too.
 */
#ifndef TEST_PANAMA_H
#define TEST_PANAMA_H

#include "ina/panama/panama.h"
#include "model_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define BENCH_SEQUENCES 64
#define BENCH_WORKERS   64

struct bench {
	struct run run;
	struct panama_scheme *scheme;
	struct network *net;
	const struct protocol_ops *real;
	void *real_self;
	struct protocol_ops tap;
	nic_source_pull *real_pull;

	/* May be NULL. */
	void (*at_switch)(struct bench *bench, uint32_t sw, const struct packet *packet);
	void (*at_host)(struct bench *bench, struct panama_worker *worker,
			struct panama_sequence *sequence, const struct packet *packet);
	void *owner;

	uint64_t up, down;   /* contributions at switches, results at hosts */
	uint64_t from_hosts; /* contributions from hosts */
	uint64_t marked;     /* results with CE */
	uint64_t behind[BENCH_SEQUENCES][BENCH_WORKERS]; /* VID behind a worker's newest result */
	uint32_t cap[BENCH_SEQUENCES][BENCH_WORKERS];    /* of it; 0 = none yet */
	uint64_t value[BENCH_SEQUENCES]; /* of the newest result of a sequence at anybody ... */
	uint64_t vid[BENCH_SEQUENCES];   /* ... which was for this VID */
	uint64_t next[BENCH_SEQUENCES]
		     [BENCH_WORKERS]; /* with one job: behind a worker's newest chunk */
	uint64_t deepest;             /* packets in a FIFO */
	bool changing;                /* the number of jobs changes: caps, too */
};

static struct bench *the_bench; /* tests have processes of their own */

static inline struct panama_sequence *bench_sequence(const struct bench *bench, uint32_t number)
{
	return number < bench->scheme->sequences.count ? ina_find(&bench->scheme->sequences, number)
						       : NULL;
}

/* In strict order the chunks of a job's main sequences leave a worker in their order. */
static inline void bench_check_order(struct bench *bench, const struct panama_worker *worker,
				     uint64_t chunk)
{
	const struct panama_job *job = panama_job(worker);
	uint64_t *next = &bench->next[job->sequences[0].number][worker->base.number];

	if (panama_conf(job)->order != PANAMA_STRICT)
		return;
	cr_assert_geq(chunk, *next, "worker %u sends chunk %" PRIu64, worker->base.number, chunk);
	*next = chunk + 1;
}

static inline enum nic_pull bench_pull(void *owner, struct packet *packet)
{
	struct panama_worker *worker = owner;
	struct bench *bench = the_bench;
	enum nic_pull pulled = bench->real_pull(owner, packet);
	const struct panama_sequence *sequence;
	const struct panama_flow *flow;
	uint64_t chunk;
	uint32_t cap;

	if (pulled == NIC_NOTHING)
		return pulled;
	sequence = bench_sequence(bench, packet->flow);
	flow = &worker->flows[sequence->tree];
	cap = bench->cap[packet->flow][worker->base.number];
	if (!sequence->repair) {
		cr_assert_leq(flow->next - flow->una - flow->done,
			      panama_window_packets(&flow->window));
		cr_assert(!cap || flow->window.cwnd <= cap);
		chunk = packet->seq * panama_job(worker)->tree_count + sequence->tree;
		cr_assert_eq(packet->value, exact_contribution(&worker->base.job->exact,
							       worker->base.number, chunk));
		bench_check_order(bench, worker, chunk);
	}
	return pulled;
}

/* Puts the tap between a job's workers and their NICs, once it has started. */
static inline void bench_watch_workers(struct bench *bench, struct panama_job *job)
{
	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		if (panama_worker(job, w)->base.source.pull == bench_pull)
			continue;
		bench->real_pull = panama_worker(job, w)->base.source.pull;
		panama_worker(job, w)->base.source.pull = bench_pull;
	}
}

static inline void bench_check_node(struct bench *bench, struct panama_sequence *sequence,
				    struct panama_node *node)
{
	const struct collective_memory *memory = node->accelerator->memory;

	cr_assert_leq(memory->used_bytes, memory->memory_bytes);
	cr_assert_leq(node->accelerator->first_sent * bench->scheme->base.frame,
		      memory->memory_bytes / 2);
	if (node->fin)
		return;
	for (uint32_t c = 0; c < node->children; c++) {
		uint64_t fifo = node->next[c] > node->expected ? node->next[c] - node->expected : 0;

		if (!sequence->job->orders && !sequence->partial && !bench->changing)
			cr_assert_leq(fifo, panama_cap(sequence, node));
		if (sequence->repair && !bench->changing)
			cr_assert_leq(fifo, panama_cap(sequence, node) +
						    sequence->job->base.stats.timeouts);
		bench->deepest = fifo > bench->deepest ? fifo : bench->deepest;
	}
}

/* What event logs call the chunk of a worker's packet is the chunk of its value. */
static inline void bench_check_about(const struct bench *bench,
				     const struct panama_sequence *sequence, uint32_t host,
				     const struct packet *packet)
{
	const struct panama_worker *worker = ina_worker_on(&sequence->job->base, host);
	struct packet_about told;

	cr_assert(bench->real->about(bench->real_self, packet, &told));
	cr_assert_eq(packet->value, exact_contribution(&sequence->job->base.exact,
						       worker->base.number, told.chunk));
}

static inline void bench_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
				   struct switch_actions *actions)
{
	struct bench *bench = self;
	struct panama_sequence *sequence = bench_sequence(bench, packet->flow);
	bool result = packet->flags & PACKET_RESULT;

	bench->up += !result;
	bench->from_hosts += !result && bench->net->ports[back].to_host;
	if (sequence)
		bench_watch_workers(bench, sequence->job);
	if (sequence && !result && bench->net->ports[back].to_host)
		bench_check_about(bench, sequence, bench->net->ports[back].to, packet);
	bench->real->at_switch(bench->real_self, sw, back, packet, actions);
	if (sequence)
		bench_check_node(bench, sequence, &sequence->nodes[sequence->node_of_switch[sw]]);
	if (bench->at_switch)
		bench->at_switch(bench, sw, packet);
}

static inline void bench_deliver(void *self, uint32_t host, const struct packet *packet)
{
	struct bench *bench = self;
	struct panama_sequence *sequence = bench_sequence(bench, packet->flow);
	struct panama_worker *worker = sequence ? ina_worker_on(&sequence->job->base, host) : NULL;
	uint64_t *behind;

	bench->down++;
	bench->marked += !!(packet->flags & PACKET_CE);
	bench->real->deliver(bench->real_self, host, packet);
	if (!worker)
		return;
	behind = &bench->behind[packet->flow][worker->base.number];
	cr_assert_geq(packet->seq, *behind);
	if (!sequence->job->orders)
		cr_assert_eq(packet->seq, *behind);
	*behind = packet->seq + 1;
	bench->cap[packet->flow][worker->base.number] = packet->own[PANAMA_CAP];
	if (packet->seq == bench->vid[packet->flow] && bench->value[packet->flow])
		cr_assert_eq(packet->value, bench->value[packet->flow]);
	bench->vid[packet->flow] = packet->seq;
	bench->value[packet->flow] = packet->value;
	if (bench->at_host)
		bench->at_host(bench, worker, sequence, packet);
}

/* Builds what the text says (' stands for "), with the tap in place. `star`: SwitchML*. */
static inline __attribute__((format(printf, 3, 4))) void bench_open(struct bench *bench, bool star,
								    const char *fmt, ...)
{
	char *error = NULL;
	va_list args;

	*bench = (struct bench){ 0 };
	the_bench = bench;
	va_start(args, fmt);
	run_vparse(&bench->run, fmt, args);
	va_end(args);
	conf_print_errors(bench->run.doc, stderr, false);
	cr_assert_eq(conf_errors(bench->run.doc), 0);
	bench->run.s = simulation_build(&bench->run.scenario, NULL, &error);
	cr_assert(bench->run.s, "%s", error);
	bench->scheme = bench->run.s->schemes[star ? SCHEME_switchml_star : SCHEME_panama];
	bench->net = &bench->run.s->topo.net;
	bench->real = bench->net->protocols[bench->scheme->base.protocol].ops;
	bench->real_self = bench->net->protocols[bench->scheme->base.protocol].self;
	bench->tap = (struct protocol_ops){ .name = "tap",
					    .deliver = bench_deliver,
					    .at_switch = bench_at_switch };
	bench->net->protocols[bench->scheme->base.protocol].ops = &bench->tap;
	bench->net->protocols[bench->scheme->base.protocol].self = bench;
}

/* Leaves of `per_leaf` hosts and one job on `workers` hosts (a list or a number), 10 Gbps, 1 us,
 * queues with room. `topology`, `scheme`, `job` add members. */
static inline void leaf_spine(struct bench *bench, unsigned leaves, unsigned spines,
			      unsigned per_leaf, const char *topology, const char *scheme,
			      const char *workers, uint64_t size, const char *job)
{
	bench_open(
		bench, false,
		"{'name': 't', 'stop': {'after': '10s'}, 'topology': {'kind': 'leaf-spine', "
		"'leaves': %u, 'spines': %u, 'hosts_per_leaf': %u, 'link': {'rate': '10Gbps', "
		"'delay': '1us'}, 'switch': {'buffer': '100MB'} %s}, 'schemes': {'panama': "
		"{'aggregate_above': '0B' %s}}, 'jobs': [{'all_reduce': 'panama', 'workers': %s, "
		"'model': {'layers': [{'gradient': '%" PRIu64 "B'}]} %s}]}",
		leaves, spines, per_leaf, topology, scheme, workers, size, job);
}

static inline struct collective_stats switch_stats(const struct bench *bench)
{
	struct collective_stats sum = { 0 };

	for (uint32_t s = 0; s < bench->net->switches; s++)
		collective_stats_add(&sum, &bench->scheme->base.memory[s].stats);
	return sum;
}

/* To the end, at which all jobs are done, nothing is held and no job is counted. */
static inline void bench_finish_as(struct bench *bench, enum end_reason end)
{
	run_to(&bench->run, end);
	for (uint32_t s = 0; s < bench->net->switches; s++) {
		const struct panama_accelerator *accelerator = &bench->scheme->accelerators[s];

		cr_assert_eq(accelerator->memory->used_bytes, 0);
		cr_assert_eq(accelerator->jobs, 0);
		/* a repair may still be under way that nobody needs any more */
		cr_assert(accelerator->held_end == accelerator->held_head ||
			  ((const struct panama_conf *)bench->scheme->base.conf)->recovery);
	}
}

static inline void bench_finish(struct bench *bench)
{
	bench_finish_as(bench, END_ALL_DONE);
}

static inline void bench_close(struct bench *bench)
{
	run_free(&bench->run);
}

/* Duration of iteration i of all jobs, in the order in which they ended. */
static inline double duration(const struct bench *bench, size_t i)
{
	size_t count;
	const double *durations = jobs_report(bench->run.s->jobs)->durations;
	count = jobs_report(bench->run.s->jobs)->duration_count;

	cr_assert_lt(i, count);
	return durations[i];
}

static inline void expect_near(double value, double wanted, double tolerance, const char *what)
{
	cr_expect(fabs(value - wanted) <= tolerance * fabs(wanted), "%s: %.9g instead of %.9g",
		  what, value, wanted);
}

#endif
