/* Programs in the files of other tools: what they mean, and what is refused. */
#include "model_run.h"

#include "base/mem.h"
#include "workload/program/program_files.h"

#include <stdlib.h>
#include <unistd.h>

#define STAR "'kind': 'star', 'hosts': 8, 'host': { 'nic_jitter': '0s' }"

static char folder[] = INASIM_WORK_DIR "/inasim-programs-XXXXXX";

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

TestSuite(program_files, .init = make_folder, .fini = remove_folder);

/* Runs three iterations; returns when they are over. */
static sim_time end_of(const char *job, const char *model)
{
	struct run run;
	sim_time end;

	run_build(&run,
		  "{ 'name': 't', 'topology': { " STAR " }, 'jobs': [ { 'all_reduce': 'ring', "
		  "'iterations': 3, %s 'model': %s } ] }",
		  job, model);
	run_to(&run, END_ALL_DONE);
	end = run.s->sim.now;
	run_free(&run);
	return end;
}

/* --- Chakra --- */

/* A file of a rank that grows in memory. */
struct bytes_of {
	char text[4096];
	size_t length;
};

static void add(struct bytes_of *to, const void *what, size_t length)
{
	memcpy(to->text + to->length, what, length);
	to->length += length;
}

static void add_varint(struct bytes_of *to, uint64_t value)
{
	for (; value > 127; value >>= 7)
		to->text[to->length++] = (char)(value | 128);
	to->text[to->length++] = (char)value;
}

static void add_number(struct bytes_of *to, unsigned field, uint64_t value)
{
	add_varint(to, field << 3);
	add_varint(to, value);
}

static void add_inside(struct bytes_of *to, unsigned field, const void *what, size_t length)
{
	add_varint(to, field << 3 | 2);
	add_varint(to, length);
	add(to, what, length);
}

/* An attribute in the form of field `form`. */
static void add_attribute(struct bytes_of *node, const char *name, unsigned form, uint64_t value)
{
	struct bytes_of inside = { .length = 0 };

	add_inside(&inside, 1, name, strlen(name));
	add_number(&inside, form, value);
	add_inside(node, 10, inside.text, inside.length);
}

static struct bytes_of node(uint64_t id, unsigned type)
{
	struct bytes_of node = { .length = 0 };

	add_number(&node, 1, id);
	add_number(&node, 3, type);
	return node;
}

static void add_node(struct bytes_of *file, const struct bytes_of *node)
{
	add_varint(file, node->length);
	add(file, node->text, node->length);
}

/* Writes the files of `ranks` ranks, of which each begins with empty metadata. */
static void write_file(unsigned rank, const struct bytes_of *file)
{
	char *path = xasprintf("%s/x.%u.et", folder, rank);
	FILE *to = fopen(path, "wb");

	cr_assert_not_null(to);
	putc(0, to);
	fwrite(file->text, 1, file->length, to);
	fclose(to);
	free(path);
}

static struct program *read_as(struct program_file_conf conf, char **mistake)
{
	char *path = xasprintf("%s/%s", folder, conf.path);
	struct program *program;

	conf.path = path;
	program = program_of_file(&conf, mistake);
	free(path);
	return program;
}

static struct program *read_files(const char *name, char **mistake)
{
	return read_as((struct program_file_conf){ .path = name }, mistake);
}

static void refused_as(struct program_file_conf conf, const char *words)
{
	char *mistake = NULL;

	cr_assert_null(read_as(conf, &mistake), "%s", words);
	cr_expect(strstr(mistake, words), "\"%s\" is not in \"%s\"", words, mistake);
	free(mistake);
}

static void refused(const char *name, const char *words)
{
	refused_as((struct program_file_conf){ .path = name }, words);
}

static void refused_node(const struct bytes_of *node, const char *words)
{
	struct bytes_of file = { .length = 0 };

	add_node(&file, node);
	write_file(0, &file);
	refused("x.et", words);
}

#define TRACE(name) "'" INASIM_SOURCE_DIR "/traces/programs/" name ".et'"

/* ASTRA-sim's own example of an all-reduce is a network of one layer. */
Test(program_files, chakra_all_reduce)
{
	cr_expect_eq(end_of("", TRACE("all_reduce_4npus_1MB")),
		     end_of("'workers': 4,", "{ 'layers': [ { 'gradient': '1MiB' } ] }"));
}

/* Its example of a ring of sends and receives takes our ring's time and 7 additions of 7 us. */
Test(program_files, chakra_sends_and_receives)
{
	double ring =
		seconds_of(end_of("'workers': 8,", "{ 'layers': [ { 'gradient': '1MiB' } ] }"));
	double sends = seconds_of(end_of("", TRACE("custom_ring_allreduce_8npus_1MB")));

	cr_expect_float_eq(sends / (ring + 3 * 7 * 7e-6), 1, 1e-3, "%.6f %.6f ms", sends * 1e3,
			   ring * 1e3);
}

/* Ids in any order, forward references, dropped control dependences, all forms of numbers, process
 * groups, CPU twins: two ranks compute 3 us, then all-reduce, then compute 4 us. */
Test(program_files, chakra_forms)
{
	static const char pgs[] = "['[{\"pg_name\": \"7\", \"ranks\": [1, 0]}]']";
	char *mistake = NULL;
	struct program *program;

	for (unsigned rank = 0; rank < 3; rank++) {
		struct bytes_of file = { .length = 0 }, last = node(1, 4), sum = node(900, 7),
				first = node(UINT64_MAX, 4), twin = node(0, 7), meta = node(5, 1),
				inputs = { .length = 0 }, pg = { .length = 0 };

		add_number(&last, 7, 4);
		add_number(&last, 5, 900);                      /* not packed */
		add_inside(&last, 4, "\x63\x64", 2);            /* no such nodes */
		add_attribute(&sum, "comm_size", 17, 2 * 4096); /* sint64: 4096 */
		add_attribute(&sum, "comm_type", 13, 2);
		add_inside(&pg, 1, "pg_name", 7);
		add_inside(&pg, 29, "7", 1);
		add_inside(&sum, 10, pg.text, pg.length);
		add_inside(&sum, 5, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
		add_number(&first, 7, 3);
		add_attribute(&twin, "is_cpu_op", 27, 1);
		add_inside(&inputs, 1, pgs, strlen(pgs));
		add_inside(&meta, 8, inputs.text, inputs.length);
		add_node(&file, &last);
		if (rank == 2) /* not in the group */
			sum = node(900, 4);
		add_node(&file, &sum);
		add_node(&file, &first);
		add_node(&file, &twin);
		add_node(&file, &meta);
		write_file(rank, &file);
	}
	program = read_files("x.et", &mistake);
	cr_assert_not_null(program, "%s", mistake);
	cr_expect_eq(program->ranks, 3);
	cr_assert_eq(program->group_count, 1);
	cr_expect_str_eq(program->groups[0].name, "7");
	cr_expect_eq(program->groups[0].ranks[0], 1);
	cr_expect_eq(program->groups[0].op, OP_ALL_GATHER);
	cr_expect_eq(program->groups[0].bytes, 2 * 4096, "the shards of both");
	cr_expect(strstr(program->note, "6 control dependences"), "%s", program->note);
	cr_assert_eq(program->roles[0].streams[0].count, 2);
	cr_expect_eq(program->roles[0].nodes[program->roles[0].streams[0].nodes[0]].amount,
		     3 * PS_PER_US);
	program_free(program);
}

Test(program_files, chakra_refused)
{
	struct bytes_of wrong, file = { .length = 0 };

	refused("y.et", "y.0.et");
	wrong = node(3, 2);
	refused_node(&wrong, "x.0.et: node 3: type 2 (memory)");
	wrong = node(3, 7);
	refused_node(&wrong, "node 3: a collective without comm_type");
	add_attribute(&wrong, "comm_type", 9, 10);
	refused_node(&wrong, "node 3: comm_type 10; allowed: 0 to 9");
	wrong = node(3, 7);
	add_attribute(&wrong, "comm_type", 9, 0);
	refused_node(&wrong, "node 3: needs comm_size");
	wrong = node(4, 5);
	refused_node(&wrong, "node 4: needs comm_dst");
	add_attribute(&wrong, "comm_size", 9, 10);
	add_attribute(&wrong, "comm_dst", 7, 0);
	refused_node(&wrong, "comm_dst 0 is the rank itself");
	wrong = node(4, 6);
	add_attribute(&wrong, "comm_src", 7, UINT64_MAX);
	refused_node(&wrong, "comm_src -1 is no rank");
	wrong = node(2, 4);
	add_number(&wrong, 5, 77);
	refused_node(&wrong, "node 2 needs node 77, which does not exist");
	wrong = node(2, 4);
	add_number(&wrong, 4, 2);
	refused_node(&wrong, "node 2 needs itself");
	wrong = node(2, 4);
	add_number(&wrong, 7, UINT64_MAX);
	refused_node(&wrong, "duration_micros");
	add(&wrong, "\x07", 1);
	refused_node(&wrong, "no Chakra trace");
	add_varint(&file, 1000);
	write_file(0, &file);
	refused("x.et", "cut off");
	file = (struct bytes_of){ .length = 0 };
	wrong = node(2, 4);
	add_node(&file, &wrong);
	add_node(&file, &wrong);
	write_file(0, &file);
	refused("x.et", "there are two nodes 2");
}

/* Control dependences that run in a circle, of one file for all ranks; with data dependences alone
 * it is read. Groups come from a file; kinds of collectives are ours. */
Test(program_files, chakra_settings)
{
	static const enum program_op ops[] = { OP_ALL_REDUCE, OP_REDUCE,         OP_ALL_GATHER,
					       OP_GATHER,     OP_SCATTER,        OP_BROADCAST,
					       OP_ALL_TO_ALL, OP_REDUCE_SCATTER, OP_REDUCE_SCATTER,
					       OP_ALL_REDUCE };
	struct program_file_conf conf = { .path = "x.0.et", .ranks = 4 };
	struct bytes_of file = { .length = 0 };
	char *groups = xasprintf("%s/groups.json", folder), *mistake = NULL;
	FILE *to = fopen(groups, "w");
	struct program *program;
	uint64_t sum_of_bytes = 0;

	fputs("{ \"3\": [2, 0, 3, 1] }", to);
	fclose(to);
	for (unsigned kind = 0; kind < 10; kind++) {
		struct bytes_of sum = node(kind, 7), pg = { .length = 0 };

		add_attribute(&sum, "comm_type", 9, kind);
		if (kind < 9)
			add_attribute(&sum, "comm_size", 9, 4096);
		add_inside(&pg, 1, "pg_name", 7);
		add_inside(&pg, 29, "3", 1);
		add_inside(&sum, 10, pg.text, pg.length);
		add_number(&sum, 4, (kind + 1) % 10);
		add_node(&file, &sum);
	}
	write_file(0, &file);
	refused_as(conf, "process group \"3\" has no list");
	conf.groups = groups;
	refused_as(conf, "needs itself, by way of others; control dependences do not count with");
	conf.dependencies = NEEDS_DATA;
	program = read_as(conf, &mistake);
	cr_assert_not_null(program, "%s", mistake);
	cr_expect_eq(program->ranks, 4);
	cr_expect_eq(program->group_count, 8);
	for (size_t g = 0; g < program->group_count; g++) {
		cr_expect_eq(program->groups[g].ranks[0], 2, "the root");
		sum_of_bytes += program->groups[g].bytes;
	}
	for (unsigned kind = 0; kind < 10; kind++) {
		const struct program_seat *seat =
			&program->seats[program->roles[0].nodes[kind].seat];

		cr_expect_eq(program->groups[seat->group].op, ops[kind]);
	}
	cr_expect_eq(sum_of_bytes, 4096 * (9 + 2 * 3) + 4);
	program_free(program);
	free(groups);
}

/* What one GPU did in an iteration of PyTorch's data parallelism: the gradients of ResNet-50's
 * 25,557,032 parameters in five buckets, and its buffers from the first rank. */
Test(program_files, chakra_of_pytorch)
{
	struct program_file_conf conf = {
		.path = INASIM_SOURCE_DIR "/traces/programs/resnet50_ddp_rank0.et",
		.dependencies = NEEDS_DATA,
		.ranks = 4,
	};
	char *mistake = NULL;
	struct program *program = program_of_file(&conf, &mistake);

	cr_assert_not_null(program, "%s", mistake);
	cr_expect_eq(program->roles[3].count, 3664);
	cr_assert_eq(program->group_count, 2);
	cr_expect_eq(program->groups[0].op, OP_ALL_REDUCE);
	cr_expect_eq(program->groups[0].operations, 5);
	cr_expect_eq(program->groups[0].bytes, 4 * 25557032);
	cr_expect_eq(program->groups[1].op, OP_BROADCAST);
	cr_expect_eq(program->groups[1].bytes, 212480 + 424);
	program_free(program);
	conf.dependencies = NEEDS_ALL;
	cr_expect_null(program_of_file(&conf, &mistake));
	cr_expect(strstr(mistake, "node 3318 needs itself, by way of others"), "%s", mistake);
	free(mistake);
}

/* The same trace as JSON, as the jsonizer, Chakra's feeder and one document have it. */
Test(program_files, chakra_json)
{
	static const char *const forms[] = {
		"{\"version\": \"0.0.4\"}\n{ \"id\": \"1\", \"type\": \"COMP_NODE\", "
		"\"durationMicros\": \"7\" } { \"id\": \"9007199254740993\", \"type\": "
		"\"COMM_COLL_NODE\", \"dataDeps\": [\"1\"], \"attr\": [ { \"name\": \"comm_size\", "
		"\"int64Val\": \"4096\" }, { \"name\": \"comm_type\", \"int64Val\": \"5\" } ] }",
		"{ \"workload_graph\": [ { \"Id\": 1, \"NodeType\": 4, \"runtime\": 7, "
		"\"is_cpu_op\": false, \"ctrlDeps\": [99] }, { \"Id\": 2, \"NodeType\": 7, "
		"\"data_deps\": [1], \"comm_size\": 4096, \"comm_type\": 5 } ] }",
		"{ \"nodes\": [ { \"id\": 1, \"type\": \"COMP_NODE\", \"duration_micros\": 7 }, { "
		"\"id\": 2, \"type\": \"COMM_COLL_NODE\", \"data_deps\": [1], \"attr\": [ { "
		"\"name\": \"comm_size\", \"uint64_val\": 4096 }, { \"name\": \"comm_type\", "
		"\"int64_val\": 5 } ] } ] }",
	};
	static const struct {
		const char *text, *words;
	} wrong[] = {
		{ "", "x.0.json: is empty" },
		{ "{}\n{ \"id\": }", "line 2: no JSON object" },
		{ "{ \"nodes\": [ 3 ] }", "a node is no object" },
		{ "{ \"nodes\": [ { \"id\": 1.5 } ] }", "a node's \"id\" is no whole number" },
		{ "{ \"nodes\": [ { \"type\": \"COMP\" } ] }", "\"type\" is no whole number" },
		{ "{ \"workload_graph\": [ { \"Id\": 435, \"NodeType\": 7 } ] }",
		  "node 435: a collective without comm_type" },
	};
	struct program_file_conf conf = { .path = "x.0.json", .ranks = 2 };
	char *path = xasprintf("%s/x.0.json", folder), *mistake = NULL;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		FILE *to = fopen(path, "w");
		struct program *program;

		fputs(forms[i], to);
		fclose(to);
		program = read_as(conf, &mistake);
		cr_assert_not_null(program, "%s", mistake);
		cr_expect_eq(program->groups[0].op, OP_BROADCAST);
		cr_expect_eq(program->groups[0].bytes, 4096);
		cr_expect_eq(program->roles[1].nodes[0].amount, 7 * PS_PER_US);
		cr_expect_eq(program->roles[1].nodes[1].need_count, 1);
		program_free(program);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		FILE *to = fopen(path, "w");

		fputs(wrong[i].text, to);
		fclose(to);
		refused("x.json", wrong[i].words);
	}
	free(path);
}

/* A message without its receive, and ranks that wait for each other. */
Test(program_files, chakra_deadlock)
{
	struct bytes_of files[2] = { { .length = 0 }, { .length = 0 } };

	for (unsigned rank = 0; rank < 2; rank++) {
		struct bytes_of sends = node(1, 5), receives = node(2, 6);

		add_attribute(&sends, "comm_size", 9, 10);
		add_attribute(&sends, "comm_dst", 7, 1 - rank);
		add_number(&sends, 5, 2);
		add_attribute(&receives, "comm_size", 9, 10);
		add_attribute(&receives, "comm_src", 7, 1 - rank);
		add_node(&files[rank], &receives);
		add_node(&files[rank], &sends);
		write_file(rank, &files[rank]);
	}
	refused("x.et", "ranks wait for each other for ever");
	files[1].length = 0;
	write_file(1, &files[1]);
	refused("x.et", "which never");
}

/* --- GOAL --- */

static void write_goal(const char *text)
{
	char *path = xasprintf("%s/x.goal", folder);
	FILE *to = fopen(path, "wb");

	cr_assert_not_null(to);
	fputs(text, to);
	fclose(to);
	free(path);
}

static void goal_refused(const char *text, const char *words)
{
	write_goal(text);
	refused("x.goal", words);
}

/* Two cpus beside each other, and a message behind the longer one. */
Test(program_files, goal)
{
	static const char roles[] =
		"{ 'roles': [ { 'ranks': [0], 'nodes': [ { 'compute': '1ms', 'stream': 'a' }, { "
		"'name': "
		"'c', 'compute': '2ms' }, { 'send': '5000B', 'peer': [1], 'after': ['c'] } ] }, "
		"{ 'ranks': [1], 'nodes': [ { 'receive': '5000B', 'peer': [0] }, { 'compute': "
		"'1ms' } ] } "
		"] }";
	char *model = xasprintf("'%s/x.goal'", folder);

	write_goal("num_ranks 2\r\nrank 1 {\n r: recv 5000b from 0 tag 4 cpu 3 /* waits */\n"
		   "c: calc 1000000\nc requires r\n}\n"
		   "rank 0 { // two cpus\ncalc 1000000 cpu 1\nc: calc 2000000\n"
		   "s : send 5000b to 1 tag 4\ns requires c }\n");
	cr_expect_eq(end_of("", model), end_of("", roles));
	free(model);
}

/* Appends a number of `size` bytes. */
static void add_fixed(struct bytes_of *to, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		to->text[to->length++] = (char)(value >> 8 * i);
}

static void add_goal_node(struct bytes_of *to, unsigned type, uint32_t peer, uint64_t size,
			  unsigned cpu, uint32_t waiting, uint32_t first)
{
	add_fixed(to, 0, 4);
	add_fixed(to, type, 1);
	add_fixed(to, peer, 4);
	add_fixed(to, size, 8);
	add_fixed(to, 4, 4); /* tag */
	add_fixed(to, cpu, 1);
	add_fixed(to, 0, 1);
	add_fixed(to, waiting, 4);
	add_fixed(to, first, 4);
	add_fixed(to, 0, 8);
}

/* The same as the text of Test(goal), in the binary form; *node of rank 0's third node. */
static struct bytes_of goal_binary(size_t *node)
{
	struct bytes_of file = { .length = 0 };

	add_fixed(&file, 4223, 8);
	add_fixed(&file, 2, 4);
	add_fixed(&file, 1, 2);
	add_fixed(&file, 38, 8);
	add_fixed(&file, 38 + 12 + 3 * 39 + 4, 8);
	add_fixed(&file, 38 + 12 + 3 * 39 + 4, 8);
	add_fixed(&file, 38 + 12 + 3 * 39 + 4 + 12 + 2 * 39 + 4, 8);
	add_fixed(&file, 3, 4);
	add_fixed(&file, 1, 4);
	add_fixed(&file, 0, 4);
	add_goal_node(&file, 3, 0, 1000000, 1, 0, 0);
	add_goal_node(&file, 3, 0, 2000000, 0, 1, 0);
	*node = file.length;
	add_goal_node(&file, 1, 1, 5000, 0, 0, 0);
	add_fixed(&file, 2, 4);
	add_fixed(&file, 2, 4);
	add_fixed(&file, 1, 4);
	add_fixed(&file, 0, 4);
	add_goal_node(&file, 2, 0, 5000, 3, 1, 0);
	add_goal_node(&file, 3, 0, 1000000, 0, 0, 0);
	add_fixed(&file, 1, 4);
	return file;
}

static void write_bin(const struct bytes_of *file, size_t length)
{
	char *path = xasprintf("%s/x.bin", folder);
	FILE *to = fopen(path, "wb");

	cr_assert_not_null(to);
	fwrite(file->text, 1, length, to);
	fclose(to);
	free(path);
}

Test(program_files, goal_binary)
{
	static const struct {
		size_t at; /* of the node, or of the file beyond it */
		int value;
		const char *words;
	} wrong[] = {
		{ 4, 10, "rank 0, node 2: type 10 (a collective); allowed: 1 (send)" },
		{ 5, 0, "rank 0, node 2: peer 0 is the rank itself" },
		{ 5, 9, "rank 0, node 2: peer 9 is no rank" },
		{ 22, 1, "rank 0, node 2: nic 1; allowed: 0" },
		{ 23, 9, "rank 0, node 2: its list is beyond the rank's end" },
		{ 31, 1, "needs itself" },
		{ 31, 9, "rank 0, node 2: its list is beyond the rank's end" },
		{ 39, 7, "rank 0, node 1: its list names no node" },
	};
	size_t node;
	struct bytes_of file = goal_binary(&node), changed;
	char *binary = xasprintf("'%s/x.bin'", folder), *text = xasprintf("'%s/x.goal'", folder);

	write_bin(&file, file.length);
	write_goal("num_ranks 2\nrank 1 {\n r: recv 5000b from 0 tag 4 cpu 3\n"
		   "c: calc 1000000\nc requires r\n}\n"
		   "rank 0 {\ncalc 1000000 cpu 1\nc: calc 2000000\n"
		   "s : send 5000b to 1 tag 4\ns requires c }\n");
	cr_expect_eq(end_of("", binary), end_of("", text));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		changed = file;
		changed.text[node + wrong[i].at] = (char)wrong[i].value;
		write_bin(&changed, file.length);
		refused("x.bin", wrong[i].words);
	}
	for (size_t length = 8; length < file.length; length++) { /* no end is overlooked */
		write_bin(&file, length);
		refused("x.bin", "cut off");
	}
	changed = file;
	changed.text[0] = (char)(2342 & 255);
	changed.text[1] = (char)(2342 >> 8);
	write_bin(&changed, file.length);
	refused("x.bin", "destructive");
	free(binary);
	free(text);
}

/* Messages of all tags go over one connection, if both sides have them in one order. */
Test(program_files, tags_share_connections)
{
	for (unsigned i = 0; i < 2; i++) {
		char *text = xasprintf("num_ranks 2\nrank 0 {\nsend 7b to 1 tag 5\nc: calc 5\n"
				       "s: send 8b to 1 tag 9\ns requires c\n}\nrank 1 {\n"
				       "a: recv 7b from 0 tag 5\nb: recv 8b from 0 tag 9\n"
				       "%s requires %s\n}\n",
				       i ? "a" : "b", i ? "b" : "a");
		char *mistake = NULL;
		struct program *program;

		write_goal(text);
		program = read_files("x.goal", &mistake);
		cr_assert_not_null(program, "%s", mistake);
		cr_expect_eq(program->group_count, 1 + i);
		cr_expect_eq(program->groups[0].bytes, i ? 7 : 15);
		program_free(program);
		free(text);
	}
}

/* A node begins with another one: beside it, however long that waits for what it needs or for its
 * cpu; behind it on the same cpu; and with a receive before the message has come. */
Test(program_files, goal_begins)
{
	static const struct {
		const char *rank;
		unsigned us;
	} cases[] = {
		{ "a: calc 100000\nb: calc 50000 cpu 1\nb requires a\n", 150 },
		{ "a: calc 100000\nb: calc 50000 cpu 1\nb irequires a\n", 100 },
		{ "a: calc 100000\nb: calc 50000\nb irequires a\n", 150 },
		{ "p: calc 30000 cpu 2\na: calc 100000\na requires p\nb: calc 200000 cpu 1\n"
		  "b irequires a\n",
		  230 },
		{ "x: calc 40000\nb: calc 200000 cpu 1\na: calc 100000\nb irequires a\n", 240 },
	};
	sim_time none;
	char *model = xasprintf("'%s/x.goal'", folder);

	write_goal("num_ranks 1\nrank 0 {\ncalc 0\n}\n");
	none = end_of("", model);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = xasprintf("num_ranks 1\nrank 0 {\n%s}\n", cases[i].rank);

		write_goal(text);
		cr_expect_eq(end_of("", model) - none, 3 * cases[i].us * PS_PER_US, "%s", text);
		free(text);
	}
	write_goal("num_ranks 2\nrank 0 {\nr: recv 5b from 1\nb: calc 400000\nb irequires r\n}\n"
		   "rank 1 {\nc: calc 300000\ns: send 5b to 0\ns requires c\n}\n");
	cr_expect_eq(end_of("", model) - none, 3 * 400 * PS_PER_US);
	free(model);
}

/* A ring of sends and receives, each with a tag of its own, takes our ring's time exactly. */
Test(program_files, goal_ring)
{
	char *model = xasprintf("'%s/scenarios/traces/ring.goal'", INASIM_SOURCE_DIR);

	cr_expect_eq(end_of("", model),
		     end_of("'workers': 4,", "{ 'layers': [ { 'gradient': '1MiB' } ] }"));
	free(model);
}

/* In the order of the file, and of how many receives are before them, sends of rank 0 wait for each
 * other by way of rank 1; begun when they are ready, they do not. */
Test(program_files, order_of_streams)
{
	char *mistake = NULL;
	struct program *program;

	write_goal("num_ranks 2\n"
		   "rank 0 {\na: recv 1b from 1 tag 1\nb: send 1b to 1 tag 2\nb requires a\n"
		   "c: recv 1b from 1 tag 3\nd: calc 5\nd requires c\ne: recv 1b from 1 tag 4\n"
		   "e requires d\nf: send 1b to 1 tag 5\nf requires e\n}\n"
		   "rank 1 {\na: recv 1b from 0 tag 5\nb: send 1b to 0 tag 1\nb requires a\n"
		   "recv 1b from 0 tag 2\nsend 1b to 0 tag 3\nsend 1b to 0 tag 4\n}\n");
	program = read_files("x.goal", &mistake);
	cr_assert_not_null(program, "%s", mistake);
	program_free(program);
}

Test(program_files, goal_refused)
{
	goal_refused("num_ranks 0\n", "x.goal:1: num_ranks is 0");
	goal_refused("num_ranks 1\n", "there is no rank 0");
	goal_refused("num_ranks 2\nrank 0 {\n\nrecv 4b from -1\n}\n", ":4: rank is \"-1\"");
	goal_refused("num_ranks 2\nrank 0 {\nrecv 4b from 1 tag -1\n}\n", ":3: tag is \"-1\"");
	goal_refused("num_ranks 2\nrank 0 {\nsend 4b to 0\n}\n", ":3: rank 0 is the rank itself");
	goal_refused("num_ranks 2\nrank 0 {\nsend 4 to 1\n}\n", ":3: size is \"4\"");
	goal_refused("num_ranks 1\nrank 0 {\ncalc 4 nic 1\n}\n", ":3: nic is \"1\"");
	goal_refused("num_ranks 1\nrank 0 {\ncoll 4\n}\n", ":3: there is no label \"coll\"");
	goal_refused("num_ranks 1\nrank 0 {\na: calc 1\na irequires a\n}\n", "needs itself");
	goal_refused("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1 cpu 1\nb irequires a\n"
		     "a irequires b\n}\n",
		     "needs itself");
	goal_refused("num_ranks 1\nrank 0 {\na: calc 1\na irequires b\n}\n",
		     ":4: there is no label \"b\"");
	goal_refused("num_ranks 1\nrank 0 {\na: calc 1\na requires b\n}\n",
		     ":4: there is no label");
	goal_refused("num_ranks 1\nrank 0 {\na: calc 1\na requires a\n}\n", "node 3 needs itself");
	goal_refused("num_ranks 1\nrank 0 {\ncalc 1\n", "\"}\" is expected");
	goal_refused("num_ranks 1\nrank 0 { }\nrank 0 { }\n", ":3: rank 0 is there twice");
	goal_refused("num_ranks 2\nrank 0 {\nsend 4b to 1\n}\nrank 1 { }\n", "which never");
	goal_refused("num_ranks 2\nrank 0 {\nsend 4b to 1\n}\nrank 1 {\nrecv 5b from 0 }\n",
		     "the other side 5");
	goal_refused("num_ranks 2\nrank 0 {\nr: recv 4b from 1\ns: send 4b to 1\ns requires r\n}\n"
		     "rank 1 {\nr: recv 4b from 0\ns: send 4b to 0\ns requires r\n}\n",
		     "wait for each other for ever");
	goal_refused("num_ranks 1 /", "without a comment");
	goal_refused("num_ranks 1 ?", "unexpected character");
}
