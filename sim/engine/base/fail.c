#include "base/fail.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* The engine's only mutable variable at file scope. It serves error messages only. */
static _Thread_local const struct fail_context *current;

void fail_context(const struct fail_context *context)
{
	current = context;
}

static void print_context(void)
{
	if (current)
		fprintf(stderr,
			"\n  scenario %s, seed %" PRIu64 ", time %" PRIu64 " ps, event %" PRIu64,
			current->scenario, current->seed, *current->now_ps, *current->events);
}

void sim_bug(const char *file, int line, const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "inasim: bug at %s:%d: ", file, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	print_context();
	fputs("\n  This is a mistake in inasim, not in your scenario; please report it.\n", stderr);
	abort();
}

void fail_out_of_memory(size_t size)
{
	struct rusage usage = { 0 };

	fflush(stdout); /* what earlier runs have printed */
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr,
		"inasim: out of memory: asked for %zu bytes more, with at most %ld MB in use so "
		"far",
		size, usage.ru_maxrss * 1024 / 1000000);
	print_context();
	fputc('\n', stderr);
	_exit(FAIL_OUT_OF_MEMORY);
}
