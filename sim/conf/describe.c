/* Describes found and allowed values in words. */
#include "conf/bind.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MAX_QUOTED 40 /* bytes of a found string that a message repeats */
#define MAX_NAMES  24 /* keys or choices that the description of a row lists */

void conf_describe_found(struct conf_buf *buf, const cJSON *item)
{
	if (cJSON_IsString(item)) {
		char shown[MAX_QUOTED + 1];
		size_t length = strlen(item->valuestring);

		if (length <= MAX_QUOTED) {
			conf_buf_add_json_string(buf, item->valuestring);
			return;
		}
		length = MAX_QUOTED;
		while (length > 0 && conf_utf8_continues(item->valuestring[length]))
			length--; /* not in the middle of a code point */
		memcpy(shown, item->valuestring, length);
		shown[length] = '\0';
		conf_buf_add_json_string(buf, shown);
		conf_buf_add(buf, "...");
	} else if (cJSON_IsNumber(item)) {
		conf_buf_add(buf, "the number ");
		conf_buf_add_json_number(buf, item->valuedouble);
	} else if (cJSON_IsObject(item)) {
		conf_buf_add(buf, "an object");
	} else if (cJSON_IsArray(item)) {
		conf_buf_add(buf, "a list");
	} else {
		conf_buf_add_json(buf, item, false);
	}
}

const char **conf_names(const struct conf_row *rows)
{
	const char **names;
	size_t count = 0;

	while (rows[count].name)
		count++;
	names = xcalloc(count + 1, sizeof(*names));
	while (count-- > 0)
		names[count] = rows[count].name;
	return names;
}

static void add_names(struct conf_buf *buf, const char *const *names)
{
	for (size_t i = 0; names[i]; i++) {
		if (i == MAX_NAMES) {
			conf_buf_add(buf, ", ...");
			return;
		}
		conf_buf_addf(buf, "%s\"%s\"", i > 0 ? ", " : "", names[i]);
	}
}

/* Adds a bound with its unit. The bound of a queue has no unit: it holds for packets and bytes. */
static void add_amount(struct conf_buf *buf, const struct conf_row *row, uint64_t amount)
{
	char text[32];

	if (conf_has_unit(row->type) && row->type != CONF_QUEUE)
		conf_buf_addf(buf, "\"%s\"",
			      unit_format(conf_kinds[row->type].unit, amount, text, sizeof(text)));
	else
		conf_buf_addf(buf, "%llu", (unsigned long long)amount);
}

static void add_range(struct conf_buf *buf, const char *low, const char *high)
{
	if (*low && !strcmp(low, high))
		conf_buf_addf(buf, ", exactly %s", low);
	else if (*low && *high)
		conf_buf_addf(buf, " from %s to %s", low, high);
	else if (*low)
		conf_buf_addf(buf, ", at least %s", low);
	else if (*high)
		conf_buf_addf(buf, ", at most %s", high);
}

void conf_describe_bounds(struct conf_buf *buf, const struct conf_row *row)
{
	struct conf_buf low = { 0 }, high = { 0 };

	if (row->type == CONF_INT && (row->imin != 0 || row->imax != 0)) {
		if (row->imin > INT64_MIN)
			conf_buf_addf(&low, "%lld", (long long)row->imin);
		if (row->imax < INT64_MAX)
			conf_buf_addf(&high, "%lld", (long long)row->imax);
	} else if (row->type == CONF_REAL && (row->rmin != 0 || row->rmax != 0)) {
		conf_buf_add_json_number(&low, row->rmin);
		conf_buf_add_json_number(&high, row->rmax);
	} else {
		if (row->min > 0)
			add_amount(&low, row, row->min);
		if (row->max > 0)
			add_amount(&high, row, row->max);
	}
	add_range(buf, conf_buf_text(&low), conf_buf_text(&high));
	conf_buf_release(&low);
	conf_buf_release(&high);
}

void conf_describe_amount(struct conf_buf *buf, const struct conf_row *row)
{
	const struct conf_kind *kind = &conf_kinds[row->type];
	uint64_t value;

	if (row->type != CONF_QUEUE && unit_parse(kind->unit, kind->usual, &value) == UNIT_OK &&
	    !conf_in_bounds(row, value))
		add_amount(buf, row, value < row->min ? row->min : row->max);
	else
		conf_buf_addf(buf, "\"%s\"", kind->usual);
}

/* Adds an example: the default if it is a string, else conf_describe_amount(). */
static void add_example(struct conf_buf *buf, const struct conf_row *row)
{
	cJSON *value = conf_has_default(row) ? conf_default(row) : NULL;

	conf_buf_add(buf, ", such as ");
	if (cJSON_IsString(value))
		conf_buf_addf(buf, "\"%s\"", value->valuestring);
	else
		conf_describe_amount(buf, row);
	cJSON_Delete(value);
}

static void add_list(struct conf_buf *buf, const struct conf_row *row)
{
	if (row->min > 0 || row->max > 0) {
		conf_buf_add(buf, " (number of items");
		conf_describe_bounds(buf, row);
		conf_buf_add(buf, ")");
	}
	conf_buf_add(buf, ", each item ");
}

static void add_alternatives(struct conf_buf *buf, const struct conf_row *rows)
{
	for (size_t i = 0; rows[i].name; i++) {
		conf_buf_add(buf, i > 0 ? "; or " : "");
		conf_describe_row(buf, &rows[i]);
	}
}

static void add_keys(struct conf_buf *buf, const struct conf_row *row)
{
	const char **names = conf_names(row->table->rows);

	add_names(buf, names);
	free(names);
}

void conf_describe_row(struct conf_buf *buf, const struct conf_row *row)
{
	bool has_unit = conf_has_unit(row->type);

	conf_buf_add(buf, conf_kinds[row->type].words);
	if (has_unit || row->type == CONF_INT || row->type == CONF_REAL)
		conf_describe_bounds(buf, row);
	if (has_unit)
		add_example(buf, row);
	if (row->type == CONF_ENUM)
		add_names(buf, row->choices);
	if (row->type == CONF_OBJECT)
		add_keys(buf, row);
	if (row->type == CONF_LIST)
		add_list(buf, row);
	if (row->type == CONF_LIST || row->type == CONF_MAP)
		conf_describe_row(buf, row->item);
	if (row->type == CONF_ONEOF)
		add_alternatives(buf, row->table->rows);
}

void conf_describe_units(struct conf_buf *buf, const struct conf_row *row)
{
	if (conf_has_unit(row->type))
		conf_buf_addf(buf, "%s%s", row->type == CONF_QUEUE ? "pkt, " : "",
			      unit_names(conf_kinds[row->type].unit));
}

bool conf_wants_unit(const struct conf_row *row)
{
	if (row->type == CONF_ONEOF)
		for (const struct conf_row *r = row->table->rows; r->name; r++)
			if (conf_wants_unit(r))
				return true;
	return conf_has_unit(row->type);
}
