/* What iterations were spent on, as why.csv and why-links.csv of a run say. models/why/why.h has
 * the rule by which time is charged to causes. Times are in seconds. */
#ifndef INASIM_LAB_BREAKDOWN_H
#define INASIM_LAB_BREAKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BREAKDOWN_CAUSES 20

/* Causes, in the order of the columns of why.csv. */
struct breakdown_cause {
	const char *name;    /* of the column, without its "_s" */
	const char *words;   /* for people */
	size_t colour, fill; /* numbers, from 1, of scripts/gnuplot/style.gp */
};
extern const struct breakdown_cause breakdown_causes[BREAKDOWN_CAUSES];

/* Each row of why.csv, a worker in an iteration, may name the worker that was last, a link with
 * queues, and a job that took aggregators away. This is the one of these that cost an iteration
 * most time, over all its rows. */
struct breakdown_named {
	char *text;     /* owned; NULL = no row names one */
	uint64_t times; /* how often it is named; a last worker: how many results waited for it */
	double time;
};

/* What a busy link carried in an iteration for one owner. */
struct breakdown_share {
	char *link, *owner; /* owned */
	double utilization; /* of the link, by all owners */
	uint64_t bytes;
};

struct breakdown_iteration {
	uint64_t job, number;
	uint64_t workers;               /* how many have a row */
	char *name, *scheme;            /* of the job; owned */
	double cause[BREAKDOWN_CAUSES]; /* time by cause, over all workers */
	double sum;                     /* of the durations of all workers */
	double longest;                 /* the longest of these durations */
	uint64_t worst, host;           /* the worker that took longest, and its host */
	struct breakdown_named last, link, pushed;
	size_t first_share, share_count; /* busiest link first; of a link, largest share first */

	/* Used only inside breakdown_read(). */
	size_t before;                /* 1 + index of the job's iteration begun before; 0: none */
	struct breakdown_names *open; /* NULL when no more rows are expected */
};

struct breakdown {
	struct breakdown_iteration *iterations; /* by job, then number */
	size_t count, capacity;
	struct breakdown_share *shares;
	size_t share_count, share_capacity;
	double cause[BREAKDOWN_CAUSES], workers; /* times and number of workers, over all jobs */

	/* Used only inside breakdown_read(). */
	size_t *newest; /* by job: 1 + index of its iteration begun last; 0: none */
	size_t jobs, job_capacity;
};

/* Reads DIR/why.csv and, if it exists, DIR/why-links.csv. False without *error if there is no
 * why.csv, with *error (caller frees) if a file cannot be read. Release it in any case. */
bool breakdown_read(struct breakdown *b, const char *dir, char **error);
void breakdown_release(struct breakdown *b);

/* The index behind the last iteration of the job that iteration `first` belongs to. */
size_t breakdown_job_end(const struct breakdown *b, size_t first);

#endif
