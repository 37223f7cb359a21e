/* Detection of deadlocks, and checks of a lossless network. */
#include "net/lossless_parts.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

/* Time between two checks for a deadlock, while ports are stopped. */
#define WATCH_PERIOD PS_PER_MS

/* --- deadlocks --- */

/* Adds a packet to the bytes that stay at the port that it is charged to. Leaves out control
 * packets, which are not stopped. Copies are charged once, so the first one counts. */
static void count_packet(struct lossless *ll, uint32_t charge, uint32_t size)
{
	struct cell *cell;

	if (charge == CHARGE_NONE)
		return;
	if (!(charge & CHARGE_CELL)) {
		ll->lanes[charge].stays += size;
		return;
	}
	cell = &ll->cells[charge & ~CHARGE_CELL];
	if (cell->counted != ll->counts)
		ll->lanes[cell->port].stays += cell->size;
	cell->counted = ll->counts;
}

/* Counts for each ingress port of a switch the bytes that only stuck ports could send away. */
static void count_stuck(const struct network *net, const struct switch_node *node)
{
	struct lossless *ll = net->lossless;
	uint32_t end = node->first_port + node->ports;

	ll->counts++;
	for (uint32_t n = node->first_port; n < end; n++)
		ll->lanes[n].stays = 0;
	for (uint32_t n = node->first_port; n < end; n++) {
		const struct port *port = &net->ports[n];

		for (uint32_t i = port->sent; ll->lanes[n].stuck && i < port->count; i++) {
			uint32_t at = ring_index(port, i);

			if (port->ring[at].depart == SIM_TIME_MAX)
				count_packet(ll, ll->lanes[n].charge[at], port->ring[at].size);
		}
	}
}

/* What a port counts when all bytes that can leave have left, from the headroom first. */
static struct ingress without_the_rest(const struct lane *lane)
{
	struct ingress left = lane->in;
	bytes leaves = left.shared + left.headroom - lane->stays;

	left.headroom = left.headroom > leaves ? left.headroom - (uint32_t)leaves : 0;
	left.shared = lane->stays - left.headroom;
	return left;
}

/* Whether the neighbour behind port `in` stays stopped even when all bytes of the switch that can
 * leave have left. */
static bool stays_stopped(const struct network *net, uint32_t in)
{
	const struct lossless *ll = net->lossless;
	const struct lane *lane = &ll->lanes[in];
	const struct switch_node *node = &net->switch_nodes[lane->in.memory - ll->memories];
	struct ingress_memory rest = *lane->in.memory;
	struct ingress left;

	if (!lane->in.stopped)
		return false;
	count_stuck(net, node);
	rest.shared_used = 0;
	for (uint32_t n = node->first_port; n < node->first_port + node->ports; n++)
		rest.shared_used += without_the_rest(&ll->lanes[n]).shared;
	left = without_the_rest(lane);
	left.memory = &rest;
	return !ingress_low(&left);
}

/* Finds the largest set of stopped ports that keep each other stopped. Begins with all stopped
 * ports and takes out those that will be told to go on even if the others stay stopped. The ports
 * that are left wait for each other for ever. False if none is left. */
static bool find_stuck(struct network *net)
{
	struct lossless *ll = net->lossless;
	uint32_t stuck = 0;
	bool changed = true;

	for (uint32_t i = 0; i < net->port_count; i++) {
		lossless_settle(net, i);
		ll->lanes[i].stuck = ll->lanes[i].stopped;
		stuck += ll->lanes[i].stuck;
	}
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < net->port_count; i++) {
			if (!ll->lanes[i].stuck || stays_stopped(net, ll->lanes[i].reverse))
				continue;
			ll->lanes[i].stuck = false;
			stuck--;
			changed = true;
		}
	}
	return stuck > 0;
}

void lossless_watch(struct network *net)
{
	struct lossless *ll = net->lossless;

	if (!ll->watching)
		sim_schedule(net->sim, ll->watch, net->sim->now + WATCH_PERIOD);
	ll->watching = true;
}

/* Checks for a deadlock and, if there is one, stops the run. */
void lossless_on_watch(struct sim *sim, uint32_t id, void *owner)
{
	struct network *net = owner;
	struct lossless *ll = net->lossless;

	sim->uncounted++;
	ll->watching = ll->stopped > 0;
	if (!ll->watching)
		return;
	if (find_stuck(net)) {
		ll->deadlocked = true;
		sim_stop(sim);
		return;
	}
	sim_schedule(sim, id, sim->now + WATCH_PERIOD);
}

bool lossless_deadlocked(const struct network *net)
{
	return net->lossless && net->lossless->deadlocked;
}

bool lossless_watching(const struct network *net)
{
	return net->lossless && net->lossless->watching;
}

bool lossless_stuck(const struct network *net, uint32_t port)
{
	return net->lossless->lanes[port].stuck;
}

/* --- checks --- */

/* Compares a switch's counts with the bytes in its queues, which `held` has by ingress port. */
static unsigned check_switch(struct network *net, uint32_t sw, bytes *held, FILE *report)
{
	const struct lossless *ll = net->lossless;
	const struct switch_node *node = &net->switch_nodes[sw];
	bytes shared = 0;
	unsigned bad = 0;

	for (uint32_t n = node->first_port; n < node->first_port + node->ports; n++) {
		const struct ingress *in = &ll->lanes[n].in;

		shared += in->shared;
		if (held[n] == in->shared + in->headroom)
			continue;
		fprintf(report,
			"switch %" PRIu32 " counts %" PRIu64 " bytes from port %" PRIu32
			" but holds %" PRIu64 "\n",
			sw, in->shared + in->headroom, n, held[n]);
		bad++;
	}
	if (shared != ll->memories[sw].shared_used) {
		fprintf(report,
			"switch %" PRIu32 " counts %" PRIu64
			" shared bytes, its ports count %" PRIu64 "\n",
			sw, ll->memories[sw].shared_used, shared);
		bad++;
	}
	return bad;
}

/* Adds up the bytes in the queues of switches, by ingress port. */
static void sum_queues(struct network *net, bytes *held)
{
	const struct lossless *ll = net->lossless;

	for (uint32_t n = net->host_ports; n < net->port_count; n++) {
		const struct port *port = &net->ports[n];

		lossless_settle(net, n);
		for (uint32_t i = port->sent; i < port->count; i++) {
			uint32_t at = ring_index(port, i), charge = ll->lanes[n].charge[at];

			if (!(charge & CHARGE_CELL))
				held[charge] += port->ring[at].size;
		}
	}
	for (size_t i = 0; i < ll->cell_count; i++)
		if (ll->cells[i].copies)
			held[ll->cells[i].port] += ll->cells[i].size;
}

unsigned lossless_check(struct network *net, FILE *report)
{
	const struct lossless *ll = net->lossless;
	bytes *held = xcalloc(net->port_count, sizeof(*held));
	unsigned bad = 0;

	sum_queues(net, held);
	for (uint32_t sw = 0; sw < net->switches; sw++)
		bad += check_switch(net, sw, held, report);
	free(held);
	if (ll->refused && !net->outages) { /* after an outage, packets may find less room */
		fprintf(report, "%" PRIu64 " packets were dropped in a network with PAUSE\n",
			ll->refused);
		bad++;
	}
	if (ll->largest > ll->mtu) {
		fprintf(report,
			"a frame of %" PRIu32 " bytes entered a switch whose PAUSE thresholds "
			"assume at most %" PRIu32 " (\"mtu\")\n",
			ll->largest, ll->mtu);
		bad++;
	}
	return bad;
}
