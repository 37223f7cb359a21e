/* PAUSE in a scenario: numbers that are not given, and whether all fit together. */
#ifndef INASIM_TOPO_PAUSE_CONF_H
#define INASIM_TOPO_PAUSE_CONF_H

#include "topo/topology.h"

/* Adds an error for headroom that is too small for a link (it says how much is
 * needed), for memory that does not hold it, for thresholds in the wrong order, and
 * for ECN that would never mark. The rest of `conf` is right. */
void topology_check_pause(const struct topology_conf *conf, struct conf_doc *doc);

#endif
