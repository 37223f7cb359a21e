/* The verb regress: every scenario in a process of its own, the longest first. */
#include "cli/regress.h"

#include "base/child.h"
#include "base/home.h"
#include "base/mem.h"
#include "build_info.h"
#include "data/folder.h"
#include "data/json.h"
#include "lab/names.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct process {
	struct regress_case job; /* its temporary files are opened when it starts */
	uint64_t events; /* of the reference: how long the run will be; UINT64_MAX: unknown */
	pid_t pid;       /* 0: not running */
	int code;        /* exit code, once the process is over */
};

struct regress {
	const struct cli *cli;
	char *dir;
	struct regress_index *index;
	struct reference_reason reason; /* reason NULL: compare only */
	struct process *processes;      /* in the order of --scenario, else of the index */
	size_t count;
};

/* --- which --- */

/* Selects a scenario once, even if it is named twice. */
static void select_entry(struct regress *r, const struct regress_entry *entry)
{
	struct process *p;
	struct reference reference;
	char *error;

	for (size_t i = 0; i < r->count; i++)
		if (r->processes[i].job.entry == entry)
			return;
	p = &r->processes[r->count++];
	p->job = (struct regress_case){ .index = r->index,
					.entry = entry,
					.dir = r->dir,
					.json = r->cli->json,
					.reason = r->reason.reason ? &r->reason : NULL };
	p->events = reference_read(r->dir, entry->name, &reference, &error) == REFERENCE_READ
			    ? reference.events
			    : UINT64_MAX;
	free(error);
	reference_release(&reference);
}

static bool select_named(struct regress *r, const char *name)
{
	struct names names = { 0 };
	char *text;
	size_t i = regress_index_find(r->index, name);

	if (i != SIZE_MAX) {
		select_entry(r, &r->index->entries[i]);
		return true;
	}
	for (i = 0; i < r->index->count; i++)
		names_add(&names, r->index->entries[i].name);
	text = names_unknown("scenario", name, NULL, names.items, names.count);
	complain("%s: %s", r->dir, text);
	free(text);
	free(names.items);
	return false;
}

static bool select_scenarios(struct regress *r)
{
	const struct names *named = &r->cli->regress.scenarios;

	r->processes = xcalloc(r->index->count + 1, sizeof(*r->processes));
	for (size_t i = 0; i < named->count; i++)
		if (!select_named(r, named->items[i]))
			return false;
	for (size_t i = 0; i < r->index->count && !named->count; i++)
		select_entry(r, &r->index->entries[i]);
	return true;
}

/* Complains of references whose scenario is gone: nobody would notice that they guard nothing. */
static bool none_is_left_over(const struct regress *r)
{
	DIR *dir = opendir(r->dir);
	bool good = true;

	for (struct dirent *file; dir && (file = readdir(dir));) {
		size_t length = strlen(file->d_name);
		char *name;

		if (length <= 5 || strcmp(file->d_name + length - 5, ".json") ||
		    !strcmp(file->d_name, REGRESS_INDEX))
			continue;
		name = xstrndup(file->d_name, length - 5);
		if (regress_index_find(r->index, name) == SIZE_MAX) {
			complain(
				"%s/%s.json belongs to no scenario: remove it with its .events, or "
				"name its scenario in %s",
				r->dir, name, REGRESS_INDEX);
			good = false;
		}
		free(name);
	}
	if (dir)
		closedir(dir);
	return good;
}

/* --- processes --- */

/* The longest process that has not started, and so has no report file. */
static struct process *longest_waiting(struct regress *r)
{
	struct process *best = NULL;

	for (size_t i = 0; i < r->count; i++)
		if (!r->processes[i].job.report && (!best || r->processes[i].events > best->events))
			best = &r->processes[i];
	return best;
}

static bool start(struct process *p)
{
	struct regress_case *job = &p->job;

	job->report = tmpfile();
	job->text = tmpfile();
	job->prints = tmpfile();
	if (!job->report || !job->text || !job->prints) {
		complain("cannot create a temporary file: %s", strerror(errno));
		return false;
	}
	fflush(stdout);
	p->pid = child_fork();
	if (p->pid < 0) {
		p->pid = 0;
		complain("cannot start a process: %s", strerror(errno));
		return false;
	}
	if (p->pid == 0) {
		int code = regress_case(job);

		if (fclose(job->report) || fclose(job->text) || fclose(job->prints)) {
			complain("%s: cannot write a temporary file: %s", job->entry->name,
				 strerror(errno));
			code = EXIT_IO;
		}
		_exit(code);
	}
	return true;
}

static void note_end(struct regress *r, pid_t pid, int status)
{
	for (size_t i = 0; i < r->count; i++) {
		struct process *p = &r->processes[i];

		if (p->pid != pid)
			continue;
		p->pid = 0;
		p->code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_VIOLATED;
		if (WIFSIGNALED(status))
			complain("%s: the run was killed by signal %d", p->job.entry->name,
				 WTERMSIG(status));
	}
}

/* Shows a line on a terminal, and blanks it once all are done. */
static void show_progress(const struct regress *r, size_t done)
{
	char text[64] = "";

	if (r->cli->quiet || !isatty(STDERR_FILENO))
		return;
	if (done < r->count)
		snprintf(text, sizeof(text), "%zu of %zu scenarios done", done, r->count);
	fprintf(stderr, "\r%-40s\r", text);
}

/* Runs all, `jobs` at a time; none outlives this process. False if one cannot be started. */
static bool run_all(struct regress *r, size_t jobs)
{
	size_t started = 0, ended = 0;
	bool good = true;

	signal(SIGCHLD, SIG_DFL); /* if our parent ignores it, we cannot wait for a child */
	while (good && ended < r->count) {
		int status;
		pid_t pid;

		if (started < r->count && started - ended < jobs) {
			good = start(longest_waiting(r));
			started += good;
			continue;
		}
		show_progress(r, ended);
		pid = waitpid(-1, &status, 0);
		if (pid > 0) {
			note_end(r, pid, status);
			ended++;
		}
	}
	show_progress(r, r->count);
	return good;
}

static size_t job_count(const struct cli *cli)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	return (size_t)(cli->regress.jobs ? cli->regress.jobs : processors > 0 ? processors : 1);
}

/* --- what they said --- */

static void print_reports(const struct regress *r)
{
	struct json json;

	if (r->cli->json) {
		json_init(&json);
		json_open_array(&json, NULL);
	}
	for (size_t i = 0; i < r->count; i++) {
		size_t length;
		char *text = folder_read_temporary(r->processes[i].job.report, &length);

		if (r->cli->json && length)
			json_raw(&json, NULL, text);
		else if (!r->cli->json && !(r->cli->quiet && r->processes[i].code == EXIT_DONE))
			fputs(text, stdout);
		free(text);
	}
	if (r->cli->json) {
		json_close_array(&json);
		json_print(&json, stdout);
	}
}

static int worst_code(const struct regress *r)
{
	int worst = EXIT_DONE;

	for (size_t i = 0; i < r->count; i++)
		worst = r->processes[i].code > worst ? r->processes[i].code : worst;
	return worst;
}

/* --- updating --- */

static bool write_one(const struct regress *r, const struct process *p, char **error)
{
	size_t text_length, prints_length;
	const char *name = p->job.entry->name;
	char *text = folder_read_temporary(p->job.text, &text_length);
	char *prints = folder_read_temporary(p->job.prints, &prints_length);
	bool good = reference_write(r->dir, name, ".events", prints, prints_length, error) &&
		    reference_write(r->dir, name, ".json", text, text_length, error);

	free(text);
	free(prints);
	return good;
}

static int write_references(const struct regress *r)
{
	size_t written = 0;
	char *error = NULL;
	int worst = worst_code(r);

	if (worst > EXIT_DIFFERS) {
		complain("nothing was written");
		return worst;
	}
	for (size_t i = 0; i < r->count && !error; i++)
		if (r->processes[i].code == EXIT_DIFFERS) /* it has a new reference */
			written += write_one(r, &r->processes[i], &error);
	if (error) {
		complain("%s", error);
		free(error);
		return EXIT_IO;
	}
	if (!r->cli->quiet && !r->cli->json)
		printf("references written: %zu\n", written);
	return EXIT_DONE;
}

/* Returns the given reason or, if there is none, asks for it on the terminal. NULL after a
 * complaint. The caller frees. */
static char *find_reason(const struct cli *cli)
{
	char line[1000] = "";
	const char *reason = cli->regress.reason;

	if (!reason && isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
		fputs("What changed, and why? ", stderr);
		if (!fgets(line, sizeof(line), stdin))
			line[0] = '\0';
		line[strcspn(line, "\n")] = '\0';
	}
	if (!reason)
		reason = line;
	/* if the "reason" is a folder, it is the next argument, DIR, and the reason is missing */
	if (reason[strspn(reason, " \t\n")] && !strchr(reason, '\n') &&
	    !(cli->regress.reason && folder_is_folder(reason)))
		return xstrdup(reason);
	complain("--update needs a reason, one line: what changed, and why%s%s%s",
		 *reason ? "; found \"" : "", reason, *reason ? "\"" : "");
	return NULL;
}

static bool prepare_update(struct regress *r, char date[16])
{
	time_t now = time(NULL);
	struct tm utc;
	char *reason = find_reason(r->cli);

	if (!reason)
		return false;
	gmtime_r(&now, &utc);
	strftime(date, 16, "%Y-%m-%d", &utc);
	r->reason = (struct reference_reason){ date, reason, BUILD_VERSION, BUILD_COMMIT };
	return true;
}

/* --- the verb --- */

static char *find_dir(const struct cli *cli)
{
	static const char here[] = "traces/reference";

	if (cli->argc)
		return folder_trim(cli->argv[0]);
	return folder_has(here, REGRESS_INDEX) ? xstrdup(here) : home_path(here);
}

static int go(struct regress *r)
{
	bool complete = r->cli->regress.scenarios.count || none_is_left_over(r);
	int code;

	if (!run_all(r, job_count(r->cli)))
		return EXIT_IO;
	print_reports(r);
	code = r->reason.reason ? write_references(r) : worst_code(r);
	if (code == EXIT_DIFFERS && !r->cli->quiet && !r->reason.reason)
		fprintf(stderr,
			"if the change is meant: inasim regress %s --update \"what changed, and "
			"why\"\n",
			r->dir);
	return code == EXIT_DONE && !complete ? EXIT_DIFFERS : code;
}

static void release(struct regress *r)
{
	for (size_t i = 0; i < r->count; i++) {
		FILE *files[] = { r->processes[i].job.report, r->processes[i].job.text,
				  r->processes[i].job.prints };

		for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++)
			if (files[f])
				fclose(files[f]);
	}
	free(r->processes);
	free((void *)(uintptr_t)r->reason.reason); /* owned here, const for others */
	regress_index_free(r->index);
	free(r->dir);
}

int verb_regress(const struct cli *cli)
{
	struct regress r = { .cli = cli, .dir = find_dir(cli) };
	char date[16];
	int code;

	r.index = regress_index_load(r.dir);
	code = exit_code_of(r.index->doc);
	if (code != EXIT_DONE) {
		conf_print_errors(r.index->doc, stderr, false);
	} else if (!r.index->count) {
		complain("%s/%s has no scenarios: nothing would be compared", r.dir, REGRESS_INDEX);
		code = EXIT_INVALID;
	} else if ((cli->regress.update && !prepare_update(&r, date)) || !select_scenarios(&r)) {
		code = EXIT_USAGE;
	} else {
		code = go(&r);
	}
	release(&r);
	return code;
}
