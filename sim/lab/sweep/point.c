#include "lab/sweep/point.h"

#include "base/child.h"
#include "base/fail.h"
#include "base/input.h"
#include "base/mem.h"
#include "data/folder.h"
#include "data/json_read.h"
#include "lab/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_LOG  (16 << 20) /* bytes */
#define MESSAGE_SIZE 400        /* bytes of the log's end that the record repeats */
#define HOST_SIZE    256        /* bytes of a host's name */
#define EXIT_IO_CODE 6          /* EXIT_IO of cli/cli.h, which the lab cannot include */

/* A point under way. */
struct running {
	const struct point_order *order;
	char *record;           /* HASH.json */
	char *result, *partial; /* HASH, HASH.partial: result directories */
	char *log;              /* standard error of the child */
	char *lock;
	int lock_fd;
};

/* How the child ended. */
struct outcome {
	int status; /* of wait4() */
	struct rusage usage;
	double wall_s;
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
	if (point_status_is_usable(record->status) && !folder_has(result, "summary.json"))
		record->status = POINT_MISSING;
	free(result);
	free(path);
}

/* --- the lock --- */

static void host_name(char host[HOST_SIZE])
{
	if (gethostname(host, HOST_SIZE - 1) || !*host)
		snprintf(host, HOST_SIZE, "host");
	host[HOST_SIZE - 1] = '\0';
}

static void sign(int fd)
{
	char host[HOST_SIZE] = "";

	host_name(host);
	if (!ftruncate(fd, 0))
		dprintf(fd, "%s-%ld\n", host, (long)getpid());
}

/* Locks the point; the kernel unlocks it when this process and its child have ended in any way. On
 * a file system without locks every process gets the lock: two may do the same work, and
 * out_dir_open() keeps their results apart. False with errno on failure; EWOULDBLOCK: another
 * process has the lock. */
static bool take_lock(struct running *run)
{
	for (;;) {
		/* O_NOFOLLOW: folder_is_there() would never find the file behind a link */
		int fd = open(run->lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);

		if (fd < 0)
			return false;
		if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
			/* Whoever runs the point has an exclusive lock. A shared lock is that of
			 * point_runs(), for a moment only: try again. */
			bool shared = !flock(fd, LOCK_SH | LOCK_NB);

			close(fd);
			if (shared)
				continue;
			errno = EWOULDBLOCK;
			return false;
		}
		if (folder_is_there(fd, AT_FDCWD, run->lock)) {
			sign(fd);
			run->lock_fd = fd;
			return true;
		}
		close(fd); /* its former holder has just removed the file */
	}
}

static void drop_lock(struct running *run)
{
	unlink(run->lock);
	close(run->lock_fd);
}

/* Returns who signed a lock by sign(); "another" if nobody has yet. The caller frees. */
static char *holder_of(const char *lock)
{
	char *text = input_read(lock, HOST_SIZE + 32, NULL);
	size_t length = text ? strcspn(text, "\n") : 0;
	char *name = length ? xstrndup(text, length) : xstrdup("another");

	free(text);
	return name;
}

char *point_runs(const char *folder, uint64_t hash, double *seconds)
{
	char *lock = point_path(folder, hash, ".lock"), *holder = NULL;
	int fd = open(lock, O_RDONLY | O_CLOEXEC);
	struct stat written; /* when it was signed */

	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK &&
	    !fstat(fd, &written)) {
		holder = holder_of(lock);
		*seconds = difftime(time(NULL), written.st_mtime);
	}
	if (fd >= 0)
		close(fd);
	free(lock);
	return holder;
}

/* --- the child --- */

/* RLIMIT_DATA counts private writable memory, which is what a simulation allocates. RLIMIT_AS would
 * also count program, libraries and merely reserved address space, which depend on libc and
 * allocator. The address sanitizer reserves terabytes that RLIMIT_DATA counts, so under it there is
 * no limit. */
static void limit_memory(bytes limit)
{
#if !defined(__SANITIZE_ADDRESS__)
	struct rlimit data = { .rlim_cur = (rlim_t)limit, .rlim_max = (rlim_t)limit };

	if (limit)
		setrlimit(RLIMIT_DATA, &data);
#else
	(void)limit;
#endif
}

/* What a point may take until it has used up its CPU time, were it one of ten on its core: a point
 * that waits for ever (for a disk that is gone) ends, too. */
static sim_time wall_limit(sim_time limit)
{
	return limit < (SIM_TIME_MAX - 60 * PS_PER_S) / 10 ? 10 * limit + 60 * PS_PER_S
							   : SIM_TIME_MAX;
}

/* The kernel sends the signal after the limit; 0 is no limit, and sets no timer. */
static void set_timer(int which, int number, sim_time limit)
{
	uint64_t us = (limit + PS_PER_US - 1) / PS_PER_US;
	struct itimerval timer = { .it_value = { .tv_sec = (time_t)(us / 1000000),
						 .tv_usec = (suseconds_t)(us % 1000000) } };

	signal(number, SIG_DFL);
	setitimer(which, &timer, NULL);
}

/* SIGPROF ends the child after so much CPU time, SIGALRM after much more wall time. */
static void limit_time(sim_time limit)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	set_timer(ITIMER_PROF, SIGPROF, limit);
	set_timer(ITIMER_REAL, SIGALRM, limit ? wall_limit(limit) : 0);
}

static _Noreturn void be_child(const struct running *run)
{
	const struct rlimit no_core = { 0 };
	int log = open(run->log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	int null = open("/dev/null", O_RDWR);
	int code;

	if (log < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0)
		_exit(EXIT_IO_CODE);
	setrlimit(RLIMIT_CORE, &no_core); /* a crash leaves no core file; nobody would look at it */
	limit_memory(run->order->limits.memory);
	limit_time(run->order->limits.time);
	code = run->order->simulate(run->order->owner, run->result);
	fflush(NULL);
	_exit(code);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Runs the child to its end. False: no process could be started. */
static bool run_child(const struct running *run, struct outcome *outcome)
{
	double start = now_s();
	pid_t child;

	fflush(NULL);             /* else the child would write what is in our buffers, too */
	signal(SIGCHLD, SIG_DFL); /* if our parent ignores it, we cannot wait for a child */
	child = child_fork();
	if (child == 0)
		be_child(run);
	while (child > 0 && wait4(child, &outcome->status, 0, &outcome->usage) < 0 &&
	       errno == EINTR)
		;
	outcome->wall_s = now_s() - start;
	return child > 0;
}

/* --- how the child ended --- */

/* An unknown exit code counts as a crash: some tools turn a signal into one. */
static enum point_status status_of(const struct outcome *outcome)
{
	/* by exit code: enum exit_code of cli/cli.h */
	static const enum point_status by_code[] = {
		[0] = POINT_DONE,          [1] = POINT_KILLED,
		[2] = POINT_KILLED,        [3] = POINT_INVALID,
		[4] = POINT_UNFINISHED,    [5] = POINT_VIOLATED,
		[EXIT_IO_CODE] = POINT_IO, [FAIL_OUT_OF_MEMORY] = POINT_MEMORY,
	};
	size_t code = (size_t)WEXITSTATUS(outcome->status);

	if (!WIFEXITED(outcome->status))
		return WTERMSIG(outcome->status) == SIGPROF || WTERMSIG(outcome->status) == SIGALRM
			       ? POINT_TIMEOUT
			       : POINT_KILLED;
	return code < sizeof(by_code) / sizeof(by_code[0]) ? by_code[code] : POINT_KILLED;
}

/* What the exit code does not tell: done by another scheme, or not done because of refused jobs. */
static enum point_status status_in_detail(enum point_status status, const char *result)
{
	struct summary summary;
	char *error = NULL;

	if (!point_status_is_usable(status))
		return status;
	if (summary_read(&summary, result, &error)) {
		if (status == POINT_DONE && summary_value(&summary, "jobs.substituted") > 0)
			status = POINT_SUBSTITUTED;
		if (!strcmp(json_text(summary.root, "end_reason"), "refused"))
			status = POINT_REFUSED;
	}
	summary_release(&summary);
	free(error);
	return status;
}

/* Returns the last MESSAGE_SIZE bytes of the log as one line: from the first line that begins
 * there, or all of them if none does. The caller frees. */
static char *end_of_log(const char *log)
{
	size_t length = strlen(log);
	const char *from, *line;
	char *text;

	while (length && log[length - 1] == '\n')
		length--;
	from = length > MESSAGE_SIZE ? log + length - MESSAGE_SIZE : log;
	line = from > log ? memchr(from, '\n', MESSAGE_SIZE) : NULL;
	from = line ? line + 1 : from;
	text = xstrndup(from, (size_t)(log + length - from));
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20)
			*p = *p == '\n' ? ';' : ' ';
	return text;
}

/* Returns why the point is not done, in one line, "" if it is done. The caller frees. */
static char *message_of(enum point_status status, const struct outcome *outcome,
			const struct point_order *order, const char *log)
{
	char *end, *text;

	if (point_status_is_done(status))
		return xstrdup("");
	if (status == POINT_TIMEOUT && WTERMSIG(outcome->status) == SIGPROF)
		return xasprintf("more than %g s of CPU time", seconds_of(order->limits.time));
	if (status == POINT_TIMEOUT)
		return xasprintf("longer than %g s, with less than %g s of CPU time",
				 seconds_of(wall_limit(order->limits.time)),
				 seconds_of(order->limits.time));
	end = end_of_log(log);
	if (status == POINT_MEMORY && order->limits.memory)
		text = xasprintf("more than %g MB: %s", (double)order->limits.memory / 1e6, end);
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

static void fill_record(const struct running *run, const struct outcome *outcome,
			struct point_record *record)
{
	const struct point_order *order = run->order;
	const struct rusage *usage = &outcome->usage;
	char *log = input_read(run->log, LONGEST_LOG, NULL), host[HOST_SIZE] = "", why[200];

	snprintf(why, sizeof(why), "the log cannot be read: %s", log ? "" : input_why(errno));
	host_name(host);
	record->status = status_in_detail(status_of(outcome), run->result);
	record->exit_code = WIFEXITED(outcome->status) ? WEXITSTATUS(outcome->status) : -1;
	record->signal = WIFSIGNALED(outcome->status) ? WTERMSIG(outcome->status) : 0;
	record->attempts++;
	record->wall_s = outcome->wall_s;
	record->cpu_s = (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
			(double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
	record->peak_rss_bytes = (uint64_t)usage->ru_maxrss * 1024; /* Linux counts in KiB */
	record->limits = order->limits;
	free(record->message);
	record->message = message_of(record->status, outcome, order, log ? log : why);
	set_text(&record->host, host);
	set_text(&record->version, order->version);
	set_text(&record->commit, order->commit);
	if (point_status_is_done(record->status) || (log && !*log))
		unlink(run->log);
	free(log);
}

/* Removes what a killed child left. If this attempt ended without results, removes also those of an
 * earlier one. */
static void remove_remains(const struct running *run, const struct point_record *record)
{
	folder_remove(run->partial);
	if (!point_status_is_usable(record->status) && record->status != POINT_VIOLATED)
		folder_remove(run->result);
}

/* --- from the order to the end --- */

static bool is_wanted(const struct point_order *order, const struct point_record *record)
{
	return order->force || record_wants_run(record, &order->limits);
}

static enum point_end run_locked(struct running *run, struct point_record *record, char **words)
{
	const struct point_order *order = run->order;
	struct outcome outcome = { 0 };

	/* read again: another process may have finished the point before we got the lock */
	point_read_record(order->folder, order->hash, record);
	if (!is_wanted(order, record))
		return POINT_KEPT;
	if (!run_child(run, &outcome)) {
		*words = xasprintf("cannot start a process: %s", strerror(errno));
		return POINT_FAILED;
	}
	fill_record(run, &outcome, record);
	remove_remains(run, record);
	if (record_write(record, run->record))
		return POINT_RAN;
	*words = xasprintf("cannot write %s: %s", order->folder, strerror(errno));
	return POINT_FAILED;
}

static enum point_end run_wanted(struct running *run, struct point_record *record, char **words)
{
	char *holder;

	if (take_lock(run)) {
		enum point_end end = run_locked(run, record, words);

		drop_lock(run);
		return end;
	}
	if (errno != EWOULDBLOCK) {
		*words = xasprintf("cannot write %s: %s", run->order->folder, strerror(errno));
		return POINT_FAILED;
	}
	holder = holder_of(run->lock);
	*words = xasprintf("%s is running it", holder);
	free(holder);
	return POINT_BUSY;
}

enum point_end point_run(const struct point_order *order, struct point_record *record, char **words)
{
	struct running run = { .order = order,
			       .record = point_path(order->folder, order->hash, ".json"),
			       .result = point_path(order->folder, order->hash, ""),
			       .partial = point_path(order->folder, order->hash, ".partial"),
			       .log = point_path(order->folder, order->hash, ".log"),
			       .lock = point_path(order->folder, order->hash, ".lock") };
	enum point_end end = POINT_KEPT;

	*words = NULL;
	point_read_record(order->folder, order->hash, record);
	if (is_wanted(order, record))
		end = run_wanted(&run, record, words);
	free(run.record);
	free(run.result);
	free(run.partial);
	free(run.log);
	free(run.lock);
	return end;
}
