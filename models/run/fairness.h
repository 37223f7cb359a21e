/* Fairness for summary.json: among the flows of a group, and the links of a tier. */
#ifndef INASIM_RUN_FAIRNESS_H
#define INASIM_RUN_FAIRNESS_H

#include "stats/inference.h"
#include "io/json.h"
#include "run/simulation.h"

/* Utilization of the links of a tier in one direction; sets *max to that of the busiest. */
struct jain fairness_tier(const struct simulation *simulation, unsigned tier, bool up, double *max);

/* Write members of the open objects "flows" and "network". */
void fairness_flows(struct json *json, const struct simulation *simulation);
void fairness_links(struct json *json, const struct simulation *simulation);

#endif
