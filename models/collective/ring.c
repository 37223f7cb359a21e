/* Ring all-reduce: reduce-scatter, then all-gather, over one connection (TCP or RoCE) per
 * edge (Patarasuk and Yuan, JPDC 2009; NCCL, Horovod).
 *
 * Modelled: chunk-level dependencies without any global barrier; the bytes of
 * all steps and tensors of an edge form one stream, as in NCCL, so connections
 * stay warm; loss and order are the transport's business. Simplified: the sums
 * on hosts take no time (`step_latency` adds a constant per step). Chunks of a
 * tensor with fewer elements than ranks may be empty; such a step still sends
 * one byte, as a message without payload would still cost a packet.
 *
 *   step s of rank r, reduce-scatter: send chunk r-s, receive and add r-s-1
 *                     all-gather:     send chunk r+1-s, receive and store r-s
 */
#include "collective/ring.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <inttypes.h>
#include <stdlib.h>

enum ring_order { RING_PLACEMENT, RING_RANDOM };
static const char *const order_names[] = {
	[RING_PLACEMENT] = "placement", [RING_RANDOM] = "random", NULL
};

static const struct conf_row ring_rows[] = {
	CONF_ENUM(
		"transport", struct ring_conf, transport, "dctcp", transport_names,
		"Transport of the edges: a congestion control of TCP, or RoCE (dcqcn, roce_swift, "
		"roce).",
		"PANAMA section 7"),
	CONF_ENUM("order", struct ring_conf, order, "placement", order_names,
		  "placement: by host number, so that a rack is entered once; random: a random "
		  "cycle.",
		  "our choice (as NCCL sorts by topology)"),
	CONF_INT("ack_every", struct ring_conf, ack_every, "2", 1, 64,
		 "Segments per ACK on the edges. A rank's ACKs share its link with its own data: "
		 "an ACK for every segment costs 5.5 % of the time, for every second 2.7 %.",
		 "RFC 5681 section 4.2: an ACK at least for every second full-sized segment"),
	CONF_TIME("step_latency", struct ring_conf, step_latency, "0s", 0, PS_PER_S,
		  "Preparation of data before each step (alpha).",
		  "NetReduce table 4 has 0.1-100 us; our choice 0"),
	{ 0 },
};
extern const struct conf_table ring_table; /* named by ina/schemes.c */
const struct conf_table ring_table = { "ring", ring_rows, sizeof(struct ring_conf),
				       "Ring all-reduce over TCP or RoCE." };

/* Chunk that rank r sends in step s of a tensor. */
static uint32_t chunk_sent(const struct ring *ring, uint32_t rank, uint32_t step)
{
	uint32_t p = ring->job.workers;

	if (step < p - 1)
		return (rank + p - step) % p;
	step -= p - 1;
	return (rank + 1 + p - step) % p;
}

static uint64_t chunk_bytes(const struct ring *ring, uint64_t tensor, uint32_t chunk)
{
	return tensor_part(ring->sizes.of[tensor], chunk, ring->job.workers);
}

static uint64_t message_bytes(const struct ring *ring, uint32_t rank, uint64_t message)
{
	uint32_t steps = ring_steps(ring);

	return chunk_bytes(ring, message / steps,
			   chunk_sent(ring, rank, (uint32_t)(message % steps)));
}

static uint64_t chunk_name(const struct ring *ring, uint64_t tensor, uint32_t chunk)
{
	return tensor * ring->job.workers + chunk;
}

static struct rank *previous_rank(const struct rank *rank)
{
	uint32_t p = rank->ring->job.workers;

	return &rank->ring->ranks[(rank->number + p - 1) % p];
}

/* --- sending --- */

/* The next message may go: its tensor is here (step 0), or the chunk that it
 * carries came in with the step before. */
static bool may_send(const struct rank *rank)
{
	uint32_t steps = ring_steps(rank->ring);
	uint64_t tensor = rank->sent / steps;

	if (tensor >= rank->contributed)
		return false;
	if (rank->sent % steps)
		return rank->received >= rank->sent;
	return rank->received >= tensor * steps; /* one tensor after the other */
}

static void begin_tensor(struct rank *rank, uint64_t tensor)
{
	for (uint32_t c = 0; c < rank->ring->job.workers; c++)
		rank->chunks[c] = exact_contribution(&rank->ring->exact, rank->worker,
						     chunk_name(rank->ring, tensor, c));
}

static void expect_next(struct rank *rank);

static void write_message(struct rank *rank)
{
	struct ring *ring = rank->ring;
	uint32_t steps = ring_steps(ring), step = (uint32_t)(rank->sent % steps);

	SIM_BUG_ON(rank->sent - ring_next(rank)->received >= 2 * (uint64_t)ring->job.workers);
	if (step == 0)
		begin_tensor(rank, rank->sent / steps);
	rank->in_flight[rank->sent % (2 * ring->job.workers)] =
		rank->chunks[chunk_sent(ring, rank->number, step)];
	connection_write(&rank->conn, message_bytes(ring, rank->number, rank->sent));
	rank->sent++;
	expect_next(ring_next(rank));
}

static void send_ready(struct rank *rank)
{
	struct sim *sim = rank->ring->scheme->env.sim;

	while (!rank->preparing && may_send(rank)) {
		if (rank->ring->scheme->conf->step_latency) {
			rank->preparing = true;
			timer_set(sim, &rank->timer,
				  sim->now + rank->ring->scheme->conf->step_latency);
		} else {
			write_message(rank);
		}
	}
}

static void on_prepared(struct sim *sim, uint32_t entity, void *owner)
{
	struct rank *rank = owner;

	(void)sim, (void)entity;
	rank->preparing = false;
	write_message(rank);
	send_ready(rank);
	expect_next(rank);
}

/* --- receiving --- */

static void check_chunk(struct rank *rank, uint64_t tensor, uint32_t chunk)
{
	struct ring *ring = rank->ring;

	if (exact_holds(&ring->exact, chunk_name(ring, tensor, chunk), rank->chunks[chunk]))
		return;
	checks_violated(ring->exact.checks, &ring->exact.checks->exact_violations,
			"ring of job %" PRIu32 ": wrong sum of chunk %" PRIu32 " of tensor %" PRIu64
			" at worker %" PRIu32 " at %.9f s",
			ring->job.number, chunk, tensor, rank->worker,
			seconds_of(ring->scheme->env.sim->now));
	sim_stop(ring->scheme->env.sim);
}

static void receive_message(struct rank *rank)
{
	struct ring *ring = rank->ring;
	struct rank *from = previous_rank(rank);
	uint32_t p = ring->job.workers, steps = ring_steps(ring);
	uint64_t tensor = rank->received / steps;
	uint32_t step = (uint32_t)(rank->received % steps);
	uint32_t chunk = chunk_sent(ring, from->number, step);
	uint64_t value = from->in_flight[rank->received % (2 * p)];

	rank->stream_in += message_bytes(ring, from->number, rank->received);
	rank->received++;
	if (step < p - 1)
		rank->chunks[chunk] += value;
	else
		rank->chunks[chunk] = value;
	if (step >= p - 2)
		check_chunk(rank, tensor,
			    chunk); /* the last sum of reduce-scatter, then every copy */
	send_ready(rank);
	if (step == steps - 1)
		ring->job.done(ring->job.owner, rank->worker, tensor);
}

/* A message is taken when its tensor has begun here, so that there is something
 * to add it to; its bytes may have come earlier. */
static bool may_receive(const struct rank *rank)
{
	uint32_t steps = ring_steps(rank->ring);

	return rank->received < previous_rank(rank)->sent &&
	       rank->received / steps * steps < rank->sent;
}

static void expect_next(struct rank *rank)
{
	struct ring *ring = rank->ring;
	struct rank *from = previous_rank(rank);

	while (may_receive(rank)) {
		uint64_t end = rank->stream_in + message_bytes(ring, from->number, rank->received);

		if (connection_delivered(&from->conn) < end) {
			connection_expect(&from->conn, end);
			return;
		}
		receive_message(rank);
	}
}

static void on_delivered(void *owner, uint64_t total)
{
	struct rank *from = owner;

	(void)total;
	expect_next(ring_next(from));
}

static const struct tcp_app ring_app = { .delivered = on_delivered };

/* --- the interface --- */

static const struct transport *ring_transport(const void *conf)
{
	return transport_kind((unsigned)((const struct ring_conf *)conf)->transport);
}

static void *ring_open(const struct model_env *env, const void *conf)
{
	struct ring_scheme *scheme = xcalloc(1, sizeof(*scheme));

	scheme->env = *env;
	scheme->conf = conf;
	return scheme;
}

uint64_t ring_edge_key(const struct ring *ring, uint32_t rank)
{
	return connection_key(CONNECTION_RING, (uint64_t)ring->job.number << 20 | rank);
}

static void connect_rank(struct rank *rank)
{
	struct ring *ring = rank->ring;
	const struct model_env *env = &ring->scheme->env;
	uint32_t to = ring_next(rank)->host, p = ring->job.workers;

	rank->chunks = xcalloc(p, sizeof(*rank->chunks));
	rank->in_flight = xcalloc(2 * (size_t)p, sizeof(*rank->in_flight));
	timer_open(env->sim, &rank->timer, SIM_TIMER,
		   timer_key(TIMER_RING, ring_edge_key(ring, rank->number)), on_prepared, rank);
	sim_name(env->sim, on_prepared, "chunk ready on ring edge %n");
	rank->conn = connection_open(
		env->tcp, env->roce,
		&(struct connection_spec){ .transport = (unsigned)ring->scheme->conf->transport,
					   .src = rank->host,
					   .dst = to,
					   .ack_every = (uint32_t)ring->scheme->conf->ack_every,
					   .key = ring_edge_key(ring, rank->number),
					   .app = &ring_app,
					   .owner = rank });
}

static int by_host(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return x->host < y->host ? -1 : x->host > y->host;
}

/* Who stands where in the ring. */
static void order_ranks(struct ring *ring)
{
	const struct ring_scheme *scheme = ring->scheme;
	uint32_t p = ring->job.workers, *order = xcalloc(p, sizeof(*order));
	struct rng rng;

	for (uint32_t w = 0; w < p; w++)
		order[w] = w;
	if (scheme->conf->order == RING_RANDOM) {
		rng_init(&rng, scheme->env.sim->seed, "ring order", ring->job.number);
		rng_shuffle(&rng, order, p);
	}
	for (uint32_t r = 0; r < p; r++)
		ring->ranks[r] = (struct rank){ .ring = ring,
						.worker = order[r],
						.host = ring->job.hosts[order[r]] };
	if (scheme->conf->order == RING_PLACEMENT)
		qsort(ring->ranks, p, sizeof(*ring->ranks), by_host);
	for (uint32_t r = 0; r < p; r++) {
		ring->ranks[r].number = r;
		ring->rank_of_worker[ring->ranks[r].worker] = r;
	}
	free(order);
}

struct ring *ring_new(struct ring_scheme *scheme, const struct collective_job *job)
{
	struct ring *ring = xcalloc(1, sizeof(*ring));

	ring->scheme = scheme;
	ring->job = *job;
	exact_init(&ring->exact, scheme->env.checks, scheme->env.sim->seed, job->number,
		   job->workers);
	ring->ranks = xcalloc(job->workers, sizeof(*ring->ranks));
	ring->rank_of_worker = xcalloc(job->workers, sizeof(*ring->rank_of_worker));
	order_ranks(ring);
	return ring;
}

void ring_free(struct ring *ring)
{
	exact_release(&ring->exact);
	free(ring->ranks);
	free(ring->rank_of_worker);
	free(ring->sizes.of);
	free(ring);
}

static void *ring_start(void *self, const struct collective_job *job, const char **never)
{
	struct ring *ring = ring_new(self, job);

	*never = NULL;
	for (uint32_t r = 0; r < job->workers; r++)
		connect_rank(&ring->ranks[r]);
	return ring;
}

/* Each rank sends n - 1 chunks of S / n bytes twice. */
static double ring_injected(uint32_t workers, bool beside)
{
	(void)beside;
	return 2 * ((double)workers - 1);
}

static void ring_contribute(void *instance, uint32_t worker, bytes size)
{
	struct ring *ring = instance;
	struct rank *rank = &ring->ranks[ring->rank_of_worker[worker]];

	tensor_sizes_add(&ring->sizes, rank->contributed++, size);
	send_ready(rank);
	expect_next(rank);
}

static void ring_finish(void *instance)
{
	struct ring *ring = instance;

	for (uint32_t r = 0; r < ring->job.workers; r++) {
		connection_close(&ring->ranks[r].conn);
		timer_close(ring->scheme->env.sim, &ring->ranks[r].timer);
		free(ring->ranks[r].chunks);
		free(ring->ranks[r].in_flight);
	}
	ring_free(ring);
}

static void ring_stats(const void *instance, struct collective_stats *stats)
{
	const struct ring *ring = instance;

	for (uint32_t r = 0; r < ring->job.workers; r++) {
		const struct connection *conn = &ring->ranks[r].conn;

		stats->retransmissions += connection_retransmissions(conn);
		stats->timeouts += connection_timeouts(conn);
	}
}

static void ring_report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct ring *ring = instance;

	for (uint32_t r = 0; r < ring->job.workers && limit; r++) {
		const struct rank *rank = &ring->ranks[r];

		if (rank->received == rank->contributed * ring_steps(ring))
			continue;
		fprintf(to,
			"  ring of job %" PRIu32 ": worker %" PRIu32 " (h%" PRIu32
			") waits for message %" PRIu64 " of %" PRIu64 "\n",
			ring->job.number, rank->worker, rank->host, rank->received,
			rank->contributed * ring_steps(ring));
		limit--;
	}
}

const struct collective_ops ring_collective = {
	.name = "ring",
	.help = "ring all-reduce between hosts over TCP or RoCE",
	.table = &ring_table,
	.over_tcp = true,
	.beside = { .many = "0.9 to 1.7" },
	.injected = ring_injected,
	.transport = ring_transport,
	.open = ring_open,
	.close = free,
	.start = ring_start,
	.contribute = ring_contribute,
	.finish = ring_finish,
	.plan = ring_plan,
	.withdraw = ring_withdraw,
	.tolerance = { .one_switch = 0.02 },
	.stats = ring_stats,
	.report_waiting = ring_report_waiting,
};
