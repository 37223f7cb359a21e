/* The first mistake that a reader of a file finds; it goes on, or ends, but says no other. */
#ifndef INASIM_BASE_MISTAKE_H
#define INASIM_BASE_MISTAKE_H

#include <stdarg.h>
#include <stdint.h>

#define MISTAKE_MAX 512 /* bytes of a text: names in files may be of any length */

/* Unless *mistake has one already, makes it the text as of vprintf(), cut to MISTAKE_MAX, behind
 * the place, "FILE:LINE", or "FILE" if `line` is negative; alone if `path` is NULL. The owner of
 * *mistake frees. */
void mistake_keep(char **mistake, const char *path, int64_t line, const char *fmt, va_list args)
	__attribute__((format(printf, 4, 0)));

#endif
