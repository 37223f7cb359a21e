/* What differs between two JSON values, by JSON pointer (RFC 6901). */
#ifndef INASIM_LAB_COMPARE_JSON_DIFF_H
#define INASIM_LAB_COMPARE_JSON_DIFF_H

#include <cjson/cJSON.h>
#include <stddef.h>

struct json_difference {
	char *pointer; /* "/jobs/0/workers" */
	char *a, *b;   /* the values on one line, long ones cut short; "nothing" if absent */
};

struct json_diff {
	struct json_difference *items;
	size_t count, capacity;
};

/* Adds the differences below `pointer`; NULL stands for a value that is absent.
 * Containers are entered where both sides have one of the same type. */
void json_diff_add(struct json_diff *diff, const char *pointer, const cJSON *a, const cJSON *b);
void json_diff_release(struct json_diff *diff);

#endif
