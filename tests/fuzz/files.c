#include "files.h"

#include "base/mem.h"
#include "data/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK    "=== "
#define MOST    32
#define LONGEST 100
#define CHARS   "abcdefghijklmnopqrstuvwxyz0123456789._-/"

static char folder[256];
static char paths[MOST][sizeof(folder) + LONGEST + 1]; /* no memory that stays: libFuzzer
							* would look for a leak each time */
static size_t count;

static void clear(void)
{
	folder_remove(folder);
	count = 0;
}

static void make_folder(void)
{
	if (folder[0]) {
		clear();
	} else {
		const char *parent = getenv("TMPDIR");

		snprintf(folder, sizeof(folder), "%s/fuzz-%ld", parent ? parent : "/tmp",
			 (long)getpid());
		atexit(clear);
	}
	if (mkdir(folder, 0700))
		abort();
}

static bool is_name(const char *name)
{
	return *name && strlen(name) < LONGEST && !name[strspn(name, CHARS)] && name[0] != '/' &&
	       !strstr(name, "..");
}

/* Where the next line that starts with the mark is, or the end. */
static const char *next_mark(const char *from, const char *end)
{
	for (const char *at = from; at && at < end; at++) {
		if ((size_t)(end - at) >= strlen(MARK) && !memcmp(at, MARK, strlen(MARK)))
			return at;
		at = memchr(at, '\n', (size_t)(end - at));
		if (!at)
			break;
	}
	return end;
}

static void write_file(const char *name, const char *text, size_t length)
{
	char *path = paths[count];
	FILE *file;

	snprintf(path, sizeof(paths[count]), "%s/%s", folder, name);
	file = folder_make_parents(path) ? fopen(path, "w") : NULL;
	if (!file)
		return; /* a folder is there already */
	fwrite(text, 1, length, file);
	fclose(file);
	count++;
}

const char *files_write(const uint8_t *data, size_t size)
{
	const char *end = (const char *)data + size;
	const char *at = size ? next_mark((const char *)data, end) : end;

	make_folder();
	while (at < end && count < MOST) {
		const char *name = at + strlen(MARK);
		const char *line = memchr(name, '\n', (size_t)(end - name));
		char *copy;

		if (!line)
			break;
		at = next_mark(line + 1, end);
		copy = xstrndup(name, (size_t)(line - name));
		if (is_name(copy))
			write_file(copy, line + 1, (size_t)(at - line - 1));
		free(copy);
	}
	return folder;
}

void files_each(void (*see)(const char *path))
{
	for (size_t i = 0; i < count; i++)
		see(paths[i]);
}
