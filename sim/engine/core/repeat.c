#include "core/repeat.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_AN_EVENT     8  /* words of state read in about the time that one event takes */
#define LOOKS_FREE         32 /* looks at the state that are always affordable */
#define LOOKS_SHARE        20 /* further failed looks may take 1/20 of the run's time */
#define WIDE_FROM          16 /* from this many periods on, several are hashed at a time */
#define DISTANCE_SHIFT_MAX 8  /* marks are at most 2^8 times `least` apart */
#define LOOK_NUMBER        (UINT64_C(1) << 42) /* in the key of `look`: no other sample has it */

/* --- reading --- */

void repeat_put(struct repeat_words *words, uint64_t word)
{
	words->of = array_reserve(words->of, words->count, &words->capacity, sizeof(*words->of));
	words->of[words->count++] = word;
}

void repeat_same_bytes(struct repeat *repeat, const void *from, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, (const char *)from + i, sizeof(word));
		repeat_same(repeat, word);
	}
}

void repeat_left(struct repeat *repeat, uint64_t *left, uint64_t reserve)
{
	if (!repeat->moving) {
		repeat->left = array_reserve(repeat->left, repeat->left_count,
					     &repeat->left_capacity, sizeof(*repeat->left));
		repeat->left[repeat->left_count++] =
			(struct repeat_left){ repeat->counts.count, reserve };
	}
	repeat_count(repeat, left);
}

void repeat_integral(struct repeat *repeat, unsigned __int128 *sum, uint64_t max)
{
	sim_time period = repeat->marked ? repeat->sim->now - repeat->marked : 0;

	if (repeat->moving)
		*sum += (unsigned __int128)repeat->periods * repeat->growth.of[repeat->next++];
	else if ((unsigned __int128)max * period >> 64)
		repeat_never(repeat);
	if (!repeat->moving)
		repeat_put(&repeat->counts, (uint64_t)*sum);
}

void repeat_event(struct repeat *repeat, uint32_t entity)
{
	struct sim *sim = repeat->sim;
	sim_time at = sim->queue.nodes[entity].at;

	repeat->named[entity] = true;
	if (!sim_pending(sim, entity)) {
		repeat_same(repeat, SIM_TIME_MAX);
	} else if (!repeat->moving) {
		repeat_put(&repeat->same, at - sim->now);
	} else {
		sim_cancel(sim, entity);
		sim_schedule(sim, entity, at + repeat->by);
	}
}

void repeat_alarm(struct repeat *repeat, struct alarm *alarm)
{
	repeat_event(repeat, alarm->timer.id);
	repeat->named[alarm->look.id] = true;
	if (!repeat->moving || alarm->at == SIM_TIME_MAX)
		return;
	alarm->at += repeat->by;
	timer_set(repeat->sim, &alarm->look, alarm->at);
}

/* Goes through all of the state. Counts only the events of the run, since the times of silent
 * events have no influence. */
static void go_through(struct repeat *repeat)
{
	struct sim *sim = repeat->sim;
	uint64_t events = sim_event_count(sim);

	repeat->walk(repeat->owner, repeat);
	repeat_count(repeat, &events);
	sim->events = events + sim->uncounted; /* no change while reading */
}

static void read_state(struct repeat *repeat)
{
	size_t entities = repeat->sim->queue.node_count;

	if (repeat->named_capacity < entities) {
		repeat->named = xrealloc(repeat->named, entities, sizeof(*repeat->named));
		repeat->named_capacity = entities;
	}
	memset(repeat->named, 0, entities * sizeof(*repeat->named));
	repeat->moving = repeat->never = false;
	repeat->same.count = repeat->counts.count = repeat->left_count = 0;
	go_through(repeat);
}

/* --- comparing --- */

static bool equal_words(const struct repeat_words *a, const struct repeat_words *b)
{
	return a->count == b->count && !memcmp(a->of, b->of, a->count * sizeof(*a->of));
}

/* Whether the counts have grown as in the period before; notes how much they have grown. */
static bool grew_alike(struct repeat *repeat)
{
	bool alike = repeat->counts.count == repeat->last_counts.count &&
		     repeat->counts.count == repeat->growth.count;

	if (repeat->counts.count != repeat->last_counts.count) {
		repeat->growth.count = 0;
		return false;
	}
	if (repeat->growth.count != repeat->counts.count) {
		repeat->growth.count = 0;
		for (size_t i = 0; i < repeat->counts.count; i++)
			repeat_put(&repeat->growth, 0);
	}
	for (size_t i = 0; i < repeat->counts.count; i++) {
		uint64_t growth = repeat->counts.of[i] - repeat->last_counts.of[i];

		alike &= repeat->growth.of[i] == growth;
		repeat->growth.of[i] = growth;
	}
	return alike;
}

static void swap(struct repeat_words *a, struct repeat_words *b)
{
	struct repeat_words words = *a;

	*a = *b;
	*b = words;
}

/* --- skipping --- */

/* How many whole periods pass before the first event that was not passed to repeat_event(), and
 * before a countdown reaches its reserve (repeat_left()). */
static uint64_t periods_to_skip(const struct repeat *repeat, sim_time period)
{
	const struct sim *sim = repeat->sim;
	uint64_t max = UINT64_MAX;

	for (uint32_t id = 0; id < sim->queue.node_count; id++) {
		sim_time at = sim->queue.nodes[id].at;
		uint64_t free;

		if (repeat->named[id] || !sim_pending(sim, id))
			continue;
		free = at > sim->now ? (at - sim->now - 1) / period : 0;
		max = free < max ? free : max;
	}
	for (size_t i = 0; i < repeat->left_count; i++) {
		const struct repeat_left *left = &repeat->left[i];
		uint64_t rest = repeat->counts.of[left->index];
		uint64_t step = -repeat->growth.of[left->index]; /* growth is negative */
		uint64_t free =
			rest > left->reserve ? (rest - left->reserve) / (step ? step : 1) : 0;

		if (step && free < max)
			max = free;
	}
	return max == UINT64_MAX ? 0 : max; /* no skip if nothing would end it */
}

/* The sum that a recorded fact adds to the digest in all skipped periods. A run that skips periods
 * spends nearly all of its time here. */
static inline __attribute__((always_inline)) uint64_t fact_again(const struct repeat_fact *fact,
								 uint64_t periods, sim_time period)
{
	uint64_t step = fact->stream ? fact->stream->step : 0, sum = 0;

	for (uint64_t n = 1; n <= periods; n++) {
		struct sim at = { .now = fact->at + n * period }; /* sim_fact() reads only `now` */

		sum += sim_fact(&at, fact->entity, (fact->seq + n * step) ^ fact->label);
	}
	return sum;
}

static uint64_t fact_again_anywhere(const struct repeat_fact *fact, uint64_t periods,
				    sim_time period)
{
	return fact_again(fact, periods, period);
}

/* fact_again() for several periods at a time, on processors that multiply vectors of 64-bit words
 * (AVX-512). */
#ifdef __x86_64__
__attribute__((target("avx512f,avx512dq,avx512vl"))) static uint64_t
fact_again_wide(const struct repeat_fact *fact, uint64_t periods, sim_time period)
{
	return fact_again(fact, periods, period);
}

static bool is_wide(void)
{
	return __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#else
#define fact_again_wide fact_again_anywhere

static bool is_wide(void)
{
	return false;
}
#endif

static uint64_t digest_of(const struct repeat *repeat, uint64_t periods, sim_time period)
{
	uint64_t sum = 0;
	bool wide = periods >= WIDE_FROM && is_wide();

	for (size_t i = 0; i < repeat->fact_count; i++)
		sum += (wide ? fact_again_wide : fact_again_anywhere)(&repeat->facts[i], periods,
								      period);
	return sum;
}

static void skip(struct repeat *repeat, sim_time period)
{
	struct sim *sim = repeat->sim;
	uint64_t periods = periods_to_skip(repeat, period), events = sim_event_count(sim);

	if (!periods)
		return;
	repeat->moving = true;
	repeat->next = 0;
	repeat->periods = periods;
	repeat->by = periods * period;
	go_through(repeat);
	repeat->moving = false;
	SIM_BUG_ON(sim_event_count(sim) - events != periods * repeat->fact_count);
	sim->digest += digest_of(repeat, periods, period);
	sim->now += repeat->by;
	repeat->events_skipped += sim_event_count(sim) - events;
	repeat->skips++;
}

/* --- marks --- */

static void forget(struct repeat *repeat)
{
	repeat->marked = 0;
	repeat->equal = 0;
	repeat->recorded = 0;
}

/* Begins the next period and turns recording on or off. When recording changes, the run stops, so
 * that repeat_run() switches between sim_run() and sim_observe(). */
static void record(struct repeat *repeat, bool on)
{
	repeat->switches = repeat->recording != on;
	if (repeat->switches)
		repeat->record(repeat->owner, on);
	repeat->recording = on;
	/* the period that ends now was recorded from its beginning, if nothing has switched */
	repeat->recorded = on && !repeat->switches ? repeat->recorded + 1 : 0;
	if (!repeat->recorded)
		ties_clear(&repeat->ties);
	repeat->last_pattern = repeat->pattern;
	repeat->pattern = repeat->fact_count = 0;
	if (repeat->switches)
		sim_stop(repeat->sim);
}

/* The price of a look that found the state not equal: at least 1, and more the longer the look took
 * in relation to the events simulated since the last mark. */
static unsigned price(const struct repeat *repeat)
{
	uint64_t words = repeat->same.count + repeat->counts.count;
	/* the last count is the number of events, see go_through() */
	uint64_t events =
		repeat->growth.count ? repeat->growth.of[repeat->growth.count - 1] : words;

	return 1 + (unsigned)(words / (WORDS_AN_EVENT * (events + 1)));
}

/* Whether the run can afford that `looks` more looks find the state not equal. */
static bool can_afford(const struct repeat *repeat, uint64_t looks)
{
	uint64_t words = repeat->same.count + repeat->counts.count;
	uint64_t events = sim_event_count(repeat->sim);

	return repeat->wasted + looks * words <=
	       LOOKS_FREE * words + events / LOOKS_SHARE * WORDS_AN_EVENT;
}

/* Looks at the state after a mark, when all other events of this time have run. */
static void on_look(struct sim *sim, uint32_t entity, void *owner)
{
	struct repeat *repeat = owner;
	sim_time period = sim->now - repeat->marked;
	bool equal;

	(void)entity;
	sim->uncounted++;
	if (!repeat->leader) {
		record(repeat, false);
		return;
	}
	if (!repeat->marked && !can_afford(repeat, REPEAT_PERIODS))
		return;
	read_state(repeat);
	equal = repeat->marked && !repeat->never && equal_words(&repeat->same, &repeat->last_same);
	equal &= grew_alike(repeat); /* always called, because it also notes the growth */
	equal &= !repeat->recorded || repeat->pattern == repeat->last_pattern;
	repeat->equal = equal ? repeat->equal + 1 : 0;
	repeat->failed = equal ? 0 : repeat->failed + price(repeat);
	if (repeat->equal >= REPEAT_PERIODS && ties_decide_nothing(&repeat->ties)) {
		skip(repeat, period);
		record(repeat, false);
		forget(repeat); /* before the next skip, periods are recorded anew */
		return;
	}
	if (!equal)
		repeat->wasted += repeat->same.count + repeat->counts.count;
	if (repeat->never)
		repeat->same.count = 0; /* so that the next state cannot equal this one */
	swap(&repeat->same, &repeat->last_same);
	swap(&repeat->counts, &repeat->last_counts);
	repeat->marked = equal || can_afford(repeat, 1) ? sim->now : 0;
	record(repeat, equal);
}

bool repeat_mark(struct repeat *repeat, const void *who)
{
	if (repeat->leader && repeat->leader != who)
		return false;
	repeat->leader = who;
	timer_set(repeat->sim, &repeat->look, repeat->sim->now);
	return true;
}

void repeat_leave(struct repeat *repeat, const void *who)
{
	if (repeat->leader != who)
		return;
	repeat->leader = NULL;
	repeat->failed /= 2; /* the next leader may do better */
	forget(repeat);
	/* Recording ends in on_look(), because its end stops the run for a moment. In an event of
	 * its own, this stop cannot be mistaken for somebody else's sim_stop(). */
	if (repeat->recording)
		timer_set(repeat->sim, &repeat->look, repeat->sim->now);
	else
		timer_cancel(repeat->sim, &repeat->look);
}

uint64_t repeat_distance(const struct repeat *repeat, uint64_t min)
{
	unsigned shift = repeat->failed / (2 * REPEAT_PERIODS);

	return min << (shift < DISTANCE_SHIFT_MAX ? shift : DISTANCE_SHIFT_MAX);
}

uint64_t repeat_to_come(const struct repeat *repeat, const void *who)
{
	if (repeat->leader != who || !repeat->marked)
		return 2 * (REPEAT_PERIODS + 1);
	return repeat->equal < REPEAT_PERIODS ? REPEAT_PERIODS - repeat->equal : 1;
}

/* --- running --- */

/* Hash of a fact relative to the mark, so that the same fact has the same hash in each period. */
static uint64_t fact_hash(const struct repeat_fact *fact, sim_time marked)
{
	uint64_t seq = fact->seq - (fact->stream ? fact->stream->base : 0);

	return hash_pair(hash_pair(fact->at - marked, fact->entity), hash_pair(seq, fact->label));
}

void repeat_meeting(struct repeat *repeat, uint32_t place, const struct repeat_fact *fact)
{
	ties_note(&repeat->ties, place, repeat->sim->now,
		  fact ? fact_hash(fact, repeat->marked) : repeat->event, repeat->fact_count);
}

static void before(void *owner, const struct sim_event *event)
{
	struct repeat *repeat = owner;
	struct repeat_fact fact = { .at = event->at, .entity = event->key };

	SIM_BUG_ON(!repeat->recording);
	if (event->entity < repeat->sim->block_count) {
		uint32_t place = repeat->fact(repeat->owner, event->entity, &fact);

		fact.entity = event->entity; /* as in hop_note(): the port's number, not its key */
		if (place != REPEAT_NO_PLACE)
			ties_note(&repeat->ties, place, fact.at, hash_pair(fact.entity, fact.label),
				  repeat->fact_count);
	}
	repeat->event = fact_hash(&fact, repeat->marked);
	repeat->pattern += repeat->event;
	repeat->facts = array_reserve(repeat->facts, repeat->fact_count, &repeat->fact_capacity,
				      sizeof(*repeat->facts));
	repeat->facts[repeat->fact_count++] = fact;
}

static void after(void *owner, const struct sim_event *event)
{
	(void)owner, (void)event;
}

bool repeat_run(struct repeat *repeat, uint64_t budget)
{
	const struct sim_observer observer = { .before = before, .after = after, .owner = repeat };
	struct sim *sim = repeat->sim;
	bool more;

	do {
		repeat->switches = false;
		more = repeat->recording ? sim_observe(sim, budget, &observer)
					 : sim_run(sim, budget);
		if (repeat->switches)
			sim->stopped = false;
	} while (repeat->switches);
	return more;
}

void repeat_init(struct repeat *repeat, struct sim *sim)
{
	*repeat = (struct repeat){ .sim = sim };
	timer_open(sim, &repeat->look, SIM_SAMPLE, sim_key(SIM_SAMPLE, LOOK_NUMBER), on_look,
		   repeat);
}

void repeat_release(struct repeat *repeat)
{
	free(repeat->same.of);
	free(repeat->counts.of);
	free(repeat->last_same.of);
	free(repeat->last_counts.of);
	free(repeat->growth.of);
	free(repeat->left);
	free(repeat->named);
	free(repeat->facts);
	ties_release(&repeat->ties);
}
