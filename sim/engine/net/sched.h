/* Queues by class at the egress ports of switches: packets that wait are here, a queue for each
 * class, and not in the port's ring, which only has the packet that is being sent and those on the
 * wire. So a hop costs a second event where a packet has waited, and nothing where it has not.
 *
 * strict: the highest class first. weighted: deficit round robin (Shreedhar and Varghese, IEEE/ACM
 * ToN 1996): a queue's turn adds its quantum to its deficit and ends when the next frame is larger
 * than that; a queue that begins to wait goes behind the others; an empty one has no deficit. A
 * quantum is the weight times a full frame, at least one, in bytes of frames. Nothing is preempted.
 *
 * A queue's packets are those that wait and the one that is being sent. Each queue may have the
 * whole limit of the port, else a low class would keep out a high one; ECN looks at it alone. Hosts
 * have no classes: their sources take turns. */
#ifndef INASIM_NET_SCHED_H
#define INASIM_NET_SCHED_H

#include "net/state.h"

#define SCHED_CLASSES 8

/* Gives all switches queues by class. `weights` of classes 0 and up; NULL: strict. Call it before
 * any link, without PAUSE, control-first and failures. Nothing in such a network is skipped, and
 * onlookers see no queues. `on_free` is the handler of the event that a port is free. */
void sched_init(struct network *net, const uint32_t *weights, unsigned count, sim_handler *on_free);
void sched_free(struct network *net);

/* The jobs' classes, by number in the run; copied. A scheme knows a job by its number times
 * `instances` and what is below that. */
void sched_set_jobs(struct network *net, const uint8_t *classes, size_t count, uint32_t instances);
/* The class of a job as schemes number it; 0 for other numbers and without classes. */
uint8_t sched_job_class(const struct network *net, uint32_t number);

uint8_t sched_class_of(const struct network *net, const struct packet *packet);

/* What waits at a port: packets, bytes, their time on the link. */
uint32_t sched_waiting(const struct network *net, uint32_t port);
bytes sched_bytes(const struct network *net, uint32_t port);
sim_time sched_time(const struct network *net, uint32_t port);
/* The queue of a class in bytes or, if `in_packets`, packets, after port_advance(). `size`: bytes
 * that queued_bytes of the port includes in advance. */
uint64_t sched_queue(const struct network *net, uint32_t port, uint8_t class, uint32_t size,
		     bool in_packets);
/* A packet of this class is sent without having waited. */
void sched_passes(struct network *net, uint32_t port, uint8_t class);

/* A packet begins to wait. The port's event must be pending or due now. */
void sched_put(struct network *net, uint32_t port, const struct packet *packet, uint8_t class);
/* Takes the packet that is sent next; something must wait. */
struct packet sched_take(struct network *net, uint32_t port);
/* The entity of the event that a port is free, and the port of an entity. */
uint32_t sched_entity(const struct network *net, uint32_t port);
uint32_t sched_port(const struct network *net, uint32_t entity);

#endif
