/* Shards: reduce-scatter and all-gather by switches, for jobs that shard (ZeRO, FSDP). The scheme
 * is ours, made of known parts, and no product's. Pieces are added in slots with a window, as in
 * SwitchML (Sapio et al., arXiv:1903.06701), and switches forward shards as in multicast
 * all-gathers (Khalilov et al., "Network-Offloaded Bandwidth-Optimal Broadcast and Allgather for
 * Distributed AI", SC 2024, arXiv:2408.13356). It shows what a scheme of this kind can gain. A rank
 *
 *   reduce-scatter  sends the N - 1 pieces of the others and receives the sum of its own;
 *   all-gather      sends its shard and receives the N - 1 of the others,
 *
 * each byte once on each link, so the two mainly load opposite directions.
 *
 * All-gather: a switch of the job's tree sends a shard to all its neighbours in the tree but the
 * one from which the shard came. It keeps nothing. Reduce-scatter is the reverse: for piece i, rank
 * i is the root. A switch adds the pieces from all neighbours but the one that leads to rank i, and
 * sends the sum to that neighbour. The owner adds its own part.
 *
 * Window: a rank sends row r when it has received its part of row r - window. This paces all ranks:
 * none is ever sent a row two windows ahead of its own. The window also replaces acknowledgements:
 * a rank that has row r knows that all others have sent row r, and so have row r - window. So a
 * switch that keeps two windows of sums never overwrites a sum that a rank may ask for.
 *
 * Recovery: a rank asks for missing chunks. Paths keep the order, so rows missing between two that
 * have come are lost, and the rank asks for them at once. For others it asks after `timeout`
 * without a new packet. Each timeout in vain doubles the wait, and halves the number of rows that
 * the rank asks for. Both are our choice. If queues take longer than a fixed timeout,
 * retransmissions keep them full for ever; and the questions of ranks that time out together fill
 * the queues that the answers need. In an all-gather a rank asks the owner of the shard, which
 * retransmits to that rank alone. In a reduce-scatter it asks its switch, which sends the sum
 * again. If the switch has no sum, it asks one or two neighbours whose parts it lacks, and so on
 * down to ranks. A rank that has not sent all of the row yet does not answer.
 *
 * Simplified, and our choice: packets are processed in the switch's constant latency; a header has
 * room for whole row numbers; adding the own part takes no time; gradients are 32-bit integers;
 * hosts keep all packets that may still be asked for. A rank counts as having its sum as soon as it
 * is there, even if its pieces for others still wait for the NIC. All ranks send at once, where
 * SC'24 has chains of ranks that take turns. Here a window keeps queues short instead, and no link
 * idles between turns. SC'24 repairs from the left neighbour by RDMA reads; here answers come over
 * the tree. Windows ignore ECN marks. */
#include "ina/shards/shards.h"

#include "collective/steps.h"

static const struct conf_row rows[] = {
	CONF_BYTES("memory", struct shards_conf, memory, "16MB", 8, UINT64_C(1) << 40,
		   "Memory of each switch for sums of reduce-scatters, of all jobs. A job takes "
		   "two windows.",
		   "our choice"),
	CONF_BYTES("window", struct shards_conf, window, "256KB", 1, UINT64_C(1) << 32,
		   "Bytes that all ranks of a job together have under way to one of them; at least "
		   "two packets each.",
		   "our choice: 10 us at 200 Gbps"),
	CONF_INT("elements_per_packet", struct shards_conf, packets.elements, "256", 1, 4096,
		 "32-bit elements in a packet.", "p4app-switchML; SHARP's largest request"),
	CONF_INT(
		"header", struct shards_conf, packets.header, "56", 20, 200,
		"Bytes of a frame besides the elements (Ethernet 14, IP 20, UDP 8, its own 10, FCS "
		"4).",
		"as p4app-switchML"),
	CONF_TIME("timeout", struct shards_conf, timeout, "1ms", PS_PER_US, 100 * PS_PER_S,
		  "A rank that gets nothing new for so long asks for what it lacks. The time "
		  "doubles until something comes.",
		  "SwitchML section 5.5; doubling is our choice"),
	{ 0 },
};
extern const struct conf_table shards_table; /* named by collective/schemes.c */
const struct conf_table shards_table = { "shards", rows, sizeof(struct shards_conf),
					 "Reduce-scatter and all-gather by switches." };

/* --- packets --- */

static void shards_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			     struct switch_actions *actions)
{
	struct shards *job = ina_job_of(self, packet);

	if (job) /* else the job is over */
		shards_at_node(job, ina_node_at(&job->base, sw), back, packet, actions);
}

static void shards_at_host(void *self, uint32_t host, const struct packet *packet)
{
	const struct shards *job = ina_job_of(self, packet);

	if (job)
		shards_deliver(ina_worker_on(&job->base, host), packet);
}

/* --- jobs --- */

static bytes shards_memory(const void *self, const struct tree_node *place)
{
	const struct ina_job *job = self;
	const struct shards_conf *conf = job->scheme->conf;

	(void)place;
	return 2 * ina_rows(job, conf->window) * job->spec.workers * ina_payload(conf);
}

static void begin_scatter(void *self)
{
	struct shards *job = self;
	const struct shards_conf *conf = job->base.scheme->conf;

	job->window = ina_rows(&job->base, conf->window);
	job->kept = 2 * job->window;
	job->words = (shards_ranks(job) + 63) / 64;
	shards_nodes_begin(job);
	for (uint32_t w = 0; w < shards_ranks(job); w++)
		shards_worker_begin((struct shards_worker *)ina_worker(&job->base, w));
}

static void begin_gather(void *job)
{
	((struct shards *)job)->gather = true;
	begin_scatter(job);
}

static void shards_end(void *self)
{
	struct shards *job = self;

	for (uint32_t w = 0; w < shards_ranks(job); w++)
		shards_worker_end((struct shards_worker *)ina_worker(&job->base, w));
	shards_nodes_end(job);
}

#define KIND(kind, ...)                                                                            \
	static const struct ina_ops kind##_ops = { .title = "shards " #kind,                       \
						   .size = { .job = sizeof(struct shards),         \
							     .worker =                             \
								     sizeof(struct shards_worker), \
							     .node = sizeof(struct shards_node) }, \
						   .protocol = { .name = "shards_" #kind,          \
								 .flags = { "ask" },               \
								 .deliver = shards_at_host,        \
								 .at_switch = shards_at_switch,    \
								 .about = ina_about },             \
						   .pull = shards_pull,                            \
						   .pieces = true,                                 \
						   .contribute = shards_contribute,                \
						   .root = "shards root",                          \
						   .begin = begin_##kind,                          \
						   .end = shards_end,                              \
						   .waits = shards_waits,                          \
						   __VA_ARGS__ }

KIND(gather, );
KIND(scatter, .memory = shards_memory,
     .too_large = "two windows are more than the memory of a switch");

static void *shards_open(const struct model_env *env, const void *self)
{
	const struct shards_conf *conf = self;
	struct ina_scheme *scheme =
		ina_open(&scatter_ops, env, conf, (struct ina_format){ .memory = conf->memory });

	scheme->gather = ina_open(&gather_ops, env, conf, (struct ina_format){ 0 });
	return scheme;
}

/* A switch that lacks a sum asks two neighbours because one has asked. */
static struct collective_burst shards_burst(const void *conf, const struct topology_conf *topology,
					    uint32_t ports)
{
	(void)conf, (void)topology, (void)ports;
	return (struct collective_burst){ .packets = 2 };
}

#define COLLECTIVE                                                                                 \
	.contribute = ina_contribute, .finish = ina_finish, .stats = ina_stats,                    \
	.intact = ina_intact, .report_waiting = ina_report_waiting

static const struct collective_ops reduce_scatter = {
	.name = "shards", .start = ina_start, .injected = reduce_scatter_injected, COLLECTIVE
};
static const struct collective_ops all_gather = { .name = "shards",
						  .start = ina_start_gather,
						  COLLECTIVE };

const struct collective_ops shards_collective = {
	.name = "shards",
	.help = "reduce-scatter and all-gather by switches, for jobs that shard",
	.table = &shards_table,
	.open = shards_open,
	.close = ina_close,
	.start = ina_start,
	COLLECTIVE,
	.memory = ina_memory,
	.frame = ina_frame,
	.payload = ina_payload,
	.burst = shards_burst,
	.reduce_scatter = &reduce_scatter,
	.all_gather = &all_gather,
};
