/* A GPU of an NVLink domain. nvls.c says what is modelled. */
#include "ina/nvls/nvls.h"

#include "base/mem.h"
#include "base/ring.h"

#include <inttypes.h>
#include <stdlib.h>

static struct nvls *nvls_of(const struct nvls_gpu *gpu)
{
	return (struct nvls *)gpu->base.job;
}

/* How many packets of a row a GPU gets. */
static uint32_t nvls_row_in(const struct nvls *job)
{
	return job->kind == NVLS_REDUCE_SCATTER ? 1 : nvls_gpus(job);
}

/* --- sending --- */

static bool is_empty(const struct nvls_queue *queue)
{
	return queue->first == queue->end;
}

static void nvls_put(struct nvls_queue *queue, struct nvls_item item)
{
	queue->ring = ring_reserve(queue->ring, &queue->mask, queue->first, queue->end,
				   sizeof(*queue->ring));
	queue->ring[queue->end++ & queue->mask] = item;
}

static struct nvls_item nvls_take(struct nvls_queue *queue)
{
	return queue->ring[queue->first++ & queue->mask];
}

static bool may_begin(const struct nvls_gpu *gpu)
{
	return gpu->row < ina_available(&gpu->base) &&
	       gpu->row < gpu->base.results + nvls_of(gpu)->window;
}

/* Asks for the sum of the next packet of the own piece or, in an all-gather, stores the packet. */
static void begin_row(struct nvls_gpu *gpu, struct packet *packet)
{
	const struct nvls *job = nvls_of(gpu);
	const struct nvls_conf *conf = job->base.scheme->conf;

	ina_packet(packet, &gpu->base, gpu->row++ * nvls_gpus(job) + gpu->base.number);
	packet->flags = NVLS_STORE;
	if (job->kind == NVLS_ALL_GATHER)
		return;
	packet->flags = NVLS_READ;
	packet->value = 0;
	packet->size = (uint16_t)conf->request;
}

static bool nvls_has_packets(const struct nvls_gpu *gpu)
{
	return may_begin(gpu) || !is_empty(&gpu->stores) || !is_empty(&gpu->elements);
}

/* Requests and stores go before elements. Otherwise a window of elements would have to leave before
 * its first sum, and the two directions would take turns. */
enum nic_pull nvls_pull(void *owner, struct packet *packet)
{
	struct nvls_gpu *gpu = owner;

	if (may_begin(gpu)) {
		begin_row(gpu, packet);
	} else if (!is_empty(&gpu->stores)) {
		struct nvls_item store = nvls_take(&gpu->stores);

		ina_packet(packet, &gpu->base, store.chunk);
		packet->flags = NVLS_STORE;
		packet->value = store.value;
	} else if (!is_empty(&gpu->elements)) {
		ina_packet(packet, &gpu->base, nvls_take(&gpu->elements).chunk);
	} else {
		return NIC_NOTHING;
	}
	return nvls_has_packets(gpu) ? NIC_MORE : NIC_LAST;
}

/* --- packets that come --- */

/* Ends complete rows, in order, and only rows that the GPU has handed over. */
static void nvls_complete(struct nvls_gpu *gpu)
{
	const struct nvls *job = nvls_of(gpu);

	if (gpu->completing) /* ina_complete() has called the job, which has handed over more */
		return;
	gpu->completing = true;
	while (gpu->base.results < ina_available(&gpu->base) &&
	       !gpu->missing[gpu->base.results % job->window]) {
		gpu->missing[gpu->base.results % job->window] = nvls_row_in(job);
		ina_complete(&gpu->base, gpu->base.results);
	}
	gpu->completing = false;
}

/* Takes a packet that a row needs, and whose value is right. */
static void arrived(struct nvls_gpu *gpu, const struct packet *packet)
{
	struct nvls *job = nvls_of(gpu);
	uint64_t row = packet->chunk / nvls_gpus(job);
	uint32_t *missing = &gpu->missing[row % job->window];

	if (row < gpu->base.results || row >= gpu->base.results + job->window || !*missing) {
		/* after a failed link has lost packets, GPUs may be more than a window apart */
		if (!ina_tree_failed(&job->base, job->base.tree.tree))
			ina_violated(&job->base, ina_host(&gpu->base), packet->chunk,
				     "a row beyond the window");
		return;
	}
	why_result(job->base.why, gpu->base.number, packet->chunk);
	--*missing;
	nvls_complete(gpu);
}

/* Takes a sum or a shard that is stored at all GPUs. */
static void stored(struct nvls_gpu *gpu, const struct packet *packet)
{
	const struct nvls *job = nvls_of(gpu);

	if (job->kind == NVLS_ALL_GATHER
		    ? ina_holds_shard(&gpu->base, packet->chunk % nvls_gpus(job), packet->chunk,
				      packet->value)
		    : ina_holds(&gpu->base, packet->chunk, packet->value))
		arrived(gpu, packet);
}

/* Takes a sum of the own piece: keeps it, or stores it at all GPUs including this one. */
static void summed(struct nvls_gpu *gpu, const struct packet *packet)
{
	struct nvls *job = nvls_of(gpu);

	if (packet->chunk % nvls_gpus(job) != gpu->base.number) {
		ina_violated(&job->base, ina_host(&gpu->base), packet->chunk,
			     "the sum of another GPU");
		return;
	}
	if (!ina_holds(&gpu->base, packet->chunk, packet->value))
		return;
	if (job->kind == NVLS_REDUCE_SCATTER)
		arrived(gpu, packet);
	else
		nvls_put(&gpu->stores, (struct nvls_item){ packet->chunk, packet->value });
}

/* Queues elements that the switch reads. They may not have been handed over yet. */
static void nvls_give(struct nvls_gpu *gpu, struct nvls_item item)
{
	uint64_t row = item.chunk / nvls_gpus(nvls_of(gpu));

	nvls_put(row < ina_available(&gpu->base) ? &gpu->elements : &gpu->early, item);
}

void nvls_deliver(struct nvls_gpu *gpu, const struct packet *packet)
{
	if (packet->flags & NVLS_STORE)
		stored(gpu, packet);
	else if (packet->flags & NVLS_READ)
		nvls_give(gpu, (struct nvls_item){ .chunk = packet->chunk });
	else
		summed(gpu, packet);
	if (nvls_has_packets(gpu))
		ina_wake(&gpu->base);
}

/* --- tensors --- */

void nvls_contribute(void *self, uint64_t first, uint64_t chunks)
{
	struct nvls_gpu *gpu = self;

	(void)first, (void)chunks;
	/* each item once: nvls_give() may put it back */
	for (uint64_t early = gpu->early.end - gpu->early.first; early; early--)
		nvls_give(gpu, nvls_take(&gpu->early));
	nvls_complete(gpu);
	if (nvls_has_packets(gpu))
		ina_wake(&gpu->base);
}

bool nvls_waits(const void *self, char *text, size_t size)
{
	const struct nvls_gpu *gpu = self;
	uint64_t rows = ina_available(&gpu->base);

	snprintf(text, size, "has %" PRIu64 " of %" PRIu64 " rows and has begun %" PRIu64,
		 gpu->base.results, rows, gpu->row);
	return gpu->base.results < rows;
}

/* --- life --- */

void nvls_gpu_begin(struct nvls_gpu *gpu)
{
	const struct nvls *job = nvls_of(gpu);

	gpu->missing = xcalloc(job->window, sizeof(*gpu->missing));
	for (uint64_t i = 0; i < job->window; i++)
		gpu->missing[i] = nvls_row_in(job);
}

void nvls_gpu_end(struct nvls_gpu *gpu)
{
	free(gpu->missing);
	free(gpu->stores.ring);
	free(gpu->elements.ring);
	free(gpu->early.ring);
}
