/* Quantities with units, as users write them and as reports print them.
 *
 * Grammar: a decimal number (no exponent, no sign), optional blanks, a unit.
 *   time   ps ns us ms s m h
 *   size   B and decimal kB KB MB GB TB, binary KiB MiB GiB TiB
 *   rate   bps and decimal kbps Kbps Mbps Gbps Tbps; with Bps: bytes per second
 * Prefixes are read as SimGrid reads them. A number that is not a whole count
 * of the base unit (ps, B, bps) is refused rather than rounded. */
#ifndef INASIM_BASE_UNITS_H
#define INASIM_BASE_UNITS_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

/* The size of a queue, as a user writes it: "85pkt" or "128KB". */
struct queue_size {
	uint64_t amount;
	bool packets; /* else bytes */
};

enum unit_kind { UNIT_TIME, UNIT_SIZE, UNIT_RATE };

enum unit_error {
	UNIT_OK,
	UNIT_NO_NUMBER, /* does not start with a number */
	UNIT_MISSING,   /* a number without a unit */
	UNIT_UNKNOWN,   /* the text after the number is no unit of this kind */
	UNIT_FRACTION,  /* not a whole count of ps, B or bps */
	UNIT_OVERFLOW,  /* does not fit 63 bits */
};

/* Parses all of `text`. Stores the value in base units (ps, B, bps) on UNIT_OK only. */
enum unit_error unit_parse(enum unit_kind kind, const char *text, uint64_t *value);

/* The units of a kind, for messages: "ps, ns, us, ms, s, m, h". */
const char *unit_names(enum unit_kind kind);

/* Writes the shortest exact spelling: "1.5us", "500ns", "100Gbps", "64MiB". The unit is chosen so
 * that the number is at least 1, unless the value is 0; of equally short spellings the one without
 * a point is preferred. unit_parse() reads the spelling back, if the value is below 2^63. `buffer`
 * has at least 32 bytes and is returned. */
char *unit_format(enum unit_kind kind, uint64_t value, char *buffer, size_t size);

/* Writes the range `from` <= value < `to`: "< 10KB", "10KB-100KB", ">= 10MB". `to` = UINT64_MAX
 * stands for no upper end. A `buffer` of 64 bytes is enough; returns it. */
char *unit_format_range(enum unit_kind kind, uint64_t from, uint64_t to, char *buffer, size_t size);

#endif
