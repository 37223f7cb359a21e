/* Networks whose switches lose nothing: PAUSE (IEEE 802.3 annex 31B; for one class
 * of traffic the same as priority flow control, IEEE 802.1Qbb).
 *
 * A switch counts its bytes by ingress port (ingress.h). When a port has too many, the
 * switch sends a PAUSE frame to the neighbour there, and another frame when they are
 * few again. A frame goes ahead of all waiting packets, behind the packet that is being
 * sent, and occupies the link as packets do. It takes effect pause_params.response after
 * reception, without the pipeline. A stopped port finishes the packet that it is
 * sending. Frames do not expire: a port is stopped until told to go on. Frames are lost
 * only when a link fails (outage.h). Hosts send no frames. If the switch decides
 * otherwise before the transmission of a frame has started, the frame is changed.
 *
 * A port works as in port.h, with one event per hop. Packets whose transmission has not
 * started get a new departure when a frame stops or starts the port, or when a frame or
 * a control packet goes ahead of them. While a port is stopped, their departures and its
 * busy_until are SIM_TIME_MAX; control packets in a network with classes still depart.
 * A packet that has left is taken off the count of its ingress port only when it
 * reaches the far end, so counts may be too high; they are made exact before every
 * decision. Only while a neighbour of a switch is stopped, departures from the switch
 * are events of their own, because one of them will wake the neighbour.
 *
 * A packet that goes out by several ports (an aggregation result) is charged once,
 * until the last copy has left.
 *
 * Networks without PAUSE pay nothing for this: their arrivals have another handler. */
#ifndef INASIM_NET_LOSSLESS_H
#define INASIM_NET_LOSSLESS_H

#include "net/ingress.h"
#include "net/state.h"

/* Turns a network without links into a lossless one. */
void lossless_init(struct network *net);
void lossless_release(struct network *net);

/* For network_control_first(). */
void lossless_control_first(struct network *net);

/* net_look_ahead() for a lossless network. */
sim_lookahead lossless_look_ahead;

/* Called when a port has got its link. `pause` is for packets that come in over this link. */
void lossless_join(struct network *net, uint32_t port, const struct pause_params *pause);

/* The memory taken by packets that came in over the link of a port. */
const struct ingress *lossless_ingress(const struct network *net, uint32_t port);

/* Called for each end of a link that fails or is repaired. The port is no longer stopped, its PAUSE
 * frames on their way are lost, and its neighbour no longer counts as stopped. */
void lossless_forget(struct network *net, uint32_t port);

/* port_advance() for a lossless network: also ends the charges of packets that have left. */
void lossless_settle(struct network *net, uint32_t port);

/* The total time that a port has been stopped, up to now. */
sim_time lossless_paused(const struct network *net, uint32_t port);

/* The number of PAUSE frames on their way. */
uint64_t lossless_frames(const struct network *net);

/* The port that sent the PAUSE frame whose entity this is; >= port_count for other entities. */
uint32_t lossless_frame_port(const struct network *net, uint32_t entity);

/* Bytes on the wire sent so far of a port's PAUSE frames that are on their way. */
double lossless_frames_sent(const struct network *net, uint32_t port);

/* Called by network_repeat() after the ports: goes through the rest of the state. While any port is
 * stopped, a PAUSE frame is on its way, or lossless_watching(), the state equals no other. */
struct repeat;
void lossless_repeat(struct network *net, struct repeat *repeat);

/* Whether the run was stopped by a deadlock: ports wait for each other in a circle, because the
 * packets that keep a port stopped can only leave by another port of the circle. Up/down routing
 * has no such circles. */
bool lossless_deadlocked(const struct network *net);

/* Whether a check for a deadlock is pending, because ports are or were stopped. */
bool lossless_watching(const struct network *net);

/* Whether a deadlock stops a port for ever: the port is in the circle, or waits for it. */
bool lossless_stuck(const struct network *net, uint32_t port);

/* Checks that no switch dropped a packet (unless links may fail), that byte counts match the
 * queues, and that no frame was larger than the MTU. Returns the number of violations and describes
 * them on `report`. */
unsigned lossless_check(struct network *net, FILE *report);

#endif
