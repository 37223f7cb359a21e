/* Chakra execution traces as rows of nodes, from either encoding (chakra_wire.c, chakra_json.c). */
#ifndef INASIM_WORKLOAD_PROGRAM_CHAKRA_PARTS_H
#define INASIM_WORKLOAD_PROGRAM_CHAKRA_PARTS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum et_type {
	ET_INVALID,
	ET_METADATA,
	ET_MEM_LOAD,
	ET_MEM_STORE,
	ET_COMP,
	ET_SEND,
	ET_RECV,
	ET_COLL,
	ET_TYPES
};

/* Numbers that an attribute of a node gives. */
enum et_number { ET_CPU, ET_SIZE, ET_KIND, ET_SOURCE, ET_TARGET, ET_TAG, ET_NUMBERS };
extern const char *const et_number_names[ET_NUMBERS]; /* such as "comm_size" */

struct et_need {
	uint64_t id;
	bool data; /* else control */
};

/* What a node says. */
struct et_node {
	uint64_t id, type, duration; /* us */
	uint64_t number[ET_NUMBERS];
	bool has[ET_NUMBERS];
	bool part_of_dims;       /* involved_dim leaves some out */
	const char *pg, *inputs; /* texts within the file's memory, not ended by '\0' */
	size_t pg_length, inputs_length;
	struct et_need *needs; /* room for them is kept from node to node; owned by the file */
	size_t need_count, need_capacity;
};

/* A file of a rank. */
struct et_file {
	FILE *file; /* protobuf */
	uint8_t *message;
	size_t length, capacity;
	cJSON *json, *item; /* JSON: all of it, and the next node */
	char *text;
	char *mistake; /* the first, without the file's name; owned */
};

/* Opens a file; one whose name ends in ".json" is JSON. False and a mistake if it is no trace. */
bool et_open(struct et_file *file, const char *path);
/* Fills in the next node. False at the end, and if there is a mistake. */
bool et_next(struct et_file *file, struct et_node *node);
void et_close(struct et_file *file); /* leaves `mistake` */

/* Notes the first mistake. */
void et_complain(struct et_file *file, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void et_need(struct et_node *node, uint64_t id, bool data);
/* Clears a node but for the room of its needs. */
void et_clear(struct et_node *node);

/* chakra_wire.c and chakra_json.c. */
bool et_wire_open(struct et_file *file, const char *path);
bool et_wire_next(struct et_file *file, struct et_node *node);
bool et_json_open(struct et_file *file, const char *path);
bool et_json_next(struct et_file *file, struct et_node *node);

#endif
