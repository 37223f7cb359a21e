/* A bench for NetReduce: a simulation from JSON text, of whose packets a test may lose any at the
 * end of any link, and whose invariants are checked before each arrival:
 *
 *   messages that a worker has posted without a result <= N;
 *   no packet of message m comes to a switch before all workers have the result of m - 2N;
 *   the payload of a result is the sum of all, each time it is sent;
 *   memory of each accelerator of the tree = H 2N MsgLen packets.
 */
#ifndef TEST_NETREDUCE_H
#define TEST_NETREDUCE_H

#include "model_run.h"

#include "ina/netreduce/netreduce.h"
#include "transport/roce_conn.h"

#include <inttypes.h>
#include <stdlib.h>

struct bench {
	struct run run;
	struct netreduce_scheme *scheme;
	struct network *net;
	struct network_faults faults;
	/* Whether this packet is lost at the end of the link to `node`. May be NULL. */
	bool (*lose)(struct bench *bench, uint32_t node, const struct packet *packet);
	void *owner;
	uint64_t up, results; /* data packets at switches from hosts, at hosts */
	uint64_t inner_up, inner_down;
	struct tap tap;
};

static inline struct netreduce *bench_job(const struct bench *bench, uint32_t number)
{
	const struct ina_registry *jobs = &bench->scheme->base.jobs;

	return number < jobs->count ? ina_find(jobs, number) : NULL;
}

static inline uint8_t bench_protocol(const struct bench *bench)
{
	return bench->scheme->base.protocol;
}

static inline void check_windows(const struct netreduce *job)
{
	const struct netreduce_conf *conf = netreduce_conf(job->base.scheme);

	for (int64_t i = 0; i < conf->rings; i++)
		for (uint32_t w = 0; w < job->base.spec.workers; w++) {
			const struct end *end = &job->rings[i].ends[w];

			cr_assert_leq(end->posted, end->results + (uint64_t)conf->window);
		}
}

static inline void check_memory(const struct netreduce *job)
{
	const struct netreduce_conf *conf = netreduce_conf(job->base.scheme);

	for (uint32_t i = 0; i < job->base.tree.tree->node_count; i++) {
		const struct tree_node *node = &job->base.tree.tree->nodes[i];

		cr_assert_geq(job->base.scheme->memory[node->sw].used_bytes,
			      (uint64_t)(node->children * 2 * conf->window * conf->length *
					 conf->rings * conf->roce.mtu));
	}
}

static inline void check_contribution(const struct end *end, const struct packet *packet)
{
	const struct netreduce *job = end->ring->job;
	uint64_t behind = 2 * (uint64_t)netreduce_conf(job->base.scheme)->window;

	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		cr_assert_lt(packet->seq >> ROCE_PSN_BITS, end->ring->ends[w].results + behind);
}

static inline void check_result(const struct end *end, const struct packet *packet)
{
	const struct netreduce_conf *conf = netreduce_conf(end->ring->job->base.scheme);
	const struct exact *exact = &end->ring->job->base.exact;
	uint64_t message = packet->seq >> ROCE_PSN_BITS;
	uint32_t first = roce_psn(end->ring->first + message * (uint64_t)conf->length);
	uint32_t index = (roce_psn_of(packet) - first) & NETREDUCE_PSN_MASK;
	uint64_t chunk = netreduce_chunk(end->ring, message, index);

	cr_assert_lt(index, conf->length);
	cr_assert_eq(packet->value, exact->sum * exact_chunk(exact, chunk));
}

static inline void look(struct bench *bench, uint32_t port, const struct packet *packet)
{
	uint32_t node = bench->net->ports[port].to;
	const struct end *end;
	bool result = packet->flags & PACKET_RESULT;

	if (packet->protocol != bench_protocol(bench))
		return;
	bench->up += port < bench->net->hosts;
	bench->inner_up += port >= bench->net->hosts && !result;
	bench->inner_down += node >= bench->net->hosts && result;
	bench->results += node < bench->net->hosts;
	end = netreduce_end(bench->scheme, packet);
	if (!end)
		return;
	if (result)
		check_result(end, packet);
	else
		check_contribution(end, packet);
	check_windows(end->ring->job);
	check_memory(end->ring->job);
}

static inline bool bench_lose(void *owner, uint32_t port, const struct packet *packet)
{
	struct bench *bench = owner;

	if (bench->lose && bench->lose(bench, bench->net->ports[port].to, packet))
		return true;
	look(bench, port, packet);
	return false;
}

static inline __attribute__((format(printf, 2, 3))) void bench_open(struct bench *bench,
								    const char *fmt, ...)
{
	va_list args;

	*bench = (struct bench){ 0 };
	va_start(args, fmt);
	run_vbuild(&bench->run, NULL, fmt, args);
	va_end(args);
	bench->scheme = bench->run.s->schemes[SCHEME_netreduce];
	bench->net = &bench->run.s->topo.net;
	bench->faults = (struct network_faults){ .lose = bench_lose, .owner = bench };
	network_inject(bench->net, &bench->faults);
}

static inline void bench_close(struct bench *bench)
{
	run_free(&bench->run);
}

#define STAR(hosts) "'kind': 'star', 'hosts': " #hosts
#define SPINE       "'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, 'hosts_per_leaf': 2"
#define SPINE_3     "'kind': 'leaf-spine', 'leaves': 3, 'spines': 2, 'hosts_per_leaf': 2"
#define FAT         "'kind': 'fat-tree', 'k': 4"
#define FAST        "'rto': '100us', 'nack_again': '50us'"

/* A job of `workers` with one tensor of `packets` packets of 1 KB; messages of `length`, N = 2. */
static inline void bench_job_of(struct bench *bench, const char *topology, unsigned seed,
				double loss, unsigned workers, unsigned length, unsigned packets,
				const char *scheme)
{
	bench_open(bench,
		   "{'name': 't', 'seed': %u, 'topology': {%s, 'link': {'rate': '100Gbps', "
		   "'delay': '500ns', 'loss': %.9g}}, 'schemes': {'netreduce': {'message': %u, "
		   "'memory': '1GB', 'roce': {" FAST "} %s}}, 'jobs': [{'workers': %u, "
		   "'all_reduce': 'netreduce', 'model': {'layers': [{'gradient': '%uB'}]}}], "
		   "'stop': {'after': '1s'}}",
		   seed, topology, loss, length, scheme, workers, packets * 1024);
}

/* All switches together. */
static inline struct collective_stats switch_stats(const struct bench *bench)
{
	struct collective_stats sum = { 0 };

	for (uint32_t s = 0; s < bench->net->switches; s++)
		collective_stats_add(&sum, &bench->scheme->base.memory[s].stats);
	return sum;
}

static inline struct collective_stats worker_stats(const struct bench *bench)
{
	struct collective_stats stats = { 0 };

	jobs_stats(bench->run.s->jobs, &stats);
	return stats;
}

/* To the end: every worker has each of `chunks` sums once, and nothing is held. */
static inline void bench_finish(struct bench *bench, uint64_t chunks)
{
	run_to(&bench->run, END_ALL_DONE);
	cr_assert_eq(bench->run.s->checks.exact_checked, chunks);
	cr_assert_eq(roce_open_count(bench->scheme->roce), 0);
	for (uint32_t s = 0; s < bench->net->switches; s++)
		cr_assert_eq(bench->scheme->base.memory[s].used_bytes, 0);
}

#endif
