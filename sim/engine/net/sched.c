#include "net/sched.h"

#include "base/mem.h"
#include "base/ring.h"

#include <stdlib.h>
#include <string.h>

#define FULL_FRAME 1518

struct queue {
	struct packet *ring; /* owned */
	uint64_t mask, first, end;
	bytes size;
	uint64_t deficit;
};

struct lanes {
	struct queue queues[SCHED_CLASSES];
	uint8_t turns[SCHED_CLASSES]; /* weighted: queues that wait, the one whose turn it is first
				       */
	uint8_t waits;                /* queues in `turns` */
	bool begun;                   /* that turn has added its quantum */
	uint8_t sent;                 /* class of the newest packet that was sent */
	uint32_t count;
	bytes size;
	sim_time time;
};

struct sched {
	struct lanes *lanes; /* by port of a switch, from net.host_ports on */
	uint32_t first_entity;
	bool strict;
	uint64_t quanta[SCHED_CLASSES];
	uint8_t *jobs;
	size_t job_count;
	uint32_t instances;
};

static struct lanes *lanes_of(const struct network *net, uint32_t port)
{
	return &net->sched->lanes[port - net->host_ports];
}

void sched_init(struct network *net, const uint32_t *weights, unsigned count, sim_handler *on_free)
{
	struct sched *sched = xcalloc(1, sizeof(*sched));

	SIM_BUG_ON(net->lossless || net->control_first || net->outages || count > SCHED_CLASSES);
	net->sched = sched;
	sched->strict = !weights;
	for (unsigned c = 0; weights && c < count; c++)
		sched->quanta[c] = (uint64_t)weights[c] * FULL_FRAME;
	sched->lanes = xcalloc(net->port_count - net->host_ports, sizeof(*sched->lanes));
	for (uint32_t p = net->host_ports; p < net->port_count; p++) {
		uint32_t entity = sim_add_entity(net->sim, SIM_DEPARTURE, sim_key(SIM_DEPARTURE, p),
						 on_free, net);

		if (p == net->host_ports)
			sched->first_entity = entity;
	}
	sim_name(net->sim, on_free, "port %n is free");
}

void sched_free(struct network *net)
{
	if (!net->sched)
		return;
	for (uint32_t p = net->host_ports; p < net->port_count; p++)
		for (unsigned c = 0; c < SCHED_CLASSES; c++)
			free(lanes_of(net, p)->queues[c].ring);
	free(net->sched->lanes);
	free(net->sched->jobs);
	free(net->sched);
	net->sched = NULL;
}

/* --- classes --- */

void sched_set_jobs(struct network *net, const uint8_t *classes, size_t count, uint32_t instances)
{
	net->sched->jobs = xcalloc(count + 1, 1);
	memcpy(net->sched->jobs, classes, count);
	net->sched->job_count = count;
	net->sched->instances = instances;
}

static uint8_t class_of_job(const struct sched *sched, uint32_t job)
{
	return job < sched->job_count ? sched->jobs[job] : 0;
}

uint8_t sched_job_class(const struct network *net, uint32_t number)
{
	return net->sched && net->sched->jobs
		       ? class_of_job(net->sched, number / net->sched->instances)
		       : 0;
}

uint8_t sched_class_of(const struct network *net, const struct packet *packet)
{
	const struct protocol_ops *ops = net->protocols[packet->protocol].ops;
	const void *self = net->protocols[packet->protocol].self;
	struct packet_about about;

	if (ops->class_of)
		return ops->class_of(self, packet);
	return ops->about && ops->about(self, packet, &about) ? class_of_job(net->sched, about.job)
							      : 0;
}

/* --- queues --- */

uint32_t sched_waiting(const struct network *net, uint32_t port)
{
	return port < net->host_ports ? 0 : lanes_of(net, port)->count;
}

bytes sched_bytes(const struct network *net, uint32_t port)
{
	return port < net->host_ports ? 0 : lanes_of(net, port)->size;
}

sim_time sched_time(const struct network *net, uint32_t port)
{
	return lanes_of(net, port)->time;
}

uint64_t sched_queue(const struct network *net, uint32_t port, uint8_t class, uint32_t size,
		     bool in_packets)
{
	const struct lanes *lanes = lanes_of(net, port);
	const struct queue *queue = &lanes->queues[class];
	const struct port *p = &net->ports[port];
	bool sent = lanes->sent == class;

	return in_packets ? queue->end - queue->first + (sent ? p->count - p->sent : 0)
			  : queue->size + (sent ? p->queued_bytes - size : 0);
}

void sched_passes(struct network *net, uint32_t port, uint8_t class)
{
	lanes_of(net, port)->sent = class;
}

void sched_put(struct network *net, uint32_t port, const struct packet *packet, uint8_t class)
{
	struct lanes *lanes = lanes_of(net, port);
	struct queue *queue = &lanes->queues[class];

	queue->ring = ring_reserve(queue->ring, &queue->mask, queue->first, queue->end,
				   sizeof(*queue->ring));
	queue->ring[queue->end & queue->mask] = *packet;
	if (queue->end++ == queue->first)
		lanes->turns[lanes->waits++] = class;
	queue->size += packet->size;
	lanes->count++;
	lanes->size += packet->size;
	lanes->time += link_transmission(port_class(net, &net->ports[port]), packet->size);
}

/* The queue at place `at` of the turns leaves them, or (`again`) goes behind the others. */
static void end_turn(struct lanes *lanes, unsigned at, bool again)
{
	uint8_t class = lanes->turns[at];

	lanes->waits--;
	memmove(&lanes->turns[at], &lanes->turns[at + 1], lanes->waits - at);
	if (again)
		lanes->turns[lanes->waits++] = class;
	if (!at)
		lanes->begun = false;
}

/* The place in the turns of the queue that sends next. */
static unsigned next_strict(const struct lanes *lanes)
{
	unsigned best = 0;

	for (unsigned i = 1; i < lanes->waits; i++)
		if (lanes->turns[i] > lanes->turns[best])
			best = i;
	return best;
}

static unsigned next_weighted(struct lanes *lanes, const uint64_t *quanta)
{
	for (;;) {
		struct queue *queue = &lanes->queues[lanes->turns[0]];

		if (!lanes->begun)
			queue->deficit += quanta[lanes->turns[0]];
		lanes->begun = true;
		if (queue->ring[queue->first & queue->mask].size <= queue->deficit)
			break;
		end_turn(lanes, 0, true);
	}
	return 0;
}

struct packet sched_take(struct network *net, uint32_t port)
{
	struct lanes *lanes = lanes_of(net, port);
	bool strict = net->sched->strict;
	unsigned at = strict ? next_strict(lanes) : next_weighted(lanes, net->sched->quanta);
	struct queue *queue = &lanes->queues[lanes->turns[at]];
	struct packet packet = queue->ring[queue->first++ & queue->mask];

	lanes->sent = lanes->turns[at];
	queue->size -= packet.size;
	queue->deficit -= strict ? 0 : packet.size;
	lanes->count--;
	lanes->size -= packet.size;
	lanes->time -= link_transmission(port_class(net, &net->ports[port]), packet.size);
	if (queue->first == queue->end) {
		queue->deficit = 0;
		end_turn(lanes, at, false);
	}
	return packet;
}

uint32_t sched_entity(const struct network *net, uint32_t port)
{
	return net->sched->first_entity + port - net->host_ports;
}

uint32_t sched_port(const struct network *net, uint32_t entity)
{
	return entity - net->sched->first_entity + net->host_ports;
}
