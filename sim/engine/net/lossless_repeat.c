/* Goes through the state of a lossless network, for runs that repeat themselves (core/repeat.h).
 * Packets keep their charges; only counters and times of frames move on. */
#include "net/lossless_parts.h"

#include "base/mem.h"
#include "core/repeat.h"

#include <stdlib.h>

/* Names of cells: 1, 2, ... in the order of their first packets. The numbers of cells have no
 * influence and may differ between equal states. */
struct names {
	uint32_t *of; /* by cell; 0 = none yet */
	uint32_t count;
};

static void repeat_charge(const struct lossless *ll, struct repeat *repeat, uint32_t charge,
			  struct names *names)
{
	uint32_t number = charge & ~CHARGE_CELL;

	if (charge == CHARGE_NONE || !(charge & CHARGE_CELL)) {
		repeat_same(repeat, charge);
		return;
	}
	if (!names->of[number])
		names->of[number] = ++names->count;
	repeat_same(repeat, CHARGE_CELL);
	repeat_same(repeat, names->of[number]);
	repeat_same(repeat, (uint64_t)ll->cells[number].copies << 32 | ll->cells[number].port);
}

static void repeat_lane(struct network *net, struct repeat *repeat, uint32_t number,
			struct names *names)
{
	const struct port *port = &net->ports[number];
	struct port_cold *cold = &net->cold[number];
	struct lane *lane = &net->lossless->lanes[number];

	if (lane->stopped || lane->armed || lane->in.stopped)
		repeat_never(repeat);
	for (uint32_t i = port->sent; i < port->count; i++)
		repeat_charge(net->lossless, repeat, lane->charge[ring_index(port, i)], names);
	repeat_due(repeat, &lane->frame_start);
	repeat_due(repeat, &lane->frame_end);
	repeat_same(repeat, lane->in.shared);
	repeat_same(repeat, (uint64_t)lane->in.headroom << 32 | lane->in.headroom_max);
	repeat_count(repeat, &cold->pauses);
	repeat_count(repeat, &cold->paused_time);
}

void lossless_repeat(struct network *net, struct repeat *repeat)
{
	struct lossless *ll = net->lossless;
	struct names names = { .of = xcalloc(ll->cell_count + 1, sizeof(*names.of)) };

	if (ll->stopped || ll->frames || ll->watching)
		repeat_never(repeat);
	for (uint32_t i = 0; !repeat->moving && i < net->port_count; i++)
		lossless_settle(net, i);
	for (uint32_t i = 0; i < net->port_count; i++)
		repeat_lane(net, repeat, i, &names);
	for (uint32_t s = 0; s < net->switches; s++)
		repeat_same(repeat, ll->memories[s].due);
	repeat_same(repeat, ll->largest);
	repeat_same(repeat, ll->refused);
	free(names.of);
}
