/* Expands names that are written as ranges. */
#ifndef INASIM_SCENARIO_GRAPH_NAMES_H
#define INASIM_SCENARIO_GRAPH_NAMES_H

#include <stddef.h>

/* A list of names. names_release() frees the list and the names. */
struct names {
	char **items;
	size_t count, capacity;
};

/* Appends the names that `text` stands for: "h[0-2,8]" is h0, h1, h2 and h8; "h[08-10]" is h08, h09
 * and h10. Returns NULL, or a static string that says what is wrong with the text. */
const char *names_expand(struct names *names, const char *text);
void names_release(struct names *names);

#endif
