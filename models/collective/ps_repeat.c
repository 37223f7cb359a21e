/* The state of parameter servers, to skip repeated periods (core/repeat.h). The blocks of each
 * server are a stream. A period is several blocks of one tensor or, where the marks of a connection
 * lead (tcp_repeat.c), a part of a block. */
#include "collective/ps.h"

#include "base/mem.h"

#include <stdlib.h>

/* The least distance between marks. Bytes: reading the state costs as much as some segments
 * (tcp_repeat.c). Blocks: at NICs that take turns only every other block begins alike. */
#define BYTES_A_MARK  128000
#define BLOCKS_A_MARK 2

/* --- marks --- */

/* Blocks to the next mark. The distance stays the same while periods are equal. */
static uint64_t distance(const struct ps *ps)
{
	const struct repeat *repeat = ps->scheme->env.repeat;
	uint64_t block = ps->scheme->block, min = (BYTES_A_MARK + block - 1) / block;

	if (repeat->leader == ps && repeat->equal)
		return ps->distance;
	return repeat_distance(repeat, min > BLOCKS_A_MARK ? min : BLOCKS_A_MARK);
}

void ps_mark_first(struct ps *ps)
{
	const struct repeat *repeat = ps->scheme->env.repeat;

	ps->mark = UINT64_MAX;
	if (repeat && repeat->walk)
		ps->mark = ps->distance = distance(ps);
}

/* As in tcp_repeat.c, a mark pays off only if the shard has enough blocks left. */
void ps_mark(struct ps *ps)
{
	struct repeat *repeat = ps->scheme->env.repeat;
	const struct cursor *at = &ps_stream_of(ps->pull, ps, 0, 0)->to_write;
	uint64_t blocks;

	ps->distance = distance(ps);
	blocks = repeat_to_come(repeat, ps) * ps->distance;
	if (at->tensor < ps->sizes.count && ps_bytes_left(ps, 0, at) > blocks * ps->scheme->block)
		repeat_mark(repeat, ps);
	else
		repeat_leave(repeat, ps); /* until its next mark somebody else may lead */
	ps->mark = ps->servers[0].sent + ps->distance;
}

void ps_mark_no_more(struct ps *ps)
{
	if (ps->scheme->env.repeat)
		repeat_leave(ps->scheme->env.repeat, ps);
}

/* --- state --- */

/* The last two blocks of a shard are always simulated: the last one may be shorter, and one is to
 * spare. */
static void repeat_cursor(const struct ps *ps, struct repeat *repeat, uint32_t q, struct cursor *at)
{
	uint64_t before = at->number, left;

	repeat_same(repeat, at->tensor);
	if (at->tensor < ps->sizes.count) {
		left = ps_bytes_left(ps, q, at);
		repeat_left(repeat, &left, 2 * ps->scheme->block);
	}
	repeat_number(repeat, &at->number, &ps->servers[q].stream);
	at->block += at->number - before;
	repeat_count(repeat, &at->bytes);
}

/* Renumbers the blocks. A block's number determines its place in the ring and its sum. */
static void repeat_blocks(struct server *server, struct repeat *repeat)
{
	const struct ps *ps = server->ps;
	uint64_t count = server->begun - server->oldest;
	uint64_t by = repeat->moving ? repeat->periods * server->stream.step : 0;
	struct block *moved = xcalloc(count + 1, sizeof(*moved)); /* + 1: count may be 0 */

	for (uint64_t i = 0; i < count; i++) {
		uint64_t number = server->oldest + i;
		struct block *block = &server->blocks[number & server->block_mask];
		uint64_t weight =
			exact_weight(&ps->exact, ps_block_name(server->number, number), block->sum);

		repeat_same(repeat, weight);
		repeat_same(repeat, (uint64_t)block->copies << 32 | block->delivered);
		moved[i] = *block;
		moved[i].sum = weight *
			       exact_chunk(&ps->exact, ps_block_name(server->number, number + by));
	}
	for (uint64_t i = 0; i < count; i++)
		server->blocks[(server->oldest + by + i) & server->block_mask] = moved[i];
	free(moved);
}

static void repeat_server(struct server *server, struct repeat *repeat)
{
	repeat_blocks(server, repeat);
	repeat_number(repeat, &server->sent, &server->stream);
	repeat_number(repeat, &server->begun, &server->stream);
	repeat_number(repeat, &server->oldest, &server->stream);
	for (uint32_t w = 0; w < server->ps->job.workers; w++)
		repeat_number(repeat, &server->added[w], &server->stream);
	repeat_event(repeat, server->timer.id);
	repeat_same(repeat, server->queue_end - server->queue_first);
	for (uint64_t i = server->queue_first; i < server->queue_end; i++) {
		struct copy *copy = &server->queue[i & server->queue_mask];

		repeat_time(repeat, &copy->due);
		repeat_same(repeat, copy->worker);
	}
}

static void repeat_job(struct ps *ps, struct repeat *repeat)
{
	for (uint32_t q = 0; q < ps->job.servers; q++) {
		ps->servers[q].stream.base = ps->servers[q].oldest;
		repeat_base(repeat, &ps->servers[q].stream);
		repeat_server(&ps->servers[q], repeat);
	}
	for (uint32_t w = 0; w < ps->job.workers; w++) {
		repeat_same(repeat, ps->workers[w].contributed);
		repeat_same(repeat, ps->workers[w].held);
		repeat_same(repeat, ps->workers[w].behind);
		for (uint32_t q = 0; q < ps->job.servers; q++) {
			struct stream *push = ps_stream_of(ps->push, ps, w, q);
			struct stream *pull = ps_stream_of(ps->pull, ps, w, q);

			repeat_cursor(ps, repeat, q, &push->to_write);
			repeat_cursor(ps, repeat, q, &push->next);
			repeat_cursor(ps, repeat, q, &pull->to_write);
			repeat_cursor(ps, repeat, q, &pull->next);
		}
	}
	if (repeat->moving && ps->mark != UINT64_MAX)
		ps->mark += repeat->periods * ps->servers[0].stream.step;
}

void ps_repeat(void *self, struct repeat *repeat)
{
	const struct ps_scheme *scheme = self;
	struct reducers *reducers = scheme->env.reducers;

	for (struct ps *ps = scheme->jobs; ps; ps = ps->next) {
		repeat_same(repeat, (uintptr_t)ps);
		repeat_job(ps, repeat);
	}
	for (uint32_t h = 0; reducers->rate && h < reducers->hosts; h++) {
		repeat_due(repeat, &reducers->host[h].free_at);
		repeat_count(repeat, &reducers->host[h].busy);
	}
}
