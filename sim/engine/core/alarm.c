#include "core/alarm.h"

#define LOOK_KEY (UINT64_C(1) << 63) /* makes the look's key differ from the timeout's */

void alarm_look(struct sim *sim, struct alarm *alarm, sim_time at)
{
	alarm->at = at > sim->now ? at : sim->now;
	timer_set(sim, &alarm->look, alarm->at);
}

static void on_look(struct sim *sim, uint32_t entity, void *owner)
{
	struct alarm *alarm = owner;
	sim_time due = alarm->due(alarm->owner);

	(void)entity;
	sim->uncounted++;
	alarm->at = SIM_TIME_MAX;
	if (due <= sim->now)
		timer_set(sim, &alarm->timer, sim->now);
	else if (due != SIM_TIME_MAX)
		alarm_look(sim, alarm, due);
}

void alarm_open(struct sim *sim, struct alarm *alarm, uint64_t key, sim_handler *handler,
		alarm_due *due, void *owner)
{
	*alarm = (struct alarm){ .at = SIM_TIME_MAX, .due = due, .owner = owner };
	timer_open(sim, &alarm->timer, SIM_TIMER, key, handler, owner);
	timer_open(sim, &alarm->look, SIM_TIMER, key | LOOK_KEY, on_look, alarm);
	sim_silent(sim, alarm->look.id);
}

void alarm_close(struct sim *sim, struct alarm *alarm)
{
	timer_close(sim, &alarm->timer);
	timer_close(sim, &alarm->look);
}
