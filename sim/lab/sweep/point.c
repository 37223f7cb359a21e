#include "lab/sweep/point.h"

#include "base/child.h"
#include "base/fail.h"
#include "base/fail.h"
#include "base/mem.h"
#include "io/folder.h"
#include "lab/sweep/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_LOG  (16 << 20)
#define MESSAGE_SIZE 400 /* of the log's end that the record repeats */

/* A point under way. */
struct running {
	const struct point_order *order;
	char *tag;           /* HOST-PID */
	char *record_path;   /* HASH.json */
	char *result, *own;  /* HASH, HASH.HOST-PID: result directories */
	char *log, *own_log; /* standard error of the child */
	char *scratch;       /* the record while it is written */
	struct lease lease;
	pid_t child;
};

/* How the child ended. */
struct outcome {
	int status; /* of wait4() */
	struct rusage usage;
	double wall_s;
	bool timed_out, interrupted;
};

char *point_path(const char *folder, uint64_t hash, const char *suffix)
{
	return xasprintf("%s/%016" PRIx64 "%s", folder, hash, suffix);
}

void point_read_record(const char *folder, uint64_t hash, struct point_record *record)
{
	char *path = point_path(folder, hash, ".json");
	char *result = point_path(folder, hash, "");

	record_read(record, path);
	if (record_is_usable(record) && !folder_has(result, "summary.json"))
		record->status = POINT_MISSING;
	free(result);
	free(path);
}

/* --- names --- */

static char *own_path(const struct running *run, const char *tag, const char *suffix)
{
	return xasprintf("%s.%s%s", run->result, tag, suffix);
}

static void name_files(struct running *run)
{
	const struct point_order *order = run->order;

	run->tag = lease_tag();
	run->result = point_path(order->folder, order->hash, "");
	run->record_path = point_path(order->folder, order->hash, ".json");
	run->log = point_path(order->folder, order->hash, ".log");
	run->own = own_path(run, run->tag, "");
	run->own_log = own_path(run, run->tag, ".log");
	run->scratch = own_path(run, run->tag, ".json");
}

static void free_names(struct running *run)
{
	free(run->tag);
	free(run->result);
	free(run->record_path);
	free(run->log);
	free(run->own);
	free(run->own_log);
	free(run->scratch);
}

/* Removes what a process, this one or one that is gone, left half done. */
static void sweep_up(const struct running *run, const char *tag)
{
	static const char *const folders[] = { "", ".partial", ".replaced" };
	static const char *const files[] = { ".log", ".json" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *path = own_path(run, tag, folders[i]);

		folder_remove(path);
		free(path);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = own_path(run, tag, files[i]);

		unlink(path);
		free(path);
	}
}

/* --- signals --- */

static void interrupting(sigset_t *set)
{
	struct sigaction hangup;

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN) /* nohup(1) */
		sigaddset(set, SIGHUP);
}

void point_hold_signals(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t set;

	interrupting(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGCHLD, &usual,
		  NULL); /* ignored by the caller, children could not be waited for */
}

/* A signal that waits to be taken; after a terminal's ^C, which kills the child
 * as well, the child's end may be seen first. */
static bool take_interrupt(void)
{
	const struct timespec now = { 0 };
	sigset_t set;

	interrupting(&set);
	return sigtimedwait(&set, NULL, &now) > 0;
}

/* --- the child --- */

/* RLIMIT_DATA, not RLIMIT_AS: it counts private writable memory, which is what a
 * simulation asks for, and not the program, libraries and address space that is
 * only reserved; so the limit means the same with any libc and allocator. */
static void limit_memory(bytes limit)
{
	struct rlimit data = { .rlim_cur = (rlim_t)limit, .rlim_max = (rlim_t)limit };

	if (limit)
		setrlimit(RLIMIT_DATA, &data);
}

static _Noreturn void be_child(const struct running *run)
{
	const struct rlimit no_core = { 0 };
	int log = open(run->own_log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	int null = open("/dev/null", O_RDWR);
	sigset_t none;
	int code;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (log < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0)
		_exit(6);
	setrlimit(RLIMIT_CORE, &no_core); /* of a point that crashes; nobody would look at it */
	limit_memory(run->order->memory_limit);
	code = run->order->simulate(run->order->owner, run->own);
	fflush(NULL);
	_exit(code);
}

/* --- the parent --- */

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void wait_at_most(double seconds, bool *interrupted)
{
	struct timespec time = { .tv_sec = (time_t)seconds,
				 .tv_nsec = (long)(fmod(seconds, 1) * 1e9) };
	sigset_t set;
	int number;

	interrupting(&set);
	sigaddset(&set, SIGCHLD);
	number = sigtimedwait(&set, NULL, &time);
	if (number > 0 && number != SIGCHLD)
		*interrupted = true;
}

/* Waits for the end of the child, and brings it about when its time is over or
 * the sweep is interrupted. */
static void attend(struct running *run, struct outcome *outcome)
{
	double start = now_s(), limit = seconds_of(run->order->time_limit);

	while (wait4(run->child, &outcome->status, WNOHANG, &outcome->usage) != run->child) {
		double left = limit > 0 ? start + limit - now_s() : LEASE_RENEWAL;

		if (left <= 0 || outcome->interrupted) {
			outcome->timed_out = left <= 0;
			kill(run->child, SIGKILL);
			while (wait4(run->child, &outcome->status, 0, &outcome->usage) < 0 &&
			       errno == EINTR)
				;
			break;
		}
		wait_at_most(left < LEASE_RENEWAL ? left : LEASE_RENEWAL, &outcome->interrupted);
		lease_renew(&run->lease);
	}
	outcome->wall_s = now_s() - start;
	if (take_interrupt())
		outcome->interrupted = true;
}

/* --- what became of it --- */

static enum point_status status_of_code(int code)
{
	switch (code) {
	case 0:
		return POINT_DONE;
	case 3:
		return POINT_INVALID;
	case 4:
		return POINT_UNFINISHED;
	case 5:
		return POINT_VIOLATED;
	case 6:
		return POINT_IO;
	case FAIL_OUT_OF_MEMORY:
		return POINT_MEMORY;
	default:
		return POINT_KILLED; /* no code of ours: a crash that a tool turned into one */
	}
}

static enum point_status status_of(const struct outcome *outcome)
{
	if (outcome->timed_out)
		return POINT_TIMEOUT;
	if (outcome->interrupted && WIFSIGNALED(outcome->status))
		return POINT_KILLED;
	if (WIFEXITED(outcome->status))
		return status_of_code(WEXITSTATUS(outcome->status));
	return POINT_KILLED;
}

/* The end of the log, from the start of a line, as one line. */
static char *end_of_log(const char *log)
{
	size_t length = strlen(log);
	const char *from = length > MESSAGE_SIZE ? log + length - MESSAGE_SIZE : log;
	char *text, *end;

	if (from > log && strchr(from, '\n'))
		from = strchr(from, '\n') + 1;
	text = xstrdup(from);
	end = text + strlen(text);
	while (end > text && end[-1] == '\n')
		*--end = '\0';
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20)
			*p = *p == '\n' ? ';' : ' ';
	return text;
}

/* Why the point is not done, in one line; "" when it is. */
static char *message_of(enum point_status status, const struct outcome *outcome,
			const struct point_order *order, const char *log)
{
	char *end, *text;

	if (status == POINT_DONE)
		return xstrdup("");
	if (status == POINT_TIMEOUT)
		return xasprintf("longer than %g s", seconds_of(order->time_limit));
	if (outcome->interrupted)
		return xstrdup("the sweep was interrupted");
	end = end_of_log(log);
	if (status == POINT_MEMORY && order->memory_limit)
		text = xasprintf("more than %g MB: %s", (double)order->memory_limit / 1e6, end);
	else if (!WIFSIGNALED(outcome->status))
		return end;
	else
		text = xasprintf("signal %d (%s)%s%s", WTERMSIG(outcome->status),
				 strsignal(WTERMSIG(outcome->status)), *end ? ": " : "", end);
	free(end);
	return text;
}

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = xstrdup(value);
}

static double seconds_of_timeval(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* The attempt's part of the record; attempts are counted already. */
static void fill_record(const struct running *run, const struct outcome *outcome,
			struct point_record *record)
{
	const struct point_order *order = run->order;
	char *log = folder_read(run->own_log, LONGEST_LOG, NULL), *host = xstrdup(run->tag);
	const char *words = log ? log : "";

	*strrchr(host, '-') = '\0';
	record->status = status_of(outcome);
	record->exit_code = WIFEXITED(outcome->status) ? WEXITSTATUS(outcome->status) : -1;
	record->signal = WIFSIGNALED(outcome->status) ? WTERMSIG(outcome->status) : 0;
	record->wall_s = outcome->wall_s;
	record->cpu_s = seconds_of_timeval(outcome->usage.ru_utime) +
			seconds_of_timeval(outcome->usage.ru_stime);
	record->peak_rss_bytes = (uint64_t)outcome->usage.ru_maxrss * 1024;
	record->time_limit = order->time_limit;
	record->memory_limit = order->memory_limit;
	free(record->message);
	record->message = message_of(record->status, outcome, order, words);
	set_text(&record->host, host);
	set_text(&record->version, order->version);
	set_text(&record->commit, order->commit);
	free(log);
	free(host);
}

/* The child's directory becomes the point's. */
static bool move_results(const struct running *run)
{
	char *former = own_path(run, run->tag, ".replaced");
	bool good = rename(run->own, run->result) == 0;

	if (!good && (errno == ENOTEMPTY || errno == EEXIST)) {
		good = rename(run->result, former) == 0 && rename(run->own, run->result) == 0;
		folder_remove(former);
	}
	free(former);
	return good;
}

static void keep_log(const struct running *run, const struct point_record *record)
{
	struct stat info;

	if (record->status != POINT_DONE && !stat(run->own_log, &info) && info.st_size > 0)
		rename(run->own_log, run->log);
	else
		unlink(run->log);
}

/* Results, log, record, in this order: a record without results would lie. */
static bool publish(const struct running *run, struct point_record *record)
{
	if (folder_is_folder(run->own) && record->status != POINT_KILLED &&
	    record->status != POINT_TIMEOUT) {
		if (!move_results(run))
			return false;
	} else if (record_is_usable(record)) {
		record->status = POINT_IO;
		set_text(&record->message, "there is no result directory");
	}
	if (!record_is_usable(record) && record->status != POINT_VIOLATED)
		folder_remove(run->result); /* of an earlier attempt */
	keep_log(run, record);
	return record_write(record, run->record_path, run->scratch);
}

static char *cannot_write(const struct point_order *order)
{
	return xasprintf("cannot write %s: %s", order->folder, strerror(errno));
}

/* --- from the order to the end --- */

/* Runs the child and publishes what became of it. */
static enum point_end run_child(struct running *run, struct point_record *record, char **words)
{
	struct outcome outcome = { 0 };
	bool former_counts = record_is_usable(record); /* when forced */

	fflush(NULL); /* or the child would write it again */
	run->child = child_fork();
	if (run->child < 0) {
		*words = xasprintf("cannot start a process: %s", strerror(errno));
		return POINT_FAILED;
	}
	if (run->child == 0)
		be_child(run);
	attend(run, &outcome);
	if (!lease_renew(&run->lease)) {
		*words = xstrdup("another process has taken it over meanwhile");
		return outcome.interrupted ? POINT_INTERRUPTED : POINT_BUSY;
	}
	if (outcome.interrupted && former_counts)
		return POINT_INTERRUPTED; /* what there was, stays */
	fill_record(run, &outcome, record);
	if (outcome.interrupted && record->status == POINT_KILLED)
		record->interruptions++;
	if (!publish(run, record)) {
		*words = cannot_write(run->order);
		return POINT_FAILED;
	}
	return outcome.interrupted ? POINT_INTERRUPTED : POINT_RAN;
}

/* Those that ran this point before died with the process that would have told:
 * their attempts stand in the lease alone. True: enough of them. */
static bool died_too_often(const struct running *run, const struct lease_found *found,
			   struct point_record *record)
{
	const struct point_order *order = run->order;

	if (!found->tag || order->force || found->note <= order->retries)
		return false;
	record->status = POINT_KILLED;
	record->attempts = found->note;
	free(record->message);
	record->message = xasprintf("%" PRIu64 " attempts were killed together with the process "
				    "that looked after them",
				    found->note);
	record_write(record, run->record_path, run->scratch);
	return true;
}

static enum point_end run_leased(struct running *run, const struct lease_found *found,
				 struct point_record *record, char **words)
{
	const struct point_order *order = run->order;

	if (found->tag)
		sweep_up(run, found->tag);
	sweep_up(run, run->tag);
	point_read_record(order->folder, order->hash,
			  record); /* somebody may just have finished it */
	if (!order->force &&
	    !record_wants_run(record, order->time_limit, order->memory_limit, order->retries))
		return POINT_KEPT;
	if (died_too_often(run, found, record))
		return POINT_KEPT;
	if (found->note > record->attempts)
		record->attempts = found->note;
	lease_note(&run->lease, ++record->attempts);
	return run_child(run, record, words);
}

enum point_end point_run(const struct point_order *order, struct point_record *record, char **words)
{
	struct running run = { .order = order };
	struct lease_found found = { 0 };
	enum point_end end = POINT_KEPT;
	char *lease;

	*words = NULL;
	if (take_interrupt())
		return POINT_INTERRUPTED;
	name_files(&run);
	lease = point_path(order->folder, order->hash, ".lock");
	point_read_record(order->folder, order->hash, record);
	if (order->force ||
	    record_wants_run(record, order->time_limit, order->memory_limit, order->retries)) {
		switch (lease_take(&run.lease, lease, 0, &found)) {
		case LEASE_TAKEN:
			end = run_leased(&run, &found, record, words);
			sweep_up(&run, run.tag);
			lease_drop(&run.lease);
			break;
		case LEASE_BUSY:
			*words = xasprintf("%s is running it", found.tag);
			end = POINT_BUSY;
			break;
		case LEASE_FAILED:
			*words = cannot_write(order);
			end = POINT_FAILED;
			break;
		}
	}
	free(found.tag);
	free(lease);
	free_names(&run);
	return end;
}
