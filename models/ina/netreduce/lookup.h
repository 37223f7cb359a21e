/* NetReduce's connection lookup table (CLT, section 3.2): which packet of which message a packet of
 * a connection is.
 *
 * Only the first packet of a message has the INA header. Its message and its PSN are kept, and the
 * packets that follow are found by their PSNs:
 *
 *     0 <= (PSN - PSN of the first) mod 2^24 < length of a message
 *
 * The paper keeps one entry a connection. A sender that goes back across the end of a message would
 * then never be found again: it repeats the tail of message m - 1 while the entry has m. So the
 * newest 2N messages are kept here. A connection repeats none that are older: its own window is N
 * messages, and its successor may be N more behind.
 *
 * 2N * length < 2^24 must hold. A table that is zero but for `messages`, `length` and zeroed
 * `entries` is empty. */
#ifndef INASIM_INA_NETREDUCE_LOOKUP_H
#define INASIM_INA_NETREDUCE_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#define NETREDUCE_PSN_MASK ((1u << 24) - 1)

struct lookup_entry {
	uint64_t next;  /* number of the message + 1; 0 = empty */
	uint32_t psn;   /* of its first packet */
	uint32_t place; /* message mod 2N */
};

struct lookup {
	struct lookup_entry *entries; /* `messages` of them, by message mod 2N; not owned */
	uint64_t newest;              /* message + 1; 0 = none */
	uint32_t messages, length;    /* 2N; packets of a message */
	uint32_t recent;              /* index of the entry that was found last */
};

/* Where a packet belongs. */
struct lookup_place {
	uint64_t message;
	uint32_t index;  /* of the packet in the message: PSN - PSN of the first */
	uint32_t column; /* (message mod 2N) * length + index */
};

/* Enters the first packet of a message, and forgets messages up to newest - 2N. False when the
 * message itself is as old as these: then nothing is entered. */
bool lookup_enter(struct lookup *table, uint64_t message, uint32_t psn);

/* False: the first packet of its message has not come, or the message is forgotten. */
bool lookup_find(struct lookup *table, uint32_t psn, struct lookup_place *place);

#endif
