/* Short reliable messages from one host to another. A TCP connection carries as many bytes as the
 * messages have; struct messages keeps their contents until the bytes arrive.
 *
 * A message arrives when its last byte does, so messages arrive in the order of sending. The first
 * message opens the connection. In a network with classes the connection is of the control class
 * unless `bulk` is set. Within a host a message arrives at once, as an event of its own. */
#ifndef INASIM_TRANSPORT_MESSAGES_H
#define INASIM_TRANSPORT_MESSAGES_H

#include "transport/tcp.h"

struct message {
	uint64_t number; /* what the message is about: a chunk, a VID or a tensor */
	uint64_t value;
	uint64_t end; /* stream position behind its last byte; set by messages_send() */
	uint32_t type;
	uint32_t way; /* within a host, for --why; set by messages_send() */
};

struct messages {
	struct tcp *tcp;           /* not owned */
	const struct network *net; /* not owned */
	uint32_t src, dst;
	uint64_t key; /* see tcp_open() */
	/* Called at `dst`. */
	void (*arrived)(void *owner, const struct message *message);
	void *owner;
	struct timer timer; /* if `src` is `dst` */
	uint32_t conn;
	sim_time timeout; /* first and smallest RTO, set before the first message; 0: as in /tcp */
	bool bulk;        /* data, not control; set before the first message */
	bool open, expecting;
	uint64_t written;     /* bytes of all messages so far */
	struct message *ring; /* messages under way */
	uint64_t head, count, mask;
};

/* Prepares `messages`, which must not move in memory afterwards. `arrived` gets `owner`. */
void messages_init(struct messages *messages, struct tcp *tcp, const struct network *net,
		   uint32_t src, uint32_t dst, uint64_t key,
		   void (*arrived)(void *owner, const struct message *message), void *owner);
void messages_release(struct messages *messages);

/* Whether a message of this type about `number` has been sent and has not arrived yet. (A real
 * sender would learn of the arrival by an ACK, a little later.) Searches all messages under way. */
bool messages_under_way(const struct messages *messages, uint32_t type, uint64_t number);

/* Sends a message of `size` >= 1 payload bytes. */
void messages_send(struct messages *messages, struct message message, uint32_t size);

#endif
