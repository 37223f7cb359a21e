/* Chakra as JSON, in the three forms that its tools write or read (mlcommons/chakra):
 *
 *   chakra_jsonizer    messages of the protobuf form one after the other, keys in lowerCamelCase,
 *                      numbers of 64 bits as texts; the first is GlobalMetadata
 *   the feeder's       { "workload_graph": [ { "Id", "NodeType", "runtime", "ctrlDeps",
 *                      "data_deps", "is_cpu_op", "comm_size", ... } ], ... } (json_node.cpp)
 *   one document       { "nodes": [ ... ] }, nodes as the jsonizer's, keys in either case
 *
 * A file is read whole: it is the form of small traces. */
#include "workload/program/chakra_parts.h"

#include "base/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (UINT64_C(1) << 30)

static const char *const type_names[ET_TYPES] = {
	[ET_INVALID] = "INVALID_NODE",   [ET_METADATA] = "METADATA_NODE",
	[ET_MEM_LOAD] = "MEM_LOAD_NODE", [ET_MEM_STORE] = "MEM_STORE_NODE",
	[ET_COMP] = "COMP_NODE",         [ET_SEND] = "COMM_SEND_NODE",
	[ET_RECV] = "COMM_RECV_NODE",    [ET_COLL] = "COMM_COLL_NODE",
};

static const cJSON *member(const cJSON *object, const char *a, const char *b, const char *c)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, a);

	item = item ? item : cJSON_GetObjectItemCaseSensitive(object, b);
	return item || !c ? item : cJSON_GetObjectItemCaseSensitive(object, c);
}

/* A whole number, also as a text or a truth value. A negative one wraps. */
static bool read_number(const cJSON *item, uint64_t *number)
{
	const char *text = cJSON_GetStringValue(item);
	char *end;

	if (cJSON_IsBool(item)) {
		*number = cJSON_IsTrue(item) ? 1 : 0;
		return true;
	}
	if (text) {
		*number =
			*text == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
		return *text && !*end;
	}
	if (!cJSON_IsNumber(item) || item->valuedouble < -0x1p53 || item->valuedouble > 0x1p53 ||
	    item->valuedouble != (double)(int64_t)item->valuedouble)
		return false;
	*number = (uint64_t)(int64_t)item->valuedouble;
	return true;
}

/* Reads a number that a node may have. */
static void take_number(struct et_file *file, const cJSON *item, const char *key, uint64_t *number)
{
	if (item && !read_number(item, number))
		et_complain(file, "a node's \"%s\" is no whole number", key);
}

static void read_type(struct et_file *file, const cJSON *item, struct et_node *node)
{
	const char *name = cJSON_GetStringValue(item);

	for (unsigned i = 0; name && i < ET_TYPES; i++)
		if (!strcmp(type_names[i], name)) {
			node->type = i;
			return;
		}
	take_number(file, item, "type", &node->type);
}

static void read_needs(struct et_file *file, const cJSON *list, bool data, struct et_node *node)
{
	const cJSON *item;
	uint64_t id = 0;

	cJSON_ArrayForEach(item, list) {
		take_number(file, item, data ? "data_deps" : "ctrl_deps", &id);
		et_need(node, id, data);
	}
}

static bool has_false(const cJSON *list)
{
	const cJSON *values = cJSON_IsObject(list)
				      ? cJSON_GetObjectItemCaseSensitive(list, "values")
				      : list,
		    *item;
	bool found = false;

	cJSON_ArrayForEach(item, values)
		found |= cJSON_IsFalse(item);
	return found;
}

static void read_value(struct et_file *file, const char *name, const cJSON *value,
		       struct et_node *node)
{
	for (unsigned i = 0; i < ET_NUMBERS; i++)
		if (!strcmp(name, et_number_names[i])) {
			take_number(file, value, name, &node->number[i]);
			node->has[i] = true;
		}
	if (!strcmp(name, "pg_name") && cJSON_IsString(value)) {
		node->pg = value->valuestring;
		node->pg_length = strlen(node->pg);
	} else if (!strcmp(name, "involved_dim")) {
		node->part_of_dims = has_false(value);
	}
}

/* { "name": NAME, "int64_val": VALUE } and the like; in the feeder's form members of the node. */
static void read_attributes(struct et_file *file, const cJSON *object, struct et_node *node)
{
	const cJSON *attribute, *value;

	cJSON_ArrayForEach(attribute, cJSON_GetObjectItemCaseSensitive(object, "attr")) {
		const char *name =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(attribute, "name"));

		cJSON_ArrayForEach(value, attribute)
			if (name && strcmp(value->string, "name") && !strstr(value->string, "doc"))
				read_value(file, name, value, node);
	}
	cJSON_ArrayForEach(value, object)
		read_value(file, value->string, value, node);
}

static void read_node(struct et_file *file, const cJSON *object, struct et_node *node)
{
	const char *inputs = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(object, "inputs"), "values"));

	et_clear(node);
	take_number(file, member(object, "id", "Id", NULL), "id", &node->id);
	read_type(file, member(object, "type", "NodeType", NULL), node);
	take_number(file, member(object, "duration_micros", "durationMicros", "runtime"), "runtime",
		    &node->duration);
	read_needs(file, member(object, "ctrl_deps", "ctrlDeps", NULL), false, node);
	read_needs(file, member(object, "data_deps", "dataDeps", NULL), true, node);
	read_attributes(file, object, node);
	node->inputs = inputs;
	node->inputs_length = inputs ? strlen(inputs) : 0;
}

static unsigned line_of(const char *text, const char *at)
{
	unsigned line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

/* One or more values, as an array. */
static void parse(struct et_file *file)
{
	const char *at = file->text, *end;
	cJSON *value;

	file->json = cJSON_CreateArray();
	for (; !file->mistake && *(at += strspn(at, " \t\r\n")); at = end) {
		value = cJSON_ParseWithOpts(at, &end, 0);
		if (cJSON_IsObject(value)) {
			cJSON_AddItemToArray(file->json, value);
			continue;
		}
		cJSON_Delete(value);
		et_complain(file, "line %u: no JSON object", line_of(file->text, end));
	}
}

bool et_json_open(struct et_file *file, const char *path)
{
	const cJSON *list;

	file->text = input_read(path, FILE_MAX, NULL);
	if (file->text)
		parse(file);
	else
		et_complain(file, "%s", input_why(errno));
	if (file->mistake)
		return false;
	list = member(file->json->child, "workload_graph", "nodes", NULL);
	if (list)
		file->item = list->child;
	else if (file->json->child)
		file->item = file->json->child->next; /* behind GlobalMetadata */
	if (!file->json->child)
		et_complain(file, "is empty");
	return !file->mistake;
}

bool et_json_next(struct et_file *file, struct et_node *node)
{
	const cJSON *object = file->item;

	if (!object || file->mistake)
		return false;
	file->item = object->next;
	if (!cJSON_IsObject(object))
		et_complain(file, "a node is no object");
	else
		read_node(file, object, node);
	return !file->mistake;
}
