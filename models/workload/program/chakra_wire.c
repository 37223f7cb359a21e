/* Chakra in protobuf's encoding: a row of messages, each behind its length. */
#include "workload/program/chakra_parts.h"

#include "base/input.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MESSAGE_MAX (UINT64_C(1) << 30)

struct wire {
	const uint8_t *at, *end;
	bool bad;
};

struct field {
	uint64_t number, value; /* value: of types 0, 1, 5 */
	unsigned type;
	struct wire inside; /* of type 2 */
};

static uint64_t read_varint(struct wire *wire)
{
	uint64_t value = 0;

	for (unsigned shift = 0; wire->at < wire->end && shift < 64; shift += 7) {
		uint8_t byte = *wire->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	wire->bad = true;
	return 0;
}

static uint64_t read_fixed(struct wire *wire, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(wire->end - wire->at) < size) {
		wire->bad = true;
		return 0;
	}
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)*wire->at++ << 8 * i;
	return value;
}

/* The next field; false at the end or if the encoding is wrong. */
static bool next_field(struct wire *wire, struct field *field)
{
	uint64_t key;

	if (wire->bad || wire->at == wire->end)
		return false;
	key = read_varint(wire);
	*field = (struct field){ .number = key >> 3, .type = key & 7 };
	if (field->type == 0 || field->type == 2)
		field->value = read_varint(wire);
	else if (field->type == 1 || field->type == 5)
		field->value = read_fixed(wire, field->type == 1 ? 8 : 4);
	else
		wire->bad = true;
	if (field->type == 2 && field->value > (uint64_t)(wire->end - wire->at))
		wire->bad = true;
	if (field->type == 2 && !wire->bad) {
		field->inside = (struct wire){ .at = wire->at, .end = wire->at + field->value };
		wire->at += field->value;
	}
	return !wire->bad;
}

/* The next message of the file; false at its end. */
static bool next_message(struct et_file *file)
{
	uint64_t length = 0;
	unsigned shift = 0;
	int byte = getc(file->file);

	if (byte == EOF && !ferror(file->file))
		return false;
	for (; byte != EOF && (byte & 0x80) && shift < 28; shift += 7, byte = getc(file->file))
		length |= (uint64_t)(byte & 0x7f) << shift;
	length |= byte == EOF ? MESSAGE_MAX + 1 : (uint64_t)byte << shift;
	if (!file->message) /* for the arithmetic of a first message without bytes */
		file->message = array_reserve(NULL, 0, &file->capacity, 1);
	for (file->length = 0; length <= MESSAGE_MAX && file->length < length;) {
		size_t more = length - file->length < 65536 ? length - file->length : 65536;

		while (file->capacity < file->length + more) /* as it comes: lengths may lie */
			file->message =
				array_reserve(file->message, file->capacity, &file->capacity, 1);
		if (fread(file->message + file->length, 1, more, file->file) != more)
			length = MESSAGE_MAX + 1;
		file->length += more;
	}
	if (length <= MESSAGE_MAX)
		return true;
	et_complain(file, "byte %ld: no Chakra trace, or cut off", ftell(file->file));
	return false;
}

static bool is_text(const struct wire *wire, const char *text)
{
	size_t length = (size_t)(wire->end - wire->at);

	return length == strlen(text) && !memcmp(wire->at, text, length);
}

/* Whether a list of bools has a false one. */
static bool has_false(struct wire list)
{
	struct field field;
	bool found = false;

	while (next_field(&list, &field)) {
		found |= field.type == 0 && !field.value;
		while (field.type == 2 && field.inside.at < field.inside.end)
			found |= !*field.inside.at++;
	}
	return found;
}

/* An attribute: a name, and a value in one of 26 forms. Whole numbers come in all of them. */
static void read_attribute(struct wire *wire, struct et_node *node)
{
	struct wire inside = *wire;
	struct field field, name = { 0 }, value = { 0 };
	uint64_t number;

	while (next_field(&inside, &field))
		if (field.number == 1)
			name = field;
		else if (field.number > 2)
			value = field;
	wire->bad |= inside.bad || name.type != 2;
	if (wire->bad)
		return;
	number = value.value;
	if (value.number == 15 || value.number == 17) /* sint32, sint64: zigzag */
		number = number >> 1 ^ -(number & 1);
	for (unsigned i = 0; i < ET_NUMBERS; i++)
		if (is_text(&name.inside, et_number_names[i])) {
			node->number[i] = number;
			node->has[i] = true;
		}
	if (is_text(&name.inside, "pg_name") && value.type == 2) {
		node->pg = (const char *)value.inside.at;
		node->pg_length = (size_t)(value.inside.end - value.inside.at);
	} else if (is_text(&name.inside, "involved_dim") && value.type == 2) {
		node->part_of_dims = has_false(value.inside);
	}
}

/* ctrl_deps or data_deps, packed or not. */
static void read_needs(struct wire *wire, const struct field *field, struct et_node *node)
{
	struct wire inside = field->inside;

	if (field->type != 2)
		et_need(node, field->value, field->number == 5);
	while (field->type == 2 && inside.at < inside.end && !inside.bad)
		et_need(node, read_varint(&inside), field->number == 5);
	wire->bad |= inside.bad;
}

static void read_inputs(struct field *field, struct et_node *node)
{
	struct field values;

	if (next_field(&field->inside, &values) && values.number == 1 && values.type == 2) {
		node->inputs = (const char *)values.inside.at;
		node->inputs_length = (size_t)(values.inside.end - values.inside.at);
	}
}

static bool read_node(struct et_file *file, struct et_node *node)
{
	struct wire wire = { .at = file->message, .end = file->message + file->length };
	struct field field;

	et_clear(node);
	while (next_field(&wire, &field))
		if (field.number == 1) {
			node->id = field.value;
		} else if (field.number == 3) {
			node->type = field.value;
		} else if (field.number == 4 || field.number == 5) {
			read_needs(&wire, &field, node);
		} else if (field.number == 7) {
			node->duration = field.value;
		} else if (field.number == 8 && field.type == 2) {
			read_inputs(&field, node);
		} else if (field.number == 10 && field.type == 2) {
			read_attribute(&field.inside, node);
			wire.bad |= field.inside.bad;
		}
	if (wire.bad)
		et_complain(file, "node %" PRIu64 ", before byte %ld: no Chakra trace", node->id,
			    ftell(file->file));
	return !wire.bad;
}

/* The first message is GlobalMetadata, which says nothing to us. */
bool et_wire_open(struct et_file *file, const char *path)
{
	file->file = input_open(path, UINT64_MAX);
	if (file->file && next_message(file))
		return true;
	et_complain(file, "%s", file->file ? "is empty" : input_why(errno));
	return false;
}

bool et_wire_next(struct et_file *file, struct et_node *node)
{
	return next_message(file) && read_node(file, node);
}
