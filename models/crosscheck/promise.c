#include "crosscheck/promise.h"

#include "ina/switchml.h"
#include "links.h"
#include "workload/job_models.h"
#include "workload/jobs_parts.h"

#include <math.h>
#include <stdlib.h>

#define NOT_PROMISED INFINITY

const struct promise promises[CROSSCHECK_KINDS] = {
	[CROSSCHECK_ALONE_SHORT] = { "one job alone, queues that mark or drop below the "
				     "bandwidth-delay product",
				     NOT_PROMISED, NOT_PROMISED, NOT_PROMISED,
				     "windows are cut before they fill the path, which fluid does "
				     "not know" },
	[CROSSCHECK_ALONE_SMALL] = { "one job alone, tensors below 10 MB", NOT_PROMISED,
				     NOT_PROMISED, NOT_PROMISED,
				     "start-up and pipelines weigh more the smaller a tensor is" },
	[CROSSCHECK_ALONE_PATHS] = { "one job alone, ring, ps and ps_stream over several tiers",
				     NOT_PROMISED, NOT_PROMISED, NOT_PROMISED,
				     "where paths to several servers meet (ECMP), their windows do "
				     "not share the link max-min, and all wait for the slowest; "
				     "where edges of a ring differ, its workers end one by one" },
	[CROSSCHECK_ALONE_SERVERS] = { "one job alone, ps_stream on one switch, several servers, "
				       "a number of slots",
				       NOT_PROMISED, NOT_PROMISED, NOT_PROMISED,
				       "sums of several servers meet at a worker, and slots that "
				       "just cover the round trip of an empty path have no room "
				       "for "
				       "the wait" },
	[CROSSCHECK_ALONE_SHARDS] = { "one job alone, ps on one switch, servers with less than "
				      "10 MB each",
				      NOT_PROMISED, NOT_PROMISED, NOT_PROMISED,
				      "ACKs of pulls, whose connections start slowly, queue behind "
				      "pushes: some blocks' time, whatever the size of a shard" },
	[CROSSCHECK_ALONE_HASHED] = { "one job alone, atp and esa", NOT_PROMISED, NOT_PROMISED,
				      NOT_PROMISED,
				      "pieces of a job can meet in one aggregator (hash): under "
				      "ESA they wait for it, under ATP they queue at the server" },
	[CROSSCHECK_ALONE] = { "one job alone", 0.02, 0.02, NOT_PROMISED,
			       "start-up takes a few round trips of many" },
	[CROSSCHECK_EVEN] = { "jobs under switchml, switchml_star, or panama", NOT_PROMISED, 0.05,
			      0.05,
			      "streams of one kind through the same queues are served alike" },
	[CROSSCHECK_APART] = { "jobs under another scheme, one worker a host", NOT_PROMISED,
			       NOT_PROMISED, NOT_PROMISED,
			       "who bursts takes from who is cut back, so shares are not max-min, "
			       "and a job that is left alone cannot always take what others had" },
	[CROSSCHECK_ALIKE] = { "jobs under another scheme that share hosts", NOT_PROMISED,
			       NOT_PROMISED, NOT_PROMISED,
			       "who bursts takes from who is cut back, so shares are not max-min; "
			       "sums that collide go to one server" },
	[CROSSCHECK_MIXED] = { "jobs under several schemes", NOT_PROMISED, NOT_PROMISED,
			       NOT_PROMISED, "who heeds congestion gives way to who does not" },
	[CROSSCHECK_FLOWS] = { "jobs and long flows", NOT_PROMISED, NOT_PROMISED, NOT_PROMISED,
			       "who heeds congestion gives way to who does not" },
	[CROSSCHECK_OPEN] = { "others", NOT_PROMISED, NOT_PROMISED, NOT_PROMISED,
			      "chance, losses, short flows or arrivals: fluid has no packets to "
			      "lose and takes short flows as load" },
};

/* By scheme, on one switch and over several tiers. A scheme that is not here is of the first
 * kind: short, for which nothing is promised. */
static const enum crosscheck_kind alone_kinds[SCHEME_COUNT][2] = {
	[SCHEME_ring] = { CROSSCHECK_ALONE, CROSSCHECK_ALONE_PATHS },
	[SCHEME_ps] = { CROSSCHECK_ALONE, CROSSCHECK_ALONE_PATHS },
	[SCHEME_ps_stream] = { CROSSCHECK_ALONE, CROSSCHECK_ALONE_PATHS },
	[SCHEME_switchml] = { CROSSCHECK_ALONE, CROSSCHECK_ALONE },
	[SCHEME_atp] = { CROSSCHECK_ALONE_HASHED, CROSSCHECK_ALONE_HASHED },
	[SCHEME_esa] = { CROSSCHECK_ALONE_HASHED, CROSSCHECK_ALONE_HASHED },
	[SCHEME_panama] = { CROSSCHECK_ALONE, CROSSCHECK_ALONE },
	[SCHEME_switchml_star] = { CROSSCHECK_ALONE, CROSSCHECK_ALONE },
};

/* Schemes whose jobs share as fluid does. */
static const bool shares_evenly[SCHEME_COUNT] = {
	[SCHEME_switchml] = true,
	[SCHEME_switchml_star] = true,
	[SCHEME_panama] = true,
};

/* --- which kind --- */

static bool has_chance(const struct scenario *scenario)
{
	const struct topology_conf *topology = &scenario->topology;

	return topology->link.loss > 0 || (topology->uplink_given && topology->uplink.loss > 0) ||
	       topology->host.jitter > 0;
}

/* Comes at a fixed time, with a fixed number of workers, and computes as it is told. */
static bool is_fixed(const struct job_group_conf *group)
{
	return group->arrival.form == JOBS_AT && !group->arrival.spread &&
	       group->workers.form != WORKERS_RANGE && group->model.form != MODEL_MIX &&
	       group->compute_jitter <= 0 && !group->start_jitter && !group->send_jitter &&
	       !group->stragglers.workers;
}

static bool is_long(const struct flow_group_conf *group)
{
	return group->arrival.form == ARRIVE_AT && group->size.form == SIZE_FIXED &&
	       group->size.fixed >= 1000000;
}

/* The smallest that a worker hands over. */
static double least_tensor(const struct job_group_conf *group)
{
	struct job_models models;
	char *error = NULL;
	double least = INFINITY;

	if (!job_models_load(&models, group, &error)) {
		free(error);
		return 0;
	}
	for (size_t i = 0; i < models.count; i++)
		for (size_t t = 0; t < models.dnns[i]->tensor_count; t++)
			least = fmin(least, (double)models.dnns[i]->tensors[t].size);
	job_models_release(&models);
	return least;
}

#define LEAST_FRAME 256 /* what a threshold in packets stands for, at least */

/* Marks or drops begin before a window fills the longest path, there and back. */
static bool queues_are_short(const struct topology_conf *topology)
{
	unsigned links = 2 * links_tiers(topology);
	double trip = seconds_of(links * topology->link.delay +
				 (links - 1) * topology->switches.latency + topology->host.latency);
	double product = 2 * trip * (double)topology->link.rate / 8;
	struct conf_queue start = topology_first_mark(&topology->switches.ecn, topology->link.rate);

	if ((double)topology_buffer(topology, false) < product)
		return true;
	return (double)start.amount * (start.packets ? LEAST_FRAME : 1) < product;
}

/* Servers of a group that is_fixed(). */
static uint32_t servers_of(const struct job_group_conf *group)
{
	int64_t workers = group->workers.form == WORKERS_HOSTS ? (int64_t)group->workers.hosts.count
							       : group->workers.number;

	return job_group_servers(group, (uint32_t)workers);
}

/* The slots of `ps_stream` are not those of its rule, which are enough. */
static bool slots_are_given(const struct scenario *scenario)
{
	const struct switchml_conf *conf = scenario->schemes[SCHEME_ps_stream];

	return conf->slots_form == SLOTS_NUMBER;
}

static enum crosscheck_kind kind_of_alone(const struct scenario *scenario,
					  const struct job_group_conf *group, double least)
{
	enum crosscheck_kind kind =
		alone_kinds[group->all_reduce][links_tiers(&scenario->topology) > 1];

	if (queues_are_short(&scenario->topology))
		return CROSSCHECK_ALONE_SHORT;
	if (least < ALONE_LARGE)
		return CROSSCHECK_ALONE_SMALL;
	if (kind == CROSSCHECK_ALONE && group->all_reduce == SCHEME_ps &&
	    least < (double)ALONE_LARGE * servers_of(group))
		return CROSSCHECK_ALONE_SHARDS;
	if (kind == CROSSCHECK_ALONE && group->all_reduce == SCHEME_ps_stream &&
	    servers_of(group) > 1 && slots_are_given(scenario))
		return CROSSCHECK_ALONE_SERVERS;
	return kind;
}

static enum crosscheck_kind kind_of_alike(const struct scenario *scenario, int scheme)
{
	if (shares_evenly[scheme])
		return CROSSCHECK_EVEN;
	return scenario->topology.host.slots == 1 ? CROSSCHECK_APART : CROSSCHECK_ALIKE;
}

bool crosscheck_is_alone(enum crosscheck_kind kind)
{
	return kind <= CROSSCHECK_ALONE;
}

enum crosscheck_kind crosscheck_kind(const struct scenario *scenario)
{
	const struct job_group_conf *last = NULL;
	int64_t jobs = 0;
	bool alike = true, open = has_chance(scenario);
	double least = INFINITY;

	for (size_t i = 0; i < scenario->jobs.count; i++) {
		const struct job_group_conf *group = &scenario_jobs(scenario)[i];

		if (!group->enabled)
			continue;
		open |= !is_fixed(group);
		jobs += group->count ? group->count : 1;
		alike &= !last || last->all_reduce == group->all_reduce;
		last = group;
		if (!open)
			least = fmin(least, least_tensor(group));
	}
	for (size_t i = 0; i < scenario->flows.count; i++)
		open |= scenario_flows(scenario)[i].enabled &&
			!is_long(&scenario_flows(scenario)[i]);
	if (open)
		return CROSSCHECK_OPEN;
	if (scenario_has_flows(scenario))
		return CROSSCHECK_FLOWS;
	if (jobs > 1)
		return alike ? kind_of_alike(scenario, last->all_reduce) : CROSSCHECK_MIXED;
	return last ? kind_of_alone(scenario, last, least) : CROSSCHECK_OPEN;
}

bool promise_holds(double difference, double bound)
{
	return fabs(difference) <= bound;
}
