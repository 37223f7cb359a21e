#include "collective/schemes.h"

#include <string.h>

#define DECLARE(name) extern const struct collective_ops name##_collective;
SCHEMES(DECLARE)
#undef DECLARE

#define DECLARE(name) extern const struct conf_table name##_table;
SCHEMES(DECLARE)
#undef DECLARE

#define ENTRY(name) &name##_collective,
static const struct collective_ops *const schemes[] = { SCHEMES(ENTRY) NULL };
#undef ENTRY

#define NAME(name) #name,
const char *const scheme_names[] = { SCHEMES(NAME) NULL };
const char *const all_reduce_names[] = { ALL_REDUCES(NAME) NULL };
#undef NAME

#define ROW(name) CONF_APART(#name, SCHEME_##name, &name##_table),
static const struct conf_row rows[] = { SCHEMES(ROW){ 0 } };
#undef ROW
const struct conf_table schemes_table = { "schemes", rows, SCHEME_COUNT * sizeof(void *), NULL };

const struct collective_ops *scheme_ops(unsigned index)
{
	const struct collective_ops *ops = index < SCHEME_COUNT ? schemes[index] : NULL;

	SIM_BUG_ON(ops && (!ops->name || !ops->help || !ops->table || !ops->open || !ops->close ||
			   !ops->start || !ops->contribute || !ops->finish || !ops->stats ||
			   !ops->report_waiting || !ops->plan != !ops->withdraw));
	return ops;
}

const struct collective_ops *scheme_running(unsigned index, const void *conf,
					    const struct topology_conf *topology, bytes gradients)
{
	const struct collective_ops *ops = scheme_ops(index);
	const char *other = ops->runs_as ? ops->runs_as(conf, topology, gradients).scheme : NULL;

	for (unsigned i = 0; other && i < SCHEME_COUNT; i++)
		if (!strcmp(scheme_names[i], other))
			return scheme_ops(i);
	return ops;
}

enum { ALL_REDUCE_COUNT = ALL_REDUCES(SCHEME_ONE) };

const struct collective_ops *all_reduce_ops(unsigned index)
{
	return index < ALL_REDUCE_COUNT ? scheme_ops(index) : NULL;
}
