#include "base/input.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0 if the open file may be read, else an errno value. */
static int refusal(int fd, uint64_t max, bool pipes)
{
	struct stat st;

	if (fstat(fd, &st))
		return errno;
	if (pipes && S_ISFIFO(st.st_mode))
		return 0;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	return (uint64_t)st.st_size > max ? EFBIG : 0;
}

static FILE *open_input(const char *path, uint64_t max, bool pipes)
{
	struct stat st;
	bool wait = pipes && !stat(path, &st) && S_ISFIFO(st.st_mode);
	/* without O_NONBLOCK, opening a pipe waits for its writer */
	int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | (wait ? 0 : O_NONBLOCK));
	int reason = fd < 0 ? errno : refusal(fd, max, pipes);
	FILE *file = reason ? NULL : fdopen(fd, "rb");

	if (file)
		return file;
	reason = reason ? reason : errno;
	if (fd >= 0)
		close(fd);
	errno = reason;
	return NULL;
}

FILE *input_open(const char *path, uint64_t max)
{
	return open_input(path, max, false);
}

FILE *input_open_pipe(const char *path, uint64_t max)
{
	return open_input(path, max, true);
}

/* Reads the file to its end and closes it. For a NULL file, returns NULL and keeps errno. */
static char *read_all(FILE *file, size_t max, size_t *length)
{
	size_t count = 0, capacity = 0, got;
	char *text = NULL;
	int reason;

	if (!file)
		return NULL;
	do {
		if (capacity - count < 4096) {
			capacity = capacity ? 2 * capacity : 65536;
			text = xrealloc(text, capacity, 1);
		}
		got = fread(text + count, 1, capacity - count - 1, file);
		count += got;
	} while (got > 0 && count <= max);
	/* the file may have grown since it was opened */
	reason = ferror(file) ? EIO : count > max ? EFBIG : 0;
	fclose(file);
	text[count] = '\0';
	if (length)
		*length = count;
	if (!reason)
		return text;
	free(text);
	errno = reason;
	return NULL;
}

char *input_read(const char *path, size_t max, size_t *length)
{
	return read_all(input_open(path, max), max, length);
}

char *input_read_pipe(const char *path, size_t max, size_t *length)
{
	return read_all(input_open_pipe(path, max), max, length);
}

const char *input_why(int reason)
{
	switch (reason) {
	case EINVAL:
		return "not a regular file";
	case EFBIG:
		return "too large";
	default:
		return strerror(reason);
	}
}
