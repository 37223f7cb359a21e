#include "data/folder.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *folder_trim(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return xstrndup(path, length);
}

char *folder_join(const char *folder, const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

bool folder_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static bool is_folder_at(int fd, const char *path)
{
	struct stat st;

	return fstatat(fd, path, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

bool folder_is_folder(const char *path)
{
	return is_folder_at(AT_FDCWD, path);
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

bool folder_is_empty_at(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);

	if (!dir) {
		if (own >= 0)
			close(own);
		return false;
	}
	bool empty = true;

	for (struct dirent *entry; empty && (entry = readdir(dir));)
		empty = is_dots(entry->d_name);
	closedir(dir);
	return empty;
}

bool folder_has(const char *path, const char *file)
{
	char *full = folder_join(path, file);
	bool has = access(full, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);

	free(full);
	return has;
}

bool folder_make_parents(const char *path)
{
	return folder_make_parents_at(AT_FDCWD, path);
}

bool folder_make_parents_at(int fd, const char *path)
{
	char *part = xstrdup(path);
	bool ok = true;

	for (char *p = part + 1; *part && ok && (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdirat(fd, part, 0777) != 0) {
			int reason = errno == EEXIST ? ENOTDIR : errno;

			ok = is_folder_at(fd, part); /* false for a file or a dangling link */
			errno = reason;
		}
		*p = '/';
	}
	int reason = errno;

	free(part);
	errno = reason;
	return ok;
}

bool folder_is_there(int fd, int dir, const char *path)
{
	struct stat mine, there;

	return fstat(fd, &mine) == 0 && fstatat(dir, path, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

bool folder_sync(int fd)
{
	return fsync(fd) == 0 || (errno != EIO && errno != ENOSPC && errno != EDQUOT);
}

bool folder_write(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t done = write(fd, text, length);

		if (done < 0 && errno != EINTR)
			return false;
		if (done > 0) {
			text += done;
			length -= (size_t)done;
		}
	}
	return true;
}

char *folder_read_temporary(FILE *file, size_t *length)
{
	char *text;
	long size;

	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = xcalloc((size_t)(size > 0 ? size : 0) + 1, 1);
	*length = fread(text, 1, (size_t)(size > 0 ? size : 0), file);
	return text;
}

/* Opens a new file without a name in the folder of `path`. The file vanishes with this process
 * unless it gets a name. -1 if the system has no such files. */
static int open_nameless(const char *path)
{
#ifdef O_TMPFILE
	const char *end = strrchr(path, '/');
	char *folder = end ? xstrndup(path, (size_t)(end - path) + 1) : xstrdup(".");
	int fd = access("/proc/self/fd", X_OK) == 0 /* give_name() needs it */
			 ? open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666)
			 : -1;

	free(folder);
	return fd;
#else
	(void)path;
	return -1;
#endif
}

static bool give_name(int fd, const char *path)
{
	char *own = xasprintf("/proc/self/fd/%d", fd);
	bool named;

	unlink(path); /* linkat() does not replace */
	named = linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
	free(own);
	return named;
}

static bool write_new(const char *path, const char *text, size_t length)
{
	int fd = open_nameless(path);
	bool nameless = fd >= 0;
	bool good;

	if (!nameless)
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	good = fd >= 0 && folder_write(fd, text, length) && (!nameless || give_name(fd, path));
	return fd >= 0 && close(fd) == 0 && good;
}

bool folder_replace(const char *path, const char *text, size_t length)
{
	struct stat there;
	bool good;
	int reason;

	if (lstat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
		int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		bool written = fd >= 0 && folder_write(fd, text, length);

		return fd >= 0 && close(fd) == 0 && written;
	}
	char *partial = xasprintf("%s.partial.%ld", path, (long)getpid());

	unlink(partial); /* left by a killed process with our number */
	good = write_new(partial, text, length) && rename(partial, path) == 0;
	reason = errno;
	if (!good)
		unlink(partial);
	free(partial);
	errno = reason;
	return good;
}

static bool remove_content(int fd, const char *but);

/* Removes a file, or a folder with its content. True if nothing of this name is left. */
static bool remove_entry(int fd, const char *name)
{
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT;
	if (!S_ISDIR(st.st_mode))
		return unlinkat(fd, name, 0) == 0 || errno == ENOENT;
	int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool empty = inner >= 0 ? remove_content(inner, NULL) : errno == ENOENT;

	return empty && (unlinkat(fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT);
}

/* Empties the folder open as `fd`, except for the file `but` (NULL: no exception). Closes `fd`. */
static bool remove_content(int fd, const char *but)
{
	DIR *dir = fdopendir(fd);
	int reason;

	if (!dir) {
		close(fd);
		return false;
	}
	bool ok = true;

	for (struct dirent *entry; ok && (entry = readdir(dir));)
		if (!is_dots(entry->d_name) && (!but || strcmp(entry->d_name, but)))
			ok = remove_entry(fd, entry->d_name);
	reason = errno;
	closedir(dir);
	errno = reason;
	return ok;
}

bool folder_clear(const char *path, const char *but)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? errno == ENOENT : remove_content(fd, but);
}

bool folder_remove(const char *path)
{
	return folder_clear(path, NULL) && (rmdir(path) == 0 || errno == ENOENT);
}

bool folder_remove_last(const char *path, const char *last)
{
	char *file = folder_join(path, last);
	bool gone = folder_clear(path, last) && (unlink(file) == 0 || errno == ENOENT) &&
		    (rmdir(path) == 0 || errno == ENOENT);
	int reason = errno;

	free(file);
	errno = reason;
	return gone;
}

bool folder_exchange(const char *a, const char *b)
{
#ifdef RENAME_EXCHANGE
	return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0;
#else
	(void)a;
	(void)b;
	errno = ENOSYS;
	return false;
#endif
}
