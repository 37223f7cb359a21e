#include "workload/program/program_llm.h"

#include "base/fail.h"
#include "base/mem.h"
#include "workload/program/llm_stage.h"
#include "workload/program/program_grid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Dense bf16 peaks in operations per second (vendors' data sheets). */
static const struct {
	const char *gpu;
	double peak;
} peaks[] = { { "a100", 312e12 }, { "h100", 989.4e12 }, { "h200", 989.4e12 }, { "b200", 2250e12 } };

static const char *const context_exchanges[] = {
	[CONTEXT_RING] = "ring", [CONTEXT_ALL_GATHER] = "all_gather", NULL
};

static const struct conf_row llm_rows[] = {
	CONF_ENUM("name", struct llm_conf, model, CONF_REQUIRED, llm_names, "The model."),
	CONF_INT("sequence", struct llm_conf, sequence, "4096", 1, 10000000, "Tokens of a sample.",
		 "our choice"),
	CONF_INT("micro_batch", struct llm_conf, micro_batch, "1", 1, 100000,
		 "Samples of a micro-batch.", "our choice"),
	CONF_INT("global_batch", struct llm_conf, global_batch, CONF_REQUIRED, 1, 10000000,
		 "Samples of a step, of all replicas."),
	CONF_INT("tensor", struct llm_conf, tensor, "1", 1, 1024,
		 "Ranks that share each layer; group \"tensor\".", "no tensor parallelism"),
	CONF_INT("context", struct llm_conf, context, "1", 1, 1024,
		 "Ranks that share each sample's tokens; group \"context\".",
		 "no context parallelism"),
	CONF_INT("expert", struct llm_conf, expert, "1", 1, 1024,
		 "Ranks among which the experts of a layer are spread; group \"expert\". They are "
		 "ranks of the dimensions context and data.",
		 "all experts on each rank"),
	CONF_INT("expert_tensor", struct llm_conf, expert_tensor, CONF_OPTIONAL, 1, 1024,
		 "Ranks that share each expert; group \"expert_tensor\". Default: as \"tensor\".",
		 .present = CONF_GIVEN(struct llm_conf, expert_tensor_given)),
	CONF_INT("pipeline", struct llm_conf, pipeline, "1", 1, 1024, "Stages of layers.",
		 "no pipeline"),
	CONF_INT("data", struct llm_conf, data, "1", 1, 100000,
		 "Replicas. Group \"data\" has the ranks with the same dense parameters, of all "
		 "replicas and contexts, \"expert_data\" those with the same experts.",
		 "one replica"),
	CONF_STRING("order", struct llm_conf, order, "tp-cp-ep-dp-pp",
		    "Dimensions in which ranks are numbered, the fastest first.",
		    "Megatron-LM parallel_state.py"),
	CONF_ENUM("schedule", struct llm_conf, schedule, "1f1b", pipeline_kinds,
		  "Order of micro-batches in a stage, as in \"pipeline\".",
		  "Megatron-LM schedules.py"),
	CONF_INT("chunks", struct llm_conf, chunks, "1", 1, 1000,
		 "Chunks of layers of a stage (virtual stages), which take turns.",
		 "not interleaved"),
	CONF_BOOL("sequence_parallel", struct llm_conf, sequence_parallel, "false",
		  "Ranks of a tensor group share what is between blocks, too: all-gather and "
		  "reduce-scatter instead of all-reduce, and messages that much smaller.",
		  "Megatron-LM: off unless asked for"),
	CONF_BOOL("overlap_tensor", struct llm_conf, overlap_tensor, "true",
		  "Backward, a block's input gradient is exchanged beside the computing of its "
		  "weights' gradients.",
		  "Megatron-LM layers.py"),
	CONF_BOOL("overlap_data", struct llm_conf, overlap_data, "true",
		  "The gradient of a layer is exchanged among replicas beside the backward pass of "
		  "others. false: after the pass.",
		  "our reading of overlap_grad_reduce; Megatron-LM: off unless asked for"),
	CONF_BOOL("distributed_optimizer", struct llm_conf, divides_optimizer, "false",
		  "Replicas share the optimizer (ZeRO-1): reduce-scatter of gradients, then "
		  "all-gather of parameters in bf16, which the next step's layers wait for.",
		  "Megatron-LM: off unless asked for"),
	CONF_BOOL("recompute", struct llm_conf, recomputes, "false",
		  "Each layer goes forward once more before it goes backward.",
		  "activations fit in memory"),
	CONF_ENUM("context_exchange", struct llm_conf, context_exchange, "ring", context_exchanges,
		  "ring: keys and values go around beside attention (TransformerEngine); "
		  "all_gather: before it (Llama 3).",
		  "TransformerEngine context_parallel.py"),
	CONF_INT("gradient_bytes", struct llm_conf, gradient_bytes, "4", 1, 8,
		 "Bytes of a gradient among replicas.", "Megatron-LM sums up in fp32"),
	CONF_REAL("dispatch_bytes", struct llm_conf, dispatch_bytes, "2", 0.1, 8,
		  "Bytes of each value of a token on its way to an expert, with scales: 1.03125 in "
		  "FP8 with a scale for 128 values. Results and gradients have 2.",
		  "bf16"),
	CONF_REAL("utilisation", struct llm_conf, utilisation, "0.45", 0.001, 1,
		  "Share of the GPU's dense bf16 peak that kernels reach while they compute.",
		  "published runs: 0.41 to 0.56 of model operations, with all waits (arXiv "
		  "2205.05198, 2407.21783)"),
	{ 0 },
};
const struct conf_table llm_table = { "llm", llm_rows, sizeof(struct llm_conf) };

/* --- ranks --- */

/* A model split over ranks. */
struct split {
	const struct llm *llm;
	struct llm_conf conf; /* with expert_tensor */
	struct grid dense, experts;
	struct pipeline_shape pipeline;
	double peak;
	double *shares;  /* of tokens; owned; NULL = equal */
	uint32_t shades; /* roles of a stage: one an expert rank if they get unlike shares */
};

static bool has_experts(const struct split *split)
{
	return split->llm->experts > 0;
}

static struct token_experts experts_of(const struct split *split)
{
	return (struct token_experts){ (uint32_t)split->llm->experts, (uint32_t)split->llm->top };
}

/* Finds out which share of tokens each rank gets. */
static char *spread(struct split *split, const struct tokens_conf *tokens)
{
	struct token_experts experts = experts_of(split);
	char *mistake = NULL;

	split->shades = 1;
	if (!has_experts(split) || split->conf.expert == 1)
		return NULL;
	split->shares = token_shares(tokens, &experts, (uint32_t)split->conf.expert, &mistake);
	if (split->shares)
		split->shades = (uint32_t)split->conf.expert;
	return mistake;
}

static char *check_experts(struct split *split)
{
	struct llm_conf *conf = &split->conf;
	const char *name = llm_names[conf->model];
	int64_t ranks = conf->tensor * conf->context * conf->data,
		each = conf->expert_tensor * conf->expert;

	if (!has_experts(split))
		return conf->expert > 1 || conf->expert_tensor_given
			       ? xasprintf("%s has no experts", name)
			       : NULL;
	if ((int64_t)split->llm->experts % conf->expert)
		return xasprintf("expert %" PRId64 " does not divide the %.0f experts of %s",
				 conf->expert, split->llm->experts, name);
	if (ranks % each)
		return xasprintf("expert x expert_tensor, %" PRId64
				 ", does not divide tensor x context x data, %" PRId64,
				 each, ranks);
	if (conf->tensor > 1 && !conf->sequence_parallel)
		return xstrdup("experts with tensor above 1 need \"sequence_parallel\": true, as "
			       "in Megatron-LM");
	split->experts = split->dense;
	split->experts.size[GRID_TENSOR] = (uint32_t)conf->expert_tensor;
	split->experts.size[GRID_CONTEXT] = 1;
	split->experts.size[GRID_EXPERT] = (uint32_t)conf->expert;
	split->experts.size[GRID_DATA] = (uint32_t)(ranks / each);
	if (split->dense.order[GRID_DIMS - 1] != GRID_PIPELINE && conf->pipeline > 1 &&
	    ranks / each != conf->data)
		return xasprintf("order \"%s\": with experts stages must come last", conf->order);
	return NULL;
}

static char *check_split(struct split *split)
{
	const struct llm_conf *conf = &split->conf;
	const char *mistake = pipeline_mistake(&split->pipeline);
	int64_t places = conf->pipeline * conf->chunks, layers = (int64_t)split->llm->layers;

	if (layers < places)
		return xasprintf("%" PRId64 " layers are fewer than %" PRId64 " stages%s", layers,
				 places, conf->chunks > 1 ? " and chunks" : "");
	if (conf->chunks > 1 && layers % places)
		return xasprintf("stages x chunks, %" PRId64 ", does not divide %" PRId64 " layers",
				 places, layers);
	if (mistake)
		return xstrdup(mistake);
	if ((int64_t)split->llm->heads % conf->tensor)
		return xasprintf("tensor %" PRId64 " does not divide %.0f heads", conf->tensor,
				 split->llm->heads);
	if (conf->sequence % (conf->context > 1 ? 2 * conf->context : 1))
		return xasprintf("sequence %" PRId64 " is no multiple of 2 x context, %" PRId64,
				 conf->sequence, 2 * conf->context);
	if (!grid_read_order(&split->dense, conf->order))
		return xasprintf("order \"%s\" does not name each of tp, cp, ep, dp, pp once, as "
				 "\"tp-cp-ep-dp-pp\"",
				 conf->order);
	return check_experts(split);
}

/* Fills in `split`. Returns NULL or what is wrong (caller frees). */
static char *split_model(struct split *split, const struct llm_conf *conf, const char *gpu)
{
	*split = (struct split){
		.llm = &llms[conf->model],
		.conf = *conf,
		.dense.size = { (uint32_t)conf->tensor, (uint32_t)conf->context, 1,
				(uint32_t)conf->data, (uint32_t)conf->pipeline },
	};
	if (!conf->expert_tensor_given)
		split->conf.expert_tensor = conf->tensor;
	for (size_t i = 0; i < sizeof(peaks) / sizeof(*peaks); i++)
		if (!strcmp(peaks[i].gpu, gpu))
			split->peak = peaks[i].peak;
	if (!split->peak)
		return xasprintf(
			"no peak of \"%s\" is known; \"gpu\" may be a100, h100, h200 or b200", gpu);
	if (conf->global_batch % (conf->micro_batch * conf->data))
		return xasprintf("global_batch %" PRId64
				 " is no multiple of micro_batch x data, %" PRId64,
				 conf->global_batch, conf->micro_batch * conf->data);
	if (conf->tensor * conf->context * conf->pipeline * conf->data > 1000000)
		return xstrdup("tensor x context x pipeline x data is more than 1000000 ranks");
	split->pipeline = (struct pipeline_shape){
		.kind = (enum pipeline_kind)conf->schedule,
		.stages = (uint32_t)conf->pipeline,
		.chunks = (uint32_t)conf->chunks,
		.microbatches = (uint32_t)(conf->global_batch / (conf->micro_batch * conf->data)),
	};
	return check_split(split);
}

/* --- seats --- */

static bool takes_part(const struct split *split, uint32_t stage, enum llm_seat seat)
{
	const struct llm_conf *conf = &split->conf;
	bool wraps = conf->chunks > 1, first = stage == 0, last = stage + 1 == conf->pipeline;
	bool ring = conf->context_exchange == CONTEXT_RING;

	switch (seat) {
	case LLM_TENSOR:
	case LLM_DATA:
		return true;
	case LLM_FROM_BEFORE:
	case LLM_TO_BEFORE:
		return !first || wraps;
	case LLM_TO_NEXT:
	case LLM_FROM_NEXT:
		return !last || wraps;
	case LLM_TENSOR_GATHER:
		return conf->sequence_parallel;
	case LLM_DATA_GATHER:
		return conf->divides_optimizer;
	case LLM_CONTEXT_TO:
	case LLM_CONTEXT_FROM:
		return conf->context > 1 && ring;
	case LLM_CONTEXT_SCATTER:
	case LLM_CONTEXT_GATHER:
		return conf->context > 1 && !ring;
	case LLM_EXPERT:
		return has_experts(split) && conf->expert > 1;
	case LLM_EXPERT_SCATTER:
	case LLM_EXPERT_GATHER:
		return has_experts(split) && conf->expert_tensor > 1;
	case LLM_EXPERT_DATA:
		return has_experts(split);
	case LLM_EXPERT_DATA_GATHER:
		return has_experts(split) && conf->divides_optimizer;
	case LLM_EMBEDDING:
		return split->llm->gpt && conf->pipeline > 1 && (first || last);
	case LLM_SEATS:
		break;
	}
	return false;
}

static void find_seats(const struct split *split, struct llm_stage *stage)
{
	uint32_t next = 0;

	for (unsigned seat = 0; seat < LLM_SEATS; seat++)
		stage->seat[seat] =
			takes_part(split, stage->number, (enum llm_seat)seat) ? next++ : LLM_NONE;
}

/* --- groups --- */

static void add_message(struct program *program, const char *name, uint32_t from,
			uint32_t from_seat, uint32_t to, uint32_t to_seat)
{
	uint32_t group =
		program_add_group(program, OP_MESSAGE, name, 2, (const uint32_t[]){ from, to });

	program_sit(program, group, 0, from_seat);
	program_sit(program, group, 1, to_seat);
}

/* Messages between a rank of a stage and the one with the same coordinates in the stage before. */
static void add_messages(struct program *program, const struct split *split,
			 const struct llm_stage *stages, uint32_t rank)
{
	uint32_t at[GRID_DIMS], stage, before, other;

	grid_at(&split->dense, rank, at);
	stage = at[GRID_PIPELINE];
	if (stages[stage].seat[LLM_FROM_BEFORE] == LLM_NONE)
		return;
	before = (stage + split->pipeline.stages - 1) % split->pipeline.stages;
	at[GRID_PIPELINE] = before;
	other = grid_rank(&split->dense, at);
	add_message(program, NULL, other, stages[before].seat[LLM_TO_NEXT], rank,
		    stages[stage].seat[LLM_FROM_BEFORE]);
	add_message(program, NULL, rank, stages[stage].seat[LLM_TO_BEFORE], other,
		    stages[before].seat[LLM_FROM_NEXT]);
}

/* To the next rank of the context group, in a circle. */
static void add_context_message(struct program *program, const struct split *split,
				const struct llm_stage *stage, uint32_t rank)
{
	uint32_t at[GRID_DIMS];

	grid_at(&split->dense, rank, at);
	at[GRID_CONTEXT] = (at[GRID_CONTEXT] + 1) % split->dense.size[GRID_CONTEXT];
	add_message(program, "context", rank, stage->seat[LLM_CONTEXT_TO],
		    grid_rank(&split->dense, at), stage->seat[LLM_CONTEXT_FROM]);
}

#define TENSOR  GRID_ONLY(GRID_TENSOR)
#define CONTEXT GRID_ONLY(GRID_CONTEXT)
#define EXPERT  GRID_ONLY(GRID_EXPERT)
#define DATA    GRID_ONLY(GRID_DATA)

/* Collectives of a stage. `sums`: with the optimizer divided, or sequences, only reduce-scatters.
 */
static void add_collectives(struct program *program, const struct split *split,
			    const struct llm_stage *stage, bool before_messages)
{
	const struct llm_conf *conf = &split->conf;
	enum program_op tensor = conf->sequence_parallel ? OP_REDUCE_SCATTER : OP_ALL_REDUCE;
	enum program_op data = conf->divides_optimizer ? OP_REDUCE_SCATTER : OP_ALL_REDUCE;
	const struct {
		enum llm_seat seat;
		enum program_op op;
		const char *name;
		unsigned mask;
	} groups[] = {
		{ LLM_TENSOR, tensor, "tensor", TENSOR },
		{ LLM_DATA, data, "data", DATA | CONTEXT },
		{ LLM_TENSOR_GATHER, OP_ALL_GATHER, "tensor", TENSOR },
		{ LLM_DATA_GATHER, OP_ALL_GATHER, "data", DATA | CONTEXT },
		{ LLM_CONTEXT_SCATTER, OP_REDUCE_SCATTER, "context", CONTEXT },
		{ LLM_CONTEXT_GATHER, OP_ALL_GATHER, "context", CONTEXT },
		{ LLM_EXPERT, OP_ALL_TO_ALL, "expert", EXPERT },
		{ LLM_EXPERT_SCATTER, OP_REDUCE_SCATTER, "expert_tensor", TENSOR },
		{ LLM_EXPERT_GATHER, OP_ALL_GATHER, "expert_tensor", TENSOR },
		{ LLM_EXPERT_DATA, data, "expert_data", DATA },
		{ LLM_EXPERT_DATA_GATHER, OP_ALL_GATHER, "expert_data", DATA },
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		enum llm_seat seat = groups[i].seat;

		if (stage->seat[seat] != LLM_NONE && (seat <= LLM_DATA) == before_messages)
			grid_add_groups(seat >= LLM_EXPERT ? &split->experts : &split->dense,
					program, groups[i].op, groups[i].name, groups[i].mask,
					stage->number, stage->seat[seat]);
	}
}

/* The first and the last stage share embeddings. */
static void add_ties(struct program *program, const struct split *split,
		     const struct llm_stage *stages, uint32_t rank)
{
	uint32_t at[GRID_DIMS], last = split->pipeline.stages - 1, ranks[2] = { rank }, group;

	grid_at(&split->dense, rank, at);
	at[GRID_PIPELINE] = last;
	ranks[1] = grid_rank(&split->dense, at);
	group = program_add_group(program, OP_ALL_REDUCE, "embedding", 2, ranks);
	program_sit(program, group, 0, stages[0].seat[LLM_EMBEDDING]);
	program_sit(program, group, 1, stages[last].seat[LLM_EMBEDDING]);
}

static void add_groups(struct program *program, const struct split *split,
		       const struct llm_stage *stages)
{
	for (uint32_t p = 0; p < split->pipeline.stages; p++) {
		const struct llm_stage *stage = &stages[p];

		add_collectives(program, split, stage, true);
		for (uint32_t r = 0; r < program->ranks; r++)
			if (program->role_of[r] / split->shades == p)
				add_messages(program, split, stages, r);
		add_collectives(program, split, stage, false);
		for (uint32_t r = 0; r < program->ranks; r++) {
			if (program->role_of[r] / split->shades != p)
				continue;
			if (stage->seat[LLM_CONTEXT_TO] != LLM_NONE)
				add_context_message(program, split, stage, r);
			if (!p && stage->seat[LLM_EMBEDDING] != LLM_NONE)
				add_ties(program, split, stages, r);
		}
	}
}

/* --- the program --- */

/* The stage of rank `shade` of expert groups. */
static struct llm_stage stage_of(const struct split *split, struct program *program, uint32_t p,
				 uint32_t shade)
{
	const struct llm_conf *conf = &split->conf;
	struct llm_stage stage = {
		.llm = split->llm,
		.conf = conf,
		.pipeline = split->pipeline,
		.role = &program->roles[p * split->shades + shade],
		.number = p,
		.experts_data = split->experts.size[GRID_DATA],
		.load = token_load(split->shares, split->shades, shade),
		.rate = (double)(conf->tensor * conf->context) * conf->utilisation * split->peak,
	};

	find_seats(split, &stage);
	return stage;
}

static uint32_t stage_at(const struct split *split, uint32_t rank)
{
	uint32_t at[GRID_DIMS];

	grid_at(&split->dense, rank, at);
	return at[GRID_PIPELINE];
}

static uint32_t role_of(const struct split *split, uint32_t rank)
{
	uint32_t at[GRID_DIMS], stage = stage_at(split, rank);

	if (split->shades == 1)
		return stage;
	grid_at(&split->experts, rank, at);
	return stage * split->shades + at[GRID_EXPERT];
}

struct program *program_llm(const struct llm_conf *conf, const struct tokens_conf *tokens,
			    const char *gpu, char **mistake)
{
	struct split split;
	struct program *program;
	struct llm_stage *stages;
	uint32_t ranks;

	*mistake = split_model(&split, conf, gpu);
	if (!*mistake)
		*mistake = spread(&split, tokens);
	if (*mistake)
		return NULL;
	ranks = (uint32_t)(conf->tensor * conf->context * conf->data * conf->pipeline);
	program = program_new(ranks, (size_t)split.pipeline.stages * split.shades);
	program->experts = experts_of(&split);
	program->pipelined = true;
	stages = xcalloc(split.pipeline.stages, sizeof(*stages));
	for (uint32_t r = 0; r < ranks; r++) {
		program->role_of[r] = role_of(&split, r);
	}
	for (uint32_t p = 0; p < split.pipeline.stages; p++)
		for (uint32_t shade = 0; shade < split.shades; shade++) {
			stages[p] = stage_of(&split, program, p, shade);
			llm_stage_list(&stages[p]);
		}
	add_groups(program, &split, stages);
	free(stages);
	free(split.shares);
	*mistake = program_finish(program);
	SIM_BUG_ON(*mistake);
	return program;
}
