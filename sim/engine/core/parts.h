/* A simulation cut into partitions, which run one after the other or in several threads.
 *
 * Why: from some thousand hosts on, all that events touch no longer fits into the cache, and an
 * event waits for memory. What a partition touches does fit. So each runs on its own for a window
 * of time before the next one does, which pays in one thread; and those of several threads run at
 * once.
 *
 * Conservative windows (Chandy and Misra, 1979): what a partition does at a time t reaches another
 * one at t + lookahead or later, as nodes act on each other through links only. So all can run
 * their events of a window that is no longer than the lookahead in any order, and do the same as
 * in the order of time. The digest is a sum, so it is the same, too.
 *
 * Who owns what: each partition has a struct sim of its own, with clock, queue, timers and sums;
 * entities are shared and do not change in a window. A handler gets that of its partition, and acts
 * on nothing else but links. A link between partitions of one thread is touched by both: the sender
 * puts packets in behind, and the receiver takes them off the front. In the same window they never
 * meet, since what is taken off had left before the window began: neither the length of the queue
 * nor a departure hangs on whether it still lies in the ring. What is for another thread is left to
 * parts_ops: when all have run their window, all give, then all take. There is no lock but the end
 * of a window.
 *
 * What is of no partition is in the whole simulation, as ever: events of SIM_CONTROL and
 * SIM_SAMPLE. They come behind all else of their time, end a window, run alone, and find all
 * partitions at their instant: they may do anything to any, through its struct sim. In a window
 * one may read of another partition only what cannot change within the lookahead. Runs in other
 * numbers of partitions and threads are compared, and looked at by a thread sanitizer
 * (tests/model/test_partitions.c, tests/threads.sh).
 *
 * sim_stop() at an event in a window would come too late for other partitions: whoever may stop the
 * run there says until when it surely goes on, and joins the partitions then. */
#ifndef INASIM_CORE_PARTS_H
#define INASIM_CORE_PARTS_H

#include "core/sim.h"

/* Called for each partition by its thread, with its struct sim. */
struct parts_ops {
	/* All events before `end`, the end of a window, have run: collects what is for others.
	 * Returns when there will be more without a further event, or SIM_TIME_MAX. */
	sim_time (*give)(struct sim *part, sim_time end);
	/* All have given: takes what is for this one, all of which happens at the end or later. */
	void (*take)(struct sim *part);
};

/* Which of so many threads runs a partition. They are in a row, so that what lies side by side in
 * memory is mostly of one. */
static inline unsigned parts_thread(unsigned part, unsigned count, unsigned threads)
{
	unsigned thread = 0;

	while ((thread + 1) * count / threads < part)
		thread++;
	return thread;
}

/* Cuts into partitions 1..count, in so many threads or as the system gives. All entities are of the
 * whole then, until they get their place. `ops` is not owned. */
void parts_cut(struct sim *sim, unsigned count, unsigned threads, sim_time lookahead,
	       const struct parts_ops *ops);

/* How many threads there are: 1 where it is not cut. */
unsigned parts_threads(const struct sim *sim);

/* That of a partition, from 1. Between windows. */
struct sim *parts_sim(const struct sim *sim, unsigned part);

/* Which one this is; 0: the whole. */
static inline unsigned parts_number(const struct sim *sim)
{
	return sim->queue.number;
}

/* Gives an entity, which is not pending, its place. EQ_AWAY: scheduling it only adds it to the list
 * sim->queue.away, for give(). Timers are of the struct sim that they were opened in. */
static inline void parts_place(struct sim *sim, uint32_t entity, unsigned part)
{
	SIM_BUG_ON(sim_pending(sim, entity));
	sim->queue.nodes[entity].queue = (uint16_t)part;
}

/* For sim_add_entity(), in a partition: never in a window. */
uint32_t parts_add_entity(struct sim *part, enum sim_class class, uint64_t key,
			  sim_handler *handler, void *owner);

/* As sim_run(), window by window, as long as one ends at `until` or before. Returns, too, when an
 * event of the whole is due, which may change what `until` is: then parts_control() runs it. */
bool parts_run(struct sim *sim, uint64_t budget, sim_time until);
void parts_control(struct sim *sim);

/* Whether a window fits in before `until`. */
bool parts_fits(const struct sim *sim, sim_time until);

/* Whether one has something to give yet. */
bool parts_hold(const struct sim *sim);

/* Puts all that is pending into the whole again, which nothing may be left to give or take for:
 * from here on, sim_run(). */
void parts_join(struct sim *sim);

void parts_free(struct sim *sim);

#endif
