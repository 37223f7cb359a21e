#include "io/csv_write.h"

#include "base/fail.h"
#include "base/mem.h"
#include "io/folder.h"
#include "io/number.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER (256 * 1024)

struct csv_writer {
	char *path;
	char *target; /* where the commit renames it to; NULL: it stays, and fd is the caller's */
	int fd;
	bool nameless;       /* the file has no name before the commit */
	int failure;         /* errno of the first failed write, 0 if none */
	size_t cells, width; /* of the present row, of the first one (0: not ended yet) */
	size_t used;
	char buffer[BUFFER];
};

static struct csv_writer *open_on(int fd, char *path, char *target)
{
	struct csv_writer *csv = xmalloc(sizeof *csv);
	csv->path = path;
	csv->target = target;
	csv->fd = fd;
	csv->nameless = false;
	csv->failure = 0;
	csv->cells = csv->width = csv->used = 0;
	return csv;
}

struct csv_writer *csv_writer_open(const char *path, char **error)
{
	char *partial = xasprintf("%s.partial.%ld", path, (long)getpid());
	int fd = folder_nameless(path);
	bool nameless = fd >= 0;
	if (!nameless)
		fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0) {
		struct csv_writer *csv = open_on(fd, partial, xstrdup(path));
		csv->nameless = nameless;
		return csv;
	}
	*error = xasprintf("cannot write %s: %s", partial, strerror(errno));
	free(partial);
	return NULL;
}

struct csv_writer *csv_writer_open_in_place(int fd, const char *path)
{
	return open_on(fd, xstrdup(path), NULL);
}

static void flush(struct csv_writer *csv)
{
	if (csv->failure == 0 && !folder_write(csv->fd, csv->buffer, csv->used))
		csv->failure = errno;
	csv->used = 0;
}

/* Where the next `length` characters go. */
static char *room(struct csv_writer *csv, size_t length)
{
	if (csv->used + length > BUFFER)
		flush(csv);
	return csv->buffer + csv->used;
}

static void put(struct csv_writer *csv, char c)
{
	*room(csv, 1) = c;
	csv->used++;
}

static void next_cell(struct csv_writer *csv)
{
	if (csv->cells++ > 0)
		put(csv, ',');
}

void csv_writer_none(struct csv_writer *csv)
{
	next_cell(csv);
}

void csv_writer_text(struct csv_writer *csv, const char *text)
{
	SIM_BUG_ON(text == NULL);
	next_cell(csv);
	if (*text != '\0' && text[strcspn(text, ",\"\r\n")] == '\0') {
		for (; *text != '\0'; text++)
			put(csv, *text);
		return;
	}
	put(csv, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			put(csv, '"');
		put(csv, *text);
	}
	put(csv, '"');
}

void csv_writer_count(struct csv_writer *csv, uint64_t count)
{
	next_cell(csv);
	csv->used += number_u64(room(csv, NUMBER_TEXT), count);
}

void csv_writer_real(struct csv_writer *csv, double value)
{
	next_cell(csv);
	if (!isnan(value))
		csv->used += number_real(room(csv, NUMBER_TEXT), value);
}

void csv_writer_seconds(struct csv_writer *csv, sim_time time)
{
	SIM_BUG_ON(time == SIM_TIME_MAX);
	next_cell(csv);
	csv->used += number_seconds(room(csv, NUMBER_TEXT), time);
}

void csv_writer_flag(struct csv_writer *csv, bool flag)
{
	next_cell(csv);
	put(csv, flag ? '1' : '0');
}

void csv_writer_end_row(struct csv_writer *csv)
{
	if (csv->width == 0)
		csv->width = csv->cells;
	SIM_BUG_ON(csv->cells == 0 || csv->cells != csv->width);
	put(csv, '\n');
	csv->cells = 0;
}

/* A file that could not be written to its end keeps its whole rows. */
static void cut_to_rows(const struct csv_writer *csv)
{
	off_t end = lseek(csv->fd, 0, SEEK_END);
	char c = '\0';

	while (end > 0 && pread(csv->fd, &c, 1, end - 1) == 1 && c != '\n')
		end--;
	if (end >= 0 && ftruncate(csv->fd, end) != 0)
		return; /* a disk that takes nothing any more: what is there is there */
}

static void writer_free(struct csv_writer *csv)
{
	free(csv->path);
	free(csv->target);
	free(csv);
}

bool csv_writer_commit(struct csv_writer *csv, char **error)
{
	SIM_BUG_ON(csv->cells > 0);
	flush(csv);
	bool atomic = csv->target != NULL;
	if (csv->failure == 0 && !folder_sync(csv->fd))
		csv->failure = errno;
	if (csv->failure == 0 && csv->nameless && !folder_give_name(csv->fd, csv->path))
		csv->failure = errno;
	if (atomic && close(csv->fd) != 0 && csv->failure == 0)
		csv->failure = errno;
	if (csv->failure == 0 && atomic && rename(csv->path, csv->target) != 0)
		csv->failure = errno;
	bool ok = csv->failure == 0;
	if (!ok)
		*error = xasprintf("cannot write %s: %s", atomic ? csv->target : csv->path,
				   strerror(csv->failure));
	if (!ok && atomic)
		unlink(csv->path);
	else if (!ok)
		cut_to_rows(csv);
	writer_free(csv);
	return ok;
}

void csv_writer_abandon(struct csv_writer *csv)
{
	if (csv->target != NULL) {
		close(csv->fd);
		unlink(csv->path);
	}
	writer_free(csv);
}
