/* Traffic by class on the ports that somebody watches.
 *
 * Which classes there are, and which packet belongs to which, is the watcher's
 * affair: aggregation, background, whatever it can tell from a packet. Watched
 * ports count what reaches their far end in the same slow path as losses, so a port
 * that nobody watches pays nothing. Watching changes no event and no draw. */
#ifndef INASIM_NET_WATCH_H
#define INASIM_NET_WATCH_H

#include "net/state.h"

#define WATCH_CLASSES 4

/* The class of a packet, below WATCH_CLASSES. */
typedef unsigned net_watch_classifier(const void *owner, const struct packet *packet);

struct net_watch {
	net_watch_classifier *class_of;
	const void *owner;                /* not owned */
	uint64_t (*bytes)[WATCH_CLASSES]; /* by port; on the wire, of what has arrived */
};

/* Before the run: makes it possible to watch ports, then chooses one. */
void network_watch(struct network *net, net_watch_classifier *class_of, const void *owner);
void network_watch_port(struct network *net, uint32_t port);

/* network_watched() without what has been sent of PAUSE frames that are still on their way. */
void net_watch_sent(const struct network *net, uint32_t port, struct port_sent sent[WATCH_CLASSES]);

/* Bytes of frames that wait or are being sent now, by class; their sum is
 * port_queue_bytes(). Any port, watched or not. */
void network_queue_by_class(struct network *net, uint32_t port, uint64_t queued[WATCH_CLASSES]);

/* For hops: a packet has arrived from a port, watched or not. */
void net_watch_count(struct network *net, uint32_t port, const struct packet *packet);

extern const struct packet net_watch_frame; /* stands for PAUSE frames */

void net_watch_free(struct net_watch *watch);

/* Somebody who wants to know of every packet that is put into a queue. With an onlooker no queue is
 * quiet (link_class): each packet takes the slow path, which finds the true length of the queue.
 * The outcome is the same. */
struct net_onlooker {
	/* `packet` has been admitted to egress port `port`, behind the first `at` packets of the
	 * port's ring. This must change nothing. */
	void (*queued)(struct net_onlooker *self, uint32_t port, const struct packet *packet,
		       uint32_t at);
};

#endif
