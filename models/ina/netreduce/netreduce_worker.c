/* NetReduce at a worker (section 3.1): a window of messages on top of an unmodified connection.
 *
 *     results ... | posted ) ...      posted - results <= N
 *
 * Results come on the connection of the rank before. */
#include "ina/netreduce/netreduce.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <inttypes.h>

static struct ina_worker *worker_of(const struct ring *ring, uint32_t rank)
{
	return ina_worker(&ring->job->base, rank);
}

uint64_t netreduce_messages(const struct end *end)
{
	const struct netreduce_conf *conf = netreduce_conf(end->ring->job->base.scheme);

	return ina_available(worker_of(end->ring, end->rank)) /
	       (uint64_t)(conf->rings * conf->length);
}

void netreduce_post(struct end *end)
{
	const struct netreduce_conf *conf = netreduce_conf(end->ring->job->base.scheme);
	uint64_t available = netreduce_messages(end),
		 allowed = end->results + (uint64_t)conf->window;

	for (; end->posted < available && end->posted < allowed; end->posted++)
		roce_post(netreduce_scheme(end->ring->job)->roce, end->connection,
			  (uint64_t)(conf->length * conf->roce.mtu));
}

void netreduce_contribute(void *self, uint64_t first, uint64_t chunks)
{
	const struct ina_worker *worker = self;
	const struct netreduce *job = (const struct netreduce *)worker->job;

	(void)first, (void)chunks;
	for (int64_t i = 0; i < netreduce_conf(job->base.scheme)->rings; i++)
		netreduce_post(&job->rings[i].ends[worker->number]);
}

/* --- packets of a connection --- */

/* The message of the connection's packet `number`. *index becomes the packet's index in the
 * message. */
static uint64_t message_of(const struct ring *ring, struct span *span, uint64_t number,
			   uint32_t *index)
{
	uint64_t length = (uint64_t)netreduce_conf(ring->job->base.scheme)->length;
	uint64_t packet = number - ring->first;

	if (packet - span->begin >= length) { /* also if packet < begin: unsigned */
		span->message = packet / length;
		span->begin = span->message * length;
	}
	*index = (uint32_t)(packet - span->begin);
	return span->message;
}

/* Tells --why whether losses or marks have slowed the connection down. */
static void tell_why(struct end *end)
{
	const struct netreduce *job = end->ring->job;
	const struct transport_stats *stats =
		roce_stats(netreduce_scheme(job)->roce, end->connection);

	if (stats->timeouts != end->timeouts)
		why_timed_out(job->base.tensors.why);
	end->timeouts = stats->timeouts;
	why_window(job->base.tensors.why, end->rank,
		   stats->marks             ? WHY_CUT_BY_MARKS
		   : stats->retransmissions ? WHY_CUT_BY_LOSSES
					    : WHY_UNCUT);
}

static void netreduce_fill(void *owner, uint64_t number, struct packet *packet)
{
	struct end *end = owner;
	const struct netreduce *job = end->ring->job;
	const struct ina_scheme *scheme = job->base.scheme;
	uint32_t index;
	uint64_t message = message_of(end->ring, &end->sent, number, &index);

	packet->kind = PACKET_AGGREGATION;
	packet->protocol = scheme->protocol;
	packet->tag = 0;
	packet->seq |= message << ROCE_PSN_BITS;
	packet->value = exact_contribution(&job->base.exact, end->rank,
					   netreduce_chunk(end->ring, message, index));
	if (index == 0) {
		packet->flags |= NETREDUCE_FIRST;
		packet->size = (uint16_t)(packet->size + netreduce_conf(scheme)->header);
	}
	if (job->base.tensors.why)
		tell_why(end);
}

/* The packet has reached the next rank. */
static void delivered(void *owner, uint64_t number, const struct packet *packet)
{
	struct end *from = owner;
	struct ring *ring = from->ring;
	struct end *end = netreduce_to(from);
	struct ina_worker *worker = worker_of(ring, end->rank);
	uint32_t index;
	uint64_t message = message_of(ring, &from->delivered, number, &index);
	uint64_t chunk = netreduce_chunk(ring, message, index);

	if (!ina_holds(worker, chunk, packet->value))
		return;
	if (index + 1 == (uint32_t)netreduce_conf(ring->job->base.scheme)->length) {
		end->results++;
		netreduce_post(end);
	}
	ina_complete(worker, chunk);
}

static const struct roce_packets packets = { .fill = netreduce_fill, .delivered = delivered };

/* --- life --- */

static uint64_t key_of(const struct ring *ring, uint32_t rank)
{
	return connection_key(CONNECTION_NETREDUCE, (uint64_t)ring->job->base.spec.number << 28 |
							    (uint64_t)ring->number << 20 | rank);
}

/* With 0 only the ends of messages are acknowledged. RoCE needs a number, and gets the count of
 * PSNs. */
static uint32_t ack_every(const struct netreduce_conf *conf)
{
	return conf->ack_every ? (uint32_t)conf->ack_every : ROCE_PSN_MASK + 1;
}

void netreduce_end_open(struct ring *ring, uint32_t rank)
{
	struct netreduce *job = ring->job;
	struct netreduce_scheme *scheme = netreduce_scheme(job);
	const struct netreduce_conf *conf = netreduce_conf(&scheme->base);
	const struct collective_job *spec = &job->base.spec;
	const struct tree *tree = job->base.tree.tree;
	struct end *end = &ring->ends[rank];

	end->ring = ring;
	end->rank = rank;
	end->node = tree_adding(tree, tree->node_of_worker[rank]);
	end->row = tree->number_of_worker[rank];
	end->table = (struct lookup){ .entries = &ring->entries[rank * 2 * (size_t)conf->window],
				      .messages = 2 * (uint32_t)conf->window,
				      .length = (uint32_t)conf->length };
	end->connection =
		roce_open(scheme->roce, spec->hosts[rank], spec->hosts[(rank + 1) % spec->workers],
			  netreduce_control(conf), ack_every(conf), key_of(ring, rank), NULL, end);
	end->generation = roce_generation(scheme->roce, end->connection);
	roce_set_packets(scheme->roce, end->connection, &packets, job->base.ports[rank]);
	ring->first = roce_next_number(scheme->roce, end->connection);
	while (scheme->end_count <= end->connection) {
		scheme->ends = array_reserve(scheme->ends, scheme->end_count, &scheme->end_capacity,
					     sizeof(struct end *));
		scheme->ends[scheme->end_count++] = NULL;
	}
	scheme->ends[end->connection] = end;
	job->base.tensors.why =
		why_join(&scheme->base.env.topo->net, spec->number, spec->members,
			 scheme->base.protocol, end->connection,
			 (struct why_bypass){ .switches_wait = true,
					      .together = ring->ends[0].connection + 1 });
}

void netreduce_end_close(struct end *end)
{
	struct netreduce_scheme *scheme = netreduce_scheme(end->ring->job);

	roce_close(scheme->roce, end->connection);
	scheme->ends[end->connection] = NULL;
}

bool netreduce_waits(const void *self, char *text, size_t size)
{
	const struct ina_worker *worker = self;
	const struct netreduce *job = (const struct netreduce *)worker->job;

	for (int64_t i = 0; i < netreduce_conf(job->base.scheme)->rings; i++) {
		const struct end *end = &job->rings[i].ends[worker->number];

		if (end->results == netreduce_messages(end))
			continue;
		snprintf(text, size,
			 "waits for message %" PRIu64 " of %" PRIu64 " on ring %" PRIu32
			 ", has posted %" PRIu64,
			 end->results, netreduce_messages(end), end->ring->number, end->posted);
		return true;
	}
	return false;
}
