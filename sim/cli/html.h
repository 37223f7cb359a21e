/* Writes HTML with escaped text: names come from users and from strangers' files. */
#ifndef INASIM_CLI_HTML_H
#define INASIM_CLI_HTML_H

#include <stdio.h>

/* Writes the text of an element, or of an attribute in double quotes. Control characters other than
 * newlines become blanks; bytes that are not UTF-8 become question marks. */
void html_text(FILE *to, const char *text);

/* Writes <p>, <td> ... around a text that is formatted, then escaped. `tag` may have attributes. */
void html_element(FILE *to, const char *tag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes a text that a click on its summary unfolds, and a link that saves it as the file `name`,
 * which is not escaped. */
void html_details(FILE *to, const char *summary, const char *name, const char *text);

/* Writes a picture of gnuplot without the head of its file. Ids must be unique on a page, so
 * `number`, another for each picture, becomes part of them. */
void html_svg(FILE *to, const char *svg, unsigned number, const char *label);

#endif
