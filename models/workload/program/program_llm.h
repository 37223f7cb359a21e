/* The program of a training step of a language model, split as Megatron-LM does: tensors among
 * `tensor` ranks, samples' tokens among `context`, layers among `pipeline` stages, samples among
 * `data` replicas, experts among `expert` ranks of these.
 *
 * Ranks are numbered through the grid of these dimensions (program_grid.h). Experts have a grid of
 * their own with the same order, without context: its data dimension is what is left.
 *
 * In a block (attention or MLP) of a layer the ranks of a tensor group all-reduce its output
 * forward, and the gradient of its input backward while they compute the gradients of its weights.
 * With `sequence_parallel` they all-gather the input and reduce-scatter the output instead;
 * backward they also gather the input again, for those weights. Keys and values go around the ranks
 * of a context group beside attention, as TransformerEngine does, or are all-gathered (Llama 3).
 * Tokens go to experts and back by all-to-alls, forward and backward. A stage sends its output to
 * the same ranks of the next stage, by 1F1B or interleaved (program_pipeline.h). In the last
 * micro-batch the gradient of a layer is all-reduced among replicas and context ranks once the
 * layer has gone backward, beside the layers before it; with the optimizer divided it is
 * reduce-scattered, and parameters are all-gathered before the next step's layer. Otherwise the
 * next step begins when all is done.
 *
 * Computing takes floating-point operations / (tensor x context x utilisation x peak): forward 2
 * per weight and token, and for causal attention 2 s a d per token; backward twice as many. Left
 * out: the optimizer, kernels bound by memory, exchanges of embeddings and of the loss. */
#ifndef INASIM_WORKLOAD_PROGRAM_PROGRAM_LLM_H
#define INASIM_WORKLOAD_PROGRAM_PROGRAM_LLM_H

#include "conf/conf.h"
#include "workload/program/llm_models.h"
#include "workload/program/program.h"

struct llm_conf {
	bool given;
	int model; /* index into llm_names */
	int64_t sequence, micro_batch, global_batch;
	int64_t tensor, context, expert, expert_tensor, pipeline, data;
	bool expert_tensor_given;
	const char *order;
	int schedule; /* enum pipeline_kind */
	int64_t chunks;
	bool sequence_parallel, overlap_tensor, overlap_data, divides_optimizer, recomputes;
	int context_exchange; /* enum context_exchange */
	int64_t gradient_bytes;
	double dispatch_bytes; /* of a value of a token */
	double utilisation;
};
enum context_exchange { CONTEXT_RING, CONTEXT_ALL_GATHER };

extern const struct conf_table llm_table;

/* Makes the program, finished. NULL and *mistake (caller frees) if the numbers do not go together
 * or the GPU's peak is not known. Ranks of an expert group have roles of their own if tokens spread
 * unevenly. */
struct program *program_llm(const struct llm_conf *conf, const struct tokens_conf *tokens,
			    const char *gpu, char **mistake);

#endif
