/* Runs that repeat themselves: whole periods are not simulated, and nothing of the result changes.
 *
 * A large tensor alone in a network is the same few thousand events again and again, with later
 * times and higher numbers of chunks. When all that decides the future equals, relative to now,
 * what it was at an earlier mark, the future is known until somebody else acts: what happened
 * between the marks happens n times more. Then clock, pending events, packets and numbers move on
 * by n periods, and counters by n times what a period added. The facts of these periods are added
 * to the digest one by one, so the digest is that of the whole run.
 *
 * Each part of the state has one function that goes through it, member by member, and says what a
 * member is:
 *
 *   repeat_same()     decides, and has to be equal at both marks
 *   repeat_time()     a time that decides, relative to now; moves on with the clock
 *   repeat_due()      repeat_time() of a time that no longer matters once it is past
 *   repeat_number()   a number in a stream of chunks, relative to the stream's progress
 *   repeat_count()    only counts: has to grow by the same amount from mark to mark
 *   repeat_integral() repeat_count() of an integral over time
 *   repeat_left()     counts down what is left of something whose end has to be simulated
 *   repeat_event()    the event of an entity, which belongs to what repeats
 *
 * The function serves both to read the state (at a mark) and to move it on. What the function
 * leaves out must decide nothing. Random streams are state like others: a run that draws does not
 * repeat itself.
 *
 * Ties. The order of events of one time follows a hash of that time (equeue.h), so it differs from
 * period to period. Periods are skipped only after REPEAT_PERIODS in a row that were equal in spite
 * of that; all but the first of these must have had the same facts at the same times. Besides,
 * whatever met in one picosecond must have come in both orders by then (ties.h): each two packets
 * that went into one queue, and each two kinds of packets that reached one node. Then the order of
 * ties decides nothing.
 *
 * A skip ends before the first event that no repeat_event() has named: computation, arrivals,
 * samples, the end. */
#ifndef INASIM_CORE_REPEAT_H
#define INASIM_CORE_REPEAT_H

#include "core/alarm.h"
#include "core/observe.h"
#include "core/ties.h"

#define REPEAT_PERIODS  4 /* this many equal periods in a row, or more, before any are skipped */
#define REPEAT_NO_PLACE UINT32_MAX

/* What numbers are counted in: the chunks of a job. */
struct repeat_stream {
	uint64_t base; /* how far the stream has come */
	uint64_t step; /* by how much it moves on in a period */
};

struct repeat_words {
	uint64_t *of; /* owned */
	size_t count, capacity;
};

/* A fact that the recorded period added to the digest: sim_fact() of entity and seq ^ label. */
struct repeat_fact {
	sim_time at;
	uint64_t entity, seq, label;
	const struct repeat_stream *stream; /* of seq; NULL = none */
};

/* A count that says what is left of something. */
struct repeat_left {
	size_t index;     /* in `counts` */
	uint64_t reserve; /* how much of it has to be simulated, at its end */
};

struct repeat {
	struct sim *sim;
	/* Goes through all of the state. NULL: nothing is skipped, and nobody needs marks. */
	void (*walk)(void *owner, struct repeat *repeat);
	/* Fills in the fact that the next arrival from this port adds to the digest: seq, label,
	 * stream. Returns the node where it arrives, as a place of ties.h: a number that no port
	 * and no other node has. REPEAT_NO_PLACE: the packet only goes on to a queue. */
	uint32_t (*fact)(void *owner, uint32_t port, struct repeat_fact *fact);
	/* `on`: from now on a period is recorded, and repeat_meeting() has to be called. Else this
	 * ends. */
	void (*record)(void *owner, bool on);
	void *owner;
	const void *leader; /* whose marks are taken; NULL: whoever comes to a mark next leads */

	bool moving; /* else reading */
	bool never;  /* reading: repeat_never() */
	/* moving: */
	uint64_t periods; /* how many are skipped */
	sim_time by;      /* how long they take */
	size_t next;      /* index in `growth` of the next count */

	struct repeat_words same, counts;           /* as they are now */
	struct repeat_words last_same, last_counts; /* at the last mark */
	struct repeat_words growth;                 /* of counts, from mark to mark */
	struct repeat_left *left;                   /* owned, like all arrays here */
	size_t left_count, left_capacity;
	bool *named; /* by entity: whether it is part of what repeats */
	size_t named_capacity;

	sim_time marked; /* time of the last mark; 0 = there is none */
	unsigned equal;  /* equal periods in a row, so far */
	unsigned failed; /* price of marks since the state was last equal; see repeat_distance() */
	uint64_t wasted; /* words of the state that looks for nothing have read */
	bool recording;  /* facts are recorded: from the second equal period on */
	unsigned recorded;     /* whole periods, so far */
	uint64_t pattern;      /* sum of hashes of this period's facts, relative to the mark */
	uint64_t last_pattern; /* of the period before */
	struct repeat_fact *facts;
	size_t fact_count, fact_capacity;
	struct ties ties;  /* of the periods recorded so far */
	uint64_t event;    /* hash of the last fact */
	bool switches;     /* the run stops only to go on with recording, or without */
	struct timer look; /* reads the state after a mark */

	uint64_t hops_skipped; /* counted by whoever walks the network */
	uint64_t events_skipped;
	uint64_t skips;
};

/* `walk`, `fact` and `owner` are set by the caller, which also frees `owner`. */
void repeat_init(struct repeat *repeat, struct sim *sim);
void repeat_release(struct repeat *repeat);

/* `who` has come to its next mark, in an event; the state is looked at when all events of this
 * instant are over. Ignored while somebody else leads. Returns whether `who` leads. */
bool repeat_mark(struct repeat *repeat, const void *who);
/* `who` will come to no mark any more. */
void repeat_leave(struct repeat *repeat, const void *who);

/* How far apart marks should be: `least`, and more the longer nothing has repeated itself. */
uint64_t repeat_distance(const struct repeat *repeat, uint64_t least);

/* A mark of `who` pays only if more periods than this are to come: those that still have to prove
 * equal and, before its first mark, as many again, which are skipped. */
uint64_t repeat_to_come(const struct repeat *repeat, const void *who);

/* While a period is recorded: something comes to a place where the order of coming lasts, such as a
 * queue. `fact` names it; NULL: what arrived in this event. */
void repeat_meeting(struct repeat *repeat, uint32_t place, const struct repeat_fact *fact);

/* As sim_run(). */
bool repeat_run(struct repeat *repeat, uint64_t budget);

/* --- for functions that go through the state --- */

void repeat_put(struct repeat_words *words, uint64_t word);

static inline void repeat_same(struct repeat *repeat, uint64_t word)
{
	if (!repeat->moving)
		repeat_put(&repeat->same, word);
}

/* This state equals no other, because it cannot be described. The walk may end here. */
static inline void repeat_never(struct repeat *repeat)
{
	repeat->never = true;
}

/* repeat_same() of `size` bytes, a multiple of 8. */
void repeat_same_bytes(struct repeat *repeat, const void *from, size_t size);

/* SIM_TIME_MAX stays what it is. */
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

/* repeat_count() of an array. */
static inline void repeat_counts(struct repeat *repeat, uint64_t *counts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		repeat_count(repeat, &counts[i]);
}

/* *sum is the integral up to now of something that is never above `most`. Nothing is skipped where
 * a period might add more than 64 bits hold. */
void repeat_integral(struct repeat *repeat, unsigned __int128 *sum, uint64_t most);

/* Call it, with `base` set, before any repeat_number() of the stream. */
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

/* Skips end early enough for the last `reserve` of *left to be simulated. */
void repeat_left(struct repeat *repeat, uint64_t *left, uint64_t reserve);

void repeat_event(struct repeat *repeat, uint32_t entity);

/* The alarm's timeout decides. The time of its look does not, and only moves on. */
void repeat_alarm(struct repeat *repeat, struct alarm *alarm);

#endif
