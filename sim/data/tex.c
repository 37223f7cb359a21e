#include "data/tex.h"

#include "base/fail.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *plain, *tex;
} signs[] = {
	{ "\\", "\\textbackslash{}" },
	{ "~", "\\textasciitilde{}" },
	{ "^", "\\textasciicircum{}" },
	{ "&", "\\&" },
	{ "%", "\\%" },
	{ "$", "\\$" },
	{ "#", "\\#" },
	{ "_", "\\_" },
	{ "{", "\\{" },
	{ "}", "\\}" },
	{ "<", "$<$" },
	{ ">", "$>$" },
	{ "|", "$|$" },
	{ "\"", "''" },
	{ "+- ", "$\\pm$ " },
	{ "µ", "$\\mu$" },
	{ "≥", "$\\geq$" },
};

/* Returns the LaTeX text for the sign at `text` and sets *length to the sign's length; NULL if the
 * character stays as it is. A hyphen before a number is a minus. */
static const char *sign_at(const char *text, const char *begin, size_t *length)
{
	*length = 1;
	if (*text == '-' && isdigit((unsigned char)text[1]) &&
	    (text == begin || strchr(" [", text[-1])))
		return "$-$";
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		*length = strlen(signs[i].plain);
		if (!strncmp(text, signs[i].plain, *length))
			return signs[i].tex;
	}
	return NULL;
}

char *tex_text(const char *text)
{
	char *tex;
	size_t size, length;
	FILE *to = open_memstream(&tex, &size);

	SIM_BUG_ON(!to);
	for (const char *at = text; *at;) {
		const char *sign = sign_at(at, text, &length);

		if (!sign) {
			putc(*at++, to);
			continue;
		}
		fputs(sign, to);
		at += length;
	}
	fclose(to);
	return tex;
}
