/* Ring all-reduce: reduce-scatter, then all-gather, over one connection an edge (Patarasuk and
 * Yuan, JPDC 2009; NCCL, Horovod). What is modelled and simplified: schedule.h.
 *
 *   step s of rank r, reduce-scatter: send chunk r-s, receive and add r-s-1
 *                     all-gather:     send chunk r+1-s, receive and store r-s */
#include "collective/ring.h"
#include "collective/steps.h"

#include <stdlib.h>

static const struct conf_row ring_rows[] = { SCHEDULE_ROWS, { 0 } };
extern const struct conf_table ring_table; /* named by ina/schemes.c */
const struct conf_table ring_table = { "ring", ring_rows, sizeof(struct schedule_conf),
				       "Ring all-reduce over TCP or RoCE." };

static uint32_t ring_edges(const struct schedule *ring)
{
	return ring->count;
}

/* Edge r begins at rank r. */
static bool ring_ends(const struct schedule *ring, uint32_t edge, struct schedule_ends *ends)
{
	*ends = (struct schedule_ends){ edge, (edge + 1) % ring->count, 0 };
	return true;
}

static uint32_t ring_pieces(const struct schedule *ring, bytes size)
{
	(void)size;
	return ring->count;
}

/* Chunk that rank r sends in step s. */
static uint32_t chunk_sent(uint32_t p, uint32_t rank, uint32_t s)
{
	return s < p - 1 ? (rank + p - s) % p : (rank + 1 + p - (s - (p - 1))) % p;
}

static bool ring_step(const struct schedule *ring, uint32_t rank, unsigned thread, uint64_t i,
		      uint32_t pieces, struct schedule_step *step)
{
	uint32_t p = ring->count, before = (rank + p - 1) % p, s = (uint32_t)(i / 2), chunk;

	(void)thread, (void)pieces;
	if (s == ring_steps(p))
		return false;
	chunk = chunk_sent(p, i % 2 ? before : rank, s);
	step->first = chunk;
	step->end = chunk + 1;
	step->edge = i % 2 ? before : rank;
	step->act = SCHEDULE_SEND;
	if (i % 2)
		step->act = s < p - 1 ? SCHEDULE_ADD : SCHEDULE_STORE;
	return true;
}

const struct schedule_ops ring_ops = {
	.threads = 1,
	.edges = ring_edges,
	.ends = ring_ends,
	.pieces = ring_pieces,
	.step = ring_step,
};

static void *ring_start(void *self, const struct collective_job *job, const char **never)
{
	*never = NULL;
	return schedule_start(self, "ring", &ring_ops, job);
}

/* Each rank sends n - 1 chunks of S / n bytes twice. */
static double ring_injected(uint32_t workers, bool beside)
{
	(void)beside;
	return 2 * ((double)workers - 1);
}

const struct collective_ops ring_collective = {
	SCHEDULE_OPS,
	.name = "ring",
	.help = "ring all-reduce between hosts over TCP or RoCE",
	.table = &ring_table,
	.beside = { .many = "0.9 to 1.7" },
	.injected = ring_injected,
	.start = ring_start,
	.plan = ring_plan,
	.reduce_scatter = &reduce_scatter_collective,
	.tolerance = { .one_switch = 0.02 },
};
