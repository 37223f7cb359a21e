#include "workload/program/llm_models.h"

#include <stddef.h>

const struct llm llms[] = {
	{ 40, 5120, 40, 40, 20480, 50257, .gpt = true },
	{ 96, 12288, 96, 96, 49152, 50257, .gpt = true },
	{ 32, 4096, 32, 32, 11008, 32000 },
	{ 80, 8192, 64, 8, 28672, 32000 },
	{ 32, 4096, 32, 8, 14336, 128256 },
	{ 80, 8192, 64, 8, 28672, 128256 },
	{ 126, 16384, 128, 8, 53248, 128256 },
	{ 32, 4096, 32, 8, 14336, 32000, .experts = 8, .top = 2, .expert_ffn = 14336 },
	{ 61, 7168, 128, 128, 18432, 129280, .latent = true, .dense = 3, .experts = 256, .top = 8,
	  .expert_ffn = 2048, .shared = 1 },
};
const char *const llm_names[] = { "gpt3_13b",    "gpt3_175b",  "llama2_7b",   "llama2_70b",
				  "llama3_8b",   "llama3_70b", "llama3_405b", "mixtral_8x7b",
				  "deepseek_v3", NULL };

/* Of latent attention: ranks of queries and of keys and values, a head's parts without and with
 * positions (config_671B.json). */
enum { Q_RANK = 1536, KV_RANK = 512, ROPE = 64 };

double llm_attention(const struct llm *llm)
{
	double a = llm->heads, h = llm->hidden;

	if (!llm->latent)
		return h * LLM_HEAD * (2 * a + 2 * llm->kv_heads);
	return h * Q_RANK + Q_RANK * a * (LLM_HEAD + ROPE) + h * (KV_RANK + ROPE) +
	       KV_RANK * a * 2 * LLM_HEAD + a * LLM_HEAD * h;
}

double llm_mlp(const struct llm *llm, double ffn)
{
	return (llm->gpt ? 2 : 3) * llm->hidden * ffn;
}

double llm_rest(const struct llm *llm, bool experts)
{
	double rest = llm->gpt ? 13 * llm->hidden : 2 * llm->hidden; /* with GPT's biases */

	if (llm->latent)
		rest += Q_RANK + KV_RANK;
	return rest + (experts ? llm->experts * (llm->hidden + llm->latent) : 0);
}

double llm_attention_flops(const struct llm *llm)
{
	return 2 * llm_attention(llm);
}

double llm_score_flops(const struct llm *llm, int64_t sequence)
{
	double head = LLM_HEAD + (llm->latent ? ROPE / 2. : 0); /* mean of QK and V */

	return 2 * (double)sequence * llm->heads * head;
}

double llm_logit_flops(const struct llm *llm)
{
	return 2 * llm->hidden * llm->vocabulary;
}

/* Weights of a layer's MLP or experts: all, or those that a token goes through. */
static double feed_forward(const struct llm *llm, uint32_t layer, bool active)
{
	if (!llm_has_experts(llm, layer))
		return llm_mlp(llm, llm->ffn);
	return ((active ? llm->top : llm->experts) + llm->shared) * llm_mlp(llm, llm->expert_ffn);
}

double llm_parameters(int model)
{
	const struct llm *llm = &llms[model];
	double embeddings = llm->hidden * (llm->gpt ? llm->vocabulary + 2048 : 2 * llm->vocabulary);
	double sum = embeddings + (llm->gpt ? 2 : 1) * llm->hidden;

	for (uint32_t l = 0; l < llm->layers; l++)
		sum += llm_attention(llm) + feed_forward(llm, l, false) +
		       llm_rest(llm, llm_has_experts(llm, l));
	return sum;
}

double llm_flops(int model, int64_t sequence)
{
	const struct llm *llm = &llms[model];
	double sum = llm_logit_flops(llm);

	for (uint32_t l = 0; l < llm->layers; l++)
		sum += llm_attention_flops(llm) + llm_score_flops(llm, sequence) +
		       2 * feed_forward(llm, l, true);
	return sum;
}
