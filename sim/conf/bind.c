#include "conf/bind.h"

#include "base/fail.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

const char conf_optional[] = "";

/* Counts a failure and, outside a trial, reports it. A failure in a default is a bug. */
__attribute__((format(printf, 4, 5))) static void fail(struct binding *b, const cJSON *item,
						       bool at_key, const char *fmt, ...)
{
	va_list args;

	b->failures++;
	if (b->trial > 0)
		return;
	va_start(args, fmt);
	if (b->default_row) {
		struct conf_buf text = { 0 };

		conf_buf_addv(&text, fmt, args);
		sim_bug(__FILE__, __LINE__, "the default of \"%s\" is bad, at %s: %s",
			b->default_row->name, conf_buf_text(&b->pointer), conf_buf_text(&text));
	}
	conf_reportv(b->doc, conf_place_of(b->doc, item, at_key), conf_buf_text(&b->pointer), fmt,
		     args);
	va_end(args);
}

/* The nearest choice for a misspelt word, NULL if there is none. */
static const char *suggestion(const struct conf_row *row, const char *word)
{
	if (row->type == CONF_ENUM)
		return conf_suggest(word, row->choices);
	if (row->type != CONF_ONEOF)
		return NULL;
	for (const struct conf_row *r = row->table->rows; r->name; r++) {
		const char *found = suggestion(r, word);

		if (found)
			return found;
	}
	return NULL;
}

cJSON *conf_bind_refuse(struct binding *b, const struct conf_row *row, const cJSON *item)
{
	struct conf_buf found = { 0 };
	const char *near = NULL;

	if (cJSON_IsNull(item)) {
		conf_buf_add(&found, "null is not a value (leave out the key to get its default)");
	} else {
		conf_buf_add(&found, "found ");
		conf_describe_found(&found, item);
	}
	if (cJSON_IsNumber(item) && conf_wants_unit(row))
		conf_buf_add(&found, " without a unit");
	if (cJSON_IsString(item))
		near = suggestion(row, item->valuestring);
	if (near)
		conf_buf_addf(&found, " (did you mean \"%s\"?)", near);
	conf_bind_fail_allowed(b, row, item, conf_buf_text(&found));
	conf_buf_release(&found);
	return NULL;
}

void conf_bind_fail_allowed(struct binding *b, const struct conf_row *row, const cJSON *item,
			    const char *problem)
{
	struct conf_buf allowed = { 0 };

	conf_describe_row(&allowed, b->whole ? b->whole : row);
	fail(b, item, false, "%s; allowed: %s", problem, conf_buf_text(&allowed));
	conf_buf_release(&allowed);
}

/* Keeps a value as a line of `explain`. */
static void note_value(struct binding *b, const cJSON *item, const cJSON *resolved)
{
	struct conf_doc *doc = b->doc;
	struct conf_value *value;

	if (b->in_list > 0 || !resolved)
		return;
	doc->values = array_reserve(doc->values, doc->value_count, &doc->value_capacity,
				    sizeof(doc->values[0]));
	value = &doc->values[doc->value_count++];
	*value = (struct conf_value){ .pointer = xstrdup(conf_buf_text(&b->pointer)),
				      .value = resolved,
				      .default_row = b->default_row };
	if (!b->default_row)
		value->place = conf_place_of(doc, item, false);
}

static bool is_comment(const struct binding *b, const char *key)
{
	return key[0] == '_' || (b->pointer.length == 0 && !strcmp(key, "$schema"));
}

static bool is_among(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

static const char *new_name(const struct conf_rename *renamed, const char *key)
{
	for (; renamed && renamed->old; renamed++)
		if (!strcmp(renamed->old, key))
			return renamed->now;
	return NULL;
}

static void renamed_key(struct binding *b, const cJSON *child, const char *now)
{
	size_t length = b->pointer.length;

	conf_buf_add_step(&b->pointer, child->string);
	fail(b, child, true, "\"%s\" is now called \"%s\"", child->string, now);
	conf_buf_cut(&b->pointer, length);
}

static void unknown_key(struct binding *b, const cJSON *child, const char *const *names)
{
	const char *near = conf_suggest(child->string, names);
	struct conf_buf list = { 0 }, shown = { 0 };
	const cJSON key = { .type = cJSON_String, .valuestring = child->string };
	size_t length = b->pointer.length;

	for (size_t i = 0; names[i]; i++)
		conf_buf_addf(&list, "%s\"%s\"", i > 0 ? ", " : "", names[i]);
	conf_describe_found(&shown, &key);
	conf_buf_add_step(&b->pointer, child->string);
	fail(b, child, true, "unknown key %s%s%s%s; allowed here: %s", conf_buf_text(&shown),
	     near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "",
	     list.length > 0 ? conf_buf_text(&list) : "no key at all");
	conf_buf_cut(&b->pointer, length);
	conf_buf_release(&list);
	conf_buf_release(&shown);
}

static void check_keys(struct binding *b, const cJSON *item, const struct conf_table *table)
{
	const char **names = conf_names(table->rows);

	for (const cJSON *child = item->child; child; child = child->next) {
		const char *now = new_name(table->renamed, child->string);

		if (is_comment(b, child->string) || is_among(child->string, names))
			continue;
		if (now)
			renamed_key(b, child, now);
		else
			unknown_key(b, child, names);
	}
	free(names);
}

bool conf_has_default(const struct conf_row *row)
{
	return row->def != CONF_REQUIRED && row->def != CONF_OPTIONAL;
}

cJSON *conf_default(const struct conf_row *row)
{
	cJSON *value = cJSON_ParseWithOpts(row->def, NULL, true);

	return conf_node(value ? value : cJSON_CreateString(row->def));
}

static cJSON *bind_default(struct binding *b, const struct conf_row *row, char *base)
{
	const struct conf_row *outer = b->default_row;
	cJSON *value = conf_default(row), *resolved;

	b->default_row = row;
	resolved = conf_bind_value(b, row, base, value);
	b->default_row = outer;
	cJSON_Delete(value);
	return resolved;
}

void conf_set_present(const struct binding *b, const struct conf_row *row, char *base)
{
	bool yes = true;

	if (row->present != 0 && !b->default_row) /* `present` is 1 + offset */
		memcpy(base + row->present - 1, &yes, sizeof(yes));
}

/* Whether the object has an unknown key that is probably a misspelt name of this row. The message
 * about that key suggests the row's name, so no message about a missing key is needed. */
static bool is_mistyped(const struct binding *b, const struct conf_table *table,
			const struct conf_row *row, const cJSON *object)
{
	const char *choices[] = { row->name, NULL }, **names = conf_names(table->rows);
	bool mistyped = false;

	for (const cJSON *child = object->child; child && !mistyped; child = child->next)
		mistyped = !is_comment(b, child->string) && !is_among(child->string, names) &&
			   conf_suggest(child->string, choices);
	free(names);
	return mistyped;
}

/* Returns the value for the resolved document; NULL if there is none. */
static cJSON *bind_member(struct binding *b, const struct conf_table *table,
			  const struct conf_row *row, char *base, const cJSON *object)
{
	const cJSON *child = cJSON_GetObjectItemCaseSensitive(object, row->name);
	size_t length = b->pointer.length;
	cJSON *resolved = NULL;

	if (!child && row->def == CONF_REQUIRED) {
		struct conf_buf allowed = { 0 };

		if (is_mistyped(b, table, row, object))
			return NULL;
		conf_describe_row(&allowed, row);
		fail(b, object, false, "the key \"%s\" is missing: %s", row->name,
		     conf_buf_text(&allowed));
		conf_buf_release(&allowed);
		return NULL;
	}
	if (!child && row->def == CONF_OPTIONAL)
		return NULL;
	conf_buf_add_step(&b->pointer, row->name);
	if (child) {
		conf_set_present(b, row, base);
		resolved = conf_bind_value(b, row, base, child);
	} else {
		resolved = bind_default(b, row, base);
	}
	conf_buf_cut(&b->pointer, length);
	return resolved;
}

static cJSON *bind_object(struct binding *b, const struct conf_table *table, char *dest,
			  const cJSON *item)
{
	cJSON *object = conf_node(cJSON_CreateObject());

	check_keys(b, item, table);
	for (const struct conf_row *row = table->rows; row->name; row++) {
		cJSON *value = bind_member(b, table, row, dest, item);

		if (value)
			cJSON_AddItemToObject(object, row->name, value);
	}
	return object;
}

/* Whether a value of this row may hold objects, whose keys are lines of their own in `explain`. */
static bool holds_objects(const struct conf_row *row)
{
	if (row->type == CONF_LIST)
		return holds_objects(row->item);
	if (row->type == CONF_ONEOF)
		for (const struct conf_row *r = row->table->rows; r->name; r++)
			if (holds_objects(r))
				return true;
	return row->type == CONF_OBJECT;
}

/* Whether the row allows `count` items or members (`what`); if not, reports it. */
static bool check_count(struct binding *b, const struct conf_row *row, const cJSON *item,
			size_t count, const char *what)
{
	struct conf_buf allowed = { 0 };

	if (count >= row->min && (row->max == 0 || count <= row->max))
		return true;
	conf_describe_bounds(&allowed, row);
	fail(b, item, false, "%zu %s%s; allowed: a number of %ss%s", count, what,
	     count == 1 ? "" : "s", what, conf_buf_text(&allowed));
	conf_buf_release(&allowed);
	return false;
}

/* The number of items of a list, or of members of a map without comments. */
static size_t count_children(const cJSON *item)
{
	size_t count = 0;

	for (const cJSON *child = item->child; child; child = child->next)
		count += !child->string || child->string[0] != '_';
	return count;
}

/* Binds the items of a list or the members of a map. Fills `keys`, which is NULL for a list. */
static void bind_children(struct binding *b, const struct conf_row *row, const char **keys,
			  char *items, const cJSON *item, cJSON *resolved)
{
	size_t size = conf_row_size(row->item), length = b->pointer.length, index = 0;

	SIM_BUG_ON(size == 0 || row->item->offset != 0);
	for (const cJSON *child = item->child; child; child = child->next) {
		cJSON *value;

		if (keys && child->string[0] == '_')
			continue;
		if (keys)
			conf_buf_add_step(&b->pointer, child->string);
		else
			conf_buf_addf(&b->pointer, "/%zu", index);
		value = conf_bind_value(b, row->item, items + index * size, child);
		conf_buf_cut(&b->pointer, length);
		if (keys)
			keys[index] = conf_own_text(b->doc, child->string);
		if (value && keys)
			cJSON_AddItemToObject(resolved, child->string, value);
		else if (value)
			cJSON_AddItemToArray(resolved, value);
		index++;
	}
}

static cJSON *bind_children_of(struct binding *b, const struct conf_row *row, char *dest,
			       const cJSON *item)
{
	bool map = row->type == CONF_MAP;
	size_t count = count_children(item);
	bool one_line = map || count == 0 || !holds_objects(row->item);
	const char **keys = NULL;
	void *items;
	cJSON *resolved;

	if (!check_count(b, row, item, count, map ? "member" : "item"))
		return NULL;
	items = conf_own(b->doc, count, conf_row_size(row->item));
	if (map)
		keys = conf_own(b->doc, count, sizeof(*keys));
	resolved = conf_node(map ? cJSON_CreateObject() : cJSON_CreateArray());
	b->in_list += one_line; /* values inside get no lines of their own */
	bind_children(b, row, keys, items, item, resolved);
	b->in_list -= one_line;
	if (one_line)
		note_value(b, item, resolved);
	if (map)
		memcpy(dest, &(struct conf_map){ keys, items, count }, sizeof(struct conf_map));
	else
		memcpy(dest, &(struct conf_list){ items, count }, sizeof(struct conf_list));
	return resolved;
}

size_t conf_row_size(const struct conf_row *row)
{
	if (row->type == CONF_OBJECT || row->type == CONF_ONEOF)
		return row->table->size;
	return conf_kinds[row->type].size;
}

/* The struct of an object: the field itself or, if `apart`, new memory that the field then points
 * to. */
static char *struct_at(const struct binding *b, const struct conf_row *row, char *field)
{
	void *apart;

	if (!row->apart)
		return field;
	apart = conf_own(b->doc, 1, row->table->size);
	memcpy(field, &apart, sizeof(apart));
	return apart;
}

cJSON *conf_bind_value(struct binding *b, const struct conf_row *row, char *base, const cJSON *item)
{
	cJSON *resolved;

	if (cJSON_IsInvalid(item)) { /* conf_check_json() has reported it */
		b->failures++;
		return NULL;
	}
	if (row->type == CONF_ONEOF)
		return conf_bind_oneof(b, row, base, item);
	if (!conf_has_shape(row, item))
		return conf_bind_refuse(b, row, item);
	if (conf_is_scalar(row->type)) {
		resolved = conf_bind_scalar(b, row, base + row->offset, item);
		note_value(b, item, resolved);
		return resolved;
	}
	if (row->type == CONF_LIST || row->type == CONF_MAP)
		return bind_children_of(b, row, base + row->offset, item);
	return bind_object(b, row->table, struct_at(b, row, base + row->offset), item);
}

void conf_bind(struct conf_doc *doc, const struct conf_table *table, void *out)
{
	struct binding b = { .doc = doc };
	const struct conf_row root = { .type = CONF_OBJECT, .table = table };

	doc->resolved = conf_bind_value(&b, &root, out, doc->root);
	conf_buf_release(&b.pointer);
}
