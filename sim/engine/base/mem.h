/* Allocation that cannot fail: out of memory ends the program in one place (fail.h).
 * Everything returned here is released with free(). */
#ifndef INASIM_BASE_MEM_H
#define INASIM_BASE_MEM_H

#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size); /* zeroed; overflow checked */
void *xrealloc(void *old, size_t count, size_t size);
/* `alignment` is a power of two, at least sizeof(void *). Zeroed; xaligned_raw() is not. */
void *xaligned(size_t alignment, size_t size);
void *xaligned_raw(size_t alignment, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Makes room for one more item in a growing array: doubles `*capacity` when
 * `count` has reached it. Returns the array, perhaps moved. */
void *array_reserve(void *array, size_t count, size_t *capacity, size_t item_size);

/* Peak resident memory of this process in bytes; 0 if the system does not tell. */
size_t peak_rss_bytes(void);

#endif
