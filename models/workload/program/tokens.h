/* How tokens spread over the ranks that have experts. */
#ifndef INASIM_WORKLOAD_PROGRAM_TOKENS_H
#define INASIM_WORKLOAD_PROGRAM_TOKENS_H

#include <stdint.h>

enum tokens_form { TOKENS_EVEN, TOKENS_ZIPF, TOKENS_MATRIX };
struct tokens_conf {
	int form; /* enum tokens_form */
	int even; /* has one value */
	double zipf;
	const char *matrix; /* path of a file */
};

/* Experts that ranks have, in blocks, and how many different ones each token goes to. */
struct token_experts {
	uint32_t count, top;
};

/* The share of what a rank sends that goes to each of `ranks` ranks, row by row: all together add
 * up to `ranks`. Caller frees. NULL: parts are equal or, if *mistake (caller frees) is set, the
 * file is wrong.
 *
 * Zipf: expert i has weight (i + 1)^-alpha and, since a token's experts differ, a share of at most
 * 1 / top of the copies; what is above goes to the others by weight. */
double *token_shares(const struct tokens_conf *conf, const struct token_experts *experts,
		     uint32_t ranks, char **mistake);

/* What a rank gets, as a multiple of the mean. 1 without shares. */
double token_load(const double *shares, uint32_t ranks, uint32_t rank);

#endif
