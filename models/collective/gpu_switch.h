/* NVLS among GPUs of one machine whose links are a rate (struct gpus_conf): a closed form,
 * formula_machine_switch(). models/ina/nvls simulates the packets where GPUs are hosts of a
 * network. The switch takes a group's tensors one after the other, each when all members have
 * handed it over; other groups of the machine have GPUs, and so links, of their own.
 *
 * Simplified: what the GPUs send each other by other schemes meanwhile takes nothing from the same
 * links. */
#ifndef INASIM_COLLECTIVE_GPU_SWITCH_H
#define INASIM_COLLECTIVE_GPU_SWITCH_H

#include "collective/collective.h"

/* The tables have only the members that a running job calls. start() takes the run's struct
 * model_env, and never fails. */
extern const struct collective_ops gpu_switch_all_reduce, gpu_switch_reduce_scatter,
	gpu_switch_all_gather;

#endif
