#include "data/json_read.h"

#include "base/input.h"
#include "base/mem.h"
#include "conf/json_text.h"
#include "data/folder.h"

#include <errno.h>
#include <stdlib.h>

#define LONGEST (64 << 20) /* bytes of a file */

cJSON *json_read(const char *dir, const char *file, char **error)
{
	char *path = folder_join(dir, file);
	size_t length = 0;
	char *text = input_read(path, LONGEST, &length);
	struct conf_syntax_error mistake = { 0 };
	cJSON *root = text ? conf_json_parse(text, length, &mistake) : NULL;

	if (root && !cJSON_IsObject(root)) {
		cJSON_Delete(root);
		root = NULL;
	}
	if (!text)
		*error = xasprintf("cannot read %s: %s", path, input_why(errno));
	else if (!root)
		*error = xasprintf("%s:%zu: is not a JSON object", path,
				   conf_line_of(text, mistake.offset));
	free(text);
	free(path);
	return root;
}

const char *json_text(const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

	return text ? text : "?";
}
