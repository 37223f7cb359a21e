/* The nodes of a stage of a language model: what program_llm.c says. */
#ifndef INASIM_WORKLOAD_PROGRAM_LLM_STAGE_H
#define INASIM_WORKLOAD_PROGRAM_LLM_STAGE_H

#include "workload/program/program_llm.h"

/* What a rank takes part in. Sends and receives are of messages to the next stage and back. */
enum llm_seat {
	LLM_TENSOR, /* all-reduces or reduce-scatters */
	LLM_DATA,
	LLM_FROM_BEFORE,
	LLM_TO_BEFORE,
	LLM_TO_NEXT,
	LLM_FROM_NEXT,
	LLM_TENSOR_GATHER,
	LLM_DATA_GATHER,
	LLM_CONTEXT_TO, /* around a context group */
	LLM_CONTEXT_FROM,
	LLM_CONTEXT_SCATTER,
	LLM_CONTEXT_GATHER,
	LLM_EXPERT, /* all-to-alls */
	LLM_EXPERT_SCATTER,
	LLM_EXPERT_GATHER,
	LLM_EXPERT_DATA,
	LLM_EXPERT_DATA_GATHER,
	LLM_EMBEDDING, /* the first and last stage, which tie theirs */
	LLM_SEATS
};
#define LLM_NONE UINT32_MAX

/* Gradients that a rank hands over. */
struct llm_gradient {
	int part; /* of parameters: llm_stage.c */
	uint32_t layer;
	double parameters; /* of the rank */
};

struct llm_stage {
	const struct llm *llm;
	const struct llm_conf *conf;
	struct pipeline_shape pipeline;
	struct program_role *role;
	uint32_t number;
	uint32_t experts_data;    /* replicas of an expert */
	double load;              /* tokens that its experts get, as a multiple of the mean */
	double rate;              /* operations per second of all ranks that share a micro-batch */
	uint32_t seat[LLM_SEATS]; /* LLM_NONE: it does not take part */
	uint32_t place, first, end; /* of the chunk that is listed: virtual stage, layers */
	uint32_t chain;             /* the node that the next one of the micro-batch needs */
	bool exchanges;             /* it is not on the stream of computing */
	uint32_t computed;          /* the last node on that stream */
	struct llm_gradient *late;  /* that wait for the end of the step */
	size_t late_count, late_capacity;
	/* By parameters (of layers, then of their experts, then of embeddings): the node that
	 * all-gathers them. */
	uint32_t *gathered;
};

/* Lists the nodes of a stage in its role. */
void llm_stage_list(struct llm_stage *stage);

#endif
