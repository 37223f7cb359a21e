/* A timeout that is put off again and again, such as that of the oldest unacknowledged packet.
 *
 * Setting a timer for every packet would cost an event per packet. Instead a silent event, the
 * look, checks now and then whether the timeout is due. If it is not, the next look is set to the
 * new time of the timeout. Only a timeout that is due becomes an event of the run and digest. */
#ifndef INASIM_CORE_ALARM_H
#define INASIM_CORE_ALARM_H

#include "core/sim.h"

/* When the timeout is due, as far as is known now; SIM_TIME_MAX = never. */
typedef sim_time alarm_due(const void *owner);

struct alarm {
	sim_time at; /* time of the look; SIM_TIME_MAX if none is set */
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

/* Call this whenever the timeout may be due sooner than before. The timeout is at `at` or later. */
static inline void alarm_set(struct sim *sim, struct alarm *alarm, sim_time at)
{
	if (at < alarm->at)
		alarm_look(sim, alarm, at);
}

#endif
