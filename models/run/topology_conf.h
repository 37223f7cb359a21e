/* A topology as a scenario describes it: its rows, and what they cannot say. */
#ifndef INASIM_RUN_TOPOLOGY_CONF_H
#define INASIM_RUN_TOPOLOGY_CONF_H

#include "conf/conf.h"
#include "topo/topology.h"

/* Of struct topology_conf. */
extern const struct conf_table topology_table;

/* Adds an error for each key that the kind does not use or lacks, and for sizes that cannot be. */
void topology_check(const struct topology_conf *conf, struct conf_doc *doc);

/* Adds an error for headroom that is too small for a link (it says how much is
 * needed), for memory that does not hold it, for thresholds in the wrong order, and
 * for ECN that would never mark. The rest of `conf` is right. */
void topology_check_pause(const struct topology_conf *conf, struct conf_doc *doc);

#endif
