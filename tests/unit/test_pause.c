/* Lossless networks, from the network's side: raw senders at line rate, no transport. */
#include "core/repeat.h"
#include "net/lossless_parts.h"

#include "net_sample.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS    12
#define ARRIVALS 4000

struct source {
	struct nic_source nic;
	struct bench *bench;
	struct route route;
	uint32_t host, left, next;
	uint16_t size;
	struct timer start;
};

struct arrival {
	sim_time at;
	uint32_t from, seq;
};

struct bench {
	struct sim sim;
	struct network net;
	uint8_t protocol;
	struct source sources[HOSTS];
	struct arrival log[HOSTS][ARRIVALS]; /* by host, the first ones */
	uint32_t count[HOSTS];
	struct switch_actions actions;
};

static struct bench bench; /* tests have processes of their own */

static void record(void *self, uint32_t host, const struct packet *packet)
{
	struct bench *b = self;

	if (b->count[host] < ARRIVALS)
		b->log[host][b->count[host]] =
			(struct arrival){ b->sim.now, packet->flow, (uint32_t)packet->seq };
	b->count[host]++;
}

static void hook(void *self, uint32_t sw, uint32_t back, struct packet *packet,
		 struct switch_actions *actions)
{
	(void)sw, (void)back, (void)packet;
	*actions = ((struct bench *)self)->actions;
}

static const struct protocol_ops test_ops = { .name = "test",
					      .deliver = record,
					      .at_switch = hook };

static enum nic_pull pull(void *owner, struct packet *packet)
{
	struct source *source = owner;

	if (!source->left)
		return NIC_NOTHING;
	*packet = (struct packet){ .flow = source->host,
				   .seq = source->next++,
				   .size = source->size,
				   .kind = PACKET_DATA,
				   .flags = PACKET_ECT,
				   .protocol = source->bench->protocol };
	packet_set_route(packet, &source->route);
	return --source->left ? NIC_MORE : NIC_LAST;
}

static void on_start(struct sim *sim, uint32_t entity, void *owner)
{
	struct source *source = owner;

	(void)sim, (void)entity;
	nic_wake(&source->bench->net.nics[source->host], &source->nic);
}

/* From `start` on, a host sends `count` frames of `size` bytes along a route. */
static void offer(uint32_t host, sim_time start, uint32_t count, uint16_t size, struct route route)
{
	struct source *source = &bench.sources[host];

	*source = (struct source){ .bench = &bench,
				   .route = route,
				   .host = host,
				   .left = count,
				   .size = size,
				   .nic = { .pull = pull, .owner = source } };
	timer_open(&bench.sim, &source->start, SIM_TIMER, sim_key(SIM_TIMER, host), on_start,
		   source);
	timer_set(&bench.sim, &source->start, start);
}

static void begin(uint32_t hosts, uint32_t switches, const uint16_t *ports)
{
	static const uint8_t tiers[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };

	memset(&bench, 0, sizeof(bench));
	sim_init(&bench.sim, 1);
	network_init(&bench.net, &bench.sim, hosts, NULL, switches, ports, tiers, NIC_TURNS);
	lossless_init(&bench.net);
}

static void begun(void)
{
	network_tune(&bench.net);
	bench.protocol = network_register(&bench.net, &test_ops, &bench);
}

static unsigned violations(void)
{
	FILE *null = fopen("/dev/null", "w");
	unsigned bad = network_check(&bench.net, null);

	fclose(null);
	return bad;
}

/* Everything has arrived: no memory is in use, nobody is stopped, no frame is under way. */
static void finish(void)
{
	cr_expect_not(sim_run(&bench.sim, UINT64_MAX));
	cr_expect_eq(network_check(&bench.net, stderr), 0);
	cr_expect_eq(network_in_flight(&bench.net), 0);
	for (uint32_t i = 0; i < bench.net.port_count; i++) {
		const struct ingress *in = lossless_ingress(&bench.net, i);

		cr_expect_eq(in->shared + in->headroom, 0, "port %u", i);
		cr_expect_not(in->stopped);
		cr_expect_neq(bench.net.ports[i].busy_until, SIM_TIME_MAX);
		cr_expect_eq(lossless_paused(&bench.net, i), bench.net.cold[i].paused_time);
	}
}

static void end(void)
{
	network_release(&bench.net);
	sim_release(&bench.sim);
}

/* --- times, by hand --- */

struct change {
	sim_time at;
	uint32_t port;
	bool stopped;
};

/* The times at which transmitters stop and go on, up to `count` of them. */
static uint32_t watch(struct change *changes, uint32_t count)
{
	bool stopped[64] = { 0 };
	uint32_t n = 0;

	while (n < count && sim_run(&bench.sim, 1)) {
		for (uint32_t i = 0; i < bench.net.port_count; i++) {
			bool now = bench.net.ports[i].busy_until == SIM_TIME_MAX;

			if (now != stopped[i] && n < count)
				changes[n++] = (struct change){ bench.sim.now, i, now };
			stopped[i] = now;
		}
	}
	return n;
}

/* h0 -10G- s0 -10G- s1 -1G- h1, 1,000-byte frames (800 ns; 8 us on the last link), no
 * preambles, 1 us each way, no pipelines; XOFF at 3,000 bytes, XON at 1,000. In ns:
 *   packet i reaches s0 at 1800 + 800 i and s1 at 3600 + 800 i.
 *   s1 holds 3,000 bytes at 5200: XOFF; a frame of 64 bytes (51.2) and 1,000 later it
 *     stops s0, in the middle of packet 5 (5800 to 6600), which is finished: 6251.2.
 *   s0 holds packets 6, 7, 8 at 8200: XOFF; it stops h0 in the middle of packet 11: 9251.2.
 *   s1 sends a packet every 8000 from 3600 on, and is down from 6,000 to 1,000 bytes after
 *     the fifth, at 43600: XON; s0 goes on at 44651.2, with packet 6.
 *   packets 6 and 7 reach s1 at 46451.2 and 47251.2: 3,000 bytes, XOFF; s0 stops at
 *     48302.4, in the middle of packet 10 (47851.2 to 48651.2).
 *   s0 holds packet 11 alone at 48651.2: XON; h0 goes on at 49702.4.
 *   s1 is never idle: packet i reaches h1 at 3600 + 8000 (i + 1) + 1000. */
Test(pause, two_switches_by_hand)
{
	const struct link_params fast = pausing_link_of(10 * GBPS, &plenty),
				 slow = pausing_link_of(GBPS, &plenty);
	enum { H0 = 0, S0_S1 = 3 };
	const struct change want[] = {
		{ 6251200, S0_S1, true },  { 9251200, H0, true },   { 44651200, S0_S1, false },
		{ 48302400, S0_S1, true }, { 49702400, H0, false },
	};
	struct change got[5];

	begin(2, 2, line_ports);
	join_line(&bench.net, &fast, &slow);
	begun();
	offer(0, 0, 100, 1000, line_route);
	cr_assert_eq(watch(got, 5), 5);
	for (int i = 0; i < 5; i++) {
		cr_expect_eq(got[i].at, want[i].at, "change %d at %llu ps", i,
			     (unsigned long long)got[i].at);
		cr_expect_eq(got[i].port, want[i].port, "change %d", i);
		cr_expect_eq(got[i].stopped, want[i].stopped, "change %d", i);
	}
	cr_expect_eq(lossless_paused(&bench.net, H0), 49702400 - 9251200);
	cr_expect_eq(bench.net.cold[S0_S1].pauses, 2);
	finish();
	cr_assert_eq(bench.count[1], 100);
	for (uint32_t i = 0; i < 100; i++) {
		cr_expect_eq(bench.log[1][i].seq, i);
		cr_expect_eq(bench.log[1][i].at, 3600000 + 8000000 * (i + 1) + 1000000);
	}
	end();
}

/* The same with frames of 980 bytes and 20 bytes of preamble and gap, so that all times but those
 * of PAUSE frames stay the same. s0's port to s1 is stopped behind packet 5 and collects packets 6
 * to 11: 6 x 800 ns. h0's port holds only the packet that its sender offers next. */
Test(pause, backlog_of_a_stopped_port)
{
	struct pause_params pause = plenty;
	struct link_params fast, slow;
	enum { H0 = 0, S0_S1 = 3 };

	pause.xoff = 2940;
	pause.xon = 980;
	fast = pausing_link_of(10 * GBPS, &pause);
	slow = pausing_link_of(GBPS, &pause);
	fast.wire_overhead = slow.wire_overhead = true;
	begin(2, 2, line_ports);
	join_line(&bench.net, &fast, &slow);
	begun();
	offer(0, 0, 100, 980, line_route);
	finish();
	cr_expect_gt(bench.net.cold[H0].pauses, 0, "tests nothing");
	cr_expect_eq(bench.net.ports[S0_S1].max_backlog_ns, 6 * 800);
	cr_expect_eq(bench.net.ports[H0].max_backlog_ns, 800, "%u ns",
		     bench.net.ports[H0].max_backlog_ns);
	end();
}

/* PAUSE frames take their time on the link: they go behind the packet that is being
 * sent and ahead of those that wait, so the packets of a busy link that came 800 ns
 * apart come 851.2 ns apart, once for each frame. */
Test(pause, frames_take_their_place)
{
	static const uint16_t ports[] = { 3 };
	const struct link_params fast = pausing_link_of(10 * GBPS, &plenty),
				 slow = pausing_link_of(GBPS, &plenty);
	struct pause_params patient = plenty; /* room for the packets that PAUSE frames delay */
	struct link_params opposite;
	uint64_t late = 0;

	patient.xoff = 500000;
	opposite = pausing_link_of(10 * GBPS, &patient);

	begin(3, 1, ports);
	network_connect(&bench.net, 0, 0, &fast, 3, 0, &fast);
	network_connect(&bench.net, 1, 0, &slow, 3, 1, &slow);
	network_connect(&bench.net, 2, 0, &opposite, 3, 2, &opposite);
	begun();
	offer(0, 0, 200, 1000, (struct route){ { 1 }, 1 });
	offer(2, 100, 2000, 1000, (struct route){ { 0 }, 1 });
	finish();
	cr_assert_eq(bench.count[0], 2000);
	cr_assert_eq(bench.count[1], 200);
	for (uint32_t i = 1; i < 2000; i++) {
		sim_time gap = bench.log[0][i].at - bench.log[0][i - 1].at;

		cr_expect_eq((gap - 800000) % 51200, 0);
		late += (gap - 800000) / 51200;
	}
	/* an XOFF and an XON each time, all of them while that link was busy */
	cr_expect_gt(bench.net.cold[0].pauses, 10);
	cr_expect_eq(late, 2 * bench.net.cold[0].pauses);
	end();
}

/* A packet timed again and again draws its jitter once: the mean of 1,000 is 0.5 +- 0.05. */
Test(pause, jitter_of_a_packet_that_waits)
{
	struct link_params link = pausing_link_of(10 * GBPS, &plenty);
	double sum = 0;

	link.peer_jitter = PS_PER_US;
	begin(2, 0, NULL);
	network_connect(&bench.net, 0, 0, &link, 1, 0, &link);
	begun();
	for (int i = 0; i < 1000; i++) {
		const struct packet packet = { .size = 1000, .protocol = bench.protocol };
		sim_time start = bench.sim.now;

		network_send(&bench.net, 0, &packet);
		for (int n = 0; n < 10; n++)
			lossless_retime(&bench.net, 0, 0, start);
		cr_assert_not(sim_run(&bench.sim, UINT64_MAX));
		sum += (double)(bench.sim.now - start - 800000 - PS_PER_US) / PS_PER_US;
	}
	cr_expect(sum > 450 && sum < 550, "%g", sum);
	end();
}

/* 3 MB in a stopped port. In units of 1 / 30 Gbps, which is not a whole number of picoseconds per
 * byte, the backlog needs more than 64 bits. */
Test(pause, backlog_of_some_megabytes)
{
	const struct link_params link = pausing_link_of(30 * GBPS, &plenty);

	begin(2, 0, NULL);
	network_connect(&bench.net, 0, 0, &link, 1, 0, &link);
	begun();
	bench.net.lossless->lanes[0].stopped = true;
	lossless_retime(&bench.net, 0, 0, 0);
	for (int i = 0; i < 50; i++) {
		const struct packet packet = { .size = 60000, .protocol = bench.protocol };

		network_send(&bench.net, 0, &packet);
	}
	cr_expect_eq(bench.net.ports[0].max_backlog_ns, 800000);
	end();
}

/* --- headroom --- */

struct line {
	bps rate;
	sim_time delay, latency, response;
	uint16_t frame;
	bool overhead;
};

/* h0 sends to h1 behind a slow link; h2 keeps the link towards h0 busy with the largest
 * frames, `phase` later. Returns the most that ever was in the headroom. */
static bytes headroom_used(const struct line *line, bytes headroom, sim_time phase, uint64_t *drops)
{
	static const uint16_t ports[] = { 3 };
	struct pause_params pause = { .on = true,
				      .memory = 10000000,
				      .headroom = headroom,
				      .xoff = 20u * line->frame,
				      .xon = 10u * line->frame,
				      .mtu = line->frame,
				      .delay = line->delay,
				      .response = line->response };
	struct link_params fast = pausing_link_of(line->rate, &pause),
			   slow = pausing_link_of(1000000, &pause);
	bytes used;

	fast.peer_latency = line->latency;
	fast.wire_overhead = line->overhead;
	begin(3, 1, ports);
	network_connect(&bench.net, 0, 0, &fast, 3, 0, &fast);
	network_connect(&bench.net, 1, 0, &slow, 3, 1, &slow);
	network_connect(&bench.net, 2, 0, &fast, 3, 2, &fast);
	begun();
	offer(0, 2 * (line->delay + line->latency), 500, line->frame, (struct route){ { 1 }, 1 });
	offer(2, phase, 1000, line->frame, (struct route){ { 0 }, 1 });
	while (bench.net.delivered < 100 && sim_run(&bench.sim, 1))
		;
	while (bench.net.cold[0].pauses == 0 && sim_run(&bench.sim, 1))
		;
	sim_run(&bench.sim, 2000);
	used = lossless_ingress(&bench.net, 3)->headroom_max;
	*drops = bench.net.dropped;
	/* a drop in a lossless network is a violation */
	cr_expect_eq(violations() != 0, *drops != 0);
	end();
	return used;
}

static const struct line lines[] = {
	{ 10 * GBPS, PS_PER_US, 500 * PS_PER_NS, 0, 1518, true },
	{ 10 * GBPS, PS_PER_US, 0, 0, 1518, false },
	{ 100 * GBPS, PS_PER_US, 500 * PS_PER_NS, 0, 1518, true },
	{ 100 * GBPS, 5 * PS_PER_US, 500 * PS_PER_NS, 2 * PS_PER_US, 9000, true },
	{ 25 * GBPS, 100 * PS_PER_NS, 0, 300 * PS_PER_NS, 256, true },
	{ GBPS, PS_PER_US, 0, 0, 1518, true },
};

/* With the headroom of the closed form nothing is ever dropped; with a frame less
 * there are phases of the opposite traffic at which something is. */
Test(pause, headroom_is_exact)
{
	enum { PHASES = 64 };

	for (size_t l = 0; l < sizeof(lines) / sizeof(lines[0]); l++) {
		const struct line *line = &lines[l];
		bytes needed = pause_headroom(line->rate, line->delay, line->latency,
					      line->response, line->frame, line->overhead ? 20 : 0);
		sim_time frame = (line->frame + 20u) * 8 * PS_PER_S / line->rate;
		unsigned forced = 0;
		bytes max = 0;

		for (unsigned phase = 0; phase < PHASES; phase++) {
			uint64_t drops;
			bytes used = headroom_used(line, needed, phase * frame / PHASES, &drops);

			cr_expect_eq(drops, 0, "line %zu, phase %u", l, phase);
			max = used > max ? used : max;
			headroom_used(line, needed - line->frame, phase * frame / PHASES, &drops);
			forced += drops != 0;
		}
		cr_expect_leq(max, needed, "line %zu", l);
		cr_expect_gt(max, needed - line->frame, "line %zu", l);
		cr_expect_gt(forced, 0, "line %zu", l);
	}
}

/* By hand: 10 Gbps, 1 us, no pipeline, no preambles, frames of 1,500 bytes: 1200 ns under
 * way + 51.2 ns + 2000 ns are 4,064 bytes, and 1,500 more have begun. */
Test(pause, headroom_by_hand)
{
	cr_expect_eq(pause_headroom(10 * GBPS, PS_PER_US, 0, 0, 1500, 0), 4064 + 1500);
	cr_expect_eq(pause_headroom(10 * GBPS, PS_PER_US, 0, 400 * PS_PER_NS, 1500, 0),
		     4064 + 500 + 1500);
}

/* --- memory --- */

/* Choudhury and Hahne: with alpha a, n greedy ports hold a B / (1 + n a) each. */
Test(pause, dynamic_threshold)
{
	for (unsigned n = 1; n <= 8; n++) {
		struct pause_params params = { .on = true,
					       .memory = 100000,
					       .mtu = 1000,
					       .alpha = ALPHA_ONE / 2,
					       .hysteresis = 2000 };
		struct ingress_memory memory = { 0 };
		struct ingress in[8];
		double share = 0.5 * 8 * 99000 / (1 + n * 0.5);

		for (unsigned i = 0; i < 8; i++)
			ingress_init(&in[i], &memory, &params);
		cr_assert_eq(memory.shared_size, 8 * 99000);
		for (unsigned round = 0; round < 10000; round++) {
			for (unsigned i = 0; i < n; i++) {
				if (in[i].stopped)
					continue;
				cr_expect(ingress_take(&in[i], 100));
				ingress_set_stopped(&in[i], ingress_full(&in[i]));
			}
		}
		cr_expect_eq(memory.stopped, n);
		for (unsigned i = 0; i < n; i++) {
			cr_expect(in[i].shared > share - 200 && in[i].shared < share + 200,
				  "%u ports: %llu, not %g", n, (unsigned long long)in[i].shared,
				  share);
			cr_expect_not(ingress_low(&in[i]));
		}
		while (!ingress_low(&in[0]))
			ingress_give(&in[0], 100);
		/* after x bytes have left, the threshold is x / 2 higher: x + x / 2 = 2000 */
		cr_expect(in[0].shared > share - 2000.0 / 1.5 - 600 &&
				  in[0].shared < share - 2000.0 / 1.5 + 600,
			  "%llu is not %g", (unsigned long long)in[0].shared, share - 2000.0 / 1.5);
	}
}

/* Ten thousand random arrivals and departures, from neighbours that ignore PAUSE: the sum never
 * exceeds the memory, and what is given back is what was taken. */
Test(pause, memory_is_never_exceeded)
{
	for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
		struct pause_params params = { .on = true,
					       .memory = 20000,
					       .headroom = 5000,
					       .mtu = 1518,
					       .xoff = 13482,
					       .xon = 8000,
					       .alpha = dynamic * 4 * ALPHA_ONE,
					       .hysteresis = 3000 };
		struct ingress_memory memory = { 0 };
		struct ingress in[4];
		uint16_t held[4][512];
		unsigned count[4] = { 0 }, refused = 0;
		struct rng rng;

		rng_init(&rng, 1, "ingress", dynamic);
		for (unsigned i = 0; i < 4; i++)
			ingress_init(&in[i], &memory, &params);
		for (unsigned n = 0; n < 100000; n++) {
			unsigned i = (unsigned)rng_below(&rng, 4);
			uint16_t size = (uint16_t)(64 + rng_below(&rng, 1455));
			uint64_t sum = 0;

			if (rng_below(&rng, 100) < 60) {
				if (ingress_take(&in[i], size))
					held[i][count[i]++] = size;
				else
					refused++;
				if (ingress_full(&in[i]))
					ingress_set_stopped(&in[i], true);
			} else if (count[i]) {
				ingress_give(&in[i], held[i][--count[i]]);
			}
			if (in[i].stopped && ingress_low(&in[i]))
				ingress_set_stopped(&in[i], false);
			for (unsigned k = 0; k < 4; k++)
				sum += in[k].shared + in[k].headroom;
			cr_assert_leq(sum, 4 * 20000);
		}
		cr_expect_gt(refused, 0, "tests nothing");
		for (unsigned i = 0; i < 4; i++) {
			while (count[i])
				ingress_give(&in[i], held[i][--count[i]]);
			cr_expect_eq(in[i].shared + in[i].headroom, 0);
		}
		cr_expect_eq(memory.shared_used, 0);
	}
}

/* --- networks --- */

/* In a star, 11 hosts send to one at full rate. All packets arrive in order, and the link to the
 * receiver is busy to the end; static and dynamic thresholds. */
Test(pause, incast_at_line_rate)
{
	for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
		static const uint16_t ports[] = { HOSTS };
		struct pause_params pause = plenty;
		struct link_params link;
		uint32_t next[HOSTS] = { 0 };

		pause.headroom = pause_headroom(10 * GBPS, PS_PER_US, 0, 0, 1518, 0);
		pause.memory = 20000;
		pause.xoff = 9000;
		pause.xon = 5000;
		pause.alpha = dynamic * ALPHA_ONE / 4;
		pause.hysteresis = 3000;
		link = pausing_link_of(10 * GBPS, &pause);
		begin(HOSTS, 1, ports);
		for (uint16_t h = 0; h < HOSTS; h++)
			network_connect(&bench.net, h, 0, &link, HOSTS, h, &link);
		begun();
		for (uint32_t h = 1; h < HOSTS; h++)
			offer(h, 0, 300, 1500, (struct route){ { 0 }, 1 });
		finish();
		cr_assert_eq(bench.count[0], 300 * (HOSTS - 1));
		cr_expect_eq(bench.net.dropped, 0);
		cr_expect_eq(bench.log[0][bench.count[0] - 1].at,
			     2 * PS_PER_US + 1200000 * (sim_time)(300 * (HOSTS - 1) + 1));
		for (uint32_t i = 0; i < bench.count[0]; i++)
			cr_assert_eq(bench.log[0][i].seq, next[bench.log[0][i].from]++);
		for (uint32_t h = 1; h < HOSTS; h++)
			cr_expect_gt(bench.net.cold[h].pauses, 0);
		end();
	}
}

/* Bytes that a victim has received after 10 ms: h0 sends to h2 behind 1 Gbps, h1 to h3
 * behind 10 Gbps, both by the same link of 10 Gbps. */
static uint32_t victim(bool congested)
{
	static const uint16_t ports[] = { 3, 3 };
	struct pause_params pause = plenty;
	struct link_params fast, slow;

	pause.xoff = 30000;
	pause.xon = 20000;
	fast = pausing_link_of(10 * GBPS, &pause);
	slow = pausing_link_of(GBPS, &pause);
	begin(4, 2, ports);
	network_connect(&bench.net, 0, 0, &fast, 4, 0, &fast);
	network_connect(&bench.net, 1, 0, &fast, 4, 1, &fast);
	network_connect(&bench.net, 4, 2, &fast, 5, 2, &fast);
	network_connect(&bench.net, 2, 0, &slow, 5, 0, &slow);
	network_connect(&bench.net, 3, 0, &fast, 5, 1, &fast);
	begun();
	if (congested)
		offer(0, 0, 100000, 1000, (struct route){ { 2, 0 }, 2 });
	offer(1, 0, 100000, 1000, (struct route){ { 2, 1 }, 2 });
	while (bench.sim.now < 10 * PS_PER_MS && sim_run(&bench.sim, 1))
		;
	cr_expect_eq(network_check(&bench.net, stderr), 0);
	return bench.count[3] * 1000;
}

/* Head-of-line blocking. One flow is held at 1 Gbps further on. Another flow, which shares only a
 * link with it, takes turns with it and so gets 1 Gbps, too, instead of its share of 5 Gbps. Alone
 * it gets the whole link. DCQCN is for mitigating this: Zhu et al., SIGCOMM 2015, section 2.2. */
Test(pause, victim_flow)
{
	double alone = victim(false) * 8 / 0.01, beside;

	cr_expect_gt(alone, 9.99e9);
	end();
	beside = victim(true) * 8 / 0.01;
	cr_expect(beside > 0.9e9 && beside < 1.2e9, "%g", beside);
	end();
}

/* Copies of a packet to three hosts are charged once, until the slowest has left. */
Test(pause, copies_are_charged_once)
{
	static const uint16_t ports[] = { 4 };
	static const uint32_t outs[] = { 5, 6, 7 };
	const struct link_params fast = pausing_link_of(10 * GBPS, &plenty),
				 slow = pausing_link_of(GBPS, &plenty);
	struct packet packet;
	const struct ingress *in;

	begin(4, 1, ports);
	for (uint16_t h = 0; h < 4; h++)
		network_connect(&bench.net, h, 0, h == 3 ? &slow : &fast, 4, h,
				h == 3 ? &slow : &fast);
	begun();
	packet = (struct packet){ .size = 1000,
				  .kind = PACKET_AGGREGATION,
				  .protocol = bench.protocol };
	bench.actions = (struct switch_actions){ .count = 1, .send = { { packet, outs, 3 } } };
	network_send(&bench.net, 0, &packet);
	in = lossless_ingress(&bench.net, 4);
	while (bench.net.delivered < 2) {
		cr_assert(sim_run(&bench.sim, 1));
		cr_expect_eq(in->shared, bench.net.absorbed ? 1000 : 0);
	}
	cr_expect_eq(network_check(&bench.net, stderr), 0);
	finish();
	cr_expect_eq(bench.count[1] + bench.count[2] + bench.count[3], 3);
	end();
}

/* --- deadlock --- */

/* The deadlock watch and another silent event have different keys. */
Test(pause, key_of_the_watch)
{
	const uint64_t *keys;
	struct repeat repeat;

	begin(2, 0, NULL);
	repeat_init(&repeat, &bench.sim);
	keys = bench.sim.queue.keys;
	cr_expect_neq(keys[repeat.look.id], keys[bench.net.lossless->watch]);
	repeat_release(&repeat);
	end();
}

/* Four switches in a circle, a host at each; every host sends to the one opposite,
 * clockwise, over two of the four links. Each link then waits for the next one. */
static void find_circle(const struct pause_params *pause)
{
	static const uint16_t ports[] = { 3, 3, 3, 3 };
	const struct link_params link = pausing_link_of(10 * GBPS, pause);

	begin(4, 4, ports);
	for (uint32_t i = 0; i < 4; i++) {
		network_connect(&bench.net, i, 0, &link, 4 + i, 0, &link);
		network_connect(&bench.net, 4 + i, 1, &link, 4 + (i + 1) % 4, 2, &link);
	}
	begun();
	for (uint32_t i = 0; i < 4; i++)
		offer(i, 0, 10000, 1500, (struct route){ { 1, 1, 1, 0 }, 4 });
	cr_expect_not(sim_run(&bench.sim, 10000000));
	cr_expect(lossless_deadlocked(&bench.net));
	for (uint32_t i = 0; i < 4; i++)
		cr_expect(lossless_stuck(&bench.net, network_port(&bench.net, 4 + i, 1)));
	cr_expect_lt(bench.net.delivered, 40000);
	cr_expect_eq(bench.net.dropped, 0);
	cr_expect_eq(network_check(&bench.net, stderr), 0);
	end();
}

Test(pause, a_circle_is_found)
{
	struct pause_params pause = plenty;

	pause.xoff = 3000;
	pause.xon = 1500;
	find_circle(&pause);
}

/* With thresholds that follow the free memory, what is stuck for the host's port counts, too:
 * without it the other port of the circle could go on. */
Test(pause, a_circle_is_found_with_alpha)
{
	struct pause_params pause = plenty;

	pause.alpha = ALPHA_ONE;
	pause.hysteresis = 3000;
	find_circle(&pause);
}
