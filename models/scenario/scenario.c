#include "scenario/scenario.h"
#include "fluid/fluid.h"
#include "scenario/topology_conf.h"

static const char *const stop_names[] = {
	[STOP_ALL_DONE] = "all_done",           [STOP_JOBS_DONE] = "jobs_done",
	[STOP_FLOWS_DONE] = "flows_done",       [STOP_TIME] = "time",
	[STOP_MEASURED_DONE] = "measured_done", NULL
};

static const struct conf_row stop_rows[] = {
	CONF_ENUM("when", struct stop_conf, when, "all_done", stop_names,
		  "What ends the run; time: at `after`, whatever is unfinished; measured_done: "
		  "when all flows and jobs of the measured window are done.",
		  "our choice"),
	CONF_TIME(
		"after", struct stop_conf, after, "1h", PS_PER_NS, LONGEST_RUN,
		"Limit in simulated time; reaching it is exit code 4, unless \"when\" is \"time\".",
		"our choice"),
	CONF_TIME("warmup", struct stop_conf, warmup, "0s", 0, LONGEST_RUN,
		  "Flows and jobs that arrive before this time are simulated, but do not enter the "
		  "statistics.",
		  "all count"),
	CONF_TIME("window", struct stop_conf, window, CONF_OPTIONAL, PS_PER_NS, LONGEST_RUN,
		  "Length of the measured window after the warm-up: what arrives later does not "
		  "enter the statistics either. Default: to the end of the run."),
	CONF_REAL("estimate", struct stop_conf, estimate, "0", 0, 0.5,
		  "Ends the run when the iterations of a lone job are steady. The job's end is "
		  "then an estimate, whose 95 % interval is within this share of it (0.01; "
		  "--fast-forward 1%); it may lie behind \"after\". 0: all is simulated.",
		  "our choice: results are simulated unless one asks for less"),
	{ 0 },
};
static const struct conf_table stop_table = { "stop", stop_rows, sizeof(struct stop_conf),
					      "When a run ends." };

static const struct conf_row series_link_forms[] = {
	CONF_INT("link", struct series_links, number, CONF_REQUIRED, 0, 100000000,
		 "One direction of a link, by its link_id in links.csv; host h sends on link h."),
	CONF_STRING("tier", struct series_links, tier, CONF_REQUIRED,
		    "All links of a tier and direction of links.csv: \"host/up\", \"edge/down\"."),
	{ 0 },
};
static const struct conf_table series_link_table = { "series_links", series_link_forms,
						     sizeof(struct series_links), NULL };
static const struct conf_row series_link_item = {
	.type = CONF_ONEOF,
	.table = &series_link_table,
	.tag = offsetof(struct series_links, form),
	.help = "Which links.",
};

static const struct conf_row series_rows[] = {
	CONF_TIME("every", struct scenario, series.every, CONF_OPTIONAL, PS_PER_US,
		  1000000 * PS_PER_S,
		  "Interval of samples in series/network.csv; one more is taken at the end of the "
		  "run."),
	CONF_LIST("links", struct scenario, series.links, "[]", &series_link_item, 0, 10000,
		  "Links whose use and queues are sampled by class of traffic in series/links.csv.",
		  "counting costs time"),
	CONF_BOOL("flows", struct scenario, series.flows, "false",
		  "Sample goodput and fairness of each group of flows in series/flows.csv.",
		  "counting costs time"),
	{ 0 },
};
static const struct conf_table series_table = { "series", series_rows, sizeof(struct scenario),
						NULL };
static const struct conf_row flow_border_item = {
	.type = CONF_BYTES,
	.min = 1,
	.help = "First size of the next class.",
};
static const struct conf_row output_rows[] = {
	CONF_GROUP("series", "{}", &series_table, "Time series."),
	CONF_LIST("flow_classes", struct scenario, flow_borders,
		  "[\"10KB\", \"100KB\", \"1MB\", \"10MB\"]", &flow_border_item, 0, 100,
		  "Where the size classes of flows end, in ascending order; above the last one "
		  "begins one more class (flows.by_size of summary.json).",
		  "our choice; PANAMA section 7 splits at 40 MB"),
	{ 0 },
};
static const struct conf_table output_table = { "output", output_rows, sizeof(struct scenario),
						NULL };

const char *const fidelity_names[] = { [FIDELITY_PACKET] = "packet",
				       [FIDELITY_FLUID] = "fluid",
				       [FIDELITY_ANALYTIC] = "analytic",
				       NULL };

static const struct conf_row fluid_rows[] = {
	CONF_ENUM("solver", struct scenario, fluid.solver, "filling", fluid_solver_names,
		  "Who computes the rates of streams. filling: the program, by progressive "
		  "filling; simgrid: SimGrid, in a process of its own. Rates are the same but for "
		  "rounding.",
		  "our choice: the program is several times as fast"),
	{ 0 },
};
static const struct conf_table fluid_table = { "fluid", fluid_rows, sizeof(struct scenario), NULL };

static const struct conf_row job_item = { .type = CONF_OBJECT,
					  .table = &job_group_table,
					  .help = "Jobs of a kind." };
static const struct conf_row flow_item = { .type = CONF_OBJECT,
					   .table = &flow_group_table,
					   .help = "Flows of a kind." };

static const struct conf_row scenario_rows[] = {
	CONF_STRING("name", struct scenario, name, CONF_REQUIRED, "Name of the scenario."),
	CONF_STRING("about", struct scenario, about, "", "One sentence: what it shows.", "none"),
	CONF_INT("seed", struct scenario, seed, "1", 0, INT64_C(9007199254740991),
		 "Seed of all random streams.", "our choice"),
	CONF_ENUM("fidelity", struct scenario, fidelity, "packet", fidelity_names,
		  "packet: every packet is simulated; fluid: streams share links max-min fairly; "
		  "analytic: each job and flow is computed as if it were alone, as is "
		  "what each NIC of a machine sends.",
		  "our choice"),
	CONF_GROUP("fluid", "{}", &fluid_table, "Settings of the fluid fidelity."),
	CONF_OBJECT("stop", struct scenario, stop, "{}", &stop_table, "When the run ends."),
	CONF_GROUP("topology", CONF_REQUIRED, &topology_table, "The network."),
	CONF_OBJECT("tcp", struct scenario, tcp, "{}", &tcp_table,
		    "TCP of flows, rings, parameter servers and messages of schemes."),
	CONF_OBJECT("roce", struct scenario, roce, "{}", &roce_table,
		    "RoCE of the flows, rings and parameter servers that use it."),
	CONF_OBJECT("schemes", struct scenario, schemes, "{}", &schemes_table,
		    "Parameters of all-reduce schemes."),
	CONF_OBJECT("cluster", struct scenario, cluster, "{}", &cluster_table,
		    "The job controller, and hosts that it reserves for parameter servers."),
	CONF_LIST("jobs", struct scenario, jobs, "[]", &job_item, 0, 0, "Training jobs."),
	CONF_LIST("flows", struct scenario, flows, "[]", &flow_item, 0, 0, "Background flows."),
	CONF_OBJECT("failures", struct scenario, failures, "{}", &failures_table,
		    "Links and switches that fail and are repaired."),
	CONF_GROUP("output", "{}", &output_table, "What is written besides the tables."),
	{ 0 },
};
static const struct conf_other_kind plan = {
	.has = "base",
	.lacks = "topology",
	.message = "this is a sweep plan, not a scenario (it has \"base\" and no \"topology\"); "
		   "its verbs are inasim sweep plan, run, status and collect"
};
const struct conf_table scenario_table = { "scenario", scenario_rows, sizeof(struct scenario),
					   "A scenario of inasim.", &plan };

const struct job_group_conf *scenario_next_jobs(const struct scenario *scenario,
						const struct job_group_conf *group)
{
	const struct job_group_conf *groups = scenario_jobs(scenario);

	for (size_t i = group ? (size_t)(group - groups) + 1 : 0; i < scenario->jobs.count; i++)
		if (groups[i].enabled)
			return &groups[i];
	return NULL;
}

const struct flow_group_conf *scenario_next_flows(const struct scenario *scenario,
						  const struct flow_group_conf *group)
{
	const struct flow_group_conf *groups = scenario_flows(scenario);

	for (size_t i = group ? (size_t)(group - groups) + 1 : 0; i < scenario->flows.count; i++)
		if (groups[i].enabled)
			return &groups[i];
	return NULL;
}

bool scenario_has_scheme(const struct scenario *scenario, unsigned scheme)
{
	for (size_t i = 0; i < scenario->jobs.count; i++)
		if (job_group_uses(&scenario_jobs(scenario)[i], scheme))
			return true;
	return false;
}

bool scenario_uses(const struct scenario *scenario, unsigned scheme)
{
	for_enabled_jobs(group, scenario)
		if (job_group_uses(group, scheme))
			return true;
	return false;
}

const struct transport *scenario_scheme_transport(const struct scenario *scenario, unsigned scheme)
{
	const struct collective_ops *ops = scheme_ops(scheme);

	return ops->transport ? ops->transport(scenario->schemes[scheme]) : NULL;
}

bool scenario_uses_transport(const struct scenario *scenario, const struct transport *transport)
{
	for (unsigned s = 0; scheme_ops(s); s++)
		if (scenario_scheme_transport(scenario, s) == transport &&
		    scenario_uses(scenario, s))
			return true;
	for_enabled_flows(group, scenario)
		if (transport_kind((unsigned)group->transport) == transport)
			return true;
	return false;
}

bool scenario_uses_roce(const struct scenario *scenario, bool marks)
{
	const struct transport *transport;

	for (unsigned i = 0; (transport = transport_kind(i)); i++)
		if (transport->roce && (!marks || transport->cc->ecn) &&
		    scenario_uses_transport(scenario, transport))
			return true;
	return false;
}

bool scenario_heeds_marks(const struct scenario *scenario)
{
	const struct transport *transport;

	for (unsigned s = 0; scheme_ops(s); s++)
		if (scheme_ops(s)->traits.heeds_marks && scenario_uses(scenario, s))
			return true;
	for (unsigned i = 0; (transport = transport_kind(i)); i++)
		if (transport->cc->ecn && scenario_uses_transport(scenario, transport))
			return true;
	return false;
}

struct measured_window scenario_window(const struct scenario *scenario)
{
	const struct stop_conf *stop = &scenario->stop;

	return (struct measured_window){ .from = stop->warmup,
					 .to = stop->window ? stop->warmup + stop->window
							    : SIM_TIME_MAX };
}

bool scenario_has_jobs(const struct scenario *scenario)
{
	return scenario_next_jobs(scenario, NULL);
}

bool scenario_has_flows(const struct scenario *scenario)
{
	return scenario_next_flows(scenario, NULL);
}

struct conf_doc *scenario_load(const char *path, struct scenario *scenario,
			       const struct conf_override *overrides, size_t count)
{
	struct conf_doc *doc = conf_load(path, &scenario_table, scenario, overrides, count);

	if (!conf_errors(doc))
		scenario_check(scenario, doc);
	return doc;
}

struct conf_doc *scenario_parse_set(const char *name, const char *text, size_t length,
				    struct scenario *scenario,
				    const struct conf_override *overrides, size_t count)
{
	struct conf_doc *doc =
		conf_parse(name, text, length, &scenario_table, scenario, overrides, count);

	if (!conf_errors(doc))
		scenario_check(scenario, doc);
	return doc;
}
