/* Parameter servers: workers push their gradients to m servers, which add them up and send the sums
 * back (Li et al., OSDI 2014; Sapio et al., "SwitchML", sections 2.1 and 5.3), over one connection
 * each way between a worker and a server. The job decides on which hosts the servers are.
 *
 * Modelled: a tensor is cut into m shards of contiguous elements, a shard into blocks. When the
 * last worker's copy of a block has been added, the server sends the sum to every worker, while
 * later blocks still arrive. Connections stay open for the whole job; the transport repairs loss
 * and keeps the order. The host adds at its reduction rate (reducer.h). A worker on the server's
 * host sends its shard and gets the sum in no time, without the network.
 *
 * Simplified: no message headers, no CPU time per packet. An empty shard (a tensor with fewer
 * elements than servers) is one block of one byte, as a message without payload costs a packet.
 *
 * The papers leave these points open; our reading:
 * - order of pushing: a worker begins with shard (rank mod m), and its NIC interleaves the shards
 *   packet by packet. If workers pushed one whole shard after the other, every shard would be the
 *   last one of some worker, so pushing would not overlap with pulling;
 * - order of the n copies of a result: worker (server mod n) comes first;
 * - how far a worker runs ahead: at most `credit` blocks per server wait for their sums.
 *
 * SwitchML's own benchmark program, with the same load per link but SwitchML's packets and slots,
 * is models/ina/switchml/ps_stream.c. */
#include "collective/ps.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <inttypes.h>
#include <stdlib.h>

#define CONNECTIONS_MAX (UINT64_C(1) << 24) /* of a job; their keys have 24 bits for a number */

static const struct conf_row ps_rows[] = {
	CONF_ENUM("transport", struct ps_conf, transport, "dctcp", transport_names,
		  "Transport of the connections (inasim list transports).",
		  "our choice: as the ring"),
	CONF_BYTES("ps_block", struct ps_conf, block, "64kB", 4, UINT64_C(1) << 40,
		   "A server sends a sum back in blocks of this size, in whole 4-byte elements.",
		   "our choice"),
	CONF_INT("credit", struct ps_conf, credit, "4", 0, 1000000000,
		 "Most blocks that a worker may have pushed to a server without having their sums; "
		 "0: no limit. With 1, push and pull take turns; with many, connections that TCP "
		 "favours run ahead of those that complete the sums.",
		 "our choice"),
	CONF_INT("ack_every", struct ps_conf, ack_every, "2", 1, 64,
		 "Segments per ACK. ACKs of one direction share links with data of the other.",
		 "RFC 5681 section 4.2: an ACK at least for every second full-sized segment"),
	{ 0 },
};
extern const struct conf_table ps_table; /* named by collective/schemes.c */
const struct conf_table ps_table = { "ps", ps_rows, sizeof(struct ps_conf),
				     "Parameter servers over TCP or RoCE." };

/* --- blocks of shards --- */

uint64_t ps_bytes_left(const struct ps *ps, uint32_t server, const struct cursor *at)
{
	return tensor_parts(ps->sizes.of[at->tensor], server, server + 1, ps->job.servers) -
	       at->block * ps->scheme->block;
}

static uint64_t block_bytes(const struct ps *ps, uint32_t server, const struct cursor *at)
{
	uint64_t left = ps_bytes_left(ps, server, at);

	return left < ps->scheme->block ? left : ps->scheme->block;
}

/* Moves the cursor past its block. Returns whether the block was the last one of its shard. */
static bool pass_block(const struct ps *ps, uint32_t server, struct cursor *at)
{
	bool last = ps_bytes_left(ps, server, at) <= ps->scheme->block;

	at->bytes += block_bytes(ps, server, at);
	at->number++;
	at->block = last ? 0 : at->block + 1;
	at->tensor += last;
	return last;
}

/* --- streams --- */

static void write_block(struct stream *stream)
{
	uint64_t size = block_bytes(stream->ps, stream->server, &stream->to_write);

	if (!stream->local)
		connection_write(&stream->conn, size);
	pass_block(stream->ps, stream->server, &stream->to_write);
}

/* Whether the next block has arrived. If it is in flight, the connection calls back later. */
static bool has_block(const struct stream *stream)
{
	uint64_t end;

	if (stream->next.number == stream->to_write.number)
		return false;
	if (stream->local)
		return true;
	end = stream->next.bytes + block_bytes(stream->ps, stream->server, &stream->next);
	if (connection_delivered(&stream->conn) >= end)
		return true;
	connection_expect(&stream->conn, end);
	return false;
}

/* --- at workers --- */

/* Whether the gradients of the next block are ready and the credit allows one more block. */
static bool may_push(const struct stream *push)
{
	const struct ps *ps = push->ps;
	const struct stream *pull = ps_stream_of(ps->pull, ps, push->worker, push->server);
	uint64_t credit = (uint64_t)ps->scheme->conf->credit;

	return push->to_write.tensor < ps->workers[push->worker].contributed &&
	       (!credit || push->to_write.number - pull->next.number < credit);
}

static void wrong_sum(const struct stream *stream)
{
	const struct ps *ps = stream->ps;

	checks_violated(ps->exact.checks, &ps->exact.checks->exact_violations,
			"ps of job %" PRIu32 ": wrong sum of block %" PRIu64 " of server %" PRIu32
			" at worker %" PRIu32 " at %.9f s",
			collective_job_number(&ps->job), stream->next.number, stream->server,
			stream->worker, seconds_of(ps->scheme->env.sim->now));
	sim_stop(ps->scheme->env.sim);
}

/* A worker has a whole shard. A server's shards come tensor by tensor, so tensors become complete
 * in their order. done() may hand over the next tensor and thereby call this function again. So all
 * state is up to date before done(), and the inner call may continue the work of this loop. */
static void shard_done(struct ps *ps, uint32_t w, uint64_t tensor)
{
	struct ps_worker *worker = &ps->workers[w];

	if (tensor != worker->held)
		return; /* shards of an earlier tensor are missing */
	if (--worker->behind)
		return;
	while (!worker->behind) { /* the next tensor may be complete, too */
		worker->held++;
		for (uint32_t q = 0; q < ps->job.servers; q++)
			worker->behind +=
				ps_stream_of(ps->pull, ps, w, q)->next.tensor == worker->held;
		ps->job.done(ps->job.owner, w, worker->held - 1);
	}
}

static void push_more(struct stream *push);

static void receive_sums(struct stream *stream)
{
	struct ps *ps = stream->ps;
	struct server *server = &ps->servers[stream->server];

	while (has_block(stream)) {
		uint64_t number = stream->next.number, tensor = stream->next.tensor;

		if (!exact_holds(&ps->exact, ps_block_name(stream->server, number),
				 ps_server_sum(server, number))) {
			wrong_sum(stream);
			return;
		}
		ps_server_delivered(server, number);
		if (pass_block(ps, stream->server, &stream->next))
			shard_done(ps, stream->worker, tensor);
	}
	push_more(ps_stream_of(ps->push, ps, stream->worker, stream->server));
}

/* --- at servers --- */

void ps_sum_ready(struct server *server)
{
	struct ps *ps = server->ps;
	uint32_t n = ps->job.workers;

	server->sent++;
	/* send to all workers before any of them receives, which may complete the next sum */
	for (uint32_t i = 0; i < n; i++)
		write_block(ps_stream_of(ps->pull, ps, (server->number + i) % n, server->number));
	if (!server->number && server->sent >= ps->mark)
		ps_mark(ps);
	for (uint32_t i = 0; i < n; i++)
		receive_sums(ps_stream_of(ps->pull, ps, (server->number + i) % n, server->number));
}

static void receive_copies(struct stream *stream)
{
	struct ps *ps = stream->ps;

	while (has_block(stream)) {
		uint64_t size = block_bytes(ps, stream->server, &stream->next);

		pass_block(ps, stream->server, &stream->next);
		ps_server_receive(&ps->servers[stream->server], stream->worker, size);
	}
}

/* Pushes as many blocks as the credit allows. On one host a push may complete a sum at once, which
 * calls this function again. The inner call leaves the new credit to the loop of the outer one. */
static void push_more(struct stream *push)
{
	if (push->pushing)
		return;
	push->pushing = true;
	while (may_push(push)) {
		write_block(push);
		receive_copies(push);
	}
	push->pushing = false;
}

static void on_pushed(void *owner, uint64_t total)
{
	(void)total;
	receive_copies(owner);
}

static void on_pulled(void *owner, uint64_t total)
{
	(void)total;
	receive_sums(owner);
}

static const struct tcp_app push_app = { .delivered = on_pushed, .repeats = true };
static const struct tcp_app pull_app = { .delivered = on_pulled, .repeats = true };

/* --- the interface --- */

/* As many as workers: SwitchML (2019), section 5.3. */
static uint32_t ps_servers(uint32_t workers)
{
	return workers;
}

/* One gradient from each worker and one sum to each. With `beside`, each shard's server shares the
 * host of one worker, whose copy stays there: in total one gradient and one sum less. */
static double ps_injected(uint32_t workers, uint32_t gpus, bool beside)
{
	(void)gpus;
	return 2 * ((double)workers - beside);
}

static const struct transport *ps_transport(const void *conf)
{
	return transport_kind((unsigned)((const struct ps_conf *)conf)->transport);
}

static void *ps_open(const struct model_env *env, const void *conf)
{
	struct ps_scheme *scheme = xcalloc(1, sizeof(*scheme));

	scheme->env = *env;
	scheme->conf = conf;
	scheme->block = scheme->conf->block / ELEMENT_BYTES * ELEMENT_BYTES;
	return scheme;
}

uint64_t ps_connection_key(const struct ps *ps, uint32_t w, uint32_t q, bool push)
{
	uint64_t number = 2 * ((uint64_t)w * ps->job.servers + q) + push;

	return connection_key(CONNECTION_PS, (uint64_t)ps->job.number << 24 | number);
}

static void open_stream(struct ps *ps, uint32_t w, uint32_t q, bool push)
{
	const struct ps_scheme *scheme = ps->scheme;
	struct stream *stream = ps_stream_of(push ? ps->push : ps->pull, ps, w, q);
	uint32_t worker = ps->job.hosts[w], server = ps->job.server_hosts[q];

	*stream = (struct stream){ .ps = ps, .worker = w, .server = q, .local = worker == server };
	if (stream->local)
		return;
	stream->conn = connection_open(
		scheme->env.tcp, scheme->env.roce,
		&(struct connection_spec){ .transport = (unsigned)scheme->conf->transport,
					   .src = push ? worker : server,
					   .dst = push ? server : worker,
					   .ack_every = (uint32_t)scheme->conf->ack_every,
					   .key = ps_connection_key(ps, w, q, push),
					   .app = push ? &push_app : &pull_app,
					   .owner = stream });
}

bool ps_refuses(const struct collective_job *job, const char **never)
{
	bool refuses = 2 * (uint64_t)job->workers * job->servers > CONNECTIONS_MAX;

	if (refuses)
		*never = "more than 2^24 connections";
	return refuses;
}

static void *ps_start(void *self, const struct collective_job *job, const char **never)
{
	struct ps_scheme *scheme = self;
	uint64_t streams = (uint64_t)job->workers * job->servers;
	struct ps *ps;

	if (ps_refuses(job, never))
		return NULL;
	ps = xcalloc(1, sizeof(*ps));
	ps->scheme = scheme;
	ps->job = *job;
	exact_init(&ps->exact, scheme->env.checks, scheme->env.sim->seed, job->number,
		   job->workers);
	ps->servers = xcalloc(job->servers, sizeof(*ps->servers));
	ps->next = scheme->jobs;
	scheme->jobs = ps;
	ps_mark_first(ps);
	ps->workers = xcalloc(job->workers, sizeof(*ps->workers));
	ps->push = xcalloc(streams, sizeof(*ps->push));
	ps->pull = xcalloc(streams, sizeof(*ps->pull));
	for (uint32_t q = 0; q < job->servers; q++)
		ps_server_open(ps, q);
	for (uint32_t w = 0; w < job->workers; w++) {
		ps->workers[w].behind = job->servers;
		for (uint32_t q = 0; q < job->servers; q++) {
			open_stream(ps, w, q, true);
			open_stream(ps, w, q, false);
		}
	}
	return ps;
}

static void ps_contribute(void *instance, uint32_t w, bytes size)
{
	struct ps *ps = instance;
	uint32_t m = ps->job.servers;

	tensor_sizes_add(&ps->sizes, ps->workers[w].contributed++, size);
	for (uint32_t i = 0; i < m; i++)
		push_more(ps_stream_of(ps->push, ps, w, (w + i) % m));
}

static void ps_finish(void *instance, bool abandoned)
{
	struct ps *ps = instance, **at = &ps->scheme->jobs;

	(void)abandoned;
	ps_mark_no_more(ps);
	while (*at != ps)
		at = &(*at)->next;
	*at = ps->next;
	for (size_t i = 0; i < (size_t)ps->job.workers * ps->job.servers; i++) {
		if (ps->push[i].local)
			continue;
		connection_close(&ps->push[i].conn);
		connection_close(&ps->pull[i].conn);
	}
	for (uint32_t q = 0; q < ps->job.servers; q++)
		ps_server_release(&ps->servers[q]);
	exact_release(&ps->exact);
	free(ps->servers);
	free(ps->workers);
	free(ps->push);
	free(ps->pull);
	free(ps->sizes.of);
	free(ps);
}

static void ps_stats(const void *instance, struct collective_stats *stats)
{
	const struct ps *ps = instance;

	for (size_t i = 0; i < (size_t)ps->job.workers * ps->job.servers; i++) {
		const struct transport_stats *push, *pull;

		if (ps->push[i].local)
			continue;
		push = connection_stats(&ps->push[i].conn);
		pull = connection_stats(&ps->pull[i].conn);
		stats->retransmissions += push->retransmissions + pull->retransmissions;
		stats->timeouts += push->timeouts + pull->timeouts;
	}
}

static size_t ps_report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct ps *ps = instance;
	size_t lines = 0;

	for (uint32_t w = 0; w < ps->job.workers && lines < limit; w++) {
		const struct ps_worker *worker = &ps->workers[w];

		if (worker->held == worker->contributed)
			continue;
		for (uint32_t q = 0; q < ps->job.servers && lines < limit; q++) {
			const struct stream *pull = ps_stream_of(ps->pull, ps, w, q);
			const struct server *server = &ps->servers[q];

			if (pull->next.tensor != worker->held)
				continue;
			fprintf(to,
				"  ps of job %" PRIu32 ": worker %" PRIu32 " (host %" PRIu32
				") waits for block %" PRIu64 " of server %" PRIu32 " (host %" PRIu32
				"), which has sent %" PRIu64 " and has %" PRIu64
				" of this worker\n",
				collective_job_number(&ps->job), w, ps->job.hosts[w],
				pull->next.number, q, server->host, server->sent, server->added[w]);
			lines++;
			break;
		}
	}
	return lines;
}

const struct collective_ops ps_collective = {
	.name = "ps",
	.help = "parameter servers over TCP or RoCE: dedicated, shared, or beside workers",
	.table = &ps_table,
	.traits.by_connections = true,
	.servers = ps_servers,
	.injected = ps_injected,
	.transport = ps_transport,
	.open = ps_open,
	.close = free,
	.start = ps_start,
	.contribute = ps_contribute,
	.finish = ps_finish,
	.plan = ps_plan,
	.withdraw = ps_withdraw,
	.traits.tolerance = { .one_switch = 0.02 },
	.stats = ps_stats,
	.repeat = ps_repeat,
	.report_waiting = ps_report_waiting,
};
