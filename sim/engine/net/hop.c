/* The hot path: what happens to a packet between two nodes. Here instructions
 * and lines of cache are counted; everything else about networks is in network.c. */
#include "net/hop.h"

#include "net/lossless.h"
#include "net/network.h"

/* --- looking ahead --- */

/* A hop touches lines of cache that nothing has touched for a microsecond, in a
 * chain: port; its packet; the egress port or the connection; the place in its
 * ring. Each step is asked for some events before the next one needs it. */
#define SOURCE_LINES 5 /* of a source's state, behind its struct nic_source */

/* A packet, which may lie across two lines, and the departure of the next one. */
HOT_INLINE void prefetch_packet(const struct packet *packet)
{
	__builtin_prefetch(packet);
	__builtin_prefetch(&packet[1].depart);
}

HOT_INLINE void prefetch_tail(const struct port *port)
{
	prefetch_packet(&port->ring[ring_index(port, port->count)]);
}

/* The first of a NIC's sources, which it will ask for a packet. */
static void prefetch_source(const struct nic *nic)
{
	const struct nic_source *source = nic->last ? nic->last->next : NULL;

	if (!source)
		return;
	__builtin_prefetch(source->owner);
	for (size_t line = 0; line < SOURCE_LINES; line++)
		__builtin_prefetch((const char *)source + 64 * line);
}

/* An AGGREGATION packet has no route: its scheme knows what it touches at a switch. */
static void prefetch_scheme(const struct network *net, const struct port *port, bool again)
{
	const struct packet *packet = port_head(port);
	const struct protocol_ops *ops = net->protocols[packet->protocol].ops;

	if (!again)
		__builtin_prefetch(&net->cold[port - net->ports].reverse);
	if (ops->ahead)
		ops->ahead(net->protocols[packet->protocol].self, port->to, packet, again);
}

/* What the packet at the head of a port touches where it arrives. */
static void prefetch_out(const struct network *net, const struct port *port)
{
	const struct packet *packet = port_head(port);

	if (__builtin_expect(packet->kind == PACKET_AGGREGATION, 0)) {
		prefetch_scheme(net, port, false);
		if (!port->to_host)
			return;
	}
	__builtin_prefetch(&net->ports[hop_out_port(port, packet)]);
	if (!port->to_host)
		return;
	__builtin_prefetch(&net->nics[port->to_port]);
	if (net->protocols[packet->protocol].ops->prefetch)
		net->protocols[packet->protocol].ops->prefetch(
			net->protocols[packet->protocol].self, packet);
}

/* Entities are numbered: ports, then NICs, then whatever has timers. */
static inline const struct nic *nic_of(const struct network *net, uint32_t entity)
{
	uint32_t host = entity - net->port_count;

	return host < net->hosts ? &net->nics[host] : NULL;
}

HOT_INLINE void ahead_port(const struct network *net, uint32_t id)
{
	const struct nic *nic;

	if (id < net->port_count) {
		__builtin_prefetch(&net->ports[id]);
	} else if ((nic = nic_of(net, id))) {
		__builtin_prefetch(nic);
		__builtin_prefetch(&net->ports[nic->host]);
	}
}

HOT_INLINE void ahead_packet(const struct network *net, uint32_t id)
{
	const struct nic *nic;

	if (id < net->port_count)
		prefetch_packet(port_head(&net->ports[id]));
	else if ((nic = nic_of(net, id)))
		__builtin_prefetch(nic->last); /* whose `next` comes first */
}

HOT_INLINE void ahead_out(const struct network *net, uint32_t id)
{
	const struct nic *nic;

	if (id < net->port_count)
		prefetch_out(net, &net->ports[id]);
	else if ((nic = nic_of(net, id)))
		prefetch_source(nic);
}

HOT_INLINE void ahead_tail(const struct network *net, uint32_t id)
{
	const struct port *port;
	const struct nic *nic;

	if (id >= net->port_count) {
		if ((nic = nic_of(net, id)))
			prefetch_tail(&net->ports[nic->host]);
		return;
	}
	port = &net->ports[id];
	if (__builtin_expect(port_head(port)->kind == PACKET_AGGREGATION, 0))
		prefetch_scheme(net, port, true);
	else
		prefetch_tail(&net->ports[hop_out_port(port, port_head(port))]);
}

void hop_look_ahead(const struct sim *sim, const struct eq_item *next, size_t count)
{
	const struct network *net = sim->block.owner;

	if (count < HOP_AHEAD)
		return; /* so few events that nothing waits for them */
#pragma GCC unroll 4
	for (size_t i = 0; i < SIM_LOOK_EVERY; i++) {
		ahead_port(net, next[AHEAD_PORT - i].id);
		ahead_packet(net, next[AHEAD_PACKET - i].id);
		ahead_out(net, next[AHEAD_OUT - i].id);
		ahead_tail(net, next[AHEAD_TAIL - i].id);
	}
}

/* --- into a queue --- */

static __attribute__((noinline)) void ring_grow(struct port *port)
{
	port_resize(port, ring_bits_more(port));
}

static __attribute__((noinline)) void ring_shrink(struct port *port)
{
	port_resize(port, port->ring_bits - 1);
}

/* Uniform jitter of a host's processing, and delays by tests; the order of packets is
 * kept. */
__attribute__((noinline)) sim_time hop_jittered(struct network *net, uint32_t number,
						sim_time arrival)
{
	struct port_cold *cold = &net->cold[number];
	const struct port *port = &net->ports[number];
	sim_time max = port_class(net, port)->jitter_max;
	bool delayed = net->faults && net->faults->delay;

	if (!max && !delayed)
		return arrival;
	if (max)
		arrival += rng_below(&cold->jitter_stream, max + 1);
	if (delayed)
		arrival += net->faults->delay(net->faults->owner, number, port_head(port));
	if (arrival < cold->last_arrival)
		arrival = cold->last_arrival;
	cold->last_arrival = arrival;
	return arrival;
}

/* Between ecn_min and ecn_max the probability rises linearly (RED on the
 * instantaneous queue, as DCQCN's congestion point). */
static bool by_chance(const struct link_class *link, struct rng *stream, uint64_t queue)
{
	return rng_unit(stream) < link->mark_max * (double)(queue - link->ecn_min) /
					  (double)(link->ecn_max - link->ecn_min);
}

bool hop_marks_long(struct network *net, uint32_t number, uint64_t queue)
{
	const struct link_class *link = port_class(net, &net->ports[number]);
	struct port_cold *cold = &net->cold[number];

	if (queue <= link->ecn_max && !by_chance(link, &cold->mark_stream, queue))
		return false;
	cold->marks++;
	return true;
}

enum admission { ADMIT, ADMIT_MARKED, REFUSE, OVERTAKE };

/* The slow part of an enqueue, where the queue might matter: its true length is
 * found, and the packet, which queued_bytes has in it already, admitted, marked
 * or dropped; in a network with classes a control packet may overtake. */
static __attribute__((noinline)) enum admission admit(struct network *net, uint32_t number,
						      const struct packet *packet)
{
	struct port *port = &net->ports[number];

	port_advance_with(port, net->sim->now, packet->size);
	if (port->queued_bytes > port_class(net, port)->limit_bytes) {
		port->queued_bytes -= packet->size;
		net->cold[number].drops++;
		net->dropped++;
		return REFUSE;
	}
	if (net->control_first && packet_is_control(packet))
		return port->sent < port->count ? OVERTAKE : ADMIT;
	return hop_marks(net, number, packet) ? ADMIT_MARKED : ADMIT;
}

__attribute__((noinline)) void hop_longest_backlog(struct port *port, sim_time backlog)
{
	backlog /= PS_PER_NS;
	port->max_backlog_ns = backlog < UINT32_MAX ? (uint32_t)backlog : UINT32_MAX;
}

/* A control packet that was admitted goes in ahead of the data that waits: behind what is
 * being sent and the control packets that wait. What it overtakes leaves later by its time
 * on the wire. */
static __attribute__((noinline)) void overtake(struct network *net, uint32_t number,
					       const struct packet *packet, uint8_t hop)
{
	struct port *port = &net->ports[number];
	sim_time wire = link_transmission(port_class(net, port), packet->size);
	uint32_t at = port_behind_control(port, port->sent + 1);

	if (port->count >> port->ring_bits)
		ring_grow(port);
	port_insert(port, at, packet, hop);
	port->ring[ring_index(port, at)].depart =
		port->ring[ring_index(port, at - 1)].depart + wire;
	for (uint32_t i = at + 1; i < port->count; i++)
		port->ring[ring_index(port, i)].depart += wire;
	port->busy_until += wire;
	hop_note_backlog(port, port->busy_until - net->sim->now);
}

/* A packet has come to an empty port that leads to a host which may learn of it late, or did of one
 * before, or which jitters. */
static __attribute__((noinline)) void await_late(struct network *net, uint32_t number,
						 const struct packet *packet, sim_time depart)
{
	const struct port *port = &net->ports[number];

	if (port->flags & PORT_PATIENT && !(port->flags & (PORT_LOSES | PORT_JITTERS)) &&
	    network_is_patient(net, packet))
		late_begin(net, number);
	else if (port->flags & PORT_LATE)
		late_end(net, number);
	else
		hop_schedule_head(net, number, port, depart);
}

/* Copies the packet into the queue, `hop` switches behind it. The one copy per
 * hop: fields are written in the ring, never in a temporary (a narrow store
 * before a wide load stalls the processor). */
HOT_INLINE void enqueue(struct network *net, uint32_t number, const struct packet *packet,
			uint8_t hop)
{
	struct port *port = &net->ports[number];
	const struct link_class *link = port_class(net, port);
	sim_time now = net->sim->now, depart = port->busy_until;
	uint64_t busy = -(uint64_t)(depart > now); /* a mask: the branch could not be foreseen */
	enum admission admission = ADMIT;
	uint32_t size = packet->size;
	struct packet *place;

	depart = now + ((depart - now) & busy);
	port->sent = port->count - ((port->count - port->sent) & (uint32_t)busy);
	port->queued_bytes = (port->queued_bytes & busy) + size;
	/* what has left lately is still counted in these, so they err to the slow side only */
	if (__builtin_expect(port->queued_bytes > link->quiet_bytes ||
				     port->count - port->sent > link->quiet_packets,
			     0)) {
		admission = admit(net, number, packet);
		if (admission == OVERTAKE)
			overtake(net, number, packet, hop);
		if (admission >= REFUSE)
			return;
	}
	if (__builtin_expect(port->count >> port->ring_bits, 0))
		ring_grow(port);
	depart += link_transmission(link, size);
	port->busy_until = depart;
	port->bytes += size;
	hop_note_backlog(port, depart - now);
	place = &port->ring[ring_index(port, port->count)];
	*place = *packet;
	place->depart = depart;
	place->hop = hop;
	port->packets++; /* apart from `bytes`: paired by the compiler, both would be slower */
	if (__builtin_expect(admission == ADMIT_MARKED, 0))
		place->flags |= PACKET_CE;
	if (port->count++ == 0) {
		if (__builtin_expect(port->flags & (PORT_PATIENT | PORT_LATE | PORT_JITTERS), 0))
			await_late(net, number, packet, depart);
		else
			sim_schedule(net->sim, number, depart + link->latency);
	} else if (__builtin_expect(port->flags & PORT_LATE && !network_is_patient(net, packet),
				    0)) {
		late_end(net, number);
	}
}

void network_enqueue(struct network *net, uint32_t port, const struct packet *packet)
{
	enqueue(net, port, packet, packet->hop);
}

void network_send(struct network *net, uint32_t host, const struct packet *packet)
{
	network_settle_host(net, host, net->sim->now);
	network_send_now(net, host, packet);
}

void network_send_now(struct network *net, uint32_t host, const struct packet *packet)
{
	net->created++;
	if (__builtin_expect(net->lossless != NULL, 0)) {
		lossless_send(net, host, packet);
		return;
	}
	enqueue(net, host, packet, packet->hop);
}

static inline void send_copies(struct network *net, const struct switch_send *send)
{
	net->created += send->count;
	for (uint32_t i = 0; i < send->count; i++)
		network_enqueue(net, send->ports[i], &send->packet);
}

void network_switch_send(struct network *net, uint32_t back, const struct switch_send *send)
{
	if (net->lossless)
		lossless_switch_send(net, back, send);
	else
		send_copies(net, send);
}

void network_switch_send_each(struct network *net, uint32_t back, const struct packet *packets,
			      const uint32_t *ports, uint32_t count)
{
	if (net->lossless) {
		lossless_switch_send_each(net, back, packets, ports, count);
		return;
	}
	net->created += count;
	for (uint32_t i = 0; i < count; i++)
		network_enqueue(net, ports[i], &packets[i]);
}

/* --- out of a queue --- */

/* The packet at the head has arrived: takes it off and waits for the next. */
HOT_INLINE void take_head(struct network *net, uint32_t number, struct port *port)
{
	if (hop_unlink_head(port))
		hop_schedule_head(net, number, port, port_head(port)->depart);
	if (__builtin_expect(ring_is_wide(port), 0))
		ring_shrink(port);
}

static __attribute__((noinline)) void aggregate(struct network *net, uint32_t in, uint32_t sw,
						struct packet *packet)
{
	struct switch_actions actions;

	hop_at_switch(net, sw, net->cold[in].reverse, packet, &actions);
	if (actions.forward) {
		uint32_t out = net->switch_nodes[sw].first_port + packet->route[packet->hop++];

		network_enqueue(net, out, packet);
	} else {
		net->absorbed++;
	}
	for (unsigned i = 0; i < actions.count; i++)
		send_copies(net, &actions.send[i]);
}

/* Where PORT_LOSES: whether the packet at the head is lost. */
__attribute__((noinline)) bool hop_lose(struct network *net, uint32_t number)
{
	struct port_cold *cold = &net->cold[number];
	uint64_t threshold = port_class(net, &net->ports[number])->loss_threshold;

	if (net->watch)
		net_watch_count(net, number, port_head(&net->ports[number]));
	if ((!threshold || rng_u64(&cold->loss_stream) >= threshold) &&
	    !(net->faults && net->faults->lose &&
	      net->faults->lose(net->faults->owner, number, port_head(&net->ports[number]))))
		return false;
	cold->losses++;
	net->lost++;
	sim_digest(net->sim, number, UINT64_MAX); /* nobody may miss the packet */
	return true;
}

/* The packet at the head of a port's ring reaches the far end. */
void hop_arrive(struct sim *sim, uint32_t number, void *owner)
{
	struct network *net = owner;
	struct port *port = &net->ports[number];
	const struct packet *head;
	struct packet packet;

	if (__builtin_expect(port->flags & PORT_AWAITS, 0)) {
		late_event(net, number);
		return;
	}
	if (port->flags & PORT_NIC_DUE && /* what it sends comes behind */
	    (port->flags & PORT_OWED || port->busy_until < sim->now))
		network_settle_host(net, number, sim->now);
	head = port_head(port);
	hop_note(net, number, head);
	if (__builtin_expect(port->flags & PORT_LOSES, 0) && hop_lose(net, number)) {
		take_head(net, number, port);
		return;
	}
	if (!port->to_host && __builtin_expect(head->kind != PACKET_AGGREGATION, 1)) {
		/* another node's port: head stays put while it is copied */
		enqueue(net, port->to_port + head->route[head->hop], head, head->hop + 1);
		take_head(net, number, port);
		return;
	}
	packet = *head;
	take_head(net, number, port);
	if (port->to_host)
		hop_deliver(net, port->to_port, &packet);
	else
		aggregate(net, number, port->to - net->hosts, &packet);
}
