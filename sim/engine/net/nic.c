#include "net/nic.h"

#include "base/mem.h"

/* This many looks at listed hosts cost about as much time as one deferred departure saves. */
#define LOOKS_PER_DEPARTURE 16

static void nic_append(struct nic *nic, struct nic_source *source)
{
	if (nic->last) {
		source->next = nic->last->next;
		nic->last->next = source;
	} else {
		source->next = source;
	}
	nic->last = source;
	source->waiting = true;
}

/* The first source has sent a packet and has more. Its turn is over, unless it has credit left. */
static void nic_end_turn(struct nic *nic, uint32_t size)
{
	struct nic_source *first = nic->last->next;

	if (nic->mode == NIC_BYTES) {
		const struct port *port = &nic->net->ports[nic->port];

		first->credit -= (int32_t)(size + port_class(nic->net, port)->wire_extra);
		if (first->credit > 0)
			return;
		first->credit += NIC_QUANTUM;
	}
	nic->last = first;
}

static void nic_drop_first(struct nic *nic)
{
	struct nic_source *first = nic->last->next;

	if (first == nic->last)
		nic->last = NULL;
	else
		nic->last->next = first->next;
	first->waiting = false;
}

static void nic_list(struct nic *nic)
{
	struct network *net = nic->net;

	if (nic->listed)
		return;
	nic->listed = true;
	net->deferred_next[nic->port] = net->deferred_first;
	net->deferred_first = nic->port;
}

static void nic_wait(struct nic *nic)
{
	struct port *port = &nic->net->ports[nic->port];

	if (port->busy_until == SIM_TIME_MAX)
		return; /* stopped by PAUSE: nic_go_on() */
	if (nic->catching_up || (!nic->by_event && !nic->net->nics_by_event)) {
		port->flags |= PORT_DEFERRED;
		nic->net->departures_deferred++;
		nic_list(nic);
		return;
	}
	nic->armed = true;
	sim_schedule(nic->net->sim, nic->entity, port->busy_until);
}

/* The source to be served next. A source that owes bytes, since its packets are larger than
 * NIC_QUANTUM, misses turns until it owes none. */
static struct nic_source *nic_next(struct nic *nic)
{
	struct nic_source *first = nic->last->next;

	while (first->credit < 0) {
		first->credit += NIC_QUANTUM;
		nic->last = first;
		first = first->next;
	}
	return first;
}

/* The packet leaves; the cores hand on the next one when they are done with it. */
static void send_by_cores(struct nic *nic, struct port *port, const struct packet *packet)
{
	const struct host_cores *cores = &port_class(nic->net, port)->of_cores;
	sim_time now = nic->net->sim->now, begins = port->busy_until > now ? port->busy_until : now;

	network_send(nic->net, nic->port, packet);
	begins += cores_time(cores, packet->size);
	if (port->busy_until < begins) /* never while PAUSE stops it: SIM_TIME_MAX */
		port->busy_until = begins;
}

/* Sends a packet, with a random delay if the transmitter was idle: see idle_max in nic.h. */
static void nic_send(struct nic *nic, struct port *port, const struct packet *packet)
{
	sim_time now = nic->net->sim->now;

	if (port->busy_until < now && !packet_is_control(packet)) {
		sim_time max = port_class(nic->net, port)->idle_max;

		if (max)
			port->busy_until = now + rng_below(&nic->idle_stream, max + 1);
	}
	if (__builtin_expect(port_class(nic->net, port)->cores, 0) && !packet_is_control(packet))
		send_by_cores(nic, port, packet);
	else
		network_send(nic->net, nic->port, packet);
}

/* Serves waiting sources while the transmitter is free. A source that is asked may wake another
 * one, which then waits for its turn. */
static void nic_serve(struct nic *nic)
{
	struct port *port = &nic->net->ports[nic->port];

	nic->serving = true;
	while (nic->last && port->busy_until <= nic->net->sim->now) {
		struct nic_source *first = nic_next(nic);
		struct packet packet;
		enum nic_pull pull = first->pull(first->owner, &packet);

		if (pull == NIC_MORE) {
			nic_end_turn(nic, packet.size);
		} else {
			nic_drop_first(nic);
			if (pull == NIC_NOTHING)
				continue;
			first->credit = 0; /* no credit for a later turn */
		}
		nic_send(nic, port, &packet);
	}
	nic->serving = false;
	if (nic->last)
		nic_wait(nic);
}

static void on_free_transmitter(struct sim *sim, uint32_t entity, void *owner)
{
	struct nic *nic = owner;

	(void)entity;
	sim->uncounted++;
	nic->net->departures_by_event++;
	nic->armed = false;
	nic_serve(nic);
}

static void make_event(struct nic *nic)
{
	struct port *port = &nic->net->ports[nic->port];

	if (!(port->flags & PORT_DEFERRED))
		return;
	port->flags &= (uint8_t)~PORT_DEFERRED;
	nic_wait(nic);
}

/* network.catch_up */
static void nic_catch_up(struct network *net, uint32_t host, sim_time until)
{
	struct nic *nic = &net->nics[host];
	struct sim *sim = nic->net->sim;
	struct port *port = &net->ports[host];
	sim_time now = sim->now;

	nic->catching_up = true;
	while (port->flags & PORT_DEFERRED && port->busy_until < until) {
		sim->now = port->busy_until;
		port->flags &= (uint8_t)~PORT_DEFERRED;
		nic_serve(nic);
	}
	nic->catching_up = false;
	sim->now = now;
	if (nic->by_event || nic->net->nics_by_event)
		make_event(nic);
}

/* sim.catch_up: called before an event that may touch any host. Catches up all NICs of the list;
 * NICs without a deferred departure leave the list. If looks at the list cost more than deferred
 * departures save, none is deferred from now on. */
static void catch_up_all(void *owner, sim_time until)
{
	struct network *net = owner;

	if (net->deferred_looks / LOOKS_PER_DEPARTURE > net->departures_deferred + net->hosts)
		net->nics_by_event = true;
	for (uint32_t *link = &net->deferred_first; *link != NIC_NONE;) {
		struct nic *nic = &net->nics[*link];

		net->deferred_looks++;
		network_catch_up(net, nic->port, until);
		if (net->ports[nic->port].flags & PORT_DEFERRED) {
			link = &net->deferred_next[nic->port];
			continue;
		}
		nic->listed = false;
		*link = net->deferred_next[nic->port];
	}
}

static void use_events(struct nic *nic)
{
	nic->by_event = true;
	if (!nic->catching_up)
		make_event(nic);
}

bool nic_deferrable(const struct network *net, sim_time min)
{
	return min > net->nic_lag;
}

void nic_may_defer(struct network *net)
{
	sim_time shortest = SIM_TIME_MAX;

	for (uint32_t h = 0; h < net->hosts; h++) {
		sim_time latency = port_class(net, &net->ports[h])->latency;

		shortest = latency < shortest ? latency : shortest;
		net->nic_lag = latency > net->nic_lag ? latency : net->nic_lag;
	}
	if (!shortest)
		return;
	net->nics_by_event = false;
	net->deferred_next = xcalloc(net->hosts, sizeof(*net->deferred_next));
	net->deferred_first = NIC_NONE;
	net->catch_up = nic_catch_up;
	net->sim->catch_up = catch_up_all;
	net->sim->catch_up_owner = net;
}

void nic_init(struct nic *nic, struct network *net, uint32_t port, enum nic_mode mode)
{
	*nic = (struct nic){ .net = net, .port = port, .mode = (uint8_t)mode };
	rng_init(&nic->idle_stream, net->sim->seed, "nic", port);
	nic->entity = sim_add_entity(net->sim, SIM_DEPARTURE, sim_key(SIM_DEPARTURE, port),
				     on_free_transmitter, nic);
	sim_silent(net->sim, nic->entity);
	sim_name(net->sim, on_free_transmitter,
		 net->more_links ? "NIC of egress port %n" : "NIC of host %n");
}

/* Cores may be done with a packet only after it has arrived, which is too late for a departure that
 * waits for an arrival. */
static bool has_cores(const struct nic *nic)
{
	return port_class(nic->net, &nic->net->ports[nic->port])->cores;
}

static void send_all(struct nic *nic, struct nic_source *source)
{
	struct packet packet;
	enum nic_pull pull;

	do {
		pull = source->pull(source->owner, &packet);
		if (pull != NIC_NOTHING)
			nic_send(nic, &nic->net->ports[nic->port], &packet);
	} while (pull == NIC_MORE);
}

void nic_wake(struct nic *nic, struct nic_source *source)
{
	SIM_BUG_ON(network_is_behind(nic->net, nic->port, nic->net->sim->now));
	if (nic->mode == NIC_FIFO || source->urgent) {
		send_all(nic, source);
		return;
	}
	if (source->waiting)
		return;
	if (!nic->by_event && (!source->deferrable || has_cores(nic)))
		use_events(nic);
	nic_append(nic, source);
	nic_go_on(nic);
}

void nic_go_on(struct nic *nic)
{
	if (!nic->serving && !nic->armed && !(nic->net->ports[nic->port].flags & PORT_DEFERRED))
		nic_serve(nic);
}

void nic_forget(struct nic *nic, struct nic_source *source)
{
	struct nic_source *before;

	network_catch_up(nic->net, nic->port, nic->net->sim->now);
	if (!source->waiting)
		return;
	for (before = nic->last; before->next != source; before = before->next)
		;
	if (before == source) {
		nic->last = NULL;
	} else {
		before->next = source->next;
		if (nic->last == source)
			nic->last = before;
	}
	source->waiting = false;
}

void nic_move(struct network *net, struct nic_source *source, uint32_t from, uint32_t to)
{
	bool waited = source->waiting;

	if (from == to)
		return;
	nic_forget(&net->nics[from], source);
	if (waited)
		nic_wake(&net->nics[to], source);
}
