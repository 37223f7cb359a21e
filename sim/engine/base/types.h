/* Scalar types of the whole program.
 *
 * Time is an unsigned count of picoseconds: 2^64 ps is 213 days, and a byte at
 * 800 Gbps is still 10 ps. Sizes are bytes, rates are bits per second. Simulated
 * times are integers, never floating point (determinism). */
#ifndef INASIM_BASE_TYPES_H
#define INASIM_BASE_TYPES_H

#include <stdint.h>

typedef uint64_t sim_time; /* picoseconds since the start of the simulation */
typedef uint64_t bytes;
typedef uint64_t bps; /* bits per second */

#define PS_PER_NS UINT64_C(1000)
#define PS_PER_US UINT64_C(1000000)
#define PS_PER_MS UINT64_C(1000000000)
#define PS_PER_S  UINT64_C(1000000000000)

/* "Never": later than every event of a run. Do not compute with it. */
#define SIM_TIME_MAX UINT64_MAX

/* No event's time may come from it: it is rounded. */
static inline double seconds_of(sim_time t)
{
	return (double)t / (double)PS_PER_S;
}

#endif
