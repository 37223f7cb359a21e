/* Exact numbers as text, for tables and JSON.
 *
 * A million flow rows hold several million numbers, so integers and times are not printed by
 * printf(). Every function writes a terminated string into `buffer` of at least NUMBER_TEXT bytes
 * and returns its length. */
#ifndef INASIM_DATA_NUMBER_H
#define INASIM_DATA_NUMBER_H

#include "base/types.h"

#include <stddef.h>

#define NUMBER_TEXT 32

size_t number_u64(char *buffer, uint64_t value);

/* Exact decimal seconds without trailing zeros: "0.000001234567", "1.5", "0". */
size_t number_seconds(char *buffer, sim_time value);

/* The first of %.15g, %.16g, %.17g that reads back exactly; or "nan", "inf", "-inf". */
size_t number_real(char *buffer, double value);

#endif
