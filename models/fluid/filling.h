/* Max-min fair rates by progressive filling (Bertsekas and Gallager, Data Networks, 2nd edition,
 * section 6.5.2), with weights, caps and shares.
 *
 * The rates of all routes rise together, in proportion to their shares. A route stops when it has
 * the rate that it has alone, or a link that it uses is full. */
#ifndef INASIM_FLUID_FILLING_H
#define INASIM_FLUID_FILLING_H

#include "fluid/platform.h"

/* Computes the rate of each busy route, in bytes per second. `busy` and `share` are those of
 * platform_shares(); a route of share 0 has rate 0 and takes nothing. */
void filling_rates(const struct platform *platform, const struct fluid_route *const *busy,
		   const double *share, double *rate);

#endif
