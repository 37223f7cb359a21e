#include "workload/program/llm_stage.h"

#include "base/mem.h"
#include "base/units.h"

#include <stdlib.h>

enum {
	STREAM_COMPUTE,
	STREAM_TENSOR,
	STREAM_DATA,
	STREAM_CONTEXT,
	STREAM_CONTEXT_IN,
	STREAM_EXPERT,
	STREAM_GATHER
};
/* Parameters that are exchanged together. */
enum part { PART_DENSE, PART_EXPERTS, PART_EMBEDDING };

static uint32_t add(struct llm_stage *stage, unsigned act, unsigned stream, uint32_t seat,
		    double amount, unsigned flags)
{
	uint32_t node =
		role_add(stage->role, (struct program_node){ .act = (uint8_t)act,
							     .flags = (uint8_t)flags,
							     .stream = (uint16_t)stream,
							     .seat = seat,
							     .amount = (uint64_t)(amount + 0.5) });

	if (stream == STREAM_COMPUTE)
		stage->computed = node;
	return node;
}

/* --- the chain of a micro-batch --- */

/* Computes, beside the chain. */
static uint32_t add_flops(struct llm_stage *stage, double flops)
{
	double tokens = (double)(stage->conf->micro_batch * stage->conf->sequence);

	return add(stage, ACT_COMPUTE, STREAM_COMPUTE, 0,
		   flops * tokens / stage->rate * (double)PS_PER_S, 0);
}

/* Computes once the chain is done, and is its end then. */
static uint32_t compute(struct llm_stage *stage, double flops)
{
	uint32_t node = add_flops(stage, flops);

	if (stage->exchanges)
		role_need(stage->role, stage->chain, false);
	stage->chain = node;
	stage->exchanges = false;
	return node;
}

/* Takes part in something, beside the chain, once node `after` is done. */
static uint32_t take_part(struct llm_stage *stage, unsigned stream, enum llm_seat seat, double size,
			  uint32_t after)
{
	uint32_t node = add(stage, ACT_PART, stream, stage->seat[seat], size, NODE_ISSUED);

	if (after != LLM_NONE)
		role_need(stage->role, after, false);
	return node;
}

/* Takes part once the chain is done, and is its end then. */
static void exchange(struct llm_stage *stage, unsigned stream, enum llm_seat seat, double size)
{
	stage->chain = take_part(stage, stream, seat, size, stage->chain);
	stage->exchanges = true;
}

/* --- sizes --- */

/* Bytes of a micro-batch's activations, in bf16, of the tokens of a context rank. */
static double activations(const struct llm_stage *stage)
{
	const struct llm_conf *conf = stage->conf;

	return 2 * (double)(conf->micro_batch * conf->sequence) * stage->llm->hidden /
	       (double)conf->context;
}

/* Bytes of keys and values that a rank passes on around its context group. */
static double keys_and_values(const struct llm_stage *stage)
{
	double heads = stage->llm->kv_heads / (double)stage->conf->tensor;

	return 2 * 2 * (double)(stage->conf->micro_batch * stage->conf->sequence) /
	       (double)stage->conf->context * (heads < 1 ? 1 : heads) * LLM_HEAD;
}

static bool has_tensor(const struct llm_stage *stage)
{
	return stage->conf->tensor > 1;
}

/* --- blocks --- */

static void gather_input(struct llm_stage *stage)
{
	if (has_tensor(stage) && stage->conf->sequence_parallel)
		exchange(stage, STREAM_TENSOR, LLM_TENSOR_GATHER, activations(stage));
}

static void add_output_up(struct llm_stage *stage)
{
	if (has_tensor(stage))
		exchange(stage, STREAM_TENSOR, LLM_TENSOR, activations(stage));
}

/* Keys and values go around the group beside attention, which takes `flops` in all; backward
 * (`back`) their gradients come behind, and go home at the end. */
static void context_ring(struct llm_stage *stage, double flops, bool back)
{
	uint32_t ranks = (uint32_t)stage->conf->context, sends = back ? ranks : ranks - 1;
	double block = keys_and_values(stage);
	uint32_t come = stage->chain;

	for (uint32_t k = 0; k < ranks; k++) {
		double size = back && k && k + 1 < ranks ? 2 * block : block;
		uint32_t own = stage->chain, held = come;
		bool late = back && k + 1 == ranks; /* gradients of the last part */

		if (!late && k < sends) {
			take_part(stage, STREAM_CONTEXT, LLM_CONTEXT_TO, size, come);
			if (back && k)
				role_need(stage->role, own, false);
			come = take_part(stage, STREAM_CONTEXT_IN, LLM_CONTEXT_FROM, size,
					 LLM_NONE);
		}
		compute(stage, flops / ranks);
		if (k)
			role_need(stage->role, held, false);
		if (late) {
			take_part(stage, STREAM_CONTEXT, LLM_CONTEXT_TO, size, stage->chain);
			stage->chain = take_part(stage, STREAM_CONTEXT_IN, LLM_CONTEXT_FROM, size,
						 LLM_NONE);
			stage->exchanges = true;
		}
	}
}

/* The scores of attention over context ranks. */
static void attend(struct llm_stage *stage, double flops, bool back)
{
	double all = keys_and_values(stage) * (double)stage->conf->context;

	if (stage->conf->context_exchange == CONTEXT_RING) {
		context_ring(stage, flops, back);
		return;
	}
	exchange(stage, STREAM_CONTEXT, LLM_CONTEXT_GATHER, all);
	compute(stage, flops);
	if (back)
		exchange(stage, STREAM_CONTEXT_IN, LLM_CONTEXT_SCATTER, all);
}

static void attention_forward(struct llm_stage *stage)
{
	const struct llm *llm = stage->llm;
	double scores = llm_score_flops(llm, stage->conf->sequence);

	gather_input(stage);
	if (stage->conf->context == 1) {
		compute(stage, llm_attention_flops(llm) + scores);
	} else {
		compute(stage, llm_attention_flops(llm));
		attend(stage, scores, false);
	}
	add_output_up(stage);
}

static void mlp_forward(struct llm_stage *stage, double flops)
{
	gather_input(stage);
	compute(stage, flops);
	add_output_up(stage);
}

/* A block backward: the gradient of its input first, which others wait for, then, beside the
 * exchange of this, those of its weights. `scores`: those of attention, if they are spread over
 * context ranks. Returns the last node of computing. */
static uint32_t block_backward(struct llm_stage *stage, double flops, double scores)
{
	bool overlaps = has_tensor(stage) && stage->conf->overlap_tensor;
	uint32_t again = LLM_NONE, node;

	gather_input(stage); /* of the output's gradient */
	if (has_tensor(stage) && stage->conf->sequence_parallel)
		again = take_part(stage, STREAM_TENSOR, LLM_TENSOR_GATHER, activations(stage),
				  stage->chain);
	compute(stage, flops);
	if (scores > 0)
		attend(stage, scores, true);
	if (overlaps)
		add_output_up(stage);
	node = overlaps ? add_flops(stage, flops) : compute(stage, flops);
	if (again != LLM_NONE)
		role_need(stage->role, again, false);
	if (!overlaps)
		add_output_up(stage);
	return node;
}

static uint32_t attention_backward(struct llm_stage *stage)
{
	double flops = llm_attention_flops(stage->llm);
	double scores = llm_score_flops(stage->llm, stage->conf->sequence);

	if (stage->conf->context == 1)
		return block_backward(stage, flops + scores, 0);
	return block_backward(stage, flops, 2 * scores);
}

/* Tokens of a micro-batch go to their experts (`back`: or their gradients to where they came
 * from), which compute, and their results return. Returns the node of computing. */
static uint32_t experts_pass(struct llm_stage *stage, bool back)
{
	const struct llm *llm = stage->llm;
	const struct llm_conf *conf = stage->conf;
	double copies = (double)(conf->micro_batch * conf->sequence) /
			(double)(conf->context * conf->tensor) * llm->top * llm->hidden;
	double sent = copies * conf->dispatch_bytes, returned = 2 * copies;
	double flops = 2 * llm->top * llm_mlp(llm, llm->expert_ffn) * stage->load;
	double shared = (double)conf->expert_tensor;
	uint32_t node;

	if (conf->expert > 1)
		exchange(stage, STREAM_EXPERT, LLM_EXPERT, back ? returned : sent);
	if (conf->expert_tensor > 1)
		exchange(stage, STREAM_EXPERT, LLM_EXPERT_GATHER,
			 (back ? returned : sent) * shared);
	node = compute(stage, back ? 2 * flops : flops);
	if (conf->expert_tensor > 1)
		exchange(stage, STREAM_EXPERT, LLM_EXPERT_SCATTER, returned * shared);
	if (conf->expert > 1)
		exchange(stage, STREAM_EXPERT, LLM_EXPERT, returned);
	return node;
}

/* --- parameters --- */

static size_t gathered_at(const struct llm_stage *stage, enum part part, uint32_t layer)
{
	return part == PART_EMBEDDING ? 2 * (size_t)stage->llm->layers + layer
				      : 2 * (size_t)layer + (part == PART_EXPERTS);
}

static bool is_replicated(const struct llm_stage *stage, enum part part)
{
	return part == PART_EXPERTS ? stage->experts_data > 1
				    : stage->conf->data * stage->conf->context > 1;
}

/* What follows needs parameters that the step before has updated. */
static void need_parameters(struct llm_stage *stage, enum part part, uint32_t layer)
{
	uint32_t node;

	if (!stage->conf->divides_optimizer || !is_replicated(stage, part))
		return;
	node = add(stage, ACT_PAUSE, STREAM_COMPUTE, 0, 0, 0);
	role_need(stage->role, stage->gathered[gathered_at(stage, part, layer)], true);
	if (stage->exchanges)
		role_need(stage->role, stage->chain, false);
	stage->chain = node;
	stage->exchanges = false;
}

/* Hands gradients over after a node. */
static void hand_over(struct llm_stage *stage, const struct llm_gradient *gradient, uint32_t after)
{
	bool experts = gradient->part == PART_EXPERTS, divides = stage->conf->divides_optimizer;
	uint32_t node =
		add(stage, ACT_PART, STREAM_DATA, stage->seat[experts ? LLM_EXPERT_DATA : LLM_DATA],
		    gradient->parameters * (double)stage->conf->gradient_bytes,
		    NODE_ISSUED | NODE_GRADIENT | (divides ? 0 : (unsigned)NODE_SUM));

	role_need(stage->role, after, false);
	if (!divides)
		return;
	stage->gathered[gathered_at(stage, (enum part)gradient->part, gradient->layer)] =
		add(stage, ACT_PART, STREAM_GATHER,
		    stage->seat[experts ? LLM_EXPERT_DATA_GATHER : LLM_DATA_GATHER],
		    2 * gradient->parameters, NODE_ISSUED | NODE_SUM);
	role_need(stage->role, node, false);
}

/* Gradients of parameters, those of all ranks of a tensor group, are there after a node. */
static void add_gradient(struct llm_stage *stage, enum part part, uint32_t layer, double parameters,
			 uint32_t after)
{
	const struct llm_conf *conf = stage->conf;
	int64_t shared = part == PART_EXPERTS ? conf->expert_tensor : conf->tensor;
	struct llm_gradient gradient = { part, layer, parameters / (double)shared };

	if (!is_replicated(stage, part))
		return;
	if (conf->overlap_data) {
		hand_over(stage, &gradient, after);
		return;
	}
	stage->late = array_reserve(stage->late, stage->late_count, &stage->late_capacity,
				    sizeof(*stage->late));
	stage->late[stage->late_count++] = gradient;
}

/* --- layers --- */

static void layer_forward(struct llm_stage *stage, uint32_t layer)
{
	const struct llm *llm = stage->llm;

	attention_forward(stage);
	if (!llm_has_experts(llm, layer)) {
		mlp_forward(stage, 2 * llm_mlp(llm, llm->ffn));
		return;
	}
	if (llm->shared > 0)
		mlp_forward(stage, 2 * llm->shared * llm_mlp(llm, llm->expert_ffn));
	experts_pass(stage, false);
}

static void layer_backward(struct llm_stage *stage, uint32_t layer, bool last)
{
	const struct llm *llm = stage->llm;
	bool has_experts = llm_has_experts(llm, layer);
	double ffn = has_experts ? llm->shared * llm->expert_ffn : llm->ffn;
	double own = llm->experts / (double)stage->conf->expert;
	uint32_t node;

	if (has_experts) {
		node = experts_pass(stage, true);
		if (last)
			add_gradient(stage, PART_EXPERTS, layer,
				     own * llm_mlp(llm, llm->expert_ffn), node);
	}
	if (ffn > 0)
		block_backward(stage, 2 * llm_mlp(llm, ffn), 0);
	node = attention_backward(stage);
	if (last)
		add_gradient(stage, PART_DENSE, layer,
			     llm_attention(llm) + llm_mlp(llm, ffn) + llm_rest(llm, has_experts),
			     node);
}

/* --- passes --- */

static uint32_t places(const struct llm_stage *stage)
{
	return stage->pipeline.stages * stage->pipeline.chunks;
}

static bool is_last(const struct llm_stage *stage)
{
	return stage->place + 1 == places(stage);
}

static bool ties_alone(const struct llm_stage *stage)
{
	return stage->llm->gpt && places(stage) == 1;
}

static double message(const struct llm_stage *stage)
{
	return activations(stage) /
	       (stage->conf->sequence_parallel ? (double)stage->conf->tensor : 1);
}

static void receive(struct llm_stage *stage, enum llm_seat seat)
{
	stage->chain = add(stage, ACT_PART, STREAM_COMPUTE, stage->seat[seat], message(stage), 0);
	stage->exchanges = false;
}

static void send(struct llm_stage *stage, enum llm_seat seat)
{
	add(stage, ACT_PART, STREAM_COMPUTE, stage->seat[seat], message(stage), NODE_ISSUED);
	if (stage->exchanges)
		role_need(stage->role, stage->chain, false);
}

static void pass_forward(struct llm_stage *stage, bool first)
{
	if (stage->place) {
		receive(stage, LLM_FROM_BEFORE);
	} else {
		stage->chain = stage->computed;
		stage->exchanges = false;
		if (first && !ties_alone(stage))
			need_parameters(stage, PART_EMBEDDING, 0);
	}
	for (uint32_t l = stage->first; l < stage->end; l++) {
		if (first)
			need_parameters(stage, PART_DENSE, l);
		if (first && llm_has_experts(stage->llm, l))
			need_parameters(stage, PART_EXPERTS, l);
		layer_forward(stage, l);
	}
	if (!is_last(stage)) {
		send(stage, LLM_TO_NEXT);
		return;
	}
	if (first)
		need_parameters(stage, PART_EMBEDDING, 1);
	compute(stage, llm_logit_flops(stage->llm));
}

/* Embeddings that the first and the last stage tie have the sum of the gradients of both. */
static void add_embedding(struct llm_stage *stage, uint32_t number, uint32_t after)
{
	double parameters = stage->llm->hidden * stage->llm->vocabulary;

	add_gradient(stage, PART_EMBEDDING, number, parameters, after);
	if (stage->seat[LLM_EMBEDDING] == LLM_NONE)
		return;
	add(stage, ACT_PART, STREAM_DATA, stage->seat[LLM_EMBEDDING],
	    parameters / (double)stage->conf->tensor * (double)stage->conf->gradient_bytes,
	    NODE_ISSUED | NODE_SUM | NODE_GRADIENT);
	role_need(stage->role, after, false);
}

static void pass_backward(struct llm_stage *stage, bool last)
{
	if (!is_last(stage)) {
		receive(stage, LLM_FROM_NEXT);
	} else {
		uint32_t node = compute(stage, 2 * llm_logit_flops(stage->llm));

		if (last)
			add_embedding(stage, 1, node);
	}
	for (uint32_t l = stage->end; l-- > stage->first;) {
		if (stage->conf->recomputes)
			layer_forward(stage, l);
		layer_backward(stage, l, last);
	}
	if (last && !stage->place && !ties_alone(stage))
		add_embedding(stage, 0, stage->computed);
	if (stage->place)
		send(stage, LLM_TO_BEFORE);
}

static void turn_to(struct llm_stage *stage, uint32_t chunk)
{
	uint32_t layers = (uint32_t)stage->llm->layers;

	stage->place = chunk * stage->pipeline.stages + stage->number;
	stage->first = stage->place * layers / places(stage);
	stage->end = (stage->place + 1) * layers / places(stage);
}

static void list_once(struct llm_stage *stage)
{
	struct pipeline_pass *passes = pipeline_passes(&stage->pipeline, stage->number);
	uint64_t count = 2 * (uint64_t)stage->pipeline.microbatches * stage->pipeline.chunks;

	stage->computed = stage->chain = LLM_NONE;
	stage->late_count = 0;
	role_clear(stage->role);
	for (uint64_t k = 0; k < count; k++) {
		turn_to(stage, passes[k].chunk);
		if (passes[k].back)
			pass_backward(stage, passes[k].last);
		else
			pass_forward(stage, passes[k].microbatch == 0);
	}
	for (size_t i = 0; i < stage->late_count; i++)
		hand_over(stage, &stage->late[i], stage->computed);
	free(passes);
}

/* Nodes need parameters that are gathered by nodes behind them. So all are listed twice, and the
 * second time uses the numbers that nodes had the first time. */
void llm_stage_list(struct llm_stage *stage)
{
	stage->gathered = xcalloc(2 * (size_t)stage->llm->layers + 2, sizeof(*stage->gathered));
	for (unsigned time = 0; time < (stage->conf->divides_optimizer ? 2 : 1); time++)
		list_once(stage);
	free(stage->gathered);
	free(stage->late);
}
