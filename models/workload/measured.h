/* The measured window of a run: which work enters the statistics.
 *
 * Flows and jobs count by when they start and arrive: what came during the
 * warm-up, or after the window, runs all the same and loads the network, but is
 * not averaged. Ending the window before the run lets what it holds finish; else
 * the longest of it is still under way at the end and its mean is too small. */
#ifndef INASIM_WORKLOAD_MEASURED_H
#define INASIM_WORKLOAD_MEASURED_H

#include "base/types.h"

#include <stdbool.h>

struct measured_window {
	sim_time from, to; /* from <= measured < to; SIM_TIME_MAX = to the end */
};

static inline bool measured_has(const struct measured_window *window, sim_time at)
{
	return at >= window->from && at < window->to;
}

#endif
