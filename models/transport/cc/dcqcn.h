/* DCQCN's parameters and state, for checks and tests. */
#ifndef INASIM_TRANSPORT_CC_DCQCN_H
#define INASIM_TRANSPORT_CC_DCQCN_H

#include "transport/cc/cc.h"

enum dcqcn_set { DCQCN_SIGCOMM15, DCQCN_HPCC_PAPER, DCQCN_HPCC };

/* A parameter that is 0 takes its value from the set. Two may be given as 0 or false, so flags say
 * whether they are given: cnp_interval and clamp_target. */
struct dcqcn_conf {
	int set;
	double g;
	sim_time cnp_interval, cut_interval, alpha_timer, increase_timer;
	bytes byte_counter;
	int64_t fast_recovery;
	bps rate_ai, rate_hai, min_rate;
	bool clamp_target, clamp_given, cnp_given;
};

struct dcqcn {
	double alpha; /* estimate of congestion */
	bps target;
	sim_time alpha_at, increase_at; /* when the timers are due; SIM_TIME_MAX = not running */
	union {
		sim_time cut_at; /* HPCC's sets: when the cut checks its flag next */
		uint64_t sent;   /* sigcomm15: the byte counter; a cut sets it to 0, too */
	};
	uint8_t times, fills;    /* increases by timer and by byte counter since the last cut */
	bool armed;              /* a CNP has come */
	bool alpha_cnp, cut_cnp; /* HPCC's sets: a CNP has come since the last check */
};
CC_STATE(dcqcn)

extern const struct cc_ops dcqcn_cc;

#endif
