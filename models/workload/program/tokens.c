#include "workload/program/tokens.h"

#include "base/mem.h"
#include "core/rng.h"
#include "data/csv_read.h"

#include <stdlib.h>

/* e^x for -100 < x <= 0, the same on every platform: a series, squared ten times. */
static double portable_exp(double x)
{
	double y = x / 1024, term = 1, sum = 1;

	for (int i = 1; i < 10; i++) {
		term *= y / i;
		sum += term;
	}
	for (int i = 0; i < 10; i++)
		sum *= sum;
	return sum;
}

/* The share of each expert. Caller frees. */
static double *zipf_of(double alpha, const struct token_experts *experts)
{
	double *share = xcalloc(experts->count, sizeof(*share)), max = 1. / experts->top;
	double left = 1, weights = 0;
	uint32_t full = 0; /* experts that have the largest share: the first ones */

	for (uint32_t i = 0; i < experts->count; i++) {
		share[i] = portable_exp(-alpha * portable_log(i + 1.0));
		weights += share[i];
	}
	/* the largest weight of the others is next; it may take too much of what is left, too */
	while (full < experts->count && share[full] / weights * left > max) {
		weights -= share[full];
		share[full++] = max;
		left -= max;
	}
	for (uint32_t i = full; i < experts->count; i++)
		share[i] *= left / weights;
	return share;
}

static double *shares_by_zipf(double alpha, const struct token_experts *experts, uint32_t ranks)
{
	struct token_experts all = experts->count ? *experts : (struct token_experts){ ranks, 1 };
	double *of = zipf_of(alpha, &all),
	       *shares = xcalloc((size_t)ranks * ranks, sizeof(*shares));

	for (uint32_t i = 0; i < all.count; i++)
		for (uint32_t from = 0; from < ranks; from++)
			shares[(size_t)from * ranks + (uint64_t)i * ranks / all.count] += of[i];
	free(of);
	return shares;
}

/* Scales what is listed so that all add up to `ranks`. */
static void scale(double *shares, uint32_t ranks)
{
	double sum = 0;

	for (size_t i = 0; i < (size_t)ranks * ranks; i++)
		sum += shares[i];
	for (size_t i = 0; i < (size_t)ranks * ranks; i++)
		shares[i] *= ranks / sum;
}

static double *shares_of_file(const char *path, uint32_t ranks, char **mistake)
{
	double *shares = xcalloc((size_t)ranks * ranks, sizeof(*shares)), sum = 0;
	struct csv *csv = csv_open(path, mistake);
	int from, to, size;

	if (!csv) {
		free(shares);
		return NULL;
	}
	from = csv_need(csv, "from");
	to = csv_need(csv, "to");
	size = csv_need(csv, "bytes");
	while (csv_next(csv)) {
		uint64_t a = csv_u64(csv, from), b = csv_u64(csv, to);
		double sent = csv_real(csv, size);

		if (a >= ranks || b >= ranks)
			csv_complain(csv, a >= ranks ? from : to,
				     "no rank of a group that exchanges tokens");
		else if (sent < 0)
			csv_complain(csv, size, "less than nothing");
		else
			shares[a * ranks + b] += sent;
		sum += sent;
	}
	if (csv_close(csv, mistake) && sum > 0) {
		scale(shares, ranks);
		return shares;
	}
	if (!*mistake)
		*mistake = xasprintf("%s: sends nothing", path);
	free(shares);
	return NULL;
}

double *token_shares(const struct tokens_conf *conf, const struct token_experts *experts,
		     uint32_t ranks, char **mistake)
{
	*mistake = NULL;
	switch ((enum tokens_form)conf->form) {
	case TOKENS_EVEN:
		return NULL;
	case TOKENS_ZIPF:
		return shares_by_zipf(conf->zipf, experts, ranks);
	case TOKENS_MATRIX:
		return shares_of_file(conf->matrix, ranks, mistake);
	}
	return NULL;
}

double token_load(const double *shares, uint32_t ranks, uint32_t rank)
{
	double sum = 0;

	if (!shares)
		return 1;
	for (uint32_t from = 0; from < ranks; from++)
		sum += shares[(size_t)from * ranks + rank];
	return sum;
}
