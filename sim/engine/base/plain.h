/* Texts for a terminal. Names come from files that others wrote; a control character in one could
 * clear the screen, or worse. */
#ifndef INASIM_BASE_PLAIN_H
#define INASIM_BASE_PLAIN_H

#include <stddef.h>
#include <stdio.h>

/* Control characters other than newlines and tabs become '?', and so do those of ISO 6429 (C1)
 * in UTF-8. */
void plain_text(char *text);

/* Where a UTF-8 text can be cut without splitting a letter: the first byte of the letter that byte
 * `at` belongs to. `at` is at most the length of the text. */
size_t plain_letter(const char *text, size_t at);

/* Collects what is printed to `to`; plain_close() writes it to a stream as plain text. */
struct plain {
	FILE *to; /* print here */
	char *text;
	size_t length;
};

void plain_open(struct plain *plain);
void plain_close(struct plain *plain, FILE *stream);

/* fprintf() of plain text. */
void plain_print(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
