/* The object "failures" of a scenario: which links and switches fail, and when. */
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
	sim_time at, repair_after; /* repair_after 0: never repaired */
	sim_time mtbf, mttr; /* means of random times in place of the two above; 0: not used */
	bool at_given;
	bool aggregation_only; /* only the aggregation of a switch fails; it still forwards */
};
enum failure_form { FAILURE_LINK, FAILURE_NAME };

struct failures_conf {
	struct conf_list events; /* of struct failure_conf */
	sim_time reroute_delay, controller_delay;
};

extern const struct conf_table failures_table;

struct failure_target {
	enum {
		FAILS_LINK, /* `number` is one of its two egress ports */
		FAILS_SWITCH,
		FAILS_AGGREGATION, /* only the aggregation of a switch */
	} kind;
	uint32_t number;
};

/* Lists the targets of an event: a number is a link, by one of its egress ports; "spine1" is a
 * switch; "h3" is the link of this host; "leaf0 -> spine1" are all links between the two nodes;
 * "links" are all links between switches; "switches" are all switches. With `aggregation_only`,
 * only switches that aggregate are targets. Returns the number of targets, 0 if nothing fits. The
 * caller frees *list. */
size_t failure_targets(const struct failure_conf *event, const struct topology *topo,
		       struct failure_target **list);

/* Adds an error for each event with a wrong combination of times or an unknown target, and for each
 * that is not before `end`, when the run ends. The topology must be right. */
void failures_check(const struct failures_conf *conf, const struct topology_conf *topology,
		    sim_time end, struct conf_doc *doc);

#endif
