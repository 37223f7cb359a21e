/* Threads that do the same thing together, again and again, each a part of it.
 *
 * A round is short, often some microseconds, so whoever waits for the others looks for a while
 * before it sleeps: waking somebody takes longer than that. It does sleep then, so a machine with
 * less idle cores than threads loses time, but does not spend it on waiting. */
#ifndef INASIM_CORE_TEAM_H
#define INASIM_CORE_TEAM_H

struct team;

/* A team of `threads`, the caller being thread 0; fewer where the system gives no more. In each
 * round work(owner, thread) runs once in each of them. `owner` must outlive the team. */
struct team *team_new(unsigned threads, void (*work)(void *owner, unsigned thread), void *owner);
unsigned team_size(const struct team *team);

/* A round: returns when all have done their part. What was written before it, and in earlier
 * rounds, is seen by all in it. */
void team_run(struct team *team);

/* NULL is allowed. */
void team_free(struct team *team);

#endif
