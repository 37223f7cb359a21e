#include "ina/panama/panama_window.h"

static double fixed_window(const struct panama_window_conf *conf, uint32_t cap)
{
	return conf->packets && conf->packets < (int64_t)cap ? (double)conf->packets : cap;
}

static void limit(struct panama_window *window, uint32_t cap)
{
	if (window->cwnd > cap)
		window->cwnd = cap;
	if (window->cwnd < 1)
		window->cwnd = 1;
}

void panama_window_init(struct panama_window *window, const struct panama_window_conf *conf,
			uint32_t cap)
{
	*window = (struct panama_window){
		.cwnd = conf->fixed ? fixed_window(conf, cap) : conf->initial,
		.ssthresh = conf->ssthresh,
		.alpha = 1,
	};
	limit(window, cap);
}

static void end_round(struct panama_window *window, const struct panama_window_conf *conf)
{
	double marked = (double)window->marked / (double)window->received;

	window->alpha = (1 - conf->g) * window->alpha + conf->g * marked;
	if (window->marked) {
		window->cwnd *= 1 - window->alpha / 2;
		window->ssthresh = window->cwnd;
		window->cwnd += conf->growth == PANAMA_ALWAYS;
	} else if (window->cwnd < window->ssthresh) {
		window->cwnd *= 2;
	} else {
		window->cwnd += 1;
	}
	window->received = window->marked = 0;
}

void panama_window_result(struct panama_window *window, const struct panama_window_conf *conf,
			  bool marked, uint32_t cap)
{
	if (conf->fixed) {
		window->cwnd = fixed_window(conf, cap);
		return;
	}
	window->received++;
	window->marked += marked;
	if (window->received >= panama_window_packets(window))
		end_round(window, conf);
	limit(window, cap);
}

void panama_window_unmarked(struct panama_window *window, const struct panama_window_conf *conf,
			    uint32_t cap, uint64_t results)
{
	while (results) {
		uint64_t packets = panama_window_packets(window), received = window->received;
		uint64_t to_end = received < packets ? packets - received : 1;

		if (results < to_end) { /* the window moves only at the end of a round */
			window->received += (uint32_t)results;
			return;
		}
		window->received += (uint32_t)(to_end - 1);
		panama_window_result(window, conf, false, cap);
		results -= to_end;
	}
}
