/* ATP: Lao et al., "ATP: In-network Aggregation for Multi-tenant Learning", NSDI 2021, after the
 * authors' public code and what ESA (sections 2.1, 5, 7) and NetReduce say about it. Where these
 * are silent, readings are marked below.
 *
 * Modelled: aggregators of all jobs in one hashed array per switch, first come first served; two
 * levels, the workers' racks and the server's. A complete sum goes to the parameter server and
 * stays in its aggregator until the parameter packet comes back. Packets that collide go on to the
 * server, which adds them. Retransmitted packets flush the aggregator. ECN marks survive
 * aggregation; windows are those of window.h; as an option, positions that collided get new indices
 * ("rehash").
 *
 * Simplified: a packet takes one pass of a switch's constant latency (the prototype takes two).
 * Scaling and conversion on hosts take no time. Adding at servers takes time only if the hosts'
 * reduction_rate is limited. Sums do not saturate, and nothing is resent as floating-point numbers
 * (off in the public code): payloads are sums modulo 2^64 that show their contributors. Sequence
 * numbers have 32 bits and never restart (in the public code: 16 bits, per tensor).
 *
 * A cliff is ATP's own: a chunk that collides at the switch of one rack, but not elsewhere, goes to
 * the server in part. The rest waits at level 1, without any loss, until a worker retransmits.
 * Where all chunks of the window do so, nothing overtakes them, and the job stands still for a
 * timeout; its first is 50 ms, on networks with round trips of 10 us. Leaf 0's aggregators are
 * another job's (tests/model/test_atp.c, cliff):
 *
 *     22.983 us  h3 -> leaf0   chunk 0  collides, goes on to the server
 *     23.191 us  h9 -> leaf2   chunk 0  takes the aggregator of level 1, which waits for leaf0
 *     27.775 us  leaf2 -> h8   chunk 0  the server has h3's part alone
 *       ... the same for all 32 chunks of the window ...
 *     50,023 us  both workers time out and retransmit chunk 0, whose result lets chunk 32 out. This
 *                one completes and overtakes 1 to 29, which are retransmitted at once.
 *
 * Where the window is larger than the memory has aggregators, the new chunk collides with those of
 * its own job that wait, and overtakes nothing. Then each chunk takes a timeout: three of 60 jobs
 * of a scan took 1 s with 16 KB, and 1 to 7 ms with 24. No window is so large in the public code.
 * With `index` position or such a `max_window` the jobs take 64 to 72 ms, of which 50 are the first
 * timeout; with `timeout_resends` all 6 to 8 ms. inasim warns at the end of a run if jobs stood
 * still.
 *
 * Left open, and our reading:
 * - the aggregators of a job are drawn without repetition (`index`). In the public code each
 *   position of the window gets an aggregator; here chunks take all aggregators in turn, in a
 *   random order;
 * - an aggregator is complete when its bitmap is full (the code counts packets);
 * - a sum has an ECN mark if any of its packets has, at switches and servers;
 * - a packet that collided at level 0 has the collision bit, so level 1 does not add it, either;
 * - level 1 merges a retransmitted packet only if bitmap1 can express its contributors. A packet
 *   with only some of a rack's workers goes to the server beside the sum of the aggregator;
 * - a worker retransmits, once, every chunk that lies three or more behind the newest result. After
 *   that, and for the end of the window, a timer decides;
 * - the first result ends `initial_timeout`, sample or not: the public code waits 50 ms for it, and
 *   200 us from then on;
 * - after a timeout the next result that moves the window on lets a new chunk out (window.h), as in
 *   the public code, where timeouts do not cut the window;
 * - the parameter packet is marked as retransmitted if any packet of its sum was. Then no chunk in
 *   flight is a round-trip sample (window.h);
 * - what cuts the window (`halve_on`). In the public code (common/CC_manager.h, switched off in its
 *   client) the ECN mark of one packet a window halves it; neither holes nor retransmissions count.
 *   With that rule windows grow without end where the queue is in a host's NIC, which marks
 *   nothing. Here timeouts also halve the window, and results that others overtook cut it in
 *   proportion (window.h). In another reading of the paper each of these results halves it
 *   (`loss`). With that rule workers 100 ns apart lose most of the throughput: their chunks
 *   collide, are overtaken, and halve the window without any loss;
 * - the window has no slow start (window.h) and, unless parameters set one, no upper limit (public
 *   code: 100 packets). It lasts for the life of the job and grows by all of `window_increase`. In
 *   the public code it begins anew with each tensor, and is rounded down to whole packets after
 *   each step, so that 1,500 bytes are 4 packets of 308. */
#include "ina/atp/atp.h"

#include "base/mem.h"
#include "core/rng.h"

#include <stdlib.h>
#include <string.h>

static const char *const index_names[] = { [INDEX_DISTINCT] = "distinct",
					   [INDEX_HASH] = "hash",
					   [INDEX_POSITION] = "position",
					   [INDEX_REHASH] = "rehash",
					   NULL };

static const struct conf_row atp_rows[] = {
	POOL_ROWS,
	CONF_ENUM("index", struct atp_conf, pool.index, "distinct", index_names,
		  POOL_INDEX_HELP
		  "; position: a hash drawn once for each position in the window; rehash: as "
		  "position, but the server replaces an index that collided.",
		  POOL_INDEX_SOURCE "; position, rehash: ATP's public code"),
	CONF_INT("positions", struct atp_conf, positions, "200", 1, AGGREGATORS_MAX,
		 "Positions in the window (index position, rehash), which also limit the window, "
		 "in packets.",
		 "ATP's public code as released again with A2TP"),
	CONF_TIME("idle_limit", struct atp_conf, idle_limit, CONF_OPTIONAL, PS_PER_NS,
		  1000 * PS_PER_S,
		  "A colliding packet takes an aggregator that was not used for longer than this "
		  "(of a dead job). Default: never."),
	{ 0 },
};
extern const struct conf_table atp_table; /* named by collective/schemes.c */
const struct conf_table atp_table = { "atp", atp_rows, sizeof(struct atp_conf),
				      "ATP: hashed aggregators and a parameter server." };

/* --- aggregator indices --- */

static bool by_position(const struct atp_conf *conf)
{
	return conf->pool.index == INDEX_POSITION || conf->pool.index == INDEX_REHASH;
}

static size_t atp_idle(const void *self, struct collective_idle list[COLLECTIVE_IDLE_MAX])
{
	if (by_position(self))
		return 0;
	list[0] =
		(struct collective_idle){ "positions", "\"index\" is neither position nor rehash" };
	return 1;
}

/* An index that no earlier position has: by the first salt whose hash is unused, else the next
 * unused index. */
static uint16_t draw_index(const struct pool_job *job, uint32_t position, bool *used)
{
	uint32_t index = 0, count = pool_scheme(job)->pools[0].count;

	for (uint32_t salt = 0; salt <= UINT16_MAX; salt++) {
		index = pool_index(job, position, (uint16_t)salt);
		if (!used[index])
			break;
	}
	while (used[index])
		index = (index + 1) % count;
	used[index] = true;
	return (uint16_t)index;
}

/* State of a server with index "rehash": its part of the indices that no position has yet,
 * shuffled. Each of m servers has every m-th index. */
static struct atp_server *new_server(const struct pool_server *server, const bool *used)
{
	const struct pool_job *job = server->job;
	uint32_t count = pool_scheme(job)->pools[0].count;
	struct atp_server *state = xcalloc(1, sizeof(*state));
	struct rng rng;

	state->unused = xcalloc(count, sizeof(*state->unused));
	for (uint32_t i = server->number; i < count; i += job->base.spec.servers)
		if (!used[i])
			state->unused[state->count++] = i;
	rng_init(&rng, job->base.scheme->env.sim->seed, "atp rehash",
		 (uint64_t)job->base.spec.number << 8 | server->number);
	rng_shuffle(&rng, state->unused, state->count);
	state->successor = xcalloc(count, sizeof(*state->successor));
	return state;
}

uint32_t atp_rehash(struct pool_server *server, uint16_t slot)
{
	struct atp_server *state = server->state;

	if (!state)
		return 0;
	if (!state->successor[slot] && state->next < state->count)
		state->successor[slot] = state->unused[state->next++] + 1;
	return state->successor[slot];
}

/* How many positions the window has, if indices belong to positions. Chunk p is at position
 * p mod positions. */
static uint32_t positions(const struct pool_scheme *scheme)
{
	uint32_t max = (uint32_t)((const struct atp_conf *)scheme->base.conf)->positions;

	return max < scheme->pools[0].count ? max : scheme->pools[0].count;
}

static uint16_t atp_index_of(struct pool_worker *worker, uint64_t chunk)
{
	const struct pool_job *job = pool_job(worker);
	const uint16_t *table = worker->state; /* by position */

	return table ? table[chunk % positions(pool_scheme(job))] : pool_known_index(job, chunk);
}

/* A result carries `fresh` of struct partial_sum in place of a bitmap: 0, or 1 + a new index. The
 * new index is for the next chunk at this position. No worker has sent that chunk yet, because no
 * window is larger than the number of positions. */
static void accepted(struct pool_worker *worker, uint64_t chunk, uint64_t value,
		     const struct packet *packet)
{
	uint16_t *table = worker->state;
	uint32_t fresh = pool_bitmap(packet).bits;

	(void)value;
	if (fresh)
		table[chunk % positions(pool_scheme(pool_job(worker)))] = (uint16_t)(fresh - 1);
}

/* --- jobs --- */

static void atp_start(struct pool_job *job)
{
	const struct atp_conf *conf = atp_conf(job);
	uint32_t count = positions(pool_scheme(job));
	size_t size = count * sizeof(uint16_t);
	uint16_t *first; /* by position: the workers' first indices, all different */
	bool *used;

	if (!by_position(conf))
		return;
	first = xmalloc(size);
	used = xcalloc(pool_scheme(job)->pools[0].count, sizeof(*used));
	for (uint32_t p = 0; p < count; p++)
		first[p] = draw_index(job, p, used);
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		pool_worker(job, w)->state = memcpy(xmalloc(size), first, size);
	free(first);
	for (uint32_t q = 0; q < job->base.spec.servers && conf->pool.index == INDEX_REHASH; q++)
		job->servers[q].state = new_server(&job->servers[q], used);
	free(used);
}

static void atp_release(struct pool_job *job)
{
	for (uint32_t q = 0; q < job->base.spec.servers; q++) {
		struct atp_server *server = job->servers[q].state;

		if (!server)
			continue;
		free(server->unused);
		free(server->successor);
		free(server);
	}
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		free(pool_worker(job, w)->state);
}

static const struct pool_ops ops = {
	.base = { POOL_INA_OPS, .title = "ATP", .bypass = { .flag = POOL_BYPASS } },
	.name = "atp",
	.through_server = true,
	.start = atp_start,
	.release = atp_release,
	.at_switch = atp_at_switch,
	.result_at_switch = atp_result_at_switch,
	.at_server = atp_at_server,
	.add = atp_add,
	.index = atp_index_of,
	.accepted = accepted,
};

static void *atp_open(const struct model_env *env, const void *self)
{
	const struct atp_conf *conf = self;
	struct pool_scheme *scheme = pool_open(env, conf, &ops, conf->idle_limit);
	bytes max = positions(scheme) * (bytes)scheme->base.frame;

	scheme->window.probes = true;
	if (by_position(conf) && (!scheme->window.max || scheme->window.max > max))
		scheme->window.max = max;
	return scheme;
}

/* A gradient from each worker, and the server's parameter packets, which switches copy. */
static double atp_injected(uint32_t workers, uint32_t gpus, bool beside)
{
	(void)gpus, (void)beside;
	return (double)workers + 1;
}

const struct collective_ops atp_collective = {
	.name = "atp",
	.help = "ATP: hashed aggregators that jobs share, first come first served; the parameter "
		"server acknowledges every sum and adds what collided",
	.table = &atp_table,
	POOL_OPS,
	.injected = atp_injected,
	.idle = atp_idle,
	.open = atp_open,
	.stats = pool_stats,
};
