#include "transport/cc/cc.h"

#include "base/fail.h"

#include <stddef.h>

#define TABLE(name) extern const struct conf_table name##_cc_table;
CONGESTION_CONTROLS(TABLE)
ROCE_CONTROLS(TABLE)
#undef TABLE

#define TABLE(name) &name##_cc_table,
const struct conf_table *const cc_tables[] = { CONGESTION_CONTROLS(TABLE) NULL };
const struct conf_table *const roce_cc_tables[] = { ROCE_CONTROLS(TABLE) NULL };
#undef TABLE

unsigned cc_index(const struct conf_table *const *tables, const struct cc_ops *ops)
{
	unsigned index = 0;

	while (tables[index] != ops->table)
		SIM_BUG_ON(!tables[++index]);
	return index;
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
