/* Max-min fair rates by progressive filling (Bertsekas and Gallager, Data Networks,
 * 2nd edition, section 6.5.2), extended by weights and caps: what fluid rates are
 * held against. It shares nothing with the code under test and takes no shortcuts.
 *
 * A flow of rate r takes weight * r of each link that it uses, and never gets more
 * than its cap. All rates rise together, in proportion to the flows' shares; a flow stops when a
 * link that it uses is full or its cap is reached. Rates and capacities are in one unit, any. */
#ifndef INASIM_TESTS_MAXMIN_H
#define INASIM_TESTS_MAXMIN_H

#include <stdbool.h>
#include <stddef.h>

struct maxmin_use {
	size_t link;
	double weight; /* > 0; a link that a stream passes twice: 2 */
};

struct maxmin_flow {
	const struct maxmin_use *uses; /* not owned; each link once */
	size_t count;
	double cap;   /* INFINITY = none; only then `count` must not be 0 */
	double share; /* > 0 */
};

/* Writes the rate of each flow to rate[0..flows-1]. Capacities are > 0. */
void maxmin(size_t links, const double *capacity, size_t flows, const struct maxmin_flow *flow,
	    double *rate);

/* Whether `rate` is max-min fair, from the definition and not by solving: no link is
 * over its capacity, and each flow is at its cap or uses a full link on which no
 * flow is faster for its share. `tolerance` is relative. */
bool maxmin_holds(size_t links, const double *capacity, size_t flows,
		  const struct maxmin_flow *flow, const double *rate, double tolerance);

#endif
