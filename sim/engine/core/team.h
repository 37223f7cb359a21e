/* Threads that do the same thing together, again and again, each a part of it.
 *
 * A round is short, often some ten microseconds, so whoever waits for the others looks for about as
 * long before it sleeps: waking somebody takes longer than that. */
#ifndef INASIM_CORE_TEAM_H
#define INASIM_CORE_TEAM_H

#include <stdbool.h>

struct team;

/* A team of `threads`, the caller being thread 0; fewer where the system gives no more. In each
 * round work(owner, thread) runs once in each of them. `owner` must outlive the team. */
struct team *team_new(unsigned threads, void (*work)(void *owner, unsigned thread), void *owner);
unsigned team_size(const struct team *team);

/* A round: returns when all have done their part. What was written before it, and in earlier
 * rounds, is seen by all in it. False when the caller had to sleep. */
bool team_run(struct team *team);

/* NULL is allowed. */
void team_free(struct team *team);

#endif
