/* ESA in switches (section 5.2): preemption of hashed aggregators, results straight to workers. */
#include "ina/esa/esa.h"

#include "base/hash.h"

static bool preempts(const struct pool_job *job, const struct aggregators *pool,
		     const struct aggregator *a, const struct packet *packet)
{
	switch ((enum esa_preemption)esa_conf(job)->preemption) {
	case ESA_PRIORITY:
		return pool_priority(packet) > a->priority;
	case ESA_ALWAYS:
		return true;
	case ESA_COIN: /* a fair coin for each collision at each switch */
		return hash_pair(job->base.scheme->env.sim->seed ^ (uint64_t)pool->memory->sw << 40,
				 pool->memory->stats.collisions) &
		       1;
	case ESA_NEVER:
		return false;
	}
	return false;
}

/* Sends the sum of an aggregator to its owner's server, and frees the aggregator. */
static void swap_out(struct pool_scheme *scheme, struct aggregators *pool, struct aggregator *a,
		     uint16_t slot, struct switch_actions *actions)
{
	const struct pool_job *owner = ina_find(&scheme->base.jobs, a->owner - 1);
	const struct pool_server *server = &owner->servers[a->server];
	struct switch_send *out = &actions->send[actions->count++];

	pool_packet(&out->packet, server, a->chunk, (struct bitmap){ a->bits, a->rack }, slot);
	out->packet.value = a->value;
	out->packet.flags |= (uint8_t)(POOL_BYPASS | (a->marked ? PACKET_CE : 0));
	out->count = 1;
	out->ports = &server->racks.server_port;
	if (a->rack != RACK_NONE) {
		const struct rack *rack = &server->racks.racks[a->rack];

		packet_set_route(&out->packet, &rack->up);
		out->packet.hop = 1; /* it is a worker's route, whose first switch is this one */
		out->ports = &rack->up_port;
	}
	pool->memory->stats.partials++;
	pool_free(scheme, pool, a);
}

/* Sends the server the sum that it asks for, if it is here. */
static void reminder(struct pool_server *server, struct aggregators *pool,
		     const struct packet *packet, struct switch_actions *actions)
{
	struct aggregator *a = &pool->slots[packet->slot];

	if (aggregator_is(a, server->job->base.number, pool_chunk(packet)))
		swap_out(pool_scheme(server->job), pool, a, packet->slot, actions);
}

/* All contributors are in: sends the sum to level 1 or, from level 1, the result to the workers. */
static void esa_switch_complete(struct pool_server *server, struct aggregators *pool,
				struct aggregator *a, struct packet *packet,
				struct switch_actions *actions)
{
	packet->value = a->value;
	if (a->marked)
		packet->flags |= PACKET_CE;
	if (a->rack != RACK_NONE) {
		pool_set_bitmap(packet, (struct bitmap){ UINT32_C(1) << a->rack, RACK_NONE });
		actions->forward = true;
	} else {
		pool_set_bitmap(packet, (struct bitmap){ 0, RACK_NONE });
		packet->flags |= PACKET_RESULT;
		/* pool_multicast() routes it; the engine would prefetch in vain on the old route */
		packet_set_route(packet, &(struct route){ 0 });
		pool->memory->stats.results++;
		pool_multicast(server, pool->memory->sw, packet, actions);
	}
	pool_free(pool_scheme(server->job), pool, a);
}

/* The aggregator holds another chunk. Returns whether the packet has preempted that. */
static bool collide(struct pool_server *server, struct aggregators *pool, struct aggregator *a,
		    struct packet *packet, struct switch_actions *actions)
{
	struct collective_stats *stats = &pool->memory->stats;

	aggregators_collision(pool, a, server->job->base.number);
	stats->preemptions_tried += esa_conf(server->job)->preemption != ESA_NEVER;
	if (preempts(server->job, pool, a, packet)) {
		stats->preemptions++;
		swap_out(pool_scheme(server->job), pool, a, packet->slot, actions);
		return true;
	}
	stats->fallbacks++;
	if (esa_conf(server->job)->downgrading)
		a->priority >>= 1;
	packet->flags |= POOL_BYPASS;
	actions->forward = true;
	return false;
}

void esa_at_switch(struct pool_server *server, struct aggregators *pool, bool level1,
		   struct packet *packet, struct switch_actions *actions)
{
	struct pool_job *job = server->job;
	struct aggregator *a = &pool->slots[packet->slot];
	struct bitmap bitmap = pool_bitmap(packet);

	if (!bitmap.bits) {
		if (level1 && bitmap.rack != RACK_NONE)
			actions->forward = true; /* on its way to a rack */
		else
			reminder(server, pool, packet, actions);
		return;
	}
	if (a->owner && !aggregator_is(a, job->base.number, pool_chunk(packet)) &&
	    !collide(server, pool, a, packet, actions))
		return;
	if (!a->owner)
		pool_take(job, pool, a, packet);
	if (a->bits & bitmap.bits) { /* a copy made by the network: workers never send twice */
		pool->memory->stats.duplicates++;
		return;
	}
	a->value += packet->value; /* was 0 if the aggregator is new */
	a->bits |= bitmap.bits;
	a->marked |= (packet->flags & PACKET_CE) != 0;
	a->priority = pool_priority(packet); /* restores a priority that was halved */
	pool->memory->stats.packets_aggregated++;
	if (a->bits == racks_all(&server->racks, a->rack))
		esa_switch_complete(server, pool, a, packet, actions);
}
