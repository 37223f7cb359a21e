/* The sending window of a worker under ATP and ESA: what is in flight, what seems lost, how fast to
 * send.
 *
 * Chunks are numbered from 0 for the life of the job. The window begins at the oldest chunk without
 * a result:
 *
 *     results ... | first  (some results) ... next ) ... first + cwnd )
 *
 *     next <= first + floor(cwnd / frame),    at least one packet
 *
 * It grows by `increase` bytes a window, and is halved at most once for all that one window has
 * allowed. A mark on the result of chunk p, or the loss of p, halves it if
 *
 *     p >= reduced;    then reduced = first + floor(cwnd / frame), with cwnd before the halving
 *
 * With `halve_on: share` chunks that others have overtaken cut it as marks do in DCTCP (RFC 8257,
 * section 3.3). When a window of n chunks has results, of which k had been declared lost,
 *
 *     share += (k / n - share) / 16;    if k > 0: cwnd *= 1 - share / 2
 *
 * unless that window had been allowed before the last halving. `share` begins at 0. A chunk that
 * collides comes by way of its server and is overtaken by others without any loss. So here, unlike
 * in TCP, a hole is weak evidence of congestion.
 *
 * What the window has allowed counts, not what the NIC has taken: so workers that receive the same
 * results have the same windows, even if one of them starts late. There is no slow start. Its
 * threshold would be the initial window, and later the window after the last halving; no window is
 * ever below either.
 *
 * A chunk seems lost when a result `gap` or more chunks further on has come, or when a
 * retransmission timeout (RFC 6298's estimator) has passed. What is done about it is the scheme's
 * business. Chunks to different servers take different paths, so a chunk is overtaken only by those
 * of the same server ("class", chunk mod classes).
 *
 * Karn's rule (RFC 6298, section 3) has to go further than in TCP. A result is a sum, so its round
 * trip holds the timeout of any worker that had to send again. And a worker that waits for a lost
 * chunk holds back what comes behind it, for which its peers wait in turn. So when a timeout runs
 * out, or a result says that somebody sent again, no chunk in flight is a sample. Otherwise
 * timeouts would be each other's samples, and grow together up to the limit. */
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
	int64_t gap;         /* a hole this many chunks behind the newest result is a loss */
	struct rto_conf rto; /* its rule is adaptive */
	sim_time max_rto;    /* doubling ends here */
	int timeout_resends; /* enum timeout_resends */
	int halve_on;        /* enum halve_on */
};

/* Which of the chunks sent after that of the newest result a timeout declares lost: the oldest
 * chunk of the window alone, or all. */
enum timeout_resends { TIMEOUT_FIRST, TIMEOUT_ALL };

/* What cuts the window: nothing; ECN marks halve it; timeouts halve it, too; besides both,
 * overtaken chunks cut it by their share; marks and all that seems lost halve it. */
enum halve_on { HALVE_ON_NOTHING, HALVE_ON_MARK, HALVE_ON_TIMEOUT, HALVE_ON_SHARE, HALVE_ON_LOSS };

#define WINDOW_ACTED_PS   4 /* unit of window_chunk.acted, whose 62 bits then hold any sim_time */
#define WINDOW_ACTED_MASK ((UINT64_C(1) << 62) - 1)

/* Eight bytes: a large run touches these rings most. */
struct window_chunk {
	uint64_t acted : 62; /* when it was last sent or declared lost, in units of 4 ps */
	uint64_t done : 1;   /* its result is here */
	uint64_t again : 1;  /* has been declared lost: no sample of the round trip */
};

/* Chunks of one server. */
struct window_class {
	uint64_t newest; /* 1 + the newest chunk that has a result */
	uint64_t looked; /* the next chunk to look at; earlier holes have been declared lost once */
};

#define WINDOW_CLASSES_MAX 8

/* Sending a packet touches the first line of cache, and reads the timeout. A result touches two
 * lines more, losses the rest. */
struct window {
	uint64_t first;            /* oldest without a result */
	uint64_t next;             /* first not yet sent */
	uint64_t limit;            /* cwnd in packets */
	struct window_chunk *ring; /* chunk p at [p & mask] */
	uint64_t mask;
	uint64_t lost_count;            /* declared lost, waiting for the scheme */
	const struct window_conf *conf; /* not owned */
	uint32_t classes;
	unsigned backoff; /* rounds of timeouts since the last result: each doubles the timeout */

	struct rto rto;    /* follows the round trips */
	sim_time progress; /* time of the last result, or of the first packet after a pause */
	uint64_t credit;   /* results since the last increase */

	uint64_t cwnd;      /* bytes */
	uint64_t unsampled; /* chunks below are no samples of the round trip */
	uint64_t round_end; /* end of the window of chunks (round) that changes `share` next */
	uint64_t round_size;
	uint64_t suspected; /* chunks of the round, declared lost before their result came */
	struct window_class class[WINDOW_CLASSES_MAX];

	double share; /* running mean of suspected / round_size */

	uint64_t reduced; /* chunks below were allowed before the last halving */
	sim_time doubled; /* when `backoff` last grew */
	uint64_t *lost;   /* ring of the chunks that window_take_lost() gives out */
	uint64_t lost_head, lost_mask;
	uint64_t reductions, timeouts;
	uint64_t overtakes; /* results that came before that of an earlier chunk */
	enum why_cut cut;   /* what has last halved cwnd, while it is below the initial one */
	uint32_t frame;     /* bytes of a packet */
};

static_assert(offsetof(struct window, rto) == 64, "what is sent touches one line");
static_assert(offsetof(struct window, cwnd) == 128, "a result touches three");

void window_init(struct window *window, const struct window_conf *conf, uint32_t frame,
		 uint32_t classes);
void window_release(struct window *window);

/* May the next chunk go, if `available` chunks have been handed over? */
static inline bool window_may_send(const struct window *window, uint64_t available)
{
	return window->next < available && window->next < window->first + window->limit;
}

/* Sends the next chunk; returns its number. */
uint64_t window_send(struct window *window, sim_time now);

/* A result has come. False when it was there already. */
bool window_result(struct window *window, uint64_t chunk, bool marked, sim_time now);

/* Moves the window on as `results` results of the oldest chunks would, none of them marked or late.
 * The round-trip estimate, and `newest` and `looked` of the classes, are left to the caller. */
void window_results(struct window *window, uint64_t results);

/* The next result holds a contribution that a worker had to send again, and with it that worker's
 * timeout: neither this result nor any other chunk in flight is a sample of the round trip. */
static inline void window_no_samples(struct window *window)
{
	window->unsampled = window->next;
}

/* Takes the next chunk that was declared lost and still has no result. */
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

/* For alarm_set(): when a packet that was sent just now, or a result that came just now, may lead
 * to a timeout; SIM_TIME_MAX = nothing is in flight. */
static inline sim_time window_timeout(const struct window *window, sim_time now)
{
	return window->first == window->next ? SIM_TIME_MAX : now + window_rto(window);
}

/* When the first timeout is due as things are; SIM_TIME_MAX = never. Goes through all that is in
 * flight. */
sim_time window_due(const struct window *window);

/* The timer has run out: declares lost what has waited too long. The timeout doubles if one of
 * these chunks has waited only since the timeout last doubled: so once a round trip, not once a
 * chunk. */
void window_expire(struct window *window, sim_time now);

/* The result of a chunk that was handed over is here. */
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
