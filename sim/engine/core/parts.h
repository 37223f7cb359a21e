/* A simulation cut into partitions, which run in turn or in several threads.
 *
 * Why: from some thousand hosts on, the state that events touch no longer fits into the cache, and
 * events wait for memory. The state of one partition fits. So each partition runs alone for a
 * window of time, then the next one does. This pays in one thread already; in several threads
 * partitions run at the same time.
 *
 * Conservative windows (Chandy and Misra, 1979): nodes act on each other through links only, so
 * what a partition does at time t reaches another one at t + lookahead or later. Within a window
 * no longer than the lookahead, partitions may therefore run in any order and do the same as in
 * the order of time. The digest is a sum, so it is the same, too.
 *
 * Ownership: each partition has a struct sim of its own, with clock, queue, timers and sums.
 * Entities are shared and do not change in a window. A handler gets the struct sim of its
 * partition and acts on nothing outside it but links.
 *   - A link between partitions of one thread is touched by both: the sender adds packets at the
 *     tail, the receiver takes them off the head. What the receiver takes in a window had left
 *     before the window began, so neither the sender's queue nor a departure depends on it.
 *   - Packets for another thread go through parts_ops: when all partitions have run their window,
 *     all give, then all take. The end of a window is the only lock.
 *
 * Events of SIM_CONTROL and SIM_SAMPLE belong to no partition and stay in the whole simulation.
 * Such an event comes behind all else of its time, divides a window and runs alone. It finds all
 * partitions at its own time and may do anything to any of them, through their struct sim. Within
 * a window, a handler may read of another partition only what cannot change within the lookahead.
 * Tests compare runs with different numbers of partitions and threads, and a thread sanitizer looks
 * on (tests/model/test_partitions.c, tests/threads.sh).
 *
 * A sim_stop() within a window would come too late for the other partitions. Whoever may stop the
 * run there says until when it surely goes on (parts_run()), and joins the partitions then. */
#ifndef INASIM_CORE_PARTS_H
#define INASIM_CORE_PARTS_H

#include "core/sim.h"

/* Called for each partition by its thread, with its struct sim. */
struct parts_ops {
	/* All events of a window, which ends at `end`, have run: collects what is for others.
	 * Returns when there will be more to give even if no further event runs; SIM_TIME_MAX:
	 * never. */
	sim_time (*give)(struct sim *part, sim_time end);
	/* All partitions have given: takes what is for this one. It is due at the end of the
	 * window or later. */
	void (*take)(struct sim *part);
};

/* Which thread runs partition `part` of `count`. Neighbours share a thread, as they lie side by
 * side in memory. */
static inline unsigned parts_thread(unsigned part, unsigned count, unsigned threads)
{
	unsigned thread = 0; /* runs partitions up to (thread + 1) * count / threads */

	while ((thread + 1) * count / threads < part)
		thread++;
	return thread;
}

/* Cuts the simulation into partitions 1..count, run by `threads` threads, or fewer where the system
 * gives no more. Entities belong to the whole until parts_place(). `ops` is not owned. */
void parts_cut(struct sim *sim, unsigned count, unsigned threads, sim_time lookahead,
	       const struct parts_ops *ops);

/* How many threads run the partitions; 1 where the simulation is not cut. */
unsigned parts_threads(const struct sim *sim);

/* The struct sim of a partition, from 1. Only between windows. */
struct sim *parts_sim(const struct sim *sim, unsigned part);

/* The number of the partition whose struct sim this is; 0: the whole. */
static inline unsigned parts_number(const struct sim *sim)
{
	return sim->queue.number;
}

/* Moves an entity that is not pending to a partition. EQ_AWAY: scheduling it only adds it to the
 * list sim->queue.away, for give(). Timers belong to the struct sim that they were opened in. */
static inline void parts_place(struct sim *sim, uint32_t entity, unsigned part)
{
	SIM_BUG_ON(sim_pending(sim, entity));
	sim->queue.nodes[entity].queue = (uint16_t)part;
}

/* sim_add_entity() of a partition. Never within a window. */
uint32_t parts_add_entity(struct sim *part, enum sim_class class, uint64_t key,
			  sim_handler *handler, void *owner);

/* As sim_run(), window by window, as long as the next window ends at `until` or before. It also
 * returns when an event of the whole is due; parts_control() runs that event, which may change what
 * `until` has to be. */
bool parts_run(struct sim *sim, uint64_t budget, sim_time until);
void parts_control(struct sim *sim);

/* Whether the current window ends at `until` or before. */
bool parts_fits(const struct sim *sim, sim_time until);

/* Whether any partition still has something to give. */
bool parts_hold(const struct sim *sim);

/* Puts all that is pending back into the whole, and frees the partitions: from here on, sim_run().
 * Nothing that was given may still have to be taken. */
void parts_join(struct sim *sim);

/* Frees the partitions; what is pending in them is lost. Does nothing where there are none. */
void parts_free(struct sim *sim);

#endif
