#include "data/metrics.h"

#include <string.h>

#define JOB(member, name, some, words, head, help) { LEVEL_JOB, "jobs", name, name, some, words },
#define ITERATION(name, column, some, words, help)                                                 \
	{ LEVEL_ITERATION, "jobs", name, column, some, words },
#define FLOW(member, name, words, help) { LEVEL_FLOW, "flows", name, name, false, words },

const struct metric metric_table[] = { JOB_METRICS(JOB) ITERATION_METRICS(ITERATION)
					       FLOW_METRICS(FLOW){ 0 } };

const struct metric *metric_find(const char *of, const char *name, size_t length)
{
	for (const struct metric *m = metric_table; m->name != NULL; m++)
		if (strcmp(m->of, of) == 0 && strlen(m->name) == length &&
		    strncmp(m->name, name, length) == 0)
			return m;
	return NULL;
}
