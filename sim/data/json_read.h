/* Reads the JSON files of a result directory (summary.json, manifest.json). */
#ifndef INASIM_DATA_JSON_READ_H
#define INASIM_DATA_JSON_READ_H

#include <cjson/cJSON.h>

/* Reads DIR/FILE; the caller deletes the tree. NULL and *error (caller frees) if the file cannot be
 * read or does not hold an object. */
cJSON *json_read(const char *dir, const char *file, char **error);

/* The text of a member of an object; "?" if there is no such member or it is no text. */
const char *json_text(const cJSON *object, const char *key);

#endif
