#include "core/team.h"

#include "base/fail.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define LOOKS 4000 /* how often a thread checks a count before it sleeps: 10 to 150 us */

struct member {
	struct team *team;
	unsigned thread;
	pthread_t id;
};

/* Each atomic count has a cache line of its own. */
struct team {
	void (*work)(void *owner, unsigned thread);
	void *owner;
	unsigned size;
	bool over;
	const struct fail_context *context;
	struct member *members; /* 1..size-1 */
	_Alignas(64) atomic_uint round;
	_Alignas(64) atomic_uint working; /* members that have not done their part of the round */
	_Alignas(64) atomic_uint asleep;
	pthread_mutex_t lock; /* of sleepers */
	pthread_cond_t changed;
};

static void look_again(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* Waits until *count is `wanted`. False if the thread had to sleep. */
static bool wait_until(struct team *team, atomic_uint *count, unsigned wanted)
{
	for (unsigned i = 0; i < LOOKS; i++) {
		if (atomic_load_explicit(count, memory_order_acquire) == wanted)
			return true;
		look_again();
	}
	pthread_mutex_lock(&team->lock);
	atomic_fetch_add(&team->asleep, 1);
	while (atomic_load(count) != wanted)
		pthread_cond_wait(&team->changed, &team->lock);
	atomic_fetch_sub(&team->asleep, 1);
	pthread_mutex_unlock(&team->lock);
	return false;
}

/* Wakes sleeping threads after a count has changed. No wake-up is lost: a thread increments
 * `asleep` before its last look at the count, and the count changes before `asleep` is read
 * here. */
static void team_wake(struct team *team)
{
	if (!atomic_load(&team->asleep))
		return;
	pthread_mutex_lock(&team->lock);
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);
}

static void *member_main(void *owner)
{
	const struct member *member = owner;
	struct team *team = member->team;

	fail_context(team->context);
	for (unsigned round = 1;; round++) {
		wait_until(team, &team->round, round);
		if (team->over)
			return NULL;
		team->work(team->owner, member->thread);
		if (atomic_fetch_sub(&team->working, 1) == 1)
			team_wake(team);
	}
}

struct team *team_new(unsigned threads, void (*work)(void *owner, unsigned thread), void *owner)
{
	struct team *team = xaligned(64, sizeof(*team));

	team->work = work;
	team->owner = owner;
	team->context = fail_context_now();
	team->members = xcalloc(threads, sizeof(*team->members));
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->changed, NULL);
	for (team->size = 1; team->size < threads; team->size++) {
		struct member *member = &team->members[team->size];

		*member = (struct member){ .team = team, .thread = team->size };
		if (pthread_create(&member->id, NULL, member_main, member))
			break;
	}
	return team;
}

unsigned team_size(const struct team *team)
{
	return team->size;
}

static void begin_round(struct team *team)
{
	atomic_store(&team->working, team->size - 1);
	atomic_fetch_add(&team->round, 1);
	team_wake(team);
}

bool team_run(struct team *team)
{
	begin_round(team);
	team->work(team->owner, 0);
	return wait_until(team, &team->working, 0);
}

void team_free(struct team *team)
{
	if (!team)
		return;
	team->over = true;
	begin_round(team);
	for (unsigned t = 1; t < team->size; t++)
		pthread_join(team->members[t].id, NULL);
	pthread_mutex_destroy(&team->lock);
	pthread_cond_destroy(&team->changed);
	free(team->members);
	free(team);
}
