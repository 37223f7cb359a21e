/* Links between partitions of different threads (core/parts.h).
 *
 * The port stays with its sender, with all that waits or is being sent. At the end of a window the
 * sender gives away what has left, and the partition at the far end takes it into the ring of a
 * wire, whose event is the arrival of its first packet: the same, at the same time and with the
 * same key, as the port's would have been. A window is no longer than the link's latency, so
 * nothing comes too late. */
#ifndef INASIM_NET_WIRE_H
#define INASIM_NET_WIRE_H

#include "core/parts.h"
#include "net/state.h"

/* Makes the wires, when each node has its partition and before the simulation is cut. */
void wires_open(struct network *net);

/* struct parts_ops. */
sim_time wires_give(struct sim *part, sim_time end);
void wires_take(struct sim *part);

/* When the simulation is joined: what is on wires lies in the rings of its ports again. */
void wires_close(struct network *net);

#endif
