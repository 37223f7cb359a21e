/* Packets that reach a host without an event.
 *
 * What a host does can be seen elsewhere no sooner than its link takes. So it may learn late, by as
 * much, of a packet that only it cares for (an ACK that opens a window, a segment of many):
 * such a packet is `patient`. While a port that leads to a host holds patient packets only, it is
 * PORT_LATE, and no event stands for the arrival of its first packet. As long as the host's NIC is
 * busy there is none at all: whenever a packet of the host arrives, it is brought up to date.
 * Otherwise there is one at the last moment at which an answer could still leave as if it had been
 * in time. Up to date means: what has arrived is delivered, each with sim->now set back to its
 * arrival, in turns with the departures that the NIC has put off (nic.h). That happens whenever
 * anything else could tell, too: see network_settle_host(). So results and digests are the same as
 * with an event each.
 *
 * A packet that is not patient ends this (late_end()) until the port runs empty: from then on
 * there is an event for each arrival. Ports that lose or jitter, networks with classes or PAUSE,
 * those where NICs go by events, and those too large for the cache (network.c) know no patience. */
#ifndef INASIM_NET_LATE_H
#define INASIM_NET_LATE_H

#include "core/sim.h"

struct network;

/* Everything that has reached the host before the time `until` is delivered, and what its NIC had
 * to do before that is done. Where `until` is now, packets that arrive now are delivered if their
 * arrival comes before the event that runs. */
void late_catch_up(struct network *net, uint32_t host, sim_time until);

/* A patient packet has come to an empty port that is PORT_PATIENT. */
void late_begin(struct network *net, uint32_t port);

/* The event of a port that is PORT_LATE. */
void late_event(struct network *net, uint32_t port);

/* A packet that is not patient has come to a port that is PORT_LATE. */
void late_end(struct network *net, uint32_t port);

/* Whether a timer that is set when a patient packet is delivered cannot be over by then: it may be
 * late by the longest link of a host and the time of the largest frame on it. Ask when all links
 * are there. */
bool late_in_time(const struct network *net, sim_time timer);

/* From now on each arrival at the host is an event. */
void late_never(struct network *net, uint32_t host);

#endif
