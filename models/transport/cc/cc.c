#include "transport/cc/cc.h"

#include "base/fail.h"
#include "base/mem.h"

#include <stddef.h>
#include <stdlib.h>

#define TABLE(name) extern const struct conf_table name##_cc_table;
CONGESTION_CONTROLS(TABLE)
ROCE_CONTROLS(TABLE)
#undef TABLE

#define ROW(name) CONF_APART(#name, CC_##name, &name##_cc_table),
static const struct conf_row rows[] = { CONGESTION_CONTROLS(ROW){ 0 } };
#undef ROW
const struct conf_table cc_table = { "tcp_control", rows, CC_COUNT * sizeof(void *), NULL };

#define ROW(name) CONF_APART(#name, ROCE_CC_##name, &name##_cc_table),
static const struct conf_row roce_rows[] = { ROCE_CONTROLS(ROW){ 0 } };
#undef ROW
const struct conf_table roce_cc_table = { "roce_control", roce_rows, ROCE_CC_COUNT * sizeof(void *),
					  NULL };

unsigned cc_index(const struct conf_table *table, const struct cc_ops *ops)
{
	unsigned index = 0;

	while (table->rows[index].table != ops->table)
		SIM_BUG_ON(!table->rows[++index].name);
	return index;
}

void cc_open(struct cc *cc, const struct cc_ops *ops)
{
	if (ops->state)
		*(void **)(void *)cc->state = xcalloc(1, ops->state);
	if (ops->init)
		ops->init(cc);
}

void cc_close(struct cc *cc, const struct cc_ops *ops)
{
	if (ops->state)
		free(*(void **)(void *)cc->state);
}

void cc_grow(struct cc *cc, uint64_t growth)
{
	double left = (double)growth, room = cc->ssthresh - cc->cwnd;

	if (room > 0) { /* slow start, up to ssthresh */
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

void cc_collapse(struct cc *cc, unsigned nth, uint64_t flight, sim_time now)
{
	double half = (double)flight / 2;

	(void)now;
	if (nth > 1)
		return;
	cc->ssthresh = half > 2 * cc->mss ? half : 2 * cc->mss;
	cc->cwnd = cc->mss;
}
