/* The ways of packets, queue by queue. Packets have no room for this, so each port has a second
 * ring beside its ring of packets. The second ring says since when a packet has been in the queue,
 * and which way the packet has come. If a packet makes a switch or host send a packet, the new
 * packet continues the way. A sum continues the way of the contribution that completed it. */
#include "why/why_parts.h"

#include "base/hash.h"
#include "base/mem.h"
#include "net/lossless.h"
#include "net/outage.h"

#include <stdlib.h>
#include <string.h>

#define RING_FIRST 8     /* places of a port's second ring at first; a power of two */
#define LOOK_BACK  16    /* look at this many packets before one in a queue */
#define KNOWN_SETS 16384 /* of each table of struct why_known; a power of two */
#define KNOWN_WAYS 4     /* entries of a set (a cache line): a new one replaces the oldest */

/* --- steps --- */

static void grow_steps(struct why *why)
{
	size_t capacity = why->step_capacity ? 2 * why->step_capacity : 1024;
	struct why_step *steps = xaligned_raw(64, capacity * sizeof(*steps));

	if (why->steps)
		memcpy(steps, why->steps, why->step_count * sizeof(*steps));
	free(why->steps);
	why->steps = steps;
	why->step_capacity = capacity;
}

static uint32_t new_step(struct why *why)
{
	uint32_t number = why->idle_step;

	if (number) {
		why->idle_step = why->steps[number].previous;
	} else {
		if (why->step_count == why->step_capacity)
			grow_steps(why);
		number = (uint32_t)why->step_count++;
	}
	why->steps[number] = (struct why_step){ .users = 1 };
	return number;
}

uint32_t why_step_use(struct why *why, uint32_t step)
{
	why->steps[step].users += step != 0;
	return step;
}

void why_step_release(struct why *why, uint32_t step)
{
	while (step && !--why->steps[step].users) {
		uint32_t previous = why->steps[step].previous;

		why->steps[step].previous = why->idle_step;
		why->idle_step = step;
		step = previous;
	}
}

/* --- what is known of packets --- */

static struct why_known *known_new(void)
{
	return xaligned(64, (size_t)KNOWN_SETS * KNOWN_WAYS * sizeof(struct why_known));
}

static struct why_known *set_of(struct why_known *table, uint64_t key)
{
	return &table[KNOWN_WAYS * (key & (KNOWN_SETS - 1))];
}

static const struct why_known *find(struct why_known *table, uint64_t key)
{
	const struct why_known *set = set_of(table, key);

	for (unsigned i = 0; i < KNOWN_WAYS; i++)
		if (set[i].key == key)
			return &set[i];
	return NULL;
}

/* Adds an entry. Returns the one that it replaces: the entry with the same key or, if there is
 * none, the oldest of the set. */
static struct why_known know(struct why_known *table, struct why_known entry)
{
	struct why_known *set = set_of(table, entry.key), old;
	unsigned i = 0;

	while (i < KNOWN_WAYS - 1 && set[i].key != entry.key)
		i++;
	old = set[i];
	memmove(set + 1, set, i * sizeof(*set));
	set[0] = entry;
	return old;
}

/* The key of what a packet carries. In a scheme's flow: the chunk at this node; the low 32 bits of
 * packet.seq are its number. On a connection (`flow` is NULL): the part of the stream. */
static uint64_t key_at(uint32_t node, const struct packet *packet, const struct why_flow *flow)
{
	uint64_t who = (uint64_t)packet->protocol << 32;

	if (!flow)
		return hash_pair(who | packet->flow, hash_pair(packet->generation, packet->seq));
	who |= flow->bypass.together ? flow->bypass.together - 1 : packet->flow;
	return hash_pair(who, node) + (uint32_t)packet->seq;
}

static uint64_t chunk_key(uint32_t job, uint8_t protocol, uint64_t chunk)
{
	return hash_pair((uint64_t)protocol << 32 | job, (uint32_t)chunk);
}

enum why_trouble why_trouble_of(const struct why *why, uint32_t job, uint8_t protocol,
				uint64_t chunk)
{
	const struct why_known *known = find(why->troubles, chunk_key(job, protocol, chunk));

	return known ? known->trouble : WHY_NO_TROUBLE;
}

void why_note_trouble(struct why *why, uint32_t job, uint8_t protocol, uint64_t chunk,
		      enum why_trouble trouble)
{
	if (trouble > why_trouble_of(why, job, protocol, chunk))
		know(why->troubles, (struct why_known){ .key = chunk_key(job, protocol, chunk),
							.trouble = trouble });
}

/* A packet is sent again: its chunk counts as lost, unless it is known to lack an aggregator. */
static void note_resent(struct why *why, uint32_t job, const struct packet *packet, bool timed)
{
	if (why_trouble_of(why, job, packet->protocol, packet->seq) != WHY_LACKED)
		why_note_trouble(why, job, packet->protocol, packet->seq,
				 timed ? WHY_LOST_TIMED : WHY_LOST);
}

/* The scheme's flow that a packet belongs to; NULL for TCP and RoCE. */
static struct why_flow *flow_of(const struct why *why, const struct packet *packet)
{
	return packet->flow < why->flow_count[packet->protocol]
		       ? &why->flows[packet->protocol][packet->flow]
		       : NULL;
}

static struct why_connection *conn_of(const struct why *why, const struct packet *packet)
{
	return why_connection_of(why, packet->protocol, packet->flow);
}

/* The owner of a packet, as in struct why_volume. */
static uint32_t owner_of(const struct why *why, const struct packet *packet)
{
	uint8_t protocol = packet->protocol;
	const struct why_flow *flow = flow_of(why, packet);

	if (flow)
		return flow->owner;
	return packet->flow < why->conn_capacity[protocol]
		       ? why->conns[protocol][packet->flow].owner
		       : 0;
}

static bool is_of_job(uint32_t owner)
{
	return owner && !(owner & WHY_FLOWS);
}

/* --- where a way begins --- */

/* Notes whether the packet was sent before, and when it was first sent. */
static void note_sent(struct why *why, const struct packet *packet, struct why_step *step)
{
	uint64_t key = key_at(step->place, packet, flow_of(why, packet));
	const struct why_known *known = find(why->sent, key);

	step->again = packet->flags & PACKET_RETRANSMIT;
	step->first = known ? known->at : SIM_TIME_MAX;
	if (!step->again || !known)
		know(why->sent, (struct why_known){ .key = key, .at = why->net->sim->now });
}

/* The oldest packet of a line to look at for packet `number`. Older packets count for little, or
 * their places in the ring have been reused. */
static uint64_t first_before(const struct why_line *line, uint64_t number)
{
	uint64_t near = number > LOOK_BACK ? number - LOOK_BACK : 0;
	uint64_t kept = line->end > line->mask ? line->end - line->mask - 1 : 0;

	return near > kept ? near : kept;
}

/* Notes how long the NIC was busy right before the packet that leaves now, with its own job or with
 * others. Looks back from the newest packet to a gap, or to the first packet of the other kind. */
static void note_turn(const struct why *why, uint32_t port, uint32_t owner, struct why_step *step)
{
	const struct why_line *line = &why->lines[port];
	const struct link_class *link = port_class(why->net, &why->net->ports[port]);
	uint64_t first = first_before(line, line->end);
	sim_time start = why->net->sim->now;

	for (uint64_t i = line->end; line->ring && i-- > first;) {
		const struct why_queued *other = &line->ring[i & line->mask];
		sim_time wire = link_transmission(link, other->size);
		bool own = other->owner == owner;

		if (other->depart < start || (step->behind && own == step->others))
			break;
		step->others = !own;
		step->behind += wire;
		start -= wire;
	}
}

static uint32_t begin(struct why *why, uint32_t port, const struct packet *packet,
		      const struct why_job *job, uint32_t worker)
{
	uint32_t number = new_step(why);
	struct why_step *step = &why->steps[number];

	step->place = worker;
	step->sent = step->ready = why->net->sim->now;
	note_turn(why, port, job->number + 1, step);
	note_sent(why, packet, step);
	return number;
}

static void continue_way(struct why *why, struct why_step *step, uint32_t way, sim_time ready)
{
	step->previous = why_step_use(why, way);
	step->ready = ready;
	step->place = WHY_NONE;
	step->stream = true; /* its turn counts from then */
}

/* What a worker sends because another asks for it, once it has the data to answer, continues the
 * question's way. */
static bool continue_question(struct why *why, const struct packet *packet, uint32_t host,
			      struct why_step *step)
{
	const struct why_known *known =
		find(why->nodes, key_at(host, packet, flow_of(why, packet)));

	if (!known || !known->step || why->steps[known->step].arrived < step->ready)
		return false;
	continue_way(why, step, known->step, why->steps[known->step].arrived);
	return true;
}

/* A contribution leaves its worker. */
static uint32_t begin_chunk(struct why *why, uint32_t port, const struct packet *packet,
			    const struct why_job *job, const struct why_place *place)
{
	uint32_t number = begin(why, port, packet, job, place->worker);
	struct why_step *step = &why->steps[number];

	step->ready = place->handed;
	step->cut = job->accounts[place->worker].cut;
	step->timed = step->first == SIM_TIME_MAX ||
		      flow_of(why, packet)->chunks->timed_out >= step->first;
	if (step->again)
		note_resent(why, job->number, packet, step->timed);
	if (!(flow_of(why, packet)->bypass.answers &&
	      continue_question(why, packet, place->host, step)) &&
	    place->way)
		continue_way(why, step, place->way, place->handed);
	return number;
}

/* The write that brought position `seq` of the stream: a byte (TCP) or a packet (RoCE). NULL: the
 * stream does not reach as far. */
static const struct why_write *write_of(const struct why_connection *conn, uint64_t seq)
{
	uint64_t acked = *conn->conn.acked, first = conn->oldest, end = conn->written;
	uint64_t byte = acked + ((seq - acked) & conn->conn.mask);

	while (first < end) {
		uint64_t middle = first + (end - first) / 2;

		if (conn->writes[middle & conn->mask].end > byte)
			end = middle;
		else
			first = middle + 1;
	}
	return first < conn->written ? &conn->writes[first & conn->mask] : NULL;
}

/* Notes that a segment leaves. After a timeout all unacknowledged segments are sent again, so
 * conn->timed stays set until a segment is new. */
static void note_segment(struct why_connection *conn, sim_time now, bool again)
{
	bool timed_out = *conn->conn.timeouts != conn->timeouts;

	if (timed_out && !conn->timed)
		conn->silence = conn->sent;
	if (timed_out)
		conn->spoke = now;
	conn->timed = again && (conn->timed || timed_out);
	conn->timeouts = *conn->conn.timeouts;
	conn->sent = now;
}

/* If a failed link has lost what a connection sent since `from`, its timeout, which ends at `end`,
 * is the failure's until there is a way again, and then the timer's back-off. */
static void note_outage(const struct why *why, const struct why_connection *conn, sim_time from,
			sim_time end, struct why_step *step)
{
	size_t i = why->reopened_count;

	if (!conn->lost || conn->lost < from || conn->lost > end)
		return;
	while (i && why->reopened[i - 1] >= conn->lost)
		i--;
	step->outage = true;
	if (i < why->reopened_count && why->reopened[i] < end)
		step->backoff_us = (uint32_t)((end - why->reopened[i]) / PS_PER_US);
}

/* A new segment, written before its sender last waited for a timeout, was ready to be sent when
 * that was over. The wait begins where this step ends. */
static uint32_t begin_before_silence(struct why *why, const struct why_connection *conn,
				     uint32_t number)
{
	uint32_t earlier = new_step(why);
	struct why_step *step = &why->steps[number];

	why->steps[earlier] = *step;
	why->steps[earlier].users = 1;
	why->steps[earlier].sent = conn->silence > step->ready ? conn->silence : step->ready;
	why->steps[earlier].behind = 0;
	step->previous = earlier;
	step->place = WHY_NONE;
	step->silent = true;
	step->ready = conn->spoke;
	note_outage(why, conn, conn->silence, conn->spoke, step);
	return number;
}

/* A segment leaves its sender. */
static uint32_t begin_segment(struct why *why, uint32_t port, const struct packet *packet,
			      const struct why_job *job, struct why_connection *conn)
{
	const struct why_write *write = write_of(conn, packet->seq);
	uint32_t number = begin(why, port, packet, job, conn->from);
	struct why_step *step = &why->steps[number];

	if (write && write->step && conn->conn.stream != WHY_RECOVERY) {
		step->place = WHY_NONE;
		step->depth = (uint16_t)(why->steps[write->step].depth + 1);
	}
	if (write) {
		step->ready = write->at;
		step->wrote = write->previous;
		step->previous = why_step_use(why, write->step);
		step->recovery = conn->conn.stream == WHY_RECOVERY && !write->step;
		step->timed = !write->answers; /* a timer made the owner write */
	}
	step->stream = true;
	note_segment(conn, why->net->sim->now, step->again);
	step->cut = *conn->conn.losses  ? WHY_CUT_BY_LOSSES
		    : *conn->conn.marks ? WHY_CUT_BY_MARKS
					: WHY_UNCUT;
	if (step->again)
		step->timed = conn->timed;
	if (step->again)
		note_outage(why, conn, step->first == SIM_TIME_MAX ? conn->silence : step->first,
			    step->sent, step);
	return !step->again && conn->spoke > step->ready ? begin_before_silence(why, conn, number)
							 : number;
}

/* --- into a queue --- */

/* Notes that the chunk lacks an aggregator: no switch adds it, or another packet has pushed it out.
 * Does nothing if the switch sends the chunk because a reminder fetches it. A reminder has no
 * contributors in the upper half of packet.seq. */
static void note_bypass(struct why *why, const struct why_job *job, const struct packet *packet)
{
	bool reminded = why->current.step && why->current.chunk && !(why->current.seq >> 32);

	if (!reminded)
		why_note_trouble(why, job->number, packet->protocol, packet->seq, WHY_LACKED);
}

/* The packet that arrives now pushes out a sum. The sum does not continue that packet's way. */
static uint32_t begin_pushed(struct why *why)
{
	uint32_t number = new_step(why);
	struct why_step *step = &why->steps[number];

	step->pushed = true;
	step->place = why->current.owner - 1;
	step->sent = step->ready = why->net->sim->now;
	return number;
}

/* The step that a packet continues; 0 = none. The first of these that exists:
 *   - the step of the packet that arrives now, if it is of the same chunk or on a connection of
 *     the job;
 *   - a new step, if the packet that arrives now pushes this one out of its aggregator;
 *   - the step of the chunk's newest arrival at the node;
 *   - the step of the packet that arrives now, if it is of another chunk of the job. */
static uint32_t go_on(struct why *why, uint32_t node, const struct packet *packet,
		      const struct why_job *job)
{
	const struct why_flow *flow = flow_of(why, packet);
	bool here = why->current.step && why->current.node == node;
	bool own = here && why->current.owner == job->number + 1;
	const struct why_known *known;

	if (own && (!why->current.chunk || (uint32_t)why->current.seq == (uint32_t)packet->seq))
		return why_step_use(why, why->current.step);
	if (here && node >= why->net->hosts && flow->bypass.detour)
		return begin_pushed(why);
	known = find(why->nodes, key_at(node, packet, flow));
	if (known)
		return why_step_use(why, known->step);
	return own ? why_step_use(why, why->current.step) : 0;
}

/* A server's timer has fired, so the server asks for what it misses. */
static uint32_t begin_reminder(struct why *why, uint32_t port, const struct packet *packet,
			       const struct why_job *job)
{
	uint32_t number = begin(why, port, packet, job, WHY_NONE);

	why->steps[number].recovery = why->steps[number].timed = true;
	note_resent(why, job->number, packet, true);
	return number;
}

/* The step with which a packet of a scheme's flow enters a queue; 0 = unknown. */
static uint32_t step_of_chunk(struct why *why, uint32_t port, const struct packet *packet,
			      const struct why_job *job)
{
	bool at_host = port < why->net->host_ports;
	const struct why_flow *flow = flow_of(why, packet);
	const struct why_place *place =
		at_host ? why_place_at(job, flow->chunks->instance, network_node(why->net, port))
			: NULL;
	uint32_t step;

	if (place && !(packet->flags & PACKET_RESULT))
		return begin_chunk(why, port, packet, job, place);
	if (at_host && !place && !why->current.step && !(packet->flags & PACKET_RESULT))
		return begin_reminder(why, port, packet, job);
	if (!at_host && packet->flags & flow->bypass.flag)
		note_bypass(why, job, packet);
	step = go_on(why, network_node(why->net, port), packet, job);
	return step || !place ? step : begin_chunk(why, port, packet, job, place);
}

static uint32_t step_of(struct why *why, uint32_t port, const struct packet *packet,
			const struct why_job *job)
{
	if (flow_of(why, packet))
		return step_of_chunk(why, port, packet, job);
	if (packet->kind != PACKET_DATA)
		return 0;
	if (port >= why->net->host_ports)
		return why_step_use(why, why->current.step); /* forwards the arrival */
	return begin_segment(why, port, packet, job, conn_of(why, packet));
}

static void grow(struct why_line *line)
{
	uint32_t mask = line->ring ? 2 * line->mask + 1 : RING_FIRST - 1;
	struct why_queued *ring = xcalloc((size_t)mask + 1, sizeof(*ring));
	uint64_t oldest = line->end > line->mask ? line->end - line->mask - 1 : 0;

	for (uint64_t i = oldest; line->ring && i < line->end; i++)
		ring[i & mask] = line->ring[i & line->mask];
	free(line->ring);
	line->ring = ring;
	line->mask = mask;
}

static void queued(struct net_onlooker *self, uint32_t port, const struct packet *packet,
		   uint32_t at)
{
	struct why *why = (struct why *)(void *)self;
	struct why_line *line = &why->lines[port];
	uint32_t owner = owner_of(why, packet);
	const struct why_job *job = is_of_job(owner) ? why_job_at(why, owner - 1) : NULL;
	sim_time busy = why->net->ports[port].busy_until;
	sim_time wire =
		link_transmission(port_class(why->net, &why->net->ports[port]), packet->size);
	struct why_queued entry = { .since = why->net->sim->now,
				    .size = packet->size,
				    .owner = owner };

	if (job)
		entry.step = step_of(why, port, packet, job);
	entry.depart = busy == SIM_TIME_MAX ? busy /* unknown: other packets may overtake it */
					    : (busy > entry.since ? busy : entry.since) + wire;
	if (!line->ring || line->end - line->first > line->mask / 2)
		grow(line); /* half of the ring keeps packets that have left */
	for (uint64_t i = line->end++; i > line->first + at; i--)
		line->ring[i & line->mask] = line->ring[(i - 1) & line->mask];
	line->ring[(line->first + at) & line->mask] = entry;
	if (why->listener)
		why->listener->queued(why->listener->owner, port);
}

/* --- out of a queue --- */

static unsigned kind_before(uint32_t owner, uint32_t self)
{
	return owner == self ? BEFORE_OWN : is_of_job(owner) ? BEFORE_JOBS : BEFORE_FLOWS;
}

/* Adds up what the link did while entry `number` waited, from `start` backwards. A link that sends
 * nothing while a packet waits is paused. */
static void look_back(const struct why_line *line, uint64_t number, const struct link_class *link,
		      sim_time start, uint64_t before[BEFORE_KINDS])
{
	const struct why_queued *self = &line->ring[number & line->mask];
	uint64_t first = first_before(line, number);

	for (uint64_t i = number; i-- > first && start > self->since;) {
		const struct why_queued *other = &line->ring[i & line->mask];
		sim_time wire = link_transmission(link, other->size);
		sim_time end = other->depart > self->since ? other->depart : self->since;

		if (end < start)
			before[BEFORE_PAUSE] += start - end;
		start = end;
		if (end == self->since)
			return;
		end = end - wire > self->since ? end - wire : self->since;
		before[kind_before(other->owner, self->owner)] += start - end;
		start = end;
	}
	if (number <= LOOK_BACK && start > self->since) /* the port sent nothing before these */
		before[BEFORE_PAUSE] += start - self->since;
}

/* Scales the parts to 32 bits: only their proportions matter. */
static void keep_parts(struct why_step *step, const uint64_t before[BEFORE_KINDS])
{
	unsigned shift = 0;

	while ((before[BEFORE_OWN] | before[BEFORE_JOBS] | before[BEFORE_FLOWS] |
		before[BEFORE_PAUSE]) >>
	       shift >> 32)
		shift++;
	for (unsigned k = 0; k < BEFORE_KINDS; k++)
		step->before[k] = (uint32_t)(before[k] >> shift);
}

/* The packet at the head of a port's ring has reached the far end. */
static uint32_t hop(struct why *why, uint32_t port, struct why_line *line, uint64_t number)
{
	struct why_queued *entry = &line->ring[number & line->mask];
	const struct link_class *link = port_class(why->net, &why->net->ports[port]);
	const struct packet *packet = port_head(&why->net->ports[port]);
	const struct why_flow *flow = flow_of(why, packet);
	uint32_t step = new_step(why);
	struct why_step *self = &why->steps[step];
	sim_time wire = link_transmission(link, entry->size), start = entry->depart - wire;
	uint64_t before[BEFORE_KINDS] = { 0 };

	self->hop = true;
	self->previous = entry->step;
	self->depth = why->steps[entry->step].depth;
	self->place = port;
	self->arrived = why->net->sim->now;
	self->travel = self->arrived - start;
	self->hold = start - entry->since;
	if (self->hold) {
		look_back(line, number, link, start, before);
		keep_parts(self, before);
	}
	if (flow && flow->bypass.flag)
		self->detour =
			packet->flags & flow->bypass.flag ||
			(flow->bypass.detour && entry->step && why->steps[entry->step].detour);
	entry->step = 0; /* `previous` now holds this use */
	why->current.wire = wire;
	return step;
}

/* Keeps the arrival's step, because a server may answer later, or a switch add later. */
static void keep_at_node(struct why *why, const struct packet *packet)
{
	struct why_known now = { .key = key_at(why->current.node, packet, flow_of(why, packet)),
				 .step = why_step_use(why, why->current.step) };

	why_step_release(why, know(why->nodes, now).step);
}

/* Whether the packet that arrives over a port now is lost to a failure of its link, as good as. */
static bool is_lost(const struct network *net, uint32_t port)
{
	return network_is_down(net, port) || (net->outages && (net->outages->stranded[port][0] ||
							       net->outages->stranded[port][1]));
}

static void before(void *owner, const struct sim_event *event)
{
	struct why *why = owner;
	const struct why_flow *flow;
	const struct port *port;
	const struct packet *packet;
	struct why_queued *entry;
	struct why_line *line;
	uint64_t number;

	if (event->entity >= why->net->port_count) {
		uint32_t pause = lossless_frame_port(why->net, event->entity);

		if (pause < why->net->port_count)
			why_count(why, &why->lines[pause], 0, PACKET_CONTROL, PAUSE_FRAME);
		return;
	}
	line = &why->lines[event->entity];
	port = &why->net->ports[event->entity];
	packet = port_head(port);
	SIM_BUG_ON(line->first == line->end);
	number = line->first++;
	entry = &line->ring[number & line->mask];
	why_count(why, line, entry->owner, packet->kind, entry->size);
	entry->depart = packet->depart;
	if (!entry->step)
		return;
	why->current.owner = entry->owner;
	why->current.lost = why->net->lost + why->net->dropped;
	why->current.step = hop(why, event->entity, line, number);
	why->current.node = port->to;
	why->current.worked = false;
	if (is_lost(why->net, event->entity) && conn_of(why, packet))
		conn_of(why, packet)->lost = why->net->sim->now;
	flow = flow_of(why, packet);
	why->current.worker = !flow && port->to_host && conn_of(why, packet)
				      ? conn_of(why, packet)->to
				      : WHY_NONE;
	why->current.chunk = flow;
	why->current.seq = packet->seq;
	why->current.protocol = packet->protocol;
	if (flow && (port->to_host ? flow->bypass.answers || !(packet->flags & PACKET_RESULT)
				   : flow->bypass.switches_wait))
		keep_at_node(why, packet);
}

static void after(void *owner, const struct sim_event *event)
{
	struct why *why = owner;

	(void)event;
	if (!why->current.step)
		return;
	if (why->current.chunk && why->net->lost + why->net->dropped > why->current.lost)
		why_note_trouble(why, why->current.owner - 1, why->current.protocol,
				 why->current.seq, WHY_LOST);
	why_step_release(why, why->current.step);
	why->current.step = 0;
}

uint32_t why_work_begins(const struct network *net, uint32_t number, uint32_t host)
{
	struct why *why = why_of(net);
	const struct why_job *job = why ? why_job_of(why, number) : NULL;
	uint32_t step, worker;

	if (!job)
		return 0;
	if (why->current.step && why->current.node == host)
		return why_step_use(why, why->current.step);
	worker = why_worker_at(job, number, host);
	if (worker == WHY_NONE)
		return 0;
	step = new_step(why);
	why->steps[step].place = worker;
	why->steps[step].sent = why->steps[step].ready = net->sim->now;
	return step;
}

uint32_t why_tells_itself(const struct network *net, uint32_t job, uint32_t host)
{
	struct why *why = why_of(net);
	bool answers = why && why->current.step;
	uint32_t way = why_work_begins(net, job, host);

	if (way && !(answers && why->current.node == host)) { /* as begin_segment() has it */
		why->steps[way].recovery = true;
		why->steps[way].timed = !answers;
	}
	return way;
}

/* Until after(), what has come by a way, whose user this is now, is at a host. */
static void arrive(struct why *why, const struct why_job *job, uint32_t host, uint32_t way)
{
	uint32_t number = new_step(why);

	why->steps[number].place = WHY_NONE;
	why->steps[number].previous = way;
	why->steps[number].depth = why->steps[way].depth;
	why->steps[number].sent = why->steps[number].ready = why->net->sim->now;
	why_step_release(why, why->current.step);
	why->current.step = number;
	why->current.wire = 0;
	why->current.node = host;
	why->current.worker = WHY_NONE;
	why->current.worked = true;
	why->current.owner = job->number + 1;
	why->current.chunk = false;
}

void why_work_ends(const struct network *net, uint32_t number, uint32_t host, uint32_t way)
{
	const struct why_job *job = way ? why_job_of(why_of(net), number) : NULL;

	if (job)
		arrive(why_of(net), job, host, way);
}

uint32_t why_passes(const struct network *net, uint32_t instance, uint32_t worker)
{
	struct why *why = why_of(net);
	struct why_job *job = why ? why_job_of(why, instance) : NULL;
	uint32_t step = why ? why->current.step : 0;

	if (!job)
		return 0;
	if (step && why->current.owner == job->number + 1) {
		why_charge(job, worker);
		if (job->accounts[worker].busy && why->steps[step].depth < WHY_RELAYS)
			return why_step_use(why, step);
	}
	step = new_step(why);
	why->steps[step].place = worker;
	why->steps[step].sent = why->steps[step].ready = net->sim->now;
	why->steps[step].inside = true;
	return step;
}

void why_passed(const struct network *net, uint32_t instance, uint32_t worker, uint32_t way,
		bool inside)
{
	struct why *why = why_of(net);
	struct why_job *job = way ? why_job_of(why, instance) : NULL;

	if (!job)
		return;
	arrive(why, job, job->hosts[worker], why_step_use(why, way));
	why->steps[why->current.step].inside = inside;
	why->steps[why->current.step].depth++;
	why->current.worker = worker;
	why_charge(job, worker);
}

void why_way_over(const struct network *net, uint32_t way)
{
	if (way)
		why_step_release(why_of(net), way);
}

/* --- set-up --- */

void why_trail_open(struct why *why)
{
	why->onlooker.queued = queued;
	why->observer = (struct sim_observer){ .before = before, .after = after, .owner = why };
	why->lines = xcalloc(why->net->port_count, sizeof(*why->lines));
	why->sent = known_new();
	why->nodes = known_new();
	why->troubles = known_new();
	new_step(why); /* number 0 stands for none */
	why->volumes.volumes = xcalloc(1, sizeof(*why->volumes.volumes));
	why->volumes.count = why->volumes.capacity = 1;
	why->volumes.volumes[0].owner = WHY_NONE;
}

void why_trail_free(struct why *why)
{
	for (uint32_t i = 0; i < why->net->port_count; i++)
		free(why->lines[i].ring);
	free(why->lines);
	free(why->sent);
	free(why->nodes);
	free(why->troubles);
	free(why->steps);
	free(why->volumes.volumes);
	free(why->carried.volumes);
}
