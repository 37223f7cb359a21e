/* What a user may write under "failures": links and switches that fail, when, and who notices. */
#ifndef INASIM_SCENARIO_FAILURES_CONF_H
#define INASIM_SCENARIO_FAILURES_CONF_H

#include "conf/conf.h"
#include "topo/topology.h"

struct failure_conf {
	struct {
		int form; /* enum failure_form */
		int64_t link;
		const char *name;
	} what;
	sim_time at, repair_after; /* repair_after 0 = never repaired */
	sim_time mtbf, mttr;       /* means of times that are drawn instead; 0 = none are */
	bool at_given;
	bool aggregation_only;
};
enum failure_form { FAILURE_LINK, FAILURE_NAME };

struct failures_conf {
	struct conf_list events; /* of struct failure_conf */
	sim_time reroute_delay, controller_delay;
};

extern const struct conf_table failures_table;

/* A link, by the number of one of its egress ports, a switch, or only what adds gradients there. */
struct failure_target {
	enum { FAILS_LINK, FAILS_SWITCH, FAILS_AGGREGATION } kind;
	uint32_t number;
};

/* What an event names: "spine1"; "h3", the link of a host; "leaf0 -> spine1", all links between the
 * two; "links", each between switches; "switches", each (where aggregation alone fails, each that
 * adds up). Returns the number of targets, 0 if nothing has this name. The caller frees *list. */
size_t failure_targets(const struct failure_conf *event, const struct topology *topo,
		       struct failure_target **list);

/* Checks what the rows cannot. The topology must be right. */
void failures_check(const struct failures_conf *conf, const struct topology_conf *topology,
		    sim_time end, struct conf_doc *doc);

#endif
