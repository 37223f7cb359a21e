/* Published language models: sizes, parameters, and floating-point operations.
 *
 * GPT-3 (arXiv 2005.14165, table 2.1; 13B has 40 heads of 128), Llama 2 (2307.09288) and 3
 * (2407.21783, table 3), Mixtral (2401.04088), DeepSeek-V3 (2412.19437; without its multi-token
 * prediction). Heads have 128 values. */
#ifndef INASIM_WORKLOAD_PROGRAM_LLM_MODELS_H
#define INASIM_WORKLOAD_PROGRAM_LLM_MODELS_H

#include <stdbool.h>
#include <stdint.h>

struct llm {
	double layers, hidden, heads, kv_heads, ffn, vocabulary;
	bool gpt;    /* MLP of two matrices, biases, tied embeddings, 2048 positions */
	bool latent; /* attention with latent keys and values (MLA), a bias in the router */
	/* Layers from `dense` on have experts instead of an MLP: each token goes to `top` of them,
	 * and through `shared` others. */
	double dense, experts, top, expert_ffn, shared;
};

extern const struct llm llms[];       /* by number of its name */
extern const char *const llm_names[]; /* NULL behind the last */
#define LLM_HEAD 128

/* Weights of a layer: of its attention, an MLP or expert of so many hidden values, and the rest
 * that all ranks of a tensor group share (norms, biases, router). */
double llm_attention(const struct llm *llm);
double llm_mlp(const struct llm *llm, double ffn);
double llm_rest(const struct llm *llm, bool experts);
static inline bool llm_has_experts(const struct llm *llm, uint32_t layer)
{
	return llm->experts > 0 && layer >= llm->dense;
}

/* Operations of a token forward: the weights of attention, its scores (a causal mask: half of
 * them), and the logits. Other weights take two each. */
double llm_attention_flops(const struct llm *llm);
double llm_score_flops(const struct llm *llm, int64_t sequence);
double llm_logit_flops(const struct llm *llm);

/* Parameters of a model; operations of a token forward, at this sequence length. */
double llm_parameters(int model);
double llm_flops(int model, int64_t sequence);

#endif
