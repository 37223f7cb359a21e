#include "io/json_read.h"

#include "base/input.h"
#include "base/mem.h"
#include "io/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST (64 << 20)

/* The whole file, NULL with errno. */
static char *read_text(const char *path)
{
	size_t length;
	char *text = folder_read(path, LONGEST, &length);
	if (text == NULL || (length > 0 && strlen(text) == length))
		return text;
	free(text);
	errno = length == 0 ? ENODATA : EILSEQ; /* a zero byte */
	return NULL;
}

static size_t line_of(const char *text, const char *place)
{
	size_t line = 1;
	for (; text < place; text++)
		line += *text == '\n';
	return line;
}

cJSON *json_read(const char *dir, const char *file, char **error)
{
	char *path = folder_join(dir, file), *text = read_text(path);
	cJSON *root = NULL;
	if (text == NULL) {
		*error = xasprintf("cannot read %s: %s", path, input_why(errno));
	} else {
		const char *end = text;
		root = cJSON_ParseWithLengthOpts(text, strlen(text) + 1, &end, 1);
		if (root != NULL && !cJSON_IsObject(root)) {
			cJSON_Delete(root);
			root = NULL;
			end = text;
		}
		if (root == NULL)
			*error =
				xasprintf("%s:%zu: is not a JSON object", path, line_of(text, end));
	}
	free(text);
	free(path);
	return root;
}
