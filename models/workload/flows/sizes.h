/* How large the flows of a group are: all alike, or drawn from a table. With several tables ("mix")
 * each flow first draws its table by weight.
 *
 * A mixture with fractions p_i has the distribution sum p_i F_i, so its mean is sum p_i mean_i.
 * With several tables each draw takes two random numbers: one for the table, one for the size. So
 * the number that decides a size stays the same when weights change. */
#ifndef INASIM_WORKLOAD_FLOWS_SIZES_H
#define INASIM_WORKLOAD_FLOWS_SIZES_H

#include "workload/flows/flows.h"
#include "workload/flows/size_cdf.h"
#include "workload/weights.h"

struct sizes {
	bytes fixed;            /* size of all flows, without tables */
	double scale;           /* of all sizes */
	struct size_cdf **cdfs; /* owned */
	size_t count;           /* of tables */
	struct weights weights; /* by table */
};

/* How many tables a group names; 0 if all its flows have one size. */
size_t size_conf_tables(const struct size_conf *conf);
/* The name of table `i`. */
const char *size_conf_table(const struct size_conf *conf, size_t i);

/* Loads all tables, from beside the scenario or from traces/; the document owns them. If one is
 * wrong, adds an error and returns NULL. `pointer`: that of the group. */
const struct sizes *sizes_load(const struct size_conf *conf, struct conf_doc *doc,
			       const char *pointer);

/* sizes_scaled(): `size` times the scale, at least 1 byte. sizes_draw(): a size drawn from the
 * tables, or the fixed one, scaled. sizes_mean(): the mean of sizes_draw(). */
bytes sizes_scaled(const struct sizes *sizes, bytes size);
bytes sizes_draw(const struct sizes *sizes, struct rng *rng);
double sizes_mean(const struct sizes *sizes); /* bytes; of tables, before rounding */

#endif
