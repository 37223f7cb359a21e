#include "transport/cc.h"

#include <stddef.h>

#define DECLARE(name) extern const struct cc_ops name##_cc;
CONGESTION_CONTROLS(DECLARE)
#undef DECLARE

#define ENTRY(name) &name##_cc,
static const struct cc_ops *const kinds[] = { CONGESTION_CONTROLS(ENTRY) NULL };
#undef ENTRY

#define NAME(name) #name,
const char *const cc_names[] = { CONGESTION_CONTROLS(NAME) NULL };
#undef NAME

const struct cc_ops *cc_kind(unsigned index)
{
	return index < sizeof(kinds) / sizeof(kinds[0]) ? kinds[index] : NULL;
}

void cc_grow(struct cc *cc, uint64_t growth)
{
	double left = (double)growth, room = cc->ssthresh - cc->cwnd;

	if (room > 0) { /* slow start, which does not overshoot its end */
		double step = left < room ? left : room;

		cc->cwnd += step;
		left -= step;
	}
	if (left > 0)
		cc->cwnd += cc->mss * left / cc->cwnd;
}

void cc_halve(struct cc *cc)
{
	cc->ssthresh = cc->cwnd / 2 > 2 * cc->mss ? cc->cwnd / 2 : 2 * cc->mss;
	cc->cwnd = cc->ssthresh;
}

void cc_collapse(struct cc *cc, uint64_t flight)
{
	double half = (double)flight / 2;

	cc->ssthresh = half > 2 * cc->mss ? half : 2 * cc->mss;
	cc->cwnd = cc->mss;
}
