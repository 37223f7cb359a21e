/* A team of threads that does work in rounds, each thread a part of it.
 *
 * A round is short, often some ten microseconds, and waking a thread takes longer. So a thread that
 * waits spins before it sleeps, for 10 to 150 us depending on the processor. */
#ifndef INASIM_CORE_TEAM_H
#define INASIM_CORE_TEAM_H

#include <stdbool.h>

struct team;

/* Starts a team of `threads` threads, of which the caller is thread 0; fewer if the system gives no
 * more. In each round each thread calls work(owner, thread) once. `owner` must outlive the team. */
struct team *team_new(unsigned threads, void (*work)(void *owner, unsigned thread), void *owner);
unsigned team_size(const struct team *team);

/* Runs a round, and returns when all threads have done their part. Each thread sees all writes from
 * before the round, and the caller afterwards sees all writes of the round. False if the caller had
 * to sleep. */
bool team_run(struct team *team);

/* Ends the threads and frees the team. `team` may be NULL. */
void team_free(struct team *team);

#endif
