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

/* --- all-to-all: edge k - 1 of rank r goes to r + k --- */

static uint32_t all_edges(const struct schedule *all)
{
	return all->count * (all->count - 1);
}

static bool all_ends(const struct schedule *all, uint32_t edge, struct schedule_ends *ends)
{
	uint32_t from = edge / (all->count - 1), k = edge % (all->count - 1) + 1;

	*ends = (struct schedule_ends){ from, (from + k) % all->count, 0 };
	return true;
}

/* Round k has steps i = 2 (k - 1) and 2 (k - 1) + 1: rank r sends its piece k to rank r + k, then
 * stores the piece from rank r - k as its own piece k. */
static bool all_step(const struct schedule *all, uint32_t rank, unsigned thread, uint64_t i,
		     uint32_t pieces, struct schedule_step *step)
{
	uint32_t k = (uint32_t)(i / 2) + 1, n = all->count,
		 from = i % 2 ? (rank + n - k) % n : rank;

	(void)thread, (void)pieces;
	if (k >= n)
		return false;
	*step = (struct schedule_step){ .act = i % 2 ? SCHEDULE_STORE : SCHEDULE_SEND,
					.edge = from * (n - 1) + k - 1,
					.first = k,
					.end = k + 1 };
	return true;
}

/* In the end piece k of rank r is from rank r - k. */
static uint64_t received(const struct schedule *all, uint32_t rank, uint32_t piece)
{
	return weight_of(all, (rank + all->count - piece) % all->count);
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

/* --- as collectives --- */

double reduce_scatter_injected(uint32_t workers, bool beside)
{
	(void)beside;
	return workers - 1.0;
}

#define STEP(step_name, ...)                                                                       \
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
		.injected = reduce_scatter_injected,                                               \
	};

STEP(reduce_scatter, .edges = ring_edges, .ends = ring_ends, .pieces = ring_pieces,
     .step = scatter_step, .weight = scattered)
STEP(all_gather, .edges = ring_edges, .ends = ring_ends, .pieces = ring_pieces, .step = gather_step,
     .weight = gathered)
STEP(all_to_all, .rendezvous = true, .edges = all_edges, .ends = all_ends, .pieces = ring_pieces,
     .step = all_step, .weight = received)
STEP(point_to_point, .edges = one_edge, .ends = pair_ends, .pieces = one_piece, .step = pair_step,
     .weight = sent)
