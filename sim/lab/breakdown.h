/* Reads what iterations were spent on from why.csv, why-groups.csv and why-links.csv of a
 * run. models/why/why.h has
 * the rule by which time is charged to causes. Times are in seconds. */
#ifndef INASIM_LAB_BREAKDOWN_H
#define INASIM_LAB_BREAKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BREAKDOWN_CAUSES 23

/* Causes, in the order of the columns of why.csv. */
struct breakdown_cause {
	const char *name;    /* of the column, without its "_s" */
	const char *words;   /* as reports and figures show it */
	size_t colour, fill; /* numbers in scripts/gnuplot/style.gp, from 1 */
};
extern const struct breakdown_cause breakdown_causes[BREAKDOWN_CAUSES];

/* Each row of why.csv (a worker in an iteration) may name the worker that was last, a link with
 * queues, and a job that took aggregators away. For each of these three, this is the name that cost
 * the iteration most time, over all its rows. */
struct breakdown_named {
	char *text;     /* owned; NULL if no row has a name */
	uint64_t times; /* rows with this name; of a last worker: results that waited for it */
	double time;
};

/* What a busy link carried for one owner in an iteration. */
struct breakdown_share {
	char *link, *owner; /* owned */
	double utilization; /* of the link, by all owners */
	uint64_t bytes;
};

/* What the workers of a job spent while they waited for a group's results, over all iterations. */
struct breakdown_group {
	uint64_t job;
	char *name; /* owned */
	double cause[BREAKDOWN_CAUSES], sum;
};

struct breakdown_iteration {
	uint64_t job, number;
	uint64_t workers;               /* how many have a row */
	char *name, *scheme;            /* of the job; owned */
	double cause[BREAKDOWN_CAUSES]; /* time by cause, over all workers */
	double sum;                     /* of the durations of all workers */
	double longest;                 /* the longest of these durations */
	uint64_t worst, host;           /* the worker that took longest, and its host */
	double begin, end;              /* of that worker's iteration */
	struct breakdown_named last, link, pushed;
	size_t first_share, share_count; /* busiest link first; of a link, largest share first */

	/* Used only inside breakdown_read(). */
	size_t before;                /* 1 + index of the job's previous iteration; 0: none */
	struct breakdown_names *open; /* NULL when no more rows are expected */
};

struct breakdown {
	struct breakdown_iteration *iterations; /* by job, then number */
	size_t count, capacity;
	struct breakdown_share *shares;
	size_t share_count, share_capacity;
	struct breakdown_group *groups; /* by job */
	size_t group_count, group_capacity;
	double cause[BREAKDOWN_CAUSES], workers; /* times and number of workers, over all jobs */

	/* Used only inside breakdown_read(). */
	size_t *newest; /* by job: 1 + index of its newest iteration; 0: none */
	size_t jobs, job_capacity;
};

/* Reads DIR/why.csv and, if they exist, DIR/why-groups.csv and DIR/why-links.csv. False without
 * *error if there is no why.csv; false with *error (caller frees) if a file cannot be read. Release
 * `b` in any case. */
bool breakdown_read(struct breakdown *b, const char *dir, char **error);
void breakdown_release(struct breakdown *b);

/* The index past the last iteration of the job that iteration `first` belongs to. */
size_t breakdown_job_end(const struct breakdown *b, size_t first);

#endif
