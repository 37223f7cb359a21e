/* Fingerprints of the stream of events: 16 bits of the digest, taken after chosen events, so that a
 * later run can be held against an earlier one event by event without a log of it.
 *
 * They are taken after each of the first 8,192 events; then after every 32nd up to the 16,384th,
 * every 64th up to the 32,768th and so on, 256 in each octave; and after the last event. So a
 * hundred million events take 24 kB. The first difference is known exactly if it comes early, and
 * else to 1/256 of its number (to know it exactly everywhere would take at least a bit per event).
 * A difference that a fingerprint misses by chance (2^-16) is found at the next one. */
#ifndef INASIM_LAB_REGRESS_FINGERPRINT_H
#define INASIM_LAB_REGRESS_FINGERPRINT_H

#include "core/observe.h"

#define FINGERPRINT_EXACT  13 /* log2 of the number of events at the start that have one each */
#define FINGERPRINT_OCTAVE 8  /* log2 of the number of fingerprints in each octave after them */

/* Events from one fingerprint to the next, at event `number`. */
static inline uint64_t fingerprint_step(uint64_t number)
{
	unsigned octave = 63 - (unsigned)__builtin_clzll(number | 1);

	return octave < FINGERPRINT_EXACT ? 1 : UINT64_C(1) << (octave - FINGERPRINT_OCTAVE);
}

/* Whether one is taken after event `number`, even if it is not the last. */
static inline bool fingerprint_due(uint64_t number)
{
	return !(number & (fingerprint_step(number) - 1));
}

/* How many fingerprints a run of so many events has, with that after its last event. */
uint64_t fingerprint_count(uint64_t events);

/* The fingerprint of what has happened so far. The handler of the last event must have run. */
static inline uint16_t fingerprint_now(const struct sim *sim)
{
	return (uint16_t)(sim_run_digest(sim) >> 48);
}

#endif
