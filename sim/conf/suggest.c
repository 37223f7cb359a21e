#include "conf/conf.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define MAX_WORD 48 /* longer words get no suggestion: bounds the work on hostile input */

static size_t min2(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Whether two characters differ at most in case, or as - and _. */
static bool same(char a, char b)
{
	a = a == '_' ? '-' : a;
	b = b == '_' ? '-' : b;
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The number of edits that turn a into b; swapping two neighbours counts once (optimal
 * string alignment). Three rows of the usual matrix are enough. */
static size_t distance(const char *a, size_t m, const char *b, size_t n)
{
	size_t rows[3][MAX_WORD + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= n; j++)
		above[j] = j;
	for (size_t i = 1; i <= m; i++) {
		size_t *spare = before;

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			row[j] = min2(above[j], row[j - 1]) + 1;
			row[j] = min2(row[j], above[j - 1] + !same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				row[j] = min2(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = spare;
	}
	return above[n];
}

const char *conf_suggest(const char *word, const char *const *choices)
{
	const char *best = NULL;
	size_t best_distance = 0, m = strlen(word);

	if (m == 0 || m > MAX_WORD)
		return NULL;
	for (; *choices; choices++) {
		size_t n = strlen(*choices), longer = m > n ? m : n, d;

		if (n > MAX_WORD)
			continue;
		d = distance(word, m, *choices, n);
		/* at most a third of the longer word, rounded up; no word of one letter is near
		 * another */
		if (d > (longer + 2) / 3 || d >= longer || (best && d >= best_distance))
			continue;
		best = *choices;
		best_distance = d;
	}
	return best;
}
