/* What a user may write about how a job spreads its network over workers, and what is checked. */
#include "collective/all_to_all.h"
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const sharding_names[] = {
	[SHARDING_NONE] = "none", [SHARDING_OPTIMIZER] = "optimizer", [SHARDING_FULL] = "full", NULL
};

static const struct conf_row pipeline_rows[] = {
	CONF_INT("stages", struct job_group_conf, pipeline.stages, "1", 1, 100000,
		 "Number of stages. All have equally many workers: the first N / stages of N "
		 "workers are the first stage. Their numbers of layers differ by one at most.",
		 "no pipeline"),
	CONF_INT("microbatches", struct job_group_conf, pipeline.microbatches, "1", 1, 100000,
		 "The samples of an iteration pass in so many equal parts.", "GPipe section 2.3"),
	CONF_ENUM("schedule", struct job_group_conf, pipeline.schedule, "gpipe", pipeline_kinds,
		  "gpipe: all forward, then all backward; 1f1b: one forward and one backward in "
		  "turn, once the stages behind are busy (Megatron-LM).",
		  "GPipe section 2.3"),
	CONF_INT("chunks", struct job_group_conf, pipeline.chunks, "1", 1, 1000,
		 "Chunks of layers of a stage, which take turns (interleaved 1F1B): chunk j of "
		 "stage p follows chunk j of stage p - 1.",
		 "not interleaved"),
	CONF_BYTES("activations", struct job_group_conf, pipeline.activations, "1B", 1,
		   UINT64_C(1) << 40,
		   "What a worker sends to the next stage for each micro-batch, and gets back as "
		   "gradients.",
		   "next to nothing"),
	{ 0 },
};
static const char *const even_names[] = { "even", NULL };
static const struct conf_row zipf_rows[] = {
	CONF_REAL("zipf", struct job_group_conf, tokens.zipf, CONF_REQUIRED, 0, 10,
		  "Expert i (from 0) gets tokens in proportion to (i + 1) to the power of minus "
		  "this, but each at most once; the rest goes to others. In networks of layers "
		  "each rank is an expert."),
	{ 0 },
};
static const struct conf_table zipf_table = { "tokens_zipf", zipf_rows,
					      sizeof(struct job_group_conf) };
static const struct conf_row matrix_rows[] = {
	CONF_STRING("matrix", struct job_group_conf, tokens.matrix, CONF_REQUIRED,
		    "CSV file beside the scenario, with columns from, to and bytes: what each "
		    "member of a group sends each. Only proportions count; what is not listed is "
		    "nothing."),
	{ 0 },
};
static const struct conf_table matrix_table = { "tokens_matrix", matrix_rows,
						sizeof(struct job_group_conf) };
static const struct conf_row tokens_forms[] = {
	CONF_ENUM("even", struct job_group_conf, tokens.even, CONF_REQUIRED, even_names,
		  "Equal parts."),
	CONF_GROUP("by_zipf", CONF_REQUIRED, &zipf_table, "By Zipf's law."),
	CONF_GROUP("by_file", CONF_REQUIRED, &matrix_table, "As measured."),
	{ 0 },
};
const struct conf_table tokens_table = { "tokens", tokens_forms, sizeof(struct job_group_conf) };

const struct conf_table pipeline_table = { "pipeline", pipeline_rows,
					   sizeof(struct job_group_conf) };

void job_group_find_exchanges(struct job_group_conf *conf, const struct machine_conf *machine)
{
	conf->machine_gpus = machine_gpus(machine);
	for (size_t i = 0; i < conf->models->count; i++)
		conf->experts |= conf->models->dnns[i] && dnn_tokens(conf->models->dnns[i]);
	if (conf->models->dnns[0])
		conf->program = conf->models->dnns[0]->program;
	conf->exchanges = conf->experts || conf->sharding != SHARDING_NONE ||
			  conf->pipeline.stages > 1 || conf->pipeline.chunks > 1 || conf->program;
}

uint32_t job_group_max_workers(const struct job_group_conf *conf)
{
	const struct job_trace *trace = conf->arrival.jobs;
	uint64_t max = (uint64_t)workers_span(&conf->workers).max;

	for (size_t i = 0; trace && i < trace->count; i++) {
		uint64_t workers = job_trace_workers(conf, &trace->jobs[i]);

		max = workers > max ? workers : max;
	}
	return (uint32_t)max;
}

uint32_t job_group_ranks(const struct job_group_conf *conf, uint32_t workers, uint32_t gpus)
{
	if (conf->program)
		return conf->program->ranks;
	return conf->exchanges ? workers * gpus : workers;
}

bool job_group_grouped(const struct job_group_conf *conf, uint32_t gpus)
{
	return conf->program || (conf->exchanges && gpus > 1) ||
	       (conf->pipeline.stages > 1 && conf->all_reduce != SCHEME_ring);
}

struct pipeline_shape job_group_pipeline(const struct job_group_conf *conf)
{
	return (struct pipeline_shape){ .kind = (enum pipeline_kind)conf->pipeline.schedule,
					.stages = (uint32_t)conf->pipeline.stages,
					.chunks = (uint32_t)conf->pipeline.chunks,
					.microbatches = (uint32_t)conf->pipeline.microbatches };
}

uint64_t job_group_instances(const struct job_group_conf *conf, uint32_t gpus)
{
	uint64_t count = 1;

	if (conf->program)
		count = conf->program->group_count;
	else if (job_group_grouped(conf, gpus))
		count = program_layers_groups(
			&(struct program_shape){
				.ranks = job_group_ranks(conf, job_group_max_workers(conf), gpus),
				.pipeline = job_group_pipeline(conf),
				.divides_all = conf->sharding != SHARDING_NONE },
			conf->experts);
	return count ? count : 1;
}

/* The scheme of a group; ring for what no scheme does. */
static unsigned scheme_for(const struct job_group_conf *conf, const struct program_group *group)
{
	if (group->op > OP_ALL_GATHER)
		return SCHEME_ring;
	if (conf->program)
		return job_group_scheme_of(conf, group);
	return group->op == OP_ALL_GATHER ? job_group_gathers(conf) : job_group_reduces(conf);
}

/* Whether the ranks of a group may send to each other, inside machines or not. */
static bool is_schedule(unsigned scheme, enum program_op op)
{
	const struct collective_ops *ops = job_group_ops(scheme, op);

	return ops->traits.ranks_max || ops == job_group_ops(SCHEME_ring, op);
}

enum group_place job_group_place(const struct job_group_conf *conf,
				 const struct program_group *group, uint32_t gpus)
{
	unsigned scheme = scheme_for(conf, group);
	uint32_t together;

	if (conf->launch || conf->conversion)
		return PLACE_STAGED;
	if (gpus == 1 || group->op > OP_ALL_GATHER)
		return PLACE_FLAT;
	if (!conf->exchanges) /* its ranks are machines */
		return conf->inside == INSIDE_RING ? PLACE_FLAT : PLACE_STAGED;
	together = program_group_together(group, gpus);
	if (together == 1)
		return PLACE_FLAT;
	if (together == group->count && scheme == SCHEME_nvls)
		return PLACE_SWITCH;
	if (is_schedule(scheme, group->op) && (conf->program || conf->inside == INSIDE_RING))
		return PLACE_FLAT;
	return PLACE_STAGED;
}

/* --- checks --- */

/* Checks how tokens spread over a group of so many ranks. */
static void check_spread(const struct job_group_conf *conf, struct conf_doc *doc,
			 const char *pointer, const struct token_experts *experts, uint32_t ranks)
{
	char *mistake;

	free(token_shares(&conf->tokens, experts, ranks, &mistake));
	if (mistake)
		conf_error(doc, conf_at(doc, "%s/tokens/matrix", pointer), "%s", mistake);
	free(mistake);
}

static void check_tokens(const struct job_group_conf *conf, struct conf_doc *doc,
			 const char *pointer, uint32_t gpus)
{
	const char *at = conf_at(doc, "%s/model", pointer);

	if (conf->overlap == OVERLAP_NONE || conf->fusion)
		conf_error(doc, at,
			   "its experts need \"overlap\": \"layers\" and no \"fusion\", because "
			   "tokens go to experts between layers, which are otherwise merged");
	if (job_group_ranks(conf, job_group_max_workers(conf), gpus) > EXCHANGE_WORKERS_MAX)
		conf_error(doc, at,
			   "its experts are spread over all workers, which are all connected with "
			   "each other: at most %d workers%s",
			   EXCHANGE_WORKERS_MAX, gpus > 1 ? ", each GPU one" : "");
	if (conf->pipeline.stages > 1)
		conf_error(doc, conf_at(doc, "%s/pipeline", pointer),
			   "experts and stages at once are not modelled");
	check_spread(conf, doc, pointer, &(struct token_experts){ 0 },
		     job_group_ranks(conf, job_group_max_workers(conf), gpus));
}

static void check_stages(const struct job_group_conf *conf, struct conf_doc *doc,
			 const char *pointer)
{
	const char *at = conf_at(doc, "%s/pipeline", pointer);
	struct workers_span span = workers_span(&conf->workers);
	int64_t stages = conf->pipeline.stages;
	struct pipeline_shape shape = job_group_pipeline(conf);
	const char *mistake = pipeline_mistake(&shape);

	if (span.min != span.max || !span.max || span.max % stages)
		conf_error(doc, at,
			   "%" PRId64 " stages need a number of workers that is a multiple of "
			   "them",
			   stages);
	if (conf->overlap == OVERLAP_NONE || conf->fusion || conf->model.send_order.count)
		conf_error(doc, at,
			   "needs \"overlap\": \"layers\", no \"fusion\" and no \"send_order\"");
	if (mistake)
		conf_error(doc, at, "%s", mistake);
	if (conf->sharding == SHARDING_FULL)
		conf_error(doc, at,
			   "is not modelled with \"sharding\": \"full\"; \"optimizer\" is");
	if (conf->max_steps)
		conf_error(doc, at, "is not modelled with \"max_steps\"");
	for (size_t i = 0; i < conf->models->count; i++) {
		const struct dnn *dnn = conf->models->dnns[i];

		if (dnn && (int64_t)dnn->layer_count < stages * conf->pipeline.chunks)
			conf_error(doc, at, "%s has %zu layers, fewer than there are stages%s",
				   dnn->name, dnn->layer_count,
				   conf->pipeline.chunks > 1 ? " and chunks" : "");
	}
}

/* Checks the scheme that a group names, under `key`, for one step of sharding. `pick` returns the
 * operations of this step in a scheme, NULL if the scheme does not have it. */
static void check_step(const struct job_group_conf *conf, struct conf_doc *doc, const char *pointer,
		       const char *key, unsigned scheme,
		       const struct collective_ops *(*pick)(const struct collective_ops *ops))
{
	const char *at = conf_at(doc, "%s/%s", pointer, key);
	char able[128] = "";

	for (unsigned i = 0; scheme_ops(i); i++)
		if (pick(scheme_ops(i)))
			snprintf(able + strlen(able), sizeof(able) - strlen(able), "%s\"%s\"",
				 able[0] ? " or " : "", scheme_names[i]);
	if (!pick(scheme_ops(scheme)))
		conf_error(doc, at, "%s has no such operation; allowed: %s", scheme_names[scheme],
			   able);
	if (conf->sharding == SHARDING_NONE)
		conf_error(doc, at, "needs \"sharding\": \"optimizer\" or \"full\"");
}

static const struct collective_ops *reduce_scatter_of(const struct collective_ops *ops)
{
	return ops->reduce_scatter;
}

static const struct collective_ops *all_gather_of(const struct collective_ops *ops)
{
	return ops->all_gather;
}

/* --- programs --- */

unsigned job_group_scheme_of(const struct job_group_conf *conf, const struct program_group *group)
{
	const struct group_scheme_conf *list = conf->collectives.items;

	for (size_t i = 0; group->name && i < conf->collectives.count; i++)
		if (!strcmp(list[i].group, group->name))
			return (unsigned)list[i].scheme;
	return (unsigned)conf->all_reduce;
}

const struct collective_ops *job_group_ops(unsigned scheme, enum program_op op)
{
	const struct collective_ops *ops = scheme_ops(scheme);

	switch (op) {
	case OP_ALL_REDUCE:
		return ops;
	case OP_REDUCE_SCATTER:
		return ops->reduce_scatter ? ops->reduce_scatter : &reduce_scatter_collective;
	case OP_ALL_GATHER:
		return ops->all_gather ? ops->all_gather : &all_gather_collective;
	case OP_ALL_TO_ALL:
		return all_to_all_ops(ALL_TO_ALL_ROUNDS);
	case OP_BROADCAST:
		return &broadcast_collective;
	case OP_REDUCE:
		return &reduce_collective;
	case OP_GATHER:
		return &gather_collective;
	case OP_SCATTER:
		return &scatter_collective;
	case OP_MESSAGE:
		return &point_to_point_collective;
	case PROGRAM_OPS:
		break;
	}
	return NULL;
}

/* NVLS inside machines is a closed form, without the scheme's parameters and packets. */
static bool program_uses(const struct job_group_conf *conf, unsigned scheme)
{
	for (size_t g = 0; g < conf->program->group_count; g++) {
		const struct program_group *group = &conf->program->groups[g];

		if (group->op < OP_ALL_TO_ALL && group->count > 1 &&
		    job_group_scheme_of(conf, group) == scheme &&
		    job_group_place(conf, group, conf->machine_gpus) != PLACE_SWITCH)
			return true;
	}
	return false;
}

bool job_group_uses(const struct job_group_conf *conf, unsigned scheme)
{
	if (conf->exchanges && scheme == SCHEME_ring)
		return true;
	if (conf->program)
		return program_uses(conf, scheme);
	return job_group_reduces(conf) == scheme || job_group_falls_back(conf) == scheme ||
	       (conf->exchanges && job_group_gathers(conf) == scheme);
}

int64_t job_program_machines(const struct program *program, const struct machine_conf *machine)
{
	return (program->ranks - 1) / machine_gpus(machine) + 1;
}

/* Whether the ranks of a group have equally many NICs on each machine. */
static bool same_nics(const struct program_group *group, const struct machine_conf *machine)
{
	uint32_t gpus = machine_gpus(machine), nics = machine_nics(machine), machines = 0, *seen;
	bool same = true;

	for (uint32_t m = 0; m < group->count; m++)
		if (group->ranks[m] / gpus >= machines)
			machines = group->ranks[m] / gpus + 1;
	seen = xcalloc((size_t)machines * (nics + 1), sizeof(*seen)); /* the last: how many */
	for (uint32_t m = 0; m < group->count; m++) {
		uint32_t *of = &seen[(size_t)(group->ranks[m] / gpus) * (nics + 1)];
		uint32_t nic = group->ranks[m] % gpus * nics / gpus;

		of[nics] += !of[nic];
		of[nic] = 1;
	}
	for (uint32_t m = 0; m < machines; m++)
		same &= !seen[m * (nics + 1) + nics] ||
			seen[m * (nics + 1) + nics] ==
				seen[group->ranks[0] / gpus * (nics + 1) + nics];
	free(seen);
	return same;
}

/* Checks that a scheme which adds up between machines, or in a machine's switch, can do so for the
 * ranks of a group. */
static void check_place(const struct job_group_conf *conf, const struct program_group *group,
			struct conf_doc *doc, const char *pointer,
			const struct machine_conf *machine)
{
	uint32_t gpus = machine_gpus(machine), together = program_group_together(group, gpus);
	enum group_place place = job_group_place(conf, group, gpus);
	const char *name = scheme_names[scheme_for(conf, group)];

	if (place == PLACE_SWITCH && (machine->gpus.shared || machine->gpus.wiring != GPUS_SWITCH))
		conf_error(doc, pointer,
			   "nvls of group \"%s\": GPUs that share one link or are joined directly "
			   "(\"shared\", \"wiring\" of topology.host.gpus) have no switch that "
			   "adds up",
			   group->name);
	if (place != PLACE_STAGED)
		return;
	if (scheme_for(conf, group) == SCHEME_nvls)
		conf_error(doc, pointer,
			   "group \"%s\" has ranks on several machines, and nvls adds up inside "
			   "one; allowed: any other scheme, or groups inside machines",
			   group->name);
	else if (together == group->count)
		conf_error(doc, pointer,
			   "group \"%s\" is inside one machine, and %s adds up between machines; "
			   "allowed: ring, halving_doubling, double_tree or nvls",
			   group->name, name);
	else if (!together || !same_nics(group, machine))
		conf_error(doc, pointer,
			   "group \"%s\" has unlike numbers of ranks or NICs on its machines, and "
			   "%s takes an equal part from each; allowed: ring, halving_doubling or "
			   "double_tree",
			   group->name, name);
	else if (conf->inside == INSIDE_RING)
		conf_error(doc, conf_at(doc, "%s/inside", pointer),
			   "\"ring\" makes each GPU a rank, which %s of group \"%s\" cannot do; "
			   "allowed: \"scatter\", \"master\" or \"nvls\"",
			   name, group->name);
}

/* Checks that the scheme of a group can do with its size and place. */
static void check_group(const struct job_group_conf *conf, const struct program_group *group,
			struct conf_doc *doc, const char *pointer,
			const struct machine_conf *machine)
{
	unsigned scheme = job_group_scheme_of(conf, group);
	const struct collective_ops *ops = job_group_ops(scheme, group->op);

	if (group->op == OP_ALL_TO_ALL && group->count > EXCHANGE_WORKERS_MAX)
		conf_error(doc, pointer,
			   "an all_to_all of \"%s\" has %" PRIu32
			   " ranks, all connected with each other; at most %d",
			   group->name, group->count, EXCHANGE_WORKERS_MAX);
	if (group->op == OP_ALL_TO_ALL && conf->all_to_all == ALL_TO_ALL_HIERARCHICAL &&
	    !program_group_together(group, machine_gpus(machine)))
		conf_error(doc, conf_at(doc, "%s/all_to_all", pointer),
			   "group \"%s\" has unlike numbers of ranks on its machines, which rails "
			   "need equal",
			   group->name);
	if (group->op == OP_ALL_TO_ALL)
		check_spread(conf, doc, pointer, &conf->program->experts, group->count);
	if (ops->traits.ranks_max && group->count > ops->traits.ranks_max)
		conf_error(doc, pointer,
			   "%s takes at most %" PRIu32 " ranks, group \"%s\" has %" PRIu32,
			   ops->name, ops->traits.ranks_max, group->name, group->count);
	if (group->op <= OP_ALL_GATHER && group->count > 1)
		check_place(conf, group, doc, pointer, machine);
}

/* Checks a network whose GPUs are ranks, or whose groups have instances of their own. */
static void check_grouped(const struct job_group_conf *conf, struct conf_doc *doc,
			  const char *pointer, const struct machine_conf *machine)
{
	if (conf->fallback != FALLBACK_NONE)
		conf_error(doc, conf_at(doc, "%s/fallback", pointer),
			   "is modelled where all workers add up together, not in stages, and not "
			   "with sharding or experts on machines with several GPUs");
	if (conf->fusion_cycle)
		conf_error(doc, conf_at(doc, "%s/fusion_cycle", pointer),
			   "is not modelled with sharding or experts on machines with several "
			   "GPUs");
	if (machine_gpus(machine) > 1 && conf->inside == INSIDE_RING &&
	    !(is_schedule(job_group_reduces(conf), OP_REDUCE_SCATTER) &&
	      is_schedule(job_group_gathers(conf), OP_ALL_GATHER)))
		conf_error(doc, conf_at(doc, "%s/inside", pointer),
			   "\"ring\" makes each GPU a rank, which sharding by schemes in switches "
			   "cannot do; allowed: \"scatter\", \"master\" or \"nvls\"");
	if (machine_gpus(machine) > 1 && job_group_reduces(conf) == SCHEME_nvls &&
	    job_group_max_workers(conf) > 1)
		conf_error(doc, conf_at(doc, "%s/all_reduce", pointer),
			   "its workers are machines, and nvls adds up inside one; allowed: any "
			   "other scheme, or a program with groups inside machines");
}

/* What makes the program of a network has no meaning for one that is written down. */
static void check_program(const struct job_group_conf *conf, struct conf_doc *doc,
			  const char *pointer, const struct machine_conf *machine)
{
	const struct {
		const char *key;
		bool given;
	} made[] = {
		{ "sharding", conf->sharding != SHARDING_NONE },
		{ "pipeline", conf->pipeline.stages > 1 || conf->pipeline.microbatches > 1 },
		{ "fusion", conf->fusion },
		{ "fusion_cycle", conf->fusion_cycle },
		{ "max_steps", conf->max_steps },
		{ "start_jitter", conf->start_jitter },
		{ "send_jitter", conf->send_jitter },
		{ "fallback", conf->fallback != FALLBACK_NONE },
		{ "servers", conf->servers.given },
	};
	const struct group_scheme_conf *list = conf->collectives.items;
	struct workers_span span = workers_span(&conf->workers);
	int64_t machines = job_program_machines(conf->program, machine);
	size_t before; /* groups are often alike: one mistake is enough */

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		if (made[i].given)
			conf_error(doc, conf_at(doc, "%s/%s", pointer, made[i].key),
				   "is for networks with layers; a program says itself what its "
				   "ranks do");
	if (span.min != machines || span.max != machines)
		conf_error(doc, conf_at(doc, "%s/workers", pointer),
			   "the program has %" PRIu32 " ranks, on %" PRId64
			   " machines: leave this out, or list as many machines",
			   conf->program->ranks, machines);
	before = conf_errors(doc);
	for (size_t g = 0; g < conf->program->group_count && conf_errors(doc) == before; g++)
		check_group(conf, &conf->program->groups[g], doc, pointer, machine);
	for (size_t i = 0; i < conf->collectives.count; i++) {
		bool found = false;

		for (size_t g = 0; g < conf->program->group_count; g++)
			found |= conf->program->groups[g].name &&
				 !strcmp(conf->program->groups[g].name, list[i].group);
		if (!found)
			conf_error(doc, conf_at(doc, "%s/collectives/%zu/group", pointer, i),
				   "no node of the program names a group \"%s\"", list[i].group);
	}
}

void job_group_check_parallel(const struct job_group_conf *conf, struct conf_doc *doc,
			      const char *pointer, const struct machine_conf *machine)
{
	if (conf->program) {
		check_program(conf, doc, pointer, machine);
		return;
	}
	if (conf->collectives.count)
		conf_error(doc, conf_at(doc, "%s/collectives", pointer),
			   "is for programs, whose groups have names");
	if (conf->reduce_scatter_given)
		check_step(conf, doc, pointer, "reduce_scatter", (unsigned)conf->reduce_scatter,
			   reduce_scatter_of);
	if (conf->reduce_scatter_given && conf->arrival.part && conf->arrival.part_scheme >= 0)
		conf_error(doc, conf_at(doc, "%s/reduce_scatter", pointer),
			   "the trace says which scheme (%s); leave this out, or the column "
			   "\"scheme\"",
			   scheme_names[conf->arrival.part_scheme]);
	if (conf->all_gather_given)
		check_step(conf, doc, pointer, "all_gather", (unsigned)conf->all_gather,
			   all_gather_of);
	if (!conf->exchanges)
		return;
	if (job_group_grouped(conf, machine_gpus(machine)))
		check_grouped(conf, doc, pointer, machine);
	if (conf->experts)
		check_tokens(conf, doc, pointer, machine_gpus(machine));
	if (conf->pipeline.stages > 1 || conf->pipeline.chunks > 1)
		check_stages(conf, doc, pointer);
}
