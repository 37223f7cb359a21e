#include "ina/common/pool.h"

#include "base/mem.h"
#include "core/rng.h"
#include "transport/keys.h"

#include <stdlib.h>

/* --- packets --- */

void pool_packet(struct packet *packet, const struct pool_server *server, uint64_t chunk,
		 struct bitmap bitmap, uint16_t slot)
{
	const struct pool_job *job = server->job;

	*packet = (struct packet){
		.seq = pool_seq((uint32_t)chunk, bitmap),
		.flow = job->base.number,
		.source = (uint16_t)(server->number << POOL_SERVER_SHIFT | bitmap.rack),
		.size = (uint16_t)job->base.scheme->frame,
		.slot = slot,
		.kind = PACKET_AGGREGATION,
		.flags = PACKET_ECT,
		.protocol = job->base.scheme->protocol,
	};
}

void pool_multicast(const struct pool_server *server, uint32_t sw, const struct packet *result,
		    struct switch_actions *actions)
{
	uint32_t number = server->racks.fan_out_of_switch[sw];
	const struct fan_out *fan;
	struct switch_send *out;

	if (number == UINT32_MAX)
		return; /* no longer on the tree: routing has changed since the result was sent */
	SIM_BUG_ON(number >= server->racks.fan_out_count);
	fan = &server->racks.fan_outs[number];
	out = &actions->send[actions->count++];
	out->packet = *result;
	out->ports = fan->ports;
	out->count = fan->count;
}

/* Level 1 adds nothing up (topology_aggregates()), so a packet goes on to the server. Reminders
 * have no bits. A reminder to a rack goes on; a reminder to level 1 ends here, as there is no sum.
 */
static void pool_pass(struct pool_scheme *scheme, uint32_t sw, struct packet *packet,
		      struct switch_actions *actions)
{
	struct bitmap bitmap = pool_bitmap(packet);

	if (bitmap.bits)
		scheme->pools[sw].memory->stats.fallbacks++;
	actions->forward = bitmap.bits || bitmap.rack != RACK_NONE;
}

/* A packet on its way up may be added at the switch of the rack that it names, and at level 1. */
static void upwards(struct pool_scheme *scheme, struct pool_server *server, uint32_t sw,
		    struct packet *packet, struct switch_actions *actions)
{
	uint8_t rack = pool_bitmap(packet).rack;
	bool level1 = sw == server->racks.sw;

	if (packet->flags & POOL_BYPASS ||
	    (!level1 && (rack == RACK_NONE || server->racks.racks[rack].sw != sw)))
		actions->forward = true;
	else if (level1 && server->racks.passes)
		pool_pass(scheme, sw, packet, actions);
	else
		pool_ops(server->job)
			->at_switch(server, &scheme->pools[sw], level1, packet, actions);
}

bool pool_adds_at(const void *self, uint32_t sw, const struct packet *packet)
{
	struct pool_job *job = ina_job_of(self, packet);
	const struct racks *racks;
	uint8_t rack;

	if (!job || packet->flags & (PACKET_RESULT | POOL_BYPASS))
		return false;
	racks = &job->servers[pool_server_of(packet)].racks;
	rack = pool_bitmap(packet).rack;
	return sw == racks->sw ? !racks->passes : rack != RACK_NONE && racks->racks[rack].sw == sw;
}

void pool_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
		    struct switch_actions *actions)
{
	struct pool_scheme *scheme = self;
	struct pool_job *job = ina_job_of(self, packet);
	struct pool_server *server;

	(void)back;
	if (!job)
		return; /* the job is over */
	server = &job->servers[pool_server_of(packet)];
	if (!(packet->flags & PACKET_RESULT)) {
		upwards(scheme, server, sw, packet, actions);
		return;
	}
	if (pool_ops(job)->result_at_switch)
		pool_ops(job)->result_at_switch(server, &scheme->pools[sw], packet);
	pool_multicast(server, sw, packet, actions);
}

/* --- packets that servers receive --- */

uint64_t pool_oldest(const struct pool_job *job)
{
	uint64_t oldest = UINT64_MAX;

	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		if (pool_worker(job, w)->window.first < oldest)
			oldest = pool_worker(job, w)->window.first;
	return oldest;
}

static void added(void *owner, const struct packet *packet)
{
	struct pool_server *server = owner;

	pool_ops(server->job)->at_server(server, packet);
}

/* Whether the packet brings contributors that are not in the sum and do not wait to be added. */
static bool brings_new(struct pool_server *server, const struct packet *packet)
{
	struct partial_sums *arrived = &server->arrived;
	uint64_t index = pool_server_index(server, pool_server_packet_chunk(server, packet));
	const struct partial_sum *sum = partial_sums_find(&server->sums, index);
	struct partial_sum *known;

	/* ESA's messages may have completed it, and `arrived` lacks their contributors */
	if (sum && sum->complete)
		return false;
	if (!arrived->ring)
		partial_sums_init(arrived, &server->racks);
	if (index >= arrived->end)
		partial_sums_reserve(arrived, index,
				     pool_server_index(server, pool_oldest(server->job)));
	known = partial_sums_find(arrived, index);
	return known && pool_ops(server->job)->add(arrived, known, pool_bitmap(packet), 0);
}

static void pool_to_server(struct pool_server *server, const struct packet *packet)
{
	struct pool_job *job = server->job;
	const struct ina_scheme *scheme = job->base.scheme;

	job->base.stats.server_packets++;
	job->base.stats.server_bytes += packet->size;
	if (scheme->env.reducers->rate)
		adding_push(&server->adding, packet,
			    brings_new(server, packet) ? (bytes)scheme->elements * ELEMENT_BYTES
						       : 0);
	else
		pool_ops(job)->at_server(server, packet);
}

void pool_deliver(void *self, uint32_t host, const struct packet *packet)
{
	struct pool_job *job = ina_job_of(self, packet);

	if (!job || (job->over && packet->flags & PACKET_RESULT))
		return;
	if (packet->flags & PACKET_RESULT)
		pool_worker_result(ina_worker_on(&job->base, host), packet);
	else
		pool_to_server(&job->servers[pool_server_of(packet)], packet);
}

/* --- looking ahead, for speed only --- */

static void pool_worker_ahead(const struct pool_job *job, uint32_t host, bool again)
{
	const struct pool_worker *worker = ina_worker_on(&job->base, host);
	const struct window *window = &worker->window;

	if (!again) {
		ina_prefetch(worker, sizeof(*worker));
		__builtin_prefetch(&job->base.tensors.readers[worker->base.number]);
		return;
	}
	__builtin_prefetch(&window->ring[window->first & window->mask]);
	__builtin_prefetch(&window->ring[window->next & window->mask]);
	__builtin_prefetch(&job->indices[window->next & (KNOWN_INDICES - 1)]);
}

void pool_ahead(const void *self, uint32_t node, const struct packet *packet, bool again)
{
	const struct pool_scheme *scheme = self;
	const struct pool_job *job = ina_job_of(self, packet);
	uint32_t hosts = scheme->base.env.topo->net.hosts;

	if (!job || job->over)
		return;
	if (node < hosts) {
		if (packet->flags & PACKET_RESULT)
			pool_worker_ahead(job, node, again);
	} else if (!again && scheme->pools[node - hosts].slots) {
		__builtin_prefetch(&scheme->pools[node - hosts].slots[packet->slot]);
	}
}

/* --- aggregators --- */

void pool_take(struct pool_job *job, struct aggregators *pool, struct aggregator *a,
	       const struct packet *packet)
{
	aggregators_take(pool, a, job->base.number, pool_chunk(packet),
			 job->base.scheme->env.sim->now);
	a->rack = pool_bitmap(packet).rack;
	a->server = (uint8_t)pool_server_of(packet);
	job->held++;
	if (!job->over || !pool_ops(job)->drain)
		return;
	/* a late packet of a job that is over: all workers got the result another way */
	pool->memory->draining_bytes += pool->value_bytes;
	if (job->held == 1)
		pool_ops(job)->drain(job); /* drain() had stopped when nothing was left to free */
}

void pool_free(struct pool_scheme *scheme, struct aggregators *pool, struct aggregator *a)
{
	struct pool_job *job = ina_find(&scheme->base.jobs, a->owner - 1);

	aggregators_free(pool, a, scheme->base.env.sim->now);
	job->held--;
	if (job->over && pool_ops(job)->drain)
		pool->memory->draining_bytes -= pool->value_bytes;
}

/* Puts all aggregators into a random order for pool_index(). All switches have equally many
 * (pool_one_memory), so the first stands for all. */
static void draw_order(struct pool_job *job)
{
	const struct pool_scheme *scheme = pool_scheme(job);
	uint32_t count = scheme->pools[0].count;
	uint32_t *order = xmalloc(count * sizeof(*order));
	struct rng rng;

	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	rng_init(&rng, scheme->base.env.sim->seed, "aggregators", job->base.spec.number);
	rng_shuffle(&rng, order, count);
	job->order = xmalloc(count * sizeof(*job->order));
	for (uint32_t i = 0; i < count; i++)
		job->order[i] = (uint16_t)order[i];
	free(order);
}

uint16_t pool_index(const struct pool_job *job, uint64_t chunk, uint16_t salt)
{
	if (job->order)
		return job->order[(uint32_t)chunk % pool_scheme(job)->pools[0].count];
	/* job and chunk count from 1, as 0 means "empty" in a switch */
	return (uint16_t)(aggregators_hash(&pool_scheme(job)->crc,
					   (uint16_t)(job->base.spec.number + 1),
					   (uint32_t)chunk + 1, salt) %
			  pool_scheme(job)->pools[0].count);
}

/* --- servers --- */

bool pool_about(const void *self, const struct packet *packet, struct packet_about *about)
{
	if (!ina_about_slot(self, packet, about))
		return false;
	about->chunk = pool_chunk(packet); /* the low 32 bits: a packet has no more */
	return true;
}

uint64_t pool_server_packet_chunk(const struct pool_server *server, const struct packet *packet)
{
	return chunk_near(pool_server_chunk(server, server->sums.end), pool_chunk(packet));
}

struct partial_sum *pool_server_entry(struct pool_server *server, uint64_t chunk)
{
	uint64_t index = pool_server_index(server, chunk);

	if (index >= server->sums.end)
		partial_sums_reserve(&server->sums, index,
				     pool_server_index(server, pool_oldest(server->job)));
	return partial_sums_find(&server->sums, index);
}

void pool_server_send_result(struct pool_server *server, const struct partial_sum *sum,
			     uint16_t slot, uint8_t flags, uint32_t extra)
{
	struct packet packet;

	pool_packet(&packet, server, pool_server_chunk(server, sum->index),
		    (struct bitmap){ extra, RACK_NONE }, slot);
	packet.value = sum->value;
	packet.flags |= (uint8_t)(PACKET_RESULT | flags | (sum->marked ? PACKET_CE : 0));
	outbox_send(&server->outbox, &packet);
}

/* --- jobs --- */

struct pool_scheme *pool_open(const struct model_env *env, const void *self,
			      const struct pool_ops *ops, sim_time idle_limit)
{
	const struct pool_conf *conf = self;
	struct pool_scheme *scheme =
		ina_open(&ops->base, env, self, (struct ina_format){ .memory = conf->memory });
	uint32_t switches = env->topo->net.switches;

	scheme->window = conf->window;
	scheme->window.rto.rule = RTO_ADAPTIVE;
	crc32_init(&scheme->crc);
	scheme->pools = xcalloc(switches, sizeof(*scheme->pools));
	for (uint32_t s = 0; s < switches; s++)
		aggregators_init(&scheme->pools[s], &scheme->base.memory[s], ina_payload(conf),
				 idle_limit);
	return scheme;
}

static uint64_t entropy_of(const struct pool_job *job, uint32_t q)
{
	uint64_t seed = job->base.scheme->env.sim->seed;

	return hash_pair(hash_pair(seed, hash_string(pool_ops(job)->name)),
			 (uint64_t)job->base.spec.number << 8 | q);
}

/* False when the bitmaps of ATP's header are too short; pool_withdraw() is needed even then. */
static bool place_servers(struct pool_job *job)
{
	struct pool_scheme *scheme = pool_scheme(job);
	struct topology *topo = scheme->base.env.topo;
	bool good = true;

	job->servers = xcalloc(job->base.spec.servers, sizeof(*job->servers));
	for (uint32_t q = 0; q < job->base.spec.servers; q++) {
		struct pool_server *server = &job->servers[q];

		server->job = job;
		server->number = q;
		good &= racks_init(&server->racks, topo, job->base.ports, job->base.spec.workers,
				   job->base.ports[job->base.spec.workers + q], entropy_of(job, q));
		partial_sums_init(&server->sums, &server->racks);
		adding_init(&server->adding, &topo->net, job->base.spec.number,
			    scheme->base.env.reducers, job->base.spec.server_hosts[q],
			    timer_key_of_job(TIMER_POOL_INBOX, job->base.spec.number, q), added,
			    server);
		outbox_init(&server->outbox, &topo->net.nics[server->racks.server]);
	}
	return good;
}

static void open_pools(struct pool_job *job)
{
	for (uint32_t q = 0; q < job->base.spec.servers; q++) {
		const struct racks *racks = &job->servers[q].racks;

		if (!racks->passes)
			aggregators_open(&pool_scheme(job)->pools[racks->sw]);
		for (uint32_t r = 0; r < racks->count; r++)
			aggregators_open(&pool_scheme(job)->pools[racks->racks[r].sw]);
	}
}

/* Counts the switches next to workers, and level 1 of each server: how many are there, and how many
 * of them add. */
struct collective_actual pool_ran_as(const void *instance)
{
	const struct pool_job *job = instance;
	const struct topology *topo = job->base.scheme->env.topo;
	const struct collective_job *spec = &job->base.spec;
	struct collective_actual actual = { .what = ina_adding };
	bool *counted = xcalloc(topo->net.switches, sizeof(*counted));

	for (uint32_t i = 0; i < spec->workers + spec->servers; i++) {
		uint32_t sw = i < spec->workers
				      ? topo->net.ports[job->base.ports[i]].to - topo->net.hosts
				      : job->servers[i - spec->workers].racks.sw;

		actual.of += !counted[sw];
		actual.has += !counted[sw] && topology_aggregates(topo, sw);
		counted[sw] = true;
	}
	free(counted);
	return actual.has < actual.of ? actual : (struct collective_actual){ 0 };
}

void pool_withdraw(void *self)
{
	struct pool_job *job = self;

	for (uint32_t q = 0; q < job->base.spec.servers; q++) {
		adding_release(&job->servers[q].adding);
		outbox_release(&job->servers[q].outbox);
		partial_sums_release(&job->servers[q].sums);
		partial_sums_release(&job->servers[q].arrived);
		racks_release(&job->servers[q].racks);
	}
	free(job->servers);
}

static bool servers_reached(const struct pool_job *job)
{
	const struct topology *topo = job->base.scheme->env.topo;
	const struct collective_job *spec = &job->base.spec;

	for (uint32_t w = 0; topo->detours && w < spec->workers; w++)
		for (uint32_t q = 0; q < spec->servers; q++)
			if (!topology_reaches(topo, spec->hosts[w], spec->server_hosts[q]) ||
			    !topology_reaches(topo, spec->server_hosts[q], spec->hosts[w]))
				return false;
	return true;
}

bool pool_admit(void *self, const char **never)
{
	struct pool_job *job = self;

	SIM_BUG_ON(!job->base.spec.servers ||
		   job->base.spec.servers > POOL_SERVERS_MAX); /* pool_refuses() */
	if (!servers_reached(job)) {
		*never = ina_no_server;
		return false;
	}
	if (place_servers(job))
		return true;
	*never = pool_too_many_inputs;
	pool_withdraw(job);
	return false;
}

void pool_begin(void *self)
{
	struct pool_job *job = self;

	open_pools(job);
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		pool_worker_init(pool_worker(job, w));
	if (((const struct pool_conf *)job->base.scheme->conf)->index == INDEX_DISTINCT)
		draw_order(job);
	job->indices = xcalloc(KNOWN_INDICES, sizeof(*job->indices));
	for (uint32_t i = 0; i < KNOWN_INDICES; i++)
		job->indices[i].chunk = i + 1; /* never a chunk of this place */
	pool_ops(job)->start(job);
}

static void release_workers(struct pool_job *job)
{
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		pool_worker_release(pool_worker(job, w));
}

void pool_end(void *self)
{
	struct pool_job *job = self;

	if (!job->over) /* else pool_finish() has done it */
		release_workers(job);
	pool_ops(job)->release(job);
	free(job->order);
	free(job->indices);
}

/* Workers are gone; the scheme goes on until it has freed the job's last aggregator. */
static void pool_drain(struct pool_job *job)
{
	struct pool_scheme *scheme = pool_scheme(job);

	for (uint32_t s = 0; s < scheme->base.env.topo->net.switches; s++) {
		struct aggregators *pool = &scheme->pools[s];

		for (uint32_t i = 0; pool->slots && i < pool->count; i++)
			if (pool->slots[i].owner == job->base.number + 1)
				pool->memory->draining_bytes += pool->value_bytes;
	}
	pool_ops(job)->drain(job);
}

/* Frees the aggregators of a job at a switch; `job` NULL: of all jobs. */
static void free_all(struct pool_scheme *scheme, uint32_t sw, const struct pool_job *job)
{
	struct aggregators *pool = &scheme->pools[sw];

	for (uint32_t i = 0; pool->slots && i < pool->count; i++)
		if (job ? pool->slots[i].owner == job->base.number + 1 : pool->slots[i].owner)
			pool_free(scheme, pool, &pool->slots[i]);
}

void pool_finish(void *instance, bool abandoned)
{
	struct pool_job *job = instance;
	const struct topology *topo = job->base.scheme->env.topo;

	/* after detours late packets, on former paths, may own its aggregators */
	if (!job->held || abandoned || (topo->detours && !pool_ops(job)->drain)) {
		for (uint32_t s = 0; job->held && s < topo->net.switches; s++)
			free_all(pool_scheme(job), s, job);
		ina_finish(job, abandoned);
		return;
	}
	ina_stop_workers(&job->base);
	release_workers(job);
	job->over = true;
	if (pool_ops(job)->drain)
		pool_drain(job);
}

/* --- failures --- */

void pool_reroute(void *self)
{
	struct pool_scheme *scheme = self;
	const struct topology *topo = scheme->base.env.topo;

	for (uint32_t j = 0; j < scheme->base.jobs.count; j++) {
		struct pool_job *job = ina_find(&scheme->base.jobs, j);

		/* a job that is over has no workers, but reminders to its racks (ESA) */
		for (uint32_t q = 0; job && q < job->base.spec.servers; q++)
			racks_reroute(&job->servers[q].racks, topo, job->base.ports,
				      job->over ? 0 : job->base.spec.workers, entropy_of(job, q));
	}
}

/* Workers retransmit the contributions that are lost with the switch's memory. */
void pool_wipe(void *self, uint32_t sw)
{
	free_all(self, sw, NULL);
}

bool pool_intact(const void *instance, bool links)
{
	const struct pool_job *job = instance;

	for (uint32_t q = 0; links && q < job->base.spec.servers; q++)
		if (!racks_work(&job->servers[q].racks, job->base.scheme->env.topo, job->base.ports,
				job->base.spec.workers))
			return false;
	return true;
}

void pool_close(void *self)
{
	struct pool_scheme *scheme = self;

	for (uint32_t j = 0; j < scheme->base.jobs.count; j++)
		if (ina_find(&scheme->base.jobs, j))
			ina_finish(ina_find(&scheme->base.jobs, j), false);
	for (uint32_t s = 0; s < scheme->base.env.topo->net.switches; s++)
		aggregators_release(&scheme->pools[s]);
	free(scheme->pools);
	ina_close(scheme);
}

void pool_stats(const void *self, struct collective_stats *stats)
{
	const struct pool_job *job = self;

	ina_stats(self, stats);
	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		const struct window *window = &pool_worker(job, w)->window;

		stats->timeouts += window->timeouts;
		stats->waited += (uint64_t)window->waited / job->base.spec.workers;
	}
}
