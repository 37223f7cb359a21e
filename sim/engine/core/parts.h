/* A simulation cut into partitions, which run in turn or in several threads.
 *
 * Why: from some thousand hosts on, the state that events touch no longer fits into the cache, and
 * events wait for memory. The state of one partition fits. So each partition runs alone for a
 * window of time, then the next one does. This pays even in one thread; several threads run
 * partitions at the same time.
 *
 * Conservative windows (Chandy and Misra, 1979): nodes act on each other through links only, so
 * what a partition does at time t reaches another one at t + lookahead or later. Within a window
 * no longer than the lookahead, partitions may therefore run in any order with the same outcome.
 * The digest is a sum, so it is the same, too.
 *
 * Ownership: each partition has a struct sim of its own, with clock, queue, timers and sums.
 * Entities are shared and do not change in a window. A handler gets the struct sim of its
 * partition and changes nothing outside the partition except links:
 *   - A link between partitions of one thread is used by both: the sending partition adds packets
 *     at the tail, the receiving one takes packets off the head. A packet that is taken off in a
 *     window had left the queue before the window began, so the sender does not notice.
 *   - Packets for another thread go through parts_ops: when all partitions have run their window
 *     and given their packets, all take. Threads synchronize only at the end of a window, and
 *     where an event divides it.
 *
 * Events of SIM_CONTROL and SIM_SAMPLE belong to no partition and stay in the whole simulation.
 * Such an event runs alone, after all other events of its time, and divides a window. It finds all
 * partitions at its own time and may change any of them, through their struct sim. Within a
 * window, a handler may read of another partition only what cannot change within the lookahead.
 * Tests compare runs with different numbers of partitions and threads
 * (tests/model/test_partitions.c) and run them under a thread sanitizer (tests/threads.sh).
 *
 * A sim_stop() within a window would come too late for the other partitions. So the caller of
 * parts_run() says until when no handler will stop the run, and joins the partitions then. */
#ifndef INASIM_CORE_PARTS_H
#define INASIM_CORE_PARTS_H

#include "core/sim.h"

/* Called for each partition by its thread, with its struct sim. */
struct parts_ops {
	/* Called when all events of a window, which ends at `end`, have run. Collects the packets
	 * for other threads. Returns the time at which there will be more to give even if no
	 * further event runs; SIM_TIME_MAX: never. */
	sim_time (*give)(struct sim *part, sim_time end);
	/* Called when all partitions have given. Takes the packets for this one, which are due at
	 * the end of the window or later. */
	void (*take)(struct sim *part);
};

/* Which thread (from 0) runs partition `part` of 1..count. Neighbours share a thread, because they
 * are adjacent in memory. */
static inline unsigned parts_thread(unsigned part, unsigned count, unsigned threads)
{
	unsigned thread = 0; /* runs partitions up to (thread + 1) * count / threads */

	while ((thread + 1) * count / threads < part)
		thread++;
	return thread;
}

/* Cuts the simulation into partitions 1..count, run by `threads` threads, or fewer if the system
 * gives no more. Windows are at most `lookahead` ps long. Entities belong to the whole until
 * parts_place(). `ops` is not owned. */
void parts_cut(struct sim *sim, unsigned count, unsigned threads, sim_time lookahead,
	       const struct parts_ops *ops);

/* How many threads run the partitions; 1 if the simulation is not cut. */
unsigned parts_threads(const struct sim *sim);

/* The struct sim of partition `part`, counted from 1. Call it only between windows. */
struct sim *parts_sim(const struct sim *sim, unsigned part);

/* The number of the partition whose struct sim this is; 0 for the whole simulation. */
static inline unsigned parts_number(const struct sim *sim)
{
	return sim->queue.number;
}

/* Moves an entity that is not pending to a partition. If `part` is EQ_AWAY, scheduling the entity
 * only adds it to the list sim->queue.away, for give(). Timers belong to the struct sim that they
 * were opened in. */
static inline void parts_place(struct sim *sim, uint32_t entity, unsigned part)
{
	SIM_BUG_ON(sim_pending(sim, entity));
	sim->queue.nodes[entity].queue = (uint16_t)part;
}

/* sim_add_entity() for a partition. Must not be called within a window. The whole simulation must
 * get no entities while it is cut. */
uint32_t parts_add_entity(struct sim *part, enum sim_class class, uint64_t key,
			  sim_handler *handler, void *owner);

/* As sim_run(), window by window, as long as the next window ends at `until` or before. Also
 * returns when an event of the whole simulation is due. parts_control() runs that event, after
 * which `until` may have to be another. False only if nothing is left to happen. */
bool parts_run(struct sim *sim, uint64_t budget, sim_time until);
void parts_control(struct sim *sim);

/* Whether the next window, or the rest of a divided one, ends at `until` or before. */
bool parts_fits(const struct sim *sim, sim_time until);

/* Whether any partition still has something to give. */
bool parts_hold(const struct sim *sim);

/* Moves all pending events back into the whole simulation and frees the partitions. From then on,
 * use sim_run(). All that was given must have been taken. */
void parts_join(struct sim *sim);

/* Frees the partitions; their pending events are lost. Does nothing if there are none. */
void parts_free(struct sim *sim);

#endif
