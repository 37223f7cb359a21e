#include "run/scenario.h"
#include "run/topology_conf.h"

#include <string.h>

static const char *const stop_names[] = {
	[STOP_ALL_DONE] = "all_done",           [STOP_JOBS_DONE] = "jobs_done",
	[STOP_FLOWS_DONE] = "flows_done",       [STOP_TIME] = "time",
	[STOP_MEASURED_DONE] = "measured_done", NULL
};

static const struct conf_row stop_rows[] = {
	{ .name = "when",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct stop_conf, when),
	  .choices = stop_names,
	  .def = "\"all_done\"",
	  .help = "What ends the run; time: at `after`, whatever is unfinished; measured_done: "
		  "when all flows and jobs of the measured window are.",
	  .source = "our choice" },
	{ .name = "after",
	  .type = CONF_TIME,
	  .offset = offsetof(struct stop_conf, after),
	  .min = PS_PER_NS,
	  .max = LONGEST_RUN,
	  .def = "\"1h\"",
	  .help = "Limit in simulated time; unless when is time, reaching it is exit code 4.",
	  .source = "our choice" },
	{ .name = "warmup",
	  .type = CONF_TIME,
	  .offset = offsetof(struct stop_conf, warmup),
	  .max = LONGEST_RUN,
	  .def = "\"0s\"",
	  .help = "Flows that start and jobs that arrive before this run, but do not enter the "
		  "statistics.",
	  .source = "all count" },
	{ .name = "window",
	  .type = CONF_TIME,
	  .offset = offsetof(struct stop_conf, window),
	  .min = PS_PER_NS,
	  .max = LONGEST_RUN,
	  .def = CONF_OPTIONAL,
	  .help = "Length of the measured window behind the warm-up: what starts or arrives later "
		  "does not enter the statistics either. When missing, it goes on to the end." },
	{ 0 },
};
static const struct conf_table stop_table = { "stop", stop_rows, sizeof(struct stop_conf),
					      "When a run ends." };

static const struct conf_row series_link_forms[] = {
	{ .name = "link",
	  .type = CONF_INT,
	  .offset = offsetof(struct series_links, number),
	  .imin = 0,
	  .imax = 100000000,
	  .help = "One direction of a link, by its link_id in links.csv; host h sends on link h." },
	{ .name = "tier",
	  .type = CONF_STRING,
	  .offset = offsetof(struct series_links, tier),
	  .help = "All of a tier and direction of links.csv: \"host/up\", \"edge/down\"." },
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
	{ .name = "every",
	  .type = CONF_TIME,
	  .offset = offsetof(struct scenario, series.every),
	  .min = PS_PER_US,
	  .max = 1000000 * PS_PER_S,
	  .def = CONF_OPTIONAL,
	  .help = "Interval of the samples in series/network.csv; there is one at the end of "
		  "the run, too." },
	{ .name = "links",
	  .type = CONF_LIST,
	  .offset = offsetof(struct scenario, series.links),
	  .max = 10000,
	  .item = &series_link_item,
	  .def = "[]",
	  .help = "Links whose use and queues are sampled by class of traffic in "
		  "series/links.csv.",
	  .source = "counting costs time" },
	{ .name = "flows",
	  .type = CONF_BOOL,
	  .offset = offsetof(struct scenario, series.flows),
	  .def = "false",
	  .help = "Sample goodput and fairness of each group of flows in series/flows.csv.",
	  .source = "counting costs time" },
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
	{ .name = "series",
	  .type = CONF_OBJECT,
	  .offset = 0,
	  .table = &series_table,
	  .def = "{}",
	  .help = "Time series." },
	{ .name = "flow_classes",
	  .type = CONF_LIST,
	  .offset = offsetof(struct scenario, flow_borders),
	  .max = 100,
	  .item = &flow_border_item,
	  .def = "[\"10KB\", \"100KB\", \"1MB\", \"10MB\"]",
	  .help = "Where the size classes of flows end, in ascending order: flows.by_size of "
		  "summary.json has one class more.",
	  .source = "our choice; PANAMA section 7 splits at 40 MB" },
	{ 0 },
};
static const struct conf_table output_table = { "output", output_rows, sizeof(struct scenario),
						NULL };

const char *const fidelity_names[] = { [FIDELITY_PACKET] = "packet",
				       [FIDELITY_FLUID] = "fluid",
				       [FIDELITY_ANALYTIC] = "analytic",
				       NULL };

static const struct conf_row fluid_rows[] = {
	{ .name = "load_below",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct scenario, fluid.load_below),
	  .max = UINT64_C(1) << 50,
	  .def = "\"1MB\"",
	  .help = "Of flows with Poisson arrivals, those smaller than this are expected load that "
		  "links have less for others, and have no completion times; 0B: none.",
	  .source = "our choice: at 10 Gbps 1 MB takes less than a millisecond, too short to "
		    "matter one by one, and SimGrid takes as long for each" },
	{ 0 },
};
static const struct conf_table fluid_table = { "fluid", fluid_rows, sizeof(struct scenario), NULL };

static const struct conf_row job_item = { .type = CONF_OBJECT,
					  .table = &job_group_table,
					  .help = "Jobs of a kind." };
static const struct conf_row flow_item = { .type = CONF_OBJECT,
					   .table = &flow_group_table,
					   .help = "Flows of a kind." };

#define AT(field) .offset = offsetof(struct scenario, field)
static const struct conf_row scenario_rows[] = {
	{ .name = "name",
	  .type = CONF_STRING,
	  AT(name),
	  .def = CONF_REQUIRED,
	  .help = "Name of the scenario." },
	{ .name = "about",
	  .type = CONF_STRING,
	  AT(about),
	  .def = "\"\"",
	  .help = "One sentence: what it shows.",
	  .source = "none" },
	{ .name = "seed",
	  .type = CONF_INT,
	  AT(seed),
	  .imin = 0,
	  .imax = INT64_C(9007199254740991),
	  .def = "1",
	  .help = "Seed of all random streams.",
	  .source = "our choice" },
	{ .name = "fidelity",
	  .type = CONF_ENUM,
	  AT(fidelity),
	  .choices = fidelity_names,
	  .def = "\"packet\"",
	  .help = "packet: every packet is simulated; fluid: streams that share links max-min "
		  "fairly (SimGrid); analytic: the same as if every job and flow were alone.",
	  .source = "our choice" },
	{ .name = "fluid",
	  .type = CONF_OBJECT,
	  .offset = 0,
	  .table = &fluid_table,
	  .def = "{}",
	  .help = "Of the fluid fidelity." },
	{ .name = "stop",
	  .type = CONF_OBJECT,
	  AT(stop),
	  .table = &stop_table,
	  .def = "{}",
	  .help = "When the run ends." },
	{ .name = "topology",
	  .type = CONF_OBJECT,
	  AT(topology),
	  .table = &topology_table,
	  .def = CONF_REQUIRED,
	  .help = "The network." },
	{ .name = "tcp",
	  .type = CONF_OBJECT,
	  AT(tcp),
	  .table = &tcp_table,
	  .def = "{}",
	  .help = "TCP of flows and rings." },
	{ .name = "schemes",
	  .type = CONF_SCHEMES,
	  AT(schemes),
	  .tables = scheme_tables,
	  .def = "{}",
	  .help = "Parameters of all-reduce schemes." },
	{ .name = "cluster",
	  .type = CONF_OBJECT,
	  AT(cluster),
	  .table = &cluster_table,
	  .def = "{}",
	  .help = "The job controller, and hosts that it keeps for parameter servers." },
	{ .name = "jobs",
	  .type = CONF_LIST,
	  AT(jobs),
	  .item = &job_item,
	  .def = "[]",
	  .help = "Training jobs." },
	{ .name = "flows",
	  .type = CONF_LIST,
	  AT(flows),
	  .item = &flow_item,
	  .def = "[]",
	  .help = "Background flows." },
	{ .name = "output",
	  .type = CONF_OBJECT,
	  .offset = 0,
	  .table = &output_table,
	  .def = "{}",
	  .help = "What is written besides the tables." },
	{ 0 },
};
static const struct conf_other_kind plan = {
	"base", "topology",
	"this is a sweep plan, not a scenario (it has \"base\" and no \"topology\"); "
	"its verbs are inasim sweep plan, run, status and collect"
};
const struct conf_table scenario_table = { "scenario", scenario_rows, sizeof(struct scenario),
					   "A scenario of inasim.", &plan };

bool scenario_uses(const struct scenario *scenario, unsigned scheme)
{
	for (size_t i = 0; i < scenario->jobs.count; i++)
		if (scenario_jobs(scenario)[i].enabled &&
		    scenario_jobs(scenario)[i].all_reduce == (int)scheme)
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
	for (size_t i = 0; i < scenario->jobs.count; i++)
		if (scenario_jobs(scenario)[i].enabled)
			return true;
	return false;
}

bool scenario_has_poisson_flows(const struct scenario *scenario)
{
	for (size_t i = 0; i < scenario->flows.count; i++)
		if (scenario_flows(scenario)[i].enabled &&
		    scenario_flows(scenario)[i].arrival.form == ARRIVE_POISSON)
			return true;
	return false;
}

bool scenario_has_flows(const struct scenario *scenario)
{
	for (size_t i = 0; i < scenario->flows.count; i++)
		if (scenario_flows(scenario)[i].enabled)
			return true;
	return false;
}

struct conf_doc *scenario_load(const char *path, struct scenario *scenario,
			       const struct conf_override *overrides, size_t count)
{
	struct conf_doc *doc;

	memset(scenario, 0, sizeof(*scenario));
	doc = conf_load(path, &scenario_table, scenario, overrides, count);
	if (!conf_errors(doc))
		scenario_check(scenario, doc);
	return doc;
}

struct conf_doc *scenario_parse(const char *name, const char *text, size_t length,
				struct scenario *scenario)
{
	struct conf_doc *doc;

	memset(scenario, 0, sizeof(*scenario));
	doc = conf_parse(name, text, length, &scenario_table, scenario, NULL, 0);
	if (!conf_errors(doc))
		scenario_check(scenario, doc);
	return doc;
}
