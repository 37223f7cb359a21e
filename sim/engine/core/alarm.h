/* A timeout that is put off again and again, such as that of the oldest packet that awaits its
 * answer.
 *
 * Setting a timer for every packet would cost an event each. Instead a silent event, the look,
 * checks now and then whether the timeout is due. If it is not, the look is set anew, to the time
 * at which the timeout is due now. The timeout itself becomes an event of the run, with a place in
 * the digest, only when it is due. */
#ifndef INASIM_CORE_ALARM_H
#define INASIM_CORE_ALARM_H

#include "core/sim.h"

/* When the timeout is due, as far as is known now; SIM_TIME_MAX = never. */
typedef sim_time alarm_due(const void *owner);

struct alarm {
	sim_time at; /* of the look; SIM_TIME_MAX = none is set */
	struct timer timer, look;
	alarm_due *due;
	const void *owner;
};

/* Key, handler and owner are as in timer_open(); the class is SIM_TIMER. The struct must not move
 * until alarm_close(). */
void alarm_open(struct sim *sim, struct alarm *alarm, uint64_t key, sim_handler *handler,
		alarm_due *due, void *owner);
void alarm_close(struct sim *sim, struct alarm *alarm);

/* For alarm_set(): moves the look to `at`. */
void alarm_look(struct sim *sim, struct alarm *alarm, sim_time at);

/* The timeout is due at `at`, or later. Call this whenever it may now be due sooner than before. */
static inline void alarm_set(struct sim *sim, struct alarm *alarm, sim_time at)
{
	if (at < alarm->at)
		alarm_look(sim, alarm, at);
}

#endif
