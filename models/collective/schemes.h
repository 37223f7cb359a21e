/* The list of all schemes. A new one has a folder in models/ina/, or a file, and one line here. */
#ifndef INASIM_COLLECTIVE_SCHEMES_H
#define INASIM_COLLECTIVE_SCHEMES_H

#include "collective/collective.h"

/* A test may compile schemes.c with one more scheme (tests/model/test_example.c). */
#ifndef SCHEMES_MORE
#define SCHEMES_MORE(X)
#endif

/* Schemes that do all-reduces, the only ones that "all_reduce" of a job may name. */
#define ALL_REDUCES(X)                                                                             \
	X(ring)                                                                                    \
	X(halving_doubling)                                                                        \
	X(double_tree)                                                                             \
	X(ps)                                                                                      \
	X(ps_stream)                                                                               \
	X(switchml)                                                                                \
	X(atp)                                                                                     \
	X(esa)                                                                                     \
	X(panama)                                                                                  \
	X(switchml_star)                                                                           \
	X(netreduce)                                                                               \
	X(nvls)                                                                                    \
	X(sharp)                                                                                   \
	SCHEMES_MORE(X)

/* All schemes: behind these, those that only do a reduce-scatter or an all-gather. */
#define SCHEMES(X) ALL_REDUCES(X) X(shards) X(multicast)

#define SCHEME_INDEX(name) SCHEME_##name,
enum scheme_index { SCHEMES(SCHEME_INDEX) SCHEME_COUNT };
#undef SCHEME_INDEX

/* Size of arrays by enum scheme_index; elements behind the last scheme are unused. Loops end where
 * scheme_ops() is NULL, so that other files need not know SCHEMES_MORE. */
#define SCHEMES_MAX 16
static_assert(SCHEME_COUNT <= SCHEMES_MAX, "more schemes than places");

/* NULL behind the last. A table that lacks a required member is a bug and stops the program here,
 * not in the middle of a run. */
const struct collective_ops *scheme_ops(unsigned index);

/* The same, but also NULL for schemes that do no all-reduce, which stand behind all others. */
const struct collective_ops *all_reduce_ops(unsigned index);

/* What starts the jobs of a scheme in a run: the scheme itself or, in the fluid fidelity, a
 * stand-in (fluid/collective.h). */
struct scheme_run {
	const struct collective_ops *ops; /* NULL = no job uses it */
	void *self;                       /* what ops->start() takes; not owned */
};

extern const char *const scheme_names[], *const all_reduce_names[]; /* for ENUM rows, same order */
extern const struct conf_table schemes_table; /* fills an array of pointers to parameters */

#endif
