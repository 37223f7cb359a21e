/* The program of a training step of a dense language model, split as Megatron-LM does: tensors
 * among `tensor` ranks, layers among `pipeline` stages (1F1B), samples among `data` replicas.
 *
 * Ranks are t + tensor (d + data p), as in Megatron's order tp-cp-ep-dp-pp. In a block (attention
 * or MLP) of a layer the ranks of a tensor group all-reduce its output forward, and the gradient of
 * its input backward while they compute the gradients of its weights. A stage sends its output to
 * the same ranks of the next stage. In the last micro-batch the gradient of a layer is all-reduced
 * among replicas once the layer has gone backward, beside the layers before it. The next step
 * begins when all is done.
 *
 * Computing takes floating-point operations / (tensor x utilisation x peak): forward 2 per weight
 * and token, and for causal attention 2 s a d per token; backward twice as many. Left out: the
 * optimizer, kernels bound by memory, sequence parallelism, interleaved stages, recomputation. */
#ifndef INASIM_WORKLOAD_PROGRAM_PROGRAM_LLM_H
#define INASIM_WORKLOAD_PROGRAM_PROGRAM_LLM_H

#include "conf/conf.h"
#include "workload/program/program.h"

struct llm_conf {
	bool given;
	int model; /* index into llm_names */
	int64_t sequence, micro_batch, global_batch;
	int64_t tensor, pipeline, data;
	int64_t gradient_bytes;
	double utilisation;
};

extern const struct conf_table llm_table;
extern const char *const llm_names[];

/* Parameters of a model; floating-point operations of a token forward, at this sequence length. */
double llm_parameters(int model);
double llm_flops(int model, int64_t sequence);

/* Makes the program, finished. NULL and *mistake (caller frees) if the numbers do not go together
 * or the GPU's peak is not known. */
struct program *program_llm(const struct llm_conf *conf, const char *gpu, char **mistake);

#endif
