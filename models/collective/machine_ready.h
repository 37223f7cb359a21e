/* Ready machines, for "gpus" of /topology/host. Rates are those that NCCL counts with, a fifth
 * below those of the wire, as frames and flow control take the rest. */
#ifndef INASIM_COLLECTIVE_MACHINE_READY_H
#define INASIM_COLLECTIVE_MACHINE_READY_H

#include "collective/machine_conf.h"

#include <stddef.h>

/* Names, for ENUM rows. */
extern const char *const machine_ready_names[];

/* By enum machine_inside; for ENUM rows. */
extern const char *const machine_inside_names[];

/* What results say of what GPUs of a machine exchange: "rates" or "links"; NULL: there is one. */
const char *machine_inside_of(const struct machine_conf *machine);

/* Sets the GPUs of a ready machine, if the user named one. */
void machine_ready_set(struct machine_conf *machine);

/* The links of a hybrid cube mesh of 8 GPUs: *a and *b become its link number `index`, from 0, and
 * the value is how many NVLinks it has; 0: there is no such link. Pairs without a link talk by the
 * network (NCCL would let a GPU between them forward). */
unsigned machine_cube_mesh(size_t index, uint32_t *a, uint32_t *b);

#endif
