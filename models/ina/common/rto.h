/* How long a worker waits for a result before it sends its packet again.
 *
 *   fixed     as SwitchML's experiments (section 5.5);
 *   doubling  as the public client (p4app-switchML, rdma_timeout_queue.cc): when more than
 *             `threshold` packets have expired, the timeout doubles, the count starts again, and
 *             the threshold grows by its first value. It never falls again;
 *   adaptive  SwitchML's section 6 asks for a timeout that follows the round-trip time and does not
 *             say how: RFC 6298's, sections 2 and 5.5: srtt + 4 rttvar, not below `least`,
 *             doubled when the timer of a packet expires that was sent since it last doubled,
 *             so once a round however many expire, until the next round-trip time is measured.
 *
 * The doubled timeout of the adaptive rule stays until the next sample, as RFC 6298's. Where
 * samples are rare by design (ATP, ESA), rto_expired() is not called: window.h and esa_server.c
 * double on top of this estimate, up to a limit of the scenario, and whatever result or
 * contribution comes next ends that, sample or not. So once a round is the same rule three times,
 * but what it doubles, how far and until when are not.
 *
 * One object serves all packets of a worker, so that the oldest is always the next to expire.
 * Samples of packets that were sent twice must not be given (Karn). Integers only. */
#ifndef INASIM_INA_COMMON_RTO_H
#define INASIM_INA_COMMON_RTO_H

#include "base/types.h"

enum rto_rule { RTO_FIXED, RTO_DOUBLING, RTO_ADAPTIVE };
extern const char *const rto_names[]; /* NULL behind the last */

struct rto_conf {
	int rule; /* enum rto_rule */
	sim_time first;
	sim_time least;    /* adaptive */
	int64_t threshold; /* doubling */
};

struct rto {
	const struct rto_conf *conf; /* not owned */
	sim_time timeout;            /* now */
	sim_time srtt, rttvar;       /* adaptive; 0 before the first sample */
	union {
		uint64_t expired; /* doubling: since it last did */
		sim_time doubled; /* adaptive: when it last did */
	};
	uint64_t threshold; /* doubling */
};

void rto_init(struct rto *rto, const struct rto_conf *conf);

/* A result has come this long after its packet was sent for the only time. */
void rto_sample(struct rto *rto, sim_time rtt);

/* The timers of `count` packets have run out together, now; the newest was sent at `sent`. */
void rto_expired(struct rto *rto, uint64_t count, sim_time sent, sim_time now);

#endif
