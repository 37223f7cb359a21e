/* The verb explain: every value of a scenario with its origin, and what follows from them. */
#include "cli/cli.h"

#include "base/plain.h"
#include "base/units.h"
#include "scenario/scenario.h"
#include "transport/tcp.h"
#include "workload/flows/flows.h"

#include <inttypes.h>
#include <string.h>

static void explain_load(const struct scenario *scenario)
{
	struct offered offered = scenario_offered(scenario);
	struct offered_fabric fabric = scenario_offered_fabric(scenario);

	if (offered.flows > 0)
		printf("offered load of flows: %.4g (payload over hosts x link rate)\n",
		       offered.flows);
	if (fabric.load > 0)
		printf("offered load of flows on the links between racks: %.4g (%.4g of the "
		       "traffic leaves its rack; up-links have %.4g of the rate of the hosts)\n",
		       fabric.load, fabric.leaving, fabric.capacity);
	if (offered.jobs_ring > 0)
		printf("offered load of jobs: %.4g by ring, %.4g by their own schemes\n",
		       offered.jobs_ring, offered.jobs_own);
}

/* --- paths --- */

/* What travels between the two farthest hosts, and back. */
struct trip {
	uint32_t frame, answer; /* bytes */
	bool aggregated; /* a contribution goes up to the root of the tree, its sum comes down */
};

/* The trip of a full frame and its ACK over a connection. */
static struct trip trip_over(const struct scenario *scenario, const struct transport *transport)
{
	bool roce = transport && transport->roce;

	return (struct trip){ .frame = roce ? (uint32_t)(scenario->roce.mtu + scenario->roce.header)
					    : (uint32_t)scenario->tcp.mss + TCP_OVERHEAD,
			      .answer = roce ? (uint32_t)scenario->roce.header : TCP_MIN_FRAME };
}

/* Prints links, idle round trip and bandwidth-delay product. A frame and its ACK pass the longest
 * path twice. A contribution goes up to the root and its sum comes down, so they pass it once and
 * take half of ideal_round_trip(). */
static void explain_trip(const struct topology_conf *conf, struct trip trip)
{
	unsigned links = topology_longest(conf) + 1; /* one more than switches on the path */
	unsigned times = trip.aggregated ? 1 : 2;
	sim_time time = ideal_round_trip(conf, trip.frame, trip.answer) * times / 2;
	char delay[64];

	unit_format(UNIT_TIME, conf->host.latency, delay, sizeof(delay));
	if (trip.aggregated)
		printf("a packet of %" PRIu32 " bytes to the root and its sum to the workers",
		       trip.frame);
	else
		printf("a frame of %" PRIu32 " bytes and its ACK of %" PRIu32, trip.frame,
		       trip.answer);
	printf(": %u links, %u switches, host latency (%s) %s; %.6g us on an idle network; "
	       "bandwidth-delay product %.0f bytes\n",
	       times * links, times * (links - 1), delay, times == 1 ? "once" : "twice",
	       1e6 * seconds_of(time), seconds_of(time) * (double)topology_host_rate(conf) / 8);
}

/* Prints the longest path that the packets of each group can take under any placement. */
static void explain_paths(const struct scenario *scenario)
{
	for_enabled_jobs(group, scenario) {
		unsigned scheme = job_group_reduces(group);
		const struct collective_ops *ops = scheme_ops(scheme);
		struct trip trip = trip_over(scenario, scenario_scheme_transport(scenario, scheme));

		if (ops->frame)
			trip = (struct trip){ ops->frame(scenario->schemes[scheme]),
					      ops->frame(scenario->schemes[scheme]), true };
		plain_print(stdout, "longest path of job \"%s\" (%s): ", group->name, ops->name);
		explain_trip(&scenario->topology, trip);
	}
	for_enabled_flows(group, scenario) {
		const struct transport *transport = transport_kind((unsigned)group->transport);

		plain_print(stdout, "longest path of flows \"%s\" (%s): ", group->name,
			    transport_names[group->transport]);
		explain_trip(&scenario->topology, trip_over(scenario, transport));
	}
}

/* Prints how many switches of each tier add gradients up, unless all do. */
static void explain_aggregation(const struct topology_conf *conf)
{
	uint32_t all[64] = { 0 }, add[64] = { 0 }; /* by tier; a graph has tiers 1 to 63 at most */
	struct topology topo;
	struct sim sim;

	if (topology_all_aggregate(conf))
		return;
	sim_init(&sim, 1);
	topology_build(&topo, conf, &sim);
	for (uint32_t sw = 0; sw < topo.net.switches; sw++) {
		all[topo.net.switch_nodes[sw].tier]++;
		add[topo.net.switch_nodes[sw].tier] += topology_aggregates(&topo, sw);
	}
	printf("switches that add gradients up:");
	for (unsigned tier = 1; tier <= topology_tiers(conf); tier++)
		printf("%s %s %" PRIu32 " of %" PRIu32, tier > 1 ? "," : "",
		       topo.ops->tier_names[tier], add[tier], all[tier]);
	puts("; after a run, `ran_as` says how many of them a job used");
	topology_release(&topo);
	sim_release(&sim);
}

/* --- PAUSE --- */

static void explain_pause(const struct topology_conf *conf, bool fabric)
{
	struct pause_params pause = topology_pause(conf, fabric);
	struct link_conf link = topology_link_conf(conf, fabric);

	printf("PAUSE, links %s: a port with %" PRIu64 " bytes stops its neighbour at ",
	       fabric ? "between switches" : "of hosts", pause.memory);
	if (pause.alpha)
		printf("%g x the free shared memory and lets it resume %" PRIu64 " below that",
		       (double)pause.alpha / (double)ALPHA_ONE, pause.hysteresis);
	else
		printf("%" PRIu64 " and lets it resume at %" PRIu64, pause.xoff, pause.xon);
	printf("; above that it has room for a frame of %" PRIu32 " and headroom of %" PRIu64
	       " (needed: %" PRIu64 ")\n",
	       pause.mtu, pause.headroom,
	       topology_headroom_of(conf, &link, &conf->switches, &pause));
}

static void explain_pauses(const struct topology_conf *conf)
{
	if (!topology_pause(conf, false).on)
		return;
	explain_pause(conf, false);
	if (topology_tiers(conf) > 1)
		explain_pause(conf, true);
}

/* --- schemes --- */

/* Whether a group of jobs, enabled or not, uses the scheme or may fall back to it. */
static bool may_run(const struct scenario *scenario, unsigned scheme)
{
	for (size_t i = 0; i < scenario->jobs.count; i++) {
		unsigned own = job_group_reduces(&scenario_jobs(scenario)[i]);
		const struct collective_ops *ops = scheme_ops(own);
		const char *other = NULL;

		if (ops->runs_as)
			other = ops->runs_as(scenario->schemes[own], &scenario->topology, 0).scheme;
		if (job_group_uses(&scenario_jobs(scenario)[i], scheme) ||
		    (other && !strcmp(other, scheme_names[scheme])))
			return true;
	}
	return false;
}

/* Leaves out schemes that no job may run and the scenario does not set: their defaults would bury
 * the rest. */
static void leave_out_schemes(const struct scenario *scenario, struct conf_doc *doc)
{
	for (unsigned s = 0; s < SCHEME_COUNT; s++) {
		const char *pointer = conf_at(doc, "/schemes/%s", scheme_names[s]);

		if (!may_run(scenario, s) && !conf_given(doc, pointer))
			conf_leave_out(doc, pointer);
	}
}

int verb_explain(const struct cli *cli)
{
	struct scenario scenario;
	struct conf_doc *doc = load_scenario(cli, cli->argv[0], &scenario);
	int code = exit_code_of(doc);

	conf_print_errors(doc, stderr, false);
	if (code == EXIT_DONE) {
		leave_out_schemes(&scenario, doc);
		conf_explain(doc, stdout, cli->json);
		if (!cli->json) {
			explain_paths(&scenario);
			explain_aggregation(&scenario.topology);
			explain_pauses(&scenario.topology);
			explain_load(&scenario);
		}
	}
	conf_doc_free(doc);
	return code;
}
