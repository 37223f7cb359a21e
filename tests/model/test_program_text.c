/* Text workloads of ASTRA-sim 1 and SimAI: each policy against a program that is written down,
 * which groups it has, and what is refused. */
#include "model_run.h"

#include "base/mem.h"
#include "workload/program/program_files.h"

#include <stdlib.h>
#include <unistd.h>

#define STAR "'kind': 'star', 'hosts': 8, 'host': { 'nic_jitter': '0s' }"

static char folder[] = INASIM_WORK_DIR "/inasim-text-XXXXXX";

static void make_folder(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
	char *command = xasprintf("rm -r %s", folder);

	cr_assert_eq(system(command), 0);
	free(command);
}

TestSuite(program_text, .init = make_folder, .fini = remove_folder);

static char *write_text(const char *text)
{
	char *path = xasprintf("%s/x.txt", folder);
	FILE *to = fopen(path, "wb");

	cr_assert_not_null(to);
	fputs(text, to);
	fclose(to);
	return path;
}

/* Two layers. Times in us, so that exchanges of some 10 us are seen. */
#define LAYERS                                                                                     \
	"2\r\n"                                                                                    \
	"first -1 1000000 ALLGATHER 10000 2000000 ALLREDUCE 8000 3000000 ALLREDUCE 400000 "        \
	"5000\t\r\n"                                                                               \
	"second -1 1500000 ALLTOALL 12000 2500000 REDUCESCATTER 16000 3500000 ALLREDUCE 300000 "   \
	"7000\r\n"

static struct program *read_text(const char *text, int64_t ranks, int64_t dimension, char **mistake)
{
	char *path = write_text(text);
	struct program_file_conf conf = { .path = path, .ranks = ranks, .dimension = dimension };
	struct program *program = program_of_file(&conf, mistake);

	free(path);
	return program;
}

/* Runs three passes; returns when they are over. */
static sim_time end_of(const char *model)
{
	struct run run;
	sim_time end;

	run_build(&run,
		  "{ 'name': 't', 'topology': { " STAR " }, 'jobs': [ { 'all_reduce': 'ring', "
		  "'iterations': 3, 'model': %s } ] }",
		  model);
	run_to(&run, END_ALL_DONE);
	end = run.s->sim.now;
	run_free(&run);
	return end;
}

static sim_time end_of_text(const char *text, unsigned ranks, const char *more)
{
	char *path = write_text(text),
	     *model = xasprintf("{ 'file': { 'path': '%s', 'ranks': %u%s } }", path, ranks, more);
	sim_time end = end_of(model);

	free(path);
	free(model);
	return end;
}

/* A program of four ranks that all do the same, in short: a node a line, as "NAME KIND AMOUNT
 * STREAM NEEDED NEEDED_BEFORE", "-" for none. Groups are those of a name, "tensor" or "data", else
 * all. Caller frees. */
static char *model_of(const char *lines)
{
	char *nodes = xstrdup(""), *model, *more;
	char name[8], kind[16], amount[16], stream[8], after[8], before[8];
	int length;

	for (; sscanf(lines, "%7s %15s %15s %7s %7s %7s%n", name, kind, amount, stream, after,
		      before, &length) == 6;
	     lines += length) {
		bool grouped = !strcmp(stream, "tensor") || !strcmp(stream, "data");

		more = xasprintf(
			"%s%s{ 'name': '%s', '%s': '%s', 'stream': '%s'%s%s%s%s%s%s%s%s%s }", nodes,
			*nodes ? ", " : "", name, kind, amount, stream,
			*after != '-' ? ", 'after': ['" : "", *after != '-' ? after : "",
			*after != '-' ? "']" : "", *before != '-' ? ", 'after_previous': ['" : "",
			*before != '-' ? before : "", *before != '-' ? "']" : "",
			grouped ? ", 'group': '" : "", grouped ? stream : "", grouped ? "'" : "");
		free(nodes);
		nodes = more;
	}
	model = xasprintf("{ 'groups': [ { 'name': 'tensor', 'members': [[0, 1], [2, 3]] }, { "
			  "'name': 'data', 'members': [[0, 2], [1, 3]] } ], 'roles': [ { 'ranks': "
			  "[0, 1, 2, 3], 'nodes': [ %s ] } ] }",
			  nodes);
	free(nodes);
	return model;
}

static void takes_as_long(const char *text, const char *lines)
{
	char *model = model_of(lines);

	cr_expect_eq(end_of_text(text, 4, ""), end_of(model), "%.20s", text);
	free(model);
}

/* Weight gradients first; the next pass of a layer waits for its own. */
Test(program_text, data)
{
	takes_as_long("DATA\n" LAYERS, "f0 compute 1ms c - u0\n"
				       "f1 compute 1.5ms c - u1\n"
				       "w1 compute 3.5ms c - -\n"
				       "x1 all_reduce 300000B d w1 -\n"
				       "u1 compute 7us u x1 -\n"
				       "i1 compute 2.5ms c - -\n"
				       "w0 compute 3ms c - -\n"
				       "x0 all_reduce 400000B d w0 -\n"
				       "u0 compute 5us u x0 -\n");
}

/* Forward exchanges hold up; that of an input gradient goes beside the weights' computing. An
 * all-gather of 10,000 bytes each is one of 40,000. */
Test(program_text, model)
{
	takes_as_long("MODEL\n" LAYERS, "f0 compute 1ms c - -\n"
					"a0 all_gather 40000B m f0 -\n"
					"u0 compute 5us u a0 -\n"
					"f1 compute 1.5ms c u0 -\n"
					"a1 all_to_all 12000B m f1 -\n"
					"u1 compute 7us u a1 -\n"
					"i1 compute 2.5ms c u1 -\n"
					"r1 reduce_scatter 16000B m i1 -\n"
					"v1 compute 7us u r1 -\n"
					"w1 compute 3.5ms c - -\n"
					"i0 compute 2ms c v1 -\n"
					"w0 compute 3ms c - -\n");
}

/* Pairs of neighbours for the model, every second rank for the data. */
Test(program_text, transformer)
{
	static const char lines[] = "f0 compute 1ms c - y0\n"
				    "a0 all_gather 20000B tensor f0 -\n"
				    "u0 compute 5us u a0 -\n"
				    "f1 compute 1.5ms c u0 y1\n"
				    "a1 all_to_all 12000B tensor f1 -\n"
				    "u1 compute 7us u a1 -\n"
				    "i1 compute 2.5ms c u1 -\n"
				    "r1 reduce_scatter 16000B tensor i1 -\n"
				    "v1 compute 7us u r1 -\n"
				    "w1 compute 3.5ms c v1 -\n"
				    "x1 all_reduce 300000B data w1 -\n"
				    "y1 compute 7us u x1 -\n"
				    "i0 compute 2ms c - -\n"
				    "r0 all_reduce 8000B tensor i0 -\n"
				    "v0 compute 5us u r0 -\n"
				    "w0 compute 3ms c v0 -\n"
				    "x0 all_reduce 400000B data w0 -\n"
				    "y0 compute 5us u x0 -\n";

	takes_as_long("HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n" LAYERS, lines);
	takes_as_long("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 0 "
		      "checkpoint_initiates: 0\n" LAYERS,
		      lines);
}

static void expect_groups(const char *head, const char *words)
{
	char *text = xasprintf("%s\n" LAYERS, head), *mistake = NULL, *all = xstrdup("");
	struct program *program = read_text(text, 8, 2, &mistake);

	cr_assert_not_null(program, "%s", mistake);
	for (size_t g = 0; g < program->group_count; g++) {
		const struct program_group *group = &program->groups[g];
		char *longer;

		if (group->ranks[0]) /* the first of each kind */
			continue;
		longer = xasprintf("%s%s %s %u+%u; ", all, program_op_names[group->op], group->name,
				   group->count, group->ranks[1]);
		free(all);
		all = longer;
	}
	cr_expect_str_eq(all, words, "%s: %s", head, all);
	cr_expect_null(program_deadlock(program));
	program_free(program);
	free(text);
	free(all);
}

/* Which ranks exchange what: number of ranks, and how far they are apart. */
Test(program_text, groups)
{
	expect_groups("HYBRID_DATA_MODEL", "all_gather tensor 2+1; all_to_all tensor 2+1; "
					   "reduce_scatter tensor 2+1; all_reduce data 4+2; ");
	expect_groups("HYBRID_MODEL_DATA", "all_gather tensor 4+2; all_to_all tensor 4+2; "
					   "reduce_scatter tensor 4+2; all_reduce data 2+1; ");
	expect_groups("HYBRID_DLRM 0", "all_reduce data 8+1; all_reduce all 8+1; ");
	expect_groups("MICRO", "all_reduce data 8+1; ");
	expect_groups("DISTRIBUTED_INFERENCE", "all_gather tensor 8+1; all_to_all tensor 8+1; ");
}

/* SimAI: experts beside the data's groups, all-gathers by what all have, ranks of one stage. */
Test(program_text, simai)
{
	char *mistake = NULL;
	struct program *program = read_text(
		"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 3 vpp: 8 "
		"ga: "
		"24 all_gpus: 24 checkpoints: 1 0 checkpoint_initiates: 1 1 pp_comm 50331648\n2\n"
		"a -1 1 ALLTOALL_EP 16000 1 ALLGATHER 5000 1 REDUCESCATTER_DP_EP 9000 0\n"
		"b -1 1 ALLGATHER 5000 1 NONE 0 1 ALLREDUCE 9000 0\n",
		0, 0, &mistake);
	static const struct {
		enum program_op op;
		const char *name;
		uint32_t count, second;
		uint64_t operations, bytes;
	} want[] = {
		{ OP_ALL_TO_ALL, "expert", 2, 2, 2, 32000 }, /* again before b's backward pass */
		{ OP_ALL_GATHER, "tensor", 2, 1, 2, 10000 },
		{ OP_ALL_REDUCE, "data", 4, 2, 1, 9000 },
		{ OP_REDUCE_SCATTER, "data_expert", 2, 4, 1, 9000 },
	};
	size_t seen = 0;

	cr_assert_not_null(program, "%s", mistake);
	cr_expect_eq(program->ranks, 8);
	cr_expect(strstr(program->note, "one stage of 3"), "%s", program->note);
	for (size_t g = 0; g < program->group_count; g++) {
		const struct program_group *group = &program->groups[g];

		if (group->ranks[0])
			continue;
		cr_expect_eq(group->op, want[seen].op);
		cr_expect_str_eq(group->name, want[seen].name);
		cr_expect_eq(group->count, want[seen].count);
		cr_expect_eq(group->ranks[1], want[seen].second);
		cr_expect_eq(group->operations, want[seen].operations, "%s", group->name);
		cr_expect_eq(group->bytes, want[seen].bytes, "%s", group->name);
		seen++;
	}
	cr_expect_eq(seen, 4);
	program_free(program);
}

static void refused(const char *text, int64_t ranks, const char *words)
{
	char *mistake = NULL;

	cr_expect_null(read_text(text, ranks, 0, &mistake), "%s", words);
	cr_expect(mistake && strstr(mistake, words), "\"%s\" is not in \"%s\"", words, mistake);
	free(mistake);
}

Test(program_text, refused)
{
	refused("", 4, "x.txt:0: is empty");
	refused("WHOLE\n1\n", 4, "x.txt:1: there is no policy \"WHOLE\"");
	refused("DATA\n", 4, "ends before the number of layers");
	refused("DATA\n" LAYERS, 0, "does not say of how many ranks");
	refused("DATA\n3\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", 4, "has 1 layers, and says 3");
	refused("DATA\n1\n\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1.5\n", 4,
		"x.txt:4: a time is \"1.5\"; allowed: 0 to");
	refused("DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE_TP 0 1\n", 4,
		"x.txt:3: \"ALLREDUCE_TP\"; allowed: NONE, ALLREDUCE");
	refused("HYBRID_CUSTOMIZED\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", 4,
		"x.txt:3: a layer of HYBRID_CUSTOMIZED ends with its policy");
	refused("HYBRID_DATA_MODEL\n" LAYERS, 4, "\"dimension\" says how many");
	refused("HYBRID_TRANSFORMER model_parallel_NPU_group: 3\n" LAYERS, 4,
		"x.txt:3: groups \"tensor\" of 3 ranks, 1 apart, do not divide 4 ranks");
	refused("HYBRID_TRANSFORMER tensor: 3\n" LAYERS, 4, "x.txt:1: \"tensor:\" is unknown here");
	refused("HYBRID_DLRM 2\n" LAYERS, 4, "there is no last bottom layer 2");
	refused("HYBRID_TRANSFORMER checkpoints: 1 9\n" LAYERS, 4,
		"x.txt:1: there is no layer 9 for a checkpoint");
}
