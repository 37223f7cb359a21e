#include "conf/bind.h"

#include "base/fail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ANY_BOOL  (cJSON_False | cJSON_True)
#define ANY_VALUE (ANY_BOOL | cJSON_Number | cJSON_String | cJSON_Array | cJSON_Object)

const struct conf_kind conf_kinds[] = {
	[CONF_BOOL] = { sizeof(bool), ANY_BOOL, "true or false" },
	[CONF_INT] = { sizeof(int64_t), cJSON_Number, "a whole number" },
	[CONF_REAL] = { sizeof(double), cJSON_Number, "a number" },
	[CONF_STRING] = { sizeof(const char *), cJSON_String, "a string" },
	[CONF_ENUM] = { sizeof(int), cJSON_String, "one of " },
	[CONF_TIME] = { sizeof(uint64_t), cJSON_String, "a time with its unit", "1us", UNIT_TIME },
	[CONF_BYTES] = { sizeof(uint64_t), cJSON_String, "a size with its unit", "40MB",
			 UNIT_SIZE },
	[CONF_RATE] = { sizeof(uint64_t), cJSON_String, "a rate with its unit", "10Gbps",
			UNIT_RATE },
	[CONF_QUEUE] = { sizeof(struct queue_size), cJSON_String,
			 "a number of packets or bytes with its unit", "85pkt", UNIT_SIZE },
	[CONF_OBJECT] = { 0, cJSON_Object, "an object with the keys " },
	[CONF_LIST] = { sizeof(struct conf_list), cJSON_Array, "a list" },
	[CONF_ONEOF] = { 0, 0, "" },
	[CONF_MAP] = { sizeof(struct conf_map), cJSON_Object, "an object, each member " },
	[CONF_JSON] = { sizeof(const char *), ANY_VALUE, "any value but null" },
};

bool conf_is_scalar(enum conf_type type)
{
	return type != CONF_OBJECT && type != CONF_LIST && type != CONF_MAP && type != CONF_ONEOF;
}

bool conf_in_bounds(const struct conf_row *row, uint64_t value)
{
	return value >= row->min && (row->max == 0 || value <= row->max);
}

bool conf_has_unit(enum conf_type type)
{
	return conf_kinds[type].usual;
}

/* Below, fields are written by memcpy(), because a struct may declare them as an enum or another
 * type of the same representation. */

/* Reports that the value `is` something that is not allowed. */
static cJSON *refuse_as(struct binding *b, const struct conf_row *row, const cJSON *item,
			const char *is)
{
	struct conf_buf problem = { 0 };

	conf_describe_found(&problem, item);
	conf_buf_addf(&problem, " %s", is);
	conf_bind_fail_allowed(b, row, item, conf_buf_text(&problem));
	conf_buf_release(&problem);
	return NULL;
}

static cJSON *out_of_range(struct binding *b, const struct conf_row *row, const cJSON *item)
{
	return refuse_as(b, row, item, "is out of range");
}

static cJSON *bind_bool(void *dest, const cJSON *item)
{
	bool value = cJSON_IsTrue(item);

	memcpy(dest, &value, sizeof(value));
	return cJSON_CreateBool(value);
}

static cJSON *bind_int(struct binding *b, const struct conf_row *row, void *dest, const cJSON *item)
{
	double number = item->valuedouble;
	int64_t value;

	if (number != floor(number))
		return conf_bind_refuse(b, row, item);
	if (fabs(number) > (double)CONF_LARGEST_EXACT) /* written as 1e17 or 9007199254740993.0 */
		return out_of_range(b, row, item);
	value = (int64_t)number;
	if ((row->imin != 0 || row->imax != 0) && (value < row->imin || value > row->imax))
		return out_of_range(b, row, item);
	memcpy(dest, &value, sizeof(value));
	return cJSON_CreateNumber((double)value);
}

static cJSON *bind_real(struct binding *b, const struct conf_row *row, void *dest,
			const cJSON *item)
{
	double value = item->valuedouble;

	if ((row->rmin != 0 || row->rmax != 0) && (value < row->rmin || value > row->rmax))
		return out_of_range(b, row, item);
	memcpy(dest, &value, sizeof(value));
	return cJSON_CreateNumber(value);
}

bool conf_has_control(const char *text)
{
	while ((unsigned char)*text >= ' ' && *text != 0x7f)
		text++;
	return *text;
}

/* Control characters would break the lines of tables. */
static cJSON *bind_string(struct binding *b, const struct conf_row *row, void *dest,
			  const cJSON *item)
{
	const char *copy = conf_own_text(b->doc, item->valuestring);

	if (conf_has_control(copy))
		return refuse_as(b, row, item, "has a control character");
	memcpy(dest, &copy, sizeof(copy));
	return cJSON_CreateString(copy);
}

static cJSON *bind_enum(struct binding *b, const struct conf_row *row, void *dest,
			const cJSON *item)
{
	SIM_BUG_ON(!row->choices);
	for (int i = 0; row->choices[i]; i++) {
		if (strcmp(row->choices[i], item->valuestring))
			continue;
		memcpy(dest, &i, sizeof(i));
		return cJSON_CreateString(row->choices[i]);
	}
	return conf_bind_refuse(b, row, item);
}

static cJSON *bind_json(struct binding *b, void *dest, const cJSON *item)
{
	struct conf_buf text = { 0 };
	const char *copy;

	conf_buf_add_json(&text, item, false);
	copy = conf_own_text(b->doc, conf_buf_text(&text));
	memcpy(dest, &copy, sizeof(copy));
	conf_buf_release(&text);
	return cJSON_Duplicate(item, true);
}

static cJSON *unit_failure(struct binding *b, const struct conf_row *row, const cJSON *item,
			   enum unit_error error)
{
	static const char *const problems[] = {
		[UNIT_OK] = "",
		[UNIT_NO_NUMBER] = "does not start with a number",
		[UNIT_MISSING] = "has no unit",
		[UNIT_UNKNOWN] = "has an unknown unit",
		[UNIT_FRACTION] = "is not a whole number of",
		[UNIT_OVERFLOW] = "is too large",
	};
	static const char *const base_units[] = {
		[UNIT_TIME] = " ps", [UNIT_SIZE] = " B", [UNIT_RATE] = " bps"
	};
	enum unit_kind kind = conf_kinds[row->type].unit;
	struct conf_buf problem = { 0 };

	conf_describe_found(&problem, item);
	conf_buf_addf(&problem, " %s", problems[error]);
	if (error == UNIT_FRACTION)
		conf_buf_add(&problem, base_units[kind]);
	if (error == UNIT_MISSING || error == UNIT_UNKNOWN) {
		conf_buf_add(&problem, " (units are ");
		conf_describe_units(&problem, row);
		conf_buf_add(&problem, ")");
	}
	conf_bind_fail_allowed(b, row, item, conf_buf_text(&problem));
	conf_buf_release(&problem);
	return NULL;
}

static cJSON *bind_quantity(struct binding *b, const struct conf_row *row, void *dest,
			    const cJSON *item)
{
	enum unit_kind kind = conf_kinds[row->type].unit;
	enum unit_error error;
	uint64_t value = 0;
	char text[32];

	error = unit_parse(kind, item->valuestring, &value);
	if (error != UNIT_OK)
		return unit_failure(b, row, item, error);
	if (!conf_in_bounds(row, value))
		return out_of_range(b, row, item);
	memcpy(dest, &value, sizeof(value));
	return cJSON_CreateString(unit_format(kind, value, text, sizeof(text)));
}

/* "85pkt": digits, blanks, pkt. */
static bool parse_packets(const char *text, uint64_t *value)
{
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 18 || /* 18 digits always fit into 64 bits */
	    strcmp(text + digits + strspn(text + digits, " \t"), "pkt"))
		return false;
	*value = 0;
	for (size_t i = 0; i < digits; i++)
		*value = *value * 10 + (uint64_t)(text[i] - '0');
	return true;
}

static cJSON *bind_queue(struct binding *b, const struct conf_row *row, void *dest,
			 const cJSON *item)
{
	struct queue_size queue = { 0 };
	enum unit_error error = UNIT_OK;
	char text[40];

	queue.packets = parse_packets(item->valuestring, &queue.amount);
	if (!queue.packets)
		error = unit_parse(UNIT_SIZE, item->valuestring, &queue.amount);
	if (error != UNIT_OK)
		return unit_failure(b, row, item, error);
	if (!conf_in_bounds(row, queue.amount))
		return out_of_range(b, row, item);
	memcpy(dest, &queue, sizeof(queue));
	if (queue.packets)
		snprintf(text, sizeof(text), "%llupkt", (unsigned long long)queue.amount);
	else
		unit_format(UNIT_SIZE, queue.amount, text, sizeof(text));
	return cJSON_CreateString(text);
}

cJSON *conf_bind_scalar(struct binding *b, const struct conf_row *row, void *dest,
			const cJSON *item)
{
	switch (row->type) {
	case CONF_BOOL:
		return bind_bool(dest, item);
	case CONF_INT:
		return bind_int(b, row, dest, item);
	case CONF_REAL:
		return bind_real(b, row, dest, item);
	case CONF_STRING:
		return bind_string(b, row, dest, item);
	case CONF_ENUM:
		return bind_enum(b, row, dest, item);
	case CONF_TIME:
	case CONF_BYTES:
	case CONF_RATE:
		return bind_quantity(b, row, dest, item);
	case CONF_QUEUE:
		return bind_queue(b, row, dest, item);
	case CONF_JSON:
		return bind_json(b, dest, item);
	case CONF_OBJECT:
	case CONF_LIST:
	case CONF_MAP:
	case CONF_ONEOF:
		break;
	}
	sim_bug(__FILE__, __LINE__, "\"%s\" is no scalar", conf_buf_text(&b->pointer));
}
