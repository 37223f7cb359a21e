#include "ina/common/window.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/ring.h"

#include <stdlib.h>

#define RING_FIRST  256 /* a power of two */
#define BACKOFF_MAX 20
#define SHARE_GAIN  (1. / 16)  /* RFC 8257, section 4.2 */
#define PROBE_NEXT  UINT64_MAX /* a timeout has run out, and the window has not moved since */

static void set_cwnd(struct window *window, uint64_t cwnd)
{
	if (window->conf->max && cwnd > window->conf->max)
		cwnd = window->conf->max;
	if (cwnd < window->frame)
		cwnd = window->frame;
	window->cwnd = cwnd;
	window->limit = cwnd / window->frame;
}

static void begin_round(struct window *window)
{
	window->round_end = window->first + window->limit;
	window->round_size = window->limit;
	window->suspected = 0;
}

void window_init(struct window *window, const struct window_conf *conf, uint32_t frame,
		 uint32_t classes)
{
	*window = (struct window){
		.conf = conf, .frame = frame, .classes = classes, .mask = RING_FIRST - 1
	};
	SIM_BUG_ON(!classes || classes > WINDOW_CLASSES_MAX);
	for (uint32_t c = 0; c < classes; c++)
		window->class[c].looked = c;
	rto_init(&window->rto, &conf->rto);
	set_cwnd(window, conf->initial);
	begin_round(window);
	window->ring = xcalloc(RING_FIRST, sizeof(*window->ring));
}

void window_release(struct window *window)
{
	free(window->ring);
	free(window->lost);
}

static struct window_chunk *chunk_at(const struct window *window, uint64_t chunk)
{
	return &window->ring[chunk & window->mask];
}

static sim_time acted_at(const struct window_chunk *entry)
{
	return (sim_time)entry->acted * WINDOW_ACTED_PS;
}

uint64_t window_send(struct window *window, sim_time now)
{
	/* only when full: ESA models caches of twice this size (result_cache.h) */
	if (__builtin_expect(window->next - window->first > window->mask, 0))
		window->ring = ring_widen(window->ring, &window->mask, window->first, window->next,
					  sizeof(*window->ring));
	*chunk_at(window, window->next) =
		(struct window_chunk){ .acted = now / WINDOW_ACTED_PS & WINDOW_ACTED_MASK };
	if (window->first == window->next)
		window->progress = now; /* nothing was in flight: nothing is late */
	return window->next++;
}

/* --- congestion control --- */

static void cut(struct window *window, uint64_t cwnd, enum why_cut cause)
{
	window->reductions++;
	set_cwnd(window, cwnd);
	if (window->cwnd < window->conf->initial)
		window->cut = cause;
}

/* Halves the window, because the result of `chunk` is marked or because the chunk is lost. A chunk
 * that was allowed before the last halving does not count, even if the NIC sends it only now.
 * Otherwise workers that receive the same results would disagree on which chunks count. */
static void reduce(struct window *window, uint64_t chunk, enum why_cut cause)
{
	if (chunk < window->reduced)
		return;
	window->reduced = window->first + window->limit;
	cut(window, window->cwnd / 2, cause);
	window->credit = 0;
}

/* A window of results is complete. The cut comes a window after the holes, so it keeps `credit`,
 * the growth that results have earned meanwhile. */
static void end_round(struct window *window)
{
	double share = (double)window->suspected / (double)window->round_size;

	window->share += (share - window->share) * SHARE_GAIN;
	if (window->suspected && window->round_end > window->reduced &&
	    window->conf->halve_on == HALVE_ON_SHARE)
		cut(window, (uint64_t)((double)window->cwnd * (1 - window->share / 2)),
		    WHY_CUT_BY_LOSSES);
	begin_round(window);
}

static void increase(struct window *window)
{
	if (++window->credit < window->limit)
		return;
	window->credit = 0;
	set_cwnd(window, window->cwnd + window->conf->increase);
	if (window->cwnd >= window->conf->initial)
		window->cut = WHY_UNCUT;
}

/* --- losses --- */

/* `cause` is the lowest `halve_on` that lets this loss halve the window. */
static void declare_lost(struct window *window, uint64_t chunk, enum halve_on cause, sim_time now)
{
	struct window_chunk *entry = chunk_at(window, chunk);
	uint64_t end = window->lost_head + window->lost_count;

	if (window->conf->halve_on >= (int)cause)
		reduce(window, chunk, WHY_CUT_BY_LOSSES);
	entry->acted = now / WINDOW_ACTED_PS & WINDOW_ACTED_MASK;
	entry->again = true;
	window->lost = ring_reserve(window->lost, &window->lost_mask, window->lost_head, end,
				    sizeof(*window->lost));
	window->lost[end & window->lost_mask] = chunk;
	window->lost_count++;
}

bool window_take_lost(struct window *window, uint64_t *chunk, sim_time now)
{
	while (window->lost_count) {
		*chunk = window->lost[window->lost_head++ & window->lost_mask];
		window->lost_count--;
		if (*chunk < window->first || chunk_at(window, *chunk)->done)
			continue;
		chunk_at(window, *chunk)->acted = now / WINDOW_ACTED_PS & WINDOW_ACTED_MASK;
		return true;
	}
	return false;
}

static struct window_class *class_of(struct window *window, uint64_t chunk)
{
	return &window->class[window->classes == 1 ? 0 : chunk % window->classes];
}

/* Declares lost, once, every hole that is `gap` chunks or more behind the newest result of its
 * class. */
static void look_for_holes(struct window *window, struct window_class *class, sim_time now)
{
	uint64_t step = window->classes, gap = (uint64_t)window->conf->gap * step;

	while (class->looked + gap < class->newest) {
		if (class->looked >= window->first) {
			const struct window_chunk *entry = chunk_at(window, class->looked);

			if (!entry->done && !entry->again)
				declare_lost(window, class->looked, HALVE_ON_LOSS, now);
		}
		class->looked += step;
	}
}

/* When the timeout of a chunk in flight is due; SIM_TIME_MAX: the chunk has none now. */
static sim_time due_at(const struct window *window, uint64_t chunk)
{
	const struct window_chunk *entry = chunk_at(window, chunk);
	bool hole = chunk < window->class[chunk % window->classes].newest;
	sim_time since = acted_at(entry);

	if (entry->done)
		return SIM_TIME_MAX;
	if (!hole && chunk > window->first && window->conf->timeout_resends == TIMEOUT_FIRST)
		return SIM_TIME_MAX;
	if (!hole && since < window->progress)
		since = window->progress; /* results still come, so nothing is late */
	return since + window_rto(window);
}

sim_time window_due(const struct window *window)
{
	sim_time due = SIM_TIME_MAX;

	for (uint64_t p = window->first; p < window->next; p++) {
		sim_time at = due_at(window, p);

		due = at < due ? at : due;
	}
	return due;
}

void window_expire(struct window *window, sim_time now)
{
	sim_time rto = window_rto(window);
	bool any = false, anew = false;

	for (uint64_t p = window->first; p < window->next; p++) {
		sim_time due = due_at(window, p);

		if (due > now)
			continue;
		anew |= due - rto >= window->doubled; /* due - rto: when its wait began */
		declare_lost(window, p, HALVE_ON_TIMEOUT, now);
		any = true;
	}
	if (any) {
		window->timeouts++;
		window->waited += now - (window->progress > window->expired ? window->progress
									    : window->expired);
		window->expired = now;
		window->probe = window->conf->probes ? PROBE_NEXT : 0;
		window_no_samples(window);
	}
	if (anew && window->backoff < BACKOFF_MAX && rto < window->conf->max_rto) {
		window->backoff++;
		window->doubled = now;
	}
}

/* --- results --- */

/* The window has moved on after a timeout: what is in flight does not grow by the new chunk. */
static void probe(struct window *window)
{
	uint64_t own = window->cwnd / window->frame;

	if (window->probe == PROBE_NEXT)
		window->probe = window->next + 1;
	if (window->probe <= window->first + own)
		window->probe = 0;
	window->limit = window->probe ? window->probe - window->first : own;
}

bool window_result(struct window *window, uint64_t chunk, bool marked, sim_time now)
{
	struct window_class *class = class_of(window, chunk);
	uint64_t first = window->first;
	struct window_chunk *entry;

	SIM_BUG_ON(chunk >= window->next);
	if (chunk < first)
		return false;
	entry = chunk_at(window, chunk);
	if (entry->done)
		return false;
	entry->done = true;
	if (!entry->again && chunk >= window->unsampled)
		rto_sample(&window->rto, now - acted_at(entry));
	else
		rto_answered(&window->rto);
	window->backoff = 0;
	window->progress = now;
	if (marked && window->conf->halve_on >= HALVE_ON_MARK)
		reduce(window, chunk, WHY_CUT_BY_MARKS);
	else
		increase(window);
	window->overtakes += chunk != first;
	if (chunk >= class->newest)
		class->newest = chunk + 1;
	while (window->first < window->next && chunk_at(window, window->first)->done) {
		window->suspected += chunk_at(window, window->first)->again;
		if (++window->first == window->round_end)
			end_round(window);
	}
	if (__builtin_expect(window->probe && window->first > first, 0))
		probe(window);
	look_for_holes(window, class, now);
	return true;
}

void window_results(struct window *window, uint64_t results)
{
	while (results) {
		uint64_t to_increase =
			window->limit > window->credit ? window->limit - window->credit : 1;
		uint64_t to_round = window->round_end - window->first, step = results;

		step = step < to_increase ? step : to_increase;
		step = step < to_round ? step : to_round;
		window->credit += step - 1;
		increase(window); /* counts the last of the step */
		window->first += step;
		if (window->first == window->round_end)
			end_round(window);
		results -= step;
	}
}
