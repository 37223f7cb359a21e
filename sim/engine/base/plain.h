/* Texts for a terminal. Names come from files that others wrote; a control character in one could
 * clear the screen, or worse. */
#ifndef INASIM_BASE_PLAIN_H
#define INASIM_BASE_PLAIN_H

#include <stddef.h>
#include <stdio.h>

/* Control characters other than newlines and tabs become '?'; of UTF-8 those of ISO 6429 (C1) are
 * among them. */
void plain_text(char *text);

/* Where the letter of UTF-8 begins that byte `at` of the text belongs to: a text is cut there, not
 * within a letter. `at` is at most its length. */
size_t plain_letter(const char *text, size_t at);

/* Collects what is printed to `to`, and writes it as plain text when it is closed. */
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
