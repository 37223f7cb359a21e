/* An input of a fuzz target as a folder of files: each begins with a line
 * "=== NAME" (a-z, 0-9, '.', '_', '-', '/'), and goes on to the next such line. */
#ifndef INASIM_FUZZ_FILES_H
#define INASIM_FUZZ_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The folder, made at the first call and empty now but for the files of the input:
 * in $TMPDIR. What has no such name, or is beyond 32 files, is left out. */
const char *files_write(const uint8_t *data, size_t size);

/* Calls see() with the path of each file that was written. */
void files_each(void (*see)(const char *path));

#endif
