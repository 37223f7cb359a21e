/* Warnings before a run: of what is legal but probably a mistake, and of what will not run as the
 * scenario says. Where a number shows why, the warning has it. A warning is one function and its
 * line in `warnings`. Warnings that only a run can give are in run/results_remarks.c. */
#include "scenario/scenario.h"

#include "base/mem.h"
#include "collective/machine.h"
#include "topo/graph.h"
#include "workload/flows/flows.h"
#include "workload/flows/sizes.h"
#include "workload/jobs/jobs.h"
#include "workload/offered.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The number of workers of the group's largest job; 0 if only a trace has it. */
static uint32_t max_workers(const struct job_group_conf *group)
{
	return (uint32_t)workers_span(&group->workers).max;
}

/* The number of its workers that add up together: with a pipeline, the replicas of a stage. */
static uint32_t max_adding(const struct job_group_conf *group)
{
	return max_workers(group) / (uint32_t)group->pipeline.stages;
}

/* --- transports --- */

/* Whether a scheme runs over TCP, not over RoCE or packets of its own. */
static bool over_tcp(const struct scenario *scenario, unsigned scheme)
{
	const struct transport *transport = scenario_scheme_transport(scenario, scheme);

	return scheme_ops(scheme)->traits.by_connections && !(transport && transport->roce);
}

static bool flows_over_roce(const struct flow_group_conf *group)
{
	return transport_kind((unsigned)group->transport)->roce;
}

/* Whether connections of this transport have windows that shrink on ECN marks. */
static bool windows_heed_marks(const struct transport *transport)
{
	return !transport->roce && transport->cc->ecn;
}

static bool uses_tcp(const struct scenario *scenario)
{
	for (unsigned s = 0; scheme_ops(s); s++)
		if (over_tcp(scenario, s) && scenario_uses(scenario, s))
			return true;
	for_enabled_flows(group, scenario)
		if (!flows_over_roce(group))
			return true;
	return false;
}

/* A timeout before any ACK can arrive is no sign of loss, but TCP still reduces its window. */
static void warn_timeout(const struct scenario *scenario, struct conf_doc *doc)
{
	sim_time round_trip = ideal_round_trip(
		&scenario->topology, (uint32_t)scenario->tcp.mss + TCP_OVERHEAD, TCP_MIN_FRAME);

	if (uses_tcp(scenario) && scenario->tcp.initial_rto < round_trip)
		conf_warn(doc, "/tcp/initial_rto",
			  "%g s is shorter than the round trip of an idle path through the top of "
			  "the network, %g s: each connection over such a path begins with a "
			  "timeout, and then its window grows slowly",
			  seconds_of(scenario->tcp.initial_rto), seconds_of(round_trip));
}

/* A window whose target is shorter than the idle round trip only shrinks. By default the target
 * follows the path but for its last link, which may be longer than base_target. */
static void warn_target(const struct scenario *scenario, const struct transport *transport,
			struct conf_doc *doc)
{
	const struct topology_conf *topology = &scenario->topology;
	uint32_t frame = transport->roce ? (uint32_t)(scenario->roce.mtu + scenario->roce.header)
					 : (uint32_t)scenario->tcp.mss + TCP_OVERHEAD;
	struct link_conf link = topology_link_conf(topology, false);
	sim_time idle = ideal_round_trip(topology, frame, TCP_MIN_FRAME);
	sim_time last = 2 * (link.delay + topology->host.latency) +
			topology_transmission(topology, frame) +
			topology_transmission(topology, TCP_MIN_FRAME);
	struct cc cc = {
		.conf = transport->roce
				? scenario->roce.control[cc_index(&roce_cc_table, transport->cc)]
				: scenario->tcp.control[cc_index(&cc_table, transport->cc)],
		.hops = topology_longest(topology),
		.switches = idle - last,
	};
	double target = transport->cc->target(&cc);

	if (target < (double)idle)
		conf_warn(
			doc,
			conf_at(doc, "/%s/control/%s", transport->roce ? "roce" : "tcp",
				transport->cc->name),
			"the target of %g s is shorter than the round trip of an idle path through "
			"the top of the network, %g s: windows there shrink to their minimum",
			target / PS_PER_S, seconds_of(idle));
}

static void warn_targets(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct transport *transport;

	for (unsigned i = 0; (transport = transport_kind(i)); i++)
		if (transport->cc->target && scenario_uses_transport(scenario, transport))
			warn_target(scenario, transport, doc);
}

/* Whether any window shrinks on ECN marks. Rates that CNPs reduce do not count: warn_ecn() is about
 * windows. */
static bool heeds_marks(const struct scenario *scenario)
{
	for (unsigned s = 0; scheme_ops(s); s++)
		if ((scheme_ops(s)->traits.heeds_marks ||
		     (over_tcp(scenario, s) &&
		      windows_heed_marks(scenario_scheme_transport(scenario, s)))) &&
		    scenario_uses(scenario, s))
			return true;
	for_enabled_flows(group, scenario)
		if (windows_heed_marks(transport_kind((unsigned)group->transport)))
			return true;
	return false;
}

/* The usual threshold is 85 full frames at 10 Gbps (PANAMA section 7), in proportion to the rate.
 * DCTCP (SIGCOMM 2010, section 4) has 65 frames of 1500 bytes, Alibaba's HPCC simulator 30 KB. A
 * threshold that is ECN_FAR times as high was probably made for another rate; so was one in packets
 * that is ECN_FAR times as low. One in bytes that is as low was probably chosen on purpose. */
#define ECN_BYTES_AT_10G (85.0 * 1518)
#define ECN_FAR          4

/* If the threshold is half the bandwidth-delay product and a window is halved, the link is idle for
 * part of the time. DCTCP reduces less: for it a seventh is enough (section 3.4). */
#define ECN_MIN 0.5

static void warn_ecn(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct topology_conf *topology = &scenario->topology;
	const struct ecn_conf *ecn = &topology->switches.ecn;
	const struct queue_size *queue =
		ecn->form == ECN_STEP ? &ecn->step.threshold : &ecn->ramp.kmin;
	uint32_t frame = (uint32_t)scenario->tcp.mss + TCP_OVERHEAD;
	double rate = (double)topology_host_rate(topology), threshold, product, usual;

	if (ecn->form == ECN_SWITCH || !heeds_marks(scenario) ||
	    !conf_given(doc, "/topology/switch/ecn"))
		return;
	threshold = (double)queue->amount * (queue->packets ? frame : 1);
	product = seconds_of(ideal_round_trip(topology, frame, TCP_MIN_FRAME)) * rate / 8;
	usual = ECN_BYTES_AT_10G * rate / 1e10;
	if (threshold < ECN_MIN * product)
		conf_warn(
			doc, "/topology/switch/ecn",
			"marks from %g bytes on, far below the bandwidth-delay product of an idle "
			"path through the top of the network, %g bytes (%g s at %g Gbps): links "
			"run empty when windows are cut",
			threshold, product, 8 * product / rate, rate / 1e9);
	else if ((queue->packets && threshold * ECN_FAR < usual) || threshold > usual * ECN_FAR)
		conf_warn(doc, "/topology/switch/ecn",
			  "marks from %g bytes on; 85 full frames at 10 Gbps are, in proportion, "
			  "%g bytes at the %g Gbps of a host's link",
			  threshold, usual, rate / 1e9);
}

/* Queues of switches that drop before they mark. With PAUSE a queue may hold more than one port's
 * memory. */
static void warn_no_marks(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct topology_conf *topology = &scenario->topology;
	struct queue_size first =
		topology_first_mark(&topology->switches.ecn, topology_host_rate(topology));
	uint32_t frame = (uint32_t)scenario->tcp.mss + TCP_OVERHEAD;
	bytes buffer = topology_buffer(topology, false);

	if (first.amount == UINT64_MAX || topology_pause(topology, false).on ||
	    !scenario_heeds_marks(scenario))
		return;
	if (first.amount >= buffer / (first.packets ? frame : 1))
		conf_warn(doc, "/topology/switch/ecn",
			  "no queue marks packets: marks begin at %" PRIu64 "%s, and ports drop "
			  "what their buffers of %" PRIu64 " bytes do not hold",
			  first.amount, first.packets ? " packets" : " bytes", buffer);
}

/* After a loss RoCE that goes back N retransmits everything from the lost packet on. A user who
 * writes "pause": false knows this, and gets no warning of it. */
static void warn_roce(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct topology_conf *topology = &scenario->topology;

	if (scenario_uses_roce(scenario, false) && !topology_pause(topology, false).on &&
	    scenario->roce.recovery == ROCE_GO_BACK_N && !conf_given(doc, "/topology/switch/pause"))
		conf_warn(doc, "/roce",
			  "switches without \"pause\" drop what their buffers of %" PRIu64
			  " bytes a port do not hold, and after a loss RoCE sends everything again "
			  "from the lost packet on; if that is intended, write \"pause\": false",
			  topology_buffer(topology, false));
	if (scenario_uses_roce(scenario, false) && topology->host.nic == NIC_FIFO &&
	    !scenario->roce.window && scenario->roce.recovery == ROCE_GO_BACK_N)
		conf_warn(doc, "/topology/host/nic",
			  "a \"fifo\" NIC accepts at once all that a source may send, and RoCE "
			  "without \"window\" may send whole messages: they queue in the NIC, "
			  "where pacing has no effect");
	if (scenario_uses_roce(scenario, false))
		roce_warn(&scenario->roce, topology, scenario->roce.window, doc, "/roce");
	if (scenario_uses_roce(scenario, true) &&
	    topology_first_mark(&topology->switches.ecn, topology_host_rate(topology)).amount ==
		    UINT64_MAX)
		conf_warn(doc, "/topology/switch/ecn",
			  "no queue marks packets, and DCQCN slows down for marks only: it always "
			  "sends at the rate of the link");
}

/* Whether this scheme shares the network with flows or other schemes. */
static bool shares(const struct scenario *scenario, unsigned scheme)
{
	bool others = scenario_has_flows(scenario);

	for (unsigned s = 0; scheme_ops(s); s++)
		others |= s != scheme && scenario_uses(scenario, s);
	return others;
}

/* A threshold in packets counts small packets of a scheme as much as full frames, so marks begin at
 * fewer bytes. */
static void warn_marks(const struct scenario *scenario, struct conf_doc *doc)
{
	/* no rate, as a threshold in packets does not depend on it */
	struct queue_size first = topology_first_mark(&scenario->topology.switches.ecn, 0);
	uint32_t full = (uint32_t)scenario->tcp.mss + TCP_OVERHEAD;

	for (unsigned s = 0; scheme_ops(s) && first.packets; s++) {
		const struct collective_ops *ops = scheme_ops(s);
		uint32_t frame = ops->frame ? ops->frame(scenario->schemes[s]) : full;

		if (!scenario_uses(scenario, s) || frame > full / 2 || !shares(scenario, s))
			continue;
		conf_warn(doc, "/topology/switch/ecn",
			  "a threshold in packets counts those of %s, %" PRIu32
			  " bytes, as much as frames of %" PRIu32
			  " bytes that share their queues. Real switches count bytes: %" PRIu64
			  " frames are \"%" PRIu64 "B\"",
			  ops->name, frame, full, first.amount, first.amount * full);
	}
}

/* --- load --- */

/* Bytes on the wire for each byte of payload in full segments. */
static double wire_factor(const struct scenario *scenario)
{
	double mss = (double)scenario->tcp.mss;

	return (mss + TCP_OVERHEAD + (scenario->topology.wire_overhead ? PREAMBLE_AND_GAP : 0)) /
	       mss;
}

static const char *flows_at(const struct scenario *scenario, const struct flow_group_conf *group,
			    struct conf_doc *doc, const char *key)
{
	return conf_at(doc, "/flows/%zu/%s", (size_t)(group - scenario_flows(scenario)), key);
}

/* The JSON pointer of the first group with Poisson arrivals: of flows, else of jobs. */
static const char *place_of_load(const struct scenario *scenario, struct conf_doc *doc)
{
	for_enabled_flows(group, scenario)
		if (group->arrival.form == ARRIVE_POISSON)
			return flows_at(scenario, group, doc, "arrival");
	for_enabled_jobs(group, scenario)
		if (job_group_poisson(group))
			return conf_at(doc, "/jobs/%zu/arrival", group->origin);
	return "";
}

static void warn_host_load(const struct scenario *scenario, struct conf_doc *doc)
{
	struct offered offered = scenario_offered(scenario);
	double payload = offered.flows + offered.jobs_own, wire = payload * wire_factor(scenario);

	if (wire <= 1)
		return;
	conf_warn(doc, place_of_load(scenario, doc),
		  "the offered load of %.4g (payload of all flows and jobs over hosts x link rate) "
		  "takes %.4g of what hosts can send, headers included: queues grow for as long as "
		  "it lasts",
		  payload, wire);
}

/* Flows choose their ends uniformly, so the same share of traffic leaves every rack. */
static void warn_fabric_load(const struct scenario *scenario, struct conf_doc *doc)
{
	struct offered_fabric fabric = scenario_offered_fabric(scenario);
	double wire = fabric.load * wire_factor(scenario);

	if (wire <= 1)
		return;
	conf_warn(doc, place_of_load(scenario, doc),
		  "flows offer %.4g times what the links between racks can carry, headers "
		  "included: %.4g of the traffic leaves its rack, whose up-links have %.4g of the "
		  "rate of its hosts",
		  wire, fabric.leaving, fabric.capacity);
}

static void warn_incast(const struct scenario *scenario, struct conf_doc *doc)
{
	for_enabled_flows(group, scenario) {
		double wire = group->arrival.load * topology_hosts(&scenario->topology) *
			      wire_factor(scenario);

		if (group->arrival.form == ARRIVE_POISSON && group->pairs.form == PAIRS_NAMED &&
		    group->pairs.kind == PAIRS_INCAST && wire > 1)
			conf_warn(doc, flows_at(scenario, group, doc, "arrival/poisson_load"),
				  "%g of hosts x link rate is %.4g times what the link of the one "
				  "receiver can carry, headers included",
				  group->arrival.load, wire);
	}
}

/* --- rates --- */

/* A host's link that is so many times as fast as all up-links of its switch is a mistake. */
#define UPLINKS_BELOW 100

static void warn_of_uplinks(struct conf_doc *doc, const char *at, const char *host, bps rate,
			    bps uplinks)
{
	conf_warn(doc, at,
		  "the link of host %s has %.4g Gbps, but all links from its switch to others "
		  "together have %.4g Gbps, 1/%.4g of it (1/%d or less is probably a mistake)",
		  host, (double)rate / 1e9, (double)uplinks / 1e9, (double)rate / (double)uplinks,
		  UPLINKS_BELOW);
}

static void warn_graph_rates(const struct graph *graph, struct conf_doc *doc)
{
	bps *uplinks = xcalloc(graph->hosts + graph->switches, sizeof(*uplinks));

	for (uint32_t l = 0; l < graph->link_count; l++) {
		const struct graph_link *link = &graph->links[l];

		if (link->a < graph->hosts)
			continue;
		uplinks[link->a] += link->link.rate;
		uplinks[link->b] += link->link.rate;
	}
	for (uint32_t l = 0; l < graph->link_count; l++) {
		const struct graph_link *link = &graph->links[l];
		bps above = uplinks[link->b];

		if (link->a >= graph->hosts || !above || link->link.rate / above < UPLINKS_BELOW)
			continue;
		warn_of_uplinks(doc, "/topology/graph", graph->names[link->a], link->link.rate,
				above);
		break;
	}
	free(uplinks);
}

/* Warns if a host's link is far faster than all up-links of its switch together; usually a unit is
 * wrong. Outside graphs only "uplink" is checked: who writes "oversubscription" means it. */
static void warn_rates(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct topology_conf *topology = &scenario->topology;
	struct topology_shape shape;
	bps rate = topology->link.rate, uplinks;

	if (topology->graph) {
		warn_graph_rates(topology->graph, doc);
		return;
	}
	if (!topology->uplink_given)
		return;
	topology_shape(topology, &shape);
	/* up-links of the first rack's switch; all racks are alike */
	uplinks = (shape.ports[0] - topology_rack(topology)) * topology_uplink_rate(topology);
	if (uplinks && rate / uplinks >= UPLINKS_BELOW)
		warn_of_uplinks(doc, "/topology/uplink", "h0", rate, uplinks);
	topology_shape_release(&shape);
}

/* --- hosts --- */

/* The number of places on hosts that a job of so many workers takes. Servers count if they have
 * hosts of their own. */
static uint32_t slots_of_job(const struct job_group_conf *group, int64_t workers)
{
	return (uint32_t)workers + job_group_own_servers(group, (uint32_t)workers);
}

/* Those of the group's jobs on average. */
static double mean_slots(const struct job_group_conf *group)
{
	struct workers_span span = workers_span(&group->workers);
	double sum = 0;

	for (int64_t n = span.min; n <= span.max; n++)
		sum += slots_of_job(group, n);
	return sum / (double)(span.max - span.min + 1);
}

static uint64_t slots_of_cluster(const struct scenario *scenario)
{
	uint32_t machines = machine_count(&scenario->machine, topology_hosts(&scenario->topology)),
		 pool;

	free(cluster_conf_pool(&scenario->cluster, machines, &pool)); /* only its size matters */
	return (uint64_t)(machines - pool) * (uint64_t)scenario->machine.slots;
}

/* Warns if jobs that arrive at the same time do not all find hosts. The time is that of the first
 * group whose arrival is fixed. */
static void warn_hosts(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct job_group_conf *first = NULL;
	uint64_t slots = slots_of_cluster(scenario), needed = 0, jobs = 0, at_once = 0;

	for_enabled_jobs(group, scenario) {
		uint64_t count = group->count ? (uint64_t)group->count : 1;

		if (group->arrival.form != JOBS_AT || group->arrival.spread ||
		    (first && first->arrival.at != group->arrival.at))
			continue;
		first = first ? first : group;
		jobs += count;
		for (uint64_t j = 0; j < count; j++) {
			needed += slots_of_job(group, workers_span(&group->workers).min);
			at_once += needed <= slots; /* first come, first served */
		}
	}
	if (needed > slots)
		conf_warn(doc, conf_at(doc, "/jobs/%zu", first->origin),
			  "the %" PRIu64 " jobs that arrive at %g s need %" PRIu64
			  " places on hosts, servers included, and there are %" PRIu64 ": %" PRIu64
			  " run at once, the others wait",
			  jobs, seconds_of(first->arrival.at), needed, slots, at_once);
}

/* Warns if the computing of Poisson jobs alone would keep more places busy than there are. */
static void warn_pace(const struct scenario *scenario, struct conf_doc *doc)
{
	uint64_t slots = slots_of_cluster(scenario);
	uint32_t hosts = topology_hosts(&scenario->topology);
	double busy = 0;
	const char *where = NULL;

	for_enabled_jobs(group, scenario) {
		double gap_s =
			job_group_gap_s(group, hosts, topology_host_rate(&scenario->topology));

		if (gap_s <= 0)
			continue;
		busy += mean_slots(group) * (double)group->iterations * job_group_compute_s(group) /
			gap_s;
		if (!where)
			where = conf_at(doc, "/jobs/%zu/arrival", group->origin);
	}
	if (busy > (double)slots)
		conf_warn(doc, where,
			  "jobs arrive faster than they can finish: computing alone would keep "
			  "%.4g places on hosts busy on average, and there are %" PRIu64
			  ", so the queue of jobs grows as long as jobs arrive",
			  busy, slots);
}

/* --- schemes --- */

/* Lets each group's scheme warn of the largest job, unless only a trace has its size. */
static void warn_schemes(const struct scenario *scenario, struct conf_doc *doc)
{
	for_enabled_jobs(group, scenario) {
		unsigned scheme = job_group_reduces(group);
		const struct collective_ops *ops = scheme_ops(scheme);
		uint32_t workers = max_adding(group);
		uint32_t servers = job_group_servers(group, workers);

		/* groups of ranks have their servers on hosts of their own, and are not looked at
		 */
		if (workers >= 2 && ops->warn && (servers || !ops->servers))
			ops->warn(scenario->schemes[scheme], &scenario->topology, workers, servers,
				  doc, conf_at(doc, "/jobs/%zu/all_reduce", group->origin));
	}
}

static bool several_jobs(const struct scenario *scenario)
{
	size_t jobs = 0;

	for_enabled_jobs(group, scenario)
		if (group->count == 1 || (!group->count && group->arrival.form == JOBS_AT))
			jobs++;
		else
			jobs += 2; /* two or more */
	return jobs > 1;
}

/* Whether all workers of a job act at the same instants, because nothing has jitter. */
static bool in_step(const struct scenario *scenario, const struct job_group_conf *group)
{
	return !scenario->topology.host.jitter && !topology_nic_jitter(&scenario->topology) &&
	       group->compute_jitter <= 0 && !group->start_jitter && !group->send_jitter;
}

/* In lock-step the same packet always comes first. This decides a job's share of a queue with
 * flows, if its window heeds marks, and of aggregators that several jobs share. */
static void warn_lock_step(const struct scenario *scenario, struct conf_doc *doc)
{
	for_enabled_jobs(group, scenario) {
		const struct collective_ops *ops = scheme_ops(job_group_reduces(group));
		uint32_t workers = max_adding(group);

		if (workers < 2 || !in_step(scenario, group) ||
		    !((ops->traits.heeds_marks && scenario_has_flows(scenario)) ||
		      (ops->traits.first_come && several_jobs(scenario))))
			continue;
		conf_warn(doc, conf_at(doc, "/jobs/%zu/all_reduce", group->origin),
			  "all %" PRIu32
			  " workers hand their gradients over in the same picosecond (no jitter of "
			  "hosts, of computing, or of starts): the job's share of queues and "
			  "aggregators beside others then depends on whose packet comes first, and "
			  "that is "
			  "always the same one",
			  workers);
	}
}

/* --- keys and columns --- */

/* If a key is idle and the user gave it, warns that it has no effect. */
static void idle_key(struct conf_doc *doc, const char *pointer, bool idle, const char *why)
{
	if (idle && conf_given(doc, pointer))
		conf_warn(doc, pointer, "has no effect: %s", why);
}

/* Warns of parameters that have no effect although jobs use their scheme. */
static void warn_parameters(const struct scenario *scenario, struct conf_doc *doc)
{
	for (unsigned s = 0; scheme_ops(s); s++) {
		const struct collective_ops *ops = scheme_ops(s);
		struct collective_idle list[COLLECTIVE_IDLE_MAX];
		size_t count = ops->idle && scenario_has_scheme(scenario, s)
				       ? ops->idle(scenario->schemes[s], list)
				       : 0;

		for (size_t i = 0; i < count; i++)
			idle_key(doc, conf_at(doc, "/schemes/%s/%s", ops->name, list[i].key), true,
				 list[i].why);
	}
}

static const char nothing_fails[] = "nothing fails (\"failures\")";

static bool by_number(const struct job_group_conf *group)
{
	return group->iterations_form == ITERATIONS_NUMBER;
}

static bool own_times(const struct job_group_conf *group)
{
	return !group->models->of_gpu;
}

/* Whether all parts of group `i`, for the models and schemes of a trace, are so. */
static bool all_parts(const struct scenario *scenario, size_t i,
		      bool (*so)(const struct job_group_conf *))
{
	for (size_t j = 0; j < scenario->jobs.count; j++)
		if (scenario_jobs(scenario)[j].origin == i && !so(&scenario_jobs(scenario)[j]))
			return false;
	return true;
}

static bool sends_no_tokens(const struct job_group_conf *group)
{
	for (size_t g = 0; group->program && g < group->program->group_count; g++)
		if (group->program->groups[g].op == OP_ALL_TO_ALL)
			return false;
	return !group->experts;
}

static void warn_group_keys(const struct scenario *scenario, size_t i, struct conf_doc *doc)
{
	const struct job_group_conf *group = &scenario_jobs(scenario)[i];
	static const char no_experts[] = "no rank sends tokens to experts";
	const struct {
		const char *key;
		bool idle;
		const char *why;
	} keys[] = {
		{ "inside", machine_gpus(&scenario->machine) == 1, "machines have one GPU" },
		{ "inside_chunk",
		  (machine_gpus(&scenario->machine) == 1 && !group->launch && !group->conversion) ||
			  group->inside == INSIDE_RING,
		  "there are no stages" },
		{ "gpu", all_parts(scenario, i, own_times), "the layers say how long they take" },
		{ "placement", group->workers.form == WORKERS_HOSTS, "\"workers\" lists hosts" },
		{ "send_jitter_per", !group->send_jitter, "there is no \"send_jitter\"" },
		{ "stragglers/slowdown", !group->stragglers.workers, "no worker is slow" },
		{ "servers", group->pipeline.stages > 1,
		  "stages have theirs on hosts of their workers" },
		{ "servers", !scheme_ops(job_group_reduces(group))->servers,
		  "the scheme of \"reduce_scatter\" has none" },
		{ "pipeline/activations", group->pipeline.stages == 1, "there is one stage" },
		{ "all_to_all", all_parts(scenario, i, sends_no_tokens), no_experts },
		{ "tokens", all_parts(scenario, i, sends_no_tokens), no_experts },
		{ "prefetch", group->sharding != SHARDING_FULL, "parameters are not sharded" },
		{ "max_steps",
		  all_parts(scenario, i, by_number) && group->max_steps >= group->iterations,
		  "no job has more iterations" },
		{ "fallback", !scenario->failures.events.count, nothing_fails },
		{ "restart_delay", !scenario->failures.events.count, nothing_fails },
	};

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
		idle_key(doc, conf_at(doc, "/jobs/%zu/%s", i, keys[k].key), keys[k].idle,
			 keys[k].why);
}

static bool scheme_given(struct conf_doc *doc, unsigned scheme)
{
	return conf_given(doc, conf_at(doc, "/schemes/%s", scheme_names[scheme]));
}

/* Warns of parameters of schemes that no job has. There is no warning if a scheme in use has
 * parameters, too: then the others are probably kept for a comparison. */
static void warn_scheme_keys(const struct scenario *scenario, struct conf_doc *doc)
{
	for (unsigned s = 0; scheme_ops(s); s++)
		if (scenario_has_scheme(scenario, s) && scheme_given(doc, s))
			return;
	for (unsigned s = 0; scheme_ops(s); s++)
		idle_key(doc, conf_at(doc, "/schemes/%s", scheme_names[s]), true,
			 "no job has this scheme");
}

/* Warns of parameters of TCP and RoCE if nothing has them. Schemes have connections of their own,
 * or of a ring that they fall back to, for which they give `ack_every`; NetReduce has another RoCE.
 */
static void warn_transports(const struct scenario *scenario, struct conf_doc *doc)
{
	static const char by_schemes[] = "schemes have their own \"ack_every\"";
	bool tcp = false, roce = false, tcp_acks, roce_acks;
	bool netreduce = scenario_has_scheme(scenario, SCHEME_netreduce);

	for (size_t i = 0; i < scenario->flows.count; i++)
		if (flows_over_roce(&scenario_flows(scenario)[i]))
			roce = true;
		else
			tcp = true;
	tcp_acks = tcp;
	roce_acks = roce;
	for (unsigned s = 0; scheme_ops(s); s++) {
		const struct transport *transport = scenario_scheme_transport(scenario, s);

		if (!scenario_has_scheme(scenario, s) && !scheme_given(doc, s))
			continue;
		tcp |= scheme_ops(s)->traits.messages || (transport && !transport->roce);
		tcp_acks |= scheme_ops(s)->traits.messages;
		roce |= transport && transport->roce && s != SCHEME_netreduce;
	}
	idle_key(doc, "/tcp", !tcp, "nothing runs over TCP");
	idle_key(doc, "/tcp/ack_every", tcp && !tcp_acks, by_schemes);
	idle_key(doc, "/roce", !roce,
		 netreduce ? "NetReduce has its own (/schemes/netreduce/roce), and nothing else "
			     "runs over RoCE"
			   : "nothing runs over RoCE");
	idle_key(doc, "/roce/ack_every", roce && !roce_acks, by_schemes);
}

/* Disabled groups count, too: a sweep may enable them. */
static void warn_keys(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct machine_conf *machine = &scenario->machine;
	static const char *const of_gpus[] = { "rate", "wiring", "latency", "shared" };
	static const char *const of_nics[] = { "/topology/host/nics/wiring",
					       "/schemes/ring/channels",
					       "/schemes/double_tree/channels" };

	warn_scheme_keys(scenario, doc);
	warn_parameters(scenario, doc);
	for (size_t i = 0; i < scenario->jobs.count; i++)
		if (scenario_jobs(scenario)[i].origin == i)
			warn_group_keys(scenario, i, doc);
	idle_key(doc, "/failures/reroute_delay", !scenario->failures.events.count, nothing_fails);
	idle_key(doc, "/failures/controller_delay", !scenario->failures.events.count,
		 nothing_fails);
	for (size_t i = 0; i < sizeof(of_gpus) / sizeof(of_gpus[0]); i++)
		idle_key(doc, conf_at(doc, "/topology/host/gpus/%s", of_gpus[i]),
			 machine->gpus.count < 2, "machines have one GPU");
	for (size_t i = 0; i < sizeof(of_nics) / sizeof(of_nics[0]); i++)
		idle_key(doc, of_nics[i], machine->nics.count < 2, "machines have one NIC");
	warn_transports(scenario, doc);
}

/* Warns of columns of a trace that have no effect: those in `unread` (may be NULL) and, with
 * `durations`, duration_s. */
static void warn_columns(struct conf_doc *doc, const char *where, const char *unread,
			 bool durations)
{
	if (unread)
		conf_warn(doc, where, "these columns of the trace have no effect: %s%s", unread,
			  durations ? ", duration_s" : "");
	else if (durations)
		conf_warn(doc, where,
			  "this column of the trace has no effect: duration_s, because "
			  "\"iterations\" is a number, or the model computes nothing");
}

static void warn_traces(const struct scenario *scenario, struct conf_doc *doc)
{
	for (size_t i = 0; i < scenario->jobs.count; i++) {
		const struct job_group_conf *group = &scenario_jobs(scenario)[i];
		const struct job_trace *trace = group->arrival.jobs;

		if (group->origin == i && trace)
			warn_columns(doc, conf_at(doc, "/jobs/%zu/arrival/trace", i), trace->unread,
				     trace->durations && all_parts(scenario, i, by_number));
	}
	for (size_t i = 0; i < scenario->flows.count; i++) {
		const struct flow_trace *trace = scenario_flows(scenario)[i].recorded;

		if (trace)
			warn_columns(doc, conf_at(doc, "/flows/%zu/arrival/trace", i),
				     trace->unread, false);
	}
}

/* --- what runs as something else --- */

static void note_runs_as(const struct scenario *scenario, struct conf_doc *doc)
{
	for_enabled_jobs(group, scenario) {
		unsigned scheme = job_group_reduces(group);
		const struct collective_ops *ops = scheme_ops(scheme);
		const struct job_models *models = group->models;
		char text[COLLECTIVE_ACTUAL_SIZE];

		if (!ops->runs_as || (group->workers.given && max_adding(group) < 2))
			continue;
		for (size_t m = 0; m < models->count; m++) {
			struct collective_actual actual =
				ops->runs_as(scenario->schemes[scheme], &scenario->topology,
					     models->dnns[m]->gradient_total);

			if (actual.scheme || actual.what)
				conf_note(doc, conf_at(doc, "/jobs/%zu/all_reduce", group->origin),
					  "runs as %s: model \"%s\" with %" PRIu64
					  " bytes of gradients (\"%s\" of %s decides)",
					  collective_actual_text(&actual, ops->name, text),
					  models->dnns[m]->name, models->dnns[m]->gradient_total,
					  actual.key, ops->name);
		}
	}
}

/* The text gives no range for the ratio of times: each measurement had another. */
const char *scenario_beside_flows(const struct scenario *scenario)
{
	bool exchange = false;

	for_enabled_jobs(group, scenario)
		exchange |= !group->workers.given || max_workers(group) > 1;
	if (scenario->fidelity != FIDELITY_FLUID || !exchange || !scenario_has_flows(scenario))
		return NULL;
	return "do not rank schemes beside flows by fluid: it does not model how windows compete "
	       "with flows in queues, and packets may take several times as long, or a fraction of "
	       "it (models/fluid/README.md)";
}

static void warn_beside_flows(const struct scenario *scenario, struct conf_doc *doc)
{
	const char *text = scenario_beside_flows(scenario);

	if (text)
		conf_warn(doc, "/fidelity", "%s", text);
}

/* Orders events by what fails; 0: the same thing. */
static int by_what(const struct failure_conf *a, const struct failure_conf *b)
{
	if (a->what.form != b->what.form)
		return a->what.form - b->what.form;
	if (a->aggregation_only != b->aggregation_only)
		return a->aggregation_only - b->aggregation_only;
	if (a->what.form == FAILURE_NAME)
		return strcmp(a->what.name, b->what.name);
	return (a->what.link > b->what.link) - (a->what.link < b->what.link);
}

static int by_what_and_time(const void *x, const void *y)
{
	const struct failure_conf *a = *(const struct failure_conf *const *)x;
	const struct failure_conf *b = *(const struct failure_conf *const *)y;
	int order = by_what(a, b);

	if (!order)
		order = (a->at > b->at) - (a->at < b->at);
	return order ? order : (a > b) - (a < b); /* else their order in the scenario */
}

/* Warns of events that fail something again before its repair. Random failures may overlap and get
 * no warning. "spine0" and "switches" count as different things. */
static void warn_fails_twice(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct conf_list *list = &scenario->failures.events;
	const struct failure_conf *events = list->items;
	const struct failure_conf *last = NULL; /* the earlier event with the latest repair */
	const struct failure_conf **sorted = xcalloc(list->count + 1, sizeof(const void *));
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		if (events[i].at_given)
			sorted[count++] = &events[i];
	qsort(sorted, count, sizeof(const void *), by_what_and_time);
	for (size_t i = 0; i < count; i++) {
		const struct failure_conf *event = sorted[i];
		bool same = last && !by_what(last, event);

		if (same && (!last->repair_after || event->at < last->at + last->repair_after))
			conf_warn(doc,
				  conf_at(doc, "/failures/events/%zu/at", (size_t)(event - events)),
				  "already down since %g s by events/%zu; it is repaired when both "
				  "repairs are done",
				  seconds_of(last->at), (size_t)(last - events));
		if (!same || (last->repair_after &&
			      (!event->repair_after ||
			       event->at + event->repair_after > last->at + last->repair_after)))
			last = event;
	}
	free(sorted);
}

static void warn_empty(const struct scenario *scenario, struct conf_doc *doc)
{
	if (!scenario->jobs.count && !scenario->flows.count)
		conf_warn(doc, "", "nothing is simulated but what a program adds (models/library)");
}

static void warn_failures(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct conf_list *events = &scenario->failures.events;

	for (size_t i = 0; i < events->count; i++) {
		const struct failure_conf *event = &((const struct failure_conf *)events->items)[i];

		if (event->mttr > event->mtbf)
			conf_warn(doc, conf_at(doc, "/failures/events/%zu/mttr", i),
				  "is longer than \"mtbf\": what fails is down for %.4g %% of the "
				  "time",
				  100 * (double)event->mttr /
					  ((double)event->mtbf + (double)event->mttr));
	}
	warn_fails_twice(scenario, doc);
}

static const struct {
	void (*look)(const struct scenario *scenario, struct conf_doc *doc);
	bool packets_only; /* does not apply to fluid and analytic */
} warnings[] = {
	{ warn_timeout, .packets_only = true },
	{ warn_targets, .packets_only = true },
	{ warn_schemes, .packets_only = true },
	{ warn_ecn, .packets_only = true },
	{ warn_no_marks, .packets_only = true },
	{ warn_roce, .packets_only = true },
	{ warn_marks, .packets_only = true },
	{ warn_lock_step, .packets_only = true },
	{ warn_host_load },
	{ warn_fabric_load },
	{ warn_incast },
	{ warn_hosts },
	{ warn_pace },
	{ warn_keys },
	{ warn_traces },
	{ warn_beside_flows },
	{ warn_empty },
	{ warn_failures },
	{ warn_rates },
	{ note_runs_as },
};

void scenario_warn(const struct scenario *scenario, struct conf_doc *doc)
{
	for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++)
		if (scenario->fidelity == FIDELITY_PACKET || !warnings[i].packets_only)
			warnings[i].look(scenario, doc);
}
