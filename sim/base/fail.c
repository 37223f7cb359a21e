#include "base/fail.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The only mutable variable at file scope: read by nothing but sim_bug(). */
static _Thread_local const struct fail_context *current;

void fail_context(const struct fail_context *context)
{
	current = context;
}

void sim_bug(const char *file, int line, const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "inasim: bug at %s:%d: ", file, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	if (current)
		fprintf(stderr,
			"\n  scenario %s, seed %" PRIu64 ", time %" PRIu64 " ps, event %" PRIu64,
			current->scenario, current->seed, *current->now_ps, *current->events);
	fputs("\n  This is a mistake in inasim, not in your scenario; please report it.\n", stderr);
	abort();
}
