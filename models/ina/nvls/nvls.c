/* NVLS: collectives of the GPUs of one NVLink domain through its NVSwitch (NVLink SHARP; PTX ISA,
 * multimem.ld_reduce and multimem.st). Each GPU owns a piece of every tensor. For its piece
 *
 *   reduce-scatter  it asks the switch for the sum; the switch reads the piece from all GPUs, adds,
 *                   and answers with the sum;
 *   all-gather      it stores its shard, and the switch writes the shard to all;
 *   all-reduce      it asks for the sum, and stores the sum at all.
 *
 * So in an all-reduce of S bytes a GPU sends and receives S + S/N each, where a ring takes
 * 2 (N - 1)/N S each way. A reduce-scatter or an all-gather alone takes S, more than a ring's
 * (N - 1)/N S, because the own piece crosses the link, too. Requests load the links from the
 * switch: each packet of a sum takes a READ to every GPU.
 *
 * A domain is a switch, and all GPUs of a job are its hosts. Links lose nothing (NVLink has
 * credits, for which PAUSE stands here), so nothing is retransmitted.
 *
 * Window: a GPU begins row r when it has completed row r - window. It then has all other GPUs'
 * stores of that row, and paths keep the order. So no GPU gets a row that is a window ahead of its
 * own rows, and the switch needs one place for each chunk of a window. (In a reduce-scatter there
 * are no stores, and a GPU gets only sums that it has asked for.)
 *
 * Simplified, and our choice: NCCL begins with a barrier of all GPUs. Here the switch's reads take
 * its place: a late GPU answers them when it has the tensor, which saves the barrier's round trip.
 * A real domain has several switches, each with a part of every GPU's links and of the addresses;
 * here it is one switch with the rate of all. A GPU sees a store as soon as it has come. Sums and
 * copies of 32-bit elements are made at the links' rate, and multimem.red is not used. */
#include "ina/nvls/nvls.h"

#include <inttypes.h>

static const struct conf_row rows[] = {
	CONF_BYTES("memory", struct nvls_conf, memory, "16MB", 8, UINT64_C(1) << 40,
		   "Memory of each switch for sums under way, of all jobs. A job takes as much as "
		   "its window.",
		   "our choice; nothing is published"),
	CONF_BYTES(
		"window", struct nvls_conf, window, "4MB", 1, UINT64_C(1) << 32,
		"Bytes that all GPUs of a job together have under way; at least two packets each.",
		"our choice: 9 us at 450 GB/s, enough for GPUs 1 us apart"),
	CONF_INT("elements_per_packet", struct nvls_conf, packets.elements, "32", 1, 4096,
		 "32-bit elements in a packet.", "our choice: 128 bytes, a line of a GPU's cache"),
	CONF_INT("header", struct nvls_conf, packets.header, "32", 1, 200,
		 "Bytes of a packet besides the elements.",
		 "a protocol overhead of about 20 % (NCCL's maintainers, nccl-tests issue 212): 32 "
		 "of 160"),
	CONF_INT("request", struct nvls_conf, request, "32", 1, 200,
		 "Bytes of a packet that asks for elements: the owner asks the switch, the switch "
		 "all GPUs.",
		 "our reading: a header"),
	{ 0 },
};
extern const struct conf_table nvls_table; /* named by collective/schemes.c */
const struct conf_table nvls_table = { "nvls", rows, sizeof(struct nvls_conf),
				       "NVLS: the GPUs of one NVSwitch domain." };

static void nvls_check(const void *conf, const struct topology_conf *topology, struct conf_doc *doc,
		       const char *scheme)
{
	(void)conf, (void)scheme;
	if (topology_loses(topology))
		conf_error(doc, "/topology", "links lose packets: NVLS has no recovery");
	if (!topology_pause(topology, false).on)
		conf_error(doc, "/topology/switch",
			   "NVLS needs links that lose nothing: \"pause\": true");
}

/* What no placement can give. Whether a job finds all of its hosts below one switch, only a run
 * knows. */
static void nvls_warn(const void *conf, const struct topology_conf *topology, uint32_t workers,
		      uint32_t servers, struct conf_doc *doc, const char *pointer)
{
	(void)conf, (void)servers;
	if (workers > topology_rack(topology))
		conf_warn(doc, pointer,
			  "NVLS adds up below one switch, and the largest has %" PRIu32
			  " hosts: jobs of %" PRIu32 " workers are refused",
			  topology_rack(topology), workers);
}

/* In an all-reduce each of N GPUs sends S + S/N, which is (N + 1) S together. */
static double nvls_injected(uint32_t workers, uint32_t gpus, bool beside)
{
	(void)gpus, (void)beside;
	return workers + 1;
}

/* --- packets --- */

static void nvls_at_switch(void *self, uint32_t sw, uint32_t back, struct packet *packet,
			   struct switch_actions *actions)
{
	struct nvls *job = ina_job_of(self, packet);

	(void)back;
	if (job) /* else the job is over */
		nvls_at_node(job, ina_node_at(&job->base, sw), packet, actions);
}

static void nvls_at_host(void *self, uint32_t host, const struct packet *packet)
{
	const struct nvls *job = ina_job_of(self, packet);

	if (job)
		nvls_deliver(ina_worker_on(&job->base, host), packet);
}

/* --- jobs --- */

static bytes nvls_memory(const void *self, const struct tree_node *place)
{
	const struct ina_job *job = self;
	const struct nvls_conf *conf = job->scheme->conf;

	(void)place;
	return ina_rows(job, conf->window) * job->spec.workers * ina_payload(conf);
}

static bool nvls_admit(void *self, const char **never)
{
	const struct ina_job *job = self;
	const struct tree *tree = job->tree.tree;

	if (tree->node_count > 1 && ina_passing(job, tree->nodes[0].sw) == TREE_NONE) {
		*never = "its workers are below more than one switch";
		return false;
	}
	return ina_reserve(job, never);
}

static void begin_reduce(void *self)
{
	struct nvls *job = self;
	const struct nvls_conf *conf = job->base.scheme->conf;

	job->window = ina_rows(&job->base, conf->window);
	nvls_node_begin(job);
	for (uint32_t w = 0; w < nvls_gpus(job); w++)
		nvls_gpu_begin((struct nvls_gpu *)ina_worker(&job->base, w));
}

static void begin_gather(void *job)
{
	((struct nvls *)job)->kind = NVLS_ALL_GATHER;
	begin_reduce(job);
}

static void nvls_end(void *self)
{
	struct nvls *job = self;

	for (uint32_t w = 0; w < nvls_gpus(job); w++)
		nvls_gpu_end((struct nvls_gpu *)ina_worker(&job->base, w));
	nvls_node_end(job);
}

/* A link that has failed may have lost packets, and nothing is retransmitted. */
static bool nvls_intact(const void *self, bool links)
{
	const struct ina_job *job = self;

	return ina_intact(job, links) && !(links && ina_tree_failed(job, job->tree.tree));
}

#define KIND(kind, ...)                                                                            \
	static const struct ina_ops kind##_ops = { .title = "NVLS " #kind,                         \
						   .bypass = { .answers = true },                  \
						   .size = { .job = sizeof(struct nvls),           \
							     .worker = sizeof(struct nvls_gpu),    \
							     .node = sizeof(struct nvls_node) },   \
						   .protocol = { .name = "nvls_" #kind,            \
								 .flags = { "read", "store" },     \
								 .deliver = nvls_at_host,          \
								 .at_switch = nvls_at_switch,      \
								 .about = ina_about },             \
						   .pull = nvls_pull,                              \
						   .pieces = true,                                 \
						   .contribute = nvls_contribute,                  \
						   .root = "nvls root",                            \
						   .begin = begin_##kind,                          \
						   .end = nvls_end,                                \
						   .waits = nvls_waits,                            \
						   __VA_ARGS__ }

KIND(gather, .admit = nvls_admit);
KIND(reduce, .memory = nvls_memory, .admit = nvls_admit,
     .too_large = "its window is more than the memory of the switch");

static void *nvls_open(const struct model_env *env, const void *self)
{
	const struct nvls_conf *conf = self;
	struct ina_scheme *scheme =
		ina_open(&reduce_ops, env, conf, (struct ina_format){ .memory = conf->memory });

	scheme->gather = ina_open(&gather_ops, env, conf, (struct ina_format){ 0 });
	return scheme;
}

static void *start_scatter(void *scheme, const struct collective_job *spec, const char **never)
{
	struct nvls *job = ina_admit(scheme, spec, never);

	if (!job)
		return NULL;
	job->kind = NVLS_REDUCE_SCATTER;
	ina_begin(&job->base);
	return job;
}

#define COLLECTIVE                                                                                 \
	.contribute = ina_contribute, .finish = ina_finish, .stats = ina_stats,                    \
	.report_waiting = ina_report_waiting, .intact = nvls_intact

static const struct collective_ops reduce_scatter = { .name = "nvls",
						      .start = start_scatter,
						      COLLECTIVE };
static const struct collective_ops all_gather = { .name = "nvls",
						  .start = ina_start_gather,
						  COLLECTIVE };

const struct collective_ops nvls_collective = {
	.name = "nvls",
	.help = "all-reduce through the NVSwitch of one NVLink domain",
	.table = &nvls_table,
	.check = nvls_check,
	.warn = nvls_warn,
	.injected = nvls_injected,
	.open = nvls_open,
	.close = ina_close,
	.start = ina_start,
	COLLECTIVE,
	.memory = ina_memory,
	.frame = ina_frame,
	.payload = ina_payload,
	.reduce_scatter = &reduce_scatter,
	.all_gather = &all_gather,
};
