/* Reliable messages: in order, once each, when their last byte is in, whatever is lost;
 * between hosts and within one. */
#include "test_pool.h"

#include "transport/messages.h"

struct receiver {
	struct bench *bench;
	uint64_t count;
	double last;
	struct messages *echo; /* answers go here; NULL = none */
};

static void arrived(void *owner, const struct message *message)
{
	struct receiver *inbox = owner;

	cr_assert_eq(message->number, inbox->count);
	cr_assert_eq(message->value, 7 * inbox->count);
	cr_assert_eq(message->type, inbox->count % 5);
	inbox->count++;
	inbox->last = seconds_of(inbox->bench->s->sim.now);
	if (inbox->echo)
		messages_send(inbox->echo, *message, 6);
}

static void open_network(struct bench *bench, double loss)
{
	bench_open(bench, SCHEME_esa,
		   "{\"name\": \"t\", \"tcp\": {\"min_rto\": \"100us\", \"initial_rto\": "
		   "\"100us\"}, \"topology\": {\"kind\": \"star\", \"hosts\": 4, \"link\": "
		   "{\"rate\": \"10Gbps\", \"delay\": \"1us\", \"loss\": %g}}, \"jobs\": "
		   "[{\"workers\": 2, \"all_reduce\": \"esa\", \"arrival\": {\"at\": \"9s\"}, "
		   "\"model\": {\"layers\": [{\"gradient\": \"4B\"}]}}]}",
		   loss);
}

Test(messages, in_order_and_once)
{
	static const double rates[] = { 0, 0.001, 0.01, 0.1 };

	for (size_t i = 0; i < 4; i++) {
		for (uint32_t same = 0; same < 2; same++) {
			struct bench bench;
			struct messages there, back;
			struct receiver in, out;
			size_t before;

			open_network(&bench, rates[i]);
			before = tcp_open_count(bench.s->tcp);
			in = (struct receiver){ .bench = &bench, .echo = &back };
			out = (struct receiver){ .bench = &bench };
			messages_init(&there, bench.s->tcp, &bench.s->topo.net, 0, same ? 0 : 1,
				      UINT64_C(1) << 51, arrived, &in);
			messages_init(&back, bench.s->tcp, &bench.s->topo.net, same ? 0 : 1, 0,
				      UINT64_C(1) << 51 | 1, arrived, &out);
			cr_expect_eq(tcp_open_count(bench.s->tcp),
				     before); /* not before the first */
			for (uint64_t n = 0; n < 500; n++)
				messages_send(&there,
					      (struct message){ .number = n,
								.value = 7 * n,
								.type = (uint32_t)(n % 5) },
					      n % 3 ? 6 : 272);
			cr_expect(messages_under_way(&there, 4, 499));
			cr_expect_not(messages_under_way(&there, 3, 499));
			while (out.count < 500)
				cr_assert(sim_run(&bench.s->sim, 1));
			cr_expect_eq(in.count, 500);
			cr_expect_not(messages_under_way(&there, 4, 499));
			if (same)
				cr_expect_eq(out.last, 0); /* within a host: at once */
			messages_release(&there);
			messages_release(&there); /* nothing is left to release */
			messages_release(&back);
			cr_expect_eq(tcp_open_count(bench.s->tcp), before);
			bench_close(&bench);
		}
	}
}

/* One message alone: its frame of 64 bytes (84 on the wire) over two links of 10 Gbps
 * and 1 us, a switch of 500 ns. */
Test(messages, time)
{
	struct bench bench;
	struct messages there;
	struct receiver in;

	open_network(&bench, 0);
	in = (struct receiver){ .bench = &bench };
	messages_init(&there, bench.s->tcp, &bench.s->topo.net, 0, 1, UINT64_C(1) << 51, arrived,
		      &in);
	messages_send(&there, (struct message){ 0 }, 6);
	while (!in.count)
		cr_assert(sim_run(&bench.s->sim, 1));
	expect_near(in.last, 2 * 84 * 8 / 10e9 + 2e-6 + 500e-9, 1e-9, "time, s", 6);
	messages_release(&there);
	bench_close(&bench);
}
