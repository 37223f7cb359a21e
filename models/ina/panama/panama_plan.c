/* PANAMA as fluid streams. */
#include "ina/panama/panama.h"

#include <math.h>

void panama_plan_count(const struct panama_job *job, bool comes)
{
	for (uint32_t s = 0; s < job->base.scheme->env.topo->net.switches; s++)
		if (job->sequences_at[s])
			panama_count_job(&panama_scheme(job)->accelerators[s], job->sequences_at[s],
					 comes);
}

/* The latency of all accelerators between a worker and the root, at the worker with most. */
static sim_time tree_delay(const struct panama_job *job, const struct tree *tree)
{
	sim_time longest = 0;

	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		sim_time delay = 0;

		for (uint32_t n = tree->node_of_worker[w]; n != TREE_NONE;
		     n = tree->nodes[n].parent)
			delay += panama_scheme(job)->accelerators[tree->nodes[n].sw].latency;
		longest = delay > longest ? delay : longest;
	}
	return longest;
}

static uint32_t tree_window(const struct panama_job *job, const struct tree *tree)
{
	const struct panama_window_conf *conf = &panama_scheme(job)->window;
	uint32_t min = PANAMA_CAP_MAX;

	for (uint32_t n = 0; n < tree->node_count; n++) {
		uint32_t sw = tree->nodes[n].sw;
		uint32_t cap =
			panama_cap_at(&panama_scheme(job)->accelerators[sw], job->sequences_at[sw]);

		min = cap < min ? cap : min;
	}
	return conf->fixed && conf->packets && conf->packets < min ? (uint32_t)conf->packets : min;
}

/* If the ports of accelerators are slower than links, bytes per second of a tree through a port,
 * which the trees of a worker share; else INFINITY. */
static double slow_rate(const struct panama_job *job, const struct plan_packets *packets)
{
	sim_time slow = panama_scheme(job)->accelerators[0].slow;

	return slow ? (packets->payload + packets->overhead) / seconds_of(slow) / job->tree_count
		    : INFINITY;
}

/* Each tree has a stream with an equal part of the chunks. All workers are in every sum, whatever
 * the fraction. Windows are as large as wnd_cap is with the present jobs. */
void panama_plan_trees(struct panama_job *job, struct stream_plan *plan)
{
	const struct network *net = &job->base.scheme->env.topo->net;
	const struct panama_window_conf *conf = &panama_scheme(job)->window;
	sim_time round_trip = 0;

	plan_init(plan, job->tree_count);
	if (panama_conf(job)->fraction >= 1) /* else sums do not wait for every worker */
		ina_plan_bound(&job->base, plan);
	for (size_t s = 0; s < plan->count; s++) {
		const struct tree *tree = job->trees[s].tree;
		struct plan_stream *stream = &plan->streams[s];
		struct plan_path path =
			plan_tree_path(net, tree, job->base.ports, job->base.spec.workers,
				       job->base.scheme->frame);

		path.sum += tree_delay(job, tree);
		plan_add_tree(stream, tree, job->base.ports, job->base.spec.workers);
		stream->packets =
			plan_ina_packets(net, job->base.scheme->frame, job->base.scheme->elements);
		stream->packets.fraction = 1.0 / (double)plan->count;
		stream->cap = plan_window_rate(&stream->packets, tree_window(job, tree), path.sum);
		stream->cap = fmin(stream->cap, slow_rate(job, &stream->packets));
		/* without `packets` the window is wnd_cap, which changes with the jobs */
		if (conf->fixed && conf->packets)
			plan_fix_window(stream, tree_window(job, tree), path.sum, net,
					job->base.ports[0]);
		round_trip = path.sum > round_trip ? path.sum : round_trip;
		if (plan_path_latency(&path) > plan->latency)
			plan->latency = plan_path_latency(&path);
	}
	plan_close(plan);
	plan_set_turns(plan, net, &job->base.spec, 0);
	if (conf->fixed)
		return;
	/* the trees of a worker share its NIC, and each has its own wnd_cap */
	plan->ramp =
		plan_ramp(&plan->streams[0].packets,
			  &(struct plan_growth){
				  .window = conf->initial, .ssthresh = conf->ssthresh, .step = 1 },
			  plan_slowest(plan, net), round_trip);
}
