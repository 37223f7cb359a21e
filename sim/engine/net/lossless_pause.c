/* PAUSE frames: when switches send them, and how they stop and start transmitters. */
#include "net/lossless_parts.h"

#include "base/mem.h"
#include "net/outage.h"

/* --- departures --- */

void lossless_arm(struct network *net, uint32_t number)
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
		lossless_arm(net, node->first_port + i);
}

/* --- the transmitter --- */

uint32_t lossless_started(struct network *net, uint32_t number, sim_time *until)
{
	const struct port *port = &net->ports[number];
	const struct lane *lane = &net->lossless->lanes[number];
	sim_time now = net->sim->now;
	uint32_t first;

	lossless_settle(net, number);
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

void lossless_retime(struct network *net, uint32_t number, uint32_t first, sim_time from)
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
	/* The packet at the head now leaves and arrives at another time: takes back its planned
	 * arrival, with the jitter. */
	if (sim_pending(net->sim, number)) {
		net->cold[number].last_arrival = net->cold[number].former_arrival;
		sim_cancel(net->sim, number);
	}
	if (port_head(port)->depart != SIM_TIME_MAX)
		hop_schedule_head(net, number, port, port_head(port)->depart);
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
	net->cold[number].pauses++;
	first = lossless_started(net, number, &until);
	lossless_retime(net, number, first, until);
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
	net->cold[number].paused_time += net->sim->now - lane->stopped_since;
	first = lossless_started(net, number, &until);
	lossless_retime(net, number, first, until);
	ll->stopped--;
	if (number < net->host_ports)
		nic_go_on(&net->nics[number]);
	else if (lane->in.memory->stopped)
		lossless_arm(net, number);
}

/* --- PAUSE frames --- */

static void send_frame(struct network *net, uint32_t number, bool stop)
{
	struct lane *lane = &net->lossless->lanes[number];
	const struct link_class *link = port_class(net, &net->ports[number]);
	uint32_t first;

	/* the last frame has not started, so it is changed */
	if (lane->frame_start > net->sim->now) {
		lane->frames[lane->frame_count - 1].stop = stop;
		return;
	}
	first = lossless_started(net, number, &lane->frame_start);
	lane->frame_end = lane->frame_start + link_transmission(link, PAUSE_FRAME);
	lossless_retime(net, number, first, lane->frame_end);
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

double lossless_frames_sent(const struct network *net, uint32_t number)
{
	const struct lane *lane = &net->lossless->lanes[number];
	double sent = 0;

	for (size_t i = lane->frame_head; i < lane->frame_count; i++) {
		const struct packet frame = { .size = PAUSE_FRAME,
					      .depart = lane->frames[i].at - lane->response };

		sent += link_sent(port_class(net, &net->ports[number]), &frame, net->sim->now);
	}
	return sent;
}

uint32_t lossless_frame_port(const struct network *net, uint32_t entity)
{
	return net->lossless ? entity - net->lossless->first_frame : UINT32_MAX;
}

/* The frame that port `number` sent takes effect at the far end. */
void lossless_on_frame(struct sim *sim, uint32_t id, void *owner)
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
	if (net->watch)
		net_watch_count(net, number, &net_watch_frame);
	if (network_is_down(net, number))
		return;
	if (stop)
		stop_transmitter(net, lane->reverse);
	else
		start_transmitter(net, lane->reverse);
}

void lossless_forget(struct network *net, uint32_t number)
{
	struct lossless *ll = net->lossless;
	struct lane *lane = &ll->lanes[number];
	size_t frames = lane->frame_count - lane->frame_head;

	if (frames)
		sim_cancel(net->sim, ll->first_frame + number);
	ll->frames -= frames;
	net->lost += frames;
	lane->frame_head = lane->frame_count = 0;
	/* else send_frame() would change a last frame that has not started, but is gone */
	if (lane->frame_start > net->sim->now)
		lane->frame_start = net->sim->now;
	if (lane->in.memory && lane->in.stopped)
		ingress_set_stopped(&lane->in, false);
	start_transmitter(net, number);
}

/* --- XOFF and XON --- */

void lossless_stop_neighbour(struct network *net, uint32_t in)
{
	struct ingress *ingress = &net->lossless->lanes[in].in;

	lossless_settle_switch(net, ingress->memory);
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

void lossless_on_departure(struct sim *sim, uint32_t id, void *owner)
{
	struct network *net = owner;
	uint32_t number = id - net->lossless->first_departure;
	struct ingress_memory *memory = net->lossless->lanes[number].in.memory;

	(void)sim;
	net->lossless->lanes[number].armed = false;
	lossless_settle(net, number);
	if (memory->due)
		wake_neighbours(net, memory);
	if (memory->stopped)
		lossless_arm(net, number);
}
