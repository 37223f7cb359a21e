#include "lab/regress/reference.h"

#include "base/input.h"
#include "base/mem.h"
#include "lab/regress/fingerprint.h"
#include "data/folder.h"
#include "data/json.h"
#include "data/json_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT        1
#define PRINTS_HEADER "inasim fingerprints 1 "

/* --- reading --- */

static bool hex64(const cJSON *item, uint64_t *value)
{
	if (!cJSON_IsString(item) || strlen(item->valuestring) != 16 ||
	    strspn(item->valuestring, "0123456789abcdef") != 16)
		return false;
	*value = strtoull(item->valuestring, NULL, 16);
	return true;
}

static bool count_of(const cJSON *item, uint64_t *value)
{
	if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > 9e15)
		return false;
	*value = (uint64_t)item->valuedouble;
	return (double)*value == item->valuedouble;
}

/* Returns NULL, or the name of the first member that is wrong. */
static const char *read_members(struct reference *r)
{
	const cJSON *history = cJSON_GetObjectItemCaseSensitive(r->root, "history");
	uint64_t format;

	if (!cJSON_IsArray(history))
		return "history";
	r->history = history; /* first: an update keeps it even if the rest is wrong */
	if (!count_of(cJSON_GetObjectItemCaseSensitive(r->root, "format"), &format) ||
	    format != FORMAT)
		return "format";
	if (!hex64(cJSON_GetObjectItemCaseSensitive(r->root, "digest"), &r->digest))
		return "digest";
	if (!count_of(cJSON_GetObjectItemCaseSensitive(r->root, "events"), &r->events))
		return "events";
	r->summary = cJSON_GetObjectItemCaseSensitive(r->root, "summary");
	if (!cJSON_IsObject(r->summary))
		return "summary";
	r->resolved = cJSON_GetObjectItemCaseSensitive(r->root, "resolved");
	return cJSON_IsObject(r->resolved) ? NULL : "resolved";
}

/* Reads NAME.events: a header line "inasim fingerprints 1 EVENTS DIGEST", then the fingerprints, 16
 * bits each, low byte first. Returns NULL, or what is wrong (caller frees). */
static char *read_prints(struct reference *r, const char *path)
{
	uint64_t wanted = fingerprint_count(r->events), held;
	char *header =
		xasprintf(PRINTS_HEADER "%" PRIu64 " %016" PRIx64 "\n", r->events, r->digest);
	size_t length, start = strlen(header);
	char *content = input_read(path, SIZE_MAX, &length), *error = NULL;

	if (!content) {
		error = xasprintf("%s cannot be read: %s", path, input_why(errno));
	} else if (length < start || memcmp(content, header, start)) {
		error = xasprintf("%s does not belong to the reference beside it", path);
	} else if ((held = (length - start) / 2) != wanted || (length - start) % 2) {
		error = xasprintf("%s holds %" PRIu64 " fingerprints, not %" PRIu64, path, held,
				  wanted);
	} else {
		r->prints = xcalloc(wanted, sizeof(*r->prints));
		for (uint64_t i = 0; i < wanted; i++) {
			const unsigned char *two = (unsigned char *)content + start + 2 * i;

			r->prints[i] = (uint16_t)(two[0] | two[1] << 8);
		}
	}
	free(header);
	free(content);
	return error;
}

enum reference_state reference_read(const char *dir, const char *name, struct reference *reference,
				    char **error)
{
	char *json = xasprintf("%s.json", name), *prints = xasprintf("%s/%s.events", dir, name);
	bool missing = !folder_has(dir, json);
	const char *bad;

	*error = NULL;
	*reference = (struct reference){ 0 };
	if (missing)
		*error = xasprintf("there is no %s/%s", dir, json);
	else
		reference->root = json_read(dir, json, error);
	if (reference->root && (bad = read_members(reference)))
		*error = xasprintf("%s/%s is not a reference: \"%s\" is missing or wrong", dir,
				   json, bad);
	if (!*error)
		*error = read_prints(reference, prints);
	free(json);
	free(prints);
	return missing ? REFERENCE_MISSING : *error ? REFERENCE_BAD : REFERENCE_READ;
}

void reference_release(struct reference *r)
{
	cJSON_Delete(r->root);
	free(r->prints);
}

/* --- writing --- */

/* Writes a copy of any JSON value. cJSON's own printer may lose the last digits of numbers. */
static void json_tree(struct json *json, const char *key, const cJSON *item)
{
	const cJSON *child;

	if (cJSON_IsObject(item)) {
		json_open_object(json, key);
		cJSON_ArrayForEach(child, item)
			json_tree(json, child->string, child);
		json_close_object(json);
	} else if (cJSON_IsArray(item)) {
		json_open_array(json, key);
		cJSON_ArrayForEach(child, item)
			json_tree(json, NULL, child);
		json_close_array(json);
	} else if (cJSON_IsNumber(item)) {
		json_real(json, key, item->valuedouble);
	} else if (cJSON_IsString(item)) {
		json_string(json, key, item->valuestring);
	} else if (cJSON_IsBool(item)) {
		json_bool(json, key, cJSON_IsTrue(item));
	} else {
		json_null(json, key);
	}
}

static void json_history(struct json *json, const struct reference_run *run,
			 const struct reference *before, const struct reference_reason *reason)
{
	const cJSON *item;

	json_open_array(json, "history");
	if (before)
		cJSON_ArrayForEach(item, before->history)
			json_tree(json, NULL, item);
	json_open_object(json, NULL);
	json_string(json, "date", reason->date);
	json_string(json, "reason", reason->reason);
	json_string(json, "version", reason->version);
	json_string(json, "commit", reason->commit);
	json_hex64(json, "digest", run->digest);
	json_close_object(json);
	json_close_array(json);
}

char *reference_text(const struct reference_run *run, const struct reference *before,
		     const struct reference_reason *reason)
{
	struct json json;

	json_init(&json);
	json_open_object(&json, NULL);
	json_u64(&json, "format", FORMAT);
	json_string(&json, "name", run->name);
	json_hex64(&json, "digest", run->digest);
	json_u64(&json, "events", run->events);
	json_history(&json, run, before, reason);
	json_tree(&json, "summary", run->summary);
	json_tree(&json, "resolved", run->resolved);
	json_close_object(&json);
	return json_finish(&json);
}

char *reference_prints(const struct reference_run *run, size_t *length)
{
	char *header =
		xasprintf(PRINTS_HEADER "%" PRIu64 " %016" PRIx64 "\n", run->events, run->digest);
	size_t start = strlen(header), count = fingerprint_count(run->events);
	char *content = xmalloc(start + 2 * count);

	memcpy(content, header, start);
	for (size_t i = 0; i < count; i++) {
		content[start + 2 * i] = (char)(run->prints[i] & 0xff);
		content[start + 2 * i + 1] = (char)(run->prints[i] >> 8);
	}
	*length = start + 2 * count;
	free(header);
	return content;
}

bool reference_write(const char *dir, const char *name, const char *suffix, const char *content,
		     size_t length, char **error)
{
	char *path = xasprintf("%s/%s%s", dir, name, suffix);
	bool good = folder_replace(path, content, length);

	if (!good)
		*error = xasprintf("%s cannot be written: %s", path, strerror(errno));
	free(path);
	return good;
}
