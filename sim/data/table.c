#include "data/table.h"

#include "base/fail.h"
#include "base/mem.h"
#include "data/csv_write.h"
#include "data/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Marks a PATH.partial as ours, and is locked as long as its run lives. */
#define MARKER   ".writing"
#define MANIFEST "manifest.json"

struct out_table {
	const struct out_schema *schema;
	struct csv_writer *csv; /* NULL: closed */
	uint64_t rows;
};

struct out_file {
	char *name;
	int fd;                  /* open until the end: whose name it is then can be checked */
	struct out_table *table; /* NULL: a text */
};

struct out_dir {
	char *path;
	char *partial;  /* PATH.partial */
	char *replaced; /* PATH.replaced: the former PATH, for the instant of the change */
	int fd;         /* the folder, whatever its name is meanwhile */
	int marker;
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

void out_table_row(struct out_table *table, const struct out_cell *cells)
{
	const struct out_column *columns = table->schema->columns;
	for (size_t i = 0; columns[i].name != NULL; i++)
		put_cell(table->csv, columns[i].type, &cells[i]);
	csv_writer_end_row(table->csv);
	table->rows++;
}

static void put_header(struct out_table *table)
{
	const struct out_column *columns = table->schema->columns;
	for (size_t i = 0; columns[i].name != NULL; i++)
		csv_writer_text(table->csv, columns[i].name);
	csv_writer_end_row(table->csv);
}

/* ---- Files of a directory ---- */

static struct out_file *find_file(const struct out_dir *dir, const char *name)
{
	for (size_t i = 0; i < dir->count; i++)
		if (strcmp(dir->files[i].name, name) == 0)
			return &dir->files[i];
	return NULL;
}

/* A new, empty file; NULL and *error on failure. A folder that has been removed or renamed is not
 * made anew. */
static struct out_file *new_file(struct out_dir *dir, const char *name, char **error)
{
	SIM_BUG_ON(*name == '/' || *name == '\0' || strstr(name, "..") != NULL);
	int fd = folder_make_parents_at(dir->fd, name)
			 ? openat(dir->fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
			 : -1;
	if (fd < 0) {
		*error = xasprintf("cannot write %s/%s: %s", dir->partial, name, strerror(errno));
		return NULL;
	}
	dir->files = array_reserve(dir->files, dir->count, &dir->capacity, sizeof *dir->files);
	struct out_file *file = &dir->files[dir->count++];
	*file = (struct out_file){ .name = xstrdup(name), .fd = fd };
	return file;
}

struct out_table *out_table_open(struct out_dir *dir, const struct out_schema *schema, char **error)
{
	SIM_BUG_ON(find_file(dir, schema->file) != NULL);
	struct out_file *file = new_file(dir, schema->file, error);
	if (file == NULL)
		return NULL;
	char *path = folder_join(dir->partial, schema->file);
	struct out_table *table = xmalloc(sizeof *table);
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
	SIM_BUG_ON(known != NULL && known->table != NULL);
	if (known == NULL)
		known = new_file(dir, file, error);
	if (known == NULL)
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
	*rows = file->table == NULL ? 0 : file->table->rows;
	return file->name;
}

const char *out_dir_working_path(const struct out_dir *dir)
{
	return dir->partial;
}

/* ---- The directory itself ---- */

/* Is there nothing at PATH, or nothing in it, or one of these files (NULL = none)? Looks at one
 * directory, whatever other runs rename meanwhile; a run that removes a directory removes such a
 * file last. */
static bool is_ours(const char *path, const char *file, const char *other)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || !folder_exists(path);
	bool ours = faccessat(fd, file, F_OK, 0) == 0 ||
		    (other != NULL && faccessat(fd, other, F_OK, 0) == 0) || folder_is_empty_at(fd);
	close(fd);
	return ours;
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
	if (!is_ours(dir->path, MANIFEST, NULL))
		return xasprintf("%s exists and is not a result directory (no " MANIFEST
				 "); it is left alone",
				 dir->path);
	if (!is_ours(dir->replaced, MANIFEST, NULL))
		return xasprintf("%s is in the way and is not a result directory", dir->replaced);
	if (!is_ours(dir->partial, MARKER, MANIFEST))
		return xasprintf("%s is in the way and does not come from a killed run",
				 dir->partial);
	return NULL;
}

/* Tries to lock the marker. False, and *writer, when another process has locked it. The lock is
 * only advice: if it fails for other reasons (file systems without locks), it counts as taken. */
static bool lock_marker(int fd, pid_t *writer)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN))
		return true;
	*writer = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
	return false;
}

/* Removes what a killed run left in PATH.partial. Only who locks the marker may, and a missing
 * marker is made first: otherwise a run that has just put its own directory there would lose it. So
 * of several runs that find the same remains, one removes them. False when another run is at it,
 * which is *writer (0 = unknown), or when nothing can be removed, with errno. */
static bool remove_remains(const char *partial, bool *busy, pid_t *writer)
{
	char *path = folder_join(partial, MARKER);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	bool gone = fd < 0 && errno == ENOENT; /* renamed or removed meanwhile */

	*busy = false;
	if (fd >= 0) {
		*busy = !lock_marker(fd, writer) || !folder_is_there(fd, AT_FDCWD, path);
		gone = !*busy && folder_remove_last(partial, MARKER);
	}
	int reason = errno;
	if (fd >= 0)
		close(fd);
	free(path);
	errno = reason;
	return gone;
}

/* Makes PATH.partial, which appears with its marker locked or not at all. */
static bool make_partial(struct out_dir *dir)
{
	char *fresh = xasprintf("%s.%ld", dir->partial, (long)getpid());
	char *marker = folder_join(fresh, MARKER);
	pid_t nobody;

	if (folder_exists(fresh)) /* of a killed run with this number */
		folder_remove(fresh);
	if (folder_make_parents(fresh) && mkdir(fresh, 0777) == 0) {
		dir->marker = open(marker, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		dir->fd = open(fresh, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	bool made = dir->marker >= 0 && dir->fd >= 0 && lock_marker(dir->marker, &nobody) &&
		    rename(fresh, dir->partial) == 0;
	int reason = errno;
	if (!made && folder_exists(fresh))
		folder_remove(fresh);
	free(marker);
	free(fresh);
	errno = reason;
	return made;
}

/* Several runs may try at once; one gets it. NULL, or why not (caller frees). */
static char *claim(struct out_dir *dir)
{
	pid_t writer = 0;
	bool busy = false;
	bool free_now =
		!folder_exists(dir->partial) || remove_remains(dir->partial, &busy, &writer);
	if (free_now && make_partial(dir))
		return NULL;
	if (busy || errno == ENOTEMPTY || errno == EEXIST)
		return writer ? xasprintf("%s is being written by another run (process %ld)",
					  dir->path, (long)writer)
			      : xasprintf("%s is being written by another run", dir->path);
	return xasprintf("cannot write %s: %s", dir->partial, strerror(errno));
}

static void dir_free(struct out_dir *dir)
{
	for (size_t i = 0; i < dir->count; i++) {
		struct out_table *table = dir->files[i].table;
		if (table != NULL && table->csv != NULL)
			csv_writer_abandon(table->csv);
		free(table);
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
	free(dir->replaced);
	free(dir);
}

struct out_dir *out_dir_open(const char *path, char **error)
{
	struct out_dir *dir = xcalloc(1, sizeof *dir);
	dir->marker = dir->fd = -1;
	dir->path = folder_trim(path);
	dir->partial = xasprintf("%s.partial", dir->path);
	dir->replaced = xasprintf("%s.replaced", dir->path);
	*error = why_not(dir);
	if (*error != NULL)
		goto fail;
	*error = claim(dir);
	if (*error != NULL)
		goto fail;
	return dir;
fail:
	dir_free(dir);
	return NULL;
}

/* NULL, or the first thing that was not written (caller frees). */
static char *finish_tables(struct out_dir *dir)
{
	char *error = NULL;
	for (size_t i = 0; i < dir->count; i++) {
		struct out_table *table = dir->files[i].table;
		char *why = NULL;
		if (table == NULL)
			continue;
		csv_writer_commit(table->csv, &why);
		table->csv = NULL;
		if (error == NULL)
			error = why;
		else
			free(why);
	}
	return error;
}

/* NULL, or what somebody has taken away meanwhile (caller frees). */
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

/* What `path` is in: its names outlast a power cut. */
static bool sync_parent(const char *path)
{
	const char *end = strrchr(path, '/');
	char *parent =
		end == NULL ? xstrdup(".") : xstrndup(path, end == path ? 1 : (size_t)(end - path));
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good = fd < 0 || folder_sync(fd); /* one that cannot be read is no reason to fail */
	int reason = errno;
	if (fd >= 0)
		close(fd);
	free(parent);
	errno = reason;
	return good;
}

/* Before the folder gets its name, all in it is on the disk. */
static char *sync_folders(const struct out_dir *dir)
{
	bool good = folder_sync(dir->fd);
	for (size_t i = 0; good && i < dir->count; i++) {
		char *path = folder_join(dir->partial, dir->files[i].name);
		good = strchr(dir->files[i].name, '/') == NULL || sync_parent(path);
		free(path);
	}
	return good ? NULL : xasprintf("cannot write %s: %s", dir->partial, strerror(errno));
}

/* A directory cannot be renamed over one that holds files: hence two renames,
 * between which PATH.replaced is what PATH was. */
static bool move_into_place(const struct out_dir *dir, char **error)
{
	if (!folder_remove_last(dir->replaced, MANIFEST)) {
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
	/* not empty: a next run has already written its results, and put these there */
	if (!had || folder_remove_last(dir->replaced, MANIFEST) || errno == ENOTEMPTY ||
	    errno == EEXIST)
		return true;
	*error = xasprintf("%s is complete, but the former results cannot be removed from %s: %s",
			   dir->path, dir->replaced, strerror(errno));
	return false;
}

bool out_dir_commit(struct out_dir *dir, char **error)
{
	*error = finish_tables(dir);
	if (*error == NULL)
		*error = missing(dir);
	if (*error == NULL)
		*error = why_not(dir); /* the run took hours: PATH may have changed */
	if (*error == NULL)
		*error = sync_folders(dir);
	bool ok = *error == NULL;
	if (ok) {
		ok = move_into_place(dir, error);
		char *marker = folder_join(dir->path, MARKER);
		unlink(marker); /* not before: without it, PATH.partial is remains */
		free(marker);
		if (ok && !sync_parent(dir->path)) {
			*error = xasprintf("cannot write %s: %s", dir->path, strerror(errno));
			ok = false;
		}
	}
	dir_free(dir);
	return ok;
}

void out_dir_keep(struct out_dir *dir)
{
	free(finish_tables(dir));
	dir_free(dir);
}

void out_dir_abandon(struct out_dir *dir)
{
	folder_remove_last(dir->partial, MARKER);
	dir_free(dir);
}
