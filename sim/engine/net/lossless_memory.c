/* Charges of packets in a lossless network: see lossless_parts.h. */
#include "net/lossless_parts.h"

#include "base/mem.h"

void lossless_give_cell(struct lossless *ll, uint32_t number)
{
	struct cell *cell = &ll->cells[number];

	if (--cell->copies)
		return;
	ingress_give(&ll->lanes[cell->port].in, cell->size);
	cell->port = ll->free_cell;
	ll->free_cell = number;
}

uint32_t lossless_new_cell(struct lossless *ll, uint32_t port, uint32_t size, uint32_t copies)
{
	uint32_t number = ll->free_cell;

	if (number == CHARGE_NONE) {
		ll->cells = array_reserve(ll->cells, ll->cell_count, &ll->cell_capacity,
					  sizeof(*ll->cells));
		number = (uint32_t)ll->cell_count++;
	} else {
		ll->free_cell = ll->cells[number].port;
	}
	ll->cells[number] = (struct cell){ .copies = copies, .port = port, .size = size };
	return CHARGE_CELL | number;
}

void lossless_settle(struct network *net, uint32_t number)
{
	struct port *port = &net->ports[number];
	struct lane *lane = &net->lossless->lanes[number];

	port_advance(port, net->sim->now);
	for (; lane->given < port->sent; lane->given++) {
		uint32_t at = ring_index(port, lane->given);

		lossless_give(net->lossless, lane->charge[at], port->ring[at].size);
	}
}

void lossless_settle_switch(struct network *net, const struct ingress_memory *memory)
{
	const struct switch_node *node = &net->switch_nodes[memory - net->lossless->memories];

	for (uint32_t i = 0; i < node->ports; i++)
		lossless_settle(net, node->first_port + i);
}
