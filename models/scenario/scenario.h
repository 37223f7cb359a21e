/* A scenario: the JSON file of a run, checked and with all defaults filled in.
 *
 *   scenario.c                        rows; loads, then calls scenario_check()
 *   check.c                           errors of several keys or of files; then scenario_warn()
 *   topology_conf.c, pause_conf.c     rows and checks of "topology"
 *   graph_conf.c, failures_conf.c     rows and checks of a graph, and of "failures"
 *   graph_write.c, graph_import.c     other networks as graphs; no part of loading a scenario
 *   warnings.c                        warnings of what is legal but probably a mistake
 *   facts.c, cost.c                   questions about a scenario
 *
 * warnings.c, facts.c and cost.c may assume that the scenario has no errors. */
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

/* 100 days, the longest time in a scenario. The sum of two such times still fits into sim_time. */
#define LONGEST_RUN (2400 * 3600 * PS_PER_S)

struct stop_conf {
	int when;                /* enum stop_when */
	sim_time after;          /* limit in simulated time */
	sim_time warmup, window; /* window 0: to the end of the run */
	double estimate;         /* largest relative error of an estimate; 0: no estimate */
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
	const char *tier; /* "edge/down"; for links_parse() */
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
		int solver; /* enum fluid_solver */
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
	struct conf_list weights; /* of the topology's scheduler: int64_t */
	struct {
		sim_time every;         /* 0: no series */
		struct conf_list links; /* of struct series_links */
		bool flows;
	} series;
	struct conf_list flow_borders; /* of bytes: borders between size classes of flows */
};

extern const struct conf_table scenario_table;

/* Loads and checks a scenario. *scenario is usable only if conf_errors() is 0, and only until the
 * caller frees the returned document. */
struct conf_doc *scenario_load(const char *path, struct scenario *scenario,
			       const struct conf_override *overrides, size_t count);

/* scenario_load() from memory; messages have `name` in place of a file. */
struct conf_doc *scenario_parse_set(const char *name, const char *text, size_t length,
				    struct scenario *scenario,
				    const struct conf_override *overrides, size_t count);
static inline struct conf_doc *scenario_parse(const char *name, const char *text, size_t length,
					      struct scenario *scenario)
{
	return scenario_parse_set(name, text, length, scenario, NULL, 0);
}

static inline const struct job_group_conf *scenario_jobs(const struct scenario *scenario)
{
	return scenario->jobs.items;
}

static inline const struct flow_group_conf *scenario_flows(const struct scenario *scenario)
{
	return scenario->flows.items;
}

/* Loops over the enabled groups of jobs or flows: `group` points to each group in turn. */
#define for_enabled_jobs(group, scenario)                                                          \
	for (const struct job_group_conf *group = NULL;                                            \
	     (group = scenario_next_jobs(scenario, group));)
#define for_enabled_flows(group, scenario)                                                         \
	for (const struct flow_group_conf *group = NULL;                                           \
	     (group = scenario_next_flows(scenario, group));)

/* The next enabled group after `group`; the first enabled group if `group` is NULL. NULL if there
 * is none. */
const struct job_group_conf *scenario_next_jobs(const struct scenario *scenario,
						const struct job_group_conf *group);
const struct flow_group_conf *scenario_next_flows(const struct scenario *scenario,
						  const struct flow_group_conf *group);

/* Adds errors that involve more than one key, or a file. If there are no errors, calls
 * scenario_warn(). Each value alone must be right. */
void scenario_check(struct scenario *scenario, struct conf_doc *doc);

/* Adds a warning for everything that is legal but probably a mistake, and a note for each group of
 * jobs that will not run as configured. The scenario must have no errors. */
void scenario_warn(const struct scenario *scenario, struct conf_doc *doc);

/* A warning (a static string) that results must not rank schemes, if jobs run beside flows in the
 * fluid model; else NULL. */
const char *scenario_beside_flows(const struct scenario *scenario);

/* A hash of all inputs of a run: the scenario with all defaults and its seed, the contents of the
 * data files that it names, and the version of the program. */
uint64_t scenario_hash(const struct scenario *scenario, const struct conf_doc *doc,
		       const char *version);

/* An estimate of the size of a run with packets; cost.c says what the estimate misses. */
struct scenario_cost {
	double hops; /* packet-hops */
	double jobs; /* number of jobs; a mean if the number is random */
	uint32_t hosts;
	bool at_least; /* `hops` is a lower bound: flows slow jobs, and go on until these end */
};
struct scenario_cost scenario_cost(const struct scenario *scenario);

/* Whether anything in the scenario is random: times, sizes, hosts, paths, losses, places in hashed
 * switch memory. If nothing is, the seed decides only the order of events at the same instant, and
 * replications agree unless this order matters. */
bool scenario_draws(const struct scenario *scenario);

/* The measured window: flows that start and jobs that arrive in it enter the statistics. */
struct measured_window scenario_window(const struct scenario *scenario);

/* The offered load of all Poisson arrivals. The scenario must have no errors. */
struct offered scenario_offered(const struct scenario *scenario);

/* The load that Poisson flows, except incasts, offer to the links between racks. All 0 without such
 * flows or such links, and in a graph. */
struct offered_fabric scenario_offered_fabric(const struct scenario *scenario);

/* Whether any group of jobs uses this scheme, even a disabled one. */
bool scenario_has_scheme(const struct scenario *scenario, unsigned scheme);

/* Whether an enabled job uses this scheme. */
bool scenario_uses(const struct scenario *scenario, unsigned scheme);

/* The transport of a scheme's gradients, if users can choose it; else NULL. */
const struct transport *scenario_scheme_transport(const struct scenario *scenario, unsigned scheme);

/* Whether an enabled group of jobs, of schemes whose transport users can choose, or of flows uses
 * this transport (not NULL). */
bool scenario_uses_transport(const struct scenario *scenario, const struct transport *transport);

/* Whether an enabled group of jobs or flows uses RoCE. With `marks`, only RoCE whose congestion
 * control heeds marks counts. */
bool scenario_uses_roce(const struct scenario *scenario, bool marks);

/* Whether any window or rate of an enabled group shrinks on ECN marks. */
bool scenario_heeds_marks(const struct scenario *scenario);

/* Whether any group of jobs or of flows, respectively, is enabled. */
bool scenario_has_jobs(const struct scenario *scenario);
bool scenario_has_flows(const struct scenario *scenario);

#endif
