/* Shared by plan*.c only; all others use plan.h. */
#ifndef INASIM_LAB_SWEEP_PLAN_PARTS_H
#define INASIM_LAB_SWEEP_PLAN_PARTS_H

#include "lab/sweep/plan.h"

/* --- what the user writes, filled in by the rows in plan_conf.c --- */

/* Ends and steps are JSON: a number, or a quantity with its unit as a string. */
struct range_conf {
	const char *from, *to, *step;
};

struct log_conf {
	const char *from, *to;
	int64_t points; /* number of values; 0 if not given */
	double factor;  /* from one value to the next; 0 if not given */
};

/* Values, and where they go in the scenario: one pointer, or several that get the same value. A zip
 * has several strands; values, range and log have one. */
struct strand_conf {
	const char *pointer;
	struct conf_list pointers; /* of const char * */
	struct conf_list values;   /* of const char *, JSON */
	bool has_pointer, has_pointers, has_values;
};

struct axis_conf {
	const char *name;
	struct strand_conf strand;
	struct range_conf range;
	struct log_conf log;
	struct conf_list zip;  /* of struct strand_conf */
	struct conf_map cases; /* of struct conf_map of const char *, JSON */
	struct conf_map only;  /* of const char *, JSON: values of other axes */
	bool has_name, has_range, has_log, has_zip, has_cases;
};

struct plan_conf {
	const char *name, *about, *base;
	struct conf_map set;            /* of const char *, JSON */
	struct conf_list axes;          /* of struct axis_conf */
	struct conf_map perturb;        /* of struct conf_map of const char *, JSON */
	struct conf_list exclude, only; /* of struct conf_map of const char *, JSON */
	int64_t replications, seed, max_points;
	bool common_random_numbers;
	struct precision_conf {
		const char *of;
		double within;
		int64_t least;
		const char *by, *baseline; /* NULL if not given */
		sim_time cpu;
	} precision;
	bool has_precision;
	struct point_limits limits;
};

/* --- plan.c --- */

struct plan_level *plan_add_level(struct plan_axis *axis, const char *label, const char *place);
void plan_add_setting(struct plan_level *level, struct plan_setting setting);

/* A setting, and the level that makes it. */
struct plan_use {
	const struct plan_setting *setting;
	const struct plan_axis *axis; /* NULL if "set" makes the setting */
	size_t level;                 /* index into the levels of the axis; 0 without axis */
};

/* Lists all settings, those of "set" first; returns how many. The caller frees *uses. */
size_t plan_uses(const struct plan *plan, struct plan_use **uses);

/* Returns a JSON value as sweep.csv shows it: a string without its quotes. */
const char *plan_label(struct plan *plan, const char *json);

/* "/axes/0/range" + "step" = "/axes/0/range/step"; lives as long as the plan. */
const char *plan_place(struct plan *plan, const char *parent, const char *step);

/* --- plan_values.c: the values that a range or a log stands for --- */

struct value_list {
	const char *unmet; /* the end that a log with a factor does not meet, as written; or NULL */
	const char **labels; /* the values, as cells of sweep.csv; NULL if too many */
	bool quoted;         /* the values are quantities, which are strings in JSON */
	uint64_t count;
};

/* `place` is the pointer of the range or log in the plan. After a mistake, which is reported, the
 * count is 0. If there are more than `max` values, the count is `max` + 1 and labels are NULL. */
struct value_list range_values(struct plan *plan, const struct range_conf *conf, const char *place,
			       uint64_t max);
struct value_list log_values(struct plan *plan, const struct log_conf *conf, const char *place,
			     uint64_t max);

/* --- plan_axes.c: conf -> axes with levels; reports mistakes --- */
void plan_make_axes(struct plan *plan, const struct plan_conf *conf, const char *const *taken);

/* --- plan_expand.c: axes -> points; reports mistakes --- */

/* Index of an axis by name, of a level by label. SIZE_MAX, reported at `place`, if there is none.
 */
size_t plan_find_axis(struct plan *plan, const char *name, const char *place);
size_t plan_find_level(struct plan *plan, const struct plan_axis *axis, const char *label,
		       const char *place);
void plan_expand(struct plan *plan, const struct plan_conf *conf);

#endif
