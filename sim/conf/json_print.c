#include "conf/buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void conf_buf_add_json_number(struct conf_buf *buf, double value)
{
	char text[40];

	if (fabs(value) <= (double)CONF_LARGEST_EXACT && value == floor(value)) {
		snprintf(text, sizeof(text), "%.0f", value);
	} else {
		for (int digits = 1; digits <= 17; digits++) {
			snprintf(text, sizeof(text), "%.*g", digits, value);
			if (strtod(text, NULL) == value)
				break;
		}
	}
	conf_buf_add(buf, text);
	/* Digits alone would be refused when read back, as too large an integer. */
	if (fabs(value) > (double)CONF_LARGEST_EXACT && !strpbrk(text, ".e"))
		conf_buf_add(buf, ".0");
}

void conf_buf_add_json_string(struct conf_buf *buf, const char *text)
{
	static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";

	conf_buf_add(buf, "\"");
	for (; *text; text++) {
		const char *at = strchr(escaped, *text);

		if (at)
			conf_buf_addf(buf, "\\%c", letters[at - escaped]);
		else if ((unsigned char)*text < 0x20 || *text == 0x7f)
			conf_buf_addf(buf, "\\u%04x", (unsigned)(unsigned char)*text);
		else
			conf_buf_add_bytes(buf, text, 1);
	}
	conf_buf_add(buf, "\"");
}

static void add_indent(struct conf_buf *buf, int depth)
{
	conf_buf_add(buf, "\n");
	for (int i = 0; i < depth; i++)
		conf_buf_add(buf, "\t");
}

static void add_value(struct conf_buf *buf, const cJSON *item, int depth, bool pretty);

/* A list of numbers and words stays on one line: `"pairs": [[4, 0], [5, 1]]`. */
static bool stays_on_line(const cJSON *item)
{
	if (cJSON_IsObject(item))
		return false;
	if (cJSON_IsArray(item))
		for (const cJSON *child = item->child; child; child = child->next)
			if (!stays_on_line(child))
				return false;
	return true;
}

static void add_children(struct conf_buf *buf, const cJSON *item, int depth, bool pretty)
{
	bool object = cJSON_IsObject(item);
	bool lines = pretty && (object || !stays_on_line(item));

	conf_buf_add(buf, object ? "{" : "[");
	for (const cJSON *child = item->child; child; child = child->next) {
		if (lines)
			add_indent(buf, depth + 1);
		if (object) {
			conf_buf_add_json_string(buf, child->string);
			conf_buf_add(buf, pretty ? ": " : ":");
		}
		add_value(buf, child, depth + 1, pretty);
		if (child->next)
			conf_buf_add(buf, pretty && !lines ? ", " : ",");
	}
	if (lines && item->child)
		add_indent(buf, depth);
	conf_buf_add(buf, object ? "}" : "]");
}

static void add_value(struct conf_buf *buf, const cJSON *item, int depth, bool pretty)
{
	if (cJSON_IsObject(item) || cJSON_IsArray(item))
		add_children(buf, item, depth, pretty);
	else if (cJSON_IsString(item))
		conf_buf_add_json_string(buf, item->valuestring);
	else if (cJSON_IsNumber(item))
		conf_buf_add_json_number(buf, item->valuedouble);
	else if (cJSON_IsBool(item))
		conf_buf_add(buf, cJSON_IsTrue(item) ? "true" : "false");
	else
		conf_buf_add(buf, "null");
}

void conf_buf_add_json(struct conf_buf *buf, const cJSON *item, bool pretty)
{
	add_value(buf, item, 0, pretty);
}

void conf_print_json(cJSON *tree, FILE *to)
{
	struct conf_buf text = { 0 };

	conf_buf_add_json(&text, tree, true);
	fprintf(to, "%s\n", conf_buf_text(&text));
	conf_buf_release(&text);
	cJSON_Delete(tree);
}
