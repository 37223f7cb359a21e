/* A sweep plan: a base scenario, axes over it, and the numbered points that they make.
 * sim/cli/README.md has an example; the schema comes from plan_table.
 *
 * A point is a list of values to put into the base scenario. Their meaning is up to the model, a
 * function of the caller (plan_model). To read and expand a plan touches no scenario, so one point
 * of thousands can run without the others; only plan_check() looks at all of them.
 *
 * The plan's document collects mistakes, each at its place in the plan, and warnings of values that
 * an axis seems to have but no point gets. */
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
	const char *place;   /* where the plan has the value: a pointer into the plan */
	const char *origin;  /* where the plan has `pointer`, which many values may share */
};

/* A level is one value of an axis: the text in sweep.csv, and what it sets in the scenario. */
struct plan_level {
	const char *label;
	const char *place; /* pointer into the plan */
	struct plan_setting *settings;
	size_t count, capacity;
};

struct plan_axis {
	const char *name;
	const char *place; /* pointer into the plan */
	bool limited;      /* by "only": levels[count] then is that of points to which the axis does
			    * not apply, with "" as its label and without settings */
	struct plan_level *levels;
	size_t count, capacity;
};

struct plan_point {
	const size_t *levels; /* by axis: index into its levels; its count if it does not apply */
	uint64_t replication;
	uint64_t seed; /* of the scenario; 0 if own_seeds: point_facts has it */
};

struct plan {
	struct conf_doc *doc;    /* owns texts, axes and points */
	const char *name, *base; /* base: path of the scenario, from the working directory */
	struct plan_level set;   /* settings of all points; they apply before those of the axes */
	struct plan_axis *axes;
	size_t axis_count;
	struct plan_point *points; /* the index is the point's number; none after a mistake */
	size_t point_count;
	uint64_t replications; /* of each combination, at most; their points are neighbours */
	/* Settings that perturb a scenario: replication r has level r % count, whatever its
	 * combination, so that perturbations are paired. No level: none. */
	struct plan_axis perturb;
	struct plan_precision {  /* when replications are enough (precision.h) */
		const char *of;  /* metric; NULL: all replications are wanted */
		double within;   /* enough when (wider half of its interval) / mean <= within, or
				  * the margin of verdicts */
		size_t least;    /* replications to begin with */
		size_t by;       /* axis whose values are compared; SIZE_MAX: none is */
		size_t baseline; /* the level that the others are compared with */
		sim_time cpu;    /* no more replications when so much CPU time is spent; 0: any */
	} precision;
	bool own_seeds; /* true: an axis or "set" sets /seed; false: the plan gives the seeds */
	struct point_limits limits;
};

/* For `inasim schema --plan`. */
extern const struct conf_table plan_table;

/* Reads and expands a plan. Never NULL; conf_errors(plan->doc) tells whether it has mistakes. No
 * axis may have the name of a column of a sweep's tables, or a name in `taken`, which ends with
 * NULL. */
struct plan *plan_load(const char *path, const char *const *taken);

/* For tests: reads a plan from memory; messages call it `name`. */
struct plan *plan_parse(const char *name, const char *text, size_t length,
			const char *const *taken);
void plan_free(struct plan *plan);

/* Returns the values of a point, in the order in which they go into the scenario. Unless `settings`
 * is NULL, *settings becomes an array with the setting of each value (NULL for the seed, which has
 * none). The caller frees both arrays. */
struct conf_override *plan_overrides(const struct plan *plan, size_t number, size_t *count,
				     const struct plan_setting ***settings);

/* "scheme=ring load=0.2", for messages; the plan's document owns it. */
const char *plan_point_words(const struct plan *plan, size_t number);

/* The perturbation of a point; NULL if the plan has none. */
const struct plan_level *plan_perturbation(const struct plan *plan, size_t number);

struct json; /* data/json.h */

/* Adds the member "axes" of sweep.json: names, and values as in sweep.csv. */
void plan_axes_json(const struct plan *plan, struct json *json);

/* What the caller knows about a point's scenario. */
struct point_facts {
	uint64_t hash; /* of all that decides the result */
	uint64_t seed;
	double cost;   /* expected packet-hops */
	bool at_least; /* the cost is a lower bound: it may be many times higher */
	double jobs;   /* number of jobs, or its mean if random */
	uint64_t hosts;
	bool streams; /* fluid or analytic, no packets: cost only orders points */
	bool draws;   /* something in the scenario is random: replications differ */
};

/* The model, a function of the caller: loads and checks the base scenario with these values, and
 * fills in the facts if there are no errors. The plan frees the returned document. */
typedef struct conf_doc *plan_model(const char *base, const struct conf_override *overrides,
				    size_t count, struct point_facts *facts);

/* Adds what is wrong with the scenario of one point to the plan's errors. */
void plan_check_point(struct plan *plan, size_t number, plan_model *model);

/* Checks the base scenario, every point, and that no two points are the same; fills in `facts`, by
 * number of the point. Reports a mistake once for each value of an axis that makes it or,
 * if all values do, once for the axis. Without mistakes it does so with the scenarios' warnings. */
void plan_check(struct plan *plan, plan_model *model, struct point_facts *facts);

/* Returns how many points have each level of an axis, and behind them how many have none (caller
 * frees). */
size_t *plan_level_points(const struct plan *plan, size_t axis);

#endif
