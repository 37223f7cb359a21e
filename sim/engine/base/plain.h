/* Texts for a terminal. Names come from files that others wrote; a control character in one could
 * clear the screen, or worse. */
#ifndef INASIM_BASE_PLAIN_H
#define INASIM_BASE_PLAIN_H

#include <stddef.h>
#include <stdio.h>

/* Control characters other than newlines and tabs become '?'; of UTF-8 those of ISO 6429 (C1) are
 * among them. */
void plain_text(char *text);

/* Collects what is printed to `to`, and writes it as plain text when it is closed. */
struct plain {
	FILE *to; /* print here */
	char *text;
	size_t length;
};

void plain_open(struct plain *plain);
void plain_close(struct plain *plain, FILE *stream);

#endif
