#include "collective/all_to_all.h"

#include "base/mem.h"
#include "collective/ring.h"
#include "collective/steps.h"

#include <stdlib.h>

const char *const all_to_all_names[] = { [ALL_TO_ALL_ROUNDS] = "rounds",
					 [ALL_TO_ALL_AT_ONCE] = "at_once",
					 [ALL_TO_ALL_HIERARCHICAL] = "hierarchical",
					 NULL };

static uint64_t weight_of(const struct schedule *all, uint32_t rank)
{
	return all->exact.weights[all->ranks[rank].gpu];
}

/* Bytes of the part that goes from one rank to another, if parts are unlike. Tensors with odd
 * numbers go the way back. */
static uint64_t block(const struct schedule *all, uint64_t tensor, uint32_t from, uint32_t to)
{
	const struct schedule_rank *a = &all->ranks[tensor % 2 ? to : from];
	const struct schedule_rank *b = &all->ranks[tensor % 2 ? from : to];
	double share = all->job.blocks[(size_t)a->gpu * all->count + b->gpu];
	uint64_t size = (uint64_t)((double)all->sizes.of[tensor] * share + 0.5);

	return size ? size : 1; /* a message costs a packet */
}

/* --- directly: edge k - 1 of rank r goes to r + k --- */

static uint32_t all_edges(const struct schedule *all)
{
	return all->count * (all->count - 1);
}

static bool all_ends(const struct schedule *all, uint32_t edge, struct schedule_ends *ends)
{
	uint32_t from = edge / (all->count - 1), k = edge % (all->count - 1) + 1;

	*ends = (struct schedule_ends){ from, (from + k) % all->count, 0 };
	return true;
}

/* Rank r sends its part k to rank r + k, or stores the part from rank r - k as its own part k. */
static struct schedule_step part(const struct schedule *all, uint32_t rank, uint32_t k, bool stores)
{
	uint32_t n = all->count, from = stores ? (rank + n - k) % n : rank;

	return (struct schedule_step){ .act = stores ? SCHEDULE_STORE : SCHEDULE_SEND,
				       .edge = from * (n - 1) + k - 1,
				       .first = k,
				       .end = k + 1 };
}

/* Round k has steps i = 2 (k - 1) and 2 (k - 1) + 1. */
static bool rounds_step(const struct schedule *all, uint32_t rank, unsigned thread, uint64_t i,
			uint32_t pieces, struct schedule_step *step)
{
	(void)thread, (void)pieces;
	*step = part(all, rank, (uint32_t)(i / 2) + 1, i % 2);
	return i / 2 + 1 < all->count;
}

static bool at_once_step(const struct schedule *all, uint32_t rank, unsigned thread, uint64_t i,
			 uint32_t pieces, struct schedule_step *step)
{
	uint32_t others = all->count - 1;

	(void)thread, (void)pieces;
	*step = part(all, rank, (uint32_t)(i % others) + 1, i >= others);
	return i < 2 * (uint64_t)others;
}

/* In the end part k of rank r is from rank r - k. */
static uint64_t received(const struct schedule *all, uint32_t rank, uint32_t piece)
{
	return weight_of(all, (rank + all->count - piece) % all->count);
}

static uint64_t direct_bytes(const struct schedule *all, uint64_t tensor,
			     const struct schedule_step *step)
{
	struct schedule_ends ends;

	all_ends(all, step->edge, &ends);
	return block(all, tensor, ends.from, ends.to);
}

/* --- by rails --- */

/* Rank l of machine m is at place m g + l, of N machines with g ranks each. Its piece delta N + d
 * is first the part for rank l + delta of machine m + d; once its machine has exchanged, the part
 * from rank l - delta of its machine for rank l of machine m + d; in the end that from rank l -
 * delta of machine m - d. */
struct rails {
	uint32_t machines, each;
	uint32_t *place_of, *rank_at;
};

static const struct rails *rails_of(const struct schedule *all)
{
	return all->data;
}

/* The rank `delta` ranks and `d` machines further. */
static uint32_t further(const struct schedule *all, uint32_t rank, uint32_t d, uint32_t delta)
{
	const struct rails *rails = rails_of(all);
	uint32_t place = rails->place_of[rank];
	uint32_t m = (place / rails->each + d) % rails->machines;

	return rails->rank_at[m * rails->each + (place + delta) % rails->each];
}

/* The same backwards. */
static uint32_t before(const struct schedule *all, uint32_t rank, uint32_t d, uint32_t delta)
{
	const struct rails *rails = rails_of(all);
	uint32_t m = rails->place_of[rank] / rails->each, l = rails->place_of[rank] % rails->each;

	m = (m + rails->machines - d) % rails->machines;
	return rails->rank_at[m * rails->each + (l + rails->each - delta) % rails->each];
}

/* Finds places: the ranks of a machine in their order, machines by their first ranks. */
static void find_rails(struct schedule *all)
{
	uint32_t n = all->count, each = 0;
	struct rails *rails;

	for (uint32_t r = 0; r < n; r++)
		each += all->ranks[r].machine == all->ranks[0].machine;
	rails = xcalloc(1, sizeof(*rails) + 2 * (size_t)n * sizeof(uint32_t));
	rails->place_of = (uint32_t *)(rails + 1);
	rails->rank_at = rails->place_of + n;
	rails->each = each;
	all->data = rails;
	for (uint32_t r = 0; r < n; r++) {
		uint32_t first = 0, at = 0;

		while (all->ranks[first].machine != all->ranks[r].machine)
			first++;
		for (uint32_t k = first; k < r; k++)
			at += all->ranks[k].machine == all->ranks[r].machine;
		if (first == r)
			rails->place_of[r] = rails->machines++ * each;
		else
			rails->place_of[r] = rails->place_of[first] + at;
		rails->rank_at[rails->place_of[r]] = r;
	}
	SIM_BUG_ON(rails->machines * each != n);
}

static uint32_t edges_each(const struct schedule *all)
{
	return rails_of(all)->each + rails_of(all)->machines - 2;
}

static uint32_t rails_edges(const struct schedule *all)
{
	return all->count * edges_each(all);
}

/* The first g - 1 edges of a rank lead to ranks of its machine, the others along its rail. */
static bool rails_ends(const struct schedule *all, uint32_t edge, struct schedule_ends *ends)
{
	uint32_t from = edge / edges_each(all), k = edge % edges_each(all) + 1;
	uint32_t each = rails_of(all)->each;

	*ends = (struct schedule_ends){
		from, k < each ? further(all, from, 0, k) : further(all, from, k - each + 1, 0), 0
	};
	return true;
}

static bool rails_step(const struct schedule *all, uint32_t rank, unsigned thread, uint64_t i,
		       uint32_t pieces, struct schedule_step *step)
{
	const struct rails *rails = rails_of(all);
	uint32_t g = rails->each, n = rails->machines, k, first, end, sender;
	uint64_t inside = 2 * (uint64_t)(g - 1), out = i - inside;
	bool stores;

	(void)thread, (void)pieces;
	if (i < inside) {
		k = (uint32_t)(i / 2) + 1; /* delta */
		stores = i % 2;
		sender = stores ? before(all, rank, 0, k) : rank;
		first = k * n;
		end = first + n;
	} else {
		k = (uint32_t)(out / (2 * g)) + 1; /* d */
		stores = out % (2 * g) >= g;
		sender = stores ? before(all, rank, k, 0) : rank;
		first = (uint32_t)(out % g) * n + k;
		end = first + 1;
		if (k >= n)
			return false;
		k += g - 1;
	}
	*step = (struct schedule_step){ .act = stores ? SCHEDULE_STORE : SCHEDULE_SEND,
					.edge = sender * edges_each(all) + k - 1,
					.first = first,
					.end = end };
	return true;
}

static uint64_t rails_received(const struct schedule *all, uint32_t rank, uint32_t piece)
{
	uint32_t n = rails_of(all)->machines;

	return weight_of(all, before(all, rank, piece % n, piece / n));
}

static uint64_t rails_bytes(const struct schedule *all, uint64_t tensor,
			    const struct schedule_step *step)
{
	uint32_t n = rails_of(all)->machines;
	bool inside = step->edge % edges_each(all) + 1 < rails_of(all)->each;
	uint64_t sum = 0;
	struct schedule_ends ends;

	rails_ends(all, step->edge, &ends);
	for (uint32_t q = step->first; q < step->end; q++) {
		uint32_t d = q % n, delta = q / n;

		sum += inside ? block(all, tensor, ends.from, further(all, ends.to, d, 0))
			      : block(all, tensor, before(all, ends.from, 0, delta), ends.to);
	}
	return sum;
}

/* --- as collectives --- */

#define ALL_TO_ALL(how, ...)                                                                       \
	static const struct schedule_ops how##_ops = { .name = "all_to_all",                       \
						       .threads = 1,                               \
						       .pieces = ring_pieces,                      \
						       .step = how##_step,                         \
						       __VA_ARGS__ };                              \
	static void *how##_start(void *self, const struct collective_job *job, const char **never) \
	{                                                                                          \
		(void)never;                                                                       \
		return schedule_start(self, &how##_ops, job);                                      \
	}                                                                                          \
	static const struct collective_ops how##_collective = {                                    \
		.name = "all_to_all",                                                              \
		.start = how##_start,                                                              \
		.contribute = schedule_contribute,                                                 \
		.finish = schedule_finish,                                                         \
		.stats = schedule_stats,                                                           \
		.report_waiting = schedule_report_waiting,                                         \
		.injected = reduce_scatter_injected,                                               \
	}

ALL_TO_ALL(rounds, .rendezvous = true, .edges = all_edges, .ends = all_ends, .weight = received,
	   .bytes = direct_bytes);
ALL_TO_ALL(at_once, .edges = all_edges, .ends = all_ends, .weight = received,
	   .bytes = direct_bytes);
ALL_TO_ALL(rails, .edges = rails_edges, .ends = rails_ends, .prepare = find_rails,
	   .weight = rails_received, .bytes = rails_bytes);

const struct collective_ops *all_to_all_ops(enum all_to_all how)
{
	static const struct collective_ops *const list[] = {
		[ALL_TO_ALL_ROUNDS] = &rounds_collective,
		[ALL_TO_ALL_AT_ONCE] = &at_once_collective,
		[ALL_TO_ALL_HIERARCHICAL] = &rails_collective,
	};

	return list[how];
}
