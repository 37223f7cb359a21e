/* Threads that do one thing together, each a part of it, again and again.
 *
 * A round is short, often some ten microseconds, and waking a thread takes longer than that. So
 * whoever waits for the others spins for about as long before it sleeps. */
#ifndef INASIM_CORE_TEAM_H
#define INASIM_CORE_TEAM_H

#include <stdbool.h>

struct team;

/* A team of `threads`, the caller being thread 0; fewer where the system gives no more. In each
 * round work(owner, thread) runs once in each of them. `owner` must outlive the team. */
struct team *team_new(unsigned threads, void (*work)(void *owner, unsigned thread), void *owner);
unsigned team_size(const struct team *team);

/* Runs a round, and returns when all have done their part. Each thread sees what any thread wrote
 * before the round; afterwards the caller sees what all wrote in it. False when the caller had to
 * sleep. */
bool team_run(struct team *team);

/* NULL is allowed. */
void team_free(struct team *team);

#endif
