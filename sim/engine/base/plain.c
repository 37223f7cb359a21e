#include "base/plain.h"

#include "base/fail.h"

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

void plain_open(struct plain *plain)
{
	plain->to = open_memstream(&plain->text, &plain->length);
	SIM_BUG_ON(plain->to == NULL);
}

void plain_close(struct plain *plain, FILE *stream)
{
	fclose(plain->to);
	plain_text(plain->text);
	fputs(plain->text, stream);
	free(plain->text);
}
