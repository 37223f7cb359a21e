#include "cli/regress.h"

#include "base/mem.h"
#include "base/units.h"
#include "core/fingerprint.h"
#include "io/csv_read.h"
#include "io/folder.h"
#include "io/number.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- by fingerprints --- */

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

/* --- with the program that made the reference --- */

/* Beyond the last event of the window, so that the other program's first event
 * that differs is in its log even if it comes somewhat later. */
#define LOG_BEYOND (10 * PS_PER_US)

/* The arguments of PROGRAM run SCENARIO ...; all are freed by the caller. */
static char **log_arguments(const struct regress_entry *entry, const char *program, const char *out,
			    const struct first_event *first)
{
	char from[32], to[32];
	size_t count, at = 0;
	struct conf_override *sets = regress_overrides(entry, &count);
	char **argv = xcalloc(10 + 2 * count, sizeof(*argv));

	unit_format(UNIT_TIME, first->before, from, sizeof(from));
	unit_format(UNIT_TIME, first->at + LOG_BEYOND, to, sizeof(to));
	argv[at++] = xstrdup(program);
	argv[at++] = xstrdup("run");
	argv[at++] = xstrdup(entry->path);
	argv[at++] = xstrdup("--quiet");
	argv[at++] = xstrdup("--out");
	argv[at++] = xstrdup(out);
	argv[at++] = xstrdup("--events");
	argv[at++] = xasprintf("%s..%s", from, to);
	for (size_t i = 0; i < count; i++) {
		argv[at++] = xstrdup("--set");
		argv[at++] = xasprintf("%s=%s", sets[i].pointer, sets[i].value);
	}
	regress_overrides_free(sets, count);
	return argv;
}

/* Its exit code, or -1 when it could not be run or was killed. */
static int call(char **argv)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The digest of the run that left its results in `dir`; 0 = unknown. */
static uint64_t digest_in(const char *dir)
{
	char *path = folder_join(dir, "summary.json");
	size_t length;
	char *text = folder_read(path, SIZE_MAX, &length);
	cJSON *root = text ? cJSON_Parse(text) : NULL;
	const cJSON *digest = cJSON_GetObjectItemCaseSensitive(root, "digest");
	uint64_t value = cJSON_IsString(digest) ? strtoull(digest->valuestring, NULL, 16) : 0;

	cJSON_Delete(root);
	free(text);
	free(path);
	return value;
}

/* Has `program` log the stretch into `out`. NULL, or what went wrong (caller frees). */
static char *make_log(const struct regress_entry *entry, const char *program, const char *out,
		      const struct first_event *first)
{
	char **argv = log_arguments(entry, program, out, first), *error = NULL;
	int code = call(argv);

	if (code == EXIT_USAGE)
		error = xasprintf("%s knows no \"run --events\": it is too old", program);
	else if (code == 127 || code < 0)
		error = xasprintf("%s cannot be run", program);
	else if (code != EXIT_DONE && code != EXIT_UNFINISHED && code != EXIT_VIOLATED)
		error = xasprintf("%s run %s ends with exit code %d", program, entry->path, code);
	for (char **a = argv; *a; a++)
		free(*a);
	free(argv);
	return error;
}

struct log_reader {
	struct csv *csv;
	int number, time, class, entity, what, state;
};

static bool log_reader_open(struct log_reader *r, const char *dir, char **error)
{
	char *path = folder_join(dir, "events.csv");

	r->csv = csv_open(path, error);
	free(path);
	if (!r->csv)
		return false;
	r->number = csv_need(r->csv, "event");
	r->time = csv_need(r->csv, "time_s");
	r->class = csv_need(r->csv, "class");
	r->entity = csv_need(r->csv, "entity");
	r->what = csv_need(r->csv, "what");
	r->state = csv_need(r->csv, "state");
	return true;
}

/* The next line, or number 0 at the end. */
static void log_reader_next(struct log_reader *r, struct event_words *words)
{
	*words = (struct event_words){ 0 };
	if (!csv_next(r->csv))
		return;
	words->number = csv_u64(r->csv, r->number);
	snprintf(words->time_s, sizeof(words->time_s), "%s", csv_text(r->csv, r->time));
	snprintf(words->class, sizeof(words->class), "%s", csv_text(r->csv, r->class));
	snprintf(words->entity, sizeof(words->entity), "%s", csv_text(r->csv, r->entity));
	snprintf(words->what, sizeof(words->what), "%s", csv_text(r->csv, r->what));
	snprintf(words->state, sizeof(words->state), "%s", csv_text(r->csv, r->state));
}

/* Not by the words, which another version may choose otherwise. */
static bool same_event(const struct event_words *a, const struct event_words *b)
{
	return a->number == b->number && !strcmp(a->state, b->state);
}

/* Closes; the first message stays in *error. */
static bool log_reader_close(struct log_reader *r, char **error)
{
	char *late = NULL;

	if (csv_close(r->csv, &late))
		return true;
	if (*error)
		free(late);
	else
		*error = late;
	return false;
}

static bool compare_logs(const char *new_dir, const char *old_dir, struct event_words *now,
			 struct event_words *then, char **error)
{
	struct log_reader a, b;
	bool good;

	if (!log_reader_open(&a, new_dir, error))
		return false;
	if (!log_reader_open(&b, old_dir, error)) {
		log_reader_close(&a, error);
		return false;
	}
	do {
		log_reader_next(&a, now);
		log_reader_next(&b, then);
	} while (now->number && same_event(now, then));
	good = log_reader_close(&a, error);
	return log_reader_close(&b, error) && good;
}

static char *make_temporary_folder(void)
{
	const char *where = getenv("TMPDIR");
	char *path = xasprintf("%s/inasim-regress-XXXXXX", where && *where ? where : "/tmp");

	if (mkdtemp(path))
		return path;
	free(path);
	return NULL;
}

bool regress_against(const struct regress_entry *entry, const char *program,
		     const struct reference *reference, const struct first_event *first,
		     struct event_words *now, struct event_words *then, char **error)
{
	char *folder = make_temporary_folder(), *new_dir, *old_dir;
	bool good = false;

	if (!folder) {
		*error = xasprintf("no temporary folder can be made: %s", strerror(errno));
		return false;
	}
	new_dir = folder_join(folder, "new");
	old_dir = folder_join(folder, "old");
	*error = make_log(entry, program, old_dir, first);
	if (!*error && digest_in(old_dir) != reference->digest)
		*error =
			xasprintf("%s gives digest %016" PRIx64
				  ", not that of the reference: it did not make this reference, or "
				  "the scenario has changed and not the program",
				  program, digest_in(old_dir));
	if (!*error)
		*error = make_log(entry, "/proc/self/exe", new_dir, first);
	if (!*error)
		good = compare_logs(new_dir, old_dir, now, then, error);
	folder_remove(folder);
	free(new_dir);
	free(old_dir);
	free(folder);
	return good;
}
