/* Runs that repeat themselves: whole periods are not simulated, and nothing of the result changes.
 *
 * A large tensor alone in a network is the same few thousand events again and again, with later
 * times and higher numbers of chunks. When all that decides the future is, relative to now, what it
 * was at an earlier mark, the future until somebody else acts is known: what happened between the
 * marks happens n times more. Then clock, pending events, packets and numbers move on by n periods,
 * counters by n times what a period added, and the digest by the facts of these periods, one by
 * one, so that it is that of the whole run.
 *
 * Each part of the state has one function that goes through it, member by member, and says what a
 * member is:
 *
 *   repeat_same()     it decides, and has to be equal at both marks
 *   repeat_time()     the same of a time, relative to now; moves on with the clock
 *   repeat_due()      a time that matters as long as it is to come
 *   repeat_number()   the same of a number of a stream of chunks, relative to how far that is
 *   repeat_count()    it only counts: has to grow by the same amount from mark to mark
 *   repeat_integral() the same of an integral over time
 *   repeat_left()     counts down what is left of something whose end has to be simulated
 *   repeat_event()    the event of an entity, which belongs to what repeats
 *
 * The function serves to read the state (at a mark) and to move it on. What it leaves out must
 * decide nothing. Random streams are state like others: who draws does not repeat.
 *
 * Ties. The order of events of one time hangs on a hash of that time (equeue.h), so it is another
 * one in each period. Periods are skipped after REPEAT_PERIODS that were equal under as many
 * orders, and of which all but the first had the same facts at the same times: then the order of
 * ties decides nothing.
 *
 * Events that nobody has named bound what is skipped: computation, arrivals, samples, the end. */
#ifndef INASIM_CORE_REPEAT_H
#define INASIM_CORE_REPEAT_H

#include "core/alarm.h"
#include "core/observe.h"

#define REPEAT_PERIODS 4 /* equal ones in a row before the next are skipped */

/* What numbers are counted in: the chunks of a job. */
struct repeat_stream {
	uint64_t base; /* how far it has come */
	uint64_t step; /* in a period */
};

struct repeat_words {
	uint64_t *of; /* owned */
	size_t count, capacity;
};

/* A fact of the digest (sim_fact()) of the recorded period: entity, and seq ^ label. */
struct repeat_fact {
	sim_time at;
	uint64_t entity, seq, label;
	const struct repeat_stream *stream; /* of seq; NULL = none */
};

/* What is left of something, at the index of a count. */
struct repeat_left {
	size_t index;
	uint64_t reserve; /* is to be simulated */
};

struct repeat {
	struct sim *sim;
	/* Goes through all of the state. NULL: nothing is skipped, and nobody needs marks. */
	void (*walk)(void *owner, struct repeat *repeat);
	/* What an arrival at this port, which comes now, says in the digest: *seq and *label.
	 * Returns the stream of seq, or NULL. */
	const struct repeat_stream *(*fact)(void *owner, uint32_t port, uint64_t *seq,
					    uint64_t *label);
	void *owner;
	const void *leader; /* whose marks are taken; NULL = the next that comes */

	bool moving; /* else reading */
	bool never;  /* reading: repeat_never() */
	uint64_t periods;
	sim_time by;
	size_t next; /* moving: index of the next count */

	struct repeat_words same, counts;           /* as they are now */
	struct repeat_words last_same, last_counts; /* at the last mark */
	struct repeat_words growth;                 /* of counts, from mark to mark */
	struct repeat_left *left;                   /* owned, as all here */
	size_t left_count, left_capacity;
	bool *named; /* by entity: it is part of what repeats */
	size_t named_capacity;

	sim_time marked; /* time of the last mark; 0 = there is none */
	unsigned equal;  /* periods in a row that were */
	unsigned failed; /* price of marks since the state was last equal; see repeat_distance() */
	bool recording;  /* from the second equal period on */
	unsigned recorded; /* periods so far */
	uint64_t pattern,
		last_pattern; /* of the facts, relative to the mark; of the period before */
	struct repeat_fact *facts;
	size_t fact_count, fact_capacity;
	bool switches; /* sim_run() was left, to go on with recording or without */
	struct timer look;

	uint64_t hops_skipped; /* counted by whoever walks the network */
	uint64_t events_skipped;
	uint64_t skips;
};

/* Frees nothing of `owner`. */
void repeat_init(struct repeat *repeat, struct sim *sim);
void repeat_release(struct repeat *repeat);

/* Somebody has come to the next of its marks, in an event; the state is looked at when all events
 * of this instant are over. Ignored while another one leads. Returns whether it leads. */
bool repeat_mark(struct repeat *repeat, const void *who);
/* It will come to no mark any more. */
void repeat_leave(struct repeat *repeat, const void *who);

/* How far marks should be apart: `least`, and the more the longer nothing has repeated. */
uint64_t repeat_distance(const struct repeat *repeat, uint64_t least);

/* As sim_run(). */
bool repeat_run(struct repeat *repeat, uint64_t budget);

/* --- for those that go through the state --- */

void repeat_put(struct repeat_words *words, uint64_t word);

static inline void repeat_same(struct repeat *repeat, uint64_t word)
{
	if (!repeat->moving)
		repeat_put(&repeat->same, word);
}

/* The state cannot be told, and is not the same as any other: the rest need not be gone through. */
static inline void repeat_never(struct repeat *repeat)
{
	repeat->never = true;
}

/* Of `size` bytes, a multiple of 8. */
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

/* The `count` counters from here on. */
static inline void repeat_counts(struct repeat *repeat, uint64_t *counts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		repeat_count(repeat, &counts[i]);
}

/* Of what is never above `most`, until now. Skips nothing where a period adds more than 64 bits. */
void repeat_integral(struct repeat *repeat, unsigned __int128 *sum, uint64_t most);

/* Before any number of the stream; `base` is set. */
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

/* When it looks decides nothing: it only moves on. */
void repeat_alarm(struct repeat *repeat, struct alarm *alarm);

#endif
