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

void cc_grow(struct cc *cc, uint64_t acked)
{
	if (cc->cwnd < cc->ssthresh)
		cc->cwnd += (double)acked;
	else
		cc->cwnd += cc->mss * (double)acked / cc->cwnd;
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
