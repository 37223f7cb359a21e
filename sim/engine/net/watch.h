/* Counts traffic by class on watched ports.
 *
 * The caller defines the classes, such as aggregation and background, by a function
 * of the packet. Watched ports count the packets that reach their far end, on the
 * slow path that also finds losses, so other ports pay nothing. Watching changes no
 * event and no random draw. */
#ifndef INASIM_NET_WATCH_H
#define INASIM_NET_WATCH_H

#include "net/state.h"

#define WATCH_CLASSES 4

/* The class of a packet, below WATCH_CLASSES. */
typedef unsigned net_watch_classifier(const void *owner, const struct packet *packet);

struct net_watch {
	net_watch_classifier *class_of;
	const void *owner;                /* not owned */
	uint64_t (*bytes)[WATCH_CLASSES]; /* by port: bytes on the wire of arrived packets */
};

/* Call network_watch() once before the run, then network_watch_port() for each port to watch.
 * `owner` is passed to class_of() and not owned. */
void network_watch(struct network *net, net_watch_classifier *class_of, const void *owner);
void network_watch_port(struct network *net, uint32_t port);

/* network_watched() without the PAUSE frames that are still on their way. */
void net_watch_sent(const struct network *net, uint32_t port, struct port_sent sent[WATCH_CLASSES]);

/* Bytes of packets that wait or are being sent now, by class. Their sum is
 * port_queue_bytes(). For any port, watched or not, after network_watch(). */
void network_queue_by_class(struct network *net, uint32_t port, uint64_t queued[WATCH_CLASSES]);

/* Called by hops on the slow path, for watched ports and others: a packet has arrived. */
void net_watch_count(struct network *net, uint32_t port, const struct packet *packet);

extern const struct packet net_watch_frame; /* what class_of() gets for a PAUSE frame */

void net_watch_free(struct net_watch *watch);

/* An onlooker is told of every packet that is put into a queue. With an onlooker no queue is quiet
 * (link_class): each packet takes the slow path, which finds the true length of the queue. Results
 * are the same. */
struct net_onlooker {
	/* `packet` has been admitted to egress port `port`, behind the first `at` packets of the
	 * port's ring. The callback must change nothing. */
	void (*queued)(struct net_onlooker *self, uint32_t port, const struct packet *packet,
		       uint32_t at);
};

#endif
