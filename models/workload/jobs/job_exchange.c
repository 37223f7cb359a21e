/* What the groups of a job's program do together, by which scheme. */
#include "workload/jobs/jobs_parts.h"

#include "base/fail.h"
#include "base/mem.h"
#include "collective/all_to_all.h"
#include "collective/gpu_switch.h"
#include "topo/detours.h"

#include <stdlib.h>

/* Whether its own part is a GPU's result. */
static bool is_alone(const struct job_exchange *exchange)
{
	return exchange->group->count == 1 && !(exchange->whole && exchange->job->gpus > 1);
}

/* --- while the job runs --- */

static const struct program_seat *seat_of(const struct job_worker *worker, uint32_t seat)
{
	const struct program *program = worker->job->program;

	return &program->seats[program->first_seat[worker->number] + seat];
}

struct job_exchange *job_exchange_at(const struct job_worker *worker, uint32_t seat)
{
	return &worker->job->exchanges[seat_of(worker, seat)->group];
}

uint32_t job_exchange_member(const struct job_worker *worker, uint32_t seat)
{
	return seat_of(worker, seat)->member;
}

bool job_exchange_part(struct job_worker *worker, uint32_t seat, bytes size)
{
	uint32_t member = job_exchange_member(worker, seat);
	struct job_exchange *exchange = job_exchange_at(worker, seat);

	if (is_alone(exchange))
		return false;
	if (exchange->restart)
		job_restart_reduce(exchange->restart, member, size);
	else if (exchange->fusion)
		fusion_contribute(exchange->fusion, member, size);
	else
		exchange->ops->contribute(exchange->instance, member, size);
	return true;
}

/* Called by the scheme, which numbers a member's operations from 0. */
static void on_done(void *owner, uint32_t member, uint64_t number)
{
	struct job_exchange *exchange = owner;
	struct job_worker *worker = &exchange->job->worker[exchange->group->ranks[member]];
	const struct program_stream *nodes = &worker->cursor.role->seats[exchange->seats[member]];

	if (!exchange->restart || job_restart_holds(exchange->restart, member, &number))
		worker_holds(worker, nodes->nodes[number % nodes->count]);
}

/* --- start and end --- */

/* Puts stages around the scheme of an exchange (machine.h). */
static void stage_inside(struct job_exchange *exchange)
{
	const struct job *job = exchange->job;
	const struct model_env *env = &job->jobs->env;
	enum program_op op = exchange->group->op;

	exchange->machine = (struct machine_scheme){
		.sim = env->sim,
		.topo = env->topo,
		.conf = env->machine,
		.inner = { exchange->ops, exchange->scheme },
		.gpus = exchange->whole ? job->gpus
					: program_group_together(exchange->group, job->gpus),
		.launch = job->conf->launch,
		.conversion = job->conf->conversion,
		.inside = (enum inside)job->conf->inside,
		.chunk = job->conf->inside_chunk,
		.before = op != OP_ALL_GATHER,
		.after = op != OP_REDUCE_SCATTER,
	};
	exchange->ops = &machine_collective;
	exchange->scheme = &exchange->machine;
}

/* Of a job without a program that is written down. */
static void choose_of_job(struct job_exchange *exchange)
{
	const struct job *job = exchange->job;
	const struct scheme_run *gathers = &job->jobs->schemes[job_group_gathers(job->conf)];

	switch (exchange->group->op) {
	case OP_ALL_REDUCE:
	case OP_REDUCE_SCATTER:
		exchange->ops = job_scheme(job);
		exchange->scheme = job_reduces(job)->self;
		return;
	case OP_ALL_GATHER:
		exchange->ops = gathers->ops->all_gather;
		exchange->scheme = gathers->self;
		return;
	case OP_ALL_TO_ALL:
		exchange->ops = all_to_all_ops((enum all_to_all)job->conf->all_to_all);
		return;
	case OP_MESSAGE:
		exchange->ops = &point_to_point_collective;
		return;
	case OP_BROADCAST: /* networks with layers have none of these */
	case OP_REDUCE:
	case OP_GATHER:
	case OP_SCATTER:
	case PROGRAM_OPS:
		break;
	}
	SIM_BUG_ON(true);
}

static void choose_of_program(struct job_exchange *exchange)
{
	const struct job *job = exchange->job;
	unsigned scheme = job_group_scheme_of(job->conf, exchange->group);

	exchange->ops = job_group_ops(scheme, exchange->group->op);
	if (exchange->group->op == OP_ALL_TO_ALL)
		exchange->ops = all_to_all_ops((enum all_to_all)job->conf->all_to_all);
	else if (exchange->ops != job_group_ops(SCHEME_ring, exchange->group->op))
		exchange->scheme = job->jobs->schemes[scheme].self;
}

/* Finds the scheme of an exchange. */
static void choose_scheme(struct job_exchange *exchange)
{
	struct job *job = exchange->job;

	exchange->scheme = job->jobs->schemes[SCHEME_ring].self;
	if (job->conf->program)
		choose_of_program(exchange);
	else
		choose_of_job(exchange);
	switch (job_group_place(job->conf, exchange->group, job->gpus)) {
	case PLACE_FLAT:
		break;
	case PLACE_STAGED:
		stage_inside(exchange);
		break;
	case PLACE_SWITCH:
		exchange->ops = exchange->group->op == OP_ALL_REDUCE   ? &gpu_switch_all_reduce
				: exchange->group->op == OP_ALL_GATHER ? &gpu_switch_all_gather
								       : &gpu_switch_reduce_scatter;
		exchange->scheme = &job->jobs->env;
		break;
	}
}

/* A group with an instance of its own: a job for the scheme. Its parameter servers are on the hosts
 * of its first members. */
static void specify_group(struct job_exchange *exchange, struct collective_job *spec)
{
	const struct program_group *group = exchange->group;
	bool staged = exchange->ops == &machine_collective;
	uint32_t (*servers)(uint32_t workers) =
		(staged ? exchange->machine.inner.ops : exchange->ops)->servers;
	uint32_t adding = staged ? group->count / exchange->machine.gpus : group->count;

	spec->number += (uint32_t)(exchange - exchange->job->exchanges) *
			machine_nics(exchange->job->jobs->env.machine);
	spec->workers = group->count;
	spec->hosts = exchange->hosts;
	spec->machines = exchange->machines;
	spec->gpus = 1;
	spec->members = group->ranks;
	spec->servers = servers ? servers(adding) : 0;
	if (spec->servers > adding)
		spec->servers = adding;
	spec->server_hosts = exchange->hosts;
	spec->gradients = group->bytes;
}

/* The exchange as its scheme sees it. */
static void specify(struct job_exchange *exchange)
{
	const struct program_group *group = exchange->group;
	struct job *job = exchange->job;
	struct collective_job spec = job_spec(job);

	if (job->grouped) {
		specify_group(exchange, &spec);
	} else if (!exchange->whole) {
		/* all-to-all has a connection per ordered pair; others need at most a ring's */
		job->edges += group->op == OP_ALL_TO_ALL ? group->count * (group->count - 1)
							 : group->count;
		spec.first_edge = EXCHANGE_EDGES_END - job->edges;
		spec.workers = group->count;
		spec.hosts = exchange->hosts;
		spec.members = group->ranks;
	}
	spec.blocks = exchange->blocks;
	spec.tensors = (uint64_t)job->iterations * group->operations;
	spec.done = on_done;
	spec.owner = exchange;
	exchange->spec = spec;
}

uint32_t job_rank_host(const struct job *job, uint32_t rank)
{
	const struct machine_conf *machine = job->jobs->env.machine;
	uint32_t nic = rank % job->gpus * machine_nics(machine) / job->gpus;

	if (job->ranks == job->workers)
		return job->hosts[rank];
	return machine_nic(machine, job->jobs->env.topo->net.hosts, job->hosts[rank / job->gpus],
			   nic);
}

uint32_t job_rank_nic(const struct job *job, uint32_t rank)
{
	return job->ranks == job->workers
		       ? machine_nic(job->jobs->env.machine, job->jobs->env.topo->net.hosts,
				     job->hosts[rank], 0)
		       : job_rank_host(job, rank);
}

static void make_exchange(struct job *job, size_t g)
{
	const struct program *program = job->program;
	struct job_exchange *exchange = &job->exchanges[g];
	struct program_group *group = &program->groups[g];

	*exchange = (struct job_exchange){ .job = job, .group = group };
	exchange->why = job_of_pipeline(job, group)
				? why_part(job->why, "pipeline", true)
				: why_part(job->why, job_part_name(job, group), false);
	exchange->whole = !job->grouped && g == 0 && group->count == job->workers &&
			  (group->op == OP_ALL_REDUCE || group->op == OP_REDUCE_SCATTER);
	exchange->seats = xcalloc(group->count, sizeof(*exchange->seats));
	for (uint32_t m = 0; m < group->count; m++) {
		uint32_t first = program->first_seat[group->ranks[m]];

		while (program->seats[first + exchange->seats[m]].group != g)
			exchange->seats[m]++;
	}
	if (exchange->whole)
		return;
	if (group->op == OP_ALL_TO_ALL) {
		char *mistake; /* of a file, which has been looked at */

		exchange->blocks =
			token_shares(&job->conf->tokens, &program->experts, group->count, &mistake);
		SIM_BUG_ON(mistake);
	}
	exchange->hosts = xcalloc(group->count, sizeof(*exchange->hosts));
	if (job->ranks > job->workers)
		exchange->machines = xcalloc(group->count, sizeof(*exchange->machines));
	for (uint32_t m = 0; m < group->count; m++) {
		exchange->hosts[m] = job_rank_host(job, group->ranks[m]);
		if (exchange->machines)
			exchange->machines[m] = group->ranks[m] / job->gpus;
	}
}

/* Fusion buffers, if the job has any, are in front of the scheme. */
bool job_exchange_start(struct job_exchange *exchange, const char **never)
{
	const struct job_group_conf *conf = exchange->job->conf;
	struct collective_job spec;

	choose_scheme(exchange);
	if (exchange->whole) /* a fallback may have other servers */
		specify(exchange);
	spec = exchange->spec;
	if (exchange->whole && conf->fusion_cycle)
		exchange->fusion =
			fusion_new(&exchange->job->jobs->env.topo->net, &spec, conf->fusion_cycle,
				   conf->fusion ? conf->fusion : FUSION_BUFFER);
	*never = NULL;
	if (spec.gpus <= 1) /* else `hosts` are numbers of machines */
		why_places(&exchange->job->jobs->env.topo->net, spec.number, spec.workers,
			   spec.hosts, spec.members);
	exchange->instance = exchange->ops->start(exchange->scheme, &spec, never);
	if (exchange->instance && exchange->fusion)
		fusion_open(exchange->fusion, exchange->ops, exchange->instance);
	if (!exchange->instance)
		job_exchange_stop(exchange);
	return exchange->instance;
}

void job_exchange_stop(struct job_exchange *exchange)
{
	if (exchange->instance) {
		exchange->ops->stats(exchange->instance, &exchange->job->stats);
		exchange->ops->finish(exchange->instance, true);
	}
	fusion_free(exchange->fusion);
	exchange->fusion = NULL;
	exchange->instance = NULL;
}

/* Starts an exchange with the job, by the scheme that it falls back to if there is no tree. */
static bool start_first(struct job_exchange *exchange, const char **never)
{
	struct job *job = exchange->job;
	const struct topology *topo = job->jobs->env.topo;

	if (is_alone(exchange))
		return true;
	choose_scheme(exchange);
	specify(exchange);
	if (!job_exchange_start(exchange, never) &&
	    !(exchange->whole && *never && detours_any(topo) && job_fall_back(job) &&
	      job_exchange_start(exchange, never)))
		return false;
	if (topo->detours && exchange->group->count > 1 &&
	    (exchange->whole || exchange->ops->intact || job->conf->restart_delay_given))
		exchange->restart = job_restart_new(exchange);
	return true;
}

static struct program *make_program(const struct job *job)
{
	const struct job_group_conf *conf = job->conf;
	bytes activations =
		(bytes)((double)conf->pipeline.activations * conf->gradient_scale + 0.5);

	return program_layers(
		job->dnn, &(struct program_shape){
				  .ranks = job->ranks,
				  .pipeline = job_group_pipeline(conf),
				  .divides_optimizer = conf->sharding == SHARDING_OPTIMIZER,
				  .divides_all = conf->sharding == SHARDING_FULL,
				  .prefetch = (uint64_t)conf->prefetch,
				  .activations = activations ? activations : 1,
				  .start_jitter = conf->start_jitter,
				  .send_jitter = conf->send_jitter,
				  .jitter_per_tensor = conf->send_jitter_per == JITTER_PER_TENSOR,
			  });
}

bool job_start_exchanges(struct job *job, const char **never)
{
	if (!job->program)
		job->program = job->dnn->program ? job->dnn->program : make_program(job);
	job->exchanges = xcalloc(job->program->group_count + 1, sizeof(*job->exchanges));
	for (size_t g = 0; g < job->program->group_count; g++)
		make_exchange(job, g);
	for (size_t g = 0; g < job->program->group_count; g++)
		if (!start_first(&job->exchanges[g], never)) {
			struct collective_stats before = job->stats;

			job_end_exchanges(job, false);
			job->stats = before; /* nothing has run */
			return false;
		}
	return true;
}

void job_forget_program(struct job *job)
{
	if (job->program != job->dnn->program)
		program_free(job->program);
	job->program = NULL;
}

void job_end_exchanges(struct job *job, bool abandoned)
{
	if (!job->exchanges)
		return;
	for (size_t g = 0; g < job->program->group_count; g++) {
		struct job_exchange *exchange = &job->exchanges[g];

		if (exchange->instance)
			exchange->ops->finish(exchange->instance, abandoned);
		fusion_free(exchange->fusion);
		job_restart_free(exchange->restart);
		free(exchange->hosts);
		free(exchange->machines);
		free(exchange->blocks);
		free(exchange->seats);
	}
	free(job->exchanges);
	job->exchanges = NULL;
	job->edges = 0;
}

/* --- questions --- */

struct job_exchange *job_exchange_of(const struct job *job, enum program_op op)
{
	for (size_t g = 0; job->exchanges && g < job->program->group_count; g++)
		if (job->exchanges[g].group->op == op && !is_alone(&job->exchanges[g]))
			return &job->exchanges[g];
	return NULL;
}

struct job_exchange *job_reduction(const struct job *job)
{
	struct job_exchange *exchange = job_exchange_of(job, OP_ALL_REDUCE);

	return exchange ? exchange : job_exchange_of(job, OP_REDUCE_SCATTER);
}

void job_exchange_stats(const struct job *job, struct collective_stats *stats)
{
	for (size_t g = 0; job->exchanges && g < job->program->group_count; g++)
		if (job->exchanges[g].instance)
			job->exchanges[g].ops->stats(job->exchanges[g].instance, stats);
}

void job_exchange_waiting(const struct job *job, FILE *to, size_t limit)
{
	for (size_t g = 0; job->exchanges && g < job->program->group_count && limit; g++) {
		const struct job_exchange *exchange = &job->exchanges[g];
		size_t max = exchange->whole ? limit : 1;

		if (exchange->instance)
			limit -= exchange->ops->report_waiting(exchange->instance, to, max);
	}
}
