/* Packets that wait to be added up: each in its turn, when it is due, however many wait. */
#include "ina/common/adding.h"

#include "core/sim.h"

#include <criterion/criterion.h>

struct served {
	struct sim sim;
	struct adding queue;
	uint64_t next; /* packets that were added */
};

/* Packet i is due at 10 i, but every fourth with the one before. */
static sim_time due_of(uint64_t i)
{
	return 10 * (i - (i % 4 == 3));
}

static void added(void *owner, const struct packet *packet)
{
	struct served *served = owner;

	cr_expect_eq(packet->seq, served->next);
	cr_expect_eq(served->sim.now, due_of(served->next));
	served->next++;
}

static void push(struct served *served, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		struct packet packet = { .seq = i };

		adding_push(&served->queue, &packet, due_of(i));
		cr_expect_eq(adding_last(&served->queue), due_of(i), "%lu", i);
	}
}

/* More than the queue has room for at first (16), when it is new and when its ring has turned. */
Test(adding, each_when_it_is_due)
{
	static struct served served;

	sim_init(&served.sim, 1);
	adding_init(&served.queue, &served.sim, sim_key(SIM_TIMER, 1), added, &served);
	cr_expect_eq(adding_last(&served.queue), 0);
	push(&served, 0, 10);
	while (served.next < 5)
		sim_run(&served.sim, 1);
	push(&served, 10, 21); /* 16 wait: as many as there are places */
	cr_expect_eq(served.queue.count, 16);
	push(&served, 21, 70);
	cr_expect_not(sim_run(&served.sim, 1000));
	cr_expect_eq(served.next, 70);
	cr_expect_eq(adding_last(&served.queue), served.sim.now, "nothing waits");
	push(&served, 70, 71);
	cr_expect_not(sim_run(&served.sim, 1000));
	cr_expect_eq(served.next, 71);
	adding_release(&served.queue);
	sim_release(&served.sim);
}
