#include "ina/common/pool.h"

#include "base/mem.h"
#include "base/ring.h"
#include "transport/keys.h"

#include <inttypes.h>
#include <stdlib.h>

#define NOBODY      UINT32_MAX
#define INBOX_FIRST 16 /* a power of two */

void pool_violated(const struct pool_job *job, uint32_t node, uint64_t chunk, const char *what)
{
	collective_violated(&job->scheme->env, job->scheme->ops->title, job->job.number, "chunk",
			    chunk, node, what);
}

/* --- packets --- */

struct packet pool_packet(const struct pool_server *server, uint64_t chunk, struct bitmap bitmap,
			  uint16_t slot)
{
	const struct pool_job *job = server->job;

	return (struct packet){
		.seq = (uint64_t)bitmap.bits << 32 | (uint32_t)chunk,
		.flow = job->number,
		.source = (uint16_t)(server->number << 5 | bitmap.rack),
		.size = job->frame,
		.slot = slot,
		.kind = PACKET_AGGREGATION,
		.flags = PACKET_ECT,
		.protocol = job->scheme->protocol,
	};
}

void pool_multicast(const struct pool_server *server, uint32_t sw, const struct packet *result,
		    struct switch_actions *actions)
{
	uint32_t number = server->racks.fan_out_of_switch[sw];
	const struct fan_out *fan = &server->racks.fan_outs[number];
	struct switch_send *out = &actions->send[actions->count++];

	SIM_BUG_ON(number >= server->racks.fan_out_count);
	out->packet = *result;
	out->ports = fan->ports;
	out->count = fan->count;
}

/* Where it is added: at the switch of the rack that it names, and at level 1. */
static void upwards(struct pool_scheme *scheme, struct pool_server *server, uint32_t sw,
		    struct packet *packet, struct switch_actions *actions)
{
	uint8_t rack = packet_bitmap(packet).rack;
	bool level1 = sw == server->racks.sw;

	if (packet->flags & PACKET_BYPASS ||
	    (!level1 && (rack == RACK_NONE || server->racks.racks[rack].sw != sw)))
		actions->forward = true;
	else
		scheme->ops->at_switch(server, &scheme->pools[sw], level1, packet, actions);
}

static void at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
		      struct switch_actions *actions)
{
	struct pool_scheme *scheme = self;
	struct pool_job *job = scheme->jobs[packet->flow];
	struct pool_server *server;

	(void)back;
	if (!job)
		return; /* it is over */
	server = &job->servers[packet_server(packet)];
	if (!(packet->flags & PACKET_RESULT)) {
		upwards(scheme, server, sw, packet, actions);
		return;
	}
	if (scheme->ops->result_at_switch)
		scheme->ops->result_at_switch(server, &scheme->pools[sw], packet);
	pool_multicast(server, sw, packet, actions);
}

/* --- packets that servers receive --- */

/* No worker will ask for chunks below. */
static uint64_t oldest_needed(const struct pool_job *job)
{
	uint64_t oldest = UINT64_MAX;

	for (uint32_t w = 0; w < job->job.workers; w++)
		if (job->workers[w].window.first < oldest)
			oldest = job->workers[w].window.first;
	return oldest;
}

static struct waiting *first_waiting(const struct inbox *inbox)
{
	return &inbox->ring[inbox->head & inbox->mask];
}

static struct waiting *last_waiting(const struct inbox *inbox)
{
	return &inbox->ring[(inbox->head + inbox->count - 1) & inbox->mask];
}

/* The server's host has added the gradients of the oldest packet. */
static void on_added(struct sim *sim, uint32_t entity, void *owner)
{
	struct pool_server *server = owner;
	struct inbox *inbox = &server->inbox;

	(void)entity;
	while (inbox->count && first_waiting(inbox)->due <= sim->now) {
		struct packet packet = first_waiting(inbox)->packet;

		inbox->head++;
		inbox->count--;
		server->job->scheme->ops->at_server(server, &packet);
	}
	if (inbox->count)
		timer_set(sim, &inbox->timer, first_waiting(inbox)->due);
}

static void wait_for_adding(struct pool_server *server, const struct packet *packet, sim_time due)
{
	struct inbox *inbox = &server->inbox;
	uint64_t end = inbox->head + inbox->count++;

	if (!inbox->ring) {
		inbox->mask = INBOX_FIRST - 1;
		inbox->ring = xcalloc(INBOX_FIRST, sizeof(*inbox->ring));
	}
	inbox->ring =
		ring_reserve(inbox->ring, &inbox->mask, inbox->head, end, sizeof(*inbox->ring));
	inbox->ring[end & inbox->mask] = (struct waiting){ .packet = *packet, .due = due };
	if (inbox->count == 1)
		timer_set(server->job->scheme->env.sim, &inbox->timer, due);
}

/* The packet brings contributors that neither are in the sum nor wait to be added. */
static bool brings_new(struct pool_server *server, const struct packet *packet)
{
	struct partial_sums *arrived = &server->inbox.arrived;
	uint64_t index = server_index(server, server_packet_chunk(server, packet));
	const struct partial_sum *sum = partial_sums_find(&server->sums, index);
	struct partial_sum *known;

	if (sum && sum->complete) /* ESA: perhaps without any packet */
		return false;
	if (!arrived->ring)
		partial_sums_init(arrived, &server->racks);
	if (index >= arrived->end)
		partial_sums_reserve(arrived, index,
				     server_index(server, oldest_needed(server->job)));
	known = partial_sums_find(arrived, index);
	return known && server->job->scheme->ops->add(arrived, known, packet_bitmap(packet), 0);
}

/* When the server may look at a packet that has come. One without news takes its host no time,
 * but it does not overtake what came before. */
static sim_time due_at(struct pool_server *server, const struct packet *packet)
{
	const struct pool_scheme *scheme = server->job->scheme;
	const struct inbox *inbox = &server->inbox;
	sim_time now = scheme->env.sim->now;

	if (brings_new(server, packet))
		return reducers_add(scheme->env.reducers, server->racks.server, now,
				    (bytes)scheme->conf->elements_per_packet * ELEMENT_BYTES);
	return inbox->count ? last_waiting(inbox)->due : now;
}

static void to_server(struct pool_server *server, const struct packet *packet)
{
	const struct pool_scheme *scheme = server->job->scheme;

	server->packets++;
	server->frame_bytes += packet->size;
	if (scheme->env.reducers->rate)
		wait_for_adding(server, packet, due_at(server, packet));
	else
		scheme->ops->at_server(server, packet);
}

static void deliver(void *self, uint32_t host, const struct packet *packet)
{
	const struct pool_scheme *scheme = self;
	struct pool_job *job = scheme->jobs[packet->flow];

	if (!job || (job->over && packet->flags & PACKET_RESULT))
		return;
	if (packet->flags & PACKET_RESULT)
		pool_worker_result(&job->workers[job->worker_of_host[host]], packet);
	else
		to_server(&job->servers[packet_server(packet)], packet);
}

static const struct protocol_ops pool_protocol = {
	.name = "hashed aggregators",
	.deliver = deliver,
	.at_switch = at_switch,
};

/* --- aggregators --- */

void pool_take(struct pool_job *job, struct aggregators *pool, struct aggregator *a,
	       const struct packet *packet)
{
	aggregators_take(pool, a, job->number, packet_chunk(packet), job->scheme->env.sim->now);
	a->rack = packet_bitmap(packet).rack;
	a->server = (uint8_t)packet_server(packet);
	job->held++;
	if (!job->over || !job->scheme->ops->drain)
		return;
	/* a straggler of a job that is over: all workers had the result by another way */
	pool->memory->draining_bytes += pool->value_bytes;
	if (job->held == 1)
		job->scheme->ops->drain(job); /* again: nothing was left to free */
}

void pool_free(struct pool_scheme *scheme, struct aggregators *pool, struct aggregator *a)
{
	struct pool_job *job = scheme->jobs[a->owner - 1];

	aggregators_free(pool, a, scheme->env.sim->now);
	job->held--;
	if (job->over && scheme->ops->drain)
		pool->memory->draining_bytes -= pool->value_bytes;
}

bool pool_collect(struct pool_scheme *scheme, struct aggregators *pool, struct aggregator *a)
{
	if (!aggregators_is_idle(pool, a, scheme->env.sim->now))
		return false;
	pool->memory->stats.collected++;
	pool_free(scheme, pool, a);
	return true;
}

uint16_t pool_index(const struct pool_job *job, uint64_t chunk, uint16_t salt)
{
	/* both count from 1: 0 is "empty" in a switch */
	return (uint16_t)(aggregators_hash(&job->scheme->crc, (uint16_t)(job->job.number + 1),
					   (uint32_t)chunk + 1, salt) %
			  job->scheme->pools[0].count);
}

/* --- servers --- */

uint64_t server_packet_chunk(const struct pool_server *server, const struct packet *packet)
{
	return chunk_near(server_chunk(server, server->sums.end), packet_chunk(packet));
}

struct partial_sum *server_entry(struct pool_server *server, uint64_t chunk)
{
	uint64_t index = server_index(server, chunk);

	if (index >= server->sums.end)
		partial_sums_reserve(&server->sums, index,
				     server_index(server, oldest_needed(server->job)));
	return partial_sums_find(&server->sums, index);
}

void server_send_result(struct pool_server *server, const struct partial_sum *sum, uint16_t slot,
			uint8_t flags, uint32_t extra)
{
	struct packet packet = pool_packet(server, server_chunk(server, sum->index),
					   (struct bitmap){ extra, RACK_NONE }, slot);

	packet.value = sum->value;
	packet.flags |= (uint8_t)(PACKET_RESULT | flags | (sum->marked ? PACKET_CE : 0));
	outbox_send(&server->outbox, &packet);
}

/* --- jobs --- */

struct pool_scheme *pool_open(const struct model_env *env, const struct pool_conf *conf,
			      const struct pool_ops *ops, sim_time idle_limit)
{
	struct pool_scheme *scheme = xcalloc(1, sizeof(*scheme));
	uint32_t switches = env->topo->net.switches;

	scheme->env = *env;
	scheme->conf = conf;
	scheme->window = conf->window;
	scheme->window.rto.rule = RTO_ADAPTIVE;
	scheme->ops = ops;
	crc32_init(&scheme->crc);
	scheme->protocol = network_register(&env->topo->net, &pool_protocol, scheme);
	scheme->memory = xcalloc(switches, sizeof(*scheme->memory));
	scheme->pools = xcalloc(switches, sizeof(*scheme->pools));
	for (uint32_t s = 0; s < switches; s++) {
		scheme->memory[s] =
			(struct collective_memory){ .sw = s, .memory_bytes = conf->memory };
		aggregators_init(&scheme->pools[s], &scheme->memory[s],
				 (uint32_t)conf->elements_per_packet * ELEMENT_BYTES, idle_limit);
	}
	return scheme;
}

/* False when the job cannot be expressed in ATP's header. */
static bool place_servers(struct pool_job *job)
{
	struct pool_scheme *scheme = job->scheme;
	struct topology *topo = scheme->env.topo;
	bool good = true;

	job->servers = xcalloc(job->job.servers, sizeof(*job->servers));
	for (uint32_t q = 0; q < job->job.servers; q++) {
		struct pool_server *server = &job->servers[q];
		uint64_t entropy =
			hash_pair(hash_pair(scheme->env.sim->seed, hash_string(scheme->ops->name)),
				  (uint64_t)job->job.number << 8 | q);

		server->job = job;
		server->number = q;
		good &= racks_init(&server->racks, topo, job->job.hosts, job->job.workers,
				   job->job.server_hosts[q], entropy);
		partial_sums_init(&server->sums, &server->racks);
		timer_open(scheme->env.sim, &server->inbox.timer, SIM_TIMER,
			   timer_key_of_job(TIMER_POOL_INBOX, job->job.number, q), on_added,
			   server);
		sim_name(scheme->env.sim, on_added, "a packet is added up at server %w of job %j");
		outbox_init(&server->outbox, &topo->net.nics[job->job.server_hosts[q]]);
	}
	return good;
}

static void open_pools(struct pool_job *job)
{
	for (uint32_t q = 0; q < job->job.servers; q++) {
		const struct racks *racks = &job->servers[q].racks;

		aggregators_open(&job->scheme->pools[racks->sw]);
		for (uint32_t r = 0; r < racks->count; r++)
			aggregators_open(&job->scheme->pools[racks->racks[r].sw]);
	}
}

static void make_workers(struct pool_job *job)
{
	uint32_t hosts = job->scheme->env.topo->net.hosts;

	job->worker_of_host = xcalloc(hosts, sizeof(*job->worker_of_host));
	for (uint32_t h = 0; h < hosts; h++)
		job->worker_of_host[h] = NOBODY;
	job->workers = xaligned(64, job->job.workers * sizeof(*job->workers));
	for (uint32_t w = 0; w < job->job.workers; w++) {
		job->workers[w].job = job;
		job->workers[w].number = w;
		job->workers[w].host = job->job.hosts[w];
		job->worker_of_host[job->job.hosts[w]] = w;
		pool_worker_init(&job->workers[w]);
	}
}

static void make_indices(struct pool_job *job)
{
	job->indices = xcalloc(KNOWN_INDICES, sizeof(*job->indices));
	for (uint32_t i = 0; i < KNOWN_INDICES; i++)
		job->indices[i].chunk = i + 1; /* never a chunk of this place */
}

static void free_servers(struct pool_job *job)
{
	for (uint32_t q = 0; q < job->job.servers; q++) {
		timer_close(job->scheme->env.sim, &job->servers[q].inbox.timer);
		free(job->servers[q].inbox.ring);
		outbox_release(&job->servers[q].outbox);
		partial_sums_release(&job->servers[q].sums);
		partial_sums_release(&job->servers[q].inbox.arrived);
		racks_release(&job->servers[q].racks);
	}
	free(job->servers);
}

void pool_free_new(struct pool_job *job)
{
	free_servers(job);
	free(job);
}

struct pool_job *pool_new(struct pool_scheme *scheme, const struct collective_job *spec,
			  const char **never)
{
	struct pool_job *job = xcalloc(1, sizeof(*job));

	*never = NULL;
	SIM_BUG_ON(!spec->servers || spec->servers > POOL_SERVERS_MAX); /* pool_refuses() */
	job->scheme = scheme;
	job->job = *spec;
	job->frame = (uint16_t)pool_frame(scheme->conf);
	if (place_servers(job))
		return job;
	*never = pool_too_many_inputs;
	pool_free_new(job);
	return NULL;
}

void *pool_start(void *self, const struct collective_job *spec, const char **never)
{
	struct pool_scheme *scheme = self;
	struct pool_job *job = pool_new(scheme, spec, never);

	if (!job)
		return NULL;
	job->number = (uint32_t)scheme->job_count;
	open_pools(job);
	exact_init(&job->exact, scheme->env.checks, scheme->env.sim->seed, spec->number,
		   spec->workers);
	tensors_init(&job->tensors, spec->workers);
	make_workers(job);
	make_indices(job);
	scheme->jobs = array_reserve(scheme->jobs, scheme->job_count, &scheme->job_capacity,
				     sizeof(*scheme->jobs));
	scheme->jobs[scheme->job_count++] = job;
	scheme->ops->start(job);
	return job;
}

void pool_contribute(void *instance, uint32_t worker, bytes size)
{
	struct pool_job *job = instance;
	uint64_t elements = (size + ELEMENT_BYTES - 1) / ELEMENT_BYTES;
	uint64_t k = (uint64_t)job->scheme->conf->elements_per_packet;

	pool_worker_contribute(&job->workers[worker], elements ? (elements + k - 1) / k : 1);
}

static void release(struct pool_job *job)
{
	struct pool_scheme *scheme = job->scheme;

	/* workers first: NICs that are behind take turns now, in which the scheme is asked */
	for (uint32_t w = 0; w < job->job.workers && !job->over; w++)
		pool_worker_release(&job->workers[w]);
	scheme->ops->release(job);
	scheme->jobs[job->number] = NULL;
	free_servers(job);
	tensors_release(&job->tensors);
	exact_release(&job->exact);
	free(job->worker_of_host);
	free(job->indices);
	free(job->workers);
	free(job);
}

/* Workers are gone; servers go on until the last aggregator is free. */
static void drain(struct pool_job *job)
{
	struct pool_scheme *scheme = job->scheme;

	for (uint32_t s = 0; s < scheme->env.topo->net.switches; s++) {
		struct aggregators *pool = &scheme->pools[s];

		for (uint32_t i = 0; pool->slots && i < pool->count; i++)
			if (pool->slots[i].owner == job->number + 1)
				pool->memory->draining_bytes += pool->value_bytes;
	}
	scheme->ops->drain(job);
}

void pool_finish(void *instance)
{
	struct pool_job *job = instance;

	if (!job->held) {
		release(job);
		return;
	}
	for (uint32_t w = 0; w < job->job.workers; w++)
		pool_worker_release(&job->workers[w]);
	job->over = true;
	if (job->scheme->ops->drain)
		drain(job);
}

void pool_close(void *self)
{
	struct pool_scheme *scheme = self;

	for (size_t j = 0; j < scheme->job_count; j++)
		if (scheme->jobs[j])
			release(scheme->jobs[j]);
	for (uint32_t s = 0; s < scheme->env.topo->net.switches; s++)
		aggregators_release(&scheme->pools[s]);
	free(scheme->jobs);
	free(scheme->memory);
	free(scheme->pools);
	free(scheme);
}

void pool_stats(const void *instance, struct collective_stats *stats)
{
	const struct pool_job *job = instance;

	for (uint32_t w = 0; w < job->job.workers; w++) {
		const struct pool_worker *worker = &job->workers[w];

		stats->retransmissions += worker->retransmissions;
		stats->timeouts += worker->window.timeouts;
		stats->stale += worker->stale;
		stats->reminders += worker->reminders;
	}
	for (uint32_t q = 0; q < job->job.servers; q++) {
		stats->server_packets += job->servers[q].packets;
		stats->server_bytes += job->servers[q].frame_bytes;
	}
}

size_t pool_memory(void *self, const struct collective_memory **list)
{
	struct pool_scheme *scheme = self;

	*list = scheme->memory;
	return scheme->env.topo->net.switches;
}

void pool_report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct pool_job *job = instance;

	for (uint32_t w = 0; w < job->job.workers && limit; w++) {
		const struct pool_worker *worker = &job->workers[w];

		if (worker->window.first == worker->window.next)
			continue;
		fprintf(to,
			"  %s job %" PRIu32 ": worker %" PRIu32 " (h%" PRIu32
			") waits for chunk %" PRIu64 " of %" PRIu64 ", %" PRIu64 " in flight\n",
			job->scheme->ops->title, job->job.number, w, worker->host,
			worker->window.first, tensors_available(&job->tensors, w),
			worker->window.next - worker->window.first);
		limit--;
	}
}
