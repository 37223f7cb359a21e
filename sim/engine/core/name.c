/* Names of entities: needed by event logs only, so nothing here is fast. */
#include "core/sim.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMES_MAX 64 /* handlers with a name */

struct sim_names {
	size_t count;
	struct {
		sim_handler *handler;
		const char *text;
	} list[NAMES_MAX];
};

static const char *name_of(const struct sim_names *names, sim_handler *handler)
{
	for (size_t i = 0; names && i < names->count; i++)
		if (names->list[i].handler == handler)
			return names->list[i].text;
	return NULL;
}

void sim_name(struct sim *sim, sim_handler *handler, const char *text)
{
	if (name_of(sim->names, handler))
		return;
	if (!sim->names)
		sim->names = xcalloc(1, sizeof(*sim->names));
	SIM_BUG_ON(sim->names->count == NAMES_MAX);
	sim->names->list[sim->names->count].handler = handler;
	sim->names->list[sim->names->count++].text = text;
}

/* Numbers above 32 bits are composed of parts, which hexadecimal digits show. */
static int print_number(char *buffer, size_t size, uint64_t number)
{
	return snprintf(buffer, size, number >> 32 ? "0x%" PRIx64 : "%" PRIu64, number);
}

/* The part of a number that a directive of sim_name() prints. */
static uint64_t part_of(uint64_t number, char directive)
{
	switch (directive) {
	case 'h':
		return number / 2;
	case 'j':
		return number >> 24 & 0xffffff;
	case 'w':
		return number & 0xffffff;
	default:
		return number;
	}
}

char *sim_entity_name(const struct sim *sim, sim_handler *handler, uint64_t key, char *buffer,
		      size_t size)
{
	const char *text = name_of(sim->names, handler);
	uint64_t number = key & (sim_key(1, 0) - 1);
	size_t at = 0;

	text = text ? text : "entity %n";
	while (*text && at + 1 < size) {
		if (*text != '%') {
			buffer[at++] = *text++;
			continue;
		}
		at += (size_t)print_number(buffer + at, size - at, part_of(number, text[1]));
		text += 2;
	}
	buffer[at < size ? at : size - 1] = '\0';
	return buffer;
}
