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
	sim_time mtbf, mttr;       /* mean times, to draw the two above from; 0 = not drawn */
	bool at_given;
	bool aggregation_only; /* of a switch, only what adds gradients fails */
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
		FAILS_AGGREGATION, /* only what adds gradients up in the switch */
	} kind;
	uint32_t number;
};

/* Lists what an event names: "spine1", a switch; "h3", the link of this host; "leaf0 -> spine1",
 * all links between the two nodes; "links", all between switches; "switches", all. With
 * `aggregation_only`, switches that add nothing up and links are no targets. Returns the number of
 * targets, 0 if nothing fits. The caller frees *list. */
size_t failure_targets(const struct failure_conf *event, const struct topology *topo,
		       struct failure_target **list);

/* Checks what the rows cannot. The topology must be right; the run ends at `end`. */
void failures_check(const struct failures_conf *conf, const struct topology_conf *topology,
		    sim_time end, struct conf_doc *doc);

#endif
