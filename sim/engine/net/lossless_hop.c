/* The hot path of a lossless network: what PAUSE adds to hop.h. */
#include "net/lossless_parts.h"

#include "base/mem.h"

#include <stdlib.h>

/* --- looking ahead: see ahead.c --- */

/* Prefetches the last three lanes that lossless_look_ahead() lists. */
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

/* As net_look_ahead(), but also prefetches four lanes: of the port that the packet arrives from, of
 * the port that it is charged to, of the port that it will be charged to, and of its next egress
 * port. */
void lossless_look_ahead(const struct sim *sim, const struct eq_item *next, size_t count)
{
	const struct network *net = sim->block.owner;

	net_look_ahead(sim, next, count);
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

static void lossless_hop_drop(struct network *net, uint32_t number)
{
	net->cold[number].drops++;
	net->dropped++;
	net->lossless->refused++;
}

/* Charges a packet to the port `in` that it came in by. False if there is no room. */
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

/* The time that a stopped port would take to send its queue: all bytes with one preamble and gap,
 * and the preambles and gaps of the other packets. In 128 bits, because some MB times 8 * PS_PER_S
 * overflow 64. */
static __attribute__((noinline)) sim_time stopped_backlog(const struct link_class *link,
							  const struct port *port)
{
	unsigned __int128 wire = (unsigned __int128)port->queued_bytes + link->wire_extra;

	return link_transmission(link, 0) * (port->count - port->sent - 1) +
	       (sim_time)((wire * 8 * PS_PER_S + link->rate - 1) / link->rate);
}

/* hop_note_backlog() for a port that may be stopped. */
HOT_INLINE void note_backlog(struct network *net, struct port *port, sim_time depart)
{
	sim_time backlog = depart - net->sim->now;

	if (__builtin_expect(depart == SIM_TIME_MAX, 0))
		backlog = stopped_backlog(port_class(net, port), port);
	hop_note_backlog(port, backlog);
}

/* overtake() of hop.c for a lossless network. */
static __attribute__((noinline)) void overtake(struct network *net, uint32_t number,
					       const struct packet *packet, uint8_t hop)
{
	struct port *port = &net->ports[number];
	struct lane *lane = &net->lossless->lanes[number];
	sim_time until;
	uint32_t first = lossless_started(net, number, &until);
	uint32_t at = port_behind_control(port, first);

	hop_queued(net, number, packet, at);
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

/* hop_kind.admit with PAUSE. There is no limit: a packet without room was dropped before. */
static __attribute__((noinline)) enum admission admit(struct network *net, uint32_t number,
						      const struct packet *packet, uint8_t hop)
{
	struct port *port = &net->ports[number];

	if (net->control_first && port->busy_until > net->sim->now && packet_is_control(packet)) {
		overtake(net, number, packet, hop);
		return ADMISSION_OVER;
	}
	port_advance_with(port, net->sim->now, packet->size);
	hop_queued(net, number, packet, port->count);
	return hop_marks(net, number, packet) ? ADMIT_MARKED : ADMIT;
}

HOT_INLINE void charge_to(struct network *net, uint32_t number, uint32_t at, uint32_t charge)
{
	net->lossless->lanes[number].charge[at] = charge;
}

HOT_INLINE void has_come(struct network *net, uint32_t number)
{
	const struct lane *lane = &net->lossless->lanes[number];
	struct port *port = &net->ports[number];

	note_backlog(net, port, port->busy_until);
	if (__builtin_expect(lane->in.memory && lane->in.memory->stopped, 0))
		lossless_arm(net, number);
}

HOT_INLINE void leaves(struct network *net, uint32_t number)
{
	struct port *port = &net->ports[number];
	struct lane *lane = &net->lossless->lanes[number];

	if (__builtin_expect(lane->given != 0, 0))
		lane->given--;
	else
		lossless_give(net->lossless, lane->charge[port->head], port_head(port)->size);
}

HOT_INLINE uint32_t reverse_of(const struct network *net, uint32_t number)
{
	return net->lossless->lanes[number].reverse;
}

static const struct hop_kind one_class, two_classes;

/* For both kinds of hops: these differ only in `forward`, which hop_put() does not call. */
HOT_INLINE void put(struct network *net, uint32_t number, const struct packet *packet, uint8_t hop,
		    uint32_t charge)
{
	hop_put(net, number, packet, hop, charge, &one_class);
}

void lossless_send(struct network *net, uint32_t host, const struct packet *packet)
{
	put(net, host, packet, packet->hop, CHARGE_NONE);
}

/* Counts `count` packets that a scheme sends and gives them one common charge to `in`. False if
 * `count` is 0, or if there is no room and the packets are dropped. */
static bool charge_once(struct network *net, uint32_t in, uint32_t size, const uint32_t *ports,
			uint32_t count, uint32_t *charge)
{
	net->created += count;
	if (!count)
		return false;
	if (!take(net, in, size)) {
		for (uint32_t i = 0; i < count; i++)
			lossless_hop_drop(net, ports[i]);
		return false;
	}
	*charge = count > 1 ? lossless_new_cell(net->lossless, in, size, count) : in;
	return true;
}

void lossless_switch_send(struct network *net, uint32_t in, const struct switch_send *send)
{
	const struct packet *packet = &send->packet;
	uint32_t charge;

	if (!charge_once(net, in, packet->size, send->ports, send->count, &charge))
		return;
	for (uint32_t i = 0; i < send->count; i++) {
		hop_prefetch_copies(net, send->ports, i, send->count);
		put(net, send->ports[i], packet, packet->hop, charge);
	}
}

void lossless_switch_send_each(struct network *net, uint32_t in, const struct packet *packets,
			       const uint32_t *ports, uint32_t count)
{
	uint32_t charge;

	if (!count || !charge_once(net, in, packets->size, ports, count, &charge))
		return;
	for (uint32_t i = 0; i < count; i++)
		put(net, ports[i], &packets[i], packets[i].hop, charge);
}

HOT_INLINE void forward(struct network *net, uint32_t in, uint32_t out, const struct packet *packet,
			uint8_t hop)
{
	if (__builtin_expect(take(net, in, packet->size), 1))
		put(net, out, packet, hop, in);
	else
		lossless_hop_drop(net, out);
}

HOT_INLINE void forward_classed(struct network *net, uint32_t in, uint32_t out,
				const struct packet *packet, uint8_t hop)
{
	if (packet_is_control(packet))
		put(net, out, packet, hop, CHARGE_NONE);
	else
		forward(net, in, out, packet, hop);
}

#define KIND(how)                                                                                  \
	{                                                                                          \
		.stops = true, .admit = admit, .resize = resize, .forward = how,                   \
		.copies = lossless_switch_send, .reverse = reverse_of, .charge = charge_to,        \
		.has_come = has_come, .leaves = leaves                                             \
	}

static const struct hop_kind one_class = KIND(forward), two_classes = KIND(forward_classed);

/* AGGREGATION packets are never control packets. */
static __attribute__((noinline)) void aggregate(struct network *net, uint32_t number,
						struct packet *packet)
{
	hop_aggregate(net, number, packet, &one_class);
}

void lossless_on_arrival(struct sim *sim, uint32_t number, void *owner)
{
	(void)sim;
	hop_path(owner, number, &one_class, aggregate);
}

void lossless_on_classed_arrival(struct sim *sim, uint32_t number, void *owner)
{
	(void)sim;
	hop_path(owner, number, &two_classes, aggregate);
}
