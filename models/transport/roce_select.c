/* Selective repeat at the sender, as IRN's (Mittal et al., SIGCOMM 2018, section 3.1), with a
 * tolerance for packets that overtake each other.
 *
 * Each ACK and NACK names the packet that it answers, so the sender knows what has come beyond a
 * gap. A packet is lost if one that left later has come, and if `reorder` has passed since it
 * should have come itself (RACK's rule, RFC 8985, section 6.2). With `reorder` 0, for one path,
 * that is IRN's: a later packet has come. Each lost packet is sent again once, before new ones. A
 * copy that is lost, too, waits for the timeout, after which all goes out again that has not come.
 */
#include "transport/roce_conn.h"

#include "base/mem.h"
#include "base/ring.h"
#include "transport/keys.h"

#include <stdlib.h>

static struct roce_sent *sent(const struct roce_select *select, uint64_t number)
{
	return &select->sent[number & select->mask];
}

void roce_select_sent(struct roce_conn *conn, uint64_t number)
{
	struct roce_tx *tx = &conn->tx;
	struct roce_select *select = tx->select;

	select->sent =
		ring_reserve(select->sent, &select->mask, tx->una, number, sizeof(*select->sent));
	*sent(select, number) = (struct roce_sent){ .at = conn->roce->sim->now,
						    .path = tx->spray ? tx->spray->value : 0 };
	if (number == select->again && number < select->lost_to)
		select->again++;
}

bool roce_select_waits(const struct roce_tx *tx)
{
	struct roce_select *select = tx->select;

	while (select->again < select->lost_to && sent(select, select->again)->here)
		select->again++;
	return select->again < select->lost_to;
}

/* Moves `lost_to` over all packets that have come or are lost. Those from `lost_to` on were sent
 * once, in the order of their numbers, so it ends at the first that is neither. */
static void look(struct roce_conn *conn)
{
	struct roce_tx *tx = &conn->tx;
	struct roce_select *select = tx->select;
	sim_time reorder = conn->roce->reorder;

	for (; select->lost_to < tx->nxt; select->lost_to++) {
		const struct roce_sent *packet = sent(select, select->lost_to);

		if (packet->here)
			continue;
		if (packet->at >= select->newest)
			return;
		if (packet->at + select->trip + reorder > conn->roce->sim->now) {
			timer_set(conn->roce->sim, &select->timer,
				  packet->at + select->trip + reorder);
			return;
		}
	}
}

/* A recovery begins if a packet is lost while none is under way. */
static void recover(struct roce_conn *conn)
{
	struct roce_tx *tx = &conn->tx;

	look(conn);
	if (!roce_select_waits(tx) || tx->una < tx->select->recover)
		return;
	tx->select->recover = tx->nxt;
	roce_tx_loss(conn);
}

void roce_select_take(struct roce_conn *conn, const struct packet *ack)
{
	struct roce_tx *tx = &conn->tx;
	struct roce_select *select = tx->select;
	uint64_t number =
		roce_number((uint32_t)(ack->seq >> ROCE_PSN_BITS) & ROCE_PSN_MASK, tx->una);

	if (select->lost_to < tx->una)
		select->lost_to = tx->una;
	if (select->again < tx->una)
		select->again = tx->una;
	if (number >= tx->una && number < tx->nxt)
		sent(select, number)->here = true;
	if (ack->echo > select->newest) {
		select->newest = ack->echo;
		select->trip = conn->roce->sim->now - ack->echo;
	}
	if (tx->spray)
		spray_answered(tx->spray, sent(select, number)->path, ack->tag);
	recover(conn);
}

void roce_select_timed_out(struct roce_tx *tx)
{
	tx->select->again = tx->una;
	tx->select->lost_to = tx->select->recover = tx->nxt;
}

static void roce_on_reorder_timer(struct sim *sim, uint32_t entity, void *owner)
{
	(void)sim, (void)entity;
	recover(owner);
	roce_tx_wake(owner);
}

void roce_select_open(struct roce_conn *conn, uint64_t key)
{
	const struct roce *roce = conn->roce;
	struct roce_tx *tx = &conn->tx;

	if (roce->conf->recovery != ROCE_SELECTIVE)
		return;
	tx->select = xcalloc(1, sizeof(*tx->select));
	tx->select->lost_to = tx->select->again = tx->select->recover = tx->una;
	if (roce->conf->spray)
		tx->spray = spray_new(roce->conf->spray, (uint32_t)roce->conf->paths,
				      roce->sim->seed, key);
	timer_open(roce->sim, &tx->select->timer, SIM_TIMER, timer_key(TIMER_RACK, key),
		   roce_on_reorder_timer, conn);
	sim_name(roce->sim, roce_on_reorder_timer, "RoCE reorder timer of connection %n");
}

void roce_select_close(struct roce_conn *conn)
{
	struct roce_tx *tx = &conn->tx;

	free(tx->spray);
	tx->spray = NULL;
	if (!tx->select)
		return;
	timer_close(conn->roce->sim, &tx->select->timer);
	free(tx->select->sent);
	free(tx->select);
	tx->select = NULL;
}
