/* A buffer that the egress ports of a switch share, with dynamic thresholds (Choudhury and Hahne,
 * IEEE/ACM ToN 1998; Broadcom's alpha): a packet enters a queue if the queue then has at most alpha
 * times what is free of the buffer. So n queues that are full hold alpha B / (1 + n alpha) each,
 * and the sum never exceeds B. With queues by class (sched.h) each of them counts. Our reading:
 * queue and free bytes both include the packet.
 *
 * Each copy of a packet that leaves by several ports is stored. A packet leaves the buffer when its
 * last bit is sent. As queues are brought up to now only when it matters (port.h), the count of a
 * switch may be too high; it is made exact before a packet is refused.
 *
 * Networks with PAUSE share the memory of packets that come in: ingress.h. */
#ifndef INASIM_NET_SHARED_H
#define INASIM_NET_SHARED_H

#include "net/state.h"

#include <stdio.h>

/* Gives switch `sw` a shared buffer of `size` bytes; `alpha` in 1/ALPHA_ONE (ingress.h). Call it
 * before any link. */
void shared_set(struct network *net, uint32_t sw, bytes size, uint64_t alpha);
void shared_free(struct network *net);

/* Whether a packet of `size` bytes fits, which `queue`, the bytes of its queue, and queued_bytes of
 * the port already include. If so, it is counted. */
bool shared_takes(struct network *net, uint32_t port, bytes queue, uint32_t size);

/* Brings the count of a switch up to now and returns it: the bytes in its buffer. */
bytes shared_used(struct network *net, uint32_t sw);

/* Checks that no buffer holds more than its size. Returns the number of those that do, and
 * describes them on `report`. */
unsigned shared_check(struct network *net, FILE *report);

#endif
