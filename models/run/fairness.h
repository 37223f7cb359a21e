/* Who shares how alike, for summary.json: flows of a group, links of a tier. */
#ifndef INASIM_RUN_FAIRNESS_H
#define INASIM_RUN_FAIRNESS_H

#include "stats/inference.h"
#include "io/json.h"
#include "run/simulation.h"

/* Utilization of the links of a tier in one direction; *max becomes that of the busiest. */
struct jain fairness_tier(const struct simulation *simulation, unsigned tier, bool up, double *max);

/* Members of the objects "flows" and "network" that are open. */
void fairness_flows(struct json *json, const struct simulation *simulation);
void fairness_links(struct json *json, const struct simulation *simulation);

#endif
