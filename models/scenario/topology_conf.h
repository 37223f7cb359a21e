/* The object "topology" of a scenario: its rows and checks. */
#ifndef INASIM_SCENARIO_TOPOLOGY_CONF_H
#define INASIM_SCENARIO_TOPOLOGY_CONF_H

#include "collective/machine_conf.h"
#include "conf/conf.h"
#include "topo/topology.h"

extern const struct conf_table ecn_step_table, ecn_ramp_table;
/* The forms in which a user may write member ECN of struct OWNER, a struct ecn_conf. */
#define ECN_FORMS(OWNER, ECN)                                                                      \
	CONF_BOOL("switch", OWNER, ECN.on, CONF_REQUIRED,                                          \
		  "true: mark above 12.9 kB for each Gbps of the link, which is 129 kB (85 "       \
		  "frames of 1518 bytes) at 10 Gbps; false: never mark."),                         \
		CONF_OBJECT("step", OWNER, ECN, CONF_REQUIRED, &ecn_step_table, "One threshold."), \
		CONF_OBJECT("ramp", OWNER, ECN, CONF_REQUIRED, &ecn_ramp_table,                    \
			    "Kmin, Kmax, Pmax.")

/* Fills in `topology` of struct scenario and, from "host", its `machine`. */
extern const struct conf_table topology_table;

/* Adds an error for each key that this kind of topology needs but lacks, or has but does not use,
 * and for impossible sizes. */
void topology_check(const struct topology_conf *conf, const struct machine_conf *machine,
		    struct conf_doc *doc);

/* Checks PAUSE, if it is on. Adds an error if headroom is too small for a link, if memory does not
 * hold the headroom, if thresholds are in the wrong order or given beside alpha, if ECN would never
 * mark what heeds its marks (`marks`: something does), or if the NIC's queue has a limit. The rest
 * of `conf` must be right. */
void topology_check_pause(const struct topology_conf *conf, bool marks, struct conf_doc *doc);

#endif
