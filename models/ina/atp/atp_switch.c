/* ATP in switches: two levels of hashed aggregators. atp.c says what is modelled. */
#include "ina/atp/atp.h"

/* A full bitmap of level 0 becomes the bit of its rack at level 1. */
static struct bitmap promoted(const struct pool_server *server, struct bitmap bitmap)
{
	if (bitmap.rack == RACK_NONE || bitmap.bits != racks_all(&server->racks, bitmap.rack))
		return bitmap;
	return (struct bitmap){ UINT32_C(1) << bitmap.rack, RACK_NONE };
}

/* The packet goes on with the sum of the aggregator. */
static void carry(const struct pool_server *server, const struct aggregator *a,
		  struct packet *packet, struct switch_actions *actions)
{
	packet->value = a->value;
	pool_set_bitmap(packet, promoted(server, (struct bitmap){ a->bits, a->rack }));
	if (a->marked)
		packet->flags |= PACKET_CE;
	actions->forward = true;
}

static void atp_switch_add(struct aggregators *pool, struct aggregator *a,
			   const struct packet *packet)
{
	struct bitmap bitmap = pool_bitmap(packet);

	a->marked |= (packet->flags & PACKET_CE) != 0;
	if (a->bits & bitmap.bits) {
		pool->memory->stats.duplicates++;
		return;
	}
	a->value += packet->value; /* was 0 if the aggregator is new */
	a->bits |= bitmap.bits;
	pool->memory->stats.packets_aggregated++;
}

/* Counts a packet that level 1 sends on unadded. A sum of several workers of a rack, but not all,
 * is left out: the rack's switch has counted it among `partials`. */
static void count_unadded(struct aggregators *pool, struct bitmap bitmap)
{
	bool several = bitmap.bits & (bitmap.bits - 1);
	bool part = bitmap.rack != RACK_NONE && several;

	pool->memory->stats.fallbacks += !part;
}

/* Counts a flushed sum: as a repair if it was complete before, as a result if it is complete only
 * now (at level 1), else as partial. A sum that leaves level 0 with only the packet's own
 * contribution does not count as partial, because level 1 may still add it. */
static void count_flushed(const struct pool_server *server, struct aggregators *pool,
			  const struct aggregator *a, struct bitmap own, bool level1)
{
	struct collective_stats *stats = &pool->memory->stats;

	if (a->complete)
		stats->repairs++;
	else if (a->bits == racks_all(&server->racks, a->rack))
		stats->results += level1;
	else if (level1 || a->bits != own.bits)
		stats->partials++;
}

/* A retransmitted packet takes along the sum of its aggregator and frees the aggregator, so that
 * the sum does not wait for lost packets. It never takes an aggregator. */
static void atp_flush(struct pool_server *server, struct aggregators *pool, bool level1,
		      struct packet *packet, struct switch_actions *actions)
{
	struct pool_job *job = server->job;
	struct aggregator *a = &pool->slots[packet->slot];
	bool mine = aggregator_is(a, job->base.number, pool_chunk(packet));
	struct bitmap own;

	if (level1 || !mine) /* else carry() promotes the sum */
		pool_set_bitmap(packet, promoted(server, pool_bitmap(packet)));
	actions->forward = true;
	own = pool_bitmap(packet);
	if (!mine) {
		if (level1)
			count_unadded(pool, own);
		return;
	}
	if (own.rack != a->rack) {
		/* bitmap1 cannot express part of a rack: two packets go on */
		struct switch_send *held = &actions->send[actions->count++];

		count_unadded(pool, own);
		held->packet = *packet;
		held->ports = &server->racks.server_port;
		held->count = 1;
		held->packet.value = a->value;
		pool_set_bitmap(&held->packet, (struct bitmap){ a->bits, a->rack });
		if (a->marked)
			held->packet.flags |= PACKET_CE;
	} else {
		atp_switch_add(pool, a, packet);
		carry(server, a, packet, actions);
	}
	count_flushed(server, pool, a, own, level1);
	pool_free(pool_scheme(job), pool, a);
}

/* Garbage collection: frees an aggregator whose owner has gone silent. Returns whether it did. */
static bool atp_collect(struct pool_scheme *scheme, struct aggregators *pool, struct aggregator *a)
{
	if (!aggregators_is_idle(pool, a, scheme->base.env.sim->now))
		return false;
	pool->memory->stats.collected++;
	pool_free(scheme, pool, a);
	return true;
}

void atp_at_switch(struct pool_server *server, struct aggregators *pool, bool level1,
		   struct packet *packet, struct switch_actions *actions)
{
	struct pool_job *job = server->job;
	struct pool_scheme *scheme = pool_scheme(job);
	struct aggregator *a = &pool->slots[packet->slot];
	sim_time now = scheme->base.env.sim->now;

	if (packet->flags & PACKET_RETRANSMIT) {
		atp_flush(server, pool, level1, packet, actions);
		return;
	}
	if (!a->owner) {
		pool_take(job, pool, a, packet);
	} else if (!aggregator_is(a, job->base.number, pool_chunk(packet))) {
		aggregators_collision(pool, a, job->base.number);
		if (!atp_collect(scheme, pool, a)) {
			pool->memory->stats.fallbacks++;
			packet->flags |= POOL_BYPASS;
			actions->forward = true;
			return;
		}
		pool_take(job, pool, a, packet);
	}
	aggregators_touch(pool, a, now);
	atp_switch_add(pool, a, packet);
	if (a->bits != racks_all(&server->racks, a->rack))
		return;
	pool->memory->stats.results += level1 && !a->complete;
	a->complete = true;
	carry(server, a, packet, actions);
}

/* The parameter packet acknowledges the sum and so frees its aggregator. */
void atp_result_at_switch(struct pool_server *server, struct aggregators *pool,
			  struct packet *packet)
{
	struct aggregator *a;

	if (!pool->slots)
		return;
	a = &pool->slots[packet->slot];
	if (aggregator_is(a, server->job->base.number, pool_chunk(packet)))
		pool_free(pool_scheme(server->job), pool, a);
}
