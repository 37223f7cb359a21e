#include "conf/doc.h"

#include "base/plain.h"

#include <stdlib.h>

#define MAX_WIDTH 48 /* characters; a longer text does not widen its column */

/* Whether a value is printed without quotes: a string, not empty, without blanks, quotes or control
 * characters of ASCII. */
static bool stands_bare(const cJSON *value)
{
	const char *text = value->valuestring;

	if (!cJSON_IsString(value) || !*text)
		return false;
	for (; *text; text++)
		if ((unsigned char)*text <= 0x20 || (unsigned char)*text == 0x7f || *text == '"')
			return false;
	return true;
}

static void add_value(struct conf_buf *buf, const cJSON *value)
{
	if (stands_bare(value))
		conf_buf_add(buf, value->valuestring);
	else
		conf_buf_add_json(buf, value, false);
}

static void add_origin(struct conf_buf *buf, const struct conf_doc *doc,
		       const struct conf_value *value, struct conf_spot *spot)
{
	if (value->default_row) {
		conf_buf_add(buf, "default");
		if (value->default_row->source)
			conf_buf_addf(buf, ": %s", value->default_row->source);
	} else if (value->place.override_index > 0) {
		conf_buf_add(buf, "command line");
	} else {
		conf_buf_addf(buf, "%s:%zu", doc->name,
			      conf_line(doc->text, spot, value->place.offset));
	}
}

static void widen(size_t *width, const char *text)
{
	size_t columns = conf_utf8_columns(text);

	if (columns > *width && columns <= MAX_WIDTH)
		*width = columns;
}

static void print_column(FILE *to, const char *text, size_t width)
{
	fputs(text, to);
	for (size_t columns = conf_utf8_columns(text); columns < width; columns++)
		fputc(' ', to);
	fputs("  ", to);
}

static void explain_text(const struct conf_doc *doc, FILE *to)
{
	size_t pointer_width = 0, value_width = 0;
	struct conf_spot spot = { 0 };
	struct conf_buf buf = { 0 };

	for (size_t i = 0; i < doc->value_count; i++) {
		conf_buf_cut(&buf, 0);
		add_value(&buf, doc->values[i].value);
		widen(&pointer_width, doc->values[i].pointer);
		widen(&value_width, conf_buf_text(&buf));
	}
	for (size_t i = 0; i < doc->value_count; i++) {
		print_column(to, doc->values[i].pointer, pointer_width);
		conf_buf_cut(&buf, 0);
		add_value(&buf, doc->values[i].value);
		print_column(to, conf_buf_text(&buf), value_width);
		conf_buf_cut(&buf, 0);
		add_origin(&buf, doc, &doc->values[i], &spot);
		fprintf(to, "%s\n", conf_buf_text(&buf));
	}
	conf_buf_release(&buf);
}

static cJSON *json_of_value(const struct conf_doc *doc, const struct conf_value *value,
			    struct conf_spot *spot)
{
	cJSON *object = conf_node(cJSON_CreateObject());

	cJSON_AddStringToObject(object, "pointer", value->pointer);
	cJSON_AddItemToObject(object, "value", conf_node(cJSON_Duplicate(value->value, true)));
	if (value->default_row) {
		const char *source = value->default_row->source;

		cJSON_AddStringToObject(object, "origin", "default");
		cJSON_AddStringToObject(object, "source", source ? source : "");
	} else if (value->place.override_index > 0) {
		cJSON_AddStringToObject(object, "origin", "command line");
	} else {
		cJSON_AddStringToObject(object, "origin", "file");
		cJSON_AddStringToObject(object, "file", doc->name);
		cJSON_AddNumberToObject(object, "line",
					(double)conf_line(doc->text, spot, value->place.offset));
	}
	return object;
}

static void explain_json(const struct conf_doc *doc, FILE *to)
{
	cJSON *list = conf_node(cJSON_CreateArray());
	struct conf_spot spot = { 0 };

	for (size_t i = 0; i < doc->value_count; i++)
		cJSON_AddItemToArray(list, json_of_value(doc, &doc->values[i], &spot));
	conf_print_json(list, to);
}

void conf_explain(const struct conf_doc *doc, FILE *to, bool json)
{
	struct plain plain;

	if (json) {
		explain_json(doc, to);
		return;
	}
	plain_open(&plain);
	explain_text(doc, plain.to);
	plain_close(&plain, to);
}

void conf_leave_out(struct conf_doc *doc, const char *pointer)
{
	size_t kept = 0;

	for (size_t i = 0; i < doc->value_count; i++)
		if (conf_is_at(&doc->values[i], pointer))
			free(doc->values[i].pointer);
		else
			doc->values[kept++] = doc->values[i];
	doc->value_count = kept;
}
