/* Makes JSON Schema 2020-12 from the tables, for editors and for `inasim schema`. */
#include "conf/bind.h"

#include "base/fail.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct schema {
	cJSON *defs;
	const struct conf_table **tables; /* those that have a definition so far */
	size_t count, capacity;
};

static cJSON *schema_of_row(struct schema *s, const struct conf_row *row);

static void add(cJSON *object, const char *key, cJSON *value)
{
	cJSON_AddItemToObject(object, key, conf_node(value));
}

static void add_string(cJSON *object, const char *key, const char *value)
{
	add(object, key, cJSON_CreateString(value));
}

static cJSON *typed(const char *type)
{
	cJSON *schema = conf_node(cJSON_CreateObject());

	add_string(schema, "type", type);
	return schema;
}

static void allow_comments(cJSON *object_schema)
{
	cJSON *patterns = conf_node(cJSON_CreateObject());

	add(patterns, "^_", cJSON_CreateTrue());
	add(object_schema, "patternProperties", patterns);
}

static void describe_member(cJSON *schema, const struct conf_row *row)
{
	struct conf_buf text = { 0 };

	conf_buf_add(&text, row->help ? row->help : "");
	if (conf_has_unit(row->type) && (row->min > 0 || row->max > 0)) {
		conf_buf_add(&text, text.length > 0 ? " Allowed: " : "Allowed: ");
		conf_describe_row(&text, row);
		conf_buf_add(&text, ".");
	}
	if (conf_has_default(row) && row->source)
		conf_buf_addf(&text, "%sSource of the default: %s.", text.length > 0 ? " " : "",
			      row->source);
	if (text.length > 0)
		add_string(schema, "description", conf_buf_text(&text));
	conf_buf_release(&text);
	if (conf_has_default(row))
		add(schema, "default", conf_default(row));
}

static cJSON *schema_of_table(struct schema *s, const struct conf_table *table)
{
	cJSON *schema = typed("object");
	cJSON *properties = conf_node(cJSON_CreateObject());
	cJSON *required = conf_node(cJSON_CreateArray());

	if (table->help)
		add_string(schema, "description", table->help);
	for (const struct conf_row *row = table->rows; row->name; row++) {
		cJSON *member = schema_of_row(s, row);

		describe_member(member, row);
		add(properties, row->name, member);
		if (row->def == CONF_REQUIRED)
			cJSON_AddItemToArray(required, conf_node(cJSON_CreateString(row->name)));
	}
	add(schema, "properties", properties);
	if (required->child)
		add(schema, "required", required);
	else
		cJSON_Delete(required);
	allow_comments(schema);
	add(schema, "additionalProperties", cJSON_CreateFalse());
	return schema;
}

/* A definition has the name of its table, so no two tables may share a name. */
static cJSON *reference(struct schema *s, const struct conf_table *table)
{
	cJSON *schema = conf_node(cJSON_CreateObject());
	struct conf_buf path = { 0 };
	size_t i = 0;

	while (i < s->count && strcmp(s->tables[i]->name, table->name))
		i++;
	SIM_BUG_ON(i < s->count && s->tables[i] != table);
	if (i == s->count) { /* added before its rows, since a table may contain itself */
		s->tables = array_reserve(s->tables, s->count, &s->capacity, sizeof(*s->tables));
		s->tables[s->count++] = table;
		add(s->defs, table->name, schema_of_table(s, table));
	}
	conf_buf_add(&path, "#/$defs");
	conf_buf_add_step(&path, table->name);
	add_string(schema, "$ref", conf_buf_text(&path));
	conf_buf_release(&path);
	return schema;
}

static cJSON *schema_of_number(const struct conf_row *row)
{
	cJSON *schema = typed(row->type == CONF_INT ? "integer" : "number");
	double low = row->rmin, high = row->rmax;

	if (row->type == CONF_INT) {
		if (row->imin == 0 && row->imax == 0)
			return schema;
		low = (double)(row->imin < -CONF_LARGEST_EXACT ? -CONF_LARGEST_EXACT : row->imin);
		high = (double)(row->imax > CONF_LARGEST_EXACT ? CONF_LARGEST_EXACT : row->imax);
	} else if (row->rmin == 0 && row->rmax == 0) {
		return schema;
	}
	add(schema, "minimum", cJSON_CreateNumber(low));
	add(schema, "maximum", cJSON_CreateNumber(high));
	return schema;
}

/* Units "ps, ns, us" give the pattern ^([0-9]+(\.[0-9]+)?[ \t]*(ps|ns|us))$ */
static cJSON *schema_of_quantity(const struct conf_row *row)
{
	cJSON *schema = typed("string");
	struct conf_buf pattern = { 0 };
	const char *names = unit_names(conf_kinds[row->type].unit);

	conf_buf_add(&pattern, row->type == CONF_QUEUE ? "^([0-9]+[ \\t]*pkt|" : "^(");
	conf_buf_add(&pattern, "[0-9]+(\\.[0-9]+)?[ \\t]*(");
	for (; *names; names++) {
		if (*names == ',')
			conf_buf_add(&pattern, "|");
		else if (*names != ' ')
			conf_buf_add_bytes(&pattern, names, 1);
	}
	conf_buf_add(&pattern, "))$");
	add_string(schema, "pattern", conf_buf_text(&pattern));
	conf_buf_release(&pattern);
	return schema;
}

static cJSON *schema_of_items(struct schema *s, const struct conf_row *row)
{
	bool list = row->type == CONF_LIST;
	cJSON *schema = typed(list ? "array" : "object");
	cJSON *item = schema_of_row(s, row->item);

	describe_member(item, row->item);
	if (!list)
		allow_comments(schema);
	add(schema, list ? "items" : "additionalProperties", item);
	if (row->min > 0)
		add(schema, list ? "minItems" : "minProperties",
		    cJSON_CreateNumber((double)row->min));
	if (row->max > 0)
		add(schema, list ? "maxItems" : "maxProperties",
		    cJSON_CreateNumber((double)row->max));
	return schema;
}

/* "oneOf" demands that exactly one alternative fits. If alternatives share a JSON shape, a value
 * may fit several, so then "anyOf" is used. */
static cJSON *schema_of_oneof(struct schema *s, const struct conf_row *row)
{
	cJSON *schema = conf_node(cJSON_CreateObject());
	cJSON *forms = conf_node(cJSON_CreateArray());
	unsigned shapes = 0;
	bool distinct = true;

	for (const struct conf_row *r = row->table->rows; r->name; r++) {
		struct conf_row form = *r;
		cJSON *alternative = schema_of_row(s, r);

		form.def = CONF_OPTIONAL; /* an alternative has no default of its own */
		describe_member(alternative, &form);
		cJSON_AddItemToArray(forms, alternative);
		distinct = distinct && (shapes & conf_row_shapes(r)) == 0;
		shapes |= conf_row_shapes(r);
	}
	add(schema, distinct ? "oneOf" : "anyOf", forms);
	return schema;
}

static cJSON *schema_of_enum(const struct conf_row *row)
{
	cJSON *schema = conf_node(cJSON_CreateObject());
	cJSON *choices = conf_node(cJSON_CreateArray());

	for (size_t i = 0; row->choices[i]; i++)
		cJSON_AddItemToArray(choices, conf_node(cJSON_CreateString(row->choices[i])));
	add(schema, "enum", choices);
	return schema;
}

static cJSON *schema_of_row(struct schema *s, const struct conf_row *row)
{
	switch (row->type) {
	case CONF_BOOL:
		return typed("boolean");
	case CONF_INT:
	case CONF_REAL:
		return schema_of_number(row);
	case CONF_STRING:
		return typed("string");
	case CONF_ENUM:
		return schema_of_enum(row);
	case CONF_TIME:
	case CONF_BYTES:
	case CONF_RATE:
	case CONF_QUEUE:
		return schema_of_quantity(row);
	case CONF_OBJECT:
		return reference(s, row->table);
	case CONF_LIST:
	case CONF_MAP:
		return schema_of_items(s, row);
	case CONF_JSON:
		return conf_node(cJSON_CreateObject());
	case CONF_ONEOF:
		return schema_of_oneof(s, row);
	}
	sim_bug(__FILE__, __LINE__, "no such type of row: %d", (int)row->type);
}

void conf_schema(const struct conf_table *table, const char *title, FILE *to)
{
	struct schema s = { .defs = conf_node(cJSON_CreateObject()) };
	cJSON *root = conf_node(cJSON_CreateObject());
	cJSON *body = schema_of_table(&s, table);

	add_string(root, "$schema", "https://json-schema.org/draft/2020-12/schema");
	add_string(root, "title", title);
	while (body->child) {
		cJSON *part = cJSON_DetachItemViaPointer(body, body->child);

		cJSON_AddItemToObject(root, part->string, part);
	}
	cJSON_Delete(body);
	add(cJSON_GetObjectItemCaseSensitive(root, "properties"), "$schema", typed("string"));
	add(root, "$defs", s.defs);
	conf_print_json(root, to);
	free(s.tables);
}
