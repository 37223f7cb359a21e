/* Networks whose switches lose nothing: PAUSE (IEEE 802.3 annex 31B; for one class
 * of traffic the same as priority flow control, IEEE 802.1Qbb).
 *
 * A switch counts its bytes by the port they came in by (ingress.h) and sends its
 * neighbour a frame when there are too many, and another one when they are few
 * again. A frame goes ahead of all that waits, behind what is being sent, and takes
 * the way and the time of the link. It takes effect where it is received, not behind
 * the pipeline. A stopped port finishes the packet that has started. Frames do not
 * expire: a port is stopped until told to go on. They are lost only with a link that
 * fails (outage.h). Hosts send none: they take what comes. When the switch changes its
 * mind before a frame has started, the frame says the new thing.
 *
 * A port stays as port.h describes it, one event a hop; what has not started to be
 * sent is re-timed when a frame stops it, starts it, or goes ahead of it. A packet
 * of unknown departure has SIM_TIME_MAX in it, and so has the transmitter in
 * busy_until. A packet that has left is taken off the count of its ingress only when it
 * reaches the far end, so the count errs to the high side; it is made exact before
 * anything is decided by it. Only while a neighbour of a switch is stopped are the
 * switch's departures events of their own: one of them will wake the neighbour.
 *
 * A packet that goes out by several ports (an aggregation result) is charged once,
 * until the last copy has left.
 *
 * Networks without PAUSE pay for none of this: their arrivals have another handler. */
#ifndef INASIM_NET_LOSSLESS_H
#define INASIM_NET_LOSSLESS_H

#include "net/ingress.h"
#include "net/state.h"

/* Turns a network without links into a lossless one. */
void lossless_init(struct network *net);
void lossless_release(struct network *net);

/* For network_control_first(). */
void lossless_control_first(struct network *net);

/* For the event queue: net_look_ahead() of a lossless network. */
sim_lookahead lossless_look_ahead;

/* A port has got its link; `pause` says what the port does with what comes in over it. */
void lossless_join(struct network *net, uint32_t port, const struct pause_params *pause);

/* A port's share of its switch's memory: for what comes in over the link of that port. */
const struct ingress *lossless_ingress(const struct network *net, uint32_t port);

/* The link of a port fails or is repaired. The port is no longer stopped, its own frames are lost,
 * and it no longer counts its neighbour as stopped. One direction only. */
void lossless_forget(struct network *net, uint32_t port);

/* Brings a port's queue up to now: port_advance() of a lossless network. */
void lossless_settle(struct network *net, uint32_t port);

/* How long a port has been stopped, up to now. */
sim_time lossless_paused(const struct network *net, uint32_t port);

/* PAUSE frames on their way. */
uint64_t lossless_frames(const struct network *net);

/* The port that sent the PAUSE frame whose event this is; port_count or more = no such event. */
uint32_t lossless_frame_port(const struct network *net, uint32_t entity);

/* Bytes on the wire that a port has sent of the PAUSE frames that it has on their way. */
double lossless_frames_sent(const struct network *net, uint32_t port);

/* For network_repeat(), after its ports: the rest of the state. Never equal while any port is
 * stopped. */
struct repeat;
void lossless_repeat(struct network *net, struct repeat *repeat);

/* Whether the run was stopped because ports wait for each other in a circle: what keeps each
 * of them stopped can only leave by another one of them. Up/down routing has no such circles. */
bool lossless_deadlocked(const struct network *net);

/* Whether a look for such a circle is pending, since ports are, or were, stopped. */
bool lossless_watching(const struct network *net);

/* Whether this port is one of the circle. */
bool lossless_stuck(const struct network *net, uint32_t port);

/* Checks that nothing was lost in a switch, that the memory each switch counts is what its
 * queues hold, and that no frame was larger than the MTU. Returns the number of violations. */
unsigned lossless_check(struct network *net, FILE *report);

#endif
