/* Names in ranges. */
#ifndef INASIM_SCENARIO_GRAPH_NAMES_H
#define INASIM_SCENARIO_GRAPH_NAMES_H

#include <stddef.h>

/* A list of names; names_release() releases it and them. */
struct names {
	char **items;
	size_t count, capacity;
};

/* Adds the names that a text stands for: "h[0-2,8]" is h0, h1, h2 and h8; numbers that begin with 0
 * keep their width. Returns what is wrong with it, a static text, or NULL. */
const char *names_expand(struct names *names, const char *text);
void names_release(struct names *names);

#endif
