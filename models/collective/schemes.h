/* The list of all schemes. A new scheme is a file or a folder in models/ina/, and a line here. */
#ifndef INASIM_COLLECTIVE_SCHEMES_H
#define INASIM_COLLECTIVE_SCHEMES_H

#include "collective/collective.h"

/* A test may compile schemes.c with one more scheme (tests/model/test_example.c). */
#ifndef SCHEMES_MORE
#define SCHEMES_MORE(X)
#endif

/* Schemes that do all-reduces: the values of a job's "all_reduce". */
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

/* All schemes. The last ones do only a reduce-scatter or an all-gather. */
#define SCHEMES(X) ALL_REDUCES(X) X(shards) X(multicast)

#define SCHEME_INDEX(name) SCHEME_##name,
enum scheme_index { SCHEMES(SCHEME_INDEX) SCHEME_COUNT };
#undef SCHEME_INDEX

#define SCHEME_ONE(name) +1

/* Size of arrays by enum scheme_index, with room for the one scheme that SCHEMES_MORE may add. Only
 * schemes.c knows that one, so the size is the same in all files, and loops end where scheme_ops()
 * is NULL. */
enum { SCHEMES_MAX = SCHEME_COUNT - (SCHEMES_MORE(SCHEME_ONE) + 0) + 1 };
static_assert(SCHEMES_MORE(SCHEME_ONE) + 0 <= 1, "SCHEMES_MORE names more than one scheme");

/* A scheme's functions; NULL after the last scheme. Stops the program if a required member is
 * missing, which is a bug. */
const struct collective_ops *scheme_ops(unsigned index);

/* scheme_ops() of an all-reduce; NULL after the last all-reduce. */
const struct collective_ops *all_reduce_ops(unsigned index);

/* scheme_ops() of what a job runs as whose workers have so many bytes of gradients (runs_as()):
 * another scheme, or this one. `conf`: parameters of this one. */
const struct collective_ops *scheme_running(unsigned index, const void *conf,
					    const struct topology_conf *topology, bytes gradients);

/* The functions that jobs call in a run: those of the scheme itself or, in the fluid model, a
 * replacement (fluid/collective.h). */
struct scheme_run {
	const struct collective_ops *ops; /* NULL: no job uses the scheme */
	void *self;                       /* what ops->start() takes; not owned */
};

extern const char *const scheme_names[], *const all_reduce_names[]; /* for ENUM rows, same order */
extern const struct conf_table schemes_table; /* fills an array of pointers to parameters */

#endif
