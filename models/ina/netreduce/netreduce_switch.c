/* NetReduce at a switch (sections 3.1 to 3.3). netreduce.c says what is modelled.
 *
 * A switch next to workers finds the message of a packet by its PSN and keeps the packet. When the
 * packets of all its workers are there:
 * - if the switch is the root, each connection gets its own packet, with the sum;
 * - else the sum goes to the parent, once. The parent treats it as a worker's packet.
 *
 * The root sends the result down to all switches below it. Switches next to workers turn it into
 * the packets of all connections that end there. So a packet of a connection from rack to rack goes
 * up in a sum, and down in a copy (connection translation, table 3).
 *
 * A repeated packet whose sum is complete means that the next rank lacks the result. A root with
 * both ranks as inputs answers the next rank alone. Other switches send their sum up again. The
 * switches above cannot tell whose packet was repeated, so the result goes to all.
 *
 * The column one window ahead of message m is freed when all have sent packet `index` of m, because
 * then nobody needs that column's sum (columns.h). At the root a full column shows this. Elsewhere
 * a full column shows it only of the workers below, so there a result on its way down frees the
 * column ahead. */
#include "ina/netreduce/netreduce.h"

#include <string.h>

/* Flags that a sum has if any of its packets has. */
#define MERGED (PACKET_ECT | PACKET_CE | ROCE_ACK_REQUEST | PACKET_RETRANSMIT | NETREDUCE_FIRST)

/* A packet at a switch, and where it belongs. */
struct visit {
	struct ring *ring;
	struct ring_node *node;
	struct end *end; /* of the packet's connection */
	const struct packet *packet;
	uint32_t back; /* as in protocol_ops.at_switch */
	uint32_t row;
	struct lookup_place place;
};

static struct collective_stats *netreduce_switch_stats(const struct visit *visit)
{
	return &visit->node->accelerator->memory->stats;
}

static bool is_root(const struct visit *visit)
{
	return visit->node->place->parent == TREE_NONE;
}

static void violated(const struct visit *visit, const char *what)
{
	ina_violated_at_switch(
		&visit->ring->job->base, visit->node->place->sw,
		netreduce_chunk(visit->ring, visit->place.message, visit->place.index), what);
}

/* --- sums --- */

/* Sends the sum to the destination of a repeated packet. */
static void send_own(const struct visit *visit)
{
	struct held held = { .packet = *visit->packet,
			     .column = visit->place.column,
			     .back = visit->back,
			     .way = NETREDUCE_OWN };

	held.packet.value = visit->node->columns.columns[visit->place.column].sum;
	held.packet.flags |= PACKET_RESULT;
	accelerator_send(visit->node->accelerator, &held);
}

/* Sends a sum for all connections of the ring: up or, from the root, by way `down`. */
static void send_merged(const struct visit *visit, uint8_t flags, enum netreduce_way down)
{
	const struct column *column = &visit->node->columns.columns[visit->place.column];
	const struct end *first = &visit->ring->ends[0];
	struct held held = { .packet = *visit->packet,
			     .column = visit->place.column,
			     .back = visit->back,
			     .way = is_root(visit) ? down : NETREDUCE_UP };

	/* a sum must not depend on which of its packets came last (core/repeat.h) */
	memset(held.packet.route, 0, sizeof(held.packet.route));
	held.packet.value = column->sum;
	held.packet.flow = first->connection;
	held.packet.generation = first->generation;
	held.packet.flags = (uint8_t)((column->flags & MERGED) | flags);
	held.packet.tag = (uint16_t)(visit->node->place->number + 1);
	if (is_root(visit))
		held.packet.flags |= PACKET_RESULT;
	accelerator_send(visit->node->accelerator, &held);
}

static void netreduce_complete(const struct visit *visit)
{
	if (is_root(visit)) {
		netreduce_switch_stats(visit)->results++;
		columns_free_ahead(&visit->node->columns, visit->place.message, visit->place.index);
	}
	send_merged(visit, 0, NETREDUCE_RESULTS);
}

/* With "repeats": "once", whether the root has already answered this packet, to all workers, within
 * the last round trip. If not, notes that it does so now. The first result does not count as an
 * answer, because it may have been lost. */
static bool netreduce_is_answered(const struct visit *visit)
{
	const struct netreduce_scheme *scheme = visit->node->accelerator->scheme;
	struct column *column = &visit->node->columns.columns[visit->place.column];
	sim_time now = scheme->base.env.sim->now;

	if (netreduce_conf(&scheme->base)->repeats == NETREDUCE_EACH || !is_root(visit))
		return false;
	if (now < column->answered_until)
		return true;
	column->answered_until = now + scheme->round_trip;
	return false;
}

/* Answers a repeated packet whose column had all packets before. */
static void netreduce_switch_repeat(const struct visit *visit)
{
	bool knows_who = is_root(visit) && !visit->packet->tag &&
			 &visit->ring->nodes[netreduce_to(visit->end)->node] == visit->node;

	if (!knows_who && netreduce_is_answered(visit))
		return;
	netreduce_switch_stats(visit)->repairs++;
	if (knows_who)
		send_own(visit);
	else
		send_merged(visit, PACKET_RETRANSMIT, NETREDUCE_DOWN);
}

/* --- packets --- */

static void netreduce_contribution(const struct visit *visit)
{
	const struct packet *packet = visit->packet;
	enum columns_news news =
		columns_store(&visit->node->columns, visit->place.column, visit->place.message,
			      visit->row, packet->value, packet->flags);

	if (news == COLUMNS_WAITS || news == COLUMNS_FULL)
		netreduce_switch_stats(visit)->packets_aggregated++;
	else
		netreduce_switch_stats(visit)->duplicates++;
	switch (news) {
	case COLUMNS_WAITS:
	case COLUMNS_AGAIN:
	case COLUMNS_STALE:
		return;
	case COLUMNS_FULL:
		netreduce_complete(visit);
		return;
	case COLUMNS_REPEAT:
		netreduce_switch_repeat(visit);
		return;
	case COLUMNS_AHEAD:
		violated(visit, "a message came before the one before it was over");
		return;
	case COLUMNS_CHANGED:
		violated(visit, "a packet came again with another payload");
		return;
	}
}

/* Finds a packet's place by the connection lookup table (section 3.2). False: the packet is
 * dropped. */
static bool find_by_psn(struct visit *visit)
{
	const struct packet *packet = visit->packet;
	struct lookup *table = &visit->end->table;
	uint64_t message = packet->seq >> ROCE_PSN_BITS;
	uint32_t psn = roce_psn_of(packet);

	if (packet->flags & NETREDUCE_FIRST && !lookup_enter(table, message, psn)) {
		netreduce_switch_stats(visit)
			->duplicates++; /* so old that all workers have its result */
		return false;
	}
	if (!lookup_find(table, psn, &visit->place)) {
		netreduce_switch_stats(visit)->discarded++;
		return false;
	}
	if (visit->place.message != message) {
		violated(visit, "a packet was taken for one of another message");
		return false;
	}
	return true;
}

/* Finds the place of a packet between switches. All connections of a ring have the same messages,
 * and so the same PSNs. */
static void find_by_message(struct visit *visit)
{
	const struct columns *columns = &visit->node->columns;
	uint64_t message = visit->packet->seq >> ROCE_PSN_BITS;
	uint32_t psn = roce_psn(visit->ring->first + message * columns->length);

	visit->place.message = message;
	visit->place.index = (roce_psn_of(visit->packet) - psn) & NETREDUCE_PSN_MASK;
	visit->place.column = columns_at(columns, message, visit->place.index);
}

static void netreduce_result(struct visit *visit)
{
	struct held held = { .packet = *visit->packet, .back = visit->back, .way = NETREDUCE_DOWN };

	find_by_message(visit);
	columns_free_ahead(&visit->node->columns, visit->place.message, visit->place.index);
	accelerator_send(visit->node->accelerator, &held);
}

/* At a switch that only forwards: contributions go up, results for switches to all children that
 * lead to sums, and a connection's result to the destination of the connection. */
static void netreduce_pass(const struct visit *visit, struct switch_actions *actions)
{
	const struct ring_node *node = visit->node;
	const struct packet *packet = visit->packet;

	if (!(packet->flags & PACKET_RESULT))
		ina_send(actions, packet, &node->place->up_port, 1);
	else if (packet->tag)
		ina_send(actions, packet, node->ports, node->sum_count);
	else
		ina_send(actions, packet, &node->place->input_ports[netreduce_to(visit->end)->row],
			 1);
}

void netreduce_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			 struct switch_actions *actions)
{
	const struct netreduce_scheme *scheme = self;
	struct end *end = netreduce_end(scheme, packet);
	struct visit visit = { .end = end, .packet = packet, .back = back };

	if (!end)
		return; /* the job is over */
	visit.ring = end->ring;
	visit.node = &end->ring->nodes[end->ring->job->base.tree.node_of_switch[sw]];
	if (visit.node->place->passes) {
		netreduce_pass(&visit, actions);
		return;
	}
	/* answers leave later, by accelerator_send() */
	if (packet->flags & PACKET_RESULT) {
		netreduce_result(&visit);
		return;
	}
	if (packet->tag) {
		visit.row = packet->tag - 1;
		find_by_message(&visit);
	} else {
		visit.row = end->row;
		if (!find_by_psn(&visit))
			return;
	}
	netreduce_contribution(&visit);
}
