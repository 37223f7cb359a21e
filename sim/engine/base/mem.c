#include "base/mem.h"

#include "base/fail.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define HUGE_PAGE ((size_t)2 << 20)

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		fail_out_of_memory(size);
	return p;
}

static void fail_of_array(size_t count, size_t size)
{
	fail_out_of_memory(size && count > SIZE_MAX / size ? SIZE_MAX : count * size);
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		fail_of_array(count, size);
	return p;
}

void *xrealloc(void *old, size_t count, size_t size)
{
	void *p;

	if (size && count > SIZE_MAX / size)
		fail_of_array(count, size);
	p = realloc(old, count && size ? count * size : 1);
	if (!p)
		fail_of_array(count, size);
	return p;
}

static size_t round_up(size_t alignment, size_t size)
{
	return size ? (size + alignment - 1) / alignment * alignment : alignment;
}

void *xaligned_raw(size_t alignment, size_t size)
{
	void *p;

	/* a large block gets huge pages of its own */
	if (size >= HUGE_PAGE / 4 && alignment < HUGE_PAGE)
		alignment = HUGE_PAGE;
	size = round_up(alignment, size);
	if (posix_memalign(&p, alignment, size))
		fail_out_of_memory(size);
#ifdef MADV_HUGEPAGE
	if (alignment == HUGE_PAGE) /* fewer TLB misses; a refusal is harmless */
		(void)madvise(p, size, MADV_HUGEPAGE);
#endif
	return p;
}

void *xaligned(size_t alignment, size_t size)
{
	return memset(xaligned_raw(alignment, size), 0, round_up(alignment, size));
}

char *xstrndup(const char *text, size_t length)
{
	char *copy = xmalloc(length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char *xstrdup(const char *text)
{
	return xstrndup(text, strlen(text));
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, fmt);
	length = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	text = xmalloc((size_t)length + 1);
	va_start(args, fmt);
	vsnprintf(text, (size_t)length + 1, fmt, args);
	va_end(args);
	return text;
}

void *array_reserve(void *array, size_t count, size_t *capacity, size_t item_size)
{
	if (count < *capacity)
		return array;
	*capacity = *capacity ? 2 * *capacity : 8;
	return xrealloc(array, *capacity, item_size);
}

size_t peak_rss_bytes(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return 0;
	return (size_t)usage.ru_maxrss * 1024;
}
