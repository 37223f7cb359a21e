/* The measured window of a run: which work enters the statistics.
 *
 * A flow counts if it starts, a job if it arrives, in the window. Others run and load the network,
 * but do not enter averages. The window should end early enough for its work to finish before the
 * run does: the means leave out work that is unfinished at the end, although it takes longest. */
#ifndef INASIM_WORKLOAD_MEASURED_H
#define INASIM_WORKLOAD_MEASURED_H

#include "base/types.h"

#include <stdbool.h>

struct measured_window {
	sim_time from, to; /* from <= measured < to; `to` SIM_TIME_MAX = the end of the run */
};

static inline bool measured_has(const struct measured_window *window, sim_time at)
{
	return at >= window->from && at < window->to;
}

#endif
