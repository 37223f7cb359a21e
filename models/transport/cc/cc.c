#include "transport/cc/cc.h"

#include "base/fail.h"

#include <stddef.h>

#define DECLARE(name) extern const struct cc_ops name##_cc;
CONGESTION_CONTROLS(DECLARE)
ROCE_CONTROLS(DECLARE)
#undef DECLARE

#define ENTRY(name) &name##_cc,
static const struct cc_ops *const kinds[] = { CONGESTION_CONTROLS(ENTRY) NULL };
static const struct cc_ops *const roce_kinds[] = { ROCE_CONTROLS(ENTRY) NULL };
#undef ENTRY

#define NAME(name) #name,
const char *const cc_names[] = { CONGESTION_CONTROLS(NAME) NULL };
#undef NAME

#define TABLE(name) extern const struct conf_table name##_cc_table;
CONGESTION_CONTROLS(TABLE)
ROCE_CONTROLS(TABLE)
#undef TABLE

#define TABLE(name) &name##_cc_table,
const struct conf_table *const cc_tables[] = { CONGESTION_CONTROLS(TABLE) NULL };
const struct conf_table *const roce_cc_tables[] = { ROCE_CONTROLS(TABLE) NULL };
#undef TABLE

const struct cc_ops *cc_kind(unsigned index)
{
	return index < CC_COUNT ? kinds[index] : NULL;
}

const struct cc_ops *roce_cc(unsigned index)
{
	return index < ROCE_CC_COUNT ? roce_kinds[index] : NULL;
}

static unsigned index_in(const struct cc_ops *const *list, const struct cc_ops *ops)
{
	unsigned index = 0;

	while (list[index] != ops)
		SIM_BUG_ON(!list[++index]);
	return index;
}

unsigned cc_index(const struct cc_ops *ops)
{
	return index_in(kinds, ops);
}

unsigned roce_cc_index(const struct cc_ops *ops)
{
	return index_in(roce_kinds, ops);
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

void cc_halve(struct cc *cc, sim_time now)
{
	(void)now;
	cc->ssthresh = cc->cwnd / 2 > 2 * cc->mss ? cc->cwnd / 2 : 2 * cc->mss;
	cc->cwnd = cc->ssthresh;
}

void cc_collapse(struct cc *cc, uint64_t flight, sim_time now)
{
	double half = (double)flight / 2;

	(void)now;
	cc->ssthresh = half > 2 * cc->mss ? half : 2 * cc->mss;
	cc->cwnd = cc->mss;
}
