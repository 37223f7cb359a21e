/* A simulation cut into partitions, which run one after the other.
 *
 * Why: from some thousand hosts on, all that events touch no longer fits into the cache, and an
 * event waits for memory. What a partition touches does fit. So each runs on its own for a window
 * of time before the next one does.
 *
 * Conservative windows (Chandy and Misra, 1979): what a partition does at a time t reaches another
 * one at t + lookahead or later, as nodes act on each other through links only. So all can run
 * their events of a window that is no longer than the lookahead in any order, and do the same as
 * in the order of time. The digest is a sum, so it is the same, too.
 *
 * Who owns what: the event of a port, a packet arrives, belongs to the partition of the far end;
 * the events of a NIC and of a timer to that of the host. A port between partitions is touched by
 * both: the sender puts packets in behind, the receiver takes them off the front. In the same
 * window they never meet, since what is taken off had left before the window began: neither the
 * length of the queue nor a departure hangs on whether it still lies in the ring. All other state
 * is of one partition, or a sum.
 *
 * What is of no partition is in queue 0: events of SIM_CONTROL and SIM_SAMPLE. They come behind all
 * else of their time, end a window, and find all partitions at their instant: they may do anything
 * to any. A handler of another class may act on its own partition only, and may read of another one
 * only what cannot change within the lookahead. SIM_BUG_ON() guards what is scheduled; for what is
 * read, runs with 1, 2, 3 and 8 partitions are compared (tests/model/test_partitions.c).
 *
 * sim_stop() at an event in a window would come too late for other partitions: whoever may stop the
 * run there says until when it surely goes on, and joins the partitions then. */
#ifndef INASIM_CORE_PARTS_H
#define INASIM_CORE_PARTS_H

#include "core/sim.h"

/* Cuts into partitions 1..count. All entities are of 0 then, until they get their place. */
void parts_cut(struct sim *sim, unsigned count, sim_time lookahead);

/* The queue of a partition, or 0, while none runs: for equeue_tune(). */
struct equeue *parts_queue(struct sim *sim, unsigned part);

/* The partition that runs; 0: none, or not cut. */
static inline unsigned parts_now(const struct sim *sim)
{
	return sim->queue.number;
}

/* Gives an entity, which is not pending, or a timer that was opened, its place. 0 where the
 * simulation is not cut. */
static inline void parts_place(struct sim *sim, uint32_t entity, unsigned part)
{
	SIM_BUG_ON(sim_pending(sim, entity));
	sim->queue.nodes[entity].queue = (uint16_t)part;
}

/* As sim_run(), window by window, as long as one ends at `until` or before. Returns, too, after
 * each event of queue 0, which may change what `until` is. */
bool parts_run(struct sim *sim, uint64_t budget, sim_time until);

/* Whether a window fits in before `until`. */
bool parts_fits(const struct sim *sim, sim_time until);

/* Puts all that is pending into one queue again: from here on, sim_run(). */
void parts_join(struct sim *sim);

void parts_free(struct sim *sim);

#endif
