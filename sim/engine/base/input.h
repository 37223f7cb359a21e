/* Files that somebody else wrote: scenarios, plans, data, results. They are read up to a size, and
 * only regular files (or pipes, where the caller says so), so that no device can fill the memory or
 * hold up the program. */
#ifndef INASIM_BASE_INPUT_H
#define INASIM_BASE_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Opens a file of at most `max` bytes. NULL with errno: EISDIR, EINVAL when it is no regular file,
 * EFBIG when it is longer, and the reasons of open(). */
FILE *input_open(const char *path, uint64_t max);

/* The same, but opens a pipe, too, whatever its length. Waits for the writer. */
FILE *input_open_pipe(const char *path, uint64_t max);

/* All of such a file, ended by a NUL that is not counted in *length (may be NULL); caller frees.
 * NULL with errno. */
char *input_read(const char *path, size_t max, size_t *length);

/* The same, but a pipe, too, is read to its end: <(command), /dev/stdin. Waits for the writer. */
char *input_read_pipe(const char *path, size_t max, size_t *length);

/* The reason of a failure, for people: strerror(), but plainer for EINVAL and EFBIG. */
const char *input_why(int reason);

#endif
