#include "net/network.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* One link of 10 Gbps, and sources with packets of 1,000 bytes, which take 800 ns each. The log has
 * the source of each packet that arrives. */
#define SOURCES 5
#define PACKETS 400

struct source {
	struct nic_source nic;
	struct bench *bench;
	uint32_t number, left, pulls;
	uint16_t size;
	struct source *wakes; /* woken by its second packet; NULL = none */
};

struct bench {
	struct sim sim;
	struct network net;
	uint8_t protocol;
	struct source sources[SOURCES];
	uint32_t order[PACKETS]; /* sources of the packets, as they arrived */
	sim_time at[PACKETS];
	size_t count;
};

static void record(void *self, uint32_t host, const struct packet *packet)
{
	struct bench *bench = self;

	(void)host;
	bench->order[bench->count] = packet->flow;
	bench->at[bench->count++] = bench->sim.now;
}

static const struct protocol_ops test_ops = { .name = "test", .deliver = record };

static enum nic_pull pull(void *owner, struct packet *packet)
{
	struct source *source = owner;

	if (++source->pulls == 2 && source->wakes) {
		source->wakes->left = 2;
		nic_wake(&source->bench->net.nics[0], &source->wakes->nic);
	}
	if (source->left == 0)
		return NIC_NOTHING;
	*packet = (struct packet){ .flow = source->number,
				   .size = source->size,
				   .kind = PACKET_DATA,
				   .protocol = source->bench->protocol };
	return --source->left ? NIC_MORE : NIC_LAST;
}

static void bench_init(struct bench *bench, enum nic_mode mode)
{
	static const struct link_params link = { .rate = UINT64_C(10000000000),
						 .delay = PS_PER_US,
						 .limit = UINT64_MAX,
						 .ecn_min = UINT64_MAX,
						 .ecn_max = UINT64_MAX };

	*bench = (struct bench){ 0 };
	sim_init(&bench->sim, 1);
	network_init(&bench->net, &bench->sim, 2, NULL, 0, NULL, NULL, mode);
	network_connect(&bench->net, 0, 0, &link, 1, 0, &link);
	network_tune(&bench->net);
	bench->protocol = network_register(&bench->net, &test_ops, bench);
	for (uint32_t i = 0; i < SOURCES; i++) {
		bench->sources[i] = (struct source){ .bench = bench, .number = i, .size = 1000 };
		bench->sources[i].nic.pull = pull;
		bench->sources[i].nic.owner = &bench->sources[i];
	}
}

static void bench_release(struct bench *bench)
{
	cr_expect_eq(network_check(&bench->net, stderr), 0);
	network_release(&bench->net);
	sim_release(&bench->sim);
}

/* Gives a source packets and wakes it. */
static void offer(struct bench *bench, uint32_t number, uint32_t packets)
{
	bench->sources[number].left += packets;
	nic_wake(&bench->net.nics[0], &bench->sources[number].nic);
}

static void finish(struct bench *bench, size_t want)
{
	cr_expect_not(sim_run(&bench->sim, UINT64_MAX));
	cr_assert_eq(bench->count, want);
	/* the link was never idle in between, whoever sent */
	for (size_t i = 0; i < want; i++)
		cr_expect_eq(bench->at[i], PS_PER_US + (i + 1) * 800000, "packet %zu", i);
}

/* Two sources alternate packet by packet while both have some, whatever their
 * windows; the first packet leaves before the second source is awake. */
Test(nic, two_sources_alternate)
{
	struct bench bench;

	bench_init(&bench, NIC_TURNS);
	offer(&bench, 0, 201);
	offer(&bench, 1, 50);
	finish(&bench, 251);
	for (size_t i = 1; i <= 100; i++)
		cr_expect_eq(bench.order[i], (i + 1) % 2, "packet %zu", i);
	for (size_t i = 101; i < 251; i++)
		cr_expect_eq(bench.order[i], 0);
	bench_release(&bench);
}

/* With a plain FIFO the second source waits for the whole window of the first. */
Test(nic, fifo_does_not_alternate)
{
	struct bench bench;

	bench_init(&bench, NIC_FIFO);
	offer(&bench, 0, 100);
	cr_expect_eq(bench.sources[0].left, 0, "all in the port's queue at once");
	offer(&bench, 1, 50);
	finish(&bench, 150);
	for (size_t i = 0; i < 150; i++)
		cr_expect_eq(bench.order[i], i >= 100);
	bench_release(&bench);
}

/* Turns of equal bytes: beside frames of 1,500 bytes, a source of 150-byte frames
 * sends ten for each; in turns of a packet it would send one. */
Test(nic, turns_of_equal_bytes)
{
	struct bench bench;
	uint32_t sent[2] = { 0 };

	bench_init(&bench, NIC_BYTES);
	bench.sources[0].size = 150;
	bench.sources[1].size = 1500;
	offer(&bench, 0, 300);
	offer(&bench, 1, 30);
	cr_expect_not(sim_run(&bench.sim, UINT64_MAX));
	cr_assert_eq(bench.count, 330);
	for (size_t i = 0; i < 110; i++)
		sent[bench.order[i]]++;
	cr_expect(sent[1] >= 9 && sent[1] <= 11, "%u large frames among the first 110", sent[1]);
	bench_release(&bench);
}

/* So do frames that are larger than the quantum: their source passes some turns. */
Test(nic, turns_of_equal_bytes_with_large_frames)
{
	struct bench bench;
	uint32_t sent[2] = { 0 };

	bench_init(&bench, NIC_BYTES);
	bench.sources[0].size = 9000;
	bench.sources[1].size = 1500;
	offer(&bench, 0, 50);
	offer(&bench, 1, 300);
	cr_expect_not(sim_run(&bench.sim, UINT64_MAX));
	cr_assert_eq(bench.count, 350);
	for (size_t i = 0; i < 140; i++)
		sent[bench.order[i]]++;
	cr_expect(sent[0] >= 19 && sent[0] <= 21, "%u large frames among the first 140", sent[0]);
	bench_release(&bench);
}

/* In every round each of five sources with different windows is served once, until it is empty. A
 * window waits at its source: the queue has at most one packet. */
Test(nic, five_sources_take_turns)
{
	static const uint32_t windows[SOURCES] = { 11, 3, 20, 1, 7 };
	struct bench bench;
	size_t at = 1;

	bench_init(&bench, NIC_TURNS);
	for (uint32_t i = 0; i < SOURCES; i++)
		offer(&bench, i, windows[i]);
	while (sim_run(&bench.sim, 1))
		cr_assert_leq(port_queue_bytes(&bench.net.ports[0], bench.sim.now), 1000);
	finish(&bench, 42);
	cr_expect_eq(bench.order[0], 0);
	for (uint32_t round = 0; round < 20; round++)
		for (uint32_t i = 0; i < SOURCES; i++)
			if (round < windows[i] - (i == 0)) /* source 0 has sent one before */
				cr_expect_eq(bench.order[at++], i, "round %u", round);
	bench_release(&bench);
}

/* A packet that a host sends without a source goes right behind the packet on the wire. */
Test(nic, control_packets_pass)
{
	struct bench bench;
	struct packet packet;

	bench_init(&bench, NIC_TURNS);
	offer(&bench, 0, 30);
	packet = (struct packet){
		.flow = 99, .size = 1000, .kind = PACKET_ACK, .protocol = bench.protocol
	};
	network_send(&bench.net, 0, &packet);
	finish(&bench, 31);
	cr_expect_eq(bench.order[0], 0);
	cr_expect_eq(bench.order[1], 99);
	bench_release(&bench);
}

/* A source that has nothing to send costs no time. A source that ran empty is served again when it
 * is woken. Waking twice is like waking once. */
Test(nic, empty_and_woken_again)
{
	struct bench bench;

	bench_init(&bench, NIC_TURNS);
	offer(&bench, 0, 2);
	offer(&bench, 1, 0);
	offer(&bench, 2, 1);
	offer(&bench, 2, 0);
	finish(&bench, 3);
	cr_expect_eq(bench.sources[1].pulls, 1);
	cr_expect_eq(bench.sources[2].pulls, 1);
	cr_expect_not(bench.sources[0].nic.waiting || bench.sources[1].nic.waiting ||
		      bench.sources[2].nic.waiting);
	offer(&bench, 1, 1);
	sim_run(&bench.sim, UINT64_MAX);
	cr_assert_eq(bench.count, 4);
	cr_expect_eq(bench.order[3], 1);
	bench_release(&bench);
}

static void forget_one(uint32_t waiting, uint32_t gone, uint32_t window)
{
	struct bench bench;
	size_t at = 1;

	bench_init(&bench, NIC_TURNS);
	offer(&bench, 0, 1); /* keeps the transmitter busy */
	for (uint32_t i = 1; i <= waiting; i++)
		offer(&bench, i, window);
	nic_forget(&bench.net.nics[0], &bench.sources[gone].nic);
	nic_forget(&bench.net.nics[0], &bench.sources[gone].nic);
	finish(&bench, 1 + window * (waiting - 1));
	cr_expect_eq(bench.sources[gone].pulls, 0);
	for (uint32_t round = 0; round < window; round++)
		for (uint32_t i = 1; i <= waiting; i++)
			if (i != gone)
				cr_expect_eq(bench.order[at++], i);
	bench_release(&bench);
}

/* A source that is taken out of the ring, from any of 1 to 4 places, is not pulled again. The
 * others keep their turns. */
Test(nic, forget)
{
	for (uint32_t waiting = 1; waiting < SOURCES; waiting++)
		for (uint32_t gone = 1; gone <= waiting; gone++)
			for (uint32_t window = 1; window <= 3; window++)
				forget_one(waiting, gone, window);
}

static void look(struct sim *sim, uint32_t entity, void *owner)
{
	(void)sim, (void)entity, (void)owner;
}

/* Departures are deferred until a timer runs, shortly before a packet arrives and while a later
 * packet is on the wire. While the NIC catches up with the clock set back, deferring ends: a source
 * wakes one that is not deferrable, or the network stops deferring (as in catch_up_all()). The next
 * departure is over by then and must not become an event, the one after it must. */
static void stop_deferring(bool network, sim_time timer_at)
{
	struct bench bench;
	struct timer timer;

	bench_init(&bench, NIC_TURNS);
	timer_open(&bench.sim, &timer, SIM_TIMER, 0, look, NULL);
	timer_set(&bench.sim, &timer, timer_at);
	bench.sources[0].nic.deferrable = true;
	if (network) /* one look at a deferred departure is too many already */
		bench.net.deferred_looks = 1000;
	else
		bench.sources[0].wakes = &bench.sources[1];
	offer(&bench, 0, 6);
	finish(&bench, network ? 6 : 8);
	cr_expect_gt(bench.net.departures_deferred, 0);
	cr_expect(network ? bench.net.nics_by_event : bench.net.nics[0].by_event);
	timer_close(&bench.sim, &timer);
	bench_release(&bench);
}

Test(nic, stops_deferring_while_it_catches_up)
{
	for (sim_time at = 100000; at < 4 * PS_PER_US; at += 100000) {
		stop_deferring(false, at);
		stop_deferring(true, at);
	}
}
