/* Selective repeat at the sender, as IRN's (Mittal et al., SIGCOMM 2018, section 3.1), with a
 * tolerance for packets that overtake each other.
 *
 * Each ACK and NACK names the packet that it answers, so the sender knows what has come beyond a
 * gap. A packet is lost if one that left later has come, and if `reorder` has passed since it
 * should have come itself (RACK's rule, RFC 8985, section 6.2). With `reorder` 0, for one path,
 * that is IRN's: a later packet has come. Each lost packet is sent again once, before new ones. A
 * copy that is lost, too, waits for the timeout, after which all goes out again that has not come.
 * A packet that a switch has trimmed (network_trim()) is lost as soon as its NACK says so, and its
 * copies, too. */
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
	select->flight++;
}

uint64_t roce_select_next(const struct roce_tx *tx)
{
	return tx->select->again[tx->select->again_first & tx->select->again_mask];
}

bool roce_select_waits(const struct roce_tx *tx)
{
	struct roce_select *select = tx->select;

	for (; select->again_first < select->again_end; select->again_first++) {
		uint64_t number = roce_select_next(tx);

		if (number >= tx->una && sent(select, number)->lost)
			return true;
	}
	return false;
}

static void lose(struct roce_select *select, uint64_t number)
{
	struct roce_sent *packet = sent(select, number);

	if (packet->here || packet->lost)
		return;
	packet->lost = true;
	select->flight--;
	select->again = ring_reserve(select->again, &select->again_mask, select->again_first,
				     select->again_end, sizeof(*select->again));
	select->again[select->again_end++ & select->again_mask] = number;
}

/* Returns whether that is new. */
static bool come(struct roce_select *select, uint64_t number)
{
	struct roce_sent *packet = sent(select, number);

	if (packet->here)
		return false;
	select->flight -= !packet->lost;
	packet->here = true;
	packet->lost = false;
	return true;
}

/* Moves `lost_to` over all packets that have come or are lost. It ends at the first that is
 * neither: those behind it left later, but for copies of trimmed packets. */
static void look(struct roce_conn *conn)
{
	struct roce_tx *tx = &conn->tx;
	struct roce_select *select = tx->select;
	sim_time reorder = conn->roce->reorder;

	for (; select->lost_to < tx->nxt; select->lost_to++) {
		const struct roce_sent *packet = sent(select, select->lost_to);

		if (packet->here || packet->lost)
			continue;
		if (packet->at >= select->newest)
			return;
		if (packet->at + select->trip + reorder > conn->roce->sim->now) {
			timer_set(conn->roce->sim, &select->timer,
				  packet->at + select->trip + reorder);
			return;
		}
		lose(select, select->lost_to);
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

uint64_t roce_select_take(struct roce_conn *conn, uint64_t acked, const struct packet *ack)
{
	struct roce_tx *tx = &conn->tx;
	struct roce_select *select = tx->select;
	uint64_t number =
		roce_number((uint32_t)(ack->seq >> ROCE_PSN_BITS) & ROCE_PSN_MASK, tx->una);
	bool under_way = number >= tx->una && number < tx->nxt;
	uint64_t news = 0;

	if (select->lost_to < tx->una)
		select->lost_to = tx->una;
	for (uint64_t n = tx->una - acked; n < tx->una; n++)
		news += come(select, n);
	if (under_way && !(ack->tag & ROCE_TRIMMED))
		news += come(select, number);
	else if (under_way && sent(select, number)->at == ack->echo) /* not of an earlier copy */
		lose(select, number);
	/* what is left of a trimmed packet overtakes others */
	if (ack->echo > select->newest && !(ack->tag & ROCE_TRIMMED)) {
		select->newest = ack->echo;
		select->trip = conn->roce->sim->now - ack->echo;
	}
	if (tx->spray)
		spray_answered(tx->spray, sent(select, number)->path, ack->tag);
	recover(conn);
	return news;
}

void roce_select_timed_out(struct roce_tx *tx)
{
	struct roce_select *select = tx->select;

	for (uint64_t n = tx->una; n < tx->nxt; n++)
		lose(select, n);
	select->lost_to = select->recover = tx->nxt;
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
	tx->select->lost_to = tx->select->recover = tx->una;
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
	free(tx->select->again);
	free(tx->select);
	tx->select = NULL;
}
