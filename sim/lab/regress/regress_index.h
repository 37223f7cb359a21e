/* Which scenarios a folder of references covers: DIR/regress.json, written by
 * hand. All scenarios in its `folders` are covered without being named, under
 * their path with '-' for '/' ("switchml-two-racks"); `scenarios` adds others,
 * and the same ones with other seeds or values. */
#ifndef INASIM_LAB_REGRESS_REGRESS_INDEX_H
#define INASIM_LAB_REGRESS_REGRESS_INDEX_H

#include "conf/conf.h"

#define REGRESS_INDEX "regress.json"

/* Numbers of the summary whose path matches `field` (* and ? as in the shell)
 * may differ by `absolute`, or by `relative` of the larger one. */
struct regress_tolerance {
	const char *field;
	double relative, absolute;
};

/* The document of the index owns what it points to. */
struct regress_entry {
	const char *name;                /* of the reference: DIR/NAME.json, DIR/NAME.events */
	const char *path;                /* of the scenario */
	struct conf_override *overrides; /* its `set` and `seed` */
	size_t override_count;
	struct conf_list tolerances; /* of struct regress_tolerance; go before the common ones */
};

struct regress_index {
	struct conf_doc *doc;
	struct conf_list tolerances; /* the common ones */
	struct regress_entry *entries;
	size_t count, capacity;
};

/* Never NULL; look at conf_errors(index->doc). The caller frees. */
struct regress_index *regress_index_load(const char *dir);
void regress_index_free(struct regress_index *index);

/* SIZE_MAX when there is none of this name. */
size_t regress_index_find(const struct regress_index *index, const char *name);

#endif
