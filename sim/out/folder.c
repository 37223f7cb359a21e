#include "out/folder.h"

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

bool folder_is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool folder_is_empty(const char *path)
{
	DIR *dir = opendir(path);
	if (dir == NULL)
		return false;
	bool empty = true;
	for (struct dirent *entry; empty && (entry = readdir(dir)) != NULL;)
		empty = is_dots(entry->d_name);
	closedir(dir);
	return empty;
}

bool folder_has(const char *path, const char *file)
{
	char *full = folder_join(path, file);
	bool has = access(full, F_OK) == 0;
	free(full);
	return has;
}

bool folder_make_parents(const char *path)
{
	char *part = xstrdup(path);
	bool ok = true;
	for (char *p = part + 1; *part != '\0' && ok && (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		if (mkdir(part, 0777) != 0) {
			int reason = errno; /* of mkdir(), not of the look at what is there */
			ok = folder_is_folder(part);
			errno = reason == EEXIST ? ENOTDIR
						 : reason; /* a file, or a dangling link */
		}
		*p = '/';
	}
	int reason = errno;
	free(part);
	errno = reason;
	return ok;
}

bool folder_write(int fd, const char *text, size_t length)
{
	while (length > 0) {
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

char *folder_read(const char *path, size_t most, size_t *length)
{
	FILE *file = fopen(path, "rb");
	struct stat st;
	char *text = NULL;
	size_t count = 0;
	int reason = 0;

	if (file == NULL)
		return NULL;
	if (fstat(fileno(file), &st) != 0)
		reason = errno;
	else if (!S_ISREG(st.st_mode))
		reason = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	else if ((size_t)st.st_size > most)
		reason = EFBIG;
	if (!reason) {
		text = xmalloc((size_t)st.st_size + 1);
		count = fread(text, 1, (size_t)st.st_size, file);
		text[count] = '\0';
		reason = ferror(file) ? EIO : 0;
	}
	fclose(file);
	if (length)
		*length = count;
	if (!reason)
		return text;
	free(text);
	errno = reason;
	return NULL;
}

bool folder_replace(const char *path, const char *temporary, const char *text)
{
	int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return false;
	bool good = folder_write(fd, text, strlen(text));
	good = close(fd) == 0 && good && rename(temporary, path) == 0;
	if (!good) {
		int reason = errno;
		unlink(temporary);
		errno = reason;
	}
	return good;
}

/* Empties the folder open as `fd`, which is closed. */
static bool remove_content(int fd)
{
	DIR *dir = fdopendir(fd);
	if (dir == NULL) {
		close(fd);
		return false;
	}
	bool ok = true;
	for (struct dirent *entry; ok && (entry = readdir(dir)) != NULL;) {
		const char *name = entry->d_name;
		struct stat st;
		if (is_dots(name))
			continue;
		ok = fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
		if (ok && S_ISDIR(st.st_mode)) {
			int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
			ok = inner >= 0 && remove_content(inner) &&
			     unlinkat(fd, name, AT_REMOVEDIR) == 0;
		} else if (ok) {
			ok = unlinkat(fd, name, 0) == 0;
		}
	}
	int reason = errno;
	closedir(dir);
	errno = reason;
	return ok;
}

bool folder_remove(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	return fd >= 0 && remove_content(fd) && rmdir(path) == 0;
}
