/* Lists of names, messages about mistakes, and names of directories. */
#ifndef INASIM_LAB_NAMES_H
#define INASIM_LAB_NAMES_H

#include <stddef.h>
#include <stdio.h>

/* A struct of zeros is empty. Whoever adds frees `items`; the names are not owned. */
struct names {
	const char **items;
	size_t count, capacity;
};
void names_add(struct names *names, const char *name);
size_t names_find(const struct names *names, const char *name); /* index, or SIZE_MAX */

/* Prints "A, B and C"; if there are more than `max` names, the first `max`, then ", ...". */
void names_list(FILE *to, const char *const *names, size_t count, size_t max);

/* Returns the message: there is no WHAT "WORD" (did you mean "NEAR"?); HAS A, B and C. NEAR is the
 * most similar of `names`. If `has` is NULL, the list is left out. The caller frees. */
char *names_unknown(const char *what, const char *word, const char *has, const char *const *names,
		    size_t count);

/* Returns all mistakes of a document as one text, one per line. The caller frees. */
struct conf_doc; /* conf/conf.h */
char *names_mistakes(const struct conf_doc *doc);

/* Returns what to call the i-th directory: the last part of its path, or the whole path if another
 * directory has the same last part. The caller frees. */
char *names_directory(const char *const *dirs, size_t count, size_t i);

#endif
