/* How long a worker waits for a result before it sends its packet again.
 *
 *   fixed     as in SwitchML's experiments (section 5.5);
 *   doubling  as in the public client (p4app-switchML, rdma_timeout_queue.cc): when more than
 *             `threshold` packets have expired, the timeout doubles, the count starts again, and
 *             the threshold grows by its first value. The timeout never falls again;
 *   adaptive  SwitchML's section 6 asks for a timeout that follows the round-trip time and does not
 *             say how. This is RFC 6298's, sections 2 and 5.5: srtt + 4 rttvar, at least `min`.
 *             It doubles when a packet expires that was sent since it last doubled: so once a
 *             round trip, however many packets expire. It stays doubled until the next sample.
 *
 * ATP and ESA use the estimate alone, without rto_expired(), because samples are rare there by
 * design. window.h and esa_server.c double the estimate themselves, up to a limit of the scenario.
 * Any result or contribution ends that doubling, even one that is no sample.
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

/* A result has come, `rtt` after its packet was sent; the packet was sent only once. */
void rto_sample(struct rto *rto, sim_time rtt);

/* The timers of `count` packets have run out together, now; the newest was sent at `sent`. */
void rto_expired(struct rto *rto, uint64_t count, sim_time sent, sim_time now);

#endif
