#include "lab/sweep/lease.h"

#include "base/mem.h"
#include "io/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST 1024

char *lease_tag(void)
{
	char host[256] = "host";

	if (gethostname(host, sizeof(host) - 1) || !*host || strpbrk(host, "/ \n"))
		memcpy(host, "host", sizeof("host"));
	return xasprintf("%s-%ld", host, (long)getpid());
}

/* Process numbers mean something only among those that share them: containers
 * with one host name may not. 0 where the system does not say. */
static unsigned long process_space(void)
{
	struct stat info;

	return stat("/proc/self/ns/pid", &info) ? 0 : (unsigned long)info.st_ino;
}

/* When a process began, in ticks since the machine did: numbers of processes come
 * again, and soon on a busy machine. 0 where there is none or nobody says. */
static unsigned long long process_start(long pid)
{
	char *path = xasprintf("/proc/%ld/stat", pid), text[LONGEST];
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	unsigned long long start = 0;
	const char *field;

	if (file)
		fclose(file);
	free(path);
	text[length] = '\0';
	field = strrchr(text, ')'); /* behind the name, which may hold anything: field 2 */
	for (int number = 2; field && number < 22; number++)
		field = strchr(field + 1, ' ');
	if (field)
		sscanf(field, "%llu", &start);
	return start;
}

/* --- the file: "HOST-PID SPACE NOTE START" --- */

static char *lease_text(uint64_t note)
{
	char *tag = lease_tag();
	char *text = xasprintf("%s %lu %" PRIu64 " %llu\n", tag, process_space(), note,
			       process_start((long)getpid()));

	free(tag);
	return text;
}

struct content {
	char tag[320];
	unsigned long space;
	uint64_t note;
	unsigned long long start; /* 0 = not known */
};

static bool read_content(const char *path, struct content *content)
{
	char *text = folder_read(path, LONGEST, NULL);
	bool good = text && sscanf(text, "%319s %lu %" SCNu64 " %llu", content->tag,
				   &content->space, &content->note, &content->start) >= 3;

	free(text);
	return good;
}

/* The holder was a process here, and is no more. */
static bool is_gone(const struct content *content)
{
	const char *dash = strrchr(content->tag, '-');
	char *own = lease_tag();
	size_t host = (size_t)(strrchr(own, '-') - own);
	bool here = dash && (size_t)(dash - content->tag) == host &&
		    !strncmp(own, content->tag, host) && content->space == process_space() &&
		    content->space != 0;
	long pid = dash ? strtol(dash + 1, NULL, 10) : 0;

	free(own);
	if (!here || pid <= 0)
		return false;
	return (kill((pid_t)pid, 0) != 0 && errno == ESRCH) ||
	       (content->start && process_start(pid) != content->start);
}

/* Not touched for long, by the clock that stamps files: that of `fresh`. */
static bool is_old(const char *path, const char *fresh)
{
	struct stat then, now;

	return !stat(path, &then) && !stat(fresh, &now) &&
	       now.st_mtime - then.st_mtime > LEASE_SECONDS;
}

/* --- taking --- */

static bool create(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	bool good;

	if (fd < 0)
		return false;
	good = folder_write(fd, text, strlen(text));
	return close(fd) == 0 && good;
}

/* With all it says from the first instant: a holder that is killed between
 * creating and writing would leave a lease that tells nobody whose it was. */
static bool create_whole(const char *path, const char *text)
{
	char *tag = lease_tag(), *mine = xasprintf("%s.%s", path, tag);
	bool good;
	int reason;

	unlink(mine);
	good = create(mine, text) && link(mine, path) == 0;
	reason = errno;
	unlink(mine);
	errno = reason;
	free(mine);
	free(tag);
	return good;
}

/* The lease exists: takes its place if it is over. */
static enum lease_end take_over(const struct lease *lease, struct lease_found *found)
{
	char *tag = lease_tag(), *mine = xasprintf("%s.%s", lease->path, tag);
	struct content content = { .tag = "?" };
	enum lease_end end = LEASE_BUSY;
	bool readable;

	unlink(mine);
	if (!create(mine, lease->text)) {
		end = LEASE_FAILED;
	} else {
		readable = read_content(lease->path, &content);
		if ((readable && is_gone(&content)) || is_old(lease->path, mine))
			end = rename(mine, lease->path) ? LEASE_FAILED : LEASE_TAKEN;
		found->tag = xstrdup(content.tag);
		found->note = content.note;
		unlink(mine);
	}
	free(mine);
	free(tag);
	return end;
}

enum lease_end lease_take(struct lease *lease, const char *path, uint64_t note,
			  struct lease_found *found)
{
	enum lease_end end = LEASE_TAKEN;

	*found = (struct lease_found){ 0 };
	*lease = (struct lease){ .path = xstrdup(path), .text = lease_text(note) };
	if (!create_whole(path, lease->text))
		end = errno == EEXIST ? take_over(lease, found) : LEASE_FAILED;
	if (end != LEASE_TAKEN) {
		int reason = errno;

		free(lease->path);
		free(lease->text);
		errno = reason;
	}
	return end;
}

static bool is_ours(const struct lease *lease)
{
	char *text = folder_read(lease->path, LONGEST, NULL);
	bool ours = text && !strcmp(text, lease->text);

	free(text);
	return ours;
}

void lease_note(struct lease *lease, uint64_t note)
{
	char *tag = lease_tag(), *mine = xasprintf("%s.%s", lease->path, tag);
	char *text = lease_text(note);

	if (is_ours(lease) && folder_replace(lease->path, mine, text)) {
		free(lease->text);
		lease->text = text;
	} else {
		free(text);
	}
	free(mine);
	free(tag);
}

bool lease_renew(const struct lease *lease)
{
	return is_ours(lease) && utimensat(AT_FDCWD, lease->path, NULL, 0) == 0;
}

void lease_drop(struct lease *lease)
{
	if (is_ours(lease))
		unlink(lease->path);
	free(lease->path);
	free(lease->text);
}
