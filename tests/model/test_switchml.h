/* A bench for SwitchML: a simulation from JSON text, with a tap between the
 * network and the protocol. The tap counts what switches and hosts receive, lets
 * a test lose packets (a packet that is not handed on is lost just before it is
 * processed), and checks invariants at every packet:
 *
 *   in flight per worker <= s, one packet per slot;
 *   |phase_w(i) - phase_w'(i)| <= 1 for all workers w, w' of a job and slots i;
 *   a version is overwritten only when all workers hold its result;
 *   memory of every switch of the tree = 2 s k 4 bytes.
 */
#ifndef TEST_SWITCHML_H
#define TEST_SWITCHML_H

#include "ina/switchml/switchml.h"
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
	struct ina_scheme *scheme;
	struct network *net;
	const struct protocol_ops *real;
	struct protocol_ops tap;
	void *real_self;

	/* Tells whether this packet is lost; `node` as the network numbers nodes.
	 * Called before it is counted. May be NULL. */
	bool (*lose)(struct bench *bench, uint32_t node, const struct packet *packet);
	/* After a switch or host has processed it. May be NULL. */
	void (*after)(struct bench *bench, uint32_t node, const struct packet *packet);
	void *owner;
	bool watch; /* check invariants at every packet (slow) */

	uint64_t up, down; /* contributions from hosts, results at hosts */
	uint64_t inner_up,
		inner_down; /* at switches that are not next to the sender/receiver host */
	uint64_t multicasts, unicasts; /* of results by switches that complete or repair them */
	uint64_t resends;              /* contributions from hosts that are marked as sent before */
	uint64_t overtaken;            /* see struct worker */
	uint64_t orphans;              /* packets of jobs that are over */
	double rtt_sum;                /* from sending to result, at workers */
	uint64_t rtt_count;
};

static inline struct switchml *bench_job(struct bench *bench, uint32_t number)
{
	return number < bench->scheme->jobs.count ? ina_find(&bench->scheme->jobs, number) : NULL;
}

static inline uint64_t list_length(const struct worker *worker, const struct worker_list *list)
{
	uint64_t length = 0;

	for (uint32_t i = list->first; i != SWITCHML_NONE; i = worker->slots[i].following)
		length++;
	return length;
}

/* The chunk of the worker's slot that has no result yet, as a phase number. */
static inline uint64_t phase(const struct switchml *job, uint32_t w, uint32_t slot)
{
	return switchml_worker(job, w)->slots[slot].chunk / job->slots;
}

static inline void check_invariants(struct bench *bench, const struct switchml *job)
{
	uint64_t values = 2 * (uint64_t)job->slots * (uint64_t)bench->scheme->elements * 4;

	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		const struct worker *worker = switchml_worker(job, w);
		uint64_t waiting =
			list_length(worker, &worker->sent) + list_length(worker, &worker->ready);
		uint64_t busy = 0;

		for (uint32_t i = 0; i < job->slots; i++) {
			uint64_t a = phase(job, w, i), b = phase(job, 0, i);

			busy += worker->slots[i].state != WORKER_SLOT_IDLE;
			cr_assert(a <= b + 1 && b <= a + 1,
				  "slot %u: phases %" PRIu64 " and %" PRIu64, i, a, b);
			cr_assert_eq(worker->slots[i].chunk % job->slots, i);
			cr_assert_eq(worker->slots[i].version, a % 2);
		}
		cr_assert_eq(waiting, busy);
		cr_assert_leq(waiting, job->slots);
	}
	for (uint32_t i = 0; i < job->base.tree.tree->node_count; i++)
		cr_assert_geq(((struct ina_node *)ina_node(&job->base, i))->memory->used_bytes,
			      values);
}

/* Before a contribution that starts a new phase of a version: all hold the old result. */
static inline void check_overwrite(const struct switchml *job, const struct node *node,
				   const struct packet *packet)
{
	uint32_t index = 2u * packet->slot + (packet->flags & SWITCHML_VERSION ? 1 : 0);
	const struct slot *slot = &node->slots[index];
	bool seen = node->seen[(size_t)index * node->words + packet->source / 64] >>
			    packet->source % 64 &
		    1;

	if (seen || slot->count != node->base.place->children)
		return;
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		cr_assert_gt(switchml_worker(job, w)->slots[packet->slot].chunk, slot->chunk,
			     "chunk %" PRIu64 " is overwritten before worker %u holds it",
			     slot->chunk, w);
}

static inline void tap_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			      struct switch_actions *actions)
{
	struct bench *bench = self;
	uint32_t node = bench->net->hosts + sw;
	bool host_port = bench->net->ports[back].to_host, result = packet->flags & PACKET_RESULT;
	struct switchml *job = bench_job(bench, packet->flow);

	if (bench->lose && bench->lose(bench, node, packet))
		return;
	bench->up += host_port;
	bench->resends += host_port && packet->flags & PACKET_RETRANSMIT;
	bench->inner_up += !host_port && !result;
	bench->inner_down += result;
	bench->orphans += !job;
	if (job && bench->watch && !result)
		check_overwrite(job, ina_node_at(&job->base, sw), packet);
	bench->real->at_switch(bench->real_self, sw, back, packet, actions);
	for (unsigned i = 0; i < actions->count && !result; i++) {
		if (!(actions->send[i].packet.flags & PACKET_RESULT))
			continue;
		if (actions->send[i].packet.flags & PACKET_RETRANSMIT)
			bench->unicasts++;
		else
			bench->multicasts++;
	}
	if (bench->after)
		bench->after(bench, node, packet);
	if (job && bench->watch)
		check_invariants(bench, job);
}

static inline void tap_host(void *self, uint32_t host, const struct packet *packet)
{
	struct bench *bench = self;
	struct switchml *job = bench_job(bench, packet->flow);
	struct worker *worker = job ? ina_worker_on(&job->base, host) : NULL;
	uint64_t before = worker ? worker->overtaken : 0;

	if (bench->lose && bench->lose(bench, host, packet))
		return;
	bench->down++;
	bench->orphans += !job;
	if (worker && worker->slots[packet->slot].chunk == packet->seq) {
		bench->rtt_sum += seconds_of(bench->s->sim.now - worker->slots[packet->slot].sent);
		bench->rtt_count++;
	}
	bench->real->deliver(bench->real_self, host, packet);
	if (worker)
		bench->overtaken += worker->overtaken - before;
	if (bench->after)
		bench->after(bench, host, packet);
	if (job && bench->watch)
		check_invariants(bench, job);
}

static inline struct conf_doc *parse(struct scenario *scenario, const char *text)
{
	struct conf_doc *doc = scenario_parse("test", text, strlen(text), scenario);

	scenario->topology.host.nic_jitter_given = true; /* closed forms: 0 unless given */
	return doc;
}

/* Builds what the text says, with the tap in place. */
static inline void bench_open(struct bench *bench, const char *fmt, ...)
{
	char text[4096], *error = NULL;
	va_list args;

	va_start(args, fmt);
	cr_assert_lt(vsnprintf(text, sizeof(text), fmt, args), (int)sizeof(text));
	va_end(args);
	*bench = (struct bench){ 0 };
	bench->doc = parse(&bench->scenario, text);
	if (conf_errors(bench->doc))
		conf_print_errors(bench->doc, stderr, false);
	cr_assert_eq(conf_errors(bench->doc), 0, "%s", text);
	if (bench->scenario.stop.after > PS_PER_S)
		bench->scenario.stop.after = PS_PER_S; /* a run that does not end fails soon */
	bench->s = simulation_build(&bench->scenario, NULL, &error);
	cr_assert(bench->s, "%s", error);
	bench->scheme = bench->s->schemes[SCHEME_switchml];
	bench->net = &bench->s->topo.net;
	bench->real = bench->net->protocols[bench->scheme->protocol].ops;
	bench->real_self = bench->net->protocols[bench->scheme->protocol].self;
	bench->tap = (struct protocol_ops){ .name = "tap",
					    .deliver = tap_host,
					    .at_switch = tap_switch };
	bench->net->protocols[bench->scheme->protocol].ops = &bench->tap;
	bench->net->protocols[bench->scheme->protocol].self = bench;
}

/* One layer of `bytes`, `n` workers, one switch, links of `gbps` with 1 us of
 * delay, 500 ns of pipeline. `topology` and `scheme` add members. */
static inline void star(struct bench *bench, unsigned n, unsigned gbps, const char *topology,
			const char *scheme, uint64_t size)
{
	bench_open(
		bench,
		"{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": %u, \"link\": "
		"{\"rate\": "
		"\"%uGbps\"} %s}, \"schemes\": {\"switchml\": {%s}}, \"jobs\": [{\"workers\": %u, "
		"\"all_reduce\": \"switchml\", \"model\": {\"layers\": [{\"gradient\": \"%" PRIu64
		"B\"}]}}]}",
		n < 2 ? 2 : n, gbps, topology, scheme, n, size);
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

static inline struct collective_stats worker_stats(const struct bench *bench)
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
		collective_stats_add(&sum, &bench->scheme->memory[s].stats);
	return sum;
}

/* Runs to `end` and checks what must hold after every run: no job is under way,
 * no check was violated, `sums` results were accepted by workers (n G, each
 * once), no memory is held, and contributions sent - n G = timers that expired
 * less those whose packet had not left when its result came. */
static inline void bench_finish_as(struct bench *bench, uint64_t sums, enum end_reason end)
{
	struct collective_stats workers;

	bench_run(bench);
	if (bench->s->end != end)
		simulation_report(bench->s, stderr);
	cr_assert_eq(bench->s->end, end, "%s: %s", end_reason_names[bench->s->end],
		     bench->s->checks.first);
	cr_assert_eq(bench->s->checks.exact_checked, sums);
	cr_assert_eq(bench->s->checks.exact_violations + bench->s->checks.conservation_violations,
		     0);
	for (uint32_t s = 0; s < bench->net->switches; s++) {
		cr_assert_eq(bench->scheme->memory[s].used_bytes, 0);
		cr_assert_leq(bench->scheme->memory[s].used_max_bytes,
			      bench->scheme->memory[s].memory_bytes);
	}
	workers = worker_stats(bench);
	cr_assert_eq(workers.retransmissions, workers.timeouts - bench->overtaken);
}

static inline void bench_finish(struct bench *bench, uint64_t sums)
{
	bench_finish_as(bench, sums, END_ALL_DONE);
}

/* Duration of iteration i of the only job. */
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
