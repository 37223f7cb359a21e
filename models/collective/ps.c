/* Parameter servers: workers push their gradients to m servers, which add them up
 * and send the sums back (Li et al., OSDI 2014; Sapio et al., "SwitchML", sections
 * 2.1 and 5.3). "PS-bulk": over TCP connections, one each way between a worker and
 * a server. Where the servers are is up to the job: dedicated hosts (m = n: 2n
 * machines), beside the workers, one central server, hosts shared with other jobs.
 *
 * Modelled: a tensor is cut into m shards of contiguous elements, a shard into
 * blocks; when the last worker's copy of a block has been added, the server sends
 * the sum to every worker, while later blocks still come in. Bytes between a worker
 * and a server form one stream, so connections stay warm; loss and order are the
 * transport's business. Adding takes the host's reduction rate (reducer.h). What a
 * worker on the server's own host sends and gets takes no network and no time.
 * Simplified: no message headers, no CPU per packet. An empty shard (a tensor with
 * fewer elements than servers) is one block of one byte, as a message without
 * payload would still cost a packet.
 * Left open, and our reading:
 * - the order of pushing: shards from number (rank mod m) on, and the NIC's turns
 *   interleave them packet by packet, so that at any time the workers send to
 *   different servers. One whole shard after the other would be completed by the
 *   last worker only, at the end: nothing would overlap with the way back;
 * - the order of the n copies of a result: workers from number (server mod n) on;
 * - how far a worker runs ahead: `credit` blocks a server, the last of which may be
 *   pushed when the first has come back.
 *
 * SwitchML's own benchmark program, which has the same load per link but SwitchML's
 * packets and slots, is ina/ps_stream.c. */
#include "collective/collective.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define ELEMENT_BYTES   4
#define RING_FIRST      16 /* entries of a server's rings at first; a power of two */
#define CONNECTIONS_MAX (UINT64_C(1) << 24) /* of a job: what their keys have room for */

struct ps_conf {
	int transport;
	bytes block;
	int64_t credit; /* 0 = without limit */
	int64_t ack_every;
};

static const struct conf_row ps_rows[] = {
	{ .name = "transport",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct ps_conf, transport),
	  .choices = cc_names,
	  .def = "\"dctcp\"",
	  .help = "Congestion control of the connections.",
	  .source = "our choice: as the ring" },
	{ .name = "ps_block",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct ps_conf, block),
	  .min = 4,
	  .max = UINT64_C(1) << 40,
	  .def = "\"64kB\"",
	  .help = "A server sends a sum back in blocks of this size, in whole 4-byte elements.",
	  .source = "our choice" },
	{ .name = "credit",
	  .type = CONF_INT,
	  .offset = offsetof(struct ps_conf, credit),
	  .imin = 0,
	  .imax = 1000000000,
	  .def = "4",
	  .help = "Blocks that a worker has pushed to a server and not got back at most; 0: no "
		  "limit. With 1, push and pull take turns; with many, connections that TCP "
		  "favours run ahead of those that complete the sums.",
	  .source = "our choice" },
	{ .name = "ack_every",
	  .type = CONF_INT,
	  .offset = offsetof(struct ps_conf, ack_every),
	  .imin = 1,
	  .imax = 64,
	  .def = "2",
	  .help = "Segments per ACK: ACKs of one direction share links with data of the other.",
	  .source = "RFC 5681 section 4.2: an ACK at least for every second full-sized segment" },
	{ 0 },
};
extern const struct conf_table ps_table; /* named by ina/schemes.c */
const struct conf_table ps_table = { "ps", ps_rows, sizeof(struct ps_conf),
				     "Parameter servers over TCP." };

struct ps_scheme {
	struct model_env env;
	const struct ps_conf *conf;
	uint64_t block; /* bytes of a whole block: whole elements */
};

/* Where a stream of blocks is: the next block of one server's shards, tensor by tensor. */
struct cursor {
	uint64_t tensor, block; /* the block's number within its shard */
	uint64_t number;        /* over all tensors, from 0 */
	uint64_t bytes;         /* of all blocks before */
};

/* One direction between a worker and a server. */
struct stream {
	struct ps *ps;
	uint32_t worker, server;
	uint32_t conn;               /* not used when both are on one host */
	bool local;                  /* both are on one host */
	bool pushing;                /* in push_more() */
	struct cursor written, next; /* at the sender; at the receiver */
};

/* A block at its server, from the first copy of it until all workers have the sum. */
struct block {
	uint64_t sum;
	uint32_t copies;    /* added */
	uint32_t delivered; /* workers that have the sum */
};

/* A copy that waits for the host to add it. */
struct copy {
	sim_time due;
	uint32_t worker;
};

struct server {
	struct ps *ps;
	uint32_t number, host;
	uint64_t sent;        /* blocks whose sum has been sent, from 0 on */
	uint64_t oldest;      /* block that is not at all workers yet */
	uint64_t begun;       /* blocks of which a copy has been added, from 0 on */
	uint64_t *added;      /* blocks added, by worker */
	struct block *blocks; /* ring by number, from `oldest` to `begun` */
	uint64_t block_mask;  /* its capacity - 1 */
	struct copy *queue;   /* ring of waiting copies, in the order of their times */
	uint64_t queue_first, queue_end, queue_mask;
	struct timer timer; /* for the first of them */
};

struct ps_worker {
	uint64_t contributed; /* tensors handed over */
	uint64_t held;        /* tensors whose sum is here, from 0 on */
	uint32_t behind;      /* servers that still owe a part of tensor `held` */
};

struct ps {
	struct ps_scheme *scheme;
	struct collective_job job;
	struct exact exact;
	struct server *servers;
	struct ps_worker *workers;
	struct stream *push, *pull; /* [worker * servers + server] */
	bytes *sizes;               /* of the tensors handed over by anybody so far */
	size_t tensors, capacity;
};

/* --- shards and blocks --- */

/* Shard q of a tensor with E elements: those from floor(qE/m) to floor((q+1)E/m). */
static uint64_t shard_bytes(const struct ps *ps, uint32_t server, uint64_t tensor)
{
	uint64_t elements = (ps->sizes[tensor] + ELEMENT_BYTES - 1) / ELEMENT_BYTES;
	uint64_t m = ps->job.servers;
	uint64_t begin = (uint64_t)((unsigned __int128)elements * server / m);
	uint64_t end = (uint64_t)((unsigned __int128)elements * (server + 1) / m);

	return end > begin ? ELEMENT_BYTES * (end - begin) : 1;
}

/* Bytes of its shard from the cursor on; its tensor has been handed over. */
static uint64_t bytes_left(const struct ps *ps, uint32_t server, const struct cursor *at)
{
	return shard_bytes(ps, server, at->tensor) - at->block * ps->scheme->block;
}

static uint64_t block_bytes(const struct ps *ps, uint32_t server, const struct cursor *at)
{
	uint64_t left = bytes_left(ps, server, at);

	return left < ps->scheme->block ? left : ps->scheme->block;
}

/* Past a block; true when it was the last of its shard. */
static bool advance(const struct ps *ps, uint32_t server, struct cursor *at)
{
	bool last = bytes_left(ps, server, at) <= ps->scheme->block;

	at->bytes += block_bytes(ps, server, at);
	at->number++;
	at->block = last ? 0 : at->block + 1;
	at->tensor += last;
	return last;
}

static uint64_t block_name(uint32_t server, uint64_t number)
{
	return (uint64_t)server << 40 | number;
}

/* --- streams --- */

static struct stream *stream_of(struct stream *streams, const struct ps *ps, uint32_t worker,
				uint32_t server)
{
	return &streams[(size_t)worker * ps->job.servers + server];
}

/* The sender writes its next block. */
static void write_block(struct stream *stream)
{
	uint64_t size = block_bytes(stream->ps, stream->server, &stream->written);

	if (!stream->local)
		tcp_write(stream->ps->scheme->env.tcp, stream->conn, size);
	advance(stream->ps, stream->server, &stream->written);
}

/* Whether the next block is here; if not, but it has been written, its end is waited for. */
static bool has_block(const struct stream *stream)
{
	struct tcp *tcp = stream->ps->scheme->env.tcp;
	uint64_t end;

	if (stream->next.number == stream->written.number || stream->local)
		return stream->next.number < stream->written.number;
	end = stream->next.bytes + block_bytes(stream->ps, stream->server, &stream->next);
	if (tcp_delivered(tcp, stream->conn) >= end)
		return true;
	tcp_expect(tcp, stream->conn, end);
	return false;
}

/* --- at workers --- */

/* The next block's gradients are here, and the credit covers it. */
static bool may_push(const struct stream *push)
{
	const struct ps *ps = push->ps;
	const struct stream *pull = stream_of(ps->pull, ps, push->worker, push->server);
	uint64_t credit = (uint64_t)ps->scheme->conf->credit;

	return push->written.tensor < ps->workers[push->worker].contributed &&
	       (!credit || push->written.number - pull->next.number < credit);
}

static void wrong_sum(const struct stream *stream)
{
	const struct ps *ps = stream->ps;

	checks_violated(ps->exact.checks, &ps->exact.checks->exact_violations,
			"ps of job %" PRIu32 ": wrong sum of block %" PRIu64 " of server %" PRIu32
			" at worker %" PRIu32 " at %.9f s",
			ps->job.number, stream->next.number, stream->server, stream->worker,
			seconds_of(ps->scheme->env.sim->now));
	sim_stop(ps->scheme->env.sim);
}

/* A server has sent all of its part of a tensor. It sends tensor by tensor, so they become
 * complete in their order. done() may hand over the next tensor, and so come back here. */
static void shard_done(struct ps *ps, uint32_t w, uint64_t tensor)
{
	struct ps_worker *worker = &ps->workers[w];

	if (tensor != worker->held || --worker->behind)
		return;
	while (!worker->behind) {
		worker->held++;
		for (uint32_t q = 0; q < ps->job.servers; q++)
			worker->behind +=
				stream_of(ps->pull, ps, w, q)->next.tensor == worker->held;
		ps->job.done(ps->job.owner, w, worker->held - 1);
	}
}

static void push_more(struct stream *push);

/* Takes the sums that have come. */
static void pull_next(struct stream *stream)
{
	struct ps *ps = stream->ps;
	struct server *server = &ps->servers[stream->server];

	while (has_block(stream)) {
		uint64_t number = stream->next.number, tensor = stream->next.tensor;
		struct block *block = &server->blocks[number & server->block_mask];

		if (!exact_holds(&ps->exact, block_name(stream->server, number), block->sum)) {
			wrong_sum(stream);
			return;
		}
		if (++block->delivered == ps->job.workers) {
			SIM_BUG_ON(number != server->oldest); /* streams keep the order */
			server->oldest++;
		}
		if (advance(ps, stream->server, &stream->next))
			shard_done(ps, stream->worker, tensor);
	}
	push_more(stream_of(ps->push, ps, stream->worker, stream->server));
}

/* --- at servers --- */

/* All copies of the next block are in: n unicasts. */
static void send_sum(struct server *server)
{
	struct ps *ps = server->ps;
	uint32_t n = ps->job.workers;

	server->sent++;
	for (uint32_t i = 0; i < n; i++)
		write_block(stream_of(ps->pull, ps, (server->number + i) % n, server->number));
	for (uint32_t i = 0; i < n; i++)
		pull_next(stream_of(ps->pull, ps, (server->number + i) % n, server->number));
}

static void reserve_block(struct server *server)
{
	uint64_t mask = 2 * server->block_mask + 1;
	struct block *larger;

	if (server->begun - server->oldest <= server->block_mask)
		return;
	larger = xcalloc(mask + 1, sizeof(*larger));
	for (uint64_t b = server->oldest; b < server->begun; b++)
		larger[b & mask] = server->blocks[b & server->block_mask];
	free(server->blocks);
	server->blocks = larger;
	server->block_mask = mask;
}

/* A worker's copy of its next block is added. */
static void add(struct server *server, uint32_t worker)
{
	struct ps *ps = server->ps;
	uint64_t number = server->added[worker]++;
	struct block *block;

	if (number == server->begun) {
		reserve_block(server);
		server->blocks[server->begun++ & server->block_mask] = (struct block){ 0 };
	}
	block = &server->blocks[number & server->block_mask];
	block->sum += exact_contribution(&ps->exact, worker, block_name(server->number, number));
	if (++block->copies == ps->job.workers)
		send_sum(server);
}

static void reserve_copy(struct server *server)
{
	uint64_t mask = 2 * server->queue_mask + 1;
	struct copy *larger;

	if (server->queue_end - server->queue_first <= server->queue_mask)
		return;
	larger = xcalloc(mask + 1, sizeof(*larger));
	for (uint64_t i = server->queue_first; i < server->queue_end; i++)
		larger[i & mask] = server->queue[i & server->queue_mask];
	free(server->queue);
	server->queue = larger;
	server->queue_mask = mask;
}

static void on_added(struct sim *sim, uint32_t entity, void *owner)
{
	struct server *server = owner;
	struct copy copy = server->queue[server->queue_first++ & server->queue_mask];

	(void)entity;
	if (server->queue_first < server->queue_end)
		timer_set(sim, &server->timer,
			  server->queue[server->queue_first & server->queue_mask].due);
	add(server, copy.worker);
}

/* A worker's copy of a block has come, and is added when the host gets to it. */
static void receive_copy(struct server *server, uint32_t worker, uint64_t size)
{
	const struct model_env *env = &server->ps->scheme->env;
	sim_time due = reducers_add(env->reducers, server->host, env->sim->now, size);

	if (!env->reducers->rate) {
		add(server, worker);
		return;
	}
	reserve_copy(server);
	if (server->queue_first == server->queue_end)
		timer_set(env->sim, &server->timer, due);
	server->queue[server->queue_end++ & server->queue_mask] =
		(struct copy){ .due = due, .worker = worker };
}

/* Takes the copies that have come. */
static void push_next(struct stream *stream)
{
	struct ps *ps = stream->ps;

	while (has_block(stream)) {
		uint64_t size = block_bytes(ps, stream->server, &stream->next);

		advance(ps, stream->server, &stream->next);
		receive_copy(&ps->servers[stream->server], stream->worker, size);
	}
}

/* Pushes what the credit allows. On one host that completes sums at once, whose arrival gives new
 * credit: that comes back here, and is left to the loop. */
static void push_more(struct stream *push)
{
	if (push->pushing)
		return;
	push->pushing = true;
	while (may_push(push)) {
		write_block(push);
		push_next(push);
	}
	push->pushing = false;
}

static void on_pushed(void *owner, uint64_t total)
{
	(void)total;
	push_next(owner);
}

static void on_pulled(void *owner, uint64_t total)
{
	(void)total;
	pull_next(owner);
}

static const struct tcp_app push_app = { .delivered = on_pushed };
static const struct tcp_app pull_app = { .delivered = on_pulled };

/* --- the interface --- */

/* As many as workers: S19 section 5.3. */
static uint32_t ps_servers(uint32_t workers)
{
	return workers;
}

/* A gradient from each worker and a sum to each; beside a worker, a server's own shard
 * stays on the host both ways: together, one gradient and one sum. */
static double ps_injected(uint32_t workers, bool beside)
{
	return 2 * ((double)workers - beside);
}

static void ps_check(const void *conf, const struct topology_conf *topology, struct conf_doc *doc)
{
	(void)conf, (void)topology, (void)doc; /* the rows say it all */
}

static void *ps_open(const struct model_env *env, const void *conf)
{
	struct ps_scheme *scheme = xcalloc(1, sizeof(*scheme));

	scheme->env = *env;
	scheme->conf = conf;
	scheme->block = scheme->conf->block / ELEMENT_BYTES * ELEMENT_BYTES;
	return scheme;
}

/* `number` of the connection in its job; the key is apart from those of flows and rings. */
static uint64_t connection_key(const struct ps *ps, uint64_t number)
{
	return UINT64_C(1) << 49 | (uint64_t)ps->job.number << 24 | number;
}

/* Of a connection in its job. */
static uint64_t stream_number(const struct ps *ps, uint32_t w, uint32_t q, bool push)
{
	return 2 * ((uint64_t)w * ps->job.servers + q) + push;
}

static void open_stream(struct ps *ps, uint32_t w, uint32_t q, bool push)
{
	const struct ps_scheme *scheme = ps->scheme;
	struct stream *stream = stream_of(push ? ps->push : ps->pull, ps, w, q);
	uint32_t worker = ps->job.hosts[w], server = ps->job.server_hosts[q];
	uint64_t number = stream_number(ps, w, q, push);

	*stream = (struct stream){ .ps = ps, .worker = w, .server = q, .local = worker == server };
	if (stream->local)
		return;
	stream->conn = tcp_open(scheme->env.tcp, push ? worker : server, push ? server : worker,
				cc_kind((unsigned)scheme->conf->transport),
				(uint32_t)scheme->conf->ack_every, connection_key(ps, number),
				push ? &push_app : &pull_app, stream);
}

static void open_server(struct ps *ps, uint32_t q)
{
	struct server *server = &ps->servers[q];
	uint64_t key = UINT64_C(3) << 53 | (uint64_t)ps->job.number << 24 | q;

	*server = (struct server){ .ps = ps,
				   .number = q,
				   .host = ps->job.server_hosts[q],
				   .block_mask = RING_FIRST - 1,
				   .queue_mask = RING_FIRST - 1 };
	server->added = xcalloc(ps->job.workers, sizeof(*server->added));
	server->blocks = xcalloc(RING_FIRST, sizeof(*server->blocks));
	server->queue = xcalloc(RING_FIRST, sizeof(*server->queue));
	timer_open(ps->scheme->env.sim, &server->timer, SIM_TIMER, sim_key(SIM_TIMER, key),
		   on_added, server);
	sim_name(ps->scheme->env.sim, on_added, "a block is added up at server %w of job %j");
}

static void *ps_start(void *self, const struct collective_job *job, const char **never)
{
	struct ps_scheme *scheme = self;
	uint64_t streams = (uint64_t)job->workers * job->servers;
	struct ps *ps;

	*never = 2 * streams < CONNECTIONS_MAX ? NULL : "more than 2^24 connections";
	if (*never)
		return NULL;
	ps = xcalloc(1, sizeof(*ps));
	ps->scheme = scheme;
	ps->job = *job;
	exact_init(&ps->exact, scheme->env.checks, scheme->env.sim->seed, job->number,
		   job->workers);
	ps->servers = xcalloc(job->servers, sizeof(*ps->servers));
	ps->workers = xcalloc(job->workers, sizeof(*ps->workers));
	ps->push = xcalloc(streams, sizeof(*ps->push));
	ps->pull = xcalloc(streams, sizeof(*ps->pull));
	for (uint32_t q = 0; q < job->servers; q++)
		open_server(ps, q);
	for (uint32_t w = 0; w < job->workers; w++) {
		ps->workers[w].behind = job->servers;
		for (uint32_t q = 0; q < job->servers; q++) {
			open_stream(ps, w, q, true);
			open_stream(ps, w, q, false);
		}
	}
	return ps;
}

/* --- as a plan --- */

/* The longest ways of a job's connections. */
struct ps_ways {
	struct plan_way push, pull, round_trip;
};

/* One direction between a worker and a server. */
static void plan_connection(const struct ps *ps, uint32_t w, uint32_t q, bool push,
			    struct plan_stream *stream, struct ps_ways *ways)
{
	const struct model_env *env = &ps->scheme->env;
	uint64_t key = connection_key(ps, stream_number(ps, w, q, push));
	uint32_t from = push ? ps->job.hosts[w] : ps->job.server_hosts[q];
	uint32_t to = push ? ps->job.server_hosts[q] : ps->job.hosts[w];
	uint32_t ports[ROUTE_MAX + 1];
	struct plan_way way;
	struct route route;

	if (from == to)
		return;
	tcp_route(env->tcp, from, to, key, false, &route);
	plan_add_route(stream, env->topo, from, &route, 1);
	way = plan_path(&env->topo->net, ports, topology_path(env->topo, from, &route, ports),
			stream->packets.payload + TCP_OVERHEAD);
	plan_way_longest(push ? &ways->push : &ways->pull, &way);
	way = plan_tcp_round_trip(env->tcp, env->topo, from, to, key);
	plan_way_longest(&ways->round_trip, &way);
}

/* What each stage takes: seconds per byte of a stream. */
struct ps_stages {
	double push, adding, pull;
};

/* The busiest stage rests while the first block is in those before it, and while the last is in
 * those behind it. A link that is busiest by carrying both ways never rests: it pushes later blocks
 * or pulls earlier ones. `together`: what the busiest takes. Where two are equally busy, the one
 * that rests longer decides. */
static struct plan_blocks blocks_of(bytes size, const struct ps_stages *stages, double together)
{
	double busy = together * (1 - 1e-9);
	struct plan_blocks rests[] = {
		{ .first = stages->push + stages->adding },
		{ .first = stages->push, .last = stages->pull },
		{ .last = stages->adding + stages->pull },
	};
	bool busiest[] = { stages->pull >= busy, stages->adding >= busy, stages->push >= busy };
	struct plan_blocks longest = { .size = size };

	for (size_t i = 0; i < 3; i++) {
		if (!busiest[i] || rests[i].first + rests[i].last <= longest.first + longest.last)
			continue;
		longest.first = rests[i].first;
		longest.last = rests[i].last;
	}
	return longest;
}

/* All shards go at one rate, both ways: first that of push and pull by themselves, then that of all
 * together. `cap`: of a connection. */
static void plan_both_ways(const struct ps_scheme *scheme, struct plan_stream ways[2], double cap,
			   double adding, struct stream_plan *plan)
{
	const struct network *net = &scheme->env.topo->net;
	struct plan_stream *stream = &plan->streams[0];
	struct ps_stages stages;

	for (size_t i = 0; i < 2; i++) {
		ways[i].cap = cap;
		for (size_t l = 0; l < ways[i].count; l++)
			plan_add(stream, ways[i].links[l].link, ways[i].links[l].weight);
	}
	stream->cap = fmin(cap, adding);
	plan_close(plan);
	stages = (struct ps_stages){ .push = 1 / plan_alone(&ways[0], net),
				     .adding = 1 / adding,
				     .pull = 1 / plan_alone(&ways[1], net) };
	plan->blocks = blocks_of(scheme->block, &stages, 1 / plan_alone(stream, net));
}

static void *ps_plan(void *self, const struct collective_job *job, struct stream_plan *plan,
		     const char **never)
{
	struct ps_scheme *scheme = self;
	const struct model_env *env = &scheme->env;
	const struct network *net = &env->topo->net;
	struct plan_growth growth = plan_tcp_growth(env->tcp);
	struct ps ps = { .scheme = scheme, .job = *job };
	struct ps_ways ways = { 0 };
	struct plan_packets *packets;
	struct stream_plan apart; /* push, pull */

	*never = NULL;
	plan_init(plan, 1);
	packets = &plan->streams[0].packets;
	*packets = plan_tcp_packets(env->tcp, net, (uint32_t)scheme->conf->ack_every);
	packets->fraction = 1.0 / job->servers;
	plan_init(&apart, 2);
	apart.streams[0].packets = apart.streams[1].packets = *packets;
	for (uint32_t w = 0; w < job->workers; w++) {
		for (uint32_t q = 0; q < job->servers; q++) {
			plan_connection(&ps, w, q, true, &apart.streams[0], &ways);
			plan_connection(&ps, w, q, false, &apart.streams[1], &ways);
		}
	}
	plan_close(&apart);
	plan_both_ways(scheme, apart.streams,
		       plan_tcp_cap(env->tcp, packets, &ways.round_trip,
				    (uint32_t)scheme->conf->ack_every),
		       plan_reducer_rate(packets, env->reducers, job->workers), plan);
	plan_release(&apart);
	plan->latency = plan_way_latency(&ways.push) + plan_way_latency(&ways.pull);
	plan->lead = plan_lead(packets, &growth, plan_alone(&plan->streams[0], net),
			       ways.round_trip.sum, INFINITY);
	return scheme;
}

static void ps_withdraw(void *admitted)
{
	(void)admitted; /* it holds nothing */
}

static void ps_contribute(void *instance, uint32_t w, bytes size)
{
	struct ps *ps = instance;
	uint32_t m = ps->job.servers;
	uint64_t tensor = ps->workers[w].contributed;

	if (tensor == ps->tensors) {
		ps->sizes =
			array_reserve(ps->sizes, ps->tensors, &ps->capacity, sizeof(*ps->sizes));
		ps->sizes[ps->tensors++] = size;
	}
	SIM_BUG_ON(ps->sizes[tensor] != size); /* one order at all workers */
	ps->workers[w].contributed++;
	for (uint32_t i = 0; i < m; i++)
		push_more(stream_of(ps->push, ps, w, (w + i) % m));
}

static void ps_finish(void *instance)
{
	struct ps *ps = instance;
	struct tcp *tcp = ps->scheme->env.tcp;

	for (size_t i = 0; i < (size_t)ps->job.workers * ps->job.servers; i++) {
		if (ps->push[i].local)
			continue;
		tcp_close(tcp, ps->push[i].conn);
		tcp_close(tcp, ps->pull[i].conn);
	}
	for (uint32_t q = 0; q < ps->job.servers; q++) {
		timer_close(ps->scheme->env.sim, &ps->servers[q].timer);
		free(ps->servers[q].added);
		free(ps->servers[q].blocks);
		free(ps->servers[q].queue);
	}
	exact_release(&ps->exact);
	free(ps->servers);
	free(ps->workers);
	free(ps->push);
	free(ps->pull);
	free(ps->sizes);
	free(ps);
}

static void ps_stats(const void *instance, struct collective_stats *stats)
{
	const struct ps *ps = instance;
	const struct tcp *tcp = ps->scheme->env.tcp;

	for (size_t i = 0; i < (size_t)ps->job.workers * ps->job.servers; i++) {
		const struct tcp_stats *push, *pull;

		if (ps->push[i].local)
			continue;
		push = tcp_stats(tcp, ps->push[i].conn);
		pull = tcp_stats(tcp, ps->pull[i].conn);
		stats->retransmissions += push->retransmissions + pull->retransmissions;
		stats->timeouts += push->timeouts + pull->timeouts;
	}
}

static void ps_report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct ps *ps = instance;

	for (uint32_t w = 0; w < ps->job.workers && limit; w++) {
		const struct ps_worker *worker = &ps->workers[w];

		if (worker->held == worker->contributed)
			continue;
		for (uint32_t q = 0; q < ps->job.servers && limit; q++) {
			const struct stream *pull = stream_of(ps->pull, ps, w, q);
			const struct server *server = &ps->servers[q];

			if (pull->next.tensor != worker->held)
				continue;
			fprintf(to,
				"  ps of job %" PRIu32 ": worker %" PRIu32 " (h%" PRIu32
				") waits for block %" PRIu64 " of server %" PRIu32 " (h%" PRIu32
				"), which has sent %" PRIu64 " and has %" PRIu64
				" of this worker\n",
				ps->job.number, w, ps->job.hosts[w], pull->next.number, q,
				server->host, server->sent, server->added[w]);
			limit--;
			break;
		}
	}
}

const struct collective_ops ps_collective = {
	.name = "ps",
	.help = "parameter servers over TCP connections: dedicated, shared, or beside workers",
	.table = &ps_table,
	.servers = ps_servers,
	.injected = ps_injected,
	.check = ps_check,
	.open = ps_open,
	.close = free,
	.start = ps_start,
	.contribute = ps_contribute,
	.finish = ps_finish,
	.plan = ps_plan,
	.withdraw = ps_withdraw,
	.stats = ps_stats,
	.report_waiting = ps_report_waiting,
};
