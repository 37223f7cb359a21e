/* What a user may write under "jobs", and what is checked before a run. */
#include "workload/jobs/jobs.h"

#include "base/mem.h"
#include "collective/all_to_all.h"
#include "workload/cluster.h"
#include "workload/data_file.h"
#include "workload/jobs/jobs_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LAYER_MAX (UINT64_C(1) << 44) /* bytes of a layer; check.c bounds the sum of all */

#define MODEL_NAME                                                                                 \
	"A name from traces/models (inasim list models), or a file beside the scenario: "          \
	"NAME.json holds what could be written here in place, layers or a program; PREFIX.et "     \
	"stands for the Chakra traces PREFIX.0.et, PREFIX.1.et and so on, a file a rank, as "      \
	"ASTRA-sim reads them; NAME.goal or NAME.bin is GOAL of LogGOPSim and ATLAHS, without "    \
	"overheads; NAME.txt is a text workload of ASTRA-sim 1 or SimAI. Of these files each "     \
	"stream does its nodes in an order found before the run."

static const struct conf_row layer_rows[] = {
	CONF_STRING("name", struct layer_conf, name, CONF_OPTIONAL, "Label."),
	CONF_BYTES("gradient", struct layer_conf, gradient, CONF_REQUIRED, 1, LAYER_MAX,
		   "Bytes to all-reduce."),
	CONF_TIME("forward", struct layer_conf, forward, "0s", 0, 10000 * PS_PER_S,
		  "Forward computation.", "communication only"),
	CONF_TIME("backward", struct layer_conf, backward, "0s", 0, 10000 * PS_PER_S,
		  "Backward computation.", "communication only"),
	CONF_BYTES("all_to_all", struct layer_conf, all_to_all, CONF_OPTIONAL, 4, LAYER_MAX,
		   "The layer has experts, spread over all workers. So many bytes of tokens of a "
		   "worker, including those that it keeps, go to the experts before the layer "
		   "computes, and come back after it, forward and backward. \"gradient\" then "
		   "leaves experts out: it is what all workers have."),
	{ 0 },
};
static const struct conf_table layer_table = { "layer", layer_rows, sizeof(struct layer_conf),
					       "A layer." };
static const struct conf_row layer_item = { .type = CONF_OBJECT,
					    .table = &layer_table,
					    .help = "A layer." };
static const struct conf_row send_order_item = {
	.type = CONF_INT, .imin = 0, .imax = 99999, .help = "Index of a layer."
};
static const struct conf_row in_place_rows[] = {
	CONF_LIST("layers", struct model_conf, layers, CONF_OPTIONAL, &layer_item, 1, 100000,
		  "The layers, front layer first. A model has layers or roles."),
	CONF_LIST("send_order", struct model_conf, send_order, CONF_OPTIONAL, &send_order_item, 1,
		  1000000,
		  "Layers in the order in which their gradients are sent; a layer that is listed k "
		  "times is sent in k equal parts. Default: last layer first."),
	CONF_LIST("roles", struct model_conf, program.roles, CONF_OPTIONAL, &program_role_item, 1,
		  1000000,
		  "A program instead of layers: what each rank computes, sends and adds up in an "
		  "iteration, and in which order."),
	CONF_LIST("groups", struct model_conf, program.groups, CONF_OPTIONAL, &program_group_item,
		  1, 10000, "Groups of ranks that the nodes of a program name."),
	CONF_OBJECT("llm", struct model_conf, llm, CONF_OPTIONAL, &llm_table,
		    "A training step of a language model instead of layers: a program whose groups "
		    "are \"tensor\", \"data\", \"context\", \"expert\", \"expert_tensor\", "
		    "\"expert_data\" and \"embedding\", as far as it is split so.",
		    .present = CONF_GIVEN(struct model_conf, llm.given)),
	CONF_OBJECT("file", struct model_conf, file, CONF_OPTIONAL, &program_file_table,
		    "A program from a file of another tool, and how it is read.",
		    .present = CONF_GIVEN(struct model_conf, file.given)),
	{ 0 },
};
const struct conf_table model_in_place_table = { "model_in_place", in_place_rows,
						 sizeof(struct model_conf) };
static const struct conf_row model_part_rows[] = {
	CONF_STRING("model", struct mix_part, name, CONF_REQUIRED, MODEL_NAME),
	CONF_REAL("weight", struct mix_part, weight, "1", 1e-9, 1e9,
		  "Fraction of jobs that train this network: this over the sum of all weights.",
		  "all alike"),
	{ 0 },
};
static const struct conf_table model_part_table = { "model_part", model_part_rows,
						    sizeof(struct mix_part) };
static const struct conf_row model_part_item = { .type = CONF_OBJECT,
						 .table = &model_part_table,
						 .help = "A network and its weight." };
static const struct conf_row model_mix_rows[] = {
	CONF_LIST("mix", struct model_conf, mix, CONF_REQUIRED, &model_part_item, 1, 1000,
		  "Each job draws one of these by weight."),
	{ 0 },
};
static const struct conf_table model_mix_table = { "model_mix", model_mix_rows,
						   sizeof(struct model_conf) };
static const struct conf_row model_forms[] = {
	CONF_STRING("named", struct job_group_conf, model.name, CONF_REQUIRED, MODEL_NAME),
	CONF_OBJECT("in_place", struct job_group_conf, model, CONF_REQUIRED, &model_in_place_table,
		    "Layers in place."),
	CONF_OBJECT("mixed", struct job_group_conf, model, CONF_REQUIRED, &model_mix_table,
		    "One of several networks, drawn for each job."),
	{ 0 },
};
static const struct conf_table model_table = { "model", model_forms,
					       sizeof(struct job_group_conf) };

static const struct conf_row range_rows[] = {
	CONF_INT("min", struct workers_conf, min, CONF_REQUIRED, 1, 1000000, "Fewest workers."),
	CONF_INT("max", struct workers_conf, max, CONF_REQUIRED, 1, 1000000, "Most workers."),
	{ 0 },
};
static const struct conf_table range_table = { "workers_range", range_rows,
					       sizeof(struct workers_conf) };
static const struct conf_row workers_forms[] = {
	CONF_INT("number", struct job_group_conf, workers.number, CONF_REQUIRED, 1, 1000000,
		 "So many workers, each on a host of its own."),
	CONF_OBJECT("range", struct job_group_conf, workers, CONF_REQUIRED, &range_table,
		    "A random number of workers for each job, uniform between bounds."),
	CONF_LIST(
		"hosts", struct job_group_conf, workers.hosts, CONF_REQUIRED, &host_item, 1, 0,
		"Workers on these hosts, in the order of ranks: rings, trees and stages follow the "
		"list."),
	{ 0 },
};
static const struct conf_table workers_table = { "workers", workers_forms,
						 sizeof(struct job_group_conf) };

static const char *const rule_names[] = { "duration", NULL };
static const struct conf_row iterations_forms[] = {
	CONF_INT("number", struct job_group_conf, iterations, CONF_REQUIRED, 1, ITERATIONS_MAX,
		 "Iterations of each job."),
	CONF_ENUM("rule", struct job_group_conf, iterations_rule, CONF_REQUIRED, rule_names,
		  "duration: so many that their pure computation takes the duration in the trace."),
	{ 0 },
};
static const struct conf_table iterations_table = { "iterations", iterations_forms,
						    sizeof(struct job_group_conf) };

static const struct conf_row group_scheme_rows[] = {
	CONF_STRING("group", struct group_scheme_conf, group, CONF_REQUIRED,
		    "Name of a group of the program."),
	CONF_ENUM("scheme", struct group_scheme_conf, scheme, CONF_REQUIRED, all_reduce_names,
		  "Its scheme (inasim list schemes)."),
	{ 0 },
};
static const struct conf_table group_scheme_table = { "group_scheme", group_scheme_rows,
						      sizeof(struct group_scheme_conf) };
static const struct conf_row group_scheme_item = { .type = CONF_OBJECT,
						   .table = &group_scheme_table,
						   .help = "The scheme of a group." };

static const struct conf_row straggler_rows[] = {
	CONF_INT("workers", struct job_group_conf, stragglers.workers, "0", 0, 1000000,
		 "So many workers are slow: those with the last ranks.", "none"),
	CONF_REAL("slowdown", struct job_group_conf, stragglers.slowdown, "2", 1, 1e6,
		  "Multiplies the computing time of slow workers.", "our choice"),
	{ 0 },
};
static const char *const fallback_names[] = {
	[FALLBACK_NONE] = "none", [FALLBACK_RING] = "ring", [FALLBACK_PS] = "ps", NULL
};
static const struct conf_table straggler_table = { "stragglers", straggler_rows,
						   sizeof(struct job_group_conf) };

static const char *const overlap_names[] = {
	[OVERLAP_NONE] = "none", [OVERLAP_LAYERS] = "layers", NULL
};

static const char *const jitter_names[] = {
	[JITTER_PER_ITERATION] = "iteration", [JITTER_PER_TENSOR] = "tensor", NULL
};

static const struct conf_row group_rows[] = {
	CONF_STRING("name", struct job_group_conf, name, "job", "Name in results.", "a label"),
	CONF_BOOL("enabled", struct job_group_conf, enabled, "true",
		  "false: leaves these jobs out; random numbers of other groups stay the same.",
		  "our choice"),
	CONF_INT("count", struct job_group_conf, count, CONF_OPTIONAL, 1, JOBS_MAX,
		 "Jobs of this kind. Default: one (at), or as many as arrive before the run ends "
		 "(poisson_gap, poisson_load)."),
	CONF_ONEOF("model", struct job_group_conf, model, CONF_REQUIRED, &model_table, model.form,
		   "The neural network."),
	CONF_STRING("gpu", struct job_group_conf, gpu, "p100",
		    "GPU whose computing times are used: p100, v100, a100, h100, b200.",
		    "PANAMA section 7"),
	CONF_ONEOF("workers", struct job_group_conf, workers, CONF_OPTIONAL, &workers_table,
		   workers.form, "Number of workers; required unless a trace has it.",
		   .present = CONF_GIVEN(struct job_group_conf, workers.given)),
	CONF_ONEOF("servers", struct job_group_conf, servers, CONF_OPTIONAL, &servers_table,
		   servers.form,
		   "Parameter servers, for schemes that have them. Default: as many as the scheme "
		   "wants, on hosts of their own.",
		   .present = CONF_GIVEN(struct job_group_conf, servers.given)),
	CONF_ONEOF("iterations", struct job_group_conf, iterations, "1", &iterations_table,
		   iterations_form,
		   "Training iterations. By default the duration decides, if a trace has one "
		   "(duration_s) and the model computes.",
		   "our choice; with a trace that has duration_s, the trace's",
		   .present = CONF_GIVEN(struct job_group_conf, iterations_given)),
	CONF_INT("max_steps", struct job_group_conf, max_steps, CONF_OPTIONAL, 1, 1000000000,
		 "A job of more iterations than this is simulated in so many steps. Each step "
		 "stands for several iterations, with their computing and their gradients "
		 "together. \"Iterations\" of results are then steps."),
	CONF_ENUM("all_reduce", struct job_group_conf, all_reduce, CONF_REQUIRED, all_reduce_names,
		  "The scheme that adds the gradients up (inasim list schemes)."),
	CONF_ENUM(
		"inside", struct job_group_conf, inside, "scatter", inside_names,
		"What the GPUs of a machine do (topology.host.gpus). scatter: reduce-scatter, the "
		"scheme between machines, all-gather (parallel rings, parallel NetReduce); "
		"master: reduce to one of them for each NIC, the scheme, broadcast; nvls: as "
		"scatter, "
		"but the switch among them adds up and copies; ring: all of them are ranks of one "
		"ring, halving-doubling or tree.",
		"NetReduce section 3.4"),
	CONF_BYTES("inside_chunk", struct job_group_conf, inside_chunk, CONF_OPTIONAL, 1024,
		   UINT64_C(1) << 40,
		   "Unless inside is ring: tensors pass through the stages in equal parts "
		   "of at "
		   "most so many bytes, which overlap, as NCCL's chunks do. Default: whole "
		   "tensors, one "
		   "stage after the other.",
		   "NetReduce section 3.4 adds the times of stages up"),
	CONF_ENUM("sharding", struct job_group_conf, sharding, "none", sharding_names,
		  "What is split among workers. optimizer: the optimizer's state (ZeRO-1 and 2): "
		  "gradients are reduce-scattered, then parameters all-gathered. full: parameters, "
		  "too (ZeRO-3, FSDP): parameters of a layer are all-gathered before its forward "
		  "and before its backward pass, and its gradients reduce-scattered. See "
		  "reduce_scatter and all_gather.",
		  "data parallelism"),
	CONF_ENUM("reduce_scatter", struct job_group_conf, reduce_scatter, CONF_OPTIONAL,
		  scheme_names,
		  "With sharding: scheme of the reduce-scatters. Default: that of all_reduce; if "
		  "it has no reduce-scatter, the job uses its all-reduce instead.",
		  .present = CONF_GIVEN(struct job_group_conf, reduce_scatter_given)),
	CONF_ENUM("all_gather", struct job_group_conf, all_gather, CONF_OPTIONAL, scheme_names,
		  "With sharding: scheme of the all-gathers. Default: ring.",
		  .present = CONF_GIVEN(struct job_group_conf, all_gather_given)),
	CONF_LIST("collectives", struct job_group_conf, collectives, CONF_OPTIONAL,
		  &group_scheme_item, 1, 10000,
		  "Of a program: schemes of its groups. Default: that of all_reduce. A scheme "
		  "without reduce-scatter or all-gather leaves these to ring, and all-to-alls and "
		  "messages are always connections (schemes.ring). nvls adds up groups inside "
		  "machines by the rate of their GPUs' links. Other schemes in switches or at "
		  "servers add up groups with several ranks a machine inside it first "
		  "(\"inside\"). Parameter servers of a group are on the hosts of its first "
		  "ranks."),
	CONF_INT("prefetch", struct job_group_conf, prefetch, "1", 0, 100000,
		 "With sharding full: parameters are all-gathered so many layers ahead.",
		 "PyTorch FSDP: the next layer"),
	CONF_GROUP("pipeline", "{}", &pipeline_table,
		   "Pipeline of layers over workers (schemes.ring has the connections)."),
	CONF_ENUM("all_to_all", struct job_group_conf, all_to_all, "rounds", all_to_all_names,
		  "How tokens go to experts. rounds: pairwise exchange; at_once: all parts at "
		  "once, as NCCL's grouped sends; hierarchical: first inside machines to the GPU "
		  "whose number the receiver has, then between GPUs of the same number (PXN).",
		  "Thakur, Rabenseifner and Gropp 2005"),
	CONF_ONEOF("tokens", struct job_group_conf, tokens, "\"even\"", &tokens_table, tokens.form,
		   "How tokens spread over ranks with experts. In language models the experts' "
		   "computing follows.",
		   "our choice; measured: 2.5 to 5 between the most and the mean"),
	CONF_ENUM("placement", struct job_group_conf, placement, "compact", placement_names,
		  "Which free hosts a job gets, unless workers is a list of hosts.",
		  "PANAMA section 7"),
	CONF_ONEOF("arrival", struct job_group_conf, arrival, "{\"at\": \"0s\"}",
		   &job_arrival_table, arrival.form, "When jobs arrive.", "our choice"),
	CONF_ENUM("overlap", struct job_group_conf, overlap, "none", overlap_names,
		  "none: compute, then communicate; layers: the gradient of a layer is sent while "
		  "those of others are computed.",
		  "PANAMA section 2"),
	CONF_BYTES("fusion", struct job_group_conf, fusion, CONF_OPTIONAL, 1, UINT64_C(1) << 40,
		   "With overlap layers: consecutive layers are merged until a tensor has at least "
		   "this size (PyTorch DDP's buckets: 25MiB, the first 1MiB). With fusion_cycle: "
		   "most that a buffer takes, by default 64 MiB (HOROVOD_FUSION_THRESHOLD)."),
	CONF_TIME("fusion_cycle", struct job_group_conf, fusion_cycle, CONF_OPTIONAL, PS_PER_NS,
		  PS_PER_S / 2,
		  "With overlap layers: at the end of each cycle the gradients that all workers "
		  "have by then are handed over, merged as far as a buffer takes them "
		  "(HOROVOD_CYCLE_TIME: 5ms, since 0.21 1ms and 128 MiB)."),
	CONF_INT("priority", struct job_group_conf, priority, "0", 0, 7,
		 "Class of its packets and ACKs in switches (\"scheduler\" of topology).",
		 "one class"),
	CONF_REAL("gradient_scale", struct job_group_conf, gradient_scale, "1", 1e-9, 1e6,
		  "Multiplies all gradients, and what experts and stages exchange, for a smaller "
		  "experiment.",
		  "full size"),
	CONF_REAL("compute_scale", struct job_group_conf, compute_scale, "1", 0, 1e6,
		  "Multiplies all computing times.", "full size"),
	CONF_REAL("compute_jitter", struct job_group_conf, compute_jitter, "0", 0, 100,
		  "In each iteration each worker computes longer by a random fraction, uniform "
		  "from 0 to this.",
		  "none"),
	CONF_TIME(
		"start_jitter", struct job_group_conf, start_jitter, "0s", 0, 1000 * PS_PER_S,
		"Each worker starts each iteration later by a random time, uniform from 0 to this.",
		"none"),
	CONF_TIME("send_jitter", struct job_group_conf, send_jitter, "0s", 0, 1000 * PS_PER_S,
		  "Each worker pauses for a random time, uniform from 0 to this, before it hands a "
		  "gradient over.",
		  "none"),
	CONF_ENUM("send_jitter_per", struct job_group_conf, send_jitter_per, "iteration",
		  jitter_names,
		  "iteration: before the first gradient of an iteration; tensor: before each.",
		  "our reading of ESA section 7.2.1"),
	CONF_TIME(
		"launch", struct job_group_conf, launch, "0s", 0, PS_PER_S,
		"Time that a worker takes to begin the exchange of a tensor: a kernel, a call of a "
		"library. One tensor after the other, beside computing.",
		"our choice: none, as no paper gives it"),
	CONF_RATE("conversion", struct job_group_conf, conversion, CONF_OPTIONAL, 1000000,
		  TOPOLOGY_RATE_MAX,
		  "Rate at which a worker converts gradients, to integers or halves, before their "
		  "exchange and back after it, beside computing. Default: takes no time, as "
		  "\"negligible\" in SwitchML 2019 section 5.5. (Half the bytes: gradient_scale.)"),
	CONF_GROUP("stragglers", "{}", &straggler_table, "Slow workers."),
	CONF_ENUM("fallback", struct job_group_conf, fallback, "none", fallback_names,
		  "What a job does when failures leave it no tree, or no way to a server. none: "
		  "waits for a repair, or fails if there will be none; ring: goes on to its end as "
		  "a ring of connections; ps: goes on with parameter servers, its own or else one "
		  "beside each worker.",
		  "our choice"),
	CONF_TIME("restart_delay", struct job_group_conf, restart_delay, CONF_OPTIONAL, 0,
		  1000000 * PS_PER_S,
		  "When a host of the job is cut off for good, a free host replaces it so long "
		  "after the job controller knows: this covers all that a restart takes, including "
		  "repeated computation. Without this key, or without a free host, the job fails.",
		  .present = CONF_GIVEN(struct job_group_conf, restart_delay_given)),
	{ 0 },
};
const struct conf_table job_group_table = { "job_group", group_rows, sizeof(struct job_group_conf),
					    "Jobs of one kind." };

/* --- checks --- */

struct workers_span workers_span(const struct workers_conf *workers)
{
	int64_t listed = (int64_t)workers->hosts.count;

	if (!workers->given)
		return (struct workers_span){ 0 };
	switch ((enum workers_form)workers->form) {
	case WORKERS_NUMBER:
		return (struct workers_span){ workers->number, workers->number };
	case WORKERS_RANGE:
		return (struct workers_span){ workers->min, workers->max };
	case WORKERS_HOSTS:
		return (struct workers_span){ listed, listed };
	}
	return (struct workers_span){ 0 };
}

/* Every layer must be sent, in no more parts than it has values. */
static void check_send_order(const struct dnn *dnn, const struct job_group_conf *conf,
			     struct conf_doc *doc, const char *model)
{
	uint64_t *parts = xcalloc(dnn->layer_count, sizeof(*parts));
	const char *at = conf_at(doc, "%s/send_order", model);

	for (size_t i = 0; i < dnn->send_order_count; i++) {
		int64_t layer = dnn->send_order[i];

		if ((size_t)layer < dnn->layer_count)
			parts[layer]++;
		else
			conf_error(doc, conf_at(doc, "%s/%zu", at, i),
				   "there is no layer %" PRId64 "; layers are 0 to %zu", layer,
				   dnn->layer_count - 1);
	}
	for (size_t i = 0; i < dnn->layer_count; i++) {
		if (!parts[i])
			conf_error(doc, at, "layer %zu is never sent", i);
		else if ((double)dnn->layers[i].gradient * conf->gradient_scale / 4 <
			 (double)parts[i])
			conf_error(doc, at,
				   "layer %zu is sent in %" PRIu64
				   " parts but has fewer 4-byte values",
				   i, parts[i]);
	}
	if (conf->overlap == OVERLAP_NONE || (conf->fusion && !conf->fusion_cycle))
		conf_error(doc, at,
			   "needs \"overlap\": \"layers\" and no \"fusion\": otherwise layers are "
			   "merged into one tensor");
	free(parts);
}

static void check_model(const struct job_group_conf *conf, struct conf_doc *doc,
			const char *pointer)
{
	for (size_t i = 0; i < conf->models->count; i++) {
		const struct dnn *dnn = conf->models->dnns[i];
		const char *at = conf->model.form == MODEL_MIX
					 ? conf_at(doc, "%s/model/mix/%zu/model", pointer, i)
					 : conf_at(doc, "%s/model", pointer);

		if (dnn && dnn->send_order_count)
			check_send_order(dnn, conf, doc, at);
		if (dnn && dnn->program && dnn->program->note && !conf_errors(doc))
			conf_note(doc, at, "%s", dnn->program->note);
		if (dnn)
			continue;
		if (conf->arrival.part_model)
			at = conf_at(doc, "%s/arrival/trace", pointer);
		else if (conf->models->mistakes[i].of_gpu)
			at = conf_at(doc, "%s/gpu", pointer);
		if (conf->models->mistakes[i].at)
			at = conf_at(doc, "%s%s", at, conf->models->mistakes[i].at);
		conf_error(doc, at, "%s", conf->models->mistakes[i].text);
	}
}

static void check_workers(const struct job_group_conf *conf, struct conf_doc *doc,
			  const char *pointer, uint32_t machines, bool several_nics)
{
	const char *unit = several_nics ? "machine" : "host";
	int64_t max = workers_span(&conf->workers).max;

	if (!conf->workers.given) {
		if (conf->arrival.form != JOBS_TRACE && conf->models->dnns[0])
			conf_error(doc, pointer,
				   "needs \"workers\" (only a job trace or a program brings its "
				   "own)");
		return;
	}
	if (conf->arrival.form == JOBS_TRACE)
		conf_error(doc, conf_at(doc, "%s/workers", pointer),
			   "the trace has the number of workers: leave this out, or see "
			   "gpus_per_worker");
	if (conf->workers.form == WORKERS_HOSTS)
		return; /* job_group_check_servers() checks lists */
	if (conf->workers.form == WORKERS_RANGE && conf->workers.min > conf->workers.max)
		conf_error(doc, conf_at(doc, "%s/workers", pointer),
			   "min %" PRId64 " is larger than max %" PRId64, conf->workers.min,
			   conf->workers.max);
	if (max > (int64_t)machines)
		conf_error(doc, conf_at(doc, "%s/workers", pointer),
			   "%" PRId64 " workers, but the network has %" PRIu32
			   " %ss, each with one worker of a job",
			   max, machines, unit);
}

/* Checks that jobs suit machines with several GPUs. */
static void check_inside(const struct job_group_conf *conf, struct conf_doc *doc,
			 const char *pointer, const struct machine_conf *machine)
{
	const struct collective_ops *ops = scheme_ops((unsigned)conf->all_reduce);
	const char *at = conf_at(doc, "%s/inside", pointer);
	uint64_t ranks = (uint64_t)job_group_max_workers(conf) * machine_gpus(machine);

	if (machine_gpus(machine) == 1)
		return;
	if (conf->inside == INSIDE_NVLS &&
	    (machine->gpus.shared || machine->gpus.wiring != GPUS_SWITCH))
		conf_error(doc, at,
			   "GPUs that share one link or are joined directly (\"shared\", "
			   "\"wiring\" of topology.host.gpus) have no switch that adds up");
	if (conf->inside != INSIDE_RING)
		return;
	if (!ops->traits.ranks_max)
		conf_error(doc, at,
			   "\"ring\" makes each GPU a rank, which %s cannot do; allowed: "
			   "\"scatter\", \"master\" or "
			   "\"nvls\"",
			   ops->name);
	else if (ranks > ops->traits.ranks_max)
		conf_error(doc, at,
			   "\"ring\" makes each GPU a rank, here %" PRIu64
			   "; %s takes at most %" PRIu32,
			   ranks, ops->name, ops->traits.ranks_max);
}

/* Checks that tensors have stages before and after one scheme. */
static void check_stages(const struct job_group_conf *conf, struct conf_doc *doc,
			 const char *pointer, const struct machine_conf *machine)
{
	const char *key = conf->launch ? "launch" : "conversion";

	if (!conf->launch && !conf->conversion)
		return;
	if (conf->exchanges)
		conf_error(doc, conf_at(doc, "%s/%s", pointer, key),
			   "is for jobs that exchange gradients only, without sharding, pipeline, "
			   "experts or a program");
	else if (machine_gpus(machine) > 1 && conf->inside == INSIDE_RING)
		conf_error(doc, conf_at(doc, "%s/%s", pointer, key),
			   "needs \"inside\": \"scatter\", \"master\" or \"nvls\"; in a ring each "
			   "GPU is a "
			   "rank");
}

/* Checks that jobs with a load (poisson_load) send something. */
static void check_load(const struct job_group_conf *conf, struct conf_doc *doc, const char *pointer)
{
	if (conf->arrival.form == JOBS_LOAD && workers_span(&conf->workers).max == 1)
		conf_error(doc, conf_at(doc, "%s/arrival/poisson_load", pointer),
			   "jobs with one worker have nothing to send");
}

void job_group_check(const struct job_group_conf *conf, struct conf_doc *doc, const char *pointer,
		     const struct job_site *site, void *const *schemes, bool bounded)
{
	uint32_t machines = machine_count(site->machine, topology_hosts(site->topology));

	check_model(conf, doc, pointer);
	check_workers(conf, doc, pointer, machines, machine_nics(site->machine) > 1);
	check_inside(conf, doc, pointer, site->machine);
	check_stages(conf, doc, pointer, site->machine);
	job_group_check_parallel(conf, doc, pointer, site->machine);
	job_group_check_servers(conf, doc, pointer, machines, site->cluster);
	job_group_check_scheme(conf, doc, pointer, site, schemes);
	if (conf->iterations_form == ITERATIONS_RULE && conf->arrival.form != JOBS_TRACE)
		conf_error(doc, conf_at(doc, "%s/iterations", pointer),
			   "\"duration\" needs an arrival from a trace");
	if (conf->iterations_form == ITERATIONS_RULE && conf->compute_scale == 0)
		conf_error(doc, conf_at(doc, "%s/iterations", pointer),
			   "\"duration\" needs a computing time, but compute_scale is 0");
	if (conf->fusion && conf->overlap == OVERLAP_NONE)
		conf_error(doc, conf_at(doc, "%s/fusion", pointer),
			   "without \"overlap\": \"layers\" there is only one tensor to fuse");
	if (conf->fusion_cycle && conf->overlap == OVERLAP_NONE)
		conf_error(doc, conf_at(doc, "%s/fusion_cycle", pointer),
			   "without \"overlap\": \"layers\" there is only one tensor to fuse");
	if (conf->count && conf->arrival.form == JOBS_TRACE)
		conf_error(doc, conf_at(doc, "%s/count", pointer),
			   "the trace has the number of jobs; see \"limit\"");
	if (!conf->count && job_group_poisson(conf) && !bounded)
		conf_error(doc, pointer,
			   "a Poisson process needs an end: \"count\", or a run that something "
			   "else ends, such as \"stop\": {\"when\": \"time\"}");
	check_load(conf, doc, pointer);
}
