/* The window of a worker on one of its trees: PANAMA, figure 5. Unit: packets.
 *
 * A round ends when as many results have come as the window, rounded down, has packets. (Figure 5
 * ends it when rcvd == cwnd, which a fractional cwnd never meets.) The marked fraction is that of
 * the results of the round. (Figure 5 divides ecn_count by cwnd.) Then `received` and `marked`
 * start again at 0, which figure 5 does not show. Doubles are the same on all machines (as in
 * transport/cc/cc.h). */
#ifndef INASIM_INA_PANAMA_PANAMA_WINDOW_H
#define INASIM_INA_PANAMA_PANAMA_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* After which rounds a window grows: figure 5, or also after a marked one (RFC 8257). */
enum panama_growth { PANAMA_UNMARKED, PANAMA_ALWAYS };

struct panama_window_conf {
	bool fixed;      /* no congestion control: the window is the cap ... */
	int64_t packets; /* ... or this, if it is less; 0 = the cap */
	double initial;  /* first cwnd */
	double ssthresh; /* first ssthresh */
	double g;        /* gain of alpha */
	int growth;      /* enum panama_growth */
};

struct panama_window {
	double cwnd, ssthresh, alpha;
	uint32_t received, marked; /* results of this round */
};

/* `cap` is the first wnd_cap, from the controller. */
void panama_window_init(struct panama_window *window, const struct panama_window_conf *conf,
			uint32_t cap);

/* Takes a result, marked or not, with this wnd_cap (at least 1). */
void panama_window_result(struct panama_window *window, const struct panama_window_conf *conf,
			  bool marked, uint32_t cap);

/* Takes `results` unmarked results with this wnd_cap. The window must be at most `cap`, and not
 * fixed. */
void panama_window_unmarked(struct panama_window *window, const struct panama_window_conf *conf,
			    uint32_t cap, uint64_t results);

/* Packets that may be in flight, at least 1. */
static inline uint64_t panama_window_packets(const struct panama_window *window)
{
	return (uint64_t)window->cwnd;
}

/* Whether marks have cut the window, and it has not grown back to the first ssthresh. */
static inline bool panama_window_is_cut(const struct panama_window *window,
					const struct panama_window_conf *conf)
{
	return !conf->fixed && window->ssthresh < conf->ssthresh && window->cwnd < conf->ssthresh;
}

#endif
