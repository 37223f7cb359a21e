/* What result directories need of the file system. Functions that change something return
 * false, with the reason in errno, on failure. */
#ifndef INASIM_DATA_FOLDER_H
#define INASIM_DATA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* "a/b//" becomes "a/b"; the caller frees. */
char *folder_trim(const char *path);

char *folder_join(const char *folder, const char *name); /* caller frees */

bool folder_exists(const char *path); /* also for a dangling link */
bool folder_is_folder(const char *path);
bool folder_is_empty_at(int fd); /* the folder open as `fd` */
/* Whether the folder has the file, or nobody can say, and whoever opens it will say why not. */
bool folder_has(const char *path, const char *file);

/* Makes the parent folders of `path`. _at: a relative `path` starts at the folder open as `fd`. */
bool folder_make_parents(const char *path);
bool folder_make_parents_at(int fd, const char *path);

/* Whether `path` still names the file or folder open as `fd`. If not, somebody has removed, renamed
 * or replaced it. A relative `path` starts at the folder open as `dir`, or with AT_FDCWD at the
 * working directory. */
bool folder_is_there(int fd, int dir, const char *path);

/* Makes what was written to `fd`, a file or a folder, survive a power cut. False if the disk fails;
 * true if the file system cannot sync. */
bool folder_sync(int fd);

/* Writes all `length` bytes. Does not use stdio, whose buffer is lost when a signal interrupts the
 * write (after SIGINT a run still ends properly). */
bool folder_write(int fd, const char *text, size_t length);

/* All that any process wrote to a temporary file, ended by a NUL; the caller frees. */
char *folder_read_temporary(FILE *file, size_t *length);

/* Makes `text` the content of PATH. At any time PATH holds the former text or the whole new one:
 * the new file is PATH.partial.PID until it is renamed. Where the file system allows it
 * (O_TMPFILE), the new file has no name until it is complete, so that a kill hardly ever leaves a
 * PATH.partial.PID behind. If PATH is no regular file (a device, a pipe, a link), writes to it
 * instead. */
bool folder_replace(const char *path, const char *text, size_t length);

/* Removes a folder with its content; removes links without following them. No failure if somebody
 * else removes it, too, or has done so. */
bool folder_remove(const char *path);

/* Like folder_remove(), but removes the file `last` in the folder after all others. */
bool folder_remove_last(const char *path, const char *last);

/* Removes the content of a folder except the file `but` (NULL: all of it); the folder stays. */
bool folder_clear(const char *path, const char *but);

/* Exchanges the names of two folders in one step. False with EINVAL or ENOSYS where the file system
 * (NFS) or the kernel cannot do this. */
bool folder_exchange(const char *a, const char *b);

#endif
