#include "workload/program/cursor.h"

#include "base/mem.h"

#include <stdlib.h>

void cursor_init(struct program_cursor *cursor, const struct program_role *role,
		 uint32_t iterations)
{
	*cursor = (struct program_cursor){ .role = role, .end = iterations };
	cursor->left[0] = cursor->left[1] = (uint32_t)role->count;
	cursor->streams = xcalloc(role->stream_count + 1, sizeof(*cursor->streams));
	cursor->done = xcalloc(role->count + 1, sizeof(*cursor->done));
	for (size_t s = 0; s < role->stream_count; s++)
		if (!role->streams[s].count)
			cursor->streams[s].iteration = iterations; /* has nothing to do */
}

void cursor_release(struct program_cursor *cursor)
{
	free(cursor->streams);
	free(cursor->done);
	*cursor = (struct program_cursor){ 0 };
}

const struct program_node *cursor_next(const struct program_cursor *cursor, size_t stream)
{
	const struct cursor_stream *at = &cursor->streams[stream];

	if (at->iteration >= cursor->end)
		return NULL;
	return &cursor->role->nodes[cursor->role->streams[stream].nodes[at->at]];
}

bool cursor_ready(const struct program_cursor *cursor, size_t stream)
{
	const struct program_role *role = cursor->role;
	const struct cursor_stream *at = &cursor->streams[stream];
	const struct program_node *node;

	if (at->busy || at->iteration >= cursor->end ||
	    at->iteration > cursor->over + role->overlaps)
		return false;
	node = &role->nodes[role->streams[stream].nodes[at->at]];
	for (uint32_t n = node->needs; n < node->needs + node->need_count; n++)
		if (cursor->done[role->needs[n].node] + role->needs[n].before <= at->iteration)
			return false;
	return true;
}

uint32_t cursor_begin(struct program_cursor *cursor, size_t stream)
{
	const struct program_stream *list = &cursor->role->streams[stream];
	struct cursor_stream *at = &cursor->streams[stream];
	uint32_t node = list->nodes[at->at];

	at->busy = !(cursor->role->nodes[node].flags & NODE_ISSUED);
	if (++at->at == list->count) {
		at->at = 0;
		at->iteration++;
	}
	return node;
}

uint32_t cursor_done(struct program_cursor *cursor, uint32_t number)
{
	const struct program_node *node = &cursor->role->nodes[number];
	uint32_t over = 0;

	if (!(node->flags & NODE_ISSUED))
		cursor->streams[node->stream].busy = false;
	cursor->left[cursor->done[number]++ & 1]--;
	while (!cursor->left[cursor->over & 1]) {
		cursor->left[cursor->over++ & 1] = (uint32_t)cursor->role->count;
		over++;
	}
	return over;
}
