#include "base/mistake.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>

void mistake_keep(char **mistake, const char *path, int64_t line, const char *fmt, va_list args)
{
	char text[MISTAKE_MAX];

	vsnprintf(text, sizeof(text), fmt, args);
	if (*mistake)
		return;
	if (!path)
		*mistake = xstrdup(text);
	else if (line < 0)
		*mistake = xasprintf("%s: %s", path, text);
	else
		*mistake = xasprintf("%s:%" PRId64 ": %s", path, line, text);
}
