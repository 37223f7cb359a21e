/* Packets that wait to be added up: each in its turn, when it is due, however many wait. */
#include "ina/common/adding.h"

#include "core/sim.h"

#include <criterion/criterion.h>

#define RATE UINT64_C(800000000000) /* 10 ps a byte */

struct served {
	struct sim sim;
	struct network net;
	struct adding queue;
	struct reducers reducers;
	uint64_t next;          /* packets that were added */
	sim_time due[72], last; /* of each packet; of the newest packet */
};

static void added(void *owner, const struct packet *packet)
{
	struct served *served = owner;

	cr_expect_eq(packet->seq, served->next);
	cr_expect_eq(served->sim.now, served->due[served->next]);
	served->next++;
}

/* Each packet is due 10 ps after the one before. Every fourth has nothing to add and is due
 * together with the one before. */
static void push(struct served *served, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		struct packet packet = { .seq = i };
		bytes size = i % 4 != 3;

		if (served->last < served->sim.now)
			served->last = served->sim.now; /* nothing waits */
		served->due[i] = served->last += 10 * size;
		adding_push(&served->queue, &packet, size);
	}
}

/* Pushes more packets than the queue has room for, when new and after its ring has wrapped. */
Test(adding, each_when_it_is_due)
{
	static struct served served;

	sim_init(&served.sim, 1);
	reducers_init(&served.reducers, 1, RATE);
	served.net.sim = &served.sim;
	adding_init(&served.queue, &served.net, 0, &served.reducers, 0, sim_key(SIM_TIMER, 1),
		    added, &served);
	push(&served, 0, 10);
	while (served.next < 5)
		sim_run(&served.sim, 1);
	push(&served, 10, 20); /* 15 wait: as many as fit into 16 places */
	cr_expect_eq(served.queue.count, 15);
	push(&served, 20, 70);
	cr_expect_not(sim_run(&served.sim, 1000));
	cr_expect_eq(served.next, 70);
	push(&served, 70, 71);
	cr_expect_not(sim_run(&served.sim, 1000));
	cr_expect_eq(served.next, 71);
	push(&served, 71, 72); /* nothing to add, and nothing waits */
	cr_expect_not(sim_run(&served.sim, 1000));
	cr_expect_eq(served.next, 72);
	adding_release(&served.queue);
	reducers_release(&served.reducers);
	sim_release(&served.sim);
}
