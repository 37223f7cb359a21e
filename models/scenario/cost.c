/* Estimates packet-hops, hosts and jobs of a run from sizes and paths.
 *
 * In an all-reduce in switches each chunk crosses each link of its tree once up and once down.
 * Other schemes and flows send their bytes along paths of mean length, and ACKs back. If flows go
 * on until the jobs end, the duration of jobs comes from the rate that Poisson flows leave to them.
 *
 * The estimate misses retransmissions, packets that go by way of a server because no aggregator is
 * free, and delays of jobs by each other, or by flows beyond the mean rate of Poisson flows. So if
 * flows go on until the jobs end, the estimate is a lower bound (`at_least`). */
#include "scenario/scenario.h"

#include "base/mem.h"
#include "topo/links.h"
#include "workload/flows/sizes.h"
#include "workload/offered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that all estimates use. */
struct basis {
	const struct scenario *scenario;
	double hosts, per_rack, per_pod;
	double between;     /* links of a path between pods or, without pods, between racks */
	double rate_bps;    /* of a host's link */
	double load;        /* of Poisson flows, as a fraction of hosts x link rate */
	double end_s;       /* when arrivals end */
	double longest_s;   /* latest end of a group's first job, if it need not wait */
	double host_work_s; /* sum over jobs of (workers x duration) */
	double *receivers;  /* by host: flows of listed pairs that end there; owned */
};

/* Counts flows of listed pairs by their destination. The caller frees the result. */
static double *count_receivers(const struct scenario *scenario)
{
	double *flows = xcalloc(topology_hosts(&scenario->topology), sizeof(*flows));

	for_enabled_flows(group, scenario)
		for (size_t i = 0; i < group->pairs.list.count; i++)
			flows[flow_group_pair(group, i)[1]]++;
	return flows;
}

static struct basis basis_of(const struct scenario *scenario)
{
	const struct topology_conf *topology = &scenario->topology;
	struct basis basis = { .scenario = scenario,
			       .hosts = topology_hosts(topology),
			       .between = topology_mean_links(topology),
			       .rate_bps = (double)topology_host_rate(topology),
			       .per_rack =
				       topology_hosts(topology) / (double)topology_racks(topology),
			       .per_pod = topology_pod(topology),
			       .end_s = seconds_of(scenario->stop.after) };

	basis.load = scenario_offered(scenario).flows;
	basis.receivers = count_receivers(scenario);
	if (scenario->stop.when == STOP_MEASURED_DONE)
		basis.end_s = seconds_of(scenario_window(scenario).to);
	return basis;
}

/* --- paths --- */

static bool has_pods(const struct basis *basis)
{
	return basis->per_pod < basis->hosts;
}

static double path_between(const struct basis *basis, double a, double b)
{
	if (floor(a / basis->per_rack) == floor(b / basis->per_rack))
		return 2;
	return has_pods(basis) && floor(a / basis->per_pod) == floor(b / basis->per_pod)
		       ? 4
		       : basis->between;
}

/* The mean of path_between() over all pairs of hosts. */
static double path_at_random(const struct basis *basis)
{
	double others = basis->hosts - 1;
	/* probability that the other host is in the same rack, in the same pod */
	double rack = (basis->per_rack - 1) / others, pod = (basis->per_pod - 1) / others;

	if (!has_pods(basis))
		return 2 * rack + basis->between * (1 - rack);
	return 2 * rack + 4 * (pod - rack) + basis->between * (1 - pod);
}

/* The number of racks or pods, of `size` hosts each, that have workers of a job. */
static double parts_of(const struct basis *basis, const struct job_group_conf *group,
		       double workers, double size)
{
	double parts = basis->hosts / size, last = -1, count = 0;

	if (group->workers.form == WORKERS_HOSTS) { /* assumes that hosts are listed in order */
		const int64_t *hosts = group->workers.hosts.items;

		for (size_t i = 0; i < group->workers.hosts.count; i++) {
			count += floor((double)hosts[i] / size) != last;
			last = floor((double)hosts[i] / size);
		}
		return count < parts ? count : parts;
	}
	if (group->placement == PLACEMENT_COMPACT)
		return ceil(workers / size);
	if (group->placement == PLACEMENT_SPREAD)
		return workers < parts ? workers : parts;
	return parts * (1 - pow(1 - 1 / parts, workers)); /* mean, each worker at random */
}

static double tree_links(const struct basis *basis, const struct job_group_conf *group,
			 double workers)
{
	double racks = parts_of(basis, group, workers, basis->per_rack);
	double pods = parts_of(basis, group, workers, basis->per_pod);

	return workers + (racks > 1 ? racks : 0) + (pods > 1 ? pods : 0);
}

/* The mean number of links between two workers, or between a worker and a server. */
static double job_path(const struct basis *basis, const struct job_group_conf *group,
		       double workers)
{
	double racks = parts_of(basis, group, workers, basis->per_rack);

	if (racks <= 1)
		return 2;
	if (group->placement == PLACEMENT_COMPACT && group->workers.form != WORKERS_HOSTS)
		/* between neighbours of a ring, which leaves each rack once */
		return 2 + racks / workers * (path_at_random(basis) - 2);
	return path_at_random(basis);
}

/* --- bytes --- */

/* Packet-hops of `size` bytes over a path of `links` links: data packets, and their ACKs. */
static double hops_of_bytes(const struct basis *basis, const struct transport *transport,
			    double size, double links)
{
	const struct scenario *s = basis->scenario;
	double segment = (double)(transport->roce ? s->roce.mtu : s->tcp.mss);
	double every = (double)(transport->roce ? s->roce.ack_every : s->tcp.ack_every);

	return links * (ceil(size / segment) + ceil(size / segment / every));
}

/* An exchange of a job: packet-hops of all hosts, and bytes that one host sends. */
struct exchange {
	double hops, bytes;
};

/* The exchange of gradients in an iteration. */
static struct exchange exchange_of(const struct basis *basis, const struct job_group_conf *group,
				   double workers, double gradient)
{
	unsigned scheme = job_group_reduces(group);
	const void *conf = basis->scenario->schemes[scheme];
	const struct collective_ops *ops =
		scheme_running(scheme, conf, &basis->scenario->topology, (bytes)gradient);
	const struct transport *transport = scenario_scheme_transport(basis->scenario, scheme);
	double sent, packets, hops;

	if (workers / (double)group->pipeline.stages < 2 || group->program)
		return (struct exchange){ 0 };
	sent = job_group_reduced(group, ops, (uint32_t)workers,
				 machine_gpus(&basis->scenario->machine));
	if (!ops->payload)
		return (struct exchange){ .hops = hops_of_bytes(
						  basis, transport ? transport : transport_kind(0),
						  sent * gradient, job_path(basis, group, workers)),
					  .bytes = sent / workers * gradient };
	packets = ceil(gradient / ops->payload(conf));
	if (group->sharding != SHARDING_NONE && ops->reduce_scatter)
		hops = packets * tree_links(basis, group, workers);
	else if (sent > workers + 1) /* servers add up, not switches */
		hops = sent * packets * job_path(basis, group, workers);
	else
		return (struct exchange){
			/* up and down; a server's link counts as a link of the tree */
			.hops = 2 * packets *
				(tree_links(basis, group, workers) + (ops->servers != NULL)),
			.bytes = packets * ops->frame(conf)
		};
	return (struct exchange){ hops, sent / workers * packets * ops->frame(conf) };
}

/* All-gathers of `size` bytes in total. Switches copy shards: each crosses each link once. */
static struct exchange gathers_in_switches(const struct basis *basis,
					   const struct job_group_conf *group, double workers,
					   double size, unsigned scheme)
{
	const void *conf = basis->scenario->schemes[scheme];
	double packets = ceil(size / scheme_ops(scheme)->payload(conf));

	return (struct exchange){ packets * tree_links(basis, group, workers),
				  packets * scheme_ops(scheme)->frame(conf) };
}

/* All that the groups of a program exchange in an iteration. */
static struct exchange of_program(const struct basis *basis, const struct job_group_conf *group)
{
	const struct transport *ring = scenario_scheme_transport(basis->scenario, SCHEME_ring);
	struct exchange sum = { 0 };

	for (size_t g = 0; g < group->program->group_count; g++) {
		const struct program_group *part = &group->program->groups[g];
		unsigned scheme = job_group_scheme_of(group, part);
		const struct collective_ops *ops = job_group_ops(scheme, part->op);
		const void *conf = basis->scenario->schemes[scheme];
		uint32_t gpus = machine_gpus(&basis->scenario->machine);
		double ranks = part->count, sent = job_group_sent(group, part, gpus);

		if (sent <= 0) /* the group is inside a machine */
			continue;
		sum.bytes += sent / group->program->ranks;
		if (ops->payload) /* up and down a tree */
			sum.hops += 2 * ceil((double)part->bytes / ops->payload(conf)) *
				    (tree_links(basis, group, ranks) + (ops->servers != NULL));
		else
			sum.hops += hops_of_bytes(basis, ring, sent, job_path(basis, group, ranks));
	}
	return sum;
}

/* The exchange of everything besides gradients in an iteration. */
static struct exchange others_of(const struct basis *basis, const struct job_group_conf *group,
				 double workers)
{
	double gathers = job_group_gathers_each(group), sent;
	struct job_means means = job_models_means(group->models);
	struct exchange in_switches = { 0 };
	unsigned scheme = job_group_gathers(group);

	if (gathers > 0 && scheme_ops(scheme)->payload) {
		in_switches = gathers_in_switches(basis, group, workers, gathers * means.gradient,
						  scheme);
		gathers = 0;
	}
	sent = (workers - 1) * gathers * means.gradient +
	       job_group_passed_on(group, workers, machine_gpus(&basis->scenario->machine));
	return (struct exchange){ .hops = in_switches.hops +
					  hops_of_bytes(basis,
							scenario_scheme_transport(basis->scenario,
										  SCHEME_ring),
							sent, job_path(basis, group, workers)),
				  .bytes = in_switches.bytes + sent / workers };
}

/* --- jobs --- */

static double jobs_of_group(const struct basis *basis, const struct job_group_conf *group)
{
	double gap_s = job_group_gap_s(group, (uint32_t)basis->hosts, (bps)basis->rate_bps);

	if (group->count)
		return (double)group->count;
	return gap_s > 0 ? basis->end_s / gap_s : 1;
}

/* Adds `jobs` equal jobs. */
static void add_jobs(struct basis *basis, const struct job_group_conf *group, double jobs,
		     double workers, double iterations, struct scenario_cost *cost)
{
	double compute_s = job_group_compute_s(group);
	struct exchange exchange =
		exchange_of(basis, group, workers, job_models_means(group->models).gradient);
	struct exchange others = { 0 };
	double share = basis->load < 0.9 ? 1 - basis->load : 0.1; /* of the rate; rest for flows */
	double send_s;                                            /* sending in an iteration */
	double one_s;                                             /* duration of a job */
	double over_s;                                            /* end of the first job */

	if (group->program)
		others = of_program(basis, group);
	else if (group->exchanges && workers > 1)
		others = others_of(basis, group, workers);
	send_s = 8 * (exchange.bytes + others.bytes) / (basis->rate_bps * share);
	one_s = iterations * (compute_s + send_s);
	over_s = seconds_of(group->arrival.at) + one_s;
	cost->jobs += jobs;
	cost->hops += jobs * iterations * (exchange.hops + others.hops);
	basis->host_work_s += jobs * workers * one_s;
	if (over_s > basis->longest_s)
		basis->longest_s = over_s;
}

static void add_trace(struct basis *basis, const struct job_group_conf *group,
		      struct scenario_cost *cost)
{
	const struct job_trace *trace = group->arrival.jobs;
	double compute_s = job_group_compute_s(group);

	for (size_t i = 0; i < trace->count; i++)
		add_jobs(basis, group, 1, (double)job_trace_workers(group, &trace->jobs[i]),
			 group->iterations_form == ITERATIONS_RULE && compute_s > 0
				 ? seconds_of(trace->jobs[i].duration) / group->arrival.speedup /
					   compute_s
				 : (double)group->iterations,
			 cost);
}

static void add_job_group(struct basis *basis, const struct job_group_conf *group,
			  struct scenario_cost *cost)
{
	struct workers_span span = workers_span(&group->workers);

	if (group->arrival.form == JOBS_TRACE)
		add_trace(basis, group, cost);
	else
		add_jobs(basis, group, jobs_of_group(basis, group),
			 (double)(span.min + span.max) / 2, (double)group->iterations, cost);
}

/* --- flows --- */

static double hops_of_trace(const struct basis *basis, const struct flow_group_conf *group,
			    double room)
{
	const struct flow_trace *trace = group->recorded;
	double hops = 0;

	for (size_t i = 0; i < trace->count; i++)
		hops += hops_of_bytes(basis, transport_kind((unsigned)group->transport),
				      fmin((double)trace->flows[i].size, room),
				      path_at_random(basis));
	return hops;
}

/* The duration of the largest flow that arrives in the measured window, at the rate that the load
 * leaves. Draws at most 10000 flows to find its size. */
static double largest_s(const struct basis *basis, const struct flow_group_conf *group)
{
	struct measured_window window = scenario_window(basis->scenario);
	double seconds = seconds_of(window.to - window.from), max = 0;
	double count = seconds * group->arrival.load * basis->rate_bps * basis->hosts /
		       (8 * sizes_mean(group->sizes));
	struct rng rng;

	rng_init(&rng, 1, "largest flow", 0);
	for (double i = 0; i < count && i < 10000; i++)
		max = fmax(max, (double)sizes_draw(group->sizes, &rng));
	return 8 * max / (basis->rate_bps * (1 - fmin(basis->load, 0.9)));
}

/* When flows stop arriving if the run ends with measured_done: once all jobs and flows of the
 * measured window are over. */
static double measured_end(const struct basis *basis)
{
	double longest = basis->longest_s;

	for_enabled_flows(group, basis->scenario)
		if (group->arrival.form == ARRIVE_POISSON)
			longest = fmax(longest, largest_s(basis, group));
	return fmin(basis->end_s + longest, seconds_of(basis->scenario->stop.after));
}

/* Packet-hops of a flow of `size` bytes for each pair. `room`: bytes that a host's link can carry
 * in the time of the flows. Flows with the same destination share its link. */
static double hops_of_list(const struct basis *basis, const struct flow_group_conf *group,
			   double size, double room)
{
	const struct transport *transport = transport_kind((unsigned)group->transport);
	double hops = 0;

	for (size_t i = 0; i < group->pairs.list.count; i++) {
		const int64_t *hosts = flow_group_pair(group, i);

		hops += hops_of_bytes(basis, transport,
				      fmin(size, room / basis->receivers[hosts[1]]),
				      path_between(basis, (double)hosts[0], (double)hosts[1]));
	}
	return hops;
}

/* Packet-hops of flows that go on for at most `seconds`. */
static double hops_of_flows(const struct basis *basis, const struct flow_group_conf *group,
			    double seconds)
{
	double size, count = (double)group->count, links = path_at_random(basis);
	/* bytes that a host's link can carry in this time */
	double room = fmax(seconds - seconds_of(group->arrival.at), 0) * basis->rate_bps / 8;

	if (group->arrival.form == ARRIVE_TRACE)
		return hops_of_trace(basis, group, room);
	size = sizes_mean(group->sizes);
	if (group->arrival.form == ARRIVE_AT && group->pairs.form == PAIRS_LIST)
		return hops_of_list(basis, group, size, room);
	if (group->arrival.form == ARRIVE_POISSON && !group->count)
		count = seconds * group->arrival.load * basis->rate_bps * basis->hosts / (8 * size);
	else if (!group->count)
		count = group->fan_in ? (double)group->fan_in : basis->hosts;
	if (group->arrival.form == ARRIVE_AT)
		size = fmin(size, group->pairs.kind == PAIRS_INCAST ? room / count : room);
	return count *
	       hops_of_bytes(basis, transport_kind((unsigned)group->transport), size, links);
}

struct scenario_cost scenario_cost(const struct scenario *scenario)
{
	struct basis basis = basis_of(scenario);
	struct scenario_cost cost = { .hosts = (uint32_t)basis.hosts };
	double slots = basis.hosts * (double)scenario->machine.slots, jobs_s;

	for_enabled_jobs(group, scenario)
		add_job_group(&basis, group, &cost);
	jobs_s = fmax(basis.host_work_s / slots, basis.longest_s);
	jobs_s = fmin(jobs_s, seconds_of(scenario->stop.after));
	if (scenario->stop.when == STOP_MEASURED_DONE)
		basis.end_s = measured_end(&basis);
	for_enabled_flows(group, scenario) {
		bool with_jobs =
			scenario_has_jobs(scenario) && (scenario->stop.when == STOP_JOBS_DONE ||
							group->stop == FLOWS_STOP_WITH_JOBS);

		cost.hops += hops_of_flows(&basis, group, with_jobs ? jobs_s : basis.end_s);
		cost.at_least |= with_jobs && hops_of_flows(&basis, group, 2 * jobs_s) >
						      hops_of_flows(&basis, group, jobs_s);
	}
	free(basis.receivers);
	return cost;
}
