/* One long run instead of many: the values of a metric in the order of their time,
 * cut after the warm-up and into batches, whose means are nearly independent when
 * the batches are long. Methods: infer_warmup(), infer_batch_means(). */
#ifndef INASIM_LAB_COMPARE_STEADY_H
#define INASIM_LAB_COMPARE_STEADY_H

#include "stats/inference.h"
#include "io/json.h"
#include "lab/compare/samples.h"

/* 20 batches, within Schmeiser's 10 to 30; 10 where 20 would have less than ten
 * values each. Their number is not chosen by how their means look: an interval
 * that was searched for is no interval. */
#define STEADY_BATCHES     20
#define STEADY_BATCHES_FEW 10
#define STEADY_SIZE_MIN    5 /* values a batch; below, there are no batches */

enum steady_cut {
	STEADY_FOUND,   /* where the warm-up ends, by MSER-5 */
	STEADY_GIVEN,   /* by a time */
	STEADY_TOO_FEW, /* values for MSER-5: nothing is cut, and there is no interval */
	STEADY_MOVING,  /* MSER-5 would cut more than half: the same */
};

struct steady {
	enum steady_cut cut;
	size_t dropped, kept;     /* values, the finished ones */
	size_t kept_unfinished;   /* after the cut, without a value */
	size_t members, groups;   /* as struct samples */
	double from_s;            /* time of the first value that is kept; NaN: there is none */
	struct batch_means batch; /* without batches its mean is the plain one of what is kept */
};

/* Orders the samples by time. `warmup_s` is the time before which all is cut, or
 * NaN: find it. Release twice is allowed. */
void steady_init(struct steady *steady, struct samples *samples, double warmup_s);
void steady_release(struct steady *steady);

/* In words, of at most 30 letters: "independent", "correlated: too short". */
const char *steady_verdict(const struct steady *steady);

/* The member `key`. */
void steady_json(struct json *json, const char *key, const struct steady *steady);

#endif
