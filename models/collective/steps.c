#include "collective/steps.h"

#include "collective/ring.h"

#include <stdlib.h>

static uint64_t weight_of(const struct schedule *schedule, uint32_t rank)
{
	return schedule->exact.weights[schedule->ranks[rank].gpu];
}

/* --- halves of a ring --- */

/* Each half is ring_steps() / 2 steps of the ring. A step is two calls of ring_step(), so the
 * second half begins at i == ring_steps(). */

static bool scatter_step(const struct schedule *ring, uint32_t rank, unsigned thread, uint64_t i,
			 uint32_t pieces, struct schedule_step *step)
{
	return i < ring_steps(ring->count) && ring_step(ring, rank, thread, i, pieces, step);
}

static bool gather_step(const struct schedule *ring, uint32_t rank, unsigned thread, uint64_t i,
			uint32_t pieces, struct schedule_step *step)
{
	return ring_step(ring, rank, thread, i + ring_steps(ring->count), pieces, step);
}

/* After the first half rank r has the sum of piece r + 1 only. */
static uint64_t scattered(const struct schedule *ring, uint32_t rank, uint32_t piece)
{
	return piece == (rank + 1) % ring->count ? ring->exact.sum : 0;
}

/* Piece k comes from rank k - 1. */
static uint64_t gathered(const struct schedule *ring, uint32_t rank, uint32_t piece)
{
	(void)rank;
	return weight_of(ring, (piece + ring->count - 1) % ring->count);
}

/* --- point to point: from worker 0 to worker 1, of one GPU each --- */

static uint32_t one_edge(const struct schedule *pair)
{
	(void)pair;
	return 1;
}

static bool pair_ends(const struct schedule *pair, uint32_t edge, struct schedule_ends *ends)
{
	(void)edge;
	*ends = (struct schedule_ends){ pair->rank_of_gpu[0], pair->rank_of_gpu[1], 0 };
	return true;
}

static uint32_t one_piece(const struct schedule *pair, bytes size)
{
	(void)pair, (void)size;
	return 1;
}

static bool pair_step(const struct schedule *pair, uint32_t rank, unsigned thread, uint64_t i,
		      uint32_t pieces, struct schedule_step *step)
{
	(void)thread, (void)pieces;
	*step = (struct schedule_step){ .act = rank == pair->rank_of_gpu[0] ? SCHEDULE_SEND
									    : SCHEDULE_STORE,
					.end = 1 };
	return i == 0;
}

static uint64_t sent(const struct schedule *pair, uint32_t rank, uint32_t piece)
{
	(void)rank, (void)piece;
	return weight_of(pair, pair->rank_of_gpu[0]);
}

/* --- to and from a root, which is worker 0 (of one GPU each) --- */

static uint32_t root_of(const struct schedule *schedule)
{
	return schedule->rank_of_gpu[0];
}

/* A chain is the ring without the edge that leads to its first rank. */
static bool chain_ends(const struct schedule *chain, uint32_t edge, struct schedule_ends *ends,
		       uint32_t first)
{
	return (edge + 1) % chain->count != first && ring_ends(chain, edge, ends);
}

static uint32_t chain_pieces(const struct schedule *chain, bytes size)
{
	bytes pieces = (size + CHAIN_CHUNK - 1) / CHAIN_CHUNK;

	(void)chain;
	return pieces < UINT32_MAX / 2 ? (uint32_t)pieces : UINT32_MAX / 2;
}

/* All but the first rank of a chain take a piece, all but the last then pass it on. */
static bool chain_step(const struct schedule *chain, uint32_t rank, uint64_t i, uint32_t pieces,
		       struct schedule_step *step, uint32_t first, enum schedule_act take)
{
	uint32_t n = chain->count, before = (rank + n - 1) % n;
	bool takes = rank != first, passes = (rank + 1) % n != first;
	uint64_t piece = takes && passes ? i / 2 : i;

	takes &= !passes || i % 2 == 0;
	*step = (struct schedule_step){ .act = takes ? take : SCHEDULE_SEND,
					.edge = takes ? before : rank,
					.first = (uint32_t)piece,
					.end = (uint32_t)piece + 1 };
	return piece < pieces;
}

static bool broadcast_ends(const struct schedule *chain, uint32_t edge, struct schedule_ends *ends)
{
	return chain_ends(chain, edge, ends, root_of(chain));
}

static bool broadcast_step(const struct schedule *chain, uint32_t rank, unsigned thread, uint64_t i,
			   uint32_t pieces, struct schedule_step *step)
{
	(void)thread;
	return chain_step(chain, rank, i, pieces, step, root_of(chain), SCHEDULE_STORE);
}

static uint64_t of_root(const struct schedule *schedule, uint32_t rank, uint32_t piece)
{
	(void)rank, (void)piece;
	return weight_of(schedule, root_of(schedule));
}

/* The chain of a reduction ends at the root. */
static uint32_t after_root(const struct schedule *chain)
{
	return (root_of(chain) + 1) % chain->count;
}

static bool reduce_ends(const struct schedule *chain, uint32_t edge, struct schedule_ends *ends)
{
	return chain_ends(chain, edge, ends, after_root(chain));
}

static bool reduce_step(const struct schedule *chain, uint32_t rank, unsigned thread, uint64_t i,
			uint32_t pieces, struct schedule_step *step)
{
	(void)thread;
	return chain_step(chain, rank, i, pieces, step, after_root(chain), SCHEDULE_ADD);
}

static uint64_t at_root(const struct schedule *schedule, uint32_t rank, uint32_t piece)
{
	(void)piece;
	return rank == root_of(schedule) ? schedule->exact.sum : 0;
}

/* Edge r joins rank r and the root. Piece r is that of rank r. */

static bool gather_ends(const struct schedule *star, uint32_t edge, struct schedule_ends *ends)
{
	if (edge == root_of(star))
		return false;
	*ends = (struct schedule_ends){ edge, root_of(star), 0 };
	return true;
}

static bool scatter_ends(const struct schedule *star, uint32_t edge, struct schedule_ends *ends)
{
	if (edge == root_of(star))
		return false;
	*ends = (struct schedule_ends){ root_of(star), edge, 0 };
	return true;
}

/* The root has a step for each other rank, in their order behind it. */
static bool star_step(const struct schedule *star, uint32_t rank, uint64_t i,
		      struct schedule_step *step, enum schedule_act of_root_rank)
{
	uint32_t n = star->count, root = root_of(star);
	bool sends = (rank == root) == (of_root_rank == SCHEDULE_SEND);
	uint32_t other = rank == root ? (root + 1 + (uint32_t)i) % n : rank;

	*step = (struct schedule_step){ .act = sends ? SCHEDULE_SEND : SCHEDULE_STORE,
					.edge = other,
					.first = other,
					.end = other + 1 };
	return i < (rank == root ? n - 1 : 1);
}

static bool to_root_step(const struct schedule *star, uint32_t rank, unsigned thread, uint64_t i,
			 uint32_t pieces, struct schedule_step *step)
{
	(void)thread, (void)pieces;
	return star_step(star, rank, i, step, SCHEDULE_STORE);
}

static bool from_root_step(const struct schedule *star, uint32_t rank, unsigned thread, uint64_t i,
			   uint32_t pieces, struct schedule_step *step)
{
	(void)thread, (void)pieces;
	return star_step(star, rank, i, step, SCHEDULE_SEND);
}

static uint64_t gathered_at_root(const struct schedule *star, uint32_t rank, uint32_t piece)
{
	return rank == root_of(star) ? weight_of(star, piece) : 0;
}

static uint64_t own_of_root(const struct schedule *star, uint32_t rank, uint32_t piece)
{
	return piece == rank ? weight_of(star, root_of(star)) : 0;
}

/* --- as collectives --- */

double reduce_scatter_injected(uint32_t workers, uint32_t gpus, bool beside)
{
	(void)gpus, (void)beside;
	return workers - 1.0;
}

/* Each part but the root's own crosses once. */
static double star_injected(uint32_t workers, uint32_t gpus, bool beside)
{
	(void)gpus, (void)beside;
	return (workers - 1.0) / workers;
}

#define STEP(step_name, sent_bytes, ...)                                                           \
	static const struct schedule_ops step_name##_ops = { .name = #step_name,                   \
							     .threads = 1,                         \
							     __VA_ARGS__ };                        \
	static void *step_name##_start(void *self, const struct collective_job *job,               \
				       const char **never)                                         \
	{                                                                                          \
		(void)never;                                                                       \
		return schedule_start(self, &step_name##_ops, job);                                \
	}                                                                                          \
	const struct collective_ops step_name##_collective = {                                     \
		.name = #step_name,                                                                \
		.start = step_name##_start,                                                        \
		.contribute = schedule_contribute,                                                 \
		.finish = schedule_finish,                                                         \
		.stats = schedule_stats,                                                           \
		.report_waiting = schedule_report_waiting,                                         \
		.injected = sent_bytes,                                                            \
	};

STEP(reduce_scatter, reduce_scatter_injected, .channels = true, .edges = ring_edges,
     .ends = ring_ends, .pieces = ring_pieces, .step = scatter_step, .weight = scattered)
STEP(all_gather, reduce_scatter_injected, .channels = true, .edges = ring_edges, .ends = ring_ends,
     .pieces = ring_pieces, .step = gather_step, .weight = gathered)
STEP(point_to_point, reduce_scatter_injected, .edges = one_edge, .ends = pair_ends,
     .pieces = one_piece, .step = pair_step, .weight = sent)
STEP(broadcast, reduce_scatter_injected, .edges = ring_edges, .ends = broadcast_ends,
     .pieces = chain_pieces, .step = broadcast_step, .weight = of_root)
STEP(reduce, reduce_scatter_injected, .edges = ring_edges, .ends = reduce_ends,
     .pieces = chain_pieces, .step = reduce_step, .weight = at_root)
STEP(gather, star_injected, .edges = ring_edges, .ends = gather_ends, .pieces = ring_pieces,
     .step = to_root_step, .weight = gathered_at_root)
STEP(scatter, star_injected, .edges = ring_edges, .ends = scatter_ends, .pieces = ring_pieces,
     .step = from_root_step, .weight = own_of_root)
