#include "data/csv_write.h"

#include "base/fail.h"
#include "base/mem.h"
#include "data/folder.h"
#include "data/number.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER ((size_t)256 * 1024) /* bytes; grows for tables in memory */

struct csv_writer {
	char *path;
	int fd;       /* the caller's; -1: rows stay in memory until the commit */
	int failure;  /* errno of the first failed write, 0 if none */
	size_t cells; /* of the current row, so far */
	size_t width; /* cells of the first row; 0 until it has ended */
	size_t used, capacity;
	char *buffer;
};

struct csv_writer *csv_writer_open_in_place(int fd, const char *path)
{
	struct csv_writer *csv = xcalloc(1, sizeof(*csv));

	csv->path = xstrdup(path);
	csv->fd = fd;
	csv->capacity = BUFFER;
	csv->buffer = xmalloc(csv->capacity);
	return csv;
}

struct csv_writer *csv_writer_open(const char *path)
{
	return csv_writer_open_in_place(-1, path);
}

static void flush(struct csv_writer *csv)
{
	if (csv->failure == 0 && !folder_write(csv->fd, csv->buffer, csv->used))
		csv->failure = errno;
	csv->used = 0;
}

/* Returns where the next `length` characters go. */
static char *room(struct csv_writer *csv, size_t length)
{
	if (csv->used + length > csv->capacity && csv->fd >= 0)
		flush(csv);
	else if (csv->used + length > csv->capacity)
		csv->buffer = xrealloc(csv->buffer, csv->capacity *= 2, 1);
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

/* Whether a spreadsheet would take the text for a formula; with apostrophes before it, too, so that
 * the reader knows which apostrophe is ours. A number is none. */
static bool is_formula(const char *text)
{
	char first = text[strspn(text, "'")], *end;

	if (!first || !strchr("=+-@", first))
		return false;
	strtod(text, &end); /* takes "-inf" and "-0x1", too, which are no numbers here */
	return text[strspn(text, "+-.eE0123456789")] || end == text || *end;
}

void csv_writer_text(struct csv_writer *csv, const char *text)
{
	bool quoted;

	SIM_BUG_ON(!text);
	next_cell(csv);
	quoted = !*text || text[strcspn(text, ",\"\r\n")];
	if (quoted)
		put(csv, '"');
	if (is_formula(text))
		put(csv, '\'');
	for (; *text; text++) {
		if (*text == '"')
			put(csv, '"');
		put(csv, *text);
	}
	if (quoted)
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

/* After a failed write, removes the incomplete row at the end of the file. */
static void cut_to_rows(const struct csv_writer *csv)
{
	off_t end = lseek(csv->fd, 0, SEEK_END);
	char c = '\0';

	while (end > 0 && pread(csv->fd, &c, 1, end - 1) == 1 && c != '\n')
		end--;
	if (end >= 0 && ftruncate(csv->fd, end) != 0)
		return; /* the disk allows no change: nothing is left to try */
}

void csv_writer_abandon(struct csv_writer *csv)
{
	free(csv->buffer);
	free(csv->path);
	free(csv);
}

bool csv_writer_commit(struct csv_writer *csv, char **error)
{
	SIM_BUG_ON(csv->cells > 0);
	if (csv->fd >= 0) {
		flush(csv);
		if (csv->failure == 0 && !folder_sync(csv->fd))
			csv->failure = errno;
		if (csv->failure != 0)
			cut_to_rows(csv);
	} else if (!folder_replace(csv->path, csv->buffer, csv->used)) {
		csv->failure = errno;
	}
	bool ok = csv->failure == 0;

	if (!ok)
		*error = xasprintf("cannot write %s: %s", csv->path, strerror(csv->failure));
	csv_writer_abandon(csv);
	return ok;
}
