/* Time series of a run: of the whole network, of chosen links (by class of traffic; with --why also
 * by owner), and of groups of flows. There is a sample every `output.series.every` and at the end,
 * so the rows add up to the run. The digest is the same without samples. */
#ifndef INASIM_RUN_SERIES_H
#define INASIM_RUN_SERIES_H

#include "data/table.h"
#include "scenario/scenario.h"

/* Classes of traffic. */
enum traffic {
	TRAFFIC_AGGREGATION, /* packets that switches aggregate, and their results */
	TRAFFIC_JOBS,        /* other data of jobs: rings, parameter servers */
	TRAFFIC_BACKGROUND,  /* data of flows */
	TRAFFIC_CONTROL,     /* ACKs and control packets */
	TRAFFIC_CLASSES
};

extern const struct out_schema series_schema, link_series_schema, flow_series_schema,
	owner_series_schema;

struct simulation;
struct series;

/* Opens the tables that the scenario asks for and starts to sample. Returns NULL without *error if
 * the scenario asks for no series or `dir` is NULL. Returns NULL with *error (caller frees) if a
 * table cannot be opened. */
struct series *series_start(struct simulation *simulation, struct out_dir *dir, char **error);
/* Fills in `ports` with the links of an entry of output.series.links, and returns their number.
 * `ports` must have room for all ports of the network. */
uint32_t series_ports(const struct simulation *simulation, const struct series_links *entry,
		      uint32_t *ports);
/* Adds series/owners.csv if links are sampled. Call it before a run with --why. `series` may be
 * NULL. False and *error (caller frees) if the table cannot be opened. */
bool series_by_owner(struct series *series, struct out_dir *dir, char **error);
/* Takes the last sample, at sim.now. Call it at the end of the run, before fluid_stop(). NULL is
 * allowed. */
void series_stop(struct series *series);
void series_free(struct series *series);

#endif
