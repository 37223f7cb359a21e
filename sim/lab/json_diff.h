/* Finds what differs between two JSON values, by JSON pointer (RFC 6901). */
#ifndef INASIM_LAB_JSON_DIFF_H
#define INASIM_LAB_JSON_DIFF_H

#include <cjson/cJSON.h>
#include <stddef.h>

struct json_difference {
	char *pointer;      /* "/jobs/0/workers" */
	const cJSON *a, *b; /* the two values, not owned; NULL: absent */
};

/* A struct of zeros is empty. */
struct json_diff {
	struct json_difference *items;
	size_t count, capacity;
	const char *by_position; /* key of objects whose members are matched by position, not by
				  * name; NULL: there are none */
};

/* Adds the differences below `pointer`; NULL stands for an absent value. Compares containers of one
 * type member by member, and numbers to the last bit. */
void json_diff_add(struct json_diff *diff, const char *pointer, const cJSON *a, const cJSON *b);
void json_diff_release(struct json_diff *diff);

/* The value on one line, cut short if it is long; `absent` for NULL. The caller frees. */
char *json_diff_text(const cJSON *value, const char *absent);

#endif
