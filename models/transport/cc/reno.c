/* NewReno without ECN (RFC 5681, RFC 6582): the baseline that loss drives. */
#include "transport/cc/cc.h"

static const struct conf_row reno_rows[] = { { 0 } };
const struct conf_table reno_cc_table = { "reno", reno_rows, 1, "NewReno has no parameters." };

static void reno_on_ack(struct cc *cc, const struct cc_ack *ack)
{
	if (!ack->in_recovery)
		cc_grow(cc, ack->growth);
}

const struct cc_ops reno_cc = {
	.name = "reno",
	.help = "NewReno without ECN: halves on loss",
	.table = &reno_cc_table,
	.on_ack = reno_on_ack,
	.on_loss = cc_halve,
	.on_timeout = cc_collapse,
};
