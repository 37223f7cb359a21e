#include "lab/regress/fingerprint.h"

uint64_t fingerprint_count(uint64_t events)
{
	const uint64_t exact = UINT64_C(1) << FINGERPRINT_EXACT;
	uint64_t count = exact, octave = exact;

	if (events <= exact)
		return events;
	for (; octave <= events / 2; octave *= 2) /* whole octaves */
		count += UINT64_C(1) << FINGERPRINT_OCTAVE;
	count += (events - octave) / fingerprint_step(events); /* in the last octave */
	return count + !fingerprint_due(events);               /* the one after the last event */
}
