/* All-to-alls, as schedules (schedule.h): each rank has a part of its tensor for each rank.
 *
 *   rounds        in round k rank r sends a part to rank r + k and receives one from rank r - k
 *                 (pairwise exchange, as MPICH for long messages: Thakur, Rabenseifner and Gropp,
 *                 IJHPCA 2005). A part leaves when its receiver has reached the same round.
 *                 Otherwise messages of several rounds would meet at a receiver: 1.5 to 1.8 times
 * as long in racks of four. at_once       all parts are sent at once, as by NCCL's grouped sends
 *   hierarchical  ranks of a machine first exchange among them what goes to GPUs of the same
 * number, then each sends to the ranks of its number on other machines (as NCCL's PXN and DeepEP:
 * nothing crosses rails). All machines have equally many ranks.
 *
 * Parts are equal or, with `blocks` of struct collective_job, as these say. On non-blocking links a
 * rank alone on its machine takes (n - 1) / n of the tensor's bytes at the rate of its link. */
#ifndef INASIM_COLLECTIVE_ALL_TO_ALL_H
#define INASIM_COLLECTIVE_ALL_TO_ALL_H

#include "collective/schedule.h"

enum all_to_all { ALL_TO_ALL_ROUNDS, ALL_TO_ALL_AT_ONCE, ALL_TO_ALL_HIERARCHICAL };
extern const char *const all_to_all_names[]; /* for ENUM rows */

/* The tables have only the members that a running job calls; start() takes a scheme from
 * schedule_open() with the ring's parameters. */
const struct collective_ops *all_to_all_ops(enum all_to_all how);

#endif
