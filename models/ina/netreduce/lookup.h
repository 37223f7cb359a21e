/* NetReduce's connection lookup table (CLT, section 3.2): finds the message of a connection's
 * packet, and the packet's index in the message.
 *
 * Only the first packet of a message has the INA header. The table keeps its message and PSN, and
 * finds later packets by their PSNs:
 *
 *     0 <= (PSN - PSN of the first) mod 2^24 < length of a message
 *
 * The paper keeps one entry per connection. If a sender goes back across the end of a message, it
 * repeats the tail of message m - 1 while the entry has message m, and its packets would never be
 * found. So the newest 2N messages are kept here. A connection repeats no older ones, because its
 * receiver, the next rank, has them: rank r posts m once it has the result of m - N. The next rank
 * had then posted m - N, and so had the results up to m - 2N.
 *
 * 2N * length < 2^24 must hold. An empty table has `messages`, `length` and zeroed `entries`; all
 * else is 0. */
#ifndef INASIM_INA_NETREDUCE_LOOKUP_H
#define INASIM_INA_NETREDUCE_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#define NETREDUCE_PSN_MASK ((1u << 24) - 1)

struct lookup_entry {
	uint64_t next; /* 1 + number of the message; 0 = empty */
	uint32_t psn;  /* of its first packet */
};

struct lookup {
	struct lookup_entry *entries; /* `messages` of them, by message mod 2N; not owned */
	uint64_t newest;              /* 1 + newest message; 0 = none */
	uint32_t messages, length;    /* 2N; packets of a message */
	uint32_t recent;              /* index of the entry found or entered last */
};

/* Where a packet belongs. */
struct lookup_place {
	uint64_t message;
	uint32_t index;  /* of the packet in the message: PSN - PSN of the first */
	uint32_t column; /* (message mod 2N) * length + index */
};

/* Enters the first packet of a message, and forgets messages up to newest - 2N. Returns false, and
 * enters nothing, if the message itself is that old. */
bool lookup_enter(struct lookup *table, uint64_t message, uint32_t psn);

/* Finds a packet by its PSN. Returns false if the first packet of its message has not come, or the
 * message is forgotten. */
bool lookup_find(struct lookup *table, uint32_t psn, struct lookup_place *place);

#endif
