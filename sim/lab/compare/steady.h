/* One long run instead of many: orders the values of a metric by time, cuts off the warm-up, and
 * divides the rest into batches. Means of long batches are nearly independent. Methods:
 * infer_warmup(), infer_batch_means(). */
#ifndef INASIM_LAB_COMPARE_STEADY_H
#define INASIM_LAB_COMPARE_STEADY_H

#include "data/inference.h"
#include "data/json.h"
#include "lab/compare/samples.h"

/* 20 batches, within Schmeiser's 10 to 30, or 10 if 20 would have fewer than ten values each. How
 * the means look does not decide: an interval that was searched for is no interval. */
#define STEADY_BATCHES     20
#define STEADY_BATCHES_FEW 10
#define STEADY_SIZE_MIN    5 /* values a batch; below, there are no batches */

enum steady_cut {
	STEADY_FOUND,   /* at the end of the warm-up, by MSER-5 */
	STEADY_GIVEN,   /* at a time that was given */
	STEADY_TOO_FEW, /* too few values for MSER-5: nothing is cut, and there is no interval */
	STEADY_MOVING,  /* MSER-5 would cut more than half: likewise */
};

struct steady {
	enum steady_cut cut;
	size_t dropped, kept;     /* values, the finished ones */
	size_t kept_unfinished;   /* after the cut, without a value */
	size_t members, groups;   /* as in struct samples */
	double from_s;            /* time of the first value that is kept; NaN: there is none */
	struct batch_means batch; /* without batches its mean is the plain one of what is kept */
};

/* Also orders the samples by time. Cuts everything before `warmup_s`; NaN: finds the warm-up. May
 * be released twice. */
void steady_init(struct steady *steady, struct samples *samples, double warmup_s);
void steady_release(struct steady *steady);

/* In words, of at most 30 letters: "independent", "correlated: too short". */
const char *steady_verdict(const struct steady *steady);

/* Writes it as the member `key`. */
void steady_json(struct json *json, const char *key, const struct steady *steady);

#endif
