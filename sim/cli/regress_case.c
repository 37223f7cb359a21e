/* One scenario: runs it, compares it with its reference, says what differs. */
#include "cli/regress.h"

#include "base/mem.h"
#include "base/units.h"
#include "core/fingerprint.h"
#include "io/json.h"
#include "io/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_SHOWN 12 /* in text; --json has all */

/* What was found. */
struct verdict {
	const char *result; /* one word */
	char *problem;      /* what kept us from comparing, or from finding the event */
	bool ran;
	uint64_t digest, events; /* of the run */
	const struct reference *reference;
	struct field_diffs fields, scenario;
	bool interval; /* checkpoints differ in after < time <= until */
	sim_time after, until;
	bool located; /* `first` holds */
	struct first_event first;
};

/* --- in words --- */

static void print_fields(const struct field_diffs *diff, const char *heading, FILE *to)
{
	for (size_t i = 0; i < diff->count && i < FIELDS_SHOWN; i++) {
		const struct field_diff *f = &diff->fields[i];

		fprintf(to, "  %s %s: %s, reference %s", heading, f->path, f->found, f->reference);
		if (f->tolerant)
			fprintf(to, " (allowed: relative %g, absolute %g)", f->relative,
				f->absolute);
		fputc('\n', to);
	}
	if (diff->count > FIELDS_SHOWN)
		fprintf(to, "  %s ... and %zu more\n", heading, diff->count - FIELDS_SHOWN);
}

static void print_words(const char *who, const struct event_words *words, FILE *to)
{
	fprintf(to, "    %s event %" PRIu64 " at %s s: %s, %s: %s\n", who, words->number,
		words->time_s, words->class, words->entity, words->what);
}

static void print_first(const char *name, const struct verdict *v, FILE *to)
{
	const struct first_event *first = &v->first;

	if (!first->found) {
		fprintf(to, "  the run is over after event %" PRIu64 ", the reference goes on\n",
			v->events);
		print_words("last:", &first->words, to);
	} else if (first->first == first->last) {
		fputs("  first event that differs:\n", to);
		print_words("now:", &first->words, to);
		if (first->first > v->reference->events)
			fputs("    the reference is over before it\n", to);
	} else {
		char until[NUMBER_TEXT];

		number_seconds(until, first->at);
		fprintf(to,
			"  the first event that differs is one of %" PRIu64 ", up to event %" PRIu64
			" at %s s (scripts/first-event %s finds it); the first of them:\n",
			first->last - first->first + 1, first->last, until, name);
		print_words("now:", &first->words, to);
	}
}

static void print_verdict(const struct regress_case *job, const struct verdict *v)
{
	FILE *to = job->report;

	fprintf(to, "%s: %s\n", job->entry->name, v->result);
	if (v->ran && v->reference && strcmp(v->result, "same")) {
		fprintf(to,
			"  digest %016" PRIx64 ", reference %016" PRIx64 "; %" PRIu64
			" events, reference %" PRIu64 "\n",
			v->digest, v->reference->digest, v->events, v->reference->events);
		print_fields(&v->scenario, "scenario", to);
		print_fields(&v->fields, "summary", to);
		if (v->interval)
			fprintf(to, "  checkpoints: equal until %.9f s, not at %.9f s\n",
				seconds_of(v->after), seconds_of(v->until));
		if (v->located)
			print_first(job->entry->name, v, to);
	}
	if (v->fields.added)
		fprintf(to, "  note: the summary has %zu fields that the reference lacks\n",
			v->fields.added);
	if (v->problem)
		fprintf(to, "  %s\n", v->problem);
}

/* --- in JSON --- */

static void json_fields(struct json *json, const char *key, const struct field_diffs *diff)
{
	json_open_array(json, key);
	for (size_t i = 0; i < diff->count; i++) {
		json_open_object(json, NULL);
		json_string(json, "field", diff->fields[i].path);
		json_string(json, "reference", diff->fields[i].reference);
		json_string(json, "found", diff->fields[i].found);
		json_close_object(json);
	}
	json_close_array(json);
}

static void json_words(struct json *json, const struct event_words *words)
{
	json_open_object(json, "now");
	json_u64(json, "event", words->number);
	json_raw(json, "time_s", words->time_s);
	json_string(json, "class", words->class);
	json_string(json, "entity", words->entity);
	json_string(json, "what", words->what);
	json_close_object(json);
}

/* Beyond the last event in question, so that the first event that differs is in another program's
 * log even if it comes somewhat later there. */
#define LOG_BEYOND (10 * PS_PER_US)

/* The arguments with which `run` logs the stretch, for scripts/first-event. */
static void json_log(struct json *json, const struct regress_entry *entry,
		     const struct first_event *first)
{
	char from[32], to[32], *text;
	size_t count;
	struct conf_override *sets = regress_overrides(entry, &count);

	unit_format(UNIT_TIME, first->before, from, sizeof(from));
	unit_format(UNIT_TIME, first->at + LOG_BEYOND, to, sizeof(to));
	text = xasprintf("--events=%s..%s", from, to);
	json_open_array(json, "log");
	json_string(json, NULL, entry->path);
	json_string(json, NULL, text);
	free(text);
	for (size_t i = 0; i < count; i++) {
		text = xasprintf("--set=%s=%s", sets[i].pointer, sets[i].value);
		json_string(json, NULL, text);
		free(text);
	}
	json_close_array(json);
	regress_overrides_free(sets, count);
}

static void json_first(struct json *json, const struct regress_entry *entry,
		       const struct first_event *first)
{
	json_open_object(json, "first_event");
	json_bool(json, "found", first->found);
	json_bool(json, "exact", first->found && first->first == first->last);
	json_u64(json, "from", first->first);
	json_u64(json, "to", first->last);
	json_words(json, &first->words);
	json_log(json, entry, first);
	json_close_object(json);
}

static void json_verdict(const struct regress_case *job, const struct verdict *v)
{
	struct json json;
	char *text;

	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "name", job->entry->name);
	json_string(&json, "result", v->result);
	json_string(&json, "problem", v->problem);
	if (v->ran) {
		json_hex64(&json, "digest", v->digest);
		json_u64(&json, "events", v->events);
	}
	if (v->ran && v->reference) {
		json_hex64(&json, "reference_digest", v->reference->digest);
		json_u64(&json, "reference_events", v->reference->events);
		json_fields(&json, "scenario", &v->scenario);
		json_fields(&json, "summary", &v->fields);
	}
	if (v->interval) {
		json_seconds(&json, "equal_until_s", v->after);
		json_seconds(&json, "not_at_s", v->until);
	}
	if (v->located)
		json_first(&json, job->entry, &v->first);
	json_close_object(&json);
	text = json_finish(&json);
	fputs(text, job->report);
	free(text);
}

static int conclude(const struct regress_case *job, struct verdict *v, const char *result, int code)
{
	v->result = result;
	if (job->json)
		json_verdict(job, v);
	else
		print_verdict(job, v);
	free(v->problem);
	field_diffs_release(&v->fields);
	field_diffs_release(&v->scenario);
	return code;
}

/* --- comparing --- */

/* Those of the scenario before those of all. The caller frees. */
static struct regress_tolerance *tolerances_of(const struct regress_case *job, size_t *count)
{
	const struct conf_list *own = &job->entry->tolerances, *all = &job->index->tolerances;
	struct regress_tolerance *list = xcalloc(own->count + all->count + 1, sizeof(*list));

	if (own->count)
		memcpy(list, own->items, own->count * sizeof(*list));
	if (all->count)
		memcpy(list + own->count, all->items, all->count * sizeof(*list));
	*count = own->count + all->count;
	return list;
}

static void note_run(const struct regress_run *run, struct verdict *v)
{
	v->ran = true;
	v->digest = simulation_digest(run->s);
	v->events = simulation_events(run->s);
}

static void compare_runs(const struct regress_case *job, const struct regress_run *run,
			 bool tolerant, struct verdict *v)
{
	size_t count;
	struct regress_tolerance *tolerances = tolerances_of(job, &count);
	const struct reference *r = v->reference;

	field_diffs_find(r->summary, run->summary, tolerances, tolerant ? count : 0, &v->fields);
	field_diffs_find(r->resolved, run->resolved, NULL, 0, &v->scenario);
	v->interval =
		checkpoints_differ(r->checkpoints, r->checkpoint_count, run->s->checkpoints->list,
				   run->s->checkpoints->count, &v->after, &v->until);
	free(tolerances);
}

static bool same_digest(const struct verdict *v)
{
	return v->digest == v->reference->digest && v->events == v->reference->events;
}

static void find_event(const struct regress_case *job, struct verdict *v)
{
	v->located = regress_locate(job->entry, v->reference, &v->first, &v->problem) == EXIT_DONE;
}

/* Runs and holds the run against its reference. */
static int hold_against(const struct regress_case *job, struct regress_run *run, struct verdict *v)
{
	bool same;

	simulation_checkpoints(run->s);
	regress_run_go(run);
	note_run(run, v);
	compare_runs(job, run, true, v);
	if (!same_digest(v))
		find_event(job, v);
	same = same_digest(v) && !v->fields.count;
	return conclude(job, v, same ? "same" : "differs", same ? EXIT_DONE : EXIT_DIFFERS);
}

static int compare_case(const struct regress_case *job)
{
	struct verdict v = { 0 };
	struct reference reference;
	struct regress_run run = { 0 };
	int code = EXIT_INVALID;

	switch (reference_read(job->dir, job->entry->name, &reference, &v.problem)) {
	case REFERENCE_MISSING:
		code = conclude(job, &v, "has no reference", EXIT_DIFFERS);
		break;
	case REFERENCE_BAD:
		code = conclude(job, &v, "broken reference", code);
		break;
	case REFERENCE_READ:
		v.reference = &reference;
		code = regress_run_build(&run, job->entry, &v.problem);
		code = code == EXIT_DONE ? hold_against(job, &run, &v)
					 : conclude(job, &v, "cannot be run", code);
		break;
	}
	regress_run_release(&run);
	reference_release(&reference);
	return code;
}

/* --- a new reference --- */

struct printer {
	const struct simulation *s;
	uint64_t count;
	size_t capacity;
	uint16_t *prints;
	uint16_t last; /* after the last event */
	uint64_t events;
};

static void nothing(void *owner, const struct sim_event *event)
{
	(void)owner, (void)event;
}

static void take_print(void *owner, const struct sim_event *event)
{
	struct printer *p = owner;

	p->last = fingerprint_now(&p->s->sim);
	p->events = event->number;
	if (!fingerprint_due(event->number))
		return;
	p->prints = array_reserve(p->prints, p->count, &p->capacity, sizeof(*p->prints));
	p->prints[p->count++] = p->last;
}

static void run_printed(struct regress_run *run, struct printer *printer)
{
	const struct sim_observer observer = { nothing, take_print, printer };

	printer->s = run->s;
	run->s->observer = &observer;
	simulation_checkpoints(run->s);
	regress_run_go(run);
	run->s->observer = NULL;
	if (!printer->events || fingerprint_due(printer->events))
		return;
	printer->prints = array_reserve(printer->prints, printer->count, &printer->capacity,
					sizeof(*printer->prints));
	printer->prints[printer->count++] = printer->last;
}

static void write_reference(const struct regress_case *job, const struct regress_run *run,
			    const struct printer *printer, const struct reference *before)
{
	const struct reference_run written = { .name = job->entry->name,
					       .digest = simulation_digest(run->s),
					       .events = simulation_events(run->s),
					       .summary = run->summary,
					       .resolved = run->resolved,
					       .checkpoints = run->s->checkpoints,
					       .prints = printer->prints };
	size_t length;
	char *prints = reference_prints(&written, &length);
	char *text = reference_text(&written, before, job->reason);

	fwrite(prints, 1, length, job->prints);
	fputs(text, job->text);
	free(prints);
	free(text);
}

/* Nothing of what the files hold, but the history, is new. */
static bool nothing_new(const struct verdict *v, const struct printer *printer)
{
	return same_digest(v) && !v->fields.count && !v->fields.added && !v->scenario.count &&
	       !v->scenario.added && v->reference->prints &&
	       !memcmp(v->reference->prints, printer->prints,
		       printer->count * sizeof(*printer->prints));
}

/* Runs and writes what is new. `before` may be NULL: all is. */
static int write_what_is_new(const struct regress_case *job, struct regress_run *run,
			     const struct reference *before, struct verdict *v)
{
	struct printer printer = { 0 };
	int code;

	v->reference = before;
	run_printed(run, &printer);
	note_run(run, v);
	if (before)
		compare_runs(job, run, false, v);
	if (simulation_end(run->s) == END_VIOLATION) {
		v->problem = xasprintf("a check was violated: %s", run->s->checks.first);
		code = conclude(job, v, "is no reference", EXIT_VIOLATED);
	} else if (before && nothing_new(v, &printer)) {
		code = conclude(job, v, "same", EXIT_DONE);
	} else {
		write_reference(job, run, &printer, before);
		code = conclude(job, v, before ? "changed" : "new", EXIT_DIFFERS);
	}
	free(printer.prints);
	return code;
}

/* What is broken in the reference is written anew, as long as its history, which
 * cannot be made again, is whole. */
static int update_case(const struct regress_case *job)
{
	struct verdict v = { 0 };
	struct reference reference;
	struct regress_run run = { 0 };
	bool known = reference_read(job->dir, job->entry->name, &reference, &v.problem) !=
		     REFERENCE_MISSING;
	int code;

	if (known && !reference.history) {
		code = conclude(job, &v, "broken reference", EXIT_INVALID);
	} else {
		free(v.problem);
		v.problem = NULL;
		code = regress_run_build(&run, job->entry, &v.problem);
		code = code == EXIT_DONE
			       ? write_what_is_new(job, &run, known ? &reference : NULL, &v)
			       : conclude(job, &v, "cannot be run", code);
	}
	regress_run_release(&run);
	reference_release(&reference);
	return code;
}

int regress_case(const struct regress_case *job)
{
	return job->reason ? update_case(job) : compare_case(job);
}
