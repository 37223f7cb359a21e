/* How closely the fidelities agree, by kind of scenario: the one table of what is
 * promised, from which `inasim crosscheck` judges. README.md has the measurements behind
 * the bounds.
 *
 * Differences are packet / fluid - 1. Of a job, that of the time that its gradients
 * are exchanged (exchange_s of jobs.csv: from the first gradient of an iteration to its last sum,
 * over all iterations), so that computing does not hide anything; of a group of flows, that of
 * their mean FCT; of a run, that of the time when its last job is done. */
#ifndef INASIM_CROSSCHECK_PROMISE_H
#define INASIM_CROSSCHECK_PROMISE_H

#include "scenario.h"

/* Of the kinds of one job alone the first that fits holds. */
enum crosscheck_kind {
	CROSSCHECK_ALONE_SHORT,   /* queues mark or drop before a window fills the path */
	CROSSCHECK_ALONE_SMALL,   /* tensors below ALONE_LARGE bytes */
	CROSSCHECK_ALONE_PATHS,   /* rings and parameter servers over several tiers of switches */
	CROSSCHECK_ALONE_SERVERS, /* several parameter servers without TCP, with slots by number */
	CROSSCHECK_ALONE_SHARDS,  /* parameter servers over TCP, shards below ALONE_LARGE bytes */
	CROSSCHECK_ALONE_HASHED,  /* ATP and ESA, whose pieces can collide with each other */
	CROSSCHECK_ALONE,
	CROSSCHECK_EVEN,  /* jobs under one scheme that adds all in switches it does not share by
			     hash */
	CROSSCHECK_APART, /* jobs under another scheme, one worker a host */
	CROSSCHECK_ALIKE, /* jobs under another scheme */
	CROSSCHECK_MIXED, /* jobs under several schemes */
	CROSSCHECK_FLOWS, /* and long flows */
	CROSSCHECK_OPEN,  /* what else there is */
	CROSSCHECK_KINDS
};

#define ALONE_LARGE 10000000 /* bytes of a tensor, or of a server's part of it */

/* Exchange time, fluid against analytic (the closed form of an idle network), of jobs alone. */
#define CLOSED_FORM_BOUND 1e-6

/* A mean is judged when there are so many jobs and groups of flows. */
#define MEAN_OF_LEAST 50

struct promise {
	const char *kind;
	double each; /* bound on the magnitude of a job's or group's difference */
	double end;  /* the same for the end of the last job */
	double mean; /* of the magnitudes over all jobs and groups; INFINITY = not promised */
	const char *reason;
};

extern const struct promise promises[CROSSCHECK_KINDS];

/* Of a scenario without mistakes. */
enum crosscheck_kind crosscheck_kind(const struct scenario *scenario);

/* One job and no flows: there is a closed form. */
bool crosscheck_is_alone(enum crosscheck_kind kind);

/* Whether a difference is within a bound; what is not a number is not. */
bool promise_holds(double difference, double bound);

#endif
