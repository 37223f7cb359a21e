/* All-gather by multicast (Khalilov, Di Girolamo, Chrapek, Nudelman, Bloch and Hoefler,
 * "Network-Offloaded Bandwidth-Optimal Broadcast and Allgather for Distributed AI", SC 2024,
 * arXiv:2408.13356), for jobs that shard (ZeRO, FSDP). Each rank sends its shard once, in
 * unreliable datagrams. The switches of the job's tree copy it to all other ranks and keep nothing.
 *
 * Chains: `chains` ranks send at a time. In each chain ranks r, r + chains, r + 2 chains ... take
 * turns: a rank starts when it has seen the last packet of the rank before. With one chain each
 * receiver gets one shard at a time at the rate of its link. More chains hide the pause between two
 * ranks, but their packets meet in queues.
 *
 * Recovery: a rank keeps a bitmap of chunks. When no new row of the oldest incomplete shard has
 * come for `cutoff`, the rank asks its left neighbour for the missing rows. It also asks for
 * missing rows of each later shard of which no new row has come for `cutoff`, or none at all
 * although a rank `chains` or more further on has begun. Questions and answers go over reliable
 * connections. The neighbour answers with the chunks that it has. It fetches others from its own
 * left neighbour in the same way, and then passes them on. The owner of a shard answers with chunks
 * that it has multicast. No rank answers the same chunk twice.
 *
 * Handshake: a rank that has all shards tells its left neighbour. The rank's all-gather ends when
 * its right neighbour has all shards, too: the rank is not asked again, and may reuse its buffers.
 * As a rank ends only when all have begun, no rank is more than one all-gather behind another.
 *
 * Our readings, where we know no source, or two that differ:
 *   - Chains: UCC's multicast all-gather (tl/mlx5, 2026) starts `concurrency` neighbouring ranks at
 *     each step, which has the same effect.
 *   - Cut-off: the time of each shard runs from its last packet; that of the oldest doubles at each
 *     timeout in vain. SC'24 adds a constant to the time that the bytes take; UCC waits for
 *     a second.
 *   - Who repairs: as in SC'24, missing packets come from the left neighbour. UCC reads a whole
 *     shard from its owner's memory.
 *   - Handshake: between neighbours. UCC ends in a barrier.
 *   - Buffers: a rank takes packets of the next all-gather before it has begun it, so that no
 *     barrier comes first (in SC'24 it may have no buffers for them). An all-gather begins when
 *     the one before has ended.
 * Simplified: copying and work on bitmaps take no time. ECN marks have no effect. */
#include "ina/multicast/multicast.h"

#include "base/mem.h"

#include <stdlib.h>

static const struct conf_row rows[] = {
	CONF_INT("chains", struct multicast_conf, chains, "1", 1, 65536,
		 "Number of ranks that send at a time; in a job of no more ranks than this, all "
		 "send at once.",
		 "SC'24: 1 needs least buffer"),
	CONF_INT("elements_per_packet", struct multicast_conf, packets.elements, "256", 1, 1024,
		 "32-bit elements in a packet.",
		 "RoCE's MTU of 1,024 bytes, which fits Ethernet of 1,500; the largest has 4,096"),
	CONF_INT(
		"header", struct multicast_conf, packets.header, "74", 20, 200,
		"Bytes of a frame besides the elements (Ethernet 14, IP 20, UDP 8, BTH 12, DETH 8, "
		"immediate data 4, ICRC 4, FCS 4).",
		"IBTA, annex 17"),
	CONF_TIME("cutoff", struct multicast_conf, cutoff, "1ms", PS_PER_US, 100 * PS_PER_S,
		  "A rank fetches the missing part of a shard when nothing new of the shard has "
		  "come for so long. The time doubles until something comes.",
		  "our choice; UCC: 1 s"),
	{ 0 },
};
extern const struct conf_table multicast_table; /* named by collective/schemes.c */
const struct conf_table multicast_table = { "multicast", rows, sizeof(struct multicast_conf),
					    "All-gather by multicast." };

/* --- packets --- */

static void multicast_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
				struct switch_actions *actions)
{
	const struct ina_job *job = ina_job_of(self, packet);
	const struct multicast_node *node;

	if (!job) /* the job is over */
		return;
	node = ina_node_at(job, sw);
	ina_group_send_others(actions, &node->group, packet, ina_group_from(&node->group, back));
}

static void multicast_at_host(void *self, uint32_t host, const struct packet *packet)
{
	const struct ina_job *job = ina_job_of(self, packet);

	if (job)
		multicast_deliver(ina_worker_on(job, host), packet);
}

/* --- jobs --- */

static void multicast_begin(void *self)
{
	struct multicast *job = self;

	job->first = array_reserve(NULL, 0, &job->capacity, sizeof(*job->first));
	job->first[0] = 0;
	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++)
		ina_group_open(&((struct multicast_node *)ina_node(&job->base, n))->group,
			       &job->base, n);
	for (uint32_t w = 0; w < multicast_ranks(job); w++)
		multicast_worker_begin((struct multicast_worker *)ina_worker(&job->base, w));
}

static void multicast_end(void *self)
{
	struct multicast *job = self;

	for (uint32_t w = 0; w < multicast_ranks(job); w++)
		multicast_worker_end((struct multicast_worker *)ina_worker(&job->base, w));
	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++)
		ina_group_close(&((struct multicast_node *)ina_node(&job->base, n))->group);
	free(job->first);
}

static const struct ina_ops ops = {
	.title = "multicast",
	.size = { .job = sizeof(struct multicast),
		  .worker = sizeof(struct multicast_worker),
		  .node = sizeof(struct multicast_node) },
	.protocol = { .name = "multicast",
		      .deliver = multicast_at_host,
		      .at_switch = multicast_at_switch,
		      .about = ina_about },
	.pull = multicast_pull,
	.pieces = true,
	.root = "multicast root",
	.begin = multicast_begin,
	.end = multicast_end,
	.waits = multicast_waits,
};

static void *multicast_open(const struct model_env *env, const void *self)
{
	return ina_open(&ops, env, self, (struct ina_format){ 0 });
}

#define COLLECTIVE                                                                                 \
	.name = "multicast", .start = ina_start, .contribute = multicast_contribute,               \
	.finish = ina_finish, .stats = ina_stats, .intact = ina_intact,                            \
	.report_waiting = ina_report_waiting

static const struct collective_ops all_gather = { COLLECTIVE };

const struct collective_ops multicast_collective = {
	COLLECTIVE,
	.help = "all-gather by multicast with chains, for jobs that shard",
	.table = &multicast_table,
	.traits.messages = true,
	.open = multicast_open,
	.close = ina_close,
	.frame = ina_frame,
	.payload = ina_payload,
	.all_gather = &all_gather,
};
