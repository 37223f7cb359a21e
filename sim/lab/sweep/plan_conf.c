/* What a user may write in a plan. */
#include "lab/sweep/plan_parts.h"

#include "conf/buf.h"
#include "data/inference.h"

#define POINTS_MAX 1000000

/* --- values of an axis --- */

static const struct conf_row range_rows[] = {
	CONF_JSON("from", struct range_conf, from, CONF_REQUIRED, "First value."),
	CONF_JSON("to", struct range_conf, to, CONF_REQUIRED,
		  "Upper bound; the last value may be below it."),
	CONF_JSON("step", struct range_conf, step, CONF_REQUIRED,
		  "Step from one value to the next."),
	{ 0 },
};
static const struct conf_table range_table = { "range", range_rows, sizeof(struct range_conf),
					       "Values in equal steps." };

static const struct conf_row log_rows[] = {
	CONF_JSON("from", struct log_conf, from, CONF_REQUIRED, "First value, above 0."),
	CONF_JSON("to", struct log_conf, to, CONF_REQUIRED,
		  "Last value; with a factor, an upper bound."),
	CONF_INT("points", struct log_conf, points, CONF_OPTIONAL, 2, POINTS_MAX,
		 "Number of values, both ends included."),
	CONF_REAL("factor", struct log_conf, factor, CONF_OPTIONAL, 1.001, 1e9,
		  "Ratio of a value to the one before it."),
	{ 0 },
};
static const struct conf_table log_table = { "log", log_rows, sizeof(struct log_conf),
					     "Values in equal ratios." };

static const struct conf_row pointer_item = { .type = CONF_STRING,
					      .help = "JSON pointer into the scenario." };
static const struct conf_row value_item = { .type = CONF_JSON, .help = "A value of the scenario." };

/* `at` is the path from struct s to its struct strand_conf: `strand.`; empty if s is one. */
#define STRAND_ROWS(s, at)                                                                         \
	CONF_STRING("pointer", struct s, at pointer, CONF_OPTIONAL,                                \
		    "Where the values go: a JSON pointer into the scenario.",                      \
		    .present = CONF_GIVEN(struct s, at has_pointer)),                              \
		CONF_LIST("pointers", struct s, at pointers, CONF_OPTIONAL, &pointer_item, 1, 0,   \
			  "Several places that get the same value.",                               \
			  .present = CONF_GIVEN(struct s, at has_pointers)),                       \
		CONF_LIST("values", struct s, at values, CONF_OPTIONAL, &value_item, 1, 0,         \
			  "The values, one by one.",                                               \
			  .present = CONF_GIVEN(struct s, at has_values))

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
	CONF_STRING("name", struct axis_conf, name, CONF_OPTIONAL,
		    "Column of the axis in sweep.csv; the last step of its pointer if left out.",
		    .present = CONF_GIVEN(struct axis_conf, has_name)),
	STRAND_ROWS(axis_conf, strand.),
	CONF_OBJECT("range", struct axis_conf, range, CONF_OPTIONAL, &range_table,
		    "Values in equal steps.", .present = CONF_GIVEN(struct axis_conf, has_range)),
	CONF_OBJECT("log", struct axis_conf, log, CONF_OPTIONAL, &log_table,
		    "Values in equal ratios.", .present = CONF_GIVEN(struct axis_conf, has_log)),
	CONF_LIST("zip", struct axis_conf, zip, CONF_OPTIONAL, &strand_item, 1, 0,
		  "Several places whose values change together.",
		  .present = CONF_GIVEN(struct axis_conf, has_zip)),
	CONF_MAP("cases", struct axis_conf, cases, CONF_OPTIONAL, &settings_item, 1, 0,
		 "Sets of values by label.", .present = CONF_GIVEN(struct axis_conf, has_cases)),
	CONF_MAP(
		"only", struct axis_conf, only, "{}", &value_item, 0, 0,
		"Values of other axes to which the axis applies: a value, or a list, for each axis "
		"named. Beside other values it sets nothing and makes one point, which stands for "
		"all its values."),
	{ 0 },
};
static const struct conf_table axis_table = { "axis", axis_rows, sizeof(struct axis_conf),
					      "What varies, and over which values." };
static const struct conf_row axis_item = { .type = CONF_OBJECT,
					   .table = &axis_table,
					   .help = "An axis." };

/* --- the plan --- */

static const struct conf_row precision_rows[] = {
	CONF_STRING("of", struct precision_conf, of, CONF_REQUIRED,
		    "The metric, as sweep.csv names it: jobs.jct_s.mean."),
	CONF_REAL("within", struct precision_conf, within, CONF_REQUIRED, 1e-6, 10,
		  "Largest half width of the 95 % interval of its mean, relative to the mean (the "
		  "wider half counts). With \"by\": times that differ by less are the same."),
	CONF_INT("least", struct precision_conf, least, "5", INFERENCE_MIN, POINTS_MAX,
		 "Replications before the interval is first checked.", "our choice"),
	CONF_STRING("by", struct precision_conf, by, CONF_OPTIONAL,
		    "An axis: replications go on until the comparison of each value with the "
		    "baseline has a verdict."),
	CONF_STRING(
		"baseline", struct precision_conf, baseline, CONF_OPTIONAL,
		"The value of that axis that the others are compared with. Default: the first."),
	CONF_TIME("cpu", struct precision_conf, cpu, CONF_OPTIONAL, PS_PER_MS, 0,
		  "Budget of CPU time of all points: no more replications are wanted when it is "
		  "spent. What is wanted then depends on the machine."),
	{ 0 },
};
static const struct conf_table precision_table = { "precision", precision_rows,
						   sizeof(struct precision_conf),
						   "When a combination has enough replications." };

static const struct conf_row perturbation_item = {
	.type = CONF_MAP,
	.item = &value_item,
	.help = "Values by JSON pointer into the scenario; none: as it is."
};

static const struct conf_row constraint_item = {
	.type = CONF_MAP,
	.item = &value_item,
	.min = 1,
	.help = "A value, or a list of values, for each axis named; all must match."
};

/* For a CONF_GROUP, whose rows fill in members of struct plan_conf itself. */
static const struct conf_row limits_rows[] = {
	CONF_TIME("time", struct plan_conf, limits.time, CONF_OPTIONAL, PS_PER_MS, 0,
		  "Limit on the CPU time of a point; its wall time may be ten times as long, and a "
		  "minute more."),
	CONF_BYTES("memory", struct plan_conf, limits.memory, CONF_OPTIONAL, 1000000, 0,
		   "Limit on the memory of a point."),
	{ 0 },
};
static const struct conf_table limits_table = { "limits", limits_rows, sizeof(struct plan_conf),
						"Limits of a point." };

static const struct conf_row plan_rows[] = {
	CONF_STRING("name", struct plan_conf, name, CONF_REQUIRED,
		    "Name of the sweep and of its directory in results/."),
	CONF_STRING("about", struct plan_conf, about, "", "One sentence: the question.", "none"),
	CONF_STRING("base", struct plan_conf, base, CONF_REQUIRED,
		    "The scenario that all points start from: a path relative to the plan."),
	CONF_MAP("set", struct plan_conf, set, "{}", &value_item, 0, 0,
		 "Values that all points have, by JSON pointer into the scenario."),
	CONF_LIST("axes", struct plan_conf, axes, "[]", &axis_item, 0, 16,
		  "What varies; the first varies slowest."),
	CONF_LIST("exclude", struct plan_conf, exclude, "[]", &constraint_item, 0, 0,
		  "Combinations that are left out."),
	CONF_LIST("only", struct plan_conf, only, "[]", &constraint_item, 0, 0,
		  "Combinations that are kept, if any are given; all others are left out."),
	CONF_INT("replications", struct plan_conf, replications, "1", 1, POINTS_MAX,
		 "Runs of each combination, with different seeds.", "our choice"),
	CONF_MAP("perturb", struct plan_conf, perturb, "{}", &perturbation_item, 0, 0,
		 "Sets of values by label that should not matter: jitter of NICs, spread of clocks "
		 "or starts. Replications take them in turn, the same in all combinations."),
	CONF_OBJECT("precision", struct plan_conf, precision, CONF_OPTIONAL, &precision_table,
		    "Stops replications of a combination once the interval of a metric is narrow "
		    "enough, or its comparison has a verdict.",
		    .present = CONF_GIVEN(struct plan_conf, has_precision)),
	CONF_INT("seed", struct plan_conf, seed, "1", 0, CONF_LARGEST_EXACT,
		 "Seed from which the seeds of all points derive.", "our choice"),
	CONF_BOOL("common_random_numbers", struct plan_conf, common_random_numbers, "true",
		  "Whether a replication has the same seed in all combinations.",
		  "Law, Simulation Modeling and Analysis, on variance reduction"),
	CONF_INT("max_points", struct plan_conf, max_points, "10000", 1, POINTS_MAX,
		 "Limit on the number of points before any is left out; more are rejected as a "
		 "mistake.",
		 "our choice"),
	CONF_GROUP("limits", "{}", &limits_table,
		   "Limits of a point; one that exceeds them is stopped."),
	{ 0 },
};
static const struct conf_other_kind scenario = {
	"topology", "base",
	"this is a scenario, not a sweep plan (it has \"topology\" and no \"base\"); "
	"its verbs are inasim check, explain and run, and a plan names it as its \"base\""
};
const struct conf_table plan_table = { "plan", plan_rows, sizeof(struct plan_conf),
				       "A sweep over the values of a scenario.", &scenario };
