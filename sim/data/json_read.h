/* Reads the JSON files of a result directory (summary.json, manifest.json). */
#ifndef INASIM_DATA_JSON_READ_H
#define INASIM_DATA_JSON_READ_H

#include <cjson/cJSON.h>

/* Reads DIR/FILE; the caller deletes it. NULL and *error (caller frees) unless it is an object. */
cJSON *json_read(const char *dir, const char *file, char **error);

/* A text in an object; "?" if it has none of this name. */
const char *json_text(const cJSON *object, const char *key);

#endif
