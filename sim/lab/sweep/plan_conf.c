/* What a user may write in a plan. */
#include "lab/sweep/plan_parts.h"

#define MOST_POINTS 1000000

#define FIELD(type, field) .offset = offsetof(struct type, field)
#define GIVEN(type, field) .present = 1 + offsetof(struct type, field)

/* --- values of an axis --- */

static const struct conf_row range_rows[] = {
	{ .name = "from", .type = CONF_JSON, FIELD(range_conf, from), .help = "First value." },
	{ .name = "to", .type = CONF_JSON, FIELD(range_conf, to), .help = "No value is larger." },
	{ .name = "step",
	  .type = CONF_JSON,
	  FIELD(range_conf, step),
	  .help = "From one value to the next." },
	{ 0 },
};
static const struct conf_table range_table = { "range", range_rows, sizeof(struct range_conf),
					       "Values in equal steps." };

static const struct conf_row log_rows[] = {
	{ .name = "from",
	  .type = CONF_JSON,
	  FIELD(log_conf, from),
	  .help = "First value, above 0." },
	{ .name = "to",
	  .type = CONF_JSON,
	  FIELD(log_conf, to),
	  .help = "Last value; with a factor no value is larger." },
	{ .name = "points",
	  .type = CONF_INT,
	  FIELD(log_conf, points),
	  .imin = 2,
	  .imax = MOST_POINTS,
	  .def = CONF_OPTIONAL,
	  .help = "Number of values, both ends included." },
	{ .name = "factor",
	  .type = CONF_REAL,
	  FIELD(log_conf, factor),
	  .rmin = 1.001,
	  .rmax = 1e9,
	  .def = CONF_OPTIONAL,
	  .help = "From one value to the next." },
	{ 0 },
};
static const struct conf_table log_table = { "log", log_rows, sizeof(struct log_conf),
					     "Values in equal ratios." };

static const struct conf_row pointer_item = { .type = CONF_STRING,
					      .help = "JSON pointer into the scenario." };
static const struct conf_row value_item = { .type = CONF_JSON, .help = "A value of the scenario." };

#define STRAND_ROWS(container, at)                                                                 \
	{ .name = "pointer",                                                                       \
	  .type = CONF_STRING,                                                                     \
	  FIELD(container, at pointer),                                                            \
	  GIVEN(container, at has_pointer),                                                        \
	  .def = CONF_OPTIONAL,                                                                    \
	  .help = "Where the values go: a JSON pointer into the scenario." },                      \
		{ .name = "pointers",                                                              \
		  .type = CONF_LIST,                                                               \
		  FIELD(container, at pointers),                                                   \
		  GIVEN(container, at has_pointers),                                               \
		  .item = &pointer_item,                                                           \
		  .min = 1,                                                                        \
		  .def = CONF_OPTIONAL,                                                            \
		  .help = "Several places that get the same value." },                             \
	{                                                                                          \
		.name = "values", .type = CONF_LIST, FIELD(container, at values),                  \
		GIVEN(container, at has_values), .item = &value_item, .min = 1,                    \
		.def = CONF_OPTIONAL, .help = "The values, one by one."                            \
	}

static const struct conf_row strand_rows[] = { STRAND_ROWS(strand_conf, ), { 0 } };
static const struct conf_table strand_table = { "strand", strand_rows, sizeof(struct strand_conf),
						"Values that change together with others." };
static const struct conf_row strand_item = { .type = CONF_OBJECT,
					     .table = &strand_table,
					     .help = "Values of one place." };

static const struct conf_row settings_item = {
	.type = CONF_MAP,
	.item = &value_item,
	.min = 1,
	.help = "Values by JSON pointer into the scenario."
};

static const struct conf_row axis_rows[] = {
	{ .name = "name",
	  .type = CONF_STRING,
	  FIELD(axis_conf, name),
	  GIVEN(axis_conf, has_name),
	  .def = CONF_OPTIONAL,
	  .help = "Column of the axis in sweep.csv; the last step of its pointer if left out." },
	STRAND_ROWS(axis_conf, strand.),
	{ .name = "range",
	  .type = CONF_OBJECT,
	  FIELD(axis_conf, range),
	  GIVEN(axis_conf, has_range),
	  .table = &range_table,
	  .def = CONF_OPTIONAL,
	  .help = "Values in equal steps." },
	{ .name = "log",
	  .type = CONF_OBJECT,
	  FIELD(axis_conf, log),
	  GIVEN(axis_conf, has_log),
	  .table = &log_table,
	  .def = CONF_OPTIONAL,
	  .help = "Values in equal ratios." },
	{ .name = "zip",
	  .type = CONF_LIST,
	  FIELD(axis_conf, zip),
	  GIVEN(axis_conf, has_zip),
	  .item = &strand_item,
	  .min = 1,
	  .def = CONF_OPTIONAL,
	  .help = "Several places whose values change together." },
	{ .name = "cases",
	  .type = CONF_MAP,
	  FIELD(axis_conf, cases),
	  GIVEN(axis_conf, has_cases),
	  .item = &settings_item,
	  .min = 1,
	  .def = CONF_OPTIONAL,
	  .help = "Sets of values by label." },
	{ 0 },
};
static const struct conf_table axis_table = { "axis", axis_rows, sizeof(struct axis_conf),
					      "What varies, and over which values." };
static const struct conf_row axis_item = { .type = CONF_OBJECT,
					   .table = &axis_table,
					   .help = "An axis." };

/* --- the plan --- */

static const struct conf_row constraint_item = {
	.type = CONF_MAP,
	.item = &value_item,
	.min = 1,
	.help = "A value, or a list of values, by name of axis; all must hold."
};

static const struct conf_row limits_rows[] = {
	{ .name = "time",
	  .type = CONF_TIME,
	  FIELD(plan_conf, limits.time),
	  .min = PS_PER_MS,
	  .def = CONF_OPTIONAL,
	  .help = "Wall time of a point." },
	{ .name = "memory",
	  .type = CONF_BYTES,
	  FIELD(plan_conf, limits.memory),
	  .min = 1000000,
	  .def = CONF_OPTIONAL,
	  .help = "Memory of a point." },
	{ 0 },
};
static const struct conf_table limits_table = { "limits", limits_rows, sizeof(struct plan_conf),
						"What a point may use." };

static const struct conf_row plan_rows[] = {
	{ .name = "name",
	  .type = CONF_STRING,
	  FIELD(plan_conf, name),
	  .def = CONF_REQUIRED,
	  .help = "Name of the sweep, also of its directory in results/." },
	{ .name = "about",
	  .type = CONF_STRING,
	  FIELD(plan_conf, about),
	  .def = "\"\"",
	  .help = "One sentence: the question.",
	  .source = "none" },
	{ .name = "base",
	  .type = CONF_STRING,
	  FIELD(plan_conf, base),
	  .def = CONF_REQUIRED,
	  .help = "The scenario that all points start from: a path relative to the plan." },
	{ .name = "set",
	  .type = CONF_MAP,
	  FIELD(plan_conf, set),
	  .item = &value_item,
	  .def = "{}",
	  .help = "Values that all points have, by JSON pointer into the scenario." },
	{ .name = "axes",
	  .type = CONF_LIST,
	  FIELD(plan_conf, axes),
	  .item = &axis_item,
	  .max = 16,
	  .def = "[]",
	  .help = "What varies; the first varies slowest." },
	{ .name = "exclude",
	  .type = CONF_LIST,
	  FIELD(plan_conf, exclude),
	  .item = &constraint_item,
	  .def = "[]",
	  .help = "Combinations that are left out." },
	{ .name = "only",
	  .type = CONF_LIST,
	  FIELD(plan_conf, only),
	  .item = &constraint_item,
	  .def = "[]",
	  .help = "If there are any: combinations that are not left out." },
	{ .name = "replications",
	  .type = CONF_INT,
	  FIELD(plan_conf, replications),
	  .imin = 1,
	  .imax = MOST_POINTS,
	  .def = "1",
	  .help = "Runs of each combination, with different seeds.",
	  .source = "our choice" },
	{ .name = "seed",
	  .type = CONF_INT,
	  FIELD(plan_conf, seed),
	  .imin = 0,
	  .imax = INT64_C(9007199254740991),
	  .def = "1",
	  .help = "The seeds of all points derive from it.",
	  .source = "our choice" },
	{ .name = "common_random_numbers",
	  .type = CONF_BOOL,
	  FIELD(plan_conf, common_random_numbers),
	  .def = "true",
	  .help = "A replication has the same seed in all combinations.",
	  .source = "Law, Simulation Modeling and Analysis, on variance reduction" },
	{ .name = "max_points",
	  .type = CONF_INT,
	  FIELD(plan_conf, max_points),
	  .imin = 1,
	  .imax = MOST_POINTS,
	  .def = "10000",
	  .help = "More points, counted before any is left out, are taken for a mistake.",
	  .source = "our choice" },
	{ .name = "limits",
	  .type = CONF_OBJECT,
	  .offset = 0,
	  .table = &limits_table,
	  .def = "{}",
	  .help = "What a point may use; it is ended when it wants more." },
	{ 0 },
};
static const struct conf_other_kind scenario = {
	"topology", "base",
	"this is a scenario, not a sweep plan (it has \"topology\" and no \"base\"); "
	"its verbs are inasim check, explain and run, and a plan names it as its \"base\""
};
const struct conf_table plan_table = { "plan", plan_rows, sizeof(struct plan_conf),
				       "A sweep over the values of a scenario.", &scenario };
