/* Language models as programs: published sums of parameters and operations, Megatron's groups, what
 * groups exchange, and what a step takes on a fast network. Every worker checks all sums, always.
 */
#include "model_run.h"

#include "workload/jobs/jobs.h"
#include "workload/program/program_grid.h"
#include "workload/program/program_llm.h"

#include <math.h>
#include <string.h>

#define FAST                                                                                       \
	"'kind': 'star', 'hosts': 32, 'link': { 'rate': '100Tbps', 'delay': '1ns' }, 'host': { "   \
	"'nic_jitter': '0s' }"
#define LLM(more) "'llm': { 'name': 'llama3_8b', 'sequence': 1024, " more " }"

static void build(struct run *run, const char *job, const char *model)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { " FAST " }, 'jobs': [ { 'all_reduce': 'ring', "
		  "'gpu': 'h100', %s 'model': { %s } } ] }",
		  job, model);
}

static double step_of(const char *job, const char *model)
{
	char keys[256];
	struct run run;

	snprintf(keys, sizeof(keys), "'iterations': 3, %s", job);
	build(&run, keys, model);
	run_to(&run, END_ALL_DONE);
	return run_second_of_three(&run);
}

/* Sums of parameters as published tables give them, and operations of a token: three times the
 * forward ones are what Megatron-Bridge prints (744 TFLOP/s at 14,451 tokens/s of 8,192, 719 at
 * 1,602, 822 at 326; of DeepSeek-V3 782 at 3,139 tokens/s of 4,096). */
Test(llm, arithmetic)
{
	static const struct {
		const char *name;
		double parameters, flops;
		int64_t sequence;
	} known[] = {
		{ "gpt3_13b", 12853386240, 0, 0 },
		{ "gpt3_175b", 174604259328, 0, 0 },
		{ "llama2_7b", 6738415616, 0, 0 },
		{ "llama2_70b", 68976648192, 0, 0 },
		{ "llama3_8b", 8030261248, 5.147e10, 8192 },
		{ "llama3_70b", 70553706496, 4.492e11, 8192 },
		{ "llama3_405b", 405853388800, 2.524e12, 8192 },
		{ "mixtral_8x7b", 46702792704, 0, 0 },
		{ "deepseek_v3", 671026419200, 2.498e11, 4096 },
	};

	for (int i = 0; llm_names[i]; i++) {
		cr_expect_str_eq(llm_names[i], known[i].name);
		cr_expect_eq(llm_parameters(i), known[i].parameters, "%s: %.0f", llm_names[i],
			     llm_parameters(i));
		if (known[i].flops)
			cr_expect_float_eq(3 * llm_flops(i, known[i].sequence) / known[i].flops, 1,
					   1e-3);
	}
}

/* The group of this name that rank 0 is in, as text. */
static void group_of(const struct program *program, enum program_op op, const char *name,
		     char *text, size_t size)
{
	text[0] = '\0';
	for (size_t g = 0; g < program->group_count; g++) {
		const struct program_group *group = &program->groups[g];

		if (group->op != op || !group->name || strcmp(group->name, name) || group->ranks[0])
			continue;
		for (uint32_t m = 0; m < group->count; m++)
			snprintf(text + strlen(text), size - strlen(text), "%u ", group->ranks[m]);
	}
}

/* 32 ranks, tensor 2, context 2, data 4, pipeline 2, expert 4, as Megatron-LM's own function groups
 * them; and each rank is in one group of each kind. */
Test(llm, groups)
{
	static const struct {
		enum program_op op;
		const char *name, *ranks;
	} want[] = { { OP_REDUCE_SCATTER, "tensor", "0 1 " },
		     { OP_ALL_REDUCE, "data", "0 2 4 6 8 10 12 14 " },
		     { OP_ALL_TO_ALL, "expert", "0 2 4 6 " },
		     { OP_ALL_REDUCE, "expert_data", "0 8 " },
		     { OP_REDUCE_SCATTER, "expert_tensor", "0 1 " } };
	const struct program *program;
	struct run run;

	build(&run, "",
	      "'llm': { 'name': 'mixtral_8x7b', 'sequence': 1024, 'global_batch': 8, 'tensor': 2, "
	      "'context': 2, 'data': 4, 'pipeline': 2, 'expert': 4, 'sequence_parallel': true }");
	program = scenario_jobs(&run.scenario)[0].program;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		char text[128];
		uint32_t members = 0;

		group_of(program, want[i].op, want[i].name, text, sizeof(text));
		cr_expect_str_eq(text, want[i].ranks, "%s: %s", want[i].name, text);
		for (size_t g = 0; g < program->group_count; g++)
			members += program->groups[g].op == want[i].op && program->groups[g].name &&
						   !strcmp(program->groups[g].name, want[i].name)
					   ? program->groups[g].count
					   : 0;
		cr_expect_eq(members, 32, "%s", want[i].name);
	}
	run_free(&run);
}

/* Any order numbers all ranks once. */
Test(llm, orders)
{
	static const char *const orders[] = { "tp-cp-ep-dp-pp", "pp-dp-ep-cp-tp",
					      "dp-tp-pp-cp-ep" };

	for (size_t i = 0; i < 3; i++) {
		struct grid grid = { .size = { 2, 3, 1, 4, 5 } };
		uint32_t at[GRID_DIMS];

		cr_assert(grid_read_order(&grid, orders[i]));
		for (uint32_t r = 0; r < 120; r++) {
			grid_at(&grid, r, at);
			cr_expect_eq(grid_rank(&grid, at), r);
			for (unsigned dim = 0; dim < GRID_DIMS; dim++)
				cr_expect_lt(at[dim], grid.size[dim]);
		}
	}
}

/* Bytes that all groups of a name and kind exchange in a step, as their members have them; of
 * messages without a name. */
static double moved(const struct program *program, enum program_op op, const char *name)
{
	double sum = 0;

	for (size_t g = 0; g < program->group_count; g++) {
		const struct program_group *group = &program->groups[g];

		if (group->op == op && (!name || (group->name && !strcmp(group->name, name))))
			sum += (double)group->bytes * group->count;
	}
	return sum / program->ranks;
}

static void expect_moved(const char *model, enum program_op op, const char *name, double want)
{
	struct run run;

	build(&run, "", model);
	near(moved(scenario_jobs(&run.scenario)[0].program, op, name), want, 1e-9, model);
	run_free(&run);
}

#define LAYER     218112000.
#define EMBEDDING (4096. * 128256)

/* What a rank exchanges in a step. An output of a micro-batch has M = 2 s h / context bytes.
 * Without sequence parallelism two all-reduces a layer each way; with it two gathers forward, four
 * back, and two reduce-scatters each way. Keys and values: C - 1 parts forward, 2 (C - 1) back.
 * Tokens: four all-to-alls of 2 n k h. Gradients once, in fp32, parameters once in bf16. */
Test(llm, bytes)
{
	double output = 2. * 1024 * 4096, rest = 32 * LAYER + 2 * EMBEDDING;

	expect_moved(LLM("'global_batch': 4, 'tensor': 2"), OP_ALL_REDUCE, "tensor",
		     4 * 32 * 4 * output);
	expect_moved(LLM("'global_batch': 4, 'tensor': 2, 'sequence_parallel': true"),
		     OP_ALL_GATHER, "tensor", 4 * 32 * 6 * output);
	expect_moved(LLM("'global_batch': 4, 'tensor': 2, 'sequence_parallel': true"),
		     OP_REDUCE_SCATTER, "tensor", 4 * 32 * 4 * output);
	expect_moved(LLM("'global_batch': 4, 'tensor': 2, 'context': 2"), OP_ALL_REDUCE, "tensor",
		     4 * 32 * 4 * output / 2);
	expect_moved(LLM("'global_batch': 4, 'context': 4"), OP_MESSAGE, NULL,
		     2 * 4 * 32 * 3 * 3 * (2 * 2 * 1024. / 4 * 8 * 128));
	expect_moved(LLM("'global_batch': 4, 'context': 4, 'context_exchange': 'all_gather'"),
		     OP_ALL_GATHER, "context", 4 * 32 * 2 * (2 * 2 * 1024. * 8 * 128));
	expect_moved(LLM("'global_batch': 4, 'data': 4"), OP_ALL_REDUCE, "data", 4 * rest);
	expect_moved(LLM("'global_batch': 4, 'data': 4, 'distributed_optimizer': true"),
		     OP_ALL_GATHER, "data", 2 * rest);
	expect_moved(LLM("'global_batch': 4, 'pipeline': 2"), OP_MESSAGE, NULL, 2 * 4 * output);
	expect_moved(LLM("'global_batch': 4, 'pipeline': 2, 'chunks': 4"), OP_MESSAGE, NULL,
		     2 * 4 * 7 * output);
	expect_moved("'llm': { 'name': 'mixtral_8x7b', 'sequence': 1024, 'global_batch': 8, "
		     "'data': 8, 'expert': 8 }",
		     OP_ALL_TO_ALL, "expert", 32 * 4 * (2 * 1024. * 2 * 4096));
}

/* Alone a GPU computes for three times the forward operations. A pipeline takes its longest stage,
 * which has the logits, m times, and the other once; messages of 8 MB take little. However the step
 * is split, on a fast network it takes its operations. */
Test(llm, times)
{
	static const char *const splits[] = {
		"'global_batch': 8, 'data': 2, 'tensor': 2",
		"'global_batch': 8, 'data': 2, 'tensor': 2, 'sequence_parallel': true",
		"'global_batch': 8, 'data': 2, 'context': 2",
		"'global_batch': 4, 'context': 4",
		"'global_batch': 4, 'context': 4, 'context_exchange': 'all_gather'",
		"'global_batch': 4, 'tensor': 2, 'context': 2, 'overlap_tensor': false",
		"'global_batch': 16, 'data': 4, 'distributed_optimizer': true, 'overlap_data': "
		"false",
	};
	double token = 3 * llm_flops(4, 1024) / (0.45 * 989.4e12),
	       logits = 3 * 2 * 4096. * 128256 / (0.45 * 989.4e12), half = (token - logits) / 2;

	near(step_of("", LLM("'global_batch': 4")), 4 * 1024 * token, 1e-9, "one GPU");
	near(step_of("'gradient_scale': 0.001,", LLM("'global_batch': 4, 'pipeline': 2")),
	     1024 * (4 * (half + logits) + half), 1e-3, "two stages");
	for (size_t i = 0; i < sizeof(splits) / sizeof(*splits); i++) {
		char model[256];
		double ranks = i < 3   ? 4 * 1024 * token / 2
			       : i < 6 ? 1024 * token
				       : 4 * 1024 * token;

		snprintf(model, sizeof(model), LLM("%s"), splits[i]);
		near(step_of("'gradient_scale': 0.001,", model), ranks, 1e-2, splits[i]);
	}
	near(step_of("'gradient_scale': 0.001,", LLM("'global_batch': 4, 'recompute': true")),
	     4 * 1024 * (4 * token - logits) / 3, 1e-3, "recomputed");
}

/* All ways to split a step run to their end, with all sums right. */
Test(llm, splits_run)
{
	static const char *const splits[] = {
		"'llama3_8b', 'tensor': 2, 'context': 2, 'pipeline': 2, 'data': 4, 'chunks': 4, "
		"'sequence_parallel': true, 'distributed_optimizer': true",
		"'llama3_8b', 'tensor': 2, 'pipeline': 4, 'data': 2, 'order': 'pp-dp-ep-cp-tp', "
		"'recompute': true, 'schedule': 'gpipe'",
		"'mixtral_8x7b', 'tensor': 2, 'pipeline': 2, 'data': 8, 'expert': 4, "
		"'expert_tensor': 1, 'sequence_parallel': true, 'distributed_optimizer': true",
		"'mixtral_8x7b', 'context': 2, 'data': 4, 'expert': 8, 'overlap_data': false",
		"'gpt3_13b', 'tensor': 2, 'pipeline': 2, 'data': 2, 'chunks': 2",
		"'deepseek_v3', 'data': 8, 'expert': 8, 'dispatch_bytes': 1.03125",
	};

	for (size_t i = 0; i < sizeof(splits) / sizeof(*splits); i++) {
		char model[512];

		snprintf(model, sizeof(model),
			 "'llm': { 'sequence': 256, 'global_batch': 16, 'name': %s }", splits[i]);
		cr_expect_gt(step_of("'gradient_scale': 0.0001,", model), 0);
	}
}
