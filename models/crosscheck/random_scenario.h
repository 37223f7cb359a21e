/* Small scenarios at random, to hold the fidelities against each other.
 *
 * A star, leaf-spine or fat tree of 4 to 24 hosts at 10 to 100 Gbps; 1 to 6 jobs of 2 to
 * 16 workers with 1 to 3 tensors of 1 to 50 MB, 1 to 5 iterations and some computing, arriving
 * within 2 ms. In a fifth of the scenarios one job is alone, in two fifths all jobs are under one
 * scheme, in two fifths under any, in half of these with long flows. In half of the scenarios a
 * host takes one worker, in the others one of every job; nobody waits for hosts, and memory and
 * buffers of switches are ample. Sizes shrink (never below 1 MB) where a packet run would take more
 * than some seconds.
 *
 * Nothing else is random in them: no jitter, no losses, no short flows. */
#ifndef INASIM_CROSSCHECK_RANDOM_SCENARIO_H
#define INASIM_CROSSCHECK_RANDOM_SCENARIO_H

#include <stdint.h>

/* Scenario `number` of `seed`, as JSON text: a function of the two alone. Always valid.
 * The caller frees. */
char *random_scenario(uint64_t seed, uint64_t number);

#endif
