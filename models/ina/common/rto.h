/* How long a worker waits for a result before it sends its packet again.
 *
 *   fixed     as in SwitchML's experiments (section 5.5);
 *   doubling  as in the public client (p4app-switchML, rdma_timeout_queue.cc): when more than
 *             `threshold` packets (or messages, where these have the timers) have expired, the
 *             timeout doubles, the count starts again, and the threshold grows by its first value.
 *             The timeout never falls again;
 *   adaptive  srtt + 4 rttvar, at least `min`, as in RFC 6298, sections 2 and 5.5. (SwitchML's
 *             section 6 asks for a timeout that follows the round-trip time, and leaves open how.)
 *             The timeout doubles when a packet expires that was sent after the last doubling.
 *             This is once a round trip, however many packets expire. The timeout stays doubled
 *             until the next sample.
 *
 * ATP and ESA take only the estimate from here, without rto_expired(), whose doubling lasts until
 * the next sample: samples are rare there by design. window.h and esa_server.c double the estimate
 * themselves, up to max_timeout. There any result or contribution ends the doubling, whether it is
 * a sample or not.
 *
 * One struct serves all packets of a worker, so the oldest is always the next to expire. Round
 * trips of packets that were sent twice are no samples (Karn). Integers only. */
#ifndef INASIM_INA_COMMON_RTO_H
#define INASIM_INA_COMMON_RTO_H

#include "base/types.h"

enum rto_rule { RTO_FIXED, RTO_DOUBLING, RTO_ADAPTIVE };
extern const char *const rto_names[]; /* ends with NULL */

struct rto_conf {
	int rule; /* enum rto_rule */
	sim_time first;
	sim_time min;      /* adaptive: the least timeout */
	int64_t threshold; /* doubling: see above */
};

struct rto {
	const struct rto_conf *conf; /* not owned */
	sim_time timeout;            /* now */
	sim_time srtt, rttvar;       /* adaptive; 0 before the first sample */
	union {
		uint64_t expired; /* doubling: packets, since the timeout last doubled */
		sim_time doubled; /* adaptive: when the timeout last doubled */
	};
	uint64_t threshold; /* doubling: `expired` beyond this doubles the timeout */
};

void rto_init(struct rto *rto, const struct rto_conf *conf);

/* Takes a round trip as a sample. Its packet must have been sent only once. */
void rto_sample(struct rto *rto, sim_time rtt);

/* A result has come that is no sample. It ends the timeout that is meant for an unknown network:
 * until the first sample, `min` stands for the round trip. */
void rto_answered(struct rto *rto);

/* The timers of `count` packets have run out together, now; the newest was sent at `sent`. */
void rto_expired(struct rto *rto, uint64_t count, sim_time sent, sim_time now);

#endif
