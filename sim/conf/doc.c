#include "conf/doc.h"

#include "base/fail.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Far above any scenario; a limit for endless pipes. */
#define MAX_FILE_SIZE ((size_t)256 << 20)

void conf_keep(struct conf_doc *doc, void *item, void (*release)(void *item))
{
	doc->owned = array_reserve(doc->owned, doc->owned_count, &doc->owned_capacity,
				   sizeof(doc->owned[0]));
	doc->owned[doc->owned_count++] = (struct conf_owned){ item, release };
}

void *conf_own(struct conf_doc *doc, size_t count, size_t size)
{
	void *memory = xcalloc(count == 0 ? 1 : count, size);

	conf_keep(doc, memory, free);
	return memory;
}

const char *conf_own_text(struct conf_doc *doc, const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(conf_own(doc, size, 1), text, size);
}

const char *conf_at(struct conf_doc *doc, const char *fmt, ...)
{
	struct conf_buf text = { 0 };
	const char *pointer;
	va_list args;

	va_start(args, fmt);
	conf_buf_addv(&text, fmt, args);
	va_end(args);
	pointer = conf_own_text(doc, conf_buf_text(&text));
	conf_buf_release(&text);
	return pointer;
}

cJSON *conf_node(cJSON *node)
{
	SIM_BUG_ON(!node);
	return node;
}

static struct conf_doc *new_doc(const char *name, const char *text, size_t length)
{
	struct conf_doc *doc = xcalloc(1, sizeof(*doc));

	doc->name = xstrdup(name);
	doc->text = xmalloc(length + 1);
	if (length > 0)
		memcpy(doc->text, text, length);
	doc->text[length] = '\0';
	return doc;
}

static void apply_overrides(struct conf_doc *doc, const struct conf_override *overrides,
			    size_t count)
{
	doc->override_pointers = xcalloc(count + 1, sizeof(char *));
	for (size_t i = 0; i < count; i++) {
		doc->override_pointers[i] = xstrdup(overrides[i].pointer);
		doc->override_count++;
		conf_apply_override(doc, i + 1, &overrides[i]);
	}
}

/* Looks only at the file: an override that adds the missing key does not change the kind. */
static bool is_of_kind(const cJSON *root, const struct conf_other_kind *kind)
{
	return kind && cJSON_GetObjectItemCaseSensitive(root, kind->has) &&
	       !cJSON_GetObjectItemCaseSensitive(root, kind->lacks);
}

struct conf_doc *conf_parse(const char *name, const char *text, size_t length,
			    const struct conf_table *table, void *out,
			    const struct conf_override *overrides, size_t override_count)
{
	struct conf_doc *doc = new_doc(name, text, length);
	struct conf_syntax_error error;

	if (out)
		memset(out, 0, table->size);
	else
		out = conf_own(doc, 1, table->size);
	doc->root = conf_json_parse(doc->text, length, &error);
	if (!doc->root) {
		struct conf_place place = { .offset = error.offset };

		conf_report(doc, place, "", "%s", error.text);
	} else if (is_of_kind(doc->root, table->other)) {
		conf_error(doc, "", "%s", table->other->message);
	} else {
		conf_check_json(doc, doc->root, doc->text, 0, "");
		apply_overrides(doc, overrides, override_count);
		conf_bind(doc, table, out);
	}
	return doc;
}

struct conf_doc *conf_load(const char *path, const struct conf_table *table, void *out,
			   const struct conf_override *overrides, size_t override_count)
{
	struct conf_doc *doc;
	size_t length;
	char *text = input_read_pipe(path, MAX_FILE_SIZE, &length);

	if (!text) {
		const char *problem = errno == EFBIG    ? "larger than 256MiB"
				      : errno == EINVAL ? "neither a regular file nor a pipe"
							: input_why(errno);
		struct conf_place place = { .offset = CONF_NOWHERE };

		if (out)
			memset(out, 0, table->size);
		doc = new_doc(path, "", 0);
		doc->io_error = true;
		conf_report(doc, place, "", "cannot be read: %s", problem);
		return doc;
	}
	doc = conf_parse(path, text, length, table, out, overrides, override_count);
	free(text);
	return doc;
}

void conf_doc_free(struct conf_doc *doc)
{
	if (!doc)
		return;
	for (size_t i = 0; i < doc->message_count; i++) {
		free(doc->messages[i].pointer);
		free(doc->messages[i].text);
	}
	for (size_t i = 0; i < doc->value_count; i++)
		free(doc->values[i].pointer);
	for (size_t i = 0; i < doc->override_count; i++)
		free(doc->override_pointers[i]);
	for (size_t i = 0; i < doc->owned_count; i++)
		doc->owned[i].release(doc->owned[i].item);
	cJSON_Delete(doc->resolved);
	cJSON_Delete(doc->root);
	free(doc->messages);
	free(doc->values);
	free(doc->override_pointers);
	free(doc->owned);
	free(doc->text);
	free(doc->name);
	free(doc);
}

const char *conf_path(const struct conf_doc *doc)
{
	return doc->name;
}

bool conf_io_error(const struct conf_doc *doc)
{
	return doc->io_error;
}

size_t conf_errors(const struct conf_doc *doc)
{
	return doc->message_count + doc->dropped - doc->remarks;
}

size_t conf_warnings(const struct conf_doc *doc)
{
	return doc->warnings;
}

char *conf_resolved_json(const struct conf_doc *doc, bool pretty)
{
	struct conf_buf buf = { 0 };

	if (!doc->resolved)
		conf_buf_add(&buf, "{}");
	else
		conf_buf_add_json(&buf, doc->resolved, pretty);
	return conf_buf_take(&buf);
}

bool conf_is_at(const struct conf_value *value, const char *pointer)
{
	size_t length = strlen(pointer);

	return !strncmp(value->pointer, pointer, length) &&
	       (!value->pointer[length] || value->pointer[length] == '/');
}

bool conf_given(const struct conf_doc *doc, const char *pointer)
{
	for (size_t i = 0; i < doc->value_count; i++)
		if (!doc->values[i].default_row && conf_is_at(&doc->values[i], pointer))
			return true;
	return false;
}

uint64_t conf_resolved_hash(const struct conf_doc *doc)
{
	char *text = conf_resolved_json(doc, false);
	uint64_t hash = hash_string(text);

	free(text);
	return hash;
}
