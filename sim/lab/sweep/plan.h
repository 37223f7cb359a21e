/* A sweep plan: a base scenario, axes over it, and the numbered points that they make. README.md
 * has the format; the schema comes from plan_table.
 *
 * The plan knows no model. A point is a list of values to put into the base scenario; the caller
 * says what they mean (plan_model). Reading and expanding a plan touches no scenario, so one
 * point of thousands can run without a look at the others; plan_check() looks at all of them.
 *
 * The plan's document collects mistakes, each at its place in the plan. */
#ifndef INASIM_LAB_SWEEP_PLAN_H
#define INASIM_LAB_SWEEP_PLAN_H

#include "conf/conf.h"
#include "lab/sweep/record.h"

#include <stdbool.h>
#include <stddef.h>

/* One value to put into the base scenario. */
struct plan_setting {
	const char *pointer; /* into the scenario */
	const char *value;   /* JSON text */
	const char *place;   /* where the value stands in the plan: a pointer into it */
	const char *origin;  /* where `pointer` stands there; many values may share it */
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
	uint64_t seed; /* goes into the scenario; with own_seeds 0, and the facts have the seed */
};

struct plan {
	struct conf_doc *doc;    /* owns texts, axes and points */
	const char *name, *base; /* base: path of the scenario, from the working directory */
	struct plan_level set;   /* settings of all points; those of the axes come after them */
	struct plan_axis *axes;
	size_t axis_count;
	struct plan_point *points; /* none after a mistake; their index is their number */
	size_t point_count;
	uint64_t replications;  /* at most, of each combination; their points stand in a row */
	struct plan_precision { /* when no further replications are wanted (precision.h) */
		const char *of; /* metric; NULL = all replications are wanted */
		double within;  /* half the interval over the mean */
		size_t least;   /* replications */
	} precision;
	bool own_seeds; /* an axis or "set" decides about /seed, not the replication */
	struct point_limits limits;
};

/* For `inasim schema --plan`. */
extern const struct conf_table plan_table;

/* Reads and expands a plan; never NULL. Look at conf_errors(plan->doc). No axis may have the name
 * of a column of a sweep's tables, or one of `taken` (ends with NULL). */
struct plan *plan_load(const char *path, const char *const *taken);

/* For tests: from memory; `name` is that of the file. */
struct plan *plan_parse(const char *name, const char *text, size_t length,
			const char *const *taken);
void plan_free(struct plan *plan);

/* The values of a point, in the order in which they go into the scenario, and, with `settings`,
 * where each comes from (NULL: the seed). The caller frees both arrays. */
struct conf_override *plan_overrides(const struct plan *plan, size_t number, size_t *count,
				     const struct plan_setting ***settings);

/* "scheme=ring load=0.2", for messages; the plan's document owns it. */
const char *plan_point_words(const struct plan *plan, size_t number);

struct json; /* data/json.h */

/* Adds the member "axes" of sweep.json: names, and values as in sweep.csv. */
void plan_axes_json(const struct plan *plan, struct json *json);

/* What the caller knows about a point's scenario. */
struct point_facts {
	uint64_t hash; /* of all that decides the result */
	uint64_t seed;
	double cost;   /* work, in any measure: packet-hops */
	bool at_least; /* the cost may be many times more */
	double jobs;
	uint64_t hosts;
	bool streams; /* it has no packets: cost serves only to order points */
	bool draws;   /* something in it is random: replications differ */
};

/* The model: loads and checks the base scenario with these values, and fills in the facts if it has
 * no errors. The caller frees the document. */
typedef struct conf_doc *plan_model(const char *base, const struct conf_override *overrides,
				    size_t count, struct point_facts *facts);

/* Adds what is wrong with the scenario of one point to the plan's errors. */
void plan_check_point(struct plan *plan, size_t number, plan_model *model);

/* Checks the base scenario, every point, and that no two points are the same. `facts` are by
 * number. Reports a mistake once for each value of an axis that makes it. */
void plan_check(struct plan *plan, plan_model *model, struct point_facts *facts);

#endif
