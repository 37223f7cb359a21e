/* Ends the program on a bug of inasim or when memory runs out. Mistakes of users
 * are handled in conf/. SIM_BUG_ON() stays in release builds. */
#ifndef INASIM_BASE_FAIL_H
#define INASIM_BASE_FAIL_H

#include <stddef.h>
#include <stdint.h>

/* Prints file, line, message and the context set by fail_context() on stderr, then
 * aborts. Never returns. */
_Noreturn void sim_bug(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), cold));

/* Ends the program with FAIL_OUT_OF_MEMORY because `size` bytes cannot be allocated. Prints `size`,
 * the most memory used so far and the context set by fail_context(), and allocates nothing.
 * Unfinished result files keep their temporary names. Never returns. */
#define FAIL_OUT_OF_MEMORY 7 /* exit code */
_Noreturn void fail_out_of_memory(size_t size) __attribute__((cold));

/* The running simulation, for the messages above. The caller of fail_context() owns the struct and
 * calls fail_context(NULL) before freeing it. Each thread has its own context, so simulations in
 * different threads do not mix. */
struct fail_context {
	const char *scenario;
	uint64_t seed;
	const uint64_t *now_ps;
	const uint64_t *events;
};
void fail_context(const struct fail_context *context);

#define SIM_BUG_ON(cond)                                                                           \
	do {                                                                                       \
		if (__builtin_expect(!!(cond), 0))                                                 \
			sim_bug(__FILE__, __LINE__, "%s", #cond);                                  \
	} while (0)

#endif
