#include "net/network.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One link between two hosts (and, where a switch is needed, a star), and a
 * protocol that writes down what is delivered. */
struct delivery {
	sim_time at;
	uint32_t host;
	struct packet packet;
};

struct bench {
	struct sim sim;
	struct network net;
	uint8_t protocol;
	struct delivery *log;
	size_t count, capacity;
	/* what the switch hook does */
	struct switch_actions actions;
	uint32_t hook_switch, hook_back;
};

static void record(void *self, uint32_t host, const struct packet *packet)
{
	struct bench *bench = self;

	if (bench->count == bench->capacity) {
		bench->capacity = bench->capacity ? 2 * bench->capacity : 64;
		bench->log = realloc(bench->log, bench->capacity * sizeof(*bench->log));
	}
	bench->log[bench->count++] = (struct delivery){ bench->sim.now, host, *packet };
}

static void hook(void *self, uint32_t sw, uint32_t back, struct packet *packet,
		 struct switch_actions *actions)
{
	struct bench *bench = self;

	(void)packet;
	bench->hook_switch = sw;
	bench->hook_back = back;
	*actions = bench->actions;
}

static const struct protocol_ops test_ops = { .name = "test",
					      .deliver = record,
					      .at_switch = hook };

static const struct link_params plain = {
	.rate = UINT64_C(10000000000),
	.delay = PS_PER_US,
	.limit = UINT64_MAX,
	.ecn_min = UINT64_MAX,
	.ecn_max = UINT64_MAX,
};

static void bench_init(struct bench *bench, const struct link_params *link, enum nic_mode mode)
{
	*bench = (struct bench){ 0 };
	sim_init(&bench->sim, 1);
	network_init(&bench->net, &bench->sim, 2, NULL, 0, NULL, NULL, mode);
	network_connect(&bench->net, 0, 0, link, 1, 0, &plain);
	network_tune(&bench->net);
	bench->protocol = network_register(&bench->net, &test_ops, bench);
}

static void bench_release(struct bench *bench)
{
	cr_expect_eq(network_check(&bench->net, stderr), 0);
	network_release(&bench->net);
	sim_release(&bench->sim);
	free(bench->log);
}

static struct packet make(const struct bench *bench, uint64_t seq, uint16_t size)
{
	return (struct packet){ .seq = seq,
				.size = size,
				.kind = PACKET_DATA,
				.flags = PACKET_ECT,
				.protocol = bench->protocol };
}

static void send(struct bench *bench, uint64_t seq, uint16_t size)
{
	struct packet packet = make(bench, seq, size);

	network_send(&bench->net, 0, &packet);
}

/* Time on the wire: bits over rate, rounded up once. */
static sim_time on_wire(const struct link_params *link, uint32_t size)
{
	uint64_t bits = (size + (link->wire_overhead ? 20u : 0u)) * UINT64_C(8);

	return (bits * PS_PER_S + link->rate - 1) / link->rate;
}

/* --- time --- */

static const bps rates[] = { 1000000,
			     UINT64_C(10000000000),
			     UINT64_C(25000000000),
			     UINT64_C(400000000000),
			     UINT64_C(600000000000),
			     UINT64_C(3000000007) };

/* Back to back: packet i arrives at latency + the sum of the transmission times up
 * to it, each rounded up once (600 Gbps is 13.3 ps a byte, 400 Gbps 20 ps). */
Test(port, back_to_back)
{
	for (size_t r = 0; r < 2 * sizeof(rates) / sizeof(rates[0]); r++) {
		struct link_params link = plain;
		struct bench bench;
		sim_time end = 0;

		link.rate = rates[r / 2];
		link.wire_overhead = r % 2;
		link.peer_latency = 300 * PS_PER_NS;
		bench_init(&bench, &link, NIC_TURNS);
		for (uint16_t i = 0; i < 100; i++)
			send(&bench, i, (uint16_t)(64 + 13 * i));
		cr_expect_not(sim_run(&bench.sim, UINT64_MAX));
		cr_assert_eq(bench.count, 100);
		for (uint16_t i = 0; i < 100; i++) {
			end += on_wire(&link, 64u + 13u * i);
			cr_expect_eq(bench.log[i].at, end + PS_PER_US + 300 * PS_PER_NS,
				     "rate %zu packet %u", r, i);
			cr_expect_eq(bench.log[i].packet.seq, i);
			cr_expect_eq(bench.log[i].host, 1);
		}
		cr_expect_eq(bench.net.hops, 100);
		bench_release(&bench);
	}
}

/* By hand: 1,518 bytes and 20 of preamble and gap at 10 Gbps take 1,230.4 ns. */
Test(port, wire_overhead)
{
	struct link_params link = plain;
	struct bench bench;

	link.wire_overhead = true;
	bench_init(&bench, &link, NIC_TURNS);
	send(&bench, 0, 1518);
	sim_run(&bench.sim, UINT64_MAX);
	cr_assert_eq(bench.count, 1);
	cr_expect_eq(bench.log[0].at, 1230400 + PS_PER_US);
	bench_release(&bench);
}

/* --- the queue against a naive model --- */

/* Packets come at random times. The model keeps every departure in a plain array
 * and works out the queue at each arrival from scratch. */
struct offered {
	sim_time at, depart;
	uint16_t size;
	bool ect, dropped, marked;
};

#define OFFERED 3000

struct offer {
	struct bench bench;
	struct link_params link;
	struct offered list[OFFERED];
	uint32_t next, drops, marks;
	struct timer timer;
};

/* Bytes and packets that have not left at `now`. */
static void queue_at(const struct offer *offer, uint32_t before, sim_time now, uint64_t *size,
		     uint64_t *packets)
{
	*size = *packets = 0;
	for (uint32_t i = 0; i < before; i++) {
		if (offer->list[i].dropped || offer->list[i].depart <= now)
			continue;
		*size += offer->list[i].size;
		(*packets)++;
	}
}

static void offer_next(struct sim *sim, uint32_t entity, void *owner)
{
	struct offer *offer = owner;
	const struct offered *o = &offer->list[offer->next];
	struct packet packet = make(&offer->bench, offer->next, o->size);
	uint64_t size, packets;

	(void)entity;
	queue_at(offer, offer->next, sim->now, &size, &packets);
	if (offer->next % 3 == 0) /* looking moves the lazy boundary, which must not matter */
		cr_expect_eq(port_queue_bytes(&offer->bench.net.ports[0], sim->now), size);
	packet.flags = o->ect ? PACKET_ECT : 0;
	network_send(&offer->bench.net, 0, &packet);
	if (++offer->next < OFFERED)
		timer_set(sim, &offer->timer, offer->list[offer->next].at);
}

/* The instant at which the next packet has left; `now` if there is none. */
static sim_time next_departure(const struct offer *offer, uint32_t before, sim_time now)
{
	for (uint32_t i = 0; i < before; i++)
		if (!offer->list[i].dropped && offer->list[i].depart > now)
			return offer->list[i].depart;
	return now;
}

/* What a FIFO with tail drop and one ECN threshold does to the list. */
static void model(struct offer *offer, struct rng *rng)
{
	const struct link_params *link = &offer->link;
	sim_time now = 0, busy = 0;

	for (uint32_t i = 0; i < OFFERED; i++) {
		struct offered *o = &offer->list[i];
		uint64_t size, packets;

		switch (rng_below(rng, 3)) { /* more than the link can carry */
		case 0:
			now = next_departure(offer, i, now);
			break;
		case 1:
			now += rng_below(rng, 1200000);
			break;
		default:
			break; /* the same instant */
		}
		*o = (struct offered){ .at = now,
				       .size = (uint16_t)(64 + rng_below(rng, 1455)),
				       .ect = rng_below(rng, 8) != 0 };
		queue_at(offer, i, now, &size, &packets);
		o->dropped = size + o->size > link->limit;
		o->marked = !o->dropped && o->ect &&
			    (link->ecn_in_packets ? packets : size) > link->ecn_min;
		offer->drops += o->dropped;
		offer->marks += o->marked;
		if (o->dropped)
			continue;
		busy = (busy > now ? busy : now) + on_wire(link, o->size);
		o->depart = busy;
	}
}

static void expect_like_model(const struct offer *offer)
{
	size_t seen = 0;

	for (uint32_t i = 0; i < OFFERED; i++) {
		const struct delivery *d = &offer->bench.log[seen];

		if (offer->list[i].dropped)
			continue;
		cr_assert_lt(seen, offer->bench.count);
		cr_assert_eq(d->packet.seq, i);
		cr_assert_eq(d->at, offer->list[i].depart + offer->link.delay);
		cr_assert_eq((d->packet.flags & PACKET_CE) != 0, offer->list[i].marked, "packet %u",
			     i);
		seen++;
	}
	cr_expect_eq(seen, offer->bench.count);
	cr_expect_eq(offer->bench.net.dropped, offer->drops);
	cr_expect_eq(offer->bench.net.cold[0].drops, offer->drops);
	cr_expect_eq(offer->bench.net.cold[0].marks, offer->marks);
}

/* Plays the list; counters balance on the way as well. */
static void play(struct offer *offer)
{
	struct sim *sim = &offer->bench.sim;

	bench_init(&offer->bench, &offer->link, NIC_TURNS);
	timer_open(sim, &offer->timer, SIM_TIMER, 1, offer_next, offer);
	timer_set(sim, &offer->timer, offer->list[0].at);
	for (int i = 0; i < 100; i++) {
		sim_run(sim, 20);
		cr_expect_eq(network_check(&offer->bench.net, stderr), 0);
	}
	sim_run(sim, UINT64_MAX);
}

static const struct {
	bytes limit;
	uint64_t threshold;
	bool packets;
} queues[] = {
	{ 5000, 2, true },
	{ 5000, 1500, false },
	{ 20000, 0, true },
	{ 20000, 7, true },
	{ 20000, 10000, false },
	{ UINT64_MAX, 20, true },
	{ UINT64_MAX, 15000, false },
	{ 3000, UINT64_MAX, false },
	{ 1518, UINT64_MAX, true },
};

/* Every drop, mark and time of 3,000 random packets is exactly the model's, for thresholds in
 * packets and in bytes, and for tight and loose limits. */
Test(port, like_the_naive_queue)
{
	struct offer *offer = malloc(sizeof(*offer));

	for (size_t c = 0; c < sizeof(queues) / sizeof(queues[0]); c++) {
		struct rng rng;

		*offer = (struct offer){ .link = plain };
		offer->link.limit = queues[c].limit;
		offer->link.ecn_min = offer->link.ecn_max = queues[c].threshold;
		offer->link.ecn_in_packets = queues[c].packets;
		rng_init(&rng, 1, "offer", c);
		model(offer, &rng);
		cr_assert(queues[c].limit == UINT64_MAX || offer->drops, "tests nothing");
		cr_assert(queues[c].threshold == UINT64_MAX || offer->marks, "tests nothing");
		play(offer);
		expect_like_model(offer);
		bench_release(&offer->bench);
	}
	free(offer);
}

/* The queue takes exactly its limit, the packet that is being sent included. */
Test(port, tail_drop_at_the_exact_byte)
{
	for (uint16_t extra = 0; extra < 2; extra++) {
		struct link_params link = plain;
		struct bench bench;

		link.limit = 4500;
		bench_init(&bench, &link, NIC_TURNS);
		send(&bench, 0, 1500);
		send(&bench, 1, 1500);
		send(&bench, 2, (uint16_t)(1500 + extra));
		cr_expect_eq(bench.net.dropped, extra);
		send(&bench, 3, 1);
		cr_expect_eq(bench.net.dropped, 1);
		cr_expect_eq(network_in_flight(&bench.net), 3);
		sim_run(&bench.sim, UINT64_MAX);
		cr_expect_eq(bench.count, 3);
		bench_release(&bench);
	}
}

/* --- chance --- */

static bool rare_event(double hits, double n, double p)
{
	return fabs(hits - n * p) > 4.5 * sqrt(n * p * (1 - p)) + 1e-9;
}

/* RED: 40 packets at one instant see queues of 0..39 packets (of 0..39 x 1,000
 * bytes); each is marked with probability 0 up to kmin, pmax (q - kmin) /
 * (kmax - kmin) up to kmax, 1 above. */
Test(port, red_ramp)
{
	for (uint16_t packets = 0; packets < 2; packets++) {
		const uint64_t unit = packets ? 1 : 1000;
		const int rounds = 4000;
		struct link_params link = plain;
		uint32_t marked[40] = { 0 };
		struct bench bench;

		link.ecn_min = 10 * unit;
		link.ecn_max = 30 * unit;
		link.ecn_max_probability = 0.4;
		link.ecn_in_packets = packets;
		bench_init(&bench, &link, NIC_TURNS);
		for (int round = 0; round < rounds; round++) {
			for (uint64_t q = 0; q < 40; q++)
				send(&bench, q, 1000);
			sim_run(&bench.sim, UINT64_MAX);
			for (size_t i = 0; i < bench.count; i++)
				marked[bench.log[i].packet.seq] +=
					(bench.log[i].packet.flags & PACKET_CE) != 0;
			bench.count = 0;
		}
		for (int q = 0; q < 40; q++) {
			double p = q <= 10 ? 0 : q > 30 ? 1 : 0.4 * (q - 10) / 20;

			cr_expect_not(rare_event(marked[q], rounds, p), "queue %d: %u marks", q,
				      marked[q]);
		}
		bench_release(&bench);
	}
}

/* Losses are a binomial share of the packets and are counted. Nothing else is lost, and the times
 * of other packets do not change. */
Test(port, losses)
{
	static const double probabilities[] = { 0, 0.001, 0.1, 0.5 };
	const int n = 100000;

	for (size_t c = 0; c < 4; c++) {
		struct link_params link = plain;
		struct bench bench;

		link.loss = probabilities[c];
		bench_init(&bench, &link, NIC_TURNS);
		for (int i = 0; i < n; i++)
			send(&bench, (uint64_t)i, 100);
		sim_run(&bench.sim, UINT64_MAX);
		cr_expect_not(rare_event((double)bench.net.lost, n, probabilities[c]), "%llu lost",
			      (unsigned long long)bench.net.lost);
		cr_expect_eq(bench.net.lost, bench.net.cold[0].losses);
		cr_expect_eq(bench.net.lost + bench.count, n);
		for (size_t i = 0; i < bench.count; i++)
			cr_assert_eq(bench.log[i].at,
				     (bench.log[i].packet.seq + 1) * 80000 + PS_PER_US);
		bench_release(&bench);
	}
}

/* A host's jitter is uniform in 0..max when packets are far apart, and never
 * reorders when they are not. */
Test(port, jitter)
{
	const size_t n = 20000;
	struct link_params link = plain;
	struct bench bench;
	double sum = 0;

	link.peer_jitter = 5 * PS_PER_US;
	bench_init(&bench, &link, NIC_TURNS);
	for (size_t i = 0; i < n; i++) { /* one at a time */
		sim_time start = bench.sim.now, late;

		send(&bench, i, 1000);
		sim_run(&bench.sim, UINT64_MAX);
		cr_assert_eq(bench.count, i + 1);
		late = bench.log[i].at - start - 800000 - PS_PER_US;
		cr_assert_leq(late, link.peer_jitter);
		sum += (double)late / (double)link.peer_jitter;
	}
	cr_expect_lt(fabs(sum / (double)n - 0.5), 4.5 / sqrt(12.0 * (double)n));
	bench.count = 0;
	for (size_t i = 0; i < n; i++) /* back to back */
		send(&bench, i, 1000);
	sim_run(&bench.sim, UINT64_MAX);
	cr_assert_eq(bench.count, n);
	for (size_t i = 1; i < n; i++) {
		cr_assert_eq(bench.log[i].packet.seq, i);
		cr_assert_geq(bench.log[i].at, bench.log[i - 1].at);
	}
	bench_release(&bench);
}

/* --- books --- */

/* The ring grows with the queue, without losing or changing a packet, and shrinks with it. */
Test(port, ring_grows_and_shrinks)
{
	struct link_params link = plain;
	struct bench bench;
	const struct port *port;
	uint64_t packets, size, sent = 0;
	uint8_t widest;

	bench_init(&bench, &link, NIC_TURNS);
	port = &bench.net.ports[0];
	while (sent < 20) /* so that the head stands anywhere when it grows */
		send(&bench, sent++, 100);
	sim_run(&bench.sim, 7);
	while (sent < 5000)
		send(&bench, sent++, 100);
	widest = port->ring_bits;
	cr_expect_geq(1u << widest, 4993);
	sim_run(&bench.sim, 1000);
	port_carried(port, &packets, &size);
	cr_expect_eq(packets, 1007);
	cr_expect_eq(size, 100700);
	cr_expect_eq(network_check(&bench.net, stderr), 0);
	sim_run(&bench.sim, UINT64_MAX);
	cr_assert_eq(bench.count, 5000);
	for (size_t i = 0; i < 5000; i++)
		cr_assert_eq(bench.log[i].packet.seq, i);
	cr_expect_leq(port->ring_bits, widest - 5);
	bench_release(&bench);
}

/* 500 packets of 12 ms at 1 Mbps wait up to 6 s, longer than 32 bits of ns: the
 * longest backlog stays at the largest value instead of wrapping. */
Test(port, longest_backlog_saturates)
{
	struct link_params link = plain;
	struct bench bench;

	link.rate = 1000000;
	bench_init(&bench, &link, NIC_TURNS);
	send(&bench, 0, 1500);
	cr_expect_eq(bench.net.ports[0].max_backlog_ns, 12000000);
	for (uint64_t i = 1; i < 500; i++)
		send(&bench, i, 1500);
	cr_expect_eq(bench.net.ports[0].max_backlog_ns, UINT32_MAX, "%u ns",
		     bench.net.ports[0].max_backlog_ns);
	sim_run(&bench.sim, UINT64_MAX);
	bench_release(&bench);
}

/* --- a switch --- */

static void star_init(struct bench *bench, uint16_t hosts)
{
	static const uint8_t tier = 1;
	struct link_params up = plain;

	*bench = (struct bench){ 0 };
	up.peer_latency = 500 * PS_PER_NS;
	sim_init(&bench->sim, 1);
	network_init(&bench->net, &bench->sim, hosts, NULL, 1, &hosts, &tier, false);
	for (uint16_t h = 0; h < hosts; h++)
		network_connect(&bench->net, h, 0, &up, hosts, h, &plain);
	network_tune(&bench->net);
	bench->protocol = network_register(&bench->net, &test_ops, bench);
}

/* Store and forward: two transmissions, two delays, one pipeline; the hook gets AGGREGATION
 * packets, sees the way back and may forward them. */
Test(port, through_a_switch)
{
	for (int aggregation = 0; aggregation < 2; aggregation++) {
		struct bench bench;
		struct packet packet;

		star_init(&bench, 4);
		packet = make(&bench, 5, 1000);
		packet.kind = aggregation ? PACKET_AGGREGATION : PACKET_DATA;
		packet.route[0] = 3;
		bench.actions.forward = true;
		bench.hook_back = UINT32_MAX;
		network_send(&bench.net, 1, &packet);
		sim_run(&bench.sim, UINT64_MAX);
		cr_assert_eq(bench.count, 1);
		cr_expect_eq(bench.log[0].host, 3);
		cr_expect_eq(bench.log[0].at, 2 * 800000 + 2500000);
		cr_expect_eq(bench.hook_back,
			     aggregation ? network_port(&bench.net, 4, 1) : UINT32_MAX);
		cr_expect_eq(bench.net.hops, 2);
		bench_release(&bench);
	}
}

/* The hook absorbs a packet and sends two in its place, one of them to three hosts. */
Test(port, switch_actions)
{
	struct bench bench;
	struct packet packet;
	uint32_t all[3], one;
	unsigned per_host[4] = { 0 };

	star_init(&bench, 4);
	packet = make(&bench, 5, 1000);
	packet.kind = PACKET_AGGREGATION;
	for (uint16_t i = 0; i < 3; i++)
		all[i] = network_port(&bench.net, 4, i);
	one = network_port(&bench.net, 4, 3);
	bench.actions = (struct switch_actions){ .count = 2,
						 .send = { { make(&bench, 6, 200), all, 3 },
							   { make(&bench, 7, 300), &one, 1 } } };
	network_send(&bench.net, 1, &packet);
	sim_run(&bench.sim, UINT64_MAX);
	cr_assert_eq(bench.count, 4);
	for (size_t i = 0; i < 4; i++) {
		per_host[bench.log[i].host]++;
		cr_expect_eq(bench.log[i].packet.seq, bench.log[i].host == 3 ? 7 : 6);
	}
	for (int h = 0; h < 4; h++)
		cr_expect_eq(per_host[h], 1);
	cr_expect_eq(bench.hook_switch, 0);
	cr_expect_eq(bench.net.created, 5);
	cr_expect_eq(bench.net.absorbed, 1);
	cr_expect_eq(bench.net.delivered, 4);
	bench_release(&bench);
}
