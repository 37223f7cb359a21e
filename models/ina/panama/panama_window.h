/* The window of a worker on one of its trees: PANAMA, figure 5. Unit: packets.
 *
 * A round ends when as many results have come as the window, rounded down, has packets by then.
 * Figure 5 ends it when rcvd "==" cwnd, which a fractional window never meets, divides ecn_count by
 * cwnd, and does not show that ecn_count starts again at 0. Here: >=, the marked fraction is of the
 * results of the round, and both counts start again. Doubles decide what to send, not when, and are
 * the same on all machines (as in transport/cc/cc.h). */
#ifndef INASIM_INA_PANAMA_PANAMA_WINDOW_H
#define INASIM_INA_PANAMA_PANAMA_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct panama_window_conf {
	bool fixed;      /* no congestion control: the window is the cap ... */
	int64_t packets; /* ... or this, if it is less; 0 = the cap */
	double initial;  /* first cwnd */
	double ssthresh; /* first one */
	double g;        /* gain of alpha */
};

struct panama_window {
	double cwnd, ssthresh, alpha;
	uint32_t received, marked; /* results of this round */
};

/* `cap`: wnd_cap before the first result, from the controller. */
void panama_window_init(struct panama_window *window, const struct panama_window_conf *conf,
			uint32_t cap);

/* A result has come, marked or not, with this wnd_cap (at least 1). */
void panama_window_result(struct panama_window *window, const struct panama_window_conf *conf,
			  bool marked, uint32_t cap);

/* So many unmarked results with this cap have come. The window is not fixed, and at most `cap`. */
void panama_window_unmarked(struct panama_window *window, const struct panama_window_conf *conf,
			    uint32_t cap, uint64_t results);

/* Packets that may be out. At least 1. */
static inline uint64_t panama_window_packets(const struct panama_window *window)
{
	return (uint64_t)window->cwnd;
}

/* Marks have reduced it, and it has not grown back to where slow start ended at first. */
static inline bool panama_window_is_cut(const struct panama_window *window,
					const struct panama_window_conf *conf)
{
	return !conf->fixed && window->ssthresh < conf->ssthresh && window->cwnd < conf->ssthresh;
}

#endif
