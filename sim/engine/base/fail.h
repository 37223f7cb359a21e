/* How the program gives up on itself.
 *
 * A user's mistake is never handled here (see conf/): these are bugs of inasim
 * and exhausted memory. SIM_BUG_ON() stays in release builds. */
#ifndef INASIM_BASE_FAIL_H
#define INASIM_BASE_FAIL_H

#include <stddef.h>
#include <stdint.h>

/* Prints the message, the context set by fail_context() and the place on
 * stderr, then aborts. Never returns. */
_Noreturn void sim_bug(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), cold));

/* Ends the program with FAIL_OUT_OF_MEMORY because it cannot get `size` bytes. Prints this, how
 * much memory is in use and what ran; allocates nothing more. Results that are being written keep
 * the name of unfinished ones. Never returns. */
#define FAIL_OUT_OF_MEMORY 7 /* exit code */
_Noreturn void fail_out_of_memory(size_t size) __attribute__((cold));

/* A program's last words: what ran when a bug was hit, or memory ran out. The struct stays owned
 * by the caller, which must clear the pointer (NULL) before it goes away.
 * Thread-local, so that two simulations in two threads do not mix. */
struct fail_context {
	const char *scenario;
	uint64_t seed;
	const uint64_t *now_ps;
	const uint64_t *events;
};
void fail_context(const struct fail_context *context);
const struct fail_context *fail_context_now(void); /* for a thread that helps this one */

#define SIM_BUG_ON(cond)                                                                           \
	do {                                                                                       \
		if (__builtin_expect(!!(cond), 0))                                                 \
			sim_bug(__FILE__, __LINE__, "%s", #cond);                                  \
	} while (0)

#endif
