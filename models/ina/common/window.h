/* The congestion window of a worker under ATP and ESA, with loss detection and the retransmission
 * timeout.
 *
 * Chunks are numbered from 0 for the life of the job. The window begins at the oldest chunk without
 * a result:
 *
 *     results ... | first  (some results) ... next ) ... first + cwnd )
 *
 *     next <= first + floor(cwnd / frame),    at least one packet
 *
 * The window grows by `increase` bytes with each window of results without marks (of all results if
 * `halve_on` is nothing), and is halved at most once per window. A mark on the result of chunk p,
 * or the loss of p, halves the window, as far as `halve_on` lets it, if
 *
 *     p >= reduced;    then reduced = first + floor(cwnd / frame), with cwnd before the halving
 *
 * With `halve_on: share`, chunks that others have overtaken cut the window as marks do in DCTCP
 * (RFC 8257, section 3.3). When all n chunks of a window have results, and k of the chunks had been
 * declared lost,
 *
 *     share += (k / n - share) / 16;    if k > 0: cwnd *= 1 - share / 2
 *
 * The second step is left out if all n chunks were allowed before the last halving. `share` begins
 * at 0. A chunk that collides takes the detour through its server, and others overtake it without
 * any loss. So here a hole is weaker evidence of congestion than in TCP.
 *
 * `reduced` counts the chunks that the window has allowed, not those that the NIC has sent. So
 * workers that receive the same results have the same windows, even if one starts late. There is no
 * slow start: its threshold would be the initial window, and later the window after the last
 * halving, and no window is ever below that.
 *
 * A chunk is declared lost when a result `gap` or more chunks further on has come, or when a
 * retransmission timeout (RFC 6298's estimator) has passed. The scheme decides what to do then.
 * Chunks to different servers take different paths, so only chunks of the same server count as
 * overtaking ("class": chunk mod classes).
 *
 * A timeout may leave a window smaller than what is in flight. Then no new chunk can go that would
 * overtake those that wait, and each waits for a timeout of its own. So under ATP (`probes`) the
 * next results that move the window on let one new chunk out, the probe, as in F-RTO (RFC 5682,
 * section 2.1) and as in ATP's public code, where timeouts do not cut the window. Under ESA the
 * server's timer fetches all that waits in switches.
 *
 * Karn's rule (RFC 6298, section 3) has to go further than in TCP. A result is a sum, so its round
 * trip includes the timeout of any worker that retransmitted. A worker that waits for a lost chunk
 * also holds back its later chunks, and its peers wait for these. So after a timeout, or a result
 * with a retransmitted contribution, no chunk in flight is a sample. Otherwise timeouts would be
 * each other's samples, and grow together up to the limit. */
#ifndef INASIM_INA_COMMON_WINDOW_H
#define INASIM_INA_COMMON_WINDOW_H

#include "ina/common/rto.h"
#include "why/why.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window_conf {
	bytes initial;       /* at the start */
	bytes max;           /* 0 = no limit */
	bytes increase;      /* per window of results */
	int64_t gap;         /* a hole so many chunks of its class before the newest is a loss */
	struct rto_conf rto; /* its rule is adaptive */
	sim_time max_rto;    /* doubling ends here */
	int timeout_resends; /* enum timeout_resends */
	int halve_on;        /* enum halve_on */
	bool probes;         /* a timeout is followed by a probe */
};

/* Every hole, a chunk that results have overtaken, has a timeout. Of the chunks that none has
 * overtaken, only the window's oldest has one (TIMEOUT_FIRST), or each (TIMEOUT_ALL). */
enum timeout_resends { TIMEOUT_FIRST, TIMEOUT_ALL };

/* What cuts the window. MARK: ECN marks halve it. TIMEOUT: timeouts halve it, too. SHARE: overtaken
 * chunks also cut it, by their share. LOSS: marks and all losses halve it. */
enum halve_on { HALVE_ON_NOTHING, HALVE_ON_MARK, HALVE_ON_TIMEOUT, HALVE_ON_SHARE, HALVE_ON_LOSS };

#define WINDOW_ACTED_PS   4 /* unit of window_chunk.acted, whose 62 bits then hold any sim_time */
#define WINDOW_ACTED_MASK ((UINT64_C(1) << 62) - 1)

/* Eight bytes, because a large run uses these rings most. */
struct window_chunk {
	uint64_t acted : 62; /* when it was last sent or declared lost, in units of 4 ps */
	uint64_t done : 1;   /* its result is here */
	uint64_t again : 1;  /* has been declared lost, so it is no round-trip sample */
};

/* Chunks of one server. */
struct window_class {
	uint64_t newest; /* 1 + the newest chunk that has a result */
	uint64_t looked; /* next chunk to check; all holes before it have been declared lost */
};

#define WINDOW_CLASSES_MAX 8

/* Sorted by use: sending takes the first line of cache and the head of the second, a result the
 * first three, losses the rest. */
struct window {
	uint64_t first;            /* oldest without a result */
	uint64_t next;             /* first not yet sent */
	uint64_t limit;            /* cwnd in packets */
	struct window_chunk *ring; /* chunk p at [p & mask] */
	uint64_t mask;
	uint64_t lost_count;            /* chunks in `lost` */
	const struct window_conf *conf; /* not owned */
	uint32_t classes;
	unsigned backoff; /* rounds of timeouts since the last result: each doubles the timeout */

	struct rto rto;    /* follows the round trips */
	sim_time progress; /* time of the last result, or of the first packet after a pause */
	uint64_t credit;   /* results since the last increase or halving */

	uint64_t cwnd;      /* bytes */
	uint64_t unsampled; /* chunks below are no round-trip samples */
	uint64_t round_end; /* end of the round: the window of chunks that next changes `share` */
	uint64_t round_size;
	uint64_t suspected; /* chunks of the round, declared lost before their result came */
	uint64_t probe;     /* chunks below may go after a timeout; 0 = as `limit` says */
	struct window_class class[WINDOW_CLASSES_MAX];

	double share; /* running mean of suspected / round_size */

	uint64_t reduced; /* chunks below were allowed before the last halving */
	sim_time doubled; /* when `backoff` last grew */
	uint64_t *lost;   /* ring of chunks for window_take_lost() */
	uint64_t lost_head, lost_mask;
	uint64_t reductions, timeouts;
	sim_time expired, waited; /* the last timeout; time without a result that timeouts ended */
	uint64_t overtakes;       /* results that came before an earlier chunk's */
	enum why_cut cut;         /* cause of the last cut, while cwnd is below its initial value */
	uint32_t frame;           /* bytes of a packet */
};

static_assert(offsetof(struct window, rto) == 64, "sending needs little of the second line");
static_assert(offsetof(struct window, cwnd) == 128, "a result touches three lines");

void window_init(struct window *window, const struct window_conf *conf, uint32_t frame,
		 uint32_t classes);
void window_release(struct window *window);

/* Whether the next chunk may go, if `available` chunks have been handed over. */
static inline bool window_may_send(const struct window *window, uint64_t available)
{
	return window->next < available && window->next < window->first + window->limit;
}

/* Sends the next chunk; returns its number. */
uint64_t window_send(struct window *window, sim_time now);

/* Takes the result of a chunk. Returns false if it was there already. */
bool window_result(struct window *window, uint64_t chunk, bool marked, sim_time now);

/* Moves the window on as results of the `results` oldest chunks would, in order and without marks.
 * The caller updates the round-trip estimate, and `newest` and `looked` of the classes. */
void window_results(struct window *window, uint64_t results);

/* No chunk in flight is a round-trip sample. Call this after a timeout, and before window_result()
 * if the result includes a retransmitted contribution. */
static inline void window_no_samples(struct window *window)
{
	window->unsampled = window->next;
}

/* Takes the next chunk that was declared lost and still has no result. Returns false if there is
 * none. */
bool window_take_lost(struct window *window, uint64_t *chunk, sim_time now);

static inline bool window_has_lost(const struct window *window)
{
	return window->lost_count != 0;
}

static inline sim_time window_rto(const struct window *window)
{
	sim_time rto = window->rto.timeout << window->backoff;

	return rto < window->conf->max_rto ? rto : window->conf->max_rto;
}

/* For alarm_set(), after a packet was sent or a result came at `now`: the earliest timeout of that
 * packet, or of chunks after the newest result; SIM_TIME_MAX if nothing is in flight. The timeout
 * of a hole may be due earlier (window_due()). */
static inline sim_time window_timeout(const struct window *window, sim_time now)
{
	return window->first == window->next ? SIM_TIME_MAX : now + window_rto(window);
}

/* When the first timeout is due; SIM_TIME_MAX = never. Goes through all chunks in flight. */
sim_time window_due(const struct window *window);

/* Declares lost all chunks whose timeout is due. The timeout doubles if one of them began to wait
 * after the last doubling. So it doubles once a round trip, not once a chunk. */
void window_expire(struct window *window, sim_time now);

/* Whether the result of a chunk has come. */
static inline bool window_has(const struct window *window, uint64_t chunk)
{
	return chunk < window->first ||
	       (chunk < window->next && window->ring[chunk & window->mask].done);
}

/* The number closest to `near` that has these low 32 bits. */
static inline uint64_t chunk_near(uint64_t near, uint32_t low)
{
	return near + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)near);
}

#endif
