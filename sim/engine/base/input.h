/* Files that somebody else wrote: scenarios, plans, data, results. Regular files only, up to a
 * size, so that a device or a pipe of this name can neither fill the memory nor hold up the
 * program. */
#ifndef INASIM_BASE_INPUT_H
#define INASIM_BASE_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Opens a file of at most `most` bytes. NULL with errno: EISDIR, EINVAL when it is no regular file,
 * EFBIG when it is longer, and the reasons of open(). */
FILE *input_open(const char *path, uint64_t most);

/* All of such a file, ended by a NUL that is not counted in *length (may be NULL); caller frees.
 * NULL with errno. */
char *input_read(const char *path, size_t most, size_t *length);

/* The reason of a failure, for people: strerror(), but plainer for the two above. */
const char *input_why(int reason);

#endif
