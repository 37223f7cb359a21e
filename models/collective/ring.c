/* Ring all-reduce: reduce-scatter, then all-gather, over one connection an edge (Patarasuk and
 * Yuan, JPDC 2009; NCCL, Horovod). What is modelled and simplified: schedule.h.
 *
 *   step s of rank r, reduce-scatter: send piece r-s, receive and add piece r-s-1
 *                     all-gather:     send piece r+1-s, receive and store piece r-s */
#include "collective/ring.h"

#include "base/mem.h"
#include "collective/steps.h"

#include <stdlib.h>

static const struct conf_row ring_rows[] = { SCHEDULE_ROWS, SCHEDULE_CHANNELS, { 0 } };
extern const struct conf_table ring_table; /* named by collective/schemes.c */
const struct conf_table ring_table = { "ring", ring_rows, sizeof(struct schedule_conf),
				       "Ring all-reduce over TCP or RoCE." };

uint32_t ring_edges(const struct schedule *ring)
{
	return ring->count;
}

bool ring_ends(const struct schedule *ring, uint32_t edge, struct schedule_ends *ends)
{
	*ends = (struct schedule_ends){ edge, (edge + 1) % ring->count, 0 };
	return true;
}

uint32_t ring_pieces(const struct schedule *ring, bytes size)
{
	(void)size;
	return ring->count;
}

/* The piece that a rank sends in step s, counted over both halves. */
static uint32_t piece_sent(uint32_t p, uint32_t rank, uint32_t s)
{
	return s < p - 1 ? (rank + p - s) % p : (rank + 1 + p - (s - (p - 1))) % p;
}

/* Calls i = 2 s and 2 s + 1 are step s, counted over both halves. The rank sends, then receives the
 * piece that the rank before it sends in this step. */
bool ring_step(const struct schedule *ring, uint32_t rank, unsigned thread, uint64_t i,
	       uint32_t pieces, struct schedule_step *step)
{
	uint32_t p = ring->count, before = (rank + p - 1) % p, s = (uint32_t)(i / 2), piece;

	(void)thread, (void)pieces;
	if (s == ring_steps(p))
		return false;
	piece = piece_sent(p, i % 2 ? before : rank, s);
	step->first = piece;
	step->end = piece + 1;
	step->edge = i % 2 ? before : rank;
	step->act = SCHEDULE_SEND;
	if (i % 2)
		step->act = s < p - 1 ? SCHEDULE_ADD : SCHEDULE_STORE;
	return true;
}

static const struct schedule_ops ring_ops = {
	.name = "ring",
	.threads = 1,
	.channels = true,
	.edges = ring_edges,
	.ends = ring_ends,
	.pieces = ring_pieces,
	.step = ring_step,
};

static void *ring_start(void *self, const struct collective_job *job, const char **never)
{
	(void)never;
	return schedule_start(self, &ring_ops, job);
}

/* --- as fluid streams --- */

/* A piece makes 2 (p - 1) hops: twice around the ring, less two consecutive edges. For the slowest
 * piece these two edges have the smallest sum of latencies. */
static sim_time latency_of_steps(const struct schedule *ring, const sim_time *edges)
{
	uint32_t p = ring->count;
	sim_time sum = 0, min = SIM_TIME_MAX;

	for (uint32_t r = 0; r < p; r++) {
		sim_time two = edges[r] + edges[(r + 1) % p];

		sum += edges[r];
		min = two < min ? two : min;
	}
	return 2 * sum - min + ring_steps(p) * ring->scheme->conf->step_latency;
}

/* One stream per edge, and so per worker: fluid jobs have no GPUs as ranks.
 *
 * Simplified: no edge waits for another. With packets, a slow edge stalls the next edge about a
 * piece later, and the stall goes on around the ring. */
static void *ring_plan(void *self, const struct collective_job *job, struct stream_plan *plan,
		       const char **never)
{
	const struct model_env *env = &((struct schedule_scheme *)self)->env;
	const struct network *net = &env->topo->net;
	struct schedule *ring = schedule_new(self, &ring_ops, job);
	uint32_t ack_every = (uint32_t)ring->scheme->conf->ack_every;
	sim_time *edges = xcalloc(ring->count, sizeof(*edges));
	struct plan_growth growth = plan_tcp_growth(env->tcp);
	struct plan_packets packets = plan_tcp_packets(env->tcp, net, ack_every);
	struct plan_path longest = { 0 };

	(void)never;
	packets.messages = ring_steps(ring->count);
	packets.fraction = 1.0 / ring->count;
	plan_init(plan, ring->count);
	plan->bound = schedule_bound(ring); /* the last piece of a rank has made all hops */
	plan_add_leg(&plan->bound, ring_steps(ring->count), 1, ring->count, false);
	for (uint32_t r = 0; r < ring->count; r++) {
		struct plan_path edge = { 0 };

		plan->streams[r].packets = packets;
		plan_fill_queues(&plan->streams[r], net);
		schedule_plan_edge(ring, r, &plan->streams[r], 1, &edge, &longest);
		edges[r] = plan_path_latency(&edge);
	}
	for (uint32_t r = 0; r < ring->count; r++)
		plan->streams[r].cap = plan_tcp_cap(env->tcp, &packets, &longest, ack_every);
	plan->latency = latency_of_steps(ring, edges);
	plan->in_turn = true;
	plan_close(plan);
	plan->ramp = plan_ramp(&packets, &growth, plan_slowest(plan, net), longest.sum);
	free(edges);
	return ring;
}

/* All schemes send n - 1 values to add up an element, and n - 1 to distribute the sum. One edge of
 * each machine leads to another. */
static double injected(uint32_t workers, uint32_t gpus, bool beside)
{
	(void)beside;
	return 2 * ((double)workers * gpus - 1) / gpus;
}

const struct collective_ops ring_collective = {
	SCHEDULE_OPS,
	.injected = injected,
	.name = "ring",
	.traits.ranks_max = SCHEDULE_EDGES_END,
	.help = "ring all-reduce between hosts over TCP or RoCE",
	.table = &ring_table,
	.start = ring_start,
	.plan = ring_plan,
	.reduce_scatter = &reduce_scatter_collective,
	.all_gather = &all_gather_collective,
	.traits.tolerance = { .one_switch = 0.02 },
};
