#include "io/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MIN 15 /* any decimal of 15 digits survives a double */
#define DIGITS_MAX 17 /* any double survives 17 digits */
#define POWER5_MAX 27 /* the last power of 5 in 64 bits: 53 + 63 bits leave room in 128 */
#define DIGITS_U64 20

static const uint64_t power5[POWER5_MAX + 1] = {
	UINT64_C(1),
	UINT64_C(5),
	UINT64_C(25),
	UINT64_C(125),
	UINT64_C(625),
	UINT64_C(3125),
	UINT64_C(15625),
	UINT64_C(78125),
	UINT64_C(390625),
	UINT64_C(1953125),
	UINT64_C(9765625),
	UINT64_C(48828125),
	UINT64_C(244140625),
	UINT64_C(1220703125),
	UINT64_C(6103515625),
	UINT64_C(30517578125),
	UINT64_C(152587890625),
	UINT64_C(762939453125),
	UINT64_C(3814697265625),
	UINT64_C(19073486328125),
	UINT64_C(95367431640625),
	UINT64_C(476837158203125),
	UINT64_C(2384185791015625),
	UINT64_C(11920928955078125),
	UINT64_C(59604644775390625),
	UINT64_C(298023223876953125),
	UINT64_C(1490116119384765625),
	UINT64_C(7450580596923828125),
};

static const uint64_t power10[DIGITS_MAX + 1] = {
	UINT64_C(1),
	UINT64_C(10),
	UINT64_C(100),
	UINT64_C(1000),
	UINT64_C(10000),
	UINT64_C(100000),
	UINT64_C(1000000),
	UINT64_C(10000000),
	UINT64_C(100000000),
	UINT64_C(1000000000),
	UINT64_C(10000000000),
	UINT64_C(100000000000),
	UINT64_C(1000000000000),
	UINT64_C(10000000000000),
	UINT64_C(100000000000000),
	UINT64_C(1000000000000000),
	UINT64_C(10000000000000000),
	UINT64_C(100000000000000000),
};

/* digits * 10^(exponent - count + 1), with exactly `count` digits. */
struct decimal {
	uint64_t digits;
	int count;
	int exponent; /* of the first digit, as in scientific notation */
};

/* A double without its sign: mantissa * 2^exponent, mantissa in [2^52, 2^53). */
struct binary {
	uint64_t mantissa;
	int exponent;
};

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

/* Rounds to `count` digits, exactly and half to even, and says in *same whether
 * they read back as the same double. All in integers: with 10^k = 5^k 2^k,
 * k = count - 1 - exponent and s = -(e + k),
 *
 *     value * 10^k = N / 2^s,  N = mantissa * 5^k,  one ulp = 5^k / 2^s.
 *
 * False where k or s would leave 128 bits (beyond 1e15, below 1e-10). */
static bool decimal_round(struct binary b, int count, struct decimal *out, bool *same)
{
	int k = count - 1 - out->exponent;
	int s = -(b.exponent + k);
	if (k < 0 || k > POWER5_MAX || s < 1 || s > 100)
		return false;
	unsigned __int128 n = (unsigned __int128)b.mantissa * power5[k];
	unsigned __int128 half = (unsigned __int128)1 << (s - 1);
	unsigned __int128 digits = n >> s;
	unsigned __int128 rest = n - (digits << s);
	if (rest > half || (rest == half && (digits & 1)))
		digits++;
	if (digits >= power10[count]) { /* the exponent was guessed, or rounding carried into it */
		out->exponent++;
		return decimal_round(b, count, out, same);
	}
	unsigned __int128 back = digits << s;
	unsigned __int128 off = back > n ? back - n : n - back;
	/* The neighbour below a power of two is only half as far away. */
	bool close_below = b.mantissa == UINT64_C(1) << 52 && back < n;
	unsigned __int128 twice = close_below ? 4 * off : 2 * off;
	*same = twice < power5[k] || (twice == power5[k] && b.mantissa % 2 == 0);
	out->digits = (uint64_t)digits;
	out->count = count;
	return digits >= power10[count - 1];
}

static bool decimal_of(double value, struct decimal *out)
{
	struct binary b;
	b.mantissa = (uint64_t)ldexp(frexp(value, &b.exponent), 53);
	b.exponent -= 53;
	/* At most one below the truth: 2^e <= value, and log10(2) is rounded down. */
	int guess = (int)floor((b.exponent + 52) * (b.exponent < -52 ? 0.30103 : 0.30102));
	for (int count = DIGITS_MIN; count <= DIGITS_MAX; count++) {
		bool same;
		out->exponent = guess;
		if (!decimal_round(b, count, out, &same))
			return false;
		if (same)
			return true;
	}
	return false;
}

/* As %.{count}g lays it out. */
static size_t decimal_write(char *buffer, const struct decimal *d)
{
	char digits[NUMBER_TEXT];
	size_t count = number_u64(digits, d->digits);
	while (count > 1 && digits[count - 1] == '0')
		count--;
	size_t length = 0;
	if (d->exponent < -4 || d->exponent >= d->count) {
		buffer[length++] = digits[0];
		if (count > 1)
			buffer[length++] = '.';
		memcpy(buffer + length, digits + 1, count - 1);
		length += count - 1;
		return length + (size_t)snprintf(buffer + length, 8, "e%+03d", d->exponent);
	}
	if (d->exponent < 0) {
		size_t zeros = (size_t)-d->exponent; /* the one before the point among them */
		memset(buffer, '0', zeros + 1);
		buffer[1] = '.';
		length = zeros + 1;
		memcpy(buffer + length, digits, count);
		length += count;
	} else {
		size_t whole = (size_t)d->exponent + 1;
		for (; length < whole; length++)
			buffer[length] = length < count ? digits[length] : '0';
		if (count > whole) {
			buffer[length++] = '.';
			memcpy(buffer + length, digits + whole, count - whole);
			length += count - whole;
		}
	}
	buffer[length] = '\0';
	return length;
}

static size_t real_by_printf(char *buffer, double value)
{
	int length = 0;
	for (int count = DIGITS_MIN; count <= DIGITS_MAX; count++) {
		length = snprintf(buffer, NUMBER_TEXT, "%.*g", count, value);
		if (strtod(buffer, NULL) == value)
			break;
	}
	return (size_t)length;
}

size_t number_real(char *buffer, double value)
{
	if (isnan(value)) /* printf may give it a sign */
		return (size_t)snprintf(buffer, NUMBER_TEXT, "nan");
	struct decimal d;
	if (value == 0 || isinf(value) || !decimal_of(fabs(value), &d))
		return real_by_printf(buffer, value);
	size_t sign = value < 0;
	buffer[0] = '-';
	return sign + decimal_write(buffer + sign, &d);
}
