/* Links between partitions of different threads (core/parts.h).
 *
 * The port, with the packets that wait or are being sent, stays in the sender's partition. At the
 * end of a window this partition gives away the packets that have left the port, and the partition
 * at the far end takes them into the ring of a wire. The event of a wire is the arrival of its
 * first packet, with the time and the key that the port's event would have had. A window is no
 * longer than the link's latency, so no packet comes too late. */
#ifndef INASIM_NET_WIRE_H
#define INASIM_NET_WIRE_H

#include "core/parts.h"
#include "net/state.h"

/* Makes the wires. Call it when network.part_of is set, before parts_cut(). */
void wires_open(struct network *net);

/* The members of struct parts_ops. */
sim_time wires_give(struct sim *part, sim_time end);
void wires_take(struct sim *part);

/* After parts_join(): moves the packets on wires back into the rings of ports, frees the wires. */
void wires_close(struct network *net);

#endif
