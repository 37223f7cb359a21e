/* Fingerprints: 16 bits of the digest, taken after chosen events. With them a later run can be
 * compared with an earlier one, event by event, although no log of the earlier run was kept.
 *
 * A fingerprint is taken after each of the first 8,192 events; then after every 32nd up to the
 * 16,384th, every 64th up to the 32,768th and so on: 256 in each octave. The last is taken after
 * the last event. So a hundred million events take 24 kB. The first event that differs between two
 * runs is known exactly among the first 8,192, else to 1/256 of its number. (To know every event
 * exactly would take at least one bit per event.) With a probability of 2^-16, two different runs
 * have equal fingerprints by chance; the next fingerprint then shows the difference. */
#ifndef INASIM_LAB_REGRESS_FINGERPRINT_H
#define INASIM_LAB_REGRESS_FINGERPRINT_H

#include "core/observe.h"

#define FINGERPRINT_EXACT  13 /* log2 of the number of first events, each with a fingerprint */
#define FINGERPRINT_OCTAVE 8  /* log2 of the number of fingerprints in each later octave */

/* Distance between fingerprints around event `number`, in events; a power of 2. */
static inline uint64_t fingerprint_step(uint64_t number)
{
	/* log2, rounded down; | 1 since it is not defined for 0 */
	unsigned octave = 63 - (unsigned)__builtin_clzll(number | 1);

	return octave < FINGERPRINT_EXACT ? 1 : UINT64_C(1) << (octave - FINGERPRINT_OCTAVE);
}

/* Whether a fingerprint is taken after event `number`, even if more events follow. */
static inline bool fingerprint_due(uint64_t number)
{
	return !(number & (fingerprint_step(number) - 1));
}

/* How many fingerprints a run of `events` events has, including the one after its last event. */
uint64_t fingerprint_count(uint64_t events);

/* The fingerprint of all events so far. The handler of the last event must have returned. */
static inline uint16_t fingerprint_now(const struct sim *sim)
{
	return (uint16_t)(sim_run_digest(sim) >> 48);
}

#endif
