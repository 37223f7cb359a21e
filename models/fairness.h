/* Who shares how alike, for summary.json: flows of a group, links of a tier. */
#ifndef INASIM_FAIRNESS_H
#define INASIM_FAIRNESS_H

#include "out/json.h"
#include "simulation.h"

/* Members of the objects "flows" and "network" that are open. */
void fairness_flows(struct json *json, const struct simulation *simulation);
void fairness_links(struct json *json, const struct simulation *simulation);

#endif
