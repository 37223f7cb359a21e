/* The few things that result directories need of the file system. Functions
 * that return bool leave the reason of a failure in errno. */
#ifndef INASIM_DATA_FOLDER_H
#define INASIM_DATA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* "a/b//" becomes "a/b"; the caller frees. */
char *folder_trim(const char *path);

char *folder_join(const char *folder, const char *name); /* caller frees */

bool folder_exists(const char *path); /* anything of this name, a dangling link too */
bool folder_is_folder(const char *path);
bool folder_is_empty_at(int fd); /* the folder open as `fd` */
bool folder_has(const char *path, const char *file);

/* Makes the folder that `path` is in, and those above it. _at: `path` counts from the folder open
 * as `fd`. */
bool folder_make_parents(const char *path);
bool folder_make_parents_at(int fd, const char *path);

/* Whether `path` still names the file or folder that is open as `fd`. If not, somebody has removed,
 * renamed or replaced it. `path` counts from the folder open as `dir` or, with AT_FDCWD, from the
 * working directory. */
bool folder_is_there(int fd, int dir, const char *path);

/* Makes what was written to `fd`, a file or a folder, outlast a power cut. False when the disk
 * fails, but not where the file system cannot do this. */
bool folder_sync(int fd);

/* Writes all `length` bytes. By hand rather than stdio, whose buffer is lost when a signal
 * handler (SIGINT ends a run in order) interrupts the write. */
bool folder_write(int fd, const char *text, size_t length);

/* All that this process or another wrote to a temporary file, ended by a NUL; the caller frees. */
char *folder_read_temporary(FILE *file, size_t *length);

/* Makes `text` the content of PATH, which at any time holds the former text or the whole new one.
 * The new file is PATH.partial.PID until it is renamed. Where the file system knows files without a
 * name, the new file gets even that name only when it is complete, so that a kill hardly ever
 * leaves a PATH.partial.PID behind. A PATH that is no file (a device, a pipe, a link) is not
 * replaced: `text` is written to it. */
bool folder_replace(const char *path, const char *text, size_t length);

/* Removes a folder with all in it; links are removed, never followed. It is no failure if somebody
 * else removes it, too, or has done so. */
bool folder_remove(const char *path);

/* Like folder_remove(), but removes the file `last` in the folder after everything else. */
bool folder_remove_last(const char *path, const char *last);

/* Removes all that is in a folder except the file `but` (NULL: no exception); the folder stays. */
bool folder_clear(const char *path, const char *but);

/* Each of two folders gets the name of the other, in one step. False with EINVAL or ENOSYS where
 * the file system or the kernel cannot do that (NFS). */
bool folder_exchange(const char *a, const char *b);

#endif
