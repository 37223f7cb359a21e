#include "out/table.h"

#include "base/fail.h"
#include "base/mem.h"
#include "out/folder.h"
#include "out/number.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_BUFFER (256 * 1024)

/* Marks a PATH.partial as ours, and is locked as long as its run lives. */
#define MARKER   ".writing"
#define MANIFEST "manifest.json"

struct out_table {
	const struct out_schema *schema;
	char *path;
	uint64_t rows;
	int fd;
	int failure; /* errno of the first failed write, 0 if none */
	size_t used;
	char buffer[TABLE_BUFFER];
};

struct out_file {
	char *name;
	struct out_table *table; /* NULL: a text */
};

struct out_dir {
	char *path;
	char *partial;  /* PATH.partial */
	char *replaced; /* PATH.replaced: the former PATH, for the instant of the change */
	int marker;
	struct out_file *files;
	size_t count, capacity;
};

/* ---- Rows ---- */

/* Returns 0 or an errno. By hand rather than stdio, whose buffer is lost when a
 * signal handler (SIGINT ends a run in order) interrupts the write. */
static int write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t done = write(fd, text, length);
		if (done < 0 && errno != EINTR)
			return errno;
		if (done > 0) {
			text += done;
			length -= (size_t)done;
		}
	}
	return 0;
}

static void flush(struct out_table *table)
{
	if (table->failure == 0)
		table->failure = write_all(table->fd, table->buffer, table->used);
	table->used = 0;
}

/* Where the next `length` characters go. */
static char *room(struct out_table *table, size_t length)
{
	if (table->used + length > TABLE_BUFFER)
		flush(table);
	return table->buffer + table->used;
}

static void put(struct out_table *table, char c)
{
	*room(table, 1) = c;
	table->used++;
}

static void put_text(struct out_table *table, const char *text)
{
	if (*text != '\0' && text[strcspn(text, ",\"\r\n")] == '\0') {
		for (; *text != '\0'; text++)
			put(table, *text);
		return;
	}
	put(table, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			put(table, '"');
		put(table, *text);
	}
	put(table, '"');
}

static void put_cell(struct out_table *table, enum out_type type, const struct out_cell *cell)
{
	if (cell->none)
		return;
	switch (type) {
	case OUT_COUNT:
		table->used += number_u64(room(table, NUMBER_TEXT), cell->count);
		break;
	case OUT_REAL:
		if (!isnan(cell->real))
			table->used += number_real(room(table, NUMBER_TEXT), cell->real);
		break;
	case OUT_SECONDS:
		SIM_BUG_ON(cell->time == SIM_TIME_MAX);
		table->used += number_seconds(room(table, NUMBER_TEXT), cell->time);
		break;
	case OUT_TEXT:
		SIM_BUG_ON(cell->text == NULL);
		put_text(table, cell->text);
		break;
	case OUT_FLAG:
		put(table, cell->flag ? '1' : '0');
		break;
	}
}

void out_table_row(struct out_table *table, const struct out_cell *cells)
{
	const struct out_column *columns = table->schema->columns;
	for (size_t i = 0; columns[i].name != NULL; i++) {
		if (i > 0)
			put(table, ',');
		put_cell(table, columns[i].type, &cells[i]);
	}
	put(table, '\n');
	table->rows++;
}

static void put_header(struct out_table *table)
{
	const struct out_column *columns = table->schema->columns;
	for (size_t i = 0; columns[i].name != NULL; i++) {
		if (i > 0)
			put(table, ',');
		put_text(table, columns[i].name);
	}
	put(table, '\n');
}

/* Returns 0 or the errno of the first failure since the opening. */
static int table_close(struct out_table *table)
{
	flush(table);
	int closed = close(table->fd);
	if (closed != 0 && table->failure == 0)
		table->failure = errno;
	table->fd = -1;
	return table->failure;
}

/* ---- Files of a directory ---- */

static struct out_file *find_file(const struct out_dir *dir, const char *name)
{
	for (size_t i = 0; i < dir->count; i++)
		if (strcmp(dir->files[i].name, name) == 0)
			return &dir->files[i];
	return NULL;
}

static struct out_file *add_file(struct out_dir *dir, const char *name)
{
	dir->files = array_reserve(dir->files, dir->count, &dir->capacity, sizeof *dir->files);
	struct out_file *file = &dir->files[dir->count++];
	*file = (struct out_file){ .name = xstrdup(name) };
	return file;
}

/* Opens NAME for writing; -1 and *error on failure. *path: the caller frees. */
static int open_file(struct out_dir *dir, const char *name, char **path, char **error)
{
	SIM_BUG_ON(*name == '/' || *name == '\0' || strstr(name, "..") != NULL);
	*path = folder_join(dir->partial, name);
	int fd = -1;
	if (folder_make_parents(*path))
		fd = open(*path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0) {
		*error = xasprintf("cannot write %s: %s", *path, strerror(errno));
		free(*path);
	}
	return fd;
}

struct out_table *out_table_open(struct out_dir *dir, const struct out_schema *schema, char **error)
{
	SIM_BUG_ON(find_file(dir, schema->file) != NULL);
	char *path;
	int fd = open_file(dir, schema->file, &path, error);
	if (fd < 0)
		return NULL;
	struct out_table *table = xmalloc(sizeof *table);
	table->schema = schema;
	table->path = path;
	table->rows = 0;
	table->fd = fd;
	table->failure = 0;
	table->used = 0;
	add_file(dir, schema->file)->table = table;
	put_header(table);
	return table;
}

bool out_dir_write(struct out_dir *dir, const char *file, const char *text, char **error)
{
	const struct out_file *known = find_file(dir, file);
	SIM_BUG_ON(known != NULL && known->table != NULL);
	char *path;
	int fd = open_file(dir, file, &path, error);
	if (fd < 0)
		return false;
	int failure = write_all(fd, text, strlen(text));
	if (close(fd) != 0 && failure == 0)
		failure = errno;
	if (failure != 0)
		*error = xasprintf("cannot write %s: %s", path, strerror(failure));
	else if (known == NULL)
		add_file(dir, file);
	free(path);
	return failure == 0;
}

size_t out_dir_files(const struct out_dir *dir)
{
	return dir->count;
}

const char *out_dir_file(const struct out_dir *dir, size_t index, uint64_t *rows)
{
	SIM_BUG_ON(index >= dir->count);
	const struct out_file *file = &dir->files[index];
	*rows = file->table == NULL ? 0 : file->table->rows;
	return file->name;
}

const char *out_dir_working_path(const struct out_dir *dir)
{
	return dir->partial;
}

/* ---- The directory itself ---- */

static bool may_replace(const char *path)
{
	return !folder_exists(path) || folder_has(path, MANIFEST) || folder_is_empty(path);
}

/* NULL if results may be written to PATH, else why not (caller frees). */
static char *why_not(const struct out_dir *dir)
{
	char link[1];
	const char *name = strrchr(dir->path, '/');
	name = name == NULL ? dir->path : name + 1;
	if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return xasprintf("\"%s\" cannot become a result directory: it needs a name of its "
				 "own",
				 dir->path);
	if (readlink(dir->path, link, sizeof link) >= 0)
		return xasprintf("%s is a symbolic link; give the directory it points to",
				 dir->path);
	if (!may_replace(dir->path))
		return xasprintf("%s exists and is not a result directory (no " MANIFEST
				 "); it is left alone",
				 dir->path);
	if (!may_replace(dir->replaced))
		return xasprintf("%s is in the way and is not a result directory", dir->replaced);
	if (!may_replace(dir->partial) && !folder_has(dir->partial, MARKER))
		return xasprintf("%s is in the way and does not come from a killed run",
				 dir->partial);
	return NULL;
}

/* The process that writes to PATH.partial right now, 0 if none does. */
static pid_t writer_of(const char *partial)
{
	char *path = folder_join(partial, MARKER);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	pid_t writer = 0;
	int fd = open(path, O_RDWR);
	if (fd >= 0) {
		if (fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
			writer = lock.l_pid;
		close(fd);
	}
	free(path);
	return writer;
}

/* The lock is advice only, so that it may fail (file systems without locks). */
static bool make_marker(struct out_dir *dir)
{
	char *path = folder_join(dir->partial, MARKER);
	dir->marker = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	if (dir->marker >= 0)
		fcntl(dir->marker, F_SETLK, &lock);
	int reason = errno;
	free(path);
	errno = reason;
	return dir->marker >= 0;
}

static void dir_free(struct out_dir *dir)
{
	for (size_t i = 0; i < dir->count; i++) {
		struct out_table *table = dir->files[i].table;
		if (table != NULL) {
			if (table->fd >= 0)
				close(table->fd);
			free(table->path);
			free(table);
		}
		free(dir->files[i].name);
	}
	if (dir->marker >= 0)
		close(dir->marker);
	free(dir->files);
	free(dir->path);
	free(dir->partial);
	free(dir->replaced);
	free(dir);
}

struct out_dir *out_dir_open(const char *path, char **error)
{
	struct out_dir *dir = xcalloc(1, sizeof *dir);
	dir->marker = -1;
	dir->path = folder_trim(path);
	dir->partial = xasprintf("%s.partial", dir->path);
	dir->replaced = xasprintf("%s.replaced", dir->path);
	*error = why_not(dir);
	if (*error != NULL)
		goto fail;
	pid_t writer = writer_of(dir->partial);
	if (writer != 0) {
		*error = xasprintf("%s is being written by another run (process %ld)", dir->path,
				   (long)writer);
		goto fail;
	}
	bool gone = !folder_exists(dir->partial) || folder_remove(dir->partial);
	if (!gone || !folder_make_parents(dir->partial) || mkdir(dir->partial, 0777) != 0 ||
	    !make_marker(dir)) {
		*error = xasprintf("cannot write %s: %s", dir->partial, strerror(errno));
		goto fail;
	}
	return dir;
fail:
	dir_free(dir);
	return NULL;
}

/* NULL, or the first thing that was not written (caller frees). */
static char *close_tables(struct out_dir *dir)
{
	char *error = NULL;
	for (size_t i = 0; i < dir->count; i++) {
		struct out_table *table = dir->files[i].table;
		int failure = table == NULL ? 0 : table_close(table);
		if (failure != 0 && error == NULL)
			error = xasprintf("cannot write %s: %s", table->path, strerror(failure));
	}
	return error;
}

/* A directory cannot be renamed over one that holds files: hence two renames,
 * between which PATH.replaced is what PATH was. */
static bool move_into_place(const struct out_dir *dir, char **error)
{
	if (folder_exists(dir->replaced) && !folder_remove(dir->replaced)) {
		*error = xasprintf("cannot remove %s: %s", dir->replaced, strerror(errno));
		return false;
	}
	bool had = rename(dir->path, dir->replaced) == 0;
	if ((!had && errno != ENOENT) || rename(dir->partial, dir->path) != 0) {
		*error = xasprintf("cannot rename %s to %s: %s", dir->partial, dir->path,
				   strerror(errno));
		if (had && rename(dir->replaced, dir->path) != 0) {
			char *more = xasprintf("%s; the former results are in %s", *error,
					       dir->replaced);
			free(*error);
			*error = more;
		}
		return false;
	}
	if (!had || folder_remove(dir->replaced))
		return true;
	*error = xasprintf("%s is complete, but the former results cannot be removed from %s: %s",
			   dir->path, dir->replaced, strerror(errno));
	return false;
}

bool out_dir_commit(struct out_dir *dir, char **error)
{
	*error = close_tables(dir);
	if (*error == NULL)
		*error = why_not(dir); /* the run took hours: PATH may have changed */
	bool ok = *error == NULL;
	if (ok) {
		char *marker = folder_join(dir->partial, MARKER);
		unlink(marker);
		free(marker);
		ok = move_into_place(dir, error);
	}
	dir_free(dir);
	return ok;
}

void out_dir_abandon(struct out_dir *dir)
{
	folder_remove(dir->partial);
	dir_free(dir);
}
