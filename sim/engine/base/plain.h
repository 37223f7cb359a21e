/* Makes text safe to print on a terminal. Names come from files that others wrote, and a control
 * character in a name could clear the screen, or worse. */
#ifndef INASIM_BASE_PLAIN_H
#define INASIM_BASE_PLAIN_H

#include <stddef.h>
#include <stdio.h>

/* Replaces control characters by '?': those of ASCII except newline and tab, and in UTF-8 also
 * those of ISO 6429 (C1). */
void plain_text(char *text);

/* The index of the first byte of the UTF-8 character to which byte `at` belongs: the text can be
 * cut there. `at` is at most the length of the text. */
size_t plain_letter(const char *text, size_t at);

/* Collects text printed to `to`. plain_close() passes it through plain_text(), writes it to a
 * stream and frees it. */
struct plain {
	FILE *to; /* print here */
	char *text;
	size_t length;
};

void plain_open(struct plain *plain);
void plain_close(struct plain *plain, FILE *stream);

/* As fprintf(), but the text goes through plain_text(). */
void plain_print(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
