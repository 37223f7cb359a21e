/* A tensor as shards, one a server, and a shard as blocks. */
#include "collective/ps.h"

static uint64_t shard_bytes(const struct ps *ps, uint32_t server, uint64_t tensor)
{
	return tensor_part(ps->sizes.of[tensor], server, ps->job.servers);
}

/* Bytes of its shard from the cursor on; its tensor has been handed over. */
static uint64_t bytes_left(const struct ps *ps, uint32_t server, const struct cursor *at)
{
	return shard_bytes(ps, server, at->tensor) - at->block * ps->scheme->block;
}

uint64_t ps_block_bytes(const struct ps *ps, uint32_t server, const struct cursor *at)
{
	uint64_t left = bytes_left(ps, server, at);

	return left < ps->scheme->block ? left : ps->scheme->block;
}

bool ps_advance(const struct ps *ps, uint32_t server, struct cursor *at)
{
	bool last = bytes_left(ps, server, at) <= ps->scheme->block;

	at->bytes += ps_block_bytes(ps, server, at);
	at->number++;
	at->block = last ? 0 : at->block + 1;
	at->tensor += last;
	return last;
}

uint64_t ps_block_name(uint32_t server, uint64_t number)
{
	return (uint64_t)server << 40 | number;
}
