#include "data/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MIN 15 /* any decimal of 15 digits survives a double */
#define DIGITS_MAX 17 /* any double survives 17 digits */
#define POWER5_MAX 27 /* the last power of 5 in 64 bits: 53 + 63 bits leave room in 128 */
#define DIGITS_U64 20

size_t number_u64(char *buffer, uint64_t value)
{
	char digits[DIGITS_U64];
	char *p = digits + sizeof digits;
	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	size_t length = (size_t)(digits + sizeof digits - p);
	memcpy(buffer, p, length);
	buffer[length] = '\0';
	return length;
}

size_t number_seconds(char *buffer, sim_time value)
{
	size_t length = number_u64(buffer, value / PS_PER_S);
	uint64_t fraction = value % PS_PER_S;
	if (fraction == 0)
		return length;
	size_t places = 12; /* a picosecond */
	while (fraction % 10 == 0) {
		fraction /= 10;
		places--;
	}
	buffer[length] = '.';
	for (size_t i = places; i > 0; i--) {
		buffer[length + i] = (char)('0' + fraction % 10);
		fraction /= 10;
	}
	length += 1 + places;
	buffer[length] = '\0';
	return length;
}

static uint64_t power(uint64_t base, int exponent)
{
	uint64_t product = 1;
	for (; exponent > 0; exponent /= 2, base *= base)
		product *= exponent % 2 ? base : 1;
	return product;
}

enum survival { LOST, SAME, UNKNOWN };

/* Do the first `count` digits of mantissa * 2^exponent, with mantissa in [2^52, 2^53), read back as
 * the same double? The first digit stands for 10^first, or for the next power. All in integers:
 * with 10^k = 5^k 2^k, k = count - 1 - first and s = -(exponent + k),
 *
 *     value * 10^k = n / 2^s,  n = mantissa * 5^k,  one ulp = 5^k / 2^s.
 *
 * UNKNOWN where k or s would leave 128 bits (beyond 1e15, below 1e-10). */
static enum survival survives(uint64_t mantissa, int exponent, int count, int first)
{
	int k = count - 1 - first, s = -(exponent + k);
	if (k < 0 || k > POWER5_MAX || s < 1 || s > 100)
		return UNKNOWN;
	uint64_t ulp = power(5, k);
	unsigned __int128 n = (unsigned __int128)mantissa * ulp;
	unsigned __int128 half = (unsigned __int128)1 << (s - 1);
	unsigned __int128 digits = n >> s;
	unsigned __int128 rest = n - (digits << s);
	if (rest > half || (rest == half && (digits & 1))) /* to even, as printf rounds */
		digits++;
	if (digits >= power(10, count)) /* `first` was guessed, or rounding carried into it */
		return survives(mantissa, exponent, count, first + 1);
	unsigned __int128 back = digits << s;
	unsigned __int128 off = back > n ? back - n : n - back;
	/* The neighbour below a power of two is only half as far away. */
	bool close_below = mantissa == UINT64_C(1) << 52 && back < n;
	unsigned __int128 twice = close_below ? 4 * off : 2 * off;
	if (digits < power(10, count - 1))
		return UNKNOWN;
	return twice < ulp || (twice == ulp && mantissa % 2 == 0) ? SAME : LOST;
}

size_t number_real(char *buffer, double value)
{
	if (isnan(value)) /* printf may give it a sign */
		return (size_t)snprintf(buffer, NUMBER_TEXT, "nan");
	int exponent, count = DIGITS_MIN;
	uint64_t mantissa = (uint64_t)ldexp(frexp(isinf(value) ? 0 : fabs(value), &exponent), 53);
	/* At most one below the truth: 2^e <= value, and log10(2) is rounded down. */
	int first = (int)floor((exponent - 1) * (exponent < 1 ? 0.30103 : 0.30102));
	for (; count < DIGITS_MAX; count++) {
		enum survival survival = survives(mantissa, exponent - 53, count, first);
		if (survival == UNKNOWN) {
			snprintf(buffer, NUMBER_TEXT, "%.*g", count, value);
			survival = strtod(buffer, NULL) == value ? SAME : LOST;
		}
		if (survival == SAME)
			break;
	}
	return (size_t)snprintf(buffer, NUMBER_TEXT, "%.*g", count, value);
}
