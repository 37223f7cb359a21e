/* The data dictionary: what the columns of the result tables mean. */
#include "data/table.h"

#include "data/json.h"

#include <string.h>

struct type_text {
	const char *name;
	const char *help;
};

static const struct type_text types[] = {
	[OUT_COUNT] = { "count", "whole number of up to 64 bits" },
	[OUT_REAL] = { "real", "decimal number that reads back as the same double" },
	[OUT_SECONDS] = { "seconds", "decimal seconds, exact to the picosecond" },
	[OUT_TEXT] = { "text", "text, in quotes where it holds a comma, quote or line end" },
	[OUT_FLAG] = { "flag", "0 or 1" },
};
#define TYPES (sizeof(types) / sizeof(*types))

static const char *const about = "A cell is empty if there is no value.";

static void text_of(const struct out_schema *schema, FILE *to)
{
	size_t width = 0;

	for (const struct out_column *c = schema->columns; c->name; c++)
		width = strlen(c->name) > width ? strlen(c->name) : width;
	fprintf(to, "%s\n  %s\n\n", schema->file, schema->help);
	for (const struct out_column *c = schema->columns; c->name; c++)
		fprintf(to, "  %-*s  %-7s  %s\n", (int)width, c->name, types[c->type].name,
			c->help);
	fputs("\n", to);
}

static void json_of(const struct out_schema *schema, struct json *json)
{
	json_open_object(json, NULL);
	json_string(json, "file", schema->file);
	json_string(json, "help", schema->help);
	json_open_array(json, "columns");
	for (const struct out_column *c = schema->columns; c->name; c++) {
		json_open_object(json, NULL);
		json_string(json, "name", c->name);
		json_string(json, "type", types[c->type].name);
		json_string(json, "help", c->help);
		json_string(json, "since", c->since ? c->since : "0.1");
		json_close_object(json);
	}
	json_close_array(json);
	json_close_object(json);
}

static void dictionary_json(const struct out_schema *const *schemas, size_t count, FILE *to)
{
	struct json json;

	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "about", about);
	json_open_object(&json, "types");
	for (size_t i = 0; i < TYPES; i++)
		json_string(&json, types[i].name, types[i].help);
	json_close_object(&json);
	json_open_array(&json, "tables");
	for (size_t i = 0; i < count; i++)
		json_of(schemas[i], &json);
	json_close_array(&json);
	json_close_object(&json);
	json_print(&json, to);
}

void out_dictionary(const struct out_schema *const *schemas, size_t count, FILE *to, bool json)
{
	if (json) {
		dictionary_json(schemas, count, to);
		return;
	}
	for (size_t i = 0; i < count; i++)
		text_of(schemas[i], to);
	fprintf(to, "Types. %s\n\n", about);
	for (size_t i = 0; i < TYPES; i++)
		fprintf(to, "  %-7s  %s\n", types[i].name, types[i].help);
}
