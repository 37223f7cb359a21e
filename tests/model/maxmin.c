#include "maxmin.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* Two constraints that are met at rates this close are met together. */
#define TOGETHER 1e-12

/* The rate for their shares of all rising flows at which the link is full; INFINITY when none uses
 * it. */
static double full_at(size_t link, double capacity, size_t flows, const struct maxmin_flow *flow,
		      const double *rate, const bool *stopped)
{
	double left = capacity, weight = 0;

	for (size_t f = 0; f < flows; f++)
		for (size_t u = 0; u < flow[f].count; u++) {
			if (flow[f].uses[u].link != link)
				continue;
			if (stopped[f])
				left -= flow[f].uses[u].weight * rate[f];
			else
				weight += flow[f].uses[u].weight * flow[f].share;
		}
	return weight > 0 ? left / weight : INFINITY;
}

/* The rate for its share at which this flow has to stop. */
static double stops_at(const struct maxmin_flow *flow, const double *full)
{
	double level = flow->cap / flow->share;

	for (size_t u = 0; u < flow->count; u++)
		level = fmin(level, full[flow->uses[u].link]);
	return level;
}

void maxmin(size_t links, const double *capacity, size_t flows, const struct maxmin_flow *flow,
	    double *rate)
{
	double *full = xcalloc(links, sizeof(*full));
	bool *stopped = xcalloc(flows, sizeof(*stopped));
	size_t rising = flows;

	while (rising > 0) {
		double level = INFINITY;

		for (size_t l = 0; l < links; l++)
			full[l] = full_at(l, capacity[l], flows, flow, rate, stopped);
		for (size_t f = 0; f < flows; f++)
			if (!stopped[f])
				level = fmin(level, stops_at(&flow[f], full));
		for (size_t f = 0; f < flows; f++) {
			if (stopped[f] || stops_at(&flow[f], full) > level * (1 + TOGETHER))
				continue;
			rate[f] = level * flow[f].share;
			stopped[f] = true;
			rising--;
		}
	}
	free(full);
	free(stopped);
}

/* --- the definition --- */

static double load_of(size_t link, size_t flows, const struct maxmin_flow *flow, const double *rate)
{
	double load = 0;

	for (size_t f = 0; f < flows; f++)
		for (size_t u = 0; u < flow[f].count; u++)
			if (flow[f].uses[u].link == link)
				load += flow[f].uses[u].weight * rate[f];
	return load;
}

static double fastest_on(size_t link, size_t flows, const struct maxmin_flow *flow,
			 const double *rate)
{
	double fastest = 0;

	for (size_t f = 0; f < flows; f++)
		for (size_t u = 0; u < flow[f].count; u++)
			if (flow[f].uses[u].link == link)
				fastest = fmax(fastest, rate[f] / flow[f].share);
	return fastest;
}

bool maxmin_holds(size_t links, const double *capacity, size_t flows,
		  const struct maxmin_flow *flow, const double *rate, double tolerance)
{
	for (size_t l = 0; l < links; l++)
		if (load_of(l, flows, flow, rate) > capacity[l] * (1 + tolerance))
			return false;
	for (size_t f = 0; f < flows; f++) {
		bool bottleneck = rate[f] >= flow[f].cap * (1 - tolerance);

		if (rate[f] > flow[f].cap * (1 + tolerance))
			return false;
		for (size_t u = 0; u < flow[f].count && !bottleneck; u++) {
			size_t l = flow[f].uses[u].link;

			bottleneck =
				load_of(l, flows, flow, rate) >= capacity[l] * (1 - tolerance) &&
				rate[f] / flow[f].share >=
					fastest_on(l, flows, flow, rate) * (1 - tolerance);
		}
		if (!bottleneck)
			return false;
	}
	return true;
}
