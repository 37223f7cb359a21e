/* A sweep plan: one base scenario, axes over it, and the numbered points that
 * they make. The format is in README.md; the schema comes from plan_table.
 *
 * The plan knows no model. A point is a list of values that are put into the
 * base scenario; what that means is asked of the caller (struct plan_model).
 * Reading and expanding touches no scenario, so that one point of thousands can
 * be run without looking at the others; plan_check() looks at all of them.
 *
 * Mistakes are collected in the plan's document, each at its place in the plan. */
#ifndef INASIM_LAB_SWEEP_PLAN_H
#define INASIM_LAB_SWEEP_PLAN_H

#include "base/types.h"
#include "conf/conf.h"

#include <stdbool.h>
#include <stddef.h>

/* One value that is put into the base scenario. */
struct plan_setting {
	const char *pointer; /* into the scenario */
	const char *value;   /* JSON text */
	const char *place;   /* of the value, as pointer into the plan */
	const char
		*origin; /* of its pointer, where one pointer serves many values; else as place */
};

/* A value of an axis: what its cell in sweep.csv says, and what it sets. */
struct plan_level {
	const char *label;
	const char *place; /* pointer into the plan */
	struct plan_setting *settings;
	size_t count, capacity;
};

struct plan_axis {
	const char *name;
	const char *place;
	struct plan_level *levels;
	size_t count, capacity;
};

struct plan_point {
	const size_t *levels; /* by axis */
	uint64_t replication;
	uint64_t seed; /* that is put into the scenario; 0 with own_seeds: the facts know */
};

struct plan {
	struct conf_doc *doc;
	const char *name, *base;  /* base: path of the scenario, from the working directory */
	struct plan_setting *set; /* for all points, before the axes' */
	size_t set_count, set_capacity;
	struct plan_axis *axes;
	size_t axis_count, axis_capacity;
	struct plan_point *points; /* none after a mistake; their index is their number */
	size_t point_count;
	uint64_t replications;
	bool own_seeds;      /* an axis or "set" decides about /seed, not the replication */
	sim_time time_limit; /* wall time of a point; 0 = none */
	bytes memory_limit;  /* 0 = none */
	size_t *level_of;    /* what the points' levels point into */
	char **texts;        /* everything above that is not the document's */
	size_t text_count, text_capacity;
};

/* For `inasim schema --plan`. */
extern const struct conf_table plan_table;

/* Reads and expands; never NULL. Look at conf_errors(plan->doc). `taken` (ends
 * with NULL) are column names that no axis may have, besides those of sweep.csv. */
struct plan *plan_load(const char *path, const char *const *taken);

/* For tests: from memory; `name` is that of the file. */
struct plan *plan_parse(const char *name, const char *text, size_t length,
			const char *const *taken);
void plan_free(struct plan *plan);

/* The values of a point, in the order in which they are put into the scenario;
 * the caller frees the array. With `settings` also where each comes from (an
 * entry is NULL for the seed); the caller frees that, too. */
struct conf_override *plan_overrides(const struct plan *plan, size_t number, size_t *count,
				     const struct plan_setting ***settings);

/* "scheme=ring load=0.2", for messages; the caller frees. */
char *plan_point_words(const struct plan *plan, size_t number);

struct json; /* io/json.h */

/* Adds the member "axes" of sweep.json: names, and values as in sweep.csv. */
void plan_axes_json(const struct plan *plan, struct json *json);

/* What the caller says about a point's scenario. */
struct point_facts {
	uint64_t hash; /* of all that decides the result */
	uint64_t seed;
	double cost; /* any measure of the work in it: packet-hops */
	double jobs;
	uint64_t hosts;
	bool streams; /* no packets, so cost only puts points in order */
	bool draws;   /* something in it is drawn: replications differ */
};

struct plan_model {
	/* Loads and checks the base scenario with these values; fills in the facts
	 * when it has no errors. The caller frees the document. */
	struct conf_doc *(*load)(void *owner, const char *base,
				 const struct conf_override *overrides, size_t count,
				 struct point_facts *facts);
	void *owner;
};

/* Is the scenario of one point valid? Adds to the plan's errors what is wrong. */
bool plan_check_point(struct plan *plan, size_t number, const struct plan_model *model,
		      struct point_facts *facts);

/* The base scenario, every point, and that no two points are the same; `facts`
 * by number. A mistake is told once for each value of an axis that makes it. */
bool plan_check(struct plan *plan, const struct plan_model *model, struct point_facts *facts);

#endif
