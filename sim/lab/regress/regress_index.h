/* DIR/regress.json, written by hand, says which scenarios a folder of references covers. Its
 * `folders` cover all scenarios in and below them; the name of such a reference is the scenario's
 * path in the folder with '-' for '/' ("switchml-two-racks"). Its `scenarios` add others, or
 * variants with other seeds or values, and give each a name. */
#ifndef INASIM_LAB_REGRESS_REGRESS_INDEX_H
#define INASIM_LAB_REGRESS_REGRESS_INDEX_H

#include "conf/conf.h"

#define REGRESS_INDEX "regress.json"

/* Numbers of the summary whose path matches `field` (* and ? as in the shell) may differ by
 * `absolute`, or by `relative` times the larger of the two. */
struct regress_tolerance {
	const char *field;
	double relative, absolute;
};

/* A covered scenario. The index's document owns what the members point to. */
struct regress_entry {
	const char *name;                /* of the reference: DIR/NAME.json, DIR/NAME.events */
	const char *path;                /* of the scenario */
	struct conf_override *overrides; /* from `set` and `seed` */
	size_t override_count;
	struct conf_list tolerances; /* of struct regress_tolerance; tried before the common ones */
};

struct regress_index {
	struct conf_doc *doc;
	struct conf_list tolerances; /* the common ones */
	struct regress_entry *entries;
	size_t count, capacity;
};

/* Never NULL; conf_errors(index->doc) tells whether it has mistakes. The caller frees. */
struct regress_index *regress_index_load(const char *dir);
void regress_index_free(struct regress_index *index);

/* Index of the entry with this name, or SIZE_MAX. */
size_t regress_index_find(const struct regress_index *index, const char *name);

#endif
