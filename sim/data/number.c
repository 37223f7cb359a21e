#include "data/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MIN 15 /* decimals of 15 digits survive in a double */
#define DIGITS_MAX 17 /* doubles survive in 17 digits */
#define DIGITS_U64 20 /* of 2^64 - 1 */

size_t number_u64(char *buffer, uint64_t value)
{
	char digits[DIGITS_U64];
	char *p = digits + sizeof(digits);

	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	size_t length = (size_t)(digits + sizeof(digits) - p);

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

size_t number_real(char *buffer, double value)
{
	if (isnan(value)) /* printf may give it a sign */
		return (size_t)snprintf(buffer, NUMBER_TEXT, "nan");
	for (int digits = DIGITS_MIN; digits < DIGITS_MAX; digits++) {
		size_t length = (size_t)snprintf(buffer, NUMBER_TEXT, "%.*g", digits, value);

		if (strtod(buffer, NULL) == value)
			return length;
	}
	return (size_t)snprintf(buffer, NUMBER_TEXT, "%.*g", DIGITS_MAX, value);
}
