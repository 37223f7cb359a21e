/* Links and small networks that tests of sim/net share. */
#ifndef INASIM_TESTS_NET_SAMPLE_H
#define INASIM_TESTS_NET_SAMPLE_H

#include "net/network.h"

#define GBPS UINT64_C(1000000000)

/* Ample memory; XOFF at three frames of 1,000 bytes, XON at one. */
static const struct pause_params plenty = { .on = true,
					    .memory = 1000000,
					    .headroom = 100000,
					    .xoff = 3000,
					    .xon = 1000,
					    .mtu = 1518,
					    .delay = PS_PER_US };

/* A link of 1 us without queue limit, ECN marks and preambles. */
static inline struct link_params link_of(bps rate)
{
	return (struct link_params){ .rate = rate,
				     .delay = PS_PER_US,
				     .limit = UINT64_MAX,
				     .ecn_min = UINT64_MAX,
				     .ecn_max = UINT64_MAX };
}

/* A link between nodes that send PAUSE, with the delay that `pause` assumes. */
static inline struct link_params pausing_link_of(bps rate, const struct pause_params *pause)
{
	struct link_params link = link_of(rate);

	link.delay = pause->delay;
	link.pause = *pause;
	return link;
}

/* Two hosts and two switches: h0 - s0 - s1 - h1, of which the last link is slow. */
static const uint16_t line_ports[] = { 2, 2 };
static const struct route line_route = { { 1, 1 }, 2 };

static inline void join_line(struct network *net, const struct link_params *fast,
			     const struct link_params *slow)
{
	network_connect(net, 0, 0, fast, 2, 0, fast);
	network_connect(net, 2, 1, fast, 3, 0, fast);
	network_connect(net, 3, 1, slow, 1, 0, slow);
}

#endif
