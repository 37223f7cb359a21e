#include "cli/regress.h"

#include "base/mem.h"
#include "core/fingerprint.h"
#include "io/number.h"

#include <stdlib.h>

/* Keeps the events since the last fingerprint that was equal. */
struct locator {
	struct simulation *s;
	const struct reference *reference;
	uint64_t compared;
	struct event_record *window;
	size_t count, capacity;
	sim_time before;
	bool found;
};

static void keep_event(void *owner, const struct sim_event *event)
{
	struct locator *l = owner;

	l->window = array_reserve(l->window, l->count, &l->capacity, sizeof(*l->window));
	event_record(l->s, event, &l->window[l->count++]);
}

static void compare_event(void *owner, const struct sim_event *event)
{
	struct locator *l = owner;
	const struct reference *r = l->reference;
	uint16_t print = fingerprint_now(&l->s->sim);

	if (event->number <= r->events) {
		if (!fingerprint_due(event->number) && event->number != r->events)
			return;
		if (print == r->prints[l->compared++]) {
			l->before = event->at;
			l->count = 0;
			return;
		}
	}
	l->found = true; /* another event, or one more than the reference had */
	sim_stop(&l->s->sim);
}

static void put_words(const struct simulation *s, const struct event_record *record,
		      struct event_words *words)
{
	words->number = record->event.number;
	number_seconds(words->time_s, record->event.at);
	snprintf(words->class, sizeof(words->class), "%s", event_class_names[record->event.class]);
	event_entity(s, record, words->entity);
	event_what(s, record, words->what);
}

int regress_locate(const struct regress_entry *entry, const struct reference *reference,
		   struct first_event *first, char **error)
{
	struct regress_run run;
	struct locator l = { .reference = reference };
	const struct sim_observer observer = { keep_event, compare_event, &l };
	int code = regress_run_build(&run, entry, error);

	*first = (struct first_event){ 0 };
	if (code == EXIT_DONE) {
		l.s = run.s;
		run.s->observer = &observer;
		regress_run_go(&run);
		first->found = l.found;
		first->last = simulation_events(run.s);
		first->first = first->last - l.count + 1;
		first->before = l.before;
		first->at = run.s->sim.now;
		if (l.count)
			put_words(run.s, &l.window[l.found ? 0 : l.count - 1], &first->words);
	}
	free(l.window);
	regress_run_release(&run);
	return code;
}
