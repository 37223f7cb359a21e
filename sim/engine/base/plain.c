#include "base/plain.h"

#include "base/fail.h"

#include <stdarg.h>
#include <stdlib.h>

void plain_text(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++) {
		if ((*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7f)
			*c = '?';
		else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
			c[0] = c[1] = '?';
	}
}

size_t plain_letter(const char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

void plain_open(struct plain *plain)
{
	plain->to = open_memstream(&plain->text, &plain->length);
	SIM_BUG_ON(!plain->to);
}

void plain_close(struct plain *plain, FILE *stream)
{
	fclose(plain->to);
	plain_text(plain->text);
	fputs(plain->text, stream);
	free(plain->text);
}

void plain_print(FILE *to, const char *fmt, ...)
{
	struct plain plain;
	va_list args;

	plain_open(&plain);
	va_start(args, fmt);
	vfprintf(plain.to, fmt, args);
	va_end(args);
	plain_close(&plain, to);
}
