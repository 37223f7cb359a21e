/* No congestion control: RoCE sends at the rate of its link. Only PAUSE slows it down, and the cap
 * on bytes in flight ("window") if there is one. */
#include "transport/cc/cc.h"

#include <math.h>

static const struct conf_row line_rate_rows[] = { { 0 } };
const struct conf_table line_rate_cc_table = { "line_rate", line_rate_rows, 1,
					       "The rate of the link has no parameters." };

static void line_rate_init(struct cc *cc)
{
	cc->cwnd = INFINITY;
}

const struct cc_ops line_rate_cc = {
	.name = "line_rate",
	.help = "no congestion control: the rate of the link",
	.table = &line_rate_cc_table,
	.init = line_rate_init,
};
