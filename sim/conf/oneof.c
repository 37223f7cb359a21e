/* A value that may take several forms: "2MB" or { "cdf": "websearch" }. */
#include "conf/bind.h"

#include <stdlib.h>
#include <string.h>

unsigned conf_row_shapes(const struct conf_row *row)
{
	unsigned shapes = conf_kinds[row->type].shapes;

	if (row->type == CONF_ONEOF)
		for (const struct conf_row *r = row->table->rows; r->name; r++)
			shapes |= conf_row_shapes(r);
	return shapes;
}

bool conf_has_shape(const struct conf_row *row, const cJSON *item)
{
	return (conf_row_shapes(row) & (unsigned)item->type) != 0;
}

/* Whether an alternative for objects has this key. */
static bool knows_key(const struct conf_row *row, const char *key)
{
	if (row->type == CONF_MAP || row->type == CONF_JSON)
		return true;
	if (row->type != CONF_OBJECT && row->type != CONF_ONEOF)
		return false;
	for (const struct conf_row *r = row->table->rows; r->name; r++)
		if (row->type == CONF_OBJECT ? !strcmp(r->name, key) : knows_key(r, key))
			return true;
	return false;
}

/* The only alternative that knows some of the object's keys; binding it reports the rest. NULL when
 * no alternative or several have a key: then messages name all alternatives. */
static const struct conf_row *choose_by_keys(const struct conf_row *rows, const cJSON *item)
{
	const struct conf_row *best = NULL;
	size_t alternatives = 0;

	for (const struct conf_row *row = rows; row->name; row++) {
		bool any = false;

		for (const cJSON *child = item->child; child && !any; child = child->next)
			any = knows_key(row, child->string);
		alternatives += any;
		best = any ? row : best;
	}
	return alternatives == 1 ? best : NULL;
}

/* Binds the value if it fits; else returns NULL and leaves no trace. */
static cJSON *try_alternative(struct binding *b, const struct conf_row *row, char *base,
			      const cJSON *item)
{
	size_t failures = b->failures, values = b->doc->value_count;
	cJSON *resolved;

	b->trial++;
	resolved = conf_bind_value(b, row, base, item);
	b->trial--;
	if (b->failures == failures)
		return resolved;
	b->failures = failures;
	cJSON_Delete(resolved);
	while (b->doc->value_count > values) /* lines of `explain` */
		free(b->doc->values[--b->doc->value_count].pointer);
	if (row->type != CONF_ONEOF) /* the alternatives of a ONEOF have cleaned up already */
		memset(base + row->offset, 0, conf_row_size(row));
	return NULL;
}

static void choose(const struct binding *b, const struct conf_row *row,
		   const struct conf_row *chosen, char *base)
{
	int index = (int)(chosen - row->table->rows);

	memcpy(base + row->tag, &index, sizeof(index));
	conf_set_present(b, chosen, base);
}

/* Binds a value, not an object, whose shape several alternatives have. */
static cJSON *bind_by_trial(struct binding *b, const struct conf_row *row, char *base,
			    const cJSON *item)
{
	for (const struct conf_row *r = row->table->rows; r->name; r++) {
		cJSON *resolved =
			conf_has_shape(r, item) ? try_alternative(b, r, base, item) : NULL;

		if (!resolved)
			continue;
		choose(b, row, r, base);
		return resolved;
	}
	return NULL;
}

/* The alternative with a unit that a text with a number in front is meant for; NULL if none. */
static const struct conf_row *with_unit(const struct conf_row *rows, const cJSON *item)
{
	bool number =
		cJSON_IsString(item) && *item->valuestring >= '0' && *item->valuestring <= '9';

	for (const struct conf_row *r = rows; number && r->name; r++)
		if (r->type == CONF_BYTES || r->type == CONF_TIME || r->type == CONF_RATE)
			return r;
	return NULL;
}

/* Binds the only alternative that is left and reports its messages. Messages about a scalar say
 * what the whole ONEOF allows. */
static cJSON *bind_only(struct binding *b, const struct conf_row *row, const struct conf_row *only,
			char *base, const cJSON *item)
{
	cJSON *resolved;

	choose(b, row, only, base);
	b->whole = conf_is_scalar(only->type) ? row : NULL;
	resolved = conf_bind_value(b, only, base, item);
	b->whole = NULL;
	return resolved;
}

cJSON *conf_bind_oneof(struct binding *b, const struct conf_row *row, char *base, const cJSON *item)
{
	const struct conf_row *only = NULL;
	size_t candidates = 0;

	for (const struct conf_row *r = row->table->rows; r->name; r++) {
		if (!conf_has_shape(r, item))
			continue;
		only = r;
		candidates++;
	}
	if (candidates > 1 && !cJSON_IsObject(item)) {
		cJSON *resolved = bind_by_trial(b, row, base, item);

		if (resolved)
			return resolved;
		only = with_unit(row->table->rows, item);
	} else if (candidates > 1) {
		only = choose_by_keys(row->table->rows, item);
	}
	if (!only)
		return conf_bind_refuse(b, row, item);
	return bind_only(b, row, only, base, item);
}
