/* The program of a network, layer by layer: data parallelism, sharding, experts, pipelines.
 *
 * A stage's ranks compute on one stream, which also hands over gradients, tokens and activations.
 * Parameters are all-gathered on a stream of their own. Nodes need nodes that are listed behind
 * them (sums of the iteration before). So each stage is listed twice, and the second time uses the
 * numbers that nodes had the first time. */
#include "workload/program/program.h"

#include "base/fail.h"
#include "base/mem.h"
#include "collective/tensors.h"
#include "workload/dnn.h"

#include <stdlib.h>

enum { STREAM_GATHER, STREAM_COMPUTE }; /* the first goes first where both can go on */

#define NONE UINT32_MAX

/* A stage while its nodes are listed. `layer_first` to `tensor_end` are those of the chunk that is
 * listed: of virtual stage `place`. */
struct stage {
	const struct dnn *dnn;
	const struct program_shape *shape;
	struct program_role *role;
	uint32_t number, place;
	size_t layer_first, layer_end, tensor_first, tensor_end;
	uint32_t gradients, gather, tokens, from[2], to[2]; /* seats; [0] forward, [1] backward */
	uint32_t *sum;      /* by tensor: the node whose result is its sum */
	uint32_t *reached;  /* by layers forward, then backward: a pause of no time before it */
	uint32_t *gathered; /* by the same: the node that all-gathers its parameters */
};

static uint32_t add_part(struct stage *stage, uint16_t stream, uint32_t seat, bytes size,
			 unsigned flags)
{
	return role_add(stage->role, (struct program_node){ .act = ACT_PART,
							    .flags = (uint8_t)flags,
							    .stream = stream,
							    .seat = seat,
							    .amount = size });
}

static uint32_t add_work(struct stage *stage, enum program_act act, sim_time time, unsigned flags)
{
	return role_add(stage->role, (struct program_node){ .act = (uint8_t)act,
							    .flags = (uint8_t)flags,
							    .stream = STREAM_COMPUTE,
							    .amount = time });
}

/* The node that was added last needs the layer's sums of the iteration before. */
static void need_sums(struct stage *stage, size_t layer)
{
	for (size_t t = stage->tensor_first; t < stage->tensor_end; t++)
		if (stage->dnn->tensors[t].layer == layer)
			role_need(stage->role, stage->sum[t], true);
}

/* The number of a layer's all-gather in the iteration: all layers forward, then all backward. */
static size_t gather_at(const struct stage *stage, size_t layer, bool back)
{
	return back ? 2 * stage->dnn->layer_count - 1 - layer : layer;
}

static void need_parameters(struct stage *stage, size_t layer, bool back)
{
	if (!back)
		need_sums(stage, layer);
	if (stage->shape->divides_all)
		role_need(stage->role, stage->gathered[gather_at(stage, layer, back)], false);
}

static void add_tokens(struct stage *stage, size_t layer, uint32_t microbatch)
{
	bytes size = stage->dnn->layers[layer].all_to_all;

	if (stage->tokens != NONE && size)
		add_part(stage, STREAM_COMPUTE, stage->tokens,
			 tensor_parts(size, microbatch, microbatch + 1,
				      stage->shape->pipeline.microbatches),
			 0);
}

static uint32_t places_of(const struct stage *stage)
{
	return stage->shape->pipeline.stages * stage->shape->pipeline.chunks;
}

/* Whether the chunk receives from another one, or sends to one. */
static bool receives(const struct stage *stage, bool back)
{
	return back ? stage->place + 1 < places_of(stage) : stage->place;
}

static bool sends(const struct stage *stage, bool back)
{
	return back ? stage->place : stage->place + 1 < places_of(stage);
}

/* Turns to a chunk. In a pipeline each layer is one tensor, last layer first. */
static void turn_to(struct stage *stage, uint32_t chunk)
{
	size_t layers = stage->dnn->layer_count;

	stage->place = chunk * stage->shape->pipeline.stages + stage->number;
	stage->layer_first = stage->place * layers / places_of(stage);
	stage->layer_end = (stage->place + 1) * layers / places_of(stage);
	stage->tensor_first = 0;
	stage->tensor_end = stage->dnn->tensor_count;
	if (places_of(stage) > 1) {
		stage->tensor_first = layers - stage->layer_end;
		stage->tensor_end = layers - stage->layer_first;
	}
}

/* A layer of a micro-batch: what it waits for, its computing, and what it sends. */
static void add_layer(struct stage *stage, size_t layer, uint32_t microbatch, bool back)
{
	const struct dnn_layer *of = &stage->dnn->layers[layer];
	size_t first = back ? stage->layer_end - 1 : stage->layer_first;
	size_t last = back ? stage->layer_first : stage->layer_end - 1;
	bool ends = !back && layer == last && microbatch + 1 == stage->shape->pipeline.microbatches;

	if (stage->shape->divides_all && !microbatch)
		stage->reached[gather_at(stage, layer, back)] = add_work(stage, ACT_PAUSE, 0, 0);
	if (layer == first && receives(stage, back)) {
		add_part(stage, STREAM_COMPUTE, stage->from[back], stage->shape->activations, 0);
		if (!back)
			need_sums(stage, layer);
	}
	if (stage->tokens != NONE && of->all_to_all) {
		add_tokens(stage, layer, microbatch);
		need_parameters(stage, layer, back);
	}
	add_work(stage, ACT_COMPUTE, back ? of->backward : of->forward,
		 ends ? NODE_FORWARD_END : 0);
	need_parameters(stage, layer, back);
	add_tokens(stage, layer, microbatch);
	if (layer == last && sends(stage, back))
		add_part(stage, STREAM_COMPUTE, stage->to[back], stage->shape->activations,
			 NODE_ISSUED);
}

/* Hands over the tensors from *tensor on that are complete once `layer` has gone backward. */
static void add_gradients(struct stage *stage, size_t layer, size_t *tensor)
{
	const struct program_shape *shape = stage->shape;
	unsigned flags =
		NODE_ISSUED | NODE_GRADIENT | (shape->divides_optimizer ? 0 : (unsigned)NODE_SUM);

	for (; *tensor < stage->tensor_end && stage->dnn->tensors[*tensor].layer >= layer;
	     (*tensor)++) {
		if (shape->send_jitter &&
		    (shape->jitter_per_tensor || *tensor == stage->tensor_first))
			add_work(stage, ACT_PAUSE, shape->send_jitter, 0);
		stage->sum[*tensor] = add_part(stage, STREAM_COMPUTE, stage->gradients,
					       stage->dnn->tensors[*tensor].size, flags);
	}
}

/* With the optimizer's state divided: parameters are all-gathered once their gradients are summed
 * up, in the order of tensors. */
static void add_updates(struct stage *stage)
{
	for (size_t t = stage->tensor_first; t < stage->tensor_end; t++) {
		uint32_t gradient = stage->sum[t];

		stage->sum[t] = add_part(stage, STREAM_GATHER, stage->gather,
					 stage->dnn->tensors[t].size, NODE_ISSUED | NODE_SUM);
		role_need(stage->role, gradient, false);
	}
}

/* With parameters divided, too: those of a layer are all-gathered once the rank is `prefetch`
 * layers before it. */
static void add_gathers(struct stage *stage)
{
	size_t layers = stage->dnn->layer_count;

	for (size_t k = 0; k < 2 * layers; k++) {
		size_t at = k > stage->shape->prefetch ? k - (size_t)stage->shape->prefetch : 0;
		size_t layer = k < layers ? k : 2 * layers - 1 - k;

		stage->gathered[k] = add_part(stage, STREAM_GATHER, stage->gather,
					      stage->dnn->layers[layer].gradient, NODE_ISSUED);
		role_need(stage->role, stage->reached[at], false);
		if (k < layers)
			need_sums(stage, layer);
	}
}

static void list_pass(struct stage *stage, const struct pipeline_pass *pass)
{
	size_t tensor;

	turn_to(stage, pass->chunk);
	tensor = stage->tensor_first;
	for (size_t l = stage->layer_first; !pass->back && l < stage->layer_end; l++)
		add_layer(stage, l, pass->microbatch, false);
	for (size_t l = stage->layer_end; pass->back && l-- > stage->layer_first;) {
		add_layer(stage, l, pass->microbatch, true);
		if (pass->last)
			add_gradients(stage, l, &tensor);
	}
}

static void list_nodes(struct stage *stage)
{
	const struct program_shape *shape = stage->shape;
	struct pipeline_pass *passes = pipeline_passes(&shape->pipeline, stage->number);
	uint32_t chunks = shape->pipeline.chunks;

	turn_to(stage, 0);
	add_work(stage, ACT_PAUSE, shape->start_jitter, 0);
	need_sums(stage, stage->layer_first);
	for (uint64_t k = 0; k < 2 * (uint64_t)shape->pipeline.microbatches * chunks; k++)
		list_pass(stage, &passes[k]);
	free(passes);
	for (uint32_t c = chunks; c-- > 0 && shape->divides_optimizer;) {
		turn_to(stage, c);
		add_updates(stage);
	}
	if (shape->divides_all)
		add_gathers(stage);
}

/* Hints of the gradients of a whole network (one stage). */
static struct program_hint *hints_of(const struct dnn *dnn)
{
	struct program_hint *hints = xcalloc(dnn->tensor_count, sizeof(*hints));
	double forward = 0, left = (double)dnn->gradient_total, backward = 0;
	size_t layer = dnn->layer_count; /* layers from this one on have gone backward */

	for (size_t l = 0; l < dnn->layer_count; l++) {
		forward += (double)dnn->layers[l].forward;
		backward += (double)dnn->layers[l].backward;
	}
	for (size_t t = 0; t < dnn->tensor_count; t++) {
		for (; layer > dnn->tensors[t].layer; layer--)
			backward -= (double)dnn->layers[layer - 1].backward;
		hints[t] = (struct program_hint){ (uint32_t)dnn->tensors[t].layer, left,
						  backward + forward };
		left -= (double)dnn->tensors[t].size;
	}
	return hints;
}

/* Lists the nodes of stage `s`. */
static void make_role(struct program *program, const struct dnn *dnn,
		      const struct program_shape *shape, uint32_t s)
{
	struct program_role *role = &program->roles[s];
	size_t layers = dnn->layer_count;
	bool wraps = shape->pipeline.chunks > 1;
	bool pipeline = shape->pipeline.stages > 1,
	     gathers = shape->divides_optimizer || shape->divides_all;
	uint32_t seat = 0;
	struct stage stage = {
		.dnn = dnn,
		.shape = shape,
		.role = role,
		.number = s,
		.gradients = seat++,
		.gather = gathers ? seat++ : NONE,
		.tokens = NONE,
		.from = { NONE, NONE },
		.to = { NONE, NONE },
	};

	/* as groups are added: with the stage before, with the one behind, from the last to the
	 * first */
	for (unsigned step = s > 0 ? 0 : 1; step < 3; step++) {
		if (step == 1 && (s + 1 < shape->pipeline.stages || wraps)) {
			stage.to[0] = seat++;
			stage.from[1] = seat++;
		} else if (step == 0 || (step == 2 && !s && wraps)) {
			stage.from[0] = seat++;
			stage.to[1] = seat++;
		}
	}
	if (dnn_tokens(dnn))
		stage.tokens = seat++;
	stage.sum = xcalloc(dnn->tensor_count, sizeof(*stage.sum));
	stage.reached = xcalloc(2 * layers, sizeof(*stage.reached));
	stage.gathered = xcalloc(2 * layers, sizeof(*stage.gathered));
	for (unsigned pass = 0; pass < 2; pass++) {
		role_clear(role);
		list_nodes(&stage);
	}
	role->hints = pipeline ? NULL : hints_of(dnn);
	free(stage.sum);
	free(stage.reached);
	free(stage.gathered);
}

/* Adds a group of ranks first, first + stride, ..., at the next seat of each. */
static void add_group(struct program *program, enum program_op op, uint32_t count, int64_t first,
		      int64_t stride, uint32_t *seats)
{
	uint32_t group = program_add_strided(program, op, NULL, count, first, stride);

	for (uint32_t i = 0; i < count; i++)
		program_sit(program, group, i, seats[first + i * stride]++);
}

uint64_t program_layers_groups(const struct program_shape *shape, bool tokens)
{
	bool shards = shape->divides_optimizer || shape->divides_all;
	uint64_t each = shape->ranks / shape->pipeline.stages;

	return shape->pipeline.stages * (shards ? 2 : 1) +
	       2 * (shape->pipeline.chunks > 1 ? shape->ranks : shape->ranks - each) + tokens;
}

struct program *program_layers(const struct dnn *dnn, const struct program_shape *shape)
{
	uint32_t each = shape->ranks / shape->pipeline.stages;
	bool shards = shape->divides_optimizer || shape->divides_all;
	struct program *program = program_new(shape->ranks, shape->pipeline.stages);
	uint32_t *seats = xcalloc(shape->ranks, sizeof(*seats));
	char *mistake;

	program->pipelined = true;
	for (uint32_t s = 0; s < shape->pipeline.stages; s++) {
		add_group(program, shards ? OP_REDUCE_SCATTER : OP_ALL_REDUCE, each, s * each, 1,
			  seats);
		if (shards)
			add_group(program, OP_ALL_GATHER, each, s * each, 1, seats);
		for (uint32_t r = s * each; r < (s + 1) * each; r++)
			program->role_of[r] = s;
	}
	for (uint32_t r = 0; r + each < shape->ranks; r++) {
		add_group(program, OP_MESSAGE, 2, r, each, seats);
		add_group(program, OP_MESSAGE, 2, (int64_t)r + each, -(int64_t)each, seats);
	}
	for (uint32_t r = 0; r < each && shape->pipeline.chunks > 1; r++) {
		int64_t last = (int64_t)shape->ranks - each + r;

		add_group(program, OP_MESSAGE, 2, last, r - last, seats);
		add_group(program, OP_MESSAGE, 2, r, last - r, seats);
	}
	if (dnn_tokens(dnn))
		add_group(program, OP_ALL_TO_ALL, shape->ranks, 0, 1, seats);
	for (uint32_t s = 0; s < shape->pipeline.stages; s++)
		make_role(program, dnn, shape, s);
	mistake = program_finish(program);
	SIM_BUG_ON(mistake);
	free(seats);
	return program;
}
