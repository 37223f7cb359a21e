#include "data/table.h"

#include "base/fail.h"
#include "base/mem.h"
#include "data/csv_write.h"
#include "data/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that marks PATH.partial as ours. It is locked as long as the run lives. */
#define MARKER   ".writing"
#define MANIFEST "manifest.json"

struct out_table {
	const struct out_schema *schema;
	struct csv_writer *csv; /* NULL when closed, and in memory */
	uint64_t rows;
	/* In memory: the cells of all rows, whose texts are owned, and how many there are. */
	struct out_cell *cells;
	size_t cell_count, cell_capacity;
};

struct out_file {
	char *name;
	int fd; /* open until the end, to check that `name` still is this file; -1 in memory */
	struct out_table *table; /* NULL for a text */
};

struct out_dir {
	char *path;    /* NULL: in memory */
	char *partial; /* PATH.partial */
	int fd;        /* of the folder, even if it is renamed */
	int marker;    /* fd of MARKER, locked */
	struct out_file *files;
	size_t count, capacity;
};

/* ---- Rows ---- */

static void put_cell(struct csv_writer *csv, enum out_type type, const struct out_cell *cell)
{
	if (cell->none) {
		csv_writer_none(csv);
		return;
	}
	switch (type) {
	case OUT_COUNT:
		csv_writer_count(csv, cell->count);
		break;
	case OUT_REAL:
		csv_writer_real(csv, cell->real);
		break;
	case OUT_SECONDS:
		csv_writer_seconds(csv, cell->time);
		break;
	case OUT_TEXT:
		csv_writer_text(csv, cell->text);
		break;
	case OUT_FLAG:
		csv_writer_flag(csv, cell->flag);
		break;
	}
}

static void keep_cell(struct out_table *table, enum out_type type, struct out_cell cell)
{
	if (type == OUT_TEXT && !cell.none)
		cell.text = xstrdup(cell.text);
	table->cells = array_reserve(table->cells, table->cell_count, &table->cell_capacity,
				     sizeof(*table->cells));
	table->cells[table->cell_count++] = cell;
}

void out_table_row(struct out_table *table, const struct out_cell *cells)
{
	const struct out_column *columns = table->schema->columns;

	for (size_t i = 0; columns[i].name; i++)
		if (table->csv)
			put_cell(table->csv, columns[i].type, &cells[i]);
		else
			keep_cell(table, columns[i].type, cells[i]);
	if (table->csv)
		csv_writer_end_row(table->csv);
	table->rows++;
}

static void free_cells(struct out_table *table)
{
	const struct out_column *columns = table->schema->columns;

	for (size_t i = 0; i < table->cell_count;)
		for (size_t c = 0; columns[c].name; c++, i++)
			if (columns[c].type == OUT_TEXT && !table->cells[i].none)
				free((char *)table->cells[i].text);
	free(table->cells);
}

static void put_header(struct out_table *table)
{
	const struct out_column *columns = table->schema->columns;

	for (size_t i = 0; columns[i].name; i++)
		csv_writer_text(table->csv, columns[i].name);
	csv_writer_end_row(table->csv);
}

/* ---- Files of a directory ---- */

static struct out_file *find_file(const struct out_dir *dir, const char *name)
{
	for (size_t i = 0; i < dir->count; i++)
		if (!strcmp(dir->files[i].name, name))
			return &dir->files[i];
	return NULL;
}

static struct out_file *add_file(struct out_dir *dir, const char *name, int fd)
{
	dir->files = array_reserve(dir->files, dir->count, &dir->capacity, sizeof(*dir->files));
	dir->files[dir->count] = (struct out_file){ .name = xstrdup(name), .fd = fd };
	return &dir->files[dir->count++];
}

/* Makes an empty file; NULL and *error on failure. Fails if the folder was removed; missing() finds
 * out if it was renamed. */
static struct out_file *new_file(struct out_dir *dir, const char *name, char **error)
{
	SIM_BUG_ON(*name == '/' || !*name || strstr(name, ".."));
	int fd = folder_make_parents_at(dir->fd, name)
			 ? openat(dir->fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
			 : -1;

	if (fd < 0) {
		*error = xasprintf("cannot write %s/%s: %s", dir->partial, name, strerror(errno));
		return NULL;
	}
	return add_file(dir, name, fd);
}

struct out_table *out_table_open(struct out_dir *dir, const struct out_schema *schema, char **error)
{
	SIM_BUG_ON(find_file(dir, schema->file));
	struct out_file *file =
		dir->path ? new_file(dir, schema->file, error) : add_file(dir, schema->file, -1);

	if (!file)
		return NULL;
	if (!dir->path) {
		file->table = xcalloc(1, sizeof(*file->table));
		file->table->schema = schema;
		return file->table;
	}
	char *path = folder_join(dir->partial, schema->file);
	struct out_table *table = xmalloc(sizeof(*table));

	*table = (struct out_table){ .schema = schema,
				     .csv = csv_writer_open_in_place(file->fd, path) };
	free(path);
	file->table = table;
	put_header(table);
	return table;
}

bool out_dir_write(struct out_dir *dir, const char *file, const char *text, char **error)
{
	return out_dir_write_bytes(dir, file, text, strlen(text), error);
}

bool out_dir_write_bytes(struct out_dir *dir, const char *file, const void *data, size_t length,
			 char **error)
{
	struct out_file *known = find_file(dir, file);

	SIM_BUG_ON(known && known->table);
	if (!known)
		known = new_file(dir, file, error);
	if (!known)
		return false;
	if (ftruncate(known->fd, 0) == 0 && lseek(known->fd, 0, SEEK_SET) == 0 &&
	    folder_write(known->fd, data, length) && folder_sync(known->fd))
		return true;
	*error = xasprintf("cannot write %s/%s: %s", dir->partial, file, strerror(errno));
	return false;
}

size_t out_dir_files(const struct out_dir *dir)
{
	return dir->count;
}

const char *out_dir_file(const struct out_dir *dir, size_t index, uint64_t *rows)
{
	SIM_BUG_ON(index >= dir->count);
	const struct out_file *file = &dir->files[index];

	*rows = file->table ? file->table->rows : 0;
	return file->name;
}

const char *out_dir_working_path(const struct out_dir *dir)
{
	return dir->partial;
}

/* ---- The directory itself ---- */

/* Whether a run may write at `path`: nothing is there, or an empty folder, or one with a manifest
 * or a marker. Since other runs may rename the folder meanwhile, this opens it once. It looks in an
 * order that misses nothing:
 * - for the marker, then for the manifest: a run that ends writes its manifest before it removes
 *   its marker;
 * - then for the marker again: a run that takes over makes its marker in an empty folder, or before
 *   it removes a manifest.
 *
 * Whoever removes a folder removes manifest or marker last. */
static bool is_ours(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return true; /* nothing is known; who writes there will fail, and say why */
	if (fd < 0)
		return errno == ENOENT || !folder_exists(path); /* nothing that can be seen */
	bool ours = faccessat(fd, MARKER, F_OK, 0) == 0 || faccessat(fd, MANIFEST, F_OK, 0) == 0 ||
		    folder_is_empty_at(fd) || faccessat(fd, MARKER, F_OK, 0) == 0;

	close(fd);
	return ours;
}

/* Like is_ours(), but says no only after 100 ms: while other runs finish, exchange and remove a
 * folder, it may look foreign for a moment. */
static bool stays_ours(const char *path)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	bool ours = is_ours(path);

	for (int i = 0; i < 50 && !ours; i++) {
		nanosleep(&pause, NULL);
		ours = is_ours(path);
	}
	return ours;
}

/* Returns NULL if results may be written to PATH, else why not (caller frees). */
static char *why_not(const struct out_dir *dir)
{
	char link[1]; /* readlink() fails unless the path is a link; its target does not matter */
	const char *name = strrchr(dir->path, '/');

	name = name ? name + 1 : dir->path;
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return xasprintf("\"%s\" cannot become a result directory: it needs a name of its "
				 "own",
				 dir->path);
	if (readlink(dir->path, link, sizeof(link)) >= 0)
		return xasprintf("%s is a symbolic link; give the directory it points to",
				 dir->path);
	if (!stays_ours(dir->path))
		return xasprintf("%s exists and is not a result directory (no " MANIFEST
				 "); it is left alone",
				 dir->path);
	if (!stays_ours(dir->partial))
		return xasprintf("%s is in the way and does not come from a killed run",
				 dir->partial);
	return NULL;
}

/* Locks the marker. If another process has locked it, waits or, without `wait`, returns false and
 * sets *writer to the other process (0: unknown). The lock is only advice: returns true if locking
 * fails for another reason (file systems without locks). */
static bool lock_marker(int fd, bool wait, pid_t *writer)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, wait ? F_SETLKW : F_SETLK, &lock) == 0 ||
	    (errno != EACCES && errno != EAGAIN))
		return true;
	*writer = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
	return false;
}

/* Opens the marker in a folder, making it if need be, and locks it. -1 with errno on failure:
 * EWOULDBLOCK if another process has it, ENOENT if the folder has gone meanwhile. */
static int take_marker(const char *folder, bool wait, pid_t *writer)
{
	char *path = folder_join(folder, MARKER);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), reason = errno;

	if (fd >= 0)
		reason = !lock_marker(fd, wait, writer)        ? EWOULDBLOCK
			 : folder_is_there(fd, AT_FDCWD, path) ? 0
							       : ENOENT;
	if (fd >= 0 && reason) {
		close(fd);
		fd = -1;
	}
	free(path);
	errno = reason;
	return fd;
}

/* Makes PATH.partial, or takes over what a killed run left there. If several runs try at once, the
 * folder is for the one that locks the marker. Returns NULL, or why it failed (caller frees). */
static char *claim(struct out_dir *dir)
{
	pid_t writer = 0;

	while (folder_make_parents(dir->partial) &&
	       (mkdir(dir->partial, 0777) == 0 || errno == EEXIST) &&
	       (dir->marker = take_marker(dir->partial, false, &writer)) < 0 && errno == ENOENT)
		; /* its owner has renamed or removed the folder: try again */
	if (dir->marker < 0 && errno == EWOULDBLOCK)
		return writer ? xasprintf("%s is being written by another run (process %ld)",
					  dir->path, (long)writer)
			      : xasprintf("%s is being written by another run", dir->path);
	if (dir->marker >= 0)
		dir->fd = open(dir->partial, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd >= 0 && folder_clear(dir->partial, MARKER))
		return NULL;
	return xasprintf("cannot write %s: %s", dir->partial, strerror(errno));
}

static void dir_free(struct out_dir *dir)
{
	for (size_t i = 0; i < dir->count; i++) {
		struct out_table *table = dir->files[i].table;

		if (table && table->csv)
			csv_writer_abandon(table->csv);
		if (table)
			free_cells(table);
		free(table);
		if (dir->files[i].fd >= 0)
			close(dir->files[i].fd);
		free(dir->files[i].name);
	}
	if (dir->fd >= 0)
		close(dir->fd);
	if (dir->marker >= 0)
		close(dir->marker);
	free(dir->files);
	free(dir->path);
	free(dir->partial);
	free(dir);
}

struct out_dir *out_dir_open(const char *path, char **error)
{
	struct out_dir *dir = xcalloc(1, sizeof(*dir));

	dir->marker = dir->fd = -1;
	dir->path = folder_trim(path);
	dir->partial = xasprintf("%s.partial", dir->path);
	*error = why_not(dir);
	if (*error)
		goto fail;
	*error = claim(dir);
	if (*error)
		goto fail;
	return dir;
fail:
	dir_free(dir);
	return NULL;
}

struct out_dir *out_dir_in_memory(void)
{
	struct out_dir *dir = xcalloc(1, sizeof(*dir));

	dir->marker = dir->fd = -1;
	return dir;
}

const struct out_cell *out_dir_cells(const struct out_dir *dir, size_t index,
				     const struct out_schema **schema)
{
	SIM_BUG_ON(dir->path || index >= dir->count);
	*schema = dir->files[index].table->schema;
	return dir->files[index].table->cells;
}

/* Returns NULL, or the first write error (caller frees). */
static char *finish_tables(struct out_dir *dir)
{
	char *error = NULL;

	for (size_t i = 0; i < dir->count; i++) {
		struct out_table *table = dir->files[i].table;
		char *why = NULL;

		if (!table)
			continue;
		csv_writer_commit(table->csv, &why);
		table->csv = NULL;
		if (!error)
			error = why;
		else
			free(why);
	}
	return error;
}

/* Returns NULL, or what somebody has taken away meanwhile (caller frees). */
static char *missing(const struct out_dir *dir)
{
	if (!folder_is_there(dir->fd, AT_FDCWD, dir->partial))
		return xasprintf("%s was removed or renamed while the run wrote to it",
				 dir->partial);
	for (size_t i = 0; i < dir->count; i++)
		if (!folder_is_there(dir->files[i].fd, dir->fd, dir->files[i].name))
			return xasprintf("%s/%s was removed or replaced while the run wrote to it",
					 dir->partial, dir->files[i].name);
	return NULL;
}

/* Makes the names in the parent folder of `path` survive a power cut. */
static bool sync_parent(const char *path)
{
	const char *end = strrchr(path, '/');
	char *parent = end ? xstrndup(path, end == path ? 1 : (size_t)(end - path)) : xstrdup(".");
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good = fd < 0 || folder_sync(fd); /* to have no read permission is no failure */
	int reason = errno;

	if (fd >= 0)
		close(fd);
	free(parent);
	errno = reason;
	return good;
}

/* Makes the names of all files survive a power cut. Returns NULL, or why not (caller frees). */
static char *sync_folders(const struct out_dir *dir)
{
	bool good = folder_sync(dir->fd);

	for (size_t i = 0; good && i < dir->count; i++) {
		char *path = folder_join(dir->partial, dir->files[i].name);

		good = !strchr(dir->files[i].name, '/') || sync_parent(path);
		free(path);
	}
	return good ? NULL : xasprintf("cannot write %s: %s", dir->partial, strerror(errno));
}

/* Exchanges PATH.partial and the former results, which have a marker, and removes the latter. */
static bool replace_former(const struct out_dir *dir, char **error)
{
	if (folder_exchange(dir->partial, dir->path)) {
		/* if it cannot be removed as it is not empty, the next run has taken it over */
		if (folder_remove_last(dir->partial, MARKER) || errno == ENOTEMPTY ||
		    errno == EEXIST)
			return true;
		*error = xasprintf("%s is complete, but the former results cannot be removed from "
				   "%s: %s",
				   dir->path, dir->partial, strerror(errno));
		return false;
	}
	/* The file system cannot exchange names. A kill between the two steps leaves the new
	 * results in PATH.partial. */
	return (errno == EINVAL || errno == ENOSYS) && folder_remove_last(dir->path, MANIFEST) &&
	       rename(dir->partial, dir->path) == 0;
}

/* Renames PATH.partial to PATH. While the former results are removed, their name is PATH.partial,
 * so they first get a marker, or another run would take them for the remains of a killed one. This
 * waits if a run that has just committed still has its marker in PATH. The new results bring theirs
 * to PATH, where it is removed last. If the marker in PATH cannot be opened, this fails and leaves
 * it there. */
static bool move_into_place(const struct out_dir *dir, char **error)
{
	pid_t nobody;
	int former;

	do {
		former = take_marker(dir->path, true, &nobody);
	} while (former < 0 && errno == ENOENT && folder_exists(dir->path));
	bool good = former >= 0 ? replace_former(dir, error)
				: errno == ENOENT && rename(dir->partial, dir->path) == 0;

	if (!good && !*error)
		*error = xasprintf("cannot rename %s to %s: %s", dir->partial, dir->path,
				   strerror(errno));
	if (good || former >= 0) {
		char *marker = folder_join(dir->path, MARKER);

		unlink(marker); /* only now: else others would take over PATH.partial */
		free(marker);
	}
	if (former >= 0)
		close(former);
	return good;
}

/* If PATH.partial still holds what was written, adds that to the error. After the rename it does
 * not: there may then be the former results. */
static void add_remains(const struct out_dir *dir, char **error)
{
	char *whole;

	if (!folder_is_there(dir->fd, AT_FDCWD, dir->partial))
		return;
	whole = xasprintf("%s; what could be written is in %s until the next run", *error,
			  dir->partial);
	free(*error);
	*error = whole;
}

bool out_dir_commit(struct out_dir *dir, char **error)
{
	bool ok;

	*error = finish_tables(dir);
	if (!*error)
		*error = missing(dir);
	if (!*error)
		*error = why_not(dir); /* the run took hours: PATH may have changed */
	if (!*error)
		*error = sync_folders(dir);
	ok = !*error;
	if (ok) {
		ok = move_into_place(dir, error);
		if (ok && !sync_parent(dir->path)) {
			*error = xasprintf("%s is complete, but its parent folder cannot be synced "
					   "to disk: %s",
					   dir->path, strerror(errno));
			ok = false;
		}
	}
	if (!ok)
		add_remains(dir, error);
	dir_free(dir);
	return ok;
}

void out_dir_keep(struct out_dir *dir, char **error)
{
	free(finish_tables(dir));
	if (error)
		add_remains(dir, error);
	dir_free(dir);
}

void out_dir_abandon(struct out_dir *dir)
{
	if (dir->path && folder_is_there(dir->fd, AT_FDCWD,
					 dir->partial)) /* not one that another run has made */
		folder_remove_last(dir->partial, MARKER);
	dir_free(dir);
}
