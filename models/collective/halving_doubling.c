/* All-reduce by recursive halving and doubling (Rabenseifner; Thakur, Rabenseifner and Gropp,
 * IJHPCA 2005, section 4.5; Gloo). What is modelled and simplified: schedule.h.
 *
 * Each of m = 2^L ranks exchanges half of the tensor with the rank at distance m/2, then a quarter
 * with the rank at distance m/4, and so on. Each rank then has the sum of one of m pieces, and gets
 * the others by the same exchanges in reverse. If there are n > m ranks, the first 2 (n - m) fold
 * in pairs, as in MPICH: the even rank gives its tensor to the odd rank and gets the sums back.
 *
 *     T = 2 L alpha + 2 (m - 1) / m M / B     (+ 2 alpha + 2 M / B where pairs fold)
 *
 * (inasim formula halving_doubling). The fluid plan is one stream. Its rate is that of all steps
 * one after the other, each on its busiest link or at its largest window. The plan neglects the
 * growth of windows. */
#include "collective/schedule.h"

#include <stdlib.h>

static const struct conf_row rows[] = { SCHEDULE_ROWS, { 0 } };
extern const struct conf_table halving_doubling_table; /* named by collective/schemes.c */
const struct conf_table halving_doubling_table = {
	"halving_doubling", rows, sizeof(struct schedule_conf),
	"All-reduce by recursive halving and doubling over TCP or RoCE."
};

/* L: 2^L is the largest power of two up to n. */
static unsigned levels_of(uint32_t n)
{
	return 31 - (unsigned)__builtin_clz(n);
}

/* The number of pairs that fold. */
static uint32_t pairs_of(uint32_t n)
{
	return n - (UINT32_C(1) << levels_of(n));
}

/* The ranks that take part are numbered 0 to m - 1. Returns the rank of number `v`. */
static uint32_t halving_doubling_rank_of(uint32_t n, uint32_t v)
{
	uint32_t pairs = pairs_of(n);

	return v < pairs ? 2 * v + 1 : v + pairs;
}

/* The inverse of halving_doubling_rank_of(). */
static uint32_t number_of(uint32_t n, uint32_t rank)
{
	uint32_t pairs = pairs_of(n);

	return rank < 2 * pairs ? rank / 2 : rank - pairs;
}

/* The first edges lead from number v to its partner at level i. Then come two edges for each pair
 * q: from the even rank to the odd one, and back. */
static uint32_t level_edge(uint32_t n, uint32_t v, unsigned i)
{
	return v * levels_of(n) + i;
}

static uint32_t pair_edge(uint32_t n, uint32_t q, bool back)
{
	return (levels_of(n) << levels_of(n)) + 2 * q + back; /* after the m * L edges of levels */
}

static uint32_t distance(uint32_t n, unsigned level)
{
	return UINT32_C(1) << (levels_of(n) - 1 - level);
}

static uint32_t edges(const struct schedule *schedule)
{
	return pair_edge(schedule->count, pairs_of(schedule->count), false);
}

static bool ends(const struct schedule *schedule, uint32_t edge, struct schedule_ends *to)
{
	uint32_t n = schedule->count, first = pair_edge(n, 0, false), q = (edge - first) / 2;

	if (edge >= first) {
		bool back = (edge - first) % 2;

		*to = (struct schedule_ends){ 2 * q + back, 2 * q + !back, 0 };
	} else {
		uint32_t v = edge / levels_of(n);
		uint32_t other = v ^ distance(n, edge % levels_of(n));

		*to = (struct schedule_ends){ halving_doubling_rank_of(n, v),
					      halving_doubling_rank_of(n, other), 0 };
	}
	return true;
}

static uint32_t pieces_of(const struct schedule *schedule, bytes size)
{
	(void)size;
	return UINT32_C(1) << levels_of(schedule->count);
}

/* The step in which the rank's pair folds; with `back`, unfolds. */
static bool pair_step(uint32_t n, uint32_t rank, bool back, struct schedule_step *step)
{
	bool sends = rank % 2 == back; /* the even rank when the pair folds, then the odd one */

	*step = (struct schedule_step){ .edge = pair_edge(n, rank / 2, back),
					.end = UINT32_C(1) << levels_of(n) };
	step->act = sends ? SCHEDULE_SEND : back ? SCHEDULE_STORE : SCHEDULE_ADD;
	return true;
}

/* The pieces that number v keeps after a level of halving. */
static void pieces_after(uint32_t n, uint32_t v, unsigned level, struct schedule_step *step)
{
	uint32_t size = distance(n, level);

	step->first = v & ~(size - 1);
	step->end = step->first + size;
}

/* Halving, at levels 0 to L - 1, sends the pieces that the partner keeps. Doubling, at levels L - 1
 * to 0, sends the rank's own pieces. At each level a rank sends, then receives. */
static bool exchange(uint32_t n, uint32_t v, uint64_t i, struct schedule_step *step)
{
	unsigned levels = levels_of(n), turn = (unsigned)(i / 2), level;
	bool doubling = turn >= levels, receives = i % 2;
	/* the pieces that the partner keeps: sent in halving, received in doubling */
	bool partners = receives == doubling;
	uint32_t other;

	level = doubling ? 2 * levels - 1 - turn : turn;
	other = v ^ distance(n, level);
	step->edge = level_edge(n, receives ? other : v, level);
	pieces_after(n, partners ? other : v, level, step);
	step->act = SCHEDULE_SEND;
	if (receives)
		step->act = doubling ? SCHEDULE_STORE : SCHEDULE_ADD;
	return true;
}

static bool next(const struct schedule *schedule, uint32_t rank, unsigned thread, uint64_t i,
		 uint32_t pieces, struct schedule_step *step)
{
	uint32_t n = schedule->count;
	bool folds = rank < 2 * pairs_of(n);
	uint64_t exchanges = 4 * (uint64_t)levels_of(n); /* halving and doubling: send, receive */

	(void)thread, (void)pieces;
	if (folds && rank % 2 == 0) /* the odd rank takes part for it */
		return i < 2 && pair_step(n, rank, i, step);
	if (folds && i == 0)
		return pair_step(n, rank, false, step);
	i -= folds;
	if (i < exchanges)
		return exchange(n, number_of(n, rank), i, step);
	return folds && i == exchanges && pair_step(n, rank, true, step);
}

static const struct schedule_ops ops = {
	.name = "halving_doubling",
	.threads = 1,
	.rendezvous = true,
	.edges = edges,
	.ends = ends,
	.pieces = pieces_of,
	.step = next,
};

static void *halving_doubling_start(void *self, const struct collective_job *job,
				    const char **never)
{
	(void)never;
	return schedule_start(self, &ops, job);
}

/* --- as a stream --- */

/* Adds the edges of a level to `stream`, and the cap of their windows; level L is the fold. Weights
 * are in pieces. Returns the latency of the longest edge plus step_latency. */
static sim_time plan_level(const struct schedule *schedule, unsigned level, bool back,
			   struct plan_stream *stream)
{
	uint32_t n = schedule->count;
	bool folds = level == levels_of(n);
	uint32_t count = folds ? pairs_of(n) : UINT32_C(1) << levels_of(n);
	uint32_t weight = folds ? UINT32_C(1) << levels_of(n) : distance(n, level);
	struct plan_path longest = { 0 }, round_trip = { 0 };

	for (uint32_t k = 0; k < count; k++)
		schedule_plan_edge(schedule,
				   folds ? pair_edge(n, k, back) : level_edge(n, k, level), stream,
				   weight, &longest, &round_trip);
	stream->cap = plan_tcp_cap(schedule->scheme->env.tcp, &stream->packets, &round_trip,
				   (uint32_t)schedule->scheme->conf->ack_every) /
		      weight;
	return plan_path_latency(&longest) + schedule->scheme->conf->step_latency;
}

/* Adds a level to the plan, as a step. Adds the step's time to *seconds, in seconds per byte of a
 * piece on the wire. */
static void plan_step(const struct schedule *schedule, unsigned level, bool back,
		      struct stream_plan *plan, double *seconds)
{
	struct plan_stream *all = &plan->streams[0];
	struct stream_plan step;

	plan_init(&step, 1);
	step.streams[0].packets = all->packets;
	plan->latency += plan_level(schedule, level, back, &step.streams[0]);
	plan_close(&step);
	*seconds += 1 / plan_alone(&step.streams[0], &schedule->scheme->env.topo->net);
	for (size_t i = 0; i < step.streams[0].count; i++)
		plan_add(all, step.streams[0].links[i].link, step.streams[0].links[i].weight);
	plan_release(&step);
}

static void *halving_doubling_plan(void *self, const struct collective_job *job,
				   struct stream_plan *plan, const char **never)
{
	struct schedule_scheme *scheme = self;
	const struct network *net = &scheme->env.topo->net;
	struct schedule *schedule = schedule_new(self, &ops, job);
	unsigned levels = levels_of(job->workers);
	double seconds = 0;

	(void)never;
	plan_init(plan, 1);
	plan->bound = schedule_bound(schedule);
	if (pairs_of(job->workers)) /* an even rank gives and gets all of the tensor */
		plan_add_leg(&plan->bound, 2, 1, 1, false);
	for (unsigned level = 0; level < levels; level++)
		plan_add_leg(&plan->bound, 2, distance(job->workers, level), UINT32_C(1) << levels,
			     false);
	plan->streams[0].packets =
		plan_tcp_packets(scheme->env.tcp, net, (uint32_t)scheme->conf->ack_every);
	plan->streams[0].packets.fraction = 1.0 / (double)(1 << levels);
	plan_fill_queues(&plan->streams[0], net);
	/* Only one connection of a NIC takes turns at a time. The stream's weight at the NIC is
	 * that of all steps, 2 (m - 1) pieces; the fold is neglected. */
	plan->streams[0].turn /= 2.0 * ((1 << levels) - 1);
	for (int back = 0; back < 2; back++) {
		for (unsigned level = 0; level < levels; level++)
			plan_step(schedule, level, back, plan, &seconds);
		if (pairs_of(job->workers))
			plan_step(schedule, levels, back, plan, &seconds);
	}
	plan->streams[0].cap = 1 / seconds;
	plan->in_turn = true;
	plan_close(plan);
	return schedule;
}

static double injected(uint32_t workers, uint32_t gpus, bool beside)
{
	uint32_t n = workers * gpus, m = UINT32_C(1) << levels_of(n);
	double sent = 0;

	(void)beside;
	for (unsigned level = 0; level < levels_of(n); level++)
		for (uint32_t v = 0; v < m; v++) {
			uint32_t other = v ^ distance(n, level);

			if (halving_doubling_rank_of(n, v) / gpus !=
			    halving_doubling_rank_of(n, other) / gpus)
				sent += 2. * distance(n, level) / m; /* halving, then doubling */
		}
	for (uint32_t q = 0; q < pairs_of(n); q++)
		sent += 2 * (2 * q / gpus != (2 * q + 1) / gpus);
	return sent;
}

const struct collective_ops halving_doubling_collective = {
	SCHEDULE_OPS,
	.injected = injected,
	.name = "halving_doubling",
	.traits.ranks_max = SCHEDULE_EDGES_END / 16, /* 16 levels and no pairs */
	.help = "all-reduce by recursive halving and doubling between hosts over TCP or RoCE",
	.table = &halving_doubling_table,
	.start = halving_doubling_start,
	.plan = halving_doubling_plan,
	.traits.tolerance = { .one_switch = 0.02 },
};
