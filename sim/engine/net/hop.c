/* The hot path: a packet between two nodes. Here every instruction and every
 * cache line counts. */
#include "net/hop.h"

#include "net/legs.h"
#include "net/outage.h"
#include "net/record.h"
#include "net/sched.h"
#include "net/shared.h"
#include "net/telemetry.h"
#include "net/watch.h"

#define TRIM_ROOM 2 /* for control packets, in limits of the queue, where switches trim */

/* --- into a queue --- */

static __attribute__((noinline)) void resize(struct network *net, uint32_t number, uint8_t bits)
{
	port_resize(&net->ports[number], bits);
}

/* Packets keep their order. */
__attribute__((noinline)) sim_time hop_jittered(struct network *net, uint32_t number,
						sim_time arrival)
{
	struct port_cold *cold = &net->cold[number];
	const struct port *port = &net->ports[number];
	const struct link_class *link = port_class(net, port);
	sim_time max = link->jitter_max;
	bool delayed = net->faults && net->faults->delay;

	if (!max && !delayed && !link->cores)
		return arrival;
	if (max)
		arrival += rng_below(&cold->jitter_stream, max + 1);
	if (delayed)
		arrival += net->faults->delay(net->faults->owner, number, port_head(port));
	cold->former_arrival = cold->last_arrival;
	if (arrival < cold->last_arrival)
		arrival = cold->last_arrival;
	if (link->cores)
		arrival += cores_time(&link->of_cores, port_head(port)->size);
	cold->last_arrival = arrival;
	return arrival;
}

/* Whether a packet is marked by chance. The probability rises linearly between ecn_min and ecn_max
 * (RED on the instantaneous queue, as at DCQCN's congestion point). */
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

__attribute__((noinline)) void hop_longest_backlog(struct port *port, sim_time backlog)
{
	backlog /= PS_PER_NS;
	port->max_backlog_ns = backlog < UINT32_MAX ? (uint32_t)backlog : UINT32_MAX;
}

void hop_queued(struct network *net, uint32_t number, const struct packet *packet, uint32_t at)
{
	if (net->onlooker)
		net->onlooker->queued(net->onlooker, number, packet, at);
	if (net->recorder)
		network_repeat_queued(net, number, packet);
	if (net->telemetry && number >= net->host_ports)
		telemetry_look(net, number);
}

/* Puts an admitted control packet ahead of the waiting data, but behind the packet that is being
 * sent and the waiting control packets. The packets that it overtakes leave later, by its
 * transmission time. */
static __attribute__((noinline)) void overtake(struct network *net, uint32_t number,
					       const struct packet *packet, uint8_t hop)
{
	struct port *port = &net->ports[number];
	sim_time wire = link_transmission(port_class(net, port), packet->size);
	uint32_t at = port_behind_control(port, port->sent + 1);

	hop_queued(net, number, packet, at);
	if (port->count >> port->ring_bits)
		resize(net, number, ring_bits_more(port));
	port_insert(port, at, packet, hop);
	port->ring[ring_index(port, at)].depart =
		port->ring[ring_index(port, at - 1)].depart + wire;
	for (uint32_t i = at + 1; i < port->count; i++)
		port->ring[ring_index(port, i)].depart += wire;
	port->busy_until += wire;
	hop_note_backlog(port, port->busy_until - net->sim->now);
}

static void drop(struct network *net, uint32_t number, const struct packet *packet)
{
	net->ports[number].queued_bytes -= packet->size;
	net->cold[number].drops++;
	net->dropped++;
}

/* Whether a port has room for a packet, which queued_bytes includes. */
static bool fits(struct network *net, uint32_t number, const struct packet *packet)
{
	const struct port *port = &net->ports[number];
	uint64_t limit = port_class(net, port)->limit_bytes;

	if (net->trim && packet_is_control(packet))
		return port->queued_bytes / (1 + TRIM_ROOM) <= limit;
	return port->queued_bytes <= limit &&
	       (!net->shared || shared_takes(net, number, port->queued_bytes, packet->size));
}

static bool may_trim(const struct network *net, uint32_t number, const struct packet *packet)
{
	const struct protocol_ops *ops = net->protocols[packet->protocol].ops;

	return number >= net->host_ports && packet->kind == PACKET_DATA &&
	       !packet_is_control(packet) && ops->trims &&
	       ops->trims(net->protocols[packet->protocol].self, packet);
}

/* Cuts a packet that the port has no room for, and which queued_bytes includes. */
static void trim(struct network *net, uint32_t number, const struct packet *packet, uint8_t hop)
{
	struct port *port = &net->ports[number];
	struct packet cut = *packet;

	cut.size = TRIMMED_FRAME;
	cut.payload = 0;
	cut.flags = (uint8_t)((cut.flags & ~PACKET_ECT) | PACKET_URGENT);
	port->queued_bytes -= packet->size - TRIMMED_FRAME;
	net->trimmed++;
	if (fits(net, number, &cut))
		overtake(net, number, &cut, hop);
	else
		drop(net, number, &cut);
}

/* admit() of a switch with queues by class: where the port is not free, the packet waits in one. */
static __attribute__((noinline)) enum admission
admit_to_class(struct network *net, uint32_t number, const struct packet *packet, uint8_t hop)
{
	struct port *port = &net->ports[number];
	const struct link_class *link = port_class(net, port);
	struct packet waits = *packet;
	uint64_t queue;
	uint8_t class;
	bool marked;

	port_advance_with(port, net->sim->now, packet->size);
	class = sched_class_of(net, packet);
	queue = sched_queue(net, number, class, packet->size, false);
	if (queue + packet->size > link->limit_bytes ||
	    (net->shared && !shared_takes(net, number, queue + packet->size, packet->size))) {
		drop(net, number, packet);
		return ADMISSION_OVER;
	}
	if (link->ecn_in_packets)
		queue = sched_queue(net, number, class, packet->size, true);
	marked = queue > link->ecn_min && packet->flags & PACKET_ECT &&
		 hop_marks_long(net, number, queue);
	if (port->sent == port->count && !sched_waiting(net, number)) {
		sched_passes(net, number, class);
		return marked ? ADMIT_MARKED : ADMIT;
	}
	if (marked)
		waits.flags |= PACKET_CE;
	if (!sched_waiting(net, number))
		sim_schedule(net->sim, sched_entity(net, number), port->busy_until);
	waits.hop = hop;
	port->queued_bytes -= packet->size;
	sched_put(net, number, &waits, class);
	hop_note_backlog(port, port->busy_until - net->sim->now + sched_time(net, number));
	return ADMISSION_OVER;
}

/* hop_kind.admit without PAUSE: finds the true length of the queue, and admits, marks or
 * drops the packet. In a network with classes a control packet may overtake data. */
static __attribute__((noinline)) enum admission admit(struct network *net, uint32_t number,
						      const struct packet *packet, uint8_t hop)
{
	struct port *port = &net->ports[number];

	if (net->sched && number >= net->host_ports)
		return admit_to_class(net, number, packet, hop);
	port_advance_with(port, net->sim->now, packet->size);
	if (!fits(net, number, packet)) {
		if (net->trim && may_trim(net, number, packet))
			trim(net, number, packet, hop);
		else
			drop(net, number, packet);
		return ADMISSION_OVER;
	}
	if (net->control_first && packet_is_control(packet) && port->sent < port->count) {
		overtake(net, number, packet, hop);
		return ADMISSION_OVER;
	}
	hop_queued(net, number, packet, port->count);
	if (net->control_first && packet_is_control(packet))
		return ADMIT;
	return hop_marks(net, number, packet) ? ADMIT_MARKED : ADMIT;
}

/* Of a packet that has waited in the queue of its class. */
static enum admission admit_released(struct network *net, uint32_t number,
				     const struct packet *packet, uint8_t hop)
{
	(void)net, (void)number, (void)packet, (void)hop;
	return ADMIT;
}

static const struct hop_kind plain;

HOT_INLINE void forward(struct network *net, uint32_t in, uint32_t out, const struct packet *packet,
			uint8_t hop)
{
	(void)in;
	hop_put(net, out, packet, hop, 0, &plain);
}

void hop_send(struct network *net, uint32_t port, const struct packet *packet)
{
	hop_put(net, port, packet, packet->hop, 0, &plain);
}

void hop_switch_send(struct network *net, uint32_t back, const struct switch_send *send)
{
	(void)back;
	net->created += send->count;
	for (uint32_t i = 0; i < send->count; i++) {
		hop_prefetch_copies(net, send->ports, i, send->count);
		hop_send(net, send->ports[i], &send->packet);
	}
}

void hop_switch_send_each(struct network *net, uint32_t back, const struct packet *packets,
			  const uint32_t *ports, uint32_t count)
{
	(void)back;
	net->created += count;
	for (uint32_t i = 0; i < count; i++)
		hop_send(net, ports[i], &packets[i]);
}

static inline uint32_t reverse_of(const struct network *net, uint32_t number)
{
	return net->cold[number].reverse;
}

/* --- switches that choose the port themselves --- */

/* How long a queue is, from 0 to 3: below once, twice, four times `step`, or longer. */
HOT_INLINE unsigned queue_level(const struct network *net, uint32_t port, sim_time step)
{
	sim_time until = net->ports[port].busy_until, now = net->sim->now;
	sim_time queue = until > now ? until - now : 0;

	return queue < step ? 0 : queue < 2 * step ? 1 : queue < 4 * step ? 2 : 3;
}

/* The port by which a packet leaves instead of `out`: DATA on its way up takes one of the shortest
 * queues, by chance. */
HOT_INLINE uint32_t balance(struct network *net, uint32_t out, const struct packet *packet)
{
	uint32_t sw = net->ports[net->cold[out].reverse].to - net->hosts, shortest = 0, p;
	struct balance *b = &net->balance[sw];
	unsigned levels = 4;
	uint64_t which;

	if (out < b->first_up || packet->kind != PACKET_DATA)
		return out;
	for (p = b->first_up; p < b->end; p++) {
		unsigned level = queue_level(net, p, b->step);

		shortest = level < levels ? 1 : shortest + (level == levels);
		levels = level < levels ? level : levels;
	}
	which = rng_below(&b->ties, shortest);
	for (p = b->first_up; queue_level(net, p, b->step) != levels || which--; p++)
		;
	return p;
}

HOT_INLINE void forward_balanced(struct network *net, uint32_t in, uint32_t out,
				 const struct packet *packet, uint8_t hop)
{
	forward(net, in, balance(net, out, packet), packet, hop);
}

static const struct hop_kind plain = { .admit = admit,
				       .resize = resize,
				       .forward = forward,
				       .copies = hop_switch_send,
				       .reverse = reverse_of };
static const struct hop_kind released = { .admit = admit_released, .resize = resize };
static const struct hop_kind balanced = { .admit = admit,
					  .resize = resize,
					  .forward = forward_balanced,
					  .copies = hop_switch_send,
					  .reverse = reverse_of };

/* The port has sent a packet, and others wait. */
void hop_port_free(struct sim *sim, uint32_t entity, void *owner)
{
	struct network *net = owner;
	uint32_t number = sched_port(net, entity);
	struct packet packet = sched_take(net, number);

	hop_put(net, number, &packet, packet.hop, 0, &released);
	if (sched_waiting(net, number))
		sim_schedule(sim, entity, net->ports[number].busy_until);
}

/* --- out of a queue --- */

/* The packet at the head takes its next leg if it is time to. The parameter is the port, because
 * the packet is const in hop_lose(). */
static void take_leg(const struct network *net, struct port *port)
{
	struct packet *head = &port->ring[port->head];

	if (!port->to_host && head->hop == LEG_TAKE_AT)
		legs_take(net->legs, head);
}

__attribute__((noinline)) bool hop_lose(struct network *net, uint32_t number,
					const struct packet *packet)
{
	struct port_cold *cold = &net->cold[number];
	uint64_t threshold = port_class(net, &net->ports[number])->loss_threshold;

	if (net->watch)
		net_watch_count(net, number, packet);
	if (net->telemetry && number >= net->host_ports)
		telemetry_look(net, number);
	if (!(net->outages && outage_takes(net, number, packet)) &&
	    (!threshold || rng_u64(&cold->loss_stream) >= threshold) &&
	    !(net->faults && net->faults->lose &&
	      net->faults->lose(net->faults->owner, number, packet))) {
		if (net->legs)
			take_leg(net, &net->ports[number]);
		return false;
	}
	cold->losses++;
	net->lost++;
	/* in the digest, because a loss may have no other effect */
	sim_digest(net->sim, number, UINT64_MAX);
	return true;
}

static __attribute__((noinline)) void aggregate(struct network *net, uint32_t number,
						struct packet *packet)
{
	hop_aggregate(net, number, packet, &plain);
}

void hop_arrive(struct sim *sim, uint32_t number, void *owner)
{
	(void)sim;
	hop_path(owner, number, &plain, aggregate);
}

void hop_arrive_balanced(struct sim *sim, uint32_t number, void *owner)
{
	(void)sim;
	hop_path(owner, number, &balanced, aggregate);
}
