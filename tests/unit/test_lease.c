/* A lease keeps others away while its holder lives, and no longer. */
#include "lab/sweep/lease.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *new_path(const char *name)
{
	char *path = xasprintf("%s/lease-%s-%ld", INASIM_WORK_DIR, name, (long)getpid());

	remove(path);
	return path;
}

static void write_lease(const char *path, const char *text, time_t age)
{
	const struct timespec then[2] = { { .tv_sec = time(NULL) - age },
					  { .tv_sec = time(NULL) - age } };
	FILE *file = fopen(path, "w");

	cr_assert(file != NULL);
	fputs(text, file);
	fclose(file);
	cr_assert(utimensat(AT_FDCWD, path, then, 0) == 0);
}

static enum lease_end try_to_take(const char *path, uint64_t *note)
{
	struct lease lease;
	struct lease_found found;
	enum lease_end end = lease_take(&lease, path, 1, &found);

	if (note)
		*note = found.note;
	if (end == LEASE_TAKEN)
		lease_drop(&lease);
	free(found.tag);
	return end;
}

Test(lease, one_holder)
{
	char *path = new_path("one");
	struct lease lease;
	struct lease_found found;

	cr_assert(lease_take(&lease, path, 0, &found) == LEASE_TAKEN);
	cr_expect(found.tag == NULL);
	cr_expect(try_to_take(path, NULL) == LEASE_BUSY); /* its holder, this process, lives */
	cr_expect(lease_renew(&lease));
	lease_drop(&lease);
	cr_expect(access(path, F_OK) != 0);
	cr_expect(try_to_take(path, NULL) == LEASE_TAKEN);
	free(path);
}

/* Of a process that is gone it is over at once, and leaves its note. */
Test(lease, of_a_dead_process)
{
	char *path = new_path("dead");
	uint64_t note;
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct lease lease;
		struct lease_found found;

		_exit(lease_take(&lease, path, 0, &found) == LEASE_TAKEN
			      ? (lease_note(&lease, 42), 0)
			      : 1);
	}
	cr_assert(waitpid(child, &status, 0) == child && status == 0);
	cr_assert(access(path, F_OK) == 0);
	cr_expect(try_to_take(path, &note) == LEASE_TAKEN);
	cr_expect(note == 42);
	free(path);
}

/* A process of the holder's number that began at another time is not the holder. */
Test(lease, of_a_number_that_came_again)
{
	char *path = new_path("again"), *tag = lease_tag(), *text;
	struct stat space;

	cr_assert(stat("/proc/self/ns/pid", &space) == 0);
	text = xasprintf("%s %lu 7 1\n", tag, (unsigned long)space.st_ino);
	write_lease(path, text, 0);
	cr_expect(try_to_take(path, NULL) == LEASE_TAKEN);
	free(text);
	text = xasprintf("%s %lu 7\n", tag, (unsigned long)space.st_ino); /* it does not say when */
	write_lease(path, text, 0);
	cr_expect(try_to_take(path, NULL) == LEASE_BUSY);
	remove(path);
	free(text);
	free(tag);
	free(path);
}

/* Of another host, or unreadable, it is over when nobody has touched it for long. */
Test(lease, of_another_host)
{
	static const char *const texts[] = { "elsewhere-1 4026531836 3\n", "elsewhere-1 0 3\n",
					     "" };
	char *path = new_path("host");

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_lease(path, texts[i], 0);
		cr_expect(try_to_take(path, NULL) == LEASE_BUSY);
		write_lease(path, texts[i], LEASE_SECONDS - 10);
		cr_expect(try_to_take(path, NULL) == LEASE_BUSY);
		write_lease(path, texts[i], LEASE_SECONDS + 10);
		cr_expect(try_to_take(path, NULL) == LEASE_TAKEN);
	}
	free(path);
}

/* Who has lost it neither renews nor removes that of the next. */
Test(lease, lost)
{
	char *path = new_path("lost");
	struct lease lease;
	struct lease_found found;

	cr_assert(lease_take(&lease, path, 0, &found) == LEASE_TAKEN);
	write_lease(path, "elsewhere-1 0 0\n", 0);
	cr_expect(!lease_renew(&lease));
	lease_drop(&lease);
	cr_expect(access(path, F_OK) == 0);
	remove(path);
	free(path);
}

Test(lease, nowhere)
{
	char *path = xasprintf("%s/no-such-folder/lease", INASIM_WORK_DIR);

	cr_expect(try_to_take(path, NULL) == LEASE_FAILED);
	free(path);
}
