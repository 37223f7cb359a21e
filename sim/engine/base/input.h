/* Reads files that somebody else wrote: scenarios, plans, data, results. Accepts only regular files
 * up to a given size, so that no device can fill the memory or block the program. The functions
 * with _pipe in their name also accept pipes. */
#ifndef INASIM_BASE_INPUT_H
#define INASIM_BASE_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Opens a file of at most `max` bytes. On failure returns NULL with errno: EISDIR, EINVAL if it is
 * not a regular file, EFBIG if it is longer, or an error of open(). */
FILE *input_open(const char *path, uint64_t max);

/* As input_open(), but also opens a pipe of any length, after waiting for its writer. */
FILE *input_open_pipe(const char *path, uint64_t max);

/* Reads a whole file of at most `max` bytes and appends a NUL, which *length does not count.
 * `length` may be NULL. Caller frees. Returns NULL with errno as input_open(), or EIO. */
char *input_read(const char *path, size_t max, size_t *length);

/* As input_read(), but also reads a pipe to its end: <(command), /dev/stdin. */
char *input_read_pipe(const char *path, size_t max, size_t *length);

/* Describes an errno value of these functions: as strerror(), but plainer for EINVAL and EFBIG. */
const char *input_why(int reason);

#endif
