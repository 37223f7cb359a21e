#include "net/lossless.h"

#include "base/mem.h"
#include "net/hop.h"
#include "net/lossless_parts.h"

#include <stdlib.h>

/* Names of frames for ties and logs count from here; those of packets from 0. */
#define FRAME_KEYS (UINT64_C(1) << 40)

static sim_handler on_departure, on_frame;

/* --- looking ahead: see hop.c --- */

/* Besides what every hop touches: the lanes of the port, of the one whose memory gets
 * the packet back, of the one whose memory takes it, and of the one it goes on by. */
void lossless_look_ahead(const struct sim *sim, const struct eq_item *next, size_t count)
{
	const struct network *net = sim->block.owner;
	const struct lane *lanes = net->lossless->lanes;
	const struct port *port;
	uint32_t id, charge;

	hop_look_ahead(sim, next, count);
	if (count < HOP_AHEAD)
		return;
	id = next[AHEAD_PORT - 1].id;
	if (id < net->port_count)
		__builtin_prefetch(&lanes[id]);
	id = next[AHEAD_OUT - 1].id;
	if (id >= net->port_count)
		return;
	port = &net->ports[id];
	charge = lanes[id].charge[port->head];
	__builtin_prefetch(&lanes[hop_out_port(port, port_head(port))]);
	__builtin_prefetch(&lanes[lanes[id].reverse]);
	if (charge < net->port_count)
		__builtin_prefetch(&lanes[charge]);
}

/* --- the memory --- */

static struct ingress_memory *memory_of(const struct network *net, uint32_t port)
{
	return net->lossless->lanes[port].in.memory;
}

static __attribute__((noinline)) void give_cell(struct lossless *ll, uint32_t number)
{
	struct cell *cell = &ll->cells[number];

	if (--cell->copies)
		return;
	ingress_give(&ll->lanes[cell->port].in, cell->size);
	cell->port = ll->free_cell;
	ll->free_cell = number;
}

/* A packet has left the port that held it. */
HOT_INLINE void give_back(struct lossless *ll, uint32_t charge, uint32_t size)
{
	if (__builtin_expect(!(charge & CHARGE_CELL), 1))
		ingress_give(&ll->lanes[charge].in, size);
	else if (charge != CHARGE_NONE)
		give_cell(ll, charge & ~CHARGE_CELL);
}

static uint32_t new_cell(struct lossless *ll, uint32_t port, uint32_t size, uint32_t copies)
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

/* What has left a port by now is given back. */
static void settle(struct network *net, uint32_t number)
{
	struct port *port = &net->ports[number];
	struct lane *lane = &net->lossless->lanes[number];

	port_advance(port, net->sim->now);
	for (; lane->given < port->sent; lane->given++) {
		uint32_t at = ring_index(port, lane->given);

		give_back(net->lossless, lane->charge[at], port->ring[at].size);
	}
}

void lossless_settle(struct network *net, uint32_t port)
{
	settle(net, port);
}

/* All of a switch, so that its counts are exact. */
static void settle_switch(struct network *net, const struct ingress_memory *memory)
{
	const struct switch_node *node = &net->switch_nodes[memory - net->lossless->memories];

	for (uint32_t i = 0; i < node->ports; i++)
		settle(net, node->first_port + i);
}

/* --- departures --- */

/* The port's next departure becomes an event. */
static void arm(struct network *net, uint32_t number)
{
	const struct port *port = &net->ports[number];
	struct lane *lane = &net->lossless->lanes[number];
	sim_time depart;

	if (lane->armed || port->sent == port->count)
		return;
	depart = port->ring[ring_index(port, port->sent)].depart;
	if (depart == SIM_TIME_MAX)
		return;
	lane->armed = true;
	sim_schedule(net->sim, net->lossless->first_departure + number, depart);
}

static void arm_switch(struct network *net, const struct ingress_memory *memory)
{
	const struct switch_node *node = &net->switch_nodes[memory - net->lossless->memories];

	for (uint32_t i = 0; i < node->ports; i++)
		arm(net, node->first_port + i);
}

/* --- the transmitter --- */

HOT_INLINE void schedule_head(struct network *net, uint32_t number)
{
	const struct port *port = &net->ports[number];
	sim_time at;

	if (port_head(port)->depart == SIM_TIME_MAX)
		return;
	at = port_head(port)->depart + port_class(net, port)->latency;
	if (__builtin_expect(port->special, 0))
		at = hop_jittered(net, number, at);
	sim_schedule(net->sim, number, at);
}

/* When the transmitter is done with what has started: a packet, or a frame (which
 * includes one that waits). Returns the index of the first packet that has not started. */
static uint32_t started(struct network *net, uint32_t number, sim_time *until)
{
	const struct port *port = &net->ports[number];
	const struct lane *lane = &net->lossless->lanes[number];
	sim_time now = net->sim->now;
	uint32_t first;

	settle(net, number);
	*until = now > lane->frame_end ? now : lane->frame_end;
	first = port->sent;
	if (first < port->count) {
		const struct packet *p = &port->ring[ring_index(port, first)];

		if (p->depart != SIM_TIME_MAX &&
		    p->depart - link_transmission(port_class(net, port), p->size) <= now) {
			*until = p->depart > *until ? p->depart : *until;
			first++;
		}
	}
	return first;
}

/* Packets `first` and later are sent one after the other from a time on; those of a
 * stopped port not until further notice, but control packets are not stopped where they
 * have a class of their own. */
static void retime(struct network *net, uint32_t number, uint32_t first, sim_time from)
{
	struct port *port = &net->ports[number];
	const struct link_class *link = port_class(net, port);
	bool stopped = net->lossless->lanes[number].stopped;

	for (uint32_t i = first; i < port->count; i++) {
		struct packet *p = &port->ring[ring_index(port, i)];

		if (stopped && !(net->control_first && packet_is_control(p))) {
			p->depart = SIM_TIME_MAX;
			continue;
		}
		from += link_transmission(link, p->size);
		p->depart = from;
	}
	port->busy_until = stopped ? SIM_TIME_MAX : from;
	if (first > 0 || !port->count)
		return;
	sim_cancel(net->sim, number);
	schedule_head(net, number);
}

static void stop_transmitter(struct network *net, uint32_t number)
{
	struct lossless *ll = net->lossless;
	struct lane *lane = &ll->lanes[number];
	sim_time until;
	uint32_t first;

	if (lane->stopped)
		return;
	lane->stopped = true;
	lane->stopped_since = net->sim->now;
	net->rare[number].pauses++;
	first = started(net, number, &until);
	retime(net, number, first, until);
	ll->stopped++;
	lossless_watch(net);
}

static void start_transmitter(struct network *net, uint32_t number)
{
	struct lossless *ll = net->lossless;
	struct lane *lane = &ll->lanes[number];
	sim_time until;
	uint32_t first;

	if (!lane->stopped)
		return;
	lane->stopped = false;
	net->rare[number].paused_time += net->sim->now - lane->stopped_since;
	first = started(net, number, &until);
	retime(net, number, first, until);
	ll->stopped--;
	if (number < net->hosts)
		nic_go_on(&net->nics[number]);
	else if (lane->in.memory->stopped)
		arm(net, number);
}

/* --- PAUSE frames --- */

/* A port tells its far end to stop or to go on. */
static void send_frame(struct network *net, uint32_t number, bool stop)
{
	struct lane *lane = &net->lossless->lanes[number];
	const struct link_class *link = port_class(net, &net->ports[number]);
	uint32_t first;

	if (lane->frame_start > net->sim->now) { /* it waits for the end of a packet */
		lane->frames[lane->frame_count - 1].stop = stop;
		return;
	}
	first = started(net, number, &lane->frame_start);
	lane->frame_end = lane->frame_start + link_transmission(link, PAUSE_FRAME);
	retime(net, number, first, lane->frame_end);
	if (lane->frame_head == lane->frame_count)
		lane->frame_head = lane->frame_count = 0;
	lane->frames = array_reserve(lane->frames, lane->frame_count, &lane->frame_capacity,
				     sizeof(*lane->frames));
	lane->frames[lane->frame_count++] =
		(struct frame){ .at = lane->frame_end + lane->response, .stop = stop };
	net->lossless->frames++;
	net->created++;
	if (lane->frame_count - lane->frame_head == 1)
		sim_schedule(net->sim, net->lossless->first_frame + number,
			     lane->frame_end + lane->response);
}

/* The frame that port `number` sent takes effect at the far end. */
static void on_frame(struct sim *sim, uint32_t id, void *owner)
{
	struct network *net = owner;
	uint32_t number = id - net->lossless->first_frame;
	struct lane *lane = &net->lossless->lanes[number];
	bool stop = lane->frames[lane->frame_head++].stop;

	if (lane->frame_head < lane->frame_count)
		sim_schedule(sim, id, lane->frames[lane->frame_head].at);
	sim_digest(sim, id, stop);
	net->hops++;
	net->absorbed++;
	net->lossless->frames--;
	net->ports[number].packets++;
	net->ports[number].bytes += PAUSE_FRAME;
	if (stop)
		stop_transmitter(net, lane->reverse);
	else
		start_transmitter(net, lane->reverse);
}

/* --- XOFF and XON --- */

static __attribute__((noinline)) void stop_neighbour(struct network *net, uint32_t in)
{
	struct ingress *ingress = &net->lossless->lanes[in].in;

	settle_switch(net, ingress->memory);
	if (!ingress_full(ingress))
		return;
	ingress_set_stopped(ingress, true);
	if (ingress->memory->stopped == 1)
		arm_switch(net, ingress->memory);
	send_frame(net, in, true);
}

static void wake_neighbours(struct network *net, struct ingress_memory *memory)
{
	const struct switch_node *node = &net->switch_nodes[memory - net->lossless->memories];

	memory->due = false;
	for (uint32_t i = 0; i < node->ports; i++) {
		struct ingress *ingress = &net->lossless->lanes[node->first_port + i].in;

		if (!ingress->stopped || !ingress_low(ingress))
			continue;
		ingress_set_stopped(ingress, false);
		send_frame(net, node->first_port + i, false);
	}
}

static void on_departure(struct sim *sim, uint32_t id, void *owner)
{
	struct network *net = owner;
	uint32_t number = id - net->lossless->first_departure;
	struct ingress_memory *memory = memory_of(net, number);

	(void)sim;
	net->lossless->lanes[number].armed = false;
	settle(net, number);
	if (memory->due)
		wake_neighbours(net, memory);
	if (memory->stopped)
		arm(net, number);
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

static bool drop(struct network *net, uint32_t number)
{
	net->rare[number].drops++;
	net->dropped++;
	net->lossless->refused++;
	return false;
}

/* Charges a packet that came in by port `in`; false: there is no room. */
HOT_INLINE bool take(struct network *net, uint32_t in, uint32_t size)
{
	struct lossless *ll = net->lossless;
	struct ingress *ingress = &ll->lanes[in].in;

	if (__builtin_expect(size > ll->largest, 0))
		ll->largest = size;
	if (__builtin_expect(!ingress_take(ingress, size), 0)) {
		settle_switch(net, ingress->memory);
		if (!ingress_take(ingress, size))
			return false;
	}
	if (__builtin_expect(ingress_full(ingress), 0))
		stop_neighbour(net, in);
	return true;
}

/* Whether ECN marks a packet; its own bytes are in the queue already. */
static __attribute__((noinline)) bool is_marked(struct network *net, uint32_t number,
						const struct packet *packet)
{
	struct port *port = &net->ports[number];
	const struct link_class *link = port_class(net, port);
	uint64_t queue;

	port->queued_bytes -= packet->size;
	port_advance(port, net->sim->now);
	queue = link->ecn_in_packets ? port->count - port->sent : port->queued_bytes;
	port->queued_bytes += packet->size;
	if (queue <= link->ecn_min || !(packet->flags & PACKET_ECT) ||
	    !hop_marks(link, &net->rare[number].mark_stream, queue))
		return false;
	net->rare[number].marks++;
	return true;
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
	if (__builtin_expect(backlog >= (port->max_backlog_ns + UINT64_C(1)) * PS_PER_NS, 0))
		hop_note_backlog(port, backlog);
}

/* A control packet goes in ahead of the data that waits: overtake() of hop.c. */
static __attribute__((noinline)) void overtake(struct network *net, uint32_t number,
					       const struct packet *packet, uint8_t hop)
{
	struct port *port = &net->ports[number];
	struct lane *lane = &net->lossless->lanes[number];
	sim_time until;
	uint32_t first = started(net, number, &until), at = port_behind_control(port, first);
	struct packet *place;

	if (port->count >> port->ring_bits)
		resize(net, number, ring_bits_more(port));
	for (uint32_t i = port->count; i > at; i--)
		lane->charge[ring_index(port, i)] = lane->charge[ring_index(port, i - 1)];
	port_open_place(port, at);
	lane->charge[ring_index(port, at)] = CHARGE_NONE;
	place = &port->ring[ring_index(port, at)];
	*place = *packet;
	place->hop = hop;
	port->count++;
	port->packets++;
	port->bytes += packet->size;
	port->queued_bytes += packet->size;
	retime(net, number, first, until);
	note_backlog(net, port, port->busy_until);
	if (lane->in.memory && lane->in.memory->stopped)
		arm(net, number);
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
			port->queued_bytes -= size;
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
		schedule_head(net, number);
	note_backlog(net, port, depart);
	if (__builtin_expect(lane->in.memory && lane->in.memory->stopped, 0))
		arm(net, number);
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
	uint32_t waited = !port->sent, size = port_head(port)->size;

	port->sent -= !waited;
	port->queued_bytes -= size & -waited;
	if (__builtin_expect(lane->given != 0, 0))
		lane->given--;
	else
		give_back(net->lossless, lane->charge[port->head], size);
	if (--port->count) {
		port->head = ring_index(port, 1);
		schedule_head(net, number);
	} else {
		port->head = 0;
	}
	if (__builtin_expect(ring_is_wide(port), 0))
		resize(net, number, port->ring_bits - 1);
}

/* Sends what a scheme wants; the copies of a packet share one charge to `in`. */
static void send_copies(struct network *net, uint32_t in, const struct switch_send *send)
{
	uint32_t charge = in;

	net->created += send->count;
	if (!send->count)
		return;
	if (!take(net, in, send->packet.size)) {
		for (uint32_t i = 0; i < send->count; i++)
			drop(net, send->ports[i]);
		return;
	}
	if (send->count > 1)
		charge = new_cell(net->lossless, in, send->packet.size, send->count);
	for (uint32_t i = 0; i < send->count; i++)
		put(net, send->ports[i], &send->packet, send->packet.hop, charge);
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

static void aggregate(struct network *net, uint32_t in, uint32_t sw, struct packet *packet)
{
	const struct protocol_ops *ops = net->protocols[packet->protocol].ops;
	struct switch_actions actions;

	actions.forward = false;
	actions.count = 0;
	ops->at_switch(net->protocols[packet->protocol].self, sw, in, packet, &actions);
	if (actions.forward)
		forward(net, in, net->switch_nodes[sw].first_port + packet->route[packet->hop],
			packet, packet->hop + 1, false);
	else
		net->absorbed++;
	for (unsigned i = 0; i < actions.count; i++)
		send_copies(net, in, &actions.send[i]);
}

/* The packet at the head of a port's ring reaches the far end. */
HOT_INLINE void arrive(struct sim *sim, uint32_t number, void *owner, bool classes)
{
	struct network *net = owner;
	struct port *port = &net->ports[number];
	const struct packet *head = port_head(port);
	uint32_t in = net->lossless->lanes[number].reverse;
	struct packet packet;

	net->hops++;
	sim_digest(sim, number, head->seq ^ packet_label(head));
	if (__builtin_expect(port->special, 0) && hop_lose(net, number)) {
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
	if (port->to_host) {
		net->delivered++;
		net->protocols[packet.protocol].ops->deliver(net->protocols[packet.protocol].self,
							     port->to_port, &packet);
	} else {
		aggregate(net, in, port->to - net->hosts, &packet);
	}
}

static void on_arrival(struct sim *sim, uint32_t number, void *owner)
{
	arrive(sim, number, owner, false);
}

static void on_classed_arrival(struct sim *sim, uint32_t number, void *owner)
{
	arrive(sim, number, owner, true);
}

/* --- building and asking --- */

static uint32_t add_entities(struct network *net, enum sim_class class, uint64_t base,
			     sim_handler *handler, const char *name)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < net->port_count; i++) {
		uint32_t id =
			sim_add_entity(net->sim, class, sim_key(class, base + i), handler, net);

		first = i ? first : id;
	}
	sim_name(net->sim, handler, name);
	return first;
}

void lossless_init(struct network *net)
{
	struct lossless *ll = xcalloc(1, sizeof(*ll));

	net->lossless = ll;
	net->sim->block.handler = on_arrival;
	ll->lanes = xaligned(64, net->port_count * sizeof(*ll->lanes));
	ll->memories = xcalloc(net->switches, sizeof(*ll->memories));
	ll->free_cell = CHARGE_NONE;
	for (uint32_t i = 0; i < net->port_count; i++)
		ll->lanes[i].charge = ll->lanes[i].small;
	/* port p of a host has no departures, so the keys differ from those of NICs */
	ll->first_departure =
		add_entities(net, SIM_DEPARTURE, 0, on_departure, "departures of port %n");
	ll->first_frame =
		add_entities(net, SIM_ARRIVAL, FRAME_KEYS, on_frame, "PAUSE frame of port %w");
	ll->watch = sim_add_entity(net->sim, SIM_SAMPLE, sim_key(SIM_SAMPLE, UINT64_C(1) << 40),
				   lossless_on_watch, net);
	sim_name(net->sim, lossless_on_watch, "deadlock watch");
}

void lossless_control_first(struct network *net)
{
	net->sim->block.handler = on_classed_arrival;
}

void lossless_release(struct network *net)
{
	struct lossless *ll = net->lossless;

	if (!ll)
		return;
	for (uint32_t i = 0; i < net->port_count; i++) {
		if (ll->lanes[i].charge != ll->lanes[i].small)
			free(ll->lanes[i].charge);
		free(ll->lanes[i].frames);
	}
	free(ll->lanes);
	free(ll->memories);
	free(ll->cells);
	free(ll);
	net->lossless = NULL;
}

/* The switch to which a port belongs. */
static uint32_t switch_of(const struct network *net, uint32_t port)
{
	uint32_t low = 0, high = net->switches;

	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (net->switch_nodes[middle].first_port <= port)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void lossless_join(struct network *net, uint32_t port, const struct pause_params *pause)
{
	struct lossless *ll = net->lossless;
	struct lane *lane = &ll->lanes[port];

	lane->reverse = net->rare[port].reverse;
	if (port < net->hosts)
		return;
	SIM_BUG_ON(!pause->on);
	ingress_init(&lane->in, &ll->memories[switch_of(net, port)], pause);
	lane->response = pause->delay + pause->response;
	ll->mtu = pause->mtu;
}

const struct ingress *lossless_ingress(const struct network *net, uint32_t port)
{
	return &net->lossless->lanes[port].in;
}

sim_time lossless_paused(const struct network *net, uint32_t port)
{
	const struct lane *lane = &net->lossless->lanes[port];

	return net->rare[port].paused_time +
	       (lane->stopped ? net->sim->now - lane->stopped_since : 0);
}

uint64_t lossless_frames(const struct network *net)
{
	return net->lossless->frames;
}
