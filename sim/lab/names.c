#include "lab/names.h"

#include "base/mem.h"
#include "conf/conf.h"
#include "data/folder.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 20 /* names in a message, at most */

void names_add(struct names *names, const char *name)
{
	names->items =
		array_reserve(names->items, names->count, &names->capacity, sizeof(*names->items));
	names->items[names->count++] = name;
}

size_t names_find(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], name))
			return i;
	return SIZE_MAX;
}

void names_list(FILE *to, const char *const *names, size_t count, size_t max)
{
	for (size_t i = 0; i < count && i < max; i++)
		fprintf(to, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", names[i]);
	fputs(count > max ? ", ..." : "", to);
}

char *names_unknown(const char *what, const char *word, const char *has, const char *const *names,
		    size_t count)
{
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	const char **choices = xcalloc(count + 1, sizeof(*choices));
	const char *near;

	if (count)
		memcpy(choices, names, count * sizeof(*choices));
	near = conf_suggest(word, choices);
	fprintf(to, "there is no %s \"%s\"", what, word);
	if (near)
		fprintf(to, " (did you mean \"%s\"?)", near);
	if (has) {
		fprintf(to, "; %s ", has);
		names_list(to, names, count, LISTED);
	}
	fclose(to);
	free(choices);
	return text;
}

char *names_mistakes(const struct conf_doc *doc)
{
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);

	conf_print_errors(doc, to, false);
	fclose(to);
	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	return text;
}

static char *last_part(const char *path)
{
	char *trimmed = folder_trim(path), *slash = strrchr(trimmed, '/');
	char *last = xstrdup(slash && slash[1] ? slash + 1 : trimmed);

	free(trimmed);
	return last;
}

char *names_directory(const char *const *dirs, size_t count, size_t i)
{
	char *own = last_part(dirs[i]);
	bool unique = true;

	for (size_t k = 0; k < count; k++) {
		char *other = last_part(dirs[k]);

		unique = unique && (k == i || strcmp(own, other));
		free(other);
	}
	if (unique)
		return own;
	free(own);
	return folder_trim(dirs[i]);
}
