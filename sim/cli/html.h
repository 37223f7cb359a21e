/* Text for a page of HTML, escaped: names come from users and from strangers' files. */
#ifndef INASIM_CLI_HTML_H
#define INASIM_CLI_HTML_H

#include <stdio.h>

/* The text of an element, or of an attribute in double quotes. Control characters other than
 * newlines become blanks; bytes that are not UTF-8 become question marks. */
void html_text(FILE *to, const char *text);

/* <p>, <td> ... around a text that is formatted, then escaped. `tag` may have attributes. */
void html_element(FILE *to, const char *tag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A text that a click on its summary unfolds, and a link that saves the text as the file `name`.
 * `name` is not escaped. */
void html_details(FILE *to, const char *summary, const char *name, const char *text);

/* A picture that gnuplot has drawn, without the head of its file. Ids must be unique on a page, so
 * `number` goes into those of the picture: give each figure of a page another. */
void html_svg(FILE *to, const char *svg, unsigned number, const char *label);

#endif
