/* Where a rank is in its program: what may begin next, what is under way, what is done. Knows no
 * time: whoever executes the program (job_worker.c, program_deadlock()) says when nodes end. */
#ifndef INASIM_WORKLOAD_PROGRAM_CURSOR_H
#define INASIM_WORKLOAD_PROGRAM_CURSOR_H

#include "workload/program/program.h"

struct cursor_stream {
	uint32_t at;        /* index of its next node */
	uint32_t iteration; /* of that node */
	bool busy;          /* with the node before */
};

struct program_cursor {
	const struct program_role *role;
	struct cursor_stream *streams; /* owned */
	uint32_t *done;                /* by node: in how many iterations it is done; owned */
	uint32_t end;                  /* iterations to do */
	uint32_t over;                 /* iterations whose nodes are all done */
	uint32_t left[2]; /* nodes that are not done of iterations `over` and `over` + 1, at
			     [iteration & 1] */
};

void cursor_init(struct program_cursor *cursor, const struct program_role *role,
		 uint32_t iterations);
void cursor_release(struct program_cursor *cursor);

/* Whether all that the stream's next node needs is done. False behind the last node. */
bool cursor_ready(const struct program_cursor *cursor, size_t stream);

/* The stream begins its next node, which is ready. Returns the node's number. */
uint32_t cursor_begin(struct program_cursor *cursor, size_t stream);

/* A node is done. Returns how many iterations are over because of this (0 or more). */
uint32_t cursor_done(struct program_cursor *cursor, uint32_t node);

/* The next node of a stream, for messages; NULL behind the last. */
const struct program_node *cursor_next(const struct program_cursor *cursor, size_t stream);

#endif
