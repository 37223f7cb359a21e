/* What iterations were spent on, out of why.csv and why-links.csv of a run: models/why/why.h has
 * the rule. Times are seconds. */
#ifndef INASIM_LAB_BREAKDOWN_H
#define INASIM_LAB_BREAKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BREAKDOWN_CAUSES 20

/* Causes in the order of why.csv: `name` as its columns have it, without "_s". */
struct breakdown_cause {
	const char *name, *words;
	size_t colour, fill; /* from 1, of scripts/gnuplot/style.gp: alike in all figures */
};
extern const struct breakdown_cause breakdown_causes[BREAKDOWN_CAUSES];

/* Of the workers, links or jobs that rows of an iteration name, the one with most of the time: how
 * often it is named, and for how long. */
struct breakdown_named {
	char *text; /* owned; NULL = none is named */
	uint64_t times;
	double time;
};

/* What a busy link carried in an iteration for one owner. */
struct breakdown_share {
	char *link, *owner; /* owned */
	double utilization; /* of the link, by all owners */
	uint64_t bytes;
};

struct breakdown_iteration {
	uint64_t job, number, workers;
	size_t before;                       /* for breakdown_read() alone, ... */
	struct breakdown_names *open;        /* ... which leaves it NULL */
	char *name, *scheme;                 /* of the job; owned */
	double cause[BREAKDOWN_CAUSES], sum; /* over all workers */
	double longest;                      /* duration of any worker */
	uint64_t worst, host;                /* the worker that took it, and its host */
	struct breakdown_named last, link, pushed;
	size_t first_share, share_count; /* busiest link first; of a link, largest share first */
};

struct breakdown {
	struct breakdown_iteration *iterations; /* by job, then number */
	size_t count, capacity;
	struct breakdown_share *shares;
	size_t share_count, share_capacity;
	size_t *newest; /* for breakdown_read() alone */
	size_t jobs, job_capacity;
	double cause[BREAKDOWN_CAUSES], workers; /* over all jobs */
};

/* Reads DIR/why.csv and, if it exists, DIR/why-links.csv. False without *error if there is no
 * why.csv, with *error (caller frees) if a file cannot be read. Release it in any case. */
bool breakdown_read(struct breakdown *b, const char *dir, char **error);
void breakdown_release(struct breakdown *b);

/* The index behind the last iteration of the same job. */
size_t breakdown_job_end(const struct breakdown *b, size_t first);

#endif
