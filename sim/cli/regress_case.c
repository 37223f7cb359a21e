/* Runs one scenario, compares it with its reference, and says what differs. */
#include "cli/regress.h"

#include "base/mem.h"
#include "base/units.h"
#include "data/json.h"
#include "data/number.h"
#include "lab/names.h"
#include "lab/regress/field_diff.h"
#include "lab/regress/fingerprint.h"
#include "run/event_log.h"
#include "run/results.h"
#include "run/simulation_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_SHOWN 12 /* in text; --json has all */

/* The first event that differs. */
struct first_event {
	bool found; /* false: the run ends before a fingerprint differs */
	uint64_t first,
		last;        /* the event is one from `first` to `last`; exact if these are equal */
	sim_time before, at; /* times of the event before `first`, and of `last` */
	/* Event `first` or, if none was found, the last event, in words. */
	uint64_t number;
	const char *class;
	char time_s[NUMBER_TEXT], entity[EVENT_TEXT], what[EVENT_TEXT];
};

struct case_verdict {
	const char *result; /* "same", "differs", "cannot be run" ... */
	char *problem;      /* why the run was not compared, or its first event not found */
	bool ran;
	uint64_t digest, events; /* of the run */
	const struct reference *reference;
	struct field_diffs fields, scenario;
	bool located; /* `first` is filled in */
	struct first_event first;
};

/* --- a run --- */

struct regress_run {
	struct scenario scenario;
	struct conf_doc *doc;
	struct simulation *s;
	cJSON *summary, *resolved; /* after go() */
};

/* EXIT_DONE, or another code and *error (caller frees). */
static int build(struct regress_run *run, const struct regress_entry *entry, char **error)
{
	*run = (struct regress_run){ 0 };
	run->doc =
		scenario_load(entry->path, &run->scenario, entry->overrides, entry->override_count);
	if (conf_errors(run->doc)) {
		*error = names_mistakes(run->doc);
		return exit_code_of(run->doc);
	}
	run->s = simulation_build(&run->scenario, NULL, error);
	return run->s ? EXIT_DONE : EXIT_IO;
}

static cJSON *read_json(char *text)
{
	cJSON *tree = cJSON_Parse(text);

	free(text);
	return tree;
}

/* Runs to the end and keeps the results. */
static void go(struct regress_run *run)
{
	const struct simulation_options options = { 0 };

	simulation_go(run->s, &options);
	run->summary = read_json(results_summary_json(run->s));
	summary_strip(run->summary);
	run->resolved = read_json(conf_resolved_json(run->doc, false));
}

static void note_run(const struct regress_run *run, struct case_verdict *v)
{
	v->ran = true;
	v->digest = simulation_digest(run->s);
	v->events = simulation_events(run->s);
}

static void release(struct regress_run *run)
{
	cJSON_Delete(run->summary);
	cJSON_Delete(run->resolved);
	simulation_free(run->s);
	conf_doc_free(run->doc);
}

/* --- the first event that differs --- */

/* Compares fingerprints, and keeps the events since the last equal one. If there are none,
 * window[0] is the event of that fingerprint. */
struct locator {
	struct simulation *s;
	const struct reference *reference;
	uint64_t compared;           /* fingerprints compared so far */
	struct event_record *window; /* the events since the last equal fingerprint */
	size_t count, capacity;
	sim_time before; /* time of the last equal fingerprint */
	bool found;      /* an event of the window differs */
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

	/* the reference also has a fingerprint after its last event */
	if (event->number <= r->events) {
		if (!fingerprint_due(event->number) && event->number != r->events)
			return;
		if (fingerprint_now(&l->s->sim) == r->prints[l->compared++]) {
			l->before = event->at;
			l->window[0] = l->window[l->count - 1];
			l->count = 0;
			return;
		}
	}
	l->found = true; /* an event differs, or the reference has no more */
	sim_stop(&l->s->sim);
}

static void put_words(const struct locator *l, struct first_event *first)
{
	const struct event_record *record = &l->window[l->found || !l->count ? 0 : l->count - 1];

	first->number = record->event.number;
	number_seconds(first->time_s, record->event.at);
	first->class = event_class_names[record->event.class];
	event_entity(l->s, record, first->entity);
	event_what(l->s, record, first->what);
}

/* Runs the scenario once more, event by event, until the fingerprints differ. */
static void find_event(const struct regress_case *job, struct case_verdict *v)
{
	struct first_event *first = &v->first;
	struct regress_run run;
	struct locator l = { .reference = v->reference };
	struct sim_observer observer = { .before = keep_event,
					 .after = compare_event,
					 .owner = &l };

	v->located = build(&run, job->entry, &v->problem) == EXIT_DONE;
	if (v->located) {
		l.s = run.s;
		simulation_observe(run.s, &observer);
		go(&run);
		first->found = l.found;
		first->last = simulation_events(run.s);
		first->first = first->last - (l.count ? l.count - 1 : 0);
		first->before = l.before;
		first->at = run.s->sim.now;
		v->located = l.window; /* without events, none can differ */
		if (v->located)
			put_words(&l, first);
	}
	free(l.window);
	release(&run);
}

/* --- in words --- */

/* Prints two numbers with six digits, or more if needed to tell them apart, and the change in
 * percent. */
static void print_numbers(const struct field_diff *f, FILE *to)
{
	char found[NUMBER_TEXT], reference[NUMBER_TEXT];
	int digits = 6;

	do {
		snprintf(found, sizeof(found), "%.*g", digits, f->numbers.found);
		snprintf(reference, sizeof(reference), "%.*g", digits, f->numbers.reference);
	} while (++digits <= 17 && !strcmp(found, reference));
	fprintf(to, "%s, reference %s", found, reference);
	if (f->numbers.reference != 0)
		fprintf(to, ", %+.3g %%", 100 * field_diff_change(f));
}

static void print_fields(const struct field_diffs *diff, const char *heading, FILE *to)
{
	for (size_t i = 0; i < diff->count && i < FIELDS_SHOWN; i++) {
		const struct field_diff *f = &diff->fields[i];

		fprintf(to, "  %s %s: ", heading, f->path);
		if (f->numbers.given)
			print_numbers(f, to);
		else
			fprintf(to, "%s, reference %s", f->found, f->reference);
		if (f->tolerant)
			fprintf(to, " (allowed: relative %g, absolute %g)", f->relative,
				f->absolute);
		fputc('\n', to);
	}
	if (diff->count > FIELDS_SHOWN)
		fprintf(to, "  %s ... and %zu more\n", heading, diff->count - FIELDS_SHOWN);
}

static void print_first(const struct case_verdict *v, FILE *to)
{
	const struct first_event *first = &v->first;
	char until[NUMBER_TEXT];

	number_seconds(until, first->at);
	if (!first->found)
		fprintf(to, "  the run ended after event %" PRIu64 ", but the reference goes on\n",
			v->events);
	else if (first->first == first->last)
		fputs("  first event that differs:\n", to);
	else
		fprintf(to,
			"  the first event that differs is one of events %" PRIu64 " to %" PRIu64
			", until %s s (--json says how to log them); they begin with:\n",
			first->first, first->last, until);
	fprintf(to, "    %s event %" PRIu64 " at %s s: %s, %s: %s\n",
		first->found ? "now:" : "last:", first->number, first->time_s, first->class,
		first->entity, first->what);
	if (first->found && first->first == first->last && first->first > v->reference->events)
		fputs("    the reference ended before this event\n", to);
}

static void print_verdict(const struct regress_case *job, const struct case_verdict *v)
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
		if (v->located)
			print_first(v, to);
	}
	if (v->fields.added)
		fprintf(to, "  note: the summary has %zu field%s that the reference lacks\n",
			v->fields.added, v->fields.added == 1 ? "" : "s");
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
		json_real(json, "change", field_diff_change(&diff->fields[i]));
		json_close_object(json);
	}
	json_close_array(json);
}

/* The log goes on for this long after the last event in question: in another version of the program
 * the event may come somewhat later. */
#define LOG_BEYOND (10 * PS_PER_US)

/* Writes the arguments with which `run` logs the events in question. */
static void json_log(struct json *json, const struct regress_entry *entry,
		     const struct first_event *first)
{
	char from[32], to[32], *text;

	unit_format(UNIT_TIME, first->before, from, sizeof(from));
	unit_format(UNIT_TIME, first->at + LOG_BEYOND, to, sizeof(to));
	text = xasprintf("--events=%s..%s", from, to);
	json_open_array(json, "log");
	json_string(json, NULL, entry->path);
	json_string(json, NULL, text);
	free(text);
	for (size_t i = 0; i < entry->override_count; i++) {
		text = xasprintf("--set=%s=%s", entry->overrides[i].pointer,
				 entry->overrides[i].value);
		json_string(json, NULL, text);
		free(text);
	}
	json_close_array(json);
}

static void json_first(struct json *json, const struct regress_entry *entry,
		       const struct first_event *first)
{
	json_open_object(json, "first_event");
	json_bool(json, "found", first->found);
	json_bool(json, "exact", first->found && first->first == first->last);
	json_u64(json, "from", first->first);
	json_u64(json, "to", first->last);
	json_open_object(json, "now");
	json_u64(json, "event", first->number);
	json_raw(json, "time_s", first->time_s);
	json_string(json, "class", first->class);
	json_string(json, "entity", first->entity);
	json_string(json, "what", first->what);
	json_close_object(json);
	json_log(json, entry, first);
	json_close_object(json);
}

static void json_verdict(const struct regress_case *job, const struct case_verdict *v)
{
	struct json json;

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
	if (v->located)
		json_first(&json, job->entry, &v->first);
	json_close_object(&json);
	json_print(&json, job->report);
}

/* --- comparing --- */

/* The tolerances of the scenario, then those of all scenarios: the first that fits applies. The
 * caller frees. */
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

/* Fills in what differs. Without `tolerant`, summaries are compared exactly. */
static void compare_runs(const struct regress_case *job, const struct regress_run *run,
			 bool tolerant, struct case_verdict *v)
{
	size_t count;
	struct regress_tolerance *tolerances = tolerances_of(job, &count);
	const struct reference *r = v->reference;

	field_diffs_find(r->summary, run->summary, tolerances, tolerant ? count : 0, false,
			 &v->fields);
	field_diffs_find(r->resolved, run->resolved, NULL, 0, true, &v->scenario);
	free(tolerances);
}

static bool same_digest(const struct case_verdict *v)
{
	return v->digest == v->reference->digest && v->events == v->reference->events;
}

/* Notes the result and returns the exit code. */
static int conclude(struct case_verdict *v, const char *result, int code)
{
	v->result = result;
	return code;
}

static int compare_case(const struct regress_case *job, struct regress_run *run,
			struct case_verdict *v)
{
	int code = build(run, job->entry, &v->problem);

	if (code != EXIT_DONE)
		return conclude(v, "cannot be run", code);
	go(run);
	note_run(run, v);
	compare_runs(job, run, true, v);
	if (!same_digest(v))
		find_event(job, v);
	return same_digest(v) && !v->fields.count ? conclude(v, "same", EXIT_DONE)
						  : conclude(v, "differs", EXIT_DIFFERS);
}

/* --- a new reference --- */

struct printer {
	const struct simulation *s;
	uint64_t count;
	size_t capacity;
	uint16_t *prints;
	uint16_t last;   /* fingerprint after the last event so far */
	uint64_t events; /* so far */
};

static void keep_print(struct printer *p)
{
	p->prints = array_reserve(p->prints, p->count, &p->capacity, sizeof(*p->prints));
	p->prints[p->count++] = p->last;
}

static void note_print(void *owner, const struct sim_event *event)
{
	struct printer *p = owner;

	p->last = fingerprint_now(&p->s->sim);
	p->events = event->number;
	if (fingerprint_due(event->number))
		keep_print(p);
}

static void run_printed(struct regress_run *run, struct printer *printer)
{
	struct sim_observer observer = { .after = note_print, .owner = printer };

	printer->s = run->s;
	simulation_observe(run->s, &observer);
	go(run);
	/* the last event always has a fingerprint */
	if (printer->events && !fingerprint_due(printer->events))
		keep_print(printer);
}

static void write_reference(const struct regress_case *job, const struct regress_run *run,
			    const struct printer *printer, const struct reference *before)
{
	const struct reference_run fresh = { .name = job->entry->name,
					     .digest = simulation_digest(run->s),
					     .events = simulation_events(run->s),
					     .summary = run->summary,
					     .resolved = run->resolved,
					     .prints = printer->prints };
	size_t length;
	char *prints = reference_prints(&fresh, &length);
	char *text = reference_text(&fresh, before, job->reason);

	fwrite(prints, 1, length, job->prints);
	fputs(text, job->text);
	free(prints);
	free(text);
}

/* Whether an update would only add a line of history. */
static bool nothing_new(const struct case_verdict *v, const struct printer *printer)
{
	return same_digest(v) && !v->fields.count && !v->fields.added && !v->scenario.count &&
	       v->reference->prints &&
	       !memcmp(v->reference->prints, printer->prints,
		       printer->count * sizeof(*printer->prints));
}

/* Writes the reference if anything in it is new. */
static int write_what_is_new(const struct regress_case *job, const struct regress_run *run,
			     const struct printer *printer, struct case_verdict *v)
{
	note_run(run, v);
	if (v->reference)
		compare_runs(job, run, false, v);
	if (run->s->end == END_VIOLATION) {
		v->problem = xasprintf("a check was violated: %s", run->s->checks.first);
		return conclude(v, "is no reference", EXIT_VIOLATED);
	}
	if (v->reference && nothing_new(v, printer))
		return conclude(v, "same", EXIT_DONE);
	write_reference(job, run, printer, v->reference);
	return conclude(v, v->reference ? "changed" : "new", EXIT_DIFFERS);
}

static int update_case(const struct regress_case *job, struct regress_run *run,
		       struct case_verdict *v)
{
	struct printer printer = { 0 };
	int code;

	free(v->problem); /* a mistake in the reference: the update repairs it */
	v->problem = NULL;
	code = build(run, job->entry, &v->problem);
	if (code != EXIT_DONE)
		return conclude(v, "cannot be run", code);
	run_printed(run, &printer);
	code = write_what_is_new(job, run, &printer, v);
	free(printer.prints);
	return code;
}

int regress_case(const struct regress_case *job)
{
	struct case_verdict v = { 0 };
	struct regress_run run = { 0 };
	struct reference reference;
	enum reference_state state =
		reference_read(job->dir, job->entry->name, &reference, &v.problem);
	int code;

	v.reference = state == REFERENCE_MISSING ? NULL : &reference;
	/* an update repairs a broken reference, but cannot bring back a lost history */
	if (state == REFERENCE_BAD && (!job->reason || !reference.history))
		code = conclude(&v, "broken reference", EXIT_INVALID);
	else if (job->reason)
		code = update_case(job, &run, &v);
	else if (state == REFERENCE_MISSING)
		code = conclude(&v, "has no reference", EXIT_DIFFERS);
	else
		code = compare_case(job, &run, &v);
	if (job->json)
		json_verdict(job, &v);
	else
		print_verdict(job, &v);
	free(v.problem);
	field_diffs_release(&v.fields);
	field_diffs_release(&v.scenario);
	release(&run);
	reference_release(&reference);
	return code;
}
