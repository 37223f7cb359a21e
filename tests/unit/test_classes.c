/* Two classes at a port: control packets first, without preemption; with PAUSE and without. */
#include "net/lossless.h"
#include "net/outage.h"

#include "net_sample.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define OFFERED 3000

/* What is sent, and what became of it. */
struct offered {
	sim_time at, depart; /* in the model */
	sim_time arrived;    /* in the network; SIM_TIME_MAX = never */
	uint16_t size;
	bool control, dropped, marked;
	bool got_mark;
};

struct bench {
	struct sim sim;
	struct network net;
	uint8_t protocol;
	struct offered list[OFFERED]; /* by seq */
	uint32_t count, next;
	uint32_t last[2]; /* the newest that has arrived, by class */
	struct route route;
	struct timer timer;
};

static struct bench bench; /* tests have processes of their own */

/* Within a class nothing overtakes. */
static void record(void *self, uint32_t host, const struct packet *packet)
{
	struct bench *b = self;
	struct offered *o = &b->list[packet->seq];

	cr_expect_eq(host, 1);
	cr_expect_eq(o->arrived, SIM_TIME_MAX, "packet %u came twice", (unsigned)packet->seq);
	cr_expect_geq(packet->seq, b->last[o->control]);
	b->last[o->control] = (uint32_t)packet->seq;
	o->arrived = b->sim.now;
	o->got_mark = packet->flags & PACKET_CE;
}

static const struct protocol_ops test_ops = { .name = "test", .deliver = record };

/* Half of the control packets are ACKs, the others data of an urgent connection. */
static void send_packet(struct bench *b)
{
	const struct offered *o = &b->list[b->next];
	struct packet packet = { .seq = b->next,
				 .size = o->size,
				 .kind = PACKET_DATA,
				 .flags = PACKET_ECT,
				 .protocol = b->protocol };

	packet_set_route(&packet, &b->route);
	if (o->control && b->next % 2)
		packet.kind = PACKET_ACK;
	else if (o->control)
		packet.flags |= PACKET_URGENT;
	network_send(&b->net, 0, &packet);
	b->next++;
}

static void send_next(struct sim *sim, uint32_t entity, void *owner)
{
	struct bench *b = owner;

	(void)entity;
	send_packet(b);
	if (b->next < b->count)
		timer_set(sim, &b->timer, b->list[b->next].at);
}

static void begin(bool lossless, uint32_t switches, const uint16_t *ports)
{
	static const uint8_t tiers[2] = { 1, 1 };

	memset(&bench, 0, sizeof(bench));
	sim_init(&bench.sim, 1);
	network_init(&bench.net, &bench.sim, 2, NULL, switches, ports, tiers, NIC_FIFO);
	if (lossless)
		lossless_init(&bench.net);
	network_control_first(&bench.net);
}

static void begun(void)
{
	network_tune(&bench.net);
	bench.protocol = network_register(&bench.net, &test_ops, &bench);
}

static void offer(sim_time at, uint16_t size, bool control)
{
	bench.list[bench.count++] = (struct offered){
		.at = at, .arrived = SIM_TIME_MAX, .size = size, .control = control
	};
}

static void play(void)
{
	timer_open(&bench.sim, &bench.timer, SIM_TIMER, 1, send_next, &bench);
	timer_set(&bench.sim, &bench.timer, bench.list[0].at);
	while (sim_run(&bench.sim, 20))
		cr_assert_eq(network_check(&bench.net, stderr), 0);
	cr_expect_eq(network_check(&bench.net, stderr), 0);
	cr_expect_eq(network_in_flight(&bench.net), 0);
}

static void end(void)
{
	network_release(&bench.net);
	sim_release(&bench.sim);
}

/* 10 Gbps, 1,000 bytes of data (800 ns) and 64 of control (51.2 ns); in ns:
 *   0 data A, B, C; 100 control x; 200 control y; 300 data D
 * A is not interrupted and ends at 800, x at 851.2, y at 902.4; then B, C, D. The wait of x
 * is the rest of A, that of y the rest of A and x: the bound of non-preemptive priority. */
Test(classes, by_hand)
{
	static const sim_time leaves[] = { 800000, 1702400, 2502400, 851200, 902400, 3302400 };

	for (int lossless = 0; lossless < 2; lossless++) {
		struct link_params link = link_of(10 * GBPS);

		begin(lossless, 0, NULL);
		network_connect(&bench.net, 0, 0, &link, 1, 0, &link);
		begun();
		for (int i = 0; i < 3; i++)
			offer(0, 1000, false);
		offer(100000, 64, true);
		offer(200000, 64, true);
		offer(300000, 1000, false);
		play();
		for (int i = 0; i < 6; i++)
			cr_expect_eq(bench.list[i].arrived, leaves[i] + PS_PER_US, "packet %d", i);
		end();
	}
}

/* Data A, B, C and then control x. Packets that the port holds when the link fails are lost.
 * Packets that come after the repair are not, whatever their order in the queue. */
Test(classes, an_outage_takes_what_the_port_held)
{
	for (int lossless = 0; lossless < 2; lossless++) {
		struct link_params link = link_of(10 * GBPS);

		begin(lossless, 0, NULL);
		network_connect(&bench.net, 0, 0, &link, 1, 0, &link);
		network_may_fail(&bench.net);
		begun();
		for (int i = 0; i < 3; i++)
			offer(0, 1000, false);
		offer(0, 64, true);
		offer(0, 1000, false);
		while (bench.next < bench.count) {
			if (bench.next == 3) {
				network_fail_link(&bench.net, 0, true);
				network_fail_link(&bench.net, 0, false);
			}
			send_packet(&bench);
		}
		cr_expect_not(sim_run(&bench.sim, UINT64_MAX));
		for (int i = 0; i < 3; i++)
			cr_expect_eq(bench.list[i].arrived, SIM_TIME_MAX, "packet %d", i);
		cr_expect_eq(bench.list[3].arrived, 851200 + PS_PER_US);
		cr_expect_eq(bench.list[4].arrived, 3251200 + PS_PER_US);
		cr_expect_eq(bench.net.outages->lost[0], 3);
		end();
	}
}

/* --- against two queues --- */

struct queue {
	uint32_t list[OFFERED], head, tail;
};

struct model {
	struct queue queues[2];  /* data, control */
	uint64_t bytes, packets; /* waiting or being sent */
	uint32_t current;        /* being sent, while bytes > 0 */
	sim_time until;
	uint32_t drops, marks, overtakes;
};

static void start_next(struct model *model, const struct link_params *link, sim_time at)
{
	struct queue *queue = &model->queues[1];

	if (queue->head == queue->tail)
		queue = &model->queues[0];
	model->current = queue->list[queue->head++];
	model->until = at + (bench.list[model->current].size * UINT64_C(8) * PS_PER_S + link->rate -
			     1) / link->rate;
	bench.list[model->current].depart = model->until;
}

/* Sends all packets that have left by `now`. A packet that starts at `now` has started. */
static void model_until(struct model *model, const struct link_params *link, sim_time now)
{
	while (model->packets && model->until <= now) {
		model->bytes -= bench.list[model->current].size;
		if (--model->packets)
			start_next(model, link, model->until);
	}
}

static void model_all(struct model *model, const struct link_params *link)
{
	for (uint32_t i = 0; i < bench.count; i++) {
		struct offered *o = &bench.list[i];
		struct queue *queue = &model->queues[o->control], *data = &model->queues[0];

		model_until(model, link, o->at);
		o->dropped = model->bytes + o->size > link->limit;
		o->marked = !o->dropped && !o->control && model->bytes > link->ecn_min;
		model->drops += o->dropped;
		model->marks += o->marked;
		if (o->dropped)
			continue;
		model->overtakes += o->control && data->head != data->tail;
		queue->list[queue->tail++] = i;
		model->bytes += o->size;
		if (model->packets++ == 0)
			start_next(model, link, o->at);
	}
	model_until(model, link, SIM_TIME_MAX);
}

/* Random sizes and times, often the same instant or that of a departure, at 95 % load. */
static void offer_at_random(uint64_t seed)
{
	struct rng rng;
	sim_time now = 0;

	rng_init(&rng, seed, "classes", 0);
	for (uint32_t i = 0; i < OFFERED; i++) {
		now += rng_below(&rng, 3) ? rng_below(&rng, 20) * 51200 : 0;
		offer(now, (uint16_t)(64 * (1 + rng_below(&rng, 15))), rng_below(&rng, 3) == 0);
	}
}

/* Every time, drop and mark is that of two queues, of which the second is served first. */
Test(classes, like_two_queues)
{
	static struct model model;
	static const struct {
		bool lossless;
		bytes limit;
		uint64_t mark;
	} cases[] = { { false, UINT64_MAX, UINT64_MAX },
		      { false, 4000, 2000 },
		      { false, 20000, UINT64_MAX },
		      { true, UINT64_MAX, UINT64_MAX },
		      { true, UINT64_MAX, 3000 } };

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct link_params link = link_of(10 * GBPS);

		link.limit = cases[c].limit;
		link.ecn_min = link.ecn_max = cases[c].mark;
		begin(cases[c].lossless, 0, NULL);
		network_connect(&bench.net, 0, 0, &link, 1, 0, &link);
		begun();
		offer_at_random(c);
		memset(&model, 0, sizeof(model));
		model_all(&model, &link);
		cr_assert_gt(model.overtakes, 100, "tests nothing");
		cr_assert(link.limit > 4000 || model.drops, "tests nothing");
		cr_assert(link.ecn_min == UINT64_MAX || model.marks, "tests nothing");
		play();
		for (uint32_t i = 0; i < bench.count; i++) {
			const struct offered *o = &bench.list[i];

			cr_assert_eq(o->arrived, o->dropped ? SIM_TIME_MAX : o->depart + PS_PER_US,
				     "case %zu packet %u", c, i);
			cr_assert_eq(o->got_mark, o->marked);
		}
		cr_expect_eq(bench.net.cold[0].drops, model.drops);
		cr_expect_eq(bench.net.cold[0].marks, model.marks);
		end();
	}
}

/* --- PAUSE --- */

/* h0 -10G- s0 -10G- s1 -1G- h1 of test_pause.c (two_switches_by_hand), where s1 stops s0 at 6251.2
 * ns and s0 stops h0 at 9251.2. At 20000 a host sends a control packet of 64 bytes: it leaves
 * stopped h0 (51.2) and stopped s0 (51.2) at once, with a delay of 1000 each, and waits at s1 from
 * 22102.4 for data packet 2, which is sent from 19600 to 27600. It takes 512 to send and arrives at
 * 29112; the data behind it is 512 later. No memory is charged for it. */
Test(classes, pause_stops_data_alone)
{
	const struct link_params fast = pausing_link_of(10 * GBPS, &plenty);
	const struct link_params slow = pausing_link_of(GBPS, &plenty);

	begin(true, 2, line_ports);
	join_line(&bench.net, &fast, &slow);
	begun();
	bench.route = line_route;
	for (int i = 0; i < 50; i++)
		offer(0, 1000, false);
	offer(20000000, 64, true);
	play();
	cr_expect_eq(bench.list[50].arrived, 29112000);
	for (uint32_t i = 0; i < 50; i++)
		cr_expect_eq(bench.list[i].arrived,
			     3600000 + 8000000 * (i + 1) + 1000000 + (i > 2 ? 512000 : 0),
			     "packet %u", i);
	cr_expect_gt(bench.net.cold[0].pauses, 0);
	cr_expect_eq(bench.net.dropped, 0);
	for (uint32_t i = 0; i < bench.net.port_count; i++) {
		cr_expect_eq(lossless_ingress(&bench.net, i)->shared, 0);
		cr_expect_neq(bench.net.ports[i].busy_until, SIM_TIME_MAX);
	}
	end();
}

/* Random traffic of both classes through a bottleneck that stops the host again and again:
 * nothing is lost, and on each link, stopped or not, a control packet waits at most for one data
 * packet (of 960 bytes) or for the control packet before it. PAUSE frames go the other way. */
Test(classes, pause_at_random)
{
	static const uint16_t ports[] = { 2 };
	static const struct pause_params pause = { .on = true,
						   .memory = 40000,
						   .headroom = 20000,
						   .xoff = 6000,
						   .xon = 2000,
						   .mtu = 1518,
						   .delay = PS_PER_US };
	const struct link_params fast = pausing_link_of(10 * GBPS, &pause);
	const struct link_params slow = pausing_link_of(5 * GBPS, &pause);
	/* when the control packets so far have left each link, at the latest */
	sim_time clear[2] = { 0 };

	begin(true, 1, ports);
	network_connect(&bench.net, 0, 0, &fast, 2, 0, &fast);
	network_connect(&bench.net, 2, 1, &slow, 1, 0, &slow);
	begun();
	bench.route = (struct route){ { 1 }, 1 };
	offer_at_random(7);
	play();
	cr_expect_gt(bench.net.cold[0].pauses, 20, "tests nothing");
	cr_expect_lt(bench.net.ports[0].max_backlog_ns, 10000000); /* all that is offered: 2 ms */
	cr_expect_eq(bench.net.dropped, 0);
	for (uint32_t i = 0; i < bench.count; i++) {
		const struct offered *o = &bench.list[i];
		sim_time at = o->at;

		cr_assert_neq(o->arrived, SIM_TIME_MAX);
		if (!o->control)
			continue;
		for (unsigned link = 0; link < 2; link++) {
			sim_time byte = link ? 1600 : 800, ready = at + 960 * byte;

			clear[link] = (clear[link] > ready ? clear[link] : ready) + o->size * byte;
			at = clear[link] + PS_PER_US;
		}
		cr_expect_leq(o->arrived, at, "packet %u", i);
	}
	end();
}
