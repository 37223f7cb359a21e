#include "workload/program/program_llm.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of published models: GPT-3 (arXiv 2005.14165, table 2.1; 13B has 40 heads of 128), Llama 2
 * (arXiv 2307.09288) and 3 (arXiv 2407.21783, table 3). Heads have 128 values. */
struct llm {
	double layers, hidden, heads, kv_heads, ffn, vocabulary;
	bool gpt; /* MLP of two matrices, biases, tied embeddings, 2048 positions */
};
static const struct llm llms[] = {
	{ 40, 5120, 40, 40, 20480, 50257, true },     { 96, 12288, 96, 96, 49152, 50257, true },
	{ 32, 4096, 32, 32, 11008, 32000, false },    { 80, 8192, 64, 8, 28672, 32000, false },
	{ 32, 4096, 32, 8, 14336, 128256, false },    { 80, 8192, 64, 8, 28672, 128256, false },
	{ 126, 16384, 128, 8, 53248, 128256, false },
};
const char *const llm_names[] = { "gpt3_13b",  "gpt3_175b",  "llama2_7b",   "llama2_70b",
				  "llama3_8b", "llama3_70b", "llama3_405b", NULL };
#define HEAD 128

/* Dense bf16 peaks in operations per second (vendors' data sheets). */
static const struct {
	const char *gpu;
	double peak;
} peaks[] = { { "a100", 312e12 }, { "h100", 989.4e12 }, { "h200", 989.4e12 }, { "b200", 2250e12 } };

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
	CONF_INT("pipeline", struct llm_conf, pipeline, "1", 1, 1024, "Stages of layers.",
		 "no pipeline"),
	CONF_INT("data", struct llm_conf, data, "1", 1, 100000, "Replicas; group \"data\".",
		 "one replica"),
	CONF_INT("gradient_bytes", struct llm_conf, gradient_bytes, "4", 1, 8,
		 "Bytes of a gradient among replicas.", "Megatron-LM sums up in fp32"),
	CONF_REAL("utilisation", struct llm_conf, utilisation, "0.45", 0.001, 1,
		  "Share of the GPU's dense bf16 peak that kernels reach while they compute.",
		  "published runs: 0.41 to 0.56 of model operations, with all waits (arXiv "
		  "2205.05198, 2407.21783)"),
	{ 0 },
};
const struct conf_table llm_table = { "llm", llm_rows, sizeof(struct llm_conf) };

/* --- sizes --- */

/* Weights of a layer's attention and of its MLP. */
static double attention_of(const struct llm *llm)
{
	return llm->hidden * HEAD * (2 * llm->heads + 2 * llm->kv_heads);
}

static double mlp_of(const struct llm *llm)
{
	return (llm->gpt ? 2 : 3) * llm->hidden * llm->ffn;
}

static double layer_of(const struct llm *llm)
{
	double norms = llm->gpt ? 13 * llm->hidden : 2 * llm->hidden; /* with GPT's biases */

	return attention_of(llm) + mlp_of(llm) + norms;
}

double llm_parameters(int model)
{
	const struct llm *llm = &llms[model];
	double embeddings = llm->hidden * (llm->gpt ? llm->vocabulary + 2048 : 2 * llm->vocabulary);

	return llm->layers * layer_of(llm) + embeddings + (llm->gpt ? 2 : 1) * llm->hidden;
}

/* Operations forward of a token: of a layer's attention, its MLP, and the logits. */
static double attention_flops(const struct llm *llm, int64_t sequence)
{
	return 2 * attention_of(llm) + 2 * (double)sequence * llm->heads * HEAD;
}

static double logit_flops(const struct llm *llm)
{
	return 2 * llm->hidden * llm->vocabulary;
}

double llm_flops(int model, int64_t sequence)
{
	const struct llm *llm = &llms[model];

	return llm->layers * (attention_flops(llm, sequence) + 2 * mlp_of(llm)) + logit_flops(llm);
}

/* --- nodes --- */

enum { STREAM_COMPUTE, STREAM_TENSOR, STREAM_DATA };
/* Seats. Forward messages come first, then backward ones, as far as a stage has them. */
enum { SEAT_TENSOR, SEAT_DATA, SEATS };
#define NONE UINT32_MAX

struct stage {
	const struct llm *llm;
	const struct llm_conf *conf;
	struct program_role *role;
	uint32_t number, first, end; /* layers */
	uint32_t from[2], to[2];     /* seats of messages; [0] forward, [1] backward */
	double rate;                 /* operations per second of a tensor group */
	uint32_t reduced;            /* the last all-reduce of the tensor group; NONE */
};

static uint32_t add(struct stage *stage, unsigned act, unsigned stream, uint32_t seat,
		    double amount, unsigned flags)
{
	return role_add(stage->role, (struct program_node){ .act = (uint8_t)act,
							    .flags = (uint8_t)flags,
							    .stream = (uint16_t)stream,
							    .seat = seat,
							    .amount = (uint64_t)(amount + 0.5) });
}

/* Computes, once the tensor group's last all-reduce is done. */
static uint32_t compute(struct stage *stage, double flops)
{
	double tokens = (double)(stage->conf->micro_batch * stage->conf->sequence);
	uint32_t node = add(stage, ACT_COMPUTE, STREAM_COMPUTE, 0,
			    flops * tokens / stage->rate * (double)PS_PER_S, 0);

	if (stage->reduced != NONE)
		role_need(stage->role, stage->reduced, false);
	return node;
}

/* Bytes of activations of a micro-batch, in bf16. */
static double activations(const struct stage *stage)
{
	return 2 * (double)(stage->conf->micro_batch * stage->conf->sequence) * stage->llm->hidden;
}

static void reduce(struct stage *stage, uint32_t after)
{
	if (stage->conf->tensor == 1)
		return;
	stage->reduced =
		add(stage, ACT_PART, STREAM_TENSOR, SEAT_TENSOR, activations(stage), NODE_ISSUED);
	role_need(stage->role, after, false);
}

/* A block of a layer: backward the gradient of its input first, which others wait for, then those
 * of its weights. */
static uint32_t add_block(struct stage *stage, double flops, bool back)
{
	uint32_t node = compute(stage, flops);

	reduce(stage, node);
	if (!back)
		return node;
	node = add(stage, ACT_COMPUTE, STREAM_COMPUTE, 0,
		   flops * (double)(stage->conf->micro_batch * stage->conf->sequence) /
			   stage->rate * (double)PS_PER_S,
		   0);
	return node;
}

static void add_message(struct stage *stage, uint32_t seat, bool sends)
{
	if (seat == NONE)
		return;
	add(stage, ACT_PART, STREAM_COMPUTE, seat, activations(stage), sends ? NODE_ISSUED : 0);
	if (sends && stage->reduced != NONE)
		role_need(stage->role, stage->reduced, false);
}

static void add_gradient(struct stage *stage, double parameters, uint32_t after)
{
	if (stage->conf->data == 1)
		return;
	add(stage, ACT_PART, STREAM_DATA, SEAT_DATA,
	    parameters / (double)(stage->conf->tensor) * (double)stage->conf->gradient_bytes,
	    NODE_ISSUED | NODE_SUM | NODE_GRADIENT);
	role_need(stage->role, after, false);
}

static bool is_last(const struct stage *stage)
{
	return stage->to[0] == NONE;
}

static void add_forward(struct stage *stage)
{
	const struct llm *llm = stage->llm;

	add_message(stage, stage->from[0], false);
	stage->reduced = NONE; /* the message came after it */
	for (uint32_t l = stage->first; l < stage->end; l++) {
		add_block(stage, attention_flops(llm, stage->conf->sequence), false);
		add_block(stage, 2 * mlp_of(llm), false);
	}
	if (is_last(stage))
		compute(stage, logit_flops(llm));
	add_message(stage, stage->to[0], true);
}

static void add_backward(struct stage *stage, bool last)
{
	const struct llm *llm = stage->llm;
	double embedding = llm->hidden * llm->vocabulary;
	uint32_t node = NONE;

	add_message(stage, stage->from[1], false);
	if (stage->from[1] != NONE)
		stage->reduced = NONE;
	if (is_last(stage)) {
		node = compute(stage, 2 * logit_flops(llm));
		if (last)
			add_gradient(stage, embedding, node);
	}
	for (uint32_t l = stage->end; l-- > stage->first;) {
		add_block(stage, 2 * mlp_of(llm), true);
		node = add_block(stage, attention_flops(llm, stage->conf->sequence), true);
		if (last)
			add_gradient(stage, layer_of(llm), node);
	}
	if (last && !stage->number && (!llm->gpt || !is_last(stage)))
		add_gradient(stage, embedding, node);
	add_message(stage, stage->to[1], true);
}

/* One forward, one backward (Megatron-LM, schedules.py). */
static void add_schedule(struct stage *stage, uint32_t microbatches)
{
	uint32_t after = (uint32_t)stage->conf->pipeline - 1 - stage->number;
	uint32_t warm = after < microbatches ? after : microbatches;

	for (uint32_t i = 0; i < warm; i++)
		add_forward(stage);
	for (uint32_t i = warm; i < microbatches; i++) {
		add_forward(stage);
		add_backward(stage, i - warm + 1 == microbatches);
	}
	for (uint32_t i = 0; i < warm; i++)
		add_backward(stage, i + 1 == warm);
}

/* --- groups --- */

/* Adds groups of `count` ranks: first, first + stride, ..., seated at the same number each. */
static void add_group(struct program *program, enum program_op op, const char *name, uint32_t count,
		      uint32_t first, int64_t stride, const uint32_t *seats)
{
	uint32_t group = program_add_strided(program, op, name, count, first, stride);

	for (uint32_t i = 0; i < count; i++)
		program_sit(program, group, i, seats[op == OP_MESSAGE ? i : 0]);
}

static void add_groups(struct program *program, const struct llm_conf *conf,
		       const struct stage *stages)
{
	uint32_t t = (uint32_t)conf->tensor, d = (uint32_t)conf->data, each = t * d;

	for (uint32_t p = 0; p < conf->pipeline; p++) {
		for (uint32_t i = 0; i < d; i++)
			add_group(program, OP_ALL_REDUCE, "tensor", t, p * each + i * t, 1,
				  (const uint32_t[]){ SEAT_TENSOR });
		for (uint32_t i = 0; i < t; i++)
			add_group(program, OP_ALL_REDUCE, "data", d, p * each + i, t,
				  (const uint32_t[]){ SEAT_DATA });
		for (uint32_t r = p * each; p && r < (p + 1) * each; r++) {
			add_group(program, OP_MESSAGE, NULL, 2, r - each, each,
				  (const uint32_t[]){ stages[p - 1].to[0], stages[p].from[0] });
			add_group(program, OP_MESSAGE, NULL, 2, r, -(int64_t)each,
				  (const uint32_t[]){ stages[p].to[1], stages[p - 1].from[1] });
		}
	}
}

static char *mistake_of(const struct llm_conf *conf, const char *gpu, double *peak)
{
	for (size_t i = 0; i < sizeof(peaks) / sizeof(*peaks); i++)
		if (!strcmp(peaks[i].gpu, gpu))
			*peak = peaks[i].peak;
	if (!*peak)
		return xasprintf(
			"no peak of \"%s\" is known; \"gpu\" may be a100, h100, h200 or b200", gpu);
	if (conf->global_batch % (conf->micro_batch * conf->data))
		return xasprintf("global_batch %" PRId64
				 " is no multiple of micro_batch x data, %" PRId64,
				 conf->global_batch, conf->micro_batch * conf->data);
	if ((double)conf->pipeline > llms[conf->model].layers)
		return xasprintf("%.0f layers are fewer than %" PRId64 " stages",
				 llms[conf->model].layers, conf->pipeline);
	if (conf->tensor * conf->pipeline * conf->data > 1000000)
		return xstrdup("tensor x pipeline x data is more than 1000000 ranks");
	return NULL;
}

struct program *program_llm(const struct llm_conf *conf, const char *gpu, char **mistake)
{
	const struct llm *llm = &llms[conf->model];
	uint32_t stages = (uint32_t)conf->pipeline, each = (uint32_t)(conf->tensor * conf->data);
	struct program *program;
	struct stage *list;
	double peak = 0;

	*mistake = mistake_of(conf, gpu, &peak);
	if (*mistake)
		return NULL;
	program = program_new(each * stages, stages);
	list = xcalloc(stages, sizeof(*list));
	for (uint32_t p = 0; p < stages; p++) {
		uint32_t seat = SEATS, layers = (uint32_t)llm->layers;

		list[p] = (struct stage){ .llm = llm,
					  .conf = conf,
					  .role = &program->roles[p],
					  .number = p,
					  .first = p * layers / stages,
					  .end = (p + 1) * layers / stages,
					  .from = { p ? seat++ : NONE, NONE },
					  .to = { NONE, NONE },
					  .rate = (double)conf->tensor * conf->utilisation * peak,
					  .reduced = NONE };
		list[p].to[1] = p ? seat++ : NONE;
		list[p].to[0] = p + 1 < stages ? seat++ : NONE;
		list[p].from[1] = p + 1 < stages ? seat++ : NONE;
		add_schedule(&list[p],
			     (uint32_t)(conf->global_batch / (conf->micro_batch * conf->data)));
		for (uint32_t r = p * each; r < (p + 1) * each; r++)
			program->role_of[r] = p;
	}
	add_groups(program, conf, list);
	free(list);
	*mistake = program_finish(program);
	SIM_BUG_ON(*mistake);
	return program;
}
