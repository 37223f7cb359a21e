#include "net/network.h"

#include "base/mem.h"
#include "net/ahead.h"
#include "net/hop.h"
#include "net/legs.h"
#include "net/lossless.h"
#include "net/outage.h"
#include "net/record.h"
#include "net/sched.h"
#include "net/shared.h"
#include "net/telemetry.h"

#include <inttypes.h>
#include <stdlib.h>

/* Limits to the events in a slot, when every port is busy with full frames. Few events, sorted by
 * insertion, suit networks that look ahead, which need small steps, and stars, whose hosts act in
 * lock-step and would crowd wide slots. Other networks that fit into the cache have many events in
 * a slot, sorted without branches (equeue.c). */
#define SLOT_EVENTS      4
#define SLOT_EVENTS_MANY 24
#define FULL_FRAME       1518
#define CLASSES_MAX      NETWORK_CLASSES_MAX
#define CACHE_BYTES      (256 << 10) /* so many bytes of ports fit into the second-level cache */

/* Numbers the egress ports of hosts. */
static void number_links(struct network *net, const uint16_t *host_links)
{
	net->host_ports = net->hosts;
	for (uint32_t h = 0; host_links && h < net->hosts; h++)
		net->host_ports += host_links[h] - 1u;
	if (net->host_ports == net->hosts)
		return;
	net->more_links = xcalloc(net->hosts + 1, sizeof(*net->more_links));
	net->more_links[0] = net->hosts;
	for (uint32_t h = 0; h < net->hosts; h++)
		net->more_links[h + 1] = net->more_links[h] + host_links[h] - 1u;
}

void network_init(struct network *net, struct sim *sim, uint32_t hosts, const uint16_t *host_links,
		  uint32_t switches, const uint16_t *switch_ports, const uint8_t *tiers,
		  enum nic_mode nics)
{
	*net = (struct network){ .sim = sim, .hosts = hosts, .switches = switches };
	number_links(net, host_links);
	net->port_count = net->host_ports;
	net->nics_by_event = true; /* until network_tune() */
	net->send = hop_send;
	net->switch_send = hop_switch_send;
	net->switch_send_each = hop_switch_send_each;
	net->switch_nodes = xcalloc(switches, sizeof(*net->switch_nodes));
	for (uint32_t s = 0; s < switches; s++) {
		net->switch_nodes[s] = (struct switch_node){ .first_port = net->port_count,
							     .ports = switch_ports[s],
							     .tier = tiers[s] };
		net->port_count += switch_ports[s];
	}
	net->ports = xaligned(64, net->port_count * sizeof(*net->ports));
	net->cold = xcalloc(net->port_count, sizeof(*net->cold));
	net->classes = xaligned(64, CLASSES_MAX * sizeof(*net->classes));
	for (uint32_t i = 0; i < net->port_count; i++) {
		net->ports[i].ring = net->ports[i].small;
		net->ports[i].ring_bits = SMALL_RING_BITS;
		net->ports[i].class = CLASSES_MAX; /* no link yet */
	}
	/* entity = port number */
	sim_add_block(sim, SIM_ARRIVAL, net->port_count, hop_arrive, net);
	net->nics = xaligned(64, net->host_ports * sizeof(*net->nics));
	for (uint32_t h = 0; h < net->host_ports; h++)
		nic_init(&net->nics[h], net, h, nics); /* entity = ports + number: see ahead.c */
}

void network_release(struct network *net)
{
	lossless_release(net);
	for (uint32_t i = 0; i < net->port_count; i++)
		if (net->ports[i].ring != net->ports[i].small)
			free(net->ports[i].ring);
	free(net->ports);
	free(net->cold);
	free(net->classes);
	free(net->switch_nodes);
	free(net->balance);
	shared_free(net);
	sched_free(net);
	free(net->nics);
	free(net->more_links);
	free(net->deferred_next);
	legs_free(net->legs);
	outages_free(net->outages);
	free(net->telemetry);
	net_watch_free(net->watch);
}

void network_control_first(struct network *net)
{
	net->control_first = true;
	if (net->lossless)
		lossless_control_first(net);
}

void network_trim(struct network *net)
{
	SIM_BUG_ON(net->lossless || net->shared || !net->control_first);
	net->trim = true;
}

static struct balance balance_of(const struct network *net, uint32_t sw, uint64_t step)
{
	const struct switch_node *node = &net->switch_nodes[sw];
	struct balance b = { .end = node->first_port + node->ports };

	for (b.first_up = b.end; b.first_up > node->first_port; b.first_up--) {
		uint32_t to = net->ports[b.first_up - 1].to;

		if (to < net->hosts || net->switch_nodes[to - net->hosts].tier < node->tier)
			break;
	}
	if (b.first_up < b.end)
		b.step =
			link_transmission(port_class(net, &net->ports[b.first_up]), (uint32_t)step);
	rng_init(&b.ties, net->sim->seed, "balance", sw);
	return b;
}

void network_balance(struct network *net, uint64_t step)
{
	SIM_BUG_ON(net->lossless || net->outages || net->legs);
	net->balance = xcalloc(net->switches, sizeof(*net->balance));
	for (uint32_t s = 0; s < net->switches; s++)
		net->balance[s] = balance_of(net, s, step);
	net->sim->block.handler = hop_arrive_balanced;
}

void network_long_routes(struct network *net)
{
	net->legs = legs_new();
}

static bool same_class(const struct link_class *a, const struct link_class *b)
{
	return a->rate == b->rate && a->latency == b->latency && a->limit_bytes == b->limit_bytes &&
	       a->ecn_min == b->ecn_min && a->ecn_max == b->ecn_max && a->mark_max == b->mark_max &&
	       a->jitter_max == b->jitter_max && a->idle_max == b->idle_max &&
	       a->of_cores.packet == b->of_cores.packet && a->of_cores.rate == b->of_cores.rate &&
	       a->loss_threshold == b->loss_threshold && a->wire_extra == b->wire_extra &&
	       a->ecn_in_packets == b->ecn_in_packets;
}

/* Sets the length up to which a queue is quiet, so that packets do not take the slow path. */
static void set_quiet(const struct network *net, struct link_class *link)
{
	uint64_t max = link->ecn_in_packets ? UINT64_MAX : link->ecn_min;

	link->quiet_bytes = max < link->limit_bytes ? max : link->limit_bytes;
	link->quiet_packets = link->ecn_in_packets && link->ecn_min < UINT32_MAX
				      ? (uint32_t)link->ecn_min
				      : UINT32_MAX;
	if (net->control_first || net->onlooker || net->recorder || net->shared || net->sched ||
	    net->telemetry)
		link->quiet_bytes = link->quiet_packets = 0;
}

/* Called when an onlooker, a recorder or telemetry has come or gone. */
static void set_all_quiet(struct network *net)
{
	for (unsigned i = 0; i < net->class_count; i++)
		set_quiet(net, &net->classes[i]);
}

static bool has_cores(const struct link_params *params)
{
	return params->cores.packet || params->cores.rate;
}

/* The class with these parameters; makes one if there is none. */
static uint8_t find_class(struct network *net, const struct link_params *params)
{
	struct link_class new = {
		.net = net,
		.rate = params->rate,
		.ps_per_byte = 8 * PS_PER_S % params->rate ? 0 : 8 * PS_PER_S / params->rate,
		.latency = params->delay + params->peer_latency,
		.limit_bytes = params->limit,
		.ecn_min = params->ecn_min,
		.ecn_max = params->ecn_max,
		.mark_max = params->ecn_max_probability,
		.jitter_max = params->peer_jitter,
		.idle_max = params->idle_jitter,
		.cores = has_cores(params),
		.of_cores = params->cores,
		.loss_threshold = rng_threshold(params->loss),
		.wire_extra = params->wire_overhead ? PREAMBLE_AND_GAP : 0,
		.ecn_in_packets = params->ecn_in_packets,
	};

	for (unsigned i = 0; i < net->class_count; i++)
		if (same_class(&net->classes[i], &new))
			return (uint8_t)i;
	SIM_BUG_ON(net->class_count == CLASSES_MAX);
	set_quiet(net, &new);
	net->classes[net->class_count] = new;
	return (uint8_t)net->class_count++;
}

static void port_set_up(struct network *net, uint32_t number, uint32_t to, uint32_t reverse,
			const struct link_params *params)
{
	struct port *port = &net->ports[number];
	struct port_cold *cold = &net->cold[number];

	SIM_BUG_ON(port->class != CLASSES_MAX || params->rate == 0); /* a port has one link */
	port->class = find_class(net, params);
	port->to = to;
	port->to_port = network_port(net, to, 0);
	port->to_host = to < net->hosts;
	port->flags = (uint8_t)((params->loss > 0 || net->legs ? PORT_SLOW : 0) |
				(params->peer_jitter > 0 || (port->to_host && has_cores(params))
					 ? PORT_JITTERS
					 : 0));
	cold->reverse = reverse;
	rng_init(&cold->loss_stream, net->sim->seed, "loss", number);
	rng_init(&cold->jitter_stream, net->sim->seed, "jitter", number);
	rng_init(&cold->mark_stream, net->sim->seed, "ecn", number);
}

void network_connect(struct network *net, uint32_t a, uint16_t pa, const struct link_params *ab,
		     uint32_t b, uint16_t pb, const struct link_params *ba)
{
	uint32_t port_a = network_port(net, a, pa), port_b = network_port(net, b, pb);

	port_set_up(net, port_a, b, port_b, ab);
	port_set_up(net, port_b, a, port_a, ba);
	if (!net->lossless)
		return;
	lossless_join(net, port_a, &ba->pause);
	lossless_join(net, port_b, &ab->pause);
}

sim_time network_last_arrival(const struct network *net)
{
	sim_time last = 0;

	for (uint32_t i = 0; i < net->port_count; i++)
		if (equeue_last(&net->sim->queue, i) > last)
			last = equeue_last(&net->sim->queue, i);
	return last;
}

static bool fits_into_cache(const struct network *net)
{
	return net->port_count * sizeof(*net->ports) <= CACHE_BYTES;
}

static void look_ahead(struct network *net, sim_time span)
{
	net->sim->lookahead = net->lossless ? lossless_look_ahead : net_look_ahead;
	equeue_look_ahead(&net->sim->queue, HOP_AHEAD, span);
}

/* Sets the slots of an event queue. SLOT_EVENTS or SLOT_EVENTS_MANY bounds the events of a slot. A
 * slot is at most a quarter of the shortest latency (or 64 ps), so that a new event hardly ever
 * falls into a slot that is already open. The wheel spans the longest regular wait (latency and two
 * large frames), unless that takes more than 2^16 slots. Returns the shortest latency. */
static sim_time tune_queue(const struct network *net)
{
	sim_time span = PS_PER_NS, shortest = SIM_TIME_MAX;
	double events_per_ps = 0, max;
	unsigned shift = 6, bits = 8;

	for (uint32_t i = 0; i < net->port_count; i++) {
		const struct link_class *link = port_class(net, &net->ports[i]);
		sim_time frame;

		if (net->ports[i].class == CLASSES_MAX)
			continue;
		frame = link_transmission(link, FULL_FRAME);
		events_per_ps += 1 / (double)frame;
		if (link->latency + 2 * frame > span)
			span = link->latency + 2 * frame;
		if (link->latency < shortest)
			shortest = link->latency;
	}
	max = net->switches > 1 && fits_into_cache(net) ? SLOT_EVENTS_MANY : SLOT_EVENTS;
	/* doubles the width of slots while the next width, 2 << shift, is in bounds */
	while (shift < 40 && (double)(UINT64_C(2) << shift) * events_per_ps < max &&
	       UINT64_C(2) << shift < shortest / 4)
		shift++;
	while (bits < 16 && UINT64_C(1) << (bits + shift) < span)
		bits++;
	equeue_tune(&net->sim->queue, shift, bits);
	return shortest;
}

void network_tune(struct network *net)
{
	sim_time shortest = tune_queue(net);

	/* Prefetching makes a network that fits into the cache slower: by 12 % with SwitchML, ATP
	 * and ESA on a star of 64, unless other programs fill the cache. */
	if (!fits_into_cache(net))
		look_ahead(net, shortest / 4);
	if (!net->lossless && !net->more_links)
		nic_may_defer(net);
}

uint8_t network_register(struct network *net, const struct protocol_ops *ops, void *self)
{
	SIM_BUG_ON(net->protocol_count == NET_PROTOCOLS || !ops->name || !ops->deliver);
	net->protocols[net->protocol_count].ops = ops;
	net->protocols[net->protocol_count].self = self;
	return (uint8_t)net->protocol_count++;
}

void network_watched(const struct network *net, uint32_t number,
		     struct port_sent sent[WATCH_CLASSES])
{
	const struct net_watch *watch = net->watch;

	net_watch_sent(net, number, sent);
	if (net->lossless)
		sent[watch->class_of(watch->owner, &net_watch_frame)].part +=
			lossless_frames_sent(net, number);
}

void network_by_event(struct network *net)
{
	net->nics_by_event = true;
}

void network_look_on(struct network *net, struct net_onlooker *onlooker)
{
	net->onlooker = onlooker;
	network_by_event(net);
	set_all_quiet(net);
}

void network_record(struct network *net, struct repeat *recorder)
{
	net->recorder = recorder;
	set_all_quiet(net);
}

void network_telemetry(struct network *net)
{
	if (net->telemetry)
		return;
	SIM_BUG_ON(net->legs);
	net->telemetry = xcalloc(net->port_count, sizeof(*net->telemetry));
	for (uint32_t i = net->host_ports; i < net->port_count; i++) {
		net->ports[i].flags |= PORT_SLOW;
		net->telemetry[i] = telemetry_begun(&net->ports[i]);
	}
	set_all_quiet(net);
}

void network_inject(struct network *net, const struct network_faults *faults)
{
	net->faults = faults;
	network_by_event(net);
	for (uint32_t i = 0; i < net->port_count; i++)
		net->ports[i].flags |= PORT_SLOW | PORT_JITTERS;
}

/* One direction of network_fail_link(). */
static void fail_port(struct network *net, uint32_t number, bool down)
{
	struct outages *outages = net->outages;
	struct port *port = &net->ports[number];
	bool was_down = outages->down[number];

	outages->down[number] = (uint16_t)(outages->down[number] + (down ? 1 : -1));
	if (was_down == (outages->down[number] > 0)) /* another failure keeps the link down */
		return;
	if (net->lossless)
		lossless_forget(net, number);
	port->flags |= PORT_SLOW;
	outage_strands(net, number);
	if (down)
		outages->failed[number] = ++outages->failures;
}

void network_fail_link(struct network *net, uint32_t port, bool down)
{
	fail_port(net, port, down);
	fail_port(net, net->cold[port].reverse, down);
}

void network_fail_switch(struct network *net, uint32_t sw, bool down)
{
	const struct switch_node *node = &net->switch_nodes[sw];

	for (uint32_t i = 0; i < node->ports; i++)
		network_fail_link(net, node->first_port + i, down);
	if (down)
		net->outages->wiped[sw] = ++net->outages->failures;
}

void network_fail_aggregation(struct network *net, uint32_t sw, bool down)
{
	const struct switch_node *node = &net->switch_nodes[sw];
	uint16_t *count = &net->outages->adds_nothing[sw];

	*count = (uint16_t)(*count + (down ? 1 : -1));
	if (!down)
		return;
	net->outages->wiped[sw] = ++net->outages->failures;
	for (uint32_t i = 0; i < node->ports; i++)
		net->ports[net->cold[node->first_port + i].reverse].flags |= PORT_SLOW;
}

struct port_sent network_sent(const struct network *net, uint32_t number)
{
	const struct port *port = &net->ports[number];
	struct port_sent sent = port_sent(port, port_class(net, port), net->sim->now);

	if (net->lossless)
		sent.part += lossless_frames_sent(net, number);
	return sent;
}

uint64_t network_arrived(const struct network *net, uint32_t number)
{
	const struct port *port = &net->ports[number];

	return port->packets - port->count;
}

uint64_t network_queue_bytes(struct network *net, uint32_t port)
{
	if (!net->lossless)
		return port_queue_bytes(&net->ports[port], net->sim->now) +
		       (net->sched ? sched_bytes(net, port) : 0);
	lossless_settle(net, port);
	return net->ports[port].queued_bytes;
}

uint64_t network_in_flight(const struct network *net)
{
	uint64_t count = net->lossless ? lossless_frames(net) : 0;

	for (uint32_t i = 0; i < net->port_count; i++)
		count += net->ports[i].count + (net->sched ? sched_waiting(net, i) : 0);
	return count;
}

static unsigned check_port(struct network *net, uint32_t number, FILE *report)
{
	struct port *port = &net->ports[number];
	const struct link_class *link = port_class(net, port);
	uint64_t queued = 0, packets, wire;
	unsigned bad = 0;

	port_carried(port, &packets, &wire);
	wire += packets * link->wire_extra;
	/* bytes * 8 / rate <= time; 128 bits because terabytes times 1e12 overflow 64 */
	if ((unsigned __int128)wire * 8 * PS_PER_S >
	    (unsigned __int128)net->sim->now * link->rate) {
		fprintf(report,
			"port %" PRIu32 " carried %" PRIu64
			" bytes in %.9f s, more than its %" PRIu64 " bps allow\n",
			number, wire, seconds_of(net->sim->now), link->rate);
		bad++;
	}
	network_queue_bytes(net, number); /* brings the queue up to now */
	for (uint32_t i = port->sent; i < port->count; i++)
		queued += port->ring[ring_index(port, i)].size;
	if (queued != port->queued_bytes) {
		fprintf(report,
			"port %" PRIu32 " counts %" PRIu64 " queued bytes but holds %" PRIu64 "\n",
			number, port->queued_bytes, queued);
		bad++;
	}
	return bad;
}

unsigned network_check(struct network *net, FILE *report)
{
	uint64_t in_flight = network_in_flight(net);
	uint64_t ends = net->delivered + net->dropped + net->lost + net->absorbed;
	unsigned bad = 0;

	if (net->created != ends + in_flight) {
		fprintf(report,
			"packets are not conserved: %" PRIu64 " created, but %" PRIu64
			" delivered + %" PRIu64 " dropped + %" PRIu64 " lost + %" PRIu64
			" absorbed + %" PRIu64 " in flight\n",
			net->created, net->delivered, net->dropped, net->lost, net->absorbed,
			in_flight);
		bad++;
	}
	for (uint32_t i = 0; i < net->port_count; i++)
		bad += check_port(net, i, report);
	if (net->shared)
		bad += shared_check(net, report);
	if (net->lossless)
		bad += lossless_check(net, report);
	return bad;
}
