/* Collectives through an NVSwitch, private to models/ina/nvls/ and its tests.
 *
 *   nvls.c         parameters, jobs, the collectives; its top says what is modelled
 *   nvls_switch.c  reading from all GPUs, adding, storing at all
 *   nvls_gpu.c     requests within the window, answers, tensors
 *
 * A tensor has N equal pieces, one for each of the N GPUs of the job. Row r of the stream of
 * tensors consists of the r-th packet of each piece: chunk r N + i belongs to piece i, which GPU i
 * owns. */
#ifndef INASIM_INA_NVLS_NVLS_H
#define INASIM_INA_NVLS_NVLS_H

#include "ina/common/ina.h"

/* Flags of packets. A packet with neither carries a GPU's elements up or, with PACKET_RESULT, the
 * sum down to the owner. */
enum {
	/* Up, the owner asks for a sum (multimem.ld_reduce); down, the switch asks each GPU for its
	 * elements. */
	NVLS_READ = PACKET_OWN(0),
	NVLS_STORE = PACKET_OWN(1), /* carries elements for all GPUs (multimem.st) */
};

struct nvls_conf {
	struct ina_packet_conf packets;
	bytes memory, window;
	int64_t request;
};

enum nvls_kind { NVLS_ALL_REDUCE, NVLS_REDUCE_SCATTER, NVLS_ALL_GATHER };

/* What the switch has of a chunk. */
struct nvls_sum {
	uint64_t value;
	uint32_t count; /* GPUs in the sum */
	bool open;      /* the owner waits for the sum */
};

struct nvls_node {
	struct ina_node base;
	struct nvls_sum *sums; /* [row mod window * N + piece]; NULL for an all-gather */
	uint32_t *ports;       /* by GPU */
};

/* An item to send: elements that the switch reads, or a sum to store. */
struct nvls_item {
	uint64_t chunk, value;
};

struct nvls_queue {
	struct nvls_item *ring;
	uint64_t mask, first, end;
};

/* `base.results` counts the rows that are complete here. They complete in order. */
struct nvls_gpu {
	struct ina_worker base;
	uint64_t row;                       /* next row to ask for or, in an all-gather, to store */
	struct nvls_queue stores, elements; /* wait for the NIC */
	struct nvls_queue early; /* elements to send once their tensors are handed over */
	uint32_t *missing;       /* by row mod window: packets that have not come */
	bool completing;         /* nvls_complete() is running */
};

struct nvls {
	struct ina_job base;
	enum nvls_kind kind;
	uint64_t window; /* rows under way */
};

static inline uint32_t nvls_gpus(const struct nvls *job)
{
	return job->base.spec.workers;
}

/* --- at the switch --- */

void nvls_node_begin(struct nvls *job);
void nvls_node_end(struct nvls *job);
void nvls_at_node(struct nvls *job, struct nvls_node *node, struct packet *packet,
		  struct switch_actions *actions);

/* --- at GPUs --- */

void nvls_gpu_begin(struct nvls_gpu *gpu);
void nvls_gpu_end(struct nvls_gpu *gpu);
void nvls_deliver(struct nvls_gpu *gpu, const struct packet *packet);
enum nic_pull nvls_pull(void *gpu, struct packet *packet);

/* Fit ina_ops. */
void nvls_contribute(void *gpu, uint64_t first, uint64_t chunks);
bool nvls_waits(const void *gpu, char *text, size_t size);

#endif
