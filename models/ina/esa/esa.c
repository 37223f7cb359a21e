/* ESA: Wang et al., "Efficient Data-Plane Memory Scheduling for In-Network Aggregation",
 * arXiv:2201.06398 (2022).
 *
 * Modelled: ATP's hashed aggregators, levels and windows (see atp.c) with an 8-bit priority;
 * preemption by packet swapping; a failed preemption halves the owner's priority, which the owner's
 * next packet restores; results straight from the last switch to the workers, which frees the
 * aggregator at once; the parameter server's dictionary; reminders of workers and servers; queries
 * and gradients over a reliable transport; the straw-men of section 7.3.
 *
 * Simplified: a packet takes one pass of a switch. Scaling and conversion on hosts take no time.
 * Adding at servers takes time only if the hosts' reduction_rate is limited, and none for gradients
 * over the transport. A worker's result cache holds twice the window.
 *
 * Left open, and our reading:
 * - the aggregators of a job's chunks are drawn without repetition, as in ATP's public code
 *   (`index`). So a lone job never collides with itself if the memory holds its window;
 * - the reminder packet carries the aggregator index, which the server can compute (section 5.1:
 *   all fields but job and sequence number are 0);
 * - priorities are compressed to q = ceil(scale * P), 1 to 255, with T in ms. T is the remaining
 *   communication and computation of the iteration (section 7.2.1) or, as options, of the job, or
 *   the service attained so far;
 * - workers remind, once, of every chunk that lies three or more behind the newest result. After
 *   that, and for the end of the window, a timer decides. Servers remind after the third
 *   contribution to later chunks, then after 6, 12, ... more, and by timer. (Section 5.1 seems to
 *   say after every third: `server_reminders`. Both threes are `duplicate_threshold`.);
 * - a chunk whose result others overtake seems lost, and so does every preempted chunk. Both
 *   cut the window as under ATP (`halve_on`, see atp.c): section 5.1 takes its congestion control;
 * - section 6 samples every entry, from setup to completion. Here a chunk or an entry that needed a
 *   reminder is no round-trip sample (Karn). Nor are chunks in flight at a worker after a timeout
 *   of its own, or after a result that tells of a timeout elsewhere (window.h). Nor are entries
 *   open at the server when its timer runs out or a worker's reminder comes;
 * - who lost what (case 2 against cases 1, 3, 4): after a worker's reminder the server asks all
 *   other workers for the result. It asks at once if it has no part of the chunk, else after an
 *   RTO in which its own reminder to the switches has not helped. (Section 5.3 asks in case 2 only,
 *   where nothing has collided; `query` can make it ask at once in any case.) It also asks after
 *   three reminders by its own timer (`reminder_rounds`). If no worker has the result, the server
 *   asks for the missing gradients at once (`resend`), because the parts that its reminder fetched
 *   have come by then;
 * - each reminder of a worker makes the server remind the switches at once (section 5.3). The
 *   server's own timer for the chunk runs from the first reminder;
 * - a worker does not repeat a reminder, nor a server a result, while the same message is under way
 *   on the transport between them;
 * - a worker that is asked for a gradient before it has sent the chunk sends it over the transport,
 *   and not into the switches, when the chunk's turn comes;
 * - the server's result goes to all workers as an ordinary multicast, and again over the transport
 *   to workers that remind of it. A result that the server gets from a worker goes over the
 *   transport alone, to the workers that have said that they lack it;
 * - a chunk that was completed over the transport may have left contributions in switches, so the
 *   server sends one more reminder. When the job is over, it repeats this until none are left. */
#include "ina/esa/esa.h"

#include "base/mem.h"
#include "formulas/formulas.h"
#include "base/ring.h"

#include <stdlib.h>

static const char *const preemption_names[] = { [ESA_PRIORITY] = "priority",
						[ESA_ALWAYS] = "always",
						[ESA_COIN] = "coin",
						[ESA_NEVER] = "never",
						NULL };
static const char *const remaining_names[] = { [ESA_OF_ITERATION] = "iteration",
					       [ESA_OF_JOB] = "job",
					       [ESA_ATTAINED] = "attained",
					       [ESA_NO_TIME] = "none",
					       NULL };
static const char *const ratio_names[] = {
	[ESA_MEASURED] = "measured", [ESA_MODEL] = "model", [ESA_NO_RATIO] = "none", NULL
};

static const char *const index_names[] = {
	[INDEX_DISTINCT] = "distinct", [INDEX_HASH] = "hash", NULL
};

static const char *const query_names[] = {
	[ESA_QUERY_IF_NOTHING] = "if_nothing", [ESA_QUERY_ALWAYS] = "always", NULL
};

static const char *const resend_names[] = {
	[ESA_RESEND_AT_ONCE] = "at_once", [ESA_RESEND_TIMEOUT] = "timeout", NULL
};

static const char *const transport_timeout_names[] = {
	[ESA_MIN_TIMEOUT] = "min_timeout", [ESA_TCP_TIMEOUT] = "tcp", NULL
};

static const char *const dupack_names[] = { [ESA_DUPACK_DOUBLING] = "doubling",
					    [ESA_DUPACK_EACH] = "each",
					    [ESA_DUPACK_EVERY] = "every",
					    NULL };

static const struct conf_row esa_rows[] = {
	POOL_ROWS,
	CONF_ENUM("index", struct esa_conf, pool.index, "distinct", index_names,
		  POOL_INDEX_HELP ".", POOL_INDEX_SOURCE),
	CONF_ENUM("preemption", struct esa_conf, preemption, "priority", preemption_names,
		  "When a packet preempts an aggregator: if its priority is higher; always; with "
		  "probability 1/2; never.",
		  "ESA section 5.2; always and coin are the straw-men of section 7.3"),
	CONF_ENUM("remaining", struct esa_conf, remaining, "iteration", remaining_names,
		  "T of the priority: remaining time of the iteration, or of the job, or time that "
		  "the job has run so far; none: 1 ms for all.",
		  "ESA section 7.2.1; the others section 5.4"),
	CONF_ENUM("ratio", struct esa_conf, ratio, "model", ratio_names,
		  "Comm/Comp of the priority: gradient bytes at line rate over computing time, or "
		  "as measured in the previous iteration; none: 1 for all.",
		  "ESA section 7.2.1: 2 and 0.5; measured: section 5.4"),
	CONF_BOOL("layers", struct esa_conf, layers, "true",
		  "Whether the priority has the term L/l, by which front layers go first.",
		  "ESA section 5.4; false shows what the term is worth"),
	CONF_BOOL("downgrading", struct esa_conf, downgrading, "true",
		  "Whether a failed preemption halves the priority of the aggregator's owner.",
		  "ESA section 5.4; false shows what the rule is worth"),
	CONF_REAL("priority_scale", struct esa_conf, scale, "16", 1e-9, 1e9,
		  "Priority in packets: this factor times equation 1, with T in ms, rounded up, "
		  "from 1 to 255.",
		  "our choice; ESA section 5.1 gives the width only"),
	CONF_INT("reminder_rounds", struct esa_conf, reminder_rounds, "3", 1, 1000,
		 "Number of reminders by timer that a server sends before it asks the workers.",
		 "our choice"),
	CONF_ENUM("query", struct esa_conf, query, "if_nothing", query_names,
		  "When a server asks all workers for a result that one of them lacks. if_nothing: "
		  "at once if no part of the chunk has reached the server; otherwise after an RTO "
		  "in which its reminder to the switches brought nothing; always: at once.",
		  "ESA section 5.3: case 2 asks where nothing collided, so that the server has "
		  "nothing, case 5 leaves the rest to reminders; always: our choice"),
	CONF_ENUM("resend", struct esa_conf, resend, "at_once", resend_names,
		  "When a server asks workers for gradients that it lacks, if no worker has the "
		  "result. at_once: when all workers have said so; timeout: when nothing has come "
		  "for an RTO.",
		  "our choice; ESA sections 5.1 and 5.3 name no wait here"),
	CONF_ENUM("transport_timeout", struct esa_conf, transport_timeout, "min_timeout",
		  transport_timeout_names,
		  "Shortest and first timeout of the reliable transport between workers and "
		  "servers: min_timeout, or that of /tcp.",
		  "our choice; ESA section 6 sets 1 ms for reminders, section 5.3 names no timeout "
		  "of the transport (\"e.g. TCP\")"),
	CONF_ENUM(
		"server_reminders", struct esa_conf, dupack, "doubling", dupack_names,
		"After how many contributions to later chunks (\"dupACK\") a server reminds "
		"switches of a chunk; here with duplicate_threshold = 3. doubling: after 3, then "
		"6, 12, ... more; each: after 3, and again only after a contribution to the chunk "
		"itself; every: after every 3.",
		"our choice; every: ESA section 5.1 to the letter"),
	{ 0 },
};
extern const struct conf_table esa_table; /* named by collective/schemes.c */
const struct conf_table esa_table = { "esa", esa_rows, sizeof(struct esa_conf),
				      "ESA: ATP's aggregators with preemption." };

static size_t esa_idle(const void *self, struct collective_idle list[COLLECTIVE_IDLE_MAX])
{
	static const char *const keys[] = { "remaining", "ratio", "layers", "downgrading",
					    "priority_scale" };
	const struct esa_conf *conf = self;
	size_t count = 0;

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]) && conf->preemption != ESA_PRIORITY;
	     k++)
		list[count++] =
			(struct collective_idle){ keys[k], "\"preemption\" is not priority" };
	return count;
}

/* --- priorities --- */

static double ms_of(sim_time time)
{
	return (double)time / (1e-3 * (double)PS_PER_S);
}

static double transfer_ms(const struct pool_worker *worker, bytes size)
{
	const struct network *net = &worker->base.job->scheme->env.topo->net;

	/* 8 bits a byte, 1000 ms a second */
	return (double)size * 8e3 / (double)port_class(net, &net->ports[worker->base.port])->rate;
}

/* T_j in ms. */
static double remaining_ms(const struct pool_worker *worker, const struct collective_hint *hint)
{
	double iteration = transfer_ms(worker, hint->left) + ms_of(hint->compute_left);

	switch ((enum esa_remaining)esa_conf(pool_job(worker))->remaining) {
	case ESA_OF_ITERATION:
		return iteration;
	case ESA_OF_JOB:
		return iteration +
		       (double)hint->iterations_left *
			       (transfer_ms(worker, hint->iteration_bytes) + ms_of(hint->compute));
	case ESA_ATTAINED:
		return ms_of(hint->attained);
	case ESA_NO_TIME:
		return 1;
	}
	return iteration;
}

/* Comm_j / Comp_j; infinite without computation. */
static double ratio_of(const struct pool_worker *worker, const struct collective_hint *hint)
{
	if (esa_conf(pool_job(worker))->ratio == ESA_NO_RATIO)
		return 1;
	if (esa_conf(pool_job(worker))->ratio == ESA_MEASURED && hint->last_exchange)
		return (double)hint->last_exchange / (double)hint->last_compute;
	return transfer_ms(worker, hint->iteration_bytes) / ms_of(hint->compute);
}

uint8_t esa_priority(const struct pool_worker *worker, const struct collective_hint *hint)
{
	const struct esa_conf *conf = esa_conf(pool_job(worker));
	double p = formula_esa_priority(conf->scale, remaining_ms(worker, hint), hint->layers,
					conf->layers ? hint->layer : hint->layers,
					ratio_of(worker, hint));

	if (!(p < 255)) /* or infinite, or NaN: nothing remains, or nothing is computed */
		return 255;
	if (p <= 1)
		return 1; /* 0 is left to priorities that have decayed, and to reminders */
	return (uint8_t)p < p ? (uint8_t)(p + 1) : (uint8_t)p;
}

/* Notes the priority of the tensor that the worker hands over next. */
static void esa_hint(void *instance, uint32_t w, const struct collective_hint *hint)
{
	struct pool_job *job = instance;
	struct pool_worker *worker = pool_worker(job, w);
	struct esa_worker *esa = worker->state;
	const struct tensor_reader *reader = &job->base.tensors.readers[w];

	esa->priority = ring_reserve(esa->priority, &esa->priority_mask, esa->sending,
				     reader->tensors, sizeof(*esa->priority));
	esa->priority[reader->tensors & esa->priority_mask] = esa_priority(worker, hint);
}

/* The priority of the chunk's tensor. Chunks are sent in order, so the search goes on from the last
 * tensor. It skips tensors that are complete here, whose ends may have been overwritten. */
static uint8_t priority(struct pool_worker *worker, uint64_t chunk)
{
	const struct tensors *tensors = &worker->base.job->tensors;
	uint64_t open = tensors->readers[worker->base.number].first_open;
	struct esa_worker *esa = worker->state;

	if (esa->sending < open)
		esa->sending = open;
	while (chunk >= tensors->end[esa->sending & tensors->mask])
		esa->sending++;
	return esa->priority[esa->sending & esa->priority_mask];
}

static uint16_t esa_index_of(struct pool_worker *worker, uint64_t chunk)
{
	return pool_known_index(pool_job(worker), chunk);
}

/* --- jobs --- */

static void esa_start(struct pool_job *job)
{
	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		struct esa_worker *esa = pool_worker(job, w)->state = xaligned(64, sizeof(*esa));

		esa->priority_mask = 7;
		esa->priority = xcalloc(esa->priority_mask + 1, sizeof(*esa->priority));
	}
	for (uint32_t q = 0; q < job->base.spec.servers; q++)
		esa_server_init(&job->servers[q]);
}

static void esa_release(struct pool_job *job)
{
	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		struct esa_worker *esa = pool_worker(job, w)->state;

		result_cache_release(&esa->cache);
		free(esa->priority);
		free(esa->direct);
		free(esa);
	}
	for (uint32_t q = 0; q < job->base.spec.servers; q++)
		esa_server_release(&job->servers[q]);
}

static void esa_stats(const void *instance, struct collective_stats *sum)
{
	const struct pool_job *job = instance;

	pool_stats(instance, sum);
	for (uint32_t q = 0; q < job->base.spec.servers; q++)
		sum->reminders += ((const struct esa_server *)job->servers[q].state)->reminders;
}

/* For runs that repeat themselves, which they do only while servers have nothing to do. After a
 * skip workers hold the results of skipped chunks. */
static void repeat_job(struct pool_job *job, struct repeat *repeat)
{
	repeat_same(repeat, job->base.stats.server_packets);
	for (uint32_t q = 0; q < job->base.spec.servers; q++) {
		const struct esa_server *esa = job->servers[q].state;

		if (esa->first != ESA_NONE)
			repeat_never(repeat);
		repeat_same(repeat, esa->reminders + esa->queries + esa->gradients);
	}
	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		const struct pool_worker *worker = pool_worker(job, w);
		struct esa_worker *esa = worker->state;

		if (esa->direct_count)
			repeat_never(repeat);
		if (repeat->moving)
			result_cache_fill(&esa->cache, &worker->window, &job->base.exact);
	}
}

static const struct pool_ops ops = {
	.base = { POOL_INA_OPS, .title = "ESA", .bypass = { .flag = POOL_BYPASS, .detour = true } },
	.name = "esa",
	.start = esa_start,
	.release = esa_release,
	.at_switch = esa_at_switch,
	.at_server = esa_at_server,
	.add = partial_sums_add,
	.lost = esa_lost,
	.divert = esa_divert,
	.index = esa_index_of,
	.priority = priority,
	.drain = esa_drain,
	.accepted = esa_accepted,
	.repeat = repeat_job,
};

static void *esa_open(const struct model_env *env, const void *self)
{
	const struct esa_conf *conf = self;

	return pool_open(env, conf, &ops, 0);
}

const struct collective_ops esa_collective = {
	.name = "esa",
	.help = "ESA: hashed aggregators that jobs share by priority, with preemption; results "
		"come "
		"from the switch, a parameter server adds what lost its aggregator",
	.table = &esa_table,
	.traits.messages = true,
	POOL_OPS,
	.idle = esa_idle,
	.open = esa_open,
	.stats = esa_stats,
	.hint = esa_hint,
};
