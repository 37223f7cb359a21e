#include "net/late.h"

#include "net/hop.h"

/* When the packet at the head reaches the host, which has no jitter. */
static sim_time arrival(const struct network *net, const struct port *port)
{
	return port->count ? port_head(port)->depart + port_class(net, port)->latency
			   : SIM_TIME_MAX;
}

/* An arrival without an event, which counts as one. */
static void deliver_head(struct network *net, uint32_t number, struct port *port)
{
	const struct packet *packet = port_head(port); /* stays there: only a switch puts some in */

	net->sim->events++;
	net->late.deliveries++;
	hop_note(net, number, packet);
	hop_unlink_head(port);
	hop_hand_over(net, port->to_port, packet);
	if (__builtin_expect(ring_is_wide(port), 0))
		port_resize(port, port->ring_bits - 1);
}

/* While the NIC is busy, what the host does for a packet leaves behind what is being sent, and
 * whenever a packet of the host arrives it is brought up to date (hop_arrive()). Else there has to
 * be an event before an answer could reach the switch. */
static void late_await(struct network *net, uint32_t number)
{
	struct port *port = &net->ports[number];

	if (port->flags & PORT_AWAITS || net->ports[port->to_port].flags & PORT_NIC_DUE)
		return;
	port->flags |= PORT_AWAITS;
	sim_schedule(net->sim, number, arrival(net, port) + net->late.patience);
}

void late_begin(struct network *net, uint32_t number)
{
	struct port *port = &net->ports[number];

	port->flags |= PORT_LATE;
	net->ports[port->to_port].flags |= PORT_OWED;
	late_await(net, number);
}

/* Of arrivals at the very time of the event that runs, those are due that come before it, as their
 * events would. */
static bool is_due(const struct network *net, uint32_t down, sim_time in, sim_time until)
{
	return in < until || (in == until && sim_was_before(net->sim, down, in));
}

void late_catch_up(struct network *net, uint32_t host, sim_time until)
{
	struct sim *sim = net->sim;
	struct nic *nic = &net->nics[host];
	struct port *up = &net->ports[host], *down = &net->ports[nic->down];
	sim_time now = sim->now;

	up->flags &= (uint8_t)~PORT_OWED; /* what it sends meanwhile need not look */
	for (;;) {
		sim_time in = arrival(net, down);
		sim_time out = up->flags & PORT_NIC_DUE ? up->busy_until : SIM_TIME_MAX;

		if (in <= out ? !is_due(net, nic->down, in, until) : out >= until)
			break;
		sim->now = in <= out ? in : out; /* arrivals come before departures: sim.h */
		if (in <= out)
			deliver_head(net, nic->down, down);
		else
			nic_is_free(nic);
	}
	sim->now = now;
	if (!down->count)
		return;
	up->flags |= PORT_OWED;
	late_await(net, nic->down);
}

void late_event(struct network *net, uint32_t number)
{
	struct port *port = &net->ports[number];

	net->sim->uncounted++;
	net->late.events++;
	port->flags &= (uint8_t)~PORT_AWAITS;
	late_catch_up(net, port->to_port, net->sim->now);
}

void late_end(struct network *net, uint32_t number)
{
	struct port *port = &net->ports[number];

	late_catch_up(net, port->to_port, net->sim->now);
	net->ports[port->to_port].flags &= (uint8_t)~PORT_OWED;
	port->flags &= (uint8_t) ~(PORT_LATE | PORT_AWAITS);
	sim_cancel(net->sim, number);
	if (port->count)
		sim_schedule(net->sim, number, arrival(net, port));
}

bool late_in_time(const struct network *net, sim_time timer)
{
	return timer > net->late.longest;
}

void late_never(struct network *net, uint32_t host)
{
	struct port *port = &net->ports[net->nics[host].down];

	port->flags &= (uint8_t)~PORT_PATIENT;
	if (port->flags & PORT_LATE)
		late_end(net, net->nics[host].down);
}
