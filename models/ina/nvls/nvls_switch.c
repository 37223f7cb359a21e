/* The NVSwitch of a job. nvls.c says what is modelled. */
#include "ina/nvls/nvls.h"

#include "base/mem.h"

#include <stdlib.h>

void nvls_node_begin(struct nvls *job)
{
	struct nvls_node *node = ina_node(&job->base, 0);
	const struct tree *tree = job->base.tree.tree;
	uint32_t gpus = nvls_gpus(job);

	node->ports = xcalloc(gpus, sizeof(*node->ports));
	for (uint32_t w = 0; w < gpus; w++)
		node->ports[w] = node->base.place->down_ports[tree->number_of_worker[w]];
	if (job->kind != NVLS_ALL_GATHER)
		node->sums = xcalloc(job->window * gpus, sizeof(*node->sums));
}

void nvls_node_end(struct nvls *job)
{
	struct nvls_node *node = ina_node(&job->base, 0);

	free(node->sums);
	free(node->ports);
}

static void wrong(const struct nvls *job, const struct nvls_node *node, const struct packet *packet,
		  const char *what)
{
	ina_violated_at_switch(&job->base, node->base.place->sw, packet->chunk, what);
}

/* The owner asks for a sum: the switch reads from all GPUs including the owner. */
static void nvls_load(const struct nvls *job, struct nvls_node *node, struct nvls_sum *sum,
		      struct packet *packet, struct switch_actions *actions)
{
	if (sum->open) {
		wrong(job, node, packet, "more sums than the window has room for");
		return;
	}
	*sum = (struct nvls_sum){ .open = true };
	ina_send_down(actions, &node->base, packet);
}

/* Adds elements of a GPU. When all are there, sends the sum to the owner. */
static void nvls_add(const struct nvls *job, struct nvls_node *node, struct nvls_sum *sum,
		     struct packet *packet, struct switch_actions *actions)
{
	struct collective_stats *stats = &node->base.memory->stats;

	if (!sum->open) {
		wrong(job, node, packet, "elements that nobody has asked for");
		return;
	}
	sum->value += packet->value;
	stats->packets_aggregated++;
	if (++sum->count < nvls_gpus(job))
		return;
	stats->results++;
	sum->open = false;
	packet->value = sum->value;
	packet->flags = PACKET_RESULT;
	ina_send(actions, packet, &node->ports[packet->chunk % nvls_gpus(job)], 1);
}

void nvls_at_node(struct nvls *job, struct nvls_node *node, struct packet *packet,
		  struct switch_actions *actions)
{
	uint64_t gpus = nvls_gpus(job);
	struct nvls_sum *sum;

	if (packet->flags & NVLS_STORE) {
		packet->flags |= PACKET_RESULT;
		ina_send_down(actions, &node->base, packet);
		return;
	}
	sum = &node->sums[packet->chunk / gpus % job->window * gpus + packet->chunk % gpus];
	if (packet->flags & NVLS_READ)
		nvls_load(job, node, sum, packet, actions);
	else
		nvls_add(job, node, sum, packet, actions);
}
