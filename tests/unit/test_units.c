#include "base/units.h"

#include <stdio.h>
#include <criterion/criterion.h>
#include <string.h>

struct good {
	enum unit_kind kind;
	char text[48];
	uint64_t value;
};

static const struct good good[] = {
	{ UNIT_TIME, "0s", 0 },
	{ UNIT_TIME, "1ps", 1 },
	{ UNIT_TIME, "1.5us", 1500000 },
	{ UNIT_TIME, "1.5 us", 1500000 },
	{ UNIT_TIME, "500 \t ns", 500000 },
	{ UNIT_TIME, "0.001ns", 1 },
	{ UNIT_TIME, "0.0010000ns", 1 },
	{ UNIT_TIME, "007ms", 7 * PS_PER_MS },
	{ UNIT_TIME, "1.5m", 90 * PS_PER_S },
	{ UNIT_TIME, "2h", 7200 * PS_PER_S },
	{ UNIT_TIME, "0.00000000000025h", 900 },
	{ UNIT_TIME, "9223372036854775807ps", INT64_MAX },
	{ UNIT_TIME, "9223372036854775.807ns", INT64_MAX },
	{ UNIT_SIZE, "0B", 0 },
	{ UNIT_SIZE, "40MB", 40000000 },
	{ UNIT_SIZE, "64MiB", 64 << 20 },
	{ UNIT_SIZE, "1kB", 1000 },
	{ UNIT_SIZE, "1KB", 1000 },
	{ UNIT_SIZE, "1KiB", 1024 },
	{ UNIT_SIZE, "0.5KiB", 512 },
	{ UNIT_SIZE, "0.0009765625KiB", 1 },
	{ UNIT_SIZE, "0.0000000000009094947017729282379150390625TiB", 1 },
	{ UNIT_SIZE, "3GiB", UINT64_C(3) << 30 },
	{ UNIT_SIZE, "2TB", UINT64_C(2000000000000) },
	{ UNIT_RATE, "1bps", 1 },
	{ UNIT_RATE, "1Bps", 8 },
	{ UNIT_RATE, "0.125Bps", 1 },
	{ UNIT_RATE, "10Gbps", UINT64_C(10000000000) },
	{ UNIT_RATE, "1.25GBps", UINT64_C(10000000000) },
	{ UNIT_RATE, "2kbps", 2000 },
	{ UNIT_RATE, "2Kbps", 2000 },
	{ UNIT_RATE, "1.6Tbps", UINT64_C(1600000000000) },
};

Test(units, reads_exactly)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint64_t value = 12345;

		cr_expect_eq(unit_parse(good[i].kind, good[i].text, &value), UNIT_OK, "%s",
			     good[i].text);
		cr_expect_eq(value, good[i].value, "%s: %llu", good[i].text,
			     (unsigned long long)value);
	}
}

struct bad {
	enum unit_kind kind;
	enum unit_error error;
	char text[48];
};

static const struct bad bad[] = {
	{ UNIT_TIME, UNIT_NO_NUMBER, "" },
	{ UNIT_TIME, UNIT_NO_NUMBER, "us" },
	{ UNIT_TIME, UNIT_NO_NUMBER, " 1us" },
	{ UNIT_TIME, UNIT_NO_NUMBER, "-1us" },
	{ UNIT_TIME, UNIT_NO_NUMBER, "+1us" },
	{ UNIT_TIME, UNIT_NO_NUMBER, ".5us" },
	{ UNIT_TIME, UNIT_MISSING, "1" },
	{ UNIT_TIME, UNIT_MISSING, "1.5 " },
	{ UNIT_TIME, UNIT_UNKNOWN, "1.us" },
	{ UNIT_TIME, UNIT_UNKNOWN, "1e3us" },
	{ UNIT_TIME, UNIT_UNKNOWN, "1us " },
	{ UNIT_TIME, UNIT_UNKNOWN, "1US" },
	{ UNIT_TIME, UNIT_UNKNOWN, "1sec" },
	{ UNIT_TIME, UNIT_UNKNOWN, "1\nus" },
	{ UNIT_TIME, UNIT_UNKNOWN, "1MB" },
	{ UNIT_SIZE, UNIT_UNKNOWN, "1Mb" },
	{ UNIT_SIZE, UNIT_UNKNOWN, "1kiB" },
	{ UNIT_RATE, UNIT_UNKNOWN, "1Gb/s" },
	{ UNIT_RATE, UNIT_UNKNOWN, "1Gibps" },
	{ UNIT_TIME, UNIT_FRACTION, "0.0001ps" },
	{ UNIT_TIME, UNIT_FRACTION, "1.5ps" },
	{ UNIT_TIME, UNIT_FRACTION, "0.0005ns" },
	{ UNIT_SIZE, UNIT_FRACTION, "0.1KiB" },
	{ UNIT_RATE, UNIT_FRACTION, "0.1Bps" },
	{ UNIT_TIME, UNIT_OVERFLOW, "9223372036854775808ps" },
	{ UNIT_TIME, UNIT_OVERFLOW, "9223372036854775.808ns" },
	{ UNIT_TIME, UNIT_OVERFLOW, "2563h" },
	{ UNIT_SIZE, UNIT_OVERFLOW, "99999999999999999999999999999999B" },
	{ UNIT_RATE, UNIT_OVERFLOW, "9223373Tbps" },
};

Test(units, refuses)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t value = 12345;

		cr_expect_eq(unit_parse(bad[i].kind, bad[i].text, &value), bad[i].error, "%s",
			     bad[i].text);
		cr_expect_eq(value, 12345, "%s stored something", bad[i].text);
	}
}

static const struct good spelled[] = {
	{ UNIT_TIME, "0s", 0 },
	{ UNIT_TIME, "1ps", 1 },
	{ UNIT_TIME, "500ns", 500000 },
	{ UNIT_TIME, "1.5us", 1500000 },
	{ UNIT_TIME, "100ms", PS_PER_S / 10 },
	{ UNIT_TIME, "90s", 90 * PS_PER_S },
	{ UNIT_TIME, "2m", 120 * PS_PER_S },
	{ UNIT_TIME, "1h", 3600 * PS_PER_S },
	{ UNIT_SIZE, "0B", 0 },
	{ UNIT_SIZE, "1500B", 1500 },
	{ UNIT_SIZE, "40MB", 40000000 },
	{ UNIT_SIZE, "64MiB", 64 << 20 },
	{ UNIT_SIZE, "128KB", 128000 },
	{ UNIT_SIZE, "1.5MB", 1500000 },
	{ UNIT_RATE, "0bps", 0 },
	{ UNIT_RATE, "8bps", 8 },
	{ UNIT_RATE, "100Gbps", UINT64_C(100000000000) },
	{ UNIT_RATE, "1.6Tbps", UINT64_C(1600000000000) },
};

Test(units, spells_shortly)
{
	char text[32];

	for (size_t i = 0; i < sizeof(spelled) / sizeof(spelled[0]); i++) {
		unit_format(spelled[i].kind, spelled[i].value, text, sizeof(text));
		cr_expect_str_eq(text, spelled[i].text);
	}
}

static void check_round_trip(enum unit_kind kind, uint64_t value)
{
	uint64_t again = 0;
	char text[32];

	unit_format(kind, value, text, sizeof(text));
	cr_expect_eq(unit_parse(kind, text, &again), UNIT_OK, "%s", text);
	cr_expect_eq(again, value, "%s", text);
}

Test(units, what_is_spelled_reads_back)
{
	static const enum unit_kind kinds[] = { UNIT_TIME, UNIT_SIZE, UNIT_RATE };

	for (size_t k = 0; k < 3; k++) {
		check_round_trip(kinds[k], INT64_MAX);
		for (uint64_t value = 0; value < 5000; value++)
			check_round_trip(kinds[k], value);
		for (uint64_t value = 1; value < INT64_MAX / 7; value = value * 7 + 3)
			check_round_trip(kinds[k], value);
		for (unsigned bit = 0; bit < 63; bit++)
			check_round_trip(kinds[k], UINT64_C(1) << bit);
	}
}

Test(units, names_all_units)
{
	cr_expect_str_eq(unit_names(UNIT_TIME), "ps, ns, us, ms, s, m, h");
	cr_expect(strstr(unit_names(UNIT_SIZE), "GiB"));
	cr_expect(strstr(unit_names(UNIT_RATE), "Gbps"));
}

/* Each name that messages advertise can be read. */
Test(units, every_advertised_name_is_read)
{
	static const enum unit_kind kinds[] = { UNIT_TIME, UNIT_SIZE, UNIT_RATE };

	for (size_t k = 0; k < 3; k++) {
		const char *name = unit_names(kinds[k]);

		while (*name) {
			size_t length = strcspn(name, ",");
			char text[16];
			uint64_t value;

			snprintf(text, sizeof(text), "1%.*s", (int)length, name);
			cr_expect_eq(unit_parse(kinds[k], text, &value), UNIT_OK, "%s", text);
			name += length;
			name += strspn(name, ", ");
		}
	}
}
