/* A scenario: the JSON file of a run, checked and resolved.
 *
 *   scenario.c                        rows; loads, then calls scenario_check()
 *   topology_conf.c, pause_conf.c     rows and checks of "topology"
 *   graph_conf.c, failures_conf.c     rows and checks of a graph, and of "failures"
 *   check.c                           errors of several keys or of files; then scenario_warn()
 *   warnings.c                        what is legal, but probably a mistake
 *   facts.c, cost.c                   questions about a scenario without errors
 *
 * Calls go down this list. warnings.c, facts.c and cost.c may assume that the scenario has no
 * errors. */
#ifndef INASIM_SCENARIO_SCENARIO_H
#define INASIM_SCENARIO_SCENARIO_H

#include "conf/conf.h"
#include "collective/schemes.h"
#include "scenario/failures_conf.h"
#include "topo/topology.h"
#include "transport/connection.h"
#include "workload/cluster.h"
#include "workload/flows/flows.h"
#include "workload/jobs/jobs.h"
#include "workload/offered.h"

/* No time in a scenario is longer than 100 days, so the sum of two still fits into sim_time. */
#define LONGEST_RUN (2400 * 3600 * PS_PER_S)

struct stop_conf {
	int when;                /* enum stop_when */
	sim_time after;          /* limit in simulated time */
	sim_time warmup, window; /* window 0 = to the end of the run */
	double estimate;         /* relative error allowed to an estimate; 0 = all is simulated */
};

enum stop_when {
	STOP_ALL_DONE, /* all jobs and all flows */
	STOP_JOBS_DONE,
	STOP_FLOWS_DONE,
	STOP_TIME,          /* at `after`, whatever is unfinished */
	STOP_MEASURED_DONE, /* all jobs and flows of the measured window */
};

/* Links whose traffic is sampled by class. */
struct series_links {
	int form; /* enum series_links_form */
	int64_t number;
	const char *tier; /* as links_parse() reads it: "edge/down" */
};
enum series_links_form { SERIES_LINK, SERIES_TIER };

enum fidelity {
	FIDELITY_PACKET,
	FIDELITY_FLUID,    /* streams that share links (models/fluid) */
	FIDELITY_ANALYTIC, /* streams that do not share: closed forms of an idle network */
};
extern const char *const fidelity_names[];

struct scenario {
	const char *name, *about;
	int64_t seed;
	int fidelity; /* enum fidelity */
	struct {
		bytes load_below; /* Poisson flows that are smaller become load; 0 = none */
	} fluid;
	struct stop_conf stop;
	struct topology_conf topology;
	struct machine_conf machine; /* users write it under "topology", too */
	struct tcp_conf tcp;
	struct roce_conf roce;
	void *schemes[SCHEMES_MAX]; /* parameters by enum scheme_index */
	struct cluster_conf cluster;
	struct conf_list jobs;  /* of struct job_group_conf */
	struct conf_list flows; /* of struct flow_group_conf */
	struct failures_conf failures;
	struct {
		sim_time every;         /* 0 = no series */
		struct conf_list links; /* of struct series_links */
		bool flows;
	} series;
	struct conf_list flow_borders; /* of bytes: the ends of the size classes of flows */
};

extern const struct conf_table scenario_table;

/* Loads and checks everything. *scenario may be used only if conf_errors() is 0, and only until the
 * caller frees the document. */
struct conf_doc *scenario_load(const char *path, struct scenario *scenario,
			       const struct conf_override *overrides, size_t count);

/* For tests: from memory. */
struct conf_doc *scenario_parse(const char *name, const char *text, size_t length,
				struct scenario *scenario);

static inline const struct job_group_conf *scenario_jobs(const struct scenario *scenario)
{
	return scenario->jobs.items;
}

static inline const struct flow_group_conf *scenario_flows(const struct scenario *scenario)
{
	return scenario->flows.items;
}

/* Two loops, over the enabled groups of jobs and of flows: `group` points to each in turn. */
#define for_enabled_jobs(group, scenario)                                                          \
	for (const struct job_group_conf *group = NULL;                                            \
	     (group = scenario_next_jobs(scenario, group));)
#define for_enabled_flows(group, scenario)                                                         \
	for (const struct flow_group_conf *group = NULL;                                           \
	     (group = scenario_next_flows(scenario, group));)

/* The first enabled group behind `group`, or of all if `group` is NULL. NULL if there is none. */
const struct job_group_conf *scenario_next_jobs(const struct scenario *scenario,
						const struct job_group_conf *group);
const struct flow_group_conf *scenario_next_flows(const struct scenario *scenario,
						  const struct flow_group_conf *group);

/* Adds errors that involve more than one key, or a file. If there are none, calls scenario_warn().
 * scenario_load() and scenario_parse() call it when each value alone is right. */
void scenario_check(struct scenario *scenario, struct conf_doc *doc);

/* Adds a warning of each thing that is legal but probably a mistake, with the number that shows it,
 * and a note of what will not run as it is given. scenario_check() calls it for scenarios without
 * errors. */
void scenario_warn(const struct scenario *scenario, struct conf_doc *doc);

/* Returns a static string if results must not rank schemes, because jobs run beside flows in the
 * fluid fidelity; else NULL. scenario_warn() prints the string before the run, and the results
 * contain it. */
const char *scenario_beside_flows(const struct scenario *scenario);

/* A hash of all that decides the result of a run: the resolved scenario with its seed, the contents
 * of the data files that it names, and the version of the program. */
uint64_t scenario_hash(const struct scenario *scenario, const struct conf_doc *doc,
		       const char *version);

/* The size of a run with packets, estimated by counting; cost.c says what that misses. */
struct scenario_cost {
	double hops; /* packet-hops */
	double jobs; /* a mean if their number is random */
	uint32_t hosts;
	bool at_least; /* flows slow jobs and go on until these end: hops may be far more */
};
struct scenario_cost scenario_cost(const struct scenario *scenario);

/* Whether anything in the scenario is random: times, sizes, hosts, paths, losses, places in a
 * hashed memory. If nothing is, the seed decides only the order of events at one instant, and
 * replications agree unless such a tie matters. */
bool scenario_draws(const struct scenario *scenario);

/* Which flows and jobs are measured. */
struct measured_window scenario_window(const struct scenario *scenario);

/* The load that arrivals of enabled groups offer, in a scenario without errors. */
struct offered scenario_offered(const struct scenario *scenario);

/* What flows offer to the links between racks. All 0 in a graph. */
struct offered_fabric scenario_offered_fabric(const struct scenario *scenario);

/* Whether an enabled job uses this scheme. */
bool scenario_uses(const struct scenario *scenario, unsigned scheme);

/* The transport of a scheme's gradients, if it lets users choose one; else NULL. */
const struct transport *scenario_scheme_transport(const struct scenario *scenario, unsigned scheme);

/* Whether an enabled group of jobs or flows uses RoCE. With `marks`, only RoCE whose congestion
 * control heeds marks counts. */
bool scenario_uses_roce(const struct scenario *scenario, bool marks);

/* Whether any group of jobs or of flows, respectively, is enabled. */
bool scenario_has_jobs(const struct scenario *scenario);
bool scenario_has_flows(const struct scenario *scenario);

#endif
