/* Skips periods of a run that repeats itself, without any change of the results.
 *
 * A large tensor alone in a network causes the same few thousand events again and again, with later
 * times and higher chunk numbers. At marks, points of a job's progress, the state is compared with
 * that at the mark before; times are relative to now. If the states are equal, the events between
 * the two marks, a period, will happen again until an outside event comes. Then n periods are
 * skipped: clock, pending events, packets and numbers move on by n periods, and counters grow by n
 * times what a period added. The facts of the skipped periods are added to the digest one by one,
 * so the digest is that of the whole run.
 *
 * Each part of the state has one function that passes every member to one of these:
 *
 *   repeat_same()     a value that influences the future: has to be equal at both marks
 *   repeat_time()     a time that influences the future: compared relative to now
 *   repeat_due()      as repeat_time(), for a time that no longer matters once it is past
 *   repeat_number()   a chunk number: compared relative to the stream's progress
 *   repeat_count()    a mere counter: has to grow by the same amount from mark to mark
 *   repeat_integral() as repeat_count(), for an integral over time
 *   repeat_left()     a countdown whose last part has to be simulated
 *   repeat_event()    an entity whose event is part of the period
 *
 * The same function reads the state at a mark and moves it on in a skip. A member that it leaves
 * out must not influence the future. Random streams are state, too, so a run that draws random
 * numbers does not repeat itself.
 *
 * Ties. The order of events at equal times follows a hash of the time (equeue.h), so it differs
 * from period to period. Two conditions for a skip make sure that this order has no influence.
 * First, REPEAT_PERIODS periods in a row were equal, and all but the first of them had the same
 * facts at the same times. Second, whatever met in one picosecond has come in both orders (ties.h):
 * each pair of packets that entered one queue, and each pair of packet kinds that reached one node.
 *
 * A skip ends before the first event that was not passed to repeat_event(): computation, arrivals
 * of jobs, samples, the end of the run.
 *
 * What ends repetition, in jobs of 10 workers and 60 MB on 4 racks of 8 hosts at 100 Gbps:
 *
 * - Paths that meet on a link between racks and fill it. Windows grow by a packet in a round trip
 *   until marks cut them: a cycle of milliseconds, in which no state comes again. So it is with
 *   rings, halving-doubling, ESA, ATP and PANAMA; one collision of hashes is enough. Racks alone
 *   end nothing.
 * - Windows of fixed size there (SwitchML): NICs wait for results, and draw a wait for each packet.
 *   If a wait were drawn only after an idle time of the longest wait or more, a quarter to nearly
 *   all of such a run would be skipped. It would help none of the others: the same draws keep
 *   their ties apart.
 * - Jobs that share a pool of aggregators (ESA, ATP): indices, and with them collisions, come again
 *   after the whole pool.
 * - Ties that have a consequence for others in a period, though none for the state after it
 *   (PANAMA, NetReduce): the facts of each period differ.
 * - Steps of a ring: workers begin each one apart, and need 5 to 20 % of it to fall into step.
 * - Rings between machines of several GPUs (scenarios/traces/gpt3-13b.json at full size): 64
 *   connections send at a time, a message of 1.6 MB is 23 periods, and some connections begin a
 *   message between GPUs later than others. So the state holds for 3 to 11 periods in a row, rarely
 *   for 26, of which 5 go to prove it; to read it takes as long as to simulate two thirds of a
 *   period. A tenth of the packet hops are skipped, a third if reading is never given up. Neither
 *   makes the run faster by more than a twentieth. */
#ifndef INASIM_CORE_REPEAT_H
#define INASIM_CORE_REPEAT_H

#include "core/alarm.h"
#include "core/observe.h"
#include "core/ties.h"

#define REPEAT_PERIODS  4 /* fewest equal periods in a row before a skip */
#define REPEAT_NO_PLACE UINT32_MAX

/* A stream of numbers: the chunks of a job. */
struct repeat_stream {
	uint64_t base; /* progress: the number that the stream has reached */
	uint64_t step; /* progress per period */
};

struct repeat_words {
	uint64_t *of; /* owned */
	size_t count, capacity;
};

/* A fact that the recorded period added to the digest: sim_fact() of entity and seq ^ label. */
struct repeat_fact {
	sim_time at;
	uint64_t entity, seq, label;
	const struct repeat_stream *stream; /* that seq belongs to; NULL = none */
};

/* A countdown: see repeat_left(). */
struct repeat_left {
	size_t index;     /* in `counts` */
	uint64_t reserve; /* the last part, which has to be simulated */
};

struct repeat {
	struct sim *sim;
	/* Goes through all of the state. NULL: nothing is skipped, and marks are not needed. */
	void (*walk)(void *owner, struct repeat *repeat);
	/* Fills in seq, label and stream of the fact that the next arrival from this port adds to
	 * the digest. Returns the place (ties.h) of the node where the packet arrives, a number
	 * unlike that of any port; REPEAT_NO_PLACE if the packet only goes on to a queue. */
	uint32_t (*fact)(void *owner, uint32_t port, struct repeat_fact *fact);
	/* Recording begins (`on`) or ends. While it is on, repeat_meeting() has to be called. */
	void (*record)(void *owner, bool on);
	void *owner;
	const void *leader; /* whose marks count; NULL: the next to reach a mark becomes leader */

	bool moving; /* `walk` moves the state on; else it reads the state */
	bool never;  /* reading: repeat_never() was called */
	/* moving: */
	uint64_t periods; /* to skip */
	sim_time by;      /* duration of these periods */
	size_t next;      /* index in `growth` of the next count */

	struct repeat_words same, counts;           /* as read at this mark */
	struct repeat_words last_same, last_counts; /* as read at the last mark */
	struct repeat_words growth;                 /* of counts, from mark to mark */
	struct repeat_left *left;                   /* owned, like all arrays here */
	size_t left_count, left_capacity;
	bool *named; /* by entity: it was passed to repeat_event() */
	size_t named_capacity;

	sim_time marked; /* time of the last mark; 0 = there is none */
	unsigned equal;  /* equal periods in a row, so far */
	/* sum of price() since the state was last equal, halved by repeat_leave(); see
	 * repeat_distance() */
	unsigned failed;
	uint64_t wasted;       /* words of state read at marks where the state was not equal */
	bool recording;        /* facts are recorded: from the second equal period on */
	unsigned recorded;     /* number of whole periods recorded so far */
	uint64_t pattern;      /* sum of hashes of this period's facts, relative to the mark */
	uint64_t last_pattern; /* the same sum for the period before */
	struct repeat_fact *facts;
	size_t fact_count, fact_capacity;
	struct ties ties;  /* of the periods recorded so far */
	uint64_t event;    /* hash of the last fact */
	bool switches;     /* the run has stopped only to turn recording on or off */
	struct timer look; /* reads the state after a mark */

	uint64_t hops_skipped; /* counted by network_repeat() */
	uint64_t events_skipped;
	uint64_t skips;
};

/* The caller then sets `walk`, `fact`, `record` and `owner`, and frees `owner`. */
void repeat_init(struct repeat *repeat, struct sim *sim);
void repeat_release(struct repeat *repeat);

/* Call it in the event in which `who` reaches its next mark. The state is read when all events of
 * this time have run, unless too many looks have found it not equal. Does nothing while somebody
 * else leads. Returns whether `who` leads. */
bool repeat_mark(struct repeat *repeat, const void *who);
/* `who` will reach no further mark soon. */
void repeat_leave(struct repeat *repeat, const void *who);

/* How far apart marks should be: `least`, and more the longer nothing has repeated itself. */
uint64_t repeat_distance(const struct repeat *repeat, uint64_t min);

/* How many periods have yet to prove equal. A mark of `who` pays only if more are to come. Before
 * the first mark the number is doubled, so that as many can then be skipped. */
uint64_t repeat_to_come(const struct repeat *repeat, const void *who);

/* Call it while a period is recorded, when something enters a place that keeps the order of entry,
 * such as a queue. `fact` names it; NULL stands for the packet that arrived in this event. */
void repeat_meeting(struct repeat *repeat, uint32_t place, const struct repeat_fact *fact);

/* As sim_run(), but skips periods. `budget` counts anew when recording begins or ends. */
bool repeat_run(struct repeat *repeat, uint64_t budget);

/* --- for functions that go through the state --- */

void repeat_put(struct repeat_words *words, uint64_t word);

static inline void repeat_same(struct repeat *repeat, uint64_t word)
{
	if (!repeat->moving)
		repeat_put(&repeat->same, word);
}

/* The state cannot be described, so it counts as equal to no other. The walk may end here. */
static inline void repeat_never(struct repeat *repeat)
{
	repeat->never = true;
}

/* repeat_same() for `size` bytes, a multiple of 8. */
void repeat_same_bytes(struct repeat *repeat, const void *from, size_t size);

/* *at may be SIM_TIME_MAX, which does not move on. */
static inline void repeat_time(struct repeat *repeat, sim_time *at)
{
	if (*at == SIM_TIME_MAX)
		repeat_same(repeat, SIM_TIME_MAX);
	else if (repeat->moving)
		*at += repeat->by;
	else
		repeat_put(&repeat->same, *at - repeat->sim->now);
}

static inline void repeat_due(struct repeat *repeat, sim_time *at)
{
	if (*at > repeat->sim->now)
		repeat_time(repeat, at);
	else
		repeat_same(repeat, 0);
}

static inline void repeat_count(struct repeat *repeat, uint64_t *count)
{
	if (repeat->moving)
		*count += repeat->periods * repeat->growth.of[repeat->next++];
	else
		repeat_put(&repeat->counts, *count);
}

/* repeat_count() for an array. */
static inline void repeat_counts(struct repeat *repeat, uint64_t *counts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		repeat_count(repeat, &counts[i]);
}

/* *sum is the integral over time, up to now, of a value that never exceeds `most`. Nothing is
 * skipped if a period might add more than 64 bits hold. */
void repeat_integral(struct repeat *repeat, unsigned __int128 *sum, uint64_t max);

/* Call it before any repeat_number() of the stream. The caller has set stream->base. */
static inline void repeat_base(struct repeat *repeat, struct repeat_stream *stream)
{
	uint64_t base = stream->base;

	if (repeat->moving)
		stream->step = repeat->growth.of[repeat->next];
	repeat_count(repeat, &base);
}

static inline void repeat_number(struct repeat *repeat, uint64_t *number,
				 const struct repeat_stream *stream)
{
	if (repeat->moving)
		*number += repeat->periods * stream->step;
	else
		repeat_put(&repeat->same, *number - stream->base);
}

/* A skip ends before *left falls below `reserve`, so that the rest is simulated. */
void repeat_left(struct repeat *repeat, uint64_t *left, uint64_t reserve);

void repeat_event(struct repeat *repeat, uint32_t entity);

/* The event of the alarm's timeout is compared. The time of the look is not, and only moves on. */
void repeat_alarm(struct repeat *repeat, struct alarm *alarm);

#endif
