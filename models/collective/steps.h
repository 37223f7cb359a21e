/* Collectives that are not all-reduce, as schedules (schedule.h): the steps of jobs that shard
 * their parameters (ZeRO, FSDP), route tokens to experts, or are pipelines.
 *
 *   reduce_scatter  the first half of a ring all-reduce: rank r ends with the sum of one piece
 *   all_gather      the second half: the pieces of all ranks go to all
 *   all_to_all      piece by piece, in rounds: in round k rank r sends to r + k, which takes it
 * when it has come to that round, and waits for what r - k sends (pairwise exchange, as MPICH for
 * long messages: Thakur, Rabenseifner and Gropp, IJHPCA 2005). Sent before, messages of several
 * rounds meet at a receiver and drift apart: 1.5 to 1.8 times as long in racks of four hosts
 *   point_to_point  the first of two workers sends, the second receives
 *
 * Each takes (n - 1) / n of a tensor's bytes at the rate of a link, where links do not block; a
 * point_to_point takes all of them (inasim formula reduce_scatter, all_to_all).
 *
 * A worker takes part when it has called contribute(), also where it only receives. Of struct
 * collective_ops there are the members that a running job calls; start() takes what schedule_open()
 * gives, of the ring's parameters, and never fails. */
#ifndef INASIM_COLLECTIVE_STEPS_H
#define INASIM_COLLECTIVE_STEPS_H

#include "collective/schedule.h"

extern const struct collective_ops reduce_scatter_collective, all_gather_collective,
	all_to_all_collective, point_to_point_collective;

#endif
