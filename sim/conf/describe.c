/* What was found and what is allowed, in words. */
#include "conf/bind.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MAX_QUOTED 40 /* bytes of a found string that a message repeats */
#define MAX_NAMES  24 /* keys that a message lists */

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
		while (length > 0 && ((unsigned char)item->valuestring[length] & 0xc0) == 0x80)
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

const char **conf_row_names(const struct conf_row *rows)
{
	const char **names;
	size_t count = 0;

	while (rows[count].name != NULL)
		count++;
	names = xcalloc(count + 1, sizeof(*names));
	while (count-- > 0)
		names[count] = rows[count].name;
	return names;
}

const char **conf_table_names(const struct conf_table *const *tables)
{
	const char **names;
	size_t count = 0;

	while (tables[count] != NULL)
		count++;
	names = xcalloc(count + 1, sizeof(*names));
	while (count-- > 0)
		names[count] = tables[count]->name;
	return names;
}

static void add_names(struct conf_buf *buf, const char *const *names)
{
	for (size_t i = 0; names[i] != NULL; i++) {
		if (i == MAX_NAMES) {
			conf_buf_add(buf, ", ...");
			return;
		}
		conf_buf_addf(buf, "%s\"%s\"", i > 0 ? ", " : "", names[i]);
	}
}

static void add_amount(struct conf_buf *buf, const struct conf_row *row, uint64_t amount)
{
	char text[32];

	if (conf_is_quantity(row->type))
		conf_buf_addf(buf, "\"%s\"",
			      unit_format(conf_unit_kind(row->type), amount, text, sizeof(text)));
	else
		conf_buf_addf(buf, "%llu", (unsigned long long)amount);
}

static void add_range(struct conf_buf *buf, const char *low, const char *high)
{
	if (*low != '\0' && strcmp(low, high) == 0)
		conf_buf_addf(buf, ", exactly %s", low);
	else if (*low != '\0' && *high != '\0')
		conf_buf_addf(buf, " from %s to %s", low, high);
	else if (*low != '\0')
		conf_buf_addf(buf, ", at least %s", low);
	else if (*high != '\0')
		conf_buf_addf(buf, ", at most %s", high);
}

/* Bounds of amounts, from 0 or without end where that is no bound. Those of a queue are numbers,
 * of packets or of bytes. */
static void amount_bounds(const struct conf_row *row, struct conf_buf *low, struct conf_buf *high)
{
	struct conf_row plain = *row;

	if (row->type == CONF_QUEUE)
		plain.type = CONF_INT; /* print without unit */
	if (row->min > 0)
		add_amount(low, &plain, row->min);
	if (row->max > 0)
		add_amount(high, &plain, row->max);
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
		amount_bounds(row, &low, &high);
	}
	add_range(buf, conf_buf_text(&low), conf_buf_text(&high));
	conf_buf_release(&low);
	conf_buf_release(&high);
}

static bool in_bounds(const struct conf_row *row, uint64_t value)
{
	return value >= row->min && (row->max == 0 || value <= row->max);
}

/* An example that would be accepted: the default if there is one. */
static void add_example(struct conf_buf *buf, const struct conf_row *row, const char *usual)
{
	uint64_t value;

	if (row->def != CONF_REQUIRED && row->def != CONF_OPTIONAL) {
		cJSON *usual_one = conf_default(row);
		bool text = cJSON_IsString(usual_one);

		if (text)
			conf_buf_addf(buf, ", such as \"%s\"", usual_one->valuestring);
		cJSON_Delete(usual_one);
		if (text)
			return;
	}
	if (row->type != CONF_QUEUE &&
	    unit_parse(conf_unit_kind(row->type), usual, &value) == UNIT_OK &&
	    !in_bounds(row, value)) {
		conf_buf_add(buf, ", such as ");
		add_amount(buf, row, row->min > 0 ? row->min : row->max);
		return;
	}
	conf_buf_addf(buf, ", such as \"%s\"", usual);
}

static void add_quantity(struct conf_buf *buf, const struct conf_row *row, const char *what,
			 const char *usual)
{
	conf_buf_addf(buf, "a %s with its unit", what);
	conf_describe_bounds(buf, row);
	add_example(buf, row, usual);
}

static void add_list(struct conf_buf *buf, const struct conf_row *row)
{
	conf_buf_add(buf, "a list");
	if (row->min > 0 || row->max > 0) {
		conf_buf_add(buf, " (number of items");
		conf_describe_bounds(buf, row);
		conf_buf_add(buf, ")");
	}
	conf_buf_add(buf, ", each item ");
	conf_describe_row(buf, row->item);
}

static void add_object(struct conf_buf *buf, const char **names)
{
	conf_buf_add(buf, "an object with the keys ");
	add_names(buf, names);
	free(names);
}

static void add_alternatives(struct conf_buf *buf, const struct conf_row *rows)
{
	for (size_t i = 0; rows[i].name != NULL; i++) {
		conf_buf_add(buf, i > 0 ? "; or " : "");
		conf_describe_row(buf, &rows[i]);
	}
}

/* A flat dispatcher: one case a type. */
void conf_describe_row(struct conf_buf *buf, const struct conf_row *row)
{
	switch (row->type) {
	case CONF_BOOL:
		conf_buf_add(buf, "true or false");
		break;
	case CONF_INT:
		conf_buf_add(buf, "a whole number");
		conf_describe_bounds(buf, row);
		break;
	case CONF_REAL:
		conf_buf_add(buf, "a number");
		conf_describe_bounds(buf, row);
		break;
	case CONF_STRING:
		conf_buf_add(buf, "a string");
		break;
	case CONF_ENUM:
		conf_buf_add(buf, "one of ");
		add_names(buf, row->choices);
		break;
	case CONF_TIME:
		add_quantity(buf, row, "time", "1us");
		break;
	case CONF_BYTES:
		add_quantity(buf, row, "size", "40MB");
		break;
	case CONF_RATE:
		add_quantity(buf, row, "rate", "10Gbps");
		break;
	case CONF_QUEUE:
		add_quantity(buf, row, "number of packets or bytes", "85pkt");
		break;
	case CONF_OBJECT:
		add_object(buf, conf_row_names(row->table->rows));
		break;
	case CONF_LIST:
		add_list(buf, row);
		break;
	case CONF_MAP:
		conf_buf_add(buf, "an object, each member ");
		conf_describe_row(buf, row->item);
		break;
	case CONF_JSON:
		conf_buf_add(buf, "any value but null");
		break;
	case CONF_ONEOF:
		add_alternatives(buf, row->table->rows);
		break;
	case CONF_SCHEMES:
		add_object(buf, conf_table_names(row->tables));
		break;
	}
}

bool conf_wants_unit(const struct conf_row *row)
{
	if (row->type == CONF_ONEOF)
		for (const struct conf_row *r = row->table->rows; r->name != NULL; r++)
			if (conf_wants_unit(r))
				return true;
	return conf_is_quantity(row->type);
}
