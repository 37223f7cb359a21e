/* All-reduce by a double binary tree (Sanders, Speck and Traff, Parallel Computing 35, 2009; NCCL
 * since 2.4). What is modelled and simplified: schedule.h.
 *
 * Each of two trees adds up one half of the tensor on the way to its root and sends the sums back,
 * chunk by chunk. A rank that has children in one tree is a leaf of the other; only rank 0 has
 * children in both if the number of ranks is odd. No rank sends or receives more than
 * twice the M bytes of the tensor. The trees are NCCL's: the first alternates leaves and inner
 * ranks; the second is its mirror image (even number of ranks) or is shifted by one (odd number).
 * As in NCCL, a rank has four threads, up and down in each tree; a root has one thread for both
 * directions.
 *
 * Several ranks of a machine are a chain, as in NCCL, and the trees join machines: a tree's edge
 * crosses a machine's boundary once. The chain's first rank sends to the parent. The first machine
 * below adds its values at the chain's second rank, the second at the first one (NCCL's pattern
 * BALANCED).
 *
 * Our choice: chunks of 64 kB, of which two may be in flight on an edge (NCCL: up to 512 kB, 8).
 * TCP does not share links evenly, so ranks that run ahead slow down the ranks that all wait for:
 * 10 MB among 16 ranks at 25 Gbps take 7.09 ms with 2 chunks, 8.61 ms with 8 (2 M / B, B the rate
 * of a link: 6.93 ms).
 *
 *     T = 2 M / B + time to fill the trees                   (four ranks or more)
 *
 * The fluid plan is one stream over all edges. It neglects the growth of windows and `credit`. */
#include "collective/schedule.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

static const struct conf_row rows[] = {
	SCHEDULE_ROWS,
	SCHEDULE_CHANNELS,
	CONF_BYTES("chunk", struct schedule_conf, chunk, "64kB", 1024, UINT64_C(1) << 40,
		   "Bytes that a rank passes on at a time.",
		   "our choice; NCCL 2.4: 512 kB at most, an eighth of a buffer of 4 MB"),
	CONF_INT("credit", struct schedule_conf, credit, "2", 0, 1000000,
		 "Chunks that a rank may be ahead of the next rank; 0: no limit.",
		 "our choice; NCCL 2.4 has 8 parts of a buffer (NCCL_STEPS)"),
	{ 0 }
};
extern const struct conf_table double_tree_table; /* named by collective/schemes.c */
const struct conf_table double_tree_table = { "double_tree", rows, sizeof(struct schedule_conf),
					      "All-reduce by two binary trees over TCP or RoCE." };

enum way { WAY_UP, WAY_DOWN };

/* The parent in the first tree, whose root is rank 0. The parent's number is the rank's with the
 * lowest set bit moved up one place; if there is no such rank, with that bit cleared. */
static uint32_t parent_in_first(uint32_t n, uint32_t rank)
{
	uint32_t bit = rank & -rank, up = (rank ^ bit) | bit << 1;

	if (rank == 0)
		return SCHEDULE_NOBODY;
	return up < n ? up : rank ^ bit;
}

static uint32_t parent_of(uint32_t n, uint32_t rank, unsigned tree)
{
	bool mirror = n % 2 == 0;
	uint32_t up;

	if (tree == 0)
		return parent_in_first(n, rank);
	up = parent_in_first(n, mirror ? n - 1 - rank : (rank + n - 1) % n);
	if (up == SCHEDULE_NOBODY)
		return up;
	return mirror ? n - 1 - up : (up + 1) % n;
}

/* A rank in a tree. schedule->data is the array of all vertices. */
struct vertex {
	uint32_t parent, children[2];
	uint32_t count; /* of children */
};

static struct vertex *vertex_of(const struct schedule *schedule, uint32_t rank, unsigned tree)
{
	return (struct vertex *)schedule->data + 2 * rank + tree;
}

static void join(struct schedule *schedule, unsigned tree, uint32_t rank, uint32_t parent)
{
	struct vertex *up = vertex_of(schedule, parent, tree);

	vertex_of(schedule, rank, tree)->parent = parent;
	up->children[up->count++] = rank;
}

/* Where the next machine below `run` adds its values. */
static uint32_t open_rank(const struct schedule *schedule, const struct schedule_run *run,
			  unsigned tree)
{
	uint32_t second = run->first + 1;

	if (run->count == 1 || vertex_of(schedule, second, tree)->count == (run->count > 2) + 1u)
		return run->first;
	return second;
}

static void prepare(struct schedule *schedule)
{
	uint32_t n = schedule->run_count;

	schedule->data = xcalloc(2 * (size_t)schedule->count, sizeof(struct vertex));
	for (unsigned tree = 0; tree < 2; tree++) {
		for (uint32_t r = 1; r < schedule->count; r++)
			if (schedule->ranks[r].run == schedule->ranks[r - 1].run)
				join(schedule, tree, r, r - 1);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t up = parent_of(n, i, tree), first = schedule->runs[i].first;

			if (up == SCHEDULE_NOBODY)
				vertex_of(schedule, first, tree)->parent = up;
			else
				join(schedule, tree, first,
				     open_rank(schedule, &schedule->runs[up], tree));
		}
	}
}

static uint32_t edge_of(uint32_t rank, unsigned tree, enum way way)
{
	return 4 * rank + 2 * tree + way;
}

static uint32_t edges(const struct schedule *schedule)
{
	return 4 * schedule->count;
}

static bool is_root(const struct schedule *schedule, uint32_t rank, unsigned tree)
{
	return vertex_of(schedule, rank, tree)->parent == SCHEDULE_NOBODY;
}

static bool ends(const struct schedule *schedule, uint32_t edge, struct schedule_ends *to)
{
	uint32_t rank = edge / 4, parent;
	unsigned tree = edge / 2 % 2, thread = edge % 4; /* a thread is 2 * tree + way */

	parent = vertex_of(schedule, rank, tree)->parent;
	if (parent == SCHEDULE_NOBODY)
		return false;
	if (edge % 2 == WAY_UP)
		*to = (struct schedule_ends){ rank, parent, thread };
	else
		*to = (struct schedule_ends){ parent, rank, thread };
	return true;
}

static uint32_t pieces_of(const struct schedule *schedule, bytes size)
{
	bytes chunk = schedule->scheme->conf->chunk, half = (size + 1) / 2;

	return 2 * (uint32_t)((half + chunk - 1) / chunk);
}

/* Step `i` for a chunk on its way up: receive it from each child, then send it to the parent. */
static void up_step(const struct vertex *vertex, uint32_t rank, unsigned tree, uint32_t i,
		    struct schedule_step *step)
{
	bool receives = i < vertex->count;

	step->act = receives ? SCHEDULE_ADD : SCHEDULE_SEND;
	step->edge = edge_of(receives ? vertex->children[i] : rank, tree, WAY_UP);
}

/* Step `i` for a chunk on its way down: receive it from the parent, then send it to each child. */
static void down_step(const struct vertex *vertex, uint32_t rank, unsigned tree, uint32_t i,
		      struct schedule_step *step)
{
	step->act = i == 0 ? SCHEDULE_STORE : SCHEDULE_SEND;
	step->edge = edge_of(i == 0 ? rank : vertex->children[i - 1], tree, WAY_DOWN);
}

/* A root receives from its children, then sends to them. It has no step 0 of the way down. */
static void root_step(const struct vertex *vertex, uint32_t rank, unsigned tree, uint32_t i,
		      struct schedule_step *step)
{
	if (i < vertex->count)
		up_step(vertex, rank, tree, i, step);
	else
		down_step(vertex, rank, tree, i - vertex->count + 1, step);
}

static bool next(const struct schedule *schedule, uint32_t rank, unsigned thread, uint64_t i,
		 uint32_t pieces, struct schedule_step *step)
{
	unsigned tree = thread / 2, way = thread % 2;
	const struct vertex *vertex = vertex_of(schedule, rank, tree);
	bool root = is_root(schedule, rank, tree);
	uint32_t each = root ? 2 * vertex->count : 1 + vertex->count; /* steps for a chunk */
	uint32_t half = pieces / 2;

	if ((root && way == WAY_DOWN) || i >= (uint64_t)each * half)
		return false;
	step->first = tree * half + (uint32_t)(i / each);
	step->end = step->first + 1;
	if (root)
		root_step(vertex, rank, tree, (uint32_t)(i % each), step);
	else
		(way == WAY_UP ? up_step : down_step)(vertex, rank, tree, (uint32_t)(i % each),
						      step);
	return true;
}

static const struct schedule_ops ops = {
	.name = "double_tree",
	.threads = 4,
	.channels = true,
	.edges = edges,
	.ends = ends,
	.pieces = pieces_of,
	.step = next,
	.prepare = prepare,
};

static void *double_tree_start(void *self, const struct collective_job *job, const char **never)
{
	(void)never;
	return schedule_start(self, &ops, job);
}

/* --- as a stream --- */

/* Between a rank and the root: the latencies of all edges of this way. */
static sim_time latency_of(const struct schedule *schedule, const sim_time *edges, uint32_t rank,
			   unsigned tree, enum way way)
{
	sim_time latency = 0;

	for (; !is_root(schedule, rank, tree); rank = vertex_of(schedule, rank, tree)->parent)
		latency += edges[edge_of(rank, tree, way)];
	return latency;
}

static uint32_t max(uint32_t x, uint32_t y)
{
	return x > y ? x : y;
}

/* The time until a vertex has the sum of a chunk, in transmissions of a chunk over a link. The
 * children share the vertex's link. */
static uint32_t time_up(const struct schedule *schedule, uint32_t rank, unsigned tree)
{
	const struct vertex *vertex = vertex_of(schedule, rank, tree);
	uint32_t ready[2] = { 0 };

	for (uint32_t c = 0; c < vertex->count; c++)
		ready[c] = time_up(schedule, vertex->children[c], tree);
	if (vertex->count < 2)
		return vertex->count + ready[0];
	return max(ready[0], ready[1]) + 1 + (ready[0] == ready[1]);
}

/* The time of a sum from a vertex to all its descendants, in the same unit. */
static uint32_t time_down(const struct schedule *schedule, uint32_t rank, unsigned tree)
{
	const struct vertex *vertex = vertex_of(schedule, rank, tree);
	uint32_t longest = 0;

	for (uint32_t c = 0; c < vertex->count; c++)
		longest = max(longest, time_down(schedule, vertex->children[c], tree));
	return vertex->count + longest;
}

/* When the last rank of either tree has the first chunk, in transmissions of a chunk. */
static uint32_t max_time(const struct schedule *schedule)
{
	uint32_t latest = 0;

	for (uint32_t r = 0; r < schedule->count; r++)
		for (unsigned tree = 0; tree < 2; tree++)
			if (is_root(schedule, r, tree))
				latest = max(latest, time_up(schedule, r, tree) +
							     time_down(schedule, r, tree));
	return latest;
}

/* The largest latency of a tree, up and then down. */
static sim_time max_latency(const struct schedule *schedule, const sim_time *edges)
{
	sim_time latest = 0;

	for (unsigned tree = 0; tree < 2; tree++) {
		sim_time longest[2] = { 0 };

		for (uint32_t r = 0; r < schedule->count; r++)
			for (unsigned way = 0; way < 2; way++) {
				sim_time latency = latency_of(schedule, edges, r, tree, way);

				longest[way] = latency > longest[way] ? latency : longest[way];
			}
		if (longest[WAY_UP] + longest[WAY_DOWN] > latest)
			latest = longest[WAY_UP] + longest[WAY_DOWN];
	}
	return latest;
}

/* The rate of the stream's slowest link, in bytes per second. */
static double slowest_link(const struct plan_stream *stream, const struct network *net)
{
	double slowest = INFINITY;

	for (size_t i = 0; i < stream->count; i++) {
		const struct port *port = &net->ports[stream->links[i].link];

		slowest = fmin(slowest, (double)port_class(net, port)->rate / 8);
	}
	return slowest;
}

static void *double_tree_plan(void *self, const struct collective_job *job,
			      struct stream_plan *plan, const char **never)
{
	struct schedule_scheme *scheme = self;
	const struct network *net = &scheme->env.topo->net;
	struct schedule *schedule = schedule_new(self, &ops, job);
	struct plan_stream *stream;
	struct plan_path round_trip = { 0 };
	uint32_t ack_every = (uint32_t)scheme->conf->ack_every;
	sim_time *latency = xcalloc(edges(schedule), sizeof(*latency));

	(void)never;
	plan_init(plan, 1);
	stream = &plan->streams[0];
	stream->packets = plan_tcp_packets(scheme->env.tcp, net, ack_every);
	stream->packets.fraction = 0.5;
	plan_fill_queues(stream, net);
	for (uint32_t edge = 0; edge < edges(schedule); edge++) {
		struct plan_path path = { 0 };

		schedule_plan_edge(schedule, edge, stream, 1, &path, &round_trip);
		latency[edge] = plan_path_latency(&path) + scheme->conf->step_latency;
	}
	stream->cap = plan_tcp_cap(scheme->env.tcp, &stream->packets, &round_trip, ack_every);
	plan->in_turn = true;
	plan_close(plan);
	plan->latency = max_latency(schedule, latency);
	free(latency);
	plan->blocks.size = scheme->conf->chunk;
	/* less the time on the busiest link, which the stream's own time has already */
	plan->blocks.first = fmax(0, max_time(schedule) / slowest_link(stream, net) -
					     1 / plan_alone(stream, net));
	return schedule;
}

/* Half of the gradient goes up each edge of a tree between machines, and its sum down. */
static double injected(uint32_t workers, uint32_t gpus, bool beside)
{
	(void)gpus, (void)beside;
	return 2 * ((double)workers - 1);
}

const struct collective_ops double_tree_collective = {
	SCHEDULE_OPS,
	.injected = injected,
	.name = "double_tree",
	.traits.ranks_max = SCHEDULE_EDGES_END / 4,
	.help = "all-reduce by two binary trees, as NCCL's, between hosts over TCP or RoCE",
	.table = &double_tree_table,
	.start = double_tree_start,
	.plan = double_tree_plan,
};
