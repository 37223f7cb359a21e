/* Text for a page of HTML: names come from users and from strangers' files. */
#ifndef INASIM_CLI_HTML_H
#define INASIM_CLI_HTML_H

#include <stdio.h>

/* Of an element, or of an attribute in double quotes. Control characters but ends of lines become
 * blanks, bytes that are no UTF-8 question marks. */
void html_text(FILE *to, const char *text);

/* <p>, <td> ... around a text that is formatted, then escaped: `tag` may have attributes. */
void html_element(FILE *to, const char *tag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A text that opens with a click on its summary, and a link that saves it as a file. `name` is not
 * escaped. */
void html_details(FILE *to, const char *summary, const char *name, const char *text);

/* A picture of gnuplot's, without what is for files, its ids made those of figure `number`: a page
 * has each id once. */
void html_svg(FILE *to, const char *svg, unsigned number, const char *label);

#endif
