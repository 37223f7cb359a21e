/* The hot path of a lossless network: what happens to a packet between two nodes, as hop.c has it
 * for the others. */
#include "net/lossless_parts.h"

#include "base/mem.h"

#include <stdlib.h>

/* --- looking ahead: see hop.c --- */

HOT_INLINE void ahead_lanes(const struct network *net, uint32_t id)
{
	const struct lane *lanes = net->lossless->lanes;
	const struct port *port;
	uint32_t charge;

	if (id >= net->port_count)
		return;
	port = &net->ports[id];
	charge = lanes[id].charge[port->head];
	__builtin_prefetch(&lanes[hop_out_port(port, port_head(port))]);
	__builtin_prefetch(&lanes[lanes[id].reverse]);
	if (charge < net->port_count)
		__builtin_prefetch(&lanes[charge]);
}

/* Besides what every hop touches: the lanes of the port, of the one whose memory gets
 * the packet back, of the one whose memory takes it, and of the one it goes on by. */
void lossless_look_ahead(const struct sim *sim, const struct eq_item *next, size_t count)
{
	const struct network *net = sim->block.owner;

	hop_look_ahead(sim, next, count);
	if (count < HOP_AHEAD)
		return;
	for (size_t i = 0; i < SIM_LOOK_EVERY; i++) {
		uint32_t id = next[AHEAD_PORT - i].id;

		if (id < net->port_count)
			__builtin_prefetch(&net->lossless->lanes[id]);
		ahead_lanes(net, next[AHEAD_OUT - i].id);
	}
}

/* --- into a queue --- */

HOT_INLINE void schedule_head(struct network *net, uint32_t number, const struct port *port)
{
	sim_time depart = port_head(port)->depart;

	if (depart != SIM_TIME_MAX)
		hop_schedule_head(net, number, port, depart);
}

/* The rings of packets and of charges are resized together. */
static __attribute__((noinline)) void resize(struct network *net, uint32_t number, uint8_t bits)
{
	struct port *port = &net->ports[number];
	struct lane *lane = &net->lossless->lanes[number];
	uint32_t *old = lane->charge;
	uint32_t *charge =
		bits <= SMALL_RING_BITS ? lane->small : xcalloc((size_t)1 << bits, sizeof(*charge));

	for (uint32_t i = 0; i < port->count; i++)
		charge[i] = old[ring_index(port, i)];
	if (old != lane->small)
		free(old);
	lane->charge = charge;
	port_resize(port, bits);
}

static void drop(struct network *net, uint32_t number)
{
	net->cold[number].drops++;
	net->dropped++;
	net->lossless->refused++;
}

/* Charges a packet that came in by port `in`; false: there is no room. */
HOT_INLINE bool take(struct network *net, uint32_t in, uint32_t size)
{
	struct lossless *ll = net->lossless;
	struct ingress *ingress = &ll->lanes[in].in;

	if (__builtin_expect(size > ll->largest, 0))
		ll->largest = size;
	if (__builtin_expect(!ingress_take(ingress, size), 0)) {
		lossless_settle_switch(net, ingress->memory);
		if (!ingress_take(ingress, size))
			return false;
	}
	if (__builtin_expect(ingress_full(ingress), 0))
		lossless_stop_neighbour(net, in);
	return true;
}

/* Whether ECN marks a packet; its own bytes are in the queue already. */
static __attribute__((noinline)) bool is_marked(struct network *net, uint32_t number,
						const struct packet *packet)
{
	port_advance_with(&net->ports[number], net->sim->now, packet->size);
	return hop_marks(net, number, packet);
}

/* The longest backlog, after a packet has come; while the port is stopped it is that of the bytes.
 */
HOT_INLINE void note_backlog(struct network *net, struct port *port, sim_time depart)
{
	const struct link_class *link = port_class(net, port);
	sim_time backlog = depart - net->sim->now;

	if (__builtin_expect(depart == SIM_TIME_MAX, 0))
		backlog = link_transmission(link, 0) * (port->count - port->sent - 1) +
			  link_transmission(link, (uint32_t)port->queued_bytes);
	hop_note_backlog(port, backlog);
}

/* A control packet goes in ahead of the data that waits: overtake() of hop.c. */
static __attribute__((noinline)) void overtake(struct network *net, uint32_t number,
					       const struct packet *packet, uint8_t hop)
{
	struct port *port = &net->ports[number];
	struct lane *lane = &net->lossless->lanes[number];
	sim_time until;
	uint32_t first = lossless_started(net, number, &until);
	uint32_t at = port_behind_control(port, first);

	if (port->count >> port->ring_bits)
		resize(net, number, ring_bits_more(port));
	for (uint32_t i = port->count; i > at; i--)
		lane->charge[ring_index(port, i)] = lane->charge[ring_index(port, i - 1)];
	lane->charge[ring_index(port, at)] = CHARGE_NONE;
	port_insert(port, at, packet, hop);
	lossless_retime(net, number, first, until);
	note_backlog(net, port, port->busy_until);
	if (lane->in.memory && lane->in.memory->stopped)
		lossless_arm(net, number);
}

/* Copies the packet, which is charged to `charge`, into the queue: enqueue() of
 * hop.c, without a limit. */
HOT_INLINE void put(struct network *net, uint32_t number, const struct packet *packet, uint8_t hop,
		    uint32_t charge)
{
	struct port *port = &net->ports[number];
	struct lane *lane = &net->lossless->lanes[number];
	const struct link_class *link = port_class(net, port);
	sim_time now = net->sim->now, depart = port->busy_until;
	uint64_t busy = -(uint64_t)(depart > now);
	uint32_t at, size = packet->size;
	bool marked = false;

	depart = now + ((depart - now) & busy);
	port->sent = port->count - ((port->count - port->sent) & (uint32_t)busy);
	port->queued_bytes = (port->queued_bytes & busy) + size;
	if (__builtin_expect(port->queued_bytes > link->quiet_bytes ||
				     port->count - port->sent > link->quiet_packets,
			     0)) {
		if (net->control_first && busy && packet_is_control(packet)) {
			overtake(net, number, packet, hop);
			return;
		}
		marked = is_marked(net, number, packet);
	}
	if (__builtin_expect(port->count >> port->ring_bits, 0))
		resize(net, number, ring_bits_more(port));
	if (__builtin_expect(depart != SIM_TIME_MAX, 1))
		depart += link_transmission(link, size);
	port->busy_until = depart;
	at = ring_index(port, port->count);
	lane->charge[at] = charge;
	port->ring[at] = *packet;
	port->ring[at].depart = depart;
	port->ring[at].hop = hop;
	if (__builtin_expect(marked, 0))
		port->ring[at].flags |= PACKET_CE;
	port->bytes += size;
	port->packets++;
	if (port->count++ == 0)
		schedule_head(net, number, port);
	note_backlog(net, port, depart);
	if (__builtin_expect(lane->in.memory && lane->in.memory->stopped, 0))
		lossless_arm(net, number);
}

void lossless_send(struct network *net, uint32_t host, const struct packet *packet)
{
	put(net, host, packet, packet->hop, CHARGE_NONE);
}

/* --- out of a queue --- */

HOT_INLINE void take_head(struct network *net, uint32_t number)
{
	struct port *port = &net->ports[number];
	struct lane *lane = &net->lossless->lanes[number];

	if (__builtin_expect(lane->given != 0, 0))
		lane->given--;
	else
		lossless_give(net->lossless, lane->charge[port->head], port_head(port)->size);
	if (hop_unlink_head(port))
		schedule_head(net, number, port);
	if (__builtin_expect(ring_is_wide(port), 0))
		resize(net, number, port->ring_bits - 1);
}

/* What a scheme sends by these ports: all that leaves at once shares one charge to `in`. False, and
 * it is dropped, where that does not fit. */
static bool charge_once(struct network *net, uint32_t in, uint32_t size, const uint32_t *ports,
			uint32_t count, uint32_t *charge)
{
	net->created += count;
	if (!count)
		return false;
	if (!take(net, in, size)) {
		for (uint32_t i = 0; i < count; i++)
			drop(net, ports[i]);
		return false;
	}
	*charge = count > 1 ? lossless_new_cell(net->lossless, in, size, count) : in;
	return true;
}

static void send_copies(struct network *net, uint32_t in, const struct switch_send *send)
{
	const struct packet *packet = &send->packet;
	uint32_t charge;

	if (!charge_once(net, in, packet->size, send->ports, send->count, &charge))
		return;
	for (uint32_t i = 0; i < send->count; i++)
		put(net, send->ports[i], packet, packet->hop, charge);
}

/* `classes`: whether there are control packets to tell from others; known when compiled. */
HOT_INLINE void forward(struct network *net, uint32_t in, uint32_t out, const struct packet *packet,
			uint8_t hop, bool classes)
{
	if (classes && packet_is_control(packet))
		put(net, out, packet, hop, CHARGE_NONE);
	else if (__builtin_expect(take(net, in, packet->size), 1))
		put(net, out, packet, hop, in);
	else
		drop(net, out);
}

void lossless_switch_send(struct network *net, uint32_t back, const struct switch_send *send)
{
	send_copies(net, back, send);
}

void lossless_switch_send_each(struct network *net, uint32_t back, const struct packet *packets,
			       const uint32_t *ports, uint32_t count)
{
	uint32_t charge;

	if (!count || !charge_once(net, back, packets->size, ports, count, &charge))
		return;
	for (uint32_t i = 0; i < count; i++)
		put(net, ports[i], &packets[i], packets[i].hop, charge);
}

static void aggregate(struct network *net, uint32_t in, uint32_t sw, struct packet *packet)
{
	struct switch_actions actions;

	hop_at_switch(net, sw, in, packet, &actions);
	if (actions.forward)
		forward(net, in, net->switch_nodes[sw].first_port + packet->route[packet->hop],
			packet, packet->hop + 1, false);
	else
		net->absorbed++;
	for (unsigned i = 0; i < actions.count; i++)
		send_copies(net, in, &actions.send[i]);
}

/* The packet at the head of a port's ring reaches the far end. */
HOT_INLINE void arrive(struct network *net, uint32_t number, bool classes)
{
	struct port *port = &net->ports[number];
	const struct packet *head = port_head(port);
	uint32_t in = net->lossless->lanes[number].reverse;
	struct packet packet;

	hop_note(net, number, head);
	if (__builtin_expect(port->flags & PORT_LOSES, 0) && hop_lose(net, number)) {
		take_head(net, number);
		return;
	}
	if (!port->to_host && __builtin_expect(head->kind != PACKET_AGGREGATION, 1)) {
		forward(net, in, port->to_port + head->route[head->hop], head, head->hop + 1,
			classes);
		take_head(net, number);
		return;
	}
	packet = *head;
	take_head(net, number);
	if (port->to_host)
		hop_deliver(net, port->to_port, &packet);
	else
		aggregate(net, in, port->to - net->hosts, &packet);
}

void lossless_on_arrival(struct sim *sim, uint32_t number, void *owner)
{
	(void)sim;
	arrive(owner, number, false);
}

void lossless_on_classed_arrival(struct sim *sim, uint32_t number, void *owner)
{
	(void)sim;
	arrive(owner, number, true);
}
