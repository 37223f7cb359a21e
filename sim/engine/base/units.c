#include "base/units.h"

#include "base/fail.h"

#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t scale; /* in base units (ps, B, bps) */
	bool spoken;    /* unit_format() may use the unit; else it is only parsed */
};

#define KILO UINT64_C(1000)
#define MEGA UINT64_C(1000000)
#define GIGA UINT64_C(1000000000)
#define TERA UINT64_C(1000000000000)
#define BITS UINT64_C(8)

/* Largest first, and decimal before binary: unit_format() keeps the first of
 * equally good spellings. */
static const struct unit time_units[] = {
	{ "h", 3600 * PS_PER_S, true },
	{ "m", 60 * PS_PER_S, true },
	{ "s", PS_PER_S, true },
	{ "ms", PS_PER_MS, true },
	{ "us", PS_PER_US, true },
	{ "ns", PS_PER_NS, true },
	{ "ps", 1, true },
	{ 0 },
};

static const struct unit size_units[] = {
	{ "TB", TERA, true },
	{ "TiB", UINT64_C(1) << 40, true },
	{ "GB", GIGA, true },
	{ "GiB", UINT64_C(1) << 30, true },
	{ "MB", MEGA, true },
	{ "MiB", UINT64_C(1) << 20, true },
	{ "KB", KILO, true },
	{ "KiB", UINT64_C(1) << 10, true },
	{ "kB", KILO, false },
	{ "B", 1, true },
	{ 0 },
};

static const struct unit rate_units[] = {
	{ "Tbps", TERA, true },
	{ "Gbps", GIGA, true },
	{ "Mbps", MEGA, true },
	{ "Kbps", KILO, true },
	{ "kbps", KILO, false },
	{ "TBps", BITS *TERA, false },
	{ "GBps", BITS *GIGA, false },
	{ "MBps", BITS *MEGA, false },
	{ "KBps", BITS *KILO, false },
	{ "kBps", BITS *KILO, false },
	{ "Bps", BITS, false },
	{ "bps", 1, true },
	{ 0 },
};

static const struct unit *units_of(enum unit_kind kind)
{
	switch (kind) {
	case UNIT_TIME:
		return time_units;
	case UNIT_SIZE:
		return size_units;
	case UNIT_RATE:
		return rate_units;
	}
	sim_bug(__FILE__, __LINE__, "no such kind of unit: %d", (int)kind);
}

const char *unit_names(enum unit_kind kind)
{
	switch (kind) {
	case UNIT_TIME:
		return "ps, ns, us, ms, s, m, h";
	case UNIT_SIZE:
		return "B, kB, KB, MB, GB, TB, KiB, MiB, GiB, TiB";
	case UNIT_RATE:
		return "bps, kbps, Kbps, Mbps, Gbps, Tbps, Bps, kBps, KBps, MBps, GBps, TBps";
	}
	sim_bug(__FILE__, __LINE__, "no such kind of unit: %d", (int)kind);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The digits before and after the decimal point, and where the number ends. */
struct number {
	const char *whole, *whole_end;
	const char *fraction, *fraction_end;
	const char *end;
};

static bool read_number(const char *text, struct number *n)
{
	const char *p = text;

	n->whole = p;
	while (is_digit(*p))
		p++;
	n->whole_end = n->fraction = n->fraction_end = n->end = p;
	if (p == text)
		return false;
	if (p[0] == '.' && is_digit(p[1])) {
		n->fraction = ++p;
		while (is_digit(*p))
			p++;
		n->fraction_end = n->end = p;
	}
	return true;
}

static enum unit_error scale_whole(const struct number *n, uint64_t scale, uint64_t *value)
{
	uint64_t whole = 0;

	for (const char *p = n->whole; p < n->whole_end; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (whole > ((uint64_t)INT64_MAX - digit) / 10)
			return UNIT_OVERFLOW;
		whole = whole * 10 + digit;
	}
	if (whole > (uint64_t)INT64_MAX / scale)
		return UNIT_OVERFLOW;
	*value = whole * scale;
	return UNIT_OK;
}

/* Stores 0.d1d2...dk times scale, starting at the last digit: carry' = (d * scale + carry) / 10.
 * Each remainder is a decimal of the product, so it must be 0.
 * No overflow: carry <= scale and 10 * scale < 2^64 for every unit. */
static enum unit_error scale_fraction(const struct number *n, uint64_t scale, uint64_t *value)
{
	uint64_t carry = 0;

	for (const char *p = n->fraction_end; p > n->fraction;) {
		uint64_t product = (uint64_t)(*--p - '0') * scale + carry;

		if (product % 10 != 0)
			return UNIT_FRACTION;
		carry = product / 10;
	}
	*value = carry;
	return UNIT_OK;
}

enum unit_error unit_parse(enum unit_kind kind, const char *text, uint64_t *value)
{
	struct number n;
	const struct unit *unit;
	const char *name;
	uint64_t whole, fraction;
	enum unit_error error;

	if (!read_number(text, &n))
		return UNIT_NO_NUMBER;
	name = n.end + strspn(n.end, " \t");
	if (!*name)
		return UNIT_MISSING;
	for (unit = units_of(kind); unit->name; unit++)
		if (!strcmp(unit->name, name))
			break;
	if (!unit->name)
		return UNIT_UNKNOWN;
	error = scale_whole(&n, unit->scale, &whole);
	if (error == UNIT_OK)
		error = scale_fraction(&n, unit->scale, &fraction);
	if (error != UNIT_OK)
		return error;
	if (whole > (uint64_t)INT64_MAX - fraction)
		return UNIT_OVERFLOW;
	*value = whole + fraction;
	return UNIT_OK;
}

#define SPELLING_SIZE 32

/* Spells `value` exactly in one unit. False if it has too many decimals or no end of them. */
static bool spell(const struct unit *unit, uint64_t value, char buffer[SPELLING_SIZE])
{
	uint64_t rest = value % unit->scale;
	char decimals[12];
	size_t count = 0;

	while (rest != 0 && count < sizeof(decimals) - 1) {
		rest *= 10;
		decimals[count++] = (char)('0' + (int)(rest / unit->scale));
		rest %= unit->scale;
	}
	decimals[count] = '\0';
	if (rest != 0)
		return false;
	snprintf(buffer, SPELLING_SIZE, "%llu%s%s%s", (unsigned long long)(value / unit->scale),
		 count > 0 ? "." : "", decimals, unit->name);
	return true;
}

char *unit_format(enum unit_kind kind, uint64_t value, char *buffer, size_t size)
{
	char best[SPELLING_SIZE] = "";
	size_t best_cost = SIZE_MAX;

	SIM_BUG_ON(size < SPELLING_SIZE);
	for (const struct unit *unit = units_of(kind); unit->name; unit++) {
		char text[SPELLING_SIZE];
		size_t cost;

		/* "0.5us" is as short as "500ns", but harder to read. */
		if (!unit->spoken || (value < unit->scale && unit->scale > 1) ||
		    !spell(unit, value, text))
			continue;
		/* the shortest text wins; at equal length the one without a point */
		cost = 2 * strlen(text) + (strchr(text, '.') != NULL);
		if (cost < best_cost) {
			best_cost = cost;
			memcpy(best, text, sizeof(best));
		}
	}
	if (value == 0 && kind == UNIT_TIME)
		memcpy(best, "0s", sizeof("0s"));
	memcpy(buffer, best, strlen(best) + 1);
	return buffer;
}

char *unit_format_range(enum unit_kind kind, uint64_t from, uint64_t to, char *buffer, size_t size)
{
	char low[32], high[32];

	unit_format(kind, from, low, sizeof(low));
	unit_format(kind, to, high, sizeof(high));
	if (to == UINT64_MAX)
		snprintf(buffer, size, ">= %s", low);
	else if (from)
		snprintf(buffer, size, "%s-%s", low, high);
	else
		snprintf(buffer, size, "< %s", high);
	return buffer;
}
