#include "ina/common/adding.h"

#include "base/ring.h"
#include "why/why.h"

#include <stdlib.h>

static struct adding_packet *first(const struct adding *queue)
{
	return &queue->ring[queue->head & queue->mask];
}

static void on_added(struct sim *sim, uint32_t entity, void *owner)
{
	struct adding *queue = owner;

	(void)entity;
	while (queue->count && first(queue)->due <= sim->now) {
		struct packet packet = first(queue)->packet;

		/* what added() sends is the consequence of this packet */
		why_work_ends(queue->net, queue->job, queue->host, first(queue)->why);
		queue->head++;
		queue->count--;
		queue->added(queue->owner, &packet);
	}
	if (queue->count)
		timer_set(sim, &queue->timer, first(queue)->due);
}

void adding_init(struct adding *queue, struct network *net, uint32_t job, struct reducers *reducers,
		 uint32_t host, uint64_t key,
		 void (*added)(void *owner, const struct packet *packet), void *owner)
{
	*queue = (struct adding){ .net = net,
				  .job = job,
				  .reducers = reducers,
				  .host = host,
				  .added = added,
				  .owner = owner };
	timer_open(net->sim, &queue->timer, SIM_TIMER, key, on_added, queue);
	sim_name(net->sim, on_added, "a packet is added up at server %w of job %j");
}

void adding_release(struct adding *queue)
{
	timer_close(queue->net->sim, &queue->timer);
	free(queue->ring);
}

/* When the last packet in the queue will have been added; now if none waits. */
static sim_time last_due(const struct adding *queue)
{
	uint64_t last = queue->head + queue->count - 1;

	return queue->count ? queue->ring[last & queue->mask].due : queue->net->sim->now;
}

void adding_push(struct adding *queue, const struct packet *packet, bytes size)
{
	sim_time due = size ? reducers_add(queue->reducers, queue->host, queue->net->sim->now, size)
			    : last_due(queue);
	uint64_t end = queue->head + queue->count++;

	queue->ring =
		ring_reserve(queue->ring, &queue->mask, queue->head, end, sizeof(*queue->ring));
	queue->ring[end & queue->mask] = (struct adding_packet){
		.packet = *packet,
		.due = due,
		.why = why_work_begins(queue->net, queue->job, queue->host),
	};
	if (queue->count == 1)
		timer_set(queue->net->sim, &queue->timer, due);
}
